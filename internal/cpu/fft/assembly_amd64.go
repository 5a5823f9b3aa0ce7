//go:build !purego

package fft

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:generate go run ../_asm/fft -out .

// passArgs are the arguments of the assembly of a pass, in bytes. The assembly knows the places of the fields.
type passArgs struct {
	yr, yi, xr, xi, w unsafe.Pointer
	groups, row       int // row: a multiple of 64
	xRow, yRow        int // from one row of a group to the next
	xNext, yNext      int // from the end of the first row of a group to the next group
}

// chunk is the number of bytes of a plane that one call works on, a few microseconds, as nothing can interrupt it.
const chunk = 64 << 10

// assembly does a pass where the processor has the instructions; s numbers must be whole vectors of 64 bytes.
func (st *step[E]) assembly(y, x planes[E], s int) bool {
	size := int(unsafe.Sizeof(E(0)))
	if !cpu.HasAVX2FMA || st.dft != nil || s*size%64 != 0 {
		return false
	}
	row, r := s*size, st.radix
	_, _, _, _ = x.re[r*st.m*s-1], x.im[r*st.m*s-1], y.re[r*st.m*s-1], y.im[r*st.m*s-1]
	a := passArgs{xRow: st.m * row, yRow: row}
	per := max(1, chunk/(r*row)) // groups of a call; of a long row, a part of one group
	part := row
	if r*row > 2*chunk {
		part = (chunk / r) &^ 63
	}
	for g := 0; g < st.m; g += per {
		a.groups = min(per, st.m-g)
		for q := 0; q < row; q += part {
			a.row = min(part, row-q)
			a.xNext, a.yNext = row-a.row, r*row-a.row
			a.xr, a.xi = at(x.re, g*row+q), at(x.im, g*row+q)
			a.yr, a.yi = at(y.re, g*r*row+q), at(y.im, g*r*row+q)
			a.w = at(st.roots, 2*g*max(r-1, 1)*size)
			call(r, size == 8, st.m == 1 && r > 1, &a)
			preemptible(0)
		}
	}
	return true
}

// preemptible has a frame so large that the runtime may stop the goroutine at its start.
//
//go:noinline
func preemptible(i int) byte {
	var frame [256]byte
	frame[i&255] = 1
	return frame[(i+1)&255]
}

// multiplyAssembly is multiply where the processor has the instructions and the planes are whole vectors.
func multiplyAssembly[E Float](xr, xi, wr, wi []E) bool {
	size := int(unsafe.Sizeof(E(0)))
	n := len(xr)
	if !cpu.HasAVX2FMA || n == 0 || n*size%64 != 0 {
		return false
	}
	_, _, _ = xi[n-1], wr[n-1], wi[n-1]
	for i := 0; i < n; i += chunk / size {
		a, b, c, d := unsafe.Pointer(&xr[i]), unsafe.Pointer(&xi[i]), unsafe.Pointer(&wr[i]), unsafe.Pointer(&wi[i])
		part := size * min(chunk/size, n-i)
		switch {
		case size == 4 && cpu.HasAVX512:
			productF32AVX512(a, b, c, d, part)
		case size == 4:
			productF32AVX2(a, b, c, d, part)
		case cpu.HasAVX512:
			productF64AVX512(a, b, c, d, part)
		default:
			productF64AVX2(a, b, c, d, part)
		}
		preemptible(0)
	}
	return true
}

//go:noescape
func productF32AVX2(xr, xi, wr, wi unsafe.Pointer, n int)

//go:noescape
func productF64AVX2(xr, xi, wr, wi unsafe.Pointer, n int)

//go:noescape
func productF32AVX512(xr, xi, wr, wi unsafe.Pointer, n int)

//go:noescape
func productF64AVX512(xr, xi, wr, wi unsafe.Pointer, n int)

// halvesArgs are the arguments of the assembly of unfold and fold: numbers k, numbers h-k, the roots of unity, and the
// same numbers of the result. The assembly knows the places of the fields.
type halvesArgs struct {
	ar, ai, br, bi, wr, wi, cr, ci, dr, di unsafe.Pointer
	n                                      int // bytes, whole vectors of 64
}

// halvesAssembly does n numbers of unfold or fold of a line where the processor has the instructions, and tells how
// many: whole vectors.
func halvesAssembly[E Float](fold bool, a, b, w, c, d planes[E], n int) int {
	size := int(unsafe.Sizeof(E(0)))
	n = n * size &^ 63
	if !cpu.HasAVX2FMA || n == 0 {
		return 0
	}
	last := n/size - 1
	for _, p := range [5]planes[E]{a, b, w, c, d} {
		_, _ = p.re[last], p.im[last]
	}
	i := halvesKernel(fold, false, size)
	for q := 0; q < n; q += chunk {
		args := halvesArgs{at(a.re, q), at(a.im, q), at(b.re, q), at(b.im, q), at(w.re, q), at(w.im, q), at(c.re, q),
			at(c.im, q), at(d.re, q), at(d.im, q), min(chunk, n-q)}
		callHalves(i, &args)
		preemptible(0)
	}
	return n / size
}

// at is the address of byte i of p.
func at[E Float](p []E, i int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(p)), i)
}

// halvesKernel is the number of a kernel in callHalves.
func halvesKernel(fold, rows bool, size int) (i int) {
	if fold {
		i = 4
	}
	if rows {
		i += 2
	}
	if size == 8 {
		i++
	}
	return i
}

// halvesRows does unfold or fold of the rows of a tile, of s numbers each, from x to y where the processor has the
// instructions and rows are whole vectors.
func halvesRows[E Float](fold bool, y, x, w, tmp planes[E], h, s int) bool {
	size := int(unsafe.Sizeof(E(0)))
	row := s * size
	if !cpu.HasAVX2FMA || row%64 != 0 || row > chunk {
		return false
	}
	_, _, _, _, _, _ = x.re[h*s-1], x.im[h*s-1], y.re[h*s-1], y.im[h*s-1], w.re[h/2], w.im[h/2]
	more := y // the longer of the two has one more row
	if fold {
		_, _, more = tmp.re[s-1], tmp.im[s-1], x
	}
	_, _ = more.re[(h+1)*s-1], more.im[(h+1)*s-1]
	i, done := halvesKernel(fold, true, size), 0
	for k := range h/2 + 1 {
		a, b, d, to := k*row, (h-k)*row, (h-k)*row, y
		if k == 0 && fold {
			d, to = 0, tmp
		} else if k == 0 {
			b = 0
		}
		args := halvesArgs{at(x.re, a), at(x.im, a), at(x.re, b), at(x.im, b), at(w.re, k*size), at(w.im, k*size),
			at(y.re, a), at(y.im, a), at(to.re, d), at(to.im, d), row}
		callHalves(i, &args)
		if done += row; done >= chunk {
			preemptible(0)
			done = 0
		}
	}
	return true
}

func callHalves(i int, a *halvesArgs) {
	if cpu.HasAVX512 {
		switch i {
		case 0:
			unfoldF32AVX512(a)
		case 1:
			unfoldF64AVX512(a)
		case 2:
			unfoldRowsF32AVX512(a)
		case 3:
			unfoldRowsF64AVX512(a)
		case 4:
			foldF32AVX512(a)
		case 5:
			foldF64AVX512(a)
		case 6:
			foldRowsF32AVX512(a)
		case 7:
			foldRowsF64AVX512(a)
		}
		return
	}
	switch i {
	case 0:
		unfoldF32AVX2(a)
	case 1:
		unfoldF64AVX2(a)
	case 2:
		unfoldRowsF32AVX2(a)
	case 3:
		unfoldRowsF64AVX2(a)
	case 4:
		foldF32AVX2(a)
	case 5:
		foldF64AVX2(a)
	case 6:
		foldRowsF32AVX2(a)
	case 7:
		foldRowsF64AVX2(a)
	}
}

//go:noescape
func unfoldF32AVX2(a *halvesArgs)

//go:noescape
func foldF32AVX2(a *halvesArgs)

//go:noescape
func unfoldRowsF32AVX2(a *halvesArgs)

//go:noescape
func foldRowsF32AVX2(a *halvesArgs)

//go:noescape
func unfoldF64AVX2(a *halvesArgs)

//go:noescape
func foldF64AVX2(a *halvesArgs)

//go:noescape
func unfoldRowsF64AVX2(a *halvesArgs)

//go:noescape
func foldRowsF64AVX2(a *halvesArgs)

//go:noescape
func unfoldF32AVX512(a *halvesArgs)

//go:noescape
func foldF32AVX512(a *halvesArgs)

//go:noescape
func unfoldRowsF32AVX512(a *halvesArgs)

//go:noescape
func foldRowsF32AVX512(a *halvesArgs)

//go:noescape
func unfoldF64AVX512(a *halvesArgs)

//go:noescape
func foldF64AVX512(a *halvesArgs)

//go:noescape
func unfoldRowsF64AVX512(a *halvesArgs)

//go:noescape
func foldRowsF64AVX512(a *halvesArgs)

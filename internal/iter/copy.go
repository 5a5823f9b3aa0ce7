package iter

import (
	"fmt"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/par"
)

// fillLeast is the size in bytes from which on rows of one repeated element are worth their own kernel.
// fillMost is the number of elements up to which a loop is used where there is no such kernel.
const fillLeast, fillMost = 32, 64

// Copy copies src to dst, which have the given shape, and converts the elements. src may be broadcast, and
// strides may be negative: P is the address of index 0 of every dimension. src and dst do not overlap.
func Copy(shape []int, dst, src Operand) {
	total := numel(shape)
	if total == 0 {
		return
	}
	w := walkPool.Get().(*walk)
	dst.As, src.As = dst.Mem, src.Mem
	ops := [...]Operand{dst, src}
	w.init(shape, 1, ops[:])
	once := true
	for _, st := range w.strides[1] {
		once = once && st == 0
	}
	var convert dtype.Converter
	if dst.Mem != src.Mem {
		convert = dtype.Convert(dst.Mem, src.Mem)
	}
	switch {
	case once:
		w.spread(total, convert)
	case convert == nil:
		w.move(total)
	default:
		w.kernel = func(p *Ptrs, n int) { convert(p[0], p[1], n) }
		w.run(total)
		return
	}
	w.p = Ptrs{}
	walkPool.Put(w)
}

// spread repeats one element.
func (w *walk) spread(total int, convert dtype.Converter) {
	one := new([2]uint64)
	if convert != nil {
		convert(unsafe.Pointer(one), w.p[1], 1)
		w.p[1], w.size[1] = unsafe.Pointer(one), w.size[0]
	}
	if len(w.shape) == 1 && w.strides[0][0] == w.size[0] {
		Fill(w.p[0], w.p[1], total, w.size[0])
		return
	}
	w.move(total)
}

// move copies elements without converting them. The walk is cut into planes of two dimensions, each of which
// the function plane copies: the innermost dimension of dst and another one. The other one is a dimension
// along which src is contiguous, if src is not contiguous along the innermost one; otherwise the next
// dimension.
func (w *walk) move(total int) {
	w.widen()
	size := w.size[0]
	k := len(w.shape) - 1
	if k == 0 && w.strides[0][0] == size && w.strides[1][0] == size {
		const grain = 128 << 10 // bytes of a task
		n := total * size
		if n <= grain {
			copyBytes(w.p[0], w.p[1], n)
			return
		}
		par.Sweep(n, grain, 2*n, func(lo, hi int) { copyBytes(unsafe.Add(w.p[0], lo), unsafe.Add(w.p[1], lo), hi-lo) })
		return
	}
	a := k - 1
	if s := w.strides[1][k]; s != size && s != -size && s != 0 {
		for d := range k {
			if w.strides[1][d] == size && w.strides[0][d] > 0 {
				a = d
			}
		}
	}
	w.planes(a, total)
}

// widen makes one element of each run of 2, 4, 8 or 16 bytes that is contiguous in both arrays.
func (w *walk) widen() {
	size := w.size[0]
	k := len(w.shape) - 1
	if k == 0 || w.strides[0][k] != size || w.strides[1][k] != size {
		return
	}
	switch n := w.shape[k] * size; n {
	case 2, 4, 8, 16:
		w.size[0], w.size[1] = n, n
		w.shape, w.strides[0], w.strides[1] = w.shape[:k], w.strides[0][:k], w.strides[1][:k]
	}
}

// planes copies plane by plane. A plane is dimension a and the innermost dimension; large planes are cut into
// tiles.
func (w *walk) planes(a, total int) {
	k := len(w.shape) - 1
	size := w.size[0]
	na, nk := 1, w.shape[k]
	var da, sa int
	if a >= 0 {
		na, da, sa = w.shape[a], w.strides[0][a], w.strides[1][a]
	}
	dk, sk := w.strides[0][k], w.strides[1][k]
	// In a transposition, a tile is as much of both arrays as stays in the second-level cache; otherwise a tile is
	// some rows.
	ta, tk := na, nk
	if sa == size && sk != size {
		ta, tk = min(na, 64), min(nk, 512)
		if nk < 8 {
			ta = min(na, 4096)
		}
	} else {
		tk = min(nk, grain)
		ta = max(1, min(na, grain/4/tk))
	}
	ca, ck := (na+ta-1)/ta, (nk+tk-1)/tk
	outer := 1
	for d := range k {
		if d != a {
			outer *= w.shape[d]
		}
	}
	one := func(lo, hi int) {
		// The position in the other dimensions, advanced like an odometer: divisions cost more than small planes.
		var buf [8]int
		at := places(buf[:], k)
		d, s := w.p[0], w.p[1]
		t := lo % (ca * ck)
		for x, o := k-1, lo/(ca*ck); x >= 0 && o > 0; x-- {
			if x != a {
				at[x] = o % w.shape[x]
				o /= w.shape[x]
				d, s = unsafe.Add(d, at[x]*w.strides[0][x]), unsafe.Add(s, at[x]*w.strides[1][x])
			}
		}
		for u := lo; u < hi; u++ {
			if ca*ck == 1 {
				plane(d, da, dk, s, sa, sk, na, nk, size)
			} else {
				i, j := t/ck*ta, t%ck*tk
				plane(unsafe.Add(d, i*da+j*dk), da, dk, unsafe.Add(s, i*sa+j*sk), sa, sk, min(ta, na-i), min(tk, nk-j),
					size)
				if t++; t < ca*ck {
					continue
				}
				t = 0
			}
			for x := k - 1; x >= 0; x-- {
				if x == a {
					continue
				}
				d, s = unsafe.Add(d, w.strides[0][x]), unsafe.Add(s, w.strides[1][x])
				if at[x]++; at[x] < w.shape[x] {
					break
				}
				d, s = unsafe.Add(d, -at[x]*w.strides[0][x]), unsafe.Add(s, -at[x]*w.strides[1][x])
				at[x] = 0
			}
		}
	}
	if n := outer * ca * ck; total > grain {
		par.For(n, max(1, grain/(ta*tk)), one)
	} else {
		one(0, n)
	}
}

// plane copies na rows of nk elements. da and dk are the bytes between rows and between elements of a row in
// d, sa and sk in s.
func plane(d unsafe.Pointer, da, dk int, s unsafe.Pointer, sa, sk, na, nk, size int) {
	// Pointers are not stepped beyond the last row: the garbage collector may look at them during the calls.
	switch {
	case dk == size && sk == size && vec.MoveRows(d, da, s, sa, na, nk*size):
	case dk == size && sk == size && nk*size > 24:
		for i := range na {
			copyBytes(unsafe.Add(d, i*da), unsafe.Add(s, i*sa), nk*size)
		}
	case dk == size && sk == 0 && sa == 0 && nk*size >= 8: // the first row is copied to the others
		Fill(d, s, nk, size)
		if na > 1 {
			plane(unsafe.Add(d, da), da, dk, d, 0, size, na-1, nk, size)
		}
	case dk == size && sk == 0 && da == nk*size && da >= fillLeast && vec.SpreadRows(d, s, sa, na, da, size):
	case dk == size && sk == 0 && size > 8 && nk >= 5 && nk <= fillMost:
		for i := range na {
			v := *(*c16)(unsafe.Add(s, i*sa))
			row := unsafe.Slice((*c16)(unsafe.Add(d, i*da)), nk)
			for j := range row {
				row[j] = v
			}
		}
	case dk == size && sk == 0 && nk*size > 64:
		for i := range na {
			row := unsafe.Add(d, i*da)
			copyBytes(row, unsafe.Add(s, i*sa), size)
			Fill(row, row, nk, size)
		}
	case dk == size && sk == -size && nk*size >= 8:
		vec.ReverseRows(d, da, unsafe.Add(s, (1-nk)*size), sa, na, nk, size)
	case dk == size && sa == size && size == 4 && nk == 2 && da == 8 && na > 8 && sk%4 == 0:
		vec.Interleave(unsafe.Slice((*float32)(d), 2*na), unsafe.Slice((*float32)(s), na),
			unsafe.Slice((*float32)(unsafe.Add(s, sk)), na))
	case dk == size && sa == size && na >= 4 && nk >= 2:
		Transpose(d, da, s, sk, nk, na, size)
	default:
		if na > nk { // the longer dimension becomes the inner loop
			da, dk, sa, sk, na, nk = dk, da, sk, sa, nk, na
		}
		for i := range na {
			elements(unsafe.Add(d, i*da), dk, unsafe.Add(s, i*sa), sk, nk, size)
		}
	}
}

// elements copies n elements that lie any distance apart.
func elements(d unsafe.Pointer, dk int, s unsafe.Pointer, sk, n, size int) {
	switch size {
	case 1:
		elementsT[uint8](d, dk, s, sk, n)
	case 2:
		elementsT[uint16](d, dk, s, sk, n)
	case 4:
		elementsT[uint32](d, dk, s, sk, n)
	case 8:
		elementsT[uint64](d, dk, s, sk, n)
	default:
		elementsT[c16](d, dk, s, sk, n)
	}
}

func elementsT[T any](d unsafe.Pointer, dk int, s unsafe.Pointer, sk, n int) {
	// Pointers never step beyond the last element: negative strides and ends of memory are not to be pointed past.
	i := 0
	for ; i+4 < n; i += 4 {
		a, b, c, e := *(*T)(s), *(*T)(unsafe.Add(s, sk)), *(*T)(unsafe.Add(s, 2*sk)), *(*T)(unsafe.Add(s, 3*sk))
		*(*T)(d), *(*T)(unsafe.Add(d, dk)), *(*T)(unsafe.Add(d, 2*dk)), *(*T)(unsafe.Add(d, 3*dk)) = a, b, c, e
		d, s = unsafe.Add(d, 4*dk), unsafe.Add(s, 4*sk)
	}
	for k := 0; i < n; i, k = i+1, k+1 {
		*(*T)(unsafe.Add(d, k*dk)) = *(*T)(unsafe.Add(s, k*sk))
	}
}

// Transpose sets element (j, i) of d to element (i, j) of s for i < rows and j < cols. ldd and lds are the
// bytes between rows. size is the size of an element in bytes: a power of two up to 16, or 24.
func Transpose(d unsafe.Pointer, ldd int, s unsafe.Pointer, lds, rows, cols, size int) {
	switch size {
	case 1:
		turn[uint8](d, ldd, s, lds, rows, cols)
	case 2:
		turn[uint16](d, ldd, s, lds, rows, cols)
	case 4:
		if ldd%4 != 0 || lds%4 != 0 || ldd < 0 || lds < 0 || rows < 8 || cols < 8 {
			turn[uint32](d, ldd, s, lds, rows, cols)
			return
		}
		ldd, lds = ldd/4, lds/4
		vec.TransposeF32(unsafe.Slice((*float32)(d), (cols-1)*ldd+rows), ldd,
			unsafe.Slice((*float32)(s), (rows-1)*lds+cols), lds, rows, cols)
	case 8:
		if ldd%8 != 0 || lds%8 != 0 || ldd < 0 || lds < 0 || rows < 4 || cols < 4 {
			turn[uint64](d, ldd, s, lds, rows, cols)
			return
		}
		ldd, lds = ldd/8, lds/8
		vec.Transpose64(unsafe.Slice((*uint64)(d), (cols-1)*ldd+rows), ldd,
			unsafe.Slice((*uint64)(s), (rows-1)*lds+cols), lds, rows, cols)
	case 16:
		turn[c16](d, ldd, s, lds, rows, cols)
	case 24:
		turn[[3]uint64](d, ldd, s, lds, rows, cols)
	default:
		panic(fmt.Sprintf("iter: elements of %d bytes cannot be transposed", size))
	}
}

func turn[T any](d unsafe.Pointer, ldd int, s unsafe.Pointer, lds, rows, cols int) {
	if rows < 8 {
		interleave[T](d, ldd, s, lds, rows, cols)
	} else {
		transposeT[T](d, ldd, s, lds, rows, cols)
	}
}

// transposeT goes through the columns in strips, which are cache lines of d, and through each strip by eight
// rows, so that the cache lines of both arrays are still in the first-level cache when their other elements
// are needed.
func transposeT[T any](d unsafe.Pointer, ldd int, s unsafe.Pointer, lds, rows, cols int) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	const strip = 16
	// sixteen elements fill whole lines of d at once, and far lines of s are read one after another
	if size >= 16 || size == 8 && lds >= ldd {
		for i := 0; i < rows; i += 16 {
			n := min(16, rows-i)
			for j := range cols {
				elementsT[T](unsafe.Add(d, j*ldd+i*size), size, unsafe.Add(s, i*lds+j*size), lds, n)
			}
		}
		return
	}
	for j := 0; j < cols; j += strip {
		n := min(strip, cols-j)
		dj, sj := unsafe.Add(d, j*ldd), unsafe.Add(s, j*size)
		i := 0
		for ; i+8 <= rows; i += 8 {
			dd, s0 := unsafe.Add(dj, i*size), unsafe.Add(sj, i*lds)
			if size == 1 && n == strip {
				bytes8(dd, ldd, s0, lds)
				bytes8(unsafe.Add(dd, 8*ldd), ldd, unsafe.Add(s0, 8), lds)
				continue
			}
			s1, s2, s3 := unsafe.Add(s0, lds), unsafe.Add(s0, 2*lds), unsafe.Add(s0, 3*lds)
			s4, s5, s6, s7 := unsafe.Add(s0, 4*lds), unsafe.Add(s0, 5*lds), unsafe.Add(s0, 6*lds), unsafe.Add(s0, 7*lds)
			for x := 0; ; {
				q := (*[8]T)(dd)
				q[0], q[1], q[2], q[3] = *(*T)(unsafe.Add(s0, x)), *(*T)(unsafe.Add(s1, x)), *(*T)(unsafe.Add(s2, x)),
					*(*T)(unsafe.Add(s3, x))
				q[4], q[5], q[6], q[7] = *(*T)(unsafe.Add(s4, x)), *(*T)(unsafe.Add(s5, x)), *(*T)(unsafe.Add(s6, x)),
					*(*T)(unsafe.Add(s7, x))
				if x += size; x == n*size {
					break
				}
				dd = unsafe.Add(dd, ldd)
			}
		}
		for ; i < rows; i++ {
			elementsT[T](unsafe.Add(dj, i*size), ldd, unsafe.Add(sj, i*lds), size, n)
		}
	}
}

// interleave is Transpose for two to seven rows, which it reads side by side from end to end.
func interleave[T any](d unsafe.Pointer, ldd int, s unsafe.Pointer, lds, rows, cols int) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	i := 0
	for ; rows-i >= 4; i += 4 {
		dd, s0 := unsafe.Add(d, i*size), unsafe.Add(s, i*lds)
		s1, s2, s3 := unsafe.Add(s0, lds), unsafe.Add(s0, 2*lds), unsafe.Add(s0, 3*lds)
		for x := 0; ; {
			q := (*[4]T)(dd)
			q[0], q[1], q[2], q[3] = *(*T)(unsafe.Add(s0, x)), *(*T)(unsafe.Add(s1, x)), *(*T)(unsafe.Add(s2, x)),
				*(*T)(unsafe.Add(s3, x))
			if x += size; x == cols*size {
				break
			}
			dd = unsafe.Add(dd, ldd)
		}
	}
	dd, s0 := unsafe.Add(d, i*size), unsafe.Add(s, i*lds)
	switch rows - i {
	case 3:
		s1, s2 := unsafe.Add(s0, lds), unsafe.Add(s0, 2*lds)
		for x := 0; ; {
			q := (*[3]T)(dd)
			q[0], q[1], q[2] = *(*T)(unsafe.Add(s0, x)), *(*T)(unsafe.Add(s1, x)), *(*T)(unsafe.Add(s2, x))
			if x += size; x == cols*size {
				break
			}
			dd = unsafe.Add(dd, ldd)
		}
	case 2:
		s1 := unsafe.Add(s0, lds)
		for x := 0; ; {
			q := (*[2]T)(dd)
			q[0], q[1] = *(*T)(unsafe.Add(s0, x)), *(*T)(unsafe.Add(s1, x))
			if x += size; x == cols*size {
				break
			}
			dd = unsafe.Add(dd, ldd)
		}
	case 1:
		elementsT[T](dd, ldd, s0, size, cols)
	}
}

// bytes8 transposes eight rows of eight bytes: blocks of four, then of two, then of one byte change places
// across the diagonal (Warren, Hacker's Delight, section 7-3).
func bytes8(d unsafe.Pointer, ldd int, s unsafe.Pointer, lds int) {
	row := func(i int) uint64 { return *(*uint64)(unsafe.Add(s, i*lds)) }
	a, b, c, e, f, g, h, k := row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)
	const m4, m2, m1 = 0x00000000ffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff
	a, f = a&m4|f<<32, a>>32|f&^m4
	b, g = b&m4|g<<32, b>>32|g&^m4
	c, h = c&m4|h<<32, c>>32|h&^m4
	e, k = e&m4|k<<32, e>>32|k&^m4
	a, c = a&m2|c&m2<<16, a>>16&m2|c&^m2
	b, e = b&m2|e&m2<<16, b>>16&m2|e&^m2
	f, h = f&m2|h&m2<<16, f>>16&m2|h&^m2
	g, k = g&m2|k&m2<<16, g>>16&m2|k&^m2
	a, b = a&m1|b&m1<<8, a>>8&m1|b&^m1
	c, e = c&m1|e&m1<<8, c>>8&m1|e&^m1
	f, g = f&m1|g&m1<<8, f>>8&m1|g&^m1
	h, k = h&m1|k&m1<<8, h>>8&m1|k&^m1
	put := func(i int, x uint64) { *(*uint64)(unsafe.Add(d, i*ldd)) = x }
	put(0, a)
	put(1, b)
	put(2, c)
	put(3, e)
	put(4, f)
	put(5, g)
	put(6, h)
	put(7, k)
}

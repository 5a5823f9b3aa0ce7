//go:build !purego

package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:generate go run ../_asm/gemm -out .

//go:noescape
func sgemmAVX512(a *args)

//go:noescape
func dgemmAVX512(a *args)

//go:noescape
func igemmAVX512(a *args)

//go:noescape
func lgemmAVX512(a *args)

//go:noescape
func bgemmAVX512(a *args)

//go:noescape
func hgemmAVX512(a *args)

//go:noescape
func sgemmAVX2(a *args)

//go:noescape
func dgemmAVX2(a *args)

//go:noescape
func stransposeAVX512(dst, src unsafe.Pointer, dstStride, srcStride, k int)

//go:noescape
func dtransposeAVX512(dst, src unsafe.Pointer, dstStride, srcStride, k int)

//go:noescape
func stransposeAVX2(dst, src unsafe.Pointer, dstStride, srcStride, k int)

//go:noescape
func dtransposeAVX2(dst, src unsafe.Pointer, dstStride, srcStride, k int)

//go:noescape
func stransposeFewAVX2(dst, src unsafe.Pointer, dstStride, srcStride, rows, k int)

//go:noescape
func dtransposeFewAVX2(dst, src unsafe.Pointer, dstStride, srcStride, rows, k int)

//go:noescape
func scopyAVX512(dst, src unsafe.Pointer, dstStride, srcStride, k int, mask uint64, ahead int)

//go:noescape
func dcopyAVX512(dst, src unsafe.Pointer, dstStride, srcStride, k int, mask uint64, ahead int)

//go:noescape
func sdotAVX512(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func sdotStreamAVX512(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func ddotAVX512(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func ddotStreamAVX512(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func igemmAVX2(a *args)

//go:noescape
func idotAVX2(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func idotAVX512(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func ldotAVX512(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func bdotAVX512(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func bdotStreamAVX512(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func hdotAVX512(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func hdotStreamAVX512(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func sdotAVX2(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func ddotAVX2(out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer)

//go:noescape
func peakAVX512(n int)

//go:noescape
func peakAVX2(n int)

func currentPath() path {
	switch {
	case cpu.HasAVX512:
		return pathAVX512
	case cpu.HasAVX2FMA:
		return pathAVX2
	}
	return pathGeneric
}

// Tables of masks: the window of a vector that begins n elements before the first zero selects the first n lanes.
var (
	masks32 = [16]int32{-1, -1, -1, -1, -1, -1, -1, -1}
	masks64 = [8]int64{-1, -1, -1, -1}
)

// lanes returns the elements of a vector, or 0 for the generic path.
func lanes[T element](pt path) int {
	var z T
	switch pt {
	case pathAVX512:
		return 64 / int(unsafe.Sizeof(z))
	case pathAVX2:
		return 32 / int(unsafe.Sizeof(z))
	}
	return 0
}

// laneMask returns AVX2's mask of the first n lanes, n from 0 to all.
func laneMask[T element](n int) unsafe.Pointer {
	var z T
	if unsafe.Sizeof(z) == 4 {
		return unsafe.Pointer(&masks32[8-max(0, min(n, 8))])
	}
	return unsafe.Pointer(&masks64[4-max(0, min(n, 4))])
}

// A kind is a path and an element type: what kernels are chosen by.
type kind uint8

const (
	genericKind kind = iota
	f32AVX2
	f64AVX2
	i32AVX2
	f32AVX512
	f64AVX512
	i32AVX512
	i64AVX512
)

// kindOf returns the kernels' index for a path and an element type.
func kindOf[T element](pt path) kind {
	var z T
	wide := kind(unsafe.Sizeof(z) / 8)
	switch {
	case pt == pathGeneric:
		return genericKind
	case pt == pathAVX2 && isInteger[T]():
		return i32AVX2
	case pt == pathAVX2:
		return f32AVX2 + wide
	case isInteger[T]():
		return i32AVX512 + wide
	}
	return f32AVX512 + wide
}

// tileSize returns the largest tile, rows and columns, for a product with m rows.
func tileSize[T element](pt path, m int) (mr, nr int) {
	l := lanes[T](pt)
	switch {
	case pt == pathGeneric:
		return 8, 32
	case pt == pathAVX2 && isInteger[T]():
		return 4, 2 * l
	case pt == pathAVX2:
		return 6, 2 * l
	case isInteger[T]():
		return 12, 2 * l
	case m <= 6:
		return 6, 4 * l
	}
	return 14, 2 * l
}

// A shape is a family of micro-kernels: up to some number of rows by some number of vectors. The last vectors
// are masked, unless the shape demands all columns.
type shape struct {
	vectors int
	all     bool
	rows    int
	index   int // in the generator
}

// The shapes of a path, by width.
var (
	shapesAVX512 = [...]shape{{1, false, 14, 2}, {2, true, 14, 0}, {2, false, 14, 1}, {4, true, 6, 3}, {4, false, 6, 4}}
	shapesAVX2   = [...]shape{{1, false, 6, 2}, {2, true, 6, 0}, {2, false, 6, 1}}

	// The shapes of integers have fewer rows, because their products need registers.
	shapesIntAVX512 = [...]shape{{1, false, 12, 2}, {2, true, 12, 0}, {2, false, 12, 1}}
	shapesIntAVX2   = [...]shape{{1, false, 4, 2}, {2, true, 4, 0}, {2, false, 3, 1}}
)

// setColumns prepares p for tiles of a width up to the columns of tileSize. It returns the most rows that
// such a tile may have.
func setColumns[T element](pt path, p *args, cols int) (maxRows int) {
	p.cols = cols
	l := lanes[T](pt)
	shapes := shapesAVX512[:]
	switch {
	case pt == pathGeneric:
		return 8
	case pt == pathAVX2:
		p.lastMask = laneMask[T]((cols-1)%l + 1)
		if shapes = shapesAVX2[:]; isInteger[T]() {
			shapes = shapesIntAVX2[:]
		}
	default:
		p.mask = 1<<uint(cols) - 1 // all ones for 64 columns
		if isInteger[T]() {
			shapes = shapesIntAVX512[:]
		}
	}
	i := 0
	for cols > shapes[i].vectors*l || shapes[i].all && cols < shapes[i].vectors*l {
		i++
	}
	p.variant = shapes[i].index * 16
	return shapes[i].rows
}

// runTile runs one micro-kernel. It must stay a real call: the stack check of its prologue is where the
// scheduler can stop a goroutine that otherwise stays in assembly.
//
//go:noinline
func runTile[T element](pt path, p *args) {
	v := p.variant
	p.variant += p.rows
	switch kindOf[T](pt) {
	case genericKind:
		genericTile[T](p)
	case f32AVX2:
		sgemmAVX2(p)
	case f64AVX2:
		dgemmAVX2(p)
	case i32AVX2:
		igemmAVX2(p)
	case f32AVX512:
		sgemmAVX512(p)
	case f64AVX512:
		dgemmAVX512(p)
	case i32AVX512:
		igemmAVX512(p)
	case i64AVX512:
		lgemmAVX512(p)
	}
	p.variant = v
}

// transposeFast packs the transposed panel of as many rows as a vector has lanes; k is a multiple of the
// elements in 16 bytes.
//
//go:noinline
func transposeFast[T element](pt path, dst, src unsafe.Pointer, dstStride, srcStride, k int) {
	wide := size[T]() == 8
	switch {
	case pt == pathAVX2 && wide:
		dtransposeAVX2(dst, src, dstStride, srcStride, k)
	case pt == pathAVX2:
		stransposeAVX2(dst, src, dstStride, srcStride, k)
	case wide:
		dtransposeAVX512(dst, src, dstStride, srcStride, k)
	default:
		stransposeAVX512(dst, src, dstStride, srcStride, k)
	}
}

// transposeFew is transposeFast on AVX2 for fewer rows: the surplus lanes get copies of the last row.
//
//go:noinline
func transposeFew[T element](dst, src unsafe.Pointer, dstStride, srcStride, rows, k int) {
	if size[T]() == 8 {
		dtransposeFewAVX2(dst, src, dstStride, srcStride, rows, k)
	} else {
		stransposeFewAVX2(dst, src, dstStride, srcStride, rows, k)
	}
}

// copyFast packs a panel of up to two vectors whose rows are adjacent, and fills it up to whole vectors with
// zeros. It prefetches the memory that lies ahead bytes behind what it reads. It returns false where there is
// no kernel.
//
//go:noinline
func copyFast[T element](pt path, dst, src unsafe.Pointer, dstStride, srcStride, rows, k, ahead int) bool {
	var z T
	if pt != pathAVX512 || rows > 128/int(unsafe.Sizeof(z)) {
		return false
	}
	mask := uint64(1)<<uint(rows) - 1
	if unsafe.Sizeof(z) == 4 {
		scopyAVX512(dst, src, dstStride, srcStride, k, mask, ahead)
	} else {
		dcopyAVX512(dst, src, dstStride, srcStride, k, mask, ahead)
	}
	return true
}

// dotRows is the number of rows of A that one call of dotFast takes.
func dotRows(pt path) int {
	switch pt {
	case pathAVX512:
		return 4
	case pathAVX2:
		return 2
	}
	return 1
}

// dotFast computes out[(x*rows+i)*4+j] = a[i]·b[x*4+j] for the given rows of a and groups x of four rows of
// b. far says that b comes from memory and is read in its order.
//
//go:noinline
func dotFast[T element](pt path, out *[dotSums]T, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, far bool) {
	mask := laneMask[T](k % max(lanes[T](pt), 1))
	o := unsafe.Pointer(out)
	kind := kindOf[T](pt)
	if far {
		switch kind {
		case f32AVX512:
			sdotStreamAVX512(o, a, b, rsA, rsB, k, rows, groups, mask)
			return
		case f64AVX512:
			ddotStreamAVX512(o, a, b, rsA, rsB, k, rows, groups, mask)
			return
		}
	}
	switch kind {
	case genericKind:
		genericDots(out, a, b, rsB, k, groups)
	case f32AVX2:
		sdotAVX2(o, a, b, rsA, rsB, k, rows, groups, mask)
	case f64AVX2:
		ddotAVX2(o, a, b, rsA, rsB, k, rows, groups, mask)
	case i32AVX2:
		idotAVX2(o, a, b, rsA, rsB, k, rows, groups, mask)
	case f32AVX512:
		sdotAVX512(o, a, b, rsA, rsB, k, rows, groups, mask)
	case f64AVX512:
		ddotAVX512(o, a, b, rsA, rsB, k, rows, groups, mask)
	case i32AVX512:
		idotAVX512(o, a, b, rsA, rsB, k, rows, groups, mask)
	case i64AVX512:
		ldotAVX512(o, a, b, rsA, rsB, k, rows, groups, mask)
	}
}

// hasHalfKernels reports whether there are kernels that read B in 16 bits.
func hasHalfKernels() bool { return cpu.HasAVX512 }

// runHalf is runTile for a B of 16-bit floats: up to 6 rows by four vectors.
//
//go:noinline
func (h Half) runHalf(p *args) {
	if h == BFloat16 {
		bgemmAVX512(p)
	} else {
		hgemmAVX512(p)
	}
}

// dotHalf is dotFast for a b of 16-bit floats.
//
//go:noinline
func (h Half) dotHalf(out *[dotSums]float32, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, far bool) {
	o := unsafe.Pointer(out)
	switch {
	case h == BFloat16 && far:
		bdotStreamAVX512(o, a, b, rsA, rsB, k, rows, groups, nil)
	case h == BFloat16:
		bdotAVX512(o, a, b, rsA, rsB, k, rows, groups, nil)
	case far:
		hdotStreamAVX512(o, a, b, rsA, rsB, k, rows, groups, nil)
	default:
		hdotAVX512(o, a, b, rsA, rsB, k, rows, groups, nil)
	}
}

// peakLoop runs n rounds of independent fused multiply-adds and returns the
// floating-point operations done; 0 where there is no such kernel.
//
//go:noinline
func peakLoop(pt path, n int) float64 {
	switch pt {
	case pathAVX512:
		peakAVX512(n)
		return float64(n) * 28 * 16 * 2
	case pathAVX2:
		peakAVX2(n)
		return float64(n) * 12 * 8 * 2
	}
	return 0
}

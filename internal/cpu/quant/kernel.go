package quant

import (
	"math"
	"unsafe"
)

// A product of bytes is computed in tiles: up to tileRows rows by tileCols columns of int32 sums, which then become
// elements of the result while they are in the first-level cache.
//
//	            weights, packed: a strip of tileCols columns, four bytes of k for each (the "VNNI layout")
//	            ┌────────────────────┐
//	            │ c0 c0 c0 c0 c1 c1 …│ k = 0..3
//	            │ c0 c0 c0 c0 c1 c1 …│ k = 4..7
//	            └────────────────────┘
//	A: rows     ┌────────────────────┐  sums ─ finish ─▶ bytes, floats or int32
//	of bytes    │ tile               │
//
// A row of A is runs of adjacent bytes at given distances: one run for a matrix; one for each row of the kernel's
// window of a convolution whose channels lie innermost, so that nothing is laid out as a matrix first.
const (
	tileRows  = 14
	tileCols  = 32
	depthRows = 7

	// What kernels of depthwise convolutions with a window of 3x3 compute: see depth3.
	depth3Rows = 5
	depth3Cols = 64

	// callSteps bounds the groups of four bytes that one call of a kernel takes: Go cannot interrupt assembly.
	callSteps = 2048
)

// kernelArgs is what the kernels read. The assembly knows the layout of this struct: a test compares the offsets.
type kernelArgs struct {
	a, b    unsafe.Pointer // first row where the first run of weights meets it; strip of weights
	taps    unsafe.Pointer // []int: bytes from a to what meets each run
	count   int            // runs
	steps   int            // groups of four bytes in a run; of depth3: bytes from column to column of the image
	lda     int            // bytes from row to row of A
	rows    int            // of the tile
	add     int            // not 0: the sums are added to the tile
	tile    unsafe.Pointer // sums
	out     unsafe.Pointer // the result
	ldo     int            // bytes from row to row of it
	mask    int            // a bit for each column that exists
	kind    int
	sums    unsafe.Pointer // []int32: of the weights of each column
	base    unsafe.Pointer // []int32: what the sums of each column begin with; nil: 0
	mul     unsafe.Pointer // []float32: factor of each column
	plus    unsafe.Pointer // []float32: term of each column
	rowFix  unsafe.Pointer // []int32: of each row, to be multiplied by zeros and subtracted from the sums; or nil
	zeros   unsafe.Pointer // []int32: zero point of each column of weights
	neg     int32          // minus the zero point of A
	factor  float32        // of all columns
	inv     float32        // one over the scale of the result
	zero    float32        // its zero point
	hi      float32        // the largest result, before zeroInt is added
	lo      int32          // the least result, before zeroInt is added
	zeroInt int32          // the zero point where it is added after rounding, else 0
	floor   float32        // the least result that is a float
	init    unsafe.Pointer // []int32: what the sums of each column begin with where dot makes the result; or nil
	// How many tiles dot computes then, below each other; it moves a and out. With one row and without init, tiles lie
	// beside each other: see besides.
	tiles int
}

// The kinds of results.
const (
	kindInts   = iota // the sums
	kindFloats        // sum*factor + term, at least floor
	kindAfter         // round((sum*factor + term)*inv + zero): onednn
	kindBefore        // round((sum + term)*factor) + zero: fbgemm and qnnpack
)

// at is element i of type E at p.
func at[E any](p unsafe.Pointer, i int) *E {
	var z E
	return (*E)(unsafe.Add(p, i*int(unsafe.Sizeof(z))))
}

// dotGeneric is the portable kernel of products:
//
//	tile[r, c] (+)= sum over runs t and bytes k of a[r*lda + taps[t] + k] * b[t, k, c]
func dotGeneric(p *kernelArgs) {
	for r := range p.rows {
		sums := at[[tileCols]int32](p.tile, r)
		if p.add == 0 {
			clear(sums[:])
		}
		for t := range p.count {
			a := r*p.lda + *at[int](p.taps, t)
			for s := range p.steps {
				x := *(*[4]uint8)(unsafe.Add(p.a, a+4*s))
				y := at[[tileCols][4]int8](p.b, t*p.steps+s)
				x0, x1, x2, x3 := int32(x[0]), int32(x[1]), int32(x[2]), int32(x[3])
				for c := range sums {
					w := &y[c]
					sums[c] += x0*int32(w[0]) + x1*int32(w[1]) + x2*int32(w[2]) + x3*int32(w[3])
				}
			}
		}
	}
}

// depthGeneric is the portable kernel of depthwise products:
//
//	tile[r, c] = sum over taps t of a[r*lda + taps[t] + c] * b[t, c]
func depthGeneric(p *kernelArgs) {
	n := columns(p.mask)
	for r := range p.rows {
		sums := at[[tileCols]int32](p.tile, r)
		clear(sums[:])
		for t := range p.count {
			a := unsafe.Slice((*uint8)(unsafe.Add(p.a, r*p.lda+*at[int](p.taps, t))), n)
			w := at[[tileCols]int32](p.b, t)
			for c, x := range a {
				sums[c] += int32(x) * int32(int8(w[c]))
			}
		}
	}
}

// columns is the number of columns of a mask.
func columns(mask int) int {
	n := 0
	for ; mask != 0; mask >>= 1 {
		n++
	}
	return n
}

// finishGeneric makes results of the sums of a tile.
func finishGeneric(p *kernelArgs) {
	n := columns(p.mask)
	for r := range p.rows {
		sums := at[[tileCols]int32](p.tile, r)
		out := unsafe.Add(p.out, r*p.ldo)
		for c := range n {
			s := sums[c] + p.neg**at[int32](p.sums, c)
			if p.base != nil {
				s += *at[int32](p.base, c)
			}
			if p.rowFix != nil {
				s -= *at[int32](p.rowFix, r) * *at[int32](p.zeros, c)
			}
			if p.kind == kindInts {
				*at[int32](out, c) = s
				continue
			}
			// A product is converted on its own so that the compiler does not fuse it with the sum.
			m, t := p.factor**at[float32](p.mul, c), *at[float32](p.plus, c)
			y := float32(s)
			if p.kind == kindBefore {
				y = (y + t) * m
			} else {
				y = float32(y*m) + t
			}
			switch p.kind {
			case kindFloats:
				if !(y > p.floor) {
					y = p.floor
				}
				*at[float32](out, c) = y
				continue
			case kindAfter:
				y = float32(y*p.inv) + p.zero
			}
			q := int32(math.MinInt32)
			if y > p.hi {
				y = p.hi
			}
			if y >= math.MinInt32 {
				q = int32(math.RoundToEven(float64(y)))
			}
			*at[uint8](out, c) = uint8(max(q, p.lo) + p.zeroInt)
		}
	}
}

package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// useDot reports whether the product is better computed as dot products: B is contiguous along k, and A has
// too few rows for packing B to pay. If that is true of Cᵀ = Bᵀ·Aᵀ instead, useDot exchanges A and B,
// provided that k is so long that adding up the lanes of the vector sums at the end does not count.
func (g *product[T]) useDot() bool {
	if g.suitsDot() {
		return true
	}
	if g.n <= 1 || g.n > 4 || g.m <= 4 || g.k < 12*g.n*g.n || g.strip > 0 || g.inHalf || isInteger[T]() {
		return false
	}
	if g.transpose(); g.suitsDot() {
		return true
	}
	g.transpose()
	return false
}

// dotMinK is the least k for the dot-product kernels. Shorter rows are multiplied by the portable code, if A
// has a single row: that is less work than transposing B.
const dotMinK = 8

// suitsDot reports whether A and B, as they are, suit dot products.
func (g *product[T]) suitsDot() bool {
	es := g.elemSize()
	if g.k == 0 || g.k < dotMinK && (g.m > 1 || g.pt != pathAVX2) || g.a.cs != es || g.b.rs != es || g.act > ActReLU {
		return false
	}
	if g.b.cs == es && g.n > 1 {
		return false // rows and columns of B have the same stride: all columns would be one
	}
	return g.m <= 4 || g.m <= 8 && g.k >= 512 || g.m <= 12 && g.k >= 1024
}

// runDot computes the product as dot products, in tasks of columns.
func (g *job[T]) runDot() {
	if g.m*g.n == 1 && g.nb == 1 && g.k > 4*dotPiece {
		g.longDot()
		return
	}
	// Tasks are groups of four columns. B comes from memory, so little arithmetic is already
	// a long task.
	const task = minTask / 16
	groups := (g.n + 3) / 4
	per := max(1, task/(4*g.m*g.k))
	blocks := (groups + per - 1) / per
	grain := 1
	if blocks == 1 {
		grain = max(1, task/(g.m*g.n*g.k))
	}
	par.For(g.nb*blocks, grain, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			offA, offB, offC := g.offsets(t / blocks)
			q := t % blocks * per
			g.dots(q, min(q+per, groups), offA, offB, offC)
		}
	})
}

// From dotStreamMinBytesB bytes of B for each row of A on, B is assumed not to be in the caches. It is then
// best read in the order of memory, as long as all of A stays in the L1 cache, which dotStreamMaxBytesA bytes
// do. Tests lower dotStreamMinBytesB.
var dotStreamMinBytesB = 2 << 20

const dotStreamMaxBytesA = 12 << 10

// dotPiece is the length of the pieces into which long rows are cut. It is a constant, so that the order of
// additions depends on k alone.
const dotPiece = 1 << 14

// longDot is the product of two long vectors: pieces in parallel, whose sums are added in the same order as
// in the method dots.
func (g *job[T]) longDot() {
	es := g.elemSize()
	pieces := (g.k + dotPiece - 1) / dotPiece
	sums := make([]T, pieces)
	par.For(pieces, 4, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			k0 := i * dotPiece * es
			sums[i] = g.dotPair(unsafe.Add(g.a.p, k0), unsafe.Add(g.b.p, k0), min(dotPiece, g.k-i*dotPiece))
		}
	})
	var s T
	for _, x := range sums {
		s += x
	}
	g.finish(0, 0, 0, []T{s})
}

// dotPair is the dot product of two vectors. The kernel for 16-bit floats computes four columns at once and
// gets b four times, which costs no more than reading b from beyond the L1 cache once.
func (g *product[T]) dotPair(a, b unsafe.Pointer, k int) T {
	switch {
	case g.inHalf:
		var out [dotSums]T
		g.runDots(&out, a, b, 0, k, 1, 1)
		return out[0]
	case isInteger[T]() && g.elemSize() == 4:
		return T(dotInts(unsafe.Slice((*int32)(a), k), unsafe.Slice((*int32)(b), k)))
	case isInteger[T]():
		return T(dotInts(unsafe.Slice((*int64)(a), k), unsafe.Slice((*int64)(b), k)))
	case g.elemSize() == 4:
		return T(vec.DotF32(unsafe.Slice((*float32)(a), k), unsafe.Slice((*float32)(b), k)))
	}
	return T(vec.DotF64(unsafe.Slice((*float64)(a), k), unsafe.Slice((*float64)(b), k)))
}

// dotInts is the dot product of two vectors of integers, which wraps around: as many products as the cache
// holds are stored and then added up.
func dotInts[E vec.Integer](a, b []E) E {
	const bytes = 8 << 10
	buf := getBuffer(bytes)
	defer buf.put()
	p := unsafe.Slice((*E)(buf.p), bytes/size[E]())
	var sum E
	for len(a) > 0 {
		n := min(len(a), len(p))
		vec.MulInt(p[:n], a[:n], b[:n])
		sum += E(vec.SumInt(p[:n]))
		a, b = a[n:], b[n:]
	}
	return sum
}

// dotSums is the number of sums that one kernel call returns at most: of four rows and four columns, or of
// fewer rows and several groups of four columns.
const dotSums = 64

// dots computes the groups [q0,q1) of four columns of one matrix.
func (g *product[T]) dots(q0, q1, offA, offB, offC int) {
	es := g.elemSize()
	step := dotRows(g.pt)
	most := 1
	if g.m <= 2 {
		most = min(max(1<<14/g.k, 1), dotSums/8) // a call must be short even when B comes from memory
	}
	if g.n < 4 {
		g.dotsOfFewColumns(offA, offB, offC)
		return
	}
	var out, sum [dotSums]T
	for q := q0; q < q1; {
		// The last group is moved left to be whole. The columns that it shares with its
		// neighbour are computed twice but stored once, because C may be an input as well
		// (beta).
		j, w := q*4, min(most, min(q1, g.n/4)-q)
		if w <= 0 {
			j, w = g.n-4, 1
		}
		for i := 0; i < g.m; i += step {
			rows := min(step, g.m-i)
			res := &out
			for k0 := 0; k0 < g.k; k0 += dotPiece {
				kk := min(dotPiece, g.k-k0)
				g.runDots(&out, unsafe.Add(g.a.p, offA+i*g.a.rs+k0*es),
					unsafe.Add(g.b.p, offB+j*g.b.cs+k0*g.b.rs), g.b.cs, kk, rows, w)
				if kk == g.k {
					break
				}
				if k0 == 0 {
					sum, res = out, &sum
					continue
				}
				for x := range rows * w * 4 {
					sum[x] += out[x]
				}
			}
			if rows == 1 && w > 1 {
				g.finish(i, j, offC, res[:w*4])
				continue
			}
			for x := range w {
				for r := range rows {
					first := max(0, q*4-j)
					g.finish(i+r, j+x*4+first, offC, res[(x*rows+r)*4+first:(x*rows+r)*4+4])
				}
			}
		}
		q += w
	}
}

// streamsB reports whether B is read in the order of memory. AVX2 has no kernels for that: two sums of its
// short vectors at a time would not keep up with memory.
func (g *product[T]) streamsB() bool {
	size := g.elemSize()
	if g.inHalf {
		size = 2
	}
	return g.pt != pathAVX2 && g.k*g.n*size > g.m*dotStreamMinBytesB && g.m*g.k*g.elemSize() <= dotStreamMaxBytesA
}

// runDots calls the dot-product kernel for the type of B.
func (g *product[T]) runDots(out *[dotSums]T, a, b unsafe.Pointer, rsB, k, rows, groups int) {
	far := rsB > 0 && g.streamsB()
	if g.inHalf {
		g.half.dotHalf((*[dotSums]float32)(unsafe.Pointer(out)), a, b, g.a.rs, rsB, k, rows, groups, far)
		return
	}
	if g.k < dotMinK {
		genericDots(out, a, b, rsB, k, groups)
		return
	}
	dotFast(g.pt, out, a, b, g.a.rs, rsB, k, rows, groups, far)
}

// dotsOfFewColumns computes what dots does for fewer columns than a group has.
func (g *product[T]) dotsOfFewColumns(offA, offB, offC int) {
	es := g.elemSize()
	for i := range g.m {
		for j := range g.n {
			var s T
			for k0 := 0; k0 < g.k; k0 += dotPiece {
				s += g.dotPair(unsafe.Add(g.a.p, offA+i*g.a.rs+k0*es), unsafe.Add(g.b.p, offB+j*g.b.cs+k0*g.b.rs),
					min(dotPiece, g.k-k0))
			}
			sums := [1]T{s}
			g.finish(i, j, offC, sums[:])
		}
	}
}

// finish stores adjacent elements of a row of C, given their sums.
func (g *product[T]) finish(i, j, offC int, sums []T) {
	es := g.elemSize()
	c := unsafe.Add(g.c.p, offC+i*g.c.rs+j*g.c.cs)
	if g.alpha == 1 && g.beta == 0 && g.biasRow == nil && g.act == ActNone {
		if g.biasCol == nil {
			for x, s := range sums {
				*at[T](c, x*g.c.cs) = s
			}
			return
		}
		for x, s := range sums {
			*at[T](c, x*g.c.cs) = s + *at[T](g.biasCol, (j+x)*es)
		}
		return
	}
	for x, s := range sums {
		s *= g.alpha
		to := at[T](c, x*g.c.cs)
		if g.beta != 0 {
			s += T(g.beta * *to)
		}
		if g.biasCol != nil {
			s += *at[T](g.biasCol, (j+x)*es)
		}
		if g.biasRow != nil {
			s += *at[T](g.biasRow, i*es)
		}
		if g.act == ActReLU && s < 0 {
			s = 0
		}
		*to = s
	}
}

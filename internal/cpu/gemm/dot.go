package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

// useDot reports whether the product is better taken as dot products: B is
// contiguous along k and A has too few rows for packing B to pay.
func (g *product[T]) useDot() bool {
	es := g.es()
	if g.k < 8 || g.a.cs != es || g.b.rs != es || g.n < 4 || g.act > ActReLU {
		return false
	}
	if g.b.cs == es {
		return false // B is row-major as well: one row of it, or k is 1
	}
	return g.m <= 4 || g.m <= 8 && g.k >= 512 || g.m <= 12 && g.k >= 1024
}

func (g *job[T]) runDot() {
	// Four columns at a time, in blocks worth a task. The matrix streams from
	// memory, so little arithmetic is already much work.
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

// dotSums is room for the sums of four rows and four columns, or of fewer rows
// and more columns: one call takes several groups of four.
const dotSums = 64

// dots computes the groups [q0,q1) of four columns of one matrix.
func (g *product[T]) dots(q0, q1, offA, offB, offC int) {
	es := g.es()
	step := dotRows(g.pt)
	most := 1
	if g.m <= 2 {
		most = min(max(1<<14/g.k, 1), dotSums/8) // no call may last even when the data comes from memory
	}
	var out, sum [dotSums]T
	for q := q0; q < q1; {
		// The last group is moved left to be whole; what it shares with its
		// neighbour is computed twice but stored once, for C may be an input
		// as well.
		j, w := q*4, min(most, min(q1, g.n/4)-q)
		if w <= 0 {
			j, w = g.n-4, 1
		}
		for i := 0; i < g.m; i += step {
			rows := min(step, g.m-i)
			// Long rows in pieces, which depend on k alone.
			const piece = 1 << 14
			res := &out
			for k0 := 0; k0 < g.k; k0 += piece {
				kk := min(piece, g.k-k0)
				dotFast(g.pt, &out, unsafe.Add(g.a.p, offA+i*g.a.rs+k0*es),
					unsafe.Add(g.b.p, offB+j*g.b.cs+k0*es), g.a.rs, g.b.cs, kk, rows, w)
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

// finish stores adjacent elements of a row of C from their sums.
func (g *product[T]) finish(i, j, offC int, sums []T) {
	es := g.es()
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

package norm

import (
	"math"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
)

// batchArgs are the numbers and per-channel arrays of a batch norm; arrays that are nil are not given or not wanted.
type batchArgs[E float] struct {
	w, b         []E
	rm, rv       []E // running statistics, moved towards the batch's in training
	mean, invstd []E // of the batch, results of training
	training     bool
	momentum     float64
	eps          float64
	round        func(float64) float64 // to the type of the statistics, if that has 16 bits
	// the same for what they are computed from, which PyTorch rounds in bfloat16, not in float16
	step func(float64) float64
}

// moments is a number of elements, their mean and the sum of squared deviations from it.
type moments struct{ n, mean, m2 float64 }

// merge adds the moments of other elements (Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm, 1979).
func (a *moments) merge(b moments) {
	n := a.n + b.n
	d := b.mean - a.mean
	a.mean += d * (b.n / n)
	a.m2 += b.m2 + d*d*(a.n*b.n/n)
	a.n = n
}

// statBlock is the number of elements whose moments are computed at once: two passes, the second one from the cache.
const statBlock = 4096

// addMoments merges those of a run of elements into m.
func addMoments[E float](m *moments, x []E) {
	for len(x) > 0 {
		b := x[:min(statBlock, len(x))]
		n := float64(len(b))
		mean := blockSum(b) / n
		m2 := blockSquares(b, E(mean))
		if mean*mean*n > 256*m2 { // hardly varies: what the sum has lost of the mean would show
			mean = sum64(b) / n
			m2 = blockSquares(b, E(mean))
		}
		m.merge(moments{n, mean, m2})
		x = x[len(b):]
	}
}

// blockRows is the number of rows of c channels that are summed up at once.
func blockRows(c int) int { return max(64, 16*1024/c) }

// rowMoments are the moments of every channel of rows in memory order n, l, c.
func rowMoments[E float](p planes, x field[E]) []moments {
	rows, per, k := p.n*p.l, blockRows(p.c), p.perTile()
	blocks := (rows + per - 1) / per
	mean, m2 := make([]E, blocks*p.c), make([]E, blocks*p.c)
	par.For(blocks, 1, func(lo, hi int) {
		buf := half.Borrow[E](3 * k * p.c)
		defer half.Return(buf)
		acc, wide, tmp := (*buf)[:k*p.c], (*buf)[k*p.c:2*k*p.c], (*buf)[2*k*p.c:]
		for b := lo; b < hi; b++ {
			from, to := b*per*p.c, min(rows, b*per+per)*p.c
			clear(acc)
			for i := from; i < to; i += len(acc) {
				n := min(to-i, len(acc))
				add(acc[:n], x.load(i, tmp[:n]))
			}
			count := E((to - from) / p.c)
			for i, s := range foldRows(acc, p.c) {
				mean[b*p.c+i] = s / count
			}
			for i := 0; i < len(wide); i += p.c {
				copy(wide[i:], mean[b*p.c:][:p.c])
			}
			clear(acc)
			for i := from; i < to; i += len(acc) {
				n := min(to-i, len(acc))
				addSquares(acc[:n], x.load(i, tmp[:n]), wide[:n])
			}
			copy(m2[b*p.c:], foldRows(acc, p.c))
		}
	})
	out := make([]moments, p.c)
	par.For(p.c, max(1, 4096/blocks), func(lo, hi int) {
		// with the overall mean first, the merge needs no divisions
		for b := range blocks {
			n := float64(min(rows, b*per+per) - b*per)
			for c := lo; c < hi; c++ {
				out[c].mean += n * float64(mean[b*p.c+c])
			}
		}
		for c := lo; c < hi; c++ {
			out[c].n = float64(rows)
			out[c].mean /= out[c].n
		}
		for b := range blocks {
			n := float64(min(rows, b*per+per) - b*per)
			for c := lo; c < hi; c++ {
				d := float64(mean[b*p.c+c]) - out[c].mean
				out[c].m2 += float64(m2[b*p.c+c]) + n*d*d
			}
		}
	})
	return out
}

// affine is the line that normalises channel c; in training it takes the batch's moments and notes them.
func (a *batchArgs[E]) affine(c int, m moments) (scale, shift E) {
	var mu, is float64
	if a.training {
		// the deviations are those from the rounded mean
		mu = a.round(m.mean)
		m2 := m.m2
		if d := m.mean - mu; d != 0 {
			m2 += m.n * d * d
		}
		m2 = a.step(m2)
		is = a.round(1 / math.Sqrt(a.step(m2/m.n)+a.eps))
		a.mean[c], a.invstd[c] = E(mu), E(is)
		move := func(old E, to float64) E {
			return E(a.step(a.momentum)*to + a.step(a.step(1-a.momentum)*float64(old)))
		}
		if a.rm != nil {
			a.rm[c] = move(a.rm[c], a.step(m.mean))
		}
		if a.rv != nil {
			a.rv[c] = move(a.rv[c], a.step(m2/(m.n-1)))
		}
	} else {
		mu, is = float64(a.rm[c]), 1/math.Sqrt(float64(a.rv[c])+a.eps)
	}
	if a.w != nil {
		is *= float64(a.w[c])
	}
	scale = E(is)
	s := -mu * float64(scale) // so that both factors round alike
	if a.b != nil {
		s += float64(a.b[c])
	}
	return scale, E(s)
}

// channelGrain is the number of channels of a parallel task.
//
// Channels of short planes go together as far as there are blocks enough: the planes of one channel are far from each
// other in memory, and each alone would be a few cache lines of a page of its own.
func (p planes) channelGrain() int {
	return max(1, 16*1024/max(1, p.n*p.l), min(512/max(1, p.l), p.c/8))
}

// shortPlane is the size of a plane that is worked on together with those of other channels behind it.
const shortPlane = 1024

// hasShortPlanes reports that planes are so short that a kernel call for each would cost more than one for many of an
// image, with the coefficients spread, which serve all images.
func (p planes) hasShortPlanes() bool { return p.l <= min(64, 8*p.n) }

// spread repeats every element of each of xs l times, in memory of Borrow's that the second result gives back.
func spread[E float](l int, xs ...[]E) (wide [][]E, free func()) {
	n := len(xs[0]) * l
	buf := half.Borrow[E](n * len(xs))
	wide = make([][]E, len(xs))
	for i, x := range xs {
		wide[i] = (*buf)[i*n : (i+1)*n]
		for c, v := range x {
			fill(wide[i][c*l:][:l], v)
		}
	}
	return wide, func() { half.Return(buf) }
}

// shortPlaneSums adds to s the sums of the channels from lo on: f adds the elements from i on to as many accumulators.
func shortPlaneSums[E float](p planes, s []float64, lo int, f func(acc []E, i int)) {
	buf := half.Borrow[E](len(s) * p.l)
	defer half.Return(buf)
	acc := *buf
	const images = 64 // that are summed up at once
	for k := 0; k < p.n; k += images {
		clear(acc)
		for j := k; j < min(k+images, p.n); j++ {
			f(acc, (j*p.c+lo)*p.l)
		}
		for c := range s {
			var a, b float64
			v := acc[c*p.l : (c+1)*p.l]
			for ; len(v) >= 2; v = v[2:] {
				a += float64(v[0])
				b += float64(v[1])
			}
			if len(v) > 0 {
				a += float64(v[0])
			}
			s[c] += a + b
		}
	}
}

// shortPlaneMoments sets ms to the moments of the channels from lo on.
func shortPlaneMoments[E float](p planes, ms []moments, lo int, x field[E], tmp []E) {
	n, mean, sums := float64(p.n*p.l), make([]E, len(ms)), make([]float64, len(ms))
	shortPlaneSums(p, sums, lo, func(acc []E, i int) { add(acc, x.load(i, tmp[:len(acc)])) })
	for c, s := range sums {
		mean[c] = E(s / n)
		ms[c].n, ms[c].mean = n, s/n
	}
	wide, free := spread(p.l, mean)
	defer free()
	clear(sums)
	shortPlaneSums(p, sums, lo, func(acc []E, i int) { addSquares(acc, x.load(i, tmp[:len(acc)]), wide[0]) })
	for c, s := range sums {
		d := ms[c].mean - float64(mean[c])
		ms[c].m2 = s - n*d*d
		if m := ms[c].mean; m*m*n > 256*ms[c].m2 { // hardly varies, see addMoments
			ms[c] = moments{}
			for k := range p.n {
				addMoments(&ms[c], x.load((k*p.c+lo+c)*p.l, tmp[:p.l]))
			}
		}
	}
}

// maxRun is the number of elements that runs passes at most.
func (p planes) maxRun() int {
	if p.l <= shortPlane {
		return max(1, min(p.channelGrain(), p.c)*p.l)
	}
	return statBlock
}

// runs calls f for the n elements from i on that channels lo to hi of all images consist of, c being the first one's
// channel: planes of one image or, where these are long, pieces of one plane.
func (p planes) runs(lo, hi int, f func(i, n, c int)) {
	if p.l <= shortPlane {
		for k := range p.n {
			f((k*p.c+lo)*p.l, (hi-lo)*p.l, lo)
		}
		return
	}
	for c := lo; c < hi; c++ {
		for k := range p.n {
			at := (k*p.c + c) * p.l
			pieces(at, at+p.l, func(i, n int) { f(i, n, c) })
		}
	}
}

// cut calls f for the channels, from c on, of n elements that runs passed.
func (p planes) cut(n, c int, f func(c, from, to int)) {
	if p.l > shortPlane {
		f(c, 0, n)
		return
	}
	for at := 0; at < n; at += p.l {
		f(c, at, at+p.l)
		c++
	}
}

// tiles calls f for pieces of rows of channels, in parallel; a piece has at most k·c elements and begins with the
// first channel.
func (p planes) tiles(k int, f func(lo, hi int)) {
	size, total := k*p.c, p.n*p.l*p.c
	per := max(1, 16*1024/size) * size
	par.For(total, per, func(lo, hi int) {
		for ; lo < hi; lo += size {
			f(lo, min(lo+size, hi))
		}
	})
}

// batchForward normalises every channel: in training with the batch's statistics, towards which the running ones are
// moved, otherwise with the running ones. out and x may be the same memory.
func batchForward[E float](p planes, out, x field[E], a *batchArgs[E]) {
	if !p.last && a.training {
		past := exceedsCaches(x, out)
		par.For(p.c, p.channelGrain(), func(lo, hi int) {
			buf := half.Borrow[E](p.maxRun())
			defer half.Return(buf)
			tmp := *buf
			ms, scale, shift := make([]moments, hi-lo), make([]E, hi-lo), make([]E, hi-lo)
			if p.hasShortPlanes() {
				shortPlaneMoments(p, ms, lo, x, tmp)
			} else {
				p.runs(lo, hi, func(i, n, c int) {
					v := x.load(i, tmp[:n])
					p.cut(n, c-lo, func(c, from, to int) { addMoments(&ms[c], v[from:to]) })
				})
			}
			for c, m := range ms {
				scale[c], shift[c] = a.affine(lo+c, m)
			}
			if p.hasShortPlanes() {
				wide, free := spread(p.l, scale, shift)
				defer free()
				scale, shift = wide[0], wide[1]
			}
			p.runs(lo, hi, func(i, n, c int) {
				d, v := out.place(i, tmp[:n]), x.load(i, tmp[:n])
				if p.hasShortPlanes() {
					mulAdd(d, v, scale, shift, past)
				} else {
					p.cut(n, c-lo, func(c, from,
						to int) {
						scaleShift(d[from:to], v[from:to], scale[c], shift[c], past)
					})
				}
				out.store(i, d)
			})
		})
		return
	}
	ms := make([]moments, p.c)
	if a.training {
		ms = rowMoments(p, x)
	}
	scale, shift := make([]E, p.c), make([]E, p.c)
	for c, m := range ms {
		scale[c], shift[c] = a.affine(c, m)
	}
	if p.last {
		rowAffine(p, out, x, nil, scale, shift)
	} else {
		planeAffine(p, out, x, scale, shift)
	}
}

// planeAffine is out = x*scale + shift by channel, of planes in memory order n, c, l.
func planeAffine[E float](p planes, out, x field[E], scale, shift []E) {
	if p.hasShortPlanes() && p.l <= 32 { // above, a call for each plane is cheaper than reading spread coefficients
		wide, free := spread(p.l, scale, shift)
		defer free()
		rowAffine(planes{p.n, p.c * p.l, 1, true}, out, x, nil, wide[0], wide[1])
		return
	}
	past, k := exceedsCaches(x, out), max(1, statBlock/p.l)
	par.For(p.n*p.c, max(k, 16*1024/p.l), func(lo, hi int) {
		buf := half.Borrow[E](min(k*p.l, statBlock))
		defer half.Return(buf)
		for ; lo < hi; lo += k {
			m := min(k, hi-lo)
			pieces(lo*p.l, (lo+m)*p.l, func(i, n int) {
				d, v := out.place(i, (*buf)[:n]), x.load(i, (*buf)[:n])
				for at, c := 0, lo; at < n; at, c = at+p.l, c+1 {
					to := min(at+p.l, n)
					scaleShift(d[at:to], v[at:to], scale[c%p.c], shift[c%p.c], past)
				}
				out.store(i, d)
			})
		}
	})
}

// rowAffine is out = (x-center)*scale + shift by channel, of rows in memory order n, l, c; no center is one of 0.
func rowAffine[E float](p planes, out, x field[E], center, scale, shift []E) {
	past := exceedsCaches(x, out)
	k := p.perTile()
	scale, shift = repeated(scale, k), repeated(shift, k)
	if center != nil {
		center = repeated(center, k)
	}
	p.tiles(k, func(lo, hi int) {
		n := hi - lo
		buf := half.Borrow[E](n)
		defer half.Return(buf)
		d, v := out.place(lo, *buf), x.load(lo, *buf)
		if center != nil {
			sub(d, v, center[:n])
			v = d
		}
		mulAdd(d, v, scale[:n], shift[:n], past)
		out.store(lo, d)
	})
}

// rowCombine is out = kg*g + kx*x + k0 by channel, of rows in memory order n, l, c; without kx it is kg*g + k0.
func rowCombine[E float](p planes, out, g, x field[E], kg, kx, k0 []E) {
	past := exceedsCaches(g, x, out)
	k := p.perTile()
	kg, k0 = repeated(kg, k), repeated(k0, k)
	if kx != nil {
		kx = repeated(kx, k)
	}
	p.tiles(k, func(lo, hi int) {
		n := hi - lo
		buf := half.Borrow[E](2 * n)
		defer half.Return(buf)
		a, b := (*buf)[:n], (*buf)[n:]
		d := out.place(lo, a)
		if kx != nil {
			combineColumns(d, g.load(lo, a), x.load(lo, b), kg[:n], kx[:n], k0[:n], past)
		} else {
			mulAdd(d, g.load(lo, a), kg[:n], k0[:n], past)
		}
		out.store(lo, d)
	})
}

// rowGradSums are, for every channel, the sums of g and of g*(x-mean).
func rowGradSums[E float](p planes, g, x field[E], mean []E) (s0, s1 []float64) {
	rows, per, k := p.n*p.l, blockRows(p.c), p.perTile()
	blocks := (rows + per - 1) / per
	part := make([]E, blocks*2*p.c)
	wide := repeated(mean, k)
	par.For(blocks, 1, func(lo, hi int) {
		size := k * p.c
		buf := half.Borrow[E](4 * size)
		defer half.Return(buf)
		acc, tg, tx := (*buf)[:2*size], (*buf)[2*size:3*size], (*buf)[3*size:]
		acc0, acc1 := acc[:size], acc[size:]
		for b := lo; b < hi; b++ {
			clear(acc)
			for i, end := b*per*p.c, min(rows, b*per+per)*p.c; i < end; i += k * p.c {
				n := min(k*p.c, end-i)
				gi := g.load(i, tg[:n])
				add(acc0[:n], gi)
				addCentered(acc1[:n], gi, x.load(i, tx[:n]), wide[:n])
			}
			copy(part[2*b*p.c:], foldRows(acc0, p.c))
			copy(part[(2*b+1)*p.c:], foldRows(acc1, p.c))
		}
	})
	s := make([]float64, 2*p.c)
	par.For(2*p.c, max(1, 8192/blocks), func(lo, hi int) {
		for b := range blocks {
			for c := lo; c < hi; c++ {
				s[c] += float64(part[2*b*p.c+c])
			}
		}
	})
	return s[:p.c], s[p.c:]
}

// batchGrads are the gradients that batchBackward writes; those that are nil are not wanted.
type batchGrads[E float] struct {
	x    field[E]
	w, b []E
}

// set notes the parameters' gradients of channel c from the sums of g and of g*(x-mean), and gives the coefficients of
//
//	gx = scale*(g - s0/count - (x-mean)*invstd²*s1/count) = kg*g + kx*x + k0
//
// whose last two terms are there only when the statistics are the batch's.
func (d *batchGrads[E]) set(c int, s0, s1, count float64, w []E, mean, invstd E, training bool) (kg, kx, k0 E) {
	mu, is := float64(mean), float64(invstd)
	if d.w != nil {
		d.w[c] = E(s1 * is)
	}
	if d.b != nil {
		d.b[c] = E(s0)
	}
	scale := is
	if w != nil {
		scale *= float64(w[c])
	}
	if !training {
		return E(scale), 0, 0
	}
	k := -scale * is * is * s1 / count
	return E(scale), E(k), E(-scale*s0/count - k*mu)
}

// batchBackward computes the gradients of input, weight and bias.
func batchBackward[E float](p planes, d *batchGrads[E], g, x field[E], w, mean, invstd []E, training bool) {
	count := float64(p.n * p.l)
	sums := training || d.w != nil || d.b != nil
	if !p.last {
		past := exceedsCaches(g, x, d.x)
		par.For(p.c, p.channelGrain(), func(lo, hi int) {
			most := p.maxRun()
			buf := half.Borrow[E](2 * most)
			defer half.Return(buf)
			tg, tx := (*buf)[:most], (*buf)[most:]
			s0, s1 := make([]float64, hi-lo), make([]float64, hi-lo)
			switch {
			case !sums:
			case p.hasShortPlanes():
				wide, free := spread(p.l, mean[lo:hi])
				shortPlaneSums(p, s0, lo, func(acc []E, i int) { add(acc, g.load(i, tg[:len(acc)])) })
				shortPlaneSums(p, s1, lo,
					func(acc []E, i int) {
						addCentered(acc, g.load(i, tg[:len(acc)]), x.load(i, tx[:len(acc)]),
							wide[0])
					})
				free()
			default:
				p.runs(lo, hi, func(i, n, c int) {
					gi, xi := g.load(i, tg[:n]), x.load(i, tx[:n])
					p.cut(n, c-lo, func(c, from, to int) {
						a, b := gradSums(gi[from:to], xi[from:to], mean[lo+c])
						s0[c] += a
						s1[c] += b
					})
				})
			}
			kg, kx, k0 := make([]E, hi-lo), make([]E, hi-lo), make([]E, hi-lo)
			for c := range kg {
				kg[c], kx[c], k0[c] = d.set(lo+c, s0[c], s1[c], count, w, mean[lo+c], invstd[lo+c], training)
			}
			if !d.x.given() {
				return
			}
			if p.hasShortPlanes() {
				wide, free := spread(p.l, kg, k0, kx)
				defer free()
				kg, k0, kx = wide[0], wide[1], wide[2]
			}
			p.runs(lo, hi, func(i, n, c int) {
				o, gi := d.x.place(i, tg[:n]), g.load(i, tg[:n])
				switch {
				case training && p.hasShortPlanes():
					combineColumns(o, gi, x.load(i, tx[:n]), kg, kx, k0, past)
				case training:
					xi := x.load(i, tx[:n])
					p.cut(n, c-lo, func(c, from,
						to int) {
						combine(o[from:to], gi[from:to], xi[from:to], kg[c], kx[c], k0[c], past)
					})
				case p.hasShortPlanes():
					mulAdd(o, gi, kg, k0, past) // k0 is 0
				default:
					p.cut(n, c-lo, func(c, from, to int) { scaleShift(o[from:to], gi[from:to], kg[c], 0, past) })
				}
				d.x.store(i, o)
			})
		})
		return
	}
	s0, s1 := make([]float64, p.c), make([]float64, p.c)
	if sums {
		s0, s1 = rowGradSums(p, g, x, mean)
	}
	kg, kx, k0 := make([]E, p.c), make([]E, p.c), make([]E, p.c)
	for c := range p.c {
		kg[c], kx[c], k0[c] = d.set(c, s0[c], s1[c], count, w, mean[c], invstd[c], training)
	}
	if !d.x.given() {
		return
	}
	if !training {
		kx = nil
	}
	rowCombine(p, d.x, g, x, kg, kx, k0)
}

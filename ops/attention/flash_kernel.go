package attention

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// Attention in the manner of FlashAttention (Dao et al. 2022, https://arxiv.org/abs/2205.14135): the scores exist
// only as tiles of a few queries by a few keys. The forward pass keeps a running maximum and sum per query and saves
// the logarithm of the sum; the backward pass computes the tiles again from it.

// kernels are the row kernels of an element type.
type kernels[E float] struct {
	max    func(a []E) E
	expSum func(dst, a []E, m E) E // e^(a-m), where it is not next to nothing, and the sum
	exp    func(dst, a []E, m E)
	scale  func(dst, a []E, s E)
	add    func(dst, a, b []E)
	where  func(dst []E, mask []uint8, a, b []E)
	grad   func(dst, grad, y []E, dot E) // y*(grad-dot)
	drop   func(dst, a []E, mask []uint8, s E)
	dot    func(a, b []E) E
}

type float interface{ float32 | float64 }

var (
	kernels32 = kernels[float32]{vec.MaxF32, vec.ExpOrZeroSumF32, vec.ExpOrZeroF32, vec.MulScalarF32, vec.AddF32,
		vec.WhereF32, vec.SoftmaxBackwardF32, vec.DropoutF32, vec.DotF32}
	kernels64 = kernels[float64]{vec.MaxF64, vec.ExpOrZeroSumF64, vec.ExpOrZeroF64, vec.MulScalarF64, vec.AddF64,
		vec.WhereF64, vec.SoftmaxBackwardF64, vec.DropoutF64, vec.DotF64}
)

// Sizes of the tiles. They and the cut into tasks depend on the shapes alone, and so do all roundings.
const (
	tileRows   = 128 // queries
	tileCols   = 256 // keys
	causalCols = 128 // keys, where half of the tiles can be skipped
	fewRows    = 16  // so few queries do not pay for rearranging the keys
)

// block is a four-dimensional operand (batch, head, position, feature) whose features are adjacent.
type block[E float] struct {
	p       []E
	b, h, r int // strides
}

func blockOf[E float](t *T) block[E] {
	if t.Stride(3) != 1 && t.Size(3) > 1 {
		t = tensor.Dense(t)
	}
	n := 1
	for i, s := range t.Shape() {
		if s == 0 {
			return block[E]{}
		}
		n += (s - 1) * t.Strides()[i]
	}
	st := t.Strides()
	return block[E]{unsafe.Slice((*E)(tensor.Ptr(t)), n), st[0], st[1], st[2]}
}

// at is what follows position r of a head.
func (x *block[E]) at(b, h, r int) []E { return x.p[b*x.b+h*x.h+r*x.r:] }

// gather copies n positions of w features from src to adjacent ones; what is adjacent already stays where it is.
func gather[E float](buf, src []E, stride, n, w int) []E {
	if stride == w {
		return src
	}
	for i := range n {
		copy(buf[i*w:][:w], src[i*stride:][:w])
	}
	return buf
}

// transposeBlock transposes n positions of w features, which are stride apart in src, into w rows of n in dst.
func transposeBlock[E float](dst, src []E, stride, n, w int) {
	if d, ok := any(dst).([]float32); ok {
		vec.TransposeF32(d, n, any(src).([]float32), stride, n, w)
		return
	}
	for i := range n {
		for j, v := range src[i*stride:][:w] {
			dst[j*n+i] = v
		}
	}
}

// flash is one call: sizes, operands and masks.
type flash[E float] struct {
	k                  *kernels[E]
	nb, heads, kvHeads int
	L, S, e, ev        int
	scale              E
	causal             bool
	q, key, v, out     block[E]
	lse                []E     // (batch, heads, L); -Inf where nothing may be attended to
	add                []E     // mask to be added
	where              []uint8 // or mask of bytes
	mb, mh, mr, mc     int     // its strides
	never              []E     // -Inf, for the boolean mask
	masked             bool    // rows without any key are zero instead of NaN
	keep               []uint8 // dropout: which of the (batch, heads, L, S) weights stay; nil for all
	keepScale          E       // and what they are multiplied by
	pool               *sync.Pool
}

var pool32, pool64 sync.Pool

// scratch returns at least n elements with any contents; pass them to done.
func (f *flash[E]) scratch(n int) *[]E {
	if b, ok := f.pool.Get().(*[]E); ok && len(*b) >= n {
		return b
	}
	b := make([]E, n)
	return &b
}

func (f *flash[E]) done(b *[]E) { f.pool.Put(b) }

func newFlash[E float](q, k, v, mask *T, causal bool, scale float64) *flash[E] {
	f := &flash[E]{nb: q.Size(0), heads: q.Size(1), kvHeads: k.Size(1), L: q.Size(2), S: k.Size(2), e: q.Size(3),
		ev: v.Size(3), scale: E(scale), causal: causal}
	switch any(f).(type) {
	case *flash[float32]:
		f.k, f.pool = any(&kernels32).(*kernels[E]), &pool32
	default:
		f.k, f.pool = any(&kernels64).(*kernels[E]), &pool64
	}
	dt := tensor.DTypeOf[E]()
	f.q, f.key, f.v = blockOf[E](withDType(q, dt)), blockOf[E](withDType(k, dt)), blockOf[E](withDType(v, dt))
	f.masked = causal || mask != nil
	if mask == nil {
		return f
	}
	st := [4]int{}
	if mask.DType() != tensor.Bool && mask.DType() != dt {
		mask = tensor.DenseAs(mask, dt)
	}
	n := 1
	for d, i := mask.Dim()-1, 3; d >= 0; d, i = d-1, i-1 {
		if mask.Size(d) > 1 {
			st[i] = mask.Stride(d)
			n += (mask.Size(d) - 1) * st[i]
		}
	}
	f.mb, f.mh, f.mr, f.mc = st[0], st[1], st[2], st[3]
	if mask.DType() == tensor.Bool {
		f.where = unsafe.Slice((*uint8)(tensor.Ptr(mask)), n)
		f.never = make([]E, tileCols)
		for i := range f.never {
			f.never[i] = E(math.Inf(-1))
		}
	} else {
		f.add = unsafe.Slice((*E)(tensor.Ptr(mask)), n)
	}
	return f
}

// withDType is t itself where it has dtype dt, otherwise a contiguous copy in dtype dt.
func withDType(t *T, dt tensor.DType) *T {
	if t.DType() == dt {
		return t
	}
	return tensor.DenseAs(t, dt)
}

func (f *flash[E]) cols() int {
	if f.causal {
		return causalCols
	}
	return tileCols
}

// visible is how many of the n keys from j0 query i may attend to, as far as causality goes.
func (f *flash[E]) visible(i, j0, n int) int {
	if !f.causal {
		return n
	}
	return max(0, min(n, i+1-j0))
}

// mask applies the mask to the scores of query i and the keys from j0.
func (f *flash[E]) mask(s []E, b, h, i, j0 int) {
	off := b*f.mb + h*f.mh + i*f.mr + j0*f.mc
	switch {
	case f.add != nil && f.mc == 1:
		f.k.add(s, s, f.add[off:][:len(s)])
	case f.add != nil:
		for j := range s {
			s[j] += f.add[off+j*f.mc]
		}
	case f.where != nil && f.mc == 1:
		f.k.where(s, f.where[off:][:len(s)], s, f.never)
	case f.where != nil:
		for j := range s {
			if f.where[off+j*f.mc] == 0 {
				s[j] = E(math.Inf(-1))
			}
		}
	}
}

// dropout is the part of keep for query i and n keys from j0.
func (f *flash[E]) dropout(b, h, i, j0, n int) []uint8 {
	return f.keep[((b*f.heads+h)*f.L+i)*f.S+j0:][:n]
}

// forward computes out and lse. A task is a run of queries of one head.
func (f *flash[E]) forward() {
	rows := 512
	for f.nb*f.heads*((f.L+rows-1)/rows) < 8 && rows > tileRows {
		rows /= 2
	}
	per := (f.L + rows - 1) / rows
	grain := max(1, 1<<18/(min(f.L, rows)*f.S*(f.e+f.ev)+1))
	par.For(f.nb*f.heads*per, grain, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			bh, i0 := t/per, t%per*rows
			f.forwardRows(bh/f.heads, bh%f.heads, i0, min(i0+rows, f.L))
		}
	})
}

func (f *flash[E]) forwardRows(b, h, i0, i1 int) {
	hk := h / (f.heads / f.kvHeads)
	bc := min(f.cols(), f.S)
	br := min(tileRows, i1-i0)
	last := f.visible(i1-1, 0, f.S) // keys that any query of the task may see
	few := i1-i0 < fewRows
	nk := 0
	if !few {
		nk = last
	}
	buf := f.scratch(nk*(f.e+f.ev) + br*(bc+f.e+f.ev+2))
	defer f.done(buf)
	rest := *buf
	take := func(n int) []E {
		r := rest[:n:n]
		rest = rest[n:]
		return r
	}
	kt, vc := take(nk*f.e), take(nk*f.ev)
	s, qc, o, m, l := take(br*bc), take(br*f.e), take(br*f.ev), take(br), take(br)
	v, vs := f.v.at(b, hk, 0), f.v.r
	if !few {
		// the keys transposed, tile after tile, so that the product reads rows
		for j := 0; j < last; j += bc {
			n := min(bc, last-j)
			transposeBlock(kt[j*f.e:], f.key.at(b, hk, j), f.key.r, n, f.e)
		}
		v, vs = gather(vc, v, vs, last, f.ev), f.ev
	}
	for i := i0; i < i1; i += br {
		n := min(br, i1-i)
		q, qs := f.q.at(b, h, i), f.q.r
		if !few {
			q, qs = gather(qc, q, qs, n, f.e), f.e
		}
		end := f.visible(i+n-1, 0, f.S)
		for j := 0; j < end; j += bc {
			w := min(bc, end-j)
			if few {
				gemm.GEMM(n, w, f.e, f.scale, q, qs, 1, f.key.at(b, hk, j), 1, f.key.r, 0, s, bc, 1, nil)
			} else {
				tw := min(bc, last-j) // the width with which the tile was transposed
				gemm.GEMM(n, w, f.e, f.scale, q, qs, 1, kt[j*f.e:], tw, 1, 0, s, bc, 1, nil)
			}
			for r := range n {
				row := s[r*bc:][:w]
				see := f.visible(i+r, j, w)
				f.mask(row[:see], b, h, i+r, j)
				f.onlineSoftmax(row, see, j == 0, &m[r], &l[r], o[r*f.ev:][:f.ev])
				if f.keep != nil { // the sum is of all weights
					f.k.drop(row[:see], row[:see], f.dropout(b, h, i+r, j, see), f.keepScale)
				}
			}
			beta := E(1)
			if j == 0 {
				beta = 0
			}
			gemm.GEMM(n, f.ev, w, 1, s, bc, 1, v[j*vs:], vs, 1, beta, o, f.ev, 1, nil)
		}
		lse := f.lse[(b*f.heads+h)*f.L+i:]
		for r := range n {
			lse[r] = m[r] + E(math.Log(float64(l[r])))
			inv := 1 / l[r]
			if f.masked && l[r] == 0 {
				inv, lse[r] = 0, E(math.Inf(-1))
			}
			f.k.scale(f.out.at(b, h, i+r)[:f.ev], o[r*f.ev:][:f.ev], inv)
		}
	}
}

// onlineSoftmax turns a row of scores into weights relative to the largest score so far, and brings what was summed
// before to the same scale.
func (f *flash[E]) onlineSoftmax(row []E, see int, first bool, m, l *E, o []E) {
	old := *m
	if first {
		old, *l = E(math.Inf(-1)), 0
	}
	top := E(math.Inf(-1))
	if see > 0 {
		top = f.k.max(row[:see])
	}
	if !(top <= old) { // also when it is NaN
		*m = top
	} else {
		*m = old
	}
	if f.masked && math.IsInf(float64(*m), -1) { // nothing seen yet: the difference to the maximum would be NaN
		clear(row)
		return
	}
	if !first && *m != old {
		c := E(math.Exp(float64(old - *m)))
		*l *= c
		f.k.scale(o, o, c)
	}
	row, hidden := row[:see], row[see:]
	*l += f.k.expSum(row, row, *m)
	clear(hidden)
}

// backward computes the gradients gq, gk and gv of the output's gradient g. A task is a run of keys of one head of
// them; where there are several runs, each has a gq of its own, and these are added in order.
func (f *flash[E]) backward(g, gq, gk, gv *block[E]) {
	dots := make([]E, f.nb*f.heads*f.L) // of the output and its gradient
	par.For(len(dots), max(1, 1<<14/max(1, f.ev)), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			b, h, i := t/f.L/f.heads, t/f.L%f.heads, t%f.L
			dots[t] = f.k.dot(g.at(b, h, i)[:f.ev], f.out.at(b, h, i))
		}
	})
	bc := f.cols()
	tiles := (f.S + bc - 1) / bc
	runs := min(tiles, max(1, 8/(f.nb*f.kvHeads)))
	per := (tiles + runs - 1) / runs * bc
	runs = (f.S + per - 1) / per
	var parts []E
	if runs > 1 {
		parts = make([]E, runs*f.nb*f.heads*f.L*f.e)
	}
	par.For(f.nb*f.kvHeads*runs, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			bh, run := t/runs, t%runs
			into := *gq
			if parts != nil {
				n := len(parts) / runs
				into = block[E]{parts[run*n:][:n], f.heads * f.L * f.e, f.L * f.e, f.e}
			}
			f.backwardRun(bh/f.kvHeads, bh%f.kvHeads, run*per, min(run*per+per, f.S), g, &into, gk, gv, dots)
		}
	})
	if parts == nil {
		return
	}
	n := len(parts) / runs
	par.For(n/f.e, max(1, 1<<13/f.e), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			d := gq.at(t/f.L/f.heads, t/f.L%f.heads, t%f.L)[:f.e]
			copy(d, parts[t*f.e:])
			for run := 1; run < runs; run++ {
				f.k.add(d, d, parts[run*n+t*f.e:][:f.e])
			}
		}
	})
}

func (f *flash[E]) backwardRun(b, hk, j0, j1 int, g, gq, gk, gv *block[E], dots []E) {
	group := f.heads / f.kvHeads
	bc := min(f.cols(), j1-j0)
	br := min(tileRows, f.L)
	buf := f.scratch(f.L*(f.e+f.ev) + bc*(2*f.e+f.ev) + 2*br*bc)
	defer f.done(buf)
	rest := *buf
	take := func(n int) []E {
		r := rest[:n:n]
		rest = rest[n:]
		return r
	}
	qc, gc := take(f.L*f.e), take(f.L*f.ev)
	kt, vt, kc := take(bc*f.e), take(bc*f.ev), take(bc*f.e)
	s, ds := take(br*bc), take(br*bc)
	for j := j0; j < j1; j += bc {
		w := min(bc, j1-j)
		transposeBlock(kt, f.key.at(b, hk, j), f.key.r, w, f.e)
		transposeBlock(vt, f.v.at(b, hk, j), f.v.r, w, f.ev)
		key := gather(kc, f.key.at(b, hk, j), f.key.r, w, f.e)
		beta := E(0)
		for h := hk * group; h < (hk+1)*group; h++ {
			q, do := qc, gc
			if group > 1 || j == j0 || f.q.r == f.e {
				q = gather(qc, f.q.at(b, h, 0), f.q.r, f.L, f.e)
			}
			if group > 1 || j == j0 || g.r == f.ev {
				do = gather(gc, g.at(b, h, 0), g.r, f.L, f.ev)
			}
			base := (b*f.heads + h) * f.L
			i := 0
			if f.causal {
				i = j / br * br // queries before see none of these keys
				if j == j0 {
					for r := range min(i, f.L) {
						clear(gq.at(b, h, r)[:f.e])
					}
				}
			}
			for ; i < f.L; i += br {
				n := min(br, f.L-i)
				gemm.GEMM(n, w, f.e, f.scale, q[i*f.e:], f.e, 1, kt, w, 1, 0, s, bc, 1, nil)
				gemm.GEMM(n, w, f.ev, 1, do[i*f.ev:], f.ev, 1, vt, w, 1, 0, ds, bc, 1, nil)
				for r := range n {
					p, d := s[r*bc:][:w], ds[r*bc:][:w]
					see := f.visible(i+r, j, w)
					lse := f.lse[base+i+r]
					if see == 0 || f.masked && math.IsInf(float64(lse), -1) {
						clear(p)
						clear(d)
						continue
					}
					f.mask(p[:see], b, h, i+r, j)
					f.k.exp(p[:see], p[:see], lse)
					if f.keep != nil {
						f.k.drop(d[:see], d[:see], f.dropout(b, h, i+r, j, see), f.keepScale)
					}
					f.k.grad(d[:see], d[:see], p[:see], dots[base+i+r])
					if f.keep != nil { // for the values' gradient
						f.k.drop(p[:see], p[:see], f.dropout(b, h, i+r, j, see), f.keepScale)
					}
					clear(p[see:])
					clear(d[see:])
				}
				gemm.GEMM(w, f.ev, n, 1, s, 1, bc, do[i*f.ev:], f.ev, 1, beta, gv.at(b, hk, j), gv.r, 1, nil)
				gemm.GEMM(w, f.e, n, f.scale, ds, 1, bc, q[i*f.e:], f.e, 1, beta, gk.at(b, hk, j), gk.r, 1, nil)
				beta = 1
				fresh := E(1)
				if j == j0 {
					fresh = 0
				}
				gemm.GEMM(n, f.e, w, f.scale, ds, bc, 1, key, f.e, 1, fresh, gq.at(b, h, i), gq.r, 1, nil)
			}
		}
		if beta == 0 { // no query sees these keys
			for r := range w {
				clear(gk.at(b, hk, j+r)[:f.e])
				clear(gv.at(b, hk, j+r)[:f.ev])
			}
		}
	}
}

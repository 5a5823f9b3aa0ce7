package loss

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// This file computes the cross entropy with class numbers in one pass over the logits x: the loss of a sample is log(Σ
// e^(x-m)) + m - x[target], with m the maximum of its logits, so the log-probabilities are never stored. The gradient
// is e^(x-m)/Σ e^(x-m), less 1 at the target: the forward pass keeps m and the sum of each sample, from which the
// backward pass computes it in one pass, too.

// entropy is one call for samples of classes that lie inner elements apart.
type entropy[E float32 | float64] struct {
	n, classes, inner int
	x                 *T  // logits, dense
	w                 []E // class weights or nil
	target            []int64
	ignore            int
	smooth            float64
	max, sum          []E // per sample: max and the sum of e^(x-max)
}

// newEntropy reads the arguments of cross_entropy_loss, which are numbered from at on.
func newEntropy[E float32 | float64](c *Ctx, at int, max, sum *T) *entropy[E] {
	x := c.T(at)
	e := &entropy[E]{x: tensor.Dense(x), target: targets(c, c.T(at+1)), ignore: c.Int(at + 4), smooth: c.Float(at + 5),
		max: op.Raw[E](max), sum: op.Raw[E](sum)}
	e.n, e.classes, e.inner = nllShape(x.Shape())
	if w := c.T(at + 2); w != nil {
		e.w = op.Raw[E](tensor.DenseAs(w, tensor.DTypeOf[E]()))
	}
	return e
}

// blocks calls f for runs of samples: k of them, whose first is p and whose first logit is at off.
func (e *entropy[E]) blocks(f func(p, k, off int)) {
	if e.inner == 1 {
		par.For(e.n, max(1, 1<<14/e.classes), func(lo, hi int) { f(lo, hi-lo, lo*e.classes) })
		return
	}
	// columns side by side
	width := min(e.inner, max(64, min(1<<18/e.classes, 1024)&^15))
	per := (e.inner + width - 1) / width
	par.For(e.n*per, max(1, 1<<14/(e.classes*width)), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			j := t % per * width
			f(t/per*e.inner+j, min(width, e.inner-j), t/per*e.classes*e.inner+j)
		}
	})
}

// forward returns the sum of the losses and of the targets' weights, or writes the losses to out unless that is nil.
func (e *entropy[E]) forward(out []E) (sum, total float64) {
	positions := e.n * e.inner
	losses, weights := make([]float64, positions), make([]float64, positions)
	all := float64(e.classes)
	if e.w != nil {
		all = 0
		for _, w := range e.w {
			all += float64(w)
		}
	}
	e.blocks(func(p, k, off int) {
		top, s := e.max[p:][:k], e.sum[p:][:k]
		some := max(1, min(k, 1<<12/e.classes)) // samples that the first-level cache holds
		buf := half.Borrow[E](2*k + max(k, some*e.classes))
		defer half.Return(buf)
		logs, picked, tmp := (*buf)[:k], (*buf)[k:2*k], (*buf)[2*k:]
		if e.inner == 1 {
			for lo := 0; lo < k; lo += some {
				hi := min(lo+some, k)
				rows := half.Load(e.x, off+lo*e.classes, tmp[:(hi-lo)*e.classes])
				expRows(top[lo:hi], s[lo:hi], rows, e.classes)
				for i, t := range e.target[p+lo : p+hi] {
					if int(t) != e.ignore {
						picked[lo+i] = rows[i*e.classes+int(t)]
					}
				}
			}
		} else {
			e.expColumns(top, s, off, tmp[:k])
			e.pick(picked, off, e.target[p:][:k])
		}
		logOf(logs, s)
		for i := range k {
			t := int(e.target[p+i])
			if t == e.ignore {
				if out != nil {
					out[p+i] = 0
				}
				continue
			}
			w := E(1)
			if e.w != nil {
				w = e.w[t]
			}
			loss := float64(((top[i] - picked[i]) + logs[i]) * w)
			if e.smooth > 0 { // only where inner is 1
				u := all*(float64(top[i])+float64(logs[i])) - e.dot(half.Load(e.x, off+i*e.classes, tmp[:e.classes]))
				loss = loss*(1-e.smooth) + u*e.smooth/float64(e.classes)
			}
			if out != nil {
				out[p+i] = E(loss)
			}
			losses[p+i], weights[p+i] = loss, float64(w)
		}
	})
	return vec.SumF64(losses), vec.SumF64(weights)
}

// dot is the sum of a sample's logits, times the class weights if there are any.
func (e *entropy[E]) dot(x []E) float64 {
	switch x := any(x).(type) {
	case []float32:
		if e.w != nil {
			return vec.DotF32As64(x, any(e.w).([]float32))
		}
		return vec.SumF32As64(x)
	case []float64:
		if e.w != nil {
			return vec.DotF64(x, any(e.w).([]float64))
		}
		return vec.SumF64(x)
	}
	return 0
}

// expRows sets top and sum to the maximum of each row of x and the sum of e^(x-max).
func expRows[E float32 | float64](top, sum, x []E, classes int) {
	switch x := any(x).(type) {
	case []float32:
		vec.MaxSumExpRowsF32(any(top).([]float32), any(sum).([]float32), x, classes)
	case []float64:
		for i := range top {
			row := x[i*classes:][:classes]
			m := vec.MaxF64(row)
			top[i], sum[i] = E(m), E(vec.SumExpF64(row, m))
		}
	}
}

// expColumns is expRows for the classes of positions side by side, the first of which is at off; buf has room for a
// value of each.
func (e *entropy[E]) expColumns(top, sum []E, off int, buf []E) {
	clear(sum)
	copy(top, half.Load(e.x, off, buf))
	for c := 1; c < e.classes; c++ {
		v := half.Load(e.x, off+c*e.inner, buf)
		switch v := any(v).(type) {
		case []float32:
			vec.MaximumF32(any(top).([]float32), any(top).([]float32), v)
		case []float64:
			vec.MaximumF64(any(top).([]float64), any(top).([]float64), v)
		}
	}
	for c := range e.classes {
		v := half.Load(e.x, off+c*e.inner, buf)
		switch v := any(v).(type) {
		case []float32:
			vec.SumExpColumnsF32(any(sum).([]float32), v, any(top).([]float32))
		case []float64:
			b, s := any(buf).([]float64), any(sum).([]float64)
			vec.SubF64(b, v, any(top).([]float64))
			vec.ExpF64(b, b)
			vec.AddF64(s, s, b)
		}
	}
}

// pick reads the logits of the targets of positions side by side.
func (e *entropy[E]) pick(dst []E, off int, target []int64) {
	switch e.x.DType() {
	case tensor.Float16:
		pickAs(dst, op.Raw[uint16](e.x)[off:], target, e.inner, e.ignore,
			func(v uint16) E { return E(vec.F16ToF32(v)) })
	case tensor.BFloat16:
		pickAs(dst, op.Raw[uint16](e.x)[off:], target, e.inner, e.ignore,
			func(v uint16) E { return E(vec.BF16ToF32(v)) })
	default:
		x := op.Raw[E](e.x)[off:]
		for i, t := range target {
			if int(t) != e.ignore {
				dst[i] = x[int(t)*e.inner+i]
			}
		}
	}
}

// pickAs is pick with a conversion.
func pickAs[E real](dst []E, x []uint16, target []int64, inner, ignore int, widen func(uint16) E) {
	for i, t := range target {
		if int(t) != ignore {
			dst[i] = widen(x[int(t)*inner+i])
		}
	}
}

// logOf is the logarithm.
func logOf[E real](dst, a []E) {
	switch d := any(dst).(type) {
	case []float32:
		vec.LogF32(d, any(a).([]float32))
	case []float64:
		vec.LogF64(d, any(a).([]float64))
	}
}

// backward writes the logits' gradient. g holds a gradient per sample, or one for all.
func (e *entropy[E]) backward(dst *T, g []E, scale float64, each bool) {
	all := 1.0
	if e.w != nil {
		all = 0
		for _, w := range e.w {
			all += float64(w)
		}
		all /= float64(e.classes)
	}
	e.blocks(func(p, k, off int) {
		buf := half.Borrow[E](3*k + 2*max(k, e.classes))
		defer half.Return(buf)
		factor := (*buf)[:k]      // of the softmax
		hot := (*buf)[k : 2*k]    // to be subtracted at the target
		flat := (*buf)[2*k : 3*k] // and everywhere, for the smoothed part
		clear((*buf)[:3*k])
		tmp := (*buf)[3*k:]
		for i := range k {
			t := int(e.target[p+i])
			if t == e.ignore {
				continue
			}
			gi, w := scale, 1.0
			if each {
				gi = float64(g[p+i])
			}
			if e.w != nil {
				w = float64(e.w[t])
			}
			factor[i] = E(gi * ((1-e.smooth)*w + e.smooth*all) / float64(e.sum[p+i]))
			hot[i] = E(gi * (1 - e.smooth) * w)
			flat[i] = E(gi * e.smooth / float64(e.classes))
		}
		if e.inner > 1 {
			e.backwardColumns(dst, off, e.max[p:][:k], factor, hot, e.target[p:][:k], tmp)
			return
		}
		for i := range k {
			t := int(e.target[p+i])
			row := off + i*e.classes
			d := half.Place(dst, row, tmp[:e.classes])
			if t == e.ignore {
				clear(d)
			} else {
				e.backwardRow(d, half.Load(e.x, row, tmp[e.classes:][:e.classes]), e.max[p+i], factor[i], flat[i])
				d[t] -= hot[i]
			}
			half.Store(dst, row, d)
		}
	})
}

// backwardRow sets dst to factor·e^(x-top) - flat·weight.
func (e *entropy[E]) backwardRow(dst, x []E, top, factor, flat E) {
	switch d := any(dst).(type) {
	case []float32:
		if e.w == nil || flat == 0 {
			vec.ExpScaleF32(d, any(x).([]float32), float32(top), float32(factor), -float32(flat))
			return
		}
		vec.ExpScaleF32(d, any(x).([]float32), float32(top), float32(factor), 0)
		vec.AddScaledF32(d, d, any(e.w).([]float32), -float32(flat))
	case []float64:
		vec.SubScalarF64(d, any(x).([]float64), float64(top))
		vec.ExpF64(d, d)
		if e.w == nil || flat == 0 {
			vec.ScaleShiftF64(d, d, float64(factor), -float64(flat))
			return
		}
		vec.MulScalarF64(d, d, float64(factor))
		vec.AddScaledF64(d, d, any(e.w).([]float64), -float64(flat))
	}
}

// backwardColumns is backwardRow for positions side by side, which are not smoothed.
func (e *entropy[E]) backwardColumns(dst *T, off int, top, factor, hot []E, target []int64, tmp []E) {
	k := len(top)
	for c := range e.classes {
		d, v := half.Place(dst, off+c*e.inner, tmp[:k]), half.Load(e.x, off+c*e.inner, tmp[k:][:k])
		switch d := any(d).(type) {
		case []float32:
			vec.SubF32(d, any(v).([]float32), any(top).([]float32))
			vec.ExpF32(d, d)
			vec.MulF32(d, d, any(factor).([]float32))
		case []float64:
			vec.SubF64(d, any(v).([]float64), any(top).([]float64))
			vec.ExpF64(d, d)
			vec.MulF64(d, d, any(factor).([]float64))
		}
		if dst.DType().Size() == 2 { // to be rounded once, with the target's part
			for i, t := range target {
				if int(t) == c && c != e.ignore {
					d[i] -= hot[i]
				}
			}
			half.Store(dst, off+c*e.inner, d)
		}
	}
	if dst.DType().Size() == 2 {
		return
	}
	d := op.Raw[E](dst)[off:]
	for i, t := range target {
		if int(t) != e.ignore {
			d[int(t)*e.inner+i] -= hot[i]
		}
	}
}

// fusesEntropy reports whether the kernel serves these arguments. The composed form serves others, and refuses what is
// wrong.
func fusesEntropy(x, t, w *T, smoothing float64) bool {
	if smoothing < 0 || smoothing > 1 || !x.DType().IsFloat() || x.Numel() == 0 || x.Dim() == 0 || x.Dim() == 1 &&
		t.Dim() != 0 {
		return false
	}
	if t.DType() != tensor.Int64 && t.DType() != tensor.Uint8 {
		return false
	}
	want := x.Shape()[:0:0]
	if x.Dim() > 1 {
		want = append(append(want, x.Size(0)), x.Shape()[2:]...)
	}
	if !tensor.SameShape(t.Shape(), want) || smoothing > 0 && x.Dim() > 2 {
		return false
	}
	return w == nil || w.Dim() == 1 && w.Numel() == x.Size(classDim(x)) && w.DType() == x.DType() &&
		!(w.RequiresGrad() && tensor.IsGradEnabled())
}

// entropyBackwardCheck refuses arguments of gotorch::cross_entropy_backward that do not fit together.
func entropyBackwardCheck(c *Ctx) {
	wantReduction(c, c.Int(4))
	if !fusesEntropy(c.T(1), c.T(2), c.T(3), c.Float(6)) {
		c.Fail(tensor.ErrShape, "cross_entropy_backward(): logits %s, targets %s and weights do not fit",
			tensor.ShapeString(c.Shape(1)), tensor.ShapeString(c.Shape(2)))
	}
	dt := tensor.Float32
	if c.ArgDType(1) == tensor.Float64 {
		dt = tensor.Float64
	}
	for i := 7; i < 10; i++ {
		c.WantDType(i, dt)
	}
	c.WantShape(7, c.Shape(2)...)
	c.WantShape(8, c.Shape(2)...)
	c.WantNumel(9, 1)
	if c.Int(4) == none {
		c.WantShape(0, c.Shape(2)...)
	} else {
		c.WantNumel(0, 1)
	}
}

// entropyForward is the kernel of cross_entropy_loss. It keeps the maximum and the sum of exponentials of each sample,
// and the sum of the targets' weights, for the gradient.
func entropyForward[E float32 | float64](c *Ctx) {
	how, dt, sh := c.Int(3), tensor.DTypeOf[E](), c.Shape(1)
	tops, sums := tensor.New(sh, dt), tensor.New(sh, dt)
	e := newEntropy[E](c, 0, tops, sums)
	checkTargets(c, e.target, e.classes, e.ignore)
	o := c.Out(0)
	var each []E
	if how == none {
		each = half.Place(o, 0, make([]E, o.Numel()))
	}
	sum, t := e.forward(each)
	switch how {
	case none:
		half.Store(o, 0, each)
	case meanOf:
		setNumber(o, sum/t)
	default:
		setNumber(o, sum)
	}
	if c.Wants() {
		total := tensor.New(nil, dt)
		setNumber(total, t)
		c.Keep([]*T{tops, sums, total})
	} else {
		tensor.ReleaseRaw(tops)
		tensor.ReleaseRaw(sums)
	}
}

// entropyBackward is the kernel of gotorch::cross_entropy_backward.
func entropyBackward[E float32 | float64](c *Ctx) {
	how := c.Int(4)
	e := newEntropy[E](c, 1, tensor.Dense(c.T(7)), tensor.Dense(c.T(8)))
	checkTargets(c, e.target, e.classes, e.ignore)
	scale := 0.0
	g := c.T(0)
	if how != none {
		scale = g.Num().F
		if how == meanOf {
			scale /= c.T(9).Num().F
		}
	}
	e.backward(c.Out(0), op.Raw[E](tensor.DenseAs(g, tensor.DTypeOf[E]())), scale, how == none)
}

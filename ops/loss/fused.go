package loss

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// Cross entropy with class indices in one pass: the log-probabilities are never stored. Forward keeps the maximum and the sum of
// exponentials of each sample, backward writes softmax - onehot from them.

// entropy is one call for samples of classes that lie inner elements apart.
type entropy[E float32 | float64] struct {
	n, classes, inner int
	x, w              []E // logits; class weights or nil
	target            []int64
	ignore            int
	smooth            float64
	max, sum          []E // per sample: max and the sum of e^(x-max)
}

// newEntropy reads the arguments, numbered from at as in _cross_entropy.
func newEntropy[E float32 | float64](c *Ctx, at int, max, sum *T) *entropy[E] {
	x := c.T(at)
	e := &entropy[E]{x: raw[E](x.Dense()), target: targets(c, c.T(at+1)), ignore: c.Int(at + 4), smooth: c.Float(at + 5), max: raw[E](max), sum: raw[E](sum)}
	e.n, e.classes, e.inner = nllShape(x.Shape())
	if w := c.T(at + 2); w != nil {
		e.w = raw[E](w.Dense())
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
		if e.inner == 1 {
			for i := range k {
				top[i], s[i] = expRow(e.x[off+i*e.classes:][:e.classes])
			}
		} else {
			expColumns(top, s, e.x[off:], e.classes, e.inner)
		}
		for i := range k {
			t := int(e.target[p+i])
			if t == e.ignore {
				if out != nil {
					out[p+i] = 0
				}
				continue
			}
			log := E(math.Log(float64(s[i])))
			at := off + i + t*e.inner
			if e.inner == 1 {
				at = off + i*e.classes + t
			}
			w := E(1)
			if e.w != nil {
				w = e.w[t]
			}
			loss := float64(((top[i] - e.x[at]) + log) * w)
			if e.smooth > 0 { // only where inner is 1
				u := all*(float64(top[i])+math.Log(float64(s[i]))) - e.dot(e.x[off+i*e.classes:][:e.classes])
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

// expRow is the maximum of x and the sum of e^(x-max).
func expRow[E float32 | float64](x []E) (top, sum E) {
	switch x := any(x).(type) {
	case []float32:
		m := vec.MaxF32(x)
		return E(m), E(vec.SumExpF32(x, m))
	case []float64:
		m := vec.MaxF64(x)
		return E(m), E(vec.SumExpF64(x, m))
	}
	return
}

// expColumns is expRow for columns of n elements that lie stride apart.
func expColumns[E float32 | float64](top, sum, x []E, n, stride int) {
	k := len(top)
	copy(top, x[:k])
	clear(sum)
	switch x := any(x).(type) {
	case []float32:
		top, sum := any(top).([]float32), any(sum).([]float32)
		for c := 1; c < n; c++ {
			vec.MaximumF32(top, top, x[c*stride:][:k])
		}
		for c := range n {
			vec.SumExpColumnsF32(sum, x[c*stride:][:k], top)
		}
	case []float64:
		top, sum := any(top).([]float64), any(sum).([]float64)
		for c := 1; c < n; c++ {
			vec.MaximumF64(top, top, x[c*stride:][:k])
		}
		for c := range n {
			for j, v := range x[c*stride:][:k] {
				sum[j] += math.Exp(v - top[j])
			}
		}
	}
}

// backward writes the logits' gradient. g holds a gradient per sample, or one for all.
func (e *entropy[E]) backward(dst, g []E, scale float64, each bool) {
	all := 1.0
	if e.w != nil {
		all = 0
		for _, w := range e.w {
			all += float64(w)
		}
		all /= float64(e.classes)
	}
	e.blocks(func(p, k, off int) {
		factor := make([]E, k) // of the softmax
		hot := make([]E, k)    // to be subtracted at the target
		flat := make([]E, k)   // and everywhere, for the smoothed part
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
			e.backwardColumns(dst[off:], e.x[off:], e.max[p:][:k], factor)
		}
		for i := range k {
			t := int(e.target[p+i])
			row := off + i*e.classes
			switch {
			case e.inner > 1:
				if t != e.ignore {
					dst[off+i+t*e.inner] -= hot[i]
				}
			case t == e.ignore:
				clear(dst[row:][:e.classes])
			default:
				e.backwardRow(dst[row:][:e.classes], e.x[row:][:e.classes], e.max[p+i], factor[i], flat[i])
				dst[row+t] -= hot[i]
			}
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
	default:
		for j, v := range x {
			w := E(1)
			if e.w != nil {
				w = e.w[j]
			}
			dst[j] = factor*E(math.Exp(float64(v-top))) - flat*w
		}
	}
}

// backwardColumns is backwardRow for columns, which are not smoothed.
func (e *entropy[E]) backwardColumns(dst, x, top, factor []E) {
	k := len(top)
	for c := range e.classes {
		d, v := dst[c*e.inner:][:k], x[c*e.inner:][:k]
		switch d := any(d).(type) {
		case []float32:
			vec.SubF32(d, any(v).([]float32), any(top).([]float32))
			vec.ExpF32(d, d)
			vec.MulF32(d, d, any(factor).([]float32))
		case []float64:
			for j, v := range any(v).([]float64) {
				d[j] = math.Exp(v-float64(top[j])) * float64(factor[j])
			}
		}
	}
}

// fusable reports whether the fused form serves these arguments; the composed form serves the others, and refuses what is wrong.
func fusable(x, t, w *T, smoothing float64) bool {
	if dt := x.DType(); dt != tensor.Float32 && dt != tensor.Float64 || x.Numel() == 0 || x.Dim() == 1 && t.Dim() != 0 {
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
	return w == nil || w.Dim() == 1 && w.Numel() == x.Size(classDim(x)) && w.DType() == x.DType() && !(w.RequiresGrad() && tensor.IsGradEnabled())
}

func entropyCPU[E float32 | float64](c *Ctx) {
	how := c.Int(3)
	e := newEntropy[E](c, 0, c.Out(1), c.Out(2))
	checkTargets(c, e.target, e.classes, e.ignore)
	o, total := raw[E](c.Out(0)), raw[E](c.Out(3))
	var each []E
	if how == none {
		each = o
	}
	sum, t := e.forward(each)
	if how != none {
		if how == meanOf {
			sum /= t
		}
		o[0] = E(sum)
	}
	total[0] = E(t)
}

func entropyBackwardCPU[E float32 | float64](c *Ctx) {
	how := c.Int(4)
	e := newEntropy[E](c, 1, c.T(7).Dense(), c.T(8).Dense())
	scale := 0.0
	g := c.T(0)
	if how != none {
		scale = g.Num().F
		if how == meanOf {
			scale /= c.T(9).Num().F
		}
	}
	e.backward(raw[E](c.Out(0)), raw[E](g.Dense()), scale, how == none)
}

func init() {
	for _, d := range []struct{ name, grad string }{{"_cross_entropy", "NllLossBackward0"}, {"_cross_entropy2d", "NllLoss2DBackward0"}} {
		tensor.Register(tensor.Def{
			Schema: d.name + "(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, float label_smoothing) -> (Tensor output, Tensor maximum, Tensor sum, Tensor total_weight)",
			Doc:    "is cross_entropy_loss for class indices in one pass; further results are what the gradient needs.",
			Go:     "-", AMP: tensor.AMPFP32, Grad: d.grad,
			Infer: func(c *Ctx) {
				x, t := c.T(0), c.T(1)
				var out []int
				if c.Int(3) == none {
					out = t.Shape()
				}
				c.Alloc(0, out, x.DType())
				c.Alloc(1, t.Shape(), x.DType())
				c.Alloc(2, t.Shape(), x.DType())
				c.Alloc(3, nil, x.DType())
			},
			CPU: func(c *Ctx) {
				if c.ArgDType(0) == tensor.Float64 {
					entropyCPU[float64](c)
				} else {
					entropyCPU[float32](c)
				}
			},
			Save: "self target weight maximum sum total_weight",
			VJP: func(c *Ctx, g *T) []*T {
				x, t, w := c.T(0), c.T(1), c.T(2)
				if tensor.IsGradEnabled() { // recorded itself: the composed form's
					x = x.AliasView()
					y := composedEntropy(c, x, t, w, c.Int(3), c.Int(4), c.Float(5))
					return []*T{tensor.Grad([]*T{y}, []*T{x}, tensor.GradOptions{GradOutputs: []*T{g}, CreateGraph: true})[0], nil, nil}
				}
				return []*T{op1("aten::_cross_entropy_backward", g, x, t, w, c.Int(3), c.Int(4), c.Float(5), c.Out(1), c.Out(2), c.Out(3)), nil, nil}
			},
		})
	}
	tensor.Register(tensor.Def{
		Schema: "_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, float label_smoothing, Tensor maximum, Tensor sum, Tensor total_weight) -> Tensor",
		Doc:    "is the gradient of the logits.",
		Go:     "-", NoGrad: "the gradient of a gradient goes through the composed form",
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(1), c.ArgDType(1)) },
		CPU: func(c *Ctx) {
			if c.ArgDType(1) == tensor.Float64 {
				entropyBackwardCPU[float64](c)
			} else {
				entropyBackwardCPU[float32](c)
			}
		},
	})
}

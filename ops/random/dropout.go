package random

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

func checkDropout(c *Ctx, p float64) {
	if !(p >= 0 && p <= 1) {
		c.Fail(tensor.ErrValue, "dropout probability has to be between 0 and 1, but got %v", p)
	}
}

// noise is 0 with probability p and 1/(1-p) otherwise, drawn in the memory order of like; that of features, one element per sample and
// channel, is always contiguous.
func noise(c *Ctx, like *T, feature bool, p float64, scale bool) *T {
	shape := like.Shape()
	var st []int
	switch {
	case feature:
		shape = featureShape(c, like)
	case !like.IsContiguous():
		st = tensor.PermutedStrides(like)
	}
	t := tensor.NewStrided(shape, st, like.DType())
	if scale && (t.DType() == tensor.Float32 || t.DType() == tensor.Float64) {
		f := each(func(d []float32) error { return rng.DropoutMask(rng.Default, d, p) }, func(d []float64) error { return rng.DropoutMask(rng.Default, d, p) })
		fill(c, t, f)
		return t
	}
	if t.DType().IsComplex() {
		r := tensor.NewStrided(shape, st, t.DType().Real())
		fill(c, r, bernoulliFill(rng.Default, 1-p))
		tensor.CopyRaw(t, r)
	} else {
		fill(c, t, bernoulliFill(rng.Default, 1-p))
	}
	if scale {
		t.MulScalarInPlace(1 / (1 - p))
	}
	return t
}

// featureShape has one element per sample and channel.
func featureShape(c *Ctx, x *T) []int {
	if x.Dim() < 2 {
		c.Fail(tensor.ErrShape, "Feature dropout requires at least 2 dimensions in the input")
	}
	sh := make([]int, x.Dim())
	for i := range sh {
		sh[i] = 1
	}
	sh[0], sh[1] = x.Size(0), x.Size(1)
	return sh
}

func dropout(c *Ctx, x *T, p float64, train, feature bool) *T {
	checkDropout(c, p)
	if p == 0 || !train || x.Numel() == 0 {
		return x
	}
	if p == 1 {
		return x.MulScalar(0)
	}
	if dt := x.DType(); !feature && (dt == tensor.Float32 || dt == tensor.Float64) && x.IsDense() {
		n := tensor.NewCall(opDropout, 3)
		*n.Arg(0), *n.Arg(1), *n.Arg(2) = tensor.TensorValue(x), tensor.FloatValue(p), tensor.BoolValue(true)
		y, _ := n.Do2()
		return y
	}
	m := noise(c, x, feature, p, true)
	if feature {
		return onFeatures(opFeature, x, m, nil)
	}
	return x.Mul(m)
}

var (
	opDropout         = tensor.Slot("aten::native_dropout")
	opDropoutBackward = tensor.Slot("aten::native_dropout_backward")
)

// masked multiplies x by the bytes of a mask and by scale, all in one order of memory. It multiplies by zero instead of choosing zero:
// NaN stays.
func masked(dst, x, mask *T, scale float64) {
	bytes := flat[uint8](mask)
	if x.DType() == tensor.Float64 {
		d, a := flat[float64](dst), flat[float64](x)
		scaleMasked(d, a, bytes, scale, func(b []float64, m []uint8) {
			for i, v := range m {
				b[i] = float64(v)
			}
		}, vec.MulF64, vec.MulScalarF64)
		return
	}
	scaleMasked(flat[float32](dst), flat[float32](x), bytes, float32(scale), vec.U8ToF32s, vec.MulF32, vec.MulScalarF32)
}

// flat are the elements of a dense tensor in the order of memory.
func flat[E any](t *T) []E { return unsafe.Slice((*E)(tensor.Ptr(t)), t.Numel()) }

func scaleMasked[E float32 | float64](dst, a []E, mask []uint8, scale E, widen func([]E, []uint8), mul func(dst, a, b []E), mulScalar func(dst, a []E, s E)) {
	par.For(len(dst), 1<<15, func(lo, hi int) {
		var buf [1024]E
		for ; lo < hi; lo += len(buf) {
			n := min(len(buf), hi-lo)
			b := buf[:n]
			widen(b, mask[lo:][:n])
			mulScalar(b, b, scale)
			mul(dst[lo:][:n], b, a[lo:][:n])
		}
	})
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
		Doc:    "is dropout and the mask of the elements that are kept.",
		Go:     "-", Grad: "MulBackward0",
		Infer: func(c *Ctx) {
			x, p := c.T(0), c.Float(1)
			checkDropout(c, p)
			if dt := x.DType(); !dt.IsFloat() {
				c.Fail(tensor.ErrNotImpl, "\"native_dropout\" not implemented for '%s'", dt.ClassName())
			}
			var st []int
			if x.IsDense() && !x.IsContiguous() {
				st = x.Strides()
			}
			c.AllocStrided(0, x.Shape(), st, x.DType())
			c.AllocStrided(1, x.Shape(), st, tensor.Bool)
		},
		CPU: func(c *Ctx) {
			x, p := c.T(0), c.Float(1)
			if !x.IsDense() {
				x = tensor.Dense(x)
			}
			if x.Numel() == 0 {
				return
			}
			keep := flat[uint8](c.Out(1))
			if c.Has(2) && !c.Bool(2) {
				p = 0
			}
			switch p {
			case 0:
				for i := range keep {
					keep[i] = 1
				}
			case 1:
				clear(keep)
			default:
				if err := rng.Bernoulli(rng.Default, keep, 1-p); err != nil {
					c.Fail(tensor.ErrValue, "%s", err)
				}
			}
			dst := c.Out(0)
			if x.DType().IsReduced() {
				dst = tensor.NewStrided(x.Shape(), dst.Strides(), tensor.Float32)
				tensor.CopyRaw(dst, x)
				x = dst
			}
			masked(dst, x, c.Out(1), keepScale(p, c.ArgDType(0)))
			if dst != c.Out(0) {
				tensor.CopyRaw(c.Out(0), dst)
			}
		},
		Save: "result1",
		VJP: func(c *Ctx, g *T) []*T {
			p := c.Float(1)
			if c.Has(2) && !c.Bool(2) {
				p = 0
			}
			n := tensor.NewCall(opDropoutBackward, 3)
			*n.Arg(0), *n.Arg(1), *n.Arg(2) = tensor.TensorValue(g), tensor.TensorValue(c.Out(1)), tensor.FloatValue(keepScale(p, c.ArgDType(0)))
			return []*T{n.Do1()}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
		Doc:    "is the gradient of dropout: grad_output * mask * scale.",
		Go:     "-", Grad: "MulBackward0",
		Infer: func(c *Ctx) {
			g, m := c.T(0), c.T(1)
			if m.DType() != tensor.Bool || !tensor.SameShape(g.Shape(), m.Shape()) {
				c.Fail(tensor.ErrShape, "expected a mask of the gradient's shape")
			}
			dt := g.DType()
			if !dt.IsFloat() && !dt.IsComplex() {
				dt = tensor.DefaultDType() // as times a float
			}
			c.AllocStrided(0, m.Shape(), m.Strides(), dt)
		},
		CPU: func(c *Ctx) {
			g, m := c.T(0), c.T(1)
			if dt := g.DType(); dt != tensor.Float32 && dt != tensor.Float64 || !m.IsDense() {
				tensor.CopyRaw(c.Out(0), g.Detach().Mul(m.Detach()).MulScalar(c.Float(2)))
				return
			}
			if g.Numel() == 0 {
				return
			}
			if !tensor.SameShape(g.Strides(), m.Strides()) { // bring the gradient into the mask's order
				w := tensor.NewStrided(m.Shape(), m.Strides(), g.DType())
				tensor.CopyRaw(w, g)
				g = w
			}
			masked(c.Out(0), g, m, c.Float(2))
		},
		Save: "mask",
		VJP: func(c *Ctx, g *T) []*T {
			n := tensor.NewCall(opDropoutBackward, 3)
			*n.Arg(0), *n.Arg(1), *n.Arg(2) = tensor.TensorValue(g), tensor.TensorValue(c.T(1)), tensor.FloatValue(c.Float(2))
			return []*T{n.Do1(), nil}
		},
	})
}

// keepScale is 1/(1-p), 0 where nothing is kept, computed in dtype dt.
func keepScale(p float64, dt tensor.DType) float64 {
	if p == 1 {
		return 0
	}
	if dt == tensor.Float32 {
		return float64(1 / float32(1-p))
	}
	return 1 / (1 - p)
}

func alphaDropout(c *Ctx, x *T, p float64, train, feature bool) *T {
	checkDropout(c, p)
	if p == 0 || !train || x.Numel() == 0 {
		return x
	}
	if p == 1 {
		return x.MulScalar(0)
	}
	const alpha = 1.7580993408473766
	a := alphaScale(p)
	m := noise(c, x, feature, p, false)
	b := m.AddScalar(-1).MulScalarInPlace(alpha * a).AddScalarInPlace(alpha * a * p)
	m.MulScalarInPlace(a)
	if feature {
		return onFeatures(opAlphaFeature, x, m, b)
	}
	return x.Mul(m).Add(b)
}

func init() {
	drop("dropout(Tensor input, float p, bool train) -> Tensor", "sets elements to zero with probability p while training and scales the others by 1/(1-p).\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html", dropout, false)
	drop("feature_dropout(Tensor input, float p, bool train) -> Tensor", "is Dropout for whole channels.", dropout, true)
	drop("alpha_dropout(Tensor input, float p, bool train) -> Tensor", "is dropout that keeps mean and variance of SELU activations (https://arxiv.org/abs/1706.02515).", alphaDropout, false)
	drop("feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", "is AlphaDropout for whole channels.", alphaDropout, true)
	functional("F::dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		callDrop(tensor.Slot("aten::dropout")))
	functional("F::alpha_dropout(Tensor input, float p=0.5, bool training=False, bool inplace=False) -> Tensor",
		callDrop(tensor.Slot("aten::alpha_dropout")))
	functional("F::feature_alpha_dropout(Tensor input, float p=0.5, bool training=False, bool inplace=False) -> Tensor",
		callDrop(tensor.Slot("aten::feature_alpha_dropout")))
	functional("F::dropout1d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		dropoutNd(1))
	functional("F::dropout2d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		callDrop(opFeatureDropout))
	functional("F::dropout3d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		dropoutNd(3))
}

var opFeatureDropout = tensor.Slot("aten::feature_dropout")

// callDrop calls a dropout operator.
func callDrop(op *tensor.Op) func(c *Ctx, x *T, p float64, train bool) *T {
	return func(_ *Ctx, x *T, p float64, train bool) *T {
		n := tensor.NewCall(op, 3)
		*n.Arg(0), *n.Arg(1), *n.Arg(2) = tensor.TensorValue(x), tensor.FloatValue(p), tensor.BoolValue(train)
		return n.Do1()
	}
}

// dropoutNd drops channels of a batch, or of a single sample without a batch dimension.
func dropoutNd(nd int) func(c *Ctx, x *T, p float64, train bool) *T {
	drop := callDrop(opFeatureDropout)
	return func(c *Ctx, x *T, p float64, train bool) *T {
		if x.Dim() != nd+1 {
			return drop(c, x, p, train)
		}
		return drop(c, x.Unsqueeze(0), p, train).SqueezeDim(0)
	}
}

// alphaScale keeps the variance of alpha dropout at 1.
func alphaScale(p float64) float64 {
	const alpha = 1.7580993408473766
	return 1 / math.Sqrt((alpha*alpha*p+1)*(1-p))
}

// drop declares a dropout operator of aten.
//
//gen:drop InPlace
func drop(schema, doc string, f func(c *Ctx, x *T, p float64, train, feature bool) *T, feature bool) {
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc, InPlace: true,
		Body: func(c *Ctx) { c.Return(f(c, c.T(0), c.Float(1), c.Bool(2), feature)) },
	})
}

// functional declares a dropout function of torch.nn.functional.
//
//gen:functional
func functional(schema string, run func(c *Ctx, x *T, p float64, train bool) *T) {
	tensor.Register(tensor.Def{
		Schema: schema,
		Body: func(c *Ctx) {
			x := c.T(0)
			y := run(c, x, c.Float(1), c.Bool(2))
			if c.Bool(3) && y != x {
				y = x.CopyInPlace(y)
			}
			c.Return(y)
		},
	})
}

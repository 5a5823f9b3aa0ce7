package random

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// dropout is one of the four dropouts: of elements or of whole channels (features), with zeros or with the value that
// keeps mean and variance of SELU activations (alpha, https://arxiv.org/abs/1706.02515). All multiply by noise, which
// is 0 for what is dropped, and alpha dropout adds a shift that depends on it: aten/src/ATen/native/Dropout.cpp.
type dropout struct{ feature, alpha bool }

// alphaPrime is minus the value that SELU tends to.
const alphaPrime = 1.7580993408473766

// alphaScale keeps the variance of alpha dropout at 1.
func alphaScale(p float64) float64 { return 1 / math.Sqrt((alphaPrime*alphaPrime*p+1)*(1-p)) }

func checkDropout(c *Ctx, p float64) {
	if !(p >= 0 && p <= 1) {
		c.Fail(tensor.ErrValue, "dropout probability has to be between 0 and 1, but got %v", p)
	}
}

// trivial is the result of a dropout that drops nothing, x itself, and nil of others.
func trivial(c *Ctx) *T {
	x, p := c.T(0), c.Float(1)
	checkDropout(c, p)
	if p == 0 || !c.Bool(2) || x.Numel() == 0 {
		return x
	}
	return nil
}

// zero is the number 0 in the dtype of x and on its device.
func zero(x *T) *T { return op.Call1("aten::zeros", []int{}, x.DType(), nil, x.Device()) }

// apply is the body of the functional operators.
func (d dropout) apply(c *Ctx) {
	y := trivial(c)
	switch x, p := c.T(0), c.Float(1); {
	case y != nil:
	case p == 1:
		y = x.Mul(zero(x))
	case d == dropout{}:
		n := tensor.NewCall(opElements, 2)
		*n.Arg(0), *n.Arg(1) = tensor.TensorValue(x), tensor.FloatValue(p)
		y, _ = n.Do2()
	default:
		n := tensor.NewCall(opNoisy, 4)
		*n.Arg(0), *n.Arg(1), *n.Arg(2), *n.Arg(3) = tensor.TensorValue(x), tensor.FloatValue(p),
			tensor.BoolValue(d.feature), tensor.BoolValue(d.alpha)
		y, _ = n.Do2()
	}
	c.Return(y)
}

// applyInPlace is the body of the operators that write to their argument.
func (d dropout) applyInPlace(c *Ctx) {
	y := trivial(c)
	switch x, p := c.T(0), c.Float(1); {
	case y != nil:
	case p == 1:
		y = x.MulInPlace(zero(x))
	default:
		if !d.alpha {
			n := tensor.NewCall(opNoise, 3)
			*n.Arg(0), *n.Arg(1), *n.Arg(2) = tensor.TensorValue(x), tensor.FloatValue(p), tensor.BoolValue(d.feature)
			y = x.MulInPlace(n.Do1())
			break
		}
		scale := bernoulli(d.empty(c, x), 1-p)
		shift := scaled(scale, p, true)
		y = x.MulInPlace(scale).AddInPlace(shift)
	}
	c.Return(y)
}

// empty is memory for the noise for x: one number for each element, or for each channel of each sample.
func (d dropout) empty(c *Ctx, x *T) *T {
	if d.feature {
		return op.Call1("aten::empty.memory_format", featureShape(c, x), x.DType(), nil, x.Device())
	}
	return op.Call1("aten::empty_like", x)
}

// bernoulli fills t with ones drawn with probability p and zeros. Complex numbers, for which the operator has no
// draws, get real ones.
func bernoulli(t *T, p float64) *T {
	if dt := t.DType(); dt.IsComplex() {
		return op.Call1("aten::bernoulli_.float", op.Call1("aten::empty_like", t, dt.Real()), p).ToDType(dt)
	}
	return op.Call1("aten::bernoulli_.float", t, p)
}

// scaled turns ones and zeros into what a dropout multiplies by, and gives what alpha dropout adds.
func scaled(ones *T, p float64, alpha bool) (shift *T) {
	if !alpha {
		ones.DivScalarInPlace(1 - p)
		return nil
	}
	a := alphaScale(p)
	shift = ones.AddScalar(-1).MulScalarInPlace(alphaPrime * a).AddScalarInPlace(alphaPrime * a * p)
	ones.MulScalarInPlace(a)
	return shift
}

// noisy is the body of a dropout: the result, and what x was multiplied by.
func (d dropout) noisy(c *Ctx, x *T, p float64) {
	scale := bernoulli(d.empty(c, x), 1-p)
	shift := scaled(scale, p, d.alpha)
	y := x.Mul(scale)
	if shift != nil {
		y = y.AddInPlace(shift)
	}
	c.Return(y, scale)
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

var (
	opElements        = tensor.Slot("gotorch::dropout")
	opNoisy           = tensor.Slot("gotorch::noisy_dropout")
	opNoise           = tensor.Slot("gotorch::dropout_noise")
	opDropoutBackward = tensor.Slot("aten::native_dropout_backward")
)

// masked multiplies x by the bytes of a mask and by scale, all in one order of memory. It multiplies by zero instead
// of choosing zero: NaN stays.
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

func scaleMasked[E float32 | float64](dst, a []E, mask []uint8, scale E, widen func([]E, []uint8),
	mul func(dst, a, b []E), mulScalar func(dst, a []E, s E)) {
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

// rate is the probability of dropping in a call of native_dropout or its like, 0 outside training.
func rate(c *Ctx) float64 {
	if c.NumArgs() > 2 && c.Has(2) && !c.Bool(2) {
		return 0
	}
	return c.Float(1)
}

// dropElements is the kernel of dropout with a mask of bytes.
func dropElements(c *Ctx, p float64) {
	x := c.T(0)
	if !x.IsDense() {
		x = tensor.Dense(x)
	}
	if x.Numel() == 0 {
		return
	}
	keep := flat[uint8](c.Out(1))
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
}

func init() {
	native := tensor.Def{
		Go: "-", Grad: "MulBackward0",
		Infer: func(c *Ctx) {
			x := c.T(0)
			checkDropout(c, c.Float(1))
			if dt := x.DType(); !dt.IsFloat() {
				c.FailDType(tensor.ErrNotImpl, "native_dropout", dt)
			}
			var st []int
			if x.IsDense() && !x.IsContiguous() {
				st = x.Strides()
			}
			c.AllocStrided(0, x.Shape(), st, x.DType())
			c.AllocStrided(1, x.Shape(), st, tensor.Bool)
		},
		CPU:  func(c *Ctx) { dropElements(c, rate(c)) },
		Save: "result1",
		VJP: func(c *Ctx, g *T) []*T {
			n := tensor.NewCall(opDropoutBackward, 3)
			*n.Arg(0), *n.Arg(1), *n.Arg(2) = tensor.TensorValue(g), tensor.TensorValue(c.Out(1)),
				tensor.FloatValue(keepScale(rate(c), c.ArgDType(0)))
			return []*T{n.Do1()}
		},
	}
	elements := native
	native.Schema = "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)"
	native.Draw = tensor.DrawFactors
	native.Doc = "is dropout and the mask of the elements that are kept."
	tensor.Register(native)
	elements.Schema = "gotorch::dropout(Tensor self, float p) -> (Tensor, Tensor)"
	elements.Doc = "is dropout; the second result is for its gradient: the mask of the kernel, the noise of the body."
	elements.Fuses = func(c *Ctx) bool {
		x := c.T(0)
		return (x.DType() == tensor.Float32 || x.DType() == tensor.Float64) && x.IsDense()
	}
	elements.Body = func(c *Ctx) { dropout{}.noisy(c, c.T(0), c.Float(1)) }
	tensor.Register(elements)
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
			*n.Arg(0), *n.Arg(1), *n.Arg(2) = tensor.TensorValue(g), tensor.TensorValue(c.T(1)),
				tensor.FloatValue(c.Float(2))
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

func init() {
	drop("dropout(Tensor input, float p, bool train) -> Tensor",
		"sets elements to zero with probability p while training and scales the others by "+
			"1/(1-p).\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html", dropout{})
	drop("feature_dropout(Tensor input, float p, bool train) -> Tensor", "is Dropout for whole channels.",
		dropout{feature: true})
	drop("alpha_dropout(Tensor input, float p, bool train) -> Tensor",
		"is dropout that keeps mean and variance of SELU activations (https://arxiv.org/abs/1706.02515).",
		dropout{alpha: true})
	drop("feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", "is AlphaDropout for whole channels.",
		dropout{feature: true, alpha: true})
	dropInPlace("dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
		"is Dropout written to the tensor itself, which is returned.", dropout{})
	dropInPlace("feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
		"is FeatureDropout written to the tensor itself, which is returned.", dropout{feature: true})
	dropInPlace("alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
		"is AlphaDropout written to the tensor itself, which is returned.", dropout{alpha: true})
	dropInPlace("feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
		"is FeatureAlphaDropout written to the tensor itself, which is returned.", dropout{feature: true, alpha: true})
	functional("F::dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		"sets elements to zero with probability P and scales the others by 1/(1-P), unless "+
			"NoTraining.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html",
		"aten::dropout", 0, 0)
	functional("F::alpha_dropout(Tensor input, float p=0.5, bool training=False, bool inplace=False) -> Tensor",
		"is dropout that keeps mean and variance of SELU activations "+
			"(https://arxiv.org/abs/1706.02515).\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.alpha_dropout.html",
		"aten::alpha_dropout", 0, 0)
	functional("F::feature_alpha_dropout(Tensor input, float p=0.5, bool training=False, bool inplace=False) -> Tensor",
		"is AlphaDropout for whole channels.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.feature_alpha_dropout.html",
		"aten::feature_alpha_dropout", 0, 0)
	functional("F::dropout1d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		"is Dropout for whole channels of lines, [N, C, L] or [C, "+
			"L].\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.dropout1d.html",
		"aten::feature_dropout", 2, 0)
	functional("F::dropout2d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		"is Dropout for whole channels of images, [N, C, H, "+
			"W].\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.dropout2d.html",
		"aten::feature_dropout", 0, 2)
	functional("F::dropout3d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
		"is Dropout for whole channels of volumes, [N, C, D, H, W] or [C, D, H, "+
			"W].\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.dropout3d.html",
		"aten::feature_dropout", 4, 3)
}

// drop declares a dropout operator of aten.
//
//gen:drop
func drop(schema, doc string, d dropout) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: d.apply})
}

// dropInPlace declares a dropout operator that writes to its argument.
//
//gen:dropInPlace
func dropInPlace(schema, doc string, d dropout) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: d.applyInPlace})
}

// adviseRank warns of inputs that dropout of whole channels over so many spatial dimensions is not made for.
func adviseRank(spatial, rank int) {
	if spatial == 0 {
		return
	}
	if rank < spatial+1 || rank > spatial+2 {
		tensor.Warn("dropout%[1]dd: Received a %[2]d-D input to dropout%[1]dd, which is deprecated and will result "+
			"in an "+
			"error in a future release. To retain the behavior and silence this warning, please use dropout instead. "+
			"Note that dropout%[1]dd exists to provide channel-wise dropout on inputs with %[1]d spatial dimensions, a "+
			"channel dimension, and an optional batch dimension (i.e. %[3]dD or %[4]dD inputs).", spatial, rank,
			spatial+1, spatial+2)
	}
	if spatial == 2 && rank == 3 {
		tensor.Warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is " +
			"desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change " +
			"in a future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To " +
			"maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.")
	}
}

// functional declares a dropout function of torch.nn.functional, which calls the operator of that name or its
// in-place form. An input of unbatched dimensions is one sample without the batch dimension; an input that is not made
// for so many spatial dimensions is warned of.
//
//gen:functional
func functional(schema, doc, name string, unbatched, spatial int) {
	op, inPlace := tensor.Slot(name), tensor.Slot(name+"_")
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc,
		Body: func(c *Ctx) {
			x, o, write := c.T(0), op, c.Bool(3)
			adviseRank(spatial, x.Dim())
			one := unbatched > 0 && x.Dim() == unbatched
			switch {
			case write:
				if o = inPlace; one {
					x = x.UnsqueezeInPlace(0)
				}
			case one:
				x = x.Unsqueeze(0)
			}
			n := tensor.NewCall(o, 3)
			*n.Arg(0), *n.Arg(1), *n.Arg(2) = tensor.TensorValue(x), c.Value(1), c.Value(2)
			y := n.Do1()
			switch {
			case one && write:
				y = y.SqueezeDimInPlace(0)
			case one:
				y = y.SqueezeDim(0)
			}
			c.Return(y)
		},
	})
}

package pointwise

import (
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// RReLU, the leaky ReLU whose slope is random in training: Xu, Wang, Chen, Li, "Empirical Evaluation of Rectified
// Activations in Convolutional Network" (2015). PyTorch's rrelu makes a tensor for the slopes, the noise, and calls
// rrelu_with_noise.

func init() {
	var (
		opRReLU          = tensor.Slot("aten::rrelu")
		opRReLUInPlace   = tensor.Slot("aten::rrelu_")
		opNoise          = tensor.Slot("aten::rrelu_with_noise")
		opNoiseInPlace   = tensor.Slot("aten::rrelu_with_noise_")
		opNoiseBackward  = tensor.Slot("aten::rrelu_with_noise_backward")
		opLeakyReLUOut   = tensor.Slot("aten::leaky_relu.out")
		opLeakyReLUGrads = tensor.Slot("aten::leaky_relu_backward")
	)
	// middle is the slope outside training.
	middle := func(lower, upper tensor.Num) tensor.Value { return tensor.FloatValue((lower.F + upper.F) / 2) }

	withNoise := func(noise *tensor.Op) func(c *Ctx) {
		return func(c *Ctx) {
			x := c.T(0)
			c.Return(call(noise, tv(x), tv(x.EmptyLike()), c.Value(1), c.Value(2), c.Value(3), c.Value(4)))
		}
	}
	tensor.Register(tensor.Def{
		Schema: "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor",
		Doc: "is self where it is positive and a * self elsewhere; a is drawn from [lower, upper] for every element " +
			"in training and is the middle of that " +
			"interval otherwise.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.rrelu.html",
		Body: withNoise(opNoise),
	})
	tensor.Register(tensor.Def{
		Schema: "rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor(a!)",
		Doc:    "is RReLU written to the tensor itself, which is returned.", Go: "RReLUInPlace",
		Body: withNoise(opNoiseInPlace),
	})

	tensor.Register(tensor.Def{
		Schema: "rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor",
		Doc: "is rrelu; in training it writes the factor of every element to noise: 1 for the positive ones, the " +
			"slopes for the others.",
		Go: "-", InPlace: true, Out: true, FormNames: ".out=.out", Elementwise: true,
		Infer: func(c *Ctx) {
			if c.Num(2).F > c.Num(3).F {
				c.Fail(tensor.ErrValue, "Lower bound should be less than or equal to the upper bound")
			}
			if !tensor.SameShape(c.Shape(0), c.Shape(1)) {
				c.Fail(tensor.ErrShape, "noise tensor shape must match self tensor shape. Got self.shape = %s "+
					"noise.shape = %s", tensor.ShapeString(c.Shape(0)), tensor.ShapeString(c.Shape(1)))
			}
			if c.ArgDType(0) != c.ArgDType(1) {
				c.Fail(tensor.ErrDType, "rrelu_with_noise: self and noise must have one dtype, but got %s and %s",
					c.ArgDType(0).ClassName(), c.ArgDType(1).ClassName())
			}
			c.Alloc(0, c.Shape(0), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			out, x, noise := c.Out(0), c.T(0), c.T(1)
			if !x.DType().IsFloat() {
				missing(c, "rrelu_with_noise_out_cpu", x.DType())
			}
			if !c.Bool(4) {
				call(opLeakyReLUOut, tv(x.Detach()), middle(c.Num(2), c.Num(3)), tv(out.Detach()))
				return
			}
			slopes := fillSlopes(c, noise, x, c.Num(2).F, c.Num(3).F)
			tensor.Bump(noise)
			if dt := x.DType(); dt == tensor.BFloat16 || dt == tensor.Float16 { // slopes of full precision, rounded once
				y, a := tensor.Data[float32](tensor.DenseAs(x, tensor.Float32).Clone()), tensor.Data[float64](slopes)
				for i := range y {
					y[i] *= float32(a[i])
				}
				tensor.CopyRaw(out, tensor.FromSlice(y, x.Shape()...))
				return
			}
			mulKernels.run(c, 0, 1)
		},
		Save:        "self noise",
		SaveInPlace: "result noise",
		VJP: func(c *Ctx, g *T) []*T {
			inPlace := c.Op().IsInPlace()
			var x *T
			if inPlace {
				x = c.Out(0)
			} else {
				x = c.T(0)
			}
			return []*T{call(opNoiseBackward, tv(g), tv(x), tv(c.T(1)), c.Value(2), c.Value(3), c.Value(4),
				tensor.BoolValue(inPlace)), nil}
		},
	})

	tensor.Register(tensor.Def{
		Schema: "rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> (Tensor, Tensor noise_out)",
		Doc:    "is rrelu_with_noise, but returns the factors instead of writing them to noise.",
		Go:     "-",
		Body: func(c *Ctx) {
			noise := c.T(1).Clone()
			c.Return(call(opNoise, tv(c.T(0)), tv(noise), c.Value(2), c.Value(3), c.Value(4), c.Value(5)), noise)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, bool self_is_result) -> Tensor",
		Doc:    "is the gradient of rrelu_with_noise.", Go: "-", Out: true,
		Body: func(c *Ctx) {
			g, lower, upper := c.T(0), c.Num(3), c.Num(4)
			if c.Bool(5) && upper.F-lower.F > 1e-6 { // otherwise all slopes are the same
				c.Return(g.Mul(c.T(2)))
				return
			}
			c.Return(call(opLeakyReLUGrads, tv(g), tv(c.T(1)), middle(lower, upper), c.Value(6)))
		},
	})

	rrelu := func(op *tensor.Op, inPlace *tensor.Op) func(c *Ctx) {
		return func(c *Ctx) {
			op := op
			if n := c.NumArgs(); n > 4 && c.Bool(4) {
				op = inPlace
			}
			c.Return(call(op, tv(c.T(0)), c.Value(1), c.Value(2), c.Value(3), tensor.Value{}))
		}
	}
	tensor.Register(tensor.Def{
		Schema: "F::rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False, bool inplace=False) -> Tensor",
		Doc: "is max(0, x) + a * min(0, x) of every element x of input, which has any shape. In training each slope " +
			"a is drawn from [lower, upper], " +
			"otherwise it is the middle of that interval. The result has the shape of input; with Inplace it is " +
			"written to input.\n" + activations + "rrelu.html",
		Body: rrelu(opRReLU, opRReLUInPlace),
	})
	tensor.Register(tensor.Def{
		Schema: "F::rrelu_(Tensor(a!) input, float lower=0.125, float upper=0.3333333333333333, bool training=False) -> Tensor(a!)",
		Doc:    "is RReLU written to input, which is returned; input has any shape.\n" + activations + "rrelu_.html",
		Body:   rrelu(opRReLUInPlace, opRReLUInPlace),
	})
}

// fillSlopes draws a slope for every element of x that is not positive, in logical order, and writes it to noise, and 1
// for the others. It returns them before they are rounded to noise's type.
func fillSlopes(c *Ctx, noise, x *T, lower, upper float64) *T {
	g, _ := c.Any(c.NumArgs() - 1).(*rng.Generator)
	if g == nil {
		g = rng.Default
	}
	v := tensor.Data[float64](tensor.DenseAs(x, tensor.Float64))
	s := tensor.New(x.Shape(), tensor.Float64)
	d := tensor.Data[float64](s)
	var drawn [1024]float64
	for len(v) > 0 {
		n, k := min(len(v), len(drawn)), 0
		for _, x := range v[:n] {
			if x <= 0 {
				k++
			}
		}
		_ = rng.Uniform(g, drawn[:k], 0, 1) // fails for other intervals only
		k = 0
		for i, x := range v[:n] {
			d[i] = 1
			if x <= 0 {
				d[i] = float64(drawn[k]*(upper-lower)) + lower
				k++
			}
		}
		v, d = v[n:], d[n:]
	}
	tensor.CopyRaw(noise, s)
	return s
}

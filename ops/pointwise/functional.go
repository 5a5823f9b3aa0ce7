package pointwise

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// function registers an activation of torch.nn.functional with Python's signature; its last argument is the flag inplace.
//
//gen:function
func function(schema, doc string, plain, inPlace func(c *Ctx, x *T) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) {
		f := plain
		if c.Bool(c.NumArgs() - 1) {
			f = inPlace
		}
		c.Return(f(c, c.T(0)))
	}})
}

// functionInPlace registers the form whose name ends in _.
//
//gen:functionInPlace
func functionInPlace(schema, doc string, f func(c *Ctx, x *T) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) { c.Return(f(c, c.T(0))) }})
}

// forms calls the operator of a name, or its in-place form, with the tensor and the arguments after it as they are.
func forms(name string, args int) (plain, inPlace func(c *Ctx, x *T) *T) {
	form := func(full string) func(c *Ctx, x *T) *T {
		op := tensor.Slot("aten::" + full)
		return func(c *Ctx, x *T) *T {
			k := tensor.NewCall(op, 1+args)
			*k.Arg(0) = tensor.TensorValue(x)
			for i := 1; i <= args; i++ {
				*k.Arg(i) = c.Value(i)
			}
			return k.Do1()
		}
	}
	return form(name), form(name + "_")
}

func init() {
	relu, reluI := forms("relu", 0)
	function("F::relu(Tensor input, bool inplace=False) -> Tensor", "is max(input, 0).", relu, reluI)
	functionInPlace("F::relu_(Tensor(a!) input) -> Tensor(a!)", "is ReLU written to its argument.", reluI)
	relu6, relu6I := forms("relu6", 0)
	function("F::relu6(Tensor input, bool inplace=False) -> Tensor", "is min(max(input, 0), 6).", relu6, relu6I)
	selu, seluI := forms("selu", 0)
	function("F::selu(Tensor input, bool inplace=False) -> Tensor", "is the self-normalising exponential linear unit.", selu, seluI)
	functionInPlace("F::selu_(Tensor(a!) input) -> Tensor(a!)", "is SELU written to its argument.", seluI)
	silu, siluI := forms("silu", 0)
	function("F::silu(Tensor input, bool inplace=False) -> Tensor", "is input * sigmoid(input).", silu, siluI)
	mish, mishI := forms("mish", 0)
	function("F::mish(Tensor input, bool inplace=False) -> Tensor", "is input * tanh(softplus(input)).", mish, mishI)
	hardsigmoid, hardsigmoidI := forms("hardsigmoid", 0)
	function("F::hardsigmoid(Tensor input, bool inplace=False) -> Tensor", "is min(max(input + 3, 0), 6) / 6.", hardsigmoid, hardsigmoidI)
	hardswish, hardswishI := forms("hardswish", 0)
	function("F::hardswish(Tensor input, bool inplace=False) -> Tensor", "is input * min(max(input + 3, 0), 6) / 6.", hardswish, hardswishI)
	celu, celuI := forms("celu", 1)
	function("F::celu(Tensor input, float alpha=1.0, bool inplace=False) -> Tensor", "is max(0, input) + min(0, alpha * (exp(input / alpha) - 1)).", celu, celuI)
	functionInPlace("F::celu_(Tensor(a!) input, float alpha=1.0) -> Tensor(a!)", "is CELU written to its argument.", celuI)
	leaky, leakyI := forms("leaky_relu", 1)
	function("F::leaky_relu(Tensor input, float negative_slope=0.01, bool inplace=False) -> Tensor", "is input where it is positive and negative_slope * input elsewhere.", leaky, leakyI)
	functionInPlace("F::leaky_relu_(Tensor(a!) input, float negative_slope=0.01) -> Tensor(a!)", "is LeakyReLU written to its argument.", leakyI)
	opElu, opEluI := tensor.Slot("aten::elu"), tensor.Slot("aten::elu_")
	eluForm := func(op *tensor.Op) func(c *Ctx, x *T) *T {
		return func(c *Ctx, x *T) *T {
			return call(op, tv(x), c.Value(1), tensor.IntValue(1), tensor.IntValue(1))
		}
	}
	function("F::elu(Tensor input, float alpha=1.0, bool inplace=False) -> Tensor", "is input where it is positive and alpha * (exp(input) - 1) elsewhere.", eluForm(opElu), eluForm(opEluI))
	functionInPlace("F::elu_(Tensor(a!) input, float alpha=1.0) -> Tensor(a!)", "is ELU written to its argument.", eluForm(opEluI))
	hardtanh, hardtanhI := forms("hardtanh", 2)
	checked := func(f func(c *Ctx, x *T) *T) func(c *Ctx, x *T) *T {
		return func(c *Ctx, x *T) *T {
			if c.Num(1).F > c.Num(2).F {
				c.Fail(tensor.ErrValue, "min_val cannot be greater than max_val")
			}
			return f(c, x)
		}
	}
	function("F::hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0, bool inplace=False) -> Tensor", "limits every element to [min_val, max_val].", checked(hardtanh), checked(hardtanhI))
	functionInPlace("F::hardtanh_(Tensor(a!) input, float min_val=-1.0, float max_val=1.0) -> Tensor(a!)", "is HardTanh written to its argument.", checked(hardtanhI))
	threshold, thresholdI := forms("threshold", 2)
	function("F::threshold(Tensor input, float threshold, float value, bool inplace=False) -> Tensor", "is input where input > threshold and value elsewhere.", threshold, thresholdI)
	functionInPlace("F::threshold_(Tensor(a!) input, float threshold, float value) -> Tensor(a!)", "is Threshold written to its argument.", thresholdI)

	one := func(name string) func(c *Ctx, x *T) *T {
		f, _ := forms(name, 0)
		return f
	}
	functionInPlace("F::logsigmoid(Tensor input) -> Tensor", "is log(sigmoid(input)).", one("log_sigmoid"))
	functionInPlace("F::tanh(Tensor input) -> Tensor", "is the hyperbolic tangent.", one("tanh"))
	functionInPlace("F::sigmoid(Tensor input) -> Tensor", "is 1 / (1 + exp(-input)).", one("sigmoid"))
	functionInPlace("F::softsign(Tensor input) -> Tensor", "is input / (1 + |input|).", func(c *Ctx, x *T) *T { return x.Div(op.Call1("aten::add.Tensor", x.Abs(), 1, 1)) })
	functionInPlace("F::tanhshrink(Tensor input) -> Tensor", "is input - tanh(input).", func(c *Ctx, x *T) *T { return x.Sub(x.Tanh()) })
	withNumber := func(name string, n int) func(c *Ctx, x *T) *T {
		f, _ := forms(name, n)
		return f
	}
	functionInPlace("F::hardshrink(Tensor input, float lambd=0.5) -> Tensor", "is 0 where -lambd <= input <= lambd and input elsewhere.", withNumber("hardshrink", 1))
	functionInPlace("F::softshrink(Tensor input, float lambd=0.5) -> Tensor", "moves every element towards 0 by lambd, stopping there.", withNumber("softshrink", 1))
	functionInPlace("F::softplus(Tensor input, float beta=1.0, float threshold=20.0) -> Tensor", "is log(1 + exp(beta * input)) / beta, and input itself where beta * input > threshold.", withNumber("softplus", 2))
	functionInPlace("F::gelu(Tensor input, *, str approximate=\"none\") -> Tensor", "is input * Φ(input); with approximate \"tanh\" an approximation of it.", withNumber("gelu", 1))
	functionInPlace("F::prelu(Tensor input, Tensor weight) -> Tensor", "is input where it is positive and weight * input elsewhere; the weight is one number or one for each channel (dimension 1).", withNumber("prelu", 1))
	functionInPlace("F::glu(Tensor input, int dim=-1) -> Tensor", "is a * sigmoid(b), a and b being the halves of input along dim.", func(c *Ctx, x *T) *T {
		if x.Dim() == 0 {
			c.Fail(tensor.ErrShape, "glu does not support scalars because halving size must be even")
		}
		return call(opGLU, tv(x), c.Value(1))
	})

	tensor.Register(tensor.Def{
		Schema: "prelu(Tensor self, Tensor weight) -> Tensor",
		Doc: "is self where it is positive and weight * self elsewhere; the weight is one number or one for each channel (dimension 1).\n" +
			"https://pytorch.org/docs/stable/generated/torch.nn.functional.prelu.html",
		Body: func(c *Ctx) {
			x, w := c.T(0), c.T(1)
			if x.DType() != w.DType() {
				c.Fail(tensor.ErrDType, "prelu: Type promoting not supported. Got %s and %s", x.DType().ClassName(), w.DType().ClassName())
			}
			if w.Numel() != 1 {
				if x.Dim() == 0 {
					c.Fail(tensor.ErrShape, "Not allow zero-dim input tensor.")
				}
				channels := 1
				if x.Dim() > 1 {
					channels = x.Size(1)
				}
				if channels != w.Numel() {
					c.Fail(tensor.ErrShape, "Mismatch of parameter numbers and input channel size. Found parameter numbers = %d and channel size = %d.", w.Numel(), channels)
				}
			}
			if w.Dim() > 1 {
				c.Fail(tensor.ErrShape, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = %d", w.Dim())
			}
			shape := make([]int, x.Dim())
			for i := range shape {
				shape[i] = 1
			}
			if len(shape) > 1 && w.Numel() > 1 {
				shape[1] = w.Numel()
			}
			c.Return(call(opPReLU, tv(x), tv(w.Reshape(shape))))
		},
	})
	preluBackward := tensor.Slot("aten::_prelu_kernel_backward")
	tensor.Register(tensor.Def{
		Schema: "_prelu_kernel(Tensor self, Tensor weight) -> Tensor", Doc: "is prelu with a weight that broadcasts.", Go: "-", Elementwise: true,
		Infer: binaryInfer,
		CPU:   func(c *Ctx) { preluKernels.run(c, 0, 1) },
		Save:  "self weight",
		VJP: func(c *Ctx, g *T) []*T {
			k := tensor.NewCall(preluBackward, 3)
			*k.Arg(0), *k.Arg(1), *k.Arg(2) = tv(g), tv(c.T(0)), tv(c.T(1))
			a, b := k.Do2()
			return []*T{a, b}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)", Doc: "gives the gradients of prelu.", Go: "-",
		Body: func(c *Ctx) {
			g, x, w := c.T(0), c.T(1), c.T(2)
			pos := x.GtScalar(0)
			c.Return(call(opWhere, tv(pos), tv(g), tv(g.Mul(w))), dropIf(pos, g.Mul(x)))
		},
	})

	// rrelu: the slope is drawn for every element in training, and is the middle of the range otherwise
	rrelu := func(c *Ctx, x *T, lower, upper tensor.Num, training, inPlace bool) *T {
		if lower.F > upper.F {
			c.Fail(tensor.ErrValue, "Lower bound should be less than or equal to the upper bound")
		}
		slope := tensor.FloatValue((lower.F + upper.F) / 2)
		if training {
			noise := tensor.New(x.Shape(), x.DType())
			fillSlopes(c, noise, x, lower.F, upper.F)
			if inPlace {
				return x.MulInPlace(noise)
			}
			return x.Mul(noise)
		}
		if inPlace {
			return call(tensor.Slot("aten::leaky_relu_"), tv(x), slope)
		}
		return call(tensor.Slot("aten::leaky_relu"), tv(x), slope)
	}
	tensor.Register(tensor.Def{
		Schema:  "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor",
		Doc:     "is self where it is positive and a * self elsewhere; a is drawn from [lower, upper] for every element in training and is its middle otherwise.",
		InPlace: true,
		Body:    func(c *Ctx) { c.Return(rrelu(c, c.T(0), c.Num(1), c.Num(2), c.Bool(3), false)) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False, bool inplace=False) -> Tensor",
		Doc:    "is input where it is positive and a * input elsewhere; a is drawn from [lower, upper] for every element in training and is its middle otherwise.",
		Body:   func(c *Ctx) { c.Return(rrelu(c, c.T(0), c.Num(1), c.Num(2), c.Bool(3), c.Bool(4))) },
	})
}

// fillSlopes draws a slope for every element that is not positive, in logical order, and writes 1 for the others.
func fillSlopes(c *Ctx, noise, x *T, lower, upper float64) {
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
}

// A weight that is one number, or one for each row, makes it a leaky_relu.
var preluKernels = biK{name: "prelu_cpu", h: vec.PReLU16, f32: vec.PReLUF32, f64: vec.PReLUF64, f32s: vec.LeakyReLUF32, f64s: vec.LeakyReLUF64, hs: vec.LeakyReLU16}

var opPReLU = tensor.Slot("aten::_prelu_kernel")

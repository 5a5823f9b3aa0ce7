package pointwise

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// activations is where PyTorch documents the activation functions.
const activations = "https://pytorch.org/docs/stable/generated/torch.nn.functional."

// The activation functions of torch.nn.functional have Python's signatures, and call the operators that Python's call:
// a tracer sees aten::relu of F.ReLU, and aten::relu_ where the option Inplace is set.

// withInPlaceOption registers a function of torch.nn.functional whose last parameter is the flag inplace. It calls the
// operator op, or, where the flag is set, inPlace. Parameters after the tensor are passed on as they are.
//
//gen:withInPlaceOption
func withInPlaceOption(schema, doc string, op, inPlace func(c *Ctx, x *T) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) {
		f := op
		if c.Bool(c.NumArgs() - 1) {
			f = inPlace
		}
		c.Return(f(c, c.T(0)))
	}})
}

// function registers a function of torch.nn.functional without that flag.
//
//gen:function
func function(schema, doc string, f func(c *Ctx, x *T) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) { c.Return(f(c, c.T(0))) }})
}

// calls makes a function that calls the operator of a name with the tensor and the given number of arguments after it
// as they are.
func calls(name string, args int) func(c *Ctx, x *T) *T {
	op := tensor.Slot("aten::" + name)
	return func(c *Ctx, x *T) *T {
		k := tensor.NewCall(op, 1+args)
		*k.Arg(0) = tensor.TensorValue(x)
		for i := 1; i <= args; i++ {
			*k.Arg(i) = c.Value(i)
		}
		return k.Do1()
	}
}

// bothForms is calls for an operator and for its in-place form.
func bothForms(name string, args int) (op, inPlace func(c *Ctx, x *T) *T) {
	return calls(name, args), calls(name+"_", args)
}

func init() {
	const (
		each = " of every element x of input, which has any shape. The result has the shape of input; with " +
			"Inplace it is written to input.\n" + activations
		plain = " of every element x of input, which has any shape. The result has the shape of input.\n" +
			activations
		written = " written to input, which is returned; input has any shape.\n" + activations
	)
	relu, reluInPlace := bothForms("relu", 0)
	withInPlaceOption("F::relu(Tensor input, bool inplace=False) -> Tensor",
		"is the rectified linear unit max(x, 0)"+each+"relu.html", relu, reluInPlace)
	function("F::relu_(Tensor(a!) input) -> Tensor(a!)", "is ReLU, max(x, 0),"+written+"relu_.html", reluInPlace)
	relu6, relu6InPlace := bothForms("relu6", 0)
	withInPlaceOption("F::relu6(Tensor input, bool inplace=False) -> Tensor", "is min(max(x, 0), 6)"+each+"relu6.html",
		relu6, relu6InPlace)
	selu, seluInPlace := bothForms("selu", 0)
	withInPlaceOption("F::selu(Tensor input, bool inplace=False) -> Tensor",
		"is the self-normalizing exponential linear unit, scale * (max(0, x) + min(0, alpha * (exp(x) - 1))) with "+
			"alpha = 1.6732632 and scale = 1.0507010,"+each+"selu.html", selu, seluInPlace)
	function("F::selu_(Tensor(a!) input) -> Tensor(a!)", "is SELU"+written+"selu.html", seluInPlace)
	silu, siluInPlace := bothForms("silu", 0)
	withInPlaceOption("F::silu(Tensor input, bool inplace=False) -> Tensor",
		"is the sigmoid linear unit x * sigmoid(x), also called swish,"+each+"silu.html", silu, siluInPlace)
	mish, mishInPlace := bothForms("mish", 0)
	withInPlaceOption("F::mish(Tensor input, bool inplace=False) -> Tensor",
		"is x * tanh(softplus(x))"+each+"mish.html", mish, mishInPlace)
	hardsigmoid, hardsigmoidInPlace := bothForms("hardsigmoid", 0)
	withInPlaceOption("F::hardsigmoid(Tensor input, bool inplace=False) -> Tensor",
		"is min(max(x + 3, 0), 6) / 6, which approximates sigmoid(x),"+each+"hardsigmoid.html", hardsigmoid,
		hardsigmoidInPlace)
	hardswish, hardswishInPlace := bothForms("hardswish", 0)
	withInPlaceOption("F::hardswish(Tensor input, bool inplace=False) -> Tensor",
		"is x * min(max(x + 3, 0), 6) / 6, which approximates SiLU,"+each+"hardswish.html", hardswish, hardswishInPlace)
	celu, celuInPlace := bothForms("celu", 1)
	withInPlaceOption("F::celu(Tensor input, float alpha=1.0, bool inplace=False) -> Tensor",
		"is the continuously differentiable exponential linear unit, max(0, x) + min(0, alpha * (exp(x / alpha) - 1)),"+each+"celu.html", celu, celuInPlace)
	function("F::celu_(Tensor(a!) input, float alpha=1.0) -> Tensor(a!)", "is CELU"+written+"celu.html", celuInPlace)
	leaky, leakyInPlace := bothForms("leaky_relu", 1)
	withInPlaceOption("F::leaky_relu(Tensor input, float negative_slope=0.01, bool inplace=False) -> Tensor",
		"is max(0, x) + negativeSlope * min(0, x)"+each+"leaky_relu.html", leaky, leakyInPlace)
	function("F::leaky_relu_(Tensor(a!) input, float negative_slope=0.01) -> Tensor(a!)",
		"is LeakyReLU"+written+"leaky_relu_.html", leakyInPlace)
	opELU, opELUInPlace := tensor.Slot("aten::elu"), tensor.Slot("aten::elu_")
	elu := func(op *tensor.Op) func(c *Ctx, x *T) *T {
		return func(c *Ctx, x *T) *T {
			return call(op, tv(x), c.Value(1), tensor.IntValue(1), tensor.IntValue(1))
		}
	}
	withInPlaceOption("F::elu(Tensor input, float alpha=1.0, bool inplace=False) -> Tensor",
		"is the exponential linear unit, x where x is positive and alpha * (exp(x) - 1) elsewhere,"+each+"elu.html",
		elu(opELU), elu(opELUInPlace))
	function("F::elu_(Tensor(a!) input, float alpha=1.0) -> Tensor(a!)", "is ELU"+written+"elu_.html",
		elu(opELUInPlace))
	hardtanh, hardtanhInPlace := bothForms("hardtanh", 2)
	checked := func(f func(c *Ctx, x *T) *T) func(c *Ctx, x *T) *T {
		return func(c *Ctx, x *T) *T {
			if c.Num(1).F > c.Num(2).F {
				c.Fail(tensor.ErrValue, "min_val cannot be greater than max_val")
			}
			return f(c, x)
		}
	}
	withInPlaceOption("F::hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0, bool inplace=False) -> Tensor",
		"is min(max(x, minVal), maxVal)"+each+"hardtanh.html", checked(hardtanh), checked(hardtanhInPlace))
	function("F::hardtanh_(Tensor(a!) input, float min_val=-1.0, float max_val=1.0) -> Tensor(a!)",
		"is HardTanh"+written+"hardtanh_.html", checked(hardtanhInPlace))
	threshold, thresholdInPlace := bothForms("threshold", 2)
	withInPlaceOption("F::threshold(Tensor input, float threshold, float value, bool inplace=False) -> Tensor",
		"is x where x > threshold and value elsewhere,"+each+"threshold.html", threshold, thresholdInPlace)
	function("F::threshold_(Tensor(a!) input, float threshold, float value) -> Tensor(a!)",
		"is Threshold"+written+"threshold_.html", thresholdInPlace)

	function("F::logsigmoid(Tensor input) -> Tensor",
		"is log(1 / (1 + exp(-x))), computed without overflow,"+plain+"logsigmoid.html", calls("log_sigmoid", 0))
	function("F::tanh(Tensor input) -> Tensor",
		"is the hyperbolic tangent (exp(x) - exp(-x)) / (exp(x) + exp(-x))"+plain+"tanh.html", calls("tanh", 0))
	function("F::sigmoid(Tensor input) -> Tensor", "is 1 / (1 + exp(-x))"+plain+"sigmoid.html", calls("sigmoid", 0))
	function("F::softsign(Tensor input) -> Tensor", "is x / (1 + |x|)"+plain+"softsign.html",
		func(c *Ctx, x *T) *T { return x.Div(op.Call1("aten::add.Tensor", x.Abs(), 1, 1)) })
	function("F::tanhshrink(Tensor input) -> Tensor", "is x - tanh(x)"+plain+"tanhshrink.html",
		func(c *Ctx, x *T) *T { return x.Sub(x.Tanh()) })
	function("F::hardshrink(Tensor input, float lambd=0.5) -> Tensor",
		"is 0 where -lambd <= x <= lambd and x elsewhere,"+plain+"hardshrink.html", calls("hardshrink", 1))
	function("F::softshrink(Tensor input, float lambd=0.5) -> Tensor",
		"is x - lambd where x > lambd, x + lambd where x < -lambd, and 0 between,"+plain+"softshrink.html",
		calls("softshrink", 1))
	function("F::softplus(Tensor input, float beta=1.0, float threshold=20.0) -> Tensor",
		"is log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold,"+plain+"softplus.html",
		calls("softplus", 2))
	function("F::gelu(Tensor input, *, str approximate=\"none\") -> Tensor",
		"is the Gaussian error linear unit x * Φ(x), Φ being the cumulative distribution function of the standard "+
			"normal distribution, or with approximate \"tanh\" "+
			"0.5 * x * (1 + tanh(sqrt(2/π) * (x + 0.044715 * x³))),"+plain+"gelu.html", calls("gelu", 1))
	function("F::prelu(Tensor input, Tensor weight) -> Tensor",
		"is max(0, x) + weight * min(0, x) of every element x of input, [N, C, ...] or any other shape. weight has "+
			"one element, or one for each channel (dimension 1 of input), "+
			"and the dtype of input. The result has the shape of input.\n"+activations+"prelu.html", calls("prelu", 1))
	function("F::glu(Tensor input, int dim=-1) -> Tensor",
		"is the gated linear unit a * sigmoid(b), a and b being the first and the second half of input along dim, "+
			"whose size must be even. The result has half that size.\n"+
			activations+"glu.html", func(c *Ctx, x *T) *T {
			if x.Dim() == 0 {
				c.Fail(tensor.ErrShape, "glu does not support scalars because halving size must be even")
			}
			return call(opGLU, tv(x), c.Value(1))
		})

	tensor.Register(tensor.Def{
		Schema: "prelu(Tensor self, Tensor weight) -> Tensor",
		Doc: "is self where it is positive and weight * self elsewhere; the weight is one number or one for each " +
			"channel (dimension 1).\n" +
			"https://pytorch.org/docs/stable/generated/torch.nn.functional.prelu.html",
		Body: func(c *Ctx) {
			x, w := c.T(0), c.T(1)
			if x.DType() != w.DType() {
				c.Fail(tensor.ErrDType, "prelu: Type promoting not supported. Got %s and %s", x.DType().ClassName(),
					w.DType().ClassName())
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
					c.Fail(tensor.ErrShape,
						"Mismatch of parameter numbers and input channel size. Found parameter numbers = %d and "+
							"channel size = %d.", w.Numel(), channels)
				}
			}
			if w.Dim() > 1 {
				c.Fail(tensor.ErrShape, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = %d",
					w.Dim())
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
		Schema: "_prelu_kernel(Tensor self, Tensor weight) -> Tensor", Doc: "is prelu with a weight that broadcasts.",
		Go: "-", Elementwise: true,
		Infer: func(c *Ctx) {
			if x, w := c.ArgDType(0), c.ArgDType(1); w != x {
				c.Fail(tensor.ErrDType, "Found dtype %s but expected %s", w.ClassName(), x.ClassName())
			}
			binaryInfer(c)
		},
		CPU:  func(c *Ctx) { preluKernels.run(c, 0, 1) },
		Save: "self weight",
		VJP: func(c *Ctx, g *T) []*T {
			k := tensor.NewCall(preluBackward, 3)
			*k.Arg(0), *k.Arg(1), *k.Arg(2) = tv(g), tv(c.T(0)), tv(c.T(1))
			a, b := k.Do2()
			return []*T{a, b}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
		Doc:    "gives the gradients of prelu.", Go: "-",
		Body: func(c *Ctx) {
			g, x, w := c.T(0), c.T(1), c.T(2)
			pos := x.GtScalar(0)
			c.Return(call(opWhere, tv(pos), tv(g), tv(g.Mul(w))), dropIf(pos, g.Mul(x)))
		},
	})
}

// A weight that is one number, or one for each row, makes it a leaky_relu.
var preluKernels = biK{name: "prelu_cpu", h: vec.PReLU16, f32: vec.PReLUF32, f64: vec.PReLUF64, f32s: vec.LeakyReLUF32,
	f64s: vec.LeakyReLUF64, hs: vec.LeakyReLU16}

var opPReLU = tensor.Slot("aten::_prelu_kernel")

package pointwise

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// floats1 and floats2 run float kernels on arguments of the result's dtype; other dtypes are refused. 16-bit floats are
// computed by h or, where it is empty, by f32 on converted blocks.
func floats1(c *Ctx, name string, i int, h vec.Unary16, f32 func(d, a []float32), f64 func(d, a []float64)) {
	out := c.Out(0)
	dt := out.DType()
	if k := half16(dt, c.T(i)); k >= 0 && h[k] != nil {
		run1(out, c.T(i), dt, dt, h[k])
		return
	}
	switch as := dt.Compute(); as {
	case tensor.Float32:
		run1(out, c.T(i), as, as, f32)
	case tensor.Float64:
		run1(out, c.T(i), as, as, f64)
	default:
		missing(c, name, dt)
	}
}

func floats2(c *Ctx, name string, i, j int, h vec.Binary16, f32 func(d, a, b []float32), f64 func(d, a, b []float64)) {
	out := c.Out(0)
	dt := out.DType()
	if k := half16(dt, c.T(i), c.T(j)); k >= 0 && h[k] != nil {
		run2(out, c.T(i), c.T(j), dt, dt, dt, h[k])
		return
	}
	switch as := dt.Compute(); as {
	case tensor.Float32:
		run2(out, c.T(i), c.T(j), as, as, as, f32)
	case tensor.Float64:
		run2(out, c.T(i), c.T(j), as, as, as, f64)
	default:
		missing(c, name, dt)
	}
}

// none1 and none2 say that 16-bit floats have no kernels of their own.
var (
	none1 vec.Unary16
	none2 vec.Binary16
)

// with1 and with2 give the kernels of 16-bit floats a number.
func with1(k vec.Scalar16, s float64) vec.Unary16 {
	return vec.Unary16{func(d, a []uint16) { k[0](d, a, float32(s)) }, func(d, a []uint16) { k[1](d, a, float32(s)) }}
}

func with2(f16, bf16 func(d, g, x []uint16, s float32), s float64) vec.Binary16 {
	return vec.Binary16{func(d, g, x []uint16) { f16(d, g, x, float32(s)) },
		func(d, g, x []uint16) { bf16(d, g, x, float32(s)) }}
}

// sameInfer allocates a result like argument i.
func sameInfer(i int) func(c *Ctx) {
	return func(c *Ctx) { c.Alloc(0, c.Shape(i), c.ArgDType(i)) }
}

// activation registers a function of one tensor and numbers, with its in-place form.
//
//gen:activation InPlace Out
func activation(schema, doc string, cpu func(c *Ctx), x tensor.Def) {
	x.Schema, x.Doc, x.CPU, x.InPlace, x.Out, x.Elementwise = schema, doc, cpu, true, true, true
	x.Infer = sameInfer(0)
	tensor.Register(x)
}

// gradient registers the gradient of an activation as an operator of its own: arguments 0 (the gradient) and j.
//
//gen:gradient
func gradient(schema, doc string, j int, cpu func(c *Ctx), x tensor.Def) {
	x.Schema, x.Doc, x.CPU, x.Elementwise, x.Go = schema, doc, cpu, true, "-"
	x.Infer = func(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, j), c.PromoteArgs(0, j)) }
	tensor.Register(x)
}

// backwardCall looks up the gradient of an activation, which may not be registered yet.
func backwardCall(name string) func(args ...tensor.Value) *T {
	op := tensor.Slot("aten::" + name)
	return func(args ...tensor.Value) *T { return call(op, args...) }
}

var reluKernels = unK{name: "relu", u8: reluI[uint8], i8: reluI[int8], i16: reluI[int16], i32: reluI[int32],
	i64: reluI[int64], f32: vec.ReLUF32, f64: vec.ReLUF64, h: vec.ReLU16}

// The loops below are for float64, or for both where the vector package has no kernel.

func sigmoidBackwardC[E complex64 | complex128](d, g, y []E) {
	for i := range d {
		t := (1 - y[i]) * y[i]
		d[i] = g[i] * conj1(t)
	}
}

func tanhBackwardC[E complex64 | complex128](d, g, y []E) {
	for i := range d {
		d[i] = g[i] * conj1(1-y[i]*y[i])
	}
}

func conj1[E complex64 | complex128](x E) E {
	z := complex128(x)
	return E(complex(real(z), -imag(z)))
}

var (
	sigmoidBackwardKernels = biK{name: "sigmoid_backward", h: vec.SigmoidBackward16, f32: vec.SigmoidBackwardF32,
		f64: vec.SigmoidBackwardF64, c64: sigmoidBackwardC[complex64], c128: sigmoidBackwardC[complex128]}
	tanhBackwardKernels = biK{name: "tanh_backward", h: vec.TanhBackward16, f32: vec.TanhBackwardF32,
		f64: vec.TanhBackwardF64, c64: tanhBackwardC[complex64], c128: tanhBackwardC[complex128]}
)

const (
	geluBeta  = math.Sqrt2 * twoSqrtPi * 0.5
	geluKappa = 0.044715
)

func siluC(x complex128) complex128 { return divC(x, 1+expC(-x)) }

func siluBackwardC[E complex64 | complex128](d, g, x []E) {
	for i := range d {
		z := complex128(x[i])
		s := sigmoidC(z)
		d[i] = g[i] * E(conj1(s*(1+z*(1-s))))
	}
}

var (
	siluKernels         = unK{name: "silu", h: vec.SiLU16, f32: vec.SiLUF32, f64: vec.SiLUF64, c128: c128of(siluC)}
	siluBackwardKernels = biK{name: "silu_backward", h: vec.SiLUBackward16, f32: vec.SiLUBackwardF32,
		f64: vec.SiLUBackwardF64, c64: siluBackwardC[complex64], c128: siluBackwardC[complex128]}
)

func thresholdK[E realNumber](t, v E) func(d, a []E) {
	return func(d, a []E) {
		for i, x := range a[:len(d)] {
			if x <= t {
				x = v
			}
			d[i] = x
		}
	}
}

func thresholdBackK[E realNumber](t E) func(d, g, a []E) {
	return func(d, g, a []E) {
		for i, x := range a[:len(d)] {
			if x <= t {
				d[i] = 0
			} else {
				d[i] = g[i]
			}
		}
	}
}

// eluK makes the kernel of elu, which takes no exponentials of blocks that are all positive.
func eluK[E float](elu func(d, a []E, alpha, scale, in E), least func(a []E) E, mul func(d, a []E, s E), alpha, scale,
	in float64) func(d, a []E) {
	return func(d, a []E) {
		const block = 1024
		for len(d) > 0 {
			n := min(len(d), block)
			if x := a[:n]; x[0] > 0 && x[n/2] > 0 && x[n-1] > 0 && least(x) > 0 {
				mul(d[:n], x, E(scale))
			} else {
				elu(d[:n], x, E(alpha), E(scale), E(in))
			}
			d, a = d[n:], a[n:]
		}
	}
}

// eluBackK is the gradient given the result.
func eluBackK[E float](alpha, scale, in float64) func(d, g, a []E) {
	neg := alpha * scale
	return func(d, g, a []E) {
		for i, x := range a[:len(d)] {
			switch {
			case x <= 0:
				d[i] = E(float64(g[i]) * in * (float64(x) + neg))
			default:
				d[i] = g[i] * E(scale)
			}
		}
	}
}

func init() {
	var (
		thresholdBackward   = backwardCall("threshold_backward")
		geluBackward        = backwardCall("gelu_backward")
		siluBackward        = backwardCall("silu_backward")
		mishBackward        = backwardCall("mish_backward")
		eluBackward         = backwardCall("elu_backward")
		leakyBackward       = backwardCall("leaky_relu_backward")
		hardtanhBackward    = backwardCall("hardtanh_backward")
		hardsigmoidBackward = backwardCall("hardsigmoid_backward")
		hardswishBackward   = backwardCall("hardswish_backward")
		hardshrinkBackward  = backwardCall("hardshrink_backward")
		softshrinkBackward  = backwardCall("softshrink_backward")
		softplusBackward    = backwardCall("softplus_backward")
		logSigmoidBackward  = backwardCall("log_sigmoid_backward")
	)
	activation("relu(Tensor self) -> Tensor", "is max(self, 0).",
		func(c *Ctx) { reluKernels.run(c, c.Out(0), c.T(0), c.Out(0).DType()) },
		tensor.Def{Plain: &tensor.Plain{Un32: reluKernels.f32, Un64: reluKernels.f64}, Save: "result",
			VJP: rule(func(c *Ctx, g *T) *T { return thresholdBackward(tv(g), tv(c.Out(0)), tensor.IntValue(0)) })})
	activation("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
		"is self where self > threshold and value elsewhere.", func(c *Ctx) {
			t, v := c.Num(1), c.Num(2)
			out, a := c.Out(0), c.T(0)
			switch as := out.DType().Compute(); as {
			case tensor.Float32:
				s, r := float32(t.F), float32(v.F)
				run1(out, a, as, as, func(d, a []float32) { vec.ThresholdF32(d, a, s, r) })
			case tensor.Float64:
				run1(out, a, as, as, func(d, a []float64) { vec.ThresholdF64(d, a, t.F, v.F) })
			case tensor.Int64:
				run1(out, a, as, as, thresholdK(t.I, v.I))
			case tensor.Int32:
				run1(out, a, as, as, thresholdK(int32(t.I), int32(v.I)))
			case tensor.Int16:
				run1(out, a, as, as, thresholdK(int16(t.I), int16(v.I)))
			case tensor.Int8:
				run1(out, a, as, as, thresholdK(int8(t.I), int8(v.I)))
			case tensor.Uint8:
				run1(out, a, as, as, thresholdK(uint8(t.I), uint8(v.I)))
			default:
				missing(c, "threshold", out.DType())
			}
		}, tensor.Def{Save: "self", VJP: rule(func(c *Ctx,
			g *T) *T {
			return thresholdBackward(tv(g), tv(c.T(0)), c.Value(1))
		})})
	gradient("threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
		"is grad_output where self > threshold and 0 elsewhere.", 1, func(c *Ctx) {
			t := c.Num(2)
			out, g, a := c.Out(0), c.T(0), c.T(1)
			dt := out.DType()
			if h := half16(dt, g, a); h >= 0 {
				k, s := [2]func(d, g, x []uint16, s float32){vec.ThresholdBackwardF16, vec.ThresholdBackwardBF16}[h],
					float32(t.F)
				run2(out, g, a, dt, dt, dt, func(d, g, x []uint16) { k(d, g, x, s) })
				return
			}
			switch as := out.DType().Compute(); as {
			case tensor.Float32:
				s := float32(t.F)
				run2(out, g, a, as, as, as, func(d, g, x []float32) { vec.ThresholdBackwardF32(d, g, x, s) })
			case tensor.Float64:
				run2(out, g, a, as, as, as, func(d, g, x []float64) { vec.ThresholdBackwardF64(d, g, x, t.F) })
			case tensor.Int64:
				run2(out, g, a, as, as, as, thresholdBackK(t.I))
			default:
				missing(c, "threshold", out.DType())
			}
		}, tensor.Def{Save: "self", VJP: func(c *Ctx, g *T) []*T {
			return []*T{thresholdBackward(tv(g), tv(c.T(1)), c.Value(2)), op.Zeros(g, c.Shape(1), c.ArgDType(1))}
		}})

	gradient("sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", "is grad_output * output * (1 - output).",
		1,
		func(c *Ctx) { sigmoidBackwardKernels.run(c, 0, 1) },
		tensor.Def{Save: "grad_output output", VJP: func(c *Ctx, g *T) []*T {
			y := c.T(1)
			r := []*T{call(opSigmoidBackward, tv(g), tv(y.Conj())), nil}
			if c.Needs(1) {
				r[1] = g.Mul(c.T(0).Conj()).Mul(y.MulScalar(-2).AddScalar(1)).Conj()
			}
			return r
		}})
	gradient("tanh_backward(Tensor grad_output, Tensor output) -> Tensor", "is grad_output * (1 - output²).", 1,
		func(c *Ctx) { tanhBackwardKernels.run(c, 0, 1) },
		tensor.Def{Save: "grad_output output", VJP: func(c *Ctx, g *T) []*T {
			y := c.T(1)
			r := []*T{call(opTanhBackward, tv(g), tv(y.Conj())), nil}
			if c.Needs(1) {
				r[1] = g.Mul(y.MulScalar(-2).Mul(c.T(0).Conj())).Conj()
			}
			return r
		}})

	checkGELU := func(c *Ctx, i int) bool {
		switch s := c.Str(i); s {
		case "none":
			return false
		case "tanh":
			return true
		default:
			c.Fail(tensor.ErrValue, "approximate argument must be either none or tanh.")
		}
		return false
	}
	tensor.Register(tensor.Def{
		Schema: "gelu(Tensor self, *, str approximate=\"none\") -> Tensor",
		Doc: "is self * Φ(self), Φ being the normal distribution's function; with approximate \"tanh\" an " +
			"approximation of it.\n" +
			"https://pytorch.org/docs/stable/generated/torch.nn.functional.gelu.html",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) { checkGELU(c, 1); c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			if c.Str(1) == "tanh" {
				floats1(c, "GeluKernelImpl", 0, vec.GELUTanh16, vec.GELUTanhF32, vec.GELUTanhF64)
			} else {
				floats1(c, "GeluKernelImpl", 0, vec.GELU16, vec.GELUF32, vec.GELUF64)
			}
		},
		Save: "self",
		VJP:  rule(func(c *Ctx, g *T) *T { return geluBackward(tv(g), tv(c.T(0)), c.Value(1)) }),
	})
	gradient("gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
		"is the gradient of gelu.", 1, func(c *Ctx) {
			if checkGELU(c, 2) {
				floats2(c, "GeluBackwardKernelImpl", 0, 1, vec.GELUTanhBackward16, vec.GELUTanhBackwardF32,
					vec.GELUTanhBackwardF64)
			} else {
				floats2(c, "GeluBackwardKernelImpl", 0, 1, vec.GELUBackward16, vec.GELUBackwardF32, vec.GELUBackwardF64)
			}
		}, tensor.Def{Save: "grad_output self", VJP: func(c *Ctx, g *T) []*T {
			x := c.T(1)
			r := []*T{geluBackward(tv(g), tv(x), c.Value(2)), nil}
			if !c.Needs(1) {
				return r
			}
			gg := g.Mul(c.T(0))
			if c.Str(2) == "none" {
				// second derivative: pdf(x) (2 - x²)
				pdf := x.Mul(x).MulScalar(-0.5).Exp().MulScalar(twoSqrtPi * math.Sqrt2 / 4)
				r[1] = gg.Mul(pdf.Mul(x.Mul(x).Neg().AddScalar(2)))
				return r
			}
			// u = beta (x + kappa x³), y = x (1 + tanh u) / 2
			x2 := x.Mul(x)
			u := x2.MulScalar(geluKappa).AddScalar(1).Mul(x).MulScalar(geluBeta)
			du := x2.MulScalar(3 * geluKappa).AddScalar(1).MulScalar(geluBeta)
			ddu := x.MulScalar(6 * geluKappa * geluBeta)
			t := u.Tanh()
			s := t.Mul(t).Neg().AddScalar(1)
			// y'' = s u' + x/2 (s u'' - 2 t s u'²)
			r[1] = gg.Mul(s.Mul(du).Add(x.MulScalar(0.5).Mul(s.Mul(ddu).Sub(t.Mul(s).Mul(du.Mul(du)).MulScalar(2)))))
			return r
		}})

	activation("silu(Tensor self) -> Tensor", "is self * sigmoid(self), also called swish.",
		func(c *Ctx) { siluKernels.run(c, c.Out(0), c.T(0), c.Out(0).DType()) },
		tensor.Def{Save: "self", VJP: rule(func(c *Ctx, g *T) *T { return siluBackward(tv(g), tv(c.T(0))) })})
	gradient("silu_backward(Tensor grad_output, Tensor self) -> Tensor", "is the gradient of silu.", 1,
		func(c *Ctx) { siluBackwardKernels.run(c, 0, 1) },
		tensor.Def{Save: "grad_output self", VJP: func(c *Ctx, g *T) []*T {
			x := c.T(1)
			r := []*T{siluBackward(tv(g), tv(x)), nil}
			if c.Needs(1) {
				// s' (2 + x (1 - 2s)) with s' = s (1 - s)
				s := x.Sigmoid()
				r[1] = g.Mul(c.T(0)).Mul(s.Mul(s.Neg().AddScalar(1)).Mul(x.Mul(s.MulScalar(-2).AddScalar(1)).AddScalar(2)))
			}
			return r
		}})
	activation("mish(Tensor self) -> Tensor", "is self * tanh(softplus(self)).",
		func(c *Ctx) { floats1(c, "mish", 0, vec.Mish16, vec.MishF32, vec.MishF64) },
		tensor.Def{Save: "self", VJP: rule(func(c *Ctx, g *T) *T { return mishBackward(tv(g), tv(c.T(0))) })})
	gradient("mish_backward(Tensor grad_output, Tensor self) -> Tensor", "is the gradient of mish.", 1,
		func(c *Ctx) { floats2(c, "mish_backward", 0, 1, none2, vec.MishBackwardF32, vec.MishBackwardF64) },
		tensor.Def{Save: "grad_output self", VJP: func(c *Ctx, g *T) []*T {
			x := c.T(1)
			r := []*T{mishBackward(tv(g), tv(x)), nil}
			if c.Needs(1) {
				s, t := x.Sigmoid(), x.Softplus().Tanh()
				w := t.Mul(t).Neg().AddScalar(1) // dt = w s
				// y'' = 2 w s + x w s (1 - s - 2 t s)
				in := s.Neg().AddScalar(1).Sub(t.Mul(s).MulScalar(2))
				r[1] = g.Mul(c.T(0)).Mul(w.Mul(s).Mul(x.Mul(in).AddScalar(2)))
			}
			return r
		}})

	eluBody := func(c *Ctx, alpha, scale, in float64) {
		floats1(c, "elu", 0, none1, eluK(vec.ELUF32, vec.MinF32, vec.MulScalarF32, alpha, scale, in),
			eluK(vec.ELUF64, vec.MinF64, vec.MulScalarF64, alpha, scale, in))
	}
	eluGrad := func(c *Ctx, g *T, alpha, scale, in tensor.Value) []*T {
		// the result decides the sign only for alpha >= 0
		if c.Op().IsInPlace() {
			if alpha.Num().F < 0 {
				c.Fail(tensor.ErrAutograd,
					"In-place elu backward calculation is triggered with a negative slope which is not supported. "+
						"This is caused by calling in-place forward function with a negative slope, please call "+
						"out-of-place version instead.")
			}
		}
		return []*T{eluBackward(tv(g), alpha, scale, in, tensor.BoolValue(false), tv(c.T(0)))}
	}
	activation("elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
		"is scale * self where self > 0 and scale * alpha * (exp(input_scale * self) - 1) elsewhere.",
		func(c *Ctx) { eluBody(c, c.Num(1).F, c.Num(2).F, c.Num(3).F) },
		tensor.Def{Save: "self", VJP: func(c *Ctx,
			g *T) []*T {
			return eluGrad(c, g, c.Value(1), c.Value(2), c.Value(3))
		}})
	const seluAlpha, seluScale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
	// PyTorch composes selu of elu, which names the gradient's node; the kernel saves a call.
	opELU, opELUInPlace := tensor.Slot("aten::elu"), tensor.Slot("aten::elu_")
	selu := func(elu *tensor.Op) func(c *Ctx) {
		return func(c *Ctx) {
			c.Return(call(elu, tv(c.T(0)), tensor.FloatValue(seluAlpha), tensor.FloatValue(seluScale),
				tensor.IntValue(1)))
		}
	}
	tensor.Register(tensor.Def{
		Schema: "selu(Tensor self) -> Tensor", Doc: "is the self-normalizing exponential linear unit.\n" + activations +
			"selu.html",
		Elementwise: true,
		Body:        selu(opELU),
		Infer:       sameInfer(0),
		CPU:         func(c *Ctx) { eluBody(c, seluAlpha, seluScale, 1) },
		Save:        "self",
		VJP: func(c *Ctx, g *T) []*T {
			return eluGrad(c, g, tensor.FloatValue(seluAlpha), tensor.FloatValue(seluScale), tensor.IntValue(1))
		},
		Grad: "EluBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "selu_(Tensor(a!) self) -> Tensor(a!)", Doc: "is SELU written to the tensor itself, which is returned.",
		Go: "SELUInPlace", Body: selu(opELUInPlace),
	})
	tensor.Register(tensor.Def{
		Schema:  "celu(Tensor self, Scalar alpha=1.) -> Tensor",
		Doc:     "is max(0, self) + min(0, alpha * (exp(self / alpha) - 1)).",
		InPlace: true, Elementwise: true,
		Infer: func(c *Ctx) {
			if c.Num(1).F == 0 {
				c.Fail(tensor.ErrValue, "ZeroDivisionError: alpha cannot be 0 for CELU")
			}
			c.Alloc(0, c.Shape(0), c.ArgDType(0))
		},
		CPU:  func(c *Ctx) { a := c.Num(1).F; eluBody(c, a, 1, 1/a) },
		Save: "self",
		VJP: func(c *Ctx, g *T) []*T {
			return eluGrad(c, g, c.Value(1), tensor.IntValue(1), tensor.FloatValue(1/c.Num(1).F))
		},
	})
	gradient("elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result) -> Tensor", "is the gradient of elu.", 5, func(c *Ctx) {
		a, s, in, r := c.Num(1).F, c.Num(2).F, c.Num(3).F, c.Bool(4)
		f32, f64 := eluBackK[float32](a, s, in), eluBackK[float64](a, s, in)
		if !r {
			f32 = func(d, g, x []float32) { vec.ELUBackwardF32(d, g, x, float32(a), float32(s), float32(in)) }
			f64 = func(d, g, x []float64) { vec.ELUBackwardF64(d, g, x, a, s, in) }
		}
		floats2(c, "elu_backward", 0, 5, none2, f32, f64)
	}, tensor.Def{Save: "grad_output self_or_result", VJP: func(c *Ctx, g *T) []*T {
		x := c.T(5)
		r := []*T{eluBackward(tv(g), c.Value(1), c.Value(2), c.Value(3), c.Value(4), tv(x)), nil}
		if c.Needs(1 + 4) {
			a, s, in := c.Num(1).F, c.Num(2).F, c.Num(3).F
			d := g.Mul(c.T(0)).MulScalar(in)
			if !c.Bool(4) {
				d = d.MulScalar(in * a * s).Mul(x.MulScalar(in).Exp())
			}
			r[1] = keepIf(x.LtScalar(0), d)
		}
		return r
	}})

	activation("leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
		"is self where self > 0 and negative_slope * self elsewhere.", func(c *Ctx) {
			s := c.Num(1).F
			floats1(c, "leaky_relu", 0, with1(vec.LeakyReLU16, s),
				func(d, a []float32) { vec.LeakyReLUF32(d, a, float32(s)) },
				func(d, a []float64) { vec.LeakyReLUF64(d, a, s) })
		}, tensor.Def{Save: "self", VJP: rule(func(c *Ctx, g *T) *T {
			if c.Op().IsInPlace() && c.Num(1).F < 0 {
				c.Fail(tensor.ErrAutograd, "In-place leakyReLu backward calculation is triggered with a negative slope "+
					"which is not supported. This is caused by calling in-place forward function with a negative slope, "+
					"please call out-of-place version instead.")
			}
			return leakyBackward(tv(g), tv(c.T(0)), c.Value(1), tensor.BoolValue(false))
		})})
	gradient("leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor", "is the gradient of leaky_relu.", 1, func(c *Ctx) {
		s := c.Num(2).F
		floats2(c, "leaky_relu_backward", 0, 1, with2(vec.LeakyReLUBackwardF16, vec.LeakyReLUBackwardBF16, s),
			func(d, g, x []float32) { vec.LeakyReLUBackwardF32(d, g, x, float32(s)) },
			func(d, g, x []float64) { vec.LeakyReLUBackwardF64(d, g, x, s) })
	}, tensor.Def{Save: "self", VJP: func(c *Ctx, g *T) []*T {
		return []*T{leakyBackward(tv(g), tv(c.T(1)), c.Value(2), tensor.BoolValue(false)),
			op.Zeros(g, c.Shape(1), c.ArgDType(1))}
	}})

	tensor.Register(tensor.Def{
		Schema:  "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
		Doc:     "limits every element to [min_val, max_val].",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			dt := c.ArgDType(0)
			if dt == tensor.Bool {
				c.Fail(tensor.ErrDType, "Bool inputs not supported for hardtanh")
			}
			if dt == tensor.Uint8 && c.Num(2).F < 0 {
				c.Fail(tensor.ErrValue, "Clamp max value %v is outside the representable range of Byte", c.Num(2).F)
			}
			c.Alloc(0, c.Shape(0), dt)
		},
		CPU:  func(c *Ctx) { clampNumbers(c, 1, 2) },
		Save: "self",
		// in-place calls need no copy of what was there before: the result lies between the limits, as its dtype has
		// them, where self does
		SaveInPlace: "result",
		VJP: rule(func(c *Ctx, g *T) *T {
			if c.Op().IsInPlace() {
				y := c.Out(0)
				limit := func(i int) tensor.Value { return tensor.FloatValue(half.Round(c.Num(i).F, y.DType())) }
				return hardtanhBackward(tv(g), tv(y), limit(1), limit(2))
			}
			return hardtanhBackward(tv(g), tv(c.T(0)), c.Value(1), c.Value(2))
		}),
	})
	gradient("hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
		"is grad_output where min_val < self < max_val and 0 elsewhere.", 1, func(c *Ctx) {
			lo, hi := c.Num(2).F, c.Num(3).F
			floats2(c, "hardtanh_backward", 0, 1, vec.Binary16{
				func(d, g, x []uint16) { vec.HardTanhBackwardF16(d, g, x, float32(lo), float32(hi)) },
				func(d, g, x []uint16) { vec.HardTanhBackwardBF16(d, g, x, float32(lo), float32(hi)) },
			}, func(d, g, x []float32) { vec.HardTanhBackwardF32(d, g, x, float32(lo), float32(hi)) },
				func(d, g, x []float64) { vec.HardTanhBackwardF64(d, g, x, lo, hi) })
		}, tensor.Def{Save: "self", VJP: func(c *Ctx, g *T) []*T {
			return []*T{hardtanhBackward(tv(g), tv(c.T(1)), c.Value(2), c.Value(3)), op.Zeros(g, c.Shape(1), c.ArgDType(1))}
		}})
	relu6 := func(hardtanh *tensor.Op) func(c *Ctx) {
		return func(c *Ctx) { c.Return(call(hardtanh, tv(c.T(0)), tensor.IntValue(0), tensor.IntValue(6))) }
	}
	tensor.Register(tensor.Def{Schema: "relu6(Tensor self) -> Tensor", Doc: "is min(max(self, 0), 6).",
		Body: relu6(tensor.Slot("aten::hardtanh"))})
	tensor.Register(tensor.Def{
		Schema: "relu6_(Tensor(a!) self) -> Tensor(a!)",
		Doc:    "is ReLU6 written to the tensor itself, which is returned.", Go: "ReLU6InPlace",
		Body: relu6(tensor.Slot("aten::hardtanh_")),
	})
	activation("hardsigmoid(Tensor self) -> Tensor", "is min(max(self + 3, 0), 6) / 6.",
		func(c *Ctx) { floats1(c, "hardsigmoid", 0, vec.Hardsigmoid16, vec.HardsigmoidF32, vec.HardsigmoidF64) },
		tensor.Def{Save: "self", VJP: rule(func(c *Ctx, g *T) *T { return hardsigmoidBackward(tv(g), tv(c.T(0))) })})
	gradient("hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
		"is grad_output / 6 where -3 < self < 3 and 0 elsewhere.", 1,
		func(c *Ctx) {
			floats2(c, "hardsigmoid_backward", 0, 1, vec.HardsigmoidBackward16, vec.HardsigmoidBackwardF32,
				vec.HardsigmoidBackwardF64)
		},
		tensor.Def{Save: "self", VJP: func(c *Ctx, g *T) []*T {
			return []*T{hardsigmoidBackward(tv(g), tv(c.T(1))), op.Zeros(g, c.Shape(1), c.ArgDType(1))}
		}})
	activation("hardswish(Tensor self) -> Tensor", "is self * min(max(self + 3, 0), 6) / 6.",
		func(c *Ctx) { floats1(c, "hardswish", 0, vec.Hardswish16, vec.HardswishF32, vec.HardswishF64) },
		tensor.Def{Save: "self", VJP: rule(func(c *Ctx, g *T) *T { return hardswishBackward(tv(g), tv(c.T(0))) })})
	gradient("hardswish_backward(Tensor grad_output, Tensor self) -> Tensor", "is the gradient of hardswish.", 1,
		func(c *Ctx) {
			floats2(c, "hardswish_backward", 0, 1, vec.HardswishBackward16, vec.HardswishBackwardF32,
				vec.HardswishBackwardF64)
		},
		tensor.Def{Save: "grad_output self", VJP: func(c *Ctx, g *T) []*T {
			x := c.T(1)
			in := x.GtScalar(-3).LogicalAnd(x.LtScalar(3))
			return []*T{hardswishBackward(tv(g), tv(x)), keepIf(in, g.Mul(c.T(0)).DivScalar(3))}
		}})
	activation("hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
		"is 0 where -lambd <= self <= lambd and self elsewhere.", func(c *Ctx) {
			l := c.Num(1).F
			floats1(c, "hardshrink", 0, with1(vec.HardShrink16, l),
				func(d, a []float32) { vec.HardShrinkF32(d, a, float32(l)) },
				func(d, a []float64) { vec.HardShrinkF64(d, a, l) })
		}, tensor.Def{FormNames: "_=-", Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { return hardshrinkBackward(tv(g), tv(c.T(0)), c.Value(1)) })})
	gradient("hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
		"is 0 where -lambd <= self <= lambd and grad_out elsewhere.", 1, func(c *Ctx) {
			l := c.Num(2).F
			floats2(c, "hardshrink_backward", 0, 1, with2(vec.ShrinkBackwardF16, vec.ShrinkBackwardBF16, l),
				func(d, g, x []float32) { vec.ShrinkBackwardF32(d, g, x, float32(l)) },
				func(d, g, x []float64) { vec.ShrinkBackwardF64(d, g, x, l) })
		}, tensor.Def{Save: "self", VJP: func(c *Ctx, g *T) []*T {
			return []*T{hardshrinkBackward(tv(g), tv(c.T(1)), c.Value(2)), op.Zeros(g, c.Shape(1), c.ArgDType(1))}
		}})
	tensor.Register(tensor.Def{
		Schema: "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
		Doc:    "moves every element towards 0 by lambd, stopping there.", Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			dt := c.ArgDType(0)
			if l := c.Num(1).F; dt.IsFloat() && !(l >= 0 && l <= maxFinite(dt)) {
				c.Fail(tensor.ErrValue, "lambda must be in range [0, %g] for input dtype %s, but found %g",
					maxFinite(dt), dt.ClassName(), l)
			}
			c.Alloc(0, c.Shape(0), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			l := c.Num(1).F
			floats1(c, "softshrink", 0, with1(vec.SoftShrink16, l),
				func(d, a []float32) { vec.SoftShrinkF32(d, a, float32(l)) },
				func(d, a []float64) { vec.SoftShrinkF64(d, a, l) })
		},
		Save: "self",
		VJP:  rule(func(c *Ctx, g *T) *T { return softshrinkBackward(tv(g), tv(c.T(0)), c.Value(1)) }),
	})
	gradient("softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
		"is 0 where -lambd <= self <= lambd and grad_output elsewhere.", 1, func(c *Ctx) {
			l := c.Num(2).F
			floats2(c, "softshrink_backward", 0, 1, with2(vec.ShrinkBackwardF16, vec.ShrinkBackwardBF16, l),
				func(d, g, x []float32) { vec.ShrinkBackwardF32(d, g, x, float32(l)) },
				func(d, g, x []float64) { vec.ShrinkBackwardF64(d, g, x, l) })
		}, tensor.Def{Save: "self", VJP: func(c *Ctx, g *T) []*T {
			return []*T{softshrinkBackward(tv(g), tv(c.T(1)), c.Value(2)), op.Zeros(g, c.Shape(1), c.ArgDType(1))}
		}})
	tensor.Register(tensor.Def{
		Schema: "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
		Doc:    "is log(1 + exp(beta * self)) / beta, and self itself where beta * self > threshold.", Out: true,
		Elementwise: true,
		Infer:       sameInfer(0),
		CPU: func(c *Ctx) {
			b, t := c.Num(1).F, c.Num(2).F
			floats1(c, "softplus", 0, none1, func(d, a []float32) { vec.SoftplusF32(d, a, float32(b), float32(t)) },
				func(d, a []float64) { vec.SoftplusF64(d, a, b, t) })
		},
		Save: "self",
		VJP:  rule(func(c *Ctx, g *T) *T { return softplusBackward(tv(g), tv(c.T(0)), c.Value(1), c.Value(2)) }),
	})
	gradient("softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
		"is the gradient of softplus.", 1, func(c *Ctx) {
			b, t := c.Num(2).F, c.Num(3).F
			floats2(c, "softplus_backward", 0, 1, none2,
				func(d, g, x []float32) { vec.SoftplusBackwardF32(d, g, x, float32(b), float32(t)) },
				func(d, g, x []float64) { vec.SoftplusBackwardF64(d, g, x, b, t) })
		}, tensor.Def{Save: "grad_output self", VJP: func(c *Ctx, g *T) []*T {
			x := c.T(1)
			r := []*T{softplusBackward(tv(g), tv(x), c.Value(2), c.Value(3)), nil}
			if c.Needs(1) {
				b := c.Num(2)
				z := x.MulScalar(b)
				s := z.Sigmoid()
				r[1] = keepIf(z.LeScalar(c.Num(3)), g.Mul(c.T(0)).Mul(s).Mul(s.Neg().AddScalar(1)).MulScalar(b))
			}
			return r
		}})
	tensor.Register(tensor.Def{
		Schema: "log_sigmoid(Tensor self) -> Tensor", Doc: "is log(sigmoid(self)).", Out: true,
		Infer: sameInfer(0),
		CPU:   func(c *Ctx) { floats1(c, "log_sigmoid", 0, none1, vec.LogSigmoidF32, vec.LogSigmoidF64) },
		Save:  "self",
		VJP:   rule(func(c *Ctx, g *T) *T { x := c.T(0); return logSigmoidBackward(tv(g), tv(x), tv(x)) }),
	})
	gradient("log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
		"is grad_output * sigmoid(-self); the buffer is not read.", 1, func(c *Ctx) {
			floats2(c, "log_sigmoid_backward", 0, 1, none2, vec.LogSigmoidBackwardF32, vec.LogSigmoidBackwardF64)
		}, tensor.Def{Save: "grad_output self", VJP: func(c *Ctx, g *T) []*T {
			x := c.T(1)
			r := []*T{g.Mul(x.Neg().Sigmoid()), nil, nil}
			if c.Needs(1) {
				s := x.Sigmoid()
				r[1] = g.Mul(c.T(0)).Mul(s.Mul(s.SubScalar(1)))
			}
			return r
		}})
}

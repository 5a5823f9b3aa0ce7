package pointwise

import (
	"math"
	"math/cmplx"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// unary registers a function of one tensor that keeps its dtype.
//
//gen:unary InPlace Out Plain
func unary(schema, doc string, k *unK, x tensor.Def) {
	unaryAs(schema, doc, k, func(dt DType) DType { return dt }, x)
}

// floatUnary registers a function of one tensor whose result is never integer.
//
//gen:floatUnary InPlace Out Plain
func floatUnary(schema, doc string, k *unK, x tensor.Def) { unaryAs(schema, doc, k, floatType, x) }

// floatOnly is floatUnary without an in-place form.
//
//gen:floatOnly Out Plain
func floatOnly(schema, doc string, k *unK, x tensor.Def) {
	registerUnary(schema, doc, k, floatType, false, x)
}

func unaryAs(schema, doc string, k *unK, result func(DType) DType, x tensor.Def) {
	registerUnary(schema, doc, k, result, true, x)
}

func registerUnary(schema, doc string, k *unK, result func(DType) DType, inPlace bool, x tensor.Def) {
	x.Schema, x.Doc, x.InPlace, x.Out, x.Elementwise = schema, doc, inPlace, true, true
	x.Infer = func(c *Ctx) { c.Alloc(0, c.Shape(0), result(c.ArgDType(0))) }
	x.CPU = func(c *Ctx) {
		dt := c.Out(0).DType()
		k.run(c, c.Out(0), c.T(0), dt)
	}
	if k.f32 != nil && k.f64 != nil {
		x.Plain = &tensor.Plain{Un32: k.f32, Un64: k.f64}
	}
	if x.VJP == nil && x.NoGrad == "" {
		panic("pointwise: no gradient rule for " + schema)
	}
	tensor.Register(x)
}

// rule makes a gradient rule of the gradient for the first argument.
func rule(f func(c *Ctx, g *T) *T) func(c *Ctx, g *T) []*T {
	return func(c *Ctx, g *T) []*T { return c.Grads1(f(c, g)) }
}

// self makes a Def whose gradient reads the argument.
func self(f func(g, x *T) *T) tensor.Def {
	return tensor.Def{Save: "self", VJP: func(c *Ctx, g *T) []*T { return c.Grads1(f(g, c.T(0))) }}
}

// result makes a Def whose gradient reads the result.
func result(f func(g, y *T) *T) tensor.Def {
	return tensor.Def{Save: "result", VJP: func(c *Ctx, g *T) []*T { return c.Grads1(f(g, c.Out(0))) }}
}

// flat is a Def of a piecewise constant function.
func flat() tensor.Def {
	return tensor.Def{VJP: func(c *Ctx, g *T) []*T { return []*T{g.ZerosLike()} }}
}

// asPairs makes a kernel of complex numbers from one of their parts.
func asPairs[E float, C complex64 | complex128](k func(d, a []E)) func(d, a []C) {
	return func(d, a []C) {
		if len(d) > 0 {
			k(pairs[E](d, 0, len(d)), pairs[E](a, 0, len(d)))
		}
	}
}

func copyK[E any](d, a []E) { copy(d, a) }

func squareI[E vec.Integer](d, a []E) { vec.MulInt(d, a, a) }

func squareC64(d, a []complex64) { vec.MulC64(d, a, a) }

func squareC128(d, a []complex128) { vec.MulC128(d, a, a) }

func signI[E integer](d, a []E) {
	lo, hi := E(0)-1, E(1)
	if lo > 0 { // unsigned
		lo = 0
	}
	clampI(&lo, &hi)(d, a)
}

func expC(x complex128) complex128 {
	r, i := real(x), imag(x)
	if i == 0 {
		return complex(math.Exp(r), i)
	}
	if math.IsInf(r, -1) {
		if math.IsInf(i, 0) || math.IsNaN(i) {
			return 0
		}
	}
	if math.IsInf(r, 1) && (math.IsInf(i, 0) || math.IsNaN(i)) {
		return complex(r, math.NaN())
	}
	s, c := math.Sincos(i)
	e := math.Exp(r)
	return complex(e*c, e*s)
}

// sinhC is the hyperbolic sine, whose sign at infinity the C library takes to be positive where it has no direction.
func sinhC(x complex128) complex128 {
	if i := imag(x); math.IsInf(real(x), 0) && (math.IsInf(i, 0) || math.IsNaN(i)) {
		return complex(math.Inf(1), math.NaN())
	}
	return cmplx.Sinh(x)
}

func log1pC(x complex128) complex128 {
	// log|1+x| = log1p(2 re + |x|²)/2 keeps the digits of small x
	r, i := real(x), imag(x)
	if math.Abs(r) < 0.5 && math.Abs(i) < 0.5 {
		return complex(0.5*math.Log1p(r*(2+r)+i*i), math.Atan2(i, 1+r))
	}
	return cmplx.Log(1 + x)
}

func expm1C(x complex128) complex128 {
	// exp(a) cos b - 1 = expm1(a) cos b - 2 sin²(b/2)
	a, b := real(x), imag(x)
	s, c := math.Sincos(b)
	h := math.Sin(b / 2)
	return complex(math.Expm1(a)*c-2*h*h, math.Exp(a)*s)
}

func logBase(base float64) func(complex128) complex128 {
	k := 1 / math.Log(base)
	return func(x complex128) complex128 {
		y := cmplx.Log(x)
		return complex(real(y)*k, imag(y)*k)
	}
}

func sigmoidC(x complex128) complex128 { return divC(1, 1+expC(-x)) }

// sincK is sin(p)/p with p = pi*x.
func sincK[E float](scale func(d, a []E, s E), sin func(d, a []E), quotient func(d, a, b []E)) func(d, a []E) {
	return func(d, a []E) {
		inBlocks(d, a, func(d, a, p []E) {
			scale(p, a, math.Pi)
			sin(d, p)
			quotient(d, d, p)
		})
	}
}

func sincC(x complex128) complex128 {
	if x == 0 {
		return 1
	}
	p := x * math.Pi
	return divC(cmplx.Sin(p), p)
}

func rsqrtC(x complex128) complex128 { return divC(1, cmplx.Sqrt(x)) }

// fast2 has vector kernels for both floats.
func fast2(name string, v32 func(d, a []float32), v64 func(d, a []float64), g func(complex128) complex128) *unK {
	k := &unK{name: name, f32: v32, f64: v64}
	if g != nil {
		k.c128 = c128of(g)
	}
	return k
}

func conjC64(d, a []complex64) {
	bits, from := slice[uint64](unsafe.Pointer(unsafe.SliceData(d)), len(d)),
		slice[uint64](unsafe.Pointer(unsafe.SliceData(a)), len(d))
	for i, x := range from {
		bits[i] = x ^ 1<<63
	}
}

func conjC128(d, a []complex128) {
	for i, x := range a[:len(d)] {
		d[i] = complex(real(x), -imag(x))
	}
}

var negKernels = &unK{name: "neg", u8: negI[uint8], i8: negI[int8], i16: negI[int16], i32: negI[int32],
	i64: negI[int64], f32: vec.NegF32, f64: vec.NegF64, h: vec.Neg16, c64: asPairs[float32, complex64](vec.NegF32),
	c128: asPairs[float64, complex128](vec.NegF64)}

const (
	ln2       = math.Ln2
	ln10      = math.Ln10
	sqrtPi    = 1.7724538509055160273
	twoSqrtPi = 1.1283791670955125739 // 2/sqrt(pi)
)

func init() {
	abs := &unK{name: "abs", u8: vec.AbsInt[uint8], i8: vec.AbsInt[int8], i16: vec.AbsInt[int16],
		i32: vec.AbsInt[int32], i64: vec.AbsInt[int64], f32: vec.AbsF32, f64: vec.AbsF64, h: vec.Abs16}
	tensor.Register(tensor.Def{
		Schema:  "abs(Tensor self) -> Tensor",
		Doc:     "is the absolute value; that of complex numbers is real.",
		Aliases: []string{"absolute", "Tensor::__abs__"},
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			dt := c.ArgDType(0)
			if dt == tensor.Bool {
				missing(c, "abs", dt)
			}
			if dt.IsComplex() && c.Op().IsInPlace() {
				c.Fail(tensor.ErrDType, "In-place abs is not supported for complex tensors.")
			}
			c.Alloc(0, c.Shape(0), dt.Real())
		},
		CPU: func(c *Ctx) {
			out, a := c.Out(0), c.T(0)
			switch a.DType() {
			case tensor.Complex64:
				run1(out, a, tensor.Float32, a.DType(), planesReal[float32, complex64](vec.HypotF32))
			case tensor.Complex128:
				run1(out, a, tensor.Float64, a.DType(), planesReal[float64, complex128](vec.HypotF64))
			default:
				abs.run(c, out, a, a.DType())
			}
		},
		Save: "self",
		VJP:  rule(func(c *Ctx, g *T) *T { return g.Mul(c.T(0).Sgn()) }),
	})
	tensor.Register(tensor.Def{
		Schema:  "neg(Tensor self) -> Tensor",
		Doc:     "is -self. Bool tensors are refused.",
		Aliases: []string{"negative", "Tensor::__neg__"},
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			if c.ArgDType(0) == tensor.Bool {
				c.Fail(tensor.ErrDType, "Negation, the `-` operator, on a bool tensor is not supported. If you are "+
					"trying to invert a mask, use the `~` or `logical_not()` operator instead.")
			}
			c.Alloc(0, c.Shape(0), c.ArgDType(0))
		},
		CPU: func(c *Ctx) { negKernels.run(c, c.Out(0), c.T(0), c.Out(0).DType()) },
		VJP: rule(func(c *Ctx, g *T) *T { return g.Neg() }),
	})
	tensor.Register(tensor.Def{
		Schema:  "positive(Tensor(a) self) -> Tensor(a)",
		Doc:     "is self itself. Bool tensors are refused.",
		Aliases: []string{"Tensor::__pos__"},
		Body: func(c *Ctx) {
			if c.T(0).DType() == tensor.Bool {
				c.Fail(tensor.ErrDType, "The `+` operator, on a bool tensor is not supported.")
			}
			c.Return(c.T(0))
		},
	})
	unary("sign(Tensor self) -> Tensor", "is -1, 0 or 1. Complex numbers are refused: see Sgn.",
		&unK{name: "sign", u8: signI[uint8], i8: signI[int8], i16: signI[int16], i32: signI[int32], i64: signI[int64],
			h: vec.Sign16, f32: vec.SignF32, f64: vec.SignF64, b: copyK[uint8]},
		tensor.Def{VJP: flat().VJP})
	unary("sgn(Tensor self) -> Tensor", "is the sign of real numbers and z / |z| of complex ones.",
		&unK{name: "sgn", u8: signI[uint8], i8: signI[int8], i16: signI[int16], i32: signI[int32], i64: signI[int64],
			h: vec.Sign16, f32: vec.SignF32, f64: vec.SignF64,
			c64:  planes1[float32, complex64](&real32, sgnPlanes[float32]),
			c128: planes1[float64, complex128](&real64, sgnPlanes[float64]), b: copyK[uint8]},
		tensor.Def{Save: "self result", VJP: rule(func(c *Ctx, g *T) *T {
			x := c.T(0)
			if !x.IsComplex() {
				return g.ZerosLike()
			}
			// d z/|z|: the part of g along z drops out
			y, m := c.Out(0), x.Abs()
			along := call(opReal, tv(g.Mul(y.Conj()))).Mul(y)
			return dropIf(m.EqScalar(0), g.Sub(along).Div(m))
		})})
	tensor.Register(tensor.Def{
		Schema: "square(Tensor self) -> Tensor", Doc: "is self * self; that of bools is int64.", InPlace: true,
		Out: true, Elementwise: true, Grad: "PowBackward0",
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), squareType(c.ArgDType(0))) },
		CPU:   func(c *Ctx) { squareKernels.run(c, c.Out(0), c.T(0), c.Out(0).DType()) },
		Body:  func(c *Ctx) { c.Return(c.T(0).PowScalar(2)) },
		Save:  "self",
		VJP:   rule(func(c *Ctx, g *T) *T { return g.Mul(c.T(0).Conj().MulScalar(2)) }),
	})

	rounding := func(name string, h vec.Unary16, f32 func(d, a []float32), f64 func(d, a []float64)) *unK {
		return &unK{name: name, u8: copyK[uint8], i8: copyK[int8], i16: copyK[int16], i32: copyK[int32],
			i64: copyK[int64], h: h, f32: f32, f64: f64}
	}
	unary("ceil(Tensor self) -> Tensor", "rounds up; integers stay as they are.",
		rounding("ceil", vec.Ceil16, vec.CeilF32, vec.CeilF64), flat())
	unary("floor(Tensor self) -> Tensor", "rounds down; integers stay as they are.",
		rounding("floor", vec.Floor16, vec.FloorF32, vec.FloorF64), flat())
	unary("trunc(Tensor self) -> Tensor", "rounds towards zero; integers stay as they are.",
		rounding("trunc", vec.Trunc16, vec.TruncF32, vec.TruncF64),
		tensor.Def{Aliases: []string{"fix"}, VJP: flat().VJP})
	unary("round(Tensor self) -> Tensor",
		"rounds to the nearest whole number, halves to even; integers stay as they are.",
		rounding("round", vec.Round16, vec.RoundF32, vec.RoundF64), tensor.Def{VJP: flat().VJP})
	unary("frac(Tensor self) -> Tensor", "is self - trunc(self).",
		&unK{name: "frac", h: vec.Frac16, f32: vec.FracF32, f64: vec.FracF64},
		tensor.Def{VJP: rule(func(c *Ctx, g *T) *T { return g })})

	floatUnary("exp(Tensor self) -> Tensor", "is e to the power of self.",
		fast2("exp", vec.ExpF32, vec.ExpF64, nil).blocks(700, most, expC, expPlanes).halves(vec.Exp16),
		result(func(g, y *T) *T { return g.Mul(y.Conj()) }))
	floatUnary("exp2(Tensor self) -> Tensor", "is 2 to the power of self.",
		fast2("exp2", vec.Exp2F32, vec.Exp2F64,
			func(x complex128) complex128 { return expC(complex(real(x)*ln2, imag(x)*ln2)) }),
		tensor.Def{Aliases: []string{"special_exp2"}, Save: "result",
			VJP: rule(func(c *Ctx, g *T) *T { return g.Mul(c.Out(0).Conj()).MulScalar(ln2) })})
	floatUnary("expm1(Tensor self) -> Tensor", "is exp(self) - 1 without loss of digits near 0.",
		fast2("expm1", vec.Expm1F32, vec.Expm1F64, expm1C),
		tensor.Def{Aliases: []string{"special_expm1"}, Save: "result",
			VJP: rule(func(c *Ctx, g *T) *T { return g.Mul(c.Out(0).Conj().AddScalar(1)) })})
	floatUnary("log(Tensor self) -> Tensor", "is the natural logarithm.",
		fast2("log", vec.LogF32, vec.LogF64, nil).blocks(most, most, cmplx.Log, logPlanes).halves(vec.Log16),
		self(func(g, x *T) *T { return g.Div(x.Conj()) }))
	floatUnary("log10(Tensor self) -> Tensor", "is the logarithm to base 10.",
		fast2("log10", vec.Log10F32, vec.Log10F64, logBase(10)),
		self(func(g, x *T) *T { return g.Div(x.Conj().MulScalar(ln10)) }))
	floatUnary("log2(Tensor self) -> Tensor", "is the logarithm to base 2.",
		fast2("log2", vec.Log2F32, vec.Log2F64, logBase(2)),
		self(func(g, x *T) *T { return g.Div(x.Conj().MulScalar(ln2)) }))
	floatUnary("log1p(Tensor self) -> Tensor", "is log(1 + self) without loss of digits near 0.",
		fast2("log1p", vec.Log1pF32, vec.Log1pF64, log1pC),
		tensor.Def{Aliases: []string{"special_log1p"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { return g.Div(c.T(0).AddScalar(1).Conj()) })})
	floatUnary("sqrt(Tensor self) -> Tensor", "is the square root.",
		&unK{name: "sqrt", h: vec.Sqrt16, f32: vec.SqrtF32, f64: vec.SqrtF64, c128: c128of(cmplx.Sqrt)},
		result(func(g, y *T) *T { return g.Div(y.Conj().MulScalar(2)) }))
	floatUnary("rsqrt(Tensor self) -> Tensor", "is 1 / sqrt(self).",
		&unK{name: "rsqrt", h: vec.Rsqrt16, f32: vec.RsqrtF32, f64: vec.RsqrtF64, c128: c128of(rsqrtC)},
		result(func(g, y *T) *T { return g.MulScalar(-0.5).Mul(y.PowScalar(3).Conj()) }))
	floatUnary("reciprocal(Tensor self) -> Tensor", "is 1 / self.",
		&unK{name: "reciprocal", h: vec.Reciprocal16, f32: vec.ReciprocalF32, f64: vec.ReciprocalF64,
			c64:  reciprocalK[float32, complex64](&real32, vec.ReciprocalPartsF32),
			c128: reciprocalK[float64, complex128](&real64, vec.ReciprocalPartsF64)},
		result(func(g, y *T) *T { return g.Neg().Mul(y.Mul(y).Conj()) }))

	floatUnary("sin(Tensor self) -> Tensor", "is the sine.",
		fast2("sin", vec.SinF32, vec.SinF64, nil).blocks(most, 700, cmplx.Sin, sinPlanes),
		self(func(g, x *T) *T { return g.Mul(x.Cos().Conj()) }))
	floatUnary("cos(Tensor self) -> Tensor", "is the cosine.",
		fast2("cos", vec.CosF32, vec.CosF64, nil).blocks(most, 700, cmplx.Cos, cosPlanes),
		self(func(g, x *T) *T { return g.Mul(x.Sin().Neg().Conj()) }))
	floatUnary("tan(Tensor self) -> Tensor", "is the tangent.",
		fast2("tan", vec.TanF32, vec.TanF64, nil).blocks(most, 22, tanC, tanPlanes),
		result(func(g, y *T) *T { return g.Mul(y.Mul(y).AddScalar(1).Conj()) }))
	floatUnary("sinh(Tensor self) -> Tensor", "is the hyperbolic sine.",
		fast2("sinh", vec.SinhF32, vec.SinhF64, nil).blocks(700, most, sinhC, sinhPlanes),
		self(func(g, x *T) *T { return g.Mul(x.Cosh().Conj()) }))
	floatUnary("cosh(Tensor self) -> Tensor", "is the hyperbolic cosine.",
		fast2("cosh", vec.CoshF32, vec.CoshF64, nil).blocks(700, most, cmplx.Cosh, coshPlanes),
		self(func(g, x *T) *T { return g.Mul(x.Sinh().Conj()) }))
	floatUnary("tanh(Tensor self) -> Tensor", "is the hyperbolic tangent.",
		fast2("tanh", vec.TanhF32, vec.TanhF64, nil).blocks(22, most, tanhC, tanhPlanes).halves(vec.Tanh16),
		result(func(g, y *T) *T { return call(opTanhBackward, tv(g), tv(y)) }))
	floatUnary("asin(Tensor self) -> Tensor", "is the inverse sine.", fast2("asin", vec.AsinF32, vec.AsinF64, asinC),
		tensor.Def{Aliases: []string{"arcsin"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { x := c.T(0); return g.Mul(x.Mul(x).Neg().AddScalar(1).Rsqrt().Conj()) })})
	floatUnary("acos(Tensor self) -> Tensor", "is the inverse cosine.", fast2("acos", vec.AcosF32, vec.AcosF64, acosC),
		tensor.Def{Aliases: []string{"arccos"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { x := c.T(0); return g.Mul(x.Mul(x).Neg().AddScalar(1).Rsqrt().Neg().Conj()) })})
	floatUnary("atan(Tensor self) -> Tensor", "is the inverse tangent.", fast2("atan", vec.AtanF32, vec.AtanF64, atanC),
		tensor.Def{Aliases: []string{"arctan"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { x := c.T(0); return g.Div(x.Mul(x).AddScalar(1).Conj()) })})
	floatUnary("asinh(Tensor self) -> Tensor", "is the inverse hyperbolic sine.",
		fast2("asinh", vec.AsinhF32, vec.AsinhF64, asinhC),
		tensor.Def{Aliases: []string{"arcsinh"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { x := c.T(0); return g.Mul(x.Mul(x).AddScalar(1).Rsqrt().Conj()) })})
	floatUnary("acosh(Tensor self) -> Tensor", "is the inverse hyperbolic cosine.",
		fast2("acosh", vec.AcoshF32, vec.AcoshF64, acoshC),
		tensor.Def{Aliases: []string{"arccosh"}, Save: "self", VJP: rule(func(c *Ctx, g *T) *T {
			// the product of roots lies on the right branch for complex numbers
			x := c.T(0)
			if x.IsComplex() {
				return g.Mul(x.AddScalar(1).Rsqrt().Mul(x.SubScalar(1).Rsqrt()).Conj())
			}
			return g.Mul(x.Mul(x).SubScalar(1).Rsqrt())
		})})
	floatUnary("atanh(Tensor self) -> Tensor", "is the inverse hyperbolic tangent.",
		fast2("atanh", vec.AtanhF32, vec.AtanhF64, atanhC),
		tensor.Def{Aliases: []string{"arctanh"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { x := c.T(0); return g.Div(x.Mul(x).Neg().AddScalar(1).Conj()) })})

	floatUnary("sigmoid(Tensor self) -> Tensor", "is 1 / (1 + exp(-self)).",
		fast2("sigmoid", vec.SigmoidF32, vec.SigmoidF64, nil).blocks(700, most, sigmoidC,
			sigmoidPlanes).halves(vec.Sigmoid16),
		tensor.Def{Aliases: []string{"special_expit"}, Save: "result",
			VJP: rule(func(c *Ctx, g *T) *T { return call(opSigmoidBackward, tv(g), tv(c.Out(0))) })})
	floatUnary("erf(Tensor self) -> Tensor", "is the error function.",
		fast2("erf", vec.ErfF32, vec.ErfF64, nil).halves(vec.Erf16),
		tensor.Def{Aliases: []string{"special_erf"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { x := c.T(0); return g.MulScalar(twoSqrtPi).Mul(x.Mul(x).Neg().Exp()) })})
	floatUnary("erfc(Tensor self) -> Tensor", "is 1 - erf(self) without loss of digits.",
		fast2("erfc", vec.ErfcF32, vec.ErfcF64, nil),
		tensor.Def{Aliases: []string{"special_erfc"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { x := c.T(0); return g.MulScalar(-twoSqrtPi).Mul(x.Mul(x).Neg().Exp()) })})
	floatUnary("erfinv(Tensor self) -> Tensor", "is the inverse of the error function.",
		fast2("erfinv", vec.ErfinvF32, vec.ErfinvF64, nil),
		tensor.Def{Aliases: []string{"special_erfinv"}, Save: "result",
			VJP: rule(func(c *Ctx, g *T) *T { y := c.Out(0); return g.MulScalar(sqrtPi / 2).Mul(y.Mul(y).Exp()) })})
	floatUnary("sinc(Tensor self) -> Tensor", "is sin(pi self) / (pi self), 1 at 0.",
		fast2("sinc", sincK(vec.MulScalarF32, vec.SinF32, vec.DivOrOneF32),
			sincK(vec.MulScalarF64, vec.SinF64, vec.DivOrOneF64), sincC),
		tensor.Def{Aliases: []string{"special_sinc"}, Save: "self", VJP: rule(func(c *Ctx, g *T) *T {
			x := c.T(0)
			px := x.MulScalar(math.Pi)
			q := x.Mul(x).MulScalar(math.Pi) // zero for the smallest x, too
			d := px.Mul(px.Cos()).Sub(px.Sin()).Div(q)
			return dropIf(q.EqScalar(0), g.Mul(d.Conj()))
		})})

	tensor.Register(tensor.Def{
		Schema:  "bitwise_not(Tensor self) -> Tensor",
		Doc:     "inverts every bit of integers; it is the logical inverse of bools.",
		Aliases: []string{"Tensor::__invert__"}, InPlace: true, Out: true, Elementwise: true,
		Infer:  func(c *Ctx) { c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
		CPU:    func(c *Ctx) { notKernels.run(c, c.Out(0), c.T(0), c.Out(0).DType()) },
		NoGrad: "integer result",
	})
}

var notKernels = &unK{name: "bitwise_not", u8: bitNotK[uint8], i8: bitNotK[int8], i16: bitNotK[int16],
	i32: bitNotK[int32], i64: bitNotK[int64], b: logicalNotI[uint8]}

var (
	opTanhBackward    = tensor.Slot("aten::tanh_backward")
	opSigmoidBackward = tensor.Slot("aten::sigmoid_backward")
	opReal            = tensor.Slot("aten::real")
)

// tanhC and tanC do not overflow for large parts.
func tanhC(x complex128) complex128 {
	if r, i := real(x), imag(x); math.Abs(r) > 22 {
		if i-i != 0 && !math.IsInf(r, 0) {
			return cmplx.NaN()
		}
		return complex(math.Copysign(1, r), 0)
	}
	return cmplx.Tanh(x)
}

func tanC(x complex128) complex128 {
	y := tanhC(complex(-imag(x), real(x)))
	return complex(imag(y), -real(y))
}

func squareType(dt DType) DType {
	if dt == tensor.Bool {
		return tensor.Int64
	}
	return dt
}

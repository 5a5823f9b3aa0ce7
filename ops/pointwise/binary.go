package pointwise

import (
	"math"
	"math/cmplx"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	maximumKernels = biK{name: "maximum", f32m: rowsK(vec.MaximumRowsF32), f64m: rowsK(vec.MaximumRowsF64),
		num: vec.MaxNumber, u8: vec.MaxInt[uint8], i8: vec.MaxInt[int8], i16: vec.MaxInt[int16], i32: vec.MaxInt[int32],
		i64: vec.MaxInt[int64], f32: vec.MaximumF32, f64: vec.MaximumF64, b: vec.OrU8, h: vec.Maximum16,
		f32s: vec.MaximumScalarF32, f32r: vec.MaximumScalarF32, f64s: vec.MaximumScalarF64, f64r: vec.MaximumScalarF64}
	minimumKernels = biK{name: "minimum", f32m: rowsK(vec.MinimumRowsF32), f64m: rowsK(vec.MinimumRowsF64),
		num: vec.MinNumber, u8: vec.MinInt[uint8], i8: vec.MinInt[int8], i16: vec.MinInt[int16], i32: vec.MinInt[int32],
		i64: vec.MinInt[int64], f32: vec.MinimumF32, f64: vec.MinimumF64, b: vec.AndU8, h: vec.Minimum16,
		f32s: vec.MinimumScalarF32, f32r: vec.MinimumScalarF32, f64s: vec.MinimumScalarF64, f64r: vec.MinimumScalarF64}
	fmaxKernels = biK{name: "fmax", num: vec.MaxNumber, u8: vec.MaxInt[uint8], i8: vec.MaxInt[int8],
		i16: vec.MaxInt[int16], i32: vec.MaxInt[int32], i64: vec.MaxInt[int64], h: vec.FMax16, f32: vec.FMaxF32,
		f64: vec.FMaxF64, b: vec.OrU8}
	fminKernels = biK{name: "fmin", num: vec.MinNumber, u8: vec.MinInt[uint8], i8: vec.MinInt[int8],
		i16: vec.MinInt[int16], i32: vec.MinInt[int32], i64: vec.MinInt[int64], h: vec.FMin16, f32: vec.FMinF32,
		f64: vec.FMinF64, b: vec.AndU8}
)

func refuseComplex(c *Ctx, name string, args ...int) {
	for _, i := range args {
		if c.Has(i) && c.ArgDType(i).IsComplex() {
			c.Fail(tensor.ErrDType, "%s not implemented for complex tensors.", name)
		}
	}
}

// extremumGrads are the gradients of maximum or, when less is set, minimum.
func extremumGrads(c *Ctx, g *T, less bool) []*T {
	a, b := extremumShares(c, g, 1, less)
	return []*T{a, b}
}

// extremumShares are the gradients of arguments 0 and other.
func extremumShares(c *Ctx, g *T, other int, less bool) (ga, gb *T) {
	a, b := c.T(0), c.T(other)
	// equal elements share the gradient
	half := call(opWhere, tv(a.Eq(b)), tv(g.DivScalar(2)), tv(g))
	lt, gt := a.Lt, a.Gt
	if less {
		lt, gt = gt, lt
	}
	if c.Needs(0) {
		ga = dropIf(lt(b), half)
	}
	if c.Needs(other) {
		gb = dropIf(gt(b), half)
	}
	return ga, gb
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "maximum(Tensor self, Tensor other) -> Tensor",
		Doc:    "is the larger of both elements; NaN when one of them is. Complex numbers are refused.",
		Out:    true, Elementwise: true,
		Infer: func(c *Ctx) { refuseComplex(c, "maximum", 0, 1); binaryInfer(c) },
		CPU:   func(c *Ctx) { maximumKernels.run(c, 0, 1) },
		Plain: maximumKernels.plain(),
		Save:  "self other", VJP: func(c *Ctx, g *T) []*T { return extremumGrads(c, g, false) },
	})
	tensor.Register(tensor.Def{
		Schema: "minimum(Tensor self, Tensor other) -> Tensor",
		Doc:    "is the smaller of both elements; NaN when one of them is. Complex numbers are refused.",
		Out:    true, Elementwise: true,
		Infer: func(c *Ctx) { refuseComplex(c, "minimum", 0, 1); binaryInfer(c) },
		CPU:   func(c *Ctx) { minimumKernels.run(c, 0, 1) },
		Plain: minimumKernels.plain(),
		Save:  "self other", VJP: func(c *Ctx, g *T) []*T { return extremumGrads(c, g, true) },
	})
	tensor.Register(tensor.Def{
		Schema: "max.other(Tensor self, Tensor other) -> Tensor", FormNames: ".other_out=.out",
		Doc: "is another name of [Tensor.Maximum].", Go: "MaxOther", Out: true,
		Body: func(c *Ctx) { c.Return(c.T(0).Maximum(c.T(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "min.other(Tensor self, Tensor other) -> Tensor", FormNames: ".other_out=.out",
		Doc: "is another name of [Tensor.Minimum].", Go: "MinOther", Out: true,
		Body: func(c *Ctx) { c.Return(c.T(0).Minimum(c.T(1))) },
	})
	// equal elements share the gradient; a NaN leaves it to the other element
	fGrads := func(c *Ctx, g *T, first func(a, b *T) *T) []*T {
		a, b := c.T(0), c.T(1)
		cond := first(a, b).LogicalOr(b.IsNaN())
		eq, half := a.Eq(b), g.DivScalar(2)
		return []*T{call(opWhere, tv(eq), tv(half), tv(keepIf(cond, g))),
			call(opWhere, tv(eq), tv(half), tv(dropIf(cond, g)))}
	}
	tensor.Register(tensor.Def{
		Schema: "fmax(Tensor self, Tensor other) -> Tensor",
		Doc:    "is the larger of both elements, NaN only when both are. Complex numbers are refused.",
		Out:    true, Elementwise: true,
		Infer: func(c *Ctx) { refuseComplex(c, "fmax", 0, 1); binaryInfer(c) },
		CPU:   func(c *Ctx) { fmaxKernels.run(c, 0, 1) },
		Save:  "self other", VJP: func(c *Ctx, g *T) []*T { return fGrads(c, g, func(a, b *T) *T { return a.Ge(b) }) },
	})
	tensor.Register(tensor.Def{
		Schema: "fmin(Tensor self, Tensor other) -> Tensor",
		Doc:    "is the smaller of both elements, NaN only when both are. Complex numbers are refused.",
		Out:    true, Elementwise: true,
		Infer: func(c *Ctx) { refuseComplex(c, "fmin", 0, 1); binaryInfer(c) },
		CPU:   func(c *Ctx) { fminKernels.run(c, 0, 1) },
		Save:  "self other", VJP: func(c *Ctx, g *T) []*T { return fGrads(c, g, func(a, b *T) *T { return a.Le(b) }) },
	})
	registerPow()
	registerClamp()
	registerWhere()
}

// powI is integer power; a negative exponent gives the whole part of the true result.
func powI[E integer](x, n E) E {
	if n < 0 {
		switch {
		case x == 1:
			return 1
		case x+1 == 0:
			if n%2 == 0 {
				return 1
			}
			return x
		}
		return 0
	}
	r := E(1)
	for n > 0 {
		if n&1 != 0 {
			r *= x
		}
		x *= x
		n >>= 1
	}
	return r
}

func powIK[E integer](d, a, b []E) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = powI(a[i], b[i])
	}
}

// powC is exp(y log x). The product follows the C standard, in which an infinite operand stays infinite.
func powC(x, y complex128) complex128 { return expC(mulC99(y, cmplx.Log(x))) }

func mulC99(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	re, im := a*c-b*d, a*d+b*c
	if re == re || im == im {
		return complex(re, im)
	}
	box := func(v float64) float64 {
		if math.IsInf(v, 0) {
			return math.Copysign(1, v)
		}
		return math.Copysign(0, v)
	}
	unNaN := func(v float64) float64 {
		if v != v {
			return math.Copysign(0, v)
		}
		return v
	}
	again := false
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		a, b, c, d, again = box(a), box(b), unNaN(c), unNaN(d), true
	}
	if math.IsInf(c, 0) || math.IsInf(d, 0) {
		c, d, a, b, again = box(c), box(d), unNaN(a), unNaN(b), true
	}
	if !again && (math.IsInf(a*c, 0) || math.IsInf(b*d, 0) || math.IsInf(a*d, 0) || math.IsInf(b*c, 0)) {
		a, b, c, d, again = unNaN(a), unNaN(b), unNaN(c), unNaN(d), true
	}
	if again {
		inf := math.Inf(1)
		return complex(inf*(a*c-b*d), inf*(a*d+b*c))
	}
	return complex(re, im)
}

func powC64(d, a, b []complex64) {
	for i := range d {
		d[i] = complex64(powC(complex128(a[i]), complex128(b[i])))
	}
}

func powC128(d, a, b []complex128) {
	for i := range d {
		d[i] = powC(a[i], b[i])
	}
}

var powKernels = biK{name: "pow", u8: powIK[uint8], i8: powIK[int8], i16: powIK[int16], i32: powIK[int32],
	i64: powIK[int64], f32: vec.PowF32, f64: vec.PowF64, c64: powC64, c128: powC128}

func cubeK[E number](d, a []E) {
	for i, x := range a[:len(d)] {
		d[i] = x * x * x
	}
}

// cubeC makes the cube of complex numbers from their product; the operands may be in the same memory.
func cubeC[E complex64 | complex128](mul func(d, a, b []E)) func(d, a []E) {
	return func(d, a []E) {
		var buf [256]E
		for len(d) > 0 {
			n := min(len(d), len(buf))
			mul(buf[:n], a[:n], a[:n])
			mul(d[:n], buf[:n], a[:n])
			d, a = d[n:], a[n:]
		}
	}
}

var (
	squareKernels = unK{name: "pow", u8: squareI[uint8], i8: squareI[int8], i16: squareI[int16], i32: squareI[int32],
		i64: squareI[int64], f32: vec.SquareF32, f64: vec.SquareF64, h: vec.Square16, c64: squareC64, c128: squareC128}
	cubeKernels = unK{name: "pow", u8: cubeK[uint8], i8: cubeK[int8], i16: cubeK[int16], i32: cubeK[int32],
		i64: cubeK[int64], f32: vec.CubeF32, f64: vec.CubeF64, c64: cubeC(vec.MulC64), c128: cubeC(vec.MulC128)}
	sqrtKernels    = unK{name: "pow", h: vec.Sqrt16, f32: vec.SqrtF32, f64: vec.SqrtF64, c128: c128of(cmplx.Sqrt)}
	rsqrtKernels   = unK{name: "pow", h: vec.Rsqrt16, f32: vec.RsqrtF32, f64: vec.RsqrtF64, c128: c128of(rsqrtC)}
	inverseKernels = unK{name: "pow", h: vec.Reciprocal16, f32: vec.ReciprocalF32, f64: vec.ReciprocalF64,
		c64:  reciprocalK[float32, complex64](&real32, vec.ReciprocalPartsF32),
		c128: reciprocalK[float64, complex128](&real64, vec.ReciprocalPartsF64)}
	invSquareKernels = unK{name: "pow", f32: vec.InvSquareF32, f64: vec.InvSquareF64}
)

// powNumber computes result 0 from argument 0 and a number; the usual exponents have cheaper kernels than the general
// one.
func powNumber(c *Ctx, n tensor.Num) {
	out := c.Out(0)
	dt := out.DType()
	var k *unK
	if n.K != tensor.KComplex || imag(n.C) == 0 {
		switch e := real(n.C); {
		case e == 2:
			k = &squareKernels
		case e == 3:
			k = &cubeKernels
		case dt.IsIntOrBool():
		case dt == tensor.Float16 && math.Abs(e) == 0.5:
			// PyTorch has pow itself here, which for -0 and -Inf differs from the root
		case e == 0.5:
			k = &sqrtKernels
		case e == -0.5:
			k = &rsqrtKernels
		case e == -1:
			k = &inverseKernels
		case e == -2 && !dt.IsComplex():
			k = &invSquareKernels
		}
	}
	if k != nil {
		k.run(c, out, c.T(0), dt)
		return
	}
	powKernels.tensors(c, out, c.T(0), n.Tensor(), dt)
}

func isZero(n tensor.Num) bool { return n.C == 0 }

// powSelf is the gradient of the base; e is the exponent as a tensor.
func powSelf(g, x, e *T) *T {
	d := g.Mul(e.Mul(x.Pow(e.SubScalar(1))).Conj())
	return dropIf(e.EqScalar(0), d)
}

// powExponent is the gradient of the exponent.
func powExponent(g, x, e, y *T) *T {
	cond := x.EqScalar(0)
	if e.IsComplex() {
		cond = cond.LogicalAnd(call(opReal, tv(e)).GeScalar(0))
	} else {
		cond = cond.LogicalAnd(e.GeScalar(0))
	}
	// the logarithm of an integer would be a float32
	return dropIf(cond, g.Mul(y.Mul(x.ToDType(y.DType()).Log()).Conj()))
}

func registerPow() {
	const doc = "https://pytorch.org/docs/stable/generated/torch.pow.html"
	tensor.Register(tensor.Def{
		Schema: "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
		Doc: "is self to the power of exponent, element by element, broadcasting and promoting dtypes. Integers " +
			"wrap around.\n" + doc,
		Go: "Pow", FormNames: "_.Tensor_Tensor=_.Tensor", InPlace: true, Out: true, Elementwise: true,
		Aliases: []string{"Tensor::__pow__"},
		Infer:   binaryInfer,
		CPU: func(c *Ctx) {
			if v := c.Value(1); v.K == tensor.KTensor && v.T.Dim() == 0 && !v.T.DType().IsIntOrBool() &&
				c.Value(0).K == tensor.KTensor {
				powNumber(c, v.T.Num())
				return
			}
			powKernels.run(c, 0, 1)
		},
		Save: "self exponent result",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = powSelf(g, c.T(0), c.T(1))
			}
			if c.Needs(1) {
				r[1] = powExponent(g, c.T(0), c.T(1), c.Out(0))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
		Doc:    "is self to the power of a number. Integers wrap around and refuse negative exponents.\n" + doc,
		Go:     "PowScalar", FormNames: "_.Tensor_Scalar=_.Scalar", InPlace: true, Out: true, Elementwise: true,
		Aliases: []string{"Tensor::__pow__"},
		Infer: func(c *Ctx) {
			if n := c.Num(1); n.IsInt() && n.I < 0 && c.ArgDType(0).IsIntOrBool() {
				c.Fail(tensor.ErrValue, "Integers to negative integer powers are not allowed.")
			}
			c.Alloc(0, c.Shape(0), c.PromoteArgs(0, 1))
		},
		CPU: func(c *Ctx) {
			switch n := c.Num(1); {
			case isZero(n):
				fillNum(c.Out(0), tensor.IntValue(1).Num())
			case n.C == 1:
				tensor.CopyRaw(c.Out(0), c.T(0))
			default:
				powNumber(c, n)
			}
		},
		Save: "self",
		VJP: rule(func(c *Ctx, g *T) *T {
			n := c.Num(1)
			if isZero(n) {
				return g.ZerosLike()
			}
			x := c.T(0)
			if n.C == 2 {
				return g.Mul(x.Conj().MulScalar(n))
			}
			m := n
			m.I, m.F, m.C = n.I-1, n.F-1, n.C-1
			if m.K == tensor.KBool {
				m.K = tensor.KInt
			}
			return g.Mul(x.PowScalar(m).MulScalar(n).Conj())
		}),
	})
	tensor.Register(tensor.Def{
		Schema: "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
		Doc:    "is a number to the power of exponent.\n" + doc,
		Go:     "PowScalarSelf", Out: true, Elementwise: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(1), c.PromoteArgs(0, 1)) },
		CPU: func(c *Ctx) {
			if c.Num(0).C == 1 {
				fillNum(c.Out(0), tensor.IntValue(1).Num())
				return
			}
			powKernels.run(c, 0, 1)
		},
		Save: "exponent result",
		VJP: rule(func(c *Ctx, g *T) *T {
			n := c.Num(0)
			y := c.Out(0)
			d := g.Mul(y.Mul(n.Tensor().ToDType(y.DType()).Log()).Conj())
			if isZero(n) {
				e := c.T(1)
				if e.IsComplex() {
					e = call(opReal, tv(e))
				}
				return dropIf(e.GeScalar(0), d)
			}
			return d
		}),
	})
}

package pointwise

import (
	"bytes"
	"math"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func addK[E number](d, a, b []E) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func subK[E number](d, a, b []E) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

func mulK[E number](d, a, b []E) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

// axpyK is a + alpha*b. Complex sums go this way even for alpha 1, as PyTorch's do: 1 times an infinite number has a
// NaN part.
func axpyK[E number](alpha E) func(d, a, b []E) {
	return func(d, a, b []E) {
		a, b = a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = a[i] + alpha*b[i]
		}
	}
}

var (
	addKernels = biK{name: "add", f32m: rowsK(vec.AddRowsF32), f64m: rowsK(vec.AddRowsF64), num: vec.AddNumber,
		u8: vec.AddU8, i8: vec.AddInt[int8], i16: vec.AddInt[int16], i32: vec.AddInt[int32], i64: vec.AddInt[int64],
		h: vec.Add16, f32: vec.AddF32, f64: vec.AddF64, c64: addK[complex64], c128: addK[complex128], b: vec.OrU8,
		f32s: vec.AddScalarF32, f32r: vec.AddScalarF32, f64s: vec.AddScalarF64, f64r: vec.AddScalarF64,
		hs: vec.AddScalar16, hr: vec.AddScalar16}
	subKernels = biK{name: "sub", f32m: rowsK(vec.SubRowsF32), f64m: rowsK(vec.SubRowsF64), num: vec.SubNumber,
		u8: vec.SubU8, i8: vec.SubInt[int8], i16: vec.SubInt[int16], i32: vec.SubInt[int32], i64: vec.SubInt[int64],
		h: vec.Sub16, f32: vec.SubF32, f64: vec.SubF64, c64: subK[complex64], c128: subK[complex128],
		f32s: vec.SubScalarF32, f32r: vec.RSubScalarF32, f64s: vec.SubScalarF64, f64r: vec.RSubScalarF64,
		hs: vec.SubScalar16, hr: vec.RSubScalar16}
	mulKernels = biK{name: "mul", f32m: rowsK(vec.MulRowsF32), f64m: rowsK(vec.MulRowsF64), exact: true,
		num: vec.MulNumber, u8: vec.MulInt[uint8], i8: vec.MulInt[int8], i16: vec.MulInt[int16], i32: vec.MulInt[int32],
		i64: vec.MulInt[int64], h: vec.Mul16, f32: vec.MulF32, f64: vec.MulF64, c64: vec.MulC64, c128: vec.MulC128,
		c64s:  byReal[float32](mulK[complex64], vec.SumAbsF32, vec.MulScalarF32),
		c128s: byReal[float64](mulK[complex128], vec.SumAbsF64, vec.MulScalarF64), b: vec.AndU8,
		f32s: vec.MulScalarF32, f32r: vec.MulScalarF32, f64s: vec.MulScalarF64, f64r: vec.MulScalarF64,
		hs: vec.MulScalar16, hr: vec.MulScalar16}
	divKernels = biK{name: "div_true", f32m: rowsK(vec.DivRowsF32), f64m: rowsK(vec.DivRowsF64), exact: true,
		h: vec.Div16, f32: vec.DivF32, f64: vec.DivF64, c64: divK[float32, complex64](&real32),
		c128:  divK[float64, complex128](&real64),
		c64s:  byReal[float32](divK[float32, complex64](&real32), vec.SumAbsF32, vec.DivScalarF32),
		c128s: byReal[float64](divK[float64, complex128](&real64), vec.SumAbsF64, vec.DivScalarF64),
		f32s:  vec.DivScalarF32, f32r: vec.RDivScalarF32, f64s: vec.DivScalarF64, f64r: vec.RDivScalarF64,
		hs: vec.DivScalar16, hr: vec.RDivScalar16}
)

// divC is a quotient of complex numbers by the method of Smith, "Algorithm 116: Complex division" (1962), so that no
// square overflows. A divisor of 0 divides both parts; an infinite one gives 0.
func divC(a, b complex128) complex128 {
	x, y, c, d := real(a), imag(a), real(b), imag(b)
	if math.Abs(c) < math.Abs(d) {
		x, y, c, d = y, -x, d, -c // both times -i: the larger part of the divisor comes first
	}
	if c == 0 && d == 0 {
		return complex(x/math.Abs(c), y/math.Abs(c))
	}
	ratio := d / c
	scale := 1 / (c + d*ratio)
	return complex((x+y*ratio)*scale, (y-x*ratio)*scale)
}

// binaryInfer allocates the result of the first two arguments' common shape and dtype.
func binaryInfer(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1), c.PromoteArgs(0, 1)) }

// floatInfer is binaryInfer for results that are never integers.
func floatInfer(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1), floatType(c.PromoteArgs(0, 1))) }

// floatType is the default float type for integers and bool, dt for others.
func floatType(dt DType) DType {
	if dt.IsIntOrBool() {
		return tensor.DefaultDType()
	}
	return dt
}

// checkAlpha refuses factors that the result cannot take.
func checkAlpha(c *Ctx, dt DType, i int) {
	switch a := c.Value(i); {
	case a.K == tensor.KBool && dt != tensor.Bool:
		c.Fail(tensor.ErrType, "Boolean alpha only supported for Boolean results.")
	case a.K == tensor.KFloat && dt.IsIntOrBool():
		c.Fail(tensor.ErrType, "For integral input tensors, argument alpha must not be a floating point number.")
	case a.K == tensor.KComplex && !dt.IsComplex():
		c.Fail(tensor.ErrType, "For non-complex input tensors, argument alpha must not be a complex number.")
	}
}

// isBool reports that argument i is a bool or a bool tensor.
func isBool(c *Ctx, i int) bool {
	v := c.Value(i)
	return v.K == tensor.KBool || v.K == tensor.KTensor && v.T.DType() == tensor.Bool
}

func checkSub(c *Ctx) {
	a, b := isBool(c, 0), isBool(c, 1)
	if a && b {
		c.Fail(tensor.ErrDType, "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` "+
			"or `logical_xor()` operator instead.")
	}
	if a || b {
		c.Fail(tensor.ErrDType, "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "+
			"trying to invert a mask, use the `~` or `logical_not()` operator instead.")
	}
}

// addScaled is args[i] + alpha*args[j].
func addScaled(c *Ctx, i, j int, al tensor.Num) {
	out := c.Out(0)
	dt := out.DType()
	as := dt.Compute()
	if s, ok := numberArg(c, j); ok && (as == tensor.Float32 || as == tensor.Float64) {
		s.F = half.Round(s.F, dt)
		f := al.F * s.F
		if as == tensor.Float32 {
			f = float64(float32(al.F) * float32(s.F))
		}
		withNumber(out, c.T(i), dt, as, f, vec.AddScalar16, vec.AddScalarF32, vec.AddScalarF64)
		return
	}
	a, b := narrowed(c.T(i), dt), c.T(j)
	if h := half16(dt, out, a, b); h >= 0 {
		k, s := [2]func(d, a, b []uint16, alpha float32){vec.AddScaledF16, vec.AddScaledBF16}[h], float32(al.F)
		run2(out, a, b, dt, dt, dt, func(d, a, b []uint16) { k(d, a, b, s) })
		return
	}
	switch as {
	case tensor.Float32:
		s := float32(al.F)
		run2(out, a, b, as, as, as, func(d, a, b []float32) { vec.AddScaledF32(d, a, b, s) })
	case tensor.Float64:
		run2(out, a, b, as, as, as, func(d, a, b []float64) { vec.AddScaledF64(d, a, b, al.F) })
	case tensor.Int64:
		run2(out, a, b, as, as, as, axpyK(al.I))
	case tensor.Int32:
		run2(out, a, b, as, as, as, axpyK(int32(al.I)))
	case tensor.Int16:
		run2(out, a, b, as, as, as, axpyK(int16(al.I)))
	case tensor.Int8:
		run2(out, a, b, as, as, as, axpyK(int8(al.I)))
	case tensor.Uint8:
		run2(out, a, b, as, as, as, axpyK(uint8(al.I)))
	case tensor.Complex64:
		run2(out, a, b, as, as, as, axpyC(complex64(al.C), addC64, subC64))
	case tensor.Complex128:
		run2(out, a, b, as, as, as, axpyC(al.C, addC128, subC128))
	case tensor.Bool: // b counts only when alpha does
		if al.I != 0 {
			run2(out, a, b, as, as, as, vec.OrU8)
		} else {
			run1(out, a, as, as, func(d, a []uint8) { copy(d, a) })
		}
	}
}

// axpyC is axpyK with quicker ways for sum and difference.
func axpyC[E complex64 | complex128](alpha E, add, sub func(d, a, b []E)) func(d, a, b []E) {
	switch alpha {
	case 1:
		return add
	case -1:
		return sub
	}
	return axpyK(alpha)
}

func isOne(v tensor.Value) bool {
	return (v.K == tensor.KInt || v.K == tensor.KBool) && v.N == 1 || v.K == tensor.KFloat && v.Float() == 1
}

func negNum(n tensor.Num) tensor.Num { return tensor.Num{K: n.K, I: -n.I, F: -n.F, C: -n.C} }

// scaleGrad is g times the conjugate of number argument i.
func scaleGrad(c *Ctx, g *T, i int) *T {
	if isOne(c.Value(i)) {
		return g
	}
	return g.MulScalar(conjNum(c.Num(i)))
}

// noDerivative is the rule of operators that PyTorch has no derivative of: their results are on the tape, and refuse
// the backward pass.
func noDerivative(c *Ctx, _ *T) []*T {
	c.Fail(tensor.ErrNotImpl, "derivative for aten::%s is not implemented", strings.TrimSuffix(c.Op().Sch.Name, "_"))
	return nil
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
		Doc: "is self + alpha * other, broadcasting and promoting dtypes.\n" +
			"https://pytorch.org/docs/stable/generated/torch.add.html",
		InPlace: true, Out: true, Scalar: "other", Elementwise: true,
		Plain: addKernels.plain(),
		Infer: func(c *Ctx) {
			binaryInfer(c)
			checkAlpha(c, c.Out(0).DType(), 2)
		},
		CPU: func(c *Ctx) {
			if isOne(c.Value(2)) && !c.Out(0).IsComplex() {
				addKernels.run(c, 0, 1)
				return
			}
			addScaled(c, 0, 1, c.Num(2))
		},
		VJP: func(c *Ctx, g *T) []*T { return c.Grads2(g, scaleGrad(c, g, 2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
		Doc: "is self - alpha * other, broadcasting and promoting dtypes. Bool tensors are refused.\n" +
			"https://pytorch.org/docs/stable/generated/torch.sub.html",
		Aliases: []string{"subtract"}, FormNames: "subtract.Scalar_out=-",
		InPlace: true, Out: true, Scalar: "other", Elementwise: true,
		Plain: subKernels.plain(),
		Infer: func(c *Ctx) {
			checkSub(c)
			binaryInfer(c)
			checkAlpha(c, c.Out(0).DType(), 2)
		},
		CPU: func(c *Ctx) {
			if isOne(c.Value(2)) && !c.Out(0).IsComplex() {
				subKernels.run(c, 0, 1)
				return
			}
			addScaled(c, 0, 1, negNum(c.Num(2)))
		},
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{g, nil}
			if c.Needs(1) {
				r[1] = g.MulScalar(conjNum(negNum(c.Num(2))))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
		Doc:    "is other - alpha * self, broadcasting and promoting dtypes.",
		Out:    true, Scalar: "other", Elementwise: true, Aliases: []string{"Tensor::__rsub__"},
		FormNames: ".out=.Tensor_out",
		Infer: func(c *Ctx) {
			checkSub(c)
			binaryInfer(c)
			checkAlpha(c, c.Out(0).DType(), 2)
		},
		CPU: func(c *Ctx) {
			if isOne(c.Value(2)) && !c.Out(0).IsComplex() {
				subKernels.run(c, 1, 0)
				return
			}
			addScaled(c, 1, 0, negNum(c.Num(2)))
		},
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{nil, g}
			if c.Needs(0) {
				r[0] = g.MulScalar(conjNum(negNum(c.Num(2))))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "mul.Tensor(Tensor self, Tensor other) -> Tensor",
		Doc: "multiplies element by element, broadcasting and promoting dtypes.\n" +
			"https://pytorch.org/docs/stable/generated/torch.mul.html",
		Aliases: []string{"multiply"}, FormNames: "multiply.Scalar_out=-",
		InPlace: true, Out: true, Scalar: "other", Elementwise: true,
		Plain: mulKernels.plain(),
		Infer: binaryInfer,
		CPU:   func(c *Ctx) { mulKernels.run(c, 0, 1) },
		Save:  "self/other other/self",
		VJP: func(c *Ctx, g *T) []*T {
			var a, b *T
			if c.Needs(0) {
				a = mulArg(c, g, 1)
			}
			if c.Needs(1) {
				b = mulArg(c, g, 0)
			}
			return c.Grads2(a, b)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "div.Tensor(Tensor self, Tensor other) -> Tensor",
		Doc: "divides element by element, broadcasting and promoting dtypes; integers give floating-point results.\n" +
			"https://pytorch.org/docs/stable/generated/torch.div.html",
		Aliases: []string{"divide", "true_divide"}, FormNames: "divide.Scalar_out=- true_divide.Scalar_out=-",
		InPlace: true, Out: true, Scalar: "other", Elementwise: true,
		Plain: divKernels.plain(),
		Infer: floatInfer,
		CPU:   func(c *Ctx) { divKernels.run(c, 0, 1) },
		Save:  "self other",
		VJP:   func(c *Ctx, g *T) []*T { return divGrads(c, g, "") },
	})
	tensor.Register(tensor.Def{
		Schema: "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
		Doc: "divides element by element. The rounding mode is empty (true division), \"trunc\" (towards zero) or " +
			"\"floor\" (towards minus infinity); " +
			"the latter two keep integers and refuse an integer zero as divisor (ZeroDivisionError).\n" +
			"https://pytorch.org/docs/stable/generated/torch.div.html",
		Aliases: []string{"divide"}, FormNames: ".Tensor_mode_out=.out_mode divide.Scalar_mode_out=-",
		InPlace: true, Out: true, Scalar: "other", Elementwise: true,
		Infer: func(c *Ctx) {
			switch m := c.Str(2); {
			case !c.Has(2):
				floatInfer(c)
			case m == "trunc" || m == "floor":
				binaryInfer(c)
			default:
				c.Fail(tensor.ErrValue, "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "+
					"'%s'", m)
			}
		},
		CPU: func(c *Ctx) {
			switch {
			case !c.Has(2):
				divKernels.run(c, 0, 1)
			case c.Str(2) == "floor":
				runDivision(c, &floorDivKernels)
			case c.Out(0).DType().IsReduced():
				// the quotient is rounded to the 16-bit type before it is cut off
				out := c.Out(0)
				divKernels.run(c, 0, 1)
				run1(out, out, tensor.Float32, tensor.Float32, vec.TruncF32)
			default:
				runDivision(c, &truncDivKernels)
			}
		},
		Save: "self other",
		VJP:  func(c *Ctx, g *T) []*T { return divGrads(c, g, c.Str(2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "floor_divide(Tensor self, Tensor other) -> Tensor",
		Doc: "is the quotient rounded towards minus infinity. Integers stay integers; an integer zero as divisor is " +
			"a ZeroDivisionError.\n" +
			"https://pytorch.org/docs/stable/generated/torch.floor_divide.html",
		FormNames: "_=_.Tensor",
		InPlace:   true, Out: true, Scalar: "other", Elementwise: true,
		Infer: binaryInfer,
		CPU:   func(c *Ctx) { runDivision(c, &floorDivKernels) },
		VJP:   noDerivative,
		Grad:  "NotImplemented",
	})
	tensor.Register(tensor.Def{
		Schema: "fmod.Tensor(Tensor self, Tensor other) -> Tensor",
		Doc: "is the remainder of the division that rounds towards zero: it has the sign of self.\n" +
			"https://pytorch.org/docs/stable/generated/torch.fmod.html",
		FormNames: ".out=.Tensor_out",
		InPlace:   true, Out: true, Scalar: "other", Elementwise: true,
		Infer: binaryInfer,
		CPU:   func(c *Ctx) { runDivision(c, &fmodKernels) },
		Save:  "self other",
		VJP:   func(c *Ctx, g *T) []*T { return remainderGrads(c, g, "trunc") },
	})
	tensor.Register(tensor.Def{
		Schema: "remainder.Tensor(Tensor self, Tensor other) -> Tensor",
		Doc: "is the remainder of the division that rounds towards minus infinity, as Python's %: it has the sign of " +
			"other.\n" +
			"https://pytorch.org/docs/stable/generated/torch.remainder.html",
		FormNames: ".out=.Tensor_out",
		InPlace:   true, Out: true, Scalar: "other", Elementwise: true,
		Infer: binaryInfer,
		CPU:   func(c *Ctx) { runDivision(c, &remainderKernels) },
		Save:  "self other",
		VJP:   func(c *Ctx, g *T) []*T { return remainderGrads(c, g, "floor") },
	})
	tensor.Register(tensor.Def{
		Schema: "remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
		Doc:    "is the remainder of a number, with the sign of other.",
		Go:     "-", Elementwise: true,
		Infer: binaryInfer,
		CPU:   func(c *Ctx) { runDivision(c, &remainderKernels) },
		Save:  "other",
		VJP: func(c *Ctx, g *T) []*T {
			n := c.Num(0).Tensor()
			return []*T{g.Mul(n.DivMode(c.T(1), "floor")).Neg()}
		},
	})
}

func divGrads(c *Ctx, g *T, mode string) []*T {
	r := make([]*T, 2)
	if mode != "" {
		if c.Needs(0) {
			r[0] = g.ZerosLike()
		}
		if c.Needs(1) {
			r[1] = g.ZerosLike()
		}
		return r
	}
	if c.Needs(0) {
		r[0] = divArg(c, g, 1)
	}
	if c.Needs(1) {
		b := c.T(1)
		r[1] = g.Neg().Mul(c.T(0).Div(b).Div(b).Conj())
	}
	return r
}

func remainderGrads(c *Ctx, g *T, mode string) []*T {
	r := []*T{g, nil}
	if c.Needs(1) {
		r[1] = g.Neg().Mul(c.T(0).DivMode(c.T(1), mode))
	}
	return r
}

// division is an operator of quotients: the kernels of floats, and what it is for integers.
type division struct {
	biK
	i64 func(a, b int64) int64
	// The quotient is rounded by these; rest says that what is left over is wanted.
	round32 func(d, a []float32)
	round64 func(d, a []float64)
	rest    bool
}

// runDivision runs a division on numbers of any type. It refuses an integer zero as divisor.
func runDivision(c *Ctx, k *division) {
	out, dt := c.Out(0), c.Out(0).DType()
	if !dt.IsIntOrBool() {
		k.run(c, 0, 1)
		return
	}
	if dt == tensor.Bool {
		missing(c, k.name, dt)
	}
	if out.Numel() == 0 {
		return
	}
	a, b := inType(c.T(0), dt), inType(c.T(1), dt)
	if hasZero(b) {
		c.Fail(tensor.ErrValue, "ZeroDivisionError")
	}
	// Quotients of floats that are whole numbers of half as many bits as they hold come out on the right side of every
	// whole number, so that integers can be divided as floats, by vectors.
	switch as := dt; {
	case dt.Size() < 4:
		as = tensor.Float32
		run2(out, a, b, as, as, as, func(d, a, b []float32) {
			quotients(d, a, b, k.rest, k.round32, vec.DivF32, vec.MulF32, vec.SubF32)
		})
	case dt.Size() == 4 || exact(a) && exact(b):
		as = tensor.Float64
		run2(out, a, b, as, as, as, func(d, a, b []float64) {
			quotients(d, a, b, k.rest, k.round64, vec.DivF64, vec.MulF64, vec.SubF64)
		})
	default:
		run2(out, a, b, as, as, as, func(d, a, b []int64) {
			for i := range d {
				d[i] = k.i64(a[i], b[i])
			}
		})
	}
}

// quotients computes rounded quotients of whole numbers, or what they leave over.
func quotients[E float](d, a, b []E, rest bool, round func(d, a []E), div, mul, sub func(d, a, b []E)) {
	inBlocks(d, a, func(d, a, q []E) {
		y := b[:len(d)]
		b = b[len(d):]
		div(q, a, y)
		if !rest {
			round(d, q)
			return
		}
		round(q, q)
		mul(q, q, y)
		sub(d, a, q)
	})
}

// inType is t, converted if it is a number that may not fit the type of the result.
func inType(t *T, dt DType) *T {
	if t.Dim() == 0 {
		return tensor.DenseAs(t, dt)
	}
	return t
}

// exact reports that the quotients of the elements as float64 are on the right side of every whole number, and those
// elements exact.
func exact(t *T) bool {
	if !t.DType().IsIntOrBool() || t.DType().Size() < 8 {
		return true
	}
	const bound = 1 << 50
	lo, hi := op.Extent(tensor.Data[int64](tensor.DenseAs(t, tensor.Int64)))
	return lo >= -bound && hi < bound
}

func hasZero(t *T) bool {
	switch dt := t.DType(); {
	case dt.Size() == 8 && dt.IsIntOrBool():
		return anyZero(tensor.Data[int64](tensor.DenseAs(t, dt)))
	case dt == tensor.Int32:
		return anyZero(tensor.Data[int32](tensor.DenseAs(t, dt)))
	case dt == tensor.Int16:
		return anyZero(tensor.Data[int16](tensor.DenseAs(t, dt)))
	case dt == tensor.Int8:
		return anyZero(tensor.Data[int8](tensor.DenseAs(t, dt)))
	}
	return anyZero(tensor.Data[uint8](tensor.DenseAs(t, tensor.Uint8)))
}

func anyZero[E integer](s []E) bool {
	if lo, hi := op.Extent(s); lo > 0 || hi < 0 {
		return false
	}
	var found [len(run4K{})]uint8
	for len(s) > 0 {
		n := min(len(s), len(found))
		logicalNotI(found[:n], s[:n])
		if bytes.IndexByte(found[:n], 1) >= 0 {
			return true
		}
		s = s[n:]
	}
	return false
}

func truncDivI(a, b int64) int64 { return a / b }

func floorDivI(a, b int64) int64 {
	q := a / b
	if r := a % b; r != 0 && (r < 0) != (b < 0) {
		q--
	}
	return q
}

func fmodI(a, b int64) int64 { return a % b }

func remainderI(a, b int64) int64 {
	r := a % b
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

var (
	truncDivKernels = division{biK{name: "div_trunc", f32: vec.TruncDivF32, f64: vec.TruncDivF64}, truncDivI,
		vec.TruncF32, vec.TruncF64, false}
	floorDivKernels = division{biK{name: "div_floor", f32: vec.FloorDivF32, f64: vec.FloorDivF64}, floorDivI,
		vec.FloorF32, vec.FloorF64, false}
	fmodKernels = division{biK{name: "fmod", f32: vec.FmodF32, f64: vec.FmodF64}, fmodI, vec.TruncF32,
		vec.TruncF64, true}
	remainderKernels = division{biK{name: "remainder", f32: vec.RemainderF32, f64: vec.RemainderF64}, remainderI,
		vec.FloorF32, vec.FloorF64, true}
)

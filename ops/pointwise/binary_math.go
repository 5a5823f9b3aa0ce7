package pointwise

import (
	"math"
	"math/cmplx"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// binary registers a function of two tensors.
//
//gen:binary InPlace Out
func binary(schema, doc string, k *biK, infer func(c *Ctx), x tensor.Def) {
	x.Schema, x.Doc, x.InPlace, x.Out, x.Elementwise, x.Infer = schema, doc, true, true, true, infer
	x.CPU = func(c *Ctx) { k.run(c, 0, 1) }
	tensor.Register(x)
}

// binaryOut is binary without an in-place form.
//
//gen:binaryOut Out
func binaryOut(schema, doc string, k *biK, infer func(c *Ctx), x tensor.Def) {
	x.Schema, x.Doc, x.Out, x.Elementwise, x.Infer = schema, doc, true, true, infer
	x.CPU = func(c *Ctx) { k.run(c, 0, 1) }
	tensor.Register(x)
}

// numberForm registers an overload in which a number stands for a tensor of another operator; it has no Go name of its
// own, since the boxed call is all that it is for.
func numberForm(schema, target string, inPlace bool, formNames ...string) {
	op := tensor.Slot("aten::" + target)
	tensor.Register(tensor.Def{Schema: schema, Doc: "is " + target + " with a number.", Go: "-", Out: true,
		InPlace: inPlace, FormNames: strings.Join(formNames, " "), Body: func(c *Ctx) {
			args := make([]tensor.Value, c.NumArgs())
			for i := range args {
				args[i] = c.Value(i)
			}
			c.Return(call(op, args...))
		}})
}

func init() {
	binary("heaviside(Tensor self, Tensor values) -> Tensor",
		"is 0 where self < 0, values where self is 0 and 1 elsewhere.",
		&biK{name: "heaviside", u8: heavisideK[uint8], i8: heavisideK[int8], i16: heavisideK[int16],
			i32: heavisideK[int32], i64: heavisideK[int64], f32: vec.HeavisideF32, f64: vec.HeavisideF64, b: orHeaviside},
		func(c *Ctx) {
			a, b := c.ArgDType(0), c.ArgDType(1)
			if a.IsComplex() || b.IsComplex() {
				c.Fail(tensor.ErrDType, "heaviside is not yet implemented for complex tensors.")
			}
			if a != b && c.Device().Type != tensor.MetaDevice {
				c.Fail(tensor.ErrDType, "heaviside is not yet implemented for tensors with different dtypes.")
			}
			binaryInfer(c)
		}, tensor.Def{VJP: noDerivative, Grad: "NotImplemented"})
	binary("hypot(Tensor self, Tensor other) -> Tensor", "is sqrt(self² + other²) without overflow on the way.",
		&biK{name: "hypot", f32: vec.HypotF32, f64: vec.HypotF64}, binaryInfer,
		tensor.Def{Save: "self other result", VJP: func(c *Ctx, g *T) []*T {
			y, r := c.Out(0), make([]*T, 2)
			for i := range r { // one that is not wanted may have changed since
				if c.Needs(i) {
					r[i] = g.Mul(c.T(i).Div(y))
				}
			}
			return r
		}})
	binary("atan2(Tensor self, Tensor other) -> Tensor", "is the angle of the point (other, self).",
		&biK{name: "atan2", f32: vec.Atan2F32, f64: vec.Atan2F64}, floatInfer,
		tensor.Def{Aliases: []string{"arctan2"}, Save: "self other", VJP: func(c *Ctx, g *T) []*T {
			y, x := c.T(0), c.T(1)
			d := y.Mul(y).Add(x.Mul(x))
			origin := d.EqScalar(0) // where the gradient is 0
			r := dropIf(origin, g.Mul(d.MaskedFillScalar(origin, 1).Reciprocal()))
			return []*T{r.Mul(x), r.Mul(y.Neg())}
		}})
	tensor.Register(tensor.Def{
		Schema: "copysign.Tensor(Tensor self, Tensor other) -> Tensor", Doc: "is |self| with the sign of other.",
		InPlace: true, Out: true, Scalar: "other", Elementwise: true,
		Infer: floatInfer,
		CPU:   func(c *Ctx) { copysignKernels.run(c, 0, 1) },
		Save:  "self result",
		VJP: func(c *Ctx, g *T) []*T {
			x := c.T(0)
			r := []*T{dropIf(x.EqScalar(0), g.Mul(c.Out(0).Div(x))), nil}
			if c.Needs(1) {
				r[1] = op.Zeros(g, c.Shape(1), c.ArgDType(1))
			}
			return r
		},
	})
	nextafter := &biK{name: "nextafter", f32: vec.NextafterF32, f64: vec.NextafterF64}
	tensor.Register(tensor.Def{
		Schema:  "nextafter(Tensor self, Tensor other) -> Tensor",
		Doc:     "is the next number of the dtype after self in the direction of other.",
		InPlace: true, Out: true, Elementwise: true, Infer: binaryInfer,
		CPU: func(c *Ctx) {
			switch dt := c.Out(0).DType(); dt {
			case tensor.BFloat16:
				run2(c.Out(0), c.T(0), c.T(1), dt, dt, dt, nextafter16(0x7f80))
			case tensor.Float16:
				run2(c.Out(0), c.T(0), c.T(1), dt, dt, dt, nextafter16(0x7c00))
			default:
				nextafter.run(c, 0, 1)
			}
		},
		Save: "self other",
		VJP: func(c *Ctx, g *T) []*T {
			eq := c.T(0).Eq(c.T(1)) // where the result is other itself
			return []*T{dropIf(eq, g), op.Zeros(g, c.Shape(1), c.ArgDType(1))}
		},
	})
	addExp := func(exp func(x *T) *T) func(c *Ctx, g *T) []*T {
		return func(c *Ctx, g *T) []*T {
			a, b := c.T(0), c.T(1)
			// 1 / (1 + e^(b-a)) is the share of a
			return []*T{g.Div(exp(b.Sub(a)).AddScalar(1).Conj()), g.Div(exp(a.Sub(b)).AddScalar(1).Conj())}
		}
	}
	binaryOut("logaddexp(Tensor self, Tensor other) -> Tensor", "is log(exp(self) + exp(other)) without overflow.",
		&biK{name: "logaddexp", f32: vec.LogAddExpF32, f64: vec.LogAddExpF64, c64: logAddExpC64, c128: logAddExpC128},
		binaryInfer,
		tensor.Def{Save: "self other", VJP: addExp(func(x *T) *T { return x.Exp() })})
	binaryOut("logaddexp2(Tensor self, Tensor other) -> Tensor", "is the logarithm of 2^self + 2^other to base 2.",
		&biK{name: "logaddexp2", f32: vec.LogAddExp2F32, f64: vec.LogAddExp2F64}, binaryInfer,
		tensor.Def{Save: "self other", VJP: addExp(func(x *T) *T { return x.Exp2() })})
	binary("xlogy.Tensor(Tensor self, Tensor other) -> Tensor", "is self * log(other), 0 where self is 0.",
		&biK{name: "xlogy", f32: vec.XLogYF32, f64: vec.XLogYF64}, floatInfer,
		tensor.Def{Aliases: []string{"special_xlogy"}, FormNames: "xlogy.out=.OutTensor special_xlogy.Tensor=",
			Save: "self other", VJP: func(c *Ctx, g *T) []*T {
				x, y := c.T(0), c.T(1)
				r := make([]*T, 2)
				if c.Needs(0) {
					r[0] = dropIf(x.EqScalar(0).LogicalAnd(y.LeScalar(0)), g.Xlogy(y))
				}
				if c.Needs(1) {
					r[1] = g.Mul(x).Div(y)
				}
				return r
			}})
	numberForm("xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", "xlogy.Tensor", false,
		".Scalar_Self_out=.OutScalar_Self")
	numberForm("xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", "xlogy.Tensor", true,
		".Scalar_Other_out=.OutScalar_Other")
	numberForm("special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", "xlogy.Tensor", false)
	numberForm("special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", "xlogy.Tensor", false)
	opXLog1py := tensor.Slot("aten::special_xlog1py")
	binaryOut("special_xlog1py(Tensor self, Tensor other) -> Tensor", "is self * log(1 + other), 0 where self is 0.",
		xlog1pyKernels, floatInfer,
		tensor.Def{Save: "self other", VJP: func(c *Ctx, g *T) []*T {
			x, y := c.T(0), c.T(1)
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = dropIf(x.EqScalar(0).LogicalAnd(y.LeScalar(-1)), call(opXLog1py, tv(g), tv(y)))
			}
			if c.Needs(1) {
				r[1] = g.Mul(x).Div(y.AddScalar(1))
			}
			return r
		}})
	numberForm("special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", "special_xlog1py", false)
	numberForm("special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", "special_xlog1py", false)

	tensor.Register(tensor.Def{
		Schema: "ldexp.Tensor(Tensor self, Tensor other) -> Tensor", Doc: "is self * 2^other.", FormNames: "_.Tensor=_",
		InPlace: true, Out: true, Elementwise: true,
		Fuses: func(c *Ctx) bool { return c.ArgDType(0) == tensor.Float32 && c.ArgDType(1).IsInt() },
		Infer: func(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			run2(c.Out(0), c.T(0), c.T(1), tensor.Float32, tensor.Float32, tensor.Int64, timesPowersOfTwo)
		},
		Save: "other",
		VJP:  func(c *Ctx, g *T) []*T { return c.Grads2(g.Ldexp(c.T(1)), nil) },
		Body: func(c *Ctx) {
			x, e := c.T(0), c.T(1)
			if x.DType().IsFloat() && e.DType() == tensor.Bool {
				c.FailDType(tensor.ErrNotImpl, "ldexp_cpu_exp", tensor.Bool)
			}
			two := tensor.FloatValue(2).Num().Tensor()
			if !e.DType().IsIntOrBool() {
				c.Return(x.Mul(two.Pow(e.ToDType(tensor.PromoteTypes(e.DType(), x.DType().Real())))))
				return
			}
			dt := x.DType()
			if dt.IsIntOrBool() {
				dt = tensor.DefaultDType()
			}
			y := x.ToDType(tensor.PromoteTypes(dt, tensor.Float64))
			whole := e.ToDType(tensor.Float64)
			if dt != y.DType() {
				y = y.Mul(whole.ClampMinScalar(-700).ClampMaxScalar(700).Exp2())
			} else { // in steps, as 2^e itself may be out of range
				whole = whole.ClampMinScalar(-2200).ClampMaxScalar(2200)
				third := whole.DivScalar(3).Floor()
				for _, h := range []*T{third, third, whole.Sub(third).Sub(third)} {
					y = y.Mul(h.Exp2())
				}
			}
			c.Return(y.ToDType(dt))
		},
	})
	registerFloatPower()
}

// timesPowersOfTwo sets d[i] = x[i]·2^e[i]. The power is a float64 made of its exponent, and the product is exact in
// float64, so that it is rounded once.
func timesPowersOfTwo(d, x []float32, e []int64) {
	const bias, most = 1023, 700 // a float32 times 2^700 is infinite in float32, and times 2^-700 is 0
	x, e = x[:len(d)], e[:len(d)]
	for i, v := range x {
		power := math.Float64frombits(uint64(min(max(e[i], -most), most)+bias) << 52)
		d[i] = float32(float64(v) * power)
	}
}

func heavisideK[E integer](d, a, b []E) {
	for i, x := range a[:len(d)] {
		switch {
		case x == 0:
			d[i] = b[i]
		case x > 0:
			d[i] = 1
		default:
			d[i] = 0
		}
	}
}

func orHeaviside(d, a, b []uint8) {
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

// logAddExpC sums by way of the operand with the larger real part.
func logAddExpC(a, b complex128) complex128 {
	if cmplx.IsNaN(a) || cmplx.IsNaN(b) {
		return cmplx.NaN()
	}
	if real(a) < real(b) {
		a, b = b, a
	}
	if math.IsInf(real(a), 0) && real(a) == real(b) && a == b && real(a) < 0 {
		return a
	}
	return a + log1pC(expC(b-a))
}

func logAddExpC64(d, a, b []complex64) {
	for i := range d {
		d[i] = complex64(logAddExpC(complex128(a[i]), complex128(b[i])))
	}
}

func logAddExpC128(d, a, b []complex128) {
	for i := range d {
		d[i] = logAddExpC(a[i], b[i])
	}
}

// nextafter16 moves by one unit of a 16-bit float whose infinity has the bits inf: float32 would round its tiny step
// away again.
func nextafter16(inf uint16) func(d, a, b []uint16) {
	return func(d, a, b []uint16) {
		a, b = a[:len(d)], b[:len(d)]
		for i := range d {
			x, y := int32(a[i]), int32(b[i])
			ax, ay := x&0x7fff, y&0x7fff
			if max(ax, ay) > int32(inf) {
				d[i] = inf | (inf&-inf)>>1 // NaN
				continue
			}
			// numbers of units from zero, without branches that could not be foreseen
			ax, ay = (ax^-(x>>15))+(x>>15), (ay^-(y>>15))+(y>>15)
			far := ay - ax
			to := ax + (far>>31 | int32(uint32(-far)>>31))
			negative := to >> 31
			sign := negative & 0x8000
			if to == 0 {
				sign = x & 0x8000
			}
			r := ((to ^ negative) - negative) | sign
			if far == 0 {
				r = y
			}
			d[i] = uint16(r)
		}
	}
}

func registerFloatPower() {
	wide := func(c *Ctx) DType {
		for i := range 2 {
			if v := c.Value(i); v.K == tensor.KComplex || v.K == tensor.KTensor && v.T.IsComplex() {
				return tensor.Complex128
			}
		}
		return tensor.Float64
	}
	cast := func(c *Ctx, i int, dt DType) *T {
		v := c.Value(i)
		if v.K != tensor.KTensor {
			return v.Num().Tensor()
		}
		if v.T.DType() == dt {
			return v.T
		}
		return v.T.ToDType(dt)
	}
	body := func(c *Ctx) {
		dt := wide(c)
		a, b := cast(c, 0, dt), cast(c, 1, dt)
		if v := c.Value(1); v.K != tensor.KTensor {
			n := v.Num()
			if dt == tensor.Float64 {
				n = tensor.FloatValue(n.F).Num()
			}
			c.Return(a.PowScalar(n))
			return
		}
		c.Return(a.Pow(b))
	}
	tensor.Register(tensor.Def{Schema: "float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
		Doc: "is self to the power of exponent, computed in float64 or complex128.", Go: "FloatPower",
		FormNames: "_.Tensor_Tensor=_.Tensor", InPlace: true, Out: true, Body: body})
	tensor.Register(tensor.Def{Schema: "float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
		Doc: "is self to the power of a number, computed in float64 or complex128.", Go: "FloatPowerScalar",
		FormNames: "_.Tensor_Scalar=_.Scalar", InPlace: true, Out: true, Body: body})
	tensor.Register(tensor.Def{Schema: "float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
		Doc: "is a number to the power of exponent, computed in float64 or complex128.", Go: "FloatPowerScalarSelf",
		Out: true, Body: body})
}

var copysignKernels = biK{name: "copysign", h: vec.Copysign16, f32: vec.CopysignF32, f64: vec.CopysignF64}

var xlog1pyKernels = &biK{name: "xlog1py",
	f32: func(d, a, b []float32) {
		xlog1py(d, a, b, vec.Log1pF32, vec.MulF32, vec.EqScalarF32, vec.NeF32, vec.MaskedFillF32, vec.WhereF32)
	},
	f64: func(d, a, b []float64) {
		xlog1py(d, a, b, vec.Log1pF64, vec.MulF64, vec.EqScalarF64, vec.NeF64, vec.MaskedFillF64, vec.WhereF64)
	}}

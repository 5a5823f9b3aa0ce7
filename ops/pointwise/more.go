package pointwise

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
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

// pair is binary without an in-place form.
//
//gen:pair Out
func pair(schema, doc string, k *biK, infer func(c *Ctx), x tensor.Def) {
	x.Schema, x.Doc, x.Out, x.Elementwise, x.Infer = schema, doc, true, true, infer
	x.CPU = func(c *Ctx) { k.run(c, 0, 1) }
	tensor.Register(x)
}

// numberForm registers an overload in which a number stands for a tensor of another operator; it has no Go name of its own, since the
// boxed call is all that it is for.
func numberForm(schema, target string, inPlace bool) {
	op := tensor.Slot("aten::" + target)
	tensor.Register(tensor.Def{Schema: schema, Doc: "is " + target + " with a number.", Go: "-", Out: true, InPlace: inPlace, Body: func(c *Ctx) {
		args := make([]tensor.Value, c.NumArgs())
		for i := range args {
			args[i] = c.Value(i)
		}
		c.Return(call(op, args...))
	}})
}

// zipF makes the kernels of a function of two floats.
func zipF(name string, f func(a, b float64) float64) *biK {
	return &biK{name: name, f32: zip32(f), f64: zip64(f)}
}

func andI[E integer](d, a, b []E) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func orI[E integer](d, a, b []E) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xorI[E integer](d, a, b []E) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

// width is the number of bits of an integer type.
func width[E integer]() E {
	var n E
	for x := E(1); x != 0; x <<= 1 {
		n++
	}
	return n
}

func leftI[E integer](d, a, b []E) {
	w := width[E]()
	for i := range d {
		if b[i] < 0 || b[i] >= w {
			d[i] = 0
		} else {
			d[i] = a[i] << b[i]
		}
	}
}

func rightI[E integer](d, a, b []E) {
	w := width[E]()
	for i := range d {
		n := b[i]
		if n < 0 || n >= w {
			n = w - 1 // what remains is the sign
			if a[i] > 0 || E(0)-1 > 0 {
				d[i] = 0
				continue
			}
		}
		d[i] = a[i] >> n
	}
}

func gcdI[E integer](d, a, b []E) {
	for i := range d {
		d[i] = gcd(a[i], b[i])
	}
}

func gcd[E integer](x, y E) E {
	if x < 0 {
		x = -x
	}
	if y < 0 {
		y = -y
	}
	for x != 0 {
		x, y = y%x, x
	}
	return y
}

func lcmI[E integer](d, a, b []E) {
	for i := range d {
		g := gcd(a[i], b[i])
		if g == 0 {
			d[i] = 0
			continue
		}
		x := a[i] / g * b[i]
		if x < 0 {
			x = -x
		}
		d[i] = x
	}
}

func heavisideK[E realNumber](d, a, b []E) {
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

func logAddExp(a, b float64) float64 {
	if math.IsInf(a, 0) && a == b {
		return a
	}
	m := math.Max(a, b)
	return m + math.Log1p(math.Exp(-math.Abs(a-b)))
}

func logAddExp2(a, b float64) float64 {
	if math.IsInf(a, 0) && a == b {
		return a
	}
	m := math.Max(a, b)
	return m + math.Log1p(math.Exp2(-math.Abs(a-b)))/math.Ln2
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

// nextafter16 moves by one unit of a 16-bit float whose infinity has the bits inf: float32 would round its tiny step away again.
func nextafter16(inf uint16) func(d, a, b []uint16) {
	return func(d, a, b []uint16) {
		for i := range d {
			x, y := a[i], b[i]
			ax, ay := x&0x7fff, y&0x7fff
			switch {
			case ax > inf || ay > inf:
				d[i] = inf | (inf&-inf)>>1 // NaN
			case x == y || ax == 0 && ay == 0:
				d[i] = y
			case ax == 0:
				d[i] = y&0x8000 | 1
			case (x&0x8000 != y&0x8000) || ay < ax:
				d[i] = x - 1
			default:
				d[i] = x + 1
			}
		}
	}
}

func xlogy(x, y float64) float64 {
	if y != y {
		return y
	}
	if x == 0 {
		return 0
	}
	return x * math.Log(y)
}

func xlog1py(x, y float64) float64 {
	if y != y {
		return y
	}
	if x == 0 {
		return 0
	}
	return x * math.Log1p(y)
}

func lerpK[E float](d, a, b, w []E) {
	for i := range d {
		if x, y, t := a[i], b[i], w[i]; t > -0.5 && t < 0.5 {
			d[i] = x + t*(y-x)
		} else {
			d[i] = y - (y-x)*(1-t)
		}
	}
}

func lerpC[E complex64 | complex128](d, a, b, w []E) {
	for i := range d {
		x, y, t := a[i], b[i], w[i]
		if z := complex128(t); real(z)*real(z)+imag(z)*imag(z) < 0.25 {
			d[i] = x + t*(y-x)
		} else {
			d[i] = y - (y-x)*(1-t)
		}
	}
}

func addcmulK[E number](v E) func(d, a, b, c []E) {
	return func(d, a, b, c []E) {
		for i := range d {
			d[i] = a[i] + v*b[i]*c[i]
		}
	}
}

func addcdivC[E complex64 | complex128](v E) func(d, a, b, c []E) {
	return func(d, a, b, c []E) {
		for i := range d {
			d[i] = a[i] + E(divC(complex128(v*b[i]), complex128(c[i])))
		}
	}
}

// tern runs a kernel on the arguments 0, 1 and 2.
func tern[E any](c *Ctx, as DType, k func(d, a, b, e []E)) {
	run3(c.Out(0), c.T(0), c.T(1), c.T(2), as, as, as, as, k)
}

func nanToNumK[E float](nan, pos, neg E) func(d, a []E) {
	return func(d, a []E) {
		for i, x := range a[:len(d)] {
			switch {
			case x != x:
				x = nan
			case math.IsInf(float64(x), 1):
				x = pos
			case math.IsInf(float64(x), -1):
				x = neg
			}
			d[i] = x
		}
	}
}

// maxFinite is the largest number of a float type.
func maxFinite(dt DType) float64 {
	switch dt {
	case tensor.Float16:
		return 65504
	case tensor.BFloat16:
		return 0x1.fep127
	case tensor.Float32:
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

func roundDecimals(x, ten float64, negative bool, f32 bool) float64 {
	if f32 {
		t := float32(ten)
		if negative {
			return float64(float32(math.RoundToEven(float64(float32(x)/t))) * t)
		}
		return float64(float32(math.RoundToEven(float64(float32(x)*t))) / t)
	}
	if negative {
		return math.RoundToEven(x/ten) * ten
	}
	return math.RoundToEven(x*ten) / ten
}

func angleF[E float](d, a []E) {
	for i, x := range a[:len(d)] {
		switch {
		case x != x:
			d[i] = x
		case x < 0:
			d[i] = math.Pi
		default:
			d[i] = 0
		}
	}
}

func angleC(x complex128) float64 { return math.Atan2(imag(x), real(x)) }

func init() {
	const deg = math.Pi / 180
	floatUnary("deg2rad(Tensor self) -> Tensor", "turns degrees into radians.", &unK{name: "deg2rad", f32: scaleK[float32](deg), f64: scaleK[float64](deg)},
		tensor.Def{VJP: rule(func(c *Ctx, g *T) *T { return g.MulScalar(deg) })})
	floatUnary("rad2deg(Tensor self) -> Tensor", "turns radians into degrees.", &unK{name: "rad2deg", f32: scaleK[float32](1 / deg), f64: scaleK[float64](1 / deg)},
		tensor.Def{VJP: rule(func(c *Ctx, g *T) *T { return g.MulScalar(1 / deg) })})

	// bits
	bitwise("bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", "combines the bits of integers, or bools, by and.", &biK{name: "bitwise_and", u8: andI[uint8], i8: andI[int8], i16: andI[int16], i32: andI[int32], i64: andI[int64], b: vec.AndU8})
	bitwise("bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", "combines the bits of integers, or bools, by or.", &biK{name: "bitwise_or", u8: orI[uint8], i8: orI[int8], i16: orI[int16], i32: orI[int32], i64: orI[int64], b: vec.OrU8})
	bitwise("bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", "combines the bits of integers, or bools, by exclusive or.", &biK{name: "bitwise_xor", u8: xorI[uint8], i8: xorI[int8], i16: xorI[int16], i32: xorI[int32], i64: xorI[int64], b: xorI[uint8]})
	shift("bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", "shifts the bits of integers to the left; 0 where the distance is negative or the width of the type or more.", &biK{name: "lshift", u8: leftI[uint8], i8: leftI[int8], i16: leftI[int16], i32: leftI[int32], i64: leftI[int64]})
	shift("bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", "shifts the bits of integers to the right, keeping the sign.", &biK{name: "rshift", u8: rightI[uint8], i8: rightI[int8], i16: rightI[int16], i32: rightI[int32], i64: rightI[int64]})
	for _, n := range []string{"and", "or", "xor"} {
		numberForm("bitwise_"+n+".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "bitwise_"+n+".Tensor", false)
		operatorNames(n, "bitwise_"+n, ".Tensor", ".Scalar")
	}
	for _, n := range []string{"left", "right"} {
		op := "bitwise_" + n + "_shift"
		numberForm(op+".Tensor_Scalar(Tensor self, Scalar other) -> Tensor", op+".Tensor", true)
		numberForm(op+".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", op+".Tensor", false)
		operatorNames(n[:1]+"shift", op, ".Tensor", ".Tensor_Scalar")
	}
	// operators with the tensor on the right
	for _, f := range [][2]string{{"add", "add.Tensor"}, {"mul", "mul.Tensor"}, {"and", "bitwise_and.Tensor"}, {"or", "bitwise_or.Tensor"}, {"xor", "bitwise_xor.Tensor"}} {
		op := tensor.Slot("aten::" + f[1])
		body := func(c *Ctx) {
			args := []tensor.Value{c.Value(0), c.Value(1), tensor.IntValue(1)}
			c.Return(call(op, args[:len(op.Sch.Params)]...))
		}
		tensor.Register(tensor.Def{Schema: fmt.Sprintf("__r%s__.Tensor(Tensor self, Tensor other) -> Tensor", f[0]), Go: "-", Body: body, Scalar: "other"})
	}
	reversed := func(name string, f func(self, other *T) *T) {
		tensor.Register(tensor.Def{Schema: fmt.Sprintf("__r%s__.Tensor(Tensor self, Tensor other) -> Tensor", name), Go: "-", Scalar: "other",
			Body: func(c *Ctx) { c.Return(f(c.T(0), c.T(1))) }})
	}
	reversed("div", func(a, b *T) *T { return a.Reciprocal().Mul(b) })
	reversed("truediv", func(a, b *T) *T { return a.Reciprocal().Mul(b) })
	reversed("pow", func(a, b *T) *T { return b.PowTensor(a) })
	reversed("mod", func(a, b *T) *T { return b.Remainder(a) })
	reversed("floordiv", func(a, b *T) *T { return b.FloorDivide(a) })

	binary("gcd(Tensor self, Tensor other) -> Tensor", "is the greatest common divisor of integers.", &biK{name: "gcd", u8: gcdI[uint8], i8: gcdI[int8], i16: gcdI[int16], i32: gcdI[int32], i64: gcdI[int64]}, binaryInfer, tensor.Def{NoGrad: "integer result"})
	binary("lcm(Tensor self, Tensor other) -> Tensor", "is the least common multiple of integers.", &biK{name: "lcm", u8: lcmI[uint8], i8: lcmI[int8], i16: lcmI[int16], i32: lcmI[int32], i64: lcmI[int64]}, binaryInfer, tensor.Def{NoGrad: "integer result"})
	binary("heaviside(Tensor self, Tensor values) -> Tensor", "is 0 where self < 0, values where self is 0 and 1 elsewhere.", &biK{name: "heaviside", u8: heavisideK[uint8], i8: heavisideK[int8], i16: heavisideK[int16], i32: heavisideK[int32], i64: heavisideK[int64], f32: heavisideK[float32], f64: heavisideK[float64], b: orHeaviside}, func(c *Ctx) {
		a, b := c.ArgDType(0), c.ArgDType(1)
		if a.IsComplex() || b.IsComplex() {
			c.Fail(tensor.ErrDType, "heaviside is not yet implemented for complex tensors.")
		}
		if a != b {
			c.Fail(tensor.ErrDType, "heaviside is not yet implemented for tensors with different dtypes.")
		}
		binaryInfer(c)
	}, tensor.Def{NoGrad: "piecewise constant"})
	binary("hypot(Tensor self, Tensor other) -> Tensor", "is sqrt(self² + other²) without overflow on the way.", zipF("hypot", math.Hypot), binaryInfer,
		tensor.Def{Save: "self other result", VJP: func(c *Ctx, g *T) []*T {
			y := c.Out(0)
			return []*T{g.Mul(c.T(0).Div(y)), g.Mul(c.T(1).Div(y))}
		}})
	binary("atan2(Tensor self, Tensor other) -> Tensor", "is the angle of the point (other, self).", zipF("atan2", math.Atan2), floatInfer,
		tensor.Def{Aliases: []string{"arctan2"}, Save: "self other", VJP: func(c *Ctx, g *T) []*T {
			y, x := c.T(0), c.T(1)
			r := g.Mul(y.Mul(y).Add(x.Mul(x)).Reciprocal())
			return []*T{r.Mul(x), r.Mul(y.Neg())}
		}})
	tensor.Register(tensor.Def{
		Schema: "copysign.Tensor(Tensor self, Tensor other) -> Tensor", Doc: "is |self| with the sign of other.", InPlace: true, Out: true, Scalar: "other", Elementwise: true,
		Infer: floatInfer,
		CPU:   func(c *Ctx) { copysignKernels.run(c, 0, 1) },
		Save:  "self result",
		VJP: func(c *Ctx, g *T) []*T {
			x := c.T(0)
			r := []*T{dropIf(x.EqScalar(0), g.Mul(c.Out(0).Div(x))), nil}
			if c.Needs(1) {
				r[1] = zeros(c.Shape(1), c.ArgDType(1))
			}
			return r
		},
	})
	nextafter := &biK{name: "nextafter", f32: zip(math.Nextafter32), f64: zip64(math.Nextafter)}
	tensor.Register(tensor.Def{
		Schema: "nextafter(Tensor self, Tensor other) -> Tensor", Doc: "is the next number of the dtype after self in the direction of other.",
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
			return []*T{dropIf(eq, g), zeros(c.Shape(1), c.ArgDType(1))}
		},
	})
	addExp := func(exp func(x *T) *T) func(c *Ctx, g *T) []*T {
		return func(c *Ctx, g *T) []*T {
			a, b := c.T(0), c.T(1)
			// 1 / (1 + e^(b-a)) is the share of a
			return []*T{g.Div(exp(b.Sub(a)).AddScalar(1).Conj()), g.Div(exp(a.Sub(b)).AddScalar(1).Conj())}
		}
	}
	pair("logaddexp(Tensor self, Tensor other) -> Tensor", "is log(exp(self) + exp(other)) without overflow.",
		&biK{name: "logaddexp", f32: zip32(logAddExp), f64: zip64(logAddExp), c64: logAddExpC64, c128: logAddExpC128}, binaryInfer,
		tensor.Def{Save: "self other", VJP: addExp(func(x *T) *T { return x.Exp() })})
	pair("logaddexp2(Tensor self, Tensor other) -> Tensor", "is the logarithm of 2^self + 2^other to base 2.", zipF("logaddexp2", logAddExp2), binaryInfer,
		tensor.Def{Save: "self other", VJP: addExp(func(x *T) *T { return x.Exp2() })})
	binary("xlogy.Tensor(Tensor self, Tensor other) -> Tensor", "is self * log(other), 0 where self is 0.", zipF("xlogy", xlogy), floatInfer,
		tensor.Def{Aliases: []string{"special_xlogy"}, Save: "self other", VJP: func(c *Ctx, g *T) []*T {
			x, y := c.T(0), c.T(1)
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = dropIf(x.EqScalar(0).LogicalAnd(y.LeScalar(0)), g.Mul(y.Log()))
			}
			if c.Needs(1) {
				r[1] = g.Mul(x.Div(y))
			}
			return r
		}})
	numberForm("xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", "xlogy.Tensor", false)
	numberForm("xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", "xlogy.Tensor", true)
	numberForm("special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", "xlogy.Tensor", false)
	numberForm("special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", "xlogy.Tensor", false)
	pair("special_xlog1py(Tensor self, Tensor other) -> Tensor", "is self * log(1 + other), 0 where self is 0.", zipF("xlog1py", xlog1py), floatInfer,
		tensor.Def{Save: "self other", VJP: func(c *Ctx, g *T) []*T {
			x, y := c.T(0), c.T(1)
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = dropIf(x.EqScalar(0).LogicalAnd(y.LeScalar(-1)), g.Mul(y.Log1p()))
			}
			if c.Needs(1) {
				r[1] = g.Mul(x.Div(y.AddScalar(1)))
			}
			return r
		}})
	numberForm("special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", "special_xlog1py", false)
	numberForm("special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", "special_xlog1py", false)

	tensor.Register(tensor.Def{
		Schema: "ldexp.Tensor(Tensor self, Tensor other) -> Tensor", Doc: "is self * 2^other.", InPlace: true, Out: true,
		Body: func(c *Ctx) { c.Return(c.T(0).Mul(tensor.FloatValue(2).Num().Tensor().PowTensor(c.T(1)))) },
	})
	registerFloatPower()

	tensor.Register(tensor.Def{
		Schema:  "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
		Doc:     "is self + weight * (end - self).\nhttps://pytorch.org/docs/stable/generated/torch.lerp.html",
		InPlace: true, Out: true, Scalar: "weight", Elementwise: true,
		Infer: func(c *Ctx) {
			dt := c.ArgDType(0)
			for _, i := range []int{1, 2} {
				if v := c.Value(i); v.K == tensor.KTensor && v.T.DType() != dt && !(i == 2 && v.T.Dim() == 0 && v.T.DType().IsFloat()) {
					c.Fail(tensor.ErrDType, "expected dtype %s for `%s` but got dtype %s", cxxName(dt), []string{"", "end", "weight"}[i], cxxName(v.T.DType()))
				}
			}
			c.Alloc(0, c.BroadcastArgs(0, 1, 2), dt)
		},
		CPU: func(c *Ctx) {
			out := c.Out(0)
			w, num := numberArg(c, 2)
			switch as := out.DType().Compute(); {
			case as == tensor.Float32 && num:
				t := float32(w.F)
				run2(out, c.T(0), c.T(1), as, as, as, func(d, a, b []float32) { vec.LerpF32(d, a, b, t) })
			case as == tensor.Float64 && num:
				run2(out, c.T(0), c.T(1), as, as, as, func(d, a, b []float64) { vec.LerpF64(d, a, b, w.F) })
			case as == tensor.Float32:
				tern(c, as, lerpK[float32])
			case as == tensor.Float64:
				tern(c, as, lerpK[float64])
			case as == tensor.Complex64:
				tern(c, as, lerpC[complex64])
			case as == tensor.Complex128:
				tern(c, as, lerpC[complex128])
			default:
				missing(c, "lerp_kernel_tensor", as)
			}
		},
		Save: "self end weight",
		VJP: func(c *Ctx, g *T) []*T {
			w := c.T(2).Conj()
			r := []*T{nil, g.Mul(w), nil}
			r[0] = g.Mul(w.Neg().AddScalar(1))
			if c.Needs(2) {
				r[2] = g.Mul(c.T(1).Sub(c.T(0)).Conj())
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
		Doc:     "is self + value * tensor1 * tensor2.\nhttps://pytorch.org/docs/stable/generated/torch.addcmul.html",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1, 2), c.PromoteArgs(0, 1, 2)) },
		CPU: func(c *Ctx) {
			v := c.Num(3)
			switch as := c.Out(0).DType().Compute(); as {
			case tensor.Float32:
				s := float32(v.F)
				tern(c, as, func(d, a, b, e []float32) { vec.AddcmulF32(d, a, b, e, s) })
			case tensor.Float64:
				tern(c, as, func(d, a, b, e []float64) { vec.AddcmulF64(d, a, b, e, v.F) })
			case tensor.Int64:
				tern(c, as, addcmulK(v.I))
			case tensor.Int32:
				tern(c, as, addcmulK(int32(v.I)))
			case tensor.Int16:
				tern(c, as, addcmulK(int16(v.I)))
			case tensor.Int8:
				tern(c, as, addcmulK(int8(v.I)))
			case tensor.Uint8:
				tern(c, as, addcmulK(uint8(v.I)))
			case tensor.Complex64:
				tern(c, as, addcmulK(complex64(v.C)))
			case tensor.Complex128:
				tern(c, as, addcmulK(v.C))
			default:
				missing(c, "addcmul", as)
			}
		},
		Save: "tensor1 tensor2",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{g, nil, nil}
			gv := scaleGrad(c, g, 3)
			if c.Needs(1) {
				r[1] = gv.Mul(c.T(2).Conj())
			}
			if c.Needs(2) {
				r[2] = gv.Mul(c.T(1).Conj())
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
		Doc:     "is self + value * tensor1 / tensor2. Two integer tensors to divide are refused.\nhttps://pytorch.org/docs/stable/generated/torch.addcdiv.html",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			if c.ArgDType(1).IsIntOrBool() && c.ArgDType(2).IsIntOrBool() {
				c.Fail(tensor.ErrDType, "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of tensor1 and tensor2. "+
					"The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float inputs. "+
					"The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes.")
			}
			c.Alloc(0, c.BroadcastArgs(0, 1, 2), c.PromoteArgs(0, 1, 2))
		},
		CPU: func(c *Ctx) {
			v := c.Num(3)
			switch as := c.Out(0).DType().Compute(); as {
			case tensor.Float32:
				s := float32(v.F)
				tern(c, as, func(d, a, b, e []float32) { vec.AddcdivF32(d, a, b, e, s) })
			case tensor.Float64:
				tern(c, as, func(d, a, b, e []float64) { vec.AddcdivF64(d, a, b, e, v.F) })
			case tensor.Complex64:
				tern(c, as, addcdivC(complex64(v.C)))
			case tensor.Complex128:
				tern(c, as, addcdivC(v.C))
			default:
				missing(c, "addcdiv", as)
			}
		},
		Save: "tensor1 tensor2",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{g, nil, nil}
			t2 := c.T(2)
			gv := scaleGrad(c, g, 3)
			if c.Needs(1) {
				r[1] = gv.Div(t2.Conj())
			}
			if c.Needs(2) {
				r[2] = gv.Neg().Mul(c.T(1).Div(t2.Mul(t2)).Conj())
			}
			return r
		},
	})

	tensor.Register(tensor.Def{
		Schema: "round.decimals(Tensor self, *, int decimals) -> Tensor", Doc: "rounds to a number of decimals, halves to even; negative numbers round before the point.",
		Go: "RoundDecimals", InPlace: true, Out: true, Elementwise: true,
		Infer: sameInfer(0),
		CPU: func(c *Ctx) {
			n := c.Int(1)
			neg := n < 0
			if neg {
				n = -n
			}
			ten := math.Pow(10, float64(n))
			out, a := c.Out(0), c.T(0)
			switch {
			case out.DType().IsInt():
				tensor.CopyRaw(out, a)
			case c.Int(1) == 0:
				floats1(c, "round", 0, none1, vec.RoundF32, vec.RoundF64)
			default:
				f32 := func(d, a []float32) {
					for i, x := range a[:len(d)] {
						d[i] = float32(roundDecimals(float64(x), ten, neg, true))
					}
				}
				f64 := func(d, a []float64) {
					for i, x := range a[:len(d)] {
						d[i] = roundDecimals(x, ten, neg, false)
					}
				}
				floats1(c, "round", 0, none1, f32, f64)
			}
		},
		VJP: rule(func(c *Ctx, g *T) *T { return zerosLike(g) }),
	})
	tensor.Register(tensor.Def{
		Schema: "special_round(Tensor self, *, int decimals=0) -> Tensor", Doc: "rounds to a number of decimals, halves to even.", Out: true,
		Body: func(c *Ctx) { c.Return(c.T(0).RoundDecimals(c.Int(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", Doc: "splits numbers into mantissa, of magnitude [0.5, 1), and power of 2 (int32).", Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			if !c.ArgDType(0).IsFloat() {
				c.Fail(tensor.ErrDType, "torch.frexp() only supports floating-point dtypes")
			}
			c.Alloc(0, c.Shape(0), c.ArgDType(0))
			c.Alloc(1, c.Shape(0), tensor.Int32)
		},
		CPU: func(c *Ctx) {
			m, e, a := c.Out(0), c.Out(1), c.T(0)
			shape := m.Shape()
			ops := [...]iter.Operand{operand(m, shape, tensor.Float64), operand(e, shape, tensor.Int32), operand(a, shape, tensor.Float64)}
			iter.Run(shape, 2, ops[:], func(p *iter.Ptrs, n int) {
				m, e := slice[float64](p[0], n), slice[int32](p[1], n)
				for i, x := range slice[float64](p[2], n) {
					f, k := math.Frexp(x)
					m[i], e[i] = f, int32(k)
				}
			})
		},
		Save: "exponent",
		VJP:  rule(func(c *Ctx, g *T) *T { return g.Div(c.Out(1).Exp2()) }),
	})
	tensor.Register(tensor.Def{
		Schema: "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
		Doc:    "replaces NaN (by 0) and infinities (by the largest and smallest number of the dtype), or by the numbers given.", InPlace: true, Out: true, Elementwise: true,
		Infer: sameInfer(0),
		CPU: func(c *Ctx) {
			out, a := c.Out(0), c.T(0)
			dt := a.DType()
			if dt.IsIntOrBool() {
				tensor.CopyRaw(out, a)
				return
			}
			if dt.IsComplex() {
				out, a = parts(out, true), parts(a, true)
				dt = a.DType()
			}
			get := func(i int, def float64) float64 {
				if c.Has(i) {
					return c.Float(i)
				}
				return def
			}
			nan, pos, neg := get(1, 0), get(2, maxFinite(dt)), get(3, -maxFinite(dt))
			if as := dt.Compute(); as == tensor.Float32 {
				run1(out, a, as, as, nanToNumK(float32(nan), float32(pos), float32(neg)))
			} else {
				run1(out, a, as, as, nanToNumK(nan, pos, neg))
			}
		},
		Save: "self",
		VJP:  rule(func(c *Ctx, g *T) *T { return keepIf(c.T(0).IsFinite(), g) }),
	})
	angle := &unK{name: "angle", f32: angleF[float32], f64: angleF[float64]}
	tensor.Register(tensor.Def{
		Schema: "angle(Tensor self) -> Tensor", Doc: "is the angle of complex numbers; that of negative real ones is pi.", Out: true, Elementwise: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), floatType(c.ArgDType(0)).Real()) },
		CPU: func(c *Ctx) {
			out, a := c.Out(0), c.T(0)
			switch a.DType() {
			case tensor.Complex64:
				run1(out, a, tensor.Float32, a.DType(), each(func(x complex64) float32 { return float32(angleC(complex128(x))) }))
			case tensor.Complex128:
				run1(out, a, tensor.Float64, a.DType(), each(angleC))
			default:
				angle.run(c, out, a, out.DType())
			}
		},
		Save: "self",
		VJP: rule(func(c *Ctx, g *T) *T {
			x := c.T(0)
			if !x.IsComplex() {
				return zerosLike(g)
			}
			re, im := call(opReal, tv(x)), x.Imag()
			m := re.Mul(re).Add(im.Mul(im))
			return dropIf(x.EqScalar(0), call(opComplex, tv(g.Mul(im.Neg().Div(m))), tv(g.Mul(re.Div(m)))))
		}),
	})
	tensor.Register(tensor.Def{
		Schema: "polar(Tensor abs, Tensor angle) -> Tensor", Doc: "makes complex numbers of magnitude and angle.", Out: true, Elementwise: true,
		Infer: func(c *Ctx) { complexInfer(c, "abs", "angle") },
		CPU: func(c *Ctx) {
			out := c.Out(0)
			if out.DType() == tensor.Complex64 {
				run2(out, c.T(0), c.T(1), tensor.Complex64, tensor.Float32, tensor.Float32, func(d []complex64, r, p []float32) {
					for i := range d {
						s, co := math.Sincos(float64(p[i]))
						d[i] = complex(r[i]*float32(co), r[i]*float32(s))
					}
				})
				return
			}
			run2(out, c.T(0), c.T(1), tensor.Complex128, tensor.Float64, tensor.Float64, func(d []complex128, r, p []float64) {
				for i := range d {
					s, co := math.Sincos(p[i])
					d[i] = complex(r[i]*co, r[i]*s)
				}
			})
		},
		Save: "abs angle",
		VJP: func(c *Ctx, g *T) []*T {
			r, p := c.T(0), c.T(1)
			s, co := p.Sin(), p.Cos()
			gr, gi := call(opReal, tv(g)), g.Imag()
			return []*T{gr.Mul(co).Add(gi.Mul(s)), r.Mul(gi.Mul(co).Sub(gr.Mul(s)))}
		},
	})
	for _, n := range []string{"resolve_conj", "resolve_neg"} {
		tensor.Register(tensor.Def{Schema: n + "(Tensor(a) self) -> Tensor(a)", Go: "-", Doc: "returns self: no tensor here is lazily conjugated or negated.", Body: func(c *Ctx) { c.Return(c.T(0)) }})
	}
	for _, n := range []string{"is_conj", "is_neg"} {
		tensor.Register(tensor.Def{Schema: n + "(Tensor self) -> bool", Go: "-", Doc: "is false: no tensor here is lazily conjugated or negated.", Body: func(c *Ctx) { c.ReturnValue(tensor.BoolValue(false)) }})
	}
	registerClose()
}

// bitwise and shift register integer operators.
//
//gen:bitwise InPlace Out Scalar=other
func bitwise(schema, doc string, k *biK) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, InPlace: true, Out: true, Scalar: "other", Elementwise: true, Infer: binaryInfer,
		CPU: func(c *Ctx) { k.run(c, 0, 1) }, NoGrad: "integer result"})
}

//gen:shift InPlace Out
func shift(schema, doc string, k *biK) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, InPlace: true, Out: true, Elementwise: true, Infer: binaryInfer,
		CPU: func(c *Ctx) { k.run(c, 0, 1) }, NoGrad: "integer result"})
}

// operatorNames registers __and__ and __iand__ for bitwise_and, and their like.
func operatorNames(py, name, tensorForm, numForm string) {
	for _, f := range []struct{ overload, typ, target string }{{"Tensor", "Tensor", name + tensorForm}, {"Scalar", "Scalar", name + numForm}} {
		op, in := tensor.Slot("aten::"+f.target), tensor.Slot("aten::"+name+"_."+f.target[len(name)+1:])
		tensor.Register(tensor.Def{Schema: fmt.Sprintf("__%s__.%s(Tensor self, %s other) -> Tensor", py, f.overload, f.typ), Go: "-",
			Body: func(c *Ctx) { c.Return(call(op, c.Value(0), c.Value(1))) }})
		tensor.Register(tensor.Def{Schema: fmt.Sprintf("__i%s__.%s(Tensor(a!) self, %s other) -> Tensor(a!)", py, f.overload, f.typ), Go: "-",
			Body: func(c *Ctx) { c.Return(call(in, c.Value(0), c.Value(1))) }})
	}
}

func orHeaviside(d, a, b []uint8) {
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

var copysignKernels = *zipF("copysign", math.Copysign)

func scaleK[E float](s float64) func(d, a []E) {
	f := E(s)
	return func(d, a []E) {
		for i, x := range a[:len(d)] {
			d[i] = x * f
		}
	}
}

// cxxName is a dtype as C++ messages print it.
func cxxName(dt DType) string {
	switch dt {
	case tensor.Complex64:
		return "c10::complex<float>"
	case tensor.Complex128:
		return "c10::complex<double>"
	}
	switch n := dt.Name(); n {
	case "float32":
		return "float"
	case "float64":
		return "double"
	case "int64":
		return "long int"
	case "int32":
		return "int"
	case "float16":
		return "c10::Half"
	case "bfloat16":
		return "c10::BFloat16"
	default:
		return n
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
	to := tensor.Slot("aten::_to_copy")
	cast := func(c *Ctx, i int, dt DType) *T {
		v := c.Value(i)
		if v.K != tensor.KTensor {
			return v.Num().Tensor()
		}
		if v.T.DType() == dt {
			return v.T
		}
		return call(to, v, tensor.DTypeValue(dt), tensor.Value{})
	}
	body := func(c *Ctx) {
		dt := wide(c)
		a, b := cast(c, 0, dt), cast(c, 1, dt)
		if v := c.Value(1); v.K != tensor.KTensor {
			n := v.Num()
			if dt == tensor.Float64 {
				n = tensor.FloatValue(n.F).Num()
			}
			c.Return(a.Pow(n))
			return
		}
		c.Return(a.PowTensor(b))
	}
	tensor.Register(tensor.Def{Schema: "float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", Doc: "is self to the power of exponent, computed in float64 or complex128.", Go: "FloatPowerTensor", InPlace: true, Out: true, Body: body})
	tensor.Register(tensor.Def{Schema: "float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", Doc: "is self to the power of a number, computed in float64 or complex128.", Go: "FloatPower", InPlace: true, Out: true, Body: body})
	tensor.Register(tensor.Def{Schema: "float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", Doc: "is a number to the power of exponent, computed in float64 or complex128.", Go: "FloatPowerNumber", Out: true, Body: body})
}

// isClose is torch.isclose without its checks of dtypes.
func isClose(a, b *T, rtol, atol float64, equalNaN bool) *T {
	var r *T
	tensor.NoGrad(func() {
		r = a.Eq(b)
		if dt := a.DType(); equalNaN && (dt.IsFloat() || dt.IsComplex()) {
			r = r.LogicalOr(a.IsNaN().LogicalAnd(b.IsNaN()))
		}
		if rtol == 0 && atol == 0 {
			return
		}
		if b.DType().IsIntOrBool() {
			a, b = wider(a), wider(b)
		}
		allowed := b.MulScalar(rtol).Abs().AddScalar(atol)
		actual := a.Sub(b).Abs()
		r = r.LogicalOr(actual.IsFinite().LogicalAnd(actual.Le(allowed)))
	})
	return r
}

func wider(t *T) *T {
	w := tensor.New(t.Shape(), tensor.DefaultDType())
	tensor.CopyRaw(w, t)
	return w
}

func allTrue(t *T) bool {
	for _, x := range slice[uint8](t.Dense().Ptr(), t.Numel()) {
		if x == 0 {
			return false
		}
	}
	return true
}

func registerClose() {
	check := func(c *Ctx) {
		a, b := c.T(0), c.T(1)
		if a.DType() != b.DType() {
			c.Fail(tensor.ErrDType, "%s did not match %s", a.DType().ClassName(), b.DType().ClassName())
		}
		if x := c.Float(2); x < 0 {
			c.Fail(tensor.ErrValue, "rtol must be greater than or equal to zero, but got %g", x)
		}
		if x := c.Float(3); x < 0 {
			c.Fail(tensor.ErrValue, "atol must be greater than or equal to zero, but got %g", x)
		}
	}
	tensor.Register(tensor.Def{
		Schema: "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
		Doc:    "is true where |self - other| <= atol + rtol * |other|.\nhttps://pytorch.org/docs/stable/generated/torch.isclose.html",
		Body: func(c *Ctx) {
			check(c)
			c.Return(isClose(c.T(0), c.T(1), c.Float(2), c.Float(3), c.Bool(4)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
		Doc:    "reports that |self - other| <= atol + rtol * |other| everywhere.\nhttps://pytorch.org/docs/stable/generated/torch.allclose.html",
		Body: func(c *Ctx) {
			check(c)
			r := isClose(c.T(0), c.T(1), c.Float(2), c.Float(3), c.Bool(4))
			c.ReturnValue(tensor.BoolValue(r.Numel() == 0 || allTrue(r)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "equal(Tensor self, Tensor other) -> bool", Doc: "reports that two tensors have the same shape and equal elements; NaN equals nothing.",
		Body: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			if !tensor.SameShape(a.Shape(), b.Shape()) {
				c.ReturnValue(tensor.BoolValue(false))
				return
			}
			var r *T
			tensor.NoGrad(func() { r = a.Eq(b) })
			c.ReturnValue(tensor.BoolValue(r.Numel() == 0 || allTrue(r)))
		},
	})
}

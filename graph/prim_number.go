package graph

import (
	"math"
	"math/bits"
	"math/cmplx"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// This file has the operators on Python's numbers that PyTorch registers in register_prim_ops.cpp. Integers wrap at 64
// bits, as PyTorch's do.

// numberKinds are the letters of the schemas below.
var numberKinds = map[byte]string{'i': "int", 'f': "float", 'c': "complex", 'b': "bool", 'S': "Scalar"}

// forms registers name for the pairs of kinds "ii", "if", …, with the overload that PyTorch names after them. The
// result is of the kind behind ">".
func forms(name, params, spec string, fn Func) {
	for _, s := range strings.Fields(spec) {
		kinds, result, _ := strings.Cut(s, ">")
		kinds, overload, named := strings.Cut(kinds, "=")
		if !named {
			overload = numberKinds[kinds[0]]
			if len(kinds) == 2 && kinds[0] != kinds[1] {
				overload += "_" + numberKinds[kinds[1]]
			}
			if kinds == "SS" {
				overload = ""
			}
		}
		full := name
		if overload != "" {
			full += "." + overload
		}
		var ps []string
		for i, p := range strings.Fields(params) {
			ps = append(ps, numberKinds[kinds[i]]+" "+p)
		}
		Register(full+"("+strings.Join(ps, ", ")+") -> "+numberKinds[result[0]], fn)
	}
}

func intOf(n int64) tensor.Value { return tensor.Value{K: tensor.KInt, N: n} }

// whole reports two ints or bools.
func whole(a []tensor.Value) bool {
	return (a[0].K == tensor.KInt || a[0].K == tensor.KBool) && (a[1].K == tensor.KInt || a[1].K == tensor.KBool)
}

func isComplex(v *tensor.Value) bool { return v.K == tensor.KComplex }

// float reads a real number.
func float(v *tensor.Value) float64 {
	switch v.K {
	case tensor.KFloat:
		return v.Float()
	case tensor.KInt, tensor.KBool:
		return float64(v.N)
	}
	return v.Num().F
}

// arithmetic makes an operator of its rules for ints, floats and complex numbers.
func arithmetic(i func(a, b int64) int64, f func(a, b float64) float64, c func(a, b complex128) complex128) Func {
	return func(a []tensor.Value) tensor.Value {
		switch {
		case whole(a):
			return intOf(i(a[0].N, a[1].N))
		case isComplex(&a[0]) || isComplex(&a[1]):
			return tensor.ComplexValue(c(a[0].Num().C, a[1].Num().C))
		}
		return tensor.FloatValue(f(float(&a[0]), float(&a[1])))
	}
}

// comparison makes an operator of its rules.
func comparison(i func(a, b int64) bool, f func(a, b float64) bool, s func(a, b string) bool) Func {
	return func(a []tensor.Value) tensor.Value {
		switch {
		case whole(a):
			return tensor.BoolValue(i(a[0].N, a[1].N))
		case a[0].K == tensor.KStr:
			return tensor.BoolValue(s(text(a[0]), text(a[1])))
		}
		return tensor.BoolValue(f(float(&a[0]), float(&a[1])))
	}
}

func text(v tensor.Value) string {
	s, ok := v.X.(string)
	if !ok {
		tensor.Fail(tensor.ErrType, "want a string, not %s", describe(v))
	}
	return s
}

func floorDiv(a, b int64) int64 {
	if b == 0 {
		tensor.Fail(tensor.ErrValue, "division by 0")
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func intMod(a, b int64) int64 {
	if b == 0 {
		tensor.Fail(tensor.ErrValue, "division by 0")
	}
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

// floatMod is PyTorch's remainder of floats, which is not exactly Python's: std::fmod(b + std::fmod(a, b), b). It is NaN
// for b = 0.
func floatMod(a, b float64) float64 { return math.Mod(b+math.Mod(a, b), b) }

// intPow is a power of integers that wraps; a negative exponent gives the truncated float.
func intPow(a, n int64) int64 {
	if n < 0 {
		return int64(math.Pow(float64(a), float64(n)))
	}
	r := int64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			r *= a
		}
		a *= a
	}
	return r
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

const (
	sums     = "ii>i ff>f if>f fi>f cc>c cf>c fc>c ci>c ic>c SS>S"
	compares = "ii>b ff>b if>b fi>b SS>b"
	reals    = "ii>f ff>f if>f fi>f SS>f"
)

func init() {
	forms("aten::add", "a b", sums, arithmetic(
		func(a, b int64) int64 { return a + b },
		func(a, b float64) float64 { return a + b },
		func(a, b complex128) complex128 { return a + b }))
	forms("aten::sub", "a b", sums, arithmetic(
		func(a, b int64) int64 { return a - b },
		func(a, b float64) float64 { return a - b },
		func(a, b complex128) complex128 { return a - b }))
	forms("aten::mul", "a b", sums, arithmetic(
		func(a, b int64) int64 { return a * b },
		func(a, b float64) float64 { return a * b },
		func(a, b complex128) complex128 { return a * b }))
	forms("aten::div", "a b", "ii>f ff>f cc>c SS>f", func(a []tensor.Value) tensor.Value {
		if isComplex(&a[0]) || isComplex(&a[1]) {
			return tensor.ComplexValue(a[0].Num().C / a[1].Num().C)
		}
		return tensor.FloatValue(float(&a[0]) / float(&a[1]))
	})
	forms("aten::floordiv", "a b", "ii>i ff>f if>f fi>f SS>S", func(a []tensor.Value) tensor.Value {
		if whole(a) {
			return intOf(floorDiv(a[0].N, a[1].N))
		}
		return tensor.FloatValue(math.Floor(float(&a[0]) / float(&a[1])))
	})
	forms("aten::remainder", "a b", "ii>i ff>f if>f fi>f SS>S", arithmetic(intMod, floatMod, nil))
	forms("aten::__round_to_zero_floordiv", "a b", "ii>i", arithmetic(func(a, b int64) int64 {
		if b == 0 {
			tensor.Fail(tensor.ErrValue, "division by 0")
		}
		return a / b
	}, nil, nil))
	forms("aten::fmod", "a b", reals, realFunc2(math.Mod))
	forms("aten::mathremainder", "a b", reals, realFunc2(math.Remainder))
	forms("aten::copysign", "a b", reals, realFunc2(math.Copysign))
	forms("aten::atan2", "a b", "ii>f ff>f if>f fi>f SS=Scalar_Scalar>f", realFunc2(math.Atan2))
	forms("aten::log", "a b", "ii=int_int>f ff=float_float>f if>f fi>f cc=complex_complex>c cf>c ci>c fc>c ic>c "+
		"SS=Scalar_Scalar>f", func(a []tensor.Value) tensor.Value {
		if isComplex(&a[0]) || isComplex(&a[1]) {
			return tensor.ComplexValue(cmplx.Log(a[0].Num().C) / cmplx.Log(a[1].Num().C))
		}
		return tensor.FloatValue(math.Log(float(&a[0])) / math.Log(float(&a[1])))
	})
	forms("aten::pow", "a b", "ii>f ff>f if>f fi>f cc>c cf>c fc>c ii=int_to_int>i SS=Scalar_Scalar>f",
		func(a []tensor.Value) tensor.Value {
			if isComplex(&a[0]) || isComplex(&a[1]) {
				return tensor.ComplexValue(cmplx.Pow(a[0].Num().C, a[1].Num().C))
			}
			x, y := float(&a[0]), float(&a[1])
			if x == 0 && y < 0 {
				tensor.Fail(tensor.ErrValue, "0.0 cannot be raised to a negative power")
			}
			return tensor.FloatValue(math.Pow(x, y))
		})
	helpers.byFull["aten::pow.int_to_int"].fn = func(a []tensor.Value) tensor.Value {
		return intOf(intPow(a[0].N, a[1].N))
	}
	registerComparisons()
	registerBits()
	registerUnary()
	registerConversions()
}

func realFunc2(f func(a, b float64) float64) Func {
	return func(a []tensor.Value) tensor.Value { return tensor.FloatValue(f(float(&a[0]), float(&a[1]))) }
}

func registerComparisons() {
	for _, c := range []struct {
		name string
		fn   Func
	}{
		{"lt", comparison(func(a, b int64) bool { return a < b }, func(a, b float64) bool { return a < b },
			func(a, b string) bool { return a < b })},
		{"le", comparison(func(a, b int64) bool { return a <= b }, func(a, b float64) bool { return a <= b },
			func(a, b string) bool { return a <= b })},
		{"gt", comparison(func(a, b int64) bool { return a > b }, func(a, b float64) bool { return a > b },
			func(a, b string) bool { return a > b })},
		{"ge", comparison(func(a, b int64) bool { return a >= b }, func(a, b float64) bool { return a >= b },
			func(a, b string) bool { return a >= b })},
	} {
		forms("aten::"+c.name, "a b", compares, c.fn)
		Register("aten::"+c.name+".str(str a, str b) -> bool", c.fn)
	}
	equal := func(a []tensor.Value) tensor.Value {
		if whole(a) {
			return tensor.BoolValue(a[0].N == a[1].N)
		}
		return tensor.BoolValue(Equal(a[0], a[1]))
	}
	unequal := func(a []tensor.Value) tensor.Value { return tensor.BoolValue(equal(a).N == 0) }
	for _, c := range []struct {
		name string
		fn   Func
	}{{"eq", equal}, {"ne", unequal}} {
		forms("aten::"+c.name, "a b", "ii>b bb>b ff>b if>b fi>b cc>b cf>b fc>b SS>b", c.fn)
		for _, t := range []string{"str", "Device", "AnyEnumType", "int[]", "float[]", "bool[]", "str[]", "Tensor[]"} {
			overload := strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(t, "[]", "_list")), "anyenumtype", "enum")
			if t == "Tensor[]" {
				overload = "Tensor_list"
			}
			Register("aten::"+c.name+"."+overload+"("+t+" a, "+t+" b) -> bool", c.fn)
		}
	}
	Register("aten::__not__(bool self) -> bool", func(a []tensor.Value) tensor.Value {
		return tensor.BoolValue(!truth(&a[0]))
	})
	is := func(a []tensor.Value) bool {
		if a[0].K != a[1].K {
			return false
		}
		if a[0].K == tensor.KAny || a[0].K == tensor.KTensor {
			return a[0].T == a[1].T && a[0].X == a[1].X
		}
		return Equal(a[0], a[1])
	}
	Register("aten::__is__(t1 self, t2 obj) -> bool",
		func(a []tensor.Value) tensor.Value { return tensor.BoolValue(is(a)) })
	Register("aten::__isnot__(t1 self, t2 obj) -> bool", func(a []tensor.Value) tensor.Value {
		return tensor.BoolValue(!is(a))
	})
}

// Equal is Python's ==. Tensors are equal when they are of one shape with equal elements.
func Equal(a, b tensor.Value) bool {
	if x, ok := ItemsOf(a); ok {
		y, ok := ItemsOf(b)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !Equal(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	number := func(v *tensor.Value) bool {
		return v.K == tensor.KInt || v.K == tensor.KBool || v.K == tensor.KFloat || v.K == tensor.KComplex
	}
	switch {
	case number(&a) && number(&b):
		if isComplex(&a) || isComplex(&b) {
			return a.Num().C == b.Num().C
		}
		if a.K == tensor.KFloat || b.K == tensor.KFloat {
			return float(&a) == float(&b)
		}
		return a.N == b.N
	case a.K != b.K:
		return false
	case a.K == tensor.KNone:
		return true
	case a.K == tensor.KTensor:
		return a.T == b.T || tensor.SameShape(a.T.Shape(), b.T.Shape()) && a.T.Equal(b.T)
	}
	switch x := a.X.(type) {
	case *Enum:
		y, ok := b.X.(*Enum)
		return ok && x.Class == y.Class && x.Name == y.Name
	case *Dict:
		y, ok := b.X.(*Dict)
		if !ok || x.Len() != y.Len() {
			return false
		}
		same := true
		x.Each(func(k, v tensor.Value) {
			w, ok := y.Get(k)
			same = same && ok && Equal(v, w)
		})
		return same
	}
	return a.X == b.X
}

func registerBits() {
	for _, o := range []struct {
		name string
		f    func(a, b int64) int64
	}{
		{"__and__", func(a, b int64) int64 { return a & b }},
		{"__or__", func(a, b int64) int64 { return a | b }},
		{"__xor__", func(a, b int64) int64 { return a ^ b }},
	} {
		Register("aten::"+o.name+".bool(bool a, bool b) -> bool", func(a []tensor.Value) tensor.Value {
			return tensor.BoolValue(o.f(a[0].N, a[1].N) != 0)
		})
		Register("aten::"+o.name+".int(int a, int b) -> int", arithmetic(o.f, nil, nil))
	}
	// C++ leaves a shift by 64 and more, or less than 0, open; processors take the last 6 bits
	Register("aten::__lshift__.int(int a, int b) -> int", func(a []tensor.Value) tensor.Value {
		return intOf(a[0].N << uint64(a[1].N&63))
	})
	Register("aten::__rshift__.int(int a, int b) -> int", func(a []tensor.Value) tensor.Value {
		return intOf(a[0].N >> uint64(a[1].N&63))
	})
	Register("aten::gcd.int(int a, int b) -> int", arithmetic(gcd, nil, nil))
	Register("aten::factorial.int(int a) -> int", func(a []tensor.Value) tensor.Value {
		if a[0].N < 0 {
			tensor.Fail(tensor.ErrValue, "factorial() not defined for negative values")
		}
		r := int64(1)
		for i := int64(2); i <= a[0].N && i < 1<<16; i++ {
			hi, _ := bits.Mul64(uint64(r), uint64(i))
			if r *= i; r == 0 && hi != 0 {
				break // it has wrapped to zero and stays there
			}
		}
		return intOf(r)
	})
	Register("aten::__derive_index(int index, int start, int step) -> int", func(a []tensor.Value) tensor.Value {
		return intOf(a[1].N + a[0].N*a[2].N)
	})
	Register("aten::__range_length(int lo, int hi, int step) -> int", func(a []tensor.Value) tensor.Value {
		lo, hi, step := a[0].N, a[1].N, a[2].N
		switch {
		case step == 0:
			tensor.Fail(tensor.ErrValue, "range() arg 3 must not be zero")
		case step > 0 && lo < hi:
			return intOf(1 + (hi-1-lo)/step)
		case step < 0 && lo > hi:
			return intOf(1 + (lo-1-hi)/-step)
		}
		return intOf(0)
	})
	two := func(x, y tensor.Value) tensor.Value { return NewTuple(x, y) }
	Register("aten::divmod.int(int x, int y) -> (int, int)", func(a []tensor.Value) tensor.Value {
		if a[1].N == 0 {
			tensor.Fail(tensor.ErrValue, "ZeroDivisionError: integer division or modulo by zero")
		}
		return two(intOf(floorDiv(a[0].N, a[1].N)), intOf(intMod(a[0].N, a[1].N)))
	})
	for _, f := range []string{"float(float x, float y)", "float_int(float x, int y)", "int_float(int x, float y)"} {
		Register("aten::divmod."+f+" -> (float, float)", func(a []tensor.Value) tensor.Value {
			x, y := float(&a[0]), float(&a[1])
			if y == 0 {
				tensor.Fail(tensor.ErrValue, "ZeroDivisionError: float divmod()")
			}
			r := math.Mod(x, y)
			if r != 0 && (r < 0) != (y < 0) {
				r += y
			}
			return two(tensor.FloatValue((x-r)/y), tensor.FloatValue(r))
		})
	}
	Register("aten::frexp(float a) -> (float, int)", func(a []tensor.Value) tensor.Value {
		m, e := math.Frexp(float(&a[0]))
		return two(tensor.FloatValue(m), tensor.IntValue(e))
	})
	Register("aten::modf(float a) -> (float, float)", func(a []tensor.Value) tensor.Value {
		x := float(&a[0])
		whole, frac := math.Modf(x)
		if math.IsInf(x, 0) {
			frac = math.Copysign(0, x)
		}
		return two(tensor.FloatValue(frac), tensor.FloatValue(whole))
	})
	Register("aten::ldexp(float x, int i) -> float", func(a []tensor.Value) tensor.Value {
		return tensor.FloatValue(math.Ldexp(float(&a[0]), int(a[1].N)))
	})
}

// realFunc is a function of one real number whose result is a float.
func realFunc(name string, f func(float64) float64, c func(complex128) complex128) {
	fn := func(a []tensor.Value) tensor.Value {
		if isComplex(&a[0]) && c != nil {
			return tensor.ComplexValue(c(a[0].Num().C))
		}
		return tensor.FloatValue(f(float(&a[0])))
	}
	spec := "i>f f>f S=Scalar>S"
	if c != nil {
		spec = "i>f f>f c>c S=Scalar>S"
	}
	forms("aten::"+name, "a", spec, fn)
}

func registerUnary() {
	realFunc("sqrt", math.Sqrt, cmplx.Sqrt)
	realFunc("exp", math.Exp, cmplx.Exp)
	realFunc("expm1", math.Expm1, nil)
	realFunc("log", math.Log, cmplx.Log)
	realFunc("log10", math.Log10, cmplx.Log10)
	realFunc("log1p", math.Log1p, nil)
	realFunc("sin", math.Sin, cmplx.Sin)
	realFunc("cos", math.Cos, cmplx.Cos)
	realFunc("tan", math.Tan, cmplx.Tan)
	realFunc("asin", math.Asin, cmplx.Asin)
	realFunc("acos", math.Acos, cmplx.Acos)
	realFunc("atan", math.Atan, cmplx.Atan)
	realFunc("sinh", math.Sinh, cmplx.Sinh)
	realFunc("cosh", math.Cosh, cmplx.Cosh)
	realFunc("tanh", math.Tanh, cmplx.Tanh)
	realFunc("asinh", math.Asinh, cmplx.Asinh)
	realFunc("acosh", math.Acosh, cmplx.Acosh)
	realFunc("atanh", math.Atanh, cmplx.Atanh)
	realFunc("erf", math.Erf, nil)
	realFunc("erfc", math.Erfc, nil)
	realFunc("gamma", math.Gamma, nil)
	realFunc("lgamma", func(x float64) float64 { y, _ := math.Lgamma(x); return y }, nil)
	realFunc("fabs", math.Abs, nil)
	realFunc("degrees", func(x float64) float64 { return x * 180 / math.Pi }, nil)
	realFunc("radians", func(x float64) float64 { return x * math.Pi / 180 }, nil)
	realFunc("round", math.RoundToEven, nil)
	forms("aten::angle", "a", "i>f f>f c>f S=Scalar>S", func(a []tensor.Value) tensor.Value {
		return tensor.FloatValue(cmplx.Phase(a[0].Num().C))
	})
	toInt := func(f func(float64) float64) Func {
		return func(a []tensor.Value) tensor.Value {
			if a[0].K == tensor.KInt {
				return a[0]
			}
			x := float(&a[0])
			if math.IsNaN(x) || math.IsInf(x, 0) {
				tensor.Fail(tensor.ErrValue, "Cannot convert float %s to integer", strings.Trim(floatText(x), "-"))
			}
			return intOf(int64(f(x)))
		}
	}
	forms("aten::floor", "a", "i>i f>i S=Scalar>S", toInt(math.Floor))
	forms("aten::ceil", "a", "i>i f>i S=Scalar>S", toInt(math.Ceil))
	forms("aten::neg", "a", "i>i f>f c>c S=Scalar>S", func(a []tensor.Value) tensor.Value {
		switch a[0].K {
		case tensor.KFloat:
			return tensor.FloatValue(-a[0].Float())
		case tensor.KComplex:
			return tensor.ComplexValue(-a[0].Num().C)
		}
		return intOf(-a[0].N)
	})
	forms("prim::abs", "a", "i>i f>f c>f S=Scalar>S", func(a []tensor.Value) tensor.Value {
		switch a[0].K {
		case tensor.KFloat:
			return tensor.FloatValue(math.Abs(a[0].Float()))
		case tensor.KComplex:
			return tensor.FloatValue(cmplx.Abs(a[0].Num().C))
		}
		return intOf(max(a[0].N, -a[0].N))
	})
	for _, t := range []string{"float", "complex"} {
		for name, f := range map[string]func(float64) bool{
			"isnan": math.IsNaN,
			"isinf": func(x float64) bool { return math.IsInf(x, 0) },
		} {
			Register("aten::"+name+"."+t+"("+t+" a) -> bool", func(a []tensor.Value) tensor.Value {
				c := a[0].Num().C
				return tensor.BoolValue(f(real(c)) || f(imag(c)))
			})
		}
		Register("aten::isfinite."+t+"("+t+" a) -> bool", func(a []tensor.Value) tensor.Value {
			c := a[0].Num().C
			return tensor.BoolValue(!cmplx.IsNaN(c) && !cmplx.IsInf(c))
		})
	}
	for _, o := range []struct {
		name  string
		first func(a, b float64) bool
	}{{"min", func(a, b float64) bool { return a < b }}, {"max", func(a, b float64) bool { return a > b }}} {
		sign := int64(1)
		if o.name == "max" {
			sign = -1
		}
		forms("prim::"+o.name, "a b", "ii>i ff>f if>f fi>f SS>S", func(a []tensor.Value) tensor.Value {
			if whole(a) {
				if (a[0].N < a[1].N) == (sign > 0) {
					return a[0]
				}
				return a[1]
			}
			x, y := float(&a[0]), float(&a[1])
			if !o.first(x, y) { // NaN too
				x = y
			}
			return tensor.FloatValue(x)
		})
	}
}

func registerConversions() {
	toInt := func(a []tensor.Value) tensor.Value {
		switch a[0].K {
		case tensor.KFloat:
			return intOf(int64(a[0].Float()))
		case tensor.KStr:
			return parseInt(text(a[0]))
		case tensor.KTensor:
			return intOf(a[0].T.Num().I)
		case tensor.KAny:
			tensor.Fail(tensor.ErrType, "%s is no number", describe(a[0]))
		}
		return intOf(a[0].Num().I)
	}
	toFloat := func(a []tensor.Value) tensor.Value {
		switch a[0].K {
		case tensor.KStr:
			return parseFloat(text(a[0]))
		case tensor.KTensor:
			return tensor.FloatValue(a[0].T.Num().F)
		}
		return tensor.FloatValue(float(&a[0]))
	}
	for _, t := range []string{"Tensor", "bool", "float", "int", "Scalar", "str"} {
		if t != "int" {
			Register("aten::Int."+t+"("+t+" a) -> int", toInt)
		}
		if t != "float" {
			Register("aten::Float."+t+"("+t+" a) -> float", toFloat)
		}
		if t != "bool" && t != "Scalar" && t != "str" {
			Register("aten::Bool."+t+"("+t+" a) -> bool", func(a []tensor.Value) tensor.Value {
				if a[0].K == tensor.KFloat {
					return tensor.BoolValue(a[0].Float() != 0)
				}
				return tensor.BoolValue(truth(&a[0]))
			})
		}
	}
	Register("aten::Complex.Scalar(Scalar a) -> complex", func(a []tensor.Value) tensor.Value {
		return tensor.ComplexValue(a[0].Num().C)
	})
	for _, x := range []string{"int", "float", "bool"} {
		for _, y := range []string{"int", "float", "bool"} {
			Register("aten::Complex."+x+"_"+y+"("+x+" x, "+y+" y) -> complex", func(a []tensor.Value) tensor.Value {
				return tensor.ComplexValue(complex(float(&a[0]), float(&a[1])))
			})
		}
	}
	// implicit makes the conversion that TorchScript does by itself, of tensors without dimensions.
	implicit := func(fn Func) Func {
		return func(a []tensor.Value) tensor.Value {
			if argTensor(a, 0).Dim() != 0 {
				tensor.Fail(tensor.ErrType, "Cannot input a tensor of dimension other than 0 as a scalar argument")
			}
			return fn(a)
		}
	}
	Register("aten::ScalarImplicit(Tensor a) -> Scalar",
		implicit(func(a []tensor.Value) tensor.Value { return a[0].T.Num().Value() }))
	toComplex := func(a []tensor.Value) tensor.Value { return tensor.ComplexValue(a[0].T.Num().C) }
	Register("aten::ComplexImplicit(Tensor a) -> complex", implicit(toComplex))
	Register("aten::IntImplicit(Tensor a) -> int", implicit(toInt))
	Register("aten::FloatImplicit(Tensor a) -> float", implicit(toFloat))
	forms("aten::polar", "a b", "ff>c fi>c if>c ii>c SS=Scalar_Scalar>S", func(a []tensor.Value) tensor.Value {
		return tensor.ComplexValue(cmplx.Rect(float(&a[0]), float(&a[1])))
	})
}

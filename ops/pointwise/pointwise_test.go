package pointwise_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

func f64(shape []int, v ...float64) *tensor.Tensor {
	return tensor.FromSlice(v, shape...)
}

// sumOf is a loss that weighs every element differently.
func sumOf(y *tensor.Tensor) *tensor.Tensor {
	w := make([]float64, y.Numel())
	for i := range w {
		w[i] = 0.3 + 0.17*float64(i%5)
	}
	return y.Mul(tensor.FromSlice(w, y.Shape()...)).SumDim(nil)
}

// gradcheck compares the gradient of f at x, and the gradient of that, with finite differences.
func gradcheck(t *testing.T, name string, f func(x *tensor.Tensor) *tensor.Tensor, x *tensor.Tensor, second bool) {
	t.Helper()
	loss := func(x *tensor.Tensor) *tensor.Tensor { return sumOf(f(x)) }
	numeric(t, name, loss, x)
	if second {
		numeric(t, name+"'", func(x *tensor.Tensor) *tensor.Tensor {
			if !x.RequiresGrad() {
				x = x.Clone().SetRequiresGrad(true)
			}
			g := tensor.Grad([]*tensor.Tensor{loss(x)}, []*tensor.Tensor{x}, tensor.GradOptions{CreateGraph: true})[0]
			return sumOf(g).Add(x.MulScalar(0).SumDim(nil)) // the gradient of a linear function does not depend on x
		}, x)
	}
}

func numeric(t *testing.T, name string, loss func(x *tensor.Tensor) *tensor.Tensor, x *tensor.Tensor) {
	t.Helper()
	leaf := x.Clone().SetRequiresGrad(true)
	var g *tensor.Tensor
	if err := tensor.Try(func() {
		g = tensor.Grad([]*tensor.Tensor{loss(leaf)},
			[]*tensor.Tensor{leaf})[0]
	}); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	got := tensor.Data[float64](g.Contiguous())
	const h = 1e-5
	for i := range got {
		at := func(d float64) float64 {
			y := x.Clone()
			tensor.Data[float64](y)[i] += d
			return loss(y).Num().F
		}
		want := (at(h) - at(-h)) / (2 * h)
		if d := math.Abs(got[i] - want); !(d <= 1e-5*max(1, math.Abs(want))) {
			t.Errorf("%s: gradient %d is %g, want %g", name, i, got[i], want)
		}
	}
}

// PyTorch's methods whose self is no first argument: x.where(condition, other) and x.polygamma(n).
func TestMethodsWithSelfElsewhere(t *testing.T) {
	x, y := tensor.FromSlice([]float32{1, 2, 3}), tensor.FromSlice([]float32{10, 20, 30})
	odd := tensor.FromSlice([]bool{true, false, true})
	for _, c := range []struct {
		name      string
		got, want *tensor.Tensor
	}{
		{"Where", x.Where(odd, y), tensor.FromSlice([]float32{1, 20, 3})},
		{"WhereScalar", x.WhereScalar(odd, -1), tensor.FromSlice([]float32{1, -1, 3})},
		{"torch.WhereScalar", torch.WhereScalar(odd, x, -1), tensor.FromSlice([]float32{1, -1, 3})},
		{"torch.WhereScalarSelf", torch.WhereScalarSelf(odd, -1, x), tensor.FromSlice([]float32{-1, 2, -1})},
		{"torch.WhereScalars", torch.WhereScalars(odd, 1.5, -1.5), tensor.FromSlice([]float32{1.5, -1.5, 1.5})},
		{"Polygamma", x.Polygamma(0), x.Digamma()},
		{"torch.PowScalarSelf", torch.PowScalarSelf(2, x), tensor.FromSlice([]float32{2, 4, 8})},
	} {
		if !c.got.Equal(c.want) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestUnaryGradients(t *testing.T) {
	type T = tensor.Tensor
	any := f64([]int{2, 3}, -1.3, -0.4, 0.2, 0.7, 1.6, 2.2)
	positive := f64([]int{2, 3}, 0.11, 0.4, 0.8, 1.4, 2.6, 3.3)
	unit := f64([]int{2, 3}, 0.11, 0.3, 0.45, 0.6, 0.75, 0.9)
	above := f64([]int{3}, 1.2, 2.5, 4)
	for _, c := range []struct {
		name string
		f    func(x *T) *T
		x    *T
	}{
		{"exp", wrap("exp"), any}, {"log", wrap("log"), positive}, {"log2", wrap("log2"), positive},
		{"log10", wrap("log10"), positive}, {"log1p", wrap("log1p"), positive},
		{"exp2", wrap("exp2"), any}, {"expm1", wrap("expm1"), any}, {"sqrt", wrap("sqrt"), positive},
		{"rsqrt", wrap("rsqrt"), positive}, {"reciprocal", wrap("reciprocal"), positive},
		{"sin", wrap("sin"), any}, {"cos", wrap("cos"), any}, {"tan", wrap("tan"), unit}, {"sinh", wrap("sinh"), any},
		{"cosh", wrap("cosh"), any}, {"tanh", wrap("tanh"), any},
		{"asin", wrap("asin"), unit}, {"acos", wrap("acos"), unit}, {"atan", wrap("atan"), any},
		{"asinh", wrap("asinh"), any}, {"acosh", wrap("acosh"), above}, {"atanh", wrap("atanh"), unit},
		{"sigmoid", wrap("sigmoid"), any}, {"erf", wrap("erf"), any}, {"erfc", wrap("erfc"), any},
		{"erfinv", wrap("erfinv"), unit}, {"sinc", wrap("sinc"), any}, {"abs", wrap("abs"), any},
		{"square", wrap("square"), any}, {"neg", wrap("neg"), any}, {"lgamma", wrap("lgamma"), positive},
		{"digamma", wrap("digamma"), positive}, {"i0", wrap("i0"), any},
		{"special_i1", wrap("special_i1"), any}, {"special_i0e", wrap("special_i0e"), any},
		{"special_i1e", wrap("special_i1e"), any}, {"special_ndtr", wrap("special_ndtr"), any},
		{"special_log_ndtr", wrap("special_log_ndtr"), any}, {"special_ndtri", wrap("special_ndtri"), unit},
		{"special_erfcx", wrap("special_erfcx"), any},
		{"special_entr", wrap("special_entr"), positive}, {"logit", wrap("logit"), unit}, {"relu", wrap("relu"), any},
		{"gelu", wrap("gelu"), any}, {"silu", wrap("silu"), any},
		{"mish", wrap("mish"), any}, {"elu", wrap("elu"), any}, {"selu", wrap("selu"), any},
		{"celu", wrap("celu"), any}, {"leaky_relu", wrap("leaky_relu"), any},
		{"softplus", wrap("softplus"), any}, {"log_sigmoid", wrap("log_sigmoid"), any},
		{"hardswish", wrap("hardswish"), any}, {"hardsigmoid", wrap("hardsigmoid"), any},
		{"hardtanh", wrap("hardtanh"), any}, {"hardshrink", wrap("hardshrink"), any},
		{"softshrink", wrap("softshrink"), any},
		{"gelu tanh", func(x *T) *T { return x.GELU(tensor.GELUOptions{Approximate: "tanh"}) }, any},
		{"pow 3", func(x *T) *T { return x.PowScalar(3) }, any},
		{"pow 2.5", func(x *T) *T { return x.PowScalar(2.5) }, positive},
		{"clamp", func(x *T) *T { return x.ClampScalar(tensor.ClampScalarOptions{Min: -1, Max: 1.5}) }, any},
		{"strided", func(x *T) *T { return x.Transpose(0, 1).Tanh() }, any},
	} {
		gradcheck(t, c.name, c.f, c.x, true)
	}
}

// wrap calls an operator of one tensor by its name.
func wrap(name string) func(x *tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor {
		res, err := tensor.ResolveCall([]string{"aten::" + name}, []tensor.Value{tensor.TensorValue(x)}, nil)
		if err != nil {
			panic(err)
		}
		return res[0].T
	}
}

func TestBinaryGradients(t *testing.T) {
	type T = tensor.Tensor
	a := f64([]int{2, 3}, 0.5, 0.9, 1.4, 2.1, 2.7, 3.2)
	b := f64([]int{3}, 1.1, 0.6, 1.9) // broadcasts
	for _, c := range []struct {
		name string
		f    func(x, y *T) *T
	}{
		{"add", func(x, y *T) *T { return x.Add(y, tensor.AddOptions{Alpha: 2.5}) }},
		{"sub", func(x, y *T) *T { return x.Sub(y) }}, {"mul", func(x, y *T) *T { return x.Mul(y) }},
		{"div", func(x, y *T) *T { return x.Div(y) }}, {"pow", func(x, y *T) *T { return x.Pow(y) }},
		{"atan2", func(x, y *T) *T { return x.ArcTan2(y) }},
		{"hypot", func(x, y *T) *T { return x.Hypot(y) }}, {"maximum", func(x, y *T) *T { return x.Maximum(y) }},
		{"fmin", func(x, y *T) *T { return x.Fmin(y) }},
		{"logaddexp", func(x, y *T) *T { return x.Logaddexp(y) }}, {"xlogy", func(x, y *T) *T { return x.Xlogy(y) }},
		{"copysign", func(x, y *T) *T { return x.Copysign(y) }},
		{"lerp", func(x, y *T) *T { return x.LerpScalar(y, 0.3) }},
		{"lerp tensor", func(x, y *T) *T { return x.Lerp(y, y) }},
		{"addcmul", func(x, y *T) *T { return x.Addcmul(y, x, tensor.AddcmulOptions{Value: 0.5}) }},
		{"addcdiv", func(x, y *T) *T { return x.Addcdiv(y, x, tensor.AddcdivOptions{Value: 0.5}) }},
		{"where", func(x, y *T) *T { return torch.Where(x.GtScalar(1), x, y) }},
		{"remainder", func(x, y *T) *T { return x.Remainder(y) }}, {"fmod", func(x, y *T) *T { return x.Fmod(y) }},
	} {
		gradcheck(t, c.name+" left", func(x *T) *T { return c.f(x, b) }, a, true)
		gradcheck(t, c.name+" right", func(x *T) *T { return c.f(a, x) }, b, true)
	}
}

// TestAllocations holds the small path to what it promises: nothing but the result is allocated.
func TestAllocations(t *testing.T) {
	a, b := tensor.FromSlice([]float32{1, 2, 3, 4}), tensor.FromSlice([]float32{5, 6, 7, 8})
	for name, f := range map[string]func(){
		"add": func() { a.Add(b) }, "mul": func() { a.Mul(b) }, "sub": func() { a.Sub(b) }, "div": func() { a.Div(b) },
		"relu": func() { a.ReLU() }, "exp": func() { a.Exp() },
		"tanh": func() { a.Tanh() }, "maximum": func() { a.Maximum(b) }, "eq": func() { a.Eq(b) },
	} {
		if n := testing.AllocsPerRun(200, f); n > 1 {
			t.Errorf("%s: %v allocations, want 1", name, n)
		}
	}
	if n := testing.AllocsPerRun(200, func() { a.AddInPlace(b) }); n > 1 {
		t.Errorf("add_: %v allocations", n)
	}
}

func TestIntegerDivision(t *testing.T) {
	a := tensor.FromSlice([]int64{7, -7, 7, -7})
	b := tensor.FromSlice([]int64{2, 2, -2, -2})
	for _, c := range []struct {
		name string
		got  *tensor.Tensor
		want []int64
	}{
		{"floor", a.DivMode(b, "floor"), []int64{3, -4, -4, 3}},
		{"trunc", a.DivMode(b, "trunc"), []int64{3, -3, -3, 3}},
		{"remainder", a.Remainder(b), []int64{1, 1, -1, -1}}, {"fmod", a.Fmod(b), []int64{1, -1, 1, -1}},
	} {
		if got := fmt.Sprint(tensor.Data[int64](c.got)); got != fmt.Sprint(c.want) {
			t.Errorf("%s: got %s, want %v", c.name, got, c.want)
		}
	}
	zero := tensor.FromSlice([]int64{1, 0, 1, 1})
	for name, f := range map[string]func(){"floor_divide": func() { a.FloorDivide(zero) },
		"remainder": func() { a.Remainder(zero) }, "fmod": func() { a.Fmod(zero) }} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), "ZeroDivisionError") {
			t.Errorf("%s by zero: %v", name, err)
		}
	}
	// bounds that uint8 cannot hold must not wrap around
	if got := tensor.Data[uint8](tensor.FromSlice([]uint8{3, 200}).ClampScalar(tensor.ClampScalarOptions{Min: -1,
		Max: 300})); got[0] != 3 || got[1] != 200 {
		t.Errorf("clamp: %v", got)
	}
}

func Example() {
	x := tensor.FromSlice([]float32{-1, 0, 2})
	fmt.Println(tensor.Data[float32](x.ReLU()), tensor.Data[float32](x.MulScalar(2).AddScalar(1)))
	// Output: [0 0 2] [-1 1 5]
}

func BenchmarkAdd4(b *testing.B) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4})
	b.ReportAllocs()
	for range b.N {
		x.Add(x)
	}
}

func BenchmarkMulScalar1M(b *testing.B) {
	x := tensor.New([]int{1 << 20}, tensor.Float32)
	b.SetBytes(8 << 20)
	for range b.N {
		x.MulScalarInPlace(1)
	}
}

// TestLerpNearerEnd: from a weight of a half on the sum starts at the end, so that large numbers do not swallow it.
func TestLerpNearerEnd(t *testing.T) {
	for _, dt := range []torch.DType{torch.Float32, torch.Float64, torch.Float16, torch.BFloat16} {
		for _, n := range []int{1, 7, 100} {
			for _, c := range []struct{ a, b, w, want float64 }{{32768, -0.25, 1, -0.25}, {32768, -0.25, 0, 32768},
				{-0.25, 32768, 1, 32768}, {math.Inf(-1), 0, 0.75, math.Inf(-1)}, {1, 3, 2, 5}, {2, 4, -1, 0},
				{2, 6, 0.25, 3}, {2, 6, 0.75, 5}} {
				full := func(x float64) *torch.Tensor {
					return torch.Full([]int{n}, x, torch.FullOptions{DType: torch.Float64}).To(dt)
				}
				a, b := full(c.a), full(c.b)
				for form, y := range map[string]*torch.Tensor{"number": a.LerpScalar(b, c.w),
					"tensor": a.Lerp(b, full(c.w)), "0-d": a.Lerp(b, full(c.w).Select(0, 0))} {
					for i, v := range torch.Data[float64](y.To(torch.Float64)) {
						if v != c.want {
							t.Fatalf("%s of %d, weight as %s: lerp(%g, %g, %g)[%d] = %g, want %g", dt, n, form, c.a,
								c.b, c.w, i, v, c.want)
						}
					}
				}
			}
		}
	}
}

// TestXlogyOfIntegers: the gradient of the factor has the factor's precision, also where the logarithm is of integers.
func TestXlogyOfIntegers(t *testing.T) {
	x := tensor.FromSlice([]float64{1, 0, 2}).SetRequiresGrad(true)
	x.Xlogy(tensor.FromSlice([]int32{68, 3, 7})).Sum().Backward()
	for i, y := range []float64{68, 3, 7} {
		if got := tensor.Data[float64](x.Grad())[i]; math.Abs(got-math.Log(y)) > 1e-15*5 {
			t.Errorf("d xlogy(x, %g) = %.17g, want %.17g", y, got, math.Log(y))
		}
	}
}

// TestHardtanhOfBytes: limits below an unsigned type's range limit nothing.
func TestHardtanhOfBytes(t *testing.T) {
	if got := tensor.Data[uint8](torch.HardTanh(tensor.FromSlice([]uint8{0, 1, 2,
		255}))); fmt.Sprint(got) != "[0 1 1 1]" {
		t.Errorf("hardtanh of bytes is %v", got)
	}
}

// TestLdexpKeepsTheFloat: an integer exponent does not widen the type.
func TestLdexpKeepsTheFloat(t *testing.T) {
	for _, dt := range []torch.DType{torch.BFloat16, torch.Float16, torch.Float32, torch.Float64} {
		y := torch.FromSlice([]float32{1.5, -3}).To(dt).Ldexp(torch.FromSlice([]int16{3, -1}))
		if got := fmt.Sprint(torch.Data[float32](y.To(torch.Float32))); y.DType() != dt || got != "[12 -1.5]" {
			t.Errorf("ldexp of %s by int16 is %s %s", dt, y.DType(), got)
		}
	}
}

// TestColumns compares numbers with a column, on either side, with the same where the column is written out.
func TestColumns(t *testing.T) {
	type T = tensor.Tensor
	ops := map[string]func(a, b *T) *T{
		"add":     func(a, b *T) *T { return a.Add(b) },
		"sub":     func(a, b *T) *T { return a.Sub(b) },
		"mul":     func(a, b *T) *T { return a.Mul(b) },
		"maximum": func(a, b *T) *T { return a.Maximum(b) },
		"minimum": func(a, b *T) *T { return a.Minimum(b) },
		"eq":      func(a, b *T) *T { return a.Eq(b) },
		"ne":      func(a, b *T) *T { return a.Ne(b) },
		"lt":      func(a, b *T) *T { return a.Lt(b) },
		"le":      func(a, b *T) *T { return a.Le(b) },
		"gt":      func(a, b *T) *T { return a.Gt(b) },
		"ge":      func(a, b *T) *T { return a.Ge(b) },
	}
	seen := tensor.NaNToNumOptions{NaN: tensor.Some(77.0)}
	for _, level := range cpu.Levels() {
		restore := cpu.Set(level.Features)
		for _, dt := range []tensor.DType{tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8,
			tensor.Float32, tensor.Float64} {
			for _, cols := range []int{33, 70, 301, 1500} {
				x, y := opstest.Fill(tensor.Float64, 1, 7, cols).MulScalar(9).Round(),
					opstest.Fill(tensor.Float64, 2, 7, 1).MulScalar(9).Round()
				if dt.IsFloat() {
					tensor.Data[float64](y)[3] = math.NaN()
				}
				x, y = x.ToDType(dt), y.ToDType(dt)
				wide := y.Expand([]int{7, cols}).Contiguous()
				for name, op := range ops {
					same := func(a, b *T) bool { return a.NaNToNum(seen).Equal(b.NaNToNum(seen)) }
					if !same(op(x, y), op(x, wide)) || !same(op(y, x), op(wide, x)) {
						t.Fatalf("%s: %s of %v, %d columns", level.Name, name, dt, cols)
					}
				}
			}
		}
		restore()
	}
}

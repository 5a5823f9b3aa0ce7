package pointwise_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// TestComplexDivision divides by zero, by infinity and by numbers whose squares overflow, among ordinary numbers and
// alone. What is wanted are PyTorch's results; want's NaN stands for any.
func TestComplexDivision(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	negZero := math.Copysign(0, -1)
	cases := []struct{ a, b, want complex128 }{
		{complex(1, 2), 0, complex(inf, inf)},
		{complex(-1, 0), complex(negZero, 0), complex(-inf, nan)},
		{complex(0, -3), 0, complex(nan, -inf)},
		{complex(inf, 1), 0, complex(inf, inf)},
		{complex(2, -inf), 0, complex(inf, -inf)},
		{0, 0, complex(nan, nan)},
		{complex(1, 2), complex(inf, 0), 0},
		{complex(1, 2), complex(0, -inf), 0},
		{complex(inf, 1), complex(inf, 0), complex(nan, nan)},
		{complex(1, 2), complex(nan, 0), complex(nan, nan)},
		{complex(1, 2), complex(0, nan), complex(nan, nan)},
		{complex(inf, 1), 2, complex(inf, nan)},
		{complex(3e30, 4e30), complex(0, 2e30), complex(2, -1.5)},
		{complex(3e-30, 4e-30), complex(2e-30, 0), complex(1.5, 2)},
		{complex(5, 10), complex(1, 2), 5},
	}
	same := func(got, want float64) bool {
		return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) < 1e-6
	}
	for _, dt := range []tensor.DType{tensor.Complex64, tensor.Complex128} {
		for _, n := range []int{1, 7, 300} {
			for _, c := range cases {
				a, b := make([]complex128, n), make([]complex128, n)
				for i := range a {
					a[i], b[i] = cmplx.Rect(1, float64(i)), cmplx.Rect(2, float64(2*i))
				}
				a[n/2], b[n/2] = c.a, c.b
				q := torch.Data[complex128](torch.FromSlice(a).ToDType(dt).Div(torch.FromSlice(b).ToDType(dt)).ToDType(tensor.Complex128))
				for i, got := range q {
					want := cmplx.Rect(0.5, -float64(i))
					if i == n/2 {
						want = c.want
					}
					if !same(real(got), real(want)) || !same(imag(got), imag(want)) {
						t.Fatalf("%v of %d numbers: %v / %v = %v, want %v", dt, n, a[i], b[i], got, want)
					}
				}
			}
		}
	}
}

// TestComplexSecondOrder compares second derivatives with difference quotients of the first ones.
func TestComplexSecondOrder(t *testing.T) {
	point := []complex128{complex(0.3, -0.7), complex(-0.4, 0.2), complex(0.9, 0.5)}
	weights := tensor.FromSlice([]complex128{complex(1, 2), complex(-0.5, 1), complex(2, -1)})
	for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"tanh":    func(x *tensor.Tensor) *tensor.Tensor { return x.Tanh() },
		"sigmoid": func(x *tensor.Tensor) *tensor.Tensor { return x.Sigmoid() },
		"exp":     func(x *tensor.Tensor) *tensor.Tensor { return x.Exp() },
		"sin":     func(x *tensor.Tensor) *tensor.Tensor { return x.Sin() },
		"sqrt":    func(x *tensor.Tensor) *tensor.Tensor { return x.Sqrt() },
		"div":     func(x *tensor.Tensor) *tensor.Tensor { return weights.Div(x) },
		"abs":     func(x *tensor.Tensor) *tensor.Tensor { return x.Abs().Mul(x) },
		"prod":    func(x *tensor.Tensor) *tensor.Tensor { return x.Prod() },
	} {
		// slope is a real number that depends on the gradient at parts, the real and imaginary parts of x
		slope := func(parts *tensor.Tensor) *tensor.Tensor {
			y := torch.ViewAsReal(f(torch.ViewAsComplex(parts)))
			g := tensor.Grad([]*tensor.Tensor{y.Mul(y).Sum()}, []*tensor.Tensor{parts},
				tensor.GradOptions{CreateGraph: true})[0]
			return g.Mul(torch.ViewAsReal(weights)).Sum()
		}
		parts := torch.ViewAsReal(tensor.FromSlice(point)).Clone().SetRequiresGrad(true)
		got := torch.Data[float64](tensor.Grad([]*tensor.Tensor{slope(parts)}, []*tensor.Tensor{parts})[0].Contiguous())
		const h = 1e-5
		at := func(i int, d float64) float64 {
			p := parts.Detach().Clone()
			torch.Data[float64](p)[i] += d
			return slope(p.SetRequiresGrad(true)).Item()
		}
		for i := range got {
			if want := (at(i, h) - at(i, -h)) / (2 * h); math.Abs(got[i]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s: second derivative %d is %g, want %g", name, i, got[i], want)
			}
		}
	}
}

// Functions of complex numbers at large and infinite parts are PyTorch's. Of a NaN the sign, and of a result beside an
// infinity the other part, is not compared.
func TestComplexFunctions(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	type c = complex128
	tanh := func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Tanh() }
	tan := func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Tan() }
	pow := func(x, y *tensor.Tensor) *tensor.Tensor { return x.Pow(y) }
	for _, k := range []struct {
		name       string
		f          func(x, y *tensor.Tensor) *tensor.Tensor
		x, y, want c
	}{
		{"tanh", tanh, complex(30, 1), 0, 1}, {"tanh", tanh, complex(-30, 2), 0, -1},
		{"tanh", tanh, complex(30, 0), 0, 1}, {"tanh", tanh, complex(inf, 1), 0, 1},
		{"tanh", tanh, complex(-inf, nan), 0, -1}, {"tanh", tanh, complex(30, inf), 0, complex(nan, nan)},
		{"tanh", tanh, complex(1, inf), 0, complex(nan, nan)},
		{"tanh", tanh, complex(0.5, 0.25), 0, complex(0.4854873, 0.1980554)},
		{"tan", tan, complex(-1, 30), 0, complex(0, 1)}, {"tan", tan, complex(2, -30), 0, complex(0, -1)},
		{"pow", pow, complex(inf, 1), complex(1, 1), complex(inf, nan)},
		{"pow", pow, complex(1, inf), 1, complex(inf, nan)}, {"pow", pow, complex(-inf, 0), 2, complex(inf, nan)},
		{"pow", pow, complex(inf, inf), complex(0.5, 0.5), complex(inf, nan)},
		{"pow", pow, 0, complex(1, 1), 0}, {"pow", pow, complex(2, 1), complex(inf, 1), complex(inf, nan)},
		{"pow", pow, complex(inf, nan), 1, complex(inf, nan)}, {"pow", pow, complex(nan, 1), 0, complex(nan, nan)},
	} {
		for _, n := range []int{1, 40} {
			x, y := make([]c, n), make([]c, n)
			for i := range x {
				x[i], y[i] = k.x, k.y
			}
			for i, got := range tensor.Data[c](k.f(torch.FromSlice(x), torch.FromSlice(y))) {
				same := func(a, b float64) bool { return a != a && b != b || a == b || math.Abs(a-b) < 1e-5 }
				if !same(real(got), real(k.want)) || !math.IsInf(real(got), 0) && !same(imag(got), imag(k.want)) {
					t.Errorf("%s of %v, %v, number %d of %d: %v, want %v", k.name, k.x, k.y, i, n, got, k.want)
				}
			}
		}
	}
}

package pointwise_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/special"
	"github.com/gotorch-dev/torch/tensor"
)

// TestHalfIsRoundedFloat32 compares operators on 16-bit floats, in every layout, with float32 rounded once. A number
// that is added or divided is one of the 16-bit type; factors and divisors are not rounded.
func TestHalfIsRoundedFloat32(t *testing.T) {
	torch.ManualSeed(4)
	type T = tensor.Tensor
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		as := func(v float64) float64 { return tensor.FromSlice([]float64{v}).To(dt).Num().F }
		number := tensor.FromSlice([]float32{0.3}).View([]int{})
		whole := torch.Randn([]int{70, 90}).To(dt)
		for layout, x := range map[string]*T{
			"contiguous": whole, "transposed": whole.T(),
			"every second": torch.Randn([]int{70, 90, 2}).To(dt).Select(2, 0),
			"number":       whole.Select(0, 0).Select(0, 1),
		} {
			row := torch.Randn([]int{}).To(dt)
			if x.Dim() > 0 {
				row = torch.Randn([]int{x.Size(-1)}).To(dt)
			}
			y := x.MulScalar(0.5).Add(row)
			w := func(x *T) *T { return x.To(tensor.Float32) }
			rounded := number // which a 0-d tensor takes for one of its own kind
			if x.Dim() > 0 {
				rounded = w(number.To(dt))
			}
			for name, p := range map[string][2]*T{
				"add": {x.Add(y), w(x).Add(w(y))}, "add row": {x.Add(row), w(x).Add(w(row))},
				"add scaled": {x.Add(y, tensor.AddOptions{Alpha: 0.3}),
					w(x).Add(w(y), tensor.AddOptions{Alpha: 0.3})},
				"sub": {x.Sub(y), w(x).Sub(w(y))}, "mul": {x.Mul(y), w(x).Mul(w(y))}, "div": {x.Div(y), w(x).Div(w(y))},
				"maximum": {x.Maximum(y), w(x).Maximum(w(y))}, "minimum": {x.Minimum(y), w(x).Minimum(w(y))},
				"add number": {x.AddScalar(0.1), w(x).AddScalar(as(0.1))},
				"mul number": {x.MulScalar(0.1), w(x).MulScalar(0.1)},
				"div number": {x.DivScalar(0.3), w(x).DivScalar(0.3)},
				"number sub": {x.RsubScalar(0.3), w(x).RsubScalar(as(0.3))},
				"sub number": {x.SubScalar(0.1), w(x).SubScalar(as(0.1))},
				"scaled number sub": {x.RsubScalar(0.3, tensor.RsubScalarOptions{Alpha: 2}),
					w(x).RsubScalar(as(0.3), tensor.RsubScalarOptions{Alpha: 2})},
				"number div": {number.Div(x), rounded.Div(w(x))}, "number mul": {number.Mul(x), rounded.Mul(w(x))},
				"atan2 of number": {number.Atan2(x), rounded.Atan2(w(x))},
				"relu":            {x.ReLU(), w(x).ReLU()}, "neg": {x.Neg(), w(x).Neg()}, "abs": {x.Abs(), w(x).Abs()},
				"exp": {x.Exp(), w(x).Exp()}, "tanh": {x.Tanh(), w(x).Tanh()},
				"sigmoid": {x.Sigmoid(), w(x).Sigmoid()}, "gelu": {x.GELU(), w(x).GELU()},
				"silu": {x.SiLU(), w(x).SiLU()},
				"sum":  {x.Sum(), w(x).Sum()}, "sum of rows": {x.SumDim([]int{-1}), w(x).SumDim([]int{-1})},
				"mean of columns": {x.MeanDim([]int{0}), w(x).MeanDim([]int{0})},
				"sum in float32":  {x.Sum(tensor.SumOptions{DType: tensor.Float32}), w(x).Sum()},
			} {
				if got, want := p[0], p[1].To(p[0].DType()); !got.Equal(want) {
					t.Errorf("%s of %v, %s: not the rounded result of float32", name, dt, layout)
				}
			}
		}
	}
}

// TestHalfSteps compares functions that PyTorch computes in several steps, each rounded to 16 bits, with these steps;
// in place, too.
func TestHalfSteps(t *testing.T) {
	torch.ManualSeed(5)
	type T = tensor.Tensor
	for _, c := range []struct {
		name    string
		f, same func(x *T) *T
		inPlace func(x *T)
	}{
		{"logit", func(x *T) *T { return x.Logit() }, func(x *T) *T { return x.Div(x.RsubScalar(1)).Log() },
			func(x *T) { x.LogitInPlace() }},
		{"logit within limits", func(x *T) *T { return x.Logit(tensor.LogitOptions{Eps: torch.Some(0.1)}) },
			func(x *T) *T {
				y := x.ToDType(tensor.Float32).ClampScalar(tensor.ClampScalarOptions{Min: 0.1, Max: 0.9}).ToDType(x.DType())
				return y.Div(y.RsubScalar(1)).Log()
			}, nil},
		{"ndtr", func(x *T) *T { return special.Ndtr(x) },
			func(x *T) *T { return x.MulScalar(math.Sqrt(0.5)).Erf().AddScalar(1).MulScalar(0.5) }, nil},
	} {
		for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
			for _, n := range []int{1, 7, 100, 1024, 1025, 5000} {
				x := torch.Rand([]int{n}).To(dt)
				want := c.same(x)
				if !c.f(x).Equal(want) {
					t.Errorf("%s of %d %v is not the result of its steps", c.name, n, dt)
				}
				if c.inPlace == nil {
					continue
				}
				if c.inPlace(x); !x.Equal(want) {
					t.Errorf("%s of %d %v in place is not the result of its steps", c.name, n, dt)
				}
			}
		}
	}
}

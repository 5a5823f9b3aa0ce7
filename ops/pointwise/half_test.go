package pointwise_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// TestHalfIsRoundedFloat32 compares operators on 16-bit floats, in every layout, with float32 rounded once.
func TestHalfIsRoundedFloat32(t *testing.T) {
	torch.ManualSeed(4)
	type T = tensor.Tensor
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		whole := torch.Randn([]int{70, 90}).To(dt)
		for layout, x := range map[string]*T{
			"contiguous": whole, "transposed": whole.T(), "every second": torch.Randn([]int{70, 90, 2}).To(dt).Select(2, 0), "number": whole.Select(0, 0).Select(0, 1),
		} {
			row := torch.Randn([]int{}).To(dt)
			if x.Dim() > 0 {
				row = torch.Randn([]int{x.Size(-1)}).To(dt)
			}
			y := x.MulScalar(0.5).Add(row)
			w := func(x *T) *T { return x.To(tensor.Float32) }
			for name, p := range map[string][2]*T{
				"add": {x.Add(y), w(x).Add(w(y))}, "add row": {x.Add(row), w(x).Add(w(row))}, "add scaled": {x.Add(y, tensor.AddOptions{Alpha: 0.3}), w(x).Add(w(y), tensor.AddOptions{Alpha: 0.3})},
				"sub": {x.Sub(y), w(x).Sub(w(y))}, "mul": {x.Mul(y), w(x).Mul(w(y))}, "div": {x.Div(y), w(x).Div(w(y))},
				"maximum": {x.Maximum(y), w(x).Maximum(w(y))}, "minimum": {x.Minimum(y), w(x).Minimum(w(y))},
				"add number": {x.AddScalar(0.1), w(x).AddScalar(0.1)}, "mul number": {x.MulScalar(0.1), w(x).MulScalar(0.1)},
				"div number": {x.DivScalar(0.3), w(x).DivScalar(0.3)}, "number sub": {x.RsubScalar(0.3), w(x).RsubScalar(0.3)},
				"relu": {x.ReLU(), w(x).ReLU()}, "neg": {x.Neg(), w(x).Neg()}, "abs": {x.Abs(), w(x).Abs()}, "exp": {x.Exp(), w(x).Exp()}, "tanh": {x.Tanh(), w(x).Tanh()},
				"sigmoid": {x.Sigmoid(), w(x).Sigmoid()}, "gelu": {x.GELU(), w(x).GELU()}, "silu": {x.SiLU(), w(x).SiLU()},
				"sum": {x.Sum(), w(x).Sum()}, "sum of rows": {x.SumDim([]int{-1}), w(x).SumDim([]int{-1})}, "mean of columns": {x.MeanDim([]int{0}), w(x).MeanDim([]int{0})},
				"sum in float32": {x.Sum(tensor.SumOptions{DType: tensor.Float32}), w(x).Sum()},
			} {
				if got, want := p[0], p[1].To(p[0].DType()); !got.Equal(want) {
					t.Errorf("%s of %v, %s: not the rounded result of float32", name, dt, layout)
				}
			}
		}
	}
}

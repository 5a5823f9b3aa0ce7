package matmul_test

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// eighths is an n x m matrix of 8-bit floats: ((i*k)%17 - 8)/4.
func eighths(n, m, k int) *tensor.Tensor {
	v := make([]float32, n*m)
	for i := range v {
		v[i] = float32(i*k%17-8) / 4
	}
	return torch.FromSlice(v, n, m).To(tensor.Float8E4M3FN)
}

// What torch._scaled_mm of PyTorch 2.15 gives on the CPU.
func TestScaledProducts(t *testing.T) {
	a, b := eighths(3, 16, 5), eighths(2, 16, 7).T()
	number := func(x float32) *tensor.Tensor { return torch.FromSlice([]float32{x}).Reshape([]int{}) }
	rows, columns := torch.FromSlice([]float32{1, 2, 4}, 3, 1), torch.FromSlice([]float32{1, 0.25}, 1, 2)
	bias := torch.FromSlice([]float32{1, -1})
	for _, x := range []struct {
		name   string
		sa, sb *tensor.Tensor
		bias   *tensor.Tensor
		result *tensor.Tensor
		dt     any
		want   []float32
	}{
		{"whole", number(2), number(0.5), nil, nil, tensor.Float32,
			[]float32{-4.75, 7.625, 4.375, -4.5625, -3.5, 2.375}},
		{"rows", rows, columns, bias, nil, tensor.BFloat16, []float32{-3.75, 0.90625, 9.75, -3.28125, -13, 1.375}},
		{"too large", number(100), number(10), nil, nil, nil, []float32{-448, 448, 448, -448, -448, 448}},
		{"too large, scaled", number(100), number(10), nil, number(1000), nil,
			[]float32{-5, 7.5, 4.5, -4.5, -3.5, 2.5}},
	} {
		args := []tensor.Value{tensor.TensorValue(a), tensor.TensorValue(b)}
		for _, v := range []any{x.sa, x.sb, x.bias, x.result, x.dt} {
			args = append(args, tensor.Box(v))
		}
		r, err := tensor.CallOp("aten::_scaled_mm", args...)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if got := torch.Data[float32](r[0].T.To(tensor.Float32)); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
	got := F.ScaledMM(a, b, rows, F.ScalingRowWise, columns, F.ScalingRowWise, F.ScaledMMOptions{Bias: bias})
	if got.DType() != tensor.BFloat16 || got.Select(0, 1).Select(0, 0).Num().F != 9.75 {
		t.Errorf("F.ScaledMM gives %v", got)
	}
}

func TestScaledProductsRefuse(t *testing.T) {
	a, b := eighths(3, 16, 5), eighths(2, 16, 7).T()
	one := torch.Ones([]int{1})
	for name, f := range map[string]func(){
		"float32 factors":        func() { F.ScaledMM(a.To(tensor.Float32), b, one, 0, one, 0) },
		"shapes that do not fit": func() { F.ScaledMM(a, b.T(), one, 0, one, 0) },
		"scales of float64":      func() { F.ScaledMM(a, b, one.To(tensor.Float64), 0, one, 0) },
		"one scale for rows":     func() { F.ScaledMM(a, b, one, 1, one, 1) },
		"blocks":                 func() { F.ScaledMM(a, b, one, F.ScalingBlockWise1x32, one, 0) },
		"a long bias": func() {
			F.ScaledMM(a, b, one, 0, one, 0,
				F.ScaledMMOptions{Bias: torch.Ones([]int{3})})
		},
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

package basics_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/fft"
	"github.com/gotorch-dev/torch/linalg"
	"github.com/gotorch-dev/torch/tensor"
)

// One function of each family of torch's functions, with what PyTorch gives.
func TestFamilies(t *testing.T) {
	x := torch.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	a := torch.FromSlice([]float32{4, 1, 2, 3}, 2, 2)
	_, singular, _ := linalg.SVD(x)
	largest, _ := torch.TopK(x.View([]int{-1}), 2)
	for _, c := range []struct {
		family string
		got    *torch.Tensor
		want   []float64
	}{
		{"creation", torch.Linspace(0, 1, 5), []float64{0, 0.25, 0.5, 0.75, 1}},
		{"indexing", torch.TakeAlongDim(x, torch.FromSlice([]int64{2, 0}, 2, 1), tensor.TakeAlongDimOptions{
			Dim: torch.Some(1)}), []float64{3, 4}},
		{"slicing", x.Index(torch.Slice(), torch.Slice(1, nil)), []float64{2, 3, 5, 6}},
		{"aggregation", torch.CumSum(x, 1), []float64{1, 3, 6, 4, 9, 15}},
		{"predicates", torch.IsFinite(x.Div(x.SubScalar(1))), []float64{0, 1, 1, 1, 1, 1}},
		{"mathematics", torch.Atan2(x.Select(0, 0), x.Select(0, 1)), []float64{0.2450, 0.3805, 0.4636}},
		{"reduction", x.StdDim([]int{1}), []float64{1, 1}},
		{"logic", torch.LogicalXor(x.GtScalar(2), x.LtScalar(5)), []float64{1, 1, 0, 0, 1, 1}},
		{"spectral", torch.ViewAsReal(fft.RFFT(torch.TensorOf[float32](1, 2, 3, 4))), []float64{10, 0, -2, 2, -2, 0}},
		{"BLAS", torch.AddMM(torch.Ones([]int{2, 2}), a, a, tensor.AddMMOptions{Alpha: 0.5}),
			[]float64{10, 4.5, 8, 6.5}},
		{"LAPACK: svd", singular, []float64{9.5080, 0.7729}},
		{"LAPACK: solve", linalg.Solve(a, torch.TensorOf[float32](1, 2)), []float64{0.1, 0.6}},
		{"LAPACK: cholesky", linalg.Cholesky(a.MatMul(a.T())), []float64{4.1231, 0, 2.6679, 2.4254}},
		{"counts", torch.Bincount(torch.TensorOf[int64](0, 1, 1, 3)), []float64{1, 2, 0, 1}},
		{"order", largest, []float64{6, 5}},
	} {
		t.Run(c.family, func(t *testing.T) { near(t, c.got, c.want...) })
	}
}

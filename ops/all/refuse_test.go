package all_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// TestStatisticsRefuse gives bad arguments to cov, histogram, segment_reduce and their kin; the texts are PyTorch's.
func TestStatisticsRefuse(t *testing.T) {
	x, ints := torch.Ones([]int{2, 3}), func(n ...int64) *torch.Tensor { return torch.FromSlice(n) }
	for _, c := range []struct {
		f     func()
		cause error
		text  string
	}{
		{func() { torch.Cov(torch.Ones([]int{2, 2, 2})) }, torch.ErrShape, "two or fewer dimensions"},
		{func() { torch.Cov(x, torch.CovOptions{Fweights: torch.Ones([]int{3})}) }, torch.ErrDType, "integral dtype"},
		{func() { torch.Cov(x, torch.CovOptions{Fweights: ints(1, -1, 2)}) }, torch.ErrValue, "cannot be negative"},
		{func() { torch.Cov(x, torch.CovOptions{Fweights: ints(0, 0, 0)}) }, torch.ErrValue, "sum to zero"},
		{func() { torch.Cov(x, torch.CovOptions{Fweights: ints(1, 2)}) }, torch.ErrShape, "2 != 3"},
		{func() { torch.Cov(x, torch.CovOptions{Aweights: ints(1, 2, 3)}) }, torch.ErrDType, "floating point dtype"},
		{func() { torch.Corrcoef(torch.Ones([]int{1, 1, 1})) }, torch.ErrShape, "two or fewer dimensions"},
		{func() { torch.Vander(x) }, torch.ErrShape, "one-dimensional"},
		{func() { torch.Histogram(ints(1, 2)) }, tensor.ErrNotImpl, "not implemented for 'Long'"},
		{func() { torch.Histogram(x, torch.HistogramOptions{Range: []float64{2, 1}}) }, torch.ErrValue,
			"min should not exceed max"},
		{func() { torch.Histogram(x, torch.HistogramOptions{Bins: torch.Some(0)}) }, torch.ErrValue, "bins must be > 0"},
		{func() { torch.Histogram(torch.FromSlice([]float64{torch.NaN})) }, torch.ErrValue, "is not finite"},
		{func() { torch.HistogramBins(x, torch.Ones([]int{2, 2})) }, torch.ErrShape, "one dimension"},
		{func() { torch.Histogramdd(torch.Ones([]int{3}), []int{1}) }, torch.ErrShape, "at least 2 dimensions"},
		{func() { torch.Histogramdd(x, []int{1}) }, torch.ErrShape, "innermost dimension"},
		{func() { torch.SegmentReduce(x, "sum") }, torch.ErrValue, "lengths or offsets"},
		{func() { torch.SegmentReduce(x, "sum", torch.SegmentReduceOptions{Lengths: ints(1, 2)}) }, torch.ErrShape,
			"sum to"},
		{func() { torch.SegmentReduce(x, "sum", torch.SegmentReduceOptions{Lengths: ints(1<<62, 1<<62)}) }, torch.ErrShape,
			"sum to"},
		{func() { torch.SegmentReduce(x, "sum", torch.SegmentReduceOptions{Lengths: ints(-1, 3)}) }, torch.ErrValue,
			"negative"},
		{func() { torch.SegmentReduce(x, "sum", torch.SegmentReduceOptions{Offsets: ints(0, 9)}) }, torch.ErrValue,
			"offsets must rise"},
		{func() { torch.SegmentReduce(x, "all", torch.SegmentReduceOptions{Lengths: ints(2)}) }, torch.ErrValue,
			"reduce argument"},
		{func() { torch.Range(0, 3, torch.RangeOptions{Step: 0.5, DType: torch.Int64}) }, torch.ErrValue, "nonzero"},
		{func() { torch.Range(0, torch.Inf) }, torch.ErrValue, "unsupported range"},
		{func() { torch.Range(0, 1e300) }, torch.ErrValue, "overflow"},
		{func() { torch.Ones([]int{3}).FillDiagonalInPlace(1) }, torch.ErrShape, "larger than 1"},
		{func() { torch.Gradient(x, torch.GradientOptions{EdgeOrder: torch.Some(3)}) }, torch.ErrValue, "edge_order"},
		{func() { torch.GradientDims(x, []int{0, -2}) }, torch.ErrValue, "multiple times"},
	} {
		err := torch.Try(c.f)
		if !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("got %v, want %v with %q", err, c.cause, c.text)
		}
	}
}

// TestSparseKernels finds kernels for sparse tensors of operators that there are none of.
func TestSparseKernels(t *testing.T) {
	if names := tensor.WaitingRare(); len(names) > 0 {
		t.Errorf("kernels for sparse tensors of unknown operators: %v", names)
	}
}

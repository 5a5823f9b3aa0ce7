package pool_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// What layers see of the poolings is what PyTorch 2.15 shows of them.
func TestTraces(t *testing.T) {
	one, two, three := []int{2, 4, 8}, []int{2, 4, 8, 8}, []int{2, 4, 8, 8, 8}
	k1, k2, k3 := []int{2}, []int{2, 2}, []int{2, 2, 2}
	const lp = "sign abs relu mul.Tensor mul.Tensor pow.Tensor_Scalar"
	opstest.CheckTraces(t, []opstest.Traced{
		opstest.Shows("max_pool1d", func(x *T) { F.MaxPool1d(x, k1) }, one, "max_pool1d",
			"unsqueeze max_pool2d_with_indices squeeze.dim squeeze.dim"),
		opstest.Shows("max_pool1d with indices", func(x *T) { F.MaxPool1dWithIndices(x, k1) }, one,
			"max_pool1d_with_indices", "unsqueeze max_pool2d_with_indices squeeze.dim squeeze.dim"),
		opstest.Shows("max_pool2d", func(x *T) { F.MaxPool2d(x, k2) }, two, "max_pool2d", "max_pool2d_with_indices"),
		opstest.Shows("max_pool2d with indices", func(x *T) { F.MaxPool2dWithIndices(x, k2) }, two,
			"max_pool2d_with_indices", "max_pool2d_with_indices"),
		opstest.Shows("max_pool3d", func(x *T) { F.MaxPool3d(x, k3) }, three, "max_pool3d", "max_pool3d_with_indices"),
		opstest.Shows("avg_pool1d", func(x *T) { F.AvgPool1d(x, k1) }, one, "avg_pool1d",
			"unsqueeze avg_pool2d squeeze.dim"),
		opstest.Shows("avg_pool2d", func(x *T) { F.AvgPool2d(x, k2) }, two, "avg_pool2d", "avg_pool2d"),
		opstest.Shows("avg_pool3d", func(x *T) { F.AvgPool3d(x, k3) }, three, "avg_pool3d", "avg_pool3d"),
		opstest.Shows("adaptive_avg_pool1d", func(x *T) { F.AdaptiveAvgPool1d(x, k1) }, one, "adaptive_avg_pool1d",
			"unsqueeze _adaptive_avg_pool2d squeeze.dim"),
		opstest.Shows("adaptive_avg_pool2d", func(x *T) { F.AdaptiveAvgPool2d(x, k2) }, two, "adaptive_avg_pool2d",
			"_adaptive_avg_pool2d"),
		opstest.Shows("adaptive_avg_pool2d to 1", func(x *T) { F.AdaptiveAvgPool2d(x, []int{1, 1}) }, two,
			"adaptive_avg_pool2d", "mean.dim", "mean.dim as_strided_"),
		opstest.Shows("adaptive_avg_pool3d", func(x *T) { F.AdaptiveAvgPool3d(x, k3) }, three, "adaptive_avg_pool3d",
			"_adaptive_avg_pool3d"),
		opstest.Shows("adaptive_max_pool1d", func(x *T) { F.AdaptiveMaxPool1d(x, k1) }, one, "adaptive_max_pool1d",
			"unsqueeze adaptive_max_pool2d squeeze.dim squeeze.dim"),
		opstest.Shows("adaptive_max_pool2d", func(x *T) { F.AdaptiveMaxPool2d(x, k2) }, two, "adaptive_max_pool2d",
			"adaptive_max_pool2d"),
		opstest.Shows("adaptive_max_pool3d", func(x *T) { F.AdaptiveMaxPool3d(x, k3) }, three, "adaptive_max_pool3d",
			"adaptive_max_pool3d"),
		opstest.Shows("lp_pool1d", func(x *T) { F.LPPool1d(x, 2, k1) }, one, "pow.Tensor_Scalar avg_pool1d "+lp,
			"pow.Tensor_Scalar unsqueeze avg_pool2d squeeze.dim "+lp),
		opstest.Shows("lp_pool2d", func(x *T) { F.LPPool2d(x, 2, k2) }, two, "pow.Tensor_Scalar avg_pool2d "+lp,
			"pow.Tensor_Scalar avg_pool2d "+lp),
		opstest.Shows("lp_pool3d", func(x *T) { F.LPPool3d(x, 2, k3) }, three, "pow.Tensor_Scalar avg_pool3d "+lp,
			"pow.Tensor_Scalar avg_pool3d "+lp),
		opstest.Shows("lp_pool2d, maximum", func(x *T) { F.LPPool2d(x, math.Inf(1), k2) }, two, "abs max_pool2d",
			"abs max_pool2d_with_indices"),
		opstest.Shows("max_unpool1d", func(x *T) { y, i := F.MaxPool1dWithIndices(x, k1); F.MaxUnpool1d(y, i, k1) },
			one,
			"max_pool1d_with_indices unsqueeze unsqueeze max_unpool2d squeeze.dim",
			"unsqueeze max_pool2d_with_indices squeeze.dim squeeze.dim unsqueeze unsqueeze max_unpool2d squeeze.dim"),
		opstest.Shows("max_unpool2d", func(x *T) { y, i := F.MaxPool2dWithIndices(x, k2); F.MaxUnpool2d(y, i, k2) },
			two,
			"max_pool2d_with_indices max_unpool2d", "max_pool2d_with_indices max_unpool2d"),
		opstest.Shows("fractional_max_pool2d",
			func(x *T) { F.FractionalMaxPool2d(x, k2, F.FractionalMaxPool2dOptions{OutputSize: []int{3, 3}}) }, two,
			"rand fractional_max_pool2d", "rand fractional_max_pool2d"),
	})
}

// Gradients have PyTorch's names whether or not a layer looks on.
func TestGradientNames(t *testing.T) {
	one, two, three := opstest.Fill(tensor.Float32, 1, 2, 4, 8), opstest.Fill(tensor.Float32, 1, 2, 4, 8, 8),
		opstest.Fill(tensor.Float32, 1, 2, 4, 8, 8, 8)
	for _, x := range []*T{one, two, three} {
		x.SetRequiresGrad(true)
	}
	for _, c := range []struct {
		f    func() *T
		want string
	}{
		{func() *T { return F.MaxPool1d(one, []int{2}) }, "SqueezeBackward1"},
		{func() *T { return F.MaxPool2d(two, []int{2, 2}) }, "MaxPool2DWithIndicesBackward0"},
		{func() *T { return F.MaxPool3d(three, []int{2, 2, 2}) }, "MaxPool3DWithIndicesBackward0"},
		{func() *T { return F.AvgPool1d(one, []int{2}) }, "SqueezeBackward1"},
		{func() *T { return F.AvgPool2d(two, []int{2, 2}) }, "AvgPool2DBackward0"},
		{func() *T { return F.AvgPool3d(three, []int{2, 2, 2}) }, "AvgPool3DBackward0"},
		{func() *T { return F.AdaptiveAvgPool1d(one, []int{2}) }, "SqueezeBackward1"},
		{func() *T { return F.AdaptiveAvgPool2d(two, []int{2, 2}) }, "AdaptiveAvgPool2DBackward0"},
		{func() *T { return F.AdaptiveAvgPool3d(three, []int{2, 2, 2}) }, "AdaptiveAvgPool3DBackward0"},
		{func() *T { return F.AdaptiveMaxPool1d(one, []int{2}) }, "SqueezeBackward1"},
		{func() *T { return F.AdaptiveMaxPool2d(two, []int{2, 2}) }, "AdaptiveMaxPool2DBackward0"},
		{func() *T { return F.AdaptiveMaxPool3d(three, []int{2, 2, 2}) }, "AdaptiveMaxPool3DBackward0"},
	} {
		var y [2]*T
		y[0] = c.f()
		opstest.Trace(false, func() { y[1] = c.f() })
		for i, y := range y {
			if got := y.GradFn().Name(); got != c.want {
				t.Errorf("looking on %v: %s, want %s", i == 1, got, c.want)
			}
		}
	}
}

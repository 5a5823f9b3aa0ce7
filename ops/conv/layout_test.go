package conv_test

import (
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

func channelsLast(t *tensor.Tensor) *tensor.Tensor {
	f := tensor.ChannelsLast
	if t.Dim() == 5 {
		f = tensor.ChannelsLast3d
	}
	y := tensor.NewStrided(t.Shape(), tensor.FormatStrides(t.Shape(), f), t.DType())
	tensor.CopyRaw(y, t)
	return y
}

// What a convolution makes is channels last when its input or weight is; the expectations are PyTorch's.
func TestMemoryFormat(t *testing.T) {
	for _, c := range []struct {
		name         string
		x, w         []int
		xLast, wLast bool
		groups       int
		want         bool
		format       tensor.MemoryFormat
	}{
		{"planar", []int{2, 4, 6, 6}, []int{8, 4, 3, 3}, false, false, 1, false, tensor.ChannelsLast},
		{"input", []int{2, 4, 6, 6}, []int{8, 4, 3, 3}, true, false, 1, true, tensor.ChannelsLast},
		{"weight", []int{2, 4, 6, 6}, []int{8, 4, 3, 3}, false, true, 1, true, tensor.ChannelsLast},
		{"both", []int{2, 4, 6, 6}, []int{8, 4, 3, 3}, true, true, 1, true, tensor.ChannelsLast},
		{"depthwise input", []int{2, 4, 6, 6}, []int{4, 1, 3, 3}, true, false, 4, true, tensor.ChannelsLast},
		{"three dimensions", []int{2, 4, 3, 6, 6}, []int{8, 4, 3, 3, 3}, true, false, 1, true, tensor.ChannelsLast3d},
	} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
			x, w := opstest.Fill(tensor.Float32, 1, c.x...), opstest.Fill(tensor.Float32, 2, c.w...)
			if c.xLast {
				x = channelsLast(x)
			}
			if c.wLast {
				w = channelsLast(w)
			}
			x, w = x.To(dt).SetRequiresGrad(true), w.To(dt).SetRequiresGrad(true)
			var y *tensor.Tensor
			if len(c.x) == 5 {
				y = F.Conv3d(x, w)
			} else {
				y = F.Conv2d(x, w, F.Conv2dOptions{Padding: []int{1, 1}, Groups: tensor.Some(c.groups)})
			}
			if got := y.IsContiguousFormat(c.format); got != c.want {
				t.Errorf("%s, %s: the result is channels last: %v, want %v", c.name, dt, got, c.want)
			}
			y.SumDim(nil).Backward()
			// A leaf's gradient has the leaf's layout.
			if got := x.Grad().IsContiguousFormat(c.format); got != c.xLast {
				t.Errorf("%s, %s: the input's gradient is channels last: %v, want %v", c.name, dt, got, c.xLast)
			}
		}
	}
}

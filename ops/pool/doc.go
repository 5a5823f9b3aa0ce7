// Package pool holds the poolings: maximum, average and power means over windows, fixed or adaptive, and their reverses.
//
// A window is described by window.go, for one to three spatial dimensions. The kernels meet whole rows of elements: planes.go and
// avg_planes.go go through planes (contiguous memory) tap by tap, that is, one position inside the window after the other;
// channels_last.go goes through channels-last memory pixel by pixel, all channels at once; short_lines.go turns planes whose lines are
// too short for that to lie side by side. adaptive.go and adaptive_channels_last.go do the same for windows of different sizes, and
// global_avg.go for one window. dtypes.go has what these need of an element type.
//
// max.go, avg.go, adaptive.go, lp.go, fractional.go and unpool.go define PyTorch's operators. What PyTorch composes (max_pool2d of
// max_pool2d_with_indices, the poolings of lines of those of planes) has the composition as its body beside a kernel. max_codes.go is
// the kernel of the maximum without indices, which keeps one byte for each window instead of an index of eight. Gradient rules of
// averages need the input's shape only, and call helpers of the namespace gotorch that take it; PyTorch's operators for these
// gradients, which take the input itself, exist beside them.
package pool

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)

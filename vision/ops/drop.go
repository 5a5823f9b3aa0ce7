package ops

import (
	"strconv"

	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// StochasticMode says what StochasticDepth drops: the whole batch or single examples.
type StochasticMode string

// The modes of StochasticDepth.
const (
	BatchMode StochasticMode = "batch"
	RowMode   StochasticMode = "row"
)

// checkP refuses a number that is no probability.
func checkP(name string, p float64) {
	if !(p >= 0 && p <= 1) {
		tensor.Fail(tensor.ErrValue, "%s probability has to be between 0 and 1, but got %v", name, p)
	}
}

// StochasticDepthFn sets examples (RowMode), or all of them (BatchMode), to zero with probability p while training and
// scales the others by 1/(1-p) (Huang et al., Deep Networks with Stochastic Depth, 2016). It is the function
// torchvision.ops.stochastic_depth; StochasticDepth is the layer.
func StochasticDepthFn(input *tensor.Tensor, p float64, mode StochasticMode, training bool) *tensor.Tensor {
	checkP("drop", p)
	if mode != BatchMode && mode != RowMode {
		tensor.Fail(tensor.ErrValue, "mode has to be either 'batch' or 'row', but got %s", mode)
	}
	if !training || p == 0 {
		return input
	}
	size := make([]int, max(input.Dim(), 1))
	for i := range size {
		size[i] = 1
	}
	if mode == RowMode {
		size[0] = input.Size(0)
	}
	noise := input.NewEmpty(size).BernoulliInPlace(tensor.BernoulliInPlaceOptions{P: tensor.Some(1 - p)})
	if p < 1 {
		noise.DivScalarInPlace(1 - p)
	}
	return input.Mul(noise)
}

// StochasticDepth is StochasticDepthFn as a layer.
// https://pytorch.org/vision/stable/generated/torchvision.ops.StochasticDepth.html
type StochasticDepth struct {
	nn.Base
	P    float64
	Mode StochasticMode
}

// NewStochasticDepth makes a StochasticDepth.
func NewStochasticDepth(p float64, mode StochasticMode) *StochasticDepth {
	return nn.New(&StochasticDepth{P: p, Mode: mode})
}

// Forward applies the layer.
func (m *StochasticDepth) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		return StochasticDepthFn(x, m.P, m.Mode, m.Training())
	})
}

// ExtraRepr prints the settings.
func (m *StochasticDepth) ExtraRepr() string {
	return "p=" + strconv.FormatFloat(m.P, 'g', -1, 64) + ", mode=" + string(m.Mode)
}

// DropBlockOptions are the options of DropBlock2dFn and DropBlock3dFn and their layers.
type DropBlockOptions struct {
	Inplace    bool
	Eps        tensor.Opt[float64] // added to the share of what is kept; default 1e-6
	NoTraining bool                // of the functions: switches training off
}

// dropBlock is DropBlock for images of nd dimensions behind the channels.
func dropBlock(input *tensor.Tensor, p float64, blockSize, nd int, o DropBlockOptions) *tensor.Tensor {
	checkP("drop", p)
	if input.Dim() != nd+2 {
		tensor.Fail(tensor.ErrShape, "drop_block%dd: input should be %d dimensional. Got %d dimensions.", nd, nd+2,
			input.Dim())
	}
	if o.NoTraining || p == 0 {
		return input
	}
	shape := input.Shape()
	block := blockSize
	for _, n := range shape[2:] {
		block = min(block, n)
	}
	gamma, size := p, []int{shape[0], shape[1]}
	var window, stride, pad []int
	for _, n := range shape[2:] {
		gamma *= float64(n) / float64(n-block+1)
		size = append(size, n-block+1)
		window, stride, pad = append(window, block), append(stride, 1), append(pad, block/2)
	}
	for range nd {
		gamma /= float64(block)
	}
	noise := input.NewEmpty(size).BernoulliInPlace(tensor.BernoulliInPlaceOptions{P: tensor.Some(gamma)})
	edges := make([]int, 0, 2*nd)
	for range nd {
		edges = append(edges, block/2, block/2)
	}
	noise = F.Pad(noise, edges, F.PadOptions{Value: tensor.Some(0.0)})
	if nd == 2 {
		noise = F.MaxPool2d(noise, window, F.MaxPool2dOptions{Stride: stride, Padding: pad})
	} else {
		noise = F.MaxPool3d(noise, window, F.MaxPool3dOptions{Stride: stride, Padding: pad})
	}
	if block%2 == 0 { // the pooled noise is one larger than the image
		for d := range nd {
			noise = noise.Narrow(2+d, 0, noise.Size(2+d)-1)
		}
	}
	noise = noise.RsubScalar(1)
	scale := noise.Sum().AddScalar(o.Eps.Or(1e-6)).Reciprocal().MulScalar(noise.Numel())
	if o.Inplace {
		return input.MulInPlace(noise).MulInPlace(scale)
	}
	return input.Mul(noise).Mul(scale)
}

// DropBlock2dFn sets squares of blockSize pixels of each channel of (N, C, H, W) to zero, so many that about the share
// p is dropped, and scales the rest (Ghiasi et al., DropBlock, 2018). It is torchvision.ops.drop_block2d.
func DropBlock2dFn(input *tensor.Tensor, p float64, blockSize int, opts ...DropBlockOptions) *tensor.Tensor {
	return dropBlock(input, p, blockSize, 2, firstOf(opts))
}

// DropBlock3dFn is DropBlock2dFn for (N, C, D, H, W).
func DropBlock3dFn(input *tensor.Tensor, p float64, blockSize int, opts ...DropBlockOptions) *tensor.Tensor {
	return dropBlock(input, p, blockSize, 3, firstOf(opts))
}

// DropBlock2d is DropBlock2dFn as a layer.
// https://pytorch.org/vision/stable/generated/torchvision.ops.DropBlock2d.html
type DropBlock2d struct {
	nn.Base
	P         float64
	BlockSize int
	opts      DropBlockOptions
}

// DropBlock3d is DropBlock3dFn as a layer.
// https://pytorch.org/vision/stable/generated/torchvision.ops.DropBlock3d.html
type DropBlock3d struct{ DropBlock2d }

// NewDropBlock2d makes a DropBlock2d.
func NewDropBlock2d(p float64, blockSize int, opts ...DropBlockOptions) *DropBlock2d {
	return nn.New(&DropBlock2d{P: p, BlockSize: blockSize, opts: firstOf(opts)})
}

// NewDropBlock3d makes a DropBlock3d.
func NewDropBlock3d(p float64, blockSize int, opts ...DropBlockOptions) *DropBlock3d {
	return nn.New(&DropBlock3d{DropBlock2d{P: p, BlockSize: blockSize, opts: firstOf(opts)}})
}

func (m *DropBlock2d) options() DropBlockOptions {
	o := m.opts
	o.NoTraining = !m.Training()
	return o
}

// Forward applies the layer.
func (m *DropBlock2d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		return dropBlock(x, m.P, m.BlockSize, 2, m.options())
	})
}

// Forward applies the layer.
func (m *DropBlock3d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		return dropBlock(x, m.P, m.BlockSize, 3, m.options())
	})
}

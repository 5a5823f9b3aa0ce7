package ops

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// RoIs joins boxes of several images, (L, 4) each, to regions (K, 5) whose first column is the number of the image.
func RoIs(boxes []*tensor.Tensor) *tensor.Tensor {
	if len(boxes) == 0 {
		return torch.Zeros([]int{0, 5})
	}
	var parts []*tensor.Tensor
	for i, b := range boxes {
		if b.Dim() != 2 || b.Size(1) != 4 {
			tensor.Fail(tensor.ErrShape, "the boxes of an image must have shape as Tensor[L, 4], got %s",
				tensor.ShapeString(b.Shape()))
		}
		image := b.NewFull([]int{b.Size(0), 1}, i)
		parts = append(parts, torch.Cat([]*tensor.Tensor{image, b}, torch.CatOptions{Dim: 1}))
	}
	return torch.Cat(parts)
}

// RoIOptions are the options of the functions of regions; the zero value is torchvision's default.
type RoIOptions struct {
	SpatialScale  tensor.Opt[float64] // from the boxes' coordinates to the input's, default 1
	SamplingRatio int                 // samples in each direction of a cell; default one for each pixel
	Aligned       bool                // RoIAlign: pixels are at centres, which moves the regions by half a pixel
}

// size is one int for both dimensions, or two.
func size2(size nn.Size) (h, w int) {
	switch len(size) {
	case 1:
		return size[0], size[0]
	case 2:
		return size[0], size[1]
	}
	tensor.Fail(tensor.ErrValue, "a size of %d numbers, want one or two", len(size))
	return 0, 0
}

func (o RoIOptions) sampling() int {
	if o.SamplingRatio == 0 {
		return -1
	}
	return o.SamplingRatio
}

// RoIAlignFn is the mean of bilinear samples in cells of the regions boxes (K, 5) of input (N, C, H, W): (K, C, h, w)
// for an output size of h x w. It is torchvision.ops.roi_align; RoIAlign is the layer.
func RoIAlignFn(input, boxes *tensor.Tensor, outputSize nn.Size, opts ...RoIOptions) *tensor.Tensor {
	h, w := size2(outputSize)
	o := firstOf(opts)
	return call(opRoIAlign, input, boxes, o.SpatialScale.Or(1), h, w, o.sampling(), o.Aligned)
}

// RoIPoolFn is the maximum of cells of the regions boxes (K, 5) of input (N, C, H, W): (K, C, h, w). It is
// torchvision.ops.roi_pool; RoIPool is the layer.
func RoIPoolFn(input, boxes *tensor.Tensor, outputSize nn.Size, opts ...RoIOptions) *tensor.Tensor {
	h, w := size2(outputSize)
	return call(opRoIPool, input, boxes, firstOf(opts).SpatialScale.Or(1), h, w)
}

// PSRoIAlignFn is RoIAlignFn in which each cell reads channels of its own: (K, C/(h·w), h, w). It is
// torchvision.ops.ps_roi_align; PSRoIAlign is the layer.
func PSRoIAlignFn(input, boxes *tensor.Tensor, outputSize nn.Size, opts ...RoIOptions) *tensor.Tensor {
	h, w := size2(outputSize)
	o := firstOf(opts)
	return call(opPSRoIAlign, input, boxes, o.SpatialScale.Or(1), h, w, o.sampling())
}

// PSRoIPoolFn is the mean of cells, each of which reads channels of its own: (K, C/(h·w), h, w). It is
// torchvision.ops.ps_roi_pool; PSRoIPool is the layer.
func PSRoIPoolFn(input, boxes *tensor.Tensor, outputSize nn.Size, opts ...RoIOptions) *tensor.Tensor {
	h, w := size2(outputSize)
	return call(opPSRoIPool, input, boxes, firstOf(opts).SpatialScale.Or(1), h, w)
}

// roiLayer is what the layers of regions share.
type roiLayer struct {
	nn.Base
	OutputSize nn.Size
	Options    RoIOptions
	fn         func(input, boxes *tensor.Tensor, outputSize nn.Size, opts ...RoIOptions) *tensor.Tensor
}

// Forward maps input (N, C, H, W) and regions (K, 5) to the features of the regions.
func (m *roiLayer) Forward(input, rois *tensor.Tensor) *tensor.Tensor {
	return m.fn(input, rois, m.OutputSize, m.Options)
}

// ExtraRepr prints the settings.
func (m *roiLayer) ExtraRepr() string {
	return fmt.Sprintf("output_size=%v, spatial_scale=%v", m.OutputSize, m.Options.SpatialScale.Or(1))
}

// RoIAlign is RoIAlignFn as a layer, RoIPool, PSRoIAlign and PSRoIPool are the others.
type (
	RoIAlign   struct{ roiLayer }
	RoIPool    struct{ roiLayer }
	PSRoIAlign struct{ roiLayer }
	PSRoIPool  struct{ roiLayer }
)

// NewRoIAlign makes a RoIAlign.
func NewRoIAlign(outputSize nn.Size, opts ...RoIOptions) *RoIAlign {
	return nn.New(&RoIAlign{roiLayer{OutputSize: outputSize, Options: firstOf(opts), fn: RoIAlignFn}})
}

// NewRoIPool makes a RoIPool.
func NewRoIPool(outputSize nn.Size, opts ...RoIOptions) *RoIPool {
	return nn.New(&RoIPool{roiLayer{OutputSize: outputSize, Options: firstOf(opts), fn: RoIPoolFn}})
}

// NewPSRoIAlign makes a PSRoIAlign.
func NewPSRoIAlign(outputSize nn.Size, opts ...RoIOptions) *PSRoIAlign {
	return nn.New(&PSRoIAlign{roiLayer{OutputSize: outputSize, Options: firstOf(opts), fn: PSRoIAlignFn}})
}

// NewPSRoIPool makes a PSRoIPool.
func NewPSRoIPool(outputSize nn.Size, opts ...RoIOptions) *PSRoIPool {
	return nn.New(&PSRoIPool{roiLayer{OutputSize: outputSize, Options: firstOf(opts), fn: PSRoIPoolFn}})
}

package ops

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"math"
)

// DeformConv2dOptions are the options of DeformConv2dFn; the zero value is torchvision's default.
type DeformConv2dOptions struct {
	Bias     *tensor.Tensor // (out), default none
	Stride   nn.Size        // default 1
	Padding  nn.Size        // default 0
	Dilation nn.Size        // default 1
	Mask     *tensor.Tensor // (N, groups·kh·kw, oh, ow): a factor for each element of each window; default none
}

func pair(s nn.Size, def int) [2]int {
	if s == nil {
		return [2]int{def, def}
	}
	h, w := size2(s)
	return [2]int{h, w}
}

// DeformConv2dFn is a convolution whose windows' elements are read at places that offset (N, 2·groups·kh·kw, oh, ow)
// moves, y before x (Dai et al., Deformable Convolutional Networks, 2017). input is (N, C, H, W), weight (out, C/g, kh,
// kw); the numbers of groups follow from the shapes. It is torchvision.ops.deform_conv2d; DeformConv2d is the layer.
func DeformConv2dFn(input, offset, weight *tensor.Tensor, opts ...DeformConv2dOptions) *tensor.Tensor {
	o := firstOf(opts)
	if weight.Dim() != 4 || input.Dim() != 4 || offset.Dim() != 4 || weight.Size(1) == 0 || weight.Numel() == 0 {
		tensor.Fail(tensor.ErrShape, "deform_conv2d: input %s, offset %s and weight %s should have 4 dimensions",
			tensor.ShapeString(input.Shape()), tensor.ShapeString(offset.Shape()), tensor.ShapeString(weight.Shape()))
	}
	window := weight.Size(2) * weight.Size(3)
	groups := offset.Size(1) / (2 * window)
	if groups == 0 {
		tensor.Fail(tensor.ErrShape, "the shape of the offset tensor at dimension 1 is not valid. It should be a "+
			"multiple of 2 * weight.size[2] * weight.size[3].\nGot offset.shape[1]=%d, while 2 * weight.size[2] * "+
			"weight.size[3]=%d", offset.Size(1), 2*window)
	}
	mask, bias := o.Mask, o.Bias
	if mask == nil {
		mask = input.NewZeros([]int{input.Size(0), 1})
	}
	if bias == nil {
		bias = input.NewZeros([]int{weight.Size(0)})
	}
	s, p, d := pair(o.Stride, 1), pair(o.Padding, 0), pair(o.Dilation, 1)
	return call(opDeform, input, weight, offset, mask, bias, s[0], s[1], p[0], p[1], d[0], d[1],
		input.Size(1)/weight.Size(1), groups, o.Mask != nil)
}

// DeformConv2d is DeformConv2dFn as a layer with a weight and a bias.
// https://pytorch.org/vision/stable/generated/torchvision.ops.DeformConv2d.html
type DeformConv2d struct {
	nn.Base
	Weight, Bias              *tensor.Tensor
	Stride, Padding, Dilation nn.Size
}

// NewDeformConv2d makes a DeformConv2d; of the options it reads Stride, Padding, Dilation, Groups and NoBias.
func NewDeformConv2d(in, out int, kernelSize nn.Size, opts ...nn.Conv2dOptions) *DeformConv2d {
	o := firstOf(opts)
	groups := o.Groups.Or(1)
	if groups <= 0 || in%groups != 0 || out%groups != 0 {
		tensor.Fail(tensor.ErrValue, "DeformConv2d: %d and %d channels must be divisible by %d groups", in, out, groups)
	}
	h, w := size2(kernelSize)
	m := &DeformConv2d{Weight: nn.NewParameter(torch.Empty([]int{out, in / groups, h, w})), Stride: o.Stride,
		Padding: o.Padding, Dilation: o.Dilation}
	nninit.KaimingUniform(m.Weight, nninit.KaimingOptions{A: math.Sqrt(5)})
	if !o.NoBias {
		m.Bias = nn.NewParameter(torch.Empty([]int{out}))
		fan, _ := nninit.FanInAndFanOut(m.Weight)
		bound := 1 / math.Sqrt(float64(fan))
		nninit.Uniform(m.Bias, -bound, bound)
	}
	return nn.New(m)
}

// Forward applies the layer; mask may be nil.
func (m *DeformConv2d) Forward(input, offset, mask *tensor.Tensor) *tensor.Tensor {
	return DeformConv2dFn(input, offset, m.Weight, DeformConv2dOptions{Bias: m.Bias, Stride: m.Stride,
		Padding: m.Padding, Dilation: m.Dilation, Mask: mask})
}

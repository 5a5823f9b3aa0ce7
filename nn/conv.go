package nn

import (
	F "github.com/gotorch-dev/torch/nn/functional"

	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// PaddingMode says what a convolution's padding holds.
type PaddingMode uint8

// The padding modes.
const (
	Zeros     PaddingMode = iota // zeros
	Reflect                      // the input mirrored at its edge, the edge itself not repeated
	Replicate                    // the edge repeated
	Circular                     // the other end of the input
)

// String is Python's name.
func (p PaddingMode) String() string {
	return [...]string{"zeros", "reflect", "replicate", "circular"}[p]
}

// Paddings that Python spells as strings.
var (
	PaddingSame  = Size{-1 << 40} // as much as keeps the size, with stride 1
	PaddingValid = Size{-1 << 41} // none
)

func isPadding(s, which Size) bool { return len(s) == 1 && s[0] == which[0] }

// ConvNd is what the convolution layers share.
type ConvNd struct {
	Base
	InChannels, OutChannels                              int
	KernelSize, Stride, Padding, Dilation, OutputPadding Size
	Groups                                               int
	PaddingMode                                          PaddingMode
	// (out, in/groups, kernel…); transposed: (in, out/groups, kernel…)
	Weight     *Tensor
	Bias       *Tensor // (out), nil without
	nd         int
	transposed bool
}

// ConvOptions are the options of the convolution layers; the zero value is PyTorch's default.
type ConvOptions struct {
	Stride      Size            // default 1
	Padding     Size            // default 0; PaddingSame, PaddingValid
	Dilation    Size            // default 1
	Groups      tensor.Opt[int] // default 1
	NoBias      bool
	PaddingMode PaddingMode
	DType       tensor.DType
	Device      tensor.Device // where the parameters are made; the default device unless given
}

// The options of each convolution layer.
type (
	Conv1dOptions = ConvOptions
	Conv2dOptions = ConvOptions
	Conv3dOptions = ConvOptions
)

// ConvTransposeOptions are the options of the transposed convolution layers; the zero value is PyTorch's default.
type ConvTransposeOptions struct {
	Stride        Size            // default 1
	Padding       Size            // default 0
	OutputPadding Size            // default 0
	Groups        tensor.Opt[int] // default 1
	NoBias        bool
	Dilation      Size // default 1
	DType         tensor.DType
	Device        tensor.Device // where the parameters are made; the default device unless given
}

// The options of each transposed convolution layer.
type (
	ConvTranspose1dOptions = ConvTransposeOptions
	ConvTranspose2dOptions = ConvTransposeOptions
	ConvTranspose3dOptions = ConvTransposeOptions
)

func (m *ConvNd) setup(nd, in, out int, kernel Size, o ConvOptions) {
	m.nd, m.InChannels, m.OutChannels = nd, in, out
	m.Groups = o.Groups.Or(1)
	if m.Groups < 0 {
		tensor.Fail(tensor.ErrValue, "groups must be a positive integer")
	}
	if in%m.Groups != 0 {
		tensor.Fail(tensor.ErrValue, "in_channels must be divisible by groups")
	}
	if out%m.Groups != 0 {
		tensor.Fail(tensor.ErrValue, "out_channels must be divisible by groups")
	}
	m.KernelSize = kernel.expand(nd)
	m.Stride = o.Stride.or(1).expand(nd)
	m.Dilation = o.Dilation.or(1).expand(nd)
	m.Padding = o.Padding.or(0)
	m.PaddingMode = o.PaddingMode
	if isPadding(m.Padding, PaddingSame) {
		if !m.Stride.all(1) {
			tensor.Fail(tensor.ErrValue, "padding='same' is not supported for strided convolutions")
		}
	} else if !isPadding(m.Padding, PaddingValid) {
		m.Padding = m.Padding.expand(nd)
	}
	first, second := out, in
	if m.transposed {
		first, second = in, out
	}
	m.Weight = param(at{o.DType, o.Device}, append([]int{first, second / m.Groups}, m.KernelSize...)...)
	if !o.NoBias {
		m.Bias = param(at{o.DType, o.Device}, out)
	}
	m.ResetParameters()
}

// ResetParameters draws the parameters anew.
func (m *ConvNd) ResetParameters() { initLinear(m.Weight, m.Bias) }

// pads gives the padding on both sides of each spatial dimension.
func (m *ConvNd) pads() (left, right Size) {
	left, right = make(Size, m.nd), make(Size, m.nd)
	switch {
	case isPadding(m.Padding, PaddingValid):
	case isPadding(m.Padding, PaddingSame):
		for i := range left {
			total := m.Dilation[i] * (m.KernelSize[i] - 1)
			left[i] = total / 2
			right[i] = total - left[i]
		}
	default:
		copy(left, m.Padding)
		copy(right, m.Padding)
	}
	return left, right
}

// evenPadding is the padding, if it is the same on both sides of each dimension.
func (m *ConvNd) evenPadding() (pad Size, even bool) {
	if !isPadding(m.Padding, PaddingSame) && !isPadding(m.Padding, PaddingValid) {
		return m.Padding, true
	}
	left, right := m.pads()
	return left, slices.Equal(left, right)
}

// paddingName is Python's name of the padding, "" for one in numbers.
func (m *ConvNd) paddingName() string {
	switch {
	case isPadding(m.Padding, PaddingSame):
		return "same"
	case isPadding(m.Padding, PaddingValid):
		return "valid"
	}
	return ""
}

// convNamed is conv where the padding has a name.
func (m *ConvNd) convNamed(x *Tensor, name string) *Tensor {
	groups := tensor.Some(m.Groups)
	switch m.nd {
	case 1:
		return F.Conv1dPadding(x, m.Weight,
			F.Conv1dPaddingOptions{Bias: m.Bias, Stride: m.Stride, Padding: name, Dilation: m.Dilation, Groups: groups})
	case 2:
		return F.Conv2dPadding(x, m.Weight,
			F.Conv2dPaddingOptions{Bias: m.Bias, Stride: m.Stride, Padding: name, Dilation: m.Dilation, Groups: groups})
	}
	return F.Conv3dPadding(x, m.Weight, F.Conv3dPaddingOptions{Bias: m.Bias, Stride: m.Stride, Padding: name,
		Dilation: m.Dilation, Groups: groups})
}

func (m *ConvNd) conv(x *Tensor) *Tensor {
	pad := m.Padding
	if m.PaddingMode == Zeros {
		if name := m.paddingName(); name != "" {
			return m.convNamed(x, name)
		}
	} else {
		left, right := m.pads()
		list := make([]int, 0, 2*m.nd) // F.pad starts with the last dimension
		for i := m.nd - 1; i >= 0; i-- {
			list = append(list, left[i], right[i])
		}
		x = F.Pad(x, list, F.PadOptions{Mode: m.PaddingMode.String()})
		pad = make(Size, m.nd)
	}
	groups := tensor.Some(m.Groups)
	switch m.nd {
	case 1:
		return F.Conv1d(x, m.Weight, F.Conv1dOptions{Bias: m.Bias, Stride: m.Stride, Padding: pad, Dilation: m.Dilation,
			Groups: groups})
	case 2:
		return F.Conv2d(x, m.Weight, F.Conv2dOptions{Bias: m.Bias, Stride: m.Stride, Padding: pad, Dilation: m.Dilation,
			Groups: groups})
	}
	return F.Conv3d(x, m.Weight, F.Conv3dOptions{Bias: m.Bias, Stride: m.Stride, Padding: pad, Dilation: m.Dilation,
		Groups: groups})
}

// Forward applies the layer to (N, in, …) or, without a batch, (in, …).
func (m *ConvNd) Forward(x *Tensor) *Tensor { return m.Run(m.self, x, m.conv) }

// ExtraRepr prints the sizes.
func (m *ConvNd) ExtraRepr() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d, %d, kernel_size=%s, stride=%s", m.InChannels, m.OutChannels, m.KernelSize.tuple(),
		m.Stride.tuple())
	switch {
	case isPadding(m.Padding, PaddingSame):
		b.WriteString(", padding=same")
	case isPadding(m.Padding, PaddingValid):
		b.WriteString(", padding=valid")
	case !m.Padding.all(0):
		b.WriteString(", padding=" + m.Padding.tuple())
	}
	if !m.Dilation.all(1) {
		b.WriteString(", dilation=" + m.Dilation.tuple())
	}
	if !m.OutputPadding.all(0) {
		b.WriteString(", output_padding=" + m.OutputPadding.tuple())
	}
	if m.Groups != 1 {
		fmt.Fprintf(&b, ", groups=%d", m.Groups)
	}
	if m.Bias == nil {
		b.WriteString(", bias=False")
	}
	if m.PaddingMode != Zeros {
		b.WriteString(", padding_mode=" + m.PaddingMode.String())
	}
	return b.String()
}

// ConvTransposeNd is what the transposed convolution layers share.
type ConvTransposeNd struct{ ConvNd }

func (m *ConvTransposeNd) setup(nd, in, out int, kernel Size, opts []ConvTransposeOptions) {
	var o ConvTransposeOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	m.transposed = true
	m.OutputPadding = o.OutputPadding.or(0).expand(nd)
	m.ConvNd.setup(nd, in, out, kernel, ConvOptions{Stride: o.Stride, Padding: o.Padding, Dilation: o.Dilation,
		Groups: o.Groups, NoBias: o.NoBias, DType: o.DType, Device: o.Device})
}

// Forward applies the layer to (N, in, …) or (in, …).
func (m *ConvTransposeNd) Forward(x *Tensor) *Tensor { return m.ForwardSize(x) }

// ForwardSize is Forward with an output size, which chooses among the sizes that strides leave open: (H, W) or (N, C,
// H, W) in two dimensions.
func (m *ConvTransposeNd) ForwardSize(x *Tensor, outputSize ...int) *Tensor {
	return m.Run(m.self, x, func(x *Tensor) *Tensor {
		pad := m.OutputPadding
		if len(outputSize) > 0 {
			pad = m.outputPadding(x, outputSize)
		}
		groups := tensor.Some(m.Groups)
		switch m.nd {
		case 1:
			return F.ConvTranspose1d(x, m.Weight,
				F.ConvTranspose1dOptions{Bias: m.Bias, Stride: m.Stride, Padding: m.Padding, OutputPadding: pad,
					Groups: groups, Dilation: m.Dilation})
		case 2:
			return F.ConvTranspose2d(x, m.Weight,
				F.ConvTranspose2dOptions{Bias: m.Bias, Stride: m.Stride, Padding: m.Padding, OutputPadding: pad,
					Groups: groups, Dilation: m.Dilation})
		}
		return F.ConvTranspose3d(x, m.Weight,
			F.ConvTranspose3dOptions{Bias: m.Bias, Stride: m.Stride, Padding: m.Padding, OutputPadding: pad,
				Groups: groups, Dilation: m.Dilation})
	})
}

func (m *ConvTransposeNd) outputPadding(x *Tensor, size []int) Size {
	if len(size) == x.Dim() {
		size = size[x.Dim()-m.nd:]
	}
	if len(size) != m.nd {
		tensor.Fail(tensor.ErrValue, "ConvTranspose%dd: for %dD input, output_size must have %d or %d elements (got %d)", m.nd, x.Dim(), m.nd, x.Dim(), len(size))
	}
	out := make(Size, m.nd)
	for i := range out {
		in := x.Size(x.Dim() - m.nd + i)
		low := (in-1)*m.Stride[i] - 2*m.Padding[i] + m.Dilation[i]*(m.KernelSize[i]-1) + 1
		if size[i] < low || size[i] > low+m.Stride[i]-1 {
			tensor.Fail(tensor.ErrValue,
				"requested an output size of %v, but valid sizes of dimension %d range from %d to %d", size, i, low,
				low+m.Stride[i]-1)
		}
		out[i] = size[i] - low
	}
	return out
}

func convOptions(opts []ConvOptions) ConvOptions {
	if len(opts) > 0 {
		return opts[0]
	}
	return ConvOptions{}
}

// Conv1d convolves signals (N, in, L).
// https://pytorch.org/docs/stable/generated/torch.nn.Conv1d.html
type Conv1d struct{ ConvNd }

// NewConv1d makes a Conv1d. Weight and bias are drawn uniformly from ±1/sqrt(in/groups · kernel elements).
func NewConv1d[S SizeArg](in, out int, kernelSize S, opts ...Conv1dOptions) *Conv1d {
	m := &Conv1d{}
	o := convOptions(opts)
	m.setup(1, in, out, sizeOf(kernelSize), o)
	return New(m)
}

// ConvTranspose1d is the gradient of Conv1d with respect to its input, as a layer: it enlarges signals (N, in, L).
// https://pytorch.org/docs/stable/generated/torch.nn.ConvTranspose1d.html
type ConvTranspose1d struct{ ConvTransposeNd }

// NewConvTranspose1d makes a ConvTranspose1d.
func NewConvTranspose1d[S SizeArg](in, out int, kernelSize S, opts ...ConvTranspose1dOptions) *ConvTranspose1d {
	m := &ConvTranspose1d{}
	m.setup(1, in, out, sizeOf(kernelSize), opts)
	return New(m)
}

// Conv2d convolves pictures (N, in, H, W).
// https://pytorch.org/docs/stable/generated/torch.nn.Conv2d.html
type Conv2d struct{ ConvNd }

// NewConv2d makes a Conv2d. Weight and bias are drawn uniformly from ±1/sqrt(in/groups · kernel elements).
func NewConv2d[S SizeArg](in, out int, kernelSize S, opts ...Conv2dOptions) *Conv2d {
	m := &Conv2d{}
	o := convOptions(opts)
	m.setup(2, in, out, sizeOf(kernelSize), o)
	return New(m)
}

// ConvTranspose2d is the gradient of Conv2d with respect to its input, as a layer: it enlarges pictures (N, in, H, W).
// https://pytorch.org/docs/stable/generated/torch.nn.ConvTranspose2d.html
type ConvTranspose2d struct{ ConvTransposeNd }

// NewConvTranspose2d makes a ConvTranspose2d.
func NewConvTranspose2d[S SizeArg](in, out int, kernelSize S, opts ...ConvTranspose2dOptions) *ConvTranspose2d {
	m := &ConvTranspose2d{}
	m.setup(2, in, out, sizeOf(kernelSize), opts)
	return New(m)
}

// Conv3d convolves volumes (N, in, D, H, W).
// https://pytorch.org/docs/stable/generated/torch.nn.Conv3d.html
type Conv3d struct{ ConvNd }

// NewConv3d makes a Conv3d. Weight and bias are drawn uniformly from ±1/sqrt(in/groups · kernel elements).
func NewConv3d[S SizeArg](in, out int, kernelSize S, opts ...Conv3dOptions) *Conv3d {
	m := &Conv3d{}
	o := convOptions(opts)
	m.setup(3, in, out, sizeOf(kernelSize), o)
	return New(m)
}

// ConvTranspose3d is the gradient of Conv3d with respect to its input, as a layer: it enlarges volumes (N, in, D, H,
// W).
// https://pytorch.org/docs/stable/generated/torch.nn.ConvTranspose3d.html
type ConvTranspose3d struct{ ConvTransposeNd }

// NewConvTranspose3d makes a ConvTranspose3d.
func NewConvTranspose3d[S SizeArg](in, out int, kernelSize S, opts ...ConvTranspose3dOptions) *ConvTranspose3d {
	m := &ConvTranspose3d{}
	m.setup(3, in, out, sizeOf(kernelSize), opts)
	return New(m)
}

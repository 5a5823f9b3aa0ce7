package nn

import (
	F "github.com/gotorch-dev/torch/nn/functional"

	"fmt"
	"strconv"

	"github.com/gotorch-dev/torch/tensor"
)

// MaxPoolOptions are the options of the maximum pooling layers; the zero value is PyTorch's default.
type MaxPoolOptions struct {
	Stride        Size // default the kernel size
	Padding       Size // default 0
	Dilation      Size // default 1
	ReturnIndices bool // the layer is to be used by ForwardIndices
	CeilMode      bool
}

// AvgPoolOptions are the options of the average pooling layers; the zero value is PyTorch's default.
type AvgPoolOptions struct {
	Stride            Size // default the kernel size
	Padding           Size // default 0
	CeilMode          bool
	NoCountIncludePad bool
	DivisorOverride   tensor.Opt[int] // 2d and 3d; default the window's size
}

// LPPoolOptions are the options of the power-average pooling layers.
type LPPoolOptions struct {
	Stride   Size // default the kernel size
	CeilMode bool
}

// MaxUnpoolOptions are the options of the MaxUnpool layers.
type MaxUnpoolOptions struct {
	Stride  Size // default the kernel size
	Padding Size // default 0
}

// FractionalMaxPoolOptions are the options of the fractional maximum pooling layers: OutputSize or OutputRatio must be
// given.
type FractionalMaxPoolOptions struct {
	OutputSize    Size
	OutputRatio   []float64 // one for all dimensions, or one each
	ReturnIndices bool
	RandomSamples *Tensor // (N, C, dims) in [0, 1); nil: drawn at each call
}

// AdaptiveMaxPoolOptions are the options of the adaptive maximum pooling layers.
type AdaptiveMaxPoolOptions struct {
	ReturnIndices bool // the layer is to be used by ForwardIndices
}

func first[T any](opts []T) T {
	var o T
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}

// IndexPool is a pooling layer that can tell where its maxima were found.
type IndexPool interface {
	Layer
	// ForwardIndices also returns the flat positions of the maxima within their planes, as MaxUnpool takes them.
	ForwardIndices(x *Tensor) (out, indices *Tensor)
}

// MaxPool1d takes the maximum of each window of 1 spatial dimension.
// https://pytorch.org/docs/stable/generated/torch.nn.MaxPool1d.html
type MaxPool1d struct {
	Base
	KernelSize, Stride, Padding, Dilation Size
	ReturnIndices, CeilMode               bool
}

// MaxPool1dOptions are the options of NewMaxPool1d.
type MaxPool1dOptions = MaxPoolOptions

// NewMaxPool1d makes a MaxPool1d.
func NewMaxPool1d[S SizeArg](kernelSize S, opts ...MaxPool1dOptions) *MaxPool1d {
	o := first(opts)
	k := sizeOf(kernelSize)
	m := &MaxPool1d{KernelSize: k, Stride: o.Stride, Padding: o.Padding.or(0), Dilation: o.Dilation.or(1),
		ReturnIndices: o.ReturnIndices, CeilMode: o.CeilMode}
	if m.Stride == nil {
		m.Stride = k
	}
	return New(m)
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *MaxPool1d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.MaxPool1d(x, m.KernelSize,
			F.MaxPool1dOptions{Stride: m.Stride, Padding: m.Padding, Dilation: m.Dilation, CeilMode: m.CeilMode})
	})
}

// ForwardIndices is Forward that also returns the positions of the maxima.
func (m *MaxPool1d) ForwardIndices(x *Tensor) (out, indices *Tensor) {
	return run2(m, x, func(x *Tensor) (out, indices *Tensor) {
		return F.MaxPool1dWithIndices(x, m.KernelSize,
			F.MaxPool1dWithIndicesOptions{Stride: m.Stride, Padding: m.Padding, Dilation: m.Dilation,
				CeilMode: m.CeilMode})
	})
}

// ExtraRepr prints the sizes.
func (m *MaxPool1d) ExtraRepr() string {
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s, dilation=%s, ceil_mode=%s", m.KernelSize, m.Stride,
		m.Padding, m.Dilation, pyBool(m.CeilMode))
}

// AvgPool1d takes the mean of each window of 1 spatial dimension.
// https://pytorch.org/docs/stable/generated/torch.nn.AvgPool1d.html
type AvgPool1d struct {
	Base
	KernelSize, Stride, Padding Size
	CeilMode, CountIncludePad   bool
	DivisorOverride             tensor.Opt[int]
}

// AvgPool1dOptions are the options of NewAvgPool1d.
type AvgPool1dOptions = AvgPoolOptions

// NewAvgPool1d makes an AvgPool1d.
func NewAvgPool1d[S SizeArg](kernelSize S, opts ...AvgPool1dOptions) *AvgPool1d {
	o := first(opts)
	k := sizeOf(kernelSize)
	m := &AvgPool1d{KernelSize: k, Stride: o.Stride, Padding: o.Padding.or(0), CeilMode: o.CeilMode,
		CountIncludePad: !o.NoCountIncludePad, DivisorOverride: o.DivisorOverride}
	if m.Stride == nil {
		m.Stride = k
	}
	return New(m)
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *AvgPool1d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.AvgPool1d(x, m.KernelSize,
			F.AvgPool1dOptions{Stride: m.Stride, Padding: m.Padding, CeilMode: m.CeilMode,
				NoCountIncludePad: !m.CountIncludePad})
	})
}

// ExtraRepr prints the sizes.
func (m *AvgPool1d) ExtraRepr() string {
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s", m.KernelSize.tuple(), m.Stride.tuple(),
		m.Padding.tuple())
}

// AdaptiveAvgPool1d takes the mean of windows chosen so that the output has the given size.
// https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool1d.html
type AdaptiveAvgPool1d struct {
	Base
	OutputSize Size // SameSize: the input's

}

// NewAdaptiveAvgPool1d makes an AdaptiveAvgPool1d.
func NewAdaptiveAvgPool1d[S SizeArg](outputSize S) *AdaptiveAvgPool1d {
	return New(&AdaptiveAvgPool1d{OutputSize: sizeOf(outputSize)})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *AdaptiveAvgPool1d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return F.AdaptiveAvgPool1d(x, adaptiveSize(x, m.OutputSize, 1)) })
}

// ExtraRepr prints the size.
func (m *AdaptiveAvgPool1d) ExtraRepr() string { return "output_size=" + m.OutputSize.String() }

// AdaptiveMaxPool1d takes the maximum of windows chosen so that the output has the given size.
// https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveMaxPool1d.html
type AdaptiveMaxPool1d struct {
	Base
	OutputSize    Size // SameSize: the input's
	ReturnIndices bool
}

// NewAdaptiveMaxPool1d makes an AdaptiveMaxPool1d.
func NewAdaptiveMaxPool1d[S SizeArg](outputSize S, opts ...AdaptiveMaxPoolOptions) *AdaptiveMaxPool1d {
	return New(&AdaptiveMaxPool1d{OutputSize: sizeOf(outputSize), ReturnIndices: first(opts).ReturnIndices})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *AdaptiveMaxPool1d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return F.AdaptiveMaxPool1d(x, adaptiveSize(x, m.OutputSize, 1)) })
}

// ExtraRepr prints the size.
func (m *AdaptiveMaxPool1d) ExtraRepr() string { return "output_size=" + m.OutputSize.String() }

// ForwardIndices is Forward that also returns the positions of the maxima.
func (m *AdaptiveMaxPool1d) ForwardIndices(x *Tensor) (out, indices *Tensor) {
	return run2(m, x, func(x *Tensor) (out, indices *Tensor) {
		return F.AdaptiveMaxPool1dWithIndices(x, adaptiveSize(x, m.OutputSize, 1))
	})
}

// LPPool1d takes the p-norm of each window.
// https://pytorch.org/docs/stable/generated/torch.nn.LPPool1d.html
type LPPool1d struct {
	Base
	NormType           tensor.Scalar
	KernelSize, Stride Size
	CeilMode           bool
}

// NewLPPool1d makes an LPPool1d for the p-norm with p = normType.
func NewLPPool1d[S SizeArg](normType tensor.Scalar, kernelSize S, opts ...LPPoolOptions) *LPPool1d {
	o := first(opts)
	return New(&LPPool1d{NormType: normType, KernelSize: sizeOf(kernelSize), Stride: o.Stride, CeilMode: o.CeilMode})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *LPPool1d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.LPPool1d(x, toFloat(m.NormType), m.KernelSize,
			F.LPPool1dOptions{Stride: m.Stride, CeilMode: m.CeilMode})
	})
}

// ExtraRepr prints the sizes.
func (m *LPPool1d) ExtraRepr() string {
	return fmt.Sprintf("norm_type=%s, kernel_size=%s, stride=%s, ceil_mode=%s", pyNum(m.NormType), m.KernelSize,
		noneOr(m.Stride), pyBool(m.CeilMode))
}

// MaxUnpool1d puts values back to the positions that MaxPool1d found them at, zeros elsewhere.
// https://pytorch.org/docs/stable/generated/torch.nn.MaxUnpool1d.html
type MaxUnpool1d struct {
	Base
	KernelSize, Stride, Padding Size
}

// NewMaxUnpool1d makes a MaxUnpool1d.
func NewMaxUnpool1d[S SizeArg](kernelSize S, opts ...MaxUnpoolOptions) *MaxUnpool1d {
	o := first(opts)
	k := sizeOf(kernelSize).expand(1)
	m := &MaxUnpool1d{KernelSize: k, Stride: o.Stride.expand(1), Padding: o.Padding.or(0).expand(1)}
	if o.Stride == nil {
		m.Stride = k
	}
	return New(m)
}

// Forward applies the layer to pooled values and their positions. The output size, when given, chooses among those that
// pool to this one.
func (m *MaxUnpool1d) Forward(x, indices *Tensor, outputSize ...int) *Tensor {
	return runN(m, []*Tensor{x, indices}, func(in []*Tensor) *Tensor {
		return F.MaxUnpool1d(in[0], in[1], m.KernelSize,
			F.MaxUnpool1dOptions{Stride: m.Stride, Padding: m.Padding, OutputSize: given(outputSize)})
	})
}

// ExtraRepr prints the sizes.
func (m *MaxUnpool1d) ExtraRepr() string {
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s", m.KernelSize.tuple(), m.Stride.tuple(),
		m.Padding.tuple())
}

// MaxPool2d takes the maximum of each window of 2 spatial dimensions.
// https://pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html
type MaxPool2d struct {
	Base
	KernelSize, Stride, Padding, Dilation Size
	ReturnIndices, CeilMode               bool
}

// MaxPool2dOptions are the options of NewMaxPool2d.
type MaxPool2dOptions = MaxPoolOptions

// NewMaxPool2d makes a MaxPool2d.
func NewMaxPool2d[S SizeArg](kernelSize S, opts ...MaxPool2dOptions) *MaxPool2d {
	o := first(opts)
	k := sizeOf(kernelSize)
	m := &MaxPool2d{KernelSize: k, Stride: o.Stride, Padding: o.Padding.or(0), Dilation: o.Dilation.or(1),
		ReturnIndices: o.ReturnIndices, CeilMode: o.CeilMode}
	if m.Stride == nil {
		m.Stride = k
	}
	return New(m)
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *MaxPool2d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.MaxPool2d(x, m.KernelSize.expand(2),
			F.MaxPool2dOptions{Stride: m.Stride.expand(2), Padding: m.Padding.expand(2), Dilation: m.Dilation.expand(2),
				CeilMode: m.CeilMode})
	})
}

// ForwardIndices is Forward that also returns the positions of the maxima.
func (m *MaxPool2d) ForwardIndices(x *Tensor) (out, indices *Tensor) {
	return run2(m, x, func(x *Tensor) (out, indices *Tensor) {
		return F.MaxPool2dWithIndices(x, m.KernelSize.expand(2),
			F.MaxPool2dWithIndicesOptions{Stride: m.Stride.expand(2), Padding: m.Padding.expand(2),
				Dilation: m.Dilation.expand(2), CeilMode: m.CeilMode})
	})
}

// ExtraRepr prints the sizes.
func (m *MaxPool2d) ExtraRepr() string {
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s, dilation=%s, ceil_mode=%s", m.KernelSize, m.Stride,
		m.Padding, m.Dilation, pyBool(m.CeilMode))
}

// AvgPool2d takes the mean of each window of 2 spatial dimensions.
// https://pytorch.org/docs/stable/generated/torch.nn.AvgPool2d.html
type AvgPool2d struct {
	Base
	KernelSize, Stride, Padding Size
	CeilMode, CountIncludePad   bool
	DivisorOverride             tensor.Opt[int]
}

// AvgPool2dOptions are the options of NewAvgPool2d.
type AvgPool2dOptions = AvgPoolOptions

// NewAvgPool2d makes an AvgPool2d.
func NewAvgPool2d[S SizeArg](kernelSize S, opts ...AvgPool2dOptions) *AvgPool2d {
	o := first(opts)
	k := sizeOf(kernelSize)
	m := &AvgPool2d{KernelSize: k, Stride: o.Stride, Padding: o.Padding.or(0), CeilMode: o.CeilMode,
		CountIncludePad: !o.NoCountIncludePad, DivisorOverride: o.DivisorOverride}
	if m.Stride == nil {
		m.Stride = k
	}
	return New(m)
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *AvgPool2d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		o := F.AvgPool2dOptions{Stride: m.Stride.expand(2), Padding: m.Padding.expand(2), CeilMode: m.CeilMode,
			NoCountIncludePad: !m.CountIncludePad}
		o.DivisorOverride = m.DivisorOverride
		return F.AvgPool2d(x, m.KernelSize.expand(2), o)
	})
}

// ExtraRepr prints the sizes.
func (m *AvgPool2d) ExtraRepr() string {
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s", m.KernelSize, m.Stride, m.Padding)
}

// AdaptiveAvgPool2d takes the mean of windows chosen so that the output has the given size.
// https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool2d.html
type AdaptiveAvgPool2d struct {
	Base
	OutputSize Size // SameSize: the input's

}

// NewAdaptiveAvgPool2d makes an AdaptiveAvgPool2d.
func NewAdaptiveAvgPool2d[S SizeArg](outputSize S) *AdaptiveAvgPool2d {
	return New(&AdaptiveAvgPool2d{OutputSize: sizeOf(outputSize)})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *AdaptiveAvgPool2d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return F.AdaptiveAvgPool2d(x, adaptiveSize(x, m.OutputSize, 2)) })
}

// ExtraRepr prints the size.
func (m *AdaptiveAvgPool2d) ExtraRepr() string { return "output_size=" + m.OutputSize.String() }

// AdaptiveMaxPool2d takes the maximum of windows chosen so that the output has the given size.
// https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveMaxPool2d.html
type AdaptiveMaxPool2d struct {
	Base
	OutputSize    Size // SameSize: the input's
	ReturnIndices bool
}

// NewAdaptiveMaxPool2d makes an AdaptiveMaxPool2d.
func NewAdaptiveMaxPool2d[S SizeArg](outputSize S, opts ...AdaptiveMaxPoolOptions) *AdaptiveMaxPool2d {
	return New(&AdaptiveMaxPool2d{OutputSize: sizeOf(outputSize), ReturnIndices: first(opts).ReturnIndices})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *AdaptiveMaxPool2d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return F.AdaptiveMaxPool2d(x, adaptiveSize(x, m.OutputSize, 2)) })
}

// ExtraRepr prints the size.
func (m *AdaptiveMaxPool2d) ExtraRepr() string { return "output_size=" + m.OutputSize.String() }

// ForwardIndices is Forward that also returns the positions of the maxima.
func (m *AdaptiveMaxPool2d) ForwardIndices(x *Tensor) (out, indices *Tensor) {
	return run2(m, x, func(x *Tensor) (out, indices *Tensor) {
		return F.AdaptiveMaxPool2dWithIndices(x, adaptiveSize(x, m.OutputSize, 2))
	})
}

// LPPool2d takes the p-norm of each window.
// https://pytorch.org/docs/stable/generated/torch.nn.LPPool2d.html
type LPPool2d struct {
	Base
	NormType           tensor.Scalar
	KernelSize, Stride Size
	CeilMode           bool
}

// NewLPPool2d makes an LPPool2d for the p-norm with p = normType.
func NewLPPool2d[S SizeArg](normType tensor.Scalar, kernelSize S, opts ...LPPoolOptions) *LPPool2d {
	o := first(opts)
	return New(&LPPool2d{NormType: normType, KernelSize: sizeOf(kernelSize), Stride: o.Stride, CeilMode: o.CeilMode})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *LPPool2d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.LPPool2d(x, toFloat(m.NormType), m.KernelSize.expand(2),
			F.LPPool2dOptions{Stride: m.Stride.expand(2), CeilMode: m.CeilMode})
	})
}

// ExtraRepr prints the sizes.
func (m *LPPool2d) ExtraRepr() string {
	return fmt.Sprintf("norm_type=%s, kernel_size=%s, stride=%s, ceil_mode=%s", pyNum(m.NormType), m.KernelSize,
		noneOr(m.Stride), pyBool(m.CeilMode))
}

// MaxUnpool2d puts values back to the positions that MaxPool2d found them at, zeros elsewhere.
// https://pytorch.org/docs/stable/generated/torch.nn.MaxUnpool2d.html
type MaxUnpool2d struct {
	Base
	KernelSize, Stride, Padding Size
}

// NewMaxUnpool2d makes a MaxUnpool2d.
func NewMaxUnpool2d[S SizeArg](kernelSize S, opts ...MaxUnpoolOptions) *MaxUnpool2d {
	o := first(opts)
	k := sizeOf(kernelSize).expand(2)
	m := &MaxUnpool2d{KernelSize: k, Stride: o.Stride.expand(2), Padding: o.Padding.or(0).expand(2)}
	if o.Stride == nil {
		m.Stride = k
	}
	return New(m)
}

// Forward applies the layer to pooled values and their positions. The output size, when given, chooses among those that
// pool to this one.
func (m *MaxUnpool2d) Forward(x, indices *Tensor, outputSize ...int) *Tensor {
	return runN(m, []*Tensor{x, indices}, func(in []*Tensor) *Tensor {
		return F.MaxUnpool2d(in[0], in[1], m.KernelSize.expand(2),
			F.MaxUnpool2dOptions{Stride: m.Stride.expand(2), Padding: m.Padding.expand(2),
				OutputSize: given(outputSize)})
	})
}

// ExtraRepr prints the sizes.
func (m *MaxUnpool2d) ExtraRepr() string {
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s", m.KernelSize.tuple(), m.Stride.tuple(),
		m.Padding.tuple())
}

// FractionalMaxPool2d takes maxima of windows placed at random (Graham 2014).
// https://pytorch.org/docs/stable/generated/torch.nn.FractionalMaxPool2d.html
type FractionalMaxPool2d struct {
	Base
	KernelSize, OutputSize Size
	OutputRatio            []float64
	ReturnIndices          bool
	RandomSamples          *Tensor `torch:"_random_samples,buffer"`
}

// NewFractionalMaxPool2d makes a FractionalMaxPool2d.
func NewFractionalMaxPool2d[S SizeArg](kernelSize S, opts ...FractionalMaxPoolOptions) *FractionalMaxPool2d {
	o := first(opts)
	checkFractional("FractionalMaxPool2d", &o, 2)
	return New(&FractionalMaxPool2d{KernelSize: sizeOf(kernelSize).expand(2), OutputSize: o.OutputSize.expand(2),
		OutputRatio: o.OutputRatio, ReturnIndices: o.ReturnIndices, RandomSamples: o.RandomSamples})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *FractionalMaxPool2d) Forward(x *Tensor) *Tensor {
	y, _ := m.ForwardIndices(x)
	return y
}

// ForwardIndices is Forward that also returns the positions of the maxima.
func (m *FractionalMaxPool2d) ForwardIndices(x *Tensor) (out, indices *Tensor) {
	return run2(m, x, func(x *Tensor) (out, indices *Tensor) {
		return F.FractionalMaxPool2dWithIndices(x, m.KernelSize,
			F.FractionalMaxPool2dWithIndicesOptions{OutputSize: m.OutputSize, OutputRatio: m.OutputRatio,
				RandomSamples: m.RandomSamples})
	})
}

// MaxPool3d takes the maximum of each window of 3 spatial dimensions.
// https://pytorch.org/docs/stable/generated/torch.nn.MaxPool3d.html
type MaxPool3d struct {
	Base
	KernelSize, Stride, Padding, Dilation Size
	ReturnIndices, CeilMode               bool
}

// MaxPool3dOptions are the options of NewMaxPool3d.
type MaxPool3dOptions = MaxPoolOptions

// NewMaxPool3d makes a MaxPool3d.
func NewMaxPool3d[S SizeArg](kernelSize S, opts ...MaxPool3dOptions) *MaxPool3d {
	o := first(opts)
	k := sizeOf(kernelSize)
	m := &MaxPool3d{KernelSize: k, Stride: o.Stride, Padding: o.Padding.or(0), Dilation: o.Dilation.or(1),
		ReturnIndices: o.ReturnIndices, CeilMode: o.CeilMode}
	if m.Stride == nil {
		m.Stride = k
	}
	return New(m)
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *MaxPool3d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.MaxPool3d(x, m.KernelSize.expand(3),
			F.MaxPool3dOptions{Stride: m.Stride.expand(3), Padding: m.Padding.expand(3), Dilation: m.Dilation.expand(3),
				CeilMode: m.CeilMode})
	})
}

// ForwardIndices is Forward that also returns the positions of the maxima.
func (m *MaxPool3d) ForwardIndices(x *Tensor) (out, indices *Tensor) {
	return run2(m, x, func(x *Tensor) (out, indices *Tensor) {
		return F.MaxPool3dWithIndices(x, m.KernelSize.expand(3),
			F.MaxPool3dWithIndicesOptions{Stride: m.Stride.expand(3), Padding: m.Padding.expand(3),
				Dilation: m.Dilation.expand(3), CeilMode: m.CeilMode})
	})
}

// ExtraRepr prints the sizes.
func (m *MaxPool3d) ExtraRepr() string {
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s, dilation=%s, ceil_mode=%s", m.KernelSize, m.Stride,
		m.Padding, m.Dilation, pyBool(m.CeilMode))
}

// AvgPool3d takes the mean of each window of 3 spatial dimensions.
// https://pytorch.org/docs/stable/generated/torch.nn.AvgPool3d.html
type AvgPool3d struct {
	Base
	KernelSize, Stride, Padding Size
	CeilMode, CountIncludePad   bool
	DivisorOverride             tensor.Opt[int]
}

// AvgPool3dOptions are the options of NewAvgPool3d.
type AvgPool3dOptions = AvgPoolOptions

// NewAvgPool3d makes an AvgPool3d.
func NewAvgPool3d[S SizeArg](kernelSize S, opts ...AvgPool3dOptions) *AvgPool3d {
	o := first(opts)
	k := sizeOf(kernelSize)
	m := &AvgPool3d{KernelSize: k, Stride: o.Stride, Padding: o.Padding.or(0), CeilMode: o.CeilMode,
		CountIncludePad: !o.NoCountIncludePad, DivisorOverride: o.DivisorOverride}
	if m.Stride == nil {
		m.Stride = k
	}
	return New(m)
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *AvgPool3d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		o := F.AvgPool3dOptions{Stride: m.Stride.expand(3), Padding: m.Padding.expand(3), CeilMode: m.CeilMode,
			NoCountIncludePad: !m.CountIncludePad}
		o.DivisorOverride = m.DivisorOverride
		return F.AvgPool3d(x, m.KernelSize.expand(3), o)
	})
}

// ExtraRepr prints the sizes.
func (m *AvgPool3d) ExtraRepr() string {
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s", m.KernelSize, m.Stride, m.Padding)
}

// AdaptiveAvgPool3d takes the mean of windows chosen so that the output has the given size.
// https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool3d.html
type AdaptiveAvgPool3d struct {
	Base
	OutputSize Size // SameSize: the input's

}

// NewAdaptiveAvgPool3d makes an AdaptiveAvgPool3d.
func NewAdaptiveAvgPool3d[S SizeArg](outputSize S) *AdaptiveAvgPool3d {
	return New(&AdaptiveAvgPool3d{OutputSize: sizeOf(outputSize)})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *AdaptiveAvgPool3d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return F.AdaptiveAvgPool3d(x, adaptiveSize(x, m.OutputSize, 3)) })
}

// ExtraRepr prints the size.
func (m *AdaptiveAvgPool3d) ExtraRepr() string { return "output_size=" + m.OutputSize.String() }

// AdaptiveMaxPool3d takes the maximum of windows chosen so that the output has the given size.
// https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveMaxPool3d.html
type AdaptiveMaxPool3d struct {
	Base
	OutputSize    Size // SameSize: the input's
	ReturnIndices bool
}

// NewAdaptiveMaxPool3d makes an AdaptiveMaxPool3d.
func NewAdaptiveMaxPool3d[S SizeArg](outputSize S, opts ...AdaptiveMaxPoolOptions) *AdaptiveMaxPool3d {
	return New(&AdaptiveMaxPool3d{OutputSize: sizeOf(outputSize), ReturnIndices: first(opts).ReturnIndices})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *AdaptiveMaxPool3d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return F.AdaptiveMaxPool3d(x, adaptiveSize(x, m.OutputSize, 3)) })
}

// ExtraRepr prints the size.
func (m *AdaptiveMaxPool3d) ExtraRepr() string { return "output_size=" + m.OutputSize.String() }

// ForwardIndices is Forward that also returns the positions of the maxima.
func (m *AdaptiveMaxPool3d) ForwardIndices(x *Tensor) (out, indices *Tensor) {
	return run2(m, x, func(x *Tensor) (out, indices *Tensor) {
		return F.AdaptiveMaxPool3dWithIndices(x, adaptiveSize(x, m.OutputSize, 3))
	})
}

// LPPool3d takes the p-norm of each window.
// https://pytorch.org/docs/stable/generated/torch.nn.LPPool3d.html
type LPPool3d struct {
	Base
	NormType           tensor.Scalar
	KernelSize, Stride Size
	CeilMode           bool
}

// NewLPPool3d makes an LPPool3d for the p-norm with p = normType.
func NewLPPool3d[S SizeArg](normType tensor.Scalar, kernelSize S, opts ...LPPoolOptions) *LPPool3d {
	o := first(opts)
	return New(&LPPool3d{NormType: normType, KernelSize: sizeOf(kernelSize), Stride: o.Stride, CeilMode: o.CeilMode})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *LPPool3d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.LPPool3d(x, toFloat(m.NormType), m.KernelSize.expand(3),
			F.LPPool3dOptions{Stride: m.Stride.expand(3), CeilMode: m.CeilMode})
	})
}

// ExtraRepr prints the sizes.
func (m *LPPool3d) ExtraRepr() string {
	return fmt.Sprintf("norm_type=%s, kernel_size=%s, stride=%s, ceil_mode=%s", pyNum(m.NormType), m.KernelSize,
		noneOr(m.Stride), pyBool(m.CeilMode))
}

// MaxUnpool3d puts values back to the positions that MaxPool3d found them at, zeros elsewhere.
// https://pytorch.org/docs/stable/generated/torch.nn.MaxUnpool3d.html
type MaxUnpool3d struct {
	Base
	KernelSize, Stride, Padding Size
}

// NewMaxUnpool3d makes a MaxUnpool3d.
func NewMaxUnpool3d[S SizeArg](kernelSize S, opts ...MaxUnpoolOptions) *MaxUnpool3d {
	o := first(opts)
	k := sizeOf(kernelSize).expand(3)
	m := &MaxUnpool3d{KernelSize: k, Stride: o.Stride.expand(3), Padding: o.Padding.or(0).expand(3)}
	if o.Stride == nil {
		m.Stride = k
	}
	return New(m)
}

// Forward applies the layer to pooled values and their positions. The output size, when given, chooses among those that
// pool to this one.
func (m *MaxUnpool3d) Forward(x, indices *Tensor, outputSize ...int) *Tensor {
	return runN(m, []*Tensor{x, indices}, func(in []*Tensor) *Tensor {
		return F.MaxUnpool3d(in[0], in[1], m.KernelSize.expand(3),
			F.MaxUnpool3dOptions{Stride: m.Stride.expand(3), Padding: m.Padding.expand(3),
				OutputSize: given(outputSize)})
	})
}

// ExtraRepr prints the sizes.
func (m *MaxUnpool3d) ExtraRepr() string {
	return fmt.Sprintf("kernel_size=%s, stride=%s, padding=%s", m.KernelSize.tuple(), m.Stride.tuple(),
		m.Padding.tuple())
}

// FractionalMaxPool3d takes maxima of windows placed at random (Graham 2014).
// https://pytorch.org/docs/stable/generated/torch.nn.FractionalMaxPool3d.html
type FractionalMaxPool3d struct {
	Base
	KernelSize, OutputSize Size
	OutputRatio            []float64
	ReturnIndices          bool
	RandomSamples          *Tensor `torch:"_random_samples,buffer"`
}

// NewFractionalMaxPool3d makes a FractionalMaxPool3d.
func NewFractionalMaxPool3d[S SizeArg](kernelSize S, opts ...FractionalMaxPoolOptions) *FractionalMaxPool3d {
	o := first(opts)
	checkFractional("FractionalMaxPool3d", &o, 3)
	return New(&FractionalMaxPool3d{KernelSize: sizeOf(kernelSize).expand(3), OutputSize: o.OutputSize.expand(3),
		OutputRatio: o.OutputRatio, ReturnIndices: o.ReturnIndices, RandomSamples: o.RandomSamples})
}

// Forward applies the layer to (N, C, …) or (C, …).
func (m *FractionalMaxPool3d) Forward(x *Tensor) *Tensor {
	y, _ := m.ForwardIndices(x)
	return y
}

// ForwardIndices is Forward that also returns the positions of the maxima.
func (m *FractionalMaxPool3d) ForwardIndices(x *Tensor) (out, indices *Tensor) {
	return run2(m, x, func(x *Tensor) (out, indices *Tensor) {
		return F.FractionalMaxPool3dWithIndices(x, m.KernelSize,
			F.FractionalMaxPool3dWithIndicesOptions{OutputSize: m.OutputSize, OutputRatio: m.OutputRatio,
				RandomSamples: m.RandomSamples})
	})
}

// given is an optional list of arguments, nil when it is empty.
func given(s []int) []int {
	if len(s) == 0 {
		return nil
	}
	return s
}

func noneOr(s Size) string {
	if s == nil {
		return "None"
	}
	return s.String()
}

func checkFractional(name string, o *FractionalMaxPoolOptions, n int) {
	if o.OutputSize == nil && o.OutputRatio == nil {
		tensor.Fail(tensor.ErrValue, "%s requires specifying either an output size, or a pooling ratio", name)
	}
	if o.OutputSize != nil && o.OutputRatio != nil {
		tensor.Fail(tensor.ErrValue, "only one of output_size and output_ratio may be specified")
	}
	if len(o.OutputRatio) == 1 {
		r := o.OutputRatio[0]
		o.OutputRatio = nil
		for range n {
			o.OutputRatio = append(o.OutputRatio, r)
		}
	}
	for _, r := range o.OutputRatio {
		if !(r > 0 && r < 1) {
			tensor.Fail(tensor.ErrValue, "output_ratio must be between 0 and 1 (got %s)",
				strconv.FormatFloat(r, 'g', -1, 64))
		}
	}
}

// adaptiveSize replaces SameSize by the input's sizes.
func adaptiveSize(x *Tensor, s Size, nd int) []int {
	out := append([]int(nil), s.expand(nd)...)
	for i, n := range out {
		if n == SameSize && x.Dim() >= nd {
			out[i] = x.Size(x.Dim() - nd + i)
		}
	}
	return out
}

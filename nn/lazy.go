package nn

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Lazy is implemented by layers that learn an input size from their first input. Until then they have no parameters:
// StateDict lists none, and an optimizer must be made after the first Forward, or after Materialize.
type Lazy interface {
	Module
	// Materialize makes the parameters for inputs like x, unless that has happened.
	Materialize(x *Tensor)
}

// LazyLinear is a Linear whose InFeatures is found at the first Forward.
// https://pytorch.org/docs/stable/generated/torch.nn.LazyLinear.html
type LazyLinear struct {
	Linear
	options LinearOptions
}

// NewLazyLinear makes a LazyLinear.
func NewLazyLinear(out int, opts ...LinearOptions) *LazyLinear {
	return New(&LazyLinear{Linear: Linear{OutFeatures: out}, options: first(opts)})
}

// Materialize makes the parameters for inputs like x.
func (m *LazyLinear) Materialize(x *Tensor) {
	if m.Weight == nil {
		m.setup(x.Size(-1), m.OutFeatures, []LinearOptions{m.options})
	}
}

// ClassName is Linear once there are parameters.
func (m *LazyLinear) ClassName() string { return lazyName("Linear", m.Weight == nil) }

// ExtraRepr prints the sizes.
func (m *LazyLinear) ExtraRepr() string {
	if m.Weight == nil {
		l := Linear{OutFeatures: m.OutFeatures}
		if !m.options.NoBias {
			l.Bias = torch.Empty([]int{0})
		}
		return l.ExtraRepr()
	}
	return m.Linear.ExtraRepr()
}

// Forward applies the layer.
func (m *LazyLinear) Forward(x *Tensor) *Tensor {
	m.Materialize(x)
	return m.Linear.Forward(x)
}

func lazyName(name string, lazy bool) string {
	if lazy {
		return "Lazy" + name
	}
	return name
}

// channelsOf is the size of the channel dimension of (N, C, …) or (C, …).
func channelsOf(name string, x *Tensor, nd int) int {
	if x.Dim() != nd+1 && x.Dim() != nd+2 {
		tensor.Fail(tensor.ErrShape, "Expected %dD (unbatched) or %dD (batched) input to %s, but got input of size: %s",
			nd+1, nd+2, name, tensor.ShapeString(x.Shape()))
	}
	return x.Size(x.Dim() - nd - 1)
}

// LazyConv1d is a Conv1d whose InChannels is found at the first Forward.
type LazyConv1d struct {
	ConvNd
	kernel  Size
	options Conv1dOptions
}

// NewLazyConv1d makes a LazyConv1d.
func NewLazyConv1d[S SizeArg](out int, kernelSize S, opts ...Conv1dOptions) *LazyConv1d {
	m := New(&LazyConv1d{kernel: sizeOf(kernelSize), options: first(opts)})
	m.preview(1, out, m.kernel, m.options)

	return m
}

// Materialize makes the parameters for inputs like x.
func (m *LazyConv1d) Materialize(x *Tensor) {
	if m.Weight == nil {
		m.setup(1, channelsOf("LazyConv1d", x, 1), m.OutChannels, m.kernel, m.options)
	}
}

// ClassName is Conv1d once there are parameters.
func (m *LazyConv1d) ClassName() string { return lazyName("Conv1d", m.Weight == nil) }

// ExtraRepr prints the sizes.
func (m *LazyConv1d) ExtraRepr() string { return m.lazyRepr(m.Weight == nil && !m.options.NoBias) }

// Forward applies the layer.
func (m *LazyConv1d) Forward(x *Tensor) *Tensor {
	m.Materialize(x)
	return m.ConvNd.Forward(x)
}

// LazyConvTranspose1d is a ConvTranspose1d whose InChannels is found at the first Forward.
type LazyConvTranspose1d struct {
	ConvTransposeNd
	kernel  Size
	options ConvTranspose1dOptions
}

// NewLazyConvTranspose1d makes a LazyConvTranspose1d.
func NewLazyConvTranspose1d[S SizeArg](out int, kernelSize S, opts ...ConvTranspose1dOptions) *LazyConvTranspose1d {
	m := New(&LazyConvTranspose1d{kernel: sizeOf(kernelSize), options: first(opts)})
	m.preview(1, out, m.kernel, ConvOptions{Stride: m.options.Stride, Padding: m.options.Padding,
		Dilation: m.options.Dilation, Groups: m.options.Groups})
	m.OutputPadding = m.options.OutputPadding.or(0).expand(1)
	return m
}

// Materialize makes the parameters for inputs like x.
func (m *LazyConvTranspose1d) Materialize(x *Tensor) {
	if m.Weight == nil {
		m.ConvTransposeNd.setup(1, channelsOf("LazyConvTranspose1d", x, 1), m.OutChannels, m.kernel,
			[]ConvTransposeOptions{m.options})
	}
}

// ClassName is ConvTranspose1d once there are parameters.
func (m *LazyConvTranspose1d) ClassName() string { return lazyName("ConvTranspose1d", m.Weight == nil) }

// ExtraRepr prints the sizes.
func (m *LazyConvTranspose1d) ExtraRepr() string {
	return m.lazyRepr(m.Weight == nil && !m.options.NoBias)
}

// Forward applies the layer.
func (m *LazyConvTranspose1d) Forward(x *Tensor) *Tensor { return m.ForwardSize(x) }

// ForwardSize is Forward with an output size.
func (m *LazyConvTranspose1d) ForwardSize(x *Tensor, outputSize ...int) *Tensor {
	m.Materialize(x)
	return m.ConvTransposeNd.ForwardSize(x, outputSize...)
}

// LazyConv2d is a Conv2d whose InChannels is found at the first Forward.
type LazyConv2d struct {
	ConvNd
	kernel  Size
	options Conv2dOptions
}

// NewLazyConv2d makes a LazyConv2d.
func NewLazyConv2d[S SizeArg](out int, kernelSize S, opts ...Conv2dOptions) *LazyConv2d {
	m := New(&LazyConv2d{kernel: sizeOf(kernelSize), options: first(opts)})
	m.preview(2, out, m.kernel, m.options)

	return m
}

// Materialize makes the parameters for inputs like x.
func (m *LazyConv2d) Materialize(x *Tensor) {
	if m.Weight == nil {
		m.setup(2, channelsOf("LazyConv2d", x, 2), m.OutChannels, m.kernel, m.options)
	}
}

// ClassName is Conv2d once there are parameters.
func (m *LazyConv2d) ClassName() string { return lazyName("Conv2d", m.Weight == nil) }

// ExtraRepr prints the sizes.
func (m *LazyConv2d) ExtraRepr() string { return m.lazyRepr(m.Weight == nil && !m.options.NoBias) }

// Forward applies the layer.
func (m *LazyConv2d) Forward(x *Tensor) *Tensor {
	m.Materialize(x)
	return m.ConvNd.Forward(x)
}

// LazyConvTranspose2d is a ConvTranspose2d whose InChannels is found at the first Forward.
type LazyConvTranspose2d struct {
	ConvTransposeNd
	kernel  Size
	options ConvTranspose2dOptions
}

// NewLazyConvTranspose2d makes a LazyConvTranspose2d.
func NewLazyConvTranspose2d[S SizeArg](out int, kernelSize S, opts ...ConvTranspose2dOptions) *LazyConvTranspose2d {
	m := New(&LazyConvTranspose2d{kernel: sizeOf(kernelSize), options: first(opts)})
	m.preview(2, out, m.kernel, ConvOptions{Stride: m.options.Stride, Padding: m.options.Padding,
		Dilation: m.options.Dilation, Groups: m.options.Groups})
	m.OutputPadding = m.options.OutputPadding.or(0).expand(2)
	return m
}

// Materialize makes the parameters for inputs like x.
func (m *LazyConvTranspose2d) Materialize(x *Tensor) {
	if m.Weight == nil {
		m.ConvTransposeNd.setup(2, channelsOf("LazyConvTranspose2d", x, 2), m.OutChannels, m.kernel,
			[]ConvTransposeOptions{m.options})
	}
}

// ClassName is ConvTranspose2d once there are parameters.
func (m *LazyConvTranspose2d) ClassName() string { return lazyName("ConvTranspose2d", m.Weight == nil) }

// ExtraRepr prints the sizes.
func (m *LazyConvTranspose2d) ExtraRepr() string {
	return m.lazyRepr(m.Weight == nil && !m.options.NoBias)
}

// Forward applies the layer.
func (m *LazyConvTranspose2d) Forward(x *Tensor) *Tensor { return m.ForwardSize(x) }

// ForwardSize is Forward with an output size.
func (m *LazyConvTranspose2d) ForwardSize(x *Tensor, outputSize ...int) *Tensor {
	m.Materialize(x)
	return m.ConvTransposeNd.ForwardSize(x, outputSize...)
}

// LazyConv3d is a Conv3d whose InChannels is found at the first Forward.
type LazyConv3d struct {
	ConvNd
	kernel  Size
	options Conv3dOptions
}

// NewLazyConv3d makes a LazyConv3d.
func NewLazyConv3d[S SizeArg](out int, kernelSize S, opts ...Conv3dOptions) *LazyConv3d {
	m := New(&LazyConv3d{kernel: sizeOf(kernelSize), options: first(opts)})
	m.preview(3, out, m.kernel, m.options)

	return m
}

// Materialize makes the parameters for inputs like x.
func (m *LazyConv3d) Materialize(x *Tensor) {
	if m.Weight == nil {
		m.setup(3, channelsOf("LazyConv3d", x, 3), m.OutChannels, m.kernel, m.options)
	}
}

// ClassName is Conv3d once there are parameters.
func (m *LazyConv3d) ClassName() string { return lazyName("Conv3d", m.Weight == nil) }

// ExtraRepr prints the sizes.
func (m *LazyConv3d) ExtraRepr() string { return m.lazyRepr(m.Weight == nil && !m.options.NoBias) }

// Forward applies the layer.
func (m *LazyConv3d) Forward(x *Tensor) *Tensor {
	m.Materialize(x)
	return m.ConvNd.Forward(x)
}

// LazyConvTranspose3d is a ConvTranspose3d whose InChannels is found at the first Forward.
type LazyConvTranspose3d struct {
	ConvTransposeNd
	kernel  Size
	options ConvTranspose3dOptions
}

// NewLazyConvTranspose3d makes a LazyConvTranspose3d.
func NewLazyConvTranspose3d[S SizeArg](out int, kernelSize S, opts ...ConvTranspose3dOptions) *LazyConvTranspose3d {
	m := New(&LazyConvTranspose3d{kernel: sizeOf(kernelSize), options: first(opts)})
	m.preview(3, out, m.kernel, ConvOptions{Stride: m.options.Stride, Padding: m.options.Padding,
		Dilation: m.options.Dilation, Groups: m.options.Groups})
	m.OutputPadding = m.options.OutputPadding.or(0).expand(3)
	return m
}

// Materialize makes the parameters for inputs like x.
func (m *LazyConvTranspose3d) Materialize(x *Tensor) {
	if m.Weight == nil {
		m.ConvTransposeNd.setup(3, channelsOf("LazyConvTranspose3d", x, 3), m.OutChannels, m.kernel,
			[]ConvTransposeOptions{m.options})
	}
}

// ClassName is ConvTranspose3d once there are parameters.
func (m *LazyConvTranspose3d) ClassName() string { return lazyName("ConvTranspose3d", m.Weight == nil) }

// ExtraRepr prints the sizes.
func (m *LazyConvTranspose3d) ExtraRepr() string {
	return m.lazyRepr(m.Weight == nil && !m.options.NoBias)
}

// Forward applies the layer.
func (m *LazyConvTranspose3d) Forward(x *Tensor) *Tensor { return m.ForwardSize(x) }

// ForwardSize is Forward with an output size.
func (m *LazyConvTranspose3d) ForwardSize(x *Tensor, outputSize ...int) *Tensor {
	m.Materialize(x)
	return m.ConvTransposeNd.ForwardSize(x, outputSize...)
}

// preview sets what is printed before there are parameters.
func (m *ConvNd) preview(nd, out int, kernel Size, o ConvOptions) {
	m.nd, m.OutChannels, m.KernelSize = nd, out, kernel.expand(nd)
	m.Stride, m.Dilation, m.Groups = o.Stride.or(1).expand(nd), o.Dilation.or(1).expand(nd), o.Groups.Or(1)
	m.Padding, m.PaddingMode = o.Padding.or(0), o.PaddingMode
	if !isPadding(m.Padding, PaddingSame) && !isPadding(m.Padding, PaddingValid) {
		m.Padding = m.Padding.expand(nd)
	}
}

func (m *ConvNd) lazyRepr(pretendBias bool) string {
	c := *m
	if pretendBias {
		c.Bias = torch.Empty([]int{0})
	}
	return c.ExtraRepr()
}

// LazyBatchNorm1d is a BatchNorm1d whose number of channels is found at the first Forward.
type LazyBatchNorm1d struct {
	BatchNorm1d
	place at
}

// NewLazyBatchNorm1d makes a LazyBatchNorm1d.
func NewLazyBatchNorm1d(opts ...BatchNormOptions) *LazyBatchNorm1d {
	o := first(opts)
	m := &LazyBatchNorm1d{place: at{o.DType, o.Device}}
	m.setup(0, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, !o.NoAffine, !o.NoTrackRunningStats, !o.NoBias,
		at{o.DType, o.Device})
	return New(m)
}

// Materialize makes the parameters for inputs like x.
func (m *LazyBatchNorm1d) Materialize(x *Tensor) {
	if m.NumFeatures == 0 {
		m.NumFeatures = x.Size(1)
		m.allocate(m.place)
	}
}

// ClassName is BatchNorm1d once there are parameters.
func (m *LazyBatchNorm1d) ClassName() string { return lazyName("BatchNorm1d", m.NumFeatures == 0) }

// Forward applies the layer.
func (m *LazyBatchNorm1d) Forward(x *Tensor) *Tensor {
	m.Materialize(x)
	return m.BatchNorm1d.Forward(x)
}

// LazyInstanceNorm1d is a InstanceNorm1d whose number of channels is found at the first Forward.
type LazyInstanceNorm1d struct {
	InstanceNorm1d
	place at
}

// NewLazyInstanceNorm1d makes a LazyInstanceNorm1d. As in PyTorch it is affine and tracks running statistics unless
// told not to.
func NewLazyInstanceNorm1d(opts ...BatchNormOptions) *LazyInstanceNorm1d {
	o := first(opts)
	m := &LazyInstanceNorm1d{place: at{o.DType, o.Device}}
	m.setup(0, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, !o.NoAffine, !o.NoTrackRunningStats, !o.NoBias,
		at{o.DType, o.Device})
	return New(m)
}

// Materialize makes the parameters for inputs like x.
func (m *LazyInstanceNorm1d) Materialize(x *Tensor) {
	if m.NumFeatures == 0 {
		m.NumFeatures = channelsOf("LazyInstanceNorm1d", x, 1)
		m.allocate(m.place)
	}
}

// ClassName is InstanceNorm1d once there are parameters.
func (m *LazyInstanceNorm1d) ClassName() string {
	return lazyName("InstanceNorm1d", m.NumFeatures == 0)
}

// Forward applies the layer.
func (m *LazyInstanceNorm1d) Forward(x *Tensor) *Tensor {
	m.Materialize(x)
	return m.InstanceNorm1d.Forward(x)
}

// LazyBatchNorm2d is a BatchNorm2d whose number of channels is found at the first Forward.
type LazyBatchNorm2d struct {
	BatchNorm2d
	place at
}

// NewLazyBatchNorm2d makes a LazyBatchNorm2d.
func NewLazyBatchNorm2d(opts ...BatchNormOptions) *LazyBatchNorm2d {
	o := first(opts)
	m := &LazyBatchNorm2d{place: at{o.DType, o.Device}}
	m.setup(0, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, !o.NoAffine, !o.NoTrackRunningStats, !o.NoBias,
		at{o.DType, o.Device})
	return New(m)
}

// Materialize makes the parameters for inputs like x.
func (m *LazyBatchNorm2d) Materialize(x *Tensor) {
	if m.NumFeatures == 0 {
		m.NumFeatures = x.Size(1)
		m.allocate(m.place)
	}
}

// ClassName is BatchNorm2d once there are parameters.
func (m *LazyBatchNorm2d) ClassName() string { return lazyName("BatchNorm2d", m.NumFeatures == 0) }

// Forward applies the layer.
func (m *LazyBatchNorm2d) Forward(x *Tensor) *Tensor {
	m.Materialize(x)
	return m.BatchNorm2d.Forward(x)
}

// LazyInstanceNorm2d is a InstanceNorm2d whose number of channels is found at the first Forward.
type LazyInstanceNorm2d struct {
	InstanceNorm2d
	place at
}

// NewLazyInstanceNorm2d makes a LazyInstanceNorm2d. As in PyTorch it is affine and tracks running statistics unless
// told not to.
func NewLazyInstanceNorm2d(opts ...BatchNormOptions) *LazyInstanceNorm2d {
	o := first(opts)
	m := &LazyInstanceNorm2d{place: at{o.DType, o.Device}}
	m.setup(0, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, !o.NoAffine, !o.NoTrackRunningStats, !o.NoBias,
		at{o.DType, o.Device})
	return New(m)
}

// Materialize makes the parameters for inputs like x.
func (m *LazyInstanceNorm2d) Materialize(x *Tensor) {
	if m.NumFeatures == 0 {
		m.NumFeatures = channelsOf("LazyInstanceNorm2d", x, 2)
		m.allocate(m.place)
	}
}

// ClassName is InstanceNorm2d once there are parameters.
func (m *LazyInstanceNorm2d) ClassName() string {
	return lazyName("InstanceNorm2d", m.NumFeatures == 0)
}

// Forward applies the layer.
func (m *LazyInstanceNorm2d) Forward(x *Tensor) *Tensor {
	m.Materialize(x)
	return m.InstanceNorm2d.Forward(x)
}

// LazyBatchNorm3d is a BatchNorm3d whose number of channels is found at the first Forward.
type LazyBatchNorm3d struct {
	BatchNorm3d
	place at
}

// NewLazyBatchNorm3d makes a LazyBatchNorm3d.
func NewLazyBatchNorm3d(opts ...BatchNormOptions) *LazyBatchNorm3d {
	o := first(opts)
	m := &LazyBatchNorm3d{place: at{o.DType, o.Device}}
	m.setup(0, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, !o.NoAffine, !o.NoTrackRunningStats, !o.NoBias,
		at{o.DType, o.Device})
	return New(m)
}

// Materialize makes the parameters for inputs like x.
func (m *LazyBatchNorm3d) Materialize(x *Tensor) {
	if m.NumFeatures == 0 {
		m.NumFeatures = x.Size(1)
		m.allocate(m.place)
	}
}

// ClassName is BatchNorm3d once there are parameters.
func (m *LazyBatchNorm3d) ClassName() string { return lazyName("BatchNorm3d", m.NumFeatures == 0) }

// Forward applies the layer.
func (m *LazyBatchNorm3d) Forward(x *Tensor) *Tensor {
	m.Materialize(x)
	return m.BatchNorm3d.Forward(x)
}

// LazyInstanceNorm3d is a InstanceNorm3d whose number of channels is found at the first Forward.
type LazyInstanceNorm3d struct {
	InstanceNorm3d
	place at
}

// NewLazyInstanceNorm3d makes a LazyInstanceNorm3d. As in PyTorch it is affine and tracks running statistics unless
// told not to.
func NewLazyInstanceNorm3d(opts ...BatchNormOptions) *LazyInstanceNorm3d {
	o := first(opts)
	m := &LazyInstanceNorm3d{place: at{o.DType, o.Device}}
	m.setup(0, o.Eps.Or(1e-5), o.Momentum.Or(0.1), o.CumulativeMean, !o.NoAffine, !o.NoTrackRunningStats, !o.NoBias,
		at{o.DType, o.Device})
	return New(m)
}

// Materialize makes the parameters for inputs like x.
func (m *LazyInstanceNorm3d) Materialize(x *Tensor) {
	if m.NumFeatures == 0 {
		m.NumFeatures = channelsOf("LazyInstanceNorm3d", x, 3)
		m.allocate(m.place)
	}
}

// ClassName is InstanceNorm3d once there are parameters.
func (m *LazyInstanceNorm3d) ClassName() string {
	return lazyName("InstanceNorm3d", m.NumFeatures == 0)
}

// Forward applies the layer.
func (m *LazyInstanceNorm3d) Forward(x *Tensor) *Tensor {
	m.Materialize(x)
	return m.InstanceNorm3d.Forward(x)
}

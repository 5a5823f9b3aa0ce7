package ops

import (
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// NormLayer makes a normalisation layer for a number of channels.
type NormLayer func(channels int) nn.Layer

// ActivationLayer makes an activation.
type ActivationLayer func() nn.Layer

// The activations that the networks of package models use.
var (
	ReLU        ActivationLayer = func() nn.Layer { return nn.NewReLU(nn.InplaceOptions{Inplace: true}) }
	ReLU6       ActivationLayer = func() nn.Layer { return nn.NewReLU6(nn.InplaceOptions{Inplace: true}) }
	SiLU        ActivationLayer = func() nn.Layer { return nn.NewSiLU(nn.InplaceOptions{Inplace: true}) }
	Hardswish   ActivationLayer = func() nn.Layer { return nn.NewHardswish(nn.InplaceOptions{Inplace: true}) }
	GELU        ActivationLayer = func() nn.Layer { return nn.NewGELU() }
	Sigmoid     ActivationLayer = func() nn.Layer { return nn.NewSigmoid() }
	Hardsigmoid ActivationLayer = func() nn.Layer { return nn.NewHardsigmoid() }
)

// BatchNorm2d makes batch norms with options.
func BatchNorm2d(o nn.BatchNorm2dOptions) NormLayer {
	return func(channels int) nn.Layer { return nn.NewBatchNorm2d(channels, o) }
}

// ConvNormActivationOptions are the options of NewConv2dNormActivation and NewConv3dNormActivation; the zero value is
// torchvision's default.
type ConvNormActivationOptions struct {
	KernelSize   nn.Size // default 3
	Stride       nn.Size // default 1
	Padding      nn.Size // default what keeps the size at stride 1
	Groups       int     // default 1
	Dilation     int     // default 1
	Norm         NormLayer
	NoNorm       bool            // no normalisation; the convolution has a bias then
	Activation   ActivationLayer // default ReLU
	NoActivation bool
	Bias         tensor.Opt[bool] // default: where there is no normalisation
}

// Conv2dNormActivation is a convolution, a normalisation and an activation, one after the other.
type Conv2dNormActivation struct{ nn.Sequential }

// Conv3dNormActivation is Conv2dNormActivation for videos and volumes.
type Conv3dNormActivation struct{ nn.Sequential }

// Transient returns the layer, which keeps nothing, unless hooks look into it.
func (m *Conv2dNormActivation) Transient() nn.Module {
	if !nn.IsTransient(&m.Sequential) {
		return nil
	}
	return m
}

// Transient returns the layer, which keeps nothing, unless hooks look into it.
func (m *Conv3dNormActivation) Transient() nn.Module {
	if !nn.IsTransient(&m.Sequential) {
		return nil
	}
	return m
}

func firstOf[T any](opts []T) (o T) {
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}

// convNorm appends the layers to s.
func convNorm(s *nn.Sequential, opts []ConvNormActivationOptions, conv func(kernel nn.Size, o nn.ConvOptions) nn.Layer,
	norm NormLayer, channels int) {
	o := firstOf(opts)
	kernel, dilation := o.KernelSize, max(o.Dilation, 1)
	if kernel == nil {
		kernel = nn.Size{3}
	}
	padding := o.Padding
	if padding == nil {
		for _, k := range kernel {
			padding = append(padding, (k-1)/2*dilation)
		}
	}
	if o.Norm != nil {
		norm = o.Norm
	}
	c := nn.ConvOptions{Stride: o.Stride, Padding: padding, Dilation: nn.Size{dilation},
		Groups: tensor.Some(max(o.Groups, 1)), NoBias: !o.Bias.Or(o.NoNorm)}
	s.Append(conv(kernel, c))
	if !o.NoNorm {
		s.Append(norm(channels))
	}
	if !o.NoActivation {
		act := o.Activation
		if act == nil {
			act = ReLU
		}
		s.Append(act())
	}
}

// NewConv2dNormActivation makes a Conv2dNormActivation from (N, in, H, W) to (N, out, H', W').
// https://pytorch.org/vision/stable/generated/torchvision.ops.Conv2dNormActivation.html
func NewConv2dNormActivation(in, out int, opts ...ConvNormActivationOptions) *Conv2dNormActivation {
	m := nn.New(&Conv2dNormActivation{})
	convNorm(&m.Sequential, opts, func(kernel nn.Size, o nn.ConvOptions) nn.Layer {
		return nn.NewConv2d(in, out, kernel, o)
	}, BatchNorm2d(nn.BatchNorm2dOptions{}), out)
	return m
}

// NewConv3dNormActivation makes a Conv3dNormActivation from (N, in, D, H, W) to (N, out, D', H', W').
// https://pytorch.org/vision/stable/generated/torchvision.ops.Conv3dNormActivation.html
func NewConv3dNormActivation(in, out int, opts ...ConvNormActivationOptions) *Conv3dNormActivation {
	m := nn.New(&Conv3dNormActivation{})
	convNorm(&m.Sequential, opts, func(kernel nn.Size, o nn.ConvOptions) nn.Layer {
		return nn.NewConv3d(in, out, kernel, o)
	}, func(n int) nn.Layer { return nn.NewBatchNorm3d(n) }, out)
	return m
}

// SqueezeExcitationOptions are the options of NewSqueezeExcitation.
type SqueezeExcitationOptions struct {
	Activation      ActivationLayer // between the two convolutions; default ReLU
	ScaleActivation ActivationLayer // of the factors; default Sigmoid
}

// SqueezeExcitation multiplies each channel by a factor computed from the means of all channels (Hu et al.,
// Squeeze-and-Excitation Networks, 2018).
// https://pytorch.org/vision/stable/generated/torchvision.ops.SqueezeExcitation.html
type SqueezeExcitation struct {
	nn.Base
	AvgPool         *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	FC1, FC2        *nn.Conv2d
	Activation      nn.Layer
	ScaleActivation nn.Layer
}

// NewSqueezeExcitation makes a SqueezeExcitation of channels with a bottleneck of squeeze channels.
func NewSqueezeExcitation(channels, squeeze int, opts ...SqueezeExcitationOptions) *SqueezeExcitation {
	o := firstOf(opts)
	if o.Activation == nil {
		o.Activation = func() nn.Layer { return nn.NewReLU() }
	}
	if o.ScaleActivation == nil {
		o.ScaleActivation = Sigmoid
	}
	return nn.New(&SqueezeExcitation{
		AvgPool: nn.NewAdaptiveAvgPool2d(1),
		FC1:     nn.NewConv2d(channels, squeeze, 1), FC2: nn.NewConv2d(squeeze, channels, 1),
		Activation: o.Activation(), ScaleActivation: o.ScaleActivation(),
	})
}

// Forward scales the channels of (N, C, H, W).
func (m *SqueezeExcitation) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		return nn.Chain(x, m.AvgPool, m.FC1, m.Activation, m.FC2, m.ScaleActivation).Mul(x)
	})
}

// Permute reorders the dimensions of its input.
// https://pytorch.org/vision/stable/generated/torchvision.ops.Permute.html
type Permute struct {
	nn.Base
	Dims []int
}

// NewPermute makes a Permute.
func NewPermute(dims []int) *Permute { return nn.New(&Permute{Dims: dims}) }

// Forward returns a view.
func (m *Permute) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor { return x.Permute(m.Dims) })
}

// LayerNorm2d is layer norm over the channels of images (N, C, H, W).
type LayerNorm2d struct{ nn.LayerNorm }

// NewLayerNorm2d makes a LayerNorm2d.
func NewLayerNorm2d(channels int, opts ...nn.LayerNormOptions) *LayerNorm2d {
	m := &LayerNorm2d{}
	m.LayerNorm = *nn.NewLayerNorm(channels, opts...)
	return nn.New(m)
}

// Forward normalises each pixel.
func (m *LayerNorm2d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		x = F.LayerNorm(x.Permute([]int{0, 2, 3, 1}), m.NormalizedShape, F.LayerNormOptions{
			Weight: m.Weight, Bias: m.Bias, Eps: tensor.Some(m.Eps)})
		return x.Permute([]int{0, 3, 1, 2})
	})
}

// MLPOptions are the options of NewMLP; the zero value is torchvision's default.
type MLPOptions struct {
	Norm       NormLayer       // after each linear layer but the last; default none
	Activation ActivationLayer // default ReLU
	NoBias     bool
	Dropout    float64
}

// MLP is linear layers with normalisation, activation and dropout between them.
// https://pytorch.org/vision/stable/generated/torchvision.ops.MLP.html
type MLP struct{ nn.Sequential }

// NewMLP makes an MLP of in inputs and layers of the given numbers of outputs.
func NewMLP(in int, hidden []int, opts ...MLPOptions) *MLP {
	if len(hidden) == 0 {
		tensor.Fail(tensor.ErrValue, "MLP: hidden_channels must not be empty")
	}
	o := firstOf(opts)
	if o.Activation == nil {
		o.Activation = func() nn.Layer { return nn.NewReLU() }
	}
	drop := func() nn.Layer { return nn.NewDropout(nn.DropoutOptions{P: tensor.Some(o.Dropout)}) }
	m := nn.New(&MLP{})
	for i, n := range hidden {
		m.Append(nn.NewLinear(in, n, nn.LinearOptions{NoBias: o.NoBias}))
		if in = n; i < len(hidden)-1 {
			if o.Norm != nil {
				m.Append(o.Norm(n))
			}
			m.Append(o.Activation())
		}
		m.Append(drop())
	}
	return m
}

// Transient returns the layer, which keeps nothing, unless hooks look into it.
func (m *MLP) Transient() nn.Module {
	if !nn.IsTransient(&m.Sequential) {
		return nil
	}
	return m
}

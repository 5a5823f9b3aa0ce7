package models

import (
	"math"

	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// Options are the settings of the networks; the zero value is torchvision's default for each of them. A network looks
// at those that it knows, as said beside each.
type Options struct {
	NumClasses       int                 // default 1000 (classifiers), 400 (videos), 21 (segmentation), 91 (detection)
	Dropout          tensor.Opt[float64] // before the last layer; the default is the network's own
	StochasticDepth  tensor.Opt[float64] // of the last block; EfficientNet, ConvNeXt, Swin, MaxViT
	WidthMult        tensor.Opt[float64] // factor on the numbers of channels: MobileNet V2 and V3
	ZeroInitResidual bool                // ResNet: each block starts as its shortcut
	NoAuxLogits      bool                // GoogLeNet, Inception V3: no auxiliary classifiers
	// GoogLeNet, Inception V3: input is normalised as the published weights want it
	TransformInput bool
	NoInitWeights  bool // GoogLeNet, Inception V3, VGG: keep the layers' own first weights
	ImageSize      int  // Vision Transformer: side of the images, default 224
	AuxLoss        bool // segmentation: a second head for training
	ReducedTail    bool // MobileNet V3: half the channels in the last stage
	Dilated        bool // MobileNet V3: the last stage is dilated instead of strided
	// ReplaceStrideWithDilation says for the last three stages of a ResNet of Bottlenecks whether the stage is dilated
	// instead of strided.
	ReplaceStrideWithDilation [3]bool
	// Norm makes the normalisation of ResNet and MobileNet V3; default batch norm.
	Norm ops.NormLayer
}

// ResNetOptions are the options of the residual networks.
type ResNetOptions = Options

// MobileNetV2Options are the options of NewMobileNetV2.
type MobileNetV2Options = Options

// optionsOf is the options that were given, with the number of classes filled in.
func optionsOf(opts []Options, classes int) (o Options) {
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.NumClasses == 0 {
		o.NumClasses = classes
	}
	if o.NumClasses < 0 {
		tensor.Fail(tensor.ErrValue, "models: a network cannot have %d classes", o.NumClasses)
	}
	return o
}

// initialize draws the first weights of the layers of m in order: conv and linear, where given, those of their kind.
// Biases, where zeroBias is set, are zero.
func initialize(m nn.Module, conv func(*nn.Conv2d), linear func(*nn.Linear), zeroBias bool) {
	for c := range nn.Modules(m) {
		var bias *tensor.Tensor
		switch c := c.(type) {
		case *nn.Conv2d:
			if conv == nil {
				continue
			}
			conv(c)
			bias = c.Bias
		case *nn.Linear:
			if linear == nil {
				continue
			}
			linear(c)
			bias = c.Bias
		}
		if bias != nil && zeroBias {
			nninit.Zeros(bias)
		}
	}
}

// fanOut draws a convolution's weights from a normal distribution whose variance keeps that of gradients (He et al.,
// Delving Deep into Rectifiers, 2015).
func fanOut(c *nn.Conv2d) {
	nninit.KaimingNormal(c.Weight, nninit.KaimingOptions{Mode: nninit.FanOut, Nonlinearity: "relu"})
}

// normalLinear draws a linear layer's weights from a normal distribution of the given deviation.
func normalLinear(std float64) func(*nn.Linear) {
	return func(l *nn.Linear) { nninit.Normal(l.Weight, 0, std) }
}

// truncNormal draws from a normal distribution that is cut at ±2.
func truncNormal(t *tensor.Tensor, std float64) {
	nninit.TruncNormal(t, nninit.TruncNormalOptions{Std: tensor.Some(std)})
}

// divisible rounds a number of channels to a multiple of eight, and not down by more than a tenth.
func divisible(v float64) int { return divisibleBy(v, 8) }

func divisibleBy(v float64, d int) int {
	n := max(d, int(v+float64(d)/2)/d*d)
	if float64(n) < 0.9*v {
		n += d
	}
	return n
}

func flatten(x *tensor.Tensor) *tensor.Tensor { return x.Flatten(tensor.FlattenOptions{StartDim: 1}) }

func dropout(p float64) *nn.Dropout { return nn.NewDropout(nn.DropoutOptions{P: tensor.Some(p)}) }

func relu() *nn.ReLU { return nn.NewReLU(nn.InplaceOptions{Inplace: true}) }

// depthRate is the rate of stochastic depth of block i of n, which grows to that of the last block.
func depthRate(last float64, i, n int) float64 { return last * float64(i) / float64(n-1) }

func ceilMul(n int, f float64) int { return int(math.Ceil(float64(n) * f)) }

package models

import (
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// VGG is a deep network of 3x3 convolutions (Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale
// Image Recognition, 2014).
type VGG struct {
	nn.Base
	Features   *nn.Sequential
	AvgPool    *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	Classifier *nn.Sequential
}

// newVGG builds five stages of convolutions, each with a max pooling behind it.
func newVGG(convs [5]int, batchNorm bool, opts []Options) *VGG {
	o := optionsOf(opts, 1000)
	p := o.Dropout.Or(0.5)
	f, in := nn.NewSequential(), 3
	for stage, n := range convs {
		out := min(64<<stage, 512)
		for range n {
			f.Append(nn.NewConv2d(in, out, 3, nn.Conv2dOptions{Padding: nn.Size{1}}))
			if batchNorm {
				f.Append(nn.NewBatchNorm2d(out))
			}
			f.Append(relu())
			in = out
		}
		f.Append(nn.NewMaxPool2d(2, nn.MaxPool2dOptions{Stride: nn.Size{2}}))
	}
	m := nn.New(&VGG{Features: f, AvgPool: nn.NewAdaptiveAvgPool2d(7),
		Classifier: nn.NewSequential(nn.NewLinear(512*7*7, 4096), relu(), dropout(p),
			nn.NewLinear(4096, 4096), relu(), dropout(p), nn.NewLinear(4096, o.NumClasses))})
	if !o.NoInitWeights {
		initialize(m, fanOut, normalLinear(0.01), true)
	}
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *VGG) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Classifier.Forward(flatten(nn.Chain(x, m.Features, m.AvgPool)))
}

// NewVGG11 makes torchvision's vgg11.
func NewVGG11(opts ...Options) *VGG { return newVGG([5]int{1, 1, 2, 2, 2}, false, opts) }

// NewVGG11BN makes torchvision's vgg11_bn, with batch norms.
func NewVGG11BN(opts ...Options) *VGG { return newVGG([5]int{1, 1, 2, 2, 2}, true, opts) }

// NewVGG13 makes torchvision's vgg13.
func NewVGG13(opts ...Options) *VGG { return newVGG([5]int{2, 2, 2, 2, 2}, false, opts) }

// NewVGG13BN makes torchvision's vgg13_bn, with batch norms.
func NewVGG13BN(opts ...Options) *VGG { return newVGG([5]int{2, 2, 2, 2, 2}, true, opts) }

// NewVGG16 makes torchvision's vgg16.
func NewVGG16(opts ...Options) *VGG { return newVGG([5]int{2, 2, 3, 3, 3}, false, opts) }

// NewVGG16BN makes torchvision's vgg16_bn, with batch norms.
func NewVGG16BN(opts ...Options) *VGG { return newVGG([5]int{2, 2, 3, 3, 3}, true, opts) }

// NewVGG19 makes torchvision's vgg19.
func NewVGG19(opts ...Options) *VGG { return newVGG([5]int{2, 2, 4, 4, 4}, false, opts) }

// NewVGG19BN makes torchvision's vgg19_bn, with batch norms.
func NewVGG19BN(opts ...Options) *VGG { return newVGG([5]int{2, 2, 4, 4, 4}, true, opts) }

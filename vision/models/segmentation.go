package models

import (
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// SegmentationOutput is what a network for segmentation computes: the logits of each pixel (N, classes, H, W). Aux is
// that of the second head, nil without.
type SegmentationOutput struct{ Out, Aux *tensor.Tensor }

// Segmenter is a network for segmentation.
type Segmenter interface {
	nn.Layer
	// Segment maps images (N, 3, H, W) to the logits of each pixel.
	Segment(x *tensor.Tensor) SegmentationOutput
}

// resizeTo interpolates to the height and width of another tensor.
func resizeTo(x, like *tensor.Tensor) *tensor.Tensor {
	return F.Interpolate(x, F.InterpolateOptions{Size: like.Shape()[2:], Mode: "bilinear",
		AlignCorners: tensor.Some(false)})
}

// segmentationNet is a backbone and one or two heads over its stages.
type segmentationNet struct {
	nn.Base
	Backbone      *IntermediateLayerGetter
	Classifier    *nn.Sequential
	AuxClassifier *nn.Sequential // nil without
}

func (m *segmentationNet) segment(x *tensor.Tensor) (out SegmentationOutput) {
	features := m.Backbone.Features(x)
	out.Out = resizeTo(m.Classifier.Forward(features["out"]), x)
	if m.AuxClassifier != nil {
		out.Aux = resizeTo(m.AuxClassifier.Forward(features["aux"]), x)
	}
	return out
}

// FCN is a fully convolutional network (Long et al., Fully Convolutional Networks for Semantic Segmentation, 2015).
type FCN struct{ segmentationNet }

// DeepLabV3 is a network with dilated convolutions at several rates (Chen et al., Rethinking Atrous Convolution for
// Semantic Image Segmentation, 2017).
type DeepLabV3 struct{ segmentationNet }

// Segment maps images (N, 3, H, W) to the logits of each pixel.
func (m *FCN) Segment(x *tensor.Tensor) SegmentationOutput { return m.segment(x) }

// Forward is the first part of Segment.
func (m *FCN) Forward(x *tensor.Tensor) *tensor.Tensor { return m.segment(x).Out }

// Segment maps images (N, 3, H, W) to the logits of each pixel.
func (m *DeepLabV3) Segment(x *tensor.Tensor) SegmentationOutput { return m.segment(x) }

// Forward is the first part of Segment.
func (m *DeepLabV3) Forward(x *tensor.Tensor) *tensor.Tensor { return m.segment(x).Out }

// fcnHead is a convolution to a quarter of the channels and one to the classes.
func fcnHead(in, classes int) *nn.Sequential {
	return nn.NewSequential(convNB(in, in/4, 3, 1, 1), nn.NewBatchNorm2d(in/4), nn.NewReLU(), dropout(0.1),
		nn.NewConv2d(in/4, classes, 1))
}

// ASPPPooling is the branch of ASPP that sees the mean of the image.
type ASPPPooling struct{ nn.Sequential }

// Forward maps (N, in, H, W) to (N, out, H, W).
func (m *ASPPPooling) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor { return resizeTo(m.Sequential.Forward(x), x) })
}

// ASPP is atrous spatial pyramid pooling: convolutions with several dilations side by side.
type ASPP struct {
	nn.Base
	Convs   *nn.ModuleList
	Project *nn.Sequential
}

// Forward maps (N, in, H, W) to (N, 256, H, W).
func (m *ASPP) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		var parts []*tensor.Tensor
		for _, c := range m.Convs.All() {
			parts = append(parts, c.(nn.Layer).Forward(x))
		}
		return m.Project.Forward(catChannels(parts...))
	})
}

func newASPP(in int, rates []int) *ASPP {
	const out = 256
	m := &ASPP{Convs: nn.NewModuleList(nn.NewSequential(convNB(in, out, 1, 1, 1), nn.NewBatchNorm2d(out),
		nn.NewReLU()))}
	for _, r := range rates {
		m.Convs.Append(nn.NewSequential(dilatedConv(in, out, 3, 1, 1, r), nn.NewBatchNorm2d(out), nn.NewReLU()))
	}
	p := nn.New(&ASPPPooling{})
	p.Append(nn.NewAdaptiveAvgPool2d(1)).Append(convNB(in, out, 1, 1, 1)).Append(nn.NewBatchNorm2d(out)).
		Append(nn.NewReLU())
	m.Convs.Append(p)
	m.Project = nn.NewSequential(convNB(m.Convs.Len()*out, out, 1, 1, 1), nn.NewBatchNorm2d(out), nn.NewReLU(),
		dropout(0.5))
	return nn.New(m)
}

func deepLabHead(in, classes int) *nn.Sequential {
	return nn.NewSequential(newASPP(in, []int{12, 24, 36}), convNB(256, 256, 3, 1, 1), nn.NewBatchNorm2d(256),
		nn.NewReLU(), nn.NewConv2d(256, classes, 1))
}

// segmentationOf builds a network over a dilated ResNet.
func segmentationOf(resnet func(...Options) *ResNet, head func(in, classes int) *nn.Sequential,
	opts []Options) (m segmentationNet) {
	o := optionsOf(opts, 21)
	layers := []Returned{{"layer4", "out"}}
	if o.AuxLoss {
		layers = append(layers, Returned{"layer3", "aux"})
	}
	m.Backbone = NewIntermediateLayerGetter(
		resnet(Options{ReplaceStrideWithDilation: [3]bool{false, true, true}, Norm: o.Norm}), layers...)
	if o.AuxLoss {
		m.AuxClassifier = fcnHead(1024, o.NumClasses)
	}
	m.Classifier = head(2048, o.NumClasses)
	return m
}

// NewFCNResNet50 makes torchvision's fcn_resnet50.
func NewFCNResNet50(opts ...Options) *FCN {
	return nn.New(&FCN{segmentationOf(NewResNet50, fcnHead, opts)})
}

// NewFCNResNet101 makes torchvision's fcn_resnet101.
func NewFCNResNet101(opts ...Options) *FCN {
	return nn.New(&FCN{segmentationOf(NewResNet101, fcnHead, opts)})
}

// NewDeepLabV3ResNet50 makes torchvision's deeplabv3_resnet50.
func NewDeepLabV3ResNet50(opts ...Options) *DeepLabV3 {
	return nn.New(&DeepLabV3{segmentationOf(NewResNet50, deepLabHead, opts)})
}

// NewDeepLabV3ResNet101 makes torchvision's deeplabv3_resnet101.
func NewDeepLabV3ResNet101(opts ...Options) *DeepLabV3 {
	return nn.New(&DeepLabV3{segmentationOf(NewResNet101, deepLabHead, opts)})
}

// NewDeepLabV3MobileNetV3Large makes torchvision's deeplabv3_mobilenet_v3_large.
func NewDeepLabV3MobileNetV3Large(opts ...Options) *DeepLabV3 {
	o := optionsOf(opts, 21)
	backbone := NewMobileNetV3Large(Options{Dilated: true, Norm: o.Norm})
	starts, channels := backbone.Stages()
	n := len(starts)
	layers := []Returned{{itoa(starts[n-1]), "out"}}
	if o.AuxLoss {
		layers = append(layers, Returned{itoa(starts[n-4]), "aux"})
	}
	m := &DeepLabV3{segmentationNet{Backbone: NewIntermediateLayerGetter(backbone.Features, layers...)}}
	if o.AuxLoss {
		m.AuxClassifier = fcnHead(channels[n-4], o.NumClasses)
	}
	m.Classifier = deepLabHead(channels[n-1], o.NumClasses)
	return nn.New(m)
}

// LRASPPHead joins features of two sizes.
type LRASPPHead struct {
	nn.Base
	CBR            *nn.Sequential `torch:"cbr"`
	Scale          *nn.Sequential
	LowClassifier  *nn.Conv2d
	HighClassifier *nn.Conv2d
}

// LRASPP is Lite R-ASPP, a fast network for segmentation (Howard et al., Searching for MobileNetV3, 2019).
type LRASPP struct {
	nn.Base
	Backbone   *IntermediateLayerGetter
	Classifier *LRASPPHead
}

// NewLRASPPMobileNetV3Large makes torchvision's lraspp_mobilenet_v3_large.
func NewLRASPPMobileNetV3Large(opts ...Options) *LRASPP {
	const inter = 128
	o := optionsOf(opts, 21)
	backbone := NewMobileNetV3Large(Options{Dilated: true, Norm: o.Norm})
	starts, channels := backbone.Stages()
	n := len(starts)
	high, low := channels[n-1], channels[n-4]
	return nn.New(&LRASPP{
		Backbone: NewIntermediateLayerGetter(backbone.Features, Returned{itoa(starts[n-4]), "low"},
			Returned{itoa(starts[n-1]), "high"}),
		Classifier: nn.New(&LRASPPHead{
			CBR:           nn.NewSequential(convNB(high, inter, 1, 1, 1), nn.NewBatchNorm2d(inter), relu()),
			Scale:         nn.NewSequential(nn.NewAdaptiveAvgPool2d(1), convNB(high, inter, 1, 1, 1), nn.NewSigmoid()),
			LowClassifier: nn.NewConv2d(low, o.NumClasses, 1), HighClassifier: nn.NewConv2d(inter, o.NumClasses, 1)}),
	})
}

// Segment maps images (N, 3, H, W) to the logits of each pixel.
func (m *LRASPP) Segment(x *tensor.Tensor) SegmentationOutput {
	f, c := m.Backbone.Features(x), m.Classifier
	y := c.CBR.Forward(f["high"]).Mul(c.Scale.Forward(f["high"]))
	y = c.LowClassifier.Forward(f["low"]).Add(c.HighClassifier.Forward(resizeTo(y, f["low"])))
	return SegmentationOutput{Out: resizeTo(y, x)}
}

// Forward is the first part of Segment.
func (m *LRASPP) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Segment(x).Out }

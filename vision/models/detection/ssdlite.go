package detection

import (
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
	"github.com/gotorch-dev/torch/vision/ops"
)

// SSDLiteFeatureExtractorMobileNet is a MobileNetV3 and further, smaller levels.
type SSDLiteFeatureExtractorMobileNet struct {
	nn.Base
	Features *nn.Sequential
	Extra    *nn.ModuleList
}

// Levels are the levels of features, finest first.
func (m *SSDLiteFeatureExtractorMobileNet) Levels(x *Tensor) []ops.Feature {
	var out []*Tensor
	for i := range m.Features.Len() {
		x = m.Features.At(i).Forward(x)
		out = append(out, x)
	}
	for _, l := range m.Extra.All() {
		x = l.(nn.Layer).Forward(x)
		out = append(out, x)
	}
	return named(out)
}

// liteConv is a convolution with a norm and ReLU6; each channel by itself where depthwise is set.
func liteConv(in, out, kernel, stride int, depthwise bool, norm ops.NormLayer) nn.Layer {
	o := ops.ConvNormActivationOptions{KernelSize: nn.Size{kernel}, Stride: nn.Size{stride}, Norm: norm,
		Activation: ops.ReLU6}
	if depthwise {
		o.Groups = in
	}
	return ops.NewConv2dNormActivation(in, out, o)
}

// newMobileNetExtractor splits a MobileNetV3 inside of the block that begins its last stage, behind the widening
// convolution, and adds levels.
func newMobileNetExtractor(features *nn.Sequential, split, channels int, norm ops.NormLayer, draw func(*Tensor)) (
	m *SSDLiteFeatureExtractorMobileNet, levels []int) {
	block := features.At(split).(*models.MobileNetV3Block).Block
	first, second := nn.NewSequential(), nn.NewSequential(block.Slice(1, block.Len()))
	for i := range features.Len() {
		if i < split {
			first.Append(features.At(i))
		} else if i > split {
			second.Append(features.At(i))
		}
	}
	widened := block.At(0)
	first.Append(widened)
	for c := range nn.Modules(widened) {
		if c, ok := c.(*nn.Conv2d); ok {
			levels = append(levels, c.OutChannels)
		}
	}
	levels = append(levels, channels)
	extra := nn.NewModuleList()
	for _, out := range []int{512, 256, 256, 128} {
		between := out / 2
		extra.Append(nn.NewSequential(liteConv(channels, between, 1, 1, false, norm),
			liteConv(between, between, 3, 2, true, norm), liteConv(between, out, 1, 1, false, norm)))
		levels, channels = append(levels, out), out
	}
	initConvs(extra, draw)
	return nn.New(&SSDLiteFeatureExtractorMobileNet{Features: nn.NewSequential(first, second), Extra: extra}), levels
}

// NewSSDLite320MobileNetV3Large makes torchvision's ssdlite320_mobilenet_v3_large (Sandler et al., MobileNetV2, 2018,
// section 6.2; Howard et al., Searching for MobileNetV3, 2019, section 6.3).
func NewSSDLite320MobileNetV3Large(opts ...Options) *SSD {
	const size = 320
	half := []float64{0.5, 0.5, 0.5}
	o := optionsOf(opts, Options{ImageMean: half, ImageStd: half, ScoreThresh: tensor.Some(0.001),
		NMSThresh: tensor.Some(0.55), PerImage: 300, TopKCandidates: 300})
	norm := o.Norm
	if norm == nil {
		norm = ops.BatchNorm2d(nn.BatchNorm2dOptions{Eps: tensor.Some(0.001), Momentum: tensor.Some(0.03)})
	}
	draw := normal(0.03)
	net := models.NewMobileNetV3Large(models.Options{Norm: norm, ReducedTail: true})
	initConvs(net, draw)
	starts, channels := net.Stages()
	n := len(starts)
	freeze(net.Features, starts, o.stages(n))
	backbone, levels := newMobileNetExtractor(net.Features, starts[n-2], channels[n-1], norm, draw)
	m := &SSD{Backbone: backbone, o: o, resize: newResizing(o, size), anchors: &DefaultBoxGenerator{
		Scales: ssdScales(len(levels), 0.2, 0.95)}}
	for range levels {
		m.anchors.AspectRatios = append(m.anchors.AspectRatios, []float64{2, 3})
	}
	m.Head = newSSDHead("SSDLite", levels, m.anchors, o.NumClasses, func(in, out int) nn.Module {
		return nn.NewSequential(liteConv(in, in, 3, 1, true, norm), nn.NewConv2d(in, out, 1))
	}, draw)
	return nn.New(m)
}

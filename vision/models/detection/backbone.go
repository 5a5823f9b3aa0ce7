package detection

import (
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
	"github.com/gotorch-dev/torch/vision/ops"
)

// Leveled is a backbone that computes several levels of features, finest first. A backbone that is an nn.Layer instead
// computes one level, named "0".
type Leveled interface {
	nn.Module
	Levels(images *Tensor) []ops.Feature
}

// levelsOf are the levels of a backbone.
func levelsOf(backbone nn.Module, x *Tensor) []ops.Feature {
	switch m := backbone.(type) {
	case Leveled:
		return m.Levels(x)
	case nn.Layer:
		return []ops.Feature{{Name: "0", T: m.Forward(x)}}
	}
	tensor.Fail(tensor.ErrType, "detection: a backbone is an nn.Layer or a detection.Leveled, got %T", backbone)
	return nil
}

// BackboneWithFPN is a network for features and a pyramid over its stages.
type BackboneWithFPN struct {
	nn.Base
	Body  *models.IntermediateLayerGetter
	FPN   *ops.FeaturePyramidNetwork `torch:"fpn"`
	names []string
}

// pyramidChannels are the channels of each level of a pyramid.
const pyramidChannels = 256

// NewBackboneWithFPN makes a pyramid of 256 channels over the results of children of m, which have the given numbers of
// channels.
func NewBackboneWithFPN(m nn.Module, layers []models.Returned, channels []int, opts ...ops.FPNOptions) *BackboneWithFPN {
	b := &BackboneWithFPN{Body: models.NewIntermediateLayerGetter(m, layers...),
		FPN: ops.NewFeaturePyramidNetwork(channels, pyramidChannels, opts...)}
	for _, l := range layers {
		b.names = append(b.names, l.As)
	}
	return nn.New(b)
}

// Levels are the pyramid's levels.
func (m *BackboneWithFPN) Levels(x *Tensor) []ops.Feature {
	f := m.Body.Features(x)
	var in []ops.Feature
	for _, n := range m.names {
		in = append(in, ops.Feature{Name: n, T: f[n]})
	}
	return m.FPN.Levels(in)
}

// stages refuses a number of stages to train that the backbone does not have; all are trained unless it is given.
func (o *Options) stages(all int) int {
	n := o.TrainableLayers.Or(all)
	if n < 0 || n > all {
		tensor.Fail(tensor.ErrValue, "detection: trainable_layers should be in [0, %d], got %d", all, n)
	}
	return n
}

// resNetFPN is a pyramid over the stages of a ResNet50 from stage first on.
func resNetFPN(o Options, first int, extra func() ops.ExtraFPNBlock, norm ops.NormLayer) *BackboneWithFPN {
	body := models.NewResNet50(models.Options{Norm: o.Norm})
	trained := []string{"layer4.", "layer3.", "layer2.", "layer1.", "conv1.", "bn1."}
	n := o.stages(5)
	if n == 5 {
		n = len(trained)
	}
	for name, p := range nn.NamedParameters(body) {
		p.SetRequiresGrad(hasPrefix(name, trained[:n]))
	}
	var layers []models.Returned
	var channels []int
	for i := first; i <= 4; i++ {
		layers = append(layers, models.Returned{Layer: "layer" + strconv.Itoa(i), As: strconv.Itoa(i - first)})
		channels = append(channels, 256<<(i-1))
	}
	return NewBackboneWithFPN(body, layers, channels, ops.FPNOptions{Extra: extra(), Norm: norm})
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// freeze keeps the layers of s before the last n of the stages, which begin at the given layers, from being trained.
func freeze(s *nn.Sequential, starts []int, n int) {
	until := s.Len()
	if n > 0 {
		until = starts[len(starts)-n]
	}
	for i := range until {
		for _, p := range nn.Parameters(s.At(i)) {
			p.SetRequiresGrad(false)
		}
	}
}

// mobileNetFPN is a pyramid over the last two stages of a MobileNetV3.
func mobileNetFPN(o Options) *BackboneWithFPN {
	norm := o.Norm
	if norm == nil {
		norm = ops.BatchNorm2d(nn.BatchNorm2dOptions{})
	}
	m := models.NewMobileNetV3Large(models.Options{Norm: norm})
	starts, channels := m.Stages()
	freeze(m.Features, starts, o.stages(len(starts)))
	n := len(starts)
	layers := []models.Returned{{Layer: strconv.Itoa(starts[n-2]), As: "0"}, {Layer: strconv.Itoa(starts[n-1]), As: "1"}}
	return NewBackboneWithFPN(m.Features, layers, channels[n-2:], ops.FPNOptions{Extra: maxPoolBlock()})
}

func maxPoolBlock() ops.ExtraFPNBlock { return ops.NewLastLevelMaxPool() }

func tensors(f []ops.Feature) (out []*Tensor) {
	for _, l := range f {
		out = append(out, l.T)
	}
	return out
}

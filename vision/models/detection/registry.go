package detection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
	"github.com/gotorch-dev/torch/vision/ops"
)

func builder[M Detector](f func(opts ...Options) M) func(...Options) Detector {
	return func(opts ...Options) Detector { return f(opts...) }
}

// builders are the networks by torchvision's names.
var builders = map[string]func(opts ...Options) Detector{
	"fasterrcnn_mobilenet_v3_large_320_fpn": builder(NewFasterRCNNMobileNetV3Large320FPN),
	"fasterrcnn_mobilenet_v3_large_fpn":     builder(NewFasterRCNNMobileNetV3LargeFPN),
	"fasterrcnn_resnet50_fpn":               builder(NewFasterRCNNResNet50FPN),
	"fasterrcnn_resnet50_fpn_v2":            builder(NewFasterRCNNResNet50FPNV2),
	"fcos_resnet50_fpn":                     builder(NewFCOSResNet50FPN),
	"keypointrcnn_resnet50_fpn":             builder(NewKeypointRCNNResNet50FPN),
	"maskrcnn_resnet50_fpn":                 builder(NewMaskRCNNResNet50FPN),
	"maskrcnn_resnet50_fpn_v2":              builder(NewMaskRCNNResNet50FPNV2),
	"retinanet_resnet50_fpn":                builder(NewRetinaNetResNet50FPN),
	"retinanet_resnet50_fpn_v2":             builder(NewRetinaNetResNet50FPNV2),
	"ssd300_vgg16":                          builder(NewSSD300VGG16),
	"ssdlite320_mobilenet_v3_large":         builder(NewSSDLite320MobileNetV3Large),
}

func init() {
	for name, b := range builders {
		models.RegisterModel(name, func(opts ...models.Options) nn.Module {
			o := Options{}
			if len(opts) > 0 {
				o.NumClasses, o.Norm = opts[0].NumClasses, opts[0].Norm
			}
			return b(o)
		})
	}
}

// ListModels lists the names that GetModel knows, sorted.
func ListModels() []string {
	var names []string
	for n := range builders {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// GetModel makes a network by torchvision's name, in any case, with random weights.
func GetModel(name string, opts ...Options) (Detector, error) {
	b, ok := builders[strings.ToLower(name)]
	if !ok {
		return nil, fmt.Errorf("detection: unknown model %q; there are %s", name, strings.Join(ListModels(), ", "))
	}
	return b(opts...), nil
}

// ForWeights completes options for published weights: the number of their classes and the normalisation
// with which torchvision builds the backbone for them, whose statistics are fixed and of which it trains three stages.
func ForWeights(e *models.WeightsEnum, w *models.Weights, o Options) Options {
	o.NumClasses = len(w.Categories())
	if o.Norm != nil || strings.HasSuffix(e.Model, "_v2") || strings.HasPrefix(e.Model, "ssd") {
		return o // trained with batch norm, or without
	}
	if _, given := o.TrainableLayers.Get(); !given {
		o.TrainableLayers = tensor.Some(3)
	}
	eps := 1e-5
	if w.Name == "COCO_V1" && strings.Contains(e.Model, "resnet50") && e.Model != "fcos_resnet50_fpn" {
		eps = 0 // the first weights were trained without it
	}
	o.Norm = func(channels int) nn.Layer { return ops.NewFrozenBatchNorm2d(channels, eps) }
	return o
}

// Package detection holds networks that find objects: PyTorch's torchvision.models.detection. Keys of state dicts and
// first weights after a seed are torchvision's.
//
// A [Detector] maps images of any sizes, (3, H, W) between 0 and 1, to a [Detections] for each. While training, its
// Losses takes a [Target] for each image as well and gives the parts of the loss by torchvision's names.
//
// Importing the package makes [models.GetModel] know its networks by torchvision's names; [GetModel] gives the same
// networks as Detectors.
package detection

import (
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Detections are the objects that were found in an image, the best first.
type Detections struct {
	Boxes           *Tensor // (N, 4) corners in pixels of the image
	Scores          *Tensor // (N)
	Labels          *Tensor // (N), int64
	Masks           *Tensor // (N, 1, H, W) between 0 and 1; Mask R-CNN
	Keypoints       *Tensor // (N, K, 3): x, y, visibility; Keypoint R-CNN
	KeypointsScores *Tensor // (N, K)
}

// Target is what is in an image.
type Target struct {
	Boxes     *Tensor // (N, 4) corners in pixels
	Labels    *Tensor // (N), int64, from 1 on: 0 is the background
	Masks     *Tensor // (N, H, W), 0 or 1; Mask R-CNN
	Keypoints *Tensor // (N, K, 3): x, y, visibility; Keypoint R-CNN
}

// Detector finds objects.
type Detector interface {
	nn.Module
	// Detect finds objects in images (3, H, W) of any sizes.
	Detect(images ...*Tensor) []Detections
	// Losses gives the losses of a training step by their names in torchvision.
	Losses(images []*Tensor, targets []Target) map[string]*Tensor
}

// TopN are numbers of boxes that are kept while training and otherwise.
type TopN struct{ Train, Test int }

// Options are the settings of the networks; the zero value of a field is torchvision's default for the network.
type Options struct {
	NumClasses   int // with the background, default 91; Keypoint R-CNN 2
	NumKeypoints int // Keypoint R-CNN, default 17
	// MinSize is the number of pixels to which the shorter side of images is scaled, default 800. MaxSize is the most
	// that the longer side gets, default 1333. The SSDs scale images to 300x300 and 320x320.
	MinSize, MaxSize    int
	ImageMean, ImageStd []float64           // of the three channels; default ImageNet's, or the SSDs' own
	ScoreThresh         tensor.Opt[float64] // boxes with lower scores are left out; default 0.05, FCOS 0.2, SSD 0.01
	NMSThresh           tensor.Opt[float64] // overlap of boxes of one class; default 0.5, FCOS 0.6, SSD 0.45
	PerImage            int                 // most objects of an image; default 100, RetinaNet and SSDLite 300, SSD 200
	TopKCandidates      int                 // most boxes of a level before NMS: 1000 for RetinaNet and FCOS, SSD 400
	RPNPreNMSTopN       TopN                // proposals of a level before NMS, default 2000 and 1000
	RPNPostNMSTopN      TopN                // proposals of an image after NMS, default 2000 and 1000
	RPNNMSThresh        tensor.Opt[float64] // default 0.7
	RPNScoreThresh      tensor.Opt[float64] // proposals with lower scores are left out; default 0, MobileNet 0.05
	// Norm is the backbone's normalisation: ops.NewFrozenBatchNorm2d for published weights; default batch norm.
	Norm ops.NormLayer
	// TrainableLayers is how many stages of the backbone, from the last one on, are trained; default all.
	TrainableLayers tensor.Opt[int]
}

// or fills in what was not given.
func (o Options) or(d Options) Options {
	for _, p := range []struct {
		to  *int
		def int
	}{
		{&o.NumClasses, d.NumClasses}, {&o.NumKeypoints, d.NumKeypoints}, {&o.MinSize, d.MinSize},
		{&o.MaxSize, d.MaxSize}, {&o.PerImage, d.PerImage}, {&o.TopKCandidates, d.TopKCandidates},
		{&o.RPNPreNMSTopN.Train, d.RPNPreNMSTopN.Train}, {&o.RPNPreNMSTopN.Test, d.RPNPreNMSTopN.Test},
		{&o.RPNPostNMSTopN.Train, d.RPNPostNMSTopN.Train}, {&o.RPNPostNMSTopN.Test, d.RPNPostNMSTopN.Test},
	} {
		if *p.to == 0 {
			*p.to = p.def
		}
		if *p.to < 0 {
			tensor.Fail(tensor.ErrValue, "detection: numbers of classes, pixels and boxes are not negative: %d", *p.to)
		}
	}
	for _, p := range []struct{ to, def *tensor.Opt[float64] }{
		{&o.ScoreThresh, &d.ScoreThresh}, {&o.NMSThresh, &d.NMSThresh}, {&o.RPNNMSThresh, &d.RPNNMSThresh},
		{&o.RPNScoreThresh, &d.RPNScoreThresh},
	} {
		if v, ok := p.def.Get(); ok {
			*p.to = tensor.Some(p.to.Or(v))
		}
	}
	if o.ImageMean == nil {
		o.ImageMean = d.ImageMean
	}
	if o.ImageStd == nil {
		o.ImageStd = d.ImageStd
	}
	return o
}

// defaults are those of the networks that torchvision gives none of their own.
var defaults = Options{NumClasses: 91, NumKeypoints: 17, MinSize: 800, MaxSize: 1333, PerImage: 100,
	ImageMean: []float64{0.485, 0.456, 0.406}, ImageStd: []float64{0.229, 0.224, 0.225},
	ScoreThresh: tensor.Some(0.05), NMSThresh: tensor.Some(0.5), TopKCandidates: 1000,
	RPNPreNMSTopN: TopN{2000, 1000}, RPNPostNMSTopN: TopN{2000, 1000}, RPNNMSThresh: tensor.Some(0.7),
	RPNScoreThresh: tensor.Some(0.0)}

// optionsOf are the options that were given, with a network's own defaults and then those of all.
func optionsOf(opts []Options, own ...Options) (o Options) {
	if len(opts) > 0 {
		o = opts[0]
	}
	for _, d := range append(own, defaults) {
		o = o.or(d)
	}
	if len(o.ImageMean) != 3 || len(o.ImageStd) != 3 {
		tensor.Fail(tensor.ErrValue, "detection: mean and deviation of an image are 3 numbers each, got %v and %v",
			o.ImageMean, o.ImageStd)
	}
	return o
}

// checkTargets refuses targets that do not belong to the images or are malformed.
func checkTargets(images []*Tensor, targets []Target) {
	if len(images) != len(targets) {
		tensor.Fail(tensor.ErrValue, "detection: %d images and %d targets", len(images), len(targets))
	}
	for i, t := range targets {
		if t.Boxes == nil || t.Labels == nil || t.Boxes.Dim() != 2 || t.Boxes.Size(1) != 4 ||
			t.Labels.Dim() != 1 || t.Labels.Size(0) != t.Boxes.Size(0) {
			tensor.Fail(tensor.ErrShape, "detection: target %d has boxes %s and labels %s, want (N, 4) and (N)", i,
				shapeOf(t.Boxes), shapeOf(t.Labels))
		}
		if t.Boxes.Size(0) == 0 {
			continue
		}
		b := tensor.Data[float32](tensor.DenseAs(t.Boxes.Detach(), tensor.Float32))
		for j := 0; j < len(b); j += 4 {
			if !(b[j+2] > b[j] && b[j+3] > b[j+1]) {
				tensor.Fail(tensor.ErrValue, "detection: all boxes should have positive height and width; box %d of "+
					"target %d is %v", j/4, i, b[j:j+4])
			}
		}
	}
}

func shapeOf(t *Tensor) string {
	if t == nil {
		return "nil"
	}
	return tensor.ShapeString(t.Shape())
}

// where are the indices of what is true, (N).
func where(mask *Tensor) *Tensor { return mask.Nonzero().SqueezeDim(1) }

// head is the first n rows.
func head(t *Tensor, n int) *Tensor { return t.Narrow(0, 0, min(n, t.Size(0))) }

// flat turns (N, anchors·k, H, W) into (N, H·W·anchors, k).
func flat(x *Tensor, k int) *Tensor {
	s := x.Shape()
	return x.View([]int{s[0], s[1] / k, k, s[2], s[3]}).Permute([]int{0, 3, 4, 1, 2}).Reshape([]int{s[0], -1, k})
}

package detection

import (
	"maps"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// FasterRCNN finds objects in two steps: it proposes regions and classifies them (Ren et al., Faster R-CNN, 2015). With
// the heads of Mask R-CNN (He et al., 2017) it also gives masks or key points.
type FasterRCNN struct {
	nn.Base
	Backbone nn.Module
	RPN      *RegionProposalNetwork `torch:"rpn"`
	RoIHeads *RoIHeads              `torch:"roi_heads"`
	o        Options
	resize   *resizing
	kind     string
}

// ClassName is the name that the module prints.
func (m *FasterRCNN) ClassName() string { return m.kind }

// Parts are the parts of a FasterRCNN; those that are nil are torchvision's defaults.
type Parts struct {
	Anchors      *AnchorGenerator        // default one size for each of five levels, three ratios
	BoxRoIPool   *ops.MultiScaleRoIAlign // default 7x7 cells of the levels "0" to "3"
	BoxHead      nn.Layer                // default a TwoMLPHead to 1024 features
	BoxPredictor *FastRCNNPredictor      // default one from 1024 features to the options' classes
	rpnHead      *RPNHead                // default one convolution
}

// NewFasterRCNN makes a FasterRCNN over a backbone (an nn.Layer or a Leveled) whose levels all have the given number of
// channels: torchvision's class FasterRCNN.
func NewFasterRCNN(backbone nn.Module, channels int, p Parts, opts ...Options) *FasterRCNN {
	return newFasterRCNN(backbone, channels, p, optionsOf(opts))
}

// newFasterRCNN joins a backbone and the heads. The parts that are not given draw their weights in torchvision's order.
func newFasterRCNN(backbone nn.Module, channels int, p Parts, o Options) *FasterRCNN {
	m := &FasterRCNN{Backbone: backbone, o: o, resize: newResizing(o, 0), kind: "FasterRCNN"}
	if p.Anchors == nil {
		p.Anchors = pyramidAnchors()
	}
	if p.rpnHead == nil {
		p.rpnHead = newRPNHead(channels, p.Anchors.perLocation(0), 1)
	}
	m.RPN = nn.New(&RegionProposalNetwork{Head: p.rpnHead, anchors: p.Anchors, o: &m.o})
	h := &RoIHeads{BoxRoIPool: p.BoxRoIPool, BoxHead: p.BoxHead, BoxPredictor: p.BoxPredictor}
	if h.BoxRoIPool == nil {
		h.BoxRoIPool = ops.NewMultiScaleRoIAlign(fpnNames, nn.Size{7}, 2)
	}
	const representation = 1024
	if h.BoxHead == nil {
		cells := 1
		for i := range 2 {
			cells *= h.BoxRoIPool.OutputSize[i%len(h.BoxRoIPool.OutputSize)]
		}
		h.BoxHead = NewTwoMLPHead(channels*cells, representation)
	}
	if h.BoxPredictor == nil {
		h.BoxPredictor = NewFastRCNNPredictor(representation, o.NumClasses)
	}
	m.RoIHeads = nn.New(h)
	return nn.New(m)
}

// fpnNames are the levels of which regions are read.
var fpnNames = []string{"0", "1", "2", "3"}

// pyramidAnchors are anchors of one size for each of five levels.
func pyramidAnchors() *AnchorGenerator {
	a := &AnchorGenerator{}
	for _, s := range []float64{32, 64, 128, 256, 512} {
		a.Sizes, a.AspectRatios = append(a.Sizes, []float64{s}), append(a.AspectRatios, []float64{0.5, 1, 2})
	}
	return a
}

// NewFasterRCNNResNet50FPN makes torchvision's fasterrcnn_resnet50_fpn.
func NewFasterRCNNResNet50FPN(opts ...Options) *FasterRCNN {
	o := optionsOf(opts)
	return newFasterRCNN(resNetFPN(o, 1, maxPoolBlock, nil), pyramidChannels, Parts{}, o)
}

// NewFasterRCNNResNet50FPNV2 makes torchvision's fasterrcnn_resnet50_fpn_v2 (Li et al., Benchmarking Detection Transfer
// Learning with Vision Transformers, 2021): more convolutions in the heads, and batch norms.
func NewFasterRCNNResNet50FPNV2(opts ...Options) *FasterRCNN { return newV2(optionsOf(opts), nil) }

// newV2 makes the second version, in which the head of a mask, where wanted, is made behind the boxes' one.
func newV2(o Options, mask func()) *FasterRCNN {
	b := resNetFPN(o, 1, maxPoolBlock, ops.BatchNorm2d(nn.BatchNorm2dOptions{}))
	p := Parts{rpnHead: newRPNHead(pyramidChannels, pyramidAnchors().perLocation(0), 2)}
	p.BoxHead = newConvFCHead()
	if mask != nil {
		mask()
	}
	p.BoxPredictor = NewFastRCNNPredictor(1024, o.NumClasses)
	return newFasterRCNN(b, pyramidChannels, p, o)
}

// newMobileNet makes a FasterRCNN over a MobileNetV3 that looks for boxes of all sizes on each level.
func newMobileNet(opts []Options, own Options) *FasterRCNN {
	own.RPNScoreThresh = tensor.Some(0.05)
	o := optionsOf(opts, own)
	a := &AnchorGenerator{}
	for range 3 {
		a.Sizes = append(a.Sizes, []float64{32, 64, 128, 256, 512})
		a.AspectRatios = append(a.AspectRatios, []float64{0.5, 1, 2})
	}
	return newFasterRCNN(mobileNetFPN(o), pyramidChannels, Parts{Anchors: a}, o)
}

// NewFasterRCNNMobileNetV3LargeFPN makes torchvision's fasterrcnn_mobilenet_v3_large_fpn.
func NewFasterRCNNMobileNetV3LargeFPN(opts ...Options) *FasterRCNN {
	return newMobileNet(opts, Options{})
}

// NewFasterRCNNMobileNetV3Large320FPN makes torchvision's fasterrcnn_mobilenet_v3_large_320_fpn, which takes smaller
// images and fewer proposals.
func NewFasterRCNNMobileNetV3Large320FPN(opts ...Options) *FasterRCNN {
	return newMobileNet(opts, Options{MinSize: 320, MaxSize: 640, RPNPreNMSTopN: TopN{Test: 150},
		RPNPostNMSTopN: TopN{Test: 150}})
}

// run gives the objects, or with targets the losses.
func (m *FasterRCNN) run(images []*Tensor, targets []Target) ([]Detections, map[string]*Tensor) {
	b := m.resize.batch(images, targets, m.Training())
	levels := levelsOf(m.Backbone, b.images)
	proposals, losses := m.RPN.propose(tensors(levels), b)
	if targets != nil {
		maps.Copy(losses, m.RoIHeads.losses(levels, proposals, b))
		return nil, losses
	}
	return m.RoIHeads.detect(levels, proposals, b, &m.o), nil
}

// Detect finds objects in images (3, H, W) of any sizes.
func (m *FasterRCNN) Detect(images ...*Tensor) []Detections {
	out, _ := m.run(images, nil)
	return out
}

// Losses gives the losses of a training step by their names in torchvision: loss_classifier, loss_box_reg,
// loss_objectness and loss_rpn_box_reg; those with masks or key points also loss_mask or loss_keypoint.
func (m *FasterRCNN) Losses(images []*Tensor, targets []Target) map[string]*Tensor {
	checkTargets(images, targets)
	m.RoIHeads.checkTargets(targets)
	_, losses := m.run(images, targets)
	return losses
}

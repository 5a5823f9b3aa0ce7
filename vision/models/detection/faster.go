package detection

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// TwoMLPHead is two linear layers over the features of a region.
type TwoMLPHead struct {
	nn.Base
	FC6, FC7 *nn.Linear
}

// Forward maps (K, C, h, w) to (K, 1024).
func (m *TwoMLPHead) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		x = x.Flatten(tensor.FlattenOptions{StartDim: 1})
		return m.FC7.Forward(m.FC6.Forward(x).ReLU()).ReLU()
	})
}

// FastRCNNConvFCHead is four convolutions and a linear layer over the features of a region.
type FastRCNNConvFCHead struct{ nn.Sequential }

func newConvFCHead() *FastRCNNConvFCHead {
	m := nn.New(&FastRCNNConvFCHead{})
	for range 4 {
		m.Append(ops.NewConv2dNormActivation(256, 256))
	}
	m.Append(nn.NewFlatten()).Append(nn.NewLinear(256*7*7, 1024)).Append(nn.NewReLU(nn.InplaceOptions{Inplace: true}))
	kaimingConvs(m)
	return m
}

func kaimingConvs(m nn.Module) {
	for c := range nn.Modules(m) {
		if c, ok := c.(*nn.Conv2d); ok {
			nninit.KaimingNormal(c.Weight, nninit.KaimingOptions{Mode: nninit.FanOut, Nonlinearity: "relu"})
			if c.Bias != nil {
				nninit.Zeros(c.Bias)
			}
		}
	}
}

// FastRCNNPredictor gives the scores of the classes and, for each class, how to move the region.
type FastRCNNPredictor struct {
	nn.Base
	ClsScore *nn.Linear
	BBoxPred *nn.Linear `torch:"bbox_pred"`
}

// RoIHeads classifies regions.
type RoIHeads struct {
	nn.Base
	BoxRoIPool        *ops.MultiScaleRoIAlign `torch:"box_roi_pool"`
	BoxHead           nn.Layer
	BoxPredictor      *FastRCNNPredictor
	MaskRoIPool       *ops.MultiScaleRoIAlign `torch:"mask_roi_pool"` // Mask R-CNN
	MaskHead          nn.Layer
	MaskPredictor     *nn.Sequential
	KeypointRoIPool   *ops.MultiScaleRoIAlign `torch:"keypoint_roi_pool"` // Keypoint R-CNN
	KeypointHead      nn.Layer
	KeypointPredictor *KeypointRCNNPredictor
}

// FasterRCNN finds objects in two steps: it proposes regions and classifies them (Ren et al., Faster R-CNN, 2015). With
// the heads of Mask R-CNN (He et al., 2017) it also gives masks or key points.
type FasterRCNN struct {
	nn.Base
	Backbone *Backbone
	RPN      *RegionProposalNetwork `torch:"rpn"`
	RoIHeads *RoIHeads              `torch:"roi_heads"`
	o        Options
	kind     string
}

// ClassName is the name that the module prints.
func (m *FasterRCNN) ClassName() string { return m.kind }

var roiCoder = coder{10, 10, 5, 5}

var fpnNames = []string{"0", "1", "2", "3"}

// newFasterRCNN joins a backbone with a pyramid and the heads.
func newFasterRCNN(b *Backbone, a *AnchorGenerator, depth int, boxHead func() nn.Layer, names []string,
	o Options) *FasterRCNN {
	m := &FasterRCNN{Backbone: b, o: o, kind: "FasterRCNN"}
	m.RPN = nn.New(&RegionProposalNetwork{Head: newRPNHead(256, a.perLocation(0), depth), anchors: a})
	h := boxHead()
	m.RoIHeads = nn.New(&RoIHeads{BoxRoIPool: ops.NewMultiScaleRoIAlign(names, nn.Size{7}, 2), BoxHead: h,
		BoxPredictor: nn.New(&FastRCNNPredictor{ClsScore: nn.NewLinear(1024, o.NumClasses),
			BBoxPred: nn.NewLinear(1024, 4*o.NumClasses)})})
	return nn.New(m)
}

func twoMLPHead() nn.Layer {
	return nn.New(&TwoMLPHead{FC6: nn.NewLinear(256*7*7, 1024), FC7: nn.NewLinear(1024, 1024)})
}

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
	return newFasterRCNN(resNetFPN(o, 1, maxPoolBlock, nil), pyramidAnchors(), 1, twoMLPHead, fpnNames, o)
}

func newV2(o Options) *FasterRCNN {
	norm := ops.BatchNorm2d(nn.BatchNorm2dOptions{})
	return newFasterRCNN(resNetFPN(o, 1, maxPoolBlock, norm), pyramidAnchors(), 2,
		func() nn.Layer { return newConvFCHead() }, fpnNames, o)
}

// NewFasterRCNNResNet50FPNV2 makes torchvision's fasterrcnn_resnet50_fpn_v2.
func NewFasterRCNNResNet50FPNV2(opts ...Options) *FasterRCNN { return newV2(optionsOf(opts)) }

// run gives the objects, or with targets the losses.
func (m *FasterRCNN) run(images []*Tensor, targets []Target) ([]Detections, map[string]*Tensor) {
	b := newBatch(images, &m.o, m.Training())
	if targets != nil {
		scaledTargets := make([]Target, len(targets))
		for i, t := range targets {
			scaledTargets[i] = Target{rescale(t.Boxes, b.original[i], b.sizes[i]), t.Labels}
		}
		targets = scaledTargets
	}
	levels := m.Backbone.levels(b.images)
	proposals, losses := m.RPN.propose(tensors(levels), b, targets)
	if targets != nil {
		for k, v := range m.RoIHeads.losses(levels, proposals, b, targets) {
			losses[k] = v
		}
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
// loss_objectness and loss_rpn_box_reg. Those of masks and key points are not there yet.
func (m *FasterRCNN) Losses(images []*Tensor, targets []Target) map[string]*Tensor {
	if len(images) != len(targets) {
		tensor.Fail(tensor.ErrValue, "detection: %d images and %d targets", len(images), len(targets))
	}
	if m.RoIHeads.MaskHead != nil || m.RoIHeads.KeypointHead != nil {
		tensor.Fail(tensor.ErrNotImpl, "detection: losses of masks and key points are not there yet")
	}
	for i, t := range targets {
		if t.Boxes.Dim() != 2 || t.Boxes.Size(1) != 4 || t.Labels.Dim() != 1 || t.Labels.Size(0) != t.Boxes.Size(0) {
			tensor.Fail(tensor.ErrShape, "detection: target %d has boxes %s and labels %s, want (N, 4) and (N)", i,
				tensor.ShapeString(t.Boxes.Shape()), tensor.ShapeString(t.Labels.Shape()))
		}
	}
	_, losses := m.run(images, targets)
	return losses
}

// scores are the logits of the classes and the codes of boxes of regions.
func (m *RoIHeads) scores(levels []ops.Feature, boxes []*Tensor, b *batch) (logits, codes *Tensor) {
	f := m.BoxHead.Forward(m.BoxRoIPool.Pool(levels, boxes, b.sizes))
	return m.BoxPredictor.ClsScore.Forward(f), m.BoxPredictor.BBoxPred.Forward(f)
}

func sizesOf(ts []*Tensor) (out []int) {
	for _, t := range ts {
		out = append(out, t.Size(0))
	}
	return out
}

func (m *RoIHeads) detect(levels []ops.Feature, proposals []*Tensor, b *batch, o *Options) (out []Detections) {
	logits, codes := m.scores(levels, proposals, b)
	boxes := roiCoder.decode(codes, torch.Cat(proposals))
	probs := logits.Softmax(-1)
	classes := probs.Size(1)
	n := sizesOf(proposals)
	allBoxes, allProbs := boxes.SplitSizes(n), probs.SplitSizes(n)
	labels := torch.Arange(classes).View([]int{1, -1})
	for i, size := range b.sizes {
		k := n[i]
		box := ops.ClipBoxesToImage(allBoxes[i], size).Narrow(1, 1, classes-1).Reshape([]int{-1, 4})
		score := allProbs[i].Narrow(1, 1, classes-1).Reshape([]int{-1})
		label := labels.Expand([]int{k, classes}).Narrow(1, 1, classes-1).Reshape([]int{-1})
		box, score, label = best(box, score, label, o.ScoreThresh.Or(0.05), o.NMSThresh.Or(0.5), o.PerImage)
		out = append(out, Detections{Boxes: box, Scores: score, Labels: label})
	}
	var found []*Tensor
	for _, d := range out {
		found = append(found, d.Boxes)
	}
	if m.MaskHead != nil {
		m.masks(levels, found, b, out)
	}
	if m.KeypointHead != nil {
		m.keypoints(levels, found, b, out)
	}
	for i := range out {
		out[i].Boxes = rescale(out[i].Boxes, b.sizes[i], b.original[i])
		if out[i].Masks != nil {
			out[i].Masks = pasteMasks(out[i].Masks, out[i].Boxes, b.original[i])
		}
	}
	return out
}

// best keeps the boxes with good scores that do not overlap better ones of their class.
func best(box, score, label *Tensor, thresh, overlap float64, most int) (*Tensor, *Tensor, *Tensor) {
	pick := func(at *Tensor) {
		box, score, label = box.IndexSelect(0, at), score.IndexSelect(0, at), label.IndexSelect(0, at)
	}
	pick(where(score.GtScalar(thresh)))
	pick(ops.RemoveSmallBoxes(box, 1e-2))
	pick(head(ops.BatchedNMS(box, score, label, overlap), most))
	return box, score, label
}

// losses are those of the classes and of the boxes.
func (m *RoIHeads) losses(levels []ops.Feature, proposals []*Tensor, b *batch, targets []Target) map[string]*Tensor {
	var labels, goals []*Tensor
	for i, t := range targets {
		tensor.NoGrad(func() {
			p := torch.Cat([]*Tensor{proposals[i], t.Boxes.To(proposals[i].DType())})
			at := match(t.Boxes, p, 0.5, 0.5, false)
			label := torch.Zeros([]int{p.Size(0)}, torch.ZerosOptions{DType: tensor.Int64})
			goal := p.ZerosLike()
			known := at.ClampMinScalar(0)
			if t.Boxes.Size(0) > 0 {
				label = t.Labels.Long().IndexSelect(0, known).MaskedFillScalar(at.LtScalar(0), 0)
			}
			pos, neg := sampled(label, 512, 0.25)
			both, _ := torch.Cat([]*Tensor{pos, neg}).Sort()
			p, label, known = p.IndexSelect(0, both), label.IndexSelect(0, both), known.IndexSelect(0, both)
			goal = goal.IndexSelect(0, both)
			if t.Boxes.Size(0) > 0 {
				goal = roiCoder.encode(t.Boxes.IndexSelect(0, known), p)
			}
			proposals[i], labels, goals = p, append(labels, label), append(goals, goal)
		})
	}
	logits, codes := m.scores(levels, proposals, b)
	y, goal := torch.Cat(labels), torch.Cat(goals)
	pos := where(y.GtScalar(0))
	codes = codes.Reshape([]int{codes.Size(0), -1, 4})
	moved := torch.IndexTensors(codes, []*Tensor{pos, y.IndexSelect(0, pos)})
	box := F.SmoothL1Loss(moved, goal.IndexSelect(0, pos), F.SmoothL1LossOptions{Beta: tensor.Some(1.0 / 9),
		Reduction: F.Sum}).DivScalar(y.Numel())
	return map[string]*Tensor{"loss_classifier": F.CrossEntropy(logits, y), "loss_box_reg": box}
}

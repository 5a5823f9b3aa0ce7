package detection

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// RoIHeads classifies regions.
type RoIHeads struct {
	nn.Base
	BoxRoIPool        *ops.MultiScaleRoIAlign `torch:"box_roi_pool"`
	BoxHead           nn.Layer
	BoxPredictor      *FastRCNNPredictor
	MaskRoIPool       *ops.MultiScaleRoIAlign `torch:"mask_roi_pool"` // Mask R-CNN
	MaskHead          nn.Layer
	MaskPredictor     *MaskRCNNPredictor
	KeypointRoIPool   *ops.MultiScaleRoIAlign `torch:"keypoint_roi_pool"` // Keypoint R-CNN
	KeypointHead      nn.Layer
	KeypointPredictor *KeypointRCNNPredictor
}

var roiCoder = coder{10, 10, 5, 5}

// checkTargets refuses targets without what the heads learn.
func (m *RoIHeads) checkTargets(targets []Target) {
	for i, t := range targets {
		n := t.Boxes.Size(0)
		if m.MaskHead != nil && (t.Masks == nil || t.Masks.Dim() != 3 || t.Masks.Size(0) != n) {
			tensor.Fail(tensor.ErrShape, "detection: target %d has %d boxes and masks %s, want (N, H, W)", i, n,
				shapeOf(t.Masks))
		}
		if k := t.Keypoints; m.KeypointHead != nil && (k == nil || k.Dim() != 3 || k.Size(0) != n || k.Size(2) != 3 ||
			k.Size(1) != m.KeypointPredictor.KpsScoreLowres.OutChannels) {
			tensor.Fail(tensor.ErrShape, "detection: target %d has %d boxes and key points %s, want (N, %d, 3)", i, n,
				shapeOf(k), m.KeypointPredictor.KpsScoreLowres.OutChannels)
		}
	}
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
	var found []*Tensor
	for i, size := range b.sizes {
		s := selection{
			ops.ClipBoxesToImage(allBoxes[i], size).Narrow(1, 1, classes-1).Reshape([]int{-1, 4}),
			allProbs[i].Narrow(1, 1, classes-1).Reshape([]int{-1}),
			labels.Expand([]int{n[i], classes}).Narrow(1, 1, classes-1).Reshape([]int{-1})}
		s = s.pick(where(s.scores.GtScalar(o.ScoreThresh.Or(0.05))))
		s = s.pick(ops.RemoveSmallBoxes(s.boxes, 1e-2)).best(o)
		out, found = append(out, s.detections()), append(found, s.boxes)
	}
	if m.MaskHead != nil {
		m.masks(levels, found, b, out)
	}
	if m.KeypointHead != nil {
		m.keypoints(levels, found, b, out)
	}
	out = b.restore(out)
	for i := range out {
		if out[i].Masks != nil {
			out[i].Masks = pasteMasks(out[i].Masks, out[i].Boxes, b.original[i])
		}
	}
	return out
}

// assigned are the regions of an image from which the heads learn.
type assigned struct {
	boxes  *Tensor // (R, 4)
	labels *Tensor // (R), 0 for the background
	of     *Tensor // (R), the number of the box in the target
	codes  *Tensor // (R, 4), how to move the region to it
}

// assign draws regions, a quarter of them on objects where there are so many.
func assign(proposals *Tensor, t Target) (a assigned) {
	tensor.NoGrad(func() {
		p := torch.Cat([]*Tensor{proposals, t.Boxes.To(proposals.DType())})
		at := match(t.Boxes, p, 0.5, 0.5, false)
		known := at.ClampMinScalar(0)
		label := torch.Zeros([]int{p.Size(0)}, torch.ZerosOptions{DType: tensor.Int64})
		if t.Boxes.Size(0) > 0 {
			label = t.Labels.Long().IndexSelect(0, known).MaskedFillScalar(at.LtScalar(0), 0)
		}
		pos, neg := sampled(label, 512, 0.25)
		both, _ := torch.Cat([]*Tensor{pos, neg}).Sort()
		a = assigned{boxes: p.IndexSelect(0, both), labels: label.IndexSelect(0, both), of: known.IndexSelect(0, both)}
		a.codes = a.boxes.ZerosLike()
		if t.Boxes.Size(0) > 0 {
			a.codes = roiCoder.encode(t.Boxes.IndexSelect(0, a.of), a.boxes)
		}
	})
	return a
}

// objects are the regions on objects.
func (a assigned) objects() assigned {
	at := where(a.labels.GtScalar(0))
	return assigned{a.boxes.IndexSelect(0, at), a.labels.IndexSelect(0, at), a.of.IndexSelect(0, at),
		a.codes.IndexSelect(0, at)}
}

// losses are those of the classes, of the boxes, and of masks or key points.
func (m *RoIHeads) losses(levels []ops.Feature, proposals []*Tensor, b *batch) map[string]*Tensor {
	var objects []assigned
	var boxes, labels, goals []*Tensor
	for i, t := range b.targets {
		a := assign(proposals[i], t)
		objects = append(objects, a.objects())
		boxes, labels, goals = append(boxes, a.boxes), append(labels, a.labels), append(goals, a.codes)
	}
	logits, codes := m.scores(levels, boxes, b)
	y, goal := torch.Cat(labels), torch.Cat(goals)
	pos := where(y.GtScalar(0))
	codes = codes.Reshape([]int{codes.Size(0), -1, 4})
	moved := torch.IndexTensors(codes, []*Tensor{pos, y.IndexSelect(0, pos)})
	box := F.SmoothL1Loss(moved, goal.IndexSelect(0, pos), F.SmoothL1LossOptions{Beta: tensor.Some(1.0 / 9),
		Reduction: F.Sum}).DivScalar(y.Numel())
	losses := map[string]*Tensor{"loss_classifier": F.CrossEntropy(logits, y), "loss_box_reg": box}
	if m.MaskHead != nil {
		losses["loss_mask"] = m.maskLoss(levels, objects, b)
	}
	if m.KeypointHead != nil {
		losses["loss_keypoint"] = m.keypointLoss(levels, objects, b)
	}
	return losses
}

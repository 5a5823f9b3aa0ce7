package detection

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// RPNHead scores the anchors at each place and says how to move them.
type RPNHead struct {
	nn.Base
	Conv      *nn.Sequential
	ClsLogits *nn.Conv2d
	BBoxPred  *nn.Conv2d `torch:"bbox_pred"`
}

func newRPNHead(in, anchors, depth int) *RPNHead {
	m := &RPNHead{Conv: nn.NewSequential()}
	for range depth {
		m.Conv.Append(ops.NewConv2dNormActivation(in, in, ops.ConvNormActivationOptions{NoNorm: true}))
	}
	m.ClsLogits, m.BBoxPred = nn.NewConv2d(in, anchors, 1), nn.NewConv2d(in, 4*anchors, 1)
	initConvs(nn.New(m), normal(0.01))
	return m
}

// RegionProposalNetwork proposes boxes that may hold objects (Ren et al., Faster R-CNN, 2015).
type RegionProposalNetwork struct {
	nn.Base
	Head    *RPNHead
	anchors *AnchorGenerator
	o       *Options
}

var rpnCoder = coder{1, 1, 1, 1}

// propose gives the boxes of each image and, with targets, the losses.
func (m *RegionProposalNetwork) propose(features []*Tensor, b *batch) (boxes []*Tensor, loss map[string]*Tensor) {
	anchors := boxesOf(m.anchors, features, b)
	var scores, codes []*Tensor
	for _, f := range features {
		t := m.Head.Conv.Forward(f)
		scores = append(scores, flat(m.Head.ClsLogits.Forward(t), 1))
		codes = append(codes, flat(m.Head.BBoxPred.Forward(t), 4))
	}
	dim1 := torch.CatOptions{Dim: 1}
	all, logits, code := torch.Cat(anchors), torch.Cat(scores, dim1).SqueezeDim(2), torch.Cat(codes, dim1)
	tensor.NoGrad(func() {
		for i := range b.sizes {
			decoded := rpnCoder.decode(code.Select(0, i), all).SqueezeDim(1)
			boxes = append(boxes, m.filter(decoded, logits.Select(0, i), anchors, b.sizes[i]))
		}
	})
	if b.targets != nil {
		loss = m.losses(all, logits, code, b.targets)
	}
	return boxes, loss
}

// filter keeps the best boxes of each level, those that do not overlap, and of them the best.
func (m *RegionProposalNetwork) filter(boxes, logits *Tensor, anchors []*Tensor, size [2]int) *Tensor {
	preNMS, postNMS := m.o.RPNPreNMSTopN.Test, m.o.RPNPostNMSTopN.Test
	if m.Training() {
		preNMS, postNMS = m.o.RPNPreNMSTopN.Train, m.o.RPNPostNMSTopN.Train
	}
	var keep, level []*Tensor
	from := 0
	for i, a := range anchors {
		n := a.Size(0)
		_, top := logits.Narrow(0, from, n).TopK(min(preNMS, n))
		keep = append(keep, top.AddScalar(from))
		level = append(level, torch.Full([]int{top.Size(0)}, i))
		from += n
	}
	index, levels := torch.Cat(keep), torch.Cat(level)
	boxes = ops.ClipBoxesToImage(boxes.IndexSelect(0, index), size)
	scores := logits.IndexSelect(0, index).Sigmoid()
	s := selection{boxes, scores, levels}.pick(ops.RemoveSmallBoxes(boxes, 1e-3))
	s = s.pick(where(s.scores.GeScalar(m.o.RPNScoreThresh.Or(0))))
	kept := ops.BatchedNMS(s.boxes, s.scores, s.labels, m.o.RPNNMSThresh.Or(0.7))
	return s.boxes.IndexSelect(0, head(kept, postNMS))
}

// losses are those of the scores and of the boxes.
func (m *RegionProposalNetwork) losses(anchors, logits, code *Tensor, targets []Target) map[string]*Tensor {
	var scores, truths, moved, goals []*Tensor
	for i, t := range targets {
		var labels, goal *Tensor
		tensor.NoGrad(func() {
			at := match(t.Boxes, anchors, 0.3, 0.7, true)
			labels = at.GeScalar(0).Float().MaskedFillScalar(at.EqScalar(-2), -1)
			goal = anchors.ZerosLike()
			if t.Boxes.Size(0) > 0 {
				goal = rpnCoder.encode(t.Boxes.IndexSelect(0, at.ClampMinScalar(0)), anchors)
			}
		})
		pos, neg := sampled(labels, 256, 0.5)
		both := torch.Cat([]*Tensor{pos, neg})
		scores = append(scores, logits.Select(0, i).IndexSelect(0, both))
		truths = append(truths, labels.IndexSelect(0, both))
		moved = append(moved, code.Select(0, i).IndexSelect(0, pos))
		goals = append(goals, goal.IndexSelect(0, pos))
	}
	y := torch.Cat(truths)
	box := F.SmoothL1Loss(torch.Cat(moved), torch.Cat(goals), F.SmoothL1LossOptions{Beta: tensor.Some(1.0 / 9),
		Reduction: F.Sum}).DivScalar(y.Numel())
	return map[string]*Tensor{"loss_objectness": F.BinaryCrossEntropyWithLogits(torch.Cat(scores), y),
		"loss_rpn_box_reg": box}
}

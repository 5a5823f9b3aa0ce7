package detection

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	nninit "github.com/gotorch-dev/torch/nn/init"
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
	drawConvs(nn.New(m), 0.01)
	return m
}

// drawConvs draws the weights of all convolutions from a normal distribution, and sets biases to zero.
func drawConvs(m nn.Module, std float64) {
	for c := range nn.Modules(m) {
		if c, ok := c.(*nn.Conv2d); ok {
			nninit.Normal(c.Weight, 0, std)
			if c.Bias != nil {
				nninit.Zeros(c.Bias)
			}
		}
	}
}

// flat turns (N, anchors·k, H, W) into (N, H·W·anchors, k).
func flat(x *Tensor, k int) *Tensor {
	s := x.Shape()
	return x.View([]int{s[0], s[1] / k, k, s[2], s[3]}).Permute([]int{0, 3, 4, 1, 2}).Reshape([]int{s[0], -1, k})
}

// RegionProposalNetwork proposes boxes that may hold objects (Ren et al., Faster R-CNN, 2015).
type RegionProposalNetwork struct {
	nn.Base
	Head    *RPNHead
	anchors *AnchorGenerator
}

var rpnCoder = coder{1, 1, 1, 1}

// propose gives the boxes of each image and, with targets, the losses.
func (m *RegionProposalNetwork) propose(features []*Tensor, b *batch, targets []Target) (boxes []*Tensor,
	loss map[string]*Tensor) {
	anchors := m.anchors.levels(features, b)
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
	if targets != nil {
		loss = m.losses(all, logits, code, targets)
	}
	return boxes, loss
}

// filter keeps the best boxes of each level, those that do not overlap, and of them the best.
func (m *RegionProposalNetwork) filter(boxes, logits *Tensor, anchors []*Tensor, size [2]int) *Tensor {
	preNMS, postNMS := 1000, 1000
	if m.Training() {
		preNMS, postNMS = 2000, 2000
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
	ok := ops.RemoveSmallBoxes(boxes, 1e-3)
	boxes, scores, levels = boxes.IndexSelect(0, ok), scores.IndexSelect(0, ok), levels.IndexSelect(0, ok)
	return boxes.IndexSelect(0, head(ops.BatchedNMS(boxes, scores, levels, 0.7), postNMS))
}

// match gives for each of candidates the number of the box that it overlaps most, or -1 below low, -2 between low and
// high. With keepBest the candidates that overlap a box most belong to theirs in any case.
func match(boxes, candidates *Tensor, low, high float64, keepBest bool) *Tensor {
	if boxes.Size(0) == 0 {
		return torch.Full([]int{candidates.Size(0)}, -1)
	}
	iou := ops.BoxIoU(boxes, candidates)
	best, at := iou.MaxDim(0)
	m := at.Clone()
	m = m.MaskedFillScalar(best.LtScalar(low), -1)
	m = m.MaskedFillScalar(best.GeScalar(low).LogicalAnd(best.LtScalar(high)), -2)
	if keepBest {
		most, _ := iou.MaxDim(1)
		equal := iou.Eq(most.Unsqueeze(1)).AnyDim(0)
		m = at.Where(equal, m)
	}
	return m
}

// sampled draws up to n candidates, at most a share of positive of them, and gives their indices, each in the order of
// the candidates. labels are 0 for the background, negative for what is not drawn.
func sampled(labels *Tensor, n int, positive float64) (pos, neg *Tensor) {
	draw := func(mask *Tensor, most int) *Tensor {
		at := where(mask)
		k := min(at.Numel(), most)
		at = at.IndexSelect(0, head(torch.Randperm(at.Numel()), k))
		sorted, _ := at.Sort()
		return sorted
	}
	pos = draw(labels.GeScalar(1), int(float64(n)*positive))
	return pos, draw(labels.EqScalar(0), n-pos.Numel())
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

package detection

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/vision/ops"
)

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

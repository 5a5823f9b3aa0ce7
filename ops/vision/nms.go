package vision

import (
	"cmp"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// nms keeps the boxes of the highest scores that overlap none of those kept before by more than the threshold: greedy
// suppression in the order of the scores, equal ones in their order.
func nms[E float](boxes, scores []E, threshold float64) (keep []int64) {
	n := len(scores)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { // NaN first, as PyTorch sorts
		x, y := scores[a], scores[b]
		switch {
		case x != x && y != y:
			return 0
		case x != x:
			return -1
		case y != y:
			return 1
		}
		return cmp.Compare(y, x)
	})
	// columns in the order of the scores, so that the inner loop runs through memory
	x1, y1, x2, y2, area := make([]E, n), make([]E, n), make([]E, n), make([]E, n), make([]E, n)
	for k, i := range order {
		b := boxes[4*i:][:4]
		x1[k], y1[k], x2[k], y2[k] = b[0], b[1], b[2], b[3]
		area[k] = (b[2] - b[0]) * (b[3] - b[1])
	}
	gone := make([]bool, n)
	for i := range n {
		if gone[i] {
			continue
		}
		keep = append(keep, int64(order[i]))
		ax1, ay1, ax2, ay2, a := x1[i], y1[i], x2[i], y2[i], area[i]
		for j := i + 1; j < n; j++ {
			w := min(ax2, x2[j]) - max(ax1, x1[j])
			if gone[j] || !(w > 0) {
				continue
			}
			h := min(ay2, y2[j]) - max(ay1, y1[j])
			if !(h > 0) {
				continue
			}
			inter := w * h
			if float64(inter/(a+area[j]-inter)) > threshold {
				gone[j] = true
			}
		}
	}
	return keep
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
		Doc: "gives the indices of the boxes dets [n, 4] that are kept when those that overlap a box of a higher score " +
			"by more than iou_threshold are left out, in the order of the scores [n], highest first.",
		Go: "-", DataDependent: true, NoGrad: "integer result",
		Infer: func(c *Ctx) {
			d, s := c.Shape(0), c.Shape(1)
			switch {
			case len(d) != 2:
				c.Fail(tensor.ErrShape, "boxes should be a 2d tensor, got %dD", len(d))
			case d[1] != 4:
				c.Fail(tensor.ErrShape, "boxes should have 4 elements in dimension 1, got %d", d[1])
			case len(s) != 1:
				c.Fail(tensor.ErrShape, "scores should be a 1d tensor, got %dD", len(s))
			case d[0] != s[0]:
				c.Fail(tensor.ErrShape, "boxes and scores should have same number of elements in dimension 0, got %d "+
					"and "+
					"%d", d[0], s[0])
			case c.ArgDType(0) != c.ArgDType(1):
				c.Fail(tensor.ErrDType, "dets should have the same type as scores")
			}
			needFloat(c, 0)
		},
		CPU: func(c *Ctx) {
			var keep []int64
			inFloat(c.ArgDType(0),
				func() { keep = nms(dense[float32](c.T(0)), dense[float32](c.T(1)), c.Float(2)) },
				func() { keep = nms(dense[float64](c.T(0)), dense[float64](c.T(1)), c.Float(2)) })
			copy(tensor.Data[int64](c.Alloc(0, []int{len(keep)}, tensor.Int64)), keep)
		},
	})
}

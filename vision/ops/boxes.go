package ops

import (
	"github.com/gotorch-dev/torch"
	_ "github.com/gotorch-dev/torch/ops/vision" // links the operators
	"github.com/gotorch-dev/torch/tensor"
)

// opNMS and the like are the operators that the functions here call.
var (
	opNMS        = tensor.Slot("torchvision::nms")
	opRoIAlign   = tensor.Slot("torchvision::roi_align")
	opRoIPool    = tensor.Slot("torchvision::roi_pool")
	opPSRoIAlign = tensor.Slot("torchvision::ps_roi_align")
	opPSRoIPool  = tensor.Slot("torchvision::ps_roi_pool")
	opDeform     = tensor.Slot("torchvision::deform_conv2d")
)

// call calls an operator with boxed arguments and returns its first result.
func call(o *tensor.Op, args ...any) *tensor.Tensor {
	c := tensor.NewCall(o, len(o.Sch.Params))
	for i, a := range args {
		*c.Arg(i) = tensor.Box(a)
	}
	return c.DoN()[0]
}

// NMS gives the indices of the boxes (N, 4) that are kept when those that overlap a box of a higher score (N) by more
// than iouThreshold are left out, in the order of the scores, highest first (int64).
// https://pytorch.org/vision/stable/generated/torchvision.ops.nms.html
func NMS(boxes, scores *tensor.Tensor, iouThreshold float64) *tensor.Tensor {
	return call(opNMS, boxes, scores, iouThreshold)
}

// BatchedNMS is NMS in which only boxes of the same category, idxs (N), suppress each other.
// https://pytorch.org/vision/stable/generated/torchvision.ops.batched_nms.html
func BatchedNMS(boxes, scores, idxs *tensor.Tensor, iouThreshold float64) *tensor.Tensor {
	if boxes.Numel() == 0 {
		return torch.Empty([]int{0}, torch.EmptyOptions{DType: tensor.Int64, Device: boxes.Device()})
	}
	if boxes.Numel() > 4000 { // where the shift below would cost precision and time, torchvision goes by category
		return nmsByCategory(boxes, scores, idxs, iouThreshold)
	}
	// boxes of different categories are moved so far apart that they cannot overlap
	shift := idxs.To(boxes.DType()).Mul(boxes.Max().AddScalar(1))
	return NMS(boxes.Add(shift.Unsqueeze(1)), scores, iouThreshold)
}

func nmsByCategory(boxes, scores, idxs *tensor.Tensor, iouThreshold float64) *tensor.Tensor {
	keep := torch.ZerosLike(scores, tensor.ZerosLikeOptions{DType: tensor.Bool})
	categories, _, _ := idxs.Unique()
	for _, c := range categories.Unbind() {
		here := idxs.Eq(c).Nonzero().SqueezeDim(1)
		k := NMS(boxes.IndexSelect(0, here), scores.IndexSelect(0, here), iouThreshold)
		keep.IndexFillScalarInPlace(0, here.IndexSelect(0, k), true)
	}
	kept := keep.Nonzero().SqueezeDim(1)
	_, order := scores.IndexSelect(0, kept).Sort(tensor.SortOptions{Descending: true})
	return kept.IndexSelect(0, order)
}

// columns are the last dimension's elements, each (…).
func columns(boxes *tensor.Tensor) []*tensor.Tensor {
	if boxes.Dim() == 0 || boxes.Size(-1) < 4 {
		tensor.Fail(tensor.ErrShape, "boxes should have 4 elements in their last dimension, got shape %s",
			tensor.ShapeString(boxes.Shape()))
	}
	return boxes.Unbind(tensor.UnbindOptions{Dim: -1})
}

func stackLast(ts ...*tensor.Tensor) *tensor.Tensor {
	return torch.Stack(ts, torch.StackOptions{Dim: -1})
}

// BoxFormat says what the four numbers of a box mean.
type BoxFormat string

// The formats of boxes.
const (
	XYXY     BoxFormat = "xyxy"     // two corners
	XYWH     BoxFormat = "xywh"     // a corner, width and height
	CXCYWH   BoxFormat = "cxcywh"   // the centre, width and height
	XYWHR    BoxFormat = "xywhr"    // XYWH turned about the corner by degrees, counterclockwise
	CXCYWHR  BoxFormat = "cxcywhr"  // CXCYWH turned about the centre by degrees, counterclockwise
	XYXYXYXY BoxFormat = "xyxyxyxy" // four corners
)

// rotated reports the formats of boxes that are turned.
func (f BoxFormat) rotated() bool { return f == XYWHR || f == CXCYWHR || f == XYXYXYXY }

// BoxConvert converts boxes (…, 4), or turned ones of 5 or 8 numbers, from one format to another.
// https://pytorch.org/vision/stable/generated/torchvision.ops.box_convert.html
func BoxConvert(boxes *tensor.Tensor, from, to BoxFormat) *tensor.Tensor {
	for _, f := range []BoxFormat{from, to} {
		switch f {
		case XYXY, XYWH, CXCYWH, XYWHR, CXCYWHR, XYXYXYXY:
		default:
			tensor.Fail(tensor.ErrValue, "box_convert: unsupported bounding box format %q", string(f))
		}
	}
	if from.rotated() != to.rotated() {
		tensor.Fail(tensor.ErrValue, "box_convert: cannot convert between turned boxes and others, %s to %s", from, to)
	}
	if from == to {
		return boxes.Clone()
	}
	if from.rotated() {
		return convertRotated(boxes, from, to)
	}
	c := columns(boxes)
	switch from {
	case XYWH:
		c = []*tensor.Tensor{c[0], c[1], c[0].Add(c[2]), c[1].Add(c[3])}
	case CXCYWH:
		w, h := c[2].MulScalar(0.5), c[3].MulScalar(0.5)
		c = []*tensor.Tensor{c[0].Sub(w), c[1].Sub(h), c[0].Add(w), c[1].Add(h)}
	}
	switch to {
	case XYWH:
		c = []*tensor.Tensor{c[0], c[1], c[2].Sub(c[0]), c[3].Sub(c[1])}
	case CXCYWH:
		c = []*tensor.Tensor{c[0].Add(c[2]).DivScalar(2), c[1].Add(c[3]).DivScalar(2), c[2].Sub(c[0]), c[3].Sub(c[1])}
	}
	return stackLast(c...)
}

// convertRotated converts turned boxes by way of CXCYWHR.
func convertRotated(boxes *tensor.Tensor, from, to BoxFormat) *tensor.Tensor {
	c := boxes.Unbind(tensor.UnbindOptions{Dim: -1})
	if want := map[BoxFormat]int{XYWHR: 5, CXCYWHR: 5, XYXYXYXY: 8}[from]; len(c) != want {
		tensor.Fail(tensor.ErrShape, "box_convert: boxes in format %s have %d numbers, got %d", from, want, len(c))
	}
	turn := func(w, h, r *tensor.Tensor) (x, y *tensor.Tensor) { // half the diagonal
		rad := r.Deg2rad()
		cos, sin := rad.Cos(), rad.Sin()
		return w.MulScalar(0.5).Mul(cos).Add(h.MulScalar(0.5).Mul(sin)),
			h.MulScalar(0.5).Mul(cos).Sub(w.MulScalar(0.5).Mul(sin))
	}
	switch from {
	case XYWHR:
		x, y := turn(c[2], c[3], c[4])
		c = []*tensor.Tensor{c[0].Add(x), c[1].Add(y), c[2], c[3], c[4]}
	case XYXYXYXY:
		dx, dy := c[2].Sub(c[0]), c[3].Sub(c[1])
		w, h := dx.Square().Add(dy.Square()).Sqrt(), c[4].Sub(c[2]).Square().Add(c[5].Sub(c[3]).Square()).Sqrt()
		r := dy.Neg().Atan2(dx).Rad2deg()
		x, y := turn(w, h, r)
		c = []*tensor.Tensor{c[0].Add(x), c[1].Add(y), w, h, r}
	}
	switch to {
	case XYWHR:
		x, y := turn(c[2], c[3], c[4])
		c = []*tensor.Tensor{c[0].Sub(x), c[1].Sub(y), c[2], c[3], c[4]}
	case XYXYXYXY:
		rad := c[4].Deg2rad()
		cos, sin := rad.Cos(), rad.Sin()
		wc, ws := c[2].Mul(cos).DivScalar(2), c[2].Mul(sin).DivScalar(2)
		hc, hs := c[3].Mul(cos).DivScalar(2), c[3].Mul(sin).DivScalar(2)
		c = []*tensor.Tensor{
			c[0].Sub(wc).Sub(hs), c[1].Sub(hc).Add(ws),
			c[0].Add(wc).Sub(hs), c[1].Sub(hc).Sub(ws),
			c[0].Add(wc).Add(hs), c[1].Add(hc).Sub(ws),
			c[0].Sub(wc).Add(hs), c[1].Add(hc).Add(ws)}
	}
	return stackLast(c...)
}

// widen converts to a type in which products do not overflow: float32 for 16-bit floats, int64 for small integers.
func widen(t *tensor.Tensor) *tensor.Tensor {
	switch {
	case t.DType() == tensor.Float16 || t.DType() == tensor.BFloat16:
		return t.Float()
	case t.DType().IsFloat():
		return t
	case t.DType() == tensor.Int32 || t.DType() == tensor.Int64:
		return t
	}
	return t.Int()
}

// BoxArea is the area of boxes (N, 4): (N). Formats other than XYXY may be given.
// https://pytorch.org/vision/stable/generated/torchvision.ops.box_area.html
func BoxArea(boxes *tensor.Tensor, format ...BoxFormat) *tensor.Tensor {
	c := columns(widen(boxes))
	if len(format) > 0 && (format[0] == XYWH || format[0] == CXCYWH) {
		return c[2].Mul(c[3])
	}
	return c[2].Sub(c[0]).Mul(c[3].Sub(c[1]))
}

// pairwise gives the intersections and unions of boxes (N, 4) and (M, 4): (N, M).
func pairwise(a, b *tensor.Tensor) (inter, union *tensor.Tensor) {
	area1, area2 := BoxArea(a), BoxArea(b)
	corner := func(t *tensor.Tensor, from int) *tensor.Tensor { return t.Narrow(-1, from, 2) }
	lt := corner(a, 0).Unsqueeze(-2).Maximum(corner(b, 0).Unsqueeze(-3))
	rb := corner(a, 2).Unsqueeze(-2).Minimum(corner(b, 2).Unsqueeze(-3))
	wh := widen(rb.Sub(lt)).ClampMinScalar(0)
	inter = wh.Select(-1, 0).Mul(wh.Select(-1, 1))
	return inter, area1.Unsqueeze(-1).Add(area2.Unsqueeze(-2)).Sub(inter)
}

// asXYXY converts boxes of another format.
func asXYXY(t *tensor.Tensor, format []BoxFormat) *tensor.Tensor {
	if len(format) == 0 || format[0] == XYXY {
		return t
	}
	return BoxConvert(t, format[0], XYXY)
}

// BoxIoU is the intersection over the union of each box of (N, 4) with each of (M, 4): (N, M).
// https://pytorch.org/vision/stable/generated/torchvision.ops.box_iou.html
func BoxIoU(boxes1, boxes2 *tensor.Tensor, format ...BoxFormat) *tensor.Tensor {
	inter, union := pairwise(asXYXY(boxes1, format), asXYXY(boxes2, format))
	return inter.Div(union)
}

// enclosing is the width and height of the smallest boxes around pairs: (N, M, 2).
func enclosing(a, b *tensor.Tensor) *tensor.Tensor {
	lt := a.Narrow(-1, 0, 2).Unsqueeze(-2).Minimum(b.Narrow(-1, 0, 2).Unsqueeze(-3))
	rb := a.Narrow(-1, 2, 2).Unsqueeze(-2).Maximum(b.Narrow(-1, 2, 2).Unsqueeze(-3))
	return widen(rb.Sub(lt)).ClampMinScalar(0)
}

// GeneralizedBoxIoU is BoxIoU less the share of the smallest box around both that neither covers (Rezatofighi et al.,
// 2019): (N, M).
// https://pytorch.org/vision/stable/generated/torchvision.ops.generalized_box_iou.html
func GeneralizedBoxIoU(boxes1, boxes2 *tensor.Tensor) *tensor.Tensor {
	inter, union := pairwise(boxes1, boxes2)
	wh := enclosing(boxes1, boxes2)
	area := wh.Select(-1, 0).Mul(wh.Select(-1, 1))
	return inter.Div(union).Sub(area.Sub(union).Div(area))
}

// pairEps keeps the diagonal of an empty box from being zero.
const pairEps = 1e-7

// distanceIoU gives DistanceBoxIoU and BoxIoU.
func distanceIoU(a, b *tensor.Tensor, eps float64) (diou, iou *tensor.Tensor) {
	inter, union := pairwise(a, b)
	iou = inter.Div(union)
	wh := enclosing(a, b)
	diagonal := wh.Square().SumDim([]int{-1}).AddScalar(eps)
	centre := func(t *tensor.Tensor) *tensor.Tensor {
		return t.Narrow(-1, 0, 2).Add(t.Narrow(-1, 2, 2)).DivScalar(2)
	}
	d := widen(centre(a).Unsqueeze(-2).Sub(centre(b).Unsqueeze(-3)))
	return iou.Sub(d.Square().SumDim([]int{-1}).Div(diagonal)), iou
}

// DistanceBoxIoU is BoxIoU less the distance of the centres by the diagonal of the smallest box around both, both
// squared (Zheng et al., Distance-IoU Loss, 2020): (N, M).
// https://pytorch.org/vision/stable/generated/torchvision.ops.distance_box_iou.html
func DistanceBoxIoU(boxes1, boxes2 *tensor.Tensor) *tensor.Tensor {
	d, _ := distanceIoU(widen(boxes1), widen(boxes2), pairEps)
	return d
}

// CompleteBoxIoU is DistanceBoxIoU less a term for different ratios of width to height (Zheng et al., 2020): (N, M).
// https://pytorch.org/vision/stable/generated/torchvision.ops.complete_box_iou.html
func CompleteBoxIoU(boxes1, boxes2 *tensor.Tensor) *tensor.Tensor {
	boxes1, boxes2 = widen(boxes1), widen(boxes2)
	diou, iou := distanceIoU(boxes1, boxes2, pairEps)
	a, b := columns(boxes1), columns(boxes2)
	angle := func(c []*tensor.Tensor) *tensor.Tensor { return c[2].Sub(c[0]).Div(c[3].Sub(c[1])).Atan() }
	v := angle(a).Unsqueeze(-1).Sub(angle(b).Unsqueeze(-2)).Square().MulScalar(fourByPi2)
	alpha := tradeOff(v, iou, pairEps)
	return diou.Sub(alpha.Mul(v))
}

// ClipBoxesToImage moves corners of boxes (…, 4) that lie outside of an image of (height, width) to its edge.
// https://pytorch.org/vision/stable/generated/torchvision.ops.clip_boxes_to_image.html
func ClipBoxesToImage(boxes *tensor.Tensor, size [2]int) *tensor.Tensor {
	c := columns(boxes)
	for i := range c {
		c[i] = c[i].ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: size[1-i%2]})
	}
	return stackLast(c...)
}

// RemoveSmallBoxes gives the indices of the boxes (N, 4) that are at least minSize wide and high (int64).
// https://pytorch.org/vision/stable/generated/torchvision.ops.remove_small_boxes.html
func RemoveSmallBoxes(boxes *tensor.Tensor, minSize float64) *tensor.Tensor {
	c := columns(boxes)
	wide, high := c[2].Sub(c[0]).GeScalar(minSize), c[3].Sub(c[1]).GeScalar(minSize)
	return wide.LogicalAnd(high).Nonzero().SqueezeDim(1)
}

// MasksToBoxes gives the boxes (N, 4) in float32 around what is not zero in masks (N, H, W); the corners are the
// outermost pixels. An empty mask is an error.
// https://pytorch.org/vision/stable/generated/torchvision.ops.masks_to_boxes.html
func MasksToBoxes(masks *tensor.Tensor) *tensor.Tensor {
	if masks.Numel() == 0 {
		return torch.Zeros([]int{0, 4}, torch.ZerosOptions{Device: masks.Device()})
	}
	if masks.Dim() != 3 {
		tensor.Fail(tensor.ErrShape, "masks_to_boxes: masks should have 3 dimensions, got %s",
			tensor.ShapeString(masks.Shape()))
	}
	var boxes []*tensor.Tensor
	for i, m := range masks.Unbind() {
		at := m.Nonzero()
		if at.Size(0) == 0 {
			tensor.Fail(tensor.ErrValue, "masks_to_boxes: mask %d is empty", i)
		}
		lo, hi := at.Aminmax(tensor.AminmaxOptions{Dim: tensor.Some(0)})
		boxes = append(boxes, torch.Cat([]*tensor.Tensor{lo.Flip([]int{0}), hi.Flip([]int{0})}))
	}
	return torch.Stack(boxes).Float()
}

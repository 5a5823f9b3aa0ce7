package ops

import (
	"math"

	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

const fourByPi2 = 4 / (math.Pi * math.Pi)

// BoxLossOptions are the options of the losses on boxes; the zero value is torchvision's default.
type BoxLossOptions struct {
	Reduction F.Reduction         // default F.None: a loss for each pair
	Eps       tensor.Opt[float64] // keeps divisors from being zero; default 1e-7
}

// reduce applies a reduction; the losses of no boxes are 0.
func reduce(loss *tensor.Tensor, r F.Reduction) *tensor.Tensor {
	switch {
	case r == F.Mean && loss.Numel() > 0:
		return loss.Mean()
	case r == F.Mean || r == F.Sum:
		return loss.Sum()
	}
	return loss
}

// pairLoss are the parts of the losses on pairs of boxes (N, 4).
type pairLoss struct {
	a, b         []*tensor.Tensor // columns
	inter, union *tensor.Tensor
	eps          float64
}

func newPairLoss(boxes1, boxes2 *tensor.Tensor, eps float64) *pairLoss {
	upcast := func(t *tensor.Tensor) *tensor.Tensor { // losses are computed in float32 at least
		if dt := t.DType(); dt == tensor.Float32 || dt == tensor.Float64 {
			return t
		}
		return t.Float()
	}
	p := &pairLoss{a: columns(upcast(boxes1)), b: columns(upcast(boxes2)), eps: eps}
	a, b := p.a, p.b
	x1, y1, x2, y2 := a[0].Maximum(b[0]), a[1].Maximum(b[1]), a[2].Minimum(b[2]), a[3].Minimum(b[3])
	overlap := y2.Gt(y1).LogicalAnd(x2.Gt(x1))
	inter := x2.Sub(x1).Mul(y2.Sub(y1))
	p.inter = inter.Where(overlap, inter.ZerosLike())
	area := func(c []*tensor.Tensor) *tensor.Tensor { return c[2].Sub(c[0]).Mul(c[3].Sub(c[1])) }
	p.union = area(a).Add(area(b)).Sub(p.inter)
	return p
}

func (p *pairLoss) iou() *tensor.Tensor { return p.inter.Div(p.union.AddScalar(p.eps)) }

// hull is the smallest box around each pair.
func (p *pairLoss) hull() (w, h *tensor.Tensor) {
	return p.a[2].Maximum(p.b[2]).Sub(p.a[0].Minimum(p.b[0])), p.a[3].Maximum(p.b[3]).Sub(p.a[1].Minimum(p.b[1]))
}

// distance is 1 - DIoU.
func (p *pairLoss) distance() *tensor.Tensor {
	w, h := p.hull()
	diagonal := w.Square().Add(h.Square()).AddScalar(p.eps)
	centre := func(i int) *tensor.Tensor { // twice the distance in one direction, halved
		return p.a[i].Add(p.a[i+2]).DivScalar(2).Sub(p.b[i].Add(p.b[i+2]).DivScalar(2))
	}
	d := centre(0).Square().Add(centre(1).Square())
	return p.iou().RsubScalar(1).Add(d.Div(diagonal))
}

// tradeOff is the factor of the ratio's term in the complete IoU, which has no gradient.
func tradeOff(v, iou *tensor.Tensor, eps float64) (alpha *tensor.Tensor) {
	tensor.NoGrad(func() { alpha = v.Div(iou.RsubScalar(1).Add(v).AddScalar(eps)) })
	return alpha
}

// boxLossOptions are the options, with F.None where no reduction was given.
func boxLossOptions(opts []BoxLossOptions) BoxLossOptions {
	if len(opts) == 0 {
		return BoxLossOptions{Reduction: F.None}
	}
	return opts[0]
}

// GeneralizedBoxIoULoss is 1 - the generalized IoU of pairs of boxes (N, 4): (N), or reduced.
// https://pytorch.org/vision/stable/generated/torchvision.ops.generalized_box_iou_loss.html
func GeneralizedBoxIoULoss(boxes1, boxes2 *tensor.Tensor, opts ...BoxLossOptions) *tensor.Tensor {
	o := boxLossOptions(opts)
	p := newPairLoss(boxes1, boxes2, o.Eps.Or(1e-7))
	w, h := p.hull()
	area := w.Mul(h)
	giou := p.iou().Sub(area.Sub(p.union).Div(area.AddScalar(p.eps)))
	return reduce(giou.RsubScalar(1), o.Reduction)
}

// DistanceBoxIoULoss is 1 - the distance IoU of pairs of boxes (N, 4): (N), or reduced.
// https://pytorch.org/vision/stable/generated/torchvision.ops.distance_box_iou_loss.html
func DistanceBoxIoULoss(boxes1, boxes2 *tensor.Tensor, opts ...BoxLossOptions) *tensor.Tensor {
	o := boxLossOptions(opts)
	return reduce(newPairLoss(boxes1, boxes2, o.Eps.Or(1e-7)).distance(), o.Reduction)
}

// CompleteBoxIoULoss is 1 - the complete IoU of pairs of boxes (N, 4): (N), or reduced.
// https://pytorch.org/vision/stable/generated/torchvision.ops.complete_box_iou_loss.html
func CompleteBoxIoULoss(boxes1, boxes2 *tensor.Tensor, opts ...BoxLossOptions) *tensor.Tensor {
	o := boxLossOptions(opts)
	p := newPairLoss(boxes1, boxes2, o.Eps.Or(1e-7))
	angle := func(c []*tensor.Tensor) *tensor.Tensor { return c[2].Sub(c[0]).Div(c[3].Sub(c[1])).Atan() }
	v := angle(p.b).Sub(angle(p.a)).Square().MulScalar(fourByPi2)
	return reduce(p.distance().Add(tradeOff(v, p.iou(), p.eps).Mul(v)), o.Reduction)
}

// FocalLossOptions are the options of SigmoidFocalLoss; the zero value of a field is torchvision's default.
type FocalLossOptions struct {
	Alpha     tensor.Opt[float64] // weight of positive examples, default 0.25; negative: no weights
	Gamma     tensor.Opt[float64] // exponent, default 2
	Reduction F.Reduction
}

// SigmoidFocalLoss is binary cross entropy of logits in which examples that are classified well count less (Lin et al.,
// Focal Loss for Dense Object Detection, 2017). inputs and targets (0 or 1) have the same shape, and so has the loss;
// without options it is not reduced.
// https://pytorch.org/vision/stable/generated/torchvision.ops.sigmoid_focal_loss.html
func SigmoidFocalLoss(inputs, targets *tensor.Tensor, opts ...FocalLossOptions) *tensor.Tensor {
	o := FocalLossOptions{Reduction: F.None}
	if len(opts) > 0 {
		o = opts[0]
	}
	alpha := o.Alpha.Or(0.25)
	if !(alpha <= 1) {
		tensor.Fail(tensor.ErrValue, "sigmoid_focal_loss: alpha %v must be in [0, 1], or negative for none", alpha)
	}
	p := inputs.Sigmoid()
	ce := F.BinaryCrossEntropyWithLogits(inputs, targets, F.BinaryCrossEntropyWithLogitsOptions{Reduction: F.None})
	other := targets.RsubScalar(1)
	pt := p.Mul(targets).Add(p.RsubScalar(1).Mul(other))
	loss := ce.Mul(pt.RsubScalar(1).PowScalar(o.Gamma.Or(2)))
	if alpha >= 0 {
		loss = targets.MulScalar(alpha).Add(other.MulScalar(1 - alpha)).Mul(loss)
	}
	return reduceAny(loss, o.Reduction)
}

func reduceAny(loss *tensor.Tensor, r F.Reduction) *tensor.Tensor {
	if r == F.Mean {
		return loss.Mean()
	}
	return reduce(loss, r)
}

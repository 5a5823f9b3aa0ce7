package detection

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// FCOSRegressionHead gives for each place the distances to the sides of its box, and how close it is to the centre.
type FCOSRegressionHead struct {
	nn.Base
	Conv        *nn.Sequential
	BBoxReg     *nn.Conv2d `torch:"bbox_reg"`
	BBoxCtrness *nn.Conv2d `torch:"bbox_ctrness"`
}

// FCOSHead is what FCOS computes of each level.
type FCOSHead struct {
	nn.Base
	ClassificationHead *ClassificationHead
	RegressionHead     *FCOSRegressionHead
}

// FCOS finds objects without anchors: each place inside of a box says how far its sides are (Tian et al., FCOS: Fully
// Convolutional One-Stage Object Detection, 2019).
type FCOS struct {
	nn.Base
	Backbone nn.Module
	Head     *FCOSHead
	o        Options
	resize   *resizing
	anchors  *AnchorGenerator // one square for each place, in whose size distances are measured
}

// fcosConvs are four convolutions with group norms.
func fcosConvs() *nn.Sequential {
	s := nn.NewSequential()
	for range 4 {
		s.Append(conv3(pyramidChannels, pyramidChannels)).Append(groupNorm(pyramidChannels)).Append(nn.NewReLU())
	}
	return s
}

// NewFCOSResNet50FPN makes torchvision's fcos_resnet50_fpn.
func NewFCOSResNet50FPN(opts ...Options) *FCOS {
	o := optionsOf(opts, Options{ScoreThresh: tensor.Some(0.2), NMSThresh: tensor.Some(0.6)})
	extra := func() ops.ExtraFPNBlock { return ops.NewLastLevelP6P7(pyramidChannels, pyramidChannels) }
	m := &FCOS{Backbone: resNetFPN(o, 2, extra, nil), o: o, resize: newResizing(o, 0), anchors: &AnchorGenerator{}}
	for _, s := range []float64{8, 16, 32, 64, 128} {
		m.anchors.Sizes = append(m.anchors.Sizes, []float64{s})
		m.anchors.AspectRatios = append(m.anchors.AspectRatios, []float64{1})
	}
	m.Head = &FCOSHead{ClassificationHead: newClassificationHead("FCOSClassificationHead", fcosConvs(), 1,
		o.NumClasses)}
	r := &FCOSRegressionHead{Conv: fcosConvs(), BBoxReg: conv3(pyramidChannels, 4), BBoxCtrness: conv3(pyramidChannels, 1)}
	for _, part := range []nn.Module{r.BBoxReg, r.BBoxCtrness, r.Conv} {
		initConvs(part, normal(0.01))
	}
	m.Head.RegressionHead = nn.New(r)
	nn.New(m.Head)
	return nn.New(m)
}

// fcosOutput is what the network computes: of each level, and for N images A places.
type fcosOutput struct {
	b       *batch
	anchors []*Tensor // (A, 4)
	logits  []*Tensor // (N, A, classes)
	codes   []*Tensor // (N, A, 4)
	centres []*Tensor // (N, A, 1), logits of being close to the centre
}

func (m *FCOS) forward(images []*Tensor, targets []Target) (out fcosOutput) {
	out.b = m.resize.batch(images, targets, m.Training())
	features := tensors(levelsOf(m.Backbone, out.b.images))
	r := m.Head.RegressionHead
	for _, f := range features {
		f = r.Conv.Forward(f)
		out.codes = append(out.codes, flat(r.BBoxReg.Forward(f).ReLU(), 4))
		out.centres = append(out.centres, flat(r.BBoxCtrness.Forward(f), 1))
	}
	out.logits = m.Head.ClassificationHead.levels(features, m.o.NumClasses)
	out.anchors = boxesOf(m.anchors, features, out.b)
	return out
}

// Detect finds objects in images (3, H, W) of any sizes.
func (m *FCOS) Detect(images ...*Tensor) []Detections {
	out := m.forward(images, nil)
	var scores []*Tensor
	for l := range out.logits {
		scores = append(scores, out.logits[l].Sigmoid().Mul(out.centres[l].Sigmoid()).Sqrt())
	}
	return candidates(out.b, scores, out.codes, out.anchors, &m.o, linearCoder{}.decode)
}

// assignPlaces gives for each anchor the number of the box that its place belongs to, or -1. A place belongs to a box
// that it lies in, not further from its centre than 1.5 of its own size, and whose longest distance fits the anchor's
// level; of several boxes to the smallest (FCOS, section 3.2; centre sampling: its journal version, 2020).
func assignPlaces(boxes, anchors *Tensor, perLevel []int) *Tensor {
	const radius = 1.5
	if boxes.Size(0) == 0 {
		return torch.Full([]int{anchors.Size(0)}, -1)
	}
	n := anchors.Size(0)
	x, y, size, _ := geometry(anchors)
	column := func(t *Tensor) *Tensor { return t.Unsqueeze(1) }
	g := boxes.Unbind(tensor.UnbindOptions{Dim: 1})
	x, y, size = column(x), column(y), column(size)
	middle := func(a, b *Tensor) *Tensor { return a.Add(b).DivScalar(2) }
	away := x.Sub(middle(g[0], g[2])).Abs().Maximum(y.Sub(middle(g[1], g[3])).Abs())
	fits := away.Lt(size.MulScalar(radius))
	sides := torch.Stack([]*Tensor{x.Sub(g[0]), y.Sub(g[1]), g[2].Sub(x), g[3].Sub(y)})
	least, _ := sides.MinDim(0)
	most, _ := sides.MaxDim(0)
	lower, upper := size.MulScalar(4), size.MulScalar(8)
	first, last := perLevel[0], perLevel[len(perLevel)-1]
	lower.Narrow(0, 0, first).ZeroInPlace()
	upper.Narrow(0, n-last, last).FillScalarInPlace(math.Inf(1))
	fits = fits.LogicalAnd(least.GtScalar(0)).LogicalAnd(most.Gt(lower)).LogicalAnd(most.Lt(upper))
	const huge = 1e8 // larger than any box; smaller boxes get larger numbers
	area := g[2].Sub(g[0]).Mul(g[3].Sub(g[1]))
	best, at := fits.To(area.DType()).Mul(area.RsubScalar(huge)).MaxDim(1)
	return at.MaskedFillScalar(best.LtScalar(1e-5), -1)
}

// Losses gives the losses of a training step by their names in torchvision: classification, bbox_regression and
// bbox_ctrness.
func (m *FCOS) Losses(images []*Tensor, targets []Target) map[string]*Tensor {
	checkTargets(images, targets)
	out := m.forward(images, targets)
	all, dim1 := torch.Cat(out.anchors), torch.CatOptions{Dim: 1}
	logits, codes, centres := torch.Cat(out.logits, dim1), torch.Cat(out.codes, dim1), torch.Cat(out.centres, dim1)
	var classes, moved, close, goals, near []*Tensor
	n := 0
	for i, t := range out.b.targets {
		at := assignPlaces(t.Boxes, all, sizesOf(out.anchors))
		objects := where(at.GeScalar(0))
		n += objects.Size(0)
		of := at.IndexSelect(0, objects)
		anchors, boxes := all.IndexSelect(0, objects), t.Boxes.IndexSelect(0, of)
		classes = append(classes, focal(logits.Select(0, i), objects, t.Labels.Long().IndexSelect(0, of), nil))
		moved = append(moved, linearCoder{}.decode(codes.Select(0, i).IndexSelect(0, objects), anchors))
		goals = append(goals, boxes)
		close = append(close, centres.Select(0, i).IndexSelect(0, objects).SqueezeDim(1))
		near = append(near, centreness(linearCoder{}.encode(boxes, anchors)))
	}
	part := func(sum *Tensor) *Tensor { return sum.DivScalar(max(n, 1)) }
	return map[string]*Tensor{
		"classification": part(torch.Stack(classes).Sum()),
		"bbox_regression": part(ops.GeneralizedBoxIoULoss(torch.Cat(moved), torch.Cat(goals),
			ops.BoxLossOptions{Reduction: F.Sum})),
		"bbox_ctrness": part(F.BinaryCrossEntropyWithLogits(torch.Cat(close), torch.Cat(near),
			F.BinaryCrossEntropyWithLogitsOptions{Reduction: F.Sum})),
	}
}

// centreness is 1 in the middle of a box and 0 on its edge, by the distances to the sides (R, 4): (R).
func centreness(codes *Tensor) *Tensor {
	c := codes.Unbind(tensor.UnbindOptions{Dim: 1})
	ratio := func(a, b *Tensor) *Tensor { return a.Minimum(b).Div(a.Maximum(b)) }
	return ratio(c[0], c[2]).Mul(ratio(c[1], c[3])).Sqrt()
}

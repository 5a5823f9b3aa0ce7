package detection

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// ClassificationHead gives the logits of the classes of each anchor, in RetinaNet and FCOS: four convolutions and one
// to the logits.
type ClassificationHead struct {
	nn.Base
	Conv      *nn.Sequential
	ClsLogits *nn.Conv2d
	name      string
}

// ClassName is the name that the module prints.
func (m *ClassificationHead) ClassName() string { return m.name }

// newClassificationHead makes a head whose logits begin at a probability of 0.01, so that the many anchors on the
// background do not make the first losses large (Lin et al., Focal Loss for Dense Object Detection, 2017, section 3.3).
func newClassificationHead(name string, conv *nn.Sequential, anchors, classes int) *ClassificationHead {
	const prior, std = 0.01, 0.01
	initConvs(conv, normal(std))
	m := &ClassificationHead{Conv: conv, ClsLogits: conv3(pyramidChannels, anchors*classes), name: name}
	nninit.Normal(m.ClsLogits.Weight, 0, std)
	nninit.Constant(m.ClsLogits.Bias, -math.Log((1-prior)/prior))
	return nn.New(m)
}

// levels are the logits (N, anchors, classes) of each level.
func (m *ClassificationHead) levels(features []*Tensor, classes int) (out []*Tensor) {
	for _, f := range features {
		out = append(out, flat(m.ClsLogits.Forward(m.Conv.Forward(f)), classes))
	}
	return out
}

// retinaConvs are the four convolutions of a head.
func retinaConvs(norm ops.NormLayer) *nn.Sequential {
	s := nn.NewSequential()
	for range 4 {
		s.Append(ops.NewConv2dNormActivation(pyramidChannels, pyramidChannels,
			ops.ConvNormActivationOptions{Norm: norm, NoNorm: norm == nil}))
	}
	return s
}

// RetinaNetRegressionHead says how to move each anchor.
type RetinaNetRegressionHead struct {
	nn.Base
	Conv    *nn.Sequential
	BBoxReg *nn.Conv2d `torch:"bbox_reg"`
}

// RetinaNetHead is what RetinaNet computes of each level.
type RetinaNetHead struct {
	nn.Base
	ClassificationHead *ClassificationHead
	RegressionHead     *RetinaNetRegressionHead
}

func newRetinaNetHead(anchors, classes int, norm ops.NormLayer) *RetinaNetHead {
	h := &RetinaNetHead{ClassificationHead: newClassificationHead("RetinaNetClassificationHead", retinaConvs(norm),
		anchors, classes)}
	r := nn.New(&RetinaNetRegressionHead{Conv: retinaConvs(norm), BBoxReg: conv3(pyramidChannels, 4*anchors)})
	initConvs(r.BBoxReg, normal(0.01))
	initConvs(r.Conv, normal(0.01))
	h.RegressionHead = r
	return nn.New(h)
}

// RetinaNet classifies all anchors of a pyramid in one step (Lin et al., Focal Loss for Dense Object Detection, 2017).
type RetinaNet struct {
	nn.Base
	Backbone nn.Module
	Head     *RetinaNetHead
	o        Options
	resize   *resizing
	anchors  *AnchorGenerator
	giou     bool // the loss of boxes is that of their generalized IoU
}

// retinaAnchors are nine anchors for each place: three sizes to an octave, three ratios.
func retinaAnchors() *AnchorGenerator {
	a := &AnchorGenerator{}
	for _, s := range []float64{32, 64, 128, 256, 512} {
		a.Sizes = append(a.Sizes, []float64{s, math.Trunc(s * math.Pow(2, 1.0/3)), math.Trunc(s * math.Pow(2, 2.0/3))})
		a.AspectRatios = append(a.AspectRatios, []float64{0.5, 1, 2})
	}
	return a
}

// groupNorm makes group norms of 32 groups.
func groupNorm(channels int) nn.Layer { return nn.NewGroupNorm(32, channels) }

func newRetinaNet(opts []Options, in int, norm ops.NormLayer, giou bool) *RetinaNet {
	o := optionsOf(opts, Options{PerImage: 300})
	extra := func() ops.ExtraFPNBlock { return ops.NewLastLevelP6P7(in, pyramidChannels) }
	m := &RetinaNet{Backbone: resNetFPN(o, 2, extra, nil), o: o, resize: newResizing(o, 0), anchors: retinaAnchors(),
		giou: giou}
	m.Head = newRetinaNetHead(m.anchors.perLocation(0), o.NumClasses, norm)
	return nn.New(m)
}

// NewRetinaNetResNet50FPN makes torchvision's retinanet_resnet50_fpn.
func NewRetinaNetResNet50FPN(opts ...Options) *RetinaNet {
	return newRetinaNet(opts, pyramidChannels, nil, false)
}

// NewRetinaNetResNet50FPNV2 makes torchvision's retinanet_resnet50_fpn_v2 (Zhang et al., Bridging the Gap Between
// Anchor-based and Anchor-free Detection, 2020): group norms in the heads, and the loss of the generalized IoU.
func NewRetinaNetResNet50FPNV2(opts ...Options) *RetinaNet {
	return newRetinaNet(opts, 2048, groupNorm, true)
}

// forward gives the batch, and of each level the anchors, the logits (N, A, classes) and the codes of boxes (N, A, 4).
func (m *RetinaNet) forward(images []*Tensor, targets []Target) (b *batch, anchors, logits, codes []*Tensor) {
	b = m.resize.batch(images, targets, m.Training())
	features := tensors(levelsOf(m.Backbone, b.images))
	r := m.Head.RegressionHead
	for _, f := range features {
		codes = append(codes, flat(r.BBoxReg.Forward(r.Conv.Forward(f)), 4))
	}
	return b, boxesOf(m.anchors, features, b), m.Head.ClassificationHead.levels(features, m.o.NumClasses), codes
}

// Detect finds objects in images (3, H, W) of any sizes.
func (m *RetinaNet) Detect(images ...*Tensor) []Detections {
	b, anchors, logits, codes := m.forward(images, nil)
	var scores []*Tensor
	for _, l := range logits {
		scores = append(scores, l.Sigmoid())
	}
	return candidates(b, scores, codes, anchors, &m.o, func(codes, anchors *Tensor) *Tensor {
		return rpnCoder.decode(codes, anchors).SqueezeDim(1)
	})
}

// candidates finds objects: the boxes of each level with the best scores (N, A, classes) whose codes (N, A, 4) are
// decoded, and of them those that do not overlap.
func candidates(b *batch, scores, codes, anchors []*Tensor, o *Options,
	decode func(codes, anchors *Tensor) *Tensor) (out []Detections) {
	for i, size := range b.sizes {
		var parts []selection
		for l := range scores {
			all := scores[l].Select(0, i).Flatten()
			at := where(all.GtScalar(o.ScoreThresh.Or(0)))
			top, order := all.IndexSelect(0, at).TopK(min(o.TopKCandidates, at.Size(0)))
			at = at.IndexSelect(0, order)
			anchor := at.FloorDivideScalar(o.NumClasses)
			boxes := decode(codes[l].Select(0, i).IndexSelect(0, anchor), anchors[l].IndexSelect(0, anchor))
			parts = append(parts, selection{ops.ClipBoxesToImage(boxes, size), top, at.RemainderScalar(o.NumClasses)})
		}
		out = append(out, join(parts).best(o).detections())
	}
	return b.restore(out)
}

// focal is the focal loss of logits (A, classes) where anchor at[i] has class labels[i] and the others have none; the
// anchors that are false in valid, where given, do not count.
func focal(logits, at, labels, valid *Tensor) *Tensor {
	goal := logits.Detach().ZerosLike()
	goal = goal.IndexPut([]*Tensor{at, labels}, torch.Ones([]int{1}).To(goal.DType()))
	if valid != nil {
		keep := where(valid)
		logits, goal = logits.IndexSelect(0, keep), goal.IndexSelect(0, keep)
	}
	return ops.SigmoidFocalLoss(logits, goal, ops.FocalLossOptions{Reduction: F.Sum})
}

// Losses gives the losses of a training step by their names in torchvision: classification and bbox_regression.
func (m *RetinaNet) Losses(images []*Tensor, targets []Target) map[string]*Tensor {
	checkTargets(images, targets)
	b, anchors, levelLogits, levelCodes := m.forward(images, targets)
	all, dim1 := torch.Cat(anchors), torch.CatOptions{Dim: 1}
	logits, codes := torch.Cat(levelLogits, dim1), torch.Cat(levelCodes, dim1)
	var classes, boxes []*Tensor
	for i, t := range b.targets {
		var at *Tensor
		tensor.NoGrad(func() { at = match(t.Boxes, all, 0.4, 0.5, true) })
		objects := where(at.GeScalar(0))
		n := float64(max(objects.Size(0), 1))
		of := at.IndexSelect(0, objects)
		valid := at.NeScalar(-2) // anchors that overlap a box a little count neither as object nor as background
		classes = append(classes, focal(logits.Select(0, i), objects, t.Labels.Long().IndexSelect(0, of),
			valid).DivScalar(n))
		boxes = append(boxes, m.boxLoss(codes.Select(0, i).IndexSelect(0, objects), all.IndexSelect(0, objects),
			t.Boxes.IndexSelect(0, of)).DivScalar(n))
	}
	mean := func(l []*Tensor) *Tensor { return torch.Stack(l).Sum().DivScalar(len(l)) }
	return map[string]*Tensor{"classification": mean(classes), "bbox_regression": mean(boxes)}
}

// boxLoss compares codes of boxes with boxes, (R, 4) each.
func (m *RetinaNet) boxLoss(codes, anchors, boxes *Tensor) *Tensor {
	if m.giou {
		return ops.GeneralizedBoxIoULoss(rpnCoder.decode(codes, anchors).SqueezeDim(1), boxes,
			ops.BoxLossOptions{Reduction: F.Sum})
	}
	return F.L1Loss(codes, rpnCoder.encode(boxes, anchors), F.L1LossOptions{Reduction: F.Sum})
}

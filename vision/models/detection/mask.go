package detection

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// MaskRCNNHeads is four convolutions over the features of a region.
type MaskRCNNHeads struct{ nn.Sequential }

func newMaskHeads(norm ops.NormLayer) *MaskRCNNHeads {
	m := nn.New(&MaskRCNNHeads{})
	for range 4 {
		m.Append(ops.NewConv2dNormActivation(256, 256, ops.ConvNormActivationOptions{Norm: norm, NoNorm: norm == nil}))
	}
	initConvs(m, kaiming)
	return m
}

// MaskRCNNPredictor is a mask for each class.
type MaskRCNNPredictor struct{ nn.Sequential }

// NewMaskRCNNPredictor makes a MaskRCNNPredictor of in channels by way of hidden ones, 256 in torchvision. It replaces
// RoIHeads.MaskPredictor where a trained detector shall learn other classes.
func NewMaskRCNNPredictor(in, hidden, numClasses int) *MaskRCNNPredictor {
	m := nn.New(&MaskRCNNPredictor{})
	m.Add("conv5_mask", nn.NewConvTranspose2d(in, hidden, 2, nn.ConvTranspose2dOptions{Stride: nn.Size{2}}))
	m.Add("relu", nn.NewReLU(nn.InplaceOptions{Inplace: true}))
	m.Add("mask_fcn_logits", nn.NewConv2d(hidden, numClasses, 1))
	for _, p := range nn.Parameters(m) {
		if p.Dim() > 1 {
			kaiming(p)
		}
	}
	return m
}

// masks gives each object the mask of its class, 28x28.
func (m *RoIHeads) masks(levels []ops.Feature, boxes []*Tensor, b *batch, out []Detections) {
	f := m.MaskHead.Forward(m.MaskRoIPool.Pool(levels, boxes, b.sizes))
	probs := m.MaskPredictor.Forward(f).Sigmoid()
	for i, p := range probs.SplitSizes(sizesOf(boxes)) {
		at := torch.Arange(p.Size(0))
		out[i].Masks = torch.IndexTensors(p, []*Tensor{at, out[i].Labels}).Unsqueeze(1)
	}
}

// pasteMasks scales each mask (N, 1, M, M) to its box, in an image of a size: (N, 1, H, W).
func pasteMasks(masks, boxes *Tensor, size [2]int) *Tensor {
	n, side := masks.Size(0), masks.Size(-1)
	out := masks.NewZeros([]int{n, 1, size[0], size[1]})
	padded := F.Pad(masks, []int{1, 1, 1, 1})
	scale := float32(side+2) / float32(side)
	b := tensor.Data[float32](tensor.DenseAs(boxes, tensor.Float32))
	for i := range n {
		q := b[4*i:][:4]
		hw, hh := (q[2]-q[0])*0.5*scale, (q[3]-q[1])*0.5*scale
		cx, cy := (q[2]+q[0])*0.5, (q[3]+q[1])*0.5
		x0, y0, x1, y1 := int(cx-hw), int(cy-hh), int(cx+hw), int(cy+hh)
		w, h := max(x1-x0+1, 1), max(y1-y0+1, 1)
		m := F.Interpolate(padded.Narrow(0, i, 1), F.InterpolateOptions{Size: []int{h, w}, Mode: "bilinear",
			AlignCorners: tensor.Some(false)})
		l, t, r, d := max(x0, 0), max(y0, 0), min(x1+1, size[1]), min(y1+1, size[0])
		if l < r && t < d {
			out.Narrow(0, i, 1).Narrow(2, t, d-t).Narrow(3, l,
				r-l).CopyInPlace(m.Narrow(2, t-y0, d-t).Narrow(3, l-x0, r-l))
		}
	}
	return out
}

// maskLoss compares the masks of regions on objects with those of the targets, read with RoIAlign.
func (m *RoIHeads) maskLoss(levels []ops.Feature, objects []assigned, b *batch) *Tensor {
	var boxes, labels, goals []*Tensor
	for _, a := range objects {
		boxes, labels = append(boxes, a.boxes), append(labels, a.labels)
	}
	logits := m.MaskPredictor.Forward(m.MaskHead.Forward(m.MaskRoIPool.Pool(levels, boxes, b.sizes)))
	side := logits.Size(-1)
	for i, a := range objects {
		if a.boxes.Size(0) == 0 {
			continue
		}
		rois := torch.Cat([]*Tensor{a.of.To(a.boxes.DType()).Unsqueeze(1), a.boxes}, torch.CatOptions{Dim: 1})
		masks := b.targets[i].Masks.Unsqueeze(1).To(a.boxes.DType())
		goals = append(goals, ops.RoIAlignFn(masks, rois, nn.Size{side}).Select(1, 0))
	}
	if len(goals) == 0 { // a loss of 0 that has a gradient
		return logits.Sum().MulScalar(0)
	}
	y := torch.Cat(labels)
	own := torch.IndexTensors(logits, []*Tensor{torch.Arange(y.Size(0)), y})
	return F.BinaryCrossEntropyWithLogits(own, torch.Cat(goals))
}

// addMasks gives m the heads of masks.
func addMasks(m *FasterRCNN, head *MaskRCNNHeads, predictor *MaskRCNNPredictor) *FasterRCNN {
	m.kind = "MaskRCNN"
	m.RoIHeads.MaskHead, m.RoIHeads.MaskPredictor = head, predictor
	m.RoIHeads.MaskRoIPool = ops.NewMultiScaleRoIAlign(fpnNames, nn.Size{14}, 2)
	return nn.New(m)
}

// NewMaskRCNNResNet50FPN makes torchvision's maskrcnn_resnet50_fpn.
func NewMaskRCNNResNet50FPN(opts ...Options) *FasterRCNN {
	o := optionsOf(opts)
	b := resNetFPN(o, 1, maxPoolBlock, nil)
	head := newMaskHeads(nil) // torchvision makes the mask's heads before those of the boxes
	predictor := NewMaskRCNNPredictor(pyramidChannels, 256, o.NumClasses)
	return addMasks(newFasterRCNN(b, pyramidChannels, Parts{}, o), head, predictor)
}

// NewMaskRCNNResNet50FPNV2 makes torchvision's maskrcnn_resnet50_fpn_v2.
func NewMaskRCNNResNet50FPNV2(opts ...Options) *FasterRCNN {
	o := optionsOf(opts)
	var head *MaskRCNNHeads
	var predictor *MaskRCNNPredictor
	m := newV2(o, func() {
		head = newMaskHeads(ops.BatchNorm2d(nn.BatchNorm2dOptions{}))
		predictor = NewMaskRCNNPredictor(pyramidChannels, 256, o.NumClasses)
	})
	return addMasks(m, head, predictor)
}

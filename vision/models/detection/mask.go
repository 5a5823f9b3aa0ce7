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

// MaskRCNNHeads is four convolutions over the features of a region.
type MaskRCNNHeads struct{ nn.Sequential }

func newMaskHeads(norm ops.NormLayer) *MaskRCNNHeads {
	m := nn.New(&MaskRCNNHeads{})
	for range 4 {
		m.Append(ops.NewConv2dNormActivation(256, 256, ops.ConvNormActivationOptions{Norm: norm, NoNorm: norm == nil}))
	}
	kaimingConvs(m)
	return m
}

// newMaskPredictor is a mask for each class.
func newMaskPredictor(classes int) *nn.Sequential {
	m := nn.NewSequential().
		Add("conv5_mask", nn.NewConvTranspose2d(256, 256, 2, nn.ConvTranspose2dOptions{Stride: nn.Size{2}})).
		Add("relu", nn.NewReLU(nn.InplaceOptions{Inplace: true})).
		Add("mask_fcn_logits", nn.NewConv2d(256, classes, 1))
	for _, p := range nn.Parameters(m) {
		if p.Dim() > 1 {
			nninit.KaimingNormal(p, nninit.KaimingOptions{Mode: nninit.FanOut, Nonlinearity: "relu"})
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

// NewMaskRCNNResNet50FPN makes torchvision's maskrcnn_resnet50_fpn.
func NewMaskRCNNResNet50FPN(opts ...Options) *FasterRCNN {
	o := optionsOf(opts)
	b := resNetFPN(o, 1, maxPoolBlock, nil)
	head := newMaskHeads(nil) // torchvision makes the mask's heads before those of the boxes
	predictor := newMaskPredictor(o.NumClasses)
	m := newFasterRCNN(b, pyramidAnchors(), 1, twoMLPHead, fpnNames, o)
	m.kind = "MaskRCNN"
	m.RoIHeads.MaskHead, m.RoIHeads.MaskPredictor = head, predictor
	m.RoIHeads.MaskRoIPool = ops.NewMultiScaleRoIAlign(fpnNames, nn.Size{14}, 2)
	return m
}

// KeypointRCNNPredictor is a map of scores for each key point.
type KeypointRCNNPredictor struct {
	nn.Base
	KpsScoreLowres *nn.ConvTranspose2d
}

func newKeypointPredictor(points int) *KeypointRCNNPredictor {
	m := nn.New(&KeypointRCNNPredictor{KpsScoreLowres: nn.NewConvTranspose2d(512, points, 4,
		nn.ConvTranspose2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}})})
	nninit.KaimingNormal(m.KpsScoreLowres.Weight, nninit.KaimingOptions{Mode: nninit.FanOut, Nonlinearity: "relu"})
	nninit.Zeros(m.KpsScoreLowres.Bias)
	return m
}

// Forward maps (K, 512, 14, 14) to (K, points, 56, 56).
func (m *KeypointRCNNPredictor) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.Interpolate(m.KpsScoreLowres.Forward(x),
			F.InterpolateOptions{ScaleFactor: []float64{2}, Mode: "bilinear",
				AlignCorners: tensor.Some(false), RecomputeScaleFactor: tensor.Some(false)})
	})
}

// KeypointRCNNHeads is eight convolutions over the features of a region.
type KeypointRCNNHeads struct{ nn.Sequential }

func newKeypointHeads() *KeypointRCNNHeads {
	m, in := nn.New(&KeypointRCNNHeads{}), 256
	for range 8 {
		m.Append(nn.NewConv2d(in, 512, 3, nn.Conv2dOptions{Padding: nn.Size{1}}))
		m.Append(nn.NewReLU(nn.InplaceOptions{Inplace: true}))
		in = 512
	}
	kaimingConvs(m)
	return m
}

// NewKeypointRCNNResNet50FPN makes torchvision's keypointrcnn_resnet50_fpn: people and their joints.
func NewKeypointRCNNResNet50FPN(opts ...Options) *FasterRCNN {
	if len(opts) == 0 {
		opts = []Options{{}}
	}
	if opts[0].NumClasses == 0 {
		opts[0].NumClasses = 2
	}
	o := optionsOf(opts)
	b := resNetFPN(o, 1, maxPoolBlock, nil)
	heads := newKeypointHeads()
	predictor := newKeypointPredictor(o.NumKeypoints)
	m := newFasterRCNN(b, pyramidAnchors(), 1, twoMLPHead, fpnNames, o)
	m.kind = "KeypointRCNN"
	m.RoIHeads.KeypointHead, m.RoIHeads.KeypointPredictor = heads, predictor
	m.RoIHeads.KeypointRoIPool = ops.NewMultiScaleRoIAlign(fpnNames, nn.Size{14}, 2)
	return m
}

// keypoints gives each object its points: the largest score of each map, scaled to the box.
func (m *RoIHeads) keypoints(levels []ops.Feature, boxes []*Tensor, b *batch, out []Detections) {
	f := m.KeypointHead.Forward(m.KeypointRoIPool.Pool(levels, boxes, b.sizes))
	maps := m.KeypointPredictor.Forward(f)
	for i, p := range maps.SplitSizes(sizesOf(boxes)) {
		n, k := p.Size(0), p.Size(1)
		xy, scores := make([]float32, 0, n*k*3), make([]float32, 0, n*k)
		corners := tensor.Data[float32](tensor.DenseAs(boxes[i], tensor.Float32))
		fy := float32(b.original[i][0]) / float32(b.sizes[i][0])
		fx := float32(b.original[i][1]) / float32(b.sizes[i][1])
		for j := range n {
			q := corners[4*j:][:4]
			w, h := max(q[2]-q[0], 1), max(q[3]-q[1], 1)
			cw, ch := int(math.Ceil(float64(w))), int(math.Ceil(float64(h)))
			up := F.Interpolate(p.Narrow(0, j, 1), F.InterpolateOptions{Size: []int{ch, cw}, Mode: "bicubic",
				AlignCorners: tensor.Some(false)}).Reshape([]int{k, -1})
			top, at := up.MaxDim(1)
			best, index := tensor.Data[float32](top), tensor.Data[int64](at)
			for c := range k {
				x := (float32(int(index[c])%cw)+0.5)*(w/float32(cw)) + q[0]
				y := (float32(int(index[c])/cw)+0.5)*(h/float32(ch)) + q[1]
				xy, scores = append(xy, x*fx, y*fy, 1), append(scores, best[c])
			}
		}
		out[i].Keypoints, out[i].KeypointsScores = tensor.FromSlice(xy, n, k, 3), tensor.FromSlice(scores, n, k)
	}
}

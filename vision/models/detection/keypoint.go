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

// KeypointRCNNPredictor is a map of scores for each key point.
type KeypointRCNNPredictor struct {
	nn.Base
	KpsScoreLowres *nn.ConvTranspose2d
}

// NewKeypointRCNNPredictor makes a KeypointRCNNPredictor of in channels, 512 in torchvision.
func NewKeypointRCNNPredictor(in, points int) *KeypointRCNNPredictor {
	m := nn.New(&KeypointRCNNPredictor{KpsScoreLowres: nn.NewConvTranspose2d(in, points, 4,
		nn.ConvTranspose2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}})})
	kaiming(m.KpsScoreLowres.Weight)
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
	m, in := nn.New(&KeypointRCNNHeads{}), pyramidChannels
	for range 8 {
		m.Append(conv3(in, 512))
		m.Append(nn.NewReLU(nn.InplaceOptions{Inplace: true}))
		in = 512
	}
	initConvs(m, kaiming)
	return m
}

// NewKeypointRCNNResNet50FPN makes torchvision's keypointrcnn_resnet50_fpn: people and their joints.
func NewKeypointRCNNResNet50FPN(opts ...Options) *FasterRCNN {
	o := optionsOf(opts, Options{NumClasses: 2})
	b := resNetFPN(o, 1, maxPoolBlock, nil)
	heads := newKeypointHeads()
	predictor := NewKeypointRCNNPredictor(512, o.NumKeypoints)
	m := newFasterRCNN(b, pyramidChannels, Parts{}, o)
	m.kind = "KeypointRCNN"
	m.RoIHeads.KeypointHead, m.RoIHeads.KeypointPredictor = heads, predictor
	m.RoIHeads.KeypointRoIPool = ops.NewMultiScaleRoIAlign(fpnNames, nn.Size{14}, 2)
	return nn.New(m)
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

// keypointLoss is the cross entropy of the maps of regions on objects: the cell that a point lies in is its class.
func (m *RoIHeads) keypointLoss(levels []ops.Feature, objects []assigned, b *batch) *Tensor {
	var boxes []*Tensor
	for _, a := range objects {
		boxes = append(boxes, a.boxes)
	}
	maps := m.KeypointPredictor.Forward(m.KeypointHead.Forward(m.KeypointRoIPool.Pool(levels, boxes, b.sizes)))
	side := maps.Size(-1)
	var cells, seen []*Tensor
	for i, a := range objects {
		if a.boxes.Size(0) > 0 {
			c, s := cellsOf(b.targets[i].Keypoints.IndexSelect(0, a.of), a.boxes, side)
			cells, seen = append(cells, c.Reshape([]int{-1})), append(seen, s.Reshape([]int{-1}))
		}
	}
	if len(cells) > 0 {
		if at := where(torch.Cat(seen)); at.Size(0) > 0 {
			logits := maps.View([]int{maps.Size(0) * maps.Size(1), side * side})
			return F.CrossEntropy(logits.IndexSelect(0, at), torch.Cat(cells).IndexSelect(0, at))
		}
	}
	return maps.Sum().MulScalar(0) // a loss of 0 that has a gradient
}

// cellsOf gives for key points (R, K, 3) the cell that each lies in when its box (R, 4) is divided into side x side
// cells, row by row, and whether there is one: points outside of the box and points that cannot be seen have none.
// Points on the right or lower edge belong to the last cell.
func cellsOf(points, boxes *Tensor, side int) (cell, seen *Tensor) {
	seen = points.Select(2, 2).GtScalar(0)
	place := func(d int) *Tensor {
		from, to := boxes.Select(1, d).Unsqueeze(1), boxes.Select(1, d+2).Unsqueeze(1)
		x := points.Select(2, d)
		c := x.Sub(from).Mul(to.Sub(from).Reciprocal().MulScalar(side)).Floor().Long()
		c = c.MaskedFillScalar(x.Eq(to), side-1)
		seen = seen.LogicalAnd(c.GeScalar(0)).LogicalAnd(c.LtScalar(side))
		return c
	}
	x, y := place(0), place(1)
	return y.MulScalar(side).Add(x).Mul(seen.Long()), seen
}

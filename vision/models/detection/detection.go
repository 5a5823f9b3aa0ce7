// Package detection holds networks that find objects: PyTorch's torchvision.models.detection. Keys of state dicts and
// first weights after a seed are torchvision's.
//
// A [Detector] maps images of any sizes, (3, H, W) between 0 and 1, to a [Detections] for each. While training,
// FasterRCNN's Losses takes [Target]s as well.
package detection

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
	"github.com/gotorch-dev/torch/vision/ops"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Detections are the objects that were found in an image, the best first.
type Detections struct {
	Boxes           *Tensor // (N, 4) corners in pixels of the image
	Scores          *Tensor // (N)
	Labels          *Tensor // (N), int64
	Masks           *Tensor // (N, 1, H, W) between 0 and 1; Mask R-CNN
	Keypoints       *Tensor // (N, K, 3): x, y, visibility; Keypoint R-CNN
	KeypointsScores *Tensor // (N, K)
}

// Target is what is in an image: boxes (N, 4) and labels (N), from 1 on (0 is the background).
type Target struct{ Boxes, Labels *Tensor }

// Detector finds objects.
type Detector interface {
	nn.Module
	Detect(images ...*Tensor) []Detections
}

// Options are the settings of the networks; the zero value is torchvision's default.
type Options struct {
	NumClasses   int                 // with the background, default 91
	NumKeypoints int                 // Keypoint R-CNN, default 17
	MinSize      int                 // the shorter side of images is scaled to it; default 800
	MaxSize      int                 // the longer side is not larger; default 1333
	ScoreThresh  tensor.Opt[float64] // boxes with lower scores are left out; default 0.05
	NMSThresh    tensor.Opt[float64] // overlap of boxes of one class; default 0.5
	PerImage     int                 // most objects of an image; default 100 (RetinaNet 300)
	// Norm is the backbone's normalisation: ops.NewFrozenBatchNorm2d for published weights; default batch norm.
	Norm ops.NormLayer
}

func optionsOf(opts []Options) (o Options) {
	if len(opts) > 0 {
		o = opts[0]
	}
	for _, d := range []struct {
		to  *int
		def int
	}{{&o.NumClasses, 91}, {&o.NumKeypoints, 17}, {&o.MinSize, 800}, {&o.MaxSize, 1333}, {&o.PerImage, 100}} {
		if *d.to == 0 {
			*d.to = d.def
		}
	}
	return o
}

// batch are images of one size, and what they were.
type batch struct {
	images   *Tensor  // (N, 3, H, W)
	sizes    [][2]int // height and width of each after scaling
	original [][2]int // before
}

var (
	imageMean = tensor.FromSlice([]float32{0.485, 0.456, 0.406}, 3, 1, 1)
	imageStd  = tensor.FromSlice([]float32{0.229, 0.224, 0.225}, 3, 1, 1)
)

// scaled normalises and scales an image so that its shorter side has minSize pixels, or its longer one maxSize.
func scaled(x *Tensor, minSize, maxSize int) *Tensor {
	if x.Dim() != 3 || x.Size(0) != 3 || x.Numel() == 0 || !x.DType().IsFloat() {
		tensor.Fail(tensor.ErrShape, "detection: images are floating-point tensors (3, H, W), got %s%s", x.DType(),
			tensor.ShapeString(x.Shape()))
	}
	x = x.Sub(imageMean.To(x.DType())).Div(imageStd.To(x.DType()))
	h, w := x.Size(1), x.Size(2)
	scale := min(float32(minSize)/float32(min(h, w)), float32(maxSize)/float32(max(h, w)))
	return F.Interpolate(x.Unsqueeze(0), F.InterpolateOptions{ScaleFactor: []float64{float64(scale)}, Mode: "bilinear",
		RecomputeScaleFactor: tensor.Some(true), AlignCorners: tensor.Some(false)}).SqueezeDim(0)
}

// newBatch scales images and pads them to one size, a multiple of 32.
func newBatch(images []*Tensor, o *Options, training bool) *batch {
	if len(images) == 0 {
		tensor.Fail(tensor.ErrValue, "detection: no images")
	}
	b := &batch{}
	h, w := 0, 0
	var list []*Tensor
	for _, x := range images {
		if training { // torchvision draws one of several sizes here, of which there is one
			torch.Empty([]int{1}).UniformInPlace()
		}
		y := scaled(x, o.MinSize, o.MaxSize)
		list = append(list, y)
		b.original = append(b.original, [2]int{x.Size(-2), x.Size(-1)})
		b.sizes = append(b.sizes, [2]int{y.Size(-2), y.Size(-1)})
		h, w = max(h, y.Size(-2)), max(w, y.Size(-1))
	}
	h, w = (h+31)/32*32, (w+31)/32*32
	b.images = list[0].NewZeros([]int{len(list), 3, h, w})
	for i, x := range list {
		b.images.Select(0, i).Narrow(1, 0, x.Size(1)).Narrow(2, 0, x.Size(2)).CopyInPlace(x)
	}
	return b
}

// rescale moves boxes from an image of one size to one of another.
func rescale(boxes *Tensor, from, to [2]int) *Tensor {
	fy, fx := float32(to[0])/float32(from[0]), float32(to[1])/float32(from[1])
	return boxes.Mul(tensor.FromSlice([]float32{fx, fy, fx, fy}).To(boxes.DType()))
}

// AnchorGenerator makes boxes of the given sizes and ratios of height to width at each place of each level.
type AnchorGenerator struct {
	Sizes        [][]float64
	AspectRatios [][]float64
}

// perLocation is the number of boxes at a place of level i.
func (a *AnchorGenerator) perLocation(i int) int { return len(a.Sizes[i]) * len(a.AspectRatios[i]) }

// cell are the boxes of level i at (0, 0).
func (a *AnchorGenerator) cell(i int) *Tensor {
	var out []float32
	for _, r := range a.AspectRatios[i] {
		hr := float32(math.Sqrt(float64(float32(r))))
		wr := 1 / hr
		for _, s := range a.Sizes[i] {
			w, h := wr*float32(s), hr*float32(s)
			for _, v := range []float32{-w / 2, -h / 2, w / 2, h / 2} {
				out = append(out, float32(math.RoundToEven(float64(v))))
			}
		}
	}
	return tensor.FromSlice(out, 1, len(out)/4, 4)
}

// level are the boxes of a level of h x w places in an image of height x width: (h·w·boxes, 4).
func (a *AnchorGenerator) level(i, h, w, height, width int) *Tensor {
	if i >= len(a.Sizes) {
		tensor.Fail(tensor.ErrValue, "detection: anchors of %d levels, but features of more", len(a.Sizes))
	}
	xs := torch.Arange(w).Float().MulScalar(width / w)
	ys := torch.Arange(h).Float().MulScalar(height / h)
	g := torch.MeshgridIndexing([]*Tensor{ys, xs}, "ij")
	y, x := g[0].Reshape([]int{-1}), g[1].Reshape([]int{-1})
	shifts := torch.Stack([]*Tensor{x, y, x, y}, torch.StackOptions{Dim: 1})
	return shifts.Reshape([]int{-1, 1, 4}).Add(a.cell(i)).Reshape([]int{-1, 4})
}

// levels are the boxes of all levels of a batch.
func (a *AnchorGenerator) levels(features []*Tensor, b *batch) (out []*Tensor) {
	for i, f := range features {
		out = append(out, a.level(i, f.Size(-2), f.Size(-1), b.images.Size(-2), b.images.Size(-1)))
	}
	return out
}

// coder writes boxes as differences from others, in units that the weights give.
type coder struct{ x, y, w, h float64 }

// largestLog keeps sizes from growing without bounds.
var largestLog = math.Log(1000.0 / 16)

// geometry is the centre and size of boxes (N, 4).
func geometry(boxes *Tensor) (x, y, w, h *Tensor) {
	c := boxes.Unbind(tensor.UnbindOptions{Dim: -1})
	w, h = c[2].Sub(c[0]), c[3].Sub(c[1])
	return c[0].Add(w.MulScalar(0.5)), c[1].Add(h.MulScalar(0.5)), w, h
}

// encode gives the differences of boxes from others: (N, 4).
func (k coder) encode(boxes, from *Tensor) *Tensor {
	fx, fy, fw, fh := geometry(from)
	x, y, w, h := geometry(boxes)
	return torch.Stack([]*Tensor{x.Sub(fx).Div(fw).MulScalar(k.x), y.Sub(fy).Div(fh).MulScalar(k.y),
		w.Div(fw).Log().MulScalar(k.w), h.Div(fh).Log().MulScalar(k.h)}, torch.StackOptions{Dim: 1})
}

// decode is the reverse: codes (N, 4·K) to boxes (N, K, 4).
func (k coder) decode(codes, from *Tensor) *Tensor {
	n := codes.Size(0)
	c := codes.Reshape([]int{n, codes.Size(1) / 4, 4}).Unbind(tensor.UnbindOptions{Dim: -1})
	x, y, w, h := geometry(from)
	col := func(t *Tensor) *Tensor { return t.Unsqueeze(1) }
	limit := tensor.ClampScalarOptions{Max: largestLog}
	cx, cy := c[0].DivScalar(k.x).Mul(col(w)).Add(col(x)), c[1].DivScalar(k.y).Mul(col(h)).Add(col(y))
	hw := c[2].DivScalar(k.w).ClampScalar(limit).Exp().Mul(col(w)).MulScalar(0.5)
	hh := c[3].DivScalar(k.h).ClampScalar(limit).Exp().Mul(col(h)).MulScalar(0.5)
	return torch.Stack([]*Tensor{cx.Sub(hw), cy.Sub(hh), cx.Add(hw), cy.Add(hh)}, torch.StackOptions{Dim: -1})
}

// where are the indices of what is true, (N).
func where(mask *Tensor) *Tensor { return mask.Nonzero().SqueezeDim(1) }

func head(t *Tensor, n int) *Tensor { return t.Narrow(0, 0, min(n, t.Size(0))) }

// Backbone is a network for features and a pyramid over its stages.
type Backbone struct {
	nn.Base
	Body  *models.IntermediateLayerGetter
	FPN   *ops.FeaturePyramidNetwork `torch:"fpn"`
	names []string
}

// levels are the pyramid's levels.
func (m *Backbone) levels(x *Tensor) []ops.Feature {
	f := m.Body.Features(x)
	var in []ops.Feature
	for _, n := range m.names {
		in = append(in, ops.Feature{Name: n, T: f[n]})
	}
	return m.FPN.Levels(in)
}

// resNetFPN is a pyramid over the stages of a ResNet50 from stage first on.
func resNetFPN(o Options, first int, extra func() ops.ExtraFPNBlock, norm ops.NormLayer) *Backbone {
	body := models.NewResNet50(models.Options{Norm: o.Norm})
	var layers []models.Returned
	var in []int
	b := &Backbone{}
	for i := first; i <= 4; i++ {
		name := string(rune('0' + i - first))
		layers = append(layers, models.Returned{Layer: "layer" + string(rune('0'+i)), As: name})
		b.names, in = append(b.names, name), append(in, 256<<(i-1))
	}
	e := extra()
	b.Body = models.NewIntermediateLayerGetter(body, layers...)
	b.FPN = ops.NewFeaturePyramidNetwork(in, 256, ops.FPNOptions{Extra: e, Norm: norm})
	return nn.New(b)
}

func maxPoolBlock() ops.ExtraFPNBlock { return ops.NewLastLevelMaxPool() }

func tensors(f []ops.Feature) (out []*Tensor) {
	for _, l := range f {
		out = append(out, l.T)
	}
	return out
}

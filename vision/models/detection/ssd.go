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

// SSDScoringHead is a layer for each level, all with the same number of results for an anchor: SSD's and SSDLite's
// heads of classes and of boxes.
type SSDScoringHead struct {
	nn.Base
	ModuleList *nn.ModuleList
	columns    int
	name       string
}

// ClassName is the name that the module prints.
func (m *SSDScoringHead) ClassName() string { return m.name }

// of joins the results of all levels: (N, A, columns).
func (m *SSDScoringHead) of(features []*Tensor) *Tensor {
	var out []*Tensor
	for i, l := range m.ModuleList.All() {
		out = append(out, flat(l.(nn.Layer).Forward(features[i]), m.columns))
	}
	return torch.Cat(out, torch.CatOptions{Dim: 1})
}

// SSDHead is what SSD computes of its levels.
type SSDHead struct {
	nn.Base
	ClassificationHead *SSDScoringHead
	RegressionHead     *SSDScoringHead
	name               string
}

// ClassName is the name that the module prints.
func (m *SSDHead) ClassName() string { return m.name }

// newSSDHead makes both heads over levels of the given channels; layer makes a layer, and draw its first weights.
func newSSDHead(name string, channels []int, g *DefaultBoxGenerator, classes int, layer func(in, out int) nn.Module,
	draw func(*Tensor)) *SSDHead {
	scoring := func(kind string, columns int) *SSDScoringHead {
		m := &SSDScoringHead{ModuleList: nn.NewModuleList(), columns: columns, name: name + kind}
		for i, c := range channels {
			m.ModuleList.Append(layer(c, columns*g.perLocation(i)))
		}
		initConvs(m.ModuleList, draw)
		return nn.New(m)
	}
	m := &SSDHead{ClassificationHead: scoring("ClassificationHead", classes), name: name + "Head"}
	m.RegressionHead = scoring("RegressionHead", 4)
	return nn.New(m)
}

// SSD classifies default boxes of several levels in one step (Liu et al., SSD: Single Shot MultiBox Detector, 2016).
type SSD struct {
	nn.Base
	Backbone Leveled
	Head     *SSDHead
	o        Options
	resize   *resizing
	anchors  *DefaultBoxGenerator
}

// named makes levels of tensors.
func named(ts []*Tensor) (out []ops.Feature) {
	for i, t := range ts {
		out = append(out, ops.Feature{Name: string(rune('0' + i)), T: t})
	}
	return out
}

// SSDFeatureExtractorVGG is a VGG and further, smaller levels.
type SSDFeatureExtractorVGG struct {
	nn.Base
	ScaleWeight *Tensor
	Features    *nn.Sequential
	Extra       *nn.ModuleList
}

// Levels are the levels of features, finest first.
func (m *SSDFeatureExtractorVGG) Levels(x *Tensor) []ops.Feature {
	x = m.Features.Forward(x)
	out := []*Tensor{m.ScaleWeight.View([]int{1, -1, 1, 1}).Mul(F.Normalize(x))}
	for _, l := range m.Extra.All() {
		x = l.(nn.Layer).Forward(x)
		out = append(out, x)
	}
	return named(out)
}

func relu() nn.Layer { return nn.NewReLU(nn.InplaceOptions{Inplace: true}) }

// newVGGExtractor takes the convolutions of a VGG, with dilated ones instead of its linear layers.
func newVGGExtractor(vgg *nn.Sequential) *SSDFeatureExtractorVGG {
	var pools []int
	for i := range vgg.Len() {
		if _, ok := vgg.At(i).(*nn.MaxPool2d); ok {
			pools = append(pools, i)
		}
	}
	vgg.Set(pools[2], nn.NewMaxPool2d(2, nn.MaxPool2dOptions{Stride: nn.Size{2}, CeilMode: true}))
	m := &SSDFeatureExtractorVGG{ScaleWeight: nn.NewParameter(torch.Full([]int{512}, 20.0)), Extra: nn.NewModuleList()}
	part := func(from, to int) *nn.Sequential {
		s := nn.NewSequential()
		for i := from; i < to; i++ {
			s.Append(vgg.At(i))
		}
		return s
	}
	extra := nn.NewModuleList()
	for _, l := range []struct{ in, between, out, stride, padding int }{
		{1024, 256, 512, 2, 1}, {512, 128, 256, 2, 1}, {256, 128, 256, 1, 0}, {256, 128, 256, 1, 0}} {
		extra.Append(nn.NewSequential(nn.NewConv2d(l.in, l.between, 1), relu(), nn.NewConv2d(l.between, l.out, 3,
			nn.Conv2dOptions{Stride: nn.Size{l.stride}, Padding: nn.Size{l.padding}}), relu()))
	}
	initConvs(extra, xavier)
	fc := nn.NewSequential(nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{1}, Padding: nn.Size{1}}),
		nn.NewConv2d(512, 1024, 3, nn.Conv2dOptions{Padding: nn.Size{6}, Dilation: nn.Size{6}}), relu(),
		nn.NewConv2d(1024, 1024, 1), relu())
	initConvs(fc, xavier)
	m.Features = part(0, pools[3])
	m.Extra.Append(part(pools[3], vgg.Len()-1).Append(fc))
	for _, l := range extra.All() {
		m.Extra.Append(l)
	}
	return nn.New(m)
}

// vggStages are the layers at which a VGG's stages begin.
func vggStages(s *nn.Sequential) []int {
	starts := []int{0}
	for i := range s.Len() - 1 {
		if _, ok := s.At(i).(*nn.MaxPool2d); ok {
			starts = append(starts, i)
		}
	}
	return starts
}

// NewSSD300VGG16 makes torchvision's ssd300_vgg16.
func NewSSD300VGG16(opts ...Options) *SSD {
	const size = 300
	o := optionsOf(opts, Options{ImageMean: []float64{0.48235, 0.45882, 0.40784},
		ImageStd: []float64{1.0 / 255, 1.0 / 255, 1.0 / 255}, ScoreThresh: tensor.Some(0.01),
		NMSThresh: tensor.Some(0.45), PerImage: 200, TopKCandidates: 400})
	features := models.NewVGG16().Features
	starts := vggStages(features)
	freeze(features, starts, o.stages(len(starts)))
	m := &SSD{Backbone: newVGGExtractor(features), o: o, resize: newResizing(o, size),
		anchors: &DefaultBoxGenerator{AspectRatios: [][]float64{{2}, {2, 3}, {2, 3}, {2, 3}, {2}, {2}},
			Scales: []float64{0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05}, Steps: []int{8, 16, 32, 64, 100, 300}}}
	m.Head = newSSDHead("SSD", []int{512, 1024, 512, 256, 256, 256}, m.anchors, o.NumClasses,
		func(in, out int) nn.Module { return conv3(in, out) }, xavier)
	return nn.New(m)
}

// forward gives the batch, the default boxes (A, 4), and the logits (N, A, classes) and codes (N, A, 4).
func (m *SSD) forward(images []*Tensor, targets []Target) (b *batch, boxes, logits, codes *Tensor) {
	b = m.resize.batch(images, targets, m.Training())
	features := tensors(m.Backbone.Levels(b.images))
	return b, torch.Cat(boxesOf(m.anchors, features, b)), m.Head.ClassificationHead.of(features),
		m.Head.RegressionHead.of(features)
}

// Detect finds objects in images (3, H, W) of any sizes.
func (m *SSD) Detect(images ...*Tensor) (out []Detections) {
	b, anchors, logits, codes := m.forward(images, nil)
	probs := logits.Softmax(-1)
	for i, size := range b.sizes {
		boxes := ops.ClipBoxesToImage(roiCoder.decode(codes.Select(0, i), anchors).SqueezeDim(1), size)
		var parts []selection
		for label := 1; label < probs.Size(2); label++ {
			score := probs.Select(0, i).Select(1, label)
			at := where(score.GtScalar(m.o.ScoreThresh.Or(0.01)))
			top, order := score.IndexSelect(0, at).TopK(min(m.o.TopKCandidates, at.Size(0)))
			parts = append(parts, selection{boxes.IndexSelect(0, at.IndexSelect(0, order)), top,
				torch.Full([]int{top.Size(0)}, label)})
		}
		out = append(out, join(parts).best(&m.o).detections())
	}
	return b.restore(out)
}

// assignBoxes gives for each default box the number of the box of a target that it overlaps by half, or that overlaps
// none more than it; -1 where there is none.
func assignBoxes(boxes, anchors *Tensor) *Tensor {
	at := match(boxes, anchors, 0.5, 0.5, false)
	if n := boxes.Size(0); n > 0 {
		_, most := ops.BoxIoU(boxes, anchors).MaxDim(1)
		at = at.IndexPut([]*Tensor{most}, torch.Arange(n))
	}
	return at
}

// Losses gives the losses of a training step by their names in torchvision: bbox_regression and classification. Of the
// background only the boxes with the largest losses count, three for each on an object (SSD, section 2.3).
func (m *SSD) Losses(images []*Tensor, targets []Target) map[string]*Tensor {
	const negatives = 3
	checkTargets(images, targets)
	b, anchors, logits, codes := m.forward(images, targets)
	var box, labels []*Tensor
	n := 0
	for i, t := range b.targets {
		var at *Tensor
		tensor.NoGrad(func() { at = assignBoxes(t.Boxes, anchors) })
		objects := where(at.GeScalar(0))
		of := at.IndexSelect(0, objects)
		n += objects.Size(0)
		goal := roiCoder.encode(t.Boxes.IndexSelect(0, of), anchors.IndexSelect(0, objects))
		box = append(box, F.SmoothL1Loss(codes.Select(0, i).IndexSelect(0, objects), goal,
			F.SmoothL1LossOptions{Reduction: F.Sum}))
		label := torch.Zeros([]int{anchors.Size(0)}, torch.ZerosOptions{DType: tensor.Int64})
		labels = append(labels, label.IndexPut([]*Tensor{objects}, t.Labels.Long().IndexSelect(0, of)))
	}
	y := torch.Stack(labels)
	loss := F.CrossEntropy(logits.Reshape([]int{-1, logits.Size(2)}), y.Flatten(),
		F.CrossEntropyOptions{Reduction: F.None}).View(y.Shape())
	object := y.GtScalar(0)
	var hard *Tensor
	tensor.NoGrad(func() {
		dim1 := tensor.SortOptions{Dim: tensor.Some(1)}
		_, order := loss.MaskedFillScalar(object, math.Inf(-1)).Sort(tensor.SortOptions{Dim: tensor.Some(1),
			Descending: true})
		_, rank := order.Sort(dim1)
		most := object.SumDim([]int{1}, tensor.SumDimOptions{KeepDim: true}).MulScalar(negatives)
		hard = rank.Lt(most)
	})
	total := loss.MaskedSelect(object).Sum().Add(loss.MaskedSelect(hard).Sum())
	count := max(n, 1)
	return map[string]*Tensor{"bbox_regression": torch.Stack(box).Sum().DivScalar(count),
		"classification": total.DivScalar(count)}
}

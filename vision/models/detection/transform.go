package detection

import (
	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// resizing is torchvision's GeneralizedRCNNTransform: images are normalised, scaled and padded to one size, and what is
// found in them is moved back.
type resizing struct {
	minSize, maxSize int
	fixed            int // height and width of all images, where not 0
	mean, std        *Tensor
}

func newResizing(o Options, fixed int) *resizing {
	column := func(v []float64) *Tensor { return tensor.FromSlice(v, 3, 1, 1).Float() }
	return &resizing{o.MinSize, o.MaxSize, fixed, column(o.ImageMean), column(o.ImageStd)}
}

// batch are images of one size, and what they were.
type batch struct {
	images   *Tensor  // (N, 3, H, W)
	sizes    [][2]int // height and width of each after scaling
	original [][2]int // before
	targets  []Target // scaled, nil without
}

// interpolation says how an image of height h and width w is scaled.
func (r *resizing) interpolation(h, w int) F.InterpolateOptions {
	if r.fixed > 0 {
		return F.InterpolateOptions{Size: []int{r.fixed, r.fixed}}
	}
	scale := min(float64(r.minSize)/float64(min(h, w)), float64(r.maxSize)/float64(max(h, w)))
	return F.InterpolateOptions{ScaleFactor: []float64{scale}, RecomputeScaleFactor: tensor.Some(true)}
}

// image normalises and scales an image.
func (r *resizing) image(x *Tensor) *Tensor {
	if x == nil || x.Dim() != 3 || x.Size(0) != 3 || x.Numel() == 0 || !x.DType().IsFloat() {
		tensor.Fail(tensor.ErrShape, "detection: images are floating-point tensors (3, H, W), got %s", shapeOf(x))
	}
	o := r.interpolation(x.Size(1), x.Size(2))
	o.Mode, o.AlignCorners = "bilinear", tensor.Some(false)
	x = x.Sub(r.mean.To(x.DType())).Div(r.std.To(x.DType()))
	return F.Interpolate(x.Unsqueeze(0), o).SqueezeDim(0)
}

// target scales what is in an image.
func (r *resizing) target(t Target, from, to [2]int) Target {
	t.Boxes = rescale(t.Boxes, from, to)
	if m := t.Masks; m != nil {
		if m.Dim() != 3 || m.Size(1) != from[0] || m.Size(2) != from[1] {
			tensor.Fail(tensor.ErrShape, "detection: masks %s of an image of %d x %d, want (N, H, W)", shapeOf(m),
				from[0], from[1])
		}
		o := r.interpolation(from[0], from[1])
		o.Mode = "nearest"
		if m.Size(0) == 0 {
			t.Masks = m.NewZeros([]int{0, to[0], to[1]})
		} else {
			t.Masks = F.Interpolate(m.Unsqueeze(1).Float(), o).SqueezeDim(1).Byte()
		}
	}
	if k := t.Keypoints; k != nil {
		if k.Dim() != 3 || k.Size(2) != 3 {
			tensor.Fail(tensor.ErrShape, "detection: key points %s, want (N, K, 3)", shapeOf(k))
		}
		t.Keypoints = k.Mul(ratios(from, to, 1).To(k.DType()))
	}
	return t
}

// batch scales images and pads them to one size, a multiple of 32 unless all have the same size anyway.
func (r *resizing) batch(images []*Tensor, targets []Target, training bool) *batch {
	if len(images) == 0 {
		tensor.Fail(tensor.ErrValue, "detection: no images")
	}
	b := &batch{}
	h, w := 0, 0
	var list []*Tensor
	for i, x := range images {
		if training { // torchvision draws one of several sizes here, of which there is one
			torch.Empty([]int{1}).UniformInPlace()
		}
		y := r.image(x)
		list = append(list, y)
		from, to := [2]int{x.Size(-2), x.Size(-1)}, [2]int{y.Size(-2), y.Size(-1)}
		b.original, b.sizes = append(b.original, from), append(b.sizes, to)
		h, w = max(h, to[0]), max(w, to[1])
		if targets != nil {
			b.targets = append(b.targets, r.target(targets[i], from, to))
		}
	}
	if r.fixed == 0 {
		h, w = (h+31)/32*32, (w+31)/32*32
	}
	b.images = list[0].NewZeros([]int{len(list), 3, h, w})
	for i, x := range list {
		b.images.Select(0, i).Narrow(1, 0, x.Size(1)).Narrow(2, 0, x.Size(2)).CopyInPlace(x)
	}
	return b
}

// ratios are the factors on x and y from an image of one size to one of another, and further numbers.
func ratios(from, to [2]int, more ...float32) *Tensor {
	f := append([]float32{float32(to[1]) / float32(from[1]), float32(to[0]) / float32(from[0])}, more...)
	return tensor.FromSlice(f)
}

// rescale moves boxes from an image of one size to one of another.
func rescale(boxes *Tensor, from, to [2]int) *Tensor {
	return boxes.Mul(ratios(from, to).Repeat([]int{2}).To(boxes.DType()))
}

// restore moves the boxes that were found back to the original images.
func (b *batch) restore(found []Detections) []Detections {
	for i := range found {
		found[i].Boxes = rescale(found[i].Boxes, b.sizes[i], b.original[i])
	}
	return found
}

// selection are boxes, scores and labels that are picked together.
type selection struct{ boxes, scores, labels *Tensor }

func (s selection) pick(at *Tensor) selection {
	return selection{s.boxes.IndexSelect(0, at), s.scores.IndexSelect(0, at), s.labels.IndexSelect(0, at)}
}

// join puts selections behind each other.
func join(parts []selection) selection {
	var b, s, l []*Tensor
	for _, p := range parts {
		b, s, l = append(b, p.boxes), append(s, p.scores), append(l, p.labels)
	}
	return selection{torch.Cat(b), torch.Cat(s), torch.Cat(l)}
}

// best keeps the boxes that do not overlap better ones of their class, the best of them.
func (s selection) best(o *Options) selection {
	return s.pick(head(ops.BatchedNMS(s.boxes, s.scores, s.labels, o.NMSThresh.Or(0.5)), o.PerImage))
}

func (s selection) detections() Detections {
	return Detections{Boxes: s.boxes, Scores: s.scores, Labels: s.labels}
}

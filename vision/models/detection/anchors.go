package detection

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

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

// DefaultBoxGenerator makes the default boxes of SSD (Liu et al., 2016, section 2.2): two squares at each place of a
// level and, for each of its ratios, a box in each orientation.
type DefaultBoxGenerator struct {
	AspectRatios [][]float64 // of each level
	Scales       []float64   // side of a box by that of the image: of each level and of one more
	Steps        []int       // pixels of the image between places of each level; nil: as many as the level has
}

// ssdScales are n scales at equal distances and 1.
func ssdScales(n int, least, most float64) []float64 {
	s := make([]float64, 0, n+1)
	for k := range n {
		s = append(s, least+(most-least)*float64(k)/float64(n-1))
	}
	return append(s, 1)
}

// perLocation is the number of boxes at a place of level i.
func (g *DefaultBoxGenerator) perLocation(i int) int { return 2 + 2*len(g.AspectRatios[i]) }

// sides are the widths and heights of the boxes of level i as shares of the image: (boxes, 2).
func (g *DefaultBoxGenerator) sides(i int) *Tensor {
	s, between := g.Scales[i], math.Sqrt(g.Scales[i]*g.Scales[i+1])
	wh := []float64{s, s, between, between}
	for _, r := range g.AspectRatios[i] {
		w, h := s*math.Sqrt(r), s/math.Sqrt(r)
		wh = append(wh, w, h, h, w)
	}
	return tensor.FromSlice(wh, len(wh)/2, 2).Float().ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 1})
}

// level are the boxes of a level of h x w places in an image of height x width: (h·w·boxes, 4).
func (g *DefaultBoxGenerator) level(i, h, w, height, width int) *Tensor {
	ny, nx := float64(h), float64(w)
	if g.Steps != nil {
		ny, nx = float64(height)/float64(g.Steps[i]), float64(width)/float64(g.Steps[i])
	}
	places := func(n int, of float64) *Tensor { return torch.Arange(n).AddScalar(0.5).DivScalar(of) }
	m := torch.MeshgridIndexing([]*Tensor{places(h, ny), places(w, nx)}, "ij")
	sides := g.sides(i)
	k := sides.Size(0)
	centres := torch.Stack([]*Tensor{m[1].Reshape([]int{-1}), m[0].Reshape([]int{-1})}, torch.StackOptions{Dim: 1}).
		RepeatInterleave(k, tensor.RepeatInterleaveOptions{Dim: tensor.Some(0)})
	half := sides.Repeat([]int{h * w, 1}).MulScalar(0.5)
	box := torch.Cat([]*Tensor{centres.Sub(half), centres.Add(half)}, torch.CatOptions{Dim: 1})
	size := []float32{float32(width), float32(height), float32(width), float32(height)}
	return box.Mul(tensor.FromSlice(size))
}

// boxesOf are the boxes of all levels of a batch.
func boxesOf(g interface {
	level(i, h, w, height, width int) *Tensor
}, features []*Tensor, b *batch) (out []*Tensor) {
	for i, f := range features {
		out = append(out, g.level(i, f.Size(-2), f.Size(-1), b.images.Size(-2), b.images.Size(-1)))
	}
	return out
}

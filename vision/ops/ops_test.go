package ops

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Boxes that are converted to another format and back are the same.
func TestBoxConvert(t *testing.T) {
	boxes := torch.FromSlice([]float32{1, 2, 5, 9, 0, 0, 3, 1}, 2, 4)
	for _, f := range []BoxFormat{XYXY, XYWH, CXCYWH} {
		back := BoxConvert(BoxConvert(boxes, XYXY, f), f, XYXY)
		if d := back.Sub(boxes).Abs().Max().Item(); d > 1e-6 {
			t.Errorf("%s: differs by %v", f, d)
		}
	}
	turned := torch.FromSlice([]float64{5, 6, 4, 2, 30}, 1, 5)
	for _, f := range []BoxFormat{XYWHR, XYXYXYXY} {
		back := BoxConvert(BoxConvert(turned, CXCYWHR, f), f, CXCYWHR)
		if d := back.Sub(turned).Abs().Max().Item(); d > 1e-6 {
			t.Errorf("%s: differs by %v: %v", f, d, back)
		}
	}
}

// Many boxes of several categories are suppressed category by category, few by moving them apart: the same boxes stay.
func TestBatchedNMS(t *testing.T) {
	torch.ManualSeed(0)
	for _, n := range []int{40, 1500} {
		at := torch.Rand([]int{n, 2}).MulScalar(50)
		boxes := torch.Cat([]*tensor.Tensor{at, at.Add(torch.Rand([]int{n, 2}).MulScalar(20).AddScalar(1))},
			torch.CatOptions{Dim: 1})
		scores, category := torch.Rand([]int{n}), torch.Randint(3, []int{n})
		a := BatchedNMS(boxes, scores, category, 0.4)
		b := nmsByCategory(boxes, scores, category, 0.4)
		if !a.Equal(b) {
			t.Errorf("%d boxes: %d stay, by category %d", n, a.Numel(), b.Numel())
		}
		if a.Numel() == 0 || a.Numel() == n {
			t.Errorf("%d of %d boxes stay", a.Numel(), n)
		}
	}
}

// A deformable convolution without offsets is a convolution.
func TestDeformConv(t *testing.T) {
	torch.ManualSeed(1)
	m := NewDeformConv2d(4, 6, nn.Size{3},
		nn.Conv2dOptions{Padding: nn.Size{1}, Stride: nn.Size{2}, Groups: tensor.Some(2)})
	c := nn.NewConv2d(4, 6, 3, nn.Conv2dOptions{Padding: nn.Size{1}, Stride: nn.Size{2}, Groups: tensor.Some(2)})
	tensor.NoGrad(func() { c.Weight.CopyInPlace(m.Weight); c.Bias.CopyInPlace(m.Bias) })
	x := torch.Randn([]int{2, 4, 7, 8})
	want := c.Forward(x)
	got := m.Forward(x, torch.Zeros([]int{2, 18, want.Size(2), want.Size(3)}), nil)
	if d := got.Sub(want).Abs().Max().Item(); d > 1e-5 {
		t.Errorf("differs by %v", d)
	}
}

// DropBlock drops about the share that it is asked for, and nothing in evaluation.
func TestDropBlock(t *testing.T) {
	torch.ManualSeed(2)
	x := torch.Ones([]int{8, 4, 32, 32})
	m := NewDropBlock2d(0.2, 3)
	if share := m.Forward(x).EqScalar(0).Float().Mean().Item(); math.Abs(share-0.2) > 0.05 {
		t.Errorf("dropped %v", share)
	}
	nn.Eval(m)
	if y := m.Forward(x); !y.Equal(x) {
		t.Error("dropped in evaluation")
	}
}

// Arguments that do not fit are refused by an error, whatever they are.
func TestRefused(t *testing.T) {
	image, nan := torch.Zeros([]int{1, 4, 5, 5}), float32(math.NaN())
	inf := float32(math.Inf(1))
	for name, f := range map[string]func(){
		"format":          func() { BoxConvert(torch.Zeros([]int{1, 4}), "xyzw", XYXY) },
		"boxes":           func() { BoxArea(torch.Zeros([]int{3})) },
		"nms scores":      func() { NMS(torch.Zeros([]int{2, 4}), torch.Zeros([]int{3}), 0.5) },
		"nms dtype":       func() { NMS(torch.Zeros([]int{2, 4}).Long(), torch.Zeros([]int{2}).Long(), 0.5) },
		"image of region": func() { RoIAlignFn(image, torch.FromSlice([]float32{7, 0, 0, 1, 1}, 1, 5), nn.Size{2}) },
		"NaN image":       func() { RoIAlignFn(image, torch.FromSlice([]float32{nan, 0, 0, 1, 1}, 1, 5), nn.Size{2}) },
		"cells":           func() { RoIPoolFn(image, torch.Zeros([]int{1, 5}), nn.Size{0}) },
		"ps channels":     func() { PSRoIPoolFn(image, torch.Zeros([]int{1, 5}), nn.Size{3}) },
		"points in a cell": func() {
			RoIAlignFn(image, torch.Zeros([]int{1, 5}), nn.Size{2}, RoIOptions{SamplingRatio: 1 << 30})
		},
		"offset": func() {
			DeformConv2dFn(image, torch.Zeros([]int{1, 3, 5, 5}),
				torch.Zeros([]int{2, 4, 3, 3}))
		},
		"probability": func() { StochasticDepthFn(image, 2, RowMode, true) },
		"mode":        func() { StochasticDepthFn(image, 0.5, "column", true) },
		"empty mask":  func() { MasksToBoxes(torch.Zeros([]int{1, 2, 2})) },
	} {
		if tensor.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// regions that are not finite or far too large end at once, without an error
	for _, box := range [][]float32{{0, nan, 0, 1, 1}, {0, 0, 0, inf, 1}, {0, -inf, -inf, inf, inf},
		{0, 0, 0, 1e30, 1e30}} {
		rois := torch.FromSlice(box, 1, 5)
		RoIAlignFn(image, rois, nn.Size{2})
		RoIPoolFn(image, rois, nn.Size{2})
		PSRoIAlignFn(image, rois, nn.Size{2})
		PSRoIPoolFn(image, rois, nn.Size{2})
	}
}

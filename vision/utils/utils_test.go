package utils

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

func grey(c, h, w int) *tensor.Tensor { return torch.Full([]int{c, h, w}, 100).Byte() }

func text(t *tensor.Tensor) string { return fmt.Sprint(t.ToList()) }

// TestDrawn compares with what torchvision draws.
func TestDrawn(t *testing.T) {
	masks := torch.Zeros([]int{2, 6, 8}).Bool()
	masks.Select(0, 0).Narrow(0, 1, 3).Narrow(1, 1, 4).FillScalarInPlace(true)
	masks.Select(0, 1).Narrow(0, 2, 3).Narrow(1, 3, 4).FillScalarInPlace(true)
	box := tensor.FromSlice([]float32{1, 1, 5, 4}, 1, 4)
	x := torch.Arange(12).Float().Reshape([]int{3, 4})
	flow := torch.Stack([]*tensor.Tensor{x.SubScalar(5), x.Flip([]int{0})})
	red := DrawOptions{Colors: []string{"red"}}
	wide, filled, point := red, red, red
	wide.Width, filled.Fill, point.Radius = 2, true, tensor.Some(3)
	for name, tc := range map[string]struct {
		got  *tensor.Tensor
		want string
	}{
		"masks": {DrawSegmentationMasks(grey(3, 6, 8), masks).Select(1, 2),
			"[[100 20 20 20 20 20 20 100] [100 20 20 20 20 121 121 100] [100 20 20 20 20 44 44 100]]"},
		"masks with colors": {DrawSegmentationMasks(grey(3, 6, 8), masks,
			DrawOptions{Colors: []string{"red", "#0000ff"},
				Alpha: tensor.Some(0.5)}).Select(1, 2),
			"[[100 177 177 50 50 50 50 100] [100 50 50 50 50 50 50 100] [100 50 50 50 50 177 177 100]]"},
		"box": {DrawBoundingBoxes(grey(3, 6, 8), box, wide).Select(0, 0).Select(0, 2),
			"[100 255 255 255 255 255 100 100]"},
		"filled box": {DrawBoundingBoxes(grey(3, 6, 8), box, filled).Select(0, 0).Select(0, 2),
			"[100 255 161 161 161 255 100 100]"},
		"grey box": {DrawBoundingBoxes(grey(1, 6, 8), box).Select(1, 1),
			"[[100 0 0 0 0 0 100 100] [100 0 0 0 0 0 100 100] [100 0 0 0 0 0 100 100]]"},
		"point": {DrawKeypoints(grey(3, 11, 11), tensor.FromSlice([]float32{5, 5}, 1, 1, 2), point).Select(0,
			0).Select(0, 3),
			"[100 100 100 255 255 255 255 255 100 100 100]"},
		"flow": {FlowToImage(flow).Flatten(),
			"[136 176 215 253 245 255 255 255 255 255 255 255 255 255 255 255 255 243 227 " +
				"211 186 174 158 142 39 30 16 0 160 140 116 88 186 160 132 101]"},
		"grid": {MakeGrid(x.Reshape([]int{3, 1, 2, 2}),
			GridOptions{NRow: 2, Padding: tensor.Some(1), PadValue: 9}).Select(0, 0),
			"[[9 9 9 9 9 9 9] [9 0 1 9 4 5 9] [9 2 3 9 6 7 9] [9 9 9 9 9 9 9] [9 8 9 9 9 9 9] [9 10 11 9 9 9 9] [9 9 " +
				"9 9 9 9 9]]"},
	} {
		if got := text(tc.got); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, f := range map[string]func(){
		"dtype": func() { DrawBoundingBoxes(torch.Zeros([]int{3, 4, 4}), torch.Zeros([]int{1, 4})) },
		"box":   func() { DrawBoundingBoxes(grey(3, 4, 4), tensor.FromSlice([]float32{3, 3, 1, 1}, 1, 4)) },
		"color": func() {
			DrawBoundingBoxes(grey(3, 4, 4), torch.Zeros([]int{1, 4}), DrawOptions{Colors: []string{"no such color"}})
		},
		"masks": func() { DrawSegmentationMasks(grey(3, 4, 4), torch.Zeros([]int{1, 3, 3}).Bool()) },
		"flow":  func() { FlowToImage(torch.Zeros([]int{3, 4, 4})) },
	} {
		if tensor.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func ExampleSaveImage() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	batch := torch.Zeros([]int{10, 1, 28, 28})
	path := filepath.Join(dir, "digits.png")
	fmt.Println(SaveImage(batch, path, GridOptions{NRow: 5}), MakeGrid(batch, GridOptions{NRow: 5}).Shape())
	// Output: <nil> [3 62 152]
}

// A label stands inside of its box, in the colours that are asked for.
func TestLabels(t *testing.T) {
	image := torch.Zeros([]int{3, 40, 60}).Byte()
	boxes := tensor.FromSlice([]float32{5, 5, 50, 35, 10, 20, 58, 38}, 2, 4)
	plain := DrawBoundingBoxes(image, boxes, DrawOptions{Colors: []string{"red"}})
	out := DrawBoundingBoxes(image, boxes, DrawOptions{Colors: []string{"red"}, Labels: []string{"cat", "a long label"},
		LabelColors: []string{"#00ff00"}, LabelBackgrounds: []string{"blue"}, FontSize: 12})
	count := func(x *tensor.Tensor, band int) float64 { return x.Select(0, band).GtScalar(128).Sum().Item() }
	if r := count(out, 0); r == 0 || r > count(plain, 0) {
		t.Errorf("%v red pixels, without labels %v", r, count(plain, 0))
	}
	if g, b := count(out, 1), count(out, 2); g < 20 || b < 100 {
		t.Errorf("%v green pixels of text, %v blue ones behind it", g, b)
	}
	if c := out.Select(1, 30).Select(1, 2).Sum().Item(); c != 0 {
		t.Errorf("a pixel outside of the boxes has changed: %v", c)
	}
	for name, o := range map[string]DrawOptions{"too few labels": {Labels: []string{"one"}},
		"a huge font": {Labels: []string{"a", "b"}, FontSize: 1e9}, "no colour": {Labels: []string{"a", "b"},
			LabelColors: []string{"no such colour"}}} {
		if tensor.Try(func() { DrawBoundingBoxes(image, boxes, o) }) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A radius of zero is one pixel, not the default; a huge one ends at the edges.
func TestRadius(t *testing.T) {
	for radius, want := range map[int]int{0: 1, 1 << 40: 7 * 5} {
		y := DrawKeypoints(torch.Zeros([]int{3, 7, 5}).Byte(), torch.FromSlice([]float32{2, 3}, 1, 1, 2),
			DrawOptions{Colors: []string{"#ff0000"}, Radius: tensor.Some(radius)})
		if n := int(y.Select(0, 0).NeScalar(0).Sum().Item()); n != want {
			t.Errorf("radius %d draws %d pixels, want %d", radius, n, want)
		}
	}
}

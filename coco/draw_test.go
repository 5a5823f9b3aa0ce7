package coco

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/coco/mask"
)

func canvas(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = 200
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}

func TestDraw(t *testing.T) {
	red := func(int, *Annotation) color.Color { return color.RGBA{255, 0, 0, 255} }
	rle, _ := mask.FromBoxes([][4]float64{{60, 60, 10, 10}}, 100, 120)
	anns := []*Annotation{
		{ID: 1, CategoryID: 1, Segmentation: &Segmentation{Polygons: [][]float64{{10, 10, 50, 10, 50, 50, 10, 50}}}},
		{ID: 2, Segmentation: &Segmentation{RLE: &rle[0]}},
		{ID: 3, Bbox: []float64{80, 20, 20, 40}},
		{ID: 4, CategoryID: 1, Keypoints: []float64{20, 80, 2, 40, 80, 1, 50, 95, 0}},
	}
	cats := []*Category{{ID: 1, Skeleton: [][2]int{{1, 2}, {2, 3}, {1, 9}}}}
	src := canvas(120, 100)
	out, err := Draw(src, anns, DrawOptions{Categories: cats, Color: red})
	if err != nil {
		t.Fatal(err)
	}
	ground := color.RGBA{200, 200, 200, 255}
	for _, c := range []struct {
		name string
		x, y int
		want color.RGBA
	}{
		{"ground", 110, 90, ground},
		{"inside the polygon", 30, 30, color.RGBA{222, 120, 120, 255}},
		{"edge of the polygon", 30, 10, color.RGBA{255, 30, 30, 255}},
		{"mask", 65, 65, color.RGBA{228, 100, 100, 255}},
		{"beside the mask", 72, 65, ground},
		{"inside the box", 90, 40, ground},
		{"left edge of the box", 80, 40, color.RGBA{255, 0, 0, 255}},
		{"limb", 30, 80, color.RGBA{255, 0, 0, 255}},
		{"absent keypoint", 50, 95, ground},
	} {
		got := out.RGBAAt(c.x, c.y)
		near := func(a, b uint8) bool { return math.Abs(float64(a)-float64(b)) <= 50 }
		if c.want == ground && got != ground || !near(got.R, c.want.R) || !near(got.G, c.want.G) ||
			!near(got.B, c.want.B) {
			t.Errorf("%s: %v, want about %v", c.name, got, c.want)
		}
	}
	if src.RGBAAt(30, 30) != ground {
		t.Error("the source was changed")
	}
	// Everything off leaves the image as it is.
	out, err = Draw(src, anns, DrawOptions{NoBoxes: true, NoMasks: true, NoKeypoints: true, NoNames: true})
	if err != nil || !reflect.DeepEqual(out.Pix, src.Pix) {
		t.Errorf("nothing to draw, but something drawn (%v)", err)
	}
}

func TestDrawText(t *testing.T) {
	c := open(t, small)
	a := &Annotation{CategoryID: 2, Bbox: []float64{100, 100, 80, 40}, Score: .5}
	plain, _ := c.ShowAnns(canvas(300, 200), []*Annotation{a}, DrawOptions{NoNames: true})
	named, err := c.ShowAnns(canvas(300, 200), []*Annotation{a}, DrawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if changed(plain, named, image.Rect(100, 80, 180, 100)) == 0 {
		t.Error("no name above the box")
	}
	caption := &Annotation{Caption: strings.Repeat("many words ", 20)}
	out, err := c.ShowAnns(canvas(300, 200), []*Annotation{caption}, DrawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if changed(canvas(300, 200), out, image.Rect(0, 150, 300, 200)) < 300*40 {
		t.Error("no caption at the bottom")
	}
}

func changed(a, b *image.RGBA, r image.Rectangle) int {
	n := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				n++
			}
		}
	}
	return n
}

// What lies outside, is huge or is no number costs neither time nor a panic.
func TestDrawHostile(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	anns := []*Annotation{
		{ID: 1, Bbox: []float64{-1e300, -1e300, 1e301, 1e301}, Score: 1},
		{ID: 2, Bbox: []float64{nan, 1, 2, 3}, Score: 1},
		{ID: 3, Bbox: []float64{inf, -inf, inf, 3}, Score: 1},
		{ID: 4, Keypoints: []float64{nan, inf, 2, 1e18, -1e18, 1, 5, 5, 2}, Score: 1},
		{ID: 5, Segmentation: &Segmentation{Polygons: [][]float64{{-1e8, -1e8, 1e8, 0, 0, 1e8}}}, Score: 1},
		{ID: 6, Caption: strings.Repeat("x", 10000)},
	}
	cats := []*Category{{ID: 0, Name: strings.Repeat("long ", 1000), Skeleton: [][2]int{{1, 2}, {-3, 2}, {2, 3}}}}
	for _, size := range [][2]int{{100, 80}, {1, 1}, {0, 0}, {3, 200}} {
		start := time.Now()
		if _, err := Draw(canvas(size[0], size[1]), anns, DrawOptions{Categories: cats}); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%v took %v", size, d)
		}
	}
	rle, _ := mask.FromCounts(5, 5, []int{25})
	for _, c := range []struct {
		a    *Annotation
		want string
	}{
		{&Annotation{ID: 7, Segmentation: &Segmentation{RLE: &rle}},
			"annotation 7.segmentation: the mask is 5 x 5, the image 4 x 4"},
		{&Annotation{ID: 8, Segmentation: &Segmentation{Polygons: [][]float64{{1, 2, 3}}}},
			"annotation 8.segmentation"},
		{&Annotation{ID: 9, Bbox: []float64{1}}, "annotation 9.bbox: want 4 numbers, got 1"},
		{nil, "annotation 0 of the list is nil"},
	} {
		if _, err := Draw(canvas(4, 4), []*Annotation{c.a}, DrawOptions{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestDatasets(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.png", "c.png"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, canvas(8, 6)); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	file := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	d, err := NewCocoDetection(dir, file("d.json", small))
	if err != nil {
		t.Fatal(err)
	}
	if d.Len() != 3 {
		t.Fatalf("%d images", d.Len())
	}
	item, err := d.Get(0)
	if err != nil {
		t.Fatal(err)
	}
	if item.Info.ID != 10 || item.Image.Bounds().Dx() != 8 || len(item.Anns) != 2 || item.Anns[0].ID != 5 {
		t.Errorf("item 0: %+v", item)
	}
	if _, err := d.Get(1); err == nil || !strings.Contains(err.Error(), "image 20 has no file_name") {
		t.Errorf("item 1: %v", err)
	}
	for _, i := range []int{-1, 3} {
		if _, err := d.Get(i); err == nil {
			t.Errorf("item %d: no error", i)
		}
	}
	c, err := NewCocoCaptions(dir, file("c.json", `{"images": [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "../a.png"}],
		"annotations": [{"id": 1, "image_id": 1, "caption": "one"}, {"id": 2, "image_id": 1, "caption": "two"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(0); err != nil || !reflect.DeepEqual(got.Captions, []string{"one", "two"}) || c.Len() != 2 {
		t.Errorf("captions %v, %v", got.Captions, err)
	}
	if _, err := c.Get(1); err == nil || !strings.Contains(err.Error(), "leads out of the folder") {
		t.Errorf("file name with ..: %v", err)
	}
}

package detection_test

import (
	"fmt"
	"image"
	"image/color"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/coco"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/vision/ops"
)

// check stops on an error that nobody expects.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) *coco.COCO {
	t.Helper()
	c, err := coco.Open(shared.Path(t, "data/coco/instances_val2014_100.json"))
	check(t, err)
	return c
}

// A mask as run lengths: columns first, zeros first.
func Example_runLengths() {
	r, err := coco.EncodeMask([][]uint8{
		{0, 1, 1},
		{0, 1, 0},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.H, r.W, r.CountsString(), r.Area(), r.ToBbox())
	rows, _ := coco.DecodeMask(r)
	fmt.Println(rows)
	// Output:
	// 2 3 231 3 [1 0 2 2]
	// [[0 1 1] [0 1 0]]
}

// Ids of categories, images and annotations, by what they have in common.
func TestFind(t *testing.T) {
	c := open(t)
	yes := true
	cats := c.CatIDs(coco.Filter{CatNames: []string{"person", "dog"}})
	if fmt.Sprint(cats) != "[1 18]" {
		t.Errorf("person and dog: %v", cats)
	}
	for what, n := range map[string][2]int{
		"images":             {len(c.ImgIDs(coco.Filter{})), 100},
		"annotations":        {len(c.AnnIDs(coco.Filter{})), 839},
		"categories":         {len(c.CatIDs(coco.Filter{})), 80},
		"person annotations": {len(c.AnnIDs(coco.Filter{CatIDs: []int64{1}})), 256},
		"images of persons":  {len(c.ImgIDs(coco.Filter{CatIDs: []int64{1}})), 55},
		"images of both":     {len(c.ImgIDs(coco.Filter{CatIDs: cats})), 1},
		"crowds":             {len(c.AnnIDs(coco.Filter{IsCrowd: &yes})), 9},
	} {
		if n[0] != n[1] {
			t.Errorf("%d %s, want %d", n[0], what, n[1])
		}
	}
}

// An annotation's mask is as large as its image, and about as large in area as the file says.
func TestMaskOfAnnotation(t *testing.T) {
	c := open(t)
	no := false
	anns, err := c.LoadAnns(c.AnnIDs(coco.Filter{CatIDs: []int64{18}, IsCrowd: &no})...)
	check(t, err)
	m, err := c.AnnToMask(anns[0])
	check(t, err)
	imgs, err := c.LoadImgs(anns[0].ImageID)
	check(t, err)
	if m.H != imgs[0].Height || m.W != imgs[0].Width {
		t.Errorf("mask %d×%d, image %d×%d", m.H, m.W, imgs[0].Height, imgs[0].Width)
	}
	r, err := c.AnnToRLE(anns[0])
	check(t, err)
	if a := float64(r.Area()); a < 0.95*anns[0].Area || a > 1.05*anns[0].Area {
		t.Errorf("area %g, the file says %g", a, anns[0].Area)
	}
}

// The pixels of a polygon and of a crowd's run lengths.
func TestPixelsOfMasks(t *testing.T) {
	c := open(t)
	for id, want := range map[int64]int{1817255: 53487, 905500000715: 38731} {
		anns, err := c.LoadAnns(id)
		check(t, err)
		m, err := c.AnnToMask(anns[0])
		check(t, err)
		ones := 0
		for _, b := range m.Pix {
			ones += int(b)
		}
		if ones != want {
			t.Errorf("annotation %d has %d pixels, want %d", id, ones, want)
		}
	}
}

// Which annotations belong to an image, and which images show a category.
func TestAssociations(t *testing.T) {
	c := open(t)
	if n := len(c.AnnIDs(coco.Filter{ImgIDs: []int64{42}})); n != 1 {
		t.Errorf("image 42 has %d annotations", n)
	}
	persons, err := c.LoadAnns(c.AnnIDs(coco.Filter{CatIDs: []int64{1}})...)
	check(t, err)
	images := map[int64]bool{}
	for _, a := range persons {
		images[a.ImageID] = true
	}
	if len(persons) != 256 || len(images) != 55 {
		t.Errorf("%d persons in %d images", len(persons), len(images))
	}
}

// Annotations drawn over an image: all pixels of the object are painted, and beside it only those of
// its outline.
func TestDrawAnnotations(t *testing.T) {
	c := open(t)
	anns, err := c.LoadAnns(1817255)
	check(t, err)
	m, err := c.AnnToMask(anns[0])
	check(t, err)
	picture, err := c.ShowAnns(image.NewRGBA(image.Rect(0, 0, m.W, m.H)), anns, coco.DrawOptions{})
	check(t, err)
	inside, painted := 0, 0
	for i, b := range m.Pix {
		x, y := i%m.W, i/m.W
		if picture.RGBAAt(x, y) != (color.RGBA{}) {
			painted++
			inside += int(b)
		}
	}
	if inside != 53487 || painted > inside*115/100 {
		t.Errorf("%d pixels painted, %d of them inside the object", painted, inside)
	}
}

// Generalized intersection over union: the intersection over the union, less the share of the hull that neither box
// covers.
func Example_generalizedIoU() {
	a := torch.FromSlice([]float32{0, 0, 2, 2, 0, 0, 1, 1}, 2, 4)
	b := torch.FromSlice([]float32{1, 1, 3, 3, 2, 2, 3, 3, 0, 0, 2, 2}, 3, 4)
	fmt.Println(ops.BoxIoU(a, b))
	fmt.Println(ops.GeneralizedBoxIoU(a, b))
	// Output:
	// tensor([[0.1429, 0.0000, 1.0000],
	//         [0.0000, 0.0000, 0.2500]])
	// tensor([[-0.0794, -0.4444,  1.0000],
	//         [-0.4444, -0.7778,  0.2500]])
}

// The twelve figures of COCO for a file of results.
func TestEvaluate(t *testing.T) {
	gt := open(t)
	dt, err := gt.LoadRes(shared.Path(t, "data/coco/instances_val2014_fakebbox100_results.json"))
	check(t, err)
	e := coco.NewEval(gt, dt, "bbox")
	check(t, e.Run())
	m, err := e.Metrics()
	check(t, err)
	if len(m) != 12 {
		t.Fatalf("%d figures", len(m))
	}
	if got := fmt.Sprintf("%.3f %.3f %.3f", m[0].Value, m[1].Value, m[2].Value); got != "0.505 0.697 0.573" {
		t.Errorf("AP, AP50, AP75: %s", got)
	}
}

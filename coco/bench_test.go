package coco

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch/coco/mask"
)

// synthetic makes images with objects of 80 categories, and detections near
// them and elsewhere, as numerous as those of a detector on COCO.
func synthetic(images, perImage int, segm bool) (gt *Dataset, dt []*Annotation) {
	rng := rand.New(rand.NewPCG(7, uint64(images)))
	gt = &Dataset{}
	for i := range 80 {
		gt.Categories = append(gt.Categories, &Category{ID: int64(i + 1), Name: string(rune('a' + i%26))})
	}
	round := func(v float64) float64 { return math.Round(v*100) / 100 }
	blob := func(b []float64) [][]float64 {
		var p []float64
		for k := range 20 {
			s, c := math.Sincos(float64(k) / 20 * 2 * math.Pi)
			r := .8 + .2*rng.Float64()
			p = append(p, round(b[0]+b[2]/2*(1+r*c)), round(b[1]+b[3]/2*(1+r*s)))
		}
		return [][]float64{p}
	}
	box := func() []float64 {
		w, h := 8+rng.ExpFloat64()*60, 8+rng.ExpFloat64()*60
		w, h = min(w, 600), min(h, 440)
		return []float64{round(rng.Float64() * (640 - w)), round(rng.Float64() * (480 - h)), round(w), round(h)}
	}
	// A third of all objects are of the first category, as people are in COCO.
	cat := func() int64 { return int64(max(0, rng.IntN(120)-40) + 1) }
	detect := func(img, cat int64, b []float64) {
		d := &Annotation{ImageID: img, CategoryID: cat, Score: math.Round(rng.Float64()*1e4) / 1e4}
		if segm {
			rles, err := mask.FromPolygons(blob(b), 480, 640)
			if err != nil {
				panic(err)
			}
			d.Segmentation = &Segmentation{RLE: &rles[0]}
		} else {
			d.Bbox = b
		}
		dt = append(dt, d)
	}
	for i := range images {
		img := int64(i + 1)
		gt.Images = append(gt.Images, &Image{ID: img, Width: 640, Height: 480})
		objects := 1 + rng.IntN(13)
		for range objects {
			b := box()
			a := &Annotation{ID: int64(len(gt.Annotations) + 1), ImageID: img, CategoryID: cat(), Bbox: b,
				Area: b[2] * b[3], IsCrowd: rng.IntN(80) == 0}
			if segm {
				a.Segmentation = &Segmentation{Polygons: blob(b)}
			}
			gt.Annotations = append(gt.Annotations, a)
			for range rng.IntN(3) {
				j := func(v, by float64) float64 { return round(v + by*.15*(rng.Float64()-.5)) }
				detect(img, a.CategoryID,
					[]float64{j(b[0], b[2]), j(b[1], b[3]), max(1, j(b[2], b[2])), max(1, j(b[3], b[3]))})
			}
		}
		for range perImage - objects {
			detect(img, cat(), box())
		}
	}
	return gt, dt
}

func benchmarkEval(b *testing.B, t IoUType, images int) {
	ds, anns := synthetic(images, 40, t == SegmIoU)
	gt, err := New(ds)
	if err != nil {
		b.Fatal(err)
	}
	dt, err := gt.LoadResAnns(anns)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := NewEval(gt, dt, t).Run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(anns)), "detections")
}

// The time of pycocotools on the same files: testdata/compare.py.
func BenchmarkEvalBbox5000(b *testing.B) { benchmarkEval(b, BboxIoU, 5000) }
func BenchmarkEvalSegm500(b *testing.B)  { benchmarkEval(b, SegmIoU, 500) }

func BenchmarkParse(b *testing.B) {
	ds, _ := synthetic(1000, 40, false)
	text, err := json.Marshal(ds)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := parseDataset(text); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWriteBenchmark writes the files that the benchmarks use, for
// testdata/compare.py, into the folder that GOTORCH_COCO_BENCH names.
func TestWriteBenchmark(t *testing.T) {
	dir := os.Getenv("GOTORCH_COCO_BENCH")
	if dir == "" {
		t.Skip("GOTORCH_COCO_BENCH names no folder")
	}
	for _, c := range []struct {
		kind   IoUType
		images int
	}{{BboxIoU, 5000}, {SegmIoU, 500}} {
		ds, anns := synthetic(c.images, 40, c.kind == SegmIoU)
		gt, err := json.Marshal(ds)
		if err != nil {
			t.Fatal(err)
		}
		var dt bytes.Buffer
		if err := WriteResults(&dt, anns); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{"gt": gt, "dt": dt.Bytes()} {
			if err := os.WriteFile(filepath.Join(dir, string(c.kind)+"_"+name+".json"), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

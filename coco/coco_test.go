package coco

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/coco/mask"
	"github.com/gotorch-dev/torch/internal/shared"
)

const small = `{
  "info": {"description": "three images", "year": "2017", "version": 1.0, "url": null},
  "licenses": [{"id": 1, "name": "free", "url": "u"}],
  "images": [
    {"id": 30, "width": 8, "height": 6, "file_name": "c.png", "license": 1},
    {"id": 10, "width": 8, "height": 6, "file_name": "a.png", "coco_url": "http:\/\/x\/\u00e9\ud83d\ude00"},
    {"id": 20, "width": 8, "height": 6}],
  "categories": [
    {"id": 2, "name": "dog", "supercategory": "animal"},
    {"id": 1, "name": "person", "supercategory": "human", "keypoints": ["nose", "foot"], "skeleton": [[1, 2]]},
    {"id": 3, "name": "cat", "supercategory": "animal"}],
  "annotations": [
    {"id": 5, "image_id": 10, "category_id": 1, "bbox": [1, 1, 4, 4], "area": 16, "iscrowd": 0, "segmentation": [[1, 1, 5, 1, 5, 5, 1, 5]], "unknown": [{"x": [NaN, -Infinity, true]}]},
    {"id": 4, "image_id": 30, "category_id": 2, "bbox": [0, 0, 2, 2], "area": 4.5, "iscrowd": 0, "segmentation": {"size": [6, 8], "counts": "0240T1"}},
    {"id": 3, "image_id": 10, "category_id": 2, "bbox": [0, 0, 8, 6], "area": 48, "iscrowd": 1, "segmentation": {"size": [6, 8], "counts": [0, 48]}},
    {"id": 2, "image_id": 20, "category_id": 1, "bbox": [0.5, 0, 2e0, 2], "area": 4.0, "keypoints": [1, 1, 2, 3, 3, 1], "num_keypoints": 2}
  ]}`

func open(t testing.TB, text string) *COCO {
	t.Helper()
	c, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func Example() {
	c, err := Read(strings.NewReader(small))
	if err != nil {
		fmt.Println(err)
		return
	}
	people := c.CatIDs(Filter{CatNames: []string{"person"}})
	images := c.ImgIDs(Filter{CatIDs: people})
	anns, _ := c.LoadAnns(c.AnnIDs(Filter{ImgIDs: images, CatIDs: people})...)
	m, _ := c.AnnToMask(anns[0])
	fmt.Println(people, images, anns[0].Bbox, m.At(2, 2))
	// Output: [1] [10 20] [1 1 4 4] true
}

func ExampleEncodeMask() {
	r, _ := EncodeMask([][]uint8{{0, 1, 1}, {0, 1, 0}})
	back, _ := DecodeMask(r)
	fmt.Println(r.H, r.W, r.CountsString(), r.Area(), r.ToBbox(), back)
	// Output: 2 3 231 3 [1 0 2 2] [[0 1 1] [0 1 0]]
}

func TestQueries(t *testing.T) {
	c := open(t, small)
	yes, no := true, false
	for _, q := range []struct {
		name      string
		got, want []int64
	}{
		{"all annotations", c.AnnIDs(Filter{}), []int64{5, 4, 3, 2}},
		{"by images, in their order", c.AnnIDs(Filter{ImgIDs: []int64{20, 10, 99}}), []int64{2, 5, 3}},
		{"by category", c.AnnIDs(Filter{CatIDs: []int64{2}}), []int64{4, 3}},
		{"by name", c.AnnIDs(Filter{CatNames: []string{"dog"}}), []int64{4, 3}},
		{"by unknown name", c.AnnIDs(Filter{CatNames: []string{"cow"}}), []int64{}},
		{"by area, ends excluded", c.AnnIDs(Filter{AreaRng: [2]float64{4, 16}}), []int64{4}},
		{"crowds", c.AnnIDs(Filter{IsCrowd: &yes}), []int64{3}},
		{"no crowds", c.AnnIDs(Filter{IsCrowd: &no, ImgIDs: []int64{10}}), []int64{5}},
		{"all categories", c.CatIDs(Filter{}), []int64{2, 1, 3}},
		{"categories by supercategory", c.CatIDs(Filter{SupNames: []string{"animal"}}), []int64{2, 3}},
		{"categories by all", c.CatIDs(Filter{SupNames: []string{"animal"}, CatNames: []string{"cat", "person"},
			CatIDs: []int64{1, 3}}), []int64{3}},
		{"all images", c.ImgIDs(Filter{}), []int64{10, 20, 30}},
		{"images by category", c.ImgIDs(Filter{CatIDs: []int64{2}}), []int64{10, 30}},
		{"images with both", c.ImgIDs(Filter{CatIDs: []int64{2, 1}}), []int64{10}},
		{"images with a category without objects", c.ImgIDs(Filter{CatIDs: []int64{3}}), []int64{}},
		{"images with an unknown name", c.ImgIDs(Filter{CatNames: []string{"cow"}}), []int64{}},
		{"images of a list", c.ImgIDs(Filter{CatIDs: []int64{1}, ImgIDs: []int64{20, 30, 20}}), []int64{20}},
	} {
		if !reflect.DeepEqual(q.got, q.want) {
			t.Errorf("%s: got %v, want %v", q.name, q.got, q.want)
		}
	}
	if _, err := c.LoadAnns(5, 77); err == nil || !strings.Contains(err.Error(), "no annotation has the id 77") {
		t.Errorf("LoadAnns: %v", err)
	}
	if _, err := c.LoadCats(9); err == nil {
		t.Error("LoadCats: no error")
	}
	imgs, err := c.LoadImgs(10)
	if err != nil || imgs[0].CocoURL != "http://x/é😀" {
		t.Errorf("LoadImgs: %+v, %v", imgs[0], err)
	}
	if want := "description: three images\nversion: 1.0\nyear: 2017\n"; c.Info() != want {
		t.Errorf("Info: %q, want %q", c.Info(), want)
	}
}

func TestAnnToMask(t *testing.T) {
	c := open(t, small)
	anns, _ := c.LoadAnns(5, 4, 3)
	for i, want := range []int{16, 4, 48} {
		r, err := c.AnnToRLE(anns[i])
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.AnnToMask(anns[i])
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range m.Pix {
			n += int(p)
		}
		if r.Area() != want || n != want || m.H != 6 || m.W != 8 {
			t.Errorf("annotation %d: area %d, %d pixels of %d x %d, want %d of 6 x 8", anns[i].ID, r.Area(), n, m.H,
				m.W, want)
		}
	}
	anns, _ = c.LoadAnns(2)
	if _, err := c.AnnToMask(anns[0]); err == nil || err.Error() != "coco: annotations[3].segmentation: missing" {
		t.Errorf("no shape: %v", err)
	}
}

// Every mistake names its place.
func TestBadFiles(t *testing.T) {
	ann := func(fields string) string {
		return `{"images": [{"id": 1, "width": 4, "height": 4}], "categories": [{"id": 1, "name": "x"}],
			"annotations": [{"id": 1, "image_id": 1, "category_id": 1}, {` + fields + `}]}`
	}
	for _, c := range []struct{ in, want string }{
		{``, `want an object, got the end of the file`},
		{`[]`, `want an object, got a list`},
		{`{}`, `not a COCO annotation file`},
		{`{"images": []} x`, `want the end of the file at byte 15, got 'x'`},
		{`{"images": [{"id": 1},]}`, `images[1]: want an object, got the character ']'`},
		{`{"images": 5}`, `images: want a list of images, got a number`},
		{`{"images": [{"width": 5}]}`, `images[0].id: missing`},
		{`{"images": [{"id": "a"}]}`, `images[0].id: want a whole number, got a string`},
		{`{"images": [{"id": 1, "width": -4}]}`, `images[0].width: want a size in pixels, got -4`},
		{`{"images": [{"id": 1}, {"id": 1}]}`, `images[1].id: 1 is the id of an earlier image`},
		{`{"categories": [{"name": "x"}]}`, `categories[0].id: missing`},
		{`{"categories": [{"id": 1, "skeleton": [[1, 2, 3]]}]}`,
			`categories[0].skeleton[0]: want 2 keypoint numbers, got 3`},
		{`{"categories": [{"id": 1, "skeleton": [[0, 2]]}]}`,
			`categories[0].skeleton[0][0]: keypoints are counted from 1, got 0`},
		{ann(`"id": 2`), `annotations[1].image_id: missing`},
		{ann(`"image_id": 2`), `annotations[1].id: missing`},
		{ann(`"id": 2, "image_id": 1`), `annotations[1].category_id: missing`},
		{ann(`"id": 2, "image_id": null`), `annotations[1].image_id: missing`},
		{ann(`"id": 1, "image_id": 1, "category_id": 1`), `annotations[1].id: 1 is the id of an earlier annotation`},
		{ann(`"id": 2.5`), `annotations[1].id: want a whole number, got 2.5`},
		{ann(`"id": 1e300`), `annotations[1].id: want a whole number, got 1e300`},
		{ann(`"bbox": [1, 2, 3]`), `annotations[1].bbox: want 4 numbers, got 3`},
		{ann(`"bbox": "1 2 3 4"`), `annotations[1].bbox: want a list of numbers, got a string`},
		{ann(`"bbox": [1, 2, "3", 4]`), `annotations[1].bbox[2]: want a number, got a string`},
		{ann(`"bbox": [1, 2, NaN, 4]`), `annotations[1].bbox[2]: want a number, got a number that is not finite`},
		{ann(`"bbox": [1, 2, 1e999, 4]`), `annotations[1].bbox[2]: the number 1e999 is too large`},
		{ann(`"bbox": [1, 02, 3, 4]`), `annotations[1].bbox[1]: "02," is not a number`},
		{ann(`"area": []`), `annotations[1].area: want a number, got a list`},
		{ann(`"iscrowd": 2`), `annotations[1].iscrowd: want 0 or 1, got 2`},
		{ann(`"keypoints": [1, 2]`), `annotations[1].keypoints: want x, y, visibility for each keypoint, got 2 numbers`},
		{ann(`"caption": 3`), `annotations[1].caption: want a string, got a number`},
		{ann(`"segmentation": "x"`), `annotations[1].segmentation: want polygons or an RLE object, got a string`},
		{ann(`"segmentation": [1, 2, 3, 4]`),
			`annotations[1].segmentation[0]: want a polygon (a list of numbers), got a number`},
		{ann(`"segmentation": [[1, 2, 3, 4, 5]]`),
			`annotations[1].segmentation[0]: want an even number of coordinates, at least 4, got 5`},
		{ann(`"segmentation": {"counts": "0"}`), `annotations[1].segmentation.size: missing`},
		{ann(`"segmentation": {"size": [4]}`),
			`annotations[1].segmentation.size: want 2 numbers (height, width), got 1`},
		{ann(`"segmentation": {"size": [4, 4]}`), `annotations[1].segmentation.counts: missing`},
		{ann(`"segmentation": {"size": [4, 4], "counts": [1, -1]}`),
			`annotations[1].segmentation.counts[1]: a run cannot have the length -1`},
		{ann(`"segmentation": {"size": [4, 4], "counts": 3}`),
			`annotations[1].segmentation.counts: want a string or a list of numbers, got a number`},
		{ann(`"segmentation": {"size": [1000000000, 1000000000], "counts": "0"}`),
			`annotations[1].segmentation.size: 1000000000 x 1000000000 is over the limit`},
		{ann(`"segmentation": {"size": [100000, 100000], "counts": "0"}`),
			`annotations[1].segmentation: mask: Parse: size 100000 x 100000 is over the limit`},
		{ann(`"segmentation": {"size": [4, 4], "counts": "1"}`),
			`annotations[1].segmentation: mask: Parse: counts: the runs cover 1 pixels, a 4 x 4 mask has 16`},
		{ann(`"x": ` + strings.Repeat("[", 5000)), `values nest deeper than 200`},
		{ann(`"x": "\q"`), `unknown escape \q`},
		{ann(`"x": "` + "\xff" + `"`), `is not UTF-8`},
		{ann(`"x": "`), `does not end`},
		{ann(`"x": tru`), `annotations[1].x: want a value`},
		{ann(`"x" 3`), `annotations[1].x: want a colon`},
	} {
		_, err := Read(strings.NewReader(c.in))
		var fe *FieldError
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &fe) {
			t.Errorf("%.120s\n got %v\nwant %s", c.in, err, c.want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestNumbers(t *testing.T) {
	for _, s := range []string{"0", "-0.5", "12.25", "0.1", "318.37", "1e3", "-2.5E-3", "123456789012345",
		"99999999999999.9", "9007199254740993", "0.3000000000000000444", "296.42"} {
		d := &decoder{b: []byte(s)}
		got, err := d.float()
		var want float64
		if json.Unmarshal([]byte(s), &want) != nil || err != nil || got != want {
			t.Errorf("%s: got %v (%v), want %v", s, got, err, want)
		}
	}
}

func TestLoadRes(t *testing.T) {
	c := open(t, small)
	load := func(text string) *COCO {
		t.Helper()
		r, err := c.LoadResReader(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	boxes := load(`[{"image_id": 10, "category_id": 1, "bbox": [1, 1, 3, 2.5], "score": 0.5}, {"image_id": 30, "category_id": 2, "bbox": [0, 0, 1, 1], "score": 0.25}]`)
	a := boxes.Dataset.Annotations
	if a[0].ID != 1 || a[1].ID != 2 || a[0].Area != 7.5 || len(boxes.Dataset.Images) != 3 ||
		len(boxes.Dataset.Categories) != 3 {
		t.Errorf("boxes: %+v %+v", a[0], a[1])
	}
	// The shape of a box is the box.
	if r, err := boxes.AnnToRLE(a[0]); err != nil || r.ToBbox() != [4]float64{1, 1, 3, 3} {
		t.Errorf("box as a mask: %v, %v", r, err)
	}
	segments := load(`[{"image_id": 10, "category_id": 1, "segmentation": {"size": [6, 8], "counts": "0240T1"}, "score": 1}, {"image_id": 10, "category_id": 1, "segmentation": [[1, 1, 5, 1, 5, 5, 1, 5]], "score": 1}]`)
	a = segments.Dataset.Annotations
	if a[0].Area != 4 || !reflect.DeepEqual(a[0].Bbox, []float64{0, 0, 2, 2}) || a[1].Area != 16 ||
		!reflect.DeepEqual(a[1].Bbox, []float64{1, 1, 4, 4}) {
		t.Errorf("segments: %+v %+v", a[0], a[1])
	}
	kps := load(`[{"image_id": 10, "category_id": 1, "keypoints": [5, 1, 1, 2, 7, 0], "score": 1}]`)
	if a = kps.Dataset.Annotations; a[0].Area != 18 || !reflect.DeepEqual(a[0].Bbox, []float64{2, 1, 3, 6}) {
		t.Errorf("keypoints: %+v", a[0])
	}
	caps := load(`[{"image_id": 10, "caption": "a dog"}, {"image_id": 30, "caption": "no dog"}]`)
	if got := caps.ImgIDs(Filter{}); !reflect.DeepEqual(got, []int64{10, 30}) {
		t.Errorf("captions: images %v", got)
	}
	if r := load(`[]`); len(r.Dataset.Annotations) != 0 {
		t.Error("empty results")
	}
	for _, e := range []struct{ in, want string }{
		{`{}`, `want a list of results, got an object`},
		{`[{"image_id": 10}]`, `results[0]: neither bbox, segmentation, keypoints nor caption`},
		{`[{"bbox": [1, 2, 3, 4]}]`, `results[0].image_id: missing`},
		{`[{"image_id": 10, "category_id": 1, "bbox": [1, 2, 3, 4]}, {"image_id": 11, "category_id": 1, "bbox": [1, 2, 3, 4]}]`, `results[1].image_id: the annotation file has no image 11`},
		{`[{"image_id": 10, "category_id": 1, "bbox": [1, 2, 3, 4]}, {"image_id": 10, "category_id": 1}]`,
			`results[1].bbox: missing`},
		{`[{"image_id": 10, "bbox": [1, 2, 3, 4]}]`, `results[0].category_id: missing`},
		{`[{"image_id": 10, "category_id": 1, "bbox": [1, 2, 3, "4"]}]`,
			`results[0].bbox[3]: want a number, got a string`},
	} {
		if _, err := c.LoadResReader(strings.NewReader(e.in)); err == nil || !strings.Contains(err.Error(), e.want) {
			t.Errorf("%s\n got %v\nwant %s", e.in, err, e.want)
		}
	}
}

func TestWriteResults(t *testing.T) {
	c := open(t, small)
	r, _ := mask.FromCounts(6, 8, []int{3, 5, 40})
	in := append(AnnsFromRows([][7]float64{{10, 1, 2, 3, 4, 0, 1}}),
		&Annotation{ImageID: 30, CategoryID: 2, Bbox: []float64{0, 0, 1, 1}, Segmentation: &Segmentation{RLE: &r},
			Score: .75})
	var buf bytes.Buffer
	if err := WriteResults(&buf, in); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "r.json")
	if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := c.LoadRes(path)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := c.LoadResAnns(in)
	if err != nil {
		t.Fatal(err)
	}
	if in[0].ID != 0 || in[0].Area != 0 {
		t.Errorf("LoadResAnns changed its argument: %+v", in[0])
	}
	for i, a := range file.Dataset.Annotations {
		b := memory.Dataset.Annotations[i]
		if a.ImageID != b.ImageID || a.CategoryID != b.CategoryID || a.Score != b.Score || a.Area != b.Area ||
			!reflect.DeepEqual(a.Bbox, b.Bbox) || a.need(hasScore) != nil {
			t.Errorf("from the file %+v, from memory %+v", a, b)
		}
		ra, err := file.AnnToRLE(a)
		if err != nil {
			t.Fatal(err)
		}
		if rb, err := memory.AnnToRLE(b); err != nil || !reflect.DeepEqual(ra, rb) {
			t.Errorf("shapes %v, %v, %v", ra, rb, err)
		}
	}
}

// A dataset survives being written and read.
func TestDatasetJSON(t *testing.T) {
	c := open(t, small)
	text, err := json.Marshal(c.Dataset)
	if err != nil {
		t.Fatal(err)
	}
	again := open(t, string(text))
	for _, f := range []Filter{{}, {CatNames: []string{"dog"}}, {AreaRng: [2]float64{4, 17}}} {
		if a, b := c.AnnIDs(f), again.AnnIDs(f); !reflect.DeepEqual(a, b) {
			t.Errorf("annotations %v became %v", a, b)
		}
	}
	a, _ := again.LoadAnns(3)
	if !a[0].IsCrowd || a[0].Segmentation.RLE == nil {
		t.Errorf("crowd became %+v", a[0])
	}
	k, _ := again.LoadCats(1)
	if !reflect.DeepEqual(k[0].Skeleton, [][2]int{{1, 2}}) {
		t.Errorf("category became %+v", k[0])
	}
}

// Ids, areas and scores that are 0 are written all the same.
func TestZerosAreWritten(t *testing.T) {
	gt := &Dataset{
		Images:      []*Image{{ID: 0, Width: 4, Height: 4}},
		Categories:  []*Category{{ID: 0, Name: "x"}},
		Annotations: []*Annotation{{ID: 0, Bbox: []float64{0, 0, 0, 0}, Keypoints: []float64{0, 0, 0}}},
	}
	text, err := json.Marshal(gt)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, string(text))
	if err := c.Dataset.Annotations[0].need(hasID | hasImageID | hasCategoryID | hasArea |
		hasNumKeypoints); err != nil {
		t.Errorf("%v in %s", err, text)
	}
	var buf bytes.Buffer
	if err := WriteResults(&buf, AnnsFromRows([][7]float64{{0, 0, 0, 1, 1, 0, 0}})); err != nil {
		t.Fatal(err)
	}
	r, err := c.LoadResReader(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if err := NewEval(c, r, BboxIoU).Run(); err != nil {
		t.Error(err)
	}
	if text, err = json.Marshal(r.Dataset.Annotations); err != nil || !strings.Contains(string(text), `"score":0`) {
		t.Errorf("%s, %v", text, err)
	}
	// By value as well as by pointer.
	if text, err = json.Marshal([]Annotation{{IsCrowd: true}}); err != nil ||
		!strings.Contains(string(text), `"iscrowd":1`) {
		t.Errorf("%s, %v", text, err)
	}
}

// The numbers that are known for the sample of COCO.
func TestSample(t *testing.T) {
	c, err := Open(shared.Path(t, "data/coco/instances_val2014_100.json"))
	if err != nil {
		t.Fatal(err)
	}
	crowd := true
	cats := c.CatIDs(Filter{CatNames: []string{"person", "dog"}})
	for _, n := range []struct {
		name      string
		got, want int
	}{
		{"images", len(c.ImgIDs(Filter{})), 100},
		{"annotations", len(c.AnnIDs(Filter{})), 839},
		{"categories", len(c.CatIDs(Filter{})), 80},
		{"persons", len(c.AnnIDs(Filter{CatIDs: cats[:1]})), 256},
		{"images with persons", len(c.ImgIDs(Filter{CatIDs: cats[:1]})), 55},
		{"images with both", len(c.ImgIDs(Filter{CatIDs: cats})), 1},
		{"crowds", len(c.AnnIDs(Filter{IsCrowd: &crowd})), 9},
	} {
		if n.got != n.want {
			t.Errorf("%s: got %d, want %d", n.name, n.got, n.want)
		}
	}
	if !reflect.DeepEqual(cats, []int64{1, 18}) {
		t.Errorf("person and dog are %v", cats)
	}
	// The stored area is that of the polygon, the mask's is near it.
	for _, id := range c.AnnIDs(Filter{AreaRng: [2]float64{5000, 1e10}, IsCrowd: new(bool)}) {
		a, _ := c.LoadAnns(id)
		r, err := c.AnnToRLE(a[0])
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(r.Area())-a[0].Area) > .05*a[0].Area {
			t.Errorf("annotation %d: mask %d, area %v", id, r.Area(), a[0].Area)
		}
	}
}

func FuzzDataset(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"annotations": [{"id": 1, "image_id": 1, "segmentation": {"size": [1000000000, 1000000000], "counts": "0"}}]}`))
	f.Add([]byte(`{"images": [{"id": 1, "width": 100000, "height": 5000}], "annotations": [{"id": 1, "image_id": 1, "segmentation": [[-1e8, -1e8, 1e8, 1e8, 3, 4]]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Read(bytes.NewReader(b))
		if err != nil {
			var fe *FieldError
			if !errors.As(err, &fe) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		c.ImgIDs(Filter{})
		for _, id := range c.AnnIDs(Filter{}) {
			a, err := c.LoadAnns(id)
			if err != nil {
				t.Fatal(err)
			}
			// Small enough to fill many of them.
			if m := c.imgs[a[0].ImageID]; m != nil && m.Width <= 1000 && m.Height <= 1000 {
				_, _ = c.AnnToRLE(a[0])
			}
		}
		if _, err := json.Marshal(c.Dataset); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzResults(f *testing.F) {
	c, err := Read(strings.NewReader(small))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`[{"image_id": 10, "category_id": 1, "bbox": [1, 1, 3, 2.5], "score": 0.5}]`))
	f.Add([]byte(`[{"image_id": 10, "category_id": 1, "segmentation": {"size": [6, 8], "counts": "0240T1"}, "score": 1}]`))
	f.Add([]byte(`[{"image_id": 10, "category_id": 1, "keypoints": [5, 1, 1, 2, 7, 0], "score": 1}]`))
	f.Add([]byte(`[{"image_id": 10, "caption": "a dog"}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := c.LoadResReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, k := range []IoUType{BboxIoU, SegmIoU, KeypointsOKS} {
			e := NewEval(c, r, k)
			e.Params.KptOKSSigmas = []float64{.05, .05}
			if e.Run() != nil {
				continue
			}
			for i, v := range e.Stats {
				if !(v == -1 || v >= 0 && v <= 1) {
					t.Fatalf("%s: number %d is %v", k, i, v)
				}
			}
		}
	})
}

package cococmd

import (
	"bytes"
	"encoding/json"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
)

// run executes the command and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := Command()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

const truth = `{"images": [{"id": 1, "width": 60, "height": 40}],
	"categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
	"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [5, 5, 20, 20], "area": 400, "iscrowd": 0,
		"segmentation": [[5, 5, 25, 5, 25, 25, 5, 25]]}]}`

const found = `[{"image_id": 1, "category_id": 1, "bbox": [5, 5, 20, 20], "score": 0.9}]`

func files(t *testing.T) (gt, dt string) {
	t.Helper()
	dir := t.TempDir()
	gt, dt = filepath.Join(dir, "gt.json"), filepath.Join(dir, "dt.json")
	for name, text := range map[string]string{gt: truth, dt: found} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return gt, dt
}

func TestEval(t *testing.T) {
	gt, dt := files(t)
	out, err := run(t, "eval", "--gt", gt, "--dt", dt)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 1.000\n",
		" Average Precision  (AP) @[ IoU=0.50      | area=   all | maxDets=100 ] = 1.000\n",
		" Average Recall     (AR) @[ IoU=0.50:0.95 | area= large | maxDets=100 ] = -1.000\n",
		"\ncat             1        1   1.000   1.000   1.000   1.000\n",
		"\ndog             0        0  -1.000  -1.000  -1.000  -1.000\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, err = run(t, "eval", "--gt", gt, "--dt", dt, "--max-dets", "1,10,300", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Type       string
		Stats      []float64
		Metrics    map[string]float64
		Categories []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Type != "bbox" || len(got.Stats) != 12 || math.Abs(got.Metrics["AP"]-1) > 1e-9 ||
		got.Metrics["AR300"] != 1 || len(got.Categories) != 2 {
		t.Errorf("got %s", out)
	}
}

func TestEvalErrors(t *testing.T) {
	gt, dt := files(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"eval", "--gt", gt}, `"dt" not set`},
		{[]string{"eval", "--gt", gt, "--dt", dt, "--type", "panoptic"}, "want bbox, segm or keypoints"},
		{[]string{"eval", "--gt", gt, "--dt", dt, "--max-dets", "5"}, "want 3 numbers for bbox"},
		{[]string{"eval", "--gt", gt, "--dt", dt, "--max-dets", "0,1,2"}, "want numbers from 1"},
		{[]string{"eval", "--gt", dt, "--dt", dt}, "want an object, got a list"},
		{[]string{"eval", "--gt", gt, "--dt", gt}, "want a list of results, got an object"},
		{[]string{"eval", "--gt", gt, "--dt", dt, "--type", "keypoints"}, "annotations[0].keypoints: want 51 numbers"},
		{[]string{"eval", "--gt", gt, "--dt", dt, "--cat-ids", "7"}, "no category has the id 7"},
		{[]string{"show", "--gt", gt, "--image-id", "7"}, "no image has the id 7"},
		{[]string{"show", "--gt", gt, "--image-id", "1", "--images", "."}, "image 1 has no file_name"},
	} {
		if out, err := run(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v (%s), want an error with %q", c.args, err, out, c.want)
		}
	}
}

func TestShow(t *testing.T) {
	gt, dt := files(t)
	for _, extra := range [][]string{nil, {"--dt", dt}} {
		name := filepath.Join(t.TempDir(), "a.png")
		if _, err := run(t, append([]string{"show", "--gt", gt, "--image-id", "1", "--out", name},
			extra...)...); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if b := img.Bounds(); b.Dx() != 60 || b.Dy() != 40 {
			t.Errorf("the picture is %v", b)
		}
		ground, edge := img.At(58, 38), img.At(15, 24)
		if r, g, b, _ := ground.RGBA(); r != g || g != b {
			t.Errorf("the ground is %v", ground)
		}
		if r, g, b, _ := edge.RGBA(); r == g && g == b {
			t.Errorf("the edge of the box is %v", edge)
		}
	}
}

// The example that comes with the COCO API has published numbers.
func TestPublishedExample(t *testing.T) {
	dir := shared.Path(t, "data/coco")
	out, err := run(t, "eval", "--gt", filepath.Join(dir, "instances_val2014_100.json"),
		"--dt", filepath.Join(dir, "instances_val2014_fakebbox100_results.json"), "--no-table")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		got = append(got, line[strings.LastIndex(line, " ")+1:])
	}
	want := "0.505 0.697 0.573 0.586 0.519 0.501 0.387 0.594 0.595 0.640 0.566 0.564"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

package coco

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
)

func ExampleEval() {
	gt, _ := Read(strings.NewReader(`{"images": [{"id": 1, "width": 100, "height": 100}], "categories": [{"id": 1, "name": "cat"}],
		"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 50, 40], "area": 2000, "iscrowd": 0}]}`))
	dt, _ := gt.LoadResReader(strings.NewReader(`[{"image_id": 1, "category_id": 1, "bbox": [10, 10, 50, 30], "score": 0.9}]`))
	e := NewEval(gt, dt, BboxIoU)
	if err := e.Run(); err != nil {
		fmt.Println(err)
		return
	}
	// The boxes overlap by 0.75: a hit for six of the ten thresholds.
	fmt.Print(e)
	// Output:
	//  Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.600
	//  Average Precision  (AP) @[ IoU=0.50      | area=   all | maxDets=100 ] = 1.000
	//  Average Precision  (AP) @[ IoU=0.75      | area=   all | maxDets=100 ] = 1.000
	//  Average Precision  (AP) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = -1.000
	//  Average Precision  (AP) @[ IoU=0.50:0.95 | area=medium | maxDets=100 ] = 0.600
	//  Average Precision  (AP) @[ IoU=0.50:0.95 | area= large | maxDets=100 ] = -1.000
	//  Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets=  1 ] = 0.600
	//  Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets= 10 ] = 0.600
	//  Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.600
	//  Average Recall     (AR) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = -1.000
	//  Average Recall     (AR) @[ IoU=0.50:0.95 | area=medium | maxDets=100 ] = 0.600
	//  Average Recall     (AR) @[ IoU=0.50:0.95 | area= large | maxDets=100 ] = -1.000
}

// evalCase is random data with what pycocotools 2.0.11 made of it: the summary,
// and sums over the whole arrays of precision, recall and scores, each element
// weighted by its place.
type evalCase struct {
	Type IoUType
	Gt   json.RawMessage
	Dt   json.RawMessage
	Runs []struct {
		Params json.RawMessage
		Stats  []float64
		Sums   [3]float64
	}
}

func evalCases(t *testing.T) []evalCase {
	t.Helper()
	text, err := os.ReadFile("testdata/eval.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []evalCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// The cases have crowds, equal scores, all parameters, keypoints without a
// labelled point, and an annotation with the id 0.
func TestAgainstReference(t *testing.T) {
	for _, c := range evalCases(t) {
		gt, err := parse(c.Gt)
		if err != nil {
			t.Fatal(err)
		}
		dt, err := gt.loadRes(c.Dt)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range c.Runs {
			var first *EvalResult
			for _, workers := range []int{1, 5} {
				e := NewEval(gt, dt, c.Type)
				e.Workers = workers
				if err := json.Unmarshal(run.Params, &e.Params); err != nil {
					t.Fatal(err)
				}
				if err := e.Run(); err != nil {
					t.Fatal(err)
				}
				for i, want := range run.Stats {
					if math.Abs(e.Stats[i]-want) > 1e-9 {
						t.Errorf("%s %s: number %d is %v, want %v", c.Type, run.Params, i, e.Stats[i], want)
					}
				}
				for i, array := range [][]float64{e.Result.Precision, e.Result.Recall, e.Result.Scores} {
					sum := 0.0
					for j, v := range array {
						sum += float64(j%97+1) * v
					}
					if math.Abs(sum-run.Sums[i]) > 1e-9*max(1, math.Abs(run.Sums[i])) {
						t.Errorf("%s %s: array %d sums up to %v, want %v", c.Type, run.Params, i, sum, run.Sums[i])
					}
				}
				if first == nil {
					first = e.Result
				} else if !reflect.DeepEqual(first, e.Result) {
					t.Errorf("%s %s: the result depends on the number of goroutines", c.Type, run.Params)
				}
			}
		}
	}
}

// EvaluateImg shows the matching behind the numbers: counted by hand, they
// must give the recall.
func TestEvaluateImg(t *testing.T) {
	c := evalCases(t)[0]
	gt, err := parse(c.Gt)
	if err != nil {
		t.Fatal(err)
	}
	dt, err := gt.loadRes(c.Dt)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEval(gt, dt, c.Type)
	if _, err := e.EvaluateImg(1, 1, [2]float64{0, 1e10}, 100); err == nil {
		t.Error("no error before Evaluate")
	}
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	for k, cat := range e.Result.CatIDs {
		for ti := range e.Params.IoUThrs {
			hits, objects := 0, 0
			for _, img := range e.Params.ImgIDs {
				r, err := e.EvaluateImg(img, cat, [2]float64{0, 1e10}, 100)
				if err != nil {
					t.Fatal(err)
				}
				if r == nil {
					continue
				}
				for i, id := range r.DtMatches[ti] {
					if id != 0 && !r.DtIgnore[ti][i] {
						hits++
					}
				}
				for i, ignore := range r.GtIgnore {
					if !ignore {
						objects++
					}
					if id := r.GtMatches[ti][i]; id != 0 && r.IoU[indexOf(r.DtIDs, id)][i] < e.Params.IoUThrs[ti] {
						t.Errorf("image %d: a match below the threshold", img)
					}
				}
			}
			want := -1.0
			if objects > 0 {
				want = float64(hits) / float64(objects)
			}
			if got := e.Result.RecallAt(ti, k, 0, 2); got != want {
				t.Errorf("category %d, threshold %d: recall %v, counted %v", cat, ti, got, want)
			}
		}
	}
	if _, err := e.EvaluateImg(-5, e.Result.CatIDs[0], [2]float64{0, 1}, 1); err == nil {
		t.Error("no error for an unknown image")
	}
	if _, err := e.EvaluateImg(e.Params.ImgIDs[0], 999, [2]float64{0, 1}, 1); err == nil {
		t.Error("no error for an unknown category")
	}
}

func indexOf(ids []int64, id int64) int {
	for i, v := range ids {
		if v == id {
			return i
		}
	}
	return -1
}

// With 100 not among MaxDets the first number is -1, as in pycocotools, unless
// another limit is asked for.
func TestAPMaxDets(t *testing.T) {
	c := evalCases(t)[0]
	gt, _ := parse(c.Gt)
	dt, err := gt.loadRes(c.Dt)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEval(gt, dt, c.Type)
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	ap := e.Stats[0]
	e.Params.MaxDets = []int{1, 10, 300}
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	if e.Stats[0] != -1 {
		t.Errorf("AP is %v, want -1", e.Stats[0])
	}
	ids := e.Params.ImgIDs
	cats := e.Params.CatIDs
	e.Params = LVISParams(c.Type)
	e.Params.ImgIDs, e.Params.CatIDs = ids, cats
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	if e.Stats[0] != ap || ap <= 0 {
		t.Errorf("AP of 300 detections is %v, of 100 %v", e.Stats[0], ap)
	}
	table, err := e.Table()
	if err != nil || len(strings.Split(strings.TrimSpace(table), "\n")) != len(cats)+1 {
		t.Errorf("table:\n%s%v", table, err)
	}
}

func TestEvalErrors(t *testing.T) {
	gt := open(t, small)
	dt, err := gt.LoadResReader(strings.NewReader(`[{"image_id": 10, "category_id": 1, "bbox": [1, 1, 3, 2.5]}]`))
	if err != nil {
		t.Fatal(err)
	}
	good, _ := gt.LoadResReader(strings.NewReader(`[{"image_id": 10, "category_id": 1, "bbox": [1, 1, 3, 2.5], "score": 1}]`))
	noArea := open(t, `{"images": [{"id": 10}], "categories": [{"id": 1, "name": "x"}], "annotations": [{"id": 1, "image_id": 10, "category_id": 1, "bbox": [1, 2, 3, 4]}]}`)
	for _, c := range []struct {
		e    *Eval
		set  func(p *Params)
		want string
	}{
		{NewEval(gt, dt, BboxIoU), nil, "results[0].score: missing"},
		{NewEval(noArea, good, BboxIoU), nil, "annotations[0].area: missing"},
		{NewEval(gt, good, SegmIoU), nil, "annotations[3].segmentation: missing"},
		{NewEval(gt, good, KeypointsOKS), nil, "annotations[0].keypoints: want 51 numbers for 17 sigmas, got 0"},
		{NewEval(gt, good, "boxes"), nil, `unknown type "boxes"`},
		{NewEval(gt, good, BboxIoU), func(p *Params) { p.MaxDets = nil }, "MaxDets is empty"},
		{NewEval(gt, good, BboxIoU), func(p *Params) { p.MaxDets = []int{5} }, "want three MaxDets, got [5]"},
		{NewEval(gt, good, BboxIoU), func(p *Params) { p.AreaRngLbl = nil }, "4 area ranges but 0 labels"},
		{NewEval(gt, good, BboxIoU), func(p *Params) { p.RecThrs = []float64{1, 0} }, "RecThrs must ascend"},
		{NewEval(gt, good, KeypointsOKS), func(p *Params) { p.KptOKSSigmas[3] = 0 }, "KptOKSSigmas holds 0"},
		{NewEval(gt, good, KeypointsOKS), func(p *Params) { p.UseCats = false }, "without categories"},
	} {
		if c.set != nil {
			c.set(&c.e.Params)
		}
		if err := c.e.Run(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	e := NewEval(gt, good, BboxIoU)
	if err := e.Accumulate(); err == nil {
		t.Error("Accumulate before Evaluate: no error")
	}
	if err := e.Summarize(); err == nil {
		t.Error("Summarize before Accumulate: no error")
	}
}

package coco

import (
	"fmt"
	"slices"
)

// IoUType is what detections are compared by.
type IoUType string

// The three kinds of evaluation.
const (
	BboxIoU      IoUType = "bbox"      // overlap of boxes
	SegmIoU      IoUType = "segm"      // overlap of masks
	KeypointsOKS IoUType = "keypoints" // object keypoint similarity
)

// Params says what is evaluated, under the names that pycocotools' Params has.
type Params struct {
	Type IoUType
	// ImgIDs and CatIDs restrict the evaluation; [NewEval] fills in all ids of
	// the ground truth.
	ImgIDs, CatIDs []int64
	// UseCats compares only within a category. Without it, all objects of
	// CatIDs count as one category.
	UseCats bool
	// IoUThrs are the overlaps at which a detection counts as a hit.
	IoUThrs []float64
	// RecThrs are the recalls at which precision is sampled; ascending.
	RecThrs []float64
	// MaxDets are the numbers of best detections considered per image (and category).
	MaxDets []int
	// AreaRng are ranges of areas (both ends included), AreaRngLbl their names.
	AreaRng    [][2]float64
	AreaRngLbl []string
	// KptOKSSigmas is how far a keypoint may be off, one for each keypoint.
	KptOKSSigmas []float64
	// APMaxDets is the entry of MaxDets for the numbers that pycocotools
	// prints for a fixed one: the first AP of boxes and masks (100), and all
	// numbers of keypoints (20). 0 is pycocotools' number; where MaxDets does
	// not contain it the result is -1, as there.
	APMaxDets int
}

// DefaultParams returns the parameters of the COCO benchmark.
func DefaultParams(t IoUType) Params {
	p := Params{
		Type: t, UseCats: true,
		IoUThrs: linspace(.5, .95, 10), RecThrs: linspace(0, 1, 101),
		MaxDets:    []int{1, 10, 100},
		AreaRng:    [][2]float64{{0, 1e10}, {0, 1024}, {1024, 9216}, {9216, 1e10}},
		AreaRngLbl: []string{"all", "small", "medium", "large"},
	}
	if t == KeypointsOKS {
		p.MaxDets = []int{20}
		p.AreaRng = [][2]float64{{0, 1e10}, {1024, 9216}, {9216, 1e10}}
		p.AreaRngLbl = []string{"all", "medium", "large"}
		// The benchmark's seventeen body points, from the nose to the ankles.
		for _, s := range []float64{.26, .25, .25, .35, .35, .79, .79, .72, .72, .62, .62, 1.07, 1.07, .87, .87, .89,
			.89} {
			p.KptOKSSigmas = append(p.KptOKSSigmas, s/10)
		}
	}
	return p
}

// LVISParams returns [DefaultParams] with 300 detections per image, as LVIS
// counts them, and the summary made for those 300.
func LVISParams(t IoUType) Params {
	p := DefaultParams(t)
	p.MaxDets = []int{1, 10, 300}
	p.APMaxDets = 300
	return p
}

// linspace returns n numbers from a to b with numpy's rounding: thresholds
// must be the same to the last bit, overlaps like 0.75 occur exactly.
func linspace(a, b float64, n int) []float64 {
	out := make([]float64, n)
	step := (b - a) / float64(n-1)
	for i := range out {
		out[i] = a + float64(float64(i)*step)
	}
	out[n-1] = b
	return out
}

// normalise checks the parameters and brings them into the form that the
// evaluation assumes, on a copy.
func (e *Eval) normalise() (*Params, error) {
	bad := func(format string, args ...any) (*Params, error) {
		return nil, fmt.Errorf("coco: Evaluate: "+format, args...)
	}
	if e.gt == nil || e.dt == nil {
		return bad("want ground truth and detections; make the Eval with NewEval")
	}
	p := e.Params
	switch p.Type {
	case BboxIoU, SegmIoU, KeypointsOKS:
	default:
		return bad("unknown type %q: want bbox, segm or keypoints", p.Type)
	}
	p.ImgIDs = slices.Clone(p.ImgIDs)
	slices.Sort(p.ImgIDs)
	p.ImgIDs = slices.Compact(p.ImgIDs)
	p.CatIDs = slices.Clone(p.CatIDs)
	if p.UseCats {
		slices.Sort(p.CatIDs)
		p.CatIDs = slices.Compact(p.CatIDs)
	} else if d := firstRepeated(p.CatIDs); d >= 0 {
		return bad("CatIDs holds %d twice", p.CatIDs[d])
	}
	p.MaxDets = slices.Clone(p.MaxDets)
	slices.Sort(p.MaxDets)
	switch {
	case len(p.MaxDets) == 0:
		return bad("MaxDets is empty")
	case p.MaxDets[0] < 0:
		return bad("MaxDets holds %d", p.MaxDets[0])
	case len(p.IoUThrs) == 0:
		return bad("IoUThrs is empty")
	case len(p.RecThrs) == 0:
		return bad("RecThrs is empty")
	case len(p.AreaRng) == 0:
		return bad("AreaRng is empty")
	case len(p.AreaRng) != len(p.AreaRngLbl):
		return bad("%d area ranges but %d labels", len(p.AreaRng), len(p.AreaRngLbl))
	case !slices.IsSorted(p.RecThrs):
		return bad("RecThrs must ascend")
	case p.Type == KeypointsOKS && len(p.KptOKSSigmas) == 0:
		return bad("KptOKSSigmas is empty")
	case p.Type == KeypointsOKS && !p.UseCats:
		// pycocotools fails too: similarity is not defined across categories.
		return bad("keypoints cannot be evaluated without categories")
	}
	for _, s := range p.KptOKSSigmas {
		if !(s > 0) {
			return bad("KptOKSSigmas holds %v", s)
		}
	}
	return &p, nil
}

func firstRepeated(ids []int64) int {
	seen := map[int64]bool{}
	for i, id := range ids {
		if seen[id] {
			return i
		}
		seen[id] = true
	}
	return -1
}

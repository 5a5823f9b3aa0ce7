// Package cococheck runs golden cases of the COCO API: masks, polygons, boxes,
// overlaps, queries and evaluations with the results of the reference.
//
// A directory holds index.json and the files that it goes with: masks.npz with
// the pixels, results files named after their evaluation, kp_gt.json and
// kp_dt.json for keypoints. The annotation file, instances_*.json, lies in the
// directory itself or in data/coco beside one of its parents.
package cococheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/coco"
	"github.com/gotorch-dev/torch/coco/mask"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
)

// Result is what became of one family of cases.
type Result = golden.Result

// tolerance is how far a number may be from the reference's.
const tolerance = 1e-9

type polygonCase struct {
	H, W              int
	Polygons          [][]float64
	RLEs              []rle
	Merged, Intersect rle
	Area              int
	Bbox              [4]float64
}

// rle keeps the text as it is written, to compare it byte for byte.
type rle struct {
	Size   [2]int
	Counts string
}

// UnmarshalJSON also takes counts that are a list of numbers.
func (r *rle) UnmarshalJSON(b []byte) error {
	var x struct {
		Size   [2]int
		Counts json.RawMessage
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	r.Size = x.Size
	if json.Unmarshal(x.Counts, &r.Counts) == nil {
		return nil
	}
	var m mask.RLE
	err := json.Unmarshal(b, &m)
	r.Counts = m.CountsString()
	return err
}

func (r rle) mask() (mask.RLE, error) { return mask.Parse(r.Size[0], r.Size[1], r.Counts) }

func (r rle) same(m mask.RLE) error {
	if got := m.CountsString(); m.H != r.Size[0] || m.W != r.Size[1] || got != r.Counts {
		return fmt.Errorf("%d x %d %q, want %d x %d %q", m.H, m.W, got, r.Size[0], r.Size[1], r.Counts)
	}
	return nil
}

type index struct {
	Masks []struct {
		Mask string
		RLE  rle
		Area int
		Bbox [4]float64
	}
	Polygons []polygonCase
	Boxes    []struct {
		H, W  int
		Boxes [][4]float64
		RLEs  []rle
	}
	Uncompressed json.RawMessage
	IoU          []struct {
		Kind    string
		H, W    int    // of the image, where
		Size    [2]int // polygons or boxes are compared as masks
		Dt, Gt  json.RawMessage
		IsCrowd []int
		IoU     [][]float64
	}
	Queries map[string]json.RawMessage
	Eval    map[string]struct {
		Type          string
		Stats         []float64
		PerCat        map[string]float64 `json:"precision_mean_per_cat"`
		WithoutCats50 *float64           `json:"useCats0_maxDets50_recall_mean"`
	}
}

// Run runs the cases of dir. The error is about the directory itself, not
// about cases that fail.
func Run(dir string) ([]Result, error) {
	b, err := golden.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		return nil, fmt.Errorf("cococheck: %w", err)
	}
	var ix index
	if err := json.Unmarshal(b, &ix); err != nil {
		return nil, fmt.Errorf("cococheck: %s: %w", filepath.Join(dir, "index.json"), err)
	}
	var out []Result
	family := func(name string, f func(r *recorder)) {
		r := recorder{Result: Result{Name: name}}
		f(&r)
		out = append(out, r.Result)
	}
	family("masks", func(r *recorder) { ix.masks(r, dir) })
	family("polygons", ix.polygons)
	family("boxes", ix.boxes)
	family("uncompressed", ix.uncompressed)
	family("iou", ix.ious)
	gt, reason := annotations(dir)
	family("queries", func(r *recorder) { ix.queries(r, gt, reason) })
	family("eval", func(r *recorder) { ix.evals(r, dir, gt, reason) })
	return out, nil
}

// recorder counts.
type recorder struct{ Result }

// check counts one case; a panic in it is a failure like any other.
func (r *recorder) check(name string, f func() error) {
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return f()
	}()
	r.Add(name, err)
}

// skip counts n cases that cannot run.
func (r *recorder) skip(n int, reason string) {
	for range n {
		r.Add(strconv.Itoa(len(r.Cases)), golden.Skip(reason))
	}
}

// annotations opens the annotation file that goes with dir.
func annotations(dir string) (*coco.COCO, string) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err.Error()
	}
	for at := abs; ; at = filepath.Dir(at) {
		for _, d := range []string{at, filepath.Join(at, "data", "coco")} {
			names, _ := filepath.Glob(filepath.Join(d, "instances_*.json"))
			for _, n := range names {
				// The results made for it have a similar name.
				if strings.Contains(filepath.Base(n), "results") {
					continue
				}
				c, err := coco.Open(n)
				if err != nil {
					return nil, err.Error()
				}
				return c, ""
			}
		}
		if filepath.Dir(at) == at {
			return nil, "no instances_*.json in " + dir + " or data/coco"
		}
	}
}

func measures(m mask.RLE, area int, bbox [4]float64) error {
	if m.Area() != area {
		return fmt.Errorf("area %d, want %d", m.Area(), area)
	}
	if m.ToBbox() != bbox {
		return fmt.Errorf("box %v, want %v", m.ToBbox(), bbox)
	}
	return nil
}

func (ix *index) masks(r *recorder, dir string) {
	if len(ix.Masks) == 0 {
		return
	}
	arrays, err := readNPZ(filepath.Join(dir, "masks.npz"))
	if err != nil {
		r.skip(len(ix.Masks), err.Error())
		return
	}
	for _, c := range ix.Masks {
		r.check(c.Mask, func() error {
			want := arrays[c.Mask]
			if want == nil {
				return errors.New("masks.npz has no such array")
			}
			m, err := mask.Encode(want)
			if err != nil {
				return err
			}
			if err := c.RLE.same(m); err != nil {
				return fmt.Errorf("encoded %w", err)
			}
			back, err := c.RLE.mask()
			if err != nil {
				return err
			}
			got, err := mask.Decode(back)
			if err != nil {
				return err
			}
			for i, p := range got.Pix {
				if (p != 0) != (want.Pix[i] != 0) {
					return fmt.Errorf("decoded pixel %d is %d", i, p)
				}
			}
			return measures(back, c.Area, c.Bbox)
		})
	}
}

// sameMasks compares masks one by one; what says what each was made of.
func sameMasks(what string, got []mask.RLE, want []rle) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d masks, want %d", len(got), len(want))
	}
	for j := range got {
		if err := want[j].same(got[j]); err != nil {
			return fmt.Errorf("%s %d: %w", what, j, err)
		}
	}
	return nil
}

func (ix *index) polygons(r *recorder) {
	for i, c := range ix.Polygons {
		r.check(fmt.Sprintf("polygons[%d]", i), func() error {
			got, err := mask.FromPolygons(c.Polygons, c.H, c.W)
			if err != nil {
				return err
			}
			if err := sameMasks("polygon", got, c.RLEs); err != nil {
				return err
			}
			u, err := mask.Merge(got, false)
			if err != nil {
				return err
			}
			if err := c.Merged.same(u); err != nil {
				return fmt.Errorf("union: %w", err)
			}
			n, err := mask.Merge(got, true)
			if err != nil {
				return err
			}
			if err := c.Intersect.same(n); err != nil {
				return fmt.Errorf("intersection: %w", err)
			}
			return measures(u, c.Area, c.Bbox)
		})
	}
}

func (ix *index) boxes(r *recorder) {
	for i, c := range ix.Boxes {
		r.check(fmt.Sprintf("boxes[%d]", i), func() error {
			got, err := mask.FromBoxes(c.Boxes, c.H, c.W)
			if err != nil {
				return err
			}
			return sameMasks("box", got, c.RLEs)
		})
	}
}

func (ix *index) uncompressed(r *recorder) {
	if len(ix.Uncompressed) == 0 {
		return
	}
	type one struct {
		In   form
		H, W int // of the image, for polygons and boxes
		RLE  rle
	}
	var cases []one
	if ix.Uncompressed[0] == '{' {
		cases = make([]one, 1)
		if err := json.Unmarshal(ix.Uncompressed, &cases[0]); err != nil {
			r.skip(1, err.Error())
			return
		}
	} else if err := json.Unmarshal(ix.Uncompressed, &cases); err != nil {
		r.skip(1, err.Error())
		return
	}
	for i, c := range cases {
		r.check(fmt.Sprintf("uncompressed[%d]", i), func() error {
			if c.H == 0 {
				c.H, c.W = c.RLE.Size[0], c.RLE.Size[1]
			}
			m, err := c.In.mask(c.H, c.W)
			if err != nil {
				return err
			}
			return c.RLE.same(m)
		})
	}
}

func (ix *index) ious(r *recorder) {
	for i, c := range ix.IoU {
		name := fmt.Sprintf("iou[%d]", i)
		crowd := make([]bool, len(c.IsCrowd))
		for j, v := range c.IsCrowd {
			crowd[j] = v != 0
		}
		switch c.Kind {
		case "bbox":
			r.check(name, func() error {
				var dt, gt [][4]float64
				if err := errors.Join(json.Unmarshal(c.Dt, &dt), json.Unmarshal(c.Gt, &gt)); err != nil {
					return err
				}
				got, err := mask.BoxIoU(dt, gt, crowd)
				if err != nil {
					return err
				}
				return sameRows(got, c.IoU)
			})
		default: // objects in any form, compared as masks
			if len(c.Dt) == 0 || len(c.Gt) == 0 {
				r.skip(1, fmt.Sprintf("%s: no objects of kind %q", name, c.Kind))
				continue
			}
			r.check(name, func() error {
				var dt, gt []form
				if err := errors.Join(json.Unmarshal(c.Dt, &dt), json.Unmarshal(c.Gt, &gt)); err != nil {
					return err
				}
				h, w := c.H, c.W
				if h == 0 {
					h, w = c.Size[0], c.Size[1]
				}
				ms, err := masks(h, w, dt, gt)
				if err != nil {
					return err
				}
				got, err := mask.IoU(ms[0], ms[1], crowd)
				if err != nil {
					return err
				}
				return sameRows(got, c.IoU)
			})
		}
	}
}

func sameRows(got, want [][]float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if err := sameFloats(got[i], want[i]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

func sameFloats(got, want []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d numbers, want %d", len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			return fmt.Errorf("number %d is %v, want %v", i, got[i], want[i])
		}
	}
	return nil
}

var catNumbers = regexp.MustCompile(`^(ann|img)_ids_cat([0-9_]+)$`)

// queryArea is the range of areas in the ann_ids_area query. Like all lists of
// the queries, its result may be cut to its beginning.
var queryArea = [2]float64{1000, 2000}

func (ix *index) queries(r *recorder, c *coco.COCO, reason string) {
	names := make([]string, 0, len(ix.Queries))
	for n := range ix.Queries {
		names = append(names, n)
	}
	sort.Strings(names)
	if c == nil {
		r.skip(len(names), reason)
		return
	}
	for _, name := range names {
		raw := ix.Queries[name]
		ids := func(got []int64) {
			r.check(name, func() error {
				var want []int64
				if err := json.Unmarshal(raw, &want); err != nil {
					return err
				}
				if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
					return fmt.Errorf("got %v, want %v", got, want)
				}
				return nil
			})
		}
		number := func(got int) {
			r.check(name, func() error {
				if string(raw) != strconv.Itoa(got) {
					return fmt.Errorf("got %d, want %s", got, raw)
				}
				return nil
			})
		}
		crowd := true
		m := catNumbers.FindStringSubmatch(name)
		switch {
		case name == "n_imgs":
			number(len(c.ImgIDs(coco.Filter{})))
		case name == "n_anns":
			number(len(c.AnnIDs(coco.Filter{})))
		case name == "n_cats":
			number(len(c.CatIDs(coco.Filter{})))
		case name == "ann_ids_area":
			ids(c.AnnIDs(coco.Filter{AreaRng: queryArea}))
		case name == "ann_ids_crowd":
			ids(c.AnnIDs(coco.Filter{IsCrowd: &crowd}))
		case name == "supercats":
			r.check(name, func() error {
				var want, got []string
				if err := json.Unmarshal(raw, &want); err != nil {
					return err
				}
				cats, err := c.LoadCats(c.CatIDs(coco.Filter{SupNames: want})...)
				if err != nil {
					return err
				}
				for _, k := range cats {
					got = append(got, k.Supercategory)
				}
				sort.Strings(got)
				if got = slices.Compact(got); !reflect.DeepEqual(got, want) {
					return fmt.Errorf("got %v, want %v", got, want)
				}
				return nil
			})
		case name == "mask_area":
			r.check(name, func() error { return maskAreas(c, raw) })
		case strings.HasPrefix(name, "cat_ids_"):
			ids(c.CatIDs(coco.Filter{CatNames: strings.Split(strings.TrimPrefix(name, "cat_ids_"), "_")}))
		case m != nil:
			var f coco.Filter
			for _, s := range strings.Split(m[2], "_") {
				id, _ := strconv.ParseInt(s, 10, 64)
				f.CatIDs = append(f.CatIDs, id)
			}
			if m[1] == "ann" {
				ids(c.AnnIDs(f))
			} else {
				ids(c.ImgIDs(f))
			}
		default:
			r.skip(1, "unknown query "+name)
		}
	}
}

func maskAreas(c *coco.COCO, raw json.RawMessage) error {
	var want map[string]int
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	for s, area := range want {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return err
		}
		anns, err := c.LoadAnns(id)
		if err != nil {
			return err
		}
		m, err := c.AnnToMask(anns[0])
		if err != nil {
			return err
		}
		n := 0
		for _, p := range m.Pix {
			n += int(p)
		}
		if n != area {
			return fmt.Errorf("annotation %d has %d pixels, want %d", id, n, area)
		}
	}
	return nil
}

func (ix *index) evals(r *recorder, dir string, gt *coco.COCO, reason string) {
	names := make([]string, 0, len(ix.Eval))
	for n := range ix.Eval {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, name := range names {
		want := ix.Eval[name]
		truth, file := gt, filepath.Join(dir, name+".json")
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && want.Type == string(coco.KeypointsOKS) {
			// Keypoints have a truth of their own.
			file = filepath.Join(dir, "kp_dt.json")
			golden.Note(filepath.Join(dir, "kp_gt.json"))
			var err error
			if truth, err = coco.Open(filepath.Join(dir, "kp_gt.json")); err != nil {
				r.skip(1, err.Error())
				continue
			}
		}
		golden.Note(file)
		if truth == nil {
			r.skip(1, reason)
			continue
		}
		if _, err := os.Stat(file); err != nil {
			r.skip(1, err.Error())
			continue
		}
		var dt *coco.COCO
		r.check(name, func() (err error) {
			if dt, err = truth.LoadRes(file); err != nil {
				return err
			}
			e := coco.NewEval(truth, dt, coco.IoUType(want.Type))
			if err := e.Run(); err != nil {
				return err
			}
			if err := sameFloats(e.Stats, want.Stats); err != nil {
				return fmt.Errorf("stats: %w", err)
			}
			return perCategory(e, want.PerCat)
		})
		if want.WithoutCats50 == nil || dt == nil {
			continue
		}
		r.check(name+" without categories", func() error {
			e := coco.NewEval(truth, dt, coco.IoUType(want.Type))
			e.Params.UseCats = false
			e.Params.MaxDets = []int{1, 10, 50}
			if err := e.Run(); err != nil {
				return err
			}
			sum, n := 0.0, 0
			for _, v := range e.Result.Recall {
				if v > -1 {
					sum += v
					n++
				}
			}
			return sameFloats([]float64{sum / float64(n)}, []float64{*want.WithoutCats50})
		})
	}
}

// perCategory compares the mean precision of each category over thresholds and
// recalls, for all areas and the most detections.
func perCategory(e *coco.Eval, want map[string]float64) error {
	if want == nil {
		return nil
	}
	stats, err := e.PerCategory()
	if err != nil {
		return err
	}
	for _, s := range stats {
		w, ok := want[strconv.FormatInt(s.ID, 10)]
		if !ok {
			return fmt.Errorf("category %d is not in the expected list", s.ID)
		}
		if err := sameFloats([]float64{s.Metrics[0].Value}, []float64{w}); err != nil {
			return fmt.Errorf("category %d: %w", s.ID, err)
		}
	}
	return nil
}

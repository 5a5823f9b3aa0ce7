package coco

import (
	"fmt"
	"slices"
	"strings"
)

// Metric is one of the numbers of the summary.
type Metric struct {
	Name    string  // AP, AP50, AP75, APs, APm, APl, AR1 … (by detections, or by IoU for keypoints)
	Recall  bool    // average recall; otherwise average precision
	IoU     float64 // the one threshold, or 0 for the mean over all
	Area    string  // label of the range of areas
	MaxDets int     // detections per image
	Value   float64 // -1 where there is nothing to average
}

// metrics lists what the summary consists of.
func metrics(p *Params) ([]Metric, error) {
	if p.Type == KeypointsOKS {
		n := p.APMaxDets
		if n == 0 {
			n = 20
		}
		return []Metric{
			{"AP", false, 0, "all", n, 0}, {"AP50", false, .5, "all", n, 0}, {"AP75", false, .75, "all", n, 0},
			{"APm", false, 0, "medium", n, 0}, {"APl", false, 0, "large", n, 0},
			{"AR", true, 0, "all", n, 0}, {"AR50", true, .5, "all", n, 0}, {"AR75", true, .75, "all", n, 0},
			{"ARm", true, 0, "medium", n, 0}, {"ARl", true, 0, "large", n, 0},
		}, nil
	}
	if len(p.MaxDets) < 3 {
		return nil, fmt.Errorf("coco: Summarize: want three MaxDets, got %v", p.MaxDets)
	}
	d := p.MaxDets
	n := p.APMaxDets
	if n == 0 {
		n = 100
	}
	return []Metric{
		{"AP", false, 0, "all", n, 0}, {"AP50", false, .5, "all", d[2], 0}, {"AP75", false, .75, "all", d[2], 0},
		{"APs", false, 0, "small", d[2], 0}, {"APm", false, 0, "medium", d[2], 0}, {"APl", false, 0, "large", d[2], 0},
		{fmt.Sprint("AR", d[0]), true, 0, "all", d[0], 0}, {fmt.Sprint("AR", d[1]), true, 0, "all", d[1], 0},
		{fmt.Sprint("AR", d[2]), true, 0, "all", d[2], 0},
		{"ARs", true, 0, "small", d[2], 0}, {"ARm", true, 0, "medium", d[2], 0}, {"ARl", true, 0, "large", d[2], 0},
	}, nil
}

// Summarize computes [Eval.Stats]: twelve numbers for boxes and masks, ten for
// keypoints, in pycocotools' order. Boxes and masks want three MaxDets (the
// third is used for all but two of the recalls).
func (e *Eval) Summarize() error {
	ms, err := e.Metrics()
	if err != nil {
		return err
	}
	e.Stats = e.Stats[:0]
	for _, m := range ms {
		e.Stats = append(e.Stats, m.Value)
	}
	return nil
}

// Metrics returns the numbers of the summary with their names and conditions.
func (e *Eval) Metrics() ([]Metric, error) {
	if e.Result == nil {
		return nil, fmt.Errorf("coco: Summarize: call Accumulate first")
	}
	ms, err := metrics(e.summaryParams())
	if err != nil {
		return nil, err
	}
	for i := range ms {
		ms[i].Value = e.mean(&ms[i], -1)
	}
	return ms, nil
}

// summaryParams are the evaluated parameters; only APMaxDets can be set later.
func (e *Eval) summaryParams() *Params {
	p := *e.done
	p.APMaxDets = e.Params.APMaxDets
	return &p
}

// mean averages precision or recall over thresholds and categories (one
// category, with k >= 0), leaving out what is -1.
func (e *Eval) mean(m *Metric, k int) float64 {
	p, r := e.done, e.Result
	a, md := slices.Index(p.AreaRngLbl, m.Area), slices.Index(p.MaxDets, m.MaxDets)
	if a < 0 || md < 0 {
		return -1
	}
	k0, k1 := 0, r.K
	if k >= 0 {
		k0, k1 = k, k+1
	}
	sum, n := 0.0, 0
	for t, thr := range p.IoUThrs {
		if m.IoU != 0 && thr != m.IoU {
			continue
		}
		for k := k0; k < k1; k++ {
			if m.Recall {
				if v := r.RecallAt(t, k, a, md); v > -1 {
					sum += v
					n++
				}
				continue
			}
			for rec := range r.R {
				if v := r.PrecisionAt(t, rec, k, a, md); v > -1 {
					sum += v
					n++
				}
			}
		}
	}
	if n == 0 {
		return -1
	}
	return sum / float64(n)
}

// String returns the summary as pycocotools prints it, a line for each number;
// before Accumulate, a line that says so.
func (e *Eval) String() string {
	ms, err := e.Metrics()
	if err != nil {
		return err.Error()
	}
	var s strings.Builder
	for _, m := range ms {
		title, short := "Average Precision", "(AP)"
		if m.Recall {
			title, short = "Average Recall", "(AR)"
		}
		iou := fmt.Sprintf("%0.2f", m.IoU)
		if m.IoU == 0 {
			iou = fmt.Sprintf("%0.2f:%0.2f", e.done.IoUThrs[0], e.done.IoUThrs[len(e.done.IoUThrs)-1])
		}
		fmt.Fprintf(&s, " %-18s %s @[ IoU=%-9s | area=%6s | maxDets=%3d ] = %0.3f\n", title, short, iou, m.Area,
			m.MaxDets, m.Value)
	}
	return s.String()
}

// CategoryStats is the summary of one category.
type CategoryStats struct {
	ID   int64
	Name string
	// Objects is the number of ground truths that count, crowds left out.
	Objects int
	// Detections is the number of detections considered.
	Detections int
	// Metrics are the numbers of the summary for this category alone.
	Metrics []Metric
}

// PerCategory returns the summary of every category, in the order of
// Result.CatIDs. Without UseCats it is one category "all".
func (e *Eval) PerCategory() ([]CategoryStats, error) {
	if e.Result == nil {
		return nil, fmt.Errorf("coco: PerCategory: call Accumulate first")
	}
	base, err := metrics(e.summaryParams())
	if err != nil {
		return nil, err
	}
	out := make([]CategoryStats, e.Result.K)
	for k, id := range e.Result.CatIDs {
		s := CategoryStats{ID: id, Name: "all", Detections: e.groups[k].n, Metrics: slices.Clone(base)}
		if id != -1 || e.done.UseCats {
			s.Name = ""
			if c := e.gt.cats[id]; c != nil {
				s.Name = c.Name
			}
		}
		for _, o := range e.groups[k].gts {
			if !o.ignore {
				s.Objects++
			}
		}
		for i := range s.Metrics {
			s.Metrics[i].Value = e.mean(&s.Metrics[i], k)
		}
		out[k] = s
	}
	return out, nil
}

// Table returns the per-category summary as text: AP, AP50, AP75 and the last
// recall of each category in columns.
func (e *Eval) Table() (string, error) {
	cats, err := e.PerCategory()
	if err != nil {
		return "", err
	}
	// AP at all, .5 and .75, and the AR that goes with them.
	ar := 8
	if e.done.Type == KeypointsOKS {
		ar = 5
	}
	width := len("category")
	for _, c := range cats {
		width = max(width, len([]rune(c.Name)))
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%-*s %8s %8s %7s %7s %7s %7s\n", width, "category", "objects", "dets", "AP", "AP50", "AP75", "AR")
	for _, c := range cats {
		m := c.Metrics
		fmt.Fprintf(&s, "%-*s %8d %8d %7.3f %7.3f %7.3f %7.3f\n", width, c.Name, c.Objects, c.Detections,
			m[0].Value, m[1].Value, m[2].Value, m[ar].Value)
	}
	return s.String(), nil
}

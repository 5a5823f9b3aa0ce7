package coco

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gotorch-dev/torch/coco/mask"
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
		for _, s := range []float64{.26, .25, .25, .35, .35, .79, .79, .72, .72, .62, .62, 1.07, 1.07, .87, .87, .89, .89} {
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

// Eval compares detections with the truth, as pycocotools' COCOeval does, to
// the same numbers. Make one with [NewEval], change Params if needed, then call
// [Eval.Run], or [Eval.Evaluate], [Eval.Accumulate] and [Eval.Summarize] in turn.
type Eval struct {
	Params Params
	// Workers is the number of goroutines; 0 is one per processor. The
	// numbers do not depend on it.
	Workers int
	// Result holds precision and recall after Accumulate.
	Result *EvalResult
	// Stats holds the twelve numbers (ten for keypoints) after Summarize; see
	// [Eval.Metrics] for their names.
	Stats []float64

	gt, dt *COCO
	done   *Params // the parameters of Evaluate, normalised
	groups []*group
}

// NewEval prepares the comparison of the detections dt, from [COCO.LoadRes],
// with the truth gt.
func NewEval(gt, dt *COCO, t IoUType) *Eval {
	e := &Eval{Params: DefaultParams(t), gt: gt, dt: dt}
	for _, m := range gt.Dataset.Images {
		e.Params.ImgIDs = append(e.Params.ImgIDs, m.ID)
	}
	slices.Sort(e.Params.ImgIDs)
	for _, k := range gt.Dataset.Categories {
		e.Params.CatIDs = append(e.Params.CatIDs, k.ID)
	}
	slices.Sort(e.Params.CatIDs)
	return e
}

// EvalResult is what [Eval.Accumulate] computes. -1 stands for categories and
// area ranges without any object.
type EvalResult struct {
	// T, R, K, A, M are the numbers of IoU thresholds, recall thresholds,
	// categories, area ranges and detection limits.
	T, R, K, A, M int
	// CatIDs are the K categories; without UseCats the one category -1.
	CatIDs []int64
	// Precision and Scores are [T][R][K][A][M] arrays in row-major order: the
	// precision at a recall, and the lowest score that reaches that recall.
	Precision, Scores []float64
	// Recall is the [T][K][A][M] array of the highest recall reached.
	Recall []float64
}

// PrecisionAt returns one element of Precision.
func (r *EvalResult) PrecisionAt(t, rec, k, a, m int) float64 {
	return r.Precision[r.at(t, rec, k, a, m)]
}

// ScoreAt returns one element of Scores.
func (r *EvalResult) ScoreAt(t, rec, k, a, m int) float64 { return r.Scores[r.at(t, rec, k, a, m)] }

// RecallAt returns one element of Recall.
func (r *EvalResult) RecallAt(t, k, a, m int) float64 {
	return r.Recall[((t*r.K+k)*r.A+a)*r.M+m]
}

func (r *EvalResult) at(t, rec, k, a, m int) int {
	return (((t*r.R+rec)*r.K+k)*r.A+a)*r.M + m
}

// Run is Evaluate, Accumulate and Summarize.
func (e *Eval) Run() error {
	if err := e.Evaluate(); err != nil {
		return err
	}
	if err := e.Accumulate(); err != nil {
		return err
	}
	return e.Summarize()
}

// object is one annotation prepared for comparing.
type object struct {
	ann    *Annotation
	box    [4]float64
	shape  mask.Shape
	ignore bool // whatever its area
	img    int  // index of its image
	cat    int  // index of its category in CatIDs
}

// cell is one image of one category: a part of the group's objects.
type cell struct {
	img            int
	g0, g1, d0, d1 int // ground truths and detections, best score first
	off            int // where its detections begin among the group's counted ones
}

// group is one category (or everything, without UseCats).
type group struct {
	gts, dts []object
	cells    []cell
	n        int // detections counted: at most the largest MaxDets per image

	scores []float64
	rank   []int32   // place within the image
	state  [][]uint8 // [A][T*n]: miss, hit, or left out
	npig   []int64   // [A]: ground truths that are not ignored
}

const (
	stateMiss = iota
	stateHit
	stateIgnored
)

// Evaluate matches detections with ground truths, image by image, on several
// goroutines. It fails if parameters contradict each other, and names the
// annotation that lacks what the evaluation needs: area, a box, a shape,
// keypoints, a score.
//
// A ground truth whose id is 0 cannot be matched, as in pycocotools (which
// takes the number 0 in its tables for "none"): number from 1.
func (e *Eval) Evaluate() error {
	p, err := e.normalise()
	if err != nil {
		return err
	}
	groups, err := e.collect(p)
	if err != nil {
		return err
	}
	type job struct{ g, c int }
	var jobs []job
	for gi, g := range groups {
		for ci := range g.cells {
			jobs = append(jobs, job{gi, ci})
		}
	}
	// Small pieces: crowded images take far longer than others.
	const piece = 16
	err = e.parallel((len(jobs)+piece-1)/piece, func() func(int) error {
		var m matcher
		return func(i int) error {
			for _, j := range jobs[i*piece : min(len(jobs), (i+1)*piece)] {
				g := groups[j.g]
				m.load(p, g.gts, g.dts, &g.cells[j.c])
				m.store(p, g, &g.cells[j.c])
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	e.done, e.groups, e.Result, e.Stats = p, groups, nil, nil
	return nil
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

// collect sorts annotations into groups and cells.
func (e *Eval) collect(p *Params) ([]*group, error) {
	imgs := make(map[int64]int, len(p.ImgIDs))
	for i, id := range p.ImgIDs {
		imgs[id] = i
	}
	cats := make(map[int64]int, len(p.CatIDs))
	for i, id := range p.CatIDs {
		cats[id] = i
	}
	k := len(p.CatIDs)
	if !p.UseCats {
		k = 1
	}
	groups := make([]*group, k)
	for i := range groups {
		groups[i] = &group{}
	}
	pick := func(c *COCO, add func(g *group, o object)) {
		for _, a := range c.Dataset.Annotations {
			ci, ok := cats[a.CategoryID]
			if !ok {
				continue
			}
			ii, ok := imgs[a.ImageID]
			if !ok {
				continue
			}
			g := groups[0]
			if p.UseCats {
				g = groups[ci]
			}
			add(g, object{ann: a, img: ii, cat: ci})
		}
	}
	pick(e.gt, func(g *group, o object) { g.gts = append(g.gts, o) })
	pick(e.dt, func(g *group, o object) { g.dts = append(g.dts, o) })

	maxDet := p.MaxDets[len(p.MaxDets)-1]
	// Every step below is independent for each group; within a group, shapes
	// are prepared in pieces, because one category may hold most objects.
	type piece struct {
		c    *COCO
		objs []object
		gt   bool
	}
	var pieces []piece
	cut := func(c *COCO, objs []object, gt bool) {
		for len(objs) > 0 {
			n := min(256, len(objs))
			pieces = append(pieces, piece{c, objs[:n], gt})
			objs = objs[n:]
		}
	}
	for _, g := range groups {
		cut(e.gt, g.gts, true)
		cut(e.dt, g.dts, false)
	}
	err := e.parallel(len(pieces), func() func(int) error {
		return func(i int) error {
			pc := pieces[i]
			for j := range pc.objs {
				if err := prepare(p, pc.c, &pc.objs[j], pc.gt); err != nil {
					return pc.c.place(pc.objs[j].ann, err)
				}
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	err = e.parallel(len(groups), func() func(int) error {
		return func(i int) error { groups[i].arrange(p, maxDet); return nil }
	})
	return groups, err
}

// prepare computes what comparing needs to know of one annotation.
func prepare(p *Params, c *COCO, o *object, gt bool) error {
	a := o.ann
	if err := a.need(hasArea); err != nil {
		return err
	}
	if gt {
		o.ignore = a.IsCrowd
	} else {
		if err := a.need(hasScore); err != nil {
			return err
		}
		if math.IsNaN(a.Score) {
			return inField("score", problem("not a number"))
		}
	}
	switch p.Type {
	case BboxIoU:
		if a.Bbox == nil {
			return inField("bbox", problem("missing"))
		}
		o.box = [4]float64(a.Bbox)
	case SegmIoU:
		r, err := c.annToRLE(a)
		if err != nil {
			return err
		}
		o.shape = mask.NewShape(r)
	case KeypointsOKS:
		if n := len(p.KptOKSSigmas); len(a.Keypoints) != 3*n {
			return inField("keypoints", problem("want %d numbers for %d sigmas, got %d", 3*n, n, len(a.Keypoints)))
		}
		if gt {
			if a.Bbox == nil {
				return inField("bbox", problem("missing"))
			}
			if err := a.need(hasNumKeypoints); err != nil {
				return err
			}
			o.box = [4]float64(a.Bbox)
			o.ignore = o.ignore || a.NumKeypoints == 0
		}
	}
	return nil
}

// arrange orders a group's objects by image, detections by falling score, and
// cuts it into cells.
func (g *group) arrange(p *Params, maxDet int) {
	// Stable, so that objects of one image keep the order of the file (without
	// UseCats: category by category). Files are usually in order already.
	byCell := func(a, b object) int {
		if c := cmp.Compare(a.img, b.img); c != 0 {
			return c
		}
		return cmp.Compare(a.cat, b.cat)
	}
	sortStable(g.gts, byCell)
	sortStable(g.dts, func(a, b object) int {
		if c := byCell(a, b); c != 0 && (a.img != b.img) {
			return c
		} else if a.ann.Score != b.ann.Score {
			return cmp.Compare(b.ann.Score, a.ann.Score)
		} else {
			return c
		}
	})
	gi, di := 0, 0
	for gi < len(g.gts) || di < len(g.dts) {
		img := math.MaxInt
		if gi < len(g.gts) {
			img = g.gts[gi].img
		}
		if di < len(g.dts) {
			img = min(img, g.dts[di].img)
		}
		c := cell{img: img, g0: gi, d0: di, off: g.n}
		for gi < len(g.gts) && g.gts[gi].img == img {
			gi++
		}
		for di < len(g.dts) && g.dts[di].img == img {
			di++
		}
		c.g1, c.d1 = gi, min(di, c.d0+maxDet)
		g.n += c.d1 - c.d0
		g.cells = append(g.cells, c)
	}
	g.scores, g.rank = make([]float64, g.n), make([]int32, g.n)
	g.state = make([][]uint8, len(p.AreaRng))
	for a := range g.state {
		g.state[a] = make([]uint8, len(p.IoUThrs)*g.n)
	}
	g.npig = make([]int64, len(p.AreaRng))
}

// sortStable sorts objects, which are large, by way of their indices.
func sortStable(s []object, less func(a, b object) int) {
	idx := make([]int32, len(s))
	for i := range idx {
		idx[i] = int32(i)
	}
	slices.SortFunc(idx, func(a, b int32) int {
		if c := less(s[a], s[b]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	out := make([]object, len(s))
	for i, j := range idx {
		out[i] = s[j]
	}
	copy(s, out)
}

// matcher matches the detections of one cell; its memory is used again and again.
type matcher struct {
	gts, dts []object
	iou      []float64 // [D][G]
	order    []int     // ground truths, those not ignored first
	ignored  []bool    // in that order
	crowd    []bool
	taken    []bool
	match    []int32 // [T][D]: index into order, or -1
	gtMatch  []int32 // [T][G]
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}

// load computes the overlaps of a cell.
func (m *matcher) load(p *Params, gts, dts []object, c *cell) {
	m.gts, m.dts = gts[c.g0:c.g1], dts[c.d0:c.d1]
	g, d := len(m.gts), len(m.dts)
	m.iou = grow(m.iou, g*d)
	for i := range m.dts {
		for j := range m.gts {
			dt, gt := &m.dts[i], &m.gts[j]
			v := &m.iou[i*g+j]
			switch p.Type {
			case BboxIoU:
				*v = mask.PairIoU(&dt.box, &gt.box, gt.ann.IsCrowd)
			case SegmIoU:
				*v = mask.ShapeIoU(&dt.shape, &gt.shape, gt.ann.IsCrowd)
			default:
				*v = oks(p.KptOKSSigmas, dt, gt)
			}
		}
	}
}

// eps is the distance from 1 to the next float64 (numpy.spacing(1)).
const eps = 0x1p-52

// oks is the object keypoint similarity: the mean over the labelled keypoints
// of exp(-distance² / (2 · area · (2 sigma)²)). Where nothing is labelled, the
// distance is that from the box, enlarged by its own size on each side.
func oks(sigmas []float64, dt, gt *object) float64 {
	d, g := dt.ann.Keypoints, gt.ann.Keypoints
	labelled := 0
	for i := range sigmas {
		if g[3*i+2] > 0 {
			labelled++
		}
	}
	b := gt.box
	x0, x1 := b[0]-b[2], b[0]+float64(b[2]*2)
	y0, y1 := b[1]-b[3], b[1]+float64(b[3]*2)
	sum := 0.0
	for i, s := range sigmas {
		var dx, dy float64
		if labelled > 0 {
			if !(g[3*i+2] > 0) {
				continue
			}
			dx, dy = d[3*i]-g[3*i], d[3*i+1]-g[3*i+1]
		} else {
			dx = max(0, x0-d[3*i]) + max(0, d[3*i]-x1)
			dy = max(0, y0-d[3*i+1]) + max(0, d[3*i+1]-y1)
		}
		v := float64(2*s) * float64(2*s)
		sum += math.Exp(-(float64(dx*dx) + float64(dy*dy)) / v / (gt.ann.Area + eps) / 2)
	}
	if labelled > 0 {
		return sum / float64(labelled)
	}
	return sum / float64(len(sigmas))
}

// run matches the first maxDet detections for one range of areas. Detections
// come in order of their scores; each takes the ground truth with the highest
// overlap that is not taken yet, one that counts before one that is ignored.
// A crowd can be taken any number of times.
func (m *matcher) run(p *Params, rng [2]float64, maxDet int) {
	g, d := len(m.gts), min(len(m.dts), maxDet)
	m.order, m.ignored, m.crowd = m.order[:0], m.ignored[:0], m.crowd[:0]
	for _, ignore := range [2]bool{false, true} {
		for j := range m.gts {
			o := &m.gts[j]
			if (o.ignore || o.ann.Area < rng[0] || o.ann.Area > rng[1]) == ignore {
				m.order = append(m.order, j)
				m.ignored = append(m.ignored, ignore)
				m.crowd = append(m.crowd, o.ann.IsCrowd)
			}
		}
	}
	t := len(p.IoUThrs)
	m.match, m.gtMatch, m.taken = grow(m.match, t*d), grow(m.gtMatch, t*g), grow(m.taken, g)
	for ti, thr := range p.IoUThrs {
		row := m.match[ti*d : (ti+1)*d]
		back := m.gtMatch[ti*g : (ti+1)*g]
		clear(m.taken)
		for i := range back {
			back[i] = -1
		}
		for di := range row {
			best := min(thr, 1-1e-10)
			at := -1
			iou := m.iou[di*g : (di+1)*g]
			for gi, j := range m.order {
				if iou[j] < best {
					// Tested first, because nearly all end here. (It does not
					// matter for the break below: such a ground truth would
					// not have been chosen.)
					continue
				}
				if m.taken[gi] && !m.crowd[gi] {
					continue
				}
				if at >= 0 && !m.ignored[at] && m.ignored[gi] {
					break
				}
				best, at = iou[j], gi
			}
			row[di] = int32(at)
			if at >= 0 {
				back[at] = int32(di)
				m.taken[at] = m.dts[di].ann.ID > 0
			}
		}
	}
}

// verdict says what became of detection di at threshold ti after run.
func (m *matcher) verdict(p *Params, rng [2]float64, d, ti, di int) uint8 {
	at := m.match[ti*d+di]
	hit := at >= 0 && m.gts[m.order[at]].ann.ID != 0
	if at >= 0 && m.ignored[at] {
		return stateIgnored
	}
	if hit {
		return stateHit
	}
	if a := m.dts[di].ann.Area; a < rng[0] || a > rng[1] {
		return stateIgnored
	}
	return stateMiss
}

// store matches a cell for every range of areas and writes what became of its
// detections into the group.
func (m *matcher) store(p *Params, g *group, c *cell) {
	d := len(m.dts)
	for i := range m.dts {
		g.scores[c.off+i] = m.dts[i].ann.Score
		g.rank[c.off+i] = int32(i)
	}
	for a, rng := range p.AreaRng {
		m.run(p, rng, d)
		n := 0
		for _, ig := range m.ignored {
			if !ig {
				n++
			}
		}
		atomic.AddInt64(&g.npig[a], int64(n))
		for ti := range p.IoUThrs {
			row := g.state[a][ti*g.n+c.off:]
			for di := range m.dts {
				row[di] = m.verdict(p, rng, d, ti, di)
			}
		}
	}
}

// parallel calls the functions that start returns, one per goroutine, with the
// numbers 0 … n-1. It returns the error of the lowest number that failed.
func (e *Eval) parallel(n int, start func() func(i int) error) error {
	w := e.Workers
	if w <= 0 {
		w = runtime.GOMAXPROCS(0)
	}
	w = min(w, n)
	if w <= 1 {
		f := start()
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	at := int64(n)
	for range w {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f := start()
			for {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				if err := f(int(i)); err != nil {
					mu.Lock()
					if i < at {
						first, at = err, i
					}
					mu.Unlock()
					// Numbers are handed out in order: all lower ones are
					// already taken, so the lowest failure is still found.
					next.Store(int64(n))
					return
				}
			}
		}()
	}
	wg.Wait()
	return first
}

// Accumulate computes precision and recall from what [Eval.Evaluate] found.
func (e *Eval) Accumulate() error {
	if e.done == nil {
		return fmt.Errorf("coco: Accumulate: call Evaluate first")
	}
	p := e.done
	r := &EvalResult{T: len(p.IoUThrs), R: len(p.RecThrs), K: len(e.groups), A: len(p.AreaRng), M: len(p.MaxDets)}
	r.CatIDs = []int64{-1}
	if p.UseCats {
		r.CatIDs = slices.Clone(p.CatIDs)
	}
	r.Precision, r.Scores = minusOnes(r.T*r.R*r.K*r.A*r.M), minusOnes(r.T*r.R*r.K*r.A*r.M)
	r.Recall = minusOnes(r.T * r.K * r.A * r.M)
	err := e.parallel(len(e.groups), func() func(int) error {
		var acc accumulator
		return func(k int) error { acc.group(p, r, e.groups[k], k); return nil }
	})
	e.Result = r
	return err
}

func minusOnes(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// accumulator has the memory for one group at a time.
type accumulator struct {
	perm  []int32
	rank  []int32
	state []uint8
	score []float64
	pr    []float64 // at each hit: precision
	hitAt []int32   // at each hit: index among the sorted detections
}

// group fills in the numbers of category k.
//
// Precision only has to be known at hits: recall changes nowhere else, and the
// precision at a recall is the highest at or after the hit that reaches it.
func (acc *accumulator) group(p *Params, r *EvalResult, g *group, k int) {
	n := g.n
	acc.perm, acc.rank = grow(acc.perm, n), grow(acc.rank, n)
	acc.state, acc.score = grow(acc.state, n), grow(acc.score, n)
	for i := range acc.perm {
		acc.perm[i] = int32(i)
	}
	// Equal scores keep the order of the images, as numpy's mergesort does.
	slices.SortFunc(acc.perm, func(a, b int32) int {
		if sa, sb := g.scores[a], g.scores[b]; sa != sb {
			if sa > sb {
				return -1
			}
			return 1
		}
		return int(a) - int(b)
	})
	for i, j := range acc.perm {
		acc.rank[i], acc.score[i] = g.rank[j], g.scores[j]
	}
	for a := range p.AreaRng {
		if g.npig[a] == 0 {
			continue
		}
		npig := float64(g.npig[a])
		for t := range p.IoUThrs {
			row := g.state[a][t*n : (t+1)*n]
			for i, j := range acc.perm {
				acc.state[i] = row[j]
			}
			for m, maxDet := range p.MaxDets {
				acc.pr, acc.hitAt = acc.pr[:0], acc.hitAt[:0]
				tp, fp, first := 0, 0, -1
				for i, s := range acc.state {
					if int(acc.rank[i]) >= maxDet {
						continue
					}
					if first < 0 {
						first = i
					}
					switch s {
					case stateHit:
						tp++
						acc.pr = append(acc.pr, float64(tp)/(float64(fp+tp)+eps))
						acc.hitAt = append(acc.hitAt, int32(i))
					case stateMiss:
						fp++
					}
				}
				r.Recall[((t*r.K+k)*r.A+a)*r.M+m] = float64(tp) / npig
				for i := len(acc.pr) - 1; i > 0; i-- {
					acc.pr[i-1] = max(acc.pr[i-1], acc.pr[i])
				}
				h := 0
				for ri, thr := range p.RecThrs {
					at := r.at(t, ri, k, a, m)
					if !(thr > 0) {
						// Reached by the first detection, hit or not.
						r.Precision[at], r.Scores[at] = 0, 0
						if first >= 0 {
							r.Scores[at] = acc.score[first]
						}
						if len(acc.pr) > 0 {
							r.Precision[at] = acc.pr[0]
						}
						continue
					}
					for h < len(acc.pr) && float64(h+1)/npig < thr {
						h++
					}
					r.Precision[at], r.Scores[at] = 0, 0
					if h < len(acc.pr) {
						r.Precision[at], r.Scores[at] = acc.pr[h], acc.score[acc.hitAt[h]]
					}
				}
			}
		}
	}
}

// ImageEval is the matching of one image and category.
type ImageEval struct {
	ImageID, CategoryID int64
	AreaRng             [2]float64
	MaxDet              int
	// DtIDs and DtScores are the detections, best first.
	DtIDs    []int64
	DtScores []float64
	// GtIDs are the ground truths, those that count first; GtIgnore says which do not.
	GtIDs    []int64
	GtIgnore []bool
	// DtMatches and GtMatches hold, for every IoU threshold, the id that each
	// detection or ground truth was matched with, 0 for none.
	DtMatches, GtMatches [][]int64
	// DtIgnore says, for every IoU threshold, which detections do not count.
	DtIgnore [][]bool
	// IoU is the overlap of each detection with each ground truth, in this order.
	IoU [][]float64
}

// EvaluateImg returns how the detections of one image and category are matched
// for a range of areas, or nil if there is neither a detection nor a ground
// truth. Call it after [Eval.Evaluate]; without UseCats the category is -1.
func (e *Eval) EvaluateImg(imgID, catID int64, areaRng [2]float64, maxDet int) (*ImageEval, error) {
	if e.done == nil {
		return nil, fmt.Errorf("coco: EvaluateImg: call Evaluate first")
	}
	p := e.done
	k := 0
	if p.UseCats {
		k = slices.Index(p.CatIDs, catID)
	} else if catID != -1 {
		k = -1
	}
	if k < 0 {
		return nil, fmt.Errorf("coco: EvaluateImg: category %d was not evaluated", catID)
	}
	img, ok := slices.BinarySearch(p.ImgIDs, imgID)
	if !ok {
		return nil, fmt.Errorf("coco: EvaluateImg: image %d was not evaluated", imgID)
	}
	if maxDet < 0 {
		return nil, fmt.Errorf("coco: EvaluateImg: maxDet is %d", maxDet)
	}
	g := e.groups[k]
	ci, ok := slices.BinarySearchFunc(g.cells, img, func(c cell, img int) int { return cmp.Compare(c.img, img) })
	if !ok {
		return nil, nil
	}
	var m matcher
	m.load(p, g.gts, g.dts, &g.cells[ci])
	m.run(p, areaRng, maxDet)
	d, n := min(len(m.dts), maxDet), len(m.gts)
	out := &ImageEval{ImageID: imgID, CategoryID: catID, AreaRng: areaRng, MaxDet: maxDet, GtIgnore: slices.Clone(m.ignored)}
	for _, o := range m.dts[:d] {
		out.DtIDs = append(out.DtIDs, o.ann.ID)
		out.DtScores = append(out.DtScores, o.ann.Score)
	}
	for _, j := range m.order {
		out.GtIDs = append(out.GtIDs, m.gts[j].ann.ID)
	}
	for di := range d {
		row := make([]float64, n)
		for gi, j := range m.order {
			row[gi] = m.iou[di*n+j]
		}
		out.IoU = append(out.IoU, row)
	}
	for ti := range p.IoUThrs {
		dm, di, gm := make([]int64, d), make([]bool, d), make([]int64, n)
		for i := range dm {
			if at := m.match[ti*d+i]; at >= 0 {
				dm[i] = out.GtIDs[at]
			}
			di[i] = m.verdict(p, areaRng, d, ti, i) == stateIgnored
		}
		for i := range gm {
			if at := m.gtMatch[ti*n+i]; at >= 0 {
				gm[i] = out.DtIDs[at]
			}
		}
		out.DtMatches, out.DtIgnore, out.GtMatches = append(out.DtMatches, dm), append(out.DtIgnore, di), append(out.GtMatches, gm)
	}
	return out, nil
}

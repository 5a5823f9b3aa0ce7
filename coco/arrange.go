package coco

import (
	"cmp"
	"math"
	"slices"

	"github.com/gotorch-dev/torch/coco/mask"
)

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

package coco

import (
	"cmp"
	"fmt"
	"slices"
)

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
	out := &ImageEval{ImageID: imgID, CategoryID: catID, AreaRng: areaRng, MaxDet: maxDet,
		GtIgnore: slices.Clone(m.ignored)}
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
		out.DtMatches, out.DtIgnore, out.GtMatches = append(out.DtMatches, dm), append(out.DtIgnore, di),
			append(out.GtMatches, gm)
	}
	return out, nil
}

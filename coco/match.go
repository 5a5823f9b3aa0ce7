package coco

import (
	"math"
	"sync/atomic"

	"github.com/gotorch-dev/torch/coco/mask"
)

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

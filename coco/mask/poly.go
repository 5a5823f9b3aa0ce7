package mask

import (
	"fmt"
	"math"
	"slices"
)

// upsample is the grid on which polygon edges are traced: five steps to a pixel.
const upsample = 5

// maxCoord bounds polygon coordinates. Far beyond any image, it keeps the
// arithmetic on upsampled coordinates exact.
const maxCoord = 1 << 27

// maxCrossings bounds how often polygon edges may cross a column of the image.
// A real outline has thousands of crossings; a hostile one could otherwise ask
// for (number of edges) × (width) of them.
const maxCrossings = 1 << 22

// FromPolygons returns one RLE of h rows and w columns for each polygon; to
// get the object that several polygons describe, [Merge] them. A polygon is a
// list x0, y0, x1, y1 … in pixels, where (0, 0) is the corner of the first
// pixel; it is closed by itself, and may leave the image. The pixels filled
// are those that pycocotools fills.
//
// It fails for a polygon of an odd number of coordinates or fewer than four,
// and for coordinates that are not finite or beyond ±2^27.
func FromPolygons(polys [][]float64, h, w int) ([]RLE, error) {
	if err := checkSize("FromPolygons", h, w); err != nil {
		return nil, err
	}
	out := make([]RLE, len(polys))
	var t tracer
	for i, p := range polys {
		if len(p)%2 != 0 || len(p) < 4 {
			return nil, fmt.Errorf("mask: FromPolygons: polygon %d: want an even number of coordinates, at least 4, "+
				"got %d", i, len(p))
		}
		counts, err := t.fill(p, h, w)
		if err != nil {
			return nil, fmt.Errorf("mask: FromPolygons: polygon %d: %w", i, err)
		}
		out[i] = RLE{H: h, W: w, Counts: counts}
	}
	return out, nil
}

// FromBoxes returns one RLE for each box x, y, width, height: the pixels of
// the polygon with its four corners.
func FromBoxes(boxes [][4]float64, h, w int) ([]RLE, error) {
	if err := checkSize("FromBoxes", h, w); err != nil {
		return nil, err
	}
	out := make([]RLE, len(boxes))
	var t tracer
	for i, b := range boxes {
		xe, ye := b[0]+b[2], b[1]+b[3]
		counts, err := t.fill([]float64{b[0], b[1], b[0], ye, xe, ye, xe, b[1]}, h, w)
		if err != nil {
			return nil, fmt.Errorf("mask: FromBoxes: box %d: %w", i, err)
		}
		out[i] = RLE{H: h, W: w, Counts: counts}
	}
	return out, nil
}

// tracer holds memory that several polygons share.
type tracer struct {
	x, y []int
	pos  []int // positions in the mask, column-major, where inside and outside change
}

// fill returns the runs of one polygon.
//
// The outline is traced as lines on the upsampled grid, like Bresenham's:
// every edge steps along its longer direction. The middle of pixel column k
// lies between the grid columns 5k+2 and 5k+3; wherever the outline steps from
// one to the other, inside and outside change in column k, at the height of
// the step. Those heights, sorted, are the runs. Instead of tracing all points
// (pycocotools does) only the steps that matter are computed, from the same
// formula, so the result is the same to the pixel.
func (t *tracer) fill(xy []float64, h, w int) ([]uint32, error) {
	n := len(xy) / 2
	t.x, t.y, t.pos = t.x[:0], t.y[:0], t.pos[:0]
	for i, c := range xy {
		if !(math.Abs(c) <= maxCoord) {
			return nil, fmt.Errorf("coordinate %d is %v, want at most %d in size", i, c, maxCoord)
		}
		// Truncation, not rounding: it differs for negative numbers. The
		// conversion of the product forbids fused multiply-add.
		v := int(float64(upsample*c) + .5)
		if i%2 == 0 {
			t.x = append(t.x, v)
		} else {
			t.y = append(t.y, v)
		}
	}
	for i := 0; i < n; i++ {
		j := i + 1
		if j == n {
			j = 0
		}
		if err := t.edge(t.x[i], t.y[i], t.x[j], t.y[j], h, w); err != nil {
			return nil, err
		}
	}
	slices.Sort(t.pos)
	return runs(t.pos, h*w), nil
}

// edge adds the column changes of the line between two grid points.
func (t *tracer) edge(xs, ys, xe, ye, h, w int) error {
	dx, dy := abs(xe-xs), abs(ys-ye)
	if dx == 0 {
		return nil // stays in its column
	}
	// The line is computed from the end where its longer direction begins, so
	// that the outline does not depend on the sense of rotation.
	if (dx >= dy && xs > xe) || (dx < dy && ys > ye) {
		xs, ys, xe, ye = xe, ye, xs, ys
	}
	lo, hi := min(xs, xe), max(xs, xe)
	// Columns k with lo <= 5k+2 and 5k+3 <= hi, inside the image.
	k0, k1 := max(0, ceilDiv(lo-2, upsample)), min(w-1, floorDiv(hi-3, upsample))
	if k0 > k1 {
		return nil
	}
	if len(t.pos)+k1-k0+1 > maxCrossings {
		return fmt.Errorf("the outline crosses more than %d pixel columns", maxCrossings)
	}
	if dx >= dy {
		s := float64(ye-ys) / float64(dx)
		for k := k0; k <= k1; k++ {
			d := upsample*k + 2 - xs
			v0 := int(float64(ys) + float64(s*float64(d)) + .5)
			v1 := int(float64(ys) + float64(s*float64(d+1)) + .5)
			t.cross(k, min(v0, v1), h)
		}
		return nil
	}
	// A steep line: u(d) changes at most by one per step; look for the d where
	// it passes from one grid column to the next. u is monotonic, so the guess
	// from the inverse is corrected by walking.
	s := float64(xe-xs) / float64(dy)
	u := func(d int) int { return int(float64(xs) + float64(s*float64(d)) + .5) }
	for k := k0; k <= k1; k++ {
		c := upsample*k + 2
		d := int((float64(c) + .5 - float64(xs)) / s)
		d = max(0, min(dy-1, d))
		if s > 0 {
			for d > 0 && u(d) > c {
				d--
			}
			for d < dy-1 && u(d+1) <= c {
				d++
			}
			if u(d) > c || u(d+1) <= c {
				continue
			}
		} else {
			for d > 0 && u(d) <= c {
				d--
			}
			for d < dy-1 && u(d+1) > c {
				d++
			}
			if u(d) <= c || u(d+1) > c {
				continue
			}
		}
		t.cross(k, ys+d, h)
	}
	return nil
}

// cross notes a change in column k at grid row v: it takes effect from the
// first pixel whose middle is not above v.
func (t *tracer) cross(k, v, h int) {
	y := (float64(v)+.5)/upsample - .5
	y = math.Ceil(max(0, min(float64(h), y)))
	t.pos = append(t.pos, k*h+int(y))
}

// runs turns sorted positions of change into run lengths. Two changes at one
// place cancel each other.
func runs(pos []int, total int) []uint32 {
	out := make([]uint32, 0, len(pos)+1)
	prev := 0
	skip := false // the next run continues the last one of out
	emit := func(p int) {
		run := p - prev
		prev = p
		switch {
		case skip:
			out[len(out)-1] += uint32(run)
			skip = false
		case run > 0 || len(out) == 0:
			out = append(out, uint32(run))
		default:
			skip = true
		}
	}
	for _, p := range pos {
		emit(p)
	}
	emit(total)
	return out
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int) int { return -floorDiv(-a, b) }

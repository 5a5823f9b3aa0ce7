package digits

import (
	"math"
	"math/rand/v2"
	"slices"
)

// drawer draws samples one after another, with buffers that it keeps.
type drawer struct {
	rng   rand.PCG
	pts   []point
	edges []edge
	cross []crossing
	tmp   [Rows * Cols]byte
}

// uniform returns a number in [lo, hi).
func (d *drawer) uniform(lo, hi float64) float64 {
	u := float64(d.rng.Uint64()>>11) / (1 << 53)
	return lo + float64(u*(hi-lo))
}

// sample draws digit into px, which must be all zero.
func (d *drawer) sample(faces [][Classes]glyph, digit int, px []byte) {
	g := faces[d.rng.Uint64()%uint64(len(faces))][digit]

	// The distortion. Ranges are chosen so that every image can still be read by eye,
	// as a contact sheet shows: 6 and 9 keep apart, 1 does not become 7.
	var (
		height = d.uniform(15, 22) // pixels
		aspect = d.uniform(0.75, 1.25)
		stroke = d.uniform(-0.022, 0.045) // widening on each side, in heights
		shear  = d.uniform(-0.3, 0.3)
		bendX  = d.uniform(-0.35, 0.35) // x is moved by bendX*y²
		bendY  = d.uniform(-0.35, 0.35)
		taper  = d.uniform(-0.35, 0.35) // the lower half is wider than the upper one
		shiftX = d.uniform(-2.5, 2.5)   // pixels
		shiftY = d.uniform(-2.5, 2.5)
	)
	// A rotation by up to 17 degrees, given by the tangent of half the angle: sine and
	// cosine are then fractions, which every machine computes alike.
	t := d.uniform(-0.15, 0.15)
	t2 := float64(t * t)
	cos, sin := (1-t2)/(1+t2), 2*t/(1+t2)

	d.edges = d.edges[:0]
	for _, poly := range g {
		d.pts = widen(d.pts[:0], poly, stroke)
		for i, p := range d.pts {
			x := p.x + float64(shear*p.y)
			x = float64(x*aspect) + float64(bendX*float64(p.y*p.y))
			x = float64(x * (1 + float64(taper*p.y)))
			y := p.y + float64(bendY*float64(x*x))
			d.pts[i] = point{
				Cols/2 + shiftX + float64(height*(float64(cos*x)-float64(sin*y))),
				Rows/2 + shiftY + float64(height*(float64(sin*x)+float64(cos*y))),
			}
		}
		a := d.pts[len(d.pts)-1]
		for _, b := range d.pts {
			d.addEdge(a, b)
			a = b
		}
	}
	d.fill(px)
	d.blur(px, int(d.rng.Uint64()%80))
	d.noise(px)
}

// widen appends poly to dst with every corner moved outwards by w along the bisector
// of its two sides; the insides of holes shrink, because their corners run the other
// way round. A negative w makes strokes thinner.
func widen(dst, poly []point, w float64) []point {
	n := len(poly)
	normal := func(a, b point) point {
		dx, dy := b.x-a.x, b.y-a.y
		l := math.Sqrt(float64(dx*dx) + float64(dy*dy))
		return point{-dy / l, dx / l}
	}
	prev := normal(poly[n-1], poly[0])
	for i, p := range poly {
		next := normal(p, poly[(i+1)%n])
		// |prev+next|² = 2(1+cos): dividing by 1+cos keeps the sides parallel. At sharp
		// corners that point runs away, so it stops at twice the width.
		c := max(1+float64(prev.x*next.x)+float64(prev.y*next.y), 0.5)
		k := w / c
		// TrueType outlines turn clockwise as seen on the screen: outwards is minus the normal.
		dst = append(dst, point{p.x - float64(k*(prev.x+next.x)), p.y - float64(k*(prev.y+next.y))})
		prev = next
	}
	return dst
}

// The rasteriser counts in integers. A pixel is cut into lines lines and each of them
// is one pixel-height/lines high; along a line, coverage is exact to 1/unit pixel.
const (
	lines = 4
	unit  = 256
)

// edge is a side of a polygon in units, with y0 < y1; dir is +1 if it ran downwards.
type edge struct {
	x0, y0, x1, y1 int
	dir            int
}

type crossing struct{ x, dir int }

func (d *drawer) addEdge(a, b point) {
	round := func(v float64) int { return int(math.Floor(float64(v*unit) + 0.5)) }
	e := edge{round(a.x), round(a.y), round(b.x), round(b.y), 1}
	if e.y0 > e.y1 {
		e = edge{e.x1, e.y1, e.x0, e.y0, -1}
	}
	if e.y0 != e.y1 {
		d.edges = append(d.edges, e)
	}
}

// fill adds the area inside the edges to px, by the non-zero winding rule.
func (d *drawer) fill(px []byte) {
	var cover [Cols + 1]int
	for y := range Rows {
		clear(cover[:])
		for l := range lines {
			// The middle of the line; odd multiples of half a line never meet a rounded
			// corner twice, because an edge owns its upper end only.
			yy := y*unit + (2*l+1)*unit/(2*lines)
			d.cross = d.cross[:0]
			for _, e := range d.edges {
				if e.y0 <= yy && yy < e.y1 {
					x := e.x0 + (e.x1-e.x0)*(yy-e.y0)/(e.y1-e.y0)
					d.cross = append(d.cross, crossing{min(max(x, 0), Cols*unit), e.dir})
				}
			}
			slices.SortFunc(d.cross, func(a, b crossing) int { return a.x - b.x })
			winding := 0
			for i, c := range d.cross {
				if winding != 0 {
					span(cover[:], d.cross[i-1].x, c.x)
				}
				winding += c.dir
			}
		}
		for x := range Cols {
			// Full cover is lines*unit = 1024.
			px[y*Cols+x] = byte(cover[x] * 255 / (lines * unit))
		}
	}
}

// span adds the piece of a line from x0 to x1 to the cover of the pixels it meets.
func span(cover []int, x0, x1 int) {
	for x0 < x1 {
		p := x0 / unit
		end := min(x1, (p+1)*unit)
		cover[p] += end - x0
		x0 = end
	}
}

// blur averages each pixel with its neighbours, first along rows, then along columns;
// a neighbour's weight is side/256.
func (d *drawer) blur(px []byte, side int) {
	pass := func(dst, src []byte, n, step, lineStep int) {
		for i := range n {
			for j := range n {
				o := i*lineStep + j*step
				v := (256 - 2*side) * int(src[o])
				if j > 0 {
					v += side * int(src[o-step])
				}
				if j < n-1 {
					v += side * int(src[o+step])
				}
				dst[o] = byte(v >> 8)
			}
		}
	}
	pass(d.tmp[:], px, Rows, 1, Cols)
	pass(px, d.tmp[:], Rows, Cols, 1)
}

// noise lowers the contrast and adds noise of a strength that varies between images.
func (d *drawer) noise(px []byte) {
	r := d.rng.Uint64()
	ink := 144 + int(r&127)*7/8                 // brightness of the digit, 144 … 255
	ground := int(r >> 8 & 31)                  // brightness of the background, 0 … 31
	strength := int(r>>16&63) + 32*int(r>>24&1) // half width of the noise, 0 … 94
	for i := 0; i < len(px); i += 4 {           // Rows*Cols is a multiple of 4
		r := d.rng.Uint64()
		for j := range px[i : i+4] {
			// The difference of two bytes has a triangular distribution around 0.
			n := int(r&255) - int(r>>8&255)
			r >>= 16
			v := ground + int(px[i+j])*(ink-ground)/255 + n*strength/256
			px[i+j] = byte(min(max(v, 0), 255))
		}
	}
}

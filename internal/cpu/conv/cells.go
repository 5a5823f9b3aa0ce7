package conv

import (
	"slices"
)

// cell is a box of a phase's grid whose positions have the same taps inside the
// image. The others would add zeros and are left out.
type cell struct {
	lo, hi [3]int
	at     int   // bytes from a position's place in the band to its first tap
	seg    []int // pairs: bytes from there to a run of taps, and the first tap's number among the weights
	join   int   // taps of a run
}

// cuts lists where along a direction of a phase's grid the taps inside the image
// change, and both ends.
func (j *job[T]) cuts(p *phase, i int) []int {
	at := []int{0, p.grid[i]}
	for _, t := range p.taps {
		// The tap enters the image at one position and leaves it at another.
		for _, x := range [2]int{ceilDiv(-t.d[i], j.istep[i]), ceilDiv(j.inD[i]-t.d[i], j.istep[i])} {
			if x > 0 && x < p.grid[i] {
				at = append(at, x)
			}
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// readInPlace makes the padded input itself the band, if its layout and the few
// positions that see padding allow it: columns of them are tiles of their own.
func (j *job[T]) readInPlace() {
	if !j.padded || !j.in.Last || j.inTail != nil || len(j.in.Data) == 0 || j.aliased() {
		return
	}
	for i := range j.phases {
		if !j.fewCuts(&j.phases[i]) {
			return
		}
	}
	j.direct = true
}

// fewCuts reports that only a few positions of a line see padding at its ends.
func (j *job[T]) fewCuts(p *phase) bool { return 3*(len(j.cuts(p, 2))-2) <= p.grid[2] }

// inside reports that position x sees the tap, in direction i, inside the image.
func (j *job[T]) inside(t tap, i, x int) bool {
	x = x*j.istep[i] + t.d[i]
	return x >= 0 && x < j.inD[i]
}

// shortLine is the length of a line up to which its ends are worth tiles of their
// own where a band has the padding: they are a good part of it.
const shortLine = 28

// makeCells cuts a phase's grid into cells. Long lines of a band are not cut, since
// it has the padding at their ends.
func (j *job[T]) makeCells(p *phase, es int) {
	p.cells = p.cells[:0]
	off := j.offsets(p, es)
	cuts := [3][]int{j.cuts(p, 0), j.cuts(p, 1), {0, p.grid[2]}}
	ends := j.direct || p.grid[2] <= shortLine && j.fewCuts(p)
	if ends {
		cuts[2] = j.cuts(p, 2)
	}
	for z := range len(cuts[0]) - 1 {
		for y := range len(cuts[1]) - 1 {
			for x := range len(cuts[2]) - 1 {
				c := cell{lo: [3]int{cuts[0][z], cuts[1][y], cuts[2][x]}, hi: [3]int{cuts[0][z+1], cuts[1][y+1], cuts[2][x+1]}}
				var taps []int
				for i, t := range p.taps {
					if j.inside(t, 0, c.lo[0]) && j.inside(t, 1, c.lo[1]) && (!ends || j.inside(t, 2, c.lo[2])) {
						taps = append(taps, i)
					}
				}
				j.joinTaps(&c, taps, off, es)
				p.cells = append(p.cells, c)
			}
		}
	}
}

// joinTaps lists the segments of a cell's taps. Runs of neighbours in memory are
// one segment each, if all are equally long.
func (j *job[T]) joinTaps(c *cell, taps, off []int, es int) {
	if len(taps) == 0 {
		c.seg = []int{0, 0, 0} // one segment, of no steps
		return
	}
	c.join = 1
	if j.pix == j.ci && j.cb == j.ci {
		c.join = runLength(taps, off, j.pix*es)
	}
	c.at = off[taps[0]]
	c.seg = make([]int, 0, 2*len(taps)/c.join+1)
	for i := 0; i < len(taps); i += c.join {
		c.seg = append(c.seg, off[taps[i]]-c.at, taps[i])
	}
	c.seg = append(c.seg, 0) // pointers stay inside
}

// runLength is how many taps follow one another at the given distance, 1 unless
// all runs are equally long.
func runLength(taps, off []int, step int) int {
	adjacent := func(i int) bool { return taps[i] == taps[i-1]+1 && off[taps[i]] == off[taps[i-1]]+step }
	n := 1
	for n < len(taps) && adjacent(n) {
		n++
	}
	for i := range taps {
		if len(taps)%n != 0 || i%n != 0 && !adjacent(i) {
			return 1
		}
	}
	return n
}

// offsets lists the bytes from a position's place in the band to each tap. The
// place is where the least tap is, or, when the band is the input itself, the
// position.
func (j *job[T]) offsets(p *phase, es int) []int {
	off := make([]int, len(p.taps))
	for k, t := range p.taps {
		for i, st := range [3]int{j.slice, j.line, j.pix} {
			d := t.d[i]
			if !j.direct {
				d = (d - j.dmin[i]) / j.skip[i]
			}
			off[k] += d * st * es
		}
	}
	return off
}

// An axis is a direction of a cell's positions: how many, and the bytes between
// them in the band and in the result.
type axis struct{ n, a, c int }

// perTile is about how many positions of lines along the axis a tile takes.
func (x axis) perTile(rows int) int {
	if 2*x.n <= rows {
		return 2 * x.n
	}
	return x.n / ceilDiv(x.n, rows)
}

// rowsAlong moves the axis that tiles shall run along to the end: the last one,
// unless another makes much higher tiles. Rows of A a page apart would share one
// set of the cache.
func rowsAlong(x *[3]axis, rows int) {
	best := 2
	for i := range 2 {
		if x[i].a%4096 != 0 && 2*x[i].perTile(rows) > 3*x[best].perTile(rows) {
			best = i
		}
	}
	x[best], x[2] = x[2], x[best]
}

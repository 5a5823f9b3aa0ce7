package conv

import (
	"slices"
)

// region is a box of a phase's grid whose positions see the same taps inside the image. The other taps see
// padding: they would add zeros and are left out.
//
//	3×3 kernel, padding 1: nine regions
//	┌───┬─────────┬───┐
//	│ 4 │    6    │ 4 │   number of taps inside the image
//	├───┼─────────┼───┤
//	│ 6 │    9    │ 6 │
//	├───┼─────────┼───┤
//	│ 4 │    6    │ 4 │
//	└───┴─────────┴───┘
type region struct {
	lo, hi [3]int
	taps   []int // numbers of the taps inside the image
	at     int   // bytes from a position's place in the band to its first tap
	// segments: pairs of the bytes from the first tap to a run of taps, and the number of the run's first tap
	seg     []int
	runTaps int // taps of a run, which are adjacent in memory
}

// tapBoundaries lists the positions along direction i of a phase's grid at which the set of taps inside the
// image changes, and both ends of the grid.
func (j *job[T]) tapBoundaries(p *phase, i int) []int {
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

// manyRegions is a number of regions that come from a kernel nearly as large as the image. Their tiles are too small to
// be efficient, and their taps take long to list.
const manyRegions = 512

// manyEnds is the same of the regions along a line.
const manyEnds = 8

// readInPlace decides whether a padded input is read in place. Then the positions that see padding are
// computed in tiles of their own. It is done if the layout allows it and if these tiles do not take longer
// than copying the input into a band with padding.
func (j *job[T]) readInPlace() {
	if !j.padded || !j.in.Last || j.inTail != nil || len(j.in.Data) == 0 || j.conflictsInCache() {
		return
	}
	for i := range j.phases {
		p := &j.phases[i]
		if len(j.tapBoundaries(p, 0))*len(j.tapBoundaries(p, 1))*len(j.tapBoundaries(p, 2)) > manyRegions {
			return
		}
	}
	inPlace, band, images := 0, 0, min(j.n, max(1, 2*leastPixels/max(1, j.grid[1]*j.grid[2])))
	for i := range j.phases {
		inPlace += j.regionCost(images, j.cutRegions(&j.phases[i], true, images)...)
		band += j.regionCost(images, j.cutRegions(&j.phases[i], false, images)...)
	}
	j.direct = inPlace <= band+band/copyCost
}

// tapInside reports whether position x sees the tap, in direction i, inside the image.
func (j *job[T]) tapInside(t tap, i, x int) bool {
	x = x*j.istep[i] + t.d[i]
	return x >= 0 && x < j.inD[i]
}

// maxShortLine is the length of a line up to which the ends of lines may be worth tiles of their own even
// where a band has the padding: in short lines, the ends are a good part of the work.
const maxShortLine = 28

// makeRegions cuts a phase's grid into regions and lists their segments.
func (j *job[T]) makeRegions(p *phase, es int) {
	off := j.offsets(p, es)
	p.regions, p.tapTiles = j.cutRegions(p, j.direct, j.images), 0
	for i := range p.regions {
		j.joinTaps(&p.regions[i], off, es)
		tiles, _ := j.regionTiles(&p.regions[i], j.images)
		p.tapTiles += tiles * len(p.regions[i].taps)
	}
}

// cutRegions cuts a phase's grid into regions with their taps. Where the input is not read in place, the band
// has zeros at the ends of lines; then the ends become regions of their own only if that takes less time for
// the given number of images.
func (j *job[T]) cutRegions(p *phase, inPlace bool, images int) (cells []region) {
	z, y, x := j.tapBoundaries(p, 0), j.tapBoundaries(p, 1), j.tapBoundaries(p, 2)
	all := make([]int, len(p.taps))
	for i := range all {
		all[i] = i
	}
	for i := range len(z) - 1 {
		slices := j.tapsInside(p, all, 0, z[i])
		for k := range len(y) - 1 {
			lines := j.tapsInside(p, slices, 1, y[k])
			line := func(x []int, ends bool) (c []region) {
				for l := range len(x) - 1 {
					lo, hi, taps := [3]int{z[i], y[k], x[l]}, [3]int{z[i+1], y[k+1], x[l+1]}, lines
					if ends {
						taps = j.tapsInside(p, lines, 2, x[l])
					}
					c = append(c, region{lo: lo, hi: hi, taps: taps})
				}
				return c
			}
			if inPlace || len(x) == 2 {
				cells = append(cells, line(x, true)...)
				continue
			}
			whole := line([]int{0, p.grid[2]}, false)
			if p.grid[2] <= maxShortLine && len(x) <= manyEnds {
				if cut := line(x, true); j.regionCost(images, cut...) < j.regionCost(images, whole...) {
					whole = cut
				}
			}
			cells = append(cells, whole...)
		}
	}
	return cells
}

// tapsInside lists those of the taps that position x sees inside the image, in direction i.
func (j *job[T]) tapsInside(p *phase, taps []int, i, x int) []int {
	n := 0
	for _, t := range taps {
		if j.tapInside(p.taps[t], i, x) {
			n++
		}
	}
	if n == len(taps) {
		return taps
	}
	inside := make([]int, 0, n)
	for _, t := range taps {
		if j.tapInside(p.taps[t], i, x) {
			inside = append(inside, t)
		}
	}
	return inside
}

const (
	// tileRows is how many rows a tile must have to be efficient: the sums of one row depend on each other,
	// and the weights come from the second-level cache for every tile.
	tileRows = 5

	// copyCost: copying a band takes about one part in copyCost of the time of a panel with a few taps.
	copyCost = 20
)

// regionCost estimates how long regions of the given number of images take, in units of one tap of one row.
// Each tile takes as long as one row more than it has.
func (j *job[T]) regionCost(images int, cells ...region) (sum int) {
	rows, _ := tileSize[T](j.pt)
	for i := range cells {
		tiles, positions := j.regionTiles(&cells[i], images)
		sum += (max(positions, tiles*min(tileRows, rows)) + tiles) * len(cells[i].taps)
	}
	return sum
}

// regionTiles estimates how many tiles and positions a panel has in a region of the given number of images.
func (j *job[T]) regionTiles(c *region, images int) (tiles, positions int) {
	rows, _ := tileSize[T](j.pt)
	x := [3]axis{{n: images, a: 1}, {n: c.hi[1] - c.lo[1], a: 1}, {n: c.hi[2] - c.lo[2], a: 1}}
	rowsAlong(&x, rows)
	n, lines := x[2].n, x[0].n*x[1].n*(c.hi[0]-c.lo[0])
	if 2*n <= rows { // two lines are a tile
		return ceilDiv(lines, 2), lines * n
	}
	return lines * ceilDiv(n, rows), lines * n
}

// joinTaps lists the segments of a region's taps. Runs of taps that are adjacent in memory are one segment
// each, if all runs are equally long.
func (j *job[T]) joinTaps(c *region, off []int, es int) {
	taps := c.taps
	if len(taps) == 0 {
		c.seg = []int{0, 0, 0} // one segment, of no steps
		return
	}
	c.runTaps = 1
	if j.pix == j.cb && j.ci%j.cb == 0 {
		c.runTaps = runLength(taps, off, j.pix*es)
	}
	c.at = off[taps[0]]
	c.seg = make([]int, 0, 2*len(taps)/c.runTaps+1)
	for i := 0; i < len(taps); i += c.runTaps {
		c.seg = append(c.seg, off[taps[i]]-c.at, taps[i])
	}
	c.seg = append(c.seg, 0) // pointers stay inside
}

// runLength is the number of taps that follow one another at the given distance, or 1 unless all such runs
// are equally long.
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

// offsets lists the bytes from a position's place in the band to each tap. The place is where the least tap
// is or, when the band is the input itself, the position.
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

// An axis is one direction of a region's positions: their number, and the bytes between them in the band (a)
// and in the result (c).
type axis struct{ n, a, c int }

// perTile estimates how many positions a tile takes if tiles run along the axis.
func (x axis) perTile(rows int) int {
	if 2*x.n <= rows {
		return 2 * x.n
	}
	return x.n / ceilDiv(x.n, rows)
}

// rowsAlong moves the axis along which tiles run to the end of x: the last axis, unless another axis makes
// much higher tiles. Rows of A a page apart share one set of the cache, so an axis with such rows must not
// make high tiles.
func rowsAlong(x *[3]axis, rows int) {
	best := 2
	for i := range 2 {
		if (x[i].a%4096 != 0 || x[i].perTile(rows) <= 8) && 2*x[i].perTile(rows) > 3*x[best].perTile(rows) {
			best = i
		}
	}
	x[best], x[2] = x[2], x[best]
}

package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// kn2row computes a convolution to few output channels, which would leave most lanes of the direct kernel's
// columns unused, by one matrix product for all taps (the algorithm kn2row). The lanes of the product are
// positions:
//
//	P[(tap, channel), position] = sum over k of W[tap, channel, k]·A[position, k]
//
// and the results are sums of shifted rows of P:
//
//	C[channel, position] = sum over taps t of P[(t, channel), position + t]
//
//	P, tap 0:   p0 p1 p2 p3 p4 p5
//	P, tap 1:   q0 q1 q2 q3 q4 q5
//	P, tap 2:   r0 r1 r2 r3 r4 r5
//	C:          p0+q1+r2, p1+q2+r3, …
//
// Rows of P are flat: the lines of A one after the other. A shift must not take elements from the line before
// or behind; it must find zeros there. Either lines have room between them, or, where the results are no
// wider than A, the elements that a tap's shift takes from a neighbouring line are cleared, because no result
// uses them otherwise.
//
// Source: Vasudevan, Anderson and Gregg 2017, "Parallel Multi Channel Convolution using General Matrix
// Multiplication".
type kn2row[T Float] struct {
	*job[T]
	w           []T // weights of all groups: rows of P times channels of A
	rows        int
	cut         int // direction along which the work is cut: the first one longer than 1
	size, steps int // grid positions in the direction cut: of a task, and computed at a time
	pieces      int // tasks of an image
	pitch       int // elements between lines of P
	unit        int // elements of P between positions in the direction cut
	front, back int // zeros before and behind a row of P
	row         int // elements between rows of P
}

const (
	kn2rowBytes    = 192 << 10 // bytes of P, which stays in the second-level cache
	kn2rowMaxBytes = 8 << 20   // bytes of P at most, where a line or a slice is long
	kn2rowMinWork  = 1 << 18   // multiply-adds of a task, at least

	// The cost of an element of P in multiply-adds, beside those of the product: it is
	// written, read and added (kn2rowElementCost), and moved for every step that needs it
	// again (kn2rowMoveCost). Results are finished and stored one by one, either next to each other
	// (kn2rowStoreCost) or, channels-last, far from each other (kn2rowStoreLastCost).
	kn2rowElementCost   = 10
	kn2rowMoveCost      = 6
	kn2rowStoreCost     = 30
	kn2rowStoreLastCost = 180
)

// kn2row returns nil where direct computation costs less. It compares multiply-adds: in the direct kernel
// vectors hold columns, here they hold positions.
func (j *job[T]) kn2row() *kn2row[T] {
	if j.pitch > 0 || j.istep != [3]int{1, 1, 1} || j.bf16In != nil || j.bf16Out != nil || j.inTail != nil ||
		j.outTail != nil {
		return nil
	}
	_, l := tileSize[T](j.pt)
	direct, rows := 0, 0
	for _, p := range j.phases {
		for _, t := range p.taps {
			seen := j.ci * ceilDiv(j.co, l)
			for i, d := range t.d {
				seen *= max(0, min(p.grid[i], j.inD[i]-d)-max(0, -d))
			}
			direct += seen
		}
		rows += len(p.taps) * j.co
	}
	sums := float64(rows*volume(j.inD)) / float64(l)
	store := float64(kn2rowStoreCost)
	if j.out.Last {
		store = kn2rowStoreLastCost
	}
	cost := float64(j.ci)/.85 + kn2rowElementCost +
		store*float64(j.co*volume(j.outD))/float64(max(rows*volume(j.inD), 1))
	if sums*cost >= float64(direct) {
		return nil
	}
	var z T
	es := int(unsafe.Sizeof(z))
	f := &kn2row[T]{job: j}
	f.plan(es)
	cost += kn2rowMoveCost * float64(j.ext[f.cut]) / float64(f.steps)
	if f.rows*f.row*es > kn2rowMaxBytes || sums*cost >= float64(direct) {
		return nil
	}
	return f
}

// run lays out the weights and runs the tasks.
func (f *kn2row[T]) run(w packSource[T]) {
	var z T
	j, es := f.job, int(unsafe.Sizeof(z))
	wBytes := max(j.groups*f.rows*j.ci, 1) * es
	p := mem.Alloc(wBytes)
	defer mem.Free(p, wBytes)
	f.w = unsafe.Slice((*T)(p), j.groups*f.rows*j.ci)
	at := f.w
	for g := range j.groups {
		for _, ph := range j.phases {
			for _, t := range ph.taps {
				for c := range j.co {
					src := w.data[g*w.groups+c*w.col+t.wi*w.tap:]
					for k := range j.ci {
						at[k] = src[k*w.row]
					}
					at = at[j.ci:]
				}
			}
		}
	}
	par.For(j.n*j.groups*f.pieces, 1, func(lo, hi int) {
		bytes := (f.rows*f.row + f.sumLen()) * es
		p := mem.Alloc(bytes)
		defer mem.Free(p, bytes)
		d := unsafe.Slice((*T)(p), bytes/es)
		for r := range f.rows {
			clear(d[r*f.row:][:f.front])
		}
		for t := lo; t < hi; t++ {
			f.task(t, d[:f.rows*f.row], d[f.rows*f.row:])
		}
	})
}

// plan cuts the work by its sizes alone.
func (f *kn2row[T]) plan(es int) {
	j := f.job
	j.measure()
	f.rows = 0
	for _, p := range j.phases {
		f.rows += len(p.taps) * j.co
	}
	for f.cut = 0; f.cut < 2 && j.grid[f.cut] == 1 && j.inD[f.cut] == 1; f.cut++ {
	}
	// How far shifts reach before and behind a line.
	f.front = max(0, -j.dmin[2])
	f.back = max(0, j.grid[2]+j.dmin[2]+j.ext[2]-j.inD[2])
	f.pitch = j.inD[2]
	if f.cut < 2 && j.grid[2] > f.pitch {
		f.pitch = max(f.pitch+max(f.front, f.back), j.grid[2])
	}
	f.unit = [3]int{f.pitch * j.inD[1], f.pitch, 1}[f.cut]

	grid := j.grid[f.cut]
	work := f.rows * j.ci * volume(j.inD)
	f.pieces = max(ceilDiv(work, taskWork), ceilDiv(evenTasks, j.n*j.groups))
	f.pieces = max(1, min(f.pieces, grid/(4*j.ext[f.cut]+1), work/kn2rowMinWork))
	f.size = ceilDiv(grid, f.pieces)
	f.pieces = ceilDiv(grid, f.size)
	f.steps = min(max(kn2rowBytes/(f.rows*f.unit*es)-j.ext[f.cut], 1), f.size)
	f.row = f.front + (f.steps+j.ext[f.cut])*f.unit + f.back
}

// sumLen is the number of elements of the results of one channel for the positions that are computed at a
// time.
func (f *kn2row[T]) sumLen() int {
	n := f.pitch * f.grid[1]
	switch f.cut {
	case 1:
		n = f.pitch * f.steps
	case 2:
		n = f.steps
	}
	return n
}

// task computes a piece of an image of a group, some positions at a time. The part of P that two steps share
// is moved to the front.
func (f *kn2row[T]) task(t int, p, sum []T) {
	piece := t % f.pieces
	img, group := t/f.pieces/f.groups, t/f.pieces%f.groups
	end := min((piece+1)*f.size, f.grid[f.cut])
	from, to := 0, 0 // positions of A in the direction cut that P holds
	for g := piece * f.size; g < end; g += f.steps {
		e := min(g+f.steps, end)
		a := min(max(g+f.dmin[f.cut], 0), f.inD[f.cut])
		b := max(min(e+f.dmin[f.cut]+f.ext[f.cut], f.inD[f.cut]), a)
		kept := max(min(to, b)-a, 0)
		if kept > 0 && a > from {
			for r := range f.rows {
				row := p[r*f.row+f.front:]
				copy(row[:kept*f.unit], row[(a-from)*f.unit:])
			}
		}
		from, to = a, b
		f.multiply(p, img, group, a+kept, b, kept)
		f.addShifted(p, sum, img, group, g, e, from)
	}
}

// multiply computes the part of P for the positions [a, b) of A in the direction cut. The first of them has
// number at among the positions that P holds.
func (f *kn2row[T]) multiply(p []T, img, group, a, b, at int) {
	inner := volume(f.inD) / f.inD[f.cut] // of an image that is flat in the directions before
	lines, n := 1, (b-a)*inner
	var batch []gemm.BatchDim
	first, channel, position := f.source(img, group, a*inner)
	if width := f.inD[2]; f.cut < 2 {
		lines = n / width
		if f.pitch > width {
			n = width
			batch = []gemm.BatchDim{{N: lines, B: width * position, C: f.pitch}}
		}
	}
	c := p[f.front+at*f.unit:]
	if a < b {
		gemm.GEMMBatch(batch, f.rows, n, f.ci, 1, f.w[group*f.rows*f.ci:], f.ci, 1, f.in.Data[first:], channel,
			position, 0, c, f.row, 1, nil)
	}
	r := 0
	for _, ph := range f.phases {
		for _, t := range ph.taps {
			for range f.co {
				row := c[r*f.row:]
				if f.cut < 2 {
					f.clearBetween(row, t.d[2], lines)
				}
				clear(row[(b-a)*f.unit:][:f.back])
				r++
			}
		}
	}
}

// source is where position pos of an image lies in A, for the first channel of a group, and the distances
// between channels and between positions.
func (j *job[T]) source(img, group, pos int) (first, channel, position int) {
	total, size := j.ci*j.groups, volume(j.inD)
	if j.in.Last {
		return (img*size+pos)*total + group*j.ci, 1, total
	}
	return (img*total+group*j.ci)*size + pos, size, 1
}

// clearBetween clears what a shift by d takes from the lines before or behind.
func (f *kn2row[T]) clearBetween(row []T, d, lines int) {
	lo, hi := f.inD[2], f.pitch
	if lo == hi {
		if lo, hi = 0, min(d, hi); d < 0 {
			lo, hi = max(0, f.pitch+d), f.pitch
		}
	}
	if lo < hi {
		for l := range lines {
			clear(row[l*f.pitch+lo : l*f.pitch+hi])
		}
	}
}

// addShifted computes the results at the grid positions [g, e) in the direction cut, as sums of shifted rows
// of P. P begins at position from of A.
func (f *kn2row[T]) addShifted(p, sum []T, img, group, g, e, from int) {
	var buf [64]vec.Tap
	taps := buf[:0]
	row := 0
	for i := range f.phases {
		ph := &f.phases[i]
		lo, hi := [3]int{}, ph.grid
		lo[f.cut], hi[f.cut] = g, min(e, hi[f.cut])
		cols := hi[2] - lo[2]
		for z := lo[0]; z < hi[0]; z++ {
			for y := lo[1]; y < hi[1] && cols > 0; {
				// The lines [y, next) see the same taps.
				next := hi[1]
				taps = taps[:0]
				for k, t := range ph.taps {
					az, ay := z+t.d[0], y+t.d[1]
					if ay < 0 {
						next = min(next, y-ay)
					} else if ay < f.inD[1] {
						next = min(next, y+f.inD[1]-ay)
					}
					if az < 0 || az >= f.inD[0] || ay < 0 || ay >= f.inD[1] {
						continue
					}
					at := [3]int{az, ay, lo[2] + t.d[2]}
					at[f.cut] -= from
					taps = append(taps, vec.Tap{Off: (row+k*f.co)*f.row + f.front + (at[0]*f.inD[1]+at[1])*f.pitch +
						at[2]})
				}
				n := (next-y-1)*f.pitch + cols
				for c := range f.co {
					windowsOf[T]().Add(sum, n, p[c*f.row:], n, 1, n, taps)
					for l := y; l < next; l++ {
						f.store(sum[(l-y)*f.pitch:][:cols], ph, img, group*f.co+c, z, l, lo[2])
					}
				}
				y = next
			}
		}
		row += len(ph.taps) * f.co
	}
}

// store finishes a line of sums by the epilogue and stores it.
func (f *kn2row[T]) store(sum []T, ph *phase, img, c, z, y, x int) {
	size, total := volume(f.outD), f.co*f.groups
	pos := ((ph.at[0]+z*f.ostep[0])*f.outD[1]+ph.at[1]+y*f.ostep[1])*f.outD[2] + ph.at[2] + x*f.ostep[2]
	at, step := (img*total+c)*size+pos, f.ostep[2]
	if f.out.Last {
		at, step = (img*size+pos)*total+c, step*total
	}
	if f.bias != nil {
		b := unsafe.Slice((*T)(f.bias), total)[c]
		for i := range sum {
			sum[i] += b
		}
	}
	if f.res != nil {
		res := unsafe.Slice((*T)(f.res), len(f.out.Data))[at:]
		for i := range sum {
			sum[i] += res[i*step]
		}
	}
	if f.clamp {
		for i, v := range sum {
			sum[i] = clampTo(v, f.lo, f.hi)
		}
	}
	dst := f.out.Data[at:]
	if step == 1 {
		copy(dst, sum)
		return
	}
	for i, v := range sum {
		dst[i*step] = v
	}
}

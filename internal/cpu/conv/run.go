package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// packSource is the weights as the job sees them: column is the output channel,
// row the input channel, tap the kernel position; group is a step.
type packSource[T Float] struct {
	data                  []T
	col, row, tap, groups int
}

func (j *job[T]) run(w packSource[T]) {
	if j.depthwise() {
		j.runDepthwise(w)
		return
	}
	if j.winogradFits() {
		j.runWinograd(w)
		return
	}
	j.makePlan()
	var z T
	es := int(unsafe.Sizeof(z))
	j.packWeights(w)
	defer j.freeWeights()
	total := j.tasks()
	// Neighbours run one after the other, so that each can fetch what the next
	// one needs.
	grain := min(max(total/16, 1), 8)
	par.For(total, grain, func(lo, hi int) {
		s := j.newScratch(es)
		for t := lo; t < hi; t++ {
			j.task(t, taskAfter(t, hi, grain, total), t+1 < hi, &s, es)
		}
		s.free()
	})
}

// scratch is a task's memory.
type scratch struct {
	band, out, w               unsafe.Pointer
	bandBytes, outBytes, wSize int
	ahead                      ahead
}

func (j *job[T]) newScratch(es int) (s scratch) {
	if !j.direct {
		s.bandBytes = (j.bandLen + 16) * es
		s.band = mem.Alloc(s.bandBytes)
	}
	if !j.out.Last {
		s.outBytes = (j.images*j.yb*j.ostep[1]*j.xb*j.ostep[2]*j.ostep[0]*j.outPitch() + 16) * es
		s.out = mem.Alloc(s.outBytes)
	}
	if j.late != nil {
		taps := 1
		for _, p := range j.phases {
			taps = max(taps, len(p.taps))
		}
		s.wSize = (taps*j.cb + j.cb + 1) * j.nr * es
		s.w = mem.Alloc(s.wSize)
	}
	return s
}

func (s *scratch) free() {
	if s.w != nil {
		mem.Free(s.w, s.wSize)
	}
	if s.band != nil {
		mem.Free(s.band, s.bandBytes)
	}
	if s.out != nil {
		mem.Free(s.out, s.outBytes)
	}
}

// outPitch is the distance of positions in the buffer for planar results.
func (j *job[T]) outPitch() int { return min(j.panels*j.nr, j.ocols) }

// block is what a task computes: grid positions [lo,hi), images [n0,n1).
type block struct {
	group, n0, n1 int
	lo, hi        [3]int
	c0, c1        int // output channels of the group
}

// band returns the positions of block t of all images.
func (j *job[T]) band(t int) (b block) {
	b.lo[2] = t % j.nx * j.xb
	t /= j.nx
	b.lo[1] = t % j.ny * j.yb
	t /= j.ny
	b.lo[0] = t % j.grid[0]
	b.n0 = t / j.grid[0] * j.images
	b.n1 = min(b.n0+j.images, j.n)
	b.hi = [3]int{b.lo[0] + 1, min(b.lo[1]+j.yb, j.grid[1]), min(b.lo[2]+j.xb, j.grid[2])}
	return b
}

// origin is the address of the block's first position in the input, for a
// channel of the group, when the band is the input itself.
func (j *job[T]) origin(b *block, k0 int) unsafe.Pointer {
	at := b.n0*j.img + b.group*j.ci + k0
	for i, st := range [3]int{j.slice, j.line, j.pix} {
		at += (b.lo[i]*j.istep[i] + j.dmin[i]) * st
	}
	var z T
	return unsafe.Add(unsafe.Pointer(&j.in.Data[0]), at*int(unsafe.Sizeof(z)))
}

// target is where a task's tiles go: a channels-last image or the task's own buffer.
type target struct {
	p                     unsafe.Pointer
	img, slice, line, pix int    // elements
	at                    [3]int // output position of its first element
	n0, c0                int    // and its first image and channel
}

// bufferTarget is the task's own buffer, dense at the block's positions.
func (j *job[T]) bufferTarget(b *block, s *scratch) (t target) {
	t.p, t.n0, t.c0 = s.out, b.n0, b.c0
	var size [3]int
	for i := range 3 {
		t.at[i] = b.lo[i] * j.ostep[i]
		size[i] = min(b.hi[i]*j.ostep[i], j.outD[i]) - t.at[i]
	}
	t.pix = j.outPitch()
	t.line = size[2] * t.pix
	t.slice = size[1] * t.line
	t.img = size[0] * t.slice
	return t
}

// block is the part of the work of task t.
func (j *job[T]) block(t int) block {
	perImage := j.nx * j.ny * j.grid[0]
	b := j.band(t/(perImage*j.npb*j.groups)*perImage + t%perImage)
	t /= perImage
	b.c0 = t % j.npb * j.panels * j.nr
	b.c1 = min(b.c0+j.panels*j.nr, j.co)
	b.group = t / j.npb % j.groups
	return b
}

// taskAfter guesses what a worker does after task t of a block of tasks that
// ends at hi: the next one, or, when all keep in step, the first of the block
// that comes as far behind as there are workers. It is total for nothing.
func taskAfter(t, hi, grain, total int) int {
	if t+1 < hi {
		return t + 1
	}
	return min(t+1+(par.NumThreads()-1)*grain, total)
}

// fetchLater lists what task t reads first, beside what block b before it does:
// weights, or results that are written, and input. A task that is only guessed
// to be the next one has weights alone: those are what a worker waits for.
func (j *job[T]) fetchLater(t int, sure bool, b *block) (first, input span) {
	next := j.block(t)
	if !sure {
		if next.group != b.group || next.c0 != b.c0 {
			first = j.weightSpan(0, next.group, next.c0, 0)
		}
		return first, input
	}
	if j.groups == 1 {
		input = j.lines(&next, b)
	}
	switch {
	case !j.inner:
		first = j.weightSpan(0, next.group, next.c0, 0)
	case j.npb == 1 && j.groups == 1 && j.ostep == [3]int{1, 1, 1}:
		first = j.results(&next)
	}
	return first, input
}

// weightSpan is where the weights of a panel of a phase lie, from channel k0 on.
func (j *job[T]) weightSpan(phase, group, c, k0 int) span {
	ph := &j.phases[phase]
	taps := len(ph.taps)
	if j.late != nil || taps == 0 {
		return span{}
	}
	var z T
	es := int(unsafe.Sizeof(z))
	kc := min(j.cb, j.ci-k0)
	at := uintptr(ph.w) + uintptr((group*taps*j.ci*j.ocols+taps*(k0*j.ocols+kc*c))*es)
	return span{at, at + uintptr(taps*kc*min(j.nr, j.ocols-c)*es)}
}

// tasks is the number of blocks.
func (j *job[T]) tasks() int { return j.nImg * j.groups * j.grid[0] * j.ny * j.nx * j.npb }

// task computes block t, after which the worker goes on with next, surely or
// perhaps.
func (j *job[T]) task(t, next int, sure bool, s *scratch, es int) {
	b := j.block(t)

	total := j.co * j.groups
	dst := target{p: unsafe.Pointer(&j.out.Data[0]), pix: total}
	dst.c0 = -b.group * j.co
	if j.out.Last {
		dst.line = j.outD[2] * total
		dst.slice = j.outD[1] * dst.line
		dst.img = j.outD[0] * dst.slice
	} else {
		dst = j.bufferTarget(&b, s)
	}

	var p args
	var first, input span
	if next < j.tasks() {
		first, input = j.fetchLater(next, sure, &b)
	}
	inner := j.inner && j.late == nil
	if inner {
		s.ahead.start(&p, j.tiles(&b)*j.panels*len(j.phases[0].taps)*j.ci, first, input)
	}
	nk := max(ceilDiv(j.ci, j.cb), 1)
	for kb := range nk {
		k0 := kb * j.cb
		kc := min(j.cb, j.ci-k0)
		later := [2]span{first, input} // for after the last panel
		if k0+kc < j.ci {
			later = [2]span{j.weightSpan(0, b.group, b.c0, k0+kc)}
		}
		band := s.band
		if j.direct {
			band = j.origin(&b, k0)
		} else {
			j.load(&b, unsafe.Slice((*T)(band), j.bandLen), k0, kc)
		}
		// Few weights stay in cache while all columns of some positions are
		// computed, whose results are then written together.
		sub, step := b, b.hi
		if inner {
			step[1], step[2] = b.lo[1]+1, min(b.lo[2]+innerX, b.hi[2])
		}
		for y := b.lo[1]; y < b.hi[1]; y += step[1] - b.lo[1] {
			for x := b.lo[2]; x < b.hi[2]; x += step[2] - b.lo[2] {
				sub.lo[1], sub.hi[1] = y, min(y+step[1]-b.lo[1], b.hi[1])
				sub.lo[2], sub.hi[2] = x, min(x+step[2]-b.lo[2], b.hi[2])
				at := unsafe.Add(band, ((y-b.lo[1])*j.step[1]*j.line+(x-b.lo[2])*j.step[2]*j.pix)*es)
				j.columns(&p, s, &sub, &dst, at, k0, kc, es, later)
			}
		}
	}
	if !j.out.Last {
		j.store(&b, &dst)
	}
}

// tiles is about how many tiles a panel of block b has.
func (j *job[T]) tiles(b *block) int {
	rows, _ := tileSize[T](j.pt)
	return max(1, (b.n1-b.n0)*(b.hi[1]-b.lo[1])*(b.hi[2]-b.lo[2])/rows)
}

// columns computes all panels of a block's columns. Unless all their weights
// stay in cache, each fetches those of the next; later comes after the last.
func (j *job[T]) columns(p *args, s *scratch, b *block, dst *target, band unsafe.Pointer, k0, kc, es int, later [2]span) {
	for c := b.c0; c < b.c1; c += j.nr {
		for i := range j.phases {
			ph := &j.phases[i]
			taps := len(ph.taps)
			switch {
			case taps == 0:
			case j.late != nil:
				p.b = s.w
				j.late.panel(i, b.group, k0, c, s.w, taps*kc*min(j.nr, j.ocols-c)*es)
			default:
				p.b = unsafe.Add(ph.w, (b.group*taps*j.ci*j.ocols+taps*(k0*j.ocols+kc*c))*es)
			}
			if !j.inner {
				next := later
				if i+1 < len(j.phases) {
					next = [2]span{j.weightSpan(i+1, b.group, c, k0)}
				} else if c+j.nr < b.c1 {
					next = [2]span{j.weightSpan(0, b.group, c+j.nr, k0)}
				}
				s.ahead.start(p, j.tiles(b)*taps*kc, next[0], next[1])
			}
			j.panel(p, &s.ahead, ph, b, dst, band, c, k0, kc, es)
		}
	}
}

// panel computes one panel of columns from c on, of one phase, adding up the
// channels [k0, k0+kc). The panel's weights are at p.b.
func (j *job[T]) panel(p *args, f *ahead, ph *phase, b *block, dst *target, band unsafe.Pointer, c, k0, kc, es int) {
	p.flags = 0
	if k0 > 0 {
		p.flags |= flagLoadC
	}
	last := k0+kc == j.ci
	if last && j.bias != nil {
		p.flags |= flagBias
		p.bias = unsafe.Add(j.bias, (b.group*j.co+c)*es)
	}
	addRes := last && j.res != nil && j.out.Last
	if addRes {
		p.flags |= flagRes
		p.ldr = dst.pix * j.ostep[2] * es
	}
	if last && j.clamp && (j.res == nil || addRes) {
		p.flags |= flagClamp
		p.lo, p.hi = bits(j.lo), bits(j.hi)
	}
	width := min(j.nr, j.ocols-c)
	setColumns[T](j.pt, p, width, min(j.nr, j.co-c))
	p.k = ph.segK * kc
	p.seg = unsafe.Pointer(&ph.seg[0])
	p.segEnd = unsafe.Pointer(&ph.seg[len(ph.seg)-1])
	p.rs = j.step[2] * j.pix * es
	p.ldc = dst.pix * j.ostep[2] * es

	rows, _ := tileSize[T](j.pt)
	hi := [3]int{b.hi[0], min(b.hi[1], ph.grid[1]), min(b.hi[2], ph.grid[2])}
	if b.lo[0] >= ph.grid[0] {
		return
	}
	n := hi[2] - b.lo[2]
	if n <= 0 {
		return
	}
	ostep := j.ostep[2] * dst.pix
	col := dst.p
	zAt := (b.lo[0]*j.ostep[0] + ph.at[0] - dst.at[0]) * dst.slice
	xAt := (b.lo[2]*j.ostep[2]+ph.at[2]-dst.at[2])*dst.pix + c - dst.c0
	// The first element of a line of grid positions, in A and in C.
	lineA := func(img, y int) unsafe.Pointer {
		return unsafe.Add(band, ((img-b.n0)*j.img+(y-b.lo[1])*j.step[1]*j.line)*es)
	}
	lineC := func(img, y int) int {
		return (img-dst.n0)*dst.img + zAt + (y*j.ostep[1]+ph.at[1]-dst.at[1])*dst.line + xAt
	}
	set := func(second bool, a unsafe.Pointer, c int) {
		if second {
			p.a1, p.c1 = a, unsafe.Add(col, c*es)
		} else {
			p.a0, p.c0 = a, unsafe.Add(col, c*es)
		}
		if addRes {
			if second {
				p.r1 = unsafe.Add(j.res, c*es)
			} else {
				p.r0 = unsafe.Add(j.res, c*es)
			}
		}
	}
	tiles := ceilDiv(n, rows)
	most := callTiles(rows, p.k*(len(ph.seg)-1))
	held := false // a short line waits for a second one
	for img := b.n0; img < b.n1; img++ {
		for y := b.lo[1]; y < hi[1]; y++ {
			a, c := lineA(img, y), lineC(img, y)
			if 2*n <= rows {
				set(held, a, c)
				if held {
					p.tiles = 1
					convTile[T](j.pt, p, 2*n)
					f.check(p)
				}
				held = !held
				continue
			}
			// Tiles of nearly equal height: two of 8 and 7 rows run faster than
			// one of 14 and one of 1.
			for i := 0; i < n; {
				r := n / tiles
				count := tiles - n%tiles
				if i < n%tiles*(r+1) {
					r++
					count = n % tiles
				}
				end := i + min(count*r, n-i)
				h := (r + 1) / 2
				p.tileA, p.tileC = r*p.rs, r*p.ldc
				for i < end {
					calls := min(most, (end-i)/r)
					p.tiles = calls
					set(false, unsafe.Add(a, i*p.rs), c+i*ostep)
					if r > h {
						set(true, unsafe.Add(a, (i+h)*p.rs), c+(i+h)*ostep)
					}
					convTile[T](j.pt, p, r)
					f.check(p)
					i += calls * r
				}
			}
		}
	}
	if held { // one line is left
		h := (n + 1) / 2
		a, c := lineA(b.n1-1, hi[1]-1), lineC(b.n1-1, hi[1]-1)
		set(false, a, c)
		if n > h {
			set(true, unsafe.Add(a, h*p.rs), c+h*ostep)
		}
		p.tiles = 1
		convTile[T](j.pt, p, n)
	}
}

// callTiles is how many tiles of so many rows and steps a call may compute: it
// cannot be stopped, and must end soon.
func callTiles(rows, steps int) int { return max(1, callSteps/max(1, rows*steps)) }

// cut divides n rows into tiles of nearly equal height, at most most, and
// returns where they begin, and n: two tiles of 8 and 7 rows run faster than
// one of 14 and one of 1.
func cut(n, most int) []int {
	tiles := ceilDiv(n, most)
	at := make([]int, tiles+1)
	for t := range at {
		at[t] = t * n / tiles
	}
	return at
}

package conv

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// packSource is the weights as a job sees them: the column is the job's output channel, the row its input
// channel, the tap its kernel position. col, row, tap and groups are the distances, in elements, between each
// of these and between groups.
type packSource[T Float] struct {
	data                  []T
	fill                  func() (data []T, free func()) // unless nil, makes data when it is needed
	origin                unsafe.Pointer                 // with fill: the memory from which data is made, as a key
	col, row, tap, groups int
}

// run computes the job by the first algorithm that fits: see the map in doc.go.
func (j *job[T]) run(w packSource[T]) {
	if j.depthwise() {
		j.runDepthwise(w)
		return
	}
	if j.winogradFits() {
		j.runWinograd(w)
		j.activateResult()
		return
	}
	if f := j.kn2row(); f != nil && w.fill == nil {
		f.run(w)
		activateAll(j.act, j.out.Data)
		return
	}
	j.makePlan()
	j.planTransposedInput()
	if w.fill != nil && !j.packsOnce() {
		data, free := w.fill()
		defer free()
		w.data = data
	}
	j.packWeights(w)
	defer j.freeWeights()
	if j.key != nil && j.packsOnce() {
		j.packed.keep(j.key, j.blank())
	}
	j.runTasks()
}

// runTasks runs a job with a plan and weights.
func (j *job[T]) runTasks() {
	var z T
	es := int(unsafe.Sizeof(z))
	if j.transposedIn[0] > 0 {
		data := j.transposeInput(es)
		defer mem.Free(unsafe.Pointer(&data[0]), len(data)*es)
		planar := j.in
		j.in = Image[T]{Data: data, Last: true}
		defer func() { j.in = planar }()
	}
	total := j.tasks()
	// A processor takes neighbouring tasks one after the other, so that each task can
	// prefetch what the next one needs.
	grain := min(max(grainWork/j.taskWork(), 1), max(total/16, 1), 8)
	par.For(total, grain, func(lo, hi int) {
		s := j.newScratch(es)
		for t := lo; t < hi; t++ {
			j.task(t, t+1, s, es)
		}
		s.free()
	})
	if j.buffersResult() {
		activateAll(j.act, j.out.Data)
	}
}

// taskWork estimates the multiply-adds of a task.
func (j *job[T]) taskWork() int {
	taps := 0
	for _, p := range j.phases {
		taps += len(p.taps)
	}
	return max(j.images*j.yb*j.xb*taps*j.ci*j.panels*j.nr, 1)
}

// scratch is a task's memory. It comes from a pool, since a small layer takes no longer than the collector would with
// it.
type scratch struct {
	band, out, w               unsafe.Pointer
	bandBytes, outBytes, wSize int
	prefetch                   prefetcher
	args                       [2]args // the second is used while the first is in use by a caller (fused layers)
}

// start clears the arguments i for kernels and returns them.
func (s *scratch) start(i int) *args {
	s.args[i] = args{}
	return &s.args[i]
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// allocScratch gives memory that freeScratch takes back, from the pool of large blocks also where it is small.
func allocScratch(n int) unsafe.Pointer { return mem.Alloc(max(n, mem.Large)) }

func freeScratch(p unsafe.Pointer, n int) {
	if p != nil {
		mem.Free(p, max(n, mem.Large))
	}
}

func (j *job[T]) newScratch(es int) *scratch {
	s := scratches.Get().(*scratch)
	if !j.direct {
		s.bandBytes = (j.bandLen + 16) * es
		s.band = allocScratch(s.bandBytes)
	}
	if j.buffersResult() {
		s.outBytes = (j.images*j.yb*j.ostep[1]*j.xb*j.ostep[2]*j.ostep[0]*j.outPitch() + 16 + j.reluZeros()) * es
		s.out = allocScratch(s.outBytes)
		clear(unsafe.Slice((*T)(unsafe.Add(s.out, s.outBytes-j.reluZeros()*es)), j.reluZeros()))
	}
	if j.packInTask != nil {
		taps := 1
		for _, p := range j.phases {
			taps = max(taps, len(p.taps))
		}
		s.wSize = (taps*j.cb+j.cb+1)*j.nr*es + prefetchPastPanel
		s.w = allocTouched(s.wSize)
	}
	return s
}

func (s *scratch) free() {
	if s.w != nil {
		mem.Free(s.w, s.wSize)
	}
	freeScratch(s.band, s.bandBytes)
	freeScratch(s.out, s.outBytes)
	*s = scratch{}
	scratches.Put(s)
}

// outPitch is the distance of positions in the buffer in which a task collects its results.
func (j *job[T]) outPitch() int { return min(j.panels*j.nr, j.ocols) }

// block is what a task computes: the grid positions [lo,hi) of the images [n0,n1), for the output channels
// [c0,c1) of a group.
type block struct {
	group, n0, n1 int
	lo, hi        [3]int
	c0, c1        int // output channels of the group
}

// band returns the positions of block t, counted over all images, without channels.
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

// bandPosition is the place of a block's first position in a band: the band, and bytes from its beginning.
type bandPosition struct {
	band unsafe.Pointer
	at   int
}

// origin is the place of the block's first position, at channel k0 of the group, when the input itself is the
// band.
func (j *job[T]) origin(b *block, k0 int) bandPosition {
	at := b.n0*j.img + b.group*j.ci + k0
	for i, st := range [3]int{j.slice, j.line, j.pix} {
		at += b.lo[i] * j.istep[i] * st
	}
	var z T
	return bandPosition{unsafe.Pointer(&j.in.Data[0]), at * int(unsafe.Sizeof(z))}
}

// resultBuffer is where the tiles of a task are stored: a channels-last image, or a buffer of the task.
type resultBuffer struct {
	p                     unsafe.Pointer
	img, slice, line, pix int    // elements
	at                    [3]int // output position of the first element
	n0, c0                int    // image and channel of the first element
	nonTemporal           bool   // results are written by non-temporal stores
}

// bufferTarget is a buffer of the task, dense at the block's positions.
func (j *job[T]) bufferTarget(b *block, s *scratch) (t resultBuffer) {
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

// nextRanges lists the memory that task t reads first and that the block b, computed before it, does not
// read: weights (or results that are written or added to), input, and results.
func (j *job[T]) nextRanges(t int, b *block) (first, input, results addressRange) {
	next := j.block(t)
	if j.groups == 1 {
		input = j.inputRange(&next, b)
	}
	switch {
	case j.weightsFitCache && j.npb == 1 && j.groups == 1 && j.ostep == [3]int{1, 1, 1} &&
		(j.columnsInner || j.res != nil):
		first = j.outputRange(&next)
	case !j.columnsInner || next.group != b.group || next.c0 != b.c0:
		first = j.weightRange(0, next.group, next.c0, 0)
		if j.npb == 1 && j.groups == 1 && j.ostep == [3]int{1, 1, 1} {
			results = j.outputRange(&next)
		}
	}
	return first, input, results
}

// weightRange is where the weights of the panel at column c of a phase lie, from channel k0 on.
func (j *job[T]) weightRange(phase, group, c, k0 int) addressRange {
	ph := &j.phases[phase]
	taps := len(ph.taps)
	if j.packInTask != nil || taps == 0 {
		return addressRange{}
	}
	var z T
	es := int(unsafe.Sizeof(z))
	kc := min(j.cb, j.ci-k0)
	at := uintptr(ph.w) + uintptr((group*taps*j.ci*j.ocols+taps*(k0*j.ocols+kc*c))*es)
	return addressRange{at, at + uintptr(taps*kc*min(j.nr, j.ocols-c)*es)}
}

// tasks is the number of blocks.
func (j *job[T]) tasks() int { return j.nImg * j.groups * j.grid[0] * j.ny * j.nx * j.npb }

// task computes block t. Meanwhile it prefetches for task next, with which the worker perhaps goes on.
func (j *job[T]) task(t, next int, s *scratch, es int) {
	b := j.block(t)

	total := j.outChannels()
	dst := resultBuffer{p: unsafe.Pointer(unsafe.SliceData(j.out.Data)), pix: total}
	dst.c0 = -b.group * j.co
	if !j.buffersResult() {
		dst.line = j.outD[2] * total
		dst.slice = j.outD[1] * dst.line
		dst.img = j.outD[0] * dst.slice
		dst.nonTemporal = j.cb == j.ci && j.co*es%64 == 0 && j.storesNonTemporal()
	} else {
		dst = j.bufferTarget(&b, s)
	}

	p := s.start(0)
	var first, input, results addressRange
	if next < j.tasks() {
		first, input, results = j.nextRanges(next, &b)
	}
	inner := j.columnsInner && j.packInTask == nil
	if inner {
		s.prefetch.start(p, tileFetchLines, j.tapTiles(&j.phases[0], &b)*j.panels*j.ci, first, input)
	}
	nk := max(ceilDiv(j.ci, j.cb), 1)
	for kb := range nk {
		k0 := kb * j.cb
		kc := min(j.cb, j.ci-k0)
		later := [3]addressRange{first, input, results} // for after the last panel
		if k0+kc < j.ci {
			later = [3]addressRange{j.weightRange(0, b.group, b.c0, k0+kc)}
		}
		src := bandPosition{band: s.band}
		if j.direct {
			src = j.origin(&b, k0)
		} else {
			j.load(&b, unsafe.Slice((*T)(s.band), j.bandLen), k0, kc)
		}
		// Few weights stay in cache while all columns of some positions are
		// computed, whose results are then written together.
		sub, step := b, b.hi
		if inner {
			x, n := j.columnsInnerPositions(es), b.hi[2]-b.lo[2]
			step[1], step[2] = b.lo[1]+max(1, x/j.grid[2]), b.lo[2]+min(roundUp(ceilDiv(n, ceilDiv(n, x)), 14), n)
		}
		for y := b.lo[1]; y < b.hi[1]; y += step[1] - b.lo[1] {
			for x := b.lo[2]; x < b.hi[2]; x += step[2] - b.lo[2] {
				sub.lo[1], sub.hi[1] = y, min(y+step[1]-b.lo[1], b.hi[1])
				sub.lo[2], sub.hi[2] = x, min(x+step[2]-b.lo[2], b.hi[2])
				at := bandPosition{src.band, src.at + ((y-b.lo[1])*j.step[1]*j.line+(x-b.lo[2])*j.step[2]*j.pix)*es}
				j.columns(p, s, &sub, &dst, at, k0, kc, es, later)
				if kb == nk-1 && !j.buffersResult() {
					j.activate(&sub)
				}
			}
		}
	}
	switch {
	case j.outTail.pools():
		j.pool(&b, &dst, s)
	case j.buffersResult():
		j.store(&b, &dst)
	}
}

// buffersResult reports whether tasks collect their results in a buffer of their own before they are stored:
// results that are planar, that are pooled, or that are rounded to bfloat16 separately.
func (j *job[T]) buffersResult() bool {
	return !j.out.Last || j.outTail.pools() || j.bf16Out != nil && !j.storesBF16
}

// nonTemporalBytes is the size from which on a result is assumed not to stay in the third-level cache.
var nonTemporalBytes = cpu.L3 / 4 * 3

// storesNonTemporal reports whether results are written by non-temporal stores, past the caches: the result
// is so large that it would not stay in a cache, and the stores cover whole cache lines. Not for planar
// results with a residual, which read the result again.
func (j *job[T]) storesNonTemporal() bool {
	var z T
	es := int(unsafe.Sizeof(z))
	line := j.outChannels() * es
	if !j.out.Last {
		line = volume(j.outD) * es
	}
	return (j.pt == pathAVX512 || j.pt == pathAVX2) && (j.out.Last || j.res == nil) && j.act == gemm.ActNone &&
		len(j.out.Data)*es >= nonTemporalBytes && line%64 == 0 &&
		uintptr(unsafe.Pointer(&j.out.Data[0]))%64 == 0
}

// tapTiles estimates how many times the kernels run through one tap of one panel in block b.
func (j *job[T]) tapTiles(ph *phase, b *block) int {
	return max(1, ph.tapTiles*(b.n1-b.n0)*(b.hi[1]-b.lo[1])*(b.hi[2]-b.lo[2])/(j.images*volume(ph.grid)))
}

// columns computes all panels of a block's columns. Unless all their weights stay in cache, the weights of
// the next panel are prefetched while a panel is computed; later is what is prefetched during the last panel.
func (j *job[T]) columns(p *args, s *scratch, b *block, dst *resultBuffer, src bandPosition, k0, kc, es int,
	later [3]addressRange) {
	for c := b.c0; c < b.c1; c += j.nr {
		for i := range j.phases {
			ph := &j.phases[i]
			taps := len(ph.taps)
			switch {
			case taps == 0:
			case j.packInTask != nil:
				p.b = s.w
				j.packInTask.panel(i, b.group, k0, c, s.w, taps*kc*min(j.nr, j.ocols-c)*es)
			default:
				p.b = unsafe.Add(ph.w, (b.group*taps*j.ci*j.ocols+taps*(k0*j.ocols+kc*c))*es)
			}
			if !j.columnsInner {
				next := later
				if i+1 < len(j.phases) {
					next = [3]addressRange{j.weightRange(i+1, b.group, c, k0)}
				} else if c+j.nr < b.c1 {
					next = [3]addressRange{j.weightRange(0, b.group, c+j.nr, k0)}
				}
				s.prefetch.start(p, tileFetchLines, j.tapTiles(ph, b)*kc, next[:]...)
			}
			j.panel(p, &s.prefetch, ph, b, dst, src, c, k0, kc, es)
		}
	}
}

// columnsInnerPositions is the number of positions that have all their columns computed before the next
// positions.
func (j *job[T]) columnsInnerPositions(es int) int {
	return min(max(columnsInnerBytes/(j.cb*es), 56), 280) / 14 * 14
}

// panel computes one panel of columns, from column c on, of one phase, and adds up the channels [k0, k0+kc).
// The panel's weights are at p.b.
func (j *job[T]) panel(p *args, f *prefetcher, ph *phase, b *block, dst *resultBuffer, src bandPosition, c, k0, kc,
	es int) {
	p.flags = 0
	if k0 > 0 {
		p.flags |= flagLoadC
	}
	last := k0+kc == j.ci
	if k0 == 0 && j.bias != nil {
		p.flags |= flagBias
		p.bias = unsafe.Add(j.bias, (b.group*j.co+c)*es)
	}
	if dst.nonTemporal {
		p.flags |= flagNonTemporal
	}
	addRes := last && j.res != nil && j.out.Last
	if addRes {
		p.flags |= flagResidual
	}
	if last && j.clamp && (j.res == nil || addRes) && j.bf16Residual == nil {
		p.flags |= flagClamp
		if !math.IsInf(float64(j.hi), 1) {
			p.flags |= flagUpper
		}
		p.lo, p.hi = bits(j.lo), bits(j.hi)
	}
	ces := es // bytes of an element of C, the result
	if j.storesBF16 {
		ces = 2
		p.flags |= flagRoundBF16
	}
	width := min(j.nr, j.ocols-c)
	setColumns[T](j.pt, p, width, min(j.nr, j.co-c))
	p.tapStep = kc * width * es

	// What lies between images, lines and positions in A and in C.
	strides := [3]axis{
		{a: j.img * es, c: dst.img * ces},
		{a: j.step[1] * j.line * es, c: j.ostep[1] * dst.line * ces},
		{a: j.step[2] * j.pix * es, c: j.ostep[2] * dst.pix * ces},
	}
	for i := range ph.regions {
		cl := &ph.regions[i]
		lo, hi := b.lo, b.hi
		for i := range 3 {
			lo[i], hi[i] = max(lo[i], cl.lo[i]), min(hi[i], cl.hi[i])
		}
		if lo[0] >= hi[0] || lo[1] >= hi[1] || lo[2] >= hi[2] {
			continue
		}
		x := strides
		x[0].n, x[1].n, x[2].n = b.n1-b.n0, hi[1]-lo[1], hi[2]-lo[2]
		t := tiler{p: p, prefetch: f, dst: dst.p, a: src}
		t.a.at += cl.at + (lo[1]-b.lo[1])*x[1].a + (lo[2]-b.lo[2])*x[2].a
		if cl.runTaps == 0 { // nothing is read
			t.a.at, x[0].a, x[1].a, x[2].a = 0, 0, 0, 0
		}
		at := (b.n0-dst.n0)*dst.img + c - dst.c0
		for i, st := range [3]int{dst.slice, dst.line, dst.pix} {
			at += (lo[i]*j.ostep[i] + ph.at[i] - dst.at[i]) * st
		}
		t.c = at * ces
		if addRes {
			t.res = j.res
		}
		p.k = cl.runTaps * kc
		p.seg, p.segEnd = unsafe.Pointer(&cl.seg[0]), unsafe.Pointer(&cl.seg[len(cl.seg)-1])
		rows, _ := tileSize[T](j.pt)
		tileRegion[T](&t, j.pt, x, rows, len(cl.seg)/2)
	}
}

// tiler walks over the positions of a region.
type tiler struct {
	p        *args
	prefetch *prefetcher
	a        bandPosition
	dst      unsafe.Pointer
	c        int            // byte offset of the first position in the result, and in the residual
	res      unsafe.Pointer // the residual, nil for none
}

// set points the first or the second group of rows of the kernel to a position. The kernel has two pointers
// into A and C because the addressing modes reach seven rows from each.
func (t *tiler) set(second bool, a, c int) {
	p, src, dst := t.p, unsafe.Add(t.a.band, t.a.at+a), unsafe.Add(t.dst, t.c+c)
	if second {
		p.a1, p.c1 = src, dst
	} else {
		p.a0, p.c0 = src, dst
	}
	if t.res == nil {
		return
	}
	if second {
		p.r1 = unsafe.Add(t.res, t.c+c)
	} else {
		p.r0 = unsafe.Add(t.res, t.c+c)
	}
}

// tileRegion computes the positions that the axes span, in tiles of at most rows rows; segs is the number of
// segments.
func tileRegion[T Float](t *tiler, pt path, axes [3]axis, rows, segs int) {
	rowsAlong(&axes, rows)
	p, x, kernel := t.p, axes[2], kernelsOf[T](pt).conv
	p.rs, p.ldc, p.ldr = x.a, x.c, x.c
	most := callTiles(rows, p.k*segs)
	run := func(r, tiles int) {
		p.tiles = tiles
		tile(kernel, p, r)
		t.prefetch.advance(p)
	}
	// rowsFrom points both groups to r rows from i on of a line.
	rowsFrom := func(a, c, i, r int) {
		t.set(false, a+i*x.a, c+i*x.c)
		if h := (r + 1) / 2; r > h { // pointers stay inside
			t.set(true, a+(i+h)*x.a, c+(i+h)*x.c)
		}
	}
	tiles := ceilDiv(x.n, rows)
	held, a, c := false, 0, 0 // held: a short line waits for a second one, with which it makes a tile
	for i := range axes[0].n {
		for k := range axes[1].n {
			a, c = i*axes[0].a+k*axes[1].a, i*axes[0].c+k*axes[1].c
			if 2*x.n <= rows {
				t.set(held, a, c)
				if held {
					run(2*x.n, 1)
				}
				held = !held
				continue
			}
			// Tiles of nearly equal height: two of 8 and 7 rows run faster than
			// one of 14 and one of 1.
			for i := 0; i < x.n; {
				r := x.n / tiles
				count := tiles - x.n%tiles
				if i < x.n%tiles*(r+1) {
					r++
					count = x.n % tiles
				}
				end := i + min(count*r, x.n-i)
				p.tileA, p.tileC = r*p.rs, r*p.ldc
				for i < end {
					calls := min(most, (end-i)/r, t.prefetch.tiles(p, p.k*segs))
					rowsFrom(a, c, i, r)
					run(r, calls)
					i += calls * r
				}
			}
		}
	}
	if held { // one line is left
		rowsFrom(a, c, 0, x.n)
		run(x.n, 1)
	}
}

// callTiles is the number of tiles, of the given rows and steps, that one kernel call may compute: a call
// cannot be interrupted and must end soon.
func callTiles(rows, steps int) int { return max(1, callSteps/max(1, rows*steps)) }

// splitRows divides n rows into tiles of nearly equal height, at most most, and returns where the tiles
// begin, and n at the end: two tiles of 8 and 7 rows run faster than one of 14 and one of 1.
func splitRows(n, most int) []int {
	tiles := ceilDiv(n, most)
	at := make([]int, tiles+1)
	for t := range at {
		at[t] = t * n / tiles
	}
	return at
}

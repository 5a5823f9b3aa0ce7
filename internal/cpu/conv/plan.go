package conv

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
)

// job is one call: a sum over taps at every output position, see phase. Both the forward convolution and the
// gradient of the input are jobs; for the gradient, "in" is the output's gradient and "out" the input's.
type job[T Float] struct {
	pt        path
	n, groups int
	ci, co    int // channels of a group
	in, out   Image[T]
	inTail    *Tail[T] // the pooling whose gradient "in" is; nil for none
	// the tail that is computed from the result; for the gradient of the weights, the tail of the convolution
	outTail      *Tail[T]
	inD, outD    [3]int
	istep, ostep [3]int
	phases       []phase
	bias, res    unsafe.Pointer
	// bfloat16 images that are written, and that are read unless their elements are adjacent pairs already
	bf16In, bf16Out *bf16Images
	bf16Residual    []uint16 // the bfloat16 residual, nil for none
	clamp           bool
	lo, hi          T
	act             gemm.Activation
	pitch           int        // Epilogue.Pitch
	winograd        bool       // Winograd's algorithm is allowed
	packInTask      *packer[T] // not nil: each task packs the weights that it needs
	packed          *PackedWeights
	key             *planKey // under which packed may keep the plan
	groupSize       int      // channels of a group whose convolution counts as depthwise, see depthwise

	plan
}

// plan is how the job is cut into tasks. It depends on the sizes alone, never on the number of threads.
//
// The output positions form a grid. A task computes a block of it, yb lines of xb positions of some images,
// for some panels of output channels. It reads a band of the input: the positions that the block sees, with
// the padding around them.
//
//	band (ext+1 lines more than the block)         block
//	┌─────────────────┐
//	│ ░░░░░░░░░░░░░░░ │  padding, zeros         ┌───────────┐
//	│ ░ x x x x x x ░ │                         │ y y y y y │ yb lines
//	│ ░ x x x x x x ░ │         ──────►         │ y y y y y │
//	│ ░ x x x x x x ░ │                         └───────────┘
//	└─────────────────┘                          xb positions
type plan struct {
	nr              int // columns of a panel
	ocols           int // co rounded up to whole vectors
	cb              int // channels summed at a time
	grid            [3]int
	dmin            [3]int // least offset of a tap in each direction
	ext             [3]int // greatest offset minus the least
	step            [3]int // positions of the band per grid position
	skip            [3]int // positions of the input per position of the band
	padded          bool   // some position sees padding
	direct          bool   // the input itself is the band: nothing is copied
	weightsFitCache bool   // the weights of a task stay in cache
	storesBF16      bool   // the kernels store tiles as bfloat16, directly in the result
	transposedIn    [2]int // images and positions of a planar input that is transposed in advance; 0 for none
	columnsInner    bool   // a task computes all its columns for some positions before it goes on to the next positions
	grad            bool   // made for the gradient of the weights
	images          int    // images of a task
	yb, xb          int    // lines of a task, and positions of a line
	panels          int    // panels of weights of a task
	nImg            int    // number of tasks along images, lines, positions of a line, and panels
	ny, nx          int
	npb             int
	pix             int // elements between positions, lines, slices and images of a band
	line            int
	slice           int
	img             int
	bandLen         int
	posOff          []int // planar input: byte offsets in a slice of the band of successive positions of an image
	chanOff         []int // planar result: byte offsets of successive channels
}

const (
	taskWork    = 24 << 20  // multiply-adds of a task: some 150 µs on a slow core
	leastWork   = 2 << 20   // multiply-adds that a task keeps when tasks are made smaller to have more of them
	grainWork   = 4 << 20   // multiply-adds of the tasks that one thread takes at a time
	minTasks    = 8         // with fewer tasks, processors are idle
	enoughTasks = 32        // more tasks are not needed
	evenTasks   = 4         // a multiple of this many tasks is shared evenly by 2 or 4 threads
	callSteps   = 1 << 16   // rows times steps of one kernel call: some 30 µs
	leastPixels = 192       // output positions of a task
	leastLine   = 24        // output positions of a task that has a part of a line
	bandBytes   = 256 << 10 // part of the second-level cache that a band may take
	bandMost    = 384 << 10 // bytes of a band with all channels of a block, at most

	// transposeMinTasks is how many tasks must need the same planar input for it to be transposed once, in advance.
	transposeMinTasks = 3

	// bytes of weights that stay in cache while all columns of some positions are computed
	columnsInnerMaxWeights = 256 << 10
	columnsInnerBytes      = 112 << 10 // bytes of the inputs of these positions

	bigWeights = 1 << 20   // bytes of weights that do not stay in the second-level cache
	panelMax   = 160 << 10 // bytes of a panel of weights for one block of channels
)

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func roundUp(x, to int) int { return (x + to - 1) / to * to }

func (j *job[T]) setEpilogue(ep *Epilogue[T]) {
	if ep == nil {
		return
	}
	if ep.Bias != nil {
		_ = ep.Bias[j.co*j.groups-1]
		j.bias = unsafe.Pointer(&ep.Bias[0])
	}
	if ep.Residual != nil {
		_ = ep.Residual[len(j.out.Data)-1]
		j.res = unsafe.Pointer(&ep.Residual[0])
	}
	j.clamp, j.lo, j.hi, j.act = ep.Clamp, ep.Lo, ep.Hi, ep.Act
	j.packed, j.outTail, j.winograd = ep.Packed, ep.Tail, ep.Winograd
	j.pitch = ep.Pitch
}

// outChannels is the number of channels of the image that the result is, or is a part of.
func (j *job[T]) outChannels() int {
	if j.pitch > 0 {
		return j.pitch
	}
	return j.co * j.groups
}

// blank is the job without what changes from call to call: images, biases, caches.
func (j *job[T]) blank() *job[T] {
	c := *j
	c.in.Data, c.out.Data, c.bias, c.res, c.packed, c.key, c.outTail = nil, nil, nil, nil, nil, nil, nil
	c.bf16In, c.bf16Out, c.bf16Residual, c.act = nil, nil, nil, gemm.ActNone
	return &c
}

// measure finds the extent of the taps, and returns the number of taps of the phase that has most.
func (j *job[T]) measure() (taps int) {
	_, l := tileSize[T](j.pt)
	j.nr, j.ocols = 2*l, roundUp(j.co, l)
	j.flatten()

	first := true
	j.padded = false
	for i := range 3 {
		j.grid[i] = ceilDiv(j.outD[i], j.ostep[i])
	}
	var dmax [3]int
	for _, p := range j.phases {
		taps = max(taps, len(p.taps))
		for _, t := range p.taps {
			for i, d := range t.d {
				if first {
					j.dmin[i], dmax[i] = d, d
				} else {
					j.dmin[i], dmax[i] = min(j.dmin[i], d), max(dmax[i], d)
				}
			}
			first = false
		}
	}
	for i := range 3 {
		j.ext[i] = dmax[i] - j.dmin[i]
		j.step[i], j.skip[i] = j.istep[i], 1
		last := (j.grid[i]-1)*j.istep[i] + dmax[i]
		j.padded = j.padded || j.dmin[i] < 0 || last >= j.inD[i]
		if j.ext[i] == 0 && (i < 2 || j.in.Last) {
			// With a single tap in this direction, the positions that the stride skips are not needed.
			j.step[i], j.skip[i] = 1, j.istep[i]
		}
	}
	j.direct = j.in.Last && j.bf16In == nil && j.inTail == nil && !j.padded && !j.conflictsInCache()
	return max(taps, 1)
}

// conflictsInCache reports whether rows of A, read in place, are a multiple of a page apart and so share one
// set of the first-level cache. Rows half a page apart use two sets, which is enough.
func (j *job[T]) conflictsInCache() bool {
	var z T
	return j.istep[2]*j.ci*j.groups*int(unsafe.Sizeof(z))%4096 == 0
}

// makePlan chooses the blocks.
func (j *job[T]) makePlan() {
	var z T
	es := int(unsafe.Sizeof(z))
	taps := j.measure()
	j.readInPlace()

	// Positions of a task: enough for a panel of weights to be used often while it is in
	// cache, not so many that too few tasks are left for the threads.
	unit := max(taps*j.ci*j.co, 1)
	px := min(max(taskWork/unit, leastPixels), 1024)
	most := bandBytes
	if taps*j.ci*j.co*es > bigWeights { // the weights come from the third-level cache or from memory
		px = max(px, 400)
		if j.direct {
			px, most = max(px, 800), 2*bandBytes
		}
	}
	if j.direct {
		j.blockChannels(taps, es)
		px = min(px, max(most/(j.cb*es), 56))
	}
	gx, gy := j.grid[2], j.grid[1]
	j.images, j.yb, j.xb = 1, 1, gx
	switch {
	case gy == 1 && j.direct:
		j.xb = j.shareLine(taps, px)
	case gx > 2*px:
		j.xb = ceilDiv(ceilDiv(gx, ceilDiv(gx, px)), 14) * 14
	case gx*gy > px:
		j.yb = max(1, px/gx)
		// Few blocks are made more, so that 2 or 4 threads get equal shares.
		even := ceilDiv(gy, roundUp(ceilDiv(gy, j.yb), evenTasks))
		if j.n*j.grid[0]*ceilDiv(gy, even) < enoughTasks && even*gx >= leastPixels {
			j.yb = even
		}
	default:
		j.yb = gy
		j.images = min(max(1, px/(gx*gy)), j.n)
	}
	j.blockChannels(taps, es)
	for !j.direct && j.bandBytes(es) > 2*bandBytes && (j.images > 1 || j.yb > 1) {
		if j.images > 1 {
			j.images = (j.images + 1) / 2
		} else {
			j.yb = (j.yb + 1) / 2
		}
		j.blockChannels(taps, es)
	}
	j.shareBands(taps)
	j.evenBlocks()
	j.sharePanels(taps, j.nImg*j.grid[0]*j.ny*j.nx*j.groups)
	j.storesBF16 = j.bf16Out != nil && j.out.Last && j.cb == j.ci && j.bf16Residual == nil && !j.outTail.pools()

	j.layout(es)
	if !j.out.Last && hasScatter[T](j.pt) {
		j.chanOff = multiples(j.panels*j.nr, volume(j.outD)*es)
	}
	for i := range j.phases {
		j.makeRegions(&j.phases[i], es)
	}
	j.weightsFitCache = taps*j.cb*j.panels*j.nr*es <= columnsInnerMaxWeights
	j.columnsInner = j.weightsFitCache && taps == 1 && j.grid[2] >= 14 && j.panels > 1
}

// planTransposedInput makes a plan in which a planar input is transposed once, in advance, if several tasks
// would transpose the same part of it, and if the transposed input can be read in place.
func (j *job[T]) planTransposedInput() {
	if j.in.Last || j.npb < transposeMinTasks || j.inTail != nil || j.bf16In != nil || !hasScatter[T](j.pt) {
		return
	}
	n, in, out, grid := j.n, j.inD, j.outD, j.phases[0].grid
	j.in.Last = true
	j.makePlan()
	j.in.Last = false
	if j.direct {
		j.transposedIn = [2]int{n, volume(in)}
		return
	}
	j.n, j.inD, j.outD, j.phases[0].grid = n, in, out, grid
	j.makePlan()
}

// sharePanels chooses the number of panels of a task, given the number of bands.
func (j *job[T]) sharePanels(taps, bands int) {
	total := ceilDiv(j.co, j.nr)
	per := max(j.images*j.yb*j.xb*taps*j.ci*j.nr, 1)
	least := ceilDiv(16, taps)
	if j.direct && taps > 1 { // no band is copied, so reading one again costs little
		least = 1
	}
	// Where there are many bands, a task has all panels, so that each band is read once.
	j.panels = min(max(taskWork/per, least, total*bands/enoughTasks, 1), total)
	even := j.grid[1] == 1 && j.direct && bands%evenTasks == 0 && j.ocols%j.nr > 0
	if bands*ceilDiv(total, j.panels) < minTasks && !even { // else one task in each band would have less to do
		// Bands are read more than once, so that no processor is left idle.
		j.panels = max(total*bands/minTasks, 1)
	}
	j.npb = ceilDiv(total, j.panels)
	j.panels = ceilDiv(total, j.npb)
	j.npb = ceilDiv(total, j.panels)
}

// shareBands makes bands smaller where there would be fewer tasks than processors, even if each task had a
// single panel.
func (j *job[T]) shareBands(taps int) {
	tasks := ceilDiv(j.n, j.images) * j.grid[0] * ceilDiv(j.grid[1], j.yb) * ceilDiv(j.grid[2], j.xb) * j.groups *
		ceilDiv(j.co, j.nr)
	want := min(evenTasks, j.n*volume(j.grid)*taps*j.ci*j.groups*roundUp(j.co, j.nr)/leastWork)
	if tasks >= want {
		return
	}
	parts := ceilDiv(want, tasks)
	images := ceilDiv(j.n, min(j.n, ceilDiv(j.n, j.images)*parts))
	parts = ceilDiv(parts, j.images/images)
	j.images = images
	lines := ceilDiv(j.grid[1], min(j.grid[1], ceilDiv(j.grid[1], j.yb)*parts))
	parts = ceilDiv(parts, j.yb/lines)
	j.yb = lines
	if j.grid[1] == 1 {
		j.xb = ceilDiv(j.grid[2], min(ceilDiv(j.grid[2], leastLine), ceilDiv(j.grid[2], j.xb)*parts))
	}
}

// shareLine cuts a long line into blocks of about px positions, or into more blocks where few tasks could not
// be shared evenly. It returns the positions of a block.
func (j *job[T]) shareLine(taps, px int) int {
	gx := j.grid[2]
	least := 1
	if gx > 2*px {
		least = ceilDiv(gx, px)
	}
	lines := j.n * j.grid[0] * j.groups
	if lines*least >= enoughTasks {
		return min(roundUp(ceilDiv(gx, least), 14), gx)
	}
	x, best := gx, math.Inf(1)
	for b := least; b == least || b <= 2*max(least, evenTasks) && gx/b >= leastLine; b++ {
		j.xb = ceilDiv(gx, b)
		j.sharePanels(taps, lines*b)
		tasks := lines * ceilDiv(gx, j.xb) * j.npb
		// The idle time of two and of four processors, also because of a last panel that is partly empty, and the
		// weights, which are read once for every block.
		cost := float64(roundUp(tasks, 2)+roundUp(tasks, 4)) / float64(tasks) * (1 + 8/float64(j.xb))
		cost *= float64(j.npb*min(j.panels*j.nr, j.ocols)) / float64(j.ocols)
		if cost < best {
			best, x = cost, j.xb
		}
	}
	return x
}

// evenBlocks makes the blocks of positions and images equally large, and a whole number of pooling windows.
func (j *job[T]) evenBlocks() {
	var window [3]int
	if j.outTail.pools() {
		window = j.outTail.Window
		j.xb = roundUp(j.xb, window[2])
	}
	j.nx, j.ny, j.nImg = ceilDiv(j.grid[2], j.xb), ceilDiv(j.grid[1], j.yb), ceilDiv(j.n, j.images)
	j.yb, j.images = roundUp(ceilDiv(j.grid[1], j.ny), max(window[1], 1)), ceilDiv(j.n, j.nImg)
	j.ny, j.nImg = ceilDiv(j.grid[1], j.yb), ceilDiv(j.n, j.images)
}

// flatten makes one long line of a convolution whose kernel is a single position and that leaves no position
// out (1×1, stride 1, no padding).
func (j *job[T]) flatten() {
	one := [3]int{1, 1, 1}
	if len(j.phases) != 1 || len(j.phases[0].taps) != 1 || j.phases[0].taps[0].d != [3]int{} ||
		j.istep != one || j.ostep != one || j.inD != j.outD || j.inTail != nil || j.outTail.pools() {
		return
	}
	w := volume(j.inD)
	if j.in.Last && j.out.Last && j.bf16In == nil {
		w *= j.n
		j.n = 1
	}
	j.inD = [3]int{1, 1, w}
	j.outD = j.inD
	j.phases[0].grid = j.inD
}

// blockChannels chooses how many input channels are summed at a time.
func (j *job[T]) blockChannels(taps, es int) {
	cb := max(panelMax/(taps*j.nr*es), 16)
	if !j.direct {
		j.cb = 1
		cb = min(cb, max(bandMost/j.bandBytes(0), 16))
	}
	nb := ceilDiv(max(j.ci, 1), cb)
	j.cb = ceilDiv(max(j.ci, 1), nb)
	if nb > 1 {
		j.cb = roundUp(j.cb, 16)
	}
}

// bandSize is the number of lines of a band and of positions in a line.
func (j *job[T]) bandSize() (y, x int) {
	return (j.yb-1)*j.step[1] + j.ext[1] + 1, (j.xb-1)*j.step[2] + j.ext[2] + 1
}

// bandBytes is the size of the band; for es 0, the size of one channel of it in float32.
func (j *job[T]) bandBytes(es int) int {
	y, x := j.bandSize()
	n := j.images * (j.ext[0] + 1) * y * x
	if es == 0 {
		return n * 4
	}
	return n * (j.cb + 16) * es
}

// layout sets the strides of the band.
func (j *job[T]) layout(es int) {
	if j.direct {
		j.pix = j.ci * j.groups
		j.line = j.pix * j.inD[2]
		j.slice = j.line * j.inD[1]
		j.img = j.slice * j.inD[0]
		j.step, j.skip = j.istep, [3]int{1, 1, 1}
		return
	}
	y, x := j.bandSize()
	j.pix = j.cb
	if j.pix >= 16 {
		// The transposition of planar images stores whole vectors of 16 channels.
		j.pix = roundUp(j.pix, 16)
	}
	// Positions a power of two apart would share cache sets. The gradient of the weights
	// runs along many positions, and wants them an odd number of cache lines apart.
	if at := j.step[2] * j.pix * es; at%1024 == 0 || j.grad && at%128 == 0 {
		j.pix += 64 / es
	}
	j.line = j.pix * x
	if j.line*es%1024 == 0 { // tiles may run along columns
		j.line += 64 / es
	}
	j.slice = j.line * y
	j.img = j.slice * (j.ext[0] + 1)
	j.bandLen = j.img * j.images
	if !j.in.Last && hasScatter[T](j.pt) {
		w, lines := x, 1
		if x >= j.inD[2] {
			w, lines = j.inD[2], min(y, j.inD[1])
		}
		j.posOff = make([]int, w*lines)
		for i := range j.posOff {
			j.posOff[i] = (i/w*j.line + i%w*j.pix) * es
		}
	}
}

// multiples returns n multiples of step.
func multiples(n, step int) []int {
	m := make([]int, n)
	for i := range m {
		m[i] = i * step
	}
	return m
}

package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

// depthwise reports whether the convolution is depthwise: every channel has a kernel of its own. Small groups
// of equally many input and output channels count as depthwise, too, where there are kernels for them: a
// vector holds several groups, and the kernel combines the channels of each group. From then on every channel
// counts as a group.
func (j *job[T]) depthwise() bool {
	if j.groupSize == 0 && j.ci == j.co && j.groups > 1 &&
		(j.ci == 1 || hasGroupedKernel[T](j.pt, j.ci, j.ci*j.groups)) {
		j.groupSize, j.groups, j.ci, j.co = j.ci, j.groups*j.ci, 1, 1
	}
	return j.groupSize > 0
}

// depthwiseJob is a depthwise convolution. Channels do not mix, so a vector holds adjacent channels of one
// position, and is multiplied by a vector of weights, element by element:
//
//	C[position, channel] = sum over taps t of A[position + t, channel]·W[t, channel]
//
// Channels-last images are read in place where that is better; border positions are computed with the taps
// that fall inside the image. Other images are copied to bands, some channels at a time.
type depthwiseJob[T Float] struct {
	*job[T]
	es int
	vl int // channels of a vector, a whole number of groups
	// weights: [block of channels][taps and, for groups, channels that are read][channel of the block]
	w    unsafe.Pointer
	wrow int // bytes of the last dimension of w
	wlen int // bytes of a block of channels in w
	wtap int // bytes between taps
	wmix int // bytes between the channels that are read
	bias unsafe.Pointer

	index []int32 // for groups of several channels: which channels the lanes take, see groupLaneIndex

	// The images that are read and written in place. For fused layers src holds some lines
	// and channels of the first layer's result, and only some channels are written.
	src, dst      unsafe.Pointer
	inPix, outPix int // elements between positions
	channels      int
	y0, outY      int // the numbers of the first lines at src and dst
}

func (j *job[T]) runDepthwise(src packSource[T]) {
	d := newDepthwiseJob(j)
	if f := d.fewChannels(); f != nil {
		f.run(src)
		activateAll(j.act, j.out.Data)
		return
	}
	d.src, d.dst = unsafe.Pointer(unsafe.SliceData(j.in.Data)), unsafe.Pointer(&j.out.Data[0])
	d.inPix, d.outPix, d.channels = j.groups, j.groups, j.groups
	if d.inPlace() {
		d.pack(src, d.groups)
		d.runLast()
		return
	}
	d.pack(src, 2*d.vl)
	d.runBands(lanes[T](j.pt))
	if !j.out.Last {
		activateAll(j.act, j.out.Data)
	}
}

// inPlace reports whether the images are better read in place: no position sees padding, or few positions do
// and there are few taps.
func (d *depthwiseJob[T]) inPlace() bool {
	if !d.in.Last || !d.out.Last {
		return false
	}
	if d.groupSize == 1 && d.ext[2] <= 2 {
		return true
	}
	// Without masks whole vectors are wanted, and short runs are slow to copy.
	var columns [64]int
	off := columns[:0]
	for _, t := range d.phases[0].taps {
		off = append(off, t.d[2])
	}
	together := d.slidingRuns(d.phases[0].taps, off, 1, d.istep[2]).taps > 0
	if d.groupSize == 1 && d.pt != pathAVX512 && (d.groups%d.vl > 0 || !together && 4*d.ext[2] < d.grid[2]) {
		return true
	}
	// With strides most of what is copied serves few positions.
	if d.groupSize == 1 && 8*d.istep[1]*d.istep[2] > len(d.phases[0].taps) {
		return true
	}
	// With dilation much of it is padding.
	if d.groupSize == 1 && d.slidingThrees(d.phases[0].taps, d.grid[2]).columns > 1 {
		return true
	}
	// The kernel of groups reads whole vectors.
	return !d.padded && (d.groupSize == 1 || d.groups%lanes[T](d.pt) == 0 && d.vl == lanes[T](d.pt))
}

// newDepthwiseJob measures the job.
func newDepthwiseJob[T Float](j *job[T]) *depthwiseJob[T] {
	var z T
	d := &depthwiseJob[T]{job: j, es: int(unsafe.Sizeof(z))}
	j.depthwise()
	j.measure()
	l := lanes[T](j.pt)
	d.vl = l / j.groupSize * j.groupSize
	for i := range j.phases {
		j.phases[i].rows = j.tapBoundaries(&j.phases[i], 1)
	}
	if j.groupSize > 1 {
		d.index = groupLaneIndex(j.groupSize, l)
	}
	d.bias = j.bias
	if j.bias != nil && copiesBias[T](j) {
		b := make([]T, roundUp(j.groups, l)+l)
		copy(b, unsafe.Slice((*T)(j.bias), j.groups))
		d.bias = unsafe.Pointer(&b[0])
	}
	return d
}

// copiesBias reports whether the bias must be copied: the kernel reads whole vectors of it, and its last
// vector is not full.
func copiesBias[T Float](j *job[T]) bool {
	if j.pt == pathAVX512 {
		return !j.in.Last || !j.out.Last
	}
	return j.groups%lanes[T](j.pt) > 0
}

// groupLaneIndex lists, for each channel k of a group of n, from which lane of a vector of l lanes each lane
// takes its factor: channel k of its own group. A spare vector at the end keeps pointers inside.
//
//	n = 2, l = 8:   k=0: 0 0 2 2 4 4 6 6    k=1: 1 1 3 3 5 5 7 7
func groupLaneIndex(n, l int) []int32 {
	index := make([]int32, (n+1)*l)
	for i := range index {
		lane := i % l
		index[i] = int32(min(lane-lane%n+i/l, l-1))
	}
	return index
}

// pack lays out the weights of block channels at a time, tap after tap, or takes them from the last call.
func (d *depthwiseJob[T]) pack(src packSource[T], block int) {
	taps := src.groups / (d.groupSize * d.groupSize)
	width := roundUp(block, lanes[T](d.pt))
	d.wrow = width * d.es
	d.wlen = taps * d.groupSize * d.wrow
	d.wtap, d.wmix = d.wrow, taps*d.wrow
	if d.groupSize > 1 && src.groups == d.groupSize*src.col {
		d.wtap, d.wmix = src.tap*d.wrow, src.row*d.wrow // in the order of memory
	}
	key := packedKey{pt: d.pt, groups: d.groups, ci: d.groupSize, cb: block, es: d.es, taps: taps,
		data: unsafe.Pointer(&src.data[0]), row: src.groups}
	d.w = d.packed.get(key, func() unsafe.Pointer { return d.layOutWeights(src, block, width, taps) })
}

func (d *depthwiseJob[T]) layOutWeights(src packSource[T], block, width, taps int) unsafe.Pointer {
	w := make([]T, ceilDiv(d.groups, block)*d.wlen/d.es+width)
	for c0 := 0; c0 < d.groups; c0 += block {
		to := w[c0/block*d.wlen/d.es:]
		n := min(block, d.groups-c0)
		if at := c0 / d.groupSize * src.groups; src.groups == d.groupSize*src.col || d.groupSize == 1 {
			transpose(to, width, src.data[at:], src.groups/d.groupSize, n, taps*d.groupSize)
			continue
		}
		for c := range n {
			s := src.data[(c0+c)/d.groupSize*src.groups+(c0+c)%d.groupSize*src.col:]
			for i := range d.groupSize {
				for t := range taps {
					to[(i*taps+t)*width+c] = s[i*src.row+t*src.tap]
				}
			}
		}
	}
	return unsafe.Pointer(&w[0])
}

// setup sets the arguments that all tiles share.
func (d *depthwiseJob[T]) setup(p *args, ldc int) {
	p.flags, p.ldc = 0, ldc*d.ostep[2]*d.es
	if d.bias != nil {
		p.flags |= flagBias
		p.bias = d.bias
	}
	if d.res != nil && d.out.Last {
		p.flags |= flagResidual
		p.ldr = p.ldc
	}
	if d.clamp && (d.res == nil || d.out.Last) {
		p.flags |= flagClamp
		p.lo, p.hi = bits(d.lo), bits(d.hi)
	}
	if d.storesNonTemporal() {
		p.flags |= flagNonTemporal
	}
	if d.groupSize > 1 {
		p.index = unsafe.Pointer(&d.index[0])
		p.indexEnd = unsafe.Add(p.index, d.groupSize*lanes[T](d.pt)*4)
		p.tapStep, p.vectorStep = d.wmix, d.vl*d.es
	}
}

// storesNonTemporal reports whether results are written by non-temporal stores: also, all vectors must be
// full.
func (d *depthwiseJob[T]) storesNonTemporal() bool {
	return d.out.Last && d.vl*d.es == 64 && d.groups%d.vl == 0 && d.job.storesNonTemporal()
}

const (
	depthwiseTaskWork   = 1 << 19   // multiply-adds of a task
	depthwiseInputBytes = 192 << 10 // part of the second-level cache for the input of a task
)

// runLast computes channels-last images in place, some lines of the grid at a time.
func (d *depthwiseJob[T]) runLast() {
	line := d.grid[2] * d.groups
	yb := min(depthwiseTaskWork/max(line*len(d.phases[0].taps)*d.groupSize, 1),
		depthwiseInputBytes/max(d.inD[2]*d.groups*d.istep[1]*d.es, 1), d.grid[1])
	blocks := ceilDiv(d.grid[1], max(yb, 1))
	yb = ceilDiv(d.grid[1], blocks)
	// Each vector of channels has a chance to fetch ahead with each tap of each
	// line of a tile.
	rows, l := tileSize[T](d.pt)
	fetches := yb * ceilDiv(d.grid[2], rows) * ceilDiv(d.groups, l) * len(d.phases[0].taps) * 4 * d.groupSize
	total := d.n * d.grid[0] * blocks
	grain := min(max(total/32, 1), 8)
	par.For(total, grain, func(lo, hi int) {
		var p args
		var f prefetcher
		d.setup(&p, d.outPix)
		d.steps(&p)
		seg := make([]int, 0, 64)
		for t := lo; t < hi; t++ {
			img, z, y := t/blocks/d.grid[0], t/blocks%d.grid[0], t%blocks*yb
			f.start(&p, depthwiseFetchLines, fetches, d.linesAfter(img, z, y+yb, yb))
			for i := range d.phases {
				ph := &d.phases[i]
				if z >= ph.grid[0] {
					continue
				}
				seg = d.lines(&p, ph, img, z, y, min(y+yb, ph.grid[1]), seg)
			}
			d.activate(&block{n0: img, n1: img + 1, lo: [3]int{z, y, 0}, c1: d.groups,
				hi: [3]int{z + 1, min(y+yb, d.grid[1]), d.grid[2]}})
		}
	})
}

// steps sets the distances between lines in the images.
func (d *depthwiseJob[T]) steps(p *args) {
	p.stepA = d.istep[1] * d.inD[2] * d.inPix * d.es
	p.stepC = d.ostep[1] * d.outD[2] * d.outPix * d.es
}

// lines computes the lines [y0, y1) of a phase's grid.
func (d *depthwiseJob[T]) lines(p *args, ph *phase, img, z, y0, y1 int, seg []int) []int {
	for _, cut := range ph.rows {
		if n := min(cut, y1) - y0; n > 0 {
			seg = d.line(p, ph, img, z, y0, n, seg)
			y0 += n
		}
	}
	return seg
}

// linesAfter is the part of the input that n lines of the grid, from line y on, are the first to read. After
// the last line of an image comes the next image.
func (d *depthwiseJob[T]) linesAfter(img, z, y, n int) addressRange {
	line := d.inD[2] * d.groups
	at := (img*d.inD[0]+z*d.istep[0])*d.inD[1] + (y-1)*d.istep[1] + d.dmin[1] + d.ext[1] + 1
	return rangeOf(d.in.Data, at*line, (at+n*d.istep[1])*line)
}

// line computes n lines of a phase's grid, from line y on, which see the same taps.
func (d *depthwiseJob[T]) line(p *args, ph *phase, img, z, y, n int, seg []int) []int {
	p.lines = n
	// The taps inside the image in the first two directions.
	var inside [64]tap
	taps := inside[:0]
	for _, t := range ph.taps {
		if d.tapInside(t, 0, z) && d.tapInside(t, 1, y) {
			taps = append(taps, t)
		}
	}
	whole := d.pt == pathAVX512 || d.channels%d.vl == 0 // all vectors are full, or there are masks
	if whole && d.groupSize == 1 {
		if by := d.slidingThrees(taps, ph.grid[2]); by.taps > 0 {
			return d.slidingLine(p, ph, taps, by, img, z, y, seg)
		}
	}
	end, w := ph.grid[2], d.inD[2]
	// The positions [xa,xb) of a line see all these taps.
	xa, xb := 0, end
	for _, t := range taps {
		if t.d[2] < 0 {
			xa = max(xa, ceilDiv(-t.d[2], d.istep[2]))
		}
		if last := w - 1 - t.d[2]; last < 0 {
			xb = 0
		} else {
			xb = min(xb, last/d.istep[2]+1)
		}
	}
	xa = min(xa, end)
	xb = max(xa, xb)
	rows, _ := tileSize[T](d.pt)
	inner, ahead := slidingTaps{}, p.prefetchStep
	if whole {
		if inner = d.slidingInner(taps); inner.taps > 0 {
			rows = slidingMaxPositions[T](d.pt, inner.taps, inner.stride)
			p.cs, p.tapStep = inner.columns*d.inPix*d.es, (taps[1].wi-taps[0].wi)*d.wtap
		}
	}
	for x := 0; x < end; {
		r, by := 1, slidingTaps{}
		p.prefetchStep = ahead
		if x >= xa && x < xb {
			// Tiles of nearly equal height.
			r = ceilDiv(xb-x, ceilDiv(xb-x, rows))
			if by = inner; by.taps > 0 { // fewer steps
				p.prefetchStep = min(by.taps*ahead, slidingFetchLines*64)
			}
		}
		seg = seg[:0]
		at := -1
		for i := 0; i < len(taps); i += max(by.taps, 1) {
			t := taps[i]
			ix := x*d.istep[2] + t.d[2]
			if ix < 0 || ix >= w {
				continue
			}
			o := d.lineOf(img, z, y, t)*w + ix
			if at < 0 {
				at = o
			}
			seg = append(seg, (o-at)*d.inPix*d.es, t.wi*d.wtap)
		}
		end := len(seg)
		seg = append(seg, 0)
		p.rs = d.istep[2] * d.inPix * d.es
		a := unsafe.Add(d.src, max(at, 0)*d.inPix*d.es)
		p.seg, p.segEnd = unsafe.Pointer(&seg[0]), unsafe.Pointer(&seg[end])
		d.tile(p, by, a, d.dst, d.result(ph, img, z, y, x), r, d.channels)
		x += r
	}
	p.prefetchStep = ahead
	return seg
}

// slidingInner is slidingRuns for the positions of a line that see all taps, where they are next to each other.
func (d *depthwiseJob[T]) slidingInner(taps []tap) slidingTaps {
	var columns [64]int
	off := columns[:0]
	for _, t := range taps {
		off = append(off, t.d[2])
	}
	if by := d.slidingRuns(taps, off, 1, d.istep[2]); by.every == 1 {
		return by
	}
	return slidingTaps{}
}

// lineOf is the line of the image at src that tap t sees from line y of the grid.
func (d *depthwiseJob[T]) lineOf(img, z, y int, t tap) int {
	return (img*d.inD[0]+z*d.istep[0]+t.d[0])*d.inD[1] + y*d.istep[1] + t.d[1] - d.y0
}

// result is the offset, in bytes, of a grid position in the result.
func (d *depthwiseJob[T]) result(ph *phase, img, z, y, x int) int {
	return (((img*d.outD[0]+z*d.ostep[0]+ph.at[0])*d.outD[1]+y*d.ostep[1]+ph.at[1]-d.outY)*d.outD[2] + x*d.ostep[2] +
		ph.at[2]) * d.outPix * d.es
}

// slidingTaps describes a sliding window: a kernel that takes several taps of a line together loads each
// position once and uses it for every result that sees it.
//
//	3 taps, stride 1:   loads        p0 p1 p2 p3 p4
//	                    result 0     p0·w0 + p1·w1 + p2·w2
//	                    result 1     p1·w0 + p2·w1 + p3·w2
//	                    result 2     p2·w0 + p3·w1 + p4·w2
//
// With dilation the taps are some columns apart; then every "every"-th position of a line makes such a
// window.
type slidingTaps struct {
	taps    int // taps of the window; 0: there is no such kernel, and each tap is taken by itself
	columns int // columns between neighbouring taps
	stride  int // distance of the positions of a tile, in units of columns
	every   int
}

// slidingThrees returns how taps can be taken together that come in threes at equal distances. At either end
// of a line of n positions, at most one tap of a three may lie outside the image; and where some do, all
// threes must lie at the same columns, because a tile leaves out the outlying tap in all of its threes.
func (d *depthwiseJob[T]) slidingThrees(taps []tap, n int) slidingTaps {
	if len(taps) == 0 || len(taps)%3 != 0 {
		return slidingTaps{}
	}
	by := d.slidingKernel(3, taps[1].d[2]-taps[0].d[2], d.istep[2])
	aligned, inside := true, true
	for i, t := range taps {
		a := taps[i-i%3]
		if t.d != [3]int{a.d[0], a.d[1], a.d[2] + i%3*by.columns} || t.wi-a.wi != i%3*(taps[1].wi-taps[0].wi) {
			return slidingTaps{}
		}
		if first, last := t.d[2], t.d[2]+(n-1)*d.istep[2]; first < 0 || last >= d.inD[2] {
			if i%3 == 1 {
				return slidingTaps{}
			}
			inside = false
		}
		aligned = aligned && a.d[2] == taps[0].d[2]
	}
	if !aligned && !inside {
		return slidingTaps{}
	}
	return by
}

// slidingLine is line for taps that come in threes.
func (d *depthwiseJob[T]) slidingLine(p *args, ph *phase, taps []tap, by slidingTaps, img, z, y int, seg []int) []int {
	pix, w, n := d.inPix*d.es, d.inD[2], ph.grid[2]
	flags, ahead, ldc := p.flags, p.prefetchStep, p.ldc
	p.prefetchStep = min(3*ahead, slidingFetchLines*64) // a third of the steps
	p.cs, p.tapStep = by.columns*pix, (taps[1].wi-taps[0].wi)*d.wtap
	p.ldc *= by.every
	p.ldr = p.ldc
	p.blockEnd, p.mask = d.channels*d.es, 1<<uint(d.channels%lanes[T](d.pt))-1
	p.b = d.w
	for first := range min(by.every, n) {
		m := ceilDiv(n-first, by.every)
		tiles := ceilDiv(m, slidingMaxPositions[T](d.pt, 3, by.stride))
		for i := range tiles {
			x := first + i*m/tiles*by.every
			r := (i+1)*m/tiles - i*m/tiles
			seg = seg[:0]
			at := -1
			for k := 0; k < len(taps); k += 3 {
				t := taps[k]
				ix := x*d.istep[2] + t.d[2]
				line := d.lineOf(img, z, y, t) * w
				if at < 0 {
					at = line + max(ix, 0) // pointers stay inside the image
				}
				seg = append(seg, (line+ix-at)*pix, t.wi*d.wtap)
				if ix < 0 {
					p.flags |= flagFirst
				}
				if ix+((r-1)*by.stride+2)*by.columns >= w {
					p.flags |= flagLast
				}
			}
			end := len(seg)
			seg = append(seg, 0)
			p.seg, p.segEnd = unsafe.Pointer(&seg[0]), unsafe.Pointer(&seg[end])
			c := d.result(ph, img, z, y, x)
			p.a0, p.c0 = unsafe.Add(d.src, at*pix), unsafe.Add(d.dst, c)
			p.a1, p.c1 = p.a0, p.c0
			if d.bias != nil {
				p.bias = d.bias
			}
			if p.flags&flagResidual != 0 {
				p.r0 = unsafe.Add(d.res, c)
				p.r1 = p.r0
			}
			slidingTile[T](d.pt, p, 3, by.stride, r)
			p.flags = flags
		}
	}
	p.prefetchStep, p.ldc, p.ldr = ahead, ldc, ldc
	return seg[:0]
}

// tile computes r positions of the given channels, whose taps are taken as by says. c is the byte offset of the
// first position in the result, and in the residual.
func (d *depthwiseJob[T]) tile(p *args, by slidingTaps, a, out unsafe.Pointer, c, r, channels int) {
	h := (r + 1) / 2
	set := func(ch int) {
		off := ch * d.es
		p.a0, p.c0, p.b = unsafe.Add(a, off), unsafe.Add(out, c+off), unsafe.Add(d.w, off)
		if d.bias != nil {
			p.bias = unsafe.Add(d.bias, off)
		}
		if r > h {
			p.a1, p.c1 = unsafe.Add(p.a0, h*p.rs), unsafe.Add(p.c0, h*p.ldc)
		}
		if p.flags&flagResidual != 0 {
			p.r0 = unsafe.Add(d.res, c+off)
			p.r1 = unsafe.Add(p.r0, h*p.ldc*min(1, r-h))
		}
	}
	set(0)
	l := lanes[T](d.pt)
	tail := channels % d.vl
	p.blockEnd = channels * d.es
	p.mask = 1<<uint(tail) - 1
	if tail == 0 {
		p.mask = 1<<uint(d.vl) - 1
	}
	if by.taps > 0 {
		slidingTile[T](d.pt, p, by.taps, by.stride, r)
		return
	}
	if d.pt != pathAVX2 && d.pt != pathNEON || tail == 0 {
		depthwiseTile[T](d.pt, p, r, false)
		return
	}
	// Without masks the last vector is moved left until it is full; it repeats some channels.
	if channels < l {
		depthwiseTile[T](pathGeneric, p, r, false)
		return
	}
	p.blockEnd -= tail * d.es
	depthwiseTile[T](d.pt, p, r, false)
	set(channels - l)
	p.blockEnd = l * d.es
	depthwiseTile[T](d.pt, p, r, false)
}

// runBands copies bands of the image, with the padding around them, two vectors of channels at a time.
func (d *depthwiseJob[T]) runBands(l int) {
	j := d.job
	j.nr, j.ocols, j.cb, j.panels, j.npb = 2*l, 2*l, 2*d.vl, 1, 1
	px := min(bandPositions, bandSteps/(len(j.phases[0].taps)*j.groupSize+1))
	last := j.in.Last && j.out.Last
	if last {
		// All channels of some lines, while they are in the cache.
		px = min(px, max(depthwiseInputBytes/(j.groups*d.es), (j.ext[1]+1)*j.grid[2]))
	}
	j.planBands(d.es, px)
	if !j.out.Last && hasScatter[T](j.pt) {
		j.chanOff = multiples(j.cb, volume(j.outD)*d.es)
	}
	for i := range j.phases {
		j.phases[i].off = j.offsets(&j.phases[i], d.es)
		j.phases[i].sliding = d.slidingRuns(j.phases[i].taps, j.phases[i].off, j.pix*d.es, j.step[2])
	}
	nc := ceilDiv(j.groups, j.cb)
	per, grain := j.nx*j.ny*j.grid[0], 1
	total := j.nImg * per * nc
	if last {
		grain = ceilDiv(nc, ceilDiv(minTasks, j.nImg*per))
		per = 1
	}
	par.For(total, grain, func(lo, hi int) {
		s := j.newScratch(d.es)
		clear(unsafe.Slice((*T)(s.band), j.bandLen)) // lanes without a channel
		var p args
		first := 0 // the first channel whose results wait for their activation
		for t := lo; t < hi; t++ {
			b := j.band(t/(per*nc)*per + t%per)
			c := t / per % nc * j.cb
			// A block of channels takes the part of a group.
			b.group, b.c1 = c, min(j.cb, j.groups-c)
			if last && (t == lo || c == 0) {
				// While a band is computed the next one comes.
				next := j.band(min(t+nc, total-1) / nc)
				lines, fetches := depthwiseFetchLines, d.bandFetches(&b)*nc
				if side := j.phases[0].sliding.taps; side > 0 {
					lines, fetches = slidingFetchLines, fetches/side
				}
				s.prefetch.start(&p, lines, fetches, j.inputRange(&next, &b), j.outputRange(&next))
			}
			d.bandTask(&p, &b, s)
			if t == lo || c == 0 || !last {
				first = c
			}
			// The blocks of channels of the same lines follow each other and become one run.
			if end := c + b.c1; j.out.Last && (t == hi-1 || end == j.groups || !last) {
				b.group, b.c0, b.c1 = 0, first, end
				j.activate(&b)
			}
		}
		s.free()
	})
}

// slidingRuns returns how taps can be taken together, where they come in runs of 3, 5 or 7 at equal distances.
// off are the places of the taps in a line or in a band, in which columns are pix apart and positions step
// columns.
func (d *depthwiseJob[T]) slidingRuns(taps []tap, off []int, pix, step int) slidingTaps {
	n := len(taps)
	if d.groupSize > 1 || n < 2 {
		return slidingTaps{}
	}
	for _, w := range []int{7, 5, 3} {
		by := d.slidingKernel(w, (off[1]-off[0])/pix, step)
		same := by.taps > 0 && n%w == 0
		for k := range n {
			same = same && (k%w == 0 || off[k]-off[k-1] == by.columns*pix &&
				taps[k].wi-taps[k-1].wi == taps[1].wi-taps[0].wi)
		}
		if same {
			return by
		}
	}
	return slidingTaps{}
}

// slidingKernel returns how the given number of taps, some columns apart, are taken together for positions
// that are step columns apart, if there is a kernel for that.
func (d *depthwiseJob[T]) slidingKernel(taps, columns, step int) slidingTaps {
	if columns <= 0 {
		return slidingTaps{}
	}
	every := columns / gcd(columns, step)
	if stride := every * step / columns; slidingMaxPositions[T](d.pt, taps, stride) > 0 {
		return slidingTaps{taps, columns, stride, every}
	}
	return slidingTaps{}
}

// bandFetches is the number of lines that the kernel can fetch ahead in a block of channels of a band, times
// four.
func (d *depthwiseJob[T]) bandFetches(b *block) int {
	rows, _ := tileSize[T](d.pt)
	return (b.hi[1] - b.lo[1]) * ceilDiv(b.hi[2]-b.lo[2], rows) * 2 * len(d.phases[0].taps) * d.groupSize * 4
}

const (
	bandPositions = 1 << 11 // positions of a band
	bandSteps     = 1 << 17 // positions of a band times taps: a call must end soon
)

// planBands cuts the grid into bands of at most px positions.
func (j *job[T]) planBands(es, px int) {
	j.direct = false
	if j.in.Last {
		j.step, j.skip = j.istep, [3]int{1, 1, 1}
	}
	gx, gy := j.grid[2], j.grid[1]
	j.images, j.yb, j.xb = 1, max(1, min(gy, px/gx)), min(gx, 2*px)
	j.evenBlocks()
	j.layout(es)
}

// bandTask computes a block of positions and channels by way of a band.
func (d *depthwiseJob[T]) bandTask(p *args, b *block, s *scratch) {
	j := d.job
	channels := b.c1
	j.load(b, unsafe.Slice((*T)(s.band), j.bandLen), 0, channels)
	full := *d
	var dst resultBuffer
	if j.out.Last {
		dst.pix, dst.line = d.outPix, d.outPix*j.outD[2]
	} else {
		dst = j.bufferTarget(b, s)
		full.dst, full.outPix = dst.p, dst.pix
		if j.pt != pathAVX512 {
			channels = roundUp(channels, d.vl) // the buffers have whole vectors
		}
	}
	full.w = unsafe.Add(d.w, b.group/j.cb*d.wlen)
	if d.bias != nil {
		full.bias = unsafe.Add(d.bias, b.group*d.es)
	}
	d.setup(p, dst.pix)
	ldc, pix := p.ldc, j.step[2]*j.pix*d.es
	for i := range j.phases {
		ph := &j.phases[i]
		rows, _ := tileSize[T](j.pt)
		hy, hx := min(b.hi[1], ph.grid[1]), min(b.hi[2], ph.grid[2])
		if b.lo[0] >= ph.grid[0] || hx <= b.lo[2] {
			continue
		}
		step, every := 1, 1
		if ph.sliding.taps > 0 {
			step, every, rows = ph.sliding.taps, ph.sliding.every,
				slidingMaxPositions[T](j.pt, ph.sliding.taps, ph.sliding.stride)
			p.cs, p.tapStep = ph.sliding.columns*j.pix*d.es, (ph.taps[1].wi-ph.taps[0].wi)*d.wtap
		}
		p.rs, p.ldc = every*pix, every*ldc
		if p.flags&flagResidual != 0 {
			p.ldr = p.ldc
		}
		seg := make([]int, 0, 2*len(ph.taps)+1)
		for k := 0; k < len(ph.taps); k += step {
			seg = append(seg, ph.off[k], ph.taps[k].wi*d.wtap)
		}
		seg = append(seg, 0)
		p.seg, p.segEnd = unsafe.Pointer(&seg[0]), unsafe.Pointer(&seg[len(seg)-1])
		if hy <= b.lo[1] {
			continue
		}
		p.lines, p.stepA, p.stepC = hy-b.lo[1], j.step[1]*j.line*d.es, j.ostep[1]*dst.line*d.es
		n := hx - b.lo[2]
		for first := range min(every, n) {
			tiles := splitRows(ceilDiv(n-first, every), rows)
			for k, t := range tiles[:len(tiles)-1] {
				x := first + t*every
				var c int
				if j.out.Last {
					c = d.result(ph, b.n0, b.lo[0], b.lo[1], b.lo[2]+x) + b.group*d.es
				} else {
					at := (b.lo[0]*j.ostep[0]+ph.at[0]-dst.at[0])*dst.slice +
						(b.lo[1]*j.ostep[1]+ph.at[1]-dst.at[1])*dst.line
					c = (at + (x*j.ostep[2]+ph.at[2])*dst.pix) * d.es
				}
				full.tile(p, ph.sliding, unsafe.Add(s.band, x*pix), full.dst, c, tiles[k+1]-t, channels)
				s.prefetch.advance(p)
			}
		}
	}
	if !j.out.Last {
		j.store(b, &dst)
	}
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

const (
	gradPixels  = 200 // output positions summed at a time: so many rows of a panel stay in the first-level cache
	gradRows    = 576 // weights per output channel in a task
	gradCols    = 128 // output channels of a task
	gradMaxCols = 256 // output channels of a task where each has few weights
	// weights (rows times columns) of a task: their sums share the second-level cache with what is read
	gradSums   = 72 << 10
	gradTasks  = 16       // if there are fewer tasks, the positions are cut into chunks with sums of their own
	gradParts  = 16 << 20 // elements of the sums of all chunks, at most
	gradPacked = 8 << 20  // elements of the output's gradient, at most, that are packed once for all tasks
)

// gradJob computes the gradient of the weights as a matrix product over all output positions: the bands of
// the input, transposed, times the output's gradient.
//
//	G[(tap, input channel), output channel] = sum over positions p of A[p + tap, input channel]·F[p, output channel]
//
// The rows of the result are the weights of one output channel, its columns the output channels. As in the
// direct convolution, a band of A is copied once and read for every tap through an offset.
type gradJob[T Float] struct {
	*job[T]
	taps      int
	cols      int // columns of a task
	nob, ncb  int // blocks of columns and of channels
	chunks    int // runs of bands with a sum of their own
	split     int // parts of the blocks, whose bands are read one after the other
	bands     int
	blockLen  int // elements of a task's result
	packedLen int
	pxOff     []int // planar gradient: byte offsets of positions in a panel of nr columns
	tailOff   []int // the same for a panel of half as many columns
	inPlace   bool  // panels of the output's gradient are columns of the image itself

	rowOff []int // byte offsets of the weights of successive output channels

	runs   []gradRun
	run    int            // adjacent taps in a run
	index  []int32        // depthwise: which channels the lanes take, for groups of several
	parts  []T            // sums of the chunks, if there are several
	packed unsafe.Pointer // the output's gradient of all bands in panels, nil where each task packs its own
	sums   []float64      // of the columns of each chunk, for the gradient of the bias; nil for none
}

// backwardWeight is BackwardWeightBehind for one element type.
func backwardWeight[T Float](s *Shape, gw Weights[T], gb []T, gout, in Image[T], tail *Tail[T]) {
	s = tail.covered(s, gout)
	s.check("BackwardWeight", len(gout.Data)*tail.size(), len(in.Data), len(gw.Data))
	if len(gw.Data) == 0 {
		return
	}
	if len(gout.Data) == 0 || len(in.Data) == 0 {
		clear(gw.Data)
		backwardBias(gb, gout, s.N, len(gb))
		return
	}
	if tail == nil && (pointwiseGrad(s, gw, gout, in) || patchesOf(s, in, gw).backwardWeight(gw, gout)) {
		backwardBias(gb, gout, s.N, len(gb))
		return
	}
	g := &gradJob[T]{job: forwardJob(s, gout, in, nil)}
	g.outTail = tail
	if g.depthwise() {
		g.depthwiseGrad(gw)
		backwardBias(gb, gout, s.N, len(gb))
		return
	}
	if f := g.im2colGrad(); f != nil {
		f.compute(gw)
		backwardBias(gb, gout, s.N, len(gb))
		return
	}
	g.compute(gw, gb)
}

// compute computes the gradient of the weights and, unless gb is nil, of the bias.
func (g *gradJob[T]) compute(gw Weights[T], gb []T) {
	var z T
	es := int(unsafe.Sizeof(z))
	tail := g.outTail
	g.plan(es)
	switch {
	case tail.pools() && !tail.ReLU: // each gradient goes to one position: there are fewer to add up
		backwardBias(gb, g.out, g.n, len(gb))
	case gb != nil:
		g.sums = make([]float64, g.chunks*g.groups*g.ocols)
	}
	if hasScatter[T](g.pt) {
		so, _, _ := gw.strides(g.ci, g.taps)
		g.rowOff = multiples(g.nr, so*es)
	}
	blocks := g.groups * g.ncb * g.nob
	if n := g.chunks * blocks * g.blockLen; g.chunks > 1 {
		p := mem.Alloc(n * es)
		defer mem.Free(p, n*es)
		g.parts = unsafe.Slice((*T)(p), n)
	}

	// Where several blocks of input channels read the same part of the output's gradient, that part is packed once.
	if n := g.bands * g.groups * g.nob * g.packedLen; g.ncb > 1 && n <= gradPacked && !g.inPlace {
		g.packed = mem.Alloc(n * es)
		defer mem.Free(g.packed, n*es)
		par.For(g.bands*g.groups*g.nob, 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				b := g.band(i / (g.groups * g.nob))
				b.group, b.c0 = i/g.nob%g.groups, i%g.nob*g.cols
				b.c1 = min(b.c0+g.cols, g.co)
				g.packOutput(&b, g.packedAt(i, es), g.positions(&b))
			}
		})
	}
	par.For(g.chunks*g.split, 1, func(lo, hi int) {
		var sizes [3]int // bytes for the band, the panels and the results
		sizes[0] = roundUp((g.bandLen+16)*es, 64)
		if g.packed == nil && !g.inPlace {
			sizes[1] = roundUp(g.packedLen*es, 64)
		}
		if g.parts == nil {
			sizes[2] = ceilDiv(blocks, g.split) * g.blockLen * es
		}
		size := sizes[0] + sizes[1] + sizes[2]
		buf := mem.Alloc(size)
		panels := unsafe.Add(buf, sizes[0])
		own := unsafe.Slice((*T)(unsafe.Add(panels, sizes[1])), sizes[2]/es)
		segs := make([]gradSegments, len(g.runs))
		lists := make([]int, len(g.runs)*g.segmentInts())
		for i := range segs {
			segs[i].list = lists[i*g.segmentInts():][:0:g.segmentInts()]
		}
		var sums rowAdder[T]
		for t := lo; t < hi; t++ {
			chunk, t0, t1 := t/g.split, t%g.split*blocks/g.split, (t%g.split+1)*blocks/g.split
			results := own
			if g.parts != nil {
				results = g.parts[(chunk*blocks+t0)*g.blockLen:]
			}
			g.task(chunk, t0, t1, results, buf, panels, segs, &sums, es)
			for i := t0; i < t1 && g.parts == nil; i++ {
				g.finish(i, results[(i-t0)*g.blockLen:][:g.blockLen], gw)
			}
		}
		mem.Free(buf, size)
	})
	if g.parts != nil {
		par.For(blocks, 1, func(lo, hi int) {
			for t := lo; t < hi; t++ {
				// Chunks are added up in order.
				sum := g.parts[t*g.blockLen:][:g.blockLen]
				for i := 1; i < g.chunks; i++ {
					addTo(sum, g.parts[(i*blocks+t)*g.blockLen:][:g.blockLen])
				}
				g.finish(t, sum, gw)
			}
		})
	}
	if g.sums != nil {
		g.bias(gb)
	}
}

// bias adds up the chunks' sums of the output's gradient, in order.
func (g *gradJob[T]) bias(gb []T) {
	for c := range gb {
		s := 0.0
		for i := range g.chunks {
			s += g.sums[(i*g.groups+c/g.co)*g.ocols+c%g.co]
		}
		gb[c] = T(s)
	}
}

// sum adds the columns of a block's panels to the sums of a chunk.
func (g *gradJob[T]) sum(a *rowAdder[T], chunk int, b *block, panels unsafe.Pointer, count int) {
	sums := g.sums[(chunk*g.groups+b.group)*g.ocols:]
	if g.inPlace { // the positions of each image follow one another
		at, total, count := g.outputAt(b), g.co*g.groups, count/(b.n1-b.n0)
		for range b.n1 - b.n0 {
			a.add(sums[b.c0:b.c1], g.out.Data[at:], count, total)
			at += volume(g.outD) * total
		}
		return
	}
	packed := unsafe.Slice((*T)(panels), count*min(g.cols, g.ocols-b.c0))
	for c := b.c0; c < b.c1; c += g.nr {
		width := min(g.nr, g.ocols-c)
		a.add(sums[c:][:width], packed[(c-b.c0)*count:], count, width)
	}
}

// outputAt is the index of a block's first element in the output's gradient, channels last.
func (g *gradJob[T]) outputAt(b *block) int {
	pos := ((b.n0*g.outD[0]+b.lo[0])*g.outD[1]+b.lo[1])*g.outD[2] + b.lo[2]
	return (pos*g.groups+b.group)*g.co + b.c0
}

// packedAt is the packed block i, counted over bands, groups and blocks of columns.
func (g *gradJob[T]) packedAt(i, es int) []T {
	return unsafe.Slice((*T)(unsafe.Add(g.packed, i*g.packedLen*es)), g.packedLen)
}

// positions is the number of output positions of a block.
func (g *gradJob[T]) positions(b *block) int {
	return (b.n1 - b.n0) * (b.hi[1] - b.lo[1]) * (b.hi[2] - b.lo[2])
}

// plan shadows the plan of the embedded job: the gradient has blocks of its own.
func (g *gradJob[T]) plan(es int) {
	j := g.job
	g.taps, j.grad = j.measure(), true
	gx, gy := j.grid[2], j.grid[1]
	most := max(gradCols, min(gradSums/(g.taps*j.ci), gradMaxCols))
	g.nob = ceilDiv(j.ocols, most)
	g.cols = roundUp(ceilDiv(j.ocols, g.nob), j.nr)
	g.nob = ceilDiv(j.ocols, g.cols)
	rows := min(gradRows, gradSums/g.cols)
	g.ncb = ceilDiv(j.ci, max(roundUp(rows/g.taps, 16), 16))
	j.cb = ceilDiv(j.ci, g.ncb)
	if g.ncb > 1 {
		j.cb = roundUp(j.cb, 16)
	}
	g.ncb = ceilDiv(j.ci, j.cb)
	j.direct = g.bandInPlace(es)
	g.inPlace = g.panelsInPlace(es)
	blocks := j.groups * g.ncb * g.nob

	px := gradPixels
	if g.taps > 1 && blocks*j.n*volume(j.grid) >= 2*gradPixels*gradTasks {
		px *= 2 // sums that leave the first-level cache are read and written less often
	}
	j.images, j.yb, j.xb = 1, 1, gx
	switch {
	case gx > 2*px:
		j.xb = ceilDiv(gx, ceilDiv(gx, px))
	case gx*gy > px:
		j.yb = max(1, px/gx)
	default:
		j.yb = gy
		j.images = min(max(1, px/(gx*gy)), j.n)
	}
	j.evenBlocks()
	j.layout(es)
	g.planRuns(es)

	g.bands = j.nImg * j.grid[0] * j.ny * j.nx
	g.blockLen = g.taps * j.cb * g.cols
	g.chunks, g.split = ceilDiv(gradTasks, blocks), blocks
	shared := j.groups > 1 && j.in.Last && j.out.Last
	if shared { // all groups of a band while it is in the cache
		g.chunks = gradTasks
	}
	g.chunks = min(g.chunks, g.bands, max(1, gradParts/(blocks*g.blockLen)))
	g.chunks = ceilDiv(g.bands, ceilDiv(g.bands, g.chunks))
	if shared {
		g.split = min(blocks, ceilDiv(gradTasks, g.chunks))
	}
	px = j.images * j.yb * j.xb
	g.packedLen = px * g.cols
	if !j.out.Last && hasScatter[T](j.pt) {
		g.pxOff = multiples(px, j.nr*es)
		g.tailOff = multiples(px, j.nr/2*es)
	}
}

// ownRunMinChannels is the number of channels from which on each tap is a run of its own. Then the positions
// that see padding through the tap are left out.
const ownRunMinChannels = 24

// planRuns lists the runs of weights that are adjacent in the band.
func (g *gradJob[T]) planRuns(es int) {
	j, ph := g.job, &g.phases[0]
	off := j.offsets(ph, es)
	g.run = 1
	if j.cb == j.ci && (!j.padded || j.cb < ownRunMinChannels) {
		all := region{taps: multiples(g.taps, 1)}
		j.joinTaps(&all, off, es)
		g.run = all.runTaps
	}
	for i := 0; i < g.taps; i += g.run {
		r := gradRun{off: off[i], hi: j.grid}
		for d := range 3 {
			if d == 2 && g.run > 1 { // they share whole lines of a band, which has zeros at the ends
				continue
			}
			r.lo[d], r.hi[d] = j.grid[d], 0
			for _, t := range ph.taps[i : i+g.run] {
				r.lo[d] = min(r.lo[d], max(0, ceilDiv(-t.d[d], j.istep[d])))
				r.hi[d] = max(r.hi[d], min(j.grid[d], ceilDiv(j.inD[d]-t.d[d], j.istep[d])))
			}
		}
		g.runs = append(g.runs, r)
	}
}

// A gradRun is a run of adjacent taps, and the box of positions that see some of these taps inside the image.
// The other positions would add zeros and are left out.
type gradRun struct {
	off    int // bytes in the band
	lo, hi [3]int
}

// gradSegments are the positions of a block over which a run of taps is summed.
type gradSegments struct {
	of, in block
	at, k  int   // bytes of the first position from the block's first, and positions of a line
	list   []int // pairs of the bytes from there, and the number of the position in the panels
}

// segmentInts is the most integers that a list of segments holds.
func (g *gradJob[T]) segmentInts() int { return 2*g.images*g.yb + 1 }

// segments fills s for a run and a block.
func (g *gradJob[T]) segments(s *gradSegments, r *gradRun, b *block, es int) {
	j := g.job
	in := block{n1: b.n1 - b.n0}
	for i := range 3 {
		in.lo[i], in.hi[i] = max(r.lo[i], b.lo[i])-b.lo[i], min(r.hi[i], b.hi[i])-b.lo[i]
	}
	of := block{hi: [3]int{1, b.hi[1] - b.lo[1], b.hi[2] - b.lo[2]}}
	if len(s.list) > 0 && s.in == in && s.of == of {
		return
	}
	s.in, s.of = in, of
	s.at, s.k, s.list = 0, 0, s.list[:0]
	if in.lo[0] >= in.hi[0] || in.lo[1] >= in.hi[1] || in.lo[2] >= in.hi[2] {
		s.list = append(s.list, 0, 0, 0) // one segment, of no steps
		return
	}
	line, pix := j.step[1]*j.line*es, j.step[2]*j.pix*es
	perLine, perImage := of.hi[2], of.hi[1]*of.hi[2]
	if g.inPlace {
		perLine, perImage = j.outD[2], volume(j.outD)
	}
	s.at, s.k = in.lo[1]*line+in.lo[2]*pix, in.hi[2]-in.lo[2]
	for img := range in.n1 {
		for y := in.lo[1]; y < in.hi[1]; y++ {
			s.list = append(s.list, img*j.img*es+(y-in.lo[1])*line, img*perImage+y*perLine+in.lo[2])
		}
	}
	s.list = append(s.list, 0) // pointers stay inside
}

// task sums the blocks [t0, t1) of weights over one chunk of bands. The result of each block is a sequence of
// panels: rows (tap, channel) of nr columns.
func (g *gradJob[T]) task(chunk, t0, t1 int, results []T, bandBuf, packed unsafe.Pointer, segs []gradSegments,
	sums *rowAdder[T], es int) {
	j := g.job
	per := ceilDiv(g.bands, g.chunks)
	maxRows, _ := tileSize[T](j.pt)
	kernel := kernelsOf[T](j.pt).grad

	var p args
	var f prefetcher
	p.rs = es
	end := min((chunk+1)*per, g.bands)
	for i := range (end - chunk*per) * (t1 - t0) {
		q, t := chunk*per+i/(t1-t0), t0+i%(t1-t0)
		out := unsafe.Pointer(&results[(t-t0)*g.blockLen])
		c0, k0, group := t%g.nob*g.cols, t/g.nob%g.ncb*j.cb, t/g.nob/g.ncb
		kc, c1 := min(j.cb, j.ci-k0), min(c0+g.cols, j.co)
		run := g.run * kc // adjacent rows
		tiles := ceilDiv(run, maxRows)
		b := j.band(q)
		b.group, b.c0, b.c1 = group, c0, c1
		src := bandPosition{band: bandBuf}
		if j.direct {
			src = j.origin(&b, k0)
		} else {
			j.load(&b, unsafe.Slice((*T)(bandBuf), j.bandLen), k0, kc)
		}
		count := g.positions(&b)
		p.cs = j.step[2] * j.pix * es
		for r := range segs {
			g.segments(&segs[r], &g.runs[r], &b, es)
		}
		most := callTiles(maxRows, count)
		switch {
		case g.inPlace:
			packed = unsafe.Pointer(&j.out.Data[g.outputAt(&b)])
		case g.packed == nil:
			g.packOutput(&b, unsafe.Slice((*T)(packed), g.packedLen), count)
		default:
			packed = unsafe.Pointer(&g.packedAt((q*j.groups+group)*g.nob+t%g.nob, es)[0])
		}
		if g.sums != nil && k0 == 0 {
			g.sum(sums, chunk, &b, packed, count)
		}
		p.flags = 0
		if q > chunk*per {
			p.flags = flagLoadC
		}
		switch {
		case t > t0: // goes on
		case q+1 < end:
			next := j.band(q + 1)
			var output, input addressRange // unless most of it is for other blocks of weights
			switch {
			case g.packed != nil:
				panels := g.packedAt(((q+1)*j.groups+group)*g.nob+t%g.nob, es)
				output = rangeOf(panels, 0, g.positions(&next)*(c1-c0))
			case g.nob <= 2:
				output = j.outputRange(&next)
			}
			if g.ncb <= 2 {
				input = j.inputRange(&next, &b)
			}
			f.start(&p, tileFetchLines, (t1-t0)*ceilDiv(c1-c0, j.nr)*len(g.runs)*tiles*count, output, input)
		default:
			f.start(&p, tileFetchLines, 0)
		}
		for c := c0; c < c1; c += j.nr {
			width := min(j.nr, j.ocols-c)
			setColumns[T](j.pt, &p, width, width)
			p.ldc, p.tapStep = width*es, width*es
			p.b = unsafe.Add(packed, (c-c0)*count*es)
			if g.inPlace {
				p.tapStep = j.co * j.groups * es
				p.b = unsafe.Add(packed, (c-c0)*es)
			}
			panel := unsafe.Add(out, (c-c0)*g.taps*j.cb*es)
			for r := range g.runs {
				sg := &segs[r]
				p.k = sg.k
				first := src.at + g.runs[r].off + sg.at // of the run, in the band
				if sg.k == 0 {                          // nothing is read; such a place may lie outside of the band
					first = 0
				}
				p.seg, p.segEnd = unsafe.Pointer(&sg.list[0]), unsafe.Pointer(&sg.list[len(sg.list)-1])
				for i := 0; i < run; {
					rows := run / tiles
					count := tiles - run%tiles
					if i < run%tiles*(rows+1) {
						rows++
						count = run % tiles
					}
					end := i + min(count*rows, run-i)
					h := (rows + 1) / 2
					p.tileA, p.tileC = rows*es, rows*p.ldc
					for i < end {
						calls := min(most, (end-i)/rows)
						p.tiles = calls
						p.a0 = unsafe.Add(src.band, first+i*es)
						p.c0 = unsafe.Add(panel, (r*run+i)*p.ldc)
						p.a1, p.c1 = p.a0, p.c0
						if rows > h { // pointers stay inside their blocks
							p.a1, p.c1 = unsafe.Add(p.a0, h*es), unsafe.Add(p.c0, h*p.ldc)
						}
						tile(kernel, &p, rows)
						f.advance(&p)
						i += calls * rows
					}
				}
			}
		}
	}
}

// wholePanels reports whether the output's gradient, as it is, is a single panel.
func (g *gradJob[T]) wholePanels() bool {
	return g.out.Last && g.groups == 1 && g.co == g.ocols && g.co <= g.nr
}

// panelsInPlace reports whether panels of the output's gradient can be read in place. Positions that are a
// multiple of some power of two bytes apart share sets of the first-level cache; that costs less than packing
// only where few rows of A meet them. Panels of AVX2 and NEON are narrow and stay in that cache when they are
// packed.
func (g *gradJob[T]) panelsInPlace(es int) bool {
	if !g.out.Last || g.co != g.ocols || g.bf16Out != nil || g.outTail != nil &&
		(g.outTail.pools() || g.outTail.Result != nil) {
		return false
	}
	shared, few := 1024, 512
	if g.pt != pathAVX512 {
		shared, few = 256, 128
	}
	step := g.co * g.groups * es
	return step%shared != 0 || step%4096 != 0 && g.taps*g.ci <= few
}

// bandInPlace reports whether the image itself can be the band: positions that see padding are left out, and
// positions are not a multiple of a page apart, or of half a page where tiles are low.
func (g *gradJob[T]) bandInPlace(es int) bool {
	j := g.job
	if j.direct {
		return true
	}
	half := j.pt != pathAVX512 && j.istep[2]*j.ci*j.groups*es%2048 == 0
	return j.in.Last && j.bf16In == nil && j.inTail == nil && j.cb >= ownRunMinChannels && !j.conflictsInCache() &&
		!half
}

// packOutput packs the output's gradient at the block's positions in panels: position after position, nr
// channels each; the last panel may be half as wide.
func (g *gradJob[T]) packOutput(b *block, dst []T, count int) {
	j := g.job
	size, total := volume(j.outD), j.co*j.groups
	lines, length := b.hi[1]-b.lo[1], b.hi[2]-b.lo[2]
	if length == j.outD[2] {
		lines, length = 1, lines*length
	}
	var result []T // the panel of a ReLU's result
	masked := j.outTail != nil && j.outTail.Result != nil
	whole := g.wholePanels()
	if masked && !whole {
		var z T
		bytes := length * j.nr * int(unsafe.Sizeof(z))
		p := mem.Alloc(bytes)
		defer mem.Free(p, bytes)
		result = unsafe.Slice((*T)(p), length*j.nr)
	}
	for c := b.c0; c < b.c1; c += j.nr {
		width, cols := min(j.nr, j.ocols-c), min(j.nr, j.co-c)
		d := dst[(c-b.c0)*count:][:count*width]
		table := g.pxOff
		if width < j.nr {
			table = g.tailOff
		}
		if cols < width {
			clear(d)
		}
		for n := b.n0; n < b.n1; n++ {
			for y := range lines {
				pos := (b.lo[0]*j.outD[1]+b.lo[1]+y)*j.outD[2] + b.lo[2]
				at := (n*size+pos)*total + b.group*j.co + c
				switch {
				case j.bf16Out != nil && j.out.Last:
					j.bf16Out.loadLine(unsafe.Pointer(&d[0]), width, n, b.group*j.co+c, pos, 1, cols, length)
				case j.bf16Out != nil:
					j.bf16Out.loadPlanar(unsafe.Pointer(&d[0]), table[:length], n, b.group*j.co+c, pos, cols, length)
				case j.outTail.pools():
					for x := 0; x < length; x += j.outD[2] { // lines follow one another
						n1 := min(j.outD[2], length-x)
						j.outTail.unpool(d[x*width:], width, j.out.Data, j.outD, total, n, c, pos+x, 1, cols, n1)
					}
				case masked && whole:
					maskByResult(d[:length*width], j.out.Data[at:], j.outTail.Result[at:])
				case j.out.Last:
					copyRows(d, width, j.out.Data[at:], total, cols, length)
					if masked {
						copyRows(result, width, j.outTail.Result[at:], total, cols, length)
						maskByResult(d[:length*width], d, result)
					}
				default:
					src := j.out.Data[(n*total+b.group*j.co+c)*size+pos:]
					if table == nil {
						transpose(d, width, src, size, cols, length)
						d = d[min(length*width, len(d)):]
						continue
					}
					_ = d[length*width-1]
					scatter(d, table, src, size, cols, length)
				}
				d = d[min(length*width, len(d)):]
			}
		}
	}
}

// finish puts the sums of a block where they belong in the weights.
func (g *gradJob[T]) finish(t int, sum []T, gw Weights[T]) {
	j := g.job
	c0 := t % g.nob * g.cols
	t /= g.nob
	k0 := t % g.ncb * j.cb
	group := t / g.ncb
	kc, c1 := min(j.cb, j.ci-k0), min(c0+g.cols, j.co)
	so, sc, _ := gw.strides(j.ci, g.taps)
	const rows = 64
	var buf [rows * 32]T
	for c := c0; c < c1; c += j.nr {
		panel := sum[(c-c0)*g.taps*j.cb:]
		width, cols := min(j.nr, j.ocols-c), min(j.nr, j.co-c)
		dst := gw.Data[(group*j.co+c)*so+k0*sc:]
		switch {
		case gw.Last:
			for tap := range g.taps {
				g.transposeTo(dst[tap*j.ci:], so, panel[tap*kc*width:], width, kc, cols)
			}
		case g.taps > rows:
			for tap := range g.taps {
				for k := range kc {
					for i, v := range panel[(tap*kc+k)*width:][:cols] {
						dst[i*so+k*g.taps+tap] = v
					}
				}
			}
		default:
			// Sort the rows by channel before they are transposed.
			per := rows / g.taps
			for k := 0; k < kc; k += per {
				n := min(per, kc-k)
				for tap := range g.taps {
					copyRows(buf[tap*width:], g.taps*width, panel[(tap*kc+k)*width:], width, cols, n)
				}
				g.transposeTo(dst[k*g.taps:], so, buf[:], width, n*g.taps, cols)
			}
		}
	}
}

// transposeTo is transpose, by scatter16 where the path has it.
func (g *gradJob[T]) transposeTo(dst []T, ldd int, src []T, lds, rows, cols int) {
	if g.rowOff == nil {
		transpose(dst, ldd, src, lds, rows, cols)
		return
	}
	_ = dst[(cols-1)*ldd+rows-1]
	scatter(dst, g.rowOff, src, lds, rows, cols)
}

// addTo adds s to d.
func addTo[T Float](d, s []T) {
	switch d := any(d).(type) {
	case []float32:
		vec.AddF32(d, d, any(s).([]float32))
	case []float64:
		vec.AddF64(d, d, any(s).([]float64))
	}
}

// sumRows is the number of rows that are added up in the element type before their sums are added in float64.
const sumRows = 16

// backwardBias is BackwardBias for one element type.
func backwardBias[T Float](gb []T, gout Image[T], n, channels int) {
	biasSums(gb, gout.Last, len(gout.Data), n, channels, 0,
		func(_ []T, at, count int) []T { return gout.Data[at:][:count] })
}

// biasSums is BackwardBias for an image of size elements, of any storage type. read returns count elements
// from index at on, for which it may use buf; most bounds about how many it is asked for at once, with 0 for
// no bound and no buffer.
func biasSums[T Float](gb []T, last bool, size, n, channels, most int, read func(buf []T, at, count int) []T) {
	if n*channels == 0 || size == 0 {
		clear(gb)
		return
	}
	pix := size / (n * channels)
	if !last {
		piece := pix
		if most > 0 {
			piece = min(pix, most)
		}
		par.For(channels, max(1, 1<<15/(pix*n)), func(lo, hi int) {
			buf := make([]T, min(most, piece))
			for c := lo; c < hi; c++ {
				s := 0.0
				for i := range n {
					for at, end := (i*channels+c)*pix, (i*channels+c+1)*pix; at < end; at += piece {
						s += sum64(read(buf, at, min(piece, end-at)))
					}
				}
				gb[c] = T(s)
			}
		})
		return
	}
	// Rows of channels: each block of rows has its own sums.
	rows := n * pix
	per := max(64, ceilDiv(rows, 64))
	blocks := ceilDiv(rows, per)
	parts := make([]float64, blocks*channels)
	piece, room := per, 0
	if most > 0 {
		piece = min(per, max(1, most/channels/sumRows)*sumRows)
		room = piece * channels
	}
	par.For(blocks, max(1, 1<<14/(per*channels)), func(lo, hi int) {
		var a rowAdder[T]
		buf := make([]T, room)
		for b := lo; b < hi; b++ {
			for r, end := b*per, min((b+1)*per, rows); r < end; r += piece {
				count := min(piece, end-r)
				a.add(parts[b*channels:][:channels], read(buf, r*channels, count*channels), count, channels)
			}
		}
	})
	for c := range channels {
		s := 0.0
		for b := range blocks {
			s += parts[b*channels+c]
		}
		gb[c] = T(s)
	}
}

// rowAdder adds up rows. Short runs of rows are added in the element type, in registers, and the sums of runs
// in float64.
type rowAdder[T Float] struct {
	taps []vec.Tap // the rows of a run
	runs []T
}

// add adds rows, as long as sums and pitch elements apart, to sums.
func (a *rowAdder[T]) add(sums []float64, s []T, rows, pitch int) {
	n := len(sums)
	if a.taps == nil {
		a.taps = make([]vec.Tap, sumRows)
	}
	for i := range a.taps {
		a.taps[i].Off = i * pitch
	}
	windows := windowsOf[T]()
	for rows > 0 {
		tall := min(sumRows, rows)
		runs := min(16, rows/tall)
		if a.runs == nil || len(a.runs) < runs*n {
			a.runs = make([]T, runs*n)
		}
		windows.Add(a.runs, n, s, tall*pitch, runs, n, a.taps[:tall])
		for i := range runs {
			switch r := any(a.runs[i*n:][:n]).(type) {
			case []float32:
				vec.AccumulateF32ToF64(sums, r)
			case []float64:
				vec.AddF64(sums, sums, r)
			}
		}
		rows -= runs * tall
		if rows > 0 {
			s = s[runs*tall*pitch:]
		}
	}
}

func sum64[T Float](x []T) float64 {
	switch x := any(x).(type) {
	case []float32:
		return vec.SumF32As64(x)
	case []float64:
		return vec.SumF64(x)
	}
	return 0
}

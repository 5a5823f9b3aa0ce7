package conv

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

var winogradOn atomic.Bool

// SetWinograd allows 3x3 convolutions of stride 1 in float32 to be computed by Winograd's F(4×4, 3×3), and
// returns the previous setting; off is the default. It takes a quarter of the multiplications, at the price
// of rounding errors two to five times as large. Where there are no kernels for it, or where it would gain
// little, as with many channels and few positions, the setting has no effect.
//
// Source: Lavin and Gray 2016, "Fast Algorithms for Convolutional Neural Networks", arXiv 1509.09308. For
// each tile of 4×4 results, which see 6×6 inputs d, and each 3×3 kernel g:
//
//	result = Aᵀ·[ (G·g·Gᵀ) ⊙ (Bᵀ·d·B) ]·A
//
// The elementwise product ⊙, summed over input channels, is a matrix product (tiles × channels) for each of
// the 36 elements.
func SetWinograd(on bool) (old bool) { return winogradOn.Swap(on) }

// Winograd reports the setting of SetWinograd.
func Winograd() bool { return winogradOn.Load() }

// winogradArgs is what a transform reads; the assembly knows the layout of this struct.
type winogradArgs struct {
	dst, src, tmp  unsafe.Pointer
	row, col       int // bytes between rows and between columns of the source
	outRow, outCol int // bytes between rows and between columns of the result
	n              int // vectors of channels
	bias           unsafe.Pointer
	lo, hi         float32
	consts         unsafe.Pointer
}

// winogradTransform names the three transforms.
type winogradTransform uint8

const (
	winogradInput winogradTransform = iota
	winogradOutput
	winogradWeights
)

// The transforms evaluate polynomials at 0, ±a, ±b and infinity. The points decide the rounding errors: with the 1 and 2
// of Lavin and Gray the largest error is five to seven times that of the direct kernel, with these twice. Their powers
// have few bits, so that most constants are exact.
//
// Source: Barabasz, Anderson, Soodhalter and Gregg 2020, "Error Analysis and Improving the Accuracy of Winograd
// Convolution for Deep Neural Networks", who search for such points.
const (
	winogradA = 5.0 / 8
	winogradB = 3.0 / 2
)

// winogradConsts are the constants of each transform, in the order of ../_asm/conv/winograd.go, repeated to fill vectors
// of eight.
var winogradConsts = func() (c [3][6][8]float32) {
	const (
		a, b   = winogradA, winogradB
		a2, b2 = a * a, b * b
		dA, dB = 2 * a2 * (a2 - b2), 2 * b2 * (b2 - a2) // products of the distances of a, and of b, from the others
	)
	for kind, values := range [...][6]float32{
		winogradInput:   {a, b, a2, b2, a2 * b2, a2 + b2},
		winogradOutput:  {a, b, a2, b2, a2 * a, b2 * b},
		winogradWeights: {1 / (a2 * b2), 1 / dA, a / dA, a2 / dA, 1 / dB, b / dB},
	} {
		for i, v := range values {
			c[kind][i] = [8]float32{v, v, v, v, v, v, v, v}
		}
	}
	return c
}()

// winogradSkew is the number of elements by which the 36 matrices are shifted against each other: at
// distances of a power of two their elements would share a set of the cache.
const winogradSkew = 16

// winogradTiles is about how many 4x4 tiles of the result a task computes, at most.
const winogradTiles = 64

// winogradSharedBytes is the most bytes of a transformed input that all tasks read.
const winogradSharedBytes = 8 << 20

// winogradFits reports whether the job may, can and should be computed by Winograd's algorithm.
func (j *job[T]) winogradFits() bool {
	if !j.winograd && !winogradOn.Load() || kernelsOf[T](j.pt).winograd[winogradInput] == nil || len(j.phases) != 1 || j.ci < 16 ||
		j.co%lanes[T](j.pt) != 0 || j.inTail != nil || j.outTail.pools() {
		return false
	}
	taps := j.phases[0].taps
	one := [3]int{1, 1, 1}
	if len(taps) != 9 || j.istep != one || j.ostep != one || j.outD[0] != 1 || j.inD[0] != 1 {
		return false
	}
	for i, t := range taps {
		if t.d[0] != 0 || t.d[1] != taps[0].d[1]+i/3 || t.d[2] != taps[0].d[2]+i%3 {
			return false
		}
	}
	return j.winogradPays()
}

// winogradGain is the least gain in time for which accuracy is given up; tests lower it.
var winogradGain = 1.1

// winogradPays compares the multiplications that are saved with the cost of the transforms, in units of one
// multiplication of the AVX-512 kernel, measured on Zen 4. With few tiles the transformed weights, which are four times
// as many as the weights, do not pay. With shorter vectors multiplications take longer, while the transforms hardly do.
func (j *job[T]) winogradPays() bool {
	const (
		perValue  = 15 // to transform a value of the input or the result
		perWeight = 15 // to make a transformed weight
		perFetch  = 10 // to fetch it from memory where it was kept
		perRead   = 20 // to read a transformed weight again for the next tiles
		perShared = 5  // the same, from the second-level cache
		perPacked = 20 // to pack a weight for the direct kernel
	)
	tiles := j.n * ceilDiv(j.outD[1], 4) * ceilDiv(j.outD[2], 4)
	each := perRead * ceilDiv(tiles, winogradTiles)
	if j.winogradShared() {
		each = perShared * ceilDiv(tiles, winogradTiles)
	}
	if j.packed == nil {
		each += perWeight
	} else {
		each += perFetch
	}
	l := lanes[T](j.pt)
	cost := 36 * (tiles*j.ci*j.co + (tiles*(j.ci+j.co)*perValue+j.ci*j.co*each)*l/16)
	direct := 9 * j.n * volume(j.outD) * j.ci * j.co
	if j.packed == nil {
		direct += 9 * j.ci * j.co * perPacked * l / 16
	}
	return float64(direct) >= winogradGain*float64(cost)
}

// winogradShared reports whether the input is transformed first, for all tasks: the transformed input is less
// than the transformed weights, and stays in the third-level cache.
func (j *job[T]) winogradShared() bool {
	tiles := j.n * ceilDiv(j.outD[1], 4) * ceilDiv(j.outD[2], 4)
	return tiles <= j.co && 36*tiles*j.ci*j.groups*4 <= winogradSharedBytes
}

// winogradJob is a job cut into tiles. The transformed inputs V and the products M are 36 matrices of tiles
// by channels.
type winogradJob struct {
	*job[float32]
	pack   *packer[float32]
	tx, ty int // tiles of a task's band
	shared bool
	u      unsafe.Pointer // transformed weights, nil where tasks make their own
	bias   unsafe.Pointer
	vFreq  int // elements of one matrix of V
	vPitch int // elements of a row of V
	mFreq  int // elements of one matrix of M
	mPitch int // elements of a row of M
}

func (j *job[T]) runWinograd(src packSource[T]) {
	w := &winogradJob{job: any(j).(*job[float32])}
	w.run(any(src).(packSource[float32]))
}

func (w *winogradJob) run(src packSource[float32]) {
	j := w.job
	j.measure()
	j.direct = false
	w.plan()
	w.pack = &packer[float32]{job: j, src: src}
	bytes := w.panelAt(j.groups, 0) * 4
	key := packedKey{pt: j.pt, groups: j.groups, ci: j.ci, co: j.co, cb: -1, nr: j.nr, es: 4, taps: 36,
		data: unsafe.Pointer(&src.data[0]), row: src.row, col: src.col}
	if j.packed != nil || !w.shared {
		w.u = j.packed.get(key, func() unsafe.Pointer { return w.transformWeights(bytes) })
	} else {
		w.pack.makeTables()
	}
	if j.packed == nil && w.u != nil {
		defer mem.Free(w.u, bytes)
	}
	// The kernel's pointer walks to the end, which must be inside.
	bias := make([]float32, j.co*j.groups+16)
	if j.bias != nil {
		copy(bias, unsafe.Slice((*float32)(j.bias), j.co*j.groups))
	}
	w.bias = unsafe.Pointer(&bias[0])
	if w.shared {
		w.runShared()
		return
	}
	w.forTasks(j.nImg*j.ny*j.groups*j.npb, 36*w.vFreq, 0, func(t int, s *winogradScratch) {
		per := j.ny
		b := j.band(t/(per*j.npb*j.groups)*per + t%per)
		t /= per
		b.c0 = t % j.npb * j.panels * j.nr
		b.c1 = min(b.c0+j.panels*j.nr, j.co)
		b.group = t / j.npb % j.groups
		w.input(&b, s, s.extra)
		w.products(&b, s, s.extra, unsafe.Add(w.u, w.panelAt(b.group, b.c0)*4))
	})
}

// runShared transforms the whole input first. Then each task computes one panel of weights, which stays in
// the cache, for many tiles.
func (w *winogradJob) runShared() {
	j := w.job
	bands := j.nImg * j.ny
	all := mem.Alloc(bands * j.groups * 36 * w.vFreq * 4)
	defer mem.Free(all, bands*j.groups*36*w.vFreq*4)
	v := func(group, band int) unsafe.Pointer {
		return unsafe.Add(all, (group*bands+band)*36*w.vFreq*4)
	}
	w.forTasks(bands*j.groups, 0, 0, func(t int, s *winogradScratch) {
		b := j.band(t % bands)
		b.group = t / bands
		w.input(&b, s, v(b.group, t%bands))
	})
	parts := min(bands, ceilDiv(2*minTasks, j.npb*j.groups))
	made, pack := 0, 0
	if w.u == nil {
		made, pack = 36*(j.ci*j.nr+winogradSkew), w.packLen()
	}
	w.forTasks(j.npb*j.groups*parts, made, pack, func(t int, s *winogradScratch) {
		part, c, group := t%parts, t/parts%j.npb*j.nr, t/parts/j.npb
		u := s.extra
		if w.u != nil {
			u = unsafe.Add(w.u, w.panelAt(group, c)*4)
		} else {
			w.makePanel(group, c, u, s.pack)
		}
		for i := part * bands / parts; i < (part+1)*bands/parts; i++ {
			b := j.band(i)
			b.group, b.c0, b.c1 = group, c, min(c+j.nr, j.co)
			w.products(&b, s, v(group, i), u)
		}
	})
}

// winogradScratch is the memory of a worker.
type winogradScratch struct {
	*scratch
	m, edge, tmp unsafe.Pointer
	extra, pack  unsafe.Pointer
}

// forTasks runs n tasks in parallel, with scratch memory for each worker: extra elements at s.extra, and pack
// elements at s.pack to pack weights in.
func (w *winogradJob) forTasks(n, extra, pack int, task func(t int, s *winogradScratch)) {
	j := w.job
	par.For(n, 1, func(lo, hi int) {
		s := winogradScratch{scratch: j.newScratch(4)}
		size := (36*w.mFreq + 16*w.mPitch + 36*16 + extra + pack) * 4
		s.m = mem.Alloc(size)
		s.edge = unsafe.Add(s.m, 36*w.mFreq*4)
		s.tmp = unsafe.Add(s.edge, 16*w.mPitch*4)
		s.extra = unsafe.Add(s.tmp, 36*64)
		s.pack = unsafe.Add(s.extra, extra*4)
		for t := lo; t < hi; t++ {
			task(t, &s)
		}
		mem.Free(s.m, size)
		s.free()
	})
}

// panelAt is the index at which the transformed weights of a panel begin.
func (w *winogradJob) panelAt(group, c int) int {
	j := w.job
	panel := group*ceilDiv(j.co, j.nr) + c/j.nr
	return 36 * (group*j.ci*j.ocols + j.ci*c + panel*winogradSkew)
}

// packLen is the number of elements of scratch that makePanel needs.
func (w *winogradJob) packLen() int { return (9*w.ci+w.cb+1)*w.nr + 36*16 }

// transformWeights transforms all weights.
func (w *winogradJob) transformWeights(bytes int) unsafe.Pointer {
	j := w.job
	u := mem.Alloc(bytes)
	w.pack.makeTables()
	np := ceilDiv(j.co, j.nr)
	par.For(j.groups*np, 1, func(lo, hi int) {
		buf := mem.Alloc(w.packLen() * 4)
		defer mem.Free(buf, w.packLen()*4)
		for t := lo; t < hi; t++ {
			g, c := t/np, t%np*j.nr
			w.makePanel(g, c, unsafe.Add(u, w.panelAt(g, c)*4), buf)
		}
	})
	return u
}

// makePanel transforms the weights of a panel to dst, by way of buf.
func (w *winogradJob) makePanel(group, c int, dst, buf unsafe.Pointer) {
	j := w.job
	width := min(j.nr, j.ocols-c)
	size := j.ci * width * 4
	w.pack.panel(0, group, 0, c, buf, 9*size)
	tmp := unsafe.Add(buf, (9*j.ci+j.cb+1)*j.nr*4)
	// Some channels at a time, to keep the calls short.
	for at := 0; at < size; at += 1 << 14 {
		runWinogradTransform(j.pt, winogradWeights, &winogradArgs{
			dst: unsafe.Add(dst, at), src: unsafe.Add(buf, at), tmp: tmp,
			row: 3 * size, col: size, outRow: 6 * (size + winogradSkew*4), outCol: size + winogradSkew*4,
			n:      min(1<<14, size-at) / (4 * lanes[float32](j.pt)),
			consts: unsafe.Pointer(&winogradConsts[winogradWeights]),
		})
	}
}

// plan cuts the grid into bands of whole tiles.
func (w *winogradJob) plan() {
	j := w.job
	gx, gy := j.grid[2], j.grid[1]
	w.tx, w.ty = ceilDiv(gx, 4), ceilDiv(gy, 4)
	all := w.ty
	w.shared = j.winogradShared()
	j.images = 1
	tiles := winogradTiles
	if w.shared {
		// Two matrices of V, one in use and one that is fetched, leave most of the second-level cache to others.
		tiles = min(tiles, max(cpu.L2/3/(2*4*j.ci), 16))
	}
	if w.tx*w.ty >= tiles {
		w.ty = max(1, tiles/w.tx)
		w.ty = ceilDiv(all, ceilDiv(all, w.ty))
	} else {
		j.images = min(j.n, max(1, tiles/(w.tx*w.ty)))
	}
	j.yb, j.xb = 4*w.ty, 4*w.tx
	j.nx, j.ny, j.nImg = 1, ceilDiv(all, w.ty), ceilDiv(j.n, j.images)
	j.images = ceilDiv(j.n, j.nImg)
	j.nImg = ceilDiv(j.n, j.images)
	j.cb = j.ci
	total := ceilDiv(j.co, j.nr)
	j.npb = min(total, max(1, ceilDiv(4, j.nImg*j.ny*j.groups)))
	if w.shared {
		j.npb = total
	}
	j.panels = ceilDiv(total, j.npb)
	j.npb = ceilDiv(total, j.panels)
	j.layout(4)
	if !j.out.Last && hasScatter[float32](j.pt) {
		j.chanOff = multiples(j.panels*j.nr, volume(j.outD)*4)
	}
	tiles = j.images * w.tx * w.ty
	// An odd number of lines between tiles spreads them over the cache.
	pitch := roundUp(j.ci, 16)
	if pitch%32 == 0 {
		pitch += 16
	}
	w.vPitch = pitch
	w.vFreq = tiles*pitch + winogradSkew
	w.mPitch = j.outPitch()
	w.mFreq = tiles*w.mPitch + winogradSkew
}

// input transforms the input of a band.
func (w *winogradJob) input(b *block, s *winogradScratch, v unsafe.Pointer) {
	j := w.job
	band := unsafe.Slice((*float32)(s.band), j.bandLen)
	if j.grid[2]%4 != 0 || (b.hi[1]-b.lo[1])%4 != 0 {
		clear(band) // what the last tiles see of nothing
	}
	j.load(b, band, 0, j.ci)
	a := winogradArgs{
		row: j.line * 4, col: j.pix * 4, outRow: 6 * w.vFreq * 4, outCol: w.vFreq * 4,
		n:   ceilDiv(j.ci, lanes[float32](j.pt)),
		tmp: s.tmp, consts: unsafe.Pointer(&winogradConsts[winogradInput]), dst: v,
	}
	for img := range b.n1 - b.n0 {
		for y := range ceilDiv(b.hi[1]-b.lo[1], 4) {
			for x := range w.tx {
				a.src = unsafe.Add(s.band, (img*j.img+4*y*j.line+4*x*j.pix)*4)
				runWinogradTransform(j.pt, winogradInput, &a)
				a.dst = unsafe.Add(a.dst, w.vPitch*4)
			}
		}
	}
}

// products multiplies the transformed input of a band with the block's panels of weights, which begin at u,
// and finishes the results.
func (w *winogradJob) products(b *block, s *winogradScratch, v, u unsafe.Pointer) {
	j := w.job
	count := (b.n1 - b.n0) * ceilDiv(b.hi[1]-b.lo[1], 4) * w.tx
	rows, _ := tileSize[float32](j.pt)
	steps := ceilDiv(count, rows) * j.ci
	seg := [3]int{}
	p := args{seg: unsafe.Pointer(&seg[0]), segEnd: unsafe.Pointer(&seg[2]), k: j.ci}
	// The weights of panel c of matrix f.
	panel := func(f, c int) addressRange {
		width := min(j.nr, j.ocols-c)
		at := uintptr(u) + uintptr(w.panelAt(0, c)-w.panelAt(0, b.c0)+f*(j.ci*width+winogradSkew))*4
		return addressRange{at, at + uintptr(j.ci*width*4)}
	}
	var fetch prefetcher
	for f := range 36 {
		for c := b.c0; c < b.c1; c += j.nr {
			width := min(j.nr, j.ocols-c)
			switch {
			case c+j.nr < b.c1:
				fetch.start(&p, tileFetchLines, steps, panel(f, c+j.nr))
			case f+1 < 36:
				next := [2]addressRange{panel(f+1, b.c0)}
				if w.shared { // another processor may have made it
					at := uintptr(v) + uintptr((f+1)*w.vFreq*4)
					next[1] = addressRange{at, at + uintptr(count*w.vPitch*4)}
				}
				fetch.start(&p, tileFetchLines, steps, next[:]...)
			}
			setColumns[float32](j.pt, &p, width, width)
			p.b = unsafe.Add(u, panel(f, c).at-uintptr(u))
			t := tiler{p: &p, prefetch: &fetch, a: bandPosition{v, f * w.vFreq * 4}, dst: s.m,
				c: (f*w.mFreq + c - b.c0) * 4}
			tileRegion[float32](&t, j.pt, [3]axis{{n: 1}, {n: 1}, {count, w.vPitch * 4, w.mPitch * 4}}, rows, 1)
		}
	}
	w.finish(b, s)
}

// finish transforms the products back and puts the results in place.
func (w *winogradJob) finish(b *block, s *winogradScratch) {
	j := w.job
	m, edge := s.m, s.edge
	total := j.outChannels()
	dst := resultBuffer{p: unsafe.Pointer(&j.out.Data[0]), pix: total, c0: -b.group * j.co}
	if j.out.Last {
		dst.line = j.outD[2] * total
		dst.slice = j.outD[1] * dst.line
		dst.img = dst.slice
	} else {
		dst = j.bufferTarget(b, s.scratch)
	}
	cols := b.c1 - b.c0
	a := winogradArgs{
		row: 6 * w.mFreq * 4, col: w.mFreq * 4, n: cols / lanes[float32](j.pt), tmp: s.tmp,
		consts: unsafe.Pointer(&winogradConsts[winogradOutput]),
		lo:     float32(math.Inf(-1)), hi: float32(math.Inf(1)),
	}
	if j.clamp && j.res == nil {
		a.lo, a.hi = j.lo, j.hi
	}
	full := unsafe.Slice((*float32)(edge), 16*w.mPitch)
	count := 0
	for img := b.n0; img < b.n1; img++ {
		for y := range ceilDiv(b.hi[1]-b.lo[1], 4) {
			for x := range w.tx {
				oy, ox := b.lo[1]+4*y, 4*x
				at := (img-dst.n0)*dst.img + (oy-dst.at[1])*dst.line + ox*dst.pix + b.c0 - dst.c0
				h, n := min(4, b.hi[1]-oy), min(4, j.grid[2]-ox)
				a.src = unsafe.Add(m, count*w.mPitch*4)
				a.bias = unsafe.Add(w.bias, (b.group*j.co+b.c0)*4)
				count++
				if h == 4 && n == 4 {
					a.dst, a.outRow, a.outCol = unsafe.Add(dst.p, at*4), dst.line*4, dst.pix*4
					runWinogradTransform(j.pt, winogradOutput, &a)
				} else {
					a.dst, a.outRow, a.outCol = edge, 4*cols*4, cols*4
					runWinogradTransform(j.pt, winogradOutput, &a)
					for r := range h {
						for q := range n {
							copy(unsafe.Slice((*float32)(unsafe.Add(dst.p, (at+r*dst.line+q*dst.pix)*4)), cols),
								full[(r*4+q)*cols:])
						}
					}
				}
				if j.res != nil && j.out.Last {
					res := unsafe.Slice((*float32)(j.res), len(j.out.Data))
					for r := range h {
						for q := range n {
							o := at + r*dst.line + q*dst.pix
							j.addResidual(j.out.Data[o:o+cols], res[o:])
						}
					}
				}
			}
		}
	}
	if !j.out.Last {
		j.store(b, &dst)
	}
}

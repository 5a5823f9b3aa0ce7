package conv

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

var winogradOn atomic.Bool

// SetWinograd allows 3x3 convolutions of stride 1 in float32 to be computed by
// Winograd's F(4×4, 3×3), and returns the previous setting; off is the default.
// It takes a quarter of the multiplications, at the price of rounding errors
// about fifteen times as large. Where there are no kernels for it, or where it
// would gain little, as with many channels and few positions, the setting has no
// effect.
func SetWinograd(on bool) (old bool) { return winogradOn.Swap(on) }

// Winograd reports the setting of SetWinograd.
func Winograd() bool { return winogradOn.Load() }

// winArgs is what a transform reads; the assembly knows its layout.
type winArgs struct {
	dst, src, tmp  unsafe.Pointer
	row, col       int // bytes between rows and columns of the source
	outRow, outCol int // and of the result
	n              int // vectors of channels
	bias           unsafe.Pointer
	lo, hi         float32
	consts         unsafe.Pointer
}

type winKind uint8

const (
	winIn winKind = iota
	winOut
	winWeights
)

var winConsts = [8]float32{2, 4, 5, 8, 1.0 / 4, 1.0 / 6, 1.0 / 24, 1.0 / 12}

// winSkew is how many elements the 36 matrices are shifted against each other: at
// a power of two their elements would share a set of the cache.
const winSkew = 16

// winTiles is about how many 4x4 tiles of the result a task computes.
const winTiles = 64

// winogradFits reports that the job may and can be computed by Winograd's
// algorithm.
func (j *job[T]) winogradFits() bool {
	if !winogradOn.Load() || !hasScatter[T](j.pt) || len(j.phases) != 1 || j.ci < 16 || j.co%16 != 0 {
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

// winogradGain is the least gain for which accuracy is given up; tests lower it.
var winogradGain = 1.3

// winogradPays weighs the multiplications that are saved against what comes on
// top, in units of a multiplication of the kernel: few tiles do not pay for the
// transformed weights, which are four times as many.
func (j *job[T]) winogradPays() bool {
	const (
		perValue = 25  // to transform a value of the input or the result
		perRead  = 25  // to read a transformed weight for some tiles
		perMade  = 100 // to make it
	)
	tiles := j.n * ceilDiv(j.outD[1], 4) * ceilDiv(j.outD[2], 4)
	weights := 36 * j.ci * j.co
	cost := 36*tiles*(j.ci*j.co+(j.ci+j.co)*perValue) + weights*perRead*ceilDiv(tiles, winTiles)
	if j.packed == nil {
		cost += weights * perMade
	}
	return float64(9*j.n*volume(j.outD)*j.ci*j.co) >= winogradGain*float64(cost)
}

// winogradJob is a job cut into tiles: transformed inputs V and products M are
// 36 matrices of tiles by channels.
type winogradJob struct {
	*job[float32]
	tx, ty int // tiles of a task's band
	u      unsafe.Pointer
	bias   unsafe.Pointer
	vFreq  int // elements of one matrix of V
	vPitch int // and of a row of it
	mFreq  int
	mPitch int
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
	k := &packer[float32]{job: j, src: src}
	k.makeTables()
	np := ceilDiv(j.co, j.nr)
	bytes := w.panelAt(j.groups, 0) * 4
	key := packedKey{pt: j.pt, groups: j.groups, ci: j.ci, co: j.co, cb: -1, nr: j.nr, es: 4, taps: 36, data: unsafe.Pointer(&src.data[0]), row: src.row, col: src.col}
	w.u = j.packed.get(key, func() unsafe.Pointer { return w.transformWeights(k, np, bytes) })
	if j.packed == nil {
		defer mem.Free(w.u, bytes)
	}
	// The kernel's pointer walks to the end, which must be inside.
	bias := make([]float32, j.co*j.groups+16)
	if j.bias != nil {
		copy(bias, unsafe.Slice((*float32)(j.bias), j.co*j.groups))
	}
	w.bias = unsafe.Pointer(&bias[0])
	par.For(j.nImg*j.groups*j.ny*j.npb, 1, func(lo, hi int) {
		s := j.newScratch(4)
		tiles := j.images * w.tx * w.ty
		n := 36*(w.vFreq+w.mFreq)*4 + 16*w.mPitch*4 + 36*64
		buf := mem.Alloc(n)
		for t := lo; t < hi; t++ {
			w.task(t, tiles, &s, buf)
		}
		mem.Free(buf, n)
		s.free()
	})
}

// panelAt is where the transformed weights of a panel begin.
func (w *winogradJob) panelAt(group, c int) int {
	j := w.job
	panel := group*ceilDiv(j.co, j.nr) + c/j.nr
	return 36 * (group*j.ci*j.ocols + j.ci*c + panel*winSkew)
}

// transformWeights makes the transformed weights.
func (w *winogradJob) transformWeights(k *packer[float32], np, bytes int) unsafe.Pointer {
	j := w.job
	u := mem.Alloc(bytes)
	par.For(j.groups*np, 1, func(lo, hi int) {
		n := (9*j.ci + j.cb + 1) * j.nr * 4
		buf := mem.Alloc(n + 36*64)
		defer mem.Free(buf, n+36*64)
		for t := lo; t < hi; t++ {
			g, c := t/np, t%np*j.nr
			width := min(j.nr, j.ocols-c)
			k.panel(0, g, 0, c, buf, 9*j.ci*width*4)
			size := j.ci * width * 4
			// Some channels at a time, to keep the calls short.
			for at := 0; at < size; at += 1 << 14 {
				winTransform(winWeights, &winArgs{
					dst: unsafe.Add(u, w.panelAt(g, c)*4+at), src: unsafe.Add(buf, at), tmp: unsafe.Add(buf, n),
					row: 3 * size, col: size, outRow: 6 * (size + winSkew*4), outCol: size + winSkew*4, n: min(1<<14, size-at) / 64,
					consts: unsafe.Pointer(&winConsts),
				})
			}
		}
	})
	return u
}

// plan cuts the grid into bands of whole tiles.
func (w *winogradJob) plan() {
	j := w.job
	gx, gy := j.grid[2], j.grid[1]
	w.tx, w.ty = ceilDiv(gx, 4), ceilDiv(gy, 4)
	all := w.ty
	j.images = 1
	if w.tx*w.ty >= winTiles {
		w.ty = max(1, winTiles/w.tx)
		w.ty = ceilDiv(all, ceilDiv(all, w.ty))
	} else {
		j.images = min(j.n, max(1, winTiles/(w.tx*w.ty)))
	}
	j.yb, j.xb = 4*w.ty, 4*w.tx
	j.nx, j.ny, j.nImg = 1, ceilDiv(all, w.ty), ceilDiv(j.n, j.images)
	j.images = ceilDiv(j.n, j.nImg)
	j.nImg = ceilDiv(j.n, j.images)
	j.cb = j.ci
	total := ceilDiv(j.co, j.nr)
	j.npb = min(total, max(1, ceilDiv(4, j.nImg*j.ny*j.groups)))
	j.panels = ceilDiv(total, j.npb)
	j.npb = ceilDiv(total, j.panels)
	j.layout(4)
	if !j.out.Last {
		j.chanOff = multiples(j.panels*j.nr, volume(j.outD)*4)
	}
	tiles := j.images * w.tx * w.ty
	// An odd number of lines between tiles spreads them over the cache.
	pitch := roundUp(j.ci, 16)
	if pitch%32 == 0 {
		pitch += 16
	}
	w.vPitch = pitch
	w.vFreq = tiles*pitch + winSkew
	w.mPitch = j.outPitch()
	w.mFreq = tiles*w.mPitch + winSkew
}

func (w *winogradJob) task(t, tiles int, s *scratch, buf unsafe.Pointer) {
	j := w.job
	per := j.ny
	b := j.band(t/(per*j.npb*j.groups)*per + t%per)
	t /= per
	b.c0 = t % j.npb * j.panels * j.nr
	b.c1 = min(b.c0+j.panels*j.nr, j.co)
	b.group = t / j.npb % j.groups
	band := unsafe.Slice((*float32)(s.band), j.bandLen)
	if j.grid[2]%4 != 0 || (b.hi[1]-b.lo[1])%4 != 0 {
		clear(band) // what the last tiles see of nothing
	}
	j.load(&b, band, 0, j.ci)

	images, ty := b.n1-b.n0, ceilDiv(b.hi[1]-b.lo[1], 4)
	pitch := w.vPitch
	v, m := buf, unsafe.Add(buf, 36*w.vFreq*4)
	edge := unsafe.Add(m, 36*w.mFreq*4)
	a := winArgs{
		row: j.line * 4, col: j.pix * 4, outRow: 6 * w.vFreq * 4, outCol: w.vFreq * 4, n: ceilDiv(j.ci, 16),
		tmp: unsafe.Add(edge, 16*w.mPitch*4), consts: unsafe.Pointer(&winConsts),
	}
	count := 0
	for img := range images {
		for y := range ty {
			for x := range w.tx {
				a.src = unsafe.Add(s.band, (img*j.img+4*y*j.line+4*x*j.pix)*4)
				a.dst = unsafe.Add(v, count*pitch*4)
				winTransform(winIn, &a)
				count++
			}
		}
	}

	rows, _ := tileSize[float32](j.pt)
	cuts := cut(count, rows)
	seg := [3]int{}
	p := args{seg: unsafe.Pointer(&seg[0]), segEnd: unsafe.Pointer(&seg[2]), rs: pitch * 4, ldc: w.mPitch * 4, k: j.ci}
	// The weights of panel c of matrix f.
	panel := func(f, c int) span {
		width := min(j.nr, j.ocols-c)
		at := uintptr(w.u) + uintptr(w.panelAt(b.group, c)+f*(j.ci*width+winSkew))*4
		return span{at, at + uintptr(j.ci*width*4)}
	}
	var fetch ahead
	kernel := kernelsOf[float32](j.pt).conv
	for f := range 36 {
		for c := b.c0; c < b.c1; c += j.nr {
			width := min(j.nr, j.ocols-c)
			switch {
			case c+j.nr < b.c1:
				fetch.start(&p, (len(cuts)-1)*j.ci, panel(f, c+j.nr))
			case f+1 < 36:
				fetch.start(&p, (len(cuts)-1)*j.ci, panel(f+1, b.c0))
			}
			setColumns[float32](j.pt, &p, width, width)
			p.b = unsafe.Add(w.u, (w.panelAt(b.group, c)+f*(j.ci*width+winSkew))*4)
			for i, r := range cuts[:len(cuts)-1] {
				n := cuts[i+1] - r
				h := (n + 1) / 2
				p.a0 = unsafe.Add(v, (f*w.vFreq+r*pitch)*4)
				p.c0 = unsafe.Add(m, (f*w.mFreq+r*w.mPitch+c-b.c0)*4)
				p.a1, p.c1 = p.a0, p.c0
				if n > h { // pointers stay inside their blocks
					p.a1, p.c1 = unsafe.Add(p.a0, h*p.rs), unsafe.Add(p.c0, h*p.ldc)
				}
				tile(kernel, &p, n)
				fetch.check(&p)
			}
		}
	}
	w.finish(&b, s, m, edge, a.tmp, ty)
}

// finish transforms the products back and puts them in place.
func (w *winogradJob) finish(b *block, s *scratch, m, edge, tmp unsafe.Pointer, ty int) {
	j := w.job
	total := j.co * j.groups
	dst := target{p: unsafe.Pointer(&j.out.Data[0]), pix: total, c0: -b.group * j.co}
	if j.out.Last {
		dst.line = j.outD[2] * total
		dst.slice = j.outD[1] * dst.line
		dst.img = dst.slice
	} else {
		dst = j.bufferTarget(b, s)
	}
	cols := b.c1 - b.c0
	a := winArgs{
		row: 6 * w.mFreq * 4, col: w.mFreq * 4, n: cols / 16, tmp: tmp, consts: unsafe.Pointer(&winConsts),
		lo: float32(math.Inf(-1)), hi: float32(math.Inf(1)),
	}
	if j.clamp && j.res == nil {
		a.lo, a.hi = j.lo, j.hi
	}
	full := unsafe.Slice((*float32)(edge), 16*w.mPitch)
	count := 0
	for img := b.n0; img < b.n1; img++ {
		for y := range ty {
			for x := range w.tx {
				oy, ox := b.lo[1]+4*y, 4*x
				at := (img-dst.n0)*dst.img + (oy-dst.at[1])*dst.line + ox*dst.pix + b.c0 - dst.c0
				h, n := min(4, b.hi[1]-oy), min(4, j.grid[2]-ox)
				a.src = unsafe.Add(m, count*w.mPitch*4)
				a.bias = unsafe.Add(w.bias, (b.group*j.co+b.c0)*4)
				count++
				if h == 4 && n == 4 {
					a.dst, a.outRow, a.outCol = unsafe.Add(dst.p, at*4), dst.line*4, dst.pix*4
					winTransform(winOut, &a)
				} else {
					a.dst, a.outRow, a.outCol = edge, 4*cols*4, cols*4
					winTransform(winOut, &a)
					for r := range h {
						for q := range n {
							copy(unsafe.Slice((*float32)(unsafe.Add(dst.p, (at+r*dst.line+q*dst.pix)*4)), cols), full[(r*4+q)*cols:])
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

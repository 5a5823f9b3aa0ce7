package pool

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// This file runs poolings of planes of floats tap by tap: for each position inside the window, one kernel call meets
// whole rows of results with the rows of the input that lie there. With a stride the plane is first taken apart into
// phases (its even and odd columns, say), in which neighbouring results find their elements side by side.

// span1 is the results [lo, hi) of dimension i whose tap at offset t (from the window's start without padding) lies
// in the input.
func (w *window) span1(i, t int) (lo, hi int) {
	t -= w.pad[i]
	s := w.stride[i]
	if t < 0 {
		lo = (-t + s - 1) / s
	}
	if t < w.in[i] {
		hi = min(w.out[i], (w.in[i]-1-t)/s+1)
	}
	return lo, max(lo, hi)
}

// code is a tap's number inside the window.
func (w *window) code(a, b, c int) int { return (a*w.k[1]+b)*w.k[2] + c }

// kernel runs on rows of cols elements: ldo apart from o on the side of the results, ldi apart from i in the input.
type kernel func(rows, cols, o, ldo, i, ldi, code int)

// block is the number of elements of results of a task.
const block = 8 * 1024

// phases is a group of planes taken apart by their columns' remainders: the lines of the first phase of all planes,
// then those of the second one.
type phases struct {
	w    *window
	s    int // the stride
	half int // columns of a phase
	size int // elements of a plane
	tall int // planes that one call may take as one: nothing reaches beyond a plane
	part int // elements of a phase of all planes of a group
}

func newPhases(w *window) *phases {
	s := w.stride[2]
	h := (w.in[2] + s - 1) / s
	p := &phases{w: w, s: s, half: h, size: w.in[0] * w.in[1] * s * h, tall: 1}
	// The windows of a plane fill its lines and nothing else, so the next plane's go on where they end.
	if w.in[0] == 1 && w.k[0] == 1 && w.pad[1] == 0 && w.in[1] == w.out[1]*w.stride[1] &&
		(w.k[1]-1)*w.dil[1] < w.stride[1] {
		p.tall = max(1, min(w.planes, block/2/max(1, p.size)))
	}
	p.part = p.tall * p.size / s
	return p
}

// eachGroup runs f for groups of planes, in parallel.
func eachGroup(p *phases, f func(first, n int)) {
	groups := (p.w.planes + p.tall - 1) / p.tall
	par.For(groups, max(1, block/(p.size*p.tall)), func(lo, hi int) {
		for g := lo; g < hi; g++ {
			f(g*p.tall, min(p.tall, p.w.planes-g*p.tall))
		}
	})
}

// scratch is the room that planes taken apart need.
func (p *phases) scratch() int {
	if p.s == 1 {
		return 0
	}
	return p.size * p.tall
}

// split takes n planes apart; without a stride they stay where they are.
func split[E float](p *phases, dst, src []E, n int) []E {
	if p.s == 1 {
		return src
	}
	p.lines(n, func(at, from, count, wd int) {
		apart(dst[at:], p.part, src[from:][:count*wd], p.s)
	})
	return dst
}

// join is the reverse of split.
func join[E float](p *phases, dst, src []E, n int) {
	if p.s == 1 {
		return
	}
	p.lines(n, func(at, from, count, wd int) {
		together(dst[from:][:count*wd], src[at:], p.part, p.s)
	})
}

// halves is the room for the even and the odd elements of a block.
const halves = 2048

// halved reports that n elements, of s phases, are taken apart into even and odd ones first, for which there are
// kernels.
func halved(n, s int) bool { return s%2 == 0 && s <= 16 && n >= 16*s }

// apart sends the elements of src to s phases in turn, which lie part elements apart.
func apart[E float](dst []E, part int, src []E, s int) {
	switch {
	case s == 2:
		vec.Deinterleave(dst, dst[part:], src)
	case halved(len(src), s):
		var buf [halves]E
		even, odd := buf[:halves/2], buf[halves/2:]
		for i, n := 0, 0; n < len(src); i, n = i+halves/s, n+halves/s*s {
			b := src[n:min(len(src), n+halves/s*s)]
			vec.Deinterleave(even, odd, b)
			apart(dst[i:], 2*part, even[:(len(b)+1)/2], s/2)
			apart(dst[part+i:], 2*part, odd[:len(b)/2], s/2)
		}
	default:
		for ph := range min(s, len(src)) {
			d := dst[ph*part:]
			for i, x := 0, ph; x < len(src); i, x = i+1, x+s {
				d[i] = src[x]
			}
		}
	}
}

// together is the reverse of apart.
func together[E float](dst, src []E, part, s int) {
	switch {
	case s == 2:
		vec.Interleave(dst, src, src[part:])
	case halved(len(dst), s):
		var buf [halves]E
		even, odd := buf[:halves/2], buf[halves/2:]
		for i, n := 0, 0; n < len(dst); i, n = i+halves/s, n+halves/s*s {
			b := dst[n:min(len(dst), n+halves/s*s)]
			together(even[:(len(b)+1)/2], src[i:], 2*part, s/2)
			together(odd[:len(b)/2], src[part+i:], 2*part, s/2)
			vec.Interleave(b, even, odd)
		}
	default:
		for ph := range min(s, len(dst)) {
			f := src[ph*part:]
			for i, x := 0, ph; x < len(dst); i, x = i+1, x+s {
				dst[x] = f[i]
			}
		}
	}
}

// lines calls f for count lines of wd elements at once, which begin at from in the planes and at in a phase: for all
// of them when the phases are equally long, else one by one.
func (p *phases) lines(n int, f func(at, from, count, wd int)) {
	wd, rows := p.w.in[2], n*p.w.in[0]*p.w.in[1]
	if wd == p.s*p.half {
		f(0, 0, rows, wd)
		return
	}
	for r := range rows {
		f(r*p.half, r*wd, 1, wd)
	}
}

// taps calls k for every tap of n planes taken apart; positions count from the first plane.
func (p *phases) taps(n int, k kernel) {
	for t := range p.w.taps() {
		p.tap(t, n, k)
	}
}

// tapsBack is taps from the last to the first. An element of the input then meets the results that look at it in
// their order, since the later taps of a window belong to the earlier windows: the order in which gradients are added
// up elsewhere.
func (p *phases) tapsBack(n int, k kernel) {
	for t := p.w.taps() - 1; t >= 0; t-- {
		p.tap(t, n, k)
	}
}

// tap calls k for one tap, by its number.
func (p *phases) tap(code, n int, k kernel) {
	w := p.w
	a, b, c := code/(w.k[1]*w.k[2]), code/w.k[2]%w.k[1], code%w.k[2]
	ylo, yhi := w.span1(1, b*w.dil[1])
	xlo, xhi := w.span1(2, c*w.dil[2])
	if xlo >= xhi || ylo >= yhi {
		return
	}
	ix := xlo*p.s - w.pad[2] + c*w.dil[2]
	iy := ylo*w.stride[1] - w.pad[1] + b*w.dil[1]
	col := ix%p.s*p.part + ix/p.s
	zlo, zhi := w.span1(0, a*w.dil[0])
	for z := zlo; z < zhi; z++ {
		iz := z*w.stride[0] - w.pad[0] + a*w.dil[0]
		k((n-1)*w.out[1]+yhi-ylo, xhi-xlo, (z*w.out[1]+ylo)*w.out[2]+xlo, w.out[2],
			(iz*w.in[1]+iy)*p.half+col, w.stride[1]*p.half, code)
	}
}

// firstOfPlanes sets at, for n planes, to the number of the first tap of each result that lies in the input: what
// wins when nothing is larger than -Inf.
func firstOfPlanes[E float](p *phases, at []E, n int) {
	w := p.w
	skip := func(i, o int) int { return (max(0, w.pad[i]-o*w.stride[i]) + w.dil[i] - 1) / w.dil[i] }
	if w.pad == [3]int{} {
		clear(at)
		return
	}
	for i, r := 0, 0; r < n*w.out[0]*w.out[1]; r++ {
		a, b := skip(0, r/w.out[1]%w.out[0]), skip(1, r%w.out[1])
		for x := range w.out[2] {
			at[i] = E(w.code(a, b, skip(2, x)))
			i++
		}
	}
}

// maxTaps computes the maximum of every window, of at most 256 taps, and gives the numbers of the winning taps, in
// the order of the results in memory, to codes(position, numbers) unless that is nil. c is the number of channels in
// channels-last memory, 0 for planes.
func (k *taps[E, S]) maxTaps(w *window, c int, out, in []S, codes func(at int, code []uint8)) {
	switch {
	case c > 0:
		k.maxLast(forward(w, c), out, in, false, codes)
		return
	case k.slim(w):
		k.maxSlim(w, out, in, codes)
		return
	}
	low := lowest[E]()
	if w.relu {
		low = 0
	}
	wide := poolerOf[E]()
	p := newPhases(w)
	isz, osz := w.inSize(), w.outSize()
	eachGroup(p, func(first, n int) {
		buf, back := borrow[E](p.scratch() + k.room(n*isz) + 2*n*osz)
		defer back()
		src := split(p, cut(&buf, p.scratch()), k.load(in[first*isz:][:n*isz], cut(&buf, k.room(n*isz))), n)
		o := out[first*osz:][:n*osz]
		dst, at := k.place(o, cut(&buf, n*osz)), buf
		k.fill(dst, low)
		if codes == nil {
			p.taps(n, func(rows, cols, o, ldo, i, ldi, _ int) { wide.max(rows, cols, dst[o:], ldo, src[i:], ldi) })
		} else {
			if w.relu {
				k.fill(at, noTap)
			} else {
				firstOfPlanes(p, at, n)
			}
			p.taps(n, func(rows, cols, o, ldo, i, ldi, code int) {
				wide.maxAt(rows, cols, dst[o:], ldo, at[o:], ldo, src[i:], ldi, E(code))
			})
			c := make([]uint8, n*osz)
			k.codes(c, at)
			codes(first*osz, c)
		}
		k.store(o, dst)
	})
}

// spread computes the gradient of a pooling of planes: hand makes the kernel that adds to d what the results hand on;
// positions on the side of the results count from position from.
func (k *taps[E, S]) spread(w *window, gin []S, hand func(d []E, from int) kernel) {
	p := newPhases(w)
	isz, osz := w.inSize(), w.outSize()
	eachGroup(p, func(first, n int) {
		buf, back := borrow[E](p.scratch() + n*isz)
		defer back()
		d := cut(&buf, p.scratch())
		dst := k.place(gin[first*isz:][:n*isz], buf)
		if p.s == 1 {
			d = dst
		}
		clear(d)
		p.tapsBack(n, hand(d, first*osz))
		join(p, dst, d, n)
		k.store(gin[first*isz:][:n*isz], dst)
	})
}

// channels is the number of channels when t is processed in channels-last memory, 0 when it is in planes; f is that
// memory format.
func channels(t *T, nd int) (c int, f tensor.MemoryFormat) {
	if f = formatOf(t, nd); f == tensor.ContiguousFormat || t.IsContiguous() {
		return 0, tensor.ContiguousFormat
	}
	return t.Size(1), f
}

package pool

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// This file runs poolings of float32 and float64 tap by tap: for each position inside the window, one kernel call meets whole rows of results with
// the rows of the input that lie there. In channels-last memory a row is a line of pixels, each a run of channels. In planes a row is a
// line of the plane; with a stride the plane is first taken apart into phases (its even and odd columns, say), in which neighbouring
// results find their elements side by side.

// span1 is the results [lo, hi) of dimension i whose tap at offset t (from the window's start without padding) lies in the input.
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

// float is the set of element types that are pooled tap by tap; 16-bit floats are computed in float32.
type float interface{ float32 | float64 }

// floatKernels are the vector kernels of an element type.
type floatKernels[E float] struct {
	max   func(rows, cols int, dst []E, lddst int, a []E, lda int)
	maxAt func(rows, cols int, dst []E, lddst int, at []E, ldat int, a []E, lda int, tap E)
	add   func(rows, cols int, dst []E, lddst int, a []E, lda int)
	fill  func(dst []E, s E)
	div   func(dst, a, b []E)
	divBy func(dst, a []E, s E)
	sum   func(a []E) E
}

var (
	kernels32 = floatKernels[float32]{vec.MaxTapRowsF32, vec.MaxTapAtRowsF32, vec.AddTapRowsF32, vec.FillF32, vec.DivF32, vec.DivScalarF32, vec.SumF32}
	kernels64 = floatKernels[float64]{vec.MaxTapRowsF64, vec.MaxTapAtRowsF64, vec.AddTapRowsF64, vec.FillF64, vec.DivF64, vec.DivScalarF64, vec.SumF64}
)

func kernels[E float]() *floatKernels[E] {
	var k any = &kernels32
	if _, ok := k.(*floatKernels[E]); !ok {
		k = &kernels64
	}
	return k.(*floatKernels[E])
}

// code is a tap's number inside the window.
func (w *window) code(a, b, c int) int { return (a*w.k[1]+b)*w.k[2] + c }

// kernel runs on rows of cols elements: ldo apart from o on the side of the results, ldi apart from i in the input.
type kernel func(rows, cols, o, ldo, i, ldi, code int)

// block is the number of elements of results of a task.
const block = 8 * 1024

// lines is a walk over results in channels-last memory.
type lines struct {
	w *window
	c int // channels
	x int // results per task
}

func newLines(w *window, c int) *lines {
	return &lines{w, c, max(1, min(w.out[2], block/2/max(1, c)))}
}

// each runs f for blocks of pixels of a line, in parallel: image n, results [x0, x1) of line (z, y).
func (l *lines) each(f func(n, z, y, x0, x1 int)) {
	w := l.w
	per := (w.out[2] + l.x - 1) / l.x
	images := w.planes / max(1, l.c)
	par.For(images*w.out[0]*w.out[1]*per, max(1, block/2/(l.x*l.c)), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			r, b := u/per, u%per
			f(r/(w.out[0]*w.out[1]), r/w.out[1]%w.out[0], r%w.out[1], b*l.x, min(w.out[2], b*l.x+l.x))
		}
	})
}

// taps calls k for every tap of a block of results; positions count from the block's first result and from the input's first element.
func (l *lines) taps(n, z, y, x0, x1 int, k kernel) {
	w := l.w
	for a := range w.k[0] {
		iz := z*w.stride[0] - w.pad[0] + a*w.dil[0]
		if iz < 0 || iz >= w.in[0] {
			continue
		}
		for b := range w.k[1] {
			iy := y*w.stride[1] - w.pad[1] + b*w.dil[1]
			if iy < 0 || iy >= w.in[1] {
				continue
			}
			for c := range w.k[2] {
				lo, hi := w.span1(2, c*w.dil[2])
				if lo, hi = max(lo, x0), min(hi, x1); lo < hi {
					ix := lo*w.stride[2] - w.pad[2] + c*w.dil[2]
					k(hi-lo, l.c, (lo-x0)*l.c, l.c, (((n*w.in[0]+iz)*w.in[1]+iy)*w.in[2]+ix)*l.c, w.stride[2]*l.c, w.code(a, b, c))
				}
			}
		}
	}
}

// firstOfLine sets at to the number of the first tap of each result that lies in the input: what wins when nothing is larger than -Inf.
func firstOfLine[E float](l *lines, at []E, z, y, x0, x1 int) {
	w, fill := l.w, kernels[E]().fill
	skip := func(i, o int) int { return (max(0, w.pad[i]-o*w.stride[i]) + w.dil[i] - 1) / w.dil[i] }
	a, b := skip(0, z), skip(1, y)
	for x := x0; x < x1; x++ {
		fill(at[(x-x0)*l.c:][:l.c], E(w.code(a, b, skip(2, x))))
	}
}

// phases is a group of planes taken apart by their columns' remainders: the lines of the first phase of all planes, then those of the
// second one.
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
	if w.in[0] == 1 && w.k[0] == 1 && w.pad[1] == 0 && w.in[1] == w.out[1]*w.stride[1] && (w.k[1]-1)*w.dil[1] < w.stride[1] {
		p.tall = max(1, min(w.planes, block/2/max(1, p.size)))
	}
	p.part = p.tall * p.size / s
	return p
}

// eachGroup runs f for groups of planes, in parallel.
func eachGroup[E float](p *phases, f func(first, n int, scratch []E)) {
	groups := (p.w.planes + p.tall - 1) / p.tall
	par.For(groups, max(1, block/(p.size*p.tall)), func(lo, hi int) {
		var room []E
		if p.s > 1 {
			room = make([]E, p.size*p.tall)
		}
		for g := lo; g < hi; g++ {
			f(g*p.tall, min(p.tall, p.w.planes-g*p.tall), room)
		}
	})
}

// split takes n planes apart; without a stride they stay where they are.
func split[E float](p *phases, dst, src []E, n int) []E {
	if p.s == 1 {
		return src
	}
	p.lines(n, func(at, from, count, wd int) {
		s := src[from:][:count*wd]
		if p.s == 2 {
			if s, ok := any(s).([]float32); ok {
				d := any(dst).([]float32)
				vec.DeinterleaveF32(d[at:], d[p.part+at:], s)
				return
			}
		}
		if p.s == 2 {
			odd := dst[p.part+at:][:len(s)/2]
			even := dst[at:][:len(s)-len(odd)]
			for i := range odd {
				even[i], odd[i] = s[2*i], s[2*i+1]
			}
			if len(even) > len(odd) {
				even[len(odd)] = s[len(s)-1]
			}
			return
		}
		for ph := range p.s {
			d := dst[ph*p.part+at:]
			for i, x := 0, ph; x < len(s); i, x = i+1, x+p.s {
				d[i] = s[x]
			}
		}
	})
	return dst
}

// join is the reverse of split.
func join[E float](p *phases, dst, src []E, n int) {
	if p.s == 1 {
		return
	}
	p.lines(n, func(at, from, count, wd int) {
		d := dst[from:][:count*wd]
		if p.s == 2 {
			if d, ok := any(d).([]float32); ok {
				s := any(src).([]float32)
				vec.InterleaveF32(d, s[at:], s[p.part+at:])
				return
			}
		}
		if p.s == 2 {
			odd := src[p.part+at:][:len(d)/2]
			even := src[at:][:len(d)-len(odd)]
			for i := range odd {
				d[2*i], d[2*i+1] = even[i], odd[i]
			}
			if len(even) > len(odd) {
				d[len(d)-1] = even[len(odd)]
			}
			return
		}
		for ph := range p.s {
			s := src[ph*p.part+at:]
			for i, x := 0, ph; x < len(d); i, x = i+1, x+p.s {
				d[x] = s[i]
			}
		}
	})
}

// lines calls f for count lines of wd elements at once, which begin at from in the planes and at in a phase: for all of them when the
// phases are equally long, else one by one.
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
	w := p.w
	for a := range w.k[0] {
		for b := range w.k[1] {
			ylo, yhi := w.span1(1, b*w.dil[1])
			for c := range w.k[2] {
				xlo, xhi := w.span1(2, c*w.dil[2])
				if xlo >= xhi || ylo >= yhi {
					continue
				}
				ix := xlo*p.s - w.pad[2] + c*w.dil[2]
				iy := ylo*w.stride[1] - w.pad[1] + b*w.dil[1]
				col := ix%p.s*p.part + ix/p.s
				zlo, zhi := w.span1(0, a*w.dil[0])
				for z := zlo; z < zhi; z++ {
					iz := z*w.stride[0] - w.pad[0] + a*w.dil[0]
					k((n-1)*w.out[1]+yhi-ylo, xhi-xlo, (z*w.out[1]+ylo)*w.out[2]+xlo, w.out[2],
						(iz*w.in[1]+iy)*p.half+col, w.stride[1]*p.half, w.code(a, b, c))
				}
			}
		}
	}
}

// firstOfPlanes sets at, for n planes, as firstOfLine does.
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

// maxTaps computes the maximum of every window and gives the numbers of the winning taps, in the order of the results in memory, to
// codes(position, numbers) unless that is nil. c is the number of channels in channels-last memory, 0 for planes.
func maxTaps[E float](w *window, c int, out, in []E, codes func(at int, code []E)) {
	kr := kernels[E]()
	step := func(dst, at, src []E) kernel {
		if codes == nil {
			return func(rows, cols, o, ldo, i, ldi, _ int) { kr.max(rows, cols, dst[o:], ldo, src[i:], ldi) }
		}
		return func(rows, cols, o, ldo, i, ldi, code int) {
			kr.maxAt(rows, cols, dst[o:], ldo, at[o:], ldo, src[i:], ldi, E(code))
		}
	}
	low := lowest[E]()
	if c > 0 {
		l := newLines(w, c)
		l.each(func(n, z, y, x0, x1 int) {
			o := (((n*w.out[0]+z)*w.out[1]+y)*w.out[2] + x0) * c
			dst := out[o:][:(x1-x0)*c]
			kr.fill(dst, low)
			var at []E
			if codes != nil {
				at = make([]E, len(dst))
				firstOfLine(l, at, z, y, x0, x1)
			}
			l.taps(n, z, y, x0, x1, step(dst, at, in))
			if codes != nil {
				codes(o, at)
			}
		})
		return
	}
	p := newPhases(w)
	isz, osz := w.inSize(), w.outSize()
	eachGroup(p, func(first, n int, buf []E) {
		src := split(p, buf, in[first*isz:][:n*isz], n)
		dst := out[first*osz:][:n*osz]
		kr.fill(dst, low)
		var at []E
		if codes != nil {
			at = make([]E, len(dst))
			firstOfPlanes(p, at, n)
		}
		p.taps(n, step(dst, at, src))
		if codes != nil {
			codes(first*osz, at)
		}
	})
}

// spread computes the gradient of a pooling of planes or channels-last memory: k makes the kernel that adds to d what the results hand
// on; positions on the side of the results count from position from.
func spread[E float](w *window, c int, gin []E, k func(d []E, from int) kernel) {
	if c == 0 {
		p := newPhases(w)
		isz, osz := w.inSize(), w.outSize()
		eachGroup(p, func(first, n int, buf []E) {
			dst := gin[first*isz:][:n*isz]
			d := dst
			if p.s > 1 {
				d = buf
			}
			clear(d)
			p.taps(n, k(d, first*osz))
			join(p, dst, d, n)
		})
		return
	}
	// One line of the input at a time takes what the results that look at it hand on.
	line := w.in[2] * c
	images := w.planes / c
	par.For(images*w.in[0]*w.in[1], max(1, block/max(1, line)), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			n, iz, iy := r/(w.in[0]*w.in[1]), r/w.in[1]%w.in[0], r%w.in[1]
			d := gin[r*line:][:line]
			clear(d)
			w.reached(0, iz, func(z, a int) {
				w.reached(1, iy, func(y, b int) {
					from := ((n*w.out[0]+z)*w.out[1] + y) * w.out[2] * c
					f := k(d, from)
					for t := range w.k[2] {
						if x0, x1 := w.span1(2, t*w.dil[2]); x0 < x1 {
							ix := x0*w.stride[2] - w.pad[2] + t*w.dil[2]
							f(x1-x0, c, x0*c, c, ix*c, w.stride[2]*c, w.code(a, b, t))
						}
					}
				})
			})
		}
	})
}

// reached calls f for the results of dimension i that look at position at, with the tap by which they do, in order.
func (w *window) reached(i, at int, f func(o, tap int)) {
	for t := w.k[i] - 1; t >= 0; t-- {
		o := at + w.pad[i] - t*w.dil[i]
		if o >= 0 && o%w.stride[i] == 0 && o/w.stride[i] < w.out[i] {
			f(o/w.stride[i], t)
		}
	}
}

// channels is the number of channels when t is processed in channels-last memory, 0 when it is in planes; f is that memory format.
func channels(t *T, nd int) (c int, f tensor.MemoryFormat) {
	if f = formatOf(t, nd); f == tensor.ContiguousFormat || t.IsContiguous() {
		return 0, tensor.ContiguousFormat
	}
	return t.Size(1), f
}

// formatted is t's memory in a memory format, as elements of type E.
func formatted[E number](t *T, f tensor.MemoryFormat) []E {
	return tensor.Memory[E](t.DenseIn(f, tensor.DTypeOf[E]()))
}

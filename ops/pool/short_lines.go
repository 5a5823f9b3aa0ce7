package pool

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// This file pools planes whose lines are so short that a kernel call for each tap of a line would cost more than its
// work: some planes at a time are turned to lie side by side, as channels do in channels-last memory, and pooled as
// these are.

const (
	slimMost   = 28 // results of a line that is short,
	slimMost16 = 10 // of 16-bit floats without AVX-512
	besideLess = 16 // planes that lie side by side, at least and at most
	besideMost = 64
	besideRoom = 32 << 10 // elements of planes that are turned together
)

// slim reports such planes. Lines of whole vectors are better taken as they are.
func (k *taps[E, S]) slim(w *window) bool {
	most := slimMost
	if k.widen != nil && !cpu.HasAVX512 {
		most = slimMost16
	}
	return w.out[2] <= most && w.out[2] != 16 && w.planes >= besideLess && w.inSize() <= besideRoom/besideLess
}

// beside are planes that are pooled together.
type beside struct {
	w    *window
	n    int // as many of them
	line [2]*lines
	c    [2]int // of which lines and divisors are made: n, and what is left in the end
}

func newBeside(w *window, lines func(w *window, c int) *lines) *beside {
	b := &beside{w: w, n: min(max(besideLess, besideRoom/w.inSize()&^(besideLess-1)), besideMost)}
	b.c = [2]int{min(b.n, w.planes), w.planes % b.n}
	for i, c := range b.c {
		if c > 0 {
			b.line[i] = lines(w.of(c), c)
		}
	}
	return b
}

// of is the window of other planes.
func (w *window) of(planes int) *window {
	v := *w
	v.planes = planes
	return &v
}

// eachPlaneGroup calls f for all groups of planes, in parallel: the first plane, the lines of so many, and the memory
// to take from and give to, turned. There are from and to elements in a plane of either. Behind the memory to take
// from, within its capacity, come zeros elements of 0 for each of the planes.
func eachPlaneGroup[D, S any](b *beside, out []D, to int, in []S, from, zeros int,
	f func(first int, l *lines, d []D, s []S)) {
	groups := (b.w.planes + b.n - 1) / b.n
	par.For(groups, max(1, block/(b.n*b.w.inSize())), func(lo, hi int) {
		d, freeD := lend[D](b.n * to)
		defer freeD()
		s, freeS := lend[S](b.n * (from + zeros))
		defer freeS()
		for g := lo; g < hi; g++ {
			first := g * b.n
			l := b.line[0]
			if first+b.n > b.w.planes {
				l = b.line[1]
			}
			d, s := d[:l.c*to], s[:l.c*from]
			clear(s[len(s) : len(s)+l.c*zeros])
			turn(s, in[first*from:], l.c, from)
			f(first, l, d, s)
			turn(out[first*to:], d, to, l.c)
		}
	})
}

// lend gives memory for n elements, with anything in it, and a function that takes it back.
func lend[E any](n int) ([]E, func()) {
	bytes := n * int(unsafe.Sizeof(*new(E)))
	p := mem.Alloc(bytes)
	return unsafe.Slice((*E)(p), n), func() { mem.Free(p, bytes) }
}

// turn sets d to the transpose of rows of cols elements.
func turn[E any](d, s []E, rows, cols int) {
	size := int(unsafe.Sizeof(s[0]))
	_, _ = d[rows*cols-1], s[rows*cols-1]
	iter.Transpose(unsafe.Pointer(&d[0]), rows*size, unsafe.Pointer(&s[0]), cols*size, rows, cols, size)
}

// maxSlim is maxTaps of such planes.
func (k *taps[E, S]) maxSlim(w *window, out, in []S, codes func(at int, code []uint8)) {
	osz, zeros := w.outSize(), 0
	if w.relu {
		zeros = w.in[2]
	}
	eachPlaneGroup(newBeside(w, forward), out, osz, in, w.inSize(), zeros, func(first int, l *lines, d, s []S) {
		s = s[:len(s)+l.c*zeros]
		if codes == nil {
			k.maxLast(l, d, s, true, nil)
			return
		}
		at := make([]uint8, 2*len(d))
		k.maxLast(l, d, s, true, func(i int, code []uint8) { copy(at[i:], code) })
		turn(at[len(d):], at, osz, l.c)
		codes(first*osz, at[len(d):])
	})
}

// maxBackwardSlim is the gradient of maxSlim.
func (k *taps[E, S]) maxBackwardSlim(w *window, gin, grad []S, codes []uint8) {
	osz := w.outSize()
	eachPlaneGroup(newBeside(w, backward), gin, w.inSize(), grad, osz, 0, func(first int, l *lines, d, g []S) {
		code, free := lend[uint8](len(g))
		defer free()
		turn(code, codes[first*osz:], l.c, osz)
		k.maxBackwardLast(l, d, g, code)
	})
}

// avgSlim is avgTaps of such planes.
func (k *taps[E, S]) avgSlim(w *window, out, in []S) {
	b := newBeside(w, forward)
	div := [2]*divider[E]{newDivider[E](w, b.c[0]), newDivider[E](w, b.c[1])}
	eachPlaneGroup(b, out, w.outSize(), in, w.inSize(), 0, func(first int, l *lines, d, s []S) {
		i := 0
		if l == b.line[1] {
			i = 1
		}
		k.avgLast(l, div[i], d, s)
	})
}

// avgBackwardSlim shares gradients that have been divided.
func (k *taps[E, S]) avgBackwardSlim(w *window, gin []S, g []E) {
	eachPlaneGroup(newBeside(w, backward), gin, w.inSize(), g, w.outSize(), 0,
		func(first int, l *lines, d []S, g []E) { k.shareLast(l, d, g) })
}

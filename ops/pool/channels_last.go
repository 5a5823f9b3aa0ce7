package pool

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// This file runs poolings of channels-last memory, forward and backward: a line of pixels at a time, each pixel from
// all that it is linked with at once.

// link is an element that a window looks at: its position along one dimension of the other side, and the tap.
type link struct{ at, tap int }

// run is count pixels of a line from first on, each linked as the first is, gap further on for each.
type run struct {
	first, count int
	links        []link
}

// lines is a walk over the pixels of one side of a pooling, which take from the other side.
type lines struct {
	w         *window
	c         int // channels
	to, from  [3]int
	z, y      [][]link // of every position
	x         []run
	step, gap int // between the pixels of a run, and between what they are linked with
	wide      int // pixels per task
}

// forward walks over the results, which take from the input.
func forward(w *window, c int) *lines {
	links := func(i int) [][]link {
		l := make([][]link, w.out[i])
		for o := range l {
			for t := range w.k[i] {
				if at := o*w.stride[i] - w.pad[i] + t*w.dil[i]; at >= 0 && at < w.in[i] {
					l[o] = append(l[o], link{at, t})
				}
			}
		}
		return l
	}
	return newLines(w, c, w.out, w.in, links, 1, w.stride[2])
}

// backward walks over the input, which takes from the results that look at it, in their order.
func backward(w *window, c int) *lines {
	links := func(i int) [][]link {
		l := make([][]link, w.in[i])
		for o := range w.out[i] {
			for t := range w.k[i] {
				if at := o*w.stride[i] - w.pad[i] + t*w.dil[i]; at >= 0 && at < w.in[i] {
					l[at] = append(l[at], link{o, t})
				}
			}
		}
		return l
	}
	return newLines(w, c, w.in, w.out, links, w.stride[2], 1)
}

// forwardBins and backwardBins are the same for adaptive poolings, whose windows repeat themselves with a period.
func forwardBins(w *window, c int) *lines {
	links := func(i int) [][]link {
		l := make([][]link, w.out[i])
		for o, b := range adaptive(w.in[i], w.out[i]) {
			for at := b.lo; at < b.hi; at++ {
				l[o] = append(l[o], link{at, at - b.lo})
			}
		}
		return l
	}
	in, out := period(w)
	return newLines(w, c, w.out, w.in, links, out, in)
}

func backwardBins(w *window, c int) *lines {
	links := func(i int) [][]link {
		l := make([][]link, w.in[i])
		for o, b := range adaptive(w.in[i], w.out[i]) {
			for at := b.lo; at < b.hi; at++ {
				l[at] = append(l[at], link{o, at - b.lo})
			}
		}
		return l
	}
	in, out := period(w)
	return newLines(w, c, w.in, w.out, links, in, out)
}

// period is the distance along a line, in elements of either side, after which adaptive windows lie as before.
func period(w *window) (in, out int) {
	a, b := w.in[2], w.out[2]
	for b != 0 {
		a, b = b, a%b
	}
	return w.in[2] / a, w.out[2] / a
}

func newLines(w *window, c int, to, from [3]int, links func(i int) [][]link, step, gap int) *lines {
	l := &lines{w: w, c: c, to: to, from: from, z: links(0), y: links(1), step: step, gap: gap}
	l.wide = max(1, min(to[2], block/2/c))
	x := links(2)
	// Neighbours, or pixels of one remainder, have the same taps but at the ends.
	for ph := range min(step, to[2]) {
		for i := ph; i < to[2]; {
			r := run{i, 1, x[i]}
			for i += step; i < to[2] && alike(r.links, x[i], r.count*gap); i += step {
				r.count++
			}
			l.x = append(l.x, r)
		}
	}
	return l
}

// alike reports that b links with the same taps as a, further on by d.
func alike(a, b []link, d int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if b[i].tap != a[i].tap || b[i].at != a[i].at+d {
			return false
		}
	}
	return true
}

// pixels is a block of pixels of a line that is computed at once.
type pixels[E float] struct {
	*lines
	line   int      // of all lines of all images
	x0, x1 int      // the block's part of it
	at     int      // where that begins in memory
	dst    []E      // where the numbers are to be computed
	first  *vec.Tap // of all windows, before their own taps; nil without
	list   []vec.Tap
}

// blocks runs f for all blocks of pixels, in parallel; the results go to out.
func (k *taps[E, S]) blocks(l *lines, out []S, f func(b *pixels[E])) {
	per := (l.to[2] + l.wide - 1) / l.wide
	images := l.w.planes / l.c
	par.For(images*l.to[0]*l.to[1]*per, max(1, block/2/(l.wide*l.c)), func(lo, hi int) {
		buf, back := borrow[E](k.room(l.wide * l.c))
		defer back()
		b := pixels[E]{lines: l}
		for u := lo; u < hi; u++ {
			b.line, b.x0 = u/per, u%per*l.wide
			b.x1 = min(l.to[2], b.x0+l.wide)
			b.at = (b.line*l.to[2] + b.x0) * l.c
			to := out[b.at:][:(b.x1-b.x0)*l.c]
			b.dst = k.place(to, buf)
			f(&b)
			k.store(to, b.dst)
		}
	})
}

// each calls f for runs of pixels of a block: n of them from element i of dst on, step apart, with the taps of the
// first.
func (b *pixels[E]) each(f func(i, n int, taps []vec.Tap)) {
	l := b.lines
	image, z, y := b.line/(l.to[0]*l.to[1]), b.line/l.to[1]%l.to[0], b.line%l.to[1]
	for _, r := range l.x {
		i := max(0, (b.x0-r.first+l.step-1)/l.step)
		end := min(r.count, (b.x1-r.first+l.step-1)/l.step)
		if i >= end {
			continue
		}
		b.list = b.list[:0]
		if b.first != nil {
			b.list = append(b.list, *b.first)
		}
		for _, pz := range l.z[z] {
			for _, py := range l.y[y] {
				row := ((image*l.from[0]+pz.at)*l.from[1]+py.at)*l.from[2] + i*l.gap
				code := l.w.code(pz.tap, py.tap, 0)
				for _, px := range r.links {
					b.list = append(b.list, vec.Tap{Off: (row + px.at) * l.c, Code: code + px.tap})
				}
			}
		}
		f((r.first+i*l.step-b.x0)*l.c, end-i, b.list)
	}
}

// maxLast is maxTaps for channels-last memory. With a ReLU, in may have more zeros behind its end than a line of it has
// elements: they are then the first tap of each window, which wins unless another tap is positive.
func (k *taps[E, S]) maxLast(l *lines, out, in []S, zeros bool, codes func(at int, code []uint8)) {
	c := l.c
	var first *vec.Tap
	if l.w.relu && zeros {
		first = &vec.Tap{Off: l.w.planes * l.w.inSize(), Code: noTap}
	}
	k.blocks(l, out, func(b *pixels[E]) {
		b.first = first
		if codes == nil {
			b.each(func(i, n int, taps []vec.Tap) { k.win.Max(b.dst[i:], c, in, l.gap*c, n, c, taps) })
			if l.w.relu && !zeros {
				k.relu(b.dst, b.dst)
			}
			return
		}
		at := make([]uint8, len(b.dst))
		b.each(func(i, n int, taps []vec.Tap) { k.win.MaxAt(b.dst[i:], at[i:], c, in, l.gap*c, n, c, taps) })
		if l.w.relu && !zeros {
			for i, v := range b.dst {
				var none uint8 // without a branch, which would be mispredicted
				if v <= 0 {
					none = noTap
				}
				at[i] |= none
			}
			k.relu(b.dst, b.dst)
		}
		codes(b.at, at)
	})
}

// avgLast is avgTaps for channels-last memory.
func (k *taps[E, S]) avgLast(l *lines, div *divider[E], out, in []S) {
	c := l.c
	k.blocks(l, out, func(b *pixels[E]) {
		b.each(func(i, n int, taps []vec.Tap) { k.win.Add(b.dst[i:], c, in, l.gap*c, n, c, taps) })
		div.run(b.dst, b.line, b.x0)
	})
}

// spreadLast computes the gradient of a pooling of channels-last memory: f sets n pixels of d, ldd apart, from the
// results that their taps name.
func (k *taps[E, S]) spreadLast(l *lines, gin []S, f func(d []E, ldd, n int, taps []vec.Tap)) {
	k.blocks(l, gin, func(b *pixels[E]) {
		b.each(func(i, n int, taps []vec.Tap) { f(b.dst[i:], l.step*l.c, n, taps) })
	})
}

// maxBackwardLast adds each gradient to the element that its code names.
func (k *taps[E, S]) maxBackwardLast(l *lines, gin, grad []S, code []uint8) {
	k.spreadLast(l, gin, func(d []E, ldd, n int,
		taps []vec.Tap) {
		k.win.MaxGrad(d, ldd, grad, code, l.c, n, l.c, taps)
	})
}

// shareLast shares gradients, divided by the sizes of their windows, among the elements of these.
func (k *taps[E, S]) shareLast(l *lines, gin []S, g []E) {
	win := poolerOf[E]().win
	k.spreadLast(l, gin, func(d []E, ldd, n int, taps []vec.Tap) { win.Add(d, ldd, g, l.c, n, l.c, taps) })
}

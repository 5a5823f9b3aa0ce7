package pool

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// This file runs poolings of channels-last memory, forward and backward: a line of pixels at a time, each pixel from all that it is
// linked with at once.

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

// each runs f for blocks of pixels of a line, in parallel: line (z, y) of all lines of all images, which begins at pixel o of its side,
// pixels [x0, x1) of it. set goes through the pixels of the block.
func (l *lines) each(f func(line, o, x0, x1 int, set func(g func(x, n int, taps []vec.Tap)))) {
	per := (l.to[2] + l.wide - 1) / l.wide
	images := l.w.planes / l.c
	par.For(images*l.to[0]*l.to[1]*per, max(1, block/2/(l.wide*l.c)), func(lo, hi int) {
		var list []vec.Tap
		for u := lo; u < hi; u++ {
			r, x0 := u/per, u%per*l.wide
			x1 := min(l.to[2], x0+l.wide)
			n, z, y := r/(l.to[0]*l.to[1]), r/l.to[1]%l.to[0], r%l.to[1]
			f(r, r*l.to[2], x0, x1, func(g func(x, n int, taps []vec.Tap)) { list = l.set(list, n, z, y, x0, x1, g) })
		}
	})
}

// set calls g for runs of pixels of a block: n of them from x on, step apart, with the taps of the first.
func (l *lines) set(list []vec.Tap, n, z, y, x0, x1 int, g func(x, n int, taps []vec.Tap)) []vec.Tap {
	for _, r := range l.x {
		i := max(0, (x0-r.first+l.step-1)/l.step)
		end := min(r.count, (x1-r.first+l.step-1)/l.step)
		if i >= end {
			continue
		}
		list = list[:0]
		for _, a := range l.z[z] {
			for _, b := range l.y[y] {
				row := ((n*l.from[0]+a.at)*l.from[1]+b.at)*l.from[2] + i*l.gap
				code := l.w.code(a.tap, b.tap, 0)
				for _, c := range r.links {
					list = append(list, vec.Tap{Off: (row + c.at) * l.c, Code: code + c.tap})
				}
			}
		}
		g(r.first+i*l.step, end-i, list)
	}
	return list
}

// maxLast is maxTaps for channels-last memory.
func (k *taps[E, S]) maxLast(w *window, c int, out, in []S, codes func(at int, code []uint8)) {
	l := forward(w, c)
	l.each(func(line, o, x0, x1 int, set func(func(x, n int, taps []vec.Tap))) {
		to := out[(o+x0)*c : (o+x1)*c]
		buf, back := borrow[E](k.room(len(to)))
		defer back()
		dst := k.place(to, buf)
		if codes == nil {
			set(func(x, n int, taps []vec.Tap) { k.win.Max(dst[(x-x0)*c:], c, in, l.gap*c, n, c, taps) })
		} else {
			at := make([]uint8, len(to))
			set(func(x, n int, taps []vec.Tap) {
				k.win.MaxAt(dst[(x-x0)*c:], at[(x-x0)*c:], c, in, l.gap*c, n, c, taps)
			})
			codes((o+x0)*c, at)
		}
		k.store(to, dst)
	})
}

// avgLast is avgTaps for channels-last memory.
func (k *taps[E, S]) avgLast(w *window, c int, out, in []S) {
	div := newDivider[E](w, c)
	l := forward(w, c)
	l.each(func(line, o, x0, x1 int, set func(func(x, n int, taps []vec.Tap))) {
		to := out[(o+x0)*c : (o+x1)*c]
		buf, back := borrow[E](k.room(len(to)))
		defer back()
		dst := k.place(to, buf)
		set(func(x, n int, taps []vec.Tap) { k.win.Add(dst[(x-x0)*c:], c, in, l.gap*c, n, c, taps) })
		div.run(dst, line, x0)
		k.store(to, dst)
	})
}

// spreadLast computes the gradient of a pooling of channels-last memory: f sets n pixels of d, ldd apart, from the results that their
// taps name.
func (k *taps[E, S]) spreadLast(l *lines, gin []S, f func(d []E, ldd, n int, taps []vec.Tap)) {
	c := l.c
	l.each(func(line, o, x0, x1 int, set func(func(x, n int, taps []vec.Tap))) {
		to := gin[(o+x0)*c : (o+x1)*c]
		buf, back := borrow[E](k.room(len(to)))
		defer back()
		d := k.place(to, buf)
		set(func(x, n int, taps []vec.Tap) { f(d[(x-x0)*c:], l.step*c, n, taps) })
		k.store(to, d)
	})
}

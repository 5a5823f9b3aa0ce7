package pool

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// This file runs adaptive poolings of channels-last memory: whole runs of channels of one pixel at a time.

// bins runs f for every window of every image, in parallel: image n, channels [c0, c1), the number of the window and its bounds. The
// windows of one image and run of channels follow each other in one task.
func (w *window) bins(c int, f func(n, c0, c1, o int, z, y, x bounds)) {
	const run = 64 // channels of a task
	bz, by, bx := w.adaptive()
	per := (c + run - 1) / run
	par.For(w.planes/c*per, max(1, 2*block/(w.inSize()*min(c, run))), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			c0 := u % per * run
			o := 0
			for _, z := range bz {
				for _, y := range by {
					for _, x := range bx {
						f(u/per, c0, min(c, c0+run), o, z, y, x)
						o++
					}
				}
			}
		}
	})
}

// adaptiveAvgLast is adaptiveAvg1 for channels-last memory.
func (k *taps[E, S]) adaptiveAvgLast(w *window, c int, out, in []S) {
	bz, by, bx := w.adaptive()
	l := forwardBins(w, c)
	k.blocks(l, out, func(b *pixels[E]) {
		b.each(func(i, n int, taps []vec.Tap) { k.win.Add(b.dst[i:], l.step*c, in, l.gap*c, n, c, taps) })
		share(b.dst, c, bz[b.line/w.out[1]%w.out[0]], by[b.line%w.out[1]], bx[b.x0:])
	})
}

// share divides the c channels of each pixel of a line by the size of its window, one dimension after the other as PyTorch does.
func share[E float](d []E, c int, z, y bounds, x []bounds) {
	by := kernels[E]().divBy
	for _, b := range [...]bounds{z, y} {
		if b.size != 1 {
			by(d, d, E(b.size))
		}
	}
	for i := 0; i < len(d); {
		j, size := i, x[i/c].size
		for ; j < len(d) && x[j/c].size == size; j += c {
		}
		if size != 1 {
			by(d[i:j], d[i:j], E(size))
		}
		i = j
	}
}

// adaptiveAvgBackwardLast is adaptiveAvgBackward1 for channels-last memory.
func (k *taps[E, S]) adaptiveAvgBackwardLast(w *window, c int, gin, gout []S) {
	bz, by, bx := w.adaptive()
	g, back := borrow[E](len(gout))
	defer back()
	line := w.out[2] * c
	par.For(len(g)/line, max(1, block/line), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			d, s := g[r*line:][:line], gout[r*line:][:line]
			copy(d, k.load(s, d))
			share(d, c, bz[r/w.out[1]%w.out[0]], by[r%w.out[1]], bx)
		}
	})
	l, win := backwardBins(w, c), poolerOf[E]().win
	k.spreadLast(l, gin, func(d []E, ldd, n int, taps []vec.Tap) { win.Add(d, ldd, g, l.gap*c, n, c, taps) })
}

// adaptiveMaxLast is adaptiveMax1 for channels-last memory.
func (k *taps[E, S]) adaptiveMaxLast(w *window, c int, out []S, index []int64, in []S) {
	low := lowest[E]()
	w.bins(c, func(n, c0, c1, o int, z, y, x bounds) {
		var room [2][64]E
		at := room[0][:c1-c0] // the number of the winner inside the window
		to := (n*w.outSize()+o)*c + c0
		d := k.place(out[to:][:c1-c0], room[1][:])
		k.fill(d, low)
		tap := E(0)
		where := make([]int64, 0, z.size*y.size*x.size)
		for a := z.lo; a < z.hi; a++ {
			for b := y.lo; b < y.hi; b++ {
				line := (a*w.in[1]+b)*w.in[2] + x.lo
				from := (n*w.inSize()+line)*c + c0
				for b := range x.size {
					where = append(where, int64(line+b))
					k.maxAt(1, c1-c0, d, 0, at, 0, in[from:], 0, tap)
					from += c
					tap++
				}
			}
		}
		k.store(out[to:][:c1-c0], d)
		ix := index[to:][:c1-c0]
		for i, t := range at {
			ix[i] = where[int(t)]
		}
	})
}

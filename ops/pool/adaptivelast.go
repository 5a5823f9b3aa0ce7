package pool

import "github.com/gotorch-dev/torch/internal/par"

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

// adaptiveAvgLast is adaptiveAvg for channels-last memory.
func adaptiveAvgLast[E float](w *window, c int, out, in []E) {
	kr := kernels[E]()
	w.bins(c, func(n, c0, c1, o int, z, y, x bounds) {
		d := out[(n*w.outSize()+o)*c+c0:][:c1-c0]
		clear(d)
		for a := z.lo; a < z.hi; a++ {
			for b := y.lo; b < y.hi; b++ {
				kr.add(x.size, c1-c0, d, 0, in[(((n*w.in[0]+a)*w.in[1]+b)*w.in[2]+x.lo)*c+c0:], c)
			}
		}
		share(d, z, y, x)
	})
}

// share divides by the size of a window, one dimension after the other as PyTorch does.
func share[E float](d []E, z, y, x bounds) {
	by := kernels[E]().divBy
	for _, b := range [...]bounds{z, y, x} {
		if b.size != 1 {
			by(d, d, E(b.size))
		}
	}
}

// adaptiveAvgBackwardLast is adaptiveAvgBackward for channels-last memory.
func adaptiveAvgBackwardLast[E float](w *window, c int, gin, gout []E) {
	kr := kernels[E]()
	clear(gin)
	w.bins(c, func(n, c0, c1, o int, z, y, x bounds) {
		var room [64]E
		g := room[:c1-c0]
		copy(g, gout[(n*w.outSize()+o)*c+c0:])
		share(g, z, y, x)
		for a := z.lo; a < z.hi; a++ {
			for b := y.lo; b < y.hi; b++ {
				kr.add(x.size, c1-c0, gin[(((n*w.in[0]+a)*w.in[1]+b)*w.in[2]+x.lo)*c+c0:], c, g, 0)
			}
		}
	})
}

// adaptiveMaxLast is adaptiveMax for channels-last memory.
func adaptiveMaxLast[E float](w *window, c int, out []E, index []int64, in []E) {
	kr := kernels[E]()
	low := lowest[E]()
	w.bins(c, func(n, c0, c1, o int, z, y, x bounds) {
		var room [64]E // the number of the winner inside the window
		at := room[:c1-c0]
		clear(at)
		to := (n*w.outSize()+o)*c + c0
		d := out[to:][:c1-c0]
		kr.fill(d, low)
		tap := E(0)
		where := make([]int64, 0, z.size*y.size*x.size)
		for a := z.lo; a < z.hi; a++ {
			for b := y.lo; b < y.hi; b++ {
				line := (a*w.in[1]+b)*w.in[2] + x.lo
				from := (n*w.inSize()+line)*c + c0
				for b := range x.size {
					where = append(where, int64(line+b))
					kr.maxAt(1, c1-c0, d, 0, at, 0, in[from:], 0, tap)
					from += c
					tap++
				}
			}
		}
		ix := index[to:][:c1-c0]
		for i, t := range at {
			ix[i] = where[int(t)]
		}
	})
}

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

// adaptiveAvgLast is adaptiveAvg1 for channels-last memory.
func (k *taps[E, S]) adaptiveAvgLast(w *window, c int, out, in []S) {
	w.bins(c, func(n, c0, c1, o int, z, y, x bounds) {
		var room [64]E
		to := out[(n*w.outSize()+o)*c+c0:][:c1-c0]
		d := k.place(to, room[:])
		clear(d)
		for a := z.lo; a < z.hi; a++ {
			for b := y.lo; b < y.hi; b++ {
				k.add(x.size, c1-c0, d, 0, in[(((n*w.in[0]+a)*w.in[1]+b)*w.in[2]+x.lo)*c+c0:], c)
			}
		}
		share(d, z, y, x)
		k.store(to, d)
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

// adaptiveAvgBackwardLast is adaptiveAvgBackward1 for channels-last memory: one line of the input at a time takes what the windows over it
// hand on.
func (k *taps[E, S]) adaptiveAvgBackwardLast(w *window, c int, gin, gout []S) {
	bz, by, bx := w.adaptive()
	images, line := w.planes/c, w.in[2]*c
	add := poolerOf[E]().add
	par.For(images*w.in[0]*w.in[1], max(1, 2*block/line), func(lo, hi int) {
		buf, back := borrow[E](line + c)
		defer back()
		g, d := buf[:c], buf[c:]
		var last, lastZ, lastY int // what d was computed for: lines that the same windows cover are alike
		last = -1
		for r := lo; r < hi; r++ {
			n, iz, iy := r/(w.in[0]*w.in[1]), r/w.in[1]%w.in[0], r%w.in[1]
			z0, z1 := over(bz, iz)
			y0, y1 := over(by, iy)
			one := z1-z0 == 1 && y1-y0 == 1
			if !one || last != n || z0 != lastZ || y0 != lastY {
				clear(d)
				for z := z0; z < z1; z++ {
					for y := y0; y < y1; y++ {
						for o, x := range bx {
							at := (((n*w.out[0]+z)*w.out[1]+y)*w.out[2] + o) * c
							copy(g, k.load(gout[at:][:c], g))
							share(g, bz[z], by[y], x)
							add(x.size, c, d[x.lo*c:], c, g, 0)
						}
					}
				}
			}
			last, lastZ, lastY = -1, z0, y0
			if one {
				last = n
			}
			to := gin[r*line:][:line]
			copy(k.place(to, d), d)
			k.store(to, d)
		}
	})
}

// over is the windows [lo, hi) that cover position i.
func over(l []bounds, i int) (lo, hi int) {
	for lo < len(l) && l[lo].hi <= i {
		lo++
	}
	for hi = lo; hi < len(l) && l[hi].lo <= i; hi++ {
	}
	return
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

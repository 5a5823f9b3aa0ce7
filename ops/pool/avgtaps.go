package pool

import "github.com/gotorch-dev/torch/internal/par"

// divideAll divides results, or gradients of results, by the sizes of their windows. c is the number of channels in channels-last
// memory, 0 for planes.
func divideAll[E float](w *window, c int, d []E) {
	kr := kernels[E]()
	by := [3][]bounds{w.bounds(0), w.bounds(1), w.bounds(2)}
	size := func(z, y, x int) E { return E(max(1, w.divide(by[0][z], by[1][y], by[2][x]))) }
	same := true
	for i, l := range by {
		for _, b := range l {
			same = same && (w.divisor != 0 || b.size == by[i][0].size)
		}
	}
	if same {
		s := size(0, 0, 0)
		if w.divisor != 0 {
			s = E(w.divisor)
		}
		par.For(len(d), block, func(lo, hi int) { kr.divBy(d[lo:hi], d[lo:hi], s) })
		return
	}
	lines := w.out[0] * w.out[1]
	cols := w.out[2] * max(1, c)
	par.For(len(d)/cols, max(1, block/cols), func(lo, hi int) {
		row := make([]E, cols)
		for r := lo; r < hi; r++ {
			z, y := r%lines/w.out[1], r%w.out[1]
			for x := range w.out[2] {
				if c == 0 {
					row[x] = size(z, y, x)
				} else {
					kr.fill(row[x*c:][:c], size(z, y, x))
				}
			}
			kr.div(d[r*cols:][:cols], d[r*cols:][:cols], row)
		}
	})
}

// avgTaps computes the mean of every window.
func avgTaps[E float](w *window, c int, out, in []E) {
	add := kernels[E]().add
	step := func(dst, src []E) kernel {
		return func(rows, cols, o, ldo, i, ldi, _ int) {
			add(rows, cols, dst[o:], ldo, src[i:], ldi)
		}
	}
	if c > 0 {
		l := newLines(w, c)
		l.each(func(n, z, y, x0, x1 int) {
			dst := out[(((n*w.out[0]+z)*w.out[1]+y)*w.out[2]+x0)*c:][:(x1-x0)*c]
			clear(dst)
			l.taps(n, z, y, x0, x1, step(dst, in))
		})
	} else {
		p := newPhases(w)
		isz, osz := w.inSize(), w.outSize()
		eachGroup(p, func(first, n int, buf []E) {
			src := split(p, buf, in[first*isz:][:n*isz], n)
			dst := out[first*osz:][:n*osz]
			clear(dst)
			p.taps(n, step(dst, src))
		})
	}
	divideAll(w, c, out)
}

// avgTapsBackward shares each gradient among the elements of its window.
func avgTapsBackward[E float](w *window, c int, gin, gout []E) {
	add := kernels[E]().add
	g := append([]E(nil), gout...)
	divideAll(w, c, g)
	spread(w, c, gin, func(d []E, from int) kernel {
		return func(rows, cols, o, ldo, i, ldi, _ int) { add(rows, cols, d[i:], ldi, g[from+o:], ldo) }
	})
}

package pool

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// divideAll divides results, or gradients of results, by the sizes of their windows. c is the number of channels in channels-last
// memory, 0 for planes.
func (w *window) divideAll(c int, d []float32) {
	by := [3][]bounds{w.bounds(0), w.bounds(1), w.bounds(2)}
	size := func(z, y, x int) float32 { return float32(max(1, w.divide(by[0][z], by[1][y], by[2][x]))) }
	same := true
	for i, l := range by {
		for _, b := range l {
			same = same && (w.divisor != 0 || b.size == by[i][0].size)
		}
	}
	if same {
		s := size(0, 0, 0)
		if w.divisor != 0 {
			s = float32(w.divisor)
		}
		par.For(len(d), block, func(lo, hi int) { vec.DivScalarF32(d[lo:hi], d[lo:hi], s) })
		return
	}
	lines := w.out[0] * w.out[1]
	cols := w.out[2] * max(1, c)
	par.For(len(d)/cols, max(1, block/cols), func(lo, hi int) {
		row := scratch(cols)
		for r := lo; r < hi; r++ {
			z, y := r%lines/w.out[1], r%w.out[1]
			for x := range w.out[2] {
				if c == 0 {
					row[x] = size(z, y, x)
				} else {
					vec.FillF32(row[x*c:][:c], size(z, y, x))
				}
			}
			vec.DivF32(d[r*cols:][:cols], d[r*cols:][:cols], row)
		}
	})
}

// avgTaps computes the mean of every window.
func avgTaps(w *window, c int, out, in []float32) {
	step := func(dst, src []float32) kernel {
		return func(rows, cols, o, ldo, i, ldi, _ int) {
			vec.AddTapRowsF32(rows, cols, dst[o:], ldo, src[i:], ldi)
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
		p.each(func(first, n int, buf []float32) {
			src := p.split(buf, in[first*isz:][:n*isz], n)
			dst := out[first*osz:][:n*osz]
			clear(dst)
			p.taps(n, step(dst, src))
		})
	}
	w.divideAll(c, out)
}

// avgTapsBackward shares each gradient among the elements of its window.
func avgTapsBackward(w *window, c int, gin, gout []float32) {
	g := append([]float32(nil), gout...)
	w.divideAll(c, g)
	w.spread(c, gin, func(d []float32, from int) kernel {
		return func(rows, cols, o, ldo, i, ldi, _ int) {
			vec.AddTapRowsF32(rows, cols, d[i:], ldi, g[from+o:], ldo)
		}
	})
}

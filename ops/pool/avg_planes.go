package pool

import (
	"github.com/gotorch-dev/torch/internal/par"
)

// divider divides results, or gradients of results, by the sizes of their windows.
type divider[E float] struct {
	w    *window
	c    int // the number of channels in channels-last memory, 1 for planes
	by   [3][]bounds
	each []E // what every result is divided by, one number after the other; nil where that differs
}

func newDivider[E float](w *window, c int) *divider[E] {
	d := &divider[E]{w: w, c: max(1, c), by: [3][]bounds{w.bounds(0), w.bounds(1), w.bounds(2)}}
	same := true
	for i, l := range d.by {
		for _, b := range l {
			same = same && (w.divisor != 0 || b.size == d.by[i][0].size)
		}
	}
	switch {
	case w.divisor != 0:
		d.each = []E{E(w.divisor)}
	case same && w.sides: // one dimension after the other, as PyTorch does there
		d.each = []E{}
		for _, l := range d.by {
			if l[0].size != 1 {
				d.each = append(d.each, E(l[0].size))
			}
		}
	case same:
		d.each = []E{d.size(0, 0, 0)}
	}
	return d
}

func (d *divider[E]) size(z, y, x int) E {
	return E(max(1, d.w.divide(d.by[0][z], d.by[1][y], d.by[2][x])))
}

// run divides the results from x0 of a line on; there may be several lines when x0 is 0.
func (d *divider[E]) run(v []E, line, x0 int) {
	kr := kernels[E]()
	if d.each != nil {
		for _, s := range d.each {
			kr.divBy(v, v, s)
		}
		return
	}
	w := d.w
	buf, back := borrow[E](w.out[2] * d.c)
	defer back()
	for ; len(v) > 0; line++ {
		z, y := line/w.out[1]%w.out[0], line%w.out[1]
		row := buf[:min(len(v), (w.out[2]-x0)*d.c)]
		for i := 0; i < len(row); i += d.c {
			s := d.size(z, y, x0+i/d.c)
			if d.c == 1 {
				row[i] = s
			} else {
				kr.fill(row[i:][:d.c], s)
			}
		}
		kr.div(v[:len(row)], v[:len(row)], row)
		v, x0 = v[len(row):], 0
	}
}

// avgTaps computes the mean of every window.
func (k *taps[E, S]) avgTaps(w *window, c int, out, in []S) {
	switch {
	case c > 0:
		k.avgLast(forward(w, c), newDivider[E](w, c), out, in)
		return
	case k.slim(w):
		k.avgSlim(w, out, in)
		return
	}
	div := newDivider[E](w, c)
	add := poolerOf[E]().add
	p := newPhases(w)
	isz, osz := w.inSize(), w.outSize()
	eachGroup(p, func(first, n int) {
		buf, back := borrow[E](p.scratch() + k.room(n*isz+n*osz))
		defer back()
		src := split(p, cut(&buf, p.scratch()), k.load(in[first*isz:][:n*isz], cut(&buf, k.room(n*isz))), n)
		o := out[first*osz:][:n*osz]
		dst := k.place(o, buf)
		clear(dst)
		p.taps(n, func(rows, cols, o, ldo, i, ldi, _ int) { add(rows, cols, dst[o:], ldo, src[i:], ldi) })
		div.run(dst, 0, 0)
		k.store(o, dst)
	})
}

// avgTapsBackward shares each gradient among the elements of its window.
func (k *taps[E, S]) avgTapsBackward(w *window, c int, gin, gout []S) {
	div := newDivider[E](w, c)
	g, back := borrow[E](len(gout))
	defer back()
	line := w.out[2] * max(1, c)
	par.For(len(g)/line, max(1, block/line), func(lo, hi int) {
		d, s := g[lo*line:hi*line], gout[lo*line:hi*line]
		if k.widen != nil {
			k.widen(d, s)
		} else {
			copy(d, k.load(s, nil))
		}
		div.run(d, lo, 0)
	})
	switch {
	case c > 0:
		k.shareLast(backward(w, c), gin, g)
		return
	case k.slim(w):
		k.avgBackwardSlim(w, gin, g)
		return
	}
	add := poolerOf[E]().add
	k.spread(w, gin, func(d []E, from int) kernel {
		return func(rows, cols, o, ldo, i, ldi, _ int) { add(rows, cols, d[i:], ldi, g[from+o:], ldo) }
	})
}

func (k *taps[E, S]) avg(w *window, out, in *T, nd int) {
	ch, f := channels(in, nd)
	k.into(out, f, func(d []S) { k.avgTaps(w, ch, d, k.in(in, f)) })
}

func (k *taps[E, S]) avgBackward(w *window, out, g *T, nd int) {
	ch, f := channels(g, nd)
	k.into(out, f, func(d []S) { k.avgTapsBackward(w, ch, d, k.in(g, f)) })
}

package pool

import (
	"github.com/gotorch-dev/torch/internal/par"
)

// globalAvg is the mean over every plane: adaptive averaging to one result.
func (k *taps[E, S]) globalAvg(planes, size, c int, out, in []S) {
	n := E(size)
	if c == 0 {
		par.For(planes, max(1, 2*block/size), func(lo, hi int) {
			buf, back := borrow[E](k.room(hi - lo))
			defer back()
			d := k.place(out[lo:hi], buf)
			for p := lo; p < hi; p++ {
				d[p-lo] = k.sum(in[p*size:][:size]) / n
			}
			k.store(out[lo:hi], d)
		})
		return
	}
	// Pixels are summed in groups, so that errors stay small and images can be shared among threads, and inside a group side by side:
	// a short row that all pixels are added to would make each wait for the one before.
	side := max(1, min(16, 256/c))
	row, group := side*c, 64*side
	per := (size + group - 1) / group
	images := planes / c
	part, back := borrow[E](images * per * row)
	defer back()
	clear(part)
	par.For(images*per, max(1, block/(group*c)), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			i, from := u/per, u%per*group
			n := min(group, size-from)
			src, p := in[(i*size+from)*c:], part[u*row:]
			k.add(n/side, row, p, 0, src, row)
			k.add(1, n%side*c, p, 0, src[n/side*row:], row)
		}
	})
	add := poolerOf[E]().add
	buf, back2 := borrow[E](c)
	defer back2()
	for i := range images {
		o := k.place(out[i*c:][:c], buf)
		clear(o)
		add(per*side, c, o, 0, part[i*per*row:], c)
		k.divBy(o, o, n)
		k.store(out[i*c:][:c], o)
	}
}

// globalAvgBackward shares each gradient among the elements of its plane.
func (k *taps[E, S]) globalAvgBackward(planes, size, c int, gin, gout []S) {
	g := make([]S, planes)
	buf, back := borrow[E](2 * planes)
	defer back()
	v := k.place(g, buf)
	k.divBy(v, k.load(gout, buf[planes:]), E(size))
	k.store(g, v)
	if c == 0 {
		par.For(planes, max(1, 2*block/size), func(lo, hi int) {
			for p := lo; p < hi; p++ {
				repeat(gin[p*size:][:size], g[p:][:1])
			}
		})
		return
	}
	par.For(planes/c*size, max(1, 2*block/c), func(lo, hi int) {
		for lo < hi { // the pixels of one image after the other
			n := min(hi, (lo/size+1)*size) - lo
			repeat(gin[lo*c:][:n*c], g[lo/size*c:][:c])
			lo += n
		}
	})
}

// repeat fills d with copies of a row.
func repeat[S any](d, row []S) {
	n := copy(d, row)
	for most := max(1, 4096/len(row)) * len(row); n < len(d); {
		n += copy(d[n:], d[:min(n, most)])
	}
}

package pool

import (
	"github.com/gotorch-dev/torch/internal/par"
)

// globalAvg is the mean over every plane: adaptive averaging to one result.
func globalAvg[E float](planes, size, c int, out, in []E) {
	kr := kernels[E]()
	n := E(size)
	if c == 0 {
		par.For(planes, max(1, 2*block/size), func(lo, hi int) {
			for p := lo; p < hi; p++ {
				out[p] = kr.sum(in[p*size:][:size]) / n
			}
		})
		return
	}
	// Pixels are summed in groups, so that errors stay small and images can be shared among threads.
	const group = 64
	per := (size + group - 1) / group
	images := planes / c
	part := make([]E, images*per*c)
	par.For(images*per, max(1, block/(group*c)), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			i, from := u/per, u%per*group
			k := min(group, size-from)
			src := in[(i*size+from)*c:]
			kr.add(k, c, part[u*c:], 0, src, c)
		}
	})
	for i := range images {
		o := out[i*c:][:c]
		clear(o)
		kr.add(per, c, o, 0, part[i*per*c:], c)
		kr.divBy(o, o, n)
	}
}

// globalAvgBackward shares each gradient among the elements of its plane.
func globalAvgBackward[E float](planes, size, c int, gin, gout []E) {
	kr := kernels[E]()
	n := E(size)
	if c == 0 {
		par.For(planes, max(1, 2*block/size), func(lo, hi int) {
			for p := lo; p < hi; p++ {
				kr.fill(gin[p*size:][:size], gout[p]/n)
			}
		})
		return
	}
	g := make([]E, planes)
	kr.divBy(g, gout, n)
	par.For(planes/c*size, max(1, 2*block/c), func(lo, hi int) {
		for p := lo; p < hi; p++ {
			copy(gin[p*c:][:c], g[p/size*c:])
		}
	})
}

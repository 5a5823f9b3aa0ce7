package conv

import (
	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/par"
)

// The activation of an epilogue that is no clamp is a pass of its own over the elements that a task has just written,
// and that are in its cache. Kernels that write planes, or parts of rows, leave it to a pass over the whole result.

// activateRun is the number of elements that a task of activateAll takes.
const activateRun = 1 << 14

// activateAll applies an activation to a whole result.
func activateAll[T Float](act gemm.Activation, x []T) {
	if act == gemm.ActNone {
		return
	}
	par.For(ceilDiv(len(x), activateRun), 1, func(lo, hi int) {
		gemm.Activate(act, x[lo*activateRun:min(hi*activateRun, len(x))])
	})
}

// activate applies the activation to a whole result.
func (e *Epilogue[T]) activate(x []T) {
	if e != nil {
		activateAll(e.Act, x)
	}
}

// activateResult applies the activation to the whole result of a job, which may be a part of a wider image.
func (j *job[T]) activateResult() {
	if j.pitch == 0 || j.act == gemm.ActNone {
		activateAll(j.act, j.out.Data)
		return
	}
	par.For(j.n*volume(j.outD), max(activateRun/j.co, 1), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			gemm.Activate(j.act, j.out.Data[i*j.pitch:][:j.co])
		}
	})
}

// activate applies the activation to a block of a channels-last result.
func (j *job[T]) activate(b *block) {
	if j.act == gemm.ActNone {
		return
	}
	total := j.outChannels()
	runs, length := b.hi[2]-b.lo[2], b.c1-b.c0
	if length == total { // positions of a line are adjacent
		runs, length = 1, runs*length
	}
	for n := b.n0; n < b.n1; n++ {
		for z := b.lo[0]; z < b.hi[0]; z++ {
			for y := b.lo[1]; y < b.hi[1]; y++ {
				at := (((n*j.outD[0]+z)*j.outD[1]+y)*j.outD[2]+b.lo[2])*total + b.group*j.co + b.c0
				for range runs {
					gemm.Activate(j.act, j.out.Data[at:at+length])
					at += total
				}
			}
		}
	}
}

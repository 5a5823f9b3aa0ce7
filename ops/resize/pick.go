package resize

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// picker copies elements: the nearest modes, where each output has one tap of weight 1.
type picker struct {
	ts      []*taps
	in, out []int // bytes of an index of each dimension
	row     func(dst, src []byte, rows int)
}

// plane copies outputs lo to hi of dimension d and all that lies within.
func (p *picker) plane(dst, src []byte, d, lo, hi int) {
	t, ni, no := p.ts[d], p.in[d], p.out[d]
	switch {
	case d == len(p.ts)-1 && hi-lo == t.out:
		p.row(dst, src, 1)
		return
	case d == len(p.ts)-1:
		vec.PickRows(dst, src, t.index[lo:hi], no)
		return
	}
	for i := lo; i < hi; i++ {
		at := (i - lo) * no
		if i > lo && t.index[i] == t.index[i-1] {
			copy(dst[at:at+no], dst[at-no:])
		} else {
			p.plane(dst[at:at+no], src[int(t.index[i])*ni:][:ni], d+1, 0, p.ts[d+1].out)
		}
	}
}

// pick resizes by copying.
func pick(g grid, ts []*taps, out, in *T) {
	unit := g.unit * in.DType().Size()
	p := &picker{ts: ts, in: make([]int, len(ts)), out: make([]int, len(ts))}
	nsrc, ndst := unit, unit
	for d := len(ts) - 1; d >= 0; d-- {
		p.in[d], p.out[d] = nsrc, ndst
		nsrc *= ts[d].in
		ndst *= ts[d].out
	}
	last := ts[len(ts)-1]
	dense(g, out, in, func(out, in *T) {
		p.row = func(dst, src []byte, rows int) {
			for r := range rows {
				vec.PickRows(dst[r*last.out*unit:][:last.out*unit], src[r*last.in*unit:][:last.in*unit], last.index, unit)
			}
		}
		// Short elements are picked by permutations, if they lie where numbers of that size may.
		if a := uintptr(unit - 1); unit&(unit-1) == 0 && unit <= 8 && (uintptr(in.Ptr())|uintptr(out.Ptr()))&a == 0 {
			picks := vec.NewPicks(last.in, unit, last.index)
			switch unit {
			case 1:
				p.row = pickRow[uint8](picks)
			case 2:
				p.row = pickRow[uint16](picks)
			case 4:
				p.row = pickRow[uint32](picks)
			case 8:
				p.row = pickRow[uint64](picks)
			}
		}
		cut(g.planes, ts[0].out, (nsrc+ndst)/4, true, func(plane, n, lo, hi int) {
			if len(ts) == 1 && hi-lo == last.out {
				p.row(memory[byte](out, plane*ndst, n*ndst), memory[byte](in, plane*nsrc, n*nsrc), n)
				return
			}
			for i := plane; i < plane+n; i++ {
				p.plane(memory[byte](out, i*ndst+lo*p.out[0], (hi-lo)*p.out[0]), memory[byte](in, i*nsrc, nsrc), 0, lo, hi)
			}
		})
	})
}

func pickRow[E uint8 | uint16 | uint32 | uint64](p *vec.Picks) func(dst, src []byte, rows int) {
	return func(dst, src []byte, rows int) { vec.Pick(p, numbers[E](dst), numbers[E](src), rows) }
}

// numbers is memory as numbers.
func numbers[E any](b []byte) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size[E]())
}

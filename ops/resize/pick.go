package resize

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// picker copies elements: the nearest modes, where each output has one tap of weight 1.
type picker struct {
	ts        []*taps
	unit      int   // bytes of an element
	in, out   []int // bytes of an index of each dimension
	nin, nout int   // bytes of a plane
	picks     *vec.Picks
}

func newPicker(ts []*taps, unit int) *picker {
	p := &picker{ts: ts, unit: unit, in: make([]int, len(ts)), out: make([]int, len(ts)), nin: unit, nout: unit}
	for d := len(ts) - 1; d >= 0; d-- {
		p.in[d], p.out[d] = p.nin, p.nout
		p.nin *= ts[d].in
		p.nout *= ts[d].out
	}
	if last := p.last(); unit&(unit-1) == 0 && unit <= 8 {
		p.picks = vec.NewPicks(last.in, unit, last.index)
	}
	return p
}

func (p *picker) last() *taps { return p.ts[len(p.ts)-1] }

// rows resizes the last dimension of rows: row i of dst comes from row index[i] of src. Short elements are picked by
// permutations, if they lie where numbers of that size may.
func (p *picker) rows(dst, src []byte, index []int32) {
	if a := uintptr(unsafe.Pointer(&dst[0])) | uintptr(unsafe.Pointer(&src[0])); p.picks != nil &&
		a&uintptr(p.unit-1) == 0 {
		switch p.unit {
		case 1:
			vec.Pick(p.picks, dst, src, index)
		case 2:
			vec.Pick(p.picks, numbers[uint16](dst), numbers[uint16](src), index)
		case 4:
			vec.Pick(p.picks, numbers[uint32](dst), numbers[uint32](src), index)
		case 8:
			vec.Pick(p.picks, numbers[uint64](dst), numbers[uint64](src), index)
		}
		return
	}
	t := p.last()
	ni, no := t.in*p.unit, t.out*p.unit
	for i, x := range index {
		if d := dst[i*no:][:no]; i > 0 && x == index[i-1] {
			copy(d, dst[(i-1)*no:])
		} else {
			vec.PickRows(d, src[int(x)*ni:][:ni], t.index, p.unit)
		}
	}
}

// plane copies outputs lo to hi of dimension d and all that lies within.
func (p *picker) plane(dst, src []byte, d, lo, hi int) {
	index := p.ts[d].index[lo:hi]
	switch len(p.ts) - d {
	case 1: // a piece of a long row
		vec.PickRows(dst, src, index, p.unit)
		return
	case 2:
		p.rows(dst, src, index)
		return
	}
	ni, no := p.in[d], p.out[d]
	for i, x := range index {
		if at := i * no; i > 0 && x == index[i-1] {
			copy(dst[at:at+no], dst[at-no:])
		} else {
			p.plane(dst[at:at+no], src[int(x)*ni:][:ni], d+1, 0, p.ts[d+1].out)
		}
	}
}

// pick resizes by copying.
func pick(g grid, p *picker, out, in *T) {
	dense(g, out, in, func(out, in *T) {
		t := p.ts[0]
		cut(g.planes, t.out, (p.nin+p.nout)/4, true, func(plane, n, lo, hi int) {
			if len(p.ts) == 1 && hi-lo == t.out {
				index := make([]int32, n)
				for i := range index {
					index[i] = int32(i)
				}
				p.rows(memory[byte](out, plane*p.nout, n*p.nout), memory[byte](in, plane*p.nin, n*p.nin), index)
				return
			}
			for i := plane; i < plane+n; i++ {
				p.plane(memory[byte](out, i*p.nout+lo*p.out[0], (hi-lo)*p.out[0]), memory[byte](in, i*p.nin, p.nin), 0,
					lo, hi)
			}
		})
	})
}

// numbers is memory as numbers.
func numbers[E any](b []byte) []E {
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size[E]())
}

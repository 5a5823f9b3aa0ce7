package index

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// truthBlock is how many places of a mask a task looks at.
const truthBlock = 1 << 15

// truths are the places of a mask that are set. They are counted by blocks, so that tasks know where their share of a
// list begins.
type truths struct {
	b      []uint8 // the flattened mask: 0 or 1
	before []int   // how many are set before each block; last, how many there are
	shape  []int
}

// truthsOf counts the elements of t that are not zero.
func truthsOf(t *T) *truths {
	m := &truths{b: raw[uint8](tensor.DenseAs(t, tensor.Bool))[:t.Numel()], shape: t.Shape()}
	m.before = make([]int, (len(m.b)+truthBlock-1)/truthBlock+1)
	par.For(len(m.b), truthBlock, func(lo, hi int) {
		m.before[lo/truthBlock+1] = vec.CountNonzeroU8(m.b[lo:hi])
	})
	for i := 1; i < len(m.before); i++ {
		m.before[i] += m.before[i-1]
	}
	return m
}

// count is the number of places that are set.
func (m *truths) count() int { return m.before[len(m.before)-1] }

// blocks calls f for every block that has places set, with the first place and the last one that is set, and how many
// are set before. The last place is told so that a loop over the others can write first and look at the mask after:
// whether a place is set cannot be predicted, and a branch on it costs more than the write.
func (m *truths) blocks(f func(from, last, k int)) {
	par.For(len(m.b), truthBlock, func(lo, hi int) {
		k := m.before[lo/truthBlock]
		if m.before[lo/truthBlock+1] == k {
			return
		}
		last := hi - 1
		for m.b[last] == 0 {
			last--
		}
		f(lo, last, k)
	})
}

// places lists the places in the flattened mask.
func (m *truths) places() *T {
	r := tensor.New([]int{m.count()}, tensor.Int64)
	flat := *m
	flat.shape = []int{len(m.b)}
	flat.rows(r)
	return r
}

// placesOf lists the places from from to last, which is set, that are set.
func placesOf(out []int64, b []uint8, from, last int) {
	k := 0
	for i := from; i < last; i += 64 {
		part := b[i:min(i+64, last)]
		if len(part) == 64 && [64]uint8(part) == [64]uint8{} {
			continue
		}
		for j, x := range part {
			out[k] = int64(i + j)
			k += int(x)
		}
	}
	out[k] = int64(last)
}

// rows lists the places in r, [count, dimensions], as rows of as many numbers as the mask has dimensions.
func (m *truths) rows(r *T) {
	nd := len(m.shape)
	if nd == 0 || m.count() == 0 {
		return
	}
	out, width := raw[int64](r), m.shape[nd-1]
	m.blocks(func(from, last, k int) {
		// The numbers are written over the list of places, which lies at the end of the block's share.
		n := m.before[from/truthBlock+1] - k
		share := out[k*nd : (k+n)*nd]
		flat := share[n*(nd-1):]
		placesOf(flat, m.b, from, last)
		if nd == 1 {
			return
		}
		at := make([]int, nd) // of the row in which the last place was
		start, end := 0, 0
		for i := range n {
			p := int(flat[i])
			if p >= end {
				line := p / width
				start, end = line*width, (line+1)*width
				for d := nd - 2; d >= 0; d-- {
					at[d] = line % m.shape[d]
					line /= m.shape[d]
				}
			}
			at[nd-1] = p - start
			row := share[i*nd:][:nd]
			for d, x := range at {
				row[d] = int64(x)
			}
		}
	})
}

// sel lists the elements of src at the places of a mask, place puts those of src there.

func sel[E moved](m *truths, dst, src []E) {
	m.blocks(func(from, last, k int) {
		dst := dst[k:]
		k = 0
		s, b := src[from:last], m.b[from:last]
		for i, v := range s {
			dst[k] = v
			k += int(b[i])
		}
		dst[k] = src[last]
	})
}

func place[E uint8 | uint16 | uint32 | uint64](m *truths, dst, src []E) {
	m.blocks(func(from, last, k int) {
		src := src[k:]
		k = 0
		d, b := dst[from:last+1], m.b[from:last+1]
		for i, old := range d {
			d[i] = old ^ (old^src[k])&-E(b[i]) // the new one where the mask is 1
			k += int(b[i])
		}
	})
}

func placeWide(m *truths, dst, src []wide) {
	m.blocks(func(from, last, k int) {
		for i := from; i <= last; i++ {
			if m.b[i] != 0 {
				dst[i] = src[k]
				k++
			}
		}
	})
}

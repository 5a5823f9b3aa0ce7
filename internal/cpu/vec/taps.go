package vec

import (
	"math/bits"
	"unsafe"
)

// This file applies sparse matrices with few elements per row, as resizing of images has them: an output is a sum of a few weighted
// inputs, the taps.

// TapRowsF32 sums rows of cols elements: row i of dst is the sum of weight[k] times row index[k]-first of src, for k from start[i] up to
// start[i+1]; each product but the first is added with one rounding. Without taps a row is 0. dst and src must not overlap.
func TapRowsF32(dst, src []float32, cols int, start, index []int32, weight []float32, first int) {
	tapRows(dst, src, cols, start, index, weight, first, 0, func(d, s []float32, w float32, k int) {
		if k == 0 {
			MulScalarF32(d, s, w)
		} else {
			AddScaledF32(d, d, s, w)
		}
	})
}

// TapRowsF64 is TapRowsF32 for float64.
func TapRowsF64(dst, src []float64, cols int, start, index []int32, weight []float64, first int) {
	tapRows(dst, src, cols, start, index, weight, first, 0, func(d, s []float64, w float64, k int) {
		if k == 0 {
			MulScalarF64(d, s, w)
		} else {
			AddScaledF64(d, d, s, w)
		}
	})
}

// TapRowsU8 is TapRowsF32 for bytes with 16-bit weights that have bits fraction bits: sums are rounded, halves up, and clamped.
func TapRowsU8(dst, src []uint8, cols int, start, index []int32, weight []int32, first, bits int) {
	if tapRows(dst, src, cols, start, index, weight, first, bits, nil) {
		return
	}
	var sum [256]int32
	for i := range len(start) - 1 {
		for c := 0; c < cols; c += len(sum) {
			d := dst[i*cols+c:][:min(len(sum), cols-c)]
			clear(sum[:])
			for k := start[i]; k < start[i+1]; k++ {
				w, s := weight[k], src[(int(index[k])-first)*cols+c:]
				for j, x := range s[:len(d)] {
					sum[j] += w * int32(x)
				}
			}
			for j := range d {
				d[j] = roundBits(sum[j], bits)
			}
		}
	}
}

// roundBits drops the fraction bits of a sum and clamps it to a byte.
func roundBits(v int32, bits int) uint8 { return uint8(max(0, min(255, (v+1<<bits>>1)>>bits))) }

// tapRows runs the assembly if there is any, else add for each tap; without add it reports whether it did anything.
func tapRows[E float32 | float64 | uint8, W float32 | float64 | int32](dst, src []E, cols int, start, index []int32, weight []W, first, bits int, add func(d, s []E, w W, k int)) bool {
	rows := len(start) - 1
	if rows <= 0 || cols == 0 {
		return true
	}
	_ = dst[:rows*cols]
	n := len(src) / cols
	for _, r := range index[start[0]:start[rows]] {
		if uint(int(r)-first) >= uint(n) {
			panic("vec.TapRows: a tap beyond the source")
		}
	}
	f := tapRowsFunc[E](cols)
	if f == nil && add == nil {
		return false
	}
	if f == nil {
		for i := range rows {
			d := dst[i*cols:][:cols]
			if start[i] == start[i+1] {
				clear(d)
			}
			for k := start[i]; k < start[i+1]; k++ {
				add(d, src[(int(index[k])-first)*cols:][:cols], weight[k], int(k-start[i]))
			}
		}
		return true
	}
	const work = 32 << 10 // products of a call: some microseconds
	size := int(unsafe.Sizeof(*new(E)))
	for c := 0; c < cols; c += work / 4 {
		m := min(work/4, cols-c)
		for i := 0; i < rows; {
			// As many rows as there is work for, at least one.
			e := i + 1
			for e < rows && int(start[e+1]-start[i])*m <= work && (e-i)*m <= work {
				e++
			}
			k := start[i]
			var ip *int32
			var wp *W
			if int(k) < len(index) {
				ip, wp = &index[k], &weight[k]
			}
			f(unsafe.Pointer(&dst[i*cols+c]), unsafe.Add(unsafe.Pointer(unsafe.SliceData(src)), c*size), &start[i], ip, unsafe.Pointer(wp), e-i, m, cols*size, first*cols*size, bits)
			i = e
			preemptible(0)
		}
	}
	return true
}

// Lanes is a sparse matrix for vectors: tap k of output i multiplies element index[k*out+i] of the input by weight[k*out+i].
type Lanes[W float32 | float64 | int32] struct {
	in, out, n int
	index      []int32 // -1 where an output has fewer taps
	weight     []W
	t          laneTable
}

// laneTable holds the entries of each block of outputs for the assembly; see there.
type laneTable struct {
	lanes  int     // outputs of a block
	half   int     // elements of one of the two vectors that an entry chooses from
	start  []int32 // where the entries of a block begin
	base   []int32
	mask   []uint32
	perm   [][64]byte
	weight [][64]byte
}

// NewLanes prepares the matrix that has in columns and the rows of TapRowsF32's start, index and weight. For bytes the weights are int32.
func NewLanes[W float32 | float64 | int32](in int, start, index []int32, weight []W) *Lanes[W] {
	l := &Lanes[W]{in: in, out: len(start) - 1}
	for i := range l.out {
		l.n = max(l.n, int(start[i+1]-start[i]))
	}
	l.index, l.weight = make([]int32, l.n*l.out), make([]W, l.n*l.out)
	for i := range l.out {
		for k := range l.n {
			at := start[i] + int32(k)
			if at >= start[i+1] {
				l.index[k*l.out+i] = -1
				continue
			}
			if uint(index[at]) >= uint(in) {
				panic("vec.NewLanes: a tap beyond the input")
			}
			l.index[k*l.out+i], l.weight[k*l.out+i] = index[at], weight[at]
		}
	}
	if !hasTaps() {
		return l
	}
	size, per := int(unsafe.Sizeof(*new(W))), 1
	if _, ok := any(l.weight).([]int32); ok {
		size, per = 2, 2 // the products of two taps are summed by one instruction
	}
	l.t = newLaneTable(size, per, in, l.out, l.n, l.index, func(t *laneTable, lane, at int) {
		if lane < 0 {
			t.weight = append(t.weight, [64]byte{})
			return
		}
		p := unsafe.Pointer(&t.weight[len(t.weight)-1][lane*size])
		if per == 2 {
			*(*int16)(p) = int16(l.weight[at])
		} else {
			*(*W)(p) = l.weight[at]
		}
	})
	return l
}

// newLaneTable divides an index with n taps per output into entries: for per taps at a time, an entry takes the lanes of size bytes of a
// block whose elements lie in one window. put is told of each new entry (lane -1) and of each lane and where its tap stands.
func newLaneTable(size, per, in, out, n int, index []int32, put func(t *laneTable, lane, at int)) laneTable {
	half := 64 / size
	lanes, window := half/per, int32(2*half)
	blocks := (out + lanes - 1) / lanes
	room := blocks * ((n + per - 1) / per)
	t := laneTable{lanes: lanes, half: half, start: make([]int32, 0, blocks+1), base: make([]int32, 0, room), mask: make([]uint32, 0, room), perm: make([][64]byte, 0, room)}
	for lo := 0; lo < out; lo += lanes {
		t.start = append(t.start, int32(len(t.base)))
		for k := 0; k < n; k += per {
			var ix, at [32]int32 // the lanes' elements and taps
			left := 0
			for lane := range half {
				j, q := lo+lane/per, k+lane%per
				ix[lane] = -1
				if j < out && q < n {
					at[lane] = int32(q*out + j)
					if ix[lane] = index[at[lane]]; ix[lane] >= 0 {
						left++
					}
				}
			}
			for done := uint32(0); left > 0; {
				base := int32(in)
				for lane, x := range ix[:half] {
					if x >= 0 && x < base && done>>lane&1 == 0 {
						base = x
					}
				}
				base = max(0, min(base, int32(in)-window))
				t.base, t.perm = append(t.base, base), append(t.perm, [64]byte{})
				put(&t, -1, 0)
				perm := unsafe.Pointer(&t.perm[len(t.perm)-1])
				var mask uint32
				for lane, x := range ix[:half] {
					if x -= base; x < 0 || x >= window || done>>lane&1 != 0 {
						continue
					}
					mask |= 1 << lane
					left--
					put(&t, lane, int(at[lane]))
					switch size {
					case 2:
						*(*uint16)(unsafe.Add(perm, 2*lane)) = uint16(x)
					case 4:
						*(*uint32)(unsafe.Add(perm, 4*lane)) = uint32(x)
					case 8:
						*(*uint64)(unsafe.Add(perm, 8*lane)) = uint64(x)
					}
				}
				t.mask = append(t.mask, mask)
				done |= mask
			}
		}
	}
	t.start = append(t.start, int32(len(t.base)))
	return t
}

// The kernels of lane tables.
const (
	lanesF32 = iota
	lanesF64
	lanesU8
	lanesPick1
	lanesPick2
	lanesPick4
	lanesPick8
)

// laneCall holds the arguments of the assembly; the order of fields counts there.
type laneCall struct {
	dst, src     unsafe.Pointer
	ldd, lds     int // bytes from row to row
	blocks       int
	start        *int32
	base         *int32
	mask         *uint32
	perm, weight *[64]byte
	k1, k2, last uint32
	_            uint32
	bits         int
}

// run applies the table to rows rows of memory with out and in elements of size bytes; kind is the kernel. Row i comes from row pick[i] of
// src, or from row i without pick.
func (t *laneTable) run(dst, src unsafe.Pointer, rows int, pick []int32, in, out, size, bits int, kind int) {
	blocks := len(t.start) - 1
	ones := func(n, most int) uint32 { return uint32(uint64(1)<<max(0, min(n, most)) - 1) }
	c := laneCall{ldd: out * size, lds: in * size, bits: bits, k1: ones(in, t.half), k2: ones(in-t.half, t.half)}
	const work = 4096 // entries of a call: some microseconds
	for i := 0; i < rows; {
		step := 1
		if kind < lanesPick1 && i+4 <= rows {
			step = 4
		}
		from := i
		if pick != nil {
			from = int(pick[i])
		}
		for b := 0; b < blocks; {
			e := b + 1
			for e < blocks && int(t.start[e+1]-t.start[b]) <= work {
				e++
			}
			c.dst, c.src = unsafe.Add(dst, (i*out+b*t.lanes)*size), unsafe.Add(src, from*in*size)
			c.blocks, c.start, c.last = e-b, &t.start[b], ones(t.lanes, t.lanes)
			if e == blocks {
				c.last = ones(out-(e-1)*t.lanes, t.lanes)
			}
			if at := t.start[b]; int(at) < len(t.base) {
				c.base, c.mask, c.perm = &t.base[at], &t.mask[at], &t.perm[at]
				if t.weight != nil {
					c.weight = &t.weight[at]
				}
			}
			lanesKernel(kind, step, &c)
			preemptible(0)
			b = e
		}
		i += step
	}
}

// ready checks the memory of a call and reports whether the assembly can do it.
func (l *Lanes[W]) ready(dst, src, rows int) bool {
	if dst < rows*l.out || src < rows*l.in {
		panic("vec.Lanes: rows beyond the memory")
	}
	return l.t.start != nil && hasTaps()
}

// LanesF32 applies l to each of rows rows. Sums begin with 0, and each product is added with one rounding.
func LanesF32(l *Lanes[float32], dst, src []float32, rows int) {
	if l.ready(len(dst), len(src), rows) {
		if rows > 0 && l.out > 0 {
			l.t.run(unsafe.Pointer(&dst[0]), unsafe.Pointer(unsafe.SliceData(src)), rows, nil, l.in, l.out, 4, 0, lanesF32)
		}
		return
	}
	lanesSlow(l, dst, src, rows, MulAddF32)
}

// LanesF64 is LanesF32 for float64.
func LanesF64(l *Lanes[float64], dst, src []float64, rows int) {
	if l.ready(len(dst), len(src), rows) {
		if rows > 0 && l.out > 0 {
			l.t.run(unsafe.Pointer(&dst[0]), unsafe.Pointer(unsafe.SliceData(src)), rows, nil, l.in, l.out, 8, 0, lanesF64)
		}
		return
	}
	lanesSlow(l, dst, src, rows, MulAddF64)
}

// lanesSlow gathers the inputs of a run of outputs, tap by tap.
func lanesSlow[W float32 | float64](l *Lanes[W], dst, src []W, rows int, mulAdd func(dst, a, b, c []W)) {
	var buf [256]W
	for i := range rows {
		d, s := dst[i*l.out:][:l.out], src[i*l.in:][:l.in]
		clear(d)
		for lo := 0; lo < l.out; lo += len(buf) {
			run := d[lo:min(lo+len(buf), l.out)]
			for k := range l.n {
				at := k*l.out + lo
				for j, x := range l.index[at:][:len(run)] {
					if x >= 0 {
						buf[j] = s[x]
					} else {
						buf[j] = 0
					}
				}
				mulAdd(run, buf[:len(run)], l.weight[at:], run)
			}
		}
	}
}

// LanesU8 is LanesF32 for bytes, with the arithmetic of TapRowsU8.
func LanesU8(l *Lanes[int32], dst, src []uint8, rows, bits int) {
	if l.ready(len(dst), len(src), rows) {
		if rows > 0 && l.out > 0 {
			l.t.run(unsafe.Pointer(&dst[0]), unsafe.Pointer(unsafe.SliceData(src)), rows, nil, l.in, l.out, 1, bits, lanesU8)
		}
		return
	}
	var sum [256]int32
	for i := range rows {
		d, s := dst[i*l.out:][:l.out], src[i*l.in:][:l.in]
		for lo := 0; lo < l.out; lo += len(sum) {
			run := d[lo:min(lo+len(sum), l.out)]
			clear(sum[:])
			for k := range l.n {
				at := k*l.out + lo
				w := l.weight[at:][:len(run)]
				for j, x := range l.index[at:][:len(run)] {
					if x >= 0 {
						sum[j] += w[j] * int32(s[x])
					}
				}
			}
			for j := range run {
				run[j] = roundBits(sum[j], bits)
			}
		}
	}
}

// Picks is a choice of elements: output i is element index[i] of the input.
type Picks struct {
	in    int
	index []int32
	t     laneTable
}

// NewPicks prepares a choice from in elements of size bytes.
func NewPicks(in, size int, index []int32) *Picks {
	for _, x := range index {
		if uint(x) >= uint(in) {
			panic("vec.NewPicks: an element beyond the input")
		}
	}
	p := &Picks{in: in, index: index}
	if hasTaps() && size <= 8 {
		p.t = newLaneTable(max(size, 2), 1, in, len(index), 1, index, func(*laneTable, int, int) {})
	}
	return p
}

// Pick chooses from rows of src: row i of dst comes from row rows[i].
func Pick[E uint8 | uint16 | uint32 | uint64](p *Picks, dst, src []E, rows []int32) {
	out := len(p.index)
	if len(rows) == 0 || out == 0 {
		return
	}
	dst = dst[:len(rows)*out]
	n := len(src) / p.in
	for _, r := range rows {
		if uint(r) >= uint(n) {
			panic("vec.Pick: a row beyond the source")
		}
	}
	size := int(unsafe.Sizeof(*new(E)))
	if p.t.start != nil && hasTaps() {
		p.t.run(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), len(rows), rows, p.in, out, size, 0, lanesPick1+bits.TrailingZeros(uint(size)))
		return
	}
	for i, r := range rows {
		d, s := dst[i*out:][:out], src[int(r)*p.in:][:p.in]
		if i > 0 && r == rows[i-1] {
			copy(d, dst[(i-1)*out:])
			continue
		}
		for j, x := range p.index {
			d[j] = s[x]
		}
	}
}

// PickRows copies rows of size bytes: row i of dst is row index[i] of src.
func PickRows(dst, src []byte, index []int32, size int) {
	if size == 0 || len(index) == 0 {
		return
	}
	dst = dst[:len(index)*size]
	n := len(src) / size
	for _, x := range index {
		if uint(x) >= uint(n) {
			panic("vec.PickRows: a row beyond the source")
		}
	}
	const work = 64 << 10 // bytes of a call
	if !hasTaps() || size > work {
		for i, x := range index {
			copy(dst[i*size:][:size], src[int(x)*size:])
		}
		return
	}
	step := max(1, work/max(size, 16))
	for i := 0; i < len(index); i += step {
		m := min(step, len(index)-i)
		pickRows(unsafe.Pointer(&dst[i*size]), unsafe.Pointer(&src[0]), &index[i], m, size)
		preemptible(0)
	}
}

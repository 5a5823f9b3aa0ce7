package vec

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// This file applies sparse matrices with few elements per row, as resizing of images has them: an output is a sum of a
// few weighted inputs, the taps.

// TapRowsF32 sums rows of cols elements: row i of dst is the sum of weight[k] times row index[k]-first of src, for k
// from start[i] up to start[i+1]; each product but the first is added with one rounding. Without taps a row is 0. dst
// and src must not overlap.
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

// TapRowsU8 is TapRowsF32 for bytes with 16-bit weights that have bits fraction bits: sums are rounded, halves up, and
// clamped.
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

type rowsFunc = func(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)

// tapAsm is the assembly of an instruction set.
type tapAsm struct {
	bytes int // of a vector
	// of float32, float64 and bytes: for any columns, and for one or two vectors where there is such a form
	rows     [3][3]rowsFunc
	lanes    [lanesPick8 + 1][2]func(c *laneCall)
	pickRows func(dst, src unsafe.Pointer, index *int32, n, size int)
}

// masks tells that vectors need not be full.
func (k *tapAsm) masks() bool { return k.bytes == 64 }

// TapBytes is the size of the vectors that tables of lanes are made for now, 0 without.
func TapBytes() int {
	if k := tapsNow(); k != nil {
		return k.bytes
	}
	return 0
}

// tapRowsFunc is the assembly for rows of cols elements of a type, nil if there is none.
func tapRowsFunc[E float32 | float64 | uint8](cols int) rowsFunc {
	k := tapsNow()
	if k == nil {
		return nil
	}
	kind, lanes := 0, k.bytes/4
	switch unsafe.Sizeof(*new(E)) {
	case 1:
		kind = 2
	case 8:
		kind, lanes = 1, k.bytes/8
	}
	if cols < lanes && !k.masks() {
		return nil
	}
	if n := (cols + lanes - 1) / lanes; n <= 2 && k.rows[kind][n] != nil {
		return k.rows[kind][n]
	}
	return k.rows[kind][0]
}

// tapRows runs the assembly if there is any, else add for each tap; without add it reports whether it did anything.
func tapRows[E float32 | float64 | uint8, W float32 | float64 | int32](dst, src []E, cols int, start, index []int32,
	weight []W, first, bits int, add func(d, s []E, w W, k int)) bool {
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
	const work, least = 32 << 10, 64 // products of a call: some microseconds; columns of a call
	size := int(unsafe.Sizeof(*new(E)))
	for c := 0; c < cols; c += work / 4 {
		if cols-c < least { // some columns once more
			c = max(0, cols-least)
		}
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
			f(unsafe.Pointer(&dst[i*cols+c]), unsafe.Add(unsafe.Pointer(unsafe.SliceData(src)), c*size), &start[i], ip,
				unsafe.Pointer(wp), e-i, m, cols*size, first*cols*size, bits)
			i = e
			preemptible(0)
		}
	}
	return true
}

// Lanes is a sparse matrix for vectors: tap k of output i multiplies element index[k*out+i] of the input by
// weight[k*out+i].
type Lanes[W float32 | float64 | int32] struct {
	in, out, n int
	index      []int32 // -1 where an output has fewer taps
	weight     []W
	t          laneTable
}

// laneTable holds the entries of each block of outputs for the assembly; see there.
type laneTable struct {
	asm    *tapAsm // nil if there is no table
	lanes  int     // outputs of a block
	half   int     // elements of a vector's size
	start  []int32 // where the entries of a block begin
	base   []int32
	mask   []uint32
	perm   []byte
	weight []byte
}

// NewLanes prepares the matrix that has in columns and the rows of TapRowsF32's start, index and weight. For bytes the
// weights are int32.
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
	size, per, cell := int(unsafe.Sizeof(*new(W))), 1, int(unsafe.Sizeof(*new(W)))
	if _, ok := any(l.weight).([]int32); ok {
		size, per, cell = 2, 2, 1 // the products of two taps are summed by one instruction
	}
	l.t = newLaneTable(size, per, cell, in, l.out, l.n, l.index, func(t *laneTable, lane, at int) {
		if lane < 0 {
			t.weight = append(t.weight, make([]byte, t.asm.bytes)...)
			return
		}
		p := unsafe.Pointer(&t.weight[len(t.weight)-t.asm.bytes+lane*size])
		if per == 2 {
			*(*int16)(p) = int16(l.weight[at])
		} else {
			*(*W)(p) = l.weight[at]
		}
	})
	return l
}

// newLaneTable divides an index with n taps per output into entries: for per taps at a time, an entry takes the lanes
// of size bytes of a block whose elements, of cell bytes, lie in one window, or in the window of each of its groups of
// lanes. put is told of each new entry (lane -1) and of each lane and where its tap stands.
func newLaneTable(size, per, cell, in, out, n int, index []int32, put func(t *laneTable, lane, at int)) (t laneTable) {
	k := tapsNow()
	if k == nil {
		return
	}
	half := k.bytes / size
	lanes, window, groups := half/per, int32(2*half), 1
	if !k.masks() {
		if window = int32(k.bytes / cell); cell <= 2 { // these are permuted within each half of a vector
			window, groups = window/2, 2
		}
		if in < int(window) || out < lanes {
			return
		}
	}
	blocks := (out + lanes - 1) / lanes
	room := blocks * ((n + per - 1) / per)
	t = laneTable{asm: k, lanes: lanes, half: half, start: make([]int32, 0, blocks+1),
		base: make([]int32, 0, groups*room), mask: make([]uint32, 0, room), perm: make([]byte, 0, room*k.bytes)}
	for lo := 0; lo < out; lo += lanes {
		if !k.masks() {
			lo = min(lo, out-lanes) // the last block ends with the row
		}
		t.start = append(t.start, int32(len(t.mask)))
		for q := 0; q < n; q += per {
			var ix, at [32]int32 // the lanes' elements and taps
			left := 0
			for lane := range half {
				j, q := lo+lane/per, q+lane%per
				ix[lane] = -1
				if j < out && q < n {
					at[lane] = int32(q*out + j)
					if ix[lane] = index[at[lane]]; ix[lane] >= 0 {
						left++
					}
				}
			}
			for left > 0 {
				perm := t.newPerm()
				put(&t, -1, 0)
				var mask uint32
				for g := range groups {
					first, end := g*half/groups, (g+1)*half/groups
					base := int32(in)
					for _, x := range ix[first:end] {
						if x >= 0 {
							base = min(base, x)
						}
					}
					base = max(0, min(base, int32(in)-window))
					t.base = append(t.base, base)
					for lane := first; lane < end; lane++ {
						x := ix[lane] - base
						if ix[lane] < 0 || x >= window {
							continue
						}
						ix[lane] = -1
						mask |= 1 << lane
						left--
						put(&t, lane, int(at[lane]))
						k.setPerm(perm[lane*size:][:size], x, cell)
					}
				}
				t.mask = append(t.mask, mask)
			}
		}
	}
	t.start = append(t.start, int32(len(t.mask)))
	return t
}

// newPerm appends the permutation of an entry that has nothing yet, which is a sign where there are no masks.
func (t *laneTable) newPerm() []byte {
	n := len(t.perm)
	t.perm = append(t.perm, make([]byte, t.asm.bytes)...)
	if !t.asm.masks() {
		for i := range t.perm[n:] {
			t.perm[n+i] = 0x80
		}
	}
	return t.perm[n:]
}

// setPerm makes a lane take element x, of cell bytes, of its window. AVX2 permutes bytes or words of 32 bits.
func (k *tapAsm) setPerm(lane []byte, x int32, cell int) {
	switch {
	case !k.masks() && cell <= 2:
		for i := range cell {
			lane[i] = byte(int(x)*cell + i)
		}
	case !k.masks() && cell == 8:
		binary.LittleEndian.PutUint32(lane, uint32(2*x))
		binary.LittleEndian.PutUint32(lane[4:], uint32(2*x+1))
	case len(lane) == 2:
		binary.LittleEndian.PutUint16(lane, uint16(x))
	case len(lane) == 4:
		binary.LittleEndian.PutUint32(lane, uint32(x))
	default:
		binary.LittleEndian.PutUint64(lane, uint64(x))
	}
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
	perm, weight *byte
	k1, k2, last uint32
	_            uint32
	bits         int
	back         int // bytes by which the last block overlaps the one before
}

// run applies the table to rows rows of memory with out and in elements of size bytes; kind is the kernel. Row i comes
// from row pick[i] of src, or from row i without pick.
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
			c.blocks, c.start, c.last, c.back = e-b, &t.start[b], ones(t.lanes, t.lanes), 0
			if e == blocks {
				c.last, c.back = ones(out-(e-1)*t.lanes, t.lanes), (blocks*t.lanes-out)*size
			}
			if at := int(t.start[b]); at < len(t.mask) {
				c.base, c.mask, c.perm = &t.base[at*(len(t.base)/len(t.mask))], &t.mask[at], &t.perm[at*t.asm.bytes]
				if t.weight != nil {
					c.weight = &t.weight[at*t.asm.bytes]
				}
			}
			t.asm.lanes[kind][step/4](&c)
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
	return l.t.asm != nil && l.t.asm == tapsNow()
}

// LanesF32 applies l to each of rows rows. Sums begin with 0, and each product is added with one rounding.
func LanesF32(l *Lanes[float32], dst, src []float32, rows int) {
	if l.ready(len(dst), len(src), rows) {
		if rows > 0 && l.out > 0 {
			l.t.run(unsafe.Pointer(&dst[0]), unsafe.Pointer(unsafe.SliceData(src)), rows, nil, l.in, l.out, 4, 0,
				lanesF32)
		}
		return
	}
	lanesSlow(l, dst, src, rows, MulAddF32)
}

// LanesF64 is LanesF32 for float64.
func LanesF64(l *Lanes[float64], dst, src []float64, rows int) {
	if l.ready(len(dst), len(src), rows) {
		if rows > 0 && l.out > 0 {
			l.t.run(unsafe.Pointer(&dst[0]), unsafe.Pointer(unsafe.SliceData(src)), rows, nil, l.in, l.out, 8, 0,
				lanesF64)
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
			l.t.run(unsafe.Pointer(&dst[0]), unsafe.Pointer(unsafe.SliceData(src)), rows, nil, l.in, l.out, 1, bits,
				lanesU8)
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
	if size <= 8 {
		lane := size
		if TapBytes() == 64 {
			lane = max(lane, 2) // bytes are permuted as words
		}
		p.t = newLaneTable(lane, 1, size, in, len(index), 1, index, func(*laneTable, int, int) {})
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
	if p.t.asm != nil && p.t.asm == tapsNow() {
		p.t.run(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), len(rows), rows, p.in, out, size, 0,
			lanesPick1+bits.TrailingZeros(uint(size)))
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
	k := tapsNow()
	if k == nil || size > work || size < 4 && !k.masks() {
		for i, x := range index {
			copy(dst[i*size:][:size], src[int(x)*size:])
		}
		return
	}
	step := max(1, work/max(size, 16))
	for i := 0; i < len(index); i += step {
		m := min(step, len(index)-i)
		k.pickRows(unsafe.Pointer(&dst[i*size]), unsafe.Pointer(&src[0]), &index[i], m, size)
		preemptible(0)
	}
}

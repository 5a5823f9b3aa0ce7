package fft

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// Kind is what the numbers of a transform are.
type Kind uint8

// The kinds of transforms.
const (
	ComplexToComplex Kind = iota
	RealToComplex         // N real numbers to N/2+1 complex ones, the first half of the transform
	ComplexToReal         // N/2+1 complex numbers, the first half of a transform, to N real ones
)

// A Job transforms the lines of an array along one axis. Strides count numbers of type E: a complex number has two.
type Job[E Float] struct {
	Kind             Kind
	N                int // length of the transform
	Inverse          bool
	Scale            float64 // factor of the results
	Src, Dst         []E     // from the first element on; they may be the same memory
	SrcStep, DstStep int     // from one element of a line to the next
	Shape            []int   // the other axes
	SrcStride        []int
	DstStride        []int
}

// tileBytes is the size that the planes of a task stay below where the number of lines allows it: they should stay in
// the second-level cache.
const tileBytes = 512 << 10

// shortTile is the number of elements of the tiles of short lines: calls on fewer would take longer than what they do,
// and the planes of more do not stay in the first-level cache.
const shortTile = 2048

// halfTile is the number of elements from which on two tiles are worth a second thread.
const halfTile = 8192

// longBytes is the size of a column of a tile from which on lines do not share tiles, which would be too large.
const longBytes = 1 << 20

// Run does the transforms, on several threads where that pays.
func (j *Job[E]) Run() {
	count := 1
	for _, n := range j.Shape {
		count *= n
	}
	if count == 0 || j.N == 0 {
		return
	}
	t := &task[E]{Job: *j, n: j.N}
	t.half = j.Kind != ComplexToComplex && j.N%2 == 0
	if t.half {
		t.n, t.roots = j.N/2, realRoots[E](j.N)
	}
	size := 4 * (t.n + 1) * int(unsafe.Sizeof(E(0)))
	lane := t.lane()
	if lane < 0 || t.Shape[lane] < lanes[E]()/4 || t.rowsFirst(lane) && t.alone() || size > longBytes {
		t.plan, t.s, t.width = forLine[E](t.n), 1, 1
	} else {
		t.plan = forTiles[E](t.n)
		t.s = min(tileBytes/size, max(64, shortTile/t.n), t.Shape[lane])
		t.s = max(t.s&^(lanes[E]()-1), lanes[E]())
		if half := pad[E]((t.Shape[lane] + 1) / 2); len(t.Shape) == 1 && half < t.s && t.n*half >= halfTile &&
			par.NumThreads() > 1 {
			t.s = half // two tasks rather than one
		}
		t.width = t.s
		t.takeOut(lane)
	}
	strips := (t.lines + t.width - 1) / t.width
	tasks := strips
	for _, n := range t.Shape {
		tasks *= n
	}
	// A task takes about 5·n·log2(n) operations for each line; threads take pieces of some ten microseconds.
	grain := max(1, 1<<14/(t.n*t.s))
	par.For(tasks, grain, func(lo, hi int) {
		room := pad[E](max(t.plan.room(max(t.s, lanes[E]())), (t.n+2)*t.s))
		b := borrow[E](t.parts() * room)
		defer giveBack(b)
		for i := lo; i < hi; i++ {
			t.do(b, room, i/strips, i%strips)
		}
	})
}

// A task is a Job with what its parts have in common.
type task[E Float] struct {
	Job[E]
	n     int // length of the complex transform
	half  bool
	roots planes[E]
	plan  *Plan[E]
	s     int // columns of a tile, 1 for lines
	width int // lines of a tile

	lines            int // along the axis whose lines share tiles
	srcLane, dstLane int
}

// lane chooses the axis whose lines share tiles: the one with the smallest strides; -1 where there is none.
func (t *task[E]) lane() int {
	t.lines = 1
	best := -1
	for i, n := range t.Shape {
		if n > 1 && (best < 0 || t.SrcStride[i] < t.SrcStride[best]) {
			best = i
		}
	}
	return best
}

// rowsFirst reports that the elements of a line lie closer together than those of different lines.
func (t *task[E]) rowsFirst(lane int) bool { return t.SrcStep < t.SrcStride[lane] }

// alone reports lengths of which each line is better a tile of its own than one of several in a tile: long ones, those
// without padding from a quarter of that on.
func (t *task[E]) alone() bool {
	const long, dense = 2048, 512
	if t.n < dense {
		return false
	}
	if t.n >= long || !smooth(t.n) {
		return true
	}
	f := forLine[E](t.n).line
	return f != nil && f.ld1 == f.n2 && f.ld2 == f.n1
}

// takeOut removes the axis whose lines share tiles from the others.
func (t *task[E]) takeOut(lane int) {
	t.lines, t.srcLane, t.dstLane = t.Shape[lane], t.SrcStride[lane], t.DstStride[lane]
	without := func(l []int) []int { return append(append([]int{}, l[:lane]...), l[lane+1:]...) }
	t.Shape, t.SrcStride, t.DstStride = without(t.Shape), without(t.SrcStride), without(t.DstStride)
}

// parts is the number of planes that a tile needs: two pairs, and a third one for what moves or turns lines.
func (t *task[E]) parts() int {
	if t.s == 1 && !t.half {
		return 4
	}
	return 6
}

// do transforms the lines of one tile.
func (t *task[E]) do(b *scratch[E], room, outer, strip int) {
	src, dst := strip*t.width*t.srcLane, strip*t.width*t.dstLane
	for i := len(t.Shape) - 1; i >= 0; i-- {
		k := outer % t.Shape[i]
		outer /= t.Shape[i]
		src += k * t.SrcStride[i]
		dst += k * t.DstStride[i]
	}
	m := mover[E]{s: t.s, lanes: min(t.width, t.lines-strip*t.width)}
	if t.parts() > 4 {
		m.tmp, m.both = b.planes(4*room, room), b.data[4*room:][:2*room]
	}
	x, y := b.planes(0, room), b.planes(2*room, room)
	in, out := t.Src[src:], t.Dst[dst:]
	var z planes[E]
	switch t.Kind {
	case ComplexToComplex:
		if f := t.inStrips(); f != nil && t.SrcStep == 2 && t.DstStep == 2 {
			f.inStrips(series[E]{pairs: in, swap: t.Inverse}, series[E]{pairs: out, swap: t.Inverse}, y, t.Scale)
			return
		}
		m.loadComplex(x, in, t.n, t.SrcStep, t.srcLane)
		if t.Inverse {
			x, y = x.swapped(), y.swapped()
		}
		z = t.compute(x, y)
		if t.Inverse {
			z = z.swapped()
		}
		m.scale(z, t.n, t.Scale)
		m.storeComplex(out, z, t.n, t.DstStep, t.dstLane)
	case RealToComplex:
		if !t.half {
			m.loadReal(x.re, in, t.n, t.SrcStep, t.srcLane)
			clear(x.im[:t.n*t.s])
			z = t.compute(x, y)
		} else {
			if f := t.inStrips(); f != nil && t.SrcStep == 1 {
				f.inStrips(series[E]{pairs: in}, series[E]{planes: x}, y, 1)
				z = x
			} else {
				m.loadPairs(x, in, t.n, t.SrcStep, t.srcLane)
				z = t.compute(x, y)
			}
			o := x
			if &z.re[0] == &x.re[0] {
				o = y
			}
			unfold(o, z, t.roots, m.tmp, t.n, t.s)
			z = o
		}
		if t.Inverse {
			neg(z.im[:(t.N/2+1)*t.s])
		}
		m.scale(z, t.N/2+1, t.Scale)
		m.storeComplex(out, z, t.N/2+1, t.DstStep, t.dstLane)
	case ComplexToReal:
		rows := t.N/2 + 1
		m.loadComplex(x, in, rows, t.SrcStep, t.srcLane)
		if !t.Inverse {
			neg(x.im[:rows*t.s])
		}
		if !t.half {
			s := t.s
			clear(x.im[:s])
			for k := 1; k < rows; k++ {
				copy(x.re[(t.n-k)*s:][:s], x.re[k*s:])
				a, b := x.im[(t.n-k)*s:][:s], x.im[k*s:][:s]
				for q := range a {
					a[q] = -b[q]
				}
			}
			z = t.compute(x.swapped(), y.swapped()).swapped()
			m.scale(z, t.n, t.Scale)
			m.storeReal(out, z.re, t.n, t.DstStep, t.dstLane)
			return
		}
		fold(y, x, t.roots, m.tmp, t.n, t.s)
		if f := t.inStrips(); f != nil && t.DstStep == 1 {
			f.inStrips(series[E]{planes: y.swapped()}, series[E]{pairs: out, swap: true}, x, t.Scale)
			return
		}
		z = t.compute(y.swapped(), x.swapped()).swapped()
		m.scale(z, t.n, t.Scale)
		m.storePairs(out, z, t.n, t.DstStep, t.dstLane)
	}
}

// inStrips is the plan of a single line that goes in strips, else nil.
func (t *task[E]) inStrips() *fourStep[E] {
	if t.s != 1 || t.plan.line == nil || t.plan.line.strip == 0 {
		return nil
	}
	return t.plan.line
}

// compute transforms the tile or the line x; y is as large.
func (t *task[E]) compute(x, y planes[E]) planes[E] {
	if t.s == 1 {
		return t.plan.transform(x, y)
	}
	return t.plan.tile(x, y, t.s)
}

func neg[E Float](x []E) {
	for i, v := range x {
		x[i] = -v
	}
}

// A mover moves tiles of s columns, of which the first lanes are used, between planes and memory.
type mover[E Float] struct {
	s, lanes int
	tmp      planes[E]
	both     []E // the memory of tmp
}

// shortLine is the length up to which complex lines that lie one after the other are transposed as pairs of their
// parts, all of a tile at once. A call for each line would take longer for these than what it does.
const shortLine = 32

// rowsAhead is how many rows ahead of their use pieces of rows are fetched that are too short for the processor to find
// out where the next one lies.
const rowsAhead = 8

// pairsOf is complex lines of float32 as one word for each number, nil where that is not possible.
func (m *mover[E]) pairsOf(line []E, rows, lane int) []uint64 {
	if l, ok := any(line).([]float32); ok && rows <= shortLine && lane%2 == 0 {
		return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(l))), len(l)/2)
	}
	return nil
}

// scale multiplies rows by a factor.
func (m *mover[E]) scale(x planes[E], rows int, factor float64) {
	if factor == 1 {
		return
	}
	for _, p := range [2][]E{x.re[:rows*m.s], x.im[:rows*m.s]} {
		switch p := any(p).(type) {
		case []float32:
			vec.MulScalarF32(p, p, float32(factor))
		case []float64:
			vec.MulScalarF64(p, p, factor)
		}
	}
}

// clear clears the unused columns of a plane of some rows, whose values would else be anything.
func (m *mover[E]) clear(p []E, rows int) {
	if m.lanes < m.s {
		for k := range rows {
			clear(p[k*m.s:][m.lanes:m.s])
		}
	}
}

// groups calls f for a few lines at a time, n from line l on, whose numbers stay in the cache nearby between two steps.
// Between a line and the next one are ld numbers: more than there are rows, which otherwise compete for cache sets.
func (m *mover[E]) groups(rows int, f func(l, n, ld int)) {
	const few = 16
	ld := rows + lanes[E]()
	if few*ld > len(m.tmp.re) {
		ld = rows
	}
	for l := 0; l < m.lanes; l += few {
		f(l, min(few, m.lanes-l), ld)
	}
}

func (m *mover[E]) loadComplex(x planes[E], src []E, rows, step, lane int) {
	s := m.s
	switch {
	case s == 1 && step == 2:
		vec.Deinterleave(x.re[:rows], x.im[:rows], src[:2*rows])
	case s > 1 && lane == 2:
		for k := range rows {
			if next := k + rowsAhead; next < rows {
				vec.PrefetchRow(src[next*step:][:2*m.lanes])
			}
			vec.Deinterleave(x.re[k*s:][:m.lanes], x.im[k*s:][:m.lanes], src[k*step:][:2*m.lanes])
		}
	case s > 1 && step == 2:
		if pairs := m.pairsOf(src, rows, lane); pairs != nil {
			all := m.both[:2*rows*s]
			vec.Transpose64(m.pairsOf(all, rows, 0), s, pairs, lane/2, m.lanes, rows)
			vec.Deinterleave(x.re[:rows*s], x.im[:rows*s], all)
			break
		}
		m.groups(rows, func(l, n, ld int) {
			for i := range n {
				vec.Deinterleave(m.tmp.re[i*ld:][:rows], m.tmp.im[i*ld:][:rows], src[(l+i)*lane:][:2*rows])
			}
			transpose(x.re[l:], s, m.tmp.re, ld, n, rows)
			transpose(x.im[l:], s, m.tmp.im, ld, n, rows)
		})
	default:
		for k := range rows {
			at := k * step
			for l := range m.lanes {
				x.re[k*s+l], x.im[k*s+l] = src[at], src[at+1]
				at += lane
			}
		}
	}
	m.clear(x.re, rows)
	m.clear(x.im, rows)
}

func (m *mover[E]) storeComplex(dst []E, x planes[E], rows, step, lane int) {
	s := m.s
	switch {
	case s == 1 && step == 2:
		vec.Interleave(dst[:2*rows], x.re[:rows], x.im[:rows])
	case s > 1 && lane == 2:
		for k := range rows {
			vec.Interleave(dst[k*step:][:2*m.lanes], x.re[k*s:][:m.lanes], x.im[k*s:][:m.lanes])
		}
	case s > 1 && step == 2:
		if pairs := m.pairsOf(dst, rows, lane); pairs != nil {
			all := m.both[:2*rows*s]
			vec.Interleave(all, x.re[:rows*s], x.im[:rows*s])
			vec.Transpose64(pairs, lane/2, m.pairsOf(all, rows, 0), s, rows, m.lanes)
			break
		}
		m.groups(rows, func(l, n, ld int) {
			transpose(m.tmp.re, ld, x.re[l:], s, rows, n)
			transpose(m.tmp.im, ld, x.im[l:], s, rows, n)
			for i := range n {
				vec.Interleave(dst[(l+i)*lane:][:2*rows], m.tmp.re[i*ld:][:rows], m.tmp.im[i*ld:][:rows])
			}
		})
	default:
		for k := range rows {
			at := k * step
			for l := range m.lanes {
				dst[at], dst[at+1] = x.re[k*s+l], x.im[k*s+l]
				at += lane
			}
		}
	}
}

func (m *mover[E]) loadReal(x, src []E, rows, step, lane int) {
	s := m.s
	switch {
	case s == 1 && step == 1:
		copy(x[:rows], src)
	case s > 1 && lane == 1:
		for k := range rows {
			copy(x[k*s:][:m.lanes], src[k*step:])
		}
	case s > 1 && step == 1:
		transpose(x, s, src, lane, m.lanes, rows)
	default:
		for k := range rows {
			at := k * step
			for l := range m.lanes {
				x[k*s+l] = src[at]
				at += lane
			}
		}
	}
	m.clear(x, rows)
}

func (m *mover[E]) storeReal(dst, x []E, rows, step, lane int) {
	s := m.s
	switch {
	case s == 1 && step == 1:
		copy(dst[:rows], x)
	case s > 1 && lane == 1:
		for k := range rows {
			copy(dst[k*step:][:m.lanes], x[k*s:])
		}
	case s > 1 && step == 1:
		transpose(dst, lane, x, s, rows, m.lanes)
	default:
		for k := range rows {
			at := k * step
			for l := range m.lanes {
				dst[at] = x[k*s+l]
				at += lane
			}
		}
	}
}

// loadPairs loads elements 2k and 2k+1 of real lines as the parts of row k.
func (m *mover[E]) loadPairs(x planes[E], src []E, rows, step, lane int) {
	if step == 1 {
		m.loadComplex(x, src, rows, 2, lane)
		return
	}
	m.loadReal(x.re, src, rows, 2*step, lane)
	m.loadReal(x.im, src[step:], rows, 2*step, lane)
}

func (m *mover[E]) storePairs(dst []E, x planes[E], rows, step, lane int) {
	if step == 1 {
		m.storeComplex(dst, x, rows, 2, lane)
		return
	}
	m.storeReal(dst, x.re, rows, 2*step, lane)
	m.storeReal(dst[step:], x.im, rows, 2*step, lane)
}

// Mirror sets element n-k of lines of complex numbers to the conjugate of element k, for 0 < k < n/2. Strides count
// numbers of type E.
func Mirror[E Float](m []E, n, step int, shape, stride []int) {
	lines := 1
	for _, s := range shape {
		lines *= s
	}
	par.For(lines, max(1, 1<<14/n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at := 0
			for d, rest := len(shape)-1, i; d >= 0; d-- {
				at += rest % shape[d] * stride[d]
				rest /= shape[d]
			}
			if step == 2 {
				half := (n - 1) / 2
				conjugateReversed(m[at+2*(n-half):][:2*half], m[at+2:])
				continue
			}
			for k := 1; k < (n+1)/2; k++ {
				a, b := at+k*step, at+(n-k)*step
				m[b], m[b+1] = m[a], -m[a+1]
			}
		}
	})
}

// conjugateReversed sets dst to the conjugates of as many complex numbers, in reverse order.
func conjugateReversed[E Float](dst, src []E) {
	n := len(dst) / 2
	if n == 0 {
		return
	}
	_ = src[2*n-1]
	size := 2 * int(unsafe.Sizeof(E(0)))
	vec.ReverseRows(unsafe.Pointer(&dst[0]), n*size, unsafe.Pointer(&src[0]), n*size, 1, n, size)
	if size == 8 { // the sign of the upper half of a word
		for words := unsafe.Slice((*uint64)(unsafe.Pointer(&dst[0])), n); len(words) > 0; {
			k := min(len(words), len(signs))
			b := bytesOf(words[:k])
			vec.XorU8(b, b, bytesOf(signs[:]))
			words = words[k:]
		}
		return
	}
	for i := 1; i < len(dst); i += 2 {
		dst[i] = -dst[i]
	}
}

// signs are the signs of the imaginary parts of a run of complex numbers of float32.
var signs = func() (s [128]uint64) {
	for i := range s {
		s[i] = 1 << 63
	}
	return s
}()

func bytesOf(words []uint64) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

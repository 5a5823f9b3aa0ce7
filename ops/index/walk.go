package index

import (
	"slices"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// along describes a walk over an index: each of its places names an entry of big along one dimension, at the place
// itself in the other dimensions, and has an element of small.
type along struct {
	x               []int64 // the index
	shape           []int   // of the index
	dim             int     // the dimension that the index counts in, -1 when it has one place there
	n, sd           int     // its size and its stride in big
	big, small, idx []int   // strides by the dimensions of shape; big's are 0 at dim
}

// run is a row of a walk: n places, the first one at big, small and ix, and the steps from one to the next (that in big
// comes on top of what the index says).
type run struct {
	big, small, ix, n         int
	step, smallStep, indexing int
}

const (
	walkTask = 1 << 15 // about how many places a task of a walk has
	walkFew  = 1 << 13 // places that are not shared out
	walkRow  = 32      // places of a row that makes up for going through the rows of another task
	walkLong = 512     // and through those of several
)

// newAlong describes the walk over the index ix along dimension d of a tensor with the given strides.
func newAlong(ix *T, d, n int, big, small []int) *along {
	a := &along{shape: slices.Clone(ix.Shape()), dim: d, n: n, big: slices.Clone(atLeast1(big)),
		small: slices.Clone(small)}
	if ix.DType() == tensor.Int64 { // expanded and transposed ones are walked as they are
		a.x, a.idx = raw[int64](ix), slices.Clone(ix.Strides())
	} else {
		a.x, a.idx = longs(ix), strideOf(ix.Shape())
	}
	return a.ready()
}

// ready fills in what follows from the rest.
func (a *along) ready() *along {
	if len(a.shape) == 0 {
		a.shape, a.idx = []int{1}, []int{0}
	}
	for len(a.small) < len(a.shape) { // a 0-d tensor, or a number that goes to all places
		a.small = append(a.small, 0)
	}
	a.sd = a.big[a.dim]
	a.big[a.dim] = 0
	a.simplify()
	return a
}

// simplify leaves out dimensions of one place, merges neighbours that all sides walk as one, and puts a long dimension
// innermost. (Places of one element of big keep their order, however the other dimensions are ordered.)
func (a *along) simplify() {
	k, dim := 0, -1
	for d, s := range a.shape {
		if s == 1 {
			continue
		}
		if j := k - 1; k > 0 && d != a.dim && j != dim && a.big[j] == a.big[d]*s && a.small[j] == a.small[d]*s &&
			a.idx[j] == a.idx[d]*s {
			a.shape[j], a.big[j], a.small[j], a.idx[j] = a.shape[j]*s, a.big[d], a.small[d], a.idx[d]
			continue
		}
		if d == a.dim {
			dim = k
		}
		a.shape[k], a.big[k], a.small[k], a.idx[k] = s, a.big[d], a.small[d], a.idx[d]
		k++
	}
	if k == 0 {
		a.shape[0], k = 1, 1
	}
	a.shape, a.big, a.small, a.idx, a.dim = a.shape[:k], a.big[:k], a.small[:k], a.idx[:k], dim
	if last := k - 1; a.shape[last] < 8 {
		for d, s := range a.shape {
			if s >= 4*a.shape[last] && s >= 8 {
				for _, l := range [][]int{a.shape, a.big, a.small, a.idx} {
					l[d], l[last] = l[last], l[d]
				}
				switch a.dim {
				case d:
					a.dim = last
				case last:
					a.dim = d
				}
				break
			}
		}
	}
}

// run calls f for all rows and reports whether f did so every time; it stops at the first that f refuses. Tasks have
// parts of one dimension, which is any of them when only small is written, and else one in which big has places of its
// own.
func (a *along) run(readsBig bool, f func(r *run) bool) bool {
	total := numel(a.shape)
	if total == 0 {
		return true
	}
	cut, want := -1, (total+walkTask-1)/walkTask
	for d, s := range a.shape {
		if !readsBig && (d == a.dim || a.big[d] == 0) {
			continue
		}
		if cut < 0 || s > a.shape[cut] && a.shape[cut] < min(want, 16) {
			cut = d
		}
	}
	threads := par.NumThreads()
	if cut < 0 || total <= walkFew || threads == 1 {
		return a.part(0, 0, a.shape[0], f)
	}
	// No place is written by two tasks, so their number may depend on the threads; parts of rows cost more than rows.
	tasks := max(min(want, 4*threads), threads)
	var bad atomic.Bool
	last := len(a.shape) - 1
	if cut == last && !readsBig && a.idx[last] == 0 && a.shape[last] >= walkRow {
		// Each task takes the rows that go to its part of big: those are whole, and longer than parts of all rows.
		if a.shape[last] < walkLong {
			tasks = threads
		}
		par.For(a.n, (a.n+tasks-1)/tasks, func(lo, hi int) {
			mine := func(r *run) bool {
				i := int(a.x[r.ix])
				return (i < lo && lo > 0 || i >= hi && hi < a.n) || f(r)
			}
			if !a.part(0, 0, a.shape[0], mine) {
				bad.Store(true)
			}
		})
		return !bad.Load()
	}
	per := (a.shape[cut] + tasks - 1) / tasks
	if cut == last {
		per = max(per, 128)
	}
	par.For(a.shape[cut], per, func(lo, hi int) {
		if !bad.Load() && !a.part(cut, lo, hi, f) {
			bad.Store(true)
		}
	})
	return !bad.Load()
}

// part walks the places from lo to hi in dimension cut.
func (a *along) part(cut, lo, hi int, f func(r *run) bool) bool {
	last := len(a.shape) - 1
	r := &run{n: a.shape[last], step: a.big[last], smallStep: a.small[last], indexing: a.idx[last]}
	r.big, r.small, r.ix = lo*a.big[cut], lo*a.small[cut], lo*a.idx[cut]
	shape := a.shape
	if hi-lo < shape[cut] {
		shape = slices.Clone(shape)
		shape[cut] = hi - lo
		r.n = shape[last]
	}
	pos := make([]int, last)
	for {
		if !f(r) {
			return false
		}
		d := last - 1
		for ; d >= 0; d-- {
			pos[d]++
			r.big, r.small, r.ix = r.big+a.big[d], r.small+a.small[d], r.ix+a.idx[d]
			if pos[d] < shape[d] {
				break
			}
			r.big, r.small, r.ix = r.big-pos[d]*a.big[d], r.small-pos[d]*a.small[d], r.ix-pos[d]*a.idx[d]
			pos[d] = 0
		}
		if d < 0 {
			return true
		}
	}
}

// plain reports that the row's index has an element for each place, small is contiguous, and big's places are
// neighbours.
func (a *along) plain(r *run) bool {
	return r.indexing == 1 && r.smallStep == 1 && r.step == 0 && a.sd == 1
}

// constant gives the one index of a row; false when it is out of range.
func (a *along) constant(r *run) (i int, ok bool) {
	x := a.x[r.ix]
	return int(x) * a.sd, uint64(x) < uint64(a.n)
}

// The functions below are what walks do; they return false when an index is out of range.

// gatherRun copies from big to small.
func gatherRun[E moved](a *along, r *run, dst, src []E) bool {
	switch {
	case a.plain(r):
		s, x, d := src[r.big:][:a.n], a.x[r.ix:][:r.n], dst[r.small:][:r.n]
		for j, i := range x {
			if uint64(i) >= uint64(len(s)) {
				return false
			}
			d[j] = s[i]
		}
	case r.indexing == 1 && r.smallStep == 1:
		s, x, d := src[r.big:], a.x[r.ix:][:r.n], dst[r.small:][:r.n]
		n, sd, step, p := uint64(a.n), a.sd, r.step, 0
		for j, i := range x {
			if uint64(i) >= n {
				return false
			}
			d[j] = s[p+int(i)*sd]
			p += step
		}
	case r.indexing == 0:
		i, ok := a.constant(r)
		if !ok {
			return false
		}
		moveRun(dst[r.small:], src[r.big+i:], r.n, r.smallStep, r.step)
	default:
		p, q, k := r.big, r.small, r.ix
		for range r.n {
			i := a.x[k]
			if uint64(i) >= uint64(a.n) {
				return false
			}
			dst[q] = src[p+int(i)*a.sd]
			p, q, k = p+r.step, q+r.smallStep, k+r.indexing
		}
	}
	return true
}

// scatterRun copies from small to big.
func scatterRun[E moved](a *along, r *run, dst, src []E) bool {
	switch {
	case a.plain(r):
		d, x, s := dst[r.big:][:a.n], a.x[r.ix:][:r.n], src[r.small:][:r.n]
		for j, i := range x {
			if uint64(i) >= uint64(len(d)) {
				return false
			}
			d[i] = s[j]
		}
	case r.indexing == 1 && r.smallStep == 1:
		d, x, s := dst[r.big:], a.x[r.ix:][:r.n], src[r.small:][:r.n]
		n, sd, step, p := uint64(a.n), a.sd, r.step, 0
		for j, i := range x {
			if uint64(i) >= n {
				return false
			}
			d[p+int(i)*sd] = s[j]
			p += step
		}
	case r.indexing == 0:
		i, ok := a.constant(r)
		if !ok {
			return false
		}
		moveRun(dst[r.big+i:], src[r.small:], r.n, r.step, r.smallStep)
	default:
		p, q, k := r.big, r.small, r.ix
		for range r.n {
			i := a.x[k]
			if uint64(i) >= uint64(a.n) {
				return false
			}
			dst[p+int(i)*a.sd] = src[q]
			p, q, k = p+r.step, q+r.smallStep, k+r.indexing
		}
	}
	return true
}

// moveRun copies n elements that lie any distance apart.
func moveRun[E moved](dst, src []E, n, ds, ss int) {
	if ds == 1 && ss == 1 {
		copy(dst[:n], src)
		return
	}
	if ds == 1 && ss == 0 {
		d, v := dst[:n], src[0]
		for j := range d {
			d[j] = v
		}
		return
	}
	for j := range n {
		dst[j*ds] = src[j*ss]
	}
}

// addRun adds small to big.
func addRun[E number](a *along, r *run, dst, src []E) bool {
	switch {
	case a.plain(r):
		d, x, s := dst[r.big:][:a.n], a.x[r.ix:][:r.n], src[r.small:][:r.n]
		for j, i := range x {
			if uint64(i) >= uint64(len(d)) {
				return false
			}
			d[i] += s[j]
		}
	case r.indexing == 1 && r.smallStep == 1:
		d, x, s := dst[r.big:], a.x[r.ix:][:r.n], src[r.small:][:r.n]
		n, sd, step, p := uint64(a.n), a.sd, r.step, 0
		for j, i := range x {
			if uint64(i) >= n {
				return false
			}
			d[p+int(i)*sd] += s[j]
			p += step
		}
	case r.indexing == 0 && r.step == 1 && r.smallStep == 1:
		i, ok := a.constant(r)
		if !ok {
			return false
		}
		addTo(dst[r.big+i:][:r.n], src[r.small:][:r.n])
	default:
		p, q, k := r.big, r.small, r.ix
		for range r.n {
			i := a.x[k]
			if uint64(i) >= uint64(a.n) {
				return false
			}
			dst[p+int(i)*a.sd] += src[q]
			p, q, k = p+r.step, q+r.smallStep, k+r.indexing
		}
	}
	return true
}

// mulRun multiplies big by small.
func mulRun[E number](a *along, r *run, dst, src []E) bool {
	if r.indexing == 0 && r.step == 1 && r.smallStep == 1 {
		i, ok := a.constant(r)
		if !ok {
			return false
		}
		mulTo(dst[r.big+i:][:r.n], src[r.small:][:r.n])
		return true
	}
	if a.plain(r) {
		d, x, s := dst[r.big:][:a.n], a.x[r.ix:][:r.n], src[r.small:][:r.n]
		for j, i := range x {
			if uint64(i) >= uint64(len(d)) {
				return false
			}
			d[i] *= s[j]
		}
		return true
	}
	if r.indexing == 1 && r.smallStep == 1 {
		d, x, s := dst[r.big:], a.x[r.ix:][:r.n], src[r.small:][:r.n]
		n, sd, step, p := uint64(a.n), a.sd, r.step, 0
		for j, i := range x {
			if uint64(i) >= n {
				return false
			}
			d[p+int(i)*sd] *= s[j]
			p += step
		}
		return true
	}
	p, q, k := r.big, r.small, r.ix
	for range r.n {
		i := a.x[k]
		if uint64(i) >= uint64(a.n) {
			return false
		}
		dst[p+int(i)*a.sd] *= src[q]
		p, q, k = p+r.step, q+r.smallStep, k+r.indexing
	}
	return true
}

// extremeRun takes the larger or the smaller one. NaN wins.
func extremeRun[E int32 | int64 | float32 | float64](a *along, r *run, dst, src []E, least bool) bool {
	if E(1)/2 == 0 && a.plain(r) {
		d, x, s := dst[r.big:][:a.n], a.x[r.ix:][:r.n], src[r.small:][:r.n]
		flip := E(0) // for the smaller one, that of the inverted numbers
		if least {
			flip--
		}
		for j, i := range x {
			if uint64(i) >= uint64(len(d)) {
				return false
			}
			d[i] = E(max(int64(d[i])^int64(flip), int64(s[j])^int64(flip)) ^ int64(flip))
		}
		return true
	}
	if r.indexing == 0 && r.step == 1 && r.smallStep == 1 {
		i, ok := a.constant(r)
		if !ok {
			return false
		}
		extremeTo(dst[r.big+i:][:r.n], src[r.small:][:r.n], least)
		return true
	}
	if r.indexing == 1 && r.smallStep == 1 {
		d, x, s := dst[r.big:], a.x[r.ix:][:r.n], src[r.small:][:r.n]
		n, sd, step, p := uint64(a.n), a.sd, r.step, 0
		for j, i := range x {
			if uint64(i) >= n {
				return false
			}
			e := &d[p+int(i)*sd]
			if least { // as below
				*e = min(*e, s[j])
			} else {
				*e = max(*e, s[j])
			}
			p += step
		}
		return true
	}
	p, q, k := r.big, r.small, r.ix
	for range r.n {
		i := a.x[k]
		if uint64(i) >= uint64(a.n) {
			return false
		}
		d, s := &dst[p+int(i)*a.sd], src[q]
		p, q, k = p+r.step, q+r.smallStep, k+r.indexing
		if least { // the same for all; which one is larger could not be predicted, and takes no branch
			*d = min(*d, s)
		} else {
			*d = max(*d, s)
		}
	}
	return true
}

// extremeTo, addTo and mulTo combine contiguous rows.
func extremeTo[E int32 | int64 | float32 | float64](d, s []E, least bool) {
	switch x := any(d).(type) {
	case []float32:
		op.Pick(least, vec.MinimumF32, vec.MaximumF32)(x, x, any(s).([]float32))
	case []float64:
		op.Pick(least, vec.MinimumF64, vec.MaximumF64)(x, x, any(s).([]float64))
	case []int32:
		op.Pick(least, vec.MinInt[int32], vec.MaxInt[int32])(x, x, any(s).([]int32))
	case []int64:
		op.Pick(least, vec.MinInt[int64], vec.MaxInt[int64])(x, x, any(s).([]int64))
	}
}

func addTo[E number](d, s []E) {
	switch x := any(d).(type) {
	case []float32:
		vec.AddF32(x, x, any(s).([]float32))
	case []float64:
		vec.AddF64(x, x, any(s).([]float64))
	case []int32:
		vec.AddInt(x, x, any(s).([]int32))
	case []int64:
		vec.AddInt(x, x, any(s).([]int64))
	default:
		for j, v := range s[:len(d)] {
			d[j] += v
		}
	}
}

func mulTo[E number](d, s []E) {
	switch x := any(d).(type) {
	case []float32:
		vec.MulF32(x, x, any(s).([]float32))
	case []float64:
		vec.MulF64(x, x, any(s).([]float64))
	case []int32:
		vec.MulInt(x, x, any(s).([]int32))
	case []int64:
		vec.MulInt(x, x, any(s).([]int64))
	default:
		for j, v := range s[:len(d)] {
			d[j] *= v
		}
	}
}

// gatherAlong, scatterAlong and reduceAlong do a whole walk with elements of any dtype.

func gatherAlong(a *along, dst, src *T) bool {
	switch dst.ElementSize() {
	case 1:
		return moveAlong(a, true, raw[uint8](dst), raw[uint8](src), gatherRun[uint8])
	case 2:
		return moveAlong(a, true, raw[uint16](dst), raw[uint16](src), gatherRun[uint16])
	case 4:
		return moveAlong(a, true, raw[uint32](dst), raw[uint32](src), gatherRun[uint32])
	case 8:
		return moveAlong(a, true, raw[uint64](dst), raw[uint64](src), gatherRun[uint64])
	}
	return moveAlong(a, true, raw[wide](dst), raw[wide](src), gatherRun[wide])
}

func scatterAlong(a *along, dst, src *T) bool {
	switch dst.ElementSize() {
	case 1:
		return moveAlong(a, false, raw[uint8](dst), raw[uint8](src), scatterRun[uint8])
	case 2:
		return moveAlong(a, false, raw[uint16](dst), raw[uint16](src), scatterRun[uint16])
	case 4:
		return moveAlong(a, false, raw[uint32](dst), raw[uint32](src), scatterRun[uint32])
	case 8:
		return moveAlong(a, false, raw[uint64](dst), raw[uint64](src), scatterRun[uint64])
	}
	return moveAlong(a, false, raw[wide](dst), raw[wide](src), scatterRun[wide])
}

func moveAlong[E any](a *along, readsBig bool, dst, src []E, f func(a *along, r *run, dst, src []E) bool) bool {
	return a.run(readsBig, func(r *run) bool { return f(a, r, dst, src) })
}

// addHalf adds src of 16-bit floats to dst of float32, if the walk is one over whole rows, and reports whether it is.
func addHalf(a *along, dst, src *T) bool {
	if !src.DType().IsReduced() || !a.wholeRows() {
		return false
	}
	add := vec.AccumulateF16ToF32
	if src.DType() == tensor.BFloat16 {
		add = vec.AccumulateBF16ToF32
	}
	to, from := raw[float32](dst), raw[uint16](src)
	return a.run(false, func(r *run) bool {
		i, ok := a.constant(r)
		if ok {
			add(to[r.big+i:][:r.n], from[r.small:][:r.n])
		}
		return ok
	})
}

// wholeRows reports that each index is that of a row, and rows have no gaps.
func (a *along) wholeRows() bool {
	last := len(a.shape) - 1
	return a.idx[last] == 0 && a.big[last] == 1 && a.small[last] == 1
}

// reduceAlong combines src into dst, which have a dtype of [computeType].
func reduceAlong(a *along, dst, src *T, how string) bool {
	switch dst.DType() {
	case tensor.Float32:
		return reduceReal(a, raw[float32](dst), raw[float32](src), how)
	case tensor.Float64:
		return reduceReal(a, raw[float64](dst), raw[float64](src), how)
	case tensor.Int32:
		return reduceReal(a, raw[int32](dst), raw[int32](src), how)
	case tensor.Int64:
		return reduceReal(a, raw[int64](dst), raw[int64](src), how)
	case tensor.Complex64:
		return reduceNumbers(a, raw[complex64](dst), raw[complex64](src), how)
	}
	return reduceNumbers(a, raw[complex128](dst), raw[complex128](src), how)
}

func reduceReal[E int32 | int64 | float32 | float64](a *along, dst, src []E, how string) bool {
	if how != "amax" && how != "amin" {
		return reduceNumbers(a, dst, src, how)
	}
	least := how == "amin"
	return a.run(false, func(r *run) bool { return extremeRun(a, r, dst, src, least) })
}

func reduceNumbers[E number](a *along, dst, src []E, how string) bool {
	if how == "prod" {
		return moveAlong(a, false, dst, src, mulRun[E])
	}
	return moveAlong(a, false, dst, src, addRun[E])
}

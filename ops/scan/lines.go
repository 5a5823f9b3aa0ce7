package scan

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// Running sums and products line by line. Each result waits for the one before it, so four lines, or four pieces of a
// long one whose beginnings are known from the totals of the pieces before them, go side by side.

type number interface {
	int64 | float32 | float64
}

const (
	// elements of a long line whose total is taken; no power of two, at which four pieces would share lines of the
	// cache
	piece = 61 * 64
	task  = 4 * piece  // elements of a task
	near  = 16 * piece // elements that are still in a cache when they are added up once more
	short = 20         // elements of a line that is over before the next one would wait
)

// cumLines is the running sum or product, kept in type A, of contiguous lines of n elements. A line goes in one piece
// where there is no function for the total of a block.
func cumLines[E, A number](src, dst []E, lines, n int, sum bool, total func(s []E) A) {
	one := op.Pick[A](sum, 0, 1)
	// Integers come out the same in one piece, and it saves a pass where there is nobody to share the work.
	if exact := A(1)/2 == 0; n < 2*task || total == nil || exact && par.NumThreads() == 1 {
		par.For(lines, max(4, task/n&^3), func(lo, hi int) {
			if n <= short {
				cumShort(dst[lo*n:hi*n], src[lo*n:hi*n], n, one, sum)
				return
			}
			cumChains(dst[lo*n:hi*n], src[lo*n:hi*n], hi-lo, n, n, 1, [4]A{one, one, one, one}, sum)
		})
		return
	}
	var begin [near / piece]A
	for l := range lines {
		acc := one
		for from := l * n; from < (l+1)*n; from += near {
			m := min(near, (l+1)*n-from)
			s, d := src[from:][:m], dst[from:][:m]
			par.For(m, piece, func(lo, hi int) { begin[lo/piece] = total(s[lo:hi]) })
			for i, t := range begin[:(m+piece-1)/piece] {
				begin[i] = acc
				if sum {
					acc += t
				} else {
					acc *= t
				}
			}
			par.For(m, task, func(lo, hi int) {
				chains, length := 1, hi-lo
				if length == task {
					chains, length = 4, piece
				}
				cumChains(d[lo:hi], s[lo:hi], chains, piece, length, 1, [4]A(begin[lo/piece:]), sum)
			})
		}
	}
}

// cumColumns is cumLines for the columns of matrices with few of them.
func cumColumns[E, A number](src, dst []E, matrices, n, columns int, sum bool) {
	one, size := op.Pick[A](sum, 0, 1), n*columns
	par.For(matrices, max(1, task/size), func(lo, hi int) {
		for at := lo * size; at < hi*size; at += size {
			cumChains(dst[at:][:size], src[at:][:size], columns, 1, n, columns, [4]A{one, one, one, one}, sum)
		}
	})
}

// cumChains goes through chains of n elements that lie step apart, four chains at a time, which begin with acc. Their
// first elements lie apart from each other.
func cumChains[E, A number](dst, src []E, chains, apart, n, step int, acc [4]A, sum bool) {
	size := int(unsafe.Sizeof(*new(E)))
	skip, end := step*size, n*step*size
	_, _ = dst[(chains-1)*apart+(n-1)*step], src[(chains-1)*apart+(n-1)*step]
	side := 4
	if A(1)/2 == 0 && sum && step == 1 && n >= 16 { // additions of integers do not wait
		side = 1
	}
	for c := 0; c < chains; c += side {
		last := min(side, chains-c) - 1
		if last == 0 && step == 1 {
			cumOne(dst[c*apart:][:n], src[c*apart:], acc[c&3], sum)
			continue
		}
		// where there are fewer than four, the last one goes several times
		to1, to2, to3 := min(1, last)*apart*size, min(2, last)*apart*size, last*apart*size
		s0, d0 := unsafe.Pointer(&src[c*apart]), unsafe.Pointer(&dst[c*apart])
		s1, s2, s3 := unsafe.Add(s0, to1), unsafe.Add(s0, to2), unsafe.Add(s0, to3)
		d1, d2, d3 := unsafe.Add(d0, to1), unsafe.Add(d0, to2), unsafe.Add(d0, to3)
		a0, a1, a2, a3 := acc[0], acc[1], acc[2], acc[3]
		if sum {
			for i := 0; i < end; i += skip {
				v0, v1, v2, v3 := *(*E)(unsafe.Add(s0, i)), *(*E)(unsafe.Add(s1, i)), *(*E)(unsafe.Add(s2, i)),
					*(*E)(unsafe.Add(s3, i))
				a0, a1, a2, a3 = a0+A(v0), a1+A(v1), a2+A(v2), a3+A(v3)
				*(*E)(unsafe.Add(d0, i)), *(*E)(unsafe.Add(d1, i)), *(*E)(unsafe.Add(d2, i)),
					*(*E)(unsafe.Add(d3, i)) = E(a0), E(a1), E(a2), E(a3)
			}
		} else {
			for i := 0; i < end; i += skip {
				v0, v1, v2, v3 := *(*E)(unsafe.Add(s0, i)), *(*E)(unsafe.Add(s1, i)), *(*E)(unsafe.Add(s2, i)),
					*(*E)(unsafe.Add(s3, i))
				a0, a1, a2, a3 = a0*A(v0), a1*A(v1), a2*A(v2), a3*A(v3)
				*(*E)(unsafe.Add(d0, i)), *(*E)(unsafe.Add(d1, i)), *(*E)(unsafe.Add(d2, i)),
					*(*E)(unsafe.Add(d3, i)) = E(a0), E(a1), E(a2), E(a3)
			}
		}
	}
}

// cumShort goes through lines of n elements one after the other.
func cumShort[E, A number](dst, src []E, n int, one A, sum bool) {
	src = src[:len(dst)]
	for at := 0; at < len(dst); at += n {
		acc := one
		if sum {
			for i := at; i < at+n; i++ {
				acc += A(src[i])
				dst[i] = E(acc)
			}
			continue
		}
		for i := at; i < at+n; i++ {
			acc *= A(src[i])
			dst[i] = E(acc)
		}
	}
}

func cumOne[E, A number](dst, src []E, acc A, sum bool) {
	src = src[:len(dst)]
	if sum {
		for i, v := range src {
			acc += A(v)
			dst[i] = E(acc)
		}
		return
	}
	for i, v := range src {
		acc *= A(v)
		dst[i] = E(acc)
	}
}

type ordered interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64
}

// extremum is the running maximum or minimum of one type: the last of equal ones, NaN once there is one.
type extremum[E ordered] struct {
	flip int64          // 0 for maxima, -1 for minima
	of   func(r, s []E) // sets r[0] to the extremum of a stretch
	fill func(s []E, v E)
}

// takes reports that v takes the place of the extremum so far.
func (k *extremum[E]) takes(v, best E) bool { return keyOf(v, k.flip) >= keyOf(best, k.flip) }

// keyOf is a number for each element: of two of them the later takes the place of the other unless its key is
// smaller. The order is turned where flip is -1.
func keyOf[E ordered](v E, flip int64) int64 {
	if E(1)/2 == 0 {
		return int64(v) ^ flip
	}
	var b int64
	if unsafe.Sizeof(v) == 4 {
		b = int64(int32(math.Float32bits(float32(v + 0)))) // -0 + 0 is 0
	} else {
		b = int64(math.Float64bits(float64(v + 0)))
	}
	b ^= int64(uint64(b>>63)>>1) ^ flip
	if v != v {
		b = math.MaxInt64
	}
	return b
}

// bitsOf and ofBits let the compiler choose between floats without a branch.
func bitsOf[E ordered](v E) int64 {
	switch {
	case E(1)/2 == 0:
		return int64(v)
	case unsafe.Sizeof(v) == 4:
		return int64(math.Float32bits(float32(v)))
	}
	return int64(math.Float64bits(float64(v)))
}

func ofBits[E ordered](b int64) E {
	switch {
	case E(1)/2 == 0:
		return E(b)
	case unsafe.Sizeof(*new(E)) == 4:
		return E(math.Float32frombits(uint32(b)))
	}
	return E(math.Float64frombits(uint64(b)))
}

// early is the number of elements from the beginning of a line of floats on whose extrema change too often to be
// predicted. Integers repeat them all along.
const early = 16

// chain goes from an extremum that stands at a position on, through elements the first of which has position pos. It
// gives the last extremum.
func (k *extremum[E]) chain(dst, src []E, ix []int64, step, pos int, best E, at int64) (E, int64) {
	if E(1)/2 == 0 {
		return chooseInts(dst, src, ix, step, pos, best, at, k.flip)
	}
	p := 0
	if pos == 0 {
		p = early * step
		best, at = chooseFloats(dst[:min(p, len(dst))], src, ix, step, best, k.flip)
		pos = early
	}
	src, ix = src[:len(dst)], ix[:len(dst)]
	if k.flip == 0 {
		for ; p < len(dst); p += step {
			if v := src[p]; !(v < best) && (best == best || v != v) {
				best, at = v, int64(pos)
			}
			dst[p], ix[p] = best, at
			pos++
		}
		return best, at
	}
	for ; p < len(dst); p += step {
		if v := src[p]; !(v > best) && (best == best || v != v) {
			best, at = v, int64(pos)
		}
		dst[p], ix[p] = best, at
		pos++
	}
	return best, at
}

// chooseInts is chain for integers without a branch on what they are.
func chooseInts[E ordered](dst, src []E, ix []int64, step, pos int, best E, at, flip int64) (E, int64) {
	src, ix = src[:len(dst)], ix[:len(dst)]
	top := int64(best) ^ flip
	if step == 1 {
		for i, e := range src {
			if v := int64(e) ^ flip; v >= top {
				top, at = v, int64(pos+i)
			}
			dst[i], ix[i] = E(top^flip), at
		}
		return E(top ^ flip), at
	}
	for p := 0; p < len(dst); p += step {
		if v := int64(src[p]) ^ flip; v >= top {
			top, at = v, int64(pos)
		}
		dst[p], ix[p] = E(top^flip), at
		pos++
	}
	return E(top ^ flip), at
}

// chooseFloats is chooseInts for floats from the beginning of a line.
func chooseFloats[E ordered](dst, src []E, ix []int64, step int, best E, flip int64) (E, int64) {
	src, ix = src[:len(dst)], ix[:len(dst)]
	var pos, at int64
	top, bits := keyOf(best, flip), bitsOf(best)
	for p := 0; p < len(dst); p += step {
		key, b := keyOf(src[p], flip), bitsOf(src[p])
		if key >= top {
			top, bits, at = key, b, pos
		}
		dst[p], ix[p] = ofBits[E](bits), at
		pos++
	}
	return ofBits[E](bits), at
}

// chooseRow is chooseFloats for one more element of each of many lines, given what stands there and the keys of it.
func chooseRow[E ordered](dst, src []E, ix []int64, last []E, lastAt, top []int64, pos, flip int64) {
	dst, src, ix, last, lastAt = dst[:len(top)], src[:len(top)], ix[:len(top)], last[:len(top)], lastAt[:len(top)]
	for j, best := range top {
		bits, at := bitsOf(last[j]), lastAt[j]
		key, b := keyOf(src[j], flip), bitsOf(src[j])
		if key >= best {
			best, bits, at = key, b, pos
		}
		top[j], dst[j], ix[j] = best, ofBits[E](bits), at
	}
}

// predictRow is chooseRow where extrema change so rarely that a branch is best.
func predictRow[E ordered](dst, src []E, ix []int64, last []E, lastAt []int64, pos, flip int64) {
	dst, src, ix, lastAt = dst[:len(last)], src[:len(last)], ix[:len(last)], lastAt[:len(last)]
	if flip == 0 {
		for j, best := range last {
			v, at := src[j], lastAt[j]
			if !(v < best) && (best == best || v != v) {
				best, at = v, pos
			}
			dst[j], ix[j] = best, at
		}
		return
	}
	for j, best := range last {
		v, at := src[j], lastAt[j]
		if !(v > best) && (best == best || v != v) {
			best, at = v, pos
		}
		dst[j], ix[j] = best, at
	}
}

// run goes through a line from an extremum that stands at a position on. Stretches that do not change it are the
// rule: they are filled.
func (k *extremum[E]) run(dst, src []E, ix []int64, from int, best E, at int64) {
	const stretch = 128
	var r [1]E
	for i := 0; i < len(src); i += stretch {
		s := src[i:min(len(src), i+stretch)]
		d, x := dst[i:][:len(s)], ix[i:][:len(s)]
		if len(s) == stretch {
			if k.of(r[:], s); r[0] == r[0] && !k.takes(r[0], best) {
				k.fill(d, best)
				fillInts(x, at)
				continue
			}
		}
		best, at = k.chain(d, s, x, 1, from+i, best, at)
	}
}

// along is the running extremum, and where it stands, of lines of n elements.
func (k *extremum[E]) along(src, dst []E, ix []int64, shape []int, dim int) {
	lines, n, inner := iter.Split(shape, dim)
	switch {
	case lines*n*inner == 0:
		return
	case inner > few:
		k.columns(src, dst, ix, shape, dim)
		return
	case inner > 1:
		par.For(lines, max(1, task/(n*inner)), func(lo, hi int) {
			const block = 4096 / few // rows, which stay in a cache
			for l := lo; l < hi; l++ {
				var best [few]E
				var at [few]int64
				copy(best[:inner], src[l*n*inner:])
				for i := 0; i < n; i += block {
					end := (l*n + min(i+block, n)) * inner
					for j := range inner {
						p := (l*n+i)*inner + j
						best[j], at[j] = k.chain(dst[p:end], src[p:end], ix[p:end], inner, i, best[j], at[j])
					}
				}
			}
		})
		return
	case n <= early:
		par.For(lines, task/n, func(lo, hi int) {
			for p := lo * n; p < hi*n; p += n {
				k.chain(dst[p:][:n], src[p:], ix[p:], 1, 0, src[p], 0)
			}
		})
		return
	case n < 2*task || par.NumThreads() == 1: // the result is the same, and it saves a pass
		par.For(lines, max(1, task/n), func(lo, hi int) {
			for p := lo * n; p < hi*n; p += n {
				k.run(dst[p:][:n], src[p:][:n], ix[p:][:n], 0, src[p], 0)
			}
		})
		return
	}
	tasks := (n + task - 1) / task
	best, at := make([]E, tasks), make([]int64, tasks)
	for l := range lines {
		s, d, x := src[l*n:][:n], dst[l*n:][:n], ix[l*n:][:n]
		par.For(n, task, func(lo, hi int) { k.of(best[lo/task:], s[lo:hi]) })
		// each task begins with the extremum of those before it
		now, where := s[0], int64(0)
		for i, v := range best {
			best[i], at[i] = now, where
			if !k.takes(v, now) {
				continue
			}
			j := min(n, (i+1)*task) - 1
			for s[j] != v && (v == v || s[j] == s[j]) {
				j--
			}
			now, where = s[j], int64(j)
		}
		par.For(n, task, func(lo, hi int) { k.run(d[lo:hi], s[lo:hi], x[lo:hi], lo, best[lo/task], at[lo/task]) })
	}
}

func fillInts(s []int64, v int64) {
	vec.FillF64(unsafe.Slice((*float64)(unsafe.Pointer(&s[0])), len(s)), math.Float64frombits(uint64(v)))
}

func fillAny[E any](s []E, v E) {
	for i := range s {
		s[i] = v
	}
}

// ofFloats and ofInts make the extrema of stretches.
func ofFloats[E float32 | float64](f func(s []E) E) func(r, s []E) {
	return func(r, s []E) { r[0] = f(s) }
}

func ofInts[E vec.Integer](isMax bool) func(r, s []E) {
	rows := op.Pick(isMax, vec.MaxRowsInt[E], vec.MinRowsInt[E])
	return func(r, s []E) { rows(r, s, 1, len(s), 0) }
}

func cumExtKernel(c *Ctx, isMax bool) {
	o, t, flip := c.Out(0), c.T(0), op.Pick[int64](isMax, 0, -1)
	switch dt := t.DType(); {
	case dt == tensor.Float64:
		cumExt(c, o, t, &extremum[float64]{flip, ofFloats(op.Pick(isMax, vec.MaxF64, vec.MinF64)), vec.FillF64})
	case dt.IsFloat():
		w := o
		if dt != tensor.Float32 {
			w = tensor.New(t.Shape(), tensor.Float32)
		}
		cumExt(c, w, tensor.DenseAs(t, tensor.Float32),
			&extremum[float32]{flip, ofFloats(op.Pick(isMax, vec.MaxF32, vec.MinF32)), vec.FillF32})
		if w != o {
			tensor.CopyRaw(o, w)
		}
	case dt == tensor.Bool || dt == tensor.Uint8:
		cumExt(c, o, t, &extremum[uint8]{flip, ofInts[uint8](isMax), fillAny[uint8]})
	case dt == tensor.Int8:
		cumExt(c, o, t, &extremum[int8]{flip, ofInts[int8](isMax), fillAny[int8]})
	case dt == tensor.Int16:
		cumExt(c, o, t, &extremum[int16]{flip, ofInts[int16](isMax), fillAny[int16]})
	case dt == tensor.Int32:
		cumExt(c, o, t, &extremum[int32]{flip, ofInts[int32](isMax), fillAny[int32]})
	default:
		cumExt(c, o, t, &extremum[int64]{flip, ofInts[int64](isMax), fillInts})
	}
}

func cumExt[E ordered](c *Ctx, o, t *T, k *extremum[E]) {
	k.along(op.Raw[E](tensor.Dense(t)), op.Raw[E](o), op.Raw[int64](c.Out(1)), t.Shape(), op.Wrap(c, c.Int(1), t.Dim()))
}

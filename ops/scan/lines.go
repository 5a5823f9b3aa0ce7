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

// Running sums and products along contiguous lines. Each result waits for the one before it, so four lines, or four pieces of a long one
// whose beginnings are known from the totals of the pieces before them, go side by side.

type number interface {
	int64 | float32 | float64
}

const (
	piece = 61 * 64    // elements of a long line whose total is taken; no power of two, at which four pieces would share lines of the cache
	task  = 4 * piece  // elements of a task
	near  = 16 * piece // elements that are still in a cache when they are added up once more
)

// cumLines is the running sum or product, kept in type A, of lines of n elements.
func cumLines[E, A number](src, dst []E, lines, n int, sum bool, total func(s []E) A) {
	if lines*n == 0 {
		return
	}
	one := op.Pick[A](sum, 0, 1)
	// Products of floats go through a long line in one piece: those of its blocks may overflow where those from its beginning do not.
	// Integers come out the same in one piece, and it saves a pass where there is nobody to share the work.
	if exact := A(1)/2 == 0; n < 2*task || !sum && !exact || exact && par.NumThreads() == 1 {
		group := max(4, task/n&^3)
		par.For(lines, group, func(lo, hi int) {
			l := lo
			for ; l+4 <= hi; l += 4 {
				cumFour(dst[l*n:], src[l*n:], n, [4]A{one, one, one, one}, sum)
			}
			for ; l < hi; l++ {
				cumOne(dst[l*n:][:n], src[l*n:], one, sum)
			}
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
				if hi-lo == task {
					cumFour(d[lo:], s[lo:], piece, [4]A(begin[lo/piece:]), sum)
					return
				}
				cumOne(d[lo:hi], s[lo:], begin[lo/piece], sum)
			})
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

// cumFour is cumOne for four stretches of n elements, one after the other.
func cumFour[E, A number](dst, src []E, n int, acc [4]A, sum bool) {
	d0, d1, d2, d3 := dst[:n], dst[n:][:n], dst[2*n:][:n], dst[3*n:][:n]
	s0, s1, s2, s3 := src[:n], src[n:][:n], src[2*n:][:n], src[3*n:][:n]
	a0, a1, a2, a3 := acc[0], acc[1], acc[2], acc[3]
	if sum {
		if A(1)/2 == 0 { // additions of integers do not wait
			for i := range acc {
				cumOne(dst[i*n:][:n], src[i*n:], acc[i], true)
			}
			return
		}
		for i, v := range s0 {
			a0 += A(v)
			d0[i] = E(a0)
			a1 += A(s1[i])
			d1[i] = E(a1)
			a2 += A(s2[i])
			d2[i] = E(a2)
			a3 += A(s3[i])
			d3[i] = E(a3)
		}
		return
	}
	for i, v := range s0 {
		a0 *= A(v)
		d0[i] = E(a0)
		a1 *= A(s1[i])
		d1[i] = E(a1)
		a2 *= A(s2[i])
		d2[i] = E(a2)
		a3 *= A(s3[i])
		d3[i] = E(a3)
	}
}

type ordered interface {
	uint8 | int64 | float32 | float64
}

// extremum is the running maximum or minimum of one type: the last of equal ones, NaN once there is one.
type extremum[E ordered] struct {
	isMax bool
	of    func(r, s []E) // sets r[0] to the extremum of a stretch
	fill  func(s []E, v E)
}

// takes reports that v takes the place of the extremum so far.
func (k *extremum[E]) takes(v, best E) bool {
	if k.isMax && v < best || !k.isMax && v > best {
		return false
	}
	return best == best || v != v
}

// run goes through a line from an extremum that stands at a position on. Stretches that do not change it are the rule: they are filled.
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
		if k.isMax {
			for j, v := range s {
				if !(v < best) && (best == best || v != v) {
					best, at = v, int64(from+i+j)
				}
				d[j], x[j] = best, at
			}
			continue
		}
		for j, v := range s {
			if !(v > best) && (best == best || v != v) {
				best, at = v, int64(from+i+j)
			}
			d[j], x[j] = best, at
		}
	}
}

// along is the running extremum, and where it stands, of lines of n elements.
func (k *extremum[E]) along(src, dst []E, ix []int64, shape []int, dim int) {
	lines, n, inner := iter.Split(shape, dim)
	switch {
	case lines*n*inner == 0:
		return
	case inner > 1:
		k.columns(src, dst, ix, shape, dim)
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

func ofInts[E uint8 | int64](isMax bool) func(r, s []E) {
	rows := op.Pick(isMax, vec.MaxRowsInt[E], vec.MinRowsInt[E])
	return func(r, s []E) { rows(r, s, 1, len(s), 0) }
}

func cumExtKernel(c *Ctx, isMax bool) {
	o, ix, t := c.Out(0), op.Raw[int64](c.Out(1)), c.T(0)
	d, sh := op.Wrap(c, c.Int(1), t.Dim()), t.Shape()
	f32 := &extremum[float32]{isMax, ofFloats(op.Pick(isMax, vec.MaxF32, vec.MinF32)), vec.FillF32}
	i64 := &extremum[int64]{isMax, ofInts[int64](isMax), fillInts}
	switch dt := t.DType(); {
	case dt == tensor.Float64:
		k := &extremum[float64]{isMax, ofFloats(op.Pick(isMax, vec.MaxF64, vec.MinF64)), vec.FillF64}
		k.along(op.Raw[float64](t.Dense()), op.Raw[float64](o), ix, sh, d)
	case dt == tensor.Float32:
		f32.along(op.Raw[float32](t.Dense()), op.Raw[float32](o), ix, sh, d)
	case dt == tensor.Bool || dt == tensor.Uint8:
		k := &extremum[uint8]{isMax, ofInts[uint8](isMax), fillAny[uint8]}
		k.along(op.Raw[uint8](t.Dense()), op.Raw[uint8](o), ix, sh, d)
	case dt == tensor.Int64:
		i64.along(op.Raw[int64](t.Dense()), op.Raw[int64](o), ix, sh, d)
	case dt.IsFloat():
		w := tensor.New(sh, tensor.Float32)
		f32.along(op.Raw[float32](t.DenseAs(tensor.Float32)), op.Raw[float32](w), ix, sh, d)
		tensor.CopyRaw(o, w)
	default:
		w := tensor.New(sh, tensor.Int64)
		i64.along(op.Raw[int64](t.DenseAs(tensor.Int64)), op.Raw[int64](w), ix, sh, d)
		tensor.CopyRaw(o, w)
	}
}

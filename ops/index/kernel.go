package index

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// Elements are moved by their size only: these stand for 1, 2, 4, 8 and 16 bytes.
type wide [2]uint64

type moved interface {
	uint8 | uint16 | uint32 | uint64 | wide
}

// number is what reductions compute in; smaller types are widened first (see computeType).
type number interface {
	uint8 | int32 | int64 | float32 | float64 | complex64 | complex128
}

// raw sees the storage of t, whatever its dtype, as elements of one size, from t's first element on. Negative strides do not occur.
func raw[E any](t *T) []E {
	if t.Numel() == 0 {
		return nil
	}
	return sl[E](t.Ptr(), t.Storage().NumBytes()/t.ElementSize()-t.StorageOffset())
}

// computeType is the dtype that sums and products over t's elements are computed in.
func computeType(dt tensor.DType) tensor.DType {
	switch {
	case dt.IsReduced():
		return tensor.Float32
	case dt.IsIntOrBool():
		return tensor.Int64
	}
	return dt
}

func sl[E any](p unsafe.Pointer, n int) []E { return unsafe.Slice((*E)(p), n) }

// as is a contiguous form of t in another dtype; t itself when nothing changes.
func as(t *T, dt tensor.DType) *T { return t.DenseAs(dt) }

// longs reads an integer tensor as int64 in logical order.
func longs(t *T) []int64 { return tensor.Data[int64](t.DenseAs(tensor.Int64)) }

// call1 and callN call an aten operator by its name; missing arguments get their defaults.
func call1(name string, args ...any) *T { return callN(name, args...)[0] }

func callN(name string, args ...any) []*T {
	op := tensor.LookupOp("aten::" + name)
	if op == nil {
		op = tensor.Overloads("aten::" + name)[0]
	}
	c := tensor.NewCall(op, len(op.Sch.Params))
	for i := range op.Sch.Params {
		if i < len(args) {
			*c.Arg(i) = tensor.Box(args[i])
		} else if d := op.Sch.Params[i].Default; d != nil {
			*c.Arg(i) = *d
		}
	}
	return c.DoN()
}

func zeros(shape []int, dt tensor.DType) *T {
	t := tensor.New(shape, dt)
	t.ZeroRaw()
	return t
}

// likeStrides lays a result out like t where t is dense.
func likeStrides(t *T) []int {
	if t.IsContiguous() {
		return nil
	}
	if t.IsDense() {
		return t.Strides()
	}
	return tensor.PermutedStrides(t)
}

// rows walks the positions of shape except its last dimension, with the offset that each of the strides gives.
func rows(shape []int, strides [][]int, f func(off []int)) {
	nd := len(shape)
	n := 1
	for _, s := range shape {
		n *= s
	}
	if n == 0 {
		return
	}
	off := make([]int, len(strides))
	pos := make([]int, max(nd-1, 0))
	for {
		f(off)
		d := nd - 2
		for ; d >= 0; d-- {
			pos[d]++
			for k := range off {
				off[k] += strides[k][d]
			}
			if pos[d] < shape[d] {
				break
			}
			for k := range off {
				off[k] -= pos[d] * strides[k][d]
			}
			pos[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// along describes a walk over an index tensor: ix (contiguous) names entries along dim of big; small (contiguous, or nil) has the place of
// each index.
type along struct {
	shape           []int // of the index
	dim, n          int
	big, small, idx []int // strides
}

func strideOf(shape []int) []int { return tensor.FormatStrides(shape, tensor.ContiguousFormat) }

// run calls f for rows of the index: f gets the offsets into big, small and the index, the length of the row and the strides of one step
// in big and small; step is what big moves per step besides the index (0 when the row runs along dim).
func (a *along) run(f func(big, small, ix, n, step, smallStep int)) {
	nd := len(a.shape)
	if nd == 0 {
		f(0, 0, 0, 1, 0, 0)
		return
	}
	last := nd - 1
	big := append([]int{}, a.big...)
	big[a.dim] = 0 // the index says where along dim
	step := big[last]
	rows(a.shape, [][]int{big, a.small, a.idx}, func(off []int) {
		f(off[0], off[1], off[2], a.shape[last], step, a.small[last])
	})
}

// checkRange refuses indices outside [0, n).
func checkRange(c *Ctx, ix []int64, dim, n int) {
	for _, i := range ix {
		if uint64(i) >= uint64(n) {
			c.Fail(tensor.ErrIndex, "index %d is out of bounds for dimension %d with size %d", i, dim, n)
		}
	}
}

func gatherRows[E moved](dst, src []E, ix []int64, a *along) {
	sd := a.big[a.dim]
	a.run(func(big, small, ii, n, step, ss int) {
		d, x := dst[small:small+n], ix[ii:ii+n]
		for j, i := range x {
			d[j] = src[big+int(i)*sd+j*step]
		}
		_ = ss
	})
}

// scatterRows writes src (or one value when src has one element and fixed is set) to the places that the index names.
func scatterRows[E moved](dst, src []E, ix []int64, a *along, fixed bool) {
	sd := a.big[a.dim]
	a.run(func(big, small, ii, n, step, ss int) {
		x := ix[ii : ii+n]
		switch {
		case fixed:
			for j, i := range x {
				dst[big+int(i)*sd+j*step] = src[0]
			}
		case ss == 1:
			s := src[small : small+n]
			if step == 0 {
				for j, i := range x {
					dst[big+int(i)*sd] = s[j]
				}
				return
			}
			for j, i := range x {
				dst[big+int(i)*sd+j*step] = s[j]
			}
		default:
			for j, i := range x {
				dst[big+int(i)*sd+j*step] = src[small+j*ss]
			}
		}
	})
}

func reduceRows[E number](dst, src []E, ix []int64, a *along, fixed bool, red func(d *E, s E)) {
	sd := a.big[a.dim]
	a.run(func(big, small, ii, n, step, ss int) {
		x := ix[ii : ii+n]
		for j, i := range x {
			v := src[0]
			if !fixed {
				v = src[small+j*ss]
			}
			red(&dst[big+int(i)*sd+j*step], v)
		}
	})
}

// reduceReal is reduceRows for the reductions by name: a call per element would cost more than the reduction.
func reduceReal[E int64 | float32 | float64](dst, src []E, ix []int64, a *along, how string) {
	sd := a.big[a.dim]
	a.run(func(big, small, ii, n, step, ss int) {
		x := ix[ii : ii+n]
		switch how {
		case "prod":
			for j, i := range x {
				dst[big+int(i)*sd+j*step] *= src[small+j*ss]
			}
		case "amax":
			for j, i := range x {
				if p, v := big+int(i)*sd+j*step, src[small+j*ss]; v > dst[p] || v != v {
					dst[p] = v
				}
			}
		case "amin":
			for j, i := range x {
				if p, v := big+int(i)*sd+j*step, src[small+j*ss]; v < dst[p] || v != v {
					dst[p] = v
				}
			}
		default:
			for j, i := range x {
				dst[big+int(i)*sd+j*step] += src[small+j*ss]
			}
		}
	})
}

// countAlong adds 1 where each index points.
func countAlong(dst, ix []int64, a *along) {
	sd := a.big[a.dim]
	a.run(func(big, _, ii, n, step, _ int) {
		for j, i := range ix[ii : ii+n] {
			dst[big+int(i)*sd+j*step]++
		}
	})
}

func addRowsAlong[E number](dst, src []E, ix []int64, a *along) {
	sd := a.big[a.dim]
	a.run(func(big, small, ii, n, step, ss int) {
		x := ix[ii : ii+n]
		if ss == 1 {
			s := src[small : small+n]
			for j, i := range x {
				dst[big+int(i)*sd+j*step] += s[j]
			}
			return
		}
		for j, i := range x {
			dst[big+int(i)*sd+j*step] += src[small+j*ss]
		}
	})
}

func add[E number](d *E, s E) { *d += s }
func mul[E number](d *E, s E) { *d *= s }

func maxOf[E int64 | float32 | float64](d *E, s E) {
	if s > *d || s != s {
		*d = s
	}
}

func minOf[E int64 | float32 | float64](d *E, s E) {
	if s < *d || s != s {
		*d = s
	}
}

// bySize picks the instance of a generic kernel for t's element size.
func bySize(t *T, k1, k2, k4, k8, k16 func()) {
	switch t.ElementSize() {
	case 1:
		k1()
	case 2:
		k2()
	case 4:
		k4()
	case 8:
		k8()
	default:
		k16()
	}
}

// parRows runs f over n rows in blocks of about 64 KiB.
func parRows(n, rowBytes int, f func(lo, hi int)) {
	par.For(n, max(1, 64<<10/max(1, rowBytes)), f)
}

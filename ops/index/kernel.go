package index

import (
	"fmt"
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

// raw sees the storage of t, whatever its dtype, as elements of one size, from t's first element on. Negative strides
// do not occur.
func raw[E any](t *T) []E {
	var e E
	if int(unsafe.Sizeof(e)) != t.ElementSize() {
		panic(fmt.Sprintf("index: elements of %d bytes in a tensor of %s", unsafe.Sizeof(e), t.DType()))
	}
	if t.Numel() == 0 {
		return nil
	}
	return sl[E](tensor.Ptr(t), t.Storage().NumBytes()/t.ElementSize()-t.StorageOffset())
}

// computeType is the dtype that sums and products over t's elements are computed in.
func computeType(dt tensor.DType) tensor.DType {
	switch {
	case dt.IsReduced():
		return tensor.Float32
	case dt.IsIntOrBool() && dt != tensor.Int32:
		return tensor.Int64
	}
	return dt
}

func sl[E any](p unsafe.Pointer, n int) []E { return unsafe.Slice((*E)(p), n) }

// as is a contiguous form of t in another dtype; t itself when nothing changes.
func as(t *T, dt tensor.DType) *T { return tensor.DenseAs(t, dt) }

// longs reads an integer tensor as int64 in logical order.
func longs(t *T) []int64 { return tensor.Data[int64](tensor.DenseAs(t, tensor.Int64)) }

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

func strideOf(shape []int) []int { return tensor.FormatStrides(shape, tensor.ContiguousFormat) }

// checkRange refuses indices outside [0, n).
func checkRange(c *Ctx, ix []int64, dim, n int) {
	for _, i := range ix {
		if uint64(i) >= uint64(n) {
			c.Fail(tensor.ErrIndex, "index %d is out of bounds for dimension %d with size %d", i, dim, n)
		}
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

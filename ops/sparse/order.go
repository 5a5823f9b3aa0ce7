package sparse

import (
	"github.com/gotorch-dev/torch/tensor"
)

// T and Ctx are short for this package.
type (
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)

// dims are the sizes of the sparse dimensions of x.
func dims(x *T) []int {
	ix, _, _ := tensor.SparseParts(x)
	return x.Shape()[:ix.Size(0)]
}

// rows is how many positions the sparse dimensions have.
func rows(sizes []int) int {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	return n
}

// flat numbers the positions in ix row by row, as the elements of a dense tensor of the given sizes.
func flat(ix *T, sizes []int) []int64 {
	all := tensor.Data[int64](tensor.Dense(ix))
	n := ix.Size(1)
	if len(sizes) == 1 {
		return all
	}
	out := make([]int64, n)
	for d, s := range sizes {
		for k, i := range all[d*n:][:n] {
			out[k] = out[k]*int64(s) + i
		}
	}
	return out
}

// unflat is the matrix of indices of numbered positions.
func unflat(keys []int64, sizes []int) *T {
	n := len(keys)
	ix := tensor.New([]int{len(sizes), n}, tensor.Int64)
	out := tensor.Data[int64](ix)
	for k, key := range keys {
		for d := len(sizes) - 1; d >= 0; d-- {
			s := int64(sizes[d])
			out[d*n+k] = key % s
			key /= s
		}
	}
	return ix
}

// ascending reports that each key is greater than the one before.
func ascending(keys []int64) bool {
	for i := 1; i < len(keys); i++ {
		if keys[i] <= keys[i-1] {
			return false
		}
	}
	return true
}

// order lists the different keys in ascending order, and for each of the given keys its number among them. Keys lie in
// [0, limit). It is a radix sort from the lowest digit on, which keeps equal keys in order and takes as many passes as
// the limit has digits (Knuth, The Art of Computer Programming 3, 5.2.5).
func order(keys []int64, limit int) (unique, number []int64) {
	const bits = 11
	n := len(keys)
	from, to := make([]int32, n), make([]int32, n)
	for i := range from {
		from[i] = int32(i)
	}
	var count [1<<bits + 1]int32
	for shift := 0; shift < 63 && (limit-1)>>shift > 0; shift += bits {
		clear(count[:])
		for _, k := range keys {
			count[k>>shift&(1<<bits-1)+1]++
		}
		for d := 1; d < len(count); d++ {
			count[d] += count[d-1]
		}
		for _, i := range from {
			d := keys[i] >> shift & (1<<bits - 1)
			to[count[d]] = i
			count[d]++
		}
		from, to = to, from
	}
	number = make([]int64, n)
	for _, i := range from {
		if len(unique) == 0 || unique[len(unique)-1] != keys[i] {
			unique = append(unique, keys[i])
		}
		number[i] = int64(len(unique) - 1)
	}
	return unique, number
}

// coalesced is x with its positions sorted and the values of equal ones summed, in their order; x itself where that is
// so already.
func coalesced(c *Ctx, x *T) *T {
	ix, v, done := tensor.SparseParts(x)
	if done {
		return x
	}
	if x.Device().Type != tensor.CPUDevice {
		c.Fail(tensor.ErrNotImpl, "coalesce: sparse tensors on device %s are not supported", x.Device())
	}
	sizes := dims(x)
	keys := flat(ix, sizes)
	if ascending(keys) {
		return tensor.NewSparse(ix.Clone(), v.Clone(), x.Shape(), true, true)
	}
	if len(keys) > 1<<31-1 {
		c.Fail(tensor.ErrNotImpl, "coalesce: %d elements, at most %d are supported", len(keys), 1<<31-1)
	}
	unique, number := order(keys, rows(sizes))
	sum := v.NewZeros(append([]int{len(unique)}, v.Shape()[1:]...))
	addRows(sum, tensor.FromSlice(number), v, tensor.Value{})
	return tensor.NewSparse(unflat(unique, sizes), sum, x.Shape(), true, true)
}

// merge joins two lists of keys as if both were sorted, a key that comes next in both becoming one, and gives the
// places of their keys in the joint list. It is what PyTorch's sum of sparse tensors does to lists that may not be
// sorted:
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/sparse/SparseTensorMath.cpp
func merge(a, b []int64) (keys, toA, toB []int64) {
	keys = make([]int64, 0, len(a)+len(b))
	toA, toB = make([]int64, len(a)), make([]int64, len(b))
	for i, j := 0, 0; i < len(a) || j < len(b); {
		fromA := j == len(b) || i < len(a) && a[i] <= b[j]
		fromB := i == len(a) || j < len(b) && b[j] <= a[i]
		n := int64(len(keys))
		if fromB {
			keys = append(keys, b[j])
			toB[j] = n
			j++
		} else {
			keys = append(keys, a[i])
		}
		if fromA {
			toA[i] = n
			i++
		}
	}
	return keys, toA, toB
}

// addRows adds alpha times (None: once) the slices of src along its first dimension to those slices of dst whose
// numbers ix gives, in order.
func addRows(dst, ix, src *T, alpha tensor.Value) {
	if alpha.K == tensor.KNone {
		alpha = tensor.IntValue(1)
	}
	if dst.DType() == tensor.Bool { // a sum of bools is their union, in torch.add as well
		dst.IndexPutInPlace([]*T{ix.MaskedSelect(src.Reshape([]int{-1}))}, src.NewOnes([]int{}))
		return
	}
	call1("aten::index_add_", dst, 0, ix, src, alpha)
}

package quantization

import (
	"fmt"

	"github.com/gotorch-dev/torch/tensor"
)

// This file holds the arithmetic of integers with a scale and a zero point for each block of elements, which torchao
// calls affine quantization: https://docs.pytorch.org/ao/stable/api_reference/api_ref_quantization.html. It is written
// in tensor operators, so that bfloat16 and float16 are rounded where PyTorch rounds them.

// Granularity says how many elements share a scale. PerGroup makes one of groups; the zero value is a configuration's
// default.
type Granularity int

// PerRow is a scale for each row (of a weight: each output), PerTensor one for the whole tensor.
const (
	PerRow    Granularity = -1
	PerTensor Granularity = -2
)

// PerGroup is a scale for each n neighbouring columns of a row.
func PerGroup(n int) Granularity { return Granularity(n) }

// String is PyTorch's name.
func (g Granularity) String() string {
	switch {
	case g == PerRow:
		return "PerRow()"
	case g == PerTensor:
		return "PerTensor()"
	}
	return fmt.Sprintf("PerGroup(%d)", int(g))
}

// MappingType says where a range of numbers lies within that of the integers.
type MappingType uint8

// Symmetric maps 0 to 0 (or to the middle of unsigned integers) with the scale max|x| / ((most-least)/2); Asymmetric
// maps the range from the least to the largest element, widened to hold 0; SymmetricNoClippingErr is Symmetric with the
// scale max(min/least, max/most), by which no element is cut off.
const (
	Symmetric MappingType = iota
	Asymmetric
	SymmetricNoClippingErr
)

// String is PyTorch's name.
func (m MappingType) String() string {
	return [...]string{"MappingType.SYMMETRIC", "MappingType.ASYMMETRIC", "MappingType.SYMMETRIC_NO_CLIPPING_ERR"}[m]
}

// blocks are the blocks that share a scale: size neighbours in a dimension, or with size 0 the whole tensor.
type blocks struct{ axis, size int }

// blocksOf are the blocks of a tensor by a granularity, along a dimension.
func blocksOf(t *Tensor, g Granularity, axis int) blocks {
	switch {
	case g == PerTensor:
		return blocks{}
	case g == PerRow:
		return blocks{axis, max(1, t.Size(axis))}
	case g < 1 || t.Size(axis)%int(g) != 0:
		tensor.Fail(tensor.ErrShape, "Last dimension of input %d is not divisible by group size %d", t.Size(axis),
			int(g))
	}
	return blocks{axis, int(g)}
}

// shape are torchao's block sizes of a tensor.
func (b blocks) shape(t *Tensor) []int {
	if b.size == 0 {
		return append([]int{}, t.Shape()...)
	}
	out := make([]int, t.Dim())
	for i := range out {
		out[i] = 1
	}
	out[b.axis] = b.size
	return out
}

// split is a view of a tensor in which a block is one dimension, and the number of that dimension.
func (b blocks) split(t *Tensor) (view *Tensor, dim int) {
	if b.size == 0 {
		return t.Reshape([]int{1, t.Numel()}), 1
	}
	s := t.Shape()
	out := append([]int{}, s[:b.axis]...)
	out = append(append(out, s[b.axis]/b.size, b.size), s[b.axis+1:]...)
	return t.Reshape(out), b.axis + 1
}

// spread gives scales of blocks the dimension of size 1 that lets them multiply the view of split.
func (b blocks) spread(scale *Tensor) *Tensor {
	if b.size == 0 {
		return scale.Reshape([]int{1, 1})
	}
	return scale.Unsqueeze(b.axis + 1)
}

// paramShape is the shape of scales: that of the tensor with the number of blocks in each dimension.
func (b blocks) paramShape(t *Tensor) []int {
	out := append([]int{}, t.Shape()...)
	if b.size == 0 {
		for i := range out {
			out[i] = 1
		}
	} else {
		out[b.axis] /= b.size
	}
	return out
}

// integerRange are the limits of integers that a block is mapped to.
type integerRange struct{ least, most int }

func signedRange(bits int) integerRange { return integerRange{-1 << (bits - 1), 1<<(bits-1) - 1} }

// chooseAffine chooses scales, which become scaleType (0: the type of x), and zero points (int8) for the blocks of x.
func chooseAffine(x *Tensor, m MappingType, b blocks, r integerRange, eps float64, scaleType tensor.DType) (
	scale, zero *Tensor) {
	v, dim := b.split(x)
	lo, hi := v.Amin(tensor.AminOptions{Dim: []int{dim}}), v.Amax(tensor.AmaxOptions{Dim: []int{dim}})
	lo, hi = lo.Minimum(lo.ZerosLike()), hi.Maximum(hi.ZerosLike())
	if eps == 0 {
		eps = tensor.FInfo(x.DType()).SmallestNormal
	}
	atLeast := func(s *Tensor) *Tensor { return s.ClampScalar(tensor.ClampScalarOptions{Min: eps}) }
	switch m {
	case Asymmetric:
		scale = atLeast(hi.Sub(lo).DivScalar(float64(r.most - r.least)))
		zero = lo.Div(scale).Round().Neg().AddScalar(r.least)
		zero = zero.ClampScalar(tensor.ClampScalarOptions{Min: r.least, Max: r.most})
	case SymmetricNoClippingErr:
		a, c := lo.DivScalar(float64(r.least)), hi.DivScalar(float64(r.most))
		scale = atLeast(a.Maximum(c))
	default:
		scale = atLeast(lo.Neg().Maximum(hi).DivScalar(float64(r.most-r.least) / 2))
	}
	if zero == nil {
		zero = scale.FullLike((r.most + r.least + 1) / 2)
	}
	if scaleType == 0 {
		scaleType = x.DType()
	}
	shape := b.paramShape(x)
	return scale.Reshape(shape).To(scaleType), zero.Reshape(shape).To(tensor.Int8)
}

// quantizeAffine are the integers round(x/scale) + zero, cut off at the limits, as int8.
func quantizeAffine(x *Tensor, b blocks, scale, zero *Tensor, r integerRange) *Tensor {
	v, _ := b.split(x)
	q := v.Mul(b.spread(scale).Reciprocal()).Round().Add(b.spread(zero))
	q = q.ClampScalar(tensor.ClampScalarOptions{Min: r.least, Max: r.most})
	return q.Reshape(x.Shape()).To(tensor.Int8)
}

// dequantizeAffine are the numbers (q - zero)·scale in a floating-point type.
func dequantizeAffine(q *Tensor, b blocks, scale, zero *Tensor, dt tensor.DType) *Tensor {
	v, _ := b.split(q)
	v = v.To(dt).Sub(b.spread(zero).To(dt)).Mul(b.spread(scale))
	return v.Reshape(q.Shape()).To(dt)
}

// chooseTinygemm are the integers from 0 to 15 of the blocks of a matrix, and scales and zeros by which q stands for
// (q - 8)·scale + zero, the numbers of aten::_weight_int4pack_mm_for_cpu.
func chooseTinygemm(w *Tensor, b blocks) (q, scale, zero *Tensor) {
	v, dim := b.split(w)
	lo, hi := v.Amin(tensor.AminOptions{Dim: []int{dim}}), v.Amax(tensor.AmaxOptions{Dim: []int{dim}})
	scale = hi.Sub(lo).DivScalar(15.0).ClampScalar(tensor.ClampScalarOptions{Min: 1e-6})
	zero = lo.Add(scale.MulScalar(8.0))
	s := b.spread(scale)
	q = v.Sub(b.spread(zero).Sub(s.MulScalar(8.0))).Div(s).Round()
	q = q.ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 15}).Reshape(w.Shape()).To(tensor.Int32)
	return q, scale, zero
}

// chooseHQQ are integers and scales of the blocks of a matrix by the scale-only form of half-quadratic quantization
// (Badri and Shaji 2023): the scale that is best for the integers (least squares) and the integers that are best for
// the scale are found in turn, at most 20 times.
func chooseHQQ(w *Tensor, b blocks, r integerRange) (q, scale *Tensor) {
	const eps = 1.1920928955078125e-07 // of float32
	v, dim := b.split(w.To(tensor.Float32))
	sum := func(t *Tensor) *Tensor { return t.SumDim([]int{dim}) }
	round := func() *Tensor {
		x := v.Div(scale.Unsqueeze(dim)).Round()
		return x.ClampScalar(tensor.ClampScalarOptions{Min: r.least, Max: r.most})
	}
	top := float64(max(-r.least, r.most, 1))
	floor := tensor.ClampScalarOptions{Min: eps}
	scale = v.Abs().Amax(tensor.AmaxOptions{Dim: []int{dim}}).DivScalar(top).ClampScalar(floor)
	for range 20 {
		was, q := scale, round()
		num, den := sum(v.Mul(q)), sum(q.Mul(q))
		scale = num.Div(den).Where(den.GtScalar(0), was).ClampScalar(floor).Abs()
		if scale.Sub(was).Abs().Div(was).Amax().Item() < 1e-5 {
			break
		}
	}
	q = round().Reshape(w.Shape()).To(tensor.Int8)
	return q, scale.Reshape(b.paramShape(w)).To(w.DType())
}

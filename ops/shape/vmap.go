package shape

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps.
func init() {
	batching.Rule(batching.Dims("dim"), "select.int", "slice.Tensor", "squeeze.dim", "squeeze.dims", "split.Tensor",
		"split.sizes", "split_with_sizes", "unbind.int", "select_scatter", "slice_scatter")
	batching.Rule(batching.Dims("dim0", "dim1"), "transpose.int")
	batching.Rule(batching.Dims("dim1", "dim2"), "diagonal", "diagonal_scatter")
	batching.Rule(batching.Dims("dimension"), "unfold")
	batching.Rule(batching.Dims("dims"), "flip")
	batching.Rule(batching.SizesDims("input_sizes", "dim"), "select_backward", "slice_backward", "unfold_backward")
	batching.Rule(batching.SizesDims("input_sizes", "dim1", "dim2"), "diagonal_backward")
	batching.Rule(batching.List("dim"), "cat")
	batching.Rule(batching.Leading("self"), "alias", "detach", "tril", "triu", "view_as_real", "view_as_complex",
		"real",
		"imag", "_conj", "_neg_view", "constant_pad_nd", "zeros_like", "ones_like", "full_like", "empty_like",
		"pixel_shuffle",
		"pixel_unshuffle")
	for nd, pads := range []string{1: "pad1d", 2: "pad2d", 3: "pad3d"} {
		if nd > 0 {
			batching.Rule(batching.Fold(nd, ""), "reflection_"+pads, "replication_"+pads)
		}
	}
	batching.Rule(withoutFormat, "clone", "_to_copy")
	batching.Rule(dtypeBatch, "view.dtype")
	batching.Rule(batching.Sizes("size"), "_unsafe_view", "new_empty", "new_full", "new_ones", "new_zeros")
	batching.Rule(viewBatch, "view")
	batching.Rule(expandBatch, "expand")
	batching.Rule(permuteBatch, "permute")
	batching.Rule(squeezeBatch, "squeeze")
	batching.Rule(unsqueezeBatch, "unsqueeze")
	batching.Rule(rollBatch, "roll")
	batching.Rule(diagEmbedBatch, "diag_embed")
	batching.Rule(stridedBatch, "as_strided")
	batching.Rule(assertBatch, "_assert_async", "_assert_async.msg")
	for _, ends := range []string{"Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor"} {
		batching.Rule(spaceBatch(false), "linspace."+ends)
		batching.Rule(spaceBatch(true), "logspace."+ends)
	}
	batching.Rule(stridedPlaceBatch, "gotorch::strided_place")
	batching.Rule(stridedScatterBatch, "gotorch::strided_scatter", "as_strided_scatter")
	batching.Rule(newStridedBatch, "new_empty_strided")
}

// one is the rule's argument 0 with other arguments changed.
func one(b *tensor.Batched, x *T, set map[int]tensor.Value) []tensor.Value {
	args := b.Args()
	args[0] = tensor.TensorValue(x)
	for i, v := range set {
		args[i] = v
	}
	return b.Call(args)
}

// withoutFormat leaves out a memory format that is about the dimensions of an example.
func withoutFormat(b *tensor.Batched) []tensor.Value {
	i := b.Index("memory_format")
	if f := b.C.Format(i); f == tensor.ChannelsLast || f == tensor.ChannelsLast3d {
		return b.Loop()
	}
	return b.Call(b.Args())
}

// viewBatch fills in the size -1 from an example before the batch is put in front.
func viewBatch(b *tensor.Batched) []tensor.Value {
	size := slices.Clone(b.C.Ints(1))
	n, at := 1, -1
	for i, s := range size {
		if s == -1 {
			at = i
		} else {
			n *= s
		}
	}
	total := 1
	for _, s := range b.C.Shape(0) {
		total *= s
	}
	if at >= 0 && n != 0 && total%n == 0 {
		size[at] = total / n
	} else if at < 0 && n != total || at >= 0 {
		b.C.Fail(tensor.ErrShape, "shape '%s' is invalid for input of size %d", tensor.ShapeString(size), total)
	}
	return one(b, b.T(0), map[int]tensor.Value{1: tensor.IntsValue(append([]int{b.Size()}, size...))})
}

func expandBatch(b *tensor.Batched) []tensor.Value {
	size, x := b.C.Ints(1), b.T(0)
	for x.Dim() < len(size)+1 {
		x = x.Unsqueeze(1)
	}
	return one(b, x, map[int]tensor.Value{1: tensor.IntsValue(append([]int{b.Size()}, size...))})
}

func permuteBatch(b *tensor.Batched) []tensor.Value {
	dims := []int{0}
	for _, d := range b.C.Ints(1) {
		dims = append(dims, batching.Dim(b, d, b.Rank(0)))
	}
	return one(b, b.T(0), map[int]tensor.Value{1: tensor.IntsValue(dims)})
}

// squeezeBatch names the dimensions, since the batch may have size 1.
func squeezeBatch(b *tensor.Batched) []tensor.Value {
	var dims []int
	for i, s := range b.C.Shape(0) {
		if s == 1 {
			dims = append(dims, i+1)
		}
	}
	if len(dims) == 0 {
		return b.CallOp(tensor.LookupOp("aten::alias"), b.Args())
	}
	return batching.Tensors(b.T(0).SqueezeDims(dims))
}

func unsqueezeBatch(b *tensor.Batched) []tensor.Value {
	d := batching.Dim(b, b.C.Int(1), b.Rank(0)+1)
	return one(b, b.T(0), map[int]tensor.Value{1: tensor.IntValue(d)})
}

func rollBatch(b *tensor.Batched) []tensor.Value {
	dims := slices.Clone(b.C.Ints(2))
	if len(dims) == 0 { // of the elements in a row
		x := b.T(0)
		r := one(b, batching.Flatten(x, 1), map[int]tensor.Value{2: tensor.IntsValue([]int{1})})
		return batching.Tensors(r[0].T.Reshape(x.Shape()))
	}
	x := b.T(0)
	if b.Rank(0) == 0 {
		return batching.Tensors(x.Clone())
	}
	for i := range dims {
		dims[i] = batching.Dim(b, dims[i], b.Rank(0))
	}
	return one(b, x, map[int]tensor.Value{2: tensor.IntsValue(dims)})
}

func diagEmbedBatch(b *tensor.Batched) []tensor.Value {
	n := b.Rank(0) + 1
	return one(b, b.T(0), map[int]tensor.Value{2: tensor.IntValue(batching.Dim(b, b.C.Int(2), n)),
		3: tensor.IntValue(batching.Dim(b, b.C.Int(3), n))})
}

// stridedBatch views the example as its memory lies: the batch, which lies in dimension 0, keeps its stride.
func stridedBatch(b *tensor.Batched) []tensor.Value {
	x := b.T(0)
	off := x.StorageOffset()
	if b.C.Has(3) {
		off = b.C.Int(3)
	}
	return one(b, x, map[int]tensor.Value{1: tensor.IntsValue(append([]int{b.Size()}, b.C.Ints(1)...)),
		2: tensor.IntsValue(append([]int{x.Stride(0)}, b.C.Ints(2)...)), 3: tensor.IntValue(off)})
}

func stridedScatterBatch(b *tensor.Batched) []tensor.Value {
	self := geometryOf(b.T(0))
	if b.Has(0) { // the gradient of an example asks where its elements lie
		self.shape, self.stride = self.shape[1:], self.stride[1:]
	}
	b.C.Keep(self)
	if !b.Has(0) || b.C.Has(4) && b.C.Int(4) < b.T(0).StorageOffset() {
		return b.Loop()
	}
	x := b.T(0)
	off := x.StorageOffset()
	if b.C.Has(4) {
		off = b.C.Int(4)
	}
	return one(b, x, map[int]tensor.Value{1: tensor.TensorValue(b.Full(1)),
		2: tensor.IntsValue(append([]int{b.Size()}, b.C.Ints(2)...)),
		3: tensor.IntsValue(append([]int{x.Stride(0)}, b.C.Ints(3)...)), 4: tensor.IntValue(off)})
}

// stridedPlaceBatch places the examples into one row, behind one another.
func stridedPlaceBatch(b *tensor.Batched) []tensor.Value {
	n := b.C.Int(1)
	r := b.Call([]tensor.Value{tensor.TensorValue(b.T(0)), tensor.IntValue(n * b.Size()),
		tensor.IntsValue(append([]int{b.Size()}, b.C.Ints(2)...)),
		tensor.IntsValue(append([]int{n}, b.C.Ints(3)...)), b.C.Value(4)})
	r[0] = tensor.TensorValue(r[0].T.View([]int{b.Size(), n}))
	return r
}

func newStridedBatch(b *tensor.Batched) []tensor.Value {
	n := 1
	for i, s := range b.C.Ints(1) {
		if s == 0 {
			n = 0
			break
		}
		n += (s - 1) * b.C.Ints(2)[i]
	}
	return one(b, b.T(0), map[int]tensor.Value{1: tensor.IntsValue(append([]int{b.Size()}, b.C.Ints(1)...)),
		2: tensor.IntsValue(append([]int{n}, b.C.Ints(2)...))})
}

// dtypeBatch leaves the batch alone, unless it is the last dimension, whose size may change.
func dtypeBatch(b *tensor.Batched) []tensor.Value {
	if b.Rank(0) == 0 {
		return b.Loop()
	}
	return b.Call(b.Args())
}

// assertBatch is the rule of assertions: the values of all examples must hold.
func assertBatch(b *tensor.Batched) []tensor.Value {
	if tensor.Size(b.C.Shape(0)).Numel() != 1 {
		return b.Loop() // to the operator's own error
	}
	args := b.Args()
	args[0] = tensor.TensorValue(op.Call1("aten::all", b.T(0)))
	return b.Call(args)
}

// spaceBatch is the rule of linspace and logspace, one of whose ends differs between the examples: the arithmetic of
// their kernel (spaceFill), by operators. Integers and complex numbers take one example after the other.
func spaceBatch(log bool) tensor.BatchRule {
	return func(b *tensor.Batched) []tensor.Value {
		n, dt := b.C.Int(2), dtypeOr(b.C, b.Index("dtype"), tensor.DefaultDType())
		var ends [2]*T
		for i := range ends {
			if ends[i] = b.C.T(i); b.Has(i) {
				ends[i] = b.T(i)
			}
			if b.C.T(i).Dim() != 0 || ends[i].DType().IsComplex() || !dt.IsFloat() || n < 2 {
				return b.Loop()
			}
			if dt.IsReduced() || dt == tensor.Float32 && !log { // the ends are rounded first
				ends[i] = ends[i].ToDType(dt)
			}
			ends[i] = ends[i].Reshape([]int{-1, 1})
		}
		if dt != tensor.Float32 || log {
			ends[0], ends[1] = ends[0].ToDType(tensor.Float64), ends[1].ToDType(tensor.Float64)
		}
		step := ends[1].Sub(ends[0]).DivScalar(n - 1).ToDType(tensor.Float64)
		from := func(end *T, first, by, k int) *T {
			l := make([]int64, k)
			for i := range l {
				l[i] = int64(first + by*i)
			}
			return end.Add(step.Mul(op.Numbers(step, l)))
		}
		// from both ends to the middle
		y := op.Call1("aten::cat", []*T{from(ends[0], 0, 1, n/2), from(ends[1], n/2-n+1, 1, n-n/2)}, 1)
		if log {
			y = op.Call1("aten::pow.Scalar", b.C.Float(3), y)
		}
		return batching.Tensors(y.ToDType(dt))
	}
}

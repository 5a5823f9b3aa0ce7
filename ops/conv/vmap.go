package conv

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps. Images of all examples that meet the same weights
// become one larger batch of images. Where the weights differ, the examples become groups of one convolution.
func init() {
	batching.Rule(convBatch, "convolution")
	batching.Rule(convBackwardBatch, "convolution_backward")
	batching.Rule(batching.Fold(2, ""), "im2col")
	batching.Rule(batching.Fold(1, ""), "col2im")
}

// groups puts the examples of [B, N, C, …] next to each other as channels: [N, B*C, …].
func groups(x *T) *T {
	x = x.Transpose(0, 1)
	s := x.Shape()
	return x.Reshape(append([]int{s[0], s[1] * s[2]}, s[3:]...))
}

// ungroup takes groups back.
func ungroup(x *T, n int) *T {
	s := x.Shape()
	return x.Reshape(append([]int{s[0], n, s[1] / n}, s[2:]...)).Transpose(0, 1)
}

func convBatch(b *tensor.Batched) []tensor.Value {
	args, nd := b.Args(), b.Rank(1)-2
	if b.Rank(0) != nd+2 { // an image without a batch
		return b.Loop()
	}
	bias := args[2]
	args[2] = tensor.Value{}
	var y *T
	if !b.Has(1) {
		if !b.Has(2) {
			args[2] = bias
			bias = tensor.Value{}
		}
		x := b.Full(0)
		args[0] = tensor.TensorValue(batching.FoldIn(x))
		y = batching.Unfold(b.Call(args)[0].T, b.Size())
	} else {
		args[0] = tensor.TensorValue(groups(b.Full(0)))
		args[1] = tensor.TensorValue(batching.FoldIn(b.T(1)))
		args[8] = tensor.IntValue(b.C.Int(8) * b.Size())
		y = ungroup(b.Call(args)[0].T, b.Size())
	}
	if bias.K == tensor.KTensor {
		z := bias.T
		if b.Has(2) {
			z = z.Unsqueeze(1)
		}
		for range nd {
			z = z.Unsqueeze(-1)
		}
		y = y.Add(z)
	}
	return batching.Tensors(y)
}

// convBackwardBatch computes the gradient of the images as one larger batch where the weights are shared, and the
// gradients of each example's weights as those of groups.
func convBackwardBatch(b *tensor.Batched) []tensor.Value {
	mask := b.C.Bools(10)
	if b.Rank(1) != b.Rank(2) {
		return b.Loop()
	}
	g, out := b.Full(0), make([]*T, 3)
	set := func(x, y, w *T, groups int, m []bool) []*T {
		args := b.Args()
		args[0], args[1], args[2] = tensor.TensorValue(x), tensor.TensorValue(y), tensor.TensorValue(w)
		args[3], args[9], args[10] = tensor.Value{}, tensor.IntValue(groups), tensor.BoolsValue(m)
		res := b.Call(args)
		return []*T{res[0].T, res[1].T, res[2].T}
	}
	if mask[2] { // the gradient of the bias is a sum
		dims := []int{1}
		for d := 3; d < g.Dim(); d++ {
			dims = append(dims, d)
		}
		out[2] = g.SumDim(dims)
	}
	byGroup := mask[1] || mask[0] && b.Has(2)
	if mask[0] && !b.Has(2) {
		r := set(batching.FoldIn(g), batching.FoldIn(b.Full(1)), b.T(2), b.C.Int(9), []bool{true, false, false})
		out[0] = batching.Unfold(r[0], b.Size())
	}
	if byGroup {
		w := b.T(2)
		if !b.Has(2) { // only its shape counts
			shape := slices.Clone(w.Shape())
			shape[0] *= b.Size()
			w = w.NewEmpty(shape)
		} else {
			w = batching.FoldIn(w)
		}
		r := set(groups(g), groups(b.Full(1)), w, b.C.Int(9)*b.Size(), []bool{mask[0] && b.Has(2), mask[1], false})
		if mask[0] && b.Has(2) {
			out[0] = ungroup(r[0], b.Size())
		}
		if mask[1] {
			out[1] = batching.Unfold(r[1], b.Size())
		}
	}
	return batching.Tensors(out...)
}

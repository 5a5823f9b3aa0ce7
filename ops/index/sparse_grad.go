package index

import (
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// This file has the gradients of embedding tables as sparse tensors: a list of rows and what is added to each, one
// entry for each index, in order. Nothing is sorted or summed until somebody coalesces the gradient.

func init() {
	tensor.Register(tensor.Def{
		Schema: "embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq, bool sparse) -> Tensor",
		Doc:    "is the gradient of an embedding's weight, sparse or dense.",
		Go:     "-",
		Body: func(c *Ctx) {
			name := op.Pick(c.Bool(5), "aten::embedding_sparse_backward", "aten::embedding_dense_backward")
			c.Return(op.Call1(name, c.T(0), c.T(1), c.Int(2), c.Int(3), c.Bool(4)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "embedding_sparse_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, bool scale_grad_by_freq) -> Tensor",
		Doc: "is the gradient of an embedding's weight as a sparse tensor with an entry for each index that is not " +
			"padding_idx.",
		Go: "-", NoGrad: "gradients of sparse gradients are not recorded",
		CPU: func(c *Ctx) {
			g, n, pad := tensor.Dense(c.T(0).Detach()), c.Int(2), c.Int(3)
			if c.Bool(4) {
				c.Fail(tensor.ErrNotImpl,
					"embedding_backward: scale_grad_by_freq not supported with sparse gradients")
			}
			if g.Dim() == 0 {
				c.Fail(tensor.ErrIndex, "Dimension specified as -1 but tensor has no dimensions")
			}
			d := g.Shape()[g.Dim()-1]
			v := g.View([]int{g.Numel() / max(1, d), d})
			ix := longs(c.T(1))
			if d == 0 {
				v = tensor.New([]int{len(ix), 0}, g.DType())
			}
			keep := ix
			if pad >= 0 {
				var at []int64
				if keep, at = entries(ix, func(k int) bool { return int(ix[k]) != pad }); at != nil {
					v = v.IndexSelect(0, tensor.FromSlice(at, len(at)))
				}
			}
			if v.Storage() == c.T(0).Storage() {
				v = v.Clone()
			}
			c.SetOut(0, rowGrad(c, keep, v, n))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
		Doc:    "is the gradient of an embedding bag's weight, sparse or dense.",
		Go:     "-",
		Body: func(c *Ctx) {
			if c.Bool(9) {
				if c.Int(8) == 2 {
					c.Fail(tensor.ErrNotImpl, "embedding_bag: max mode does not support sparse weights")
				}
				c.Return(op.Call1("aten::_embedding_bag_sparse_backward", c.T(0), c.T(1), c.T(2), c.T(3), c.T(4), c.Int(6),
					c.Bool(7), c.Int(8), c.Value(10), c.Int(11)))
				return
			}
			c.Return(op.Call1("aten::_embedding_bag_dense_backward", c.T(0), c.T(1), c.T(3), c.T(4), c.T(5), c.Int(6),
				c.Bool(7), c.Int(8), c.Value(10), c.Int(11)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_embedding_bag_sparse_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
		Doc: "is the gradient of an embedding bag's weight as a sparse tensor with an entry for each index that is " +
			"not padding_idx and in a bag.",
		Go: "-", NoGrad: "gradients of sparse gradients are not recorded",
		CPU: func(c *Ctx) {
			if c.Bool(6) {
				c.Fail(tensor.ErrNotImpl,
					"embedding_backward: scale_grad_by_freq not supported with sparse gradients")
			}
			dt := tensor.Float32
			if c.ArgDType(0) == tensor.Float64 {
				dt = tensor.Float64
			}
			if dt == tensor.Float64 {
				bagEntries[float64](c, dt)
			} else {
				bagEntries[float32](c, dt)
			}
		},
	})
}

// entries are the indices that count, and their numbers; all of them, without numbers, in the usual case.
func entries(ix []int64, counts func(k int) bool) (keep, at []int64) {
	for k := range ix {
		if !counts(k) {
			at = []int64{}
			break
		}
	}
	if at == nil {
		return ix, nil
	}
	for k, i := range ix {
		if counts(k) {
			keep, at = append(keep, i), append(at, int64(k))
		}
	}
	return keep, at
}

// rowGrad is the sparse gradient of a table of n rows with the given entries, whose memory nobody else knows.
func rowGrad(c *Ctx, ix []int64, v *T, n int) *T {
	for k, i := range ix {
		if uint64(i) >= uint64(n) {
			failRow(c, ix, k, nil, n)
		}
	}
	return tensor.NewSparse(tensor.FromSlice(ix, 1, len(ix)), v, []int{n, v.Shape()[1]}, len(ix) < 2, true)
}

// bagEntries sets the result to the entries of a bag's gradient: for each index the gradient of its bag, divided by the
// bag's size where bags are averaged, or times the sample's weight.
func bagEntries[E float32 | float64](c *Ctx, dt tensor.DType) {
	count := c.T(1).Numel()
	if c.T(0).Dim() != 2 || c.T(3).Numel() != count || c.T(4).Numel() != c.T(0).Size(0) ||
		c.Has(8) && c.T(8).Numel() != count {
		c.Fail(tensor.ErrShape, "%s: the gradient must be [bags, columns], offset2bag and per_sample_weights must have "+
			"%d elements, one for each index, and bag_size one for each bag", c.Op().FullName(), count)
	}
	g := tensor.DenseAs(c.T(0), dt)
	src, d, bags := raw[E](g), g.Shape()[1], g.Shape()[0]
	ix, bag, size := longs(c.T(1)), longs(c.T(3)), longs(c.T(4))
	n, mean, pad := c.Int(5), c.Int(7) == 1, c.Int(9)
	var psw []E
	if c.Has(8) {
		psw = raw[E](tensor.DenseAs(c.T(8), dt))
	}
	keep, at := entries(ix, func(k int) bool { return int(ix[k]) != pad && bag[k] < int64(bags) })
	v := tensor.New([]int{len(keep), d}, dt)
	dst := raw[E](v)
	par.For(len(keep), max(1, 1<<14/max(1, d)), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			i := k
			if at != nil {
				i = int(at[k])
			}
			b, s := int(bag[i]), 1.0
			switch {
			case psw != nil:
				s = float64(psw[i])
			case mean:
				s = 1 / float64(max(1, size[b]))
			}
			addScaled(dst[k*d:][:d], src[b*d:][:d], s, true)
		}
	})
	c.SetOut(0, rowGrad(c, keep, tensor.DenseAs(v, c.ArgDType(0)), n))
}

package reduce

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps.
func init() {
	batching.Rule(batching.Dims("dim"), "sum.dim_IntList", "mean.dim", "amax", "amin", "all.dim", "all.dims", "any.dim",
		"any.dims", "nansum", "logsumexp", "linalg_vector_norm", "count_nonzero.dim_IntList", "var.correction",
		"std.correction",
		"var_mean.correction", "std_mean.correction", "prod.dim_int", "max.dim", "min.dim", "hash_tensor")
	batching.Rule(batching.FlatOr("dim"), "argmax", "argmin", "aminmax")
	for name, dim := range map[string]string{"sum": "sum.dim_IntList", "mean": "mean.dim", "prod": "prod.dim_int",
		"all": "all.dim", "any": "any.dim", "max": "amax", "min": "amin"} {
		batching.Rule(batching.Flat("aten::"+dim), name)
	}
	batching.Rule(batching.FlatOr("dim"), "count_nonzero")
	batching.Rule(func(b *batching.Call) []batching.Value {
		if b.Rank(0) != 2 {
			return b.Loop() // to the operator's own error
		}
		return batching.Tensors(b.T(0).Diagonal(tensor.DiagonalOptions{Dim1: 1, Dim2: tensor.Some(2)}).
			SumDim([]int{1}))
	}, "trace")
	batching.Rule(batching.Matrices(map[string]int{"x1": 2, "x2": 2}), "_cdist_forward", "_euclidean_dist")
	batching.Rule(batching.Matrices(map[string]int{"grad_output": 2, "x1": 2, "x2": 2, "cdist": 2}), "_cdist_backward")
	batching.Rule(pairsBatch, "_pdist_forward")
	batching.Rule(pairsBackwardBatch, "_pdist_backward")
	batching.Rule(batching.SizesDims("sizes", "dim"), "value_selecting_reduction_backward")
}

// pairsOf are the rows of each pair that pdist compares, and their numbers: a is in front of b.
func pairsOf(x *T) (rowsA, rowsB, a, b *T) {
	at := op.Call1("aten::triu_indices", x.Size(1), x.Size(1), 1).To(x.Device())
	a, b = op.Call1("aten::select.int", at, 0, 0), op.Call1("aten::select.int", at, 0, 1)
	return x.IndexSelect(1, a), x.IndexSelect(1, b), a, b
}

// pairsBatch is the rule of pdist: the norms of the differences of rows.
func pairsBatch(b *batching.Call) []batching.Value {
	if b.Rank(0) != 2 {
		return b.Loop()
	}
	x, y, _, _ := pairsOf(b.T(0))
	return batching.Tensors(vectorNorm(x.Sub(y), b.C.Float(1), []int{-1}, false, 0))
}

// pairsBackwardBatch is the rule of pdist's gradient: each pair is a batch of cdist with one row on each side. The
// gradient of the second row is the negative of that of the first.
func pairsBackwardBatch(b *batching.Call) []batching.Value {
	if b.Rank(1) != 2 {
		return b.Loop()
	}
	x := b.Full(1)
	rowsA, rowsB, at, bt := pairsOf(x)
	column := func(i int) *T { return b.Full(i).Unsqueeze(-1).Unsqueeze(-1) }
	d := op.Call1("aten::_cdist_backward", column(0), rowsA.Unsqueeze(-2), rowsB.Unsqueeze(-2), b.C.Float(2),
		column(3)).SqueezeDim(-2)
	g := op.Call1("aten::index_add", op.Zeros(x, x.Shape(), x.DType()), 1, at, d)
	return batching.Tensors(op.Call1("aten::index_add", g, 1, bt, d, -1))
}

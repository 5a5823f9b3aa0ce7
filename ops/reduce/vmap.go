package reduce

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps.
func init() {
	batching.Rule(batching.Dims("dim"), "sum.dim_IntList", "mean.dim", "amax", "amin", "all.dim", "all.dims", "any.dim",
		"any.dims", "nansum", "logsumexp", "linalg_vector_norm", "count_nonzero.dim_IntList", "var.correction",
		"std.correction",
		"var_mean.correction", "std_mean.correction", "prod.dim_int", "max.dim", "min.dim")
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
	batching.Rule(batching.SizesDims("sizes", "dim"), "value_selecting_reduction_backward")
}

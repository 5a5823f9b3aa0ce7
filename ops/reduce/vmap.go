package reduce

import "github.com/gotorch-dev/torch/internal/batching"

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
	batching.Rule(batching.SizesDims("sizes", "dim"), "value_selecting_reduction_backward")
}

package shape

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("alias_copy", "as_strided_copy", "constant_pad_nd", "copy", "diag", "diagonal_copy",
		"expand_copy", "lift_fresh_copy", "narrow_copy", "permute_copy", "select_copy", "slice_copy", "slice_scatter",
		"split_with_sizes_copy", "squeeze_copy", "t_copy", "transpose_copy", "tril", "triu", "unbind_copy",
		"unfold_copy", "unsqueeze_copy", "view_copy")
}

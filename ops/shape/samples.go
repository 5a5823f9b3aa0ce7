package shape

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		// views, and the operators that copy what they show
		"alias alias_copy contiguous lift lift_fresh lift_fresh_copy ravel clone squeeze squeeze_ squeeze_copy mT mH "+
			"numpy_T "+
			"atleast_1d atleast_2d atleast_3d fliplr flipud :: 3x4 ; 2x1x3",
		"detach detach_copy :: 3x4 | nograd",
		"t t_ t_copy :: 3x4 ; 7 ; s",
		"matrix_H adjoint linalg_diagonal :: 3x4",
		"type_as view_as reshape_as expand_as :: 3x4 3x4",
		"as_strided as_strided_copy as_strided_ :: 3x4 [2,3] [4,1] 1 | nolayout ; 3x4 [2,2] [1,1] | nolayout nogradgrad",
		"gotorch::strided_place :: 2x3 12 [2,3] [4,1] 1 | nolayout",
		"as_strided_scatter gotorch::strided_scatter :: 3x4 2x3 [2,3] [4,1] 1 | nolayout nograd",
		"broadcast_to expand expand_copy :: 3x1 [3,4] ; 4 [2,3,4] ; s [2,2]",
		"chunk unsafe_chunk :: 7x4 3 ; 3x4 2 1",
		"diagonal diagonal_copy :: 3x4 ; 2x3x4 1 1 2",
		"diagonal_scatter :: 3x4 3 ; 4x4 3 1",
		"diagonal_backward :: 3 [3,4] 0 0 1",
		"diag_embed :: 3x4 ; 3 1",
		"diag :: 3x4 ; 3 1",
		"diagflat :: 3 ; 2x2 1",
		"flatten.using_ints :: 2x3x5 ; 2x3x5 1 2 ; s",
		"unflatten.int :: 6x4 0 [2,3] ; 6x4 0 [-1,3]",
		"hsplit.array :: 3x5 [1,3]", "vsplit.array :: 5x3 [1,3]", "dsplit.array :: 2x3x5 [1,3]",
		"hsplit.int :: 3x4 2", "vsplit.int :: 4x3 2", "dsplit.int :: 2x3x4 2",
		"movedim.int :: 2x3x5 0 2", "movedim.intlist :: 2x3x5 [0,1] [2,0]",
		"narrow narrow_copy :: 5x4 0 1 3", "narrow.Tensor :: 5x4 0 s:i1..2 3 | nolayout",
		"permute permute_copy :: 2x3x5 [2,0,1] ; s []",
		"reshape view view_copy _unsafe_view :: 6x4 [3,8] | nolayout ; 2x3x5 [-1] | nolayout",
		"select.int select_copy.int :: 3x4 0 1 ; 2x3x5 1 -1",
		"select_scatter :: 3x4 4 0 1", "select_backward :: 4 [3,4] 0 1",
		"slice.Tensor slice_copy.Tensor :: 5x4 0 1 4 ; 5x4 1 None None 2 ; 5x4 0 -2",
		"slice_scatter :: 5x4 3x4 0 1 4", "slice_backward :: 3x4 [5,4] 0 1 4 1",
		"split.Tensor split_copy.Tensor unsafe_split.Tensor :: 5x4 2 ; 3x4 3 1",
		"split.sizes split_with_sizes split_with_sizes_copy unsafe_split_with_sizes :: 5x4 [2,3]",
		"squeeze.dim squeeze_.dim squeeze_copy.dim :: 3x1x4 1 ; 3x4 0",
		"squeeze.dims squeeze_.dims squeeze_copy.dims :: 1x3x1 [0,2]",
		"swapaxes swapaxes_ transpose.int transpose_ transpose_copy.int :: 3x4 0 1 ; 2x3x5 0 -1",
		"tensor_split.indices :: 5x4 [1,3]", "tensor_split.sections :: 5x4 3",
		"tensor_split.tensor_indices_or_sections :: 5x4 {1,3}",
		"unbind.int unbind_copy.int :: 3x4 ; 3x4 1",
		"unfold unfold_copy :: 7x2 0 3 2 ; 7 0 3 1", "unfold_backward :: 3x2x3 [7,2] 0 3 2",
		"unsqueeze unsqueeze_ unsqueeze_copy :: 3x4 1 ; s 0 ; 3x4 -1",
		// joining and arranging
		"cat :: [2x3,4x3] ; [3x2,3x1] 1 ; [3,0,2] ; [2x3]", "stack :: [2x3,2x3] ; [2x3,2x3] 1",
		"hstack column_stack :: [3x2,3x1] ; [3,3]", "vstack dstack :: [2x3,2x3] ; [3,3]",
		"block_diag :: [2x3,1x2] ; [s,2x2]", "_chunk_cat :: [4x3,2x3] 0 2",
		"atleast_1d.Sequence atleast_2d.Sequence atleast_3d.Sequence :: [s,3,2x3]", "broadcast_tensors :: [3x1,4]",
		"cartesian_prod :: [3,2]", "combinations :: 4 ; 4 2 true",
		"meshgrid :: [3,2]", "meshgrid.indexing :: [3,2] indexing=xy",
		"flip :: 3x4 [0] ; 2x3x5 [0,2]", "roll :: 3x4 [1] [0] ; 3x4 [2] ; 2x3x5 [1,-1] [0,2]",
		"rot90 :: 3x4 ; 3x4 2 ; 3x4 -1",
		"repeat :: 3x4 [2,3] ; 3 [2,2]", "tile :: 3x4 [2]", "tril triu :: 3x4 ; 4x4 1 ; 2x3x3 -1",
		"repeat_interleave.self_int :: 3x4 2 ; 3x4 2 1", "repeat_interleave.self_Tensor :: 3x4 {1,0,2} 0",
		"repeat_interleave.Tensor :: {1,0,2}",
		"pad F::pad :: 3x4 [1,2] ; 3x4 [1,2,-1,1] ; 2x3x4 [1,1] reflect ; 2x3x4 [2,1] replicate ; 2x3x4 [1,1] circular",
		"constant_pad_nd :: 3x4 [1,2] ; 3x4 [1,2,0,1] 1.5",
		"gotorch::pad_backward :: 2x3x7 [2,3,4] [1,2] reflect ; 2x4x7 [2,3,4] [2,1,1,0] replicate ; 2x3x7 [2,3,4] "+
			"[1,2] circular",
		"_pad_circular :: 2x3x4 [1,2] ; 2x3x4 [2,-1] ; 2x3x4 [0,0]",
		"reflection_pad1d replication_pad1d :: 2x3x5 [1,2]",
		"reflection_pad2d replication_pad2d :: 2x3x4 [1,2,1,0] ; 2x3x4 [-1,2,2,-1]",
		"reflection_pad3d replication_pad3d :: 2x3x4x3 [1,2,1,0,1,1]",
		"channel_shuffle F::channel_shuffle :: 1x4x2x2 2", "sum_to_size :: 3x4 [1,4] ; 2x3x4 [4]",
		"torch::unravel_index :: {5,1,11} [3,4]",
		// creation
		"arange :: 5 ; 2.5", "arange.start :: 1 5", "arange.start_step :: 1 5 2 ; 5 1 -1.5", "eye :: 3", "eye.m :: 3 4",
		"full :: [2,3] 1.5 ; [2] 3", "full_like :: 3x4 1.5",
		"linspace logspace :: 0 2 5 ; 1 -1 4", "linspace.Scalar_Tensor logspace.Scalar_Tensor :: 0 s 5",
		"linspace.Tensor_Scalar logspace.Tensor_Scalar :: s 2 5",
		"linspace.Tensor_Tensor logspace.Tensor_Tensor :: s s 5", "new_full :: 3x4 [2,2] 1.5",
		"new_ones new_zeros :: 3x4 [2,2]", "ones zeros :: [2,3] ; []", "ones_like zeros_like :: 3x4",
		"scalar_tensor :: 2.5", "tril_indices triu_indices :: 3 4 ; 3 4 1",
		"range :: 0 5 ; 1.5 4 dtype=f64", "range.step :: 0 5 2 ; 4 -1 -0.5 dtype=f64",
		"fill_diagonal_ :: 3x4 0.5 ; 3x3x3 2 ; 7x2 2 true",
		// conversion and questions
		"Tensor::bfloat16 Tensor::bool Tensor::byte Tensor::cdouble Tensor::cfloat Tensor::char Tensor::double "+
			"Tensor::float Tensor::half Tensor::int Tensor::long Tensor::short :: 3x4 | nograd ; 3x4:i5 | nograd",
		"view.dtype :: 3x4:i9 f64 | nograd nolayout", "chalf :: 3x4 | nograd",
		"_to_copy to.dtype :: 3x4 f64 ; 3x4 i64 | nograd",
		"to.dtype_layout :: 3x4 dtype=f64", "to.other :: 3x4 2 ; 3x4 2:i3 | nograd", "Tensor::to :: 3x4 None",
		"copy copy_ :: 3x4 3x4 ; 3x4 4",
		"dim numel is_complex is_conj is_floating_point is_neg is_inference is_signed "+
			"size :: 3x4", "is_contiguous stride storage_offset :: 3x4 | nolayout",
		"is_contiguous.memory_format :: 3x4x2x2 channels_last | nolayout", "is_nonzero item _local_scalar_dense :: s",
		"is_same_size :: 3x4 3x4 ; 3x4 4", "size.int sym_size.int :: 3x4 1",
		"stride.int sym_stride.int :: 3x4 1 | nolayout",
		"torch::broadcast_shapes :: [3,1] [1,4] | nolayout nograd ; [3] | nolayout nograd",
		"sym_size sym_numel :: 3x4", "sym_stride sym_storage_offset :: 3x4 | nolayout",
		"resize_ :: 3x4 [4,3] | nolayout nograd", "resize_as_ :: 3x4 4x3 | nolayout nograd",
		"set_.source_Tensor :: 3x4 2x3 | nolayout nograd",
		"set_.source_Tensor_storage_offset :: 3x4 3x4 1 [2,3] [4,1] | nolayout nograd",
		"set_ :: 3x4 | nolayout nograd",
	)
	samples.None("memory that nothing was written to",
		"empty.memory_format empty_like empty_permuted empty_strided new_empty new_empty_strided")
	samples.None("no result", "_assert_scalar _assert_async _assert_async.msg _assert_tensor_metadata")
	samples.None("a device cannot be written in the notation; to.dtype has the same body", "to.device")
	for _, d := range []tensor.DeviceType{tensor.CPUDevice, tensor.CUDADevice} {
		tensor.RegisterAMP(d, tensor.AMPPromote, "aten::cat", "aten::stack")
	}
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::reflection_pad1d", "aten::reflection_pad2d",
		"aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::cat", "aten::stack")
}

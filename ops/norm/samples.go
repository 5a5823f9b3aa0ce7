package norm

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"batch_norm :: 4x3x2 3 3 3 3@0.5..2 true 0.1 1e-5 false | const=3,4 ; 4x3 3 3 3 3@0.5..2 false 0.1 1e-5 "+
			"false | const=3,4 ; 4x3x2x5 None None None None true 0.1 1e-5 false",
		"F::batch_norm :: 4x3x2 3 3@0.5..2 3 3 true | const=1,2 ; 4x3 3 3@0.5..2 | const=1,2",
		"native_batch_norm _native_batch_norm_legit :: 4x3x2 3 3 3 3@0.5..2 true 0.1 1e-5 | first const=3,4 ; 4x3 3 "+
			"3 3 3@0.5..2 false 0.1 1e-5 | first const=3,4",
		"cudnn_batch_norm miopen_batch_norm :: 4x3x2 3 3 3 3@0.5..2 true 0.1 1e-5 | first const=3,4",
		"_native_batch_norm_legit.no_stats :: 4x3x2 3 3 true 0.1 1e-5 | first",
		"_native_batch_norm_legit_no_training :: 4x3x2 3 3 3 3@0.5..2 0.1 1e-5 | first const=3,4",
		"_native_batch_norm_legit_functional :: 4x3x2 3 3 3 3@0.5..2 true 0.1 1e-5 | first const=3,4 ; "+
			"4x3 3 3 3 3@0.5..2 false 0.1 1e-5 | first const=3,4",
		"_batch_norm_with_update :: 4x3x2 3 3 3 3@0.5..2 0.1 1e-5 | first const=3,4",
		"native_batch_norm_backward :: 4x3x2 4x3x2 3 3 3@0.5..2 3 3@0.5..2 true 1e-5 [true,true,true] | nograd",
		"instance_norm :: 4x3x5 3 3 3 3@0.5..2 true 0.1 1e-5 false | const=3,4",
		"F::instance_norm :: 4x3x5 ; 4x3x5 3 3@0.5..2 3 3 | const=1,2",
		"group_norm F::group_norm :: 2x4x3 2 4 4 ; 2x4x3x2 4", "native_group_norm :: 2x4x3 4 4 2 4 3 2 1e-5 | first",
		"native_group_norm_backward :: 2x4x3 2x4x3 2x2 2x2@0.5..2 4 2 4 3 2 [true,true,true]",
		"layer_norm F::layer_norm :: 3x4 [4] 4 4 ; 2x3x4 [3,4] 3x4 ; 2x3x4 [4]",
		"native_layer_norm :: 3x4 [4] 4 4 1e-5 | first",
		"native_layer_norm_backward :: 3x4 3x4 [4] 3x1 3x1@0.5..2 4 4 [true,true,true] | nograd",
		"rms_norm F::rms_norm :: 3x4 [4] 4 ; 2x3x4 [3,4]", "_fused_rms_norm :: 3x4 [4] 4 1e-6 | first",
		"norm_except_dim :: 3x4x2 ; 3x4x2 2 1 ; 3x4 2 -1", "_weight_norm :: 3x4x2 3x1x1 ; 3x4x2 1x1x2 2 ; 3x4 s -1",
		"F::local_response_norm :: 2x4x3x3 3",
	)
	samples.None("an inner step of rms_norm, which float32 alone takes; the family's tests compare it with the "+
		"composed form", "_fused_rms_norm_backward")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32, "aten::layer_norm", "aten::native_layer_norm",
		"aten::group_norm", "aten::rms_norm")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPKeep, "aten::layer_norm", "aten::native_layer_norm",
		"aten::group_norm", "aten::native_group_norm", "aten::rms_norm", "aten::_fused_rms_norm")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::_fused_rms_norm", "aten::native_group_norm")
}

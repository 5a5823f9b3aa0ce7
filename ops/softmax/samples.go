package softmax

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"softmax.int log_softmax.int special_softmax special_log_softmax _safe_softmax :: 3x4 0 ; 2x3x5 -1 ; 2x3x5 1 "+
			"; s 0",
		"_softmax _log_softmax :: 3x4 1 false ; 2x3x5 1 false",
		"_softmax_backward_data _log_softmax_backward_data :: 3x4 3x4@0.1..0.4 1 f32 | nograd",
		"F::softmax F::log_softmax F::softmin :: 3x4 1 ; 2x3x5 1",
	)
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32, "aten::softmax", "aten::log_softmax")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPKeep, "aten::softmax", "aten::log_softmax", "aten::_softmax",
		"aten::_log_softmax")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::_log_softmax", "aten::_softmax")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32OptDType, "aten::log_softmax.int", "aten::softmax.int")
}

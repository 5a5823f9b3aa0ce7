package quantized

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::fake_quantize_per_tensor_affine")
	samples.Table(
		"dequantize.self :: 3x4 ; 2x0 | nograd",
		"dequantize.tensors :: [2x3,4] | nograd",
		"fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask :: 3x4 0.1 2 -8 7 | nogradgrad",
	)
}

package quantized

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

const noSamples = "takes or gives a quantized tensor or packed parameters: internal/conformance/quantcheck compares it"

func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::fake_quantize_per_tensor_affine")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPKeep, "aten::fake_quantize_per_tensor_affine.tensor_qparams")
	samples.None(noSamples, "quantize_per_tensor quantize_per_tensor.tensor_qparams quantize_per_tensor.tensors "+
		"quantize_per_tensor_dynamic quantize_per_channel int_repr q_scale q_zero_point q_per_channel_scales "+
		"q_per_channel_zero_points q_per_channel_axis qscheme _make_per_tensor_quantized_tensor "+
		"_make_per_channel_quantized_tensor empty_quantized quantized_lstm.input quantized_gru.input")
	samples.None("its results are integers, or made of integers with limits: see decomposed_test.go",
		"quantized_decomposed::quantize_per_tensor quantized_decomposed::quantize_per_tensor.tensor "+
			"quantized_decomposed::dequantize_per_tensor quantized_decomposed::dequantize_per_tensor.tensor "+
			"quantized_decomposed::quantize_per_channel quantized_decomposed::dequantize_per_channel "+
			"quantized_decomposed::choose_qparams.tensor quantized_decomposed::choose_qparams_symmetric.tensor")
	samples.None("its arguments are bytes: see bytes_test.go", "gotorch::bytes_conv gotorch::bytes_linear "+
		"gotorch::bytes_add gotorch::bytes_mul gotorch::bytes_map gotorch::bytes_max_pool2d "+
		"gotorch::bytes_avg_pool2d")
	samples.None("writes several of its arguments: internal/conformance/quantcheck compares it",
		"fused_moving_avg_obs_fake_quant _fused_moving_avg_obs_fq_helper")
	const step = "| nolayout nograd"
	samples.Table(
		"dequantize.self :: 3x4 ; 2x0 | nograd",
		"dequantize.tensors :: [2x3,4] | nograd",
		"fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask :: 3x4 0.25 2 -8 7 "+step,
		"fake_quantize_per_tensor_affine.tensor_qparams :: 3x4 {0.25} {2} -8 7 "+step,
		"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams :: 3x4 {0.25} {2} {1} -8 7 "+step,
		"fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask :: 2x3 {0.25,0.5} {1,0} 0 -8 7 "+step,
		"fake_quantize_per_tensor_affine_cachemask_backward fake_quantize_per_channel_affine_cachemask_backward :: "+
			"3x4 3x4:b | nograd",
		"_fake_quantize_learnable_per_tensor_affine :: 3x4 {0.25} {2.0} -8 7 "+step,
		"_fake_quantize_learnable_per_channel_affine :: 2x3 {0.25,0.5} {1.0,0.0} 0 -8 7 "+step,
		"_fake_quantize_learnable_per_tensor_affine_backward :: 3x4 3x4 {0.25} {2.0} -8 7 "+step,
		"_fake_quantize_learnable_per_channel_affine_backward :: 2x3 2x3 {0.25,0.5} {1.0,0.0} 0 -8 7 "+step,
	)
	tensor.RegisterSamples("aten::_weight_int8pack_mm", func(s *tensor.Sampler) {
		a, _ := samples.Tensor("3x8", 0)
		b, _ := samples.Tensor("16x8", 0)
		scales, _ := samples.Tensor("16", 0)
		call := s.Add(a, b.MulScalar(60).To(tensor.Int8), scales)
		call.NoGrad, call.FixedOut = true, true
	})
	samples.None("packs numbers of 4 bits: see the reference cases", "_convert_weight_to_int4pack_for_cpu "+
		"_weight_int4pack_mm_for_cpu")
}

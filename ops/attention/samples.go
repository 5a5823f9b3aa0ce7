package attention

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"scaled_dot_product_attention F::scaled_dot_product_attention :: 2x3x4 2x5x4 2x5x6 ; 1x2x3x4 1x2x3x4 1x2x3x4 "+
			"is_causal=true ; 2x3x4 2x5x4 2x5x4 3x5 scale=0.7 ; 1x4x3x2 1x2x3x2 1x2x3x2 enable_gqa=true",
		"_native_multi_head_attention :: 2x3x4 2x3x4 2x3x4 4 2 12x4 12 4x4 4 ; 2x3x4 2x5x4 2x5x4 4 2 12x4 12 4x4 4 "+
			"average_attn_weights=false",
		"_transformer_encoder_layer_fwd :: 2x3x4 4 2 12x4 12 4x4 4 true false 1e-5 4 4 4 4 6x4 6 4x6 4 ; "+
			"2x3x4 4 2 12x4 12 4x4 4 false true 1e-5 4 4 4 4 6x4 6 4x6 4",
		"F::multi_head_attention_forward :: 3x2x4 3x2x4 3x2x4 4 2 12x4 12 None None false 0.0 4x4 4",
	)
	samples.None("a fused step of scaled_dot_product_attention, whose arguments are its results; the family's tests "+
		"compare it with the composed form",
		"_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention_for_cpu_backward "+
			"gotorch::scaled_dot_product_flash_attention_dropout_backward")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPLower, "aten::_native_multi_head_attention")
	for _, d := range []tensor.DeviceType{tensor.CPUDevice, tensor.CUDADevice} {
		tensor.RegisterAMP(d, tensor.AMPLower, "aten::scaled_dot_product_attention")
	}
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPKeep, "aten::_scaled_dot_product_flash_attention_for_cpu")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::_scaled_dot_product_flash_attention_for_cpu")
}

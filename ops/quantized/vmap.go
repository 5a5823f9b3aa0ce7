package quantized

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of quantization that gives plain tensors, for functions that vmap maps: the elements of all
// examples at once. Scales that differ between the examples take one example after the other.
func init() {
	batching.Rule(batching.Leading("self"), "fake_quantize_per_tensor_affine_cachemask",
		"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "_fake_quantize_learnable_per_tensor_affine")
	batching.Rule(batching.Leading("input"), "quantized_decomposed::quantize_per_tensor",
		"quantized_decomposed::quantize_per_tensor.tensor", "quantized_decomposed::dequantize_per_tensor",
		"quantized_decomposed::dequantize_per_tensor.tensor")
	batching.Rule(channelBatch, "quantized_decomposed::quantize_per_channel",
		"quantized_decomposed::dequantize_per_channel")
	batching.Rule(batching.Rows("self"), "_weight_int4pack_mm_for_cpu")
	batching.Rule(channelBatch, "fake_quantize_per_channel_affine_cachemask",
		"_fake_quantize_learnable_per_channel_affine")
}

// channelBatch moves the axis of the channels behind the batch.
func channelBatch(b *tensor.Batched) []tensor.Value {
	if b.Has(1) || b.Has(2) || b.Rank(0) == 0 {
		return b.Loop()
	}
	args := b.Args()
	args[3] = tensor.IntValue(batching.Dim(b, b.C.Int(3), b.Rank(0)))
	return b.Call(args)
}

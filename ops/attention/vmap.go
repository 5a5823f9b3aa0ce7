package attention

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps: the sequences of all examples become one batch.
func init() {
	batching.Rule(flashBatch, "_scaled_dot_product_flash_attention_for_cpu",
		"_scaled_dot_product_flash_attention_for_cpu_backward")
}

func flashBatch(b *tensor.Batched) []tensor.Value {
	if b.C.Has(b.Index("attn_mask")) || b.C.Float(b.Index("dropout_p")) != 0 {
		return b.Loop()
	}
	return batching.Batch(b)
}

package attention_test

import (
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestSeen compares what a tracer sees of the functions with the operators that PyTorch 2.15 lists for its own
// (make_fx with pre_dispatch).
func TestSeen(t *testing.T) {
	fill := func(seed int, sh ...int) *tensor.Tensor { return opstest.Fill(tensor.Float32, seed, sh...) }
	q, z, z2, z3 := fill(1, 1, 2, 3, 4), fill(2, 3, 2, 4), fill(3, 3, 2, 4), fill(4, 3, 2, 4)
	w, b, o, ob := fill(5, 12, 4), fill(6, 12), fill(7, 4, 4), fill(8, 4)
	mha := func(q, k, v *tensor.Tensor, opt F.MultiHeadAttentionForwardOptions) func() {
		return func() { F.MultiHeadAttentionForward(q, k, v, 4, 2, w, b, nil, nil, false, 0, o, ob, opt) }
	}
	const (
		three = "linear unflatten.int unsqueeze transpose.int squeeze.dim contiguous select.int select.int " +
			"select.int "
		heads   = "view transpose.int view transpose.int view transpose.int "
		weights = "mul.Tensor transpose.int bmm softmax.int bmm transpose.int reshape linear view view mean.dim"
		plain   = "view view view scaled_dot_product_attention permute reshape linear view"
		chunks  = "chunk chunk linear linear linear "
	)
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"scaled_dot_product_attention", func() { F.ScaledDotProductAttention(q, q, q) },
			"scaled_dot_product_attention"},
		{"self-attention", mha(z, z, z, F.MultiHeadAttentionForwardOptions{}), three + heads + weights},
		{"self-attention without weights", mha(z, z, z, F.MultiHeadAttentionForwardOptions{NoNeedWeights: true}),
			three + heads + plain},
		{"keys that are the values", mha(z, z2, z2, F.MultiHeadAttentionForwardOptions{}),
			"split_with_sizes split_with_sizes linear linear unflatten.int unsqueeze transpose.int squeeze.dim " +
				"contiguous select.int select.int " + heads + weights},
		{"three inputs", mha(z, z2, z3, F.MultiHeadAttentionForwardOptions{}), chunks + heads + weights},
		{"three inputs without weights", mha(z, z2, z3, F.MultiHeadAttentionForwardOptions{NoNeedWeights: true}),
			chunks + heads + plain},
	} {
		opstest.Seen(t, c.name, c.f, c.want)
	}
}

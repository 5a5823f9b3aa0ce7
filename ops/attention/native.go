package attention

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The operators of this file are those that torch.nn.MultiheadAttention and TransformerEncoderLayer call in evaluation
// (PyTorch's "fast path"), so that exported encoders are made of them. Here they are compositions of the operators that
// the modules call otherwise; PyTorch's own ones have no gradients, these have.
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/transformers/attention.cpp

// The meanings of a mask, by mask_type.
const (
	sourceMask  = 0 // (L, S), the same for all examples
	paddingMask = 1 // (N, S), the same for all queries
)

// nativeMask gives a mask the shape of the scores, (N, heads, L, S) or one that broadcasts to it.
func nativeMask(c *Ctx, i, kind int) *T {
	m := c.T(i)
	if m == nil {
		return nil
	}
	switch kind {
	case paddingMask:
		if m.Dim() != 2 {
			c.Fail(tensor.ErrShape, "Mask Type 1 should be a padding mask of 2 dimensions, got %d", m.Dim())
		}
		return m.Unsqueeze(1).Unsqueeze(1)
	case sourceMask:
		if m.Dim() != 2 {
			c.Fail(tensor.ErrShape, "Mask Type 0 should be a source mask of 2 dimensions, got %d", m.Dim())
		}
	}
	return m
}

// nativeHeads computes attention on batch-first inputs (N, L, E) and (N, S, E). Boolean masks are true where attention
// is not allowed. weights is (N, heads, L, S).
func nativeHeads(c *Ctx, q, k, v *T, heads int, qkvW, qkvB, projW, projB, mask *T) (out, weights *T) {
	if q.Dim() != 3 || k.Dim() != 3 || v.Dim() != 3 {
		c.Fail(tensor.ErrShape, "expected 3-D `query`, `key` and `value`, got %d-D, %d-D and %d-D tensors", q.Dim(), k.Dim(),
			v.Dim())
	}
	e := q.Size(-1)
	if heads < 1 || e%heads != 0 {
		c.Fail(tensor.ErrValue, "`embed_dim` %d must divide evenly by `num_heads` %d", e, heads)
	}
	if qkvW.Dim() != 2 || qkvW.Size(0) != 3*e {
		c.Fail(tensor.ErrShape, "expected `qkv_weight` first dim to be 3x embed_dim, got %s",
			tensor.ShapeString(qkvW.Shape()))
	}
	if qkvB.Dim() != 1 || qkvB.Size(0) != 3*e {
		c.Fail(tensor.ErrShape, "expected `qkv_bias` to be 1-D with 3x embed_dim elements, got %s",
			tensor.ShapeString(qkvB.Shape()))
	}
	if e == 0 {
		c.Fail(tensor.ErrShape, "expected `query` with an embed_dim above 0")
	}
	w, b := qkvW.Chunk(3), qkvB.Chunk(3)
	split := func(x *T, i int) *T {
		y := linear(x, w[i], b[i])
		return y.View([]int{x.Size(0), x.Size(1), heads, e / heads}).Transpose(1, 2)
	}
	qh := split(q, 0).MulScalar(1 / math.Sqrt(float64(e/heads)))
	scores := qh.MatMul(split(k, 1).Transpose(-2, -1))
	if mask = canonicalMask(c, mask, "mask", scores.DType()); mask != nil {
		scores = scores.Add(mask)
	}
	weights = scores.Softmax(-1)
	joined := weights.MatMul(split(v, 2)).Transpose(1, 2).Reshape([]int{q.Size(0), q.Size(1), e})
	return linear(joined, projW, projB), weights
}

// maskKind is argument i, a mask_type; None says that the mask is of the shape of the scores, or that there is none.
func maskKind(c *Ctx, i int) int {
	if !c.Has(i) {
		return -1
	}
	return c.Int(i)
}

func nativeMultiHead(c *Ctx) {
	out, weights := nativeHeads(c, c.T(0), c.T(1), c.T(2), c.Int(4), c.T(5), c.T(6), c.T(7), c.T(8),
		nativeMask(c, 9, maskKind(c, 12)))
	switch {
	case !c.Bool(10):
		weights = nil
	case c.Bool(11):
		weights = op.Call1("aten::mean.dim", weights, []int{1})
	}
	c.Return(out, weights)
}

// encoderLayer is one layer of a transformer's encoder: attention and a feed-forward network, each with a shortcut and
// a layer norm behind it, or in front of it with norm_first.
func encoderLayer(c *Ctx) {
	x, e := c.T(0), c.Int(1)
	gelu, normFirst, eps := c.Bool(7), c.Bool(8), c.Float(9)
	norm := func(x *T, i int) *T { return op.Call1("aten::layer_norm", x, []int{e}, c.T(i), c.T(i+1), eps) }
	mask := nativeMask(c, 18, maskKind(c, 19))
	attend := func(y *T) *T {
		out, _ := nativeHeads(c, y, y, y, c.Int(2), c.T(3), c.T(4), c.T(5), c.T(6), mask)
		return out
	}
	feed := func(y *T) *T {
		y = linear(y, c.T(14), c.T(15))
		if gelu {
			y = op.Call1("aten::gelu", y)
		} else {
			y = y.ReLU()
		}
		return linear(y, c.T(16), c.T(17))
	}
	if normFirst {
		x = x.Add(attend(norm(x, 10)))
		x = x.Add(feed(norm(x, 12)))
	} else {
		x = norm(x.Add(attend(x)), 10)
		x = norm(x.Add(feed(x)), 12)
	}
	c.Return(x)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
		Go:     "-",
		Doc: "is the attention of nn.MultiheadAttention in evaluation, for batch-first inputs. The second result, the " +
			"weights, is nil without needWeights.",
		Body: nativeMultiHead,
	})
	tensor.Register(tensor.Def{
		Schema: "_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
		Go:     "-",
		Doc:    "is nn.TransformerEncoderLayer in evaluation, for batch-first input.",
		Body:   encoderLayer,
	})
}

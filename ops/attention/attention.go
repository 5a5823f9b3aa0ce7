package attention

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

type (
	// T is a tensor.
	T = tensor.Tensor
	// Ctx is a call.
	Ctx = tensor.Ctx
)

// additive turns a boolean mask, true where attention is wanted, into one of like's dtype to be added to scores: 0
// and -inf.
func additive(mask, like *T) *T {
	return like.NewZeros(mask.Shape()).MaskedFillScalar(mask.LogicalNot(), math.Inf(-1))
}

// causal is the additive mask that lets row i attend to columns up to i.
func causal(rows, cols int, like *T) *T {
	return additive(like.NewOnes([]int{rows, cols}, tensor.NewOnesOptions{DType: tensor.Bool}).Tril(), like)
}

func sdpa(c *Ctx) {
	q, k, v, mask := c.T(0), c.T(1), c.T(2), c.T(3)
	p, isCausal := c.Float(4), c.Bool(5)
	gqa := c.Bool(7)
	if q.DType() != k.DType() || q.DType() != v.DType() {
		c.Fail(tensor.ErrDType, "Expected query, key, and value to have the same dtype, but got query.dtype: %s "+
			"key.dtype: %s and value.dtype: %s instead.",
			q.DType().ClassName(), k.DType().ClassName(), v.DType().ClassName())
	}
	if q.Dim() < 2 || k.Dim() < 2 || v.Dim() < 2 {
		c.Fail(tensor.ErrShape, "Expected query, key, and value to all be  at least 2 dimensional, but got "+
			"query.dim: %d, key.dim: %d and value.dim: %d instead.", q.Dim(), k.Dim(), v.Dim())
	}
	if mask != nil {
		if isCausal {
			c.FailHint(tensor.ErrValue, "in Go: set AttnMask or IsCausal, not both",
				"_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
		}
		if mask.DType() != tensor.Bool && mask.DType() != tensor.Float32 && mask.DType() != q.DType() {
			c.Fail(tensor.ErrDType, "Expected attn_mask dtype to be bool or float or to match query dtype, but got "+
				"attn_mask.dtype: %s and  query.dtype: %s instead.", mask.DType().ClassName(), q.DType().ClassName())
		}
	}
	scale := 1 / math.Sqrt(float64(q.Size(-1)))
	if c.Has(6) {
		scale = c.Float(6)
	}
	ways := tensor.AttentionAllowed()
	if ways&(tensor.AttentionMath|tensor.AttentionFlash) == 0 {
		c.Fail(tensor.ErrNotImpl, "No viable backend for scaled_dot_product_attention was found. This is likely due to "+
			"turning off both the math kernel and the fused kernels.")
	}
	// PyTorch's kernel has no dropout: who looks on sees the composition
	if ways&tensor.AttentionFlash != 0 && (p == 0 || tensor.Unwatched()) {
		if out := tiled(q, k, v, mask, p, isCausal, scale, gqa); out != nil {
			c.Return(out)
			return
		}
	}
	if ways&tensor.AttentionMath == 0 {
		c.Fail(tensor.ErrNotImpl, "No available kernel. Aborting execution.")
	}
	if gqa && q.Dim() > 2 {
		k, v = repeatHeads(c, k, q.Size(-3)), repeatHeads(c, v, q.Size(-3))
	}
	c.Return(composed(q, k, v, mask, isCausal, scale, func(w *T) *T {
		if p > 0 {
			w = op.Call1("aten::dropout", w, p, true)
		}
		return w
	}))
}

// composed is attention in public operators, with all scores in memory: for gradients of gradients, for gradients of
// the mask, and for what else the tiles do not serve. drop is applied to the weights.
func composed(q, k, v, mask *T, isCausal bool, scale float64, drop func(w *T) *T) *T {
	if mask != nil && mask.DType() == tensor.Bool {
		mask = additive(mask, q)
	}
	if isCausal {
		mask = causal(q.Size(-2), k.Size(-2), q)
	}
	half := q.DType() == tensor.Float16 || q.DType() == tensor.BFloat16
	dt := q.DType()
	if half { // scores and weights in single precision, one rounding at the end
		q, k, v = q.ToDType(tensor.Float32), k.ToDType(tensor.Float32), v.ToDType(tensor.Float32)
		if mask != nil {
			mask = mask.ToDType(tensor.Float32)
		}
	}
	// both factors take the root of the scale, so that neither overflows in half precision
	root := math.Sqrt(math.Abs(scale))
	qs := q.MulScalar(math.Copysign(root, scale))
	scores := qs.MatMul(k.MulScalar(root).Transpose(-2, -1))
	if mask != nil {
		scores = scores.Add(mask)
	}
	out := drop(op.Call1("aten::_safe_softmax", scores, -1)).MatMul(v)
	if half {
		out = out.ToDType(dt)
	}
	return out
}

// repeatHeads repeats each head so that there are n of them.
func repeatHeads(c *Ctx, x *T, n int) *T {
	h := x.Size(-3)
	if h != n && (h == 0 || n%h != 0) {
		c.Fail(tensor.ErrShape, "Number of heads in key and value must divide the number of heads in query, got %d "+
			"and %d", h, n)
	}
	return expandHeads(x, n)
}

// expandHeads repeats each of the heads of x so that there are n, a multiple of their number.
func expandHeads(x *T, n int) *T {
	h := x.Size(-3)
	if h == n {
		return x
	}
	d := x.Dim()
	sh := append([]int(nil), x.Shape()[:d-2]...)
	wide := append(append(append([]int(nil), sh...), n/h), x.Shape()[d-2:]...)
	flat := append(append(append([]int(nil), x.Shape()[:d-3]...), n), x.Shape()[d-2:]...)
	return x.Unsqueeze(-3).Expand(wide).Reshape(flat)
}

var opSDPA = tensor.Slot("aten::scaled_dot_product_attention")

func init() {
	tensor.Register(tensor.Def{
		Schema: "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
		Doc: "is softmax(query·keyᵀ·scale + mask)·value for query (…, L, E), key (…, S, E), value (…, S, Ev); " +
			"scale is 1/sqrt(E) unless given. A boolean mask is true where attention is wanted. It is " +
			"nn/functional's ScaledDotProductAttention.",
		Body: sdpa,
	})
	tensor.Register(tensor.Def{
		Schema: "F::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, float? scale=None, bool enable_gqa=False) -> Tensor",
		Doc: "is softmax(query·keyᵀ·scale + mask)·value for query (…, L, E), key (…, S, E), value (…, S, Ev); " +
			"scale is 1/sqrt(E) unless given. A boolean mask is true where attention is " +
			"wanted.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
		Body: func(c *Ctx) {
			d := tensor.NewCall(opSDPA, 8)
			for i := range 8 {
				*d.Arg(i) = c.Value(i)
			}
			c.Return(d.Do1())
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::multi_head_attention_forward(Tensor query, Tensor key, Tensor value, int embed_dim_to_check, int num_heads, Tensor? in_proj_weight, Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, float dropout_p, Tensor out_proj_weight, Tensor? out_proj_bias, bool training=True, Tensor? key_padding_mask=None, bool need_weights=True, Tensor? attn_mask=None, bool use_separate_proj_weight=False, Tensor? q_proj_weight=None, Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? static_k=None, Tensor? static_v=None, bool average_attn_weights=True, bool is_causal=False) -> (Tensor, Tensor)",
		Doc: "computes attention of several heads on query (L, N, E), key and value (S, N, E), as MultiheadAttention " +
			"does: it projects the three, computes softmax(q·kᵀ/sqrt(E/heads) + masks)·v for each head, and projects " +
			"the joined heads. " +
			"It returns the outputs (L, N, E) and, with needWeights, the attention weights (N, L, S), or (N, heads, " +
			"L, S) without averageAttnWeights. Boolean masks are true where attention is not allowed.\n" +
			"https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html",
		Body: multiHead,
	})
}

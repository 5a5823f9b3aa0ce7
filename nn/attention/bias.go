package attention

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// CausalVariant says where the triangle of a causal mask that is not square lies.
type CausalVariant int

// The variants.
const (
	UpperLeft  CausalVariant = iota + 1 // query i attends to keys 0 … i
	LowerRight                          // the last query attends to all keys
)

// CausalBias is a causal mask of the given numbers of queries and keys. It has no memory until it is materialized.
type CausalBias struct {
	Variant           CausalVariant
	SeqLenQ, SeqLenKV int
}

// CausalUpperLeft is a lower triangle of True that begins in the upper left corner.
//
// https://docs.pytorch.org/docs/stable/generated/torch.nn.attention.bias.causal_upper_left.html
func CausalUpperLeft(seqLenQ, seqLenKV int) *CausalBias { return newBias(UpperLeft, seqLenQ, seqLenKV) }

// CausalLowerRight is a lower triangle of True that ends in the lower right corner.
//
// https://docs.pytorch.org/docs/stable/generated/torch.nn.attention.bias.causal_lower_right.html
func CausalLowerRight(seqLenQ, seqLenKV int) *CausalBias {
	return newBias(LowerRight, seqLenQ, seqLenKV)
}

func newBias(v CausalVariant, q, kv int) *CausalBias {
	if q < 0 || kv < 0 {
		tensor.Fail(tensor.ErrShape, "CausalBias: lengths must not be negative, got %d and %d", q, kv)
	}
	if v == LowerRight && q > kv {
		tensor.Warn("Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!")
	}
	return &CausalBias{v, q, kv}
}

// Materialize is the mask [SeqLenQ, SeqLenKV], true where attention is wanted.
func (b *CausalBias) Materialize(device tensor.Device) *Tensor {
	diagonal := 0
	if b.Variant == LowerRight {
		diagonal = b.SeqLenKV - b.SeqLenQ
	}
	return torch.Ones([]int{b.SeqLenQ, b.SeqLenKV}, torch.OnesOptions{DType: torch.Bool, Device: device}).
		Tril(torch.TrilOptions{Diagonal: diagonal})
}

// String prints the mask as Python does.
func (b *CausalBias) String() string { return fmt.Sprint(b.Materialize(tensor.Device{})) }

// Options are those of attention with a CausalBias.
type Options struct {
	DropoutP  float64
	Scale     tensor.Opt[float64]
	EnableGQA bool
}

// Attention is scaled_dot_product_attention of query (…, L, E), key (…, S, E) and value (…, S, Ev) with the bias as
// mask. Where the triangle begins in the upper left corner, or the mask is square, no mask is made.
func (b *CausalBias) Attention(query, key, value *Tensor, opts ...Options) *Tensor {
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	if query.Dim() < 2 || key.Dim() < 2 || query.Size(-2) != b.SeqLenQ || key.Size(-2) != b.SeqLenKV {
		tensor.Fail(tensor.ErrShape, "CausalBias of %d queries and %d keys does not fit query %s and key %s", b.SeqLenQ,
			b.SeqLenKV, tensor.ShapeString(query.Shape()), tensor.ShapeString(key.Shape()))
	}
	a := F.ScaledDotProductAttentionOptions{DropoutP: torch.Some(o.DropoutP), Scale: o.Scale, EnableGqa: o.EnableGQA}
	if b.Variant == UpperLeft || b.SeqLenQ == b.SeqLenKV {
		a.IsCausal = true
	} else {
		a.AttnMask = b.Materialize(query.Device())
	}
	return F.ScaledDotProductAttention(query, key, value, a)
}

package nn

import (
	"github.com/gotorch-dev/torch"

	F "github.com/gotorch-dev/torch/nn/functional"

	"math"

	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// MultiheadAttentionOptions are the options of NewMultiheadAttention; the zero value is PyTorch's default.
type MultiheadAttentionOptions struct {
	Dropout     float64 // of the attention weights while training
	NoBias      bool
	AddBiasKV   bool            // one more key and value, to be learnt
	AddZeroAttn bool            // one more key and value of zeros
	KDim, VDim  tensor.Opt[int] // features of keys and values; default embedDim
	BatchFirst  bool            // inputs are (N, L, E) instead of (L, N, E)
	DType       tensor.DType
	Device      tensor.Device // where the parameters are made; the default device unless given
}

// MultiheadAttention lets every query attend to all keys, in several subspaces (Vaswani et al. 2017).
// https://pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
type MultiheadAttention struct {
	Base
	EmbedDim, NumHeads, KDim, VDim        int
	Dropout                               float64
	BatchFirst, AddZeroAttn               bool
	InProjWeight                          *Tensor // (3E, E): queries, keys, values
	QProjWeight, KProjWeight, VProjWeight *Tensor // instead of InProjWeight when KDim or VDim differ
	InProjBias                            *Tensor // (3E)
	BiasK, BiasV                          *Tensor // (1, 1, E)
	OutProj                               *NonDynamicallyQuantizableLinear
}

// NewMultiheadAttention makes a MultiheadAttention; embedDim must be a multiple of numHeads.
func NewMultiheadAttention(embedDim, numHeads int, opts ...MultiheadAttentionOptions) *MultiheadAttention {
	o := first(opts)
	if embedDim <= 0 || numHeads <= 0 {
		tensor.Fail(tensor.ErrValue, "embed_dim and num_heads must be greater than 0, got embed_dim=%d and "+
			"num_heads=%d instead", embedDim, numHeads)
	}
	if embedDim%numHeads != 0 {
		tensor.Fail(tensor.ErrValue, "embed_dim must be divisible by num_heads")
	}
	m := &MultiheadAttention{EmbedDim: embedDim, NumHeads: numHeads, KDim: o.KDim.Or(embedDim),
		VDim: o.VDim.Or(embedDim), Dropout: o.Dropout, BatchFirst: o.BatchFirst, AddZeroAttn: o.AddZeroAttn}
	same := m.KDim == embedDim && m.VDim == embedDim
	if same {
		m.InProjWeight = param(at{o.DType, o.Device}, 3*embedDim, embedDim)
	} else {
		m.QProjWeight = param(at{o.DType, o.Device}, embedDim, embedDim)
		m.KProjWeight = param(at{o.DType, o.Device}, embedDim, m.KDim)
		m.VProjWeight = param(at{o.DType, o.Device}, embedDim, m.VDim)
	}
	if !o.NoBias {
		m.InProjBias = param(at{o.DType, o.Device}, 3*embedDim)
	}
	m.OutProj = newOutProj(embedDim, embedDim, LinearOptions{NoBias: o.NoBias, DType: o.DType, Device: o.Device})
	if o.AddBiasKV {
		m.BiasK, m.BiasV = param(at{o.DType, o.Device}, 1, 1, embedDim), param(at{o.DType, o.Device}, 1, 1, embedDim)
	}
	m.resetParameters()
	return New(m)
}

// resetParameters draws all but the output projection's weight, in PyTorch's order.
func (m *MultiheadAttention) resetParameters() {
	for _, w := range []*Tensor{m.InProjWeight, m.QProjWeight, m.KProjWeight, m.VProjWeight} {
		if w != nil {
			nninit.XavierUniform(w)
		}
	}
	if m.InProjBias != nil {
		nninit.Zeros(m.InProjBias)
		nninit.Zeros(m.OutProj.Bias)
	}
	for _, b := range []*Tensor{m.BiasK, m.BiasV} {
		if b != nil {
			nninit.XavierNormal(b)
		}
	}
}

// AttentionOptions are the further inputs of MultiheadAttention; the zero value is PyTorch's default.
type AttentionOptions struct {
	KeyPaddingMask *Tensor // (N, S) or (S): true for keys to ignore, or numbers to be added to the scores
	NoWeights      bool    // return no attention weights, which is faster
	AttnMask       *Tensor // (L, S) or (N·heads, L, S): true where attention is not allowed, or numbers to be added
	NoAverage      bool    // return the weights of each head
	IsCausal       bool    // a promise that AttnMask is the causal mask

	// anyOrder says that nothing draws random numbers in the order of the output's memory.
	anyOrder bool
}

// Forward computes attention of query (L, N, E), key (S, N, KDim) and value (S, N, VDim); with BatchFirst the batch
// comes first, without a batch there is no N. It returns the output, shaped as the query, and the attention weights (N,
// L, S), nil with NoWeights.
func (m *MultiheadAttention) Forward(query, key, value *Tensor, opts ...AttentionOptions) (out, weights *Tensor) {
	o := first(opts)
	if m.unseen() {
		return m.forward(query, key, value, o)
	}
	r := runAll(m, []*Tensor{query, key, value}, func(in []*Tensor) []*Tensor {
		out, weights := m.forward(in[0], in[1], in[2], o)
		return []*Tensor{out, weights}
	})
	return r[0], r[1]
}

func (m *MultiheadAttention) forward(query, key, value *Tensor, o AttentionOptions) (out, weights *Tensor) {
	batched := query.Dim() == 3
	refresh(m.OutProj)
	o.KeyPaddingMask, o.AttnMask = addedMask(o.KeyPaddingMask, query), addedMask(o.AttnMask, query)
	if m.BatchFirst && batched {
		// the same tensor stays the same tensor, so that self-attention is recognised
		q, k := query, key
		query = q.Transpose(1, 0)
		key2 := query
		if key != q {
			key2 = key.Transpose(1, 0)
		}
		value2 := key2
		if value != k {
			value2 = value.Transpose(1, 0)
		}
		key, value = key2, value2
	}
	out, weights = F.MultiHeadAttentionForward(query, key, value, m.EmbedDim, m.NumHeads, m.InProjWeight, m.InProjBias,
		m.BiasK, m.BiasV,
		m.AddZeroAttn, m.Dropout, m.OutProj.Weight, m.OutProj.Bias, F.MultiHeadAttentionForwardOptions{
			NoTraining: !m.Training() || m.Dropout == 0 &&
				o.anyOrder, KeyPaddingMask: o.KeyPaddingMask, NoNeedWeights: o.NoWeights, AttnMask: o.AttnMask,
			UseSeparateProjWeight: m.InProjWeight == nil, QProjWeight: m.QProjWeight, KProjWeight: m.KProjWeight,
			VProjWeight:          m.VProjWeight,
			NoAverageAttnWeights: o.NoAverage, IsCausal: o.IsCausal,
		})
	if m.BatchFirst && batched {
		out = out.Transpose(1, 0)
	}
	return out, weights
}

// addedMask turns a mask of bools, true where attention is not wanted, into one of query's type that is added to the
// scores.
func addedMask(mask, query *Tensor) *Tensor {
	if mask == nil || mask.DType() != tensor.Bool {
		return mask
	}
	return mask.ZerosLike(tensor.ZerosLikeOptions{DType: query.DType()}).MaskedFillScalarInPlace(mask, math.Inf(-1))
}

// CausalMask is the (n, n) mask to be added to scores that lets each position attend to itself and earlier ones.
func CausalMask(n int, dtype ...tensor.DType) *Tensor {
	return torch.Full([]int{n, n}, math.Inf(-1),
		torch.FullOptions{DType: first(dtype)}).Triu(tensor.TriuOptions{Diagonal: 1})
}

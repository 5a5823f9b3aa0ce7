package attention

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// MaskMod says where attention is wanted: true for batch b, head h, query q and key kv. The arguments are int64 tensors
// of shapes [B, 1, 1, 1], [1, H, 1, 1], [1, 1, L, 1] and [1, 1, 1, S], all positions at once: what the function
// computes broadcasts.
type MaskMod func(b, h, q, kv *Tensor) *Tensor

// ScoreMod changes the scores [B, H, L, S]; the other arguments are those of a [MaskMod].
type ScoreMod func(score, b, h, q, kv *Tensor) *Tensor

// CausalMask lets query q attend to keys up to q.
func CausalMask(_, _, q, kv *Tensor) *Tensor { return q.Ge(kv) }

// NoopMask lets every query attend to every key.
func NoopMask(b, h, q, kv *Tensor) *Tensor {
	return q.Add(kv).Add(b).Add(h).OnesLike(torch.OnesLikeOptions{DType: torch.Bool})
}

// AndMasks wants attention where all masks do.
func AndMasks(masks ...MaskMod) MaskMod {
	return func(b, h, q, kv *Tensor) *Tensor {
		r := NoopMask(b, h, q, kv)
		for _, m := range masks {
			r = r.LogicalAnd(m(b, h, q, kv))
		}
		return r
	}
}

// OrMasks wants attention where one of the masks does.
func OrMasks(masks ...MaskMod) MaskMod {
	return func(b, h, q, kv *Tensor) *Tensor {
		r := NoopMask(b, h, q, kv).LogicalNot()
		for _, m := range masks {
			r = r.LogicalOr(m(b, h, q, kv))
		}
		return r
	}
}

// positions are the arguments of a MaskMod.
func positions(bs, heads, l, s int, device tensor.Device) (b, h, q, kv *Tensor) {
	at := func(n, dim int) *Tensor {
		shape := []int{1, 1, 1, 1}
		shape[dim] = n
		return torch.Arange(n, torch.ArangeOptions{DType: torch.Int64, Device: device}).Reshape(shape)
	}
	return at(bs, 0), at(heads, 1), at(l, 2), at(s, 3)
}

// CreateMask is the mask [B, H, qLen, kvLen] that the function describes. Sizes B and H of 0 count as 1.
func CreateMask(mod MaskMod, B, H, qLen, kvLen int, device ...tensor.Device) *Tensor {
	var d tensor.Device
	if len(device) > 0 {
		d = device[0]
	}
	B, H = max(B, 1), max(H, 1)
	return mod(positions(B, H, qLen, kvLen, d)).Expand([]int{B, H, qLen, kvLen})
}

// BlockMask is a mask that is known block by block: PartialBlocks are the blocks with some attention, FullBlocks those
// in which every query attends to every key, for blocks of BlockSize queries and keys.
type BlockMask struct {
	MaskMod                   MaskMod
	QLen, KVLen               int
	BlockSize                 [2]int
	PartialBlocks, FullBlocks *Tensor // bool [B, H, blocks of queries, blocks of keys]
}

// DefaultBlockSize is the size of blocks of a [BlockMask], in queries and keys.
const DefaultBlockSize = 128

// CreateBlockMask looks at the mask block by block. Sizes B and H of 0 count as 1, for all batches and heads.
//
// https://docs.pytorch.org/docs/stable/nn.attention.flex_attention.html
func CreateBlockMask(mod MaskMod, B, H, qLen, kvLen int, device ...tensor.Device) *BlockMask {
	mask := CreateMask(mod, B, H, qLen, kvLen, device...)
	size := [2]int{DefaultBlockSize, DefaultBlockSize}
	rows, cols := (qLen+size[0]-1)/size[0], (kvLen+size[1]-1)/size[1]
	padded := torch.ConstantPadNd(mask.To(torch.Int64), []int{0, cols*size[1] - kvLen, 0, rows*size[0] - qLen})
	sums := padded.Reshape([]int{max(B, 1), max(H, 1), rows, size[0], cols, size[1]}).SumDim([]int{3, 5})
	full := sums.EqScalar(size[0] * size[1])
	return &BlockMask{MaskMod: mod, QLen: qLen, KVLen: kvLen, BlockSize: size,
		PartialBlocks: sums.GtScalar(0).LogicalAnd(full.LogicalNot()), FullBlocks: full}
}

// Sparsity is the share of blocks, in percent, in which there is no attention.
func (m *BlockMask) Sparsity() float64 {
	n := m.FullBlocks.Numel()
	if n == 0 {
		return 0
	}
	used := m.FullBlocks.LogicalOr(m.PartialBlocks).Sum().Num().F
	return 100 * (1 - used/float64(n))
}

// FlexOptions are the options of [FlexAttention].
type FlexOptions struct {
	ScoreMod  ScoreMod
	BlockMask *BlockMask
	Scale     tensor.Opt[float64] // 1/sqrt(E) by default
	EnableGQA bool
}

// FlexAttention is softmax(mod(query·keyᵀ·scale))·value for query [B, Hq, L, E], key [B, Hkv, S, E] and value [B, Hkv,
// S, Ev], where mod is ScoreMod, and -inf where BlockMask wants no attention; a query without any gives 0. It also
// returns the logarithm of the sum of exponentials of each query's scores [B, Hq, L]. It is computed as PyTorch does
// without a compiler, with all scores in memory, in float32, or float64 for float64.
//
// https://docs.pytorch.org/docs/stable/nn.attention.flex_attention.html
func FlexAttention(query, key, value *Tensor, opts ...FlexOptions) (out, logsumexp *Tensor) {
	var o FlexOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	for _, x := range []*Tensor{query, key, value} {
		if x.Dim() != 4 {
			tensor.Fail(tensor.ErrShape,
				"FlexAttention: expected query, key, and value to have 4 dimensions, got shape %s",
				tensor.ShapeString(x.Shape()))
		}
		if x.DType() != query.DType() || !x.IsFloatingPoint() {
			tensor.Fail(tensor.ErrDType,
				"FlexAttention: expected query, key, and value of one floating-point dtype, got %s "+
					"and %s", query.DType(), x.DType())
		}
	}
	bs, heads, l, s := query.Size(0), query.Size(1), query.Size(2), key.Size(2)
	hkv := key.Size(1)
	switch {
	case query.Size(3) != key.Size(3) || value.Size(2) != s || value.Size(1) != hkv || value.Size(0) != key.Size(0) ||
		key.Size(0) != bs && key.Size(0) != 1:
		tensor.Fail(tensor.ErrShape, "FlexAttention: query %s, key %s and value %s do not fit",
			tensor.ShapeString(query.Shape()),
			tensor.ShapeString(key.Shape()), tensor.ShapeString(value.Shape()))
	case heads != hkv && !o.EnableGQA:
		tensor.Fail(tensor.ErrShape, "Expect query and key/value to have the same number of heads but got Hq=%d and "+
			"Hkv=%d. "+
			"Try setting EnableGQA for GQA.", heads, hkv)
	case hkv == 0 || heads%hkv != 0:
		tensor.Fail(tensor.ErrShape, "Expect number of query heads to be a multiple of kv heads for GQA but got "+
			"Hq=%d and "+
			"Hkv=%d.", heads, hkv)
	}
	if m := o.BlockMask; m != nil && (m.QLen < l || m.KVLen < s) {
		tensor.Fail(tensor.ErrShape, "block_mask was created for block_mask.shape=(%d, %d) but got q_len=%d and "+
			"kv_len=%d",
			m.QLen, m.KVLen, l, s)
	}
	dt := query.DType()
	work := torch.Float32
	if dt == torch.Float64 {
		work = dt
	}
	q, k, v := query.To(work), key.To(work), value.To(work)
	if heads != hkv {
		k, v = k.RepeatInterleave(heads/hkv, torch.RepeatInterleaveOptions{Dim: torch.Some(1)}),
			v.RepeatInterleave(heads/hkv, torch.RepeatInterleaveOptions{Dim: torch.Some(1)})
	}
	scores := q.MatMul(k.Transpose(-2, -1)).MulScalar(o.Scale.Or(1 / math.Sqrt(float64(query.Size(3)))))
	b, h, qi, kv := positions(bs, heads, l, s, query.Device())
	if o.ScoreMod != nil {
		scores = o.ScoreMod(scores, b, h, qi, kv).To(work)
	}
	if o.BlockMask != nil {
		scores = scores.MaskedFillScalar(o.BlockMask.MaskMod(b, h, qi, kv).LogicalNot(), math.Inf(-1))
	}
	lse := scores.LogSumExp([]int{-1})
	lost := lse.EqScalar(math.Inf(-1)) // queries without a key
	weights := scores.Softmax(-1).MaskedFillScalar(lost.Unsqueeze(-1), 0)
	return weights.MatMul(v).To(dt), lse
}

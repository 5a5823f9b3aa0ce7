// Package models holds language models.
package models

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// GPTConfig is the shape of a GPT.
type GPTConfig struct {
	Vocab, Context, Layers, Heads, Width int
	Dropout                              float64 // on both residual branches
}

// GPT is a decoder-only transformer with learned positions and pre-norm blocks (Radford et al., Language models are
// unsupervised multitask learners, 2019).
type GPT struct {
	nn.Base
	Config GPTConfig
	Tok    *nn.Embedding
	Pos    *nn.Embedding
	Blocks []*Block `torch:"b"`
	LN     *nn.LayerNorm
	Head   *nn.Linear
}

// Block is one layer of a GPT.
type Block struct {
	nn.Base
	LN1  *nn.LayerNorm
	QKV  *nn.Linear
	Proj *nn.Linear
	LN2  *nn.LayerNorm
	FC   *nn.Linear
	Out  *nn.Linear
	Drop *nn.Dropout

	heads int
}

// NewGPT makes a GPT.
func NewGPT(c GPTConfig) *GPT {
	m := &GPT{Config: c, Tok: nn.NewEmbedding(c.Vocab, c.Width), Pos: nn.NewEmbedding(c.Context, c.Width)}
	for range c.Layers {
		d := c.Width
		m.Blocks = append(m.Blocks, nn.New(&Block{
			LN1: nn.NewLayerNorm(nn.Size{d}), QKV: nn.NewLinear(d, 3*d), Proj: nn.NewLinear(d, d),
			LN2: nn.NewLayerNorm(nn.Size{d}), FC: nn.NewLinear(d, 4*d), Out: nn.NewLinear(4*d, d),
			Drop: nn.NewDropout(nn.DropoutOptions{P: torch.Some(c.Dropout)}), heads: c.Heads,
		}))
	}
	m.LN = nn.NewLayerNorm(nn.Size{c.Width})
	m.Head = nn.NewLinear(c.Width, c.Vocab, nn.LinearOptions{NoBias: true})
	return nn.New(m)
}

// Forward maps token numbers (N, T) to logits (N, T, vocab); T is at most the context.
func (m *GPT) Forward(x *tensor.Tensor) *tensor.Tensor {
	t := x.Size(1)
	if t > m.Config.Context {
		tensor.Fail(tensor.ErrShape, "GPT: %d tokens exceed the context of %d", t, m.Config.Context)
	}
	h := m.Tok.Forward(x).Add(m.Pos.Forward(torch.Arange(t, torch.ArangeOptions{Device: x.Device()})))
	for _, b := range m.Blocks {
		h = b.Forward(h)
	}
	return m.Head.Forward(m.LN.Forward(h))
}

// Forward adds attention and a two-layer network to x (N, T, width).
func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor {
	n, t, d := x.Size(0), x.Size(1), x.Size(2)
	qkv := b.QKV.Forward(b.LN1.Forward(x)).View([]int{n, t, 3, b.heads, d / b.heads}).Permute([]int{2, 0, 3, 1, 4})
	q, k, v := qkv.Select(0, 0), qkv.Select(0, 1), qkv.Select(0, 2)
	a := F.ScaledDotProductAttention(q, k, v, F.ScaledDotProductAttentionOptions{IsCausal: true})
	a = a.Transpose(1, 2).Reshape([]int{n, t, d})
	x = x.Add(b.Drop.Forward(b.Proj.Forward(a)))
	h := b.Out.Forward(b.FC.Forward(b.LN2.Forward(x)).GELU())
	return x.Add(b.Drop.Forward(h))
}

// Sampling says how Generate chooses the next token.
type Sampling struct {
	Temperature float64 // 0 takes the likeliest
	TopK        int     // 0: all
	Generator   *torch.Generator
}

// Generate continues tokens by n more, calling each (if given) with every new one; it stops early when each returns
// false.
func (m *GPT) Generate(tokens []int64, n int, s Sampling, each func(int64) bool) []int64 {
	wasTraining := m.Training()
	m.Eval()
	defer m.Train(wasTraining)
	torch.NoGrad(func() {
		for range n {
			ctx := tokens[max(0, len(tokens)-m.Config.Context):]
			logits := m.Forward(torch.FromSlice(ctx, 1, len(ctx)).To(m.Tok.Weight.Device())).Select(1, -1).Select(0, 0)
			tok := pick(logits, s)
			tokens = append(tokens, tok)
			if each != nil && !each(tok) {
				return
			}
		}
	})
	return tokens
}

func pick(logits *tensor.Tensor, s Sampling) int64 {
	l := append([]float32(nil), torch.Data[float32](logits.CPU().Contiguous())...)
	if s.Temperature == 0 {
		best := 0
		for i, v := range l {
			if v > l[best] {
				best = i
			}
		}
		return int64(best)
	}
	if s.TopK > 0 && s.TopK < len(l) {
		sorted := slices.Sorted(slices.Values(l))
		floor := sorted[len(l)-s.TopK]
		for i, v := range l {
			if v < floor {
				l[i] = float32(math.Inf(-1))
			}
		}
	}
	p := torch.FromSlice(l).MulScalar(1 / s.Temperature).Softmax(-1)
	draw := p.Multinomial(1, torch.MultinomialOptions{Generator: s.Generator})
	return torch.Data[int64](draw)[0]
}

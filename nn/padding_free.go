package nn

import (
	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// lengths are the numbers of positions of each sequence of x (N, L, E) that a mask (N, L) leaves, where PyTorch
// computes the encoder without the others and sets those to zero in the result: in evaluation, without gradients, with
// layers that its fast path knows, when padding stands at the ends. Otherwise they are nil. As in PyTorch a tracer sees
// the layers with all positions: which positions are left out is no part of a program that other masks are to be given.
func (m *TransformerEncoder) lengths(x *Tensor, o EncoderMasks) []int {
	k := o.KeyPaddingMask
	if k == nil || o.Mask != nil || len(m.Layers) == 0 || x.Dim() != 3 || k.Dim() != 2 || k.Size(0) != x.Size(0) ||
		k.Size(1) != x.Size(1) || tensor.IsTracing() {
		return nil
	}
	grads := tensor.IsGradEnabled()
	if grads && x.RequiresGrad() {
		return nil
	}
	for _, l := range m.Layers {
		a := l.SelfAttn
		if l.Training() || l.NormFirst || !a.BatchFirst || a.InProjWeight == nil || a.InProjBias == nil ||
			a.BiasK != nil || a.AddZeroAttn || a.NumHeads%2 != 0 ||
			!l.Activation.is(ActivationReLU) && !l.Activation.is(ActivationGELU) || l.Norm1.Eps != l.Norm2.Eps {
			return nil
		}
		if Hooked(l, a, a.OutProj, l.Linear1, l.Dropout, l.Linear2, l.Dropout1, l.Dropout2, l.Norm1, l.Norm2) {
			return nil
		}
		for _, p := range l.Parameters() {
			if grads && p.RequiresGrad() {
				return nil
			}
		}
	}
	n := make([]int, k.Size(0))
	for i, row := 0, tensor.Data[bool](k.EqScalar(0).Contiguous().CPU()); i < len(n); i++ {
		r := row[i*k.Size(1):][:k.Size(1)]
		for n[i] < len(r) && r[n[i]] {
			n[i]++
		}
		for _, left := range r[n[i]:] {
			if left {
				return nil
			}
		}
	}
	return n
}

// withoutPadding applies the layers and the norm to the first n[i] positions of each sequence i of x; the others are
// zero in the result.
func (m *TransformerEncoder) withoutPadding(x *Tensor, n []int) *Tensor {
	shape := x.Shape()
	var at []int64
	for i, l := range n {
		for p := range l {
			at = append(at, int64(i*shape[1]+p))
		}
	}
	index := tensor.FromSlice(at, len(at)).To(x.Device())
	flat := x.Reshape([]int{shape[0] * shape[1], shape[2]})
	out := flat.ZerosLike()
	if len(at) == 0 {
		return out.Reshape(shape)
	}
	p := flat.IndexSelect(0, index)
	for _, l := range m.Layers {
		p = l.Norm1.Forward(p.Add(l.SelfAttn.each(p, n)))
		p = l.Norm2.Forward(p.Add(feedForward(p, l.Linear1, l.Activation, l.Dropout, l.Linear2)))
	}
	if m.Norm != nil {
		p = m.Norm.Forward(p)
	}
	return out.IndexCopyInPlace(0, index, p).Reshape(shape)
}

// each is self-attention of sequences of n[i] positions that stand one after the other in x (positions, EmbedDim).
func (m *MultiheadAttention) each(x *Tensor, n []int) *Tensor {
	d := m.EmbedDim / m.NumHeads
	qkv := linear(x, m.InProjWeight, m.InProjBias).View([]int{-1, 3, m.NumHeads, d}).Permute([]int{1, 2, 0, 3})
	var list []*Tensor
	at := 0
	for _, l := range n {
		if l > 0 {
			s := qkv.Narrow(2, at, l).Unsqueeze(1)
			y := F.ScaledDotProductAttention(s.Select(0, 0), s.Select(0, 1), s.Select(0, 2))
			list = append(list, y.Select(0, 0).Transpose(0, 1).Reshape([]int{l, m.EmbedDim}))
		}
		at += l
	}
	return m.OutProj.Forward(torch.Cat(list, torch.CatOptions{Dim: 0}))
}

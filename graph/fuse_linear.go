package graph

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/packed"
	"github.com/gotorch-dev/torch/tensor"
)

// linear fuses a linear layer with the activation behind it.
func (u *fuser) linear(n *Node) {
	w, ok := u.matrix(n, 1)
	if !ok {
		return
	}
	var b *tensor.Tensor
	if len(n.In) > 2 {
		if b, ok = u.constTensor(n.In[2]); !ok || !isBias(b, w) {
			return
		}
	}
	u.packed([]*Node{n}, n.In[0], w, b)
}

// product fuses a product by a constant matrix with the addition of a constant bias and the activation behind it.
func (u *fuser) product(n *Node) {
	m, ok := u.matrix(n, 1)
	if !ok {
		return
	}
	w := m.Transpose(0, 1)
	var b *tensor.Tensor
	chain := []*Node{n}
	if next := u.next(n.Out[0], n.Block); next != nil && !u.a.between(n, next, n.In[0]) {
		if other, ok := u.addend(next, n.Out[0]); ok {
			if c, ok := u.constTensor(other); ok && c != nil && isBias(c, w) {
				b, chain = c, append(chain, next)
			}
		}
	}
	u.packed(chain, n.In[0], w, b)
}

// addmm fuses b + x·m for a constant matrix and a constant bias.
func (u *fuser) addmm(n *Node) {
	m, ok := u.matrix(n, 2)
	if !ok {
		return
	}
	b, ok := u.constTensor(n.In[0])
	if w := m.Transpose(0, 1); ok && b != nil && isBias(b, w) {
		for _, v := range n.In[min(3, len(n.In)):] { // beta, alpha
			if x, ok := constNumber(v, 1); !ok || x != 1 {
				return
			}
		}
		u.packed([]*Node{n}, n.In[1], w, b)
	}
}

// matrix is argument i, a constant matrix, if the argument before it is none.
func (u *fuser) matrix(n *Node, i int) (*tensor.Tensor, bool) {
	if len(n.In) <= i || isConstant(n.In[i-1]) {
		return nil, false
	}
	w, ok := u.constTensor(n.In[i])
	return w, ok && w != nil && w.Dim() == 2 && w.Numel() > 0 &&
		(w.DType() == tensor.Float32 || w.DType() == tensor.Float64)
}

// isBias reports that b can be the bias of a layer with the weight w.
func isBias(b, w *tensor.Tensor) bool {
	return b == nil || b.DType() == w.DType() && slices.Equal(b.Shape(), w.Shape()[:1])
}

// packed calls gotorch::linear_packed in the place of a chain and of the activation behind it.
func (u *fuser) packed(chain []*Node, x *Value, w, b *tensor.Tensor) {
	first, last := chain[0], chain[len(chain)-1]
	act := "none"
	if next := u.next(last.Out[0], last.Block); next != nil && next.In[0] == last.Out[0] &&
		!u.a.between(first, next, x) {
		if a := activation(next, last.Out[0]); a != "" {
			act, chain = a, append(chain, next)
		}
	}
	p, err := packLinear(w)
	if err != nil {
		return
	}
	u.replace(chain, "gotorch::linear_packed", x, p, w.Size(0), b, act)
}

// linearPanels is the kind of a linear layer's packed weight: which part of its storage, read how.
type linearPanels struct{ off, rows, cols, rowStride, colStride int }

// packLinear is a linear layer's weight in the order in which the kernels read it. All programs share it.
func packLinear(w *tensor.Tensor) (p *tensor.Tensor, err error) {
	k := linearPanels{w.StorageOffset(), w.Size(0), w.Size(1), w.Stride(0), w.Stride(1)}
	err = tensor.Try(func() {
		p = packed.For(w, k, true, func() *tensor.Tensor {
			var p *tensor.Tensor
			tensor.Tidy(func() {
				l, err := tensor.CallOp("gotorch::linear_pack", tensor.TensorValue(w.Detach()))
				if err != nil {
					panic(err)
				}
				p = l[0].T.Keep()
			})
			return p
		})
	})
	return p, err
}

package detection

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// coder writes boxes as differences from others, in units that the weights give.
type coder struct{ x, y, w, h float64 }

// largestLog keeps sizes from growing without bounds.
var largestLog = math.Log(1000.0 / 16)

// geometry is the centre and size of boxes (N, 4).
func geometry(boxes *Tensor) (x, y, w, h *Tensor) {
	c := boxes.Unbind(tensor.UnbindOptions{Dim: -1})
	w, h = c[2].Sub(c[0]), c[3].Sub(c[1])
	return c[0].Add(w.MulScalar(0.5)), c[1].Add(h.MulScalar(0.5)), w, h
}

// encode gives the differences of boxes from others: (N, 4).
func (k coder) encode(boxes, from *Tensor) *Tensor {
	fx, fy, fw, fh := geometry(from)
	x, y, w, h := geometry(boxes)
	return torch.Stack([]*Tensor{x.Sub(fx).Div(fw).MulScalar(k.x), y.Sub(fy).Div(fh).MulScalar(k.y),
		w.Div(fw).Log().MulScalar(k.w), h.Div(fh).Log().MulScalar(k.h)}, torch.StackOptions{Dim: 1})
}

// decode is the reverse: codes (N, 4·K) to boxes (N, K, 4).
func (k coder) decode(codes, from *Tensor) *Tensor {
	n := codes.Size(0)
	c := codes.Reshape([]int{n, codes.Size(1) / 4, 4}).Unbind(tensor.UnbindOptions{Dim: -1})
	x, y, w, h := geometry(from)
	col := func(t *Tensor) *Tensor { return t.Unsqueeze(1) }
	limit := tensor.ClampScalarOptions{Max: largestLog}
	cx, cy := c[0].DivScalar(k.x).Mul(col(w)).Add(col(x)), c[1].DivScalar(k.y).Mul(col(h)).Add(col(y))
	hw := c[2].DivScalar(k.w).ClampScalar(limit).Exp().Mul(col(w)).MulScalar(0.5)
	hh := c[3].DivScalar(k.h).ClampScalar(limit).Exp().Mul(col(h)).MulScalar(0.5)
	return torch.Stack([]*Tensor{cx.Sub(hw), cy.Sub(hh), cx.Add(hw), cy.Add(hh)}, torch.StackOptions{Dim: -1})
}

// linearCoder writes boxes as the distances of their four sides from the centre of an anchor, in units of its size.
type linearCoder struct{}

// encode gives the distances of boxes from anchors, (…, 4).
func (linearCoder) encode(boxes, anchors *Tensor) *Tensor {
	x, y, w, h := geometry(anchors)
	c := boxes.Unbind(tensor.UnbindOptions{Dim: -1})
	return torch.Stack([]*Tensor{x.Sub(c[0]).Div(w), y.Sub(c[1]).Div(h), c[2].Sub(x).Div(w), c[3].Sub(y).Div(h)},
		torch.StackOptions{Dim: -1})
}

// decode is the reverse.
func (linearCoder) decode(codes, anchors *Tensor) *Tensor {
	x, y, w, h := geometry(anchors)
	c := codes.Unbind(tensor.UnbindOptions{Dim: -1})
	return torch.Stack([]*Tensor{x.Sub(c[0].Mul(w)), y.Sub(c[1].Mul(h)), x.Add(c[2].Mul(w)), y.Add(c[3].Mul(h))},
		torch.StackOptions{Dim: -1})
}

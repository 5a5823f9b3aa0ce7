package optim

import "github.com/gotorch-dev/torch/tensor"

// This file has the steps of parameters whose gradients are sparse, as embedding tables have them. They are written in
// public operators, as PyTorch's are, and touch only the rows that a gradient names.

// stepSparse takes the step of those parameters of a group that have sparse gradients. Most optimizers refuse them.
func (b *base) stepSparse(g *ParamGroup) {
	for _, p := range g.Params {
		grad := tensor.GradRaw(p)
		if grad == nil || !grad.IsSparse() {
			continue
		}
		if b.sparse == nil {
			b.refuseSparse()
		}
		tensor.NoGrad(func() { b.sparse(g, p.Detach(), grad, func() *State { return b.stateOf(p) }) })
	}
}

func (b *base) refuseSparse() {
	if b.name == "AdamW" || b.name == "Adam" {
		tensor.FailHint(tensor.ErrNotImpl, "in Go: optim.NewSparseAdam",
			"Adam does not support sparse gradients, please consider SparseAdam instead")
	}
	tensor.Fail(tensor.ErrNotImpl, "%s does not support sparse gradients", b.name)
}

// like is a sparse tensor with the positions of grad, which is coalesced, and other values.
func like(grad, values *Tensor) *Tensor {
	ix, _, sorted := tensor.SparseParts(grad)
	return tensor.NewSparse(ix, values, grad.Shape(), sorted, false)
}

// at are the values of t at the positions of grad.
func at(t, grad *Tensor) *Tensor {
	_, v, _ := tensor.SparseParts(t.SparseMask(grad))
	return v
}

// sparseSGD is SGD's step. The momentum is sparse, too: it holds the rows that any gradient has named so far.
// https://github.com/pytorch/pytorch/blob/main/torch/optim/sgd.py
func sparseSGD(g *ParamGroup, p, grad *Tensor, state func() *State) {
	if g.Float("weight_decay") != 0 {
		tensor.Fail(tensor.ErrNotImpl, "SGD: weight_decay with a sparse gradient: add(sparse, dense) is not supported. "+
			"Use add(dense, sparse) instead.")
	}
	lr := g.LR()
	if g.Bool("maximize") {
		lr = -lr
	}
	if momentum := g.Float("momentum"); momentum != 0 {
		d := grad
		if g.Bool("maximize") { // the buffer holds the negative gradient
			d, lr = grad.Neg(), -lr
		}
		st := state()
		buf := st.Tensor("momentum_buffer")
		if buf == nil {
			buf = d.Clone()
			st.Set("momentum_buffer", buf)
		} else {
			buf.MulScalarInPlace(momentum).AddInPlace(d, tensor.AddInPlaceOptions{Alpha: 1 - g.Float("dampening")})
		}
		if grad = buf; g.Bool("nesterov") {
			grad = d.Add(buf, tensor.AddOptions{Alpha: momentum})
		}
	}
	p.AddInPlace(grad, tensor.AddInPlaceOptions{Alpha: -lr})
}

// sparseAdagrad is Adagrad's step.
// https://github.com/pytorch/pytorch/blob/main/torch/optim/adagrad.py
func sparseAdagrad(g *ParamGroup, p, grad *Tensor, state func() *State) {
	if g.Float("weight_decay") != 0 {
		tensor.Fail(tensor.ErrNotImpl, "Adagrad: weight_decay option is not compatible with sparse gradients")
	}
	st := state()
	step := st.Tensor(stepKey)
	step.AddScalarInPlace(1)
	sum := st.Tensor("sum")
	grad = grad.Coalesce()
	v := grad.Values()
	if g.Bool("maximize") {
		v = v.Neg()
	}
	sum.AddInPlace(like(grad, v.Square()))
	std := at(sum, grad).SqrtInPlace().AddScalarInPlace(g.Float("eps"))
	lr := g.LR() / (1 + (step.Item()-1)*g.Float("lr_decay"))
	p.AddInPlace(like(grad, v.Div(std)), tensor.AddInPlaceOptions{Alpha: -lr})
}

package functorch

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/tensor"
)

// Cond calls one of two functions with the operands, as pred says, a tensor with one element: torch.cond. Both return
// as many tensors, of the same shapes and dtypes. Gradients flow through the function that was called. In a recording
// (jit.Trace, jit.Script) both functions are recorded, as the branches of an if.
//
// In a mapped function whose pred differs between the examples both functions are called for all examples, and
// [torch.Where] takes the result of one; a gradient of the other that is not finite then makes the whole one NaN, as in
// PyTorch.
// https://pytorch.org/docs/stable/cond.html
func Cond(pred *Tensor, trueFn, falseFn Func, operands []*Tensor) []*Tensor {
	if pred == nil || pred.Numel() != 1 {
		tensor.Fail(tensor.ErrShape, "cond: Expected pred to be bool or single-element tensor, but got %v", pred)
	}
	if pred.DType() != tensor.Bool {
		pred = pred.NeScalar(0)
	}
	if !pred.IsBatched() {
		then := func() []*Tensor { return trueFn(operands) }
		otherwise := func() []*Tensor { return falseFn(operands) }
		return trace.If(pred, then, otherwise)
	}
	yes, no := trueFn(operands), falseFn(operands)
	if len(yes) != len(no) {
		tensor.Fail(tensor.ErrValue, "cond: Expected true_fn_output and false_fn_output to have same number of outputs "+
			"but got %d and %d", len(yes), len(no))
	}
	pred = pred.Reshape([]int{})
	out := make([]*Tensor, len(yes))
	for i, y := range yes {
		if !tensor.SameShape(y.Shape(), no[i].Shape()) || y.DType() != no[i].DType() {
			tensor.Fail(tensor.ErrShape, "cond: Expected the outputs of true_fn and false_fn to have same metadata, "+
				"but got %s of shape %v and %s of shape %v", y.DType(), y.Shape(), no[i].DType(), no[i].Shape())
		}
		out[i] = torch.Where(pred, y, no[i])
	}
	return out
}

// WhileLoop calls body with the carried tensors as long as cond gives a tensor with one element that is not zero, and
// returns the carried tensors: torch.while_loop. body returns as many tensors as it takes, of the same shapes and
// dtypes. In a recording (jit.Trace, jit.Script) both functions are recorded, as a loop. Unlike PyTorch's, whose
// gradients need one more transform, the loop is differentiable as any Go loop is.
//
// In a mapped function whose condition differs between the examples the loop runs until the condition holds for no
// example; those for which it does not hold keep their values.
func WhileLoop(cond func(carried []*Tensor) *Tensor, body Func, carried []*Tensor) []*Tensor {
	checked := func(in []*Tensor) []*Tensor {
		out := body(in)
		if len(out) != len(in) {
			tensor.Fail(tensor.ErrValue, "while_loop: Expected body_fn to return as many tensors as are carried, %d, "+
				"but got %d", len(in), len(out))
		}
		for i, y := range out {
			if !tensor.SameShape(y.Shape(), in[i].Shape()) || y.DType() != in[i].DType() {
				tensor.Fail(tensor.ErrShape, "while_loop: Expected carried_inputs and body_output to have same "+
					"metadata, but got %s of shape %v and %s of shape %v", in[i].DType(), in[i].Shape(), y.DType(),
					y.Shape())
			}
		}
		return out
	}
	if !tensor.InVmap() {
		return trace.While(cond, carried, checked)
	}
	for {
		more := cond(carried)
		if !more.IsBatched() {
			if more.Num().F == 0 {
				return carried
			}
			carried = checked(carried)
			continue
		}
		if more = more.Reshape([]int{}).NeScalar(0); !tensor.AnyExample(more) {
			return carried
		}
		next := checked(carried)
		for i, y := range next {
			next[i] = torch.Where(more, y, carried[i])
		}
		carried = next
	}
}

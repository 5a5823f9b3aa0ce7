package autograd

import (
	"reflect"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is torch.Tensor.
type Tensor = tensor.Tensor

// Function is an operation with its own gradient rule, as a subclass of Python's torch.autograd.Function. Forward runs
// without recording. Backward gets the gradients of Forward's results and returns one gradient per input, nil where
// there is none; when it is made of differentiable operators, gradients of gradients work.
// https://pytorch.org/docs/stable/autograd.html#function
type Function interface {
	Forward(ctx *Context, inputs ...*Tensor) []*Tensor
	Backward(ctx *Context, grads ...*Tensor) []*Tensor
}

// Context connects the Forward and the Backward of one call. A Function may also keep anything else in fields of its
// own value, but tensors belong here: it notices when they were changed in place, and drops them when the graph is
// freed.
type Context struct {
	saved    []tensor.SavedTensor
	raw      []*Tensor
	nonDiff  []*Tensor
	dirty    []*Tensor
	needs    []bool
	once     bool
	noZeros  bool
	released bool
}

// SaveForBackward keeps inputs or results for Backward. It is called once, in Forward; nil tensors are allowed.
func (c *Context) SaveForBackward(ts ...*Tensor) {
	c.raw = append([]*Tensor(nil), ts...)
}

// SavedTensors are the tensors given to SaveForBackward. It panics with ErrAutograd when one was changed in place
// since, or when they were freed by an earlier Backward.
func (c *Context) SavedTensors() []*Tensor {
	if c.released {
		tensor.FailSecondBackward()
	}
	out := make([]*Tensor, len(c.saved))
	for i, s := range c.saved {
		out[i] = s.Get()
	}
	return out
}

// MarkNonDifferentiable says that results have no gradient, such as indices.
func (c *Context) MarkNonDifferentiable(ts ...*Tensor) { c.nonDiff = append(c.nonDiff, ts...) }

// MarkDirty says that Forward changed inputs in place; they must be among its results.
func (c *Context) MarkDirty(ts ...*Tensor) { c.dirty = append(c.dirty, ts...) }

// SetMaterializeGrads(false) gives Backward nil instead of zeros for results that nothing depends on.
func (c *Context) SetMaterializeGrads(on bool) { c.noZeros = !on }

// MarkOnceDifferentiable says that Backward is not made of differentiable operators: a gradient of the gradient is then
// an error instead of wrong. In Python it is the decorator once_differentiable.
func (c *Context) MarkOnceDifferentiable() { c.once = true }

// NeedsInputGrad reports whether the gradient of input i is wanted.
func (c *Context) NeedsInputGrad(i int) bool { return c.needs[i] }

func has(l []*Tensor, t *Tensor) bool {
	for _, x := range l {
		if x == t {
			return true
		}
	}
	return false
}

// FunctionName is the name that the node of a Function starts with: the name of its type, or what a method FunctionName
// of a wrapper around another Function says.
func FunctionName(f Function) string {
	if n, ok := f.(interface{ FunctionName() string }); ok {
		return n.FunctionName()
	}
	return reflect.Indirect(reflect.ValueOf(f)).Type().Name()
}

// Apply calls a Function and records it as one node, named after the type of f: "MyExp" gives "MyExpBackward". Inputs
// may be nil.
func Apply(f Function, inputs ...*Tensor) []*Tensor {
	ctx := &Context{needs: make([]bool, len(inputs))}
	for i, t := range inputs {
		ctx.needs[i] = t != nil && t.RequiresGrad()
	}
	if f == nil {
		tensor.Fail(tensor.ErrType, "autograd.Apply: the function is nil")
	}
	name := FunctionName(f) + "Backward"
	var outs []*Tensor
	tensor.NoGrad(func() { outs = f.Forward(ctx, inputs...) })
	record := append([]*Tensor(nil), outs...)
	for i, t := range outs {
		switch {
		case t == nil:
		case has(ctx.nonDiff, t):
			record[i] = nil
		case has(ctx.dirty, t):
		case has(inputs, t): // an input that passes through becomes a tensor of its own
			outs[i] = t.Detach()
			record[i] = outs[i]
		}
	}
	for _, t := range ctx.dirty {
		if tensor.IsGradEnabled() && t.RequiresGrad() && t.IsLeaf() {
			tensor.Fail(tensor.ErrAutograd,
				"a leaf Variable that requires grad is being used in an in-place operation.")
		}
	}
	shapes := make([]*Tensor, len(outs)) // what zeros look like; no memory
	for i, t := range record {
		if t != nil {
			shapes[i] = tensor.Hollow(t)
		}
	}
	attached := tensor.Custom{
		Name: name, Inputs: inputs, Outputs: record,
		Backward: func(grads []*Tensor) []*Tensor {
			in := append([]*Tensor(nil), grads...)
			for i := range in {
				if in[i] == nil && !ctx.noZeros && shapes[i] != nil {
					in[i] = torch.Zeros(shapes[i].Shape(),
						torch.ZerosOptions{DType: shapes[i].DType(), Device: shapes[i].Device()})
				}
			}
			var r []*Tensor
			if ctx.once {
				tensor.NoGrad(func() { r = f.Backward(ctx, in...) })
				if tensor.IsGradEnabled() {
					tensor.Custom{Name: "Error", Inputs: in, Outputs: r, Backward: func([]*Tensor) []*Tensor {
						tensor.Fail(tensor.ErrAutograd,
							"trying to differentiate twice a function that was marked with @once_differentiable")
						return nil
					}}.Attach()
				}
			} else {
				r = f.Backward(ctx, in...)
			}
			// Further nils are as good as nothing.
			for len(r) > len(inputs) && r[len(r)-1] == nil {
				r = r[:len(r)-1]
			}
			if len(r) != len(inputs) {
				tensor.Fail(tensor.ErrAutograd,
					"function %s returned an incorrect number of gradients (expected %d, got %d)", name, len(inputs),
					len(r))
			}
			for i := range r {
				if inputs[i] == nil {
					r[i] = nil
				}
			}
			return r
		},
		Saved: func() []*Tensor { return ctx.raw },
		Release: func() {
			if len(ctx.saved) > 0 {
				ctx.saved, ctx.raw, ctx.released = nil, nil, true
			}
		},
	}.Attach()
	if attached {
		ctx.saved = tensor.SaveForBackward(ctx.raw...)
		noteCall(record)
	}
	return outs
}

// Apply1 is Apply for a Function with one result.
func Apply1(f Function, inputs ...*Tensor) *Tensor { return Apply(f, inputs...)[0] }

// Node is an entry of the tape.
type Node = tensor.Node

// NodeNames lists the tape from t backwards, "MulBackward0 ← ExpBackward0 ← AccumulateGrad", along the first edges.
func NodeNames(t *Tensor) string {
	var l []string
	for n := t.GradFn(); n != nil; {
		l = append(l, n.Name())
		next, _ := n.NextFunctions()
		n = nil
		for _, c := range next {
			if c != nil {
				n = c
				break
			}
		}
	}
	return strings.Join(l, " ← ")
}

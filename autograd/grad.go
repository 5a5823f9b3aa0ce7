package autograd

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// GradOptions are the options of Grad.
type GradOptions = tensor.GradOptions

// BackwardOptions are the options of Backward.
type BackwardOptions = tensor.BackwardOptions

// Grad computes and returns the gradients of the sum of outputs with respect to inputs; it changes no tensor's Grad.
// https://pytorch.org/docs/stable/generated/torch.autograd.grad.html
func Grad(outputs, inputs []*Tensor, opts ...GradOptions) []*Tensor {
	return tensor.Grad(outputs, inputs, opts...)
}

// Backward adds the gradients of the sum of tensors to the leaves' Grad. gradTensors holds a gradient for each of them,
// nil standing for one; it may be nil altogether.
// https://pytorch.org/docs/stable/generated/torch.autograd.backward.html
func Backward(tensors, gradTensors []*Tensor, opts ...BackwardOptions) {
	var o BackwardOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if gradTensors == nil {
		gradTensors = make([]*Tensor, len(tensors))
	}
	tensor.BackwardAll(tensors, gradTensors, o)
}

// Func is a function of several tensors that derivatives are taken of.
type Func func(inputs []*Tensor) []*Tensor

// Options are the options of Jacobian, Hessian, VJP, JVP, VHP and HVP.
type Options struct {
	// CreateGraph makes the result differentiable itself.
	CreateGraph bool
	// Strict makes it an error when a result does not depend on an input; otherwise the derivative is zero.
	Strict bool
}

func option(o []Options) Options {
	if len(o) > 0 {
		return o[0]
	}
	return Options{}
}

// prepare gives inputs that gradients can be taken with respect to, without touching the caller's.
func prepare(inputs []*Tensor, create bool) []*Tensor {
	out := make([]*Tensor, len(inputs))
	for i, t := range inputs {
		if create && t.RequiresGrad() {
			out[i] = t.ViewAs(t)
		} else {
			out[i] = t.Detach().SetRequiresGrad(true)
		}
	}
	return out
}

// gradsOf is Grad with zeros where nothing depends on an input, or an error when strict.
func gradsOf(what string, outs, ins, gs []*Tensor, o Options, create bool) []*Tensor {
	r := make([]*Tensor, len(ins))
	var ys, vs []*Tensor
	for i, y := range outs {
		if y.RequiresGrad() {
			ys, vs = append(ys, y), append(vs, gs[i])
		} else if o.Strict {
			tensor.Fail(tensor.ErrAutograd,
				"Output %d of the user-provided function does not require gradients. The outputs must be computed in "+
					"a differentiable manner from the input when running in strict mode.", i)
		}
	}
	if len(ys) > 0 {
		r = tensor.Grad(ys, ins, GradOptions{GradOutputs: vs, RetainGraph: true, CreateGraph: create,
			AllowUnused: true})
	}
	for i, g := range r {
		if g != nil {
			continue
		}
		if o.Strict {
			tensor.Fail(tensor.ErrAutograd,
				"%s: the output of the user-provided function is independent of input %d. This is not allowed in "+
					"strict mode.", what, i)
		}
		r[i] = ins[i].ZerosLike().Detach()
	}
	return r
}

func detachAll(ts []*Tensor, create bool) []*Tensor {
	if !create {
		for i, t := range ts {
			ts[i] = t.Detach()
		}
	}
	return ts
}

func join(a, b []int) []int { return append(append([]int(nil), a...), b...) }

// Jacobian is the matrix of all derivatives of f at the inputs: element [i][j] has the shape of result i followed by
// that of input j.
// https://pytorch.org/docs/stable/generated/torch.autograd.functional.jacobian.html
func Jacobian(f Func, inputs []*Tensor, opts ...Options) [][]*Tensor {
	o := option(opts)
	var out [][]*Tensor
	tensor.EnableGrad(func() {
		in := prepare(inputs, o.CreateGraph)
		ys := f(in)
		for _, y := range ys {
			rows := make([][]*Tensor, len(in))
			for k := range y.Numel() {
				v := y.ZerosLike().Detach().Contiguous()
				v.View([]int{-1}).Select(0, k).FillScalarInPlace(1)
				for j, g := range gradsOf("Jacobian", []*Tensor{y}, in, []*Tensor{v}, o, o.CreateGraph) {
					rows[j] = append(rows[j], g)
				}
			}
			line := make([]*Tensor, len(in))
			for j := range in {
				shape := join(y.Shape(), in[j].Shape())
				if len(rows[j]) == 0 {
					line[j] = in[j].Detach().NewZeros(shape)
					continue
				}
				line[j] = torch.Stack(rows[j]).Reshape(shape)
			}
			out = append(out, detachAll(line, o.CreateGraph))
		}
	})
	return out
}

// Hessian is the matrix of the second derivatives of a function with one number as its result: element [i][j] has the
// shape of input i followed by that of input j.
// https://pytorch.org/docs/stable/generated/torch.autograd.functional.hessian.html
func Hessian(f Func, inputs []*Tensor, opts ...Options) [][]*Tensor {
	o := option(opts)
	return Jacobian(func(in []*Tensor) []*Tensor {
		y := scalar("hessian", f(in))
		return gradsOf("Hessian", []*Tensor{y}, in, []*Tensor{nil}, o, true)
	}, inputs, o)
}

func scalar(name string, ys []*Tensor) *Tensor {
	if len(ys) != 1 {
		tensor.Fail(tensor.ErrShape, "The function given to %s should return a single Tensor", name)
	}
	if ys[0].Numel() != 1 {
		tensor.Fail(tensor.ErrShape, "The Tensor returned by the function given to %s should contain a single element",
			name)
	}
	return ys[0]
}

// checkV fills in and checks the vectors of a product; like holds what they must look like.
func checkV(v, like []*Tensor, what string) []*Tensor {
	if v == nil {
		if len(like) != 1 || like[0].Numel() != 1 {
			tensor.Fail(tensor.ErrShape, "The vector v can only be None if the %s", what)
		}
		one := like[0].ZerosLike().Detach()
		return []*Tensor{one.AddScalar(1)}
	}
	if len(v) != len(like) {
		tensor.Fail(tensor.ErrShape, "v is a tuple of invalid length: should be %d but got %d.", len(like), len(v))
	}
	for i := range v {
		if !tensor.SameShape(v[i].Shape(), like[i].Shape()) {
			tensor.Fail(tensor.ErrShape,
				"Entry %d in v has invalid size: should be torch.Size(%s) but got torch.Size(%s).", i,
				tensor.ShapeString(like[i].Shape()), tensor.ShapeString(v[i].Shape()))
		}
	}
	return v
}

// VJP is the product of v with the Jacobian of f, and f's results. v may be nil when f has a single number as its
// result.
// https://pytorch.org/docs/stable/generated/torch.autograd.functional.vjp.html
func VJP(f Func, inputs, v []*Tensor, opts ...Options) (outputs, vjp []*Tensor) {
	o := option(opts)
	tensor.EnableGrad(func() {
		in := prepare(inputs, o.CreateGraph)
		outputs = f(in)
		v = checkV(v, outputs, "user-provided function returns a single Tensor with a single element.")
		vjp = gradsOf("VJP", outputs, in, v, o, o.CreateGraph)
	})
	return detachAll(outputs, o.CreateGraph), detachAll(vjp, o.CreateGraph)
}

// JVP is the product of the Jacobian of f with v, and f's results. It differentiates the product of a second vector
// with the Jacobian with respect to that vector, so f's gradient rules must be differentiable.
// https://pytorch.org/docs/stable/generated/torch.autograd.functional.jvp.html
func JVP(f Func, inputs, v []*Tensor, opts ...Options) (outputs, jvp []*Tensor) {
	o := option(opts)
	tensor.EnableGrad(func() {
		in := prepare(inputs, o.CreateGraph)
		v = checkV(v, in, "input to the user-provided function is a single Tensor with a single element.")
		outputs = f(in)
		us := make([]*Tensor, len(outputs))
		for i, y := range outputs {
			us[i] = y.ZerosLike().Detach().SetRequiresGrad(true)
		}
		gs := gradsOf("JVP", outputs, in, us, o, true)
		lax := o
		lax.Strict = false
		jvp = gradsOf("JVP", gs, us, v, lax, o.CreateGraph)
	})
	return detachAll(outputs, o.CreateGraph), detachAll(jvp, o.CreateGraph)
}

// VHP is the product of v with the Hessian of f, and f's result.
// https://pytorch.org/docs/stable/generated/torch.autograd.functional.vhp.html
func VHP(f Func, inputs, v []*Tensor, opts ...Options) (output *Tensor, vhp []*Tensor) {
	o := option(opts)
	tensor.EnableGrad(func() {
		in := prepare(inputs, o.CreateGraph)
		v = checkV(v, in, "input to the user-provided function is a single Tensor with a single element.")
		output = scalar("vhp", f(in))
		gs := gradsOf("VHP", []*Tensor{output}, in, []*Tensor{nil}, o, true)
		vhp = gradsOf("VHP", gs, in, v, o, o.CreateGraph)
	})
	return detachAll([]*Tensor{output}, o.CreateGraph)[0], detachAll(vhp, o.CreateGraph)
}

// HVP is the product of the Hessian of f with v, and f's result. The Hessian is symmetric, so it is VHP.
// https://pytorch.org/docs/stable/generated/torch.autograd.functional.hvp.html
func HVP(f Func, inputs, v []*Tensor, opts ...Options) (output *Tensor, hvp []*Tensor) {
	return VHP(f, inputs, v, opts...)
}

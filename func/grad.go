package functorch

import (
	"slices"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// GradOptions are the options of Grad and GradAndValue.
type GradOptions struct {
	// Argnums are the arguments to differentiate with respect to; nil stands for argument 0.
	Argnums []int
	// HasAux says that f's results after the first one are not differentiated, only handed on.
	HasAux bool
}

// Grad is the gradient of f, whose first result must be a single number: a function of the same arguments whose results
// are the gradients with respect to the arguments of Argnums, in their order, then the auxiliary results with HasAux.
// Grad may be nested for higher derivatives. It changes no tensor's Grad, and the arguments need not require gradients.
// As in PyTorch, torch.NoGrad inside f holds for this gradient, and outside of it does not.
// https://pytorch.org/docs/stable/generated/torch.func.grad.html
func Grad(f Func, opts ...GradOptions) Func {
	both := GradAndValue(f, opts...)
	n := 1
	if len(opts) > 0 && opts[0].Argnums != nil {
		n = len(opts[0].Argnums)
	}
	return func(args []*Tensor) []*Tensor {
		r := both(args)
		return append(r[:n:n], r[n+1:]...)
	}
}

// GradAndValue is Grad with the value of f behind the gradients, before the auxiliary results.
// https://pytorch.org/docs/stable/generated/torch.func.grad_and_value.html
func GradAndValue(f Func, opts ...GradOptions) Func {
	var o GradOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	return func(args []*Tensor) []*Tensor {
		const what = "grad_and_value(f)(*args): "
		tr := record(f, args, o.Argnums)
		switch {
		case len(tr.outs) == 0 || tr.outs[0] == nil:
			tensor.Fail(tensor.ErrValue, what+"expected f(*args) to return a tensor, got none")
		case len(tr.outs) > 1 && !o.HasAux:
			tensor.Fail(tensor.ErrValue, what+"expected f(*args) to return a single tensor, got %d. Set HasAux for "+
				"auxiliary results", len(tr.outs))
		case tr.outs[0].Dim() != 0:
			tensor.Fail(tensor.ErrShape,
				what+"Expected f(*args) to return a scalar Tensor, got tensor with %d dims. Maybe "+
					"you wanted to use the vjp or jacrev APIs instead?", tr.outs[0].Dim())
		}
		ys := tr.outs[:1]
		grads := tr.pull(ys, nil, tr.creates(ys, nil), false)
		return append(grads, tr.values()...)
	}
}

// taken is a function that was run in order to be differentiated.
type taken struct {
	outer  bool      // gradients were recorded around it
	inVmap bool      // it ran in a mapped function
	leaves []*Tensor // the arguments to differentiate with respect to, made anew
	outs   []*Tensor
}

// record runs f with new leaves in place of the arguments of argnums.
func record(f Func, args []*Tensor, argnums []int) *taken {
	tr := &taken{outer: tensor.IsGradEnabled(), inVmap: tensor.InVmap()}
	if argnums == nil {
		argnums = []int{0}
	}
	in := slices.Clone(args)
	seen := map[int]bool{}
	for _, k := range argnums {
		i := k
		if i < 0 {
			i += len(args)
		}
		switch {
		case i < 0 || i >= len(args):
			tensor.Fail(tensor.ErrIndex, "Got argnum=%d, but only %d positional inputs", k, len(args))
		case seen[i]:
			tensor.Fail(tensor.ErrValue, "argnums elements must be unique, got %v", argnums)
		}
		seen[i] = true
		in[i] = tensor.Fresh(args[i])
		tr.leaves = append(tr.leaves, in[i])
	}
	tensor.EnableGrad(func() { tr.outs = f(in) })
	tensor.Spend(tr.leaves)
	return tr
}

// creates reports that the pass back must be recorded itself, since something around it may be differentiated.
func (tr *taken) creates(ys, cotangents []*Tensor) bool {
	return tr.outer && (tr.inVmap || tensor.HasLiveLeaves(differentiable(ys)...) ||
		slices.ContainsFunc(cotangents, tensor.TracksGrad))
}

func differentiable(ys []*Tensor) (out []*Tensor) {
	for _, y := range ys {
		if y != nil && y.RequiresGrad() {
			out = append(out, y)
		}
	}
	return out
}

// pull is the product of cotangents of ys with the Jacobian.
func (tr *taken) pull(ys, cotangents []*Tensor, create, retain bool) []*Tensor {
	grads := gradients(ys, tr.leaves, cotangents, create, retain)
	for i, g := range grads {
		grads[i] = tr.settle(g)
	}
	return grads
}

// settle is a result of a transform without the record of what was inside it.
func (tr *taken) settle(t *Tensor) *Tensor {
	if !tr.outer && t.RequiresGrad() {
		return t.Detach()
	}
	return tensor.Stale(t)
}

// values are the results of the function.
func (tr *taken) values() []*Tensor {
	out := make([]*Tensor, len(tr.outs))
	for i, y := range tr.outs {
		if y != nil {
			out[i] = tr.settle(y)
		}
	}
	return out
}

// gradients are the gradients of ys with respect to leaves, zeros where there are none.
func gradients(ys, leaves, cotangents []*Tensor, create, retain bool) []*Tensor {
	var outs, gs []*Tensor
	for i, y := range ys {
		if y == nil || !y.RequiresGrad() {
			continue
		}
		outs = append(outs, y)
		if cotangents != nil {
			gs = append(gs, cotangents[i])
		}
	}
	r := make([]*Tensor, len(leaves))
	if len(outs) > 0 {
		r = tensor.Grad(outs, leaves, tensor.GradOptions{GradOutputs: gs, RetainGraph: retain, CreateGraph: create,
			AllowUnused: true})
	}
	for i, g := range r {
		if g == nil {
			r[i] = leaves[i].ZerosLike()
		}
	}
	return r
}

// VJPOptions are the options of VJP, JVP and Linearize.
type VJPOptions struct {
	// HasAux says that f's results after the first one are not differentiated, only handed on.
	HasAux bool
}

func auxiliary(o []VJPOptions, n int) int {
	if len(o) > 0 && o[0].HasAux {
		return min(1, n)
	}
	return n
}

func all(args []*Tensor) []int {
	out := make([]int, len(args))
	for i := range out {
		out[i] = i
	}
	return out
}

// VJP runs f and returns its results and a function from a cotangent for each result to the product of the cotangents
// with the Jacobian, one for each argument (reverse mode). The function may be called several times, and mapped over.
// With HasAux only the first result has a cotangent.
// https://pytorch.org/docs/stable/generated/torch.func.vjp.html
func VJP(f Func, primals []*Tensor, opts ...VJPOptions) (outs []*Tensor, vjp Func) {
	tr := record(f, primals, all(primals))
	ys := tr.outs[:auxiliary(opts, len(tr.outs))]
	return tr.values(), func(cotangents []*Tensor) []*Tensor {
		if len(cotangents) != len(ys) {
			tensor.Fail(tensor.ErrValue,
				"Expected pytree structure of cotangents to be the same as pytree structure of "+
					"outputs to the function: got %d cotangents for %d results", len(cotangents), len(ys))
		}
		return tr.pull(ys, cotangents, tr.creates(ys, cotangents), true)
	}
}

// JVP runs f and returns its results and the product of the Jacobian with the tangents, one for each result (forward
// mode). There is a tangent for each argument. With HasAux only the first result has a tangent.
//
// Method: the product of a second vector with the Jacobian is linear in that vector, and its derivative with respect to
// the vector is the product of the Jacobian with the tangents (Townsend, "A new trick for calculating Jacobian vector
// products", 2017). Its cost is some three calls of f, its memory that of the reverse mode.
// https://pytorch.org/docs/stable/generated/torch.func.jvp.html
func JVP(f Func, primals, tangents []*Tensor, opts ...VJPOptions) (outs, outTangents []*Tensor) {
	if len(primals) == 0 || len(primals) != len(tangents) {
		tensor.Fail(tensor.ErrValue, "jvp(f, primals, tangents): Expected primals and tangents to have the same python "+
			"structure. For example, if primals is a tuple of 3 tensors, tangents also must be. Got %d primals and %d "+
			"tangents", len(primals), len(tangents))
	}
	outs, push := Linearize(f, primals, opts...)
	return outs, push(tangents)
}

// Linearize runs f and returns its results and its derivative there: a function from a tangent for each argument to the
// product of the Jacobian with the tangents, one for each result. f runs once, the derivative as often as one likes.
// https://pytorch.org/docs/stable/generated/torch.func.linearize.html
func Linearize(f Func, primals []*Tensor, opts ...VJPOptions) (outs []*Tensor, jvp Func) {
	tr := record(f, primals, all(primals))
	ys := tr.outs[:auxiliary(opts, len(tr.outs))]
	var on []int // results that depend on the arguments
	var diff, cot, grads []*Tensor
	tensor.EnableGrad(func() {
		for k, y := range ys {
			if y != nil && y.RequiresGrad() {
				on, diff = append(on, k), append(diff, y)
				// any cotangent will do; at ones no rule divides by it or takes its logarithm in vain
				cot = append(cot, tensor.Fresh(y.OnesLike().Detach()))
			}
		}
		if len(diff) > 0 {
			grads = gradients(diff, tr.leaves, cot, true, true)
		}
	})
	tensor.Spend(cot)
	return tr.values(), func(tangents []*Tensor) []*Tensor {
		if len(tangents) != len(primals) {
			tensor.Fail(tensor.ErrValue, "linearize: got %d tangents for %d primals", len(tangents), len(primals))
		}
		for i, v := range tangents {
			if !tensor.SameShape(v.Shape(), primals[i].Shape()) || v.DType() != primals[i].DType() {
				tensor.Fail(tensor.ErrShape,
					"jvp(f, primals, tangents): tangent %d has the shape %s and dtype %s, its primal "+
						"the shape %s and dtype %s", i, tensor.ShapeString(v.Shape()), v.DType(),
					tensor.ShapeString(primals[i].Shape()), primals[i].DType())
			}
		}
		out := make([]*Tensor, len(ys))
		var r []*Tensor
		if len(diff) > 0 {
			create := tr.outer && (tr.inVmap || tensor.HasLiveLeaves(differentiable(grads)...) ||
				slices.ContainsFunc(tangents, tensor.TracksGrad))
			r = gradients(grads, cot, tangents, create, true)
			for j, k := range on {
				out[k] = r[j]
				if !tr.outer && out[k].RequiresGrad() {
					out[k] = out[k].Detach()
				} else {
					out[k] = tensor.Stale(out[k])
				}
			}
		}
		for k, y := range ys {
			if out[k] == nil && y != nil {
				out[k] = y.ZerosLike()
			}
		}
		return out
	}
}

// JacOptions are the options of Jacrev and Jacfwd.
type JacOptions struct {
	// Argnums are the arguments to differentiate with respect to; nil stands for argument 0.
	Argnums []int
	// HasAux says that f's results after the first one are not differentiated, only handed on, behind the Jacobians.
	HasAux bool
	// ChunkSize is how many rows (Jacrev) or columns (Jacfwd) are computed at once; 0 stands for all of them.
	ChunkSize int
}

// jacobian is what Jacrev and Jacfwd share: f as a function of the arguments of Argnums, and their Jacobians by rows of
// results: for each result those with respect to each argument.
func jacobian(f Func, o JacOptions, blocks func(g Func, primals []*Tensor, o VJPOptions, chunk int) (jac,
	outs []*Tensor)) Func {
	return func(args []*Tensor) []*Tensor {
		nums := o.Argnums
		if nums == nil {
			nums = []int{0}
		}
		primals := make([]*Tensor, len(nums))
		at := make([]int, len(nums))
		for j, k := range nums {
			at[j] = k
			if k < 0 {
				at[j] += len(args)
			}
			if at[j] < 0 || at[j] >= len(args) {
				tensor.Fail(tensor.ErrIndex, "Got argnum=%d, but only %d positional inputs", k, len(args))
			}
			primals[j] = args[at[j]]
		}
		g := func(x []*Tensor) []*Tensor {
			in := slices.Clone(args)
			for j, k := range at {
				in[k] = x[j]
			}
			return f(in)
		}
		jac, outs := blocks(g, primals, VJPOptions{HasAux: o.HasAux}, o.ChunkSize)
		if o.HasAux && len(outs) > 0 {
			jac = append(jac, outs[1:]...)
		}
		return jac
	}
}

func jacOption(o []JacOptions) JacOptions {
	if len(o) > 0 {
		return o[0]
	}
	return JacOptions{}
}

// Jacrev is the Jacobian of f by reverse mode, a row at a time, all rows mapped at once: a function of the same
// arguments whose results are, for each result of f, the Jacobians with respect to the arguments of Argnums. Each has
// the shape of the result followed by that of the argument. It suits functions with more inputs than outputs.
// https://pytorch.org/docs/stable/generated/torch.func.jacrev.html
func Jacrev(f Func, opts ...JacOptions) Func {
	return jacobian(f, jacOption(opts), func(g Func, primals []*Tensor, o VJPOptions, chunk int) (jac, outs []*Tensor) {
		outs, pull := VJP(g, primals, o)
		ys := outs[:auxiliary([]VJPOptions{o}, len(outs))]
		for k, y := range ys {
			rows := Vmap(func(v []*Tensor) []*Tensor {
				cot := make([]*Tensor, len(ys))
				for j, z := range ys {
					cot[j] = z.ZerosLike()
				}
				cot[k] = v[0]
				return pull(cot)
			}, VmapOptions{ChunkSize: chunk})([]*Tensor{basis(y)})
			for j, x := range primals {
				jac = append(jac, rows[j].Reshape(slices.Concat(y.Shape(), x.Shape())))
			}
		}
		return jac, outs
	})
}

// Jacfwd is the Jacobian of f by forward mode, a column at a time, all columns mapped at once; its results are those of
// Jacrev. It suits functions with more outputs than inputs.
// https://pytorch.org/docs/stable/generated/torch.func.jacfwd.html
func Jacfwd(f Func, opts ...JacOptions) Func {
	return jacobian(f, jacOption(opts), func(g Func, primals []*Tensor, o VJPOptions, chunk int) (jac, outs []*Tensor) {
		outs, push := Linearize(g, primals, o)
		ys := outs[:auxiliary([]VJPOptions{o}, len(outs))]
		columns := make([][]*Tensor, len(primals))
		for j, x := range primals {
			columns[j] = Vmap(func(v []*Tensor) []*Tensor {
				tangents := make([]*Tensor, len(primals))
				for i, p := range primals {
					tangents[i] = p.ZerosLike()
				}
				tangents[j] = v[0]
				return push(tangents)
			}, VmapOptions{OutDims: []int{-1}, ChunkSize: chunk})([]*Tensor{basis(x)})
		}
		for k, y := range ys {
			for j, x := range primals {
				jac = append(jac, columns[j][k].Reshape(slices.Concat(y.Shape(), x.Shape())))
			}
		}
		return jac, outs
	})
}

// basis is the standard basis of the tensors like x: a batch of tensors each of which has one element 1.
func basis(x *Tensor) *Tensor {
	n := x.Numel()
	return torch.Eye(n, torch.EyeOptions{DType: x.DType(), Device: x.Device()}).Reshape(append([]int{n}, x.Shape()...))
}

// HessianOptions are the options of Hessian.
type HessianOptions struct {
	// Argnums are the arguments to differentiate with respect to; nil stands for argument 0.
	Argnums []int
}

// Hessian is the matrix of second derivatives of f, computed as Jacfwd(Jacrev(f)): its results are, for each result of
// f, each argument of Argnums and again each of them, tensors of the shape of the result followed by those of both
// arguments.
// https://pytorch.org/docs/stable/generated/torch.func.hessian.html
func Hessian(f Func, opts ...HessianOptions) Func {
	var nums []int
	if len(opts) > 0 {
		nums = opts[0].Argnums
	}
	return Jacfwd(Jacrev(f, JacOptions{Argnums: nums}), JacOptions{Argnums: nums})
}

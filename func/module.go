package functorch

import (
	"slices"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// FunctionalCall is m.Forward(x) with other tensors in place of the parameters and buffers of the given names, without
// a change to the module: gradients and maps can be taken with respect to them. Names are those of the state dict; a
// parameter under several names is replaced under all of them. A name that the module does not have panics with
// ErrNotFound. For modules with another Forward there is [WithParameters].
// https://pytorch.org/docs/stable/generated/torch.func.functional_call.html
func FunctionalCall(m nn.Layer, x *Tensor, params ...map[string]*Tensor) (y *Tensor) {
	WithParameters(m, func() { y = m.Forward(x) }, params...)
	return y
}

// WithParameters runs f, which calls the module m, with other tensors in place of the parameters and buffers of the
// given names. Operators read the other tensors wherever they meet the module's; what f asks of the module's tensors
// themselves, such as Shape, is still theirs. A change in place of a buffer, such as that of running statistics,
// changes the tensor given for it. It holds for the goroutine of the call.
func WithParameters(m nn.Module, f func(), params ...map[string]*Tensor) {
	own := map[string]*Tensor{}
	for name, t := range nn.StateDict(m).All() {
		own[name] = t
	}
	for name, t := range nn.NamedParameters(m) {
		own[name] = t
	}
	for name, t := range nn.NamedBuffers(m) {
		own[name] = t
	}
	r := &replaced{map[*Tensor]*Tensor{}}
	for _, dict := range params {
		for name, t := range dict {
			p := own[name]
			if p == nil {
				tensor.Fail(tensor.ErrNotFound, "functional_call: the module %s has no parameter or buffer '%s'",
					nn.ClassName(m), name)
			}
			r.by[p] = t
		}
	}
	tensor.WithLayer(r, f)
}

// replaced is a layer that has operators read other tensors in place of a module's.
type replaced struct{ by map[*Tensor]*Tensor }

// Rank is that of a transform, so that the innermost call of a module counts.
func (*replaced) Rank() tensor.Rank { return tensor.RankTransform }

// Call replaces the arguments.
func (r *replaced) Call(c *tensor.Ctx, next func()) {
	for i := range c.NumArgs() {
		switch v := c.Value(i); v.K {
		case tensor.KTensor:
			if t := r.by[v.T]; t != nil {
				c.SetValue(i, tensor.TensorValue(t))
			}
		case tensor.KTensors:
			l, _ := v.X.([]*Tensor)
			if slices.ContainsFunc(l, func(t *Tensor) bool { return r.by[t] != nil }) {
				l = slices.Clone(l)
				for j, t := range l {
					if x := r.by[t]; x != nil {
						l[j] = x
					}
				}
				c.SetValue(i, tensor.TensorsValue(l))
			}
		}
	}
	next()
}

// StackModuleState stacks the parameters and the buffers of models of one class along a new dimension 0: an ensemble,
// computed by Vmap over FunctionalCall of one of them. The stacked parameters are leaves, which require gradients where
// those of all models do.
// https://pytorch.org/docs/stable/generated/torch.func.stack_module_state.html
func StackModuleState(models ...nn.Module) (params, buffers map[string]*Tensor) {
	if len(models) == 0 {
		tensor.Fail(tensor.ErrValue, "stack_module_state: Expected at least one model, got 0.")
	}
	first := models[0]
	for _, m := range models[1:] {
		if nn.ClassName(m) != nn.ClassName(first) {
			tensor.Fail(tensor.ErrValue, "stack_module_state: Expected all models to be of the same class.")
		}
		if training(m) != training(first) {
			tensor.Fail(tensor.ErrValue, "stack_module_state: Expected all models to have the same training/eval mode.")
		}
	}
	ps, bs := map[string][]*Tensor{}, map[string][]*Tensor{}
	for _, m := range models {
		for n, t := range nn.NamedParameters(m) {
			ps[n] = append(ps[n], t)
		}
		for n, t := range nn.NamedBuffers(m) {
			bs[n] = append(bs[n], t)
		}
	}
	return stackAll(ps, len(models)), stackAll(bs, len(models))
}

func training(m nn.Module) bool {
	b, ok := m.(interface{ Training() bool })
	return ok && b.Training()
}

func stackAll(lists map[string][]*Tensor, n int) map[string]*Tensor {
	out := map[string]*Tensor{}
	for name, l := range lists {
		if len(l) != n {
			tensor.Fail(tensor.ErrValue, "stack_module_state: %d of %d models have '%s'", len(l), n, name)
		}
		grad := true
		for _, t := range l {
			grad = grad && t.RequiresGrad()
		}
		out[name] = torch.Stack(l).Detach()
		if grad {
			out[name].SetRequiresGrad(true)
		}
	}
	return out
}

// Parameters are the parameters of m by name, cut off from the tape: for FunctionalCall in a function that is
// differentiated with respect to them, {name: p.detach() for name, p in m.named_parameters()} in Python.
func Parameters(m nn.Module) map[string]*Tensor {
	out := map[string]*Tensor{}
	for n, t := range nn.NamedParameters(m) {
		out[n] = t.Detach()
	}
	return out
}

// Flatten turns a dict of tensors into its names, sorted, and the tensors in their order, as the transforms take them.
func Flatten(dict map[string]*Tensor) (names []string, tensors []*Tensor) {
	for n := range dict {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		tensors = append(tensors, dict[n])
	}
	return names, tensors
}

// Unflatten is the dict of tensors with these names.
func Unflatten(names []string, tensors []*Tensor) map[string]*Tensor {
	out := make(map[string]*Tensor, len(names))
	for i, n := range names {
		out[n] = tensors[i]
	}
	return out
}

// ReplaceAllBatchNormModulesInPlace takes the running statistics of all batch norms of a module away and returns the
// module. Vmap refuses a batch norm in training that has them: each example would change the same buffers in place.
// https://pytorch.org/docs/stable/func.batch_norm.html
func ReplaceAllBatchNormModulesInPlace[M nn.Module](root M) M {
	for m := range nn.Modules(root) {
		if b := nn.BatchNormOf(m); b != nil {
			b.DropRunningStats()
		}
	}
	return root
}

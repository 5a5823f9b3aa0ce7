package optim

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// SwapInOptimizerParamsAndState calls f while the optimizer has other parameters, settings and state, and puts its own
// back when f returns or panics: a step inside f changes the given parameters. There are as many parameters as the
// optimizer has, in the order of its groups. The state is one that StateDict gives; its tensors are used themselves, so
// that a step changes them in place, and so they must have the dtypes, devices and strides that the steps work with:
// those of the parameters, but for numbers such as step counters. Entries that f adds to the state are lost.
//
// An optimizer that has no state yet, or a state that does not fit, is an error, and f is not called then.
// https://docs.pytorch.org/docs/stable/optim.html
func SwapInOptimizerParamsAndState(opt Optimizer, params []*Tensor, state *serialize.Dict, f func()) error {
	o, ok := opt.(interface{ shared() *base })
	if !ok {
		return fmt.Errorf("optim.SwapInOptimizerParamsAndState: %T is no optimizer of this package", opt)
	}
	b := o.shared()
	fail := func(err error) error { return fmt.Errorf("optim.SwapInOptimizerParamsAndState: %w", err) }
	if err := tensor.Try(func() { b.idle("SwapInOptimizerParamsAndState") }); err != nil {
		return err
	}
	if len(b.state) == 0 {
		return fail(fmt.Errorf("it requires initialized optimizer state"))
	}
	lists, n := make([][]*Tensor, len(b.groups)), 0
	for i, g := range b.groups {
		if n+len(g.Params) > len(params) {
			return fail(fmt.Errorf("there are %d parameters for those of %d groups", len(params), len(b.groups)))
		}
		lists[i] = slices.Clone(params[n : n+len(g.Params)])
		n += len(g.Params)
		for j, p := range lists[i] {
			if p == nil || !p.DType().IsDifferentiable() || !tensor.SameShape(p.Shape(), g.Params[j].Shape()) {
				return fail(fmt.Errorf("parameter %d of group %d is no floating-point or complex tensor of shape %s", j,
					i, tensor.ShapeString(g.Params[j].Shape())))
			}
		}
	}
	groups, entries, err := b.readState(state, lists, b.fitting)
	if err != nil {
		return fail(err)
	}
	own, ownState := make([]ParamGroup, len(b.groups)), b.state
	for i, g := range b.groups {
		own[i] = *g
		own[i].settings = slices.Clone(g.settings)
		*g = *groups[i] // in place: schedulers and users may hold the group
	}
	install := func(state map[*Tensor]*State) {
		b.state = state
		b.changed++
		for _, s := range state {
			s.changed = &b.changed
		}
	}
	install(entries)
	defer func() {
		for i, g := range b.groups[:len(own)] {
			*g = own[i]
		}
		b.groups = b.groups[:len(own)]
		install(ownState)
	}()
	f()
	return nil
}

// shared is the part that all optimizers share.
func (b *base) shared() *base { return b }

// fitting is the adopter that uses tensors themselves.
func (b *base) fitting(t, p *Tensor, key string, counters tensor.Device) (*Tensor, error) {
	if err := b.checkShape(t, p, key); err != nil {
		return nil, err
	}
	switch number := perParameter[key]; {
	case number && t.Device() != counters:
		return nil, fmt.Errorf("it is on %s, want %s", t.Device(), counters)
	case number, t.IsSparse():
		return t, nil
	case t.DType() != p.DType() || t.Device() != p.Device():
		return nil, fmt.Errorf("it is of %s on %s, the parameter of %s on %s", t.DType(), t.Device(), p.DType(),
			p.Device())
	case !b.ownSizes && !tensor.SameShape(t.Strides(), p.Strides()):
		return nil, fmt.Errorf("strides %v, the parameter's are %v", t.Strides(), p.Strides())
	}
	return t, nil
}

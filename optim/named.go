package optim

import (
	"iter"

	"github.com/gotorch-dev/torch/tensor"
)

// NamedGroup is a group of the parameters that lie below modules, or are parameters, of the given names; Params of
// Group are left empty.
type NamedGroup struct {
	Names []string
	Group Group
}

// GroupNamed sorts parameters into groups by their names, for learning rates by layer: the first group fits whose names
// a parameter is below, "fc" for "fc.weight". What fits none comes last, in a group that inherits all settings. Frozen
// parameters, which require no gradients, are left out, and so are groups without parameters.
//
//	optim.NewSGDGroups(optim.GroupNamed(nn.NamedParameters(m),
//		optim.NamedGroup{Names: []string{"fc"}, Group: optim.Group{LR: torch.Some(0.1)}}), 0.01)
func GroupNamed(params iter.Seq2[string, *Tensor], groups ...NamedGroup) []Group {
	all := make([]Group, len(groups)+1)
	for i, g := range groups {
		all[i] = g.Group
		all[i].Params = nil
	}
	for name, p := range params {
		if !p.RequiresGrad() {
			continue
		}
		to := len(groups)
		for i, g := range groups {
			if tensor.Below(name, g.Names...) {
				to = i
				break
			}
		}
		all[to].Params = append(all[to].Params, p)
	}
	out := all[:0]
	for _, g := range all {
		if len(g.Params) > 0 {
			out = append(out, g)
		}
	}
	return out
}

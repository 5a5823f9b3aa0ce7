package nn

import "github.com/gotorch-dev/torch/tensor"

// unseen reports that neither a hook nor a layer has to be told when the module runs.
func (b *Base) unseen() bool { return b.hooks == nil && !tensor.IsObserved() }

// observed runs forward as a region of the program (tensor.RegionLayer). The modules of this package are regions, and
// those whose Forward is written with Base.Run. Hooks of a module run outside of its region.
func observed(m Module, in []*Tensor, forward func([]*Tensor) []*Tensor) (out []*Tensor) {
	if !tensor.IsObserved() {
		return forward(in)
	}
	m = wholeOf(m.moduleBase(), m)
	tensor.InRegion(tensor.Region{Kind: tensor.RegionModule, Name: className(m), Of: m}, func() []*Tensor {
		out = forward(in)
		return out
	})
	return out
}

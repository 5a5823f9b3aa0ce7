package nn

import (
	"sync/atomic"

	"github.com/gotorch-dev/torch/tensor"
)

// Observer is a tensor.Layer that is also told which modules run, as a recorder of programs is. It learns of the
// modules of this package, and of those whose Forward is written with Base.Run. While an observer looks on, a chain of
// layers calls each of them. A layer that wants to know no more than which module runs is a tensor.Observer.
type Observer interface {
	tensor.Layer
	// Enter is called before the Forward of m, and Leave after it. Between them hooks of m do not run.
	Enter(m Module, inputs []*Tensor)
	Leave(m Module, outputs []*Tensor)
}

// observers counts the observers of all goroutines: while it is zero nobody has to look.
var observers atomic.Int32

// Observe runs f with an observer around the modules and the operators that this goroutine calls.
func Observe(o Observer, f func()) {
	observers.Add(1)
	defer observers.Add(-1)
	tensor.WithLayer(o, f)
}

// unseen reports that neither a hook nor an observer has to be told when the module runs.
func (b *Base) unseen() bool { return b.hooks == nil && observers.Load() == 0 && !tensor.IsObserved() }

// observed runs forward and tells the goroutine's observer of it, and those that know modules as regions of the program
// (tensor.Observer).
func observed(m Module, in []*Tensor, forward func([]*Tensor) []*Tensor) (out []*Tensor) {
	if !tensor.IsObserved() {
		return recorded(m, in, forward)
	}
	tensor.InRegion(tensor.Region{Kind: tensor.RegionModule, Name: className(m), Of: m},
		func() { out = recorded(m, in, forward) })
	return out
}

// recorded runs forward and tells the goroutine's observer of its inputs and results.
func recorded(m Module, in []*Tensor, forward func([]*Tensor) []*Tensor) []*Tensor {
	if observers.Load() == 0 {
		return forward(in)
	}
	o, _ := tensor.FindLayer(func(l tensor.Layer) bool {
		_, ok := l.(Observer)
		return ok
	}).(Observer)
	if o == nil { // that of another goroutine
		return forward(in)
	}
	if s := m.moduleBase().self; s != nil { // a type that embeds m
		m = s
	}
	o.Enter(m, in)
	out := forward(in)
	o.Leave(m, out)
	return out
}

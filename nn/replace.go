package nn

import "github.com/gotorch-dev/torch/tensor"

// MultiLayer is a module that Replace can put in the place of one with several inputs or results, such as LSTM: it gets
// all inputs in a row (without the missing ones at the end), and gives all results in a row, as
// RegisterForwardHookAll's.
type MultiLayer interface {
	Module
	ForwardAll(in []*Tensor) []*Tensor
}

// Replace puts a module in the place of m, which a field of another type may hold: Forward of m calls with, a Layer or
// a MultiLayer, and walks of the model (state dict, parameters, print, children) see with where they would see m. A
// struct's field of type *Conv2d thus becomes a quantized layer, or an Identity. Hooks of m do not run any more. A nil
// undoes it. It panics with ErrType where with is neither.
func Replace(m, with Module) {
	h := hooksOf(m.moduleBase())
	switch with.(type) {
	case nil, Layer, MultiLayer:
	default:
		tensor.Fail(tensor.ErrType, "nn.Replace: a %s has neither Forward(x) nor ForwardAll", className(with))
	}
	for u := with; u != nil; u = nextStandIn(u) {
		if u.moduleBase() == m.moduleBase() {
			tensor.Fail(tensor.ErrValue, "nn.Replace: a module cannot take its own place")
		}
	}
	h.standIn = with
}

func runStandIn(m Module, in []*Tensor) []*Tensor {
	if l, ok := m.(MultiLayer); ok {
		return l.ForwardAll(in)
	}
	return []*Tensor{m.(Layer).Forward(in[0])}
}

// StandIn is what was put in the place of m by Replace, m itself if nothing was.
func StandIn(m Module) Module {
	for range maxDepth {
		next := nextStandIn(m)
		if next == nil {
			break
		}
		m = next
	}
	return m
}

func nextStandIn(m Module) Module {
	if h := m.moduleBase().hooks; h != nil {
		return h.standIn
	}
	return nil
}

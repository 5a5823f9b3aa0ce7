package nn

import "github.com/gotorch-dev/torch/tensor"

// Handle removes a hook.
type Handle struct{ remove func() }

// Remove takes the hook off; it may be called more than once.
func (h Handle) Remove() {
	if h.remove != nil {
		h.remove()
	}
}

func (b *Base) hookSet() *hooks {
	if b.hooks == nil {
		b.hooks = &hooks{}
	}
	return b.hooks
}

func register[F any](list *[]*F, f F) Handle {
	p := &f
	*list = append(*list, p)
	return Handle{func() {
		for i, q := range *list {
			if q == p {
				*list = append((*list)[:i:i], (*list)[i+1:]...)
				return
			}
		}
	}}
}

// RegisterForwardPreHook calls f before every Forward; the inputs that it returns, unless nil, are used instead.
func (b *Base) RegisterForwardPreHook(f func(m Module, inputs []*Tensor) []*Tensor) Handle {
	return register(&b.hookSet().pre, f)
}

// RegisterForwardHook calls f after every Forward; what it returns, unless nil, is used instead of the output.
func (b *Base) RegisterForwardHook(f func(m Module, inputs []*Tensor, output *Tensor) *Tensor) Handle {
	return register(&b.hookSet().post, f)
}

// RegisterFullBackwardHook calls f when the gradients with respect to the module's inputs are known; those that it returns, unless
// nil, are used instead.
func (b *Base) RegisterFullBackwardHook(f func(m Module, gradInput, gradOutput []*Tensor) []*Tensor) Handle {
	return register(&b.hookSet().back, f)
}

// Run calls forward with the module's hooks around it. The layers of this package do so in Forward; a module of your own does when
// its Forward is written as m.Run(m, x, m.forward), or when it is called by Call.
func (b *Base) Run(m Module, x *Tensor, forward func(*Tensor) *Tensor) *Tensor {
	if b.hooks == nil {
		return forward(x)
	}
	return b.runHooked(m, []*Tensor{x}, func(in []*Tensor) *Tensor { return forward(in[0]) })
}

// runN is Run for several inputs.
func (b *Base) runN(m Module, in []*Tensor, forward func([]*Tensor) *Tensor) *Tensor {
	if b.hooks == nil {
		return forward(in)
	}
	return b.runHooked(m, in, forward)
}

func (b *Base) runHooked(m Module, in []*Tensor, forward func([]*Tensor) *Tensor) *Tensor {
	h := b.hooks
	for _, f := range h.pre {
		if r := (*f)(m, in); r != nil {
			in = r
		}
	}
	if len(h.back) == 0 {
		return b.post(m, in, forward(in))
	}
	// gradients with respect to the inputs pass through an identity node in front of the module, those of the output through one behind
	var gradOut []*Tensor
	inner := make([]*Tensor, len(in))
	for i, t := range in {
		inner[i] = t.Detach()
	}
	tensor.Attach("BackwardHookFunctionBackward", in, inner, func(g []*Tensor) []*Tensor {
		for _, f := range h.back {
			if r := (*f)(m, g, gradOut); r != nil {
				g = r
			}
		}
		return g
	})
	out := forward(inner)
	res := out.Detach()
	tensor.Attach("BackwardHookFunctionBackward", []*Tensor{out}, []*Tensor{res}, func(g []*Tensor) []*Tensor {
		gradOut = append([]*Tensor(nil), g...) // the engine reuses the slice
		return g
	})
	return b.post(m, in, res)
}

func (b *Base) post(m Module, in []*Tensor, out *Tensor) *Tensor {
	for _, f := range b.hooks.post {
		if r := (*f)(m, in, out); r != nil {
			out = r
		}
	}
	return out
}

// Call runs a layer with its hooks.
func Call(m Layer, x *Tensor) *Tensor {
	return m.Forward(x)
}

// RegisterForwardHook is the method of Base for a module whose type is not known.
func RegisterForwardHook(m Module, f func(m Module, inputs []*Tensor, output *Tensor) *Tensor) Handle {
	return m.moduleBase().RegisterForwardHook(f)
}

// RegisterForwardPreHook is the method of Base for a module whose type is not known.
func RegisterForwardPreHook(m Module, f func(m Module, inputs []*Tensor) []*Tensor) Handle {
	return m.moduleBase().RegisterForwardPreHook(f)
}

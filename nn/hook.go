package nn

import (
	"github.com/gotorch-dev/torch/internal/gls"
	"github.com/gotorch-dev/torch/tensor"
)

// Handle removes a hook.
type Handle struct{ remove func() }

// Remove takes the hook off; it may be called more than once.
func (h Handle) Remove() {
	if h.remove != nil {
		h.remove()
	}
}

// RegisterLoadStateDictPreHook calls f before a state dict is loaded into the module, with a copy of the dict, which f
// may change, and the prefix of the module's names in it ("layer1." or ""). Older files are read so.
func RegisterLoadStateDictPreHook(m Module, f func(m Module, sd *tensor.StateDict, prefix string)) Handle {
	return register(&extraOf(m.moduleBase()).load, f)
}

// prepared is sd as the modules' hooks want it.
func prepared(m Module, sd *tensor.StateDict) *tensor.StateDict {
	copied := false
	for prefix, c := range NamedModules(m) {
		e := c.moduleBase().extra
		if e == nil || len(e.load) == 0 {
			continue
		}
		if !copied {
			own := &tensor.StateDict{Metadata: sd.Metadata}
			for k, t := range sd.All() {
				own.Set(k, t)
			}
			sd, copied = own, true
		}
		if prefix != "" {
			prefix += "."
		}
		for _, f := range e.load {
			(*f)(c, sd, prefix)
		}
	}
	return sd
}

// hooksOf are the hooks of a module; it makes room for them.
func hooksOf(b *Base) *hooks {
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

// The methods that register hooks are not inlined: the compiler writes a wrapper of each of them for every type that
// embeds Base, and the bodies would stand in all wrappers. They would take 40 % of the time in which package nn is
// compiled.

// RegisterForwardPreHook calls f before every Forward; the inputs that it returns, unless nil, are used instead.
//
//go:noinline
func (b *Base) RegisterForwardPreHook(f func(m Module, inputs []*Tensor) []*Tensor) Handle {
	return register(&hooksOf(b).pre, f)
}

// RegisterForwardHook calls f after every Forward; what it returns, unless nil, is used instead of the output. Of a
// module with several results, as LSTM, f sees and replaces the first; RegisterForwardHookAll is for all of them.
//
//go:noinline
func (b *Base) RegisterForwardHook(f func(m Module, inputs []*Tensor, output *Tensor) *Tensor) Handle {
	return b.RegisterForwardHookAll(func(m Module, inputs, outputs []*Tensor) []*Tensor {
		r := f(m, inputs, outputs[0])
		if r == nil {
			return nil
		}
		return append([]*Tensor{r}, outputs[1:]...)
	})
}

// RegisterForwardHookAll calls f after every Forward with all results in a row: LSTM's are the outputs, h and c, those
// of MultiheadAttention the outputs and the weights (nil when they are not wanted). What it returns, unless nil, is
// used instead.
//
//go:noinline
func (b *Base) RegisterForwardHookAll(f func(m Module, inputs, outputs []*Tensor) []*Tensor) Handle {
	return register(&hooksOf(b).post, f)
}

// RegisterForwardAround has f run the forward pass: it is given the pass and the module's inputs, calls the one with
// the other, at once or more than once, and returns the results. Activation checkpointing is such a function. The last
// one that was registered is the outermost. The module must be a Layer or a TransformerEncoderLayer; of others, the
// pass cannot be repeated, and it is an error (ErrType).
func RegisterForwardAround(m Module,
	f func(m Module, forward func([]*Tensor) []*Tensor, inputs []*Tensor) []*Tensor) Handle {
	if !CanRunAgain(m) {
		tensor.Fail(tensor.ErrType, "RegisterForwardAround: the forward pass of %s, which takes more than a tensor, "+
			"cannot be repeated", describe(m))
	}
	return register(&hooksOf(m.moduleBase()).around, f)
}

// CanRunAgain reports a module that RegisterForwardAround takes.
func CanRunAgain(m Module) bool {
	switch m.(type) {
	case Layer, *TransformerEncoderLayer:
		return true
	}
	return false
}

// call runs the forward pass of a module inside the functions around it. These may keep the pass they are given, while
// forward must not be kept: layers could not make it without allocating memory. So the pass is Forward itself, which is
// told, by the number of the goroutine, that it is inside.
func (h *hooks) call(m Module, in []*Tensor, forward func([]*Tensor) []*Tensor) []*Tensor {
	l, ok := m.(Layer)
	if len(h.around) == 0 || !ok {
		return observed(m, in, forward)
	}
	return h.wrapped(m, in, func(in []*Tensor) []*Tensor {
		id := gls.ID()
		h.inside.Store(id, nil)
		defer h.inside.Delete(id)
		return []*Tensor{l.Forward(in[0])}
	})
}

// isInside reports that Forward was called by a function around it, on this goroutine.
func (h *hooks) isInside() bool {
	if len(h.around) == 0 {
		return false
	}
	_, ok := h.inside.LoadAndDelete(gls.ID())
	return ok
}

// wrapped runs a pass that may be kept inside the functions around it.
func (h *hooks) wrapped(m Module, in []*Tensor, pass func([]*Tensor) []*Tensor) []*Tensor {
	for _, f := range h.around {
		inner := pass
		pass = func(in []*Tensor) []*Tensor { return (*f)(m, inner, in) }
	}
	return pass(in)
}

// runBlock is Run for a module whose Forward takes more than a tensor: forward may be kept.
func (b *Base) runBlock(m Module, x *Tensor, forward func(*Tensor) *Tensor) *Tensor {
	if b.hooks == nil || len(b.hooks.around) == 0 {
		return b.Run(m, x, forward)
	}
	return b.Run(m, x, func(x *Tensor) *Tensor {
		return b.hooks.wrapped(m, []*Tensor{x}, func(in []*Tensor) []*Tensor { return []*Tensor{forward(in[0])} })[0]
	})
}

// RegisterFullBackwardHook calls f when the gradients with respect to the module's inputs are known; those that it
// returns, unless nil, are used instead. Where no input requires grad, as in the first layer of a network, f is called
// when the gradients of the outputs are known, and gradInput holds only nils.
//
//go:noinline
func (b *Base) RegisterFullBackwardHook(f func(m Module, gradInput, gradOutput []*Tensor) []*Tensor) Handle {
	return register(&hooksOf(b).back, f)
}

// RegisterFullBackwardPreHook calls f before the gradient passes through the module; the gradients of the outputs that
// it returns, unless nil, are used instead.
//
//go:noinline
func (b *Base) RegisterFullBackwardPreHook(f func(m Module, gradOutput []*Tensor) []*Tensor) Handle {
	return register(&hooksOf(b).backPre, f)
}

// Run calls forward with the module's hooks around it. The layers of this package do so in Forward; a module of your
// own does when its Forward is written as m.Run(m, x, m.forward), or when it is called by Call.
func (b *Base) Run(m Module, x *Tensor, forward func(*Tensor) *Tensor) *Tensor {
	defer blame(m)
	if b.unseen() {
		return forward(x)
	}
	return runHooked(m, []*Tensor{x}, func(in []*Tensor) []*Tensor { return []*Tensor{forward(in[0])} })[0]
}

// runN is Run for several inputs.
func runN(m Module, in []*Tensor, forward func([]*Tensor) *Tensor) *Tensor {
	defer blame(m)
	if m.moduleBase().unseen() {
		return forward(in)
	}
	return runHooked(m, in, func(in []*Tensor) []*Tensor { return []*Tensor{forward(in)} })[0]
}

// runAll is Run for several inputs and results; missing inputs at the end are left out.
func runAll(m Module, in []*Tensor, forward func([]*Tensor) []*Tensor) []*Tensor {
	defer blame(m)
	if m.moduleBase().unseen() {
		return forward(in)
	}
	n := len(in)
	for in[n-1] == nil {
		n--
	}
	return runHooked(m, in[:n:n], func(got []*Tensor) []*Tensor {
		return forward(append(got[:len(got):len(got)], in[n:]...))
	})
}

// run2 is Run for two results.
func run2(m Module, x *Tensor, forward func(*Tensor) (*Tensor, *Tensor)) (*Tensor, *Tensor) {
	defer blame(m)
	if m.moduleBase().unseen() {
		return forward(x)
	}
	r := runHooked(m, []*Tensor{x}, func(in []*Tensor) []*Tensor {
		p, q := forward(in[0])
		return []*Tensor{p, q}
	})
	return r[0], r[1]
}

// runHooked runs forward with the hooks around it, and tells observers of it.
func runHooked(m Module, in []*Tensor, forward func([]*Tensor) []*Tensor) []*Tensor {
	if h := m.moduleBase().hooks; h != nil && h.standIn != nil {
		return runStandIn(h.standIn, in)
	}
	refresh(m)
	h := m.moduleBase().hooks
	switch {
	case h == nil:
		return observed(m, in, forward)
	case h.isInside():
		return observed(m, in, forward)
	}
	m = wholeOf(m.moduleBase(), m) // Forward may be that of an embedded module
	for _, f := range h.pre {
		if r := (*f)(m, in); r != nil {
			in = r
		}
	}
	if len(h.back)+len(h.backPre) == 0 || !tensor.IsGradEnabled() {
		return h.after(m, in, h.call(m, in, forward))
	}
	// gradients with respect to the inputs pass through an identity node in front of the module, those of the outputs
	// through one behind
	var gradOut []*Tensor
	call := func(g []*Tensor) []*Tensor {
		for _, f := range h.back {
			if r := (*f)(m, g, gradOut); r != nil {
				g = r
			}
		}
		return g
	}
	inner, wired := passing(in, call)
	out := h.call(m, inner, forward)
	res, _ := passing(out, func(g []*Tensor) []*Tensor {
		for _, f := range h.backPre {
			if r := (*f)(m, g); r != nil {
				g = r
			}
		}
		gradOut = g
		if !wired {
			call(make([]*Tensor, len(in)))
		}
		return g
	})
	return h.after(m, in, res)
}

// passing gives each tensor that requires grad an identity node whose gradients go through f: one entry for each of ts,
// nil where no gradient arrives. ok is false when none requires grad.
func passing(ts []*Tensor, f func(grads []*Tensor) []*Tensor) (out []*Tensor, ok bool) {
	out = append([]*Tensor(nil), ts...)
	var from, to []*Tensor
	var at []int
	for i, t := range ts {
		if t != nil && t.RequiresGrad() {
			out[i] = t.Detach()
			from, to, at = append(from, t), append(to, out[i]), append(at, i)
		}
	}
	ok = tensor.Attach("BackwardHookFunctionBackward", from, to, func(g []*Tensor) []*Tensor {
		all := make([]*Tensor, len(ts))
		for k, i := range at {
			all[i] = g[k]
		}
		all = f(all)
		res := make([]*Tensor, len(at))
		for k, i := range at {
			res[k] = all[i]
		}
		return res
	})
	return out, ok
}

// after runs the hooks behind Forward.
func (h *hooks) after(m Module, in, out []*Tensor) []*Tensor {
	for _, f := range h.post {
		if r := (*f)(m, in, out); r != nil {
			out = r
		}
	}
	return out
}

// Call runs a layer with its hooks. An error that its Forward panics with names the layer.
func Call(m Layer, x *Tensor) *Tensor {
	baseOf(m)
	defer blame(m)
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

// RegisterForwardHookAll is the method of Base for a module whose type is not known.
func RegisterForwardHookAll(m Module, f func(m Module, inputs, outputs []*Tensor) []*Tensor) Handle {
	return m.moduleBase().RegisterForwardHookAll(f)
}

// RegisterFullBackwardHook is the method of Base for a module whose type is not known.
func RegisterFullBackwardHook(m Module, f func(m Module, gradInput, gradOutput []*Tensor) []*Tensor) Handle {
	return m.moduleBase().RegisterFullBackwardHook(f)
}

// RegisterFullBackwardPreHook is the method of Base for a module whose type is not known.
func RegisterFullBackwardPreHook(m Module, f func(m Module, gradOutput []*Tensor) []*Tensor) Handle {
	return m.moduleBase().RegisterFullBackwardPreHook(f)
}

// Hooked reports whether one of the modules has, or once had, hooks that see what goes in and comes out.
func Hooked(ms ...Module) bool {
	for _, m := range ms {
		if m.moduleBase().hooks != nil {
			return true
		}
	}
	return false
}

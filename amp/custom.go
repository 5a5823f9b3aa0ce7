package amp

import (
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/internal/autocast"
	"github.com/gotorch-dev/torch/tensor"
)

// CustomOptions are the options of [Custom].
type CustomOptions struct {
	// CastInputs, if not 0, is the type that floating-point inputs are cast to inside a region of Autocast; the forward
	// pass then runs without autocast. Otherwise the forward pass runs in the mode that it is called in.
	CastInputs tensor.DType
}

// Custom wraps an autograd.Function whose operators need care under autocast, as the decorators custom_fwd and
// custom_bwd do in Python: Backward runs in the mode that Forward ran in.
// https://pytorch.org/docs/stable/amp.html#torch.amp.custom_fwd
func Custom(device tensor.DeviceType, f autograd.Function, opts ...CustomOptions) autograd.Function {
	c := &custom{Function: f, device: device}
	if len(opts) > 0 {
		c.o = opts[0]
	}
	return c
}

// custom is a Function that remembers the mode of its forward pass.
type custom struct {
	autograd.Function
	device tensor.DeviceType
	o      CustomOptions
	on     bool
	dtype  tensor.DType
}

// FunctionName is the name of the wrapped Function, after which its node is called.
func (c *custom) FunctionName() string { return autograd.FunctionName(c.Function) }

// Forward casts the inputs and runs the wrapped forward pass.
func (c *custom) Forward(ctx *autograd.Context, inputs ...*Tensor) (out []*Tensor) {
	c.on, c.dtype = IsEnabled(c.device), DType(c.device)
	if c.o.CastInputs == 0 || !c.on {
		return c.Function.Forward(ctx, inputs...)
	}
	cast := append([]*Tensor(nil), inputs...)
	for i, t := range cast {
		if autocast.Eligible(t, c.device) {
			cast[i] = t.ToDType(c.o.CastInputs)
		}
	}
	c.on = false
	Autocast(c.device, 0, func() { out = c.Function.Forward(ctx, cast...) }, AutocastOptions{Disabled: true})
	return out
}

// Backward runs the wrapped backward pass in the mode of the forward pass.
func (c *custom) Backward(ctx *autograd.Context, grads ...*Tensor) (out []*Tensor) {
	Autocast(c.device, c.dtype, func() { out = c.Function.Backward(ctx, grads...) }, AutocastOptions{Disabled: !c.on})
	return out
}

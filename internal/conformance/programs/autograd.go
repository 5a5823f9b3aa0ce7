package programs

import (
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/tensor"
)

// functionBase is torch.autograd.Function as a base class.
var functionBase = attrs{"__name__": "Function"}

// autograd is a name of torch.autograd.
func (h *Host) autograd(name string) (any, bool) {
	switch name {
	case "Function":
		return functionBase, true
	case "grad":
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			get := func(i int, n string) any {
				if i < len(args) {
					return args[i]
				}
				return kw[n]
			}
			o := autograd.GradOptions{GradOutputs: tensorsOf(get(2, "grad_outputs")),
				RetainGraph: kw["retain_graph"] == true, CreateGraph: kw["create_graph"] == true,
				AllowUnused: kw["allow_unused"] == true}
			var out pylite.Tuple
			for _, g := range autograd.Grad(tensorsOf(get(0, "outputs")), tensorsOf(get(1, "inputs")), o) {
				if g == nil {
					out = append(out, nil)
				} else {
					out = append(out, g)
				}
			}
			return out
		}), true
	case "saved_tensors_hooks":
		return pylite.Builtin(func(args []any, _ map[string]any) any {
			if len(args) != 2 {
				pylite.Throw("TypeError", "saved_tensors_hooks takes a pack_hook and an unpack_hook")
			}
			pack := func(t *tensor.Tensor) any { return h.In.Call(args[0], []any{t}, nil) }
			unpack := func(v any) *tensor.Tensor { return asTensor(h.In.Call(args[1], []any{v}, nil)) }
			return region(name, func(f func()) { autograd.SavedTensorsHooks(pack, unpack, f) })
		}), true
	case "save_on_cpu":
		return pylite.Builtin(func([]any, map[string]any) any { return region(name, autograd.SaveOnCPU) }), true
	case "detect_anomaly", "set_detect_anomaly":
		return pylite.Builtin(h.anomaly), true
	}
	return nil, false
}

// anomaly is torch.autograd.detect_anomaly(check_nan=True) and set_detect_anomaly(mode, check_nan=True).
func (h *Host) anomaly(args []any, kw map[string]any) any {
	if len(args) > 0 && args[0] == false {
		return region("set_detect_anomaly", autograd.NoDetectAnomaly)
	}
	o := autograd.AnomalyOptions{NoCheckNaN: kw["check_nan"] == false, Output: warningWriter{h}}
	return region("detect_anomaly", func(f func()) { autograd.DetectAnomaly(f, o) })
}

// warningWriter keeps what anomaly mode reports with the warnings, as in PyTorch.
type warningWriter struct{ h *Host }

func (w warningWriter) Write(p []byte) (int, error) {
	w.h.Warnings = append(w.h.Warnings, string(p))
	return len(p), nil
}

// marked is a method that custom_fwd or custom_bwd has decorated.
type marked struct {
	fn     any
	device tensor.DeviceType
	cast   tensor.DType
}

// amp is a name of torch.amp.
func (h *Host) amp(module, name string) (any, bool) {
	switch name {
	case "autocast":
		return pylite.Builtin(h.autocast), true
	case "GradScaler":
		return pylite.Builtin(h.newScaler), true
	case "custom_fwd", "custom_bwd":
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			m := marked{device: deviceType([]any{kw["device_type"]}, 0, "")}
			m.cast, _ = kw["cast_inputs"].(tensor.DType)
			return builtin(func(args []any) any { m.fn = args[0]; return m })
		}), true
	}
	return nil, false
}

// classAttr gives apply to subclasses of torch.autograd.Function.
func (h *Host) classAttr(c *pylite.Class, name string) (any, bool) {
	if base, ok := c.Host().(attrs); !ok || base["__name__"] != "Function" || name != "apply" {
		return nil, false
	}
	return builtin(func(args []any) any {
		f := &function{h: h, class: c, args: args}
		for _, a := range args {
			f.inputs = append(f.inputs, asTensor(a))
		}
		var fn autograd.Function = f
		if m, ok := f.method("forward").(marked); ok {
			fn = amp.Custom(m.device, f, amp.CustomOptions{CastInputs: m.cast})
		}
		outs := autograd.Apply(fn, f.inputs...)
		if f.single {
			return outs[0]
		}
		var t pylite.Tuple
		for _, o := range outs {
			t = append(t, o)
		}
		return t
	}), true
}

// function is an autograd.Function that a program's class describes.
type function struct {
	h      *Host
	class  *pylite.Class
	args   []any
	inputs []*tensor.Tensor
	single bool
	ctx    funcContext
}

// funcContext is the ctx of forward and backward.
type funcContext struct {
	ctx  *autograd.Context
	more map[string]any
}

// FunctionName is the class's name.
func (f *function) FunctionName() string { return f.class.Name }

// method is forward or backward, without staticmethod around it.
func (f *function) method(name string) any {
	m, ok := f.class.Lookup(name)
	if !ok {
		pylite.Throw("NotImplementedError", "You must implement the %s function", name)
	}
	if s, ok := m.(pylite.Static); ok {
		return s.F
	}
	return m
}

// Forward calls the program's forward.
func (f *function) Forward(ctx *autograd.Context, inputs ...*tensor.Tensor) []*tensor.Tensor {
	f.ctx = funcContext{ctx, map[string]any{}}
	args := append([]any{f.ctx}, f.args...)
	for i, t := range inputs {
		if t != nil {
			args[1+i] = t
		}
	}
	out := f.h.In.Call(f.method("forward"), args, nil)
	f.single = asTensor(out) != nil
	return tensorsOf(out)
}

// Backward calls the program's backward.
func (f *function) Backward(ctx *autograd.Context, grads ...*tensor.Tensor) []*tensor.Tensor {
	args := []any{f.ctx}
	for _, g := range grads {
		args = append(args, g)
	}
	v := f.h.In.Call(f.method("backward"), args, nil)
	if t, ok := v.(pylite.Tuple); ok {
		out := make([]*tensor.Tensor, len(t))
		for i, e := range t {
			out[i] = asTensor(e)
		}
		return out
	}
	return []*tensor.Tensor{asTensor(v)}
}

func (c funcContext) attr(name string) (any, bool) {
	switch name {
	case "save_for_backward":
		return builtin(func(args []any) any {
			var ts []*tensor.Tensor
			for _, a := range args {
				ts = append(ts, asTensor(a))
			}
			c.ctx.SaveForBackward(ts...)
			return nil
		}), true
	case "saved_tensors":
		var out pylite.Tuple
		for _, t := range c.ctx.SavedTensors() {
			out = append(out, t)
		}
		return out, true
	case "mark_dirty":
		return builtin(func(args []any) any { c.ctx.MarkDirty(tensorsOf(pylite.Tuple(args))...); return nil }), true
	}
	v, ok := c.more[name]
	return v, ok
}

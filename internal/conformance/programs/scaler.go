package programs

import (
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// scaler is a GradScaler of a program.
type scaler struct {
	*amp.GradScaler
	used map[string]bool // scale was called
}

// newScaler is torch.amp.GradScaler(device, init_scale=…, …).
func (h *Host) newScaler(args []any, kw map[string]any) any {
	dev := "cuda"
	if len(args) > 0 {
		dev = pylite.Str(args[0])
	}
	return scaler{MakeScaler(dev, kw), map[string]bool{}}
}

// MakeScaler makes a GradScaler from Python's arguments.
func MakeScaler(device string, kw map[string]any) *amp.GradScaler {
	num := func(name string) (f tensor.Opt[float64]) {
		switch x := kw[name].(type) {
		case int:
			f = tensor.Some(float64(x))
		case float64:
			f = tensor.Some(x)
		}
		return f
	}
	var interval tensor.Opt[int]
	if n, ok := num("growth_interval").Get(); ok {
		interval = tensor.Some(int(n))
	}
	return amp.NewGradScaler(deviceType([]any{device}, 0, ""), amp.GradScalerOptions{InitScale: num("init_scale"),
		GrowthFactor: num("growth_factor"), BackoffFactor: num("backoff_factor"),
		GrowthInterval: interval, Disabled: kw["enabled"] == false})
}

func (h *Host) scalerAttr(s scaler, name string) (any, bool) {
	opt := func(args []any) optim.Optimizer {
		o, ok := args[0].(optim.Optimizer)
		if !ok {
			pylite.Throw("TypeError", "'%s' is no optimizer", pylite.TypeName(args[0]))
		}
		return o
	}
	get := func(f func() any) (any, bool) { return builtin(func([]any) any { return f() }), true }
	switch name {
	case "scale":
		return builtin(func(args []any) any { return h.scale(s, args[0]) }), true
	case "unscale_":
		return builtin(func(args []any) any { s.Unscale(opt(args)); return nil }), true
	case "step":
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			if len(kw) > 0 {
				panic(golden.Skip("GradScaler.Step takes no closure"))
			}
			s.Step(opt(args))
			return nil
		}), true
	case "update":
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			if x, ok := kw["new_scale"]; ok && x != nil {
				args = append(args, x)
			}
			if len(args) == 0 {
				s.Update()
				return nil
			}
			switch x := args[0].(type) {
			case float64:
				s.Update(x)
			case *tensor.Tensor:
				s.UpdateTensor(x)
			default:
				panic(golden.Skip("GradScaler.Update takes no " + pylite.TypeName(x)))
			}
			return nil
		}), true
	case "get_scale":
		return get(func() any { return s.GetScale() })
	case "_get_growth_tracker":
		return get(func() any { return s.GrowthTracker() })
	case "get_growth_factor":
		return get(func() any { return s.GetGrowthFactor() })
	case "get_backoff_factor":
		return get(func() any { return s.GetBackoffFactor() })
	case "get_growth_interval":
		return get(func() any { return s.GetGrowthInterval() })
	case "is_enabled":
		return get(func() any { return s.IsEnabled() })
	case "set_growth_factor":
		return builtin(func(args []any) any { s.SetGrowthFactor(args[0].(float64)); return nil }), true
	case "set_backoff_factor":
		return builtin(func(args []any) any { s.SetBackoffFactor(args[0].(float64)); return nil }), true
	case "set_growth_interval":
		return builtin(func(args []any) any { s.SetGrowthInterval(args[0].(int)); return nil }), true
	case "_scale":
		if !s.used["scale"] {
			return nil, true
		}
		return s.GetScale(), true
	case "state_dict":
		return get(func() any {
			d := pylite.NewDict()
			for k, v := range s.StateDict().All() {
				d.Set(k, v)
			}
			return d
		})
	case "load_state_dict":
		return builtin(func(args []any) any {
			d := serialize.NewDict()
			m := args[0].(*pylite.Dict)
			for _, k := range m.Keys {
				v, _ := m.Get(k)
				d.Set(k, v)
			}
			if err := s.LoadStateDict(d); err != nil {
				panic(err)
			}
			return nil
		}), true
	}
	return nil, false
}

// scale scales a tensor, or all tensors of a list or tuple.
func (h *Host) scale(s scaler, v any) any {
	switch x := v.(type) {
	case *pylite.List:
		out := &pylite.List{}
		for _, e := range x.Elts {
			out.Elts = append(out.Elts, h.scale(s, e))
		}
		return out
	case pylite.Tuple:
		var out pylite.Tuple
		for _, e := range x {
			out = append(out, h.scale(s, e))
		}
		return out
	case string: // Python would scale its letters, but not before somebody looks at them
		return nil
	}
	s.used["scale"] = true
	return s.Scale(asTensor(v))
}

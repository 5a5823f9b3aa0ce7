package optim

import (
	"maps"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Group describes a parameter group to a constructor or AddParamGroup. Settings that are not given are inherited from
// the optimizer; a given one is written torch.Some(x), 0 like any other number. A setting that the optimizer does not
// have is a mistake and panics.
type Group struct {
	Params []*Tensor

	LR          tensor.Opt[float64]
	Betas       tensor.Opt[[2]float64]
	Eps         tensor.Opt[float64]
	Momentum    tensor.Opt[float64]
	Dampening   tensor.Opt[float64]
	WeightDecay tensor.Opt[float64]
	Nesterov    tensor.Opt[bool]
	AMSGrad     tensor.Opt[bool]
	Maximize    tensor.Opt[bool]

	// Settings are others, by Python's names: "alpha", "rho", "momentum_decay", … Their values are float64, int, bool,
	// string or [2]float64.
	Settings map[string]any
}

// overrides lists the settings that a group changes, under Python's names.
func (g *Group) overrides() []setting {
	var out []setting
	override(&out, "lr", g.LR)
	override(&out, "betas", g.Betas)
	override(&out, "eps", g.Eps)
	override(&out, "momentum", g.Momentum)
	override(&out, "dampening", g.Dampening)
	override(&out, "weight_decay", g.WeightDecay)
	override(&out, "nesterov", g.Nesterov)
	override(&out, "amsgrad", g.AMSGrad)
	override(&out, "maximize", g.Maximize)
	for _, k := range slices.Sorted(maps.Keys(g.Settings)) {
		out = append(out, setting{k, g.Settings[k]})
	}
	return out
}

func override[V any](out *[]setting, key string, o tensor.Opt[V]) {
	if v, ok := o.Get(); ok {
		*out = append(*out, setting{key, v})
	}
}

type setting struct {
	key string
	val any
}

// ParamGroup is a group of parameters with its settings, under Python's names and in Python's order: "lr", "momentum",
// "weight_decay", … Values are float64, int, bool, nil (Python's None), string or [2]float64 (the betas).
type ParamGroup struct {
	Params   []*Tensor
	settings []setting
	plan     *plan // of the last step
	loaded   bool  // settings of a file, whose ranges PyTorch does not check
}

// LR is the learning rate.
func (g *ParamGroup) LR() float64 { return g.Float("lr") }

// SetLR changes the learning rate.
func (g *ParamGroup) SetLR(lr float64) { g.Set("lr", lr) }

// Get returns a setting, nil when there is none of that name.
func (g *ParamGroup) Get(key string) any {
	for i := range g.settings {
		if g.settings[i].key == key {
			return g.settings[i].val
		}
	}
	return nil
}

// Has reports whether the group has a setting.
func (g *ParamGroup) Has(key string) bool {
	for i := range g.settings {
		if g.settings[i].key == key {
			return true
		}
	}
	return false
}

// Set changes or adds a setting.
func (g *ParamGroup) Set(key string, val any) {
	for i := range g.settings {
		if g.settings[i].key == key {
			g.settings[i].val = val
			return
		}
	}
	g.settings = append(g.settings, setting{key, val})
}

// Float is a numeric setting; 0 when there is none. It panics when the setting is no number.
func (g *ParamGroup) Float(key string) float64 {
	switch x := g.Get(key).(type) {
	case nil:
		return 0
	case float64:
		return x
	case int:
		return float64(x)
	case bool:
		if x {
			return 1
		}
		return 0
	case *Tensor: // a learning rate may be a tensor in a file
		return x.Num().F
	default:
		tensor.Fail(tensor.ErrType, "optim: setting %q of a parameter group is a %T, want a number", key, x)
		return 0
	}
}

// Bool is a setting that is true or false; false when there is none.
func (g *ParamGroup) Bool(key string) bool { return g.Float(key) != 0 }

// Betas are Adam's coefficients of the running averages.
func (g *ParamGroup) Betas() [2]float64 { return g.Pair("betas") }

// Pair is a setting of two numbers, as the betas are; zeros when there is none.
func (g *ParamGroup) Pair(key string) [2]float64 {
	b, _ := g.Get(key).([2]float64)
	return b
}

// counterDevice is where the step counter of a parameter lies: on the CPU, where every step reads it, unless the group
// was told otherwise. https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html has the settings
// "capturable" and "fused".
func (g *ParamGroup) counterDevice(p *Tensor) tensor.Device {
	if g.Bool("capturable") || g.Bool("fused") {
		return p.Device()
	}
	return tensor.Device{}
}

// Keys lists the settings in order, without "params".
func (g *ParamGroup) Keys() []string {
	out := make([]string, len(g.settings))
	for i := range g.settings {
		out[i] = g.settings[i].key
	}
	return out
}

// String prints the group as Python prints its dict, with the parameters.
func (g *ParamGroup) String() string {
	var b strings.Builder
	b.WriteString("{'params': [")
	for i, p := range g.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(pyfmt.Repr(p))
	}
	b.WriteString("]")
	for _, s := range g.settings {
		b.WriteString(", " + pyfmt.Str(s.key) + ": " + pyfmt.Repr(s.val))
	}
	b.WriteString("}")
	return b.String()
}

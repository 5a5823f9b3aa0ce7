package optim

import (
	"math"
	"strings"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Zero is an explicit 0 in options and groups whose zero value means "the default" or "as the optimizer": AdamWOptions{WeightDecay:
// optim.Zero} switches AdamW's decay off.
var Zero = math.Copysign(0, -1)

// given reports a value that was set: any number but plain 0.
func given(f float64) bool { return f != 0 || math.Signbit(f) }

// plainZero turns the mark for an explicit zero into an ordinary 0.
func plainZero(f float64) float64 {
	if f == 0 {
		return 0
	}
	return f
}

// Group describes a parameter group to a constructor or AddParamGroup. Fields left at their zero value are inherited from the optimizer;
// an explicit 0 is written [Zero]. A field that the optimizer does not have is a mistake and panics.
type Group struct {
	Params []*Tensor

	LR          float64
	Betas       [2]float64
	Eps         float64
	Momentum    float64
	Dampening   float64
	WeightDecay float64
	Nesterov    tensor.Opt[bool]
	AMSGrad     tensor.Opt[bool]
	Maximize    tensor.Opt[bool]
}

// overrides lists the settings that a group changes, under Python's names.
func (g *Group) overrides() []setting {
	var out []setting
	num := func(key string, f float64) {
		if given(f) {
			out = append(out, setting{key, plainZero(f)})
		}
	}
	flag := func(key string, o tensor.Opt[bool]) {
		if b, ok := o.Get(); ok {
			out = append(out, setting{key, b})
		}
	}
	num("lr", g.LR)
	if given(g.Betas[0]) || given(g.Betas[1]) {
		out = append(out, setting{"betas", [2]float64{plainZero(g.Betas[0]), plainZero(g.Betas[1])}})
	}
	num("eps", g.Eps)
	num("momentum", g.Momentum)
	num("dampening", g.Dampening)
	num("weight_decay", g.WeightDecay)
	flag("nesterov", g.Nesterov)
	flag("amsgrad", g.AMSGrad)
	flag("maximize", g.Maximize)
	return out
}

type setting struct {
	key string
	val any
}

// ParamGroup is a group of parameters with its settings, under Python's names and in Python's order: "lr", "momentum", "weight_decay",
// … Values are float64, int, bool, nil (Python's None), string or [2]float64 (the betas).
type ParamGroup struct {
	Params   []*Tensor
	settings []setting
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
func (g *ParamGroup) Betas() [2]float64 {
	b, _ := g.Get("betas").([2]float64)
	return b
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

package optim

import (
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// rule describes an optimizer whose step is one operator on lists: of the parameters, their gradients, and what the
// optimizer remembers of them.
type rule struct {
	ops     [2]*tensor.Op // with a number for a learning rate, and with a tensor
	state   []entry
	numbers func(g *ParamGroup, to []tensor.Value) []tensor.Value // appends the arguments after the lists
}

// entry is a tensor that an optimizer remembers of each parameter.
type entry struct {
	key  string // Python's
	list int    // the operator's argument that takes the entries of all parameters
	make func(g *ParamGroup, p *Tensor) *Tensor
	when func(g *ParamGroup) bool // whether the group's settings ask for the entry; nil: always
}

const (
	listParams = iota
	listGrads
	listState // the first list that a rule may use
)

// stepKey is the entry that counts the steps of a parameter.
const stepKey = "step"

// follow makes a rule the step of an optimizer.
func (b *base) follow(r *rule) { b.update = func(g *ParamGroup) { b.stepBy(r, g) } }

// oneOp is the operator of a rule that takes a learning rate as a number only.
func oneOp(name string) [2]*tensor.Op {
	op := tensor.Slot("gotorch::_fused_" + name + "_")
	return [2]*tensor.Op{op, op}
}

// variant tells the settings apart that ask for different lists.
func (r *rule) variant(g *ParamGroup) (bits uint) {
	for i, e := range r.state {
		if e.when == nil || e.when(g) {
			bits |= 1 << i
		}
	}
	return bits
}

func (b *base) stepBy(r *rule, g *ParamGroup) {
	variant := r.variant(g)
	s := b.planned(g, variant, listGrads)
	if s == nil {
		s = b.gather(r, g, variant)
		b.remember(g, variant, s)
	}
	for i := range s.parts {
		l := &s.parts[i]
		if steps := l.steps; steps != nil {
			c := tensor.NewCall(opCount, 2)
			*c.Arg(0), *c.Arg(1) = tensor.TensorsValue(steps), tensor.IntValue(1)
			c.Do0()
		}
		c := l.call(r.ops, g)
		b.numbers = r.numbers(g, b.numbers[:0])
		fill(c, s.lists, b.numbers...)
		c.Do0()
		clear(l.lists[listGrads]) // the plan must not keep them
	}
}

// gather lists the parameters that have gradients with their state, which is made where there is none.
func (b *base) gather(r *rule, g *ParamGroup, variant uint) *steps {
	n := listState
	for _, e := range r.state {
		n = max(n, e.list+1)
	}
	s := newSteps(g, n)
	for _, p := range g.Params {
		grad := gradient(p)
		if grad == nil {
			continue
		}
		l := s.of(p, false)
		l.add(listParams, p)
		l.add(listGrads, grad)
		st := b.stateOf(p)
		for i, e := range r.state {
			if variant>>i&1 == 0 {
				continue
			}
			t := e.of(g, p, st)
			if e.list > 0 {
				l.add(e.list, t)
			}
			if e.key == stepKey {
				l.steps = append(l.steps, t)
			}
		}
	}
	return &s
}

// of is the entry of one parameter, made on first use.
func (e *entry) of(g *ParamGroup, p *Tensor, st *State) *Tensor {
	if e.key == stepKey {
		return counter(g, p, st)
	}
	t := st.Tensor(e.key)
	if t == nil {
		t = e.make(g, p)
		st.Set(e.key, t)
	}
	return t
}

// zeros is the entry that begins as zeros, of the parameter's shape.
func zeros(_ *ParamGroup, p *Tensor) *Tensor { return zerosLike(p) }

// one number for each parameter, on the device of the step counters.
func number32(g *ParamGroup, p *Tensor, v float64) *Tensor {
	return tensor.FromSlice([]float32{float32(v)}, []int{}...).To(g.counterDevice(p))
}

// floats appends settings of a group, in order.
func floats(g *ParamGroup, to []tensor.Value, keys ...string) []tensor.Value {
	for _, k := range keys {
		to = append(to, tensor.FloatValue(g.Float(k)))
	}
	return to
}

// flags appends settings of a group that are true or false.
func flags(g *ParamGroup, to []tensor.Value, keys ...string) []tensor.Value {
	for _, k := range keys {
		to = append(to, tensor.BoolValue(g.Bool(k)))
	}
	return to
}

// betas appends the two numbers of a setting.
func betas(g *ParamGroup, to []tensor.Value, key string) []tensor.Value {
	b := g.Pair(key)
	return append(to, tensor.FloatValue(b[0]), tensor.FloatValue(b[1]))
}

// nonNegative refuses settings below 0 and NaN. what lists keys and PyTorch's names of the settings.
func nonNegative(g *ParamGroup, what ...[2]string) {
	for _, w := range what {
		if f := g.Float(w[0]); !(f >= 0) && !g.loaded {
			tensor.Fail(tensor.ErrValue, "Invalid %s: %g", w[1], f)
		}
	}
}

// validBetas refuses coefficients of running averages outside of [0, 1).
func validBetas(g *ParamGroup) {
	for i, b := range g.Betas() {
		if !(b >= 0 && b < 1) && !g.loaded {
			tensor.Fail(tensor.ErrValue, "Invalid beta parameter at index %d: %s", i, pyfmt.Float(b))
		}
	}
}

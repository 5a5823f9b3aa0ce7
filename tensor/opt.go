package tensor

import "github.com/gotorch-dev/torch/internal/rng"

// Generator draws random numbers as PyTorch's CPU generator does.
type Generator = rng.Generator

// Opt is an optional value in an options struct whose Go zero value would be a legal value other than the default. Some
// makes one.
type Opt[T any] struct {
	v   T
	set bool
}

// Some is a given optional value.
func Some[T any](v T) Opt[T] { return Opt[T]{v, true} }

// Get returns the value and whether it was given.
func (o Opt[T]) Get() (T, bool) { return o.v, o.set }

// Or returns the value, or def when none was given.
func (o Opt[T]) Or(def T) T {
	if o.set {
		return o.v
	}
	return def
}

// OptGeneratorValue boxes a generator; nil gives None, which means the default generator.
func OptGeneratorValue(g *Generator) Value {
	if g == nil {
		return Value{}
	}
	return Value{K: KGenerator, X: g}
}

// OptFloatsValue boxes a list; nil gives None.
func OptFloatsValue(l []float64) Value {
	if l == nil {
		return Value{}
	}
	return FloatsValue(l)
}

// SetOutArg makes the call write its result to out, as the out argument does in PyTorch: of several results the first
// one. The others are new tensors, where PyTorch wants one out tensor for each.
func (c *Ctx) SetOutArg(out *Tensor) {
	c.given = []*Tensor{out}
	c.outForm = true
}

// OutOptions is the optional argument of operators that can write their result to an existing tensor.
type OutOptions struct {
	Out *Tensor
}

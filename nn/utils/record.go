package utils

import (
	"errors"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/packed"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// maxFails is the number of recordings that may be spoilt by other goroutines before a kind of input is left to the
// module.
const maxFails = 3

// plan is a forward pass for one kind of input. It does not change once it is made.
type plan struct {
	eager    string          // why the module itself must run instead; fn is missing then
	shape    []int           // of the input
	fn       *graph.Function // of the input
	versions map[*Tensor]dated
	fields   []region // of the module
	used     uint64   // guarded by the Optimized
}

// dated is the state of a tensor, as far as Forward can tell it apart: also of what is changed in place without a new
// version.
type dated struct {
	version        int
	storage        *tensor.Storage
	grad           bool
	shape, strides []int
}

func dateOf(t *Tensor) dated {
	return dated{t.Version(), t.Storage(), t.RequiresGrad(), slices.Clone(t.Shape()), slices.Clone(t.Strides())}
}

// holds reports that the tensor is as it was.
func (d *dated) holds(t *Tensor) bool {
	return t.Version() == d.version && t.Storage() == d.storage && t.RequiresGrad() == d.grad &&
		slices.Equal(t.Shape(), d.shape) && slices.Equal(t.Strides(), d.strides)
}

// stale reports that a tensor or a field of the module was changed since it was recorded.
func (p *plan) stale() bool {
	for t, was := range p.versions {
		if !was.holds(t) {
			return true
		}
	}
	for i := range p.fields {
		if p.fields[i].changed() {
			return true
		}
	}
	return false
}

// run executes the plan.
func (p *plan) run(x *Tensor) *Tensor {
	out, err := p.fn.Run(nil, tensor.TensorValue(x)) //nolint:staticcheck // nothing ends the run
	if err != nil {
		var e *tensor.Error
		if errors.As(err, &e) {
			panic(e)
		}
		tensor.Fail(tensor.ErrValue, "OptimizeForInference: %s", err)
	}
	return out[0].T
}

// refuse leaves a kind of input to the module.
func (p *plan) refuse(why string) {
	if p.eager == "" {
		p.eager = why
	}
}

// record runs the module on x, and keeps the plan of what it did.
func (o *Optimized) record(key string, x *Tensor) *Tensor {
	p := &plan{shape: slices.Clone(x.Shape()), versions: map[*Tensor]dated{}}
	for m := range nn.Modules(o.module) {
		if nn.Hooked(m) {
			p.refuse("the module (" + nn.ClassName(m) + ") has hooks")
		}
	}
	if m := training(o.module); m != nil {
		p.refuse("the module (" + nn.ClassName(m) + ") is in training mode")
	}
	own := slices.Concat(nn.Parameters(o.module), nn.Buffers(o.module))
	for _, t := range own {
		p.versions[t] = dateOf(t)
	}
	before := look(o.module)
	own = append(own, before.held...)
	if p.eager != "" {
		p.fields = before.regions
		y := o.module.Forward(x)
		o.put(key, p)
		return y
	}

	// The input under a name of its own is told from the module's tensors.
	in := tensor.Alias(x, x.Shape(), x.Strides(), x.StorageOffset())
	if x.RequiresGrad() && !x.IsInference() {
		in.SetRequiresGrad(true)
	}
	results, c, ok := trace.Capture(func(l []*Tensor) []*Tensor { return []*Tensor{o.module.Forward(l[0])} },
		[]*Tensor{in}, own)
	if !ok { // another recording is made: calls that come meanwhile do not wait
		return o.module.Forward(x)
	}
	y := results[0]
	if !tensor.SameShape(in.Shape(), x.Shape()) || !slices.Equal(in.Strides(), x.Strides()) ||
		in.Storage() != x.Storage() || in.StorageOffset() != x.StorageOffset() {
		tensor.SetRaw(x, in)
		p.refuse("Forward changes the shape of its input in place")
	}
	if y == in {
		y = x
	}
	after := look(o.module)
	if before.tensors(after) {
		p.refuse("Forward assigns a tensor to a field")
	}
	p.fields = after.lasting(before)
	if before.altered() && c.Passing == "" { // it may be filled once, or be a counter
		c.Passing = "Forward sets a field of the module"
	}
	for t, version := range c.Constants {
		if _, known := p.versions[t]; !known {
			d := dateOf(t)
			d.version = version
			p.versions[t] = d
		}
	}
	for t, was := range p.versions {
		if c.Read[t.Storage()] && c.Written[t.Storage()] {
			p.refuse("Forward reads elements of a tensor that it changes")
		}
		if !was.holds(t) { // the plan itself will change it
			delete(p.versions, t)
		}
	}
	o.finish(key, p, c)
	if p.fn != nil {
		for _, t := range own {
			packed.Unasked(t)
		}
		mem.Shrink()
	}
	return y
}

// finish makes a plan of what was recorded.
func (o *Optimized) finish(key string, p *plan, c *trace.Captured) {
	if c.Refused != "" {
		p.refuse(c.Refused)
	}
	if c.Passing != "" && p.eager == "" {
		o.mu.Lock()
		o.fails[key]++
		n := o.fails[key]
		o.mu.Unlock()
		if n < maxFails {
			return
		}
		p.refuse(c.Passing)
	}
	if p.eager == "" {
		o.mu.Lock()
		weights := o.weights
		o.mu.Unlock()
		fuse := graph.FuseOptions{Weights: weights, Exact: true, Winograd: o.winograd}
		err := tensor.Try(func() { c.Func.FuseWith(fuse) })
		if err == nil {
			err = c.Func.Compile()
		}
		if err != nil {
			p.refuse(err.Error())
		}
	}
	if p.eager == "" {
		p.fn = c.Func
	}
	o.put(key, p)
}

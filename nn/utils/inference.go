package utils

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/packed"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Optimized is a module prepared for inference by OptimizeForInference. It may be used by several goroutines at once.
type Optimized struct {
	nn.Base
	module   nn.Layer `torch:"-"`
	maxPlans int
	winograd bool

	mu      sync.Mutex
	plans   map[string]*plan `torch:"-"` // by everything that the module can see of the input but its elements
	clock   uint64           // counts uses of plans
	weights *graph.Weights   `torch:"-"` // that the plans share
	fails   map[string]int   // recordings that came to nothing
}

// InferenceOptions configures OptimizeForInference.
type InferenceOptions struct {
	// MaxPlans is the number of kinds of input, that is of shapes, dtypes and layouts, whose plans are kept at once; of
	// more, the one that was used longest ago goes. 16 if it is not given.
	MaxPlans tensor.Opt[int]
	// Winograd allows 3×3 convolutions in float32 to be computed by Winograd's algorithm, where that is faster: in a
	// third to a half of the time on large images, with rounding errors two to five times as large. See
	// torch.SetWinograd.
	Winograd bool
}

// OptimizeForInference prepares a module in evaluation mode for inference: its operators are recorded as a program, to
// which the passes of [graph.Function.FuseWith] are applied. Batch norms are folded into the convolutions before them,
// ReLU, ReLU6 and the addition of a shortcut run in the convolution's epilogue, ReLU and GELU in that of a linear
// layer, a depthwise convolution or a maximum pooling runs together with the convolution before it, pictures are kept
// in channels-last memory, and intermediate results are freed as soon as they are not needed. The weights of
// convolutions and linear layers are copied for this, into the order in which they are read, which takes their memory
// once more, whatever the number of shapes of input. torch.EmptyCache drops the copies; the next call makes them again.
//
// The module itself computes the first result for each shape, dtype and layout of input; the recorded program computes
// all later ones. Results differ from the module's by the rounding of folded weights. Random operators run anew in each
// call.
//
// What the operators do not tell is left to the module itself, in every call: a Forward in which Go code reads elements
// of a tensor that depends on the input (Item, Data, printing), in which the size of a result depends on elements (as
// nonzero's does), which makes a tensor of Go's numbers, hands tensors to other goroutines, assigns one to a field, or
// sets fields of the module in each call, as a counter does; modules with hooks or in training mode; calls under
// autocast or another layer. Eager tells which shapes that concerns, and why. A statistic that Forward counts without
// using it belongs into a field of a type of sync/atomic, or beside a lock: these are not compared.
//
// The module is recorded again after one of its tensors was changed in place or replaced, by an optimizer or by loading
// a state dict, and after another field of it, or of a module in it, was set. As with tracing in PyTorch, what Forward
// reads elsewhere goes unnoticed: global variables, the clock, random numbers of Go. So does a weight that is changed
// through a slice of its memory. The module itself stays as it is.
// https://pytorch.org/docs/stable/generated/torch.jit.optimize_for_inference.html
func OptimizeForInference(module nn.Layer, opts ...InferenceOptions) *Optimized {
	if m := training(module); m != nil {
		tensor.Fail(tensor.ErrValue, "OptimizeForInference: the module (%s) is in training mode: call Eval first",
			nn.ClassName(m))
	}
	o := &Optimized{module: module, maxPlans: 16}
	for _, opt := range opts {
		o.maxPlans, o.winograd = opt.MaxPlans.Or(16), opt.Winograd
	}
	if o.maxPlans < 1 {
		tensor.Fail(tensor.ErrValue, "OptimizeForInference: MaxPlans is %d, expected at least 1", o.maxPlans)
	}
	o.clear()
	nn.New(o).Eval()
	packed.Hold(o, (*Optimized).drop)
	return o
}

// training finds a module in training mode.
func training(module nn.Module) nn.Module {
	for m := range nn.Modules(module) {
		if t, ok := m.(interface{ Training() bool }); ok && t.Training() {
			return m
		}
	}
	return nil
}

// drop forgets everything that can be made again.
func (o *Optimized) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clear()
}

func (o *Optimized) clear() {
	o.plans, o.weights, o.fails = map[string]*plan{}, new(graph.Weights), map[string]int{}
}

// Forward does what the module does, without recording gradients.
func (o *Optimized) Forward(x *Tensor) (y *Tensor) {
	if x == nil || !tensor.Unwatched() { // what looks on wants to see the module's own operators
		tensor.NoGrad(func() { y = o.module.Forward(x) })
		return y
	}
	var buf [128]byte // on the stack
	key := appendKey(buf[:0], x)
	o.mu.Lock()
	p := o.plans[string(key)]
	o.mu.Unlock()
	if p != nil && p.stale() {
		o.drop()
		p = nil
	}
	tensor.NoGrad(func() {
		switch {
		case p == nil:
			y = o.record(string(key), x)
		case p.eager != "":
			y = o.module.Forward(x)
		default:
			y = p.run(x)
		}
	})
	if p != nil {
		o.mu.Lock()
		o.clock++
		p.used = o.clock
		o.mu.Unlock()
	}
	return y
}

// appendKey writes all that a Forward can see of x but its elements, and the modes that it can ask for.
func appendKey(b []byte, x *Tensor) []byte {
	modes := byte(0)
	if tensor.IsInferenceModeEnabled() {
		modes |= 1
	}
	if x.RequiresGrad() {
		modes |= 2
	}
	b = append(b, byte(x.DType()), byte(tensor.DefaultDType()), modes, byte(x.Dim()))
	for _, d := range []tensor.Device{x.Device(), tensor.DefaultDevice()} {
		b = append(b, byte(d.Type), byte(d.Index))
	}
	for i, n := range x.Shape() {
		b = binary.AppendVarint(binary.AppendUvarint(b, uint64(n)), int64(x.Strides()[i]))
	}
	return b
}

// Eager lists, for the kinds of input that the module itself computes in every call, the shape and the reason. It is
// empty where all that was seen so far could be recorded.
func (o *Optimized) Eager() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var l []string
	for _, p := range o.plans {
		if p.eager != "" {
			l = append(l, tensor.ShapeString(p.shape)+": "+p.eager)
		}
	}
	slices.Sort(l)
	return l
}

// put keeps a plan; the one that was used longest ago makes room for it.
func (o *Optimized) put(key string, p *plan) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clock++
	p.used = o.clock
	o.plans[key] = p
	delete(o.fails, key)
	if len(o.plans) <= o.maxPlans {
		return
	}
	last := key
	for k, q := range o.plans {
		if q.used < o.plans[last].used {
			last = k
		}
	}
	delete(o.plans, last)
}

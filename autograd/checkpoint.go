package autograd

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// CheckpointOptions are the options of Checkpoint.
type CheckpointOptions struct {
	// NoPreserveRNG lets dropout and the like draw other numbers when f runs again.
	NoPreserveRNG bool
	// DeterminismCheck says what is compared between the two runs: "default", or nothing, is the shapes and dtypes of
	// what operators save; "none" is nothing but their number.
	DeterminismCheck string
	// NoEarlyStop runs f to its end the second time too, instead of stopping when all values are there.
	NoEarlyStop bool
	// Reentrant is PyTorch's use_reentrant=True: f runs without recording, and again, with a backward pass of its own,
	// when Backward arrives. Gradients flow only when an input requires them; Grad, BackwardOptions.Inputs and
	// gradients of gradients are refused.
	Reentrant bool
	// Around, if not nil, is called for each call of Checkpoint and gives two functions: the first run of f is called
	// by the first one, the second run by the second one (context_fn).
	Around func() (forward, recompute func(run func()))
}

// SavedTensorsHooks runs f such that every tensor that operators save for Backward goes through pack, and what Backward
// reads comes from unpack: to keep activations on disk, in a smaller dtype, or not at all.
// https://pytorch.org/docs/stable/autograd.html#torch.autograd.graph.saved_tensors_hooks
func SavedTensorsHooks(pack func(*Tensor) any, unpack func(any) *Tensor, f func()) {
	tensor.SavedTensorsHooks(pack, unpack, f)
}

// stopEarly ends the second run of a checkpointed function.
type stopEarly struct{ f *frame }

// meta is what a saved tensor looks like.
type meta struct {
	shape []int
	dt    tensor.DType
	dev   tensor.Device
}

func metaOf(t *Tensor) meta { return meta{append([]int(nil), t.Shape()...), t.DType(), t.Device()} }

func (m meta) String() string {
	return fmt.Sprintf("{'shape': torch.Size(%s), 'dtype': torch.%s, 'device': %s}", tensor.ShapeString(m.shape),
		m.dt.Name(), pyDevice(m.dev))
}

// pyDevice prints a device as Python does.
func pyDevice(d tensor.Device) string {
	if d.Type == tensor.CPUDevice || d.Type == tensor.MetaDevice {
		return fmt.Sprintf("device(type='%s')", d.Type)
	}
	return fmt.Sprintf("device(type='%s', index=%d)", d.Type, d.Index)
}

// frame is one call of Checkpoint.
type frame struct {
	f func([]*Tensor) []*Tensor
	// saved are the inputs. A call inside another one saves them as the outer one's operators save: they are computed
	// again, too.
	saved  []tensor.SavedTensor
	o      CheckpointOptions
	rng    []byte
	amp    tensor.Layer // autocast of the first run, nil for none
	metas  []meta
	around func(func()) // runs the second run
	again  []*Tensor    // the values of the second run that Backward has not read yet
}

// Checkpoint calls f without keeping what its operators save for Backward, and calls it again when Backward needs that:
// memory for time. f must do the same both times. Its random numbers are the same, unless switched off. Anything that
// works with an ordinary f works with this one, gradients of gradients and Grad included; it is PyTorch's
// use_reentrant=False, and the other form is an option.
// https://pytorch.org/docs/stable/checkpoint.html
func Checkpoint(f func(inputs []*Tensor) []*Tensor, inputs []*Tensor, opts ...CheckpointOptions) []*Tensor {
	fr := &frame{f: f, amp: tensor.LayerOf(tensor.RankAutocast)}
	if len(opts) > 0 {
		fr.o = opts[0]
	}
	if fr.o.Reentrant { // without recording, too: PyTorch warns there of inputs without gradients
		return Apply(&reentrant{frame: fr}, inputs...)
	}
	if !tensor.IsGradEnabled() {
		return f(inputs)
	}
	fr.saved = tensor.SaveForBackward(inputs...)
	if how := fr.o.DeterminismCheck; how != "" && how != "default" && how != "none" {
		tensor.Fail(tensor.ErrValue, "determinism_check should be one of ['default', 'none'], but got %s", how)
	}
	forward := func(run func()) { run() }
	fr.around = forward
	if fr.o.Around != nil {
		forward, fr.around = fr.o.Around()
	}
	if !fr.o.NoPreserveRNG {
		fr.rng = torch.RNGState()
	}
	var out []*Tensor
	hooks := tensor.SavedTensorsHooks
	if fr.o.DeterminismCheck == "none" {
		hooks = tensor.SavedTensorsHooksOfAnyShape
	}
	hooks(func(t *Tensor) any {
		fr.metas = append(fr.metas, metaOf(t))
		return len(fr.metas) - 1
	}, func(x any) *Tensor {
		return fr.value(x.(int))
	}, func() { forward(func() { out = f(inputs) }) })
	return out
}

// reentrant is a checkpointed call with a backward pass of its own.
type reentrant struct{ *frame }

// FunctionName is that of PyTorch's node.
func (r *reentrant) FunctionName() string { return "CheckpointFunction" }

// Forward runs the function without recording.
func (r *reentrant) Forward(ctx *Context, inputs ...*Tensor) []*Tensor {
	if r.o.Around != nil {
		tensor.Fail(tensor.ErrValue, "Passing `context_fn`, `debug`, or `respect_saved_tensors_hooks` is only "+
			"supported "+
			"when use_reentrant=False.")
	}
	wanted := false
	for i := range inputs {
		wanted = wanted || ctx.NeedsInputGrad(i)
	}
	if !wanted {
		tensor.Warn("None of the inputs have requires_grad=True. Gradients will be None")
	}
	if !r.o.NoPreserveRNG {
		r.rng = torch.RNGState()
	}
	ctx.SaveForBackward(inputs...)
	return r.f(inputs)
}

// Backward runs the function again on inputs that are cut off from the graph, and computes their gradients.
func (r *reentrant) Backward(ctx *Context, grads ...*Tensor) []*Tensor {
	if tensor.IsBackwardPartial() {
		tensor.Fail(tensor.ErrAutograd, "When use_reentrant=True, torch.utils.checkpoint is incompatible with "+
			".grad() or "+
			"passing an `inputs` parameter to .backward(). To resolve this error, you can either set "+
			"use_reentrant=False, or call .backward() without passing the `inputs` argument.")
	}
	saved := ctx.SavedTensors()
	inputs := make([]*Tensor, len(saved))
	for i, t := range saved {
		if t != nil {
			inputs[i] = t.Detach()
			inputs[i].SetRequiresGrad(t.RequiresGrad())
		}
	}
	var outs []*Tensor
	r.withRNG(func() {
		tensor.EnableGrad(func() {
			tensor.InsteadOfLayers(tensor.RankAutocast, r.amp, func() { outs = r.f(inputs) })
		})
	})
	var roots, gs []*Tensor
	for i, t := range outs {
		if t != nil && t.RequiresGrad() {
			roots, gs = append(roots, t), append(gs, grads[i])
		}
	}
	if len(roots) == 0 {
		tensor.Fail(tensor.ErrAutograd,
			"none of output has requires_grad=True, this checkpoint() is not necessary")
	}
	Backward(roots, gs)
	in := make([]*Tensor, len(inputs))
	for i, t := range inputs {
		if t != nil && ctx.NeedsInputGrad(i) {
			in[i] = t.Grad()
		}
	}
	return in
}

// Checkpoint1 is Checkpoint for a function of one tensor with one result.
func Checkpoint1(f func(x *Tensor) *Tensor, x *Tensor, opts ...CheckpointOptions) *Tensor {
	return Checkpoint(func(in []*Tensor) []*Tensor { return []*Tensor{f(in[0])} }, []*Tensor{x}, opts...)[0]
}

// CheckpointSequential runs functions one after another in the given number of checkpointed segments, the last of which
// is not.
// https://pytorch.org/docs/stable/checkpoint.html#torch.utils.checkpoint.checkpoint_sequential
func CheckpointSequential(fs []func(*Tensor) *Tensor, segments int, x *Tensor, opts ...CheckpointOptions) *Tensor {
	if segments < 1 || len(fs)/segments == 0 {
		tensor.Fail(tensor.ErrValue, "CheckpointSequential: %d segments of %d functions: each needs one", segments,
			len(fs))
	}
	run := func(l []func(*Tensor) *Tensor) func(*Tensor) *Tensor {
		return func(x *Tensor) *Tensor {
			for _, f := range l {
				x = f(x)
			}
			return x
		}
	}
	size := len(fs) / segments
	for s := range segments - 1 {
		x = Checkpoint1(run(fs[s*size:(s+1)*size]), x, opts...)
	}
	return run(fs[(segments-1)*size:])(x)
}

func (fr *frame) value(i int) *Tensor {
	if i >= len(fr.again) || fr.again[i] == nil {
		fr.recompute()
	}
	t := fr.again[i]
	fr.again[i] = nil
	return t
}

func (fr *frame) recompute() {
	inputs := make([]*Tensor, len(fr.saved)) // which may make a call around this one run again, with other numbers
	for i, s := range fr.saved {
		inputs[i] = s.Get()
	}
	fr.withRNG(func() { fr.runAgain(inputs) })
}

// withRNG runs f with the generator as it stood before the first run, unless that was not noted.
func (fr *frame) withRNG(f func()) {
	if fr.rng != nil {
		now := torch.RNGState()
		if err := torch.SetRNGState(fr.rng); err != nil {
			panic(err) // our own state
		}
		defer func() { _ = torch.SetRNGState(now) }()
	}
	f()
}

func (fr *frame) runAgain(inputs []*Tensor) {
	var got []*Tensor
	pack := func(t *Tensor) any {
		if len(got) < len(fr.metas) || fr.o.NoEarlyStop {
			got = append(got, t.Detach())
		}
		if len(got) == len(fr.metas) && !fr.o.NoEarlyStop {
			panic(stopEarly{fr})
		}
		return t.Detach()
	}
	func() {
		defer func() {
			if r := recover(); r != nil {
				if s, ok := r.(stopEarly); !ok || s.f != fr {
					panic(r)
				}
			}
		}()
		tensor.EnableGrad(func() {
			tensor.InsteadOfLayers(tensor.RankAutocast, fr.amp, func() {
				tensor.SavedTensorsHooks(pack, func(x any) *Tensor { return x.(*Tensor) },
					func() { fr.around(func() { fr.f(inputs) }) })
			})
		})
	}()
	if fr.o.DeterminismCheck != "none" || len(got) < len(fr.metas) {
		fr.compare(got)
	}
	fr.again = got
}

func (fr *frame) compare(got []*Tensor) {
	if len(got) != len(fr.metas) {
		tensor.Fail(tensor.ErrAutograd, "torch.utils.checkpoint: A different number of tensors was saved during the "+
			"original forward and recomputation.\nNumber of tensors saved during forward: %d\nNumber of tensors "+
			"saved during recomputation: %d.", len(fr.metas), len(got))
	}
	var b strings.Builder
	for i, t := range got {
		if m := fr.metas[i]; m.dt != t.DType() || m.dev != t.Device() || !tensor.SameShape(m.shape, t.Shape()) {
			fmt.Fprintf(&b, "tensor at position %d:\nsaved metadata: %s\nrecomputed metadata: %s\n", i, m, metaOf(t))
		}
	}
	if b.Len() > 0 {
		tensor.Fail(tensor.ErrAutograd, "torch.utils.checkpoint: Recomputed values for the following tensors have "+
			"different metadata than during the forward pass.\n%s.", b.String())
	}
}

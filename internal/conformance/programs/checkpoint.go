package programs

import (
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// checkpointing is a name of torch.utils.checkpoint.
func (h *Host) checkpointing(name string) (any, bool) {
	switch name {
	case "checkpoint":
		return pylite.Builtin(h.checkpoint), true
	case "checkpoint_sequential":
		return pylite.Builtin(h.checkpointSequential), true
	case "set_checkpoint_early_stop":
		return builtin(func(args []any) any {
			return region(name, func(f func()) {
				before := h.noEarlyStop
				defer func() { h.noEarlyStop = before }()
				h.noEarlyStop = args[0] == false
				f()
			})
		}), true
	}
	return nil, false
}

// mustSayReentrant skips programs that leave use_reentrant out, which PyTorch warns of: an option of Go cannot be told
// from one that is left out, and its default is the form that PyTorch recommends.
func mustSayReentrant(kw map[string]any) {
	if _, ok := kw["use_reentrant"]; !ok {
		panic(golden.Skip("use_reentrant is left out, which Go cannot tell from its default"))
	}
}

// checkpoint is checkpoint(function, *args, use_reentrant, …).
func (h *Host) checkpoint(args []any, kw map[string]any) any {
	mustSayReentrant(kw)
	fn, rest := args[0], args[1:]
	how, _ := kw["determinism_check"].(string)
	o := autograd.CheckpointOptions{Reentrant: kw["use_reentrant"] == true,
		NoPreserveRNG: kw["preserve_rng_state"] == false, DeterminismCheck: how,
		NoEarlyStop: h.noEarlyStop || kw["early_stop"] == false}
	if f, ok := kw["context_fn"]; ok {
		o.Around = func() (first, second func(run func())) {
			pair := h.In.Iter(h.In.Call(f, nil, nil))
			around := func(ctx any) func(run func()) {
				return func(run func()) { h.In.Enter(ctx, func(any) { run() }) }
			}
			return around(pair[0]), around(pair[1])
		}
	}
	forFn := map[string]any{}
	for k, v := range kw {
		switch k {
		case "use_reentrant", "preserve_rng_state", "determinism_check", "context_fn", "debug", "early_stop":
		default:
			forFn[k] = v
		}
	}
	if o.Reentrant {
		for k := range forFn {
			pylite.Throw("ValueError", "Unexpected keyword arguments: %s", k)
		}
	}
	var where []int
	var inputs []*tensor.Tensor
	for i, a := range rest {
		if t := asTensor(a); t != nil {
			where, inputs = append(where, i), append(inputs, t)
		}
	}
	// The results that are no tensors go past the checkpoint.
	var result any
	outs := autograd.Checkpoint(func(in []*tensor.Tensor) []*tensor.Tensor {
		list := append([]any(nil), rest...)
		for j, i := range where {
			list[i] = in[j]
		}
		v := h.In.Call(fn, list, forFn)
		if result == nil {
			result = v
		}
		return tensorsOf(v)
	}, inputs, o)
	if _, ok := result.(*tensor.Tensor); ok {
		return outs[0]
	}
	t, ok := result.(pylite.Tuple)
	if !ok {
		return result
	}
	t = append(pylite.Tuple(nil), t...)
	n := 0
	for i, e := range t {
		if asTensor(e) != nil {
			t[i] = outs[n]
			n++
		}
	}
	return t
}

// checkpointSequential is checkpoint_sequential(functions, segments, input, …).
func (h *Host) checkpointSequential(args []any, kw map[string]any) any {
	mustSayReentrant(kw)
	var layers []any
	if m, ok := args[0].(nn.Module); ok {
		layers = h.children(m)
	} else {
		layers = h.In.Iter(args[0])
	}
	segments, _ := args[1].(int)
	if segments == 0 {
		pylite.Throw("ZeroDivisionError", "integer division or modulo by zero")
	}
	if segments < 0 || len(layers)/segments == 0 {
		pylite.Throw("ValueError", "range() arg 3 must not be zero")
	}
	var fs []func(*tensor.Tensor) *tensor.Tensor
	for _, l := range layers {
		fs = append(fs, func(x *tensor.Tensor) *tensor.Tensor { return asTensor(h.In.Call(l, []any{x}, nil)) })
	}
	return autograd.CheckpointSequential(fs, segments, asTensor(args[2]), autograd.CheckpointOptions{
		Reentrant: kw["use_reentrant"] == true, NoPreserveRNG: kw["preserve_rng_state"] == false})
}

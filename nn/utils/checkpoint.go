package utils

import (
	"fmt"

	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/nn"
)

// ApplyActivationCheckpointing has modules below root run under autograd.Checkpoint: in training, their activations are
// computed again in the backward pass instead of being kept. pick is asked for each module by its path and chooses;
// what is inside a chosen module is left alone. A nil pick chooses the blocks of the network: modules that hold modules
// and stand in a Sequential or ModuleList, or beside another one of their type; where there are none, each Sequential.
// It returns the paths of the chosen modules, and a function that undoes everything.
//
// Modules with batch norm move their running statistics in both runs, as in PyTorch.
// https://github.com/pytorch/pytorch/blob/main/torch/distributed/algorithms/_checkpoint/checkpoint_wrapper.py
func ApplyActivationCheckpointing(root nn.Module, pick func(path string, m nn.Module) bool,
	opts ...autograd.CheckpointOptions) (paths []string, undo func()) {
	if pick == nil {
		pick = blocks(root)
	}
	var handles []nn.Handle
	var walk func(prefix string, m nn.Module)
	walk = func(prefix string, m nn.Module) {
		for name, c := range nn.NamedChildren(m) {
			path := prefix + name
			if !pick(path, c) {
				walk(path+".", c)
				continue
			}
			paths = append(paths, path)
			handles = append(handles, nn.RegisterForwardAround(c,
				func(_ nn.Module, forward func([]*nn.Tensor) []*nn.Tensor, in []*nn.Tensor) []*nn.Tensor {
					return autograd.Checkpoint(forward, in, opts...)
				}))
		}
	}
	walk("", root)
	return paths, func() {
		for _, h := range handles {
			h.Remove()
		}
	}
}

// blocks chooses the blocks of a network.
func blocks(root nn.Module) func(string, nn.Module) bool {
	chosen := map[nn.Module]bool{}
	for _, m := range nn.NamedModules(root) {
		alike := map[string]int{}
		for c := range nn.Children(m) {
			alike[fmt.Sprintf("%T", c)]++
		}
		for c := range nn.Children(m) {
			if !isList(c) && nn.CanRunAgain(c) && holdsModules(c) && (isList(m) || alike[fmt.Sprintf("%T", c)] > 1) {
				chosen[c] = true
			}
		}
	}
	if len(chosen) > 0 {
		return func(_ string, m nn.Module) bool { return chosen[m] }
	}
	return func(_ string, m nn.Module) bool { _, ok := m.(*nn.Sequential); return ok && holdsModules(m) }
}

func isList(m nn.Module) bool {
	switch m.(type) {
	case *nn.Sequential, *nn.ModuleList:
		return true
	}
	return false
}

func holdsModules(m nn.Module) bool {
	for range nn.Children(m) {
		return true
	}
	return false
}

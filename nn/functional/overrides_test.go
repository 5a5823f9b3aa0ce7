package functional_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// passing is a layer that changes nothing.
type passing struct{ rank tensor.Rank }

func (p passing) Rank() tensor.Rank             { return p.rank }
func (passing) Call(_ *tensor.Ctx, next func()) { next() }

// Recorders and replacements of operators count, what only watches or casts does not.
func TestHasTorchFunction(t *testing.T) {
	x := torch.Ones([]int{2})
	check := func(where string, want bool) {
		for i, got := range []bool{F.HasTorchFunction([]*torch.Tensor{x}), F.HasTorchFunctionUnary(x),
			F.HasTorchFunctionVariadic(x, x)} {
			if got != want {
				t.Errorf("%s, form %d: %v", where, i, got)
			}
		}
	}
	check("outside", false)
	tensor.WithLayer(passing{tensor.RankTrace}, func() { check("a tracer", true) })
	tensor.WithLayer(passing{tensor.RankWatch}, func() { check("a watcher", false) })
	amp.Autocast(tensor.CPUDevice, torch.BFloat16, func() { check("autocast", false) })
	check("behind", false)
}

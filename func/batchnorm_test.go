package functorch_test

import (
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	functorch "github.com/gotorch-dev/torch/func"
	"github.com/gotorch-dev/torch/nn"
)

// A batch norm in training changes its running statistics in place, which a map refuses; without them each example is
// normalised with its own statistics.
func TestReplaceAllBatchNormModules(t *testing.T) {
	net := nn.NewSequential(nn.NewConv2d(2, 3, 1), nn.NewBatchNorm2d(3), nn.NewInstanceNorm2d(3,
		nn.InstanceNormOptions{TrackRunningStats: true}))
	each := functorch.Vmap(functorch.One(func(x *torch.Tensor) *torch.Tensor {
		return nn.NewSequential(net.At(0), net.At(1)).Forward(x)
	}))
	x := wave(3, 2, 2, 4, 4)
	if err := torch.Try(func() { each([]*torch.Tensor{x}) }); err == nil ||
		!strings.Contains(err.Error(), "running_mean") && !strings.Contains(err.Error(), "not being vmapped over") {
		t.Fatalf("the map of a batch norm with running statistics gave %v", err)
	}
	if got := functorch.ReplaceAllBatchNormModulesInPlace(net); got != net {
		t.Error("another module came back")
	}
	y := each([]*torch.Tensor{x})[0]
	for i := range 3 {
		if want := nn.NewSequential(net.At(0), net.At(1)).Forward(x.Select(0, i)); !y.Select(0, i).AllClose(want) {
			t.Errorf("example %d: %v, want %v", i, y.Select(0, i), want)
		}
	}
	keys := ""
	for name := range nn.StateDict(net).All() {
		keys += name + " "
	}
	if want := "0.weight 0.bias 1.weight 1.bias 2.running_mean 2.running_var 2.num_batches_tracked "; keys != want {
		t.Errorf("the state has %q, want %q", keys, want)
	}
}

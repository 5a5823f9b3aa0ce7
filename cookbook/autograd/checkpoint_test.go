package autograd

import (
	"io"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/nn"
)

// Checkpointing keeps the inputs only and computes the rest again in the backward pass. Random numbers repeat, so that
// dropout does, and the gradients are the same bit for bit; cut into two segments as well.
func TestCheckpoint(t *testing.T) {
	torch.ManualSeed(0)
	a, relu, drop, b := nn.NewLinear(4, 8), nn.NewReLU(), nn.NewDropout(), nn.NewLinear(8, 2)
	layers := []func(*torch.Tensor) *torch.Tensor{a.Forward, relu.Forward, drop.Forward, b.Forward}
	plain := func(x *torch.Tensor) *torch.Tensor {
		for _, f := range layers {
			x = f(x)
		}
		return x
	}
	gradient := func(run func(x *torch.Tensor) *torch.Tensor) []float32 {
		torch.ManualSeed(1)
		a.ZeroGrad()
		run(torch.Ones([]int{3, 4}).SetRequiresGrad(true)).Sum().Backward()
		return torch.Data[float32](a.Weight.Grad().Contiguous())
	}
	want := gradient(plain)
	for name, run := range map[string]func(x *torch.Tensor) *torch.Tensor{
		"whole": func(x *torch.Tensor) *torch.Tensor {
			return autograd.Checkpoint(func(in []*torch.Tensor) []*torch.Tensor { return []*torch.Tensor{plain(in[0])} }, []*torch.Tensor{x})[0]
		},
		"segments": func(x *torch.Tensor) *torch.Tensor { return autograd.CheckpointSequential(layers, 2, x) },
	} {
		got := gradient(run)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s: gradient %v, want %v", name, got, want)
			}
		}
	}
}

// A dense block joins all that came before; the closure takes any number of inputs.
func TestCheckpointSeveralInputs(t *testing.T) {
	x, y := torch.Ones([]int{1, 2}).SetRequiresGrad(true), torch.Ones([]int{1, 3}).SetRequiresGrad(true)
	bottleneck := func(in []*torch.Tensor) []*torch.Tensor {
		return []*torch.Tensor{torch.Cat(in, torch.CatOptions{Dim: 1}).MulScalar(2)}
	}
	autograd.Checkpoint(bottleneck, []*torch.Tensor{x, y})[0].Sum().Backward()
	near(t, x.Grad(), 2, 2)
	near(t, y.Grad(), 2, 2, 2)
}

// Anomaly mode names the operator whose gradient is the first that is not a number: here 0·∞ behind a square root.
func TestDetectAnomaly(t *testing.T) {
	x := torch.TensorOf[float32](0).SetRequiresGrad(true)
	fails(t, "Function 'SqrtBackward0' returned nan values in its 0th output.", func() {
		autograd.DetectAnomaly(func() { x.Sqrt().MulScalar(0).Sum().Backward() },
			autograd.AnomalyOptions{Output: io.Discard})
	})
}

package utils_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
)

// transformer is an encoder of n layers.
func transformer(n int) *nn.TransformerEncoder {
	torch.ManualSeed(3)
	return nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(64, 4, nn.TransformerLayerOptions{
		DimFeedforward: torch.Some(256), BatchFirst: true}), n, nil)
}

// settled is how much memory tensors use when the garbage collector has found what nobody refers to.
func settled() int {
	least := torch.MemoryStats().Allocated
	for range 10 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
		least = min(least, torch.MemoryStats().Allocated)
	}
	return least
}

// A transformer of 24 layers is trained, with checkpointing, in 45 % of what the tape alone holds without it: the
// allocator is told to give no more.
func TestCheckpointingMemory(t *testing.T) {
	net := transformer(24)
	x := torch.Randn([]int{2, 64, 64})
	grads := func() (out []*torch.Tensor) {
		for _, p := range nn.Parameters(net) {
			out = append(out, p.Grad().Clone())
			p.SetGrad(nil)
		}
		return out
	}
	train := func() {
		torch.ManualSeed(4) // of dropout
		net.Forward(x).Sum().Backward()
	}
	train()
	want := grads()

	before := settled()
	held := func() int {
		y := net.Forward(x).Sum()
		defer runtime.KeepAlive(y)
		return settled() - before
	}()

	paths, undo := utils.ApplyActivationCheckpointing(net, nil)
	defer undo()
	if len(paths) != 24 || paths[23] != "layers.23" {
		t.Fatalf("chosen: %q", paths)
	}
	before = settled()
	for _, p := range nn.Parameters(net) { // the gradients are there with and without
		before += p.Numel() * 4
	}
	old := torch.SetMemoryLimit(before + held*45/100)
	defer torch.SetMemoryLimit(old)
	if err := torch.Try(train); err != nil {
		t.Fatalf("the tape holds %d KiB without checkpointing; with 45 %% of it: %v", held>>10, err)
	}
	torch.SetMemoryLimit(old)
	if got := grads(); !slices.EqualFunc(got, want, func(a, b *torch.Tensor) bool {
		return a.AllClose(b, torch.AllCloseOptions{Rtol: torch.Some(1e-4), Atol: torch.Some(1e-4)})
	}) {
		t.Error("the gradients differ")
	}
}

func TestApplyActivationCheckpointing(t *testing.T) {
	torch.ManualSeed(0)
	net := nn.NewSequential(nn.NewSequential(nn.NewLinear(3, 4), nn.NewTanh()), nn.NewLinear(4, 1))
	x := torch.Randn([]int{5, 3})
	net.Forward(x).Sum().Backward()
	w := nn.Parameters(net)[0]
	want := w.Grad().Clone()
	w.SetGrad(nil)
	paths, undo := utils.ApplyActivationCheckpointing(net, nil)
	if !slices.Equal(paths, []string{"0"}) {
		t.Errorf("chosen by default: %q", paths)
	}
	runs := 0
	h := nn.RegisterForwardHook(net.At(0).(*nn.Sequential).At(1), func(_ nn.Module, _ []*torch.Tensor,
		_ *torch.Tensor) *torch.Tensor {
		runs++
		return nil
	})
	defer h.Remove()
	net.Forward(x).Sum().Backward()
	if runs < 1 || !w.Grad().Equal(want) {
		t.Errorf("%d runs, gradient %v, want %v", runs, w.Grad(), want)
	}
	undo()
	paths, undo = utils.ApplyActivationCheckpointing(net, func(path string, _ nn.Module) bool { return path == "0.0" })
	defer undo()
	if !slices.Equal(paths, []string{"0.0"}) {
		t.Errorf("chosen by path: %q", paths)
	}
}

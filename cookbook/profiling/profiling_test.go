package profiling

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/profiler"
	"github.com/gotorch-dev/torch/profiler/bottleneck"
)

// A training step under the profiler: the table by own time, and a file for a browser's trace viewer.
func TestProfile(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(8, 8), nn.NewReLU(), nn.NewLinear(8, 1))
	x := torch.Ones([]int{4, 8})
	trace := profiler.Profile(profiler.Options{RecordShapes: true}, func(*profiler.Profiler) {
		profiler.RecordFunction("forward", func() { x = net.Forward(x) })
		x.Sum().Backward()
	})
	table := trace.KeyAverages().Table(profiler.TableOptions{SortBy: "self_cpu_time_total", RowLimit: 50})
	for _, name := range []string{"forward", "aten::linear", "AddmmBackward0", "Self CPU time total:"} {
		if !strings.Contains(table, name) {
			t.Errorf("the table lacks %s:\n%s", name, table)
		}
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := trace.ExportChromeTrace(path); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), "traceEvents") {
		t.Errorf("%v", err)
	}
}

// One page about a program: where the time goes, and what stands out. The command is "gotorch bottleneck PROGRAM".
func TestBottleneck(t *testing.T) {
	sums, err := bottleneck.Measure(func() {
		x := torch.Ones([]int{200, 200})
		for range 20 {
			x.MM(x)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := sums.Write(&page); err != nil || !strings.Contains(page.String(), "aten::mm takes") {
		t.Errorf("%v\n%s", err, page.String())
	}
}

// Large parts of a network make good checkpoints: their activations are computed again instead of being kept. It can
// be switched on and off for a network as it is, and the gradients are the same.
func TestCheckpointBlocks(t *testing.T) {
	torch.ManualSeed(0)
	block := func() *nn.Sequential { return nn.NewSequential(nn.NewLinear(16, 16), nn.NewTanh()) }
	net := nn.NewSequential(block(), block(), nn.NewLinear(16, 1))
	x := torch.Randn([]int{4, 16})
	gradient := func() *torch.Tensor {
		nn.ZeroGrad(net)
		net.Forward(x).Sum().Backward()
		return nn.Parameters(net)[0].Grad().Clone()
	}
	want := gradient()
	blocks, off := utils.ApplyActivationCheckpointing(net, nil)
	if len(blocks) != 2 {
		t.Errorf("blocks %q", blocks)
	}
	if got := gradient(); !got.Equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
	off()
}

// What operators save for the backward pass can lie on the disk instead.
func TestOffload(t *testing.T) {
	w := torch.Ones([]int{64, 64}).SetRequiresGrad(true)
	var y *torch.Tensor
	cleanup := autograd.SaveOnDisk(t.TempDir(), func() { y = w.MulScalar(2).Exp().Log().Sum() })
	y.Backward()
	if g := w.Grad(); g.Sub(torch.FullLike(g, 2)).Abs().Max().Item() > 1e-5 {
		t.Errorf("gradient %v", g)
	}
	if err := cleanup(); err != nil {
		t.Error(err)
	}
}

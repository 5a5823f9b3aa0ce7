package utils_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/packed"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// inUse is the memory of tensors, after the collector has found what is unused. Cleanups give it back some time after
// a collection.
func inUse() int {
	for range 4 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
	return torch.MemoryStats().Allocated
}

// However many shapes of input a prepared module has met, its weights are copied once, and EmptyCache drops the copies.
func TestOptimizeForInferenceManyShapes(t *testing.T) {
	m := models.NewResNet18(models.ResNetOptions{NumClasses: 10})
	settle(m)
	weights := 0
	for _, p := range nn.Parameters(m) {
		weights += p.Numel() * 4
	}
	start := inUse()
	o := utils.OptimizeForInference(m)
	used := func(sizes int) int {
		for i := range sizes {
			x := torch.Randn([]int{1, 3, 32, 32 + i})
			for range 2 { // the second call packs
				torch.Tidy(func() { o.Forward(x) })
			}
		}
		return inUse() - start
	}
	few, many := used(4), used(60)
	t.Logf("weights %.1f MB; more in use after 4 sizes %.1f MB, after 60 %.1f MB", mb(weights), mb(few), mb(many))
	if many > few+weights/4 || many > 4*weights {
		t.Errorf("4 sizes use %.1f MB, 60 sizes %.1f MB; the weights have %.1f MB", mb(few), mb(many), mb(weights))
	}
	if n := utils.PlansOf(o); n != 16 {
		t.Errorf("%d plans are kept, expected 16", n)
	}
	torch.EmptyCache()
	if left := inUse() - start; left > weights/10 {
		t.Errorf("EmptyCache leaves %.1f MB", mb(left))
	}
	x := torch.Randn([]int{1, 3, 32, 40})
	var want *torch.Tensor
	tensor.NoGrad(func() { want = m.Forward(x) })
	for range 2 {
		if d := relative(o.Forward(x), want); !(d <= 1e-4) {
			t.Errorf("after EmptyCache: differs by %g", d)
		}
	}
}

// Recording leaves nothing behind but the program's own weights: none that the module's operators have packed for
// themselves, and little free memory.
func TestOptimizeForInferenceRecording(t *testing.T) {
	m := nn.NewSequential(nn.NewConv2d(16, 32, 3), nn.NewBatchNorm2d(32), nn.NewReLU(), nn.NewConv2d(32, 16, 3))
	settle(m)
	torch.EmptyCache()
	o := utils.OptimizeForInference(m)
	for n := 1; n <= 4; n++ {
		x := torch.Randn([]int{n, 16, 12, 12})
		for range 2 {
			torch.Tidy(func() { o.Forward(x) })
		}
	}
	if n := packed.Len(); n != 2 {
		t.Errorf("%d weights are packed, want those of two convolutions", n)
	}
	x := torch.Randn([]int{1, 16, 400, 400})
	torch.EmptyCache()
	y := o.Forward(x)
	if s := torch.MemoryStats(); s.Reserved-s.Allocated > max(s.Allocated/4, 16<<20) {
		t.Errorf("recording leaves %.1f MB free, with %.1f MB in use", mb(s.Reserved-s.Allocated), mb(s.Allocated))
	}
	runtime.KeepAlive(y)
	runtime.KeepAlive(o)
}

func mb(n int) float64 { return float64(n) / 1e6 }

// The plan that was used longest ago goes.
func TestOptimizeForInferenceMaxPlans(t *testing.T) {
	m := &counting{L: nn.NewLinear(4, 4), Calls: torch.Zeros([]int{1})}
	nn.Eval(nn.New(m))
	o := utils.OptimizeForInference(m, utils.InferenceOptions{MaxPlans: torch.Some(2)})
	forwards := func(rows int) int32 {
		before := m.forwards.Load()
		o.Forward(torch.Ones([]int{rows, 4}))
		return m.forwards.Load() - before
	}
	for i, c := range []struct {
		rows     int
		forwards int32
	}{
		{1, 1}, {2, 1}, {1, 0}, {3, 1}, {1, 0}, {2, 1}, {3, 1}, {2, 0},
	} {
		if n := forwards(c.rows); n != c.forwards {
			t.Errorf("call %d with %d rows ran the module %d times, want %d", i, c.rows, n, c.forwards)
		}
	}
	for _, n := range []int{0, -1} {
		err := tensor.Try(func() { utils.OptimizeForInference(m, utils.InferenceOptions{MaxPlans: torch.Some(n)}) })
		if err == nil {
			t.Errorf("MaxPlans %d is accepted", n)
		}
	}
}

// Two prepared modules over the same weights share what was packed of them.
func TestPackedWeightsAreShared(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(600, 500), nn.NewReLU())
	nn.Eval(m)
	x := torch.Randn([]int{2, 600})
	start := inUse()
	var all []*utils.Optimized
	for range 8 {
		o := utils.OptimizeForInference(m)
		o.Forward(x)
		o.Forward(x)
		all = append(all, o)
	}
	if used := inUse() - start; used > 2*600*500*4 {
		t.Errorf("8 prepared modules use %.1f MB for weights of 1.2 MB", mb(used))
	}
	runtime.KeepAlive(all)
}

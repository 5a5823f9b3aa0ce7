package profiler_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/profiler"
)

// A network runs under a profiler; the table lists its operators by the memory that they take.
func Example() {
	net := nn.NewSequential(nn.NewLinear(64, 256), nn.NewReLU(), nn.NewLinear(256, 10))
	x := torch.Ones([]int{32, 64})
	trace := profiler.Profile(profiler.Options{ProfileMemory: true, WithFLOPs: true}, func(*profiler.Profiler) {
		torch.NoGrad(func() { net.Forward(x) })
	})
	for _, e := range trace.KeyAverages().List {
		if e.SelfCPUMem > 0 {
			fmt.Println(e.Name, e.Count, e.SelfCPUMem, e.FLOPs)
		}
	}
	// Output:
	// aten::linear 2 34048 1212416
	// aten::relu 1 32768 0
}

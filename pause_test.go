package torch_test

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/optim"
)

// pauses is how often, and for how long, the runtime has stopped all goroutines since an earlier reading.
func pauses(name string, since []uint64) (p50, p99 float64, counts []uint64) {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	h := s[0].Value.Float64Histogram()
	counts = append(counts, h.Counts...)
	total, seen := uint64(0), uint64(0)
	for i := range counts {
		if since != nil {
			h.Counts[i] -= since[i]
		}
		total += h.Counts[i]
	}
	p50, p99 = math.NaN(), math.NaN()
	for i, n := range h.Counts {
		before := seen
		seen += n
		at := h.Buckets[i+1]
		if 2*before < total && 2*seen >= total {
			p50 = at
		}
		if 100*before < 99*total && 100*seen >= 99*total {
			p99 = at
		}
	}
	return p50, p99, counts
}

// Eight goroutines train without Tidy, each its own model. Reported is how long the collector stops the world, in total
// and until all goroutines stand still, which assembly delays. With more goroutines or other programs than processors,
// the system's scheduler adds time slices: compare with a loop without tensors, the case "spin".
func BenchmarkPauses(b *testing.B) {
	models := map[string]func() (nn.Layer, *torch.Tensor){
		"spin": nil,
		"mlp": func() (nn.Layer, *torch.Tensor) {
			return nn.NewSequential(nn.NewLinear(1024, 1024), nn.NewReLU(), nn.NewLinear(1024, 1024), nn.NewReLU(),
				nn.NewLinear(1024, 10)), torch.Randn([]int{256, 1024})
		},
		"convnet": func() (nn.Layer, *torch.Tensor) {
			same := nn.Conv2dOptions{Padding: nn.Size{1}}
			return nn.NewSequential(nn.NewConv2d(3, 32, 3, same), nn.NewReLU(), nn.NewMaxPool2d(2),
				nn.NewConv2d(32, 64, 3, same), nn.NewReLU(), nn.NewMaxPool2d(2), nn.NewFlatten(),
				nn.NewLinear(64*8*8, 10)), torch.Randn([]int{64, 3, 32, 32})
		},
	}
	for _, name := range []string{"spin", "mlp", "convnet"} {
		b.Run(name, func(b *testing.B) {
			var ready, done sync.WaitGroup
			start := make(chan struct{})
			for range 8 {
				ready.Add(1)
				done.Add(1)
				go func() {
					defer done.Done()
					step := spin
					if models[name] != nil {
						step = trainer(models[name]())
					}
					step()
					ready.Done()
					<-start
					for range b.N {
						step()
					}
				}()
			}
			ready.Wait()
			_, _, total := pauses("/sched/pauses/total/gc:seconds", nil)
			_, _, stopping := pauses("/sched/pauses/stopping/gc:seconds", nil)
			torch.ResetPeakMemoryStats()
			b.ResetTimer()
			close(start)
			done.Wait()
			b.StopTimer()
			p50, p99, _ := pauses("/sched/pauses/total/gc:seconds", total)
			b.ReportMetric(p50*1e3, "p50-ms")
			b.ReportMetric(p99*1e3, "p99-ms")
			_, p99, _ = pauses("/sched/pauses/stopping/gc:seconds", stopping)
			b.ReportMetric(p99*1e3, "p99-stopping-ms")
			b.ReportMetric(float64(torch.MemoryStats().PeakReserved>>20), "peak-MiB")
			torch.EmptyCache()
		})
	}
}

// spin keeps a processor busy for a while and makes garbage.
func spin() {
	for start := time.Now(); time.Since(start) < 10*time.Millisecond; {
		runtime.KeepAlive(make([]byte, 1<<20))
	}
}

// trainer is a step of training.
func trainer(m nn.Layer, x *torch.Tensor) func() {
	y := torch.Zeros([]int{x.Size(0)}, torch.ZerosOptions{DType: torch.Int64})
	o := optim.NewAdam(nn.Parameters(m), 1e-3)
	return func() {
		loss := F.CrossEntropy(m.Forward(x), y)
		o.ZeroGrad()
		loss.Backward()
		o.Step()
	}
}

package profiler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/profiler"
	"github.com/gotorch-dev/torch/vision/models"
)

// BenchmarkOverhead compares the training steps of resnet18 with and without a profiler, taken by turns. The metric
// "%overhead" is that of the medians.
func BenchmarkOverhead(b *testing.B) {
	torch.ManualSeed(0)
	net := models.NewResNet18(models.Options{NumClasses: 10})
	opt := optim.NewSGD(nn.Parameters(net), 0.01)
	x, y := torch.Randn([]int{4, 3, 128, 128}), torch.FromSlice([]int64{1, 2, 3, 4}, 4)
	step := func() {
		torch.Tidy(func() {
			F.CrossEntropy(net.Forward(x), y).Backward()
			opt.Step()
			opt.ZeroGrad()
		})
	}
	step()
	var times [2][]time.Duration
	for b.Loop() {
		for k := range times {
			start := time.Now()
			if k == 0 {
				step()
			} else {
				profiler.Profile(profiler.Options{}, func(*profiler.Profiler) { step() })
			}
			times[k] = append(times[k], time.Since(start))
		}
	}
	var median [2]float64
	for k, l := range times {
		slices.Sort(l)
		median[k] = l[len(l)/2].Seconds()
	}
	b.ReportMetric(100*(median[1]/median[0]-1), "%overhead")
}

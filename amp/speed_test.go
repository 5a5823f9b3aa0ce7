package amp_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// trainings are training steps by name; loss is what autocast surrounds.
func trainings() map[string]func(around func(func())) {
	step := func(params []*torch.Tensor, loss func() *torch.Tensor) func(around func(func())) {
		opt := optim.NewSGD(params, 0.01)
		return func(around func(func())) {
			torch.Tidy(func() {
				opt.ZeroGrad()
				var l *torch.Tensor
				around(func() { l = loss() })
				l.Backward()
				opt.Step()
			})
		}
	}
	torch.ManualSeed(0)
	layer := nn.NewTransformerEncoderLayer(512, 8, nn.TransformerLayerOptions{BatchFirst: true})
	x := torch.Randn([]int{8, 128, 512})
	net := models.NewResNet18(models.Options{NumClasses: 10})
	images, classes := torch.Randn([]int{8, 3, 128, 128}), torch.FromSlice([]int64{1, 2, 3, 4, 5, 6, 7, 8}, 8)
	return map[string]func(func(func())){
		"transformer layer": step(nn.Parameters(layer),
			func() *torch.Tensor { return layer.Forward(x).Square().Mean() }),
		"resnet18": step(nn.Parameters(net),
			func() *torch.Tensor { return F.CrossEntropy(net.Forward(images), classes) }),
	}
}

// BenchmarkAutocast compares training steps in float32 with those under autocast to bfloat16, taken by turns. The
// metric "times" is how much faster the latter are, by the medians.
func BenchmarkAutocast(b *testing.B) {
	for name, step := range trainings() {
		b.Run(name, func(b *testing.B) {
			plain := func(f func()) { f() }
			lower := func(f func()) { amp.Autocast(tensor.CPUDevice, tensor.BFloat16, f) }
			step(plain)
			step(lower)
			var times [2][]time.Duration
			for b.Loop() {
				for k, around := range []func(func()){plain, lower} {
					start := time.Now()
					step(around)
					times[k] = append(times[k], time.Since(start))
				}
			}
			for _, l := range times {
				slices.Sort(l)
			}
			m := len(times[0]) / 2
			b.ReportMetric(times[0][m].Seconds()/times[1][m].Seconds(), "times")
		})
	}
}

package models

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// What hooks have seen of a block stays valid after Backward, and so does what a kept graph needs; the gradients are
// always the same.
func TestInnerValues(t *testing.T) {
	var b *BasicBlock
	fresh := func() { // the same weights each time
		torch.ManualSeed(2)
		b = newBasicBlock(blockArgs{in: 4, planes: 8, stride: 2, groups: 1, groupWidth: 64, dilation: 1,
			norm: ops.BatchNorm2d(nn.BatchNorm2dOptions{}),
			down: nn.NewSequential(convNB(4, 8, 1, 2, 1), nn.NewBatchNorm2d(8))}).(*BasicBlock)
	}
	fresh()
	x := torch.Randn([]int{2, 4, 6, 6})
	loss := func() *tensor.Tensor { y := b.Forward(x); return y.Mul(y).Sum() }
	grads := func() []float64 {
		var s []float64
		for _, p := range nn.Parameters(b) {
			s = append(s, p.Grad().Detach().Double().Sum().Item())
		}
		nn.ZeroGrad(b)
		return s
	}
	same := func(what string, got, want []float64) {
		t.Helper()
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: gradient %d sums to %v, want %v", what, i, got[i], want[i])
			}
		}
	}
	loss().Backward()
	want := grads()

	l := loss()
	l.Backward(tensor.BackwardOptions{RetainGraph: true})
	same("kept graph", grads(), want)
	l.Backward()
	same("kept graph, again", grads(), want)

	for i := range 8 {
		fresh()
		m := []nn.Module{b.Conv1, b.BN1, b.ReLU, b.Conv2, b.BN2, b.Downsample, b.Downsample.At(0),
			b.Downsample.At(1)}[i]
		var seen []*tensor.Tensor
		h := nn.RegisterForwardHook(m, func(_ nn.Module, in []*tensor.Tensor, out *tensor.Tensor) *tensor.Tensor {
			seen = append(append(seen, in...), out)
			return nil
		})
		loss().Backward()
		h.Remove()
		same(nn.ClassName(m), grads(), want)
		for i, x := range seen {
			if x.IsReleased() {
				t.Errorf("%s: value %d that a hook has seen was freed", nn.ClassName(m), i)
			}
		}
	}

	fresh()
	// A recorded pass reads inner values again.
	l = loss()
	g := tensor.Grad([]*tensor.Tensor{l}, nn.Parameters(b), tensor.GradOptions{CreateGraph: true})
	l.Backward()
	same("after a recorded pass", grads(), want)
	for i := range g {
		if s := g[i].Detach().Double().Sum().Item(); s != want[i] {
			t.Errorf("recorded gradient %d sums to %v, want %v", i, s, want[i])
		}
	}

	// Keep keeps what Backward needs.
	l = loss().Keep()
	l.Backward()
	same("kept loss", grads(), want)
}

// Evaluation needs the weights and a few values, inside Tidy as outside: what the layers have consumed is freed at
// once.
func TestEvaluationPeak(t *testing.T) {
	for name, m := range map[string]nn.Layer{"resnet18": NewResNet18(), "resnet50": NewResNet50(),
		"mobilenet_v2": NewMobileNetV2()} {
		nn.Eval(m)
		x := torch.Randn([]int{4, 3, 64, 64})
		// The widest value: 64 channels of 32x32 behind the first layer, 256 of 16x16 in resnet50's first stage, 96 of
		// 32x32 in mobilenet_v2.
		widest := 4 * 96 * 32 * 32 * 4
		for _, tidy := range []bool{false, true} {
			torch.InferenceMode(func() {
				torch.EmptyCache()
				torch.ResetPeakMemoryStats()
				start := torch.MemoryStats().Allocated
				if tidy {
					torch.Tidy(func() { m.Forward(x) })
				} else {
					m.Forward(x)
				}
				if got := float64(torch.MemoryStats().Peak-start) / float64(widest); got > 4 {
					t.Errorf("%s, Tidy %v: the peak is %.1f of the widest values", name, tidy, got)
				}
			})
		}
	}
}

package models

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// TestTorchvision compares with numbers that torchvision's models print after torch.manual_seed(3).
func TestTorchvision(t *testing.T) {
	pictures := torch.Arange(2 * 3 * 64 * 64).Float().Reshape([]int{2, 3, 64, 64}).MulScalar(0.37).Sin()
	near := func(what string, got, want, rel float64) {
		t.Helper()
		if !(math.Abs(got-want) <= rel*math.Abs(want)) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	absSum := func(x *torch.Tensor) float64 { return x.Detach().Double().Abs().Sum().Item() }
	for _, tc := range []struct {
		name    string
		make    func() nn.Layer
		entries int
		last    string
		params  int
		weight  float64 // an element of the first weight
		sum     float64 // of the last weight
		logits  []float64
	}{
		{"resnet18", func() nn.Layer { return NewResNet18() }, 122, "fc.bias", 11689512, 0.013003005646169186,
			19.30726454930351,
			[]float64{-0.26113614439964294, -0.32852354645729065, 0.07895395904779434, 0.18115031719207764}},
		{"mobilenet_v2", func() nn.Layer { return NewMobileNetV2() }, 314, "classifier.1.bias", 3504872,
			-0.07899099588394165, 4.2008634060148236, nil},
	} {
		torch.ManualSeed(3)
		m := tc.make()
		keys := nn.StateDict(m).Keys()
		if len(keys) != tc.entries || keys[len(keys)-1] != tc.last {
			t.Errorf("%s: %d entries, the last %s; want %d, %s", tc.name, len(keys), keys[len(keys)-1], tc.entries,
				tc.last)
		}
		if n := nn.NumParameters(m); n != tc.params {
			t.Errorf("%s: %d parameters, want %d", tc.name, n, tc.params)
		}
		w := nn.Parameters(m)
		near(tc.name+" weight", w[0].Detach().Reshape([]int{-1}).Select(0, 5).Item(), tc.weight, 1e-6)
		near(tc.name+" sum", w[len(w)-2].Detach().Double().Sum().Item(), tc.sum, 1e-4)
		nn.Eval(m)
		tensor.NoGrad(func() {
			y := m.Forward(pictures)
			for i, want := range tc.logits {
				near(tc.name+" logit", y.Select(0, 0).Select(0, i).Item(), want, 1e-4)
			}
		})
		if tc.name != "resnet18" {
			continue
		}
		nn.Train(m, true)
		y := m.Forward(pictures).Double()
		l := y.Mul(y).Mean()
		l.Backward()
		r := m.(*ResNet)
		near("loss", l.Item(), 0.25627424102752805, 1e-4)
		near("gradient of conv1", absSum(r.Conv1.Weight.Grad()), 369.5865832282716, 2e-3)
		near("running variance", absSum(r.BN1.(*nn.BatchNorm2d).RunningVar), 57.89550995826721, 1e-5)
		near("gradient of bn1", absSum(r.Layer1.At(0).(*BasicBlock).BN1.(*nn.BatchNorm2d).Weight.Grad()),
			0.29179181743893423, 1e-2)
	}
}

// The deeper networks have torchvision's numbers of parameters and entries.
func TestSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large networks")
	}
	for _, tc := range []struct {
		name            string
		make            func(...ResNetOptions) *ResNet
		params, entries int
	}{
		{"resnet34", NewResNet34, 21797672, 218},
		{"resnet50", NewResNet50, 25557032, 320},
		{"resnext50_32x4d", NewResNeXt50_32x4d, 25028904, 320},
	} {
		m := tc.make()
		if n, e := nn.NumParameters(m), len(nn.StateDict(m).Keys()); n != tc.params || e != tc.entries {
			t.Errorf("%s: %d parameters in %d entries, want %d in %d", tc.name, n, e, tc.params, tc.entries)
		}
	}
}

// A training step reaches every parameter, in both memory formats.
func TestTrainingStep(t *testing.T) {
	for _, tc := range []struct {
		name  string
		make  func() nn.Layer
		shape []int
	}{
		{"mlp", func() nn.Layer { return NewMLP(784, 10) }, []int{2, 784}},
		{"lenet", func() nn.Layer { return NewLeNet(10) }, []int{2, 1, 28, 28}},
		{"resnet9", func() nn.Layer { return NewResNet9(3, 10, 8) }, []int{2, 3, 32, 32}},
		{"resnet18", func() nn.Layer { return NewResNet18(ResNetOptions{NumClasses: 10}) }, []int{2, 3, 64, 64}},
		{"resnext50_32x4d", func() nn.Layer { return NewResNeXt50_32x4d(ResNetOptions{NumClasses: 10}) },
			[]int{2, 3, 64, 64}},
		{"mobilenet_v2", func() nn.Layer { return NewMobileNetV2(MobileNetV2Options{NumClasses: 10}) },
			[]int{2, 3, 64, 64}},
	} {
		for _, f := range []tensor.MemoryFormat{tensor.ContiguousFormat, tensor.ChannelsLast} {
			if f == tensor.ChannelsLast && len(tc.shape) != 4 {
				continue
			}
			t.Run(tc.name+" "+f.String(), func(t *testing.T) {
				torch.ManualSeed(1)
				m := tc.make()
				nn.ToMemoryFormat(m, f)
				m.Forward(torch.Randn(tc.shape).To(f)).Square().Mean().Backward()
				for name, p := range nn.NamedParameters(m) {
					if g := p.Grad(); g == nil || !(g.Abs().Sum().Item() > 0) {
						t.Errorf("%s has no gradient: %v", name, g)
					}
				}
			})
		}
	}
}

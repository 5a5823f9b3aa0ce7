package utils_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/tensor"
	text "github.com/gotorch-dev/torch/text/models"
	"github.com/gotorch-dev/torch/vision/models"
)

// Every model of this module, prepared for inference, gives what it gives by itself, three times, the last with other
// numbers, inside and outside of Tidy, and is recorded. Folding batch norms rounds otherwise, by as much as a network's
// depth makes of it.
func TestOptimizeForInferenceModels(t *testing.T) {
	small := models.ResNetOptions{NumClasses: 7}
	image := func(n int) func() *torch.Tensor {
		return func() *torch.Tensor { return torch.Randn([]int{2, 3, n, n}) }
	}
	for _, c := range []struct {
		name  string
		make  func() nn.Layer
		input func() *torch.Tensor
		long  bool
	}{
		{"mlp", func() nn.Layer { return models.NewMLP(20, 5) },
			func() *torch.Tensor { return torch.Randn([]int{3, 20}) }, false},
		{"lenet", func() nn.Layer { return models.NewLeNet(10) },
			func() *torch.Tensor { return torch.Randn([]int{2, 1, 28, 28}) }, false},
		{"resnet9", func() nn.Layer { return models.NewResNet9(3, 10, 8) }, image(32), false},
		{"resnet18", func() nn.Layer { return models.NewResNet18(small) }, image(32), false},
		{"resnet34", func() nn.Layer { return models.NewResNet34(small) }, image(32), true},
		{"resnet50", func() nn.Layer { return models.NewResNet50(small) }, image(32), false},
		{"resnet101", func() nn.Layer { return models.NewResNet101(small) }, image(32), true},
		{"resnet152", func() nn.Layer { return models.NewResNet152(small) }, image(32), true},
		{"resnext50_32x4d", func() nn.Layer { return models.NewResNeXt50_32x4d(small) }, image(32), true},
		{"wide_resnet50_2", func() nn.Layer { return models.NewWideResNet50_2(small) }, image(32), true},
		{"mobilenet_v2", func() nn.Layer { return models.NewMobileNetV2(models.MobileNetV2Options{NumClasses: 7}) },
			image(32), false},
		{"gpt", func() nn.Layer {
			return text.NewGPT(text.GPTConfig{Vocab: 50, Context: 16, Width: 32, Heads: 4, Layers: 2})
		}, func() *torch.Tensor { return torch.Randint(50, []int{2, 12}) }, false},
	} {
		if c.long && testing.Short() {
			continue
		}
		torch.ManualSeed(7)
		m := c.make()
		settle(m)
		for _, tidy := range []bool{false, true} {
			o := utils.OptimizeForInference(m)
			x := c.input()
			for call := range 3 {
				if call == 2 {
					x = c.input()
				}
				var want, got *torch.Tensor
				tensor.NoGrad(func() { want = m.Forward(x) })
				if tidy {
					got = torch.TidyReturn(func() *torch.Tensor { return o.Forward(x) })
				} else {
					got = o.Forward(x)
				}
				if call == 0 && !torch.Equal(got, want) { // the module itself has computed it
					t.Errorf("%s, Tidy %v: the first result differs by %g", c.name, tidy, relative(got, want))
				}
				if d := relative(got, want); !(d <= 2e-4) {
					t.Errorf("%s, Tidy %v, call %d: result differs by %g", c.name, tidy, call, d)
				}
			}
			if e := o.Eager(); len(e) > 0 {
				t.Errorf("%s is not recorded: %v", c.name, e)
			}
		}
	}
}

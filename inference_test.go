package torch_test

import (
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensors made in InferenceMode stay out of recording for good; the texts are PyTorch's.
func TestInferenceMode(t *testing.T) {
	n, w := torch.Ones([]int{3}), torch.Ones([]int{3}).SetRequiresGrad(true)
	var x, y, v *torch.Tensor
	torch.InferenceMode(func() {
		x = torch.Ones([]int{30})
		y = w.MulScalar(2)
		v = n.View([]int{3})
		n.AddScalarInPlace(1)
		x.AddScalarInPlace(1)
	})
	small := y.View([]int{3})
	for _, c := range []struct {
		name      string
		got, want bool
	}{
		{"large", x.IsInference(), true}, {"small", y.IsInference(), true},
		{"result needs a gradient", y.RequiresGrad(), false},
		{"view of an ordinary tensor", v.IsInference(), false}, {"ordinary tensor", n.IsInference(), false},
		{"view outside", small.IsInference(), true}, {"clone outside", x.Clone().IsInference(), false},
		{"detached", x.Detach().IsInference(), true},
		{"result outside", n.Mul(y).IsInference(), false}, {"sum that saves nothing", w.Add(y).RequiresGrad(), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	inPlace := "Inplace update to inference tensor outside InferenceMode is not allowed."
	for _, c := range []struct {
		name, want string
		f          func()
	}{
		{"mul", "Inference tensors cannot be saved for backward.", func() { w.Mul(y) }},
		{"cat then mul", "Inference tensors cannot be saved for backward.", func() { w.Mul(small) }},
		{"in place", inPlace, func() { y.AddScalarInPlace(1) }},
		{"view in place", inPlace, func() { small.AddScalarInPlace(1) }},
		{"in place without gradients", inPlace, func() { torch.NoGrad(func() { x.AddScalarInPlace(1) }) }},
		{"out", inPlace, func() { n.Add(n, tensor.AddOptions{Out: y}) }},
		{"requires grad", "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
			func() { x.SetRequiresGrad(true) }},
	} {
		if err := torch.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

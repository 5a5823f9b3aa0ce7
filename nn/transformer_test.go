package nn_test

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// opNames records the operators that are called.
type opNames []string

func (o *opNames) Intercept(c *tensor.Ctx, next func()) {
	*o = append(*o, c.Op().FullName())
	next()
}

// Without gradients the feed-forward part takes fewer operators. It computes the same, and whoever looks on sees all of them.
func TestTransformerFeedForward(t *testing.T) {
	for _, tc := range []struct {
		name       string
		activation nn.Activation
		dtype      tensor.DType
	}{
		{"relu", nn.ActivationReLU, torch.Float32},
		{"relu float64", nn.ActivationReLU, torch.Float64},
		{"gelu", nn.ActivationGELU, torch.Float32},
		{"own", func(x *torch.Tensor) *torch.Tensor { return x.Tanh() }, torch.Float32},
	} {
		t.Run(tc.name, func(t *testing.T) {
			torch.ManualSeed(1)
			o := nn.TransformerLayerOptions{DimFeedforward: 32, Activation: tc.activation, DType: tc.dtype}
			enc, dec := nn.NewTransformerEncoderLayer(16, 4, o), nn.NewTransformerDecoderLayer(16, 4, o)
			enc.Eval()
			dec.Eval()
			x := torch.Randn([]int{5, 3, 16}).To(tc.dtype)
			run := func() *torch.Tensor { return dec.Forward(x, enc.Forward(x)) }
			want := run()
			var got *torch.Tensor
			torch.NoGrad(func() { got = run() })
			if !torch.AllClose(got, want, torch.AllCloseOptions{Rtol: torch.Some(1e-6), Atol: torch.Some(1e-6)}) {
				t.Errorf("without gradients: %v, with: %v", got, want)
			}
			var seen opNames
			torch.NoGrad(func() { tensor.Intercepted(&seen, func() { run() }) })
			if slices.Contains(seen, "torch::linear_fused") || !slices.Contains(seen, "aten::linear") {
				t.Errorf("an interceptor sees %v", seen)
			}
			calls := 0
			enc.Linear1.RegisterForwardHook(func(nn.Module, []*torch.Tensor, *torch.Tensor) *torch.Tensor { calls++; return nil })
			torch.NoGrad(func() { run() })
			if calls != 1 {
				t.Errorf("Linear1's hook was called %d times, expected once", calls)
			}
		})
	}
}

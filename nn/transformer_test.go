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

func (o *opNames) Rank() tensor.Rank { return tensor.RankTrace }

func (o *opNames) Call(c *tensor.Ctx, next func()) {
	*o = append(*o, c.Op().FullName())
	next()
}

// Without gradients the feed-forward part takes fewer operators. It computes the same, and whoever looks on sees all of
// them.
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
			o := nn.TransformerLayerOptions{DimFeedforward: torch.Some(32), Activation: tc.activation, DType: tc.dtype}
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
			torch.NoGrad(func() { tensor.WithLayer(&seen, func() { run() }) })
			if slices.Contains(seen, "gotorch::linear_fused") || !slices.Contains(seen, "aten::linear") {
				t.Errorf("an interceptor sees %v", seen)
			}
			calls := 0
			enc.Linear1.RegisterForwardHook(func(nn.Module, []*torch.Tensor,
				*torch.Tensor) *torch.Tensor {
				calls++
				return nil
			})
			torch.NoGrad(func() { run() })
			if calls != 1 {
				t.Errorf("Linear1's hook was called %d times, expected once", calls)
			}
		})
	}
}

// The gradients of a layer do not depend on which operators do the work: a hook makes the feed-forward part take one by
// one, and attention weights make attention take products instead of tiles.
func TestTransformerGradients(t *testing.T) {
	for _, batchFirst := range []bool{false, true} {
		torch.ManualSeed(2)
		m := nn.NewTransformerEncoderLayer(16, 4,
			nn.TransformerLayerOptions{DimFeedforward: torch.Some(32), BatchFirst: batchFirst, Dropout: torch.Some(0.0),
				DType: torch.Float64})
		x, g := torch.Randn([]int{5, 3, 16}).To(torch.Float64).SetRequiresGrad(true),
			torch.Randn([]int{5, 3, 16}).To(torch.Float64)
		gradients := func(forward func() *torch.Tensor) []*torch.Tensor {
			nn.ZeroGrad(m)
			x.SetGrad(nil)
			forward().Backward(torch.BackwardOptions{Gradient: g})
			out := []*torch.Tensor{x.Grad().Clone()}
			for _, p := range nn.Parameters(m) {
				out = append(out, p.Grad().Clone())
			}
			return out
		}
		got := gradients(func() *torch.Tensor { return m.Forward(x) })
		want := gradients(func() *torch.Tensor {
			y, _ := m.SelfAttn.Forward(x, x, x)
			y = m.Norm1.Forward(x.Add(y))
			return m.Norm2.Forward(y.Add(m.Linear2.Forward(m.Linear1.Forward(y).ReLU())))
		})
		for i := range want {
			if !torch.AllClose(got[i], want[i], torch.AllCloseOptions{Rtol: torch.Some(1e-9), Atol: torch.Some(1e-9)}) {
				t.Errorf("batch first %t: gradient %d: got %v, want %v", batchFirst, i, got[i], want[i])
			}
		}
	}
}

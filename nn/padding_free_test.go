package nn_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// In evaluation an encoder leaves padding out: the other positions are what they are with a layer that looks at all of
// them, padding is zero.
func TestEncoderWithoutPadding(t *testing.T) {
	torch.ManualSeed(4)
	const batch, length, width = 5, 7, 8
	for _, tc := range []struct {
		name    string
		lengths []int
		zero    bool // padding is left out
		change  func(l *nn.TransformerEncoderLayer)
	}{
		{"relu", []int{3, 7, 1, 0, 5}, true, nil},
		{"gelu", []int{7, 2, 2, 6, 1}, true, func(l *nn.TransformerEncoderLayer) { l.Activation = nn.ActivationGELU }},
		{"nothing left", []int{0, 0, 0, 0, 0}, true, nil},
		{"norm first", []int{3, 7, 1, 2, 5}, false, func(l *nn.TransformerEncoderLayer) { l.NormFirst = true }},
		{"training", []int{3, 7, 1, 2, 5}, false, func(l *nn.TransformerEncoderLayer) { l.Train() }},
	} {
		layer := nn.NewTransformerEncoderLayer(width, 2,
			nn.TransformerLayerOptions{DimFeedforward: torch.Some(16), Dropout: torch.Some(0.0), BatchFirst: true})
		m := nn.NewTransformerEncoder(layer, 2, nn.NewLayerNorm(width))
		m.Eval()
		for _, l := range m.Layers {
			if tc.change != nil {
				tc.change(l)
			}
		}
		x := torch.Randn([]int{batch, length, width})
		pad := make([]bool, batch*length)
		for i := range pad {
			pad[i] = i%length >= tc.lengths[i/length]
		}
		mask := tensor.FromSlice(pad, batch, length)
		var got, want *torch.Tensor
		torch.NoGrad(func() {
			got = m.Forward(x, nn.EncoderMasks{KeyPaddingMask: mask})
			want = x
			for _, l := range m.Layers {
				want = l.Forward(want, nn.EncoderMasks{KeyPaddingMask: mask})
			}
			want = m.Norm.Forward(want)
		})
		g, w := tensor.Data[float32](got.Contiguous()), tensor.Data[float32](want.Contiguous())
		for i := range g {
			switch padded := pad[i/width]; {
			case padded && tc.zero && g[i] != 0:
				t.Fatalf("%s: padding is %g, not 0", tc.name, g[i])
			case (!padded || !tc.zero) && !(g[i]-w[i] < 1e-5 && w[i]-g[i] < 1e-5):
				t.Fatalf("%s: element %d is %g, want %g", tc.name, i, g[i], w[i])
			}
		}
		with := m.Forward(x, nn.EncoderMasks{KeyPaddingMask: mask}) // parameters want gradients: nothing is left out
		if tc.zero && !with.RequiresGrad() {
			t.Errorf("%s: gradients are not recorded", tc.name)
		}
	}
}

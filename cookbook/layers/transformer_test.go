package layers

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// The defaults: 512 features, 8 heads, 6 layers on either side.
func TestTransformerDefaults(t *testing.T) {
	m := nn.NewTransformer()
	if n, keys := nn.NumParameters(m), m.StateDict().Len(); n != 44140544 || keys != 184 {
		t.Error(n, keys)
	}
}

// A small one in figures, without and with a mask that hides the future.
func TestTransformer(t *testing.T) {
	torch.ManualSeed(0)
	m := nn.NewTransformer(nn.TransformerOptions{DModel: torch.Some(8), NHead: torch.Some(2),
		NumEncoderLayers: torch.Some(1), NumDecoderLayers: torch.Some(1),
		TransformerLayerOptions: nn.TransformerLayerOptions{DimFeedforward: torch.Some(16)}})
	m.Eval()
	src := torch.Arange(24).View([]int{3, 1, 8}).Float().DivScalar(24)
	tgt := torch.Arange(16).View([]int{2, 1, 8}).Float().DivScalar(16)
	near(t, m.Forward(src, tgt),
		-1.2577, -0.0495, 0.6071, -1.9526, 0.3982, 0.3080, 0.7653, 1.1812,
		-1.2554, -0.0638, 0.6136, -1.9528, 0.4134, 0.3052, 0.7643, 1.1754)

	mask := torch.Full([]int{2, 2}, math.Inf(-1)).Triu(tensor.TriuOptions{Diagonal: 1})
	near(t, m.Forward(src, tgt, nn.TransformerMasks{TgtMask: mask}).Index(0),
		-1.5466, -0.3705, 0.1128, -1.4704, 0.5972, 0.3776, 0.8746, 1.4254)

	fails(t, "the feature number of src and tgt must be equal to d_model",
		func() { m.Forward(torch.Ones([]int{3, 1, 4}), tgt) })
	fails(t, "the batch number of src and tgt must be equal", func() { m.Forward(torch.Ones([]int{3, 2, 8}), tgt) })
}

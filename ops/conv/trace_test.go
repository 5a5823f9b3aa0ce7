package conv_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// What layers see of the convolutions is what PyTorch 2.15 shows of them; of fused operators they see the layers that
// were fused.
func TestTraces(t *testing.T) {
	one, two, three := []int{2, 4, 8}, []int{2, 4, 8, 8}, []int{2, 4, 8, 8, 8}
	w1, w2, w3 := opstest.Fill(tensor.Float32, 2, 4, 4, 3), opstest.Fill(tensor.Float32, 2, 4, 4, 3, 3),
		opstest.Fill(tensor.Float32, 2, 4, 4, 3, 3, 3)
	even, depthwise := opstest.Fill(tensor.Float32, 2, 4, 4, 2, 3), opstest.Fill(tensor.Float32, 3, 4, 1, 3, 3)
	residual, b2 := opstest.Fill(tensor.Float32, 4, 2, 4, 8, 8), opstest.Fill(tensor.Float32, 5, 4)
	call := func(name string, args ...any) func(x *T) {
		return func(x *T) {
			values := []tensor.Value{tensor.TensorValue(x)}
			for _, a := range args {
				values = append(values, tensor.Box(a))
			}
			if _, err := tensor.CallOp(name, values...); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	i1, i0, win, inf := []int{1, 1}, []int{0, 0}, []int{2, 2}, math.Inf(1)
	const parts = "convolution"
	opstest.CheckTraces(t, []opstest.Traced{
		opstest.Shows("conv1d", func(x *T) { F.Conv1d(x, w1) }, one, "conv1d", parts),
		opstest.Shows("conv2d", func(x *T) { F.Conv2d(x, w2) }, two, "conv2d", parts),
		opstest.Shows("conv2d of one image", func(x *T) { F.Conv2d(x, w2) }, []int{4, 8, 8}, "conv2d",
			"unsqueeze convolution squeeze.dim"),
		opstest.Shows("conv3d", func(x *T) { F.Conv3d(x, w3) }, three, "conv3d", parts),
		opstest.Shows("conv2d same", func(x *T) { F.Conv2dPadding(x, w2, F.Conv2dPaddingOptions{Padding: "same"}) },
			two, "conv2d.padding", parts),
		opstest.Shows("conv2d same, even",
			func(x *T) { F.Conv2dPadding(x, even, F.Conv2dPaddingOptions{Padding: "same"}) }, two, "conv2d.padding",
			"constant_pad_nd convolution"),
		opstest.Shows("conv_transpose1d", func(x *T) { F.ConvTranspose1d(x, w1) }, one, "conv_transpose1d", parts),
		opstest.Shows("conv_transpose2d", func(x *T) { F.ConvTranspose2d(x, w2) }, two, "conv_transpose2d.input",
			parts),
		opstest.Shows("conv_transpose3d", func(x *T) { F.ConvTranspose3d(x, w3) }, three, "conv_transpose3d.input",
			parts),
		opstest.Shows("unfold", func(x *T) { F.Unfold(x, win) }, two, "im2col", "im2col"),
		opstest.Shows("fold", func(x *T) { F.Fold(x, []int{4, 4}, win) }, []int{1, 12, 9}, "col2im", "col2im"),
		opstest.Shows("conv_tail, ReLU", call("gotorch::conv_tail", w2, nil, i1, i1, i1, 1, true, []int{}), two,
			"conv2d relu", "convolution relu"),
		opstest.Shows("conv_tail, ReLU in place",
			call("gotorch::conv_tail", w2, nil, i1, i1, i1, 1, true, []int{}, false, true), two, "conv2d relu_",
			"convolution relu_"),
		opstest.Shows("conv_tail, ReLU and pooling", call("gotorch::conv_tail", w2, nil, i1, i1, i1, 1, true, win), two,
			"conv2d relu max_pool2d", "convolution relu max_pool2d_with_indices"),
		opstest.Shows("conv_tail, pooling and ReLU",
			call("gotorch::conv_tail", w2, nil, i1, i1, i1, 1, true, win, true), two, "conv2d max_pool2d relu",
			"convolution max_pool2d_with_indices relu"),
		opstest.Shows("conv_fused, ReLU", call("gotorch::conv_fused", w2, nil, nil, i1, i1, i1, 1, 0.0, inf), two,
			"conv2d relu", "convolution relu"),
		opstest.Shows("conv_fused, residual", call("gotorch::conv_fused", w2, nil, residual, i1, i1, i1, 1, 0.0, 6.0),
			two, "conv2d add.Tensor relu6", "convolution add.Tensor hardtanh"),
		opstest.Shows("conv_fused, limits", call("gotorch::conv_fused", w2, nil, nil, i1, i1, i1, 1, -1.0, 1.0), two,
			"conv2d hardtanh", "convolution hardtanh"),
		opstest.Shows("conv_fused, nothing", call("gotorch::conv_fused", w2, nil, nil, i1, i1, i1, 1, -inf, inf), two,
			"conv2d", parts),
		opstest.Shows("conv_pool_fused",
			call("gotorch::conv_pool_fused", w2, nil, i1, i1, i1, 1, 0.0, inf, win, win, i0), two,
			"conv2d relu max_pool2d", "convolution relu max_pool2d_with_indices"),
		opstest.Shows("conv_pool_fused, pooling first",
			call("gotorch::conv_pool_fused", w2, nil, i1, i1, i1, 1, 0.0, inf, win, win, i0, true), two,
			"conv2d max_pool2d relu", "convolution max_pool2d_with_indices relu"),
		opstest.Shows("conv_cat", func(x *T) {
			_, err := tensor.CallOp("gotorch::conv_cat", tensor.Box([]*T{x}), tensor.Box([]*T{w2}), tensor.Box([]*T{b2}),
				tensor.Box(win), tensor.Box(win), tensor.Box(win), tensor.Box(0.0), tensor.Box(inf))
			if err != nil {
				t.Error(err)
			}
		}, two, "conv2d relu cat", "convolution relu cat"),
		opstest.Shows("conv_depthwise_fused",
			call("gotorch::conv_depthwise_fused", w2, nil, i1, i1, i1, 0.0, 6.0, depthwise, nil, i1, i1, i1, 0.0, 6.0,
				nil, nil, nil, -inf, inf), two,
			"conv2d relu6 conv2d relu6", "convolution hardtanh convolution hardtanh"),
	})
}

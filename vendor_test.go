package torch_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Operators under the names of the vendors' libraries give what the portable ones give.
func TestVendorsOperators(t *testing.T) {
	g := torch.NewGenerator().ManualSeed(1)
	randn := func(shape ...int) *tensor.Tensor {
		return torch.Randn(shape, torch.RandnOptions{Generator: g, DType: torch.Float64})
	}
	call := func(name string, args ...any) []*tensor.Tensor {
		t.Helper()
		boxed := make([]tensor.Value, len(args))
		for i, a := range args {
			boxed[i] = tensor.Box(a)
		}
		r, err := tensor.CallOp("aten::"+name, boxed...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out := make([]*tensor.Tensor, len(r))
		for i := range r {
			out[i] = r[i].T
		}
		return out
	}
	type list = []int
	x, w, b, z := randn(2, 4, 5, 6), randn(6, 2, 3, 3), randn(6), randn(2, 6, 3, 3)
	conv := call("conv2d", x, w, b, list{2, 2}, list{1, 1}, list{1, 1}, 2)[0]
	plain := call("conv2d", x, w, nil, list{2, 2}, list{1, 1}, list{1, 1}, 2)[0]
	wt := randn(4, 3, 3, 3)
	transposed := call("conv_transpose2d.input", x, wt, nil, list{2, 2}, list{1, 1}, list{1, 0}, 2, list{1, 1})[0]
	each := randn(4, 1, 3, 3)
	depthwise := call("conv2d", x, each, nil, list{1, 1}, list{1, 1}, list{1, 1}, 4)[0]
	mean, variance := randn(4), randn(4).Square()
	moved := func() []any { return []any{x, randn(4), mean.Clone(), mean.Clone(), variance.Clone(), true, 0.1, 1e-5} }
	norm := moved()
	grid := randn(2, 3, 2, 2)
	lp, targets := randn(6, 2, 4).LogSoftmax(2), torch.TensorOf[int64](1, 2, 3, 2, 2).Reshape([]int{5})
	ctc := call("_ctc_loss", lp, targets, list{6, 5}, list{3, 2}, 0, true)
	leaf := lp.Detach().Clone().SetRequiresGrad(true)
	call("_ctc_loss", leaf, targets, list{6, 5}, list{3, 2}, 0, true)[0].Sum().Backward()
	seq, h, c := randn(4, 2, 3), randn(1, 2, 5), randn(1, 2, 5)
	lstm := []*tensor.Tensor{randn(20, 3), randn(20, 5), randn(20), randn(20)}
	gru := []*tensor.Tensor{randn(15, 3), randn(15, 5)}
	rnn := []*tensor.Tensor{randn(5, 3), randn(5, 5), randn(5), randn(5)}
	two := append(append([]*tensor.Tensor{}, rnn...), randn(5, 3), randn(5, 5), randn(5), randn(5))
	hidden := func(h, c *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{h, c} }
	lstmOut := call("lstm.input", seq, hidden(h, c), lstm, true, 1, 0.0, false, false, false)
	h2 := randn(2, 2, 5)
	packed := randn(5, 3)
	var none []int
	for _, k := range []struct {
		name      string
		got, want []*tensor.Tensor
	}{
		{"cudnn_convolution", call("cudnn_convolution", x, w, list{1, 1}, list{2, 2}, list{1, 1}, 2, false, false, true),
			[]*tensor.Tensor{plain}},
		{"cudnn_convolution, one number", call("cudnn_convolution", x, w, list{1}, list{2}, list{1}, 2, true, true,
			true), []*tensor.Tensor{plain}},
		{"cudnn_convolution_relu", call("cudnn_convolution_relu", x, w, b, list{2, 2}, list{1, 1}, list{1, 1}, 2),
			[]*tensor.Tensor{conv.ReLU()}},
		{"cudnn_convolution_add_relu", call("cudnn_convolution_add_relu", x, w, z, 0.5, b, list{2, 2}, list{1, 1},
			list{1, 1}, 2), []*tensor.Tensor{conv.Add(z.MulScalar(0.5)).ReLU()}},
		{"miopen_convolution_add_relu", call("miopen_convolution_add_relu", x, w, z, nil, nil, list{2, 2}, list{1, 1},
			list{1, 1}, 2), []*tensor.Tensor{plain.Add(z).ReLU()}},
		{"miopen_convolution_relu", call("miopen_convolution_relu", x, w, nil, list{2, 2}, list{1, 1}, list{1, 1}, 2),
			[]*tensor.Tensor{plain.ReLU()}},
		{"miopen_convolution", call("miopen_convolution", x, w, b, list{1, 1}, list{2, 2}, list{1, 1}, 2, false, false),
			[]*tensor.Tensor{conv}},
		{"miopen_depthwise_convolution", call("miopen_depthwise_convolution", x, each, nil, list{1, 1}, list{1, 1},
			list{1, 1}, 4, false, false), []*tensor.Tensor{depthwise}},
		{"cudnn_convolution_transpose", call("cudnn_convolution_transpose", x, wt, list{1, 1}, list{1, 0}, list{2, 2},
			list{1, 1}, 2, false, false, false), []*tensor.Tensor{transposed}},
		{"miopen_convolution_transpose", call("miopen_convolution_transpose", x, wt, nil, list{1, 1}, list{1, 0},
			list{2, 2}, list{1, 1}, 2, false, false), []*tensor.Tensor{transposed}},
		{"cudnn_batch_norm", call("cudnn_batch_norm", norm...)[:3], call("native_batch_norm", norm...)},
		{"miopen_batch_norm", call("miopen_batch_norm", norm...), call("native_batch_norm", norm...)},
		{"cudnn_grid_sampler", call("cudnn_grid_sampler", x, grid), call("grid_sampler", x, grid, 0, 0, true)},
		{"cudnn_affine_grid_generator", call("cudnn_affine_grid_generator", randn(2, 2, 3).Clone().FillScalar(0.5), 2, 3,
			4, 5), call("affine_grid_generator", randn(2, 2, 3).FillScalar(0.5), list{2, 3, 4, 5}, true)},
		{"miopen_ctc_loss", call("miopen_ctc_loss", lp, targets, list{6, 5}, list{3, 2}, 0, true, true),
			[]*tensor.Tensor{ctc[0], leaf.Grad()}},
		{"mkldnn_max_pool2d", call("mkldnn_max_pool2d", x, list{2, 3}, list{1, 2}), call("max_pool2d", x, list{2, 3},
			list{1, 2})},
		{"mkldnn_max_pool3d", call("mkldnn_max_pool3d", x, list{2, 3, 2}), call("max_pool3d", x, list{2, 3, 2})},
		{"mkldnn_adaptive_avg_pool2d", call("mkldnn_adaptive_avg_pool2d", x, list{2, 3}), call("adaptive_avg_pool2d", x,
			list{2, 3})},
		{"mkldnn_linear_backward_weights", call("mkldnn_linear_backward_weights", z, randn(2, 6, 3, 2).FillScalar(2),
			randn(3, 2), true), []*tensor.Tensor{z.SumDim([]int{0, 1, 2}).Unsqueeze(1).Expand([]int{3, 2}).MulScalar(2),
			z.SumDim([]int{0, 1, 2})}},
		{"mkldnn_rnn_layer", call("mkldnn_rnn_layer", seq, lstm[0], lstm[1], lstm[2], lstm[3], h.Select(0, 0),
			c.Select(0, 0), false, none, 2, 5, 1, true, false, false, false)[:3],
			[]*tensor.Tensor{lstmOut[0], lstmOut[1].Select(0, 0), lstmOut[2].Select(0, 0)}},
		{"miopen_rnn, LSTM", call("miopen_rnn", seq, lstm, 4, h, c, 2, 5, 1, false, 0.0, false, false, none, nil)[:3],
			lstmOut},
		{"miopen_rnn, GRU", call("miopen_rnn", seq.Transpose(0, 1), gru, 2, h, nil, 3, 5, 1, true, 0.0, false, false,
			none, nil)[:2], call("gru.input", seq.Transpose(0, 1), h, gru, false, 1, 0.0, false, false, true)},
		{"miopen_rnn, ReLU, packed", call("miopen_rnn", packed, rnn, 4, h, nil, 0, 5, 1, false, 0.0, false, false,
			list{2, 2, 1}, nil)[:2], call("rnn_relu.data", packed, torch.TensorOf[int64](2, 2, 1), h, rnn, true, 1, 0.0,
			false, false)},
		{"miopen_rnn, tanh, both directions", call("miopen_rnn", seq, two, 4, h2, nil, 1, 5, 1, false, 0.0, false, true,
			none, nil)[:2], call("rnn_tanh.input", seq, h2, two, true, 1, 0.0, false, true, false)},
	} {
		if len(k.got) != len(k.want) {
			t.Errorf("%s: %d results, want %d", k.name, len(k.got), len(k.want))
			continue
		}
		for i := range k.want {
			if !k.got[i].AllClose(k.want[i], torch.AllCloseOptions{Rtol: torch.Some(1e-9), Atol: torch.Some(1e-12)}) {
				t.Errorf("%s, result %d: %v, want %v", k.name, i, k.got[i], k.want[i])
			}
		}
	}
	for name, f := range map[string]func(){
		"z of another shape": func() { torch.CudnnConvolutionAddReLU(x, w, x, 1, b, list{1}, list{1}, list{1}, 2) },
		"an unknown mode": func() {
			torch.MiopenRNN(seq, lstm, 4, h, c, 7, 5, 1, false, 0, false, false, none, nil)
		},
		"an LSTM without cells": func() {
			torch.MiopenRNN(seq, lstm, 4, h, nil, 2, 5, 1, false, 0, false, false, none, nil)
		},
		"three weights": func() {
			torch.MiopenRNN(seq, lstm[:3], 3, h, c, 2, 5, 1, false, 0, false, false, none, nil)
		},
		"another hidden size": func() {
			torch.MkldnnRNNLayer(seq, lstm[0], lstm[1], lstm[2], lstm[3], h.Select(0, 0), c.Select(0, 0), false, none, 2, 4,
				1, true, false, false, false)
		},
		"a GRU of oneDNN's": func() {
			torch.MkldnnRNNLayer(seq, lstm[0], lstm[1], lstm[2], lstm[3], h, c, false, none, 3, 5, 1, true, false, false,
				false)
		},
	} {
		if err := torch.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if torch.CudnnIsAcceptable(x) {
		t.Error("there is no cuDNN")
	}
}

package onnx

import (
	"strings"

	"github.com/gotorch-dev/torch/internal/onnxpb"
)

// ONNX Runtime's dynamic quantization makes DynamicQuantizeLSTM of LSTM: the weights are bytes, and the input, as a
// whole, and the state of each step are quantized by their own range before they are multiplied.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.DynamicQuantizeLSTM

func init() {
	define("com.microsoft", map[string]rule{"DynamicQuantizeLSTM": dynamicQuantizeLSTM})

	helper("dynamic_quantize_lstm(Tensor x, Tensor w, Tensor r, Tensor? b, Tensor? lengths, Tensor? h, Tensor? c, "+
		"Tensor? p, Tensor ws, Tensor? wz, Tensor rs, Tensor? rz, str direction, int hidden, float? clip, "+
		"str activations, float[] alpha, float[] beta, bool coupled) -> (Tensor, Tensor, Tensor)", func(a args) any {
		l := rnnLoop{w: a.T(1), r: a.T(2), b: a.T(3), p: a.T(7), kind: "LSTM", hidden: a.int(13), coupled: a.bool(18),
			quantized: &quantizedGates{a.T(8), a.T(9), a.T(10), a.T(11)}}
		if a.has(14) {
			clip := a.float(14)
			l.clip = &clip
		}
		if l.hidden <= 0 && l.r.Dim() == 3 {
			l.hidden = l.r.Size(1)
		}
		return l.run(a.T(0), a.T(4), a.T(5), a.T(6), a.str(12), strings.Split(a.str(15), ","), a.floats(16),
			a.floats(17))
	})
}

// quantizedGates are the scales and zero points of weights: one for each direction, or one for each of its columns.
type quantizedGates struct{ wScale, wZero, rScale, rZero *T }

// multiply quantizes x by its range and multiplies it by the weight of a direction.
func (q *quantizedGates) multiply(x, w, scale, zero *T, d int) *T {
	w = w.Select(0, d)
	of := func(t *T) *T {
		if t == nil || t.Numel() == 1 {
			return t
		}
		if t = t.Select(0, d); t.Dim() > 0 && t.Numel() != w.Size(1) {
			wrong("DynamicQuantizeLSTM", "scales or zero points of shape %v for a weight of shape %v", t.Shape(),
				w.Shape())
		}
		return t
	}
	if w.Dim() != 2 || x.Size(-1) != w.Size(0) {
		wrong("DynamicQuantizeLSTM", "a weight of shape %v for an input of shape %v", w.Shape(), x.Shape())
	}
	bytes, sx, zx := dynamic(x.Contiguous())
	y := intMatMul(bytes, w, zx, of(zero), nil).ToDType(x.DType())
	s := of(scale)
	if s.Numel() == 1 {
		s = s.Reshape([]int{})
	}
	return y.Mul(s.Mul(sx))
}

// dynamicQuantizeLSTM takes the inputs of LSTM, and then the scales and zero points of the two weights.
func dynamicQuantizeLSTM(n *node) []*value {
	direction, directions := n.direction()
	acts := n.activations(directions, []string{"Sigmoid", "Tanh", "Tanh"})
	if n.int("layout", 0) != 0 {
		unsupported("layout 1")
	}
	out := n.calls("onnx::dynamic_quantize_lstm", n.T(0), n.T(1), n.T(2), n.opt(3), n.opt(4), n.opt(5), n.opt(6),
		n.opt(7),
		n.T(8), n.opt(9), n.T(10), n.opt(11), direction, n.int("hidden_size", 0), n.clip(), strings.Join(acts, ","),
		nonNil(n.floats("activation_alpha")), nonNil(n.floats("activation_beta")), n.int("input_forget", 0) != 0)
	outs := make([]*value, 3)
	for i := range outs {
		outs[i] = n.tensor(out[i], onnxpb.Float)
		outs[i].rank = 3
	}
	outs[0].rank = 4
	return outs
}

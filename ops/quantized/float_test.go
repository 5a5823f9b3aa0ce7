package quantized_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// TestLikeFloats compares operators that dequantize, compute and quantize with the operators on floats between a
// Dequantize and a QuantizePerTensor: they differ by one step of the result's scale at most.
func TestLikeFloats(t *testing.T) {
	x := eighths(3, 2, 4, 3, 5).QuantizePerTensor(0.05, 7, tensor.QUInt8)
	y := eighths(5, 2, 4, 3, 5).QuantizePerTensor(0.1, 3, tensor.QUInt8)
	w, b := torch.FromSlice([]float32{0.5, -1, 2, 1.5}), torch.FromSlice([]float32{0.25, 0, -0.5, 1})
	const scale, zero = 0.03, 120
	i, is, f, v := tensor.IntValue, tensor.IntsValue, tensor.FloatValue, tensor.TensorValue
	type args []tensor.Value
	none, s, z := tensor.Value{}, f(scale), i(zero)
	for _, c := range []struct {
		name, quantized string
		args            args // those of the quantized operator behind its input
		float           string
		floats          args
	}{
		{"layer_norm", "quantized::layer_norm", args{is([]int{3, 5}), none, none, f(1e-5), s, z},
			"aten::layer_norm", args{is([]int{3, 5}), none, none, f(1e-5)}},
		{"group_norm", "quantized::group_norm", args{i(2), v(w), v(b), f(1e-5), s, z},
			"aten::group_norm", args{i(2), v(w), v(b), f(1e-5)}},
		{"instance_norm", "quantized::instance_norm", args{v(w), v(b), f(1e-5), s, z},
			"aten::instance_norm", args{v(w), v(b), none, none, tensor.BoolValue(true), f(0), f(1e-5),
				tensor.BoolValue(false)}},
		{"instance_norm without weights", "quantized::instance_norm", args{none, none, f(1e-3), s, z},
			"aten::instance_norm", args{none, none, none, none, tensor.BoolValue(true), f(0), f(1e-3),
				tensor.BoolValue(false)}},
		{"hardswish", "quantized::hardswish", args{s, z}, "aten::hardswish", nil},
		{"sigmoid", "quantized::sigmoid", args{s, z}, "aten::sigmoid", nil},
		{"celu", "quantized::celu", args{s, z, f(1.5)}, "aten::celu", args{f(1.5)}},
		{"elu", "quantized::elu", args{s, z, f(0.7), f(1), f(1)}, "aten::elu", args{f(0.7), f(1), f(1)}},
		{"leaky_relu", "quantized::leaky_relu", args{f(0.2), tensor.BoolValue(false), s, z}, "aten::leaky_relu",
			args{f(0.2)}},
		{"softmax", "quantized::softmax", args{i(3), s, z}, "aten::softmax.int", args{i(3)}},
	} {
		run := func(op string, a args) *tensor.Tensor {
			r, err := tensor.CallOp(op, a...)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				return nil
			}
			return r[0].T
		}
		got := run(c.quantized, append(args{v(x)}, c.args...))
		want := run(c.float, append(args{v(x.Dequantize())}, c.floats...))
		if got == nil || want == nil {
			continue
		}
		want = want.QuantizePerTensor(scale, zero, tensor.QUInt8)
		if d := got.IntRepr().Long().Sub(want.IntRepr().Long()).Abs().Max().Item(); d > 1 {
			t.Errorf("%s: differs by %v steps", c.name, d)
		}
		if q := tensor.QuantizerOf(got); q == nil || q.Scale != scale || q.ZeroPoint != zero {
			t.Errorf("%s: the result's quantizer is %+v", c.name, q)
		}
	}
	// cat takes the scale of its first argument
	for dim := range 4 {
		got := torch.Cat([]*tensor.Tensor{x, y}, torch.CatOptions{Dim: dim})
		want := torch.Cat([]*tensor.Tensor{x.Dequantize(), y.Dequantize()}, torch.CatOptions{Dim: dim}).
			QuantizePerTensor(0.05, 7, tensor.QUInt8)
		if !torch.Equal(got.IntRepr(), want.IntRepr()) {
			t.Errorf("cat along %d: %v, want %v", dim, got.IntRepr(), want.IntRepr())
		}
	}
}

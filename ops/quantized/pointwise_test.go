package quantized_test

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/ops/quantized"
	"github.com/gotorch-dev/torch/tensor"
)

// TestIntegerArithmetic compares what PyTorch computes with integers, not with numbers, by values of PyTorch 2.15: in
// prelu 1 is the largest byte of the weight's scale; adding a number beyond the range rounds by a factor of 32 bits,
// which decides where the exact factor lies in the middle.
func TestIntegerArithmetic(t *testing.T) {
	defer quantized.SetEngine(quantized.SetEngine(quant.X86))
	steps := make([]int8, 16)
	for i := range steps {
		steps[i] = int8(16*i - 128)
	}
	int8s := func(v []int8, scale float64, zero int, shape ...int) *tensor.Tensor {
		return tensor.NewQuantized(tensor.FromSlice(v).Reshape(shape), tensor.QInt8,
			&tensor.Quantizer{Scale: scale, ZeroPoint: zero})
	}
	bytes := tensor.NewQuantized(torch.FromSlice([]uint8{1, 2, 3, 9, 40, 100}).Reshape([]int{2, 3}), tensor.QUInt8,
		&tensor.Quantizer{Scale: 0.03, ZeroPoint: 2})
	number := tensor.FloatValue
	for _, c := range []struct {
		name    string
		engine  quant.Engine
		op      string
		args    []tensor.Value
		want    []int64
		strides []int
	}{
		{"prelu", quant.X86, "quantized::prelu", []tensor.Value{
			tensor.TensorValue(int8s([]int8{-128, -60, -3, 0, 1, 40, 100, 127}, 0.03, -2, 2, 4)),
			tensor.TensorValue(int8s([]int8{20, -5, 3, 60}, 0.005, 0, 4)), number(0.04), tensor.IntValue(7)},
			[]int64{-2, 8, 7, 8, 8, 27, 56, 68}, []int{4, 1}},
		{"add_scalar", quant.X86, "quantized::add_scalar", []tensor.Value{
			tensor.TensorValue(int8s(steps, 0.030915, 97, 16)), number(-1.458)},
			[]int64{-128, -113, -98, -83, -68, -53, -38, -23, -8, 7, 22, 37, 52, 67, 82, 97}, []int{1}},
		{"softmax of QNNPACK along the first dimension", quant.QNNPACK, "quantized::softmax", []tensor.Value{
			tensor.TensorValue(bytes), tensor.IntValue(0), number(1.0 / 256), tensor.IntValue(0)},
			[]int64{113, 62, 13, 143, 194, 243}, []int{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			quantized.SetEngine(c.engine)
			r, err := tensor.CallOp(c.op, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			got := tensor.Data[int64](tensor.QuantizedInts(r[0].T).To(tensor.Int64).Contiguous())
			if !slices.Equal(got, c.want) || !slices.Equal(r[0].T.Strides(), c.strides) {
				t.Errorf("integers %v with strides %v, want %v and %v", got, r[0].T.Strides(), c.want, c.strides)
			}
		})
	}
}

package shape_test

import (
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Assertions of programs pass without a result, or fail with PyTorch's texts.
func TestAssertions(t *testing.T) {
	x := torch.Ones([]int{3, 4})
	number := func(v float64) tensor.Value { return tensor.TensorValue(torch.Full([]int{}, v)) }
	const text = "Expected Tensor with single nonzero value, but got zero"
	for _, c := range []struct {
		op   string
		args []tensor.Value
		want string // "" where the assertion holds
	}{
		{"_assert_async", []tensor.Value{number(2)}, ""},
		{"_assert_async", []tensor.Value{number(0)}, text},
		{"_assert_async", []tensor.Value{tensor.TensorValue(x)}, "Boolean value of Tensor with more than one value"},
		{"_assert_async.msg", []tensor.Value{number(0), tensor.StrValue("bad luck")}, "bad luck"},
		{"_assert_scalar", []tensor.Value{tensor.ScalarValue(0.5), tensor.StrValue("bad luck")}, ""},
		{"_assert_scalar", []tensor.Value{tensor.ScalarValue(0), tensor.StrValue("bad luck")}, "bad luck"},
		{"_assert_tensor_metadata", []tensor.Value{tensor.TensorValue(x), tensor.IntsValue([]int{3, 4}),
			tensor.IntsValue([]int{4, 1}), tensor.DTypeValue(tensor.Float32), tensor.DeviceValue(tensor.Device{})}, ""},
		{"_assert_tensor_metadata", []tensor.Value{tensor.TensorValue(x), tensor.IntsValue([]int{3, 5})},
			"Tensor sizes mismatch! Expected: [3, 5], Got: [3, 4]"},
		{"_assert_tensor_metadata", []tensor.Value{tensor.TensorValue(x), {}, tensor.IntsValue([]int{1, 1})},
			"Tensor strides mismatch! Expected: [1, 1], Got: [4, 1]"},
		{"_assert_tensor_metadata", []tensor.Value{tensor.TensorValue(x), {}, {}, tensor.DTypeValue(tensor.Float64)},
			"Tensor dtype mismatch!"},
		{"_assert_tensor_metadata", []tensor.Value{tensor.TensorValue(x), {}, {}, {}, tensor.DeviceValue(torch.Meta)},
			"Tensor device mismatch! Expected: meta, Got: cpu"},
	} {
		res, err := tensor.CallOp("aten::"+c.op, c.args...)
		switch {
		case c.want == "" && (err != nil || len(res) != 0):
			t.Errorf("%s%v gave %v, %v", c.op, c.args, res, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s%v gave %v, want %q", c.op, c.args, err, c.want)
		}
	}
}

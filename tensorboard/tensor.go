package tensorboard

import "github.com/gotorch-dev/torch/tensor"

var kinds = map[tensor.DType]Kind{
	tensor.Float32: Float32, tensor.Float64: Float64, tensor.Float16: Float16, tensor.BFloat16: BFloat16,
	tensor.Uint8: Uint8,
	tensor.Int8:  Int8, tensor.Int16: Int16, tensor.Int32: Int32, tensor.Int64: Int64, tensor.Bool: Bool,
}

// FromTensor makes an array of a tensor of real numbers, with its shape and
// element type. The elements are copied: later changes of the tensor do not show.
// It panics with a [tensor.Error] for a complex tensor.
func FromTensor(t *tensor.Tensor) Array {
	k, real := kinds[t.DType()]
	if !real {
		tensor.Fail(tensor.ErrDType, "tensorboard.FromTensor: a tensor of %s cannot be shown, want real numbers",
			t.DType())
	}
	a := &array{shape: append([]int{}, t.Shape()...), kind: k}
	a.data = append(a.data, tensor.Data[float64](tensor.DenseAs(t, tensor.Float64))...)
	if k == Int64 {
		a.keepExact(tensor.Data[int64](tensor.DenseAs(t, tensor.Int64)))
	}
	return a
}

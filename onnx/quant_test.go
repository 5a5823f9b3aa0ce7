package onnx_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// TestQuantizedTies: a function of bytes between two scales, one twice the other, gives ties for every second byte.
// They are rounded to even after a division in float32, as in ONNX Runtime.
func TestQuantizedTies(t *testing.T) {
	byteOf := func(name string, x int64) *onnxpb.Tensor {
		return &onnxpb.Tensor{Name: name, Type: onnxpb.Uint8, Ints32: []int64{x}}
	}
	m := stringModel(&onnxpb.Node{Op: "QLinearLeakyRelu", Domain: "com.microsoft", Outputs: []string{"y"},
		Inputs: []string{"x", "s", "z", "t", "u"}}, onnxpb.Uint8, floats("s", nil, 0.02), byteOf("z", 100),
		floats("t", nil, 0.04), byteOf("u", 90))
	m.Opsets = append(m.Opsets, onnxpb.Opset{Domain: "com.microsoft", Version: 1})
	x := make([]uint8, 256)
	for i := range x {
		x[i] = uint8(i)
	}
	got := tensor.Data[uint8](run(t, read(t, m), torch.TensorOf(x...)))
	for i := range x {
		y := float32(0.02) * float32(i-100)
		if y < 0 {
			y *= 0.01
		}
		if want := uint8(math.RoundToEven(float64(y/0.04)) + 90); got[i] != want {
			t.Errorf("byte %d becomes %d, want %d", i, got[i], want)
		}
	}
}

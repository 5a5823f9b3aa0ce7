package onnx_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/onnx"
)

// A model says what it takes and gives; Run computes the outputs by name.
func ExampleModel_Run() {
	file := linear().Bytes() // y = relu(x W + b), as a file holds it
	m, err := onnx.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	fmt.Println(m.Inputs()[0], "->", m.Outputs()[0])
	out, err := m.Run(context.Background(), map[string]*torch.Tensor{"x": torch.FromSlice([]float32{1, 1}, 1, 2)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out["y"])
	_, err = m.Run(context.Background(), map[string]*torch.Tensor{"x": torch.Zeros([]int{1, 3})})
	fmt.Println(err)
	// Output:
	// x: float32[N, 2] -> y: float32[N, 3]
	// tensor([[5., 7., 0.]])
	// input does not fit: input "x" has shape [1, 3], expected x: float32[N, 2] [Run()]
}

package onnx

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/tensor"
)

func network() *nn.Sequential {
	torch.ManualSeed(0)
	return nn.NewSequential(nn.NewConv2d(1, 2, 3), nn.NewBatchNorm2d(2), nn.NewReLU())
}

// read runs a file that was written.
func read(b *bytes.Buffer, x *torch.Tensor) (string, *torch.Tensor, error) {
	m, err := onnx.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return "", nil, err
	}
	defer m.Close()
	out, err := m.Run(context.Background(), map[string]*torch.Tensor{m.Inputs()[0].Name: x})
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprint(m.Inputs()[0], " -> ", m.Outputs()[0]), out[m.Outputs()[0].Name], nil
}

// A module in evaluation is written with a batch that may differ; the file gives what the module gives.
func Example_export() {
	m := network()
	nn.Eval(m)
	var file bytes.Buffer
	err := onnx.ExportTo(&file, m, []*torch.Tensor{torch.Rand([]int{2, 1, 8, 8})}, onnx.ExportOptions{
		InputNames: []string{"image"}, OutputNames: []string{"score"},
		Dynamic: map[string]onnx.Dims{"image": {0: "batch"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := torch.Rand([]int{5, 1, 8, 8})
	ports, got, err := read(&file, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ports)
	fmt.Println(got.AllClose(m.Forward(x), torch.AllCloseOptions{Atol: tensor.Some(1e-6)}))
	// Output:
	// image: float32[batch, 1, 8, 8] -> score: float32[batch, 2, 6, 6]
	// true
}

// The file differs from a module that was left in training mode, where batch norm takes the statistics of the batch:
// Export warns, and after Eval the two agree.
func TestExportInTraining(t *testing.T) {
	m := network()
	x := torch.Rand([]int{4, 1, 8, 8})
	var warned []string
	before := tensor.SetWarnings(func(w tensor.Warning) { warned = append(warned, w.Text) })
	defer func() { tensor.SetWarnings(before) }()
	var file bytes.Buffer
	if err := onnx.ExportTo(&file, m, []*torch.Tensor{x}); err != nil {
		t.Fatal(err)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "training mode") {
		t.Errorf("warnings %q", warned)
	}
	_, got, err := read(&file, x)
	if err != nil {
		t.Fatal(err)
	}
	nn.Eval(m)
	if diff := got.Sub(m.Forward(x)).Abs().Max().Item(); diff > 1e-6 {
		t.Errorf("in evaluation the file differs by %v", diff)
	}
	nn.Train(m, true)
	if diff := got.Sub(m.Forward(x)).Abs().Max().Item(); diff < 0.1 {
		t.Errorf("in training the file differs by %v only", diff)
	}
}

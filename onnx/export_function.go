package onnx

import (
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// kept writes the call of a submodule as the call of a function of the model.
func (x *exporter) kept(o *graph.Object, f *graph.Function, in []tensor.Value) ([]tensor.Value, bool) {
	return nil, false
}

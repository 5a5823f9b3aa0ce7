package graph

import "github.com/gotorch-dev/torch/tensor"

// Strings is a tensor of strings, which ONNX has and PyTorch has not: its elements in row-major order. As a value of a
// program it stands in a box (see [Box]); only operators of the namespace onnx look into it.
type Strings struct {
	Shape []int
	Data  []string
}

// StringTensor is the static type of [Strings].
var StringTensor = &Type{Kind: OpaqueType, Name: "Strings"}

// NewStrings makes a value of strings of a shape; without one it is a vector. A shape that wants another number of
// strings is an error of shape, a *tensor.Error that it panics with.
func NewStrings(data []string, shape ...int) tensor.Value {
	if shape == nil {
		shape = []int{len(data)}
	}
	n := 1
	for _, d := range shape {
		n *= d
	}
	if n != len(data) {
		tensor.Fail(tensor.ErrShape, "%d strings do not fill shape %s", len(data), tensor.ShapeString(shape))
	}
	return Box(&Strings{Shape: shape, Data: data})
}

// String describes the value: "strings[2, 3]".
func (s *Strings) String() string {
	return "strings" + tensor.ShapeString(s.Shape)
}

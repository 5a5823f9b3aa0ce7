package onnx

import (
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// value is what the translator knows of one value of an ONNX graph.
type value struct {
	g     *graph.Value // its place in the program; nil for a constant that no node has read yet
	kind  onnxpb.Kind
	elem  onnxpb.DataType     // of a tensor, or of the tensors of a sequence; 0: unknown
	rank  int                 // of a tensor; -1: unknown
	konst *tensor.Tensor      // of a constant
	made  func() *graph.Value // of a constant: adds it to the program in another way than as konst; nil for that
}

func constant(t *tensor.Tensor, elem onnxpb.DataType) *value {
	return &value{kind: onnxpb.KindTensor, elem: elem, rank: t.Dim(), konst: t}
}

// typeOf is the static type in package graph of values of an ONNX type.
func typeOf(t *onnxpb.Type) *graph.Type {
	if t == nil {
		return graph.Tensor
	}
	switch t.Kind {
	case onnxpb.KindSequence:
		return graph.ListOf(typeOf(t.Elem))
	case onnxpb.KindOptional:
		return graph.OptionalOf(typeOf(t.Elem))
	}
	if t.DataType == onnxpb.String {
		return graph.StringTensor
	}
	return graph.Tensor
}

// elemTypeOf is the type of the elements of the tensors that a value of this type is or holds.
func elemTypeOf(t *onnxpb.Type) onnxpb.DataType {
	for d := 0; t != nil && d < onnxpb.MaxDepth; d++ {
		if t.Kind == onnxpb.KindTensor || t.Kind == onnxpb.KindSparse {
			return t.DataType
		}
		t = t.Elem
	}
	return onnxpb.Undefined
}

// scope is where names are looked up: that of a graph, inside that of the graph that holds it, or that of a function,
// which sees nothing outside.
type scope struct {
	parent *scope
	vals   map[string]*value
	attrs  map[string]*onnxpb.Attr // of the call of a function
	opsets map[string]int
}

func (s *scope) find(name string) *value {
	for ; s != nil; s = s.parent {
		if v := s.vals[name]; v != nil {
			return v
		}
	}
	return nil
}

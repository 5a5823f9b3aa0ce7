// Package onnxform says how operators are written into ONNX files.
//
// The types to know: a [Form] writes one call of an operator; [Register] declares it, in the folder of the operator. A
// form is given the [Call], which has the arguments, what the results will be, and the methods that add nodes to the
// file; a [Value] is a tensor of the file. An operator that is one node with the arguments in the same places needs no
// form: the line of tensor.RegisterONNX that is read for imports is used backwards.
package onnxform

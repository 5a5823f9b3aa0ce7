// Package onnxpb reads and writes the messages of ONNX files: models, tensors, sequences and optionals.
//
// The messages and their field numbers are those of the schema that the format's authors publish
// (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). The types here hold what a reader of programs needs of
// them. Byte strings, raw tensors among them, are slices of the input: nothing is copied, so that a file that is mapped
// into memory stays where it is.
//
// [ReadModel], [ReadTensor], [ReadSequence] and [ReadOptional] take one whole message each. What they allocate is at
// most a constant times the length of the input, and messages inside messages go down [MaxDepth] levels.
package onnxpb

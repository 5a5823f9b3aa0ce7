// Package onnx loads ONNX models and runs them: the files that torch.onnx.export, Olive and the converters of other
// frameworks write. It writes them, too: [Export].
//
//	m, err := onnx.Open("model.onnx")
//	…
//	defer m.Close()
//	out, err := m.Run(ctx, map[string]*torch.Tensor{"input": x}) // from any number of goroutines
//	y := out["output"]
//
// The types to know: a [Model] is a [graph.Model] with inputs, outputs and metadata; [Open], [OpenFS] and [Read] make
// one of a path, a file of an fs.FS such as embed.FS, or an io.ReaderAt. [NodeError] says which node of a file is the
// trouble, [ErrUnsupported] that it is well-formed but uses what is not there, [ErrInput] that an input of Run is
// wrong.
//
// # What is read
//
// The default domain from version 7 to the newest, ai.onnx.ml where it computes with numbers
// and labels, the operators of
// com.microsoft that PyTorch, Olive and ONNX Runtime's optimizer write, functions of the model's own, If, Loop, Scan,
// sequences, optionals, quantized operators, symbolic dimensions, and weights in other files below the model's folder.
// ImageDecoder reads the formats that a program links, as package image does (import _ "image/png").
// Tensors of strings are graph.Strings, which [Model.RunValues] takes and gives. Not read are sequences of strings,
// maps as inputs, training information and sparse inputs.
//
// Where the text of the standard leaves open what an operator does, results are ONNX Runtime's. Integers of two and
// four bits are held in int8 and uint8, and float4e2m1 in float32.
//
// # How it runs
//
// A file is translated once into a program of package graph, whose operators are those of package torch: [tensor.Op]
// where an ONNX operator is one of PyTorch's, several of them where it is composed, and helpers of the namespace onnx
// where the result depends on shapes or numbers that are known only when the program runs. Nodes whose inputs are all
// constants are computed when the model is loaded.
//
// # How it is written
//
// Export records a module (package jit) and runs the recording with stand-ins for its tensors (export_value.go): lists,
// numbers and objects are those of a run, and each operator on tensors adds the nodes that its form makes
// (internal/onnxform, ops/<family>/onnx.go). A stand-in has two shapes, with two values of each size that may differ:
// what comes out equal is a number in the file, the rest is computed by it. Writes become new values (export_write.go),
// conditions and loops on data become If and Loop (export_control.go).
package onnx

import (
	_ "github.com/gotorch-dev/torch/ops/all" // links the operators
	_ "github.com/gotorch-dev/torch/ops/vision"
)

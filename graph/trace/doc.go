// Package trace records programs: it runs a Go function or a module once on example inputs and writes down, as a
// function of package graph, which operators were called.
//
// The types to know: [Record] gives a [Program], which holds the graph (Func), the module's tensors as attributes of an
// object (Self), and how the tensors of arguments and results lie in Go's values ([Form]). A Program is a graph.Model;
// package jit makes modules of it, and exporters read it.
//
// What is recorded are PyTorch's operators, as PyTorch's tracer sees them: aten::linear, aten::conv2d,
// aten::batch_norm, aten::lstm; functions of nn/functional and fused operators are recorded as the operators that they
// are made of. Each node tells in which call of which module it was recorded (graph.Node.Scope) and on which line of Go
// (Pos), each value of a tensor what the example's was like (graph.Value.Info). Operators in place and views are
// recorded as they are, and run again as they are.
//
// What Go code does beside calling operators is not recorded. The elements of tensors that Go code reads give a
// TracerWarning (tensor.SetWarnings), and stay what they were; with Options.Strict they are an error. Sizes are Go's
// ints, so that a program is recorded for the sizes of its example, but for those that Options.Dynamic names: then the
// function is recorded with several sizes, and a number that differs between the recordings becomes an expression of
// sizes in the graph. A program whose operators themselves depend on a size, as with a loop over it, is refused, with
// the line.
//
// [Capture] records a function for the very sizes of its arguments, and tells what Go code does beside the operators:
// nn/utils.OptimizeForInference decides by it whether the recording may stand for a module.
package trace

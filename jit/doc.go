// Package jit loads TorchScript: the archives that torch.jit.save writes, of all versions with code in them, and
// programs for the lite interpreter.
//
// The types to know: [LoadFile] and [Load] give a [Module], which is called with [Module.Forward] or [Module.Call],
// serves as a graph.Model with [Module.Run], and has the parameters, the state dict and the submodules of the Python
// module. It can be trained further: gradients are recorded in the mode of the calling goroutine, and NamedParameters
// gives the tensors for an optimizer.
//
// An archive holds source code in a part of Python, pickled objects, and tensors. The code is parsed (lexer.go,
// parser.go), its classes and functions are declared (source.go), and the functions are translated into graphs
// (translate.go, expr.go, call.go), which package graph checks and runs. Overloads are chosen by static types as in
// TorchScript's compiler. Operators that have changed since an archive was written keep their old meaning (upgrade.go).
// Code is never run as Python, and nothing is executed but registered operators.
//
// What is not there: operators on quantized tensors, classes that C++ libraries register (torch.classes), and remote
// calls. A method that needs one of them is refused with a *graph.MissingError that names it. fork runs the forked
// function at once.
//
// https://pytorch.org/docs/stable/jit_language_reference.html
package jit

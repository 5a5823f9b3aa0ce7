// Package jit loads and makes TorchScript: it reads the archives that torch.jit.save writes, of all versions with code
// in them, and programs for the lite interpreter, and makes such programs of Go's modules.
//
// The types to know: [LoadFile] and [Load] give a [Module], which is called with [Module.Forward] or [Module.Call],
// serves as a graph.Model with [Module.Run], and has the parameters, the state dict and the submodules of the Python
// module. It can be trained further: gradients are recorded in the mode of the calling goroutine, and NamedParameters
// gives the tensors for an optimizer.
//
// [Trace] and [Script] record a module or a function of Go's (record.go) with package graph/trace; a [List] or a [Dict]
// (container.go) becomes one of the program. The recording becomes classes with methods (classes.go), which are printed
// as code by the rules of PyTorch's printer (python.go). [Module.Save] writes an archive (save.go) of a recorded or a
// loaded module; modules of other programs may be part of it. [If], [For] and [While] are branches and loops of Go's
// that become those of the program.
//
// An archive holds source code in a part of Python, pickled objects, and tensors. The code is parsed (lexer.go,
// parser.go), its classes and functions are declared (source.go), and the functions are translated into graphs
// (translate.go, expr.go, call.go), which package graph checks and runs. Overloads are chosen by static types as in
// TorchScript's compiler. Operators that have changed since an archive was written keep their old meaning (upgrade.go).
// Code is never run as Python, and nothing is executed but registered operators.
//
// What is not there: classes that C++ libraries register (torch.classes), but for the packed parameters of quantized
// layers, and remote calls. A method that needs one of them is refused with a *graph.MissingError that names it. fork
// runs the forked function at once.
//
// https://pytorch.org/docs/stable/jit_language_reference.html
package jit

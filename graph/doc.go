// Package graph is the one form that programs have here, whichever file they come from: TorchScript archives, ONNX
// files and torch.export archives are translated into it, and one executor runs it.
//
// The types to know: a [Function] has a [Block] of [Node]s, which compute [Value]s; every value is defined once (static
// single assignment, the form of PyTorch's torch._C.Graph, whose names and kinds of nodes these are). A node calls an
// operator of the registry of package tensor, or a helper that [Register] has added (the length of a list), or is one
// of the structural kinds: constants, If, Loop, lists, tuples, dictionaries, attributes, calls, exceptions. The methods
// of Block build it, [Function.Verify] checks it, [Function.String] prints it as PyTorch prints graphs, and
// [Function.Run] runs it. A front end hands its user a [Model].
//
// Values at run time are tensor.Value, in which numbers, bools and tensors lie without an allocation; [List], [Dict],
// [Tuple] and [Object] are shared by reference, as in Python. The numbers of dtypes, memory formats and layouts are
// those of PyTorch's enumerations ([DTypeNumber]); a parameter of an operator that is a dtype takes them.
//
// [Function.Fuse] joins operators for inference, before the first run; [Freeze] does so for a method of an object as
// long as that does not change.
//
// A function is compiled once into a flat list of instructions on numbered registers. The compiler knows which values
// nobody reads any more, and which memory only the function knows: such tensors are freed at once where no gradients
// are recorded. After that a function does not change, and any number of goroutines run it without locks.
package graph

// Package serialize saves and loads what PyTorch's torch.save and torch.load do: tensors, state dicts, and plain values
// made of them. [LoadStateDict] reads weights from files of any format: torch.save's of all versions, pickles,
// TorchScript, safetensors, npz, GGUF, and folders of several files.
//
// Files are real PyTorch files: Python's torch.load(weights_only=True) opens what Save writes. Loading never executes
// anything; a broken or hostile file gives an error.
//
// The types to know are [Dict] and [Tuple] for Python's containers, [LoadOptions], and what comes back for values that
// have no counterpart here: [Object] and [Global] describe what a file says about classes and functions, [Opaque] is a
// tensor of an unknown dtype.
package serialize

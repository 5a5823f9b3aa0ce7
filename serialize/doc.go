// Package serialize saves and loads what PyTorch's torch.save and torch.load do: tensors, state dicts, and plain values
// made of them.
//
// Files are real PyTorch files: Python's torch.load(weights_only=True) opens what Save writes. Loading never executes
// anything; a broken or hostile file gives an error.
package serialize

// Package autograd holds what goes beyond Tensor.Backward: gradients as values, derivatives of functions, functions
// with a gradient of their own, activation checkpointing, and tools that find faulty gradients.
package autograd

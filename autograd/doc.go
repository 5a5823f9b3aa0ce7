// Package autograd holds what goes beyond Tensor.Backward: gradients as values, derivatives of functions, functions
// with a gradient of their own, activation checkpointing, and tools that find faulty gradients.
//
// # Several goroutines
//
// Modes belong to the goroutine that sets them: NoGrad, InferenceMode and DetectAnomaly act on the operators that the
// given function calls, and on nobody else's. A goroutine that is started inside begins without them. SetDetectAnomaly
// is for goroutines that have set no mode of their own.
//
// Backward passes of several goroutines may run at once, also over graphs that end in the same leaves: what each adds
// to a leaf's Grad is added as a whole. Their order is not determined, and with it the last digits of the sum. Two
// passes over the same graph at once are a mistake, as is reading, clearing or stepping with a gradient while a pass
// adds to it. Tensors may be read by many goroutines; one that writes to a tensor in place must be alone with it.
package autograd

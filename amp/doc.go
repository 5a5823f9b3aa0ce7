// Package amp is automatic mixed precision, torch.amp: matrix products and convolutions run in bfloat16 or float16,
// what needs more precision in float32.
//
// [Autocast] runs a function in which every operator casts its arguments by its class; [GradScaler] scales losses so
// that float16 gradients do not vanish, and skips steps whose gradients overflow. [Custom] fits an
// autograd.Function to it.
//
// https://pytorch.org/docs/stable/amp.html
package amp

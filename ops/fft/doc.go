// Package fft holds Fourier transforms: PyTorch's torch.fft, torch.stft and torch.istft, and the window functions of
// torch and torch.signal.windows.
//
// Three operators have kernels, _fft_c2c, _fft_r2c and _fft_c2r, which internal/cpu/fft computes; all others are
// composed of them as PyTorch composes them.
package fft

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)

// docs is where PyTorch documents the functions of torch.fft.
const docs = "https://pytorch.org/docs/stable/generated/torch.fft."

// How a transform is scaled, as the operators with kernels number it.
const (
	byNothing = iota
	byRootN
	byN
)

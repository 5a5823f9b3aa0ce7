// Package fft holds PyTorch's torch.fft: discrete Fourier transforms of real and complex tensors along one, two or any
// dimensions, their frequencies, and shifts of these.
//
//	spectrum := fft.RFFT(x)                                            // along the last dimension
//	y := fft.IRFFT(spectrum, fft.IRFFTOptions{N: torch.Some(x.Size(-1))})
//	image := fft.FFT2(x, fft.FFT2Options{Norm: "ortho"})
//
// Lengths may be any: the time of a transform of n numbers grows as n·log(n), for prime n too. Numbers are float32 or
// float64 and their complex counterparts; the transforms of float32 are computed in float32, those of lengths with a
// prime factor over 31 in float64.
//
// The functions are generated from the operators' schemas: required arguments are positional, the others are fields of
// one trailing options struct whose zero value is PyTorch's default. Gradients of all orders are there.
//
// https://pytorch.org/docs/stable/fft.html
package fft

import "github.com/gotorch-dev/torch" // links the operators that the functions call

// Tensor is torch.Tensor.
type Tensor = torch.Tensor

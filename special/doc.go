// Package special holds PyTorch's torch.special: the gamma, error, Bessel and Airy functions and their kin, the
// orthogonal polynomials, and the functions of the normal distribution, element by element.
//
//	y := special.Zeta(x, q)
//	p := special.Ndtr(z) // the standard normal distribution function
//
// Integers and bools are promoted to the default floating-point dtype. Values at poles, infinities, NaN and -0 are
// PyTorch's. Gradients are there for what PyTorch has gradients for.
//
// The functions are generated from the operators' schemas: required arguments are positional, the others are fields of
// one trailing options struct whose zero value is PyTorch's default. Those that have another name in torch, such as
// Gammaln for [tensor.Tensor.Lgamma], are methods of Tensor under that name as well.
//
// https://pytorch.org/docs/stable/special.html
package special

import "github.com/gotorch-dev/torch" // links the operators that the functions call

// Tensor is torch.Tensor.
type Tensor = torch.Tensor

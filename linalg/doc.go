// Package linalg holds PyTorch's torch.linalg: factorizations, solutions of systems, inverses, determinants,
// eigenvalues, singular values, norms and functions of matrices.
//
//	x := linalg.Solve(a, b)                               // A·X = B
//	q, r := linalg.QR(a)
//	u, s, vh := linalg.SVD(a, linalg.SVDOptions{NoFullMatrices: true})
//	n := linalg.MatrixNorm(a, linalg.MatrixNormOptions{Ord: "nuc"})
//
// The last two dimensions of a tensor are the matrices, those before them a batch, whose matrices are worked on in
// parallel. Matrices are float32, float64, complex64 or complex128; float32 is computed in float64. Gradients are there
// where PyTorch has them. A matrix that cannot be factored is an error of cause [LinAlgError].
//
// The functions are generated from the operators' schemas: required arguments are positional, the others are fields of
// one trailing options struct whose zero value is PyTorch's default.
//
// https://pytorch.org/docs/stable/linalg.html
package linalg

import "github.com/gotorch-dev/torch" // links the operators that the functions call

// Tensor is torch.Tensor.
type Tensor = torch.Tensor

// LinAlgError is the cause of errors about matrices that cannot be factored or inverted, for errors.Is; it is
// torch.ErrLinAlg.
var LinAlgError = torch.ErrLinAlg //nolint:staticcheck // PyTorch's name

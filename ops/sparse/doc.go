// Package sparse holds the operators of sparse tensors in coordinate format (COO), and what other operators do with
// such tensors.
//
//	create.go    sparse_coo_tensor: from indices and values
//	parts.go     indices, values, coalesce and numbers of dimensions
//	convert.go   to_dense, to_sparse, sparse_mask
//	arith.go     kernels of add, mul, div, neg, clone and their like for sparse arguments
//	reduce.go    sums and norms
//	order.go     positions as single numbers, and sorting them
//
// A tensor of shape S has an int64 matrix of indices [sparse dimensions, nnz] and values [nnz, dense dimensions...];
// see https://pytorch.org/docs/stable/sparse.html#sparse-coo-tensors and docs/adr/0010-sparse.md.
package sparse

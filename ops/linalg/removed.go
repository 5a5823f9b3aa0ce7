package linalg

import "github.com/gotorch-dev/torch/tensor"

const (
	gone    = "This function was deprecated since version 1.9 and is now removed."
	removal = "is removed from PyTorch: a call panics with the name of what replaces it.\n\n" +
		"Deprecated: PyTorch has removed it. See linalg."
)

// Functions that PyTorch has removed are there to say so.
func init() {
	removed("torch::solve(Tensor self, Tensor A) -> (Tensor, Tensor)", removal+"Solve.",
		gone+" `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its "+
			"arguments reversed and does not return the LU factorization.\n\nTo get the LU factorization see "+
			"`torch.lu`, which can be used with `torch.lu_solve` or `torch.lu_unpack`.\nX = torch.solve(B, "+
			"A).solution should be replaced with:\nX = torch.linalg.solve(A, B)")
	removed("torch::lstsq(Tensor self, Tensor A) -> (Tensor, Tensor)", removal+"Lstsq.",
		gone+" `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.linalg.lstsq` has reversed "+
			"arguments and does not return the QR decomposition in the returned tuple (although it returns other "+
			"information about the problem).\n\nTo get the QR decomposition consider using `torch.linalg.qr`.")
	removed("torch::eig(Tensor self, bool eigenvectors=False) -> (Tensor, Tensor)", removal+"Eig.",
		gone+" `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors "+
			"mimicking complex tensors.\n\nL, _ = torch.eig(A) should be replaced with:\nL_complex = "+
			"torch.linalg.eigvals(A)\n\nand\n\nL, V = torch.eig(A, eigenvectors=True) should be replaced "+
			"with:\nL_complex, V_complex = torch.linalg.eig(A)")
	removed("torch::symeig(Tensor self, bool eigenvectors=False, bool upper=True) -> (Tensor, Tensor)", removal+"Eigh.",
		gone+" The default behavior has changed from using the upper triangular portion of the matrix by default "+
			"to using the lower triangular portion.\n\nL, _ = torch.symeig(A, upper=upper) should be replaced "+
			"with:\nL = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\nL, V = torch.symeig(A, "+
			"eigenvectors=True) should be replaced with:\nL, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')")
	removed("torch::matrix_rank(Tensor input, float? tol=None, bool symmetric=False) -> Tensor", removal+"MatrixRank.",
		gone+"\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed "+
			"in `torch.linalg.matrix_rank()` to 'hermitian'.")
	removed("torch::qr(Tensor self, bool some=True) -> (Tensor, Tensor)", removal+"QR.",
		gone+" `torch.qr` is deprecated in favor of `torch.linalg.qr` and the boolean parameter `some` has been "+
			"replaced with a string parameter `mode`.\n\nQ, R = torch.qr(A) should be replaced with:\nQ, R = "+
			"torch.linalg.qr(A, mode='reduced')\n\nand\n\nQ, R = torch.qr(A, some=False) should be replaced "+
			"with:\nQ, R = torch.linalg.qr(A, mode='complete')")
	removed("torch::cholesky(Tensor self, bool upper=False) -> Tensor", removal+"Cholesky.",
		gone+" `torch.cholesky` is deprecated in favor of `torch.linalg.cholesky`.\nL = torch.cholesky(A) should "+
			"be replaced with:\nL = torch.linalg.cholesky(A)\nU = torch.cholesky(A, upper=True) should be "+
			"replaced with:\nU = torch.linalg.cholesky(A).mH")
}

// removed registers a function that panics with a text.
//
//gen:removed
func removed(schema, doc, text string) {
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc,
		Body: func(c *Ctx) { c.Fail(tensor.ErrNotImpl, "%s", text) },
	})
}

package nninit

// This file has the functions under the names that PyTorch's, which end in an underscore, have by the rule for methods
// in place: normal_ is NormalInPlace. They are those without the suffix.

// UniformInPlace is Uniform.
func UniformInPlace(t *Tensor, a, b float64, opts ...GeneratorOptions) *Tensor {
	return Uniform(t, a, b, opts...)
}

// NormalInPlace is Normal.
func NormalInPlace(t *Tensor, mean, std float64, opts ...GeneratorOptions) *Tensor {
	return Normal(t, mean, std, opts...)
}

// TruncNormalInPlace is TruncNormal.
func TruncNormalInPlace(t *Tensor, opts ...TruncNormalOptions) *Tensor {
	return TruncNormal(t, opts...)
}

// ConstantInPlace is Constant.
func ConstantInPlace(t *Tensor, v float64) *Tensor { return Constant(t, v) }

// OnesInPlace is Ones.
func OnesInPlace(t *Tensor) *Tensor { return Ones(t) }

// ZerosInPlace is Zeros.
func ZerosInPlace(t *Tensor) *Tensor { return Zeros(t) }

// EyeInPlace is Eye.
func EyeInPlace(t *Tensor) *Tensor { return Eye(t) }

// DiracInPlace is Dirac.
func DiracInPlace(t *Tensor, opts ...DiracOptions) *Tensor { return Dirac(t, opts...) }

// XavierUniformInPlace is XavierUniform.
func XavierUniformInPlace(t *Tensor, opts ...XavierOptions) *Tensor { return XavierUniform(t, opts...) }

// XavierNormalInPlace is XavierNormal.
func XavierNormalInPlace(t *Tensor, opts ...XavierOptions) *Tensor { return XavierNormal(t, opts...) }

// KaimingUniformInPlace is KaimingUniform.
func KaimingUniformInPlace(t *Tensor, opts ...KaimingOptions) *Tensor {
	return KaimingUniform(t, opts...)
}

// KaimingNormalInPlace is KaimingNormal.
func KaimingNormalInPlace(t *Tensor, opts ...KaimingOptions) *Tensor {
	return KaimingNormal(t, opts...)
}

// OrthogonalInPlace is Orthogonal.
func OrthogonalInPlace(t *Tensor, opts ...OrthogonalOptions) *Tensor { return Orthogonal(t, opts...) }

// SparseInPlace is Sparse.
func SparseInPlace(t *Tensor, sparsity float64, opts ...SparseOptions) *Tensor {
	return Sparse(t, sparsity, opts...)
}

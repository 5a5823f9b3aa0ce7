package nninit

// PyTorch's names end in "_", and its names without "_" are deprecated; here both forms say the same.

// UniformInPlace is [Uniform] under PyTorch's name, uniform_.
func UniformInPlace(t *Tensor, a, b float64, opts ...GeneratorOptions) *Tensor {
	return Uniform(t, a, b, opts...)
}

// NormalInPlace is [Normal] under PyTorch's name, normal_.
func NormalInPlace(t *Tensor, mean, std float64, opts ...GeneratorOptions) *Tensor {
	return Normal(t, mean, std, opts...)
}

// TruncNormalInPlace is [TruncNormal] under PyTorch's name, trunc_normal_.
func TruncNormalInPlace(t *Tensor, opts ...TruncNormalOptions) *Tensor { return TruncNormal(t, opts...) }

// ConstantInPlace is [Constant] under PyTorch's name, constant_.
func ConstantInPlace(t *Tensor, v float64) *Tensor { return Constant(t, v) }

// OnesInPlace is [Ones] under PyTorch's name, ones_.
func OnesInPlace(t *Tensor) *Tensor { return Ones(t) }

// ZerosInPlace is [Zeros] under PyTorch's name, zeros_.
func ZerosInPlace(t *Tensor) *Tensor { return Zeros(t) }

// EyeInPlace is [Eye] under PyTorch's name, eye_.
func EyeInPlace(t *Tensor) *Tensor { return Eye(t) }

// DiracInPlace is [Dirac] under PyTorch's name, dirac_.
func DiracInPlace(t *Tensor, opts ...DiracOptions) *Tensor { return Dirac(t, opts...) }

// XavierUniformInPlace is [XavierUniform] under PyTorch's name, xavier_uniform_.
func XavierUniformInPlace(t *Tensor, opts ...XavierOptions) *Tensor { return XavierUniform(t, opts...) }

// XavierNormalInPlace is [XavierNormal] under PyTorch's name, xavier_normal_.
func XavierNormalInPlace(t *Tensor, opts ...XavierOptions) *Tensor { return XavierNormal(t, opts...) }

// KaimingUniformInPlace is [KaimingUniform] under PyTorch's name, kaiming_uniform_.
func KaimingUniformInPlace(t *Tensor, opts ...KaimingOptions) *Tensor {
	return KaimingUniform(t, opts...)
}

// KaimingNormalInPlace is [KaimingNormal] under PyTorch's name, kaiming_normal_.
func KaimingNormalInPlace(t *Tensor, opts ...KaimingOptions) *Tensor { return KaimingNormal(t, opts...) }

// OrthogonalInPlace is [Orthogonal] under PyTorch's name, orthogonal_.
func OrthogonalInPlace(t *Tensor, opts ...OrthogonalOptions) *Tensor { return Orthogonal(t, opts...) }

// SparseInPlace is [Sparse] under PyTorch's name, sparse_.
func SparseInPlace(t *Tensor, sparsity float64, opts ...SparseOptions) *Tensor {
	return Sparse(t, sparsity, opts...)
}

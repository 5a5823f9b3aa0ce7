package pointwise

import "github.com/gotorch-dev/torch/tensor"

// The operators of the family that take the types made for storage: those for which PyTorch has kernels. Elementwise
// operators take them besides wherever a common type to compute in is found.
func init() {
	const all = tensor.TakesStorage
	tensor.RegisterStorage(all, "eq", "ne", "equal", "isfinite", "isinf", "isnan", "isreal", "isclose", "positive")
	tensor.RegisterStorage(all|tensor.Moves, "where")
	tensor.RegisterStorage(tensor.TakesUnsigned, "mul", "bitwise_and", "bitwise_or", "bitwise_xor", "floor", "ceil",
		"round", "trunc", "isneginf", "isposinf", "signbit", "nan_to_num")
	tensor.RegisterStorage(tensor.TakesUnsigned|tensor.Orders, "maximum", "minimum", "max.other", "min.other", "fmax",
		"fmin", "clamp", "clamp_max", "clamp_min", "relu", "hardtanh", "relu6")
	tensor.RegisterStorage(tensor.TakesComplexHalf, "_conj_physical", "abs", "neg", "sgn", "add", "sub", "rsub", "mul",
		"addcmul")
	tensor.RegisterStorage(tensor.TakesFloat8, "abs", "mul")
	tensor.RegisterStorage(tensor.TakesScales, "mul")
}

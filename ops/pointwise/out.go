package pointwise

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("_conj_physical", "abs", "bitwise_and.Scalar_Tensor", "bitwise_left_shift.Scalar_Tensor",
		"bitwise_or.Scalar_Tensor", "bitwise_right_shift.Scalar_Tensor", "bitwise_xor.Scalar_Tensor", "ceil",
		"conj_physical", "floor", "frac", "frexp.Tensor", "gelu", "hardshrink", "log_sigmoid", "nan_to_num", "neg",
		"relu", "round", "rrelu_with_noise_backward", "rsub.Tensor", "sgn", "sign", "softplus", "softshrink", "trunc",
		"where.self")
	tensor.RegisterOutType("Found dtype {got} but expected {want}", "bitwise_not", "clamp.out", "clip.out",
		"clamp_max.out", "clamp_min.out", "elu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
		"lerp.Tensor_out", "mish", "silu",
		"special_round")
	tensor.RegisterOutType("the output given to float_power has dtype {got} but the operation's result requires "+
		"dtype {want}", "float_power")
	tensor.RegisterOutType("the base given to float_power_ has dtype {got} but the operation's result requires dtype "+
		"{want}", "float_power_")
	tensor.RegisterOutType("heaviside is not yet implemented for tensors with different dtypes.", "heaviside")
	tensor.RegisterOutType("isneginf does not support non-boolean outputs.", "isneginf")
	tensor.RegisterOutType("isposinf does not support non-boolean outputs.", "isposinf")
	tensor.RegisterOutType("signbit does not support non-boolean outputs.", "signbit")
}

package pointwise

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		// functions of one number, by the range in which they are defined
		"abs angle atan asinh ceil cos cosh deg2rad digamma erf erfc exp exp2 expm1 floor frac i0 isfinite isinf "+
			"isnan isneginf isposinf isreal neg positive "+
			"rad2deg relu relu6 round sgn sigmoid sign signbit sin sinc sinh square tanh trunc zero logical_not "+
			"nan_to_num conj_physical conj "+
			"selu silu mish hardsigmoid hardswish log_sigmoid special_i0e special_i1 special_i1e special_erfcx "+
			"special_ndtr special_log_ndtr "+
			"special_modified_bessel_i0 special_modified_bessel_i1 special_bessel_j0 special_bessel_j1 "+
			"special_spherical_bessel_j0 special_airy_ai "+
			"resolve_conj resolve_neg F::relu F::relu6 F::selu F::sigmoid F::silu F::mish F::tanh F::tanhshrink "+
			"F::softsign F::logsigmoid "+
			"F::hardsigmoid F::hardswish F::relu_ F::selu_ :: 3x4 ; 2x3x5 ; 7 ; s",
		"acos asin atanh erfinv :: 3x4@-0.9..0.9 ; 7@-0.5..0.5 ; s@-0.9..0.9",
		"tan :: 3x4@-1.2..1.2 ; s",
		"acosh :: 3x4@1.1..4 ; s@1.1..4",
		"log log10 log2 sqrt rsqrt reciprocal lgamma special_entr special_modified_bessel_k0 "+
			"special_modified_bessel_k1 special_scaled_modified_bessel_k0 "+
			"special_scaled_modified_bessel_k1 special_bessel_y0 special_bessel_y1 :: 3x4@0.3..4 ; 2x3x5@0.3..4 ; "+
			"s@0.3..4",
		"log1p :: 3x4@-0.8..3 ; s@-0.8..3",
		"logit :: 3x4@0.1..0.9 ; 3x4@0.1..0.9 eps=0.2 ; s@0.1..0.9",
		"special_ndtri :: 3x4@0.1..0.9 ; s@0.1..0.9",
		"mvlgamma :: 3x4@2.1..5 2",
		"polygamma :: 1 3x4@0.5..3 ; 2 3x4@0.5..3 | tol=1e-3",
		"polygamma_ :: 3x4@0.5..3 1", "relu6_ selu_ :: 3x4 ; 7@-2..8",
		"bitwise_not :: 3x4:i-5..5 ; 3x4:b ; s:i5",
		"round.decimals special_round :: 3x4 decimals=1 ; 3x4@-200..200 decimals=-1",
		"frexp.Tensor :: 3x4",
		"real imag _conj :: 3x4:c ; s:c",
		"_conj_physical _neg_view :: 3x4 ; 3x4:c ; s",
		"complex :: 3x4 3x4",
		"polar :: 3x4@0.1..2 3x4",
		"view_as_real :: 3x4:c",
		"view_as_complex :: 3x4x2 | nolayout",
		// functions of two
		"add.Tensor sub.Tensor rsub.Tensor :: 3x4 3x4 ; 3x4 3x4 alpha=2 ; 3x4 4 ; 3x1 1x4 ; 3x4 s ; 3x4:i9 3x4",
		"mul.Tensor :: 3x4 3x4 ; 3x4 4 ; 3x1 1x4 ; 3x4 s ; 3x4:i9 3x4 ; 3x4:c 3x4:c",
		"div.Tensor :: 3x4 3x4@0.5..2 ; 3x4 4@0.5..2 ; 3x1 1x4@0.5..2 ; 3x4:i9 3x4:i1..9",
		"div.Tensor_mode :: 3x4 3x4@0.5..2 rounding_mode=None ; 3x4 3x4@0.5..2 rounding_mode=floor ; 3x4 3x4@0.5..2 "+
			"rounding_mode=trunc ; 3x4:i-9..9 3x4:i1..5 rounding_mode=floor",
		"floor_divide :: 3x4 3x4@0.5..2 | nograd ; 3x4 4@0.5..2 | nograd ; 3x4:i-9..9 3x4:i1..5 | nograd",
		"fmod.Tensor remainder.Tensor :: 3x4 3x4@0.5..2 ; 3x4 4@0.5..2 ; 3x4:i-9..9 3x4:i1..5",
		"remainder.Scalar_Tensor :: 3.5 3x4@0.5..2",
		"pow.Tensor_Tensor :: 3x4@0.5..2 3x4 ; 3x4@0.5..2 4 ; 3x4:i1..5 3x4:i4",
		"pow.Tensor_Scalar :: 3x4@0.5..2 2 ; 3x4@0.5..2 0.5 ; 3x4 3 ; 3x4:i5 2",
		"pow.Scalar :: 2 3x4 ; 0.5 3x4",
		"float_power.Scalar :: 2 3x4",
		"float_power.Tensor_Scalar :: 3x4@0.5..2 2.5",
		"float_power.Tensor_Tensor :: 3x4@0.5..2 3x4",
		"maximum minimum fmax fmin max.other min.other atan2 hypot copysign.Tensor logaddexp logaddexp2 :: 3x4 3x4 ; "+
			"3x4 4 ; 3x1 1x4",
		"eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor :: 3x4 3x4 ; 3x4:i3 3x4:i3 ; 3x1 1x4",
		"logical_and logical_or logical_xor :: 3x4:b 3x4:b ; 3x4 4:b",
		"bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor __and__.Tensor __or__.Tensor __xor__.Tensor "+
			"__iand__.Tensor __ior__.Tensor __ixor__.Tensor "+
			"Tensor::__rand__.Tensor Tensor::__ror__.Tensor Tensor::__rxor__.Tensor :: 3x4:i9 3x4:i9 ; 3x4:b 3x4:b ; "+
			"3x4:i9 4:i9",
		"bitwise_left_shift.Tensor bitwise_right_shift.Tensor __lshift__.Tensor __rshift__.Tensor __ilshift__.Tensor "+
			"__irshift__.Tensor :: 3x4:i9 3x4:i4 ; 3x4:i9 4:i4",
		"bitwise_and.Scalar_Tensor bitwise_or.Scalar_Tensor bitwise_xor.Scalar_Tensor "+
			"bitwise_left_shift.Scalar_Tensor bitwise_right_shift.Scalar_Tensor :: 5 3x4:i4",
		"bitwise_left_shift.Tensor_Scalar bitwise_right_shift.Tensor_Scalar __and__.Scalar __or__.Scalar "+
			"__xor__.Scalar __iand__.Scalar __ior__.Scalar "+
			"__ixor__.Scalar __lshift__.Scalar __rshift__.Scalar __ilshift__.Scalar __irshift__.Scalar :: 3x4:i9 2",
		"gcd lcm :: 3x4:i1..20 3x4:i1..20 ; 3x4:i1..20 4:i1..20",
		"heaviside :: 3x4 3x4 | nograd ; 3x4 4 | nograd", "nextafter :: 3x4 3x4 ; 3x4 4",
		"igamma igammac special_zeta :: 3x4@1.5..4 3x4@0.5..3 | nograd tol=1e-3",
		"special_zeta.other_scalar :: 3x4@1.5..4 2 | nograd",
		"special_zeta.self_scalar :: 2 3x4@0.5..3 | nograd",
		"xlogy.Tensor special_xlog1py :: 3x4 3x4@0.5..2 ; 3x4 4@0.5..2",
		"xlogy.Scalar_Other special_xlogy.other_scalar special_xlog1py.other_scalar :: 3x4 1.5",
		"xlogy.Scalar_Self special_xlogy.self_scalar special_xlog1py.self_scalar :: 1.5 3x4@0.5..2",
		"ldexp.Tensor :: 3x4 3x4:i3",
		"lerp.Tensor :: 3x4 3x4 3x4@0..1 ; 3x4 4 3x1@0.6..1",
		"addcmul :: 3x4 3x4 4 ; 3x4 3x4 3x4 value=2",
		"addcdiv :: 3x4 3x4 3x4@0.5..2 ; 3x4 3x4 4@0.5..2 value=2",
		"where.self :: 3x4:b 3x4 3x4 ; 4:b 3x4 3x1",
		"where.ScalarOther :: 3x4:b 3x4 1.5",
		"where.ScalarSelf :: 3x4:b 1.5 3x4",
		"where.Scalar :: 3x4:b 1.5 2.5",
		"clamp F::hardtanh F::hardtanh_ hardtanh :: 3x4 -0.5 0.7 ; 7 -1 1",
		"clamp.Tensor :: 3x4 3x4@-1..0 3x4@0..1 ; 3x4 4@-1..0",
		"clamp_max clamp_min :: 3x4 0.5",
		"clamp_max.Tensor clamp_min.Tensor :: 3x4 3x4 ; 3x4 4",
		"isclose :: 3x4 3x4 ; 3x4 3x4 0.5 0.5",
		"allclose :: 3x4 3x4",
		"equal :: 3x4 3x4 ; 3x4 4x3",
		"cross linalg_cross :: 4x3 4x3 dim=1",
		"special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "+
			"special_chebyshev_polynomial_w special_hermite_polynomial_h "+
			"special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p "+
			"special_shifted_chebyshev_polynomial_t "+
			"special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "+
			"special_shifted_chebyshev_polynomial_w :: 3x4@0.1..0.9 3x4:i4",
		"special_chebyshev_polynomial_t.n_scalar special_chebyshev_polynomial_u.n_scalar "+
			"special_chebyshev_polynomial_v.n_scalar special_chebyshev_polynomial_w.n_scalar "+
			"special_hermite_polynomial_h.n_scalar special_hermite_polynomial_he.n_scalar "+
			"special_laguerre_polynomial_l.n_scalar special_legendre_polynomial_p.n_scalar "+
			"special_shifted_chebyshev_polynomial_t.n_scalar special_shifted_chebyshev_polynomial_u.n_scalar "+
			"special_shifted_chebyshev_polynomial_v.n_scalar "+
			"special_shifted_chebyshev_polynomial_w.n_scalar :: 3x4@0.1..0.9 3",
		"special_chebyshev_polynomial_t.x_scalar special_chebyshev_polynomial_u.x_scalar "+
			"special_chebyshev_polynomial_v.x_scalar special_chebyshev_polynomial_w.x_scalar "+
			"special_hermite_polynomial_h.x_scalar special_hermite_polynomial_he.x_scalar "+
			"special_laguerre_polynomial_l.x_scalar special_legendre_polynomial_p.x_scalar "+
			"special_shifted_chebyshev_polynomial_t.x_scalar special_shifted_chebyshev_polynomial_u.x_scalar "+
			"special_shifted_chebyshev_polynomial_v.x_scalar "+
			"special_shifted_chebyshev_polynomial_w.x_scalar :: 0.3 3x4:i4",
		// activations with parameters
		"elu celu F::elu F::celu F::elu_ F::celu_ leaky_relu F::leaky_relu F::leaky_relu_ :: 3x4 ; 3x4 0.3 ; s",
		"hardshrink softshrink F::hardshrink F::softshrink :: 3x4 ; 3x4 0.8",
		"softplus F::softplus :: 3x4 ; 3x4 2 1",
		"threshold F::threshold F::threshold_ :: 3x4 0.2 0.7",
		"gelu F::gelu :: 3x4 ; 3x4 approximate=tanh ; s",
		"glu F::glu :: 3x4 ; 4x3 0 ; 2x4x3 1", "glu_backward :: 3x2 3x4 -1 ; 2x3 4x3 0",
		"prelu _prelu_kernel F::prelu :: 3x4x2 1 ",
		"rrelu rrelu_ F::rrelu F::rrelu_ :: 3x4 ; 3x4 0.1 0.3",
		"rrelu_with_noise :: 3x4 3x4 ; 3x4 3x4 0.1 0.3 true | const=1",
		"rrelu_with_noise_backward :: 3x4 3x4 3x4 0.1 0.3 true false ; 3x4 3x4 3x4 0.1 0.3 false false",
		"elu_backward :: 3x4 1 1 1 false 3x4",
		"gelu_backward hardsigmoid_backward hardswish_backward mish_backward silu_backward :: 3x4 3x4",
		"hardshrink_backward softshrink_backward threshold_backward :: 3x4 3x4 0.5",
		"hardtanh_backward :: 3x4 3x4 -1 1",
		"leaky_relu_backward :: 3x4 3x4 0.1 false",
		"log_sigmoid_backward :: 3x4 3x4 3x4",
		"logit_backward :: 3x4 3x4@0.1..0.9",
		"sigmoid_backward tanh_backward :: 3x4 3x4@0.1..0.9",
		"softplus_backward :: 3x4 3x4 1 20",
		"_prelu_kernel_backward :: 3x4 3x4 3x4",
		// Python's reflected operators
		"Tensor::__radd__.Tensor Tensor::__rmul__.Tensor :: 3x4 3x4 ; 3x4 4",
		"Tensor::__rdiv__.Tensor Tensor::__rtruediv__.Tensor :: 3x4@0.5..2 3x4",
		"Tensor::__rfloordiv__.Tensor :: 3x4@0.5..2 3x4 | nograd", "Tensor::__rmod__.Tensor :: 3x4@0.5..2 3x4",
		"Tensor::__rpow__.Tensor :: 3x4 3x4@0.5..2",
		"fill.Tensor :: 3x4 s",
	)
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32, "aten::acos", "aten::asin", "aten::cosh", "aten::erfinv",
		"aten::exp", "aten::expm1", "aten::log", "aten::log10",
		"aten::log2", "aten::log1p", "aten::reciprocal", "aten::rsqrt", "aten::sinh", "aten::tan", "aten::pow",
		"aten::softplus")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPPromote, "aten::addcdiv", "aten::addcmul", "aten::atan2",
		"aten::cross")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPLower, "aten::prelu")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::polar", "aten::view_as_complex")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPLower, "aten::prelu")
}

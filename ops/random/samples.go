package random

import "github.com/gotorch-dev/torch/internal/samples"

// The sample calls of the family; internal/samples describes the notation. A test seeds the generator before each call.
func init() {
	samples.Table(
		"bernoulli :: 3x4@0..1 | nograd nolayout", "bernoulli.p :: 3x4 0.3 | nolayout",
		"bernoulli_.Tensor :: 3x4 3x4@0..1 | nograd nolayout",
		"bernoulli_.float geometric_ :: 3x4 0.3 | nograd nolayout",
		"cauchy_ exponential_ log_normal_ normal_ random_ uniform_ :: 3x4 | nograd nolayout",
		"random_.from :: 3x4 2 9 | nograd nolayout", "random_.to :: 3x4 9 | nograd nolayout",
		"binomial :: 3x4@1..9 3x4@0..1", "poisson :: 3x4@0.5..4", "_standard_gamma :: 3x4@0.5..4 | nograd",
		"_sample_dirichlet :: 3x4@0.5..4 | nograd",
		"_standard_gamma_grad :: 3x4@0.5..4 3x4@0.2..5", "_dirichlet_grad :: 3x4@0.1..0.9 3x4@0.5..4 3x4@5..9",
		"multinomial :: 3x4@0.1..1 2 | nolayout ; 4@0.1..1 6 true",
		"normal.Tensor_Tensor :: 3x4 3x4@0.1..1 | nograd nolayout", "normal.Tensor_float :: 3x4 0.5 | nograd nolayout",
		"normal.float_Tensor :: 1 3x4@0.1..1 | nograd nolayout",
		"normal.float_float :: 1 0.5 [3,4]", "rand randn torch::rand torch::randn :: [3,4]",
		"rand.generator randn.generator :: [3,4] None",
		"rand_like randn_like torch::rand_like torch::randn_like :: 3x4 | nolayout",
		"randint.generator :: 9 [3,4] None", "randint.low_generator :: 2 9 [3,4] None",
		"rand_like.generator randn_like.generator :: 3x4 None | nolayout",
		"randint_like.generator :: 3x4 9 None | nolayout",
		"randint_like.low_generator_dtype :: 3x4 2 9 None | nolayout", "randperm.generator :: 9 None",
		"randint torch::randint :: 9 [3,4]", "randint.low torch::randint.low :: 2 9 [3,4]",
		"randint_like torch::randint_like :: 3x4 9 | nolayout",
		"randint_like.low_dtype torch::randint_like.low_dtype :: 3x4 2 9 | nolayout",
		"randperm torch::randperm :: 9",
		"dropout alpha_dropout feature_dropout feature_alpha_dropout :: 3x4 0.3 true | nolayout ; 3x4 0.3 false",
		"dropout_ alpha_dropout_ feature_dropout_ feature_alpha_dropout_ :: 3x4 0.3 true | nograd nolayout ; 3x4 0.3 "+
			"false | nograd",
		"F::gumbel_softmax :: 3x4 | nolayout ; 3x4 0.5 true dim=0 | nolayout nograd",
		"F::dropout :: 3x4 0.3 | nolayout", "F::alpha_dropout F::feature_alpha_dropout :: 3x4 0.3 true | nolayout",
		"F::dropout1d :: 2x3x4 0.3 | nolayout", "F::dropout2d :: 2x3x4x2 0.3 | nolayout",
		"F::dropout3d :: 2x3x4x2x2 0.3 | nolayout",
	)
	samples.None("dropout's own step, exercised by dropout",
		"native_dropout native_dropout_backward gotorch::dropout gotorch::noisy_dropout gotorch::dropout_noise "+
			"gotorch::feature_scale")
}

package distributions_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	. "github.com/gotorch-dev/torch/distributions"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

func num(x float32) *Tensor         { return tensor.FromSlice([]float32{x}, []int{}...) }
func vec(x ...float32) *Tensor      { return tensor.FromSlice(x) }
func vec64(x ...float64) *Tensor    { return tensor.FromSlice(x) }
func zeros(shape ...int) *Tensor    { return torch.Zeros(shape) }
func ones(shape ...int) *Tensor     { return torch.Ones(shape) }
func eye(n int) *Tensor             { return torch.Eye(n) }
func standard(shape ...int) *Normal { return NewNormal(zeros(shape...), ones(shape...)) }

// The texts are Python's.
func TestString(t *testing.T) {
	for _, c := range []struct {
		d    fmt.Stringer
		want string
	}{
		{standard(), "Normal(loc: 0.0, scale: 1.0)"},
		{standard(3), "Normal(loc: torch.Size([3]), scale: torch.Size([3]))"},
		{NewNormal(zeros(1), vec(0.1)), "Normal(loc: tensor([0.]), scale: tensor([0.1000]))"},
		{NewNormal(num(0.1), num(2)), "Normal(loc: 0.10000000149011612, scale: 2.0)"},
		{NewNormal(num(0), nn.NewParameter(num(1))),
			"Normal(loc: 0.0, scale: Parameter containing:\ntensor(1., requires_grad=True))"},
		{NewBernoulli(Probs(vec(.1, .2))), "Bernoulli(probs: torch.Size([2]))"},
		{NewBinomial(BinomialOptions{TotalCount: num(10), Logits: zeros(2)}),
			"Binomial(total_count: torch.Size([2]), logits: torch.Size([2]))"},
		{NewChi2(num(3)), "Chi2()"},
		{NewLogNormal(num(0), num(1)), "LogNormal()"},
		{NewGumbel(num(0), num(1)), "Gumbel(loc: 0.0, scale: 1.0)"},
		{NewHalfNormal(num(2)), "HalfNormal()"},
		{NewBeta(num(1), num(2)), "Beta()"},
		{NewCategorical(Logits(zeros(2, 3))), "Categorical(logits: torch.Size([2, 3]))"},
		{NewOneHotCategorical(Probs(ones(3))), "OneHotCategorical()"},
		{NewMultivariateNormal(zeros(2), MultivariateNormalOptions{CovarianceMatrix: eye(2)}),
			"MultivariateNormal(loc: torch.Size([2]), covariance_matrix: torch.Size([2, 2]))"},
		{NewIndependent(standard(3), 1), "Independent(Normal(loc: torch.Size([3]), scale: torch.Size([3])), 1)"},
		{NewMixtureSameFamily(NewCategorical(Probs(ones(3))), standard(3)),
			"MixtureSameFamily(\n  Categorical(probs: torch.Size([3]), logits: torch.Size([3])),\n  Normal(loc: " +
				"torch.Size([3]), scale: torch.Size([3])))"},
		{NewTransformedDistribution(standard(3), []Transform{NewExpTransform()}), "TransformedDistribution()"},
		{NewUniform(num(0), num(1)), "Uniform(low: 0.0, high: 1.0)"},
		{NewPareto(num(1), num(2)), "Pareto(alpha: 2.0, scale: 1.0)"},
		{NewStudentT(num(3)), "StudentT(df: 3.0, loc: 0.0, scale: 1.0)"},
		{NewWishart(num(3), WishartOptions{CovarianceMatrix: eye(2)}),
			"Wishart(covariance_matrix: torch.Size([2, 2]), df: 3.0)"},
		{NewLKJCholesky(3), "LKJCholesky(concentration: 1.0)"},
		{NewMultinomial(MultinomialOptions{TotalCount: torch.Some(5), Probs: ones(3)}), "Multinomial()"},
		{NewRelaxedBernoulli(num(1), Probs(num(.5))), "RelaxedBernoulli()"},
		{NewPoisson(num(4)), "Poisson(rate: 4.0)"},
		{constraints.Interval(0, 1), "Interval(lower_bound=0, upper_bound=1)"},
		{constraints.RealVector, "IndependentConstraint(Real(), 1)"},
		{constraints.IntegerInterval(0, 3), "IntegerInterval(lower_bound=0, upper_bound=3)"},
		{constraints.Multinomial(3), "Multinomial()"},
		{constraints.GreaterThan(num(1)), "GreaterThan(lower_bound=1.0)"},
		{constraints.PositiveDefinite, "PositiveDefinite()"},
		{&constraints.MixtureSameFamilyConstraint{Base: constraints.Real}, "MixtureSameFamilyConstraint(Real())"},
		{constraints.NonnegativeInteger, "IntegerGreaterThan(lower_bound=0)"},
		{constraints.Cat([]constraints.Constraint{constraints.Real}, 0, nil), "Cat()"},
		{constraints.Dependent, "Dependent()"},
		{BijectTo(constraints.Positive), "ComposeTransform(\n    ExpTransform(),\n    AffineTransform()\n)"},
		{NewSigmoidTransform().Inv(), "_InverseTransform(SigmoidTransform())"},
		{NewIndependentTransform(NewExpTransform(), 1), "IndependentTransform(ExpTransform(), 1)"},
		{BijectTo(constraints.Interval(1, 3)), "ComposeTransform(\n    SigmoidTransform(),\n    AffineTransform()\n)"},
		{TransformTo(constraints.Simplex), "SoftmaxTransform()"},
	} {
		if got := c.d.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The messages are Python's.
func TestRefusals(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		f     func()
		want  string
		cause error
	}{
		{func() { NewNormal(zeros(2), vec(1, -1)) },
			"Expected parameter scale (Tensor of shape (2,)) of distribution Normal(loc: torch.Size([2]), scale: " +
				"torch.Size([2])) to satisfy the constraint GreaterThan(lower_bound=0.0), but found invalid " +
				"values:\ntensor([ 1., -1.])", torch.ErrValue},
		{func() { NewChi2(num(-1)) },
			"Expected parameter df (Tensor of shape ()) of distribution Chi2() to satisfy the constraint " +
				"GreaterThan(lower_bound=0.0), but found invalid values:\n-1.0", torch.ErrValue},
		{func() { NewBeta(num(-1), num(1)) },
			"Expected parameter concentration (Tensor of shape (2,)) of distribution Dirichlet(concentration: " +
				"torch.Size([2])) to satisfy the constraint IndependentConstraint(GreaterThan(lower_bound=0.0), 1), " +
				"but found invalid values:\ntensor([-1.,  1.])", torch.ErrValue},
		{func() { NewUniform(num(1), num(0)) },
			"Expected parameter low (Tensor of shape ()) of distribution Uniform(low: 1.0, high: 0.0) to satisfy the " +
				"constraint LessThan(upper_bound=0.0), but found invalid values:\n1.0", torch.ErrValue},
		{func() { NewBernoulli(ProbOptions{}) }, "Either `probs` or `logits` must be specified, but not both.",
			torch.ErrValue},
		{func() { NewBernoulli(ProbOptions{Probs: num(.1), Logits: num(.1)}) },
			"Either `probs` or `logits` must be specified, but not both.", torch.ErrValue},
		{func() { NewBernoulli(Probs(num(1.5))) },
			"Expected parameter probs (Tensor of shape ()) of distribution Bernoulli(probs: 1.5) to satisfy the " +
				"constraint Interval(lower_bound=0.0, upper_bound=1.0), but found invalid values:\n1.5",
			torch.ErrValue},
		{func() { NewCategorical(Probs(num(.5))) }, "`probs` parameter must be at least one-dimensional.",
			torch.ErrValue},
		{func() { standard(3).LogProb(zeros(2)) },
			"Value is not broadcastable with batch_shape+event_shape: torch.Size([2]) vs torch.Size([3]).",
			torch.ErrValue},
		{func() { NewDirichlet(ones(3)).LogProb(zeros(2)) },
			"The right-most size of value must match event_shape: torch.Size([2]) vs torch.Size([3]).", torch.ErrValue},
		{func() { NewExponential(num(1)).LogProb(num(-1)) },
			"Expected value argument (Tensor of shape ()) to be within the support (GreaterThanEq(lower_bound=0.0)) " +
				"of the distribution Exponential(rate: 1.0), but found invalid values:\n-1.0", torch.ErrValue},
		{func() { NewPoisson(num(1)).LogProb(num(1.5)) },
			"Expected value argument (Tensor of shape ()) to be within the support " +
				"(IntegerGreaterThan(lower_bound=0)) of the distribution Poisson(rate: 1.0), but found invalid " +
				"values:\n1.5", torch.ErrValue},
		{func() { NewGeometric(Probs(vec(0, .5))) },
			"Expected parameter probs (Tensor of shape (2,)) of distribution Geometric(probs: torch.Size([2])) to be " +
				"positive but found invalid values:\ntensor([0.])", torch.ErrValue},
		{func() { NewMultivariateNormal(zeros(2), MultivariateNormalOptions{}) },
			"Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.", torch.ErrValue},
		{func() { NewMultivariateNormal(num(0), MultivariateNormalOptions{CovarianceMatrix: eye(2)}) },
			"loc must be at least one-dimensional.", torch.ErrValue},
		{func() { NewMultivariateNormal(zeros(2), MultivariateNormalOptions{CovarianceMatrix: eye(2).Neg()}) },
			"Expected parameter covariance_matrix (Tensor of shape (2, 2)) of distribution MultivariateNormal(loc: " +
				"torch.Size([2]), covariance_matrix: torch.Size([2, 2])) to satisfy the constraint " +
				"PositiveDefinite(), but found invalid values:\ntensor([[-1., -0.],\n        [-0., -1.]])",
			torch.ErrValue},
		{func() { standard(3).LogNormalizer(ones(3)) }, "LogNormalizer takes 2 natural parameters, got 1", torch.ErrValue},
		{func() { NewDirichlet(ones(3)).LogNormalizer() }, "LogNormalizer takes 1 natural parameters, got 0",
			torch.ErrValue},
		{func() { NewReshapeTransform([]int{2, 2}, []int{4}).Forward(ones(4)) }, "Too few dimensions on input",
			torch.ErrValue},
		{func() { constraints.Independent(nil, 1) }, "the base is nil", torch.ErrType},
		{func() { NewLKJCholesky(1) }, "Expected dim to be an integer greater than or equal to 2. Found dim=1.",
			torch.ErrValue},
		{func() { NewIndependent(standard(), 1) },
			"Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual 1 vs 0", torch.ErrValue},
		{func() { NewMixtureSameFamily(NewCategorical(Probs(ones(2))), standard(3)) },
			"`mixture_distribution component` (2) does not equal `component_distribution.batch_shape[-1]` (3)",
			torch.ErrValue},
		{func() { NewMixtureSameFamily(NewCategorical(Probs(ones(2))), standard()) },
			"the components need a batch dimension", torch.ErrValue},
		{func() { NewBinomial(BinomialOptions{TotalCount: vec(1, 2), Probs: num(.5)}).Entropy() },
			"Inhomogeneous total count not supported by `entropy`.", tensor.ErrNotImpl},
		{func() { KLDivergence(standard(), NewCauchy(num(0), num(1))) },
			"No KL(p || q) is implemented for p type Normal and q type Cauchy", tensor.ErrNotImpl},
		{func() { NewWishart(num(1), WishartOptions{CovarianceMatrix: eye(2)}) },
			"Value of df=1.0 expected to be greater than ndim - 1 = 1.", torch.ErrValue},
		{func() { NewNegativeBinomial(num(1), Probs(num(1))) },
			"to satisfy the constraint HalfOpenInterval(lower_bound=0.0, upper_bound=1.0)", torch.ErrValue},
		{func() { NewLowRankMultivariateNormal(zeros(2), zeros(3, 1), ones(2)) },
			"cov_factor must be a batch of matrices with shape 2 x m", torch.ErrValue},
		{func() { NewLowRankMultivariateNormal(zeros(2, 2), zeros(3, 2, 1), ones(2)) },
			"Incompatible batch shapes: loc torch.Size([2, 2]), cov_factor torch.Size([3, 2, 1]), cov_diag " +
				"torch.Size([2])", torch.ErrValue},
		{func() { NewRelaxedBernoulli(num(1), Probs(num(2))) }, "distribution LogitRelaxedBernoulli(probs: 2.0)",
			torch.ErrValue},
		{func() { standard().LogProb(num(nan)) },
			"Expected value argument (Tensor of shape ()) to be within the support (Real()) of the distribution " +
				"Normal(loc: 0.0, scale: 1.0), but found invalid values:\nnan", torch.ErrValue},
		{func() { standard().LogProb(nil) }, "must be a Tensor", torch.ErrValue},
		{func() { NewNormal(nil, num(1)) }, "a required parameter is nil", torch.ErrValue},
		{func() { BijectTo(constraints.Boolean) }, "Cannot transform _Boolean constraints", tensor.ErrNotImpl},
		{func() { NewCategorical(Probs(ones(2))).RSample() }, "Categorical does not implement rsample",
			tensor.ErrNotImpl},
		{func() { standard().EnumerateSupport() }, "Normal does not implement enumerate_support", tensor.ErrNotImpl},
		{func() { NewBeta(num(1), num(1)).CDF(num(.5)) }, "Beta does not implement cdf", tensor.ErrNotImpl},
		{func() { NewAbsTransform().LogAbsDetJacobian(num(1), num(1)) },
			"AbsTransform does not implement log_abs_det_jacobian", tensor.ErrNotImpl},
		{func() { NewExpTransform(TransformOptions{CacheSize: 2}) }, "cache_size must be 0 or 1", torch.ErrValue},
		{func() { NewReshapeTransform([]int{2}, []int{3}) }, "in_shape, out_shape have different numbers of elements",
			torch.ErrValue},
		{func() { constraints.Dependent.Check(num(1)) }, "Cannot determine validity of dependent constraint",
			torch.ErrValue},
	} {
		err := torch.Try(c.f)
		if err == nil {
			t.Errorf("no error, want %q", c.want)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %q, want %q", err, c.want)
		}
		if !errors.Is(err, c.cause) {
			t.Errorf("%q: the cause is not %v", err, c.cause)
		}
	}
}

func TestValidateArgs(t *testing.T) {
	off := Options{ValidateArgs: torch.Some(false)}
	NewNormal(num(0), num(-1), off).LogProb(num(1))
	SetDefaultValidateArgs(false)
	defer SetDefaultValidateArgs(true)
	NewNormal(num(0), num(-1))
	if torch.Try(func() { NewNormal(num(0), num(-1), Options{ValidateArgs: torch.Some(true)}) }) == nil {
		t.Error("ValidateArgs: true does not check")
	}
}

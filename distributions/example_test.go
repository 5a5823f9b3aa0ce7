package distributions_test

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch/linalg"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Three normal distributions side by side; the same seed gives the same numbers as in PyTorch.
func ExampleNormal() {
	torch.ManualSeed(0)
	d := distributions.NewNormal(torch.Zeros([]int{3}), torch.FromSlice([]float32{1, 2, 3}))
	fmt.Println(d)
	fmt.Println(d.Sample())
	fmt.Println(d.Sample(2, 5).Shape())
	fmt.Println(d.LogProb(torch.Zeros([]int{3})))
	// Output:
	// Normal(loc: torch.Size([3]), scale: torch.Size([3]))
	// tensor([ 1.5410, -0.5869, -6.5364])
	// [2 5 3]
	// tensor([-0.9189, -1.6121, -2.0176])
}

// Policy gradients (REINFORCE): the log-probability of a sampled action, weighted with its reward.
func ExampleCategorical() {
	torch.ManualSeed(0)
	logits := nn.NewParameter(torch.Zeros([]int{4}))
	policy := distributions.NewCategorical(distributions.Logits(logits))
	action := policy.Sample()
	reward := 2.0
	policy.LogProb(action).Neg().MulScalar(reward).Backward()
	fmt.Println(action, logits.Grad())
	// Output: tensor(2) tensor([ 0.5000,  0.5000, -1.5000,  0.5000])
}

// The reparameterization trick: gradients flow through a sample to the parameters of its distribution.
func ExampleDistribution_rsample() {
	torch.ManualSeed(0)
	loc := torch.FromSlice([]float32{0.5}).SetRequiresGrad(true)
	d := distributions.NewNormal(loc, torch.Ones([]int{1}))
	d.RSample(100_000).PowScalar(2).Mean().Backward() // E[x²] = loc² + 1, so the gradient is 2 loc
	fmt.Printf("%.1f\n", loc.Grad().Item())
	// Output: 1.0
}

// The logistic distribution, from a uniform one.
func ExampleTransformedDistribution() {
	uniform := distributions.NewUniform(torch.Zeros([]int{1}), torch.Ones([]int{1}))
	logistic := distributions.NewTransformedDistribution(uniform, []distributions.Transform{
		distributions.NewSigmoidTransform().Inv(),
		distributions.NewAffineTransform(torch.ScalarTensor(2.0), torch.ScalarTensor(0.5)),
	})
	fmt.Printf("%.4f %.4f\n", logistic.LogProb(torch.FromSlice([]float32{2})).Item(),
		logistic.CDF(torch.FromSlice([]float32{2})).Item())
	// Output: -0.6931 0.5000
}

// A Gaussian mixture of five components in one dimension.
func ExampleMixtureSameFamily() {
	mix := distributions.NewCategorical(distributions.Probs(torch.Ones([]int{5})))
	comp := distributions.NewNormal(torch.FromSlice([]float32{-2, -1, 0, 1, 2}), torch.Full([]int{5}, 0.5))
	gmm := distributions.NewMixtureSameFamily(mix, comp)
	fmt.Println(gmm.BatchShape(), gmm.Mean().Item(), gmm.Variance().Item())
	// Output: torch.Size([]) 0 2.25
}

// The regularization term of a variational autoencoder.
func ExampleKLDivergence() {
	mean, logVar := torch.FromSlice([]float32{0.5, -1}), torch.FromSlice([]float32{0, -0.5})
	posterior := distributions.NewIndependent(distributions.NewNormal(mean, logVar.MulScalar(0.5).Exp()), 1)
	prior := distributions.NewIndependent(distributions.NewNormal(torch.Zeros([]int{2}), torch.Ones([]int{2})), 1)
	fmt.Printf("%.4f\n", distributions.KLDivergence(posterior, prior).Item())
	// Output: 0.6783
}

// A formula for a pair that PyTorch has none for.
func ExampleRegisterKL() {
	distributions.RegisterKL(func(p *distributions.Laplace, q *distributions.Gumbel) *torch.Tensor {
		x := p.Sample(100_000) // an estimate
		return p.LogProb(x).Sub(q.LogProb(x)).MeanDim([]int{0})
	})
	torch.ManualSeed(0)
	one := torch.Ones([]int{1})
	kl := distributions.KLDivergence(distributions.NewLaplace(torch.Zeros([]int{1}), one.MulScalar(0.5)),
		distributions.NewGumbel(torch.Zeros([]int{1}), one))
	fmt.Println(math.Abs(kl.Item()-0.333) < 0.02)
	// Output: true
}

// Gradient descent on a scale that must stay positive.
func ExampleTransformTo() {
	free := torch.FromSlice([]float32{0}).SetRequiresGrad(true)
	scale := distributions.TransformTo(constraints.Positive).Forward(free)
	fmt.Println(scale.Item(), constraints.Positive.Check(scale).Item() == 1)
	// Output: 1 true
}

// Correlation matrices that are all equally likely, for a prior.
func ExampleLKJCholesky() {
	torch.ManualSeed(0)
	l := distributions.NewLKJCholesky(3).Sample()
	c := l.MatMul(l.MT())
	fmt.Println(c.Diagonal().AllClose(torch.Ones([]int{3})), constraints.PositiveDefinite.Check(c).Item() == 1)
	// Output: true true
}

// The three ways to give a covariance matrix agree.
func ExampleMultivariateNormal() {
	cov := torch.FromSlice([]float32{2, 0.5, 0.5, 1}, 2, 2)
	loc, x := torch.Zeros([]int{2}), torch.Ones([]int{2})
	for _, o := range []distributions.MultivariateNormalOptions{{CovarianceMatrix: cov},
		{PrecisionMatrix: torch.Inverse(cov)}, {ScaleTril: linalg.Cholesky(cov)}} {
		fmt.Printf("%.4f\n", distributions.NewMultivariateNormal(loc, o).LogProb(x).Item())
	}
	// Output:
	// -2.6891
	// -2.6891
	// -2.6891
}

// A list of all outcomes, and checks switched off where they cost too much.
func ExampleOptions() {
	d := distributions.NewBernoulli(distributions.ProbOptions{Probs: torch.FromSlice([]float32{0.25}),
		ValidateArgs: tensor.Some(false)})
	x := d.EnumerateSupport()
	fmt.Println(x.Flatten(), d.LogProb(x).Exp().Flatten())
	// Output: tensor([0., 1.]) tensor([0.7500, 0.2500])
}

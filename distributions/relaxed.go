package distributions

import (
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// LogitRelaxedBernoulli is the distribution of the logit of a RelaxedBernoulli.
type LogitRelaxedBernoulli struct {
	binary
	temperature *Tensor
}

// NewLogitRelaxedBernoulli makes a LogitRelaxedBernoulli.
func NewLogitRelaxedBernoulli(temperature *Tensor, o ProbOptions) *LogitRelaxedBernoulli {
	name, p := o.param()
	d := &LogitRelaxedBernoulli{temperature: temperature}
	d.given, d.rsample = name, true
	d.init(d, "LogitRelaxedBernoulli", p.Shape(), nil, validates(o.ValidateArgs), entry{name, p})
	return d
}

// Temperature says how far the draws are from 0 and 1.
func (d *LogitRelaxedBernoulli) Temperature() *Tensor { return d.temperature }

// Support of a LogitRelaxedBernoulli.
func (d *LogitRelaxedBernoulli) Support() Constraint { return constraints.Real }

// Expand shares the parameters.
func (d *LogitRelaxedBernoulli) Expand(batchShape []int) Distribution {
	n := &LogitRelaxedBernoulli{temperature: d.temperature}
	n.given = d.given
	d.expandInto(&n.base, n, batchShape)
	return n
}

// RSample adds logistic noise to the logit.
func (d *LogitRelaxedBernoulli) RSample(sampleShape ...int) *Tensor {
	sh := d.shape(sampleShape)
	p := clampProbs(d.Probs().Expand(sh))
	u := clampProbs(rand(p, sh))
	return u.Log().Sub(u.Neg().Log1p()).Add(p.Log()).Sub(p.Neg().Log1p()).Div(d.temperature)
}

// LogProb is the logarithm of the density.
func (d *LogitRelaxedBernoulli) LogProb(value *Tensor) *Tensor {
	d.check(value)
	p := broadcast(d.Logits(), value)
	x := p[0].Sub(p[1].Mul(d.temperature))
	return d.temperature.Log().Add(x).Sub(x.Exp().Log1p().MulScalar(2))
}

// RelaxedBernoulli is a Bernoulli whose draws lie between 0 and 1 and let gradients through (C. Maddison et al., The
// concrete distribution, 2017; E. Jang et al., Categorical reparameterization with Gumbel-softmax, 2017).
// https://pytorch.org/docs/stable/distributions.html#relaxedbernoulli
type RelaxedBernoulli struct{ TransformedDistribution }

// NewRelaxedBernoulli makes a RelaxedBernoulli.
func NewRelaxedBernoulli(temperature *Tensor, o ProbOptions) *RelaxedBernoulli {
	d := &RelaxedBernoulli{}
	d.derived = []derived{{"probs", d.Probs}, {"logits", d.Logits}}
	b := NewLogitRelaxedBernoulli(temperature, ProbOptions{Probs: o.Probs, Logits: o.Logits})
	d.transform(d, "RelaxedBernoulli", b, []Transform{NewSigmoidTransform()}, validates(o.ValidateArgs))
	return d
}

func (d *RelaxedBernoulli) logit() *LogitRelaxedBernoulli { return d.baseDist.(*LogitRelaxedBernoulli) }

// Super is the distribution as a TransformedDistribution.
func (d *RelaxedBernoulli) Super() Distribution { return &d.TransformedDistribution }

// Temperature says how far the draws are from 0 and 1.
func (d *RelaxedBernoulli) Temperature() *Tensor { return d.logit().temperature }

// Probs is the probability of success.
func (d *RelaxedBernoulli) Probs() *Tensor { return d.logit().Probs() }

// Logits is the logarithm of the odds of success.
func (d *RelaxedBernoulli) Logits() *Tensor { return d.logit().Logits() }

// ArgConstraints of a RelaxedBernoulli.
func (d *RelaxedBernoulli) ArgConstraints() []Arg { return probArgs }

// Support of a RelaxedBernoulli.
func (d *RelaxedBernoulli) Support() Constraint { return constraints.UnitInterval }

// Expand shares the parameters.
func (d *RelaxedBernoulli) Expand(batchShape []int) Distribution {
	n := &RelaxedBernoulli{}
	d.expandTransformed(&n.TransformedDistribution, n, batchShape)
	return n
}

// ExpRelaxedCategorical is the distribution of the logarithm of a RelaxedOneHotCategorical.
type ExpRelaxedCategorical struct {
	vectorOf
	temperature *Tensor
}

// NewExpRelaxedCategorical makes an ExpRelaxedCategorical.
func NewExpRelaxedCategorical(temperature *Tensor, o ProbOptions) *ExpRelaxedCategorical {
	d := &ExpRelaxedCategorical{temperature: temperature}
	d.rsample = true
	d.setup(d, "ExpRelaxedCategorical", o)
	return d
}

// Temperature says how far the draws are from the corners of the simplex.
func (d *ExpRelaxedCategorical) Temperature() *Tensor { return d.temperature }

// Support of an ExpRelaxedCategorical.
func (d *ExpRelaxedCategorical) Support() Constraint { return constraints.RealVector }

// Expand shares the parameters.
func (d *ExpRelaxedCategorical) Expand(batchShape []int) Distribution {
	n := &ExpRelaxedCategorical{temperature: d.temperature}
	n.rsample = true
	n.wrap(n, d.name, d.categorical.Expand(batchShape).(*Categorical), false)
	n.validate = d.validate
	return n
}

// RSample adds Gumbel noise to the logits.
func (d *ExpRelaxedCategorical) RSample(sampleShape ...int) *Tensor {
	u := clampProbs(rand(d.Logits(), d.shape(sampleShape)))
	s := d.Logits().Add(u.Log().Neg().Log().Neg()).Div(d.temperature)
	return s.Sub(s.LogSumExp(lastDim, keepDim))
}

var keepDim = tensor.LogSumExpOptions{KeepDim: true}

// LogProb is the logarithm of the density.
func (d *ExpRelaxedCategorical) LogProb(value *Tensor) *Tensor {
	d.check(value)
	k := float64(d.categorical.k)
	p := broadcast(d.Logits(), value)
	norm := d.temperature.FullLike(k).Lgamma().Sub(d.temperature.Log().MulScalar(-(k - 1)))
	s := p[0].Sub(p[1].Mul(d.temperature))
	return sumLast(s.Sub(s.LogSumExp(lastDim, keepDim))).Add(norm)
}

// RelaxedOneHotCategorical is a OneHotCategorical whose draws lie inside the simplex and let gradients through.
// https://pytorch.org/docs/stable/distributions.html#relaxedonehotcategorical
type RelaxedOneHotCategorical struct{ TransformedDistribution }

// NewRelaxedOneHotCategorical makes a RelaxedOneHotCategorical.
func NewRelaxedOneHotCategorical(temperature *Tensor, o ProbOptions) *RelaxedOneHotCategorical {
	d := &RelaxedOneHotCategorical{}
	d.derived = []derived{{"probs", d.Probs}, {"logits", d.Logits}}
	d.transform(d, "RelaxedOneHotCategorical", NewExpRelaxedCategorical(temperature, o), []Transform{NewExpTransform()},
		validates(o.ValidateArgs))
	return d
}

func (d *RelaxedOneHotCategorical) exp() *ExpRelaxedCategorical {
	return d.baseDist.(*ExpRelaxedCategorical)
}

// Super is the distribution as a TransformedDistribution.
func (d *RelaxedOneHotCategorical) Super() Distribution { return &d.TransformedDistribution }

// Temperature says how far the draws are from the corners of the simplex.
func (d *RelaxedOneHotCategorical) Temperature() *Tensor { return d.exp().temperature }

// Probs are the normalized probabilities.
func (d *RelaxedOneHotCategorical) Probs() *Tensor { return d.exp().Probs() }

// Logits are the logarithms of the probabilities.
func (d *RelaxedOneHotCategorical) Logits() *Tensor { return d.exp().Logits() }

// ArgConstraints of a RelaxedOneHotCategorical.
func (d *RelaxedOneHotCategorical) ArgConstraints() []Arg { return simplexArgs }

// Support of a RelaxedOneHotCategorical.
func (d *RelaxedOneHotCategorical) Support() Constraint { return constraints.Simplex }

// Expand shares the parameters.
func (d *RelaxedOneHotCategorical) Expand(batchShape []int) Distribution {
	n := &RelaxedOneHotCategorical{}
	d.expandTransformed(&n.TransformedDistribution, n, batchShape)
	return n
}

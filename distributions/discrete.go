package distributions

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// ProbOptions are the options of families that are given by probabilities or by logits: exactly one of both must be
// set. The other one is computed when it is asked for.
type ProbOptions struct {
	Probs, Logits *Tensor
	ValidateArgs  tensor.Opt[bool]
}

// Probs is short for ProbOptions{Probs: p}.
func Probs(p *Tensor) ProbOptions { return ProbOptions{Probs: p} }

// Logits is short for ProbOptions{Logits: l}.
func Logits(l *Tensor) ProbOptions { return ProbOptions{Logits: l} }

func (o ProbOptions) check() {
	if (o.Probs == nil) == (o.Logits == nil) {
		tensor.Fail(tensor.ErrValue, "Either `probs` or `logits` must be specified, but not both.")
	}
}

// param is the given one of both and its name.
func (o ProbOptions) param() (name string, t *Tensor) {
	o.check()
	if o.Probs != nil {
		return "probs", o.Probs
	}
	return "logits", o.Logits
}

// binary holds the probability of success, or its logit. Families embed it.
type binary struct {
	base
	given string // probs or logits
}

// Probs is the probability of success.
func (d *binary) Probs() *Tensor {
	return d.lazy("probs", func() *Tensor { return d.lookup("logits").Sigmoid() })
}

// Logits is the logarithm of the odds of success.
func (d *binary) Logits() *Tensor {
	return d.lazy("logits", func() *Tensor { return binaryLogits(d.lookup("probs")) })
}

// ParamShape is the shape of the parameter.
func (d *binary) ParamShape() Size { return d.param().Shape() }

func (d *binary) param() *Tensor { return d.lookup(d.given) }

// ArgConstraints of families with a probability of success.
func (d *binary) ArgConstraints() []Arg { return probArgs }

var (
	probArgs    = []Arg{{"probs", constraints.UnitInterval}, {"logits", constraints.Real}}
	simplexArgs = []Arg{{"probs", constraints.Simplex}, {"logits", constraints.RealVector}}
)

// Bernoulli is 1 with probability probs and 0 otherwise.
// https://pytorch.org/docs/stable/distributions.html#bernoulli
type Bernoulli struct{ binary }

// NewBernoulli makes a Bernoulli.
func NewBernoulli(o ProbOptions) *Bernoulli {
	name, p := o.param()
	d := &Bernoulli{}
	d.given = name
	d.init(d, "Bernoulli", p.Shape(), nil, validates(o.ValidateArgs), entry{name, p})
	return d
}

// Support of a Bernoulli.
func (d *Bernoulli) Support() Constraint { return constraints.Boolean }

// HasEnumerateSupport is true.
func (d *Bernoulli) HasEnumerateSupport() bool { return true }

// Expand shares the parameters.
func (d *Bernoulli) Expand(batchShape []int) Distribution {
	n := &Bernoulli{}
	n.given = d.given
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is the probability.
func (d *Bernoulli) Mean() *Tensor { return d.Probs() }

// Mode is the likelier value, NaN when both are equally likely.
func (d *Bernoulli) Mode() *Tensor {
	p := d.Probs()
	return p.GeScalar(0.5).ToDType(p.DType()).MaskedFillScalar(p.EqScalar(0.5), nan)
}

// Variance is p(1-p).
func (d *Bernoulli) Variance() *Tensor { return d.Probs().Mul(rsub(1, d.Probs())) }

// Sample draws zeros and ones.
func (d *Bernoulli) Sample(sampleShape ...int) (x *Tensor) {
	torch.NoGrad(func() { x = d.Probs().Expand(d.shape(sampleShape)).Bernoulli() })
	return x
}

// LogProb is the logarithm of the probability.
func (d *Bernoulli) LogProb(value *Tensor) *Tensor {
	d.check(value)
	p := broadcast(d.Logits(), value)
	return crossEntropyWithLogits(p[0], p[1]).Neg()
}

// Entropy of a Bernoulli.
func (d *Bernoulli) Entropy() *Tensor { return crossEntropyWithLogits(d.Logits(), d.Probs()) }

// EnumerateSupport is 0 and 1.
func (d *Bernoulli) EnumerateSupport(opts ...EnumerateOptions) *Tensor {
	return d.count(d.param().DType(), d.param().Device(), 2, opts)
}

// NaturalParams is the logit.
func (d *Bernoulli) NaturalParams() []*Tensor { return []*Tensor{d.Probs().Logit()} }

// LogNormalizer is the log-partition function of the natural parameter.
func (d *Bernoulli) LogNormalizer(p ...*Tensor) *Tensor {
	checkNatural(p, 1)
	return p[0].Exp().Log1p()
}

// ContinuousBernoulli has the density of a Bernoulli's probability, normalized on [0, 1] (G. Loaiza-Ganem and J.
// Cunningham, The continuous Bernoulli, 2019).
// https://pytorch.org/docs/stable/distributions.html#continuousbernoulli
type ContinuousBernoulli struct {
	binary
	lims [2]float64
}

// ContinuousBernoulliOptions are the options of NewContinuousBernoulli.
type ContinuousBernoulliOptions struct {
	Probs, Logits *Tensor // exactly one
	// Lims are the probabilities between which Taylor series replace formulas that divide by almost nothing; default
	// 0.499 and 0.501.
	Lims         tensor.Opt[[2]float64]
	ValidateArgs tensor.Opt[bool]
}

// NewContinuousBernoulli makes a ContinuousBernoulli.
func NewContinuousBernoulli(o ContinuousBernoulliOptions) *ContinuousBernoulli {
	name, p := ProbOptions{Probs: o.Probs, Logits: o.Logits}.param()
	if name == "probs" {
		if on, given := o.ValidateArgs.Get(); given && on && p.Device().Type != tensor.MetaDevice &&
			constraints.UnitInterval.Check(p).All().Item() == 0 {
			tensor.Fail(tensor.ErrValue, "The parameter probs has invalid values")
		}
		p = clampProbs(p)
	}
	d := &ContinuousBernoulli{lims: o.Lims.Or([2]float64{0.499, 0.501})}
	d.given, d.rsample = name, true
	d.init(d, "ContinuousBernoulli", p.Shape(), nil, validates(o.ValidateArgs), entry{name, p})
	return d
}

// Probs is the parameter, away from 0 and 1.
func (d *ContinuousBernoulli) Probs() *Tensor {
	return d.lazy("probs", func() *Tensor { return clampProbs(d.lookup("logits").Sigmoid()) })
}

// Support of a ContinuousBernoulli.
func (d *ContinuousBernoulli) Support() Constraint { return constraints.UnitInterval }

// Expand shares the parameters.
func (d *ContinuousBernoulli) Expand(batchShape []int) Distribution {
	n := &ContinuousBernoulli{lims: d.lims}
	n.given = d.given
	d.expandInto(&n.base, n, batchShape)
	return n
}

// stable is true where the formulas can be used as they are.
func (d *ContinuousBernoulli) stable() *Tensor {
	return d.Probs().LeScalar(d.lims[0]).BitwiseOr(d.Probs().GtScalar(d.lims[1]))
}

// cut is the parameter, replaced near 1/2.
func (d *ContinuousBernoulli) cut() *Tensor {
	return torch.Where(d.stable(), d.Probs(), d.Probs().OnesLike().MulScalar(d.lims[0]))
}

func (d *ContinuousBernoulli) logNorm() *Tensor {
	c := d.cut()
	low := c.LeScalar(0.5)
	below := torch.Where(low, c, c.ZerosLike())
	above := torch.Where(c.GeScalar(0.5), c, c.OnesLike())
	l := c.Neg().Log1p().Sub(c.Log()).Abs().Log().Sub(torch.Where(low, below.MulScalar(-2).Log1p(),
		above.MulScalar(2).SubScalar(1).Log()))
	x := d.Probs().SubScalar(0.5).PowScalar(2)
	taylor := x.MulScalar(104.0 / 45).AddScalar(4.0 / 3).Mul(x).AddScalar(math.Ln2)
	return torch.Where(d.stable(), l, taylor)
}

// Mean of a ContinuousBernoulli.
func (d *ContinuousBernoulli) Mean() *Tensor {
	c := d.cut()
	m := c.Div(c.MulScalar(2).SubScalar(1)).Add(over(1, c.Neg().Log1p().Sub(c.Log())))
	x := d.Probs().SubScalar(0.5)
	taylor := x.PowScalar(2).MulScalar(16.0 / 45).AddScalar(1.0 / 3).Mul(x).AddScalar(0.5)
	return torch.Where(d.stable(), m, taylor)
}

// Variance of a ContinuousBernoulli.
func (d *ContinuousBernoulli) Variance() *Tensor {
	c := d.cut()
	v := c.Mul(c.SubScalar(1)).Div(rsub(1, c.MulScalar(2)).PowScalar(2)).Add(over(1,
		c.Neg().Log1p().Sub(c.Log()).PowScalar(2)))
	x := d.Probs().SubScalar(0.5).PowScalar(2)
	taylor := rsub(1.0/12, rsub(1.0/15, x.MulScalar(128.0/945)).Mul(x))
	return torch.Where(d.stable(), v, taylor)
}

// RSample inverts the distribution function.
func (d *ContinuousBernoulli) RSample(sampleShape ...int) *Tensor {
	return d.ICDF(rand(d.Probs(), d.shape(sampleShape)))
}

// LogProb is the logarithm of the density.
func (d *ContinuousBernoulli) LogProb(value *Tensor) *Tensor {
	d.check(value)
	p := broadcast(d.Logits(), value)
	return crossEntropyWithLogits(p[0], p[1]).Neg().Add(d.logNorm())
}

// CDF is the distribution function.
func (d *ContinuousBernoulli) CDF(value *Tensor) *Tensor {
	d.check(value)
	c := d.cut()
	f := c.Pow(value).Mul(rsub(1, c).Pow(rsub(1, value)))
	f = f.Add(c).SubScalar(1).Div(c.MulScalar(2).SubScalar(1))
	f = torch.Where(d.stable(), f, value)
	return torch.Where(value.LeScalar(0), value.ZerosLike(), torch.Where(value.GeScalar(1), value.OnesLike(), f))
}

// ICDF is the quantile function.
func (d *ContinuousBernoulli) ICDF(value *Tensor) *Tensor {
	c := d.cut()
	q := c.Neg().Log1p()
	x := c.Neg().Add(value.Mul(c.MulScalar(2).SubScalar(1))).Log1p().Sub(q).Div(c.Log().Sub(q))
	return torch.Where(d.stable(), x, value)
}

// Entropy of a ContinuousBernoulli.
func (d *ContinuousBernoulli) Entropy() *Tensor {
	l0, l1 := d.Probs().Neg().Log1p(), d.Probs().Log()
	return d.Mean().Mul(l0.Sub(l1)).Sub(d.logNorm()).Sub(l0)
}

// NaturalParams is the logit.
func (d *ContinuousBernoulli) NaturalParams() []*Tensor { return []*Tensor{d.Logits()} }

// LogNormalizer is the log-partition function of the natural parameter.
func (d *ContinuousBernoulli) LogNormalizer(p ...*Tensor) *Tensor {
	checkNatural(p, 1)
	x := p[0]
	out := x.LeScalar(d.lims[0] - 0.5).BitwiseOr(x.GtScalar(d.lims[1] - 0.5))
	c := torch.Where(out, x, x.OnesLike().MulScalar(d.lims[0]-0.5))
	l := c.Expm1().Abs().Log().Sub(c.Abs().Log())
	taylor := x.MulScalar(0.5).Add(x.PowScalar(2).DivScalar(24)).Sub(x.PowScalar(4).DivScalar(2880))
	return torch.Where(out, l, taylor)
}

// Geometric is the number of failures before the first success.
// https://pytorch.org/docs/stable/distributions.html#geometric
type Geometric struct{ binary }

// NewGeometric makes a Geometric.
func NewGeometric(o ProbOptions) *Geometric {
	name, p := o.param()
	d := &Geometric{}
	d.given = name
	d.init(d, "Geometric", p.Shape(), nil, validates(o.ValidateArgs), entry{name, p})
	if d.validate && name == "probs" && p.Device().Type != tensor.MetaDevice {
		if ok := p.Detach().GtScalar(0); ok.All().Item() == 0 {
			tensor.Fail(tensor.ErrValue,
				"Expected parameter probs (%s of shape %s) of distribution %s to be positive but found invalid "+
					"values:\n%s",
				typeName(p), tuple(p.Shape()), d, p.Detach().MaskedSelect(ok.LogicalNot()))
		}
	}
	return d
}

// Support of a Geometric.
func (d *Geometric) Support() Constraint { return constraints.NonnegativeInteger }

// Expand shares the parameters.
func (d *Geometric) Expand(batchShape []int) Distribution {
	n := &Geometric{}
	n.given = d.given
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is 1/p - 1.
func (d *Geometric) Mean() *Tensor { return over(1, d.Probs()).SubScalar(1) }

// Mode is 0.
func (d *Geometric) Mode() *Tensor { return d.Probs().ZerosLike() }

// Variance is (1/p - 1)/p.
func (d *Geometric) Variance() *Tensor { return over(1, d.Probs()).SubScalar(1).Div(d.Probs()) }

// Sample inverts the distribution function.
func (d *Geometric) Sample(sampleShape ...int) (x *Tensor) {
	torch.NoGrad(func() {
		u := d.Probs().NewEmpty(d.shape(sampleShape))
		u.UniformInPlace(tensor.UniformInPlaceOptions{From: tiny(u), To: tensor.Some(1.0)})
		x = u.Log().Div(d.Probs().Neg().Log1p()).Floor()
	})
	return x
}

// LogProb is the logarithm of the probability.
func (d *Geometric) LogProb(value *Tensor) *Tensor {
	d.check(value)
	p := broadcast(value, d.Probs())
	q := p[1].MaskedFillScalar(p[1].EqScalar(1).BitwiseAnd(p[0].EqScalar(0)), 0)
	return p[0].Mul(q.Neg().Log1p()).Add(d.Probs().Log())
}

// Entropy of a Geometric.
func (d *Geometric) Entropy() *Tensor {
	return crossEntropyWithLogits(d.Logits(), d.Probs()).Div(d.Probs())
}

// counted is a family with a number of trials and a probability of success.
type counted struct{ binary }

// TotalCount is the number of trials.
func (d *counted) TotalCount() *Tensor { return d.lookup("total_count") }

// setup broadcasts the count and the parameter and gives both one type.
func (d *counted) setup(self Distribution, name string, count *Tensor, o ProbOptions) {
	given, p := o.param()
	b := broadcast(count, p)
	d.given = given
	d.init(self, name, b[1].Shape(), nil, validates(o.ValidateArgs), entry{"total_count", b[0].TypeAs(b[1])},
		entry{given, b[1]})
}

// Binomial is the number of successes in total_count trials.
// https://pytorch.org/docs/stable/distributions.html#binomial
type Binomial struct{ counted }

// BinomialOptions are the options of NewBinomial.
type BinomialOptions struct {
	TotalCount    *Tensor // default 1
	Probs, Logits *Tensor // exactly one
	ValidateArgs  tensor.Opt[bool]
}

// NewBinomial makes a Binomial.
func NewBinomial(o BinomialOptions) *Binomial {
	p := ProbOptions{Probs: o.Probs, Logits: o.Logits, ValidateArgs: o.ValidateArgs}
	_, t := p.param()
	if o.TotalCount == nil {
		o.TotalCount = t.NewOnes(nil)
	}
	d := &Binomial{}
	d.setup(d, "Binomial", o.TotalCount, p)
	return d
}

// ArgConstraints of a Binomial.
func (d *Binomial) ArgConstraints() []Arg {
	return append([]Arg{{"total_count", constraints.NonnegativeInteger}}, probArgs...)
}

// Support of a Binomial.
func (d *Binomial) Support() Constraint { return constraints.IntegerIntervalTo(0, d.TotalCount()) }

// HasEnumerateSupport is true.
func (d *Binomial) HasEnumerateSupport() bool { return true }

// Expand shares the parameters.
func (d *Binomial) Expand(batchShape []int) Distribution {
	n := &Binomial{}
	n.given = d.given
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is n·p.
func (d *Binomial) Mean() *Tensor { return d.TotalCount().Mul(d.Probs()) }

// Mode is floor((n+1)·p), at most n.
func (d *Binomial) Mode() *Tensor {
	return d.TotalCount().AddScalar(1).Mul(d.Probs()).Floor().Clamp(tensor.ClampOptions{Max: d.TotalCount()})
}

// Variance is n·p·(1-p).
func (d *Binomial) Variance() *Tensor {
	return d.TotalCount().Mul(d.Probs()).Mul(rsub(1, d.Probs()))
}

// Sample draws numbers of successes.
func (d *Binomial) Sample(sampleShape ...int) (x *Tensor) {
	sh := d.shape(sampleShape)
	torch.NoGrad(func() { x = torch.Binomial(d.TotalCount().Expand(sh), d.Probs().Expand(sh)) })
	return x
}

// LogProb is the logarithm of the probability.
func (d *Binomial) LogProb(value *Tensor) *Tensor {
	d.check(value)
	n, l := d.TotalCount(), d.Logits()
	// log(1 + exp l) is max(l, 0) + log1p(exp -|l|); the maximum is written such that its gradient at 0 is 1/2.
	pos := clamp(l, 0, nil).Add(l).Sub(clamp(l, nil, 0)).DivScalar(2)
	norm := n.Mul(pos).Add(n.Mul(l.Abs().Neg().Exp().Log1p())).Sub(n.AddScalar(1).Lgamma())
	return value.Mul(l).Sub(value.AddScalar(1).Lgamma()).Sub(n.Sub(value).AddScalar(1).Lgamma()).Sub(norm)
}

// same is the number of trials, which must be one for the whole batch.
func (d *Binomial) same(what string) int {
	n := d.TotalCount().Max().Item()
	if d.TotalCount().Min().Item() != n {
		tensor.Fail(tensor.ErrNotImpl, "Inhomogeneous total count not supported by `%s`.", what)
	}
	return int(n)
}

// Entropy sums over all values; all counts must be equal.
func (d *Binomial) Entropy() *Tensor {
	d.same("entropy")
	l := d.LogProb(d.EnumerateSupport(EnumerateOptions{NoExpand: true}))
	return l.Exp().Mul(l).SumDim([]int{0}).Neg()
}

// EnumerateSupport is 0 to total_count; all counts must be equal.
func (d *Binomial) EnumerateSupport(opts ...EnumerateOptions) *Tensor {
	return d.count(d.param().DType(), d.param().Device(), d.same("enumerate_support")+1, opts)
}

// NegativeBinomial is the number of successes before total_count failures.
// https://pytorch.org/docs/stable/distributions.html#negativebinomial
type NegativeBinomial struct{ counted }

// NewNegativeBinomial makes a NegativeBinomial.
func NewNegativeBinomial(totalCount *Tensor, o ProbOptions) *NegativeBinomial {
	d := &NegativeBinomial{}
	d.setup(d, "NegativeBinomial", totalCount, o)
	return d
}

// ArgConstraints of a NegativeBinomial.
func (d *NegativeBinomial) ArgConstraints() []Arg {
	return []Arg{{"total_count", constraints.GreaterThanEqScalar(0)}, {"probs", constraints.HalfOpenInterval(0.0, 1.0)},
		{"logits", constraints.Real}}
}

// Support of a NegativeBinomial.
func (d *NegativeBinomial) Support() Constraint { return constraints.NonnegativeInteger }

// Expand shares the parameters.
func (d *NegativeBinomial) Expand(batchShape []int) Distribution {
	n := &NegativeBinomial{}
	n.given = d.given
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is n·exp(logits).
func (d *NegativeBinomial) Mean() *Tensor { return d.TotalCount().Mul(d.Logits().Exp()) }

// Mode is floor((n-1)·exp(logits)), at least 0.
func (d *NegativeBinomial) Mode() *Tensor {
	return clamp(d.TotalCount().SubScalar(1).Mul(d.Logits().Exp()).Floor(), 0.0, nil)
}

// Variance is the mean divided by the probability of failure.
func (d *NegativeBinomial) Variance() *Tensor { return d.Mean().Div(d.Logits().Neg().Sigmoid()) }

// Sample draws Poisson numbers with Gamma rates.
func (d *NegativeBinomial) Sample(sampleShape ...int) (x *Tensor) {
	torch.NoGrad(func() {
		g := NewGamma(d.TotalCount(), d.Logits().Neg().Exp(), Options{ValidateArgs: tensor.Some(false)})
		x = g.Sample(sampleShape...).Poisson()
	})
	return x
}

// LogProb is the logarithm of the probability.
func (d *NegativeBinomial) LogProb(value *Tensor) *Tensor {
	d.check(value)
	n, l := d.TotalCount(), d.Logits()
	p := n.Mul(l.Neg().LogSigmoid()).Add(value.Mul(l.LogSigmoid()))
	s := n.Add(value)
	norm := s.Lgamma().Neg().Add(value.AddScalar(1).Lgamma()).Add(n.Lgamma())
	return p.Sub(norm.MaskedFillScalar(s.EqScalar(0), 0))
}

// Poisson counts events that happen independently at a rate.
// https://pytorch.org/docs/stable/distributions.html#poisson
type Poisson struct{ base }

// NewPoisson makes a Poisson.
func NewPoisson(rate *Tensor, opts ...Options) *Poisson {
	p := broadcast(rate)
	d := &Poisson{}
	d.init(d, "Poisson", p[0].Shape(), nil, validates(option(opts).ValidateArgs), entry{"rate", p[0]})
	return d
}

// Rate is the mean.
func (d *Poisson) Rate() *Tensor { return d.lookup("rate") }

// ArgConstraints of a Poisson.
func (d *Poisson) ArgConstraints() []Arg { return []Arg{{"rate", constraints.Nonnegative}} }

// Support of a Poisson.
func (d *Poisson) Support() Constraint { return constraints.NonnegativeInteger }

// Expand shares the parameters.
func (d *Poisson) Expand(batchShape []int) Distribution {
	n := &Poisson{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is the rate.
func (d *Poisson) Mean() *Tensor { return d.Rate() }

// Mode is the rate rounded down.
func (d *Poisson) Mode() *Tensor { return d.Rate().Floor() }

// Variance is the rate.
func (d *Poisson) Variance() *Tensor { return d.Rate() }

// Sample draws counts.
func (d *Poisson) Sample(sampleShape ...int) (x *Tensor) {
	torch.NoGrad(func() { x = d.Rate().Expand(d.shape(sampleShape)).Poisson() })
	return x
}

// LogProb is the logarithm of the probability.
func (d *Poisson) LogProb(value *Tensor) *Tensor {
	d.check(value)
	p := broadcast(d.Rate(), value)
	return p[1].Xlogy(p[0]).Sub(p[0]).Sub(p[1].AddScalar(1).Lgamma())
}

// NaturalParams is the logarithm of the rate.
func (d *Poisson) NaturalParams() []*Tensor { return []*Tensor{d.Rate().Log()} }

// LogNormalizer is the log-partition function of the natural parameter.
func (d *Poisson) LogNormalizer(p ...*Tensor) *Tensor {
	checkNatural(p, 1)
	return p[0].Exp()
}

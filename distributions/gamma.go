package distributions

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/special"
	"github.com/gotorch-dev/torch/tensor"
)

// Gamma is the gamma distribution with a shape (concentration) and a rate.
// https://pytorch.org/docs/stable/distributions.html#gamma
type Gamma struct{ base }

// NewGamma makes a Gamma.
func NewGamma(concentration, rate *Tensor, opts ...Options) *Gamma {
	d := &Gamma{}
	d.setup(d, "Gamma", concentration, rate, opts)
	return d
}

func (d *Gamma) setup(self Distribution, name string, concentration, rate *Tensor, opts []Options) {
	p := broadcast(concentration, rate)
	d.rsample = true
	d.init(self, name, p[0].Shape(), nil, validates(option(opts).ValidateArgs), entry{"concentration", p[0]},
		entry{"rate", p[1]})
}

// Concentration is the shape parameter, often called α.
func (d *Gamma) Concentration() *Tensor { return d.lookup("concentration") }

// Rate is the reciprocal of the scale, often called β.
func (d *Gamma) Rate() *Tensor { return d.lookup("rate") }

// ArgConstraints of a Gamma.
func (d *Gamma) ArgConstraints() []Arg {
	return []Arg{{"concentration", constraints.Positive}, {"rate", constraints.Positive}}
}

// Support of a Gamma.
func (d *Gamma) Support() Constraint { return constraints.Nonnegative }

// Expand shares the parameters.
func (d *Gamma) Expand(batchShape []int) Distribution {
	n := &Gamma{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is concentration/rate.
func (d *Gamma) Mean() *Tensor { return d.Concentration().Div(d.Rate()) }

// Mode is (concentration-1)/rate, 0 for concentrations up to 1.
func (d *Gamma) Mode() *Tensor {
	return d.Concentration().SubScalar(1).Div(d.Rate()).ClampScalar(tensor.ClampScalarOptions{Min: 0})
}

// Variance is concentration/rate².
func (d *Gamma) Variance() *Tensor { return d.Concentration().Div(d.Rate().PowScalar(2)) }

// SampleWith is Sample with a generator of one's own.
func (d *Gamma) SampleWith(g *torch.Generator, sampleShape ...int) (x *Tensor) {
	torch.NoGrad(func() { x = d.draw(g, sampleShape) })
	return x
}

// RSample draws at fixed quantiles: gradients follow from the implicit function theorem.
func (d *Gamma) RSample(sampleShape ...int) *Tensor { return d.draw(nil, sampleShape) }

func (d *Gamma) draw(g *torch.Generator, sampleShape []int) *Tensor {
	sh := d.shape(sampleShape)
	x := d.Concentration().Expand(sh).StandardGamma(tensor.StandardGammaOptions{Generator: g}).Div(d.Rate().Expand(sh))
	x.Detach().ClampMinScalarInPlace(tiny(x)) // in place and unrecorded: the gradient takes no notice
	return x
}

// LogProb is the logarithm of the density.
func (d *Gamma) LogProb(value *Tensor) *Tensor {
	value = value.To(d.Rate().DType(), d.Rate().Device())
	d.check(value)
	a := d.Concentration()
	return a.Xlogy(d.Rate()).Add(a.SubScalar(1).Xlogy(value)).Sub(d.Rate().Mul(value)).Sub(a.Lgamma())
}

// CDF is the distribution function.
func (d *Gamma) CDF(value *Tensor) *Tensor {
	d.check(value)
	return special.Gammainc(d.Concentration(), d.Rate().Mul(value))
}

// Entropy of a Gamma.
func (d *Gamma) Entropy() *Tensor {
	a := d.Concentration()
	return a.Sub(d.Rate().Log()).Add(a.Lgamma()).Add(rsub(1, a).Mul(a.Digamma()))
}

// NaturalParams are concentration - 1 and -rate.
func (d *Gamma) NaturalParams() []*Tensor {
	return []*Tensor{d.Concentration().SubScalar(1), d.Rate().Neg()}
}

// LogNormalizer is the log-partition function of the natural parameters.
func (d *Gamma) LogNormalizer(p ...*Tensor) *Tensor {
	checkNatural(p, 2)
	a := p[0].AddScalar(1)
	return a.Lgamma().Add(a.Mul(p[1].Reciprocal().Neg().Log()))
}

// Chi2 is the chi-squared distribution: a Gamma of concentration df/2 and rate 1/2.
// https://pytorch.org/docs/stable/distributions.html#chi2
type Chi2 struct{ Gamma }

// NewChi2 makes a Chi2.
func NewChi2(df *Tensor, opts ...Options) *Chi2 {
	d := &Chi2{}
	a := df.MulScalar(0.5)
	d.derived = []derived{{"df", d.DF}}
	d.setup(d, "Chi2", a, a.NewFull(nil, 0.5), opts)
	return d
}

// DF are the degrees of freedom.
func (d *Chi2) DF() *Tensor { return d.Concentration().MulScalar(2) }

// Super is the distribution as a Gamma.
func (d *Chi2) Super() Distribution { return &d.Gamma }

// ArgConstraints of a Chi2.
func (d *Chi2) ArgConstraints() []Arg { return []Arg{{"df", constraints.Positive}} }

// Expand shares the parameters.
func (d *Chi2) Expand(batchShape []int) Distribution {
	n := &Chi2{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Exponential is the exponential distribution.
// https://pytorch.org/docs/stable/distributions.html#exponential
type Exponential struct{ base }

// NewExponential makes an Exponential.
func NewExponential(rate *Tensor, opts ...Options) *Exponential {
	p := broadcast(rate)
	d := &Exponential{}
	d.rsample = true
	d.init(d, "Exponential", p[0].Shape(), nil, validates(option(opts).ValidateArgs), entry{"rate", p[0]})
	return d
}

// Rate is the reciprocal of the mean.
func (d *Exponential) Rate() *Tensor { return d.lookup("rate") }

// ArgConstraints of an Exponential.
func (d *Exponential) ArgConstraints() []Arg { return []Arg{{"rate", constraints.Positive}} }

// Support of an Exponential.
func (d *Exponential) Support() Constraint { return constraints.Nonnegative }

// Expand shares the parameters.
func (d *Exponential) Expand(batchShape []int) Distribution {
	n := &Exponential{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is 1/rate.
func (d *Exponential) Mean() *Tensor { return d.Rate().Reciprocal() }

// Mode is 0.
func (d *Exponential) Mode() *Tensor { return d.Rate().ZerosLike() }

// StdDev is 1/rate.
func (d *Exponential) StdDev() *Tensor { return d.Rate().Reciprocal() }

// Variance is 1/rate².
func (d *Exponential) Variance() *Tensor { return d.Rate().PowScalar(-2) }

// RSample divides standard exponential numbers by the rate.
func (d *Exponential) RSample(sampleShape ...int) *Tensor {
	return d.Rate().NewEmpty(d.shape(sampleShape)).ExponentialInPlace().Div(d.Rate())
}

// LogProb is the logarithm of the density.
func (d *Exponential) LogProb(value *Tensor) *Tensor {
	d.check(value)
	return d.Rate().Log().Sub(d.Rate().Mul(value))
}

// CDF is the distribution function.
func (d *Exponential) CDF(value *Tensor) *Tensor {
	d.check(value)
	return rsub(1, d.Rate().Neg().Mul(value).Exp())
}

// ICDF is the quantile function.
func (d *Exponential) ICDF(value *Tensor) *Tensor { return value.Neg().Log1p().Neg().Div(d.Rate()) }

// Entropy is 1 - log rate.
func (d *Exponential) Entropy() *Tensor { return rsub(1, d.Rate().Log()) }

// NaturalParams is -rate.
func (d *Exponential) NaturalParams() []*Tensor { return []*Tensor{d.Rate().Neg()} }

// LogNormalizer is the log-partition function of the natural parameter.
func (d *Exponential) LogNormalizer(p ...*Tensor) *Tensor {
	checkNatural(p, 1)
	return p[0].Neg().Log().Neg()
}

// Dirichlet is the Dirichlet distribution over the simplex; the last dimension of the concentration is the event.
// https://pytorch.org/docs/stable/distributions.html#dirichlet
type Dirichlet struct{ base }

// NewDirichlet makes a Dirichlet.
func NewDirichlet(concentration *Tensor, opts ...Options) *Dirichlet {
	if concentration.Dim() < 1 {
		tensor.Fail(tensor.ErrValue, "`concentration` parameter must be at least one-dimensional.")
	}
	d := &Dirichlet{}
	d.rsample = true
	sh := concentration.Shape()
	k := len(sh) - 1
	d.init(d, "Dirichlet", sh[:k], sh[k:], validates(option(opts).ValidateArgs), entry{"concentration", concentration})
	return d
}

// Concentration holds one positive number per coordinate.
func (d *Dirichlet) Concentration() *Tensor { return d.lookup("concentration") }

// ArgConstraints of a Dirichlet.
func (d *Dirichlet) ArgConstraints() []Arg {
	return []Arg{{"concentration", constraints.Independent(constraints.Positive, 1)}}
}

// Support of a Dirichlet.
func (d *Dirichlet) Support() Constraint { return constraints.Simplex }

// Expand shares the parameters.
func (d *Dirichlet) Expand(batchShape []int) Distribution {
	n := &Dirichlet{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is the normalized concentration.
func (d *Dirichlet) Mean() *Tensor { return d.Concentration().Div(sumLastKeep(d.Concentration())) }

// Mode is the normalized concentration - 1; where all are below 1, a corner of the simplex.
func (d *Dirichlet) Mode() *Tensor {
	m := d.Concentration().SubScalar(1).ClampScalar(tensor.ClampScalarOptions{Min: 0.0})
	mode := m.Div(sumLastKeep(m))
	corner := d.Concentration().LtScalar(1).AllDim(-1, tensor.AllDimOptions{KeepDim: true})
	return torch.Where(corner, oneHot(mode.ArgMax(tensor.ArgMaxOptions{Dim: tensor.Some(-1)}), mode), mode)
}

// oneHot encodes indices in the type and the last dimension of like.
func oneHot(index, like *Tensor) *Tensor {
	return index.OneHot(tensor.OneHotOptions{NumClasses: tensor.Some(like.Size(-1))}).ToDType(like.DType())
}

// Variance of each coordinate.
func (d *Dirichlet) Variance() *Tensor {
	a := d.Concentration()
	s := sumLastKeep(a)
	return a.Mul(s.Sub(a)).Div(s.PowScalar(2).Mul(s.AddScalar(1)))
}

// RSample draws at fixed quantiles of the marginal Beta distributions.
func (d *Dirichlet) RSample(sampleShape ...int) *Tensor {
	return autograd.Apply1(dirichletDraw{}, d.Concentration().Expand(d.shape(sampleShape)))
}

// dirichletDraw is a draw with its implicit gradient (M. Figurnov et al., Implicit reparameterization gradients, 2018).
// The draw as an operator has no gradient, in PyTorch neither.
type dirichletDraw struct{}

// Forward draws.
func (dirichletDraw) Forward(c *autograd.Context, in ...*Tensor) []*Tensor {
	x := in[0].SampleDirichlet()
	c.SaveForBackward(x, in[0])
	c.MarkOnceDifferentiable()
	return []*Tensor{x}
}

// Backward projects the gradient onto the simplex, and follows the marginals.
func (dirichletDraw) Backward(c *autograd.Context, g ...*Tensor) []*Tensor {
	s := c.SavedTensors()
	x, a := s[0], s[1]
	total := sumLastKeep(a).ExpandAs(a)
	return []*Tensor{torch.DirichletGrad(x, a, total).Mul(g[0].Sub(sumLastKeep(x.Mul(g[0]))))}
}

// LogProb is the logarithm of the density on the simplex.
func (d *Dirichlet) LogProb(value *Tensor) *Tensor {
	d.check(value)
	a := d.Concentration()
	return sumLast(a.SubScalar(1).Xlogy(value)).Add(sumLast(a).Lgamma()).Sub(sumLast(a.Lgamma()))
}

// Entropy of a Dirichlet.
func (d *Dirichlet) Entropy() *Tensor {
	a := d.Concentration()
	k, s := float64(a.Size(-1)), sumLast(a)
	norm := sumLast(a.Lgamma()).Sub(s.Lgamma())
	return norm.Sub(rsub(k, s).Mul(s.Digamma())).Sub(sumLast(a.SubScalar(1).Mul(a.Digamma())))
}

// NaturalParams is the concentration.
func (d *Dirichlet) NaturalParams() []*Tensor { return []*Tensor{d.Concentration()} }

// LogNormalizer is the log-partition function of the natural parameter.
func (d *Dirichlet) LogNormalizer(p ...*Tensor) *Tensor {
	checkNatural(p, 1)
	return sumLast(p[0].Lgamma()).Sub(sumLast(p[0]).Lgamma())
}

// Beta is the beta distribution on [0, 1], a Dirichlet of two coordinates.
// https://pytorch.org/docs/stable/distributions.html#beta
type Beta struct {
	base
	dirichlet *Dirichlet
}

// NewBeta makes a Beta: concentration1 is often called α, concentration0 β.
func NewBeta(concentration1, concentration0 *Tensor, opts ...Options) *Beta {
	p := broadcast(concentration1, concentration0)
	return newBeta(NewDirichlet(torch.Stack(p, torch.StackOptions{Dim: -1}), opts...),
		validates(option(opts).ValidateArgs))
}

func newBeta(dir *Dirichlet, validate bool) *Beta {
	d := &Beta{dirichlet: dir}
	d.rsample = true
	d.derived = []derived{{"concentration1", d.Concentration1}, {"concentration0", d.Concentration0}}
	d.init(d, "Beta", dir.batch, nil, validate)
	return d
}

// Concentration1 is often called α.
func (d *Beta) Concentration1() *Tensor { return selectLast(d.dirichlet.Concentration(), 0) }

// Concentration0 is often called β.
func (d *Beta) Concentration0() *Tensor { return selectLast(d.dirichlet.Concentration(), 1) }

// ArgConstraints of a Beta.
func (d *Beta) ArgConstraints() []Arg {
	return []Arg{{"concentration1", constraints.Positive}, {"concentration0", constraints.Positive}}
}

// Support of a Beta.
func (d *Beta) Support() Constraint { return constraints.UnitInterval }

// Expand shares the parameters.
func (d *Beta) Expand(batchShape []int) Distribution {
	n := newBeta(d.dirichlet.Expand(batchShape).(*Dirichlet), false)
	n.validate = d.validate
	return n
}

// Mean is α/(α+β).
func (d *Beta) Mean() *Tensor {
	return d.Concentration1().Div(d.Concentration1().Add(d.Concentration0()))
}

// Mode is that of the Dirichlet distribution.
func (d *Beta) Mode() *Tensor { return selectLast(d.dirichlet.Mode(), 0) }

// Variance of a Beta.
func (d *Beta) Variance() *Tensor {
	a, b := d.Concentration1(), d.Concentration0()
	s := a.Add(b)
	return a.Mul(b).Div(s.PowScalar(2).Mul(s.AddScalar(1)))
}

// RSample is the first coordinate of a Dirichlet draw.
func (d *Beta) RSample(sampleShape ...int) *Tensor {
	return selectLast(d.dirichlet.RSample(sampleShape...), 0)
}

// LogProb is the logarithm of the density.
func (d *Beta) LogProb(value *Tensor) *Tensor {
	d.check(value)
	return d.dirichlet.LogProb(torch.Stack([]*Tensor{value, rsub(1, value)}, torch.StackOptions{Dim: -1}))
}

// Entropy is that of the Dirichlet distribution.
func (d *Beta) Entropy() *Tensor { return d.dirichlet.Entropy() }

// NaturalParams are the concentrations.
func (d *Beta) NaturalParams() []*Tensor { return []*Tensor{d.Concentration1(), d.Concentration0()} }

// LogNormalizer is the log-partition function of the natural parameters.
func (d *Beta) LogNormalizer(p ...*Tensor) *Tensor {
	checkNatural(p, 2)
	return p[0].Lgamma().Add(p[1].Lgamma()).Sub(p[0].Add(p[1]).Lgamma())
}

// FisherSnedecor is the F-distribution: the ratio of two chi-squared numbers, each divided by its degrees of freedom.
// https://pytorch.org/docs/stable/distributions.html#fishersnedecor
type FisherSnedecor struct {
	base
	gamma1, gamma2 *Gamma
}

// NewFisherSnedecor makes a FisherSnedecor.
func NewFisherSnedecor(df1, df2 *Tensor, opts ...Options) *FisherSnedecor {
	p := broadcast(df1, df2)
	d := &FisherSnedecor{gamma1: NewGamma(p[0].MulScalar(0.5), p[0]), gamma2: NewGamma(p[1].MulScalar(0.5), p[1])}
	d.rsample = true
	d.init(d, "FisherSnedecor", p[0].Shape(), nil, validates(option(opts).ValidateArgs), entry{"df1", p[0]},
		entry{"df2", p[1]})
	return d
}

// DF1 are the degrees of freedom of the numerator.
func (d *FisherSnedecor) DF1() *Tensor { return d.lookup("df1") }

// DF2 are the degrees of freedom of the denominator.
func (d *FisherSnedecor) DF2() *Tensor { return d.lookup("df2") }

// ArgConstraints of a FisherSnedecor.
func (d *FisherSnedecor) ArgConstraints() []Arg {
	return []Arg{{"df1", constraints.Positive}, {"df2", constraints.Positive}}
}

// Support of a FisherSnedecor.
func (d *FisherSnedecor) Support() Constraint { return constraints.Positive }

// Expand shares the parameters.
func (d *FisherSnedecor) Expand(batchShape []int) Distribution {
	n := &FisherSnedecor{gamma1: d.gamma1.Expand(batchShape).(*Gamma), gamma2: d.gamma2.Expand(batchShape).(*Gamma)}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is df2/(df2-2), NaN for df2 up to 2.
func (d *FisherSnedecor) Mean() *Tensor {
	f := d.DF2().MaskedFillScalar(d.DF2().LeScalar(2), nan)
	return f.Div(f.SubScalar(2))
}

// Mode is NaN for df1 up to 2.
func (d *FisherSnedecor) Mode() *Tensor {
	m := d.DF1().SubScalar(2).Div(d.DF1()).Mul(d.DF2()).Div(d.DF2().AddScalar(2))
	return m.MaskedFillScalar(d.DF1().LeScalar(2), nan)
}

// Variance is NaN for df2 up to 4.
func (d *FisherSnedecor) Variance() *Tensor {
	f := d.DF2().MaskedFillScalar(d.DF2().LeScalar(4), nan)
	spread := d.DF1().Mul(f.SubScalar(2).PowScalar(2)).Mul(f.SubScalar(4))
	return f.PowScalar(2).MulScalar(2).Mul(d.DF1().Add(f).SubScalar(2)).Div(spread)
}

// RSample divides two Gamma draws.
func (d *FisherSnedecor) RSample(sampleShape ...int) *Tensor {
	x1, x2 := d.gamma1.RSample(sampleShape...), d.gamma2.RSample(sampleShape...)
	return x1.Div(x2.ClampMinScalar(tiny(x2))).ClampMinScalar(tiny(x2))
}

// LogProb is the logarithm of the density.
func (d *FisherSnedecor) LogProb(value *Tensor) *Tensor {
	d.check(value)
	a, b, r := d.DF1().MulScalar(0.5), d.DF2().MulScalar(0.5), d.DF1().Div(d.DF2())
	s := a.Add(b)
	t1 := s.Lgamma().Sub(a.Lgamma()).Sub(b.Lgamma())
	t2 := a.Mul(r.Log()).Add(a.SubScalar(1).Mul(value.Log()))
	return t1.Add(t2).Sub(s.Mul(r.Mul(value).Log1p()))
}

package distributions

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// TransformedDistribution is the distribution of what transforms make of the draws of a base distribution.
// https://pytorch.org/docs/stable/distributions.html#transformeddistribution
type TransformedDistribution struct {
	base
	baseDist   Distribution
	transforms []Transform
}

// NewTransformedDistribution makes a TransformedDistribution; the first transform is applied first.
func NewTransformedDistribution(base Distribution, transforms []Transform, opts ...Options) *TransformedDistribution {
	d := &TransformedDistribution{}
	d.transform(d, "TransformedDistribution", base, transforms, validates(option(opts).ValidateArgs))
	return d
}

// transform sets d up; families that are transformed distributions call it with themselves as self.
func (d *TransformedDistribution) transform(self Distribution, name string, base Distribution, transforms []Transform,
	validate bool, params ...entry) {
	d.transforms = slices.Clone(transforms)
	shape := join(base.BatchShape(), base.EventShape())
	baseDim := len(base.EventShape())
	t := NewComposeTransform(d.transforms)
	domain, codomain := t.Domain().EventDim(), t.Codomain().EventDim()
	if len(shape) < domain {
		tensor.Fail(tensor.ErrValue, "base_distribution needs to have shape with size at least %d, but got %s.", domain,
			Size(shape))
	}
	forward := t.ForwardShape(shape)
	expanded := t.InverseShape(forward)
	if !slices.Equal(shape, expanded) {
		base = base.Expand(expanded[:len(expanded)-baseDim])
	}
	if n := domain - baseDim; n > 0 {
		base = NewIndependent(base, n)
	}
	d.baseDist = base
	dim := max(codomain, baseDim+codomain-domain)
	cut := len(forward) - dim
	d.init(self, name, forward[:cut], forward[cut:], validate, params...)
}

// expandTransformed fills n with the expanded distribution.
func (d *TransformedDistribution) expandTransformed(n *TransformedDistribution, self Distribution, batch []int) {
	shape := join(batch, d.event)
	for i := len(d.transforms) - 1; i >= 0; i-- {
		shape = d.transforms[i].InverseShape(shape)
	}
	n.baseDist = d.baseDist.Expand(shape[:len(shape)-len(d.baseDist.EventShape())])
	n.transforms = d.transforms
	d.expandInto(&n.base, self, batch)
}

// Base is the distribution that is transformed.
func (d *TransformedDistribution) Base() Distribution { return d.baseDist }

// Transforms are the transforms in order.
func (d *TransformedDistribution) Transforms() []Transform { return slices.Clone(d.transforms) }

// Expand shares the parameters.
func (d *TransformedDistribution) Expand(batchShape []int) Distribution {
	n := &TransformedDistribution{}
	d.expandTransformed(n, n, batchShape)
	return n
}

// Support is the codomain of the last transform.
func (d *TransformedDistribution) Support() Constraint {
	if len(d.transforms) == 0 {
		return d.baseDist.Support()
	}
	s := d.transforms[len(d.transforms)-1].Codomain()
	if n := len(d.event) - s.EventDim(); n > 0 {
		return constraints.Independent(s, n)
	}
	return s
}

// HasRSample is that of the base.
func (d *TransformedDistribution) HasRSample() bool { return d.baseDist.HasRSample() }

// Sample transforms draws of the base.
func (d *TransformedDistribution) Sample(sampleShape ...int) (x *Tensor) {
	torch.NoGrad(func() {
		x = d.baseDist.Sample(sampleShape...)
		for _, t := range d.transforms {
			x = t.Forward(x)
		}
	})
	return x
}

// RSample transforms draws of the base.
func (d *TransformedDistribution) RSample(sampleShape ...int) *Tensor {
	x := d.baseDist.RSample(sampleShape...)
	for _, t := range d.transforms {
		x = t.Forward(x)
	}
	return x
}

// LogProb is the base's at the inverse of value, less the log-determinants of the transforms.
func (d *TransformedDistribution) LogProb(value *Tensor) *Tensor {
	d.check(value)
	dim := len(d.event)
	var sum *Tensor
	y := value
	for i := len(d.transforms) - 1; i >= 0; i-- {
		t := d.transforms[i]
		x := t.Inverse(y)
		in := t.Domain().EventDim()
		dim += in - t.Codomain().EventDim()
		j := sumRight(t.LogAbsDetJacobian(x, y), dim-in)
		if sum == nil {
			sum = j.Neg()
		} else {
			sum = sum.Sub(j)
		}
		y = x
	}
	l := sumRight(d.baseDist.LogProb(y), dim-len(d.baseDist.EventShape()))
	if sum == nil {
		return l
	}
	return sum.Add(l)
}

// monotonize turns probabilities round where the transforms fall.
func (d *TransformedDistribution) monotonize(p *Tensor) *Tensor {
	n, s := NewComposeTransform(d.transforms).Sign()
	switch {
	case s != nil:
		return s.Mul(p.SubScalar(0.5)).AddScalar(0.5)
	case n == 1:
		return p
	}
	return p.SubScalar(0.5).MulScalar(n).AddScalar(0.5)
}

// CDF needs monotonic transforms.
func (d *TransformedDistribution) CDF(value *Tensor) *Tensor {
	for i := len(d.transforms) - 1; i >= 0; i-- {
		value = d.transforms[i].Inverse(value)
	}
	return d.monotonize(d.baseDist.CDF(value))
}

// ICDF needs monotonic transforms.
func (d *TransformedDistribution) ICDF(value *Tensor) *Tensor {
	value = d.baseDist.ICDF(d.monotonize(value))
	for _, t := range d.transforms {
		value = t.Forward(value)
	}
	return value
}

// Independent takes batch dimensions of a distribution as event dimensions: densities are summed over them.
// https://pytorch.org/docs/stable/distributions.html#independent
type Independent struct {
	base
	baseDist Distribution
	n        int
}

// NewIndependent takes the n rightmost batch dimensions.
func NewIndependent(base Distribution, n int, opts ...Options) *Independent {
	batch := base.BatchShape()
	if n > len(batch) {
		tensor.Fail(tensor.ErrValue,
			"Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual %d vs %d", n, len(batch))
	}
	d := &Independent{baseDist: base, n: n}
	cut := len(batch) - n
	d.init(d, "Independent", batch[:cut], join(batch[cut:], base.EventShape()), validates(option(opts).ValidateArgs))
	return d
}

// Base is the distribution that is reinterpreted.
func (d *Independent) Base() Distribution { return d.baseDist }

// ReinterpretedBatchNDims is the number of dimensions taken.
func (d *Independent) ReinterpretedBatchNDims() int { return d.n }

// Expand shares the parameters.
func (d *Independent) Expand(batchShape []int) Distribution {
	n := &Independent{baseDist: d.baseDist.Expand(join(batchShape, d.event[:d.n])), n: d.n}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// HasRSample is that of the base.
func (d *Independent) HasRSample() bool { return d.baseDist.HasRSample() }

// HasEnumerateSupport is that of the base when no dimension is taken.
func (d *Independent) HasEnumerateSupport() bool { return d.n == 0 && d.baseDist.HasEnumerateSupport() }

// Support of an Independent.
func (d *Independent) Support() Constraint {
	if d.n == 0 {
		return d.baseDist.Support()
	}
	return constraints.Independent(d.baseDist.Support(), d.n)
}

// Mean is that of the base.
func (d *Independent) Mean() *Tensor { return d.baseDist.Mean() }

// Mode is that of the base.
func (d *Independent) Mode() *Tensor { return d.baseDist.Mode() }

// Variance is that of the base.
func (d *Independent) Variance() *Tensor { return d.baseDist.Variance() }

// Sample is that of the base.
func (d *Independent) Sample(sampleShape ...int) *Tensor { return d.baseDist.Sample(sampleShape...) }

// RSample is that of the base.
func (d *Independent) RSample(sampleShape ...int) *Tensor { return d.baseDist.RSample(sampleShape...) }

// LogProb sums over the dimensions taken.
func (d *Independent) LogProb(value *Tensor) *Tensor {
	return sumRight(d.baseDist.LogProb(value), d.n)
}

// Entropy sums over the dimensions taken.
func (d *Independent) Entropy() *Tensor { return sumRight(d.baseDist.Entropy(), d.n) }

// EnumerateSupport is that of the base when no dimension is taken.
func (d *Independent) EnumerateSupport(opts ...EnumerateOptions) *Tensor {
	if d.n > 0 {
		tensor.Fail(tensor.ErrNotImpl, "Enumeration over cartesian product is not implemented")
	}
	return d.baseDist.EnumerateSupport(opts...)
}

// String prints the base and the number of dimensions.
func (d *Independent) String() string { return fmt.Sprintf("Independent(%s, %d)", d.baseDist, d.n) }

// LogNormal is the distribution of exp of normal numbers; loc and scale are those of the logarithm.
// https://pytorch.org/docs/stable/distributions.html#lognormal
type LogNormal struct{ TransformedDistribution }

// NewLogNormal makes a LogNormal.
func NewLogNormal(loc, scale *Tensor, opts ...Options) *LogNormal {
	d := &LogNormal{}
	d.derived = []derived{{"loc", d.Loc}, {"scale", d.Scale}}
	d.transform(d, "LogNormal", NewNormal(loc, scale, opts...), []Transform{NewExpTransform()},
		validates(option(opts).ValidateArgs))
	return d
}

func (d *LogNormal) normal() *Normal { return d.baseDist.(*Normal) }

// Super is the distribution as a TransformedDistribution.
func (d *LogNormal) Super() Distribution { return &d.TransformedDistribution }

// Loc is the mean of the logarithm.
func (d *LogNormal) Loc() *Tensor { return d.normal().Loc() }

// Scale is the standard deviation of the logarithm.
func (d *LogNormal) Scale() *Tensor { return d.normal().Scale() }

// ArgConstraints of a LogNormal.
func (d *LogNormal) ArgConstraints() []Arg { return locScale }

// Support of a LogNormal.
func (d *LogNormal) Support() Constraint { return constraints.Positive }

// Expand shares the parameters.
func (d *LogNormal) Expand(batchShape []int) Distribution {
	n := &LogNormal{}
	d.expandTransformed(&n.TransformedDistribution, n, batchShape)
	return n
}

// Mean is exp(loc + scale²/2).
func (d *LogNormal) Mean() *Tensor { return d.Loc().Add(d.Scale().PowScalar(2).DivScalar(2)).Exp() }

// Mode is exp(loc - scale²).
func (d *LogNormal) Mode() *Tensor { return d.Loc().Sub(d.Scale().Square()).Exp() }

// Variance of a LogNormal.
func (d *LogNormal) Variance() *Tensor {
	v := d.Scale().PowScalar(2)
	return v.Expm1().Mul(d.Loc().MulScalar(2).Add(v).Exp())
}

// Entropy is that of the logarithm plus loc.
func (d *LogNormal) Entropy() *Tensor { return d.baseDist.Entropy().Add(d.Loc()) }

// half is a distribution folded at 0.
type half struct{ TransformedDistribution }

var scaleArgs = []Arg{{"scale", constraints.Positive}}

// ArgConstraints of folded distributions.
func (d *half) ArgConstraints() []Arg { return scaleArgs }

// Support of folded distributions.
func (d *half) Support() Constraint { return constraints.Nonnegative }

// Super is the distribution as a TransformedDistribution.
func (d *half) Super() Distribution { return &d.TransformedDistribution }

// LogProb doubles the density of positive numbers.
func (d *half) LogProb(value *Tensor) *Tensor {
	d.check(value)
	return torch.WhereScalar(value.GeScalar(0), d.baseDist.LogProb(value).AddScalar(math.Ln2), -inf)
}

// CDF is the distribution function.
func (d *half) CDF(value *Tensor) *Tensor {
	d.check(value)
	return d.baseDist.CDF(value).MulScalar(2).SubScalar(1)
}

// ICDF is the quantile function.
func (d *half) ICDF(value *Tensor) *Tensor { return d.baseDist.ICDF(value.AddScalar(1).DivScalar(2)) }

// Entropy is log 2 less than that of the base.
func (d *half) Entropy() *Tensor { return d.baseDist.Entropy().SubScalar(math.Ln2) }

// HalfNormal is the distribution of the absolute value of normal numbers with mean 0.
// https://pytorch.org/docs/stable/distributions.html#halfnormal
type HalfNormal struct{ half }

var noCheck = Options{ValidateArgs: tensor.Some(false)}

// NewHalfNormal makes a HalfNormal.
func NewHalfNormal(scale *Tensor, opts ...Options) *HalfNormal {
	d := &HalfNormal{}
	d.derived = []derived{{"scale", d.Scale}}
	d.transform(d, "HalfNormal", NewNormal(scale.NewZeros(nil), scale, noCheck), []Transform{NewAbsTransform()},
		validates(option(opts).ValidateArgs))
	return d
}

// Scale is the standard deviation of the normal numbers.
func (d *HalfNormal) Scale() *Tensor { return d.baseDist.(*Normal).Scale() }

// Expand shares the parameters.
func (d *HalfNormal) Expand(batchShape []int) Distribution {
	n := &HalfNormal{}
	d.expandTransformed(&n.TransformedDistribution, n, batchShape)
	return n
}

// Mean is scale √(2/π).
func (d *HalfNormal) Mean() *Tensor { return d.Scale().MulScalar(math.Sqrt(2 / math.Pi)) }

// Mode is 0.
func (d *HalfNormal) Mode() *Tensor { return d.Scale().ZerosLike() }

// Variance is scale² (1 - 2/π).
func (d *HalfNormal) Variance() *Tensor { return d.Scale().PowScalar(2).MulScalar(1 - 2/math.Pi) }

// HalfCauchy is the distribution of the absolute value of Cauchy numbers around 0.
// https://pytorch.org/docs/stable/distributions.html#halfcauchy
type HalfCauchy struct{ half }

// NewHalfCauchy makes a HalfCauchy.
func NewHalfCauchy(scale *Tensor, opts ...Options) *HalfCauchy {
	d := &HalfCauchy{}
	d.derived = []derived{{"scale", d.Scale}}
	d.transform(d, "HalfCauchy", NewCauchy(scale.NewZeros(nil), scale, noCheck), []Transform{NewAbsTransform()},
		validates(option(opts).ValidateArgs))
	return d
}

// Scale is that of the Cauchy numbers.
func (d *HalfCauchy) Scale() *Tensor { return d.baseDist.(*Cauchy).Scale() }

// Expand shares the parameters.
func (d *HalfCauchy) Expand(batchShape []int) Distribution {
	n := &HalfCauchy{}
	d.expandTransformed(&n.TransformedDistribution, n, batchShape)
	return n
}

// Mean is infinite.
func (d *HalfCauchy) Mean() *Tensor { return full(d.Scale(), d.shape(nil), inf) }

// Mode is 0.
func (d *HalfCauchy) Mode() *Tensor { return d.Scale().ZerosLike() }

// Variance is infinite.
func (d *HalfCauchy) Variance() *Tensor { return d.baseDist.Variance() }

// Gumbel is the distribution of extremes.
// https://pytorch.org/docs/stable/distributions.html#gumbel
type Gumbel struct{ TransformedDistribution }

// NewGumbel makes a Gumbel.
func NewGumbel(loc, scale *Tensor, opts ...Options) *Gumbel {
	p := broadcast(loc, scale)
	loc, scale = p[0], p[1]
	low, high := full(loc, loc.Shape(), tiny(loc)), full(loc, loc.Shape(), 1-eps(loc))
	d := &Gumbel{}
	d.transform(d, "Gumbel", NewUniform(low, high, opts...), []Transform{
		NewExpTransform().Inv(), NewAffineTransform(scale.NewZeros(nil), scale.OnesLike().Neg()),
		NewExpTransform().Inv(), NewAffineTransform(loc, scale.Neg()),
	}, validates(option(opts).ValidateArgs), entry{"loc", loc}, entry{"scale", scale})
	return d
}

// Super is the distribution as a TransformedDistribution.
func (d *Gumbel) Super() Distribution { return &d.TransformedDistribution }

// Loc is the mode.
func (d *Gumbel) Loc() *Tensor { return d.lookup("loc") }

// Scale stretches the distribution.
func (d *Gumbel) Scale() *Tensor { return d.lookup("scale") }

// ArgConstraints of a Gumbel.
func (d *Gumbel) ArgConstraints() []Arg { return locScale }

// Support of a Gumbel.
func (d *Gumbel) Support() Constraint { return constraints.Real }

// Expand shares the parameters.
func (d *Gumbel) Expand(batchShape []int) Distribution {
	n := &Gumbel{}
	d.expandTransformed(&n.TransformedDistribution, n, batchShape)
	return n
}

// LogProb is the logarithm of the density.
func (d *Gumbel) LogProb(value *Tensor) *Tensor {
	d.check(value)
	y := d.Loc().Sub(value).Div(d.Scale())
	return y.Sub(y.Exp()).Sub(d.Scale().Log())
}

// Mean is loc + γ scale with Euler's constant γ.
func (d *Gumbel) Mean() *Tensor { return d.Loc().Add(d.Scale().MulScalar(euler)) }

// Mode is loc.
func (d *Gumbel) Mode() *Tensor { return d.Loc() }

// StdDev is π scale/√6.
func (d *Gumbel) StdDev() *Tensor { return d.Scale().MulScalar(math.Pi / math.Sqrt(6)) }

// Variance is π² scale²/6.
func (d *Gumbel) Variance() *Tensor { return d.StdDev().PowScalar(2) }

// Entropy is log scale + 1 + γ.
func (d *Gumbel) Entropy() *Tensor { return d.Scale().Log().AddScalar(1 + euler) }

// Pareto is the Pareto distribution of type 1.
// https://pytorch.org/docs/stable/distributions.html#pareto
type Pareto struct{ TransformedDistribution }

// NewPareto makes a Pareto.
func NewPareto(scale, alpha *Tensor, opts ...Options) *Pareto {
	p := broadcast(scale, alpha)
	d := &Pareto{}
	d.transform(d, "Pareto", NewExponential(p[1], opts...), []Transform{NewExpTransform(),
		NewAffineTransform(p[0].NewZeros(nil), p[0])},
		validates(option(opts).ValidateArgs), entry{"scale", p[0]}, entry{"alpha", p[1]})
	return d
}

// Super is the distribution as a TransformedDistribution.
func (d *Pareto) Super() Distribution { return &d.TransformedDistribution }

// Scale is the smallest value.
func (d *Pareto) Scale() *Tensor { return d.lookup("scale") }

// Alpha is the shape.
func (d *Pareto) Alpha() *Tensor { return d.lookup("alpha") }

// ArgConstraints of a Pareto.
func (d *Pareto) ArgConstraints() []Arg {
	return []Arg{{"alpha", constraints.Positive}, {"scale", constraints.Positive}}
}

// Support of a Pareto.
func (d *Pareto) Support() Constraint { return constraints.GreaterThanEq(d.Scale()) }

// Expand shares the parameters.
func (d *Pareto) Expand(batchShape []int) Distribution {
	n := &Pareto{}
	d.expandTransformed(&n.TransformedDistribution, n, batchShape)
	return n
}

// Mean is infinite for alpha up to 1.
func (d *Pareto) Mean() *Tensor {
	a := clamp(d.Alpha(), 1, nil)
	return a.Mul(d.Scale()).Div(a.SubScalar(1))
}

// Mode is the scale.
func (d *Pareto) Mode() *Tensor { return d.Scale() }

// Variance is infinite for alpha up to 2.
func (d *Pareto) Variance() *Tensor {
	a := clamp(d.Alpha(), 2, nil)
	return d.Scale().PowScalar(2).Mul(a).Div(a.SubScalar(1).PowScalar(2).Mul(a.SubScalar(2)))
}

// Entropy of a Pareto.
func (d *Pareto) Entropy() *Tensor {
	return d.Scale().Div(d.Alpha()).Log().Add(d.Alpha().Reciprocal().AddScalar(1))
}

// Weibull is the Weibull distribution.
// https://pytorch.org/docs/stable/distributions.html#weibull
type Weibull struct{ TransformedDistribution }

// NewWeibull makes a Weibull.
func NewWeibull(scale, concentration *Tensor, opts ...Options) *Weibull {
	p := broadcast(scale, concentration)
	d := &Weibull{}
	d.fill(p[0], p[1], opts, validates(option(opts).ValidateArgs))
	return d
}

func (d *Weibull) fill(scale, concentration *Tensor, opts []Options, validate bool) {
	d.transform(d, "Weibull", NewExponential(scale.OnesLike(), opts...), []Transform{
		NewPowerTransform(concentration.Reciprocal()), NewAffineTransform(scale.NewZeros(nil), scale),
	}, validate, entry{"scale", scale}, entry{"concentration", concentration})
}

// Super is the distribution as a TransformedDistribution.
func (d *Weibull) Super() Distribution { return &d.TransformedDistribution }

// Scale stretches the distribution.
func (d *Weibull) Scale() *Tensor { return d.lookup("scale") }

// Concentration is the shape.
func (d *Weibull) Concentration() *Tensor { return d.lookup("concentration") }

func (d *Weibull) reciprocal() *Tensor { return d.Concentration().Reciprocal() }

// ArgConstraints of a Weibull.
func (d *Weibull) ArgConstraints() []Arg {
	return []Arg{{"scale", constraints.Positive}, {"concentration", constraints.Positive}}
}

// Support of a Weibull.
func (d *Weibull) Support() Constraint { return constraints.Positive }

// Expand shares the parameters.
func (d *Weibull) Expand(batchShape []int) Distribution {
	n := &Weibull{}
	n.fill(d.Scale().Expand(batchShape), d.Concentration().Expand(batchShape), []Options{noCheck}, false)
	n.validate = d.validate
	return n
}

// Mean is scale·Γ(1+1/concentration).
func (d *Weibull) Mean() *Tensor { return d.Scale().Mul(d.reciprocal().AddScalar(1).Lgamma().Exp()) }

// Mode of a Weibull.
func (d *Weibull) Mode() *Tensor {
	k := d.Concentration()
	return d.Scale().Mul(k.SubScalar(1).Div(k).Pow(k.Reciprocal()))
}

// Variance of a Weibull.
func (d *Weibull) Variance() *Tensor {
	r := d.reciprocal()
	gammas := r.MulScalar(2).AddScalar(1).Lgamma().Exp().Sub(r.AddScalar(1).Lgamma().MulScalar(2).Exp())
	return d.Scale().PowScalar(2).Mul(gammas)
}

// Entropy of a Weibull.
func (d *Weibull) Entropy() *Tensor {
	r := d.reciprocal()
	return rsub(1, r).MulScalar(euler).Add(d.Scale().Mul(r).Log()).AddScalar(1)
}

// InverseGamma is the distribution of the reciprocal of Gamma numbers.
// https://pytorch.org/docs/stable/distributions.html#inversegamma
type InverseGamma struct{ TransformedDistribution }

// NewInverseGamma makes an InverseGamma.
func NewInverseGamma(concentration, rate *Tensor, opts ...Options) *InverseGamma {
	d := &InverseGamma{}
	d.derived = []derived{{"concentration", d.Concentration}, {"rate", d.Rate}}
	g := NewGamma(concentration, rate, opts...)
	d.transform(d, "InverseGamma", g, []Transform{NewPowerTransform(g.Rate().NewFull(nil, -1))},
		validates(option(opts).ValidateArgs))
	return d
}

func (d *InverseGamma) gamma() *Gamma { return d.baseDist.(*Gamma) }

// Super is the distribution as a TransformedDistribution.
func (d *InverseGamma) Super() Distribution { return &d.TransformedDistribution }

// Concentration is the shape.
func (d *InverseGamma) Concentration() *Tensor { return d.gamma().Concentration() }

// Rate is the rate of the Gamma numbers, the scale of their reciprocals.
func (d *InverseGamma) Rate() *Tensor { return d.gamma().Rate() }

// ArgConstraints of an InverseGamma.
func (d *InverseGamma) ArgConstraints() []Arg { return d.gamma().ArgConstraints() }

// Support of an InverseGamma.
func (d *InverseGamma) Support() Constraint { return constraints.Positive }

// Expand shares the parameters.
func (d *InverseGamma) Expand(batchShape []int) Distribution {
	n := &InverseGamma{}
	d.expandTransformed(&n.TransformedDistribution, n, batchShape)
	return n
}

// Mean is infinite for concentrations up to 1.
func (d *InverseGamma) Mean() *Tensor {
	a := d.Concentration()
	return torch.WhereScalar(a.GtScalar(1), d.Rate().Div(a.SubScalar(1)), inf)
}

// Mode is rate/(concentration+1).
func (d *InverseGamma) Mode() *Tensor { return d.Rate().Div(d.Concentration().AddScalar(1)) }

// Variance is infinite for concentrations up to 2.
func (d *InverseGamma) Variance() *Tensor {
	a := d.Concentration()
	v := d.Rate().Square().Div(a.SubScalar(1).Square().Mul(a.SubScalar(2)))
	return torch.WhereScalar(a.GtScalar(2), v, inf)
}

// Entropy of an InverseGamma.
func (d *InverseGamma) Entropy() *Tensor {
	a := d.Concentration()
	return a.Add(d.Rate().Log()).Add(a.Lgamma()).Sub(a.AddScalar(1).Mul(a.Digamma()))
}

// Kumaraswamy is a distribution on [0, 1] much like Beta, with a distribution function in closed form.
// https://pytorch.org/docs/stable/distributions.html#kumaraswamy
type Kumaraswamy struct{ TransformedDistribution }

// NewKumaraswamy makes a Kumaraswamy.
func NewKumaraswamy(concentration1, concentration0 *Tensor, opts ...Options) *Kumaraswamy {
	p := broadcast(concentration1, concentration0)
	a, b := p[0], p[1]
	one := b.NewOnes(nil)
	d := &Kumaraswamy{}
	d.transform(d, "Kumaraswamy", NewUniform(b.ZerosLike(), b.OnesLike(), opts...), []Transform{
		NewPowerTransform(b.Reciprocal()), NewAffineTransform(one, one.Neg()), NewPowerTransform(a.Reciprocal()),
	}, validates(option(opts).ValidateArgs), entry{"concentration1", a}, entry{"concentration0", b})
	return d
}

// Super is the distribution as a TransformedDistribution.
func (d *Kumaraswamy) Super() Distribution { return &d.TransformedDistribution }

// Concentration1 is often called a.
func (d *Kumaraswamy) Concentration1() *Tensor { return d.lookup("concentration1") }

// Concentration0 is often called b.
func (d *Kumaraswamy) Concentration0() *Tensor { return d.lookup("concentration0") }

// ArgConstraints of a Kumaraswamy.
func (d *Kumaraswamy) ArgConstraints() []Arg {
	return []Arg{{"concentration1", constraints.Positive}, {"concentration0", constraints.Positive}}
}

// Support of a Kumaraswamy.
func (d *Kumaraswamy) Support() Constraint { return constraints.UnitInterval }

// Expand shares the parameters.
func (d *Kumaraswamy) Expand(batchShape []int) Distribution {
	n := &Kumaraswamy{}
	d.expandTransformed(&n.TransformedDistribution, n, batchShape)
	return n
}

// moment is the n-th moment: b·B(1+n/a, b) with the beta function B.
func (d *Kumaraswamy) moment(n float64) *Tensor {
	b := d.Concentration0()
	a := over(n, d.Concentration1()).AddScalar(1)
	return b.Mul(a.Lgamma().Add(b.Lgamma()).Sub(a.Add(b).Lgamma()).Exp())
}

// Mean of a Kumaraswamy.
func (d *Kumaraswamy) Mean() *Tensor { return d.moment(1) }

// Mode is NaN where a concentration is below 1.
func (d *Kumaraswamy) Mode() *Tensor {
	a, b := d.Concentration1(), d.Concentration0()
	l := b.Reciprocal().Mul(b.Neg().Log1p()).Sub(b.Neg().Mul(a).Log1p())
	return l.MaskedFillScalar(b.LtScalar(1).BitwiseOr(a.LtScalar(1)), nan).Exp()
}

// Variance of a Kumaraswamy.
func (d *Kumaraswamy) Variance() *Tensor { return d.moment(2).Sub(d.Mean().PowScalar(2)) }

// Entropy of a Kumaraswamy.
func (d *Kumaraswamy) Entropy() *Tensor {
	a, b := d.Concentration1(), d.Concentration0()
	h := b.AddScalar(1).Digamma().AddScalar(euler)
	return rsub(1, b.Reciprocal()).Add(rsub(1, a.Reciprocal()).Mul(h)).Sub(a.Log()).Sub(b.Log())
}

// LogisticNormal is the distribution on the simplex of normal vectors broken as sticks.
// https://pytorch.org/docs/stable/distributions.html#logisticnormal
type LogisticNormal struct{ TransformedDistribution }

// NewLogisticNormal makes a LogisticNormal; events have one coordinate more than loc.
func NewLogisticNormal(loc, scale *Tensor, opts ...Options) *LogisticNormal {
	var b Distribution = NewNormal(loc, scale, opts...)
	if len(b.BatchShape()) == 0 {
		b = b.Expand([]int{1})
	}
	d := &LogisticNormal{}
	d.derived = []derived{{"loc", d.Loc}, {"scale", d.Scale}}
	d.transform(d, "LogisticNormal", b, []Transform{NewStickBreakingTransform()}, validates(option(opts).ValidateArgs))
	return d
}

func (d *LogisticNormal) normal() *Normal { return d.baseDist.(*Independent).baseDist.(*Normal) }

// Super is the distribution as a TransformedDistribution.
func (d *LogisticNormal) Super() Distribution { return &d.TransformedDistribution }

// Loc is the mean of the normal vectors.
func (d *LogisticNormal) Loc() *Tensor { return d.normal().Loc() }

// Scale is the standard deviation of the normal vectors.
func (d *LogisticNormal) Scale() *Tensor { return d.normal().Scale() }

// ArgConstraints of a LogisticNormal.
func (d *LogisticNormal) ArgConstraints() []Arg { return locScale }

// Support of a LogisticNormal.
func (d *LogisticNormal) Support() Constraint { return constraints.Simplex }

// Expand shares the parameters.
func (d *LogisticNormal) Expand(batchShape []int) Distribution {
	n := &LogisticNormal{}
	d.expandTransformed(&n.TransformedDistribution, n, batchShape)
	return n
}

// GeneralizedPareto is the distribution of exceedances over a threshold.
// https://pytorch.org/docs/stable/distributions.html#generalizedpareto
type GeneralizedPareto struct{ base }

// NewGeneralizedPareto makes a GeneralizedPareto.
func NewGeneralizedPareto(loc, scale, concentration *Tensor, opts ...Options) *GeneralizedPareto {
	p := broadcast(loc, scale, concentration)
	d := &GeneralizedPareto{}
	d.rsample = true
	d.init(d, "GeneralizedPareto", p[0].Shape(), nil, validates(option(opts).ValidateArgs), entry{"loc", p[0]},
		entry{"scale", p[1]}, entry{"concentration", p[2]})
	return d
}

// Loc is the threshold.
func (d *GeneralizedPareto) Loc() *Tensor { return d.lookup("loc") }

// Scale stretches the distribution.
func (d *GeneralizedPareto) Scale() *Tensor { return d.lookup("scale") }

// Concentration is the shape: positive for heavy tails, negative for a bounded support.
func (d *GeneralizedPareto) Concentration() *Tensor { return d.lookup("concentration") }

// ArgConstraints of a GeneralizedPareto.
func (d *GeneralizedPareto) ArgConstraints() []Arg {
	return []Arg{{"loc", constraints.Real}, {"scale", constraints.Positive}, {"concentration", constraints.Real}}
}

// Support begins at loc.
func (d *GeneralizedPareto) Support() Constraint {
	upper := d.Loc().Sub(d.Scale().Div(d.Concentration()))
	return constraints.IntervalTensor(d.Loc(), torch.WhereScalar(d.Concentration().LtScalar(0), upper, inf))
}

// Expand shares the parameters.
func (d *GeneralizedPareto) Expand(batchShape []int) Distribution {
	n := &GeneralizedPareto{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// RSample inverts the distribution function.
func (d *GeneralizedPareto) RSample(sampleShape ...int) *Tensor {
	return d.ICDF(rand(d.Loc(), d.shape(sampleShape)))
}

// shapeOf tells where the concentration is zero, and gives it with ones there, which formulas may divide by.
func (d *GeneralizedPareto) shapeOf(z *Tensor) (zero, safe *Tensor) {
	c := d.Concentration()
	zero = c.IsClose(z)
	return zero, torch.Where(zero, c.OnesLike(), c)
}

// float32Zero is what PyTorch compares the concentration with in densities: a zero of the default type, so that float64
// is refused there.
func (d *GeneralizedPareto) float32Zero() *Tensor {
	return torch.ScalarTensor(0.0, torch.ScalarTensorOptions{DType: torch.DefaultDType(), Device: d.Loc().Device()})
}

func (d *GeneralizedPareto) z(x *Tensor) *Tensor { return x.Sub(d.Loc()).Div(d.Scale()) }

// LogProb is the logarithm of the density. As in PyTorch, the parameters must have the default type.
func (d *GeneralizedPareto) LogProb(value *Tensor) *Tensor {
	d.check(value)
	z := d.z(value)
	zero, c := d.shapeOf(d.float32Zero())
	y := c.Reciprocal().Add(z.OnesLike())
	y = torch.Where(y.EqScalar(0), y, y.Mul(c.Mul(z).Log1p()))
	return d.Scale().Log().Neg().Sub(torch.Where(zero, z, y))
}

// LogSurvivalFunction is the logarithm of the probability of a value or more.
func (d *GeneralizedPareto) LogSurvivalFunction(value *Tensor) *Tensor {
	d.check(value)
	z := d.z(value)
	zero, c := d.shapeOf(d.float32Zero())
	return torch.Where(zero, z.Neg(), c.Mul(z).Log1p().Neg().Div(c))
}

// LogCDF is the logarithm of CDF.
func (d *GeneralizedPareto) LogCDF(value *Tensor) *Tensor {
	return d.LogSurvivalFunction(value).Exp().Neg().Log1p()
}

// CDF is the distribution function. As in PyTorch, the parameters must have the default type.
func (d *GeneralizedPareto) CDF(value *Tensor) *Tensor { return d.LogCDF(value).Exp() }

// ICDF is the quantile function.
func (d *GeneralizedPareto) ICDF(value *Tensor) *Tensor {
	zero, c := d.shapeOf(d.Concentration().ZerosLike())
	l := value.Neg().Log1p()
	x := d.Loc().Add(d.Scale().Div(c).Mul(c.Neg().Mul(l).Expm1()))
	return torch.Where(zero, d.Loc().Sub(d.Scale().Mul(l)), x)
}

// Mean is NaN for concentrations from 1 on.
func (d *GeneralizedPareto) Mean() *Tensor {
	ok := d.Concentration().LtScalar(1)
	c := torch.WhereScalar(ok, d.Concentration(), 0.5)
	return torch.WhereScalar(ok, d.Loc().Add(d.Scale().Div(rsub(1, c))), nan)
}

// Variance is NaN for concentrations from 1/2 on.
func (d *GeneralizedPareto) Variance() *Tensor {
	ok := d.Concentration().LtScalar(0.5)
	c := torch.WhereScalar(ok, d.Concentration(), 0.25)
	v := d.Scale().PowScalar(2).Div(rsub(1, c).PowScalar(2).Mul(rsub(1, c.MulScalar(2))))
	return torch.WhereScalar(ok, v, nan)
}

// Mode is loc.
func (d *GeneralizedPareto) Mode() *Tensor { return d.Loc() }

// Entropy is log scale + concentration + 1.
func (d *GeneralizedPareto) Entropy() *Tensor {
	return d.Scale().Log().Add(d.Concentration()).AddScalar(1).BroadcastTo(d.batch)
}

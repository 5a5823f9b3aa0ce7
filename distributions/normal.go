package distributions

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// locScale are the constraints of families with a location and a scale.
var locScale = []Arg{{"loc", constraints.Real}, {"scale", constraints.Positive}}

// initLocScale sets up a family with a location and a scale.
func (d *base) initLocScale(self Distribution, name string, loc, scale *Tensor, opts []Options) {
	p := broadcast(loc, scale)
	d.rsample = true
	d.init(self, name, p[0].Shape(), nil, validates(option(opts).ValidateArgs), entry{"loc", p[0]}, entry{"scale",
		p[1]})
}

// Normal is the normal (Gaussian) distribution with mean loc and standard deviation scale.
// https://pytorch.org/docs/stable/distributions.html#normal
type Normal struct{ base }

// NewNormal makes a Normal.
func NewNormal(loc, scale *Tensor, opts ...Options) *Normal {
	d := &Normal{}
	d.initLocScale(d, "Normal", loc, scale, opts)
	return d
}

// Loc is the mean.
func (d *Normal) Loc() *Tensor { return d.lookup("loc") }

// Scale is the standard deviation.
func (d *Normal) Scale() *Tensor { return d.lookup("scale") }

// ArgConstraints of a Normal.
func (d *Normal) ArgConstraints() []Arg { return locScale }

// Support of a Normal.
func (d *Normal) Support() Constraint { return constraints.Real }

// Expand shares the parameters.
func (d *Normal) Expand(batchShape []int) Distribution {
	n := &Normal{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is loc.
func (d *Normal) Mean() *Tensor { return d.Loc() }

// Mode is loc.
func (d *Normal) Mode() *Tensor { return d.Loc() }

// StdDev is scale.
func (d *Normal) StdDev() *Tensor { return d.Scale() }

// Variance is scale².
func (d *Normal) Variance() *Tensor { return d.StdDev().PowScalar(2) }

// Sample draws without gradients.
func (d *Normal) Sample(sampleShape ...int) (x *Tensor) {
	sh := d.shape(sampleShape)
	torch.NoGrad(func() { x = torch.NormalTensors(d.Loc().Expand(sh), d.Scale().Expand(sh)) })
	return x
}

// RSample is loc + scale times standard normal numbers.
func (d *Normal) RSample(sampleShape ...int) *Tensor {
	return d.Loc().Add(normals(d.Loc(), d.shape(sampleShape)).Mul(d.Scale()))
}

// LogProb is the logarithm of the density.
func (d *Normal) LogProb(value *Tensor) *Tensor {
	d.check(value)
	v := d.Scale().PowScalar(2)
	squares := value.Sub(d.Loc()).PowScalar(2).Neg().Div(v.MulScalar(2))
	return squares.Sub(d.Scale().Log()).SubScalar(math.Log(math.Sqrt(2 * math.Pi)))
}

// CDF is the distribution function.
func (d *Normal) CDF(value *Tensor) *Tensor {
	d.check(value)
	return value.Sub(d.Loc()).Mul(d.Scale().Reciprocal()).DivScalar(math.Sqrt2).Erf().AddScalar(1).MulScalar(0.5)
}

// ICDF is the quantile function.
func (d *Normal) ICDF(value *Tensor) *Tensor {
	return d.Loc().Add(d.Scale().Mul(value.MulScalar(2).SubScalar(1).Erfinv()).MulScalar(math.Sqrt2))
}

// Entropy is (1 + log 2π)/2 + log scale.
func (d *Normal) Entropy() *Tensor {
	return d.Scale().Log().AddScalar(0.5 + 0.5*math.Log(2*math.Pi))
}

// NaturalParams are loc/scale² and -1/(2 scale²).
func (d *Normal) NaturalParams() []*Tensor {
	v := d.Scale().PowScalar(2)
	return []*Tensor{d.Loc().Div(v), v.Reciprocal().MulScalar(-0.5)}
}

// LogNormalizer is the log-partition function of the natural parameters.
func (d *Normal) LogNormalizer(p ...*Tensor) *Tensor {
	checkNatural(p, 2)
	return p[0].PowScalar(2).MulScalar(-0.25).Div(p[1]).Add(over(-math.Pi, p[1]).Log().MulScalar(0.5))
}

// Laplace is the double exponential distribution around loc.
// https://pytorch.org/docs/stable/distributions.html#laplace
type Laplace struct{ base }

// NewLaplace makes a Laplace.
func NewLaplace(loc, scale *Tensor, opts ...Options) *Laplace {
	d := &Laplace{}
	d.initLocScale(d, "Laplace", loc, scale, opts)
	return d
}

// Loc is the mean.
func (d *Laplace) Loc() *Tensor { return d.lookup("loc") }

// Scale is the mean distance from loc.
func (d *Laplace) Scale() *Tensor { return d.lookup("scale") }

// ArgConstraints of a Laplace.
func (d *Laplace) ArgConstraints() []Arg { return locScale }

// Support of a Laplace.
func (d *Laplace) Support() Constraint { return constraints.Real }

// Expand shares the parameters.
func (d *Laplace) Expand(batchShape []int) Distribution {
	n := &Laplace{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is loc.
func (d *Laplace) Mean() *Tensor { return d.Loc() }

// Mode is loc.
func (d *Laplace) Mode() *Tensor { return d.Loc() }

// Variance is 2 scale².
func (d *Laplace) Variance() *Tensor { return d.Scale().PowScalar(2).MulScalar(2) }

// StdDev is √2 scale.
func (d *Laplace) StdDev() *Tensor { return d.Scale().MulScalar(math.Sqrt2) }

// RSample inverts the distribution function.
func (d *Laplace) RSample(sampleShape ...int) *Tensor {
	u := d.Loc().NewEmpty(d.shape(sampleShape))
	u.UniformInPlace(tensor.UniformInPlaceOptions{From: eps(u) - 1, To: tensor.Some(1.0)})
	return d.Loc().Sub(d.Scale().Mul(u.Sign()).Mul(u.Abs().Neg().Log1p()))
}

// LogProb is the logarithm of the density.
func (d *Laplace) LogProb(value *Tensor) *Tensor {
	d.check(value)
	return d.Scale().MulScalar(2).Log().Neg().Sub(value.Sub(d.Loc()).Abs().Div(d.Scale()))
}

// CDF is the distribution function.
func (d *Laplace) CDF(value *Tensor) *Tensor {
	d.check(value)
	x := value.Sub(d.Loc())
	return rsub(0.5, x.Sign().MulScalar(0.5).Mul(x.Abs().Neg().Div(d.Scale()).Expm1()))
}

// ICDF is the quantile function.
func (d *Laplace) ICDF(value *Tensor) *Tensor {
	t := value.SubScalar(0.5)
	return d.Loc().Sub(d.Scale().Mul(t.Sign()).Mul(t.Abs().MulScalar(-2).Log1p()))
}

// Entropy is 1 + log(2 scale).
func (d *Laplace) Entropy() *Tensor { return d.Scale().MulScalar(2).Log().AddScalar(1) }

// Cauchy is the Cauchy (Lorentz) distribution, whose mean and variance do not exist.
// https://pytorch.org/docs/stable/distributions.html#cauchy
type Cauchy struct{ base }

// NewCauchy makes a Cauchy.
func NewCauchy(loc, scale *Tensor, opts ...Options) *Cauchy {
	d := &Cauchy{}
	d.initLocScale(d, "Cauchy", loc, scale, opts)
	return d
}

// Loc is the median.
func (d *Cauchy) Loc() *Tensor { return d.lookup("loc") }

// Scale is half the distance between the quartiles.
func (d *Cauchy) Scale() *Tensor { return d.lookup("scale") }

// ArgConstraints of a Cauchy.
func (d *Cauchy) ArgConstraints() []Arg { return locScale }

// Support of a Cauchy.
func (d *Cauchy) Support() Constraint { return constraints.Real }

// Expand shares the parameters.
func (d *Cauchy) Expand(batchShape []int) Distribution {
	n := &Cauchy{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is NaN: there is none.
func (d *Cauchy) Mean() *Tensor { return full(d.Loc(), d.shape(nil), nan) }

// Mode is loc.
func (d *Cauchy) Mode() *Tensor { return d.Loc() }

// Variance is infinite.
func (d *Cauchy) Variance() *Tensor { return full(d.Loc(), d.shape(nil), inf) }

// RSample is loc + scale times standard Cauchy numbers.
func (d *Cauchy) RSample(sampleShape ...int) *Tensor {
	e := d.Loc().NewEmpty(d.shape(sampleShape)).CauchyInPlace()
	return d.Loc().Add(e.Mul(d.Scale()))
}

// LogProb is the logarithm of the density.
func (d *Cauchy) LogProb(value *Tensor) *Tensor {
	d.check(value)
	return rsub(-math.Log(math.Pi), d.Scale().Log()).Sub(value.Sub(d.Loc()).Div(d.Scale()).PowScalar(2).Log1p())
}

// CDF is the distribution function.
func (d *Cauchy) CDF(value *Tensor) *Tensor {
	d.check(value)
	return value.Sub(d.Loc()).Div(d.Scale()).Atan().DivScalar(math.Pi).AddScalar(0.5)
}

// ICDF is the quantile function.
func (d *Cauchy) ICDF(value *Tensor) *Tensor {
	return value.SubScalar(0.5).MulScalar(math.Pi).Tan().Mul(d.Scale()).Add(d.Loc())
}

// Entropy is log(4π scale).
func (d *Cauchy) Entropy() *Tensor { return d.Scale().Log().AddScalar(math.Log(4 * math.Pi)) }

// StudentT is Student's t-distribution with df degrees of freedom, moved by loc and stretched by scale.
// https://pytorch.org/docs/stable/distributions.html#studentt
type StudentT struct {
	base
	chi2 *Chi2
}

// StudentTOptions are the options of NewStudentT.
type StudentTOptions struct {
	Loc          *Tensor // default 0
	Scale        *Tensor // default 1
	ValidateArgs tensor.Opt[bool]
}

// NewStudentT makes a StudentT.
func NewStudentT(df *Tensor, opts ...StudentTOptions) *StudentT {
	o := option(opts)
	if o.Loc == nil {
		o.Loc = df.NewZeros(nil)
	}
	if o.Scale == nil {
		o.Scale = df.NewOnes(nil)
	}
	p := broadcast(df, o.Loc, o.Scale)
	d := &StudentT{chi2: NewChi2(p[0])}
	d.rsample = true
	d.init(d, "StudentT", p[0].Shape(), nil, validates(o.ValidateArgs), entry{"df", p[0]}, entry{"loc", p[1]},
		entry{"scale", p[2]})
	return d
}

// DF are the degrees of freedom.
func (d *StudentT) DF() *Tensor { return d.lookup("df") }

// Loc is the centre.
func (d *StudentT) Loc() *Tensor { return d.lookup("loc") }

// Scale stretches the distribution.
func (d *StudentT) Scale() *Tensor { return d.lookup("scale") }

// ArgConstraints of a StudentT.
func (d *StudentT) ArgConstraints() []Arg {
	return []Arg{{"df", constraints.Positive}, {"loc", constraints.Real}, {"scale", constraints.Positive}}
}

// Support of a StudentT.
func (d *StudentT) Support() Constraint { return constraints.Real }

// Expand shares the parameters.
func (d *StudentT) Expand(batchShape []int) Distribution {
	n := &StudentT{chi2: d.chi2.Expand(batchShape).(*Chi2)}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is loc, NaN for df up to 1.
func (d *StudentT) Mean() *Tensor { return d.Loc().MaskedFillScalar(d.DF().LeScalar(1), nan) }

// Mode is loc.
func (d *StudentT) Mode() *Tensor { return d.Loc() }

// Variance is scale² df/(df-2); it is infinite for df from 1 to 2, NaN below.
func (d *StudentT) Variance() *Tensor {
	df := d.DF()
	finite := df.GtScalar(2)
	safe := torch.WhereScalar(finite, df, 3) // keeps the gradient of what is not used finite
	v := d.Scale().PowScalar(2).Mul(safe).Div(safe.SubScalar(2))
	v = v.MaskedFillScalar(finite.LogicalNot(), inf)
	return v.MaskedFillScalar(df.LeScalar(1), nan)
}

// RSample divides normal numbers by the root of chi-squared ones.
func (d *StudentT) RSample(sampleShape ...int) *Tensor {
	x := normals(d.DF(), d.shape(sampleShape))
	z := d.chi2.RSample(sampleShape...)
	return d.Loc().Add(d.Scale().Mul(x.Mul(z.Div(d.DF()).Rsqrt())))
}

// LogProb is the logarithm of the density.
func (d *StudentT) LogProb(value *Tensor) *Tensor {
	d.check(value)
	df := d.DF()
	half := df.AddScalar(1)
	y := value.Sub(d.Loc()).Div(d.Scale())
	z := d.Scale().Log().Add(df.Log().MulScalar(0.5)).AddScalar(0.5 * math.Log(math.Pi)).Add(df.MulScalar(0.5).Lgamma()).Sub(half.MulScalar(0.5).Lgamma())
	return half.MulScalar(-0.5).Mul(y.PowScalar(2.0).Div(df).Log1p()).Sub(z)
}

// Entropy of a StudentT.
func (d *StudentT) Entropy() *Tensor {
	df := d.DF()
	a, b := df.MulScalar(0.5), df.AddScalar(1).MulScalar(0.5)
	lg, _ := math.Lgamma(0.5)
	beta := a.Lgamma().AddScalar(lg).Sub(b.Lgamma())
	return d.Scale().Log().Add(b.Mul(b.Digamma().Sub(a.Digamma()))).Add(df.Log().MulScalar(0.5)).Add(beta)
}

// Uniform is the uniform distribution on [low, high).
// https://pytorch.org/docs/stable/distributions.html#uniform
type Uniform struct{ base }

// NewUniform makes a Uniform.
func NewUniform(low, high *Tensor, opts ...Options) *Uniform {
	p := broadcast(low, high)
	d := &Uniform{}
	d.rsample = true
	d.init(d, "Uniform", p[0].Shape(), nil, validates(option(opts).ValidateArgs), entry{"low", p[0]}, entry{"high",
		p[1]})
	return d
}

// Low is the lower end.
func (d *Uniform) Low() *Tensor { return d.lookup("low") }

// High is the upper end.
func (d *Uniform) High() *Tensor { return d.lookup("high") }

// ArgConstraints of a Uniform: each end depends on the other.
func (d *Uniform) ArgConstraints() []Arg {
	return []Arg{{"low", constraints.LessThan(d.High())}, {"high", constraints.GreaterThan(d.Low())}}
}

// Support is the closed interval.
func (d *Uniform) Support() Constraint { return constraints.IntervalTensor(d.Low(), d.High()) }

// Expand shares the parameters.
func (d *Uniform) Expand(batchShape []int) Distribution {
	n := &Uniform{}
	d.expandInto(&n.base, n, batchShape)
	return n
}

func (d *Uniform) width() *Tensor { return d.High().Sub(d.Low()) }

// Mean is the centre.
func (d *Uniform) Mean() *Tensor { return d.High().Add(d.Low()).DivScalar(2) }

// Mode is NaN: all values are equally likely.
func (d *Uniform) Mode() *Tensor { return d.High().MulScalar(nan) }

// StdDev is the width divided by √12.
func (d *Uniform) StdDev() *Tensor { return d.width().DivScalar(math.Sqrt(12)) }

// Variance is the squared width divided by 12.
func (d *Uniform) Variance() *Tensor { return d.width().PowScalar(2).DivScalar(12) }

// RSample stretches numbers between 0 and 1.
func (d *Uniform) RSample(sampleShape ...int) *Tensor {
	return d.Low().Add(rand(d.Low(), d.shape(sampleShape)).Mul(d.width()))
}

// LogProb is -log(high - low) inside and -Inf outside.
func (d *Uniform) LogProb(value *Tensor) *Tensor {
	d.check(value)
	in := d.Low().Le(value).TypeAs(d.Low()).Mul(d.High().Gt(value).TypeAs(d.Low()))
	return in.Log().Sub(d.width().Log())
}

// CDF is the distribution function.
func (d *Uniform) CDF(value *Tensor) *Tensor {
	d.check(value)
	return clamp(value.Sub(d.Low()).Div(d.width()), 0, 1)
}

// ICDF is the quantile function.
func (d *Uniform) ICDF(value *Tensor) *Tensor { return value.Mul(d.width()).Add(d.Low()) }

// Entropy is the logarithm of the width.
func (d *Uniform) Entropy() *Tensor { return d.width().Log() }

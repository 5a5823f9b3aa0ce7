package distributions_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/linalg"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/autograd"
	. "github.com/gotorch-dev/torch/distributions"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/tensor"
)

func floats(t *Tensor) []float64 {
	return tensor.Data[float64](t.Detach().CPU().Double().Contiguous())
}

func near(a, b, tol float64) bool {
	return a == b || math.Abs(a-b) <= tol*(1+math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
}

// family makes a distribution from parameters, which tests perturb; lo and hi bound the bulk of a continuous one.
type family struct {
	name   string
	params []*Tensor
	make   func(p []*Tensor) Distribution
	lo, hi float64
}

func pair[D Distribution](f func(a, b *Tensor, o ...Options) D) func(p []*Tensor) Distribution {
	return func(p []*Tensor) Distribution { return f(p[0], p[1]) }
}

func single[D Distribution](f func(a *Tensor, o ...Options) D) func(p []*Tensor) Distribution {
	return func(p []*Tensor) Distribution { return f(p[0]) }
}

// continuous are families of numbers.
func continuous() []family {
	two := func(a, b float64) []*Tensor { return []*Tensor{vec64(a), vec64(b)} }
	one := func(a float64) []*Tensor { return []*Tensor{vec64(a)} }
	return []family{
		{"Normal", two(0.3, 1.2), pair(NewNormal), -12, 12},
		{"Laplace", two(0.3, 0.7), pair(NewLaplace), -20, 20},
		{"Cauchy", two(0, 0.01), pair(NewCauchy), -100, 100},
		{"StudentT", one(9), func(p []*Tensor) Distribution { return NewStudentT(p[0]) }, -60, 60},
		{"Uniform", two(-1, 2), pair(NewUniform), -1, 2},
		{"LogNormal", two(0.1, 0.4), pair(NewLogNormal), 1e-9, 30},
		{"HalfNormal", one(1.3), single(NewHalfNormal), 0, 15},
		{"HalfCauchy", one(0.01), single(NewHalfCauchy), 0, 100},
		{"Gumbel", two(0.2, 0.8), pair(NewGumbel), -5, 30},
		{"Gamma", two(2.5, 1.5), pair(NewGamma), 0, 30},
		{"InverseGamma", two(6, 2), pair(NewInverseGamma), 1e-3, 60},
		{"Chi2", one(4), single(NewChi2), 0, 80},
		{"Exponential", one(1.7), single(NewExponential), 0, 25},
		{"Beta", two(2.5, 3.5), pair(NewBeta), 0, 1},
		{"Kumaraswamy", two(2.5, 3.5), pair(NewKumaraswamy), 1e-9, 1 - 1e-9},
		{"FisherSnedecor", two(6, 30), pair(NewFisherSnedecor), 1e-9, 60},
		{"Pareto", two(1, 6), pair(NewPareto), 1, 60},
		{"Weibull", two(1.2, 1.8), pair(NewWeibull), 1e-9, 15},
		{"VonMises", two(0.4, 2), pair(NewVonMises), -math.Pi, math.Pi},
		{"ContinuousBernoulli", one(0.3), func(p []*Tensor) Distribution {
			return NewContinuousBernoulli(ContinuousBernoulliOptions{Probs: p[0]})
		}, 0, 1},
	}
}

// grid are points in the middle of equal cells.
func grid(lo, hi float64, n int) (x *Tensor, dx float64) {
	dx = (hi - lo) / float64(n)
	p := make([]float64, n)
	for i := range p {
		p[i] = lo + (float64(i)+0.5)*dx
	}
	return vec64(p...), dx
}

// Densities integrate to one; their moments and entropies are those that the methods tell.
func TestDensities(t *testing.T) {
	for _, f := range continuous() {
		d := f.make(f.params)
		x, dx := grid(f.lo, f.hi, 200_000)
		l := d.LogProb(x)
		p := l.Exp()
		sum := func(v *Tensor) float64 { return v.Mul(p).Sum().Item() * dx }
		if total := sum(x.OnesLike()); !near(total, 1, 2e-3) {
			t.Errorf("%s: the density integrates to %g", f.name, total)
		}
		if f.name == "Cauchy" || f.name == "HalfCauchy" {
			continue // no moments
		}
		mean := sum(x)
		if f.name != "VonMises" { // whose moments are circular
			if got := d.Mean().Item(); !near(got, mean, 2e-3) {
				t.Errorf("%s: mean %g, the density's is %g", f.name, got, mean)
			}
			v := sum(x.SubScalar(mean).PowScalar(2))
			if got := d.Variance().Item(); !near(got, v, 5e-3) {
				t.Errorf("%s: variance %g, the density's is %g", f.name, got, v)
			}
			if got := d.StdDev().Item(); !near(got*got, v, 1e-2) {
				t.Errorf("%s: deviation %g", f.name, got)
			}
		}
		err := torch.Try(func() {
			want := -sum(torch.Where(p.GtScalar(0), l, l.ZerosLike()))
			if got := d.Entropy().Item(); !near(got, want, 2e-3) {
				t.Errorf("%s: entropy %g, the density's is %g", f.name, got, want)
			}
			if got := d.Perplexity().Item(); !near(got, math.Exp(d.Entropy().Item()), 1e-9) {
				t.Errorf("%s: perplexity %g", f.name, got)
			}
		})
		if err != nil && !errors.Is(err, tensor.ErrNotImpl) {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}

// The quantile function inverts the distribution function, whose derivative is the density.
func TestCDF(t *testing.T) {
	q := vec64(0.05, 0.3, 0.5, 0.77, 0.95)
	for _, f := range continuous() {
		d := f.make(f.params)
		if torch.Try(func() { d.ICDF(q) }) != nil {
			continue
		}
		x := d.ICDF(q)
		got := floats(d.CDF(x))
		const h = 1e-6
		slope := floats(d.CDF(x.AddScalar(h)).Sub(d.CDF(x.SubScalar(h))).DivScalar(2 * h))
		p := floats(d.LogProb(x).Exp())
		for i, want := range floats(q) {
			if !near(got[i], want, 1e-8) {
				t.Errorf("%s: cdf(icdf(%g)) = %g", f.name, want, got[i])
			}
			if !near(slope[i], p[i], 1e-4) {
				t.Errorf("%s: the distribution function rises by %g, the density is %g", f.name, slope[i], p[i])
			}
		}
	}
}

// Samples have the moments of the distribution, and RSample's gradients are those of the mean.
func TestSamples(t *testing.T) {
	const n = 60_000
	discrete := []family{
		{"Bernoulli", []*Tensor{vec64(0.3)}, func(p []*Tensor) Distribution { return NewBernoulli(Probs(p[0])) }, 0, 0},
		{"Geometric", []*Tensor{vec64(0.3)}, func(p []*Tensor) Distribution { return NewGeometric(Probs(p[0])) }, 0, 0},
		{"Poisson", []*Tensor{vec64(4.3)}, single(NewPoisson), 0, 0},
		{"Binomial", []*Tensor{vec64(0.3)}, func(p []*Tensor) Distribution {
			return NewBinomial(BinomialOptions{TotalCount: vec64(12), Probs: p[0]})
		}, 0, 0},
		{"NegativeBinomial", []*Tensor{vec64(0.3)},
			func(p []*Tensor) Distribution { return NewNegativeBinomial(vec64(5), Probs(p[0])) }, 0, 0},
	}
	for _, f := range append(continuous(), discrete...) {
		if f.name == "Cauchy" || f.name == "HalfCauchy" {
			continue
		}
		params := make([]*Tensor, len(f.params))
		for i, p := range f.params {
			params[i] = p.Detach().Clone().SetRequiresGrad(true)
		}
		d := f.make(params)
		torch.ManualSeed(1)
		x := d.Sample(n)
		if x.RequiresGrad() || !slices.Equal(x.Shape(), []int{n, 1}) {
			t.Errorf("%s: a sample of shape %v, requires grad: %v", f.name, x.Shape(), x.RequiresGrad())
		}
		sd := math.Sqrt(x.Var().Item())
		if f.name == "VonMises" { // whose moments are circular
			sin, cos := x.Sin().Mean().Item(), x.Cos().Mean().Item()
			if got, want := math.Atan2(sin, cos), d.Mean().Item(); math.Abs(got-want) > 0.02 {
				t.Errorf("%s: mean of samples %g, want %g", f.name, got, want)
			}
			if got, want := 1-math.Hypot(sin, cos), d.Variance().Item(); !near(got, want, 0.02) {
				t.Errorf("%s: variance of samples %g, want %g", f.name, got, want)
			}
		} else {
			if got, want := x.Mean().Item(), d.Mean().Item(); math.Abs(got-want) > 6*sd/math.Sqrt(n) {
				t.Errorf("%s: mean of samples %g, want %g", f.name, got, want)
			}
			if got, want := x.Var().Item(), d.Variance().Item(); !near(got, want, 0.08) {
				t.Errorf("%s: variance of samples %g, want %g", f.name, got, want)
			}
		}
		if !d.HasRSample() || !d.Mean().RequiresGrad() { // the mean of StudentT is its loc, which is no parameter here
			continue
		}
		got := torch.Grad([]*Tensor{d.RSample(n).Mean()}, params, torch.GradOptions{AllowUnused: true})
		want := torch.Grad([]*Tensor{f.make(params).Mean().Sum()}, params, torch.GradOptions{AllowUnused: true})
		for i := range params {
			g, w := 0.0, 0.0
			if got[i] != nil {
				g = got[i].Item()
			}
			if want[i] != nil {
				w = want[i].Item()
			}
			if math.Abs(g-w) > 0.05*(1+math.Abs(w)) {
				t.Errorf("%s: gradient of the samples' mean by parameter %d is %g, of the mean %g", f.name, i, g, w)
			}
		}
	}
}

func TestLogProbGradients(t *testing.T) {
	torch.ManualSeed(2)
	spd := vec64(2, 0.3, 0.3, 1).View([]int{2, 2})
	more := append(continuous(),
		family{"Dirichlet", []*Tensor{vec64(2, 1.5, 3)}, single(NewDirichlet), 0, 0},
		family{"Categorical", []*Tensor{vec64(0.2, -0.4, 1)},
			func(p []*Tensor) Distribution { return NewCategorical(Logits(p[0])) }, 0, 0},
		family{"LowRank", []*Tensor{vec64(1, 2, 3), vec64(0.4, 0.2, -0.3).View([]int{3, 1}), vec64(1, 0.5, 2)},
			func(p []*Tensor) Distribution {
				return NewLowRankMultivariateNormal(p[0], p[1], p[2])
			}, 0, 0},
		family{"MultivariateNormal", []*Tensor{vec64(1, 2), spd}, func(p []*Tensor) Distribution {
			return NewMultivariateNormal(p[0],
				MultivariateNormalOptions{CovarianceMatrix: p[1].Add(p[1].MT()).MulScalar(0.5)})
		}, 0, 0},
		family{"Precision", []*Tensor{vec64(1, 2), spd}, func(p []*Tensor) Distribution {
			return NewMultivariateNormal(p[0],
				MultivariateNormalOptions{PrecisionMatrix: p[1].Add(p[1].MT()).MulScalar(0.5)})
		}, 0, 0},
		family{"Wishart", []*Tensor{vec64(4.5), spd}, func(p []*Tensor) Distribution {
			return NewWishart(p[0], WishartOptions{CovarianceMatrix: p[1].Add(p[1].MT()).MulScalar(0.5)})
		}, 0, 0},
		family{"LKJCholesky", []*Tensor{vec64(1.5)}, func(p []*Tensor) Distribution {
			return NewLKJCholesky(3,
				LKJCholeskyOptions{Concentration: p[0]})
		}, 0, 0},
	)
	for _, f := range more {
		x := f.make(f.params).Sample(3)
		in := make([]*Tensor, len(f.params))
		for i, p := range f.params {
			in[i] = p.Detach().Clone().SetRequiresGrad(true)
		}
		err := autograd.Gradcheck(func(p []*Tensor) []*Tensor { return []*Tensor{f.make(p).LogProb(x)} }, in)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}

// KL divergences against integrals of p·log(p/q).
func TestKLIntegrals(t *testing.T) {
	a := func(x float64) *Tensor { return vec64(x) }
	for _, c := range []struct {
		p, q   Distribution
		lo, hi float64
	}{
		{NewNormal(a(0.3), a(1.2)), NewNormal(a(-0.2), a(0.8)), -12, 12},
		{NewNormal(a(0.3), a(1.2)), NewLaplace(a(-0.2), a(0.8)), -12, 12},
		{NewNormal(a(0.3), a(0.7)), NewGumbel(a(-0.2), a(0.8)), -8, 8},
		{NewLaplace(a(0.3), a(0.7)), NewNormal(a(0), a(1)), -25, 25},
		{NewGamma(a(2), a(1.5)), NewExponential(a(0.7)), 0, 40},
		{NewGamma(a(2), a(1.5)), NewGamma(a(3), a(0.7)), 0, 40},
		{NewGamma(a(2), a(1.5)), NewNormal(a(1), a(2)), 0, 40},
		{NewGamma(a(2), a(1.5)), NewGumbel(a(1), a(2)), 0, 40},
		{NewExponential(a(1.4)), NewGamma(a(3), a(0.7)), 0, 30},
		{NewExponential(a(1.4)), NewGumbel(a(1), a(2)), 0, 30},
		{NewExponential(a(1.4)), NewNormal(a(1), a(2)), 0, 30},
		{NewBeta(a(2), a(3)), NewBeta(a(1.5), a(2)), 0, 1},
		{NewBeta(a(2), a(3)), NewExponential(a(2)), 0, 1},
		{NewBeta(a(2), a(3)), NewGamma(a(2), a(2)), 0, 1},
		{NewBeta(a(2), a(3)), NewNormal(a(0), a(2)), 0, 1},
		{NewUniform(a(0.2), a(0.9)), NewBeta(a(2), a(3)), 0.2, 0.9},
		{NewUniform(a(0.2), a(0.9)), NewNormal(a(0), a(2)), 0.2, 0.9},
		{NewUniform(a(0.2), a(0.9)), NewGumbel(a(0), a(2)), 0.2, 0.9},
		{NewUniform(a(0.2), a(0.9)), NewExponential(a(2)), 0.2, 0.9},
		{NewUniform(a(0.2), a(0.9)), NewUniform(a(0), a(1)), 0.2, 0.9},
		{NewGumbel(a(0.2), a(0.8)), NewNormal(a(0), a(2)), -5, 35},
		{NewGumbel(a(0.2), a(0.8)), NewGumbel(a(0), a(2)), -5, 35},
		{NewCauchy(a(0), a(0.02)), NewCauchy(a(0), a(0.01)), -200, 200},
		{NewPareto(a(1), a(6)), NewExponential(a(2)), 1, 60},
		{NewPareto(a(1), a(6)), NewNormal(a(1), a(2)), 1, 60},
		{NewHalfNormal(a(1)), NewHalfNormal(a(2)), 0, 12},
		{NewLogNormal(a(0), a(0.4)), NewLogNormal(a(0.2), a(0.5)), 1e-6, 20},
		{NewChi2(a(4)), NewChi2(a(5)), 0, 80},
		{NewContinuousBernoulli(ContinuousBernoulliOptions{Probs: a(0.3)}),
			NewContinuousBernoulli(ContinuousBernoulliOptions{Probs: a(0.6)}), 0, 1},
	} {
		x, dx := grid(c.lo, c.hi, 200_000)
		lp := c.p.LogProb(x)
		terms := lp.Exp().Mul(lp.Sub(c.q.LogProb(x)))
		want := terms.MaskedFillScalar(lp.EqScalar(math.Inf(-1)), 0).Sum().Item() * dx
		if got := KLDivergence(c.p, c.q).Item(); !near(got, want, 3e-3) {
			t.Errorf("KL(%T, %T) = %g, the integral is %g", c.p, c.q, got, want)
		}
	}
}

// KL divergences of vectors and of counts against means over samples.
func TestKLSamples(t *testing.T) {
	torch.ManualSeed(3)
	loc := vec64(0.1, 0.4)
	cov := vec64(1, 0.3, 0.3, 0.8).View([]int{2, 2})
	full := NewMultivariateNormal(loc, MultivariateNormalOptions{CovarianceMatrix: cov})
	low := NewLowRankMultivariateNormal(vec64(0, 0), vec64(0.5, -0.2).View([]int{2, 1}), vec64(1, 0.7))
	low2 := NewLowRankMultivariateNormal(vec64(0.2, 0), vec64(0.1, 0.6).View([]int{2, 1}), vec64(0.6, 0.9))
	for i, c := range [][2]Distribution{
		{full, low}, {low, full}, {low, low2}, {full, NewMultivariateNormal(vec64(0, 0),
			MultivariateNormalOptions{ScaleTril: torch.Eye(2, torch.EyeOptions{DType: torch.Float64})})},
		{NewDirichlet(vec64(2, 3, 1.5)), NewDirichlet(vec64(1, 2, 2))},
		{NewPoisson(vec64(3)), NewPoisson(vec64(4))}, {NewGeometric(Probs(vec64(0.4))),
			NewGeometric(Probs(vec64(0.3)))},
		{NewCategorical(Probs(vec64(1, 2, 3))), NewCategorical(Probs(vec64(3, 2,
			1)))}, {NewBernoulli(Probs(vec64(0.4))), NewPoisson(vec64(0.6))},
		{NewOneHotCategorical(Probs(vec64(1, 2, 3))), NewOneHotCategoricalStraightThrough(Probs(vec64(3, 2, 1)))},
		{NewIndependent(NewNormal(vec64(0, 1), vec64(1, 2)), 1), NewIndependent(NewNormal(vec64(1, 1), vec64(2, 2)),
			1)},
	} {
		x := c[0].Sample(40_000)
		want := c[0].LogProb(x).Sub(c[1].LogProb(x)).Mean().Item()
		if got := KLDivergence(c[0], c[1]).Item(); math.Abs(got-want) > 0.03 {
			t.Errorf("case %d: KL(%v, %v) = %g, over samples %g", i, c[0], c[1], got, want)
		}
	}
}

// mine is a family of a user's own: a Normal under another name.
type mine struct{ *Normal }

func (d mine) Super() Distribution { return d.Normal }

func TestRegisterKL(t *testing.T) {
	p, q := mine{NewNormal(num(0), num(1))}, NewNormal(num(0), num(2))
	if got, want := KLDivergence(p, q).Item(), KLDivergence(p.Normal, q).Item(); got != want {
		t.Errorf("KL of a special case is %g, want %g", got, want)
	}
	RegisterKL(func(p mine, q *Normal) *Tensor { return num(42) })
	if got := KLDivergence(p, q).Item(); got != 42 {
		t.Errorf("the registered formula gives %g", got)
	}
	// two exponential families without a formula of their own
	w := func(df float64) *Wishart {
		return NewWishart(vec64(df), WishartOptions{CovarianceMatrix: torch.Eye(2,
			torch.EyeOptions{DType: torch.Float64})})
	}
	if got := KLDivergence(w(4), w(4)).Item(); !near(got, 0, 1e-9) {
		t.Errorf("KL of equal Wisharts is %g", got)
	}
	if got := KLDivergence(w(4), w(5)).Item(); !(got > 0) {
		t.Errorf("KL of Wisharts is %g", got)
	}
}

// vectors are the other families, with batch shape (2).
func vectors() map[string]Distribution {
	v := func(x ...float64) *Tensor { return vec64(x...).View([]int{2, len(x) / 2}) }
	spd := vec64(2, 0.3, 0.3, 1).View([]int{2, 2})
	return map[string]Distribution{
		"Categorical": NewCategorical(Probs(v(1, 2, 3, 4))), "OneHotCategorical": NewOneHotCategorical(Logits(v(1, 2, 3,
			4))),
		"StraightThrough": NewOneHotCategoricalStraightThrough(Probs(v(1, 2, 3, 4))), "Dirichlet": NewDirichlet(v(1, 2,
			3, 4)),
		"Multinomial": NewMultinomial(MultinomialOptions{TotalCount: torch.Some(5), Probs: v(1, 2, 3, 4)}),
		"RelaxedBernoulli": NewRelaxedBernoulli(num(1).Double(), Probs(vec64(0.2,
			0.3))), "RelaxedOneHot": NewRelaxedOneHotCategorical(num(1).Double(), Probs(v(1, 2, 3, 4))),
		"LogisticNormal": NewLogisticNormal(v(1, 2, 3, 4), v(1, 2, 3, 4)), "Independent": NewIndependent(NewNormal(v(1,
			2, 3, 4), v(1, 2, 3, 4)), 1),
		"MultivariateNormal": NewMultivariateNormal(v(1, 2, 3, 4), MultivariateNormalOptions{CovarianceMatrix: spd}),
		"LowRank":            NewLowRankMultivariateNormal(v(1, 2, 3, 4), vec64(1, 2).View([]int{2, 1}), vec64(1, 2)),
		"Wishart": NewWishart(vec64(3, 4), WishartOptions{ScaleTril: torch.Eye(2,
			torch.EyeOptions{DType: torch.Float64})}),
		"LKJCholesky": NewLKJCholesky(3, LKJCholeskyOptions{Concentration: vec64(1, 2)}),
		"Mixture": NewMixtureSameFamily(NewCategorical(Probs(v(1, 2, 3, 4))), NewNormal(v(1, 2, 3, 4), v(1,
			2, 3, 4))),
		"Transformed": NewTransformedDistribution(NewNormal(vec64(0, 1), vec64(1, 2)),
			[]Transform{NewTanhTransform()}),
		"Binomial": NewBinomial(BinomialOptions{TotalCount: vec64(3, 3), Probs: vec64(.2,
			.3)}), "NegativeBinomial": NewNegativeBinomial(vec64(3, 4), Logits(vec64(0, 1))),
		"Poisson": NewPoisson(vec64(3, 4)), "Geometric": NewGeometric(Logits(vec64(0,
			1))), "Bernoulli": NewBernoulli(Logits(vec64(0, 1))),
	}
}

// A distribution that was expanded agrees with the one it comes from, and has the new batch shape.
func TestExpand(t *testing.T) {
	all := vectors()
	for _, f := range continuous() {
		p := make([]*Tensor, len(f.params))
		for i := range p {
			p[i] = f.params[i].Expand([]int{2})
		}
		all[f.name] = f.make(p)
	}
	for name, d := range all {
		torch.ManualSeed(4)
		e := d.Expand([]int{3, 2})
		if got := []int(e.BatchShape()); !slices.Equal(got, []int{3, 2}) || !slices.Equal(e.EventShape(),
			d.EventShape()) {
			t.Errorf("%s: batch shape %v, event shape %v", name, got, e.EventShape())
			continue
		}
		x := e.Sample(4)
		if want := slices.Concat([]int{4, 3, 2}, d.EventShape()); !slices.Equal(x.Shape(), want) {
			t.Errorf("%s: a sample of shape %v, want %v", name, x.Shape(), want)
		}
		a, b := e.LogProb(x), d.LogProb(x)
		if !a.AllClose(b) || !slices.Equal(a.Shape(), []int{4, 3, 2}) {
			t.Errorf("%s: densities differ after Expand: %v, %v", name, a.Shape(), b.Shape())
		}
		if fmt.Sprintf("%T", e) != fmt.Sprintf("%T", d) {
			t.Errorf("%s: Expand makes a %T", name, e)
		}
		torch.Try(func() {
			if m := e.Mean(); !slices.Equal(m.Shape(), slices.Concat([]int{3, 2}, d.EventShape())) {
				t.Errorf("%s: mean of shape %v", name, m.Shape())
			}
		})
		if torch.Try(func() { d.Expand([]int{3, 5}) }) == nil {
			t.Errorf("%s: expanded from 2 to 5", name)
		}
	}
}

func TestEmptyBatchesAndTypes(t *testing.T) {
	for _, f := range continuous() {
		for _, dt := range []torch.DType{torch.Float32, torch.Float64} {
			p := make([]*Tensor, len(f.params))
			for i := range p {
				p[i] = f.params[i].ToDType(dt).Expand([]int{0, 1})
			}
			d := f.make(p)
			for what, x := range map[string]*Tensor{"sample": d.Sample(3), "log_prob": d.LogProb(torch.Ones([]int{0, 1},
				torch.OnesOptions{DType: dt})), "mean": d.Mean()} {
				if x.DType() != dt || x.Numel() != 0 {
					t.Errorf("%s: %s of an empty batch: %s %v", f.name, what, x.DType(), x.Shape())
				}
			}
		}
	}
}

// Enumerated values have probabilities that sum to one.
func TestEnumerateSupport(t *testing.T) {
	for name, d := range vectors() {
		if !d.HasEnumerateSupport() {
			continue
		}
		for _, narrow := range []bool{false, true} {
			total := d.LogProb(d.EnumerateSupport(EnumerateOptions{NoExpand: narrow})).Exp().SumDim([]int{0})
			for _, x := range floats(total) {
				if !near(x, 1, 1e-9) {
					t.Errorf("%s: probabilities sum to %g", name, x)
				}
			}
		}
	}
}

// Distributions compute on memory that the CPU cannot reach, with the same numbers.
func TestOtherDevices(t *testing.T) {
	for _, f := range continuous() {
		far := make([]*Tensor, len(f.params))
		for i := range far {
			far[i] = f.params[i].To(second.Device)
		}
		d, e := f.make(f.params), f.make(far)
		torch.ManualSeed(5)
		x := d.Sample(3)
		torch.ManualSeed(5)
		y := e.Sample(3)
		if y.Device() != second.Device || !x.Equal(y.CPU()) {
			t.Errorf("%s: samples on the other device differ", f.name)
			continue
		}
		if l := e.LogProb(y); l.Device() != second.Device || !l.CPU().AllClose(d.LogProb(x)) {
			t.Errorf("%s: densities on the other device differ", f.name)
		}
		meta := make([]*Tensor, len(f.params))
		for i := range meta {
			meta[i] = f.params[i].To(torch.Meta)
		}
		if f.name == "VonMises" {
			continue // its sampling loop looks at numbers
		}
		m := f.make(meta)
		if s := m.LogProb(m.Sample(3)); !slices.Equal(s.Shape(), []int{3, 1}) {
			t.Errorf("%s: shape %v on the meta device", f.name, s.Shape())
		}
	}
}

// Transforms invert, and their log-determinants are those of the Jacobian matrix.
func TestTransforms(t *testing.T) {
	scalar := []Transform{NewExpTransform(), NewSigmoidTransform(), NewTanhTransform(), NewSoftplusTransform(),
		NewAffineTransform(vec64(0.3), vec64(-2)),
		NewPowerTransform(vec64(1.7)), NewComposeTransform([]Transform{NewAffineTransform(vec64(1), vec64(2)),
			NewExpTransform()}), NewSigmoidTransform().Inv(),
		NewCumulativeDistributionTransform(NewNormal(vec64(0), vec64(1)))}
	x := vec64(0.2, 0.5, 0.7, 0.9)
	const h = 1e-6
	for _, f := range scalar {
		y := f.Forward(x)
		back, slope := floats(f.Inverse(y)),
			floats(f.Forward(x.AddScalar(h)).Sub(f.Forward(x.SubScalar(h))).DivScalar(2*h))
		l := floats(f.LogAbsDetJacobian(x, y))
		for i, want := range floats(x) {
			if !near(back[i], want, 1e-9) {
				t.Errorf("%s: the inverse gives %g, want %g", f, back[i], want)
			}
			if !near(l[i], math.Log(math.Abs(slope[i])), 1e-6) {
				t.Errorf("%s: log-determinant %g, the slope is %g", f, l[i], slope[i])
			}
		}
		if i := f.Inv(); i.Inv() != f || !i.Forward(y).AllClose(x) || !near(i.LogAbsDetJacobian(y, x).Sum().Item(),
			-f.LogAbsDetJacobian(x, y).Sum().Item(), 1e-12) {
			t.Errorf("%s: the inverse as a transform", f)
		}
	}
	// vectors: the volume that the first coordinates of the image span
	for _, f := range []Transform{NewStickBreakingTransform(), NewIndependentTransform(NewExpTransform(), 1),
		NewReshapeTransform([]int{3}, []int{1, 3})} {
		x := vec64(0.2, -0.5, 0.7)
		y := f.Forward(x)
		if !f.Inverse(y).AllClose(x) || !slices.Equal(f.ForwardShape([]int{3}),
			y.Shape()) || !slices.Equal(f.InverseShape(y.Shape()), []int{3}) {
			t.Errorf("%s: inverse or shapes", f)
		}
		j := autograd.Jacobian(func(in []*Tensor) []*Tensor { return []*Tensor{f.Forward(in[0]).Reshape([]int{-1}).Narrow(0, 0, 3)} }, []*Tensor{x})[0][0]
		_, want := linalg.Slogdet(j)
		if got := f.LogAbsDetJacobian(x, y).Item(); !near(got, want.Item(), 1e-9) {
			t.Errorf("%s: log-determinant %g, want %g", f, got, want.Item())
		}
	}
	c := NewCorrCholeskyTransform()
	v := vec64(0.2, -0.5, 0.7)
	if m := c.Forward(v); !c.Inverse(m).AllClose(v) || constraints.CorrCholesky.Check(m).Item() == 0 {
		t.Error("CorrCholeskyTransform: inverse or codomain")
	}
}

func TestCachedInverse(t *testing.T) {
	plain, cached := NewExpTransform(), NewExpTransform(TransformOptions{CacheSize: 1})
	x := vec64(0.1, 0.2)
	if y := cached.Forward(x); cached.Inverse(y) != x || cached.Inv().Forward(y) != x || cached.Forward(x) != y {
		t.Error("a transform with a cache does not give the very input back")
	}
	if y := plain.Forward(x); plain.Inverse(y) == x {
		t.Error("a transform without a cache remembers")
	}
	if plain.WithCache(1) == Transform(plain) || cached.WithCache(1) != Transform(cached) {
		t.Error("WithCache")
	}
	all := NewComposeTransform([]Transform{plain, NewAffineTransform(vec64(1), vec64(2))},
		TransformOptions{CacheSize: 1})
	if y := all.Forward(x); all.Inverse(y) != x {
		t.Error("a composition with caches does not give the very input back")
	}
	for _, f := range []Transform{plain, all, NewCatTransform([]Transform{plain, NewSigmoidTransform()}),
		NewStackTransform([]Transform{plain, NewSigmoidTransform()}),
		NewStickBreakingTransform(), NewSoftmaxTransform(), NewPowerTransform(vec64(2)), NewReshapeTransform([]int{2},
			[]int{2, 1}), NewCorrCholeskyTransform(),
		NewIndependentTransform(plain, 1), NewCumulativeDistributionTransform(NewNormal(vec64(0), vec64(1)))} {
		if g := f.WithCache(1).WithCache(0); fmt.Sprintf("%T", g) != fmt.Sprintf("%T", f) {
			t.Errorf("WithCache makes a %T of a %T", g, f)
		}
	}
	if !NewExpTransform().Equal(plain) || NewExpTransform().Equal(NewTanhTransform()) || !NewAffineTransform(vec64(1),
		vec64(2)).Equal(NewAffineTransform(vec64(1), vec64(2))) ||
		NewPowerTransform(vec64(1)).Equal(NewPowerTransform(vec64(2))) || !plain.Inv().Equal(NewExpTransform().Inv()) {
		t.Error("Equal")
	}
}

// Every registered transform lands in its constraint.
func TestRegistry(t *testing.T) {
	torch.ManualSeed(6)
	square := torch.Randn([]int{3, 3}, torch.RandnOptions{DType: torch.Float64})
	numbers := vec64(-2, -0.1, 0.3, 1.5, 2, -1)
	for _, c := range []constraints.Constraint{constraints.Real, constraints.Positive, constraints.Nonnegative,
		constraints.UnitInterval, constraints.Interval(1, 3),
		constraints.HalfOpenInterval(0.0,
			2.0), constraints.LessThanScalar(4), constraints.GreaterThanScalar(-3), constraints.GreaterThanEq(vec64(2)),
		constraints.IntervalTensor(vec64(1), vec64(2)),
		constraints.RealVector, constraints.Simplex, constraints.CorrCholesky,
		constraints.Stack(slices.Repeat([]constraints.Constraint{constraints.Positive}, 6), 0),
		constraints.Cat([]constraints.Constraint{constraints.Positive, constraints.UnitInterval}, 0, []int{2,
			4}), constraints.Independent(constraints.Positive, 1)} {
		for what, f := range map[string]func(constraints.Constraint) Transform{"BijectTo": BijectTo,
			"TransformTo": TransformTo} {
			y := f(c).Forward(numbers)
			if c.Check(y).All().Item() == 0 {
				t.Errorf("%s(%s) gives %v", what, c, y)
			}
		}
		if !BijectTo(c).Bijective() {
			t.Errorf("BijectTo(%s) is not bijective", c)
		}
	}
	for _, c := range []constraints.Constraint{constraints.LowerCholesky, constraints.PositiveDefinite,
		constraints.PositiveSemidefinite} {
		f := TransformTo(c)
		y := f.Forward(square)
		if c.Check(y).All().Item() == 0 {
			t.Errorf("TransformTo(%s) gives %v", c, y)
		}
		if !f.Forward(f.Inverse(y)).AllClose(y) {
			t.Errorf("TransformTo(%s): the inverse", c)
		}
	}
	for c, bad := range map[constraints.Constraint]*Tensor{constraints.Boolean: vec64(2), constraints.OneHot: vec64(1,
		1), constraints.Simplex: vec64(0.5, 0.4), constraints.PositiveInteger: vec64(0),
		constraints.LowerTriangular: square, constraints.Symmetric: square, constraints.Square: zeros(2,
			3), constraints.PositiveDefinite: square, constraints.PositiveSemidefinite: torch.Eye(2).Neg(),
		constraints.Multinomial(3): vec64(2, 2), constraints.IntegerInterval(0,
			3): vec64(4), constraints.IntegerIntervalTo(0, vec64(1)): vec64(2)} {
		if c.Check(bad).All().Item() != 0 {
			t.Errorf("%s holds %v", c, bad)
		}
	}
}

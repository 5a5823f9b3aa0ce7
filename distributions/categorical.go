package distributions

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// Categorical draws integers from 0 with the probabilities (or weights, which are normalized) in the last dimension.
// https://pytorch.org/docs/stable/distributions.html#categorical
type Categorical struct {
	base
	given string
	k     int
}

// NewCategorical makes a Categorical.
func NewCategorical(o ProbOptions) *Categorical {
	name, p := o.param()
	if p.Dim() < 1 {
		tensor.Fail(tensor.ErrValue, "`%s` parameter must be at least one-dimensional.", name)
	}
	if name == "probs" {
		p = p.Div(sumLastKeep(p))
	} else {
		p = p.Sub(p.LogSumExp(lastDim, tensor.LogSumExpOptions{KeepDim: true}))
	}
	d := &Categorical{given: name, k: p.Size(-1)}
	d.init(d, "Categorical", p.Shape()[:p.Dim()-1], nil, validates(o.ValidateArgs), entry{name, p})
	return d
}

// Probs are the normalized probabilities.
func (d *Categorical) Probs() *Tensor {
	return d.lazy("probs", func() *Tensor { return d.lookup("logits").Softmax(-1) })
}

// Logits are the logarithms of the probabilities.
func (d *Categorical) Logits() *Tensor {
	return d.lazy("logits", func() *Tensor { return clampProbs(d.lookup("probs")).Log() })
}

func (d *Categorical) param() *Tensor { return d.lookup(d.given) }

// ParamShape is the shape of the parameter.
func (d *Categorical) ParamShape() Size { return d.param().Shape() }

// ArgConstraints of a Categorical.
func (d *Categorical) ArgConstraints() []Arg { return simplexArgs }

// Support of a Categorical.
func (d *Categorical) Support() Constraint { return constraints.IntegerInterval(0, d.k-1) }

// HasEnumerateSupport is true.
func (d *Categorical) HasEnumerateSupport() bool { return true }

// Expand shares the parameters.
func (d *Categorical) Expand(batchShape []int) Distribution {
	n := &Categorical{given: d.given, k: d.k}
	d.expandInto(&n.base, n, batchShape)
	return n
}

// Mean is NaN: categories are no numbers.
func (d *Categorical) Mean() *Tensor { return full(d.Probs(), d.shape(nil), nan) }

// Variance is NaN.
func (d *Categorical) Variance() *Tensor { return full(d.Probs(), d.shape(nil), nan) }

// Mode is the likeliest category.
func (d *Categorical) Mode() *Tensor {
	return d.Probs().ArgMax(tensor.ArgMaxOptions{Dim: tensor.Some(-1)})
}

// Sample draws categories.
func (d *Categorical) Sample(sampleShape ...int) (x *Tensor) {
	torch.NoGrad(func() {
		rows := d.Probs().Reshape([]int{Size(d.batch).Numel(), d.k})
		x = rows.Multinomial(Size(sampleShape).Numel(),
			tensor.MultinomialOptions{Replacement: true}).NumpyT().Reshape(d.shape(sampleShape))
	})
	return x
}

// LogProb is the logarithm of the probability of categories.
func (d *Categorical) LogProb(value *Tensor) *Tensor {
	d.check(value)
	p := broadcast(value.Long().Unsqueeze(-1), d.Logits())
	return p[1].Gather(-1, p[0].Narrow(-1, 0, min(1, d.k))).SqueezeDim(-1)
}

// Entropy of a Categorical.
func (d *Categorical) Entropy() *Tensor {
	return sumLast(clamp(d.Logits(), least(d.Logits()), nil).Mul(d.Probs())).Neg()
}

// EnumerateSupport is 0 to the number of categories - 1.
func (d *Categorical) EnumerateSupport(opts ...EnumerateOptions) *Tensor {
	return d.count(torch.Int64, d.param().Device(), d.k, opts)
}

// vectorOf is a family that is a Categorical underneath and whose events are vectors over the categories.
type vectorOf struct {
	base
	categorical *Categorical
}

// Probs are the normalized probabilities.
func (d *vectorOf) Probs() *Tensor { return d.categorical.Probs() }

// Logits are the logarithms of the probabilities.
func (d *vectorOf) Logits() *Tensor { return d.categorical.Logits() }

// ParamShape is the shape of the parameter.
func (d *vectorOf) ParamShape() Size { return d.categorical.ParamShape() }

// ArgConstraints of families with a probability per category.
func (d *vectorOf) ArgConstraints() []Arg { return simplexArgs }

func (d *vectorOf) setup(self Distribution, name string, o ProbOptions) {
	d.wrap(self, name, NewCategorical(ProbOptions{Probs: o.Probs, Logits: o.Logits}), validates(o.ValidateArgs))
}

func (d *vectorOf) wrap(self Distribution, name string, c *Categorical, validate bool) {
	d.categorical = c
	d.derived = []derived{{"probs", d.Probs}, {"logits", d.Logits}}
	d.init(self, name, c.batch, []int{c.k}, validate)
}

// OneHotCategorical draws vectors with a single 1, at a category drawn with the given probabilities.
// https://pytorch.org/docs/stable/distributions.html#onehotcategorical
type OneHotCategorical struct{ vectorOf }

// NewOneHotCategorical makes a OneHotCategorical.
func NewOneHotCategorical(o ProbOptions) *OneHotCategorical {
	d := &OneHotCategorical{}
	d.setup(d, "OneHotCategorical", o)
	return d
}

// Support of a OneHotCategorical.
func (d *OneHotCategorical) Support() Constraint { return constraints.OneHot }

// HasEnumerateSupport is true.
func (d *OneHotCategorical) HasEnumerateSupport() bool { return true }

// Expand shares the parameters.
func (d *OneHotCategorical) Expand(batchShape []int) Distribution {
	n := &OneHotCategorical{}
	n.wrap(n, d.name, d.categorical.Expand(batchShape).(*Categorical), false)
	n.validate = d.validate
	return n
}

// Mean is the vector of probabilities.
func (d *OneHotCategorical) Mean() *Tensor { return d.Probs() }

// Mode marks the likeliest category.
func (d *OneHotCategorical) Mode() *Tensor { return oneHot(d.categorical.Mode(), d.Probs()) }

// Variance of each coordinate.
func (d *OneHotCategorical) Variance() *Tensor { return d.Probs().Mul(rsub(1, d.Probs())) }

// Sample draws vectors.
func (d *OneHotCategorical) Sample(sampleShape ...int) *Tensor {
	return oneHot(d.categorical.Sample(sampleShape...), d.Probs())
}

// LogProb is the logarithm of the probability of vectors.
func (d *OneHotCategorical) LogProb(value *Tensor) *Tensor {
	d.check(value)
	_, i := value.MaxDim(-1)
	return d.categorical.LogProb(i)
}

// Entropy is that of the categories.
func (d *OneHotCategorical) Entropy() *Tensor { return d.categorical.Entropy() }

// EnumerateSupport are the unit vectors.
func (d *OneHotCategorical) EnumerateSupport(opts ...EnumerateOptions) *Tensor {
	n, p := d.categorical.k, d.categorical.param()
	sh := []int{n}
	for range d.batch {
		sh = append(sh, 1)
	}
	v := torch.Eye(n, torch.EyeOptions{DType: p.DType(), Device: p.Device()}).View(append(sh, n))
	if option(opts).NoExpand {
		return v
	}
	return v.Expand(join([]int{n}, d.batch, []int{n}))
}

// OneHotCategoricalStraightThrough is a OneHotCategorical whose draws let gradients through to the probabilities as
// they are (Y. Bengio et al., Estimating or propagating gradients through stochastic neurons, 2013).
// https://pytorch.org/docs/stable/distributions.html#torch.distributions.one_hot_categorical.OneHotCategoricalStraightThrough
type OneHotCategoricalStraightThrough struct{ OneHotCategorical }

// NewOneHotCategoricalStraightThrough makes a OneHotCategoricalStraightThrough.
func NewOneHotCategoricalStraightThrough(o ProbOptions) *OneHotCategoricalStraightThrough {
	d := &OneHotCategoricalStraightThrough{}
	d.rsample = true
	d.setup(d, "OneHotCategoricalStraightThrough", o)
	return d
}

// Super is the distribution as a OneHotCategorical.
func (d *OneHotCategoricalStraightThrough) Super() Distribution { return &d.OneHotCategorical }

// Expand shares the parameters.
func (d *OneHotCategoricalStraightThrough) Expand(batchShape []int) Distribution {
	n := &OneHotCategoricalStraightThrough{}
	n.rsample = true
	n.wrap(n, d.name, d.categorical.Expand(batchShape).(*Categorical), false)
	n.validate = d.validate
	return n
}

// RSample draws vectors whose gradient is that of the probabilities.
func (d *OneHotCategoricalStraightThrough) RSample(sampleShape ...int) *Tensor {
	p := d.Probs()
	return d.Sample(sampleShape...).Add(p.Sub(p.Detach()))
}

// Multinomial counts how often each category comes in total_count draws.
// https://pytorch.org/docs/stable/distributions.html#multinomial
type Multinomial struct {
	vectorOf
	n        int
	binomial *Binomial
}

// MultinomialOptions are the options of NewMultinomial.
type MultinomialOptions struct {
	TotalCount    tensor.Opt[int] // default 1
	Probs, Logits *Tensor         // exactly one
	ValidateArgs  tensor.Opt[bool]
}

// NewMultinomial makes a Multinomial.
func NewMultinomial(o MultinomialOptions) *Multinomial {
	d := &Multinomial{n: o.TotalCount.Or(1)}
	c := NewCategorical(ProbOptions{Probs: o.Probs, Logits: o.Logits})
	d.binomial = NewBinomial(BinomialOptions{TotalCount: c.Probs().NewFull(nil, d.n), Probs: c.Probs()})
	d.wrap(d, "Multinomial", c, validates(o.ValidateArgs))
	return d
}

// TotalCount is the number of draws.
func (d *Multinomial) TotalCount() int { return d.n }

// Support of a Multinomial.
func (d *Multinomial) Support() Constraint { return constraints.Multinomial(d.n) }

// Expand shares the parameters.
func (d *Multinomial) Expand(batchShape []int) Distribution {
	n := &Multinomial{n: d.n, binomial: d.binomial.Expand(join(batchShape, d.event)).(*Binomial)}
	n.wrap(n, d.name, d.categorical.Expand(batchShape).(*Categorical), false)
	n.validate = d.validate
	return n
}

// Mean is the number of draws times the probabilities.
func (d *Multinomial) Mean() *Tensor { return d.Probs().MulScalar(d.n) }

// Variance of each count.
func (d *Multinomial) Variance() *Tensor {
	return d.Probs().MulScalar(d.n).Mul(rsub(1, d.Probs()))
}

// Sample draws counts.
func (d *Multinomial) Sample(sampleShape ...int) *Tensor {
	s := d.categorical.Sample(join([]int{d.n}, sampleShape)...).MoveDim(0, -1)
	counts := s.NewZeros(d.shape(sampleShape))
	return counts.ScatterAddInPlace(-1, s, s.OnesLike()).TypeAs(d.Probs())
}

// Entropy of a Multinomial.
func (d *Multinomial) Entropy() *Tensor {
	n := full(d.Probs(), nil, float64(d.n))
	t := n.Mul(d.categorical.Entropy()).Sub(n.AddScalar(1).Lgamma())
	support := d.binomial.EnumerateSupport(EnumerateOptions{NoExpand: true}).Narrow(0, 1, d.n)
	p := d.binomial.LogProb(support).Exp()
	return t.Add(p.Mul(support.AddScalar(1).Lgamma()).SumDim([]int{0, -1}))
}

// LogProb is the logarithm of the probability of counts.
func (d *Multinomial) LogProb(value *Tensor) *Tensor {
	d.check(value)
	p := broadcast(d.Logits(), value)
	l, v := p[0], p[1]
	fn, fx := sumLast(v).AddScalar(1).Lgamma(), sumLast(v.AddScalar(1).Lgamma())
	l = l.MaskedFillScalar(v.EqScalar(0).BitwiseAnd(l.EqScalar(-inf)), 0)
	return fn.Sub(fx).Add(sumLast(l.Mul(v)))
}

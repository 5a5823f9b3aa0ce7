package distcheck

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

type (
	tensorMap = map[string]*tensor.Tensor
	dist      = distributions.Distribution
	transform = distributions.Transform
)

// args are the parameters of one distribution. Numbers are tensors without dimensions, as Python makes of them.
type args struct {
	t   tensorMap
	raw map[string]json.RawMessage
}

func (a args) num(name string) int {
	n, _ := strconv.ParseFloat(string(a.raw[name]), 64) // 0 is refused by the constructor
	return int(n)
}

func (a args) probs() distributions.ProbOptions {
	return distributions.ProbOptions{Probs: a.t["probs"], Logits: a.t["logits"]}
}

// two is a constructor of two tensors.
func two[D dist](f func(a, b *tensor.Tensor, o ...distributions.Options) D, p, q string) func(a args) dist {
	return func(a args) dist { return f(a.t[p], a.t[q]) }
}

func one[D dist](f func(a *tensor.Tensor, o ...distributions.Options) D, p string) func(a args) dist {
	return func(a args) dist { return f(a.t[p]) }
}

func odds[D dist](f func(o distributions.ProbOptions) D) func(a args) dist {
	return func(a args) dist { return f(a.probs()) }
}

// families are the constructors by Python's class names; the parameters have Python's names.
var families = map[string]func(a args) dist{
	"Normal": two(distributions.NewNormal, "loc", "scale"), "LogNormal": two(distributions.NewLogNormal, "loc",
		"scale"),
	"Laplace": two(distributions.NewLaplace, "loc", "scale"), "Cauchy": two(distributions.NewCauchy, "loc", "scale"),
	"Gumbel": two(distributions.NewGumbel, "loc", "scale"), "Uniform": two(distributions.NewUniform, "low", "high"),
	"LogisticNormal": two(distributions.NewLogisticNormal, "loc", "scale"),
	"Gamma": two(distributions.NewGamma, "concentration",
		"rate"), "InverseGamma": two(distributions.NewInverseGamma, "concentration", "rate"),
	"Beta": two(distributions.NewBeta, "concentration1",
		"concentration0"), "Kumaraswamy": two(distributions.NewKumaraswamy, "concentration1", "concentration0"),
	"FisherSnedecor": two(distributions.NewFisherSnedecor, "df1", "df2"), "Pareto": two(distributions.NewPareto,
		"scale", "alpha"),
	"Weibull": two(distributions.NewWeibull, "scale", "concentration"), "VonMises": two(distributions.NewVonMises,
		"loc", "concentration"),
	"Exponential": one(distributions.NewExponential, "rate"), "Chi2": one(distributions.NewChi2,
		"df"), "Poisson": one(distributions.NewPoisson, "rate"),
	"HalfNormal": one(distributions.NewHalfNormal, "scale"), "HalfCauchy": one(distributions.NewHalfCauchy,
		"scale"), "Dirichlet": one(distributions.NewDirichlet, "concentration"),
	"Bernoulli": odds(distributions.NewBernoulli), "Geometric": odds(distributions.NewGeometric),
	"Categorical":                      odds(distributions.NewCategorical),
	"OneHotCategorical":                odds(distributions.NewOneHotCategorical),
	"OneHotCategoricalStraightThrough": odds(distributions.NewOneHotCategoricalStraightThrough),
	"StudentT": func(a args) dist {
		return distributions.NewStudentT(a.t["df"], distributions.StudentTOptions{Loc: a.t["loc"], Scale: a.t["scale"]})
	},
	"GeneralizedPareto": func(a args) dist {
		return distributions.NewGeneralizedPareto(a.t["loc"], a.t["scale"], a.t["concentration"])
	},
	"ContinuousBernoulli": func(a args) dist {
		return distributions.NewContinuousBernoulli(distributions.ContinuousBernoulliOptions{Probs: a.t["probs"],
			Logits: a.t["logits"]})
	},
	"Binomial": func(a args) dist {
		return distributions.NewBinomial(distributions.BinomialOptions{TotalCount: a.t["total_count"],
			Probs: a.t["probs"], Logits: a.t["logits"]})
	},
	"NegativeBinomial": func(a args) dist { return distributions.NewNegativeBinomial(a.t["total_count"], a.probs()) },
	"Multinomial": func(a args) dist {
		return distributions.NewMultinomial(distributions.MultinomialOptions{TotalCount: torch.Some(a.num("total_count")), Probs: a.t["probs"], Logits: a.t["logits"]})
	},
	"RelaxedBernoulli": func(a args) dist { return distributions.NewRelaxedBernoulli(a.t["temperature"], a.probs()) },
	"RelaxedOneHotCategorical": func(a args) dist {
		return distributions.NewRelaxedOneHotCategorical(a.t["temperature"], a.probs())
	},
	"MultivariateNormal": func(a args) dist {
		return distributions.NewMultivariateNormal(a.t["loc"],
			distributions.MultivariateNormalOptions{CovarianceMatrix: a.t["covariance_matrix"],
				PrecisionMatrix: a.t["precision_matrix"], ScaleTril: a.t["scale_tril"]})
	},
	"LowRankMultivariateNormal": func(a args) dist {
		return distributions.NewLowRankMultivariateNormal(a.t["loc"], a.t["cov_factor"], a.t["cov_diag"])
	},
	"Wishart": func(a args) dist {
		return distributions.NewWishart(a.t["df"],
			distributions.WishartOptions{CovarianceMatrix: a.t["covariance_matrix"],
				PrecisionMatrix: a.t["precision_matrix"], ScaleTril: a.t["scale_tril"]})
	},
	"LKJCholesky": func(a args) dist {
		return distributions.NewLKJCholesky(a.num("dim"),
			distributions.LKJCholeskyOptions{Concentration: a.t["concentration"]})
	},
}

// transforms are the constructors without arguments, by Python's class names without "Transform".
var transforms = map[string]func(o ...distributions.TransformOptions) transform{
	"Exp": as(distributions.NewExpTransform), "Sigmoid": as(distributions.NewSigmoidTransform),
	"Tanh":     as(distributions.NewTanhTransform),
	"Softplus": as(distributions.NewSoftplusTransform), "Abs": as(distributions.NewAbsTransform),
	"Softmax":          as(distributions.NewSoftmaxTransform),
	"StickBreaking":    as(distributions.NewStickBreakingTransform),
	"LowerCholesky":    as(distributions.NewLowerCholeskyTransform),
	"PositiveDefinite": as(distributions.NewPositiveDefiniteTransform),
	"CorrCholesky":     as(distributions.NewCorrCholeskyTransform),
}

func as[T transform](f func(o ...distributions.TransformOptions) T) func(o ...distributions.TransformOptions) transform {
	return func(o ...distributions.TransformOptions) transform { return f(o...) }
}

// node is a parsed expression such as "Compose([Affine(0,.5),Exp.inv])": a name with arguments, a list or a tuple (no
// name), or a number.
type node struct {
	name string
	num  float64
	kids []node
	inv  bool
	list bool
}

// parse reads an expression from the front of s.
func parse(s string) (n node, rest string, err error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return n, s, fmt.Errorf("an expression ends too early")
	case s[0] == '[' || s[0] == '(':
		n.list = true
		n.kids, rest, err = items(s)
		return n, rest, err
	case strings.IndexByte("0123456789.-", s[0]) >= 0:
		i := 1
		for i < len(s) && strings.IndexByte("0123456789.eE", s[i]) >= 0 {
			i++
		}
		n.num, err = strconv.ParseFloat(s[:i], 64)
		return n, s[i:], err
	}
	i := 0
	for i < len(s) && (s[i] == '_' || s[i]|32 >= 'a' && s[i]|32 <= 'z' || s[i] >= '0' && s[i] <= '9') {
		i++
	}
	if i == 0 {
		return n, s, fmt.Errorf("cannot read %q", s)
	}
	n.name, rest = strings.TrimSuffix(s[:i], "Transform"), s[i:]
	if strings.HasPrefix(rest, "(") {
		if n.kids, rest, err = items(rest); err != nil {
			return n, rest, err
		}
	}
	if r, ok := strings.CutPrefix(rest, ".inv"); ok {
		n.inv, rest = true, r
	}
	return n, rest, nil
}

// items reads what stands between brackets, separated by commas.
func items(s string) (kids []node, rest string, err error) {
	closing := map[byte]string{'[': "]", '(': ")"}[s[0]]
	rest = strings.TrimSpace(s[1:])
	for !strings.HasPrefix(rest, closing) {
		var k node
		if k, rest, err = parse(rest); err != nil {
			return nil, rest, err
		}
		kids = append(kids, k)
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), ","))
		if rest == "" {
			return nil, rest, fmt.Errorf("%q lacks a %q", s, closing)
		}
	}
	return kids, rest[1:], nil
}

func (n node) ints() (out []int) {
	for _, k := range n.kids {
		out = append(out, int(k.num))
	}
	return out
}

// builder makes distributions and transforms from expressions; numbers become tensors of its type.
type builder struct{ dt tensor.DType }

func (b builder) scalar(x float64) *tensor.Tensor {
	return tensor.FromSlice([]float64{x}, []int{}...).ToDType(b.dt).To(golden.Device)
}

// kid is argument i, empty when it is missing.
func (n node) kid(i int) node {
	if i < len(n.kids) {
		return n.kids[i]
	}
	return node{}
}

func (b builder) transforms(ns []node) (out []transform, err error) {
	for _, n := range ns {
		t, err := b.transform(n)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func (b builder) transform(n node) (t transform, err error) {
	var parts []transform
	if n.kid(0).list && n.name != "Reshape" {
		if parts, err = b.transforms(n.kids[0].kids); err != nil {
			return nil, err
		}
	}
	switch f := transforms[n.name]; {
	case f != nil:
		t = f()
	case n.name == "Affine":
		t = distributions.NewAffineTransform(b.scalar(n.kid(0).num), b.scalar(n.kid(1).num))
	case n.name == "Power":
		t = distributions.NewPowerTransform(b.scalar(n.kid(0).num))
	case n.name == "Reshape":
		t = distributions.NewReshapeTransform(n.kid(0).ints(), n.kid(1).ints())
	case n.name == "Compose":
		t = distributions.NewComposeTransform(parts)
	case n.name == "Cat":
		t = distributions.NewCatTransform(parts, distributions.CatTransformOptions{Dim: int(n.kid(1).num),
			Lengths: n.kid(2).ints()})
	case n.name == "Stack":
		t = distributions.NewStackTransform(parts, distributions.StackTransformOptions{Dim: int(n.kid(1).num)})
	case n.name == "Independent":
		p, err := b.transform(n.kid(0))
		if err != nil {
			return nil, err
		}
		t = distributions.NewIndependentTransform(p, int(n.kid(1).num))
	case n.name == "CumulativeDistribution":
		if n.kid(0).name != "Normal" {
			return nil, fmt.Errorf("distribution %s in a transform", n.kid(0).name)
		}
		t = distributions.NewCumulativeDistributionTransform(distributions.NewNormal(b.scalar(n.kid(0).kid(0).num),
			b.scalar(n.kid(0).kid(1).num)))
	default:
		return nil, fmt.Errorf("unknown transform %q", n.name)
	}
	if n.inv {
		t = t.Inv()
	}
	return t, nil
}

// distribution makes a distribution: by its class, or, for those that are made of others, by the expression that is its
// name.
func (b builder) distribution(cls, name string, a args) (dist, error) {
	if f := families[cls]; f != nil {
		return f(a), nil
	}
	n, _, err := parse(name) // what follows the expression is a remark
	if err != nil {
		return nil, err
	}
	inner := func(i int) (dist, error) {
		f := families[n.kid(i).name]
		if f == nil {
			return nil, fmt.Errorf("unknown distribution %q", n.kid(i).name)
		}
		return f(a), nil
	}
	switch cls {
	case "TransformedDistribution":
		ts, err := b.transforms(n.kid(1).kids)
		if err != nil {
			return nil, err
		}
		d, err := inner(0)
		if err != nil {
			return nil, err
		}
		return distributions.NewTransformedDistribution(d, ts), nil
	case "Independent":
		d, err := inner(0)
		if err != nil {
			return nil, err
		}
		return distributions.NewIndependent(d, int(n.kid(1).num)), nil
	case "MixtureSameFamily":
		d, err := inner(1)
		if err != nil {
			return nil, err
		}
		return distributions.NewMixtureSameFamily(distributions.NewCategorical(a.probs()), d), nil
	}
	return nil, fmt.Errorf("unknown distribution class %q", cls)
}

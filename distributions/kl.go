package distributions

import (
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/special"
	"github.com/gotorch-dev/torch/tensor"
)

// ExponentialFamily is a distribution with density exp(⟨θ, t(x)⟩ - F(θ) + k(x)) for natural parameters θ.
// https://pytorch.org/docs/stable/distributions.html#exponentialfamily
type ExponentialFamily interface {
	Distribution
	// NaturalParams are the natural parameters θ.
	NaturalParams() []*Tensor
	// LogNormalizer is F(θ).
	LogNormalizer(params ...*Tensor) *Tensor
}

// checkNatural panics unless there are n natural parameters.
func checkNatural(p []*Tensor, n int) {
	if len(p) != n {
		tensor.Fail(tensor.ErrValue, "LogNormalizer takes %d natural parameters, got %d", n, len(p))
	}
}

// classes are the types under which a distribution is known: its own, the types of its Super chain, and
// ExponentialFamily.
func classes(d Distribution) (types []reflect.Type, as []Distribution) {
	for {
		types, as = append(types, reflect.TypeOf(d)), append(as, d)
		s, ok := d.(interface{ Super() Distribution })
		if !ok {
			break
		}
		d = s.Super()
	}
	if _, ok := as[0].(ExponentialFamily); ok {
		types, as = append(types, expFamily), append(as, as[0])
	}
	return types, as
}

var expFamily = reflect.TypeFor[ExponentialFamily]()

type klFunc func(p, q Distribution) *Tensor

var (
	klMu       sync.RWMutex
	klRegistry = map[[2]reflect.Type]klFunc{}
)

// RegisterKL adds a formula for the KL divergence of a Q from a P, or replaces one. The types are pointers to families,
// or the interface ExponentialFamily. A family of one's own that is a special case of another one says so with a method
// Super() Distribution; a formula for the other one then serves for it too.
//
//	distributions.RegisterKL(func(p *distributions.Normal, q *Mine) *torch.Tensor { … })
func RegisterKL[P, Q Distribution](f func(p P, q Q) *Tensor) {
	klMu.Lock()
	defer klMu.Unlock()
	types := [2]reflect.Type{reflect.TypeFor[P](), reflect.TypeFor[Q]()}
	klRegistry[types] = func(p, q Distribution) *Tensor {
		return f(p.(P), q.(Q))
	}
}

// KLDivergence is the Kullback-Leibler divergence ∫ p log(p/q) of q from p, batched over the batch shapes. It panics
// with tensor.ErrNotImpl for pairs of families without a formula. Of several formulas that fit, the one nearest to p's
// type is taken, then the one nearest to q's.
func KLDivergence(p, q Distribution) *Tensor {
	pt, ps := classes(p)
	qt, qs := classes(q)
	for i := range pt {
		for j := range qt {
			klMu.RLock()
			f := klRegistry[[2]reflect.Type{pt[i], qt[j]}]
			klMu.RUnlock()
			if f != nil {
				return f(ps[i], qs[j])
			}
		}
	}
	tensor.Fail(tensor.ErrNotImpl, "No KL(p || q) is implemented for p type %s and q type %s", familyName(p),
		familyName(q))
	return nil
}

func familyName(d Distribution) string {
	t := reflect.TypeOf(d)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// infinite is a tensor of infinities like t.
func infinite(t *Tensor) *Tensor { return t.FullLike(inf) }

func xlogx(x *Tensor) *Tensor { return special.Xlogy(x, x) }

// squaredNorm is the trace of M·Mᵀ.
func squaredNorm(m *Tensor) *Tensor {
	return m.Reshape(join(m.Shape()[:m.Dim()-2], []int{m.Size(-1) * m.Size(-2)})).PowScalar(2).SumDim(lastDim)
}

// infiniteWhere puts infinity where q gives no probability to values that p can take.
func infiniteWhere(x, mask *Tensor) *Tensor { return x.MaskedFillScalar(mask, inf) }

func init() {
	RegisterKL(func(p, q *Bernoulli) *Tensor {
		a, b := p.Probs(), q.Probs()
		t1 := a.Mul(q.Logits().Neg().Softplus().Sub(p.Logits().Neg().Softplus()))
		t1 = infiniteWhere(t1, b.EqScalar(0)).MaskedFillScalar(a.EqScalar(0), 0)
		t2 := rsub(1, a).Mul(q.Logits().Softplus().Sub(p.Logits().Softplus()))
		t2 = infiniteWhere(t2, b.EqScalar(1)).MaskedFillScalar(a.EqScalar(1), 0)
		return t1.Add(t2)
	})
	RegisterKL(func(p, q *Beta) *Tensor {
		p1, p0, q1, q0 := p.Concentration1(), p.Concentration0(), q.Concentration1(), q.Concentration0()
		sp, sq := p1.Add(p0), q1.Add(q0)
		t1 := q1.Lgamma().Add(q0.Lgamma()).Add(sp.Lgamma())
		t2 := p1.Lgamma().Add(p0.Lgamma()).Add(sq.Lgamma())
		return t1.Sub(t2).Add(p1.Sub(q1).Mul(p1.Digamma())).Add(p0.Sub(q0).Mul(p0.Digamma())).Add(sq.Sub(sp).Mul(sp.Digamma()))
	})
	RegisterKL(func(p, q *Binomial) *Tensor {
		n, m := p.TotalCount(), q.TotalCount()
		if n.Device().Type != tensor.MetaDevice && n.Lt(m).Any().Item() != 0 {
			tensor.Fail(tensor.ErrNotImpl,
				"KL between Binomials where q.total_count > p.total_count is not implemented")
		}
		kl := n.Mul(p.Probs().Mul(p.Logits().Sub(q.Logits())).Add(p.Probs().Neg().Log1p()).Sub(q.Probs().Neg().Log1p()))
		return infiniteWhere(kl, n.Gt(m))
	})
	RegisterKL(klCategorical)
	RegisterKL(func(p, q *OneHotCategorical) *Tensor { return klCategorical(p.categorical, q.categorical) })
	RegisterKL(func(p, q *ContinuousBernoulli) *Tensor {
		t1 := p.Mean().Mul(p.Logits().Sub(q.Logits()))
		t2 := p.logNorm().Add(p.Probs().Neg().Log1p())
		return t1.Add(t2).Sub(q.logNorm()).Sub(q.Probs().Neg().Log1p())
	})
	RegisterKL(func(p, q *Dirichlet) *Tensor {
		a, b := p.Concentration(), q.Concentration()
		sa, sb := sumLast(a), sumLast(b)
		t2 := sumLast(a.Lgamma().Sub(b.Lgamma()))
		return sa.Lgamma().Sub(sb.Lgamma()).Sub(t2).Add(sumLast(a.Sub(b).Mul(a.Digamma().Sub(sa.Digamma().Unsqueeze(-1)))))
	})
	RegisterKL(func(p, q *Exponential) *Tensor {
		r := q.Rate().Div(p.Rate())
		return r.Log().Neg().Add(r).SubScalar(1)
	})
	RegisterKL(klExponentialFamily)
	RegisterKL(func(p, q *Gamma) *Tensor {
		a, b := p.Concentration(), q.Concentration()
		t1 := b.Mul(p.Rate().Div(q.Rate()).Log())
		t2 := b.Lgamma().Sub(a.Lgamma())
		return t1.Add(t2).Add(a.Sub(b).Mul(a.Digamma())).Add(q.Rate().Sub(p.Rate()).Mul(a.Div(p.Rate())))
	})
	RegisterKL(func(p, q *Gumbel) *Tensor {
		s, b, a := p.Scale().Div(q.Scale()), q.Loc().Div(q.Scale()), p.Loc().Div(q.Scale())
		t3 := b.Add(s.AddScalar(1).Lgamma()).Sub(a).Exp()
		return s.Log().Neg().Sub(b).Add(a).Add(s.MulScalar(euler)).Add(t3).SubScalar(1 + euler)
	})
	RegisterKL(func(p, q *Geometric) *Tensor {
		return p.Entropy().Neg().Sub(q.Probs().Neg().Log1p().Div(p.Probs())).Sub(q.Logits())
	})
	RegisterKL(func(p, q *HalfNormal) *Tensor { return klNormal(p.baseDist.(*Normal), q.baseDist.(*Normal)) })
	RegisterKL(func(p, q *Laplace) *Tensor {
		r, d := p.Scale().Div(q.Scale()), p.Loc().Sub(q.Loc()).Abs()
		return r.Log().Neg().Add(d.Div(q.Scale())).Add(r.Mul(d.Neg().Div(p.Scale()).Exp())).SubScalar(1)
	})
	RegisterKL(klNormal)
	RegisterKL(func(p, q *Pareto) *Tensor {
		r, a := p.Scale().Div(q.Scale()), q.Alpha().Div(p.Alpha())
		kl := q.Alpha().Mul(r.Log()).Sub(a.Log()).Add(a).SubScalar(1)
		return infiniteWhere(kl, p.Scale().Lt(q.Scale()))
	})
	RegisterKL(func(p, q *Poisson) *Tensor {
		return p.Rate().Mul(p.Rate().Log().Sub(q.Rate().Log())).Sub(p.Rate().Sub(q.Rate()))
	})
	RegisterKL(func(p, q *TransformedDistribution) *Tensor {
		if !equalTransforms(p.transforms, q.transforms) || !slices.Equal(p.event, q.event) {
			tensor.Fail(tensor.ErrNotImpl,
				"KL divergence of transformed distributions needs equal transforms and event shapes")
		}
		return KLDivergence(p.baseDist, q.baseDist)
	})
	RegisterKL(func(p, q *Uniform) *Tensor {
		kl := q.width().Div(p.width()).Log()
		return infiniteWhere(kl, q.Low().Gt(p.Low()).BitwiseOr(q.High().Lt(p.High())))
	})
	RegisterKL(func(p, q *Independent) *Tensor {
		if p.n != q.n {
			tensor.Fail(tensor.ErrNotImpl,
				"KL divergence of Independent distributions needs as many reinterpreted dimensions in both, got %d "+
					"and %d", p.n, q.n)
		}
		return sumRight(KLDivergence(p.baseDist, q.baseDist), p.n)
	})
	RegisterKL(func(p, q *Cauchy) *Tensor {
		t := p.Scale().Add(q.Scale()).PowScalar(2).Add(p.Loc().Sub(q.Loc()).PowScalar(2)).Log()
		return t.Sub(p.Scale().MulScalar(4).Mul(q.Scale()).Log())
	})
	registerCross()
	registerInfinite()
	registerMultivariate()
}

func klCategorical(p, q *Categorical) *Tensor {
	t := p.Probs().Mul(p.Logits().Sub(q.Logits()))
	t = infiniteWhere(t, q.Probs().EqScalar(0).ExpandAs(t))
	return sumLast(t.MaskedFillScalar(p.Probs().EqScalar(0).ExpandAs(t), 0))
}

func klNormal(p, q *Normal) *Tensor {
	v := p.Scale().Div(q.Scale()).PowScalar(2)
	t := p.Loc().Sub(q.Loc()).Div(q.Scale()).PowScalar(2)
	return v.Add(t).SubScalar(1).Sub(v.Log()).MulScalar(0.5)
}

// klExponentialFamily is the Bregman divergence of the log-normalizer (F. Nielsen and R. Nock, Entropies and
// cross-entropies of exponential families, 2010), whose gradient is taken by automatic differentiation.
func klExponentialFamily(p, q ExponentialFamily) (kl *Tensor) {
	if reflect.TypeOf(p) != reflect.TypeOf(q) {
		tensor.Fail(tensor.ErrNotImpl,
			"The cross KL-divergence between different exponential families cannot be computed using Bregman "+
				"divergences")
	}
	torch.EnableGrad(func() {
		pn, qn := p.NaturalParams(), q.NaturalParams()
		for i := range pn {
			pn[i] = pn[i].Detach().SetRequiresGrad(true)
		}
		f := p.LogNormalizer(pn...)
		g := torch.Grad([]*Tensor{f.Sum()}, pn, torch.GradOptions{CreateGraph: true})
		kl = q.LogNormalizer(qn...).Sub(f)
		for i := range pn {
			kl = kl.Sub(sumRight(qn[i].Sub(pn[i]).Mul(g[i]), len(q.EventShape())))
		}
	})
	return kl
}

// registerInfinite are the pairs where p can take values that q cannot.
func registerInfinite() {
	infinityTo[*Beta, *Pareto]((*Beta).Concentration1)
	infinityTo[*ContinuousBernoulli, *Pareto]((*ContinuousBernoulli).Probs)
	rate := (*Exponential).Rate
	infinityTo[*Exponential, *Beta](rate)
	infinityTo[*Exponential, *ContinuousBernoulli](rate)
	infinityTo[*Exponential, *Pareto](rate)
	infinityTo[*Exponential, *Uniform](rate)
	conc := (*Gamma).Concentration
	infinityTo[*Gamma, *Beta](conc)
	infinityTo[*Gamma, *ContinuousBernoulli](conc)
	infinityTo[*Gamma, *Pareto](conc)
	infinityTo[*Gamma, *Uniform](conc)
	realLine((*Gumbel).Loc)
	realLine((*Laplace).Loc)
	realLine((*Normal).Loc)
	scale := (*Pareto).Scale
	infinityTo[*Pareto, *Beta](scale)
	infinityTo[*Pareto, *ContinuousBernoulli](scale)
	infinityTo[*Pareto, *Uniform](scale)
	infinityTo[*Poisson, *Bernoulli]((*Poisson).Rate)
	infinityTo[*Poisson, *Binomial]((*Poisson).Rate)
}

// infinityTo registers an infinite divergence; like gives its shape.
func infinityTo[P, Q Distribution](like func(P) *Tensor) {
	RegisterKL(func(p P, _ Q) *Tensor { return infinite(like(p)) })
}

// realLine registers infinite divergences from a family that takes all real values.
func realLine[P Distribution](like func(P) *Tensor) {
	infinityTo[P, *Beta](like)
	infinityTo[P, *ContinuousBernoulli](like)
	infinityTo[P, *Exponential](like)
	infinityTo[P, *Gamma](like)
	infinityTo[P, *Pareto](like)
	infinityTo[P, *Uniform](like)
}

// registerCross are the pairs of different families.
func registerCross() {
	RegisterKL(func(p *Bernoulli, q *Poisson) *Tensor {
		return p.Entropy().Neg().Sub(p.Probs().Mul(q.Rate().Log()).Sub(q.Rate()))
	})
	RegisterKL(func(p *Beta, q *ContinuousBernoulli) *Tensor {
		return p.Entropy().Neg().Sub(p.Mean().Mul(q.Logits())).Sub(q.Probs().Neg().Log1p()).Sub(q.logNorm())
	})
	RegisterKL(func(p *Beta, q *Exponential) *Tensor {
		return p.Entropy().Neg().Sub(q.Rate().Log()).Add(q.Rate().Mul(p.Mean()))
	})
	RegisterKL(func(p *Beta, q *Gamma) *Tensor {
		a, s := p.Concentration1(), p.Concentration1().Add(p.Concentration0())
		t2 := q.Concentration().Lgamma().Sub(q.Concentration().Mul(q.Rate().Log()))
		t3 := q.Concentration().SubScalar(1).Mul(a.Digamma().Sub(s.Digamma()))
		return p.Entropy().Neg().Add(t2).Sub(t3).Add(q.Rate().Mul(a).Div(s))
	})
	RegisterKL(func(p *Beta, q *Normal) *Tensor {
		m, v := p.Mean(), q.Scale().PowScalar(2)
		s := p.Concentration1().Add(p.Concentration0()).AddScalar(1)
		t2 := v.MulScalar(2 * math.Pi).Log().MulScalar(0.5)
		t3 := m.Mul(rsub(1, m)).Div(s).Add(m.PowScalar(2)).MulScalar(0.5)
		return p.Entropy().Neg().Add(t2).Add(t3.Sub(q.Loc().Mul(m)).Add(q.Loc().PowScalar(2).MulScalar(0.5)).Div(v))
	})
	RegisterKL(func(p *Beta, q *Uniform) *Tensor {
		kl := p.Entropy().Neg().Add(q.width().Log())
		return infiniteWhere(kl, q.Low().GtScalar(0).BitwiseOr(q.High().LtScalar(1)))
	})
	RegisterKL(func(p *ContinuousBernoulli, q *Exponential) *Tensor {
		return p.Entropy().Neg().Sub(q.Rate().Log()).Add(q.Rate().Mul(p.Mean()))
	})
	RegisterKL(func(p *ContinuousBernoulli, q *Normal) *Tensor {
		t2 := q.Loc().Div(q.Scale()).Square().AddScalar(math.Log(2 * math.Pi)).MulScalar(0.5).Add(q.Scale().Log())
		t3 := p.Variance().Add(p.Mean().Square()).Sub(q.Loc().MulScalar(2).Mul(p.Mean())).Div(q.Scale().Square().MulScalar(2))
		return p.Entropy().Neg().Add(t2).Add(t3)
	})
	RegisterKL(func(p *ContinuousBernoulli, q *Uniform) *Tensor {
		kl := p.Entropy().Neg().Add(q.width().Log())
		return torch.WhereScalarSelf(q.Low().GeScalar(0).BitwiseOr(q.High().LeScalar(1)), inf, kl)
	})
	RegisterKL(func(p *Exponential, q *Gamma) *Tensor {
		r := q.Rate().Div(p.Rate())
		c := q.Concentration()
		return c.Neg().Mul(r.Log()).Add(r).Add(c.Lgamma()).Add(c.MulScalar(euler)).SubScalar(1 + euler)
	})
	RegisterKL(func(p *Exponential, q *Gumbel) *Tensor {
		s, l := p.Rate().Mul(q.Scale()), q.Loc().Div(q.Scale())
		return s.Log().SubScalar(1).Sub(l).Add(l.Exp().Mul(s).Div(s.AddScalar(1))).Add(s.Reciprocal())
	})
	RegisterKL(func(p *Exponential, q *Normal) *Tensor {
		v, r := q.Scale().PowScalar(2), p.Rate().PowScalar(2)
		t1 := r.Mul(v).MulScalar(2 * math.Pi).Log().MulScalar(0.5)
		return t1.SubScalar(1).Add(r.Reciprocal().Sub(q.Loc().Div(p.Rate())).Add(q.Loc().PowScalar(2).MulScalar(0.5)).Div(v))
	})
	RegisterKL(func(p *Gamma, q *Exponential) *Tensor {
		return p.Entropy().Neg().Sub(q.Rate().Log()).Add(q.Rate().Mul(p.Concentration()).Div(p.Rate()))
	})
	RegisterKL(func(p *Gamma, q *Gumbel) *Tensor {
		a, s, l := p.Concentration(), p.Rate().Mul(q.Scale()), q.Loc().Div(q.Scale())
		t1 := a.SubScalar(1).Mul(a.Digamma()).Sub(a.Lgamma()).Sub(a)
		t3 := l.Exp().Mul(s.Reciprocal().AddScalar(1).Pow(a.Neg())).Sub(l)
		return t1.Add(s.Log()).Add(a.Div(s)).Add(t3)
	})
	RegisterKL(func(p *Gamma, q *Normal) *Tensor {
		a, v, b := p.Concentration(), q.Scale().PowScalar(2), p.Rate().PowScalar(2)
		t1 := b.Mul(v).MulScalar(2 * math.Pi).Log().MulScalar(0.5).Sub(a).Sub(a.Lgamma())
		t2 := a.PowScalar(2).Add(a).MulScalar(0.5).Div(b)
		t := t2.Sub(q.Loc().Mul(a).Div(p.Rate())).Add(q.Loc().PowScalar(2).MulScalar(0.5))
		return t1.Add(a.SubScalar(1).Mul(a.Digamma())).Add(t.Div(v))
	})
	RegisterKL(func(p *Gumbel, q *Normal) *Tensor {
		r := p.Scale().Div(q.Scale())
		t1 := r.DivScalar(math.Sqrt(2 * math.Pi)).Log()
		t2 := r.MulScalar(math.Pi * 0.5).PowScalar(2).DivScalar(3)
		t3 := p.Loc().Add(p.Scale().MulScalar(euler)).Sub(q.Loc()).Div(q.Scale()).PowScalar(2).MulScalar(0.5)
		return t2.Sub(t1).Add(t3).SubScalar(euler + 1)
	})
	RegisterKL(func(p *Laplace, q *Normal) *Tensor {
		v := q.Scale().PowScalar(2)
		r := p.Scale().PowScalar(2).Div(v)
		t1 := r.MulScalar(2 / math.Pi).Log().MulScalar(0.5)
		t := p.Loc().PowScalar(2).MulScalar(0.5).Sub(p.Loc().Mul(q.Loc())).Add(q.Loc().PowScalar(2).MulScalar(0.5))
		return r.Sub(t1).Add(t.Div(v)).SubScalar(1)
	})
	RegisterKL(func(p *Normal, q *Gumbel) *Tensor {
		m, v, l := p.Loc().Div(q.Scale()), p.Scale().Div(q.Scale()).PowScalar(2), q.Loc().Div(q.Scale())
		t3 := v.MulScalar(0.5).Sub(m).Add(l).Exp()
		return v.Log().MulScalar(-0.5).Add(m.Sub(l)).Add(t3).SubScalar(0.5 * (1 + math.Log(2*math.Pi)))
	})
	RegisterKL(func(p *Normal, q *Laplace) *Tensor {
		d := p.Loc().Sub(q.Loc())
		r := d.Div(p.Scale())
		t2 := p.Scale().MulScalar(math.Sqrt(2 / math.Pi)).Mul(r.PowScalar(2).MulScalar(-0.5).Exp())
		t3 := d.Mul(r.MulScalar(math.Sqrt(0.5)).Erf())
		return t2.Add(t3).Div(q.Scale()).Sub(p.Scale().Div(q.Scale()).Log()).SubScalar(0.5 * (1 +
			math.Log(0.5*math.Pi)))
	})
	RegisterKL(func(p *Pareto, q *Exponential) *Tensor {
		a, s := p.Alpha(), p.Scale().Mul(q.Rate())
		kl := a.Div(s).Log().Sub(a.Reciprocal()).Add(a.Mul(s).Div(a.SubScalar(1))).SubScalar(1)
		return infiniteWhere(kl, a.LeScalar(1))
	})
	RegisterKL(func(p *Pareto, q *Gamma) *Tensor {
		a, c := p.Alpha(), q.Concentration()
		common := p.Scale().Log().Add(a.Reciprocal())
		t2 := c.Lgamma().Sub(c.Mul(q.Rate().Log()))
		t4 := q.Rate().Mul(a).Mul(p.Scale()).Div(a.SubScalar(1))
		kl := a.Log().Sub(common).Add(t2).Add(rsub(1, c).Mul(common)).Add(t4).SubScalar(1)
		return infiniteWhere(kl, a.LeScalar(1))
	})
	RegisterKL(func(p *Pareto, q *Normal) *Tensor {
		a, v := p.Alpha(), q.Scale().PowScalar(2).MulScalar(2)
		m := p.Scale().Div(a.SubScalar(1))
		t1 := q.Scale().MulScalar(math.Sqrt(2 * math.Pi)).Mul(a).Div(p.Scale()).Log()
		t := a.Mul(m.PowScalar(2)).Div(a.SubScalar(2)).Add(a.Mul(m).Sub(q.Loc()).PowScalar(2))
		return infiniteWhere(t1.Sub(a.Reciprocal()).Add(t.Div(v)).SubScalar(1), a.LeScalar(2))
	})
	RegisterKL(func(p *Uniform, q *Beta) *Tensor {
		w, lo, hi := p.width(), p.Low(), p.High()
		a, b := q.Concentration1(), q.Concentration0()
		t2 := a.SubScalar(1).Mul(xlogx(hi).Sub(xlogx(lo)).Sub(w)).Div(w)
		t3 := b.SubScalar(1).Mul(xlogx(rsub(1, hi)).Sub(xlogx(rsub(1, lo))).Add(w)).Div(w)
		t4 := a.Lgamma().Add(b.Lgamma()).Sub(a.Add(b).Lgamma())
		return infiniteWhere(t3.Add(t4).Sub(w.Log()).Sub(t2), hi.GtScalar(1).BitwiseOr(lo.LtScalar(0)))
	})
	RegisterKL(func(p *Uniform, q *ContinuousBernoulli) *Tensor {
		kl := p.Entropy().Neg().Sub(p.Mean().Mul(q.Logits())).Sub(q.Probs().Neg().Log1p()).Sub(q.logNorm())
		return torch.WhereScalarSelf(p.High().GeScalar(1).BitwiseOr(p.Low().LeScalar(0)), inf, kl)
	})
	RegisterKL(func(p *Uniform, q *Exponential) *Tensor {
		kl := q.Rate().Mul(p.High().Add(p.Low())).DivScalar(2).Sub(p.width().Mul(q.Rate()).Log())
		return infiniteWhere(kl, p.Low().LtScalar(0))
	})
	RegisterKL(func(p *Uniform, q *Gamma) *Tensor {
		w, c := p.width(), q.Concentration()
		t2 := c.Lgamma().Sub(c.Mul(q.Rate().Log()))
		t3 := rsub(1, c).Mul(xlogx(p.High()).Sub(xlogx(p.Low())).Sub(w)).Div(w)
		t4 := q.Rate().Mul(p.High().Add(p.Low())).DivScalar(2)
		return infiniteWhere(w.Log().Neg().Add(t2).Add(t3).Add(t4), p.Low().LtScalar(0))
	})
	RegisterKL(func(p *Uniform, q *Gumbel) *Tensor {
		w := q.Scale().Div(p.width())
		hi, lo := p.High().Sub(q.Loc()).Div(q.Scale()), p.Low().Sub(q.Loc()).Div(q.Scale())
		return w.Log().Add(hi.Add(lo).MulScalar(0.5)).Sub(w.Mul(hi.Neg().Exp().Sub(lo.Neg().Exp())))
	})
	RegisterKL(func(p *Uniform, q *Normal) *Tensor {
		w := p.width()
		t1 := q.Scale().MulScalar(math.Sqrt(2 * math.Pi)).Div(w).Log()
		t3 := p.High().Add(p.Low()).Sub(q.Loc().MulScalar(2)).DivScalar(2).PowScalar(2)
		return t1.Add(w.PowScalar(2).DivScalar(12).Add(t3).MulScalar(0.5).Div(q.Scale().PowScalar(2)))
	})
	RegisterKL(func(p *Uniform, q *Pareto) *Tensor {
		w := p.width()
		t1 := q.Alpha().Mul(q.Scale().Pow(q.Alpha())).Mul(w).Log()
		t2 := xlogx(p.High()).Sub(xlogx(p.Low())).Sub(w).Div(w)
		return infiniteWhere(t2.Mul(q.Alpha().AddScalar(1)).Sub(t1), p.Low().Lt(q.Scale()))
	})
}

// sameEvents refuses pairs of vectors of different length.
func sameEvents(what string, p, q Distribution) int {
	if !slices.Equal(p.EventShape(), q.EventShape()) {
		tensor.Fail(tensor.ErrValue, "KL-divergence between two %s with different event shapes cannot be computed",
			what)
	}
	return p.EventShape()[0]
}

// common expands the batch dimensions of two batches of matrices to one shape.
func common(a, b *Tensor) (x, y *Tensor) {
	batch := torch.BroadcastShapes(a.Shape()[:a.Dim()-2], b.Shape()[:b.Dim()-2])
	grow := func(m *Tensor) *Tensor { return m.Expand(join(batch, m.Shape()[m.Dim()-2:])) }
	return grow(a), grow(b)
}

func registerMultivariate() {
	const low = "(Low Rank) Multivariate Normals"
	RegisterKL(func(p, q *LowRankMultivariateNormal) *Tensor {
		n := sameEvents("Low Rank Multivariate Normals", p, q)
		a := solveLower(q.tril, scaledTranspose(q.w, q.diag))
		t := sumLast(p.diag.Div(q.diag)).Add(squaredNorm(p.w.Mul(q.diag.Rsqrt().Unsqueeze(-1)))).
			Sub(squaredNorm(a.Mul(p.diag.Sqrt().Unsqueeze(-2)))).Sub(squaredNorm(a.MatMul(p.w)))
		return q.logDet().Sub(p.logDet()).Add(t).Add(q.mahalanobis(q.Loc().Sub(p.Loc()))).SubScalar(n).MulScalar(0.5)
	})
	RegisterKL(func(p *MultivariateNormal, q *LowRankMultivariateNormal) *Tensor {
		n := sameEvents(low, p, q)
		a := solveLower(q.tril, scaledTranspose(q.w, q.diag))
		t := squaredNorm(p.tril.Mul(q.diag.Rsqrt().Unsqueeze(-1))).Sub(squaredNorm(a.MatMul(p.tril)))
		return q.logDet().Sub(sumLogDiagonal(p.tril).MulScalar(2)).Add(t).Add(q.mahalanobis(q.Loc().Sub(p.Loc()))).SubScalar(n).MulScalar(0.5)
	})
	RegisterKL(func(p *LowRankMultivariateNormal, q *MultivariateNormal) *Tensor {
		n := sameEvents(low, p, q)
		l, w := common(q.tril, p.w)
		_, diag := common(q.tril, p.diag.Sqrt().DiagEmbed())
		t := squaredNorm(solveLower(l, w)).Add(squaredNorm(solveLower(l, diag)))
		m := mahalanobis(q.tril, q.Loc().Sub(p.Loc()))
		return sumLogDiagonal(q.tril).MulScalar(2).Sub(p.logDet()).Add(t).Add(m).SubScalar(n).MulScalar(0.5)
	})
	RegisterKL(func(p, q *MultivariateNormal) *Tensor {
		n := sameEvents("Multivariate Normals", p, q)
		lq, lp := common(q.tril, p.tril)
		t := squaredNorm(solveLower(lq, lp)).Add(mahalanobis(q.tril, q.Loc().Sub(p.Loc())))
		return sumLogDiagonal(q.tril).Sub(sumLogDiagonal(p.tril)).Add(t.SubScalar(n).MulScalar(0.5))
	})
}

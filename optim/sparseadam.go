package optim

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// SparseAdamOptions are the options of SparseAdam. The zero value is PyTorch's default; a number whose default is
// another than 0 is given as torch.Some(x).
type SparseAdamOptions struct {
	// Betas are the coefficients of the running averages (default 0.9, 0.999).
	Betas tensor.Opt[[2]float64]
	// Eps is added to the denominator (default 1e-8).
	Eps tensor.Opt[float64]
	// Maximize climbs instead of descending.
	Maximize bool
}

// SparseAdam is Adam for sparse gradients, in its lazy form: a step changes the parameter and the running averages only
// in the rows that the gradient names. With g the gradient of a row, t the number of the step and p the row:
//
//	m += (1-β1)·(g - m)
//	v += (1-β2)·(g² - v)
//	p -= lr·√(1-β2^t)/(1-β1^t) · m/(√v + eps)
//
// Maximize takes -g for g. A dense gradient is an error. See
// https://docs.pytorch.org/docs/stable/generated/torch.optim.SparseAdam.html. Its state is "step" (an int), "exp_avg"
// (m) and "exp_avg_sq" (v), both dense.
type SparseAdam struct{ base }

// NewSparseAdam optimizes parameters with learning rate lr (PyTorch's default is 1e-3). It panics when a setting is out
// of range, a parameter is not a leaf or sparse itself, or the list is empty.
func NewSparseAdam(params []*Tensor, lr float64, opts ...SparseAdamOptions) *SparseAdam {
	return NewSparseAdamGroups(one(params), lr, opts...)
}

// NewSparseAdamGroups is NewSparseAdam with several groups.
func NewSparseAdamGroups(groups []Group, lr float64, opts ...SparseAdamOptions) *SparseAdam {
	o := first(opts)
	a := &SparseAdam{}
	a.check = func(g *ParamGroup) {
		for _, s := range [][2]string{{"lr", "learning rate"}, {"eps", "epsilon value"}} {
			if f := g.Float(s[0]); !(f > 0) {
				tensor.Fail(tensor.ErrValue, "Invalid %s: %g", s[1], f)
			}
		}
		validBetas(g)
	}
	a.added = func(g *ParamGroup) {
		for i, p := range g.Params {
			if p.IsSparse() {
				tensor.Fail(tensor.ErrType,
					"Sparse params at indices [%d]: SparseAdam requires dense parameter tensors", i)
			}
		}
	}
	a.update = func(g *ParamGroup) {
		for _, p := range g.Params {
			if grad := tensor.GradRaw(p); grad != nil && !grad.IsSparse() {
				tensor.FailHint(tensor.ErrType, "in Go: optim.NewAdam",
					"SparseAdam does not support dense gradients, please consider Adam instead")
			}
		}
	}
	a.sparse = sparseAdam
	a.init(a, "SparseAdam", []setting{
		{"lr", lr}, {"betas", o.Betas.Or([2]float64{0.9, 0.999})}, {"eps", o.Eps.Or(1e-8)}, {"maximize", o.Maximize},
	}, groups)
	return a
}

// sparseAdam is SparseAdam's step.
// https://github.com/pytorch/pytorch/blob/main/torch/optim/_functional.py
func sparseAdam(g *ParamGroup, p, grad *Tensor, state func() *State) {
	st := state()
	m, v := st.Tensor("exp_avg"), st.Tensor("exp_avg_sq")
	if m == nil {
		m, v = zerosLike(p), zerosLike(p)
		st.Set(stepKey, 0)
		st.Set("exp_avg", m)
		st.Set("exp_avg_sq", v)
	}
	step := countOf(st.Get(stepKey)) + 1
	st.Set(stepKey, step)
	grad = grad.Coalesce()
	x := grad.Values()
	if x.Numel() == 0 { // nothing changes
		return
	}
	if g.Bool("maximize") {
		x = x.Neg()
	}
	b := g.Betas()
	oldM, oldV := at(m, grad), at(v, grad)
	dm := x.Sub(oldM).MulScalarInPlace(1 - b[0])
	m.AddInPlace(like(grad, dm))
	dv := x.Square().SubInPlace(oldV).MulScalarInPlace(1 - b[1])
	v.AddInPlace(like(grad, dv))
	numer := dm.Add(oldM)
	denom := dv.Add(oldV).SqrtInPlace().AddScalarInPlace(g.Float("eps"))
	size := g.LR() * math.Sqrt(1-math.Pow(b[1], float64(step))) / (1 - math.Pow(b[0], float64(step)))
	p.AddInPlace(like(grad, numer.DivInPlace(denom).MulScalarInPlace(-size)))
}

// countOf reads a count of steps, which files have as an int or as a tensor.
func countOf(x any) int {
	switch x := x.(type) {
	case int:
		return x
	case *Tensor:
		return int(x.Item())
	}
	return 0
}

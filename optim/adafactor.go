package optim

import (
	"math"

	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// AdafactorOptions are the options of Adafactor. The zero value is PyTorch's default; a number whose default is another
// than 0 is given as torch.Some(x).
type AdafactorOptions struct {
	// Beta2Decay is the power of the step number that the running averages take in (default -0.8).
	Beta2Decay tensor.Opt[float64]
	// Eps1 keeps the averages of squares above its square (default: the smallest difference from 1 that the parameter's
	// dtype can hold).
	Eps1 tensor.Opt[float64]
	// Eps2 is the least size of a parameter that steps are relative to (default 1e-3).
	Eps2 tensor.Opt[float64]
	// D is the largest root mean square of an update (default 1).
	D tensor.Opt[float64]
	// WeightDecay shrinks the parameters by lr·WeightDecay each step.
	WeightDecay float64
	// Maximize climbs instead of descending.
	Maximize bool
}

// Adafactor keeps of the squares of a matrix of gradients only the running averages of rows and columns, so that its
// state is small. With G the gradient, t the number of the step and p the parameter:
//
//	p -= lr·weight_decay·p
//	R += t^β·(mean of G² over columns - R), C += t^β·(mean of G² over rows - C)
//	V = R·C/mean(R)                       (of vectors: V += t^β·(G² - V))
//	U = G/√max(V, eps1²)
//	p -= max(eps2, RMS(p))·min(lr, 1/√t) · U/max(1, RMS(U)/d)
//
// Maximize takes -G for G. Only the last two dimensions of a tensor make up a matrix. See
// https://arxiv.org/abs/1804.04235 and https://docs.pytorch.org/docs/stable/generated/torch.optim.Adafactor.html. Its
// state is "step" and "row_var" (R), "col_var" (C), or "variance" (V).
type Adafactor struct{ base }

// NewAdafactor optimizes parameters with learning rate lr (PyTorch's default is 1e-2). It panics when a setting is out
// of range, a parameter is not a leaf, or the list is empty.
func NewAdafactor(params []*Tensor, lr float64, opts ...AdafactorOptions) *Adafactor {
	return NewAdafactorGroups(one(params), lr, opts...)
}

// NewAdafactorGroups is NewAdafactor with several groups.
func NewAdafactorGroups(groups []Group, lr float64, opts ...AdafactorOptions) *Adafactor {
	o := first(opts)
	a := &Adafactor{}
	a.ownSizes = true
	a.check = checkAdafactor
	a.update = a.step
	var eps1 any
	if e, ok := o.Eps1.Get(); ok {
		eps1 = e
	}
	a.init(a, "Adafactor", []setting{
		{"lr", lr}, {"beta2_decay", o.Beta2Decay.Or(-0.8)}, {"eps", serialize.Tuple{eps1, o.Eps2.Or(1e-3)}},
		{"d", o.D.Or(1)}, {"weight_decay", o.WeightDecay}, {"foreach", nil}, {"maximize", o.Maximize},
	}, groups)
	return a
}

func checkAdafactor(g *ParamGroup) {
	eps1, given, eps2 := adafactorEps(g)
	for _, c := range []struct {
		ok   bool
		what string
		v    float64
	}{
		{g.LR() >= 0, "Learning rate should be >= 0", g.LR()},
		{g.Float("beta2_decay") <= 0, "beta2_decay should be <= 0", g.Float("beta2_decay")},
		{!given || eps1 >= 0, "epsilon1 should be >= 0", eps1},
		{eps2 >= 0, "epsilon2 should be >= 0", eps2},
		{g.Float("d") >= 1, "Clipping threshold d should be >= 1", g.Float("d")},
		{g.Float("weight_decay") >= 0, "weight_decay should be >= 0", g.Float("weight_decay")},
	} {
		if !c.ok {
			tensor.Fail(tensor.ErrValue, "%s but is: %g", c.what, c.v)
		}
	}
}

// adafactorEps reads the setting eps: a pair of which the first may be None.
func adafactorEps(g *ParamGroup) (eps1 float64, given bool, eps2 float64) {
	switch e := g.Get("eps").(type) {
	case [2]float64:
		return e[0], true, e[1]
	case serialize.Tuple:
		if len(e) == 2 {
			eps1, given = e[0].(float64)
			if eps2, ok := e[1].(float64); ok {
				return eps1, given, eps2
			}
		}
	}
	tensor.Fail(tensor.ErrType, "optim: setting \"eps\" of Adafactor is %v, want a pair of numbers", g.Get("eps"))
	return 0, false, 0
}

func (a *Adafactor) step(g *ParamGroup) {
	for _, p := range g.Params {
		grad := gradient(p)
		if grad == nil {
			continue
		}
		if p.IsComplex() {
			tensor.Fail(tensor.ErrDType, "Adafactor does not support complex parameters")
		}
		tensor.NoGrad(func() { a.stepOf(g, p, grad) })
	}
}

func (a *Adafactor) stepOf(g *ParamGroup, p, grad *Tensor) {
	eps1, given, eps2 := adafactorEps(g)
	if !given {
		eps1 = tensor.FInfo(p.DType()).Eps
	}
	if g.Bool("maximize") {
		grad = grad.Neg()
	}
	st := a.stateOf(p)
	t := counter(g, p, st).AddScalarInPlace(1).Item()
	part := math.Pow(t, g.Float("beta2_decay"))
	size := math.Max(eps2, p.Norm().Item()/math.Sqrt(float64(p.Numel()))) * math.Min(g.LR(), 1/math.Sqrt(t))
	if wd := g.Float("weight_decay"); wd != 0 {
		p.MulScalarInPlace(1 - g.LR()*wd)
	}
	var squares *Tensor
	if grad.Dim() > 1 {
		rows := a.average(st, "row_var", p, meanSquares(grad, -1), part)
		cols := a.average(st, "col_var", p, meanSquares(grad, -2), part)
		mean := rows.MeanDim([]int{-2}, tensor.MeanDimOptions{KeepDim: true}).ClampMinScalarInPlace(eps1)
		squares = rows.MatMul(cols).DivInPlace(mean)
	} else {
		squares = a.average(st, "variance", p, grad.Mul(grad), part).Clone()
	}
	update := squares.ClampMinScalarInPlace(eps1 * eps1).RsqrtInPlace().MulInPlace(grad)
	most := math.Max(1, update.Norm().Item()/(math.Sqrt(float64(update.Numel()))*g.Float("d")))
	p.AddInPlace(update, tensor.AddInPlaceOptions{Alpha: -size / most})
}

// average moves a running average, which begins as zeros, to x by a part of the way.
func (a *Adafactor) average(st *State, key string, p, x *Tensor, part float64) *Tensor {
	avg := st.Tensor(key)
	if avg == nil {
		avg = x.ZerosLike()
		st.Set(key, avg)
	}
	return avg.LerpScalarInPlace(x, part)
}

// meanSquares are the means of x² along one dimension, which is kept.
func meanSquares(x *Tensor, dim int) *Tensor {
	n := x.Size(dim)
	norm := x.NormDim(2, []int{dim}, tensor.NormDimOptions{KeepDim: true})
	return norm.SquareInPlace().DivScalarInPlace(n)
}

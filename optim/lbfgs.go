package optim

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// LBFGSOptions are the options of LBFGS. The zero value is PyTorch's default; a number whose default is another than 0
// is given as torch.Some(x).
type LBFGSOptions struct {
	// MaxIter is the largest number of iterations of a step (default 20).
	MaxIter tensor.Opt[int]
	// MaxEval is the largest number of evaluations of a step (default 5/4·MaxIter).
	MaxEval tensor.Opt[int]
	// ToleranceGrad ends a step whose gradient has no larger element (default 1e-7).
	ToleranceGrad tensor.Opt[float64]
	// ToleranceChange ends a step that changes parameters or loss by less (default 1e-9).
	ToleranceChange tensor.Opt[float64]
	// HistorySize is the number of updates that the approximation of the Hessian takes in (default 100).
	HistorySize tensor.Opt[int]
	// LineSearchFn is "strong_wolfe", or "" for steps of a fixed size.
	LineSearchFn string
	// Maximize climbs instead of descending.
	Maximize bool
}

// LBFGS is the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno: a quasi-Newton method, which
// approximates the inverse of the Hessian by the changes of parameters and gradients in recent iterations. A step takes
// several iterations and evaluates the function several times: call StepClosure. See Nocedal and Wright, Numerical
// Optimization, algorithms 7.4 and 7.5, for the line search 3.5 and 3.6, and
// https://docs.pytorch.org/docs/stable/generated/torch.optim.LBFGS.html.
//
// There is one group of parameters. The state, which belongs to the first parameter, is "func_evals", "n_iter", "d"
// (the direction), "t" (the step size), "old_dirs" and "old_stps" (changes of gradient and parameters), "ro", "H_diag",
// "al", "prev_flat_grad" and "prev_loss".
type LBFGS struct{ base }

// NewLBFGS optimizes parameters with learning rate lr (PyTorch's default is 1). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewLBFGS(params []*Tensor, lr float64, opts ...LBFGSOptions) *LBFGS {
	o := first(opts)
	l := &LBFGS{}
	l.ownSizes = true
	l.check = func(g *ParamGroup) {
		nonNegative(g, [2]string{"lr", "learning rate"})
		switch fn := g.Get("line_search_fn"); fn {
		case nil, "strong_wolfe":
		default:
			tensor.Fail(tensor.ErrValue, "only 'strong_wolfe' is supported for a line search, got %v", fn)
		}
	}
	iter := o.MaxIter.Or(20)
	var search any
	if o.LineSearchFn != "" {
		search = o.LineSearchFn
	}
	l.init(l, "LBFGS", []setting{
		{"lr", lr}, {"max_iter", iter}, {"max_eval", o.MaxEval.Or(iter * 5 / 4)},
		{"tolerance_grad", o.ToleranceGrad.Or(1e-7)}, {"tolerance_change", o.ToleranceChange.Or(1e-9)},
		{"history_size", o.HistorySize.Or(100)}, {"line_search_fn", search}, {"maximize", o.Maximize},
	}, one(params))
	return l
}

// AddParamGroup panics: there is one group.
func (l *LBFGS) AddParamGroup(g Group) {
	if len(l.groups) > 0 {
		tensor.Fail(tensor.ErrValue, "LBFGS doesn't support per-parameter options (parameter groups)")
	}
	l.base.AddParamGroup(g)
}

// Step panics: the method evaluates the function several times in a step, which takes StepClosure.
func (l *LBFGS) Step() {
	tensor.Fail(tensor.ErrValue, "LBFGS.step() missing 1 required argument: 'closure'. Call StepClosure, which takes "+
		"the function that clears the gradients, computes the loss and calls Backward.")
}

// StepClosure takes a step. f clears the gradients, computes the loss and calls Backward; it is called with gradients
// enabled, several times. StepClosure returns the loss of the first call.
func (l *LBFGS) StepClosure(f func() *Tensor) (loss *Tensor) {
	l.hooked(func() { tensor.NoGrad(func() { loss = l.iterate(f) }) })
	return loss
}

// point is the function at a place: its value and its gradient as one vector.
type point struct {
	f float64
	g *Tensor
}

// evaluate calls the closure.
func (l *LBFGS) evaluate(f func() *Tensor) (point, *Tensor) {
	var loss *Tensor
	tensor.EnableGrad(func() { loss = f() })
	if loss == nil || loss.Numel() != 1 {
		tensor.Fail(tensor.ErrValue, "LBFGS: the closure must return the loss, a tensor of one element")
	}
	p := point{loss.Item(), l.gradient()}
	if l.groups[0].Bool("maximize") {
		p.f = -p.f
		p.g.NegInPlace()
	}
	return p, loss
}

// gradient joins the gradients of all parameters to one vector.
func (l *LBFGS) gradient() *Tensor {
	var parts []*Tensor
	for _, p := range l.groups[0].Params {
		g := tensor.GradRaw(p)
		if g == nil {
			g = p.Detach().ZerosLike()
		} else if g.IsSparse() {
			g = g.ToDense()
		}
		parts = append(parts, flat(g.Detach()))
	}
	c := tensor.NewCall(opCat, 2)
	*c.Arg(0), *c.Arg(1) = tensor.TensorsValue(parts), tensor.IntValue(0)
	return c.Do1()
}

// flat is a tensor as a vector, complex numbers as pairs.
func flat(t *Tensor) *Tensor {
	if t.IsComplex() {
		t = t.ResolveConj().ViewAsReal()
	}
	return t.Reshape([]int{-1})
}

// move adds a part of a direction to the parameters.
func (l *LBFGS) move(by float64, d *Tensor) {
	at := 0
	for _, p := range l.groups[0].Params {
		x := p.Detach()
		if x.IsComplex() {
			x = x.ViewAsReal()
		}
		n := x.Numel()
		x.AddInPlace(d.Narrow(0, at, n).ViewAs(x), tensor.AddInPlaceOptions{Alpha: by})
		at += n
	}
}

// probe evaluates the function at a distance from x, where it leaves the parameters.
func (l *LBFGS) probe(f func() *Tensor, x []*Tensor, by float64, d *Tensor) point {
	l.move(by, d)
	p, _ := l.evaluate(f)
	for i, q := range l.groups[0].Params {
		q.Detach().CopyInPlace(x[i])
	}
	return p
}

func (l *LBFGS) iterate(f func() *Tensor) *Tensor {
	g := l.groups[0]
	st := l.stateOf(g.Params[0])
	for _, k := range []string{"func_evals", "n_iter"} {
		if st.Get(k) == nil {
			st.Set(k, 0)
		}
	}
	count := func(key string, n int) int {
		was, _ := st.Get(key).(int)
		st.Set(key, was+n)
		return was + n
	}
	now, loss := l.evaluate(f)
	evals := 1
	count("func_evals", 1)
	largest := func(x *Tensor) float64 { return x.Abs().Max().Item() }
	lr, tolerance := g.LR(), g.Float("tolerance_change")
	if largest(now.g) <= g.Float("tolerance_grad") {
		return loss
	}
	h, size := loadHistory(st), int(g.Float("history_size"))
	for n := 1; n <= int(g.Float("max_iter")); n++ {
		total := count("n_iter", 1)
		if total == 1 || h.d == nil {
			h.d, h.dirs, h.steps, h.ro, h.diag = now.g.Neg(), nil, nil, nil, nil
		} else {
			h.update(now.g, size)
			h.d = h.direction(now.g, size)
		}
		h.last = point{now.f, now.g.Clone()}
		h.t = lr
		if total == 1 {
			h.t = math.Min(1, 1/now.g.Abs().Sum().Item()) * lr
		}
		slope := now.g.Dot(h.d).Item()
		if slope > -tolerance {
			break
		}
		tried := 0
		if g.Get("line_search_fn") != nil {
			var x []*Tensor
			for _, p := range g.Params {
				x = append(x, p.Detach().Clone())
			}
			s := &lineSearch{f: func(t float64) point { return l.probe(f, x, t, h.d) }, d: h.d, tolerance: tolerance,
				tries: int(g.Float("max_eval")) - evals}
			now, h.t, tried = s.strongWolfe(h.t, now, slope)
			l.move(h.t, h.d)
		} else {
			l.move(h.t, h.d)
			if n != int(g.Float("max_iter")) { // after the last iteration nobody reads the function again
				now, _ = l.evaluate(f)
				tried = 1
			}
		}
		evals += tried
		count("func_evals", tried)
		if n == int(g.Float("max_iter")) || evals >= int(g.Float("max_eval")) ||
			largest(now.g) <= g.Float("tolerance_grad") || largest(h.d)*math.Abs(h.t) <= tolerance ||
			math.Abs(now.f-h.last.f) < tolerance {
			break
		}
	}
	h.save(st)
	return loss
}

// history is what LBFGS knows of recent iterations.
type history struct {
	d           *Tensor // the direction of the last iteration
	t           float64 // how far it went
	dirs, steps []any   // changes of the gradient and of the parameters
	ro          []any   // 1 over their products
	al          []any   // scratch memory of the recursion
	diag        any     // the approximation begins with this multiple of the identity; a tensor, or 1
	last        point
}

func loadHistory(st *State) *history {
	h := &history{d: st.Tensor("d"), diag: st.Get("H_diag")}
	h.t, _ = st.Get("t").(float64)
	if x := st.Tensor("t"); x != nil {
		h.t = x.Item()
	}
	for key, to := range map[string]*[]any{"old_dirs": &h.dirs, "old_stps": &h.steps, "ro": &h.ro, "al": &h.al} {
		l, _ := st.Get(key).([]any)
		*to = append(*to, l...)
	}
	h.last.g = st.Tensor("prev_flat_grad")
	h.last.f, _ = st.Get("prev_loss").(float64)
	return h
}

// save keeps the history, in the order in which PyTorch's state has it.
func (h *history) save(st *State) {
	if h.al != nil {
		st.Set("al", h.al)
	}
	st.Set("d", h.d)
	st.Set("t", h.t)
	st.Set("old_dirs", list(h.dirs))
	st.Set("old_stps", list(h.steps))
	st.Set("ro", list(h.ro))
	if h.diag == nil {
		h.diag = 1
	}
	st.Set("H_diag", h.diag)
	st.Set("prev_flat_grad", h.last.g)
	st.Set("prev_loss", h.last.f)
}

func list(l []any) []any {
	if l == nil {
		return []any{}
	}
	return l
}

// update takes the last iteration into the approximation, if the function curves upwards along it.
func (h *history) update(g *Tensor, most int) {
	y, s := g.Sub(h.last.g), h.d.MulScalar(h.t)
	ys := y.Dot(s)
	if ys.Item() <= 1e-10 {
		return
	}
	if len(h.dirs) == most {
		h.dirs, h.steps, h.ro = h.dirs[1:], h.steps[1:], h.ro[1:]
	}
	h.dirs, h.steps, h.ro = append(h.dirs, y), append(h.steps, s), append(h.ro, ys.Reciprocal())
	h.diag = ys.Div(y.Dot(y))
}

// direction is the approximate inverse of the Hessian times the negative gradient: the two-loop recursion.
func (h *history) direction(g *Tensor, most int) *Tensor {
	for len(h.al) < most {
		h.al = append(h.al, nil)
	}
	q := g.Neg()
	for i := len(h.dirs) - 1; i >= 0; i-- {
		al := h.steps[i].(*Tensor).Dot(q).Mul(h.ro[i].(*Tensor))
		h.al[i] = al
		q.AddInPlace(h.dirs[i].(*Tensor), tensor.AddInPlaceOptions{Alpha: -al.Item()})
	}
	if diag, ok := h.diag.(*Tensor); ok {
		q = q.Mul(diag)
	}
	for i := range h.dirs {
		be := h.dirs[i].(*Tensor).Dot(q).Mul(h.ro[i].(*Tensor))
		by := h.al[i].(*Tensor).Item() - be.Item()
		q.AddInPlace(h.steps[i].(*Tensor), tensor.AddInPlaceOptions{Alpha: by})
	}
	return q
}

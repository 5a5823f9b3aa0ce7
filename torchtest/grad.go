package torchtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// gradients compares the gradient rule with difference quotients in float64, and the gradient of the gradient likewise.
func (r *runner) gradients(s tensor.Sample) {
	if s.NoGrad || r.op.NoGrad != "" || isRandom(r.op) && r.op.VJP != nil && r.op.Sch.Params[0].Writes {
		return
	}
	args := cast(s.Args, tensor.Float64)
	var leaves []*tensor.Tensor
	variable := func(i int, t *tensor.Tensor) bool {
		return (t.DType() == tensor.Float64 || t.DType() == tensor.Complex128) && !slices.Contains(s.Const, i)
	}
	mapTensors(args, func(i, _ int, t *tensor.Tensor) *tensor.Tensor {
		if variable(i, t) {
			leaves = append(leaves, t)
		}
		return t
	})
	if len(leaves) == 0 {
		return
	}
	// f is a weighted sum of all results
	f := func(x []*tensor.Tensor) (*tensor.Tensor, error) {
		k := 0
		in := mapTensors(args, func(i, _ int, t *tensor.Tensor) *tensor.Tensor {
			if variable(i, t) {
				t = x[k]
				k++
				if r.op.Sch.Params[i].Writes {
					t = t.Clone()
				}
				return t
			}
			return dense(t)
		})
		out, err := r.call(r.op, in)
		if err != nil {
			return nil, err
		}
		var sum *tensor.Tensor
		add := func(t *tensor.Tensor) {
			if t == nil || t.Numel() == 0 {
				return
			}
			if t.IsComplex() {
				t = t.ResolveConj().ViewAsReal()
			}
			if t.DType() != tensor.Float64 || !t.RequiresGrad() {
				return
			}
			v := t.Mul(weights(t.Shape())).Sum()
			if sum == nil {
				sum = v
			} else {
				sum = sum.Add(v)
			}
		}
		for i, v := range out {
			if i > 0 && s.First {
				break
			}
			add(v.T)
			if l, ok := v.X.([]*tensor.Tensor); ok {
				for _, t := range l {
					add(t)
				}
			}
		}
		return sum, nil
	}
	ok := r.derivatives("", f, leaves, s.NoGradGrad)
	for k := range leaves { // a rule may take for granted that all arguments want a gradient
		if !ok || len(leaves) == 1 {
			return
		}
		in := make([]*tensor.Tensor, len(leaves))
		for i := range in {
			in[i] = dense(leaves[i])
		}
		ok = r.derivatives(fmt.Sprintf(" by argument %d alone", k), func(x []*tensor.Tensor) (*tensor.Tensor, error) {
			in[k] = x[0]
			return f(in)
		}, leaves[k:k+1], s.NoGradGrad)
	}
}

// gradientInPlace wants of the in-place form f the gradients that the functional form has.
func (r *runner) gradientInPlace(f *tensor.Op, s tensor.Sample) {
	if s.NoGrad || r.op.NoGrad != "" || isRandom(r.op) {
		return
	}
	grads := func(op *tensor.Op) (list []*tensor.Tensor, err error) {
		var leaves []*tensor.Tensor
		args := mapTensors(cast(s.Args, tensor.Float64), func(i, _ int, t *tensor.Tensor) *tensor.Tensor {
			t = dense(t)
			if t.DType() != tensor.Float64 || slices.Contains(s.Const, i) {
				return t
			}
			t.SetRequiresGrad(true)
			leaves = append(leaves, t)
			return t.Clone()
		})
		if len(leaves) == 0 {
			return nil, nil
		}
		out, err := r.call(op, args)
		if err != nil || out[0].T == nil || !out[0].T.RequiresGrad() {
			return nil, err
		}
		err = try(func() {
			list = tensor.Grad([]*tensor.Tensor{out[0].T.Mul(weights(out[0].T.Shape())).Sum()}, leaves,
				tensor.GradOptions{AllowUnused: true})
		})
		return list, err
	}
	want, err := grads(r.op)
	if err != nil || want == nil {
		return
	}
	got, err := grads(f)
	if err != nil {
		r.errorf("%s: gradient: %v", f.FullName(), err)
		return
	}
	for i, w := range want {
		switch {
		case (w == nil) != (got[i] == nil):
			r.errorf("%s: input %d has a gradient in one form only", f.FullName(), i)
		case w != nil:
			if err := compareTensors(got[i], w, tolerance, true); err != nil {
				r.errorf("%s: gradient of input %d: %v", f.FullName(), i, err)
			}
		}
	}
}

// derivatives compares the gradient of f and, unless only the first is wanted, the gradient of that. It reports whether
// there is more to compare.
func (r *runner) derivatives(what string, f func(x []*tensor.Tensor) (*tensor.Tensor, error), leaves []*tensor.Tensor,
	first bool) bool {
	if !r.quotients("gradient"+what, f, leaves) || first {
		return false
	}
	r.quotients("gradient of the gradient"+what, func(x []*tensor.Tensor) (sum *tensor.Tensor, err error) {
		y, err := f(x)
		if err != nil || y == nil {
			return nil, err
		}
		err = try(func() {
			for _, g := range tensor.Grad([]*tensor.Tensor{y}, x,
				tensor.GradOptions{CreateGraph: true, AllowUnused: true}) {
				if g == nil || !g.RequiresGrad() {
					continue
				}
				if g.IsComplex() {
					g = g.ResolveConj().ViewAsReal()
				}
				if v := g.Mul(weights(g.Shape())).Sum(); sum == nil {
					sum = v
				} else {
					sum = sum.Add(v)
				}
			}
		})
		return sum, err
	}, leaves)
	return true
}

func try(f func()) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *tensor.Error:
			err = e
		default:
			err = badPanic{fmt.Sprint(e)}
		}
	}()
	f()
	return nil
}

// weights are numbers that differ from element to element.
func weights(shape []int) *tensor.Tensor {
	w := tensor.New(shape, tensor.Float64)
	for i, d := 0, tensor.Data[float64](w); i < len(d); i++ {
		d[i] = math.Sin(float64(3*i)+1) + 0.2
	}
	return w
}

// quotients compares the gradient of f with central differences at some elements of each input. It reports whether they
// agree.
func (r *runner) quotients(what string, f func(x []*tensor.Tensor) (*tensor.Tensor, error),
	inputs []*tensor.Tensor) bool {
	const h = 1e-5
	x := make([]*tensor.Tensor, len(inputs))
	for i, t := range inputs {
		x[i] = dense(t).SetRequiresGrad(true)
	}
	y, err := f(x)
	if err != nil {
		r.errorf("%s: %v", what, err)
		return false
	}
	if y == nil { // constant
		return false
	}
	var got []*tensor.Tensor
	if err := try(func() {
		got = tensor.Grad([]*tensor.Tensor{y}, x,
			tensor.GradOptions{AllowUnused: true})
	}); err != nil {
		r.errorf("%s: %v", what, err)
		return false
	}
	most := 8
	if r.o.Short {
		most = 2
	}
	for i := range x {
		// a complex number counts as two real ones
		data := flat(x[i])
		var g []float64
		if got[i] != nil {
			if !tensor.SameShape(got[i].Shape(), x[i].Shape()) {
				r.errorf("%s %d has shape %v, the argument %v", what, i, got[i].Shape(), x[i].Shape())
				return false
			}
			g = numbers(got[i])
		}
		for k := 0; k < len(data); k += max(1, (len(data)+most-1)/most) {
			at := func(d float64) float64 {
				old := data[k]
				data[k] = old + d
				v, err := f(x)
				data[k] = old
				if err != nil || v == nil {
					return math.NaN()
				}
				return v.Num().F
			}
			want, have := (at(h)-at(-h))/(2*h), 0.0
			if g != nil {
				have = g[k]
			}
			if !(math.Abs(have-want) <= 2e-5*(1+math.Abs(want))) {
				r.errorf("%s of input %d, element %d is %v, the difference quotient %v", what, i, k, have, want)
				return false
			}
		}
	}
	return true
}

// flat is the memory of a dense float64 or complex128 tensor.
func flat(t *tensor.Tensor) []float64 {
	t = t.Detach()
	if t.IsComplex() {
		t = t.ResolveConj().ViewAsReal()
	}
	return tensor.SharedData[float64](t)
}

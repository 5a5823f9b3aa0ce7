package torchtest

import (
	"bytes"
	"errors"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

var allTypes = []tensor.DType{tensor.Bool, tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
	tensor.Float16, tensor.BFloat16, tensor.Float64,
	tensor.Complex64, tensor.Complex128}

// dtypes sweeps over the types of the floating-point arguments: of all of them, and of the first alone.
func (r *runner) dtypes(s tensor.Sample) {
	for k, dt := range allTypes {
		if r.o.Short && k%3 != len(r.note)%3 {
			continue
		}
		if _, err := r.call(r.op, cast(s.Args, dt)); isBad(err) {
			r.errorf("%s: %v", dt.Name(), err)
		}
		first := true
		args := mapTensors(s.Args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
			if first {
				first = false
				return dense(t.ToDType(dt))
			}
			return dense(t)
		})
		if _, err := r.call(r.op, args); isBad(err) {
			r.errorf("first argument %s: %v", dt.Name(), err)
		}
	}
}

// wider compares float32 with float64, and loosely the 16-bit types with float32 where a result is smooth in its
// arguments.
func (r *runner) wider(s tensor.Sample) {
	tol := s.Tol
	if tol == 0 {
		tol = tolerance
	}
	got, err := r.call(r.op, clones(s.Args))
	if err != nil {
		return
	}
	want, err := r.call(r.op, cast(s.Args, tensor.Float64))
	if err != nil {
		r.errorf("float64: %v", err)
		return
	}
	if isRandom(r.op) { // the draws of the two types differ
		return
	}
	if err := compare(got, want, tol, false); err != nil {
		r.errorf("against float64: %v", err)
	}
}

// isRandom reports an operator that draws random numbers: it, or an overload of it, takes a generator.
func isRandom(op *tensor.Op) bool {
	for _, o := range tensor.Overloads(op.Sch.Namespace + "::" + op.Sch.Name) {
		for _, p := range o.Sch.Params {
			if p.Kind == tensor.KGenerator || p.Name == "training" || p.Name == "train" {
				return true
			}
		}
	}
	return false
}

// outFormArgs are the arguments of an out form without the results: the arguments of its base that it has too. What a
// creation function is told about dtype and device it takes from the results.
func outFormArgs(f *tensor.Op, args []tensor.Value) []tensor.Value {
	base := f.Base().Sch
	if len(f.Sch.Params) == len(base.Params)+len(base.Results) {
		return args
	}
	var kept []tensor.Value
	for i, a := range args {
		if f.Sch.Index(base.Params[i].Name) >= 0 {
			kept = append(kept, a)
		}
	}
	return kept
}

// variants compares the derived forms with the functional one.
func (r *runner) variants(s tensor.Sample) {
	want, err := r.call(r.op, clones(s.Args))
	if err != nil {
		return
	}
	for _, f := range r.forms {
		if numberForm(f) >= 0 {
			r.numbers(f, s)
			continue
		}
		args := clones(s.Args)
		switch {
		case f.IsInPlace():
			got, err := r.call(f, args)
			if isBad(err) {
				r.errorf("%s: %v", f.FullName(), err)
			}
			if err != nil { // another shape or dtype than self's
				self := s.Args[0].T
				if w := want[0].T; w != nil && self != nil && w.DType() == self.DType() &&
					tensor.SameShape(w.Shape(), self.Shape()) {
					r.errorf("%s: %v", f.FullName(), err)
				}
				continue
			}
			if w := want[0].T; w != nil && got[0].T.DType() == w.DType() {
				if err := compareTensors(got[0].T, w, tolerance, true); err != nil {
					r.errorf("%s: %v", f.FullName(), err)
				}
			}
			if got[0].T != args[0].T {
				r.errorf("%s: the result is not the argument", f.FullName())
			}
			r.gradientInPlace(f, s)
		case f.IsOut():
			for _, how := range []int{0, 1} { // empty, then of the right shape but strided
				args := outFormArgs(f, clones(s.Args))
				ok := true
				var outs []*tensor.Tensor
				for _, w := range want {
					if w.T == nil {
						ok = false
						break
					}
					o := tensor.New([]int{0}, w.T.DType())
					if s.FixedOut {
						o = tensor.New(w.T.Shape(), w.T.DType())
					} else if how == 1 {
						o = strided(w.T, 2, 1)
						tensor.ZeroRaw(o)
					}
					outs = append(outs, o)
					args = append(args, tensor.TensorValue(o))
				}
				if !ok {
					break
				}
				got, err := r.call(f, args)
				if err == nil {
					err = compare(got, want, tolerance, true)
				}
				if err != nil {
					r.errorf("%s: %v", f.FullName(), err)
					break
				}
				for i, o := range outs {
					if got[i].T != o {
						r.errorf("%s: result %d is not the tensor that was given", f.FullName(), i)
					}
				}
			}
		}
	}
}

// numberForm is the parameter of a form that takes a number where its base takes a tensor, or -1.
func numberForm(f *tensor.Op) int {
	b := f.Base()
	for i := range b.Sch.Params {
		if i < len(f.Sch.Params) && b.Sch.Params[i].Kind == tensor.KTensor && f.Sch.Params[i].Kind == tensor.KScalar {
			return i
		}
	}
	return -1
}

// numbers compares the form with a number with the same number as a tensor.
func (r *runner) numbers(f *tensor.Op, s tensor.Sample) {
	i := numberForm(f)
	t := s.Args[i].T
	if t == nil || t.Numel() == 0 || f.IsOut() {
		return
	}
	n := tensor.Alias(dense(t), nil, nil, 0).Num()
	args := clones(s.Args)
	filled := dense(expandAll(t))
	args[i] = tensor.TensorValue(filled)
	want, err := r.call(r.op, args)
	if err != nil {
		return
	}
	args = clones(s.Args)
	args[i] = n.Value()
	got, err := r.call(f, args)
	if isBad(err) {
		r.errorf("%s: %v", f.FullName(), err)
	}
	if err != nil {
		return
	}
	if w := want[0].T; w != nil && got[0].T != nil && tensor.SameShape(got[0].T.Shape(), w.Shape()) {
		if err := compare(got, want, tolerance, false); err != nil {
			r.errorf("%s: %v", f.FullName(), err)
		}
	}
}

// expandAll repeats a tensor's first element over its shape.
func expandAll(t *tensor.Tensor) *tensor.Tensor {
	return tensor.Alias(dense(t), t.Shape(), make([]int, t.Dim()), 0)
}

// larger repeats the elements of an elementwise call's arguments until several tasks of the worker pool have something
// to do.
func (r *runner) larger(s tensor.Sample) []tensor.Value {
	if r.first {
		if args := r.repeated(s.Args); args != nil {
			return args
		}
	}
	return clones(s.Args)
}

// repeated is the arguments of an elementwise call as long vectors that say the same over and over; nil where their
// shapes differ.
func (r *runner) repeated(args []tensor.Value) []tensor.Value {
	var shape []int
	same := r.op.Elementwise
	mapTensors(args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
		same = same && (shape == nil || tensor.SameShape(shape, t.Shape())) && t.Numel() > 0
		shape = t.Shape()
		return t
	})
	if !same || len(shape) == 0 {
		return nil
	}
	return mapTensors(args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor { return repeat(t) })
}

func repeat(t *tensor.Tensor) *tensor.Tensor {
	const n = 70001
	t = dense(t)
	m := t.Numel()
	out := tensor.New([]int{n}, t.DType())
	for k := 0; k < n; k += m {
		l := min(m, n-k)
		tensor.CopyRaw(tensor.Alias(out, []int{l}, []int{1}, k), tensor.Alias(t, []int{l}, []int{1}, 0))
	}
	return out
}

// blocks wants of repeated arguments the repeated result, since kernels go through long vectors in blocks.
func (r *runner) blocks(s tensor.Sample) {
	if isRandom(r.op) {
		return
	}
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int64, tensor.Uint8} {
		args := cast(s.Args, dt)
		long := r.repeated(args)
		if long == nil {
			return
		}
		want, err := r.call(r.op, clones(args))
		if err != nil {
			continue
		}
		got, err := r.call(r.op, long)
		if err == nil {
			err = compare(got, mapTensors(want, func(_, _ int, t *tensor.Tensor) *tensor.Tensor { return repeat(t) }),
				max(tolerance, s.Tol), true)
		}
		if err != nil {
			r.errorf("%v, repeated: %v", dt, err)
		}
	}
}

// paths compares the kernel paths of this machine.
func (r *runner) paths(s tensor.Sample) {
	args := r.larger(s)
	want, err := r.call(r.op, clones(args))
	if err != nil {
		return
	}
	for _, l := range cpu.Levels() {
		restore := cpu.Set(l.Features)
		got, err := r.call(r.op, clones(args))
		restore()
		if err == nil {
			err = compare(got, want, max(tolerance, s.Tol), true)
		}
		if err != nil {
			r.errorf("%s: %v", l.Name, err)
		}
	}
}

// threads wants the same bits from one, two and three threads.
func (r *runner) threads(s tensor.Sample) {
	old := par.NumThreads()
	defer par.SetNumThreads(old)
	args := r.larger(s)
	var want []tensor.Value
	for _, n := range []int{1, 2, 3} {
		par.SetNumThreads(n)
		got, err := r.call(r.op, clones(args))
		if err == nil && want != nil {
			err = sameBits(got, want)
		}
		if err != nil {
			r.errorf("%d threads: %v", n, err)
			return
		}
		want = got
	}
}

func sameBits(a, b []tensor.Value) error {
	if err := compare(a, b, 0, true); err != nil {
		return err
	}
	for i := range a {
		if t, u := a[i].T, b[i].T; t != nil && !bytes.Equal(raw(t), raw(u)) {
			return errors.New("other bits")
		}
	}
	return nil
}

func raw(t *tensor.Tensor) []byte {
	t = tensor.Dense(t.Detach())
	if t.Numel() == 0 {
		return nil
	}
	return bytes.Clone(unsafe.Slice((*byte)(tensor.Ptr(t)), t.Numel()*t.ElementSize()))
}

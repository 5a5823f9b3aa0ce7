package torchtest

import (
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// tolerance of float32 results that differ only in the order of the additions.
const tolerance = 2e-5

// layoutsOf are the ways to store the same values.
var layoutsOf = []struct {
	name string
	f    func(t *tensor.Tensor) *tensor.Tensor
}{
	{"transposed", transposed},
	{"strided", func(t *tensor.Tensor) *tensor.Tensor { return strided(t, 2, 0) }},
	{"shifted", func(t *tensor.Tensor) *tensor.Tensor { return strided(t, 1, 3) }},
}

// transposed stores the dimensions in reverse order, as a transpose does.
func transposed(t *tensor.Tensor) *tensor.Tensor {
	shape := t.Shape()
	stride, n := make([]int, len(shape)), 1
	for i := range shape {
		stride[i] = n
		n *= max(1, shape[i])
	}
	out := tensor.NewStrided(shape, stride, t.DType())
	tensor.CopyRaw(out, t)
	return out
}

// strided keeps step-1 foreign elements between two of a row, and lead in front. They hold what no result may show.
func strided(t *tensor.Tensor, step, lead int) *tensor.Tensor {
	shape := t.Shape()
	stride, n := make([]int, len(shape)), step
	for i := len(shape) - 1; i >= 0; i-- {
		stride[i] = n
		n *= max(1, shape[i])
	}
	whole := tensor.New([]int{n + lead + 2}, t.DType())
	poison(whole)
	out := tensor.Alias(whole, shape, stride, lead)
	tensor.CopyRaw(out, t)
	return out
}

func poison(t *tensor.Tensor) {
	v := tensor.FromSlice([]float32{113})
	tensor.CopyRaw(t, tensor.Alias(v.ToDType(t.DType()), t.Shape(), []int{0}, 0))
}

// expanded repeats the first entry of the first dimension, without memory for the repetitions.
func expanded(t *tensor.Tensor) *tensor.Tensor {
	shape := t.Shape()
	if len(shape) == 0 || shape[0] == 0 {
		return t
	}
	stride := append([]int(nil), t.Strides()...)
	stride[0] = 0
	return tensor.Alias(t, shape, stride, t.StorageOffset())
}

// layouts compares other memory layouts with the contiguous one: of all arguments at once, and of each alone.
func (r *runner) layouts(s tensor.Sample) {
	if s.NoLayout {
		return
	}
	want, err := r.call(r.op, clones(s.Args))
	if err != nil {
		r.errorf("%v", err)
		return
	}
	try := func(name string, args, want []tensor.Value) {
		got, err := r.call(r.op, args)
		if err != nil {
			r.errorf("%s: %v", name, err)
		} else if err := compare(got, want, tolerance, true); err != nil {
			r.errorf("%s: %v", name, err)
		}
	}
	n := 0
	mapTensors(s.Args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor { n++; return t })
	for _, l := range layoutsOf {
		try(l.name, mapTensors(s.Args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor { return l.f(t) }), want)
		if n < 2 || r.o.Short {
			continue
		}
		for k := range n {
			m := -1
			try(l.name+" argument", mapTensors(s.Args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
				if m++; m == k {
					return l.f(t)
				}
				return dense(t)
			}), want)
		}
	}
	// an expanded argument has other values: the reference is its dense copy
	for k := range n {
		build := func(f func(t *tensor.Tensor) *tensor.Tensor) []tensor.Value {
			m := -1
			return mapTensors(s.Args, func(i, _ int, t *tensor.Tensor) *tensor.Tensor {
				if m++; m == k && t.IsFloatingPoint() && !r.op.Sch.Params[i].Writes && !slices.Contains(s.Const, i) {
					return f(expanded(dense(t)))
				}
				return dense(t)
			})
		}
		want, err := r.call(r.op, build(dense))
		if isBad(err) {
			r.errorf("equal rows: %v", err)
		}
		if err == nil {
			try("expanded", build(func(t *tensor.Tensor) *tensor.Tensor { return t }), want)
		}
	}
}

// edges gives arguments no dimensions, no elements or one element. An elementwise operator must take them; others may
// refuse.
func (r *runner) edges(s tensor.Sample) {
	if inner(r.op) {
		return
	}
	reshape := func(t *tensor.Tensor, how int) *tensor.Tensor {
		shape := append([]int(nil), t.Shape()...)
		switch {
		case how == 0 || len(shape) == 0:
			shape = nil
		case how == 1:
			shape[0] = 0
		case how == 2:
			shape[len(shape)-1] = 0
		case how == 3:
			shape[0] = 1
		case how == 4:
			shape = append([]int{1}, shape...)
		case how == 5:
			shape = shape[1:]
		}
		out := tensor.New(shape, t.DType())
		if out.Numel() > 0 && t.Numel() >= out.Numel() {
			tensor.CopyRaw(out, tensor.Alias(dense(t), shape, out.Strides(), 0))
		} else {
			tensor.ZeroRaw(out)
		}
		return out
	}
	n := 0
	mapTensors(s.Args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor { n++; return t })
	for how := range 6 {
		args := mapTensors(s.Args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor { return reshape(t, how) })
		_, err := r.call(r.op, args)
		if isBad(err) || err != nil && r.op.Elementwise && (how == 0 || how < 3 && alike(s.Args)) {
			r.errorf("%s: %v", shapes(args), err)
		}
		for k := 0; k < n && n > 1 && !r.o.Short; k++ {
			m := -1
			args := mapTensors(s.Args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
				if m++; m == k {
					return reshape(t, how)
				}
				return dense(t)
			})
			if _, err := r.call(r.op, args); isBad(err) {
				r.errorf("%s: %v", shapes(args), err)
			}
		}
	}
}

// inner reports a step of a gradient rule or of another operator, which is only called with arguments that fit
// together.
func inner(op *tensor.Op) bool {
	n := op.Sch.Name
	return strings.HasPrefix(n, "_") && !strings.HasPrefix(n, "__") || strings.Contains(n, "backward")
}

// alike reports that all tensors have one shape.
func alike(args []tensor.Value) bool {
	var shape []int
	n, same := 0, true
	mapTensors(args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
		same = same && (n == 0 || tensor.SameShape(shape, t.Shape()))
		shape = t.Shape()
		n++
		return t
	})
	return same
}

func shapes(args []tensor.Value) string {
	out := ""
	mapTensors(args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
		out += tensor.ShapeString(t.Shape()) +
			" "
		return t
	})
	return out
}

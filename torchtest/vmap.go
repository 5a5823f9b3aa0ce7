package torchtest

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/tensor"
)

// examples is the size of the batches that operators are mapped over.
const examples = 3

// vmap compares the operator inside a function that is mapped over a batch with a loop over the examples: its results,
// the results of its forms in place, and the gradient of each example. Once all tensors differ between the examples,
// then one after the other alone.
func (r *runner) vmap(s tensor.Sample) {
	if isRandom(r.op) || r.op.DataDependent || vmapTable()[r.op.FullName()].how == "refused" ||
		strings.HasSuffix(r.op.FullName(), ".out") {
		return
	}
	args := cast(s.Args, tensor.Float64)
	n := 0
	mapTensors(args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor { n++; return t })
	for only := -1; only < n && (n > 1 || only < 0) && n > 0; only++ {
		if only >= 0 && r.op.Sch.Params[0].Writes && only > 0 {
			continue // refused: the tensor written to is shared
		}
		for _, flipped := range []bool{true, false} {
			b := r.batchOf(args, only, flipped)
			if r.mapped(r.op, b, only >= 0) {
				for _, f := range r.forms {
					if f.IsInPlace() && only <= 0 {
						r.mapped(f, b, only >= 0)
					}
				}
				if !s.NoGrad && r.op.NoGrad == "" && !r.op.Sch.Params[0].Writes {
					r.mappedGradient(b, s)
				}
				break
			}
		}
	}
}

// batchOf is a list of arguments for each example. Where flipped is set, integers and bools differ as well.
func (r *runner) batchOf(args []tensor.Value, only int, flipped bool) [][]tensor.Value {
	all := make([][]tensor.Value, examples)
	for e := range all {
		k := -1
		all[e] = mapTensors(args, func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
			k++
			t = dense(t)
			switch {
			case e == 0 || only >= 0 && k != only:
			case t.DType().IsFloat() || t.DType().IsComplex():
				t = t.MulScalar(1 - 0.125*float64(e))
			case e == 1 && flipped && t.Dim() > 0:
				dims := make([]int, t.Dim())
				for d := range dims {
					dims[d] = d
				}
				t = t.Flip(dims)
			}
			return t
		})
	}
	if only < 0 {
		return all
	}
	for e := 1; e < examples; e++ { // what is shared is the same tensor
		k, shared := -1, map[int]*tensor.Tensor{}
		mapTensors(all[0], func(_, _ int, t *tensor.Tensor) *tensor.Tensor { k++; shared[k] = t; return t })
		k = -1
		all[e] = mapTensors(all[e], func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
			if k++; k != only {
				return shared[k]
			}
			return t
		})
	}
	return all
}

// wrapped are the arguments of the mapped function: a tensor that is the same for all examples is itself.
func wrapped(l *tensor.VmapLevel, all [][]tensor.Value) []tensor.Value {
	lists := make([][]*tensor.Tensor, examples)
	for e := range all {
		mapTensors(all[e], func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
			lists[e] = append(lists[e], t)
			return t
		})
	}
	k := -1
	return mapTensors(all[0], func(_, _ int, t *tensor.Tensor) *tensor.Tensor {
		k++
		if lists[1][k] == t {
			return t
		}
		return l.Wrap(stackAll([]*tensor.Tensor{lists[0][k], lists[1][k], lists[2][k]}))
	})
}

// stacked puts the results for the examples together; nil where they do not have the same shapes.
func stacked(all [][]tensor.Value) []tensor.Value {
	out := slices.Clone(all[0])
	for i, v := range out {
		one := func(get func(v tensor.Value) *tensor.Tensor) (*tensor.Tensor, bool) {
			ts := make([]*tensor.Tensor, len(all))
			for e := range all {
				if ts[e] = get(all[e][i]); ts[e] == nil || !tensor.SameShape(ts[e].Shape(), ts[0].Shape()) {
					return nil, ts[e] == nil
				}
			}
			return stackAll(ts), true
		}
		ok := true
		switch l, _ := v.X.([]*tensor.Tensor); v.K {
		case tensor.KTensor:
			out[i].T, ok = one(func(v tensor.Value) *tensor.Tensor { return v.T })
		case tensor.KTensors:
			list := make([]*tensor.Tensor, len(l))
			for j := range l {
				if ok {
					list[j], ok = one(func(v tensor.Value) *tensor.Tensor { return v.X.([]*tensor.Tensor)[j] })
				}
			}
			out[i] = tensor.TensorsValue(list)
		case tensor.KNone:
		default:
			ok = false
		}
		if !ok {
			return nil
		}
	}
	return out
}

// mapped compares one call. It reports false when the examples cannot be computed one by one, and when some arguments
// are shared by all examples and the call is refused because it would change one of them for each example.
func (r *runner) mapped(op *tensor.Op, all [][]tensor.Value, shared bool) bool {
	want := make([][]tensor.Value, examples)
	for e := range all {
		out, err := r.call(op, clones(all[e]))
		if err != nil {
			return false
		}
		want[e] = out
	}
	ref := stacked(want)
	if ref == nil {
		return false
	}
	l := tensor.NewVmapLevel(examples, tensor.RandomError)
	in := wrapped(l, all)
	var got []tensor.Value
	var err error
	tensor.WithLayer(l, func() { got, err = r.call(op, in) })
	if shared && err != nil && strings.Contains(err.Error(), "which will be updated in place, were not batched") {
		return false
	}
	if err != nil {
		r.errorf("mapped %s%s: %v", op.FullName(), shapes(all[0]), err)
		return true
	}
	if err := compare(unwrapped(l, got), ref, 1e-9, true); err != nil {
		r.errorf("mapped %s%s: %v", op.FullName(), shapes(all[0]), err)
	}
	return true
}

func unwrapped(l *tensor.VmapLevel, vs []tensor.Value) []tensor.Value {
	return mapTensors(vs, func(_, _ int, t *tensor.Tensor) *tensor.Tensor { return l.Unwrap(t) })
}

// mappedGradient compares the gradients of all examples with the gradients of one example after the other.
func (r *runner) mappedGradient(all [][]tensor.Value, s tensor.Sample) {
	grads := func(args []tensor.Value) (out []tensor.Value, err error) {
		var leaves []*tensor.Tensor
		in := mapTensors(args, func(i, _ int, t *tensor.Tensor) *tensor.Tensor {
			if (t.DType().IsFloat() || t.DType().IsComplex()) && !slices.Contains(s.Const, i) {
				t = tensor.Fresh(t)
				leaves = append(leaves, t)
			}
			return t
		})
		if len(leaves) == 0 {
			return nil, nil
		}
		res, err := r.call(r.op, in)
		if err != nil {
			return nil, err
		}
		var ys, vs []*tensor.Tensor
		for i, v := range res {
			l, _ := v.X.([]*tensor.Tensor)
			for _, y := range append([]*tensor.Tensor{v.T}, l...) {
				if y != nil && y.RequiresGrad() && !(i > 0 && s.First) {
					w := weights(y.Shape())
					if y.IsComplex() {
						w = w.ToDType(tensor.Complex128)
					}
					ys, vs = append(ys, y), append(vs, w)
				}
			}
		}
		if len(ys) == 0 {
			return nil, nil
		}
		err = try(func() {
			for _, g := range tensor.Grad(ys, leaves, tensor.GradOptions{GradOutputs: vs, MaterializeGrads: true}) {
				out = append(out, tensor.TensorValue(g))
			}
		})
		return out, err
	}
	want := make([][]tensor.Value, examples)
	for e := range all {
		out, err := grads(all[e])
		if err != nil || out == nil {
			return
		}
		want[e] = out
	}
	l := tensor.NewVmapLevel(examples, tensor.RandomError)
	in := wrapped(l, all)
	var got []tensor.Value
	var err error
	tensor.WithLayer(l, func() { got, err = grads(in) })
	if err == nil {
		err = compare(unwrapped(l, got), stacked(want), 1e-8, true)
	}
	if err != nil {
		r.errorf("gradient of mapped %s%s: %v", r.op.FullName(), shapes(all[0]), err)
	}
}

var opStack = tensor.Slot("aten::stack")

func stackAll(ts []*tensor.Tensor) *tensor.Tensor {
	c := tensor.NewCall(opStack, 2)
	*c.Arg(0), *c.Arg(1) = tensor.TensorsValue(ts), tensor.IntValue(0)
	return c.Do1()
}

// vmapText lists the operators that vmap takes one example after the other ("loop") or refuses, each with its reason.
//
//go:embed vmap.tsv
var vmapText string

type vmapRow struct{ how, why string }

// vmapTable is vmapText by operator.
var vmapTable = sync.OnceValue(func() map[string]vmapRow {
	out := map[string]vmapRow{}
	for _, line := range strings.Split(strings.TrimSpace(vmapText), "\n") {
		if f := strings.Split(line, "\t"); len(f) == 3 {
			out[f[0]] = vmapRow{f[1], f[2]}
		}
	}
	return out
})

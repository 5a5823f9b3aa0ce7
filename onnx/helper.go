package onnx

import (
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// T is a tensor.
type T = tensor.Tensor

// args are the arguments of a helper operator: what an ONNX operator does that depends on shapes or numbers which are
// known only when the program runs, written with tensor methods.
type args []tensor.Value

// helper registers an operator of the namespace onnx. f returns a tensor, a list of tensors, a list of integers, a
// number or bool, or a []any of these for several results; it panics with a *tensor.Error, as operators do.
func helper(schema string, f func(a args) any) {
	graph.Register("onnx::"+schema, func(in []tensor.Value) tensor.Value { return boxResult(f(in)) })
}

func boxResult(x any) tensor.Value {
	switch x := x.(type) {
	case []any:
		items := make([]tensor.Value, len(x))
		for i, e := range x {
			items[i] = boxResult(e)
		}
		return graph.NewTuple(items...)
	case []*T:
		items := make([]tensor.Value, len(x))
		for i, t := range x {
			items[i] = tensor.TensorValue(t)
		}
		return graph.NewList(graph.Tensor, items...)
	case []int:
		return graph.Normal(tensor.IntsValue(x))
	case *T:
		return tensor.TensorValue(x)
	}
	return tensor.Box(x)
}

// T is tensor argument i, nil for None.
func (a args) T(i int) *T { return a[i].T }

// Ts is the list of tensors that is argument i; an element may be nil.
func (a args) Ts(i int) []*T {
	items, _ := graph.ItemsOf(a[i])
	out := make([]*T, len(items))
	for j, v := range items {
		out[j] = v.T
	}
	return out
}

func (a args) has(i int) bool { return a[i].K != tensor.KNone }

func (a args) int(i int) int { return int(a[i].Num().I) }

func (a args) bool(i int) bool { return a[i].N != 0 }

func (a args) float(i int) float64 { return a[i].Num().F }

func (a args) str(i int) string {
	s, _ := a[i].X.(string)
	return s
}

func (a args) dtype(i int) tensor.DType {
	if a[i].K == tensor.KInt {
		d, err := graph.DTypeOf(int(a[i].N))
		if err != nil {
			panic(err)
		}
		return d
	}
	return tensor.DType(a[i].N)
}

// ints is the list of integers that is argument i, nil for None.
func (a args) ints(i int) []int {
	if l, ok := a[i].X.([]int); ok {
		return l
	}
	items, ok := graph.ItemsOf(a[i])
	if !ok {
		return nil
	}
	out := make([]int, len(items))
	for j, v := range items {
		out[j] = int(v.N)
	}
	return out
}

// floats is the list of floats that is argument i, nil for None.
func (a args) floats(i int) []float64 {
	if l, ok := a[i].X.([]float64); ok {
		return l
	}
	items, ok := graph.ItemsOf(a[i])
	if !ok {
		return nil
	}
	out := make([]float64, len(items))
	for j, v := range items {
		out[j] = v.Num().F
	}
	return out
}

// call calls an operator of the registry and returns its first result.
func call(op string, args ...any) *T { return calls(op, args...)[0] }

// calls calls an operator of the registry and returns its results, which are tensors.
func calls(op string, args ...any) []*T {
	boxed := make([]tensor.Value, len(args))
	for i, a := range args {
		boxed[i] = tensor.Box(a)
	}
	res, err := tensor.CallOp(op, boxed...)
	if err != nil {
		panic(err)
	}
	var out []*T
	for _, v := range res {
		if l, ok := v.X.([]*T); ok && v.K == tensor.KTensors {
			out = append(out, l...)
		} else {
			out = append(out, v.T)
		}
	}
	return out
}

// wrong panics with an error of shape, for helpers.
func wrong(op, format string, args ...any) {
	tensor.Fail(tensor.ErrShape, op+": "+format, args...)
}

// dim counts a dimension of x from the front; it panics when there is none.
func dim(op string, d, rank int) int {
	e := d
	if e < 0 {
		e += rank
	}
	if e < 0 || e >= rank {
		wrong(op, "axis %d of a tensor with %d dimensions", d, rank)
	}
	return e
}

// vector is a 1-d tensor of int64.
func vector(l []int) *T {
	x := make([]int64, len(l))
	for i, n := range l {
		x[i] = int64(n)
	}
	return tensor.FromSlice(x, len(x))
}

// product multiplies sizes.
func product(l []int) int {
	n := 1
	for _, x := range l {
		n *= x
	}
	return n
}

// hostInts reads a tensor of integers.
func hostInts(x *T) []int {
	if x.Device().Type == tensor.MetaDevice {
		tensor.Fail(tensor.ErrDevice, "the numbers of a tensor without memory are asked for")
	}
	return intsOf(x.CPU())
}

// hostFloats reads a tensor of real numbers.
func hostFloats(x *T) []float64 {
	if x.Device().Type == tensor.MetaDevice {
		tensor.Fail(tensor.ErrDevice, "the numbers of a tensor without memory are asked for")
	}
	return tensor.Data[float64](x.Detach().CPU().ToDType(tensor.Float64).Contiguous())
}

func init() {
	helper("ints(Tensor x) -> int[]", func(a args) any { return hostInts(a.T(0)) })
	helper("floats(Tensor x) -> float[]", func(a args) any { return graphFloats(hostFloats(a.T(0))) })
	helper("int(Tensor x) -> int", func(a args) any { return int(a.T(0).Num().I) })
	helper("float(Tensor x) -> float", func(a args) any { return a.T(0).Num().F })
	helper("bool(Tensor x) -> bool", func(a args) any {
		if x := a.T(0); x.Numel() != 1 {
			wrong("If", "the condition has %d elements, want 1", x.Numel())
		}
		n := a.T(0).Num()
		return n.I != 0 || n.F != 0
	})
}

// graphFloats is a list of floats as programs hold it.
func graphFloats(l []float64) tensor.Value { return graph.Normal(tensor.FloatsValue(l)) }

package jit

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/ops/quantized"
	"github.com/gotorch-dev/torch/tensor"
)

// This file makes objects of the classes that PyTorch's C++ libraries register, torch.classes, from what archives hold
// of them, and writes them: the parameters of quantized layers, which are packed for the engine that is set.

// classes make objects of registered classes from their state.
var classes = map[string]func(s stateOf) any{
	"__torch__.torch.classes.quantized.LinearPackedParamsBase":    linearParams,
	"__torch__.torch.classes.quantized.Conv2dPackedParamsBase":    convParams,
	"__torch__.torch.classes.quantized.Conv3dPackedParamsBase":    convParams,
	"__torch__.torch.classes.quantized.EmbeddingPackedParamsBase": embeddingParams,
	"__torch__.torch.classes.rnn.CellParamsBase":                  cellParams,
}

// registeredMethod is the operator that does what a method of a registered class does, "" where there is none.
func registeredMethod(class, method string) string {
	var ops map[string]string
	switch class[strings.LastIndexByte(class, '.')+1:] {
	case "LinearPackedParamsBase":
		ops = map[string]string{"unpack": "quantized::linear_unpack"}
	case "Conv2dPackedParamsBase", "Conv3dPackedParamsBase":
		ops = map[string]string{}
		for _, m := range []string{"unpack", "stride", "padding", "dilation", "output_padding", "groups", "transpose"} {
			ops[m] = "quantized::conv" + class[strings.LastIndex(class, "Conv")+4:][:1] + "d_" + m
		}
	case "EmbeddingPackedParamsBase":
		ops = map[string]string{"unpack": "quantized::embedding_bag_unpack"}
	}
	return ops[method]
}

// registered is an object of a registered class; of an unknown class it is an Opaque.
func (p *unpickler) registered(class string, x *pickle.Object) (v tensor.Value, err error) {
	make := classes[class]
	if make == nil || !x.HasState {
		return graph.Box(&Opaque{Class: class, State: x}), nil
	}
	s, err := p.value(x.State, nil)
	if err != nil {
		return v, err
	}
	err = tensor.Try(func() { v = tensor.AnyValue(make(stateOf{class, s})) })
	return v, err
}

// stateOf is the state of an object, or a part of it.
type stateOf struct {
	class string
	v     tensor.Value
}

func (s stateOf) fail(format string, args ...any) {
	tensor.Fail(tensor.ErrValue, "the state of a %s: %s", s.class, fmt.Sprintf(format, args...))
}

// items are the elements of a list or tuple of at least n.
func (s stateOf) items(n int) []stateOf {
	l, ok := graph.ItemsOf(s.v)
	if !ok || len(l) < n {
		s.fail("want %d values, got %s", n, graph.Text(s.v))
	}
	out := make([]stateOf, len(l))
	for i, v := range l {
		out[i] = stateOf{s.class, v}
	}
	return out
}

// tensor is a tensor, or nil for None.
func (s stateOf) tensor() *tensor.Tensor {
	if s.v.K != tensor.KTensor && s.v.K != tensor.KNone {
		s.fail("want a tensor, got %s", graph.Text(s.v))
	}
	return s.v.T
}

// ints are the numbers of a list, or of a tensor.
func (s stateOf) ints() []int {
	var out []int
	if t := s.v.T; t != nil {
		for _, n := range tensor.Data[int64](tensor.DenseAs(t.Detach(), tensor.Int64)) {
			out = append(out, int(n))
		}
		return out
	}
	for _, e := range s.items(0) {
		if e.v.K != tensor.KInt {
			s.fail("want integers, got %s", graph.Text(s.v))
		}
		out = append(out, int(e.v.N))
	}
	return out
}

// packed calls an operator that packs parameters.
func packed[P any](name string, args ...tensor.Value) *P {
	r, err := tensor.CallOp("quantized::"+name, args...)
	if err != nil {
		panic(err)
	}
	return r[0].X.(*P)
}

// linearParams has a weight and a bias.
func linearParams(s stateOf) any {
	l := s.items(2)
	w := l[0].tensor()
	if w == nil {
		s.fail("there is no weight")
	}
	name := "linear_prepack"
	if !w.IsQuantized() {
		name = "linear_prepack_fp16"
	}
	return packed[quantized.Linear](name, tensor.TensorValue(w), tensor.TensorValue(l[1].tensor()))
}

// convParams has a version, numbers and tensors. Of version 2 the first tensor has the numbers and the bias is in a
// list of its own; of version 3 the numbers are a list, and the tensors are nothing, weight and bias. The numbers are
// that of dimensions, stride, padding, dilation and output padding of each dimension, groups, and whether it is
// transposed.
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/quantized/cpu/conv_serialization.h
func convParams(s stateOf) any {
	l := s.items(3)
	var numbers []int
	var w, bias *tensor.Tensor
	if l[0].v.K == tensor.KStr {
		t := l[1].items(2)
		numbers, w = t[0].ints(), t[1].tensor()
		if b := l[2].items(0); len(b) > 0 {
			bias = b[0].tensor()
		}
	} else {
		t := l[2].items(3)
		numbers, w, bias = l[1].ints(), t[1].tensor(), t[2].tensor()
	}
	if len(numbers) < 1 || numbers[0] < 2 || numbers[0] > 3 || len(numbers) != 4*numbers[0]+3 || w == nil {
		s.fail("the numbers of a convolution are %v", numbers)
	}
	d := numbers[0]
	part := func(i int) tensor.Value { return tensor.IntsValue(numbers[1+i*d : 1+(i+1)*d]) }
	groups, transpose := tensor.IntValue(numbers[4*d+1]), numbers[4*d+2]&1 != 0
	args := []tensor.Value{tensor.TensorValue(w), tensor.TensorValue(bias), part(0), part(1)}
	name := fmt.Sprintf("conv%dd_prepack", d)
	if transpose {
		name = fmt.Sprintf("conv_transpose%dd_prepack", d)
		args = append(args, part(3))
	}
	return packed[quantized.Conv](name, append(args, part(2), groups)...)
}

// embeddingParams has a version and tensors, of which the first is the table.
func embeddingParams(s stateOf) any {
	w := s.items(2)[1].items(1)[0].tensor()
	if w == nil {
		s.fail("there is no weight")
	}
	return packed[quantized.Embedding]("embedding_bag_prepack", tensor.TensorValue(w))
}

// cellParams has a name, biases, nothing, numbers (of which the first says that the range is reduced), and packed
// weights of input and state.
func cellParams(s stateOf) any {
	l := s.items(5)
	weights := l[4].items(2)
	in, ok1 := weights[0].v.X.(*quantized.Linear)
	hidden, ok2 := weights[1].v.X.(*quantized.Linear)
	if !ok1 || !ok2 {
		s.fail("there are no packed weights")
	}
	var bias [2]*tensor.Tensor
	for i, b := range l[1].items(0) {
		if i < 2 {
			bias[i] = b.tensor()
		}
	}
	n := l[3].ints()
	return quantized.NewCell(in, hidden, bias[0], bias[1], len(n) > 0 && n[0] != 0)
}

// packedParams reports an object of a registered class.
func packedParams(x any) bool {
	switch x.(type) {
	case *quantized.Linear, *quantized.Conv, *quantized.Embedding, *quantized.Cell:
		return true
	}
	return false
}

// packed is an object of a registered class as an archive holds it: what the class's __getstate__ gives in PyTorch. ok
// is false for another value.
func (s *archiver) packed(v tensor.Value, depth int) (obj pickle.Value, ok bool, err error) {
	if o, had := s.registered[v.X]; had {
		return o, true, nil
	}
	list := func(t *graph.Type, l ...tensor.Value) tensor.Value { return graph.NewList(t, l...) }
	tensors := func(ts ...*tensor.Tensor) tensor.Value {
		var l []tensor.Value
		for _, t := range ts {
			if t != nil {
				l = append(l, tensor.TensorValue(t))
			}
		}
		return list(graph.Tensor, l...)
	}
	tuple := func(l ...tensor.Value) tensor.Value { return graph.Box(&graph.Tuple{Items: l}) }
	class := "quantized."
	var state tensor.Value
	switch x := v.X.(type) {
	case *quantized.Linear:
		class += "LinearPackedParamsBase"
		state = tuple(tensor.TensorValue(x.Weight), tensor.TensorValue(x.Bias))
	case *quantized.Conv:
		w, parts := convForFile(x)
		class += fmt.Sprintf("Conv%ddPackedParamsBase", w.Dim()-2)
		numbers := []int16{int16(w.Dim() - 2)}
		for _, part := range append(parts, []int{x.Groups}, []int{0}) {
			for _, n := range part {
				numbers = append(numbers, int16(n))
			}
		}
		if x.Transpose {
			numbers[len(numbers)-1] = 1
		}
		bias := list(graph.OptionalOf(graph.Tensor), tensor.TensorValue(x.Bias))
		state = tuple(tensor.StrValue("2"), tensors(tensor.FromSlice(numbers), w), bias)
	case *quantized.Embedding:
		class += "EmbeddingPackedParamsBase"
		state = tuple(tensor.IntValue(1), tensors(x.Weight), list(graph.Float), list(graph.Int))
	case *quantized.Cell:
		class = "rnn.CellParamsBase"
		name, reduced := "quantized_dynamic", list(graph.Int, tensor.IntValue(0))
		biases := tensors(x.BiasIH, x.BiasHH)
		if x.ReduceRange {
			reduced = list(graph.Int, tensor.IntValue(1))
		}
		if x.Half {
			name, reduced, biases = "quantized_fp16", list(graph.Int), tensors()
		}
		weights := list(linearType, tensor.AnyValue(x.Input), tensor.AnyValue(x.Hidden))
		state = tuple(tensor.StrValue(name), biases, list(graph.Float), reduced, weights)
	default:
		return nil, false, nil
	}
	o := &pickle.Object{Class: classGlobal("__torch__.torch.classes." + class), Args: pickle.Tuple{}, New: true,
		HasState: true}
	s.registered[v.X] = o
	o.State, err = s.value(state, nil, depth+1)
	return o, true, err
}

// linearType is the type of packed parameters of linear layers in the names of types of lists.
var linearType = graph.NewClass("__torch__.torch.classes.quantized.LinearPackedParamsBase", graph.ClassType).Type

// convForFile is the weight of packed parameters, and their stride, padding, dilation and output padding for each
// dimension. Archives hold parameters of one dimension as those of two, whose first has a single element.
func convForFile(p *quantized.Conv) (w *tensor.Tensor, parts [][]int) {
	w = p.Weight
	d := w.Dim() - 2
	for i, part := range [][]int{p.Stride, p.Padding, p.Dilation, p.OutputPadding} {
		full := make([]int, d)
		for k := range full {
			if len(part) > 0 {
				full[k] = part[min(k, len(part)-1)]
			}
		}
		if d == 1 {
			full = []int{1 - i%2, full[0]} // strides and dilations of 1, paddings of 0
		}
		parts = append(parts, full)
	}
	if d == 1 {
		w = w.Unsqueeze(2)
	}
	return w, parts
}

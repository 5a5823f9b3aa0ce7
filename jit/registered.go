package jit

import (
	"fmt"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/ops/quantized"
	"github.com/gotorch-dev/torch/tensor"
)

// This file makes objects of the classes that PyTorch's C++ libraries register, torch.classes, from what archives hold
// of them: the parameters of quantized layers, which are packed for the engine that is set.

// classes make objects of registered classes from their state.
var classes = map[string]func(s stateOf) any{
	"__torch__.torch.classes.quantized.LinearPackedParamsBase":    linearParams,
	"__torch__.torch.classes.quantized.Conv2dPackedParamsBase":    convParams,
	"__torch__.torch.classes.quantized.Conv3dPackedParamsBase":    convParams,
	"__torch__.torch.classes.quantized.EmbeddingPackedParamsBase": embeddingParams,
	"__torch__.torch.classes.rnn.CellParamsBase":                  cellParams,
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

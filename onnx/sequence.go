package onnx

import (
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"ConcatFromSequence": concatFromSequence,
		"Optional":           optional,
		"OptionalGetElement": func(n *node) []*value { return one(n.element(n.T(0))) },
		"OptionalHasElement": optionalHasElement,
		"ReverseSequenceOf":  nil,
		"SequenceAt":         sequenceAt,
		"SequenceConstruct":  sequenceConstruct,
		"SequenceEmpty":      sequenceEmpty,
		"SequenceErase":      sequenceErase,
		"SequenceInsert":     sequenceInsert,
		"SequenceLength":     sequenceLength,
		"SplitToSequence":    splitToSequence,
	})
	delete(rules, ruleKey("", "ReverseSequenceOf"))

	helper("index(int i) -> Tensor", func(a args) any {
		return tensor.FromSlice([]int64{int64(a.int(0))}).Reshape([]int{})
	})
	helper("concat_sequence(Tensor[] list, int axis, bool stack) -> Tensor", func(a args) any {
		items := a.Ts(0)
		if len(items) == 0 {
			wrong("ConcatFromSequence", "an empty sequence")
		}
		if a.bool(2) {
			return call("aten::stack", items, a.int(1))
		}
		return call("aten::cat", items, a.int(1))
	})
	helper("has_element(Any? x) -> Tensor", func(a args) any {
		return tensor.FromSlice([]bool{a.has(0)}).Reshape([]int{})
	})
	helper("get_element(Tensor? x) -> Tensor", func(a args) any {
		if !a.has(0) {
			tensor.Fail(tensor.ErrValue, "OptionalGetElement: the optional is empty")
		}
		return a[0]
	})
	helper("get_sequence(Tensor[]? x) -> Tensor[]", func(a args) any {
		if !a.has(0) {
			tensor.Fail(tensor.ErrValue, "OptionalGetElement: the optional is empty")
		}
		return a[0]
	})
	helper("sequence_at(Tensor[] list, Tensor i) -> Tensor", func(a args) any {
		items := a.Ts(0)
		return items[sequenceIndex("SequenceAt", a.T(1), len(items), 0)]
	})
	helper("sequence_erase(Tensor[] list, Tensor? i) -> Tensor[]", func(a args) any {
		items := a.Ts(0)
		i := len(items) - 1
		if a.has(1) {
			i = sequenceIndex("SequenceErase", a.T(1), len(items), 0)
		}
		if i < 0 {
			wrong("SequenceErase", "an empty sequence")
		}
		return slices.Delete(items, i, i+1)
	})
	helper("sequence_insert(Tensor[] list, Tensor x, Tensor? i) -> Tensor[]", func(a args) any {
		items := a.Ts(0)
		i := len(items)
		if a.has(2) {
			i = sequenceIndex("SequenceInsert", a.T(2), len(items), 1)
		}
		return slices.Insert(items, i, a.T(1))
	})
	helper("sequence_length(Tensor[] list) -> Tensor", func(a args) any {
		return tensor.FromSlice([]int64{int64(len(a.Ts(0)))}).Reshape([]int{})
	})
	helper("split_to_sequence(Tensor x, Tensor? split, int axis, bool keepdims) -> Tensor[]", func(a args) any {
		x, s := a.T(0), a.T(1)
		axis := dim("SplitToSequence", a.int(2), x.Dim())
		switch {
		case s == nil:
			parts := x.Split(1, tensor.SplitOptions{Dim: axis})
			if !a.bool(3) {
				for i := range parts {
					parts[i] = parts[i].SqueezeDim(axis)
				}
			}
			return parts
		case s.Dim() == 0:
			size := int(s.Num().I)
			if size <= 0 {
				wrong("SplitToSequence", "parts of size %d", size)
			}
			return x.Split(size, tensor.SplitOptions{Dim: axis})
		}
		return x.SplitWithSizes(hostInts(s), tensor.SplitWithSizesOptions{Dim: axis})
	})
}

// sequenceIndex counts a place in a sequence from the front; more places may follow the last element.
func sequenceIndex(op string, i *T, n, more int) int {
	k := int(i.Num().I)
	if k < 0 {
		k += n
	}
	if k < 0 || k >= n+more {
		tensor.Fail(tensor.ErrIndex, "%s: place %d of a sequence of %d", op, int(i.Num().I), n)
	}
	return k
}

func concatFromSequence(n *node) []*value {
	return one(n.like(n.call("onnx::concat_sequence", n.T(0), n.int("axis", 0), n.bool("new_axis", false))))
}

func optional(n *node) []*value {
	if n.has(0) {
		v := *n.T(0)
		return one(&v)
	}
	v := &value{kind: onnxpb.KindOptional, rank: -1, g: n.root.Const(nil)}
	if a := n.attr("type", onnxpb.AttrProto); a != nil {
		v.elem = elemTypeOf(a.Proto)
		v.g = n.root.ConstOf(tensor.Value{}, graph.OptionalOf(typeOf(a.Proto)))
	}
	return one(v)
}

// element is what an optional holds.
func (n *node) element(v *value) *value {
	if v.kind != onnxpb.KindOptional {
		return v
	}
	out := &value{kind: onnxpb.KindTensor, elem: v.elem, rank: -1}
	if t := n.get(v).Type; t.Kind == graph.OptionalType && t.Elems[0].Kind == graph.ListType {
		out.kind = onnxpb.KindSequence
		out.g = n.call("onnx::get_sequence", v)
	} else {
		out.g = n.call("onnx::get_element", v)
	}
	return out
}

func optionalHasElement(n *node) []*value {
	if !n.has(0) {
		return one(constant(tensor.FromSlice([]bool{false}).Reshape([]int{}), onnxpb.Bool))
	}
	return one(n.scalar(n.call("onnx::has_element", n.T(0)), onnxpb.Bool))
}

func sequenceAt(n *node) []*value {
	return one(n.like(n.call("onnx::sequence_at", n.element(n.T(0)), n.T(1))))
}

func sequenceConstruct(n *node) []*value {
	for i := range n.in {
		n.T(i)
	}
	return one(n.sequence(n.listOf(n.in...), n.T(0).elem))
}

func sequenceEmpty(n *node) []*value {
	return one(n.sequence(n.block.List(graph.Tensor), n.elemAttr("dtype", onnxpb.Float)))
}

func sequenceErase(n *node) []*value {
	return one(n.sequence(n.call("onnx::sequence_erase", n.T(0), n.opt(1)), n.T(0).elem))
}

func sequenceInsert(n *node) []*value {
	elem := n.T(1).elem
	return one(n.sequence(n.call("onnx::sequence_insert", n.T(0), n.T(1), n.opt(2)), elem))
}

func sequenceLength(n *node) []*value {
	return one(n.scalar(n.call("onnx::sequence_length", n.T(0)), onnxpb.Int64))
}

func splitToSequence(n *node) []*value {
	g := n.call("onnx::split_to_sequence", n.T(0), n.opt(1), n.int("axis", 0), n.bool("keepdims", true))
	return one(n.sequence(g, n.T(0).elem))
}

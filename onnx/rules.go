package onnx

import (
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// rules are those of operators that take more than one call here, by domain and name. Operators of ONNX's own domain
// that are one call stand beside the operator that is called (tensor.RegisterONNX).
var rules = map[string]rule{}

// ruleKey is the key of rules.
func ruleKey(domain, name string) string { return domain + "::" + name }

// define adds rules of a domain. It panics when one is there already, at program start.
func define(domain string, m map[string]rule) {
	for name, r := range m {
		key := ruleKey(domain, name)
		if rules[key] != nil {
			panic("onnx: two rules for " + key)
		}
		rules[key] = r
	}
}

// findRule is the rule for an operator, nil when there is none.
func findRule(domain, name string, opset int) rule {
	if r := rules[ruleKey(domain, name)]; r != nil {
		return r
	}
	if domain != "" {
		return nil
	}
	if f := tensor.FindONNX(name, opset); f != nil {
		return func(n *node) []*value { return one(n.direct(f)) }
	}
	return nil
}

// direct translates an operator that is one call here.
func (n *node) direct(f *tensor.ONNXForm) *value {
	ins := n.in
	elem, signed := n.elementwise()
	if signed != nil {
		ins = signed
	}
	args := make([]any, len(f.Args))
	for i, a := range f.Args {
		switch {
		case a.Input >= 0:
			if !n.has(a.Input) {
				fail("%w: input %d is missing", onnxpb.ErrFormat, a.Input)
			}
			args[i] = ins[a.Input]
		case a.Attr != "":
			args[i] = n.formAttr(a)
		default:
			args[i] = a.Value
		}
	}
	v := n.tensor(n.call(f.Op, args...), elem)
	if boolean(f.Op) {
		v.elem = onnxpb.Bool
	} else if signed != nil {
		v.g = n.call("aten::to.dtype", v.g, n.dtype(elem))
	}
	for _, a := range f.Args { // elementwise or along an axis: the largest rank among the inputs
		if a.Input < 0 {
			continue
		}
		r := n.T(a.Input).rank
		if r < 0 {
			v.rank = -1
			break
		}
		v.rank = max(v.rank, r)
	}
	if f.Name == "MatMul" || f.Name == "Det" {
		v.rank = -1
	}
	return v
}

// formAttr is the attribute of a form as a boxed value of the kind that its default has.
func (n *node) formAttr(a tensor.ONNXArg) tensor.Value {
	switch a.Value.K {
	case tensor.KInt:
		return tensor.IntValue(n.int(a.Attr, int(a.Value.N)))
	case tensor.KFloat:
		return tensor.FloatValue(n.float(a.Attr, a.Value.Float()))
	case tensor.KBool:
		return tensor.BoolValue(n.bool(a.Attr, a.Value.N != 0))
	case tensor.KStr:
		return tensor.StrValue(n.str(a.Attr, a.Value.X.(string)))
	}
	return a.Value
}

// boolean reports an operator whose results are bools.
func boolean(op string) bool {
	switch op {
	case "aten::eq.Tensor", "aten::ne.Tensor", "aten::lt.Tensor", "aten::le.Tensor", "aten::gt.Tensor",
		"aten::ge.Tensor",
		"aten::logical_and", "aten::logical_or", "aten::logical_xor", "aten::logical_not", "aten::isnan":
		return true
	}
	return false
}

// unsignedWide reports an unsigned type of more than 8 bits, which most operators of PyTorch do not take.
func unsignedWide(e onnxpb.DataType) bool {
	return e == onnxpb.Uint16 || e == onnxpb.Uint32 || e == onnxpb.Uint64
}

// elementwise gives the element type of the result, which is that of the inputs but for the condition of Where. Inputs
// of an unsigned type of more than 8 bits are given as int64 in signed, which is nil where there are none: PyTorch
// computes little with them. The bits of sums, products and bitwise operators are right for uint64, too; ordered
// compares the others.
func (n *node) elementwise() (elem onnxpb.DataType, signed []*value) {
	for i, v := range n.in {
		if v == nil || n.pb.Op == "Where" && i == 0 {
			continue
		}
		if elem == 0 {
			elem = v.elem
		}
	}
	if !unsignedWide(elem) {
		return elem, nil
	}
	signed = make([]*value, len(n.in))
	for i, v := range n.in {
		if signed[i] = v; v != nil && unsignedWide(v.elem) {
			signed[i] = &value{g: n.call("aten::to.dtype", v, tensor.Int64), kind: v.kind, elem: onnxpb.Int64,
				rank: v.rank}
		}
	}
	if elem == onnxpb.Uint64 && n.ordered() {
		for i, v := range signed {
			if v != nil {
				signed[i] = &value{g: n.call("aten::bitwise_xor.Scalar", v, -1<<63), kind: v.kind, elem: v.elem,
					rank: v.rank}
			}
		}
	}
	return elem, signed
}

// ordered reports an operator that compares. With the highest bit turned, numbers of 64 bits without a sign are ordered
// as those with one.
func (n *node) ordered() bool {
	switch n.pb.Op {
	case "Less", "LessOrEqual", "Greater", "GreaterOrEqual":
		return true
	}
	return false
}

// cast converts a value to the dtype of an element type.
func (n *node) cast(v *value, e onnxpb.DataType) *value {
	if v.elem == e {
		return v
	}
	return &value{g: n.call("aten::to.dtype", v, n.dtype(e)), kind: onnxpb.KindTensor, elem: e, rank: v.rank}
}

// number makes a constant of one element that has the element type of v, which must be known.
func (n *node) number(x float64, e onnxpb.DataType) *value {
	t := tensor.FromSlice([]float64{x}).Reshape([]int{}).ToDType(n.dtype(e))
	return constant(t, e)
}

// at is the place of a value.
func (n *node) at(v *value) *graph.Value { return n.get(v) }

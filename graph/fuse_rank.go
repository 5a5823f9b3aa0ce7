package graph

import (
	"slices"
	"strings"
)

// Modules of TorchScript ask each value for its number of dimensions, to refuse others than they expect. Operators that
// keep that number are followed back to where it comes from, so that the question is no reader of a value in between.

// keepsRank are operators whose result has as many dimensions as their first argument.
var keepsRank = map[string]bool{
	"aten::conv1d": true, "aten::conv2d": true, "aten::conv3d": true, "aten::conv_transpose1d": true,
	"aten::conv_transpose2d.input": true, "aten::conv_transpose3d.input": true, "aten::batch_norm": true,
	"aten::instance_norm": true, "aten::group_norm": true, "aten::layer_norm": true, "aten::linear": true,
	"aten::max_pool1d": true, "aten::max_pool2d": true, "aten::max_pool3d": true, "aten::avg_pool1d": true,
	"aten::avg_pool2d": true, "aten::avg_pool3d": true, "aten::adaptive_avg_pool1d": true,
	"aten::adaptive_avg_pool2d": true, "aten::adaptive_avg_pool3d": true, "aten::softmax.int": true,
	"aten::relu": true, "aten::relu6": true, "aten::hardtanh": true, "aten::clamp": true, "aten::hardswish": true,
	"aten::hardsigmoid": true, "aten::silu": true, "aten::gelu": true, "aten::sigmoid": true, "aten::tanh": true,
	"aten::elu": true, "aten::leaky_relu": true, "aten::dropout": true, "aten::feature_dropout": true,
	"aten::relu_": true, "aten::relu6_": true, "aten::hardtanh_": true, "aten::clamp_": true, "aten::hardswish_": true,
	"aten::hardsigmoid_": true, "aten::silu_": true, "aten::elu_": true, "aten::leaky_relu_": true,
	"aten::dropout_": true, "aten::feature_dropout_": true, "aten::add_.Tensor": true, "aten::mul_.Tensor": true,
	"aten::add.Scalar": true, "aten::mul.Scalar": true, "aten::contiguous": true,
}

// ranks has aten::dim ask the value that a number of dimensions comes from.
func (u *fuser) ranks() {
	var asks []*Node
	reshapes := false
	var walk func(b *Block)
	walk = func(b *Block) {
		for _, n := range b.Nodes {
			if n.Op == "aten::dim" {
				asks = append(asks, n)
			}
			// a tensor that gets another shape in place has two numbers
			reshapes = reshapes || u.a.unknown[n] || len(n.Blocks) == 0 && len(u.a.writes[n]) > 0 && !keepsShape(n)
			for _, c := range n.Blocks {
				walk(c)
			}
		}
	}
	if walk(u.f.Body); reshapes {
		return
	}
	from := map[*Value]*Value{}
	for _, n := range asks {
		n.In[0] = rankFrom(n.In[0], from)
	}
}

// keepsShape reports a node that writes elements, and leaves shapes as they are.
func keepsShape(n *Node) bool {
	switch n.Op {
	case "aten::copy_", "aten::zero_", "aten::fill_.Scalar", "aten::fill_.Tensor", "aten::batch_norm",
		"aten::native_batch_norm", "aten::instance_norm":
		return true
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(n.Op, "aten::"), ".")
	return keepsRank[n.Op] || slices.Contains([]string{"add_", "sub_", "mul_", "div_", "append", "_set_item"}, name)
}

// rankFrom is the value that has as many dimensions as v, as far back as that is known.
func rankFrom(v *Value, known map[*Value]*Value) *Value {
	if w := known[v]; w != nil {
		return w
	}
	known[v] = v
	w := v
	if n := v.Node; n != nil {
		switch {
		case keepsRank[n.Op] && n.In[0].Type.Kind == TensorType:
			w = rankFrom(n.In[0], known)
		case n.Op == "aten::add.Tensor" || n.Op == "aten::mul.Tensor":
			if x := rankFrom(n.In[0], known); x == rankFrom(n.In[1], known) {
				w = x
			}
		}
	}
	known[v] = w
	return w
}

// complete gives the calls that later passes look at the arguments that they leave out.
func (u *fuser) complete(n *Node) {
	o := n.Operator
	if o == nil || o.op == nil || len(n.In) >= len(o.Params) {
		return
	}
	switch strings.TrimSuffix(o.Name, "_") {
	case "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::convolution", "aten::batch_norm", "aten::max_pool2d",
		"aten::hardtanh", "aten::clamp", "aten::softmax", "aten::mean", "aten::linear":
	default:
		return
	}
	scratch := &Block{Func: n.Block.Func, pos: n.Pos}
	in := slices.Clone(n.In)
	for _, p := range o.Params[len(n.In):] {
		if p.Default == nil {
			return
		}
		d := Normal(*p.Default)
		in = append(in, scratch.ConstOf(d, TypeOf(d)))
	}
	n.In = in
	insertBefore(n, scratch.Nodes)
}

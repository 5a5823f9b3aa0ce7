package graph

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// aliases says which values of a function may share memory, and which nodes may write it. Values that may share memory
// form one class (union-find over the schemas' alias annotations, Steensgaard's analysis without fields): a list and
// its elements, an object and its attributes, and all parameters of the function are one class each.
type aliases struct {
	parent  map[*Value]*Value
	writes  map[*Node][]*Value // what a node writes, those in its blocks included
	unknown map[*Node]bool     // a node that may write everything: it calls code that is not seen here
	written map[*Value]bool    // by class
	escapes map[*Value]bool    // by class: a result, or in the hands of code that is not seen here
	any     bool               // some node is unknown
}

// newAliases analyses a function.
func newAliases(f *Function) *aliases {
	a := &aliases{parent: map[*Value]*Value{}, writes: map[*Node][]*Value{}, unknown: map[*Node]bool{},
		written: map[*Value]bool{}, escapes: map[*Value]bool{}}
	memory := map[*tensor.Storage]*Value{} // of constants
	a.join(f.Body.Params...)
	var gone []*Value
	a.block(f.Body, memory, &gone)
	gone = append(gone, f.Body.Results...)
	gone = append(gone, f.Body.Params...)
	for _, v := range gone {
		a.escapes[a.class(v)] = true
	}
	for _, l := range a.writes {
		for _, v := range l {
			a.written[a.class(v)] = true
		}
	}
	return a
}

// class is the representative of the values that may share memory with v.
func (a *aliases) class(v *Value) *Value {
	for {
		p := a.parent[v]
		if p == nil {
			return v
		}
		if q := a.parent[p]; q != nil {
			a.parent[v] = q // halves the path
		}
		v = p
	}
}

func (a *aliases) join(l ...*Value) {
	var x *Value
	for _, v := range l {
		if isImmutable(v.Type) {
			continue
		}
		y := a.class(v)
		if x == nil {
			x = y
		} else if x != y {
			a.parent[y] = x
		}
	}
}

// isWritten reports that some node may write the memory of v.
func (a *aliases) isWritten(v *Value) bool { return a.any || a.written[a.class(v)] }

// writesTo reports that a node, or one in its blocks, may write the memory of v.
func (a *aliases) writesTo(n *Node, v *Value) bool {
	if a.unknown[n] {
		return true
	}
	c := a.class(v)
	return slices.ContainsFunc(a.writes[n], func(w *Value) bool { return a.class(w) == c })
}

// between reports that a node behind from, up to and including to, may write the memory of v. Both stand in one block.
func (a *aliases) between(from, to *Node, v *Value) bool {
	if v == nil || len(a.writes) == 0 && !a.any {
		return false
	}
	nodes := from.Block.Nodes
	i, j := slices.Index(nodes, from), slices.Index(nodes, to)
	return i < 0 || j < 0 || slices.ContainsFunc(nodes[i+1:j+1], func(n *Node) bool { return a.writesTo(n, v) })
}

func (a *aliases) block(b *Block, memory map[*tensor.Storage]*Value, gone *[]*Value) {
	for _, n := range b.Nodes {
		for _, c := range n.Blocks {
			a.block(c, memory, gone)
			for _, m := range c.Nodes {
				a.writes[n] = append(a.writes[n], a.writes[m]...)
				if a.unknown[m] {
					a.unknown[n] = true
				}
			}
		}
		a.node(n, memory, gone)
		if len(a.writes[n]) == 0 {
			delete(a.writes, n)
		}
		a.any = a.any || a.unknown[n]
	}
}

func (a *aliases) node(n *Node, memory map[*tensor.Storage]*Value, gone *[]*Value) {
	switch n.Op {
	case Constant:
		if n.Const.K == tensor.KTensor && n.Const.T != nil && !n.Const.T.IsSparse() {
			st := n.Const.T.Storage()
			if w := memory[st]; w != nil {
				a.join(w, n.Out[0])
			} else {
				memory[st] = n.Out[0]
			}
		}
	case If:
		for i, v := range n.Out {
			a.join(v, n.Blocks[0].Results[i], n.Blocks[1].Results[i])
		}
	case Loop:
		b := n.Blocks[0]
		for i, v := range n.Out {
			a.join(v, n.In[2+i], b.Params[1+i], b.Results[1+i])
		}
	case CallMethod, CallFunction, Within, Closure, Fork, Wait:
		a.unknown[n] = true
		*gone = append(append(*gone, n.In...), n.Out...)
	case SetAttr:
		a.join(n.In...)
		*gone = append(*gone, n.In...)
	default:
		a.call(n)
	}
}

// call joins the results of an operator, a helper or a container with the arguments whose memory they may have.
func (a *aliases) call(n *Node) {
	for i, v := range n.In {
		if writesArg(n, i) {
			a.writes[n] = append(a.writes[n], v)
		}
	}
	if givesNewMemory(n) {
		return
	}
	var l []*Value
	// set_ makes its argument one of another tensor's memory; of other calls with such results the schema tells all.
	told := n.Operator != nil && n.Operator.op != nil && len(n.Out) > 0 && n.Operator.Name != "aten::set_" &&
		!slices.ContainsFunc(n.Operator.Results, func(r Result) bool { return r.Alias == "" })
	for i, v := range n.In {
		if !told || i >= len(n.Operator.Params) || n.Operator.Params[i].Alias != "" {
			l = append(l, v)
		}
	}
	a.join(append(l, n.Out...)...)
}

// isImmutable reports a type whose values nobody can change.
func isImmutable(t *Type) bool {
	switch t.Kind {
	case ListType:
		return false
	case OptionalType:
		return isImmutable(t.Elems[0])
	}
	return isPlain(t)
}

// writesArg reports that a node changes argument i: by its schema, or because it keeps statistics there.
func writesArg(n *Node, i int) bool {
	switch n.Op {
	case "aten::batch_norm", "aten::native_batch_norm", "aten::instance_norm":
		if i == 3 || i == 4 {
			training, ok := constNumber(n.In[5], 0)
			return (!ok || training != 0) && n.In[i].Type.Kind != NoneType
		}
	}
	return n.Operator != nil && i < len(n.Operator.Params) && n.Operator.Params[i].Writes()
}

// givesNewMemory reports a call whose result never shares memory with an argument. Others may return an argument as it
// is, or a view of it, whatever their schemas say: dropout in evaluation, _unsafe_view.
func givesNewMemory(n *Node) bool {
	o := n.Operator
	if _, is := quantizers[n.Op]; is {
		return true
	}
	if o == nil || o.op == nil || slices.ContainsFunc(o.Results, func(r Result) bool { return r.Alias != "" }) {
		return false
	}
	return o.op.Elementwise && o.op.CPU != nil && o.op.Body == nil || newMemory[n.Op]
}

// newMemory are operators that never return an argument, beside those that work element by element.
var newMemory = map[string]bool{
	"aten::conv1d": true, "aten::conv2d": true, "aten::conv3d": true, "aten::convolution": true,
	"aten::_convolution": true, "aten::conv1d.padding": true, "aten::conv2d.padding": true,
	"aten::conv3d.padding": true, "aten::conv_transpose1d": true, "aten::conv_transpose2d.input": true,
	"aten::conv_transpose3d.input": true, "aten::linear": true, "aten::matmul": true, "aten::batch_norm": true,
	"aten::layer_norm": true, "aten::group_norm": true, "aten::instance_norm": true, "aten::max_pool1d": true,
	"aten::max_pool2d": true, "aten::max_pool3d": true, "aten::avg_pool1d": true, "aten::adaptive_avg_pool1d": true,
	"aten::adaptive_avg_pool2d": true, "aten::adaptive_avg_pool3d": true, "aten::relu6": true, "aten::selu": true,
	"aten::hardtanh": true, "aten::softmax.int": true, "aten::log_softmax.int": true, "aten::embedding": true,
	"aten::cat": true, "aten::stack": true, "aten::bmm": true, "aten::mm": true, "aten::addmm": true,
	"aten::baddbmm": true, "aten::sum": true, "aten::sum.dim_IntList": true, "aten::mean": true, "aten::mean.dim": true,
	"aten::avg_pool2d": true, "aten::avg_pool3d": true, "aten::native_batch_norm": true,
	"aten::native_layer_norm":            true,
	"aten::scaled_dot_product_attention": true, "aten::gru.input": true, "aten::lstm.input": true,
	"gotorch::conv_fused": true, "gotorch::conv_pool_fused": true, "gotorch::conv_depthwise_fused": true,
	"gotorch::conv_cat":       true,
	"gotorch::squeeze_excite": true, "gotorch::bytes_conv": true, "gotorch::bytes_linear": true,
	"gotorch::bytes_add": true, "gotorch::bytes_mul": true, "gotorch::bytes_map": true,
	"gotorch::bytes_max_pool2d": true, "gotorch::bytes_avg_pool2d": true, "gotorch::linear_packed": true,
	"gotorch::linear_fused": true,
}

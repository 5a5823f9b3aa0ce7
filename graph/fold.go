package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// fold computes what constants alone decide: it takes the branch whose condition is a constant, and replaces calls
// whose arguments are constants. A tensor becomes a constant only where nobody writes it or may keep it, since all runs
// share it.
func (u *fuser) fold() {
	r := replacer{}
	u.foldBlock(u.f.Body, r)
}

// replacer says which value stands for another.
type replacer map[*Value]*Value

func (r replacer) apply(l []*Value) {
	for i, v := range l {
		for w := r[v]; w != nil; w = r[v] {
			v = w
		}
		l[i] = v
	}
}

func (u *fuser) foldBlock(b *Block, r replacer) {
	for i := 0; i < len(b.Nodes); i++ {
		n := b.Nodes[i]
		r.apply(n.In)
		if n.Op == If && isConstant(n.In[0]) && n.In[0].Node.Const.K == tensor.KBool {
			c := n.Blocks[1]
			if truth(&n.In[0].Node.Const) {
				c = n.Blocks[0]
			}
			for j, v := range n.Out {
				r[v] = c.Results[j]
			}
			for _, m := range c.Nodes {
				m.Block = b
			}
			b.Nodes = slices.Replace(b.Nodes, i, i+1, c.Nodes...)
			i--
			continue
		}
		for _, c := range n.Blocks {
			u.foldBlock(c, r)
		}
		if v, ok := u.constantOf(n); ok {
			c := &Node{Op: Constant, Const: v, Block: b, Pos: n.Pos, Scope: n.Scope, from: n.from}
			c.Out = n.Out
			c.Out[0].Node = c
			if t := TypeOf(v); t.Fits(c.Out[0].Type) && v.K != tensor.KAny {
				c.Out[0].Type = t
			}
			b.Nodes[i] = c
		}
	}
	r.apply(b.Results)
}

// constantOf computes a node whose arguments are constants.
func (u *fuser) constantOf(n *Node) (v tensor.Value, ok bool) {
	if len(n.Out) != 1 || len(n.In) == 0 {
		return v, false
	}
	if (n.Op == UncheckedCast || n.Op == "aten::_unwrap_optional") && isConstant(n.In[0]) && !isNone(n.In[0]) &&
		!isMutable(n.In[0].Node.Const) {
		return n.In[0].Node.Const, true
	}
	o := n.Operator
	if o == nil || o.VarArgs || len(o.Results) != 1 ||
		slices.ContainsFunc(o.Params, func(p Param) bool { return p.Writes() }) {
		return v, false
	}
	args, tensors := make([]tensor.Value, len(n.In)), 0
	for i, x := range n.In {
		a, ok := u.constValue(x)
		if !ok {
			return v, false
		}
		if a.K == tensor.KTensor && a.T != nil {
			if _, ok := u.constTensor(x); !ok {
				return v, false
			}
			tensors++
		}
		args[i] = a
	}
	switch {
	case o.op == nil:
		// A helper may read the elements of tensors, or tell the state of the machine.
		is := n.Op == "aten::__is__" || n.Op == "aten::__isnot__"
		if !isPlain(o.Results[0].Type) || tensors > 0 && !is || !strings.HasPrefix(n.Op, "aten::") {
			return v, false
		}
	case tensors == 0 || !foldable(o.op) || u.a.isWritten(n.Out[0]) || u.a.escapes[u.a.class(n.Out[0])]:
		return v, false
	}
	res, err := o.Call(args...)
	if err != nil || len(res) != 1 {
		return v, false
	}
	if v = res[0]; v.K == tensor.KTensor {
		if v.T == nil || v.T.IsSparse() {
			return v, false
		}
		v.T.Keep()
	}
	return v, true
}

// constValue is the value of a constant, or of a list of constants that nobody changes.
func (u *fuser) constValue(x *Value) (v tensor.Value, ok bool) {
	if !isImmutable(x.Type) && x.Type.Kind != TensorType && u.a.isWritten(x) {
		return v, false
	}
	switch n := x.Node; {
	case n == nil:
	case n.Op == Constant:
		return fresh(n.Const), true
	case n.Op == ListConstruct:
		l := make([]tensor.Value, len(n.In))
		for i, e := range n.In {
			if e.Node == nil || e.Node.Op != Constant || isMutable(e.Node.Const) || e.Node.Const.K == tensor.KTensor {
				return v, false
			}
			l[i] = e.Node.Const
		}
		return NewList(n.Out[0].Type.elem(), l...), true
	}
	return v, false
}

// foldable are operators that make of constants what is worth keeping: numbers, views, tensors of no more elements.
func foldable(op *tensor.Op) bool {
	if op.View != nil {
		return true
	}
	switch op.FullName() {
	case "aten::t", "aten::numpy_T", "aten::reshape", "aten::contiguous", "aten::flatten.using_ints", "aten::rsqrt",
		"aten::sqrt", "aten::neg", "aten::reciprocal", "aten::add.Scalar", "aten::sub.Scalar", "aten::mul.Scalar",
		"aten::div.Scalar", "aten::exp", "aten::abs", "aten::unsqueeze", "aten::squeeze", "aten::squeeze.dim",
		"aten::to.dtype", "aten::_to_copy", "aten::dim", "aten::size.int":
		return true
	}
	return false
}

// common finds calls with the same arguments, of which the first one stays. known are the calls that have run where
// the block begins.
func (u *fuser) common(b *Block, known map[string]*Node, r replacer) {
	known = maps.Clone(known)
	b.Nodes = slices.DeleteFunc(b.Nodes, func(n *Node) bool {
		r.apply(n.In)
		for _, c := range n.Blocks {
			u.common(c, known, r)
		}
		key, ok := u.callKey(n)
		if !ok {
			return false
		}
		first := known[key]
		if first == nil {
			known[key] = n
			return false
		}
		for i, v := range n.Out {
			r[v] = first.Out[i]
		}
		return true
	})
	r.apply(b.Results)
}

// callKey names a call by its operator and arguments. ok is false unless a second call gives the same results, and
// nobody can tell whether they are in the same memory.
func (u *fuser) callKey(n *Node) (key string, ok bool) {
	o := n.Operator
	if o == nil || len(n.Out) == 0 || len(n.In) == 0 {
		return "", false
	}
	if o.op == nil && (!strings.HasPrefix(n.Op, "aten::") || !isImmutable(n.Out[0].Type)) {
		return "", false
	}
	for _, p := range o.Params {
		switch p.Name {
		case "generator", "train", "training", "dropout", "dropout_p", "p":
			return "", false // it may draw random numbers
		}
	}
	if o.op != nil && (o.op.Draw != tensor.DrawByElements || len(n.In) == 0 || n.In[0].Type.Kind != TensorType ||
		o.op.Body != nil && !newMemory[n.Op] && !foldable(o.op)) { // others may be composed of what draws
		return "", false
	}
	var s strings.Builder
	s.WriteString(n.Op)
	for i, v := range n.In {
		if writesArg(n, i) || u.a.isWritten(v) {
			return "", false
		}
		if c, ok := u.constValue(v); ok && c.K != tensor.KTensor {
			items, isList := ItemsOf(c)
			if !isList {
				items = []tensor.Value{c}
			}
			fmt.Fprintf(&s, ",%d", c.K)
			for _, e := range items {
				fmt.Fprintf(&s, ":%d %d %v", e.K, e.N, e.X)
			}
			continue
		}
		fmt.Fprintf(&s, ",%p", v)
	}
	for _, v := range n.Out {
		if !isImmutable(v.Type) && (v.Type.Kind != TensorType || u.a.isWritten(v) || u.a.escapes[u.a.class(v)]) {
			return "", false
		}
	}
	return s.String(), true
}

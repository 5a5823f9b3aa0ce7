package graph

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// Fused convolutions give channels-last results, and most operators keep the layout of what they get. Where a program
// can tell the difference the value gets the layout that it had.

func init() {
	Register("gotorch::in_layout(Tensor(a) self, int[] stride) -> Tensor(a)", func(a []tensor.Value) tensor.Value {
		t := argTensor(a, 0)
		items, _ := ItemsOf(a[1])
		if len(items) != t.Dim() {
			tensor.Fail(tensor.ErrShape, "a tensor of shape %s cannot have %d strides", tensor.ShapeString(t.Shape()),
				len(items))
		}
		strides, same := make([]int, len(items)), true
		for i := range items {
			strides[i] = asInt(&items[i])
			same = same && (t.Size(i) == 1 || t.Stride(i) == strides[i])
		}
		if same || t.Numel() == 0 {
			return a[0]
		}
		u := tensor.NewOn(t.Device(), t.Shape(), strides, t.DType())
		tensor.CopyRaw(u, t)
		return tensor.TensorValue(u)
	})
}

// seesLayout are the operators that take another course, or none, where their argument has other strides: they look at
// memory, or make a view where they can and a copy where they cannot. The value says that the difference shows only
// where the memory is written, or by the result's own strides.
var seesLayout = map[string]bool{
	"aten::view": false, "aten::_unsafe_view": false, "aten::view_as": false, "aten::view.dtype": false,
	"aten::as_strided": false, "aten::as_strided_": false, "aten::view_as_real": false, "aten::view_as_complex": false,
	"aten::_reshape_alias": false, "aten::is_contiguous": false, "aten::is_contiguous.memory_format": false,
	"aten::stride": false, "aten::stride.int": false, "aten::rand_like": false, "aten::randn_like": false,
	"aten::randint_like": false, "aten::randint_like.low_dtype": false, "aten::set_.source_Tensor": false,
	"aten::reshape": true, "aten::flatten.using_ints": true, "aten::ravel": true, "aten::reshape_as": true,
	"aten::unflatten.int": true, "aten::contiguous": true, "aten::to.dtype": true, "aten::to.dtype_layout": true,
	"aten::to.other": true, "aten::to.device": true, "aten::clone": true, "aten::empty_like": true,
}

// layouts restores layouts where the program sees them. What a recording has noted is the layout; without one it is
// that of a program with contiguous inputs.
//
// Where the memory that is seen is also written, a copy with the right layout would not do: a view of the program's
// would be a copy's. Such memory gets the right layout when it is made, by an operator all of whose inputs have it.
func (u *fuser) layouts() {
	u.a = newAliases(u.f)
	u.plain = map[*Value]bool{}
	changed := map[*Value]bool{}
	for more := true; more; {
		clear(changed)
		for range 2 { // loops carry values back
			u.spread(u.f.Body, changed)
		}
		more = u.findPlain(u.f.Body, changed)
	}
	if len(changed) == 0 && len(u.plain) == 0 {
		return
	}
	u.restore(u.f.Body, changed)
	b := u.f.Body
	for i, v := range b.Results {
		if changed[v] && v.Type.Kind == TensorType {
			b.Results[i] = u.layout(b, v, len(b.Nodes))
		}
	}
}

// findPlain finds the classes of memory that must have the program's own layout. It reports whether there are new ones.
func (u *fuser) findPlain(b *Block, changed map[*Value]bool) (found bool) {
	for _, n := range b.Nodes {
		for _, c := range n.Blocks {
			found = u.findPlain(c, changed) || found
		}
		if _, sees := seesLayout[n.Op]; sees && len(n.In) > 0 && changed[n.In[0]] && u.a.isWritten(n.In[0]) {
			u.plain[u.a.class(n.In[0])] = true
			found = true
		}
	}
	return found
}

// makesPlain reports a node whose result is in memory that must have the program's own layout.
func (u *fuser) makesPlain(n *Node) bool {
	return len(u.plain) > 0 && slices.ContainsFunc(n.Out, func(v *Value) bool { return u.plain[u.a.class(v)] })
}

// spread marks what may have another layout because of a fused convolution.
func (u *fuser) spread(b *Block, changed map[*Value]bool) {
	for _, n := range b.Nodes {
		is := slices.ContainsFunc(n.In, func(v *Value) bool { return changed[v] })
		switch n.Op {
		case "gotorch::conv_fused", "gotorch::conv_pool_fused", "gotorch::conv_depthwise_fused":
			is = is || weightOf(n, 1).Dim() > 3
		case "gotorch::conv_cat":
			is = true
		case If, Loop:
			for _, c := range n.Blocks {
				if n.Op == Loop {
					for i, v := range c.Params[1:] {
						if u.plain[u.a.class(v)] {
							continue
						}
						changed[v] = changed[v] || changed[n.In[2+i]] || changed[c.Results[1+i]]
					}
				}
				u.spread(c, changed)
				is = is || slices.ContainsFunc(c.Results, func(v *Value) bool { return changed[v] })
			}
		}
		for _, v := range n.Out {
			if is && !isPlain(v.Type) && !u.plain[u.a.class(v)] {
				changed[v] = true
			}
		}
	}
}

// restore puts the layout back in front of the operators that see it.
func (u *fuser) restore(b *Block, changed map[*Value]bool) {
	for i := 0; i < len(b.Nodes); i++ {
		n := b.Nodes[i]
		for _, c := range n.Blocks {
			u.restore(c, changed)
		}
		if u.makesPlain(n) && len(n.Blocks) == 0 {
			i = u.makePlain(b, i, changed)
			continue
		}
		if n.Op == SetAttr && changed[n.In[1]] { // seen by whoever reads the attribute
			n.In = []*Value{n.In[0], u.layout(b, n.In[1], i)}
			i = slices.Index(b.Nodes, n)
			continue
		}
		onlyResult, sees := seesLayout[n.Op]
		if !sees || len(n.In) == 0 || !changed[n.In[0]] || !takesTensor(n, 0) {
			continue
		}
		v := n.In[0]
		if onlyResult && (u.info(v) == nil || !u.resultOf(n)) {
			continue
		}
		if (n.Op == "aten::view" || n.Op == "aten::_unsafe_view") && u.info(v) == nil {
			n.Op, n.Operator = "aten::reshape", Lookup("aten::reshape")
			continue
		}
		w := u.layout(b, v, i)
		i = slices.Index(b.Nodes, n)
		rename(b, i, v, w)
	}
}

// makePlain has node i give a result with the program's own layout, by giving it inputs of that. It returns the node's
// new number.
func (u *fuser) makePlain(b *Block, i int, changed map[*Value]bool) int {
	n := b.Nodes[i]
	in := slices.Clone(n.In)
	for j, v := range in {
		if changed[v] && takesTensor(n, j) {
			in[j] = u.layout(b, v, slices.Index(b.Nodes, n))
		}
	}
	n.In = in
	at := slices.Index(b.Nodes, n)
	for _, j := range fusedWeights[n.Op] {
		if isNone(n.In[j]) {
			continue
		}
		t := weightOf(n, j).Contiguous().Keep()
		// of a size of 1 any stride is contiguous, but not every one tells the convolution so
		t = tensor.Alias(t, t.Shape(), tensor.FormatStrides(t.Shape(), tensor.ContiguousFormat), t.StorageOffset())
		w := &Node{Op: Constant, Const: tensor.TensorValue(t), Block: b, Pos: n.Pos}
		w.Out = []*Value{{Type: Tensor, Node: w}}
		n.In[j] = w.Out[0]
		b.Nodes = slices.Insert(b.Nodes, at, w)
		at++
	}
	return at
}

// takesTensor reports that argument i, whatever its static type, is a tensor where the node runs.
func takesTensor(n *Node, i int) bool {
	return n.In[i].Type.Kind == TensorType ||
		n.Operator != nil && i < len(n.Operator.Params) && n.Operator.Params[i].Type.Kind == TensorType
}

// fusedWeights are the arguments of the fused convolutions that conv has laid out.
var fusedWeights = map[string][]int{"gotorch::conv_fused": {1}, "gotorch::conv_pool_fused": {1},
	"gotorch::conv_depthwise_fused": {1, 8, 15}}

// resultOf reports that a result of n may leave the function, where its strides can be seen.
func (u *fuser) resultOf(n *Node) bool {
	return slices.ContainsFunc(n.Out, func(v *Value) bool { return u.a.escapes[u.a.class(v)] })
}

// layout inserts what gives v its layout in front of node i.
func (u *fuser) layout(b *Block, v *Value, i int) *Value {
	scratch := &Block{Func: b.Func, pos: b.pos}
	var w *Value
	if in := u.info(v); in != nil && in.Strides != nil {
		w = scratch.Call1("gotorch::in_layout", v, in.Strides)
	} else {
		w = scratch.Call1("aten::contiguous", v)
	}
	w.Info = v.Info
	for _, n := range scratch.Nodes {
		n.Block = b
	}
	b.Nodes = slices.Insert(b.Nodes, i, scratch.Nodes...)
	return w
}

// rename has the nodes from i on, and the results, read w instead of v.
func rename(b *Block, i int, v, w *Value) {
	swap := func(l []*Value) {
		for j := range l {
			if l[j] == v {
				l[j] = w
			}
		}
	}
	for _, n := range b.Nodes[i:] {
		swap(n.In)
		for _, c := range n.Blocks {
			rename(c, 0, v, w)
		}
	}
	swap(b.Results)
}

package trace

import (
	"maps"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// If calls one of two functions, as a tensor with one element says. In a recording both are recorded, as the blocks of
// a prim::If; what the one that is not taken writes is undone. Both return as many tensors.
func If(cond *tensor.Tensor, then, otherwise func() []*tensor.Tensor) []*tensor.Tensor {
	r := active()
	if r == nil {
		if cond.Num().F != 0 {
			return then()
		}
		return otherwise()
	}
	pos := place()
	var taken bool
	suspended(func() { taken = cond.Num().F != 0 })
	n := &graph.Node{Op: graph.If, In: []*graph.Value{r.truth(cond, pos)}, Block: r.block, Pos: pos, Scope: r.scope}
	var outs [2][]*tensor.Tensor
	for i, f := range []func() []*tensor.Tensor{then, otherwise} {
		body := func() {
			b := n.NewBlock()
			r.inBlock(b, func() {
				outs[i] = f()
				for _, t := range outs[i] {
					b.Results = append(b.Results, r.value(t))
				}
			})
		}
		if taken == (i == 0) {
			body()
		} else {
			r.trial(body)
		}
	}
	if len(outs[0]) != len(outs[1]) {
		fail(pos, "If: the branches return %d and %d tensors", len(outs[0]), len(outs[1]))
	}
	types := make([]*graph.Type, len(outs[0]))
	for i := range types {
		types[i] = graph.Tensor
	}
	r.block.Add(n, types...)
	k := 1
	if taken {
		k = 0
	}
	return r.handles(outs[k], n.Out)
}

// For calls body n times with the number of the iteration and the carried tensors, and returns those after the last
// call. In a recording the body is recorded once, as the block of a prim::Loop: recordings of several iterations show
// which numbers in it depend on the number of the iteration. The example must have at least two iterations, and carried
// tensors keep their shapes.
func For(n int, carried []*tensor.Tensor,
	body func(i int, carried []*tensor.Tensor) []*tensor.Tensor) []*tensor.Tensor {
	r := active()
	if r == nil {
		for i := range n {
			carried = body(i, carried)
		}
		return carried
	}
	pos := place()
	if n < 2 {
		fail(pos, "For: the example has %d iterations, and a recording needs two of them to tell the iteration's "+
			"number "+
			"from other numbers", n)
	}
	in := []*graph.Value{r.number(n, pos), r.flag(true, pos)}
	for _, t := range carried {
		in = append(in, r.value(t))
	}
	node := &graph.Node{Op: graph.Loop, In: in, Block: r.block, Pos: pos, Scope: r.scope}
	var blocks []*graph.Block
	counts := make([][]int, 0, 3)
	r.trial(func() {
		for i := range min(n, 3) {
			b := node.NewBlock()
			b.Param("i", graph.Int)
			r.loopBody(b, carried, pos, func(c []*tensor.Tensor) []*tensor.Tensor {
				b.Results = append(b.Results, r.flag(true, pos))
				return body(i, c)
			})
			blocks = append(blocks, b)
			counts = append(counts, []int{i})
		}
	})
	m := newMerger(blocks, []size{{name: "the number of the iteration"}}, counts)
	m.ints[blocks[0].Params[0]] = m.column(0)
	m.intOrder = append(m.intOrder, blocks[0].Params[0])
	m.outer = true
	m.block(blocks)
	node.Blocks = blocks[:1]
	suspended(func() {
		for i := range n {
			carried = body(i, carried)
		}
	})
	return r.loopEnd(node, carried)
}

// While calls body with the carried tensors while cond gives a tensor that is not zero, and returns the carried
// tensors. In a recording both are recorded once.
func While(cond func(carried []*tensor.Tensor) *tensor.Tensor, carried []*tensor.Tensor,
	body func(carried []*tensor.Tensor) []*tensor.Tensor) []*tensor.Tensor {
	r := active()
	if r == nil {
		for cond(carried).Num().F != 0 {
			carried = body(carried)
		}
		return carried
	}
	pos := place()
	first := r.truth(cond(carried), pos)
	in := []*graph.Value{r.number(1<<63-1, pos), first}
	for _, t := range carried {
		in = append(in, r.value(t))
	}
	node := &graph.Node{Op: graph.Loop, In: in, Block: r.block, Pos: pos, Scope: r.scope}
	b := node.NewBlock()
	b.Param("", graph.Int)
	r.trial(func() {
		r.loopBody(b, carried, pos, func(c []*tensor.Tensor) []*tensor.Tensor {
			c = body(c)
			b.Results = append(b.Results, r.truth(cond(c), pos))
			return c
		})
	})
	suspended(func() {
		for cond(carried).Num().F != 0 {
			carried = body(carried)
		}
	})
	return r.loopEnd(node, carried)
}

// Name gives a tensor's value a name in the program that is recorded. The tensor is returned.
func Name(name string, t *tensor.Tensor) *tensor.Tensor {
	if r := active(); r != nil {
		if v := r.value(t); v.Name == "" {
			v.Name = name
		}
	}
	return t
}

// suspended runs f without the recorder.
func suspended(f func()) { tensor.InsteadOfLayers(tensor.RankTrace, nil, f) }

// truth is the bool of a tensor.
func (r *recorder) truth(t *tensor.Tensor, pos graph.Pos) *graph.Value {
	r.block.At(pos)
	n := r.block.Call("aten::Bool.Tensor", r.value(t))
	r.added(n)
	return n.Out[0]
}

func (r *recorder) number(n int, pos graph.Pos) *graph.Value {
	r.block.At(pos)
	return r.constant(tensor.IntValue(n), graph.Int)
}

func (r *recorder) flag(on bool, pos graph.Pos) *graph.Value {
	r.block.At(pos)
	return r.constant(tensor.BoolValue(on), graph.Bool)
}

// inBlock records what f does into a block. What is defined in it is not known behind it.
func (r *recorder) inBlock(b *graph.Block, f func()) {
	block, values := r.block, r.values
	r.block, r.values = b, maps.Clone(values)
	r.loaded = append(r.loaded, map[*tensor.Tensor]*graph.Value{})
	f()
	r.loaded = r.loaded[:len(r.loaded)-1]
	r.block, r.values = block, values
}

// loopBody records the body of a loop, whose carried tensors become parameters of the block.
func (r *recorder) loopBody(b *graph.Block, carried []*tensor.Tensor, pos graph.Pos,
	body func([]*tensor.Tensor) []*tensor.Tensor) {
	r.inBlock(b, func() {
		c := make([]*tensor.Tensor, len(carried))
		for i, t := range carried {
			c[i] = handle(t)
			p := b.Param(r.value(t).Name, graph.Tensor)
			r.define(c[i], p)
		}
		next := body(c)
		if len(next) != len(carried) {
			fail(pos, "a loop carries %d tensors, and its body returns %d", len(carried), len(next))
		}
		for _, t := range next {
			b.Results = append(b.Results, r.value(t))
		}
	})
}

func (r *recorder) loopEnd(node *graph.Node, carried []*tensor.Tensor) []*tensor.Tensor {
	types := make([]*graph.Type, len(carried))
	for i := range types {
		types[i] = graph.Tensor
	}
	r.block.Add(node, types...)
	for i, v := range node.Out {
		v.Name = node.Blocks[0].Params[i+1].Name
	}
	return r.handles(carried, node.Out)
}

// handle is the same tensor under another pointer, so that it can be another value.
func handle(t *tensor.Tensor) *tensor.Tensor {
	return tensor.Alias(t, t.Shape(), t.Strides(), t.StorageOffset())
}

func (r *recorder) handles(ts []*tensor.Tensor, vs []*graph.Value) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		out[i] = handle(t)
		r.define(out[i], vs[i])
	}
	return out
}

// written is a tensor that a trial has changed.
type written struct{ t, was *tensor.Tensor }

// trial records what f does, and undoes what it has changed: tensors from before, buffers, the generator.
func (r *recorder) trial(f func()) {
	var undo func()
	suspended(func() { undo = r.restore() })
	before, mark := r.undo, r.trialMark
	r.undo, r.trialMark = &[]written{}, tensor.StorageMark()
	r.withContainers(f)
	suspended(func() {
		for _, w := range slices.Backward(*r.undo) {
			tensor.CopyRaw(w.t, w.was)
		}
		undo()
	})
	r.undo, r.trialMark = before, mark
}

// keepWritten copies what a call of a trial is going to change.
func (r *recorder) keepWritten(c *tensor.Ctx) {
	if r.undo == nil {
		return
	}
	for i := range c.Op().Sch.Params {
		if !c.Op().Sch.Params[i].Writes || i >= c.NumArgs() {
			continue
		}
		v := c.Value(i)
		l, _ := v.X.([]*tensor.Tensor)
		if v.T != nil {
			l = []*tensor.Tensor{v.T}
		}
		for _, t := range l {
			if t != nil && !t.IsSparse() && !t.Storage().MadeSince(r.trialMark) {
				*r.undo = append(*r.undo, written{t, tensor.CloneRaw(t)})
			}
		}
	}
}

// Scripted is a module that is a program already, whose calls a recording may keep.
type Scripted interface {
	Object() *graph.Object
}

// Invoke is called by a Scripted module instead of run, which runs one of its methods. In a recording that keeps such
// calls the call becomes a node.
func Invoke(m Scripted, method string, args []tensor.Value, result *graph.Type, run func() (tensor.Value, error)) (
	tensor.Value, error) {
	r := active()
	if r == nil || r.objects == nil {
		return run()
	}
	pos := place()
	path, ok := r.objects[m.Object()]
	if !ok {
		fail(pos, "a module of another program is called that is no part of the recorded module")
	}
	self := r.block.GetAttr(r.self, path)
	r.added(self.Node)
	n := &graph.Node{Op: graph.CallMethod, Attr: method, In: []*graph.Value{self}, Pos: pos, Scope: r.scope}
	for _, a := range args {
		n.In = append(n.In, r.boxed(a, pos))
	}
	var v tensor.Value
	var err error
	suspended(func() { v, err = run() })
	if err != nil {
		return v, err
	}
	r.block.Add(n, result)
	return r.unboxed(n.Out[0], v, n), nil
}

// boxed is the value of an argument of a method.
func (r *recorder) boxed(v tensor.Value, pos graph.Pos) *graph.Value {
	r.block.At(pos)
	if v.K == tensor.KTensor {
		return r.value(v.T)
	}
	var out *graph.Value
	v = graph.Normal(v)
	switch x := v.X.(type) {
	case *graph.List:
		items := make([]*graph.Value, len(x.Items))
		for i, e := range x.Items {
			items[i] = r.boxed(e, pos)
		}
		out = r.block.List(graph.TypeOf(v).Elems[0], items...)
	case *graph.Tuple:
		items := make([]*graph.Value, len(x.Items))
		for i, e := range x.Items {
			items[i] = r.boxed(e, pos)
		}
		out = r.block.Tuple(items...)
	default:
		return r.constant(v, graph.TypeOf(v))
	}
	r.added(out.Node)
	return out
}

// unboxed makes the tensors of a method's result known.
func (r *recorder) unboxed(v *graph.Value, got tensor.Value, n *graph.Node) tensor.Value {
	switch x := got.X.(type) {
	case *graph.Tuple, *graph.List:
		items, _ := graph.ItemsOf(got)
		types := make([]*graph.Type, len(items))
		for i, e := range items {
			types[i] = graph.TypeOf(e)
		}
		parts := r.block.Unpack(v, types...)
		r.added(r.block.Nodes[len(r.block.Nodes)-1])
		out := make([]tensor.Value, len(items))
		for i, e := range items {
			out[i] = r.unboxed(parts[i], e, n)
		}
		if l, ok := x.(*graph.List); ok {
			return graph.NewList(l.Elem, out...)
		}
		return graph.Box(&graph.Tuple{Type: x.(*graph.Tuple).Type, Items: out})
	}
	if got.K == tensor.KTensor {
		t := got.T
		// Python's tracer knows a tensor that is returned twice as the last of the results; TorchScript as each
		if r.strict && r.values[t] != nil {
			t = handle(t)
		}
		r.define(t, v)
		return tensor.TensorValue(t)
	}
	r.result(v, got, n)
	return got
}

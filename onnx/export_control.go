package onnx

import (
	"maps"
	"math"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// unset is the value of a variable that the program does not read on this way.
type unset struct{}

// captured is a graph that was filled apart, with what it did to values from outside.
type captured struct {
	b       *xblock
	results []tensor.Value
	raised  bool
	after   map[*sym]sym                   // tensors from outside that it wrote
	lists   map[*graph.List][]tensor.Value // lists from outside that it changed
}

// capture fills a graph apart and undoes what this did to values from outside.
func (x *exporter) capture(e env, fill func() []tensor.Value) captured {
	c := captured{b: &xblock{parent: x.block, undo: map[*sym]sym{}}, after: map[*sym]sym{},
		lists: map[*graph.List][]tensor.Value{}}
	before := map[*graph.List][]tensor.Value{}
	for _, v := range e {
		keepLists(v, before)
	}
	seqs := maps.Clone(x.seqs)
	outer, scope, calls := x.block, x.scope, x.calls
	x.block = c.b
	func() {
		defer func() {
			x.block, x.scope, x.calls = outer, scope, calls
			if r := recover(); r != nil {
				if _, ok := r.(raised); !ok {
					panic(r)
				}
				c.raised = true
			}
		}()
		c.results = fill()
	}()
	for s, old := range c.b.undo {
		if s.version != old.version && s.base == nil {
			c.after[s] = *s
		}
		*s = old
	}
	for l, items := range before {
		if !slices.EqualFunc(l.Items, items, same) {
			c.lists[l] = l.Items
			l.Items = items
		}
	}
	x.seqs = seqs
	return c
}

func keepLists(v tensor.Value, to map[*graph.List][]tensor.Value) {
	switch l := v.X.(type) {
	case *graph.List:
		if _, ok := to[l]; ok {
			return
		}
		to[l] = slices.Clone(l.Items)
		for _, e := range l.Items {
			keepLists(e, to)
		}
	case *graph.Tuple:
		for _, e := range l.Items {
			keepLists(e, to)
		}
	}
}

// same reports that two values are one, or are equal and known.
func same(a, b tensor.Value) bool {
	if a.K != b.K {
		return false
	}
	if s, ok := a.X.(*sym); ok {
		return b.X == any(s)
	}
	if a.K == tensor.KTensor {
		return a.T == b.T
	}
	if a.K == tensor.KAny {
		la, ok := graph.ItemsOf(a)
		lb, ok2 := graph.ItemsOf(b)
		if ok && ok2 {
			return slices.EqualFunc(la, lb, same)
		}
		switch a.X.(type) {
		case *graph.Object, *graph.Dict, *graph.Enum, *graph.Future, *graph.FuncValue, unset:
			return a.X == b.X
		}
	}
	return graph.Text(a) == graph.Text(b)
}

// join puts the nodes of a graph that was filled apart into the present one.
func (x *exporter) join(c captured) {
	x.block.nodes = append(x.block.nodes, c.b.nodes...)
	c.b.joined = x.block
	for s, v := range c.after {
		x.remember(s)
		*s = v
	}
	for l, items := range c.lists {
		l.Items = items
	}
}

// truth is a condition that is known; ok is false for one that is not.
func truth(v tensor.Value) (is, ok bool) {
	if s, ok := v.X.(*sym); ok {
		if s.v.Folds() && s.v.Const.Numel() == 1 {
			return s.v.Const.Num().F != 0, true
		}
		return false, false
	}
	switch v.K {
	case tensor.KBool, tensor.KInt:
		return v.N != 0, true
	}
	return false, false
}

// branch exports an If. A condition that is known leaves only one of the two blocks, and so does a block that raises an
// exception: a file cannot.
func (x *exporter) branch(n *graph.Node, e env) {
	if is, ok := truth(e[n.In[0]]); ok {
		b := n.Blocks[1]
		if is {
			b = n.Blocks[0]
		}
		x.nodes(b, e)
		for i, v := range n.Out {
			e[v] = e[b.Results[i]]
		}
		return
	}
	cond := x.scalar(e[n.In[0]], tensor.Bool)
	var c [2]captured
	for i, b := range n.Blocks {
		c[i] = x.capture(e, func() []tensor.Value {
			x.nodes(b, e)
			return e.list(b.Results)
		})
	}
	switch {
	case c[0].raised && c[1].raised:
		panic(raised{"both ways of a condition"})
	case c[0].raised || c[1].raised:
		k := 0
		if c[0].raised {
			k = 1
		}
		x.join(c[k])
		for i, v := range n.Out {
			e[v] = c[k].results[i]
		}
		return
	}
	m := &merger{x: x, c: c}
	for i, v := range n.Out {
		e[v] = m.value(c[0].results[i], c[1].results[i])
	}
	writes := map[*sym]*sym{}
	for _, k := range c {
		for s := range k.after {
			if writes[s] != nil {
				continue
			}
			var states [2]sym
			for i := range c {
				states[i] = *s
				if after, ok := c[i].after[s]; ok {
					states[i] = after
				}
			}
			writes[s] = m.tensors(&states[0], &states[1])
		}
	}
	lists := map[*graph.List][]tensor.Value{}
	for _, k := range c {
		for l := range k.lists {
			items := [2][]tensor.Value{l.Items, l.Items}
			for i := range c {
				if changed, ok := c[i].lists[l]; ok {
					items[i] = changed
				}
			}
			if len(items[0]) != len(items[1]) {
				stop("a list is made longer or shorter by one way of a condition that is known only when the file runs")
			}
			lists[l] = make([]tensor.Value, len(items[0]))
			for i := range items[0] {
				lists[l][i] = m.value(items[0][i], items[1][i])
			}
		}
	}
	out := x.Emit("", "If", onnxform.A{"then_branch": m.graph(0), "else_branch": m.graph(1)}, len(m.merged),
		[]*onnxform.Value{cond})
	for i, s := range m.merged {
		s.v.Name = out[i].Name
	}
	for s, w := range writes {
		x.write(s, w.v)
	}
	for l, items := range lists {
		l.Items = items
	}
}

// merger makes the results of an If from the results of its two branches.
type merger struct {
	x      *exporter
	c      [2]captured
	outs   [2][]onnxpb.Info
	merged []*sym
}

func (m *merger) graph(i int) *onnxpb.Graph {
	name := [2]string{"then", "else"}[i]
	return &onnxpb.Graph{Name: m.x.unique(name), Nodes: m.c[i].b.nodes, Outputs: m.outs[i]}
}

func (m *merger) value(a, b tensor.Value) tensor.Value {
	if same(a, b) {
		return a
	}
	_, noA := a.X.(unset)
	_, noB := b.X.(unset)
	if noA {
		a = dummy(b)
	}
	if noB {
		b = dummy(a)
	}
	la, ok := graph.ItemsOf(a)
	lb, ok2 := graph.ItemsOf(b)
	if ok && ok2 && len(la) == len(lb) {
		items := make([]tensor.Value, len(la))
		for i := range la {
			items[i] = m.value(la[i], lb[i])
		}
		if t, isTuple := a.X.(*graph.Tuple); isTuple {
			return graph.Box(&graph.Tuple{Type: t.Type, Items: items})
		}
		return graph.NewList(a.X.(*graph.List).Elem, items...)
	}
	if ok || ok2 || a.K == tensor.KNone || b.K == tensor.KNone {
		stop("a condition that is known only when the file runs chooses between %s and %s", m.x.text(a), m.x.text(b))
	}
	return graph.Box(m.tensors(m.x.lift(a), m.x.lift(b)))
}

// dummy stands for a value that nobody reads.
func dummy(like tensor.Value) tensor.Value {
	s, ok := like.X.(*sym)
	if !ok {
		return like
	}
	if s.num || s.v.DType == 0 {
		return s.w[0]
	}
	t := tensor.New(make([]int, max(s.v.Rank(), 0)), s.v.DType)
	t.ZeroInPlace()
	return tensor.TensorValue(t)
}

// tensors adds an output to both graphs.
func (m *merger) tensors(a, b *sym) *sym {
	x := m.x
	dt := a.v.DType
	if b.v.DType != dt && dt != 0 && b.v.DType != 0 {
		dt = tensor.PromoteTypes(dt, b.v.DType)
	}
	for i, s := range []*sym{a, b} {
		outer := x.block
		x.block = m.c[i].b
		v := x.cast(x.read(s), dt)
		v = x.Emit("", "Identity", nil, 1, []*onnxform.Value{v})[0]
		x.block = outer
		m.outs[i] = append(m.outs[i], onnxpb.Info{Name: v.Name, Type: &onnxpb.Type{Kind: onnxpb.KindTensor,
			DataType: onnxpb.ElemOf(dt)}})
	}
	s := x.either(a, b)
	s.v.DType = dt
	m.merged = append(m.merged, s)
	return s
}

func (x *exporter) cast(v *onnxform.Value, dt tensor.DType) *onnxform.Value {
	c := &onnxform.Call{Writer: x, Opset: x.opt.Opset}
	return c.Cast(v, dt)
}

// scalar is a number or a tensor of one element as a value without dimensions.
func (x *exporter) scalar(v tensor.Value, dt tensor.DType) *onnxform.Value {
	c := &onnxform.Call{Writer: x, Opset: x.opt.Opset}
	w := x.read(x.lift(v))
	if w.Rank() != 0 {
		w = c.ReshapeTo(w, c.I64()).Typed(w.DType)
	}
	return c.Cast(w, dt)
}

// either is what is known of a value that is one of two.
func (x *exporter) either(a, b *sym) *sym {
	s := &sym{v: &onnxform.Value{DType: a.v.DType}, num: a.num && b.num, block: x.block}
	if s.num {
		s.w = [2]tensor.Value{a.w[0], b.w[1]}
		s.v.Known = true
		return s
	}
	if a.num || b.num || !a.v.Known || !b.v.Known || len(a.v.Shape) != len(b.v.Shape) {
		return s
	}
	var shapes [2][]int
	for i := range shapes {
		if a.w[i].K != tensor.KTensor || b.w[i].K != tensor.KTensor {
			return s
		}
		shapes[i] = slices.Clone(a.w[i].T.Shape())
	}
	for d := range shapes[0] {
		if b.w[0].T.Shape()[d] != shapes[0][d] || b.w[1].T.Shape()[d] != shapes[1][d] {
			p := x.freshDim()
			shapes[0][d], shapes[1][d] = p[0], p[1]
		}
	}
	for i := range s.w {
		s.w[i] = tensor.TensorValue(meta(shapes[i], a.v.DType))
	}
	x.facts(s)
	return s
}

// mostUnrolled is how often a loop whose passes are counted while the file is written may run before it becomes a Loop.
const mostUnrolled = 256

// loop exports a Loop. One whose passes are known, and few, is unrolled.
func (x *exporter) loop(n *graph.Node, e env) {
	body := n.Blocks[0]
	most, cond, carried := e[n.In[0]], e[n.In[1]], e.list(n.In[2:])
	go_, known := truth(cond)
	if known && !go_ {
		for i, v := range n.Out {
			e[v] = carried[i]
		}
		return
	}
	if most.K == tensor.KInt && known && (most.N <= mostUnrolled || most.N == math.MaxInt64) {
		if x.unroll(n, body, most.N, carried, e) {
			return
		}
	}
	x.keepLoop(n, body, most, cond, carried, e)
}

// unroll exports the passes of a loop one after the other. It reports false where their number is not known.
func (x *exporter) unroll(n *graph.Node, body *graph.Block, most int64, carried []tensor.Value, e env) bool {
	for i := int64(0); i < most; i++ {
		if i > mostUnrolled {
			stop("a loop runs more than %d times", mostUnrolled)
		}
		pass := func() []tensor.Value {
			e[body.Params[0]] = tensor.IntValue(int(i))
			for k, p := range body.Params[1:] {
				e[p] = carried[k]
			}
			x.nodes(body, e)
			return e.list(body.Results)
		}
		var res []tensor.Value
		if i == 0 { // it may turn out that the condition is not known
			c := x.capture(e, pass)
			if c.raised {
				panic(raised{"in a loop"})
			}
			if _, ok := truth(c.results[0]); !ok {
				return false
			}
			x.join(c)
			res = c.results
		} else {
			res = pass()
		}
		is, ok := truth(res[0])
		if !ok {
			stop("whether a loop goes on is known for its first pass and not for pass %d", i+1)
		}
		if carried = res[1:]; !is {
			break
		}
	}
	for i, v := range n.Out {
		e[v] = carried[i]
	}
	return true
}

// state is a value that a Loop carries from pass to pass.
type state struct {
	init  *sym // before the loop
	facts *sym // what is known of it in every pass
	out   *sym // of the body, in the last attempt
	write *sym // the tensor from outside that it is, nil for a carried value
	list  *graph.List
	at    int // the number of the carried value
}

// keepLoop exports a Loop. What the body does to its values is found out by exporting it until nothing new turns up:
// which values change, which sizes differ from pass to pass, which tensors and lists from outside are written.
func (x *exporter) keepLoop(n *graph.Node, body *graph.Block, most, cond tensor.Value, carried []tensor.Value, e env) {
	states := map[int]*state{}
	var order []*state
	add := func(s *state) { order = append(order, s) }
	carry := func(i int, init *sym) {
		s := &state{init: init, facts: x.either(init, init), at: i}
		if !init.v.Seq && s.facts.num {
			s.facts.w = standIn(init.w[0])
		}
		states[i] = s
		add(s)
	}
	for i, v := range carried {
		if s, ok := v.X.(*sym); ok {
			x.read(s)
			carry(i, s)
		}
	}
	for round := 0; ; round++ {
		if round > 20 {
			stop("a loop's values change their kind from pass to pass")
		}
		iter := &sym{num: true, v: (&onnxform.Value{Name: x.unique("iter")}).Typed(tensor.Int64).Shaped(),
			w: [2]tensor.Value{tensor.IntValue(0), tensor.IntValue(1)}}
		condIn := x.unique("cond_in")
		params := map[*state]*sym{}
		c := x.capture(e, func() []tensor.Value {
			e[body.Params[0]] = graph.Box(iter)
			for k, p := range body.Params[1:] {
				e[p] = carried[k]
			}
			for _, s := range order {
				v := *s.facts.v
				v.Name, v.Const, v.Param = x.unique("carried"), nil, false
				p := &sym{v: &v, w: s.facts.w, num: s.facts.num, block: x.block}
				params[s] = p
				switch {
				case s.write != nil:
					x.write(s.write, p.v)
					s.write.w = p.w
				case s.list != nil:
					x.seqs[s.list] = p
				default:
					e[body.Params[1+s.at]] = graph.Box(p)
				}
			}
			x.nodes(body, e)
			for _, s := range order { // inside the graph, where the present values are
				switch {
				case s.write != nil:
					v := *s.write
					s.out = &v
				case s.list != nil:
					s.out = x.seqs[s.list]
				}
			}
			return e.list(body.Results)
		})
		if c.raised {
			panic(raised{"in a loop"})
		}
		changed := false
		for i, got := range c.results[1:] {
			s := states[i]
			if s == nil {
				if _, no := carried[i].X.(unset); no {
					carried[i] = dummy(got)
				}
				if same(carried[i], got) {
					continue
				}
				if isList(carried[i]) || isList(got) {
					stop("a loop whose number of passes is known only when the file runs makes new lists from pass " +
						"to pass")
				}
				carry(i, x.lift(carried[i]))
				changed = true
				continue
			}
			s.out = x.lift(got)
		}
		for t := range c.after {
			if !slices.ContainsFunc(order, func(s *state) bool { return s.write == t }) {
				add(&state{init: t, facts: x.either(t, t), write: t})
				changed = true
			}
		}
		for l, items := range c.lists {
			if !slices.ContainsFunc(order, func(s *state) bool { return s.list == l }) {
				add(x.sequenceState(l, items))
				changed = true
			}
		}
		for _, s := range order {
			if s.out != nil && !s.init.v.Seq && !s.facts.num {
				if w := x.either(s.facts, s.out); !sameFacts(w, s.facts) {
					w.v.DType = s.facts.v.DType
					s.facts = w
					changed = true
				}
			}
		}
		if changed {
			continue
		}
		x.emitLoop(n, c, order, params, iter, condIn, most, cond, carried, e)
		return
	}
}

func isList(v tensor.Value) bool { _, ok := graph.ItemsOf(v); return ok }

// standIn are the values of a number that differs from pass to pass.
func standIn(v tensor.Value) [2]tensor.Value {
	switch v.K {
	case tensor.KInt:
		return [2]tensor.Value{v, {K: tensor.KInt, N: v.N + 1}}
	case tensor.KFloat:
		return [2]tensor.Value{v, tensor.FloatValue(v.Float() + 0.5)}
	}
	return [2]tensor.Value{tensor.BoolValue(true), tensor.BoolValue(false)}
}

func sameFacts(a, b *sym) bool {
	return a.v.Known == b.v.Known && slices.Equal(a.v.Shape, b.v.Shape)
}

func (x *exporter) emitLoop(n *graph.Node, c captured, order []*state, params map[*state]*sym, iter *sym,
	condIn string, most, cond tensor.Value, carried []tensor.Value, e env) {
	scalar := func(name string, t onnxpb.DataType) onnxpb.Info {
		return onnxpb.Info{Name: name, Type: &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: t, HasShape: true}}
	}
	g := &onnxpb.Graph{Name: x.unique("loop"), Inputs: []onnxpb.Info{scalar(iter.v.Name, onnxpb.Int64),
		scalar(condIn, onnxpb.Bool)}}
	ins := []*onnxform.Value{nil, nil}
	if s, ok := most.X.(*sym); ok {
		ins[0] = x.scalar(graph.Box(s), tensor.Int64)
	} else if most.N != math.MaxInt64 {
		ins[0] = x.scalar(most, tensor.Int64)
	}
	ins[1] = x.scalar(cond, tensor.Bool)
	outer := x.block
	x.block = c.b
	identity := func(v *onnxform.Value) string { return x.Emit("", "Identity", nil, 1, []*onnxform.Value{v})[0].Name }
	g.Outputs = append(g.Outputs, scalar(identity(x.scalar(c.results[0], tensor.Bool)), onnxpb.Bool))
	for _, s := range order {
		dt := s.facts.v.DType
		g.Inputs = append(g.Inputs, x.untyped(params[s].v.Name, s.facts))
		v := x.read(s.out)
		if !v.Seq {
			v = x.cast(v, dt)
		}
		g.Outputs = append(g.Outputs, x.untyped(identity(v), s.facts))
	}
	x.block = outer
	for _, s := range order {
		v := x.read(s.init)
		if !v.Seq {
			v = x.cast(v, s.facts.v.DType)
		}
		ins = append(ins, v)
	}
	g.Nodes = c.b.nodes
	out := x.Emit("", "Loop", onnxform.A{"body": g}, len(order), ins)
	for i, v := range n.Out {
		e[v] = carried[i]
	}
	for i, s := range order {
		v := *s.facts.v
		v.Name, v.Const, v.Param = out[i].Name, nil, false
		res := &sym{v: &v, w: s.facts.w, num: s.facts.num, block: x.block}
		switch {
		case s.write != nil:
			x.write(s.write, &v)
			s.write.w = res.w
		case s.list != nil:
			x.seqs[s.list] = res
		default:
			e[n.Out[s.at]] = graph.Box(res)
		}
	}
}

// untyped declares a value inside a Loop: its dtype, and its shape as far as it is the same in every pass.
func (x *exporter) untyped(name string, s *sym) onnxpb.Info {
	i := x.info(name, s)
	if i.Type.Kind == onnxpb.KindSequence {
		i.Type.Elem = &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: onnxpb.ElemOf(s.v.DType)}
	}
	for d := range i.Type.Shape {
		i.Type.Shape[d].Param = ""
	}
	return i
}

// sequenceState is a list that a loop makes longer: a sequence of the file.
func (x *exporter) sequenceState(l *graph.List, after []tensor.Value) *state {
	if s := x.seqs[l]; s != nil {
		return &state{init: s, facts: s, list: l}
	}
	elem := x.lift(after[len(after)-1])
	s := &sym{v: &onnxform.Value{Seq: true, DType: elem.v.DType}, w: elem.w, num: elem.num, block: x.block}
	var ins []*onnxform.Value
	for _, v := range l.Items {
		ins = append(ins, x.cast(x.read(x.lift(v)), elem.v.DType))
	}
	var out *onnxform.Value
	if len(ins) == 0 {
		out = x.Emit("", "SequenceEmpty", onnxform.A{"dtype": elem.v.DType}, 1, nil)[0]
	} else {
		out = x.Emit("", "SequenceConstruct", nil, 1, ins)[0]
	}
	s.v.Name = out.Name
	return &state{init: s, facts: s, list: l}
}

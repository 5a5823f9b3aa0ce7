package export

import (
	"encoding/json"
	"fmt"

	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// This file translates the higher-order operators, whose arguments are graphs, into the control flow of package graph.
// torch/_higher_order_ops has their definitions.

// operands reads the arguments of a higher-order operator, one after the other. The first mistake is kept in err, and
// what is read after it means nothing.
type operands struct {
	t   *translator
	b   *graph.Block
	s   *scope
	n   *nodeJSON
	i   int
	err error
}

func (o *operands) left() int { return len(o.n.Inputs) - o.i }

func (o *operands) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// next is the next argument, nil after a mistake.
func (o *operands) next() *argument {
	if o.err == nil && o.left() == 0 {
		o.err = fmt.Errorf("%w: it has %d arguments, too few", ErrFormat, len(o.n.Inputs))
	}
	if o.err != nil {
		return nil
	}
	o.i++
	return &o.n.Inputs[o.i-1].Arg
}

// graph is the next argument, a graph.
func (o *operands) graph() *graphJSON {
	a := o.next()
	if a == nil {
		return nil
	}
	var g struct {
		Name  string
		Graph *graphJSON
	}
	if a.key != "as_graph" {
		o.fail(fmt.Errorf("%w: argument %d is %s, want a graph", ErrFormat, o.i-1, shorten(a.key)))
	} else if err := a.read(&g); err != nil || g.Graph == nil {
		o.fail(fmt.Errorf("%w: argument %d: %w", ErrFormat, o.i-1, err))
	}
	return g.Graph
}

// value is the next argument, one value.
func (o *operands) value() *graph.Value {
	a := o.next()
	if a == nil {
		return nil
	}
	v, err := o.t.value(o.b, o.s, a, graph.Any)
	o.fail(err)
	return v
}

// constant is the next argument, a constant.
func (o *operands) constant() tensor.Value {
	a := o.next()
	if a == nil {
		return tensor.Value{}
	}
	v, named, err := a.constant()
	if err == nil && named != nil {
		err = fmt.Errorf("%w: argument %d must be a constant", ErrFormat, o.i-1)
	}
	o.fail(err)
	return v
}

// operator is the next argument, the name of an operator.
func (o *operands) operator() string {
	name, _ := o.constant().X.(string)
	if o.err != nil {
		return ""
	}
	op, err := operatorName(name)
	o.fail(err)
	return op
}

// list is the next argument, a list of values.
func (o *operands) list() []*graph.Value {
	a := o.next()
	if a == nil {
		return nil
	}
	c, named, err := a.constant()
	if err != nil {
		o.fail(err)
		return nil
	}
	var out []*graph.Value
	if items, ok := graph.ItemsOf(c); ok {
		for _, v := range items {
			out = append(out, o.b.ConstOf(v, graph.TypeOf(v)))
		}
		return out
	}
	for _, n := range named {
		if n.name == "" {
			out = append(out, o.b.ConstOf(n.value, graph.TypeOf(n.value)))
			continue
		}
		v, err := o.s.lookup(n.name)
		if err != nil {
			o.fail(err)
			return nil
		}
		out = append(out, v)
	}
	return out
}

// rest are all arguments that are left.
func (o *operands) rest() []*graph.Value {
	var out []*graph.Value
	for o.err == nil && o.left() > 0 {
		out = append(out, o.value())
	}
	return out
}

// inline translates a graph in the place of its call.
func (t *translator) inline(b *graph.Block, g *graphJSON, args []*graph.Value) ([]*graph.Value, error) {
	if len(args) != len(g.Inputs) {
		return nil, fmt.Errorf("%w: a graph of %d inputs gets %d", ErrFormat, len(g.Inputs), len(args))
	}
	s := newScope(nil)
	for i := range g.Inputs {
		_, named, err := g.Inputs[i].constant()
		if err != nil {
			return nil, err
		}
		if len(named) == 1 {
			s.set(named[0].name, args[i])
		}
	}
	return t.graph(b, g, s)
}

// function translates a graph into a function of its own.
func (t *translator) function(name string, g *graphJSON, args []*graph.Value) (*graph.Function, error) {
	f := graph.NewFunction(name)
	params := make([]*graph.Value, len(args))
	for i, a := range args {
		params[i] = f.Body.Param("", a.Type)
	}
	out, err := t.inline(f.Body, g, params)
	if err != nil {
		return nil, err
	}
	f.Body.Return(out...)
	return f, nil
}

func (t *translator) higherOrder(b *graph.Block, hop string, n *nodeJSON, s *scope) error {
	o := &operands{t: t, b: b, s: s, n: n}
	var out []*graph.Value
	var err error
	switch hop {
	case "cond":
		out, err = t.cond(o)
	case "while_loop":
		out, err = t.while(o)
	case "map_impl", "map":
		out, err = t.mapped(o)
	case "scan":
		out, err = t.scan(o)
	case "associative_scan":
		out, err = t.associativeScan(o)
	case "wrap_with_set_grad_enabled":
		out, err = t.withGrad(o)
	case "wrap_with_autocast":
		out, err = t.withAutocast(o)
	case "with_effects":
		out, err = t.withEffects(o)
	case "wrap", "tag_activation_checkpoint", "wrap_activation_checkpoint", "strict_mode", "hints_wrapper",
		"invoke_subgraph", "invoke_leaf_function", "inductor_compiled_code":
		out, err = t.wrapped(o)
	case "auto_functionalized":
		out, err = t.functionalized(o)
	case "auto_functionalized_v2":
		out, err = t.functionalizedV2(o)
	case "out_dtype":
		out, err = t.outDType(o)
	default:
		err = fmt.Errorf("%w: the higher-order operator %s", ErrUnsupported, shorten(hop))
	}
	if err != nil {
		return err
	}
	outs := n.Outputs
	if len(outs) == 1 && outs[0].key == "as_tensors" { // one list in place of its elements
		var names []nameJSON
		if err := outs[0].read(&names); err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
		outs = nil
		for _, name := range names {
			outs = append(outs, tensorArg(name.Name))
		}
	}
	return t.results(b, out, outs, s)
}

// cond(predicate, true graph, false graph, operands)
func (t *translator) cond(o *operands) ([]*graph.Value, error) {
	pred, yes, no, args := o.value(), o.graph(), o.graph(), o.list()
	if o.err != nil {
		return nil, o.err
	}
	var err error
	fill := func(g *graphJSON) func(b *graph.Block) []*graph.Value {
		return func(b *graph.Block) []*graph.Value {
			out, e := t.inline(b, g, args)
			if e != nil && err == nil {
				err = e
			}
			return out
		}
	}
	n := o.b.If(pred, fill(yes), fill(no))
	return n.Out, err
}

// while_loop(condition graph, body graph, carried, extra): the condition and the body take carried and extra values.
func (t *translator) while(o *operands) ([]*graph.Value, error) {
	test, body, carried, extra := o.graph(), o.graph(), o.list(), o.list()
	if o.err != nil {
		return nil, o.err
	}
	cond, err := t.function("while_cond", test, join(carried, extra))
	if err != nil {
		return nil, err
	}
	if n := len(cond.Body.Results); n != 1 {
		return nil, fmt.Errorf("%w: the condition of a loop has %d results", ErrFormat, n)
	}
	first := o.b.Invoke(cond, join(carried, extra)...).Out[0]
	n := o.b.Loop(nil, first, carried, func(b *graph.Block, _ *graph.Value, now []*graph.Value) (*graph.Value,
		[]*graph.Value) {
		next, e := t.inline(b, body, join(now, extra))
		if e == nil && len(next) != len(now) {
			e = fmt.Errorf("%w: a loop carries %d values, and its body has %d results", ErrFormat, len(now), len(next))
		}
		if e != nil {
			err = e
			return nil, now
		}
		return b.Invoke(cond, join(next, extra)...).Out[0], next
	})
	return n.Out, err
}

func join(lists ...[]*graph.Value) []*graph.Value {
	var out []*graph.Value
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// each adds a loop over the first dimension of xs. body gets the carried values and the slices of xs, and returns the
// carried values and more results, which are stacked.
func (t *translator) each(b *graph.Block, n *graph.Value, carried []*graph.Value, ys int,
	body func(b *graph.Block, i *graph.Value, carried []*graph.Value) ([]*graph.Value, error)) ([]*graph.Value, error) {
	all := join(carried)
	for range ys {
		all = append(all, b.List(graph.Tensor))
	}
	var err error
	loop := b.Loop(n, nil, all, func(b *graph.Block, i *graph.Value, now []*graph.Value) (*graph.Value,
		[]*graph.Value) {
		out, e := body(b, i, now[:len(carried)])
		if e == nil && len(out) != len(now) {
			e = fmt.Errorf("%w: a loop's body has %d results, want %d", ErrFormat, len(out), len(now))
		}
		if e != nil {
			err = e
			return nil, now
		}
		for k := len(carried); k < len(now); k++ {
			out[k] = b.Call1("aten::append.t", now[k], out[k])
		}
		return nil, out
	})
	if err != nil {
		return nil, err
	}
	out := join(loop.Out[:len(carried)])
	for _, l := range loop.Out[len(carried):] {
		out = append(out, b.Call1("aten::stack", l, 0))
	}
	return out, nil
}

func elementsAt(b *graph.Block, xs []*graph.Value, i *graph.Value) []*graph.Value {
	out := make([]*graph.Value, len(xs))
	for k, x := range xs {
		out[k] = b.Call1("aten::select.int", x, 0, i)
	}
	return out
}

// loopOver reads a graph and lists, which the loops below have in common.
func (o *operands) loopOver(lists int) (g *graphJSON, l [][]*graph.Value, err error) {
	g = o.graph()
	for range lists {
		l = append(l, o.list())
	}
	return g, l, o.err
}

func length(b *graph.Block, xs []*graph.Value) (*graph.Value, error) {
	if len(xs) == 0 {
		return nil, fmt.Errorf("%w: a loop over nothing", ErrFormat)
	}
	return b.Call1("aten::size.int", xs[0], 0), nil
}

// map_impl(body, xs, extra)
func (t *translator) mapped(o *operands) ([]*graph.Value, error) {
	g, l, err := o.loopOver(2)
	if err != nil {
		return nil, err
	}
	n, err := length(o.b, l[0])
	if err != nil {
		return nil, err
	}
	return t.each(o.b, n, nil, len(g.Outputs), func(b *graph.Block, i *graph.Value, _ []*graph.Value) ([]*graph.Value,
		error) {
		return t.inline(b, g, join(elementsAt(b, l[0], i), l[1]))
	})
}

// scan(combine, init, xs, extra): combine takes carry, x and extra, and gives the next carry and y.
func (t *translator) scan(o *operands) ([]*graph.Value, error) {
	g, l, err := o.loopOver(3)
	if err != nil {
		return nil, err
	}
	n, err := length(o.b, l[1])
	if err != nil {
		return nil, err
	}
	if len(g.Outputs) < len(l[0]) {
		return nil, fmt.Errorf("%w: scan carries %d values, and its body has %d results", ErrFormat, len(l[0]),
			len(g.Outputs))
	}
	return t.each(o.b, n, l[0], len(g.Outputs)-len(l[0]), func(b *graph.Block, i *graph.Value,
		carried []*graph.Value) ([]*graph.Value, error) {
		return t.inline(b, g, join(carried, elementsAt(b, l[1], i), l[2]))
	})
}

// associative_scan(combine, xs, extra): combine takes two elements of xs, and extra.
func (t *translator) associativeScan(o *operands) ([]*graph.Value, error) {
	g, l, err := o.loopOver(2)
	if err != nil {
		return nil, err
	}
	n, err := length(o.b, l[0])
	if err != nil {
		return nil, err
	}
	zero := o.b.Const(0)
	first := elementsAt(o.b, l[0], zero)
	most := o.b.Call1("aten::sub.int", n, 1)
	all := join(first)
	for _, f := range first {
		all = append(all, o.b.List(graph.Tensor, f))
	}
	k := len(first)
	loop := o.b.Loop(most, nil, all, func(b *graph.Block, i *graph.Value, now []*graph.Value) (*graph.Value,
		[]*graph.Value) {
		next := b.Call1("aten::add.int", i, 1)
		out, e := t.inline(b, g, join(now[:k], elementsAt(b, l[0], next), l[1]))
		if e == nil && len(out) != k {
			e = fmt.Errorf("%w: associative_scan of %d values has %d results", ErrFormat, k, len(out))
		}
		if e != nil {
			err = e
			return nil, now
		}
		res := join(out)
		for j := range out {
			res = append(res, b.Call1("aten::append.t", now[k+j], out[j]))
		}
		return nil, res
	})
	if err != nil {
		return nil, err
	}
	var out []*graph.Value
	for _, v := range loop.Out[k:] {
		out = append(out, o.b.Call1("aten::stack", v, 0))
	}
	return out, nil
}

// within calls the graph that follows in a mode.
func (o *operands) within(name string, around func(run func())) ([]*graph.Value, error) {
	g, args := o.graph(), o.rest()
	if o.err != nil {
		return nil, o.err
	}
	f, err := o.t.function(name, g, args)
	if err != nil {
		return nil, err
	}
	return o.b.InvokeWithin(around, f, args...).Out, nil
}

// wrap_with_set_grad_enabled(enabled, graph, operands…)
func (t *translator) withGrad(o *operands) ([]*graph.Value, error) {
	on := o.constant()
	if o.err != nil {
		return nil, o.err
	}
	if on.K == tensor.KBool && on.N != 0 {
		return o.within("enable_grad", func(run func()) { tensor.EnableGrad(run) })
	}
	return o.within("no_grad", func(run func()) { tensor.NoGrad(run) })
}

// wrap_with_autocast(device type, dtype, enabled, cache enabled, graph, operands…)
func (t *translator) withAutocast(o *operands) ([]*graph.Value, error) {
	device, dtype, enabled, cached := o.constant(), o.constant(), o.constant(), o.constant()
	if o.err != nil {
		return nil, o.err
	}
	if kind, _ := device.X.(string); kind == "" {
		return nil, fmt.Errorf("%w: autocast for no device", ErrFormat)
	}
	var dt tensor.DType
	if dtype.K == tensor.KInt {
		var err error
		if dt, err = graph.DTypeOf(int(dtype.N)); err != nil {
			return nil, err
		}
	}
	opt := amp.AutocastOptions{Disabled: enabled.K == tensor.KBool && enabled.N == 0,
		NoCache: cached.K == tensor.KBool && cached.N == 0}
	return o.within("autocast", func(run func()) { amp.Autocast(tensor.CPUDevice, dt, run, opt) })
}

// with_effects(token, operator, arguments…) gives a token and the operator's results.
func (t *translator) withEffects(o *operands) ([]*graph.Value, error) {
	o.next()
	op := o.operator()
	if o.err != nil {
		return nil, o.err
	}
	args := append([]namedArgument(nil), o.n.Inputs[o.i:]...)
	// the names are those of the parameters of with_effects where an argument stands by position
	for i := range args {
		if args[i].Kind == positional {
			args[i].Name = ""
		}
	}
	n, err := t.call(o.b, op, args, max(1, len(o.n.Outputs)-1), o.s)
	if err != nil {
		return nil, err
	}
	token := o.b.Const(nil)
	out := append([]*graph.Value{token}, n.Out...)
	if len(n.Out) == 0 {
		out = append(out, token)
	}
	return out, nil
}

// wrapped is an operator that only marks a graph: the graph is computed in its place. Constants that are no tensors,
// such as the name of a graph, are no operands.
func (t *translator) wrapped(o *operands) ([]*graph.Value, error) {
	g := o.graph()
	var args []*graph.Value
	for o.err == nil && o.left() > 0 && len(args) < len(g.Inputs) {
		switch key := o.n.Inputs[o.i].Arg.key; {
		case key == "as_string" && o.left() > len(g.Inputs)-len(args):
			o.next()
		case key == "as_tensors":
			args = append(args, o.list()...)
		default:
			args = append(args, o.value())
		}
	}
	if o.err != nil {
		return nil, o.err
	}
	return t.inline(o.b, g, args)
}

// out_dtype(operator, dtype, arguments…) computes in the type dtype.
func (t *translator) outDType(o *operands) ([]*graph.Value, error) {
	op, dt, args := o.operator(), o.constant(), o.rest()
	if o.err != nil {
		return nil, o.err
	}
	var in []any
	for _, a := range args {
		if a.Type.Kind == graph.TensorType {
			a = o.b.Call1("aten::to.dtype", a, int(dt.N))
		}
		in = append(in, a)
	}
	return o.b.Call(op, in...).Out, nil
}

// The functions of torch.vmap that stand in graphs for training. What lies between begin and end is computed for one
// element of the batch.
const (
	vmapBegin = "torch._functorch.predispatch._vmap_increment_nesting"
	vmapEnd   = "torch._functorch.predispatch._vmap_decrement_nesting"
	vmapIn    = "torch._functorch.predispatch._add_batch_dim"
	vmapOut   = "torch._functorch.predispatch._remove_batch_dim"
	vmapLoad  = "torch._functorch.predispatch.lazy_load_decompositions"
)

// vmap translates a region of torch.vmap, whose first node is vmapBegin, into a loop over the batch: the elements are
// computed one after the other, and stacked. It returns the number of the region's last node.
func (t *translator) vmap(b *graph.Block, nodes []json.RawMessage, s *scope) (used int, err error) {
	var begin nodeJSON
	if err := json.Unmarshal(nodes[0], &begin); err != nil {
		return 0, err
	}
	if len(begin.Inputs) < 1 {
		return 0, fmt.Errorf("%w: a batch without a size", ErrFormat)
	}
	size, err := t.value(b, s, &begin.Inputs[0].Arg, graph.Int)
	if err != nil {
		return 0, err
	}
	// the region's nodes, and which values leave it
	type leaving struct {
		in, out argument
		dim     int64
	}
	var outs []leaving
	level := 0
	end := -1
	for i := 1; i < len(nodes) && end < 0; i++ {
		var n nodeJSON
		if err := json.Unmarshal(nodes[i], &n); err != nil {
			return 0, err
		}
		switch n.Target {
		case vmapBegin:
			level++
		case vmapEnd:
			if level == 0 {
				end = i
			}
			level--
		case vmapOut:
			if level != 0 {
				break
			}
			l := leaving{}
			if len(n.Inputs) != 4 || len(n.Outputs) != 1 {
				return 0, fmt.Errorf("%w: %s with %d arguments", ErrFormat, vmapOut, len(n.Inputs))
			}
			dim, _, err := n.Inputs[3].Arg.constant()
			if err != nil {
				return 0, err
			}
			l.in, l.out, l.dim = n.Inputs[0].Arg, n.Outputs[0], dim.N
			outs = append(outs, l)
		}
	}
	if end < 0 {
		return 0, fmt.Errorf("%w: a region of torch.vmap has no end", ErrFormat)
	}
	if t.depth++; t.depth > maxGraphs {
		return 0, fmt.Errorf("%w: graphs are nested more than %d deep", ErrFormat, maxGraphs)
	}
	defer func() { t.depth-- }()
	if size.Node != nil && size.Node.Op == graph.Constant && size.Node.Const.N == 0 {
		for k := range outs {
			if err := t.emptyBatch(b, outs[k].out, s); err != nil {
				return 0, err
			}
		}
		return end, nil
	}
	stacked, err := t.each(b, size, nil, len(outs), func(b *graph.Block, i *graph.Value, _ []*graph.Value) (
		[]*graph.Value, error) {
		inner := newScope(s)
		if err := t.region(b, nodes[1:end], inner, i); err != nil {
			return nil, err
		}
		var res []*graph.Value
		for k := range outs {
			v, err := t.value(b, inner, &outs[k].in, graph.Tensor)
			if err != nil {
				return nil, err
			}
			res = append(res, v)
		}
		return res, nil
	})
	if err != nil {
		return 0, err
	}
	for k, l := range outs {
		v := stacked[k]
		if l.dim != 0 {
			v = b.Call1("aten::movedim.int", v, 0, int(l.dim))
		}
		if err := t.results(b, []*graph.Value{v}, []argument{l.out}, s); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// emptyBatch makes the result of a region for a batch of no elements, of which the file tells the shape.
func (t *translator) emptyBatch(b *graph.Block, out argument, s *scope) error {
	var n nameJSON
	if err := out.read(&n); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	var meta tensorMetaJSON
	if err := unmarshalAt(t.g.Tensors, n.Name, &meta); err != nil {
		return err
	}
	shape, err := ints(meta.Sizes)
	if err != nil {
		return fmt.Errorf("%w: a batch of no elements: %w", ErrUnsupported, err)
	}
	dt, err := dtypeOf(meta.DType)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return t.results(b, b.Call("aten::zeros", shape, graph.DTypeNumber(dt)).Out, []argument{out}, s)
}

// region translates the nodes of a region for element i of the batch.
func (t *translator) region(b *graph.Block, nodes []json.RawMessage, s *scope, i *graph.Value) error {
	for k := 0; k < len(nodes); k++ {
		var n nodeJSON
		if err := json.Unmarshal(nodes[k], &n); err != nil {
			return err
		}
		switch n.Target {
		case vmapIn:
			if len(n.Inputs) < 2 {
				return fmt.Errorf("%w: %s with %d arguments", ErrFormat, vmapIn, len(n.Inputs))
			}
			x, err := t.value(b, s, &n.Inputs[0].Arg, graph.Tensor)
			if err != nil {
				return err
			}
			dim, err := t.value(b, s, &n.Inputs[1].Arg, graph.Int)
			if err != nil {
				return err
			}
			if err := t.results(b, b.Call("aten::select.int", x, dim, i).Out, n.Outputs, s); err != nil {
				return err
			}
		case vmapOut, vmapLoad:
		case vmapBegin:
			used, err := t.vmap(b, nodes[k:], s)
			if err != nil {
				return err
			}
			k += used
		default:
			if err := t.nodes(b, nodes[k:k+1], s); err != nil {
				return err
			}
		}
	}
	return nil
}

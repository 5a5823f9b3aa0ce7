package onnx

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// env are the values of a function that is being exported.
type env map[*graph.Value]tensor.Value

// raised is what a program that raises an exception panics with.
type raised struct{ text string }

// function exports the nodes of a function in the present graph.
func (x *exporter) function(f *graph.Function, args []tensor.Value) []tensor.Value {
	if len(x.calls) > maxCalls*4 {
		stop("functions call each other more than %d deep", maxCalls*4)
	}
	if len(args) != len(f.Body.Params) {
		stop("%s takes %d arguments, got %d", f.Name, len(f.Body.Params), len(args))
	}
	x.calls = append(x.calls, f)
	defer func() { x.calls = x.calls[:len(x.calls)-1] }()
	e := env{}
	for i, p := range f.Body.Params {
		e[p] = args[i]
	}
	x.nodes(f.Body, e)
	return e.list(f.Body.Results)
}

func (e env) list(l []*graph.Value) []tensor.Value {
	out := make([]tensor.Value, len(l))
	for i, v := range l {
		out[i] = e[v]
	}
	return out
}

func (x *exporter) nodes(b *graph.Block, e env) {
	for _, n := range b.Nodes {
		if x.steps++; x.steps > maxNodes {
			stop("the program takes more than %d steps", maxNodes)
		}
		x.node(n, e)
	}
}

// where says which part of the module is being exported.
func (x *exporter) where() string {
	if len(x.scope) == 0 {
		return "the module"
	}
	return strings.Join(x.scope, ".")
}

func (x *exporter) node(n *graph.Node, e env) {
	set := func(vals ...tensor.Value) {
		for i, v := range n.Out {
			if i < len(vals) {
				e[v] = vals[i]
			}
		}
	}
	in := e.list(n.In)
	switch n.Op {
	case graph.Constant:
		set(x.constant(n.Const))
	case graph.If:
		x.branch(n, e)
	case graph.Loop:
		x.loop(n, e)
	case graph.ListConstruct:
		l := &graph.List{Items: in}
		if t := n.Out[0].Type; t.Kind == graph.ListType {
			l.Elem = t.Elems[0]
		}
		set(graph.Box(l))
	case graph.TupleConstruct:
		set(graph.Box(&graph.Tuple{Type: n.Out[0].Type, Items: in}))
	case graph.DictConstruct:
		d := graph.NewDict(nil, nil)
		if t := n.Out[0].Type; t.Kind == graph.DictType {
			d.Key, d.Elem = t.Elems[0], t.Elems[1]
		}
		for i := 0; i+1 < len(in); i += 2 {
			d.Set(in[i], in[i+1])
		}
		set(graph.Box(d))
	case graph.ListUnpack, graph.TupleUnpack:
		items, ok := graph.ItemsOf(in[0])
		if !ok || len(items) != len(n.Out) {
			stop("%s: %d values are wanted of %s", n.Op, len(n.Out), x.text(in[0]))
		}
		set(items...)
	case graph.TupleIndex:
		items, _ := graph.ItemsOf(in[0])
		if n.Index < 0 || n.Index >= len(items) {
			stop("tuple index %d of %s", n.Index, x.text(in[0]))
		}
		set(items[n.Index])
	case graph.GetAttr:
		set(x.getAttr(n, in[0]))
	case graph.SetAttr:
		x.setAttr(n, in[0], in[1])
	case graph.CallMethod:
		o, ok := in[0].X.(*graph.Object)
		if !ok || o.Class.Methods[n.Attr] == nil {
			stop("%s has no method %s", x.text(in[0]), n.Attr)
		}
		x.method(n, o, o.Class.Methods[n.Attr], in, set)
	case graph.CallFunction, graph.Fork:
		f := n.Func
		if f == nil {
			fv, ok := in[0].X.(*graph.FuncValue)
			if !ok {
				stop("%s cannot be called", x.text(in[0]))
			}
			f, in = fv.Func, append(append([]tensor.Value(nil), fv.Captured...), in[1:]...)
		}
		res := x.function(f, in)
		if n.Op == graph.Fork {
			res = []tensor.Value{graph.Box(&graph.Future{Value: res[0]})}
		}
		set(res...)
	case graph.Wait:
		fu, ok := in[0].X.(*graph.Future)
		if !ok {
			stop("%s is no future", x.text(in[0]))
		}
		set(fu.Value)
	case graph.CreateObject:
		set(graph.Box(graph.NewObject(n.Class)))
	case graph.Closure:
		set(graph.Box(&graph.FuncValue{Func: n.Func, Captured: in}))
	case graph.Raise:
		panic(raised{x.text(in[0])})
	case graph.IsInstance:
		is := false
		for _, t := range n.Types {
			is = is || isA(in[0], t)
		}
		set(tensor.BoolValue(is))
	case graph.UncheckedCast:
		set(in[0])
	case graph.Uninitialized:
		set(tensor.AnyValue(unset{}))
	case graph.SetGrad:
	case graph.GradEnabled:
		set(tensor.BoolValue(false))
	default:
		x.operator(n, in, set)
	}
}

// constant is a constant of the program. A list is copied, since the program may change it.
func (x *exporter) constant(v tensor.Value) tensor.Value {
	v = graph.Normal(v)
	switch l := v.X.(type) {
	case *graph.List:
		items := make([]tensor.Value, len(l.Items))
		for i, e := range l.Items {
			items[i] = x.constant(e)
		}
		return graph.NewList(l.Elem, items...)
	case *graph.Dict:
		return graph.Box(l.Copy())
	}
	if v.K == tensor.KTensor && v.T != nil {
		return graph.Box(x.constSym(v.T))
	}
	return v
}

// isA is graph.IsA for values of the exporter.
func isA(v tensor.Value, t *graph.Type) bool {
	s, ok := v.X.(*sym)
	if !ok {
		return graph.IsA(v, t)
	}
	if s.num {
		return graph.IsA(s.w[0], t)
	}
	return graph.Tensor.Fits(t)
}

func (x *exporter) text(v tensor.Value) string {
	if s, ok := v.X.(*sym); ok {
		if s.num {
			return "a number that is known only when the file runs"
		}
		return "a tensor"
	}
	if v.K == tensor.KStr {
		return v.X.(string)
	}
	return "a value of type " + graph.TypeOf(v).String()
}

func (x *exporter) slotOf(n *graph.Node, v tensor.Value) (*graph.Object, int) {
	o, ok := v.X.(*graph.Object)
	if !ok {
		stop("%s is no object", x.text(v))
	}
	i := n.Index
	if n.Attr != graph.BySlot {
		i = o.Class.AttrIndex(n.Attr)
	}
	if i < 0 || i >= len(o.Slots) {
		stop("an object of %s has no attribute %s", o.Class.Name, n.Attr)
	}
	return o, i
}

func (x *exporter) getAttr(n *graph.Node, v tensor.Value) tensor.Value {
	o, i := x.slotOf(n, v)
	a := &o.Class.Attrs[i]
	got, set := x.slots[o][i]
	if !set {
		got = o.Slots[i]
	}
	if child, ok := got.X.(*graph.Object); ok && child.Class.Module && x.paths[child] == "" {
		x.paths[child] = a.Name
		if p := x.paths[o]; p != "" {
			x.paths[child] = p + "." + a.Name
		}
	}
	if a.Name == "training" && o.Class.Module && got.K == tensor.KBool && x.opt.Training != TrainingPreserve {
		return tensor.BoolValue(x.opt.Training == TrainingTrain)
	}
	return x.attribute(got)
}

// attribute is the value of an attribute: its tensors are constants of the file.
func (x *exporter) attribute(v tensor.Value) tensor.Value {
	if v.K == tensor.KTensor && v.T != nil {
		return graph.Box(x.constSym(v.T))
	}
	switch l := v.X.(type) {
	case *graph.List: // the list itself, which the program may change only here
		return x.constant(v)
	case *graph.Tuple:
		items := make([]tensor.Value, len(l.Items))
		for i, e := range l.Items {
			items[i] = x.attribute(e)
		}
		return graph.Box(&graph.Tuple{Type: l.Type, Items: items})
	}
	return graph.Normal(v)
}

func (x *exporter) setAttr(n *graph.Node, v, to tensor.Value) {
	o, i := x.slotOf(n, v)
	if o.Class.Module && x.block != x.root {
		stop("attribute %s of a module is set in a branch or a loop that is known only when the file runs", n.Attr)
	}
	if o.Class.Module {
		x.Warn(fmt.Sprintf("the program sets attribute %s of %s: the file does not keep it from one run to the next",
			o.Class.Attrs[i].Name, x.where()))
	}
	if x.slots[o] == nil {
		x.slots[o] = map[int]tensor.Value{}
	}
	x.slots[o][i] = to
}

// method exports the call of a method. That of a submodule names the nodes.
func (x *exporter) method(n *graph.Node, o *graph.Object, f *graph.Function, in []tensor.Value,
	set func(...tensor.Value)) {
	outer := x.scope
	defer func() { x.scope = outer }()
	if p := x.paths[o]; p != "" && o.Class.Module {
		x.scope = strings.Split(p, ".")
	}
	if x.opt.KeepFunctions && o.Class.Module && n.Attr == "forward" {
		if res, ok := x.kept(o, f, in); ok {
			set(res...)
			return
		}
	}
	set(x.function(f, in)...)
}

package jit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// A recording is one function for the whole module. Here it becomes classes with methods, as PyTorch's tracer makes
// them: each module is a class, each call of a module a method of that class, "forward" the first one, "forward1" the
// next. Values that a call takes from outside become the method's parameters, those that are read behind it its
// results.

// maker makes one module from a recording.
type maker struct {
	p       *trace.Program
	script  bool
	u       *unit
	objects map[string]*graph.Object // by path
	users   map[*graph.Value][]*graph.Node
	results map[*graph.Value]bool // of the function
	attrs   map[*graph.Value]string
	calls   map[string]int // methods of each module so far
}

// lower makes a module of a recording.
func lower(p *trace.Program, script bool) *Module {
	l := &maker{p: p, script: script, u: newUnit(func(string) (string, bool, error) { return "", false, nil }),
		objects: map[string]*graph.Object{}, users: map[*graph.Value][]*graph.Node{}, results: map[*graph.Value]bool{},
		attrs: map[*graph.Value]string{}, calls: map[string]int{}}
	l.u.version, l.u.traced = maxVersion, !script
	if p.Module != nil {
		made := map[nn.Module]*graph.Object{}
		l.module(p.Module, "", made)
	} else {
		c := l.class("__main__.Function")
		l.objects[""] = graph.NewObject(c)
		l.training(l.objects[""], false)
	}
	l.uses(p.Func.Body)
	for _, v := range p.Func.Body.Results {
		l.results[v] = true
	}
	l.root()
	m := l.u.module(l.objects[""])
	m.meta = map[string]string{"format": "TorchScript"}
	return nn.New(m)
}

// class declares a class under a name of its own.
func (l *maker) class(python string) *graph.Class {
	name := "__torch__." + strings.TrimPrefix(python, "__main__.")
	at := strings.LastIndexByte(name, '.')
	for full, k := name, 0; ; k++ {
		if l.u.classes[full] == nil {
			c := graph.NewClass(full, graph.ClassType)
			c.Module = true
			l.u.classes[full] = c
			return c
		}
		full = fmt.Sprintf("%s.___torch_mangle_%d%s", name[:at], k, name[at:])
	}
}

func (l *maker) training(o *graph.Object, on bool) {
	o.Class.AddAttr(graph.Attr{Name: "training", Type: graph.Bool})
	o.Class.AddAttr(graph.Attr{Name: "_is_full_backward_hook", Type: graph.OptionalOf(graph.Bool)})
	o.Slots = append(o.Slots, tensor.BoolValue(on), tensor.Value{})
}

// module makes the object of a module and of those below it.
func (l *maker) module(m nn.Module, path string, made map[nn.Module]*graph.Object) *graph.Object {
	if o := made[m]; o != nil {
		l.objects[path] = o
		return o
	}
	if s, ok := m.(*Module); ok { // part of another program
		made[m], l.objects[path] = s.obj, s.obj
		if !slices.Contains(l.u.linked, s.unit) {
			l.u.linked = append(l.u.linked, s.unit)
		}
		return s.obj
	}
	c := l.class(nn.PythonClass(m))
	o := graph.NewObject(c)
	made[m], l.objects[path] = o, o
	prefix := path
	if prefix != "" {
		prefix += "."
	}
	add := func(name string, t *tensor.Tensor, parameter bool) {
		if c.AttrIndex(name) < 0 {
			c.AddAttr(graph.Attr{Name: name, Type: graph.Tensor, Parameter: parameter, Buffer: !parameter})
			o.Slots = append(o.Slots, tensor.TensorValue(t))
		}
	}
	for name, t := range nn.OwnNamedParameters(m) {
		add(name, t, true)
	}
	for name, t := range nn.OwnNamedBuffers(m) {
		add(name, t, false)
	}
	l.training(o, nn.IsTraining(m))
	for name, child := range nn.NamedChildren(m) {
		k := l.module(child, prefix+name, made)
		if c.AttrIndex(name) < 0 {
			c.AddAttr(graph.Attr{Name: name, Type: k.Class.Type})
			o.Slots = append(o.Slots, graph.Box(k))
		}
	}
	return o
}

// uses notes who reads each value, and which values are attributes.
func (l *maker) uses(b *graph.Block) {
	for _, n := range b.Nodes {
		for _, v := range n.In {
			l.users[v] = append(l.users[v], n)
		}
		if n.Op == graph.GetAttr && n.In[0].Block == l.p.Func.Body && l.p.Self != nil &&
			n.In[0] == l.p.Func.Body.Params[0] {
			l.attrs[n.Out[0]] = n.Attr
		}
		for _, c := range n.Blocks {
			l.uses(c)
			for _, v := range c.Results {
				l.users[v] = append(l.users[v], n)
			}
		}
	}
}

// method is a method that is being made.
type method struct {
	l      *maker
	path   string // of the module
	fn     *graph.Function
	self   *graph.Value
	values map[*graph.Value]*graph.Value
	scopes map[*graph.Scope]bool // that count as the method's own
	loads  map[string]*graph.Value
	hoist  map[*graph.Block][]*graph.Node // loads, which stand at the beginning of a block
}

func (l *maker) method(path string) *method {
	o := l.objects[path]
	name := "forward"
	if n := l.calls[path]; n > 0 {
		name = fmt.Sprintf("forward%d", n)
	}
	l.calls[path]++
	m := &method{l: l, path: path, fn: graph.NewFunction(o.Class.Name + "." + name),
		values: map[*graph.Value]*graph.Value{}, scopes: map[*graph.Scope]bool{}, loads: map[string]*graph.Value{},
		hoist: map[*graph.Block][]*graph.Node{}}
	m.self = m.fn.Body.Param("self", o.Class.Type)
	m.fn.Schema = &graph.Schema{Name: m.fn.Name, Params: []graph.Param{{Name: "self", Type: o.Class.Type}}}
	o.Class.AddMethod(name, m.fn)
	return m
}

func (m *method) param(name string, t *graph.Type) *graph.Value {
	m.fn.Schema.Params = append(m.fn.Schema.Params, graph.Param{Name: name, Type: t})
	return m.fn.Body.Param(name, t)
}

// finish sets the result and puts the attributes in front.
func (m *method) finish(result *graph.Value) {
	m.fn.Body.Return(result)
	m.fn.Schema.Results = []graph.Result{{Type: result.Type}}
	m.loadFirst(m.fn.Body)
}

// loadFirst puts the attributes that a block reads at its beginning. Python's tracer has them in reverse order.
func (m *method) loadFirst(b *graph.Block) {
	l := m.hoist[b]
	if !m.l.script {
		slices.Reverse(l)
	}
	// an attribute of a submodule comes behind the submodule
	slices.SortStableFunc(l, func(a, b *graph.Node) int { return depthOf(a) - depthOf(b) })
	b.Nodes = append(l, b.Nodes...)
}

func depthOf(n *graph.Node) int {
	d := 0
	for v := n.In[0]; v.Node != nil; v = v.Node.In[0] {
		d++
	}
	return d
}

// root makes the method of the recorded module itself.
func (l *maker) root() {
	m := l.method("")
	params := l.p.Func.Body.Params
	if l.p.Self != nil {
		params = params[1:]
	}
	for i, f := range l.p.In {
		if f.Kind == trace.None {
			continue
		}
		m.take(f, m.param(identifier(l.p.ArgNames[i]), f.Type()), params)
	}
	nodes := l.p.Func.Body.Nodes
	m.nodes(m.fn.Body, nodes)
	next := 0
	m.finish(m.give(l.p.Out, l.p.Func.Body.Results, &next))
}

// take makes the tensors of an argument known.
func (m *method) take(f *trace.Form, v *graph.Value, leaves []*graph.Value) {
	b := m.fn.Body
	switch f.Kind {
	case trace.Leaf:
		v.Info = leaves[f.Leaf].Info
		m.values[leaves[f.Leaf]] = v
	case trace.List, trace.Tuple:
		var types []*graph.Type
		for _, e := range f.Elems {
			types = append(types, e.Type())
		}
		for i, e := range b.Unpack(v, types...) {
			m.take(f.Elems[i], e, leaves)
		}
	case trace.Dict:
		for i, e := range f.Elems {
			if e.Kind != trace.None {
				m.take(e, b.Add(&graph.Node{Op: "aten::__getitem__.Dict_str", Operator: graph.Lookup(
					"aten::__getitem__.Dict_str"), In: []*graph.Value{v, b.Const(f.Names[i])}}, e.Type()).Out[0],
					leaves)
			}
		}
	}
}

// give makes the result.
func (m *method) give(f *trace.Form, leaves []*graph.Value, next *int) *graph.Value {
	b := m.fn.Body
	switch f.Kind {
	case trace.None:
		return b.Const(nil)
	case trace.Leaf:
		v := m.value(b, leaves[*next])
		*next++
		return v
	}
	var items []*graph.Value
	for _, e := range f.Elems {
		items = append(items, m.give(e, leaves, next))
	}
	switch f.Kind {
	case trace.List:
		return b.List(f.Type().Elems[0], items...)
	case trace.Dict:
		var pairs []*graph.Value
		for i, v := range items {
			pairs = append(pairs, b.Const(f.Names[i]), v)
		}
		return b.Dict(graph.Str, f.Type().Elems[1], pairs...)
	}
	return b.Tuple(items...)
}

// inner is the scope below the method's own that a scope lies in, nil when it is the method's own.
func (m *method) inner(s *graph.Scope) *graph.Scope {
	var found *graph.Scope
	for ; s != nil && !m.scopes[s]; s = s.Parent {
		if s.Path != m.path && under(s.Path, m.path) && m.l.objects[s.Path] != nil &&
			(s.Parent == nil || s.Parent.Path != s.Path) {
			found = s
		}
	}
	return found
}

// under reports that a module's path lies below another's.
func under(path, above string) bool {
	return above == "" || path == above || strings.HasPrefix(path, above+".")
}

// remade reports a node that is made anew where it is read: a constant, or an attribute.
func (l *maker) remade(n *graph.Node) bool {
	return n.Op == graph.Constant || len(n.Out) > 0 && l.attrs[n.Out[0]] != ""
}

// nodes appends the nodes of a block of the recording.
func (m *method) nodes(b *graph.Block, nodes []*graph.Node) {
	for i := 0; i < len(nodes); {
		n := nodes[i]
		if m.l.remade(n) {
			i++
			continue
		}
		s := m.inner(n.Scope)
		if s == nil {
			m.node(b, n)
			i++
			continue
		}
		end := i + 1
		last := end
		for ; end < len(nodes); end++ {
			if m.l.remade(nodes[end]) {
				continue
			}
			if !within(nodes[end].Scope, s) {
				break
			}
			last = end + 1
		}
		m.call(b, s, nodes[i:last])
		i = last
	}
}

func within(s, outer *graph.Scope) bool {
	for ; s != nil; s = s.Parent {
		if s == outer {
			return true
		}
	}
	return false
}

// call makes a method of the nodes of a scope, and calls it.
func (m *method) call(b *graph.Block, s *graph.Scope, nodes []*graph.Node) {
	in := map[*graph.Node]bool{}
	defined := map[*graph.Value]bool{}
	var outs []*graph.Value
	var collect func(l []*graph.Node)
	collect = func(l []*graph.Node) {
		for _, n := range l {
			in[n] = true
			for _, v := range n.Out {
				defined[v] = true
			}
			for _, c := range n.Blocks {
				for _, p := range c.Params {
					defined[p] = true
				}
				collect(c.Nodes)
			}
		}
	}
	collect(nodes)
	for _, n := range nodes {
		if m.l.remade(n) {
			continue
		}
		for _, v := range n.Out {
			if m.l.results[v] || slices.ContainsFunc(m.l.users[v], func(u *graph.Node) bool { return !in[u] }) {
				outs = append(outs, v)
			}
		}
	}
	var free []*graph.Value
	had := map[*graph.Value]bool{}
	need := func(v *graph.Value) {
		if defined[v] || had[v] {
			return
		}
		if v.Node != nil && v.Node.Op == graph.Constant {
			return
		}
		if p, ok := m.l.attrs[v]; ok && under(p, s.Path) {
			return
		}
		had[v] = true
		free = append(free, v)
	}
	var walk func(l []*graph.Node)
	walk = func(l []*graph.Node) {
		for _, n := range l {
			if m.l.remade(n) {
				continue
			}
			for _, v := range n.In {
				if p, ok := m.l.attrs[v]; ok && under(p, s.Path) {
					continue
				}
				need(v)
			}
			for _, c := range n.Blocks {
				walk(c.Nodes)
				for _, v := range c.Results {
					need(v)
				}
			}
		}
	}
	walk(nodes)

	k := m.l.method(s.Path)
	k.scopes[s] = true
	args := []*graph.Value{m.load(b, s.Path, "")}
	for i, v := range free {
		outer := m.value(b, v)
		name := identifier(outer.Name)
		if outer.Name == "" {
			name = fmt.Sprintf("argument_%d", i+1)
		}
		if k.fn.Schema.Index(name) >= 0 {
			name = fmt.Sprintf("argument_%d", i+1)
		}
		p := k.param(name, outer.Type)
		p.Info = v.Info
		k.values[v] = p
		args = append(args, outer)
	}
	k.nodes(k.fn.Body, nodes)
	var res []*graph.Value
	for _, v := range outs {
		res = append(res, k.value(k.fn.Body, v))
	}
	var result *graph.Value
	switch len(res) {
	case 0:
		result = k.fn.Body.Const(nil)
	case 1:
		result = res[0]
	default:
		result = k.fn.Body.Tuple(res...)
	}
	k.finish(result)
	name := k.fn.Name[strings.LastIndexByte(k.fn.Name, '.')+1:]
	n := b.Add(&graph.Node{Op: graph.CallMethod, In: args, Attr: name, Scope: s.Parent}, result.Type)
	switch len(outs) {
	case 0:
	case 1:
		m.bind(outs[0], n.Out[0])
	default:
		for i, v := range b.Unpack(n.Out[0], result.Type.Elems...) {
			m.bind(outs[i], v)
		}
	}
}

// bind says which value of the method is one of the recording.
func (m *method) bind(old, v *graph.Value) {
	v.Info, v.Name = old.Info, old.Name
	m.values[old] = v
}

// load is the submodule at a path below the method's module, or its attribute of a name.
func (m *method) load(b *graph.Block, path, attr string) *graph.Value {
	v := m.self
	at := m.path
	rest := strings.TrimPrefix(path, m.path)
	rest = strings.TrimPrefix(rest, ".")
	var names []string
	if rest != "" {
		names = strings.Split(rest, ".")
	}
	if attr != "" {
		names = append(names, attr)
	}
	// a name of a module may hold dots: that of a list in a field
	for i := 0; i < len(names); {
		c := v.Type.Class
		j := i + 1
		for j < len(names) && c.AttrIndex(strings.Join(names[i:j], ".")) < 0 {
			j++
		}
		name := strings.Join(names[i:j], ".")
		if at != "" {
			at += "."
		}
		at += name
		w := m.loads[at]
		if w == nil {
			home := m.fn.Body
			if m.l.script {
				home = b
			}
			n := &graph.Node{Op: graph.GetAttr, In: []*graph.Value{v}, Attr: name, Block: home}
			t := graph.Any
			if k := c.AttrIndex(name); k >= 0 {
				t = c.Attrs[k].Type
			}
			w = &graph.Value{Name: identifier(name), Type: t, Node: n}
			n.Out = []*graph.Value{w}
			m.hoist[home] = append(m.hoist[home], n)
			m.loads[at] = w
		}
		v = w
		i = j
	}
	return v
}

// value is a value of the recording in the method.
func (m *method) value(b *graph.Block, v *graph.Value) *graph.Value {
	if w := m.values[v]; w != nil {
		return w
	}
	if p, ok := m.l.attrs[v]; ok {
		w := m.attribute(b, p)
		w.Info = v.Info
		return w
	}
	if v.Node != nil && v.Node.Op == graph.Constant {
		c := *v.Node
		c.Block, c.Scope = b, v.Node.Scope
		w := &graph.Value{Name: v.Name, Type: v.Type, Node: &c, Info: v.Info}
		c.Out = []*graph.Value{w}
		b.Nodes = append(b.Nodes, &c)
		return w
	}
	tensor.Fail(tensor.ErrValue, "Trace: a value of %s is read where it is not known", m.path)
	return nil
}

// attribute loads a parameter or a buffer by its path.
func (m *method) attribute(b *graph.Block, path string) *graph.Value {
	module := ""
	for p, o := range m.l.objects { // the longest path of a module that has the rest as an attribute
		if rest, ok := strings.CutPrefix(path, p+"."); (ok || p == "") && len(p) >= len(module) {
			if p == "" {
				rest = path
			}
			if o.Class.AttrIndex(rest) >= 0 {
				module = p
			}
		}
	}
	name := strings.TrimPrefix(strings.TrimPrefix(path, module), ".")
	return m.load(b, module, name)
}

// node copies a node.
func (m *method) node(b *graph.Block, n *graph.Node) {
	c := *n
	c.Block, c.In, c.Out, c.Blocks = b, nil, nil, nil
	for _, v := range n.In {
		c.In = append(c.In, m.value(b, v))
	}
	for _, v := range n.Out {
		w := &graph.Value{Type: v.Type, Node: &c}
		m.bind(v, w)
		c.Out = append(c.Out, w)
	}
	for _, d := range n.Blocks {
		e := &graph.Block{Owner: &c, Func: m.fn}
		for _, p := range d.Params {
			m.bind(p, e.Param("", p.Type))
		}
		loads := m.loads
		if m.l.script { // what is loaded in a block is not known behind it
			m.loads = map[string]*graph.Value{}
			for k, v := range loads {
				m.loads[k] = v
			}
		}
		m.nodes(e, d.Nodes)
		for _, v := range d.Results {
			e.Results = append(e.Results, m.value(e, v))
		}
		m.loads = loads
		m.loadFirst(e)
		c.Blocks = append(c.Blocks, e)
	}
	if !m.l.script {
		general(b, &c)
	}
	if c.Operator != nil && strings.HasPrefix(c.Op, "gotorch::") {
		tensor.Fail(tensor.ErrNotImpl, "Trace: %s, which %s calls, is no operator of TorchScript", c.Op, n.Scope)
	}
	b.Nodes = append(b.Nodes, &c)
}

// general gives a convolution of a batch the form in which PyTorch's tracer sees it.
func general(b *graph.Block, n *graph.Node) {
	name, ok := strings.CutPrefix(n.Op, "aten::conv")
	if !ok {
		return
	}
	kind, overload, _ := strings.Cut(name, ".")
	kind, transposed := strings.CutPrefix(kind, "_transpose")
	dims := slices.Index([]string{"1d", "2d", "3d"}, kind) + 1
	if dims == 0 || n.In[0].Info != nil && len(n.In[0].Info.Shape) != dims+2 {
		return
	}
	in := slices.Clone(n.In)
	set := func(op string, args ...any) {
		tmp := graph.Block{Func: b.Func}
		c := tmp.Call(op, args...)
		for _, k := range tmp.Nodes[:len(tmp.Nodes)-1] {
			k.Block = b
			b.Nodes = append(b.Nodes, k)
		}
		n.Op, n.Operator, n.In = op, c.Operator, c.In
	}
	switch {
	case overload == "padding" && len(in) == 7:
		set("aten::_convolution_mode", in[0], in[1], in[2], in[3], in[4], in[5], in[6])
	case transposed && len(in) == 8:
		set("aten::_convolution", in[0], in[1], in[2], in[3], in[4], in[7], true, in[5], in[6], false, false, true,
			true)
	case !transposed && len(in) == 7:
		set("aten::_convolution", in[0], in[1], in[2], in[3], in[4], in[5], false, make([]int, dims), in[6], false,
			false,
			true, true)
	}
}

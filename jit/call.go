package jit

import (
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/python"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// arguments translates the arguments of a call.
func (t *translator) arguments(c *python.Call) (args []*graph.Value, kwargs map[string]*graph.Value) {
	for _, a := range c.Args {
		if s, ok := a.(*python.Star); ok {
			v := t.value(s.X, nil)
			if v.Type.Kind != graph.TupleType {
				t.fail("only tuples can be spread with *")
			}
			for i := range v.Type.Elems {
				args = append(args, t.b().Index(v, i))
			}
			continue
		}
		args = append(args, t.value(a, nil))
	}
	for _, k := range c.Kwargs {
		if k.Name == "" {
			t.fail("arguments with ** are not part of the language")
		}
		if kwargs == nil {
			kwargs = map[string]*graph.Value{}
		}
		kwargs[k.Name] = t.value(k.Value, nil)
	}
	return args, kwargs
}

func (t *translator) callExpr(c *python.Call, hint *graph.Type) symbol {
	if q := t.qualified(c.Func); q != "" {
		return t.callGlobal(q, c, hint)
	}
	if a, ok := c.Func.(*python.Attr); ok {
		if a.Name == "__new__" {
			if typ, ok := t.expr(a.X, nil).(typeSymbol); ok {
				return t.create(typ.t)
			}
		}
		recv := t.value(a.X, nil)
		if a.Name == "tolist" && recv.Type.Kind == graph.TensorType {
			return t.toList(recv, hint)
		}
		args, kwargs := t.arguments(c)
		return t.methodSymbol(recv, a.Name, args, kwargs)
	}
	f := t.expr(c.Func, nil)
	args, kwargs := t.arguments(c)
	switch f := f.(type) {
	case funcSymbol:
		return t.invoke(f.fn, args, kwargs)
	case boundMethod:
		return t.methodSymbol(f.self, f.name, args, kwargs)
	case typeSymbol:
		return t.construct(f.t, args, kwargs)
	case *graph.Value:
		if f.Type.Kind == graph.ClassType {
			name := "__call__"
			if f.Type.Class.Module {
				name = "forward"
			}
			return t.method(f, name, args, kwargs)
		}
		return t.b().Add(&graph.Node{Op: graph.CallFunction, In: append([]*graph.Value{f}, args...)}, graph.Any).Out[0]
	}
	t.fail("this cannot be called")
	return nil
}

// toList is x.tolist(), whose type the annotation around it gives.
func (t *translator) toList(x *graph.Value, hint *graph.Type) *graph.Value {
	if hint == nil {
		t.fail("tolist() wants a type around it: annotate(List[float], x.tolist())")
	}
	elem, dims := hint, 0
	for elem.Kind == graph.ListType {
		elem, dims = elem.Elems[0], dims+1
	}
	return t.fit(t.builtin1("gotorch::tolist", x, t.b().Const(dims), t.b().Const(elem.String())), hint)
}

// callGlobal calls what a qualified name stands for: a function of the language, an operator, or a function or class of
// the archive.
func (t *translator) callGlobal(q string, c *python.Call, hint *graph.Type) symbol {
	if f := special[q]; f != nil {
		return f(t, c, hint)
	}
	if strings.HasSuffix(q, ".__new__") {
		typ, err := t.u.typeNamed(strings.TrimSuffix(q, ".__new__"))
		t.check(err)
		if typ != nil {
			return t.create(typ)
		}
	}
	if s := t.global(q); s != nil && !strings.HasPrefix(q, "torch.") {
		args, kwargs := t.arguments(c)
		switch s := s.(type) {
		case funcSymbol:
			return t.invoke(s.fn, args, kwargs)
		case typeSymbol:
			return t.construct(s.t, args, kwargs)
		}
		t.fail("%s cannot be called", q)
	}
	name, ok := operatorName(q)
	if !ok {
		t.fail("%s is not defined", q)
	}
	args, kwargs := t.arguments(c)
	return t.builtin(name, args, kwargs)
}

// operatorName is the operator that a name of the language stands for: torch.add is aten::add, ops.prim.dtype is
// prim::dtype.
func operatorName(q string) (string, bool) {
	if name, ok := plainFunctions[q]; ok {
		return name, true
	}
	parts := strings.Split(q, ".")
	switch {
	case parts[0] == "ops" && len(parts) >= 3:
		return parts[1] + "::" + strings.Join(parts[2:], "."), true
	case parts[0] == "torch" && len(parts) == 4 && parts[1] == "ops":
		return parts[2] + "::" + parts[3], true
	case parts[0] == "torch" || parts[0] == "math":
		return "aten::" + parts[len(parts)-1], len(parts) > 1
	}
	return "", false
}

var plainFunctions = map[string]string{"int": "aten::Int", "float": "aten::Float", "bool": "aten::Bool",
	"complex": "aten::Complex", "str": "aten::str", "len": "aten::len", "min": "prim::min", "max": "prim::max",
	"abs": "prim::abs", "ord": "aten::ord", "chr": "aten::chr", "round": "aten::round", "sum": "aten::sum",
	"all": "aten::all", "any": "aten::any", "sorted": "aten::sorted", "list": "aten::list", "dict": "aten::dict",
	"print": "prim::Print", "divmod": "aten::divmod", "hex": "aten::hex", "oct": "aten::oct", "bin": "aten::bin",
	"pow": "aten::pow", "hash": "aten::hash", "warnings.warn": "aten::warn", "id": "prim::id",
	"torch.abs": "aten::abs", "torch.device": "aten::device"}

// special are the functions of the language whose arguments are not only values.
var special map[string]func(t *translator, c *python.Call, hint *graph.Type) symbol

func init() {
	special = map[string]func(*translator, *python.Call, *graph.Type) symbol{
		"annotate":       (*translator).annotate,
		"unchecked_cast": (*translator).uncheckedCast,
		"uninitialized":  (*translator).uninitialized,
		"uninitialized result": func(t *translator, _ *python.Call, _ *graph.Type) symbol {
			return t.b().Add(&graph.Node{Op: graph.Uninitialized}, t.fn.res).Out[0]
		},
		"unchecked_unwrap_optional": (*translator).unwrap,
		"isinstance":                (*translator).isInstance,
		"getattr":                   (*translator).getattrCall,
		"hasattr":                   (*translator).hasattr,
		"fork":                      (*translator).fork,
		"range":                     (*translator).rangeList,
		"tuple":                     (*translator).tupleCall,
		"ops.prim.RaiseException":   (*translator).raiseException,
		"ops.prim.unchecked_cast":   (*translator).uncheckedCast,
		"torch.wait":                (*translator).wait,
		"torch.autograd.grad": func(t *translator, c *python.Call,
			_ *graph.Type) symbol {
			return t.callOp("aten::grad", c)
		},
		"torch.autograd.backward": func(t *translator, c *python.Call, _ *graph.Type) symbol {
			return t.callOp("aten::backward", c)
		},
	}
}

func (t *translator) callOp(name string, c *python.Call) symbol {
	args, kwargs := t.arguments(c)
	return t.builtin(name, args, kwargs)
}

func (t *translator) wantArgs(c *python.Call, n int, name string) {
	if len(c.Args) < n {
		t.fail("%s wants %d arguments, got %d", name, n, len(c.Args))
	}
}

func (t *translator) typeArg(e python.Expr) *graph.Type {
	typ, err := t.u.typeOf(t.fn.file, e)
	t.check(err)
	return typ
}

func (t *translator) annotate(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 2, "annotate")
	typ := t.typeArg(c.Args[0])
	return t.fit(t.value(c.Args[1], typ), typ)
}

func (t *translator) uncheckedCast(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 2, "unchecked_cast")
	typ := t.typeArg(c.Args[0])
	return t.b().Add(&graph.Node{Op: graph.UncheckedCast, In: []*graph.Value{t.value(c.Args[1], typ)}}, typ).Out[0]
}

func (t *translator) uninitialized(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 1, "uninitialized")
	return t.b().Add(&graph.Node{Op: graph.Uninitialized}, t.typeArg(c.Args[0])).Out[0]
}

func (t *translator) unwrap(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 1, "unchecked_unwrap_optional")
	v := t.value(c.Args[0], nil)
	typ := v.Type
	if typ.Kind == graph.OptionalType {
		typ = typ.Elems[0]
	}
	return t.b().Add(&graph.Node{Op: graph.UncheckedCast, In: []*graph.Value{v}}, typ).Out[0]
}

func (t *translator) isInstance(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 2, "isinstance")
	n := &graph.Node{Op: graph.IsInstance, In: []*graph.Value{t.value(c.Args[0], nil)}}
	list := []python.Expr{c.Args[1]}
	if tu, ok := c.Args[1].(*python.Tuple); ok {
		list = tu.Items
	}
	for _, e := range list {
		n.Types = append(n.Types, t.typeArg(e))
	}
	return t.b().Add(n, graph.Bool).Out[0]
}

func (t *translator) getattrCall(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 2, "getattr")
	k, _ := c.Args[1].(*python.Const)
	if k == nil {
		t.fail("getattr wants the name as a string")
	}
	name, _ := k.Value.(string)
	return t.getAttr(t.value(c.Args[0], nil), name)
}

func (t *translator) hasattr(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 2, "hasattr")
	v := t.value(c.Args[0], nil)
	k, _ := c.Args[1].(*python.Const)
	has := false
	if k != nil && v.Type.Class != nil {
		name, _ := k.Value.(string)
		_, constant := v.Type.Class.Consts[name]
		has = constant || v.Type.Class.AttrIndex(name) >= 0 || v.Type.Class.Methods[name] != nil
	}
	return t.b().Const(has)
}

func (t *translator) rangeList(c *python.Call, _ *graph.Type) symbol {
	it := t.rangeOf(c.Args)
	out := t.b().List(graph.Int)
	n := &graph.Node{Op: graph.Loop, In: []*graph.Value{it.length, t.b().Const(true)}, Block: t.b()}
	b := n.NewBlock()
	i := b.Param("", graph.Int)
	t.inner(b, func() {
		t.builtin("aten::append", []*graph.Value{out, t.asValue(it.item(i))}, nil)
		b.Results = []*graph.Value{t.b().Const(true)}
	})
	t.b().Add(n)
	return out
}

func (t *translator) tupleCall(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 1, "tuple")
	return t.value(c.Args[0], nil)
}

func (t *translator) raiseException(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 1, "RaiseException")
	class := ""
	if len(c.Args) > 1 {
		if k, ok := c.Args[1].(*python.Const); ok {
			class, _ = k.Value.(string)
		}
	}
	t.b().Raise(class, t.value(c.Args[0], graph.Str))
	return t.b().Const(nil)
}

func (t *translator) wait(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 1, "wait")
	f := t.value(c.Args[0], nil)
	typ := graph.Any
	if f.Type.Kind == graph.FutureType {
		typ = f.Type.Elems[0]
	}
	return t.b().Add(&graph.Node{Op: graph.Wait, In: []*graph.Value{f}}, typ).Out[0]
}

// fork calls a function without parameters that is defined inside of this one. The variables that it reads become its
// parameters.
func (t *translator) fork(c *python.Call, _ *graph.Type) symbol {
	t.wantArgs(c, 1, "fork")
	n, ok := c.Args[0].(*python.Name)
	if !ok {
		t.fail("fork wants the name of a function")
	}
	switch f := t.sc.find(n.Name).(type) {
	case localDef:
		return t.forkLocal(f.def)
	case funcSymbol:
		var args []*graph.Value
		for _, a := range c.Args[1:] {
			args = append(args, t.value(a, nil))
		}
		in := t.bind(f.fn.Schema, args, nil, f.fn.Name)
		return t.b().Add(&graph.Node{Op: graph.Fork, Func: f.fn.Function, In: in}, graph.FutureOf(f.fn.res)).Out[0]
	}
	t.fail("fork wants a function")
	return nil
}

func (t *translator) forkLocal(d *python.Def) symbol {
	fn := &function{Function: graph.NewFunction(t.fn.Name + "." + d.Name), unit: t.u, file: t.fn.file, def: d,
		res: graph.Any, translated: true}
	fn.Schema = &graph.Schema{Name: fn.Name}
	inner := &translator{u: t.u, fn: fn, line: t.line, nest: t.nest}
	inner.sc = &scope{vars: map[string]symbol{}, types: map[string]*graph.Type{}, block: fn.Body}
	// every variable of a value may be read; those that are not are dropped below
	names := map[string]*graph.Value{}
	for s := t.sc; s != nil; s = s.parent {
		for name, v := range s.vars {
			if _, seen := inner.sc.vars[name]; seen {
				continue
			}
			if x, ok := v.(*graph.Value); ok {
				names[name] = x
				inner.sc.vars[name] = &graph.Value{Name: name, Type: x.Type, Block: fn.Body}
			} else {
				inner.sc.vars[name] = v
			}
		}
	}
	params := map[string]*graph.Value{}
	for name := range names {
		params[name] = inner.sc.vars[name].(*graph.Value)
	}
	inner.stmts(lowerExits(d.Body))
	if inner.ret == nil {
		inner.ret = inner.b().Const(nil)
	}
	fn.Body.Return(inner.ret)
	used := map[*graph.Value]bool{}
	uses(fn.Body, used)
	var in []*graph.Value
	for _, name := range sortedKeys(params) {
		if p := params[name]; used[p] {
			fn.Body.Params = append(fn.Body.Params, p)
			in = append(in, names[name])
		}
	}
	n := &graph.Node{Op: graph.Fork, Func: fn.Function, In: in}
	return t.b().Add(n, graph.FutureOf(inner.ret.Type)).Out[0]
}

func uses(b *graph.Block, out map[*graph.Value]bool) {
	for _, n := range b.Nodes {
		for _, v := range n.In {
			out[v] = true
		}
		for _, c := range n.Blocks {
			uses(c, out)
		}
	}
	for _, v := range b.Results {
		out[v] = true
	}
}

// create makes an object without attributes: Class.__new__(Class).
func (t *translator) create(typ *graph.Type) *graph.Value {
	if typ.Kind != graph.ClassType {
		return t.missing("class "+typ.Annotation(), nil)
	}
	return t.b().Add(&graph.Node{Op: graph.CreateObject, Class: typ.Class}, typ).Out[0]
}

// construct calls a class: a named tuple, an enumeration's member, or an object with its __init__.
func (t *translator) construct(typ *graph.Type, args []*graph.Value, kwargs map[string]*graph.Value) *graph.Value {
	switch typ.Kind {
	case graph.TupleType:
		s := &graph.Schema{Name: typ.Name}
		for i, f := range typ.Fields {
			s.Params = append(s.Params, graph.Param{Name: f, Type: typ.Elems[i], Default: t.u.defaults[typ.Name][i]})
		}
		in := t.bind(s, args, kwargs, typ.Name)
		return t.b().Add(&graph.Node{Op: graph.TupleConstruct, In: in}, typ).Out[0]
	case graph.ClassType:
		o := t.create(typ)
		if typ.Class.Methods["__init__"] != nil {
			t.method(o, "__init__", args, kwargs)
		}
		return o
	}
	return t.missing("class "+typ.Annotation(), args)
}

// invoke calls a function of the archive.
func (t *translator) invoke(fn *function, args []*graph.Value, kwargs map[string]*graph.Value) *graph.Value {
	in := t.bind(fn.Schema, args, kwargs, fn.Name)
	return t.b().Add(&graph.Node{Op: graph.CallFunction, Func: fn.Function, In: in}, fn.res).Out[0]
}

func (t *translator) method(self *graph.Value, name string, args []*graph.Value,
	kwargs map[string]*graph.Value) *graph.Value {
	return t.asValue(t.methodSymbol(self, name, args, kwargs))
}

// methodSymbol calls a method of an object, or an operator with its first argument in front.
func (t *translator) methodSymbol(self *graph.Value, name string, args []*graph.Value,
	kwargs map[string]*graph.Value) symbol {
	all := append([]*graph.Value{self}, args...)
	if c := self.Type.Class; c != nil && self.Type.Kind != graph.EnumType {
		var s *graph.Schema
		if m := c.Methods[name]; m != nil {
			s = m.Schema
		} else if s = c.Wants[name]; s == nil {
			if c.AttrIndex(name) >= 0 { // a submodule or a function that is called
				f := t.b().GetAttr(self, name)
				if f.Type.Kind == graph.ClassType || f.Type.Kind == graph.InterfaceType {
					return t.method(f, "forward", args, kwargs)
				}
			}
			t.fail("%s has no method %s", c.Name, name)
		}
		in := t.bind(s, all, kwargs, c.Name+"."+name)
		return t.b().Add(&graph.Node{Op: graph.CallMethod, Attr: name, In: in}, s.Results[0].Type).Out[0]
	}
	if self.Type.Kind == graph.OpaqueType {
		if op := registeredMethod(self.Type.Name, name); op != "" {
			return t.builtin(op, all, kwargs)
		}
		return t.missing(self.Type.Name+"."+name, all)
	}
	return t.builtin("aten::"+name, all, kwargs)
}

// bind puts arguments into the order of a schema, with the defaults of those that are missing.
func (t *translator) bind(s *graph.Schema, args []*graph.Value, kwargs map[string]*graph.Value,
	name string) []*graph.Value {
	in, why := t.match(s, args, kwargs, 2, nil)
	if why != "" {
		t.fail("%s(): %s", name, why)
	}
	return in
}

// missing stands for a call of something that does not exist here. Function.Verify reports it.
func (t *translator) missing(name string, args []*graph.Value) *graph.Value {
	return t.b().Add(&graph.Node{Op: name, In: args}, graph.Any).Out[0]
}

// builtin1 is the only result of an operator of the language itself.
func (t *translator) builtin1(name string, args ...*graph.Value) *graph.Value {
	return t.asValue(t.builtin(name, args, nil))
}

// builtin calls the first overload of an operator that takes the arguments: first as they are, then with the
// conversions that TorchScript makes by itself, then with whatever a value of unknown type may be.
// https://github.com/pytorch/pytorch/blob/main/torch/csrc/jit/frontend/schema_matching.cpp
func (t *translator) builtin(name string, args []*graph.Value, kwargs map[string]*graph.Value) symbol {
	switch name {
	case graph.SetGrad:
		t.b().Add(&graph.Node{Op: graph.SetGrad, In: args})
		return t.b().Const(nil)
	case graph.GradEnabled:
		return t.b().Add(&graph.Node{Op: graph.GradEnabled}, graph.Bool).Out[0]
	}
	name, args, kwargs = t.upgraded(name, args, kwargs)
	ops := graph.Overloads(name)
	for level := range 3 {
		for _, o := range ops {
			vars := map[string]*graph.Type{}
			mark := len(t.b().Nodes)
			in, reason := t.match(o.Schema, args, kwargs, level, vars)
			if reason != "" {
				t.b().Nodes = t.b().Nodes[:mark]
				continue
			}
			return t.emit(o, in, vars)
		}
	}
	if len(ops) > 0 {
		var types []string
		for _, a := range args {
			types = append(types, a.Type.String())
		}
		for _, k := range sortedKeys(kwargs) {
			types = append(types, k+"="+kwargs[k].Type.String())
		}
		name += "(" + strings.Join(types, ", ") + ")"
	}
	return t.missing(name, args)
}

func (t *translator) emit(o *graph.Operator, in []*graph.Value, vars map[string]*graph.Type) symbol {
	in = t.numberConstant(o, in)
	// trailing defaults need not stand in the graph
	n := &graph.Node{Op: o.FullName(), Operator: o, In: in}
	var types []*graph.Type
	for _, r := range o.Results {
		types = append(types, substitute(r.Type, vars))
	}
	t.b().Add(n, types...)
	switch len(n.Out) {
	case 0:
		return t.b().Const(nil)
	case 1:
		return n.Out[0]
	}
	return manySymbol{n.Out}
}

// numberConstant makes a number of the second operand of an addition, subtraction, multiplication or division where it
// is a tensor constant without dimensions, as PyTorch's executor does with programs that have code: it does not make a
// float64 tensor of one of integers.
func (t *translator) numberConstant(o *graph.Operator, in []*graph.Value) []*graph.Value {
	switch o.FullName() {
	case "aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor", "aten::div.Tensor":
	default:
		return in
	}
	n := in[1].Node
	if n == nil || n.Op != graph.Constant || n.Const.K != tensor.KTensor || n.Const.T.Dim() != 0 ||
		n.Const.T.DType().IsIntOrBool() {
		return in
	}
	number := tensor.TensorValue(n.Const.T.Detach().SetWrappedNumber().Keep())
	in = slices.Clone(in)
	in[1] = t.b().ConstOf(number, graph.TypeOf(number))
	return in
}

// substitute puts types in the place of type variables.
func substitute(t *graph.Type, vars map[string]*graph.Type) *graph.Type {
	if t.Kind == graph.VarType {
		if u := vars[t.Name]; u != nil {
			return u
		}
		return graph.Any
	}
	if len(t.Elems) == 0 || len(vars) == 0 {
		return t
	}
	u := *t
	u.Elems = make([]*graph.Type, len(t.Elems))
	for i, e := range t.Elems {
		u.Elems[i] = substitute(e, vars)
	}
	if t.Kind == graph.OptionalType {
		return graph.OptionalOf(u.Elems[0])
	}
	return &u
}

// match fits arguments to a schema. Arguments behind the last one given are left out where they have defaults.
func (t *translator) match(s *graph.Schema, args []*graph.Value, kwargs map[string]*graph.Value, level int,
	vars map[string]*graph.Type) (in []*graph.Value, why string) {
	used, last := 0, -1
	in = make([]*graph.Value, len(s.Params))
	pos := 0
	for i := range s.Params {
		p := &s.Params[i]
		var v *graph.Value
		switch {
		case !p.KwOnly && pos < len(args):
			v = args[pos]
			// a list that is given as separate values: permute(x, 0, 1), where no overload takes them as they are
			if level > 0 && p.Type.Kind == graph.ListType && p.Fixed == 0 && i == lastPositional(s) &&
				len(args) > i+1 &&
				spreadFits(p.Type.Elems[0], args[pos:]) && !s.VarArgs {
				v = t.b().List(p.Type.Elems[0], args[pos:]...)
				pos = len(args)
			} else {
				pos++
			}
		case kwargs[p.Name] != nil:
			v = kwargs[p.Name]
			used++
		case p.Default != nil:
			continue
		default:
			return nil, "missing argument '" + p.Name + "'"
		}
		w := t.accept(v, p, level, vars)
		if w == nil {
			return nil, "argument '" + p.Name + "' must be " + p.Type.String() + ", not " + v.Type.String()
		}
		in[i], last = w, i
	}
	if pos < len(args) {
		if !s.VarArgs {
			return nil, "too many arguments"
		}
		in, last = append(in, args[pos:]...), len(in)+len(args)-pos-1
	}
	if used < len(kwargs) {
		return nil, "unknown keyword argument"
	}
	if vars == nil { // a function of the archive: all its parameters are there
		last = len(in) - 1
	}
	for i := range in[:last+1] {
		if in[i] == nil {
			p := &s.Params[i]
			in[i] = t.b().ConstOf(*p.Default, p.Type)
		}
	}
	return in[:last+1], ""
}

// spreadFits reports that values may stand for a list of such elements.
func spreadFits(elem *graph.Type, l []*graph.Value) bool {
	return !slices.ContainsFunc(l, func(v *graph.Value) bool { return hasVars(elem) || !v.Type.Fits(elem) })
}

func lastPositional(s *graph.Schema) int {
	last := -1
	for i := range s.Params {
		if !s.Params[i].KwOnly {
			last = i
		}
	}
	return last
}

// accept fits one argument to a parameter; nil when it does not fit.
func (t *translator) accept(v *graph.Value, p *graph.Param, level int, vars map[string]*graph.Type) *graph.Value {
	want := p.Type
	if vars == nil && !hasVars(want) {
		return t.convert(v, want, level)
	}
	if p.Fixed > 0 { // a number counts as a list of this length
		e := want
		if e.Kind == graph.OptionalType {
			e = e.Elems[0]
		}
		if e.Kind == graph.ListType && matches(e.Elems[0], v.Type, vars) && v.Type.Kind != graph.ListType {
			items := slices.Repeat([]*graph.Value{v}, p.Fixed)
			return t.b().List(e.Elems[0], items...)
		}
	}
	if matches(want, v.Type, vars) {
		return v
	}
	if hasVars(want) {
		if level == 2 && v.Type.Kind == graph.AnyType {
			return v
		}
		return nil
	}
	return t.convert(v, want, level)
}

func hasVars(t *graph.Type) bool {
	return t.Kind == graph.VarType || slices.ContainsFunc(t.Elems, hasVars)
}

// matches compares the type of an argument with one of a schema, and binds type variables.
func matches(want, got *graph.Type, vars map[string]*graph.Type) bool {
	switch want.Kind {
	case graph.VarType:
		b := vars[want.Name]
		if b == nil {
			vars[want.Name] = got
			return true
		}
		if got.Fits(b) {
			return true
		}
		if b.Fits(got) || got.Kind == graph.NoneType {
			vars[want.Name] = graph.Unify(b, got)
			return true
		}
		return false
	case graph.ListType, graph.DictType, graph.FutureType, graph.TupleType:
		if got.Kind != want.Kind || len(got.Elems) != len(want.Elems) || !hasVars(want) {
			return got.Fits(want)
		}
		for i := range want.Elems {
			if !matches(want.Elems[i], got.Elems[i], vars) {
				return false
			}
		}
		return true
	case graph.OptionalType:
		if got.Kind == graph.NoneType {
			return true
		}
		if got.Kind == graph.OptionalType {
			return matches(want.Elems[0], got.Elems[0], vars)
		}
		return matches(want.Elems[0], got, vars)
	}
	return got.Fits(want)
}

// convert gives a value a type, as far as the level allows: 0 nothing but what fits, 1 what TorchScript converts by
// itself, 2 also values of unknown type. It returns nil where that is impossible.
func (t *translator) convert(v *graph.Value, want *graph.Type, level int) *graph.Value {
	if v.Type.Fits(want) {
		return v
	}
	inner := want
	if inner.Kind == graph.OptionalType {
		inner = inner.Elems[0]
	}
	if v.Type.Kind == graph.TupleType && inner.Kind == graph.ListType { // a tuple of equal types is a list
		var items []*graph.Value
		for i, e := range v.Type.Elems {
			if !e.Fits(inner.Elems[0]) {
				return nil
			}
			items = append(items, t.b().Index(v, i))
		}
		return t.b().List(inner.Elems[0], items...)
	}
	if level >= 1 {
		if v.Type.Kind == graph.TensorType {
			switch inner.Kind {
			case graph.IntType:
				return t.b().Call1("aten::IntImplicit", v)
			case graph.FloatType:
				return t.b().Call1("aten::FloatImplicit", v)
			case graph.NumberType, graph.ComplexType:
				return t.b().Call1("aten::ScalarImplicit", v)
			}
		}
		if v.Type.Kind == graph.StrType && inner.Kind == graph.DeviceType {
			return t.b().Call1("aten::device", v)
		}
		if v.Type.Kind == graph.ListType && inner.Kind == graph.ListType && emptyList(v) {
			return t.b().List(inner.Elems[0])
		}
	}
	if level >= 2 {
		cast := func() *graph.Value {
			return t.b().Add(&graph.Node{Op: graph.UncheckedCast, In: []*graph.Value{v}}, want).Out[0]
		}
		switch {
		case v.Type.Kind == graph.AnyType, v.Type.Kind == graph.OpaqueType && inner.Kind == graph.OpaqueType:
			return cast()
		case v.Type.Kind == graph.IntType && inner.Kind == graph.FloatType:
			return t.b().Call1("aten::Float.Scalar", v)
		case v.Type.Kind == graph.IntType && inner.Kind == graph.ComplexType,
			v.Type.Kind == graph.FloatType && inner.Kind == graph.ComplexType:
			return t.b().Call1("aten::Complex.Scalar", v)
		case v.Type.Kind == graph.OptionalType && v.Type.Elems[0].Fits(want):
			return cast()
		case v.Type.Kind == graph.UnionType:
			for _, e := range v.Type.Elems {
				if e.Fits(want) {
					return cast()
				}
			}
		case v.Type.Kind == graph.NumberType && isNumber(inner):
			return cast()
		case isNumber(v.Type) && inner.Kind == graph.TensorType:
			return t.b().Call1("prim::NumToTensor.Scalar", v)
		case v.Type.Kind == inner.Kind && len(v.Type.Elems) == len(inner.Elems) && slices.ContainsFunc(v.Type.Elems,
			func(e *graph.Type) bool { return e.Kind == graph.AnyType }):
			return cast()
		}
	}
	return nil
}

func emptyList(v *graph.Value) bool {
	return v.Node != nil && v.Node.Op == graph.ListConstruct && len(v.Node.In) == 0
}

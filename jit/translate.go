package jit

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/python"

	"github.com/gotorch-dev/torch/graph"
)

// This file translates statements of the serialized language into graphs. Variables become values: a branch returns
// what it has assigned, a loop carries it from one iteration to the next.

// symbol is what a name stands for: a *graph.Value, or something that exists only while code is translated.
type symbol any

type (
	funcSymbol  struct{ fn *function }
	typeSymbol  struct{ t *graph.Type }
	localDef    struct{ def *python.Def }     // a function inside a function, for fork
	manySymbol  struct{ vals []*graph.Value } // the results of one call
	boundMethod struct {
		self *graph.Value
		name string
	}
)

// scope holds the variables of a block.
type scope struct {
	parent *scope
	vars   map[string]symbol
	types  map[string]*graph.Type // that annotations give to variables
	block  *graph.Block
	dead   bool // the block ends with an exception
}

func (s *scope) find(name string) symbol {
	for ; s != nil; s = s.parent {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	return nil
}

func (s *scope) typeOf(name string) *graph.Type {
	for ; s != nil; s = s.parent {
		if t, ok := s.types[name]; ok {
			return t
		}
	}
	return nil
}

type translator struct {
	u    *unit
	fn   *function
	sc   *scope
	line int
	ret  *graph.Value
	nest int
}

// translate fills the body of a function.
func (f *function) translate() (err error) {
	if f.translated {
		return f.err
	}
	f.translated = true
	t := &translator{u: f.unit, fn: f}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok {
				panic(r)
			}
			if _, ok := r.(interface{ RuntimeError() }); ok {
				panic(r)
			}
			f.err = e
			err = e
		}
	}()
	t.sc = &scope{vars: map[string]symbol{}, types: map[string]*graph.Type{}, block: f.Body}
	for _, p := range f.Schema.Params {
		t.sc.vars[p.Name] = f.Body.Param(p.Name, p.Type)
	}
	t.stmts(lowerExits(f.def.Body))
	if t.ret == nil {
		t.ret = t.b().Const(nil)
	}
	f.Body.Return(t.ret)
	return nil
}

func (t *translator) b() *graph.Block { return t.sc.block }

func (t *translator) fail(format string, args ...any) {
	panic(&SyntaxError{File: t.fn.file.name, Line: t.line, Msg: fmt.Sprintf(format, args...)})
}

func (t *translator) check(err error) {
	if err != nil {
		if _, ok := err.(*SyntaxError); ok {
			panic(err)
		}
		panic(&SyntaxError{File: t.fn.file.name, Line: t.line, Msg: err.Error()})
	}
}

// at notes the line of what is translated.
func (t *translator) at(x interface{ At() int }) {
	if n := x.At(); n > 0 {
		t.line = n
	}
	t.b().At(graph.Pos{File: t.fn.file.name, Line: t.line})
}

func (t *translator) stmts(l []python.Stmt) {
	for _, s := range l {
		if t.ret != nil || t.sc.dead {
			return
		}
		t.stmt(s)
	}
}

func (t *translator) stmt(s python.Stmt) {
	t.at(s)
	switch s := s.(type) {
	case *python.Pass, *python.Import, *python.Scope:
	case *python.ExprStmt:
		t.exprStmt(s.X)
	case *python.Assign:
		t.assign(s)
	case *python.If:
		t.ifStmt(s)
	case *python.While:
		t.while(s)
	case *python.For:
		t.forStmt(s)
	case *forUntil:
		t.forUntil(s)
	case *python.With:
		t.with(s)
	case *python.Return:
		if s.X == nil {
			t.ret = t.b().Const(nil)
		} else {
			t.ret = t.fit(t.value(s.X, t.fn.res), t.fn.res)
		}
	case *python.Raise:
		t.raise(s.X)
	case *python.Assert:
		t.assert(s)
	case *python.Del:
		for _, x := range s.Targets {
			ix, ok := x.(*python.Index)
			if !ok || len(ix.Subs) != 1 {
				continue
			}
			t.builtin("aten::Delete", []*graph.Value{t.value(ix.X, nil), t.value(ix.Subs[0], nil)}, nil)
		}
	case *python.Def:
		t.sc.vars[s.Name] = localDef{s}
	case *python.Jump:
		t.fail("%s outside of a loop", s.Kind)
	default:
		t.fail("this statement is not part of the language")
	}
}

func (t *translator) exprStmt(x python.Expr) {
	if c, ok := x.(*python.Const); ok && c.Value != nil { // a docstring
		return
	}
	t.expr(x, nil)
	if c, ok := x.(*python.Call); ok && dotted(c.Func) == "ops.prim.RaiseException" {
		t.sc.dead = true
	}
}

// fit gives a value another static type where the program says so.
func (t *translator) fit(v *graph.Value, want *graph.Type) *graph.Value {
	if want == nil || v.Type.Equal(want) || want.Kind == graph.AnyType && v.Type.Kind != graph.AnyType {
		return v
	}
	if w := t.convert(v, want, 1); w != nil {
		v = w
	}
	if v.Type.Equal(want) {
		return v
	}
	return t.b().Add(&graph.Node{Op: graph.UncheckedCast, In: []*graph.Value{v}}, want).Out[0]
}

func (t *translator) assign(s *python.Assign) {
	if s.Op != "" {
		t.augmented(s)
		return
	}
	var typ *graph.Type
	if s.Type != nil {
		var err error
		typ, err = t.u.typeOf(t.fn.file, s.Type)
		t.check(err)
		if n, ok := s.Targets[0].(*python.Name); ok {
			t.sc.types[n.Name] = typ
		}
	}
	if s.Value == nil {
		return
	}
	hint := typ
	if hint == nil && len(s.Targets) == 1 {
		hint = t.targetType(s.Targets[0])
	}
	// (a, b) = (b, a) needs no tuple
	if to, ok := s.Targets[0].(*python.Tuple); ok && len(s.Targets) == 1 {
		if from, ok := s.Value.(*python.Tuple); ok && len(from.Items) == len(to.Items) && !starred(to.Items) {
			var vals []symbol
			for _, x := range from.Items {
				vals = append(vals, t.expr(x, nil))
			}
			for i, x := range to.Items {
				t.store(x, vals[i])
			}
			return
		}
	}
	v := t.expr(s.Value, hint)
	if x, ok := v.(*graph.Value); ok && typ != nil {
		v = t.fit(x, typ)
	}
	for _, x := range s.Targets {
		t.store(x, v)
	}
}

func starred(l []python.Expr) bool {
	for _, x := range l {
		if _, ok := x.(*python.Star); ok {
			return true
		}
	}
	return false
}

// targetType is the type that an assignment wants.
func (t *translator) targetType(x python.Expr) *graph.Type {
	switch x := x.(type) {
	case *python.Name:
		return t.sc.typeOf(x.Name)
	case *python.Attr:
		if n, ok := x.X.(*python.Name); ok {
			if v, ok := t.sc.find(n.Name).(*graph.Value); ok && v.Type.Class != nil {
				if i := v.Type.Class.AttrIndex(x.Name); i >= 0 {
					return v.Type.Class.Attrs[i].Type
				}
			}
		}
	}
	return nil
}

// store assigns to a target.
func (t *translator) store(target python.Expr, v symbol) {
	switch x := target.(type) {
	case *python.Name:
		if val, ok := v.(*graph.Value); ok {
			if typ := t.sc.typeOf(x.Name); typ != nil {
				v = t.fit(val, typ)
			}
			if w := v.(*graph.Value); w.Name == "" {
				w.Name = x.Name
			}
		}
		if m, ok := v.(manySymbol); ok {
			v = t.b().Tuple(m.vals...)
		}
		t.sc.vars[x.Name] = v
	case *python.Attr:
		self := t.value(x.X, nil)
		val := t.asValue(v)
		c := self.Type.Class
		if c == nil {
			t.fail("a value of type %s has no attributes that can be set", self.Type)
		}
		i := c.AttrIndex(x.Name)
		if i < 0 {
			t.fail("%s has no attribute %s", c.Name, x.Name)
		}
		t.b().SetAttr(self, x.Name, t.fit(val, c.Attrs[i].Type))
	case *python.Index:
		t.storeIndex(x, t.asValue(v))
	case *python.Tuple:
		t.unpack(x.Items, v)
	case *python.List:
		t.unpack(x.Items, v)
	default:
		t.fail("one cannot assign to this")
	}
}

// unpack assigns the fields of a tuple or the elements of a list.
func (t *translator) unpack(targets []python.Expr, v symbol) {
	if m, ok := v.(manySymbol); ok {
		if len(m.vals) != len(targets) {
			t.fail("%d values for %d names", len(m.vals), len(targets))
		}
		for i, x := range targets {
			t.store(x, m.vals[i])
		}
		return
	}
	val := t.asValue(v)
	var types []*graph.Type
	switch val.Type.Kind {
	case graph.TupleType:
		if n := len(val.Type.Elems); n != len(targets) {
			t.fail("%d values for %d names", n, len(targets))
		}
		types = val.Type.Elems
	case graph.ListType:
		for range targets {
			types = append(types, val.Type.Elems[0])
		}
	case graph.TensorType:
		val = t.builtin1("aten::unbind", val)
		for range targets {
			types = append(types, graph.Tensor)
		}
	default:
		for range targets {
			types = append(types, graph.Any)
		}
	}
	out := t.b().Unpack(val, types...)
	for i, x := range targets {
		t.store(x, out[i])
	}
}

var augmentedNames = map[string]string{"+": "add", "-": "sub", "*": "mul", "/": "div"}

func (t *translator) augmented(s *python.Assign) {
	target := s.Targets[0]
	old := t.value(target, nil)
	v := t.value(s.Value, old.Type)
	if k := old.Type.Kind; k == graph.TensorType || k == graph.ListType { // in place
		if name := augmentedNames[s.Op]; name != "" {
			w := t.builtin1("aten::"+name+"_", old, v)
			if _, ok := target.(*python.Name); ok {
				t.store(target, w)
			}
			return
		}
	}
	t.store(target, t.binary(s.Op, old, v))
}

// inner runs f in a scope of its own, whose nodes go to block b.
func (t *translator) inner(b *graph.Block, f func()) *scope {
	if t.nest++; t.nest > python.MaxIndent {
		t.fail("blocks are nested more than %d deep", python.MaxIndent)
	}
	s := &scope{parent: t.sc, vars: map[string]symbol{}, types: map[string]*graph.Type{}, block: b}
	t.sc = s
	b.At(graph.Pos{File: t.fn.file.name, Line: t.line})
	f()
	t.sc = s.parent
	t.nest--
	return s
}

func (t *translator) ifStmt(s *python.If) {
	cond := t.condition(s.Cond)
	t.branch(cond, func() { t.stmts(s.Then) }, func() { t.stmts(s.Else) })
}

// branch translates an if, and merges what its two sides have assigned.
func (t *translator) branch(cond *graph.Value, then, other func()) {
	n := &graph.Node{Op: graph.If, In: []*graph.Value{cond}, Block: t.b()}
	a := t.inner(n.NewBlock(), then)
	b := t.inner(n.NewBlock(), other)
	var names []string
	for _, s := range []*scope{a, b} {
		for _, name := range sortedKeys(s.vars) {
			if !contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var types []*graph.Type
	var kept []string
	for _, name := range names {
		x, y := a.find(name), b.find(name)
		xv, xok := x.(*graph.Value)
		yv, yok := y.(*graph.Value)
		switch {
		case x == nil && a.dead && yok:
			xv = a.block.Add(&graph.Node{Op: graph.Uninitialized}, yv.Type).Out[0]
		case y == nil && b.dead && xok:
			yv = b.block.Add(&graph.Node{Op: graph.Uninitialized}, xv.Type).Out[0]
		case !xok && !yok && x != nil && x == y:
			t.sc.vars[name] = x
			continue
		case !xok || !yok:
			continue
		}
		typ := t.sc.typeOf(name)
		for _, s := range []*scope{a, b} {
			if d := s.types[name]; d != nil && typ == nil {
				typ = d
			}
		}
		if typ == nil {
			switch {
			case a.dead:
				typ = yv.Type
			case b.dead:
				typ = xv.Type
			default:
				typ = graph.Unify(xv.Type, yv.Type)
			}
		} else {
			t.sc.types[name] = typ
		}
		a.block.Results = append(a.block.Results, xv)
		b.block.Results = append(b.block.Results, yv)
		types, kept = append(types, typ), append(kept, name)
	}
	t.b().Add(n, types...)
	for i, name := range kept {
		t.sc.vars[name] = n.Out[i]
		n.Out[i].Name = name
	}
	t.sc.dead = a.dead && b.dead
}

// carried are the variables that a loop changes, with their values before it.
func (t *translator) carried(body []python.Stmt) (names []string, vals []*graph.Value) {
	set := map[string]bool{}
	assigned(body, set)
	for _, name := range sortedKeys(set) {
		if v, ok := t.sc.find(name).(*graph.Value); ok {
			if typ := t.sc.typeOf(name); typ != nil {
				v = t.fit(v, typ)
			}
			names, vals = append(names, name), append(vals, v)
		}
	}
	return names, vals
}

// loop translates a loop. head, if given, runs at the start of the body and gets the number of the iteration; next
// gives the condition at the end of the body.
func (t *translator) loop(most, cond *graph.Value, body []python.Stmt, head func(i *graph.Value),
	next func() *graph.Value) {
	names, vals := t.carried(body)
	if most == nil {
		most = t.b().Const(int(^uint(0) >> 1))
	}
	if cond == nil {
		cond = t.b().Const(true)
	}
	n := &graph.Node{Op: graph.Loop, In: append([]*graph.Value{most, cond}, vals...), Block: t.b()}
	c := n.NewBlock()
	i := c.Param("", graph.Int)
	var types []*graph.Type
	s := t.inner(c, func() {
		for k, name := range names {
			t.sc.vars[name] = c.Param(name, vals[k].Type)
			types = append(types, vals[k].Type)
		}
		if head != nil {
			head(i)
		}
		t.stmts(body)
		var again *graph.Value
		if next != nil && !t.sc.dead {
			again = next()
		} else {
			again = t.b().Const(true)
		}
		c.Results = append(c.Results, again)
	})
	for k, name := range names {
		v, ok := s.vars[name].(*graph.Value)
		if !ok {
			t.fail("%s stands for different things in a loop", name)
		}
		t.sc = s
		c.Results = append(c.Results, t.fit(v, widen(&types[k], v.Type)))
		t.sc = s.parent
	}
	t.b().Add(n, types...)
	for k, name := range names {
		t.sc.vars[name] = n.Out[k]
		n.Out[k].Name = name
	}
}

// widen makes the type of a carried variable one that has the value of the next iteration, too.
func widen(t **graph.Type, u *graph.Type) *graph.Type {
	if !u.Fits(*t) {
		if w := graph.Unify(*t, u); w.Kind != graph.AnyType {
			*t = w
		}
	}
	return *t
}

func (t *translator) while(s *python.While) {
	t.loop(nil, t.condition(s.Cond), s.Body, nil, func() *graph.Value { return t.condition(s.Cond) })
}

func (t *translator) forStmt(s *python.For) {
	it := t.iterable(s.Iter)
	if it.unrolled != nil {
		for _, x := range it.unrolled {
			t.store(s.Target, x)
			t.stmts(s.Body)
		}
		return
	}
	t.loop(it.length, nil, append([]python.Stmt{&python.Assign{Targets: []python.Expr{s.Target}}}, s.Body...),
		func(i *graph.Value) {
			t.store(s.Target, it.item(i))
		}, nil)
}

// forUntil is a for with break, continue or return inside: lowerExits has named the variable that ends it.
func (t *translator) forUntil(s *forUntil) {
	it := t.iterable(s.Iter)
	more := func() *graph.Value { return t.builtin1("aten::__not__", t.value(&python.Name{Name: s.until}, nil)) }
	if it.unrolled != nil {
		for _, x := range it.unrolled {
			t.branch(more(), func() {
				t.store(s.Target, x)
				t.stmts(s.Body)
			}, func() {})
		}
		return
	}
	t.loop(it.length, more(), append([]python.Stmt{&python.Assign{Targets: []python.Expr{s.Target}}}, s.Body...),
		func(i *graph.Value) {
			t.store(s.Target, it.item(i))
		}, more)
}

// iteration is what a for runs over.
type iteration struct {
	length   *graph.Value
	item     func(i *graph.Value) symbol
	unrolled []symbol // instead: known values
}

func (t *translator) iterable(e python.Expr) iteration {
	if c, ok := e.(*python.Call); ok {
		if n, ok := c.Func.(*python.Name); ok && t.sc.find(n.Name) == nil && len(c.Kwargs) == 0 {
			switch n.Name {
			case "range":
				return t.rangeOf(c.Args)
			case "enumerate":
				start := t.b().Const(0)
				if len(c.Args) == 2 {
					start = t.value(c.Args[1], nil)
				}
				return t.enumerated(t.iterable(c.Args[0]), start)
			case "zip":
				return t.zipped(c.Args)
			}
		}
	}
	return t.over(t.value(e, nil))
}

func (t *translator) rangeOf(args []python.Expr) iteration {
	var v []*graph.Value
	for _, a := range args {
		v = append(v, t.fit(t.value(a, nil), graph.Int))
	}
	switch len(v) {
	case 1:
		return iteration{length: v[0], item: func(i *graph.Value) symbol { return i }}
	case 2:
		v = append(v, t.b().Const(1))
	case 3:
	default:
		t.fail("range wants one to three arguments, got %d", len(v))
	}
	return iteration{length: t.builtin1("aten::__range_length", v...), item: func(i *graph.Value) symbol {
		return t.builtin1("aten::__derive_index", i, v[0], v[2])
	}}
}

func (t *translator) enumerated(it iteration, start *graph.Value) iteration {
	pair := func(i *graph.Value, x symbol) symbol {
		return manySymbol{[]*graph.Value{t.builtin1("aten::add", i, start), t.asValue(x)}}
	}
	if it.unrolled != nil {
		for k, x := range it.unrolled {
			it.unrolled[k] = pair(t.b().Const(k), x)
		}
		return it
	}
	item := it.item
	it.item = func(i *graph.Value) symbol { return pair(i, item(i)) }
	return it
}

func (t *translator) zipped(args []python.Expr) iteration {
	var its []iteration
	for _, a := range args {
		its = append(its, t.iterable(a))
	}
	if len(its) == 0 {
		t.fail("zip wants arguments")
	}
	var out iteration
	for _, it := range its {
		if it.unrolled != nil {
			t.fail("zip of tuples is not supported")
		}
		if out.length == nil {
			out.length = it.length
		} else {
			out.length = t.builtin1("prim::min", out.length, it.length)
		}
	}
	out.item = func(i *graph.Value) symbol {
		var vals []*graph.Value
		for _, it := range its {
			vals = append(vals, t.asValue(it.item(i)))
		}
		return manySymbol{vals}
	}
	return out
}

// over iterates over a value.
func (t *translator) over(v *graph.Value) iteration {
	switch v.Type.Kind {
	case graph.TupleType:
		it := iteration{unrolled: []symbol{}}
		for i := range v.Type.Elems {
			it.unrolled = append(it.unrolled, t.b().Index(v, i))
		}
		return it
	case graph.DictType:
		v = t.builtin1("aten::keys", v)
	case graph.TensorType:
		v = t.builtin1("aten::unbind", v)
	case graph.StrType:
		v = t.builtin1("aten::list", v)
	case graph.ListType, graph.AnyType:
	default:
		t.fail("a value of type %s cannot be iterated over", v.Type)
	}
	return iteration{length: t.builtin1("aten::len", v), item: func(i *graph.Value) symbol {
		return t.builtin1("aten::__getitem__", v, i)
	}}
}

func (t *translator) with(s *python.With) {
	var ctx []*graph.Value
	for i, x := range s.Items {
		v := t.value(x, nil)
		entered := t.method(v, "__enter__", nil, nil)
		if s.Names[i] != nil {
			t.store(s.Names[i], entered)
		}
		ctx = append(ctx, v)
	}
	ret := t.ret
	t.stmts(s.Body)
	if t.sc.dead {
		return
	}
	result := t.ret
	t.ret = ret
	for i := len(ctx) - 1; i >= 0; i-- {
		none := t.b().Const(nil)
		t.method(ctx[i], "__exit__", []*graph.Value{none, none, none}, nil)
	}
	t.ret = result
}

// raise ends the program with an exception: raise ValueError("text").
func (t *translator) raise(x python.Expr) {
	class, text := "", t.b().Const("")
	switch x := x.(type) {
	case *python.Call:
		class = dotted(x.Func)
		if len(x.Args) > 0 {
			text = t.value(x.Args[0], graph.Str)
			if text.Type.Kind != graph.StrType {
				text = t.builtin1("aten::str", text)
			}
		}
	case *python.Name:
		class = x.Name
	case nil:
	default:
		text = t.value(x, nil)
	}
	if class != "" && class == lastPart(class) {
		class = "builtins." + class
	}
	t.b().Raise(class, text)
	t.sc.dead = true
}

func (t *translator) assert(s *python.Assert) {
	t.branch(t.condition(s.Cond), func() {}, func() {
		msg := t.b().Const("AssertionError: ")
		if s.Msg != nil {
			msg = t.builtin1("aten::add", msg, t.builtin1("aten::str", t.value(s.Msg, graph.Str)))
		}
		t.b().Raise("builtins.AssertionError", msg)
		t.sc.dead = true
	})
}

package jit

import (
	"fmt"

	"github.com/gotorch-dev/torch/graph"
)

// This file translates statements of the serialized language into graphs. Variables become values: a branch returns
// what it has assigned, a loop carries it from one iteration to the next.

// symbol is what a name stands for: a *graph.Value, or something that exists only while code is translated.
type symbol any

type (
	funcSymbol  struct{ fn *function }
	typeSymbol  struct{ t *graph.Type }
	localDef    struct{ def *defStmt }        // a function inside a function, for fork
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
	t.stmts(lowerExits(f.def.body))
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
func (t *translator) at(x interface{ at() int }) {
	if n := x.at(); n > 0 {
		t.line = n
	}
	t.b().At(graph.Pos{File: t.fn.file.name, Line: t.line})
}

func (t *translator) stmts(l []stmt) {
	for _, s := range l {
		if t.ret != nil || t.sc.dead {
			return
		}
		t.stmt(s)
	}
}

func (t *translator) stmt(s stmt) {
	t.at(s)
	switch s := s.(type) {
	case *passStmt, *importStmt:
	case *exprStmt:
		t.exprStmt(s.x)
	case *assignStmt:
		t.assign(s)
	case *ifStmt:
		t.ifStmt(s)
	case *whileStmt:
		t.while(s)
	case *forStmt:
		t.forStmt(s)
	case *withStmt:
		t.with(s)
	case *returnStmt:
		if s.x == nil {
			t.ret = t.b().Const(nil)
		} else {
			t.ret = t.fit(t.value(s.x, t.fn.res), t.fn.res)
		}
	case *raiseStmt:
		t.raise(s.x)
	case *assertStmt:
		t.assert(s)
	case *delStmt:
		for _, x := range s.targets {
			ix, ok := x.(*indexExpr)
			if !ok || len(ix.subs) != 1 {
				continue
			}
			t.builtin("aten::Delete", []*graph.Value{t.value(ix.x, nil), t.value(ix.subs[0], nil)}, nil)
		}
	case *defStmt:
		t.sc.vars[s.name] = localDef{s}
	case *jumpStmt:
		t.fail("%s outside of a loop", s.kind)
	default:
		t.fail("this statement is not part of the language")
	}
}

func (t *translator) exprStmt(x expr) {
	if c, ok := x.(*constExpr); ok && c.v != nil { // a docstring
		return
	}
	t.expr(x, nil)
	if c, ok := x.(*callExpr); ok && dotted(c.f) == "ops.prim.RaiseException" {
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

func (t *translator) assign(s *assignStmt) {
	if s.op != "" {
		t.augmented(s)
		return
	}
	var typ *graph.Type
	if s.typ != nil {
		var err error
		typ, err = t.u.typeOf(t.fn.file, s.typ)
		t.check(err)
		if n, ok := s.targets[0].(*nameExpr); ok {
			t.sc.types[n.name] = typ
		}
	}
	if s.value == nil {
		return
	}
	hint := typ
	if hint == nil && len(s.targets) == 1 {
		hint = t.targetType(s.targets[0])
	}
	// (a, b) = (b, a) needs no tuple
	if to, ok := s.targets[0].(*tupleExpr); ok && len(s.targets) == 1 {
		if from, ok := s.value.(*tupleExpr); ok && len(from.items) == len(to.items) && !starred(to.items) {
			var vals []symbol
			for _, x := range from.items {
				vals = append(vals, t.expr(x, nil))
			}
			for i, x := range to.items {
				t.store(x, vals[i])
			}
			return
		}
	}
	v := t.expr(s.value, hint)
	if x, ok := v.(*graph.Value); ok && typ != nil {
		v = t.fit(x, typ)
	}
	for _, x := range s.targets {
		t.store(x, v)
	}
}

func starred(l []expr) bool {
	for _, x := range l {
		if _, ok := x.(*starExpr); ok {
			return true
		}
	}
	return false
}

// targetType is the type that an assignment wants.
func (t *translator) targetType(x expr) *graph.Type {
	switch x := x.(type) {
	case *nameExpr:
		return t.sc.typeOf(x.name)
	case *attrExpr:
		if n, ok := x.x.(*nameExpr); ok {
			if v, ok := t.sc.find(n.name).(*graph.Value); ok && v.Type.Class != nil {
				if i := v.Type.Class.AttrIndex(x.name); i >= 0 {
					return v.Type.Class.Attrs[i].Type
				}
			}
		}
	}
	return nil
}

// store assigns to a target.
func (t *translator) store(target expr, v symbol) {
	switch x := target.(type) {
	case *nameExpr:
		if val, ok := v.(*graph.Value); ok {
			if typ := t.sc.typeOf(x.name); typ != nil {
				v = t.fit(val, typ)
			}
			if w := v.(*graph.Value); w.Name == "" {
				w.Name = x.name
			}
		}
		if m, ok := v.(manySymbol); ok {
			v = t.b().Tuple(m.vals...)
		}
		t.sc.vars[x.name] = v
	case *attrExpr:
		self := t.value(x.x, nil)
		val := t.asValue(v)
		c := self.Type.Class
		if c == nil {
			t.fail("a value of type %s has no attributes that can be set", self.Type)
		}
		i := c.AttrIndex(x.name)
		if i < 0 {
			t.fail("%s has no attribute %s", c.Name, x.name)
		}
		t.b().SetAttr(self, x.name, t.fit(val, c.Attrs[i].Type))
	case *indexExpr:
		t.storeIndex(x, t.asValue(v))
	case *tupleExpr:
		t.unpack(x.items, v)
	case *listExpr:
		t.unpack(x.items, v)
	default:
		t.fail("one cannot assign to this")
	}
}

// unpack assigns the fields of a tuple or the elements of a list.
func (t *translator) unpack(targets []expr, v symbol) {
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

func (t *translator) augmented(s *assignStmt) {
	target := s.targets[0]
	old := t.value(target, nil)
	v := t.value(s.value, old.Type)
	if k := old.Type.Kind; k == graph.TensorType || k == graph.ListType { // in place
		if name := augmentedNames[s.op]; name != "" {
			w := t.builtin1("aten::"+name+"_", old, v)
			if _, ok := target.(*nameExpr); ok {
				t.store(target, w)
			}
			return
		}
	}
	t.store(target, t.binary(s.op, old, v))
}

// inner runs f in a scope of its own, whose nodes go to block b.
func (t *translator) inner(b *graph.Block, f func()) *scope {
	if t.nest++; t.nest > maxIndent {
		t.fail("blocks are nested more than %d deep", maxIndent)
	}
	s := &scope{parent: t.sc, vars: map[string]symbol{}, types: map[string]*graph.Type{}, block: b}
	t.sc = s
	b.At(graph.Pos{File: t.fn.file.name, Line: t.line})
	f()
	t.sc = s.parent
	t.nest--
	return s
}

func (t *translator) ifStmt(s *ifStmt) {
	cond := t.condition(s.cond)
	t.branch(cond, func() { t.stmts(s.then) }, func() { t.stmts(s.else_) })
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
func (t *translator) carried(body []stmt) (names []string, vals []*graph.Value) {
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
func (t *translator) loop(most, cond *graph.Value, body []stmt, head func(i *graph.Value), next func() *graph.Value) {
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

func (t *translator) while(s *whileStmt) {
	t.loop(nil, t.condition(s.cond), s.body, nil, func() *graph.Value { return t.condition(s.cond) })
}

func (t *translator) forStmt(s *forStmt) {
	if s.until != "" {
		t.forUntil(s)
		return
	}
	it := t.iterable(s.iter)
	if it.unrolled != nil {
		for _, x := range it.unrolled {
			t.store(s.target, x)
			t.stmts(s.body)
		}
		return
	}
	t.loop(it.length, nil, append([]stmt{&assignStmt{targets: []expr{s.target}}}, s.body...), func(i *graph.Value) {
		t.store(s.target, it.item(i))
	}, nil)
}

// forUntil is a for with break, continue or return inside: lowerExits has named the variable that ends it.
func (t *translator) forUntil(s *forStmt) {
	it := t.iterable(s.iter)
	more := func() *graph.Value { return t.builtin1("aten::__not__", t.value(&nameExpr{name: s.until}, nil)) }
	if it.unrolled != nil {
		for _, x := range it.unrolled {
			t.branch(more(), func() {
				t.store(s.target, x)
				t.stmts(s.body)
			}, func() {})
		}
		return
	}
	t.loop(it.length, more(), append([]stmt{&assignStmt{targets: []expr{s.target}}}, s.body...), func(i *graph.Value) {
		t.store(s.target, it.item(i))
	}, more)
}

// iteration is what a for runs over.
type iteration struct {
	length   *graph.Value
	item     func(i *graph.Value) symbol
	unrolled []symbol // instead: known values
}

func (t *translator) iterable(e expr) iteration {
	if c, ok := e.(*callExpr); ok {
		if n, ok := c.f.(*nameExpr); ok && t.sc.find(n.name) == nil && len(c.kwargs) == 0 {
			switch n.name {
			case "range":
				return t.rangeOf(c.args)
			case "enumerate":
				start := t.b().Const(0)
				if len(c.args) == 2 {
					start = t.value(c.args[1], nil)
				}
				return t.enumerated(t.iterable(c.args[0]), start)
			case "zip":
				return t.zipped(c.args)
			}
		}
	}
	return t.over(t.value(e, nil))
}

func (t *translator) rangeOf(args []expr) iteration {
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

func (t *translator) zipped(args []expr) iteration {
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

func (t *translator) with(s *withStmt) {
	var ctx []*graph.Value
	for i, x := range s.items {
		v := t.value(x, nil)
		entered := t.method(v, "__enter__", nil, nil)
		if s.names[i] != nil {
			t.store(s.names[i], entered)
		}
		ctx = append(ctx, v)
	}
	ret := t.ret
	t.stmts(s.body)
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
func (t *translator) raise(x expr) {
	class, text := "", t.b().Const("")
	switch x := x.(type) {
	case *callExpr:
		class = dotted(x.f)
		if len(x.args) > 0 {
			text = t.value(x.args[0], graph.Str)
			if text.Type.Kind != graph.StrType {
				text = t.builtin1("aten::str", text)
			}
		}
	case *nameExpr:
		class = x.name
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

func (t *translator) assert(s *assertStmt) {
	t.branch(t.condition(s.cond), func() {}, func() {
		msg := t.b().Const("AssertionError: ")
		if s.msg != nil {
			msg = t.builtin1("aten::add", msg, t.builtin1("aten::str", t.value(s.msg, graph.Str)))
		}
		t.b().Raise("builtins.AssertionError", msg)
		t.sc.dead = true
	})
}

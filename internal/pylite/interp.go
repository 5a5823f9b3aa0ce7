package pylite

import "fmt"

// Host gives foreign values their meaning. Every method reports whether it knows what it was asked for; what it does
// not know, the interpreter refuses with Python's words.
type Host interface {
	// Import gives what "import module" (name "") or "from module import name" binds.
	Import(module, name string) (any, bool)
	Attr(v any, name string) (any, bool)
	SetAttr(v any, name string, x any) bool
	// Binary computes an operator or a comparison; one side at least is not of Python's own types.
	Binary(op string, l, r any) (any, bool)
	Unary(op string, x any) (any, bool)
	Index(x, i any) (any, bool)
	SetIndex(x, i, v any) bool
	Truth(v any) (yes, known bool)
	Iter(v any) ([]any, bool)
	Len(v any) (int, bool)
	Call(fn any, args []any, kw map[string]any) (any, bool)
	// Enter runs body inside a context manager, with the value that "as" binds.
	Enter(ctx any, body func(value any)) bool
	// New makes the Host's part of an object whose class has a base class of the Host.
	New(o *Object) any
	IsInstance(v, class any) (yes, known bool)
	TypeOf(v any) (any, bool)
	Str(v any) (string, bool)
	// Exception turns what a Go function panicked with into a Python exception; nil where it is none.
	Exception(p any) *Raise
}

// Interp runs programs.
type Interp struct {
	Host    Host
	Globals map[string]any
	Line    int // of the statement that runs
	Steps   int // statements and calls so far
	Limit   int // of Steps; 0: a million
	Printed []string

	depth int // of calls
}

// New makes an interpreter with Python's builtins.
func New(h Host) *Interp {
	in := &Interp{Host: h, Globals: map[string]any{}}
	for k, v := range in.builtins() {
		in.Globals[k] = v
	}
	return in
}

// scope holds the names of a function call; the outermost one is the program's.
type scope struct {
	vars  map[string]any
	up    *scope
	outer map[string]bool // declared global or nonlocal
}

func (s *scope) find(name string) (*scope, bool) {
	for e := s; e != nil; e = e.up {
		if _, ok := e.vars[name]; ok {
			return e, true
		}
	}
	return nil, false
}

// Run runs a program. A Python exception is returned as a *Raise.
func (in *Interp) Run(src string) (err error) {
	body, err := parse(src)
	if err != nil {
		return &Raise{Type: "SyntaxError", Msg: err.Error()}
	}
	defer in.catch(&err)
	in.block(body, &scope{vars: in.Globals})
	return nil
}

// Eval computes an expression.
func (in *Interp) Eval(src string) (v any, err error) {
	toks, err := lex(src)
	if err != nil {
		return nil, &Raise{Type: "SyntaxError", Msg: err.Error()}
	}
	defer in.catch(&err)
	defer func() {
		if s, ok := recover2(recover()).(syntaxError); ok {
			err = &Raise{Type: "SyntaxError", Msg: string(s)}
		}
	}()
	x := (&parser{toks: toks}).expressions()
	return in.eval(x, &scope{vars: in.Globals}), nil
}

// Guard runs f, which calls functions of the program, and returns its exception.
func (in *Interp) Guard(f func()) (err error) {
	defer in.catch(&err)
	f()
	return nil
}

// recover2 panics again with everything but a syntax error.
func recover2(p any) any {
	if _, ok := p.(syntaxError); !ok && p != nil {
		panic(p)
	}
	return p
}

func (in *Interp) catch(err *error) {
	p := recover()
	if p == nil {
		return
	}
	r := in.exception(p)
	if r == nil {
		panic(p)
	}
	*err = r
}

func (in *Interp) exception(p any) *Raise {
	if r, ok := p.(*Raise); ok {
		return r
	}
	return in.Host.Exception(p)
}

// step counts work, so that an endless program ends.
func (in *Interp) step() {
	limit := in.Limit
	if limit == 0 {
		limit = 1e6
	}
	if in.Steps++; in.Steps > limit {
		Throw("RuntimeError", "the program took more than %d steps", limit)
	}
}

// control is how a block ended.
type control uint8

const (
	cNone control = iota
	cBreak
	cContinue
	cReturn
)

// flow is how a block ended, and what it returns.
type flow struct {
	c control
	v any
}

func (in *Interp) block(body []stmt, e *scope) flow {
	for _, s := range body {
		if f := in.exec(s, e); f.c != cNone {
			return f
		}
	}
	return flow{}
}

func (in *Interp) exec(s stmt, e *scope) flow {
	switch x := s.(type) {
	case lineStmt:
		in.step()
		in.Line = x.line
	case exprStmt:
		in.eval(x.x, e)
	case assignStmt:
		v := in.eval(x.x, e)
		for _, t := range x.targets {
			in.assign(t, v, e)
		}
	case augStmt:
		in.augmented(x, e)
	case ifStmt:
		if in.truth(in.eval(x.cond, e)) {
			return in.block(x.yes, e)
		}
		return in.block(x.no, e)
	case whileStmt:
		for in.truth(in.eval(x.cond, e)) {
			in.step()
			if f := in.block(x.body, e); f.c == cReturn {
				return f
			} else if f.c == cBreak {
				break
			}
		}
	case forStmt:
		for _, v := range in.Iter(in.eval(x.iter, e)) {
			in.step()
			in.assign(x.target, v, e)
			if f := in.block(x.body, e); f.c == cReturn {
				return f
			} else if f.c == cBreak {
				break
			}
		}
	case withStmt:
		return in.with(x.items, x.body, e)
	case tryStmt:
		return in.try(x, e)
	case defStmt:
		var v any = &Func{Name: x.name, params: x.params, defs: in.defaults(x.params, e), body: x.body, env: e, in: in}
		e.vars[x.name] = in.decorate(v, x.decorators, e)
	case classStmt:
		c := &Class{Name: x.name, Dict: map[string]any{}}
		for _, b := range x.bases {
			c.Bases = append(c.Bases, in.eval(b, e))
		}
		in.block(x.body, &scope{vars: c.Dict, up: e})
		e.vars[x.name] = in.decorate(c, x.decorators, e)
	case returnStmt:
		if x.x == nil {
			return flow{cReturn, nil}
		}
		return flow{cReturn, in.eval(x.x, e)}
	case raiseStmt:
		in.raise(x, e)
	case assertStmt:
		if !in.truth(in.eval(x.cond, e)) {
			msg := ""
			if x.msg != nil {
				msg = in.str(in.eval(x.msg, e))
			}
			panic(&Raise{Type: "AssertionError", Msg: msg})
		}
	case importStmt:
		v, ok := in.Host.Import(x.module, trimDot(x.name))
		if !ok {
			Throw("ImportError", "cannot import name '%s' from '%s'", x.name, x.module)
		}
		e.vars[x.as] = v
	case delStmt:
		for _, t := range x.targets {
			in.del(t, e)
		}
	case scopeStmt:
		if e.outer == nil {
			e.outer = map[string]bool{}
		}
		for _, n := range x.names {
			e.outer[n] = true
		}
	case passStmt:
	case breakStmt:
		return flow{c: cBreak}
	case continueStmt:
		return flow{c: cContinue}
	default:
		panic(fmt.Sprintf("pylite: unknown statement %T", s))
	}
	return flow{}
}

func trimDot(s string) string {
	if s == "." {
		return ""
	}
	return s
}

func (in *Interp) decorate(v any, decs []expr, e *scope) any {
	for i := len(decs) - 1; i >= 0; i-- {
		v = in.Call(in.eval(decs[i], e), []any{v}, nil)
	}
	return v
}

func (in *Interp) with(items []withItem, body []stmt, e *scope) (f flow) {
	if len(items) == 0 {
		return in.block(body, e)
	}
	it := items[0]
	ctx := in.eval(it.ctx, e)
	inner := func(value any) {
		if it.as != nil {
			in.assign(it.as, value, e)
		}
		f = in.with(items[1:], body, e)
	}
	in.Enter(ctx, inner)
	return f
}

// Enter runs a function inside a context manager, of the program or of the Host.
func (in *Interp) Enter(ctx any, body func(value any)) {
	o, ok := ctx.(*Object)
	if !ok {
		if !in.Host.Enter(ctx, body) {
			Throw("TypeError", "'%s' object does not support the context manager protocol", in.typeName(ctx))
		}
		return
	}
	value := in.Call(in.Attr(o, "__enter__"), nil, nil)
	done := false
	defer func() {
		if done {
			return
		}
		p := recover()
		r := in.exception(p)
		if r == nil { // a panic of the Host: the context is left all the same
			in.Call(in.Attr(o, "__exit__"), []any{nil, nil, nil}, nil)
			panic(p)
		}
		if !in.truth(in.Call(in.Attr(o, "__exit__"), []any{r.Type, r, nil}, nil)) {
			panic(p)
		}
	}()
	body(value)
	done = true
	in.Call(in.Attr(o, "__exit__"), []any{nil, nil, nil}, nil)
}

func (in *Interp) try(s tryStmt, e *scope) (f flow) {
	if s.fin != nil {
		defer func() {
			if g := in.block(s.fin, e); g.c != cNone {
				_ = recover() // the exception ends here, as in Python
				f = g
			}
		}()
	}
	caught := func() (caught bool) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			r := in.exception(p)
			if r == nil {
				panic(p)
			}
			for _, h := range s.handlers {
				if h.typ != nil && !in.matches(r, in.eval(h.typ, e)) {
					continue
				}
				if h.as != "" {
					e.vars[h.as] = r
				}
				caught = true
				f = in.block(h.body, e)
				return
			}
			panic(p)
		}()
		f = in.block(s.body, e)
		return false
	}()
	if !caught && f.c == cNone && s.els != nil {
		return in.block(s.els, e)
	}
	return f
}

// matches reports that an exception is caught by "except typ".
func (in *Interp) matches(r *Raise, typ any) bool {
	switch t := typ.(type) {
	case Tuple:
		for _, x := range t {
			if in.matches(r, x) {
				return true
			}
		}
	case exceptionType:
		for n := r.Type; n != ""; n = exceptionBases[n] {
			if n == string(t) {
				return true
			}
		}
		return t == "Exception" || t == "BaseException"
	case *Class:
		o, ok := r.Obj.(*Object)
		return ok && isSubclass(o.Class, t)
	}
	return false
}

func (in *Interp) raise(s raiseStmt, e *scope) {
	if s.x == nil {
		Throw("RuntimeError", "No active exception to reraise")
	}
	switch v := in.eval(s.x, e).(type) {
	case *Raise:
		panic(v)
	case exceptionType:
		panic(&Raise{Type: string(v)})
	case *Object:
		msg := ""
		if a, ok := v.Attrs["args"].(Tuple); ok && len(a) > 0 {
			msg = in.str(a[0])
		}
		panic(&Raise{Type: v.Class.Name, Msg: msg, Obj: v})
	case *Class:
		panic(&Raise{Type: v.Name, Obj: in.Call(v, nil, nil)})
	}
	Throw("TypeError", "exceptions must derive from BaseException")
}

func (in *Interp) assign(t expr, v any, e *scope) {
	switch x := t.(type) {
	case nameExpr:
		if e.outer[x.name] {
			if o, ok := e.up.find(x.name); ok {
				o.vars[x.name] = v
				return
			}
		}
		e.vars[x.name] = v
	case tupleExpr:
		in.unpack(x.elts, v, e)
	case listExpr:
		in.unpack(x.elts, v, e)
	case attrExpr:
		in.SetAttr(in.eval(x.x, e), x.name, v)
	case indexExpr:
		in.setIndex(in.eval(x.x, e), in.eval(x.i, e), v)
	default:
		Throw("SyntaxError", "cannot assign to expression")
	}
}

func (in *Interp) unpack(targets []expr, v any, e *scope) {
	list := in.Iter(v)
	star := -1
	for i, t := range targets {
		if _, ok := t.(starExpr); ok {
			star = i
		}
	}
	if star >= 0 && len(list) >= len(targets)-1 {
		tail := len(targets) - star - 1
		for i := range star {
			in.assign(targets[i], list[i], e)
		}
		mid := append([]any(nil), list[star:len(list)-tail]...)
		in.assign(targets[star].(starExpr).x, &List{mid}, e)
		for i := range tail {
			in.assign(targets[star+1+i], list[len(list)-tail+i], e)
		}
		return
	}
	switch {
	case len(list) > len(targets):
		Throw("ValueError", "too many values to unpack (expected %d)", len(targets))
	case len(list) < len(targets):
		Throw("ValueError", "not enough values to unpack (expected %d, got %d)", len(targets), len(list))
	}
	for i, t := range targets {
		in.assign(t, list[i], e)
	}
}

func (in *Interp) augmented(s augStmt, e *scope) {
	switch t := s.target.(type) {
	case attrExpr:
		o := in.eval(t.x, e)
		in.SetAttr(o, t.name, in.inplace(s.op, in.Attr(o, t.name), in.eval(s.x, e)))
	case indexExpr:
		o, i := in.eval(t.x, e), in.eval(t.i, e)
		in.setIndex(o, i, in.inplace(s.op, in.index(o, i), in.eval(s.x, e)))
	default:
		in.assign(s.target, in.inplace(s.op, in.eval(s.target, e), in.eval(s.x, e)), e)
	}
}

// inplace computes l op= r: foreign values may change themselves.
func (in *Interp) inplace(op string, l, r any) any {
	if list, ok := l.(*List); ok && op == "+" {
		list.Elts = append(list.Elts, in.Iter(r)...)
		return list
	}
	if !plain(l) {
		if v, ok := in.Host.Binary(op+"=", l, r); ok {
			return v
		}
	}
	return in.binary(op, l, r)
}

func (in *Interp) del(t expr, e *scope) {
	switch x := t.(type) {
	case nameExpr:
		if s, ok := e.find(x.name); ok {
			delete(s.vars, x.name)
		}
	case attrExpr:
		if o, ok := in.eval(x.x, e).(*Object); ok {
			delete(o.Attrs, x.name)
		}
	case indexExpr:
		switch o := in.eval(x.x, e).(type) {
		case *Dict:
			o.Delete(in.eval(x.i, e))
		case *List:
			if i, ok := in.eval(x.i, e).(int); ok {
				i = in.position(i, len(o.Elts))
				o.Elts = append(o.Elts[:i], o.Elts[i+1:]...)
			}
		}
	}
}

func (in *Interp) defaults(ps []param, e *scope) []any {
	out := make([]any, len(ps))
	for i, p := range ps {
		if p.def != nil {
			out[i] = in.eval(p.def, e)
		}
	}
	return out
}

func (in *Interp) callFunc(f *Func, args []any, kw map[string]any) any {
	in.step()
	if in.depth++; in.depth > 200 {
		Throw("RecursionError", "maximum recursion depth exceeded")
	}
	defer func() { in.depth-- }()
	e := &scope{vars: map[string]any{}, up: f.env}
	rest := args
	used := 0
	star := false
	for i, p := range f.params {
		switch p.star {
		case 1:
			star = true
			if p.name != "" {
				e.vars[p.name] = Tuple(append([]any(nil), rest...))
				rest = nil
			}
			continue
		case 2:
			d := NewDict()
			for k, v := range kw {
				if !f.has(k) {
					d.Set(k, v)
				}
			}
			e.vars[p.name] = d
			used = len(kw)
			continue
		}
		v, given := kw[p.name]
		switch {
		case !star && len(rest) > 0:
			if given {
				Throw("TypeError", "%s() got multiple values for argument '%s'", f.Name, p.name)
			}
			e.vars[p.name] = rest[0]
			rest = rest[1:]
		case given:
			e.vars[p.name] = v
			used++
		case p.def != nil:
			e.vars[p.name] = f.defs[i]
		default:
			Throw("TypeError", "%s() missing 1 required positional argument: '%s'", f.Name, p.name)
		}
	}
	if len(rest) > 0 {
		Throw("TypeError", "%s() takes %d positional arguments but %d were given", f.Name, len(f.params), len(args))
	}
	for k := range kw {
		if used < len(kw) && !f.has(k) {
			Throw("TypeError", "%s() got an unexpected keyword argument '%s'", f.Name, k)
		}
	}
	if f.ret != nil {
		return in.eval(f.ret, e)
	}
	return in.block(f.body, e).v
}

func (f *Func) has(name string) bool {
	for _, p := range f.params {
		if p.name == name && p.star == 0 {
			return true
		}
	}
	return false
}

func isSubclass(c, of *Class) bool {
	if c == of {
		return true
	}
	for _, b := range c.Bases {
		if bc, ok := b.(*Class); ok && isSubclass(bc, of) {
			return true
		}
	}
	return false
}

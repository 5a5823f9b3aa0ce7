package pylite

import (
	"errors"
	"fmt"

	"github.com/gotorch-dev/torch/internal/python"
)

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
	body, err := python.Parse("", src, nil)
	if err != nil {
		return syntaxError(err)
	}
	defer in.catch(&err)
	in.block(body, &scope{vars: in.Globals})
	return nil
}

// Eval computes an expression.
func (in *Interp) Eval(src string) (v any, err error) {
	x, err := python.ParseExpr("", src, nil)
	if err != nil {
		return nil, syntaxError(err)
	}
	defer in.catch(&err)
	return in.eval(x, &scope{vars: in.Globals}), nil
}

func syntaxError(err error) *Raise {
	var e *python.SyntaxError
	if !errors.As(err, &e) {
		return &Raise{Type: "SyntaxError", Msg: err.Error()}
	}
	return &Raise{Type: "SyntaxError", Msg: fmt.Sprintf("line %d: %s", e.Line, e.Msg)}
}

// Guard runs f, which calls functions of the program, and returns its exception.
func (in *Interp) Guard(f func()) (err error) {
	defer in.catch(&err)
	f()
	return nil
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

func (in *Interp) block(body []python.Stmt, e *scope) flow {
	for _, s := range body {
		if f := in.exec(s, e); f.c != cNone {
			return f
		}
	}
	return flow{}
}

func (in *Interp) exec(s python.Stmt, e *scope) flow {
	in.step()
	in.Line = s.At()
	switch x := s.(type) {
	case *python.ExprStmt:
		in.eval(x.X, e)
	case *python.Assign:
		switch {
		case x.Value == nil: // a declaration
		case x.Op != "":
			in.augmented(x, e)
		default:
			v := in.eval(x.Value, e)
			for _, t := range x.Targets {
				in.assign(t, v, e)
			}
		}
	case *python.If:
		if in.truth(in.eval(x.Cond, e)) {
			return in.block(x.Then, e)
		}
		return in.block(x.Else, e)
	case *python.While:
		for in.truth(in.eval(x.Cond, e)) {
			in.step()
			if f := in.block(x.Body, e); f.c == cReturn {
				return f
			} else if f.c == cBreak {
				break
			}
		}
	case *python.For:
		for _, v := range in.Iter(in.eval(x.Iter, e)) {
			in.step()
			in.assign(x.Target, v, e)
			if f := in.block(x.Body, e); f.c == cReturn {
				return f
			} else if f.c == cBreak {
				break
			}
		}
	case *python.With:
		return in.with(x, 0, e)
	case *python.Try:
		return in.try(x, e)
	case *python.Def:
		var v any = &Func{Name: x.Name, params: x.Params, defs: in.defaults(x.Params, e), body: x.Body, env: e, in: in}
		e.vars[x.Name] = in.decorate(v, x.Decorators, e)
	case *python.Class:
		c := &Class{Name: x.Name, Dict: map[string]any{}}
		for _, b := range x.Bases {
			c.Bases = append(c.Bases, in.eval(b, e))
		}
		in.block(x.Body, &scope{vars: c.Dict, up: e})
		e.vars[x.Name] = in.decorate(c, x.Decorators, e)
	case *python.Return:
		if x.X == nil {
			return flow{cReturn, nil}
		}
		return flow{cReturn, in.eval(x.X, e)}
	case *python.Raise:
		in.raise(x, e)
	case *python.Assert:
		if !in.truth(in.eval(x.Cond, e)) {
			msg := ""
			if x.Msg != nil {
				msg = in.str(in.eval(x.Msg, e))
			}
			panic(&Raise{Type: "AssertionError", Msg: msg})
		}
	case *python.Import:
		v, ok := in.Host.Import(x.Module, x.Name)
		if !ok {
			Throw("ImportError", "cannot import name '%s' from '%s'", x.Name, x.Module)
		}
		e.vars[x.As] = v
	case *python.Del:
		for _, t := range x.Targets {
			in.del(t, e)
		}
	case *python.Scope:
		if e.outer == nil {
			e.outer = map[string]bool{}
		}
		for _, n := range x.Names {
			e.outer[n] = true
		}
	case *python.Pass:
	case *python.Jump:
		if x.Kind == "break" {
			return flow{c: cBreak}
		}
		return flow{c: cContinue}
	default:
		panic(fmt.Sprintf("pylite: unknown statement %T", s))
	}
	return flow{}
}

func (in *Interp) decorate(v any, decs []python.Expr, e *scope) any {
	for i := len(decs) - 1; i >= 0; i-- {
		v = in.Call(in.eval(decs[i], e), []any{v}, nil)
	}
	return v
}

// with enters the context managers of a statement from number i on, then runs its body.
func (in *Interp) with(s *python.With, i int, e *scope) (f flow) {
	if i == len(s.Items) {
		return in.block(s.Body, e)
	}
	in.Enter(in.eval(s.Items[i], e), func(value any) {
		if t := s.Names[i]; t != nil {
			in.assign(t, value, e)
		}
		f = in.with(s, i+1, e)
	})
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

func (in *Interp) try(s *python.Try, e *scope) (f flow) {
	if s.Final != nil {
		defer func() {
			if g := in.block(s.Final, e); g.c != cNone {
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
			for _, h := range s.Handlers {
				if h.Type != nil && !in.matches(r, in.eval(h.Type, e)) {
					continue
				}
				if h.Name != "" {
					e.vars[h.Name] = r
				}
				caught = true
				f = in.block(h.Body, e)
				return
			}
			panic(p)
		}()
		f = in.block(s.Body, e)
		return false
	}()
	if !caught && f.c == cNone && s.Else != nil {
		return in.block(s.Else, e)
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

func (in *Interp) raise(s *python.Raise, e *scope) {
	if s.X == nil {
		Throw("RuntimeError", "No active exception to reraise")
	}
	switch v := in.eval(s.X, e).(type) {
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

func (in *Interp) assign(t python.Expr, v any, e *scope) {
	switch x := t.(type) {
	case *python.Name:
		if e.outer[x.Name] {
			if o, ok := e.up.find(x.Name); ok {
				o.vars[x.Name] = v
				return
			}
		}
		e.vars[x.Name] = v
	case *python.Tuple:
		in.unpack(x.Items, v, e)
	case *python.List:
		in.unpack(x.Items, v, e)
	case *python.Attr:
		in.SetAttr(in.eval(x.X, e), x.Name, v)
	case *python.Index:
		in.setIndex(in.eval(x.X, e), in.subscript(x, e), v)
	default:
		Throw("SyntaxError", "cannot assign to expression")
	}
}

func (in *Interp) unpack(targets []python.Expr, v any, e *scope) {
	list := in.Iter(v)
	star := -1
	for i, t := range targets {
		if _, ok := t.(*python.Star); ok {
			star = i
		}
	}
	if star >= 0 && len(list) >= len(targets)-1 {
		tail := len(targets) - star - 1
		for i := range star {
			in.assign(targets[i], list[i], e)
		}
		mid := append([]any(nil), list[star:len(list)-tail]...)
		in.assign(targets[star].(*python.Star).X, &List{mid}, e)
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

func (in *Interp) augmented(s *python.Assign, e *scope) {
	switch t := s.Targets[0].(type) {
	case *python.Attr:
		o := in.eval(t.X, e)
		in.SetAttr(o, t.Name, in.inplace(s.Op, in.Attr(o, t.Name), in.eval(s.Value, e)))
	case *python.Index:
		o, i := in.eval(t.X, e), in.subscript(t, e)
		in.setIndex(o, i, in.inplace(s.Op, in.index(o, i), in.eval(s.Value, e)))
	default:
		in.assign(t, in.inplace(s.Op, in.eval(t, e), in.eval(s.Value, e)), e)
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

func (in *Interp) del(t python.Expr, e *scope) {
	switch x := t.(type) {
	case *python.Tuple:
		for _, t := range x.Items {
			in.del(t, e)
		}
	case *python.Name:
		if s, ok := e.find(x.Name); ok {
			delete(s.vars, x.Name)
		}
	case *python.Attr:
		if o, ok := in.eval(x.X, e).(*Object); ok {
			delete(o.Attrs, x.Name)
		}
	case *python.Index:
		i := in.subscript(x, e)
		switch o := in.eval(x.X, e).(type) {
		case *Dict:
			o.Delete(i)
		case *List:
			if i, ok := i.(int); ok {
				i = in.position(i, len(o.Elts))
				o.Elts = append(o.Elts[:i], o.Elts[i+1:]...)
			}
		}
	}
}

func (in *Interp) defaults(ps []python.Param, e *scope) []any {
	out := make([]any, len(ps))
	for i, p := range ps {
		if p.Default != nil {
			out[i] = in.eval(p.Default, e)
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
		switch p.Star {
		case 1:
			star = true
			if p.Name != "" {
				e.vars[p.Name] = Tuple(append([]any(nil), rest...))
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
			e.vars[p.Name] = d
			used = len(kw)
			continue
		}
		v, given := kw[p.Name]
		switch {
		case !star && len(rest) > 0:
			if given {
				Throw("TypeError", "%s() got multiple values for argument '%s'", f.Name, p.Name)
			}
			e.vars[p.Name] = rest[0]
			rest = rest[1:]
		case given:
			e.vars[p.Name] = v
			used++
		case p.Default != nil:
			e.vars[p.Name] = f.defs[i]
		default:
			Throw("TypeError", "%s() missing 1 required positional argument: '%s'", f.Name, p.Name)
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
		if p.Name == name && p.Star == 0 {
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

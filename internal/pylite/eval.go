package pylite

import (
	"fmt"
	"strings"
)

func (in *Interp) eval(x expr, e *scope) any {
	switch x := x.(type) {
	case constExpr:
		return x.v
	case nameExpr:
		if s, ok := e.find(x.name); ok {
			return s.vars[x.name]
		}
		Throw("NameError", "name '%s' is not defined", x.name)
	case fstrExpr:
		var b strings.Builder
		for _, p := range x.parts {
			if f, ok := p.(fmtExpr); ok {
				b.WriteString(in.format(in.eval(f.x, e), f.conv, f.spec))
			} else {
				b.WriteString(in.str(in.eval(p, e)))
			}
		}
		return b.String()
	case tupleExpr:
		return Tuple(in.evalList(x.elts, e))
	case listExpr:
		return &List{in.evalList(x.elts, e)}
	case setExpr:
		d := NewDict()
		for _, v := range in.evalList(x.elts, e) {
			d.Set(v, nil)
		}
		return d
	case dictExpr:
		d := NewDict()
		for i, k := range x.keys {
			v := in.eval(x.vals[i], e)
			if k != nil {
				d.Set(in.eval(k, e), v)
				continue
			}
			if m, ok := v.(*Dict); ok {
				for _, k := range m.Keys {
					y, _ := m.Get(k)
					d.Set(k, y)
				}
			}
		}
		return d
	case compExpr:
		return in.comprehend(x, e)
	case unaryExpr:
		return in.unary(x.op, in.eval(x.x, e))
	case binExpr:
		l := in.eval(x.l, e)
		return in.binary(x.op, l, in.eval(x.r, e))
	case boolExpr:
		l := in.eval(x.l, e)
		if in.truth(l) == (x.op == "or") {
			return l
		}
		return in.eval(x.r, e)
	case cmpExpr:
		l := in.eval(x.l, e)
		for i, op := range x.ops {
			r := in.eval(x.rs[i], e)
			v := in.compare(op, l, r)
			if i == len(x.ops)-1 {
				return v
			}
			if !in.truth(v) {
				return v
			}
			l = r
		}
	case condExpr:
		if in.truth(in.eval(x.cond, e)) {
			return in.eval(x.yes, e)
		}
		return in.eval(x.no, e)
	case lambdaExpr:
		return &Func{Name: "<lambda>", params: x.params, defs: in.defaults(x.params, e), ret: x.body, env: e, in: in}
	case attrExpr:
		return in.Attr(in.eval(x.x, e), x.name)
	case indexExpr:
		v := in.eval(x.x, e)
		return in.index(v, in.eval(x.i, e))
	case sliceExpr:
		var s Slice
		if x.lo != nil {
			s.Lo = in.eval(x.lo, e)
		}
		if x.hi != nil {
			s.Hi = in.eval(x.hi, e)
		}
		if x.step != nil {
			s.Step = in.eval(x.step, e)
		}
		return s
	case callExpr:
		return in.evalCall(x, e)
	case starExpr:
		Throw("SyntaxError", "can't use starred expression here")
	}
	panic(fmt.Sprintf("pylite: unknown expression %T", x))
}

func (in *Interp) evalList(elts []expr, e *scope) []any {
	out := make([]any, 0, len(elts))
	for _, x := range elts {
		if s, ok := x.(starExpr); ok {
			out = append(out, in.Iter(in.eval(s.x, e))...)
			continue
		}
		out = append(out, in.eval(x, e))
	}
	return out
}

func (in *Interp) evalCall(x callExpr, e *scope) any {
	if n, ok := x.fn.(nameExpr); ok && n.name == "super" && len(x.args) == 0 {
		return in.super(e)
	}
	fn := in.eval(x.fn, e)
	args := in.evalList(x.args, e)
	var kw map[string]any
	for _, k := range x.kws {
		v := in.eval(k.x, e)
		if kw == nil {
			kw = map[string]any{}
		}
		if k.name != "" {
			kw[k.name] = v
			continue
		}
		if d, ok := v.(*Dict); ok {
			for _, key := range d.Keys {
				y, _ := d.Get(key)
				kw[in.str(key)] = y
			}
		}
	}
	return in.Call(fn, args, kw)
}

// superObject is what super() gives inside a method.
type superObject struct {
	o *Object
}

func (in *Interp) super(e *scope) any {
	for s := e; s != nil; s = s.up {
		for _, v := range s.vars {
			if o, ok := v.(*Object); ok {
				return superObject{o}
			}
		}
	}
	Throw("RuntimeError", "super(): no arguments")
	return nil
}

// Call calls any value.
func (in *Interp) Call(fn any, args []any, kw map[string]any) any {
	in.step()
	switch f := fn.(type) {
	case Builtin:
		return f(args, kw)
	case *Func:
		return in.callFunc(f, args, kw)
	case Static:
		return in.Call(f.F, args, kw)
	case builtinType:
		return in.construct(f, args, kw)
	case exceptionType:
		r := &Raise{Type: string(f)}
		if len(args) > 0 {
			r.Msg = in.str(args[0])
		}
		return r
	case *Class:
		if v, ok := in.Host.Call(f, args, kw); ok {
			return v
		}
		o := &Object{Class: f, Attrs: map[string]any{"args": Tuple(args)}}
		o.Data = in.Host.New(o)
		if init, ok := f.Lookup("__init__"); ok {
			in.Call(init, append([]any{o}, args...), kw)
		}
		return o
	case *Object:
		if m, ok := f.Class.Lookup("__call__"); ok {
			return in.Call(m, append([]any{f}, args...), kw)
		}
	}
	if v, ok := in.Host.Call(fn, args, kw); ok {
		return v
	}
	Throw("TypeError", "'%s' object is not callable", in.typeName(fn))
	return nil
}

// Attr reads an attribute.
func (in *Interp) Attr(v any, name string) any {
	switch x := v.(type) {
	case *Object:
		if a, ok := x.Attrs[name]; ok {
			return a
		}
		if m, ok := x.Class.Lookup(name); ok {
			switch f := m.(type) {
			case *Func:
				return Builtin(func(args []any, kw map[string]any) any {
					return in.callFunc(f, append([]any{x}, args...), kw)
				})
			case Static:
				return f.F
			case ClassMethod:
				return Builtin(func(args []any, kw map[string]any) any {
					return in.Call(f.F, append([]any{x.Class}, args...), kw)
				})
			case Property:
				return in.Call(f.F, []any{x}, nil)
			}
			return m
		}
		if name == "__class__" {
			return x.Class
		}
	case *Class:
		if m, ok := x.Lookup(name); ok {
			if s, ok := m.(Static); ok {
				return s.F
			}
			if c, ok := m.(ClassMethod); ok {
				return Builtin(func(args []any, kw map[string]any) any {
					return in.Call(c.F, append([]any{x}, args...), kw)
				})
			}
			return m
		}
		if name == "__name__" {
			return x.Name
		}
	case superObject:
		for _, b := range x.o.Class.Bases {
			if c, ok := b.(*Class); ok {
				if f, ok := c.Lookup(name); ok {
					return Builtin(func(args []any, kw map[string]any) any {
						return in.Call(f, append([]any{x.o}, args...), kw)
					})
				}
			}
		}
		if name == "__init__" {
			return Builtin(func([]any, map[string]any) any { return nil })
		}
		v = x.o
	case *Module:
		if a, ok := x.Attr(name); ok {
			return a
		}
		Throw("AttributeError", "module '%s' has no attribute '%s'", x.Name, name)
	case *Func:
		if name == "__name__" {
			return x.Name
		}
	case *Raise:
		if name == "args" {
			return Tuple{x.Msg}
		}
	case *List, *Dict, Tuple, string, int, float64, complex128:
		if m, ok := in.method(v, name); ok {
			return m
		}
	}
	if a, ok := in.Host.Attr(v, name); ok {
		return a
	}
	Throw("AttributeError", "'%s' object has no attribute '%s'", in.typeName(v), name)
	return nil
}

// SetAttr writes an attribute.
func (in *Interp) SetAttr(v any, name string, x any) {
	if in.Host.SetAttr(v, name, x) {
		return
	}
	switch o := v.(type) {
	case *Object:
		o.Attrs[name] = x
	case *Class:
		o.Dict[name] = x
	default:
		Throw("AttributeError", "'%s' object has no attribute '%s'", in.typeName(v), name)
	}
}

func (in *Interp) typeName(v any) string {
	if t, ok := in.Host.TypeOf(v); ok {
		return in.str(t)
	}
	return TypeName(v)
}

func (in *Interp) str(v any) string {
	if r, ok := v.(*Raise); ok {
		return r.Msg
	}
	if s, ok := in.Host.Str(v); ok {
		return s
	}
	return Str(in.printable(v))
}

// printable replaces what the Host prints inside lists and tuples by what prints so.
func (in *Interp) printable(v any) any {
	switch x := v.(type) {
	case Tuple:
		out := make(Tuple, len(x))
		for i := range x {
			out[i] = in.printable(x[i])
		}
		return out
	case *List:
		out := make([]any, len(x.Elts))
		for i := range out {
			out[i] = in.printable(x.Elts[i])
		}
		return &List{out}
	case *Dict:
		d := NewDict()
		for _, k := range x.Keys {
			e, _ := x.Get(k)
			d.Set(k, in.printable(e))
		}
		return d
	}
	if _, isString := v.(string); !isString {
		if s, ok := in.Host.Str(v); ok {
			return verbatim(s)
		}
	}
	return v
}

// verbatim prints as it is.
type verbatim string

// String is the text.
func (v verbatim) String() string { return string(v) }

func (in *Interp) truth(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case int:
		return x != 0
	case float64:
		return x != 0
	case string:
		return x != ""
	case Tuple:
		return len(x) > 0
	case *List:
		return len(x.Elts) > 0
	case *Dict:
		return len(x.Keys) > 0
	}
	if t, ok := in.Host.Truth(v); ok {
		return t
	}
	return true
}

// Iter lists what a loop over the value sees.
func (in *Interp) Iter(v any) []any {
	switch x := v.(type) {
	case Tuple:
		return x
	case *List:
		return append([]any(nil), x.Elts...)
	case *Dict:
		return append([]any(nil), x.Keys...)
	case string:
		var out []any
		for _, r := range x {
			out = append(out, string(r))
		}
		return out
	}
	if list, ok := in.Host.Iter(v); ok {
		return list
	}
	Throw("TypeError", "'%s' object is not iterable", in.typeName(v))
	return nil
}

func (in *Interp) comprehend(c compExpr, e *scope) any {
	inner := &scope{vars: map[string]any{}, up: e}
	var out []any
	d := NewDict()
	var loop func(i int)
	loop = func(i int) {
		if i == len(c.fors) {
			switch c.kind {
			case '{':
				d.Set(in.eval(c.key, inner), in.eval(c.elt, inner))
			case 's':
				d.Set(in.eval(c.elt, inner), nil)
			default:
				out = append(out, in.eval(c.elt, inner))
			}
			return
		}
		f := c.fors[i]
	values:
		for _, v := range in.Iter(in.eval(f.iter, inner)) {
			in.step()
			in.assign(f.target, v, inner)
			for _, cond := range f.ifs {
				if !in.truth(in.eval(cond, inner)) {
					continue values
				}
			}
			loop(i + 1)
		}
	}
	loop(0)
	switch c.kind {
	case '{', 's':
		return d
	case '(':
		return Tuple(out) // a generator that has run
	}
	return &List{out}
}

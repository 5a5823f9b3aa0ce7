package pylite

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/python"
)

func (in *Interp) eval(x python.Expr, e *scope) any {
	switch x := x.(type) {
	case *python.Const:
		if n, ok := x.Value.(int64); ok {
			return int(n)
		}
		return x.Value
	case *python.Name:
		if x.Name == "..." {
			return Ellipsis{}
		}
		if s, ok := e.find(x.Name); ok {
			return s.vars[x.Name]
		}
		Throw("NameError", "name '%s' is not defined", x.Name)
	case *python.Format:
		var b strings.Builder
		for _, p := range x.Parts {
			if f, ok := p.(*python.FormatValue); ok {
				b.WriteString(in.format(in.eval(f.X, e), f.Conv, f.Spec))
			} else {
				b.WriteString(in.str(in.eval(p, e)))
			}
		}
		return b.String()
	case *python.Tuple:
		return Tuple(in.evalList(x.Items, e))
	case *python.List:
		return &List{in.evalList(x.Items, e)}
	case *python.Set:
		d := NewDict()
		for _, v := range in.evalList(x.Items, e) {
			d.Set(v, nil)
		}
		return d
	case *python.Dict:
		d := NewDict()
		for i, k := range x.Keys {
			v := in.eval(x.Vals[i], e)
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
	case *python.Comprehension:
		return in.comprehend(x, e)
	case *python.Unary:
		return in.unary(x.Op, in.eval(x.X, e))
	case *python.Binary:
		l := in.eval(x.L, e)
		return in.binary(x.Op, l, in.eval(x.R, e))
	case *python.Bool:
		l := in.eval(x.L, e)
		if in.truth(l) == (x.Op == "or") {
			return l
		}
		return in.eval(x.R, e)
	case *python.Compare:
		l := in.eval(x.L, e)
		for i, op := range x.Ops {
			r := in.eval(x.R[i], e)
			v := in.compare(op, l, r)
			if i == len(x.Ops)-1 {
				return v
			}
			if !in.truth(v) {
				return v
			}
			l = r
		}
	case *python.Conditional:
		if in.truth(in.eval(x.Cond, e)) {
			return in.eval(x.Then, e)
		}
		return in.eval(x.Other, e)
	case *python.Lambda:
		return &Func{Name: "<lambda>", params: x.Params, defs: in.defaults(x.Params, e), ret: x.Body, env: e, in: in}
	case *python.Attr:
		return in.Attr(in.eval(x.X, e), x.Name)
	case *python.Index:
		v := in.eval(x.X, e)
		return in.index(v, in.subscript(x, e))
	case *python.Slice:
		var s Slice
		if x.Lo != nil {
			s.Lo = in.eval(x.Lo, e)
		}
		if x.Hi != nil {
			s.Hi = in.eval(x.Hi, e)
		}
		if x.Step != nil {
			s.Step = in.eval(x.Step, e)
		}
		return s
	case *python.Call:
		return in.evalCall(x, e)
	case *python.Star:
		Throw("SyntaxError", "can't use starred expression here")
	}
	panic(fmt.Sprintf("pylite: unknown expression %T", x))
}

// subscript is what stands between the brackets of x[i].
func (in *Interp) subscript(x *python.Index, e *scope) any {
	if !x.Many && len(x.Subs) == 1 {
		if _, spread := x.Subs[0].(*python.Star); !spread {
			return in.eval(x.Subs[0], e)
		}
	}
	return Tuple(in.evalList(x.Subs, e))
}

func (in *Interp) evalList(elts []python.Expr, e *scope) []any {
	out := make([]any, 0, len(elts))
	for _, x := range elts {
		if s, ok := x.(*python.Star); ok {
			out = append(out, in.Iter(in.eval(s.X, e))...)
			continue
		}
		out = append(out, in.eval(x, e))
	}
	return out
}

func (in *Interp) evalCall(x *python.Call, e *scope) any {
	if n, ok := x.Func.(*python.Name); ok && n.Name == "super" && len(x.Args) == 0 {
		return in.super(e)
	}
	fn := in.eval(x.Func, e)
	args := in.evalList(x.Args, e)
	var kw map[string]any
	for _, k := range x.Kwargs {
		v := in.eval(k.Value, e)
		if kw == nil {
			kw = map[string]any{}
		}
		if k.Name != "" {
			kw[k.Name] = v
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

func (in *Interp) comprehend(c *python.Comprehension, e *scope) any {
	inner := &scope{vars: map[string]any{}, up: e}
	var out []any
	d := NewDict()
	var loop func(i int)
	loop = func(i int) {
		if i == len(c.Loops) {
			switch c.Kind {
			case python.DictComp:
				d.Set(in.eval(c.Key, inner), in.eval(c.Elem, inner))
			case python.SetComp:
				d.Set(in.eval(c.Elem, inner), nil)
			default:
				out = append(out, in.eval(c.Elem, inner))
			}
			return
		}
		f := c.Loops[i]
	values:
		for _, v := range in.Iter(in.eval(f.Iter, inner)) {
			in.step()
			in.assign(f.Target, v, inner)
			for _, cond := range f.Conds {
				if !in.truth(in.eval(cond, inner)) {
					continue values
				}
			}
			loop(i + 1)
		}
	}
	loop(0)
	switch c.Kind {
	case python.DictComp, python.SetComp:
		return d
	case python.Generator:
		return Tuple(out) // a generator that has run
	}
	return &List{out}
}

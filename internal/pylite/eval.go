package pylite

import (
	"fmt"
	"math"
	"strconv"
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

// plain reports a value of Python's own types.
func plain(v any) bool {
	switch v.(type) {
	case nil, bool, int, float64, complex128, string, Tuple, *List, *Dict:
		return true
	}
	return false
}

func (in *Interp) unary(op string, v any) any {
	if op == "not" {
		return !in.truth(v)
	}
	if b, ok := v.(bool); ok {
		v = 0
		if b {
			v = 1
		}
	}
	switch x := v.(type) {
	case int:
		switch op {
		case "-":
			return -x
		case "+":
			return x
		case "~":
			return ^x
		}
	case float64:
		if op == "-" {
			return -x
		}
		return x
	}
	if r, ok := in.Host.Unary(op, v); ok {
		return r
	}
	Throw("TypeError", "bad operand type for unary %s: '%s'", op, in.typeName(v))
	return nil
}

func (in *Interp) binary(op string, l, r any) any {
	if plain(l) && plain(r) {
		if v, ok := in.plainBinary(op, l, r); ok {
			return v
		}
	} else if v, ok := in.Host.Binary(op, l, r); ok {
		return v
	}
	Throw("TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", op, in.typeName(l), in.typeName(r))
	return nil
}

// number widens booleans to ints.
func number(v any) any {
	if b, ok := v.(bool); ok {
		if b {
			return 1
		}
		return 0
	}
	return v
}

func (in *Interp) plainBinary(op string, l, r any) (any, bool) {
	_, lb := l.(bool)
	_, rb := r.(bool)
	l, r = number(l), number(r)
	if a, ok := l.(int); ok {
		if b, ok := r.(int); ok {
			v, ok := intBinary(op, a, b)
			if lb && rb && (op == "&" || op == "|" || op == "^") {
				return v != 0, ok
			}
			return v, ok
		}
	}
	a, aok := toFloat(l)
	b, bok := toFloat(r)
	if aok && bok {
		return floatBinary(op, a, b)
	}
	switch x := l.(type) {
	case string:
		if op == "%" {
			return in.percent(x, r), true
		}
		switch y := r.(type) {
		case string:
			return x + y, op == "+"
		case int:
			if y > 0 && len(x) > maxRepeat/y {
				Throw("MemoryError", "a string of %d bytes", len(x)*y)
			}
			return strings.Repeat(x, max(y, 0)), op == "*"
		}
	case Tuple:
		switch y := r.(type) {
		case Tuple:
			return append(append(Tuple(nil), x...), y...), op == "+"
		case int:
			return Tuple(repeated(x, y)), op == "*"
		}
	case *List:
		switch y := r.(type) {
		case *List:
			return &List{append(append([]any(nil), x.Elts...), y.Elts...)}, op == "+"
		case int:
			return &List{repeated(x.Elts, y)}, op == "*"
		}
	case int:
		switch r.(type) {
		case string, Tuple, *List:
			if op == "*" {
				return in.plainBinary(op, r, l)
			}
		}
	}
	return nil, false
}

// maxRepeat is how many elements a repetition may make.
const maxRepeat = 1 << 20

func repeated(list []any, n int) []any {
	if n > 0 && len(list) > maxRepeat/n {
		Throw("MemoryError", "a sequence of %d elements", len(list)*n)
	}
	var out []any
	for range n {
		out = append(out, list...)
	}
	return out
}

func toFloat(v any) (float64, bool) {
	switch x := v.(type) {
	case int:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

func intBinary(op string, a, b int) (any, bool) {
	switch op {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	case "/":
		if b == 0 {
			Throw("ZeroDivisionError", "division by zero")
		}
		return float64(a) / float64(b), true
	case "//", "%":
		if b == 0 {
			Throw("ZeroDivisionError", "integer division or modulo by zero")
		}
		q, m := a/b, a%b
		if m != 0 && (m < 0) != (b < 0) {
			q, m = q-1, m+b
		}
		if op == "%" {
			return m, true
		}
		return q, true
	case "**":
		if b < 0 {
			return math.Pow(float64(a), float64(b)), true
		}
		out := 1
		for ; b > 0; b >>= 1 {
			if b&1 != 0 {
				out *= a
			}
			a *= a
		}
		return out, true
	case "&":
		return a & b, true
	case "|":
		return a | b, true
	case "^":
		return a ^ b, true
	case "<<", ">>":
		if b < 0 {
			Throw("ValueError", "negative shift count")
		}
		if op == "<<" {
			return a << b, true
		}
		return a >> b, true
	}
	return nil, false
}

func floatBinary(op string, a, b float64) (any, bool) {
	switch op {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	case "/":
		if b == 0 {
			Throw("ZeroDivisionError", "float division by zero")
		}
		return a / b, true
	case "//":
		return math.Floor(a / b), true
	case "%":
		m := math.Mod(a, b)
		if m != 0 && (m < 0) != (b < 0) {
			m += b
		}
		return m, true
	case "**":
		return math.Pow(a, b), true
	}
	return nil, false
}

func (in *Interp) compare(op string, l, r any) any {
	switch op {
	case "is":
		return same(l, r)
	case "is not":
		return !same(l, r)
	case "in", "not in":
		return in.contains(r, l) == (op == "in")
	}
	if !plain(l) || !plain(r) {
		if v, ok := in.Host.Binary(op, l, r); ok {
			return v
		}
	}
	switch op {
	case "==":
		return in.equal(l, r)
	case "!=":
		return !in.equal(l, r)
	}
	c, ok := in.order(l, r)
	if !ok {
		Throw("TypeError", "'%s' not supported between instances of '%s' and '%s'", op, in.typeName(l), in.typeName(r))
	}
	switch op {
	case "<":
		return c == -1
	case "<=":
		return c == -1 || c == 0
	case ">":
		return c == 1
	}
	return c == 1 || c == 0
}

func same(l, r any) bool {
	switch l.(type) {
	case Tuple, Builtin, Slice:
		return false
	}
	switch r.(type) {
	case Tuple, Builtin, Slice:
		return false
	}
	return l == r
}

func (in *Interp) equal(l, r any) bool {
	l, r = number(l), number(r)
	if a, ok := toFloat(l); ok {
		b, ok := toFloat(r)
		return ok && a == b
	}
	var a, b []any
	switch x := l.(type) {
	case Tuple:
		y, ok := r.(Tuple)
		if !ok {
			return false
		}
		a, b = x, y
	case *List:
		y, ok := r.(*List)
		if !ok {
			return false
		}
		a, b = x.Elts, y.Elts
	case *Dict:
		y, ok := r.(*Dict)
		if !ok || len(x.Keys) != len(y.Keys) {
			return false
		}
		for _, k := range x.Keys {
			u, _ := x.Get(k)
			v, ok := y.Get(k)
			if !ok || !in.equal(u, v) {
				return false
			}
		}
		return true
	default:
		return same(l, r)
	}
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !in.truth(in.compare("==", a[i], b[i])) {
			return false
		}
	}
	return true
}

// order compares numbers, strings and sequences: -1, 0 or 1; 2 where a NaN is among them.
func (in *Interp) order(l, r any) (int, bool) {
	l, r = number(l), number(r)
	if a, ok := toFloat(l); ok {
		b, ok := toFloat(r)
		switch {
		case a < b:
			return -1, ok
		case a > b:
			return 1, ok
		case a == b:
			return 0, ok
		}
		return 2, ok
	}
	if a, ok := l.(string); ok {
		b, ok := r.(string)
		return strings.Compare(a, b), ok
	}
	var a, b []any
	switch x := l.(type) {
	case Tuple:
		y, ok := r.(Tuple)
		if !ok {
			return 0, false
		}
		a, b = x, y
	case *List:
		y, ok := r.(*List)
		if !ok {
			return 0, false
		}
		a, b = x.Elts, y.Elts
	default:
		return 0, false
	}
	for i := range min(len(a), len(b)) {
		if c, ok := in.order(a[i], b[i]); c != 0 || !ok {
			return c, ok
		}
	}
	return in.order(len(a), len(b))
}

func (in *Interp) contains(in2, x any) bool {
	switch c := in2.(type) {
	case string:
		s, ok := x.(string)
		return ok && strings.Contains(c, s)
	case *Dict:
		_, ok := c.Get(x)
		return ok
	}
	for _, v := range in.Iter(in2) {
		if same(v, x) || in.truth(in.compare("==", v, x)) {
			return true
		}
	}
	return false
}

func (in *Interp) position(i, n int) int {
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		Throw("IndexError", "list index out of range")
	}
	return i
}

func (in *Interp) index(v, i any) any {
	var list []any
	switch x := v.(type) {
	case *Dict:
		e, ok := x.Get(i)
		if !ok {
			Throw("KeyError", "%s", Repr(i))
		}
		return e
	case Tuple:
		list = x
	case *List:
		list = x.Elts
	case string:
		list = in.Iter(x)
	default:
		if o, ok := v.(*Object); ok {
			if m, ok := o.Class.Lookup("__getitem__"); ok {
				return in.Call(m, []any{o, i}, nil)
			}
		}
		if e, ok := in.Host.Index(v, i); ok {
			return e
		}
		Throw("TypeError", "'%s' object is not subscriptable", in.typeName(v))
	}
	if n, ok := number(i).(int); ok {
		return list[in.position(n, len(list))]
	}
	s, ok := i.(Slice)
	if !ok {
		Throw("TypeError", "list indices must be integers or slices, not %s", in.typeName(i))
	}
	var out []any
	for _, j := range s.Indices(len(list)) {
		out = append(out, list[j])
	}
	switch v.(type) {
	case Tuple:
		return Tuple(out)
	case string:
		b := ""
		for _, c := range out {
			b += c.(string)
		}
		return b
	}
	return &List{out}
}

// Indices lists the positions that a slice takes of n elements.
func (s Slice) Indices(n int) []int {
	step := 1
	if v, ok := s.Step.(int); ok {
		step = v
	}
	if step == 0 {
		Throw("ValueError", "slice step cannot be zero")
	}
	lo, hi := 0, n
	if step < 0 {
		lo, hi = n-1, -1
	}
	bound := func(v any, def int) int {
		i, ok := v.(int)
		if !ok {
			return def
		}
		if i < 0 {
			i += n
		}
		if step > 0 {
			return min(max(i, 0), n)
		}
		return min(max(i, -1), n-1)
	}
	lo, hi = bound(s.Lo, lo), bound(s.Hi, hi)
	var out []int
	for i := lo; step > 0 && i < hi || step < 0 && i > hi; i += step {
		out = append(out, i)
	}
	return out
}

func (in *Interp) setIndex(v, i, x any) {
	switch c := v.(type) {
	case *Dict:
		c.Set(i, x)
		return
	case *List:
		if n, ok := number(i).(int); ok {
			c.Elts[in.position(n, len(c.Elts))] = x
			return
		}
	case *Object:
		if m, ok := c.Class.Lookup("__setitem__"); ok {
			in.Call(m, []any{c, i, x}, nil)
			return
		}
	}
	if !in.Host.SetIndex(v, i, x) {
		Throw("TypeError", "'%s' object does not support item assignment", in.typeName(v))
	}
}

// format is what an f-string writes for a value.
func (in *Interp) format(v any, conv byte, spec string) string {
	if conv == 'r' {
		return Repr(in.printable(v))
	}
	if spec == "" {
		return in.str(v)
	}
	verb := spec[len(spec)-1]
	if spec[0] == '>' || spec[0] == '<' { // Go aligns to the right, and to the left with a minus sign
		spec = strings.Replace(strings.TrimPrefix(spec, ">"), "<", "-", 1)
	}
	switch x := number(v).(type) {
	case int:
		if strings.IndexByte("efgEG", verb) >= 0 {
			return fmt.Sprintf("%"+spec, float64(x))
		}
		return fmt.Sprintf("%"+strings.TrimSuffix(spec, "d")+"d", x)
	case float64:
		return fmt.Sprintf("%"+spec, x)
	}
	return fmt.Sprintf("%"+strings.TrimSuffix(spec, "s")+"s", in.str(v))
}

// percent is Python's "…" % values.
func (in *Interp) percent(f string, v any) string {
	args, ok := v.(Tuple)
	if !ok {
		args = Tuple{v}
	}
	list := make([]any, len(args))
	for i, a := range args {
		list[i] = a
		switch a.(type) {
		case int, float64:
		default:
			list[i] = in.str(a)
		}
	}
	return fmt.Sprintf(strings.ReplaceAll(strings.ReplaceAll(f, "%r", "%v"), "%i", "%d"), list...)
}

// atoi is int(text).
func atoi(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		Throw("ValueError", "invalid literal for int() with base 10: %s", Repr(s))
	}
	return n
}

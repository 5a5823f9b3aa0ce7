package pylite

import (
	"math"
	"strconv"
	"strings"
)

// exceptionType is one of Python's exception classes.
type exceptionType string

// exceptionBases gives the base of each exception that has another one than Exception.
var exceptionBases = map[string]string{"ZeroDivisionError": "ArithmeticError", "OverflowError": "ArithmeticError",
	"IndexError": "LookupError", "KeyError": "LookupError", "NotImplementedError": "RuntimeError",
	"RecursionError": "RuntimeError", "ModuleNotFoundError": "ImportError", "OutOfMemoryError": "RuntimeError",
	"CheckpointError": "RuntimeError"}

var exceptionNames = []string{"Exception", "BaseException", "RuntimeError", "ValueError", "TypeError", "KeyError",
	"IndexError",
	"AttributeError", "AssertionError", "NotImplementedError", "ZeroDivisionError", "ArithmeticError", "LookupError",
	"OverflowError",
	"NameError", "ImportError", "StopIteration", "UserWarning", "FutureWarning", "DeprecationWarning"}

// builtinType is one of Python's types, which is also a function.
type builtinType string

func one(args []any) any {
	if len(args) == 0 {
		return nil
	}
	return args[0]
}

func (in *Interp) builtins() map[string]any {
	m := map[string]any{
		"len": Builtin(func(args []any, _ map[string]any) any { return in.length(one(args)) }),
		"range": Builtin(func(args []any, _ map[string]any) any {
			n := make([]int, len(args))
			for i, a := range args {
				v, ok := number(a).(int)
				if !ok {
					Throw("TypeError", "'%s' object cannot be interpreted as an integer", in.typeName(a))
				}
				n[i] = v
			}
			lo, hi, step := 0, 0, 1
			switch len(n) {
			case 1:
				hi = n[0]
			case 2:
				lo, hi = n[0], n[1]
			case 3:
				lo, hi, step = n[0], n[1], n[2]
			}
			if step == 0 {
				Throw("ValueError", "range() arg 3 must not be zero")
			}
			if (hi-lo)/step > 1e7 {
				Throw("MemoryError", "range of %d elements", (hi-lo)/step)
			}
			var out Tuple
			for i := lo; step > 0 && i < hi || step < 0 && i > hi; i += step {
				out = append(out, i)
			}
			return out
		}),
		"print": Builtin(func(args []any, _ map[string]any) any {
			parts := make([]string, len(args))
			for i, a := range args {
				parts[i] = in.str(a)
			}
			in.Printed = append(in.Printed, strings.Join(parts, " "))
			return nil
		}),
		"repr": Builtin(func(args []any, _ map[string]any) any {
			v := one(args)
			if _, isString := v.(string); !isString {
				if s, ok := in.Host.Str(v); ok {
					return s
				}
			}
			return Repr(in.printable(v))
		}),
		"abs": Builtin(func(args []any, _ map[string]any) any {
			switch x := number(one(args)).(type) {
			case int:
				return max(x, -x)
			case float64:
				return math.Abs(x)
			}
			return in.Call(in.Attr(one(args), "abs"), nil, nil)
		}),
		"sum": Builtin(func(args []any, kw map[string]any) any {
			var acc any = 0
			if len(args) > 1 {
				acc = args[1]
			} else if s, ok := kw["start"]; ok {
				acc = s
			}
			for _, v := range in.Iter(one(args)) {
				acc = in.binary("+", acc, v)
			}
			return acc
		}),
		"min": Builtin(func(args []any, _ map[string]any) any { return in.extreme(args, "<") }),
		"max": Builtin(func(args []any, _ map[string]any) any { return in.extreme(args, ">") }),
		"sorted": Builtin(func(args []any, kw map[string]any) any {
			key := kw["key"]
			out := sorted(in.Iter(one(args)), func(a, b any) bool {
				if key != nil {
					a, b = in.Call(key, []any{a}, nil), in.Call(key, []any{b}, nil)
				}
				return in.truth(in.compare("<", a, b))
			})
			if in.truth(kw["reverse"]) {
				for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
					out[i], out[j] = out[j], out[i]
				}
			}
			return &List{out}
		}),
		"reversed": Builtin(func(args []any, _ map[string]any) any {
			list := in.Iter(one(args))
			out := make(Tuple, len(list))
			for i, v := range list {
				out[len(list)-1-i] = v
			}
			return out
		}),
		"enumerate": Builtin(func(args []any, kw map[string]any) any {
			from, _ := kw["start"].(int)
			if len(args) > 1 {
				from, _ = args[1].(int)
			}
			var out Tuple
			for i, v := range in.Iter(one(args)) {
				out = append(out, Tuple{i + from, v})
			}
			return out
		}),
		"zip": Builtin(func(args []any, _ map[string]any) any {
			var lists [][]any
			n := math.MaxInt
			for _, a := range args {
				l := in.Iter(a)
				lists = append(lists, l)
				n = min(n, len(l))
			}
			var out Tuple
			for i := 0; i < n && len(lists) > 0; i++ {
				var t Tuple
				for _, l := range lists {
					t = append(t, l[i])
				}
				out = append(out, t)
			}
			return out
		}),
		"map": Builtin(func(args []any, _ map[string]any) any {
			var out Tuple
			for _, v := range in.Iter(args[1]) {
				out = append(out, in.Call(args[0], []any{v}, nil))
			}
			return out
		}),
		"all": Builtin(func(args []any, _ map[string]any) any {
			for _, v := range in.Iter(one(args)) {
				if !in.truth(v) {
					return false
				}
			}
			return true
		}),
		"any": Builtin(func(args []any, _ map[string]any) any {
			for _, v := range in.Iter(one(args)) {
				if in.truth(v) {
					return true
				}
			}
			return false
		}),
		"isinstance": Builtin(func(args []any, _ map[string]any) any { return in.isInstance(args[0], args[1]) }),
		"getattr": Builtin(func(args []any, _ map[string]any) (v any) {
			name, _ := args[1].(string)
			if len(args) > 2 {
				defer func() {
					p := recover()
					if p == nil {
						return
					}
					if r, ok := p.(*Raise); !ok || r.Type != "AttributeError" {
						panic(p)
					}
					v = args[2]
				}()
			}
			return in.Attr(args[0], name)
		}),
		"hasattr": Builtin(func(args []any, _ map[string]any) (v any) {
			defer func() {
				p := recover()
				if p == nil {
					return
				}
				if r, ok := p.(*Raise); !ok || r.Type != "AttributeError" {
					panic(p)
				}
				v = false
			}()
			in.Attr(args[0], in.str(args[1]))
			return true
		}),
		"setattr": Builtin(func(args []any, _ map[string]any) any {
			in.SetAttr(args[0], in.str(args[1]), args[2])
			return nil
		}),
		"staticmethod": Builtin(func(args []any, _ map[string]any) any { return Static{one(args)} }),
		"classmethod":  Builtin(func(args []any, _ map[string]any) any { return ClassMethod{one(args)} }),
		"property":     Builtin(func(args []any, _ map[string]any) any { return Property{one(args)} }),
		"round": Builtin(func(args []any, _ map[string]any) any {
			f, ok := toFloat(number(one(args)))
			if !ok {
				Throw("TypeError", "type %s doesn't define __round__ method", in.typeName(one(args)))
			}
			if len(args) > 1 {
				n, _ := args[1].(int)
				r, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
				return r
			}
			return int(math.RoundToEven(f))
		}),
		"format": Builtin(func(args []any, _ map[string]any) any {
			spec := ""
			if len(args) > 1 {
				spec, _ = args[1].(string)
			}
			return in.format(args[0], 0, spec)
		}),
		"id":       Builtin(func(args []any, _ map[string]any) any { return 0 }),
		"callable": Builtin(func(args []any, _ map[string]any) any { _, ok := one(args).(*Func); return ok }),
	}
	for _, n := range exceptionNames {
		m[n] = exceptionType(n)
	}
	for _, n := range []string{"int", "float", "bool", "str", "list", "tuple", "dict", "set", "type", "object",
		"complex"} {
		m[n] = builtinType(n)
	}
	m["NotImplemented"] = Ellipsis{}
	return m
}

// construct calls one of Python's types.
func (in *Interp) construct(t builtinType, args []any, kw map[string]any) any {
	v := one(args)
	switch t {
	case "int":
		switch x := number(v).(type) {
		case nil:
			return 0
		case int:
			return x
		case float64:
			if math.IsNaN(x) || math.IsInf(x, 0) {
				Throw("OverflowError", "cannot convert float %v to integer", x)
			}
			return int(x)
		case string:
			return atoi(x)
		}
		return in.Call(in.Attr(v, "__int__"), nil, nil)
	case "float":
		switch x := number(v).(type) {
		case nil:
			return 0.0
		case int:
			return float64(x)
		case float64:
			return x
		case string:
			f, err := strconv.ParseFloat(strings.TrimSpace(x), 64)
			if err != nil {
				Throw("ValueError", "could not convert string to float: %s", Repr(x))
			}
			return f
		}
		return in.Call(in.Attr(v, "__float__"), nil, nil)
	case "bool":
		return in.truth(v)
	case "str":
		if len(args) == 0 {
			return ""
		}
		return in.str(v)
	case "list":
		if len(args) == 0 {
			return &List{}
		}
		return &List{append([]any(nil), in.Iter(v)...)}
	case "tuple":
		if len(args) == 0 {
			return Tuple{}
		}
		return Tuple(append([]any(nil), in.Iter(v)...))
	case "dict", "set":
		d := NewDict()
		if m, ok := v.(*Dict); ok {
			for _, k := range m.Keys {
				e, _ := m.Get(k)
				d.Set(k, e)
			}
		} else if v != nil {
			for _, e := range in.Iter(v) {
				if t == "set" {
					d.Set(e, nil)
					continue
				}
				pair := in.Iter(e)
				d.Set(pair[0], pair[1])
			}
		}
		for k, e := range kw {
			d.Set(k, e)
		}
		return d
	case "type":
		if o, ok := v.(*Object); ok {
			return o.Class
		}
		if x, ok := in.Host.TypeOf(v); ok {
			return x
		}
		return builtinType(TypeName(v))
	}
	return &Object{Class: &Class{Name: "object", Dict: map[string]any{}}, Attrs: map[string]any{}}
}

func (in *Interp) length(v any) int {
	switch x := v.(type) {
	case string:
		return len([]rune(x))
	case Tuple:
		return len(x)
	case *List:
		return len(x.Elts)
	case *Dict:
		return len(x.Keys)
	}
	if n, ok := in.Host.Len(v); ok {
		return n
	}
	Throw("TypeError", "object of type '%s' has no len()", in.typeName(v))
	return 0
}

func (in *Interp) extreme(args []any, op string) any {
	list := args
	if len(args) == 1 {
		list = in.Iter(args[0])
	}
	if len(list) == 0 {
		Throw("ValueError", "min() arg is an empty sequence")
	}
	best := list[0]
	for _, v := range list[1:] {
		if in.truth(in.compare(op, v, best)) {
			best = v
		}
	}
	return best
}

func (in *Interp) isInstance(v, class any) bool {
	switch c := class.(type) {
	case Tuple:
		for _, x := range c {
			if in.isInstance(v, x) {
				return true
			}
		}
		return false
	case builtinType:
		n := TypeName(v)
		return n == string(c) || n == "bool" && c == "int" || c == "object"
	case *Class:
		o, ok := v.(*Object)
		return ok && isSubclass(o.Class, c)
	case exceptionType:
		r, ok := v.(*Raise)
		return ok && in.matches(r, c)
	}
	yes, known := in.Host.IsInstance(v, class)
	return known && yes
}

// method gives the methods of Python's own types.
func (in *Interp) method(v any, name string) (any, bool) {
	var f Builtin
	switch x := v.(type) {
	case *List:
		switch name {
		case "append":
			f = func(args []any, _ map[string]any) any { x.Elts = append(x.Elts, one(args)); return nil }
		case "extend":
			f = func(args []any, _ map[string]any) any { x.Elts = append(x.Elts, in.Iter(one(args))...); return nil }
		case "insert":
			f = func(args []any, _ map[string]any) any {
				i, _ := args[0].(int)
				i = min(max(i, 0), len(x.Elts))
				x.Elts = append(x.Elts[:i:i], append([]any{args[1]}, x.Elts[i:]...)...)
				return nil
			}
		case "pop":
			f = func(args []any, _ map[string]any) any {
				i := -1
				if n, ok := one(args).(int); ok {
					i = n
				}
				i = in.position(i, len(x.Elts))
				e := x.Elts[i]
				x.Elts = append(x.Elts[:i:i], x.Elts[i+1:]...)
				return e
			}
		case "clear":
			f = func([]any, map[string]any) any { x.Elts = nil; return nil }
		case "index":
			f = func(args []any, _ map[string]any) any {
				for i, e := range x.Elts {
					if in.equal(e, one(args)) {
						return i
					}
				}
				Throw("ValueError", "%s is not in list", Repr(one(args)))
				return nil
			}
		case "count":
			f = func(args []any, _ map[string]any) any {
				n := 0
				for _, e := range x.Elts {
					if in.equal(e, one(args)) {
						n++
					}
				}
				return n
			}
		case "reverse":
			f = func([]any, map[string]any) any {
				for i, j := 0, len(x.Elts)-1; i < j; i, j = i+1, j-1 {
					x.Elts[i], x.Elts[j] = x.Elts[j], x.Elts[i]
				}
				return nil
			}
		}
	case *Dict:
		f = in.dictMethod(x, name)
	case string:
		f = in.strMethod(x, name)
	case int:
		if name == "bit_length" {
			f = func([]any, map[string]any) any { return len(strconv.FormatInt(int64(max(x, -x)), 2)) }
		}
	case float64:
		if name == "is_integer" {
			f = func([]any, map[string]any) any { return x == math.Trunc(x) }
		}
	case complex128:
		switch name {
		case "real":
			return real(x), true
		case "imag":
			return imag(x), true
		}
	}
	return f, f != nil
}

func (in *Interp) dictMethod(d *Dict, name string) Builtin {
	switch name {
	case "update":
		return func(args []any, kw map[string]any) any {
			if m, ok := one(args).(*Dict); ok {
				for _, k := range m.Keys {
					v, _ := m.Get(k)
					d.Set(k, v)
				}
			}
			for k, v := range kw {
				d.Set(k, v)
			}
			return nil
		}
	case "get", "setdefault", "pop":
		return func(args []any, _ map[string]any) any {
			v, ok := d.Get(args[0])
			if !ok && len(args) > 1 {
				v = args[1]
			}
			switch {
			case !ok && name == "setdefault":
				d.Set(args[0], v)
			case !ok && name == "pop" && len(args) < 2:
				Throw("KeyError", "%s", Repr(args[0]))
			case ok && name == "pop":
				d.Delete(args[0])
			}
			return v
		}
	case "keys":
		return func([]any, map[string]any) any { return Tuple(append([]any(nil), d.Keys...)) }
	case "values", "items":
		return func([]any, map[string]any) any {
			var out Tuple
			for _, k := range d.Keys {
				v, _ := d.Get(k)
				if name == "items" {
					v = Tuple{k, v}
				}
				out = append(out, v)
			}
			return out
		}
	case "copy":
		return func([]any, map[string]any) any { return in.construct("dict", []any{d}, nil) }
	case "add":
		return func(args []any, _ map[string]any) any { d.Set(args[0], nil); return nil }
	}
	return nil
}

func (in *Interp) strMethod(s, name string) Builtin {
	text := func(v any) string { t, _ := v.(string); return t }
	switch name {
	case "format":
		return func(args []any, kw map[string]any) any {
			var b strings.Builder
			n := 0
			for _, part := range formatParts(s) {
				if !part.field {
					b.WriteString(part.text)
					continue
				}
				var v any
				if k, ok := kw[part.text]; ok {
					v = k
				} else if i, err := strconv.Atoi(part.text); err == nil {
					v = args[in.position(i, len(args))]
				} else {
					v = args[in.position(n, len(args))]
					n++
				}
				b.WriteString(in.format(v, 0, part.spec))
			}
			return b.String()
		}
	case "join":
		return func(args []any, _ map[string]any) any {
			var parts []string
			for _, v := range in.Iter(one(args)) {
				parts = append(parts, text(v))
			}
			return strings.Join(parts, s)
		}
	case "split":
		return func(args []any, _ map[string]any) any {
			var parts []string
			if len(args) == 0 {
				parts = strings.Fields(s)
			} else {
				parts = strings.Split(s, text(args[0]))
			}
			l := &List{}
			for _, p := range parts {
				l.Elts = append(l.Elts, p)
			}
			return l
		}
	case "startswith":
		return func(args []any, _ map[string]any) any { return strings.HasPrefix(s, text(one(args))) }
	case "endswith":
		return func(args []any, _ map[string]any) any { return strings.HasSuffix(s, text(one(args))) }
	case "strip":
		return func([]any, map[string]any) any { return strings.TrimSpace(s) }
	case "upper":
		return func([]any, map[string]any) any { return strings.ToUpper(s) }
	case "lower":
		return func([]any, map[string]any) any { return strings.ToLower(s) }
	case "replace":
		return func(args []any, _ map[string]any) any { return strings.ReplaceAll(s, text(args[0]), text(args[1])) }
	case "find":
		return func(args []any, _ map[string]any) any { return strings.Index(s, text(one(args))) }
	case "count":
		return func(args []any, _ map[string]any) any { return strings.Count(s, text(one(args))) }
	}
	return nil
}

// formatPart is text, or a field, of a format string.
type formatPart struct {
	text, spec string
	field      bool
}

// formatParts splits a string for str.format.
func formatParts(s string) []formatPart {
	var out []formatPart
	for s != "" {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			return append(out, formatPart{text: strings.ReplaceAll(s, "}}", "}")})
		}
		if strings.HasPrefix(s[i:], "{{") {
			out = append(out, formatPart{text: s[:i+1]})
			s = s[i+2:]
			continue
		}
		out = append(out, formatPart{text: s[:i]})
		field, rest, ok := strings.Cut(s[i+1:], "}")
		if !ok {
			Throw("ValueError", "expected '}' before end of string")
		}
		name, spec, _ := strings.Cut(field, ":")
		out = append(out, formatPart{text: name, spec: spec, field: true})
		s = rest
	}
	return out
}

package pylite

import (
	"fmt"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/internal/python"

	"github.com/gotorch-dev/torch/internal/pyfmt"
)

// Tuple is a Python tuple.
type Tuple []any

// List is a Python list.
type List struct{ Elts []any }

// Dict is a Python dict with its order; keys are numbers, strings or other comparable Go values.
type Dict struct {
	Keys []any
	m    map[any]any
}

// NewDict makes an empty dict.
func NewDict() *Dict { return &Dict{m: map[any]any{}} }

// Get looks a key up.
func (d *Dict) Get(k any) (any, bool) {
	v, ok := d.m[hashed(k)]
	return v, ok
}

// Set stores a value under a key.
func (d *Dict) Set(k, v any) {
	h := hashed(k)
	if _, ok := d.m[h]; !ok {
		d.Keys = append(d.Keys, k)
	}
	d.m[h] = v
}

// Delete removes a key and reports whether it was there.
func (d *Dict) Delete(k any) bool {
	h := hashed(k)
	if _, ok := d.m[h]; !ok {
		return false
	}
	delete(d.m, h)
	for i, x := range d.Keys {
		if hashed(x) == h {
			d.Keys = append(d.Keys[:i:i], d.Keys[i+1:]...)
			break
		}
	}
	return true
}

// hashed is what a key is compared by: equal numbers are one key, and tuples are compared by their text.
func hashed(k any) any {
	switch x := k.(type) {
	case bool:
		if x {
			return 1
		}
		return 0
	case float64:
		if x == float64(int(x)) {
			return int(x)
		}
	case Tuple:
		return "tuple" + Repr(x)
	case *List, *Dict:
		Throw("TypeError", "unhashable type: '%s'", TypeName(k))
	}
	return k
}

// Ellipsis is "...".
type Ellipsis struct{}

// Slice is lo:hi:step; what was left out is nil.
type Slice struct{ Lo, Hi, Step any }

// Builtin is a function written in Go.
type Builtin func(args []any, kw map[string]any) any

// Func is a function of the program.
type Func struct {
	Name   string
	params []python.Param
	defs   []any // default values, by parameter
	body   []python.Stmt
	ret    python.Expr // of a lambda
	env    *scope
	in     *Interp
}

// Call runs the function.
func (f *Func) Call(args []any, kw map[string]any) any { return f.in.callFunc(f, args, kw) }

// Class is a class of the program. Base is what the Host gave as its base class, if any.
type Class struct {
	Name  string
	Bases []any
	Dict  map[string]any
}

// Lookup finds a member in the class or its bases among the program's classes.
func (c *Class) Lookup(name string) (any, bool) {
	if v, ok := c.Dict[name]; ok {
		return v, true
	}
	for _, b := range c.Bases {
		if bc, ok := b.(*Class); ok {
			if v, ok := bc.Lookup(name); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// Host is the first base of the class, or of its bases, that is no class of the program.
func (c *Class) Host() any {
	for _, b := range c.Bases {
		if bc, ok := b.(*Class); ok {
			if h := bc.Host(); h != nil {
				return h
			}
			continue
		}
		return b
	}
	return nil
}

// Object is an instance of a Class; Data is the Host's.
type Object struct {
	Class *Class
	Attrs map[string]any
	Data  any
}

// Static marks a method that does not take the object.
type Static struct{ F any }

// Property marks a method that is called when it is read.
type Property struct{ F any }

// ClassMethod marks a method that takes the class.
type ClassMethod struct{ F any }

// Module is a namespace of the Host.
type Module struct {
	Name string
	Attr func(name string) (any, bool)
}

// Raise is a Python exception on its way through Go code: a panic with this type.
type Raise struct {
	Type string
	Msg  string
	Go   error // what a Go error said, if it came from one
	Obj  any   // of a class of the program
}

// Error is the exception as Python prints it.
func (r *Raise) Error() string {
	if r.Msg == "" {
		return r.Type
	}
	return r.Type + ": " + r.Msg
}

// Throw raises a Python exception.
func Throw(typ, format string, args ...any) {
	panic(&Raise{Type: typ, Msg: fmt.Sprintf(format, args...)})
}

// TypeName is Python's name of a value's type.
func TypeName(v any) string {
	switch x := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int:
		return "int"
	case float64:
		return "float"
	case complex128:
		return "complex"
	case string:
		return "str"
	case Tuple:
		return "tuple"
	case *List:
		return "list"
	case *Dict:
		return "dict"
	case *Func, Builtin:
		return "function"
	case *Class:
		return "type"
	case *Object:
		return x.Class.Name
	case *Module:
		return "module"
	case *Raise:
		return x.Type
	}
	return fmt.Sprintf("%T", v)
}

// Repr is Python's repr of the built-in types; other values print themselves.
func Repr(v any) string {
	switch x := v.(type) {
	case Tuple:
		if len(x) == 1 {
			return "(" + Repr(x[0]) + ",)"
		}
		return "(" + reprs(x) + ")"
	case *List:
		return "[" + reprs(x.Elts) + "]"
	case *Dict:
		parts := make([]string, len(x.Keys))
		for i, k := range x.Keys {
			e, _ := x.Get(k)
			parts[i] = Repr(k) + ": " + Repr(e)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case Ellipsis:
		return "Ellipsis"
	case *Raise:
		return x.Type + "(" + pyfmt.Str(x.Msg) + ")"
	case builtinType:
		return "<class '" + string(x) + "'>"
	case exceptionType:
		return "<class '" + string(x) + "'>"
	}
	return pyfmt.Repr(v)
}

func reprs(list []any) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = Repr(v)
	}
	return strings.Join(parts, ", ")
}

// Str is Python's str.
func Str(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case *Raise:
		return x.Msg
	}
	return Repr(v)
}

// sorted orders numbers or strings.
func sorted(list []any, less func(a, b any) bool) []any {
	out := append([]any(nil), list...)
	sort.SliceStable(out, func(i, j int) bool { return less(out[i], out[j]) })
	return out
}

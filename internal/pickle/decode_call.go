// Making the values that a stream describes: globals, calls, BUILD, and the built-in types that are written as calls.

package pickle

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (d *Decoder) persistent(id Value) error {
	if d.opts.PersistentLoad == nil {
		return syntax("persistent id %s, but none is expected here", Repr(id))
	}
	v, err := d.opts.PersistentLoad(id)
	if err != nil {
		return err
	}
	return d.push(v)
}

func (d *Decoder) pushGlobal(module, name string) error {
	g, err := d.global(module, name)
	if err != nil {
		return err
	}
	return d.push(g)
}

func (d *Decoder) global(module, name string) (*Global, error) {
	module, name = python3Name(module, name)
	key := [2]string{module, name}
	if g := d.globals[key]; g != nil {
		return g, nil
	}
	g := &Global{Module: module, Name: name}
	if d.opts.FindClass != nil {
		fn, err := d.opts.FindClass(module, name)
		if err != nil {
			return nil, err
		}
		g.fn = fn
	}
	d.globals[key] = g
	return g, nil
}

func (d *Decoder) call(class Value, args Tuple, kwargs *Dict, isNew bool) error {
	if g, ok := class.(*Global); ok && (kwargs == nil || kwargs.Len() == 0) {
		if g.fn != nil {
			if err := d.cost.spend(callCost(args)); err != nil {
				return err
			}
			v, err := g.fn(args)
			if err != nil {
				return fmt.Errorf("%s: %w", g, err)
			}
			return d.push(v)
		}
		v, ok, err := d.builtin(g, args)
		if err != nil {
			return fmt.Errorf("%s: %w", g, err)
		}
		if ok {
			return d.push(v)
		}
	}
	switch class.(type) {
	case *Global, *Object: // an object can be callable: a partial, a bound method
	default:
		return syntax("call of a %s", typeName(class))
	}
	return d.push(&Object{Class: class, Args: args, Kwargs: kwargs, New: isNew})
}

// callCost is what a call of the caller's function may cost in bytes. A stream can repeat a call with remembered
// arguments in five bytes, and the result may hold a copy of each argument.
func callCost(args Tuple) int {
	n := 512
	for _, a := range args {
		switch a := a.(type) {
		case Tuple:
			n += 32 * len(a)
		case *List:
			n += 32 * len(a.Items)
		case []byte:
			n += len(a)
		}
	}
	return n
}

func (d *Decoder) build(v, state Value) error {
	switch v := v.(type) {
	case *Object:
		v.State, v.HasState = state, true
	case *Dict:
		v.Attrs = state
	case Builder:
		return v.PickleBuild(state)
	default:
		return syntax("BUILD of a %s", typeName(v))
	}
	return nil
}

// builtin makes the values of Python's own data types, which protocol 2 can only
// express as calls. Calls that it does not recognise are left to be described.
func (d *Decoder) builtin(g *Global, args Tuple) (v Value, ok bool, err error) {
	switch g.Module {
	case "builtins":
		switch g.Name {
		case "set", "frozenset":
			items, ok := iterable(args)
			if !ok {
				return nil, false, nil
			}
			if err := d.cost.spend(64 * len(items)); err != nil {
				return nil, false, err
			}
			s := &Set{Frozen: g.Name == "frozenset"}
			return s, true, d.addItems(s, items)
		case "list", "tuple":
			items, ok := iterable(args)
			if !ok {
				return nil, false, nil
			}
			if err := d.cost.spend(16 * len(items)); err != nil {
				return nil, false, err
			}
			items = append([]Value{}, items...)
			if g.Name == "list" {
				return &List{Items: items}, true, nil
			}
			return Tuple(items), true, nil
		case "dict":
			if len(args) == 0 {
				return &Dict{}, true, nil
			}
		case "bytes", "bytearray":
			b, ok, err := d.toBytes(args)
			if ok && g.Name == "bytearray" {
				return ByteArray(b), true, err
			}
			return b, ok, err
		case "complex":
			if len(args) == 2 {
				re, ok1 := toFloat(args[0])
				im, ok2 := toFloat(args[1])
				return complex(re, im), ok1 && ok2, nil
			}
		}
	case "_codecs":
		if g.Name == "encode" {
			b, ok, err := d.toBytes(args)
			return b, ok, err
		}
	case "collections":
		switch g.Name {
		case "OrderedDict", "Counter":
			m := &Dict{Class: OrderedDict}
			if g.Name == "Counter" {
				m.Class = Counter
			}
			switch len(args) {
			case 0:
				return m, true, nil
			case 1:
				return m, true, d.update(m, args[0])
			}
		case "defaultdict":
			m := &Dict{Class: DefaultDict}
			switch len(args) {
			case 0:
				return m, true, nil
			case 1:
				m.Factory = args[0]
				return m, true, nil
			}
		}
	}
	return nil, false, nil
}

// update fills a new mapping from a dict or a sequence of pairs.
func (d *Decoder) update(m *Dict, from Value) error {
	if src, ok := from.(*Dict); ok {
		for _, e := range src.entries {
			if err := d.cost.spend(64); err != nil {
				return err
			}
			if err := m.set(e.Key, e.Value, &d.cost); err != nil {
				return err
			}
		}
		return nil
	}
	items, ok := iterable(Tuple{from})
	if !ok {
		return syntax("cannot fill a dict from a %s", typeName(from))
	}
	for _, it := range items {
		if err := d.cost.spend(64); err != nil {
			return err
		}
		pair, ok := iterable(Tuple{it})
		if !ok || len(pair) != 2 {
			return syntax("dict item is not a pair")
		}
		if err := m.set(pair[0], pair[1], &d.cost); err != nil {
			return err
		}
	}
	return nil
}

// iterable returns the items of the one list or tuple among the arguments of a
// container's constructor; no argument means no items.
func iterable(args Tuple) ([]Value, bool) {
	switch len(args) {
	case 0:
		return nil, true
	case 1:
		switch v := args[0].(type) {
		case *List:
			return v.Items, true
		case Tuple:
			return v, true
		}
	}
	return nil, false
}

// toBytes interprets the arguments with which Python rebuilds bytes: none, bytes,
// or text and the encoding latin1, in which a code point is a byte.
func (d *Decoder) toBytes(args Tuple) ([]byte, bool, error) {
	switch len(args) {
	case 0:
		return []byte{}, true, nil
	case 1:
		switch b := args[0].(type) {
		case []byte:
			return append([]byte{}, b...), true, d.cost.spend(len(b))
		case ByteArray:
			return append([]byte{}, b...), true, d.cost.spend(len(b))
		}
	case 2:
		s, ok := args[0].(string)
		enc, _ := args[1].(string)
		if !ok || (enc != "latin1" && enc != "latin-1") {
			return nil, false, nil
		}
		if err := d.cost.spend(len(s)); err != nil {
			return nil, false, err
		}
		b := make([]byte, 0, len(s))
		for _, r := range s {
			if r > 0xff {
				return nil, false, syntax("U+%04X is not latin1", r)
			}
			b = append(b, byte(r))
		}
		return b, true, nil
	}
	return nil, false, nil
}

func toFloat(v Value) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// typeName names a value's type for messages, as Python would.
func typeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case []byte:
		return "bytes"
	case ByteArray:
		return "bytearray"
	case Tuple:
		return "tuple"
	case *List:
		return "list"
	case *Dict:
		return "dict"
	case *Set:
		return "set"
	case *Global:
		return "global " + cut(v.String())
	case *Object:
		if g := v.Global(); g != nil {
			return cut(g.String())
		}
		return "object"
	}
	return fmt.Sprintf("%T", v)
}

// unquote reads the repr of a Python 2 string, the argument of STRING.
func unquote(s string) ([]byte, error) {
	s = strings.TrimRight(s, " \t\r")
	if len(s) < 2 || (s[0] != '\'' && s[0] != '"') || s[len(s)-1] != s[0] {
		return nil, syntax("STRING argument %q is not quoted", cut(s))
	}
	s = s[1 : len(s)-1]
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		if i == len(s) {
			return nil, syntax("STRING ends in a backslash")
		}
		switch c := s[i]; c {
		case 'n', 't', 'r', 'a', 'b', 'f', 'v':
			out = append(out, "\n\t\r\a\b\f\v"[strings.IndexByte("ntrabfv", c)])
		case '\\', '\'', '"':
			out = append(out, c)
		case '\n':
		case 'x':
			if i+2 >= len(s) {
				return nil, syntax("STRING has a short \\x escape")
			}
			v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return nil, syntax("STRING has a bad \\x escape")
			}
			out = append(out, byte(v))
			i += 2
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v, n := 0, 0
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				v = v*8 + int(s[i+n]-'0')
				n++
			}
			out = append(out, byte(v))
			i += n - 1
		default: // Python keeps unknown escapes as they are
			out = append(out, '\\', c)
		}
	}
	return out, nil
}

// rawUnicodeEscape reads the argument of UNICODE: latin1 in which only \uXXXX and
// \UXXXXXXXX are escapes.
func rawUnicodeEscape(s string) ([]byte, error) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		n := 0
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case 'u':
				n = 4
			case 'U':
				n = 8
			}
		}
		if n == 0 {
			out = utf8.AppendRune(out, rune(s[i]))
			continue
		}
		if i+2+n > len(s) {
			return nil, syntax("UNICODE has a short escape")
		}
		v, err := strconv.ParseUint(s[i+2:i+2+n], 16, 32)
		if err != nil || v > utf8.MaxRune {
			return nil, syntax("UNICODE has a bad escape")
		}
		if v >= 0xd800 && v < 0xe000 { // a lone surrogate keeps its three-byte form
			out = append(out, 0xed, byte(0x80|v>>6&0x3f), byte(0x80|v&0x3f))
		} else {
			out = utf8.AppendRune(out, rune(v))
		}
		i += 1 + n
	}
	return out, nil
}

package pylite

import (
	"math"
	"strings"
)

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
	if x, ok := l.(*Dict); ok {
		y, ok := r.(*Dict)
		return ok && in.equalDicts(x, y)
	}
	a, b, ok := sequences(l, r)
	if !ok {
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

func (in *Interp) equalDicts(x, y *Dict) bool {
	if len(x.Keys) != len(y.Keys) {
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
}

// sequences are the elements of two tuples or of two lists.
func sequences(l, r any) (a, b []any, ok bool) {
	switch x := l.(type) {
	case Tuple:
		y, ok := r.(Tuple)
		return x, y, ok
	case *List:
		if y, ok := r.(*List); ok {
			return x.Elts, y.Elts, true
		}
	}
	return nil, nil, false
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
	a, b, ok := sequences(l, r)
	if !ok {
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

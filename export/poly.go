package export

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// poly is a size as a polynomial of symbols with rational coefficients, the normal form in which sizes are compared:
// archives write one size in two notations. A function that is no polynomial, such as a floor division, is a symbol of
// its own, named by its text.
type poly map[string]*big.Rat // by the product of symbols, their names sorted and joined with *; "" is the constant

// maxTerms bounds the terms of a polynomial, so that the product of many sums stays small.
const maxTerms = 256

// maxDegree bounds the symbols of a term, and maxBits the numbers.
const (
	maxDegree = 64
	maxBits   = 1 << 10
)

func constant(r *big.Rat) poly {
	if r.Sign() == 0 {
		return poly{}
	}
	return poly{"": r}
}

func symbol(s string) poly { return poly{s: big.NewRat(1, 1)} }

func (p poly) add(q poly) poly {
	out := poly{}
	for k, v := range p {
		out[k] = v
	}
	for k, v := range q {
		if old := out[k]; old != nil {
			v = new(big.Rat).Add(old, v)
		}
		if out[k] = v; v.Sign() == 0 {
			delete(out, k)
		}
	}
	return out
}

func (p poly) mul(q poly) (poly, error) {
	if len(p)*len(q) > maxTerms {
		return nil, fmt.Errorf("a size of more than %d terms", maxTerms)
	}
	out := poly{}
	for k, v := range p {
		for l, w := range q {
			n := new(big.Rat).Mul(v, w)
			if strings.Count(k, "*")+strings.Count(l, "*") > maxDegree ||
				n.Num().BitLen()+n.Denom().BitLen() > maxBits {
				return nil, fmt.Errorf("a size of degree over %d, or of numbers over %d bits", maxDegree, maxBits)
			}
			out = out.add(poly{product(k, l): n})
		}
	}
	return out, nil
}

func product(k, l string) string {
	var parts []string
	for _, s := range []string{k, l} {
		if s != "" {
			parts = append(parts, strings.Split(s, "*")...)
		}
	}
	sort.Strings(parts)
	return strings.Join(parts, "*")
}

// number is the value of a polynomial without symbols.
func (p poly) number() (r *big.Rat, ok bool) {
	switch len(p) {
	case 0:
		return new(big.Rat), true
	case 1:
		r, ok = p[""]
	}
	return r, ok
}

// symbols are the names of the symbols, sorted.
func (p poly) symbols() []string {
	var out []string
	for k := range p {
		if k == "" {
			continue
		}
		for _, s := range strings.Split(k, "*") {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	sort.Strings(out)
	return out
}

// linear takes a*symbol + b apart.
func (p poly) linear(symbol string) (a, b *big.Rat, ok bool) {
	b = new(big.Rat)
	for k, v := range p {
		switch k {
		case "":
			b = v
		case symbol:
			a = v
		default:
			return nil, nil, false
		}
	}
	return a, b, a != nil
}

// String writes the polynomial as SymPy prints it: powers and larger products first, the constant last.
func (p poly) String() string {
	keys := make([]string, 0, len(p))
	for k := range p {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if (keys[i] == "") != (keys[j] == "") {
			return keys[j] == ""
		}
		n, m := strings.Count(keys[i], "*"), strings.Count(keys[j], "*")
		return n > m || n == m && keys[i] < keys[j]
	})
	var b strings.Builder
	for i, k := range keys {
		c := p[k]
		sign := c.Sign() < 0
		if c = new(big.Rat).Abs(c); i > 0 && sign {
			b.WriteString(" - ")
		} else if i > 0 {
			b.WriteString(" + ")
		} else if sign {
			b.WriteString("-")
		}
		one := c.Cmp(big.NewRat(1, 1)) == 0
		if k == "" {
			b.WriteString(c.RatString())
			continue
		}
		if !one && c.Num().Int64() != 1 || !one && !c.Num().IsInt64() {
			b.WriteString(c.Num().String() + "*")
		}
		b.WriteString(powers(k))
		if !c.IsInt() {
			b.WriteString("/" + c.Denom().String())
		}
	}
	if len(keys) == 0 {
		return "0"
	}
	return b.String()
}

// powers writes a product with powers: "s77**2".
func powers(k string) string {
	parts := strings.Split(k, "*")
	var out []string
	for i := 0; i < len(parts); {
		j := i
		for j < len(parts) && parts[j] == parts[i] {
			j++
		}
		s := parts[i]
		if j-i > 1 {
			s += "**" + strconv.Itoa(j-i)
		}
		out = append(out, s)
		i = j
	}
	return strings.Join(out, "*")
}

// parseSize reads a size in either notation: SymPy's srepr ("Add(Symbol('s77'), Integer(1))") or as it is printed ("s77
// + 1").
func parseSize(s string) (poly, error) {
	e, err := parseExpr(s)
	if err != nil {
		return nil, err
	}
	return sizeOf(e)
}

func sizeOf(e expr) (poly, error) {
	switch e := e.(type) {
	case literal:
		switch v := e.v.(type) {
		case int64:
			return constant(big.NewRat(v, 1)), nil
		case float64:
			if r := new(big.Rat).SetFloat64(v); r != nil {
				return constant(r), nil
			}
		}
	case name:
		return symbol(e.id), nil
	case unary:
		if x, err := sizeOf(e.x); err != nil {
			return nil, err
		} else if e.op == "-" {
			return x.mul(constant(big.NewRat(-1, 1)))
		} else if e.op == "+" {
			return x, nil
		}
	case binary:
		return sizeOfBinary(e)
	case call:
		return sizeOfCall(e)
	}
	return symbol(opaque(unparse(e))), nil
}

// opaque is the name of a symbol that stands for something else than a polynomial.
func opaque(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "*", "×")
}

func sizeOfBinary(e binary) (poly, error) {
	l, err := sizeOf(e.l)
	if err != nil {
		return nil, err
	}
	r, err := sizeOf(e.r)
	if err != nil {
		return nil, err
	}
	switch e.op {
	case "+":
		return l.add(r), nil
	case "-":
		if r, err = r.mul(constant(big.NewRat(-1, 1))); err != nil {
			return nil, err
		}
		return l.add(r), nil
	case "*":
		return l.mul(r)
	case "/":
		if n, ok := r.number(); ok && n.Sign() != 0 {
			return l.mul(constant(new(big.Rat).Inv(n)))
		}
	case "**":
		return power(l, r)
	case "//":
		return function("FloorDiv", l, r), nil
	case "%":
		return function("Mod", l, r), nil
	}
	return function(e.op, l, r), nil
}

func function(name string, args ...poly) poly {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.String()
	}
	return symbol(opaque(name + "(" + strings.Join(parts, ",") + ")"))
}

func power(l, r poly) (poly, error) {
	n, ok := r.number()
	if !ok || !n.IsInt() || n.Sign() < 0 || n.Num().Cmp(big.NewInt(16)) > 0 {
		return function("Pow", l, r), nil
	}
	out, err := constant(big.NewRat(1, 1)), error(nil)
	for range n.Num().Int64() {
		if out, err = out.mul(l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func sizeOfCall(e call) (poly, error) {
	fn, ok := e.fn.(name)
	if !ok {
		return symbol(opaque(unparse(e))), nil
	}
	if fn.id == "Symbol" {
		if len(e.args) > 0 {
			if l, ok := e.args[0].(literal); ok {
				if s, ok := l.v.(string); ok && s != "" && !strings.Contains(s, "*") {
					return symbol(s), nil
				}
			}
		}
		return nil, fmt.Errorf("a symbol without a name")
	}
	args := make([]poly, len(e.args))
	for i, a := range e.args {
		var err error
		if args[i], err = sizeOf(a); err != nil {
			return nil, err
		}
	}
	switch {
	case fn.id == "Integer" && len(args) == 1, fn.id == "Float" && len(args) >= 1:
		return args[0], nil
	case fn.id == "Rational" && len(args) == 2:
		if n, ok := args[1].number(); ok && n.Sign() != 0 {
			return args[0].mul(constant(new(big.Rat).Inv(n)))
		}
	case fn.id == "Add":
		out := poly{}
		for _, a := range args {
			out = out.add(a)
		}
		return out, nil
	case fn.id == "Mul":
		out, err := constant(big.NewRat(1, 1)), error(nil)
		for _, a := range args {
			if out, err = out.mul(a); err != nil {
				return nil, err
			}
		}
		return out, nil
	case (fn.id == "Pow" || fn.id == "PowByNatural") && len(args) == 2:
		return power(args[0], args[1])
	case fn.id == "PythonMod":
		return function("Mod", args...), nil
	case fn.id == "Min" || fn.id == "Max": // the order of the arguments means nothing
		sort.Slice(args, func(i, j int) bool { return args[i].String() < args[j].String() })
	}
	return function(fn.id, args...), nil
}

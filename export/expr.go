package export

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/pyfmt"
)

// An archive has expressions in two notations, which are both Python's: conditions on the inputs ("L['x'].size()[0] %
// 4 == 0"), and sizes as SymPy's srepr writes them ("Add(Symbol('s77', integer=True), Integer(1))"). This file reads
// the part of Python's expressions that they have into a tree. Nothing of it is run: guard.go computes the conditions,
// poly.go the sizes.

// node kinds
type (
	// literal is an int64, a float64, a bool, a string, or nil for None.
	literal struct{ v any }
	name    struct{ id string }
	attr    struct {
		x    expr
		name string
	}
	index struct{ x, at expr }
	call  struct {
		fn   expr
		args []expr
		kw   []keyword
	}
	unary struct {
		op string // "-", "+", "~", "not"
		x  expr
	}
	binary struct {
		op   string
		l, r expr
	}
	// compare is a chain: l op r op r …
	compare struct {
		l   expr
		ops []string
		r   []expr
	}
	// logic is and, or.
	logic struct {
		op string
		x  []expr
	}
)

type keyword struct {
	name string
	x    expr
}

type expr interface{}

// maxExprDepth bounds the nesting of an expression, and maxExpr its length.
const (
	maxExprDepth = 200
	maxExpr      = 1 << 20
)

// parseExpr reads a Python expression.
func parseExpr(s string) (e expr, err error) {
	if len(s) > maxExpr {
		return nil, fmt.Errorf("an expression of %d characters", len(s))
	}
	p := &exprParser{src: s}
	defer func() {
		if r := recover(); r != nil {
			bad, ok := r.(exprError)
			if !ok {
				panic(r)
			}
			e, err = nil, fmt.Errorf("expression %s: %s", shorten(s), string(bad))
		}
	}()
	p.next()
	e = p.or()
	if p.tok != "" {
		p.fail("what is %q?", p.tok)
	}
	return e, nil
}

func shorten(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return strconv.Quote(s)
}

type exprError string

type exprParser struct {
	src   string
	at    int
	tok   string // the token: an operator, a name, a number, or a string with its quote in front; "" at the end
	depth int
}

func (p *exprParser) fail(format string, args ...any) { panic(exprError(fmt.Sprintf(format, args...))) }

var exprOperators = []string{"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "<", ">", "&",
	"|", "^", "~", "(", ")", "[", "]", ",", ".", "="}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// next reads a token.
func (p *exprParser) next() {
	for p.at < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0 {
		p.at++
	}
	rest := p.src[p.at:]
	if rest == "" {
		p.tok = ""
		return
	}
	c := rest[0]
	digit := c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9'
	n := 0
	switch {
	case c == '\'' || c == '"':
		p.text(rest, c)
		return
	case digit:
		for n < len(rest) && (isNameByte(rest[n]) || rest[n] == '.' || (rest[n] == '-' || rest[n] == '+') && n > 0 &&
			(rest[n-1] == 'e' || rest[n-1] == 'E') && !strings.HasPrefix(rest, "0x")) {
			n++
		}
	case isNameByte(c):
		for n < len(rest) && isNameByte(rest[n]) {
			n++
		}
	default:
		for _, op := range exprOperators {
			if strings.HasPrefix(rest, op) {
				n = len(op)
				break
			}
		}
		if n == 0 {
			p.fail("unknown character %q", rest[:1])
		}
	}
	p.tok = rest[:n]
	p.at += n
}

// text reads a string. Its escapes are Go's, but for a byte in octal digits and names of characters.
func (p *exprParser) text(rest string, quote byte) {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == quote:
			p.tok = b.String()
			p.at += i + 1
			return
		case c == '\\' && i+1 < len(rest):
			r, _, tail, err := strconv.UnquoteChar(rest[i:], quote)
			if err != nil { // Python keeps what is no escape
				b.WriteByte(c)
				continue
			}
			b.WriteRune(r)
			i = len(rest) - len(tail) - 1
		default:
			b.WriteByte(c)
		}
	}
	p.fail("a string has no end")
}

func (p *exprParser) eat(tok string) bool {
	if p.tok != tok {
		return false
	}
	p.next()
	return true
}

func (p *exprParser) want(tok string) {
	if !p.eat(tok) {
		p.fail("want %q at %q", tok, p.tok)
	}
}

func (p *exprParser) enter() {
	if p.depth++; p.depth > maxExprDepth {
		p.fail("nested more than %d deep", maxExprDepth)
	}
}

func (p *exprParser) or() expr { return p.logic("or", func() expr { return p.logic("and", p.not) }) }

func (p *exprParser) logic(op string, operand func() expr) expr {
	p.enter()
	defer func() { p.depth-- }()
	x := operand()
	if p.tok != op {
		return x
	}
	l := logic{op: op, x: []expr{x}}
	for p.eat(op) {
		l.x = append(l.x, operand())
	}
	return l
}

func (p *exprParser) not() expr {
	if p.eat("not") {
		p.enter()
		defer func() { p.depth-- }()
		return unary{"not", p.not()}
	}
	x := p.binary(0)
	var c compare
	for {
		op := p.tok
		switch op {
		case "<", "<=", ">", ">=", "==", "!=", "is", "in":
			p.next()
			if op == "is" && p.eat("not") {
				op = "is not"
			}
		default:
			if c.ops == nil {
				return x
			}
			return c
		}
		c.l, c.ops, c.r = x, append(c.ops, op), append(c.r, p.binary(0))
	}
}

// binaryLevels are the operators from loose to tight; all of them are taken from the left.
var binaryLevels = [...][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%"}}

func (p *exprParser) binary(level int) expr {
	if level == len(binaryLevels) {
		return p.factor()
	}
	x := p.binary(level + 1)
	for {
		op := ""
		for _, o := range binaryLevels[level] {
			if p.tok == o {
				op = o
			}
		}
		if op == "" {
			return x
		}
		p.next()
		x = binary{op, x, p.binary(level + 1)}
	}
}

func (p *exprParser) factor() expr {
	p.enter()
	defer func() { p.depth-- }()
	switch p.tok {
	case "-", "+", "~":
		op := p.tok
		p.next()
		return unary{op, p.factor()}
	}
	x := p.postfix()
	if p.eat("**") {
		return binary{"**", x, p.factor()}
	}
	return x
}

func (p *exprParser) postfix() expr {
	x := p.atom()
	for {
		switch {
		case p.eat("."):
			if p.tok == "" || !isNameByte(p.tok[0]) {
				p.fail("want a name after .")
			}
			x = attr{x, p.tok}
			p.next()
		case p.eat("["):
			x = index{x, p.or()}
			p.want("]")
		case p.eat("("):
			x = p.call(x)
		default:
			return x
		}
	}
}

func (p *exprParser) call(fn expr) expr {
	c := call{fn: fn}
	for !p.eat(")") {
		x := p.or()
		if n, ok := x.(name); ok && p.eat("=") {
			c.kw = append(c.kw, keyword{n.id, p.or()})
		} else {
			c.args = append(c.args, x)
		}
		if p.tok != ")" {
			p.want(",")
		}
	}
	return c
}

func (p *exprParser) atom() expr {
	tok := p.tok
	switch {
	case tok == "":
		p.fail("the expression has no end")
	case tok == "(":
		p.next()
		x := p.or()
		p.want(")")
		return x
	case tok[0] == '\'':
		p.next()
		return literal{tok[1:]}
	case tok[0] >= '0' && tok[0] <= '9' || tok[0] == '.' && len(tok) > 1:
		p.next()
		if n, err := strconv.ParseInt(tok, 0, 64); err == nil {
			return literal{n}
		}
		f, err := strconv.ParseFloat(tok, 64)
		if err != nil {
			p.fail("number %q", tok)
		}
		return literal{f}
	case isNameByte(tok[0]):
		p.next()
		switch tok {
		case "True", "true":
			return literal{true}
		case "False", "false":
			return literal{false}
		case "None":
			return literal{nil}
		}
		return name{tok}
	}
	p.fail("want a value at %q", tok)
	return nil
}

// The levels at which Python's ast.unparse sets parentheses.
const (
	levelOr      = 0
	levelAnd     = 1
	levelNot     = 2
	levelCompare = 3
	levelBinary  = 4 // the first of binaryLevels
	levelFactor  = levelBinary + len(binaryLevels)
	levelPower   = levelFactor + 1
	levelAtom    = levelPower + 1
)

// unparse writes an expression as Python's ast.unparse does.
func unparse(e expr) string {
	var b strings.Builder
	write(&b, e, levelOr)
	return b.String()
}

func write(b *strings.Builder, e expr, level int) {
	own := levelAtom
	var body func()
	switch e := e.(type) {
	case literal:
		writeLiteral(b, e.v)
		return
	case name:
		b.WriteString(e.id)
		return
	case leaf:
		b.WriteString(e.text)
		return
	case attr:
		write(b, e.x, levelAtom)
		b.WriteString("." + e.name)
		return
	case index:
		write(b, e.x, levelAtom)
		b.WriteByte('[')
		write(b, e.at, levelOr)
		b.WriteByte(']')
		return
	case call:
		write(b, e.fn, levelAtom)
		b.WriteByte('(')
		for i, a := range e.args {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, a, levelOr)
		}
		for i, k := range e.kw {
			if i+len(e.args) > 0 {
				b.WriteString(", ")
			}
			b.WriteString(k.name + "=")
			write(b, k.x, levelOr)
		}
		b.WriteByte(')')
		return
	case unary:
		own = levelFactor
		if e.op == "not" {
			own = levelNot
		}
		body = func() {
			if b.WriteString(e.op); e.op == "not" {
				b.WriteByte(' ')
			}
			write(b, e.x, own)
		}
	case binary:
		own = levelPower
		for i, ops := range binaryLevels {
			for _, o := range ops {
				if o == e.op {
					own = levelBinary + i
				}
			}
		}
		body = func() {
			if e.op == "**" {
				write(b, e.l, levelAtom)
				b.WriteString(" ** ")
				write(b, e.r, levelPower)
				return
			}
			write(b, e.l, own)
			b.WriteString(" " + e.op + " ")
			write(b, e.r, own+1)
		}
	case compare:
		own = levelCompare
		body = func() {
			write(b, e.l, levelBinary)
			for i, op := range e.ops {
				b.WriteString(" " + op + " ")
				write(b, e.r[i], levelBinary)
			}
		}
	case logic:
		own = levelOr
		if e.op == "and" {
			own = levelAnd
		}
		body = func() {
			for i, x := range e.x {
				if i > 0 {
					b.WriteString(" " + e.op + " ")
				}
				write(b, x, own+1)
			}
		}
	}
	if own < level {
		b.WriteByte('(')
		body()
		b.WriteByte(')')
		return
	}
	body()
}

func writeLiteral(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		if v {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		b.WriteString(pyfmt.Float(v))
	case string:
		b.WriteString(pyfmt.Repr(v))
	}
}

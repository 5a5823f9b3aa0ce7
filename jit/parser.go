package jit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parser reads the part of Python that TorchScript's printer writes, and what a program would write by hand in the same
// language: functions, classes, assignments, if, while, for, with, return, break, continue, raise, assert, del and all
// expressions but lambda, yield and await.
type parser struct {
	file  string
	src   string
	toks  []token
	pos   int
	depth int
}

// maxExprDepth bounds the nesting of expressions and statements.
const maxExprDepth = 300

// parse reads a file.
func parse(file, src string) (body []stmt, err error) {
	toks, err := lex(file, src)
	if err != nil {
		return nil, err
	}
	p := &parser{file: file, src: src, toks: toks}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*SyntaxError)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	for p.peek().kind != tokEOF {
		if p.peek().kind == tokNewline {
			p.pos++
			continue
		}
		body = append(body, p.stmt()...)
	}
	return body, nil
}

func (p *parser) peek() token { return p.toks[p.pos] }

func (p *parser) fail(format string, args ...any) {
	panic(&SyntaxError{File: p.file, Line: p.peek().line, Msg: fmt.Sprintf(format, args...)})
}

func (p *parser) next() token {
	t := p.toks[p.pos]
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

// is reports whether the next token is an operator or a keyword.
func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.kind == tokOp || t.kind == tokName) && t.text == text
}

func (p *parser) eat(text string) bool {
	if p.is(text) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) want(text string) {
	if !p.eat(text) {
		p.fail("want %q, not %q", text, p.peek().text)
	}
}

func (p *parser) ident() string {
	t := p.next()
	if t.kind != tokName {
		p.pos--
		p.fail("want a name, not %q", t.text)
	}
	return t.text
}

func (p *parser) enter() func() {
	if p.depth++; p.depth > maxExprDepth {
		p.fail("the code is nested more than %d deep", maxExprDepth)
	}
	return func() { p.depth-- }
}

func (p *parser) node(start token) node {
	end := start.start
	if p.pos > 0 {
		t := p.toks[p.pos-1]
		end = t.start + len(t.text)
	}
	return node{line: start.line, start: start.start, end: end}
}

// block reads the statements behind a colon.
func (p *parser) block() []stmt {
	defer p.enter()()
	p.want(":")
	if p.peek().kind != tokNewline {
		return p.simple()
	}
	p.pos++
	for p.peek().kind == tokNewline {
		p.pos++
	}
	if p.peek().kind != tokIndent {
		p.fail("want an indented block")
	}
	p.pos++
	var body []stmt
	for p.peek().kind != tokDedent {
		switch p.peek().kind {
		case tokEOF:
			p.fail("the block does not end")
		case tokNewline:
			p.pos++
		default:
			body = append(body, p.stmt()...)
		}
	}
	p.pos++
	return body
}

func (p *parser) stmt() []stmt {
	start := p.peek()
	if start.kind == tokIndent {
		p.fail("the line is indented for no reason")
	}
	if start.kind == tokName {
		switch start.text {
		case "if":
			p.pos++
			return []stmt{p.ifStmt(start)}
		case "while":
			p.pos++
			s := &whileStmt{cond: p.expr()}
			s.body = p.block()
			s.node = p.node(start)
			return []stmt{s}
		case "for":
			p.pos++
			s := &forStmt{target: p.targets()}
			p.want("in")
			s.iter = p.exprList()
			s.body = p.block()
			s.node = p.node(start)
			return []stmt{s}
		case "with":
			p.pos++
			return []stmt{p.withStmt(start)}
		case "def":
			p.pos++
			return []stmt{p.def(start)}
		case "class":
			p.pos++
			return []stmt{p.class(start)}
		}
	}
	if start.kind == tokOp && start.text == "@" { // decorators say nothing that matters here
		p.pos++
		p.expr()
		for p.peek().kind == tokNewline {
			p.pos++
		}
		defer p.enter()()
		return p.stmt()
	}
	return p.simple()
}

func (p *parser) ifStmt(start token) stmt {
	defer p.enter()()
	s := &ifStmt{cond: p.expr()}
	s.then = p.block()
	for p.peek().kind == tokNewline {
		p.pos++
	}
	if t := p.peek(); p.eat("elif") {
		s.else_ = []stmt{p.ifStmt(t)}
	} else if p.eat("else") {
		s.else_ = p.block()
	}
	s.node = p.node(start)
	return s
}

func (p *parser) withStmt(start token) stmt {
	s := &withStmt{}
	for {
		s.items = append(s.items, p.expr())
		var name expr
		if p.eat("as") {
			name = p.postfix()
		}
		s.names = append(s.names, name)
		if !p.eat(",") {
			break
		}
	}
	s.body = p.block()
	s.node = p.node(start)
	return s
}

func (p *parser) def(start token) stmt {
	s := &defStmt{name: p.ident()}
	p.want("(")
	kw := false
	for !p.eat(")") {
		if p.eat("*") {
			kw = true
		} else {
			d := paramDecl{name: p.ident(), kwOnly: kw}
			if p.eat(":") {
				d.typ = p.expr()
			}
			if p.eat("=") {
				d.def = p.expr()
			}
			s.params = append(s.params, d)
		}
		if !p.eat(",") && !p.is(")") {
			p.fail("want , or ) in the parameters, not %q", p.peek().text)
		}
	}
	if p.eat("->") {
		s.result = p.expr()
	}
	s.body = p.block()
	s.node = p.node(start)
	return s
}

func (p *parser) class(start token) stmt {
	s := &classStmt{name: p.ident()}
	if p.eat("(") {
		for !p.eat(")") {
			switch b := p.expr().(type) {
			case *nameExpr:
				s.base = b.name
			case *attrExpr:
				s.base = b.name
			}
			p.eat(",")
			if p.peek().kind == tokEOF {
				p.fail("want )")
			}
		}
	}
	s.body = p.block()
	s.node = p.node(start)
	return s
}

// simple reads the statements of one line.
func (p *parser) simple() []stmt {
	var out []stmt
	for {
		out = append(out, p.small())
		if p.eat(";") && p.peek().kind != tokNewline {
			continue
		}
		break
	}
	if t := p.peek(); t.kind != tokNewline && t.kind != tokEOF {
		p.fail("want the end of the line, not %q", t.text)
	}
	p.next()
	return out
}

var assignOps = map[string]bool{"+=": true, "-=": true, "*=": true, "/=": true, "//=": true, "%=": true, "**=": true,
	"&=": true, "|=": true, "^=": true, "<<=": true, ">>=": true, "@=": true}

func (p *parser) small() stmt {
	start := p.peek()
	if start.kind == tokName {
		switch start.text {
		case "return":
			p.pos++
			s := &returnStmt{}
			if p.peek().kind != tokNewline {
				s.x = p.exprList()
			}
			s.node = p.node(start)
			return s
		case "pass":
			p.pos++
			return &passStmt{p.node(start)}
		case "break", "continue":
			p.pos++
			return &jumpStmt{p.node(start), start.text}
		case "raise":
			p.pos++
			s := &raiseStmt{}
			if p.peek().kind != tokNewline {
				s.x = p.expr()
			}
			if p.eat("from") {
				p.expr()
			}
			s.node = p.node(start)
			return s
		case "assert":
			p.pos++
			s := &assertStmt{cond: p.expr()}
			if p.eat(",") {
				s.msg = p.expr()
			}
			s.node = p.node(start)
			return s
		case "del":
			p.pos++
			s := &delStmt{}
			for {
				s.targets = append(s.targets, p.postfix())
				if !p.eat(",") {
					break
				}
			}
			s.node = p.node(start)
			return s
		case "import", "from", "global", "nonlocal":
			for p.peek().kind != tokNewline && p.peek().kind != tokEOF {
				p.pos++
			}
			return &importStmt{p.node(start)}
		}
	}
	x := p.exprList()
	s := &assignStmt{targets: []expr{x}}
	switch {
	case p.eat(":"):
		s.typ = p.expr()
		if p.eat("=") {
			s.value = p.exprList()
		}
	case p.is("="):
		for p.eat("=") {
			s.targets = append(s.targets, p.exprList())
		}
		s.value = s.targets[len(s.targets)-1]
		s.targets = s.targets[:len(s.targets)-1]
	case p.peek().kind == tokOp && assignOps[p.peek().text]:
		s.op = strings.TrimSuffix(p.next().text, "=")
		s.value = p.exprList()
	default:
		return &exprStmt{p.node(start), x}
	}
	s.node = p.node(start)
	return s
}

// targets reads what for assigns to.
func (p *parser) targets() expr {
	start := p.peek()
	items := []expr{p.postfix()}
	comma := false
	for p.eat(",") {
		comma = true
		if p.is("in") {
			break
		}
		items = append(items, p.postfix())
	}
	if !comma {
		return items[0]
	}
	return &tupleExpr{p.node(start), items}
}

// exprList reads an expression or a tuple without parentheses.
func (p *parser) exprList() expr {
	start := p.peek()
	x := p.starred()
	if !p.is(",") {
		return x
	}
	items := []expr{x}
	for p.eat(",") {
		t := p.peek()
		if t.kind == tokNewline || t.kind == tokEOF || t.kind == tokOp && (t.text == "=" || t.text == ")" ||
			t.text == ":" || t.text == "]") {
			break
		}
		items = append(items, p.starred())
	}
	return &tupleExpr{p.node(start), items}
}

func (p *parser) starred() expr {
	start := p.peek()
	if p.eat("*") {
		x := p.expr()
		return &starExpr{p.node(start), x}
	}
	return p.expr()
}

func (p *parser) expr() expr {
	defer p.enter()()
	start := p.peek()
	x := p.binary(0)
	if p.eat("if") {
		cond := p.binary(0)
		p.want("else")
		other := p.expr()
		return &ifExpr{p.node(start), cond, x, other}
	}
	return x
}

// levels are the binary operators from the loosest to the tightest.
var levels = [][]string{{"or"}, {"and"}, {"not"}, {"in", "not in", "is", "is not", "<", ">", "<=", ">=", "==", "!="},
	{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"}}

func (p *parser) operatorAt(level int) string {
	t := p.peek()
	if t.kind != tokOp && t.kind != tokName {
		return ""
	}
	text := t.text
	if level == 3 && text == "not" && p.toks[p.pos+1].text == "in" {
		text = "not in"
	}
	if level == 3 && text == "is" && p.toks[p.pos+1].text == "not" {
		text = "is not"
	}
	for _, o := range levels[level] {
		if o == text {
			return text
		}
	}
	return ""
}

func (p *parser) binary(level int) expr {
	if level == len(levels) {
		return p.unary()
	}
	start := p.peek()
	if level == 2 {
		if p.is("not") {
			defer p.enter()()
			p.pos++
			x := p.binary(2)
			return &unaryExpr{p.node(start), "not", x}
		}
		return p.binary(3)
	}
	x := p.binary(level + 1)
	for {
		op := p.operatorAt(level)
		if op == "" {
			return x
		}
		p.pos += 1 + strings.Count(op, " ")
		y := p.binary(level + 1)
		if level < 2 {
			x = &boolExpr{p.node(start), op, x, y}
		} else {
			x = &binExpr{p.node(start), op, x, y}
		}
	}
}

func (p *parser) unary() expr {
	start := p.peek()
	if start.kind == tokOp && (start.text == "-" || start.text == "+" || start.text == "~") {
		defer p.enter()()
		p.pos++
		x := p.unary()
		if c, ok := x.(*constExpr); ok {
			switch v := c.v.(type) {
			case int64:
				if start.text == "-" {
					return &constExpr{p.node(start), -v}
				}
			case float64:
				if start.text == "-" {
					return &constExpr{p.node(start), -v}
				}
			}
		}
		return &unaryExpr{p.node(start), start.text, x}
	}
	x := p.postfix()
	if p.eat("**") {
		defer p.enter()()
		y := p.unary()
		return &binExpr{p.node(start), "**", x, y}
	}
	return x
}

func (p *parser) postfix() expr {
	start := p.peek()
	x := p.atom()
	for {
		switch {
		case p.eat("."):
			name := p.next()
			if name.kind != tokName && name.kind != tokNumber {
				p.pos--
				p.fail("want a name after the dot, not %q", name.text)
			}
			x = &attrExpr{p.node(start), x, name.text}
		case p.eat("("):
			c := &callExpr{f: x}
			p.args(c)
			c.node = p.node(start)
			x = c
		case p.eat("["):
			c := &indexExpr{x: x}
			for !p.eat("]") {
				c.subs = append(c.subs, p.subscript())
				if !p.eat(",") && !p.is("]") {
					p.fail("want , or ], not %q", p.peek().text)
				}
			}
			c.node = p.node(start)
			x = c
		default:
			return x
		}
	}
}

func (p *parser) args(c *callExpr) {
	for !p.eat(")") {
		start := p.peek()
		if start.kind == tokName && p.toks[p.pos+1].kind == tokOp && p.toks[p.pos+1].text == "=" {
			p.pos += 2
			c.kwargs = append(c.kwargs, kwarg{start.text, p.expr()})
		} else {
			x := p.starred()
			if p.is("for") {
				x = p.comprehension(start, nil, x, "")
			}
			c.args = append(c.args, x)
		}
		if !p.eat(",") && !p.is(")") {
			p.fail("want , or ) in the arguments, not %q", p.peek().text)
		}
	}
}

func (p *parser) subscript() expr {
	start := p.peek()
	var lo expr
	if !p.is(":") {
		lo = p.expr()
		if !p.is(":") {
			return lo
		}
	}
	s := &sliceExpr{lo: lo}
	p.want(":")
	if !p.is(":") && !p.is("]") && !p.is(",") {
		s.hi = p.expr()
	}
	if p.eat(":") && !p.is("]") && !p.is(",") {
		s.step = p.expr()
	}
	s.node = p.node(start)
	return s
}

// comprehension reads what follows the element, up to the closing bracket.
func (p *parser) comprehension(start token, key, elem expr, end string) expr {
	p.want("for")
	c := &compExpr{key: key, elem: elem, target: p.targets()}
	p.want("in")
	c.iter = p.binary(0)
	for p.eat("if") {
		cond := p.binary(0)
		if c.cond != nil {
			cond = &boolExpr{p.node(start), "and", c.cond, cond}
		}
		c.cond = cond
	}
	if p.is("for") {
		p.fail("a comprehension with two loops is not supported")
	}
	if end != "" {
		p.want(end)
	}
	c.node = p.node(start)
	return c
}

func (p *parser) atom() expr {
	start := p.next()
	switch start.kind {
	case tokNumber:
		return &constExpr{p.node(start), p.number(start.text)}
	case tokString:
		return p.strings(start)
	case tokName:
		switch start.text {
		case "True", "False":
			return &constExpr{p.node(start), start.text == "True"}
		case "None":
			return &constExpr{p.node(start), nil}
		case "inf", "infinity":
			return &constExpr{p.node(start), math.Inf(1)}
		case "nan":
			return &constExpr{p.node(start), math.NaN()}
		case "lambda", "yield", "await", "async":
			p.pos--
			p.fail("%s is not part of the language", start.text)
		}
		return &nameExpr{p.node(start), start.text}
	case tokOp:
		switch start.text {
		case "(":
			return p.paren(start)
		case "[":
			return p.list(start)
		case "{":
			return p.dict(start)
		case "...":
			return &nameExpr{p.node(start), "..."}
		}
	}
	p.pos--
	p.fail("want an expression, not %q", start.text)
	return nil
}

func (p *parser) paren(start token) expr {
	if p.eat(")") {
		return &tupleExpr{p.node(start), nil}
	}
	x := p.starred()
	if p.is("for") {
		return p.comprehension(start, nil, x, ")")
	}
	if p.eat(")") {
		return x
	}
	items := []expr{x}
	for p.eat(",") {
		if p.is(")") {
			break
		}
		items = append(items, p.starred())
	}
	p.want(")")
	return &tupleExpr{p.node(start), items}
}

func (p *parser) list(start token) expr {
	l := &listExpr{}
	for !p.eat("]") {
		x := p.starred()
		if p.is("for") && len(l.items) == 0 {
			return p.comprehension(start, nil, x, "]")
		}
		l.items = append(l.items, x)
		if !p.eat(",") && !p.is("]") {
			p.fail("want , or ], not %q", p.peek().text)
		}
	}
	l.node = p.node(start)
	return l
}

func (p *parser) dict(start token) expr {
	d := &dictExpr{}
	for !p.eat("}") {
		k := p.expr()
		p.want(":")
		v := p.expr()
		if p.is("for") && len(d.keys) == 0 {
			return p.comprehension(start, k, v, "}")
		}
		d.keys, d.vals = append(d.keys, k), append(d.vals, v)
		if !p.eat(",") && !p.is("}") {
			p.fail("want , or }, not %q", p.peek().text)
		}
	}
	d.node = p.node(start)
	return d
}

// strings joins string literals that follow each other.
func (p *parser) strings(start token) expr {
	p.pos--
	f := &formatExpr{}
	formatted := false
	for p.peek().kind == tokString {
		t := p.next()
		if t.f {
			formatted = true
			p.formatted(f, t)
		} else {
			f.text += t.text
		}
	}
	f.node = p.node(start)
	if !formatted {
		return &constExpr{f.node, f.text}
	}
	return f
}

// formatted takes a formatted string literal apart.
func (p *parser) formatted(f *formatExpr, t token) {
	s := t.text
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			f.text += s
			return
		}
		f.text += s[:i]
		if i+1 < len(s) && s[i] == s[i+1] {
			f.text += s[i : i+1]
			s = s[i+2:]
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if s[i] == '}' || end < 0 {
			p.fail("the formatted string has a single %c", s[i])
		}
		toks, err := lex(p.file, s[i+1:i+end])
		if err != nil {
			p.fail("in a formatted string: %v", err)
		}
		q := &parser{file: p.file, toks: toks, depth: p.depth + 1}
		for j := range q.toks {
			q.toks[j].line = t.line
		}
		f.vals = append(f.vals, q.exprList())
		if q.peek().kind != tokNewline {
			p.fail("format specifications in formatted strings are not part of the language")
		}
		f.text += "{}"
		s = s[i+end+1:]
	}
}

func (p *parser) number(s string) any {
	text := strings.ReplaceAll(s, "_", "")
	if strings.HasSuffix(text, "j") || strings.HasSuffix(text, "J") {
		f, err := strconv.ParseFloat(text[:len(text)-1], 64)
		if err != nil {
			p.fail("%q is no number", s)
		}
		return complex(0, f)
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil { // -9223372036854775808
		return int64(n)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		p.fail("%q is no number", s)
	}
	return f
}

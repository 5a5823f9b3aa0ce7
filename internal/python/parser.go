package python

import (
	"fmt"
	"strings"
)

// parser reads statements in this file and expressions in parse_expr.go, by recursive descent.
type parser struct {
	file   string
	toks   []token
	pos    int
	depth  int
	consts map[string]any
}

// MaxDepth bounds the nesting of expressions and statements.
const MaxDepth = 300

// Parse reads a file. The names of consts, if any, are constants as True and None are.
func Parse(file, src string, consts map[string]any) (body []Stmt, err error) {
	err = parse(file, src, consts, func(p *parser) {
		for p.peek().kind != tokEOF {
			if p.peek().kind == tokNewline {
				p.pos++
				continue
			}
			body = append(body, p.stmt()...)
		}
	})
	return body, err
}

// ParseExpr reads an expression, or a tuple without parentheses.
func ParseExpr(file, src string, consts map[string]any) (x Expr, err error) {
	err = parse(file, src, consts, func(p *parser) {
		x = p.exprList()
		for p.peek().kind == tokNewline {
			p.pos++
		}
		if t := p.peek(); t.kind != tokEOF {
			p.fail("want the end of the expression, not %q", t.text)
		}
	})
	return x, err
}

// parse runs a function on the tokens of a text and returns the mistake that it meets.
func parse(file, src string, consts map[string]any, f func(p *parser)) (err error) {
	toks, err := lex(file, src)
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*SyntaxError)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	f(&parser{file: file, toks: toks, consts: consts})
	return nil
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
	if p.depth++; p.depth > MaxDepth {
		p.fail("the code is nested more than %d deep", MaxDepth)
	}
	return func() { p.depth-- }
}

func (p *parser) node(start token) Node {
	end := start.start
	if p.pos > 0 {
		t := p.toks[p.pos-1]
		end = t.start + len(t.text)
	}
	return Node{Line: start.line, Start: start.start, End: end}
}

// block reads the statements behind a colon.
func (p *parser) block() []Stmt {
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
	var body []Stmt
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

func (p *parser) stmt() []Stmt {
	start := p.peek()
	if start.kind == tokIndent {
		p.fail("the line is indented for no reason")
	}
	if start.kind == tokName {
		switch start.text {
		case "if":
			p.pos++
			return []Stmt{p.ifStmt(start)}
		case "while":
			p.pos++
			s := &While{Cond: p.expr()}
			s.Body = p.block()
			s.Node = p.node(start)
			return []Stmt{s}
		case "for":
			p.pos++
			s := &For{Target: p.targets()}
			p.want("in")
			s.Iter = p.exprList()
			s.Body = p.block()
			s.Node = p.node(start)
			return []Stmt{s}
		case "with":
			p.pos++
			return []Stmt{p.withStmt(start)}
		case "try":
			p.pos++
			return []Stmt{p.try(start)}
		case "def", "class":
			return []Stmt{p.definition(nil)}
		}
	}
	if p.is("@") {
		var decorators []Expr
		for p.eat("@") {
			decorators = append(decorators, p.expr())
			for p.peek().kind == tokNewline {
				p.pos++
			}
		}
		return []Stmt{p.definition(decorators)}
	}
	return p.simple()
}

// definition reads a function or a class.
func (p *parser) definition(decorators []Expr) Stmt {
	start := p.peek()
	if p.eat("class") {
		return p.class(start, decorators)
	}
	p.want("def")
	return p.def(start, decorators)
}

func (p *parser) ifStmt(start token) Stmt {
	defer p.enter()()
	s := &If{Cond: p.expr()}
	s.Then = p.block()
	for p.peek().kind == tokNewline {
		p.pos++
	}
	if t := p.peek(); p.eat("elif") {
		s.Else = []Stmt{p.ifStmt(t)}
	} else if p.eat("else") {
		s.Else = p.block()
	}
	s.Node = p.node(start)
	return s
}

func (p *parser) withStmt(start token) Stmt {
	s := &With{}
	paren := p.is("(") && p.parenthesizedWith()
	if paren {
		p.pos++
	}
	for {
		s.Items = append(s.Items, p.expr())
		var name Expr
		if p.eat("as") {
			name = p.postfix()
		}
		s.Names = append(s.Names, name)
		if !p.eat(",") || p.is(")") {
			break
		}
	}
	if paren {
		p.want(")")
	}
	s.Body = p.block()
	s.Node = p.node(start)
	return s
}

// parenthesizedWith looks ahead for "(a as b, …):", which is no tuple.
func (p *parser) parenthesizedWith() bool {
	nest := 0
	for i := p.pos; p.toks[i].kind != tokNewline && p.toks[i].kind != tokEOF; i++ {
		t := p.toks[i]
		if t.kind != tokOp {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			nest++
		case ")", "]", "}":
			if nest--; nest == 0 {
				return p.toks[i+1].text == ":"
			}
		}
	}
	return false
}

func (p *parser) try(start token) Stmt {
	s := &Try{Body: p.block()}
	next := func(word string) bool {
		for p.peek().kind == tokNewline {
			p.pos++
		}
		return p.eat(word)
	}
	for next("except") {
		var h Handler
		if !p.is(":") {
			h.Type = p.expr()
			if p.eat("as") {
				h.Name = p.ident()
			}
		}
		h.Body = p.block()
		s.Handlers = append(s.Handlers, h)
	}
	if next("else") {
		s.Else = p.block()
	}
	if next("finally") {
		s.Final = p.block()
	}
	s.Node = p.node(start)
	return s
}

func (p *parser) def(start token, decorators []Expr) Stmt {
	s := &Def{Name: p.ident(), Decorators: decorators}
	p.want("(")
	s.Params = p.params(")")
	p.want(")")
	if p.eat("->") {
		s.Result = p.expr()
	}
	s.Body = p.block()
	s.Node = p.node(start)
	return s
}

// params reads parameters up to the token that ends them: ")" of a function, ":" of a lambda, whose parameters have no
// types. A bare "*" is no parameter, but those that follow are only given by name.
func (p *parser) params(end string) []Param {
	var out []Param
	kw := false
	for !p.is(end) {
		d := Param{KwOnly: kw}
		switch {
		case p.eat("**"):
			d.Star = 2
		case p.eat("*"):
			d.Star = 1
			kw = true
		}
		switch {
		case d.Star == 1 && (p.is(",") || p.is(end)), p.eat("/"):
		default:
			d.Name = p.ident()
			if end == ")" && p.eat(":") {
				d.Type = p.expr()
			}
			if p.eat("=") {
				d.Default = p.expr()
			}
			out = append(out, d)
		}
		if !p.eat(",") && !p.is(end) {
			p.fail("want , or %s in the parameters, not %q", end, p.peek().text)
		}
	}
	return out
}

func (p *parser) class(start token, decorators []Expr) Stmt {
	s := &Class{Name: p.ident(), Decorators: decorators}
	if p.eat("(") {
		for !p.eat(")") {
			s.Bases = append(s.Bases, p.expr())
			if !p.eat(",") && !p.is(")") {
				p.fail("want , or ) in the bases, not %q", p.peek().text)
			}
		}
	}
	s.Body = p.block()
	s.Node = p.node(start)
	return s
}

// simple reads the statements of one line.
func (p *parser) simple() []Stmt {
	var out []Stmt
	for {
		out = append(out, p.small()...)
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

func (p *parser) small() []Stmt {
	start := p.peek()
	if start.kind == tokName && (start.text == "import" || start.text == "from") {
		return p.imports()
	}
	return []Stmt{p.smallOne()}
}

// endOfSmall reports that nothing more of a statement follows.
func (p *parser) endOfSmall() bool {
	k := p.peek().kind
	return k == tokNewline || k == tokEOF || p.is(";")
}

func (p *parser) smallOne() Stmt {
	start := p.peek()
	if start.kind == tokName {
		switch start.text {
		case "return":
			p.pos++
			s := &Return{}
			if !p.endOfSmall() {
				s.X = p.exprList()
			}
			s.Node = p.node(start)
			return s
		case "pass":
			p.pos++
			return &Pass{p.node(start)}
		case "break", "continue":
			p.pos++
			return &Jump{p.node(start), start.text}
		case "raise":
			p.pos++
			s := &Raise{}
			if !p.endOfSmall() {
				s.X = p.expr()
			}
			if p.eat("from") {
				p.expr()
			}
			s.Node = p.node(start)
			return s
		case "assert":
			p.pos++
			s := &Assert{Cond: p.expr()}
			if p.eat(",") {
				s.Msg = p.expr()
			}
			s.Node = p.node(start)
			return s
		case "del":
			p.pos++
			s := &Del{}
			for {
				s.Targets = append(s.Targets, p.postfix())
				if !p.eat(",") {
					break
				}
			}
			s.Node = p.node(start)
			return s
		case "global", "nonlocal":
			p.pos++
			s := &Scope{Names: []string{p.ident()}}
			for p.eat(",") {
				s.Names = append(s.Names, p.ident())
			}
			s.Node = p.node(start)
			return s
		}
	}
	x := p.exprList()
	s := &Assign{Targets: []Expr{x}}
	switch {
	case p.eat(":"):
		s.Type = p.expr()
		if p.eat("=") {
			s.Value = p.exprList()
		}
	case p.is("="):
		for p.eat("=") {
			s.Targets = append(s.Targets, p.exprList())
		}
		s.Value = s.Targets[len(s.Targets)-1]
		s.Targets = s.Targets[:len(s.Targets)-1]
	case p.peek().kind == tokOp && assignOps[p.peek().text]:
		s.Op = strings.TrimSuffix(p.next().text, "=")
		s.Value = p.exprList()
	default:
		return &ExprStmt{p.node(start), x}
	}
	s.Node = p.node(start)
	return s
}

func (p *parser) dotted() string {
	s := p.ident()
	for p.eat(".") {
		s += "." + p.ident()
	}
	return s
}

// imports reads an import statement: one Import for each name that it binds.
func (p *parser) imports() []Stmt {
	start := p.peek()
	var out []Stmt
	add := func(s *Import) {
		if p.eat("as") {
			s.As = p.ident()
		}
		s.Node = p.node(start)
		out = append(out, s)
	}
	if p.eat("import") {
		for {
			s := &Import{Module: p.dotted()}
			s.As, _, _ = strings.Cut(s.Module, ".")
			add(s)
			if !p.eat(",") {
				return out
			}
		}
	}
	p.want("from")
	module := p.dotted()
	p.want("import")
	paren := p.eat("(")
	for !paren || !p.is(")") {
		s := &Import{Module: module, Name: "*"}
		if !p.eat("*") {
			s.Name = p.ident()
		}
		s.As = s.Name
		add(s)
		if !p.eat(",") {
			break
		}
	}
	if paren {
		p.want(")")
	}
	return out
}

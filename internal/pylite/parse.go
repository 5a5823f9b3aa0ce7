package pylite

import (
	"fmt"
	"strings"
)

type syntaxError string

type parser struct {
	toks []token
	pos  int
}

// parse reads a whole program.
func parse(src string) (body []stmt, err error) {
	toks, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{toks: toks}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case syntaxError:
			body, err = nil, fmt.Errorf("line %d: %s", p.cur().line, string(x))
		default:
			panic(x)
		}
	}()
	for p.cur().kind != tEnd {
		body = append(body, p.statement()...)
	}
	return body, nil
}

func (p *parser) cur() token { return p.toks[p.pos] }
func (p *parser) next() token {
	t := p.toks[p.pos]
	if t.kind != tEnd {
		p.pos++
	}
	return t
}
func (p *parser) fail(format string, args ...any) {
	panic(syntaxError(fmt.Sprintf(format, args...)))
}
func (p *parser) is(op string) bool {
	t := p.cur()
	return t.kind == tOp && t.text == op
}
func (p *parser) isWord(w string) bool {
	t := p.cur()
	return t.kind == tName && t.text == w
}
func (p *parser) accept(op string) bool {
	if p.is(op) || p.isWord(op) {
		p.pos++
		return true
	}
	return false
}
func (p *parser) expect(op string) {
	if !p.accept(op) {
		p.fail("expected %q, found %q", op, p.cur().text)
	}
}
func (p *parser) ident() string {
	t := p.next()
	if t.kind != tName {
		p.fail("expected a name, found %q", t.text)
	}
	return t.text
}

func (p *parser) block() []stmt {
	p.expect(":")
	if p.cur().kind != tNewline {
		return p.simpleLine()
	}
	p.pos++
	if p.cur().kind != tIndent {
		p.fail("expected an indented block")
	}
	p.pos++
	var out []stmt
	for p.cur().kind != tDedent && p.cur().kind != tEnd {
		out = append(out, p.statement()...)
	}
	if p.cur().kind == tDedent {
		p.pos++
	}
	return out
}

func (p *parser) statement() []stmt {
	line := lineStmt{p.cur().line}
	if p.is("@") {
		return []stmt{line, p.decorated()}
	}
	if p.cur().kind == tName {
		switch p.cur().text {
		case "if":
			p.pos++
			return []stmt{line, p.ifRest()}
		case "while":
			p.pos++
			c := p.expression()
			return []stmt{line, whileStmt{c, p.block()}}
		case "for":
			p.pos++
			t := p.targets()
			p.expect("in")
			it := p.expressions()
			return []stmt{line, forStmt{t, it, p.block()}}
		case "with":
			p.pos++
			return []stmt{line, p.with()}
		case "try":
			p.pos++
			return []stmt{line, p.try()}
		case "def", "class":
			return []stmt{line, p.definition(nil)}
		}
	}
	return append([]stmt{line}, p.simpleLine()...)
}

func (p *parser) ifRest() stmt {
	s := ifStmt{cond: p.expression()}
	s.yes = p.block()
	switch {
	case p.accept("elif"):
		s.no = []stmt{p.ifRest()}
	case p.accept("else"):
		s.no = p.block()
	}
	return s
}

func (p *parser) with() stmt {
	var s withStmt
	paren := p.is("(") && p.parenthesizedWith()
	if paren {
		p.pos++
	}
	for {
		it := withItem{ctx: p.expression()}
		if p.accept("as") {
			it.as = p.primary()
		}
		s.items = append(s.items, it)
		if !p.accept(",") || p.is(")") {
			break
		}
	}
	if paren {
		p.expect(")")
	}
	s.body = p.block()
	return s
}

// parenthesizedWith looks ahead for "(a as b, …):".
func (p *parser) parenthesizedWith() bool {
	depth := 0
	for i := p.pos; i < len(p.toks); i++ {
		t := p.toks[i]
		switch {
		case t.kind == tNewline || t.kind == tEnd:
			return false
		case t.kind == tOp && strings.Contains("([{", t.text):
			depth++
		case t.kind == tOp && strings.Contains(")]}", t.text):
			if depth--; depth == 0 {
				return i+1 < len(p.toks) && p.toks[i+1].text == ":"
			}
		}
	}
	return false
}

func (p *parser) try() stmt {
	var s tryStmt
	s.body = p.block()
	for p.accept("except") {
		var h handler
		if !p.is(":") {
			h.typ = p.expression()
			if p.accept("as") {
				h.as = p.ident()
			}
		}
		h.body = p.block()
		s.handlers = append(s.handlers, h)
	}
	if p.accept("else") {
		s.els = p.block()
	}
	if p.accept("finally") {
		s.fin = p.block()
	}
	return s
}

func (p *parser) decorated() stmt {
	var decs []expr
	for p.accept("@") {
		decs = append(decs, p.expression())
		if p.cur().kind == tNewline {
			p.pos++
		}
	}
	return p.definition(decs)
}

func (p *parser) definition(decs []expr) stmt {
	if p.accept("class") {
		s := classStmt{name: p.ident(), decorators: decs}
		if p.accept("(") {
			for !p.accept(")") {
				s.bases = append(s.bases, p.expression())
				p.accept(",")
			}
		}
		s.body = p.block()
		return s
	}
	p.expect("def")
	s := defStmt{name: p.ident(), decorators: decs}
	p.expect("(")
	s.params = p.params(")")
	p.expect(")")
	if p.accept("->") {
		p.expression()
	}
	s.body = p.block()
	return s
}

func (p *parser) params(end string) []param {
	var out []param
	for !p.is(end) {
		var q param
		switch {
		case p.accept("**"):
			q.star = 2
		case p.accept("*"):
			q.star = 1
		}
		if p.cur().kind == tName {
			q.name = p.ident()
		}
		if end == ")" && p.accept(":") {
			p.expression()
		}
		if p.accept("=") {
			q.def = p.expression()
		}
		if !p.accept("/") {
			out = append(out, q)
		}
		if !p.accept(",") {
			break
		}
	}
	return out
}

func (p *parser) simpleLine() []stmt {
	var out []stmt
	for {
		out = append(out, p.simple()...)
		if !p.accept(";") {
			break
		}
		if p.cur().kind == tNewline {
			break
		}
	}
	switch p.cur().kind {
	case tNewline:
		p.pos++
	case tEnd, tDedent:
	default:
		p.fail("invalid syntax near %q", p.cur().text)
	}
	return out
}

func (p *parser) simple() []stmt {
	if p.cur().kind == tName {
		switch p.cur().text {
		case "pass":
			p.pos++
			return []stmt{passStmt{}}
		case "break":
			p.pos++
			return []stmt{breakStmt{}}
		case "continue":
			p.pos++
			return []stmt{continueStmt{}}
		case "return":
			p.pos++
			if k := p.cur(); k.kind == tNewline || k.kind == tEnd || p.is(";") {
				return []stmt{returnStmt{}}
			}
			return []stmt{returnStmt{p.expressions()}}
		case "raise":
			p.pos++
			if k := p.cur(); k.kind == tNewline || k.kind == tEnd || p.is(";") {
				return []stmt{raiseStmt{}}
			}
			x := p.expression()
			if p.accept("from") {
				p.expression()
			}
			return []stmt{raiseStmt{x}}
		case "assert":
			p.pos++
			s := assertStmt{cond: p.expression()}
			if p.accept(",") {
				s.msg = p.expression()
			}
			return []stmt{s}
		case "del":
			p.pos++
			t := p.expressions()
			if tu, ok := t.(tupleExpr); ok {
				return []stmt{delStmt{tu.elts}}
			}
			return []stmt{delStmt{[]expr{t}}}
		case "global", "nonlocal":
			p.pos++
			s := scopeStmt{[]string{p.ident()}}
			for p.accept(",") {
				s.names = append(s.names, p.ident())
			}
			return []stmt{s}
		case "import", "from":
			return p.imports()
		}
	}
	x := p.expressions()
	if p.accept(":") { // an annotation
		p.expression()
	}
	t := p.cur()
	if t.kind == tOp && len(t.text) >= 2 && strings.HasSuffix(t.text, "=") &&
		!strings.Contains("== != <= >= :=", t.text) {
		p.pos++
		return []stmt{augStmt{x, strings.TrimSuffix(t.text, "="), p.expressions()}}
	}
	if !p.is("=") {
		return []stmt{exprStmt{x}}
	}
	s := assignStmt{}
	for p.accept("=") {
		s.targets = append(s.targets, x)
		x = p.expressions()
	}
	s.x = x
	return []stmt{s}
}

func (p *parser) dotted() string {
	s := p.ident()
	for p.accept(".") {
		s += "." + p.ident()
	}
	return s
}

func (p *parser) imports() []stmt {
	var out []stmt
	if p.accept("import") {
		for {
			s := importStmt{module: p.dotted()}
			s.as, _, _ = strings.Cut(s.module, ".")
			if p.accept("as") {
				s.as = p.ident()
				s.name = "."
			}
			out = append(out, s)
			if !p.accept(",") {
				return out
			}
		}
	}
	p.expect("from")
	mod := p.dotted()
	p.expect("import")
	paren := p.accept("(")
	for {
		s := importStmt{module: mod, name: p.ident()}
		s.as = s.name
		if p.accept("as") {
			s.as = p.ident()
		}
		out = append(out, s)
		if !p.accept(",") {
			break
		}
	}
	if paren {
		p.expect(")")
	}
	return out
}

package pylite

import (
	"fmt"
	"strconv"
	"strings"
)

// The syntax tree. Statements and expressions are plain structs; eval.go switches over them.
type (
	expr interface{}
	stmt interface{}

	nameExpr  struct{ name string }
	constExpr struct{ v any }
	fstrExpr  struct{ parts []expr } // strings and formatted values
	fmtExpr   struct {
		x    expr
		conv byte
		spec string
	}
	tupleExpr struct{ elts []expr }
	listExpr  struct{ elts []expr }
	setExpr   struct{ elts []expr }
	dictExpr  struct{ keys, vals []expr } // a nil key: **vals
	compExpr  struct {                    // list and dict comprehensions, generator expressions
		kind byte // '[', '{' of a dict, 's' of a set, '('
		key  expr // of a dict
		elt  expr
		fors []compFor
	}
	compFor struct {
		target, iter expr
		ifs          []expr
	}
	starExpr  struct{ x expr }
	unaryExpr struct {
		op string
		x  expr
	}
	binExpr struct {
		op   string
		l, r expr
	}
	boolExpr struct {
		op   string
		l, r expr
	}
	cmpExpr struct {
		l   expr
		ops []string
		rs  []expr
	}
	condExpr   struct{ cond, yes, no expr }
	lambdaExpr struct {
		params []param
		body   expr
	}
	attrExpr struct {
		x    expr
		name string
	}
	indexExpr struct{ x, i expr }
	sliceExpr struct{ lo, hi, step expr }
	callExpr  struct {
		fn   expr
		args []expr // starExpr for *x
		kws  []keyword
		line int
	}
	keyword struct {
		name string // "": **x
		x    expr
	}

	exprStmt   struct{ x expr }
	assignStmt struct {
		targets []expr
		x       expr
	}
	augStmt struct {
		target expr
		op     string
		x      expr
	}
	ifStmt struct {
		cond    expr
		yes, no []stmt
	}
	whileStmt struct {
		cond expr
		body []stmt
	}
	forStmt struct {
		target, iter expr
		body         []stmt
	}
	withStmt struct {
		items []withItem
		body  []stmt
	}
	withItem struct{ ctx, as expr }
	tryStmt  struct {
		body     []stmt
		handlers []handler
		els, fin []stmt
	}
	handler struct {
		typ  expr
		as   string
		body []stmt
	}
	defStmt struct {
		name       string
		params     []param
		body       []stmt
		decorators []expr
	}
	classStmt struct {
		name       string
		bases      []expr
		body       []stmt
		decorators []expr
	}
	returnStmt   struct{ x expr }
	raiseStmt    struct{ x expr }
	assertStmt   struct{ cond, msg expr }
	importStmt   struct{ module, name, as string } // name "" for "import module"
	delStmt      struct{ targets []expr }
	scopeStmt    struct{ names []string } // global and nonlocal
	passStmt     struct{}
	breakStmt    struct{}
	continueStmt struct{}
	lineStmt     struct{ line int } // before each statement
)

type param struct {
	name string
	def  expr // nil: none
	star int  // 1 for *args, 2 for **kwargs; a bare * has no name
}

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

// expressions reads one expression, or a tuple without parentheses.
func (p *parser) expressions() expr {
	x := p.starred()
	if !p.is(",") {
		return x
	}
	t := tupleExpr{[]expr{x}}
	for p.accept(",") {
		if k := p.cur(); k.kind == tNewline || k.kind == tEnd || p.is("=") || p.is(")") || p.is("]") || p.is(":") ||
			p.is(";") {
			break
		}
		t.elts = append(t.elts, p.starred())
	}
	return t
}

func (p *parser) starred() expr {
	if p.accept("*") {
		return starExpr{p.expression()}
	}
	return p.expression()
}

// targets reads the targets of a for loop, which end before "in".
func (p *parser) targets() expr {
	x := p.binary(2)
	if !p.is(",") {
		return x
	}
	t := tupleExpr{[]expr{x}}
	for p.accept(",") {
		if p.isWord("in") {
			break
		}
		t.elts = append(t.elts, p.binary(2))
	}
	return t
}

func (p *parser) expression() expr {
	if p.accept("lambda") {
		ps := p.params(":")
		p.expect(":")
		return lambdaExpr{ps, p.expression()}
	}
	x := p.or()
	if p.accept("if") {
		c := p.or()
		p.expect("else")
		return condExpr{c, x, p.expression()}
	}
	return x
}

func (p *parser) or() expr {
	x := p.and()
	for p.accept("or") {
		x = boolExpr{"or", x, p.and()}
	}
	return x
}

func (p *parser) and() expr {
	x := p.not()
	for p.accept("and") {
		x = boolExpr{"and", x, p.not()}
	}
	return x
}

func (p *parser) not() expr {
	if p.accept("not") {
		return unaryExpr{"not", p.not()}
	}
	return p.comparison()
}

func (p *parser) comparison() expr {
	x := p.binary(0)
	var c cmpExpr
	for {
		op := ""
		switch t := p.cur(); {
		case t.kind == tOp && (t.text == "==" || t.text == "!=" || t.text == "<" || t.text == ">" || t.text == "<=" ||
			t.text == ">="):
			op = t.text
			p.pos++
		case p.accept("in"):
			op = "in"
		case p.isWord("not") && p.toks[p.pos+1].text == "in":
			p.pos += 2
			op = "not in"
		case p.accept("is"):
			op = "is"
			if p.accept("not") {
				op = "is not"
			}
		}
		if op == "" {
			break
		}
		c.ops = append(c.ops, op)
		c.rs = append(c.rs, p.binary(0))
	}
	if c.ops == nil {
		return x
	}
	c.l = x
	return c
}

// levels are the binary operators, the weakest first.
var levels = [][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"}}

func (p *parser) binary(level int) expr {
	if level == len(levels) {
		return p.unary()
	}
	x := p.binary(level + 1)
	for {
		op := ""
		for _, o := range levels[level] {
			if p.is(o) {
				op = o
			}
		}
		if op == "" {
			return x
		}
		p.pos++
		x = binExpr{op, x, p.binary(level + 1)}
	}
}

func (p *parser) unary() expr {
	for _, op := range []string{"-", "+", "~"} {
		if p.accept(op) {
			return unaryExpr{op, p.unary()}
		}
	}
	x := p.primary()
	if p.accept("**") {
		return binExpr{"**", x, p.unary()}
	}
	return x
}

func (p *parser) primary() expr {
	x := p.atom()
	for {
		switch {
		case p.accept("."):
			x = attrExpr{x, p.ident()}
		case p.is("("):
			x = p.call(x)
		case p.accept("["):
			x = indexExpr{x, p.subscript()}
			p.expect("]")
		default:
			return x
		}
	}
}

func (p *parser) call(fn expr) expr {
	c := callExpr{fn: fn, line: p.cur().line}
	p.expect("(")
	for !p.is(")") {
		switch {
		case p.accept("**"):
			c.kws = append(c.kws, keyword{"", p.expression()})
		case p.accept("*"):
			c.args = append(c.args, starExpr{p.expression()})
		case p.cur().kind == tName && p.toks[p.pos+1].kind == tOp && p.toks[p.pos+1].text == "=":
			n := p.ident()
			p.pos++
			c.kws = append(c.kws, keyword{n, p.expression()})
		default:
			x := p.expression()
			if p.isWord("for") {
				x = p.comprehension('(', nil, x)
			}
			c.args = append(c.args, x)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return c
}

func (p *parser) subscript() expr {
	x := p.slice()
	if !p.is(",") {
		return x
	}
	t := tupleExpr{[]expr{x}}
	for p.accept(",") {
		if p.is("]") {
			break
		}
		t.elts = append(t.elts, p.slice())
	}
	return t
}

func (p *parser) slice() expr {
	var lo expr
	if !p.is(":") {
		lo = p.starred()
		if !p.is(":") {
			return lo
		}
	}
	p.expect(":")
	s := sliceExpr{lo: lo}
	if !p.is("]") && !p.is(",") && !p.is(":") {
		s.hi = p.expression()
	}
	if p.accept(":") && !p.is("]") && !p.is(",") {
		s.step = p.expression()
	}
	return s
}

func (p *parser) comprehension(kind byte, key, elt expr) expr {
	c := compExpr{kind: kind, key: key, elt: elt}
	for p.accept("for") {
		f := compFor{target: p.targets()}
		p.expect("in")
		f.iter = p.or()
		for p.accept("if") {
			f.ifs = append(f.ifs, p.or())
		}
		c.fors = append(c.fors, f)
	}
	return c
}

func (p *parser) atom() expr {
	t := p.next()
	switch t.kind {
	case tName:
		switch t.text {
		case "None":
			return constExpr{nil}
		case "True":
			return constExpr{true}
		case "False":
			return constExpr{false}
		}
		return nameExpr{t.text}
	case tNumber:
		return constExpr{p.number(t.text)}
	case tString, tFString:
		return p.str(t)
	}
	switch t.text {
	case "(":
		if p.accept(")") {
			return tupleExpr{}
		}
		x := p.starred()
		if p.isWord("for") {
			x = p.comprehension('(', nil, x)
			p.expect(")")
			return x
		}
		if !p.is(",") {
			p.expect(")")
			return x
		}
		tu := tupleExpr{[]expr{x}}
		for p.accept(",") {
			if p.is(")") {
				break
			}
			tu.elts = append(tu.elts, p.starred())
		}
		p.expect(")")
		return tu
	case "[":
		var l listExpr
		for !p.is("]") {
			x := p.starred()
			if p.isWord("for") {
				c := p.comprehension('[', nil, x)
				p.expect("]")
				return c
			}
			l.elts = append(l.elts, x)
			if !p.accept(",") {
				break
			}
		}
		p.expect("]")
		return l
	case "{":
		return p.braces()
	case ".":
		if p.is(".") && p.toks[p.pos+1].text == "." {
			p.pos += 2
			return constExpr{Ellipsis{}}
		}
	}
	p.fail("invalid syntax near %q", t.text)
	return nil
}

func (p *parser) braces() expr {
	var d dictExpr
	var s setExpr
	for !p.is("}") {
		if p.accept("**") {
			d.keys, d.vals = append(d.keys, nil), append(d.vals, p.or())
		} else {
			k := p.expression()
			if !p.accept(":") {
				if p.isWord("for") {
					c := p.comprehension('s', nil, k)
					p.expect("}")
					return c
				}
				s.elts = append(s.elts, k)
			} else {
				v := p.expression()
				if p.isWord("for") {
					c := p.comprehension('{', k, v)
					p.expect("}")
					return c
				}
				d.keys, d.vals = append(d.keys, k), append(d.vals, v)
			}
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
	if s.elts != nil {
		return s
	}
	return d
}

func (p *parser) number(s string) any {
	s = strings.ReplaceAll(s, "_", "")
	if strings.HasSuffix(s, "j") {
		if f, err := strconv.ParseFloat(strings.TrimSuffix(s, "j"), 64); err == nil {
			return complex(0, f)
		}
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return int(n)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && f == 0 {
		p.fail("invalid number %q", s)
	}
	return f
}

// str joins adjacent strings, as Python does.
func (p *parser) str(t token) expr {
	var f fstrExpr
	plain := ""
	formatted := false
	for {
		if t.kind == tString {
			f.parts = append(f.parts, constExpr{t.text})
			plain += t.text
		} else {
			formatted = true
			f.parts = append(f.parts, p.fstring(t.text)...)
		}
		if k := p.cur().kind; k != tString && k != tFString {
			break
		}
		t = p.next()
	}
	if !formatted {
		return constExpr{plain}
	}
	return f
}

// fstring reads the parts of an f-string: text, and {expression!conversion:format}.
func (p *parser) fstring(s string) []expr {
	var out []expr
	text := ""
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '{' && c != '}' {
			text += string(c)
			continue
		}
		if i+1 < len(s) && s[i+1] == s[i] {
			text += string(s[i])
			i++
			continue
		}
		depth, j := 0, i
		for ; j < len(s); j++ {
			if strings.ContainsRune("([{", rune(s[j])) {
				depth++
			}
			if strings.ContainsRune(")]}", rune(s[j])) {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if j == len(s) {
			p.fail("f-string: expecting '}'")
		}
		body := s[i+1 : j]
		var f fmtExpr
		if k := topLevelColon(body); k >= 0 {
			body, f.spec = body[:k], body[k+1:]
		}
		if n := len(body); n > 2 && body[n-2] == '!' {
			f.conv, body = body[n-1], body[:n-2]
		}
		if strings.HasSuffix(body, "=") {
			text += body
			body = strings.TrimSuffix(body, "=")
			f.conv = 'r'
		}
		toks, err := lex(strings.TrimSpace(body))
		if err != nil {
			p.fail("f-string: %v", err)
		}
		f.x = (&parser{toks: toks}).expressions()
		out = append(out, constExpr{text}, f)
		text = ""
		i = j
	}
	return append(out, constExpr{text})
}

func topLevelColon(s string) int {
	depth := 0
	for i, c := range s {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ':':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

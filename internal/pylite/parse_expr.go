package pylite

import (
	"strconv"
	"strings"
)

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

package python

import (
	"math"
	"strconv"
	"strings"
)

// targets reads what for assigns to.
func (p *parser) targets() Expr { return p.listOf(p.postfix) }

// exprList reads an expression or a tuple without parentheses.
func (p *parser) exprList() Expr { return p.listOf(p.expr) }

// listOf reads one item, or several with commas between as a tuple. *x may stand among them.
func (p *parser) listOf(item func() Expr) Expr {
	start := p.peek()
	x := p.star(item)
	if !p.is(",") {
		return x
	}
	items := []Expr{x}
	for p.eat(",") {
		t := p.peek()
		if t.kind == tokNewline || t.kind == tokEOF || t.kind == tokName && t.text == "in" || t.kind == tokOp &&
			(t.text == "=" || t.text == ")" || t.text == ":" || t.text == "]" || t.text == ";") {
			break
		}
		items = append(items, p.star(item))
	}
	return &Tuple{p.node(start), items}
}

// star reads an item or *item.
func (p *parser) star(item func() Expr) Expr {
	start := p.peek()
	if p.eat("*") {
		x := item()
		return &Star{p.node(start), x}
	}
	return item()
}

func (p *parser) starred() Expr { return p.star(p.expr) }

func (p *parser) expr() Expr {
	defer p.enter()()
	start := p.peek()
	if p.eat("lambda") {
		l := &Lambda{Params: p.params(":")}
		p.want(":")
		l.Body = p.expr()
		l.Node = p.node(start)
		return l
	}
	x := p.binary(0)
	if p.eat("if") {
		cond := p.binary(0)
		p.want("else")
		other := p.expr()
		return &Conditional{p.node(start), cond, x, other}
	}
	return x
}

// levels are the binary operators from the loosest to the tightest. Level 2 has one operand, level 3 makes chains.
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

func (p *parser) binary(level int) Expr {
	if level == len(levels) {
		return p.unary()
	}
	start := p.peek()
	if level == 2 {
		if p.is("not") {
			defer p.enter()()
			p.pos++
			x := p.binary(2)
			return &Unary{p.node(start), "not", x}
		}
		return p.binary(3)
	}
	x := p.binary(level + 1)
	var chain *Compare
	for {
		op := p.operatorAt(level)
		if op == "" {
			return x
		}
		p.pos += 1 + strings.Count(op, " ")
		y := p.binary(level + 1)
		switch {
		case level < 2:
			x = &Bool{p.node(start), op, x, y}
		case level > 3:
			x = &Binary{p.node(start), op, x, y}
		case chain == nil:
			chain = &Compare{p.node(start), x, []string{op}, []Expr{y}}
			x = chain
		default:
			chain.Node, chain.Ops, chain.R = p.node(start), append(chain.Ops, op), append(chain.R, y)
		}
	}
}

func (p *parser) unary() Expr {
	start := p.peek()
	if start.kind == tokOp && (start.text == "-" || start.text == "+" || start.text == "~") {
		defer p.enter()()
		p.pos++
		x := p.unary()
		if c, ok := x.(*Const); ok {
			switch v := c.Value.(type) {
			case int64:
				if start.text == "-" {
					return &Const{p.node(start), -v}
				}
			case float64:
				if start.text == "-" {
					return &Const{p.node(start), -v}
				}
			}
		}
		return &Unary{p.node(start), start.text, x}
	}
	x := p.postfix()
	if p.eat("**") {
		defer p.enter()()
		y := p.unary()
		return &Binary{p.node(start), "**", x, y}
	}
	return x
}

func (p *parser) postfix() Expr {
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
			x = &Attr{p.node(start), x, name.text}
		case p.eat("("):
			c := &Call{Func: x}
			p.args(c)
			c.Node = p.node(start)
			x = c
		case p.eat("["):
			c := &Index{X: x}
			for !p.eat("]") {
				c.Subs = append(c.Subs, p.subscript())
				if p.eat(",") {
					c.Many = true
				} else if !p.is("]") {
					p.fail("want , or ], not %q", p.peek().text)
				}
			}
			c.Node = p.node(start)
			x = c
		default:
			return x
		}
	}
}

func (p *parser) args(c *Call) {
	for !p.eat(")") {
		start := p.peek()
		if start.kind == tokName && p.toks[p.pos+1].kind == tokOp && p.toks[p.pos+1].text == "=" {
			p.pos += 2
			c.Kwargs = append(c.Kwargs, Keyword{start.text, p.expr()})
		} else if p.eat("**") {
			c.Kwargs = append(c.Kwargs, Keyword{"", p.expr()})
		} else {
			x := p.starred()
			if p.is("for") {
				x = p.comprehension(start, Generator, nil, x, "")
			}
			c.Args = append(c.Args, x)
		}
		if !p.eat(",") && !p.is(")") {
			p.fail("want , or ) in the arguments, not %q", p.peek().text)
		}
	}
}

func (p *parser) subscript() Expr {
	start := p.peek()
	var lo Expr
	if !p.is(":") {
		lo = p.starred()
		if !p.is(":") {
			return lo
		}
	}
	s := &Slice{Lo: lo}
	p.want(":")
	if !p.is(":") && !p.is("]") && !p.is(",") {
		s.Hi = p.expr()
	}
	if p.eat(":") && !p.is("]") && !p.is(",") {
		s.Step = p.expr()
	}
	s.Node = p.node(start)
	return s
}

// comprehension reads what follows the element, up to the closing bracket.
func (p *parser) comprehension(start token, kind CompKind, key, elem Expr, end string) Expr {
	c := &Comprehension{Kind: kind, Key: key, Elem: elem}
	for p.eat("for") {
		l := CompLoop{Target: p.targets()}
		p.want("in")
		l.Iter = p.binary(0)
		for p.eat("if") {
			l.Conds = append(l.Conds, p.binary(0))
		}
		c.Loops = append(c.Loops, l)
	}
	if end != "" {
		p.want(end)
	}
	c.Node = p.node(start)
	return c
}

func (p *parser) atom() Expr {
	start := p.next()
	switch start.kind {
	case tokNumber:
		return &Const{p.node(start), p.number(start.text)}
	case tokString:
		return p.strings(start)
	case tokName:
		switch start.text {
		case "True", "False":
			return &Const{p.node(start), start.text == "True"}
		case "None":
			return &Const{p.node(start), nil}
		case "yield", "await", "async":
			p.pos--
			p.fail("%s is not part of the language", start.text)
		}
		if v, ok := p.consts[start.text]; ok {
			return &Const{p.node(start), v}
		}
		return &Name{p.node(start), start.text}
	case tokOp:
		switch start.text {
		case "(":
			return p.paren(start)
		case "[":
			return p.list(start)
		case "{":
			return p.braces(start)
		case "...":
			return &Name{p.node(start), "..."}
		}
	}
	p.pos--
	p.fail("want an expression, not %q", start.text)
	return nil
}

func (p *parser) paren(start token) Expr {
	if p.eat(")") {
		return &Tuple{p.node(start), nil}
	}
	x := p.starred()
	if p.is("for") {
		return p.comprehension(start, Generator, nil, x, ")")
	}
	if p.eat(")") {
		return x
	}
	items := []Expr{x}
	for p.eat(",") {
		if p.is(")") {
			break
		}
		items = append(items, p.starred())
	}
	p.want(")")
	return &Tuple{p.node(start), items}
}

func (p *parser) list(start token) Expr {
	l := &List{}
	for !p.eat("]") {
		x := p.starred()
		if p.is("for") && len(l.Items) == 0 {
			return p.comprehension(start, ListComp, nil, x, "]")
		}
		l.Items = append(l.Items, x)
		if !p.eat(",") && !p.is("]") {
			p.fail("want , or ], not %q", p.peek().text)
		}
	}
	l.Node = p.node(start)
	return l
}

// braces reads a dict or a set.
func (p *parser) braces(start token) Expr {
	d, set := &Dict{}, &Set{}
	for !p.eat("}") {
		first := len(d.Keys)+len(set.Items) == 0
		if p.eat("**") {
			d.Keys, d.Vals = append(d.Keys, nil), append(d.Vals, p.binary(0))
		} else if k := p.starred(); p.eat(":") {
			v := p.expr()
			if p.is("for") && first {
				return p.comprehension(start, DictComp, k, v, "}")
			}
			d.Keys, d.Vals = append(d.Keys, k), append(d.Vals, v)
		} else {
			if p.is("for") && first {
				return p.comprehension(start, SetComp, nil, k, "}")
			}
			set.Items = append(set.Items, k)
		}
		if len(d.Keys) > 0 && len(set.Items) > 0 {
			p.fail("want either a dict or a set")
		}
		if !p.eat(",") && !p.is("}") {
			p.fail("want , or }, not %q", p.peek().text)
		}
	}
	d.Node = p.node(start)
	if set.Node = d.Node; len(set.Items) > 0 {
		return set
	}
	return d
}

// strings joins string literals that follow each other.
func (p *parser) strings(start token) Expr {
	p.pos--
	f := &Format{}
	text, formatted := "", false
	for p.peek().kind == tokString {
		t := p.next()
		if !t.f {
			text += t.text
			continue
		}
		formatted = true
		text = p.formatted(f, t, text)
	}
	f.Node = p.node(start)
	if !formatted {
		return &Const{f.Node, text}
	}
	if text != "" {
		f.Parts = append(f.Parts, &Const{f.Node, text})
	}
	return f
}

// formatted takes a formatted string literal apart. text is what stands before its first value; the result is what
// stands behind its last one.
func (p *parser) formatted(f *Format, t token, text string) string {
	s := t.text
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			return text + s
		}
		text += s[:i]
		if i+1 < len(s) && s[i] == s[i+1] {
			text += s[i : i+1]
			s = s[i+2:]
			continue
		}
		end := closing(s[i:])
		if s[i] == '}' || end < 0 {
			p.fail("the formatted string has a single %c", s[i])
		}
		body := s[i+1 : i+end]
		s = s[i+end+1:]
		v := &FormatValue{}
		if k := colon(body); k >= 0 {
			body, v.Spec = body[:k], body[k+1:]
		}
		if n := len(body); n > 2 && body[n-2] == '!' {
			body, v.Conv = body[:n-2], body[n-1]
		}
		if name, ok := strings.CutSuffix(body, "="); ok && !strings.ContainsAny(name[max(0, len(name)-1):], "=!<>") {
			text += body
			body = name
			if v.Conv == 0 && v.Spec == "" {
				v.Conv = 'r'
			}
		}
		toks, err := lex(p.file, strings.TrimSpace(body))
		if err != nil {
			p.fail("in a formatted string: %v", err)
		}
		q := &parser{file: p.file, toks: toks, depth: p.depth + 1, consts: p.consts}
		for j := range q.toks {
			q.toks[j].line = t.line
		}
		v.X = q.exprList()
		v.Node = q.node(q.toks[0])
		if q.peek().kind != tokNewline {
			p.fail("want } in the formatted string, not %q", q.peek().text)
		}
		if text != "" {
			f.Parts = append(f.Parts, &Const{v.Node, text})
			text = ""
		}
		f.Parts = append(f.Parts, v)
	}
	return text
}

// closing is the position of the brace that closes the first one, -1 without.
func closing(s string) int {
	nest := 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '{':
			nest++
		case ')', ']', '}':
			if nest--; nest == 0 {
				return i
			}
		}
	}
	return -1
}

// colon is the position of the first colon outside of brackets, -1 without.
func colon(s string) int {
	nest := 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '{':
			nest++
		case ')', ']', '}':
			nest--
		case ':':
			if nest == 0 {
				return i
			}
		}
	}
	return -1
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

package python

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tokenKind tells tokens apart.
type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokNewline
	tokIndent
	tokDedent
	tokName
	tokNumber
	tokString
	tokOp
)

type token struct {
	kind  tokenKind
	text  string // of a string: its value
	start int    // offset in the source
	line  int
	f     bool // a formatted string literal
}

// SyntaxError is a mistake in a program.
type SyntaxError struct {
	File string // name of the file, or entry of the archive
	Line int
	Msg  string
}

// Error gives file, line and mistake.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// lexer cuts Python code into tokens, with those for the indentation that Python has.
type lexer struct {
	file   string
	src    string
	pos    int
	line   int
	nest   int // open parentheses and brackets
	indent []int
	out    []token
}

// MaxIndent bounds the nesting of blocks.
const MaxIndent = 100

func (l *lexer) fail(format string, args ...any) error {
	return &SyntaxError{File: l.file, Line: l.line, Msg: fmt.Sprintf(format, args...)}
}

// lex returns all tokens of a file.
func lex(file, src string) ([]token, error) {
	l := &lexer{file: file, src: src, line: 1, indent: []int{0}}
	start := true
	for {
		if start && l.nest == 0 {
			if err := l.indentation(); err != nil {
				return nil, err
			}
			start = false
		}
		l.blanks()
		if l.pos >= len(l.src) {
			break
		}
		c := l.src[l.pos]
		switch {
		case c == '\n':
			l.pos++
			if l.nest == 0 {
				l.add(tokNewline, "\n", l.pos-1)
				start = true
			}
			l.line++
		case isNameStart(c):
			if err := l.name(); err != nil {
				return nil, err
			}
		case c >= '0' && c <= '9' || c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
			l.number()
		case c == '"' || c == '\'':
			if err := l.str(false, false); err != nil {
				return nil, err
			}
		default:
			if err := l.operator(); err != nil {
				return nil, err
			}
		}
	}
	l.add(tokNewline, "\n", l.pos)
	for range len(l.indent) - 1 {
		l.add(tokDedent, "", l.pos)
	}
	l.add(tokEOF, "", l.pos)
	return l.out, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isNameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func (l *lexer) add(k tokenKind, text string, start int) {
	l.out = append(l.out, token{kind: k, text: text, start: start, line: l.line})
}

// blanks skips blanks, comments and continued lines.
func (l *lexer) blanks() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			l.pos++
		case c == '#':
			for l.pos < len(l.src) && l.src[l.pos] != '\n' {
				l.pos++
			}
		case c == '\\' && strings.HasPrefix(l.src[l.pos:], "\\\n"):
			l.pos += 2
			l.line++
		default:
			return
		}
	}
}

// indentation compares the blanks at the start of a line with those of the blocks around it. Empty lines do not count.
func (l *lexer) indentation() error {
	for {
		width, p := 0, l.pos
		for p < len(l.src) && (l.src[p] == ' ' || l.src[p] == '\t') {
			if width++; l.src[p] == '\t' {
				width = (width + 7) / 8 * 8
			}
			p++
		}
		if p >= len(l.src) {
			l.pos = p
			return nil
		}
		if l.src[p] == '#' || l.src[p] == '\n' || l.src[p] == '\r' {
			for p < len(l.src) && l.src[p] != '\n' {
				p++
			}
			if p < len(l.src) {
				p++
				l.line++
			}
			l.pos = p
			continue
		}
		l.pos = p
		top := l.indent[len(l.indent)-1]
		if width > top {
			if len(l.indent) > MaxIndent {
				return l.fail("blocks are nested more than %d deep", MaxIndent)
			}
			l.indent = append(l.indent, width)
			l.add(tokIndent, "", p)
		}
		for width < l.indent[len(l.indent)-1] {
			l.indent = l.indent[:len(l.indent)-1]
			l.add(tokDedent, "", p)
		}
		if width != l.indent[len(l.indent)-1] {
			return l.fail("the indentation fits no block around it")
		}
		return nil
	}
}

func (l *lexer) name() error {
	start := l.pos
	for l.pos < len(l.src) && (isNameStart(l.src[l.pos]) || isDigit(l.src[l.pos])) {
		l.pos++
	}
	text := l.src[start:l.pos]
	if l.pos < len(l.src) && (l.src[l.pos] == '"' || l.src[l.pos] == '\'') && len(text) <= 2 {
		switch strings.ToLower(text) {
		case "r", "u", "b", "f", "rf", "fr", "rb", "br":
			return l.str(strings.ContainsAny(text, "rR"), strings.ContainsAny(text, "fF"))
		}
	}
	l.add(tokName, text, start)
	return nil
}

// number reads an int, a float or an imaginary number: 12, 0x1f, 1., 1e-5, 2.j
func (l *lexer) number() {
	start := l.pos
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if isDigit(c) || c == '.' || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			l.pos++
		} else if (c == '+' || c == '-') && (l.src[l.pos-1] == 'e' || l.src[l.pos-1] == 'E') &&
			!strings.HasPrefix(l.src[start:], "0x") {
			l.pos++
		} else {
			break
		}
	}
	l.add(tokNumber, l.src[start:l.pos], start)
}

// str reads a string literal with Python's escapes.
func (l *lexer) str(raw, formatted bool) error {
	start := l.pos
	quote := l.src[l.pos : l.pos+1]
	if strings.HasPrefix(l.src[l.pos:], strings.Repeat(quote, 3)) {
		quote = l.src[l.pos : l.pos+3]
	}
	l.pos += len(quote)
	first := l.line
	var b strings.Builder
	for {
		if l.pos >= len(l.src) {
			return &SyntaxError{File: l.file, Line: first, Msg: "the string does not end"}
		}
		if strings.HasPrefix(l.src[l.pos:], quote) {
			l.pos += len(quote)
			break
		}
		c := l.src[l.pos]
		if c == '\n' {
			if len(quote) == 1 {
				return l.fail("the string does not end on its line")
			}
			l.line++
		}
		if c != '\\' || raw || l.pos+1 >= len(l.src) {
			b.WriteByte(c)
			l.pos++
			continue
		}
		if err := l.escape(&b); err != nil {
			return err
		}
	}
	l.out = append(l.out, token{kind: tokString, text: b.String(), start: start, line: first, f: formatted})
	return nil
}

var simpleEscapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v',
	'\\': '\\', '\'': '\'', '"': '"', '0': 0}

func (l *lexer) escape(b *strings.Builder) error {
	c := l.src[l.pos+1]
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	switch {
	case c == '\n':
		l.line++
		l.pos += 2
	case digits > 0:
		if l.pos+2+digits > len(l.src) {
			return l.fail("the escape \\%c is cut short", c)
		}
		n, err := strconv.ParseUint(l.src[l.pos+2:l.pos+2+digits], 16, 32)
		if err != nil {
			return l.fail("the escape \\%c wants %d hexadecimal digits", c, digits)
		}
		if c == 'x' { // PyTorch's printer writes bytes in this way
			b.WriteByte(byte(n))
		} else {
			b.WriteRune(rune(n))
		}
		l.pos += 2 + digits
	case c >= '0' && c <= '7':
		p, n := l.pos+1, 0
		for p < len(l.src) && p < l.pos+4 && l.src[p] >= '0' && l.src[p] <= '7' {
			n = n*8 + int(l.src[p]-'0')
			p++
		}
		b.WriteByte(byte(n))
		l.pos = p
	default:
		if e, ok := simpleEscapes[c]; ok {
			b.WriteByte(e)
		} else {
			b.WriteByte('\\')
			b.WriteByte(c)
		}
		l.pos += 2
	}
	return nil
}

var operators = []string{"...", "**=", "//=", ">>=", "<<=", "->", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+=",
	"-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", ":=", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<", ">",
	"(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "="}

func (l *lexer) operator() error {
	for _, o := range operators {
		if strings.HasPrefix(l.src[l.pos:], o) {
			switch o {
			case "(", "[", "{":
				l.nest++
			case ")", "]", "}":
				l.nest = max(0, l.nest-1)
			}
			l.add(tokOp, o, l.pos)
			l.pos += len(o)
			return nil
		}
	}
	return l.fail("what is %q?", l.src[l.pos])
}

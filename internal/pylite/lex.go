package pylite

import (
	"fmt"
	"strings"
	"unicode"
)

// kind is the class of a token.
type kind uint8

const (
	tEnd     kind = iota
	tNewline      // the end of a logical line
	tIndent
	tDedent
	tName
	tNumber
	tString // text is the decoded string
	tFString
	tOp // operators and punctuation
)

type token struct {
	kind kind
	text string
	line int
}

// operators, the longest first.
var operators = []string{"**=", "//=", ">>=", "<<=", "==", "!=", "<=", ">=", "->", "+=", "-=", "*=", "/=", "%=", "@=",
	"&=", "|=",
	"^=", "**", "//", "<<", ">>", ":="}

// lex splits a program into tokens, with tokens for changes of the indentation as Python's grammar wants them.
func lex(src string) ([]token, error) {
	var out []token
	indents := []int{0}
	depth := 0 // of open brackets
	lines := strings.Split(src, "\n")
	for n := 0; n < len(lines); n++ {
		s := lines[n]
		if depth == 0 {
			body := strings.TrimLeft(s, " \t")
			if body == "" || body[0] == '#' {
				continue
			}
			in := len(s) - len(body)
			if in > indents[len(indents)-1] {
				indents = append(indents, in)
				out = append(out, token{tIndent, "", n + 1})
			}
			for in < indents[len(indents)-1] {
				indents = indents[:len(indents)-1]
				out = append(out, token{tDedent, "", n + 1})
			}
			if in != indents[len(indents)-1] {
				return nil, fmt.Errorf("line %d: unindent does not match any outer indentation level", n+1)
			}
		}
		for s != "" {
			c := s[0]
			switch {
			case c == ' ' || c == '\t':
				s = s[1:]
				continue
			case c == '#':
				s = ""
				continue
			case c == '\\' && len(s) == 1 && n+1 < len(lines):
				n++
				s = lines[n]
				continue
			}
			if prefix, rest, ok := stringStart(s); ok {
				text, raw, after, more, err := lexString(rest, lines[n+1:], strings.ContainsAny(prefix, "rR"))
				if err != nil {
					return nil, fmt.Errorf("line %d: %v", n+1, err)
				}
				k := tString
				if strings.ContainsAny(prefix, "fF") {
					k, text = tFString, raw
				}
				out = append(out, token{k, text, n + 1})
				n += more
				s = after
				continue
			}
			switch {
			case c >= '0' && c <= '9' || c == '.' && len(s) > 1 && s[1] >= '0' && s[1] <= '9':
				i := numberEnd(s)
				out = append(out, token{tNumber, s[:i], n + 1})
				s = s[i:]
			case c == '_' || unicode.IsLetter(rune(c)):
				i := 1
				for i < len(s) && (s[i] == '_' || s[i] >= '0' && s[i] <= '9' || unicode.IsLetter(rune(s[i]))) {
					i++
				}
				out = append(out, token{tName, s[:i], n + 1})
				s = s[i:]
			default:
				op := s[:1]
				for _, o := range operators {
					if strings.HasPrefix(s, o) {
						op = o
						break
					}
				}
				if !strings.Contains("+-*/%@&|^~<>=!()[]{},:.;", op[:1]) {
					return nil, fmt.Errorf("line %d: invalid character %q", n+1, op)
				}
				switch op {
				case "(", "[", "{":
					depth++
				case ")", "]", "}":
					depth--
				}
				out = append(out, token{tOp, op, n + 1})
				s = s[len(op):]
			}
		}
		if depth <= 0 {
			out = append(out, token{tNewline, "", n + 1})
		}
	}
	for range indents[1:] {
		out = append(out, token{tDedent, "", len(lines)})
	}
	return append(out, token{tEnd, "", len(lines)}), nil
}

func numberEnd(s string) int {
	i := 0
	for i < len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c == '.' || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			i++
			continue
		}
		if (c == '+' || c == '-') && i > 0 && (s[i-1] == 'e' || s[i-1] == 'E') && !strings.HasPrefix(s, "0x") {
			i++
			continue
		}
		break
	}
	return i
}

// stringStart reports that s begins with a string, after a prefix such as r or f.
func stringStart(s string) (prefix, rest string, ok bool) {
	i := 0
	for i < len(s) && i < 2 && strings.ContainsRune("rRbBfFuU", rune(s[i])) {
		i++
	}
	if i < len(s) && (s[i] == '\'' || s[i] == '"') {
		return s[:i], s[i:], true
	}
	return "", s, false
}

// lexString reads a string from its opening quote: its value, its text between the quotes, what follows it on its last
// line, and how many further lines it takes.
func lexString(s string, next []string, raw bool) (value, text, after string, more int, err error) {
	quote := s[:1]
	if strings.HasPrefix(s, strings.Repeat(quote, 3)) {
		quote = s[:3]
		s = s + "\n" + strings.Join(next, "\n")
	}
	var b strings.Builder
	i := len(quote)
	for {
		if i >= len(s) {
			return "", "", "", 0, fmt.Errorf("unterminated string literal")
		}
		if strings.HasPrefix(s[i:], quote) {
			break
		}
		if s[i] != '\\' || raw || i+1 >= len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		switch c := s[i+1]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case '\n':
		case '\\', '\'', '"':
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
		i += 2
	}
	text = s[len(quote):i]
	after = s[i+len(quote):]
	if len(quote) == 3 {
		more = strings.Count(s[:i], "\n")
		after, _, _ = strings.Cut(after, "\n")
	}
	return b.String(), text, after, more, nil
}

package einops

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ellipsis is how "..." is written inside a parsed expression.
const ellipsis = "…"

// axis is one elementary axis of a pattern: a name, or a length without a name.
type axis struct {
	name   string
	length int // of an axis without a name
	id     int // tells axes without a name apart
}

func (a axis) anonymous() bool { return a.name == "" }

// group is one dimension of a side: the axes composed into it. The ellipsis outside parentheses is a group marked as
// such.
type group struct {
	axes     []axis
	ellipsis bool
}

// expression is one side of a pattern.
type expression struct {
	text   string // what was read
	groups []group
	// names are the identifiers in the order in which they come, axes without names and the ellipsis among them.
	names         []axis
	ellipsis      bool
	parenthesized bool // the ellipsis stands inside parentheses
	anonymous     bool // there are axes without a name and longer than 1
}

func (e *expression) has(a axis) bool {
	for _, n := range e.names {
		if n == a {
			return true
		}
	}
	return false
}

// composed says that a dimension consists of several axes.
func (e *expression) composed() bool {
	for _, g := range e.groups {
		if len(g.axes) > 1 {
			return true
		}
	}
	return false
}

// rules are what an operation allows in an expression.
type rules struct{ underscore, duplicates bool }

// patternError is a message about a pattern.
type patternError string

func (e patternError) Error() string { return string(e) }

func errf(format string, args ...any) error { return patternError(fmt.Sprintf(format, args...)) }

// maxAxes bounds what one expression may hold, far above what tensors have, so that hostile patterns stay cheap.
const maxAxes = 1 << 12

// parse reads one side of a pattern. nextID numbers the axes without names.
func parse(s string, r rules, nextID *int) (*expression, error) {
	e := &expression{text: s}
	text := s
	if strings.Contains(s, ".") {
		if !strings.Contains(s, "...") {
			return nil, errf("Expression may contain dots only inside ellipsis (...)")
		}
		if strings.Count(s, "...") != 1 || strings.Count(s, ".") != 3 {
			return nil, errf("Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor ")
		}
		text = strings.Replace(s, "...", ellipsis, 1)
		e.ellipsis = true
	}
	var open *group // the parenthesis being read
	add := func(name string) error {
		if len(e.names) >= maxAxes {
			return errf("Expression has more than %d axes", maxAxes)
		}
		if e.has(axis{name: name}) && !(r.underscore && name == "_") && !r.duplicates {
			return errf("Indexing expression contains duplicate dimension \"%s\"", name)
		}
		a := axis{name: name}
		switch number := decimal(name); {
		case name == ellipsis:
			e.note(a)
			if open == nil {
				e.groups = append(e.groups, group{ellipsis: true})
			} else {
				e.parenthesized = true
				open.axes = append(open.axes, a)
			}
			return nil
		case number:
			n, err := strconv.Atoi(name)
			if err != nil {
				return errf("Anonymous axis %s is too long", name)
			}
			if n == 1 { // no axis at all; inside parentheses it says nothing
				if open == nil {
					e.groups = append(e.groups, group{})
				}
				return nil
			}
			if n < 1 {
				return errf("Anonymous axis should have positive length, not %d", n)
			}
			*nextID++
			a = axis{length: n, id: *nextID}
			e.anonymous = true
		default:
			if why := badName(name, r.underscore); why != "" {
				return errf("Invalid axis identifier: %s\n%s", name, why)
			}
		}
		e.note(a)
		if open == nil {
			e.groups = append(e.groups, group{axes: []axis{a}})
		} else {
			open.axes = append(open.axes, a)
		}
		return nil
	}
	word := -1 // where the identifier being read begins
	for i, c := range text {
		switch {
		case c == '(' || c == ')' || c == ' ':
			if word >= 0 {
				if err := add(text[word:i]); err != nil {
					return nil, err
				}
				word = -1
			}
			switch {
			case c == '(' && open != nil:
				return nil, errf("Axis composition is one-level (brackets inside brackets not allowed)")
			case c == '(':
				open = &group{}
			case c == ')' && open == nil:
				return nil, errf("Brackets are not balanced")
			case c == ')':
				e.groups = append(e.groups, *open)
				open = nil
			}
		case c == '_' || string(c) == ellipsis || unicode.IsLetter(c) || unicode.IsNumber(c):
			if word < 0 {
				word = i
			}
		default:
			return nil, errf("Unknown character '%c'", c)
		}
	}
	if open != nil {
		return nil, errf("Imbalanced parentheses in expression: \"%s\"", text)
	}
	if word >= 0 {
		if err := add(text[word:]); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *expression) note(a axis) {
	if !e.has(a) {
		e.names = append(e.names, a)
	}
}

// decimal says that a word consists of decimal digits.
func decimal(s string) bool {
	for _, c := range s {
		if !unicode.IsDigit(c) {
			return false
		}
	}
	return s != ""
}

// badName says why a word cannot name an axis: it must be an identifier of Python's without underscores at its ends.
func badName(s string, underscore bool) string {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			return "not a valid python identifier"
		}
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	if first == '_' || last == '_' {
		if s == "_" && underscore {
			return ""
		}
		return "axis name should should not start or end with underscore"
	}
	return ""
}

// sides splits a pattern at its arrow.
func sides(pattern string) (left, right string, err error) {
	parts := strings.Split(pattern, "->")
	switch {
	case len(parts) < 2:
		return "", "", valueError("not enough values to unpack (expected 2, got 1)")
	case len(parts) > 2:
		return "", "", valueError("too many values to unpack (expected 2)")
	}
	return parts[0], parts[1], nil
}

// parseSides reads the two sides of a pattern; the axes of both are numbered from nextID on.
func parseSides(pattern string, nextID *int) (left, right *expression, err error) {
	ls, rs, err := sides(pattern)
	if err != nil {
		return nil, nil, err
	}
	if left, err = parse(ls, rules{}, nextID); err != nil {
		return nil, nil, err
	}
	right, err = parse(rs, rules{}, nextID)
	return left, right, err
}

// valueError is a message that stands alone, without what was being done.
type valueError string

func (e valueError) Error() string { return string(e) }

// set prints axes as Python prints a set of names; the order of a set is not defined there, here it is that of the
// pattern.
func set(names []axis) string {
	if len(names) == 0 {
		return "set()"
	}
	s := make([]string, len(names))
	for i, a := range names {
		if a.anonymous() {
			s[i] = fmt.Sprintf("%d-axis", a.length)
		} else {
			s[i] = "'" + a.name + "'"
		}
	}
	return "{" + strings.Join(s, ", ") + "}"
}

// without are the axes of a that b lacks.
func without(a, b *expression) (out []axis) {
	for _, n := range a.names {
		if !b.has(n) {
			out = append(out, n)
		}
	}
	return out
}

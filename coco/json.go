package coco

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// A FieldError says which field of which entry of a COCO file is wrong.
type FieldError struct {
	// Field is the place: annotations[12].bbox. Empty for the whole document.
	Field string
	// Problem is what was wanted and what was found.
	Problem string
}

// Error returns "coco: annotations[12].bbox: want 4 numbers, got 3".
func (e *FieldError) Error() string {
	if e.Field == "" {
		return "coco: " + e.Problem
	}
	return "coco: " + e.Field + ": " + e.Problem
}

func problem(format string, args ...any) error {
	return &FieldError{Problem: fmt.Sprintf(format, args...)}
}

// inField and inEntry put the place in front of a FieldError on its way up:
// paths cost nothing as long as nothing is wrong.
func inField(name string, err error) error {
	if e, ok := err.(*FieldError); ok {
		switch {
		case e.Field == "":
			e.Field = name
		case e.Field[0] == '[':
			e.Field = name + e.Field
		default:
			e.Field = name + "." + e.Field
		}
	}
	return err
}

func inEntry(i int, err error) error {
	if e, ok := err.(*FieldError); ok {
		at := "[" + strconv.Itoa(i) + "]"
		switch {
		case e.Field == "":
			e.Field = at
		case e.Field[0] == '[':
			e.Field = at + e.Field
		default:
			e.Field = at + "." + e.Field
		}
	}
	return err
}

// maxDepth bounds how deep values that are only skipped may nest.
const maxDepth = 200

// A decoder reads JSON from memory, value by value. COCO files are large and
// consist of numbers, and their mistakes should be named by entry and field:
// reading directly into the structures is several times faster than by
// reflection, and knows where it is.
type decoder struct {
	b     []byte
	i     int
	depth int
}

func (d *decoder) space() {
	for d.i < len(d.b) {
		switch d.b[d.i] {
		case ' ', '\t', '\n', '\r':
			d.i++
		default:
			return
		}
	}
}

// peek returns the first character of the next value, 0 at the end.
func (d *decoder) peek() byte {
	d.space()
	if d.i < len(d.b) {
		return d.b[d.i]
	}
	return 0
}

// what names the next value in error texts.
func (d *decoder) what() string {
	switch c := d.peek(); {
	case c == 0 && d.i >= len(d.b):
		return "the end of the file"
	case c == '{':
		return "an object"
	case c == '[':
		return "a list"
	case c == '"':
		return "a string"
	case c == 't' || c == 'f':
		return "a boolean"
	case c == 'n':
		return "null"
	case c == '-' || c >= '0' && c <= '9':
		return "a number"
	case c == 'N' || c == 'I':
		return "a number that is not finite"
	default:
		return fmt.Sprintf("the character %q at byte %d, which begins no JSON value", c, d.i)
	}
}

func (d *decoder) want(what string) error { return problem("want %s, got %s", what, d.what()) }

func (d *decoder) syntax(what string) error {
	if d.i >= len(d.b) {
		return problem("want %s, the file ends", what)
	}
	return problem("want %s at byte %d, got %q", what, d.i, d.b[d.i])
}

func (d *decoder) literal(s string) bool {
	if len(d.b)-d.i >= len(s) && string(d.b[d.i:d.i+len(s)]) == s {
		d.i += len(s)
		return true
	}
	return false
}

// null consumes a null.
func (d *decoder) null() bool { return d.peek() == 'n' && d.literal("null") }

// object calls field for every key; field must consume the value.
func (d *decoder) object(field func(key string) error) error {
	if d.peek() != '{' {
		return d.want("an object")
	}
	if d.depth++; d.depth > maxDepth {
		return problem("values nest deeper than %d", maxDepth)
	}
	d.i++
	for first := true; ; first = false {
		c := d.peek()
		if c == '}' && first {
			break
		}
		if c != '"' {
			return d.syntax("the name of a field")
		}
		key, err := d.str()
		if err != nil {
			return err
		}
		if d.peek() != ':' {
			return inField(key, d.syntax("a colon"))
		}
		d.i++
		if err := field(key); err != nil {
			return inField(key, err)
		}
		c = d.peek()
		if c == ',' {
			d.i++
			continue
		}
		if c != '}' {
			return inField(key, d.syntax("a comma or the end of the object"))
		}
		break
	}
	d.i++
	d.depth--
	return nil
}

// list calls entry for every element; entry must consume it.
func (d *decoder) list(what string, entry func(i int) error) error {
	if d.peek() != '[' {
		return d.want(what)
	}
	if d.depth++; d.depth > maxDepth {
		return problem("values nest deeper than %d", maxDepth)
	}
	d.i++
	for n := 0; ; n++ {
		if n == 0 && d.peek() == ']' {
			break
		}
		if err := entry(n); err != nil {
			return inEntry(n, err)
		}
		c := d.peek()
		if c == ',' {
			d.i++
			continue
		}
		if c != ']' {
			return inEntry(n, d.syntax("a comma or the end of the list"))
		}
		break
	}
	d.i++
	d.depth--
	return nil
}

// skip consumes any value.
func (d *decoder) skip() error {
	switch c := d.peek(); {
	case c == '{':
		return d.object(func(string) error { return d.skip() })
	case c == '[':
		return d.list("a list", func(int) error { return d.skip() })
	case c == '"':
		_, err := d.str()
		return err
	case c == 't' && d.literal("true"), c == 'f' && d.literal("false"), c == 'n' && d.literal("null"):
		return nil
	// Python writes these; as part of fields nobody reads they do no harm.
	case c == 'N' && d.literal("NaN"), c == 'I' && d.literal("Infinity"), c == '-' && d.literal("-Infinity"):
		return nil
	case c == '-' || c >= '0' && c <= '9':
		_, err := d.numberText()
		return err
	}
	return d.want("a value")
}

// numberText consumes a number by JSON's grammar.
func (d *decoder) numberText() ([]byte, error) {
	d.space()
	b, s := d.b, d.i
	i := s
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	ok := digits() && (b[first] != '0' || i == first+1)
	if ok && i < len(b) && b[i] == '.' {
		i++
		ok = digits()
	}
	if ok && i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		ok = digits()
	}
	if !ok {
		return nil, problem("%q is not a number", cut(string(b[s:min(len(b), i+1)])))
	}
	d.i = i
	return b[s:i], nil
}

func cut(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// float reads a number.
func (d *decoder) float() (float64, error) {
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		return 0, d.want("a number")
	}
	if d.b[d.i] == '-' && d.i+1 < len(d.b) && d.b[d.i+1] == 'I' {
		return 0, problem("want a number, got -Infinity")
	}
	t, err := d.numberText()
	if err != nil {
		return 0, err
	}
	// Short decimals, nearly all of a COCO file: both the digits and the power
	// of ten are exact, so one division rounds correctly.
	if len(t) <= 16 {
		if v, ok := shortFloat(t); ok {
			return v, nil
		}
	}
	v, err := strconv.ParseFloat(string(t), 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, problem("the number %s is too large", cut(string(t)))
	}
	return v, nil
}

var pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16}

// shortFloat converts at most 15 digits with an optional point, without exponent.
func shortFloat(t []byte) (float64, bool) {
	i, neg := 0, false
	if t[0] == '-' {
		neg, i = true, 1
	}
	m, point := int64(0), -1
	for ; i < len(t); i++ {
		switch c := t[i]; {
		case c >= '0' && c <= '9':
			m = m*10 + int64(c-'0')
		case c == '.':
			point = i
		default:
			return 0, false
		}
	}
	if m >= 1<<53 {
		return 0, false
	}
	v := float64(m)
	if point >= 0 {
		v /= pow10[len(t)-1-point]
	}
	if neg {
		v = -v
	}
	return v, true
}

// integer reads a whole number; 3.0 is one too.
func (d *decoder) integer() (int64, error) {
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		return 0, d.want("a whole number")
	}
	t, err := d.numberText()
	if err != nil {
		return 0, err
	}
	if v, err := strconv.ParseInt(string(t), 10, 64); err == nil {
		return v, nil
	}
	v, err := strconv.ParseFloat(string(t), 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
		return 0, problem("want a whole number, got %s", cut(string(t)))
	}
	return int64(v), nil
}

// flag reads 0, 1, true or false.
func (d *decoder) flag() (bool, error) {
	switch c := d.peek(); {
	case c == 't' && d.literal("true"):
		return true, nil
	case c == 'f' && d.literal("false"):
		return false, nil
	case c != '-' && (c < '0' || c > '9'):
		return false, d.want("0 or 1")
	}
	v, err := d.integer()
	if err == nil && v != 0 && v != 1 {
		err = problem("want 0 or 1, got %d", v)
	}
	return v == 1, err
}

// str reads a string.
func (d *decoder) str() (string, error) {
	if d.peek() != '"' {
		return "", d.want("a string")
	}
	s := d.i + 1
	for i := s; i < len(d.b); i++ {
		switch c := d.b[i]; {
		case c == '"':
			d.i = i + 1
			if !utf8.Valid(d.b[s:i]) {
				return "", problem("the string at byte %d is not UTF-8", s)
			}
			return string(d.b[s:i]), nil
		case c == '\\':
			return d.escaped(s, i)
		case c < ' ':
			return "", problem("the string at byte %d holds a control character", s)
		}
	}
	return "", problem("the string at byte %d does not end", s)
}

// escaped finishes a string that began at s and has a backslash at i.
func (d *decoder) escaped(s, i int) (string, error) {
	end := i
	for end < len(d.b) && d.b[end] != '"' {
		if d.b[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(d.b) {
		return "", problem("the string at byte %d does not end", s)
	}
	out, err := unescape(d.b[s:end])
	if err != nil {
		return "", problem("the string at byte %d: %v", s, err)
	}
	d.i = end + 1
	return out, nil
}

func unescape(b []byte) (string, error) {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c < ' ' {
			return "", fmt.Errorf("it holds a control character")
		}
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++ // the scan above has seen a character after each backslash
		switch b[i] {
		case '"', '\\', '/':
			out = append(out, b[i])
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := hex4(b[i+1:])
			if !ok {
				return "", fmt.Errorf("\\u wants four hexadecimal digits")
			}
			i += 4
			// A character outside the basic plane is written as two halves.
			if r >= 0xd800 && r < 0xdc00 && i+2 < len(b) && b[i+1] == '\\' && b[i+2] == 'u' {
				if lo, ok := hex4(b[i+3:]); ok && lo >= 0xdc00 && lo < 0xe000 {
					r = (r-0xd800)<<10 + (lo - 0xdc00) + 0x10000
					i += 6
				}
			}
			out = utf8.AppendRune(out, r) // a lone half becomes U+FFFD
		default:
			return "", fmt.Errorf("unknown escape \\%c", b[i])
		}
	}
	if !utf8.Valid(out) {
		return "", fmt.Errorf("it is not UTF-8")
	}
	return string(out), nil
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(v), err == nil
}

// floats reads a list of numbers, appending them to dst.
func (d *decoder) floats(dst []float64) ([]float64, error) {
	if d.peek() != '[' {
		return dst, d.want("a list of numbers")
	}
	d.i++
	for n := 0; ; n++ {
		if n == 0 && d.peek() == ']' {
			break
		}
		v, err := d.float()
		if err != nil {
			return dst, inEntry(n, err)
		}
		dst = append(dst, v)
		c := d.peek()
		if c == ',' {
			d.i++
			continue
		}
		if c != ']' {
			return dst, inEntry(n, d.syntax("a comma or the end of the list"))
		}
		break
	}
	d.i++
	return dst, nil
}

// Package pyfmt writes numbers and containers the way Python's repr does, for texts that must equal Python's.
package pyfmt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Float is repr of a float: the shortest digits that read back the same, in plain notation from 1e-4 up to 1e16, with
// ".0" for whole numbers.
func Float(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Str is repr of a string: single quotes unless the text holds single quotes only.
func Str(s string) string {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	var b strings.Builder
	b.WriteByte(q)
	for _, r := range s {
		switch {
		case r == rune(q) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(q)
	return b.String()
}

// Repr writes a Go value as Python would: nil is None, arrays of two floats are tuples, slices are lists. Values of
// other types print with fmt.
func Repr(v any) string {
	switch x := v.(type) {
	case nil:
		return "None"
	case bool:
		if x {
			return "True"
		}
		return "False"
	case float64:
		return Float(x)
	case float32:
		return Float(float64(x))
	case string:
		return Str(x)
	case [2]float64:
		return "(" + Float(x[0]) + ", " + Float(x[1]) + ")"
	case []any:
		return list(len(x), func(i int) any { return x[i] })
	case []float64:
		return list(len(x), func(i int) any { return x[i] })
	case []int:
		return list(len(x), func(i int) any { return x[i] })
	case []string:
		return list(len(x), func(i int) any { return x[i] })
	}
	return fmt.Sprint(v)
}

func list(n int, at func(int) any) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Repr(at(i)))
	}
	b.WriteByte(']')
	return b.String()
}

package npy

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// mostFields bounds the nesting of structured types and the number of fields in one.
const (
	mostNesting = 8
	mostFields  = 1 << 12
)

// structured makes a type of the description of its fields.
func structured(list []any, depth int) (kind, error) {
	size, text, err := parseFields(list, depth)
	return kind{text, size, 1}, err
}

// parseFields reads the description of a structured type: its size, and the description as NumPy writes it.
func parseFields(list []any, depth int) (size int, text string, err error) {
	if depth > mostNesting || len(list) > mostFields {
		return 0, "", formatErr("a structured type of %d fields at depth %d", len(list), depth)
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, f := range list {
		field, ok := f.([]any)
		if !ok || len(field) < 2 || len(field) > 3 {
			return 0, "", formatErr("field %.100s of a structured type", fmt.Sprint(f))
		}
		name, ok := field[0].(string)
		quoted := "'" + name + "'"
		if pair, both := field[0].([]any); both && len(pair) == 2 { // a title and a name
			title, ok1 := pair[0].(string)
			plain, ok2 := pair[1].(string)
			quoted, ok = "('"+title+"', '"+plain+"')", ok1 && ok2
		}
		if !ok || strings.ContainsAny(strings.Trim(quoted, "'"), "\\\n") {
			return 0, "", formatErr("field named %.100s", fmt.Sprint(field[0]))
		}
		n, descr := 0, ""
		switch d := field[1].(type) {
		case string:
			k, _, err := parseDescr(d)
			if err != nil {
				return 0, "", err
			}
			n, descr = k.size, "'"+d+"'"
		case []any:
			if n, descr, err = parseFields(d, depth+1); err != nil {
				return 0, "", err
			}
		default:
			return 0, "", formatErr("field %s of type %.100s", quoted, fmt.Sprint(d))
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("(" + quoted + ", " + descr)
		if len(field) == 3 {
			dims, ok := field[2].([]any)
			if !ok || len(dims) > 64 {
				return 0, "", formatErr("field %s of shape %.100s", quoted, fmt.Sprint(field[2]))
			}
			b.WriteString(", (")
			for j, d := range dims {
				m, ok := d.(int64)
				if !ok || m < 0 || m > math.MaxInt32 {
					return 0, "", formatErr("field %s of shape %.100s", quoted, fmt.Sprint(dims))
				}
				if j > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(strconv.FormatInt(m, 10) + ",")
				hi, lo := bits.Mul64(uint64(n), uint64(m))
				if hi != 0 || lo > 1<<28 {
					return 0, "", formatErr("field %s is too large", quoted)
				}
				n = int(lo)
			}
			text := strings.TrimSuffix(b.String(), ",")
			b.Reset()
			b.WriteString(text)
			if len(dims) == 1 {
				b.WriteByte(',')
			}
			b.WriteByte(')')
		}
		b.WriteByte(')')
		if size += n; size > 1<<28 {
			return 0, "", formatErr("a structured type of more than %d bytes", 1<<28)
		}
	}
	b.WriteByte(']')
	return size, b.String(), nil
}

// parseStructured reads the description of a structured type as text.
func parseStructured(text string) (kind, error) {
	p := &parser{text: text}
	v, err := p.all()
	list, ok := v.([]any)
	if err != nil || !ok {
		return kind{}, formatErr("%.100q describes no fields", text)
	}
	return structured(list, 0)
}

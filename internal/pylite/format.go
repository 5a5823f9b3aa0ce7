package pylite

import (
	"fmt"
	"strconv"
	"strings"
)

// Numeric is a Host that has values which an f-string writes as numbers.
type Numeric interface {
	Number(v any) (number any, ok bool)
}

// format is what an f-string writes for a value.
func (in *Interp) format(v any, conv byte, spec string) string {
	if conv == 'r' {
		return Repr(in.printable(v))
	}
	if f, ok := in.Host.(Numeric); ok {
		if x, ok := f.Number(v); ok {
			v = x
		}
	}
	if spec == "" {
		return in.str(v)
	}
	verb := spec[len(spec)-1]
	if spec[0] == '>' || spec[0] == '<' { // Go aligns to the right, and to the left with a minus sign
		spec = strings.Replace(strings.TrimPrefix(spec, ">"), "<", "-", 1)
	}
	switch x := number(v).(type) {
	case int:
		if strings.IndexByte("efgEG", verb) >= 0 {
			return fmt.Sprintf("%"+spec, float64(x))
		}
		return fmt.Sprintf("%"+strings.TrimSuffix(spec, "d")+"d", x)
	case float64:
		return fmt.Sprintf("%"+spec, x)
	}
	return fmt.Sprintf("%"+strings.TrimSuffix(spec, "s")+"s", in.str(v))
}

// percent is Python's "…" % values.
func (in *Interp) percent(f string, v any) string {
	args, ok := v.(Tuple)
	if !ok {
		args = Tuple{v}
	}
	list := make([]any, len(args))
	for i, a := range args {
		list[i] = a
		switch a.(type) {
		case int, float64:
		default:
			list[i] = in.str(a)
		}
	}
	return fmt.Sprintf(strings.ReplaceAll(strings.ReplaceAll(f, "%r", "%v"), "%i", "%d"), list...)
}

// atoi is int(text).
func atoi(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		Throw("ValueError", "invalid literal for int() with base 10: %s", Repr(s))
	}
	return n
}

package graph

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// Text is the value as TorchScript's str(), format() and print() write it: a stream of C++. Strings in containers stand
// without quotes, a float with no fraction has a point and no zero, and a tensor is written in columns, see tensorText.
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/core/ivalue.cpp (operator<<)
func Text(v tensor.Value) string {
	if s, ok := v.X.(string); ok {
		return s
	}
	var b strings.Builder
	writeValue(&b, v, 0)
	return b.String()
}

const maxTextDepth = 100

func writeValue(b *strings.Builder, v tensor.Value, depth int) {
	if depth > maxTextDepth || b.Len() > mostText {
		b.WriteString("...")
		return
	}
	seq := func(open string, items []tensor.Value, closing string) {
		b.WriteString(open)
		for i, e := range items {
			if i > 0 {
				b.WriteString(", ")
			}
			writeValue(b, e, depth+1)
		}
		b.WriteString(closing)
	}
	switch v.K {
	case tensor.KNone:
		b.WriteString("None")
	case tensor.KTensor:
		b.WriteString(tensorText(v.T))
	case tensor.KBool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v.N != 0])
	case tensor.KFloat:
		b.WriteString(floatText(v.Float()))
	case tensor.KComplex:
		c := v.Num().C
		b.WriteString(floatText(real(c)))
		if imag(c) >= 0 {
			b.WriteString("+")
		} else {
			b.WriteString("-")
		}
		b.WriteString(floatText(math.Abs(imag(c))) + "j")
	case tensor.KStr:
		b.WriteString(v.X.(string))
	case tensor.KDevice:
		b.WriteString(fmt.Sprint(v.X))
	default:
		switch x := v.X.(type) {
		case *List:
			seq("[", x.Items, "]")
		case *Tuple:
			if len(x.Items) == 1 {
				seq("(", x.Items, ",)")
			} else {
				seq("(", x.Items, ")")
			}
		case *Dict:
			b.WriteString("{")
			first := true
			x.Each(func(k, e tensor.Value) {
				if !first {
					b.WriteString(", ")
				}
				first = false
				writeValue(b, k, depth+1)
				b.WriteString(": ")
				writeValue(b, e, depth+1)
			})
			b.WriteString("}")
		case *Enum:
			b.WriteString("Enum<" + x.Class.Name + "." + x.Name + ">")
		case *Object:
			b.WriteString("<" + x.Class.Name + " object>")
		default:
			b.WriteString(v.String())
		}
	}
}

// floatText is a float as a C++ stream prints it for TorchScript: one that an int64 holds as "2.", others with up to 17
// significant digits.
func floatText(f float64) string {
	if f == math.Trunc(f) && f >= math.MinInt64 && f < -math.MinInt64 {
		return strconv.FormatInt(int64(f), 10) + "."
	}
	return CGeneral(f, 17)
}

// cFormat is C's %f, %e or %E.
func cFormat(f float64, verb byte) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		text := CGeneral(f, 6)
		if verb == 'E' {
			text = strings.ToUpper(text)
		}
		return text
	}
	return strconv.FormatFloat(f, verb, 6, 64)
}

// CGeneral is a number as C's printf writes it with %g and a precision.
func CGeneral(f float64, digits int) string {
	if math.IsNaN(f) {
		return "nan"
	}
	if math.IsInf(f, 0) {
		return map[bool]string{true: "inf", false: "-inf"}[f > 0]
	}
	s := strconv.FormatFloat(f, 'e', digits-1, 64)
	mant, exp, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exp)
	if e < -4 || e >= digits {
		if strings.Contains(mant, ".") {
			mant = strings.TrimRight(strings.TrimRight(mant, "0"), ".")
		}
		sign := "+"
		if e < 0 {
			sign, e = "-", -e
		}
		return fmt.Sprintf("%se%s%02d", mant, sign, e)
	}
	s = strconv.FormatFloat(f, 'f', max(0, digits-1-e), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func registerFormat() {
	Register("aten::str(t elem) -> str", func(a []tensor.Value) tensor.Value { return tensor.StrValue(Text(a[0])) })
	Register("aten::format(str self, ...) -> str", func(a []tensor.Value) tensor.Value {
		var b strings.Builder
		s, used := text(a[0]), 0
		for {
			before, after, found := strings.Cut(s, "{}")
			b.WriteString(before)
			if !found {
				break
			}
			if used++; used >= len(a) {
				tensor.Fail(tensor.ErrValue, "Too few arguments for format string: %s", text(a[0]))
			}
			b.WriteString(Text(a[used]))
			checkText(b.Len())
			s = after
		}
		return tensor.StrValue(b.String())
	})
	Register("aten::percentFormat(str self, ...) -> str", func(a []tensor.Value) tensor.Value {
		args := a[1:]
		if len(args) == 1 {
			if t, ok := args[0].X.(*Tuple); ok {
				args = t.Items
			}
		}
		return tensor.StrValue(percent(text(a[0]), args))
	})
	Register("prim::Print(...) -> ()", func(a []tensor.Value) tensor.Value {
		parts := make([]string, len(a))
		for i, v := range a {
			parts[i] = Text(v)
		}
		fmt.Fprintln(os.Stdout, strings.Join(parts, " "))
		return tensor.Value{}
	})
	Register("aten::warn(str message, int stacklevel=2) -> ()", func(a []tensor.Value) tensor.Value {
		tensor.Warn("%s", text(a[0]))
		return tensor.Value{}
	})
}

// percent is Python's old formatting, as far as TorchScript has it: %s %d %i %f %F %e %E %c %%, without widths.
// https://github.com/pytorch/pytorch/blob/main/torch/csrc/jit/runtime/vararg_functions.cpp
func percent(s string, args []tensor.Value) string {
	var b strings.Builder
	used := 0
	for {
		before, after, found := strings.Cut(s, "%")
		b.WriteString(before)
		if !found {
			break
		}
		if after == "" {
			tensor.Fail(tensor.ErrValue, "Incomplete format specifier")
		}
		c := after[0]
		s = after[1:]
		if c == '%' {
			b.WriteByte('%')
			continue
		}
		if used >= len(args) {
			tensor.Fail(tensor.ErrValue, "Too few arguments for format string")
		}
		b.WriteString(percentOne(c, args[used]))
		used++
	}
	if used < len(args) {
		tensor.Fail(tensor.ErrValue, "Too many arguments for format string")
	}
	return b.String()
}

// tagNames are the names that PyTorch's messages have for kinds of values.
var tagNames = map[tensor.Kind]string{tensor.KInt: "Int", tensor.KFloat: "Double", tensor.KBool: "Bool",
	tensor.KStr: "String", tensor.KTensor: "Tensor", tensor.KNone: "None"}

func percentOne(c byte, v tensor.Value) string {
	wants := func(what string) {
		kind := TypeOf(v).String()
		if name, ok := tagNames[v.K]; ok {
			kind = name
		}
		tensor.Fail(tensor.ErrType, "%%%c requires %s for formatting, but got %s", c, what, kind)
	}
	number := func() {
		switch v.K {
		case tensor.KInt, tensor.KFloat, tensor.KBool:
			return
		}
		wants("a number")
	}
	// PyTorch rounds to float32 first
	single := func() float64 { return float64(float32(float(&v))) }
	switch c {
	case 's':
		return Text(v)
	case 'd', 'i':
		number()
		return strconv.FormatInt(v.Num().I, 10)
	case 'f', 'F':
		number()
		return cFormat(single(), 'f')
	case 'e', 'E':
		number()
		return cFormat(single(), c)
	case 'c':
		if v.K == tensor.KInt {
			return string([]byte{byte(v.N)})
		}
		if s, ok := v.X.(string); ok && len(s) == 1 {
			return s
		}
		wants("an int or char")
	}
	tensor.Fail(tensor.ErrValue, "The specifier %%%c is not supported in TorchScript format strings", c)
	return ""
}

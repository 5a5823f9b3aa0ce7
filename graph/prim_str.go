package graph

import (
	"errors"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// This file has the operators on strings. As in PyTorch a string is a sequence of bytes.
// https://github.com/pytorch/pytorch/blob/main/torch/csrc/jit/runtime/register_prim_ops.cpp

func parseInt(text string) tensor.Value {
	s := strings.TrimLeft(text, " \t\n\r\f\v")
	end := 0
	for end < len(s) && (isNum(s[end]) || end == 0 && (s[0] == '-' || s[0] == '+')) {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil { // the text of C++'s exception, as in PyTorch
		tensor.Fail(tensor.ErrValue, "stoll")
	}
	if end < len(s) {
		tensor.Fail(tensor.ErrValue, "invalid literal for int() with base 10: '%s'", text)
	}
	return intOf(n)
}

// beginsNumber reports that C++'s stod takes the beginning of s, in lower case, for a number.
func beginsNumber(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	digits := strings.TrimPrefix(s, ".")
	return digits != "" && isNum(digits[0]) || strings.HasPrefix(s, "inf") || strings.HasPrefix(s, "nan")
}

func parseFloat(s string) tensor.Value {
	text := strings.ToLower(strings.TrimLeft(s, " \t\n\r\f\v"))
	digits := text
	if strings.HasPrefix(strings.TrimLeft(text, "+-"), "0x") && !strings.Contains(text, "p") {
		digits += "p0"
	}
	f, err := strconv.ParseFloat(digits, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), !beginsNumber(text): // the text of C++'s exception, as in PyTorch
		tensor.Fail(tensor.ErrValue, "stod")
	case err != nil:
		tensor.Fail(tensor.ErrValue, "could not convert string to float: '%s'", s)
	}
	return tensor.FloatValue(f)
}

func strs(l []string) tensor.Value {
	out := &List{Elem: Str, Items: []tensor.Value{}}
	for _, s := range l {
		out.Items = append(out.Items, tensor.StrValue(s))
	}
	return Box(out)
}

// window is the part of a string that start and end name, with its offset; ok is false when start lies behind it.
func window(s string, start, end int64) (part string, at int, ok bool) {
	n := int64(len(s))
	if start < 0 {
		start = max(0, start+n)
	}
	stop := int64(stringEnd(s, end))
	if start > stop {
		return "", 0, false
	}
	return s[start:stop], int(start), true
}

// stringEnd is the end that a negative number counts from the back.
func stringEnd(s string, end int64) int {
	n := int64(len(s))
	if end < 0 {
		end += n + 1
	}
	return int(min(max(end, 0), n))
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isAlpha(c byte) bool { return isLower(c) || isUpper(c) }
func isNum(c byte) bool   { return c >= '0' && c <= '9' }
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func mapBytes(s string, f func(c byte) byte) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = f(c)
	}
	return string(b)
}

func upper(c byte) byte {
	if isLower(c) {
		return c - 32
	}
	return c
}

func lower(c byte) byte {
	if isUpper(c) {
		return c + 32
	}
	return c
}

// title makes the first letter of each run of letters upper and the others lower case.
func title(s string) string {
	b := []byte(s)
	inside := false
	for i, c := range b {
		if inside {
			b[i] = lower(c)
		} else {
			b[i] = upper(c)
		}
		inside = isAlpha(c)
	}
	return string(b)
}

// mostText bounds the strings of programs: a loop that doubles a string would soon fill any memory.
const mostText = 1 << 26

// checkText refuses a string of n characters that is too long.
func checkText(n int) {
	if n > mostText {
		tensor.Fail(tensor.ErrMemory, "a string of %d characters is too long; %d are allowed", n, mostText)
	}
}

func pad(n int64, fill string) string {
	if n <= 0 {
		return ""
	}
	if n > mostText {
		tensor.Fail(tensor.ErrMemory, "a string of %d characters is too long", n)
	}
	if len(fill) != 1 {
		tensor.Fail(tensor.ErrType, "TypeError: The fill character must be exactly one character long")
	}
	return strings.Repeat(fill, int(n))
}

// splitLines is PyTorch's splitlines, which takes each separator as a line's end of its own, also those of "\r\n", and
// keeps them as elements of the list.
func splitLines(s string, keep bool) []string {
	var out []string
	for s != "" {
		i := strings.IndexAny(s, "\n\r\v\f\x1c\x1d\x1e")
		if i < 0 {
			return append(out, s)
		}
		if out = append(out, s[:i]); keep {
			out = append(out, s[i:i+1])
		}
		s = s[i+1:]
	}
	return out
}

func splitSpace(s string, most int64) []string {
	var out []string
	for {
		s = strings.TrimLeft(s, " \t\n\r\f\v")
		if s == "" {
			return out
		}
		i := strings.IndexAny(s, " \t\n\r\f\v")
		if i < 0 || most >= 0 && int64(len(out)) >= most {
			return append(out, s)
		}
		out = append(out, s[:i])
		s = s[i:]
	}
}

func registerText() {
	str := func(name, result string, f func(s string) tensor.Value) {
		Register("aten::"+name+"(str self) -> "+result, func(a []tensor.Value) tensor.Value { return f(text(a[0])) })
	}
	change := func(name string, f func(s string) string) {
		str(name, "str", func(s string) tensor.Value { return tensor.StrValue(f(s)) })
	}
	change("lower", func(s string) string { return mapBytes(s, lower) })
	change("upper", func(s string) string { return mapBytes(s, upper) })
	change("title", title)
	change("swapcase", func(s string) string {
		return mapBytes(s, func(c byte) byte {
			if isLower(c) {
				return upper(c)
			}
			return lower(c)
		})
	})
	change("capitalize", func(s string) string {
		s = mapBytes(s, lower)
		if s == "" {
			return s
		}
		return string(upper(s[0])) + s[1:]
	})
	every := func(name string, ok func(c byte) bool) {
		str(name, "bool", func(s string) tensor.Value {
			all := s != ""
			for i := range len(s) {
				all = all && ok(s[i])
			}
			return tensor.BoolValue(all)
		})
	}
	every("isdigit", isNum)
	every("isdecimal", isNum)
	every("isnumeric", isNum)
	every("isspace", isSpace)
	every("isalpha", isAlpha)
	every("isalnum", func(c byte) bool { return isAlpha(c) || isNum(c) })
	str("isprintable", "bool", func(s string) tensor.Value {
		return tensor.BoolValue(!strings.ContainsFunc(s, func(r rune) bool { return r < 32 || r == 127 }))
	})
	str("isidentifier", "bool", func(s string) tensor.Value {
		ok := s != "" && !isNum(s[0])
		for i := range len(s) {
			ok = ok && (isAlpha(s[i]) || isNum(s[i]) || s[i] == '_')
		}
		return tensor.BoolValue(ok)
	})
	cased := func(name string, is, other func(c byte) bool) {
		str(name, "bool", func(s string) tensor.Value {
			some, all := false, true
			for i := range len(s) {
				some, all = some || is(s[i]), all && !other(s[i])
			}
			return tensor.BoolValue(some && all)
		})
	}
	cased("islower", isLower, isUpper)
	cased("isupper", isUpper, isLower)
	str("istitle", "bool", func(s string) tensor.Value {
		return tensor.BoolValue(strings.ContainsFunc(s, func(r rune) bool { return r < 128 && isAlpha(byte(r)) }) &&
			title(s) == s)
	})
	strip := func(name string, f func(s, cut string) string) {
		Register("aten::"+name+`(str self, str chars=" \n\t\f\v") -> str`, func(a []tensor.Value) tensor.Value {
			cut := text(a[1])
			if cut == ` \n\t\f\v` { // the schema's default
				cut = " \n\t\f\v"
			}
			return tensor.StrValue(f(text(a[0]), cut))
		})
	}
	strip("strip", strings.Trim)
	strip("lstrip", strings.TrimLeft)
	strip("rstrip", strings.TrimRight)
}

func registerSearch() {
	search := func(name string, index func(s, sub string) int, fails bool) {
		Register("aten::"+name+"(str self, str substr, int start=0, int end=-1) -> int",
			func(a []tensor.Value) tensor.Value {
				part, at, ok := window(text(a[0]), a[2].N, a[3].N)
				i := -1
				if ok {
					if i = index(part, text(a[1])); i >= 0 {
						i += at
					}
				}
				if i < 0 && fails {
					tensor.Fail(tensor.ErrValue, "ValueError: substring not found")
				}
				return tensor.IntValue(i)
			})
	}
	search("find", strings.Index, false)
	search("rfind", strings.LastIndex, false)
	search("rindex", strings.LastIndex, true)
	search("index.str", strings.Index, true)
	Register("aten::count(str self, str substr, int start=0, int end=-1) -> int", func(a []tensor.Value) tensor.Value {
		s, sub := text(a[0]), text(a[1])
		_, at, ok := window(s, a[2].N, a[3].N)
		if !ok || s == "" {
			return intOf(0)
		}
		if sub == "" { // PyTorch does not come back from this one
			part, _, _ := window(s, a[2].N, a[3].N)
			return tensor.IntValue(len(part) + 1)
		}
		// as in PyTorch, end bounds where an occurrence begins
		n, end := 0, stringEnd(s, a[3].N)
		for i := strings.Index(s[at:], sub); i >= 0 && at+i < end; i = strings.Index(s[at:], sub) {
			n++
			at += i + len(sub)
		}
		return tensor.IntValue(n)
	})
	has := func(name string, f func(s, sub string) bool) {
		Register("aten::"+name+"(str self, str substr, int start=0, int end=-1) -> bool",
			func(a []tensor.Value) tensor.Value {
				s := text(a[0])
				if start := a[2].N; start > int64(len(s)) {
					tensor.Fail(tensor.ErrIndex,
						"basic_string::substr: __pos (which is %d) > this->size() (which is %d)",
						start, len(s))
				}
				part, _, ok := window(s, a[2].N, a[3].N)
				return tensor.BoolValue(ok && f(part, text(a[1])))
			})
	}
	has("startswith", strings.HasPrefix)
	has("endswith", strings.HasSuffix)
	Register("aten::replace(str self, str old, str new, int max=-1) -> str", func(a []tensor.Value) tensor.Value {
		s, old, by := text(a[0]), text(a[1]), text(a[2])
		if len(by) > len(old) {
			checkText(len(s) + (strings.Count(s, old))*(len(by)-len(old)))
		}
		return tensor.StrValue(strings.Replace(s, old, by, int(a[3].N)))
	})
	Register("aten::split.str(str self, str? separator=None, int max=-1) -> str[]",
		func(a []tensor.Value) tensor.Value {
			most := int(a[2].N)
			if a[1].K == tensor.KNone {
				return strs(splitSpace(text(a[0]), a[2].N))
			}
			if text(a[1]) == "" {
				tensor.Fail(tensor.ErrValue, "ValueError: empty separator")
			}
			if most < 0 {
				return strs(strings.Split(text(a[0]), text(a[1])))
			}
			return strs(strings.SplitN(text(a[0]), text(a[1]), most+1))
		})
	Register(`aten::rsplit(str self, str separator=" ", int max=-1) -> str[]`, func(a []tensor.Value) tensor.Value {
		s, sep, most := text(a[0]), text(a[1]), a[2].N
		if sep == "" {
			tensor.Fail(tensor.ErrValue, "ValueError: empty separator")
		}
		var out []string
		for most < 0 || int64(len(out)) < most {
			i := strings.LastIndex(s, sep)
			if i < 0 {
				break
			}
			out = append([]string{s[i+len(sep):]}, out...)
			s = s[:i]
		}
		return strs(append([]string{s}, out...))
	})
	Register("aten::splitlines(str self, bool keepends=False) -> str[]", func(a []tensor.Value) tensor.Value {
		return strs(splitLines(text(a[0]), truth(&a[1])))
	})
	three := func(x, y, z string) tensor.Value {
		return NewTuple(tensor.StrValue(x), tensor.StrValue(y), tensor.StrValue(z))
	}
	Register("aten::partition(str self, str separator) -> (str, str, str)", func(a []tensor.Value) tensor.Value {
		s, sep := text(a[0]), text(a[1])
		if i := strings.Index(s, sep); i >= 0 {
			return three(s[:i], sep, s[i+len(sep):])
		}
		return three(s, "", "")
	})
	Register("aten::rpartition(str self, str separator) -> (str, str, str)", func(a []tensor.Value) tensor.Value {
		s, sep := text(a[0]), text(a[1])
		if i := strings.LastIndex(s, sep); i >= 0 {
			return three(s[:i], sep, s[i+len(sep):])
		}
		return three("", "", s)
	})
	Register("aten::join(str self, str[] values) -> str", func(a []tensor.Value) tensor.Value {
		var parts []string
		n := 0
		for _, v := range list(a, 1).Items {
			parts = append(parts, text(v))
			n += len(text(v)) + len(text(a[0]))
		}
		checkText(n)
		return tensor.StrValue(strings.Join(parts, text(a[0])))
	})
}

func registerLayout() {
	padded := func(name string, f func(s string, n int64, fill string) string) {
		Register("aten::"+name+`(str self, int width, str fillchar=" ") -> str`, func(a []tensor.Value) tensor.Value {
			s := text(a[0])
			return tensor.StrValue(f(s, a[1].N-int64(len(s)), text(a[2])))
		})
	}
	padded("ljust", func(s string, n int64, fill string) string { return s + pad(n, fill) })
	padded("rjust", func(s string, n int64, fill string) string { return pad(n, fill) + s })
	padded("center", func(s string, n int64, fill string) string {
		if n <= 0 {
			return s
		}
		left := n / 2
		if (n+int64(len(s)))%2 != 0 { // the odd one stands on the left in an odd width
			left = (n + 1) / 2
		}
		return pad(left, fill) + s + pad(n-left, fill)
	})
	Register("aten::zfill(str self, int width) -> str", func(a []tensor.Value) tensor.Value {
		s, sign := text(a[0]), ""
		n := a[1].N - int64(len(s))
		if n > 0 && s != "" && (s[0] == '-' || s[0] == '+') {
			sign, s = s[:1], s[1:]
		}
		return tensor.StrValue(sign + pad(n, "0") + s)
	})
	Register("aten::expandtabs(str self, int tabsize=8) -> str", func(a []tensor.Value) tensor.Value {
		var b strings.Builder
		col := int64(0)
		for _, c := range []byte(text(a[0])) {
			switch c {
			case '\t':
				if a[1].N > 0 {
					n := a[1].N - col%a[1].N
					b.WriteString(pad(n, " "))
					col += n
				}
			case '\n', '\r':
				b.WriteByte(c)
				col = 0
			default:
				b.WriteByte(c)
				col++
			}
		}
		return tensor.StrValue(b.String())
	})
	Register("aten::len.str(str s) -> int",
		func(a []tensor.Value) tensor.Value { return tensor.IntValue(len(text(a[0]))) })
	at := func(a []tensor.Value) tensor.Value {
		s, i := text(a[0]), a[1].N
		if i < 0 {
			i += int64(len(s))
		}
		if i < 0 || i >= int64(len(s)) { // the text of C++'s exception, as in PyTorch
			tensor.Fail(tensor.ErrIndex, "basic_string::at: __n (which is %d) >= this->size() (which is %d)", uint64(i),
				len(s))
		}
		return tensor.StrValue(s[i : i+1])
	}
	Register("aten::__getitem__.str(str s, int index) -> str", at)
	Register("prim::StringIndex(str string, int index) -> str", at)
	Register("aten::slice.str(str string, int? start=None, int? end=None, int step=1) -> str",
		func(a []tensor.Value) tensor.Value {
			s := text(a[0])
			var b []byte
			sliced(a[1], a[2], a[3].N, len(s), func(i int) { b = append(b, s[i]) })
			return tensor.StrValue(string(b))
		})
	Register("aten::add.str(str a, str b) -> str", func(a []tensor.Value) tensor.Value {
		checkText(len(text(a[0])) + len(text(a[1])))
		return tensor.StrValue(text(a[0]) + text(a[1]))
	})
	Register("aten::list(str t) -> str[]", func(a []tensor.Value) tensor.Value {
		return strs(strings.Split(text(a[0]), ""))
	})
	Register("aten::ord(str string) -> int", func(a []tensor.Value) tensor.Value {
		s := text(a[0])
		if len(s) != 1 {
			tensor.Fail(tensor.ErrType, "String for ord() must be 1 character, found %d", len(s))
		}
		return tensor.IntValue(int(s[0]))
	})
	Register("aten::chr(int i) -> str", func(a []tensor.Value) tensor.Value {
		if a[0].N < 0 || a[0].N >= 0x110000 {
			tensor.Fail(tensor.ErrValue, "chr() arg not in range(0x110000), found %d", a[0].N)
		}
		return tensor.StrValue(string([]byte{byte(a[0].N)}))
	})
	base := func(name, prefix string, base int) {
		Register("aten::"+name+"(int i) -> str", func(a []tensor.Value) tensor.Value {
			s := strconv.FormatInt(a[0].N, base)
			if strings.HasPrefix(s, "-") {
				return tensor.StrValue("-" + prefix + s[1:])
			}
			return tensor.StrValue(prefix + s)
		})
	}
	base("hex", "0x", 16)
	base("oct", "0o", 8)
	base("bin", "0b", 2)
}

func init() {
	registerText()
	registerSearch()
	registerLayout()
	registerFormat()
}

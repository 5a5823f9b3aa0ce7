package nn

import (
	"strconv"
	"strings"
)

// Size is one int per spatial dimension, or a single one for all of them: Size{2}, Size{2, 3}. A nil Size in an options
// struct is the default.
type Size []int

// SizeArg is an argument that takes an int for all dimensions, or a Size.
type SizeArg interface{ int | Size }

// SameSize in an adaptive pooling layer's output size stands for the input's own size, Python's None.
const SameSize = -1

func sizeOf[S SizeArg](s S) Size {
	switch x := any(s).(type) {
	case int:
		return Size{x}
	case Size:
		return x
	}
	return nil
}

// or is s, or a single default.
func (s Size) or(def int) Size {
	if s == nil {
		return Size{def}
	}
	return s
}

// expand is s with n elements.
func (s Size) expand(n int) Size {
	if len(s) != 1 || n == 1 {
		return s
	}
	out := make(Size, n)
	for i := range out {
		out[i] = s[0]
	}
	return out
}

func (s Size) all(v int) bool {
	for _, x := range s {
		if x != v {
			return false
		}
	}
	return true
}

// String prints a single size as an int and several as a tuple.
func (s Size) String() string {
	if len(s) == 1 {
		return pyDim(s[0])
	}
	return s.tuple()
}

// tuple prints a Python tuple, also of one element.
func (s Size) tuple() string {
	if s == nil {
		return "None"
	}
	parts := make([]string, len(s))
	for i, x := range s {
		parts[i] = pyDim(x)
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func pyDim(n int) string {
	if n == SameSize {
		return "None"
	}
	return strconv.Itoa(n)
}

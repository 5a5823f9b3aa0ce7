// Package a64 writes vector instructions of arm64. Each function takes GNU's name and order, destination first, and
// returns a line of Go assembly: an instruction where Go's assembler knows it, else a WORD with the instruction in
// GNU's notation beside it.
package a64

import (
	"fmt"
	"strings"
)

// An Arr is an arrangement of lanes in a 128-bit register.
type Arr int

// The arrangements, numbered by the size field of integer instructions.
const (
	B16 Arr = iota
	H8
	S4
	D2
)

// String is the arrangement in GNU's notation, Go in that of Go's assembler.
func (a Arr) String() string { return [...]string{"16b", "8h", "4s", "2d"}[a] }

// Go is described at String.
func (a Arr) Go() string { return [...]string{"B16", "H8", "S4", "D2"}[a] }

// Bits is the width of a lane.
func (a Arr) Bits() int { return 8 << a }

// half names the lower half of a register with lanes of this width.
func (a Arr) half() string { return [...]string{"8b", "4h", "2s", "1d"}[a] }

// An op is an instruction's bits for the smallest arrangement it has. Those of floats have one bit for the width, at
// 22; those of integers two, at 22 and 23; logical ones none.
type op struct {
	bits uint32
	kind int
}

const (
	float = iota
	integer
	logic
)

// native are the instructions on two sources that Go's assembler has, three the other ones, two those on one source.
var (
	native = map[string]string{
		"add": "VADD", "sub": "VSUB", "umin": "VUMIN", "cmeq": "VCMEQ", "cmtst": "VCMTST", "uzp1": "VUZP1",
		"fmla": "VFMLA", "fmls": "VFMLS", // d += n*m, d -= n*m
		"and": "VAND", "orr": "VORR", "eor": "VEOR",
		"bsl": "VBSL", "bit": "VBIT", "bif": "VBIF", // d ? n : m, m ? n : d, m ? d : n
	}
	three = map[string]op{
		"fadd":  {0x4e20d400, float},
		"fsub":  {0x4ea0d400, float},
		"fmul":  {0x6e20dc00, float},
		"fdiv":  {0x6e20fc00, float},
		"fmax":  {0x4e20f400, float},
		"fmin":  {0x4ea0f400, float},
		"fcmeq": {0x4e20e400, float},
		"fcmge": {0x6e20e400, float},
		"fcmgt": {0x6ea0e400, float},
		"mul":   {0x4e209c00, integer}, // not of 64 bits
		"cmgt":  {0x4e203400, integer},
		"cmge":  {0x4e203c00, integer},
		"cmhi":  {0x6e203400, integer},
		"cmhs":  {0x6e203c00, integer},
		"bic":   {0x4e601c00, logic}, // n &^ m
		"orn":   {0x4ee01c00, logic}, // n | ^m
	}
	two = map[string]op{
		"fsqrt":  {0x6ea1f800, float},
		"fabs":   {0x4ea0f800, float},
		"fneg":   {0x6ea0f800, float},
		"frintn": {0x4e218800, float}, // to even
		"frintm": {0x4e219800, float}, // down
		"frintp": {0x4ea18800, float}, // up
		"frintz": {0x4ea19800, float}, // towards zero
		"scvtf":  {0x4e21d800, float},
		"fcvtzs": {0x4ea1b800, float},
		"not":    {0x6e205800, logic},
	}
)

func (o op) at(name string, a Arr) uint32 {
	switch o.kind {
	case float:
		if a < S4 {
			panic("a64: " + name + " of " + a.String())
		}
		return o.bits | uint32(a-S4)<<22
	case integer:
		return o.bits | uint32(a)<<22
	}
	if a != B16 {
		panic("a64: " + name + " of " + a.String())
	}
	return o.bits
}

func word(bits uint32, format string, args ...any) string {
	return fmt.Sprintf("WORD $0x%08x // ", bits) + fmt.Sprintf(format, args...)
}

// Three is name d, n, m on all lanes. The logical instructions take the arrangement B16.
func Three(name string, a Arr, d, n, m int) string {
	if g, ok := native[name]; ok {
		return fmt.Sprintf("%s V%d.%s, V%d.%[3]s, V%[5]d.%[3]s", g, m, a.Go(), n, d)
	}
	o, ok := three[name]
	if !ok {
		panic("a64: no instruction " + name)
	}
	return word(o.at(name, a)|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%[3]s, v%[5]d.%[3]s", name, d, a, n,
		m)
}

// Two is name d, n on all lanes.
func Two(name string, a Arr, d, n int) string {
	o, ok := two[name]
	if !ok {
		panic("a64: no instruction " + name)
	}
	return word(o.at(name, a)|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%[3]s", name, d, a, n)
}

// Shift is shl, sshr or ushr by a number of bits from 1 on, less than the width of a lane.
func Shift(name string, a Arr, d, n, by int) string {
	if by < 1 || by >= a.Bits() {
		panic("a64: shift " + name)
	}
	switch name {
	case "shl", "ushr":
		return fmt.Sprintf("V%s $%d, V%d.%s, V%d.%[4]s", strings.ToUpper(name), by, n, a.Go(), d)
	case "sshr":
		return word(0x4f000400|uint32(2*a.Bits()-by)<<16|uint32(n)<<5|uint32(d), "sshr v%d.%s, v%d.%[2]s, #%[4]d", d, a,
			n, by)
	}
	panic("a64: no instruction " + name)
}

// Widen sets d to the lower lanes of n, extended to twice their width; a is the result's arrangement. The names: uxtl
// and sxtl of integers without and with sign, shll puts them into the upper half, fcvtl converts floats.
func Widen(name string, a Arr, d, n int) string {
	regs := uint32(n)<<5 | uint32(d)
	from := a - 1
	switch name {
	case "uxtl":
		return fmt.Sprintf("VUXTL V%d.%s, V%d.%s", n, strings.ToUpper(from.half()[1:]+from.half()[:1]), d, a.Go())
	case "sxtl":
		return word(0x0f00a400|uint32(from.Bits())<<16|regs, "sxtl v%d.%s, v%d.%s", d, a, n, from.half())
	case "shll":
		return word(0x2e213800|uint32(from)<<22|regs, "shll v%d.%s, v%d.%s, #%d", d, a, n, from.half(), from.Bits())
	case "fcvtl":
		return word(0x0e217800|uint32(a-S4)<<22|regs, "fcvtl v%d.%s, v%d.%s", d, a, n, from.half())
	}
	panic("a64: no instruction " + name)
}

// Narrow sets the lower half of d to the lanes of n at half their width and clears the rest; a is the arrangement of n.
// xtn keeps the low bits, fcvtn rounds floats.
func Narrow(name string, a Arr, d, n int) string {
	regs := uint32(n)<<5 | uint32(d)
	to := a - 1
	switch name {
	case "xtn":
		return word(0x0e212800|uint32(to)<<22|regs, "xtn v%d.%s, v%d.%s", d, to.half(), n, a)
	case "fcvtn":
		return word(0x0e216800|uint32(a-S4)<<22|regs, "fcvtn v%d.%s, v%d.%s", d, to.half(), n, a)
	}
	panic("a64: no instruction " + name)
}

// MulAddFirst is d += n * m[0]: fmla with the first lane of m for all.
func MulAddFirst(a Arr, d, n, m int) string {
	lane := map[Arr]string{S4: "s", D2: "d"}[a]
	return word(0x4f801000|uint32(a-S4)<<22|uint32(m)<<16|uint32(n)<<5|uint32(d),
		"fmla v%d.%s, v%d.%[2]s, v%[4]d.%[5]s[0]", d, a, n, m, lane)
}

// Dot adds to each lane of d the product of four signed bytes of n and of m.
func Dot(d, n, m int) string {
	return word(0x4e809400|uint32(m)<<16|uint32(n)<<5|uint32(d), "sdot v%d.4s, v%d.16b, v%d.16b", d, n, m)
}

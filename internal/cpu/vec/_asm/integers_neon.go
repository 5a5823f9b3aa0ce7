package main

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/a64"
	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// emitLanesNEON writes one kernel of two integer operands for arm64. It works on groups of 16 elements, 1 to 8
// registers of each operand, so that a comparison has a register of bytes to store; the caller does what is left over.
//
// Registers: R0=dst, R1=a, R2=b, R3=elements left; V0-V7=a and the result, V8-V15=b, V24=1 in every byte.
func emitLanesNEON(w *strings.Builder, k *laneKernel) {
	p := func(format string, args ...any) { fmt.Fprintf(w, "\t"+format+"\n", args...) }
	const group = 16
	size := k.size.bytes
	arr := map[int]a64.Arr{1: a64.B16, 2: a64.H8, 4: a64.S4, 8: a64.D2}[size]
	out := size
	if k.pred >= 0 {
		out = 1
	}
	unroll := max(1, 4/size)
	fmt.Fprintf(w, "// %s: %d elements x %d. R0=dst, R1=a, R2=b; R3=elements left.\n", k.goName(kernel.NEON), group,
		unroll)
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $0-32\n", k.goName(kernel.NEON))
	p("MOVD dst+0(FP), R0")
	p("MOVD a+8(FP), R1")
	p("MOVD b+16(FP), R2")
	p("MOVD n+24(FP), R3")
	p("VMOVI $1, V24.B16")
	op := func(name string, a a64.Arr, d, n, m int) { p("%s", a64.Three(name, a, d, n, m)) }
	step := func(u int) {
		for i := range size {
			p("FMOVQ %d(R1), F%d", (u*size+i)*16, i)
			p("FMOVQ %d(R2), F%d", (u*size+i)*16, 8+i)
		}
		for a := range size {
			b := 8 + a
			switch k.name {
			case "add", "sub", "mul":
				op(k.name, arr, a, a, b)
			case "and", "or", "xor":
				op(map[string]string{"and": "and", "or": "orr", "xor": "eor"}[k.name], a64.B16, a, a, b)
			case "logicalAnd": // the truth of a byte is its minimum with 1
				op("umin", a64.B16, a, a, b)
				op("umin", a64.B16, a, a, 24)
			case "logicalOr":
				op("orr", a64.B16, a, a, b)
				op("umin", a64.B16, a, a, 24)
			case "logicalXor":
				op("umin", a64.B16, a, a, 24)
				op("umin", a64.B16, b, b, 24)
				op("eor", a64.B16, a, a, b)
			case "eq", "ne":
				op("cmeq", arr, a, a, b)
			case "lt", "le":
				name := map[string]string{"lt": "cmgt", "le": "cmge", "ltU": "cmhi", "leU": "cmhs"}[k.name+k.letter]
				op(name, arr, a, b, a)
			default:
				panic("no NEON form of " + k.name)
			}
		}
		if k.pred >= 0 { // keep the low half of every lane until they are bytes
			for n, to := size/2, arr-1; n > 0; n, to = n/2, to-1 {
				for i := range n {
					op("uzp1", to, i, 2*i, 2*i+1)
				}
			}
			if k.name == "ne" {
				p("%s", a64.Two("not", a64.B16, 0, 0))
			}
			p("%s", a64.Shift("ushr", a64.B16, 0, 0, 7))
		}
		for i := range out {
			p("FMOVQ F%d, %d(R0)", i, (u*out+i)*16)
		}
	}
	loop := func(name, end string, u int) {
		p("CMP $%d, R3", u*group)
		p("BLT %s", end)
		fmt.Fprintf(w, "%s:\n", name)
		for i := range u {
			step(i)
		}
		p("ADD $%d, R0", u*group*out)
		p("ADD $%d, R1", u*group*size)
		p("ADD $%d, R2", u*group*size)
		p("SUB $%d, R3", u*group)
		p("CMP $%d, R3", u*group)
		p("BGE %s", name)
		fmt.Fprintf(w, "%s:\n", end)
	}
	if unroll > 1 {
		loop("loop", "single", unroll)
	}
	loop("one", "done", 1)
	p("RET")
	fmt.Fprintln(w)
}

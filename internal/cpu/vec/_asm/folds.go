package main

import (
	"fmt"
	"strings"
)

// This file writes the reductions of rows of integers, one result in the element type for each row, and of columns, which join each
// row to a row of accumulators. They exist for AVX-512, whose masks take the end of a row of any element size.
//
// Registers: SI=a row, DI=dst, CX=rows left, DX=elements left in the row, AX scratch; vectors 0-3 accumulate, 4 is what is left under
// mask K1, 8 holds where an accumulator starts.

// fold is a reduction of one element type.
type fold struct {
	op, kind string // lane constants of the Go code
	size     laneSize
	ins      string
	init     uint64 // an element, repeated over 64 bits
}

func folds() []*fold {
	var list []*fold
	repeat := func(x uint64, bytes int) uint64 {
		for b := bytes; b < 8; b *= 2 {
			x |= x << (8 * b)
		}
		return x
	}
	for _, s := range laneSizes {
		least := uint64(1) << (8*s.bytes - 1)
		list = append(list, &fold{"Max", s.name, s, "VPMAXS" + s.sfx, repeat(least, s.bytes)},
			&fold{"Min", s.name, s, "VPMINS" + s.sfx, repeat(least-1, s.bytes)})
	}
	b, q := laneSizes[0], laneSizes[3]
	return append(list, &fold{"Max", "U8", b, "VPMAXUB", 0}, &fold{"Min", "U8", b, "VPMINUB", repeat(255, 1)}, &fold{"Add", "I64", q, "VPADDQ", 0}, &fold{"Add", "U8", b, "VPADDB", 0})
}

func (f *fold) name() string        { return "fold" + f.op + f.kind + "AVX512" }
func (f *fold) columnsName() string { return "foldColumns" + f.op + f.kind + "AVX512" }

func emitFold(w *strings.Builder, f *fold, data *dataPool) {
	p := func(format string, args ...any) { fmt.Fprintf(w, "\t"+format+"\n", args...) }
	label := func(s string) { fmt.Fprintf(w, "%s:\n", s) }
	lanes := 64 / f.size.bytes
	move := fmt.Sprintf("VMOVDQU%d", 8*f.size.bytes)
	fmt.Fprintf(w, "// %s: %d lanes x 4. DI=dst, SI=a; CX=rows left, DX=elements left.\n", f.name(), lanes)
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $0-40\n", f.name())
	p("MOVQ dst+0(FP), DI")
	p("MOVQ a+8(FP), BX")
	p("MOVQ rows+24(FP), CX")
	p("VPBROADCASTQ %s, Z8", data.constant(8, f.init))
	label("row")
	p("MOVQ BX, SI")
	p("MOVQ n+16(FP), DX")
	for i := range 4 {
		p("VMOVDQA64 Z8, Z%d", i)
	}
	p("CMPQ DX, $%d", 4*lanes)
	p("JLT single")
	label("loop")
	for i := range 4 {
		p("%s %d(SI), Z%d, Z%d", f.ins, 64*i, i, i)
	}
	p("ADDQ $256, SI")
	p("SUBQ $%d, DX", 4*lanes)
	p("CMPQ DX, $%d", 4*lanes)
	p("JGE loop")
	label("single")
	for i := range 3 { // what is left are fewer than four vectors
		p("CMPQ DX, $%d", lanes)
		p("JLT part")
		p("%s (SI), Z%d, Z%d", f.ins, i, i)
		p("ADDQ $64, SI")
		p("SUBQ $%d, DX", lanes)
	}
	label("part")
	p("TESTQ DX, DX")
	p("JEQ done")
	p("MOVL $1, AX")
	p("SHLXQ DX, AX, AX")
	p("DECQ AX")
	p("KMOVQ AX, K1")
	p("VMOVDQA64 Z8, Z4")
	p("%s (SI), K1, Z4", move)
	p("%s Z4, Z3, Z3", f.ins)
	label("done")
	p("%s Z1, Z0, Z0", f.ins)
	p("%s Z3, Z2, Z2", f.ins)
	p("%s Z2, Z0, Z0", f.ins)
	p("VEXTRACTI64X4 $1, Z0, Y1")
	p("%s Y1, Y0, Y0", f.ins)
	p("VEXTRACTI64X2 $1, Y0, X1")
	p("%s X1, X0, X0", f.ins)
	for half := 8; half >= f.size.bytes; half /= 2 {
		p("VPSRLDQ $%d, X0, X1", half)
		p("%s X1, X0, X0", f.ins)
	}
	p("VMOVQ X0, AX")
	p("MOV%s AX, (DI)", map[int]string{1: "B", 2: "W", 4: "L", 8: "Q"}[f.size.bytes])
	p("ADDQ $%d, DI", f.size.bytes)
	p("ADDQ ld+32(FP), BX")
	p("DECQ CX")
	p("JNE row")
	p("VZEROUPPER")
	p("RET")
	fmt.Fprintln(w)
}

// emitColumns writes the form that joins rows to the accumulators at dst.
func emitColumns(w *strings.Builder, f *fold) {
	p := func(format string, args ...any) { fmt.Fprintf(w, "\t"+format+"\n", args...) }
	label := func(s string) { fmt.Fprintf(w, "%s:\n", s) }
	lanes := 64 / f.size.bytes
	move := fmt.Sprintf("VMOVDQU%d", 8*f.size.bytes)
	fmt.Fprintf(w, "// %s: %d lanes. DI=dst, SI=a, BX=row; CX=rows left, DX=elements left.\n", f.columnsName(), lanes)
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $0-40\n", f.columnsName())
	p("MOVQ a+8(FP), BX")
	p("MOVQ rows+24(FP), CX")
	p("MOVQ n+16(FP), DX") // the mask of the last vector, all zeros where there is none
	p("ANDQ $%d, DX", lanes-1)
	p("MOVL $1, AX")
	p("SHLXQ DX, AX, AX")
	p("DECQ AX")
	p("KMOVQ AX, K1")
	label("row")
	p("MOVQ BX, SI")
	p("MOVQ dst+0(FP), DI")
	p("MOVQ n+16(FP), DX")
	for _, l := range []struct {
		label, end string
		u          int
	}{{"loop", "single", 4}, {"one", "part", 1}} {
		p("SUBQ $%d, DX", l.u*lanes)
		p("JLT %s", l.end)
		label(l.label)
		for u := range l.u {
			p("%s %d(DI), Z%d", move, 64*u, u)
		}
		for u := range l.u {
			p("%s %d(SI), Z%d, Z%d", f.ins, 64*u, u, u)
		}
		for u := range l.u {
			p("%s Z%d, %d(DI)", move, u, 64*u)
		}
		p("ADDQ $%d, SI", 64*l.u)
		p("ADDQ $%d, DI", 64*l.u)
		p("SUBQ $%d, DX", l.u*lanes)
		p("JGE %s", l.label)
		label(l.end)
		p("ADDQ $%d, DX", l.u*lanes)
	}
	p("JEQ next")
	p("%s.Z (DI), K1, Z0", move)
	p("%s.Z (SI), K1, Z1", move)
	p("%s Z1, Z0, Z0", f.ins)
	p("%s Z0, K1, (DI)", move)
	label("next")
	p("ADDQ ld+32(FP), BX")
	p("DECQ CX")
	p("JNE row")
	p("VZEROUPPER")
	p("RET")
	fmt.Fprintln(w)
}

// emitFoldsGo writes the declarations and the table.
func emitFoldsGo(w *strings.Builder) {
	for _, form := range []struct {
		table string
		name  func(f *fold) string
	}{{"folds", (*fold).name}, {"foldColumns", (*fold).columnsName}} {
		byOp := map[string]string{}
		for _, f := range folds() {
			fmt.Fprintf(w, "//go:noescape\nfunc %s(dst, a unsafe.Pointer, n, rows, ld int)\n\n", form.name(f))
			byOp[f.op] += fmt.Sprintf("lane%s: %s, ", f.kind, form.name(f))
		}
		fmt.Fprintf(w, "var %sAVX512 = [...][laneKinds]func(dst, a unsafe.Pointer, n, rows, ld int){\n", form.table)
		for _, op := range []string{"Add", "Max", "Min"} {
			fmt.Fprintf(w, "\tlane%s: {%s},\n", op, strings.TrimSuffix(byOp[op], ", "))
		}
		fmt.Fprintf(w, "}\n\n")
	}
}

package main

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file writes the reductions of rows of integers, one result in the element type for each row, and of columns,
// which join each row to a row of accumulators. AVX-512 has masks for the end of a row; AVX2 goes back to elements that
// are done already, which do no harm to an extremum and are left out of a sum. A row is never shorter than a vector
// there.
//
// Registers: SI=a row, DI=dst, CX=rows left, DX=elements left in the row, AX scratch; vectors 0-3 accumulate, 4 is what
// is left under mask K1, 5 what is done, 6 and 7 are scratch, 8 holds where an accumulator starts.

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
	return append(list, &fold{"Max", "U8", b, "VPMAXUB", 0}, &fold{"Min", "U8", b, "VPMINUB", repeat(255, 1)},
		&fold{"Add", "I64", q, "VPADDQ", 0}, &fold{"Add", "U8", b, "VPADDB", 0})
}

func (f *fold) name(isa kernel.ISA) string { return "fold" + f.op + f.kind + isa.String() }
func (f *fold) columnsName(isa kernel.ISA) string {
	return "foldColumns" + f.op + f.kind + isa.String()
}

// foldAsm is a kernel being written.
type foldAsm struct {
	*fold
	w     *strings.Builder
	isa   kernel.ISA
	pfx   string
	bytes int // of a vector
	lanes int
	move  string
}

func newFoldAsm(w *strings.Builder, f *fold, isa kernel.ISA) *foldAsm {
	k := &foldAsm{f, w, isa, "Z", 64, 64 / f.size.bytes, fmt.Sprintf("VMOVDQU%d", 8*f.size.bytes)}
	if isa == kernel.AVX2 {
		k.pfx, k.bytes, k.lanes, k.move = "Y", 32, 32/f.size.bytes, "VMOVDQU"
	}
	return k
}

func (k *foldAsm) p(format string, args ...any) { fmt.Fprintf(k.w, "\t"+format+"\n", args...) }

func (k *foldAsm) label(s string) { fmt.Fprintf(k.w, "%s:\n", s) }

func (k *foldAsm) v(r int) string { return fmt.Sprint(k.pfx, r) }

// join joins x, which may be memory, to register acc of vectors pfx. AVX2 has no extrema of 64 bits.
func (k *foldAsm) join(x, pfx string, acc int) {
	a := fmt.Sprint(pfx, acc)
	if k.isa == kernel.AVX512 || k.size.bytes < 8 || k.op == "Add" {
		k.p("%s %s, %s, %s", k.ins, x, a, a)
		return
	}
	if strings.HasSuffix(x, ")") {
		k.p("VMOVDQU %s, %s6", x, pfx)
		x = pfx + "6"
	}
	if k.op == "Max" {
		k.p("VPCMPGTQ %s, %s, %s7", x, a, pfx)
	} else {
		k.p("VPCMPGTQ %s, %s, %s7", a, x, pfx)
	}
	k.p("VBLENDVPD %s7, %s, %s, %s", pfx, a, x, a)
}

// back moves the pointers of regs so that a vector ends with the DX elements left, on AVX2, and leaves in vector 5 all
// bits of what is done already, for a sum.
func (k *foldAsm) back(regs ...string) {
	k.p("MOVQ $%d, AX", k.lanes)
	k.p("SUBQ DX, AX")
	k.p("SHLQ $%d, AX", shift(k.size.bytes))
	for _, r := range regs {
		k.p("SUBQ AX, %s", r)
	}
	if k.op == "Add" {
		k.p("NEGQ AX")
		k.p("LEAQ tailmask<>+32(SB), R8")
		k.p("VMOVDQU (R8)(AX*1), Y5")
	}
}

// emitFold writes the form that reduces rows.
func emitFold(w *strings.Builder, f *fold, isa kernel.ISA, data *kernel.X86Constants) {
	k := newFoldAsm(w, f, isa)
	p, label := k.p, k.label
	fmt.Fprintf(w, "// %s: %d lanes x 4. DI=dst, SI=a; CX=rows left, DX=elements left.\n", f.name(isa), k.lanes)
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $0-40\n", f.name(isa))
	p("MOVQ dst+0(FP), DI")
	p("MOVQ a+8(FP), BX")
	p("MOVQ rows+24(FP), CX")
	p("VPBROADCASTQ %s, %s", data.Constant(8, f.init), k.v(8))
	label("row")
	p("MOVQ BX, SI")
	p("MOVQ n+16(FP), DX")
	for i := range 4 {
		p("VMOVAPS %s, %s", k.v(8), k.v(i))
	}
	p("CMPQ DX, $%d", 4*k.lanes)
	p("JLT single")
	label("loop")
	for i := range 4 {
		k.join(fmt.Sprintf("%d(SI)", k.bytes*i), k.pfx, i)
	}
	p("ADDQ $%d, SI", 4*k.bytes)
	p("SUBQ $%d, DX", 4*k.lanes)
	p("CMPQ DX, $%d", 4*k.lanes)
	p("JGE loop")
	label("single")
	for i := range 3 { // what is left are fewer than four vectors
		p("CMPQ DX, $%d", k.lanes)
		p("JLT part")
		k.join("(SI)", k.pfx, i)
		p("ADDQ $%d, SI", k.bytes)
		p("SUBQ $%d, DX", k.lanes)
	}
	label("part")
	p("TESTQ DX, DX")
	p("JEQ done")
	if isa == kernel.AVX512 {
		p("MOVL $1, AX")
		p("SHLXQ DX, AX, AX")
		p("DECQ AX")
		p("KMOVQ AX, K1")
		p("VMOVDQA64 Z8, Z4")
		p("%s (SI), K1, Z4", k.move)
	} else {
		k.back("SI")
		p("VMOVDQU (SI), Y4")
		if f.op == "Add" {
			p("VPANDN Y4, Y5, Y4")
		}
	}
	k.join(k.v(4), k.pfx, 3)
	label("done")
	k.join(k.v(1), k.pfx, 0)
	k.join(k.v(3), k.pfx, 2)
	k.join(k.v(2), k.pfx, 0)
	if isa == kernel.AVX512 {
		p("VEXTRACTI64X4 $1, Z0, Y1")
		k.join("Y1", "Y", 0)
	}
	p("VEXTRACTI128 $1, Y0, X1")
	k.join("X1", "X", 0)
	for half := 8; half >= f.size.bytes; half /= 2 {
		p("VPSRLDQ $%d, X0, X1", half)
		k.join("X1", "X", 0)
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
func emitColumns(w *strings.Builder, f *fold, isa kernel.ISA) {
	k := newFoldAsm(w, f, isa)
	p, label := k.p, k.label
	fmt.Fprintf(w, "// %s: %d lanes. DI=dst, SI=a, BX=row; CX=rows left, DX=elements left.\n", f.columnsName(isa),
		k.lanes)
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $0-40\n", f.columnsName(isa))
	p("MOVQ a+8(FP), BX")
	p("MOVQ rows+24(FP), CX")
	if isa == kernel.AVX512 {
		p("MOVQ n+16(FP), DX") // the mask of the last vector, all zeros where there is none
		p("ANDQ $%d, DX", k.lanes-1)
		p("MOVL $1, AX")
		p("SHLXQ DX, AX, AX")
		p("DECQ AX")
		p("KMOVQ AX, K1")
	}
	label("row")
	p("MOVQ BX, SI")
	p("MOVQ dst+0(FP), DI")
	p("MOVQ n+16(FP), DX")
	for _, l := range []struct {
		label, end string
		u          int
	}{{"loop", "single", 4}, {"one", "part", 1}} {
		p("SUBQ $%d, DX", l.u*k.lanes)
		p("JLT %s", l.end)
		label(l.label)
		for u := range l.u {
			p("%s %d(DI), %s", k.move, k.bytes*u, k.v(u))
		}
		for u := range l.u {
			k.join(fmt.Sprintf("%d(SI)", k.bytes*u), k.pfx, u)
		}
		for u := range l.u {
			p("%s %s, %d(DI)", k.move, k.v(u), k.bytes*u)
		}
		p("ADDQ $%d, SI", k.bytes*l.u)
		p("ADDQ $%d, DI", k.bytes*l.u)
		p("SUBQ $%d, DX", l.u*k.lanes)
		p("JGE %s", l.label)
		label(l.end)
		p("ADDQ $%d, DX", l.u*k.lanes)
	}
	p("JEQ next")
	if isa == kernel.AVX512 {
		p("%s.Z (DI), K1, Z0", k.move)
		p("%s.Z (SI), K1, Z1", k.move)
		k.join("Z1", "Z", 0)
		p("%s Z0, K1, (DI)", k.move)
	} else {
		k.back("SI", "DI")
		p("VMOVDQU (DI), Y0")
		p("VMOVDQU (SI), Y1")
		if f.op == "Add" {
			p("VPANDN Y1, Y5, Y1")
		}
		k.join("Y1", "Y", 0)
		p("VMOVDQU Y0, (DI)")
	}
	label("next")
	p("ADDQ ld+32(FP), BX")
	p("DECQ CX")
	p("JNE row")
	p("VZEROUPPER")
	p("RET")
	fmt.Fprintln(w)
}

// emitFoldsGo writes the declarations and the tables.
func emitFoldsGo(w *strings.Builder) {
	for _, isa := range []kernel.ISA{kernel.AVX512, kernel.AVX2} {
		for _, form := range []struct {
			table string
			name  func(f *fold, isa kernel.ISA) string
		}{{"folds", (*fold).name}, {"foldColumns", (*fold).columnsName}} {
			byOp := map[string]string{}
			for _, f := range folds() {
				fmt.Fprintf(w, "//go:noescape\nfunc %s(dst, a unsafe.Pointer, n, rows, ld int)\n\n", form.name(f, isa))
				byOp[f.op] += fmt.Sprintf("lane%s: %s, ", f.kind, form.name(f, isa))
			}
			fmt.Fprintf(w, "var %s%s = [...][laneKinds]foldFunc{\n", form.table, isa)
			for _, op := range []string{"Add", "Max", "Min"} {
				fmt.Fprintf(w, "\tlane%s: {%s},\n", op, strings.TrimSuffix(byOp[op], ", "))
			}
			fmt.Fprintf(w, "}\n\n")
		}
	}
}

package main

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file writes the kernels of sparse matrices: weighted sums of rows, and of permuted lanes of a row, kept in
// registers.
//
// AVX-512 has masks for the ends of rows. On AVX2 the last vector of a row goes back to columns that are done already,
// so that a row is never shorter than a vector.

// tapAsm is a kernel being written.
type tapAsm struct {
	w     *strings.Builder
	isa   kernel.ISA
	t     kernel.Type // F32, F64 or U8
	pfx   string      // of vector registers
	bytes int         // of a vector
	rows  int         // of a lanes kernel
}

func newTapAsm(w *strings.Builder, isa kernel.ISA, t kernel.Type) *tapAsm {
	k := &tapAsm{w: w, isa: isa, t: t, pfx: "Z", bytes: 64}
	if isa == kernel.AVX2 {
		k.pfx, k.bytes = "Y", 32
	}
	return k
}

func (k *tapAsm) p(format string, args ...any) { fmt.Fprintf(k.w, "\t"+format+"\n", args...) }

func (k *tapAsm) label(format string, args ...any) { fmt.Fprintf(k.w, format+":\n", args...) }

func (k *tapAsm) v(r int) string { return fmt.Sprint(k.pfx, r) }

// wide has masks.
func (k *tapAsm) wide() bool { return k.isa == kernel.AVX512 }

// sfx is the end of an instruction's name; sums of bytes are numbers of 32 bits.
func (k *tapAsm) sfx() string { return map[kernel.Type]string{kernel.F32: "S", kernel.F64: "D"}[k.t] }

func (k *tapAsm) lanes() int {
	if k.t == kernel.F64 {
		return k.bytes / 8
	}
	return k.bytes / 4
}

// start makes sum i what a sum begins with: 0 or, for bytes, one half.
func (k *tapAsm) start(i int) {
	switch {
	case k.t == kernel.U8:
		k.p("VMOVAPS %s, %s", k.v(9), k.v(i))
	default:
		k.p("VXORPS %s, %s, %s", k.v(i), k.v(i), k.v(i))
	}
}

// halves sets up what rounds sums of bytes, integers with CX fraction bits: vector 9 is one half, X10 the number of
// bits, vector 11 zeros.
func (k *tapAsm) halves() {
	k.p("VMOVQ CX, X10")
	k.p("XORL AX, AX")
	k.p("BTSL CX, AX")
	k.p("SHRL $1, AX")
	k.p("VMOVD AX, X9")
	k.p("VPBROADCASTD X9, %s", k.v(9))
	k.p("VXORPS %s, %s, %s", k.v(11), k.v(11), k.v(11))
}

// store writes sum i; mask is a mask register or "".
func (k *tapAsm) store(i int, mem, mask string) {
	if mask != "" {
		mask += ", "
	}
	if k.t != kernel.U8 {
		k.p("VMOVUP%s %s, %s%s", k.sfx(), k.v(i), mask, mem)
		return
	}
	k.p("VPSRAD X10, %s, %s", k.v(i), k.v(i))
	if k.wide() {
		k.p("VPMAXSD Z11, Z%d, Z%d", i, i)
		k.p("VPMOVUSDB Z%d, %s%s", i, mask, mem)
		return
	}
	k.p("VEXTRACTI128 $1, Y%d, X12", i)
	k.p("VPACKSSDW X12, X%d, X12", i)
	k.p("VPACKUSWB X12, X12, X12")
	k.p("VMOVQ X12, %s", mem)
}

// The rows kernels set row i of dst to the sum of w[k]*src[index[k]] over k in [start[i], start[i+1]).
//
// DI=row of dst, SI=src less skip, R8=start, R9=index and R10=weights of this row, R11=rows left, R12=bytes from row to
// row, R13=taps of this row, CX=columns left, DX=offset of the column, AX=tap, BX=address of the tap's row. Vectors 0-3
// are sums, 4-7 what is loaded, 8 the weight. K1 and K2 are the columns of vectors that are not full; R15 is the offset
// of the last vector of a narrow row.

func (k *tapAsm) rowsName(narrow int) string {
	n := ""
	if narrow > 0 {
		n = fmt.Sprint(narrow)
	}
	return "tapRows" + n + k.t.Suffix() + k.isa.String()
}

// sum adds the taps to sums at the column DX, in dst at the address's end column; vectors lie at off from there, and
// mask is that of a vector or "".
func (k *tapAsm) sum(id, column string, off, mask []string) {
	weight := func() {
		k.p("MOVLQSX (R9)(AX*4), BX")
		k.p("IMULQ R12, BX")
		k.p("ADDQ SI, BX")
		k.p("ADDQ DX, BX")
		switch k.t {
		case kernel.U8:
			k.p("VPBROADCASTD (R10)(AX*4), %s", k.v(8))
		case kernel.F64:
			k.p("VBROADCASTSD (R10)(AX*8), %s", k.v(8))
		default:
			k.p("VBROADCASTSS (R10)(AX*4), %s", k.v(8))
		}
	}
	for i := range off {
		k.start(i)
	}
	k.p("XORQ AX, AX")
	k.p("TESTQ R13, R13")
	k.p("JZ %sstore", id)
	if k.t != kernel.U8 {
		weight()
		for i, o := range off {
			if mask[i] != "" {
				k.p("VMULP%s.Z %s, %s, %s, %s", k.sfx(), fmt.Sprintf(o, "BX"), k.v(8), mask[i], k.v(i))
			} else {
				k.p("VMULP%s %s, %s, %s", k.sfx(), fmt.Sprintf(o, "BX"), k.v(8), k.v(i))
			}
		}
		k.p("JMP %snext", id)
	}
	k.label("%stap", id)
	weight()
	for i, o := range off {
		m, z := "", ""
		if mask[i] != "" {
			m, z = mask[i]+", ", ".Z"
		}
		if k.t != kernel.U8 {
			k.p("VFMADD231P%s %s, %s, %s%s", k.sfx(), fmt.Sprintf(o, "BX"), k.v(8), m, k.v(i))
			continue
		}
		// A byte in 32 bits has a high half of 0: the sum of two 16-bit products is the one product wanted.
		k.p("VPMOVZXBD%s %s, %s%s", z, fmt.Sprintf(o, "BX"), m, k.v(4+i))
	}
	for _, ins := range []string{"VPMADDWD %[1]s, %[2]s, %[1]s", "VPADDD %[1]s, %[3]s, %[3]s"} {
		for i := range off {
			if k.t == kernel.U8 {
				k.p(ins, k.v(4+i), k.v(8), k.v(i))
			}
		}
	}
	k.label("%snext", id)
	k.p("INCQ AX")
	k.p("CMPQ AX, R13")
	k.p("JLT %stap", id)
	k.label("%sstore", id)
	if len(off) == 4 && k.t == kernel.U8 && !k.wide() { // all four at once
		for i := range off {
			k.p("VPSRAD X10, Y%d, Y%d", i, i)
		}
		k.p("VPACKSSDW Y1, Y0, Y0")
		k.p("VPACKSSDW Y3, Y2, Y2")
		k.p("VPACKUSWB Y2, Y0, Y0")
		k.p("VPERMD Y0, Y13, Y0")
		k.p("VMOVDQU Y0, (DI)(DX*1)")
		return
	}
	for i, o := range off {
		k.store(i, fmt.Sprintf(o, "DI")+column, mask[i])
	}
}

func (k *tapAsm) emitRows(narrow int) {
	size := k.t.Size()
	fmt.Fprintf(k.w, "// func %s(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, "+
		"skip, bits int)\n", k.rowsName(narrow))
	fmt.Fprintf(k.w, "TEXT ·%s(SB), NOSPLIT, $0-80\n", k.rowsName(narrow))
	if k.t == kernel.U8 {
		k.p("MOVQ bits+72(FP), CX")
		k.halves()
		if !k.wide() { // the packs go through the halves of vectors
			k.p("MOVQ $0x0703060205010400, AX")
			k.p("VMOVQ AX, X13")
			k.p("VPMOVZXBD X13, Y13")
		}
	}
	for i, a := range []string{"dst DI", "src SI", "start R8", "index R9", "w R10", "rows R11", "cols CX", "ld R12"} {
		name, reg, _ := strings.Cut(a, " ")
		k.p("MOVQ %s+%d(FP), %s", name, 8*i, reg)
	}
	k.p("SUBQ skip+64(FP), SI")
	if narrow > 0 {
		k.p("XORQ DX, DX")
		if k.wide() {
			k.p("MOVQ $-1, AX")
			k.p("BZHIQ CX, AX, AX")
			k.p("KMOVW AX, K1")
			k.p("SHRQ $%d, AX", k.lanes())
			k.p("KMOVW AX, K2")
		} else {
			k.p("LEAQ -%d(CX), R15", k.lanes())
			k.p("SHLQ $%d, R15", shift(size))
		}
	}
	k.label("row")
	k.p("MOVLQSX (R8), AX")
	k.p("MOVLQSX 4(R8), R13")
	k.p("ADDQ $4, R8")
	k.p("SUBQ AX, R13")
	switch {
	case narrow > 0 && k.wide():
		k.sum("", "", []string{"(%s)", "64(%s)"}[:narrow], []string{"K1", "K2"}[:narrow])
	case narrow > 0:
		k.sum("", "", []string{"(%s)", "(%s)(R15*1)"}, []string{"", ""})
	default:
		k.p("MOVQ cols+48(FP), CX")
		k.p("XORQ DX, DX")
		for _, u := range []int{4, 2, 1} {
			var off, mask []string
			for i := range u {
				off, mask = append(off, fmt.Sprintf("%d(%%s)", i*k.lanes()*size)), append(mask, "")
			}
			k.label("cols%d", u)
			switch {
			case u > 1:
				k.p("CMPQ CX, $%d", u*k.lanes())
				k.p("JLT cols%d", u/2)
			case k.wide():
				k.p("TESTQ CX, CX")
				k.p("JLE end")
				mask[0] = "K1"
				k.p("MOVL $%#x, AX", 1<<k.lanes()-1)
				k.p("BZHIL CX, AX, AX")
				k.p("KMOVW AX, K1")
			default:
				k.p("TESTQ CX, CX")
				k.p("JLE end")
				k.p("MOVQ $%d, AX", k.lanes())
				k.p("SUBQ CX, AX")
				k.p("JLE full")
				k.p("SHLQ $%d, AX", shift(size))
				k.p("SUBQ AX, DX")
				k.p("MOVQ $%d, CX", k.lanes())
				k.label("full")
			}
			k.sum(fmt.Sprint("u", u), "(DX*1)", off, mask)
			k.p("ADDQ $%d, DX", u*k.lanes()*size)
			k.p("SUBQ $%d, CX", u*k.lanes())
			k.p("JMP cols%d", u)
		}
		k.label("end")
	}
	k.p("LEAQ (R9)(R13*4), R9")
	k.p("LEAQ (R10)(R13*%d), R10", max(size, 4))
	k.p("ADDQ R12, DI")
	k.p("DECQ R11")
	k.p("JNZ row")
	k.p("VZEROUPPER")
	k.p("RET")
	fmt.Fprintln(k.w)
}

// The lanes kernels take a laneCall. Each of the blocks of a row is the sum of its entries; an entry permutes a window
// of the row and multiplies by its weights. Lanes that an entry has nothing for get nothing. The pick kernels have no
// weights.
//
// DI=dst, SI=src, R8 and R9=bytes from row to row in them, DX=blocks left, R10=first entry of the block, R11=bases,
// R12=masks, R13=permutations, BX=weights, CX=entries left, AX and R15=addresses. Vectors 0-3 are sums, 8 is the
// permutation, 7 the weights.
//
// On AVX-512 the window is two vectors at the base, and K1 and K2 are what may be read of them, K3 is the mask of the
// entry, K4 what may be written, K5 that of the last block. On AVX2 it is one vector, or, for elements of 1 and 2
// bytes, half a vector for each half of the result, R12 being the address of the second one; vector 14 has all bits
// where an entry has nothing.

// laneKinds are the kernels in the order of the Go constants.
var tapLaneKinds = []struct {
	name string
	t    kernel.Type // F32, F64 or U8
	pick int         // the size of elements that are picked, 0 for sums
}{{"F32", kernel.F32, 0}, {"F64", kernel.F64, 0}, {"U8", kernel.U8, 0}, {"1", kernel.U8, 1}, {"2", kernel.U8, 2},
	{"4", kernel.F32, 4}, {"8", kernel.F64, 8}}

// entry adds an entry of one row to sum i; at is the address of the window, and half that of the second one.
func (k *tapAsm) entry(i, pick int, at, half func(off int) string) {
	a, b := 16+2*i, 17+2*i
	if !k.wide() {
		a, b = 12, 13
	}
	x, y := k.v(a), k.v(b)
	bytes := k.t == kernel.U8
	switch {
	case k.wide():
		move, perm, off := "VMOVUP"+k.sfx(), "VPERMT2P"+k.sfx(), 64
		switch {
		case pick == 2:
			move, perm = "VMOVDQU16", "VPERMT2W"
		case bytes:
			move, perm, off = "VPMOVZXBW", "VPERMT2W", 32 // bytes are permuted as words
		}
		k.p("%s.Z %s, K1, %s", move, at(0), x)
		k.p("%s.Z %s, K2, %s", move, at(off), y)
		k.p("%s.Z %s, Z8, K3, %s", perm, y, x)
	case bytes:
		k.p("VMOVDQU %s, X%d", at(0), a)
		k.p("VINSERTI128 $1, %s, %s, %s", half(0), x, x)
		k.p("VPSHUFB Y8, %s, %s", x, x)
	default:
		k.p("VPERMPS %s, Y8, %s", at(0), x)
		k.p("VANDNPS %s, Y14, %s", x, x)
	}
	switch {
	case pick > 0:
		k.p("VORPS %s, %s, %s", x, k.v(i), k.v(i))
	case bytes: // two taps of an output side by side
		k.p("VPMADDWD %s, %s, %s", x, k.v(7), x)
		k.p("VPADDD %s, %s, %s", x, k.v(i), k.v(i))
	default:
		k.p("VFMADD231P%s %s, %s, %s", k.sfx(), x, k.v(7), k.v(i))
	}
}

func lanesName(kind, rows int, isa kernel.ISA) string {
	l := tapLaneKinds[kind]
	name := "tapLanes"
	if l.pick > 0 {
		name = "pickLanes"
	}
	if rows > 1 {
		name += fmt.Sprint(rows)
	}
	return name + l.name + isa.String()
}

func (k *tapAsm) emitLanes(kind, rows int) {
	pick := tapLaneKinds[kind].pick
	name := lanesName(kind, rows, k.isa)
	size := k.t.Size() // of an element of memory
	if pick > 0 {
		size = pick
	}
	fmt.Fprintf(k.w, "// func %s(c *laneCall)\nTEXT ·%s(SB), NOSPLIT, $0-8\n", name, name)
	k.p("MOVQ c+0(FP), AX")
	if k.t == kernel.U8 && pick == 0 {
		k.p("MOVQ 96(AX), CX")
		k.halves()
		k.p("MOVQ c+0(FP), AX")
	}
	for i, r := range []string{"DI", "SI", "R8", "R9", "DX", "R10", "R11", "R12", "R13", "BX"} {
		k.p("MOVQ %d(AX), %s", 8*i, r)
	}
	if k.wide() {
		k.p("KMOVD 80(AX), K1")
		k.p("KMOVD 84(AX), K2")
		k.p("KMOVD 88(AX), K5")
		k.p("KXNORD K4, K4, K4")
	}
	k.label("block")
	for i := range rows {
		if pick > 0 {
			k.p("VXORPS %s, %s, %s", k.v(i), k.v(i), k.v(i))
		} else {
			k.start(i)
		}
	}
	k.p("MOVL 4(R10), CX")
	k.p("SUBL (R10), CX")
	k.p("ADDQ $4, R10")
	k.p("TESTL CX, CX")
	k.p("JZ store")
	k.label("entry")
	k.p("MOVLQSX (R11), AX")
	k.p("LEAQ (SI)(AX*%d), AX", size)
	bases := 1
	if k.t == kernel.U8 && !k.wide() {
		bases = 2
		k.p("MOVLQSX 4(R11), R12")
		k.p("LEAQ (SI)(R12*%d), R12", size)
	}
	if k.wide() {
		k.p("KMOVD (R12), K3")
	}
	k.p("VMOVUPS (R13), %s", k.v(8))
	if k.t != kernel.U8 && !k.wide() {
		k.p("VPSRAD $31, Y8, Y14")
	}
	if pick == 0 {
		k.p("VMOVUPS (BX), %s", k.v(7))
	}
	for i := range rows {
		if i > 0 {
			k.p("ADDQ R9, AX")
			if bases == 2 {
				k.p("ADDQ R9, R12")
			}
		}
		k.entry(i, pick, func(o int) string { return fmt.Sprintf("%d(AX)", o) },
			func(o int) string { return fmt.Sprintf("%d(R12)", o) })
	}
	k.p("ADDQ $%d, R11", 4*bases)
	if k.wide() {
		k.p("ADDQ $4, R12")
	}
	k.p("ADDQ $%d, R13", k.bytes)
	k.p("ADDQ $%d, BX", k.bytes)
	k.p("DECL CX")
	k.p("JNZ entry")
	k.label("store")
	mask := ""
	k.p("CMPQ DX, $1")
	k.p("JNE whole")
	if k.wide() {
		mask = "K4"
		k.p("KMOVD K5, K4")
	} else { // the last block ends with the row
		k.p("MOVQ c+0(FP), AX")
		k.p("SUBQ 104(AX), DI")
	}
	k.label("whole")
	step := k.lanes() * size
	for i := range rows {
		if i == 0 {
			k.p("MOVQ DI, R15")
		} else {
			k.p("ADDQ R8, R15")
		}
		switch {
		case pick == 0:
			k.store(i, "(R15)", mask)
		case k.wide():
			step = map[int]int{1: 32}[pick]
			if step == 0 {
				step = 64
			}
			k.p("%s Z%d, K4, (R15)", map[int]string{1: "VPMOVWB", 2: "VMOVDQU16", 4: "VMOVDQU32", 8: "VMOVDQU64"}[pick],
				i)
		default:
			step = 32
			k.p("VMOVDQU Y%d, (R15)", i)
		}
	}
	k.p("ADDQ $%d, DI", step)
	k.p("DECQ DX")
	k.p("JNZ block")
	k.p("VZEROUPPER")
	k.p("RET")
	fmt.Fprintln(k.w)
}

// emitPickRows writes the copies of n rows of size bytes each, row i from row index[i] of src.
//
// DI=dst, SI=src, R8=index, R9=rows left, DX=bytes of a row, CX=bytes left, AX=address in src. AVX-512 has a mask for
// the last bytes of a row; else a second piece of the same length ends with the row. Rows are never shorter than 4
// bytes there.
func (k *tapAsm) emitPickRows() {
	name := "pickRows" + k.isa.String()
	fmt.Fprintf(k.w, "// func %s(dst, src unsafe.Pointer, index *int32, n, size int)\nTEXT ·%s(SB), NOSPLIT, $0-40\n",
		name, name)
	for i, a := range []string{"dst DI", "src SI", "index R8", "n R9", "size DX"} {
		name, reg, _ := strings.Cut(a, " ")
		k.p("MOVQ %s+%d(FP), %s", name, 8*i, reg)
	}
	begin := func() {
		k.p("MOVLQSX (R8), AX")
		k.p("ADDQ $4, R8")
		k.p("IMULQ DX, AX")
		k.p("ADDQ SI, AX")
	}
	long := func(id, last string) {
		k.p("MOVQ DX, CX")
		k.label("%s", id)
		k.p("CMPQ CX, $%d", k.bytes)
		k.p("JLE %s", last)
		k.p("VMOVUPS (AX), %s", k.v(0))
		k.p("VMOVUPS %s, (DI)", k.v(0))
		k.p("ADDQ $%d, AX", k.bytes)
		k.p("ADDQ $%d, DI", k.bytes)
		k.p("SUBQ $%d, CX", k.bytes)
		k.p("JMP %s", id)
		k.label("%s", last)
	}
	if k.wide() {
		k.p("MOVQ DX, CX")
		k.p("DECQ CX")
		k.p("ANDQ $63, CX")
		k.p("INCQ CX")
		k.p("MOVQ $-1, AX")
		k.p("BZHIQ CX, AX, AX")
		k.p("KMOVQ AX, K1")
		k.label("row")
		begin()
		long("wide", "last")
		k.p("VMOVDQU8.Z (AX), K1, Z0")
		k.p("VMOVDQU8 Z0, K1, (DI)")
		k.p("ADDQ CX, DI")
		k.p("DECQ R9")
		k.p("JNZ row")
	} else {
		for _, s := range []struct {
			n    int
			move string
			r    [2]string
		}{{32, "VMOVUPS", [2]string{"Y0", "Y1"}}, {16, "VMOVUPS", [2]string{"X0", "X1"}},
			{8, "MOVQ", [2]string{"R10", "R11"}}, {4, "MOVL", [2]string{"R10", "R11"}}} {
			if s.n > 4 {
				k.p("CMPQ DX, $%d", s.n)
				k.p("JLT below%d", s.n)
			}
			k.label("row%d", s.n)
			begin()
			if s.n == 32 {
				long("wide", "last")
				k.p("%s -32(AX)(CX*1), Y1", s.move)
				k.p("%s Y1, -32(DI)(CX*1)", s.move)
				k.p("ADDQ CX, DI")
			} else {
				k.p("%s (AX), %s", s.move, s.r[0])
				k.p("%s -%d(AX)(DX*1), %s", s.move, s.n, s.r[1])
				k.p("%s %s, (DI)", s.move, s.r[0])
				k.p("%s %s, -%d(DI)(DX*1)", s.move, s.r[1], s.n)
				k.p("ADDQ DX, DI")
			}
			k.p("DECQ R9")
			k.p("JNZ row%d", s.n)
			if s.n > 4 {
				k.p("JMP done")
				k.label("below%d", s.n)
			}
		}
		k.label("done")
	}
	k.p("VZEROUPPER")
	k.p("RET")
	fmt.Fprintln(k.w)
}

// emitTaps writes all kernels of an instruction set, and their table and declarations in Go.
func emitTaps(w, decl *strings.Builder, isa kernel.ISA) {
	const rowsArgs = "(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)"
	declare := func(name, args string) string {
		fmt.Fprintf(decl, "//go:noescape\nfunc %s%s\n\n", name, args)
		return name
	}
	var table strings.Builder
	k := newTapAsm(w, isa, kernel.F32)
	fmt.Fprintf(&table, "var taps%s = tapAsm{bytes: %d, pickRows: %s, rows: [3][3]rowsFunc{", isa, k.bytes,
		declare("pickRows"+isa.String(), "(dst, src unsafe.Pointer, index *int32, n, size int)"))
	k.emitPickRows()
	for _, t := range []kernel.Type{kernel.F32, kernel.F64, kernel.U8} {
		k := newTapAsm(w, isa, t)
		table.WriteString("{")
		for narrow := range 3 {
			if narrow > 0 && t == kernel.U8 || narrow == 1 && isa == kernel.AVX2 {
				table.WriteString("nil, ")
				continue
			}
			k.emitRows(narrow)
			table.WriteString(declare(k.rowsName(narrow), rowsArgs) + ", ")
		}
		table.WriteString("}, ")
	}
	table.WriteString("}, lanes: [...][2]func(c *laneCall){")
	for kind, l := range tapLaneKinds {
		table.WriteString("{")
		for _, rows := range []int{1, 4} {
			if rows > 1 && l.pick > 0 {
				continue
			}
			newTapAsm(w, isa, l.t).emitLanes(kind, rows)
			table.WriteString(declare(lanesName(kind, rows, isa), "(c *laneCall)") + ", ")
		}
		table.WriteString("}, ")
	}
	table.WriteString("}}\n\n")
	decl.WriteString(table.String())
}

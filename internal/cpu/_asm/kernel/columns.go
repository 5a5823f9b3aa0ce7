package kernel

import (
	"fmt"
	"strings"
)

// This file writes the Down form of a reduction, which goes down columns: dst has an accumulator for each
// column, and rows are added to it one after the other.
//
//	dst[j] += a[0*lda+j];  dst[j] += a[1*lda+j];  …
//
// Some vectors of columns at a time stay in registers while all rows pass. That takes one load for each
// element, and lets the processor fetch several rows at once. Wide rows without gaps between them are left to
// a kernel that walks along them, because they come from memory in one stream.

// downName is the name of the Down form, downAsm the name of its assembly.
func downName(k *Kernel) string {
	base, sfx, _ := strings.Cut(k.Name, "Block")
	return strings.ToUpper(base[:1]) + base[1:] + "Down" + sfx
}

func downAsm(k *Kernel, isa ISA) string {
	n := downName(k)
	return strings.ToLower(n[:1]) + n[1:] + isa.String()
}

// emitDownHead opens the Go function and checks the lengths.
func emitDownHead(w *strings.Builder, k *Kernel) {
	fmt.Fprintf(w, "// %s takes up rows of a, lda elements apart, in the accumulators dst: element j of each in "+
		"dst[j], as %s does.\n", downName(k), k.Name)
	fmt.Fprintf(w, "func %s(dst []%s, a []%s, rows, lda int) {\n", downName(k), k.Lane.Go(), k.Args[0].T.Go())
	fmt.Fprintf(w, "\tif rows <= 0 || len(dst) == 0 {\n\t\treturn\n\t}\n\t_ = a[(rows-1)*lda+len(dst)-1]\n")
}

// EmitDownNoAssembly writes the Down form of k for platforms without assembly of it.
func EmitDownNoAssembly(w *strings.Builder, k *Kernel) {
	emitDownHead(w, k)
	fmt.Fprintf(w, "\t%s\n}\n\n", k.Down)
}

// EmitDownAMD64 writes the Down form of k on amd64 and the declarations of its assembly.
func EmitDownAMD64(w *strings.Builder, k *Kernel) {
	emitDownHead(w, k)
	fmt.Fprintf(w, "\tif (lda != len(dst) || len(dst) <= %d || rows*len(dst) <= 8192) && len(dst) <= chunk "+
		"{\n\t\tper := chunk / len(dst)\n\t\tswitch {\n", 512/k.Lane.Size())
	isas := []ISA{AVX512, AVX2}
	for _, isa := range isas {
		fmt.Fprintf(w, "\t\tcase cpu.Has%s:\n\t\t\tfor r := 0; r < rows; r += per {\n\t\t\t\t%s(&dst[0], &a[r*lda], "+
			"len(dst), min(per, rows-r), %d*lda)\n\t\t\t\tyield(r+per, rows)\n\t\t\t}\n\t\t\treturn\n",
			map[ISA]string{AVX512: "AVX512", AVX2: "AVX2FMA"}[isa], downAsm(k, isa), k.Args[0].T.Size())
	}
	fmt.Fprintf(w, "\t\t}\n\t}\n\t%s\n}\n\n", k.Down)
	for _, isa := range isas {
		fmt.Fprintf(w, "//go:noescape\nfunc %s(dst *%s, a *%s, n, rows, ld int)\n\n", downAsm(k, isa), k.Lane.Go(),
			k.Args[0].T.Go())
	}
}

// EmitDownX86 writes the assembly of the Down form.
func EmitDownX86(out *strings.Builder, data *X86Constants, k *Kernel, isa ISA) {
	Check(len(k.Accs) == 1 && len(k.Args) == 1, "%s: a form down columns of several operands", k.Name)
	b := record(k, isa)
	x := &x86{k: k, isa: isa, w: out, data: data, fixed: map[*Value]int{}, ptr: []string{"DI"}, accReg: []int{0}}
	nreg := 32
	if x.perAcc, x.bytes, x.pfx = 8, 64, "Z"; isa == AVX512 {
		x.kfree = []int{2, 3, 4, 5, 6, 7}
	} else {
		x.perAcc, x.bytes, x.pfx, nreg = 6, 32, "Y", 14 // Y14 and Y15 hold masks
	}
	x.lanes = x.bytes / k.Lane.Size()
	for r := x.perAcc; r < nreg; r++ {
		x.free = append(x.free, r)
	}
	fmt.Fprintf(out, "// %s: %d lanes x %d. R8=dst %s, R9=a %s, DI=row; R10=distance of rows, R11=rows, CX=rows "+
		"left, BX=columns left.\n",
		downAsm(k, isa), x.lanes, x.perAcc, k.Lane.Go(), k.Args[0].T.Go())
	fmt.Fprintf(out, "// Accumulators: %s0-%s%d.\n", x.pfx, x.pfx, x.perAcc-1)
	fmt.Fprintf(out, "TEXT ·%s(SB), NOSPLIT, $0-40\n", downAsm(k, isa))
	for i, r := range []string{"dst", "a", "n", "rows", "ld"} {
		x.p("MOVQ %s+%d(FP), %s", r, 8*i, []string{"R8", "R9", "BX", "R11", "R10"}[i])
	}
	for _, v := range b.vals {
		for _, a := range v.a {
			if _, ok := x.fixed[a]; isConst(a) && !ok {
				x.fixed[a] = x.take()
				x.broadcast(a, x.fixed[a])
			}
		}
	}
	move, mask := "VMOVUP"+x.sfx(), ""
	strip := func(label string, vectors int, masked bool) {
		for u := range vectors {
			x.p("%s%s %d(R8),%s %s", move, map[bool]string{true: ".Z"}[masked && isa == AVX512], u*x.bytes, mask,
				x.v(u))
		}
		x.p("MOVQ R9, DI")
		x.p("MOVQ R11, CX")
		fmt.Fprintf(out, "%s:\n", label)
		for u := range vectors {
			x.body(b, u, masked)
		}
		x.p("ADDQ R10, DI")
		x.p("DECQ CX")
		x.p("JNE %s", label)
		for u := range vectors {
			x.p("%s %s,%s %d(R8)", move, x.v(u), mask, u*x.bytes)
		}
	}
	for _, vectors := range []int{x.perAcc, 4, 2, 1} {
		fmt.Fprintf(out, "by%d:\n", vectors)
		x.p("CMPQ BX, $%d", vectors*x.lanes)
		x.p("JLT end%d", vectors)
		strip(fmt.Sprintf("rows%d", vectors), vectors, false)
		x.p("ADDQ $%d, R8", vectors*x.bytes)
		x.p("ADDQ $%d, R9", vectors*x.lanes*k.Args[0].T.Size())
		x.p("SUBQ $%d, BX", vectors*x.lanes)
		x.p("JMP by%d", vectors)
		fmt.Fprintf(out, "end%d:\n", vectors)
	}
	x.p("TESTQ BX, BX")
	x.p("JEQ done")
	x.tailMask(false)
	if mask = " K1,"; isa == AVX2 {
		move, mask = "VMASKMOVP"+x.sfx(), " Y15,"
	}
	strip("part", 1, true)
	fmt.Fprintf(out, "done:\n")
	x.p("VZEROUPPER")
	x.p("RET")
	fmt.Fprintln(out)
	Check(!x.over, "%s/%s: out of registers", k.Name, isa)
}

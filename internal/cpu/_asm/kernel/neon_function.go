package kernel

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/a64"
)

// This file puts the NEON bodies of neon.go into functions: frames, loops, folds of accumulators, and the Go
// code that calls them.

// NEONConstants collects the constants of all kernels of an assembly file, in one block ("pool"), so that one
// register reaches all of them.
type NEONConstants struct {
	at   map[string]int
	text strings.Builder
}

// NewNEONConstants is an empty collection.
func NewNEONConstants() *NEONConstants { return &NEONConstants{at: map[string]int{}} }

// constant returns the offset in the pool of 16 bytes that repeat the bits of a number of the given size.
func (d *NEONConstants) constant(size int, bits uint64) int {
	if size == 4 {
		bits = bits<<32 | bits&0xffffffff
	}
	key := fmt.Sprintf("%016x", bits)
	off, ok := d.at[key]
	if !ok {
		off = 16 * len(d.at)
		d.at[key] = off
		for i := 0; i < 16; i += 8 {
			fmt.Fprintf(&d.text, "DATA pool<>+%d(SB)/8, $0x%s\n", off+i, key)
		}
	}
	return off
}

// File returns a whole assembly file: constants, masks and the kernels.
func (d *NEONConstants) File(banner, kernels string) string {
	var b strings.Builder
	b.WriteString(banner + "//go:build !purego\n\n#include \"textflag.h\"\n\n")
	b.WriteString("// Every function handles n elements with vectors, the last ones in pieces, and calls nothing: " +
		"the Go callers keep n small enough\n// for pre-emption. Instructions that the assembler does not know are " +
		"words with their name beside them.\n\n")
	b.WriteString(d.text.String())
	fmt.Fprintf(&b, "GLOBL pool<>(SB), RODATA|NOPTR, $%d\n", 16*len(d.at))
	// 16 bytes of ones and then zeros: reading n lanes before the zeros gives n lanes of ones.
	for i := 0; i < 32; i += 8 {
		fmt.Fprintf(&b, "DATA tailmask<>+%d(SB)/8, $0x%016x\n", i, map[bool]uint64{true: math.MaxUint64}[i < 16])
	}
	b.WriteString("GLOBL tailmask<>(SB), RODATA|NOPTR, $32\n\n")
	return b.String() + kernels
}

// EmitNEON writes the assembly of k for NEON, with as many constants in registers as the body leaves free;
// with rows, the form that walks rows.
func EmitNEON(out *strings.Builder, pool *NEONConstants, k *Kernel, rows bool) {
	b := record(k, NEON)
	ops := 0
	for _, v := range b.vals {
		if v.op != opCast && v.op != opAccIn {
			ops++
		}
	}
	x := &neon{k: k}
	var consts []*Value
	uses := map[*Value]int{}
	for _, v := range b.vals {
		for j, a := range v.a {
			a = root(a)
			if !isConst(a) || x.fromMemory(v, j) {
				continue
			}
			if uses[a] == 0 {
				consts = append(consts, a)
			}
			uses[a]++
			if a.op == opScalar {
				uses[a] += 100 // a load and a copy: these first
			}
		}
	}
	sort.SliceStable(consts, func(i, j int) bool { return uses[consts[i]] > uses[consts[j]] })
	for h := len(consts); ; h-- {
		Check(h >= 0, "%s/NEON: out of registers", k.Name)
		var w strings.Builder
		if tryNEON(&w, pool, k, rows, b, ops, consts[:h], len(consts)) {
			out.WriteString(w.String())
			return
		}
	}
}

// tryNEON writes the assembly with the given constants in registers, and reports whether the registers were
// enough.
func tryNEON(w *strings.Builder, pool *NEONConstants, k *Kernel, rows bool, b *Builder, ops int, hoisted []*Value,
	nconst int) bool {
	x := &neon{k: k, w: w, pool: pool, rows: rows, fixed: map[*Value]int{}, inv: map[*Value]bool{}, arr: a64.S4,
		lanes: 4}
	if k.Lane == F64 {
		x.arr, x.lanes = a64.D2, 2
	}
	nreg := 32
	next := 0
	for range k.Accs {
		nreg = 31 // one for the mask
		x.perAcc = k.Lanes / x.lanes
		x.accReg = append(x.accReg, next)
		next += x.perAcc
	}
	if next+len(hoisted) >= nreg {
		return false
	}
	first := next
	for _, c := range hoisted {
		x.fixed[c] = next
		next++
	}
	for r := next; r < nreg; r++ {
		x.free = append(x.free, r)
	}
	unroll := 1
	switch {
	case len(k.Accs) > 0:
		unroll = x.perAcc
	case ops <= 8:
		unroll = 4
	case ops <= 30:
		unroll = 2
	}
	x.layout()
	name := GoName(k, NEON)
	if rows {
		name = rowsName(k, NEON)
	}
	var sig []string
	for i, a := range k.Args {
		if a.Kind == ArgScalar {
			sig = append(sig, a.Name+" scalar")
		} else {
			sig = append(sig, fmt.Sprintf("%s=%s %s", x.ptr[i], a.Name, a.T.Go()))
		}
	}
	fmt.Fprintf(w, "// %s: %d lanes x %d. %s; R9=elements left.\n", name, x.lanes, unroll, strings.Join(sig, ", "))
	for i, a := range k.Accs {
		fmt.Fprintf(w, "// Accumulator %s: V%d-V%d.\n", a.Name, x.accReg[i], x.accReg[i]+x.perAcc-1)
	}
	if len(hoisted) > 0 {
		fmt.Fprintf(w, "// Constants: V%d-V%d", first, first+len(hoisted)-1)
		if nconst > len(hoisted) {
			fmt.Fprintf(w, " (%d more are read from memory)", nconst-len(hoisted))
		}
		fmt.Fprintf(w, ".\n")
	}
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $0-%d\n", name, x.total)
	for i, a := range k.Args {
		if a.Kind != ArgScalar {
			x.p("MOVD %s+%d(FP), %s", a.Name, x.argOff[i], x.ptr[i])
		}
	}
	if !rows {
		x.p("MOVD n+%d(FP), R9", x.nOff)
	}
	x.p("MOVD $pool<>(SB), R11")
	every := func(c *Value) bool { return c.op == opScalar && x.perRow(k.Args[c.arg]) }
	for _, c := range hoisted {
		if !every(c) {
			x.broadcast(c, x.fixed[c])
		}
	}
	for i, a := range k.Accs {
		for j := range x.perAcc {
			switch r := x.accReg[i] + j; {
			case a.Init == 0:
				x.bits("eor", r, r, r)
			case j > 0:
				x.mov(r, x.accReg[i])
			default:
				x.constant(b.C(a.Init).bits, r)
			}
		}
	}
	if rows {
		x.at("row")
		x.p("MOVD n+%d(FP), R9", x.nOff)
		for _, c := range hoisted {
			if every(c) {
				x.broadcast(c, x.fixed[c])
			}
		}
	}
	if unroll > 1 {
		x.p("CMP $%d, R9", unroll*x.lanes)
		x.p("BLT single")
		x.at("loop")
		for u := range unroll {
			x.body(b, u, false)
		}
		x.advance(unroll)
		x.p("CMP $%d, R9", unroll*x.lanes)
		x.p("BGE loop")
	}
	x.at("single")
	if len(k.Accs) == 0 {
		x.p("CMP $%d, R9", x.lanes)
		x.p("BLT tail")
		x.at("one")
		x.body(b, 0, false)
		x.advance(1)
		x.p("CMP $%d, R9", x.lanes)
		x.p("BGE one")
		x.at("tail")
		x.p("CBZ R9, done")
		x.body(b, 0, true)
	} else {
		x.lastAccs(b, unroll)
	}
	x.at("done")
	if rows {
		x.nextRow()
	}
	for i, a := range k.Accs {
		x.fold(i, a.Comb)
		x.p("FMOV%s F%d, %s+%d(FP)", map[Type]string{F32: "S", F64: "D"}[k.Lane], x.accReg[i], a.Name,
			x.retOff+i*k.Lane.Size())
	}
	x.p("RET")
	fmt.Fprintln(w)
	return !x.over
}

// lastAccs emits the end of a reduction: what is left, fewer vectors than there are accumulators, goes to the
// accumulators in order, so that element i always meets lane i mod Lanes.
func (x *neon) lastAccs(b *Builder, unroll int) {
	bodyAt := func(u int, masked bool) {
		for i := range x.accReg {
			x.accReg[i] += u
		}
		x.body(b, 0, masked)
		for i := range x.accReg {
			x.accReg[i] -= u
		}
	}
	for u := range unroll {
		x.p("CMP $%d, R9", x.lanes)
		x.p("BLT part%d", u)
		bodyAt(u, false)
		x.advance(1)
	}
	x.p("JMP done")
	for u := range unroll {
		x.at(fmt.Sprintf("part%d", u))
		x.p("CBZ R9, done")
		x.p("MOVD $tailmask<>+16(SB), R10")
		x.p("SUB R9<<%d, R10", int(math.Log2(float64(x.k.Lane.Size()))))
		x.p("FMOVQ (R10), F31")
		bodyAt(u, true)
		if u < unroll-1 {
			x.p("JMP done")
		}
	}
}

// nextRow moves to the next row. The arguments in the frame hold where the present row begins.
func (x *neon) nextRow() {
	slot := 0
	for i, a := range x.k.Args {
		ptr := x.ptr[i]
		if a.Kind == ArgScalar {
			if !x.perRow(a) {
				continue
			}
			ptr = "R12"
		}
		x.p("MOVD %s+%d(FP), %s", a.Name, x.argOff[i], ptr)
		x.p("MOVD ld_%s+%d(FP), R10", a.Name, x.ldOff+8*slot)
		x.p("ADD R10, %s", ptr)
		x.p("MOVD %s, %s+%d(FP)", ptr, a.Name, x.argOff[i])
		slot++
	}
	x.p("MOVD rows+%d(FP), R10", x.rowsOff)
	x.p("SUB $1, R10")
	x.p("MOVD R10, rows+%d(FP)", x.rowsOff)
	x.p("CBNZ R10, row")
}

// fold reduces accumulator i to its lane 0.
func (x *neon) fold(i int, comb string) {
	r := x.accReg[i]
	for m := x.perAcc / 2; m > 0; m /= 2 {
		for j := range m {
			x.combine(comb, r+j, r+j+m)
		}
	}
	// The registers after the first are done with.
	t := x.take()
	for half := 8; half >= x.k.Lane.Size(); half /= 2 {
		x.p("VEXT $%d, V%d.B16, V%d.B16, V%d.B16", half, r, r, t)
		x.combine(comb, r, t)
	}
	x.give(t)
}

// combine emits a = comb(a, b); NaN in either operand gives NaN.
func (x *neon) combine(comb string, a, b int) {
	switch comb {
	case "add":
		x.op3("fadd", a, a, b)
		return
	case "mul":
		x.op3("fmul", a, a, b)
		return
	}
	// a where it is larger (smaller) or NaN, else b.
	t, nan := x.take(), x.take()
	if comb == "max" {
		x.op3("fcmgt", t, a, b)
	} else {
		x.op3("fcmgt", t, b, a)
	}
	x.op3("fcmeq", nan, a, a)
	x.bits("orn", t, t, nan)
	x.bits("bif", a, b, t)
	x.give(t)
	x.give(nan)
}

// EmitARM64 writes the public function of k on arm64 and the declaration of its assembly.
func EmitARM64(w *strings.Builder, k *Kernel) {
	s := sliceArgs(k)
	fmt.Fprintf(w, "%sfunc %s(%s)%s {\n%s", docComment(k), k.Name, params(k), results(k), reslice(k))
	var at, decl []string
	index := "i"
	if len(k.Accs) > 0 {
		index = "0"
	}
	for _, a := range k.Args {
		if a.Kind == ArgScalar {
			at = append(at, a.Name)
			decl = append(decl, a.Name+" "+a.T.Go())
		} else {
			at = append(at, "&"+a.Name+"["+index+"]")
			decl = append(decl, a.Name+" *"+a.T.Go())
		}
	}
	call := GoName(k, NEON) + "(" + strings.Join(at, ", ")
	if len(k.Accs) > 0 {
		// The assembly does not touch memory when n is 0, but &x[0] would panic.
		fmt.Fprintf(w, "\tif n := len(%s); n > 0 && cpu.HasNEON {\n\t\treturn %s, n)\n\t}\n\treturn %s(%s)\n}\n\n",
			s[0], call, GoName(k, Generic), argNames(k))
	} else {
		fmt.Fprintf(w, "\tif !cpu.HasNEON {\n\t\t%s(%s)\n\t\treturn\n\t}\n", GoName(k, Generic), argNames(k))
		fmt.Fprintf(w, "\tfor n, i := len(%s), 0; i < n; {\n\t\tcnt := min(n-i, chunk)\n\t\t%s, cnt)\n\t\ti += "+
			"cnt\n\t\tyield(i, n)\n\t}\n}\n\n", s[0], call)
	}
	emitPart(w, k, fmt.Sprintf("%s(%s)", k.Name, argNames(k)))
	fmt.Fprintf(w, "//go:noescape\nfunc %s(%s, n int)%s\n\n", GoName(k, NEON), strings.Join(decl, ", "), results(k))
	switch {
	case k.Rows && len(k.Accs) > 0:
		EmitRowsNoAssembly(w, k) // row by row
	case k.Rows:
		emitRows(w, k, []ISA{NEON})
	}
}

package main

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/a64"
)

// This file turns a recorded body into NEON assembly: vectors of 16 bytes.
//
// Registers: R0-R8 pointers in the order of the slice arguments, R9=elements left, R10 scratch, R11=pool, the constants of all
// kernels, 16 bytes each. V31 holds the mask of the last, partial vector of a reduction. R18 and R26-R30 are never touched.
//
// There are no masked moves. The last vector is read and written in pieces, by the bits of the number of elements; lanes that have no
// element hold anything, which no store writes and no accumulator takes.
//
// Multiply-adds overwrite their addend: one that is a constant and would have to be copied comes from memory instead, which costs no
// arithmetic port. Truth values are all ones or all zeros in each lane; where an instruction gives the opposite of what is asked, the
// value is marked as inverted and its users are written the other way around.

type neon struct {
	k     *Kernel
	w     *strings.Builder
	pool  *neonPool
	rows  bool
	arr   a64.Arr
	lanes int

	fixed  map[*Value]int  // registers of constants
	inv    map[*Value]bool // truth values that are stored inverted
	accReg []int           // first register of each accumulator
	perAcc int             // registers per accumulator
	free   []int           // allocatable registers
	over   bool            // ran out of registers
	label  int

	ptr                                 []string
	argOff                              []int
	nOff, retOff, rowsOff, ldOff, total int
}

// neonPool collects the constants of all kernels: one block, so that one register reaches them all.
type neonPool struct {
	at   map[string]int
	text strings.Builder
}

// constant returns the offset of 16 bytes that repeat the bits.
func (d *neonPool) constant(size int, bits uint64) int {
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

// file is the whole file: constants, masks and then the kernels.
func (d *neonPool) file(kernels string) string {
	var b strings.Builder
	b.WriteString(banner + "//go:build !purego\n\n#include \"textflag.h\"\n\n")
	b.WriteString("// Every function handles n elements with vectors, the last ones in pieces, and calls nothing: the Go callers keep n small enough\n// for pre-emption. Instructions that the assembler does not know are words with their name beside them.\n\n")
	b.WriteString(d.text.String())
	fmt.Fprintf(&b, "GLOBL pool<>(SB), RODATA|NOPTR, $%d\n", 16*len(d.at))
	// 16 bytes of ones and then zeros: reading n lanes before the zeros gives n lanes of ones.
	for i := 0; i < 32; i += 8 {
		fmt.Fprintf(&b, "DATA tailmask<>+%d(SB)/8, $0x%016x\n", i, map[bool]uint64{true: math.MaxUint64}[i < 16])
	}
	b.WriteString("GLOBL tailmask<>(SB), RODATA|NOPTR, $32\n\n")
	return b.String() + kernels
}

func (x *neon) p(format string, args ...any) { fmt.Fprintf(x.w, "\t"+format+"\n", args...) }

// op3, op2 and bits emit d = name(n, m), d = name(n) and a logical d = name(n, m).
func (x *neon) op3(name string, d, n, m int)  { x.p("%s", a64.Three(name, x.arr, d, n, m)) }
func (x *neon) op2(name string, d, n int)     { x.p("%s", a64.Two(name, x.arr, d, n)) }
func (x *neon) bits(name string, d, n, m int) { x.p("%s", a64.Three(name, a64.B16, d, n, m)) }
func (x *neon) mov(d, n int)                  { x.bits("orr", d, n, n) }
func (x *neon) not(d, n int)                  { x.p("%s", a64.Two("not", a64.B16, d, n)) }

func (x *neon) newLabel() string { x.label++; return fmt.Sprintf("l%d", x.label) }

func (x *neon) take() int {
	if len(x.free) == 0 {
		x.over = true
		return 0
	}
	r := x.free[0]
	x.free = x.free[1:]
	return r
}

func (x *neon) give(r int) {
	i := sort.SearchInts(x.free, r)
	x.free = append(x.free[:i], append([]int{r}, x.free[i:]...)...)
}

// layout computes the frame offsets of the arguments.
func (x *neon) layout() {
	off, slot := 0, 0
	for _, a := range x.k.Args {
		size := 8
		if a.Kind == ArgScalar {
			size = a.T.Size()
		}
		off = (off + size - 1) &^ (size - 1)
		x.argOff = append(x.argOff, off)
		ptr := ""
		if a.Kind != ArgScalar {
			check(slot < 9, "%s: too many slices", x.k.Name)
			ptr = fmt.Sprintf("R%d", slot)
			slot++
		}
		x.ptr = append(x.ptr, ptr)
		off += size
	}
	x.nOff = (off + 7) &^ 7
	if x.rows {
		x.rowsOff = x.nOff + 8
		x.ldOff = x.nOff + 16
		x.total = x.ldOff + 8*slot
		return
	}
	x.retOff = x.nOff + 8
	x.total = x.retOff + len(x.k.Accs)*x.k.Lane.Size()
}

// broadcast fills a register with a constant or a scalar argument.
func (x *neon) broadcast(v *Value, r int) {
	if v.op == opScalar {
		x.p("FMOV%s %s+%d(FP), F%d", map[Type]string{F32: "S", F64: "D"}[x.k.Lane], x.k.Args[v.arg].Name, x.argOff[v.arg], r)
		x.p("VDUP V%d.%c[0], V%d.%s", r, x.arr.Go()[0], r, x.arr.Go())
		return
	}
	x.constant(v.bits, r)
}

func (x *neon) constant(bits uint64, r int) {
	x.p("FMOVQ %d(R11), F%d", x.pool.constant(x.k.Lane.Size(), bits), r)
}

// root is the value whose register v is in: a cast is another name for its operand.
func root(v *Value) *Value {
	for v.op == opCast {
		v = v.a[0]
	}
	return v
}

// signOp recognises the two bit operations on a constant that have an instruction of their own.
func (x *neon) signOp(v *Value) string {
	if (v.op == opAnd || v.op == opXor) && v.a[1].op == opConst {
		sign := uint64(1) << (8*x.k.Lane.Size() - 1)
		switch {
		case v.op == opAnd && v.a[1].bits == sign-1:
			return "fabs"
		case v.op == opXor && v.a[1].bits == sign:
			return "fneg"
		}
	}
	return ""
}

// fromMemory reports that operand j of v is read from the pool rather than hoisted: an addend, or one that is part of the instruction.
func (x *neon) fromMemory(v *Value, j int) bool {
	return v.a[j].op == opConst && (j == 2 && (v.op == opFMA || v.op == opFNMA)) || j == 1 && x.signOp(v) != ""
}

// body emits one vector's worth of b. u numbers the vector in an unrolled loop; masked selects the forms for the last, partial one.
func (x *neon) body(b *B, u int, masked bool) {
	for i, v := range b.vals {
		v.last = i
		for _, a := range v.a {
			root(a).last = i
		}
	}
	for i, v := range b.vals {
		if v.op == opCast {
			continue
		}
		v.inAcc = false
		if v.op == opAccIn {
			v.reg = x.accReg[v.arg] + u%x.perAcc
			continue
		}
		var temps []int
		tmp := func() int { r := x.take(); temps = append(temps, r); return r }
		regs, inv := make([]int, len(v.a)), make([]bool, len(v.a))
		own := make([]bool, len(v.a)) // registers that this operation may overwrite
		for j, a := range v.a {
			a = root(a)
			inv[j] = x.inv[a]
			r, hoisted := x.fixed[a]
			switch {
			case !isConst(a):
				regs[j], own[j] = a.reg, a.last == i && a.op != opAccIn && !a.inAcc
			case hoisted && !x.fromMemory(v, j):
				regs[j] = r
			case x.signOp(v) != "" && j == 1:
			default:
				regs[j], own[j] = tmp(), true
				x.broadcast(a, regs[j])
			}
		}
		// finish gives back what ends here, but for the register of the result.
		finish := func() {
			given := map[int]bool{v.reg: v.op != opStore && v.op != opAccOut}
			for j, r := range regs {
				if own[j] && !given[r] {
					given[r] = true
					x.give(r)
				}
			}
			for _, r := range temps {
				if !given[r] {
					given[r] = true
					x.give(r)
				}
			}
		}
		// result picks the register for a value that is written once: an operand's that ends here, or a new one. An accumulator's sum
		// is computed in place.
		direct := -1
		if !masked && i+1 < len(b.vals) {
			if o := b.vals[i+1]; o.op == opAccOut && o.a[0] == v && v.last == i+1 {
				direct = x.accReg[o.arg] + u%x.perAcc
			}
		}
		result := func() int {
			for j, r := range regs {
				if own[j] {
					return r
				}
			}
			return x.take()
		}
		simple := func(emit func(d int)) {
			if direct >= 0 && v.op == opAdd {
				v.reg, v.inAcc = direct, true
			} else {
				v.reg = result()
			}
			emit(v.reg)
		}
		three := func(name string) { simple(func(d int) { x.op3(name, d, regs[0], regs[1]) }) }
		logic := func(name string, n, m int) { simple(func(d int) { x.bits(name, d, regs[n], regs[m]) }) }
		one := func(name string) { simple(func(d int) { x.op2(name, d, regs[0]) }) }
		shift := func(name string) { simple(func(d int) { x.p("%s", a64.Shift(name, x.arr, d, regs[0], v.imm)) }) }
		switch v.op {
		case opLoad:
			x.load(v, u, masked)
		case opStore:
			x.store(v, regs[0], inv[0], u, masked, tmp)
		case opAccOut:
			acc := x.accReg[v.arg] + u%x.perAcc
			switch {
			case v.a[0].inAcc: // it is there already
			case masked:
				x.bits("bit", acc, regs[0], 31)
			default:
				x.mov(acc, regs[0])
			}
		case opAdd:
			three("fadd")
		case opSub:
			three("fsub")
		case opMul:
			three("fmul")
		case opDiv:
			three("fdiv")
		case opIAdd:
			three("add")
		case opISub:
			three("sub")
		case opAnd, opXor, opOr, opIAnd:
			if name := x.signOp(v); name != "" {
				one(name)
			} else {
				logic(map[opcode]string{opAnd: "and", opIAnd: "and", opOr: "orr", opXor: "eor"}[v.op], 0, 1)
			}
		case opMin, opMax:
			// fmin and fmax give NaN when either operand is, and order zeros: that is what is asked for where the first one is a
			// constant other than these.
			if c := v.a[0]; c.op == opConst && c.bits<<(65-8*x.k.Lane.Size()) != 0 && !isNaN(c) {
				three(map[opcode]string{opMin: "fmin", opMax: "fmax"}[v.op])
				break
			}
			v.reg = x.take()
			if v.op == opMin { // a < b ? a : b
				x.op3("fcmgt", v.reg, regs[1], regs[0])
			} else {
				x.op3("fcmgt", v.reg, regs[0], regs[1])
			}
			x.bits("bsl", v.reg, regs[0], regs[1])
		case opSqrt:
			one("fsqrt")
		case opRound:
			one([...]string{"frintn", "frintm", "frintp", "frintz"}[v.imm])
		case opI2F:
			one("scvtf")
		case opF2I:
			// The instruction saturates; what does not fit, NaN with it, shall be the smallest integer.
			v.reg = tmp()
			t := tmp()
			x.constant(0x4f000000, v.reg) // 2^31
			x.op3("fcmgt", v.reg, v.reg, regs[0])
			x.op2("fcvtzs", t, regs[0])
			small := tmp()
			x.constant(1<<31, small)
			x.bits("bsl", v.reg, t, small)
		case opShl:
			shift("shl")
		case opSra:
			shift("sshr")
		case opSrl:
			shift("ushr")
		case opFMA, opFNMA:
			name := map[opcode]string{opFMA: "fmla", opFNMA: "fmls"}[v.op]
			switch {
			case direct >= 0 && root(v.a[2]).op == opAccIn && regs[2] == direct:
				v.reg, v.inAcc = direct, true
			case own[2]:
				v.reg = regs[2]
			default:
				v.reg = x.take()
				x.mov(v.reg, regs[2])
			}
			x.op3(name, v.reg, regs[0], regs[1])
		case opCmp:
			a, c := 0, 1
			name := map[int]string{EQ: "fcmeq", NEQ: "fcmeq", UNORD: "fcmeq", GT: "fcmgt", LT: "fcmgt", GE: "fcmge", LE: "fcmge"}[v.imm]
			if v.imm == LT || v.imm == LE {
				a, c = 1, 0
			}
			x.inv[v] = v.imm == NEQ || v.imm == UNORD
			simple(func(d int) { x.op3(name, d, regs[a], regs[c]) })
		case opMAnd, opMOr:
			// With p and q stored, a inverted one stands for not q: p and not q, not (p or q) and so on.
			and := v.op == opMAnd
			x.inv[v] = inv[0] && inv[1]
			if x.inv[v] {
				and = !and
			}
			n, m := 0, 1
			if inv[0] && !inv[1] {
				n, m = 1, 0
			}
			name := map[bool]string{true: "and", false: "orr"}[and]
			if inv[0] != inv[1] {
				name = map[bool]string{true: "bic", false: "orn"}[and]
			}
			logic(name, n, m)
		case opSel:
			m, t, f := 0, 1, 2
			if inv[0] {
				t, f = 2, 1
			}
			switch {
			case own[m] && regs[m] != regs[t] && regs[m] != regs[f]:
				v.reg = regs[m]
				x.bits("bsl", v.reg, regs[t], regs[f])
			case own[f] && regs[f] != regs[m] && regs[f] != regs[t]:
				v.reg = regs[f]
				x.bits("bit", v.reg, regs[t], regs[m])
			case own[t] && regs[t] != regs[m] && regs[t] != regs[f]:
				v.reg = regs[t]
				x.bits("bif", v.reg, regs[f], regs[m])
			default:
				v.reg = x.take()
				x.mov(v.reg, regs[m])
				x.bits("bsl", v.reg, regs[t], regs[f])
			}
		default:
			panic("no NEON form of op")
		}
		finish()
		if x.over {
			return
		}
	}
}

func isNaN(c *Value) bool {
	if c.t == F64 {
		return math.IsNaN(math.Float64frombits(c.bits))
	}
	return math.IsNaN(float64(math.Float32frombits(uint32(c.bits))))
}

// move emits a load or a store of one vector of elements of the given size, whole or in pieces. There are 4 or 2 lanes.
func (x *neon) move(load bool, arg, r, u int, masked bool) {
	size := x.k.Args[arg].T.Size()
	ptr := x.ptr[arg]
	// piece moves count elements at the pointer, or from element at on, when one has been moved already.
	piece := func(count, at int) {
		bytes, off := count*size, at*size+u*x.lanes*size
		mem := "(" + ptr + ")"
		if off > 0 {
			mem = fmt.Sprintf("%d(%s)", off, ptr)
		}
		if name := map[int]string{16: "FMOVQ", 8: "FMOVD", 4: "FMOVS"}[bytes]; name != "" && at == 0 {
			if load {
				x.p("%s %s, F%d", name, mem, r)
			} else {
				x.p("%s F%d, %s", name, r, mem)
			}
			return
		}
		if off > 0 {
			x.p("ADD $%d, %s, R10", off, ptr)
			mem = "(R10)"
		}
		lane := fmt.Sprintf("V%d.%s[%d]", r, map[int]string{8: "D", 4: "S", 2: "H", 1: "B"}[bytes], at/count)
		if load {
			x.p("VLD1 %s, %s", mem, lane)
		} else {
			x.p("VST1 %s, %s", lane, mem)
		}
	}
	switch {
	case !masked:
		piece(x.lanes, 0)
	case x.lanes == 2:
		piece(1, 0)
	default:
		single, end := x.newLabel(), x.newLabel()
		x.p("TBZ $1, R9, %s", single)
		piece(2, 0)
		x.p("TBZ $0, R9, %s", end)
		piece(1, 2)
		x.p("JMP %s", end)
		x.at(single)
		piece(1, 0)
		x.at(end)
	}
}

func (x *neon) at(label string) { fmt.Fprintf(x.w, "%s:\n", label) }

// load emits the widening load of one vector.
func (x *neon) load(v *Value, u int, masked bool) {
	a := x.k.Args[v.arg]
	v.reg = x.take()
	x.move(true, v.arg, v.reg, u, masked)
	widen := func(name string, to a64.Arr) { x.p("%s", a64.Widen(name, to, v.reg, v.reg)) }
	switch a.T {
	case U8, I8:
		name := map[Type]string{U8: "uxtl", I8: "sxtl"}[a.T]
		for to := a64.H8; to <= x.arr; to++ {
			widen(name, to)
		}
	case F16:
		widen("fcvtl", a64.S4)
	case BF16:
		widen("shll", a64.S4)
	case F32:
		if x.arr == a64.D2 {
			widen("fcvtl", a64.D2)
		}
	default:
		check(a.T.Size() == x.k.Lane.Size(), "%s: no NEON load of %s", x.k.Name, a.Name)
	}
	if v.t == Mask {
		x.op3("cmtst", v.reg, v.reg, v.reg)
	}
}

// store emits the narrowing store of one vector.
func (x *neon) store(v *Value, r int, inverted bool, u int, masked bool, tmp func() int) {
	a := x.k.Args[v.arg]
	t := r
	narrow := func(name string, from a64.Arr) {
		d := t
		if t == r {
			d = tmp()
		}
		x.p("%s", a64.Narrow(name, from, d, t))
		t = d
	}
	if v.t == Mask {
		t = tmp()
		n := r
		if inverted {
			x.not(t, r)
			n = t
		}
		x.p("%s", a64.Shift("ushr", x.arr, t, n, x.arr.Bits()-1))
	}
	switch {
	case a.T.Size() == 1:
		for from := x.arr; from > a64.B16; from-- {
			narrow("xtn", from)
		}
	case a.T == BF16:
		narrow("xtn", a64.S4)
	case a.T == F16 || a.T == F32 && x.arr == a64.D2:
		narrow("fcvtn", x.arr)
	}
	x.move(false, v.arg, t, u, masked)
}

// advance moves the pointers and the count by n vectors.
func (x *neon) advance(n int) {
	for i, a := range x.k.Args {
		if a.Kind != ArgScalar {
			x.p("ADD $%d, %s", n*x.lanes*a.T.Size(), x.ptr[i])
		}
	}
	x.p("SUB $%d, R9", n*x.lanes)
}

// emitNEON writes the assembly of k, hoisting as many constants as leave enough registers for the body.
func emitNEON(out *strings.Builder, pool *neonPool, k *Kernel, rows bool) {
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
		check(h >= 0, "%s/NEON: out of registers", k.Name)
		var w strings.Builder
		if tryNEON(&w, pool, k, rows, b, ops, consts[:h], len(consts)) {
			out.WriteString(w.String())
			return
		}
	}
}

func tryNEON(w *strings.Builder, pool *neonPool, k *Kernel, rows bool, b *B, ops int, hoisted []*Value, nconst int) bool {
	x := &neon{k: k, w: w, pool: pool, rows: rows, fixed: map[*Value]int{}, inv: map[*Value]bool{}, arr: a64.S4, lanes: 4}
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
	name := goName(k, NEON)
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
	for _, c := range hoisted {
		x.broadcast(c, x.fixed[c])
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
		x.p("FMOV%s F%d, %s+%d(FP)", map[Type]string{F32: "S", F64: "D"}[k.Lane], x.accReg[i], a.Name, x.retOff+i*k.Lane.Size())
	}
	x.p("RET")
	fmt.Fprintln(w)
	return !x.over
}

// lastAccs gives what is left, fewer vectors than there are accumulators, to these in order, so that element i always meets lane
// i mod Lanes.
func (x *neon) lastAccs(b *B, unroll int) {
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

// nextRow moves to the next row; the frame's arguments hold where the present one begins.
func (x *neon) nextRow() {
	slot := 0
	for i, a := range x.k.Args {
		if a.Kind == ArgScalar {
			continue
		}
		x.p("MOVD %s+%d(FP), %s", a.Name, x.argOff[i], x.ptr[i])
		x.p("MOVD ld_%s+%d(FP), R10", a.Name, x.ldOff+8*slot)
		x.p("ADD R10, %s", x.ptr[i])
		x.p("MOVD %s, %s+%d(FP)", x.ptr[i], a.Name, x.argOff[i])
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

// emitARM64 writes the public form of k and the declaration of its assembly.
func emitARM64(w *strings.Builder, k *Kernel) {
	s := slices(k)
	fmt.Fprintf(w, "%sfunc %s(%s)%s {\n%s", doc(k), k.Name, params(k), results(k), reslice(k))
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
	call := goName(k, NEON) + "(" + strings.Join(at, ", ")
	if len(k.Accs) > 0 {
		// The assembly does not touch memory when n is 0, but &x[0] would panic.
		fmt.Fprintf(w, "\tif n := len(%s); n > 0 && cpu.HasNEON {\n\t\treturn %s, n)\n\t}\n\treturn %s(%s)\n}\n\n", s[0], call, goName(k, Generic), argNames(k))
	} else {
		fmt.Fprintf(w, "\tif !cpu.HasNEON {\n\t\t%s(%s)\n\t\treturn\n\t}\n", goName(k, Generic), argNames(k))
		fmt.Fprintf(w, "\tfor n, i := len(%s), 0; i < n; {\n\t\tcnt := min(n-i, chunk)\n\t\t%s, cnt)\n\t\ti += cnt\n\t\tyield(i, n)\n\t}\n}\n\n", s[0], call)
	}
	fmt.Fprintf(w, "//go:noescape\nfunc %s(%s, n int)%s\n\n", goName(k, NEON), strings.Join(decl, ", "), results(k))
	if k.Rows {
		emitRowsAsm(w, k, []ISA{NEON})
	}
}

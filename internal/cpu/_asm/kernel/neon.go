package kernel

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/a64"
)

// This file turns a recorded body into NEON assembly: vectors of 16 bytes.
//
// Registers: the pointers of the slice arguments are in R0-R8, in their order; the number of elements left is
// in R9; R10 is scratch; R11 points to the pool, the constants of all kernels, 16 bytes each. V31 holds the
// mask of the last, partial vector of a reduction. R18 and R26-R30 are never touched.
//
// NEON has no masked moves. The last, partial vector is read and written in pieces, by the bits of the number
// of elements left. Lanes that have no element hold anything; no store writes them, and no accumulator takes
// them.
//
// Multiply-adds overwrite their addend. An addend that is a constant would have to be copied; it is loaded
// from memory instead, which costs no arithmetic port. Truth values are all ones or all zeros in each lane.
// Where an instruction gives the opposite of what is asked, the value is marked as inverted, and its users
// are written the other way around.

// neon is a function being written.
type neon struct {
	k     *Kernel
	w     *strings.Builder
	pool  *NEONConstants
	rows  bool
	arr   a64.Arr
	lanes int

	fixed  map[*Value]int  // registers of constants
	inv    map[*Value]bool // truth values that are stored inverted
	accReg []int           // first register of each accumulator
	perAcc int             // registers per accumulator
	free   []int           // allocatable registers
	over   bool            // the registers were not enough
	label  int

	ptr                                 []string
	argOff                              []int
	nOff, retOff, rowsOff, ldOff, total int
}

// p writes one instruction.
func (x *neon) p(format string, args ...any) { fmt.Fprintf(x.w, "\t"+format+"\n", args...) }

// op3, op2 and bits emit d = name(n, m), d = name(n) and a logical d = name(n, m).
func (x *neon) op3(name string, d, n, m int)  { x.p("%s", a64.Three(name, x.arr, d, n, m)) }
func (x *neon) op2(name string, d, n int)     { x.p("%s", a64.Two(name, x.arr, d, n)) }
func (x *neon) bits(name string, d, n, m int) { x.p("%s", a64.Three(name, a64.B16, d, n, m)) }
func (x *neon) mov(d, n int)                  { x.bits("orr", d, n, n) }
func (x *neon) not(d, n int)                  { x.p("%s", a64.Two("not", a64.B16, d, n)) }

func (x *neon) newLabel() string { x.label++; return fmt.Sprintf("l%d", x.label) }

// take and give manage the free vector registers, lowest first.
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

// layout computes the frame offsets of the arguments and the frame's size.
func (x *neon) layout() {
	off, slot, lds := 0, 0, 0
	for _, a := range x.k.Args {
		size := 8
		if a.Kind == ArgScalar && !x.perRow(a) {
			size = a.T.Size()
		} else {
			lds++
		}
		off = (off + size - 1) &^ (size - 1)
		x.argOff = append(x.argOff, off)
		ptr := ""
		if a.Kind != ArgScalar {
			Check(slot < 9, "%s: too many slices", x.k.Name)
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
		x.total = x.ldOff + 8*lds
		return
	}
	x.retOff = x.nOff + 8
	x.total = x.retOff + len(x.k.Accs)*x.k.Lane.Size()
}

// perRow reports whether a scalar argument is the address of a number for each row.
func (x *neon) perRow(a Arg) bool { return x.rows && x.k.perRow(a) }

// broadcast fills a register with a constant or a scalar argument.
func (x *neon) broadcast(v *Value, r int) {
	if v.op == opScalar {
		name, mov := x.k.Args[v.arg].Name, map[Type]string{F32: "S", F64: "D"}[x.k.Lane]
		if x.perRow(x.k.Args[v.arg]) {
			x.p("MOVD %s+%d(FP), R10", name, x.argOff[v.arg])
			x.p("FMOV%s (R10), F%d", mov, r)
		} else {
			x.p("FMOV%s %s+%d(FP), F%d", mov, name, x.argOff[v.arg], r)
		}
		x.p("VDUP V%d.%c[0], V%d.%s", r, x.arr.Go()[0], r, x.arr.Go())
		return
	}
	x.constant(v.bits, r)
}

// constant loads a constant from the pool.
func (x *neon) constant(bits uint64, r int) {
	x.p("FMOVQ %d(R11), F%d", x.pool.constant(x.k.Lane.Size(), bits), r)
}

// root is the value in whose register v is: a cast is another name for its operand.
func root(v *Value) *Value {
	for v.op == opCast {
		v = v.a[0]
	}
	return v
}

// signOp recognises the two bit operations on a constant that have an instruction of their own, and returns
// its name.
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

// fromMemory reports whether operand j of v is not kept in a register: a constant addend, which is loaded
// from the pool, or a constant that is part of the instruction.
func (x *neon) fromMemory(v *Value, j int) bool {
	return v.a[j].op == opConst && (j == 2 && (v.op == opFMA || v.op == opFNMA)) || j == 1 && x.signOp(v) != ""
}

// body emits one vector's worth of b. u is the number of the vector in an unrolled loop; masked selects the
// forms for the last, partial vector.
func (x *neon) body(b *Builder, u int, masked bool) {
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
		// result picks the register for a value that is written once: an operand's that ends here, or a new one. An
		// accumulator's sum is computed in place.
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
			// fmin and fmax give NaN when either operand is, and order zeros: that is what is asked for where the first
			// one is a constant other than these.
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
			if x.k.Lane == F64 {
				x.constant(math.Float64bits(0x1p63), v.reg)
			} else {
				x.constant(uint64(math.Float32bits(0x1p31)), v.reg)
			}
			x.op3("fcmgt", v.reg, v.reg, regs[0])
			x.op2("fcvtzs", t, regs[0])
			small := tmp()
			x.constant(1<<(8*x.k.Lane.Size()-1), small)
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
			name := map[int]string{EQ: "fcmeq", NEQ: "fcmeq", UNORD: "fcmeq", GT: "fcmgt", LT: "fcmgt", GE: "fcmge",
				LE: "fcmge"}[v.imm]
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

// isNaN reports whether a constant is NaN.
func isNaN(c *Value) bool {
	if c.t == F64 {
		return math.IsNaN(math.Float64frombits(c.bits))
	}
	return math.IsNaN(float64(math.Float32frombits(uint32(c.bits))))
}

// move emits a load or a store of one vector of elements of the argument's size, whole or in pieces. There
// are 4 or 2 lanes.
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

// at emits a label.
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
	case I16:
		for to := a64.S4; to <= x.arr; to++ {
			widen("sxtl", to)
		}
	case I32, U32:
		if x.arr == a64.D2 {
			widen(map[Type]string{I32: "sxtl", U32: "uxtl"}[a.T], a64.D2)
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
		Check(a.T.Size() == x.k.Lane.Size(), "%s: no NEON load of %s", x.k.Name, a.Name)
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
	case a.T == I16:
		for from := x.arr; from > a64.H8; from-- {
			narrow("xtn", from)
		}
	case a.T == I32 && x.arr == a64.D2:
		narrow("xtn", a64.D2)
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

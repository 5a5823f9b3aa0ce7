package main

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// This file turns a recorded body into AVX2 or AVX-512 assembly.
//
// Registers: pointers in ptrRegs in the order of the slice arguments, the
// number of elements left in BX, scratch in AX. K1 holds the mask of the last,
// partial vector on AVX-512; on AVX2 its masks are in Y15 (and Y14 for float32
// memory in float64 lanes). R14 (g) and R15 are never touched.
//
// Constants and scalar arguments are broadcast into registers before the loop
// as long as there are registers; the others are broadcast from memory at each
// use, which costs one load and no arithmetic port.

var ptrRegs = []string{"DI", "SI", "DX", "CX", "R8", "R9", "R10", "R11", "R12"}

type x86 struct {
	k    *Kernel
	isa  ISA
	w    *strings.Builder
	data *dataPool

	bytes  int    // vector size
	lanes  int    // lanes in a vector
	pfx    string // Y or Z
	fixed  map[*Value]int
	accReg []int // first register of each accumulator
	perAcc int   // registers per accumulator
	free   []int // allocatable vector registers
	kfree  []int // allocatable mask registers
	over   bool  // ran out of registers
	ptr    []string
	argOff []int
	used   int

	labels    int  // of the words in a masked load
	rows      bool // the form that walks rows
	strideOff int  // frame offset of the first row distance
	rowsOff   int  // frame offset of the number of rows
}

// dataPool collects the constants of all kernels of a file.
type dataPool struct {
	names map[string]bool
	text  strings.Builder
}

func (d *dataPool) constant(size int, bits uint64) string {
	n := fmt.Sprintf("c%d_%0*x", size*8, size*2, bits)
	if !d.names[n] {
		d.names[n] = true
		fmt.Fprintf(&d.text, "DATA %s<>+0(SB)/%d, $0x%0*x\nGLOBL %s<>(SB), RODATA|NOPTR, $%d\n", n, size, size*2, bits, n, size)
	}
	return n + "<>(SB)"
}

func (x *x86) p(format string, args ...any) { fmt.Fprintf(x.w, "\t"+format+"\n", args...) }

// sfx is S or D, isfx D or Q: the suffix of float and integer instructions.
func (x *x86) sfx() string {
	if x.k.Lane == F64 {
		return "D"
	}
	return "S"
}
func (x *x86) isfx() string {
	if x.k.Lane == F64 {
		return "Q"
	}
	return "D"
}

func (x *x86) v(r int) string { return fmt.Sprintf("%s%d", x.pfx, r) }

// layout computes the frame offsets of the arguments.
func (x *x86) layout() (nOff, retOff, total int) {
	off, slot := 0, 0
	for _, a := range x.k.Args {
		size := 8
		if a.Kind == ArgScalar {
			size = a.T.Size()
		}
		off = (off + size - 1) &^ (size - 1)
		x.argOff = append(x.argOff, off)
		if a.Kind == ArgScalar {
			x.ptr = append(x.ptr, "")
		} else {
			check(slot < len(ptrRegs), "%s: too many slices", x.k.Name)
			x.ptr = append(x.ptr, ptrRegs[slot])
			slot++
		}
		off += size
	}
	nOff = (off + 7) &^ 7
	if x.rows {
		x.rowsOff = nOff + 8
		x.strideOff = nOff + 16
		return nOff, 0, x.strideOff + 8*slot
	}
	retOff = nOff + 8
	total = retOff + len(x.k.Accs)*x.k.Lane.Size()
	return nOff, retOff, total
}

func (x *x86) constAddr(v *Value) string {
	if v.op == opScalar {
		return fmt.Sprintf("%s+%d(FP)", x.k.Args[v.arg].Name, x.argOff[v.arg])
	}
	return x.data.constant(x.k.Lane.Size(), v.bits)
}

func (x *x86) broadcast(v *Value, r int) {
	x.p("VBROADCASTS%s %s, %s", x.sfx(), x.constAddr(v), x.v(r))
}

// take and give manage the free vector registers, lowest first.
func (x *x86) take() int {
	if len(x.free) == 0 {
		x.over = true
		return 0
	}
	r := x.free[0]
	x.free = x.free[1:]
	x.used = max(x.used, r)
	return r
}
func (x *x86) give(r int) {
	i := sort.SearchInts(x.free, r)
	x.free = append(x.free[:i], append([]int{r}, x.free[i:]...)...)
}
func (x *x86) takeK() int {
	if len(x.kfree) == 0 {
		x.over = true
		return 0
	}
	r := x.kfree[0]
	x.kfree = x.kfree[1:]
	return r
}
func (x *x86) giveK(r int) {
	i := sort.SearchInts(x.kfree, r)
	x.kfree = append(x.kfree[:i], append([]int{r}, x.kfree[i:]...)...)
}

func isConst(v *Value) bool { return v.op == opConst || v.op == opScalar }

func (x *x86) maskInK(v *Value) bool { return v.t == Mask && x.isa == AVX512 }

// body emits one vector's worth of b. u numbers the vector in an unrolled
// loop; masked selects the masked forms for the last partial vector.
func (x *x86) body(b *B, u int, masked bool) { x.bodies([]*B{b}, u, masked) }

// bodies emits a vector's worth of each of several copies of a body, one
// operation of all of them after the other: a long chain of dependent
// operations then waits less than it would behind its own.
func (x *x86) bodies(copies []*B, u int, masked bool) {
	for _, b := range copies {
		// Liveness. A cast is another name for its operand's register, so its
		// uses extend the operand's life.
		for i, v := range b.vals {
			v.last = i
			for _, a := range v.a {
				root(a).last = i
			}
		}
	}
	for i := range copies[0].vals {
		for c, b := range copies {
			if x.step(b, i, u+c, masked); x.over {
				return
			}
		}
	}
}

// step emits operation i of a body.
func (x *x86) step(b *B, i, u int, masked bool) {
	v := b.vals[i]
	v.inAcc = false
	if v.op == opCast {
		return
	}
	if v.op == opAccIn {
		v.reg = x.accReg[v.arg] + u%x.perAcc
		return
	}
	var temps []int
	tmp := func() int { r := x.take(); temps = append(temps, r); return r }
	// Operand registers; constants that have none get a temporary.
	regs := make([]int, len(v.a))
	for j, a := range v.a {
		a = root(a)
		if isConst(a) {
			if r, ok := x.fixed[a]; ok {
				regs[j] = r
			} else {
				regs[j] = tmp()
				x.broadcast(a, regs[j])
			}
		} else {
			regs[j] = a.reg
		}
	}
	// Operands that end here give their registers back first, so that
	// the result may take one of them.
	dead := map[int]bool{}
	release := func() {
		for _, a := range v.a {
			a = root(a)
			if isConst(a) || a.op == opAccIn || a.last != i || dead[a.id] {
				continue
			}
			dead[a.id] = true
			if x.maskInK(a) {
				x.giveK(a.reg)
			} else {
				x.give(a.reg)
			}
		}
	}
	V := func(j int) string { return x.v(regs[j]) }
	// A value that only becomes the new accumulator is computed there.
	direct := -1
	if !masked && i+1 < len(b.vals) {
		if o := b.vals[i+1]; o.op == opAccOut && o.a[0] == v && v.last == i+1 {
			direct = x.accReg[o.arg] + u%x.perAcc
			v.inAcc = true
		}
	}
	op3 := func(name string) { // Go order: name second, first, dst
		release()
		if direct >= 0 && v.op == opAdd {
			v.reg = direct
			x.p("%s %s, %s, %s", name, V(1), V(0), x.v(v.reg))
			return
		}
		v.inAcc = false
		v.reg = x.take()
		x.p("%s %s, %s, %s", name, V(1), V(0), x.v(v.reg))
	}
	logic := func(name string) {
		if x.isa == AVX512 {
			op3("VP" + name + x.isfx())
		} else {
			op3("V" + name + "P" + x.sfx())
		}
	}
	switch v.op {
	case opLoad:
		x.load(v, u, masked)
	case opStore:
		x.store(v, regs[0], u, masked, tmp)
		release()
	case opAccOut:
		if v.a[0].inAcc {
			break // it is there already
		}
		acc := x.v(x.accReg[v.arg] + u%x.perAcc)
		switch {
		case !masked:
			x.p("VMOVAPS %s, %s", V(0), acc)
		case x.isa == AVX512:
			x.p("VMOVAP%s %s, K1, %s", x.sfx(), V(0), acc)
		default:
			x.p("VBLENDVP%s Y15, %s, %s, %s", x.sfx(), V(0), acc, acc)
		}
		release()
	case opAdd:
		op3("VADDP" + x.sfx())
	case opSub:
		op3("VSUBP" + x.sfx())
	case opMul:
		op3("VMULP" + x.sfx())
	case opDiv:
		op3("VDIVP" + x.sfx())
	case opMin:
		op3("VMINP" + x.sfx())
	case opMax:
		op3("VMAXP" + x.sfx())
	case opScale:
		op3("VSCALEFP" + x.sfx())
	case opIAdd:
		op3("VPADD" + x.isfx())
	case opISub:
		op3("VPSUB" + x.isfx())
	case opAnd, opIAnd:
		logic("AND")
	case opOr:
		logic("OR")
	case opXor:
		logic("XOR")
	case opSqrt:
		release()
		v.reg = x.take()
		x.p("VSQRTP%s %s, %s", x.sfx(), V(0), x.v(v.reg))
	case opRound:
		// Bit 3 keeps the inexact exception quiet.
		name := "VROUNDP"
		if x.isa == AVX512 {
			name = "VRNDSCALEP"
		}
		release()
		v.reg = x.take()
		x.p("%s%s $%d, %s, %s", name, x.sfx(), 8|v.imm, V(0), x.v(v.reg))
	case opI2F:
		release()
		v.reg = x.take()
		x.p("VCVTDQ2PS %s, %s", V(0), x.v(v.reg))
	case opF2I:
		release()
		v.reg = x.take()
		x.p("VCVTTPS2DQ %s, %s", V(0), x.v(v.reg))
	case opShl, opSra, opSrl:
		name := map[opcode]string{opShl: "VPSLL", opSra: "VPSRA", opSrl: "VPSRL"}[v.op] + x.isfx()
		release()
		v.reg = x.take()
		x.p("%s $%d, %s, %s", name, v.imm, V(0), x.v(v.reg))
	case opFMA, opFNMA:
		if acc := root(v.a[2]); direct >= 0 && acc.op == opAccIn && acc.reg == direct {
			v.reg = direct
			x.p("VF%sADD231P%s %s, %s, %s", map[opcode]string{opFMA: "M", opFNMA: "NM"}[v.op], x.sfx(), V(1), V(0), x.v(direct))
			release()
			break
		}
		v.inAcc = false
		x.fma(v, i, regs, temps)
		temps = nil
		for j, a := range v.a {
			a = root(a)
			// fma keeps the register that became the result and any
			// temporary; everything else that ends here is given back.
			if isConst(a) || a.op == opAccIn || a.last != i || dead[a.id] || regs[j] == v.reg {
				continue
			}
			dead[a.id] = true
			x.give(a.reg)
		}
	case opCmp:
		if x.isa == AVX512 {
			release()
			v.reg = x.takeK()
			x.p("VCMPP%s $0x%02x, %s, %s, K%d", x.sfx(), v.imm, V(1), V(0), v.reg)
		} else {
			release()
			v.reg = x.take()
			x.p("VCMPP%s $0x%02x, %s, %s, %s", x.sfx(), v.imm, V(1), V(0), x.v(v.reg))
		}
	case opMAnd, opMOr:
		name := map[opcode]string{opMAnd: "AND", opMOr: "OR"}[v.op]
		if x.isa == AVX512 {
			release()
			v.reg = x.takeK()
			x.p("K%sW K%d, K%d, K%d", name, regs[1], regs[0], v.reg)
		} else {
			logic(name)
		}
	case opSel:
		v.inAcc = false
		if x.isa == AVX512 {
			release()
			v.reg = x.take()
			x.p("VBLENDMP%s %s, %s, K%d, %s", x.sfx(), V(1), V(2), regs[0], x.v(v.reg))
		} else {
			release()
			v.reg = x.take()
			x.p("VBLENDVP%s %s, %s, %s, %s", x.sfx(), V(0), V(1), V(2), x.v(v.reg))
		}
	default:
		panic("no assembly for op")
	}
	for _, t := range temps {
		x.give(t)
	}
}

// fma picks the form whose destructive operand ends here: 231 overwrites the
// addend, 213 the first factor; otherwise the addend is copied.
func (x *x86) fma(v *Value, i int, regs, temps []int) {
	name := "VFMADD"
	if v.op == opFNMA {
		name = "VFNMADD"
	}
	isTemp := func(r int) bool {
		for _, t := range temps {
			if t == r {
				return true
			}
		}
		return false
	}
	mine := func(j int) bool {
		a := root(v.a[j])
		if isConst(a) {
			return isTemp(regs[j])
		}
		return a.last == i && a.op != opAccIn
	}
	V := func(j int) string { return x.v(regs[j]) }
	switch {
	case mine(2) && regs[2] != regs[0] && regs[2] != regs[1]:
		v.reg = regs[2]
		x.p("%s231P%s %s, %s, %s", name, x.sfx(), V(1), V(0), V(2))
	case mine(0) && regs[0] != regs[1] && regs[0] != regs[2]:
		v.reg = regs[0]
		x.p("%s213P%s %s, %s, %s", name, x.sfx(), V(2), V(1), V(0))
	case mine(1) && regs[1] != regs[0] && regs[1] != regs[2]:
		v.reg = regs[1]
		x.p("%s213P%s %s, %s, %s", name, x.sfx(), V(2), V(0), V(1))
	default:
		v.reg = x.take()
		x.p("VMOVAPS %s, %s", V(2), x.v(v.reg))
		x.p("%s231P%s %s, %s, %s", name, x.sfx(), V(1), V(0), x.v(v.reg))
	}
	for _, t := range temps {
		if t != v.reg {
			x.give(t)
		}
	}
}

func (x *x86) mem(arg, u int) string {
	off := u * x.lanes * x.k.Args[arg].T.Size()
	if off == 0 {
		return "(" + x.ptr[arg] + ")"
	}
	return fmt.Sprintf("%d(%s)", off, x.ptr[arg])
}

// load emits the widening load of one vector.
func (x *x86) load(v *Value, u int, masked bool) {
	a := x.k.Args[v.arg]
	m := x.mem(v.arg, u)
	wide := x.k.Lane == F64
	v.reg = x.take()
	d := x.v(v.reg)
	name := ""
	switch {
	case a.T == F32 && wide:
		name = "VCVTPS2PD"
	case a.T == F32:
		name = "VMOVUPS"
	case a.T == F64:
		name = "VMOVUPD"
	case a.T == I32 && wide:
		name = "VCVTDQ2PD"
	case a.T == I32:
		name = "VMOVDQU"
	case a.T == I64:
		name = "VMOVDQU"
	case a.T == U8:
		name = "VPMOVZXB" + x.isfx()
	case a.T == I8:
		name = "VPMOVSXB" + x.isfx()
	case a.T == F16:
		name = "VCVTPH2PS"
	case a.T == BF16:
		name = "VPMOVZXWD"
	}
	if x.isa == AVX512 {
		if name == "VMOVDQU" {
			name = fmt.Sprintf("VMOVDQU%d", 8*a.T.Size())
		}
		if masked {
			x.p("%s.Z %s, K1, %s", name, m, d)
		} else {
			x.p("%s %s, %s", name, m, d)
		}
	} else {
		switch {
		case !masked:
			x.p("%s %s, %s", name, m, d)
		case a.T.Size() == 2: // there is no masked load of words: one by one
			x.p("VPXOR X%d, X%d, X%d", v.reg, v.reg, v.reg)
			x.labels++
			for i := range x.lanes - 1 {
				x.p("CMPQ BX, $%d", i)
				x.p("JLE words%d", x.labels)
				x.p("VPINSRW $%d, %d(%s), X%d, X%d", i, 2*i, x.ptr[v.arg], v.reg, v.reg)
			}
			fmt.Fprintf(x.w, "words%d:\n", x.labels)
			x.p("%s X%d, %s", name, v.reg, d)
		case name == "VCVTPS2PD":
			x.p("VMASKMOVPS %s, X14, X%d", m, v.reg)
			x.p("VCVTPS2PD X%d, %s", v.reg, d)
		case a.T.Size() == 8:
			x.p("VMASKMOVPD %s, Y15, %s", m, d)
		default:
			x.p("VMASKMOVPS %s, Y15, %s", m, d)
		}
	}
	if a.T == BF16 {
		x.p("VPSLLD $16, %s, %s", d, d)
	}
	if v.t != Mask {
		return
	}
	if x.isa == AVX512 {
		r := v.reg
		v.reg = x.takeK()
		x.p("VPTESTM%s %s, %s, K%d", x.isfx(), d, d, v.reg)
		x.give(r)
		return
	}
	// 0 - x has the sign bit set unless x is 0; blends look at nothing else.
	z := x.take()
	x.p("VPXOR %s, %s, %s", x.v(z), x.v(z), x.v(z))
	x.p("VPSUB%s %s, %s, %s", x.isfx(), d, x.v(z), d)
	x.give(z)
}

// store emits the narrowing store of one vector.
func (x *x86) store(v *Value, r, u int, masked bool, tmp func() int) {
	a := x.k.Args[v.arg]
	m := x.mem(v.arg, u)
	wide := x.k.Lane == F64
	if x.isa == AVX512 {
		k := ""
		if masked {
			k = "K1, "
		}
		switch {
		case v.t == Mask:
			t := tmp()
			x.p("VMOVDQU8.Z ones<>(SB), K%d, X%d", r, t)
			switch {
			case masked:
				x.p("VMOVDQU8 X%d, K1, %s", t, m)
			case wide:
				x.p("VMOVQ X%d, %s", t, m)
			default:
				x.p("VMOVDQU X%d, %s", t, m)
			}
		case a.T == F32 && wide:
			t := tmp()
			x.p("VCVTPD2PS Z%d, Y%d", r, t)
			x.p("VMOVUPS Y%d, %s%s", t, k, m)
		case a.T == F16:
			x.p("VCVTPS2PH $0, Z%d, %s%s", r, k, m)
		case a.T == BF16:
			x.p("VPMOVDW Z%d, %s%s", r, k, m)
		case a.T == U8 || a.T == I8:
			x.p("VPMOV%sB Z%d, %s%s", x.isfx(), r, k, m)
		case a.T == I32 || a.T == I64:
			x.p("VMOVDQU%d Z%d, %s%s", 8*a.T.Size(), r, k, m)
		default:
			x.p("VMOVUP%s Z%d, %s%s", x.sfx(), r, k, m)
		}
		return
	}
	switch {
	case v.t == Mask || a.T == U8 || a.T == I8:
		check(!masked, "masked byte store on AVX2")
		t, t2 := tmp(), tmp()
		x.p("VEXTRACTF128 $1, Y%d, X%d", r, t)
		if wide {
			// Keep the low half of each 64-bit lane: 4 lanes of 32 bits.
			x.p("VSHUFPS $0x88, X%d, X%d, X%d", t, r, t)
			x.p("VPACKSSDW X%d, X%d, X%d", t, t, t)
		} else if v.t == Mask {
			x.p("VPACKSSDW X%d, X%d, X%d", t, r, t)
		} else {
			// Truncate to bytes first, so that the packs do not saturate.
			x.p("VMOVDQU bytemask<>(SB), X%d", t2)
			x.p("VPAND X%d, X%d, X%d", t2, t, t)
			x.p("VPAND X%d, X%d, X%d", t2, r, t2)
			x.p("VPACKUSDW X%d, X%d, X%d", t, t2, t)
		}
		if v.t == Mask {
			x.p("VPACKSSWB X%d, X%d, X%d", t, t, t)
			x.p("VPAND ones<>(SB), X%d, X%d", t, t)
		} else {
			x.p("VPACKUSWB X%d, X%d, X%d", t, t, t)
		}
		if wide {
			x.p("VMOVD X%d, %s", t, m)
		} else {
			x.p("VMOVQ X%d, %s", t, m)
		}
	case a.T == BF16:
		t := tmp()
		x.p("VEXTRACTI128 $1, Y%d, X%d", r, t)
		x.p("VPACKUSDW X%d, X%d, X%d", t, r, t)
		x.p("VMOVDQU X%d, %s", t, m)
	case a.T == F16:
		x.p("VCVTPS2PH $0, Y%d, %s", r, m)
	case a.T == F32 && wide:
		t := tmp()
		x.p("VCVTPD2PSY Y%d, X%d", r, t)
		if masked {
			x.p("VMASKMOVPS X%d, X14, %s", t, m)
		} else {
			x.p("VMOVUPS X%d, %s", t, m)
		}
	case masked:
		x.p("VMASKMOVP%s Y%d, Y15, %s", x.sfx(), r, m)
	default:
		x.p("VMOVUP%s Y%d, %s", x.sfx(), r, m)
	}
}

// advance moves the pointers and the count by n vectors.
func (x *x86) advance(n int) {
	for i, a := range x.k.Args {
		if a.Kind != ArgScalar {
			x.p("ADDQ $%d, %s", n*x.lanes*a.T.Size(), x.ptr[i])
		}
	}
	x.p("SUBQ $%d, BX", n*x.lanes)
}

// mixed reports float32 memory in float64 lanes, which needs a second mask.
func mixed(k *Kernel) bool {
	for _, a := range k.Args {
		if k.Lane == F64 && a.T == F32 && a.Kind != ArgScalar {
			return true
		}
	}
	return false
}

// tailMask loads the mask of the BX (fewer than a vector) elements left.
func (x *x86) tailMask() {
	if x.isa == AVX512 {
		x.p("MOVL $1, AX")
		x.p("SHLXQ BX, AX, AX")
		x.p("DECQ AX")
		x.p("KMOVW AX, K1")
		return
	}
	// 32 bytes of ones and then zeros: reading n lanes before the zeros gives
	// n lanes of ones.
	mask := func(size, reg int) {
		x.p("MOVQ BX, R13")
		x.p("SHLQ $%d, R13", int(math.Log2(float64(size))))
		x.p("NEGQ R13")
		x.p("LEAQ tailmask<>+32(SB), AX")
		x.p("VMOVDQU (AX)(R13*1), Y%d", reg)
	}
	mask(x.k.Lane.Size(), 15)
	if mixed(x.k) {
		mask(4, 14)
	}
}

// emitAsm writes the assembly of k for one instruction set.
func emitAsm(out *strings.Builder, data *dataPool, k *Kernel, isa ISA, rows bool) {
	b := record(k, isa)
	ops := 0
	for _, v := range b.vals {
		if v.op != opCast && v.op != opAccIn {
			ops++
		}
	}
	var consts []*Value
	uses := map[*Value]int{}
	for _, v := range b.vals {
		for _, a := range v.a {
			if isConst(a) {
				if uses[a] == 0 {
					consts = append(consts, a)
				}
				uses[a]++
			}
		}
	}
	sort.SliceStable(consts, func(i, j int) bool { return uses[consts[i]] > uses[consts[j]] })
	// Long bodies are interleaved as far as there are registers for the values of all copies and a third of the constants. The constants
	// that stay in memory cost a load where they are used.
	copies := 1
	if ops > 12 {
		copies = 4
	}
	if k.Copies > 0 {
		copies = k.Copies
	}
	for ; ; copies-- {
		least := (len(consts) + 2) / 3
		if copies == 1 {
			least = 0
		}
		// Hoist as many constants as leave enough registers for the body.
		for h := len(consts); h >= least; h-- {
			var w strings.Builder
			if tryAsm(&w, data, k, isa, rows, b, ops, copies, consts[:h], len(consts)) {
				out.WriteString(w.String())
				return
			}
		}
		check(copies > 1, "%s/%s: out of registers", k.Name, isa)
	}
}

func tryAsm(w *strings.Builder, data *dataPool, k *Kernel, isa ISA, rows bool, b *B, ops, copies int, hoisted []*Value, nconst int) bool {
	x := &x86{k: k, isa: isa, w: w, data: data, fixed: map[*Value]int{}, rows: rows}
	nreg := 16
	x.bytes, x.pfx = 32, "Y"
	if isa == AVX512 {
		x.bytes, x.pfx, nreg = 64, "Z", 32
		x.kfree = []int{2, 3, 4, 5, 6, 7}
	} else if !pureTail(k) {
		nreg--
		if mixed(k) {
			nreg--
		}
	}
	x.lanes = x.bytes / k.Lane.Size()
	next := 0
	for range k.Accs {
		x.perAcc = k.Lanes / x.lanes
		check(x.perAcc >= 1, "%s: too few accumulator lanes", k.Name)
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
	unroll := k.Unroll
	if unroll == 0 {
		switch {
		case ops <= 7:
			unroll = 4
		case ops <= 12:
			unroll = 2
		default:
			unroll = copies
		}
	}
	if len(k.Accs) > 0 {
		unroll = x.perAcc
	}
	for unroll%copies != 0 {
		copies--
	}
	bodies := []*B{b}
	for len(bodies) < copies {
		bodies = append(bodies, b.clone())
	}

	nOff, retOff, total := x.layout()
	name := goName(k, isa)
	if rows {
		name = rowsName(k, isa)
	}
	var sig []string
	for i, a := range k.Args {
		if a.Kind == ArgScalar {
			sig = append(sig, fmt.Sprintf("%s scalar", a.Name))
		} else {
			sig = append(sig, fmt.Sprintf("%s=%s %s", x.ptr[i], a.Name, a.T.Go()))
		}
	}
	together := ""
	if copies > 1 {
		together = fmt.Sprintf(", %d together", copies)
	}
	fmt.Fprintf(w, "// %s: %d lanes x %d%s. %s; BX=elements left.\n", name, x.lanes, unroll, together, strings.Join(sig, ", "))
	for i, a := range k.Accs {
		fmt.Fprintf(w, "// Accumulator %s: %s%d-%s%d.\n", a.Name, x.pfx, x.accReg[i], x.pfx, x.accReg[i]+x.perAcc-1)
	}
	if len(hoisted) > 0 {
		fmt.Fprintf(w, "// Constants: %s%d-%s%d", x.pfx, first, x.pfx, first+len(hoisted)-1)
		if nconst > len(hoisted) {
			fmt.Fprintf(w, " (%d more are read from memory)", nconst-len(hoisted))
		}
		fmt.Fprintf(w, ".\n")
	}
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $0-%d\n", name, total)
	for i, a := range k.Args {
		if a.Kind != ArgScalar {
			x.p("MOVQ %s+%d(FP), %s", a.Name, x.argOff[i], x.ptr[i])
		}
	}
	if !rows {
		x.p("MOVQ n+%d(FP), BX", nOff)
	}
	for _, c := range hoisted {
		x.broadcast(c, x.fixed[c])
	}
	for i, a := range k.Accs {
		for j := 0; j < x.perAcc; j++ {
			r := x.accReg[i] + j
			switch {
			case j > 0:
				x.p("VMOVAPS %s, %s", x.v(x.accReg[i]), x.v(r))
			case a.Init == 0:
				x.p("VPXOR X%d, X%d, X%d", r, r, r)
			default:
				bits := math.Float64bits(a.Init)
				if k.Lane == F32 {
					bits = uint64(math.Float32bits(float32(a.Init)))
				}
				x.p("VBROADCASTS%s %s, %s", x.sfx(), data.constant(k.Lane.Size(), bits), x.v(r))
			}
		}
	}
	label := func(s string) { fmt.Fprintf(w, "%s:\n", s) }

	if rows {
		label("row")
		x.p("MOVQ n+%d(FP), BX", nOff)
	}
	loop := func(name string, ahead bool) {
		label(name)
		if ahead {
			x.prefetch(unroll)
		}
		for u := 0; u < unroll; u += copies {
			x.bodies(bodies, u, false)
		}
		x.advance(unroll)
		x.p("CMPQ BX, $%d", unroll*x.lanes)
		x.p("JGE " + name)
	}
	if !rows && len(k.Accs) == 0 {
		x.p("CMPQ BX, $%d", longRun)
		x.p("JLT short")
		loop("long", true)
		x.p("JMP single")
		label("short")
	}
	if unroll > 1 || len(k.Accs) > 0 {
		x.p("CMPQ BX, $%d", unroll*x.lanes)
		x.p("JLT single")
		loop("loop", false)
	}
	label("single")
	if len(k.Accs) == 0 {
		x.p("CMPQ BX, $%d", x.lanes)
		x.p("JLT tail")
		label("one")
		x.body(b, 0, false)
		x.advance(1)
		x.p("CMPQ BX, $%d", x.lanes)
		x.p("JGE one")
		label("tail")
		if isa == AVX512 || !pureTail(k) {
			x.p("TESTQ BX, BX")
			x.p("JEQ done")
			x.tailMask()
			x.body(b, 0, true)
		}
	} else {
		// What is left goes to the accumulators in order, so that element i
		// always meets lane i mod Lanes.
		for u := 0; u < unroll; u++ {
			x.p("CMPQ BX, $%d", x.lanes)
			x.p("JLT part%d", u)
			x.bodyAt(b, u, false)
			x.advance(1)
		}
		x.p("JMP done")
		for u := 0; u < unroll; u++ {
			label(fmt.Sprintf("part%d", u))
			x.p("TESTQ BX, BX")
			x.p("JEQ done")
			x.tailMask()
			x.bodyAt(b, u, true)
			if u < unroll-1 {
				x.p("JMP done")
			}
		}
	}
	label("done")
	if rows {
		x.nextRow()
	}
	for i, a := range k.Accs {
		x.fold(i, a.Comb)
		x.p("VMOVS%s X%d, %s+%d(FP)", x.sfx(), x.accReg[i], a.Name, retOff+i*k.Lane.Size())
	}
	x.p("VZEROUPPER")
	x.p("RET")
	fmt.Fprintln(w)
	return !x.over
}

// A call on longRun elements is most likely a part of an array that no close cache holds: it fetches lines ahead by itself, which the
// processor does for each page anew and not across their ends. Shorter calls would pay for it and gain nothing, and so would
// reductions, which only read.
const (
	longRun = 16384 // chunk in the Go code
	ahead   = 1024  // bytes
)

// prefetch emits the fetches of what n vectors will need later.
func (x *x86) prefetch(n int) {
	for i, a := range x.k.Args {
		if a.Kind != ArgScalar {
			for off := 0; off < n*x.lanes*a.T.Size(); off += 64 {
				x.p("PREFETCHT0 %d(%s)", off+ahead, x.ptr[i])
			}
		}
	}
}

// nextRow moves to the next row; the frame's arguments hold where the present one begins.
func (x *x86) nextRow() {
	slot := 0
	for i, a := range x.k.Args {
		if a.Kind == ArgScalar {
			continue
		}
		x.p("MOVQ %s+%d(FP), %s", a.Name, x.argOff[i], x.ptr[i])
		x.p("ADDQ ld_%s+%d(FP), %s", a.Name, x.strideOff+8*slot, x.ptr[i])
		x.p("MOVQ %s, %s+%d(FP)", x.ptr[i], a.Name, x.argOff[i])
		slot++
	}
	x.p("DECQ rows+%d(FP)", x.rowsOff)
	x.p("JNE row")
}

// bodyAt emits a body on accumulator u, reading at the pointers themselves.
func (x *x86) bodyAt(b *B, u int, masked bool) {
	for i := range x.accReg {
		x.accReg[i] += u
	}
	x.body(b, 0, masked)
	for i := range x.accReg {
		x.accReg[i] -= u
	}
}

// fold reduces accumulator i to its lane 0.
func (x *x86) fold(i int, comb string) {
	r := x.accReg[i]
	for m := x.perAcc / 2; m > 0; m /= 2 {
		for j := 0; j < m; j++ {
			x.combine(x.pfx, comb, r+j, r+j+m)
		}
	}
	t := x.take()
	if x.isa == AVX512 {
		x.p("VEXTRACTF64X4 $1, Z%d, Y%d", r, t)
		x.combine("Y", comb, r, t)
	}
	extract := "VEXTRACTF128"
	if t > 15 { // the constants have the lower ones
		extract = "VEXTRACTF32X4"
	}
	x.p("%s $1, Y%d, X%d", extract, r, t)
	x.combine("X", comb, r, t)
	if x.k.Lane == F64 {
		x.p("VPERMILPD $1, X%d, X%d", r, t)
		x.combine("X", comb, r, t)
	} else {
		x.p("VPERMILPS $0x0e, X%d, X%d", r, t)
		x.combine("X", comb, r, t)
		x.p("VPERMILPS $0x01, X%d, X%d", r, t)
		x.combine("X", comb, r, t)
	}
	x.give(t)
}

// combine emits a = comb(a, b) at one register width; NaN in either operand
// gives NaN.
func (x *x86) combine(pfx, comb string, a, b int) {
	A, B := fmt.Sprintf("%s%d", pfx, a), fmt.Sprintf("%s%d", pfx, b)
	if comb == "add" {
		x.p("VADDP%s %s, %s, %s", x.sfx(), B, A, A)
		return
	}
	// MAXPS and MINPS give b when either is NaN: only a NaN in a is lost.
	t := x.take()
	T := fmt.Sprintf("%s%d", pfx, t)
	x.p("V%sP%s %s, %s, %s", strings.ToUpper(comb), x.sfx(), B, A, T)
	if pfx == "Z" {
		x.p("VCMPP%s $3, %s, %s, K2", x.sfx(), A, A)
		x.p("VBLENDMP%s %s, %s, K2, %s", x.sfx(), A, T, A)
	} else {
		t2 := x.take()
		x.p("VCMPP%s $3, %s, %s, %s%d", x.sfx(), A, A, pfx, t2)
		x.p("VBLENDVP%s %s%d, %s, %s, %s", x.sfx(), pfx, t2, A, T, A)
		x.give(t2)
	}
	x.give(t)
}

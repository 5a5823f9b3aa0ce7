package kernel

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// This file turns a recorded body into AVX2 or AVX-512 assembly.
//
// Registers: the pointers of the slice arguments are in ptrRegs, in their order; the number of elements left
// is in BX; AX is scratch. On AVX-512, K1 holds the mask of the last, partial vector. On AVX2 that mask is in
// Y15, and a second one, for float32 memory in float64 lanes, in Y14. R14 (the g of the goroutine) and R15
// are never touched.
//
// Constants and scalar arguments are broadcast into registers before the loop, as long as there are
// registers. The other constants are operands in memory where an instruction takes one: AVX-512 broadcasts
// such an operand itself, for AVX2 it stands in memory as a whole vector. The constants that are left are
// broadcast at each use.

var ptrRegs = []string{"DI", "SI", "DX", "CX", "R8", "R9", "R10", "R11", "R12"}

// x86 is a function being written.
type x86 struct {
	k    *Kernel
	isa  ISA
	w    *strings.Builder
	data *X86Constants

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

	labels             int  // number of labels that loads and stores have used
	nonTemporalAllowed bool // the function knows NonTemporalBit
	bothStores         bool // normal and non-temporal stores stand beside each other, R13 chooses
	farPrefetch        bool // the distance of prefetches is in farRegister
	nonTemporal        bool // the store being emitted is non-temporal
	mayBeWhole         bool // a masked body may have a whole vector left
	rows               bool // the form that walks rows
	strideOff          int  // frame offset of the first row distance
	rowsOff            int  // frame offset of the number of rows
}

// X86Constants collects the constants of all kernels of an assembly file.
type X86Constants struct {
	names map[string]bool
	text  strings.Builder
}

// NewX86Constants is an empty collection.
func NewX86Constants() *X86Constants { return &X86Constants{names: map[string]bool{}} }

// File returns a whole assembly file: the constants, the masks and tables that every kernel may use, and the kernels.
func (d *X86Constants) File(banner string, isa ISA, kernels string) string {
	var b strings.Builder
	b.WriteString(banner + "//go:build !purego\n\n#include \"textflag.h\"\n\n")
	b.WriteString("// Every function handles n elements with vectors, the last ones under a mask,\n// and calls " +
		"nothing: the Go callers keep n small enough for pre-emption.\n\n")
	b.WriteString(d.text.String())
	data := func(name string, words ...uint64) {
		for i, w := range words {
			fmt.Fprintf(&b, "DATA %s<>+%d(SB)/8, $0x%016x\n", name, 8*i, w)
		}
		fmt.Fprintf(&b, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", name, 8*len(words))
	}
	data("ones", 0x0101010101010101, 0x0101010101010101)
	if isa == AVX2 {
		const all = 1<<64 - 1
		// All ones and then zeros: the 32 bytes that begin n lanes before the zeros have n lanes of ones.
		data("tailmask", all, all, all, all, 0, 0, 0, 0)
		// Shuffles that move bytes to the front: the 16 bytes that begin n bytes before the middle move the last n.
		data("shifts", 0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x8080808080808080, 0x8080808080808080)
		// A shuffle that puts eight numbers of 16 bits into the upper halves of 32 bits: bfloat16 to float32.
		data("upperhalves", 0x0302808001008080, 0x0706808005048080, 0x0b0a808009088080, 0x0f0e80800d0c8080)
		data("bytemask", 0x000000ff000000ff, 0x000000ff000000ff)
	}
	return b.String() + "\n" + kernels
}

// Constant returns the address of one number with the given size in bytes and bits.
func (d *X86Constants) Constant(size int, bits uint64) string {
	n := fmt.Sprintf("c%d_%0*x", size*8, size*2, bits)
	if !d.names[n] {
		d.names[n] = true
		fmt.Fprintf(&d.text, "DATA %s<>+0(SB)/%d, $0x%0*x\nGLOBL %s<>(SB), RODATA|NOPTR, $%d\n", n, size, size*2, bits,
			n, size)
	}
	return n + "<>(SB)"
}

// vector returns the address of a constant that is repeated over a vector of AVX2.
func (d *X86Constants) vector(size int, bits uint64) string {
	n := fmt.Sprintf("v%d_%0*x", size*8, size*2, bits)
	if !d.names[n] {
		d.names[n] = true
		if size == 4 {
			bits |= bits << 32
		}
		for i := 0; i < 32; i += 8 {
			fmt.Fprintf(&d.text, "DATA %s<>+%d(SB)/8, $0x%016x\n", n, i, bits)
		}
		fmt.Fprintf(&d.text, "GLOBL %s<>(SB), RODATA|NOPTR, $32\n", n)
	}
	return n + "<>(SB)"
}

// table declares a table and returns its name.
func (d *X86Constants) table(t *Table) string {
	if !d.names[t.Name] {
		d.names[t.Name] = true
		d.text.WriteString(t.declaration())
	}
	return t.Name
}

// p writes one instruction.
func (x *x86) p(format string, args ...any) { fmt.Fprintf(x.w, "\t"+format+"\n", args...) }

// sfx is S or D, isfx D or Q: the suffixes of floating and integer instructions for the lane type.
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

// v names vector register r.
func (x *x86) v(r int) string { return fmt.Sprintf("%s%d", x.pfx, r) }

// layout computes the frame offsets of the arguments, the results and the frame's size.
func (x *x86) layout() (nOff, retOff, total int) {
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
		if a.Kind == ArgScalar {
			x.ptr = append(x.ptr, "")
		} else {
			Check(slot < len(ptrRegs), "%s: too many slices", x.k.Name)
			x.ptr = append(x.ptr, ptrRegs[slot])
			slot++
		}
		off += size
	}
	nOff = (off + 7) &^ 7
	if x.rows {
		x.rowsOff = nOff + 8
		x.strideOff = nOff + 16
		retOff = x.strideOff + 8*lds
		return nOff, retOff, retOff + 8*len(x.k.Accs)
	}
	retOff = nOff + 8
	total = retOff + len(x.k.Accs)*x.k.Lane.Size()
	return nOff, retOff, total
}

// perRow reports whether a scalar argument is the address of a number for each row.
func (x *x86) perRow(a Arg) bool { return x.rows && x.k.perRow(a) }

// constAddr is the address of a constant or a scalar argument.
func (x *x86) constAddr(v *Value) string {
	if v.op == opScalar {
		if x.perRow(x.k.Args[v.arg]) {
			x.p("MOVQ %s+%d(FP), AX", x.k.Args[v.arg].Name, x.argOff[v.arg])
			return "(AX)"
		}
		return fmt.Sprintf("%s+%d(FP)", x.k.Args[v.arg].Name, x.argOff[v.arg])
	}
	return x.data.Constant(x.k.Lane.Size(), v.bits)
}

// broadcast fills a register with a constant, a scalar or a table.
func (x *x86) broadcast(v *Value, r int) {
	if v.op == opTable {
		x.p("VMOVUPS %s<>(SB), %s", x.data.table(v.tab), x.v(r))
		return
	}
	x.p("VBROADCASTS%s %s, %s", x.sfx(), x.constAddr(v), x.v(r))
}

// take and give manage the free vector registers, lowest first; takeK and giveK the free mask registers.
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

func isConst(v *Value) bool { return v.op == opConst || v.op == opScalar || v.op == opTable }

// maskInK reports whether a value is a truth value in a mask register.
func (x *x86) maskInK(v *Value) bool { return v.t == Mask && x.isa == AVX512 }

// body emits one vector's worth of b. u numbers the vector in an unrolled
// loop; masked selects the masked forms for the last partial vector.
func (x *x86) body(b *Builder, u int, masked bool) { x.bodies([]*Builder{b}, u, masked) }

// bodies emits one vector's worth of each of several copies of a body, interleaved: operation 0 of all
// copies, operation 1 of all copies, and so on. A long chain of dependent operations then waits less than if
// the copies came one after the other.
func (x *x86) bodies(copies []*Builder, u int, masked bool) {
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
	for i, v := range copies[0].vals {
		if v.op == opStore && x.bothStores {
			x.storeNonTemporal(copies, i, u)
		}
		for c, b := range copies {
			if x.step(b, i, u+c, masked); x.over {
				return
			}
		}
		if v.op == opStore && x.bothStores {
			fmt.Fprintf(x.w, "stored%d:\n", x.labels)
		}
	}
}

// storeNonTemporal emits the non-temporal stores of operation i of the bodies, which are executed when R13 is
// not 0.
func (x *x86) storeNonTemporal(copies []*Builder, i, u int) {
	x.labels++
	x.p("TESTQ R13, R13")
	x.p("JEQ keep%d", x.labels)
	x.nonTemporal = true
	for c, b := range copies {
		v := b.vals[i]
		a := root(v.a[0])
		r, ok := x.fixed[a]
		if !ok {
			Check(!isConst(a), "%s: a constant in memory is stored", x.k.Name)
			r = a.reg
		}
		var temps []int
		x.store(v, r, u+c, false, func() int { temps = append(temps, x.take()); return temps[len(temps)-1] })
		for _, t := range temps {
			x.give(t)
		}
	}
	x.nonTemporal = false
	x.p("JMP stored%d", x.labels)
	fmt.Fprintf(x.w, "keep%d:\n", x.labels)
}

// step emits operation i of a body.
func (x *x86) step(b *Builder, i, u int, masked bool) {
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
	// Operand registers; of the constants that have none one may be an operand in memory, the others get a temporary.
	regs := make([]int, len(v.a))
	mem := x.memoryOperand(v, i)
	for j, a := range v.a {
		a = root(a)
		if isConst(a) {
			if r, ok := x.fixed[a]; ok {
				regs[j] = r
			} else if j == mem {
				regs[j] = inMemory
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
	V := func(j int) string { return x.operand(v, regs, j) }
	bcst := ""
	if mem >= 0 && x.isa == AVX512 {
		bcst = ".BCST"
	}
	// A value that only becomes the new accumulator is computed there.
	direct := -1
	if !masked && i+1 < len(b.vals) {
		if o := b.vals[i+1]; o.op == opAccOut && o.a[0] == v && v.last == i+1 {
			direct = x.accReg[o.arg] + u%x.perAcc
			v.inAcc = true
		}
	}
	op3 := func(name string) { // Go order: name second, first, dst
		name += bcst
		if mem == 0 { // they may be exchanged
			regs[0], regs[1] = regs[1], regs[0]
			v.a[0], v.a[1] = v.a[1], v.a[0]
		}
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
	case opBound:
		release()
		v.reg = x.take()
		x.p("VRANGEP%s%s $2, %s, %s, %s", x.sfx(), bcst, V(1), V(0), x.v(v.reg))
	case opMantissa:
		release()
		v.reg = x.take()
		x.p("VGETMANTP%s $3, %s, %s", x.sfx(), V(0), x.v(v.reg))
	case opExponent:
		release()
		v.reg = x.take()
		x.p("VGETEXPP%s %s, %s", x.sfx(), V(0), x.v(v.reg))
	case opFixup, opOrAnd: // they overwrite their first operand
		name := fmt.Sprintf("VFIXUPIMMP%s%s $0, %s, %s,", x.sfx(), bcst, V(2), V(1))
		if v.op == opOrAnd {
			name = fmt.Sprintf("VPTERNLOG%s%s $0xf8, %s, %s,", x.isfx(), bcst, V(2), V(1))
		}
		if root(v.a[0]) != root(v.a[1]) && x.lifeEnds(v, 0, i) {
			v.reg = regs[0]
			dead[root(v.a[0]).id] = true
		} else {
			v.reg = x.take()
			x.p("VMOVAPS %s, %s", V(0), x.v(v.reg))
		}
		x.p("%s %s", name, x.v(v.reg))
		release()
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
		if x.isa == AVX2 && x.k.Lane == F64 {
			x.int64sToFloat32(v, regs[0], tmp)
			release()
			break
		}
		release()
		v.reg = x.take()
		switch {
		case v.t == F64:
			x.p("VCVTQQ2PD %s, %s", V(0), x.v(v.reg))
		case x.k.Lane == F64: // into the lower half
			x.p("VCVTQQ2PS %s, Y%d", V(0), v.reg)
		default:
			x.p("VCVTDQ2PS %s, %s", V(0), x.v(v.reg))
		}
	case opF2I:
		release()
		v.reg = x.take()
		x.p("VCVTTP%s2%sQ %s, %s", x.sfx(), map[Type]string{F32: "D", F64: "Q"}[x.k.Lane], V(0), x.v(v.reg))
	case opLookup:
		release()
		v.reg = x.take()
		x.p("VPERMPS %s, %s, %s", V(1), V(0), x.v(v.reg))
	case opShl, opSra, opSrl:
		name := map[opcode]string{opShl: "VPSLL", opSra: "VPSRA", opSrl: "VPSRL"}[v.op] + x.isfx()
		release()
		v.reg = x.take()
		x.p("%s $%d, %s, %s", name, v.imm, V(0), x.v(v.reg))
	case opFMA, opFNMA:
		if acc := root(v.a[2]); direct >= 0 && acc.op == opAccIn && acc.reg == direct {
			v.reg = direct
			f0, f1 := V(0), V(1)
			if mem == 0 {
				f0, f1 = f1, f0
			}
			x.p("VF%sADD231P%s%s %s, %s, %s", map[opcode]string{opFMA: "M", opFNMA: "NM"}[v.op], x.sfx(), bcst, f1, f0,
				x.v(direct))
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
			x.p("VCMPP%s%s $0x%02x, %s, %s, K%d", x.sfx(), bcst, v.imm, V(1), V(0), v.reg)
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
			x.p("VBLENDMP%s%s %s, %s, K%d, %s", x.sfx(), bcst, V(1), V(2), regs[0], x.v(v.reg))
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

// int64sToFloat32 converts the int64 lanes of register r to float32 in the lower half of v on AVX2, which has
// that conversion for a single number only.
func (x *x86) int64sToFloat32(v *Value, r int, tmp func() int) {
	high, t := tmp(), tmp()
	v.reg = x.take()
	x.p("VEXTRACTI128 $1, Y%d, X%d", r, high)
	for i, from := range []int{r, high} {
		d := []int{v.reg, high}[i]
		x.p("VPEXTRQ $1, X%d, AX", from)
		x.p("VPXOR X%d, X%d, X%d", t, t, t) // the conversion keeps the other lanes of an operand
		x.p("VCVTSI2SSQ AX, X%d, X%d", t, t)
		x.p("VMOVQ X%d, AX", from)
		x.p("VPXOR X%d, X%d, X%d", d, d, d)
		x.p("VCVTSI2SSQ AX, X%d, X%d", d, d)
		x.p("VUNPCKLPS X%d, X%d, X%d", t, d, d)
	}
	x.p("VMOVLHPS X%d, X%d, X%d", high, v.reg, v.reg)
}

// inMemory stands for the register of a constant that is an operand in memory.
const inMemory = -1

// memoryOperand is the index of the operand of operation i that may be a constant in memory, -1 if there is
// none.
func (x *x86) memoryOperand(v *Value, i int) int {
	free := func(j int) bool {
		a := root(v.a[j])
		_, ok := x.fixed[a]
		return a.op == opConst && !ok
	}
	switch v.op {
	case opAdd, opMul, opAnd, opOr, opXor, opIAdd, opIAnd:
		if free(0) && !free(1) {
			return 0
		}
		fallthrough
	case opSub, opDiv, opMin, opMax, opISub, opScale, opBound, opCmp, opSel:
		if free(1) {
			return 1
		}
	case opFixup, opOrAnd:
		if free(2) {
			return 2
		}
	case opLookup:
		if _, ok := x.fixed[v.a[1]]; !ok {
			return 1
		}
	case opFMA, opFNMA:
		for j := range 2 { // a factor
			if free(j) {
				return j
			}
		}
		// The addend, if a factor ends here, whose register becomes the result.
		if free(2) && root(v.a[0]) != root(v.a[1]) && (x.lifeEnds(v, 0, i) || x.lifeEnds(v, 1, i)) {
			return 2
		}
	}
	return -1
}

// lifeEnds reports whether the life of operand j ends with operation i, so that its register may be
// overwritten.
func (x *x86) lifeEnds(v *Value, j, i int) bool {
	a := root(v.a[j])
	return !isConst(a) && a.last == i && a.op != opAccIn
}

// operand is the text of operand j.
func (x *x86) operand(v *Value, regs []int, j int) string {
	if regs[j] != inMemory {
		return x.v(regs[j])
	}
	if v.op == opLookup {
		return x.data.table(v.a[j].tab) + "<>(SB)"
	}
	size, bits := x.k.Lane.Size(), root(v.a[j]).bits
	if x.isa == AVX512 {
		return x.data.Constant(size, bits)
	}
	return x.data.vector(size, bits)
}

// fma picks the form of the multiply-add whose destructive operand is not needed afterwards: 231 overwrites
// the addend, 213 the first factor, 132 the first factor with the other factor in memory. If all operands are
// needed, the addend is copied.
func (x *x86) fma(v *Value, i int, regs, temps []int) {
	name, form := "VFMADD", "P"+x.sfx()
	if v.op == opFNMA {
		name = "VFNMADD"
	}
	mem := slices.Index(regs, inMemory)
	if mem >= 0 && x.isa == AVX512 {
		form += ".BCST"
	}
	mine := func(j int) bool { return x.lifeEnds(v, j, i) || slices.Contains(temps, regs[j]) }
	V := func(j int) string { return x.operand(v, regs, j) }
	first, second := 0, 1 // of the factors; only the second may be in memory
	if mem == 0 {
		first, second = 1, 0
	}
	switch {
	case mine(2) && regs[2] != regs[0] && regs[2] != regs[1]:
		v.reg = regs[2]
		x.p("%s231%s %s, %s, %s", name, form, V(second), V(first), V(2))
	case mine(first) && regs[first] != regs[second] && regs[first] != regs[2] && mem == second:
		v.reg = regs[first]
		x.p("%s132%s %s, %s, %s", name, form, V(second), V(2), V(first))
	case mine(0) && regs[0] != regs[1] && regs[0] != regs[2]:
		v.reg = regs[0]
		x.p("%s213%s %s, %s, %s", name, form, V(2), V(1), V(0))
	case mine(1) && regs[1] != regs[0] && regs[1] != regs[2]:
		v.reg = regs[1]
		x.p("%s213%s %s, %s, %s", name, form, V(2), V(0), V(1))
	default:
		v.reg = x.take()
		x.p("VMOVAPS %s, %s", V(2), x.v(v.reg))
		x.p("%s231%s %s, %s, %s", name, form, V(second), V(first), x.v(v.reg))
	}
	for _, t := range temps {
		if t != v.reg {
			x.give(t)
		}
	}
}

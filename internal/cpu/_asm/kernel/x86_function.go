package kernel

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// This file puts the bodies of x86.go into functions: register budgets, loops, rows, folds of accumulators.

// EmitX86 writes the assembly of k for one instruction set; with rows, the form that walks rows.
func EmitX86(out *strings.Builder, data *X86Constants, k *Kernel, isa ISA, rows bool) {
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
		for j, a := range v.a {
			if isConst(a) {
				if uses[a] == 0 {
					consts = append(consts, a)
				}
				uses[a]++
				if isa == AVX2 && registerOnly(v, j) {
					uses[a] += 10 // each use would cost a broadcast
				}
				if a.op == opTable {
					uses[a] += 10 // the linker may lay tables across lines
				}
				if rows && a.op == opScalar && k.PerRow {
					uses[a] += 100 // an address is read first
				}
			}
		}
	}
	sort.SliceStable(consts, func(i, j int) bool { return uses[consts[i]] > uses[consts[j]] })
	// Long bodies are interleaved as far as there are registers for the values of all copies and, from three on, a
	// third of the constants. Two copies are worth more than constants in registers: those in memory cost a load where
	// they are used.
	copies := 1
	if ops > 12 {
		copies = 4
	}
	if k.Copies > 0 {
		copies = k.Copies
	}
	for ; ; copies-- {
		least := (len(consts) + 2) / 3
		if copies <= 2 {
			least = 0
		}
		// Hoist as many constants as leave enough registers for the body.
		for h := len(consts); h >= least; h-- {
			var w strings.Builder
			if tryX86(&w, data, k, isa, rows, b, ops, copies, consts[:h], len(consts)) {
				out.WriteString(w.String())
				return
			}
		}
		if isa == AVX2 && copies == 2 && len(k.Accs) == 0 { // AVX2 has few registers, and long chains want company
			if n := fewestRegisters(b); n != nil {
				var w strings.Builder
				if tryX86(&w, data, k, isa, rows, n, ops, copies, nil, len(consts)) {
					out.WriteString(w.String())
					return
				}
			}
		}
		Check(copies > 1, "%s/%s: out of registers", k.Name, isa)
	}
}

// registerOnly reports that operand j of v, a constant, cannot be read from memory by the instruction itself.
func registerOnly(v *Value, j int) bool {
	switch v.op {
	case opAdd, opMul, opAnd, opOr, opXor, opIAdd, opIAnd:
		return false
	case opFMA, opFNMA:
		return j == 2 && (isConst(v.a[0]) || isConst(v.a[1]))
	}
	return j != 1
}

// tryX86 writes the assembly with the given number of interleaved copies and the given constants in
// registers, and reports whether the registers were enough.
func tryX86(w *strings.Builder, data *X86Constants, k *Kernel, isa ISA, rows bool, b *Builder, ops, copies int,
	hoisted []*Value, nconst int) bool {
	x := &x86{k: k, isa: isa, w: w, data: data, fixed: map[*Value]int{}, rows: rows}
	nreg := 16
	x.bytes, x.pfx = 32, "Y"
	if isa == AVX512 {
		x.bytes, x.pfx, nreg = 64, "Z", 32
		x.kfree = []int{2, 3, 4, 5, 6, 7}
	} else {
		nreg--
		if hasHalfWidthMemory(k) {
			nreg--
		}
	}
	x.lanes = x.bytes / k.Lane.Size()
	next := 0
	for range k.Accs {
		x.perAcc = k.Lanes / x.lanes
		Check(x.perAcc >= 1, "%s: too few accumulator lanes", k.Name)
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
	bodies := []*Builder{b}
	for len(bodies) < copies {
		bodies = append(bodies, b.clone())
	}

	nOff, retOff, total := x.layout()
	name := GoName(k, isa)
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
	fmt.Fprintf(w, "// %s: %d lanes x %d%s. %s; BX=elements left.\n", name, x.lanes, unroll, together,
		strings.Join(sig, ", "))
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
	x.nonTemporalAllowed = !rows && storesNonTemporal(k, isa)
	if !rows {
		x.p("MOVQ n+%d(FP), BX", nOff)
	}
	if x.nonTemporalAllowed {
		x.p("MOVQ BX, R13")
		x.p("SHRQ $%d, R13", NonTemporalBit)
		x.p("BTRQ $%d, BX", NonTemporalBit)
	}
	every := func(c *Value) bool { return c.op == opScalar && x.perRow(k.Args[c.arg]) }
	for _, c := range hoisted {
		if !every(c) {
			x.broadcast(c, x.fixed[c])
		}
	}
	label := func(s string) { fmt.Fprintf(w, "%s:\n", s) }

	if rows {
		label("row")
		x.p("MOVQ n+%d(FP), BX", nOff)
		for _, c := range hoisted {
			if every(c) {
				x.broadcast(c, x.fixed[c])
			}
		}
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
				x.p("VBROADCASTS%s %s, %s", x.sfx(), data.Constant(k.Lane.Size(), bits), x.v(r))
			}
		}
	}

	loop := func(name string, fetch func(n int)) {
		label(name)
		if fetch != nil {
			fetch(unroll)
		}
		for u := 0; u < unroll; u += copies {
			x.bodies(bodies, u, false)
		}
		x.advance(unroll)
		x.p("CMPQ BX, $%d", unroll*x.lanes)
		x.p("JGE " + name)
	}
	// Of a long body there are but two copies of the code: what it computes hides the fetches ahead, and its tail takes
	// whole vectors, too.
	heavy := ops > 24 && len(k.Accs) == 0
	if !rows && len(k.Accs) == 0 && !heavy {
		if x.nonTemporalAllowed {
			x.p("TESTQ R13, R13")
			x.p("JEQ near")
			x.p("CMPQ BX, $%d", unroll*x.lanes)
			x.p("JLT single")
			if x.inputs() > 1 {
				x.setFarRegister()
			}
			x.nonTemporal = true
			loop("past", x.prefetchNonTemporal)
			x.nonTemporal, x.farPrefetch = false, false
			x.p("JMP single")
			label("near")
		}
		x.p("CMPQ BX, ·fetchFrom(SB)")
		x.p("JLT short")
		loop("long", x.prefetchLine4)
		x.p("JMP single")
		label("short")
	}
	if unroll > 1 || heavy || len(k.Accs) > 0 {
		x.p("CMPQ BX, $%d", unroll*x.lanes)
		x.p("JLT single")
		if heavy && !rows {
			x.setFarRegister()
			x.bothStores = x.nonTemporalAllowed
			loop("loop", x.prefetchLongBody)
			x.bothStores = false
		} else if rows && k.Next {
			loop("loop", x.prefetchNextRows)
		} else {
			loop("loop", nil)
		}
	}
	label("single")
	switch {
	case heavy:
		x.p("TESTQ BX, BX")
		x.p("JLE done")
		x.tailMask(true)
		x.body(b, 0, true)
		x.advance(1)
		x.p("JMP single")
	case len(k.Accs) == 0:
		x.p("CMPQ BX, $%d", x.lanes)
		x.p("JLT tail")
		label("one")
		x.body(b, 0, false)
		x.advance(1)
		x.p("CMPQ BX, $%d", x.lanes)
		x.p("JGE one")
		label("tail")
		x.p("TESTQ BX, BX")
		x.p("JEQ done")
		x.tailMask(false)
		x.body(b, 0, true)
	default:
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
			x.tailMask(false)
			x.bodyAt(b, u, true)
			if u < unroll-1 {
				x.p("JMP done")
			}
		}
	}
	label("done")
	for i, a := range k.Accs {
		x.fold(i, a.Comb)
		if rows { // the argument holds where the next result goes
			x.p("MOVQ %s+%d(FP), AX", a.Name, retOff+8*i)
			x.p("VMOVS%s X%d, (AX)", x.sfx(), x.accReg[i])
			x.p("ADDQ $%d, AX", k.Lane.Size())
			x.p("MOVQ AX, %s+%d(FP)", a.Name, retOff+8*i)
			continue
		}
		x.p("VMOVS%s X%d, %s+%d(FP)", x.sfx(), x.accReg[i], a.Name, retOff+i*k.Lane.Size())
	}
	if rows {
		x.nextRow()
	}
	x.p("VZEROUPPER")
	x.p("RET")
	fmt.Fprintln(w)
	return !x.over
}

// How far ahead loops prefetch, in bytes. See fetchFrom in package vec for when they do.
//
// A call with many elements is most likely a part of an array that no close cache holds. It prefetches lines ahead by
// itself: the processor's own prefetchers start anew on each page and do not cross its end. Shorter calls would pay for
// the prefetches and gain nothing, and so would reductions, which only read. Lines that are only written are not
// prefetched: stores do not wait for them.
//
// The prefetches go into the second-level cache, and to one line in four, which makes the processor fetch the lines
// between. Prefetching every line, and into the first-level cache, takes more time from the loads of near data than it
// saves.
const (
	PrefetchDistance = 8192                 // bytes
	nearDistance     = PrefetchDistance / 2 // bytes ahead, for prefetches into the first-level cache
	PrefetchApart    = 256                  // bytes
)

// farRegister holds, in loops for calls of any length, the distance of prefetches: nearDistance, or 0 in
// calls below fetchFrom, behind which there may be no memory.
const farRegister = "R12"

// setFarRegister sets farRegister, if no argument uses that register.
func (x *x86) setFarRegister() {
	x.farPrefetch = !slices.Contains(x.ptr, farRegister)
	if !x.farPrefetch {
		return
	}
	x.p("XORL %s, %s", farRegister, farRegister)
	x.p("MOVL $%d, AX", nearDistance)
	x.p("CMPQ BX, ·fetchFrom(SB)")
	x.p("CMOVQGE AX, %s", farRegister)
	if x.nonTemporalAllowed && x.inputs() == 1 { // see prefetchNonTemporal
		x.p("TESTQ R13, R13")
		x.p("CMOVQNE AX, %s", farRegister)
	}
}

// inputs is the number of arrays that are only read.
func (x *x86) inputs() int {
	n := 0
	for _, a := range x.k.Args {
		if a.Kind == ArgIn {
			n++
		}
	}
	return n
}

// NonTemporalBit, set in the number of elements, asks for non-temporal stores; the results then begin on a
// cache line. The loops find the bit in R13. No SFENCE ends such a call (it would wait for all stores): Go
// hands memory to other threads by locked instructions only, and no store of either kind passes those.
const NonTemporalBit = 62

// storesNonTemporal reports whether the kernel knows NonTemporalBit: it writes one array, in whole vectors
// or, on AVX2, halves of vectors.
func storesNonTemporal(k *Kernel, isa ISA) bool {
	if len(k.Accs) > 0 || !isExported(k) || isa == AVX2 && k.NoAVX2 {
		return false
	}
	for i, a := range k.Args {
		whole := a.T.Size() == k.Lane.Size() || isa == AVX2 && 2*a.T.Size() == k.Lane.Size()
		if a.Kind == ArgInOut || a.Kind == ArgOut && (i > 0 || !whole) {
			return false
		}
	}
	return true
}

// prefetchLine4 emits the prefetches of what n vectors will need later, one line in four.
func (x *x86) prefetchLine4(n int) { x.prefetch("T1", n, PrefetchDistance, PrefetchApart) }

// prefetchAll emits prefetches of every line, into the first-level cache.
func (x *x86) prefetchAll(n int) { x.prefetch("T0", n, nearDistance, 64) }

// prefetchNonTemporal emits the prefetches of a loop with non-temporal stores, where no data is near: all
// lines of a single input are fetched, by any processor.
func (x *x86) prefetchNonTemporal(n int) {
	if x.inputs() == 1 {
		x.prefetchAll(n)
	} else {
		x.prefetchLine4(n)
	}
}

// prefetchNextRows emits prefetches of what a call on the next rows will read, if the rows of a call take
// l1Rows bytes.
func (x *x86) prefetchNextRows(n int) { x.prefetch("T0", n, l1Rows, 64) }

// l1Rows is the size in bytes of the rows that callers of kernels in several steps take at a time.
const l1Rows = 16 << 10

// prefetchLongBody emits the prefetches of a long body, which has one loop for all cases. Where an iteration
// takes less than PrefetchApart bytes, prefetches cost nothing beside its arithmetic, and every line is
// fetched.
func (x *x86) prefetchLongBody(n int) {
	if n*x.bytes < PrefetchApart {
		x.prefetchAll(n)
		return
	}
	if x.nonTemporalAllowed && x.inputs() == 1 {
		x.p("TESTQ R13, R13")
		x.p("JEQ near")
		x.prefetchAll(n)
		fmt.Fprintf(x.w, "near:\n")
	}
	x.prefetchLine4(n)
}

// prefetch emits the prefetches of the inputs of n vectors: of every line that is a multiple of apart bytes
// away, ahead bytes in advance.
func (x *x86) prefetch(level string, n, ahead, apart int) {
	for i, a := range x.k.Args {
		if a.Kind == ArgIn || a.Kind == ArgInOut {
			for off := 0; off < n*x.lanes*a.T.Size(); off += apart {
				if x.farPrefetch {
					x.p("PREFETCH%s %d(%s)(%s*%d)", level, off, x.ptr[i], farRegister, ahead/nearDistance)
				} else {
					x.p("PREFETCH%s %d(%s)", level, off+ahead, x.ptr[i])
				}
			}
		}
	}
}

// nextRow moves to the next row. The arguments in the frame hold where the present row begins.
func (x *x86) nextRow() {
	slot := 0
	for i, a := range x.k.Args {
		ptr := x.ptr[i]
		if a.Kind == ArgScalar {
			if !x.perRow(a) {
				continue
			}
			ptr = "AX"
		}
		x.p("MOVQ %s+%d(FP), %s", a.Name, x.argOff[i], ptr)
		x.p("ADDQ ld_%s+%d(FP), %s", a.Name, x.strideOff+8*slot, ptr)
		x.p("MOVQ %s, %s+%d(FP)", ptr, a.Name, x.argOff[i])
		slot++
	}
	x.p("DECQ rows+%d(FP)", x.rowsOff)
	x.p("JNE row")
}

// bodyAt emits a body on accumulator u, reading at the pointers themselves.
func (x *x86) bodyAt(b *Builder, u int, masked bool) {
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

// combine emits a = comb(a, b) for registers of one width; NaN in either operand gives NaN.
func (x *x86) combine(pfx, comb string, a, b int) {
	A, B := fmt.Sprintf("%s%d", pfx, a), fmt.Sprintf("%s%d", pfx, b)
	if comb == "add" || comb == "mul" {
		x.p("V%sP%s %s, %s, %s", strings.ToUpper(comb), x.sfx(), B, A, A)
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

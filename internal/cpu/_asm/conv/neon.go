package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/a64"
)

// This file writes the kernels for arm64: those of family and depthwise, of up to 6 rows by one or two times 32 bytes,
// two registers each. There are no masked moves. Narrower tiles are stored whole, to a place of the caller's, and
// finished there.
//
// Registers of all kernels:
//
//	R0 args, R1..R6 rows of A, R7 scratch, R8 row stride of A or, gradient, step of k in B, R9 that in A, R10 B, R11 k left, R12 segment, R13 end of segments,
//	R14 C, R15 its row stride, R16 R17 flags and scratch; depthwise: R19 byte offset of the channels, R20 R21 that of the channels and
//	the line in A and in C, R22 lines left
//	V0..V23 sums, V24..V27 a step of B, V28..V31 elements of A

const neonRows = 6

type neonGen struct {
	*gen
	es  int
	arr a64.Arr
}

func (g *gen) neon(es int) {
	n := &neonGen{g, es, map[int]a64.Arr{4: a64.S4, 8: a64.D2}[es]}
	letter := map[int]string{4: "s", 8: "d"}[es]
	n.family(letter+"convNEON", forward)
	n.family(letter+"gradNEON", gradient)
	n.depthwise(letter + "depthNEON")
	n.depthwiseGrad(letter + "depthGradNEON")
	if es == 4 {
		for _, t := range winogradTransforms {
			n.winograd(t)
		}
	}
}

// scalar is the move of one element into the first lane.
func (g *neonGen) scalar() string { return map[int]string{4: "FMOVS", 8: "FMOVD"}[g.es] }

func (g *neonGen) add(d, n, m int) { g.I("%s", a64.Three("fadd", g.arr, d, n, m)) }

func (g *neonGen) load(field, reg int) { g.I("MOVD %d(R0), R%d", field, reg) }

// pairs loads or stores nq registers from first on at an offset of a pointer.
func (g *neonGen) pairs(store bool, first, nq, off int, ptr string) {
	for q := 0; q < nq; q += 2 {
		if store {
			g.I("FSTPQ (F%d, F%d), %d(%s)", first+q, first+q+1, off+16*q, ptr)
		} else {
			g.I("FLDPQ %d(%s), (F%d, F%d)", off+16*q, ptr, first+q, first+q+1)
		}
	}
}

// dispatch jumps to the label of the variant, by bisection.
func (g *neonGen) dispatch(name string, keys []int, label func(key int) string) {
	g.load(offVariant, 17)
	var search func(keys []int)
	search = func(keys []int) {
		if len(keys) == 1 {
			g.I("JMP %s", label(keys[0]))
			return
		}
		mid := len(keys) / 2
		less := g.NewLabel(name + "_lt")
		g.I("CMP $%d, R17", keys[mid])
		g.I("BLT %s", less)
		search(keys[mid:])
		g.L("%s:", less)
		search(keys[:mid])
	}
	search(keys)
}

func (g *neonGen) family(name string, m mode) {
	g.L("")
	g.L("// func %s(a *args)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVD a+0(FP), R0")
	g.load(offSeg, 12)
	g.load(offSegEnd, 13)
	g.load(offLDC, 15)
	if m == forward {
		g.load(offRS, 8)
	} else {
		g.load(offCS, 9)
		g.load(offTapStep, 8)
	}
	var keys []int
	for nv := 1; nv <= 2; nv++ {
		for r := 1; r <= neonRows; r++ {
			keys = append(keys, nv*16+r)
		}
	}
	label := func(key int) string { return fmt.Sprintf("%s_v%dr%d", name, key/16, key%16) }
	g.dispatch(name, keys, label)
	for _, key := range keys {
		g.kernel(m, label(key), 2*(key/16), key%16)
	}
}

// pointers sets R1.. to the rows of A at the offset in R7: all of them, or with adjacent rows one pointer per group.
func (g *neonGen) pointers(rows int, adjacent bool) {
	first := (rows + 1) / 2
	for r := range rows {
		switch {
		case r == 0:
			g.load(offA0, 1)
			g.I("ADD R7, R1")
		case r == first:
			reg := r + 1
			if adjacent {
				reg = 2
			}
			g.load(offA1, reg)
			g.I("ADD R7, R%d", reg)
		case !adjacent:
			g.I("ADD R8, R%d, R%d", r, r+1)
		}
	}
}

// kernel computes rows by nq registers.
func (g *neonGen) kernel(m mode, label string, nq, rows int) {
	first := (rows + 1) / 2
	acc := func(r, q int) int { return r*nq + q }
	const b, a, temps = 24, 28, 4
	g.L("")
	g.L("// %d rows by %d registers", rows, nq)
	g.L("%s:", label)
	for i := range rows * nq {
		g.I("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	bw := 16 * nq
	step := func(k int) {
		if m == gradient {
			g.pairs(false, b, nq, 0, "R10")
			g.I("ADD R8, R10")
		} else {
			g.pairs(false, b, nq, k*bw, "R10")
		}
		for r := range rows {
			t := a + r%temps
			switch {
			case m == forward:
				g.I("%s %d(R%d), F%d", g.scalar(), k*g.es, r+1, t)
			case r < first:
				g.I("%s %d(R1), F%d", g.scalar(), r*g.es, t)
			default:
				g.I("%s %d(R2), F%d", g.scalar(), (r-first)*g.es, t)
			}
			for q := range nq {
				g.I("%s", a64.MulAddFirst(g.arr, acc(r, q), b+q, t))
			}
		}
		if m == gradient {
			g.I("ADD R9, R1")
			if rows > first {
				g.I("ADD R9, R2")
			}
		}
	}
	next := func(n int) {
		if m == forward {
			for r := range rows {
				g.I("ADD $%d, R%d", n*g.es, r+1)
			}
			g.I("ADD $%d, R10", n*bw)
		}
	}
	const unroll = 4
	seg, loop, tail, one, end := label+"_s", label+"_k", label+"_t", label+"_t1", label+"_e"
	g.L("%s:", seg)
	g.I("LDP (R12), (R7, R17)")
	g.I("ADD $16, R12")
	g.load(offTapStep, 10)
	g.I("MUL R17, R10")
	g.load(offB, 17)
	g.I("ADD R17, R10")
	g.pointers(rows, m == gradient)
	g.load(offK, 11)
	g.I("SUBS $%d, R11", unroll)
	g.I("BLT %s", tail)
	g.I("PCALIGN $16")
	g.L("%s:", loop)
	for k := range unroll {
		step(k)
	}
	next(unroll)
	g.I("SUBS $%d, R11", unroll)
	g.I("BGE %s", loop)
	g.L("%s:", tail)
	g.I("ADDS $%d, R11", unroll)
	g.I("BLE %s", end)
	g.L("%s:", one)
	step(0)
	next(1)
	g.I("SUBS $1, R11")
	g.I("BGT %s", one)
	g.L("%s:", end)
	g.I("CMP R13, R12")
	g.I("BLO %s", seg)

	g.load(offFlags, 16)
	g.finish(label, rows, nq, "", "")
	g.I("RET")
}

// finish adds what the flags in R16 ask for to the sums and stores them. If there are offset registers they are added
// to the pointers: one to those of C and of what is added to it, one to the bias.
func (g *neonGen) finish(label string, rows, nq int, offset, channel string) {
	first := (rows + 1) / 2
	const tmp = 24
	at := func(field int, offset string) {
		g.load(field, 14)
		if offset != "" {
			g.I("ADD %s, R14", offset)
		}
	}
	// each visits the rows of a matrix given by two pointers and a stride in R15.
	each := func(off0, off1 int, f func(r int)) {
		for r := range rows {
			switch r {
			case 0:
				at(off0, offset)
			case first:
				at(off1, offset)
			default:
				g.I("ADD R15, R14")
			}
			f(r)
		}
	}
	addFrom := func(r int) {
		g.pairs(false, tmp, nq, 0, "R14")
		for q := range nq {
			g.add(r*nq+q, r*nq+q, tmp+q)
		}
	}
	if offset == "" {
		g.I("TBZ $0, R16, %s_c", label)
		each(offC0, offC1, addFrom)
		g.L("%s_c:", label)
	}
	g.I("TBZ $1, R16, %s_b", label)
	at(offBias, channel)
	g.pairs(false, tmp, nq, 0, "R14")
	for i := range rows * nq {
		g.add(i, i, tmp+i%nq)
	}
	g.L("%s_b:", label)
	g.I("TBZ $2, R16, %s_r", label)
	g.load(offLDR, 15)
	each(offR0, offR1, addFrom)
	g.load(offLDC, 15)
	g.L("%s_r:", label)
	g.I("TBZ $3, R16, %s_a", label)
	// A NaN stays NaN.
	for i, off := range []int{offLo, offHi} {
		g.I("ADD $%d, R0, R14", off)
		g.I("VLD1R (R14), [V%d.%s]", tmp+i, g.arr.Go())
	}
	for i := range rows * nq {
		g.I("%s", a64.Three("fmax", g.arr, i, i, tmp))
		g.I("%s", a64.Three("fmin", g.arr, i, i, tmp+1))
	}
	g.L("%s_a:", label)
	each(offC0, offC1, func(r int) { g.pairs(true, r*nq, nq, 0, "R14") })
}

// eachRows emits the frame of a depthwise kernel: the given fields of args in registers, and the body for each number
// of rows.
func (g *neonGen) eachRows(name string, fields map[int]int, body func(label string, rows int)) {
	g.L("")
	g.L("// func %s(a *args)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVD a+0(FP), R0")
	for _, reg := range slices.Sorted(maps.Keys(fields)) {
		g.load(fields[reg], reg)
	}
	var keys []int
	for r := 1; r <= neonRows; r++ {
		keys = append(keys, r)
	}
	label := func(r int) string { return fmt.Sprintf("%s_r%d", name, r) }
	g.dispatch(name, keys, label)
	for _, rows := range keys {
		g.L("")
		g.L("// %d rows", rows)
		g.L("%s:", label(rows))
		body(label(rows), rows)
		g.I("RET")
	}
}

// Of the depthwise kernels: registers of a row, the vector that all rows are multiplied with, and three rows of A.
const (
	depthQ = 2
	depthB = 24
	depthA = 26
)

// products adds to the sums of each row its vector of A times that in depthB; step says that the rows then move on.
func (g *neonGen) products(rows int, step bool) {
	for r := range rows {
		t := depthA + depthQ*(r%3)
		g.pairs(false, t, depthQ, 0, fmt.Sprintf("R%d", r+1))
		if step {
			g.I("ADD R9, R%d", r+1)
		}
		for q := range depthQ {
			g.I("%s", a64.Three("fmla", g.arr, r*depthQ+q, t+q, depthB+q))
		}
	}
}

// depthwise emits what gen.depthwise does, 32 bytes of channels at a time, whole vectors only, and nothing is fetched
// ahead.
func (g *neonGen) depthwise(name string) {
	g.eachRows(name, map[int]int{8: offRS, 13: offSegEnd, 15: offLDC, 16: offFlags}, func(l string, rows int) {
		g.I("MOVD ZR, R19")
		g.L("%s_block:", l)
		g.I("MOVD R19, R20")
		g.I("MOVD R19, R21")
		g.load(offLines, 22)
		g.L("%s_line:", l)
		for i := range rows * depthQ {
			g.I("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
		}
		g.load(offSeg, 12)
		g.I("JMP %s_end", l)
		g.L("%s_tap:", l)
		g.load(offB, 10)
		g.I("LDP (R12), (R7, R17)")
		g.I("ADD $16, R12")
		g.I("ADD R20, R7")
		g.I("ADD R19, R10")
		g.I("ADD R17, R10")
		g.pointers(rows, false)
		g.pairs(false, depthB, depthQ, 0, "R10")
		g.products(rows, false)
		g.L("%s_end:", l)
		g.I("CMP R13, R12")
		g.I("BLO %s_tap", l)
		g.finish(l, rows, depthQ, "R21", "R19")
		g.load(offStepA, 7)
		g.I("ADD R7, R20")
		g.load(offStepC, 7)
		g.I("ADD R7, R21")
		g.I("SUBS $1, R22")
		g.I("BGT %s_line", l)
		g.I("ADD $%d, R19", 16*depthQ)
		g.load(offBlockEnd, 7)
		g.I("CMP R7, R19")
		g.I("BLT %s_block", l)
	})
}

// depthwiseGrad emits what gen.depthwiseGrad does for 32 bytes of channels.
func (g *neonGen) depthwiseGrad(name string) {
	g.eachRows(name, map[int]int{8: offRS, 9: offCS, 12: offSeg, 13: offSegEnd, 14: offC0, 15: offLDR},
		func(l string, rows int) {
			for r := range rows {
				g.pairs(false, r*depthQ, depthQ, 16*depthQ*r, "R14")
			}
			g.L("%s_s:", l)
			g.I("LDP (R12), (R7, R17)")
			g.I("ADD $16, R12")
			g.load(offB, 10)
			g.I("ADD R17, R10")
			g.pointers(rows, false)
			g.load(offK, 11)
			g.L("%s_k:", l)
			g.pairs(false, depthB, depthQ, 0, "R10")
			g.I("ADD R15, R10")
			g.products(rows, true)
			g.I("SUBS $1, R11")
			g.I("BGT %s_k", l)
			g.I("CMP R13, R12")
			g.I("BLO %s_s", l)
			for r := range rows {
				g.pairs(true, r*depthQ, depthQ, 16*depthQ*r, "R14")
			}
		})
}

// winograd emits a transform of Winograd's, see winograd.go, in vectors of 16 bytes, of which the caller counts pairs.
//
//	R0 args, R1 destination, R2 source, R3 buffer, R4 R5 row and column stride of the source, R6 R7 of the result, R8 vectors left,
//	R9 column of the source or row of the result, R10 a place in it, R11 bias
func (g *neonGen) winograd(t winogradTransform) {
	ops := winogradOps{
		op:     func(name string, a, b, dst int) { g.I("%s", a64.Three(name, g.arr, dst, b, a)) },
		move:   func(src, dst int) { g.I("%s", a64.Three("orr", a64.B16, dst, src, src)) },
		consts: t.consts,
	}
	everywhere := func(off int, ptr string, reg int) {
		g.I("FMOVS %d(%s), F%d", off, ptr, reg)
		g.I("VDUP V%d.S[0], V%[1]d.S4", reg)
	}
	name := t.name + "NEON"
	g.L("")
	g.L("// func %s(a *winogradArgs)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVD a+0(FP), R0")
	for i, field := range []int{winDst, winSrc, winTmp, winRow, winCol, winOutRow, winOutCol, winN, winConst} {
		g.load(field, 1+i)
	}
	g.I("LSL $1, R8")
	for i := range t.consts {
		everywhere(i*winConstSize, "R9", winConsts+i)
	}
	if t.finish {
		g.load(winBias, 11)
		everywhere(winLo, "R0", winLoReg)
		everywhere(winHi, "R0", winHiReg)
	}
	g.L("%s_loop:", name)
	g.I("MOVD R2, R9")
	for j := range t.in {
		g.I("MOVD R9, R10")
		for r := range t.in {
			g.I("FMOVQ (R10), F%d", r)
			g.I("ADD R4, R10")
		}
		t.emit(ops)
		for r := range t.out {
			g.I("FMOVQ F%d, %d(R3)", 6+r, (r*t.in+j)*16)
		}
		g.I("ADD R5, R9")
	}
	if t.finish {
		g.I("FMOVQ.P 16(R11), F%d", winBiasReg)
	}
	g.I("MOVD R1, R9")
	for r := range t.out {
		for j := range t.in {
			g.I("FMOVQ %d(R3), F%d", (r*t.in+j)*16, j)
		}
		t.emit(ops)
		g.I("MOVD R9, R10")
		for j := range t.out {
			if t.finish {
				ops.op("fadd", winBiasReg, 6+j, 6+j)
				ops.op("fmax", 6+j, winLoReg, 6+j)
				ops.op("fmin", 6+j, winHiReg, 6+j)
			}
			g.I("FMOVQ F%d, (R10)", 6+j)
			g.I("ADD R7, R10")
		}
		g.I("ADD R6, R9")
	}
	g.I("ADD $16, R1")
	g.I("ADD $16, R2")
	g.I("SUBS $1, R8")
	g.I("BNE %s_loop", name)
	g.I("RET")
}

package main

import (
	"fmt"
	"slices"
)

// The transforms of Winograd's F(4×4, 3×3) (Lavin and Gray, "Fast Algorithms
// for Convolutional Neural Networks", arXiv 1509.09308), a vector of channels at
// a time. Each is a one-dimensional transform of the columns into a small buffer,
// then of its rows.
//
//	AX args, DI src, DX dst, SI buffer, CX column, BX destination of a row,
//	R8 R9 R10 row stride times 1 3 5, R11 column stride, R12 R13 strides of the
//	result, R14 constants, R15 vectors left
const (
	winDst    = 0
	winSrc    = 8
	winTmp    = 16
	winRow    = 24 // bytes between rows and columns of the source
	winCol    = 32
	winOutRow = 40 // and of the result
	winOutCol = 48
	winN      = 56 // vectors
	winBias   = 64
	winLo     = 72
	winHi     = 76
	winConst  = 80 // the transform's constants, in the order of its field consts, each of them winConstSize bytes
)

// winConstSize is a vector of AVX2, whose instructions read constants from memory where there is no register for them.
const winConstSize = 32

// Vectors are named by their registers in AVX-512 and NEON: from 0 on what a transform reads,
// from 6 on its results, and these.
const (
	winBiasReg = 20
	winLoReg   = 21
	winHiReg   = 22
	winConsts  = 24 // to 31
)

// A winogradTransform is one of the transforms, of in×in values to out×out.
type winogradTransform struct {
	name    string
	in, out int
	emit    func(o winogradOps)
	finish  bool     // with bias and clamp
	consts  []string // the names of its constants
	// The registers of those beyond 11 in AVX2, where their values may follow others that are done with. Constants
	// that have none are read from memory.
	places map[int]int
}

// winogradOps emits the instructions of a one-dimensional transform: op those on registers, the last of which it sets,
// by their names on arm64. Of a difference the first operand is taken away; the first one may be a constant.
type winogradOps struct {
	op     func(name string, a, b, dst int)
	move   func(src, dst int)
	consts []string
}

func (o winogradOps) constant(c string) int { return winConsts + slices.Index(o.consts, c) }

// addTimes adds c times src, subTimes subtracts it; times is the product alone.
func (o winogradOps) addTimes(c string, src, dst int) { o.op("fmla", o.constant(c), src, dst) }
func (o winogradOps) subTimes(c string, src, dst int) { o.op("fmls", o.constant(c), src, dst) }
func (o winogradOps) times(c string, src, dst int)    { o.op("fmul", o.constant(c), src, dst) }

// winogradGen emits a transform for one instruction set of amd64.
type winogradGen struct {
	*gen
	isa
	winogradTransform
}

// reg names a register, or the memory of a constant.
func (g *winogradGen) reg(i int) string {
	p, ok := g.places[i]
	switch {
	case g.Mask: // 32 registers
	case ok:
		i = p
	case i >= winConsts:
		return fmt.Sprintf("%d(R14)", (i-winConsts)*winConstSize)
	}
	return g.V(i)
}

// held reports that constant i has a register.
func (g *winogradGen) held(i int) bool {
	_, ok := g.places[winConsts+i]
	return ok || g.Mask
}

var winNames = map[string]string{
	"fadd": "VADDPS", "fsub": "VSUBPS", "fmul": "VMULPS", "fmla": "VFMADD231PS", "fmls": "VFNMADD231PS",
	"fmax": "VMAXPS", "fmin": "VMINPS",
}

func (g *winogradGen) op(name string, a, b, dst int) {
	g.I("%s %s, %s, %s", winNames[name], g.reg(a), g.reg(b), g.reg(dst))
}

func (g *winogradGen) move(src, dst int) {
	if g.reg(src) != g.reg(dst) {
		g.I("VMOVAPS %s, %s", g.reg(src), g.reg(dst))
	}
}

// winogradInput is Bᵀd: 0-5 to 6-11. The rows of Bᵀ are the coefficients of products of x and x ± a, x ± b without one
// factor each: (x²-a²)(x²-b²), x(x±a)(x²-b²), x(x±b)(x²-a²), x(x²-a²)(x²-b²).
func winogradInput(o winogradOps) {
	outer := func(at, dst int) {
		o.move(at+4, dst)
		o.subTimes("a²+b²", at+2, dst)
		o.addTimes("a²b²", at, dst)
	}
	pair := func(x, other string, dst int) {
		o.move(4, dst+1)
		o.subTimes(other, 2, dst+1)
		o.move(3, 12)
		o.subTimes(other, 1, 12)
		o.move(dst+1, dst)
		o.addTimes(x, 12, dst)
		o.subTimes(x, 12, dst+1)
	}
	outer(0, 6)
	pair("a", "b²", 7)
	pair("b", "a²", 9)
	outer(1, 11)
}

// winogradOutput is Aᵀm: 0-5 to 6-9. The columns of Aᵀ are the powers of the points.
func winogradOutput(o winogradOps) {
	o.op("fadd", 2, 1, 10) // of even powers, at ±a
	o.op("fsub", 2, 1, 11) // of odd ones
	o.op("fadd", 4, 3, 12) // at ±b
	o.op("fsub", 4, 3, 13)
	o.op("fadd", 10, 0, 6)
	o.op("fadd", 12, 6, 6)
	o.times("a", 11, 7)
	o.addTimes("b", 13, 7)
	o.times("a²", 10, 8)
	o.addTimes("b²", 12, 8)
	o.move(5, 9)
	o.addTimes("a³", 11, 9)
	o.addTimes("b³", 13, 9)
}

// winogradWeight is Gg: 0-2 to 6-11. A row of G holds the powers of a point, over the product of its distances from the
// others.
func winogradWeight(o winogradOps) {
	pair := func(zeroth, first string, second func(c string, src, dst int), dst int) {
		o.times(zeroth, 0, 12)
		second("a²/A", 2, 12)
		o.times(first, 1, 13)
		o.op("fadd", 13, 12, dst)
		o.op("fsub", 13, 12, dst+1)
	}
	o.times("1/a²b²", 0, 6)
	pair("1/A", "a/A", o.addTimes, 7)
	pair("1/B", "b/B", o.subTimes, 9) // b²/B = -a²/A
	o.move(2, 11)
}

var winogradTransforms = []winogradTransform{
	{"winogradInput", 6, 6, winogradInput, false, []string{"a", "b", "a²", "b²", "a²b²", "a²+b²"},
		map[int]int{12: 12, 24: 13, 25: 14, 27: 15}},
	{"winogradOutput", 6, 4, winogradOutput, true, []string{"a", "b", "a²", "b²", "a³", "b³"},
		map[int]int{10: 10, 11: 1, 12: 2, 13: 3, 24: 11, 25: 12, winBiasReg: 13, winLoReg: 14, winHiReg: 15}},
	{"winogradWeight", 3, 6, winogradWeight, false, []string{"1/a²b²", "1/A", "a/A", "a²/A", "1/B", "b/B"},
		map[int]int{12: 3, 13: 4, 25: 5, 26: 12, 27: 13, 28: 14, 29: 15}},
}

// winograd emits one transform.
func (g *winogradGen) winograd() {
	name, in, out := g.name+g.tag, g.in, g.out
	ops := winogradOps{g.op, g.move, g.consts}
	g.L("")
	g.L("// func %s(a *winogradArgs)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVQ a+0(FP), AX")
	for _, r := range []struct {
		off int
		reg string
	}{{winDst, "DX"}, {winSrc, "DI"}, {winTmp, "SI"}, {winRow, "R8"}, {winCol, "R11"}, {winOutRow, "R12"},
		{winOutCol, "R13"}, {winN, "R15"}} {
		g.I("MOVQ %d(AX), %s", r.off, r.reg)
	}
	g.I("LEAQ (R8)(R8*2), R9")
	g.I("LEAQ (R8)(R8*4), R10")
	g.I("MOVQ %d(AX), R14", winConst)
	for i := range g.consts {
		if g.held(i) {
			g.I("VBROADCASTSS %d(R14), %s", i*winConstSize, g.reg(winConsts+i))
		}
	}
	if g.finish {
		g.I("MOVQ %d(AX), R9", winBias)
		g.I("VBROADCASTSS %d(AX), %s", winLo, g.reg(winLoReg))
		g.I("VBROADCASTSS %d(AX), %s", winHi, g.reg(winHiReg))
	}
	g.I("PCALIGN $32")
	g.L("%s_loop:", name)
	if g.finish {
		// R9 is the bias between the passes.
		g.I("VMOVUPS (R9), %s", g.reg(winBiasReg))
		g.I("ADDQ $%d, R9", g.Width)
		g.I("MOVQ R9, %d(AX)", winBias)
		g.I("LEAQ (R8)(R8*2), R9")
	}
	g.I("MOVQ DI, CX")
	for j := range in {
		for r := range in {
			g.I("VMOVUPS (CX)%s, %s", rowIndex[r], g.reg(r))
		}
		g.emit(ops)
		for r := range out {
			g.I("VMOVUPS %s, %d(SI)", g.reg(6+r), (r*in+j)*g.Width)
		}
		if j+1 < in {
			g.I("ADDQ R11, CX")
		}
	}
	g.I("MOVQ DX, BX")
	for r := range out {
		for j := range in {
			g.I("VMOVUPS %d(SI), %s", (r*in+j)*g.Width, g.reg(j))
		}
		g.emit(ops)
		g.I("MOVQ BX, CX")
		for j := range out {
			if g.finish {
				g.op("fadd", winBiasReg, 6+j, 6+j)
				g.op("fmax", 6+j, winLoReg, 6+j) // NaN stays NaN
				g.op("fmin", 6+j, winHiReg, 6+j)
			}
			g.I("VMOVUPS %s, (CX)", g.reg(6+j))
			if j+1 < out {
				g.I("ADDQ R13, CX")
			}
		}
		if r+1 < out {
			g.I("ADDQ R12, BX")
		}
	}
	if g.finish {
		g.I("MOVQ %d(AX), R9", winBias)
	}
	g.I("ADDQ $%d, DI", g.Width)
	g.I("ADDQ $%d, DX", g.Width)
	g.I("DECQ R15")
	g.I("JG %s_loop", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

func (g *gen) winogradAll(s isa) {
	for _, t := range winogradTransforms {
		(&winogradGen{g, s, t}).winograd()
	}
}

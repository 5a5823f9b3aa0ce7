package main

import "fmt"

// The transforms of Winograd's F(4×4, 3×3) (Lavin and Gray, "Fast Algorithms
// for Convolutional Neural Networks", arXiv 1509.09308), sixteen channels at a
// time. Each is a one-dimensional transform of the columns into a small buffer,
// then of its rows.
//
//	AX args, DI src, DX dst, SI buffer, CX column, BX destination of a row,
//	R8 R9 R10 row stride times 1 3 5, R11 column stride, R12 R13 strides of the
//	result, R15 vectors left
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
	winConst  = 80 // 2, 4, 5, 8, 1/4, 1/6, 1/24, 1/12
)

// constants are kept in Z24 to Z31.
var winReg = map[string]int{"2": 24, "4": 25, "5": 26, "8": 27, "1/4": 28, "1/6": 29, "1/24": 30, "1/12": 31}

// winInput is Bᵀd: Z0-Z5 to Z6-Z11.
func (g *gen) winInput() {
	f := func(op, c string, src, dst int) { g.I("%s Z%d, Z%d, Z%d", op, src, winReg[c], dst) }
	g.I("VMOVAPS Z4, Z6")
	f("VFNMADD231PS", "5", 2, 6)
	f("VFMADD231PS", "4", 0, 6)
	g.I("VMOVAPS Z4, Z12")
	f("VFNMADD231PS", "4", 2, 12)
	g.I("VMOVAPS Z3, Z13")
	f("VFNMADD231PS", "4", 1, 13)
	g.I("VADDPS Z13, Z12, Z7")
	g.I("VSUBPS Z13, Z12, Z8")
	g.I("VSUBPS Z2, Z4, Z14")
	g.I("VSUBPS Z1, Z3, Z15")
	g.I("VMOVAPS Z14, Z9")
	f("VFMADD231PS", "2", 15, 9)
	f("VFNMADD231PS", "2", 15, 14)
	g.I("VMOVAPS Z14, Z10")
	g.I("VMOVAPS Z5, Z11")
	f("VFNMADD231PS", "5", 3, 11)
	f("VFMADD231PS", "4", 1, 11)
}

// winOutput is Aᵀm: Z0-Z5 to Z6-Z9.
func (g *gen) winOutput() {
	g.I("VADDPS Z2, Z1, Z10")
	g.I("VSUBPS Z2, Z1, Z7")
	g.I("VADDPS Z4, Z3, Z11")
	g.I("VSUBPS Z4, Z3, Z12")
	g.I("VADDPS Z10, Z0, Z6")
	g.I("VADDPS Z11, Z6, Z6")
	g.I("VADDPS Z5, Z7, Z9")
	g.I("VFMADD231PS Z12, Z%d, Z9", winReg["8"])
	g.I("VFMADD231PS Z12, Z%d, Z7", winReg["2"])
	g.I("VMOVAPS Z10, Z8")
	g.I("VFMADD231PS Z11, Z%d, Z8", winReg["4"])
}

// winWeight is Gg: Z0-Z2 to Z6-Z11.
func (g *gen) winWeight() {
	g.I("VMULPS Z0, Z%d, Z6", winReg["1/4"])
	g.I("VADDPS Z2, Z0, Z12")
	g.I("VMULPS Z12, Z%d, Z12", winReg["1/6"])
	g.I("VMULPS Z1, Z%d, Z13", winReg["1/6"])
	g.I("VXORPS Z14, Z14, Z14")
	g.I("VSUBPS Z12, Z14, Z12")
	g.I("VSUBPS Z13, Z12, Z7")
	g.I("VADDPS Z13, Z12, Z8")
	g.I("VMULPS Z2, Z%d, Z15", winReg["1/6"])
	g.I("VFMADD231PS Z0, Z%d, Z15", winReg["1/24"])
	g.I("VMULPS Z1, Z%d, Z16", winReg["1/12"])
	g.I("VADDPS Z16, Z15, Z9")
	g.I("VSUBPS Z16, Z15, Z10")
	g.I("VMOVAPS Z2, Z11")
}

// winograd emits one transform of in×in values to out×out.
func (g *gen) winograd(name string, in, out int, transform func(), finish bool) {
	g.L("")
	g.L("// func %s(a *winArgs)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVQ a+0(FP), AX")
	for _, r := range []struct {
		off int
		reg string
	}{{winDst, "DX"}, {winSrc, "DI"}, {winTmp, "SI"}, {winRow, "R8"}, {winCol, "R11"}, {winOutRow, "R12"}, {winOutCol, "R13"}, {winN, "R15"}} {
		g.I("MOVQ %d(AX), %s", r.off, r.reg)
	}
	g.I("LEAQ (R8)(R8*2), R9")
	g.I("LEAQ (R8)(R8*4), R10")
	g.I("MOVQ %d(AX), CX", winConst)
	for i := range 8 {
		g.I("VBROADCASTSS %d(CX), Z%d", 4*i, 24+i)
	}
	if finish {
		g.I("MOVQ %d(AX), R9", winBias)
		g.I("VBROADCASTSS %d(AX), Z21", winLo)
		g.I("VBROADCASTSS %d(AX), Z22", winHi)
	}
	g.I("PCALIGN $32")
	g.L("%s_loop:", name)
	if finish {
		// R9 is the bias between the passes.
		g.I("VMOVUPS (R9), Z20")
		g.I("ADDQ $64, R9")
		g.I("MOVQ R9, %d(AX)", winBias)
		g.I("LEAQ (R8)(R8*2), R9")
	}
	g.I("MOVQ DI, CX")
	for j := range in {
		for r := range in {
			g.I("VMOVUPS (CX)%s, Z%d", rowIndex[r], r)
		}
		transform()
		for r := range out {
			g.I("VMOVUPS Z%d, %d(SI)", 6+r, (r*in+j)*64)
		}
		if j+1 < in {
			g.I("ADDQ R11, CX")
		}
	}
	g.I("MOVQ DX, BX")
	for r := range out {
		for j := range in {
			g.I("VMOVUPS %d(SI), Z%d", (r*in+j)*64, j)
		}
		transform()
		g.I("MOVQ BX, CX")
		for j := range out {
			if finish {
				g.I("VADDPS Z20, Z%d, Z%d", 6+j, 6+j)
				g.I("VMAXPS Z%d, Z21, Z%d", 6+j, 6+j) // NaN stays NaN
				g.I("VMINPS Z%d, Z22, Z%d", 6+j, 6+j)
			}
			g.I("VMOVUPS Z%d, (CX)", 6+j)
			if j+1 < out {
				g.I("ADDQ R13, CX")
			}
		}
		if r+1 < out {
			g.I("ADDQ R12, BX")
		}
	}
	if finish {
		g.I("MOVQ %d(AX), R9", winBias)
	}
	g.I("ADDQ $64, DI")
	g.I("ADDQ $64, DX")
	g.I("DECQ R15")
	g.I("JG %s_loop", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

func (g *gen) winogradAll() {
	for _, t := range []struct {
		name    string
		in, out int
		f       func()
		finish  bool
	}{
		{"winInput", 6, 6, g.winInput, false},
		{"winOutput", 6, 4, g.winOutput, true},
		{"winWeight", 3, 6, g.winWeight, false},
	} {
		g.winograd(fmt.Sprintf("%sAVX512", t.name), t.in, t.out, t.f, t.finish)
	}
}

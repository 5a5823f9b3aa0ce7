package main

// The transforms of Winograd's F(4×4, 3×3) (Lavin and Gray, "Fast Algorithms
// for Convolutional Neural Networks", arXiv 1509.09308), a vector of channels at
// a time. Each is a one-dimensional transform of the columns into a small buffer,
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

// Vectors are named by their registers in AVX-512 and NEON: from 0 on what a transform reads,
// from 6 on its results, and these.
const (
	winBiasReg = 20
	winLoReg   = 21
	winHiReg   = 22
	winConsts  = 24 // to 31
)

var winReg = map[string]int{"2": 24, "4": 25, "5": 26, "8": 27, "1/4": 28, "1/6": 29, "1/24": 30, "1/12": 31}

// A winogradTransform is one of the transforms, of in×in values to out×out.
type winogradTransform struct {
	name    string
	in, out int
	emit    func(o winogradOps)
	finish  bool // with bias and clamp
	// the registers of those beyond 11 in AVX2, where their values may follow others that are done with
	places map[int]int
}

// winogradOps emits the instructions of a one-dimensional transform: op those on registers, the last of which it sets,
// by their names on arm64. Of a difference the first operand is taken away.
type winogradOps struct {
	op   func(name string, a, b, dst int)
	move func(src, dst int)
}

// addTimes adds c times src, subTimes subtracts it.
func (o winogradOps) addTimes(c string, src, dst int) { o.op("fmla", src, winReg[c], dst) }
func (o winogradOps) subTimes(c string, src, dst int) { o.op("fmls", src, winReg[c], dst) }

// winogradGen emits a transform for one instruction set of amd64.
type winogradGen struct {
	*gen
	isa
	winogradTransform
}

// reg names a register.
func (g *winogradGen) reg(i int) string {
	if p, ok := g.places[i]; ok && !g.Mask {
		i = p
	}
	return g.V(i)
}

var winNames = map[string]string{
	"fadd": "VADDPS", "fsub": "VSUBPS", "fmul": "VMULPS", "fmla": "VFMADD231PS", "fmls": "VFNMADD231PS",
	"eor": "VXORPS", "fmax": "VMAXPS", "fmin": "VMINPS",
}

func (g *winogradGen) op(name string, a, b, dst int) {
	g.I("%s %s, %s, %s", winNames[name], g.reg(a), g.reg(b), g.reg(dst))
}

func (g *winogradGen) move(src, dst int) {
	if g.reg(src) != g.reg(dst) {
		g.I("VMOVAPS %s, %s", g.reg(src), g.reg(dst))
	}
}

// winogradInput is Bᵀd: 0-5 to 6-11.
func winogradInput(o winogradOps) {
	o.move(4, 6)
	o.subTimes("5", 2, 6)
	o.addTimes("4", 0, 6)
	o.move(4, 12)
	o.subTimes("4", 2, 12)
	o.move(3, 13)
	o.subTimes("4", 1, 13)
	o.op("fadd", 13, 12, 7)
	o.op("fsub", 13, 12, 8)
	o.op("fsub", 2, 4, 14)
	o.op("fsub", 1, 3, 15)
	o.move(14, 9)
	o.addTimes("2", 15, 9)
	o.subTimes("2", 15, 14)
	o.move(14, 10)
	o.move(5, 11)
	o.subTimes("5", 3, 11)
	o.addTimes("4", 1, 11)
}

// winogradOutput is Aᵀm: 0-5 to 6-9.
func winogradOutput(o winogradOps) {
	o.op("fadd", 2, 1, 10)
	o.op("fsub", 2, 1, 7)
	o.op("fadd", 4, 3, 11)
	o.op("fsub", 4, 3, 12)
	o.op("fadd", 10, 0, 6)
	o.op("fadd", 11, 6, 6)
	o.op("fadd", 5, 7, 9)
	o.addTimes("8", 12, 9)
	o.addTimes("2", 12, 7)
	o.move(10, 8)
	o.addTimes("4", 11, 8)
}

// winogradWeight is Gg: 0-2 to 6-11.
func winogradWeight(o winogradOps) {
	times := func(c string, src, dst int) { o.op("fmul", src, winReg[c], dst) }
	times("1/4", 0, 6)
	o.op("fadd", 2, 0, 12)
	times("1/6", 12, 12)
	times("1/6", 1, 13)
	o.op("eor", 14, 14, 14)
	o.op("fsub", 12, 14, 12)
	o.op("fsub", 13, 12, 7)
	o.op("fadd", 13, 12, 8)
	times("1/6", 2, 15)
	o.addTimes("1/24", 0, 15)
	times("1/12", 1, 16)
	o.op("fadd", 16, 15, 9)
	o.op("fsub", 16, 15, 10)
	o.move(2, 11)
}

var winogradTransforms = []winogradTransform{
	{"winogradInput", 6, 6, winogradInput, false, map[int]int{12: 9, 13: 10, 14: 0, 15: 2, 24: 13, 25: 14, 26: 15}},
	{"winogradOutput", 6, 4, winogradOutput, true,
		map[int]int{10: 8, 11: 1, 12: 2, 24: 10, 25: 11, 27: 12, winBiasReg: 13, winLoReg: 14, winHiReg: 15}},
	{"winogradWeight", 3, 6, winogradWeight, false,
		map[int]int{12: 3, 13: 4, 14: 5, 15: 3, 16: 4, 28: 12, 29: 13, 30: 14, 31: 15}},
}

// winograd emits one transform.
func (g *winogradGen) winograd() {
	name, in, out := g.name+g.tag, g.in, g.out
	ops := winogradOps{g.op, g.move}
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
	g.I("MOVQ %d(AX), CX", winConst)
	for i := range 8 {
		if _, used := g.places[winConsts+i]; used || g.Mask {
			g.I("VBROADCASTSS %d(CX), %s", 4*i, g.reg(winConsts+i))
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

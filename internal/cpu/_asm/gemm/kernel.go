// The micro-kernels of float32, float64, integers and a B of 16-bit floats.

package main

import (
	"fmt"
	"log"
)

// A tile is one micro-kernel. Its vector registers are, from the bottom up,
//
//	the sums, row after row   AVX2's mask
//
// and, from the top down,
//
//	two broadcast elements of A, or one where registers are tight   a row of B   four products, for integers
type tile struct {
	isa
	shape
	rows    int
	variant int // which the caller asks for: shape index*16 + rows
	label   string
}

func (t tile) acc(r, v int) string  { return t.V(r*t.nv + v) }
func (t tile) a(r int) string       { return t.V(t.Regs - 1 - r%t.broadcasts()) }
func (t tile) b(v int) string       { return t.V(t.Regs - t.broadcasts() - t.nv + v) }
func (t tile) prod(r, v int) string { return t.V(t.Regs - 6 - t.nv + (r*t.nv+v)%4) }

// tight reports whether the mask takes the place of an element of A.
func (t tile) tight() bool { return t.readsPast() && t.rows*t.nv+t.nv+3 > t.Regs }

func (t tile) broadcasts() int {
	if t.tight() {
		return 1
	}
	return 2
}

func (t tile) mask(v int) string {
	if t.Mask {
		return fmt.Sprintf("K%d", v+1)
	}
	return t.V(t.rows * t.nv)
}

// partial reports whether the columns of vector v may be masked ones. A narrow tile has columns in all of its vectors.
func (t tile) partial(v int) bool { return t.masked && (t.Mask || v == t.nv-1) }

// readsPast reports whether the tile is a narrow one of AVX2, which reads whole vectors where it may: see maskedSteps.
func (t tile) readsPast() bool { return t.masked && !t.Mask }

// check ends the program when the tile needs more registers than there are.
func (t tile) check() {
	used := t.rows*t.nv + t.nv + t.broadcasts()
	if t.integer {
		used += 4
	}
	if t.readsPast() {
		used++
	}
	if used > t.Regs {
		log.Fatalf("%s: %d registers", t.label, used)
	}
}

// prefetches reports whether the tile is full and worth a loop that prefetches the next block of A or B.
func (t tile) prefetches() bool { return !t.masked && t.rows*t.nv >= 12 && !t.integer && t.half == "" }

// streams reports whether the tile has the loops for a B that comes from memory (skinny and fused-packing
// products).
func (t tile) streams() bool { return !t.masked && t.nv == 2 && 2*t.rows >= t.shape.rows && !t.integer }

// prefetchesB reports whether the tile prefetches rows of B. Rows that are read in place lie apart, so the
// hardware does not foresee the next ones. Where there is little arithmetic to hide prefetches behind, they
// would cost more than they gain.
func (t tile) prefetchesB() bool { return !t.masked && t.rows*t.nv >= 8 }

// each calls f for all sums.
func (t tile) each(f func(r, v int)) {
	for r := range t.rows {
		for v := range t.nv {
			f(r, v)
		}
	}
}

// load emits the load of a vector of the tile's columns, store its counterpart.
func (g *gen) load(t tile, addr string, v int, dst string) {
	switch {
	case !t.partial(v):
		g.I("VMOVU%s %s, %s", t.P(), addr, dst)
	case t.Mask:
		g.I("VMOVU%s.Z %s, %s, %s", t.P(), addr, t.mask(v), dst)
	default:
		g.I("VMASKMOV%s %s, %s, %s", t.P(), addr, t.mask(v), dst)
	}
}

func (g *gen) store(t tile, src string, v int, addr string) {
	switch {
	case !t.partial(v):
		g.I("VMOVU%s %s, %s", t.P(), src, addr)
	case t.Mask:
		g.I("VMOVU%s %s, %s, %s", t.P(), src, t.mask(v), addr)
	default:
		g.I("VMASKMOV%s %s, %s, %s", t.P(), src, t.mask(v), addr)
	}
}

// kernel emits the micro-kernel, which repeats itself args.count times.
func (g *gen) kernel(t tile) {
	t.check()
	cols := "all columns"
	if t.masked {
		cols = "masked columns"
	}
	g.L("")
	g.L("// %d rows by %d vectors, %s", t.rows, t.nv, cols)
	g.L("%s:", t.label)
	if t.masked {
		g.masks(t)
	}
	g.L("%s_again:", t.label)
	if t.rows > 7 {
		g.I("LEAQ (DI)(R9*2), SI")
		g.I("ADDQ R8, SI")
	}
	t.each(func(r, v int) { g.I("VXOR%s %s, %s, %s", t.P(), t.acc(r, v), t.acc(r, v), t.acc(r, v)) })
	g.sum(t)
	g.finish(t)
	g.next(t)
}

// masks emits the loads of a narrow tile's masks. AVX2 has one, for the last vector.
func (g *gen) masks(t tile) {
	if !t.Mask {
		g.I("MOVQ %d(AX), R15", offLastMask)
		g.I("VMOVU%s (R15), %s", t.P(), t.mask(0))
		return
	}
	g.I("MOVQ %d(AX), R15", offMask)
	for v := range t.nv {
		g.I("KMOVW R15, %s", t.mask(v))
		if v+1 < t.nv {
			g.I("SHRQ $%d, R15", t.Lanes())
		}
	}
}

// step emits one step along k: a row of B times a column of A.
func (g *gen) step(t tile) { g.stepPast(t, false) }

// stepPast is step, for a narrow tile that may read past the tile's columns if past says so.
func (g *gen) stepPast(t tile, past bool) {
	for v := range t.nv {
		addr := fmt.Sprintf("%d(BX)", v*t.widthB())
		switch {
		case past:
			g.I("VMOVU%s %s, %s", t.P(), addr, t.b(v))
		case t.half == "":
			g.load(t, addr, v, t.b(v))
		case t.masked:
			g.loadHalf(t.isa, addr, t.mask(v), t.b(v))
		default:
			g.loadHalf(t.isa, addr, "", t.b(v))
		}
	}
	if t.prefetchesB() {
		for off := 0; off < t.nv*t.widthB(); off += 64 {
			g.I("PREFETCHT0 %d(BX)(R15*1)", off)
		}
	}
	g.I("ADDQ R12, BX")
	for r := range t.rows {
		if t.nv == 1 && t.Mask && !t.integer {
			// With one product for each element a broadcast of its own would take as long as the arithmetic.
			g.I("VFMADD231%s.BCST %s, %s, %s", t.P(), rowAddr[r], t.b(0), t.acc(r, 0))
			continue
		}
		g.I("VBROADCAST%s %s, %s", t.SC(), rowAddr[r], t.a(r))
		for v := range t.nv {
			g.muladd(t.isa, t.b(v), t.a(r), t.acc(r, v), t.prod(r, v))
		}
	}
	g.I("ADDQ R11, DI")
	if t.rows > 7 {
		g.I("ADDQ R11, SI")
	}
}

// sum emits the loops over k.
func (g *gen) sum(t tile) {
	// Small tiles have little to hide a loop's overhead behind.
	unroll := 2
	if t.rows*t.nv <= 8 && !t.integer {
		unroll = 4
	}
	if t.streams() {
		g.streamLoop(t)
		g.fusedPackLoop(t)
	}
	turns := t.prefetchesB() && !t.Mask
	if turns {
		g.prefetchBEnd(t)
	}
	if t.prefetches() {
		g.prefetchLoop(t)
	}
	if t.prefetchesB() {
		g.I("MOVQ %d(AX), R15", offNearB)
	}
	// The rows of B that the last steps would fetch are not there.
	turn := func(cx int) {
		if turns {
			g.I("CMPQ CX, $%d", cx)
			g.I("CMOVQLE R14, R15")
		}
	}
	turn(7 + unroll)
	past := t.readsPast()
	if past {
		g.maskedSteps(t)
	}
	g.I("SUBQ $%d, CX", unroll)
	g.I("JLT %s_t", t.label)
	g.I("PCALIGN $32")
	g.L("%s_k:", t.label)
	turn(7)
	for range unroll {
		g.stepPast(t, past)
	}
	g.I("SUBQ $%d, CX", unroll)
	g.I("JGE %s_k", t.label)
	g.L("%s_t:", t.label)
	g.I("ADDQ $%d, CX", unroll)
	end := t.label + "_e"
	if past {
		end = t.label + "_m"
	}
	g.I("JLE %s", end)
	g.L("%s_t1:", t.label)
	g.stepPast(t, past)
	g.I("DECQ CX")
	g.I("JG %s_t1", t.label)
	if past {
		g.L("%s:", end)
		g.step(t)
		g.I("DECQ R15")
		g.I("JG %s", end)
	}
	g.L("%s_e:", t.label)
}

// prefetchBEnd emits R14 = what to fetch with the last eight rows of B, as a distance: the first rows of the next
// tile's strip instead of rows that are not there, for which some processors search long. Loops of two or four steps
// begin with it up to three rows earlier, k modulo 4: so the distance counts a multiple of four rows.
func (g *gen) prefetchBEnd(t tile) {
	g.I("MOVQ %d(AX), R14", offK)
	g.I("ANDQ $-4, R14")
	g.I("IMULQ R12, R14")
	g.I("NEGQ R14")
	g.I("ADDQ %d(AX), R14", offNearB)
	g.I("ADDQ %d(AX), R14", offStepB)
	g.I("CMPQ CX, $8")
	g.I("CMOVQLT %d(AX), R14", offStepB)
}

// maskedSteps emits R15 = the steps that must not read past the tile's columns,
// which VMASKMOV does slowly on some processors: the last one, below which
// there may be no memory, and all of them if rows of B lie closer together than
// vectors are long.
func (g *gen) maskedSteps(t tile) {
	g.I("MOVQ CX, R15")
	g.I("TESTQ CX, CX")
	g.I("JLE %s_e", t.label)
	g.I("XORQ CX, CX")
	g.I("CMPQ R12, $%d", t.Width)
	g.I("JLT %s_f", t.label)
	g.I("LEAQ -1(R15), CX")
	g.I("MOVQ $1, R15")
	g.L("%s_f:", t.label)
}

// finish emits what happens to the sums, as the flags in R15 say, and stores
// them.
func (g *gen) finish(t tile) {
	al, tmp := t.a(0), t.a(1)
	if t.tight() {
		tmp = t.b(0)
	}
	g.I("MOVQ %d(AX), R15", offFlags)
	g.flagged(t, "al", flagAlpha, func() {
		g.I("VBROADCAST%s %d(AX), %s", t.SC(), offAlpha, al)
		t.each(func(r, v int) { g.I("%s %s, %s, %s", t.mul(), al, t.acc(r, v), t.acc(r, v)) })
	})
	// C is not read when beta is zero: it may hold anything.
	g.flagged(t, "c", flagLoadC, func() {
		g.I("VBROADCAST%s %d(AX), %s", t.SC(), offBeta, al)
		g.I("MOVQ DX, SI")
		for r := range t.rows {
			for v := range t.nv {
				g.load(t, fmt.Sprintf("%d(SI)", v*t.Width), v, tmp)
				g.muladd(t.isa, tmp, al, t.acc(r, v), tmp)
			}
			g.I("ADDQ R13, SI")
		}
	})
	if !t.integer { // integers get no bias
		g.epilogue(t)
	}
	for r := range t.rows {
		for v := range t.nv {
			g.store(t, t.acc(r, v), v, fmt.Sprintf("%d(DX)", v*t.Width))
		}
		if r+1 < t.rows {
			g.I("ADDQ R13, DX")
		}
	}
}

// flagged emits what is skipped unless the flag is set in R15.
func (g *gen) flagged(t tile, name string, flag int, f func()) {
	g.I("TESTQ $%d, R15", flag)
	g.I("JZ %s_%s", t.label, name)
	f()
	g.L("%s_%s:", t.label, name)
}

// epilogue emits the biases and ReLU, on a tile in registers.
func (g *gen) epilogue(t tile) {
	g.flagged(t, "bc", flagBiasCol, func() {
		g.I("MOVQ %d(AX), SI", offBiasCol)
		for v := range t.nv {
			g.load(t, fmt.Sprintf("%d(SI)", v*t.Width), v, t.b(v))
		}
		t.each(func(r, v int) { g.I("VADD%s %s, %s, %s", t.P(), t.b(v), t.acc(r, v), t.acc(r, v)) })
	})
	g.flagged(t, "br", flagBiasRow, func() {
		g.I("MOVQ %d(AX), SI", offBiasRow)
		for r := range t.rows {
			g.I("VBROADCAST%s %d(SI), %s", t.SC(), r*t.ES, t.a(r))
			for v := range t.nv {
				g.I("VADD%s %s, %s, %s", t.P(), t.a(r), t.acc(r, v), t.acc(r, v))
			}
		}
	})
	g.flagged(t, "re", flagReLU, func() {
		zero := t.a(1)
		g.I("VXOR%s %s, %s, %s", t.P(), zero, zero, zero)
		// In this operand order a NaN in the accumulator stays NaN.
		t.each(func(r, v int) { g.I("VMAX%s %s, %s, %s", t.P(), t.acc(r, v), zero, t.acc(r, v)) })
	})
}

// next emits the step to the next tile, or the end.
func (g *gen) next(t tile) {
	g.I("DECQ %d(AX)", offCount)
	g.I("JLE %s_done", t.label)
	for _, p := range []struct {
		reg       string
		off, step int
	}{{"DI", offA, offStepA}, {"BX", offB, offStepB}, {"DX", offC, offStepC}, {"SI", offBiasCol, offStepCol},
		{"SI", offBiasRow, offStepRow}} {
		g.I("MOVQ %d(AX), %s", p.off, p.reg)
		g.I("ADDQ %d(AX), %s", p.step, p.reg)
		g.I("MOVQ %s, %d(AX)", p.reg, p.off)
	}
	g.I("MOVQ %d(AX), CX", offK)
	g.I("JMP %s_again", t.label)
	g.L("%s_done:", t.label)
	g.I("VZEROUPPER")
	g.I("RET")
}

// nextC emits R15 = the first element of the next tile of C.
func (g *gen) nextC(t tile, label string) {
	g.I("MOVQ %d(AX), R15", offPFLast)
	g.I("CMPQ %d(AX), $1", offCount)
	g.I("JLE %s_%s", t.label, label)
	g.I("MOVQ %d(AX), R15", offStepC)
	g.L("%s_%s:", t.label, label)
	g.I("ADDQ DX, R15")
}

// prefetchLoop emits the main loop of a full tile, four steps of k at a time, for the
// layout that matters: A's rows are contiguous along k. What it leaves, and
// other layouts, are for the loop that follows.
//
// Meanwhile it fetches, into the L2 cache, a line every step (AVX2, whose tiles
// leave less time: every four steps) of what args.pf walks through and, after each
// run of args.pfRun steps, a quarter of the next tile of C.
//
//	R15 = where to fetch next
//	AVX-512: R11 = nine rows of B
//	AVX2: SI = the distance of the rows of B that are fetched, R14 = the distance for the last ones, from R11 steps before the run's end on
func (g *gen) prefetchLoop(t tile) {
	outer, loop, short, skip := t.label+"_o", t.label+"_r", t.label+"_s", t.label+"_g"
	g.I("CMPQ R11, $%d", t.ES)
	g.I("JNE %s", skip)
	g.nextC(t, "n")
	g.I("MOVQ R15, %d(AX)", offPFC)
	if t.Mask {
		g.I("LEAQ (R12)(R12*8), R11")
	} else {
		g.I("MOVQ %d(AX), SI", offNearB)
	}
	g.L("%s:", outer)
	g.I("SUBQ %d(AX), CX", offPFRun)
	g.I("JLT %s", short)
	g.I("MOVQ CX, %d(AX)", offRest)
	if !t.Mask {
		g.I("MOVQ $11, R11")
		g.I("SUBQ CX, R11")
	}
	g.I("MOVQ %d(AX), CX", offPFRun)
	g.I("MOVQ %d(AX), R15", offPF)
	g.I("PCALIGN $32")
	g.L("%s:", loop)
	if !t.Mask {
		g.I("CMPQ CX, R11")
		g.I("CMOVQLE R14, SI")
	}
	for u := range 4 {
		at, next := "(BX)", "(BX)(R12*8)"
		switch {
		case !t.Mask:
			next = "(BX)(SI*1)"
		case u%2 == 1:
			at, next = "(BX)(R12*1)", "(BX)(R11*1)"
		}
		for v := range t.nv {
			g.I("VMOVU%s %d%s, %s", t.P(), v*t.Width, at, t.b(v))
		}
		// Rows of B read in place lie apart: the hardware does not foresee the
		// next ones.
		for off := 0; off < t.nv*t.Width; off += 64 {
			g.I("PREFETCHT0 %d%s", off, next)
		}
		for r := range t.rows {
			g.I("VBROADCAST%s %d%s, %s", t.SC(), u*t.ES, rowAddr[r], t.a(r))
			for v := range t.nv {
				g.I("VFMADD231%s %s, %s, %s", t.P(), t.b(v), t.a(r), t.acc(r, v))
			}
		}
		switch {
		case !t.Mask:
			g.I("ADDQ R12, BX")
		case u%2 == 1:
			g.I("LEAQ (BX)(R12*2), BX")
		}
		if t.Mask || u == 3 {
			g.I("PREFETCHT1 (R15)")
			g.I("ADDQ %d(AX), R15", []int{offPFSide, offPFBack, offPFSide, offPFStep}[u])
		}
	}
	g.I("ADDQ $%d, DI", 4*t.ES)
	if t.rows > 7 {
		g.I("ADDQ $%d, SI", 4*t.ES)
	}
	g.I("SUBQ $4, CX")
	g.I("JG %s", loop)
	g.I("ADDQ %d(AX), R15", offPFJump)
	g.I("MOVQ R15, %d(AX)", offPF)
	g.I("MOVQ %d(AX), R15", offPFC)
	for range (t.rows + 3) / 4 {
		for off := 0; off < t.nv*t.Width; off += 64 {
			g.I("PREFETCHT1 %d(R15)", off)
		}
		g.I("ADDQ R13, R15")
	}
	g.I("MOVQ R15, %d(AX)", offPFC)
	g.I("MOVQ %d(AX), CX", offRest)
	g.I("JMP %s", outer)
	g.L("%s:", short)
	g.I("ADDQ %d(AX), CX", offPFRun)
	g.I("MOVQ %d(AX), R11", offCSA)
	g.L("%s:", skip)
}

// streamLoop emits the loop of a tile that reads rows of B which lie apart and
// which nobody else will read. It fetches two lines per step into the L2 cache,
// from args.pf on, and jumps after each run of args.pfRun steps: rows of what
// comes next, in the order of memory. Where it stopped it goes on in the next
// tile.
//
//	R13 = where to fetch next
func (g *gen) streamLoop(t tile) {
	g.I("TESTQ $%d, %d(AX)", flagStreamB, offFlags)
	g.I("JZ %s_nostream", t.label)
	g.I("MOVQ %d(AX), R15", offNearB)
	g.L("%s_co:", t.label)
	g.I("MOVQ %d(AX), R13", offPFLeft)
	g.I("CMPQ CX, R13")
	g.I("CMOVQLT CX, R13")
	g.I("SUBQ R13, %d(AX)", offPFLeft)
	g.I("SUBQ R13, CX")
	g.I("MOVQ CX, %d(AX)", offRest)
	g.I("MOVQ R13, CX")
	g.I("MOVQ %d(AX), R13", offPF)
	g.I("PCALIGN $32")
	g.L("%s_cl:", t.label)
	for off := 0; off < t.nv*t.Width; off += 64 {
		g.I("PREFETCHT1 %d(R13)", off)
	}
	g.I("ADDQ $%d, R13", t.nv*t.Width)
	g.step(t)
	g.I("DECQ CX")
	g.I("JG %s_cl", t.label)
	g.I("CMPQ %d(AX), $0", offPFLeft)
	g.I("JG %s_cs", t.label)
	g.I("ADDQ %d(AX), R13", offPFJump)
	g.I("MOVQ %d(AX), CX", offPFRun)
	g.I("MOVQ CX, %d(AX)", offPFLeft)
	g.L("%s_cs:", t.label)
	g.I("MOVQ R13, %d(AX)", offPF)
	g.I("MOVQ %d(AX), CX", offRest)
	g.I("TESTQ CX, CX")
	g.I("JG %s_co", t.label)
	g.I("MOVQ %d(AX), R13", offLDC)
	g.I("JMP %s_e", t.label)
	g.L("%s_nostream:", t.label)
}

// fusedPackLoop emits a loop of four steps of k at a time, for a strip of B that is
// packed and rows of A that are contiguous along k. Every other step it copies a
// row of B that comes later to args.packDst, and fetches another into the L2 cache,
// args.packPrefetch further on, until args.packLeft steps have been made, and then
// once more with args.thenPrefetch and args.thenLeft. The loops that follow make the
// steps that remain. Before it begins it fetches the next tile of C.
//
//	R15 = the row to copy   R13 = where it goes   R11 = from it to what is fetched
func (g *gen) fusedPackLoop(t tile) {
	g.I("TESTQ $%d, %d(AX)", flagFusedPack, offFlags)
	g.I("JZ %s_nofill", t.label)
	g.nextC(t, "fl")
	for r := range t.rows {
		for off := 0; off < t.nv*t.Width; off += 64 {
			g.I("PREFETCHT1 %d(R15)", off)
		}
		if r+1 < t.rows {
			g.I("ADDQ R13, R15")
		}
	}
	g.L("%s_fo:", t.label)
	g.I("MOVQ CX, R15")
	g.I("ANDQ $-4, R15")
	g.I("CMPQ R15, %d(AX)", offPackLeft)
	g.I("CMOVQGT %d(AX), R15", offPackLeft)
	g.I("TESTQ R15, R15")
	g.I("JLE %s_nofill", t.label)
	g.I("SUBQ R15, %d(AX)", offPackLeft)
	g.I("SUBQ R15, CX")
	g.I("MOVQ CX, %d(AX)", offRest)
	g.I("MOVQ R15, CX")
	g.I("MOVQ %d(AX), R15", offPackSrc)
	g.I("MOVQ %d(AX), R13", offPackDst)
	g.I("MOVQ %d(AX), R11", offPackPrefetch)
	g.I("PCALIGN $32")
	g.L("%s_fi:", t.label)
	width := t.nv * t.Width
	for u := range 4 {
		for v := range t.nv {
			g.I("VMOVU%s %d(BX), %s", t.P(), u*width+v*t.Width, t.b(v))
		}
		for r := range t.rows {
			g.I("VBROADCAST%s %d%s, %s", t.SC(), u*t.ES, rowAddr[r], t.a(r))
			for v := range t.nv {
				g.I("VFMADD231%s %s, %s, %s", t.P(), t.b(v), t.a(r), t.acc(r, v))
			}
		}
		if u%2 == 1 {
			for v := range t.nv {
				g.I("VMOVU%s %d(R15), %s", t.P(), v*t.Width, t.b(v))
				g.I("VMOVU%s %s, %d(R13)", t.P(), t.b(v), v*t.Width)
			}
			for off := 0; off < width; off += 64 {
				g.I("PREFETCHT1 %d(R15)(R11*1)", off)
			}
			g.I("PREFETCHT1 %d(R15)(R11*1)", width-1) // rows may begin anywhere
			g.I("ADDQ %d(AX), R15", offPackStep)
			g.I("ADDQ $%d, R13", width)
		}
	}
	g.I("ADDQ $%d, BX", 4*width)
	g.I("ADDQ $%d, DI", 4*t.ES)
	if t.rows > 7 {
		g.I("ADDQ $%d, SI", 4*t.ES)
	}
	g.I("SUBQ $4, CX")
	g.I("JG %s_fi", t.label)
	g.I("MOVQ R15, %d(AX)", offPackSrc)
	g.I("MOVQ R13, %d(AX)", offPackDst)
	g.I("MOVQ %d(AX), R13", offLDC)
	g.I("MOVQ %d(AX), R11", offCSA)
	g.I("MOVQ %d(AX), CX", offRest)
	g.I("CMPQ %d(AX), $0", offPackLeft)
	g.I("JG %s_nofill", t.label)
	g.I("MOVQ %d(AX), R15", offThenPrefetch)
	g.I("MOVQ R15, %d(AX)", offPackPrefetch)
	g.I("MOVQ %d(AX), R15", offThenLeft)
	g.I("MOVQ R15, %d(AX)", offPackLeft)
	g.I("MOVQ $0, %d(AX)", offThenLeft)
	g.I("JMP %s_fo", t.label)
	g.L("%s_nofill:", t.label)
}

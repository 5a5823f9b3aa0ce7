// Command gemm writes the matrix-multiplication kernels of internal/cpu/gemm.
//
// It emits text rather than building instructions: the kernels are a few
// regular loops over rows and vectors, and what is printed is what one reads in
// the .s file. Run it with go generate in internal/cpu/gemm.
package main

import (
	"flag"
	"fmt"
	"log"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/text"
)

// An isa is one instruction set for one element type.
type isa struct {
	text.ISA
	suffix string // of the function names
	whole  bool   // integers, which wrap around
	half   string // B holds floats of 16 bits, converted as they are loaded: bfloat16, "b", or IEEE, "h"
}

// loadHalf emits the load of 16-bit floats into the lanes of dst; mask is empty
// or says which.
func (g *gen) loadHalf(s isa, addr, mask, dst string) {
	name := "VPMOVZXWD"
	if s.half == "h" {
		name = "VCVTPH2PS"
	}
	if mask == "" {
		g.I("%s %s, %s", name, addr, dst)
	} else {
		g.I("%s.Z %s, %s, %s", name, addr, mask, dst)
	}
	if s.half == "b" {
		g.I("VPSLLD $16, %s, %s", dst, dst)
	}
}

// widthB is the bytes of B that fill a vector.
func (s isa) widthB() int {
	if s.half != "" {
		return s.Width / 2
	}
	return s.Width
}

// add and mul name the instructions for the element type.
func (s isa) add() string { return s.op("VADD", "VPADD") }
func (s isa) mul() string { return s.op("VMUL", "VPMULL") }

func (s isa) op(float, whole string) string {
	if s.whole {
		return whole + map[int]string{4: "D", 8: "Q"}[s.ES]
	}
	return float + s.P()
}

// muladd emits acc += x*y; there is no fused instruction for integers, which
// need the register tmp in between.
func (g *gen) muladd(s isa, x, y, acc, tmp string) {
	if !s.whole {
		g.I("VFMADD231%s %s, %s, %s", s.P(), x, y, acc)
		return
	}
	g.I("%s %s, %s, %s", s.mul(), x, y, tmp)
	g.I("%s %s, %s, %s", s.add(), tmp, acc, acc)
}

// Offsets in the Go struct args (kernel_amd64.go), which a test checks.
const (
	offA       = 0
	offB       = 8
	offC       = 16
	offRSA     = 24
	offCSA     = 32
	offLDB     = 40
	offLDC     = 48
	offK       = 56
	offVariant = 64 // shape index*16 + rows
	offMask    = 72 // AVX-512: one bit per column
	offMask0   = 80 // AVX2: address of the first vector's mask; the second's follows
	offMask1   = 88
	offAlpha   = 96
	offBeta    = 104
	offBiasCol = 112
	offBiasRow = 120
	offFlags   = 128

	// Repetition: the same tile again, with the pointers moved on.
	offCount   = 136
	offStepA   = 144
	offStepB   = 152
	offStepC   = 160
	offStepCol = 168
	offStepRow = 176

	// Prefetch of what comes after this tile, in rows of equal length.
	offPF     = 184 // next address
	offPFStep = 192 // bytes from one prefetch to the next
	offPFRun  = 200 // steps of k between two jumps
	offPFJump = 208 // bytes to the next row
	offRest   = 216 // scratch: steps of k after this run
	offPFLast = 224 // from the last tile of C to the one after it
	offPFC    = 232 // scratch: next row of the next tile of C
	offNear   = 240 // from a row of B to what is fetched with it into the L1 cache
	offPanel  = 248 // where flagCopyB leaves the strip of B
	offPFLeft = 256 // with flagCopyB: steps of k until the next jump

	flagLoadC   = 1
	flagBiasCol = 2
	flagBiasRow = 4
	flagReLU    = 8
	flagAlpha   = 16
	flagCopyB   = 32
)

// A shape is one family of micro-kernels: rows 1..rows by nv vectors.
type shape struct {
	nv, rows int
	masked   bool
}

type gen struct{ text.Gen }

// rowAddr names row i of A. Two pointers and three multiples of the row stride
// reach fourteen rows, so that a step along k moves two registers only.
//
//	DI = row 0, SI = row 7, R8 = stride, R9 = 3 strides, R10 = 5 strides
var rowAddr = [...]string{
	"(DI)", "(DI)(R8*1)", "(DI)(R8*2)", "(DI)(R9*1)", "(DI)(R8*4)", "(DI)(R10*1)", "(DI)(R9*2)",
	"(SI)", "(DI)(R8*8)", "(SI)(R8*2)", "(SI)(R9*1)", "(SI)(R8*4)", "(DI)(R9*4)", "(SI)(R9*2)",
}

// family emits one assembly function holding all micro-kernels of an isa:
//
//	C[0:rows, 0:cols] = act(alpha*A*B + beta*C + bias)
//
// with A read by broadcasts through arbitrary strides and B read as rows of
// contiguous vectors. Every variant adds the products in the order of k with
// one fused multiply-add each, so an element's bits do not depend on which
// variant computed it.
func (g *gen) family(name string, s isa, shapes []shape) {
	g.L("")
	g.L("// func %s(a *args)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVQ a+0(FP), AX")
	g.I("MOVQ %d(AX), DI", offA)
	g.I("MOVQ %d(AX), BX", offB)
	g.I("MOVQ %d(AX), DX", offC)
	g.I("MOVQ %d(AX), R8", offRSA)
	g.I("MOVQ %d(AX), R11", offCSA)
	g.I("MOVQ %d(AX), R12", offLDB)
	g.I("MOVQ %d(AX), R13", offLDC)
	g.I("MOVQ %d(AX), CX", offK)
	g.I("LEAQ (R8)(R8*2), R9")
	g.I("LEAQ (R8)(R8*4), R10")
	g.I("MOVQ %d(AX), R15", offVariant)
	// A binary search over the variants: cheaper than it looks next to a tile.
	type target struct {
		key   int
		label string
		sh    shape
		rows  int
	}
	var ts []target
	for si, sh := range shapes {
		for r := 1; r <= sh.rows; r++ {
			ts = append(ts, target{si*16 + r, fmt.Sprintf("%s_s%dr%d", s.suffix, si, r), sh, r})
		}
	}
	var search func(lo, hi int)
	search = func(lo, hi int) {
		if hi-lo == 1 {
			g.I("JMP %s", ts[lo].label)
			return
		}
		mid := (lo + hi) / 2
		less := g.NewLabel(s.suffix + "_lt")
		g.I("CMPQ R15, $%d", ts[mid].key)
		g.I("JLT %s", less)
		search(mid, hi)
		g.L("%s:", less)
		search(lo, mid)
	}
	search(0, len(ts))
	for _, t := range ts {
		g.kernel(s, t.label, t.sh, t.rows)
	}
}

func (g *gen) kernel(s isa, label string, sh shape, rows int) {
	nv := sh.nv
	acc := func(r, v int) string { return s.V(r*nv + v) }
	top := s.Regs
	bcast := [2]string{s.V(top - 1), s.V(top - 2)}
	bv := func(v int) string { return s.V(top - 2 - nv + v) }
	used := rows*nv + nv + 2
	// Products of integers go through four registers in turn.
	prod := func(r, v int) string { return s.V(top - 6 - nv + (r*nv+v)%4) }
	if s.whole {
		used += 4
	}
	maskReg := func(v int) string {
		if s.Mask {
			return fmt.Sprintf("K%d", v+1)
		}
		return s.V(rows*nv + v)
	}
	if sh.masked && !s.Mask {
		used += nv
	}
	if used > s.Regs {
		log.Fatalf("%s: %d registers", label, used)
	}
	load := func(addr string, v int, dst string) {
		switch {
		case !sh.masked:
			g.I("VMOVU%s %s, %s", s.P(), addr, dst)
		case s.Mask:
			g.I("VMOVU%s.Z %s, %s, %s", s.P(), addr, maskReg(v), dst)
		default:
			g.I("VMASKMOV%s %s, %s, %s", s.P(), addr, maskReg(v), dst)
		}
	}

	// A full tile that is worth it fetches the next block of A meanwhile, one
	// cache line every two steps.
	ahead := !sh.masked && rows*nv >= 12 && !s.whole && s.half == ""
	copies := sh.copies(rows) && !s.whole
	// Rows of B read in place lie apart: the hardware does not foresee the next
	// ones. Where there is little arithmetic to hide behind, these instructions
	// would cost more than they bring.
	near := !sh.masked && rows*nv >= 8
	again := label + "_again"

	g.L("")
	cols := "all columns"
	if sh.masked {
		cols = "masked columns"
	}
	g.L("// %d rows by %d vectors, %s", rows, nv, cols)
	g.L("%s:", label)
	if sh.masked {
		if s.Mask {
			g.I("MOVQ %d(AX), R15", offMask)
			for v := range nv {
				g.I("KMOVW R15, %s", maskReg(v))
				if v+1 < nv {
					g.I("SHRQ $%d, R15", s.Lanes())
				}
			}
		} else {
			for v := range nv {
				g.I("MOVQ %d(AX), R15", offMask0+8*v)
				g.I("VMOVU%s (R15), %s", s.P(), maskReg(v))
			}
		}
	}
	g.L("%s:", again)
	if rows > 7 {
		g.I("LEAQ (DI)(R9*2), SI")
		g.I("ADDQ R8, SI")
	}
	for r := range rows {
		for v := range nv {
			g.I("VXOR%s %s, %s, %s", s.P(), acc(r, v), acc(r, v), acc(r, v))
		}
	}
	step := func(copied bool) {
		for v := range nv {
			addr := fmt.Sprintf("%d(BX)", v*s.widthB())
			switch {
			case s.half == "":
				load(addr, v, bv(v))
			case sh.masked:
				g.loadHalf(s, addr, maskReg(v), bv(v))
			default:
				g.loadHalf(s, addr, "", bv(v))
			}
		}
		if copied {
			for v := range nv {
				g.I("VMOVU%s %s, %d(R13)", s.P(), bv(v), v*s.Width)
			}
			g.I("ADDQ $%d, R13", nv*s.Width)
			for off := 0; off < nv*s.Width; off += 64 {
				g.I("PREFETCHT1 %d(R15)", off)
			}
			g.I("ADDQ $%d, R15", nv*s.Width)
		} else if near {
			for off := 0; off < nv*s.widthB(); off += 64 {
				g.I("PREFETCHT0 %d(BX)(R15*1)", off)
			}
		}
		g.I("ADDQ R12, BX")
		for r := range rows {
			t := bcast[r%2]
			g.I("VBROADCAST%s %s, %s", s.SC(), rowAddr[r], t)
			for v := range nv {
				g.muladd(s, bv(v), t, acc(r, v), prod(r, v))
			}
		}
		g.I("ADDQ R11, DI")
		if rows > 7 {
			g.I("ADDQ R11, SI")
		}
	}
	// Small tiles have little to hide a loop's overhead behind.
	unroll := 2
	if rows*nv <= 8 && !s.whole {
		unroll = 4
	}
	loop, tail, one, end := label+"_k", label+"_t", label+"_t1", label+"_e"
	if copies {
		g.copying(label, step)
	}
	if ahead {
		g.ahead(s, label, nv, rows)
	}
	if near {
		g.I("MOVQ %d(AX), R15", offNear)
	}
	g.I("SUBQ $%d, CX", unroll)
	g.I("JLT %s", tail)
	g.I("PCALIGN $32")
	g.L("%s:", loop)
	for range unroll {
		step(false)
	}
	g.I("SUBQ $%d, CX", unroll)
	g.I("JGE %s", loop)
	g.L("%s:", tail)
	g.I("ADDQ $%d, CX", unroll)
	g.I("JLE %s", end)
	g.L("%s:", one)
	step(false)
	g.I("DECQ CX")
	g.I("JG %s", one)

	g.L("%s:", end)
	if copies {
		g.I("MOVQ %d(AX), R13", offLDC)
	}
	al, tmp := bcast[0], bcast[1]
	g.I("MOVQ %d(AX), R15", offFlags)
	skip := label + "_al"
	g.I("TESTQ $%d, R15", flagAlpha)
	g.I("JZ %s", skip)
	g.I("VBROADCAST%s %d(AX), %s", s.SC(), offAlpha, al)
	for r := range rows {
		for v := range nv {
			g.I("%s %s, %s, %s", s.mul(), al, acc(r, v), acc(r, v))
		}
	}
	g.L("%s:", skip)

	// C is not read when beta is zero: it may hold anything.
	skip = label + "_c"
	g.I("TESTQ $%d, R15", flagLoadC)
	g.I("JZ %s", skip)
	g.I("VBROADCAST%s %d(AX), %s", s.SC(), offBeta, al)
	g.I("MOVQ DX, SI")
	for r := range rows {
		for v := range nv {
			load(fmt.Sprintf("%d(SI)", v*s.Width), v, tmp)
			g.muladd(s, tmp, al, acc(r, v), tmp)
		}
		g.I("ADDQ R13, SI")
	}
	g.L("%s:", skip)

	if !s.whole { // integers get no bias
		g.epilogue(s, label, nv, rows, acc, bv, bcast, load)
	}

	for r := range rows {
		for v := range nv {
			addr := fmt.Sprintf("%d(DX)", v*s.Width)
			switch {
			case !sh.masked:
				g.I("VMOVU%s %s, %s", s.P(), acc(r, v), addr)
			case s.Mask:
				g.I("VMOVU%s %s, %s, %s", s.P(), acc(r, v), maskReg(v), addr)
			default:
				g.I("VMASKMOV%s %s, %s, %s", s.P(), acc(r, v), maskReg(v), addr)
			}
		}
		if r+1 < rows {
			g.I("ADDQ R13, DX")
		}
	}
	// The next tile.
	done := label + "_done"
	g.I("DECQ %d(AX)", offCount)
	g.I("JLE %s", done)
	for _, p := range []struct {
		reg       string
		off, step int
	}{{"DI", offA, offStepA}, {"BX", offB, offStepB}, {"DX", offC, offStepC}, {"SI", offBiasCol, offStepCol}, {"SI", offBiasRow, offStepRow}} {
		g.I("MOVQ %d(AX), %s", p.off, p.reg)
		g.I("ADDQ %d(AX), %s", p.step, p.reg)
		g.I("MOVQ %s, %d(AX)", p.reg, p.off)
	}
	g.I("MOVQ %d(AX), CX", offK)
	g.I("JMP %s", again)
	g.L("%s:", done)
	g.I("VZEROUPPER")
	g.I("RET")
}

// epilogue emits the biases and ReLU, on a tile in registers.
func (g *gen) epilogue(s isa, label string, nv, rows int, acc func(r, v int) string, bv func(v int) string, bcast [2]string, load func(addr string, v int, dst string)) {
	tmp := bcast[1]
	skip := label + "_bc"
	g.I("TESTQ $%d, R15", flagBiasCol)
	g.I("JZ %s", skip)
	g.I("MOVQ %d(AX), SI", offBiasCol)
	for v := range nv {
		load(fmt.Sprintf("%d(SI)", v*s.Width), v, bv(v))
	}
	for r := range rows {
		for v := range nv {
			g.I("VADD%s %s, %s, %s", s.P(), bv(v), acc(r, v), acc(r, v))
		}
	}
	g.L("%s:", skip)

	skip = label + "_br"
	g.I("TESTQ $%d, R15", flagBiasRow)
	g.I("JZ %s", skip)
	g.I("MOVQ %d(AX), SI", offBiasRow)
	for r := range rows {
		g.I("VBROADCAST%s %d(SI), %s", s.SC(), r*s.ES, bcast[r%2])
		for v := range nv {
			g.I("VADD%s %s, %s, %s", s.P(), bcast[r%2], acc(r, v), acc(r, v))
		}
	}
	g.L("%s:", skip)

	skip = label + "_re"
	g.I("TESTQ $%d, R15", flagReLU)
	g.I("JZ %s", skip)
	g.I("VXOR%s %s, %s, %s", s.P(), tmp, tmp, tmp)
	for r := range rows {
		for v := range nv {
			// In this operand order a NaN in the accumulator stays NaN.
			g.I("VMAX%s %s, %s, %s", s.P(), acc(r, v), tmp, acc(r, v))
		}
	}
	g.L("%s:", skip)
}

// ahead emits the main loop of a full tile, four steps of k at a time, for the
// layout that matters: A's rows are contiguous along k. What it leaves, and
// other layouts, are for the loop that follows.
//
// Meanwhile it fetches, into the L2 cache, a line every four steps of what
// args.pf walks through and, after each run of args.pfRun steps, a quarter of
// the next tile of C.
//
//	R11 = nine rows of B   R15 = where to fetch next
func (g *gen) ahead(s isa, label string, nv, rows int) {
	bcast := [2]string{s.V(s.Regs - 1), s.V(s.Regs - 2)}
	bv := func(v int) string { return s.V(s.Regs - 2 - nv + v) }
	outer, loop, short, skip := label+"_o", label+"_r", label+"_s", label+"_g"
	g.I("CMPQ R11, $%d", s.ES)
	g.I("JNE %s", skip)
	g.I("MOVQ %d(AX), R15", offPFLast)
	g.I("CMPQ %d(AX), $1", offCount)
	g.I("JLE %s_n", label)
	g.I("MOVQ %d(AX), R15", offStepC)
	g.L("%s_n:", label)
	g.I("ADDQ DX, R15")
	g.I("MOVQ R15, %d(AX)", offPFC)
	g.I("LEAQ (R12)(R12*8), R11")
	g.L("%s:", outer)
	g.I("SUBQ %d(AX), CX", offPFRun)
	g.I("JLT %s", short)
	g.I("MOVQ CX, %d(AX)", offRest)
	g.I("MOVQ %d(AX), CX", offPFRun)
	g.I("MOVQ %d(AX), R15", offPF)
	g.I("PCALIGN $32")
	g.L("%s:", loop)
	for u := range 4 {
		at, next := "(BX)", "(BX)(R12*8)"
		if u%2 == 1 {
			at, next = "(BX)(R12*1)", "(BX)(R11*1)"
		}
		for v := range nv {
			g.I("VMOVU%s %d%s, %s", s.P(), v*s.Width, at, bv(v))
		}
		// Rows of B read in place lie apart: the hardware does not foresee the
		// next ones.
		for off := 0; off < nv*s.Width; off += 64 {
			g.I("PREFETCHT0 %d%s", off, next)
		}
		for r := range rows {
			t := bcast[r%2]
			g.I("VBROADCAST%s %d%s, %s", s.SC(), u*s.ES, rowAddr[r], t)
			for v := range nv {
				g.I("VFMADD231%s %s, %s, %s", s.P(), bv(v), t, s.V(r*nv+v))
			}
		}
		if u%2 == 1 {
			g.I("LEAQ (BX)(R12*2), BX")
		}
	}
	g.I("PREFETCHT1 (R15)")
	g.I("ADDQ %d(AX), R15", offPFStep)
	g.I("ADDQ $%d, DI", 4*s.ES)
	if rows > 7 {
		g.I("ADDQ $%d, SI", 4*s.ES)
	}
	g.I("SUBQ $4, CX")
	g.I("JG %s", loop)
	g.I("ADDQ %d(AX), R15", offPFJump)
	g.I("MOVQ R15, %d(AX)", offPF)
	g.I("MOVQ %d(AX), R15", offPFC)
	for range (rows + 3) / 4 {
		for off := 0; off < nv*s.Width; off += 64 {
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

// copies reports whether the tile has a loop that copies B.
func (sh shape) copies(rows int) bool { return !sh.masked && sh.nv == 2 && 2*rows >= sh.rows }

// copying emits the loop of the first tile of a strip that others will read: it
// stores the rows of B one behind the other. It also fetches two lines per step
// into the L2 cache, from args.pf on, and jumps after each run of args.pfRun
// steps: rows of what comes next, in the order of memory. Where it stopped it
// goes on in the next tile.
//
//	R13 = where the next row goes   R15 = where to fetch next
func (g *gen) copying(label string, step func(copied bool)) {
	g.I("TESTQ $%d, %d(AX)", flagCopyB, offFlags)
	g.I("JZ %s_nocopy", label)
	g.I("MOVQ %d(AX), R13", offPanel)
	g.L("%s_co:", label)
	g.I("MOVQ %d(AX), R15", offPFLeft)
	g.I("CMPQ CX, R15")
	g.I("CMOVQLT CX, R15")
	g.I("SUBQ R15, %d(AX)", offPFLeft)
	g.I("SUBQ R15, CX")
	g.I("MOVQ CX, %d(AX)", offRest)
	g.I("MOVQ R15, CX")
	g.I("MOVQ %d(AX), R15", offPF)
	g.I("PCALIGN $32")
	g.L("%s_cl:", label)
	step(true)
	g.I("DECQ CX")
	g.I("JG %s_cl", label)
	g.I("CMPQ %d(AX), $0", offPFLeft)
	g.I("JG %s_cs", label)
	g.I("ADDQ %d(AX), R15", offPFJump)
	g.I("MOVQ %d(AX), CX", offPFRun)
	g.I("MOVQ CX, %d(AX)", offPFLeft)
	g.L("%s_cs:", label)
	g.I("MOVQ R15, %d(AX)", offPF)
	g.I("MOVQ %d(AX), CX", offRest)
	g.I("TESTQ CX, CX")
	g.I("JG %s_co", label)
	g.I("JMP %s_e", label)
	g.L("%s_nocopy:", label)
}

// peak emits a loop of independent fused multiply-adds: what the core can do.
func (g *gen) peak(name string, s isa, n int) {
	g.L("")
	g.L("// func %s(n int)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVQ n+0(FP), CX")
	for r := range s.Regs {
		g.I("VXORPS %s, %s, %s", s.V(r), s.V(r), s.V(r))
	}
	g.I("PCALIGN $32")
	g.L("%s_loop:", name)
	for r := range n {
		g.I("VFMADD231PS %s, %s, %s", s.V(s.Regs-1), s.V(s.Regs-2), s.V(r))
	}
	g.I("DECQ CX")
	g.I("JG %s_loop", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

func main() {
	out := flag.String("out", ".", "folder to write the assembly files to")
	flag.Parse()
	log.SetFlags(0)
	avx512 := []shape{{2, 14, false}, {2, 14, true}, {1, 14, true}, {4, 6, false}, {4, 6, true}}
	// Sixteen registers: masks of two vectors leave room for four rows.
	avx2 := []shape{{2, 6, false}, {2, 4, true}, {1, 6, true}}
	for _, f := range []struct {
		file, tag string
		isa       isa
		shapes    []shape
	}{
		{"avx512", "AVX512", isa{ISA: text.AVX512}, avx512},
		{"avx2", "AVX2", isa{ISA: text.AVX2}, avx2},
	} {
		g := &gen{text.New("gemm")}
		lowRows := 4
		if f.isa.Regs == 16 {
			lowRows = 2
		}
		for _, t := range []struct {
			letter string
			es     int
		}{{"s", 4}, {"d", 8}} {
			s := f.isa
			s.ES = t.es
			s.suffix = t.letter
			g.family(t.letter+"gemm"+f.tag, s, f.shapes)
			g.transpose(t.letter+"transpose"+f.tag, s)
			if s.Mask {
				g.copyPanel(t.letter+"copy"+f.tag, s)
			}
			g.dot(t.letter+"dot"+f.tag, s, lowRows)
		}
		s := f.isa
		s.ES = 4
		g.peak("peak"+f.tag, s, s.Regs-4)
		g.Save(*out, f.file+"_amd64.s")
	}
	g := &gen{text.New("gemm")}
	for i, letter := range []string{"i", "l"} {
		s := isa{ISA: text.AVX512, suffix: letter, whole: true}
		s.ES = 4 << i
		// Their products need registers.
		g.family(letter+"gemmAVX512", s, []shape{{2, 12, false}, {2, 12, true}, {1, 12, true}})
		g.dot(letter+"dotAVX512", s, 4)
	}
	g.Save(*out, "integer_amd64.s")
	g = &gen{text.New("gemm")}
	for _, letter := range []string{"b", "h"} {
		s := isa{ISA: text.AVX512, suffix: letter, half: letter}
		s.ES = 4
		g.family(letter+"gemmAVX512", s, []shape{{4, 6, false}, {4, 6, true}})
		g.dot(letter+"dotAVX512", s, 4)
	}
	g.Save(*out, "half_amd64.s")
	g = &gen{text.New("gemm")}
	g.neon("sgemmNEON", 4)
	g.neon("dgemmNEON", 8)
	g.neonPeak()
	g.Save(*out, "neon_arm64.s")
	lowFile(*out)
}

func sprintf(format string, a ...any) string { return fmt.Sprintf(format, a...) }

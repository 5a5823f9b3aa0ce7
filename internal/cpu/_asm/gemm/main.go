// Command gemm writes the matrix-multiplication kernels of internal/cpu/gemm.
//
// It emits text rather than building instructions: the kernels are a few
// regular loops over rows and vectors, and what is printed is what one reads in
// the .s file. Run it with go generate in internal/cpu/gemm.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

// An isa is one instruction set for one element type.
type isa struct {
	suffix string // of the function names
	reg    string // "Z" or "Y"
	regs   int    // number of vector registers
	width  int    // bytes per vector
	es     int    // bytes per element
	mask   bool   // has mask registers
}

func (s isa) p() string      { return map[int]string{4: "PS", 8: "PD"}[s.es] }
func (s isa) sc() string     { return map[int]string{4: "SS", 8: "SD"}[s.es] }
func (s isa) lanes() int     { return s.width / s.es }
func (s isa) v(i int) string { return fmt.Sprintf("%s%d", s.reg, i) }

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

	flagLoadC   = 1
	flagBiasCol = 2
	flagBiasRow = 4
	flagReLU    = 8
	flagAlpha   = 16
)

// A shape is one family of micro-kernels: rows 1..rows by nv vectors.
type shape struct {
	nv, rows int
	masked   bool
}

type gen struct {
	bytes.Buffer
	label int
}

func (g *gen) l(format string, a ...any)   { fmt.Fprintf(g, format+"\n", a...) }
func (g *gen) i(format string, a ...any)   { fmt.Fprintf(g, "\t"+format+"\n", a...) }
func (g *gen) newLabel(name string) string { g.label++; return fmt.Sprintf("%s%d", name, g.label) }

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
	g.l("")
	g.l("// func %s(a *args)", name)
	g.l("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.i("MOVQ a+0(FP), AX")
	g.i("MOVQ %d(AX), DI", offA)
	g.i("MOVQ %d(AX), BX", offB)
	g.i("MOVQ %d(AX), DX", offC)
	g.i("MOVQ %d(AX), R8", offRSA)
	g.i("MOVQ %d(AX), R11", offCSA)
	g.i("MOVQ %d(AX), R12", offLDB)
	g.i("MOVQ %d(AX), R13", offLDC)
	g.i("MOVQ %d(AX), CX", offK)
	g.i("LEAQ (R8)(R8*2), R9")
	g.i("LEAQ (R8)(R8*4), R10")
	g.i("MOVQ %d(AX), R15", offVariant)
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
			g.i("JMP %s", ts[lo].label)
			return
		}
		mid := (lo + hi) / 2
		less := g.newLabel(s.suffix + "_lt")
		g.i("CMPQ R15, $%d", ts[mid].key)
		g.i("JLT %s", less)
		search(mid, hi)
		g.l("%s:", less)
		search(lo, mid)
	}
	search(0, len(ts))
	for _, t := range ts {
		g.kernel(s, t.label, t.sh, t.rows)
	}
}

func (g *gen) kernel(s isa, label string, sh shape, rows int) {
	nv := sh.nv
	acc := func(r, v int) string { return s.v(r*nv + v) }
	top := s.regs
	bcast := [2]string{s.v(top - 1), s.v(top - 2)}
	bv := func(v int) string { return s.v(top - 2 - nv + v) }
	used := rows*nv + nv + 2
	maskReg := func(v int) string {
		if s.mask {
			return fmt.Sprintf("K%d", v+1)
		}
		return s.v(rows*nv + v)
	}
	if sh.masked && !s.mask {
		used += nv
	}
	if used > s.regs {
		log.Fatalf("%s: %d registers", label, used)
	}
	load := func(addr string, v int, dst string) {
		switch {
		case !sh.masked:
			g.i("VMOVU%s %s, %s", s.p(), addr, dst)
		case s.mask:
			g.i("VMOVU%s.Z %s, %s, %s", s.p(), addr, maskReg(v), dst)
		default:
			g.i("VMASKMOV%s %s, %s, %s", s.p(), addr, maskReg(v), dst)
		}
	}

	// A full tile that is worth it fetches the next block of A meanwhile, one
	// cache line every two steps.
	ahead := !sh.masked && rows*nv >= 12
	again := label + "_again"

	g.l("")
	cols := "all columns"
	if sh.masked {
		cols = "masked columns"
	}
	g.l("// %d rows by %d vectors, %s", rows, nv, cols)
	g.l("%s:", label)
	if sh.masked {
		if s.mask {
			g.i("MOVQ %d(AX), R15", offMask)
			for v := range nv {
				g.i("KMOVW R15, %s", maskReg(v))
				if v+1 < nv {
					g.i("SHRQ $%d, R15", s.lanes())
				}
			}
		} else {
			for v := range nv {
				g.i("MOVQ %d(AX), R15", offMask0+8*v)
				g.i("VMOVU%s (R15), %s", s.p(), maskReg(v))
			}
		}
	}
	g.l("%s:", again)
	if rows > 7 {
		g.i("LEAQ (DI)(R9*2), SI")
		g.i("ADDQ R8, SI")
	}
	for r := range rows {
		for v := range nv {
			g.i("VXOR%s %s, %s, %s", s.p(), acc(r, v), acc(r, v), acc(r, v))
		}
	}
	step := func() {
		for v := range nv {
			load(fmt.Sprintf("%d(BX)", v*s.width), v, bv(v))
		}
		// Rows of B read in place lie apart: the hardware does not foresee the
		// next ones. Where there is little arithmetic to hide behind, these
		// instructions would cost more than they bring.
		if !sh.masked && rows*nv >= 8 {
			for off := 0; off < nv*s.width; off += 64 {
				g.i("PREFETCHT0 %d(BX)(R12*8)", off)
			}
		}
		g.i("ADDQ R12, BX")
		for r := range rows {
			t := bcast[r%2]
			g.i("VBROADCAST%s %s, %s", s.sc(), rowAddr[r], t)
			for v := range nv {
				g.i("VFMADD231%s %s, %s, %s", s.p(), bv(v), t, acc(r, v))
			}
		}
		g.i("ADDQ R11, DI")
		if rows > 7 {
			g.i("ADDQ R11, SI")
		}
	}
	// Small tiles have little to hide a loop's overhead behind.
	unroll := 2
	if rows*nv <= 8 {
		unroll = 4
	}
	loop, tail, one, end := label+"_k", label+"_t", label+"_t1", label+"_e"
	// The tile of C, at the last moment: a whole strip of B passes through the
	// L1 cache before.
	fetchC := func() {
		if sh.masked {
			return
		}
		g.i("MOVQ DX, R15")
		for r := range rows {
			for off := 0; off < nv*s.width; off += 64 {
				g.i("PREFETCHT0 %d(R15)", off)
			}
			if r+1 < rows {
				g.i("ADDQ R13, R15")
			}
		}
	}
	if ahead {
		// Runs of args.pfRun steps that fetch, into the L2 cache, a line every
		// two steps and a row of the next tile of C at the end.
		outer, short := label+"_o", label+"_s"
		g.i("MOVQ %d(AX), R15", offPFLast)
		g.i("CMPQ %d(AX), $1", offCount)
		g.i("JLE %s_n", label)
		g.i("MOVQ %d(AX), R15", offStepC)
		g.l("%s_n:", label)
		g.i("ADDQ DX, R15")
		g.i("MOVQ R15, %d(AX)", offPFC)
		g.i("MOVQ %d(AX), R15", offPF)
		g.l("%s:", outer)
		g.i("SUBQ %d(AX), CX", offPFRun)
		g.i("JLE %s", short)
		g.i("MOVQ CX, %d(AX)", offRest)
		g.i("MOVQ %d(AX), CX", offPFRun)
		g.i("PCALIGN $32")
		g.l("%s:", loop)
		step()
		step()
		g.i("PREFETCHT1 (R15)")
		g.i("ADDQ %d(AX), R15", offPFStep)
		g.i("SUBQ $2, CX")
		g.i("JG %s", loop)
		g.i("ADDQ %d(AX), R15", offPFJump)
		g.i("MOVQ R15, %d(AX)", offPF)
		g.i("MOVQ %d(AX), R15", offPFC)
		for off := 0; off < nv*s.width; off += 64 {
			g.i("PREFETCHT1 %d(R15)", off)
		}
		g.i("ADDQ R13, R15")
		g.i("MOVQ R15, %d(AX)", offPFC)
		g.i("MOVQ %d(AX), R15", offPF)
		g.i("MOVQ %d(AX), CX", offRest)
		g.i("JMP %s", outer)
		g.l("%s:", short)
		g.i("ADDQ %d(AX), CX", offPFRun)
	}
	fetchC()
	g.i("SUBQ $%d, CX", unroll)
	g.i("JLT %s", tail)
	g.i("PCALIGN $32")
	if ahead {
		loop = label + "_l"
	}
	g.l("%s:", loop)
	for range unroll {
		step()
	}
	g.i("SUBQ $%d, CX", unroll)
	g.i("JGE %s", loop)
	g.l("%s:", tail)
	g.i("ADDQ $%d, CX", unroll)
	g.i("JLE %s", end)
	g.l("%s:", one)
	step()
	g.i("DECQ CX")
	g.i("JG %s", one)

	g.l("%s:", end)
	al, tmp := bcast[0], bcast[1]
	g.i("MOVQ %d(AX), R15", offFlags)
	skip := label + "_al"
	g.i("TESTQ $%d, R15", flagAlpha)
	g.i("JZ %s", skip)
	g.i("VBROADCAST%s %d(AX), %s", s.sc(), offAlpha, al)
	for r := range rows {
		for v := range nv {
			g.i("VMUL%s %s, %s, %s", s.p(), al, acc(r, v), acc(r, v))
		}
	}
	g.l("%s:", skip)

	// C is not read when beta is zero: it may hold anything.
	skip = label + "_c"
	g.i("TESTQ $%d, R15", flagLoadC)
	g.i("JZ %s", skip)
	g.i("VBROADCAST%s %d(AX), %s", s.sc(), offBeta, al)
	g.i("MOVQ DX, SI")
	for r := range rows {
		for v := range nv {
			load(fmt.Sprintf("%d(SI)", v*s.width), v, tmp)
			g.i("VFMADD231%s %s, %s, %s", s.p(), tmp, al, acc(r, v))
		}
		g.i("ADDQ R13, SI")
	}
	g.l("%s:", skip)

	skip = label + "_bc"
	g.i("TESTQ $%d, R15", flagBiasCol)
	g.i("JZ %s", skip)
	g.i("MOVQ %d(AX), SI", offBiasCol)
	for v := range nv {
		load(fmt.Sprintf("%d(SI)", v*s.width), v, bv(v))
	}
	for r := range rows {
		for v := range nv {
			g.i("VADD%s %s, %s, %s", s.p(), bv(v), acc(r, v), acc(r, v))
		}
	}
	g.l("%s:", skip)

	skip = label + "_br"
	g.i("TESTQ $%d, R15", flagBiasRow)
	g.i("JZ %s", skip)
	g.i("MOVQ %d(AX), SI", offBiasRow)
	for r := range rows {
		g.i("VBROADCAST%s %d(SI), %s", s.sc(), r*s.es, bcast[r%2])
		for v := range nv {
			g.i("VADD%s %s, %s, %s", s.p(), bcast[r%2], acc(r, v), acc(r, v))
		}
	}
	g.l("%s:", skip)

	skip = label + "_re"
	g.i("TESTQ $%d, R15", flagReLU)
	g.i("JZ %s", skip)
	g.i("VXOR%s %s, %s, %s", s.p(), tmp, tmp, tmp)
	for r := range rows {
		for v := range nv {
			// In this operand order a NaN in the accumulator stays NaN.
			g.i("VMAX%s %s, %s, %s", s.p(), acc(r, v), tmp, acc(r, v))
		}
	}
	g.l("%s:", skip)

	for r := range rows {
		for v := range nv {
			addr := fmt.Sprintf("%d(DX)", v*s.width)
			switch {
			case !sh.masked:
				g.i("VMOVU%s %s, %s", s.p(), acc(r, v), addr)
			case s.mask:
				g.i("VMOVU%s %s, %s, %s", s.p(), acc(r, v), maskReg(v), addr)
			default:
				g.i("VMASKMOV%s %s, %s, %s", s.p(), acc(r, v), maskReg(v), addr)
			}
		}
		if r+1 < rows {
			g.i("ADDQ R13, DX")
		}
	}
	// The next tile.
	done := label + "_done"
	g.i("DECQ %d(AX)", offCount)
	g.i("JLE %s", done)
	for _, p := range []struct {
		reg       string
		off, step int
	}{{"DI", offA, offStepA}, {"BX", offB, offStepB}, {"DX", offC, offStepC}, {"SI", offBiasCol, offStepCol}, {"SI", offBiasRow, offStepRow}} {
		g.i("MOVQ %d(AX), %s", p.off, p.reg)
		g.i("ADDQ %d(AX), %s", p.step, p.reg)
		g.i("MOVQ %s, %d(AX)", p.reg, p.off)
	}
	g.i("MOVQ %d(AX), CX", offK)
	g.i("JMP %s", again)
	g.l("%s:", done)
	g.i("VZEROUPPER")
	g.i("RET")
}

// transpose emits the packer of a panel whose rows are contiguous along k:
// dst[kk*dstStride + r] = src[r*srcStride + kk] for r < lanes and kk < k, k a
// multiple of the elements in 16 bytes. Loading 16-byte pieces of rows r, r+q,
// r+2q … into the lanes of one register leaves only a transposition inside
// lanes to do.
func (g *gen) transpose(name string, s isa) {
	q := 16 / s.es     // elements per 128-bit lane
	nl := s.width / 16 // lanes per register
	g.l("")
	g.l("// func %s(dst, src unsafe.Pointer, dstStride, srcStride, k int)", name)
	g.l("TEXT ·%s(SB), NOSPLIT, $0-40", name)
	g.i("MOVQ dst+0(FP), DX")
	g.i("MOVQ src+8(FP), DI")
	g.i("MOVQ dstStride+16(FP), R13")
	g.i("MOVQ srcStride+24(FP), R8")
	g.i("MOVQ k+32(FP), CX")
	g.i("LEAQ (R8)(R8*2), R9")
	// One pointer per lane, q rows apart.
	ptr := []string{"DI", "SI", "BX", "R10"}[:nl]
	for i := 1; i < nl; i++ {
		if q == 4 {
			g.i("LEAQ (%s)(R8*4), %s", ptr[i-1], ptr[i])
		} else {
			g.i("LEAQ (%s)(R8*2), %s", ptr[i-1], ptr[i])
		}
	}
	idx := []string{"", "(R8*1)", "(R8*2)", "(R9*1)"}
	if s.reg == "Z" {
		g.wholeLines(name, s, ptr, idx)
	} else {
		g.i("JMP %s_test", name)
	}
	g.l("%s_loop:", name)
	for r := range q {
		g.i("VMOVUPS (%s)%s, X%d", ptr[0], idx[r], r)
	}
	for l := 1; l < nl; l++ {
		for r := range q {
			if s.reg == "Z" {
				g.i("VINSERTF32X4 $%d, (%s)%s, Z%d, Z%d", l, ptr[l], idx[r], r, r)
			} else {
				g.i("VINSERTF128 $%d, (%s)%s, Y%d, Y%d", l, ptr[l], idx[r], r, r)
			}
		}
	}
	var out []int
	if q == 4 {
		g.i("VUNPCKLPS %s, %s, %s", s.v(1), s.v(0), s.v(4))
		g.i("VUNPCKHPS %s, %s, %s", s.v(1), s.v(0), s.v(5))
		g.i("VUNPCKLPS %s, %s, %s", s.v(3), s.v(2), s.v(6))
		g.i("VUNPCKHPS %s, %s, %s", s.v(3), s.v(2), s.v(7))
		g.i("VUNPCKLPD %s, %s, %s", s.v(6), s.v(4), s.v(8))
		g.i("VUNPCKHPD %s, %s, %s", s.v(6), s.v(4), s.v(9))
		g.i("VUNPCKLPD %s, %s, %s", s.v(7), s.v(5), s.v(10))
		g.i("VUNPCKHPD %s, %s, %s", s.v(7), s.v(5), s.v(11))
		out = []int{8, 9, 10, 11}
	} else {
		g.i("VUNPCKLPD %s, %s, %s", s.v(1), s.v(0), s.v(4))
		g.i("VUNPCKHPD %s, %s, %s", s.v(1), s.v(0), s.v(5))
		out = []int{4, 5}
	}
	for _, o := range out {
		g.i("VMOVUPS %s, (DX)", s.v(o))
		g.i("ADDQ R13, DX")
	}
	for _, p := range ptr {
		g.i("ADDQ $16, %s", p)
	}
	g.i("SUBQ $%d, CX", q)
	g.l("%s_test:", name)
	g.i("CMPQ CX, $%d", q)
	g.i("JGE %s_loop", name)
	g.i("VZEROUPPER")
	g.i("RET")
}

// copyPanel emits the packer of a panel whose rows are adjacent already: k
// steps of nv vectors, the last one masked. What lies ahead bytes further is
// fetched by hand, as the source's steps may be far apart.
func (g *gen) copyPanel(name string, s isa) {
	g.l("")
	g.l("// func %s(dst, src unsafe.Pointer, dstStride, srcStride, k int, mask uint64, ahead int)", name)
	g.l("TEXT ·%s(SB), NOSPLIT, $0-56", name)
	g.i("MOVQ dst+0(FP), DX")
	g.i("MOVQ src+8(FP), DI")
	g.i("MOVQ dstStride+16(FP), R13")
	g.i("MOVQ srcStride+24(FP), R8")
	g.i("MOVQ k+32(FP), CX")
	g.i("MOVQ mask+40(FP), AX")
	g.i("MOVQ ahead+48(FP), R9")
	g.i("KMOVW AX, K1")
	g.i("SHRQ $%d, AX", s.lanes())
	g.i("KMOVW AX, K2")
	g.i("TESTQ AX, AX")
	g.i("JZ %s_one", name)
	for _, nv := range []int{2, 1} {
		loop := fmt.Sprintf("%s_loop%d", name, nv)
		if nv == 1 {
			g.l("%s_one:", name)
		}
		g.i("PCALIGN $32")
		g.l("%s:", loop)
		for v := range nv {
			g.i("VMOVU%s.Z %d(DI), K%d, Z%d", s.p(), v*s.width, v+1, v)
		}
		g.i("PREFETCHT0 (DI)(R9*1)")
		if nv == 2 {
			g.i("PREFETCHT0 64(DI)(R9*1)")
		}
		g.i("ADDQ R8, DI")
		for v := range nv {
			g.i("VMOVU%s Z%d, %d(DX)", s.p(), v, v*s.width)
		}
		g.i("ADDQ R13, DX")
		g.i("DECQ CX")
		g.i("JG %s", loop)
		g.i("VZEROUPPER")
		g.i("RET")
	}
}

// wholeLines emits the part of transpose that takes a cache line of every row
// at a time. Rows that lie a power of two apart share a cache set and would
// evict each other if a line were visited four times.
func (g *gen) wholeLines(name string, s isa, ptr, idx []string) {
	n := s.lanes()
	q := 16 / s.es
	g.i("JMP %s_wtest", name)
	g.l("%s_wloop:", name)
	for r := range n {
		g.i("VMOVUPS (%s)%s, Z%d", ptr[r/q], idx[r%q], r)
	}
	// Inside lanes first: lane l of u[4i+c] gets column q*l+c of rows qi..qi+q-1.
	u := make([]int, n)
	for i := 0; i < n; i += 2 {
		g.i("VUNPCKL%s Z%d, Z%d, Z%d", s.p(), i+1, i, 16+i)
		g.i("VUNPCKH%s Z%d, Z%d, Z%d", s.p(), i+1, i, 16+i+1)
		u[i], u[i+1] = 16+i, 16+i+1
	}
	if q == 4 {
		for i := 0; i < n; i += 4 {
			g.i("VUNPCKLPD Z%d, Z%d, Z%d", u[i+2], u[i], i)
			g.i("VUNPCKHPD Z%d, Z%d, Z%d", u[i+2], u[i], i+1)
			g.i("VUNPCKLPD Z%d, Z%d, Z%d", u[i+3], u[i+1], i+2)
			g.i("VUNPCKHPD Z%d, Z%d, Z%d", u[i+3], u[i+1], i+3)
		}
		for i := range u {
			u[i] = i
		}
	}
	// Then whole lanes, a 4×4 transposition for each c. The temporaries are the
	// registers that hold no u.
	free := 0
	if u[0] == 0 {
		free = 16
	}
	out := make([]int, n)
	for c := range q {
		a, b, a2, b2 := free, free+1, free+2, free+3
		u0, u1, u2, u3 := u[c], u[q+c], u[2*q+c], u[3*q+c]
		g.i("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", u1, u0, a)
		g.i("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", u1, u0, b)
		g.i("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", u3, u2, a2)
		g.i("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", u3, u2, b2)
		g.i("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", a2, a, u0)
		g.i("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", b2, b, u1)
		g.i("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", a2, a, u2)
		g.i("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", b2, b, u3)
		out[c], out[q+c], out[2*q+c], out[3*q+c] = u0, u1, u2, u3
	}
	for _, o := range out {
		g.i("VMOVUPS Z%d, (DX)", o)
		g.i("ADDQ R13, DX")
	}
	for _, p := range ptr {
		g.i("ADDQ $64, %s", p)
	}
	g.i("SUBQ $%d, CX", n)
	g.l("%s_wtest:", name)
	g.i("CMPQ CX, $%d", n)
	g.i("JGE %s_wloop", name)
	g.i("JMP %s_test", name)
}

// dot emits out[i*4+j] = sum over k of a[i][k]*b[j][k], for rows 1..4 of a and
// four rows of b, all contiguous along k: the product with a transposed matrix
// when there are too few rows to be worth packing it.
func (g *gen) dot(name string, s isa, maxRows int) {
	const nj = 4
	g.l("")
	g.l("// func %s(out, a, b unsafe.Pointer, rsA, rsB, k, rows int, mask unsafe.Pointer)", name)
	g.l("TEXT ·%s(SB), NOSPLIT, $0-64", name)
	g.i("MOVQ out+0(FP), DX")
	g.i("MOVQ a+8(FP), DI")
	g.i("MOVQ b+16(FP), BX")
	g.i("MOVQ rsA+24(FP), R8")
	g.i("MOVQ rsB+32(FP), R11")
	g.i("MOVQ k+40(FP), CX")
	g.i("MOVQ rows+48(FP), R15")
	g.i("MOVQ mask+56(FP), AX")
	g.i("LEAQ (R8)(R8*2), R9")
	g.i("LEAQ (R11)(R11*2), R12")
	for r := maxRows; r > 1; r-- {
		g.i("CMPQ R15, $%d", r)
		g.i("JEQ %s_r%d", name, r)
	}
	bAddr := []string{"(BX)", "(BX)(R11*1)", "(BX)(R11*2)", "(BX)(R12*1)"}
	for rows := 1; rows <= maxRows; rows++ {
		acc := func(r, j int) string { return s.v(r*nj + j) }
		// One row: two sets of sums, or the additions' latency shows.
		sets := 1
		if rows == 1 {
			sets = 2
		}
		av := func(r int) string { return s.v(s.regs - 1 - r) }
		bv := s.v(s.regs - 1 - rows)
		mv := s.v(s.regs - 2 - rows) // AVX2's mask
		l := fmt.Sprintf("%s_r%d", name, rows)
		g.l("%s:", l)
		for i := range rows * nj * sets {
			g.i("VXORPS %s, %s, %s", s.v(i), s.v(i), s.v(i))
		}
		step := func(set int, masked bool) {
			ld := func(addr, dst string) {
				switch {
				case !masked:
					g.i("VMOVU%s %s, %s", s.p(), addr, dst)
				case s.mask:
					g.i("VMOVU%s.Z %s, K1, %s", s.p(), addr, dst)
				default:
					g.i("VMASKMOV%s %s, %s, %s", s.p(), addr, mv, dst)
				}
			}
			for r := range rows {
				ld(rowAddr[r], av(r))
			}
			for j := range nj {
				src := bAddr[j]
				if rows > 1 || masked {
					ld(bAddr[j], bv)
					src = bv
				}
				for r := range rows {
					g.i("VFMADD231%s %s, %s, %s", s.p(), src, av(r), acc(r+set, j))
				}
			}
			if !masked {
				g.i("ADDQ $%d, DI", s.width)
				g.i("ADDQ $%d, BX", s.width)
			}
		}
		n := s.lanes()
		g.i("SUBQ $%d, CX", n*sets)
		g.i("JLT %s_t", l)
		g.i("PCALIGN $32")
		g.l("%s_k:", l)
		for set := range sets {
			step(set, false)
		}
		g.i("SUBQ $%d, CX", n*sets)
		g.i("JGE %s_k", l)
		g.l("%s_t:", l)
		g.i("ADDQ $%d, CX", n*sets)
		if sets == 2 {
			g.i("CMPQ CX, $%d", n)
			g.i("JLT %s_m", l)
			step(0, false)
			g.i("SUBQ $%d, CX", n)
			g.l("%s_m:", l)
		}
		g.i("TESTQ CX, CX")
		g.i("JZ %s_e", l)
		if s.mask {
			g.i("MOVQ $1, R13")
			g.i("SHLQ CX, R13")
			g.i("DECQ R13")
			g.i("KMOVW R13, K1")
		} else {
			g.i("VMOVU%s (AX), %s", s.p(), mv)
		}
		step(0, true)
		g.l("%s_e:", l)
		if sets == 2 {
			for j := range nj {
				g.i("VADD%s %s, %s, %s", s.p(), acc(1, j), acc(0, j), acc(0, j))
			}
		}
		// Fold each register in halves, the same way for every sum.
		t := s.regs - 1
		for r := range rows {
			for j := range nj {
				a := r*nj + j
				if s.reg == "Z" {
					g.i("VEXTRACTF64X4 $1, Z%d, Y%d", a, t)
					g.i("VADD%s Y%d, Y%d, Y%d", s.p(), t, a, a)
					g.i("VEXTRACTF32X4 $1, Y%d, X%d", a, t)
				} else {
					g.i("VEXTRACTF128 $1, Y%d, X%d", a, t)
				}
				g.i("VADD%s X%d, X%d, X%d", s.p(), t, a, a)
				if s.es == 4 {
					g.i("VMOVHLPS X%d, X%d, X%d", a, a, t)
					g.i("VADDPS X%d, X%d, X%d", t, a, a)
					g.i("VMOVSHDUP X%d, X%d", a, t)
					g.i("VADDSS X%d, X%d, X%d", t, a, a)
					g.i("VMOVSS X%d, %d(DX)", a, (r*nj+j)*s.es)
				} else {
					g.i("VUNPCKHPD X%d, X%d, X%d", a, a, t)
					g.i("VADDSD X%d, X%d, X%d", t, a, a)
					g.i("VMOVSD X%d, %d(DX)", a, (r*nj+j)*s.es)
				}
			}
		}
		g.i("VZEROUPPER")
		g.i("RET")
	}
}

// peak emits a loop of independent fused multiply-adds: what the core can do.
func (g *gen) peak(name string, s isa, n int) {
	g.l("")
	g.l("// func %s(n int)", name)
	g.l("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.i("MOVQ n+0(FP), CX")
	for r := range s.regs {
		g.i("VXORPS %s, %s, %s", s.v(r), s.v(r), s.v(r))
	}
	g.i("PCALIGN $32")
	g.l("%s_loop:", name)
	for r := range n {
		g.i("VFMADD231PS %s, %s, %s", s.v(s.regs-1), s.v(s.regs-2), s.v(r))
	}
	g.i("DECQ CX")
	g.i("JG %s_loop", name)
	g.i("VZEROUPPER")
	g.i("RET")
}

const header = `// Code generated by internal/cpu/_asm/gemm. DO NOT EDIT.

//go:build !purego

#include "textflag.h"
`

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
		{"avx512", "AVX512", isa{reg: "Z", regs: 32, width: 64, mask: true}, avx512},
		{"avx2", "AVX2", isa{reg: "Y", regs: 16, width: 32}, avx2},
	} {
		g := &gen{}
		g.WriteString(header)
		dotRows := 4
		if f.isa.regs == 16 {
			dotRows = 2
		}
		for _, t := range []struct {
			letter string
			es     int
		}{{"s", 4}, {"d", 8}} {
			s := f.isa
			s.es = t.es
			s.suffix = t.letter
			g.family(t.letter+"gemm"+f.tag, s, f.shapes)
			g.transpose(t.letter+"transpose"+f.tag, s)
			if s.mask {
				g.copyPanel(t.letter+"copy"+f.tag, s)
			}
			g.dot(t.letter+"dot"+f.tag, s, dotRows)
		}
		s := f.isa
		s.es = 4
		g.peak("peak"+f.tag, s, s.regs-4)
		write(*out, f.file+"_amd64.s", g)
	}
	g := &gen{}
	g.WriteString(header)
	g.neon("sgemmNEON", 4)
	g.neon("dgemmNEON", 8)
	g.neonPeak()
	write(*out, "neon_arm64.s", g)
}

func write(dir, name string, g *gen) {
	if err := os.WriteFile(filepath.Join(dir, name), g.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func sprintf(format string, a ...any) string { return fmt.Sprintf(format, a...) }

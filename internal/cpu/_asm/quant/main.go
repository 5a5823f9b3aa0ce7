// Command quant writes the kernels of internal/cpu/quant: products of bytes, depthwise products, and what makes results
// of their sums.
//
// Like its neighbour gemm it emits text: a few regular loops over rows and vectors. Run it with go generate in
// internal/cpu/quant.
package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/text"
)

// Offsets in the Go struct kernelArgs (kernel.go), which a test checks.
const (
	offA      = 0   // first row, where the first run of weights meets it
	offB      = 8   // weights of 32 columns
	offTaps   = 16  // bytes from A to each run
	offCount  = 24  // runs
	offSteps  = 32  // groups of four bytes in a run; depthwise: unused
	offLDA    = 40  // bytes from row to row of A
	offRows   = 48  // of the tile
	offAdd    = 56  // not 0: the sums are added to the tile
	offTile   = 64  // sums, 32 for each row
	offOut    = 72  // the result
	offLDO    = 80  // bytes from row to row of it
	offMask   = 88  // one bit for each column that exists
	offKind   = 96  // see kinds
	offSums   = 104 // of the weights of each column
	offBase   = 112 // what the sums of each column begin with
	offMul    = 120 // factor of each column
	offPlus   = 128 // term of each column
	offRowFix = 136 // nil, or a number for each row ...
	offZeros  = 144 // ... to be multiplied by one for each column and subtracted
	offNeg    = 152 // minus the zero point of A
	offFactor = 156 // of all columns
	offInv    = 160 // one over the scale of the result
	offZero   = 164 // its zero point, a float
	offHi     = 168 // the largest result, a float, before offZeroI is added
	offLo     = 172 // the least result, before offZeroI is added
	offZeroI  = 176 // the zero point again
	offFloor  = 180 // the least float
	offInit   = 184 // nil, or what the sums of each column begin with where the product finishes them
	offTiles  = 192 // and how many tiles it computes, below each other
)

// The kinds of results, as in kernel.go.
const (
	kindInts   = iota // the sums
	kindFloats        // sum*factor + term, at least floor
	kindAfter         // round((sum*factor + term)*inv + zero): onednn
	kindBefore        // round((sum + term)*factor) + zero: fbgemm and qnnpack
)

// cols is the number of columns of a tile: two vectors of AVX-512.
const cols = 32

type gen struct{ text.Gen }

func (g *gen) function(name string) {
	g.L("")
	g.L("// func %s(p *kernelArgs)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVQ p+0(FP), AX")
}

// arg is an argument of a kernel, by its offset, and the register that takes it.
type arg struct {
	off int
	reg string
}

// fetch reads arguments into registers.
func (g *gen) fetch(args ...arg) {
	for _, a := range args {
		g.I("MOVQ %d(AX), %s", a.off, a.reg)
	}
}

// order emits the order of groups of four bytes that brings packed sums back in order: of two rows on AVX-512, of one on
// AVX2.
func (g *gen) order(groups ...int) {
	g.L("")
	for i, x := range groups {
		g.L("DATA packedOrder<>+%d(SB)/4, $%d", 4*i, x)
	}
	g.L("GLOBL packedOrder<>(SB), RODATA|NOPTR, $%d", 4*len(groups))
}

// rowAddr names row i of A. Two pointers and three multiples of the distance of rows reach fourteen rows.
//
//	DI = row 0, SI = row 7, R8 = distance, R9 = 3 distances, R10 = 5 distances
var rowAddr = [...]string{
	"(DI)", "(DI)(R8*1)", "(DI)(R8*2)", "(DI)(R9*1)", "(DI)(R8*4)", "(DI)(R10*1)", "(DI)(R9*2)",
	"(SI)", "(DI)(R8*8)", "(SI)(R8*2)", "(SI)(R9*1)", "(SI)(R8*4)", "(DI)(R9*4)", "(SI)(R9*2)",
}

// rowPointers emits what rowAddr needs, from the address in DI.
func (g *gen) rowPointers(rows int) {
	if rows > 7 {
		g.I("LEAQ (DI)(R9*2), SI")
		g.I("ADDQ R8, SI")
	}
}

// choose emits jumps to the code for each number of rows.
func (g *gen) choose(name string, most int, emit func(label string, rows int)) {
	g.I("MOVQ %d(AX), CX", offRows)
	label := func(rows int) string { return fmt.Sprintf("%s_r%d", name, rows) }
	for r := most; r > 1; r-- {
		g.I("CMPQ CX, $%d", r)
		g.I("JEQ %s", label(r))
	}
	for r := 1; r <= most; r++ {
		g.L("")
		g.L("// %d rows", r)
		g.L("%s:", label(r))
		emit(label(r), r)
		g.I("VZEROUPPER")
		g.I("RET")
	}
}

// load emits the loading of what all products use.
func (g *gen) load() {
	g.fetch(arg{offB, "BX"}, arg{offTaps, "DX"}, arg{offCount, "R11"}, arg{offLDA, "R8"})
	g.I("LEAQ (R8)(R8*2), R9")
	g.I("LEAQ (R8)(R8*4), R10")
	g.I("MOVQ %d(AX), R12", offTile)
}

// dotVNNI emits the product
//
//	tile[r, c] (+)= sum over runs t and bytes k of a[r*lda + taps[t] + k] * b[t, k, c]
//
// with unsigned bytes of A and signed ones of B, four of which are multiplied by one instruction (VPDPBUSD).
//
//	AX arguments   DI, SI rows of A (rowAddr)   BX weights   CX steps left
//	DX next tap    R11 taps left                R12 tile
//
// With few rows a lane's sums are kept in several registers, as otherwise each instruction waits for the one before.
//
// The product of one row goes on with the strips of weights beside the first, as many as offTiles says.
//
// With offInit the result is made of the sums while they are in registers, as finishAVX512 makes it for kindAfter, for
// unsigned bytes and without sums that int32 does not hold after scaling: then saturating packs limit the numbers.
func (g *gen) dotVNNI() {
	const name = "dotVNNI"
	g.function(name)
	g.load()
	g.choose(name, 14, func(label string, rows int) {
		sets := max(1, 4/rows)
		unroll := max(2, sets)
		acc := func(set, r, v int) int { return (set*rows+r)*2 + v }
		for i := range sets * rows * 2 {
			g.I("VPXORD Z%d, Z%d, Z%d", i, i, i)
		}
		g.I("MOVQ %d(AX), R13", offInit)
		g.I("TESTQ R13, R13")
		g.I("JEQ %s_plain", label)
		for v := range 2 {
			g.I("VMOVDQU32 %d(R13), Z%d", v*64, acc(0, 0, v))
			for r := 1; r < rows; r++ {
				g.I("VMOVDQA64 Z%d, Z%d", acc(0, 0, v), acc(0, r, v))
			}
		}
		g.I("JMP %s_tap", label)
		g.L("%s_plain:", label)
		g.I("CMPQ %d(AX), $0", offAdd)
		g.I("JEQ %s_tap", label)
		for r := range rows {
			for v := range 2 {
				g.I("VMOVDQU32 %d(R12), Z%d", r*cols*4+v*64, acc(0, r, v))
			}
		}
		step := func(i, set int) {
			for v := range 2 {
				g.I("VMOVDQU32 %d(BX), Z%d", i*cols*4+v*64, 28+v)
			}
			for r := range rows {
				t := 30 + r%2
				g.I("VPBROADCASTD %d%s, Z%d", i*4, rowAddr[r], t)
				for v := range 2 {
					g.I("VPDPBUSD Z%d, Z%d, Z%d", 28+v, t, acc(set, r, v))
				}
			}
		}
		advance := func(n int) {
			g.I("ADDQ $%d, DI", 4*n)
			if rows > 7 {
				g.I("ADDQ $%d, SI", 4*n)
			}
			g.I("ADDQ $%d, BX", n*cols*4)
			g.I("SUBQ $%d, CX", n)
		}
		g.L("%s_tap:", label)
		g.I("MOVQ (DX), DI")
		g.I("ADDQ %d(AX), DI", offA)
		g.rowPointers(rows)
		g.I("MOVQ %d(AX), CX", offSteps)
		g.I("SUBQ $%d, CX", unroll)
		g.I("JLT %s_rest", label)
		g.I("PCALIGN $32")
		g.L("%s_k:", label)
		for i := range unroll {
			step(i, i%sets)
		}
		advance(unroll)
		g.I("JGE %s_k", label)
		g.L("%s_rest:", label)
		g.I("ADDQ $%d, CX", unroll)
		g.I("JEQ %s_next", label)
		g.L("%s_one:", label)
		step(0, 0)
		advance(1)
		g.I("JG %s_one", label)
		g.L("%s_next:", label)
		g.I("ADDQ $8, DX")
		g.I("DECQ R11")
		g.I("JG %s_tap", label)
		for s := 1; s < sets; s++ {
			for r := range rows {
				for v := range 2 {
					g.I("VPADDD Z%d, Z%d, Z%d", acc(s, r, v), acc(0, r, v), acc(0, r, v))
				}
			}
		}
		g.I("TESTQ R13, R13")
		g.I("JNE %s_finish", label)
		g.storeTile(rows)
		if rows == 1 { // the strip beside, whose weights follow
			g.I("DECQ %d(AX)", offTiles)
			g.I("JLE %s_stored", label)
			g.I("ADDQ $%d, R12", cols*4)
			g.fetch(arg{offTaps, "DX"}, arg{offCount, "R11"})
			g.I("JMP %s", label)
			g.L("%s_stored:", label)
		}
		g.I("VZEROUPPER")
		g.I("RET")
		g.L("%s_finish:", label)
		g.finishRows(rows)
		g.nextTile(label, rows)
	})
}

// nextTile emits the step to the tile below, if there is one. DX is where its result goes.
func (g *gen) nextTile(label string, rows int) {
	g.I("DECQ %d(AX)", offTiles)
	g.I("JEQ %s_done", label)
	g.I("MOVQ DX, %d(AX)", offOut)
	g.I("MOVQ %d(AX), R8", offLDA)
	g.I("IMUL3Q $%d, R8, R9", rows)
	g.I("ADDQ R9, %d(AX)", offA)
	g.load()
	g.I("JMP %s", label)
	g.L("%s_done:", label)
}

// finishRows emits the result of sums in registers, two for each row: see dotVNNI.
//
//	Z28 inv   Z29 zero   Z30 order of four bytes each after packing   Z31 lo   BX factors   CX terms   DX out   R8 step
func (g *gen) finishRows(rows int) {
	g.fetch(arg{offMul, "BX"}, arg{offPlus, "CX"}, arg{offOut, "DX"}, arg{offLDO, "R8"})
	g.I("MOVL %d(AX), SI", offMask)
	g.I("KMOVD SI, K3")
	g.I("VBROADCASTSS %d(AX), Z28", offInv)
	g.I("VBROADCASTSS %d(AX), Z29", offZero)
	g.I("VMOVDQU32 packedOrder<>(SB), Z30")
	g.I("VPBROADCASTB %d(AX), Z31", offLo)
	for r := 0; r < rows; r += 2 {
		n := min(2, rows-r)
		for i := 2 * r; i < 2*(r+n); i++ {
			g.I("VCVTDQ2PS Z%d, Z%d", i, i)
			g.I("VMULPS %d(BX), Z%d, Z%d", i%2*64, i, i)
			g.I("VADDPS %d(CX), Z%d, Z%d", i%2*64, i, i)
			g.I("VMULPS Z28, Z%d, Z%d", i, i)
			g.I("VADDPS Z29, Z%d, Z%d", i, i)
			g.I("VCVTPS2DQ Z%d, Z%d", i, i)
		}
		a := 2 * r
		for i := range n {
			g.I("VPACKSSDW Z%d, Z%d, Z%d", a+2*i+1, a+2*i, a+2*i)
		}
		g.I("VPACKUSWB Z%d, Z%d, Z%d", a+2*(n-1), a, a)
		g.I("VPERMD Z%d, Z30, Z%d", a, a)
		g.I("VPMAXUB Z31, Z%d, Z%d", a, a)
		g.I("VMOVDQU8 Y%d, K3, (DX)", a)
		g.I("ADDQ R8, DX")
		if n == 2 {
			g.I("VEXTRACTI64X4 $1, Z%d, Y%d", a, a)
			g.I("VMOVDQU8 Y%d, K3, (DX)", a)
			g.I("ADDQ R8, DX")
		}
	}
}

// storeTile emits the stores of the sums in Z0 and those that follow.
func (g *gen) storeTile(rows int) {
	for i := range rows * 2 {
		g.I("VMOVDQU32 Z%d, %d(R12)", i, i*64)
	}
}

// depthVNNI emits the depthwise product
//
//	tile[r, c] = sum over taps t of a[r*lda + taps[t] + c] * b[t, c]
//
// Bytes of A are widened to lanes, whose three upper bytes are zero; those of the weights are zero, too.
func (g *gen) depthVNNI() {
	const name = "depthVNNI"
	g.function(name)
	g.load()
	g.I("MOVQ %d(AX), CX", offMask)
	g.I("KMOVD CX, K1")
	g.I("SHRQ $16, CX")
	g.I("KMOVD CX, K2")
	g.choose(name, 7, func(label string, rows int) {
		for i := range rows * 2 {
			g.I("VPXORD Z%d, Z%d, Z%d", i, i, i)
		}
		g.I("PCALIGN $32")
		g.L("%s_tap:", label)
		g.I("MOVQ (DX), DI")
		g.I("ADDQ %d(AX), DI", offA)
		for v := range 2 {
			g.I("VMOVDQU32 %d(BX), Z%d", v*64, 28+v)
		}
		for r := range rows {
			for v := range 2 {
				t := 16 + (r*2+v)%8
				g.I("VPMOVZXBD.Z %d%s, K%d, Z%d", v*16, rowAddr[r], v+1, t)
				g.I("VPDPBUSD Z%d, Z%d, Z%d", 28+v, t, r*2+v)
			}
		}
		g.I("ADDQ $%d, BX", cols*4)
		g.I("ADDQ $8, DX")
		g.I("DECQ R11")
		g.I("JG %s_tap", label)
		g.storeTile(rows)
	})
}

// depth3 emits the depthwise product with a window of 3x3 for 64 channels, positions step apart, and makes the result
// as dotVNNI does. Of each column of the window the bytes of the three rows and a zero are brought side by side, for
// each channel: a group that one instruction multiplies. A column is used for all positions whose windows have it.
//
//	        channels             bytes of row 0, 1, 2, and 0
//	row 0   a0 b0 c0 d0 …        a0 a1 a2 0  b0 b1 b2 0  …
//	row 1   a1 b1 c1 d1 …
//	row 2   a2 b2 c2 d2 …
//
// Bytes move within quarters of registers only, so that the four registers of a position hold the channels
// 16q + 4k + i for quarter q, register k and lane i. Packing the sums goes the same way back.
//
//	AX arguments   DI, SI, R8 rows of the window   R9 bytes from column to column   BX weights   DX out
//
//	Z0-Z19 sums, four for each position   Z20-Z27 a column   Z28 inv   Z29 zero   Z30 0   Z31 lo
func (g *gen) depth3(step int) {
	name := fmt.Sprintf("depth3s%dVNNI", step)
	g.function(name)
	g.I("MOVQ %d(AX), BX", offMask)
	g.I("KMOVQ BX, K1")
	g.I("VBROADCASTSS %d(AX), Z28", offInv)
	g.I("VBROADCASTSS %d(AX), Z29", offZero)
	g.I("VPXORD Z30, Z30, Z30")
	g.I("VPBROADCASTB %d(AX), Z31", offLo)
	g.choose(name, 5, func(label string, rows int) {
		g.I("MOVQ %d(AX), BX", offInit)
		for k := range 4 {
			g.I("VMOVDQU32 %d(BX), Z%d", k*64, k)
			for r := 1; r < rows; r++ {
				g.I("VMOVDQA64 Z%d, Z%d", k, r*4+k)
			}
		}
		g.I("MOVQ %d(AX), BX", offTaps)
		for i, p := range []string{"DI", "SI", "R8"} {
			g.I("MOVQ %d(BX), %s", 3*8*i, p)
			g.I("ADDQ %d(AX), %s", offA, p)
		}
		g.fetch(arg{offB, "BX"}, arg{offSteps, "R9"})
		columns := (rows-1)*step + 3
		for j := range columns {
			for i, p := range []string{"DI", "SI", "R8"} {
				g.I("VMOVDQU8.Z (%s), K1, Z%d", p, 24+i)
				if j < columns-1 {
					g.I("ADDQ R9, %s", p)
				}
			}
			g.I("VPUNPCKLBW Z25, Z24, Z20")
			g.I("VPUNPCKHBW Z25, Z24, Z21")
			g.I("VPUNPCKLBW Z30, Z26, Z22")
			g.I("VPUNPCKHBW Z30, Z26, Z23")
			for k := range 4 {
				g.I("VPUNPCK%sWD Z%d, Z%d, Z%d", []string{"L", "H"}[k%2], 22+k/2, 20+k/2, 24+k)
			}
			for r := range rows {
				if t := j - r*step; t >= 0 && t < 3 {
					for k := range 4 {
						g.I("VPDPBUSD %d(BX), Z%d, Z%d", (t*4+k)*64, 24+k, r*4+k)
					}
				}
			}
		}
		g.fetch(arg{offMul, "BX"}, arg{offPlus, "CX"}, arg{offOut, "DX"})
		g.I("VPBROADCASTD %d(AX), Z27", offZeroI)
		each := func(format string) {
			for i := range rows * 4 {
				g.I("%s", strings.NewReplacer("{y}", fmt.Sprintf("Z%d", i), "{at}", fmt.Sprint(i%4*64)).Replace(format))
			}
		}
		each("VCVTDQ2PS {y}, {y}")
		g.I("CMPQ %d(AX), $%d", offKind, kindBefore)
		g.I("JEQ %s_before", label)
		each("VMULPS {at}(BX), {y}, {y}")
		each("VADDPS {at}(CX), {y}, {y}")
		each("VMULPS Z28, {y}, {y}")
		each("VADDPS Z29, {y}, {y}")
		each("VCVTPS2DQ {y}, {y}")
		g.I("JMP %s_pack", label)
		g.L("%s_before:", label)
		each("VADDPS {at}(CX), {y}, {y}")
		each("VMULPS {at}(BX), {y}, {y}")
		each("VCVTPS2DQ {y}, {y}")
		each("VPADDD Z27, {y}, {y}")
		g.L("%s_pack:", label)
		for r := range rows {
			g.I("VPACKSSDW Z%d, Z%d, Z%d", r*4+1, r*4, r*4)
			g.I("VPACKSSDW Z%d, Z%d, Z%d", r*4+3, r*4+2, r*4+2)
			g.I("VPACKUSWB Z%d, Z%d, Z%d", r*4+2, r*4, r*4)
			g.I("VPMAXUB Z31, Z%d, Z%d", r*4, r*4)
			g.I("VMOVDQU8 Z%d, K1, (DX)", r*4)
			g.I("ADDQ %d(AX), DX", offLDO)
		}
		g.I("DECQ %d(AX)", offTiles)
		g.I("JEQ %s_done", label)
		g.I("MOVQ DX, %d(AX)", offOut)
		g.I("MOVQ %d(AX), R8", offLDA)
		g.I("IMUL3Q $%d, R8, R9", rows)
		g.I("ADDQ R9, %d(AX)", offA)
		g.I("JMP %s", label)
		g.L("%s_done:", label)
	})
}

// finishAVX512 emits what makes results of the sums of a tile.
//
//	AX arguments   SI tile   DX out   R8 distance of its rows   CX rows left   R9 kind
//	R10 number of the row, or nil   K1, K2 columns that exist; K3 both
//
//	Z10, Z11 what is added to the sums   Z12, Z13 factors   Z14, Z15 terms
//	Z16 inv   Z17 zero   Z18 hi   Z19 lo   Z20 zero as integer   Z21 floor   Z22, Z23 zero points of the columns
func (g *gen) finishAVX512() {
	const name = "finishAVX512"
	g.function(name)
	g.L("%s_start:", name)
	g.fetch(arg{offTile, "SI"}, arg{offOut, "DX"}, arg{offLDO, "R8"}, arg{offRows, "CX"}, arg{offKind, "R9"},
		arg{offRowFix, "R10"}, arg{offMask, "BX"})
	g.I("KMOVD BX, K1")
	g.I("KMOVD BX, K3")
	g.I("SHRQ $16, BX")
	g.I("KMOVD BX, K2")
	columns := func(off int, load string, to int) {
		g.I("MOVQ %d(AX), DI", off)
		for v := range 2 {
			g.I("%s %d(DI), Z%d", load, v*64, to+v)
		}
	}
	columns(offSums, "VMOVDQU32", 10)
	for v := range 2 {
		g.I("VPMULLD.BCST %d(AX), Z%d, Z%d", offNeg, 10+v, 10+v)
	}
	g.I("MOVQ %d(AX), DI", offBase)
	g.I("TESTQ DI, DI")
	g.I("JEQ %s_nobase", name)
	for v := range 2 {
		g.I("VPADDD %d(DI), Z%d, Z%d", v*64, 10+v, 10+v)
	}
	g.L("%s_nobase:", name)
	g.I("TESTQ R10, R10")
	g.I("JEQ %s_nozeros", name)
	columns(offZeros, "VMOVDQU32", 22)
	g.L("%s_nozeros:", name)
	labels := []string{"ints", "floats", "after", "before"}
	g.I("CMPQ R9, $%d", kindInts)
	g.I("JEQ %s_ints", name)
	columns(offMul, "VMOVUPS", 12)
	columns(offPlus, "VMOVUPS", 14)
	for v := range 2 {
		g.I("VMULPS.BCST %d(AX), Z%d, Z%d", offFactor, 12+v, 12+v)
	}
	for i, off := range []int{offInv, offZero, offHi, offLo, offZeroI, offFloor} {
		g.I("VBROADCASTSS %d(AX), Z%d", off, 16+i)
	}
	for k := kindFloats; k < kindBefore; k++ {
		g.I("CMPQ R9, $%d", k)
		g.I("JEQ %s_%s", name, labels[k])
	}
	for _, k := range []int{kindBefore, kindAfter, kindFloats, kindInts} {
		label := name + "_" + labels[k]
		g.L("")
		g.L("%s:", label)
		for v := range 2 {
			g.I("VPADDD %d(SI), Z%d, Z%d", v*64, 10+v, v)
		}
		g.I("TESTQ R10, R10")
		g.I("JEQ %s_even", label)
		g.I("VPBROADCASTD (R10), Z2")
		for v := range 2 {
			g.I("VPMULLD Z%d, Z2, Z%d", 22+v, 3+v)
			g.I("VPSUBD Z%d, Z%d, Z%d", 3+v, v, v)
		}
		g.I("ADDQ $4, R10")
		g.L("%s_even:", label)
		both := func(format string) {
			for v := range 2 {
				g.I("%s", strings.NewReplacer("{y}", fmt.Sprintf("Z%d", v), "{mul}", fmt.Sprintf("Z%d", 12+v),
					"{term}", fmt.Sprintf("Z%d", 14+v)).Replace(format))
			}
		}
		if k != kindInts {
			both("VCVTDQ2PS {y}, {y}")
		}
		switch k {
		case kindFloats:
			both("VMULPS {mul}, {y}, {y}")
			both("VADDPS {term}, {y}, {y}")
			both("VMAXPS Z21, {y}, {y}")
		case kindAfter:
			both("VMULPS {mul}, {y}, {y}")
			both("VADDPS {term}, {y}, {y}")
			both("VMULPS Z16, {y}, {y}")
			both("VADDPS Z17, {y}, {y}")
		case kindBefore:
			both("VADDPS {term}, {y}, {y}")
			both("VMULPS {mul}, {y}, {y}")
		}
		switch k {
		case kindInts, kindFloats:
			for v := range 2 {
				g.I("VMOVDQU32 Z%d, K%d, %d(DX)", v, v+1, v*64)
			}
		default:
			// NaN is neither less than hi nor more than lo: as the second source it stays NaN, which the conversion
			// turns into the least integer.
			both("VMINPS {y}, Z18, {y}")
			both("VCVTPS2DQ {y}, {y}")
			both("VPMAXSD Z19, {y}, {y}")
			if k == kindBefore {
				both("VPADDD Z20, {y}, {y}")
			}
			g.I("VPMOVDB Z0, X0")
			g.I("VPMOVDB Z1, X1")
			g.I("VINSERTI128 $1, X1, Y0, Y0")
			g.I("VMOVDQU8 Y0, K3, (DX)")
		}
		g.I("ADDQ $%d, SI", cols*4)
		g.I("ADDQ R8, DX")
		g.I("DECQ CX")
		g.I("JG %s", label)
		if k == kindFloats { // the strip beside, see kernelArgs.tiles
			g.I("DECQ %d(AX)", offTiles)
			g.I("JLE %s_done", label)
			for _, off := range []int{offTile, offOut, offSums, offMul, offPlus, offZeros} {
				g.I("ADDQ $%d, %d(AX)", cols*4, off)
			}
			g.I("CMPQ %d(AX), $0", offBase)
			g.I("JEQ %s", name+"_start")
			g.I("ADDQ $%d, %d(AX)", cols*4, offBase)
			g.I("JMP %s", name+"_start")
			g.L("%s_done:", label)
		}
		g.I("VZEROUPPER")
		g.I("RET")
	}
}

// dotAVX2 emits the same product as dotVNNI. AVX2 has no instruction for four bytes that does not saturate: the bytes
// at even and at odd places of A and B become numbers of 16 bits, pairs of which are multiplied and added (VPMADDWD). A
// tile is computed as two halves of 16 columns.
//
//	Y0-Y7 sums   Y8-Y11 even and odd bytes of two vectors of B   Y12, Y13 those of A   Y14 products   Y15 mask
func (g *gen) dotAVX2() {
	const name = "dotAVX2"
	g.function(name)
	g.load()
	g.I("VPCMPEQW Y15, Y15, Y15")
	g.I("VPSRLW $8, Y15, Y15")
	g.dotParts(name, 4, func(int) int { return 2 }, func(rows, _ int) {
		for v := range 2 {
			g.I("VMOVDQU %d(BX), Y%d", v*32, 14)
			g.I("VPSLLW $8, Y14, Y%d", 8+2*v)
			g.I("VPSRAW $8, Y%d, Y%d", 8+2*v, 8+2*v)
			g.I("VPSRAW $8, Y14, Y%d", 9+2*v)
		}
		for r := range rows {
			g.I("VPBROADCASTD %s, Y13", rowAddr[r])
			g.I("VPAND Y15, Y13, Y12")
			g.I("VPSRLW $8, Y13, Y13")
			for v := range 2 {
				for i := range 2 {
					g.I("VPMADDWD Y%d, Y%d, Y14", 8+2*v+i, 12+i)
					g.I("VPADDD Y14, Y%d, Y%d", r*2+v, r*2+v)
				}
			}
		}
	})
}

// dotAVXVNNI emits the same product for processors that have VPDPBUSD without AVX-512, in the VEX encoding. Up to three
// rows take all four vectors of the columns at once, since a register waits for its last sum; more rows take two halves.
//
//	Y0-Y11 sums   Y12 a vector of B   Y13-Y15 bytes of rows of A; with more rows Y12, Y13 are B, and Y14, Y15 A
func (g *gen) dotAVXVNNI() {
	const name = "dotAVXVNNI"
	g.function(name)
	g.load()
	vectors := func(rows int) int {
		if rows <= 3 {
			return 4
		}
		return 2
	}
	g.dotParts(name, 6, vectors, func(rows, vecs int) {
		if vecs == 4 {
			for r := range rows {
				g.I("VPBROADCASTD %s, Y%d", rowAddr[r], 13+r)
			}
			for v := range vecs {
				g.I("VMOVDQU %d(BX), Y12", v*32)
				for r := range rows {
					g.dotBytes(r*vecs+v, 13+r, 12)
				}
			}
			return
		}
		for v := range vecs {
			g.I("VMOVDQU %d(BX), Y%d", v*32, 12+v)
		}
		for r := range rows {
			g.I("VPBROADCASTD %s, Y%d", rowAddr[r], 14+r%2)
			for v := range vecs {
				g.dotBytes(r*vecs+v, 14+r%2, 12+v)
			}
		}
	})
}

// dotBytes emits VPDPBUSD in the VEX encoding, which Go's assembler does not know: to each lane of d it adds the product
// of four unsigned bytes of a and four signed ones of b.
//
//	C4 | R̅ X̅ B̅ 00010 | W=0 v̅v̅v̅v̅ L=1 01 | 50 | 11 d b
func (g *gen) dotBytes(d, a, b int) {
	second := 0xe2 &^ (d >> 3 << 7) &^ (b >> 3 << 5)
	third := (^a&15)<<3 | 0x05
	g.I("BYTE $0xc4; BYTE $0x%02x; BYTE $0x%02x; BYTE $0x50; BYTE $0x%02x // vpdpbusd ymm%d, ymm%d, ymm%d",
		second, third, 0xc0|d&7<<3|b&7, d, a, b)
}

// dotParts emits what products on AVX2 share: up to most rows, whose four vectors of columns are computed in parts of as
// many as vectors says. The sum of row r and vector v is in register r*vectors+v; step adds the products of four bytes.
func (g *gen) dotParts(name string, most int, vectors func(rows int) int, step func(rows, vecs int)) {
	g.choose(name, most, func(label string, rows int) {
		vecs := vectors(rows)
		if vecs < 4 {
			g.I("MOVQ $%d, R13", 4/vecs)
		}
		g.L("%s_half:", label)
		for i := range rows * vecs {
			g.I("VPXOR Y%d, Y%d, Y%d", i, i, i)
		}
		g.I("CMPQ %d(AX), $0", offAdd)
		g.I("JEQ %s_tap", label)
		for r := range rows {
			for v := range vecs {
				g.I("VMOVDQU %d(R12), Y%d", r*cols*4+v*32, r*vecs+v)
			}
		}
		g.L("%s_tap:", label)
		g.I("MOVQ (DX), DI")
		g.I("ADDQ %d(AX), DI", offA)
		g.I("MOVQ %d(AX), CX", offSteps)
		g.I("PCALIGN $32")
		g.L("%s_k:", label)
		step(rows, vecs)
		g.I("ADDQ $4, DI")
		g.I("ADDQ $%d, BX", cols*4)
		g.I("DECQ CX")
		g.I("JG %s_k", label)
		g.I("ADDQ $8, DX")
		g.I("DECQ R11")
		g.I("JG %s_tap", label)
		for r := range rows {
			for v := range vecs {
				g.I("VMOVDQU Y%d, %d(R12)", r*vecs+v, r*cols*4+v*32)
			}
		}
		if vecs == 4 {
			return
		}
		g.I("DECQ R13")
		g.I("JEQ %s_done", label)
		g.I("MOVQ %d(AX), BX", offB)
		g.I("ADDQ $%d, BX", vecs*32)
		g.I("ADDQ $%d, R12", vecs*32)
		g.fetch(arg{offTaps, "DX"}, arg{offCount, "R11"})
		g.I("JMP %s_half", label)
		g.L("%s_done:", label)
	})
}

// depthAVX2 emits the same product as depthVNNI, row by row. It reads the bytes of 32 columns, whatever the mask says.
//
//	DI row of A   SI tap of it   BX weights   DX next tap   CX rows left   R11 taps left   R12 tile
//	Y0-Y3 sums    Y4-Y7 bytes of A   Y8-Y11 weights: the low half of a lane holds the number, so that VPMADDWD multiplies it
func (g *gen) depthAVX2() {
	const name = "depthAVX2"
	g.function(name)
	g.fetch(arg{offA, "DI"}, arg{offLDA, "R8"}, arg{offTile, "R12"}, arg{offRows, "CX"})
	g.L("%s_row:", name)
	g.fetch(arg{offB, "BX"}, arg{offTaps, "DX"}, arg{offCount, "R11"})
	for v := range 4 {
		g.I("VPXOR Y%d, Y%d, Y%d", v, v, v)
	}
	g.I("PCALIGN $32")
	g.L("%s_tap:", name)
	g.I("MOVQ (DX), SI")
	g.I("ADDQ DI, SI")
	for v := range 4 {
		g.I("VPMOVZXBD %d(SI), Y%d", v*8, 4+v)
		g.I("VMOVDQU %d(BX), Y%d", v*32, 8+v)
		g.I("VPSLLD $24, Y%d, Y%d", 8+v, 8+v)
		g.I("VPSRAD $24, Y%d, Y%d", 8+v, 8+v)
		g.I("VPMADDWD Y%d, Y%d, Y%d", 8+v, 4+v, 4+v)
		g.I("VPADDD Y%d, Y%d, Y%d", 4+v, v, v)
	}
	g.I("ADDQ $%d, BX", cols*4)
	g.I("ADDQ $8, DX")
	g.I("DECQ R11")
	g.I("JG %s_tap", name)
	for v := range 4 {
		g.I("VMOVDQU Y%d, %d(R12)", v, v*32)
	}
	g.I("ADDQ R8, DI")
	g.I("ADDQ $%d, R12", cols*4)
	g.I("DECQ CX")
	g.I("JG %s_row", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

// finishAVX2 emits the same as finishAVX512 for tiles of 32 columns, with sums that begin with something (offBase) and
// no corrections of rows.
//
//	AX arguments   SI tile   DX out   R8 distance of its rows   CX rows left
//	R10 sums of the weights   R11 base   R12 factors   R13 terms
//
//	Y0-Y3 a row   Y4 scratch   Y5 minus the zero point of A   Y6 factor   Y7 inv   Y8 zero   Y9 hi   Y10 lo
//	Y11 zero as integer   Y12 floor   Y13 255   Y14 order of groups of four bytes after packing
func (g *gen) finishAVX2() {
	const name = "finishAVX2"
	g.function(name)
	for _, r := range []struct {
		off int
		to  string
	}{{offTile, "SI"}, {offOut, "DX"}, {offLDO, "R8"}, {offRows, "CX"}, {offSums, "R10"}, {offBase, "R11"},
		{offMul, "R12"}, {offPlus, "R13"}, {offKind, "R9"}} {
		g.I("MOVQ %d(AX), %s", r.off, r.to)
	}
	for i, off := range []int{offNeg, offFactor, offInv, offZero, offHi, offLo, offZeroI, offFloor} {
		g.I("VBROADCASTSS %d(AX), Y%d", off, 5+i)
	}
	g.I("VPCMPEQD Y13, Y13, Y13")
	g.I("VPSRLD $24, Y13, Y13")
	g.I("VMOVDQU packedOrder<>(SB), Y14")
	labels := []string{"ints", "floats", "after", "before"}
	for k := range kindBefore {
		g.I("CMPQ R9, $%d", k)
		g.I("JEQ %s_%s", name, labels[k])
	}
	for _, k := range []int{kindBefore, kindAfter, kindFloats, kindInts} {
		label := name + "_" + labels[k]
		g.L("")
		g.L("%s:", label)
		for v := range 4 {
			at := v * 32
			g.I("VPMULLD %d(R10), Y5, Y4", at)
			g.I("VPADDD %d(SI), Y4, Y%d", at, v)
			g.I("VPADDD %d(R11), Y%d, Y%d", at, v, v)
			if k == kindInts {
				g.I("VMOVDQU Y%d, %d(DX)", v, at)
				continue
			}
			g.I("VCVTDQ2PS Y%d, Y%d", v, v)
			g.I("VMULPS %d(R12), Y6, Y4", at)
			switch k {
			case kindBefore:
				g.I("VADDPS %d(R13), Y%d, Y%d", at, v, v)
				g.I("VMULPS Y4, Y%d, Y%d", v, v)
			default:
				g.I("VMULPS Y4, Y%d, Y%d", v, v)
				g.I("VADDPS %d(R13), Y%d, Y%d", at, v, v)
			}
			if k == kindFloats {
				g.I("VMAXPS Y12, Y%d, Y%d", v, v)
				g.I("VMOVUPS Y%d, %d(DX)", v, at)
				continue
			}
			if k == kindAfter {
				g.I("VMULPS Y7, Y%d, Y%d", v, v)
				g.I("VADDPS Y8, Y%d, Y%d", v, v)
			}
			g.I("VMINPS Y%d, Y9, Y%d", v, v) // NaN stays NaN: see finishAVX512
			g.I("VCVTPS2DQ Y%d, Y%d", v, v)
			g.I("VPMAXSD Y10, Y%d, Y%d", v, v)
			g.I("VPADDD Y11, Y%d, Y%d", v, v)
			g.I("VPAND Y13, Y%d, Y%d", v, v)
		}
		if k == kindAfter || k == kindBefore {
			g.I("VPACKUSDW Y1, Y0, Y0")
			g.I("VPACKUSDW Y3, Y2, Y2")
			g.I("VPACKUSWB Y2, Y0, Y0")
			g.I("VPERMD Y0, Y14, Y0")
			g.I("VMOVDQU Y0, (DX)")
		}
		g.I("ADDQ $%d, SI", cols*4)
		g.I("ADDQ R8, DX")
		g.I("DECQ CX")
		g.I("JG %s", label)
		g.I("VZEROUPPER")
		g.I("RET")
	}
}

func main() {
	out := flag.String("out", ".", "directory of package quant")
	flag.Parse()
	g := &gen{text.New("quant")}
	g.order(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
	g.dotVNNI()
	g.depthVNNI()
	g.depth3(1)
	g.depth3(2)
	g.finishAVX512()
	g.Save(*out, "avx512_amd64.s")
	g = &gen{text.New("quant")}
	g.order(0, 4, 1, 5, 2, 6, 3, 7)
	g.dotAVX2()
	g.dotAVXVNNI()
	g.depthAVX2()
	g.finishAVX2()
	g.Save(*out, "avx2_amd64.s")
	g = &gen{text.New("quant")}
	g.dotNEON()
	g.Save(*out, "neon_arm64.s")
}

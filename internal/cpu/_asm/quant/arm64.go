package main

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/a64"
)

// neonRows is the most rows that dotNEON takes.
const neonRows = 4

// dotNEON emits the product of dotVNNI by the instruction SDOT, whose bytes are signed on both sides: it multiplies
// a-128, which is a with its highest bit turned, and the sums of the weights times -128, which the same instruction
// makes, are subtracted at the end. The 32 columns of a tile are two halves of four registers.
//
//	R0 arguments   R1 weights   R2 next tap   R3 taps left   R4 distance of rows   R5 tile   R6 A   R7 steps left
//	R8-R11 rows of A   R12 add   R13 halves left   R14 scratch
//
//	V0-V15 sums, four for each row   V16-V19 sums of the weights   V20-V23 B   V24-V27 rows of A   V28 bytes of -128
func (g *gen) dotNEON() {
	const name = "dotNEON"
	g.L("")
	g.L("// func %s(p *kernelArgs)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVD p+0(FP), R0")
	get := func(off, reg int) { g.I("MOVD %d(R0), R%d", off, reg) }
	get(offB, 1)
	get(offLDA, 4)
	get(offTile, 5)
	get(offA, 6)
	get(offAdd, 12)
	get(offRows, 14)
	g.I("MOVD $2, R13")
	g.I("VMOVI $128, V28.B16")
	for r := neonRows; r > 1; r-- {
		g.I("CMP $%d, R14", r)
		g.I("BEQ %s_r%d", name, r)
	}
	vecs := func(first int) string {
		var s []string
		for i := range 4 {
			s = append(s, fmt.Sprintf("V%d.B16", first+i))
		}
		return "[" + strings.Join(s, ", ") + "]"
	}
	each := func(rows int, format string) {
		g.I("MOVD R5, R14")
		for r := range rows {
			g.I(format, vecs(4*r))
			g.I("ADD $%d, R14", cols*4)
		}
	}
	for rows := 1; rows <= neonRows; rows++ {
		label := fmt.Sprintf("%s_r%d", name, rows)
		g.L("")
		g.L("// %d rows", rows)
		g.L("%s:", label)
		get(offTaps, 2)
		get(offCount, 3)
		for i := range 4 * rows {
			g.I("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
		}
		for i := 16; i < 20; i++ {
			g.I("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
		}
		g.I("CBZ R12, %s_tap", label)
		each(rows, "VLD1 (R14), %s")
		g.L("%s_tap:", label)
		g.I("MOVD.P 8(R2), R14")
		g.I("ADD R6, R14, R8")
		for r := 1; r < rows; r++ {
			g.I("ADD R4, R%d, R%d", 7+r, 8+r)
		}
		get(offSteps, 7)
		g.I("PCALIGN $16")
		g.L("%s_k:", label)
		g.I("VLD1 (R1), %s", vecs(20))
		g.I("ADD $%d, R1", cols*4)
		for r := range rows {
			g.I("VLD1R.P 4(R%d), [V%d.S4]", 8+r, 24+r)
		}
		for r := range rows {
			g.I("VEOR V28.B16, V%d.B16, V%d.B16", 24+r, 24+r)
		}
		for v := range 4 {
			for r := range rows {
				g.I("%s", a64.Dot(4*r+v, 20+v, 24+r))
			}
			g.I("%s", a64.Dot(16+v, 20+v, 28))
		}
		g.I("SUBS $1, R7, R7")
		g.I("BNE %s_k", label)
		g.I("SUBS $1, R3, R3")
		g.I("BNE %s_tap", label)
		for r := range rows {
			for v := range 4 {
				g.I("%s", a64.Three("sub", a64.S4, 4*r+v, 4*r+v, 16+v))
			}
		}
		each(rows, "VST1 %s, (R14)")
		g.I("SUBS $1, R13, R13")
		g.I("BEQ %s_done", label)
		get(offB, 1)
		g.I("ADD $64, R1")
		g.I("ADD $64, R5")
		g.I("B %s", label)
		g.L("%s_done:", label)
		g.I("RET")
	}
}

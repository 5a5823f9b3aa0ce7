package main

// neon writes the arm64 kernels: C = alpha*A*B + beta*C + bias for tiles of 1 to
// 8 rows by 1 to 3 vectors. The assembler knows no vector multiplication, so the
// epilogue is made of fused multiply-adds too; the ReLU is left to Go.
//
//	R0 = args, R1..R8 = rows of A, R9 = A's stride along k, R10 = B, R11 = B's
//	row stride, R12 = steps of k left, R13 = flags, R14 = C, R15 = C's row
//	stride, R16, R17 = scratch
//	V0..V23 = sums, V24..V26 = a row of B, V27..V31 = broadcasts
func (g *gen) neon(name string, es int) {
	arr := map[int]string{4: "S4", 8: "D2"}[es]
	const mr, maxV = 8, 3
	g.L("")
	g.L("// func %s(a *args)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVD a+0(FP), R0")
	for _, f := range []struct{ off, reg int }{{offA, 1}, {offRSA, 16}, {offCSA, 9}, {offB, 10}, {offLDB, 11},
		{offK, 12}, {offC, 14}, {offLDC, 15}, {offFlags, 13}, {offVariant, 17}} {
		g.I("MOVD %d(R0), R%d", f.off, f.reg)
	}
	for r := 2; r <= mr; r++ {
		// Rows that the tile does not have get an address, but are not read.
		g.I("ADD R16, R%d, R%d", r-1, r)
	}
	for v := 1; v <= maxV; v++ {
		for r := 1; r <= mr; r++ {
			g.I("CMP $%d, R17", v*16+r)
			g.I("BEQ %s_v%dr%d", name, v, r)
		}
	}
	g.I("RET")
	for nv := 1; nv <= maxV; nv++ {
		for rows := 1; rows <= mr; rows++ {
			g.neonTile(name, arr, es, rows, nv)
		}
	}
}

func (g *gen) neonTile(name, arr string, es, rows, nv int) {
	acc := func(r, v int) string { return sprintf("V%d", r*nv+v) }
	vecs := func(first int) string {
		s := ""
		for v := range nv {
			if v > 0 {
				s += ", "
			}
			s += sprintf("V%d.%s", first+v, arr)
		}
		return "[" + s + "]"
	}
	label := sprintf("%s_v%dr%d", name, nv, rows)
	g.L("")
	g.L("// %d rows by %d vectors", rows, nv)
	g.L("%s:", label)
	for i := range rows * nv {
		g.I("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	g.I("CBZ R12, %s_e", label)
	g.I("PCALIGN $16")
	g.L("%s_k:", label)
	g.I("VLD1 (R10), %s", vecs(24))
	g.I("ADD R11, R10, R10")
	for r := range rows {
		t := 27 + r%5
		g.I("VLD1R (R%d), [V%d.%s]", r+1, t, arr)
		g.I("ADD R9, R%d, R%d", r+1, r+1)
		for v := range nv {
			g.I("VFMLA V%d.%s, V%d.%s, %s.%s", 24+v, arr, t, arr, acc(r, v), arr)
		}
	}
	g.I("SUB $1, R12, R12")
	g.I("CBNZ R12, %s_k", label)
	g.L("%s_e:", label)

	// alpha: 0 + alpha*sum
	skip := label + "_al"
	g.I("TBZ $4, R13, %s", skip)
	g.I("ADD $%d, R0, R16", offAlpha)
	g.I("VLD1R (R16), [V31.%s]", arr)
	for i := range rows * nv {
		g.I("VEOR V30.B16, V30.B16, V30.B16")
		g.I("VFMLA V%d.%s, V31.%s, V30.%s", i, arr, arr, arr)
		g.I("VORR V30.B16, V30.B16, V%d.B16", i)
	}
	g.L("%s:", skip)

	// C is not read when beta is zero: it may hold anything.
	skip = label + "_c"
	g.I("TBZ $0, R13, %s", skip)
	g.I("ADD $%d, R0, R16", offBeta)
	g.I("VLD1R (R16), [V31.%s]", arr)
	g.I("MOVD R14, R16")
	for r := range rows {
		g.I("VLD1 (R16), %s", vecs(24))
		g.I("ADD R15, R16, R16")
		for v := range nv {
			g.I("VFMLA V%d.%s, V31.%s, %s.%s", 24+v, arr, arr, acc(r, v), arr)
		}
	}
	g.L("%s:", skip)

	// Additions are multiply-adds by one.
	one := label + "_one"
	skip = label + "_st"
	g.I("TST $%d, R13", flagBiasCol|flagBiasRow)
	g.I("BEQ %s", skip)
	if es == 4 {
		g.I("MOVD $0x3f800000, R16")
		g.I("VDUP R16, V31.S4")
	} else {
		g.I("MOVD $0x3ff0000000000000, R16")
		g.I("VDUP R16, V31.D2")
	}
	g.I("TBZ $1, R13, %s", one)
	g.I("MOVD %d(R0), R16", offBiasCol)
	g.I("VLD1 (R16), %s", vecs(24))
	for r := range rows {
		for v := range nv {
			g.I("VFMLA V%d.%s, V31.%s, %s.%s", 24+v, arr, arr, acc(r, v), arr)
		}
	}
	g.L("%s:", one)
	g.I("TBZ $2, R13, %s", skip)
	g.I("MOVD %d(R0), R16", offBiasRow)
	for r := range rows {
		g.I("VLD1R (R16), [V30.%s]", arr)
		g.I("ADD $%d, R16, R16", es)
		for v := range nv {
			g.I("VFMLA V30.%s, V31.%s, %s.%s", arr, arr, acc(r, v), arr)
		}
	}
	g.L("%s:", skip)
	for r := range rows {
		g.I("VST1 %s, (R14)", vecs(r*nv))
		if r+1 < rows {
			g.I("ADD R15, R14, R14")
		}
	}
	g.I("RET")
}

// neonPeak emits a loop of independent fused multiply-adds.
func (g *gen) neonPeak() {
	g.L("")
	g.L("// func peakNEON(n int)")
	g.L("TEXT ·peakNEON(SB), NOSPLIT, $0-8")
	g.I("MOVD n+0(FP), R0")
	for i := range 26 {
		g.I("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	g.L("neon_peak:")
	for i := range 24 {
		g.I("VFMLA V24.S4, V25.S4, V%d.S4", i)
	}
	g.I("SUB $1, R0, R0")
	g.I("CBNZ R0, neon_peak")
	g.I("RET")
}

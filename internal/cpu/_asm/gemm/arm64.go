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
	g.l("")
	g.l("// func %s(a *args)", name)
	g.l("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.i("MOVD a+0(FP), R0")
	for _, f := range []struct{ off, reg int }{{offA, 1}, {offRSA, 16}, {offCSA, 9}, {offB, 10}, {offLDB, 11}, {offK, 12}, {offC, 14}, {offLDC, 15}, {offFlags, 13}, {offVariant, 17}} {
		g.i("MOVD %d(R0), R%d", f.off, f.reg)
	}
	for r := 2; r <= mr; r++ {
		// Rows that the tile does not have get an address, but are not read.
		g.i("ADD R16, R%d, R%d", r-1, r)
	}
	for v := 1; v <= maxV; v++ {
		for r := 1; r <= mr; r++ {
			g.i("CMP $%d, R17", v*16+r)
			g.i("BEQ %s_v%dr%d", name, v, r)
		}
	}
	g.i("RET")
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
	g.l("")
	g.l("// %d rows by %d vectors", rows, nv)
	g.l("%s:", label)
	for i := range rows * nv {
		g.i("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	g.i("CBZ R12, %s_e", label)
	g.i("PCALIGN $16")
	g.l("%s_k:", label)
	g.i("VLD1 (R10), %s", vecs(24))
	g.i("ADD R11, R10, R10")
	for r := range rows {
		t := 27 + r%5
		g.i("VLD1R (R%d), [V%d.%s]", r+1, t, arr)
		g.i("ADD R9, R%d, R%d", r+1, r+1)
		for v := range nv {
			g.i("VFMLA V%d.%s, V%d.%s, %s.%s", 24+v, arr, t, arr, acc(r, v), arr)
		}
	}
	g.i("SUB $1, R12, R12")
	g.i("CBNZ R12, %s_k", label)
	g.l("%s_e:", label)

	// alpha: 0 + alpha*sum
	skip := label + "_al"
	g.i("TBZ $4, R13, %s", skip)
	g.i("ADD $%d, R0, R16", offAlpha)
	g.i("VLD1R (R16), [V31.%s]", arr)
	for i := range rows * nv {
		g.i("VEOR V30.B16, V30.B16, V30.B16")
		g.i("VFMLA V%d.%s, V31.%s, V30.%s", i, arr, arr, arr)
		g.i("VORR V30.B16, V30.B16, V%d.B16", i)
	}
	g.l("%s:", skip)

	// C is not read when beta is zero: it may hold anything.
	skip = label + "_c"
	g.i("TBZ $0, R13, %s", skip)
	g.i("ADD $%d, R0, R16", offBeta)
	g.i("VLD1R (R16), [V31.%s]", arr)
	g.i("MOVD R14, R16")
	for r := range rows {
		g.i("VLD1 (R16), %s", vecs(24))
		g.i("ADD R15, R16, R16")
		for v := range nv {
			g.i("VFMLA V%d.%s, V31.%s, %s.%s", 24+v, arr, arr, acc(r, v), arr)
		}
	}
	g.l("%s:", skip)

	// Additions are multiply-adds by one.
	one := label + "_one"
	skip = label + "_st"
	g.i("TST $%d, R13", flagBiasCol|flagBiasRow)
	g.i("BEQ %s", skip)
	if es == 4 {
		g.i("MOVD $0x3f800000, R16")
		g.i("VDUP R16, V31.S4")
	} else {
		g.i("MOVD $0x3ff0000000000000, R16")
		g.i("VDUP R16, V31.D2")
	}
	g.i("TBZ $1, R13, %s", one)
	g.i("MOVD %d(R0), R16", offBiasCol)
	g.i("VLD1 (R16), %s", vecs(24))
	for r := range rows {
		for v := range nv {
			g.i("VFMLA V%d.%s, V31.%s, %s.%s", 24+v, arr, arr, acc(r, v), arr)
		}
	}
	g.l("%s:", one)
	g.i("TBZ $2, R13, %s", skip)
	g.i("MOVD %d(R0), R16", offBiasRow)
	for r := range rows {
		g.i("VLD1R (R16), [V30.%s]", arr)
		g.i("ADD $%d, R16, R16", es)
		for v := range nv {
			g.i("VFMLA V30.%s, V31.%s, %s.%s", arr, arr, acc(r, v), arr)
		}
	}
	g.l("%s:", skip)
	for r := range rows {
		g.i("VST1 %s, (R14)", vecs(r*nv))
		if r+1 < rows {
			g.i("ADD R15, R14, R14")
		}
	}
	g.i("RET")
}

// neonPeak emits a loop of independent fused multiply-adds.
func (g *gen) neonPeak() {
	g.l("")
	g.l("// func peakNEON(n int)")
	g.l("TEXT ·peakNEON(SB), NOSPLIT, $0-8")
	g.i("MOVD n+0(FP), R0")
	for i := range 26 {
		g.i("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	g.l("neon_peak:")
	for i := range 24 {
		g.i("VFMLA V24.S4, V25.S4, V%d.S4", i)
	}
	g.i("SUB $1, R0, R0")
	g.i("CBNZ R0, neon_peak")
	g.i("RET")
}

package main

// transpose emits the move of planar images into channels-last buffers and back:
//
//	dst[off[j] + i] = src[i*lds + j]   i < rows <= 16, j < cols
//
// off is a table of byte offsets, lds is in bytes. Sixteen columns at a time go
// through registers; masks cut off what is missing. What comes next in the rows is
// fetched, also past their ends: mostly another call reads it. With far so is what
// comes next of the result.
//
//	DX dst, SI table, DI source, R8 lds times 1, R9 3, CX columns left, R13 rows,
//	R10 R11 BX rows 4, 8 and 12; K1 columns, K2 rows
func (g *gen) transpose(s isa, name string, far, past bool) {
	g.transposeHead(name)
	g.I("MOVQ cols+40(FP), AX")
	g.I("MOVQ rows+32(FP), CX")
	g.I("MOVQ CX, R13")
	g.I("LEAQ (R8)(R8*2), R9")
	g.firstCX("K2")
	g.I("MOVQ AX, CX")
	g.I("PCALIGN $32")
	g.L("%s_loop:", name)
	g.I("KXNORW K1, K1, K1")
	g.I("CMPQ CX, $16")
	g.I("JGE %s_full", name)
	g.firstCX("K1")
	g.L("%s_full:", name)
	g.I("LEAQ (DI)(R8*4), R10")
	g.I("LEAQ (DI)(R8*8), R11")
	g.I("LEAQ (R10)(R8*8), BX")
	base := []string{"DI", "R10", "R11", "BX"}
	for r := range 16 {
		if r > 0 {
			g.I("CMPQ R13, $%d", r)
			g.I("JLE %s_loaded", name)
		}
		g.I("VMOVUPS.Z (%s)%s, K1, Z%d", base[r/4], rowIndex[r%4], r)
		g.I("PREFETCHT0 512(%s)%s", base[r/4], rowIndex[r%4])
	}
	g.L("%s_loaded:", name)
	// First inside 128-bit lanes, then the lanes: see the packer of
	// internal/cpu/_asm/gemm. Rows that were not loaded are never stored.
	g.unpack(s, 16, 16)
	// Lane l of Z(4i+c) now holds column 4l+c of rows 4i..4i+3.
	col := make([]int, 16)
	for c := range 4 {
		u0, u1, u2, u3 := c, 4+c, 8+c, 12+c
		a, b, a2, b2 := 16+c, 20+c, 24+c, 28+c
		g.I("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", u1, u0, a)
		g.I("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", u1, u0, b)
		g.I("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", u3, u2, a2)
		g.I("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", u3, u2, b2)
		g.I("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", a2, a, u0)
		g.I("VSHUFF64X2 $0x88, Z%d, Z%d, Z%d", b2, b, u1)
		g.I("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", a2, a, u2)
		g.I("VSHUFF64X2 $0xdd, Z%d, Z%d, Z%d", b2, b, u3)
		col[c], col[4+c], col[8+c], col[12+c] = u0, u1, u2, u3
	}
	for j, z := range col {
		if j > 0 {
			g.I("CMPQ CX, $%d", j)
			g.I("JLE %s_done", name)
		}
		g.I("MOVQ %d(SI), R15", 8*j)
		if far {
			g.I("PREFETCHT0 256(DX)(R15*1)")
		}
		if past {
			g.I("VMOVNTPS Z%d, (DX)(R15*1)", z)
			continue
		}
		g.I("VMOVUPS Z%d, K2, (DX)(R15*1)", z)
	}
	g.I("ADDQ $128, SI")
	g.I("ADDQ $64, DI")
	g.I("SUBQ $16, CX")
	g.I("JG %s_loop", name)
	g.L("%s_done:", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

// transposeHead begins a function that moves planar images, and loads DX, SI, DI and R8.
func (g *gen) transposeHead(name string) {
	g.L("")
	g.L("// func %s(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-48", name)
	g.I("MOVQ dst+0(FP), DX")
	g.I("MOVQ off+8(FP), SI")
	g.I("MOVQ src+16(FP), DI")
	g.I("MOVQ lds+24(FP), R8")
}

// unpack transposes blocks of four rows by four columns inside the 128-bit lanes of the first n registers, by way of n
// others from t on.
func (g *gen) unpack(s isa, n, t int) {
	// Pairs of rows, then quads.
	for i := 0; i < n; i += 2 {
		g.I("VUNPCKLPS %s, %s, %s", s.V(i+1), s.V(i), s.V(t+i))
		g.I("VUNPCKHPS %s, %s, %s", s.V(i+1), s.V(i), s.V(t+i+1))
	}
	for i := 0; i < n; i += 4 {
		g.I("VUNPCKLPD %s, %s, %s", s.V(t+i+2), s.V(t+i), s.V(i))
		g.I("VUNPCKHPD %s, %s, %s", s.V(t+i+2), s.V(t+i), s.V(i+1))
		g.I("VUNPCKLPD %s, %s, %s", s.V(t+i+3), s.V(t+i+1), s.V(i+2))
		g.I("VUNPCKHPD %s, %s, %s", s.V(t+i+3), s.V(t+i+1), s.V(i+3))
	}
}

// transpose8 is transpose with vectors of eight: blocks of eight rows by four
// columns go through registers, four rows of a column in each lane. Columns that
// are left over overlap those before, fewer than four in all are moved one by one.
// With past whole lines go past the caches.
//
//	DX dst, SI table, DI source, R8 lds times 1, R9 3, CX columns left, R13 rows,
//	BX R10 dst and source of a block, R11 its second four rows, R12 rows left,
//	R15 scratch
func (g *gen) transpose8(s isa, name string, far, past bool) {
	g.transposeHead(name)
	g.I("MOVQ rows+32(FP), R13")
	g.I("MOVQ cols+40(FP), CX")
	g.I("LEAQ (R8)(R8*2), R9")
	g.I("SUBQ $4, CX")
	g.I("JLT %s_few", name)
	g.I("PCALIGN $32")
	g.L("%s_loop:", name)
	g.I("MOVQ DX, BX")
	g.I("MOVQ DI, R10")
	g.I("MOVQ R13, R12")
	g.L("%s_block:", name)
	g.I("LEAQ (R10)(R8*4), R11")
	for r := 1; r < 8; r++ {
		g.I("CMPQ R12, $%d", r)
		g.I("JEQ %s_r%d", name, r)
	}
	g.block8(s, 8, far, past)
	g.I("ADDQ $32, BX")
	g.I("LEAQ (R10)(R8*8), R10")
	g.I("SUBQ $8, R12")
	g.I("JG %s_block", name)
	g.L("%s_next:", name)
	g.I("ADDQ $32, SI")
	g.I("ADDQ $16, DI")
	g.I("SUBQ $4, CX")
	g.I("JGE %s_loop", name)
	g.I("CMPQ CX, $-4")
	g.I("JEQ %s_done", name)
	g.I("LEAQ (SI)(CX*8), SI")
	g.I("LEAQ (DI)(CX*4), DI")
	g.I("XORQ CX, CX")
	g.I("JMP %s_loop", name)
	for r := 1; r < 8; r++ {
		g.L("%s_r%d:", name, r)
		g.block8(s, r, far, past)
		g.I("JMP %s_next", name)
	}
	g.L("%s_few:", name)
	g.I("ADDQ $4, CX")
	g.L("%s_col:", name)
	g.I("MOVQ (SI), BX")
	g.I("ADDQ DX, BX")
	g.I("MOVQ DI, R10")
	g.I("MOVQ R13, R12")
	g.L("%s_one:", name)
	g.I("MOVL (R10), R15")
	g.I("MOVL R15, (BX)")
	g.I("ADDQ R8, R10")
	g.I("ADDQ $4, BX")
	g.I("DECQ R12")
	g.I("JG %s_one", name)
	g.I("ADDQ $8, SI")
	g.I("ADDQ $4, DI")
	g.I("DECQ CX")
	g.I("JG %s_col", name)
	g.L("%s_done:", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

// block8 moves four columns of so many rows, at most eight.
func (g *gen) block8(s isa, rows int, far, past bool) {
	for i := range min(rows, 4) {
		g.I("VMOVUPS (R10)%s, X%d", rowIndex[i], i)
	}
	for i := range max(rows-4, 0) {
		g.I("VINSERTF128 $1, (R11)%s, Y%d, Y%d", rowIndex[i], i, i)
	}
	g.unpack(s, 4, 4) // rows that were not loaded are never stored
	for j := range 4 {
		g.I("MOVQ %d(SI), R15", 8*j)
		if far {
			g.I("PREFETCHT0 256(BX)(R15*1)")
		}
		if rows == 8 {
			g.I("%s Y%d, (BX)(R15*1)", map[bool]string{false: "VMOVUPS", true: "VMOVNTPS"}[past], j)
			continue
		}
		at := 0
		if rows >= 4 {
			g.I("VMOVUPS X%d, (BX)(R15*1)", j)
			if at = 16; rows > 4 {
				g.I("VEXTRACTF128 $1, Y%d, X%d", j, j)
			}
		}
		if rows&2 != 0 {
			g.I("VMOVLPS X%d, %d(BX)(R15*1)", j, at)
			if at += 8; rows&1 != 0 {
				g.I("VMOVHLPS X%d, X%d, X%d", j, j, j)
			}
		}
		if rows&1 != 0 {
			g.I("VMOVSS X%d, %d(BX)(R15*1)", j, at)
		}
	}
}

// firstCX selects the first CX lanes, of at most 16, in a mask; R15 is lost.
func (g *gen) firstCX(mask string) {
	g.I("MOVQ $1, R15")
	g.I("SHLQ CX, R15")
	g.I("DECQ R15")
	g.I("KMOVW R15, %s", mask)
}

// copyRows emits the copy of runs of 4-byte elements from one distance to another:
//
//	dst[i*ldd + j] = src[i*lds + j]   i < rows, j < cols
//
// with ldd and lds in bytes, and cols in elements.
//
//	DX dst, DI source, R8 R9 their steps, CX rows left, R10 bytes of whole
//	vectors, R11 offset, BX R12 rows in pairs; K1 the tail
func (g *gen) copyRows(name string) {
	g.L("")
	g.L("// func %s(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, cols int)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-48", name)
	g.I("MOVQ dst+0(FP), DX")
	g.I("MOVQ ldd+8(FP), R8")
	g.I("MOVQ src+16(FP), DI")
	g.I("MOVQ lds+24(FP), R9")
	g.I("MOVQ rows+32(FP), R13")
	g.I("MOVQ cols+40(FP), CX")
	g.I("MOVQ CX, R10")
	g.I("ANDQ $-16, R10")
	g.I("SHLQ $2, R10")
	g.I("ANDQ $15, CX")
	g.firstCX("K1")
	g.I("TESTQ CX, CX")
	g.I("JNZ %s_rows", name)
	g.I("CMPQ R10, $128")
	g.I("JNE %s_rows", name)
	// A panel of two vectors: two rows at a time.
	g.I("SUBQ $2, R13")
	g.I("JLT %s_odd", name)
	g.L("%s_two:", name)
	g.I("LEAQ (DI)(R9*1), BX")
	g.I("LEAQ (DX)(R8*1), R12")
	for i := range 4 {
		g.I("VMOVUPS %d(%s), Z%d", i%2*64, []string{"DI", "BX"}[i/2], i)
	}
	for i := range 4 {
		g.I("VMOVUPS Z%d, %d(%s)", i, i%2*64, []string{"DX", "R12"}[i/2])
	}
	g.I("LEAQ (BX)(R9*1), DI")
	g.I("LEAQ (R12)(R8*1), DX")
	g.I("SUBQ $2, R13")
	g.I("JGE %s_two", name)
	g.L("%s_odd:", name)
	g.I("ADDQ $2, R13")
	g.I("JLE %s_done", name)
	g.L("%s_rows:", name)
	g.I("XORQ R11, R11")
	g.I("CMPQ R10, $0")
	g.I("JE %s_tail", name)
	g.L("%s_cols:", name)
	g.I("VMOVUPS (DI)(R11*1), Z0")
	g.I("VMOVUPS Z0, (DX)(R11*1)")
	g.I("ADDQ $64, R11")
	g.I("CMPQ R11, R10")
	g.I("JLT %s_cols", name)
	g.L("%s_tail:", name)
	g.I("VMOVUPS.Z (DI)(R11*1), K1, Z0")
	g.I("VMOVUPS Z0, K1, (DX)(R11*1)")
	g.I("ADDQ R9, DI")
	g.I("ADDQ R8, DX")
	g.I("DECQ R13")
	g.I("JG %s_rows", name)
	g.L("%s_done:", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

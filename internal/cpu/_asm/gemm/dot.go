// Dot products: a matrix of few rows with a transposed one.

package main

import "fmt"

// dot emits out[i*4+j] = sum over k of a[i][k]*b[j][k], for rows 1..4 of a and
// four rows of b, all contiguous along k: the product with a transposed matrix
// when there are too few rows to be worth packing it. Groups of four rows of b
// follow each other, and so do their sums.
//
//	DI = a   BX = b   R8 = a's stride   R11, R12 = b's, 1 and 3 times
//	SI = this group of b   R10 = groups left   DX = out   CX = k left
func (g *gen) dot(name string, s isa, maxRows int) {
	const nj = 4
	g.function(name, "out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer", "DX", "", "SI",
		"R8", "R11", "", "R15", "R10", "AX")
	g.I("LEAQ (R8)(R8*2), R9")
	g.I("LEAQ (R11)(R11*2), R12")
	for r := maxRows; r > 1; r-- {
		g.I("CMPQ R15, $%d", r)
		g.I("JEQ %s_r%d", name, r)
	}
	bAddr := []string{"(BX)", "(BX)(R11*1)", "(BX)(R11*2)", "(BX)(R12*1)"}
	for rows := 1; rows <= maxRows; rows++ {
		acc := func(r, j int) string { return s.V(r*nj + j) }
		// Few rows: two sets of sums, or the additions' latency shows.
		sets := 1
		if rows*nj*2+rows+2 <= s.Regs/2+s.Regs/4 {
			sets = 2
		}
		second := rows // the row of registers that the second set begins with
		av := func(r int) string { return s.V(s.Regs - 1 - r) }
		bv := s.V(s.Regs - 1 - rows)
		mv := s.V(s.Regs - 2 - rows)                                     // AVX2's mask
		prod := func(r int) string { return s.V(s.Regs - 3 - rows - r) } // of integers
		l := fmt.Sprintf("%s_r%d", name, rows)
		g.L("%s:", l)
		g.I("MOVQ a+8(FP), DI")
		g.I("MOVQ SI, BX")
		g.I("MOVQ k+40(FP), CX")
		for i := range rows * nj * sets {
			g.I("VXORPS %s, %s, %s", s.V(i), s.V(i), s.V(i))
		}
		step := func(set int, masked bool) {
			ld := func(addr, dst string) {
				switch {
				case !masked:
					g.I("VMOVU%s %s, %s", s.P(), addr, dst)
				case s.Mask:
					g.I("VMOVU%s.Z %s, K1, %s", s.P(), addr, dst)
				default:
					g.I("VMASKMOV%s %s, %s, %s", s.P(), addr, mv, dst)
				}
			}
			for r := range rows {
				ld(rowAddr[r], av(r))
			}
			for j := range nj {
				src := bAddr[j]
				switch {
				case s.half != "" && masked:
					g.loadHalf(s, bAddr[j], "K1", bv)
					src = bv
				case s.half != "":
					g.loadHalf(s, bAddr[j], "", bv)
					src = bv
				case rows > 1 || masked:
					ld(bAddr[j], bv)
					src = bv
				}
				for r := range rows {
					g.muladd(s, src, av(r), acc(r+set*second, j), prod(r))
				}
			}
			if !masked {
				g.I("ADDQ $%d, DI", s.Width)
				g.I("ADDQ $%d, BX", s.widthB())
			}
		}
		n := s.Lanes()
		g.I("SUBQ $%d, CX", n*sets)
		g.I("JLT %s_t", l)
		g.I("PCALIGN $32")
		g.L("%s_k:", l)
		for set := range sets {
			step(set, false)
		}
		g.I("SUBQ $%d, CX", n*sets)
		g.I("JGE %s_k", l)
		g.L("%s_t:", l)
		g.I("ADDQ $%d, CX", n*sets)
		if sets == 2 {
			g.I("CMPQ CX, $%d", n)
			g.I("JLT %s_m", l)
			step(0, false)
			g.I("SUBQ $%d, CX", n)
			g.L("%s_m:", l)
		}
		g.I("TESTQ CX, CX")
		g.I("JZ %s_e", l)
		g.tailMask(s, mv)
		step(0, true)
		g.L("%s_e:", l)
		if sets == 2 {
			for i := range rows * nj {
				g.I("%s %s, %s, %s", s.add(), s.V(rows*nj+i), s.V(i), s.V(i))
			}
		}
		for r := range rows {
			g.foldLanes(s, r*nj, s.Regs-4)
		}
		g.I("LEAQ (SI)(R11*4), SI")
		g.I("DECQ R10")
		g.I("JG %s", l)
		g.I("VZEROUPPER")
		g.I("RET")
	}
}

// dotStream is dot, on AVX-512, for a b that comes from memory. It reads one row of b after the other, in the
// order of memory, which the hardware prefetchers follow; four rows at a time would be read half as fast. Two
// sets of sums take turns along a row; the second set is added to the row's own sums at the end.
//
//	DI = a   BX = b   R8 = a's stride   R11 = b's stride
//	SI = this row of b   R10 = groups left   DX = out   CX = k left
func (g *gen) dotStream(name string, s isa, maxRows int) {
	const nj = 4
	g.function(name, "out, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, mask unsafe.Pointer", "DX", "", "SI",
		"R8", "R11", "", "R15", "R10", "AX")
	g.I("LEAQ (R8)(R8*2), R9")
	for r := maxRows; r > 1; r-- {
		g.I("CMPQ R15, $%d", r)
		g.I("JEQ %s_r%d", name, r)
	}
	n := s.Lanes()
	for rows := 1; rows <= maxRows; rows++ {
		acc := func(r, j int) string { return s.V(r*nj + j) }
		other := func(r int) string { return s.V(rows*nj + r) }
		av, bv := s.V(s.Regs-1), s.V(s.Regs-2)
		prod := s.V(s.Regs - 4)
		l := fmt.Sprintf("%s_r%d", name, rows)
		g.L("%s:", l)
		for j := range nj {
			lj := fmt.Sprintf("%s_%d", l, j)
			g.I("MOVQ a+8(FP), DI")
			g.I("MOVQ SI, BX")
			g.I("MOVQ k+40(FP), CX")
			for r := range rows {
				g.I("VXORPS %s, %s, %s", acc(r, j), acc(r, j), acc(r, j))
				g.I("VXORPS %s, %s, %s", other(r), other(r), other(r))
			}
			step := func(sum func(r int) string, masked bool) {
				load := func(addr, dst string) {
					if masked {
						g.I("VMOVU%s.Z %s, K1, %s", s.P(), addr, dst)
					} else {
						g.I("VMOVU%s %s, %s", s.P(), addr, dst)
					}
				}
				switch {
				case s.half != "" && masked:
					g.loadHalf(s, "(BX)", "K1", bv)
				case s.half != "":
					g.loadHalf(s, "(BX)", "", bv)
				default:
					load("(BX)", bv)
				}
				for r := range rows {
					load(rowAddr[r], av)
					g.muladd(s, bv, av, sum(r), prod)
				}
				if !masked {
					g.I("ADDQ $%d, DI", s.Width)
					g.I("ADDQ $%d, BX", s.widthB())
				}
			}
			mine := func(r int) string { return acc(r, j) }
			g.I("SUBQ $%d, CX", 2*n)
			g.I("JLT %s_t", lj)
			g.I("PCALIGN $32")
			g.L("%s_k:", lj)
			step(mine, false)
			step(other, false)
			g.I("SUBQ $%d, CX", 2*n)
			g.I("JGE %s_k", lj)
			g.L("%s_t:", lj)
			g.I("ADDQ $%d, CX", 2*n)
			g.I("CMPQ CX, $%d", n)
			g.I("JLT %s_m", lj)
			step(mine, false)
			g.I("SUBQ $%d, CX", n)
			g.L("%s_m:", lj)
			g.I("TESTQ CX, CX")
			g.I("JZ %s_e", lj)
			g.tailMask(s, "")
			step(other, true)
			g.L("%s_e:", lj)
			for r := range rows {
				g.I("%s %s, %s, %s", s.add(), other(r), acc(r, j), acc(r, j))
			}
			g.I("ADDQ R11, SI")
		}
		for r := range rows {
			g.foldLanes(s, r*nj, s.Regs-4)
		}
		g.I("DECQ R10")
		g.I("JG %s", l)
		g.I("VZEROUPPER")
		g.I("RET")
	}
}

// tailMask emits the mask of the last CX elements: K1, or on AVX2 what AX points to in register mv.
func (g *gen) tailMask(s isa, mv string) {
	if !s.Mask {
		g.I("VMOVU%s (AX), %s", s.P(), mv)
		return
	}
	g.I("MOVQ $1, R13")
	g.I("SHLQ CX, R13")
	g.I("DECQ R13")
	g.I("KMOVW R13, K1")
}

// foldLanes emits the sums of four registers' lanes, stored at DX, which moves on:
// neighbours are added while they come together in one register, and then its
// halves. The four are overwritten, and the scratch registers from t on.
func (g *gen) foldLanes(s isa, a, t int) {
	pair := func(unpack string, a, b, to int) { // to = sums of neighbours in a and b, alternating
		g.I("VUNPCKL%s %s, %s, %s", unpack, s.V(b), s.V(a), s.V(t))
		g.I("VUNPCKH%s %s, %s, %s", unpack, s.V(b), s.V(a), s.V(t+1))
		g.I("%s %s, %s, %s", s.add(), s.V(t+1), s.V(t), s.V(to))
	}
	halve := func(a int) {
		if s.Reg == "Z" {
			g.I("VEXTRACTF64X4 $1, Z%d, Y%d", a, t)
			g.I("%s Y%d, Y%d, Y%d", s.add(), t, a, a)
			g.I("VEXTRACTF32X4 $1, Y%d, X%d", a, t)
		} else {
			g.I("VEXTRACTF128 $1, Y%d, X%d", a, t)
		}
		g.I("%s X%d, X%d, X%d", s.add(), t, a, a)
	}
	pair(s.P(), a, a+1, a)
	pair(s.P(), a+2, a+3, a+2)
	if s.ES == 4 {
		pair("PD", a, a+2, a)
		halve(a)
		g.I("VMOVUPS X%d, (DX)", a)
	} else {
		halve(a)
		halve(a + 2)
		g.I("VMOVUPD X%d, (DX)", a)
		g.I("VMOVUPD X%d, 16(DX)", a+2)
	}
	g.I("ADDQ $%d, DX", 4*s.ES)
}

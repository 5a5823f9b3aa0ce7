package main

import "fmt"

// depthwise emits the kernels of convolutions whose channels do not mix, on
// channels-last images. One call computes up to 2·group positions (rows, in two
// groups as in family) and all channels, a vector at a time:
//
//	C[row, ch] = clamp(sum over taps t of A[row + t, ch]·W[t, ch] + bias[ch] + residual[row, ch])
//
// A tap is a pair of byte offsets, into A and into the weights.
//
//	AX args, DI SI groups of A plus the tap's offset, R8 R9 R10 row stride times
//	1 3 5, R11 byte offset of the channels, BX weights, R12 tap, R13 R15 scratch
func (g *gen) depthwise(name string, s isa) {
	g.l("")
	g.l("// func %s(a *args)", name)
	g.l("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.i("MOVQ a+0(FP), AX")
	g.i("MOVQ %d(AX), R8", offRS)
	g.i("LEAQ (R8)(R8*2), R9")
	g.i("LEAQ (R8)(R8*4), R10")
	g.i("MOVQ %d(AX), R15", offVariant)
	label := func(r int) string { return fmt.Sprintf("%s_r%d", name, r) }
	for r := 2 * s.group; r > 1; r-- {
		g.i("CMPQ R15, $%d", r)
		g.i("JEQ %s", label(r))
	}
	for rows := 1; rows <= 2*s.group; rows++ {
		g.depthwiseRows(s, label(rows), rows)
	}
}

func (g *gen) depthwiseRows(s isa, label string, rows int) {
	first := (rows + 1) / 2
	acc := s.v
	w, tmp := s.v(s.regs-1), [2]string{s.v(s.regs - 1), s.v(s.regs - 2)}
	addr := func(r int) string {
		if r >= first {
			return "(SI)" + rowIndex[r-first]
		}
		return "(DI)" + rowIndex[r]
	}
	load := func(addr, reg string) {
		if s.mask {
			g.i("VMOVU%s.Z %s, K1, %s", s.p(), addr, reg)
		} else {
			g.i("VMOVU%s %s, %s", s.p(), addr, reg)
		}
	}
	g.l("%s:", label)
	g.i("XORQ R11, R11")
	g.l("%s_b:", label)
	if s.mask {
		// The last vector may hold fewer channels.
		g.i("MOVQ $-1, R15")
		g.i("MOVQ R11, R13")
		g.i("ADDQ $%d, R13", s.width)
		g.i("CMPQ R13, %d(AX)", offBlockEnd)
		g.i("JLE %s_f", label)
		g.i("MOVQ %d(AX), R15", offMask)
		g.l("%s_f:", label)
		g.i("KMOVW R15, K1")
	}
	for r := range rows {
		g.i("VXOR%s %s, %s, %s", s.p(), acc(r), acc(r), acc(r))
	}
	g.i("MOVQ %d(AX), R12", offSeg)
	g.i("MOVQ %d(AX), BX", offB)
	g.i("ADDQ R11, BX")
	g.i("JMP %s_e", label)
	g.l("%s_t:", label)
	g.i("MOVQ (R12), R15")
	g.i("MOVQ 8(R12), R13")
	g.i("ADDQ $16, R12")
	g.i("ADDQ R11, R15")
	g.i("MOVQ %d(AX), DI", offA0)
	g.i("ADDQ R15, DI")
	if rows > first {
		g.i("MOVQ %d(AX), SI", offA1)
		g.i("ADDQ R15, SI")
	}
	load("(BX)(R13*1)", w)
	for r := range rows {
		if s.mask {
			g.i("VFMADD231%s %s, %s, K1, %s", s.p(), addr(r), w, acc(r))
		} else {
			g.i("VFMADD231%s %s, %s, %s", s.p(), addr(r), w, acc(r))
		}
	}
	g.l("%s_e:", label)
	g.i("CMPQ R12, %d(AX)", offSegEnd)
	g.i("JLT %s_t", label)

	g.i("MOVQ %d(AX), R15", offFlags)
	each := func(off0, off1, stride int, f func(r int)) {
		for r := range rows {
			switch r {
			case 0:
				g.i("MOVQ %d(AX), SI", off0)
				g.i("ADDQ R11, SI")
				g.i("MOVQ %d(AX), R13", stride)
			case first:
				g.i("MOVQ %d(AX), SI", off1)
				g.i("ADDQ R11, SI")
			default:
				g.i("ADDQ R13, SI")
			}
			f(r)
		}
	}
	g.i("TESTQ $%d, R15", flagBias)
	g.i("JZ %s_nb", label)
	g.i("MOVQ %d(AX), SI", offBias)
	load("(SI)(R11*1)", tmp[0])
	for r := range rows {
		g.i("VADD%s %s, %s, %s", s.p(), tmp[0], acc(r), acc(r))
	}
	g.l("%s_nb:", label)
	g.i("TESTQ $%d, R15", flagRes)
	g.i("JZ %s_nr", label)
	each(offR0, offR1, offLDR, func(r int) {
		load("(SI)", tmp[0])
		g.i("VADD%s %s, %s, %s", s.p(), tmp[0], acc(r), acc(r))
	})
	g.l("%s_nr:", label)
	g.i("TESTQ $%d, R15", flagClamp)
	g.i("JZ %s_nc", label)
	g.i("VBROADCAST%s %d(AX), %s", s.sc(), offLo, tmp[0])
	g.i("VBROADCAST%s %d(AX), %s", s.sc(), offHi, tmp[1])
	for r := range rows {
		g.i("VMAX%s %s, %s, %s", s.p(), acc(r), tmp[0], acc(r))
		g.i("VMIN%s %s, %s, %s", s.p(), acc(r), tmp[1], acc(r))
	}
	g.l("%s_nc:", label)
	each(offC0, offC1, offLDC, func(r int) {
		if s.mask {
			g.i("VMOVU%s %s, K1, (SI)", s.p(), acc(r))
		} else {
			g.i("VMOVU%s %s, (SI)", s.p(), acc(r))
		}
	})
	g.i("ADDQ $%d, R11", s.width)
	g.i("CMPQ R11, %d(AX)", offBlockEnd)
	g.i("JLT %s_b", label)
	g.i("VZEROUPPER")
	g.i("RET")
}

// depthwiseGrad emits the gradient of depthwise weights for one vector of
// channels: rows are taps, A walks over positions cs bytes apart and B, the
// output's gradient, over positions ldr bytes apart.
//
//	C[row, ch] += sum over segments s, positions p of A_s[row + p, ch]·B[p, ch]
//
// Everything is whole vectors: the caller's buffers are padded.
func (g *gen) depthwiseGrad(name string, s isa) {
	g.l("")
	g.l("// func %s(a *args)", name)
	g.l("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.i("MOVQ a+0(FP), AX")
	g.i("MOVQ %d(AX), BX", offB)
	g.i("MOVQ %d(AX), R8", offRS)
	g.i("LEAQ (R8)(R8*2), R9")
	g.i("LEAQ (R8)(R8*4), R10")
	g.i("MOVQ %d(AX), R11", offCS)
	g.i("MOVQ %d(AX), R12", offSeg)
	g.i("MOVQ %d(AX), R13", offLDR)
	g.i("MOVQ %d(AX), R15", offVariant)
	label := func(r int) string { return fmt.Sprintf("%s_r%d", name, r) }
	for r := 2 * s.group; r > 1; r-- {
		g.i("CMPQ R15, $%d", r)
		g.i("JEQ %s", label(r))
	}
	for rows := 1; rows <= 2*s.group; rows++ {
		l, first := label(rows), (rows+1)/2
		g.l("%s:", l)
		g.i("MOVQ %d(AX), DX", offC0)
		for r := range rows {
			g.i("VMOVU%s %d(DX), %s", s.p(), r*s.width, s.v(r))
		}
		g.l("%s_s:", l)
		g.i("MOVQ (R12), R15")
		g.i("ADDQ $8, R12")
		g.i("MOVQ %d(AX), DI", offA0)
		g.i("ADDQ R15, DI")
		if rows > first {
			g.i("MOVQ %d(AX), SI", offA1)
			g.i("ADDQ R15, SI")
		}
		g.i("MOVQ %d(AX), CX", offK)
		g.l("%s_k:", l)
		b := s.v(s.regs - 1)
		g.i("VMOVU%s (BX), %s", s.p(), b)
		for r := range rows {
			base, i := "DI", r
			if r >= first {
				base, i = "SI", r-first
			}
			g.i("VFMADD231%s (%s)%s, %s, %s", s.p(), base, rowIndex[i], b, s.v(r))
		}
		g.i("ADDQ R13, BX")
		g.i("ADDQ R11, DI")
		if rows > first {
			g.i("ADDQ R11, SI")
		}
		g.i("DECQ CX")
		g.i("JG %s_k", l)
		g.i("CMPQ R12, %d(AX)", offSegEnd)
		g.i("JLT %s_s", l)
		for r := range rows {
			g.i("VMOVU%s %s, %d(DX)", s.p(), s.v(r), r*s.width)
		}
		g.i("VZEROUPPER")
		g.i("RET")
	}
}

package main

import "fmt"

// depthwise emits the kernels of convolutions whose channels do not mix, on
// channels-last images. One call computes up to 2·group positions (rows, in two
// groups as in family) of some lines and all channels, a vector at a time, for
// which it goes through the lines: two of three lines of A are in the first-level
// cache then.
//
//	C[row, ch] = clamp(sum over taps t of A[row + t, ch]·W[t, ch] + bias[ch] + residual[row, ch])
//
// A tap is a pair of byte offsets, into A and into the weights.
//
// With every tap two lines of what comes next are fetched, see family.
//
// With mixed, a few channels that lie in one vector make a group: each tap has as
// many vectors of weights as a group has channels, offTapStep bytes apart, and a
// table says which channel of A each lane takes with each of them:
//
//	C[row, ch] = clamp(sum over taps t, steps i of A[row + t, index[i, ch]]·W[t, i, ch] + bias[ch] + residual[row, ch])
//
//	AX args, DI SI groups of A plus the tap's offset, R8 R9 R10 row stride times
//	1 3 5, R11 byte offset of the channels, BX weights, R12 tap, CX what to fetch
//	ahead, DX its step, R13 R15 scratch; mixed: R13 weights, R15 index
func (g *gen) depthwise(name string, s isa, mixed bool) {
	g.depthwiseFunc(name, offRS, 2*s.group, func(label string, rows int) { g.depthwiseRows(s, label, rows, mixed) })
}

// depthwiseFunc emits the function of a depthwise kernel, whose forms for up to most
// positions, step apart in A, stand at their labels.
func (g *gen) depthwiseFunc(name string, step, most int, form func(label string, rows int)) {
	g.L("")
	g.L("// func %s(a *args)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVQ a+0(FP), AX")
	g.I("MOVQ %d(AX), R8", step)
	g.I("LEAQ (R8)(R8*2), R9")
	g.I("LEAQ (R8)(R8*4), R10")
	g.loadPrefetch("CX")
	g.I("MOVQ %d(AX), DX", offPrefetchStep)
	g.I("MOVQ %d(AX), R15", offVariant)
	label := func(r int) string { return fmt.Sprintf("%s_r%d", name, r) }
	for r := most; r > 1; r-- {
		g.I("CMPQ R15, $%d", r)
		g.I("JEQ %s", label(r))
	}
	for rows := 1; rows <= most; rows++ {
		form(label(rows), rows)
	}
}

func (g *gen) depthwiseRows(s isa, label string, rows int, mixed bool) {
	first := (rows + 1) / 2
	acc := s.V
	w := s.V(s.Regs - 1)
	addr := func(r int) string {
		if r >= first {
			return "(SI)" + rowIndex[r-first]
		}
		return "(DI)" + rowIndex[r]
	}
	g.L("%s:", label)
	g.I("XORQ R11, R11")
	g.L("%s_b:", label)
	g.channelMask(s, label)
	g.I("MOVQ %d(AX), R15", offLines)
	g.I("MOVQ R15, %d(AX)", offLinesLeft)
	g.L("%s_l:", label)
	for r := range rows {
		g.I("VXOR%s %s, %s, %s", s.P(), acc(r), acc(r), acc(r))
	}
	g.nextChannels(s, label, rows, first)
	g.I("MOVQ %d(AX), R12", offSeg)
	g.I("MOVQ %d(AX), BX", offB)
	g.I("ADDQ R11, BX")
	g.I("JMP %s_e", label)
	g.L("%s_t:", label)
	g.I("MOVQ (R12), R15")
	g.I("MOVQ 8(R12), R13")
	g.I("ADDQ $16, R12")
	g.I("ADDQ R11, R15")
	g.I("MOVQ %d(AX), DI", offA0)
	g.I("ADDQ R15, DI")
	if rows > first {
		g.I("MOVQ %d(AX), SI", offA1)
		g.I("ADDQ R15, SI")
	}
	if mixed {
		g.I("ADDQ BX, R13")
		g.I("MOVQ %d(AX), R15", offIndex)
		g.L("%s_i:", label)
		g.loadChannels(s, "(R13)", w)
		g.I("ADDQ %d(AX), R13", offTapStep)
		g.I("VMOVU%s (R15), %s", s.P(), s.V(s.Regs-2))
		g.I("ADDQ $%d, R15", s.Width)
	} else {
		g.loadChannels(s, "(BX)(R13*1)", w)
	}
	g.I("PREFETCHT1 (CX)")
	g.I("PREFETCHT1 64(CX)")
	g.I("ADDQ DX, CX")
	for r := range rows {
		switch {
		case mixed:
			g.addGrouped(s, addr(r), w, acc(r), r)
		case s.Mask:
			g.I("VFMADD231%s %s, %s, K1, %s", s.P(), addr(r), w, acc(r))
		default:
			g.I("VFMADD231%s %s, %s, %s", s.P(), addr(r), w, acc(r))
		}
	}
	if mixed {
		g.I("CMPQ R15, %d(AX)", offIndexEnd)
		g.I("JLT %s_i", label)
	}
	g.L("%s_e:", label)
	g.I("CMPQ R12, %d(AX)", offSegEnd)
	g.I("JLT %s_t", label)
	g.depthwiseEnd(s, label, rows, first, mixed)
}

// addGrouped adds the products of w with the channels at addr that the index in the last
// register but one selects. A whole vector is read.
func (g *gen) addGrouped(s isa, addr, w, acc string, r int) {
	t := s.V(s.Regs - 3 - r%4)
	g.I("VPERMPS %s, %s, %s", addr, s.V(s.Regs-2), t)
	g.I("VFMADD231%s %s, %s, %s", s.P(), t, w, acc)
}

// channelMask sets K1: the last vector may hold fewer channels.
func (g *gen) channelMask(s isa, label string) {
	if !s.Mask {
		return
	}
	g.I("MOVQ $-1, R15")
	g.I("MOVQ R11, R13")
	g.I("ADDQ $%d, R13", s.Width)
	g.I("CMPQ R13, %d(AX)", offBlockEnd)
	g.I("JLE %s_f", label)
	g.I("MOVQ %d(AX), R15", offMask)
	g.L("%s_f:", label)
	g.I("KMOVW R15, K1")
}

// loadChannels loads a vector of channels.
func (g *gen) loadChannels(s isa, addr, reg string) {
	if s.Mask {
		g.I("VMOVU%s.Z %s, K1, %s", s.P(), addr, reg)
	} else {
		g.I("VMOVU%s %s, %s", s.P(), addr, reg)
	}
}

// nextChannels fetches the result's lines of memory after those that a tile will
// write: stores wait for them.
func (g *gen) nextChannels(s isa, label string, rows, first int) {
	if s.Mask {
		g.I("TESTQ $%d, %d(AX)", flagNonTemporal, offFlags)
		g.I("JNZ %s_past", label)
	}
	g.I("MOVQ %d(AX), R13", offLDC)
	for r := range rows {
		switch r {
		case 0:
			g.I("MOVQ %d(AX), SI", offC0)
			g.I("ADDQ R11, SI")
		case first:
			g.I("MOVQ %d(AX), SI", offC1)
			g.I("ADDQ R11, SI")
		default:
			g.I("ADDQ R13, SI")
		}
		g.I("PREFETCHT1 64(SI)")
	}
	g.L("%s_past:", label)
}

// depthwiseEnd finishes the rows in the first registers, of which first lie
// behind the first pointers, stores them, and goes on to the next line or the
// next channels. With flagNonTemporal they go past the caches, and are whole lines of it.
func (g *gen) depthwiseEnd(s isa, label string, rows, first int, mixed bool) {
	acc, tmp := s.V, [2]string{s.V(s.Regs - 1), s.V(s.Regs - 2)}
	g.I("MOVQ %d(AX), R15", offFlags)
	each := func(off0, off1, stride int, f func(r int)) {
		for r := range rows {
			switch r {
			case 0:
				g.I("MOVQ %d(AX), SI", off0)
				g.I("ADDQ R11, SI")
				g.I("MOVQ %d(AX), R13", stride)
			case first:
				g.I("MOVQ %d(AX), SI", off1)
				g.I("ADDQ R11, SI")
			default:
				g.I("ADDQ R13, SI")
			}
			f(r)
		}
	}
	g.I("TESTQ $%d, R15", flagBias)
	g.I("JZ %s_nb", label)
	g.I("MOVQ %d(AX), SI", offBias)
	g.loadChannels(s, "(SI)(R11*1)", tmp[0])
	for r := range rows {
		g.I("VADD%s %s, %s, %s", s.P(), tmp[0], acc(r), acc(r))
	}
	g.L("%s_nb:", label)
	g.I("TESTQ $%d, R15", flagResidual)
	g.I("JZ %s_nr", label)
	each(offR0, offR1, offLDR, func(r int) {
		g.loadChannels(s, "(SI)", tmp[0])
		g.I("VADD%s %s, %s, %s", s.P(), tmp[0], acc(r), acc(r))
	})
	g.L("%s_nr:", label)
	g.I("TESTQ $%d, R15", flagClamp)
	g.I("JZ %s_nc", label)
	g.I("VBROADCAST%s %d(AX), %s", s.SC(), offLo, tmp[0])
	g.I("VBROADCAST%s %d(AX), %s", s.SC(), offHi, tmp[1])
	for r := range rows {
		g.I("VMAX%s %s, %s, %s", s.P(), acc(r), tmp[0], acc(r))
		g.I("VMIN%s %s, %s, %s", s.P(), acc(r), tmp[1], acc(r))
	}
	g.L("%s_nc:", label)
	if s.Mask {
		g.I("TESTQ $%d, R15", flagNonTemporal)
		g.I("JZ %s_np", label)
		each(offC0, offC1, offLDC, func(r int) { g.I("VMOVNT%s %s, (SI)", s.P(), acc(r)) })
		g.I("JMP %s_st", label)
		g.L("%s_np:", label)
		each(offC0, offC1, offLDC, func(r int) { g.I("VMOVU%s %s, K1, (SI)", s.P(), acc(r)) })
		g.L("%s_st:", label)
	} else {
		each(offC0, offC1, offLDC, func(r int) { g.I("VMOVU%s %s, (SI)", s.P(), acc(r)) })
	}
	// The next line, or back to the first with the next channels.
	steps := []struct{ step, at int }{{offStepA, offA0}, {offStepA, offA1}, {offStepC, offC0}, {offStepC, offC1},
		{offStepC, offR0}, {offStepC, offR1}}
	for i, st := range steps {
		if i%2 == 0 {
			g.I("MOVQ %d(AX), R13", st.step)
		}
		g.I("ADDQ R13, %d(AX)", st.at)
	}
	g.I("DECQ %d(AX)", offLinesLeft)
	g.I("JG %s_l", label)
	for i, st := range steps {
		if i%2 == 0 {
			g.I("MOVQ %d(AX), R13", st.step)
			g.I("IMULQ %d(AX), R13", offLines)
		}
		g.I("SUBQ R13, %d(AX)", st.at)
	}
	if mixed {
		g.I("ADDQ %d(AX), R11", offVectorStep)
	} else {
		g.I("ADDQ $%d, R11", s.Width)
	}
	g.I("CMPQ R11, %d(AX)", offBlockEnd)
	g.I("JLT %s_b", label)
	g.I("MOVQ CX, %d(AX)", offPrefetch)
	g.I("VZEROUPPER")
	g.I("RET")
}

// depthwiseGrad emits the gradient of depthwise weights for one vector of
// channels: rows are taps, A walks over positions cs bytes apart and B, the
// output's gradient, over positions ldr bytes apart.
//
//	C[row, ch] += sum over segments s, positions p of A_s[row + p, ch]·B_s[p, ch]
//
// A segment is a pair of byte offsets, into A and into B. With AVX-512 a mask
// says which channels there are, without it all are read. With mixed, lanes take
// channels of A by an index, see depthwise: for each vector of the index there are
// sums of their own, offTapStep bytes apart.
//
//	AX args, DI SI groups of A, R8 R9 R10 row stride times 1 3 5, R11 R13 steps of
//	A and B, BX B, CX positions, R12 segment, DX C, later what to fetch ahead
func (g *gen) depthwiseGrad(name string, s isa, mixed bool) {
	g.L("")
	g.L("// func %s(a *args)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVQ a+0(FP), AX")
	if s.Mask {
		g.I("KMOVW %d(AX), K1", offMask)
	}
	g.I("MOVQ %d(AX), R8", offRS)
	g.I("LEAQ (R8)(R8*2), R9")
	g.I("LEAQ (R8)(R8*4), R10")
	g.I("MOVQ %d(AX), R11", offCS)
	g.I("MOVQ %d(AX), R12", offSeg)
	g.I("MOVQ %d(AX), R13", offLDR)
	g.I("MOVQ %d(AX), R15", offVariant)
	label := func(r int) string { return fmt.Sprintf("%s_r%d", name, r) }
	for r := 2 * s.group; r > 1; r-- {
		g.I("CMPQ R15, $%d", r)
		g.I("JEQ %s", label(r))
	}
	for rows := 1; rows <= 2*s.group; rows++ {
		l, first := label(rows), (rows+1)/2
		g.L("%s:", l)
		if mixed {
			g.I("MOVQ %d(AX), R15", offIndex)
			g.I("VMOVU%s (R15), %s", s.P(), s.V(s.Regs-2))
		}
		g.I("MOVQ %d(AX), DX", offC0)
		for r := range rows {
			g.I("VMOVU%s %d(DX), %s", s.P(), r*s.Width, s.V(r))
		}
		g.loadPrefetch("DX")
		g.L("%s_s:", l)
		g.I("MOVQ (R12), R15")
		g.I("MOVQ %d(AX), BX", offB)
		g.I("ADDQ 8(R12), BX")
		g.I("ADDQ $16, R12")
		g.I("MOVQ %d(AX), DI", offA0)
		g.I("ADDQ R15, DI")
		if rows > first {
			g.I("MOVQ %d(AX), SI", offA1)
			g.I("ADDQ R15, SI")
		}
		g.I("MOVQ %d(AX), CX", offK)
		g.L("%s_k:", l)
		b := s.V(s.Regs - 1)
		if s.Mask {
			g.I("VMOVU%s.Z (BX), K1, %s", s.P(), b)
		} else {
			g.I("VMOVU%s (BX), %s", s.P(), b)
		}
		for r := range rows {
			base, i := "DI", r
			if r >= first {
				base, i = "SI", r-first
			}
			addr := fmt.Sprintf("(%s)%s", base, rowIndex[i])
			switch {
			case mixed:
				g.addGrouped(s, addr, b, s.V(r), r)
			case s.Mask:
				g.I("VFMADD231%s %s, %s, K1, %s", s.P(), addr, b, s.V(r))
			default:
				g.I("VFMADD231%s %s, %s, %s", s.P(), addr, b, s.V(r))
			}
		}
		g.I("PREFETCHT1 (DX)")
		g.I("ADDQ %d(AX), DX", offPrefetchStep)
		g.I("ADDQ R13, BX")
		g.I("ADDQ R11, DI")
		if rows > first {
			g.I("ADDQ R11, SI")
		}
		g.I("DECQ CX")
		g.I("JG %s_k", l)
		g.I("CMPQ R12, %d(AX)", offSegEnd)
		g.I("JLT %s_s", l)
		g.I("MOVQ DX, %d(AX)", offPrefetch)
		g.I("MOVQ %d(AX), DX", offC0)
		for r := range rows {
			g.I("VMOVU%s %s, %d(DX)", s.P(), s.V(r), r*s.Width)
		}
		if mixed {
			g.I("MOVQ %d(AX), R15", offIndex)
			g.I("ADDQ $%d, R15", s.Width)
			g.I("CMPQ R15, %d(AX)", offIndexEnd)
			g.I("JGE %s_d", l) // pointers stay inside their blocks
			g.I("MOVQ R15, %d(AX)", offIndex)
			g.I("ADDQ %d(AX), DX", offTapStep)
			g.I("MOVQ DX, %d(AX)", offC0)
			g.I("MOVQ %d(AX), R12", offSeg)
			g.I("JMP %s", l)
			g.L("%s_d:", l)
		}
		g.I("VZEROUPPER")
		g.I("RET")
	}
}

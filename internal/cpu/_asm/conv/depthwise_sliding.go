package main

// depthwiseSliding emits the depthwise kernels of so many taps side by side.
// One call computes up to most positions of some lines and all channels like
// depthwise, but each position of A is loaded once for all taps that see it:
//
//	C[row, ch] = clamp(sum over segments s, taps t of A_s[row*stride + t, ch]·W_s[t, ch] + bias[ch] + residual[row, ch])
//
// A segment is a pair of byte offsets, into A and into the weights, whose taps
// lie offTapStep bytes apart. With three taps, flags say that the first or the last
// position of A lies outside the image and counts as zero.
//
//	AX args, DI SI BX positions 0, 7 and 14 of A, R8 R9 R10 bytes between them times
//	1 3 5, R11 byte offset of the channels, R12 segment, R13 weights, CX what to
//	fetch ahead, DX its step, R15 scratch; AVX-512: K1 channels, K2 K3 those of the
//	first and the last position
func (g *gen) depthwiseSliding(name string, s isa, taps, stride int) {
	most := slidingSums(s, taps)
	if stride == 2 {
		// Three pointers reach 21 positions.
		most = min(most, (21-taps)/2+1)
		if s.Mask {
			most = min(most, 9)
		}
	}
	g.depthwiseFunc(name, offCS, most, func(label string,
		rows int) {
		g.depthwiseSlidingRows(s, label, taps, stride, rows)
	})
}

// slidingSums is the number of registers for sums. The others hold the weights of all taps and positions of
// A, of which AVX2 holds one at a time.
func slidingSums(s isa, taps int) int {
	if s.Mask {
		return 2 * s.group
	}
	return s.Regs - 1 - taps
}

func (g *gen) depthwiseSlidingRows(s isa, label string, taps, stride, rows int) {
	sums := slidingSums(s, taps)
	w := func(t int) string { return s.V(sums + t) }
	positions := (rows-1)*stride + taps
	g.L("%s:", label)
	g.I("XORQ R11, R11")
	g.L("%s_b:", label)
	g.channelMask(s, label)
	for i, flag := range []int{flagFirst, flagLast} {
		if taps != 3 || !s.Mask {
			break
		}
		g.I("KMOVW K1, K%d", 2+i)
		g.I("TESTQ $%d, %d(AX)", flag, offFlags)
		g.I("JZ %s_m%d", label, i)
		g.I("KXORW K%d, K%d, K%d", 2+i, 2+i, 2+i)
		g.L("%s_m%d:", label, i)
	}
	g.I("MOVQ %d(AX), R15", offLines)
	g.I("MOVQ R15, %d(AX)", offLinesLeft)
	g.L("%s_l:", label)
	for r := range rows {
		g.I("VXOR%s %s, %s, %s", s.P(), s.V(r), s.V(r), s.V(r))
	}
	g.nextChannels(s, label, rows, rows)
	g.I("MOVQ %d(AX), R12", offSeg)
	g.I("JMP %s_e", label)
	g.L("%s_t:", label)
	g.I("MOVQ (R12), DI")
	g.I("MOVQ 8(R12), R13")
	g.I("ADDQ $16, R12")
	g.I("ADDQ %d(AX), DI", offA0)
	g.I("ADDQ R11, DI")
	g.I("ADDQ %d(AX), R13", offB)
	g.I("ADDQ R11, R13")
	if positions > 7 {
		g.I("LEAQ (DI)(R9*2), SI")
		g.I("ADDQ R8, SI")
	}
	if positions > 14 {
		g.I("LEAQ (SI)(R9*2), BX")
		g.I("ADDQ R8, BX")
	}
	for t := range taps {
		g.loadChannels(s, "(R13)", w(t))
		if t+1 < taps {
			g.I("ADDQ %d(AX), R13", offTapStep)
		}
	}
	for i := range 4 {
		g.I("PREFETCHT1 %d(CX)", 64*i)
	}
	g.I("ADDQ DX, CX")
	for i := range positions {
		addr := "(" + []string{"DI", "SI", "BX"}[i/7] + ")" + rowIndex[i%7]
		edge := 0 // 1 and 2: may be outside the image on the left, on the right
		switch {
		case taps != 3:
		case i == 0:
			edge = 1
		case i == positions-1:
			edge = 2
		}
		x := s.V(sums + taps + i%min(4, s.Regs-sums-taps))
		switch {
		case s.Mask:
			g.I("VMOVU%s.Z %s, K%d, %s", s.P(), addr, 1+edge, x)
		case edge > 0:
			g.I("VXOR%s %s, %s, %s", s.P(), x, x, x)
			g.I("TESTQ $%d, %d(AX)", []int{flagFirst, flagLast}[edge-1], offFlags)
			g.I("JNZ %s_o%d", label, edge)
			g.I("VMOVU%s %s, %s", s.P(), addr, x)
			g.L("%s_o%d:", label, edge)
		default:
			g.I("VMOVU%s %s, %s", s.P(), addr, x)
		}
		for t := range taps {
			if r := (i - t) / stride; i >= t && (i-t)%stride == 0 && r < rows {
				g.I("VFMADD231%s %s, %s, %s", s.P(), x, w(t), s.V(r))
			}
		}
	}
	g.L("%s_e:", label)
	g.I("CMPQ R12, %d(AX)", offSegEnd)
	g.I("JLT %s_t", label)
	g.depthwiseEnd(s, label, rows, rows, false)
}

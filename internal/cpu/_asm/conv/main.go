// Command conv writes the convolution kernels of internal/cpu/conv.
//
// Like its neighbour gemm it emits text: a few regular loops over rows and
// vectors. Run it with go generate in internal/cpu/conv.
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/text"
)

// An isa is one instruction set for one element type.
type isa struct {
	text.ISA
	tag    string
	letter string // of the function names
	group  int    // most rows behind one pointer
	pairs  bool   // elements are pairs of bfloat16, see bf16.go
}

// Offsets in the Go struct args (kernel.go), which a test checks.
const (
	offA0      = 0
	offA1      = 8
	offB       = 16
	offC0      = 24
	offC1      = 32
	offR0      = 40
	offR1      = 48
	offBias    = 56
	offSeg     = 64
	offSegEnd  = 72
	offRS      = 80
	offCS      = 88
	offLDC     = 96
	offLDR     = 104
	offK       = 112
	offVariant = 120 // vectors*16 + rows
	offMask    = 128 // AVX-512: one bit per column
	offMask0   = 136 // AVX2: address of the first vector's mask
	offMask1   = 144
	offFlags   = 152
	offLo      = 160
	offHi      = 168

	offBlockEnd = 176 // depthwise: bytes of a position's channels

	offPrefetch     = 184 // what to fetch while computing, see ahead
	offPrefetchStep = 192

	offLines     = 200 // depthwise: lines, and bytes between them in A and C
	offStepA     = 208
	offStepC     = 216
	offLinesLeft = 224 // the kernel's own
	offTapStep   = 232

	offTiles = 240 // tiles one after the other, and bytes between them in A and C
	offTileA = 248
	offTileC = 256

	offIndex      = 264 // mixed: which channels the lanes take, and bytes between vectors
	offIndexEnd   = 272
	offVectorStep = 280

	flagLoadC       = 1
	flagBias        = 2
	flagResidual    = 4
	flagClamp       = 8
	flagMasked      = 16
	flagFirst       = 32
	flagLast        = 64
	flagNonTemporal = 128
	flagUpper       = 256
	flagRoundBF16   = 512
)

type gen struct{ text.Gen }

// A mode says how the kernel walks A.
type mode int

const (
	// forward: rows (output pixels) lie rs bytes apart, steps of k (channels)
	// are adjacent.
	forward mode = iota
	// gradient: rows (weights of one output channel) are adjacent, steps of k
	// (output pixels) lie cs bytes apart.
	gradient
)

// aheadStep holds the step of what is fetched ahead.
var aheadStep = [...]string{forward: "R11", gradient: "R8"}

// rowIndex reaches the rows of a group from its pointer: R8 is the row stride,
// R9 and R10 three and five of it.
var rowIndex = [...]string{"", "(R8*1)", "(R8*2)", "(R9*1)", "(R8*4)", "(R10*1)", "(R9*2)"}

// family emits one assembly function holding the micro-kernels of 1 to 2·group
// rows by one or two vectors:
//
//	C[0:rows, 0:cols] = act(bias + sum over segments s, steps k of A_s[row, k]·B[s, k] + C + residual)
//
// One call computes some such tiles, one after the other in A and C.
//
// The rows are two groups with a pointer each, the first ⌈rows/2⌉ and the rest, so that a tile may span two lines of an
// image. A segment is a run of k steps of A that starts at an offset from the pointers, and its place in the packed B,
// in units of offTapStep, which for the gradient is that of k in B. Each element adds its products in order with one
// fused multiply-add each: its bits do not depend on the tile it was in.
//
// Elements that are pairs of bfloat16 add two products at a time, and know no
// residual: see bf16.go. With flagNonTemporal, forward and not of pairs, C goes
// past the caches in whole lines. No fence follows: Go hands memory to other threads
// by locked instructions only, which no store passes.
//
// Four lines ahead of what the caller needs next are fetched into the second-level
// cache with every four steps: memory is read while there is arithmetic to do.
//
//	AX args, DI SI groups of A, R8 R9 R10 row stride times 1 3 5 (forward),
//	R11 step of k in A, R9 R10 that in B times 1 3 (gradient), BX B, CX k, R12 segment, R13 row stride of C,
//	DX what to fetch ahead, R11 (forward) or R8 (gradient) its step, R15 scratch
func (g *gen) family(name string, s isa, m mode) {
	g.L("")
	g.L("// func %s(a *args)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.I("MOVQ a+0(FP), AX")
	g.loadPrefetch("DX")
	g.I("MOVQ %d(AX), %s", offPrefetchStep, aheadStep[m])
	if s.pairs { // its steps come in twos
		g.I("SHRQ $1, %s", aheadStep[m])
	}
	g.I("MOVQ %d(AX), R12", offSeg)
	g.I("MOVQ %d(AX), R13", offLDC)
	if m == forward {
		g.I("MOVQ %d(AX), R8", offRS)
		g.I("LEAQ (R8)(R8*2), R9")
		g.I("LEAQ (R8)(R8*4), R10")
	} else {
		g.I("MOVQ %d(AX), R11", offCS)
		g.I("MOVQ %d(AX), R9", offTapStep)
		g.I("LEAQ (R9)(R9*2), R10")
	}
	g.I("MOVQ %d(AX), R15", offVariant)
	type target struct{ key, nv, rows int }
	var ts []target
	for nv := 1; nv <= 2; nv++ {
		for r := 1; r <= 2*s.group; r++ {
			ts = append(ts, target{nv*16 + r, nv, r})
		}
	}
	label := func(t target) string { return fmt.Sprintf("%s_v%dr%d", name, t.nv, t.rows) }
	var search func(lo, hi int)
	search = func(lo, hi int) {
		if hi-lo == 1 {
			g.I("JMP %s", label(ts[lo]))
			return
		}
		mid := (lo + hi) / 2
		less := g.NewLabel(name + "_lt")
		g.I("CMPQ R15, $%d", ts[mid].key)
		g.I("JLT %s", less)
		search(mid, hi)
		g.L("%s:", less)
		search(lo, mid)
	}
	search(0, len(ts))
	for _, t := range ts {
		g.kernel(s, m, label(t), t.nv, t.rows)
	}
}

// loadPrefetch loads the address of what to fetch, or that of the arguments when
// there is nothing: looking for an address without memory behind it is slow.
func (g *gen) loadPrefetch(reg string) {
	g.I("MOVQ %d(AX), %s", offPrefetch, reg)
	g.I("TESTQ %s, %s", reg, reg)
	g.I("CMOVQEQ AX, %s", reg)
}

func (g *gen) kernel(s isa, m mode, label string, nv, rows int) {
	acc := func(r, v int) string { return s.V(r*nv + v) }
	top := s.Regs
	bcast := [2]string{s.V(top - 1), s.V(top - 2)}
	bv := func(v int) string { return s.V(top - 2 - nv + v) }
	if rows*nv+nv+2 > s.Regs {
		log.Fatalf("%s: too many registers", label)
	}
	first := (rows + 1) / 2 // rows of the first group
	rowAddr := func(r, k int) string {
		base := "DI"
		if r >= first {
			base, r = "SI", r-first
		}
		if m == gradient {
			return fmt.Sprintf("%d(%s)", r*s.ES, base)
		}
		return fmt.Sprintf("%d(%s)%s", k*s.ES, base, rowIndex[r])
	}

	g.L("")
	g.L("// %d rows by %d vectors", rows, nv)
	g.L("%s:", label)
	// Fetch the tile of C while the products are summed, unless it goes past the caches.
	past := m == forward && (s.Mask || nv == 2)
	if past {
		g.I("TESTQ $%d, %d(AX)", flagNonTemporal, offFlags)
		g.I("JNZ %s_f", label)
	}
	for _, part := range []struct{ off, from, to int }{{offC0, 0, first}, {offC1, first, rows}} {
		for r := part.from; r < part.to; r++ {
			if r == part.from {
				g.I("MOVQ %d(AX), R15", part.off)
			}
			for off := 0; off < nv*s.Width; off += 64 {
				g.I("PREFETCHT0 %d(R15)", off)
			}
			if r+1 < part.to {
				g.I("ADDQ R13, R15")
			}
		}
	}
	if past {
		g.L("%s_f:", label)
	}
	started := label + "_z"
	if m == forward {
		g.fromBias(s, label, nv, acc, bv, bcast[0], rows)
	}
	for r := range rows {
		for v := range nv {
			g.I("VXOR%s %s, %s, %s", s.P(), acc(r, v), acc(r, v), acc(r, v))
		}
	}
	g.L("%s:", started)
	bw := nv * s.Width
	// bAt is the address of vector v of step k of B from a pointer.
	bAt := func(ptr string, k, off int) string {
		if m == gradient {
			return fmt.Sprintf("%d(%s)%s", off, ptr, [...]string{"", "(R9*1)", "(R9*2)", "(R10*1)"}[k])
		}
		return fmt.Sprintf("%d(%s)", k*bw+off, ptr)
	}
	step := func(k int) {
		for v := range nv {
			g.I("VMOVU%s %s, %s", s.P(), bAt("BX", k, v*s.Width), bv(v))
		}
		// The panel comes from the second-level cache. Small tiles have no
		// arithmetic to hide the instructions behind.
		if rows*nv >= s.group*2 {
			ptr, far := "BX", 1024
			if m == gradient {
				ptr, far = "R15", 0
				if k == 0 {
					g.I("LEAQ (BX)(R9*8), R15")
				}
			}
			for off := 0; off < bw; off += 64 {
				g.I("PREFETCHT0 %s", bAt(ptr, k, off+far))
			}
		}
		for r := range rows {
			t := bcast[r%2]
			if nv == 1 && s.Mask && !s.pairs {
				// With one product for each element a broadcast of its own would take as long as the arithmetic.
				g.I("VFMADD231%s.BCST %s, %s, %s", s.P(), rowAddr(r, k), bv(0), acc(r, 0))
				continue
			}
			g.I("VBROADCAST%s %s, %s", s.SC(), rowAddr(r, k), t)
			for v := range nv {
				g.multiplyAdd(s, bv(v), t, acc(r, v))
			}
		}
		if m == gradient {
			if rows*nv >= s.group*2 {
				// What lies ahead in A are lines far apart.
				g.I("PREFETCHT0 (DI)(R11*8)")
				g.I("PREFETCHT0 %d(SI)(R11*8)", (rows-first-1)*s.ES)
			}
			g.I("ADDQ R11, DI")
			if rows > first {
				g.I("ADDQ R11, SI")
			}
		}
	}
	next := func(n int) {
		if m == forward {
			g.I("ADDQ $%d, DI", n*s.ES)
			if rows > first {
				g.I("ADDQ $%d, SI", n*s.ES)
			}
			g.I("ADDQ $%d, BX", n*bw)
		} else {
			g.I("LEAQ (BX)(R9*%d), BX", n)
		}
	}
	unroll := 4
	if s.pairs {
		unroll = 2
	}
	seg, loop, tail, one, end := label+"_s", label+"_k", label+"_t", label+"_t1", label+"_e"
	g.L("%s:", seg)
	g.I("MOVQ (R12), R15")
	g.I("MOVQ 8(R12), BX")
	g.I("IMULQ %d(AX), BX", offTapStep)
	g.I("ADDQ %d(AX), BX", offB)
	g.I("ADDQ $16, R12")
	g.I("MOVQ %d(AX), DI", offA0)
	g.I("ADDQ R15, DI")
	if rows > first {
		g.I("MOVQ %d(AX), SI", offA1)
		g.I("ADDQ R15, SI")
	}
	g.I("MOVQ %d(AX), CX", offK)
	g.I("SUBQ $%d, CX", unroll)
	g.I("JLT %s", tail)
	g.I("PCALIGN $32")
	g.L("%s:", loop)
	for k := range unroll {
		step(k)
		g.I("PREFETCHT1 %d(DX)", k*64)
	}
	g.I("ADDQ %s, DX", aheadStep[m])
	next(unroll)
	g.I("SUBQ $%d, CX", unroll)
	g.I("JGE %s", loop)
	g.L("%s:", tail)
	g.I("ADDQ $%d, CX", unroll)
	g.I("JLE %s", end)
	g.L("%s:", one)
	step(0)
	next(1)
	g.I("DECQ CX")
	g.I("JG %s", one)
	g.L("%s:", end)
	g.I("CMPQ R12, %d(AX)", offSegEnd)
	g.I("JLT %s", seg)
	g.I("MOVQ DX, %d(AX)", offPrefetch)

	g.I("MOVQ %d(AX), R15", offFlags)
	switch {
	case s.Mask:
		g.I("MOVQ %d(AX), CX", offMask)
		for v := range nv {
			g.I("KMOVW CX, K%d", v+1)
			if v+1 < nv {
				g.I("SHRQ $%d, CX", s.Lanes())
			}
		}
		g.epilogue(s, m, label, label, nv, rows, true)
	default:
		// Masked stores are slow on some processors: whole vectors avoid them.
		masked := label + "_m"
		g.I("TESTQ $%d, R15", flagMasked)
		g.I("JNZ %s", masked)
		g.epilogue(s, m, label, label, nv, rows, false)
		g.L("%s:", masked)
		g.epilogue(s, m, label, masked, nv, rows, true)
	}
}

// fromBias starts the sums with the bias if there is one, and goes on at the label
// with _z; else it falls through.
func (g *gen) fromBias(s isa, label string, nv int, acc func(r, v int) string, bv func(v int) string, tmp string,
	rows int) {
	zero, whole, loaded := label+"_x", label+"_w", label+"_l"
	g.I("TESTQ $%d, %d(AX)", flagBias, offFlags)
	g.I("JZ %s", zero)
	g.I("MOVQ %d(AX), R15", offBias)
	if s.Mask {
		g.I("MOVQ %d(AX), CX", offMask)
		for v := range nv {
			g.I("KMOVW CX, K%d", v+1)
			if v+1 < nv {
				g.I("SHRQ $%d, CX", s.Lanes())
			}
			g.I("VMOVU%s.Z %d(R15), K%d, %s", s.P(), v*s.Width, v+1, bv(v))
		}
	} else {
		g.I("TESTQ $%d, %d(AX)", flagMasked, offFlags)
		g.I("JZ %s", whole)
		for v := range nv {
			g.I("MOVQ %d(AX), CX", offMask0+8*v)
			g.I("VMOVU%s (CX), %s", s.P(), tmp)
			g.I("VMASKMOV%s %d(R15), %s, %s", s.P(), v*s.Width, tmp, bv(v))
		}
		g.I("JMP %s", loaded)
		g.L("%s:", whole)
		for v := range nv {
			g.I("VMOVU%s %d(R15), %s", s.P(), v*s.Width, bv(v))
		}
		g.L("%s:", loaded)
	}
	for r := range rows {
		for v := range nv {
			g.I("VMOVA%s %s, %s", s.P(), bv(v), acc(r, v))
		}
	}
	g.I("JMP %s_z", label)
	g.L("%s:", zero)
}

// epilogue finishes the tile and stores it, and goes back to start for the next.
// The registers of B are free.
func (g *gen) epilogue(s isa, m mode, start, label string, nv, rows int, masked bool) {
	acc := func(r, v int) string { return s.V(r*nv + v) }
	tmp := [2]string{s.V(s.Regs - 1), s.V(s.Regs - 2)}
	bv := func(v int) string { return s.V(s.Regs - 2 - nv + v) } // AVX2: the masks
	first := (rows + 1) / 2
	move := func(store bool, reg, addr string, v int) {
		if store {
			switch {
			case !masked:
				g.I("VMOVU%s %s, %s", s.P(), reg, addr)
			case s.Mask:
				g.I("VMOVU%s %s, K%d, %s", s.P(), reg, v+1, addr)
			default:
				g.I("VMASKMOV%s %s, %s, %s", s.P(), reg, bv(v), addr)
			}
			return
		}
		switch {
		case !masked:
			g.I("VMOVU%s %s, %s", s.P(), addr, reg)
		case s.Mask:
			g.I("VMOVU%s.Z %s, K%d, %s", s.P(), addr, v+1, reg)
		default:
			g.I("VMASKMOV%s %s, %s, %s", s.P(), addr, bv(v), reg)
		}
	}
	if masked && !s.Mask {
		for v := range nv {
			g.I("MOVQ %d(AX), CX", offMask0+8*v)
			g.I("VMOVU%s (CX), %s", s.P(), bv(v))
		}
	}
	// each visits the rows of a matrix given by two pointers and a stride.
	each := func(off0, off1 int, stride string, f func(r int)) {
		for r := range rows {
			switch r {
			case 0:
				g.I("MOVQ %d(AX), SI", off0)
			case first:
				g.I("MOVQ %d(AX), SI", off1)
			default:
				g.I("ADDQ %s, SI", stride)
			}
			f(r)
		}
	}
	addFrom := func(r int) {
		for v := range nv {
			if s.pairs {
				g.I("VADDPS %d(SI), %s, K%d, %s", v*s.Width, acc(r, v), v+1, acc(r, v))
				continue
			}
			move(false, tmp[v], fmt.Sprintf("%d(SI)", v*s.Width), v)
			g.I("VADD%s %s, %s, %s", s.P(), tmp[v], acc(r, v), acc(r, v))
		}
	}
	skip := label + "_c"
	g.I("TESTQ $%d, R15", flagLoadC)
	g.I("JZ %s", skip)
	each(offC0, offC1, "R13", addFrom)
	g.L("%s:", skip)

	if !s.pairs {
		skip = label + "_r"
		g.I("TESTQ $%d, R15", flagResidual)
		g.I("JZ %s", skip)
		g.I("MOVQ %d(AX), R8", offLDR)
		each(offR0, offR1, "R8", addFrom)
		g.L("%s:", skip)
	}

	skip = label + "_a"
	g.I("TESTQ $%d, R15", flagClamp)
	g.I("JZ %s", skip)
	g.I("VBROADCAST%s %d(AX), %s", s.SC(), offLo, tmp[0])
	g.I("VBROADCAST%s %d(AX), %s", s.SC(), offHi, tmp[1])
	// In this operand order a NaN in the accumulator stays NaN.
	for r := range rows {
		for v := range nv {
			g.I("VMAX%s %s, %s, %s", s.P(), acc(r, v), tmp[0], acc(r, v))
		}
	}
	g.I("TESTQ $%d, R15", flagUpper)
	g.I("JZ %s", skip)
	for r := range rows {
		for v := range nv {
			g.I("VMIN%s %s, %s, %s", s.P(), acc(r, v), tmp[1], acc(r, v))
		}
	}
	g.L("%s:", skip)
	past := m == forward && !s.pairs && (s.Mask || !masked && nv == 2) // whole lines
	if past {
		g.I("TESTQ $%d, R15", flagNonTemporal)
		g.I("JNZ %s_p", label)
	}
	if s.pairs && m == forward {
		g.storeRounded(label, acc, nv, each)
	}
	each(offC0, offC1, "R13", func(r int) {
		for v := range nv {
			move(true, acc(r, v), fmt.Sprintf("%d(SI)", v*s.Width), v)
		}
	})
	if past {
		g.L("%s_o:", label)
	}
	if s.pairs && m == forward {
		g.L("%s_h:", label)
	}
	g.I("DECQ %d(AX)", offTiles)
	g.I("JLE %s_d", label)
	advance := func(by int, at ...int) {
		g.I("MOVQ %d(AX), SI", by)
		for _, off := range at[:min(len(at), rows)] { // a single row has no second group
			g.I("ADDQ SI, %d(AX)", off)
		}
	}
	advance(offTileA, offA0, offA1)
	advance(offTileC, offC0, offC1)
	if !s.pairs {
		g.I("TESTQ $%d, R15", flagResidual)
		g.I("JZ %s_n", label)
		advance(offTileC, offR0, offR1)
		g.L("%s_n:", label)
	}
	g.I("MOVQ %d(AX), R12", offSeg)
	if !s.pairs {
		g.I("MOVQ %d(AX), R8", map[mode]int{forward: offRS, gradient: offPrefetchStep}[m])
	}
	g.I("JMP %s", start)
	g.L("%s_d:", label)
	g.I("VZEROUPPER")
	g.I("RET")
	if past {
		g.L("%s_p:", label)
		each(offC0, offC1, "R13", func(r int) {
			for v := range nv {
				g.I("VMOVNT%s %s, %d(SI)", s.P(), acc(r, v), v*s.Width)
			}
		})
		g.I("JMP %s_o", label)
	}
}

func main() {
	out := flag.String("out", ".", "folder to write the assembly files to")
	flag.Parse()
	log.SetFlags(0)
	for _, s := range []isa{
		{ISA: text.AVX512, tag: "AVX512", group: 7},
		{ISA: text.AVX2, tag: "AVX2", group: 3},
	} {
		g := &gen{text.New("conv")}
		for _, es := range []int{4, 8} {
			s.ES, s.letter = es, map[int]string{4: "s", 8: "d"}[es]
			g.family(s.letter+"conv"+s.tag, s, forward)
			g.family(s.letter+"grad"+s.tag, s, gradient)
			g.depthwise(s.letter+"depth"+s.tag, s, false)
			for _, taps := range []int{3, 5, 7} {
				for stride := 1; stride <= 2; stride++ {
					g.depthwiseSliding(fmt.Sprintf("%sdepth%ds%d%s", s.letter, taps, stride, s.tag), s, taps, stride)
				}
			}
			g.depthwiseGrad(s.letter+"depthGrad"+s.tag, s, false)
			if es == 4 {
				g.depthwise("sgrouped"+s.tag, s, true)
				g.depthwiseGrad("sgroupedGrad"+s.tag, s, true)
			}
		}
		turn := g.transpose8
		if s.Mask {
			turn = g.transpose
		}
		turn(s, "stranspose"+s.tag, false, false)
		turn(s, "stransposeFar"+s.tag, true, false)
		turn(s, "stransposeNonTemporal"+s.tag, false, true)
		if s.Mask {
			g.copyRows("copyRows" + s.tag)
		}
		s.ES = 4
		g.winogradAll(s)
		g.Save(*out, strings.ToLower(s.tag)+"_amd64.s")
	}
	bf16Files(*out)
	g := &gen{text.New("conv")}
	g.neon(4)
	g.neon(8)
	g.Save(*out, "neon_arm64.s")
}

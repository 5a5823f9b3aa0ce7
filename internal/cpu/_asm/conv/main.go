// Command conv writes the convolution kernels of internal/cpu/conv.
//
// Like its neighbour gemm it emits text: a few regular loops over rows and
// vectors. Run it with go generate in internal/cpu/conv.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

// An isa is one instruction set for one element type.
type isa struct {
	letter string // of the function names
	tag    string
	reg    string // "Z" or "Y"
	regs   int    // number of vector registers
	width  int    // bytes per vector
	es     int    // bytes per element
	group  int    // most rows behind one pointer
	mask   bool   // has mask registers
}

func (s isa) p() string      { return map[int]string{4: "PS", 8: "PD"}[s.es] }
func (s isa) sc() string     { return map[int]string{4: "SS", 8: "SD"}[s.es] }
func (s isa) lanes() int     { return s.width / s.es }
func (s isa) v(i int) string { return fmt.Sprintf("%s%d", s.reg, i) }

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

	flagLoadC  = 1
	flagBias   = 2
	flagRes    = 4
	flagClamp  = 8
	flagMasked = 16
)

type gen struct {
	bytes.Buffer
	label int
}

func (g *gen) l(format string, a ...any)   { fmt.Fprintf(g, format+"\n", a...) }
func (g *gen) i(format string, a ...any)   { fmt.Fprintf(g, "\t"+format+"\n", a...) }
func (g *gen) newLabel(name string) string { g.label++; return fmt.Sprintf("%s%d", name, g.label) }

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

// rowIndex reaches the rows of a group from its pointer: R8 is the row stride,
// R9 and R10 three and five of it.
var rowIndex = [...]string{"", "(R8*1)", "(R8*2)", "(R9*1)", "(R8*4)", "(R10*1)", "(R9*2)"}

// family emits one assembly function holding the micro-kernels of 1 to 2·group
// rows by one or two vectors:
//
//	C[0:rows, 0:cols] = act(sum over segments s, steps k of A_s[row, k]·B[s, k] + C + bias + residual)
//
// The rows are two groups with a pointer each, the first ⌈rows/2⌉ and the rest,
// so that a tile may span two lines of an image. A segment is a run of k steps
// of A that starts at an offset from the pointers; B is packed and simply
// continues. Each element adds its products in order with one fused
// multiply-add each: its bits do not depend on the tile it was in.
//
//	AX args, DI SI groups of A, R8 R9 R10 row stride times 1 3 5, R11 step of k,
//	BX B, CX k, R12 segment, DX C, R13 its row stride, R15 scratch
func (g *gen) family(name string, s isa, m mode) {
	g.l("")
	g.l("// func %s(a *args)", name)
	g.l("TEXT ·%s(SB), NOSPLIT, $0-8", name)
	g.i("MOVQ a+0(FP), AX")
	g.i("MOVQ %d(AX), BX", offB)
	g.i("MOVQ %d(AX), DX", offC0)
	g.i("MOVQ %d(AX), R12", offSeg)
	g.i("MOVQ %d(AX), R13", offLDC)
	if m == forward {
		g.i("MOVQ %d(AX), R8", offRS)
		g.i("LEAQ (R8)(R8*2), R9")
		g.i("LEAQ (R8)(R8*4), R10")
	} else {
		g.i("MOVQ %d(AX), R11", offCS)
	}
	g.i("MOVQ %d(AX), R15", offVariant)
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
			g.i("JMP %s", label(ts[lo]))
			return
		}
		mid := (lo + hi) / 2
		less := g.newLabel(name + "_lt")
		g.i("CMPQ R15, $%d", ts[mid].key)
		g.i("JLT %s", less)
		search(mid, hi)
		g.l("%s:", less)
		search(lo, mid)
	}
	search(0, len(ts))
	for _, t := range ts {
		g.kernel(s, m, label(t), t.nv, t.rows)
	}
}

func (g *gen) kernel(s isa, m mode, label string, nv, rows int) {
	acc := func(r, v int) string { return s.v(r*nv + v) }
	top := s.regs
	bcast := [2]string{s.v(top - 1), s.v(top - 2)}
	bv := func(v int) string { return s.v(top - 2 - nv + v) }
	if rows*nv+nv+2 > s.regs {
		log.Fatalf("%s: too many registers", label)
	}
	first := (rows + 1) / 2 // rows of the first group
	rowAddr := func(r, k int) string {
		base := "DI"
		if r >= first {
			base, r = "SI", r-first
		}
		if m == gradient {
			return fmt.Sprintf("%d(%s)", r*s.es, base)
		}
		return fmt.Sprintf("%d(%s)%s", k*s.es, base, rowIndex[r])
	}

	g.l("")
	g.l("// %d rows by %d vectors", rows, nv)
	g.l("%s:", label)
	// Fetch the tile of C while the products are summed.
	for _, part := range []struct{ off, from, to int }{{offC0, 0, first}, {offC1, first, rows}} {
		for r := part.from; r < part.to; r++ {
			if r == part.from {
				g.i("MOVQ %d(AX), R15", part.off)
			}
			for off := 0; off < nv*s.width; off += 64 {
				g.i("PREFETCHT0 %d(R15)", off)
			}
			if r+1 < part.to {
				g.i("ADDQ R13, R15")
			}
		}
	}
	for r := range rows {
		for v := range nv {
			g.i("VXOR%s %s, %s, %s", s.p(), acc(r, v), acc(r, v), acc(r, v))
		}
	}
	bw := nv * s.width
	step := func(k int) {
		for v := range nv {
			g.i("VMOVU%s %d(BX), %s", s.p(), k*bw+v*s.width, bv(v))
		}
		// The panel comes from the second-level cache. Small tiles have no
		// arithmetic to hide the instructions behind.
		if rows*nv >= s.group*2 {
			for off := 0; off < bw; off += 64 {
				g.i("PREFETCHT0 %d(BX)", k*bw+off+1024)
			}
		}
		for r := range rows {
			t := bcast[r%2]
			g.i("VBROADCAST%s %s, %s", s.sc(), rowAddr(r, k), t)
			for v := range nv {
				g.i("VFMADD231%s %s, %s, %s", s.p(), bv(v), t, acc(r, v))
			}
		}
		if m == gradient {
			if rows*nv >= s.group*2 {
				// What lies ahead in A are lines far apart.
				g.i("PREFETCHT0 (DI)(R11*8)")
				g.i("PREFETCHT0 %d(SI)(R11*8)", (rows-first-1)*s.es)
			}
			g.i("ADDQ R11, DI")
			if rows > first {
				g.i("ADDQ R11, SI")
			}
		}
	}
	next := func(n int) {
		if m == forward {
			g.i("ADDQ $%d, DI", n*s.es)
			if rows > first {
				g.i("ADDQ $%d, SI", n*s.es)
			}
		}
		g.i("ADDQ $%d, BX", n*bw)
	}
	const unroll = 4
	seg, loop, tail, one, end := label+"_s", label+"_k", label+"_t", label+"_t1", label+"_e"
	g.l("%s:", seg)
	g.i("MOVQ (R12), R15")
	g.i("ADDQ $8, R12")
	g.i("MOVQ %d(AX), DI", offA0)
	g.i("ADDQ R15, DI")
	if rows > first {
		g.i("MOVQ %d(AX), SI", offA1)
		g.i("ADDQ R15, SI")
	}
	g.i("MOVQ %d(AX), CX", offK)
	g.i("SUBQ $%d, CX", unroll)
	g.i("JLT %s", tail)
	g.i("PCALIGN $32")
	g.l("%s:", loop)
	for k := range unroll {
		step(k)
	}
	next(unroll)
	g.i("SUBQ $%d, CX", unroll)
	g.i("JGE %s", loop)
	g.l("%s:", tail)
	g.i("ADDQ $%d, CX", unroll)
	g.i("JLE %s", end)
	g.l("%s:", one)
	step(0)
	next(1)
	g.i("DECQ CX")
	g.i("JG %s", one)
	g.l("%s:", end)
	g.i("CMPQ R12, %d(AX)", offSegEnd)
	g.i("JLT %s", seg)

	g.i("MOVQ %d(AX), R15", offFlags)
	switch {
	case s.mask:
		g.i("MOVQ %d(AX), CX", offMask)
		for v := range nv {
			g.i("KMOVW CX, K%d", v+1)
			if v+1 < nv {
				g.i("SHRQ $%d, CX", s.lanes())
			}
		}
		g.epilogue(s, label, nv, rows, true)
	default:
		// Masked stores are slow on some processors: whole vectors avoid them.
		masked := label + "_m"
		g.i("TESTQ $%d, R15", flagMasked)
		g.i("JNZ %s", masked)
		g.epilogue(s, label, nv, rows, false)
		g.l("%s:", masked)
		g.epilogue(s, masked, nv, rows, true)
	}
}

// epilogue finishes the tile and stores it. The registers of B are free.
func (g *gen) epilogue(s isa, label string, nv, rows int, masked bool) {
	acc := func(r, v int) string { return s.v(r*nv + v) }
	tmp := [2]string{s.v(s.regs - 1), s.v(s.regs - 2)}
	bv := func(v int) string { return s.v(s.regs - 2 - nv + v) } // AVX2: the masks
	first := (rows + 1) / 2
	move := func(store bool, reg, addr string, v int) {
		if store {
			switch {
			case !masked:
				g.i("VMOVU%s %s, %s", s.p(), reg, addr)
			case s.mask:
				g.i("VMOVU%s %s, K%d, %s", s.p(), reg, v+1, addr)
			default:
				g.i("VMASKMOV%s %s, %s, %s", s.p(), reg, bv(v), addr)
			}
			return
		}
		switch {
		case !masked:
			g.i("VMOVU%s %s, %s", s.p(), addr, reg)
		case s.mask:
			g.i("VMOVU%s.Z %s, K%d, %s", s.p(), addr, v+1, reg)
		default:
			g.i("VMASKMOV%s %s, %s, %s", s.p(), addr, bv(v), reg)
		}
	}
	if masked && !s.mask {
		for v := range nv {
			g.i("MOVQ %d(AX), CX", offMask0+8*v)
			g.i("VMOVU%s (CX), %s", s.p(), bv(v))
		}
	}
	// each visits the rows of a matrix given by two pointers and a stride.
	each := func(off0, off1 int, stride string, f func(r int)) {
		for r := range rows {
			switch r {
			case 0:
				g.i("MOVQ %d(AX), SI", off0)
			case first:
				g.i("MOVQ %d(AX), SI", off1)
			default:
				g.i("ADDQ %s, SI", stride)
			}
			f(r)
		}
	}
	addFrom := func(r int) {
		for v := range nv {
			move(false, tmp[v], fmt.Sprintf("%d(SI)", v*s.width), v)
			g.i("VADD%s %s, %s, %s", s.p(), tmp[v], acc(r, v), acc(r, v))
		}
	}
	skip := label + "_c"
	g.i("TESTQ $%d, R15", flagLoadC)
	g.i("JZ %s", skip)
	each(offC0, offC1, "R13", addFrom)
	g.l("%s:", skip)

	skip = label + "_b"
	g.i("TESTQ $%d, R15", flagBias)
	g.i("JZ %s", skip)
	g.i("MOVQ %d(AX), SI", offBias)
	for v := range nv {
		move(false, tmp[v], fmt.Sprintf("%d(SI)", v*s.width), v)
	}
	for r := range rows {
		for v := range nv {
			g.i("VADD%s %s, %s, %s", s.p(), tmp[v], acc(r, v), acc(r, v))
		}
	}
	g.l("%s:", skip)

	skip = label + "_r"
	g.i("TESTQ $%d, R15", flagRes)
	g.i("JZ %s", skip)
	g.i("MOVQ %d(AX), R8", offLDR)
	each(offR0, offR1, "R8", addFrom)
	g.l("%s:", skip)

	skip = label + "_a"
	g.i("TESTQ $%d, R15", flagClamp)
	g.i("JZ %s", skip)
	g.i("VBROADCAST%s %d(AX), %s", s.sc(), offLo, tmp[0])
	g.i("VBROADCAST%s %d(AX), %s", s.sc(), offHi, tmp[1])
	for r := range rows {
		for v := range nv {
			// In this operand order a NaN in the accumulator stays NaN.
			g.i("VMAX%s %s, %s, %s", s.p(), acc(r, v), tmp[0], acc(r, v))
			g.i("VMIN%s %s, %s, %s", s.p(), acc(r, v), tmp[1], acc(r, v))
		}
	}
	g.l("%s:", skip)
	each(offC0, offC1, "R13", func(r int) {
		for v := range nv {
			move(true, acc(r, v), fmt.Sprintf("%d(SI)", v*s.width), v)
		}
	})
	g.i("VZEROUPPER")
	g.i("RET")
}

const header = `// Code generated by internal/cpu/_asm/conv. DO NOT EDIT.

//go:build !purego

#include "textflag.h"
`

func main() {
	out := flag.String("out", ".", "folder to write the assembly files to")
	flag.Parse()
	log.SetFlags(0)
	for _, s := range []isa{
		{tag: "AVX512", reg: "Z", regs: 32, width: 64, group: 7, mask: true},
		{tag: "AVX2", reg: "Y", regs: 16, width: 32, group: 3},
	} {
		g := &gen{}
		g.WriteString(header)
		for _, es := range []int{4, 8} {
			s.es, s.letter = es, map[int]string{4: "s", 8: "d"}[es]
			g.family(s.letter+"conv"+s.tag, s, forward)
			g.family(s.letter+"grad"+s.tag, s, gradient)
			g.depthwise(s.letter+"depth"+s.tag, s)
			g.depthwiseGrad(s.letter+"depthGrad"+s.tag, s)
		}
		if s.mask {
			g.transpose("stransposeAVX512")
			g.winogradAll()
		}
		file := map[string]string{"AVX512": "avx512", "AVX2": "avx2"}[s.tag] + "_amd64.s"
		if err := os.WriteFile(filepath.Join(*out, file), g.Bytes(), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

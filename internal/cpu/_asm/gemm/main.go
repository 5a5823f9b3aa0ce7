// Command gemm writes the matrix-multiplication kernels of internal/cpu/gemm.
//
// It emits text rather than building instructions: the kernels are a few
// regular loops over rows and vectors, and what is printed is what one reads in
// the .s file. Run it with go generate in internal/cpu/gemm.
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
	suffix  string // of the function names
	integer bool   // integers, which wrap around
	half    string // B holds floats of 16 bits, converted as they are loaded: bfloat16, "b", or IEEE, "h"
}

// loadHalf emits the load of 16-bit floats into the lanes of dst; mask is empty
// or says which.
func (g *gen) loadHalf(s isa, addr, mask, dst string) {
	name := "VPMOVZXWD"
	if s.half == "h" {
		name = "VCVTPH2PS"
	}
	if mask == "" {
		g.I("%s %s, %s", name, addr, dst)
	} else {
		g.I("%s.Z %s, %s, %s", name, addr, mask, dst)
	}
	if s.half == "b" {
		g.I("VPSLLD $16, %s, %s", dst, dst)
	}
}

// widthB is the bytes of B that fill a vector.
func (s isa) widthB() int {
	if s.half != "" {
		return s.Width / 2
	}
	return s.Width
}

// add and mul name the instructions for the element type.
func (s isa) add() string { return s.op("VADD", "VPADD") }
func (s isa) mul() string { return s.op("VMUL", "VPMULL") }

func (s isa) op(float, whole string) string {
	if s.integer {
		return whole + map[int]string{4: "D", 8: "Q"}[s.ES]
	}
	return float + s.P()
}

// muladd emits acc += x*y; there is no fused instruction for integers, which
// need the register tmp in between.
func (g *gen) muladd(s isa, x, y, acc, tmp string) {
	if !s.integer {
		g.I("VFMADD231%s %s, %s, %s", s.P(), x, y, acc)
		return
	}
	g.I("%s %s, %s, %s", s.mul(), x, y, tmp)
	g.I("%s %s, %s, %s", s.add(), tmp, acc, acc)
}

// Offsets in the Go struct args (kernel.go of internal/cpu/gemm), which a test checks.
const (
	offA        = 0
	offB        = 8
	offC        = 16
	offRSA      = 24
	offCSA      = 32
	offLDB      = 40
	offLDC      = 48
	offK        = 56
	offVariant  = 64 // shape index*16 + rows
	offMask     = 72 // AVX-512: one bit per column
	offLastMask = 80 // AVX2: address of the last vector's mask
	offAlpha    = 88
	offBeta     = 96
	offBiasCol  = 104
	offBiasRow  = 112
	offFlags    = 120

	// Repetition: the same tile again, with the pointers moved on.
	offCount   = 128
	offStepA   = 136
	offStepB   = 144
	offStepC   = 152
	offStepCol = 160
	offStepRow = 168

	// Prefetch of what comes after this tile, in rows of equal length.
	offPF      = 176 // next address
	offPFStep  = 184 // bytes to the next address after four prefetches
	offPFRun   = 192 // steps of k between two jumps
	offPFJump  = 200 // bytes to the next row
	offRest    = 208 // scratch: steps of k after this run
	offPFLast  = 216 // from the last tile of C to the one after it
	offPFC     = 224 // scratch: next row of the next tile of C
	offNearB   = 232 // from a row of B to what is fetched with it into the L1 cache
	offPackDst = 240 // where the next row of flagFusedPack goes
	offPFLeft  = 248 // with flagStreamB: steps of k until the next jump
	offPFSide  = 256 // to the next address after the first and the third prefetch
	offPFBack  = 264 // after the second

	// With flagFusedPack: the copy of what comes later.
	offPackSrc      = 272 // next row; it goes to offPanel
	offPackStep     = 280 // to the row after it
	offPackPrefetch = 288 // to what is fetched with it
	offPackLeft     = 296 // steps of k, a multiple of 4, with this distance
	offThenPrefetch = 304 // the next distance, and its steps
	offThenLeft     = 312

	flagLoadC     = 1
	flagBiasCol   = 2
	flagBiasRow   = 4
	flagReLU      = 8
	flagAlpha     = 16
	flagStreamB   = 32
	flagFusedPack = 64
)

// A shape is one family of micro-kernels: rows 1..rows by nv vectors.
type shape struct {
	nv, rows int
	masked   bool
}

type gen struct{ text.Gen }

// function begins a function with these parameters, of eight bytes each, and
// loads them into registers; those with an empty name stay in memory.
func (g *gen) function(name, params string, regs ...string) {
	g.L("")
	g.L("// func %s(%s)", name, params)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-%d", name, 8*len(regs))
	for i, p := range strings.Split(params, ", ") {
		if regs[i] != "" {
			p, _, _ = strings.Cut(p, " ")
			g.I("MOVQ %s+%d(FP), %s", p, 8*i, regs[i])
		}
	}
}

// rowAddr names row i of A. Two pointers and three multiples of the row stride
// reach fourteen rows, so that a step along k moves two registers only.
//
//	DI = row 0, SI = row 7, R8 = stride, R9 = 3 strides, R10 = 5 strides
var rowAddr = [...]string{
	"(DI)", "(DI)(R8*1)", "(DI)(R8*2)", "(DI)(R9*1)", "(DI)(R8*4)", "(DI)(R10*1)", "(DI)(R9*2)",
	"(SI)", "(DI)(R8*8)", "(SI)(R8*2)", "(SI)(R9*1)", "(SI)(R8*4)", "(DI)(R9*4)", "(SI)(R9*2)",
}

// family emits one assembly function holding all micro-kernels of an isa:
//
//	C[0:rows, 0:cols] = act(alpha*A*B + beta*C + bias)
//
// with A read by broadcasts through arbitrary strides and B read as rows of
// contiguous vectors. Every variant adds the products in the order of k with
// one fused multiply-add each, so an element's bits do not depend on which
// variant computed it.
func (g *gen) family(name string, s isa, shapes []shape) {
	g.function(name, "a *args", "AX")
	for i, reg := range []string{"DI", "BX", "DX", "R8", "R11", "R12", "R13", "CX"} { // in the order of args
		g.I("MOVQ %d(AX), %s", offA+8*i, reg)
	}
	g.I("LEAQ (R8)(R8*2), R9")
	g.I("LEAQ (R8)(R8*4), R10")
	g.I("MOVQ %d(AX), R15", offVariant)
	// A binary search over the variants: cheaper than it looks next to a tile.
	var ts []tile
	for si, sh := range shapes {
		for r := 1; r <= sh.rows; r++ {
			ts = append(ts, tile{s, sh, r, si*16 + r, fmt.Sprintf("%s_s%dr%d", s.suffix, si, r)})
		}
	}
	var search func(lo, hi int)
	search = func(lo, hi int) {
		if hi-lo == 1 {
			g.I("JMP %s", ts[lo].label)
			return
		}
		mid := (lo + hi) / 2
		less := g.NewLabel(s.suffix + "_lt")
		g.I("CMPQ R15, $%d", ts[mid].variant)
		g.I("JLT %s", less)
		search(mid, hi)
		g.L("%s:", less)
		search(lo, mid)
	}
	search(0, len(ts))
	for _, t := range ts {
		g.kernel(t)
	}
}

// peak emits a loop of independent fused multiply-adds: what the core can do.
func (g *gen) peak(name string, s isa, n int) {
	g.function(name, "n int", "CX")
	for r := range s.Regs {
		g.I("VXORPS %s, %s, %s", s.V(r), s.V(r), s.V(r))
	}
	g.I("PCALIGN $32")
	g.L("%s_loop:", name)
	for r := range n {
		g.I("VFMADD231PS %s, %s, %s", s.V(s.Regs-1), s.V(s.Regs-2), s.V(r))
	}
	g.I("DECQ CX")
	g.I("JG %s_loop", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

func main() {
	out := flag.String("out", ".", "folder to write the assembly files to")
	flag.Parse()
	log.SetFlags(0)
	avx512 := []shape{{2, 14, false}, {2, 14, true}, {1, 14, true}, {4, 6, false}, {4, 6, true}}
	avx2 := []shape{{2, 6, false}, {2, 6, true}, {1, 6, true}}
	for _, f := range []struct {
		file, tag string
		isa       isa
		shapes    []shape
	}{
		{"avx512", "AVX512", isa{ISA: text.AVX512}, avx512},
		{"avx2", "AVX2", isa{ISA: text.AVX2}, avx2},
	} {
		g := &gen{text.New("gemm")}
		lowRows := 4
		if f.isa.Regs == 16 {
			lowRows = 2
		}
		for _, t := range []struct {
			letter string
			es     int
		}{{"s", 4}, {"d", 8}} {
			s := f.isa
			s.ES = t.es
			s.suffix = t.letter
			g.family(t.letter+"gemm"+f.tag, s, f.shapes)
			g.transpose(t.letter+"transpose"+f.tag, s)
			if s.Mask {
				g.copyPanel(t.letter+"copy"+f.tag, s)
			} else {
				g.transposeFewRows(t.letter+"transposeFew"+f.tag, s)
			}
			g.dot(t.letter+"dot"+f.tag, s, lowRows)
			if s.Mask {
				g.dotStream(t.letter+"dotStream"+f.tag, s, lowRows)
			}
		}
		s := f.isa
		s.ES = 4
		g.peak("peak"+f.tag, s, s.Regs-4)
		g.Save(*out, f.file+"_amd64.s")
	}
	g := &gen{text.New("gemm")}
	for i, letter := range []string{"i", "l"} {
		s := isa{ISA: text.AVX512, suffix: letter, integer: true}
		s.ES = 4 << i
		// Their products need registers.
		g.family(letter+"gemmAVX512", s, []shape{{2, 12, false}, {2, 12, true}, {1, 12, true}})
		g.dot(letter+"dotAVX512", s, 4)
	}
	// AVX2 does not multiply 64 bits.
	s := isa{ISA: text.AVX2, suffix: "i2", integer: true}
	s.ES = 4
	g.family("igemmAVX2", s, []shape{{2, 4, false}, {2, 3, true}, {1, 4, true}})
	g.dot("idotAVX2", s, 2)
	g.Save(*out, "integer_amd64.s")
	g = &gen{text.New("gemm")}
	for _, letter := range []string{"b", "h"} {
		s := isa{ISA: text.AVX512, suffix: letter, half: letter}
		s.ES = 4
		g.family(letter+"gemmAVX512", s, []shape{{4, 6, false}, {4, 6, true}})
		g.dot(letter+"dotAVX512", s, 4)
		g.dotStream(letter+"dotStreamAVX512", s, 4)
	}
	g.Save(*out, "half_amd64.s")
	g = &gen{text.New("gemm")}
	g.neon("sgemmNEON", 4)
	g.neon("dgemmNEON", 8)
	g.neonPeak()
	g.Save(*out, "neon_arm64.s")
	lowPrecisionFile(*out)
}

func sprintf(format string, a ...any) string { return fmt.Sprintf(format, a...) }

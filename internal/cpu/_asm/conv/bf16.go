package main

import (
	"log"
	"strconv"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/text"
)

// The kernels of this file take a pair of bfloat16 where the others take a float32: one instruction
// multiplies two pairs and adds both products to a float32. So they are the float32 kernels with another
// instruction inside, without a residual, and with results that may be rounded to bfloat16 as they are
// stored.
//
// The caller chooses what a pair is made of: two channels of a position for a convolution, two images for the
// gradient of the weights.

// bf16Files writes the kernels for pairs, a file for each way to walk A.
func bf16Files(dir string) {
	s := isa{ISA: text.AVX512, tag: "AVX512", group: 7, pairs: true}
	s.ES = 4
	g := &gen{text.New("conv")}
	g.family("bconvAVX512", s, forward)
	g.Save(dir, "bf16_amd64.s")
	g = &gen{text.New("conv")}
	g.family("bgradAVX512", s, gradient)
	g.interleavePairs("interleavePairsAVX512")
	g.copyRowsPadded("copyRowsPaddedAVX512")
	g.Save(dir, "bf16_weightgrad_amd64.s")
}

// multiplyAdd emits acc += a·b.
func (g *gen) multiplyAdd(s isa, b, a, acc string) {
	if s.pairs {
		g.I("%s", text.DotBF16(number(b), number(a), number(acc)))
		return
	}
	g.I("VFMADD231%s %s, %s, %s", s.P(), b, a, acc)
}

// number is the number of a vector register, given its name.
func number(reg string) int {
	n, err := strconv.Atoi(reg[1:])
	if err != nil {
		log.Fatal(err)
	}
	return n
}

// storeRounded emits the stores of a tile that is rounded to bfloat16, and a jump to the label with _h, all
// of which is skipped unless the flags ask for rounding. Masks count elements of 16 bits here.
func (g *gen) storeRounded(label string, acc func(r, v int) string, nv int,
	each func(off0, off1 int, stride string, f func(r int))) {
	wide := label + "_g"
	g.I("TESTQ $%d, R15", flagRoundBF16)
	g.I("JZ %s", wide)
	g.I("MOVQ %d(AX), CX", offMask)
	g.I("KMOVD CX, K3")
	each(offC0, offC1, "R13", func(r int) {
		g.I("%s", text.NarrowBF16(number(acc(r, 0)), number(acc(r, nv-1)), 31))
		g.I("VMOVDQU16 Z31, K3, (SI)")
	})
	g.I("JMP %s_h", label)
	g.L("%s:", wide)
}

// interleavePairs emits the making of pairs of what lies in two places:
//
//	dst[i*ldd + j] = a[i*lds + j] | b[i*lds + j]<<16   i < rows, j < cols
//
// with ldd and lds in bytes. Without b the upper halves are zero.
//
//	DX dst, DI SI sources, R8 R9 steps, R13 rows left, R10 columns in whole
//	vectors, R11 column, R12 columns; K1 the tail, K2 and K3 the same for b
func (g *gen) interleavePairs(name string) {
	g.L("")
	g.L("// func %s(dst unsafe.Pointer, ldd int, a, b unsafe.Pointer, lds, rows, cols int)", name)
	g.L("TEXT ·%s(SB), NOSPLIT, $0-56", name)
	g.I("MOVQ dst+0(FP), DX")
	g.I("MOVQ ldd+8(FP), R8")
	g.I("MOVQ a+16(FP), DI")
	g.I("MOVQ b+24(FP), SI")
	g.I("MOVQ lds+32(FP), R9")
	g.I("MOVQ rows+40(FP), R13")
	g.I("MOVQ cols+48(FP), R12")
	g.I("MOVQ R12, R10")
	g.I("ANDQ $-16, R10")
	g.I("MOVQ R12, CX")
	g.I("ANDQ $15, CX")
	g.firstCX("K1")
	g.I("KMOVW K1, K2")
	g.I("KXNORW K3, K3, K3")
	g.I("TESTQ SI, SI")
	g.I("JNZ %s_rows", name)
	g.I("MOVQ DI, SI")
	g.I("KXORW K2, K2, K2")
	g.I("KXORW K3, K3, K3")
	join := func(a, b string) {
		g.I("VPMOVZXWD%s (DI)(R11*2)%s, Z0", map[bool]string{true: ".Z"}[a != ""], a)
		g.I("VPMOVZXWD.Z (SI)(R11*2)%s, Z1", b)
		g.I("VPSLLD $16, Z1, Z1")
		g.I("VPORD Z1, Z0, Z0")
		g.I("VMOVDQU32 Z0%s, (DX)(R11*4)", a)
	}
	g.L("%s_rows:", name)
	g.I("XORQ R11, R11")
	g.I("CMPQ R11, R10")
	g.I("JGE %s_tail", name)
	g.L("%s_cols:", name)
	join("", ", K3")
	g.I("ADDQ $16, R11")
	g.I("CMPQ R11, R10")
	g.I("JLT %s_cols", name)
	g.L("%s_tail:", name)
	g.I("CMPQ R11, R12")
	g.I("JGE %s_next", name)
	join(", K1", ", K2")
	g.L("%s_next:", name)
	g.I("ADDQ R9, DI")
	g.I("ADDQ R9, SI")
	g.I("ADDQ R8, DX")
	g.I("DECQ R13")
	g.I("JG %s_rows", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

// copyRowsPadded emits the copy of rows of an odd number of 16-bit elements, each with a
// zero behind it:
//
//	dst[i*ldd + j] = j < cols ? src[i*lds + j] : 0   i < rows, j <= cols
//
// with ldd and lds in bytes.
//
//	DX dst, DI source, R8 R9 their steps, R13 rows left, R10 columns in whole
//	vectors, R11 column; K1 the tail, K2 the same in pairs
func (g *gen) copyRowsPadded(name string) {
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
	g.I("ANDQ $-32, R10")
	g.I("ANDQ $31, CX")
	g.I("MOVQ $1, R15")
	g.I("SHLQ CX, R15")
	g.I("DECQ R15")
	g.I("KMOVD R15, K1")
	g.I("INCQ CX")
	g.I("SHRQ $1, CX")
	g.firstCX("K2")
	g.L("%s_rows:", name)
	g.I("XORQ R11, R11")
	g.I("CMPQ R11, R10")
	g.I("JGE %s_tail", name)
	g.L("%s_cols:", name)
	g.I("VMOVDQU16 (DI)(R11*2), Z0")
	g.I("VMOVDQU16 Z0, (DX)(R11*2)")
	g.I("ADDQ $32, R11")
	g.I("CMPQ R11, R10")
	g.I("JLT %s_cols", name)
	g.L("%s_tail:", name)
	g.I("VMOVDQU16.Z (DI)(R11*2), K1, Z0")
	g.I("VMOVDQU32 Z0, K2, (DX)(R11*2)")
	g.I("ADDQ R9, DI")
	g.I("ADDQ R8, DX")
	g.I("DECQ R13")
	g.I("JG %s_rows", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

package main

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/text"
)

// The kernels of this file multiply operands of 8 and 16 bits. Both operands are packed beforehand, in groups
// of four bytes that are adjacent along k: two bfloat16, two int16 or four bytes. So each of these kernels is
// the same loop over 32-bit lanes as in a product of float32, with another instruction inside.

// Offsets in the Go struct lowPrecisionArgs (lowprecision.go of internal/cpu/gemm), which a test checks.
const (
	lpA      = 0  // tile of A: aw groups per step
	lpB      = 8  // strip of B: two vectors of groups per step
	lpC      = 16 // first element, 32 bits each
	lpLDC    = 24 // bytes
	lpK      = 32 // steps
	lpCount  = 40 // strips
	lpStepB  = 48 // bytes from strip to strip
	lpRows   = 56
	lpInit   = 64 // what the sums of the columns begin with, or 0
	lpAdd    = 72 // not 0: add to C
	lpNext   = 80 // bytes from A to what to fetch meanwhile
	lpHalf   = 88 // where the sums go rounded to bfloat16, or 0
	lpLDHalf = 96 // bytes
)

// A lowPrecisionKind is what distinguishes the loops.
type lowPrecisionKind struct {
	name       string
	isa        text.ISA
	rows       int // the most
	packedRows int // groups per step in a tile of A
	// emit writes acc += a·b, on lanes; spare lists registers that it may use.
	emit  func(g *gen, b, a, acc int, spare []int, s text.ISA)
	spare int
	add   string // adds accumulators
	round bool   // knows lpHalf
}

var lowPrecisionKinds = []lowPrecisionKind{
	{
		name: "bf16AVX512", isa: text.AVX512, rows: 14, packedRows: 16, add: "VADDPS", round: true,
		emit: func(g *gen, b, a, acc int, _ []int, s text.ISA) { g.I("%s", text.DotBF16(b, a, acc)) },
	},
	{
		name: "u8s8AVX512", isa: text.AVX512, rows: 14, packedRows: 16, add: "VPADDD",
		// The bytes of A are unsigned, those of B signed.
		emit: func(g *gen, b, a, acc int, _ []int, s text.ISA) {
			g.I("VPDPBUSD %s, %s, %s", s.V(b), s.V(a), s.V(acc))
		},
	},
	{name: "i16AVX512", isa: text.AVX512, rows: 12, packedRows: 16, add: "VPADDD", emit: multiplyAdd, spare: 4},
	{name: "i16AVX2", isa: text.AVX2, rows: 6, packedRows: 8, add: "VPADDD", emit: multiplyAdd, spare: 1},
}

// multiplyAdd is the step without VNNI: pairs of int16 are multiplied and added (VPMADDWD). The sum of two
// products of bytes cannot overflow 32 bits.
func multiplyAdd(g *gen, b, a, acc int, spare []int, s text.ISA) {
	t := spare[acc%len(spare)]
	g.I("VPMADDWD %s, %s, %s", s.V(b), s.V(a), s.V(t))
	g.I("VPADDD %s, %s, %s", s.V(t), s.V(acc), s.V(acc))
}

// lowPrecisionKernel emits the function
//
//	C[0:rows, 0:2 vectors] (+)= init + A·B
//
// for count strips of B beside each other.
//
//	AX arguments   DI tile of A   BX strip of B   DX tile of C   CX steps
//	R8 init        R9 strips      R13 row of C    SI, R15 scratch
//	R10 from A to the next tile, which is fetched into the L2 cache
//	R11 tile of rounded sums   R12 from row to row there
//
// The registers hold the sums row by row, then (from the top down) two
// broadcasts of A, two vectors of B, and what the instruction needs besides.
func (g *gen) lowPrecisionKernel(d lowPrecisionKind) {
	g.function(d.name, "a *lowPrecisionArgs", "AX")
	g.I("MOVQ %d(AX), BX", lpB)
	g.I("MOVQ %d(AX), DX", lpC)
	g.I("MOVQ %d(AX), R13", lpLDC)
	g.I("MOVQ %d(AX), R9", lpCount)
	g.I("MOVQ %d(AX), R8", lpInit)
	g.I("MOVQ %d(AX), R10", lpNext)
	g.I("MOVQ %d(AX), R15", lpRows)
	if d.round {
		g.I("MOVQ %d(AX), R11", lpHalf)
		g.I("MOVQ %d(AX), R12", lpLDHalf)
	}
	label := func(rows int) string { return fmt.Sprintf("%s_r%d", d.name, rows) }
	for r := d.rows; r > 1; r-- {
		g.I("CMPQ R15, $%d", r)
		g.I("JEQ %s", label(r))
	}
	for r := 1; r <= d.rows; r++ {
		g.lowPrecisionTile(d, label(r), r)
	}
}

func (g *gen) lowPrecisionTile(d lowPrecisionKind, label string, rows int) {
	const nv = 2
	s := d.isa
	acc := func(r, v int) int { return r*nv + v }
	top := s.Regs - 1
	bcast := []int{top, top - 1}
	if s.Regs == 16 {
		bcast = bcast[:1]
	}
	next := top - len(bcast)
	bv := []int{next - 1, next}
	var spare []int
	for i := range d.spare {
		spare = append(spare, next-2-i)
	}
	if rows*nv > next-1-d.spare {
		panic(label)
	}
	g.L("")
	g.L("// %d rows", rows)
	g.L("%s:", label)
	g.I("MOVQ %d(AX), DI", lpA)
	g.I("MOVQ %d(AX), CX", lpK)
	g.I("MOVQ DX, R15")
	g.I("MOVQ R13, SI")
	if d.round {
		g.I("TESTQ R11, R11")
		g.I("CMOVQNE R11, R15")
		g.I("CMOVQNE R12, SI")
	}
	for r := range rows {
		for off := 0; off < nv*s.Width; off += 64 {
			g.I("PREFETCHT0 %d(R15)", off)
		}
		if r+1 < rows {
			g.I("ADDQ SI, R15")
		}
	}
	g.I("MOVQ BX, SI")
	for i := range rows * nv {
		g.I("VPXOR%s %s, %s, %s", map[bool]string{true: "D"}[s.Mask], s.V(i), s.V(i), s.V(i))
	}
	step := func(i int) {
		for v := range nv {
			g.I("VMOVUPS %d(SI), %s", (i*nv+v)*s.Width, s.V(bv[v]))
		}
		if i*d.packedRows*4%64 == 0 {
			g.I("PREFETCHT1 %d(DI)(R10*1)", i*d.packedRows*4)
		}
		for r := range rows {
			t := bcast[r%len(bcast)]
			g.I("VBROADCASTSS %d(DI), %s", (i*d.packedRows+r)*4, s.V(t))
			for v := range nv {
				d.emit(g, bv[v], t, acc(r, v), spare, s)
			}
		}
	}
	// Steps come in fours.
	unroll := 2
	if rows <= 4 {
		unroll = 4
	}
	loop := label + "_k"
	g.I("PCALIGN $32")
	g.L("%s:", loop)
	for i := range unroll {
		step(i)
	}
	g.I("ADDQ $%d, DI", unroll*d.packedRows*4)
	g.I("ADDQ $%d, SI", unroll*nv*s.Width)
	g.I("SUBQ $%d, CX", unroll)
	g.I("JG %s", loop)

	plain := label + "_i"
	g.I("TESTQ R8, R8")
	g.I("JZ %s", plain)
	for v := range nv {
		g.I("VMOVUPS %d(R8), %s", v*s.Width, s.V(bv[v]))
	}
	for r := range rows {
		for v := range nv {
			g.I("%s %s, %s, %s", d.add, s.V(bv[v]), s.V(acc(r, v)), s.V(acc(r, v)))
		}
	}
	g.I("ADDQ $%d, R8", nv*s.Width)
	g.L("%s:", plain)
	plain = label + "_a"
	g.I("CMPQ %d(AX), $0", lpAdd)
	g.I("JEQ %s", plain)
	g.I("MOVQ DX, R15")
	for r := range rows {
		for v := range nv {
			g.I("%s %d(R15), %s, %s", d.add, v*s.Width, s.V(acc(r, v)), s.V(acc(r, v)))
		}
		if r+1 < rows {
			g.I("ADDQ R13, R15")
		}
	}
	g.L("%s:", plain)
	if d.round {
		plain = label + "_f"
		g.I("TESTQ R11, R11")
		g.I("JZ %s", plain)
		g.I("MOVQ R11, R15")
		for r := range rows {
			t := bcast[r%2]
			g.I("%s", text.NarrowBF16(acc(r, 0), acc(r, 1), t))
			g.I("VMOVUPS %s, (R15)", s.V(t))
			if r+1 < rows {
				g.I("ADDQ R12, R15")
			}
		}
		g.I("ADDQ $%d, R11", s.Width)
		g.I("JMP %s_n", label)
		g.L("%s:", plain)
	}
	g.I("MOVQ DX, R15")
	for r := range rows {
		for v := range nv {
			g.I("VMOVUPS %s, %d(R15)", s.V(acc(r, v)), v*s.Width)
		}
		if r+1 < rows {
			g.I("ADDQ R13, R15")
		}
	}
	if d.round {
		g.L("%s_n:", label)
	}
	g.I("ADDQ %d(AX), BX", lpStepB)
	g.I("ADDQ $%d, DX", nv*s.Width)
	g.I("DECQ R9")
	g.I("JG %s", label)
	g.I("VZEROUPPER")
	g.I("RET")
}

// fourRows are the index parts that, behind the address of a row, name this row and the next three: R8 holds
// the distance of rows, R9 three times as much.
var fourRows = []string{"", "(R8*1)", "(R8*2)", "(R9*1)"}

// interleave emits a packer of rows that follow each other along k:
//
//	dst[s*dstStride + j*group + i] = src[(s*group+i)*srcStride + j]
//
// for j < width, s < steps and i < group, in elements of the packed size. load
// reads a vector of a row; bytes that become int16 are widened by it. The width
// is a multiple of what one load brings.
//
//	DX dst   DI src   R8 srcStride   R9 three of them   R13 dstStride   CX steps
//	SI, BX position in the rows and in dst   R11 what remains of the width
func (g *gen) interleave(name, load string, group, loaded int) {
	g.function(name, "dst, src unsafe.Pointer, dstStride, srcStride, width, steps int", "DX", "DI", "R13", "R8", "R10",
		"CX")
	g.I("LEAQ (R8)(R8*2), R9")
	columns := 16
	if group == 4 {
		columns = 32
	}
	g.L("%s_step:", name)
	g.I("MOVQ DI, SI")
	g.I("MOVQ DX, BX")
	g.I("MOVQ R10, R11")
	g.L("%s_loop:", name)
	for i := range group {
		g.I("%s (SI)%s, Y%d", load, fourRows[i], i)
	}
	// Inside the two halves of a register first, then whole halves.
	var halves [][2]int
	if group == 2 {
		g.I("VPUNPCKLWD Y1, Y0, Y8")
		g.I("VPUNPCKHWD Y1, Y0, Y9")
		halves = [][2]int{{8, 9}}
	} else {
		for i := range 2 {
			g.I("VPUNPCKLBW Y%d, Y%d, Y%d", 2*i+1, 2*i, 4+2*i)
			g.I("VPUNPCKHBW Y%d, Y%d, Y%d", 2*i+1, 2*i, 5+2*i)
		}
		for i := range 2 {
			g.I("VPUNPCKLWD Y%d, Y%d, Y%d", 6+i, 4+i, 8+2*i)
			g.I("VPUNPCKHWD Y%d, Y%d, Y%d", 6+i, 4+i, 9+2*i)
		}
		halves = [][2]int{{8, 9}, {10, 11}}
	}
	for h := range 2 {
		for i, p := range halves {
			g.I("VPERM2I128 $0x%02x, Y%d, Y%d, Y0", 0x20+0x11*h, p[1], p[0])
			g.I("VMOVDQU Y0, %d(BX)", (h*len(halves)+i)*32)
		}
	}
	g.I("ADDQ $%d, SI", loaded)
	g.I("ADDQ $%d, BX", columns*4)
	g.I("SUBQ $%d, R11", columns)
	g.I("JG %s_loop", name)
	g.I("LEAQ (DI)(R8*%d), DI", group)
	g.I("ADDQ R13, DX")
	g.I("DECQ CX")
	g.I("JG %s_step", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

// widen emits dst[i] = int16(src[i]) for n bytes, a multiple of 16.
func (g *gen) widen(name, load string) {
	g.function(name, "dst, src unsafe.Pointer, n int", "DX", "DI", "CX")
	g.L("%s_loop:", name)
	g.I("%s (DI), Y0", load)
	g.I("VMOVDQU Y0, (DX)")
	g.I("ADDQ $16, DI")
	g.I("ADDQ $32, DX")
	g.I("SUBQ $16, CX")
	g.I("JG %s_loop", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

// flip emits dst[i] ^= 128 for n bytes, a multiple of 64.
func (g *gen) flip() {
	g.function("flipBytes", "dst unsafe.Pointer, n int", "DX", "CX")
	g.I("MOVL $0x80808080, SI")
	g.I("VPBROADCASTD SI, Z0")
	g.L("flipBytes_loop:")
	g.I("VPXORD (DX), Z0, Z1")
	g.I("VMOVDQU32 Z1, (DX)")
	g.I("ADDQ $64, DX")
	g.I("SUBQ $64, CX")
	g.I("JG flipBytes_loop")
	g.I("VZEROUPPER")
	g.I("RET")
}

// narrowIntRows emits
//
//	c[j] += sum over i < 8 of a[i]*b[i*ldb + j]
//
// for j < n, a multiple of 16, in 16 bits. load widens 16 elements of b, which have
// width bytes, or is empty.
//
//	DX c   DI, SI row 0 and row 4 of b   R8 ldb, R9 three of them   CX what remains of n
//	Y0-Y7 a   Y8 sums   Y9-Y12 products
func (g *gen) narrowIntRows(name, load string, width int) {
	g.function(name, "c, a, b unsafe.Pointer, ldb, n int", "DX", "SI", "DI", "R8", "CX")
	g.I("LEAQ (R8)(R8*2), R9")
	for i := range 8 {
		g.I("VPBROADCASTW %d(SI), Y%d", 2*i, i)
	}
	g.I("LEAQ (DI)(R8*4), SI")
	g.I("PCALIGN $32")
	g.L("%s_loop:", name)
	g.I("VMOVDQU (DX), Y8")
	for i := range 8 {
		addr := []string{"(DI)", "(SI)"}[i/4] + fourRows[i%4]
		g.widened("VPMULLW", load, addr, i, 9+i%4)
		g.I("VPADDW Y%d, Y8, Y8", 9+i%4)
	}
	g.I("VMOVDQU Y8, (DX)")
	g.I("ADDQ $32, DX")
	g.I("ADDQ $%d, DI", width)
	g.I("ADDQ $%d, SI", width)
	g.I("SUBQ $16, CX")
	g.I("JG %s_loop", name)
	g.I("VZEROUPPER")
	g.I("RET")
}

// widened emits dst = the elements at addr, which load widens if it is not
// empty, times register x.
func (g *gen) widened(mul, load, addr string, x, dst int) {
	if load != "" {
		g.I("%s %s, Y%d", load, addr, dst)
		addr = fmt.Sprintf("Y%d", dst)
	}
	g.I("%s %s, Y%d, Y%d", mul, addr, x, dst)
}

// narrowIntDots emits
//
//	out[j] += sum over i < k of a[i]*b[j*ldb + i]
//
// for j < 4 and a k that is a multiple of 16, in 32 bits. Elements of a have
// 16 bits; load widens 16 of b, which have width bytes, or is empty.
//
//	DX out   SI a   DI b   R8 ldb, R9 three of them   CX what remains of k
//	Y0-Y3 sums   Y4 a   Y5-Y8 products
func (g *gen) narrowIntDots(name, load string, width int) {
	g.function(name, "out, a, b unsafe.Pointer, ldb, k int", "DX", "SI", "DI", "R8", "CX")
	g.I("LEAQ (R8)(R8*2), R9")
	for j := range 4 {
		g.I("VPXOR Y%d, Y%d, Y%d", j, j, j)
	}
	g.I("PCALIGN $32")
	g.L("%s_loop:", name)
	g.I("VMOVDQU (SI), Y4")
	for j := range 4 {
		g.widened("VPMADDWD", load, "(DI)"+fourRows[j], 4, 5+j)
		g.I("VPADDD Y%d, Y%d, Y%d", 5+j, j, j)
	}
	g.I("ADDQ $32, SI")
	g.I("ADDQ $%d, DI", width)
	g.I("SUBQ $16, CX")
	g.I("JG %s_loop", name)
	// The sums of the halves of a register, side by side.
	g.I("VPHADDD Y1, Y0, Y0")
	g.I("VPHADDD Y3, Y2, Y2")
	g.I("VPHADDD Y2, Y0, Y0")
	g.I("VEXTRACTI128 $1, Y0, X1")
	g.I("VPADDD X1, X0, X0")
	g.I("VPADDD (DX), X0, X0")
	g.I("VMOVDQU X0, (DX)")
	g.I("VZEROUPPER")
	g.I("RET")
}

// lowPrecisionFile writes the kernels for 8 and 16 bits.
func lowPrecisionFile(dir string) {
	g := &gen{text.New("gemm")}
	for _, d := range lowPrecisionKinds {
		g.lowPrecisionKernel(d)
	}
	g.interleave("interleave16", "VMOVDQU", 2, 32)
	g.interleave("interleave16S8", "VPMOVSXBW", 2, 16)
	g.interleave("interleave16U8", "VPMOVZXBW", 2, 16)
	g.interleave("interleave8", "VMOVDQU", 4, 32)
	g.widen("widenS8", "VPMOVSXBW")
	g.widen("widenU8", "VPMOVZXBW")
	g.flip()
	for _, t := range []struct {
		bits, load string
		width      int
	}{{"8", "VPMOVSXBW", 16}, {"16", "", 32}} {
		g.narrowIntRows("rows"+t.bits+"AVX2", t.load, t.width)
		g.narrowIntDots("dots"+t.bits+"AVX2", t.load, t.width)
	}
	g.Save(dir, "lowprecision_amd64.s")
}

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file writes the kernels of one or two integer operands, whose lanes have 1 to 8 bytes. They are one to five
// instructions each, the same for every size but for a letter, and do not need the language of package kernel, whose
// lanes have the width of a float.
//
// Registers: DI=dst, SI=a, DX=b, BX=elements left, R13=kernel.NonTemporalBit, AX and CX scratch; vectors 0-3 in the
// body, 8-10 for constants. K1 is the mask of the last, partial vector on AVX-512, K2 the result of a comparison. On
// AVX2 there must be elements for a whole vector: the last, partial one is computed first, with those before it, before
// the others may write over them, and is kept in vector 11 for the end of dst, R8. R11 and R12 are the bytes from one
// vector, or four, of b to the next, and R10 how far ahead it is fetched: all 0 where numberBit says that b is one
// element, which the frame and vector 12 repeat then. Of the loops, the one over four vectors takes it from the vector:
// loads from the frame would cost a third of the time of arrays in the third cache.

// laneSize is the size of an integer type: its suffix in Go names, its bytes, and its suffix in names of
// instructions.
type laneSize struct {
	name  string
	bytes int
	sfx   string
}

var laneSizes = []laneSize{{"I8", 1, "B"}, {"I16", 2, "W"}, {"I32", 4, "D"}, {"I64", 8, "Q"}}

// laneKernel is an operation on vector 0 (a) and vector 1 (b) with its result in vector 0, or for comparisons in K2 on
// AVX-512.
type laneKernel struct {
	name   string
	size   laneSize
	pred   int    // of a comparison, whose results are bytes; -1: arithmetic
	letter string // U for an operation on unsigned numbers, S for one that has another form for them
	consts []uint64
	body   func(p func(string), isa kernel.ISA)
	isas   []kernel.ISA // the only ones it is for; nil: all
	// bounds is the number of elements at b, which stand for all lanes in the vectors from 8 on; -1: b is a vector as a
	// is.
	bounds int
}

func (k *laneKernel) on(isa kernel.ISA) bool {
	if k.isas != nil {
		return slices.Contains(k.isas, isa)
	}
	if isa == kernel.AVX512 {
		return true
	}
	extremum := k.name == "max" || k.name == "min"
	shift := k.name == "shl" || k.name == "shr"
	if isa == kernel.NEON {
		if shift || k.bounds >= 0 {
			return false
		}
		return !extremum && (k.name != "mul" || k.size.bytes < 8)
	}
	return true
}

// around reports whether the kernel knows kernel.NonTemporalBit: on AVX2 the kernels whose results are as
// wide as their operands.
func (k *laneKernel) around(isa kernel.ISA) bool { return isa == kernel.AVX2 && k.pred < 0 }

// number reports whether the kernel knows numberBit.
func (k *laneKernel) number(isa kernel.ISA) bool { return isa != kernel.NEON && k.bounds < 0 }

// numberBit, set in the number of elements, says that b is one element, which stands for all.
const numberBit = 61

// packs reports whether the kernel is a comparison whose results are narrower than its vectors: on AVX2, the
// results of several vectors are packed into one.
func (k *laneKernel) packs(isa kernel.ISA) bool {
	return isa == kernel.AVX2 && k.pred >= 0 && k.size.bytes > 1
}

func (k *laneKernel) goName(isa kernel.ISA) string {
	return k.name + k.letter + k.size.name + isa.String()
}

func laneKernels() []*laneKernel {
	var list []*laneKernel
	bytes := laneSizes[0]
	one := func(ins string) func(p func(string), isa kernel.ISA) {
		return func(p func(string), isa kernel.ISA) { p(ins + " V1, V0, V0") }
	}
	arith := func(name, letter string, s laneSize, body func(p func(string), isa kernel.ISA)) {
		list = append(list, &laneKernel{name: name, size: s, pred: -1, letter: letter, body: body, bounds: -1})
	}
	for _, s := range laneSizes {
		arith("add", "", s, one("VPADD"+s.sfx))
		arith("sub", "", s, one("VPSUB"+s.sfx))
		if s.bytes > 1 {
			arith("mul", "", s, func(p func(string), isa kernel.ISA) {
				if isa == kernel.AVX2 && s.bytes == 8 {
					// The products of each number's lower half with the other's upper one count from bit 32 on.
					p("VPSRLQ $32, V0, V2")
					p("VPMULUDQ V1, V2, V2")
					p("VPSRLQ $32, V1, V3")
					p("VPMULUDQ V0, V3, V3")
					p("VPADDQ V3, V2, V2")
					p("VPSLLQ $32, V2, V2")
					p("VPMULUDQ V1, V0, V0")
					p("VPADDQ V2, V0, V0")
					return
				}
				p("VPMULL" + s.sfx + " V1, V0, V0")
			})
			// A distance that is too large, as unsigned number, leaves 0 or the sign.
			arith("shl", "S", s, one("VPSLLV"+s.sfx))
			if s.bytes == 2 {
				list[len(list)-1].isas = []kernel.ISA{kernel.AVX512}
			}
			arith("shr", "S", s, one("VPSRAV"+s.sfx))
			if s.bytes != 4 {
				list[len(list)-1].isas = []kernel.ISA{kernel.AVX512}
			}
		}
	}
	for i, name := range []string{"max", "min"} {
		for _, s := range laneSizes {
			arith(name, "S", s, func(p func(string), isa kernel.ISA) { extremum(p, isa, s, "S", i, "V1") })
		}
		arith(name, "U", bytes, func(p func(string), isa kernel.ISA) { extremum(p, isa, bytes, "U", i, "V1") })
	}
	between := func(s laneSize, letter string) {
		list = append(list, &laneKernel{name: "between", size: s, pred: -1, letter: letter, bounds: 2,
			body: func(p func(string), isa kernel.ISA) {
				extremum(p, isa, s, letter, 0, "V8")
				extremum(p, isa, s, letter, 1, "V9")
			}})
	}
	for _, s := range laneSizes {
		between(s, "S")
		list = append(list, &laneKernel{name: "abs", size: s, pred: -1, letter: "S",
			body: func(p func(string), isa kernel.ISA) {
				if isa == kernel.AVX2 && s.bytes == 8 {
					p("VPXOR V1, V1, V1")
					p("VPSUBQ V0, V1, V1")
					p("VBLENDVPD V0, V1, V0, V0") // where the sign of a is set
					return
				}
				p("VPABS" + s.sfx + " V0, V0")
			}})
	}
	between(bytes, "U")
	logic := func(isa kernel.ISA, name string) string {
		if isa == kernel.AVX512 {
			return "VP" + name + "Q "
		}
		return "VP" + name + " "
	}
	const ones = 0x0101010101010101
	add := func(name string, consts []uint64, body func(p func(string), isa kernel.ISA)) {
		list = append(list, &laneKernel{name: name, size: bytes, pred: -1, consts: consts, body: body, bounds: -1})
	}
	// There are shifts of words only: those by the high bytes leave what they shift to the low ones behind.
	const lowBytes = 0x00ff00ff00ff00ff
	add("shl", []uint64{lowBytes}, func(p func(string), isa kernel.ISA) {
		p("VPSRLW $8, V1, V2")
		p("VPANDNQ V0, V8, V3")
		p("VPSLLVW V2, V3, V3")
		p("VPANDQ V8, V1, V1")
		p("VPSLLVW V1, V0, V0")
		p("VPANDQ V8, V0, V0")
		p("VPORQ V3, V0, V0")
	})
	list[len(list)-1].isas = []kernel.ISA{kernel.AVX512}
	for _, f := range []struct{ letter, ins string }{{"S", "VPSRAVW"}, {"U", "VPSRLVW"}} {
		add("shr", []uint64{lowBytes}, func(p func(string), isa kernel.ISA) {
			p("VPSRLW $8, V1, V2")
			p(f.ins + " V2, V0, V3")
			p("VPANDNQ V3, V8, V3")
			p("VPANDQ V8, V1, V1")
			p("VPSLLW $8, V0, V0") // the low byte where its sign counts
			p(f.ins + " V1, V0, V0")
			p("VPSRLW $8, V0, V0")
			p("VPORQ V3, V0, V0")
		})
		list[len(list)-1].letter, list[len(list)-1].isas = f.letter, []kernel.ISA{kernel.AVX512}
	}
	list = append(list, shiftsAVX2()...)
	add("mul", []uint64{0x00ff00ff00ff00ff}, func(p func(string), isa kernel.ISA) {
		// There are products of words only. The high bytes: a shifted down times b without its low byte stays in place.
		p("VPSRLW $8, V0, V2")
		p(logic(isa, "ANDN") + "V1, V8, V3")
		p("VPMULLW V3, V2, V2")
		p("VPMULLW V1, V0, V0")
		p(logic(isa, "AND") + "V8, V0, V0")
		p(logic(isa, "OR") + "V2, V0, V0")
	})
	for _, op := range []string{"AND", "OR", "XOR"} {
		for _, s := range laneSizes { // they differ in numbers alone, see numberBit
			arith(strings.ToLower(op), "", s, func(p func(string), isa kernel.ISA) { p(logic(isa, op) + "V1, V0, V0") })
		}
	}
	// The truth of a byte is its minimum with 1; both are not 0 where the smaller one is not.
	add("logicalAnd", []uint64{ones}, func(p func(string), isa kernel.ISA) {
		p("VPMINUB V1, V0, V0")
		p("VPMINUB V8, V0, V0")
	})
	add("logicalOr", []uint64{ones}, func(p func(string), isa kernel.ISA) {
		p(logic(isa, "OR") + "V1, V0, V0")
		p("VPMINUB V8, V0, V0")
	})
	add("logicalXor", []uint64{ones}, func(p func(string), isa kernel.ISA) {
		p("VPMINUB V8, V0, V0")
		p("VPMINUB V8, V1, V1")
		p(logic(isa, "XOR") + "V1, V0, V0")
	})
	for _, s := range laneSizes {
		for pred, name := range []string{"eq", "lt", "le", "", "ne"} {
			if name == "" {
				continue
			}
			for _, letter := range []string{"", "U"} {
				if letter == "U" && (s.bytes > 1 || pred == 0 || pred == 4) {
					continue // only bytes come unsigned, and equality has no sign
				}
				list = append(list, compareLanes(name, s, pred, letter))
			}
		}
	}
	return list
}

// shiftsAVX2 are the shifts that AVX2 has no instructions for: of bytes and words, and the arithmetic one of 64 bits.
// Distances are unsigned numbers; one that is too large leaves 0 or the sign.
func shiftsAVX2() (list []*laneKernel) {
	add := func(name, letter string, size int, consts []uint64, body ...string) {
		list = append(list, &laneKernel{name: name, letter: letter, size: laneSizes[size], pred: -1, consts: consts,
			bounds: -1, isas: []kernel.ISA{kernel.AVX2},
			body: func(p func(string), isa kernel.ISA) {
				for _, ins := range body {
					p(ins)
				}
			}})
	}
	const lowWords, lowBytes = 0x0000ffff0000ffff, 0x00ff00ff00ff00ff
	// Of the bits of a negative number, flipped, zeros come in at the top, which flips back to ones.
	add("shr", "S", 3, nil, "VPXOR V2, V2, V2", "VPCMPGTQ V0, V2, V2", "VPXOR V2, V0, V0", "VPSRLVQ V1, V0, V0",
		"VPXOR V2, V0, V0")
	// Words go through the halves of 32 bits: the high ones in place, the low ones where nothing else is or what is
	// there is cut off.
	add("shl", "S", 1, []uint64{lowWords},
		"VPSRLD $16, V1, V2", "VPANDN V0, V8, V3", "VPSLLVD V2, V3, V3",
		"VPAND V8, V1, V1", "VPSLLVD V1, V0, V0", "VPAND V8, V0, V0", "VPOR V3, V0, V0")
	add("shr", "S", 1, []uint64{lowWords},
		"VPSRLD $16, V1, V2", "VPSRAVD V2, V0, V3", "VPANDN V3, V8, V3",
		"VPAND V8, V1, V1", "VPSLLD $16, V0, V0", "VPSRAVD V1, V0, V0", "VPSRLD $16, V0, V0", "VPOR V3, V0, V0")
	// Bytes are multiplied as words by a power of 2 from a table: 2^n to the left; 2*2^(7-n) to the right, of which the
	// high byte is the result. Adding 0x78 with saturation leaves the index in the low bits up to 7 and sets the
	// highest bit, which gives 0, from 8 on.
	const highest, rising, falling = 0x7878787878787878, 0x8040201008040201, 0x0102040810204080
	add("shl", "", 0, []uint64{lowBytes, highest, rising},
		"VPADDUSB V9, V1, V1", "VPSHUFB V1, V10, V1",
		"VPSRLW $8, V0, V2", "VPANDN V1, V8, V3", "VPMULLW V3, V2, V2",
		"VPMULLW V1, V0, V0", "VPAND V8, V0, V0", "VPOR V2, V0, V0")
	add("shr", "U", 0, []uint64{lowBytes, highest, falling},
		"VPADDUSB V9, V1, V1", "VPSHUFB V1, V10, V1",
		"VPSRLW $8, V1, V2", "VPSRLW $8, V0, V3", "VPADDW V3, V3, V3", "VPMULLW V2, V3, V3", "VPANDN V3, V8, V3",
		"VPAND V8, V1, V1", "VPAND V8, V0, V0", "VPADDW V0, V0, V0", "VPMULLW V1, V0, V0", "VPSRLW $8, V0, V0",
		"VPOR V3, V0, V0")
	add("shr", "S", 0, []uint64{lowBytes, 0x0707070707070707, falling},
		"VPMINUB V9, V1, V1", "VPSHUFB V1, V10, V1",
		"VPSRLW $8, V1, V2", "VPSRAW $8, V0, V3", "VPADDW V3, V3, V3", "VPMULLW V2, V3, V3", "VPANDN V3, V8, V3",
		"VPAND V8, V1, V1", "VPSLLW $8, V0, V0", "VPSRAW $8, V0, V0", "VPADDW V0, V0, V0", "VPMULLW V1, V0, V0",
		"VPSRLW $8, V0, V0", "VPOR V3, V0, V0")
	return list
}

// extremum sets vector 0 to the larger (which 0) or smaller (1) of itself and b.
func extremum(p func(string), isa kernel.ISA, s laneSize, letter string, which int, b string) {
	switch {
	case isa == kernel.AVX512 || s.bytes < 8:
		p(fmt.Sprintf("VP%s%s%s %s, V0, V0", [...]string{"MAX", "MIN"}[which], letter, s.sfx, b))
		return
	case which == 0: // AVX2 has none of 64 bits
		p("VPCMPGTQ " + b + ", V0, V2")
	default:
		p("VPCMPGTQ V0, " + b + ", V2")
	}
	p("VBLENDVPD V2, V0, " + b + ", V0")
}

func compareLanes(name string, s laneSize, pred int, letter string) *laneKernel {
	k := &laneKernel{name: name, size: s, pred: pred, letter: letter, bounds: -1,
		consts: []uint64{0x0101010101010101, 0x8080808080808080}}
	k.body = func(p func(string), isa kernel.ISA) {
		if isa == kernel.AVX512 {
			p(fmt.Sprintf("VPCMP%s%s $%d, V1, V0, K2", letter, s.sfx, pred))
			return
		}
		if letter == "U" { // signed comparisons order unsigned numbers with their highest bits flipped
			p("VPXOR V9, V0, V0")
			p("VPXOR V9, V1, V1")
		}
		if s.bytes == 1 { // others are compared as they are read
			x, y := "V0", "V1"
			if name == "lt" {
				x, y = y, x
			}
			p(fmt.Sprintf("%s %s, %s, V0", k.compare(), y, x))
		}
		if name == "eq" || name == "lt" {
			p("VPAND V8, V0, V0")
		} else {
			p("VPANDN V8, V0, V0")
		}
	}
	return k
}

// compare is the instruction of AVX2 behind a comparison: a = b for eq and ne, b > a for lt, and a > b for le, which is
// the opposite.
func (k *laneKernel) compare() string {
	if k.name == "eq" || k.name == "ne" {
		return "VPCMPEQ" + k.size.sfx
	}
	return "VPCMPGT" + k.size.sfx
}

// pack compares 32 elements of more than a byte on AVX2 and packs the results into vector 0. Packing works within the
// halves of vectors.
func (k *laneKernel) pack(p func(string), off int) {
	x, y := "SI", "DX"
	if k.name == "lt" {
		x, y = y, x
	}
	read := func(v, r int) {
		p(fmt.Sprintf("VMOVDQU %d(%s), Y%d", off+32*v, x, r))
		p(fmt.Sprintf("%s %d(%s), Y%d, Y%d", k.compare(), off+32*v, y, r, r))
	}
	switch k.size.bytes {
	case 2:
		read(0, 0)
		read(1, 1)
		p("VPACKSSWB Y1, Y0, Y0")
		p("VPERMQ $0xD8, Y0, Y0")
		return
	case 4:
		for v := range 4 {
			read(v, v)
		}
	case 8:
		for v := range 4 {
			read(2*v, v)
			read(2*v+1, 4)
			p(fmt.Sprintf("VSHUFPS $0x88, Y4, Y%d, Y%d", v, v))
			p(fmt.Sprintf("VPERMQ $0xD8, Y%d, Y%d", v, v))
		}
	}
	p("VPACKSSDW Y1, Y0, Y0")
	p("VPACKSSDW Y3, Y2, Y2")
	p("VPACKSSWB Y2, Y0, Y0")
	p("VPERMD Y0, Y10, Y0")
}

// emitLanes writes one kernel for an instruction set.
func emitLanes(w *strings.Builder, k *laneKernel, isa kernel.ISA, data *kernel.X86Constants) {
	pfx, size := "Y", 32
	if isa == kernel.AVX512 {
		pfx, size = "Z", 64
	}
	registers := strings.NewReplacer("V10", pfx+"10", "V0", pfx+"0", "V1", pfx+"1", "V2", pfx+"2", "V3", pfx+"3", "V8",
		pfx+"8", "V9", pfx+"9")
	p := func(s string) { fmt.Fprintf(w, "\t%s\n", s) }
	body := func(s string) {
		name, args, _ := strings.Cut(s, " ")
		p(name + " " + registers.Replace(args))
	}
	vector, lanes := size, size/k.size.bytes
	out := k.size.bytes
	if k.pred >= 0 {
		out = 1
	}
	if k.packs(isa) {
		lanes, size = 32, 32*k.size.bytes
	}
	move := "VMOVDQU"
	if isa == kernel.AVX512 {
		move = fmt.Sprintf("VMOVDQU%d", 8*k.size.bytes)
	}
	fmt.Fprintf(w, "// %s: %d lanes x 4. DI=dst, SI=a, DX=b; BX=elements left.\n", k.goName(isa), lanes)
	frame := 0
	if k.number(isa) {
		frame = max(4*vector, size)
	}
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $%d-32\n", k.goName(isa), frame)
	p("MOVQ dst+0(FP), DI")
	p("MOVQ a+8(FP), SI")
	p("MOVQ b+16(FP), DX")
	p("MOVQ n+24(FP), BX")
	if k.around(isa) {
		p("MOVQ BX, R13")
		p(fmt.Sprintf("SHRQ $%d, R13", kernel.NonTemporalBit))
		p(fmt.Sprintf("BTRQ $%d, BX", kernel.NonTemporalBit))
	}
	if k.number(isa) {
		p(fmt.Sprintf("MOVL $%d, R11", size))
		p(fmt.Sprintf("MOVL $%d, R12", 4*size))
		p(fmt.Sprintf("MOVL $%d, R10", kernel.PrefetchDistance))
		p(fmt.Sprintf("BTRQ $%d, BX", numberBit))
		p("JCC vector")
		p("XORL R11, R11")
		p("XORL R12, R12")
		p("XORL R10, R10")
		p(fmt.Sprintf("VPBROADCAST%s (DX), %s1", k.size.sfx, pfx))
		for off := 0; off < frame; off += vector {
			p(fmt.Sprintf("%s %s1, number-%d(SP)", move, pfx, frame-off))
		}
		if !k.packs(isa) {
			p(fmt.Sprintf("%s %s1, %s12", move, pfx, pfx))
		}
		p(fmt.Sprintf("LEAQ number-%d(SP), DX", frame))
		fmt.Fprintf(w, "vector:\n")
	}
	for i, c := range k.consts {
		p(fmt.Sprintf("VPBROADCASTQ %s, %s%d", data.Constant(8, c), pfx, 8+i))
	}
	for i := range max(0, k.bounds) {
		p(fmt.Sprintf("VPBROADCAST%s %d(DX), %s%d", k.size.sfx, i*k.size.bytes, pfx, 8+i))
	}
	if k.packs(isa) && k.size.bytes > 2 { // where the halves' eighths belong
		p(fmt.Sprintf("VPMOVZXBD %s, Y10", data.Constant(8, 0x0703060205010400)))
	}
	store, keep, number := move, false, false
	step := func(u int, masked bool) {
		z, m := "", ""
		if masked {
			z, m = ".Z", "K1, "
		}
		if k.packs(isa) {
			k.pack(p, u*size)
		} else {
			p(fmt.Sprintf("%s%s %d(SI), %s%s0", move, z, u*size, m, pfx))
		}
		switch {
		case number:
			p(fmt.Sprintf("%s %s12, %s1", move, pfx, pfx))
		case k.bounds < 0 && !k.packs(isa):
			p(fmt.Sprintf("%s%s %d(DX), %s%s1", move, z, u*size, m, pfx))
		}
		k.body(body, isa)
		if keep {
			p("VMOVDQU Y0, Y11")
			return
		}
		if k.pred < 0 || isa == kernel.AVX2 {
			p(fmt.Sprintf("%s %s0, %s%d(DI)", store, pfx, m, u*lanes*out))
			return
		}
		p("VMOVDQU8.Z Z8, K2, Z0")
		narrow := map[int]string{64: "VMOVDQU8 Z0, ", 32: "VMOVDQU8 Y0, ", 16: "VMOVDQU8 X0, ", 8: "VMOVQ X0, "}[lanes]
		if masked {
			narrow = "VMOVDQU8 Z0, "
		}
		p(fmt.Sprintf("%s%s%d(DI)", narrow, m, u*lanes))
	}
	advance := func(u int) {
		p(fmt.Sprintf("ADDQ $%d, DI", u*lanes*out))
		p(fmt.Sprintf("ADDQ $%d, SI", u*size))
		switch {
		case k.number(isa) && u == 1:
			p("ADDQ R11, DX")
		case k.number(isa):
			p("ADDQ R12, DX")
		case k.bounds < 0:
			p(fmt.Sprintf("ADDQ $%d, DX", u*size))
		}
		p(fmt.Sprintf("SUBQ $%d, BX", u*lanes))
	}
	label := func(s string) { fmt.Fprintf(w, "%s:\n", s) }
	type level struct {
		label, end string
		u          int
		ahead      bool
		past       bool
		number     bool
	}
	levels := []level{{label: "long", end: "short", u: 4, ahead: true}, {label: "loop", end: "single", u: 4},
		{label: "one", end: "tail", u: 1}}
	if k.number(isa) {
		levels = slices.Insert(levels, 0, level{label: "repeated", end: "operand", u: 4, number: true})
	}
	if k.around(isa) {
		levels = slices.Insert(levels, 0, level{label: "past", end: "near", u: 4, ahead: true, past: true})
	}
	if k.packs(isa) {
		levels = []level{{label: "long", end: "short", u: 1, ahead: true}, {label: "one", end: "tail", u: 1}}
	}
	if isa == kernel.AVX2 {
		p("XORL R8, R8")
		p(fmt.Sprintf("TESTQ $%d, BX", lanes-1))
		p("JEQ whole")
		p("MOVQ SI, AX")
		p("MOVQ DX, CX")
		p(fmt.Sprintf("LEAQ -%d(BX), R9", lanes))
		p(fmt.Sprintf("LEAQ (DI)(R9*%d), R8", out))
		p(fmt.Sprintf("LEAQ (SI)(R9*%d), SI", k.size.bytes))
		if k.number(isa) {
			p("TESTQ R11, R11")
			p("JEQ last")
			p(fmt.Sprintf("LEAQ (DX)(R9*%d), DX", k.size.bytes))
			label("last")
		}
		keep = true
		step(0, false)
		keep = false
		p("MOVQ AX, SI")
		p("MOVQ CX, DX")
		label("whole")
	}
	for _, l := range levels {
		store, number = move, l.number
		switch {
		case l.number:
			p("TESTQ R11, R11")
			p("JNE " + l.end)
		case l.past:
			store = "VMOVNTDQ"
			p("TESTQ R13, R13")
			p("JEQ " + l.end)
		case l.ahead:
			p("CMPQ BX, ·fetchFrom(SB)")
		}
		if !l.ahead || l.past {
			p(fmt.Sprintf("CMPQ BX, $%d", l.u*lanes))
		}
		p("JLT " + l.end)
		label(l.label)
		for off := 0; l.ahead && off < l.u*size; off += kernel.PrefetchApart { // see fetchFrom
			p(fmt.Sprintf("PREFETCHT1 %d(SI)", kernel.PrefetchDistance+off))
			switch {
			case k.number(isa):
				p(fmt.Sprintf("PREFETCHT1 %d(DX)(R10*1)", off))
			case k.bounds < 0:
				p(fmt.Sprintf("PREFETCHT1 %d(DX)", kernel.PrefetchDistance+off))
			}
		}
		for u := range l.u {
			step(u, false)
		}
		advance(l.u)
		p(fmt.Sprintf("CMPQ BX, $%d", l.u*lanes))
		p("JGE " + l.label)
		label(l.end)
	}
	if isa == kernel.AVX512 {
		p("TESTQ BX, BX")
		p("JEQ done")
		p("MOVL $1, AX")
		p("SHLXQ BX, AX, AX")
		p("DECQ AX")
		p("KMOVQ AX, K1")
		step(0, true)
		label("done")
	}
	if isa == kernel.AVX2 {
		p("TESTQ R8, R8")
		p("JEQ done")
		p("VMOVDQU Y11, (R8)")
		label("done")
	}
	p("VZEROUPPER")
	p("RET")
	fmt.Fprintln(w)
}

// emitLanesGo writes the declarations and the tables by operation and size.
func emitLanesGo(w *strings.Builder, isas ...kernel.ISA) {
	list := laneKernels()
	for _, isa := range isas {
		for _, k := range list {
			if k.on(isa) {
				fmt.Fprintf(w, "//go:noescape\nfunc %s(dst, a, b unsafe.Pointer, n int)\n\n", k.goName(isa))
			}
		}
	}
	for _, isa := range isas {
		fmt.Fprintf(w, "var lanes%s = [...][laneKinds]func(dst, a, b unsafe.Pointer, n int){\n", isa)
		byOp := map[string][]string{}
		var order []string
		for _, k := range list {
			if byOp[k.name] == nil {
				order = append(order, k.name)
				byOp[k.name] = []string{}
			}
			if !k.on(isa) {
				continue
			}
			row := func(kind string) {
				byOp[k.name] = append(byOp[k.name], kind+": "+k.goName(isa))
			}
			unsigned := k.letter == "U" || k.letter == "" && (k.pred <= 0 || k.pred == 4)
			if k.letter != "U" {
				row("lane" + k.size.name)
			}
			if k.size.bytes == 1 && unsigned {
				row("laneU8")
			}
		}
		for _, op := range order {
			fmt.Fprintf(w, "\tlane%s%s: {%s},\n", strings.ToUpper(op[:1]), op[1:], strings.Join(byOp[op], ", "))
		}
		fmt.Fprintf(w, "}\n\n")
	}
}

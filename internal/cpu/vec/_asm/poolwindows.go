package main

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file writes the kernels of windows over channels-last memory: each of n pixels, a run of cols channels, is the
// sum or the maximum of the runs that its taps name, or the gradient of such a maximum. A pixel's values stay in
// registers while the taps go by.
//
// Registers: DI=dst, SI=a, R8=at (bytes), DX=the next tap, CX=taps left, R9=pixels left, BX=columns left, AX=a tap's
// offset; R10, R11 and R12 are dst, a and at of the first pixel. Vectors 0-3 hold the values, 4-7 the winning codes,
// 8-11 what is loaded, 12 the tap's code, 13 what a value begins with, 14 and 15 are scratch. On AVX-512 K1 is the mask
// of the columns of a single, partial vector; AVX2 goes back to columns that are done already, so that cols is a vector
// at least.

// windowKernel is one of these kernels: op is add, max, maxAt or grad.
type windowKernel struct {
	op  string
	t   kernel.Type // of a; dst has the type of the lanes
	isa kernel.ISA
}

func (k windowKernel) name() string { return k.op + "Windows" + k.t.Suffix() + k.isa.String() }

func windowKernels() (l []windowKernel) {
	for _, isa := range []kernel.ISA{kernel.AVX512, kernel.AVX2} {
		for _, op := range []string{"add", "max", "maxAt", "grad"} {
			for _, t := range []kernel.Type{kernel.F32, kernel.F64, kernel.F16, kernel.BF16} {
				l = append(l, windowKernel{op, t, isa})
			}
		}
	}
	return l
}

// windowAsm is a kernel being written.
type windowAsm struct {
	windowKernel
	w      *strings.Builder
	pfx    string // of vector registers
	bytes  int    // of a vector
	lane   int    // bytes of a lane
	sfx, q string // of instructions for lanes, and for integers of that size
	masked bool   // K1 holds
}

func (k *windowAsm) p(format string, args ...any) { fmt.Fprintf(k.w, "\t"+format+"\n", args...) }

func (k *windowAsm) v(r int) string { return fmt.Sprint(k.pfx, r) }

// mask is the end of a load's or store's address, and zero that of a load's name.
func (k *windowAsm) mask() (mask, zero string) {
	if k.masked {
		return ", K1", ".Z"
	}
	return "", ""
}

// load widens a vector of a.
func (k *windowAsm) load(mem, x string) {
	mask, zero := k.mask()
	switch k.t {
	case kernel.F16:
		k.p("VCVTPH2PS%s %s%s, %s", zero, mem, mask, x)
	case kernel.BF16:
		k.p("VPMOVZXWD%s %s%s, %s", zero, mem, mask, x)
		k.p("VPSLLD $16, %s, %s", x, x)
	default:
		k.p("VMOVUP%s%s %s%s, %s", k.sfx, zero, mem, mask, x)
	}
}

// meet joins the tap's columns at mem, whose codes are at codes, with value v and its code c; x is where to load them.
func (k *windowAsm) meet(mem, codes string, v, c, x string) {
	mask, zero := k.mask()
	wide := k.isa == kernel.AVX512
	switch k.op {
	case "add":
		k.load(mem, x)
		k.p("VADDP%s %s, %s, %s", k.sfx, x, v, v)
	case "max": // what is larger, or NaN; the instruction keeps v where either is NaN
		k.load(mem, x)
		if wide {
			k.p("VCMPP%s $0x03, %s, %s, K3", k.sfx, x, x)
			k.p("VMAXP%s %s, %s, %s", k.sfx, v, x, v)
			k.p("VMOVAP%s %s, K3, %s", k.sfx, x, v)
			return
		}
		k.p("VCMPP%s $0x03, %s, %s, Y14", k.sfx, x, x)
		k.p("VMAXP%s %s, %s, %s", k.sfx, v, x, v)
		k.p("VBLENDVP%s Y14, %s, %s, %s", k.sfx, x, v, v)
	case "maxAt":
		k.load(mem, x)
		if wide {
			k.p("VCMPP%s $0x1e, %s, %s, K2", k.sfx, v, x)
			k.p("VCMPP%s $0x03, %s, %s, K3", k.sfx, x, x)
			k.p("KORW K2, K3, K2")
			k.p("VMOVAP%s %s, K2, %s", k.sfx, x, v)
			k.p("VMOVDQA%d Z12, K2, %s", 8*k.lane, c)
			return
		}
		k.p("VCMPP%s $0x1e, %s, %s, Y14", k.sfx, v, x)
		k.p("VCMPP%s $0x03, %s, %s, Y15", k.sfx, x, x)
		k.p("VORPS Y14, Y15, Y14")
		k.p("VBLENDVP%s Y14, %s, %s, %s", k.sfx, x, v, v)
		k.p("VBLENDVP%s Y14, Y12, %s, %s", k.sfx, c, c)
	case "grad":
		if wide {
			k.p("VPMOVZXB%s%s %s%s, %s", k.q, zero, codes, mask, x)
			k.p("VPCMPEQ%s %s, Z12%s, K2", k.q, x, mask)
			k.load(mem, x)
			k.p("VADDP%s %s, %s, K2, %s", k.sfx, x, v, v)
			return
		}
		k.p("VPMOVZXB%s %s, Y14", k.q, codes)
		k.p("VPCMPEQ%s Y14, Y12, Y14", k.q)
		k.load(mem, x)
		k.p("VANDPS Y14, %s, %s", x, x) // a sum that began with 0 is never -0
		k.p("VADDP%s %s, %s, %s", k.sfx, x, v, v)
	}
}

// storeCodes writes the codes of vector r as bytes.
func (k *windowAsm) storeCodes(r int, mem string) {
	mask, _ := k.mask()
	if k.isa == kernel.AVX512 {
		k.p("VPMOV%sB Z%d%s, %s", k.q, r, mask, mem)
		return
	}
	k.p("VEXTRACTI128 $1, Y%d, X14", r)
	move := "VMOVQ"
	if k.lane == 8 {
		k.p("VSHUFPS $0x88, X14, X%d, X14", r)
		k.p("VPACKSSDW X14, X14, X14")
		move = "VMOVD"
	} else {
		k.p("VPACKSSDW X14, X%d, X14", r)
	}
	k.p("VPACKUSWB X14, X14, X14")
	k.p("%s X14, %s", move, mem)
}

// shift is the binary logarithm of a size of elements.
func shift(size int) int { return map[int]int{1: 0, 2: 1, 4: 2, 8: 3}[size] }

// emitWindows writes the assembly of a kernel. One vector of columns at a time would wait for its own additions; four,
// two and at last one at a time pass over the pixels.
func emitWindows(w *strings.Builder, which windowKernel) {
	k := &windowAsm{windowKernel: which, w: w, pfx: "Z", bytes: 64, lane: 4, sfx: "S", q: "D"}
	if k.isa == kernel.AVX2 {
		k.pfx, k.bytes = "Y", 32
	}
	if k.t == kernel.F64 {
		k.lane, k.sfx, k.q = 8, "D", "Q"
	}
	p := k.p
	label := func(format string, args ...any) { fmt.Fprintf(w, format+":\n", args...) }
	lanes, size := k.bytes/k.lane, k.t.Size()
	codes := k.op == "maxAt" || k.op == "grad"
	at, frame, off := "", 64, 16
	if codes {
		at, frame, off = ", at *uint8", 72, 24
	}
	fmt.Fprintf(w, "// func %s(dst, a%s, taps *Tap, ntaps, n, cols, lddst, lda int): distances in bytes.\n", k.name(),
		at)
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $0-%d\n", k.name(), frame)
	p("MOVQ dst+0(FP), R10")
	p("MOVQ a+8(FP), R11")
	if codes {
		p("MOVQ at+16(FP), R12")
	}
	arg := func(name string) string {
		for i, n := range []string{"taps", "ntaps", "n", "cols", "lddst", "lda"} {
			if n == name {
				return fmt.Sprintf("%s+%d(FP)", name, off+8*i)
			}
		}
		panic(name)
	}
	p("MOVQ %s, BX", arg("cols"))
	if k.op == "max" || k.op == "maxAt" {
		bits := "$0xff800000"
		if k.lane == 8 {
			bits = "$0xfff0000000000000"
		}
		p("MOVQ %s, AX", bits)
		if k.isa == kernel.AVX2 {
			p("VMOVQ AX, X13")
			p("VPBROADCAST%s X13, Y13", k.q)
		} else {
			p("VPBROADCAST%s AX, Z13", k.q)
		}
	} else {
		p("VPXOR%s %s, %s, %s", map[kernel.ISA]string{kernel.AVX512: "Q"}[k.isa], k.v(13), k.v(13), k.v(13))
	}
	for _, u := range []int{4, 2, 1} {
		label("cols%d", u)
		if u > 1 {
			p("CMPQ BX, $%d", u*lanes)
			p("JLT cols%d", u/2)
		} else {
			p("TESTQ BX, BX")
			p("JLE done")
			if k.isa == kernel.AVX2 {
				p("MOVQ $%d, AX", lanes)
				p("SUBQ BX, AX")
				p("JLE full")
				p("MOVQ $%d, BX", lanes)
				if codes {
					p("SUBQ AX, R12")
				}
				p("SHLQ $%d, AX", shift(size))
				p("SUBQ AX, R11")
				if k.lane != size {
					p("SHLQ $%d, AX", shift(k.lane)-shift(size))
				}
				p("SUBQ AX, R10")
				label("full")
			} else {
				k.masked = true
				p("MOVQ $-1, AX")
				p("CMPQ BX, $%d", lanes)
				p("JGE full")
				p("MOVL $1, AX")
				p("SHLXQ BX, AX, AX")
				p("DECQ AX")
				label("full")
				p("KMOVW AX, K1")
			}
		}
		p("MOVQ R10, DI")
		p("MOVQ R11, SI")
		if codes {
			p("MOVQ R12, R8")
		}
		p("MOVQ %s, R9", arg("n"))
		label("pixel%d", u)
		p("MOVQ %s, DX", arg("taps"))
		p("MOVQ %s, CX", arg("ntaps"))
		for i := range u {
			p("VMOVAPS %s, %s", k.v(13), k.v(i))
			if k.op == "maxAt" { // where nothing is larger, the first tap wins
				p("VPBROADCAST%s 8(DX), %s", k.q, k.v(4+i))
			}
		}
		label("tap%d", u)
		p("MOVQ (DX), AX")
		if codes {
			p("VPBROADCAST%s 8(DX), %s", k.q, k.v(12))
		}
		for i := range u {
			k.meet(fmt.Sprintf("%d(SI)(AX*%d)", i*lanes*size, size), fmt.Sprintf("%d(R8)(AX*1)", i*lanes), k.v(i),
				k.v(4+i), k.v(8+i))
		}
		p("ADDQ $16, DX")
		p("DECQ CX")
		p("JNE tap%d", u)
		mask, _ := k.mask()
		for i := range u {
			p("VMOVUP%s %s%s, %d(DI)", k.sfx, k.v(i), mask, i*k.bytes)
			if k.op == "maxAt" {
				k.storeCodes(4+i, fmt.Sprintf("%d(R8)", i*lanes))
			}
		}
		p("ADDQ %s, DI", arg("lddst"))
		p("ADDQ %s, SI", arg("lda"))
		switch k.op {
		case "maxAt": // beside dst, a byte for a lane
			p("MOVQ %s, AX", arg("lddst"))
			p("SHRQ $%d, AX", shift(k.lane))
			p("ADDQ AX, R8")
		case "grad": // beside a
			p("MOVQ %s, AX", arg("lda"))
			p("SHRQ $%d, AX", shift(size))
			p("ADDQ AX, R8")
		}
		p("DECQ R9")
		p("JNE pixel%d", u)
		p("ADDQ $%d, R10", u*k.bytes)
		p("ADDQ $%d, R11", u*lanes*size)
		if codes {
			p("ADDQ $%d, R12", u*lanes)
		}
		p("SUBQ $%d, BX", u*lanes)
		p("JMP cols%d", u)
	}
	label("done")
	p("VZEROUPPER")
	p("RET")
	fmt.Fprintln(w)
}

// emitWindowsGo writes the declarations.
func emitWindowsGo() string {
	var w strings.Builder
	w.WriteString(banner + "//go:build !purego\n\npackage vec\n\n")
	for _, k := range windowKernels() {
		lane := "float32"
		if k.t == kernel.F64 {
			lane = "float64"
		}
		at := ""
		if k.op == "maxAt" || k.op == "grad" {
			at = ", at *uint8"
		}
		fmt.Fprintf(&w, "//go:noescape\nfunc %s(dst *%s, a *%s%s, taps *Tap, ntaps, n, cols, lddst, lda int)\n\n",
			k.name(), lane, k.t.Go(), at)
	}
	w.WriteString("func init() {\n")
	for _, t := range []kernel.Type{kernel.F32, kernel.F64, kernel.F16, kernel.BF16} {
		lane := "float32"
		if t == kernel.F64 {
			lane = "float64"
		}
		for i, field := range []string{"wide", "narrow"} {
			isa := []kernel.ISA{kernel.AVX512, kernel.AVX2}[i]
			var ops []string
			for _, k := range windowKernels() {
				if k.t == t && k.isa == isa {
					ops = append(ops, k.name())
				}
			}
			fmt.Fprintf(&w, "\tWindows%s.%s = &windowAsm[%s, %s]{%s}\n", t.Suffix(), field, lane, t.Go(),
				strings.Join(ops, ", "))
		}
	}
	w.WriteString("}\n")
	return w.String()
}

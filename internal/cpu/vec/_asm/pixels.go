package main

import (
	"fmt"
	"strings"
)

// This file writes the kernels of windows over channels-last memory: each of n pixels, a run of cols channels, is the sum or the maximum of
// the runs that its taps name, or the gradient of such a maximum. A pixel's values stay in registers while the taps go by.
//
// Registers: DI=dst, SI=a, R8=at (bytes), DX=the next tap, CX=taps left, R9=pixels left, BX=columns left, AX=a tap's offset; R10, R11 and
// R12 are dst, a and at of the first pixel. Vectors 0-3 hold the values, 4-7 the winning codes, 8-11 what is loaded, 12 the tap's code,
// 13 what a value begins with. K1 is the mask of the columns of a single, partial vector.

// windowKernel is one of these kernels: op is add, max, maxAt or grad.
type windowKernel struct {
	op string
	t  Type // of a; dst has the type of the lanes
}

func (k windowKernel) name() string { return k.op + "Windows" + k.t.sfx() + "AVX512" }

func windowKernels() (l []windowKernel) {
	for _, op := range []string{"add", "max", "maxAt", "grad"} {
		for _, t := range []Type{F32, F64, F16, BF16} {
			l = append(l, windowKernel{op, t})
		}
	}
	return l
}

// emitWindows writes the assembly of a kernel. One vector of columns at a time would wait for its own additions; four, two and at last one
// at a time pass over the pixels.
func emitWindows(w *strings.Builder, k windowKernel) {
	p := func(format string, args ...any) { fmt.Fprintf(w, "\t"+format+"\n", args...) }
	label := func(format string, args ...any) { fmt.Fprintf(w, format+":\n", args...) }
	lane, sfx, q, lanes := 4, "S", "D", 16
	if k.t == F64 {
		lane, sfx, q, lanes = 8, "D", "Q", 8
	}
	size := k.t.Size()
	codes := k.op == "maxAt" || k.op == "grad"
	at, frame := "", 64
	if codes {
		at, frame = ", at *uint8", 72
	}
	fmt.Fprintf(w, "// func %s(dst, a%s, taps *Tap, ntaps, n, cols, lddst, lda int): distances in bytes.\n", k.name(), at)
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $0-%d\n", k.name(), frame)
	off := 16
	p("MOVQ dst+0(FP), R10")
	p("MOVQ a+8(FP), R11")
	if codes {
		p("MOVQ at+16(FP), R12")
		off = 24
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
		if lane == 8 {
			bits = "$0xfff0000000000000"
		}
		p("MOVQ %s, AX", bits)
		p("VPBROADCAST%s AX, Z13", q)
	} else {
		p("VPXORQ Z13, Z13, Z13")
	}
	for _, u := range []int{4, 2, 1} {
		label("cols%d", u)
		if u > 1 {
			p("CMPQ BX, $%d", u*lanes)
			p("JLT cols%d", u/2)
		} else {
			p("TESTQ BX, BX")
			p("JLE done")
			p("MOVQ $-1, AX")
			p("CMPQ BX, $%d", lanes)
			p("JGE full")
			p("MOVL $1, AX")
			p("SHLXQ BX, AX, AX")
			p("DECQ AX")
			label("full")
			p("KMOVW AX, K1")
		}
		mask, zero := "", "" // of loads and stores
		if u == 1 {
			mask, zero = ", K1", ".Z"
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
			p("VMOVAPS Z13, Z%d", i)
			if k.op == "maxAt" { // where nothing is larger, the first tap wins
				p("VPBROADCAST%s 8(DX), Z%d", q, 4+i)
			}
		}
		label("tap%d", u)
		p("MOVQ (DX), AX")
		if codes {
			p("VPBROADCAST%s 8(DX), Z12", q)
		}
		for i := range u {
			mem := fmt.Sprintf("%d(SI)(AX*%d)", i*lanes*size, size)
			x := 8 + i
			load := func() {
				switch k.t {
				case F16:
					p("VCVTPH2PS%s %s%s, Z%d", zero, mem, mask, x)
				case BF16:
					p("VPMOVZXWD%s %s%s, Z%d", zero, mem, mask, x)
					p("VPSLLD $16, Z%d, Z%d", x, x)
				default:
					p("VMOVUP%s%s %s%s, Z%d", sfx, zero, mem, mask, x)
				}
			}
			switch k.op {
			case "add":
				load()
				p("VADDP%s Z%d, Z%d, Z%d", sfx, x, i, i)
			case "max", "maxAt": // what is larger, or NaN
				load()
				p("VCMPP%s $0x1e, Z%d, Z%d, K2", sfx, i, x)
				p("VCMPP%s $0x03, Z%d, Z%d, K3", sfx, x, x)
				p("KORW K2, K3, K2")
				p("VMOVAP%s Z%d, K2, Z%d", sfx, x, i)
				if k.op == "maxAt" {
					p("VMOVDQA%d Z12, K2, Z%d", 8*lane, 4+i)
				}
			case "grad":
				p("VPMOVZXB%s%s %d(R8)(AX*1)%s, Z%d", q, zero, i*lanes, mask, x)
				if u == 1 {
					p("VPCMPEQ%s Z%d, Z12, K1, K2", q, x)
				} else {
					p("VPCMPEQ%s Z%d, Z12, K2", q, x)
				}
				load()
				p("VADDP%s Z%d, Z%d, K2, Z%d", sfx, x, i, i)
			}
		}
		p("ADDQ $16, DX")
		p("DECQ CX")
		p("JNE tap%d", u)
		for i := range u {
			p("VMOVUP%s Z%d%s, %d(DI)", sfx, i, mask, i*64)
			if k.op == "maxAt" {
				p("VPMOV%sB Z%d%s, %d(R8)", q, 4+i, mask, i*lanes)
			}
		}
		p("ADDQ %s, DI", arg("lddst"))
		p("ADDQ %s, SI", arg("lda"))
		switch k.op {
		case "maxAt": // beside dst, a byte for a lane
			p("MOVQ %s, AX", arg("lddst"))
			p("SHRQ $%d, AX", map[int]int{4: 2, 8: 3}[lane])
			p("ADDQ AX, R8")
		case "grad": // beside a
			p("MOVQ %s, AX", arg("lda"))
			p("SHRQ $%d, AX", map[int]int{2: 1, 4: 2, 8: 3}[size])
			p("ADDQ AX, R8")
		}
		p("DECQ R9")
		p("JNE pixel%d", u)
		p("ADDQ $%d, R10", u*64)
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
		if k.t == F64 {
			lane = "float64"
		}
		at := ""
		if k.op == "maxAt" || k.op == "grad" {
			at = ", at *uint8"
		}
		fmt.Fprintf(&w, "//go:noescape\nfunc %s(dst *%s, a *%s%s, taps *Tap, ntaps, n, cols, lddst, lda int)\n\n", k.name(), lane, k.t.Go(), at)
	}
	return w.String()
}

package kernel

import (
	"fmt"
	"math"
)

// This file moves vectors between memory and registers on x86: loads that widen, stores that narrow, masks of
// the last elements.

// mem is the address of vector u of an argument.
func (x *x86) mem(arg, u int) string {
	off := u * x.lanes * x.k.Args[arg].T.Size()
	if off == 0 {
		return "(" + x.ptr[arg] + ")"
	}
	return fmt.Sprintf("%d(%s)", off, x.ptr[arg])
}

// load emits the widening load of one vector.
func (x *x86) load(v *Value, u int, masked bool) {
	a := x.k.Args[v.arg]
	m := x.mem(v.arg, u)
	wide := x.k.Lane == F64
	v.reg = x.take()
	d := x.v(v.reg)
	name := ""
	switch {
	case a.T == F32 && wide:
		name = "VCVTPS2PD"
	case a.T == F32:
		name = "VMOVUPS"
	case a.T == F64:
		name = "VMOVUPD"
	case a.T == I32 && wide:
		name = "VPMOVSXDQ"
	case a.T == U32 && wide:
		name = "VPMOVZXDQ"
	case a.T == I16:
		name = "VPMOVSXW" + x.isfx()
	case a.T == I32:
		name = "VMOVDQU"
	case a.T == I64:
		name = "VMOVDQU"
	case a.T == U8:
		name = "VPMOVZXB" + x.isfx()
	case a.T == I8:
		name = "VPMOVSXB" + x.isfx()
	case a.T == F16:
		name = "VCVTPH2PS"
	case a.T == BF16:
		name = "VPMOVZXWD"
	}
	if x.isa == AVX512 {
		if name == "VMOVDQU" {
			name = fmt.Sprintf("VMOVDQU%d", 8*a.T.Size())
		}
		if masked {
			x.p("%s.Z %s, K1, %s", name, m, d)
		} else {
			x.p("%s %s, %s", name, m, d)
		}
	} else {
		switch {
		case masked:
			x.loadTail(name, v)
		case a.T == F16: // the conversion of a register is faster on Zen
			x.p("VMOVDQU %s, X%d", m, v.reg)
			x.p("%s X%d, %s", name, v.reg, d)
		case a.T == BF16: // one shuffle widens and shifts
			x.p("VBROADCASTI128 %s, %s", m, d)
			x.p("VPSHUFB upperhalves<>(SB), %s, %s", d, d)
			return
		default:
			x.p("%s %s, %s", name, m, d)
		}
	}
	if a.T == BF16 {
		x.p("VPSLLD $16, %s, %s", d, d)
	}
	if v.t != Mask {
		return
	}
	if x.isa == AVX512 {
		r := v.reg
		v.reg = x.takeK()
		x.p("VPTESTM%s %s, %s, K%d", x.isfx(), d, d, v.reg)
		x.give(r)
		return
	}
	// 0 - x has the sign bit set unless x is 0; blends look at nothing else.
	z := x.take()
	x.p("VPXOR %s, %s, %s", x.v(z), x.v(z), x.v(z))
	x.p("VPSUB%s %s, %s, %s", x.isfx(), d, x.v(z), d)
	x.give(z)
}

// store emits the narrowing store of one vector.
func (x *x86) store(v *Value, r, u int, masked bool, tmp func() int) {
	a := x.k.Args[v.arg]
	m := x.mem(v.arg, u)
	wide := x.k.Lane == F64
	if x.isa == AVX512 {
		k := ""
		if masked {
			k = "K1, "
		}
		switch {
		case x.nonTemporal:
			x.p("VMOVNTP%s Z%d, %s", x.sfx(), r, m)
		case v.t == Mask:
			t := tmp()
			x.p("VMOVDQU8.Z ones<>(SB), K%d, X%d", r, t)
			switch {
			case masked:
				x.p("VMOVDQU8 X%d, K1, %s", t, m)
			case wide:
				x.p("VMOVQ X%d, %s", t, m)
			default:
				x.p("VMOVDQU X%d, %s", t, m)
			}
		case v.t == F32 && wide:
			x.p("VMOVUPS Y%d, %s%s", r, k, m)
		case a.T == F32 && wide:
			t := tmp()
			x.p("VCVTPD2PS Z%d, Y%d", r, t)
			x.p("VMOVUPS Y%d, %s%s", t, k, m)
		case a.T == F16:
			x.p("VCVTPS2PH $0, Z%d, %s%s", r, k, m)
		case a.T == BF16:
			x.p("VPMOVDW Z%d, %s%s", r, k, m)
		case a.T == U8 || a.T == I8:
			x.p("VPMOV%sB Z%d, %s%s", x.isfx(), r, k, m)
		case a.T == I16:
			x.p("VPMOV%sW Z%d, %s%s", x.isfx(), r, k, m)
		case a.T == I32 && wide:
			x.p("VPMOVQD Z%d, %s%s", r, k, m)
		case a.T == I32 || a.T == I64:
			x.p("VMOVDQU%d Z%d, %s%s", 8*a.T.Size(), r, k, m)
		default:
			x.p("VMOVUP%s Z%d, %s%s", x.sfx(), r, k, m)
		}
		return
	}
	switch {
	case x.nonTemporal && a.T.Size() == x.k.Lane.Size():
		x.p("VMOVNTP%s Y%d, %s", x.sfx(), r, m)
	case v.t != Mask && wide && (a.T == I32 || a.T.Size() < 4):
		// The low half of each lane, then of that what is stored, so that the packs do not saturate.
		t, t2 := tmp(), tmp()
		x.p("VEXTRACTF128 $1, Y%d, X%d", r, t)
		x.p("VSHUFPS $0x88, X%d, X%d, X%d", t, r, t)
		switch {
		case a.T == I32:
			x.storeTail(v, t, m, masked)
		default:
			x.p("VPBROADCASTQ %s, X%d", x.data.Constant(8,
				map[int]uint64{1: 0xff000000ff, 2: 0xffff0000ffff}[a.T.Size()]), t2)
			x.p("VPAND X%d, X%d, X%d", t2, t, t)
			x.p("VPACKUSDW X%d, X%d, X%d", t, t, t)
			if a.T != I16 {
				x.p("VPACKUSWB X%d, X%d, X%d", t, t, t)
			}
			x.storeTail(v, t, m, masked)
		}
	case a.T == I16:
		t, t2 := tmp(), tmp()
		x.p("VEXTRACTI128 $1, Y%d, X%d", r, t)
		x.p("VPBROADCASTQ %s, X%d", x.data.Constant(8, 0xffff0000ffff), t2)
		x.p("VPAND X%d, X%d, X%d", t2, t, t)
		x.p("VPAND X%d, X%d, X%d", t2, r, t2)
		x.p("VPACKUSDW X%d, X%d, X%d", t, t2, t)
		x.storeTail(v, t, m, masked)
	case v.t == Mask || a.T == U8 || a.T == I8:
		t, t2 := tmp(), tmp()
		x.p("VEXTRACTF128 $1, Y%d, X%d", r, t)
		if wide {
			// Keep the low half of each 64-bit lane: 4 lanes of 32 bits.
			x.p("VSHUFPS $0x88, X%d, X%d, X%d", t, r, t)
			x.p("VPACKSSDW X%d, X%d, X%d", t, t, t)
		} else if v.t == Mask {
			x.p("VPACKSSDW X%d, X%d, X%d", t, r, t)
		} else {
			// Truncate to bytes first, so that the packs do not saturate.
			x.p("VMOVDQU bytemask<>(SB), X%d", t2)
			x.p("VPAND X%d, X%d, X%d", t2, t, t)
			x.p("VPAND X%d, X%d, X%d", t2, r, t2)
			x.p("VPACKUSDW X%d, X%d, X%d", t, t2, t)
		}
		if v.t == Mask {
			x.p("VPACKSSWB X%d, X%d, X%d", t, t, t)
			x.p("VPAND ones<>(SB), X%d, X%d", t, t)
		} else {
			x.p("VPACKUSWB X%d, X%d, X%d", t, t, t)
		}
		x.storeTail(v, t, m, masked)
	case a.T == BF16:
		t := tmp()
		x.p("VEXTRACTI128 $1, Y%d, X%d", r, t)
		x.p("VPACKUSDW X%d, X%d, X%d", t, r, t)
		x.storeTail(v, t, m, masked)
	case a.T == F16 && (masked || x.nonTemporal):
		t := tmp()
		x.p("VCVTPS2PH $0, Y%d, X%d", r, t)
		x.storeTail(v, t, m, masked)
	case a.T == F16:
		x.p("VCVTPS2PH $0, Y%d, %s", r, m)
	case a.T == F32 && wide:
		t := r
		switch {
		case v.t != F32:
			t = tmp()
			x.p("VCVTPD2PSY Y%d, X%d", r, t)
		case masked:
			t = tmp()
			x.p("VMOVAPS X%d, X%d", r, t)
		}
		x.storeTail(v, t, m, masked)
	case masked:
		t := tmp()
		x.p("VMOVAPS Y%d, Y%d", r, t)
		x.storeTail(v, t, m, true)
	default:
		x.p("VMOVUP%s Y%d, %s", x.sfx(), r, m)
	}
}

// loadTail emits the load of the last, partial vector on AVX2, where masked loads are slow on some processors
// and do not exist for elements of 1 and 2 bytes. It loads a whole vector where that does not reach into
// another page.
func (x *x86) loadTail(name string, v *Value) {
	size, ptr, d := x.k.Args[v.arg].T.Size(), x.ptr[v.arg], x.v(v.reg)
	x.labels++
	if x.mayBeWhole {
		x.p("CMPQ BX, $%d", x.lanes)
		x.p("JGE whole%d", x.labels)
	}
	x.p("MOVL %s, AX", ptr)
	x.p("ANDL $4095, AX")
	x.p("CMPL AX, $%d", 4096-x.lanes*size)
	x.p("JLE whole%d", x.labels)
	switch {
	case size < 4:
		x.loadTailFromBefore(name, v)
	case size == 4 && x.k.Lane == F64:
		x.p("VMASKMOVPS (%s), X14, X%d", ptr, v.reg)
		x.p("%s X%d, %s", name, v.reg, d)
	default:
		x.p("VMASKMOVP%s (%s), Y15, %s", x.sfx(), ptr, d)
	}
	x.p("JMP have%d", x.labels)
	fmt.Fprintf(x.w, "whole%d:\n", x.labels)
	x.p("%s (%s), %s", name, ptr, d)
	fmt.Fprintf(x.w, "have%d:\n", x.labels)
	if len(x.k.Accs) > 0 { // elsewhere nothing looks at the other lanes
		x.p("VPAND %s, %s, %s", x.v(15), d, d)
	}
}

// loadTailFromBefore emits the load of the last elements, of 1 or 2 bytes each: it loads the 16 bytes that
// end with them and shifts them to the front.
func (x *x86) loadTailFromBefore(name string, v *Value) {
	size, ptr := x.k.Args[v.arg].T.Size(), x.ptr[v.arg]
	t := x.take()
	x.p("MOVQ BX, AX")
	if size == 2 {
		x.p("SHLQ $1, AX")
	}
	x.p("VMOVDQU -16(%s)(AX*1), X%d", ptr, v.reg)
	x.p("NEGQ AX")
	x.p("LEAQ shifts<>+16(SB), R13")
	x.p("VMOVDQU (R13)(AX*1), X%d", t)
	x.p("VPSHUFB X%d, X%d, X%d", t, v.reg, v.reg)
	x.give(t)
	x.p("%s X%d, %s", name, v.reg, x.v(v.reg))
}

// storeTail emits the store of register t on AVX2, which it may change. If masked, it stores the last
// elements in parts of half a vector, a quarter and so on: masked stores take many cycles on some processors,
// and there are none for elements of 1 and 2 bytes.
func (x *x86) storeTail(v *Value, t int, m string, masked bool) {
	size := x.k.Args[v.arg].T.Size()
	move := func(elements int, to string) {
		ins := map[int]string{1: "VPEXTRB $0, X", 2: "VPEXTRW $0, X", 4: "VMOVD X", 8: "VMOVQ X", 16: "VMOVDQU X",
			32: "VMOVDQU Y"}[elements*size]
		if x.nonTemporal && elements*size == 16 {
			ins = "VMOVNTDQ X"
		}
		x.p("%s%d, %s", ins, t, to)
	}
	if !masked {
		move(x.lanes, m)
		return
	}
	x.labels++
	id := x.labels
	if x.mayBeWhole {
		x.p("CMPQ BX, $%d", x.lanes)
		x.p("JGE whole%d", id)
	}
	x.p("MOVQ %s, AX", x.ptr[v.arg])
	for n := x.lanes / 2; n > 0; n /= 2 {
		x.p("TESTQ $%d, BX", n)
		x.p("JEQ less%d_%d", n, id)
		move(n, "(AX)")
		switch {
		case n*size == 16:
			x.p("VEXTRACTF128 $1, Y%d, X%d", t, t)
		case n > 1:
			x.p("VPSRLDQ $%d, X%d, X%d", n*size, t, t)
		}
		if n > 1 {
			x.p("ADDQ $%d, AX", n*size)
		}
		fmt.Fprintf(x.w, "less%d_%d:\n", n, id)
	}
	if x.mayBeWhole {
		x.p("JMP have%d", id)
		fmt.Fprintf(x.w, "whole%d:\n", id)
		move(x.lanes, m)
		fmt.Fprintf(x.w, "have%d:\n", id)
	}
}

// advance moves the pointers and the count by n vectors.
func (x *x86) advance(n int) {
	for i, a := range x.k.Args {
		if a.Kind != ArgScalar {
			x.p("ADDQ $%d, %s", n*x.lanes*a.T.Size(), x.ptr[i])
		}
	}
	x.p("SUBQ $%d, BX", n*x.lanes)
}

// hasHalfWidthMemory reports whether the kernel has memory of 4 bytes in lanes of 8 bytes, which needs a
// second mask.
func hasHalfWidthMemory(k *Kernel) bool {
	for _, a := range k.Args {
		if k.Lane == F64 && a.T.Size() == 4 && a.Kind != ArgScalar {
			return true
		}
	}
	return false
}

// tailMask loads the mask of the BX elements left, fewer than a vector. With more, there may be up to 63
// elements left, and the mask is for the next vector of them.
func (x *x86) tailMask(more bool) {
	x.mayBeWhole = more
	if x.isa == AVX512 {
		x.p("MOVL $1, AX")
		x.p("SHLXQ BX, AX, AX")
		x.p("DECQ AX")
		x.p("KMOVW AX, K1")
		return
	}
	// 32 bytes of ones and then zeros: reading n lanes before the zeros gives
	// n lanes of ones.
	mask := func(size, reg int) {
		if more {
			x.p("MOVQ $%d, R13", x.lanes)
			x.p("CMPQ BX, R13")
			x.p("CMOVQLT BX, R13")
		} else {
			x.p("MOVQ BX, R13")
		}
		x.p("SHLQ $%d, R13", int(math.Log2(float64(size))))
		x.p("NEGQ R13")
		x.p("LEAQ tailmask<>+32(SB), AX")
		x.p("VMOVDQU (AX)(R13*1), Y%d", reg)
	}
	mask(x.k.Lane.Size(), 15)
	if hasHalfWidthMemory(x.k) {
		mask(4, 14)
	}
}

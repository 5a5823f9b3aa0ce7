//go:build !purego

#include "textflag.h"

// func deinterleave8(even, odd, src *float32, n int)
// DI=even, SI=odd, DX=src, CX=groups of eight pairs left.
TEXT ·deinterleave8(SB), NOSPLIT, $0-32
	MOVQ even+0(FP), DI
	MOVQ odd+8(FP), SI
	MOVQ src+16(FP), DX
	MOVQ n+24(FP), CX
	TESTQ CX, CX
	JEQ done
loop:
	PREFETCHT0 1024(DX)        // rows are often shorter than what the hardware needs to find the stream
	VMOVUPS (DX), Y0
	VMOVUPS 32(DX), Y1
	VSHUFPS $0x88, Y1, Y0, Y2  // a0 a2 b0 b2 a4 a6 b4 b6
	VSHUFPS $0xdd, Y1, Y0, Y3  // a1 a3 b1 b3 a5 a7 b5 b7
	VPERMPD $0xd8, Y2, Y2      // pairs in order
	VPERMPD $0xd8, Y3, Y3
	VMOVUPS Y2, (DI)
	VMOVUPS Y3, (SI)
	ADDQ $64, DX
	ADDQ $32, DI
	ADDQ $32, SI
	DECQ CX
	JNE loop
done:
	VZEROUPPER
	RET

// func interleave8(dst, even, odd *float32, n int)
// DI=dst, SI=even, DX=odd, CX=groups of eight pairs left.
TEXT ·interleave8(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ even+8(FP), SI
	MOVQ odd+16(FP), DX
	MOVQ n+24(FP), CX
	TESTQ CX, CX
	JEQ idone
iloop:
	VMOVUPS (SI), Y0
	VMOVUPS (DX), Y1
	VUNPCKLPS Y1, Y0, Y2       // e0 o0 e1 o1 e4 o4 e5 o5
	VUNPCKHPS Y1, Y0, Y3       // e2 o2 e3 o3 e6 o6 e7 o7
	VPERM2F128 $0x20, Y3, Y2, Y4
	VPERM2F128 $0x31, Y3, Y2, Y5
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $64, DI
	DECQ CX
	JNE iloop
idone:
	VZEROUPPER
	RET

// func deinterleave4(even, odd, src *float64, n int)
// DI=even, SI=odd, DX=src, CX=groups of four pairs left.
TEXT ·deinterleave4(SB), NOSPLIT, $0-32
	MOVQ even+0(FP), DI
	MOVQ odd+8(FP), SI
	MOVQ src+16(FP), DX
	MOVQ n+24(FP), CX
	TESTQ CX, CX
	JEQ ddone
dloop:
	PREFETCHT0 1024(DX)
	VMOVUPD (DX), Y0
	VMOVUPD 32(DX), Y1
	VUNPCKLPD Y1, Y0, Y2       // a0 b0 a2 b2
	VUNPCKHPD Y1, Y0, Y3       // a1 b1 a3 b3
	VPERMPD $0xd8, Y2, Y2      // pairs in order
	VPERMPD $0xd8, Y3, Y3
	VMOVUPD Y2, (DI)
	VMOVUPD Y3, (SI)
	ADDQ $64, DX
	ADDQ $32, DI
	ADDQ $32, SI
	DECQ CX
	JNE dloop
ddone:
	VZEROUPPER
	RET

// func interleave4(dst, even, odd *float64, n int)
// DI=dst, SI=even, DX=odd, CX=groups of four pairs left.
TEXT ·interleave4(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ even+8(FP), SI
	MOVQ odd+16(FP), DX
	MOVQ n+24(FP), CX
	TESTQ CX, CX
	JEQ fdone
floop:
	VMOVUPD (SI), Y0
	VMOVUPD (DX), Y1
	VUNPCKLPD Y1, Y0, Y2       // e0 o0 e2 o2
	VUNPCKHPD Y1, Y0, Y3       // e1 o1 e3 o3
	VPERM2F128 $0x20, Y3, Y2, Y4
	VPERM2F128 $0x31, Y3, Y2, Y5
	VMOVUPD Y4, (DI)
	VMOVUPD Y5, 32(DI)
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $64, DI
	DECQ CX
	JNE floop
fdone:
	VZEROUPPER
	RET

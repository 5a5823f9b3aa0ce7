// Written by hand: rows are turned round in vectors of bytes; products of complex numbers.

//go:build !purego

#include "textflag.h"

// func reverseRows(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, n int, mask *[16]uint8)
//
// DI, R8=dst and its stride, SI, R9=src and its stride, CX=rows, DX=n, Y15=mask.
// In a row AX is the place in dst, BX the end of what is left of src. The last
// vector of a row that has at least one ends at the row's end, whatever of it
// has been written before.
TEXT ·reverseRows(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ ldd+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ lds+24(FP), R9
	MOVQ rows+32(FP), CX
	MOVQ n+40(FP), DX
	MOVQ mask+48(FP), AX
	VBROADCASTI128 (AX), Y15
	CMPQ DX, $16
	JB   short
	CMPQ DX, $32
	JB   half

row:
	MOVQ DI, AX
	LEAQ (SI)(DX*1), BX
	MOVQ DX, R10
	SUBQ $128, R10
	JB   ones

fours:
	VMOVDQU -32(BX), Y0
	VMOVDQU -64(BX), Y1
	VMOVDQU -96(BX), Y2
	VMOVDQU -128(BX), Y3
	VPSHUFB Y15, Y0, Y0
	VPSHUFB Y15, Y1, Y1
	VPSHUFB Y15, Y2, Y2
	VPSHUFB Y15, Y3, Y3
	VPERMQ  $0x4e, Y0, Y0
	VPERMQ  $0x4e, Y1, Y1
	VPERMQ  $0x4e, Y2, Y2
	VPERMQ  $0x4e, Y3, Y3
	VMOVDQU Y0, (AX)
	VMOVDQU Y1, 32(AX)
	VMOVDQU Y2, 64(AX)
	VMOVDQU Y3, 96(AX)
	ADDQ $128, AX
	SUBQ $128, BX
	SUBQ $128, R10
	JAE  fours

ones:
	ADDQ $96, R10 // bytes left, less a vector
	JLT  last

one:
	VMOVDQU -32(BX), Y0
	VPSHUFB Y15, Y0, Y0
	VPERMQ  $0x4e, Y0, Y0
	VMOVDQU Y0, (AX)
	ADDQ $32, AX
	SUBQ $32, BX
	SUBQ $32, R10
	JGE  one

last:
	CMPQ R10, $-32
	JEQ  next
	VMOVDQU (SI), Y0
	VPSHUFB Y15, Y0, Y0
	VPERMQ  $0x4e, Y0, Y0
	VMOVDQU Y0, -32(DI)(DX*1)

next:
	ADDQ R8, DI
	ADDQ R9, SI
	DECQ CX
	JNE  row
	VZEROUPPER
	RET

// 16 to 31 bytes: two vectors of sixteen.
half:
	VMOVDQU -16(SI)(DX*1), X0
	VMOVDQU (SI), X1
	VPSHUFB X15, X0, X0
	VPSHUFB X15, X1, X1
	VMOVDQU X0, (DI)
	VMOVDQU X1, -16(DI)(DX*1)
	ADDQ R8, DI
	ADDQ R9, SI
	DECQ CX
	JNE  half
	VZEROUPPER
	RET

// 8 to 15 bytes: two vectors of eight, which the mask sends to the upper half.
short:
	VMOVQ -8(SI)(DX*1), X0
	VMOVQ (SI), X1
	VPSHUFB X15, X0, X0
	VPSHUFB X15, X1, X1
	VMOVHPS X0, (DI)
	VMOVHPS X1, -8(DI)(DX*1)
	ADDQ R8, DI
	ADDQ R9, SI
	DECQ CX
	JNE  short
	VZEROUPPER
	RET

// func mulC64(dst, a, b *complex64, n int)
// DI=dst, SI=a, DX=b, CX=groups left. (x + iy)(u + iv) is x(u, v) and, subtracted
// and added, y(v, u).
TEXT ·mulC64(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	XORQ AX, AX

c64:
	VMOVUPS (DX)(AX*1), Y1
	VMOVSLDUP (SI)(AX*1), Y2   // x x
	VMOVSHDUP (SI)(AX*1), Y3   // y y
	VPERMILPS $0xb1, Y1, Y4    // v u
	VMULPS Y1, Y2, Y2
	VMULPS Y4, Y3, Y3
	VADDSUBPS Y3, Y2, Y2
	VMOVUPS Y2, (DI)(AX*1)
	ADDQ $32, AX
	DECQ CX
	JNE  c64
	VZEROUPPER
	RET

// func mulC128(dst, a, b *complex128, n int)
// As mulC64.
TEXT ·mulC128(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	XORQ AX, AX

c128:
	VMOVUPD (SI)(AX*1), Y0
	VMOVUPD (DX)(AX*1), Y1
	VPERMILPD $0x0, Y0, Y2     // x x
	VPERMILPD $0xf, Y0, Y3     // y y
	VPERMILPD $0x5, Y1, Y4     // v u
	VMULPD Y1, Y2, Y2
	VMULPD Y4, Y3, Y3
	VADDSUBPD Y3, Y2, Y2
	VMOVUPD Y2, (DI)(AX*1)
	ADDQ $32, AX
	DECQ CX
	JNE  c128
	VZEROUPPER
	RET

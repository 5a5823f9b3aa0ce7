// Written by hand: blocks are transposed in registers.

//go:build !purego

#include "textflag.h"

// func transpose8(dst *float32, ldd int, src *float32, lds, blocks int)
//
// DI=dst, R9=ldd, SI=src, R8=lds (bytes), R10, R11 = 3 strides, CX=blocks,
// AX, DX = addresses of row 4. Y0-Y7 hold the rows, Y8-Y15 the steps between.
TEXT ·transpose8(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ ldd+8(FP), R9
	MOVQ src+16(FP), SI
	MOVQ lds+24(FP), R8
	MOVQ blocks+32(FP), CX
	SHLQ $2, R8
	SHLQ $2, R9
	LEAQ (R8)(R8*2), R10
	LEAQ (R9)(R9*2), R11

loop:
	LEAQ (SI)(R8*4), AX
	LEAQ (DI)(R9*4), DX
	VMOVUPS (SI), Y0
	VMOVUPS (SI)(R8*1), Y1
	VMOVUPS (SI)(R8*2), Y2
	VMOVUPS (SI)(R10*1), Y3
	VMOVUPS (AX), Y4
	VMOVUPS (AX)(R8*1), Y5
	VMOVUPS (AX)(R8*2), Y6
	VMOVUPS (AX)(R10*1), Y7

	// Interleave rows in pairs.
	VUNPCKLPS Y1, Y0, Y8
	VUNPCKHPS Y1, Y0, Y9
	VUNPCKLPS Y3, Y2, Y10
	VUNPCKHPS Y3, Y2, Y11
	VUNPCKLPS Y5, Y4, Y12
	VUNPCKHPS Y5, Y4, Y13
	VUNPCKLPS Y7, Y6, Y14
	VUNPCKHPS Y7, Y6, Y15

	// Pairs to quads: each 128-bit half of Yk is column k (or k+4) of four rows.
	VSHUFPS $0x44, Y10, Y8, Y0
	VSHUFPS $0xee, Y10, Y8, Y1
	VSHUFPS $0x44, Y11, Y9, Y2
	VSHUFPS $0xee, Y11, Y9, Y3
	VSHUFPS $0x44, Y14, Y12, Y4
	VSHUFPS $0xee, Y14, Y12, Y5
	VSHUFPS $0x44, Y15, Y13, Y6
	VSHUFPS $0xee, Y15, Y13, Y7

	// Join the halves of rows 0-3 and 4-7.
	VPERM2F128 $0x20, Y4, Y0, Y8
	VPERM2F128 $0x31, Y4, Y0, Y12
	VPERM2F128 $0x20, Y5, Y1, Y9
	VPERM2F128 $0x31, Y5, Y1, Y13
	VPERM2F128 $0x20, Y6, Y2, Y10
	VPERM2F128 $0x31, Y6, Y2, Y14
	VPERM2F128 $0x20, Y7, Y3, Y11
	VPERM2F128 $0x31, Y7, Y3, Y15
	VMOVUPS Y8, (DI)
	VMOVUPS Y9, (DI)(R9*1)
	VMOVUPS Y10, (DI)(R9*2)
	VMOVUPS Y11, (DI)(R11*1)
	VMOVUPS Y12, (DX)
	VMOVUPS Y13, (DX)(R9*1)
	VMOVUPS Y14, (DX)(R9*2)
	VMOVUPS Y15, (DX)(R11*1)

	LEAQ (SI)(R8*8), SI
	ADDQ $32, DI
	DECQ CX
	JNE  loop
	VZEROUPPER
	RET

// func transpose4(dst *uint64, ldd int, src *uint64, lds, blocks int)
//
// Registers as in transpose8: Y0-Y3 hold the rows, Y4-Y7 the steps between.
TEXT ·transpose4(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ ldd+8(FP), R9
	MOVQ src+16(FP), SI
	MOVQ lds+24(FP), R8
	MOVQ blocks+32(FP), CX
	SHLQ $3, R8
	SHLQ $3, R9
	LEAQ (R8)(R8*2), R10
	LEAQ (R9)(R9*2), R11

loop:
	VMOVUPD (SI), Y0
	VMOVUPD (SI)(R8*1), Y1
	VMOVUPD (SI)(R8*2), Y2
	VMOVUPD (SI)(R10*1), Y3

	// Interleave rows in pairs: each 128-bit half is a column of two rows.
	VUNPCKLPD Y1, Y0, Y4
	VUNPCKHPD Y1, Y0, Y5
	VUNPCKLPD Y3, Y2, Y6
	VUNPCKHPD Y3, Y2, Y7

	// Join the halves of rows 0-1 and 2-3.
	VPERM2F128 $0x20, Y6, Y4, Y0
	VPERM2F128 $0x20, Y7, Y5, Y1
	VPERM2F128 $0x31, Y6, Y4, Y2
	VPERM2F128 $0x31, Y7, Y5, Y3
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, (DI)(R9*1)
	VMOVUPD Y2, (DI)(R9*2)
	VMOVUPD Y3, (DI)(R11*1)

	LEAQ (SI)(R8*4), SI
	ADDQ $32, DI
	DECQ CX
	JNE  loop
	VZEROUPPER
	RET

// func transposeRow8(dst *uint64, ldd int, src *uint64, lds, blocks int)
//
// Registers as in transpose8: Z0-Z7 hold the rows, Z8-Z15 the steps between.
TEXT ·transposeRow8(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ ldd+8(FP), R9
	MOVQ src+16(FP), SI
	MOVQ lds+24(FP), R8
	MOVQ blocks+32(FP), CX
	SHLQ $3, R8
	SHLQ $3, R9
	LEAQ (R8)(R8*2), R10
	LEAQ (R9)(R9*2), R11

loop:
	LEAQ (SI)(R8*4), AX
	LEAQ (DI)(R9*4), DX
	VMOVUPD (SI), Z0
	VMOVUPD (SI)(R8*1), Z1
	VMOVUPD (SI)(R8*2), Z2
	VMOVUPD (SI)(R10*1), Z3
	VMOVUPD (AX), Z4
	VMOVUPD (AX)(R8*1), Z5
	VMOVUPD (AX)(R8*2), Z6
	VMOVUPD (AX)(R10*1), Z7

	// Interleave rows in pairs: 128-bit part k of the even and of the odd ones is column 2k and 2k+1 of two rows.
	VUNPCKLPD Z1, Z0, Z8
	VUNPCKHPD Z1, Z0, Z9
	VUNPCKLPD Z3, Z2, Z10
	VUNPCKHPD Z3, Z2, Z11
	VUNPCKLPD Z5, Z4, Z12
	VUNPCKHPD Z5, Z4, Z13
	VUNPCKLPD Z7, Z6, Z14
	VUNPCKHPD Z7, Z6, Z15

	// Pairs to quads: parts 0 and 2, and parts 1 and 3.
	VSHUFF64X2 $0x88, Z10, Z8, Z0
	VSHUFF64X2 $0xdd, Z10, Z8, Z1
	VSHUFF64X2 $0x88, Z14, Z12, Z2
	VSHUFF64X2 $0xdd, Z14, Z12, Z3
	VSHUFF64X2 $0x88, Z11, Z9, Z4
	VSHUFF64X2 $0xdd, Z11, Z9, Z5
	VSHUFF64X2 $0x88, Z15, Z13, Z6
	VSHUFF64X2 $0xdd, Z15, Z13, Z7

	// Quads to columns.
	VSHUFF64X2 $0x88, Z2, Z0, Z8
	VSHUFF64X2 $0xdd, Z2, Z0, Z12
	VSHUFF64X2 $0x88, Z3, Z1, Z10
	VSHUFF64X2 $0xdd, Z3, Z1, Z14
	VSHUFF64X2 $0x88, Z6, Z4, Z9
	VSHUFF64X2 $0xdd, Z6, Z4, Z13
	VSHUFF64X2 $0x88, Z7, Z5, Z11
	VSHUFF64X2 $0xdd, Z7, Z5, Z15
	VMOVUPD Z8, (DI)
	VMOVUPD Z9, (DI)(R9*1)
	VMOVUPD Z10, (DI)(R9*2)
	VMOVUPD Z11, (DI)(R11*1)
	VMOVUPD Z12, (DX)
	VMOVUPD Z13, (DX)(R9*1)
	VMOVUPD Z14, (DX)(R9*2)
	VMOVUPD Z15, (DX)(R11*1)

	ADDQ $64, SI
	LEAQ (DI)(R9*8), DI
	DECQ CX
	JNE  loop
	VZEROUPPER
	RET

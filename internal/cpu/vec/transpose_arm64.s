// Written by hand: 8x8 blocks are transposed in registers.

//go:build !purego

#include "textflag.h"

// TRANS4 transposes the 4x4 block of rows a, b, c, d into the rows w, x, y, z; V28-V31 are scratch: a0 b0 a2 b2, a1 b1 a3 b3 and the same
// of c and d.
#define TRANS4(a, b, c, d, w, x, y, z) \
	VTRN1 b.S4, a.S4, V28.S4 \
	VTRN2 b.S4, a.S4, V29.S4 \
	VTRN1 d.S4, c.S4, V30.S4 \
	VTRN2 d.S4, c.S4, V31.S4 \
	VTRN1 V30.D2, V28.D2, w.D2 \
	VTRN1 V31.D2, V29.D2, x.D2 \
	VTRN2 V30.D2, V28.D2, y.D2 \
	VTRN2 V31.D2, V29.D2, z.D2

// func transpose8(dst *float32, ldd int, src *float32, lds, blocks int)
//
// R0=dst, R1=ldd, R2=src, R3=lds (bytes), R4=blocks, R5=address of a row. V0-V15 hold the rows, two registers each, V16-V23 four
// columns.
TEXT ·transpose8(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD ldd+8(FP), R1
	MOVD src+16(FP), R2
	MOVD lds+24(FP), R3
	MOVD blocks+32(FP), R4
	LSL  $2, R1
	LSL  $2, R3

loop:
	FLDPQ (R2), (F0, F1)
	ADD R3, R2
	FLDPQ (R2), (F2, F3)
	ADD R3, R2
	FLDPQ (R2), (F4, F5)
	ADD R3, R2
	FLDPQ (R2), (F6, F7)
	ADD R3, R2
	FLDPQ (R2), (F8, F9)
	ADD R3, R2
	FLDPQ (R2), (F10, F11)
	ADD R3, R2
	FLDPQ (R2), (F12, F13)
	ADD R3, R2
	FLDPQ (R2), (F14, F15)
	ADD R3, R2
	MOVD R0, R5
	TRANS4(V0, V2, V4, V6, V16, V18, V20, V22)
	TRANS4(V8, V10, V12, V14, V17, V19, V21, V23)
	FSTPQ (F16, F17), (R5)
	ADD R1, R5
	FSTPQ (F18, F19), (R5)
	ADD R1, R5
	FSTPQ (F20, F21), (R5)
	ADD R1, R5
	FSTPQ (F22, F23), (R5)
	ADD R1, R5
	TRANS4(V1, V3, V5, V7, V16, V18, V20, V22)
	TRANS4(V9, V11, V13, V15, V17, V19, V21, V23)
	FSTPQ (F16, F17), (R5)
	ADD R1, R5
	FSTPQ (F18, F19), (R5)
	ADD R1, R5
	FSTPQ (F20, F21), (R5)
	ADD R1, R5
	FSTPQ (F22, F23), (R5)
	ADD $32, R0
	SUB $1, R4
	CBNZ R4, loop
	RET

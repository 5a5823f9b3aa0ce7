// Written by hand: sums of gathered rows, kept in registers.

//go:build !purego

#include "textflag.h"

// R0=dst, R1=table, R2=rows, R3=scale or 0, R4=rows left, R5=bytes from row to row, R6=address of a row. V0-V15 hold the sums, V31 the
// scale: a fused product with 1 is a sum.
TEXT ·gatherSum64NEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD table+8(FP), R1
	MOVD rows+16(FP), R2
	MOVD scale+24(FP), R3
	MOVD n+32(FP), R4
	MOVD stride+40(FP), R5
	FMOVS $1.0, F31
	VDUP V31.S[0], V31.S4
	FLDPQ 0(R0), (F0, F1)
	FLDPQ 32(R0), (F2, F3)
	FLDPQ 64(R0), (F4, F5)
	FLDPQ 96(R0), (F6, F7)
	FLDPQ 128(R0), (F8, F9)
	FLDPQ 160(R0), (F10, F11)
	FLDPQ 192(R0), (F12, F13)
	FLDPQ 224(R0), (F14, F15)

row:
	MOVD.P 8(R2), R6
	MUL R5, R6
	ADD R1, R6
	CBZ R3, add
	VLD1R.P 4(R3), [V31.S4]

add:
	FLDPQ 0(R6), (F16, F17)
	FLDPQ 32(R6), (F18, F19)
	FLDPQ 64(R6), (F20, F21)
	FLDPQ 96(R6), (F22, F23)
	VFMLA V31.S4, V16.S4, V0.S4
	VFMLA V31.S4, V17.S4, V1.S4
	VFMLA V31.S4, V18.S4, V2.S4
	VFMLA V31.S4, V19.S4, V3.S4
	VFMLA V31.S4, V20.S4, V4.S4
	VFMLA V31.S4, V21.S4, V5.S4
	VFMLA V31.S4, V22.S4, V6.S4
	VFMLA V31.S4, V23.S4, V7.S4
	FLDPQ 128(R6), (F16, F17)
	FLDPQ 160(R6), (F18, F19)
	FLDPQ 192(R6), (F20, F21)
	FLDPQ 224(R6), (F22, F23)
	VFMLA V31.S4, V16.S4, V8.S4
	VFMLA V31.S4, V17.S4, V9.S4
	VFMLA V31.S4, V18.S4, V10.S4
	VFMLA V31.S4, V19.S4, V11.S4
	VFMLA V31.S4, V20.S4, V12.S4
	VFMLA V31.S4, V21.S4, V13.S4
	VFMLA V31.S4, V22.S4, V14.S4
	VFMLA V31.S4, V23.S4, V15.S4
	SUB $1, R4
	CBNZ R4, row
	FSTPQ (F0, F1), 0(R0)
	FSTPQ (F2, F3), 32(R0)
	FSTPQ (F4, F5), 64(R0)
	FSTPQ (F6, F7), 96(R0)
	FSTPQ (F8, F9), 128(R0)
	FSTPQ (F10, F11), 160(R0)
	FSTPQ (F12, F13), 192(R0)
	FSTPQ (F14, F15), 224(R0)
	RET

// The same for 8 columns.
TEXT ·gatherSum8NEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD table+8(FP), R1
	MOVD rows+16(FP), R2
	MOVD scale+24(FP), R3
	MOVD n+32(FP), R4
	MOVD stride+40(FP), R5
	FMOVS $1.0, F31
	VDUP V31.S[0], V31.S4
	FLDPQ 0(R0), (F0, F1)

row:
	MOVD.P 8(R2), R6
	MUL R5, R6
	ADD R1, R6
	CBZ R3, add
	VLD1R.P 4(R3), [V31.S4]

add:
	FLDPQ 0(R6), (F16, F17)
	VFMLA V31.S4, V16.S4, V0.S4
	VFMLA V31.S4, V17.S4, V1.S4
	SUB $1, R4
	CBNZ R4, row
	FSTPQ (F0, F1), 0(R0)
	RET

// Written by hand: copies of many short rows.

//go:build !purego

#include "textflag.h"

// A row is copied by vectors, or by two pieces of half its size where it is shorter, the last of which ends with the row: what it shares
// with the one before is written twice.
//
// DI=row of dst, R8=bytes between them; SI=row of src, R9=bytes between them; CX=rows left, DX=bytes of a row, AX=offset. NEXT comes
// before a row, PAST after it.

#define ROWS(NEXT, PAST) \
	CMPQ DX, $32; \
	JLT by16; \
	LEAQ -32(DX), R10; \
row32: \
	NEXT; \
	XORL AX, AX; \
	CMPQ AX, R10; \
	JGE last32; \
next32: \
	VMOVDQU (SI)(AX*1), Y0; \
	VMOVDQU Y0, (DI)(AX*1); \
	ADDQ $32, AX; \
	CMPQ AX, R10; \
	JLT next32; \
last32: \
	VMOVDQU (SI)(R10*1), Y0; \
	VMOVDQU Y0, (DI)(R10*1); \
	PAST; \
	ADDQ R8, DI; \
	DECQ CX; \
	JNE row32; \
	VZEROUPPER; \
	RET; \
by16: \
	CMPQ DX, $16; \
	JLT by8; \
	LEAQ -16(DX), R10; \
row16: \
	NEXT; \
	MOVOU (SI), X0; \
	MOVOU (SI)(R10*1), X1; \
	MOVOU X0, (DI); \
	MOVOU X1, (DI)(R10*1); \
	PAST; \
	ADDQ R8, DI; \
	DECQ CX; \
	JNE row16; \
	RET; \
by8: \
	LEAQ -8(DX), R10; \
row8: \
	NEXT; \
	MOVQ (SI), AX; \
	MOVQ (SI)(R10*1), R11; \
	MOVQ AX, (DI); \
	MOVQ R11, (DI)(R10*1); \
	PAST; \
	ADDQ R8, DI; \
	DECQ CX; \
	JNE row8; \
	RET

#define NOTHING
#define STEP ADDQ R9, SI

// func moveRows(dst, src unsafe.Pointer, ldd, lds, rows, n int)
TEXT ·moveRows(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ ldd+16(FP), R8
	MOVQ lds+24(FP), R9
	MOVQ rows+32(FP), CX
	MOVQ n+40(FP), DX
	ROWS(NOTHING, STEP)

// The row of src that index R9 points to, of the table at BX.
#define NAMED MOVQ (R9), SI; ADDQ $8, R9; IMULQ DX, SI; ADDQ BX, SI

// func takeRows(dst, src unsafe.Pointer, index *int64, rows, n int)
TEXT ·takeRows(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), BX
	MOVQ index+16(FP), R9
	MOVQ rows+24(FP), CX
	MOVQ n+32(FP), DX
	MOVQ DX, R8
	ROWS(NAMED, NOTHING)

// A row of one element is written by vectors of it, or by two halves of a shorter one that overlap; a row of less than eight bytes by eight.
//
// DI=row of dst; SI=its element, R9=bytes between them; CX=rows left, DX=bytes of a row, R10=DX-32, R11=DX-16, R12=DX-8, AX=offset.
#define SPREAD(BROADCAST, ROW, NEXT, BY16, BY8, PAST) \
ROW: \
	BROADCAST (SI), Y0; \
	ADDQ R9, SI; \
	CMPQ DX, $32; \
	JLT BY16; \
	XORL AX, AX; \
NEXT: \
	VMOVDQU Y0, (DI)(AX*1); \
	ADDQ $32, AX; \
	CMPQ AX, R10; \
	JLT NEXT; \
	VMOVDQU Y0, (DI)(R10*1); \
	JMP PAST; \
BY16: \
	CMPQ DX, $16; \
	JLT BY8; \
	VMOVDQU X0, (DI); \
	VMOVDQU X0, (DI)(R11*1); \
	JMP PAST; \
BY8: \
	VMOVQ X0, (DI); \
	CMPQ DX, $8; \
	JLE PAST; \
	VMOVQ X0, (DI)(R12*1); \
PAST: \
	ADDQ DX, DI; \
	DECQ CX; \
	JNE ROW; \
	VZEROUPPER; \
	RET

// func spreadRows(dst, src unsafe.Pointer, lds, rows, n, size int)
TEXT ·spreadRows(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ lds+16(FP), R9
	MOVQ rows+24(FP), CX
	MOVQ n+32(FP), DX
	MOVQ size+40(FP), BX
	LEAQ -32(DX), R10
	LEAQ -16(DX), R11
	LEAQ -8(DX), R12
	CMPQ BX, $4
	JEQ four
	JGT eight
	CMPQ BX, $2
	JEQ two
	SPREAD(VPBROADCASTB, row1, next1, by16x1, by8x1, past1)
two:
	SPREAD(VPBROADCASTW, row2, next2, by16x2, by8x2, past2)
four:
	SPREAD(VPBROADCASTD, row4, next4, by16x4, by8x4, past4)
eight:
	SPREAD(VPBROADCASTQ, row8, next8, by16x8, by8x8, past8)

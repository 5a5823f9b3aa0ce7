// Written by hand: weighted sums of rows and of permuted lanes, kept in registers.

//go:build !purego

#include "textflag.h"

// The rows kernels set row i of dst to the sum of w[k]*src[index[k]] over k in [start[i], start[i+1]).
//
// DI=row of dst, SI=src less skip, R8=start, R9=index and R10=weights of this row, R11=rows left, R12=bytes from row to row,
// R13=taps of this row, CX=columns left, DX=offset of the column, AX=tap, BX=address of the tap's row.

#define ROWS_ARGS \
	MOVQ dst+0(FP), DI \
	MOVQ src+8(FP), SI \
	SUBQ skip+64(FP), SI \
	MOVQ start+16(FP), R8 \
	MOVQ index+24(FP), R9 \
	MOVQ w+32(FP), R10 \
	MOVQ rows+40(FP), R11 \
	MOVQ ld+56(FP), R12

#define ROW_BEGIN \
	MOVLQSX (R8), AX \
	MOVLQSX 4(R8), R13 \
	ADDQ $4, R8 \
	SUBQ AX, R13 \
	MOVQ cols+48(FP), CX \
	XORQ DX, DX

// TAP sets BX to the address of tap AX.
#define TAP \
	MOVLQSX (R9)(AX*4), BX \
	IMULQ R12, BX \
	ADDQ SI, BX \
	ADDQ DX, BX

// TAIL sets K1 to the columns that are left, n at most.
#define TAIL(all) \
	MOVL $all, AX \
	BZHIL CX, AX, AX \
	KMOVW AX, K1

// func tapRowsF32AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)
TEXT ·tapRowsF32AVX512(SB), NOSPLIT, $0-80
	ROWS_ARGS

row:
	ROW_BEGIN

wide:
	CMPQ CX, $64
	JLT narrow
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	XORQ AX, AX
	TESTQ R13, R13
	JZ widestore
	TAP
	VBROADCASTSS (R10), Z8
	VMULPS 0(BX), Z8, Z0
	VMULPS 64(BX), Z8, Z1
	VMULPS 128(BX), Z8, Z2
	VMULPS 192(BX), Z8, Z3
	JMP widenext

widetap:
	TAP
	VBROADCASTSS (R10)(AX*4), Z8
	VFMADD231PS 0(BX), Z8, Z0
	VFMADD231PS 64(BX), Z8, Z1
	VFMADD231PS 128(BX), Z8, Z2
	VFMADD231PS 192(BX), Z8, Z3

widenext:
	INCQ AX
	CMPQ AX, R13
	JLT widetap

widestore:
	VMOVUPS Z0, 0(DI)(DX*1)
	VMOVUPS Z1, 64(DI)(DX*1)
	VMOVUPS Z2, 128(DI)(DX*1)
	VMOVUPS Z3, 192(DI)(DX*1)
	ADDQ $256, DX
	SUBQ $64, CX
	JMP wide

narrow:
	TESTQ CX, CX
	JLE rowend
	TAIL(0xffff)
	VPXORD Z0, Z0, Z0
	XORQ AX, AX
	TESTQ R13, R13
	JZ narrowstore
	TAP
	VBROADCASTSS (R10), Z8
	VMOVUPS.Z (BX), K1, Z0
	VMULPS Z0, Z8, Z0
	JMP narrownext

narrowtap:
	TAP
	VBROADCASTSS (R10)(AX*4), Z8
	VMOVUPS.Z (BX), K1, Z1
	VFMADD231PS Z1, Z8, Z0

narrownext:
	INCQ AX
	CMPQ AX, R13
	JLT narrowtap

narrowstore:
	VMOVUPS Z0, K1, (DI)(DX*1)
	ADDQ $64, DX
	SUBQ $16, CX
	JMP narrow

rowend:
	LEAQ (R9)(R13*4), R9
	LEAQ (R10)(R13*4), R10
	ADDQ R12, DI
	DECQ R11
	JNZ row
	VZEROUPPER
	RET

// func tapRowsF64AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)
TEXT ·tapRowsF64AVX512(SB), NOSPLIT, $0-80
	ROWS_ARGS

row:
	ROW_BEGIN

wide:
	CMPQ CX, $32
	JLT narrow
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	XORQ AX, AX
	TESTQ R13, R13
	JZ widestore
	TAP
	VBROADCASTSD (R10), Z8
	VMULPD 0(BX), Z8, Z0
	VMULPD 64(BX), Z8, Z1
	VMULPD 128(BX), Z8, Z2
	VMULPD 192(BX), Z8, Z3
	JMP widenext

widetap:
	TAP
	VBROADCASTSD (R10)(AX*8), Z8
	VFMADD231PD 0(BX), Z8, Z0
	VFMADD231PD 64(BX), Z8, Z1
	VFMADD231PD 128(BX), Z8, Z2
	VFMADD231PD 192(BX), Z8, Z3

widenext:
	INCQ AX
	CMPQ AX, R13
	JLT widetap

widestore:
	VMOVUPD Z0, 0(DI)(DX*1)
	VMOVUPD Z1, 64(DI)(DX*1)
	VMOVUPD Z2, 128(DI)(DX*1)
	VMOVUPD Z3, 192(DI)(DX*1)
	ADDQ $256, DX
	SUBQ $32, CX
	JMP wide

narrow:
	TESTQ CX, CX
	JLE rowend
	TAIL(0xff)
	VPXORD Z0, Z0, Z0
	XORQ AX, AX
	TESTQ R13, R13
	JZ narrowstore
	TAP
	VBROADCASTSD (R10), Z8
	VMOVUPD.Z (BX), K1, Z0
	VMULPD Z0, Z8, Z0
	JMP narrownext

narrowtap:
	TAP
	VBROADCASTSD (R10)(AX*8), Z8
	VMOVUPD.Z (BX), K1, Z1
	VFMADD231PD Z1, Z8, Z0

narrownext:
	INCQ AX
	CMPQ AX, R13
	JLT narrowtap

narrowstore:
	VMOVUPD Z0, K1, (DI)(DX*1)
	ADDQ $64, DX
	SUBQ $8, CX
	JMP narrow

rowend:
	LEAQ (R9)(R13*4), R9
	LEAQ (R10)(R13*8), R10
	ADDQ R12, DI
	DECQ R11
	JNZ row
	VZEROUPPER
	RET

// The narrow kernels do rows of at most one or two vectors: K1 and K2 are the columns of these.

#define NARROW_ARGS(log) \
	ROWS_ARGS \
	MOVQ cols+48(FP), CX \
	MOVQ $-1, AX \
	BZHIQ CX, AX, AX \
	KMOVW AX, K1 \
	SHRQ $log, AX \
	KMOVW AX, K2 \
	XORQ DX, DX

#define NARROW_ROW \
	MOVLQSX (R8), AX \
	MOVLQSX 4(R8), R13 \
	ADDQ $4, R8 \
	SUBQ AX, R13

#define NARROW_END(wscale) \
	LEAQ (R9)(R13*4), R9 \
	LEAQ (R10)(R13*wscale), R10 \
	ADDQ R12, DI

// func tapRows1F32AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)
TEXT ·tapRows1F32AVX512(SB), NOSPLIT, $0-80
	NARROW_ARGS(16)

row:
	NARROW_ROW
	VPXORD Z0, Z0, Z0
	XORQ AX, AX
	TESTQ R13, R13
	JZ store
	TAP
	VBROADCASTSS (R10), Z8
	VMULPS.Z 0(BX), Z8, K1, Z0
	JMP next

tap:
	TAP
	VBROADCASTSS (R10)(AX*4), Z8
	VFMADD231PS 0(BX), Z8, K1, Z0

next:
	INCQ AX
	CMPQ AX, R13
	JLT tap

store:
	VMOVUPS Z0, K1, 0(DI)
	NARROW_END(4)
	DECQ R11
	JNZ row
	VZEROUPPER
	RET

// func tapRows2F32AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)
TEXT ·tapRows2F32AVX512(SB), NOSPLIT, $0-80
	NARROW_ARGS(16)

row:
	NARROW_ROW
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	XORQ AX, AX
	TESTQ R13, R13
	JZ store
	TAP
	VBROADCASTSS (R10), Z8
	VMULPS.Z 0(BX), Z8, K1, Z0
	VMULPS.Z 64(BX), Z8, K2, Z1
	JMP next

tap:
	TAP
	VBROADCASTSS (R10)(AX*4), Z8
	VFMADD231PS 0(BX), Z8, K1, Z0
	VFMADD231PS 64(BX), Z8, K2, Z1

next:
	INCQ AX
	CMPQ AX, R13
	JLT tap

store:
	VMOVUPS Z0, K1, 0(DI)
	VMOVUPS Z1, K2, 64(DI)
	NARROW_END(4)
	DECQ R11
	JNZ row
	VZEROUPPER
	RET

// func tapRows1F64AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)
TEXT ·tapRows1F64AVX512(SB), NOSPLIT, $0-80
	NARROW_ARGS(8)

row:
	NARROW_ROW
	VPXORD Z0, Z0, Z0
	XORQ AX, AX
	TESTQ R13, R13
	JZ store
	TAP
	VBROADCASTSD (R10), Z8
	VMULPD.Z 0(BX), Z8, K1, Z0
	JMP next

tap:
	TAP
	VBROADCASTSD (R10)(AX*8), Z8
	VFMADD231PD 0(BX), Z8, K1, Z0

next:
	INCQ AX
	CMPQ AX, R13
	JLT tap

store:
	VMOVUPD Z0, K1, 0(DI)
	NARROW_END(8)
	DECQ R11
	JNZ row
	VZEROUPPER
	RET

// func tapRows2F64AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)
TEXT ·tapRows2F64AVX512(SB), NOSPLIT, $0-80
	NARROW_ARGS(8)

row:
	NARROW_ROW
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	XORQ AX, AX
	TESTQ R13, R13
	JZ store
	TAP
	VBROADCASTSD (R10), Z8
	VMULPD.Z 0(BX), Z8, K1, Z0
	VMULPD.Z 64(BX), Z8, K2, Z1
	JMP next

tap:
	TAP
	VBROADCASTSD (R10)(AX*8), Z8
	VFMADD231PD 0(BX), Z8, K1, Z0
	VFMADD231PD 64(BX), Z8, K2, Z1

next:
	INCQ AX
	CMPQ AX, R13
	JLT tap

store:
	VMOVUPD Z0, K1, 0(DI)
	VMOVUPD Z1, K2, 64(DI)
	NARROW_END(8)
	DECQ R11
	JNZ row
	VZEROUPPER
	RET

// The sums of bytes are integers with bits fraction bits: Z9=one half, X10=bits, Z11=0. A byte in an int32 has a high half of 0, so that
// the sum of two 16-bit products is the one product wanted.

// CX is bits.
#define BYTE_BITS \
	VMOVQ CX, X10 \
	XORL AX, AX \
	BTSL CX, AX \
	SHRL $1, AX \
	VPBROADCASTD AX, Z9 \
	VPXORD Z11, Z11, Z11

// func tapRowsU8AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)
TEXT ·tapRowsU8AVX512(SB), NOSPLIT, $0-80
	MOVQ bits+72(FP), CX
	BYTE_BITS
	ROWS_ARGS

row:
	ROW_BEGIN

wide:
	CMPQ CX, $64
	JLT narrow
	VMOVDQA32 Z9, Z0
	VMOVDQA32 Z9, Z1
	VMOVDQA32 Z9, Z2
	VMOVDQA32 Z9, Z3
	XORQ AX, AX
	TESTQ R13, R13
	JZ widestore

widetap:
	TAP
	VPBROADCASTD (R10)(AX*4), Z8
	VPMOVZXBD 0(BX), Z4
	VPMOVZXBD 16(BX), Z5
	VPMOVZXBD 32(BX), Z6
	VPMOVZXBD 48(BX), Z7
	VPMADDWD Z4, Z8, Z4
	VPMADDWD Z5, Z8, Z5
	VPMADDWD Z6, Z8, Z6
	VPMADDWD Z7, Z8, Z7
	VPADDD Z4, Z0, Z0
	VPADDD Z5, Z1, Z1
	VPADDD Z6, Z2, Z2
	VPADDD Z7, Z3, Z3
	INCQ AX
	CMPQ AX, R13
	JLT widetap

widestore:
	VPSRAD X10, Z0, Z0
	VPSRAD X10, Z1, Z1
	VPSRAD X10, Z2, Z2
	VPSRAD X10, Z3, Z3
	VPMAXSD Z11, Z0, Z0
	VPMAXSD Z11, Z1, Z1
	VPMAXSD Z11, Z2, Z2
	VPMAXSD Z11, Z3, Z3
	VPMOVUSDB Z0, 0(DI)(DX*1)
	VPMOVUSDB Z1, 16(DI)(DX*1)
	VPMOVUSDB Z2, 32(DI)(DX*1)
	VPMOVUSDB Z3, 48(DI)(DX*1)
	ADDQ $64, DX
	SUBQ $64, CX
	JMP wide

narrow:
	TESTQ CX, CX
	JLE rowend
	TAIL(0xffff)
	VMOVDQA32 Z9, Z0
	XORQ AX, AX
	TESTQ R13, R13
	JZ narrowstore

narrowtap:
	TAP
	VPBROADCASTD (R10)(AX*4), Z8
	VPMOVZXBD.Z (BX), K1, Z4
	VPMADDWD Z4, Z8, Z4
	VPADDD Z4, Z0, Z0
	INCQ AX
	CMPQ AX, R13
	JLT narrowtap

narrowstore:
	VPSRAD X10, Z0, Z0
	VPMAXSD Z11, Z0, Z0
	VPMOVUSDB Z0, K1, (DI)(DX*1)
	ADDQ $16, DX
	SUBQ $16, CX
	JMP narrow

rowend:
	LEAQ (R9)(R13*4), R9
	LEAQ (R10)(R13*4), R10
	ADDQ R12, DI
	DECQ R11
	JNZ row
	VZEROUPPER
	RET

// The lanes kernels take a laneCall. Each of the blocks of a row is the sum of its entries; an entry permutes the window of two vectors
// at base and multiplies by its weights. Lanes that are not in the entry's mask get nothing.
//
// DI=dst, SI=src, R8 and R9=bytes from row to row in them, DX=blocks left, R10=first entry of the block, R11=bases, R12=masks,
// R13=permutations, BX=weights, CX=entries left, AX and R15=addresses. K1, K2=what may be read of a window, K4=what may be written.

// AX is the laneCall.
#define LANES_ARGS \
	MOVQ 0(AX), DI \
	MOVQ 8(AX), SI \
	MOVQ 16(AX), R8 \
	MOVQ 24(AX), R9 \
	MOVQ 32(AX), DX \
	MOVQ 40(AX), R10 \
	MOVQ 48(AX), R11 \
	MOVQ 56(AX), R12 \
	MOVQ 64(AX), R13 \
	MOVQ 72(AX), BX \
	KMOVD 80(AX), K1 \
	KMOVD 84(AX), K2 \
	KMOVD 88(AX), K5 \
	KXNORD K4, K4, K4

#define BLOCK_BEGIN \
	MOVL 4(R10), CX \
	SUBL (R10), CX \
	ADDQ $4, R10

// LAST makes K4 the mask of the last block when that comes.
#define LAST \
	CMPQ DX, $1 \
	JNE 2(PC) \
	KMOVD K5, K4

// ENTRY goes on to the next entry.
#define ENTRY \
	ADDQ $4, R11 \
	ADDQ $4, R12 \
	ADDQ $64, R13 \
	ADDQ $64, BX \
	DECL CX

#define F32_ROW(at, half, t, u, sum) \
	VMOVUPS.Z at, K1, t \
	VMOVUPS.Z half, K2, u \
	VPERMT2PS.Z u, Z8, K3, t \
	VFMADD231PS t, Z9, sum

#define F64_ROW(at, half, t, u, sum) \
	VMOVUPD.Z at, K1, t \
	VMOVUPD.Z half, K2, u \
	VPERMT2PD.Z u, Z8, K3, t \
	VFMADD231PD t, Z9, sum

// func tapLanesF32AVX512(c *laneCall)
TEXT ·tapLanesF32AVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	LANES_ARGS

block:
	VPXORD Z0, Z0, Z0
	BLOCK_BEGIN
	TESTL CX, CX
	JZ store

entry:
	MOVLQSX (R11), AX
	LEAQ (SI)(AX*4), AX
	KMOVW (R12), K3
	VMOVDQU32 (R13), Z8
	VMOVUPS (BX), Z9
	F32_ROW((AX), 64(AX), Z16, Z17, Z0)
	ENTRY
	JNZ entry

store:
	LAST
	VMOVUPS Z0, K4, (DI)
	ADDQ $64, DI
	DECQ DX
	JNZ block
	VZEROUPPER
	RET

// Four rows at a time: they share the permutations and weights.
// func tapLanes4F32AVX512(c *laneCall)
TEXT ·tapLanes4F32AVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	LANES_ARGS

block:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	BLOCK_BEGIN
	TESTL CX, CX
	JZ store

entry:
	MOVLQSX (R11), AX
	LEAQ (SI)(AX*4), AX
	LEAQ (AX)(R9*2), R15
	KMOVW (R12), K3
	VMOVDQU32 (R13), Z8
	VMOVUPS (BX), Z9
	F32_ROW((AX), 64(AX), Z16, Z17, Z0)
	F32_ROW((AX)(R9*1), 64(AX)(R9*1), Z18, Z19, Z1)
	F32_ROW((R15), 64(R15), Z20, Z21, Z2)
	F32_ROW((R15)(R9*1), 64(R15)(R9*1), Z22, Z23, Z3)
	ENTRY
	JNZ entry

store:
	LAST
	LEAQ (DI)(R8*2), R15
	VMOVUPS Z0, K4, (DI)
	VMOVUPS Z1, K4, (DI)(R8*1)
	VMOVUPS Z2, K4, (R15)
	VMOVUPS Z3, K4, (R15)(R8*1)
	ADDQ $64, DI
	DECQ DX
	JNZ block
	VZEROUPPER
	RET

// func tapLanesF64AVX512(c *laneCall)
TEXT ·tapLanesF64AVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	LANES_ARGS

block:
	VPXORD Z0, Z0, Z0
	BLOCK_BEGIN
	TESTL CX, CX
	JZ store

entry:
	MOVLQSX (R11), AX
	LEAQ (SI)(AX*8), AX
	KMOVW (R12), K3
	VMOVDQU64 (R13), Z8
	VMOVUPD (BX), Z9
	F64_ROW((AX), 64(AX), Z16, Z17, Z0)
	ENTRY
	JNZ entry

store:
	LAST
	VMOVUPD Z0, K4, (DI)
	ADDQ $64, DI
	DECQ DX
	JNZ block
	VZEROUPPER
	RET

// func tapLanes4F64AVX512(c *laneCall)
TEXT ·tapLanes4F64AVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	LANES_ARGS

block:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	BLOCK_BEGIN
	TESTL CX, CX
	JZ store

entry:
	MOVLQSX (R11), AX
	LEAQ (SI)(AX*8), AX
	LEAQ (AX)(R9*2), R15
	KMOVW (R12), K3
	VMOVDQU64 (R13), Z8
	VMOVUPD (BX), Z9
	F64_ROW((AX), 64(AX), Z16, Z17, Z0)
	F64_ROW((AX)(R9*1), 64(AX)(R9*1), Z18, Z19, Z1)
	F64_ROW((R15), 64(R15), Z20, Z21, Z2)
	F64_ROW((R15)(R9*1), 64(R15)(R9*1), Z22, Z23, Z3)
	ENTRY
	JNZ entry

store:
	LAST
	LEAQ (DI)(R8*2), R15
	VMOVUPD Z0, K4, (DI)
	VMOVUPD Z1, K4, (DI)(R8*1)
	VMOVUPD Z2, K4, (R15)
	VMOVUPD Z3, K4, (R15)(R8*1)
	ADDQ $64, DI
	DECQ DX
	JNZ block
	VZEROUPPER
	RET

// Bytes are permuted as words, two taps of an output side by side.
#define U8_ROW(at, half, t, u, sum) \
	VPMOVZXBW.Z at, K1, t \
	VPMOVZXBW.Z half, K2, u \
	VPERMT2W.Z u, Z8, K3, t \
	VPMADDWD t, Z7, t \
	VPADDD t, sum, sum

#define U8_OUT(sum, at) \
	VPSRAD X10, sum, sum \
	VPMAXSD Z11, sum, sum \
	VPMOVUSDB sum, K4, at

// func tapLanesU8AVX512(c *laneCall)
TEXT ·tapLanesU8AVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	MOVQ 96(AX), CX
	BYTE_BITS
	MOVQ c+0(FP), AX
	LANES_ARGS

block:
	VMOVDQA32 Z9, Z0
	BLOCK_BEGIN
	TESTL CX, CX
	JZ store

entry:
	MOVLQSX (R11), AX
	ADDQ SI, AX
	KMOVD (R12), K3
	VMOVDQU16 (R13), Z8
	VMOVDQU16 (BX), Z7
	U8_ROW((AX), 32(AX), Z16, Z17, Z0)
	ENTRY
	JNZ entry

store:
	LAST
	U8_OUT(Z0, (DI))
	ADDQ $16, DI
	DECQ DX
	JNZ block
	VZEROUPPER
	RET

// func tapLanes4U8AVX512(c *laneCall)
TEXT ·tapLanes4U8AVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	MOVQ 96(AX), CX
	BYTE_BITS
	MOVQ c+0(FP), AX
	LANES_ARGS

block:
	VMOVDQA32 Z9, Z0
	VMOVDQA32 Z9, Z1
	VMOVDQA32 Z9, Z2
	VMOVDQA32 Z9, Z3
	BLOCK_BEGIN
	TESTL CX, CX
	JZ store

entry:
	MOVLQSX (R11), AX
	ADDQ SI, AX
	LEAQ (AX)(R9*2), R15
	KMOVD (R12), K3
	VMOVDQU16 (R13), Z8
	VMOVDQU16 (BX), Z7
	U8_ROW((AX), 32(AX), Z16, Z17, Z0)
	U8_ROW((AX)(R9*1), 32(AX)(R9*1), Z18, Z19, Z1)
	U8_ROW((R15), 32(R15), Z20, Z21, Z2)
	U8_ROW((R15)(R9*1), 32(R15)(R9*1), Z22, Z23, Z3)
	ENTRY
	JNZ entry

store:
	LAST
	LEAQ (DI)(R8*2), R15
	U8_OUT(Z0, (DI))
	U8_OUT(Z1, (DI)(R8*1))
	U8_OUT(Z2, (R15))
	U8_OUT(Z3, (R15)(R8*1))
	ADDQ $16, DI
	DECQ DX
	JNZ block
	VZEROUPPER
	RET

// The pick kernels only permute: there are no weights, and each lane belongs to one entry of its block.

#define PICK_BLOCK \
	BLOCK_BEGIN \
	VPXORD Z0, Z0, Z0

// Bytes are permuted as words.
// func pickLanes1AVX512(c *laneCall)
TEXT ·pickLanes1AVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	LANES_ARGS

block:
	PICK_BLOCK

entry:
	MOVLQSX (R11), AX
	ADDQ SI, AX
	KMOVD (R12), K3
	VMOVDQU16 (R13), Z8
	VPMOVZXBW.Z (AX), K1, Z4
	VPMOVZXBW.Z 32(AX), K2, Z5
	VPERMT2W.Z Z5, Z8, K3, Z4
	VPORD Z4, Z0, Z0
	ENTRY
	JNZ entry
	LAST
	VPMOVWB Z0, K4, (DI)
	ADDQ $32, DI
	DECQ DX
	JNZ block
	VZEROUPPER
	RET

// func pickLanes2AVX512(c *laneCall)
TEXT ·pickLanes2AVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	LANES_ARGS

block:
	PICK_BLOCK

entry:
	MOVLQSX (R11), AX
	LEAQ (SI)(AX*2), AX
	KMOVD (R12), K3
	VMOVDQU16 (R13), Z8
	VMOVDQU16.Z (AX), K1, Z4
	VMOVDQU16.Z 64(AX), K2, Z5
	VPERMT2W.Z Z5, Z8, K3, Z4
	VPORD Z4, Z0, Z0
	ENTRY
	JNZ entry
	LAST
	VMOVDQU16 Z0, K4, (DI)
	ADDQ $64, DI
	DECQ DX
	JNZ block
	VZEROUPPER
	RET

// func pickLanes4AVX512(c *laneCall)
TEXT ·pickLanes4AVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	LANES_ARGS

block:
	PICK_BLOCK

entry:
	MOVLQSX (R11), AX
	LEAQ (SI)(AX*4), AX
	KMOVW (R12), K3
	VMOVDQU32 (R13), Z8
	VMOVDQU32.Z (AX), K1, Z4
	VMOVDQU32.Z 64(AX), K2, Z5
	VPERMT2D.Z Z5, Z8, K3, Z4
	VPORD Z4, Z0, Z0
	ENTRY
	JNZ entry
	LAST
	VMOVDQU32 Z0, K4, (DI)
	ADDQ $64, DI
	DECQ DX
	JNZ block
	VZEROUPPER
	RET

// func pickLanes8AVX512(c *laneCall)
TEXT ·pickLanes8AVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	LANES_ARGS

block:
	PICK_BLOCK

entry:
	MOVLQSX (R11), AX
	LEAQ (SI)(AX*8), AX
	KMOVW (R12), K3
	VMOVDQU64 (R13), Z8
	VMOVDQU64.Z (AX), K1, Z4
	VMOVDQU64.Z 64(AX), K2, Z5
	VPERMT2Q.Z Z5, Z8, K3, Z4
	VPORD Z4, Z0, Z0
	ENTRY
	JNZ entry
	LAST
	VMOVDQU64 Z0, K4, (DI)
	ADDQ $64, DI
	DECQ DX
	JNZ block
	VZEROUPPER
	RET

// Copies of n rows of size bytes each, row i from row index[i] of src.
// DI=dst, SI=src, R8=index, R9=rows left, DX=bytes of a row, CX=bytes left, AX=address in src, K1=the last bytes of a row.
// func pickRowsAVX512(dst, src unsafe.Pointer, index *int32, n, size int)
TEXT ·pickRowsAVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ index+16(FP), R8
	MOVQ n+24(FP), R9
	MOVQ size+32(FP), DX
	MOVQ DX, CX
	DECQ CX
	ANDQ $63, CX
	INCQ CX
	MOVQ $-1, AX
	BZHIQ CX, AX, AX
	KMOVQ AX, K1

row:
	MOVLQSX (R8), AX
	ADDQ $4, R8
	IMULQ DX, AX
	ADDQ SI, AX
	MOVQ DX, CX

wide:
	CMPQ CX, $64
	JLE last
	VMOVDQU64 (AX), Z0
	VMOVDQU64 Z0, (DI)
	ADDQ $64, AX
	ADDQ $64, DI
	SUBQ $64, CX
	JMP wide

last:
	VMOVDQU8.Z (AX), K1, Z0
	VMOVDQU8 Z0, K1, (DI)
	ADDQ CX, DI
	DECQ R9
	JNZ row
	VZEROUPPER
	RET

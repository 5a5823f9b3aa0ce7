//go:build !purego

#include "textflag.h"

// Sums of integers into four lanes of 64 bits in each of Y0-Y3. SI is the next element, BX how many are left, a multiple of what one
// turn of the loop takes.

// FOLD adds up the lanes and returns the sum.
#define FOLD \
	VPADDQ Y1, Y0, Y0 \
	VPADDQ Y3, Y2, Y2 \
	VPADDQ Y2, Y0, Y0 \
	VEXTRACTI128 $1, Y0, X1 \
	VPADDQ X1, X0, X0 \
	VPSRLDQ $8, X0, X1 \
	VPADDQ X1, X0, X0 \
	VMOVQ X0, ret+16(FP) \
	VZEROUPPER \
	RET

#define START \
	MOVQ a+0(FP), SI \
	MOVQ n+8(FP), BX \
	VPXOR X0, X0, X0 \
	VPXOR X1, X1, X1 \
	VPXOR X2, X2, X2 \
	VPXOR X3, X3, X3

// func sumI64AVX2(a unsafe.Pointer, n int) int64
TEXT ·sumI64AVX2(SB), NOSPLIT, $0-24
	START
loop:
	VPADDQ (SI), Y0, Y0
	VPADDQ 32(SI), Y1, Y1
	VPADDQ 64(SI), Y2, Y2
	VPADDQ 96(SI), Y3, Y3
	ADDQ $128, SI
	SUBQ $16, BX
	JNE loop
	FOLD

// func sumI32AVX2(a unsafe.Pointer, n int) int64
TEXT ·sumI32AVX2(SB), NOSPLIT, $0-24
	START
loop:
	VPMOVSXDQ (SI), Y4
	VPMOVSXDQ 16(SI), Y5
	VPMOVSXDQ 32(SI), Y6
	VPMOVSXDQ 48(SI), Y7
	VPADDQ Y4, Y0, Y0
	VPADDQ Y5, Y1, Y1
	VPADDQ Y6, Y2, Y2
	VPADDQ Y7, Y3, Y3
	ADDQ $64, SI
	SUBQ $16, BX
	JNE loop
	FOLD

// func sumI16AVX2(a unsafe.Pointer, n int) int64
// Products with 1 add up neighbours; their sums stay within 32 bits for n up to 16384.
TEXT ·sumI16AVX2(SB), NOSPLIT, $0-24
	START
	VPCMPEQD Y8, Y8, Y8
	VPSRLW $15, Y8, Y8
loop:
	VPMADDWD (SI), Y8, Y4
	VPADDD Y4, Y0, Y0
	ADDQ $32, SI
	SUBQ $16, BX
	JNE loop
	VEXTRACTI128 $1, Y0, X1
	VPMOVSXDQ X0, Y0
	VPMOVSXDQ X1, Y1
	FOLD

// func sumU8AVX2(a unsafe.Pointer, n int, flip uint8) int64
// The differences to 0 of eight bytes are added up by one instruction. flip is XORed to the bytes first: 0x80 makes signed bytes
// unsigned, larger by 128 each.
TEXT ·sumU8AVX2(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ n+8(FP), BX
	VPBROADCASTB flip+16(FP), Y8
	VPXOR X0, X0, X0
	VPXOR X1, X1, X1
	VPXOR X9, X9, X9
loop:
	VPXOR (SI), Y8, Y4
	VPXOR 32(SI), Y8, Y5
	VPSADBW Y9, Y4, Y4
	VPSADBW Y9, Y5, Y5
	VPADDQ Y4, Y0, Y0
	VPADDQ Y5, Y1, Y1
	ADDQ $64, SI
	SUBQ $64, BX
	JNE loop
	VPADDQ Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ X1, X0, X0
	VPSRLDQ $8, X0, X1
	VPADDQ X1, X0, X0
	VMOVQ X0, ret+24(FP)
	VZEROUPPER
	RET

// func countU8AVX2(a unsafe.Pointer, n int) int
// Bytes that are 0 compare as 255: added to 1 for each byte that leaves 1 for the others.
TEXT ·countU8AVX2(SB), NOSPLIT, $0-24
	MOVQ a+0(FP), SI
	MOVQ n+8(FP), BX
	MOVQ $0x0101010101010101, AX
	VMOVQ AX, X8
	VPBROADCASTQ X8, Y8
	VPXOR X0, X0, X0
	VPXOR X9, X9, X9
loop:
	VPCMPEQB (SI), Y9, Y4
	VPCMPEQB 32(SI), Y9, Y5
	VPADDB Y8, Y4, Y4
	VPADDB Y8, Y5, Y5
	VPADDB Y5, Y4, Y4
	VPSADBW Y9, Y4, Y4
	VPADDQ Y4, Y0, Y0
	ADDQ $64, SI
	SUBQ $64, BX
	JNE loop
	VEXTRACTI128 $1, Y0, X1
	VPADDQ X1, X0, X0
	VPSRLDQ $8, X0, X1
	VPADDQ X1, X0, X0
	VMOVQ X0, ret+16(FP)
	VZEROUPPER
	RET

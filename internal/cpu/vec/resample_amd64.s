// Written by hand: weighted sums of bytes in 32 bits.

//go:build !purego

#include "textflag.h"

// Which bytes become the numbers of two pixels of 3 and of 4 bands.
DATA resampleBands3<>+0(SB)/8, $0x8080800180808000
DATA resampleBands3<>+8(SB)/8, $0x8080808080808002
DATA resampleBands3<>+16(SB)/8, $0x8080800480808003
DATA resampleBands3<>+24(SB)/8, $0x8080808080808005
GLOBL resampleBands3<>(SB), RODATA|NOPTR, $32
DATA resampleBands4<>+0(SB)/8, $0x8080800180808000
DATA resampleBands4<>+8(SB)/8, $0x8080800380808002
DATA resampleBands4<>+16(SB)/8, $0x8080800580808004
DATA resampleBands4<>+24(SB)/8, $0x8080800780808006
GLOBL resampleBands4<>(SB), RODATA|NOPTR, $32
DATA resampleHalf<>+0(SB)/8, $0x0020000000200000
DATA resampleHalf<>+8(SB)/8, $0x0020000000200000
DATA resampleHalf<>+16(SB)/8, $0x0020000000200000
DATA resampleHalf<>+24(SB)/8, $0x0020000000200000
GLOBL resampleHalf<>(SB), RODATA|NOPTR, $32

// func resampleRows(dst, src *uint8, stride int, weights *int32, taps, n int)
// DI=dst, SI=src, R8=stride, DX=weights, R9=taps, CX=elements left; Y0-Y3 hold the sums of 32 elements.
TEXT ·resampleRows(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ stride+16(FP), R8
	MOVQ weights+24(FP), DX
	MOVQ taps+32(FP), R9
	MOVQ n+40(FP), CX
	VMOVDQU resampleHalf<>(SB), Y15
block:
	VMOVDQA Y15, Y0
	VMOVDQA Y15, Y1
	VMOVDQA Y15, Y2
	VMOVDQA Y15, Y3
	MOVQ SI, AX
	MOVQ DX, R10
	MOVQ R9, R11
tap:
	VPBROADCASTD (R10), Y4
	VPMOVZXBD (AX), Y5
	VPMOVZXBD 8(AX), Y6
	VPMOVZXBD 16(AX), Y7
	VPMOVZXBD 24(AX), Y8
	VPMULLD Y4, Y5, Y5
	VPMULLD Y4, Y6, Y6
	VPMULLD Y4, Y7, Y7
	VPMULLD Y4, Y8, Y8
	VPADDD Y5, Y0, Y0
	VPADDD Y6, Y1, Y1
	VPADDD Y7, Y2, Y2
	VPADDD Y8, Y3, Y3
	ADDQ R8, AX
	ADDQ $4, R10
	DECQ R11
	JNE tap
	VPSRAD $22, Y0, Y0
	VPSRAD $22, Y1, Y1
	VPSRAD $22, Y2, Y2
	VPSRAD $22, Y3, Y3
	VPACKSSDW Y1, Y0, Y0     // 0-3, 8-11, 4-7, 12-15
	VPACKSSDW Y3, Y2, Y2
	VPERMQ $0xd8, Y0, Y0
	VPERMQ $0xd8, Y2, Y2
	VPACKUSWB Y2, Y0, Y0     // 0-7, 16-23, 8-15, 24-31
	VPERMQ $0xd8, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $32, CX
	JNE block
	VZEROUPPER
	RET

// func resampleAcross(dst, src *uint8, bands int, first, wide *int32, pairs, n int)
// DI=dst, SI=src, R8=bands, DX=first, BX=wide, R9=pairs, CX=pixels left. Both halves of Y0 hold a pixel's sums.
TEXT ·resampleAcross(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ bands+16(FP), R8
	MOVQ first+24(FP), DX
	MOVQ wide+32(FP), BX
	MOVQ pairs+40(FP), R9
	MOVQ n+48(FP), CX
	VMOVDQU resampleHalf<>(SB), X15
	VMOVDQU resampleBands3<>(SB), Y14
	CMPQ R8, $3
	JEQ pixel
	VMOVDQU resampleBands4<>(SB), Y14
pixel:
	MOVLQSX (DX), AX
	IMULQ R8, AX
	ADDQ SI, AX
	MOVQ R9, R11
	VMOVDQA Y15, Y0          // half in the lower half
pair:
	VPBROADCASTQ (AX), Y1
	VPSHUFB Y14, Y1, Y1
	VPMULLD (BX), Y1, Y1
	VPADDD Y1, Y0, Y0
	LEAQ (AX)(R8*2), AX
	ADDQ $32, BX
	DECQ R11
	JNE pair
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPSRAD $22, X0, X0
	VPACKSSDW X0, X0, X0
	VPACKUSWB X0, X0, X0
	VMOVD X0, (DI)
	ADDQ $4, DX
	ADDQ R8, DI
	DECQ CX
	JNE pixel
	VZEROUPPER
	RET

//go:build !purego

#include "textflag.h"

// func deinterleave8(even, odd, src *float32, n int)
// R0=even, R1=odd, R2=src, R3=groups of eight pairs left.
TEXT ·deinterleave8(SB), NOSPLIT, $0-32
	MOVD even+0(FP), R0
	MOVD odd+8(FP), R1
	MOVD src+16(FP), R2
	MOVD n+24(FP), R3
	CBZ  R3, done

loop:
	VLD2.P 32(R2), [V0.S4, V1.S4] // every second element goes to the same register
	VLD2.P 32(R2), [V2.S4, V3.S4]
	FMOVQ F0, (R0)
	FMOVQ F2, 16(R0)
	FMOVQ F1, (R1)
	FMOVQ F3, 16(R1)
	ADD $32, R0
	ADD $32, R1
	SUB $1, R3
	CBNZ R3, loop

done:
	RET

// func interleave8(dst, even, odd *float32, n int)
// R0=dst, R1=even, R2=odd, R3=groups of eight pairs left.
TEXT ·interleave8(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD even+8(FP), R1
	MOVD odd+16(FP), R2
	MOVD n+24(FP), R3
	CBZ  R3, idone

iloop:
	FMOVQ (R1), F0
	FMOVQ (R2), F1
	FMOVQ 16(R1), F2
	FMOVQ 16(R2), F3
	VST2.P [V0.S4, V1.S4], 32(R0)
	VST2.P [V2.S4, V3.S4], 32(R0)
	ADD $32, R1
	ADD $32, R2
	SUB $1, R3
	CBNZ R3, iloop

idone:
	RET

// func deinterleave4(even, odd, src *float64, n int)
// R0=even, R1=odd, R2=src, R3=groups of four pairs left.
TEXT ·deinterleave4(SB), NOSPLIT, $0-32
	MOVD even+0(FP), R0
	MOVD odd+8(FP), R1
	MOVD src+16(FP), R2
	MOVD n+24(FP), R3
	CBZ  R3, ddone

dloop:
	VLD2.P 32(R2), [V0.D2, V1.D2]
	VLD2.P 32(R2), [V2.D2, V3.D2]
	FMOVQ F0, (R0)
	FMOVQ F2, 16(R0)
	FMOVQ F1, (R1)
	FMOVQ F3, 16(R1)
	ADD $32, R0
	ADD $32, R1
	SUB $1, R3
	CBNZ R3, dloop

ddone:
	RET

// func interleave4(dst, even, odd *float64, n int)
// R0=dst, R1=even, R2=odd, R3=groups of four pairs left.
TEXT ·interleave4(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD even+8(FP), R1
	MOVD odd+16(FP), R2
	MOVD n+24(FP), R3
	CBZ  R3, fdone

floop:
	FMOVQ (R1), F0
	FMOVQ (R2), F1
	FMOVQ 16(R1), F2
	FMOVQ 16(R2), F3
	VST2.P [V0.D2, V1.D2], 32(R0)
	VST2.P [V2.D2, V3.D2], 32(R0)
	ADD $32, R1
	ADD $32, R2
	SUB $1, R3
	CBNZ R3, floop

fdone:
	RET

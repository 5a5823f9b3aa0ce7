// Written by hand: stores that go around the caches.

//go:build !purego

#include "textflag.h"

// func zeroStream(p unsafe.Pointer, lines int)
// DI=address, BX=lines left of 64 bytes, X0=0. Only SSE2, which every path has.
TEXT ·zeroStream(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), DI
	MOVQ lines+8(FP), BX
	PXOR X0, X0
loop:
	MOVNTO X0, (DI)
	MOVNTO X0, 16(DI)
	MOVNTO X0, 32(DI)
	MOVNTO X0, 48(DI)
	ADDQ $64, DI
	DECQ BX
	JNE loop
	RET

// func copyStream(dst, src unsafe.Pointer, lines int)
// DI=destination, on a line; SI=source, BX=lines left of 64 bytes, X0..X3=a line. Only SSE2.
TEXT ·copyStream(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ lines+16(FP), BX
loop:
	MOVOU (SI), X0
	MOVOU 16(SI), X1
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	MOVNTO X0, (DI)
	MOVNTO X1, 16(DI)
	MOVNTO X2, 32(DI)
	MOVNTO X3, 48(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ BX
	JNE loop
	RET

// func zeroFence()
TEXT ·zeroFence(SB), NOSPLIT, $0-0
	SFENCE
	RET

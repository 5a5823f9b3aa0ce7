//go:build !purego

#include "textflag.h"

// func ahead(p unsafe.Pointer, lines int)
TEXT ·ahead(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ lines+8(FP), BX
loop:
	PREFETCHT0 (SI)
	ADDQ $64, SI
	DECQ BX
	JNE loop
	RET

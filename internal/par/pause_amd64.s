//go:build !purego

#include "textflag.h"

// func pause()
// A few PAUSEs: they tell the core that this is a spin loop, which saves power
// and leaves the sibling hyper-thread its execution slots.
TEXT ·pause(SB), NOSPLIT, $0-0
	PAUSE
	PAUSE
	PAUSE
	PAUSE
	RET

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// BeyondCaches is the size in bytes, of all operands together, from which on a result is no longer in the
// caches when it is used next.
var BeyondCaches = min(cpu.L3, 32<<20)

// NonTemporalFrom is the size in bytes of a destination from which on elementwise kernels use non-temporal
// stores, if the destination begins on a cache line. Non-temporal stores bypass the caches and need not fetch
// the line that they overwrite. A caller that passes so large a piece of an array thereby says that the whole
// array is larger than the caches, so that nobody finds the result there. Kernels with a form for parts of
// arrays are told explicitly.
const NonTemporalFrom = 640 << 10

// nonTemporalBit, added to the number of elements, asks a kernel for non-temporal stores.
const nonTemporalBit = 1 << 62

// nonTemporalFlag is what is added to the number of elements of a call that writes dst: nonTemporalBit or 0.
func nonTemporalFlag[E any](dst []E) int {
	var e E
	return nonTemporalFlagIf(dst, len(dst)*int(unsafe.Sizeof(e)) >= NonTemporalFrom)
}

// nonTemporalFlagIf is nonTemporalFlag for a dst of any size: far says that the caches do not hold the
// arrays.
func nonTemporalFlagIf[E any](dst []E, far bool) int {
	if !far || uintptr(unsafe.Pointer(unsafe.SliceData(dst)))&63 != 0 {
		return 0
	}
	return nonTemporalBit
}

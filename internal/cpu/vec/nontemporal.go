package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// BeyondCaches is the size in bytes of all operands together from which a result is not found in the caches when somebody wants it.
var BeyondCaches = min(cpu.L3, 32<<20)

// NonTemporalFrom is the size in bytes of a destination from which elementwise kernels store around the caches, if it lies on whole lines: the
// caller says so that the arrays of which it is a part are larger than the caches, so that nobody finds the result there, and a store need
// not fetch the line that it overwrites. Kernels with a form for parts of arrays are told so.
const NonTemporalFrom = 640 << 10

// nonTemporalBit asks a kernel for such stores.
const nonTemporalBit = 1 << 62

// around is what is added to the number of elements of a call that writes dst.
func nonTemporalFlag[E any](dst []E) int {
	var e E
	return nonTemporalFlagIf(dst, len(dst)*int(unsafe.Sizeof(e)) >= NonTemporalFrom)
}

// nonTemporalFlagIf is around for a dst of any size.
func nonTemporalFlagIf[E any](dst []E, far bool) int {
	if !far || uintptr(unsafe.Pointer(unsafe.SliceData(dst)))&63 != 0 {
		return 0
	}
	return nonTemporalBit
}

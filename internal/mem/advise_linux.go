package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// advise asks for huge pages inside a large block: fewer faults when it is first written, fewer misses afterwards. It is a hint, so an
// error means only that the system does without.
func advise(p unsafe.Pointer, size int) {
	skip := int(-uintptr(p) & (hugePage - 1))
	if n := (size - skip) &^ (hugePage - 1); n > 0 && size >= 2*hugePage {
		_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), n), unix.MADV_HUGEPAGE)
	}
}

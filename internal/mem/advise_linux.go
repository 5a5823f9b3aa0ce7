package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// discard gives the pages of an unused block back to the system at once. The runtime would do so only long after the next collection.
func discard(p unsafe.Pointer, size int) {
	if n := size &^ (unix.Getpagesize() - 1); n > 0 && uintptr(p)&uintptr(unix.Getpagesize()-1) == 0 {
		_ = unix.Madvise(unsafe.Slice((*byte)(p), n), unix.MADV_DONTNEED)
	}
}

const hugePage = 2 << 20

// advise asks for huge pages inside a large block: fewer faults when it is first written, fewer misses afterwards. It is a hint, so an
// error means only that the system does without.
func advise(p unsafe.Pointer, size int) {
	skip := int(-uintptr(p) & (hugePage - 1))
	if n := (size - skip) &^ (hugePage - 1); n > 0 && size >= 2*hugePage {
		_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), n), unix.MADV_HUGEPAGE)
	}
}

package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// discards says whether discard does anything.
const discards = true

// discard gives the pages of an unused block back to the system at once. The runtime would do so only long after the
// next collection.
func discard(p unsafe.Pointer, size int) {
	if n := size &^ (unix.Getpagesize() - 1); n > 0 && uintptr(p)&uintptr(unix.Getpagesize()-1) == 0 {
		_ = unix.Madvise(unsafe.Slice((*byte)(p), n), unix.MADV_DONTNEED)
	}
}

const hugePage = 2 << 20

// advise asks for huge pages wherever a large block lies, also for those at its ends, which it shares with neighbours:
// fewer faults when it is first written, fewer misses afterwards. It is a hint, so an error means only that the system
// does without.
func advise(p unsafe.Pointer, size int) {
	if size < hugePage/4 {
		return
	}
	from := uintptr(p) &^ (hugePage - 1)
	to := (uintptr(p) + uintptr(size) + hugePage - 1) &^ (hugePage - 1)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_HUGEPAGE)
}

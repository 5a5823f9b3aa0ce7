//go:build linux || darwin || freebsd || netbsd || openbsd

package mapfile

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Map maps the first size bytes of a file, which may be closed afterwards. The bytes can be read and written; what is
// written stays in memory.
func Map(f *os.File, size int64) ([]byte, error) {
	page := os.Getpagesize()
	if size <= 0 || size > math.MaxInt-int64(4*page) {
		return nil, fmt.Errorf("%w: %d bytes", ErrUnsupported, size)
	}
	n := (int(size) + page - 1) &^ (page - 1)
	// One page more at the front, where the block may begin within a page, and one behind, which stays anonymous
	// memory: the bytes behind the file's last page can be read.
	block := uncleared(n + 2*page)
	start := aligned(block)
	if err := mapOver(start, n, int(f.Fd()), 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	// The finalizer must not refer to the block itself, which would never be unreachable then.
	runtime.SetFinalizer((*byte)(block), func(block *byte) { restore(unsafe.Pointer(block), n) })
	return unsafe.Slice((*byte)(start), size), nil
}

// mapOver puts the pages of a file in the place of those at start, which belong to a block of the Go heap. The system
// call returns start as a number; programs that are built with the race detector check how numbers become pointers, and
// would end here, since this one becomes a pointer into the heap.
//
//go:nocheckptr
func mapOver(start unsafe.Pointer, n, fd, flags int) error {
	_, err := unix.MmapPtr(fd, 0, start, uintptr(n), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_FIXED|flags)
	return err
}

// aligned is the first page that begins in a block.
func aligned(block unsafe.Pointer) unsafe.Pointer {
	return unsafe.Add(block, int(-uintptr(block)&uintptr(os.Getpagesize()-1)))
}

// uncleared allocates n bytes that are not cleared: clearing would touch each page. A string builder's buffer is the
// one allocation that the language does not clear.
func uncleared(n int) unsafe.Pointer {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Pointer(unsafe.StringData(b.String()))
}

// kept are blocks that could not become ordinary memory again. They stay allocated, since the runtime would use the
// pages of the file as heap otherwise.
var kept struct {
	sync.Mutex
	blocks []unsafe.Pointer
}

// restore puts anonymous memory in the place of the file's pages, before the block goes back to the heap.
func restore(block unsafe.Pointer, n int) {
	if err := mapOver(aligned(block), n, -1, unix.MAP_ANON); err != nil {
		kept.Lock()
		kept.blocks = append(kept.blocks, block)
		kept.Unlock()
	}
}

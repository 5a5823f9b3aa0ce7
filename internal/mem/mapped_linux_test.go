package mem

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Kernels fetch ahead of what they work on: the pages behind the piece of a new block are there.
func TestMapped(t *testing.T) {
	for _, n := range []int{Large, 20_000, 40_000, 60_000, 125_000, 700_000, 5_000_000} {
		_, size := classOf(n)
		p := fresh(size, n)
		there := make([]byte, (size+os.Getpagesize()-1)/os.Getpagesize())
		_, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(p), uintptr(size), uintptr(unsafe.Pointer(&there[0])))
		if e != 0 {
			t.Skip("mincore:", e)
		}
		for i, r := range there {
			if i >= n/os.Getpagesize() && r&1 == 0 {
				t.Errorf("a block of %d bytes: page %d of %d is not mapped", size, i, len(there))
			}
		}
	}
}

package mem

import (
	"math"

	"golang.org/x/sys/unix"
)

// systemMemory is the machine's memory.
func systemMemory() int {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil || n > math.MaxInt {
		return math.MaxInt
	}
	return int(n)
}

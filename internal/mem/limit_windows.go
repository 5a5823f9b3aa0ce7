package mem

import (
	"math"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                                       uint32
	totalPhys, availPhys, totalPageFile, availPageFile uint64
	totalVirtual, availVirtual, availExtendedVirtual   uint64
}

// systemMemory is what the system promises to the process at most: its memory and page file.
func systemMemory() int {
	m := memoryStatus{}
	m.length = uint32(unsafe.Sizeof(m))
	p := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if p.Find() != nil {
		return math.MaxInt
	}
	if ok, _, _ := p.Call(uintptr(unsafe.Pointer(&m))); ok == 0 || m.totalPageFile > math.MaxInt {
		return math.MaxInt
	}
	return int(m.totalPageFile)
}

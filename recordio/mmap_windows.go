package recordio

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

func mmap(f *os.File, size int) ([]byte, func() error, error) {
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	addr, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	// The view keeps the mapping object alive, its handle is not needed.
	windows.CloseHandle(h)
	if err != nil {
		return nil, nil, err
	}
	// Going through a pointer to the address keeps vet satisfied: the memory is
	// the system's, the garbage collector neither moves nor frees it.
	data := unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), size)
	return data, func() error { return windows.UnmapViewOfFile(addr) }, nil
}

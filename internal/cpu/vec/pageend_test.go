//go:build linux

package vec

import (
	"reflect"
	"syscall"
	"testing"
	"unsafe"
)

// TestPageEnd runs every kernel on every path with slices that end where memory ends: what lies beyond must not even be
// read.
func TestPageEnd(t *testing.T) {
	const most = 12 // slices of a kernel
	page := syscall.Getpagesize()
	var ends [most]unsafe.Pointer
	for i := range ends {
		m, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Skip(err)
		}
		defer syscall.Munmap(m)
		if err := syscall.Mprotect(m[page:], syscall.PROT_NONE); err != nil {
			t.Skip(err)
		}
		ends[i] = unsafe.Pointer(&m[page-1])
	}
	eachPath(t, func(t *testing.T) {
		for _, k := range kernelTable {
			f, g := reflect.ValueOf(k.dispatch), k.plain()
			for n := 1; n <= 34; n++ {
				a, abuf := callArgs(f.Type(), n, 0, int64(n), false)
				b, _ := callArgs(f.Type(), n, 0, int64(n), false)
				for i, v := range a {
					if v.Kind() != reflect.Slice {
						continue
					}
					size := n * int(v.Type().Elem().Size())
					a[i] = reflect.SliceAt(v.Type().Elem(), unsafe.Add(ends[i], 1-size), n)
					reflect.Copy(a[i], v)
					abuf[i] = abuf[i].Slice(0, 0)
				}
				if err := compareCall(k.name, f, g, a, b, abuf, 0, n); err != nil {
					t.Errorf("%s, n=%d: %v", k.name, n, err)
					break
				}
			}
		}
	})
}

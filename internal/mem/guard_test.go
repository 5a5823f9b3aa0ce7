//go:build guard

package mem

import (
	"strings"
	"testing"
	"unsafe"
)

func TestGuards(t *testing.T) {
	if err := CheckGuards(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 32, 100, Large - 1, Large, 5000, 1 << 20} {
		for _, free := range []bool{false, true} {
			for _, at := range []int{-1, 0, n - 1, n, n + tail - 1} {
				p := Alloc(n)
				for uintptr(p)%page == 0 { // a piece at the beginning of a block has nothing before it
					p = Alloc(n)
				}
				*(*byte)(unsafe.Add(p, at)) = 1
				if free {
					Free(p, n)
				}
				err := CheckGuards()
				if inside := at >= 0 && at < n; inside != (err == nil) {
					t.Errorf("%d bytes, written at %d: %v", n, at, err)
				} else if !inside && !strings.Contains(err.Error(), "TestGuards") {
					t.Errorf("who allocated? %v", err)
				}
				if !free {
					Free(p, n)
				}
			}
		}
	}
	if err := CheckGuards(); err != nil {
		t.Errorf("the same write again: %v", err)
	}
}

//go:build !linux

package mem

import "unsafe"

func advise(unsafe.Pointer, int) {}

func discard(unsafe.Pointer, int) {}

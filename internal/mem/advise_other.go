//go:build !linux

package mem

import "unsafe"

func advise(unsafe.Pointer, int) {}

// discards says whether discard does anything.
const discards = false

func discard(unsafe.Pointer, int) {}

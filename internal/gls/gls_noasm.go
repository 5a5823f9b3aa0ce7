//go:build (!amd64 && !arm64) || purego

package gls

import "runtime"

// ID identifies the calling goroutine.
func ID() uintptr {
	var buf [64]byte
	b := buf[:runtime.Stack(buf[:], false)]
	var id uintptr
	for _, c := range b[len("goroutine "):] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uintptr(c-'0')
	}
	return id
}

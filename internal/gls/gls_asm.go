//go:build (amd64 || arm64) && !purego

package gls

// ID identifies the calling goroutine.
func ID() uintptr

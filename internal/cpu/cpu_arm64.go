//go:build !purego

package cpu

// Every arm64 processor that Go supports has Advanced SIMD.
func detect() Features { return Features{NEON: true} }

//go:build !purego

package cpu

import "golang.org/x/sys/cpu"

// Every arm64 processor that Go supports has Advanced SIMD; products of bytes came with ARMv8.2.
func detect() Features { return Features{NEON: true, DotProd: cpu.ARM64.HasASIMDDP} }

//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:noescape
func sumI64AVX2(a unsafe.Pointer, n int) int64

//go:noescape
func sumI32AVX2(a unsafe.Pointer, n int) int64

//go:noescape
func sumI16AVX2(a unsafe.Pointer, n int) int64

//go:noescape
func sumU8AVX2(a unsafe.Pointer, n int, flip uint8) int64

//go:noescape
func countU8AVX2(a unsafe.Pointer, n int) int

// countLanes counts what is not 0 in n bytes, a multiple of 64; ok is false where there is no assembly.
func countLanes(a unsafe.Pointer, n int) (count int, ok bool) {
	if !cpu.HasAVX2FMA && !cpu.HasAVX512 {
		return 0, false
	}
	return countU8AVX2(a, n), true
}

// sumLanes adds up n elements of a kind, a multiple of 64 and at most chunk; ok is false where there is no assembly.
func sumLanes(kind int, a unsafe.Pointer, n int) (sum int64, ok bool) {
	if !cpu.HasAVX2FMA && !cpu.HasAVX512 {
		return 0, false
	}
	switch kind {
	case laneI64:
		return sumI64AVX2(a, n), true
	case laneI32:
		return sumI32AVX2(a, n), true
	case laneI16:
		return sumI16AVX2(a, n), true
	case laneI8:
		return sumU8AVX2(a, n, 0x80) - 128*int64(n), true
	}
	return sumU8AVX2(a, n, 0), true
}

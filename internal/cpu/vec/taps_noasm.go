//go:build !amd64 || purego

package vec

import "unsafe"

func hasTaps() bool { return false }

func tapRowsFunc[E float32 | float64 | uint8](int) func(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int) {
	return nil
}

func lanesKernel(int, int, *laneCall) {}

func pickRows(unsafe.Pointer, unsafe.Pointer, *int32, int, int) {}

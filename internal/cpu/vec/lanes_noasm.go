//go:build !(amd64 || arm64) || purego

package vec

import "unsafe"

func laneFunc(op, kind, size int) (f func(dst, a, b unsafe.Pointer, n int), unit int) { return nil, 1 }

func foldFunc(op, kind int) func(dst, a unsafe.Pointer, n, rows, ld int) { return nil }

func foldColumnsFunc(op, kind int) func(dst, a unsafe.Pointer, n, rows, ld int) { return nil }

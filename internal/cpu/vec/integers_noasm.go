//go:build !(amd64 || arm64) || purego

package vec

import "unsafe"

func laneFunc(op, kind, size int) (f func(dst, a, b unsafe.Pointer, n int), unit, how int) {
	return nil, 1, 0
}

func laneNumbers() bool { return false }

func foldsNow(op, kind, bytes int) (rows, columns foldFunc) { return nil, nil }

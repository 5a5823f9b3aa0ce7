//go:build !(amd64 || arm64) || purego

package vec

import "unsafe"

func laneFunc(op, kind, size int) (f func(dst, a, b unsafe.Pointer, n int), unit int, past bool) {
	return nil, 1, false
}

func foldsNow(op, kind, bytes int) (rows, columns foldFunc) { return nil, nil }

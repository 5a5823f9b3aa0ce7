//go:build !amd64 || purego

package vec

import "unsafe"

func laneFunc(op, kind int) (f func(dst, a, b unsafe.Pointer, n int), whole bool) { return nil, false }

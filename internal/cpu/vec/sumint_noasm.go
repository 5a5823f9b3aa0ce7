//go:build !amd64 || purego

package vec

import "unsafe"

func sumLanes(int, unsafe.Pointer, int) (sum int64, ok bool) { return 0, false }

func countLanes(a unsafe.Pointer, n int) (count int, ok bool) { return 0, false }

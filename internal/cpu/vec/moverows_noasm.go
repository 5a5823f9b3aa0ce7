//go:build !amd64 || purego

package vec

import "unsafe"

func moveRows(dst, src unsafe.Pointer, ldd, lds, rows, n int) {}

func takeRows(dst, src unsafe.Pointer, index *int64, rows, n int) {}

func movesRows(n int) bool { return false }

func spreadRows(dst, src unsafe.Pointer, lds, rows, n, size int) {}

func spreads() bool { return false }

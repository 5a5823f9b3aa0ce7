//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:noescape
func moveRows(dst, src unsafe.Pointer, ldd, lds, rows, n int)

//go:noescape
func takeRows(dst, src unsafe.Pointer, index *int64, rows, n int)

//go:noescape
func spreadRows(dst, src unsafe.Pointer, lds, rows, n, size int)

// movesRows reports that rows of n bytes have assembly.
func movesRows(n int) bool { return cpu.HasAVX2FMA && n >= 8 && n <= moveMost }

// spreads reports that there is assembly for rows of one element.
func spreads() bool { return cpu.HasAVX2FMA }

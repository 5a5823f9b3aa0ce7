//go:build !purego

package vec

import "github.com/gotorch-dev/torch/internal/cpu"

func hasTranspose8() bool { return cpu.HasNEON }

// transpose8 transposes a column of 8x8 blocks: block k is read at
// src[8*k*lds:] and written at dst[8*k:]. Strides are in elements.
//
//go:noescape
func transpose8(dst *float32, ldd int, src *float32, lds, blocks int)

func hasTranspose4() bool { return false }

func transpose4(dst *uint64, ldd int, src *uint64, lds, blocks int) { panic("vec: no assembly") }

func hasTransposeRow8() bool { return false }

func transposeRow8(dst *uint64, ldd int, src *uint64, lds, blocks int) { panic("vec: no assembly") }

// deinterleave8 handles n groups of eight pairs, and so does interleave8.
//
//go:noescape
func deinterleave8(even, odd, src *float32, n int)

//go:noescape
func interleave8(dst, even, odd *float32, n int)

// deinterleave4 and interleave4 handle groups of four pairs of float64.
//
//go:noescape
func deinterleave4(even, odd, src *float64, n int)

//go:noescape
func interleave4(dst, even, odd *float64, n int)

//go:build !purego

package vec

import "github.com/gotorch-dev/torch/internal/cpu"

func hasResample() bool { return cpu.HasAVX2FMA }

// resampleRows computes n elements, a multiple of 32.
//
//go:noescape
func resampleRows(dst, src *uint8, stride int, weights *int32, taps, n int)

// resampleAcross computes n pixels of 3 or 4 bands; pairs is the number of pairs of weights of each.
//
//go:noescape
func resampleAcross(dst, src *uint8, bands int, first, wide *int32, pairs, n int)

//go:build !purego

package rng

import (
	"math"

	"golang.org/x/sys/cpu"
)

// useAVX2 says whether the vector forms run. Tests switch it off to compare.
var useAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// The assembly functions take whole groups: n counts groups of eight words or,
// for normal16, blocks of sixteen floats.

//go:noescape
func twist8(p, m *uint32, n int)

//go:noescape
func temper8(dst, src *uint32, n int)

//go:noescape
func uniform8(dst *float32, src *uint32, n int, a, scale, b float32)

//go:noescape
func normal16(x *float32, n int, mean, std float32, consts *[8]float32)

// twistRun replaces p[i] by twistWord(m[i], p[i], p[i+1]) for the whole groups of
// eight in p[:len(p)-1] and returns how many words that was. m is either words
// that the run does not reach or words it has long passed.
func twistRun(p, m []uint32) int {
	n := (len(p) - 1) / 8
	if !useAVX2 || n == 0 {
		return 0
	}
	_ = m[8*n-1]
	twist8(&p[0], &m[0], n)
	return 8 * n
}

// temperInto is temperIntoGo. dst and src have the same length.
func temperInto(dst, src []uint32) {
	n := 0
	if useAVX2 && len(src) >= 8 {
		n = len(src) / 8
		_ = dst[8*n-1]
		temper8(&dst[0], &src[0], n)
		n *= 8
	}
	temperIntoGo(dst[n:], src[n:])
}

// toUniform32 is toUniform32Go.
func toUniform32(dst []float32, src []uint32, a, scale, b float32) {
	n := 0
	if useAVX2 && len(src) >= 8 {
		n = len(src) / 8
		_ = dst[8*n-1]
		uniform8(&dst[0], &src[0], n, a, scale, b)
		n *= 8
	}
	toUniform32Go(dst[n:], src[n:], a, scale, b)
}

//go:noescape
func bernoulli8(dst *byte, src *uint32, n int, limit uint64)

// toBernoulli is toBernoulliGo.
func toBernoulli(dst []byte, src []uint32, limit uint64) {
	n := 0
	if useAVX2 && len(dst) >= 8 {
		n = len(dst) / 8
		_ = src[16*n-1]
		bernoulli8(&dst[0], &src[0], n, limit)
		n *= 8
	}
	toBernoulliGo(dst[n:], src[2*n:], limit)
}

// normalBlocks32 is normalBlocks32Go for uniforms in [0,1).
func normalBlocks32(x []float32, mean, std float32) {
	if !useAVX2 || len(x) < 16 {
		normalBlocks32Go(x, mean, std)
		return
	}
	normal16(&x[0], len(x)/16, mean, std, &normalConsts[0])
}

// normalConsts holds the constants of normal16, each eight times so that they
// serve as memory operands. The assembly addresses them by their number.
var normalConsts = func() (c [32][8]float32) {
	bits := math.Float32frombits
	for i, v := range [32]float32{
		0: 1, 1: bits(127), 2: bits(0x007fffff), 3: 0.5, 4: 0.707106781186547524,
		5: 7.0376836292e-2, 6: -1.1514610310e-1, 7: 1.1676998740e-1, 8: -1.2420140846e-1, 9: 1.4249322787e-1,
		10: -1.6668057665e-1, 11: 2.0000714765e-1, 12: -2.4999993993e-1, 13: 3.3333331174e-1,
		14: -2.12194440e-4, 15: 0.693359375, 16: -2,
		17: 2 * math.Pi, 18: 1.27323954473516, 19: bits(1), 20: bits(0xfffffffe),
		21: -0.78515625, 22: -2.4187564849853515625e-4, 23: -3.77489497744594108e-8,
		24: 2.443315711809948e-5, 25: -1.388731625493765e-3, 26: 4.166664568298827e-2,
		27: -1.9515295891e-4, 28: 8.3321608736e-3, 29: -1.6666654611e-1,
		30: bits(2), 31: bits(4),
	} {
		for j := range c[i] {
			c[i][j] = v
		}
	}
	return c
}()

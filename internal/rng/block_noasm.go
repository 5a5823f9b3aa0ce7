//go:build !amd64 || purego

package rng

// twistRun would replace whole groups of eight words; without vectors it leaves
// all of them to its caller.
func twistRun(p, m []uint32) int { return 0 }

func temperInto(dst, src []uint32) { temperIntoGo(dst, src) }

func toUniform32(dst []float32, src []uint32, a, scale, b float32) {
	toUniform32Go(dst, src, a, scale, b)
}

func normalBlocks32(x []float32, mean, std float32) { normalBlocks32Go(x, mean, std) }

func toBernoulli(dst []byte, src []uint32, limit uint64) { toBernoulliGo(dst, src, limit) }

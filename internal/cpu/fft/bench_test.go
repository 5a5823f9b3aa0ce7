package fft

import (
	"fmt"
	"math/rand"
	"testing"
)

func BenchmarkLines(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	for _, c := range []struct{ lines, n int }{{1, 256}, {64, 256}, {64, 1024}, {1, 4096}, {64, 1000},
		{8, 1009}, {1, 1 << 20}} {
		x := numbers[float32](r, 2*c.lines*c.n)
		y := make([]float32, len(x))
		b.Run(fmt.Sprintf("c2c/%dx%d", c.lines, c.n), func(b *testing.B) {
			for range b.N {
				(&Job[float32]{N: c.n, Scale: 1, Src: x, Dst: y, SrcStep: 2, DstStep: 2, Shape: []int{c.lines},
					SrcStride: []int{2 * c.n}, DstStride: []int{2 * c.n}}).Run()
			}
		})
		b.Run(fmt.Sprintf("r2c/%dx%d", c.lines, c.n), func(b *testing.B) {
			for range b.N {
				(&Job[float32]{Kind: RealToComplex, N: c.n, Scale: 1, Src: x, Dst: y, SrcStep: 1, DstStep: 2,
					Shape: []int{c.lines}, SrcStride: []int{c.n}, DstStride: []int{c.n + 2}}).Run()
			}
		})
	}
}

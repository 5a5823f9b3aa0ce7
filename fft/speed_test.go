package fft_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/fft"
)

func BenchmarkFFT(b *testing.B) {
	for _, c := range []struct{ rows, n int }{{1, 256}, {64, 256}, {1, 1024}, {64, 1024}, {1, 4096}, {16, 4096}, {64, 1000}, {64, 1009}, {1, 1 << 20}} {
		x := torch.Randn([]int{c.rows, c.n})
		z := x.CFloat()
		b.Run(fmt.Sprintf("c2c/%dx%d", c.rows, c.n), func(b *testing.B) {
			for range b.N {
				fft.FFT(z)
			}
		})
		b.Run(fmt.Sprintf("r2c/%dx%d", c.rows, c.n), func(b *testing.B) {
			for range b.N {
				fft.RFFT(x)
			}
		})
	}
	z := torch.Randn([]int{512, 512}).CFloat()
	b.Run("fft2/512", func(b *testing.B) {
		for range b.N {
			fft.FFT2(z)
		}
	})
}

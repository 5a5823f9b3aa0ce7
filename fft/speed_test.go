package fft_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/fft"
)

// cpuTime is the processor time of this process, which on a busy machine tells more than the clock.
func cpuTime() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkFFT(b *testing.B) {
	for _, c := range []struct{ rows, n int }{{1, 256}, {64, 256}, {1, 1024}, {64, 1024}, {1, 4096}, {16, 4096}, {64, 1000}, {64, 1009}, {1, 1 << 20}} {
		x := torch.Randn([]int{c.rows, c.n})
		z := x.CFloat()
		b.Run(fmt.Sprintf("c2c/%dx%d", c.rows, c.n), func(b *testing.B) {
			t := cpuTime()
			defer func() { b.ReportMetric((cpuTime()-t)/float64(b.N), "cpu-ns/op") }()
			for range b.N {
				fft.FFT(z)
			}
		})
		b.Run(fmt.Sprintf("r2c/%dx%d", c.rows, c.n), func(b *testing.B) {
			t := cpuTime()
			defer func() { b.ReportMetric((cpuTime()-t)/float64(b.N), "cpu-ns/op") }()
			for range b.N {
				fft.RFFT(x)
			}
		})
	}
	z := torch.Randn([]int{512, 512}).CFloat()
	b.Run("fft2/512", func(b *testing.B) {
		t := cpuTime()
		defer func() { b.ReportMetric((cpuTime()-t)/float64(b.N), "cpu-ns/op") }()
		for range b.N {
			fft.FFT2(z)
		}
	})
}

package quant

import (
	"fmt"
	"testing"
)

// BenchmarkConvolve measures layers of networks for images, as multiply-adds per nanosecond.
func BenchmarkConvolve(b *testing.B) {
	for _, c := range []struct{ size, in, out, kernel, stride, groups int }{
		{224, 3, 64, 7, 2, 1}, {56, 64, 64, 3, 1, 1}, {28, 128, 128, 3, 1, 1}, {14, 256, 256, 3, 1, 1},
		{7, 512, 512, 3, 1, 1}, {56, 64, 256, 1, 1, 1}, {14, 64, 384, 1, 1, 1}, {112, 16, 96, 1, 1, 1},
		{56, 144, 24, 1, 1, 1}, {7, 960, 160, 1, 1, 1}, {112, 32, 32, 3, 1, 32}, {112, 96, 96, 3, 2, 96},
		{14, 384, 384, 3, 1, 384},
	} {
		k, s, p := c.kernel, c.stride, c.kernel/2
		out := (c.size+2*p-k)/s + 1
		g := Geometry{Batch: 1, Channels: c.in, Groups: c.groups, In: [3]int{1, c.size, c.size},
			Out: [3]int{1, out, out}, Kernel: [3]int{1, k, k}, Stride: [3]int{1, s, s}, Pad: [3]int{0, p, p},
			Dilated: [3]int{1, 1, 1}}
		runs, length := g.Runs()
		cols := &Columns{N: c.out, Runs: runs, Length: length, Scales: []float32{1},
			At: func(c, r, i int) int8 { return int8(c + r + i) }}
		if c.groups > 1 {
			cols.Runs, cols.Length, cols.Depthwise = k*k, 1, true
		}
		w := []*Weights{Pack(cols)}
		in := InputOf(make([]uint8, c.size*c.size*c.in), 1, 3)
		r := &Result{Bytes: make([]uint8, out*out*c.out), Engine: OneDNN, Scale: 1}
		b.Run(fmt.Sprintf("%dx%d_%d-%d_k%d_s%d_g%d", c.size, c.size, c.in, c.out, k, s, c.groups), func(b *testing.B) {
			for range b.N {
				Convolve(&g, w, in, r)
			}
			macs := float64(out * out * c.out * k * k * c.in / c.groups)
			b.ReportMetric(macs*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "MAC/ns")
		})
	}
}

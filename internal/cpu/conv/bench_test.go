package conv

import (
	"fmt"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/par"
)

// benchShapes are the convolutions of the usual image networks.
var benchShapes = []struct {
	name string
	s    *Shape
}{
	{"3x3_64@56", shape2d(16, 64, 64, 56, 56, 3, 1, 1, 1, 1)},
	{"3x3_128@28", shape2d(16, 128, 128, 28, 28, 3, 1, 1, 1, 1)},
	{"3x3_256@14", shape2d(16, 256, 256, 14, 14, 3, 1, 1, 1, 1)},
	{"3x3_512@7", shape2d(16, 512, 512, 7, 7, 3, 1, 1, 1, 1)},
	{"1x1_256_64@56", shape2d(16, 256, 64, 56, 56, 1, 1, 0, 1, 1)},
	{"1x1_64_256@56", shape2d(16, 64, 256, 56, 56, 1, 1, 0, 1, 1)},
	{"stem7x7@224", shape2d(16, 3, 64, 224, 224, 7, 2, 3, 1, 1)},
	{"3x3s2_64_128@56", shape2d(16, 64, 128, 56, 56, 3, 2, 1, 1, 1)},
	{"1x1s2_64_128@56", shape2d(16, 64, 128, 56, 56, 1, 2, 0, 1, 1)},
	{"dw3x3_144@56", shape2d(16, 144, 144, 56, 56, 3, 1, 1, 1, 144)},
	{"dw3x3s2_144@56", shape2d(16, 144, 144, 56, 56, 3, 2, 1, 1, 144)},
	{"lenet1", shape2d(64, 1, 32, 28, 28, 3, 1, 0, 1, 1)},
	{"lenet2", shape2d(64, 32, 64, 26, 26, 3, 1, 0, 1, 1)},
	{"batch1_256@14", shape2d(1, 256, 256, 14, 14, 3, 1, 1, 1, 1)},
	{"batch1_512@7", shape2d(1, 512, 512, 7, 7, 3, 1, 1, 1, 1)},
}

// BenchmarkConv reports GF/s of the best run, and its share of the peak.
func BenchmarkConv(b *testing.B) {
	for _, c := range benchShapes {
		s := c.s
		flops := 2 * float64(s.N*s.Cout*(s.Cin/s.Groups)*s.Taps()*volume(s.Out))
		for _, last := range []bool{true, false} {
			layout := map[bool]string{true: "last", false: "planar"}[last]
			var X, Y Image[float32]
			var W Weights[float32]
			for _, f := range []struct {
				name string
				run  func()
			}{
				{"forward", func() { Forward(s, Y, X, W, nil) }},
				{"data", func() { BackwardData(s, X, Y, W, nil) }},
				{"weight", func() { BackwardWeight(s, W, Y, X) }},
				{"winograd", func() {
					defer SetWinograd(SetWinograd(true))
					Forward(s, Y, X, W, nil)
				}},
			} {
				b.Run(fmt.Sprintf("%s/%s/%s", f.name, c.name, layout), func(b *testing.B) {
					x := make([]float32, s.N*s.Cin*volume(s.In))
					w := make([]float32, s.Cout*s.Cin/s.Groups*s.Taps())
					y := make([]float32, s.N*s.Cout*volume(s.Out))
					for i := range x {
						x[i] = float32(i%7) - 3
					}
					for i := range w {
						w[i] = float32(i%5) - 2
					}
					for i := range y { // zeros that nobody wrote are one page of memory
						y[i] = float32(i%3) - 1
					}
					X, Y, W = Image[float32]{x, last}, Image[float32]{y, last}, Weights[float32]{w, last}
					best := time.Hour
					for b.Loop() {
						start := time.Now()
						f.run()
						best = min(best, time.Since(start))
					}
					rate := flops / float64(best.Nanoseconds())
					b.ReportMetric(rate, "GF/s")
					b.ReportMetric(float64(best.Microseconds())/1e3, "best-ms")
					if peak := gemm.Peak(20*time.Millisecond) * float64(par.NumThreads()); peak > 0 {
						b.ReportMetric(100*rate/peak, "%peak")
					}
				})
			}
		}
	}
}

// BenchmarkBF16 is BenchmarkConv in bfloat16.
func BenchmarkBF16(b *testing.B) {
	for _, c := range benchShapes {
		s := c.s
		if !s.FitsBF16() {
			continue
		}
		flops := 2 * float64(s.N*s.Cout*(s.Cin/s.Groups)*s.Taps()*volume(s.Out))
		for _, last := range []bool{true, false} {
			layout := map[bool]string{true: "last", false: "planar"}[last]
			x := BFloats{make([]uint16, s.N*s.Cin*volume(s.In)), last}
			w := BFloats{make([]uint16, s.Cout*s.Cin/s.Groups*s.Taps()), last}
			y := BFloats{make([]uint16, s.N*s.Cout*volume(s.Out)), last}
			gw := Weights[float32]{make([]float32, len(w.Data)), last}
			for _, d := range [][]uint16{x.Data, w.Data} {
				for i := range d {
					d[i] = 0x3f80 + uint16(i%7) // 1 and a little
				}
			}
			for _, f := range []struct {
				name string
				run  func()
			}{
				{"forward", func() { ForwardBF16(s, y, x, w, nil, nil) }},
				{"data", func() { BackwardDataBF16(s, x, y, w, nil, nil) }},
				{"weight", func() { BackwardWeightBF16(s, gw, y, x) }},
			} {
				b.Run(fmt.Sprintf("%s/%s/%s", f.name, c.name, layout), func(b *testing.B) {
					best := time.Hour
					for b.Loop() {
						start := time.Now()
						f.run()
						best = min(best, time.Since(start))
					}
					b.ReportMetric(flops/float64(best.Nanoseconds()), "GF/s")
					b.ReportMetric(float64(best.Microseconds())/1e3, "best-ms")
				})
			}
		}
	}
}

package vec

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// BenchmarkKernels reports the memory traffic (reads and writes) of typical
// kernels in data that fits the caches and in data that does not.
func BenchmarkKernels(b *testing.B) {
	const big = 1_000_000
	x, y, z, d := random32(big, 1), random32(big, 2), random32(big, 3), make([]float32, big)
	AbsF32(z, z)
	mask, half := make([]uint8, big), make([]uint16, big)
	var sink float32
	for _, k := range []struct {
		name  string
		bytes int // per element
		f     func(n int)
	}{
		{"add", 12, func(n int) { AddF32(d[:n], x, y) }},
		{"mul_scalar", 8, func(n int) { MulScalarF32(d[:n], x, 2) }},
		{"relu", 8, func(n int) { ReLUF32(d[:n], x) }},
		{"maximum", 12, func(n int) { MaximumF32(d[:n], x, y) }},
		{"div", 12, func(n int) { DivF32(d[:n], x, y) }},
		{"gt", 9, func(n int) { GtF32(mask[:n], x, y) }},
		{"where", 13, func(n int) { WhereF32(d[:n], mask, x, y) }},
		{"exp", 8, func(n int) { ExpF32(d[:n], x) }},
		{"log", 8, func(n int) { LogF32(d[:n], z) }},
		{"tanh", 8, func(n int) { TanhF32(d[:n], x) }},
		{"sigmoid", 8, func(n int) { SigmoidF32(d[:n], x) }},
		{"gelu", 8, func(n int) { GELUF32(d[:n], x) }},
		{"gelu_backward", 12, func(n int) { GELUBackwardF32(d[:n], x, y) }},
		{"sum", 4, func(n int) { sink += SumF32(x[:n]) }},
		{"dot", 8, func(n int) { sink += DotF32(x[:n], y) }},
		{"max", 4, func(n int) { sink += MaxF32(x[:n]) }},
		{"argmax", 4, func(n int) { sink += float32(ArgMaxF32(x[:n])) }},
		{"softmax1000", 8, func(n int) {
			for i := 0; i+1000 <= n; i += 1000 {
				SoftmaxF32(d[i:i+1000], x[i:i+1000])
			}
		}},
		{"layer_norm1000", 8, func(n int) {
			for i := 0; i+1000 <= n; i += 1000 {
				LayerNormF32(d[i:i+1000], x[i:i+1000], y[:1000], z[:1000], 1e-5)
			}
		}},
		{"f32_to_bf16", 6, func(n int) { F32ToBF16s(half[:n], x) }},
		{"f16_to_f32", 6, func(n int) { F16ToF32s(d[:n], half) }},
		{"transpose100", 8, func(n int) { TransposeF32(d, n/100, x, 100, n/100, 100) }},
		{"adam", 28, func(n int) {
			AdamF32(d[:n], z, z, x, 1, 0, 0.1, 0.999, 0.001, 1e-3, 1, 1e-8)
		}},
	} {
		for _, l := range cpu.Levels() {
			if l.Name == "avx512-dot" {
				continue // these kernels have no such form
			}
			for _, n := range []int{10_000, big} {
				b.Run(fmt.Sprintf("%s/%s/%d", k.name, l.Name, n), func(b *testing.B) {
					defer cpu.Set(l.Features)()
					b.SetBytes(int64(k.bytes * n))
					for i := 0; i < b.N; i++ {
						k.f(n)
					}
				})
			}
		}
	}
	_ = sink
}

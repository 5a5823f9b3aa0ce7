package rng

import "testing"

func bench(b *testing.B, n, size int, f func(g *Generator)) {
	g := New()
	b.SetBytes(int64(n * size))
	for b.Loop() {
		f(g)
	}
}

func BenchmarkFill(b *testing.B) {
	const n = 1 << 16
	f32, f64, u8, i64 := make([]float32, n), make([]float64, n), make([]uint8, n), make([]int64, n)
	b.Run("uniform/f32", func(b *testing.B) { bench(b, n, 4, func(g *Generator) { _ = Uniform(g, f32, 0, 1) }) })
	b.Run("uniform_ab/f32", func(b *testing.B) { bench(b, n, 4, func(g *Generator) { _ = Uniform(g, f32, -2, 3) }) })
	b.Run("uniform/f64", func(b *testing.B) { bench(b, n, 8, func(g *Generator) { _ = Uniform(g, f64, 0, 1) }) })
	b.Run("normal/f32", func(b *testing.B) { bench(b, n, 4, func(g *Generator) { _ = Normal(g, f32, 0, 1, true) }) })
	b.Run("normal/f64", func(b *testing.B) { bench(b, n, 8, func(g *Generator) { _ = Normal(g, f64, 0, 1, true) }) })
	b.Run("normal_scalar/f32", func(b *testing.B) {
		bench(b, n, 4,
			func(g *Generator) { _ = Normal(g, f32, 0, 1, false) })
	})
	b.Run("bernoulli/u8", func(b *testing.B) { bench(b, n, 1, func(g *Generator) { _ = Bernoulli(g, u8, 0.3) }) })
	b.Run("dropout/f32", func(b *testing.B) { bench(b, n, 4, func(g *Generator) { _ = DropoutMask(g, f32, 0.3) }) })
	b.Run("exponential/f32", func(b *testing.B) { bench(b, n, 4, func(g *Generator) { _ = Exponential(g, f32, 1) }) })
	b.Run("randint/i64", func(b *testing.B) { bench(b, n, 8, func(g *Generator) { RandInt(g, i64, 0, 1000) }) })
	b.Run("randperm/i64", func(b *testing.B) { bench(b, n, 8, func(g *Generator) { RandPerm(g, i64) }) })
}

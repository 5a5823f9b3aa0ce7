package rng

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/par"
)

// TestBatches compares fills of several batches with the same numbers in small
// pieces, which one thread makes, and on several threads.
func TestBatches(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	const n = 3*batch + 1234
	ok := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	probs := make([]float64, n)
	for i := range probs {
		probs[i] = float64(i%7) / 6
	}
	for name, fill := range map[string]func(g *Generator, d []float64, from int){
		"uniform":     func(g *Generator, d []float64, _ int) { ok(Uniform(g, d, -1, 2)) },
		"normal":      func(g *Generator, d []float64, _ int) { ok(Normal(g, d, 1, 2, false)) },
		"blocks":      func(g *Generator, d []float64, _ int) { ok(Normal(g, d, 1, 2, true)) },
		"log normal":  func(g *Generator, d []float64, _ int) { ok(LogNormal(g, d, 1, 0.5)) },
		"exponential": func(g *Generator, d []float64, _ int) { ok(Exponential(g, d, 2)) },
		"cauchy":      func(g *Generator, d []float64, _ int) { ok(Cauchy(g, d, 1, 2)) },
		"geometric":   func(g *Generator, d []float64, _ int) { ok(Geometric(g, d, 0.3)) },
		"bernoulli":   func(g *Generator, d []float64, _ int) { ok(Bernoulli(g, d, 0.3)) },
		"probs":       func(g *Generator, d []float64, from int) { ok(BernoulliProbs(g, d, probs[from:from+len(d)])) },
		"below 2^28":  func(g *Generator, d []float64, _ int) { RandInt(g, d, -5, 1000003) },
		"above 2^28":  func(g *Generator, d []float64, _ int) { RandInt(g, d, -5, 1<<40+7) },
		"random":      func(g *Generator, d []float64, _ int) { Random(g, d, Float64) },
	} {
		want := make([]float64, n)
		g := New()
		ok(Normal(g, want[:1], 0, 1, false)) // leaves a normal in the generator
		start := g.Clone()
		const piece = 1024
		for i := 0; i < n; i += piece {
			if name == "blocks" && n-i < 2*piece { // the end of a fill is drawn once more: in one go
				fill(g, want[i:], i)
				break
			}
			fill(g, want[i:min(n, i+piece)], i)
		}
		for _, threads := range []int{1, 2, 3, 8} {
			par.SetNumThreads(threads)
			h, got := start.Clone(), make([]float64, n)
			fill(h, got, 0)
			if !slices.Equal(got, want) || !slices.Equal(h.State(), g.State()) {
				t.Errorf("%s: %d threads give other numbers or another state than small pieces", name, threads)
			}
		}
	}
}

func TestModulus(t *testing.T) {
	g := New()
	for _, n := range []uint64{1, 2, 3, 7, 257, 1<<24 + 1, 1<<53 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 1} {
		m := newModulus(n)
		for i := range uint64(1000) {
			for _, x := range []uint64{i, -i, n - i, n + i, 2*n - i, g.u64(), g.u64() / n * n, g.u64()/n*n - 1} {
				if m.of(x) != x%n {
					t.Fatalf("%d mod %d: %d, want %d", x, n, m.of(x), x%n)
				}
			}
		}
	}
}

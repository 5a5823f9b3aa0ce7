package rng_test

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/rng"
)

// The numbers of torch.manual_seed(0); torch.rand(3).
func ExampleUniform() {
	g := rng.New().ManualSeed(0)
	x := make([]float32, 3)
	if err := rng.Uniform(g, x, 0, 1); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%.4f\n", x)
	// Output: [0.4963 0.7682 0.0885]
}

// The numbers of torch.manual_seed(0); torch.randn(3).
func ExampleNormal() {
	g := rng.New().ManualSeed(0)
	x := make([]float32, 3)
	if err := rng.Normal(g, x, 0, 1, true); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%.4f\n", x)
	// Output: [1.5410 -0.2934 -2.1788]
}

// A state can be put back, also into another generator.
func ExampleGenerator_SetState() {
	g := rng.New().ManualSeed(42)
	state := g.State()
	a := g.Float32()
	h := rng.New()
	if err := h.SetState(state); err != nil {
		fmt.Println(err)
	}
	fmt.Println(a == h.Float32(), h.InitialSeed())
	// Output: true 42
}

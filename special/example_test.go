package special_test

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/special"
)

// The value of Riemann's zeta function at 2 is π²/6.
func ExampleZeta() {
	z := special.Zeta(torch.TensorOf(2.0), torch.TensorOf(1.0))
	fmt.Printf("%.10f %.10f\n", z.Item(), math.Pi*math.Pi/6)
	// Output: 1.6449340668 1.6449340668
}

// Quantiles of the normal distribution, and back.
func ExampleNdtri() {
	p := torch.TensorOf(0.025, 0.5, 0.975)
	z := special.Ndtri(p)
	fmt.Println(z)
	fmt.Println(special.Ndtr(z))
	// Output:
	// tensor([-1.9600,  0.0000,  1.9600], dtype=torch.float64)
	// tensor([0.0250, 0.5000, 0.9750], dtype=torch.float64)
}

// The Airy function decays for large numbers; at infinity PyTorch has no value for it.
func ExampleAiryAi() {
	y := special.AiryAi(torch.TensorOf(0, 1, 104, math.Inf(1)))
	fmt.Println(y)
	// Output: tensor([0.3550, 0.1353, 0.0000,    nan], dtype=torch.float64)
}

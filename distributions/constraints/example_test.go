package constraints_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
)

func Example() {
	x := torch.FromSlice([]float32{0.2, 0.5, 0.3})
	for _, c := range []constraints.Constraint{constraints.UnitInterval, constraints.Simplex,
		constraints.GreaterThanScalar(0.25)} {
		fmt.Println(c, c.EventDim(), c.Check(x))
	}
	// Output:
	// Interval(lower_bound=0.0, upper_bound=1.0) 0 tensor([True, True, True])
	// Simplex() 1 tensor(True)
	// GreaterThan(lower_bound=0.25) 0 tensor([False,  True,  True])
}

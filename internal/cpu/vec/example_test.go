package vec_test

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

func Example() {
	a := []float32{1, -2, 3}
	vec.ReLUF32(a, a) // in place
	dst := make([]float32, 3)
	vec.AddScaledF32(dst, a, []float32{10, 20, 30}, 0.5)
	fmt.Println(dst, vec.SumF32(dst), vec.ArgMaxF32(dst))
	// Output: [6 10 18] 34 2
}

func ExampleSoftmaxF32() {
	row := []float32{1, 1, 1, 1}
	vec.SoftmaxF32(row, row)
	fmt.Println(row)
	// Output: [0.25 0.25 0.25 0.25]
}

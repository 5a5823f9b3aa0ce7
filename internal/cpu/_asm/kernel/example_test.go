package kernel_test

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// A kernel that computes y[i] += alpha*x[i] in float64, as plain Go.
func Example() {
	k := &kernel.Kernel{
		Name: "AxpyF64",
		Lane: kernel.F64,
		Args: []kernel.Arg{kernel.InOut("y", kernel.F64), kernel.In("x", kernel.F64),
			kernel.Scalar("alpha", kernel.F64)},
		Body: func(b *kernel.Builder) {
			b.Store("y", b.FMA(b.Load("x"), b.Load("alpha"), b.Load("y")))
		},
	}
	var source strings.Builder
	kernel.EmitGo(&source, k, kernel.Generic)
	fmt.Print(source.String())
	// Output:
	// // axpyF64Generic is the plain Go version of AxpyF64.
	// func axpyF64Generic(y, x []float64, alpha float64) {
	// 	x = x[:len(y)]
	// 	for i := range y {
	// 		v0 := x[i]
	// 		v1 := y[i]
	// 		v2 := fma64(v0, alpha, v1)
	// 		y[i] = v2
	// 	}
	// }
}

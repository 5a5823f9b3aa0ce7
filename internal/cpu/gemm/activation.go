package gemm

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// activateBlock applies the activation to a block of the first matrix of C,
// whose columns are adjacent.
func (g *product[T]) activateBlock(i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		activate(g.act, unsafe.Slice((*T)(unsafe.Add(g.c.p, i*g.c.rs+j0*g.elemSize())), j1-j0))
	}
}

// activate applies an activation to a run of finished elements.
func activate[T element](act Activation, x []T) {
	if f, ok := any(x).([]float32); ok {
		switch act {
		case ActGELU:
			vec.GELUF32(f, f)
			return
		case ActGELUTanh:
			vec.GELUTanhF32(f, f)
			return
		}
	}
	switch act {
	case ActReLU:
		for i, v := range x {
			if v < 0 {
				x[i] = 0
			}
		}
	case ActGELU:
		for i, v := range x {
			v := float64(v)
			x[i] = T(0.5 * v * (1 + math.Erf(v/math.Sqrt2)))
		}
	case ActGELUTanh:
		// Hendrycks & Gimpel, "Gaussian Error Linear Units", arXiv 1606.08415.
		for i, v := range x {
			v := float64(v)
			x[i] = T(0.5 * v * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v))))
		}
	}
}

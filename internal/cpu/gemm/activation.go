package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// Activation is a function applied to the finished elements of C.
type Activation uint8

const (
	ActNone      Activation = iota
	ActReLU                 // max(x, 0), NaN stays NaN; fused into the kernel
	ActGELU                 // x·Φ(x), by the error function
	ActGELUTanh             // x·Φ(x), by the tanh approximation (Hendrycks & Gimpel, arXiv 1606.08415)
	ActSiLU                 // x·sigmoid(x)
	ActHardswish            // x·min(max(x+3, 0), 6)/6
	ActSigmoid
	ActHardsigmoid // min(max(x+3, 0), 6)/6
	ActTanh
	ActMish // x·tanh(log(1+eˣ))
	actCount
)

// The functions, by Activation.
var (
	actF32 = [actCount]func(dst, x []float32){ActReLU: vec.ReLUF32, ActGELU: vec.GELUF32, ActGELUTanh: vec.GELUTanhF32,
		ActSiLU: vec.SiLUF32, ActHardswish: vec.HardswishF32, ActSigmoid: vec.SigmoidF32,
		ActHardsigmoid: vec.HardsigmoidF32, ActTanh: vec.TanhF32, ActMish: vec.MishF32}
	actF64 = [actCount]func(dst, x []float64){ActReLU: vec.ReLUF64, ActGELU: vec.GELUF64, ActGELUTanh: vec.GELUTanhF64,
		ActSiLU: vec.SiLUF64, ActHardswish: vec.HardswishF64, ActSigmoid: vec.SigmoidF64,
		ActHardsigmoid: vec.HardsigmoidF64, ActTanh: vec.TanhF64, ActMish: vec.MishF64}
)

// activateBlock applies the activation to a block of the first matrix of C,
// whose columns are adjacent.
func (g *product[T]) activateBlock(i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		activate(g.act, unsafe.Slice((*T)(unsafe.Add(g.c.p, i*g.c.rs+j0*g.elemSize())), j1-j0))
	}
}

// Activate applies an activation to elements in place.
func Activate[T float32 | float64](act Activation, x []T) {
	if act == ActNone {
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(x))
	if unsafe.Sizeof(T(0)) == 4 {
		s := unsafe.Slice((*float32)(p), len(x))
		actF32[act](s, s)
		return
	}
	s := unsafe.Slice((*float64)(p), len(x))
	actF64[act](s, s)
}

// activate applies an activation to a run of finished elements; of integers, only the ReLU.
func activate[T element](act Activation, x []T) {
	switch x := any(x).(type) {
	case []float32:
		Activate(act, x)
		return
	case []float64:
		Activate(act, x)
		return
	}
	if act == ActReLU {
		for i, v := range x {
			x[i] = max(v, 0)
		}
	}
}

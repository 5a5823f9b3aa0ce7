package conv

import (
	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/tensor"
)

// bfloats is the memory of a tensor of bfloat16; one of neither layout is copied.
func bfloats(t *T) cpuconv.BFloats {
	data, last := halves(t)
	return cpuconv.BFloats{Data: data, Last: last}
}

// fitsBF16 returns the geometry of a convolution in bfloat16 of in to a result of shape out, nil unless there are kernels for it.
func fitsBF16(out []int, in, w *T, a arguments) *cpuconv.Shape {
	if in.DType() != tensor.BFloat16 || w.DType() != tensor.BFloat16 {
		return nil
	}
	from := in.Shape()
	if a.transposed {
		out, from = from, out
	}
	s := geometryOf(from, out, w.Shape(), a).shape()
	if !s.FitsBF16() {
		return nil
	}
	return s
}

// intoBFloats runs f on out, or something like it that is dense in either layout.
func intoBFloats(out *T, f func(out *T)) {
	if out.IsContiguous() || out.IsContiguousFormat(lastFormat(out.Dim())) {
		f(out)
		return
	}
	t := tensor.New(out.Shape(), out.DType())
	f(t)
	tensor.CopyRaw(out, t)
}

// runBF16 is runFloat in bfloat16. It returns false if there are no kernels.
func runBF16(out, in, w, bias, residual *T, ep cpuconv.Epilogue[float32], a arguments) bool {
	s := fitsBF16(out.Shape(), in, w, a)
	if s == nil || residual != nil && residual.DType() != out.DType() {
		return false
	}
	intoBFloats(out, func(t *T) {
		o := bfloats(t)
		ep.Bias = dense[float32](bias)
		var add []uint16
		if residual != nil {
			add = bfloats(inFormatOf(residual, t)).Data
		}
		if a.transposed {
			cpuconv.BackwardDataBF16(s, o, bfloats(in), bfloats(w), &ep, add)
		} else {
			cpuconv.ForwardBF16(s, o, bfloats(in), bfloats(w), &ep, add)
		}
	})
	return true
}

// runBackwardBF16 is runBackwardFloat in bfloat16. It returns what is left to do.
func runBackwardBF16(gin, gw, gb, gout, in, w *T, a arguments) (leftIn, leftW, leftB *T) {
	s := fitsBF16(gout.Shape(), in, w, a)
	if s == nil || gout.DType() != tensor.BFloat16 {
		return gin, gw, gb
	}
	g, x := bfloats(gout), bfloats(in)
	if gin != nil {
		intoBFloats(gin, func(t *T) {
			o := bfloats(t)
			if a.transposed {
				cpuconv.ForwardBF16(s, o, g, bfloats(w), nil, nil)
			} else {
				cpuconv.BackwardDataBF16(s, o, g, bfloats(w), nil, nil)
			}
		})
	}
	if gb != nil {
		intoLayout(gb, func(d []float32, _ bool) { cpuconv.BackwardBiasBF16(d, g, gout.Size(0), gout.Size(1)) })
	}
	if gw == nil || s.N == 1 { // which makes no pairs
		return nil, gw, nil
	}
	if a.transposed {
		g, x = x, g
	}
	intoLayout(gw, func(d []float32, last bool) {
		cpuconv.BackwardWeightBF16(s, cpuconv.Weights[float32]{Data: d, Last: last}, g, x)
	})
	return nil, nil, nil
}

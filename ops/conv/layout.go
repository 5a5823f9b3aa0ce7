package conv

import (
	"unsafe"

	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/tensor"
)

// channelsLast reports that PyTorch takes t for a channels-last tensor: its strides say so and do not equally well
// say the opposite (one channel, or a single position).
func channelsLast(t *T) bool {
	nd := t.Dim()
	if nd != 4 && nd != 5 {
		return false
	}
	sh, st := t.Shape(), t.Strides()
	if st[1] == 0 {
		return false
	}
	least := 0
	for i := range nd {
		d := 1 // channels first, then the spatial dimensions from the last on, then the batch
		switch {
		case i == nd-1:
			d = 0
		case i > 0:
			d = nd - i
		}
		if sh[d] == 0 || st[d] < least || d == 0 && least == st[1] {
			return false
		}
		least = st[d]
		if sh[d] > 1 {
			least *= sh[d]
		}
	}
	return true
}

// lastFormat is the channels-last format for t's number of dimensions.
func lastFormat(nd int) tensor.MemoryFormat {
	if nd == 5 {
		return tensor.ChannelsLast3d
	}
	return tensor.ChannelsLast
}

// formatFor is the layout of everything that a convolution of in with w makes: channels last when either is.
func formatFor(in, w *T) tensor.MemoryFormat {
	if channelsLast(in) || channelsLast(w) {
		return lastFormat(in.Dim())
	}
	return tensor.ContiguousFormat
}

// denseLayout is t's memory in the compute type, and whether the channels come last in it. A tensor of neither layout
// is copied.
func denseLayout[E float32 | float64](t *T) (data []E, last bool) {
	if t == nil {
		return nil, false
	}
	if f := lastFormat(t.Dim()); !t.IsContiguous() && t.IsContiguousFormat(f) {
		t = tensor.DenseIn(t, f, tensor.DTypeOf[E]())
		return unsafe.Slice((*E)(tensor.Ptr(t)), t.Numel()), true
	}
	return dense[E](t), false
}

func imageOf[E float32 | float64](t *T) cpuconv.Image[E] {
	d, last := denseLayout[E](t)
	return cpuconv.Image[E]{Data: d, Last: last}
}

func weightsOf[E float32 | float64](t *T) cpuconv.Weights[E] {
	d, last := denseLayout[E](t)
	return cpuconv.Weights[E]{Data: d, Last: last}
}

// intoLayout runs f on memory of the compute type in either layout, and leaves the result in out.
func intoLayout[E float32 | float64](out *T, f func(d []E, last bool)) {
	if out.DType() == tensor.DTypeOf[E]() && (out.IsContiguous() || out.IsContiguousFormat(lastFormat(out.Dim()))) {
		d, last := denseLayout[E](out)
		f(d, last)
		return
	}
	format := tensor.ContiguousFormat
	if l := lastFormat(out.Dim()); !out.IsContiguous() && out.IsContiguousFormat(l) {
		format = l
	}
	w := tensor.NewStrided(out.Shape(), tensor.FormatStrides(out.Shape(), format), tensor.DTypeOf[E]())
	d, last := denseLayout[E](w)
	f(d, last)
	tensor.CopyRaw(out, w)
}

// shape is the geometry in the terms of the kernels.
func (g *geometry) shape() *cpuconv.Shape {
	return &cpuconv.Shape{N: g.n, Groups: g.groups, Cin: g.cin, Cout: g.cout, In: g.in, Out: g.out, Kernel: g.k,
		Stride: g.stride, Pad: g.pad, Dilation: g.dil}
}

// runFloat is run for the types that have kernels of their own. The residual and the clamp of ep, if any, are applied.
func runFloat[E float32 | float64](out, in, w, bias, residual *T, ep cpuconv.Epilogue[E], a arguments) {
	if f, ok := any(ep).(cpuconv.Epilogue[float32]); ok &&
		(runBF16(out, in, w, bias, residual, f, a) || runHalf(out, in, w, bias, residual, f, a)) {
		return
	}
	intoLayout(out, func(d []E, last bool) {
		o := cpuconv.Image[E]{Data: d, Last: last}
		ep.Bias = dense[E](bias)
		ep.Residual = inLayout[E](residual, last)
		if a.transposed {
			cpuconv.BackwardData(geometryOf(out.Shape(), in.Shape(), w.Shape(), a).shape(), o, imageOf[E](in),
				weightsOf[E](w), &ep)
			return
		}
		cpuconv.Forward(geometryOf(in.Shape(), out.Shape(), w.Shape(), a).shape(), o, imageOf[E](in), weightsOf[E](w),
			&ep)
	})
}

// inLayout is the memory of a residual in the layout of the result. It is nil for nil.
func inLayout[E float32 | float64](t *T, last bool) []E {
	r, is := denseLayout[E](t)
	if t == nil || is == last {
		return r
	}
	f := tensor.ContiguousFormat
	if last {
		f = lastFormat(t.Dim())
	}
	c := tensor.NewStrided(t.Shape(), tensor.FormatStrides(t.Shape(), f), t.DType())
	tensor.CopyRaw(c, t)
	r, _ = denseLayout[E](c)
	return r
}

// runBackwardFloat is runBackward for the types that have kernels of their own.
func runBackwardFloat[E float32 | float64](gin, gw, gb, gout, in, w *T, a arguments) {
	if gin, gw, gb = runBackwardBF16(gin, gw, gb, gout, in, w, a); gin == nil && gw == nil && gb == nil {
		return
	}
	turned := a
	turned.transposed = !a.transposed
	if gin != nil && runHalf(gin, gout, w, nil, nil, cpuconv.Epilogue[float32]{}, turned) {
		if gin = nil; gw == nil && gb == nil {
			return
		}
	}
	g := imageOf[E](gout)
	if gin != nil {
		intoLayout(gin, func(d []E, last bool) {
			o := cpuconv.Image[E]{Data: d, Last: last}
			if a.transposed {
				cpuconv.Forward(geometryOf(gout.Shape(), in.Shape(), w.Shape(), a).shape(), o, g, weightsOf[E](w), nil)
			} else {
				cpuconv.BackwardData(geometryOf(in.Shape(), gout.Shape(), w.Shape(), a).shape(), o, g, weightsOf[E](w),
					nil)
			}
		})
	}
	switch {
	case gw == nil:
	case a.transposed:
		intoLayout(gw, func(d []E, last bool) {
			cpuconv.BackwardWeight(geometryOf(gout.Shape(), in.Shape(), w.Shape(), a).shape(),
				cpuconv.Weights[E]{Data: d, Last: last}, imageOf[E](in), g)
		})
	default:
		intoBoth(gw, gb, gb != nil, func(gw cpuconv.Weights[E], gb []E) {
			cpuconv.BackwardWeightBehind(geometryOf(in.Shape(), gout.Shape(), w.Shape(), a).shape(), gw, gb, g,
				imageOf[E](in), nil)
		})
		gb = nil
	}
	if gb != nil {
		intoLayout(gb, func(d []E, _ bool) {
			cpuconv.BackwardBias(d, g, gout.Size(0), gout.Size(1))
		})
	}
}

package conv

import (
	"unsafe"

	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// halfBlock is how many elements of 16-bit images are widened to float32 at a time: they stay in the outer cache.
const halfBlock = 1 << 19

// halves is the memory of a tensor of 16-bit floats, and whether the channels come last in it; one of neither layout
// is copied.
func halves(t *T) (data []uint16, last bool) {
	if last = !t.IsContiguous() && t.IsContiguousFormat(lastFormat(t.Dim())); !last {
		t = tensor.Dense(t)
	}
	return unsafe.Slice((*uint16)(tensor.Ptr(t)), t.Numel()), last
}

// inFormatOf is t in the layout of out, which is dense in one of the two.
func inFormatOf(t, out *T) *T {
	if out.IsContiguous() {
		return tensor.Dense(t)
	}
	return tensor.DenseIn(t, lastFormat(out.Dim()), t.DType())
}

// runHalf is runFloat of 16-bit floats that have no kernels of their own: some images at a time are computed in
// float32. It returns false where that is not worth it: where a block holds all images, or where the weights, which
// are laid out for every block, are many.
func runHalf(out, in, w, bias, residual *T, ep cpuconv.Epilogue[float32], a arguments) bool {
	widen, narrow := vec.BF16ToF32s, vec.F32ToBF16s
	switch out.DType() {
	case tensor.BFloat16:
	case tensor.Float16:
		widen, narrow = vec.F16ToF32s, vec.F32ToF16s
	default:
		return false
	}
	n := out.Size(0)
	if out.Numel() == 0 || in.Numel() == 0 || residual != nil && residual.DType() != out.DType() ||
		!out.IsContiguous() && !out.IsContiguousFormat(lastFormat(out.Dim())) {
		return false
	}
	po, pi := out.Numel()/n, in.Numel()/n
	per := max(1, halfBlock/(po+pi))
	if n <= per || 4*w.Numel() > per*(po+pi) {
		return false
	}
	blocks := (n + per - 1) / per
	per = (n + blocks - 1) / blocks

	to, toLast := halves(out)
	from, fromLast := halves(in)
	var add []uint16
	if residual != nil {
		add, _ = halves(inFormatOf(residual, out))
	}
	scratch := func(n int) (d []float32, free func()) {
		p := mem.Alloc(n * 4)
		return unsafe.Slice((*float32)(p), n), func() { mem.Free(p, n*4) }
	}
	x, freeX := scratch(per * pi)
	defer freeX()
	y, freeY := scratch(per * po)
	defer freeY()
	r, freeR := scratch(len(add) / n * per)
	defer freeR()
	const grain = 1 << 14
	widenAll := func(d []float32, s []uint16) {
		par.For(len(d), grain, func(lo, hi int) { widen(d[lo:hi], s[lo:hi]) })
	}

	big, small := in.Shape(), out.Shape()
	if a.transposed {
		big, small = small, big
	}
	s := geometryOf(big, small, w.Shape(), a).shape()
	weights := weightsOf[float32](w)
	ep.Bias, ep.Packed = dense[float32](bias), nil
	for i := 0; i < n; i += per {
		s.N = min(per, n-i)
		src, dst := cpuconv.Image[float32]{Data: x[:s.N*pi], Last: fromLast},
			cpuconv.Image[float32]{Data: y[:s.N*po], Last: toLast}
		widenAll(src.Data, from[i*pi:])
		if add != nil {
			ep.Residual = r[:s.N*po]
			widenAll(ep.Residual, add[i*po:])
		}
		if a.transposed {
			cpuconv.BackwardData(s, dst, src, weights, &ep)
		} else {
			cpuconv.Forward(s, dst, src, weights, &ep)
		}
		par.For(len(dst.Data), grain, func(lo, hi int) { narrow(to[i*po+lo:i*po+hi], dst.Data[lo:hi]) })
	}
	return true
}

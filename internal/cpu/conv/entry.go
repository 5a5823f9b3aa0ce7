package conv

import "unsafe"

// The compiler compiles a generic function anew in each package that calls it, together with everything generic below
// it. So that the convolutions are compiled once, in this package, the exported generic functions only choose one of
// the functions below by the element type. These are never inlined: a copy of their bodies in a caller would bring the
// generic functions along.

// single reports whether T is float32; the compiler evaluates it for each type.
func single[T Float]() bool { return unsafe.Sizeof(T(0)) == 4 }

// imageOf, weightsOf and the like return what is known to have the element type To as that.
func imageOf[To, T Float](i Image[T]) Image[To] { return Image[To]{like[To](i.Data), i.Last} }

func weightsOf[To, T Float](w Weights[T]) Weights[To] { return Weights[To]{like[To](w.Data), w.Last} }

func like[To, T Float](s []T) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

func epilogueOf[To, T Float](e *Epilogue[T]) *Epilogue[To] { return (*Epilogue[To])(unsafe.Pointer(e)) }

func tailOf[To, T Float](t *Tail[T]) *Tail[To] { return (*Tail[To])(unsafe.Pointer(t)) }

func layerOf[To, T Float](l *Layer[T]) *Layer[To] { return (*Layer[To])(unsafe.Pointer(l)) }

// Forward computes the convolution of in with w into out. The size of out is what the epilogue's tail leaves.
func Forward[T Float](s *Shape, out, in Image[T], w Weights[T], ep *Epilogue[T]) {
	if single[T]() {
		forwardF32(s, imageOf[float32](out), imageOf[float32](in), weightsOf[float32](w), epilogueOf[float32](ep))
		return
	}
	forwardF64(s, imageOf[float64](out), imageOf[float64](in), weightsOf[float64](w), epilogueOf[float64](ep))
}

// BackwardData computes the gradient of the convolution's input from the gradient of its output (a transposed
// convolution), with an epilogue of its own.
func BackwardData[T Float](s *Shape, gin, gout Image[T], w Weights[T], ep *Epilogue[T]) {
	BackwardDataBehind(s, gin, gout, w, ep, nil)
}

// BackwardDataBehind is BackwardData of a convolution with a tail. The gradient gout is that of the tail's
// pooling, if it pools.
func BackwardDataBehind[T Float](s *Shape, gin, gout Image[T], w Weights[T], ep *Epilogue[T], tail *Tail[T]) {
	if single[T]() {
		backwardDataF32(s, imageOf[float32](gin), imageOf[float32](gout), weightsOf[float32](w),
			epilogueOf[float32](ep),
			tailOf[float32](tail))
		return
	}
	backwardDataF64(s, imageOf[float64](gin), imageOf[float64](gout), weightsOf[float64](w), epilogueOf[float64](ep),
		tailOf[float64](tail))
}

// BackwardWeight computes the gradient of the convolution's weights from the gradient of its output.
func BackwardWeight[T Float](s *Shape, gw Weights[T], gout, in Image[T]) {
	BackwardWeightBehind(s, gw, nil, gout, in, nil)
}

// BackwardWeightBehind is BackwardWeight of a convolution with a tail. Unless gb is nil it computes the
// gradient of the bias, too: the sums of BackwardBias, taken while the output's gradient is in the cache.
func BackwardWeightBehind[T Float](s *Shape, gw Weights[T], gb []T, gout, in Image[T], tail *Tail[T]) {
	if single[T]() {
		backwardWeightF32(s, weightsOf[float32](gw), like[float32](gb), imageOf[float32](gout), imageOf[float32](in),
			tailOf[float32](tail))
		return
	}
	backwardWeightF64(s, weightsOf[float64](gw), like[float64](gb), imageOf[float64](gout), imageOf[float64](in),
		tailOf[float64](tail))
}

// BackwardBias sums the output's gradient of n images over images and positions. The sums are taken in
// float64, in blocks that depend on the sizes alone.
func BackwardBias[T Float](gb []T, gout Image[T], n, channels int) {
	if single[T]() {
		backwardBiasF32(like[float32](gb), imageOf[float32](gout), n, channels)
		return
	}
	backwardBiasF64(like[float64](gb), imageOf[float64](gout), n, channels)
}

// ForwardDepthwise computes a convolution, then a depthwise convolution or a maximum pooling of its result,
// and then, unless last is nil, a third convolution. The result is the same as if one Forward ran after the
// other, but where possible no whole images are stored in between. Only the third layer may have a residual.
func ForwardDepthwise[T Float](out, in Image[T], first, depth Layer[T], last *Layer[T]) {
	if single[T]() {
		forwardDepthwiseF32(imageOf[float32](out), imageOf[float32](in), layerOf[float32](&first),
			layerOf[float32](&depth),
			layerOf[float32](last))
		return
	}
	forwardDepthwiseF64(imageOf[float64](out), imageOf[float64](in), layerOf[float64](&first), layerOf[float64](&depth),
		layerOf[float64](last))
}

//go:noinline
func forwardF32(s *Shape, out, in Image[float32], w Weights[float32], ep *Epilogue[float32]) {
	forward(s, out, in, w, ep)
}

//go:noinline
func backwardDataF32(s *Shape, gin, gout Image[float32], w Weights[float32], ep *Epilogue[float32],
	tail *Tail[float32]) {
	backwardData(s, gin, gout, w, ep, tail)
}

//go:noinline
func backwardWeightF32(s *Shape, gw Weights[float32], gb []float32, gout, in Image[float32], tail *Tail[float32]) {
	backwardWeight(s, gw, gb, gout, in, tail)
}

//go:noinline
func backwardBiasF32(gb []float32, gout Image[float32], n, channels int) {
	backwardBias(gb, gout, n, channels)
}

//go:noinline
func forwardDepthwiseF32(out, in Image[float32], first, depth, last *Layer[float32]) {
	forwardDepthwise(out, in, *first, *depth, last)
}

//go:noinline
func forwardF64(s *Shape, out, in Image[float64], w Weights[float64], ep *Epilogue[float64]) {
	forward(s, out, in, w, ep)
}

//go:noinline
func backwardDataF64(s *Shape, gin, gout Image[float64], w Weights[float64], ep *Epilogue[float64],
	tail *Tail[float64]) {
	backwardData(s, gin, gout, w, ep, tail)
}

//go:noinline
func backwardWeightF64(s *Shape, gw Weights[float64], gb []float64, gout, in Image[float64], tail *Tail[float64]) {
	backwardWeight(s, gw, gb, gout, in, tail)
}

//go:noinline
func backwardBiasF64(gb []float64, gout Image[float64], n, channels int) {
	backwardBias(gb, gout, n, channels)
}

//go:noinline
func forwardDepthwiseF64(out, in Image[float64], first, depth, last *Layer[float64]) {
	forwardDepthwise(out, in, *first, *depth, last)
}

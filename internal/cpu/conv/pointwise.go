package conv

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
)

// pointwiseMin is the image size from which a planar 1x1 convolution is a
// matrix product in place; smaller ones are better transposed.
const pointwiseMin = 128

// pointwise reports a planar 1x1 convolution without gaps: for each image a
// product of the weights with the planes.
func pointwise[T Float](s *Shape, out, in Image[T]) bool {
	one := [3]int{1, 1, 1}
	return s.Kernel == one && s.Stride == one && s.Pad == [3]int{} && s.In == s.Out && !in.Last && !out.Last &&
		volume(s.In) >= pointwiseMin && s.Cin/s.Groups > 1 && s.Cout/s.Groups > 1
}

// productEpilogue translates an epilogue for the matrix product, if that knows it.
func productEpilogue[T Float](ep *Epilogue[T], groups int) (*gemm.Epilogue[T], bool) {
	if ep == nil {
		return nil, true
	}
	e := &gemm.Epilogue[T]{BiasRow: ep.Bias}
	if ep.Clamp {
		if ep.Lo != 0 || !math.IsInf(float64(ep.Hi), 1) {
			return nil, false
		}
		e.Act = gemm.ActReLU
	}
	return e, ep.Residual == nil && (ep.Bias == nil || groups == 1)
}

// product computes out = W·in for every image and group, W being rows×cols of
// the group's weights with the given strides.
func product[T Float](s *Shape, out, in []T, rows, cols int, w []T, rs, cs int, ep *gemm.Epilogue[T]) {
	size := volume(s.In)
	gemm.GEMMBatch(productBatch(s, rows, cols), rows, size, cols, 1, w, rs, cs, in, size, 1, 0, out, size, 1, ep)
}

// productBatch is the batch of product: images and groups.
func productBatch(s *Shape, rows, cols int) []gemm.BatchDim {
	size := volume(s.In)
	batch := []gemm.BatchDim{{N: s.N, B: cols * s.Groups * size, C: rows * s.Groups * size}}
	if s.Groups > 1 {
		batch = append(batch, gemm.BatchDim{N: s.Groups, A: rows * cols, B: cols * size, C: rows * size})
	}
	return batch
}

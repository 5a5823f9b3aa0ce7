package conv

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

const (
	// pointwiseMin is the image size from which a planar 1x1 convolution is a
	// matrix product in place; smaller ones are better transposed.
	pointwiseMin = 128

	// pointwiseGradMaxChannels is the number of channels on one side up to which the gradient of the weights
	// of a 1x1 convolution is a matrix product in place: the kernels of gradJob hold a vector of channels on
	// either side.
	pointwiseGradMaxChannels = 4
)

// samePositions reports whether the convolution is 1x1 with stride 1 and no padding.
func (s *Shape) samePositions() bool {
	one := [3]int{1, 1, 1}
	return s.Kernel == one && s.Stride == one && s.Pad == [3]int{} && s.In == s.Out
}

// pointwise reports whether the convolution is, for each image and group, a matrix product of the weights
// with the planes of the image. An image of one channel counts as planar.
func pointwise[T Float](s *Shape, out, in Image[T], cout, cin int) bool {
	planar := (!in.Last || cin == 1) && (!out.Last || cout == 1)
	return planar && s.samePositions() && volume(s.In) >= pointwiseMin &&
		(s.Groups == 1 || s.Cin > s.Groups && s.Cout > s.Groups)
}

// productEpilogue translates an epilogue for the matrix product, or reports that the product cannot compute
// it.
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
	return e, ep.Residual == nil && ep.Tail == nil && (ep.Bias == nil || groups == 1)
}

// product computes out = W·in for every image and group. W is the rows×cols matrix of the group's weights
// with the given strides.
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

// pointwiseGrad computes the gradient of the weights of a 1x1 convolution with few channels on one side, or
// reports that the convolution is another one. It is a product of both images over the positions; the image
// of few channels gives the rows. The positions are cut into chunks with sums of their own, which are added
// in order.
func pointwiseGrad[T Float](s *Shape, gw Weights[T], gout, in Image[T]) bool {
	ci, co := s.Cin/s.Groups, s.Cout/s.Groups
	if !s.samePositions() || min(ci, co) > pointwiseGradMaxChannels || s.Groups > 1 && max(ci, co) == 1 {
		return false
	}
	few, many, m, n := gout, in, co, ci
	if ci < co {
		few, many, m, n = in, gout, ci, co
	}
	size := volume(s.In)
	planar := (!few.Last || m*s.Groups == 1) && (!many.Last || n*s.Groups == 1)
	if !planar && (s.Groups > 1 || !few.Last && m > 1 || !many.Last && n > 1) {
		return false
	}
	runs := s.N
	if !planar {
		size, runs = s.N*size, 1 // positions of all images follow one another
	}
	const piece = 1 << 12 // positions of a product
	pieces := ceilDiv(size, piece)
	chunks := min(runs*pieces, max(1, m*n*s.N*volume(s.In)>>18), gradTasks)
	var z T
	bytes := chunks * s.Groups * m * n * int(unsafe.Sizeof(z))
	p := mem.Alloc(bytes)
	defer mem.Free(p, bytes)
	parts := unsafe.Slice((*T)(p), chunks*s.Groups*m*n)
	par.For(chunks*s.Groups, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			grp, chunk := t%s.Groups, t/s.Groups
			sum := parts[t*m*n:][:m*n]
			var beta T
			for i := chunk * runs * pieces / chunks; i < (chunk+1)*runs*pieces/chunks; i++ {
				at := i % pieces * piece
				k := min(piece, size-at)
				if planar {
					img := i/pieces*s.Groups + grp
					gemm.GEMM(m, n, k, 1, few.Data[img*m*size+at:], size, 1, many.Data[img*n*size+at:], 1, size, beta,
						sum, n, 1, nil)
				} else {
					gemm.GEMM(m, n, k, 1, few.Data[at*m:], 1, m, many.Data[at*n:], n, 1, beta, sum, n, 1, nil)
				}
				beta = 1
			}
		}
	})
	for i := range gw.Data[:s.Cout*ci] {
		o, c := i/ci, i%ci
		at := o/co*m*n + o%co*n + c
		if ci < co {
			at = o/co*m*n + c*n + o%co
		}
		sum := parts[at]
		for chunk := 1; chunk < chunks; chunk++ {
			sum += parts[chunk*s.Groups*m*n+at]
		}
		gw.Data[i] = sum
	}
	return true
}

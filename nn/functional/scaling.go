package functional

import "github.com/gotorch-dev/torch/tensor"

// ScalingType says how a matrix of 8-bit floats was scaled: a recipe of [ScaledMM].
type ScalingType = int

// The recipes. The CPU multiplies matrices of the first two kinds; blocks are for GPUs.
const (
	ScalingTensorWise       ScalingType = iota // one number for the whole matrix
	ScalingRowWise                             // one for each row of the first factor, each column of the second
	ScalingBlockWise1x16                       // one for each 16 elements of a row
	ScalingBlockWise1x32                       // one for each 32 elements of a row
	ScalingBlockWise1x128                      // one for each 128 elements of a row
	ScalingBlockWise128x128                    // one for each block of 128 rows and columns
)

// SwizzleType says how the scales of a matrix are ordered in memory: an argument of [ScaledMM].
type SwizzleType = int

// The orders of scales. The CPU multiplies matrices whose scales are not swizzled.
const (
	NoSwizzle     SwizzleType = iota
	Swizzle32x4x4             // tiles of 32 x 4 x 4, as Blackwell GPUs read them
	Swizzle32x8               // tiles of 32 x 8
)

// The types that functions of this package take and return, as Python's module has them.
type (
	Tensor = tensor.Tensor
	DType  = tensor.DType
)

package functional

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

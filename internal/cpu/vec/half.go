package vec

// The tables of zz_half.go hold a kernel for float16 and one for bfloat16, in this order.
type (
	// Unary16 are kernels of one operand.
	Unary16 [2]func(dst, a []uint16)
	// Binary16 are kernels of two operands; those of gradients take the gradient first.
	Binary16 [2]func(dst, a, b []uint16)
	// Scalar16 are kernels of an operand and a number, which float32 holds.
	Scalar16 [2]func(dst, a []uint16, s float32)
	// Reduce16 are reductions of a slice.
	Reduce16 [2]func(a []uint16) float32
	// Rows16 are reductions of rows.
	Rows16 [2]func(dst []float32, a []uint16, rows, cols, lda int)
)

// SumF16 returns the sum of float16 values, added up in float32: that of SumF32 on the widened values.
func SumF16(a []uint16) float32 { return cascaded(a, sumBlockF16) }

// SumBF16 is SumF16 for bfloat16.
func SumBF16(a []uint16) float32 { return cascaded(a, sumBlockBF16) }

package vec

import "unsafe"

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

// Signs of 16-bit floats of both formats, and the bits behind them: runs that stay in the nearest cache.
var signs16, magnitudes16 = run16(0x8000), run16(0x7fff)

func run16(bits uint16) *[2048]uint16 {
	var run [2048]uint16
	for i := range run {
		run[i] = bits
	}
	return &run
}

// Neg16 and Abs16 look at nothing but the sign, NaN's too.
var (
	Neg16 = Unary16{neg16, neg16}
	Abs16 = Unary16{abs16, abs16}
)

func neg16(dst, a []uint16) {
	a = a[:len(dst)]
	for i := lanesRun(laneXor, dst, a, signs16); i < len(dst); i++ {
		dst[i] = a[i] ^ 0x8000
	}
}

func abs16(dst, a []uint16) {
	a = a[:len(dst)]
	for i := lanesRun(laneAnd, dst, a, magnitudes16); i < len(dst); i++ {
		dst[i] = a[i] & 0x7fff
	}
}

// lanesRun is lanes for an operation on bits whose second operand is a run of equal elements.
func lanesRun(op int, dst, a []uint16, run *[2048]uint16) int {
	f, unit, how := laneFunc(op, laneU8, 1)
	if f == nil {
		return 0
	}
	flags := 0
	if how&lanePast != 0 {
		flags = nonTemporalFlag(dst)
	}
	n := len(dst) - len(dst)%max(unit/2, 1)
	for i := 0; i < n; i += len(run) {
		cnt := min(n-i, len(run))
		f(unsafe.Pointer(&dst[i]), unsafe.Pointer(&a[i]), unsafe.Pointer(run), 2*cnt|flags)
		yield(i+cnt, n)
	}
	return n
}

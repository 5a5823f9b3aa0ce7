package vec

// This file holds reductions of many rows, cols elements each, lda elements apart: dst[r] is the reduction of
// a[r*lda:][:cols], the very bits that the function of one row gives. A call for many short rows lets the processor
// work on the next row while it folds the lanes of one.

// overRows runs a kernel on rows that fit a block, and the function of one row on longer ones.
func overRows[D, E any](dst []D, a []E, rows, cols, lda int, block func(rows, cols int, dst []D, a []E, lda int),
	one func(a []E) D) {
	if cols > 0 && cols <= redBlock {
		block(rows, cols, dst, a, lda)
		return
	}
	for r := range rows {
		dst[r] = one(a[r*lda:][:cols])
	}
}

// SumRowsF32 is SumF32 of rows.
func SumRowsF32(dst, a []float32, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, sumBlockRowsF32, SumF32)
}

// SumRowsF64 is SumF64 of rows.
func SumRowsF64(dst, a []float64, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, sumBlockRowsF64, SumF64)
}

// SumRows16 is SumF16 and SumBF16 of rows.
var SumRows16 = Rows16{
	func(dst []float32, a []uint16, rows, cols, lda int) {
		overRows(dst, a, rows, cols, lda, sumBlockRowsF16, SumF16)
	},
	func(dst []float32, a []uint16, rows, cols, lda int) {
		overRows(dst, a, rows, cols, lda, sumBlockRowsBF16, SumBF16)
	},
}

// SumNumbersF32 returns the sum of what is not NaN in a.
func SumNumbersF32(a []float32) float32 { return cascaded(a, sumNumbersBlockF32) }

// SumNumbersF64 is SumNumbersF32 for float64.
func SumNumbersF64(a []float64) float64 { return cascaded(a, sumNumbersBlockF64) }

// SumNumbersRowsF32 is SumNumbersF32 of rows.
func SumNumbersRowsF32(dst, a []float32, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, sumNumbersBlockRowsF32, SumNumbersF32)
}

// SumNumbersRowsF64 is SumNumbersF64 of rows.
func SumNumbersRowsF64(dst, a []float64, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, sumNumbersBlockRowsF64, SumNumbersF64)
}

// SumNumbers16 returns the sum of what is not NaN, added up in float32.
var SumNumbers16 = Reduce16{
	func(a []uint16) float32 { return cascaded(a, sumNumbersBlockF16) },
	func(a []uint16) float32 { return cascaded(a, sumNumbersBlockBF16) },
}

// SumNumbersRows16 is SumNumbers16 of rows.
var SumNumbersRows16 = Rows16{
	func(dst []float32, a []uint16, rows, cols, lda int) {
		overRows(dst, a, rows, cols, lda, sumNumbersBlockRowsF16, SumNumbers16[0])
	},
	func(dst []float32, a []uint16, rows, cols, lda int) {
		overRows(dst, a, rows, cols, lda, sumNumbersBlockRowsBF16, SumNumbers16[1])
	},
}

// SumSquaresRowsF64 is SumSquaresF64 of rows, around 0.
func SumSquaresRowsF64(dst, a []float64, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, func(rows, cols int, dst, a []float64, lda int) {
		sumSqBlockRowsF64(rows, cols, dst, a, lda, []float64{0}, 0)
	}, func(a []float64) float64 { return SumSquaresF64(a, 0) })
}

// SumSquaresRowsF32As64 is SumSquaresF32As64 of rows, around 0.
func SumSquaresRowsF32As64(dst []float64, a []float32, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, func(rows, cols int, dst []float64, a []float32, lda int) {
		sumSqBlockRowsF32As64(rows, cols, dst, a, lda, []float64{0}, 0)
	}, func(a []float32) float64 { return SumSquaresF32As64(a, 0) })
}

// MaxRowsF32 is MaxF32 of rows.
func MaxRowsF32(dst, a []float32, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, maxBlockRowsF32, MaxF32)
}

// MaxRowsF64 is MaxF64 of rows.
func MaxRowsF64(dst, a []float64, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, maxBlockRowsF64, MaxF64)
}

// MinRowsF32 is MinF32 of rows.
func MinRowsF32(dst, a []float32, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, minBlockRowsF32, MinF32)
}

// MinRowsF64 is MinF64 of rows.
func MinRowsF64(dst, a []float64, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, minBlockRowsF64, MinF64)
}

// Max16 and Min16 are MaxF32 and MinF32 of 16-bit floats.
var (
	Max16 = Reduce16{
		func(a []uint16) float32 { return extreme16(a, -inf32, 1, maxBlockF16) },
		func(a []uint16) float32 { return extreme16(a, -inf32, 1, maxBlockBF16) },
	}
	Min16 = Reduce16{
		func(a []uint16) float32 { return extreme16(a, inf32, -1, minBlockF16) },
		func(a []uint16) float32 { return extreme16(a, inf32, -1, minBlockBF16) },
	}
)

// MaxRows16 and MinRows16 are Max16 and Min16 of rows.
var (
	MaxRows16 = Rows16{
		func(dst []float32, a []uint16, rows, cols, lda int) {
			overRows(dst, a, rows, cols, lda, maxBlockRowsF16, Max16[0])
		},
		func(dst []float32, a []uint16, rows, cols, lda int) {
			overRows(dst, a, rows, cols, lda, maxBlockRowsBF16, Max16[1])
		},
	}
	MinRows16 = Rows16{
		func(dst []float32, a []uint16, rows, cols, lda int) {
			overRows(dst, a, rows, cols, lda, minBlockRowsF16, Min16[0])
		},
		func(dst []float32, a []uint16, rows, cols, lda int) {
			overRows(dst, a, rows, cols, lda, minBlockRowsBF16, Min16[1])
		},
	}
)

// extreme16 joins the extrema of blocks; the sign says which way is better.
func extreme16(a []uint16, best, sign float32, block func(a []uint16) float32) float32 {
	for len(a) > 0 {
		n := min(len(a), redBlock)
		if x := block(a[:n]); x != x {
			return x
		} else if sign*x > sign*best {
			best = x
		}
		a = a[n:]
	}
	return best
}

// ProdF64 returns the product of a, 1 if it is empty.
func ProdF64(a []float64) float64 {
	p := 1.0
	for len(a) > 0 {
		n := min(len(a), redBlock)
		p *= prodBlockF64(a[:n])
		a = a[n:]
	}
	return p
}

// ProdF32As64 is ProdF64 of float32, multiplied in float64.
func ProdF32As64(a []float32) float64 {
	p := 1.0
	for len(a) > 0 {
		n := min(len(a), redBlock)
		p *= prodBlockF32As64(a[:n])
		a = a[n:]
	}
	return p
}

// ProdRowsF64 is ProdF64 of rows.
func ProdRowsF64(dst, a []float64, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, prodBlockRowsF64, ProdF64)
}

// ProdRowsF32As64 is ProdF32As64 of rows.
func ProdRowsF32As64(dst []float64, a []float32, rows, cols, lda int) {
	overRows(dst, a, rows, cols, lda, prodBlockRowsF32As64, ProdF32As64)
}

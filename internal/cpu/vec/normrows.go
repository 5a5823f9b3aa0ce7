package vec

import "math"

// This file holds softmax and layer norm of many rows, cols adjacent elements each: the very bits that the functions of
// one row give. Each step is one call for all rows, which should together fit the first-level cache; a call for every
// short row would cost more than its work.

type real interface{ float32 | float64 }

// rowSteps are the steps on rows of a type. The numbers of a row, such as its mean, lie one after the other.
type rowSteps[E real] struct {
	sum            func(rows, cols int, dst, a []E, lda int)
	squares        func(rows, cols int, dst, a []E, lda int, c []E, ldc int)
	gradSums       func(rows, cols int, s0, s1, grad []E, ldgrad int, x []E, ldx int, mean []E, ldmean int)
	gradSumsWeight func(rows, cols int, s0, s1, grad []E, ldgrad int, w []E, ldw int, x []E, ldx int, mean []E,
		ldmean int)

	normalize func(rows, cols int, dst []E, lddst int, a []E, lda int, mean []E, ldmean int, rstd []E, ldrstd int)
	affine    func(rows, cols int, dst []E, lddst int, a []E, lda int, w []E, ldw int, c []E, ldc int, mean []E,
		ldmean int, rstd []E, ldrstd int)
	backward func(rows, cols int, dst []E, lddst int, grad []E, ldgrad int, x []E, ldx int, mean []E, ldmean int,
		rstd []E, ldrstd int, c1 []E, ldc1 int, c2 []E, ldc2 int)
	affineBackward func(rows, cols int, dst []E, lddst int, grad []E, ldgrad int, w []E, ldw int, x []E, ldx int,
		mean []E, ldmean int, rstd []E, ldrstd int, c1 []E, ldc1 int, c2 []E, ldc2 int)
	params func(rows, cols int, dw []E, lddw int, db []E, lddb int, grad []E, ldgrad int, x []E, ldx int,
		mean []E, ldmean int, rstd []E, ldrstd int)

	layerNorm     func(dst, a, w, c []E, eps E) (mean, rstd E)
	layerNormGrad func(dst, grad, w, x []E, mean, rstd E)

	zero []E // one number, the mean of rows that are taken as they are
}

var (
	rowSteps32 = rowSteps[float32]{sumBlockRowsF32, sumSqBlockRowsF32, gradSumsBlockRowsF32, gradSumsWeightBlockRowsF32,
		NormalizeRowsF32, NormalizeAffineRowsF32, NormalizeBackwardRowsF32, NormalizeAffineBackwardRowsF32,
		NormalizeParamsBackwardRowsF32,
		LayerNormF32, LayerNormGradF32, make([]float32, 1)}
	rowSteps64 = rowSteps[float64]{sumBlockRowsF64, sumSqBlockRowsF64, gradSumsBlockRowsF64, gradSumsWeightBlockRowsF64,
		NormalizeRowsF64, NormalizeAffineRowsF64, NormalizeBackwardRowsF64, NormalizeAffineBackwardRowsF64,
		NormalizeParamsBackwardRowsF64,
		LayerNormF64, LayerNormGradF64, make([]float64, 1)}
)

func stepsOf[E real]() *rowSteps[E] {
	if k, ok := any(&rowSteps32).(*rowSteps[E]); ok {
		return k
	}
	return any(&rowSteps64).(*rowSteps[E])
}

// eachRow calls f for the rows of cols elements of a run.
func eachRow(n, cols int, f func(lo, hi int)) {
	for lo := 0; lo < n; lo += cols {
		f(lo, lo+cols)
	}
}

// SoftmaxRowsF32 is SoftmaxF32 of the rows that dst and a consist of; tmp has room for two numbers a row.
func SoftmaxRowsF32(dst, a []float32, cols int, tmp []float32) {
	if cols > redBlock {
		eachRow(len(dst), cols, func(lo, hi int) { SoftmaxF32(dst[lo:hi], a[lo:hi]) })
		return
	}
	rows := len(dst) / cols
	m, s := tmp[:rows], tmp[rows:2*rows]
	maxNumberBlockRowsF32(rows, cols, m, a, cols) // NaN reaches the sum by itself
	expSumBlockRowsF32(rows, cols, s, dst, cols, a, cols, m, 1)
	for i, x := range s {
		s[i] = 1 / x
	}
	MulScalarRowsF32(rows, cols, dst, cols, dst, cols, s, 1)
}

// LogSoftmaxRowsF32 is LogSoftmaxF32 of rows; tmp has room for two numbers a row. round, unless nil, rounds the rows'
// sums and then their logarithms.
func LogSoftmaxRowsF32(dst, a []float32, cols int, tmp []float32, round func(x []float32)) {
	if cols > redBlock {
		eachRow(len(dst), cols, func(lo, hi int) { logSoftmax(dst[lo:hi], a[lo:hi], round) })
		return
	}
	rows := len(dst) / cols
	m, s := tmp[:rows], tmp[rows:2*rows]
	maxNumberBlockRowsF32(rows, cols, m, a, cols)
	sumExpBlockRowsF32(rows, cols, s, a, cols, m, 1)
	logarithms(s, round)
	logSoftmaxShiftRowsF32(rows, cols, dst, cols, a, cols, m, 1, s, 1)
}

// MaxSumExpRowsF32 sets top and sum to the maximum of each row and the sum of e^(a[i]-top) over it. The sum, not the
// maximum, of a short row with NaN is NaN.
func MaxSumExpRowsF32(top, sum, a []float32, cols int) {
	if cols > redBlock {
		for i := range top {
			row := a[i*cols:][:cols]
			top[i] = MaxF32(row)
			sum[i] = SumExpF32(row, top[i])
		}
		return
	}
	maxNumberBlockRowsF32(len(top), cols, top, a, cols)
	sumExpBlockRowsF32(len(top), cols, sum, a, cols, top, 1)
}

// SoftmaxGradRowsF32 is SoftmaxGradF32 of rows; tmp has room for a number a row.
func SoftmaxGradRowsF32(dst, grad, y []float32, cols int, tmp []float32) {
	if cols > redBlock {
		eachRow(len(dst), cols, func(lo, hi int) { SoftmaxGradF32(dst[lo:hi], grad[lo:hi], y[lo:hi]) })
		return
	}
	rows := len(dst) / cols
	dotBlockRowsF32(rows, cols, tmp, grad, cols, y, cols)
	SoftmaxBackwardRowsF32(rows, cols, dst, cols, grad, cols, y, cols, tmp, 1)
}

// LogSoftmaxGradRowsF32 is LogSoftmaxGradF32 of rows; tmp has room for a number a row.
func LogSoftmaxGradRowsF32(dst, grad, y []float32, cols int, tmp []float32) {
	if cols > redBlock {
		eachRow(len(dst), cols, func(lo, hi int) { LogSoftmaxGradF32(dst[lo:hi], grad[lo:hi], y[lo:hi]) })
		return
	}
	rows := len(dst) / cols
	sumBlockRowsF32(rows, cols, tmp, grad, cols)
	LogSoftmaxBackwardRowsF32(rows, cols, dst, cols, grad, cols, y, cols, tmp, 1)
}

// LayerNormRows is LayerNormF32 or LayerNormF64 of rows, with w and c both given or both nil. The results for each row
// go to mean and rstd.
func LayerNormRows[E real](dst, a, w, c []E, cols int, eps E, mean, rstd []E) {
	k := stepsOf[E]()
	if cols > redBlock || cols == 0 {
		for r := range mean {
			mean[r], rstd[r] = k.layerNorm(dst[r*cols:][:cols], a[r*cols:][:cols], w, c, eps)
		}
		return
	}
	rows, n := len(mean), E(cols)
	k.sum(rows, cols, mean, a, cols)
	for i := range mean {
		mean[i] /= n
	}
	k.squares(rows, cols, rstd, a, cols, mean, 1)
	for i, s := range rstd {
		v := s / n
		if hardlyVaries(mean[i], v) {
			if a, ok := any(a[i*cols:][:cols]).([]float32); ok {
				m, v32 := preciseMeanVar(a)
				mean[i], v = E(m), E(v32)
			}
		}
		rstd[i] = 1 / E(math.Sqrt(float64(v+eps)))
	}
	if w == nil {
		k.normalize(rows, cols, dst, cols, a, cols, mean, 1, rstd, 1)
	} else {
		k.affine(rows, cols, dst, cols, a, cols, w, 0, c, 0, mean, 1, rstd, 1)
	}
}

// RMSNormRows divides each row, of at most 4096 elements, by the root of its mean square plus eps, whose reciprocals go
// to rstd. With w and c, both given or both nil, it is multiplied by w and added to c.
func RMSNormRows[E real](dst, a, w, c []E, cols int, eps float64, rstd []E) {
	k := stepsOf[E]()
	rows := len(rstd)
	k.squares(rows, cols, rstd, a, cols, k.zero, 0)
	for i, s := range rstd {
		rstd[i] = E(1 / math.Sqrt(preciseSquares(float64(s), a[i*cols:][:cols])/float64(cols)+eps))
	}
	if w == nil {
		k.normalize(rows, cols, dst, cols, a, cols, k.zero, 0, rstd, 1)
	} else {
		k.affine(rows, cols, dst, cols, a, cols, w, 0, c, 0, k.zero, 0, rstd, 1)
	}
}

// RMSNormGradRows is RMSNormGradF32 of rows; tmp has room for two numbers a row.
func RMSNormGradRows(dst, grad, w, x []float32, cols int, rstd, tmp []float32) {
	if cols > redBlock {
		for r, s := range rstd {
			lo, hi := r*cols, (r+1)*cols
			RMSNormGradF32(dst[lo:hi], grad[lo:hi], w, x[lo:hi], s)
		}
		return
	}
	k := stepsOf[float32]()
	rows, n := len(rstd), float32(cols)
	s0, s1 := tmp[:rows], tmp[rows:2*rows]
	if w == nil {
		k.gradSums(rows, cols, s0, s1, grad, cols, x, cols, k.zero, 0)
	} else {
		k.gradSumsWeight(rows, cols, s0, s1, grad, cols, w, 0, x, cols, k.zero, 0)
	}
	for i, s := range rstd {
		s1[i] = s1[i] / n * s * s
	}
	if w == nil {
		k.backward(rows, cols, dst, cols, grad, cols, x, cols, k.zero, 0, rstd, 1, k.zero, 0, s1, 1)
	} else {
		k.affineBackward(rows, cols, dst, cols, grad, cols, w, 0, x, cols, k.zero, 0, rstd, 1, k.zero, 0, s1, 1)
	}
}

// RMSNormParamsRows adds the rows' shares to the gradient of the weight, and to db the sums of grad, row after row.
func RMSNormParamsRows(dw, db, grad, x []float32, cols int, rstd []float32) {
	k := stepsOf[float32]()
	k.params(len(rstd), cols, dw, 0, db, 0, grad, cols, x, cols, k.zero, 0, rstd, 1)
}

// LayerNormGradRows is LayerNormGradF32 or LayerNormGradF64 of rows; tmp has room for two numbers a row.
func LayerNormGradRows[E real](dst, grad, w, x []E, cols int, mean, rstd, tmp []E) {
	k := stepsOf[E]()
	if cols > redBlock {
		for r := range mean {
			lo, hi := r*cols, (r+1)*cols
			k.layerNormGrad(dst[lo:hi], grad[lo:hi], w, x[lo:hi], mean[r], rstd[r])
		}
		return
	}
	rows, n := len(mean), E(cols)
	s0, s1 := tmp[:rows], tmp[rows:2*rows]
	if w == nil {
		k.gradSums(rows, cols, s0, s1, grad, cols, x, cols, mean, 1)
	} else {
		k.gradSumsWeight(rows, cols, s0, s1, grad, cols, w, 0, x, cols, mean, 1)
	}
	for i, s := range rstd {
		s0[i] /= n
		s1[i] = s1[i] / n * s * s
	}
	if w == nil {
		k.backward(rows, cols, dst, cols, grad, cols, x, cols, mean, 1, rstd, 1, s0, 1, s1, 1)
	} else {
		k.affineBackward(rows, cols, dst, cols, grad, cols, w, 0, x, cols, mean, 1, rstd, 1, s0, 1, s1, 1)
	}
}

// LayerNormParamsRows adds the rows' shares to the gradients of the affine parameters, row after row.
func LayerNormParamsRows[E real](dw, db, grad, x []E, cols int, mean, rstd []E) {
	stepsOf[E]().params(len(mean), cols, dw, 0, db, 0, grad, cols, x, cols, mean, 1, rstd, 1)
}

// GradSumsRows is GradSumsF32 or GradSumsF64, without weights, of the rows of cols elements that grad and x consist of,
// each with a mean of its own.
func GradSumsRows[E real](s0, s1, grad, x []E, cols int, mean []E) {
	if cols == 0 || cols > redBlock {
		panic("vec: rows that are no block")
	}
	stepsOf[E]().gradSums(len(mean), cols, s0, s1, grad, cols, x, cols, mean, 1)
}

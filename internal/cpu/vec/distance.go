package vec

// Distances are functions of the difference of two rows, added up or compared. Each sets dst[r] to that of a and of row
// r of b, whose rows are as long as a and lie one after the other.
type Distances[E real] struct {
	Abs, Square, Max func(dst, a, b []E)

	addDiff, addSign func(rows, cols int, dst []E, ldd int, a []E, lda int, b []E, ldb int, s []E, lds int)
}

// AddDiffs adds s[r]*(a-b) to dst for each row r of b, one after the other.
func (k *Distances[E]) AddDiffs(dst, a, b, s []E) {
	k.addDiff(len(s), len(a), dst, 0, a, 0, b, len(a), s, 1)
}

// AddSigns adds s[r] with the sign of a-b, nothing where that is 0 or NaN.
func (k *Distances[E]) AddSigns(dst, a, b, s []E) {
	k.addSign(len(s), len(a), dst, 0, a, 0, b, len(a), s, 1)
}

// Distances32 and Distances64 are the sum of |a-b|, the sum of (a-b)² and the largest |a-b|, NaN if there is one.
var (
	Distances32 = Distances[float32]{
		distances(absDiffBlockRowsF32, plus[float32]), distances(sqDiffBlockRowsF32, plus[float32]),
		distances(maxDiffBlockRowsF32, larger[float32]),
		addDiffRowsF32, addSignRowsF32}
	Distances64 = Distances[float64]{
		distances(absDiffBlockRowsF64, plus[float64]), distances(sqDiffBlockRowsF64, plus[float64]),
		distances(maxDiffBlockRowsF64, larger[float64]),
		addDiffRowsF64, addSignRowsF64}
)

func plus[E real](x, y E) E { return x + y }

// larger is the larger one, NaN where there is one.
func larger[E real](x, y E) E {
	if x > y || x != x {
		return x
	}
	return y
}

// distances cuts long rows into blocks, whose results join takes together.
func distances[E real](block func(rows, cols int, dst, a []E, lda int, b []E, ldb int), join func(x, y E) E) func(dst,
	a, b []E) {
	return func(dst, a, b []E) {
		n := len(a)
		if n == 0 {
			clear(dst)
			return
		}
		block(len(dst), min(n, redBlock), dst, a, 0, b, n)
		if n <= redBlock {
			return
		}
		for r := range dst {
			for from := redBlock; from < n; from += redBlock {
				to := min(n, from+redBlock)
				var x [1]E
				block(1, to-from, x[:], a[from:], 0, b[r*n+from:], 0)
				dst[r] = join(dst[r], x[0])
			}
		}
	}
}

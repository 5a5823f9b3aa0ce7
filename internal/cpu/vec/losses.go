package vec

// The sums of losses are added up in float64 from blocks of float32, as the reductions of tensors are.

func sumBlocks(a, b []float32, block func(a, b []float32) float32) float64 {
	b = b[:len(a)]
	s := 0.0
	for len(a) > 0 {
		n := min(len(a), redBlock)
		s += float64(block(a[:n], b[:n]))
		a, b = a[n:], b[n:]
	}
	return s
}

// SquaredErrorF32 returns the sum of (a[i]-b[i])².
func SquaredErrorF32(a, b []float32) float64 { return sumBlocks(a, b, squaredErrorBlockF32) }

// AbsErrorF32 returns the sum of |a[i]-b[i]|.
func AbsErrorF32(a, b []float32) float64 { return sumBlocks(a, b, absErrorBlockF32) }

// HuberF32 returns the sum of square*z² where z = |a[i]-b[i]| is up to limit, else of slope*(z - limit/2).
func HuberF32(a, b []float32, limit, square, slope float32) float64 {
	return sumBlocks(a, b, func(a, b []float32) float32 { return huberBlockF32(a, b, limit, square, slope) })
}

// CrossEntropyF32 returns the sum of -(b[i]*log(a[i]) + (1-b[i])*log(1-a[i])), with logarithms of at least -100, and
// whether all of a lies within 0 and 1 (or is NaN).
func CrossEntropyF32(a, b []float32) (sum float64, ok bool) {
	ok = true
	sum = sumBlocks(a, b, func(a, b []float32) float32 {
		s, bad := crossEntropyBlockF32(a, b)
		ok = ok && bad == 0
		return s
	})
	return sum, ok
}

// LogitEntropyF32 is CrossEntropyF32 for the sigmoids of a.
func LogitEntropyF32(a, b []float32) float64 { return sumBlocks(a, b, logitEntropyBlockF32) }

// DivergenceF32 returns the sum of b[i]*(log(b[i]) - a[i]), 0 where b[i] is.
func DivergenceF32(a, b []float32) float64 { return sumBlocks(a, b, divergenceBlockF32) }

// LogDivergenceF32 returns the sum of e^b[i]*(b[i] - a[i]).
func LogDivergenceF32(a, b []float32) float64 { return sumBlocks(a, b, logDivergenceBlockF32) }

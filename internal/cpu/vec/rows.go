package vec

import "math"

// SoftmaxF32 sets dst to e^(a[i]-max) divided by the sum of these. A row of
// -Inf alone, or one with NaN or +Inf, gives NaN, as in PyTorch.
func SoftmaxF32(dst, a []float32) {
	a = a[:len(dst)]
	if len(dst) == 0 {
		return
	}
	m := MaxF32(a)
	sum := ExpSumF32(dst, a, m)
	MulScalarF32(dst, dst, 1/sum)
}

// ExpSumF32 sets dst[i] = e^(a[i]-m) and returns the sum.
func ExpSumF32(dst, a []float32, m float32) float32 { return expSums(expSumBlockF32, dst, a, m) }

// ExpOrZeroSumF32 is ExpSumF32 with 0 for what is below e^-87.
func ExpOrZeroSumF32(dst, a []float32, m float32) float32 {
	return expSums(expOrZeroSumBlockF32, dst, a, m)
}

// ExpOrZeroSumF64 is ExpSumF64 with 0 for what is below e^-708.
func ExpOrZeroSumF64(dst, a []float64, m float64) float64 {
	return expSums(expOrZeroSumBlockF64, dst, a, m)
}

// expSums adds up what block returns for the blocks of a row.
func expSums[E float32 | float64](block func(dst, a []E, m E) E, dst, a []E, m E) E {
	if len(dst) <= redBlock {
		return block(dst, a, m)
	}
	var c cascade[E]
	for len(dst) > 0 {
		n := min(len(dst), redBlock)
		c.push(block(dst[:n], a[:n], m))
		dst, a = dst[n:], a[n:]
	}
	return c.sum()
}

// SumExpF32 returns the sum of e^(a[i]-m).
func SumExpF32(a []float32, m float32) float32 {
	if len(a) <= redBlock {
		return sumExpBlockF32(a, m)
	}
	var c cascade[float32]
	for len(a) > 0 {
		n := min(len(a), redBlock)
		c.push(sumExpBlockF32(a[:n], m))
		a = a[n:]
	}
	return c.sum()
}

// LogSumExpF32 returns log(sum(e^a[i])), -Inf if a is empty.
func LogSumExpF32(a []float32) float32 {
	m := MaxF32(a)
	if math.IsInf(float64(m), 0) {
		// All -Inf, or a +Inf: the difference to the maximum would be NaN.
		return m
	}
	return m + float32(math.Log(float64(SumExpF32(a, m))))
}

// LogSoftmaxF32 sets dst to a[i] - log(sum(e^a)). A row of -Inf alone gives
// NaN, as in PyTorch.
func LogSoftmaxF32(dst, a []float32) {
	a = a[:len(dst)]
	if len(dst) == 0 {
		return
	}
	logSoftmax(dst, a, nil)
}

func logSoftmax(dst, a []float32, round func(x []float32)) {
	m := MaxF32(a)
	s := [1]float32{SumExpF32(a, m)}
	logarithms(s[:], round)
	// Two subtractions: m + s would lose digits of s where m is large.
	logSoftmaxShiftF32(dst, a, m, s[0])
}

// logarithms sets sums to their logarithms, with round, unless it is nil, before and after.
func logarithms(sums []float32, round func(x []float32)) {
	if round != nil {
		round(sums)
	}
	for i, x := range sums {
		sums[i] = float32(math.Log(float64(x)))
	}
	if round != nil {
		round(sums)
	}
}

// SoftmaxGradF32 sets dst to the input gradient of softmax over a row, from
// the gradient and the result y.
func SoftmaxGradF32(dst, grad, y []float32) {
	grad, y = grad[:len(dst)], y[:len(dst)]
	SoftmaxBackwardF32(dst, grad, y, DotF32(grad, y))
}

// LogSoftmaxGradF32 sets dst to the input gradient of log_softmax over a row,
// from the gradient and the result y.
func LogSoftmaxGradF32(dst, grad, y []float32) {
	grad, y = grad[:len(dst)], y[:len(dst)]
	LogSoftmaxBackwardF32(dst, grad, y, SumF32(grad))
}

// MeanVarF32 returns the mean of a and its biased variance, in two passes;
// NaN for an empty row. The mean of a row that hardly varies is computed again in float64.
func MeanVarF32(a []float32) (mean, variance float32) {
	n := float32(len(a))
	mean = SumF32(a) / n
	variance = SumSquaresF32(a, mean) / n
	if hardlyVaries(mean, variance) {
		return preciseMeanVar(a)
	}
	return mean, variance
}

// hardlyVaries says that the elements' deviations from their mean are so much smaller than the mean that what float32
// sums lose of it would show in them.
func hardlyVaries[E real](mean, variance E) bool { return mean*mean > 256*variance }

// preciseMeanVar is MeanVarF32 with the mean summed in float64.
func preciseMeanVar(a []float32) (mean, variance float32) {
	n := float32(len(a))
	mean = float32(SumF32As64(a) / float64(n))
	return mean, SumSquaresF32(a, mean) / n
}

// LayerNormF32 normalises one row: dst[i] = (a[i]-mean)*rstd*w[i] + c[i],
// where rstd is 1/sqrt(variance + eps). Without w there is no scale and with
// w but no c no shift. It returns what the backward pass needs.
func LayerNormF32(dst, a, w, c []float32, eps float32) (mean, rstd float32) {
	a = a[:len(dst)]
	mean, variance := MeanVarF32(a)
	rstd = 1 / float32(math.Sqrt(float64(variance+eps)))
	switch {
	case w != nil && c != nil:
		NormalizeAffineF32(dst, a, w, c, mean, rstd)
	default:
		NormalizeF32(dst, a, mean, rstd)
		if w != nil {
			MulF32(dst, dst, w)
		}
		if c != nil {
			AddF32(dst, dst, c)
		}
	}
	return mean, rstd
}

// LayerNormGradF32 sets dst to the input gradient of one row of layer norm;
// w may be nil. The parameters' share is NormalizeParamsBackwardF32.
func LayerNormGradF32(dst, grad, w, x []float32, mean, rstd float32) {
	grad, x = grad[:len(dst)], x[:len(dst)]
	n := float32(len(dst))
	s0, s1 := GradSumsF32(grad, w, x, mean)
	c1, c2 := s0/n, s1/n*rstd*rstd
	if w == nil {
		NormalizeBackwardF32(dst, grad, x, mean, rstd, c1, c2)
	} else {
		NormalizeAffineBackwardF32(dst, grad, w[:len(dst)], x, mean, rstd, c1, c2)
	}
}

// RMSNormGradF32 sets dst to the input gradient of one row of RMS norm; w may be nil. The weight's share is
// NormalizeParamsBackwardF32 with a mean of 0.
func RMSNormGradF32(dst, grad, w, x []float32, rstd float32) {
	grad, x = grad[:len(dst)], x[:len(dst)]
	_, s := GradSumsF32(grad, w, x, 0)
	c := s / float32(len(dst)) * rstd * rstd
	if w == nil {
		NormalizeBackwardF32(dst, grad, x, 0, rstd, 0, c)
	} else {
		NormalizeAffineBackwardF32(dst, grad, w[:len(dst)], x, 0, rstd, 0, c)
	}
}

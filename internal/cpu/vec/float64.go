package vec

import "math"

// ExpSumF64 is ExpSumF32 for float64.
func ExpSumF64(dst, a []float64, m float64) float64 {
	SubScalarF64(dst, a, m)
	ExpF64(dst, dst)
	return SumF64(dst)
}

// SumExpF64 returns the sum of e^(a[i]-m), where m is the largest element: what is below e^-708 does not count.
func SumExpF64(a []float64, m float64) float64 {
	if len(a) <= 32 { // short rows would spend much of their time on clearing the memory of long ones
		var part [32]float64
		return expOrZeroSumBlockF64(part[:len(a)], a, m)
	}
	var part [256]float64
	if len(a) <= len(part) {
		return expOrZeroSumBlockF64(part[:len(a)], a, m)
	}
	var c cascade[float64]
	for len(a) > 0 {
		n := min(len(a), len(part))
		c.push(expOrZeroSumBlockF64(part[:n], a[:n], m))
		a = a[n:]
	}
	return c.sum()
}

// SoftmaxF64 is SoftmaxF32 for float64.
func SoftmaxF64(dst, a []float64) {
	a = a[:len(dst)]
	if len(dst) == 0 {
		return
	}
	MulScalarF64(dst, dst, 1/ExpSumF64(dst, a, MaxF64(a)))
}

// LogSumExpF64 is LogSumExpF32 for float64.
func LogSumExpF64(a []float64) float64 {
	m := MaxF64(a)
	if math.IsInf(m, 0) {
		return m
	}
	return m + math.Log(SumExpF64(a, m))
}

// LogSoftmaxF64 is LogSoftmaxF32 for float64.
func LogSoftmaxF64(dst, a []float64) {
	a = a[:len(dst)]
	if len(dst) == 0 {
		return
	}
	m := MaxF64(a)
	s := math.Log(SumExpF64(a, m))
	for i, x := range a {
		dst[i] = (x - m) - s
	}
}

// SoftmaxGradF64 is SoftmaxGradF32 for float64.
func SoftmaxGradF64(dst, grad, y []float64) {
	grad, y = grad[:len(dst)], y[:len(dst)]
	SoftmaxBackwardF64(dst, grad, y, DotF64(grad, y))
}

// LogSoftmaxGradF64 is LogSoftmaxGradF32 for float64.
func LogSoftmaxGradF64(dst, grad, y []float64) {
	grad, y = grad[:len(dst)], y[:len(dst)]
	s := SumF64(grad)
	var part [256]float64
	for len(dst) > 0 {
		n := min(len(dst), len(part))
		ExpF64(part[:n], y[:n])
		AddScaledF64(dst[:n], grad[:n], part[:n], -s)
		dst, grad, y = dst[n:], grad[n:], y[n:]
	}
}

// MeanVarF64 is MeanVarF32 for float64.
func MeanVarF64(a []float64) (mean, variance float64) {
	n := float64(len(a))
	mean = SumF64(a) / n
	return mean, SumSquaresF64(a, mean) / n
}

// LayerNormF64 is LayerNormF32 for float64.
func LayerNormF64(dst, a, w, c []float64, eps float64) (mean, rstd float64) {
	a = a[:len(dst)]
	mean, variance := MeanVarF64(a)
	rstd = 1 / math.Sqrt(variance+eps)
	switch {
	case w != nil && c != nil:
		NormalizeAffineF64(dst, a, w, c, mean, rstd)
	default:
		NormalizeF64(dst, a, mean, rstd)
		if w != nil {
			MulF64(dst, dst, w)
		}
		if c != nil {
			AddF64(dst, dst, c)
		}
	}
	return mean, rstd
}

// LayerNormGradF64 is LayerNormGradF32 for float64.
func LayerNormGradF64(dst, grad, w, x []float64, mean, rstd float64) {
	grad, x = grad[:len(dst)], x[:len(dst)]
	n := float64(len(dst))
	s0, s1 := GradSumsF64(grad, w, x, mean)
	c1, c2 := s0/n, s1/n*rstd*rstd
	if w == nil {
		NormalizeBackwardF64(dst, grad, x, mean, rstd, c1, c2)
	} else {
		NormalizeAffineBackwardF64(dst, grad, w[:len(dst)], x, mean, rstd, c1, c2)
	}
}

package vec

import "math"

// These float64 forms of transcendental kernels are loops over package math:
// float64 serves gradient checks and statistics, not training.

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// softplus is log(1 + e^x) for any x.
func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x*(math.Sqrt2/2)) }

// gelu keeps the digits of the far negative tail, where 1 + erf cancels. At
// -Inf it is NaN, as in PyTorch.
func gelu(x float64) float64 { return x * normalCDF(x) }

const geluTanhBeta = 0.7978845608028654 // sqrt(2/pi)

func geluTanhArg(x float64) float64 { return geluTanhBeta * (x + 0.044715*x*x*x) }

func geluTanhGrad(x float64) float64 {
	t := math.Tanh(geluTanhArg(x))
	return 0.5*(1+t) + 0.5*x*(1-t*t)*geluTanhBeta*(1+3*0.044715*x*x)
}

func siluGrad(x float64) float64 {
	s := sigmoid(x)
	return s * (1 + x*(1-s))
}

func mishGrad(x float64) float64 {
	t := math.Tanh(softplus(x))
	return t + x*(1-t*t)*sigmoid(x)
}

// Exp2F64 sets dst[i] = 2^a[i].
func Exp2F64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = math.Exp2(x)
	}
}

// Expm1F64 sets dst[i] = e^a[i] - 1.
func Expm1F64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = math.Expm1(x)
	}
}

// Log1pF64 sets dst[i] = log(1 + a[i]).
func Log1pF64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = math.Log1p(x)
	}
}

// Log2F64 sets dst[i] = the logarithm of a[i] to base 2.
func Log2F64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = math.Log2(x)
	}
}

// Log10F64 sets dst[i] = the logarithm of a[i] to base 10.
func Log10F64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = math.Log10(x)
	}
}

// ErfF64 sets dst[i] = the error function of a[i].
func ErfF64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = math.Erf(x)
	}
}

// SinF64 sets dst[i] = sin(a[i]).
func SinF64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = math.Sin(x)
	}
}

// CosF64 sets dst[i] = cos(a[i]).
func CosF64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = math.Cos(x)
	}
}

// GELUF64 sets dst[i] = a[i] times the normal distribution function of a[i].
func GELUF64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = gelu(x)
	}
}

// GELUTanhF64 sets dst[i] = the tanh approximation of GELU of a[i].
func GELUTanhF64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = 0.5 * x * (1 + math.Tanh(geluTanhArg(x)))
	}
}

// LogSigmoidF64 sets dst[i] = log(1 / (1 + e^-a[i])).
func LogSigmoidF64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = math.Min(x, 0) - math.Log1p(math.Exp(-math.Abs(x)))
	}
}

// MishF64 sets dst[i] = a[i] * tanh(log(1 + e^a[i])).
func MishF64(dst, a []float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = x * math.Tanh(softplus(x))
	}
}

// GELUBackwardF64 sets dst[i] = grad[i] times the derivative of GELU at x[i].
func GELUBackwardF64(dst, grad, x []float64) {
	grad, x = grad[:len(dst)], x[:len(dst)]
	for i, x := range x {
		dst[i] = grad[i] * (normalCDF(x) + x*math.Exp(-0.5*x*x)/math.Sqrt(2*math.Pi))
	}
}

// GELUTanhBackwardF64 sets dst[i] = grad[i] times the derivative of the tanh approximation of GELU at x[i].
func GELUTanhBackwardF64(dst, grad, x []float64) {
	grad, x = grad[:len(dst)], x[:len(dst)]
	for i, x := range x {
		dst[i] = grad[i] * (geluTanhGrad(x))
	}
}

// SiLUBackwardF64 sets dst[i] = grad[i] times the derivative of SiLU at x[i].
func SiLUBackwardF64(dst, grad, x []float64) {
	grad, x = grad[:len(dst)], x[:len(dst)]
	for i, x := range x {
		dst[i] = grad[i] * (siluGrad(x))
	}
}

// LogSigmoidBackwardF64 sets dst[i] = grad[i] times the derivative of log(sigmoid) at x[i].
func LogSigmoidBackwardF64(dst, grad, x []float64) {
	grad, x = grad[:len(dst)], x[:len(dst)]
	for i, x := range x {
		dst[i] = grad[i] * (sigmoid(-x))
	}
}

// MishBackwardF64 sets dst[i] = grad[i] times the derivative of Mish at x[i].
func MishBackwardF64(dst, grad, x []float64) {
	grad, x = grad[:len(dst)], x[:len(dst)]
	for i, x := range x {
		dst[i] = grad[i] * (mishGrad(x))
	}
}

// PowF64 sets dst[i] = a[i]^b[i].
func PowF64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, x := range a {
		dst[i] = math.Pow(x, b[i])
	}
}

// PowScalarF64 sets dst[i] = a[i]^s.
func PowScalarF64(dst, a []float64, s float64) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = math.Pow(x, s)
	}
}

// SoftplusF64 is SoftplusF32 for float64.
func SoftplusF64(dst, a []float64, beta, threshold float64) {
	a = a[:len(dst)]
	for i, x := range a {
		if x*beta > threshold {
			dst[i] = x
		} else {
			dst[i] = softplus(x*beta) / beta
		}
	}
}

// SoftplusBackwardF64 is SoftplusBackwardF32 for float64.
func SoftplusBackwardF64(dst, grad, x []float64, beta, threshold float64) {
	grad, x = grad[:len(dst)], x[:len(dst)]
	for i, x := range x {
		if x*beta > threshold {
			dst[i] = grad[i]
		} else {
			dst[i] = grad[i] * sigmoid(x*beta)
		}
	}
}

// ELUF64 is ELUF32 for float64.
func ELUF64(dst, a []float64, alpha, scale, inputScale float64) {
	a = a[:len(dst)]
	for i, x := range a {
		if x > 0 {
			dst[i] = x * scale
		} else {
			dst[i] = alpha * scale * math.Expm1(x*inputScale)
		}
	}
}

// ELUBackwardF64 is ELUBackwardF32 for float64.
func ELUBackwardF64(dst, grad, x []float64, alpha, scale, inputScale float64) {
	grad, x = grad[:len(dst)], x[:len(dst)]
	for i, x := range x {
		if x > 0 {
			dst[i] = grad[i] * scale
		} else {
			dst[i] = grad[i] * (alpha * scale * inputScale * math.Exp(x*inputScale))
		}
	}
}

// ExpSumF64 is ExpSumF32 for float64.
func ExpSumF64(dst, a []float64, m float64) float64 {
	SubScalarF64(dst, a, m)
	ExpF64(dst, dst)
	return SumF64(dst)
}

// SumExpF64 returns the sum of e^(a[i]-m).
func SumExpF64(a []float64, m float64) float64 {
	var c cascade[float64]
	var part [256]float64
	for len(a) > 0 {
		n := min(len(a), len(part))
		c.push(ExpSumF64(part[:n], a[:n], m))
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
	for i, g := range grad {
		dst[i] = g - math.Exp(y[i])*s
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

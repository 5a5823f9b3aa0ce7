package random

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
		Doc: "draws from Gamma distributions with the concentrations in self and rate 1. The gradient is that of " +
			"the draw at a fixed quantile.",
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			t, o, g := c.T(0), c.Out(0), generator(c, 1)
			var err error
			if t.DType() == tensor.Float64 {
				err = rng.StandardGamma(g, tensor.Data[float64](o), tensor.Data[float64](tensor.Dense(t)))
			} else {
				w := tensor.New(o.Shape(), tensor.Float32)
				alpha := tensor.DenseAs(t, tensor.Float32)
				err = rng.StandardGamma(g, tensor.Data[float32](w), tensor.Data[float32](alpha))
				tensor.CopyRaw(o, w)
			}
			if err != nil {
				c.Fail(tensor.ErrValue, "%s", err)
			}
		},
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			return c.Grads1(g.Mul(op.Call1("aten::_standard_gamma_grad", c.T(0), c.Out(0))))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
		Doc:    "is the derivative of a draw from a Gamma distribution, in output, by its concentration, in self.",
		NoGrad: "PyTorch has none either",
		Infer:  func(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			o := c.Out(0)
			a, x := wideTo(c.T(0), o.Shape()), wideTo(c.T(1), o.Shape())
			w := tensor.New(o.Shape(), tensor.Float64)
			d := tensor.Data[float64](w)
			par.For(len(d), gammaBlock, func(lo, hi int) { gammaGrads(d[lo:hi], a[lo:hi], x[lo:hi]) })
			tensor.CopyRaw(o, w)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
		Doc:    "draws from Dirichlet distributions with the concentrations in the last dimension of self.",
		NoGrad: "random numbers",
		Infer:  func(c *Ctx) { c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			t, o, g := c.T(0), c.Out(0), generator(c, 1)
			if t.Numel() == 0 {
				return
			}
			k := 1
			if t.Dim() > 0 {
				k = t.Size(-1)
			}
			var err error
			if t.DType() == tensor.Float64 {
				err = rng.Dirichlet(g, tensor.Data[float64](o), tensor.Data[float64](tensor.Dense(t)), k)
			} else {
				w := tensor.New(o.Shape(), tensor.Float32)
				err = rng.Dirichlet(g, tensor.Data[float32](w), tensor.Data[float32](tensor.DenseAs(t, tensor.Float32)),
					k)
				tensor.CopyRaw(o, w)
			}
			if err != nil {
				c.Fail(tensor.ErrValue, "%s", err)
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
		Doc: "is the derivative of a coordinate x of a draw from a Dirichlet distribution by its concentration " +
			"alpha, divided by 1 - x;\n" +
			"total is the sum of the concentrations.",
		NoGrad: "PyTorch has none either",
		Infer:  func(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1, 2), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			o := c.Out(0)
			x, a, t := wideTo(c.T(0), o.Shape()), wideTo(c.T(1), o.Shape()), wideTo(c.T(2), o.Shape())
			b, pa, pb, pt := make([]float64, len(a)), make([]float64, len(a)), make([]float64, len(a)), make([]float64,
				len(a))
			for i := range b {
				b[i] = t[i] - a[i]
			}
			vec.DigammaF64(pa, a)
			vec.DigammaF64(pb, b)
			vec.DigammaF64(pt, t)
			w := tensor.New(o.Shape(), tensor.Float64)
			d := tensor.Data[float64](w)
			par.For(len(d), 256, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					d[i] = dirichletGrad(x[i], a[i], b[i], t[i], pa[i], pb[i], pt[i])
				}
			})
			tensor.CopyRaw(o, w)
		},
	})
}

// wideTo is a dense float64 copy of t with the given shape.
func wideTo(t *T, shape []int) []float64 {
	w := tensor.New(shape, tensor.Float64)
	tensor.CopyRaw(w, t)
	return tensor.Data[float64](w)
}

// The derivatives below are of the form -(∂F/∂α)/f, with F and f the distribution function and the density (M. Figurnov
// et al., Implicit reparameterization gradients, 2018). Where a series does not converge fast they are approximated, to
// about four digits, by expansions and by fitted rational functions; thresholds, orders and coefficients are PyTorch's,
// so that the same seed trains to the same numbers.

// gammaBlock is the number of derivatives that a task computes.
const gammaBlock = 256

// gammaGrads are the derivatives of up to gammaBlock Gamma draws x by their concentrations.
func gammaGrads(d, alpha, x []float64) {
	var b [4][gammaBlock]float64
	psi, logX, logAlpha, logs := b[0][:len(d)], b[1][:len(d)], b[2][:len(d)], b[3][:len(d)]
	vec.DigammaF64(psi, alpha)
	vec.LogF64(logX, x)
	vec.LogF64(logAlpha, alpha)
	var isLog [gammaBlock]bool
	for i := range d {
		d[i], isLog[i] = gammaGrad(alpha[i], x[i], psi[i], logAlpha[i], logX[i])
		if isLog[i] {
			logs[i] = d[i]
		}
	}
	vec.ExpF64(logs, logs)
	for i := range d {
		if isLog[i] {
			d[i] = logs[i]
		}
	}
}

// gammaGrad is the derivative of a Gamma draw x by its concentration alpha, or the logarithm of it; psi is the digamma
// function of alpha.
func gammaGrad(alpha, x, psi, logAlpha, logX float64) (r float64, log bool) {
	const small, low, high = float64(float32(0.8)), float64(float32(0.9)), float64(float32(1.1))
	if x < small {
		// Taylor series of F in x, and its derivative by alpha term by term.
		sum, dsum := 1/alpha, 1/(alpha*alpha)
		num, den := 1.0, alpha
		for i := 1.0; i <= 5; i++ {
			num *= -x / i
			den++
			sum += num / den
			dsum += num / (den * den)
		}
		// F is x^alpha·sum, and the density x^(alpha-1)·exp(-x), but for a factor that both have.
		r := -((logX-psi)*sum - dsum) * x * math.Exp(x)
		if math.IsNaN(r) {
			return 0, false
		}
		return r, false
	}
	if alpha > 8 {
		// Saddle point expansion (S. Rice, 1968), with its own series near the singularity at x = alpha.
		if low*alpha <= x && x <= high*alpha {
			a2 := alpha * alpha
			n1 := 1 + 24*alpha*(1+12*alpha)
			n2 := 1440*a2 + 6*x*(53-120*x) - 65*x*x/alpha + alpha*(107+3600*x)
			return n1 * n2 / (1244160 * a2 * a2), false
		}
		den := math.Sqrt(8 * alpha)
		lr := logX - logAlpha
		t := x - alpha - alpha*lr
		t2, t3 := den/(alpha-x), 1/(t*math.Sqrt(t))
		if x < alpha {
			t3 = -t3
		}
		t1 := lr*(t2+t3) - math.Sqrt(2/alpha)*(alpha+x)/((alpha-x)*(alpha-x))
		stirling := 1 + 1/(12*alpha)*(1+1/(24*alpha))
		return -stirling * x * t1 / den, false
	}
	u, v := logX-logAlpha, logAlpha
	var c [8]float64
	for i := range c {
		c[i] = gammaFit[0][i] + u*(gammaFit[1][i]+u*gammaFit[2][i])
	}
	return (c[0] + v*(c[1]+v*(c[2]+v*c[3]))) / (c[4] + v*(c[5]+v*(c[6]+v*c[7]))), true
}

// gammaFit holds, per power of log(x/alpha), the coefficients of numerator and denominator in powers of log(alpha).
var gammaFit = [3][8]float64{
	{0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084},
	{0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623},
	{0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367,
		-1.5247877e-07},
}

// dirichletGrad is the derivative of a Beta(a, b) draw x by a, divided by 1-x; t = a+b, and the other arguments are
// digamma functions.
func dirichletGrad(x, a, b, t, psiA, psiB, psiT float64) float64 {
	edge := t * x * (1 - x)
	switch {
	case x <= 0.5 && edge < 2.5:
		return betaGradFirst(x, a, b, psiA-psiT)
	case x >= 0.5 && edge < 0.75:
		return -betaGradSecond(1-x, b, a, psiT-psiA)
	case a > 6 && b > 6:
		return betaGradLarge(x, a, b)
	}
	u := math.Log(x)
	v := math.Log(a) - u
	w := math.Log(t) - v
	var p, q float64
	pu := 1.0
	for i := range 3 {
		pv := pu
		for j := range 3 {
			n, d := &betaFit[0][i][j], &betaFit[1][i][j]
			p += pv * (n[0] + w*(n[1]+w*(n[2]+w*n[3])))
			q += pv * (d[0] + w*(d[1]+w*(d[2]+w*d[3])))
			pv *= v
		}
		pu *= u
	}
	return p / q * (x * (psiT - psiA) / b)
}

// betaGradFirst is the derivative by the first parameter for small x, from the Taylor series of the distribution
// function; dpsi is ψ(a) - ψ(a+b).
func betaGradFirst(x, a, b, dpsi float64) float64 {
	f := dpsi - math.Log(x)
	num := 1.0
	sum := 1 / a * (f + 1/a)
	for i := 1.0; i <= 10; i++ {
		num *= (i - b) * x / i
		den := a + i
		sum += num / den * (f + 1/den)
	}
	if r := x * math.Pow(1-x, -b) * sum; !math.IsNaN(r) {
		return r
	}
	return 0
}

// betaGradSecond is the derivative by the second parameter for small x; dpsi is ψ(a+b) - ψ(b).
func betaGradSecond(x, a, b, dpsi float64) float64 {
	num, prod, dprod, sum := 1.0, 1.0, 0.0, dpsi/a
	for i := 1.0; i <= 8; i++ {
		num *= -x / i
		dprod = dprod*(b-i) + prod
		prod *= b - i
		sum += num / (a + i) * (dprod + dpsi*prod)
	}
	if r := -math.Pow(1-x, 1-b) * sum; !math.IsNaN(r) {
		return r
	}
	return 0
}

// betaGradLarge is the derivative by the first parameter when both are large: a saddle point expansion, with a series
// of its own near the singularity at the mean.
func betaGradLarge(x, a, b float64) float64 {
	t := a + b
	mean := a / t
	std := math.Sqrt(a*b/(t+1)) / t
	if mean-0.1*std <= x && x <= mean+0.1*std {
		b2 := b * b
		poly := 47*x*b2*b2 + a*((43+20*(16+27*b)*x)*b2*b+a*(3*(59+180*b-90*x)*b2+a*((453+1620*b*(1-x)-455*x)*b+a*(8*(1-x)*(135*b-11)))))
		num := (1 + 12*a) * (1 + 12*b) / (t * t)
		return num / (1 - x) * poly / (12960 * a * a * a * b * b * (1 + 12*t))
	}
	pre := -x / math.Sqrt(2*a*b/t)
	stirling := func(z float64) float64 { return 1 + 1/(12*z) + 1/(288*z*z) }
	s := stirling(a) * stirling(b) / stirling(t)
	ab := a*(x-1) + b*x
	t1 := (2*a*a*(x-1) + a*b*(x-1) - x*b*b) / (math.Sqrt(2*a/b) * math.Pow(t, 1.5) * ab * ab)
	t2 := 0.5 * math.Log(a/(t*x))
	t3 := math.Sqrt(8*a*b/t) / ab
	t4 := math.Pow(b*math.Log(b/(t*(1-x)))+a*math.Log(a/(t*x)), -1.5)
	if x >= mean {
		t4 = -t4
	}
	return s * pre * (t1 + t2*(t3+t4))
}

// betaFit are numerator and denominator: by powers of log(x), of log(a/x) and of log(t) - log(a/x).
var betaFit = [2][3][3][4]float64{
	{
		{{1.003668233, -0.01061107488, -0.0657888334, 0.01201642863}, {0.6336835991, -0.3557432599, 0.05486251648,
			-0.001465281033}, {-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013}},
		{{0.221950385, -0.3187676331, 0.01799915743, 0.01074823814}, {-0.2951249643, 0.06219954479, 0.01535556598,
			0.001550077057}, {0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05}},
		{{-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565}, {0.02911413504, 0.01400243777,
			-0.002721828457, 0.000751041181}, {0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05}},
	},
	{
		{{1, -0.02924021934, -0.04438342661, 0.007285809825}, {0.6357567472, -0.3473456711, 0.05454656494,
			-0.002407477521}, {-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149}},
		{{0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273}, {0.1014815858, -0.06589186703, 0.01272886114,
			-0.0007316646956}, {-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05}},
		{{0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05}, {0.001925008108, -0.002869809258,
			0.0008000589141, -6.063713228e-05}, {-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06}},
	},
}

package main

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// transcendental lists the functions of math.go and its neighbours for a type.
func transcendental(t kernel.Type, sfx string) {
	unary := func(name, doc string, f func(b *kernel.Builder, x *kernel.Value) *kernel.Value) {
		add(kernel.Kernel{Name: name + sfx, Doc: "sets dst[i] = " + doc + ".", Lane: t,
			Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", f(b, b.Load("a"))) }})
	}
	binary := func(name, doc string, f func(b *kernel.Builder, x, y *kernel.Value) *kernel.Value) {
		add(kernel.Kernel{Name: name + sfx, Doc: "sets dst[i] = " + doc + ".", Lane: t,
			Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", f(b, b.Load("a"), b.Load("b"))) }})
	}
	backward := func(name, doc string, f func(b *kernel.Builder, x *kernel.Value) *kernel.Value) {
		add(kernel.Kernel{Name: name + "Backward" + sfx, Doc: "sets dst[i] = grad[i] times " + doc + " at x[i].",
			Lane: t,
			Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("x", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", b.Mul(f(b, b.Load("x")), b.Load("grad"))) }})
	}
	either := func(narrow, wide func(b *kernel.Builder, x *kernel.Value) *kernel.Value) func(b *kernel.Builder,
		x *kernel.Value) *kernel.Value {
		if t == kernel.F64 {
			return wide
		}
		return narrow
	}
	unary("Exp", "e^a[i], within 1 ulp", exp)
	unary("Expm1", "e^a[i] - 1, within 2 ulp", expm1)
	unary("Log", "the natural logarithm of a[i], within 1 ulp; NaN below 0", log)
	unary("Log1p", "log(1 + a[i]), within 2 ulp; NaN below -1", log1p)
	unary("Log2", "the logarithm of a[i] to base 2",
		either(func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return b.Mul(Log(b, x), b.C(log2E)) },
			func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return logBase64(b, x, 1, 0, log2E) }))
	unary("Log10", "the logarithm of a[i] to base 10",
		either(func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return b.Mul(Log(b, x), b.C(math.Log10E)) },
			func(b *kernel.Builder, x *kernel.Value) *kernel.Value {
				return logBase64(b, x, 0x1.34413509f78p-2, 0x1.fef311f12b358p-46, math.Log10E)
			}))
	unary("Exp2", "2^a[i], within 1 ulp", either(Exp2, Exp264))
	unary("LogSigmoid", "log(1 / (1 + e^-a[i]))", LogSigmoid)
	unary("Mish", "a[i] * tanh(log(1 + e^a[i]))", Mish)
	unary("Tanh", "tanh(a[i]), within 2 ulp", either(Tanh, Tanh64))
	unary("Sigmoid", "1 / (1 + e^-a[i])", sigmoid)
	unary("Erf", "the error function of a[i], within 2 ulp", either(Erf, Erf64))
	unary("Erfc", "1 less the error function of a[i], without loss of digits", Erfc)
	unary("Ndtr", "the normal distribution function of a[i]", Ndtr)
	unary("GELU", "a[i] times the normal distribution function of a[i]", GELU)
	unary("GELUTanh", "the tanh approximation of GELU of a[i]", GELUTanh)
	unary("SiLU", "a[i] / (1 + e^-a[i])", SiLU)
	// The callers of these bound the length and look at the size of the arguments.
	unary("sin", "sin(a[i]) for arguments that trig takes",
		func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return sinCos(b, x, 0) })
	unary("cos", "cos(a[i]) for arguments that trig takes",
		func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return sinCos(b, x, 1) })
	unary("tan", "tan(a[i]) for arguments that trig takes", tangent)
	unary("Asin", "the inverse sine of a[i]; NaN beyond 1", Asin)
	unary("Acos", "the inverse cosine of a[i]; NaN beyond 1", Acos)
	unary("Atan", "the inverse tangent of a[i]", Atan)
	binary("Atan2", "the angle of the point (b[i], a[i])", Atan2)
	unary("Sinh", "the hyperbolic sine of a[i]", Sinh)
	unary("Cosh", "the hyperbolic cosine of a[i]", Cosh)
	unary("Asinh", "the inverse hyperbolic sine of a[i]", Asinh)
	unary("Acosh", "the inverse hyperbolic cosine of a[i]; NaN below 1", Acosh)
	unary("Atanh", "the inverse hyperbolic tangent of a[i]; NaN beyond 1", Atanh)
	unary("Logit", "log(a[i] / (1 - a[i]))", Logit)
	binary("LogAddExp", "log(e^a[i] + e^b[i])", LogAddExp)
	binary("LogAddExp2", "log2(2^a[i] + 2^b[i])", LogAddExp2)
	binary("Nextafter", "the number next to a[i] in the direction of b[i]", Nextafter)
	binary("XLogY", "a[i] * log(b[i]), 0 where a[i] is 0; NaN where b[i] is", XLogY)
	binary("Hypot", "sqrt(a[i]² + b[i]²) without overflow on the way", Hypot)
	backward("LogSigmoid", "the derivative of log(sigmoid)",
		func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return sigmoid(b, b.Neg(x)) })
	backward("Mish", "the derivative of Mish", MishGrad)
	backward("GELU", "the derivative of GELU", GELUGrad)
	backward("GELUTanh", "the derivative of the tanh approximation of GELU", GELUTanhGrad)
	backward("SiLU", "the derivative of SiLU", SiLUGrad)

	add(kernel.Kernel{Name: "Softplus" + sfx,
		Doc: "sets dst[i] = log(1 + e^(beta*a[i])) / beta, and a[i] where beta*a[i] > threshold.", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.Scalar("beta", t),
			kernel.Scalar("threshold", t)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", Softplus(b, b.Load("a"), b.Load("beta"), b.Load("threshold")))
		}})
	add(kernel.Kernel{Name: "SoftplusBackward" + sfx,
		Doc: "sets dst[i] = grad[i] * sigmoid(beta*x[i]), and grad[i] where beta*x[i] > threshold.", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("x", t), kernel.Scalar("beta", t),
			kernel.Scalar("threshold", t)},
		Body: func(b *kernel.Builder) {
			g := b.Load("grad")
			z := b.Mul(b.Load("x"), b.Load("beta"))
			b.Store("dst", b.Sel(b.Cmp(kernel.GT, z, b.Load("threshold")), g, b.Mul(g, sigmoid(b, z))))
		}})
	binary("Pow", "a[i]^b[i], within 2 ulp; the special cases are those of C's pow", Pow)
	add(kernel.Kernel{Name: "ELU" + sfx,
		Doc: "sets dst[i] = a[i]*scale where it is > 0, else alpha*scale*(e^(a[i]*inputScale) - 1).", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.Scalar("alpha", t),
			kernel.Scalar("scale", t), kernel.Scalar("inputScale", t)},
		Body: func(b *kernel.Builder) {
			x := b.Load("a")
			neg := b.Mul(expm1(b, b.Mul(x, b.Load("inputScale"))), b.Mul(b.Load("alpha"), b.Load("scale")))
			b.Store("dst", b.Sel(b.Cmp(kernel.GT, x, b.C(0)), b.Mul(x, b.Load("scale")), neg))
		}})
	// of numbers whose inverses are normal
	limit := map[kernel.Type]float64{kernel.F32: 0x1p125, kernel.F64: 0x1p1021}[t]
	add(kernel.Kernel{Name: "ReciprocalParts" + sfx,
		Doc: "sets re[i] and im[i] to the parts of 1 / (a[i] + i b[i]), NaN where the larger of them or its inverse " +
			"is too large for that.", Lane: t,
		Args: []kernel.Arg{kernel.Out("re", t), kernel.Out("im", t), kernel.In("a", t), kernel.In("b", t)},
		Body: func(b *kernel.Builder) {
			x, y := b.Load("a"), b.Load("b")
			m := b.MaxN(b.Abs(x), b.Abs(y))
			s := b.Div(b.C(1), m)
			x, y = b.Mul(x, s), b.Mul(y, s)
			s = b.Div(s, b.FMA(x, x, b.Mul(y, y)))
			s = b.Sel(b.MAnd(b.Cmp(kernel.GE, m, b.C(1/limit)), b.Cmp(kernel.LE, m, b.C(limit))), s, b.C(math.NaN()))
			b.Store("re", b.Mul(x, s))
			b.Store("im", b.Neg(b.Mul(y, s)))
		}})
	add(kernel.Kernel{Name: "ELUBackward" + sfx,
		Doc:  "sets dst[i] = grad[i]*alpha*scale*inputScale*e^(x[i]*inputScale) where x[i] <= 0, else grad[i]*scale.",
		Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("x", t), kernel.Scalar("alpha", t),
			kernel.Scalar("scale", t), kernel.Scalar("inputScale", t)},
		Body: func(b *kernel.Builder) {
			x, scale, in := b.Load("x"), b.Load("scale"), b.Load("inputScale")
			neg := b.Mul(exp(b, b.Mul(x, in)), b.Mul(b.Mul(b.Load("alpha"), scale), in))
			b.Store("dst", b.Mul(b.Load("grad"), b.Sel(b.Cmp(kernel.LE, x, b.C(0)), neg, scale)))
		}})
}

// selections lists cheap kernels that choose between numbers.
func selections(t kernel.Type, sfx string) {
	define := func(name, doc string, args []kernel.Arg, f func(b *kernel.Builder) *kernel.Value) {
		add(kernel.Kernel{Name: name + sfx, Doc: doc, Lane: t,
			Args: append([]kernel.Arg{kernel.Out("dst", t)}, args...),
			Body: func(b *kernel.Builder) { b.Store("dst", f(b)) }})
	}
	define("NaNToNum", "sets dst[i] = a[i], or nan, pos or neg where that is NaN, +Inf or -Inf.",
		[]kernel.Arg{kernel.In("a", t), kernel.Scalar("nan", t), kernel.Scalar("pos", t), kernel.Scalar("neg", t)},
		func(b *kernel.Builder) *kernel.Value {
			x := b.Load("a")
			y := b.Sel(b.Cmp(kernel.EQ, x, b.C(math.Inf(1))), b.Load("pos"), x)
			y = b.Sel(b.Cmp(kernel.EQ, x, b.C(math.Inf(-1))), b.Load("neg"), y)
			return b.Sel(b.Cmp(kernel.UNORD, x, x), b.Load("nan"), y)
		})
	define("Frac", "sets dst[i] = a[i] less its whole part.", []kernel.Arg{kernel.In("a", t)},
		func(b *kernel.Builder) *kernel.Value {
			x := b.Load("a")
			return b.Sub(x, b.Round(x, 3))
		})
	define("Angle", "sets dst[i] = pi where a[i] < 0, NaN where it is NaN, else 0.", []kernel.Arg{kernel.In("a", t)},
		func(b *kernel.Builder) *kernel.Value {
			x := b.Load("a")
			y := b.Sel(b.Cmp(kernel.LT, x, b.C(0)), b.C(math.Pi), b.C(0))
			return b.Sel(b.Cmp(kernel.UNORD, x, x), x, y)
		})
	define("HardShrink", "sets dst[i] = 0 where -l <= a[i] <= l, else a[i].",
		[]kernel.Arg{kernel.In("a", t), kernel.Scalar("l", t)}, func(b *kernel.Builder) *kernel.Value {
			x := b.Load("a")
			return b.Sel(b.Cmp(kernel.LE, b.Abs(x), b.Load("l")), b.C(0), x)
		})
	define("SoftShrink", "sets dst[i] = a[i] moved towards 0 by l, where it stops.",
		[]kernel.Arg{kernel.In("a", t), kernel.Scalar("l", t)}, func(b *kernel.Builder) *kernel.Value {
			x, l := b.Load("a"), b.Load("l")
			return b.Sub(x, b.MinX(l, b.MaxX(b.Neg(l), x)))
		})
	define("ShrinkBackward", "sets dst[i] = 0 where -l <= x[i] <= l, else grad[i].",
		[]kernel.Arg{kernel.In("grad", t), kernel.In("x", t), kernel.Scalar("l", t)},
		func(b *kernel.Builder) *kernel.Value {
			return b.Sel(b.Cmp(kernel.LE, b.Abs(b.Load("x")), b.Load("l")), b.C(0), b.Load("grad"))
		})
	define("HardTanhBackward", "sets dst[i] = 0 where x[i] <= lo or x[i] >= hi, else grad[i].",
		[]kernel.Arg{kernel.In("grad", t), kernel.In("x", t), kernel.Scalar("lo", t), kernel.Scalar("hi", t)},
		func(b *kernel.Builder) *kernel.Value {
			x := b.Load("x")
			out := b.MOr(b.Cmp(kernel.LE, x, b.Load("lo")), b.Cmp(kernel.GE, x, b.Load("hi")))
			return b.Sel(out, b.C(0), b.Load("grad"))
		})
	define("Threshold", "sets dst[i] = v where a[i] <= s, else a[i].",
		[]kernel.Arg{kernel.In("a", t), kernel.Scalar("s", t), kernel.Scalar("v", t)},
		func(b *kernel.Builder) *kernel.Value {
			x := b.Load("a")
			return b.Sel(b.Cmp(kernel.LE, x, b.Load("s")), b.Load("v"), x)
		})
	define("ClampTo", "sets dst[i] = min(max(a[i], lo[i]), hi[i]), NaN where one of them is.",
		[]kernel.Arg{kernel.In("a", t), kernel.In("lo", t), kernel.In("hi", t)}, func(b *kernel.Builder) *kernel.Value {
			return b.MinN(b.MaxN(b.Load("a"), b.Load("lo")), b.Load("hi"))
		})
	define("LerpTo", "sets dst[i] = a[i] + w[i]*(b[i]-a[i]), starting from the nearer end.",
		[]kernel.Arg{kernel.In("a", t), kernel.In("b", t), kernel.In("w", t)}, func(b *kernel.Builder) *kernel.Value {
			x, y, w := b.Load("a"), b.Load("b"), b.Load("w")
			d := b.Sub(y, x)
			far := b.Sub(y, b.Mul(d, b.Sub(b.C(1), w)))
			return b.Sel(b.Cmp(kernel.LT, b.Abs(w), b.C(0.5)), b.Add(x, b.Mul(w, d)), far)
		})
	define("PReLU", "sets dst[i] = a[i] where it is > 0, else w[i]*a[i].",
		[]kernel.Arg{kernel.In("a", t), kernel.In("w", t)}, func(b *kernel.Builder) *kernel.Value {
			x := b.Load("a")
			return b.Sel(b.Cmp(kernel.GT, x, b.C(0)), x, b.Mul(x, b.Load("w")))
		})
	define("Copysign", "sets dst[i] = |a[i]| with the sign of b[i].",
		[]kernel.Arg{kernel.In("a", t), kernel.In("b", t)}, func(b *kernel.Builder) *kernel.Value {
			return b.Or(b.Abs(b.Load("a")), b.Sign(b.Load("b")))
		})
	define("FMax", "sets dst[i] = max(a[i], b[i]), the other one where one is NaN.",
		[]kernel.Arg{kernel.In("a", t), kernel.In("b", t)}, func(b *kernel.Builder) *kernel.Value {
			x, y := b.Load("a"), b.Load("b")
			return b.Sel(b.Cmp(kernel.UNORD, x, x), y, b.MaxX(y, x))
		})
	define("FMin", "sets dst[i] = min(a[i], b[i]), the other one where one is NaN.",
		[]kernel.Arg{kernel.In("a", t), kernel.In("b", t)}, func(b *kernel.Builder) *kernel.Value {
			x, y := b.Load("a"), b.Load("b")
			return b.Sel(b.Cmp(kernel.UNORD, x, x), y, b.MinX(y, x))
		})
	define("TruncDiv", "sets dst[i] = a[i] / b[i] without its fraction.",
		[]kernel.Arg{kernel.In("a", t), kernel.In("b", t)}, func(b *kernel.Builder) *kernel.Value {
			return b.Round(b.Div(b.Load("a"), b.Load("b")), 3)
		})
	define("Cube", "sets dst[i] = a[i]³.", []kernel.Arg{kernel.In("a", t)}, func(b *kernel.Builder) *kernel.Value {
		x := b.Load("a")
		return b.Mul(b.Mul(x, x), x)
	})
	define("InvSquare", "sets dst[i] = 1 / a[i]².", []kernel.Arg{kernel.In("a", t)},
		func(b *kernel.Builder) *kernel.Value {
			x := b.Load("a")
			return b.Div(b.C(1), b.Mul(x, x))
		})
	define("Heaviside", "sets dst[i] = b[i] where a[i] is 0, 1 where it is positive, else 0.",
		[]kernel.Arg{kernel.In("a", t), kernel.In("b", t)}, func(b *kernel.Builder) *kernel.Value {
			x := b.Load("a")
			y := b.Sel(b.Cmp(kernel.GT, x, b.C(0)), b.C(1), b.C(0))
			return b.Sel(b.Cmp(kernel.EQ, x, b.C(0)), b.Load("b"), y)
		})
	// The remainders of floats are exact as long as the quotient is a whole number below 2^52: the callers look at the
	// largest.
	mixed := func(name, doc string, f func(b *kernel.Builder, x, y, m *kernel.Value) *kernel.Value) {
		define(name, doc, []kernel.Arg{kernel.In("a", t), kernel.In("b", t), kernel.In("m", t)},
			func(b *kernel.Builder) *kernel.Value { return f(b, b.Load("a"), b.Load("b"), b.Load("m")) })
	}
	add(kernel.Kernel{Name: "fmodBlock" + sfx,
		Doc: "sets dst[i] = a[i] - trunc(a[i]/b[i])*b[i] with the sign of a[i] and returns the largest |a[i]/b[i]|, " +
			"NaN if there is one.", Lane: kernel.F64, Lanes: 16,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t)},
		Accs: []kernel.Acc{kernel.Accumulator("most", "max", 0)},
		Body: func(b *kernel.Builder) {
			x, y := b.Load("a"), b.Load("b")
			q := b.Div(x, y)
			m := b.FNMA(b.Round(q, 3), y, x)
			// The quotient may have been rounded up to the next whole number.
			m = b.Sel(b.Cmp(kernel.LT, b.Xor(m, b.Sign(x)), b.C(0)), b.Add(m, b.Or(b.Abs(y), b.Sign(x))), m)
			m = b.Sel(b.Cmp(kernel.LT, b.Abs(q), b.C(1)), x, m) // of an infinite y, too
			b.Store("dst", b.Or(b.Abs(m), b.Sign(x)))
			b.AccOut(0, b.MaxN(b.AccIn(0), b.Abs(q)))
		}})
	differ := func(b *kernel.Builder, m, y *kernel.Value) *kernel.Value { // m is not 0 and has not the sign of y
		return b.Cmp(kernel.LT, b.Xor(m, b.Sign(y)), b.C(0))
	}
	mixed("remainderFrom", "sets dst[i] = the remainder of a[i]/b[i] with the sign of b[i], given that with the sign "+
		"of a[i].", func(b *kernel.Builder, x, y, m *kernel.Value) *kernel.Value {
		return b.Sel(differ(b, m, y), b.Add(m, y), m)
	})
	mixed("floorDivFrom", "sets dst[i] = a[i]/b[i] rounded down, given the remainder with the sign of a[i].",
		func(b *kernel.Builder, x, y, m *kernel.Value) *kernel.Value {
			q := b.Div(b.Sub(x, m), y)
			q = b.Sub(q, b.Sel(differ(b, m, y), b.C(1), b.C(0)))
			f := b.Round(q, 1)
			f = b.Add(f, b.Sel(b.Cmp(kernel.GT, b.Sub(q, f), b.C(0.5)), b.C(1), b.C(0)))
			d := b.Div(x, y)
			f = b.Sel(b.Cmp(kernel.EQ, q, b.C(0)), b.Sign(d), f)
			return b.Sel(b.Cmp(kernel.EQ, y, b.C(0)), d, f)
		})
}

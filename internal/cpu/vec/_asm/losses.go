package main

import "github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"

// lossKernels lists the elementwise losses of an input a and a target b: their sums over a block, and the gradients of
// the input, in which s is the gradient of the sum.
func lossKernels() {
	plus := func(name string) kernel.Acc { return kernel.Accumulator(name, "add", 0) }
	sum := func(name, doc string, args []kernel.Arg, body func(b *kernel.Builder, x, y *kernel.Value) *kernel.Value) {
		add(kernel.Kernel{Name: name + "BlockF32", Doc: "returns the sum of " + doc + " over a block.",
			Lane: kernel.F32, Lanes: 32,
			Args: append([]kernel.Arg{kernel.In("a", kernel.F32), kernel.In("b", kernel.F32)}, args...),
			Accs: []kernel.Acc{plus("sum")},
			Body: func(b *kernel.Builder) { b.AccOut(0, b.Add(b.AccIn(0), body(b, b.Load("a"), b.Load("b")))) }})
	}
	grad := func(name, doc string, args []kernel.Arg, body func(b *kernel.Builder, x, y *kernel.Value) *kernel.Value) {
		add(kernel.Kernel{Name: name + "GradF32", Doc: "sets dst[i] = s * " + doc + ".", Lane: kernel.F32,
			Args: append([]kernel.Arg{kernel.Out("dst", kernel.F32), kernel.In("a", kernel.F32),
				kernel.In("b", kernel.F32), kernel.Scalar("s", kernel.F32)}, args...),
			Body: func(b *kernel.Builder) { b.Store("dst", body(b, b.Load("a"), b.Load("b"))) }})
	}
	add(kernel.Kernel{Name: "squaredErrorBlockF32", Doc: "returns the sum of (a-b)² over a block.", Lane: kernel.F32,
		Lanes: 32,
		Args:  []kernel.Arg{kernel.In("a", kernel.F32), kernel.In("b", kernel.F32)}, Accs: []kernel.Acc{plus("sum")},
		Body: func(b *kernel.Builder) {
			d := b.Sub(b.Load("a"), b.Load("b"))
			b.AccOut(0, b.FMA(d, d, b.AccIn(0)))
		}})
	sum("absError", "|a-b|", nil, func(b *kernel.Builder, x,
		y *kernel.Value) *kernel.Value {
		return b.Abs(b.Sub(x, y))
	})
	grad("AbsError", "the sign of a[i] - b[i]; 0 for NaN", nil,
		func(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
			d := b.Sub(x, y)
			pos := b.Sel(b.Cmp(kernel.GT, d, b.C(0)), b.Load("s"), b.C(0))
			return b.Sel(b.Cmp(kernel.LT, d, b.C(0)), b.Neg(b.Load("s")), pos)
		})
	huberArgs := func(t kernel.Type) []kernel.Arg {
		return []kernel.Arg{kernel.Scalar("limit", t), kernel.Scalar("square", t), kernel.Scalar("slope", t)}
	}
	huber := func(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
		z := b.Abs(b.Sub(x, y))
		far := b.Mul(b.FNMA(b.Load("limit"), b.C(0.5), z), b.Load("slope"))
		return b.Sel(b.Cmp(kernel.GT, z, b.Load("limit")), far, b.Mul(b.Mul(z, z), b.Load("square")))
	}
	within := func(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
		l := b.Load("limit")
		return b.MinX(l, b.MaxX(b.Neg(l), b.Sub(x, y)))
	}
	const huberDoc = "square*z² where z = |a-b| is up to limit, else slope*(z - limit/2)"
	sum("huber", huberDoc+",", huberArgs(kernel.F32), huber)
	for _, t := range []kernel.Type{kernel.F32, kernel.F64} {
		add(kernel.Kernel{Name: "HuberError" + t.Suffix(),
			Doc: "sets dst[i] = " + huberDoc + ". A limit of 0 leaves |a-b|, one of +Inf the square.", Lane: t,
			Args: append([]kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t)}, huberArgs(t)...),
			Body: func(b *kernel.Builder) { b.Store("dst", huber(b, b.Load("a"), b.Load("b"))) }})
		add(kernel.Kernel{Name: "HuberErrorBackward" + t.Suffix(),
			Doc: "sets dst[i] = s * grad[i] * (a[i] - b[i]), the difference kept within limit.", Lane: t,
			Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("a", t), kernel.In("b", t),
				kernel.Scalar("limit", t), kernel.Scalar("s", t)},
			Body: func(b *kernel.Builder) {
				d := b.Mul(within(b, b.Load("a"), b.Load("b")), b.Load("s"))
				b.Store("dst", b.Mul(d, b.Load("grad")))
			}})
	}
	grad("Huber", "(a[i] - b[i]), kept within limit", []kernel.Arg{kernel.Scalar("limit", kernel.F32)},
		func(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
			return b.Mul(within(b, x, y), b.Load("s"))
		})

	// The logarithms of probabilities have a lower bound of -100. Numbers that are none are counted.
	add(kernel.Kernel{Name: "crossEntropyBlockF32",
		Doc: "returns the sum of -(b*log(a) + (1-b)*log(1-a)) over a block, with logarithms of at least -100, and " +
			"the number of a outside of [0, 1].", Lane: kernel.F32, Lanes: 16,
		Args: []kernel.Arg{kernel.In("a", kernel.F32), kernel.In("b", kernel.F32)},
		Accs: []kernel.Acc{plus("sum"), plus("bad")},
		Body: func(b *kernel.Builder) {
			x, t := b.Load("a"), b.Load("b")
			floor := b.C(-100)
			one := b.Mul(t, b.MaxX(floor, Log(b, x)))
			l := b.Mul(b.Sub(t, b.C(1)), b.MaxX(floor, Log1p(b, b.Neg(x))))
			b.AccOut(0, b.Add(b.AccIn(0), b.Sub(l, one)))
			out := b.MOr(b.Cmp(kernel.LT, x, b.C(0)), b.Cmp(kernel.GT, x, b.C(1)))
			b.AccOut(1, b.Add(b.AccIn(1), b.Sel(out, b.C(1), b.C(0))))
		}})
	grad("CrossEntropy", "(a[i] - b[i]) / max(a[i]*(1-a[i]), 1e-12)", nil,
		func(b *kernel.Builder, x, t *kernel.Value) *kernel.Value {
			d := b.MaxX(b.C(1e-12), b.Mul(b.Sub(b.C(1), x), x))
			return b.Div(b.Mul(b.Load("s"), b.Sub(x, t)), d)
		})
	sum("logitEntropy", "(1-b)*a - log(sigmoid(a))", nil, func(b *kernel.Builder, x, t *kernel.Value) *kernel.Value {
		return b.FMA(b.Sub(b.C(1), t), x, b.Neg(LogSigmoid(b, x)))
	})
	grad("LogitEntropy", "(sigmoid(a[i]) - b[i])", nil, func(b *kernel.Builder, x, t *kernel.Value) *kernel.Value {
		return b.Mul(b.Sub(sigmoid(b, x), t), b.Load("s"))
	})
	sum("divergence", "b*(log(b) - a), 0 where b is,", nil, func(b *kernel.Builder, x, t *kernel.Value) *kernel.Value {
		l := b.Sel(b.Cmp(kernel.EQ, t, b.C(0)), b.C(0), b.Mul(t, Log(b, t)))
		return b.Sub(l, b.Mul(t, x))
	})
	sum("logDivergence", "e^b*(b - a)", nil, func(b *kernel.Builder, x,
		t *kernel.Value) *kernel.Value {
		return b.Mul(Exp(b, t), b.Sub(t, x))
	})
	grad("LogDivergence", "e^b[i]", nil, func(b *kernel.Builder, _,
		t *kernel.Value) *kernel.Value {
		return b.Mul(Exp(b, t), b.Load("s"))
	})
}

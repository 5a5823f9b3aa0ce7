package main

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file lists the kernels. To add one, write an add(Kernel{…}) with its
// arguments (the first slice governs the length), its documentation and a body
// in the operations of package kernel; run go generate; give it a reference in
// reference_test.go or accuracy_test.go. The path test picks it up by itself.
// A kernel whose name begins in lower case is for the package's own use.

var kernels []*kernel.Kernel

func add(k kernel.Kernel) { kernels = append(kernels, &k) }

func init() {
	for _, t := range []kernel.Type{kernel.F32, kernel.F64} {
		sfx := map[kernel.Type]string{kernel.F32: "F32", kernel.F64: "F64"}[t]
		arithmetic(t, sfx)
		reductions(t, sfx)
		attention(t, sfx)
		norms(t, sfx)
		optimizers(t, sfx)
		transcendental(t, sfx)
		selections(t, sfx)
	}
	special()
	rarities()
	softmax()
	conversions()
	pooling()
	lossKernels()
	quantized()
	sixteenBits()
}

// arithmetic lists the cheap elementwise kernels of a type.
func arithmetic(t kernel.Type, sfx string) {
	binary := func(name, doc string, f func(b *kernel.Builder, x, y *kernel.Value) *kernel.Value) {
		rows := slices.Contains([]string{"Add", "Sub", "Mul", "Div", "Maximum", "Minimum"}, name)
		add(kernel.Kernel{Name: name + sfx, Doc: "sets dst[i] = " + doc + ".", Lane: t, Rows: rows,
			Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", f(b, b.Load("a"), b.Load("b"))) }})
	}
	scalar := func(name, doc string, f func(b *kernel.Builder, x, s *kernel.Value) *kernel.Value) {
		add(kernel.Kernel{Name: name + sfx, Doc: "sets dst[i] = " + doc + ".", Lane: t, Rows: name == "MulScalar" &&
			t == kernel.F32, PerRow: true,
			Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.Scalar("s", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", f(b, b.Load("a"), b.Load("s"))) }})
	}
	unary := func(name, doc string, f func(b *kernel.Builder, x *kernel.Value) *kernel.Value) {
		add(kernel.Kernel{Name: name + sfx, Doc: "sets dst[i] = " + doc + ".", Lane: t,
			Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", f(b, b.Load("a"))) }})
	}
	binary("Add", "a[i] + b[i]", (*kernel.Builder).Add)
	binary("Sub", "a[i] - b[i]", (*kernel.Builder).Sub)
	binary("Mul", "a[i] * b[i]", (*kernel.Builder).Mul)
	binary("Div", "a[i] / b[i]", (*kernel.Builder).Div)
	binary("DivOrOne", "a[i] / b[i], 1 where b[i] is 0", func(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
		return b.Sel(b.Cmp(kernel.EQ, y, b.C(0)), b.C(1), b.Div(x, y))
	})
	binary("Maximum", "max(a[i], b[i]), NaN when either is NaN", (*kernel.Builder).MaxN)
	binary("Minimum", "min(a[i], b[i]), NaN when either is NaN", (*kernel.Builder).MinN)

	scalar("AddScalar", "a[i] + s", (*kernel.Builder).Add)
	scalar("SubScalar", "a[i] - s", (*kernel.Builder).Sub)
	scalar("RSubScalar", "s - a[i]", func(b *kernel.Builder, x, s *kernel.Value) *kernel.Value { return b.Sub(s, x) })
	scalar("MulScalar", "a[i] * s", (*kernel.Builder).Mul)
	scalar("DivScalar", "a[i] / s", (*kernel.Builder).Div)
	scalar("RDivScalar", "s / a[i]", func(b *kernel.Builder, x, s *kernel.Value) *kernel.Value { return b.Div(s, x) })
	scalar("MaximumScalar", "max(a[i], s), NaN when either is NaN", (*kernel.Builder).MaxN)
	scalar("MinimumScalar", "min(a[i], s), NaN when either is NaN", (*kernel.Builder).MinN)

	unary("Abs", "|a[i]|", (*kernel.Builder).Abs)
	unary("Neg", "-a[i]", (*kernel.Builder).Neg)
	unary("Sqrt", "sqrt(a[i]); NaN below 0", (*kernel.Builder).Sqrt)
	unary("Rsqrt", "1 / sqrt(a[i])", func(b *kernel.Builder,
		x *kernel.Value) *kernel.Value {
		return b.Div(b.C(1), b.Sqrt(x))
	})
	unary("Reciprocal", "1 / a[i]", func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return b.Div(b.C(1), x) })
	unary("Square", "a[i]²", func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return b.Mul(x, x) })
	unary("ReLU", "max(a[i], 0); NaN stays", func(b *kernel.Builder,
		x *kernel.Value) *kernel.Value {
		return b.MaxX(b.C(0), x)
	})
	unary("Sign", "-1, 0 or 1 with the sign of a[i]; 0 for NaN",
		func(b *kernel.Builder, x *kernel.Value) *kernel.Value {
			pos := b.Sel(b.Cmp(kernel.GT, x, b.C(0)), b.C(1), b.C(0))
			return b.Sel(b.Cmp(kernel.LT, x, b.C(0)), b.C(-1), pos)
		})
	unary("Floor", "floor(a[i])", func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return b.Round(x, 1) })
	unary("Ceil", "ceil(a[i])", func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return b.Round(x, 2) })
	unary("Trunc", "a[i] without its fraction", func(b *kernel.Builder,
		x *kernel.Value) *kernel.Value {
		return b.Round(x, 3)
	})
	unary("Round", "a[i] rounded to an integer, ties to even",
		func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return b.Round(x, 0) })

	add(kernel.Kernel{Name: "AddScaled" + sfx, Doc: "sets dst[i] = a[i] + alpha*b[i], rounded once.", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t), kernel.Scalar("alpha", t)},
		Body: func(b *kernel.Builder) { b.Store("dst", b.FMA(b.Load("b"), b.Load("alpha"), b.Load("a"))) }})
	add(kernel.Kernel{Name: "MulAdd" + sfx, Doc: "sets dst[i] = a[i]*b[i] + c[i], rounded once.", Lane: t, Part: true,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t), kernel.In("c", t)},
		Body: func(b *kernel.Builder) { b.Store("dst", b.FMA(b.Load("a"), b.Load("b"), b.Load("c"))) }})
	add(kernel.Kernel{Name: "Addcmul" + sfx, Doc: "sets dst[i] = a[i] + (value*b[i])*c[i].", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t), kernel.In("c", t),
			kernel.Scalar("value", t)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.FMA(b.Mul(b.Load("b"), b.Load("value")), b.Load("c"), b.Load("a")))
		}})
	add(kernel.Kernel{Name: "Addcdiv" + sfx, Doc: "sets dst[i] = a[i] + (value*b[i])/c[i].", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t), kernel.In("c", t),
			kernel.Scalar("value", t)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.Add(b.Load("a"), b.Div(b.Mul(b.Load("b"), b.Load("value")), b.Load("c"))))
		}})
	add(kernel.Kernel{Name: "Lerp" + sfx, Doc: "sets dst[i] = a[i] + w*(b[i]-a[i]).", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t), kernel.Scalar("w", t)},
		Body: func(b *kernel.Builder) {
			x := b.Load("a")
			b.Store("dst", b.FMA(b.Sub(b.Load("b"), x), b.Load("w"), x))
		}})
	add(kernel.Kernel{Name: "ScaleShift" + sfx, Doc: "sets dst[i] = a[i]*scale + shift, rounded once.", Lane: t,
		Part: true, Rows: true, PerRow: true,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.Scalar("scale", t),
			kernel.Scalar("shift", t)},
		Body: func(b *kernel.Builder) { b.Store("dst", b.FMA(b.Load("a"), b.Load("scale"), b.Load("shift"))) }})
	add(kernel.Kernel{Name: "Combine" + sfx,
		Doc: "sets dst[i] = x*a[i] + y*b[i] + z; batch norm's input gradient has this form.", Lane: t, Part: true,
		Rows: true, PerRow: true,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t), kernel.Scalar("x", t),
			kernel.Scalar("y", t), kernel.Scalar("z", t)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.FMA(b.Load("a"), b.Load("x"), b.FMA(b.Load("b"), b.Load("y"), b.Load("z"))))
		}})
	add(kernel.Kernel{Name: "Clamp" + sfx, Doc: "sets dst[i] = min(max(a[i], lo), hi); NaN stays.", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.Scalar("lo", t), kernel.Scalar("hi", t)},
		Body: func(b *kernel.Builder) { b.Store("dst", b.MinX(b.Load("hi"), b.MaxX(b.Load("lo"), b.Load("a")))) }})
	add(kernel.Kernel{Name: "ThresholdBackward" + sfx, Doc: "sets dst[i] = 0 where x[i] <= threshold, else grad[i].",
		Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("x", t),
			kernel.Scalar("threshold", t)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.Sel(b.Cmp(kernel.LE, b.Load("x"), b.Load("threshold")), b.C(0), b.Load("grad")))
		}})
	unary("Hardsigmoid", "min(max(a[i]+3, 0), 6) / 6", func(b *kernel.Builder, x *kernel.Value) *kernel.Value {
		y := b.MinX(b.C(6), b.MaxX(b.C(0), b.Add(x, b.C(3))))
		return b.Div(y, b.C(6))
	})
	unary("Hardswish", "a[i] * min(max(a[i]+3, 0), 6) / 6", func(b *kernel.Builder, x *kernel.Value) *kernel.Value {
		y := b.MinX(b.C(6), b.MaxX(b.C(0), b.Add(x, b.C(3))))
		return b.Div(b.Mul(x, y), b.C(6))
	})
	add(kernel.Kernel{Name: "HardsigmoidBackward" + sfx, Doc: "sets dst[i] = grad[i]/6 where -3 < x[i] < 3, else 0.",
		Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("x", t)},
		Body: func(b *kernel.Builder) {
			d := b.Div(b.Load("grad"), b.C(6))
			b.Store("dst", b.Sel(b.Cmp(kernel.LT, b.Abs(b.Load("x")), b.C(3)), d, b.C(0)))
		}})
	add(kernel.Kernel{Name: "HardswishBackward" + sfx,
		Doc: "sets dst[i] = 0 where x[i] <= -3, grad[i] where x[i] >= 3, else grad[i]*(x[i]/3 + 1/2).", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("x", t)},
		Body: func(b *kernel.Builder) {
			x, g := b.Load("x"), b.Load("grad")
			d := b.Mul(g, b.Add(b.Div(x, b.C(3)), b.C(0.5)))
			d = b.Sel(b.Cmp(kernel.GE, x, b.C(3)), g, d)
			b.Store("dst", b.Sel(b.Cmp(kernel.LE, x, b.C(-3)), b.C(0), d))
		}})
	add(kernel.Kernel{Name: "LeakyReLU" + sfx, Doc: "sets dst[i] = a[i] where it is > 0, else slope*a[i].", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.Scalar("slope", t)},
		Body: func(b *kernel.Builder) {
			x := b.Load("a")
			b.Store("dst", b.Sel(b.Cmp(kernel.GT, x, b.C(0)), x, b.Mul(x, b.Load("slope"))))
		}})
	add(kernel.Kernel{Name: "LeakyReLUBackward" + sfx, Doc: "sets dst[i] = grad[i] where x[i] > 0, else slope*grad[i].",
		Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("x", t), kernel.Scalar("slope", t)},
		Body: func(b *kernel.Builder) {
			g := b.Load("grad")
			b.Store("dst", b.Sel(b.Cmp(kernel.GT, b.Load("x"), b.C(0)), g, b.Mul(g, b.Load("slope"))))
		}})
	add(kernel.Kernel{Name: "TanhBackward" + sfx,
		Doc: "sets dst[i] = grad[i] * (1 - y[i]²), where y is the result of tanh.", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("y", t)},
		Body: func(b *kernel.Builder) {
			y := b.Load("y")
			b.Store("dst", b.Mul(b.Load("grad"), b.FNMA(y, y, b.C(1))))
		}})
	add(kernel.Kernel{Name: "SigmoidBackward" + sfx,
		Doc: "sets dst[i] = grad[i] * y[i] * (1 - y[i]), where y is the result of sigmoid.", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("y", t)},
		Body: func(b *kernel.Builder) {
			y := b.Load("y")
			b.Store("dst", b.Mul(b.Load("grad"), b.Mul(b.Sub(b.C(1), y), y)))
		}})
	add(kernel.Kernel{Name: "LogitBackward" + sfx,
		Doc: "sets dst[i] = grad[i] / (x[i] * (1-x[i])), beyond where x[i] < lo or x[i] > hi.", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("x", t), kernel.Scalar("lo", t),
			kernel.Scalar("hi", t), kernel.Scalar("beyond", t)},
		Body: func(b *kernel.Builder) {
			x := b.Load("x")
			d := b.Div(b.Load("grad"), b.Mul(x, b.Sub(b.C(1), x)))
			out := b.MOr(b.Cmp(kernel.LT, x, b.Load("lo")), b.Cmp(kernel.GT, x, b.Load("hi")))
			b.Store("dst", b.Sel(out, b.Load("beyond"), d))
		}})
	add(kernel.Kernel{Name: "SoftmaxBackward" + sfx,
		Doc: "sets dst[i] = y[i] * (grad[i] - dot), where y is the result of softmax and dot the sum of grad*y over " +
			"the row.", Lane: t, Rows: t == kernel.F32, PerRow: true,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("y", t), kernel.Scalar("dot", t)},
		Body: func(b *kernel.Builder) { b.Store("dst", b.Mul(b.Load("y"), b.Sub(b.Load("grad"), b.Load("dot")))) }})
	add(kernel.Kernel{Name: "Fill" + sfx, Doc: "sets dst[i] = s.", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.Scalar("s", t)}, Unroll: 4,
		Body: func(b *kernel.Builder) { b.Store("dst", b.Load("s")) }})

	for _, c := range []struct {
		name, op string
		pred     int
	}{{"Eq", "==", kernel.EQ}, {"Ne", "!=", kernel.NEQ}, {"Lt", "<", kernel.LT}, {"Le", "<=", kernel.LE},
		{"Gt", ">", kernel.GT}, {"Ge", ">=", kernel.GE}} {
		add(kernel.Kernel{Name: c.name + sfx, Doc: "sets dst[i] = 1 where a[i] " + c.op + " b[i], else 0.", Lane: t,
			Args: []kernel.Arg{kernel.Out("dst", kernel.U8), kernel.In("a", t), kernel.In("b", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", b.Cmp(c.pred, b.Load("a"), b.Load("b"))) }})
		add(kernel.Kernel{Name: c.name + "Scalar" + sfx, Doc: "sets dst[i] = 1 where a[i] " + c.op + " s, else 0.",
			Lane: t,
			Args: []kernel.Arg{kernel.Out("dst", kernel.U8), kernel.In("a", t), kernel.Scalar("s", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", b.Cmp(c.pred, b.Load("a"), b.Load("s"))) }})
	}
	add(kernel.Kernel{Name: "Where" + sfx, Doc: "sets dst[i] = a[i] where mask[i] is not 0, else b[i].", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("mask", kernel.U8), kernel.In("a", t), kernel.In("b", t)},
		Body: func(b *kernel.Builder) { b.Store("dst", b.Sel(b.LoadMask("mask"), b.Load("a"), b.Load("b"))) }})
	if t == kernel.F32 { // the same for bits of any meaning: those of bfloat16 are only moved
		for _, bits := range []struct {
			name string
			t    kernel.Type
		}{{"U8", kernel.U8}, {"U16", kernel.BF16}} {
			add(kernel.Kernel{Name: "Where" + bits.name, Doc: "sets dst[i] = a[i] where mask[i] is not 0, else b[i].",
				Lane: kernel.F32, Exact: true,
				Args: []kernel.Arg{kernel.Out("dst", bits.t), kernel.In("mask", kernel.U8), kernel.In("a", bits.t),
					kernel.In("b", bits.t)},
				Body: func(b *kernel.Builder) {
					b.Store("dst", b.Bits(b.Sel(b.LoadMask("mask"), b.Float(b.Load("a")), b.Float(b.Load("b")))))
				}})
		}
	}
	add(kernel.Kernel{Name: "MaskedFill" + sfx, Doc: "sets dst[i] = s where mask[i] is not 0, else a[i].", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("mask", kernel.U8),
			kernel.Scalar("s", t)},
		Body: func(b *kernel.Builder) { b.Store("dst", b.Sel(b.LoadMask("mask"), b.Load("s"), b.Load("a"))) }})
	add(kernel.Kernel{Name: "Dropout" + sfx, Doc: "sets dst[i] = a[i]*scale where mask[i] is not 0, else 0.", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("mask", kernel.U8),
			kernel.Scalar("scale", t)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.Sel(b.LoadMask("mask"), b.Mul(b.Load("a"), b.Load("scale")), b.C(0)))
		}})
}

// number is x with 0 in place of NaN.
func number(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	return b.Sel(b.Cmp(kernel.UNORD, x, x), b.C(0), x)
}

// reductions lists the kernels that reduce one block; the exported functions
// cut runs into blocks and combine their results pairwise. Accumulator lanes
// are the same number on every path, so the order of additions is, too.
func reductions(t kernel.Type, sfx string) {
	lanes := 256 / t.Size()
	plus := func(name string) kernel.Acc { return kernel.Accumulator(name, "add", 0) }
	add(kernel.Kernel{Name: "sumBlock" + sfx, Doc: "returns the sum of a block.", Lane: t, Lanes: lanes, Rows: true,
		Down: "AddTapRows" + sfx + "(rows, len(dst), dst, 0, a, lda)",
		Args: []kernel.Arg{kernel.In("a", t)}, Accs: []kernel.Acc{plus("sum")},
		Body: func(b *kernel.Builder) { b.AccOut(0, b.Add(b.AccIn(0), b.Load("a"))) }})
	add(kernel.Kernel{Name: "sumNumbersBlock" + sfx, Doc: "returns the sum of what is not NaN in a block.", Lane: t,
		Lanes: lanes, Rows: true, Down: "AddNumbersRows" + sfx + "(rows, len(dst), dst, 0, a, lda)",
		Args: []kernel.Arg{kernel.In("a", t)}, Accs: []kernel.Acc{plus("sum")},
		Body: func(b *kernel.Builder) { b.AccOut(0, b.Add(b.AccIn(0), number(b, b.Load("a")))) }})
	add(kernel.Kernel{Name: "AddNumbers" + sfx, Doc: "sets dst[i] += a[i] where a[i] is not NaN.", Lane: t, Rows: true,
		Args: []kernel.Arg{kernel.InOut("dst", t), kernel.In("a", t)},
		Body: func(b *kernel.Builder) { b.Store("dst", b.Add(b.Load("dst"), number(b, b.Load("a")))) }})
	add(kernel.Kernel{Name: "sumSqBlock" + sfx, Doc: "returns the sum of (x-c)² over a block.", Lane: t, Lanes: lanes,
		Rows: true, PerRow: true,
		Args: []kernel.Arg{kernel.In("a", t), kernel.Scalar("c", t)}, Accs: []kernel.Acc{plus("sum")},
		Body: func(b *kernel.Builder) {
			d := b.Sub(b.Load("a"), b.Load("c"))
			b.AccOut(0, b.FMA(d, d, b.AccIn(0)))
		}})
	add(kernel.Kernel{Name: "sumAbsBlock" + sfx, Doc: "returns the sum of |x| over a block.", Lane: t, Lanes: lanes,
		Args: []kernel.Arg{kernel.In("a", t)}, Accs: []kernel.Acc{plus("sum")},
		Body: func(b *kernel.Builder) { b.AccOut(0, b.Add(b.AccIn(0), b.Abs(b.Load("a")))) }})
	add(kernel.Kernel{Name: "dotBlock" + sfx, Doc: "returns the sum of a*b over a block.", Lane: t, Lanes: lanes,
		Rows: t == kernel.F32,
		Args: []kernel.Arg{kernel.In("a", t), kernel.In("b", t)}, Accs: []kernel.Acc{plus("sum")},
		Body: func(b *kernel.Builder) { b.AccOut(0, b.FMA(b.Load("a"), b.Load("b"), b.AccIn(0))) }})
	for _, k := range []struct {
		name, doc string
		acc       kernel.Acc
		f         func(b *kernel.Builder, acc, d *kernel.Value) *kernel.Value
	}{
		{"absDiff", "the sum of |a-b|", plus("sum"),
			func(b *kernel.Builder, acc, d *kernel.Value) *kernel.Value { return b.Add(acc, b.Abs(d)) }},
		{"sqDiff", "the sum of (a-b)²", plus("sum"),
			func(b *kernel.Builder, acc, d *kernel.Value) *kernel.Value { return b.FMA(d, d, acc) }},
		{"maxDiff", "the largest |a-b|, 0 or more; NaN if there is one", kernel.Accumulator("m", "max", 0),
			func(b *kernel.Builder, acc, d *kernel.Value) *kernel.Value { return b.MaxN(acc, b.Abs(d)) }},
	} {
		add(kernel.Kernel{Name: k.name + "Block" + sfx, Doc: "returns " + k.doc + " over a block.", Lane: t,
			Lanes: lanes, Rows: true,
			Args: []kernel.Arg{kernel.In("a", t), kernel.In("b", t)}, Accs: []kernel.Acc{k.acc},
			Body: func(b *kernel.Builder) { b.AccOut(0, k.f(b, b.AccIn(0), b.Sub(b.Load("a"), b.Load("b")))) }})
	}
	add(kernel.Kernel{Name: "addDiff" + sfx, Doc: "sets dst[i] += s*(a[i]-b[i]), rounded once after the difference.",
		Lane: t, Rows: true, PerRow: true,
		Args: []kernel.Arg{kernel.InOut("dst", t), kernel.In("a", t), kernel.In("b", t), kernel.Scalar("s", t)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.FMA(b.Sub(b.Load("a"), b.Load("b")), b.Load("s"), b.Load("dst")))
		}})
	add(kernel.Kernel{Name: "addSign" + sfx,
		Doc: "sets dst[i] += s with the sign of a[i]-b[i]; nothing where that is 0 or NaN.", Lane: t, Rows: true,
		PerRow: true,
		Args:   []kernel.Arg{kernel.InOut("dst", t), kernel.In("a", t), kernel.In("b", t), kernel.Scalar("s", t)},
		Body: func(b *kernel.Builder) {
			d := b.Sub(b.Load("a"), b.Load("b"))
			b.Store("dst", b.Add(b.Load("dst"), b.Sel(b.Cmp(kernel.GT, b.Abs(d), b.C(0)), b.Xor(b.Load("s"), b.Sign(d)),
				b.C(0))))
		}})
	add(kernel.Kernel{Name: "maxBlock" + sfx,
		Doc: "returns the largest element of a block, NaN if there is one; -Inf if the block is empty.", Lane: t,
		Lanes: lanes, Rows: true, Down: "MaximumRows" + sfx + "(rows, len(dst), dst, 0, dst, 0, a, lda)",
		Args: []kernel.Arg{kernel.In("a", t)}, Accs: []kernel.Acc{kernel.Accumulator("m", "max", math.Inf(-1))},
		Body: func(b *kernel.Builder) {
			// The accumulator comes first: only the comparison of the element
			// with itself is then outside of the loop's dependency chain.
			b.AccOut(0, b.MaxN(b.AccIn(0), b.Load("a")))
		}})
	add(kernel.Kernel{Name: "minBlock" + sfx,
		Doc: "returns the smallest element of a block, NaN if there is one; +Inf if the block is empty.", Lane: t,
		Lanes: lanes, Rows: true, Down: "MinimumRows" + sfx + "(rows, len(dst), dst, 0, dst, 0, a, lda)",
		Args: []kernel.Arg{kernel.In("a", t)}, Accs: []kernel.Acc{kernel.Accumulator("m", "min", math.Inf(1))},
		Body: func(b *kernel.Builder) { b.AccOut(0, b.MinN(b.AccIn(0), b.Load("a"))) }})
	add(kernel.Kernel{Name: "gradSumsBlock" + sfx, Doc: "returns the sums of grad and of grad*(x-mean) over a block.",
		Lane: t, Lanes: lanes / 2, Rows: true, PerRow: true,
		Args: []kernel.Arg{kernel.In("grad", t), kernel.In("x", t), kernel.Scalar("mean", t)},
		Accs: []kernel.Acc{plus("s0"), plus("s1")},
		Body: func(b *kernel.Builder) {
			g := b.Load("grad")
			b.AccOut(0, b.Add(b.AccIn(0), g))
			b.AccOut(1, b.FMA(g, b.Sub(b.Load("x"), b.Load("mean")), b.AccIn(1)))
		}})
	add(kernel.Kernel{Name: "gradSumsWeightBlock" + sfx,
		Doc: "returns the sums of grad*w and of grad*w*(x-mean) over a block.", Lane: t, Lanes: lanes / 2, Rows: true,
		PerRow: true,
		Args:   []kernel.Arg{kernel.In("grad", t), kernel.In("w", t), kernel.In("x", t), kernel.Scalar("mean", t)},
		Accs:   []kernel.Acc{plus("s0"), plus("s1")},
		Body: func(b *kernel.Builder) {
			g := b.Mul(b.Load("grad"), b.Load("w"))
			b.AccOut(0, b.Add(b.AccIn(0), g))
			b.AccOut(1, b.FMA(g, b.Sub(b.Load("x"), b.Load("mean")), b.AccIn(1)))
		}})
	if t == kernel.F64 {
		add(kernel.Kernel{Name: "sumBlockF32As64", Doc: "returns the sum of a block, added up in float64.",
			Lane: kernel.F64, Lanes: 32,
			Args: []kernel.Arg{kernel.In("a", kernel.F32)}, Accs: []kernel.Acc{plus("sum")},
			Body: func(b *kernel.Builder) { b.AccOut(0, b.Add(b.AccIn(0), b.Load("a"))) }})
		add(kernel.Kernel{Name: "sumSqBlockF32As64", Doc: "returns the sum of (x-c)² over a block, in float64.",
			Lane: kernel.F64, Lanes: 32, Rows: true, PerRow: true,
			Args: []kernel.Arg{kernel.In("a", kernel.F32), kernel.Scalar("c", kernel.F64)},
			Accs: []kernel.Acc{plus("sum")},
			Body: func(b *kernel.Builder) {
				d := b.Sub(b.Load("a"), b.Load("c"))
				b.AccOut(0, b.FMA(d, d, b.AccIn(0)))
			}})
		add(kernel.Kernel{Name: "dotBlockF32As64", Doc: "returns the sum of a*b over a block, in float64.",
			Lane: kernel.F64, Lanes: 32,
			Args: []kernel.Arg{kernel.In("a", kernel.F32), kernel.In("b", kernel.F32)}, Accs: []kernel.Acc{plus("sum")},
			Body: func(b *kernel.Builder) { b.AccOut(0, b.FMA(b.Load("a"), b.Load("b"), b.AccIn(0))) }})
		for _, h := range []kernel.Type{kernel.F16, kernel.BF16} {
			for _, k := range []struct {
				name, doc string
				f         func(b *kernel.Builder, x *kernel.Value) *kernel.Value
			}{{"Accumulate", "a[i]", func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return x }},
				{"AddNumbers", "a[i] where a[i] is not NaN", number}} {
				add(kernel.Kernel{Name: k.name + h.Suffix() + "ToF32", Doc: "sets dst[i] += " + k.doc + ".",
					Lane: kernel.F32, Rows: true,
					Args: []kernel.Arg{kernel.InOut("dst", kernel.F32), kernel.In("a", h)},
					Body: func(b *kernel.Builder) { b.Store("dst", b.Add(b.Load("dst"), k.f(b, b.Load("a")))) }})
			}
		}
		times := []kernel.Acc{kernel.Accumulator("product", "mul", 1)}
		add(kernel.Kernel{Name: "prodBlockF64", Doc: "returns the product of a block.", Lane: kernel.F64, Lanes: 32,
			Rows: true, Down: "MulRowsF64(rows, len(dst), dst, 0, dst, 0, a, lda)",
			Args: []kernel.Arg{kernel.In("a", kernel.F64)}, Accs: times,
			Body: func(b *kernel.Builder) { b.AccOut(0, b.Mul(b.AccIn(0), b.Load("a"))) }})
		add(kernel.Kernel{Name: "prodBlockF32As64", Doc: "returns the product of a block, in float64.",
			Lane: kernel.F64, Lanes: 32, Rows: true, Down: "MultiplyRowsF32ToF64(rows, len(dst), dst, 0, a, lda)",
			Args: []kernel.Arg{kernel.In("a", kernel.F32)}, Accs: times,
			Body: func(b *kernel.Builder) { b.AccOut(0, b.Mul(b.AccIn(0), b.Load("a"))) }})
		add(kernel.Kernel{Name: "MultiplyF32ToF64", Doc: "sets dst[i] *= a[i].", Lane: kernel.F64, Rows: true,
			Args: []kernel.Arg{kernel.InOut("dst", kernel.F64), kernel.In("a", kernel.F32)},
			Body: func(b *kernel.Builder) { b.Store("dst", b.Mul(b.Load("dst"), b.Load("a"))) }})
		for _, a := range []kernel.Type{kernel.F32, kernel.F64} {
			add(kernel.Kernel{Name: "AddSquares" + map[kernel.Type]string{kernel.F32: "F32ToF64", kernel.F64: "F64"}[a],
				Doc: "sets dst[i] += a[i]².", Lane: kernel.F64, Rows: true,
				Args: []kernel.Arg{kernel.InOut("dst", kernel.F64), kernel.In("a", a)},
				Body: func(b *kernel.Builder) {
					x := b.Load("a")
					b.Store("dst", b.FMA(x, x, b.Load("dst")))
				}})
		}
		add(kernel.Kernel{Name: "AccumulateF32ToF64", Doc: "sets dst[i] += a[i].", Lane: kernel.F64,
			Args: []kernel.Arg{kernel.InOut("dst", kernel.F64), kernel.In("a", kernel.F32)},
			Body: func(b *kernel.Builder) { b.Store("dst", b.Add(b.Load("dst"), b.Load("a"))) }})
	}
}

// softmax lists the fused kernels behind softmax and log_softmax.
func softmax() {
	plus := func(name string) kernel.Acc { return kernel.Accumulator(name, "add", 0) }
	add(kernel.Kernel{Name: "maxNumberBlockF32", Doc: "returns the largest number of a block, -Inf if there is none.",
		Lane: kernel.F32, Lanes: 64, Rows: true,
		Args: []kernel.Arg{kernel.In("a", kernel.F32)},
		Accs: []kernel.Acc{kernel.Accumulator("m", "max", math.Inf(-1))},
		Body: func(b *kernel.Builder) { b.AccOut(0, b.MaxX(b.Load("a"), b.AccIn(0))) }})
	add(kernel.Kernel{Name: "expSumBlockF32", Doc: "sets dst[i] = e^(a[i]-m) and returns the sum.", Lane: kernel.F32,
		Lanes: 32, Rows: true, PerRow: true, Next: true,
		Args: []kernel.Arg{kernel.Out("dst", kernel.F32), kernel.In("a", kernel.F32), kernel.Scalar("m", kernel.F32)},
		Accs: []kernel.Acc{plus("sum")},
		Body: func(b *kernel.Builder) {
			e := Exp(b, b.Sub(b.Load("a"), b.Load("m")))
			b.Store("dst", e)
			b.AccOut(0, b.Add(b.AccIn(0), e))
		}})
	add(kernel.Kernel{Name: "sumExpBlockF32", Doc: "returns the sum of e^(a[i]-m).", Lane: kernel.F32, Lanes: 32,
		Rows: true, PerRow: true, Next: true,
		Args: []kernel.Arg{kernel.In("a", kernel.F32), kernel.Scalar("m", kernel.F32)}, Accs: []kernel.Acc{plus("sum")},
		Body: func(b *kernel.Builder) {
			b.AccOut(0, b.Add(b.AccIn(0), Exp(b, b.Sub(b.Load("a"), b.Load("m")))))
		}})
	add(kernel.Kernel{Name: "LogSoftmaxBackwardF32",
		Doc: "sets dst[i] = grad[i] - e^y[i]*sum, where y is the result of log_softmax and sum the sum of grad over " +
			"the row.", Lane: kernel.F32, Rows: true, PerRow: true,
		Args: []kernel.Arg{kernel.Out("dst", kernel.F32), kernel.In("grad", kernel.F32), kernel.In("y", kernel.F32),
			kernel.Scalar("sum", kernel.F32)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.FNMA(Exp(b, b.Load("y")), b.Load("sum"), b.Load("grad")))
		}})
	add(kernel.Kernel{Name: "logSoftmaxShiftF32", Doc: "sets dst[i] = (a[i] - m) - s.", Lane: kernel.F32, Rows: true,
		PerRow: true,
		Args: []kernel.Arg{kernel.Out("dst", kernel.F32), kernel.In("a", kernel.F32), kernel.Scalar("m", kernel.F32),
			kernel.Scalar("s", kernel.F32)},
		Body: func(b *kernel.Builder) { b.Store("dst", b.Sub(b.Sub(b.Load("a"), b.Load("m")), b.Load("s"))) }})
}

// attention lists the weights of attention, whose scores may be hidden by a mask of -Inf or of large negative numbers.
func attention(t kernel.Type, sfx string) {
	doc := "sets dst[i] = e^(a[i]-m), or 0 below " +
		map[kernel.Type]string{kernel.F32: "e^-87", kernel.F64: "e^-708"}[t]
	add(kernel.Kernel{Name: "ExpOrZero" + sfx, Doc: doc + ".", Lane: t,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.Scalar("m", t)},
		Body: func(b *kernel.Builder) { b.Store("dst", expOrZero(b, b.Sub(b.Load("a"), b.Load("m")))) }})
	add(kernel.Kernel{Name: "expOrZeroSumBlock" + sfx, Doc: doc + ", and returns the sum.", Lane: t, Lanes: 32,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.Scalar("m", t)},
		Accs: []kernel.Acc{kernel.Accumulator("sum", "add", 0)},
		Body: func(b *kernel.Builder) {
			e := expOrZero(b, b.Sub(b.Load("a"), b.Load("m")))
			b.Store("dst", e)
			b.AccOut(0, b.Add(b.AccIn(0), e))
		}})
}

// norms lists the fused steps of layer and batch norm.
func norms(t kernel.Type, sfx string) {
	add(kernel.Kernel{Name: "Normalize" + sfx, Doc: "sets dst[i] = (a[i]-mean) * rstd.", Lane: t, Rows: true,
		PerRow: true,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.Scalar("mean", t),
			kernel.Scalar("rstd", t)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.Mul(b.Sub(b.Load("a"), b.Load("mean")), b.Load("rstd")))
		}})
	add(kernel.Kernel{Name: "NormalizeAffine" + sfx, Doc: "sets dst[i] = (a[i]-mean) * rstd * w[i] + c[i].", Lane: t,
		Rows: true, PerRow: true,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("w", t), kernel.In("c", t),
			kernel.Scalar("mean", t), kernel.Scalar("rstd", t)},
		Body: func(b *kernel.Builder) {
			x := b.Mul(b.Sub(b.Load("a"), b.Load("mean")), b.Load("rstd"))
			b.Store("dst", b.FMA(x, b.Load("w"), b.Load("c")))
		}})
	add(kernel.Kernel{Name: "NormalizeBackward" + sfx,
		Doc: "sets dst[i] = rstd * (grad[i] - c1 - (x[i]-mean)*c2): a normalised row's input gradient,\nwith c1 the " +
			"mean of grad and c2 the mean of grad*(x-mean) times rstd².", Lane: t, Rows: true, PerRow: true,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("x", t), kernel.Scalar("mean", t),
			kernel.Scalar("rstd", t), kernel.Scalar("c1", t), kernel.Scalar("c2", t)},
		Body: func(b *kernel.Builder) {
			d := b.Sub(b.Load("grad"), b.Load("c1"))
			d = b.FNMA(b.Sub(b.Load("x"), b.Load("mean")), b.Load("c2"), d)
			b.Store("dst", b.Mul(d, b.Load("rstd")))
		}})
	add(kernel.Kernel{Name: "NormalizeAffineBackward" + sfx,
		Doc: "is NormalizeBackward with grad[i]*w[i] in place of grad[i].", Lane: t, Rows: true, PerRow: true,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("w", t), kernel.In("x", t),
			kernel.Scalar("mean", t), kernel.Scalar("rstd", t), kernel.Scalar("c1", t), kernel.Scalar("c2", t)},
		Body: func(b *kernel.Builder) {
			d := b.Sub(b.Mul(b.Load("grad"), b.Load("w")), b.Load("c1"))
			d = b.FNMA(b.Sub(b.Load("x"), b.Load("mean")), b.Load("c2"), d)
			b.Store("dst", b.Mul(d, b.Load("rstd")))
		}})
	add(kernel.Kernel{Name: "NormalizeParamsBackward" + sfx,
		Doc: "adds a row's share to the gradients of the affine parameters:\ndw[i] += grad[i]*(x[i]-mean)*rstd and " +
			"db[i] += grad[i].", Lane: t, Rows: true, PerRow: true,
		Args: []kernel.Arg{kernel.InOut("dw", t), kernel.InOut("db", t), kernel.In("grad", t), kernel.In("x", t),
			kernel.Scalar("mean", t), kernel.Scalar("rstd", t)},
		Body: func(b *kernel.Builder) {
			g := b.Load("grad")
			x := b.Mul(b.Sub(b.Load("x"), b.Load("mean")), b.Load("rstd"))
			b.Store("dw", b.FMA(g, x, b.Load("dw")))
			b.Store("db", b.Add(b.Load("db"), g))
		}})
	add(kernel.Kernel{Name: "AccumulateSquares" + sfx,
		Doc: "sets dst[i] += (a[i]-mean[i])²: one row's share in column variances.", Lane: t,
		Args: []kernel.Arg{kernel.InOut("dst", t), kernel.In("a", t), kernel.In("mean", t)},
		Body: func(b *kernel.Builder) {
			d := b.Sub(b.Load("a"), b.Load("mean"))
			b.Store("dst", b.FMA(d, d, b.Load("dst")))
		}})
	add(kernel.Kernel{Name: "AccumulateCentered" + sfx,
		Doc: "sets dst[i] += grad[i]*(x[i]-mean[i]): one row's share in the gradient of column scales.", Lane: t,
		Args: []kernel.Arg{kernel.InOut("dst", t), kernel.In("grad", t), kernel.In("x", t), kernel.In("mean", t)},
		Body: func(b *kernel.Builder) {
			d := b.Sub(b.Load("x"), b.Load("mean"))
			b.Store("dst", b.FMA(d, b.Load("grad"), b.Load("dst")))
		}})
	add(kernel.Kernel{Name: "CombineColumns" + sfx,
		Doc: "sets dst[i] = x[i]*a[i] + y[i]*b[i] + z[i]: Combine with coefficients per column.", Lane: t, Part: true,
		Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("b", t), kernel.In("x", t),
			kernel.In("y", t), kernel.In("z", t)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.FMA(b.Load("a"), b.Load("x"), b.FMA(b.Load("b"), b.Load("y"), b.Load("z"))))
		}})
}

// optimizers lists the steps of the optimizers on a run of parameters.
func optimizers(t kernel.Type, sfx string) {
	add(kernel.Kernel{Name: "Adam" + sfx,
		Doc: "is one step of Adam or AdamW on a run of parameters:\n\n\tp *= decay            (AdamW: 1 - " +
			"lr*weight_decay, else 1)\n\tgrad += l2*p             (Adam's weight_decay, else 0)\n\tm += beta1c*(grad - " +
			"m)   (beta1c = 1-beta1)\n\tv = beta2*v + beta2c*grad²\n\tp -= step*m / (sqrt(v)/corr + eps)\n\nwith step = " +
			"lr/(1-beta1^t) and corr = sqrt(1-beta2^t). The gradient grad is only read.", Lane: t,
		Args: []kernel.Arg{kernel.InOut("p", t), kernel.InOut("m", t), kernel.InOut("v", t), kernel.In("grad", t),
			kernel.Scalar("decay", t), kernel.Scalar("l2", t), kernel.Scalar("beta1c", t), kernel.Scalar("beta2", t),
			kernel.Scalar("beta2c", t),
			kernel.Scalar("step", t), kernel.Scalar("corr", t), kernel.Scalar("eps", t)},
		Body: func(b *kernel.Builder) {
			p := b.Mul(b.Load("p"), b.Load("decay"))
			g := penalized(b, p)
			m := b.Load("m")
			m = b.FMA(b.Sub(g, m), b.Load("beta1c"), m)
			b.Store("m", m)
			v := b.Mul(b.Load("v"), b.Load("beta2"))
			v = b.FMA(b.Mul(g, b.Load("beta2c")), g, v)
			b.Store("v", v)
			den := b.Add(b.Div(b.Sqrt(v), b.Load("corr")), b.Load("eps"))
			b.Store("p", b.Sub(p, b.Div(b.Mul(m, b.Load("step")), den)))
		}})
	add(kernel.Kernel{Name: "Adagrad" + sfx,
		Doc: "is one step of Adagrad: d = grad + l2*p, sum += d², p -= lr*d / (sqrt(sum) + eps).", Lane: t,
		Args: []kernel.Arg{kernel.InOut("p", t), kernel.InOut("sum", t), kernel.In("grad", t), kernel.Scalar("lr", t),
			kernel.Scalar("l2", t), kernel.Scalar("eps", t)},
		Body: func(b *kernel.Builder) {
			p := b.Load("p")
			d := penalized(b, p)
			s := b.FMA(d, d, b.Load("sum"))
			b.Store("sum", s)
			b.Store("p", b.Sub(p, b.Div(b.Mul(d, b.Load("lr")), b.Add(b.Sqrt(s), b.Load("eps")))))
		}})
	add(kernel.Kernel{Name: "SGD" + sfx, Doc: "is one step of plain gradient descent: p -= lr*(grad + l2*p).", Lane: t,
		Args: []kernel.Arg{kernel.InOut("p", t), kernel.In("grad", t), kernel.Scalar("lr", t), kernel.Scalar("l2", t)},
		Body: func(b *kernel.Builder) {
			p := b.Load("p")
			b.Store("p", b.FNMA(penalized(b, p), b.Load("lr"), p))
		}})
	add(kernel.Kernel{Name: "SGDMomentum" + sfx,
		Doc: "is one step with momentum: d = grad + l2*p, buf = momentum*buf + damp*d, p -= lr*buf,\nwhere damp is 1 " +
			"- dampening.", Lane: t,
		Args: []kernel.Arg{kernel.InOut("p", t), kernel.InOut("buf", t), kernel.In("grad", t), kernel.Scalar("lr", t),
			kernel.Scalar("l2", t), kernel.Scalar("momentum", t), kernel.Scalar("damp", t)},
		Body: func(b *kernel.Builder) {
			p := b.Load("p")
			d := penalized(b, p)
			u := b.FMA(d, b.Load("damp"), b.Mul(b.Load("buf"), b.Load("momentum")))
			b.Store("buf", u)
			b.Store("p", b.FNMA(u, b.Load("lr"), p))
		}})
	add(kernel.Kernel{Name: "SGDNesterov" + sfx,
		Doc: "is SGDMomentum with Nesterov's look-ahead: p -= lr*(d + momentum*buf).", Lane: t,
		Args: []kernel.Arg{kernel.InOut("p", t), kernel.InOut("buf", t), kernel.In("grad", t), kernel.Scalar("lr", t),
			kernel.Scalar("l2", t), kernel.Scalar("momentum", t), kernel.Scalar("damp", t)},
		Body: func(b *kernel.Builder) {
			p := b.Load("p")
			d := penalized(b, p)
			u := b.FMA(d, b.Load("damp"), b.Mul(b.Load("buf"), b.Load("momentum")))
			b.Store("buf", u)
			b.Store("p", b.FNMA(b.FMA(u, b.Load("momentum"), d), b.Load("lr"), p))
		}})
	add(kernel.Kernel{Name: "AdamAMSGrad" + sfx,
		Doc: "is Adam with vmax = max(vmax, v) in place of v in the denominator.", Lane: t,
		Args: []kernel.Arg{kernel.InOut("p", t), kernel.InOut("m", t), kernel.InOut("v", t), kernel.InOut("vmax", t),
			kernel.In("grad", t),
			kernel.Scalar("decay", t), kernel.Scalar("l2", t), kernel.Scalar("beta1c", t), kernel.Scalar("beta2", t),
			kernel.Scalar("beta2c", t),
			kernel.Scalar("step", t), kernel.Scalar("corr", t), kernel.Scalar("eps", t)},
		Body: func(b *kernel.Builder) {
			p := b.Mul(b.Load("p"), b.Load("decay"))
			g := penalized(b, p)
			m := b.Load("m")
			m = b.FMA(b.Sub(g, m), b.Load("beta1c"), m)
			b.Store("m", m)
			v := b.Mul(b.Load("v"), b.Load("beta2"))
			v = b.FMA(b.Mul(g, b.Load("beta2c")), g, v)
			b.Store("v", v)
			v = b.MaxN(b.Load("vmax"), v)
			b.Store("vmax", v)
			den := b.Add(b.Div(b.Sqrt(v), b.Load("corr")), b.Load("eps"))
			b.Store("p", b.Sub(p, b.Div(b.Mul(m, b.Load("step")), den)))
		}})
}

// penalized is the gradient with that of an L2 penalty. A factor of 0 leaves infinite parameters out, of which the
// product would be NaN.
func penalized(b *kernel.Builder, p *kernel.Value) *kernel.Value {
	l2, g := b.Load("l2"), b.Load("grad")
	return b.Sel(b.Cmp(kernel.NEQ, l2, b.C(0)), b.FMA(p, l2, g), g)
}

func nonzero(b *kernel.Builder, x *kernel.Value) *kernel.Value { return b.Cmp(kernel.NEQ, x, b.C(0)) }

func conversions() {
	conv := func(name, doc string, lane, from, to kernel.Type, f func(b *kernel.Builder, x *kernel.Value) *kernel.Value,
		noAVX2 bool) {
		add(kernel.Kernel{Name: name, Doc: doc, Lane: lane, NoAVX2: noAVX2,
			Args: []kernel.Arg{kernel.Out("dst", to), kernel.In("a", from)},
			Body: func(b *kernel.Builder) { b.Store("dst", f(b, b.Load("a"))) }})
	}
	same := func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return x }
	conv("F16ToF32s", "widens half-precision values.", kernel.F32, kernel.F16, kernel.F32, same, false)
	conv("F32ToF16s", "rounds to half precision, ties to even; NaN stays NaN, overflow gives Inf.", kernel.F32,
		kernel.F32, kernel.F16, same, false)
	conv("BF16ToF32s", "widens bfloat16 values.", kernel.F32, kernel.BF16, kernel.F32, same, false)
	conv("F32ToBF16s", "rounds to bfloat16, ties to even; every NaN becomes 0x7fc0.", kernel.F32, kernel.F32,
		kernel.BF16, same, false)
	conv("F64ToF32s", "rounds float64 to float32.", kernel.F64, kernel.F64, kernel.F32, same, false)
	conv("F32ToF64s", "widens float32 to float64.", kernel.F64, kernel.F32, kernel.F64, same, false)
	conv("U8ToF32s", "converts bytes.", kernel.F32, kernel.U8, kernel.F32, (*kernel.Builder).I2F, false)
	conv("I8ToF32s", "converts signed bytes.", kernel.F32, kernel.I8, kernel.F32, (*kernel.Builder).I2F, false)
	conv("I32ToF32s", "converts int32, rounding to even.", kernel.F32, kernel.I32, kernel.F32, (*kernel.Builder).I2F,
		false)
	conv("F32ToI32s", "converts towards zero; NaN and what does not fit give the smallest int32.", kernel.F32,
		kernel.F32, kernel.I32, (*kernel.Builder).F2I, false)
	conv("F32ToU8s", "converts towards zero to int32 and keeps the low byte.", kernel.F32, kernel.F32, kernel.U8,
		(*kernel.Builder).F2I, false)
	conv("F32ToI8s", "converts towards zero to int32 and keeps the low byte.", kernel.F32, kernel.F32, kernel.I8,
		(*kernel.Builder).F2I, false)
	conv("F32ToI16s", "converts towards zero to int32 and keeps the low half.", kernel.F32, kernel.F32, kernel.I16,
		(*kernel.Builder).F2I, false)
	conv("I16ToF32s", "converts int16.", kernel.F32, kernel.I16, kernel.F32, (*kernel.Builder).I2F, false)
	conv("F16ToBools", "sets dst[i] = 1 where a[i] is not 0, else 0.", kernel.F32, kernel.F16, kernel.U8, nonzero,
		false)
	conv("BF16ToBools", "sets dst[i] = 1 where a[i] is not 0, else 0.", kernel.F32, kernel.BF16, kernel.U8, nonzero,
		false)
	ints := []kernel.Type{kernel.U8, kernel.I8, kernel.I16, kernel.I32, kernel.I64}
	title := map[kernel.Type]string{kernel.U8: "U8", kernel.I8: "I8", kernel.I16: "I16", kernel.I32: "I32",
		kernel.I64: "I64"}
	for i, from := range ints {
		for j, to := range ints {
			lane := kernel.F32
			if from == kernel.I64 || to == kernel.I64 {
				lane = kernel.F64
			}
			switch {
			case from.Size() < to.Size():
				conv(title[from]+"To"+title[to]+"s", "widens integers.", lane, from, to, same, false)
			case i > j && from.Size() > to.Size() && to != kernel.I8:
				conv(title[from]+"To"+title[to]+"s", "keeps the low bits of integers.", lane, from, to, same, false)
			}
		}
		if from != kernel.I64 {
			conv(title[from]+"ToF64s", "converts integers.", kernel.F64, from, kernel.F64, (*kernel.Builder).L2F, false)
		}
	}
	conv("I64ToF32s", "converts integers, rounding to even once.", kernel.F64, kernel.I64, kernel.F32,
		(*kernel.Builder).Q2S, false)
	conv("I64ToF64s", "converts integers, rounding to even.", kernel.F64, kernel.I64, kernel.F64, (*kernel.Builder).Q2F,
		false)
	conv("F32ToI64s", "converts towards zero; NaN and what does not fit give the smallest int64.", kernel.F64,
		kernel.F32, kernel.I64, (*kernel.Builder).F2I, true)
	conv("F64ToI64s", "converts towards zero; NaN and what does not fit give the smallest int64.", kernel.F64,
		kernel.F64, kernel.I64, (*kernel.Builder).F2I, true)
	// What does not fit int32, NaN among it, becomes the smallest one: the number that the instruction for float32
	// gives.
	toInt := func(b *kernel.Builder, x *kernel.Value) *kernel.Value {
		t := b.Round(x, 3)
		return b.F2L(b.Sel(b.MAnd(b.Cmp(kernel.GE, t, b.C(-0x1p31)), b.Cmp(kernel.LT, t, b.C(0x1p31))), t,
			b.C(-0x1p31)))
	}
	conv("F64ToI32s", "converts towards zero; NaN and what does not fit give the smallest int32.", kernel.F64,
		kernel.F64, kernel.I32, toInt, false)
	conv("F64ToI16s", "converts towards zero to int32 and keeps the low half.", kernel.F64, kernel.F64, kernel.I16,
		toInt, false)
	conv("F64ToI8s", "converts towards zero to int32 and keeps the low byte.", kernel.F64, kernel.F64, kernel.I8, toInt,
		false)
	conv("F64ToU8s", "converts towards zero to int64, whose smallest stands for what does not fit, and keeps the low "+
		"byte.", kernel.F64, kernel.F64, kernel.U8, func(b *kernel.Builder, x *kernel.Value) *kernel.Value {
		t := b.Round(x, 3)
		low := b.FNMA(b.Round(b.Mul(t, b.C(0x1p-8)), 1), b.C(0x1p8), t) // exact
		return b.F2L(b.Sel(b.Cmp(kernel.LT, b.Abs(t), b.C(0x1p62)), low, b.C(0)))
	}, false)
	conv("U32ToU64s", "puts a zero behind every element.", kernel.F64, kernel.U32, kernel.I64, same, false)
}

package main

import (
	"math"
	"slices"
)

// This file lists the kernels. To add one, write an add(Kernel{…}) with its
// arguments (the first slice governs the length), its documentation and a body
// in the operations of ir.go; run go generate; give it a reference in
// reference_test.go or accuracy_test.go. The path test picks it up by itself.
// A kernel whose name begins in lower case is for the package's own use.

var kernels []*Kernel

func add(k Kernel) { kernels = append(kernels, &k) }

func init() {
	for _, t := range []Type{F32, F64} {
		sfx := map[Type]string{F32: "F32", F64: "F64"}[t]
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
	sixteenBits()
}

// arithmetic lists the cheap elementwise kernels of a type.
func arithmetic(t Type, sfx string) {
	binary := func(name, doc string, f func(b *B, x, y *Value) *Value) {
		rows := slices.Contains([]string{"Add", "Sub", "Mul", "Div", "Maximum", "Minimum"}, name)
		add(Kernel{Name: name + sfx, Doc: "sets dst[i] = " + doc + ".", Lane: t, Rows: rows,
			Args: []Arg{Out("dst", t), In("a", t), In("b", t)},
			Body: func(b *B) { b.Store("dst", f(b, b.Load("a"), b.Load("b"))) }})
	}
	scalar := func(name, doc string, f func(b *B, x, s *Value) *Value) {
		add(Kernel{Name: name + sfx, Doc: "sets dst[i] = " + doc + ".", Lane: t, Rows: name == "MulScalar" && t == F32, PerRow: true,
			Args: []Arg{Out("dst", t), In("a", t), Scalar("s", t)},
			Body: func(b *B) { b.Store("dst", f(b, b.Load("a"), b.Load("s"))) }})
	}
	unary := func(name, doc string, f func(b *B, x *Value) *Value) {
		add(Kernel{Name: name + sfx, Doc: "sets dst[i] = " + doc + ".", Lane: t,
			Args: []Arg{Out("dst", t), In("a", t)},
			Body: func(b *B) { b.Store("dst", f(b, b.Load("a"))) }})
	}
	binary("Add", "a[i] + b[i]", (*B).Add)
	binary("Sub", "a[i] - b[i]", (*B).Sub)
	binary("Mul", "a[i] * b[i]", (*B).Mul)
	binary("Div", "a[i] / b[i]", (*B).Div)
	binary("DivOrOne", "a[i] / b[i], 1 where b[i] is 0", func(b *B, x, y *Value) *Value {
		return b.Sel(b.Cmp(EQ, y, b.C(0)), b.C(1), b.Div(x, y))
	})
	binary("Maximum", "max(a[i], b[i]), NaN when either is NaN", (*B).MaxN)
	binary("Minimum", "min(a[i], b[i]), NaN when either is NaN", (*B).MinN)

	scalar("AddScalar", "a[i] + s", (*B).Add)
	scalar("SubScalar", "a[i] - s", (*B).Sub)
	scalar("RSubScalar", "s - a[i]", func(b *B, x, s *Value) *Value { return b.Sub(s, x) })
	scalar("MulScalar", "a[i] * s", (*B).Mul)
	scalar("DivScalar", "a[i] / s", (*B).Div)
	scalar("RDivScalar", "s / a[i]", func(b *B, x, s *Value) *Value { return b.Div(s, x) })
	scalar("MaximumScalar", "max(a[i], s), NaN when either is NaN", (*B).MaxN)
	scalar("MinimumScalar", "min(a[i], s), NaN when either is NaN", (*B).MinN)

	unary("Abs", "|a[i]|", (*B).Abs)
	unary("Neg", "-a[i]", (*B).Neg)
	unary("Sqrt", "sqrt(a[i]); NaN below 0", (*B).Sqrt)
	unary("Rsqrt", "1 / sqrt(a[i])", func(b *B, x *Value) *Value { return b.Div(b.C(1), b.Sqrt(x)) })
	unary("Reciprocal", "1 / a[i]", func(b *B, x *Value) *Value { return b.Div(b.C(1), x) })
	unary("Square", "a[i]²", func(b *B, x *Value) *Value { return b.Mul(x, x) })
	unary("ReLU", "max(a[i], 0); NaN stays", func(b *B, x *Value) *Value { return b.MaxX(b.C(0), x) })
	unary("Sign", "-1, 0 or 1 with the sign of a[i]; 0 for NaN", func(b *B, x *Value) *Value {
		pos := b.Sel(b.Cmp(GT, x, b.C(0)), b.C(1), b.C(0))
		return b.Sel(b.Cmp(LT, x, b.C(0)), b.C(-1), pos)
	})
	unary("Floor", "floor(a[i])", func(b *B, x *Value) *Value { return b.Round(x, 1) })
	unary("Ceil", "ceil(a[i])", func(b *B, x *Value) *Value { return b.Round(x, 2) })
	unary("Trunc", "a[i] without its fraction", func(b *B, x *Value) *Value { return b.Round(x, 3) })
	unary("Round", "a[i] rounded to an integer, ties to even", func(b *B, x *Value) *Value { return b.Round(x, 0) })

	add(Kernel{Name: "AddScaled" + sfx, Doc: "sets dst[i] = a[i] + alpha*b[i], rounded once.", Lane: t,
		Args: []Arg{Out("dst", t), In("a", t), In("b", t), Scalar("alpha", t)},
		Body: func(b *B) { b.Store("dst", b.FMA(b.Load("b"), b.Load("alpha"), b.Load("a"))) }})
	add(Kernel{Name: "MulAdd" + sfx, Doc: "sets dst[i] = a[i]*b[i] + c[i], rounded once.", Lane: t, Part: true,
		Args: []Arg{Out("dst", t), In("a", t), In("b", t), In("c", t)},
		Body: func(b *B) { b.Store("dst", b.FMA(b.Load("a"), b.Load("b"), b.Load("c"))) }})
	add(Kernel{Name: "Addcmul" + sfx, Doc: "sets dst[i] = a[i] + (value*b[i])*c[i].", Lane: t,
		Args: []Arg{Out("dst", t), In("a", t), In("b", t), In("c", t), Scalar("value", t)},
		Body: func(b *B) {
			b.Store("dst", b.FMA(b.Mul(b.Load("b"), b.Load("value")), b.Load("c"), b.Load("a")))
		}})
	add(Kernel{Name: "Addcdiv" + sfx, Doc: "sets dst[i] = a[i] + (value*b[i])/c[i].", Lane: t,
		Args: []Arg{Out("dst", t), In("a", t), In("b", t), In("c", t), Scalar("value", t)},
		Body: func(b *B) {
			b.Store("dst", b.Add(b.Load("a"), b.Div(b.Mul(b.Load("b"), b.Load("value")), b.Load("c"))))
		}})
	add(Kernel{Name: "Lerp" + sfx, Doc: "sets dst[i] = a[i] + w*(b[i]-a[i]).", Lane: t,
		Args: []Arg{Out("dst", t), In("a", t), In("b", t), Scalar("w", t)},
		Body: func(b *B) {
			x := b.Load("a")
			b.Store("dst", b.FMA(b.Sub(b.Load("b"), x), b.Load("w"), x))
		}})
	add(Kernel{Name: "ScaleShift" + sfx, Doc: "sets dst[i] = a[i]*scale + shift, rounded once.", Lane: t, Part: true, Rows: true, PerRow: true,
		Args: []Arg{Out("dst", t), In("a", t), Scalar("scale", t), Scalar("shift", t)},
		Body: func(b *B) { b.Store("dst", b.FMA(b.Load("a"), b.Load("scale"), b.Load("shift"))) }})
	add(Kernel{Name: "Combine" + sfx, Doc: "sets dst[i] = x*a[i] + y*b[i] + z; batch norm's input gradient has this form.", Lane: t, Part: true, Rows: true, PerRow: true,
		Args: []Arg{Out("dst", t), In("a", t), In("b", t), Scalar("x", t), Scalar("y", t), Scalar("z", t)},
		Body: func(b *B) {
			b.Store("dst", b.FMA(b.Load("a"), b.Load("x"), b.FMA(b.Load("b"), b.Load("y"), b.Load("z"))))
		}})
	add(Kernel{Name: "Clamp" + sfx, Doc: "sets dst[i] = min(max(a[i], lo), hi); NaN stays.", Lane: t,
		Args: []Arg{Out("dst", t), In("a", t), Scalar("lo", t), Scalar("hi", t)},
		Body: func(b *B) { b.Store("dst", b.MinX(b.Load("hi"), b.MaxX(b.Load("lo"), b.Load("a")))) }})
	add(Kernel{Name: "ThresholdBackward" + sfx, Doc: "sets dst[i] = 0 where x[i] <= threshold, else grad[i].", Lane: t,
		Args: []Arg{Out("dst", t), In("grad", t), In("x", t), Scalar("threshold", t)},
		Body: func(b *B) {
			b.Store("dst", b.Sel(b.Cmp(LE, b.Load("x"), b.Load("threshold")), b.C(0), b.Load("grad")))
		}})
	unary("Hardsigmoid", "min(max(a[i]+3, 0), 6) / 6", func(b *B, x *Value) *Value {
		y := b.MinX(b.C(6), b.MaxX(b.C(0), b.Add(x, b.C(3))))
		return b.Div(y, b.C(6))
	})
	unary("Hardswish", "a[i] * min(max(a[i]+3, 0), 6) / 6", func(b *B, x *Value) *Value {
		y := b.MinX(b.C(6), b.MaxX(b.C(0), b.Add(x, b.C(3))))
		return b.Div(b.Mul(x, y), b.C(6))
	})
	add(Kernel{Name: "HardsigmoidBackward" + sfx, Doc: "sets dst[i] = grad[i]/6 where -3 < x[i] < 3, else 0.", Lane: t,
		Args: []Arg{Out("dst", t), In("grad", t), In("x", t)},
		Body: func(b *B) {
			d := b.Div(b.Load("grad"), b.C(6))
			b.Store("dst", b.Sel(b.Cmp(LT, b.Abs(b.Load("x")), b.C(3)), d, b.C(0)))
		}})
	add(Kernel{Name: "HardswishBackward" + sfx, Doc: "sets dst[i] = 0 where x[i] <= -3, grad[i] where x[i] >= 3, else grad[i]*(x[i]/3 + 1/2).", Lane: t,
		Args: []Arg{Out("dst", t), In("grad", t), In("x", t)},
		Body: func(b *B) {
			x, g := b.Load("x"), b.Load("grad")
			d := b.Mul(g, b.Add(b.Div(x, b.C(3)), b.C(0.5)))
			d = b.Sel(b.Cmp(GE, x, b.C(3)), g, d)
			b.Store("dst", b.Sel(b.Cmp(LE, x, b.C(-3)), b.C(0), d))
		}})
	add(Kernel{Name: "LeakyReLU" + sfx, Doc: "sets dst[i] = a[i] where it is > 0, else slope*a[i].", Lane: t,
		Args: []Arg{Out("dst", t), In("a", t), Scalar("slope", t)},
		Body: func(b *B) {
			x := b.Load("a")
			b.Store("dst", b.Sel(b.Cmp(GT, x, b.C(0)), x, b.Mul(x, b.Load("slope"))))
		}})
	add(Kernel{Name: "LeakyReLUBackward" + sfx, Doc: "sets dst[i] = grad[i] where x[i] > 0, else slope*grad[i].", Lane: t,
		Args: []Arg{Out("dst", t), In("grad", t), In("x", t), Scalar("slope", t)},
		Body: func(b *B) {
			g := b.Load("grad")
			b.Store("dst", b.Sel(b.Cmp(GT, b.Load("x"), b.C(0)), g, b.Mul(g, b.Load("slope"))))
		}})
	add(Kernel{Name: "TanhBackward" + sfx, Doc: "sets dst[i] = grad[i] * (1 - y[i]²), where y is the result of tanh.", Lane: t,
		Args: []Arg{Out("dst", t), In("grad", t), In("y", t)},
		Body: func(b *B) {
			y := b.Load("y")
			b.Store("dst", b.Mul(b.Load("grad"), b.FNMA(y, y, b.C(1))))
		}})
	add(Kernel{Name: "SigmoidBackward" + sfx, Doc: "sets dst[i] = grad[i] * y[i] * (1 - y[i]), where y is the result of sigmoid.", Lane: t,
		Args: []Arg{Out("dst", t), In("grad", t), In("y", t)},
		Body: func(b *B) {
			y := b.Load("y")
			b.Store("dst", b.Mul(b.Load("grad"), b.Mul(b.Sub(b.C(1), y), y)))
		}})
	add(Kernel{Name: "LogitBackward" + sfx, Doc: "sets dst[i] = grad[i] / (x[i] * (1-x[i])), beyond where x[i] < lo or x[i] > hi.", Lane: t,
		Args: []Arg{Out("dst", t), In("grad", t), In("x", t), Scalar("lo", t), Scalar("hi", t), Scalar("beyond", t)},
		Body: func(b *B) {
			x := b.Load("x")
			d := b.Div(b.Load("grad"), b.Mul(x, b.Sub(b.C(1), x)))
			out := b.MOr(b.Cmp(LT, x, b.Load("lo")), b.Cmp(GT, x, b.Load("hi")))
			b.Store("dst", b.Sel(out, b.Load("beyond"), d))
		}})
	add(Kernel{Name: "SoftmaxBackward" + sfx, Doc: "sets dst[i] = y[i] * (grad[i] - dot), where y is the result of softmax and dot the sum of grad*y over the row.", Lane: t, Rows: t == F32, PerRow: true,
		Args: []Arg{Out("dst", t), In("grad", t), In("y", t), Scalar("dot", t)},
		Body: func(b *B) { b.Store("dst", b.Mul(b.Load("y"), b.Sub(b.Load("grad"), b.Load("dot")))) }})
	add(Kernel{Name: "Fill" + sfx, Doc: "sets dst[i] = s.", Lane: t,
		Args: []Arg{Out("dst", t), Scalar("s", t)}, Unroll: 4,
		Body: func(b *B) { b.Store("dst", b.Load("s")) }})

	for _, c := range []struct {
		name, op string
		pred     int
	}{{"Eq", "==", EQ}, {"Ne", "!=", NEQ}, {"Lt", "<", LT}, {"Le", "<=", LE}, {"Gt", ">", GT}, {"Ge", ">=", GE}} {
		add(Kernel{Name: c.name + sfx, Doc: "sets dst[i] = 1 where a[i] " + c.op + " b[i], else 0.", Lane: t,
			Args: []Arg{Out("dst", U8), In("a", t), In("b", t)},
			Body: func(b *B) { b.Store("dst", b.Cmp(c.pred, b.Load("a"), b.Load("b"))) }})
		add(Kernel{Name: c.name + "Scalar" + sfx, Doc: "sets dst[i] = 1 where a[i] " + c.op + " s, else 0.", Lane: t,
			Args: []Arg{Out("dst", U8), In("a", t), Scalar("s", t)},
			Body: func(b *B) { b.Store("dst", b.Cmp(c.pred, b.Load("a"), b.Load("s"))) }})
	}
	add(Kernel{Name: "Where" + sfx, Doc: "sets dst[i] = a[i] where mask[i] is not 0, else b[i].", Lane: t,
		Args: []Arg{Out("dst", t), In("mask", U8), In("a", t), In("b", t)},
		Body: func(b *B) { b.Store("dst", b.Sel(b.LoadMask("mask"), b.Load("a"), b.Load("b"))) }})
	if t == F32 { // the same for bits of any meaning: those of bfloat16 are only moved
		for _, bits := range []struct {
			name string
			t    Type
		}{{"U8", U8}, {"U16", BF16}} {
			add(Kernel{Name: "Where" + bits.name, Doc: "sets dst[i] = a[i] where mask[i] is not 0, else b[i].", Lane: F32, Exact: true,
				Args: []Arg{Out("dst", bits.t), In("mask", U8), In("a", bits.t), In("b", bits.t)},
				Body: func(b *B) {
					b.Store("dst", b.Bits(b.Sel(b.LoadMask("mask"), b.Float(b.Load("a")), b.Float(b.Load("b")))))
				}})
		}
	}
	add(Kernel{Name: "MaskedFill" + sfx, Doc: "sets dst[i] = s where mask[i] is not 0, else a[i].", Lane: t,
		Args: []Arg{Out("dst", t), In("a", t), In("mask", U8), Scalar("s", t)},
		Body: func(b *B) { b.Store("dst", b.Sel(b.LoadMask("mask"), b.Load("s"), b.Load("a"))) }})
	add(Kernel{Name: "Dropout" + sfx, Doc: "sets dst[i] = a[i]*scale where mask[i] is not 0, else 0.", Lane: t,
		Args: []Arg{Out("dst", t), In("a", t), In("mask", U8), Scalar("scale", t)},
		Body: func(b *B) {
			b.Store("dst", b.Sel(b.LoadMask("mask"), b.Mul(b.Load("a"), b.Load("scale")), b.C(0)))
		}})
}

// number is x with 0 in place of NaN.
func number(b *B, x *Value) *Value { return b.Sel(b.Cmp(UNORD, x, x), b.C(0), x) }

// reductions lists the kernels that reduce one block; the exported functions
// cut runs into blocks and combine their results pairwise. Accumulator lanes
// are the same number on every path, so the order of additions is, too.
func reductions(t Type, sfx string) {
	lanes := 256 / t.Size()
	plus := func(name string) Acc { return Acc{name, "add", 0} }
	add(Kernel{Name: "sumBlock" + sfx, Doc: "returns the sum of a block.", Lane: t, Lanes: lanes, Rows: true, Down: "AddTapRows" + sfx + "(rows, len(dst), dst, 0, a, lda)",
		Args: []Arg{In("a", t)}, Accs: []Acc{plus("sum")},
		Body: func(b *B) { b.AccOut(0, b.Add(b.AccIn(0), b.Load("a"))) }})
	add(Kernel{Name: "sumNumbersBlock" + sfx, Doc: "returns the sum of what is not NaN in a block.", Lane: t, Lanes: lanes, Rows: true, Down: "AddNumbersRows" + sfx + "(rows, len(dst), dst, 0, a, lda)",
		Args: []Arg{In("a", t)}, Accs: []Acc{plus("sum")},
		Body: func(b *B) { b.AccOut(0, b.Add(b.AccIn(0), number(b, b.Load("a")))) }})
	add(Kernel{Name: "AddNumbers" + sfx, Doc: "sets dst[i] += a[i] where a[i] is not NaN.", Lane: t, Rows: true,
		Args: []Arg{InOut("dst", t), In("a", t)},
		Body: func(b *B) { b.Store("dst", b.Add(b.Load("dst"), number(b, b.Load("a")))) }})
	add(Kernel{Name: "sumSqBlock" + sfx, Doc: "returns the sum of (x-c)² over a block.", Lane: t, Lanes: lanes, Rows: true, PerRow: true,
		Args: []Arg{In("a", t), Scalar("c", t)}, Accs: []Acc{plus("sum")},
		Body: func(b *B) {
			d := b.Sub(b.Load("a"), b.Load("c"))
			b.AccOut(0, b.FMA(d, d, b.AccIn(0)))
		}})
	add(Kernel{Name: "sumAbsBlock" + sfx, Doc: "returns the sum of |x| over a block.", Lane: t, Lanes: lanes,
		Args: []Arg{In("a", t)}, Accs: []Acc{plus("sum")},
		Body: func(b *B) { b.AccOut(0, b.Add(b.AccIn(0), b.Abs(b.Load("a")))) }})
	add(Kernel{Name: "dotBlock" + sfx, Doc: "returns the sum of a*b over a block.", Lane: t, Lanes: lanes, Rows: t == F32,
		Args: []Arg{In("a", t), In("b", t)}, Accs: []Acc{plus("sum")},
		Body: func(b *B) { b.AccOut(0, b.FMA(b.Load("a"), b.Load("b"), b.AccIn(0))) }})
	for _, k := range []struct {
		name, doc string
		acc       Acc
		f         func(b *B, acc, d *Value) *Value
	}{
		{"absDiff", "the sum of |a-b|", plus("sum"), func(b *B, acc, d *Value) *Value { return b.Add(acc, b.Abs(d)) }},
		{"sqDiff", "the sum of (a-b)²", plus("sum"), func(b *B, acc, d *Value) *Value { return b.FMA(d, d, acc) }},
		{"maxDiff", "the largest |a-b|, 0 or more; NaN if there is one", Acc{"m", "max", 0}, func(b *B, acc, d *Value) *Value { return b.MaxN(acc, b.Abs(d)) }},
	} {
		add(Kernel{Name: k.name + "Block" + sfx, Doc: "returns " + k.doc + " over a block.", Lane: t, Lanes: lanes, Rows: true,
			Args: []Arg{In("a", t), In("b", t)}, Accs: []Acc{k.acc},
			Body: func(b *B) { b.AccOut(0, k.f(b, b.AccIn(0), b.Sub(b.Load("a"), b.Load("b")))) }})
	}
	add(Kernel{Name: "addDiff" + sfx, Doc: "sets dst[i] += s*(a[i]-b[i]), rounded once after the difference.", Lane: t, Rows: true, PerRow: true,
		Args: []Arg{InOut("dst", t), In("a", t), In("b", t), Scalar("s", t)},
		Body: func(b *B) { b.Store("dst", b.FMA(b.Sub(b.Load("a"), b.Load("b")), b.Load("s"), b.Load("dst"))) }})
	add(Kernel{Name: "addSign" + sfx, Doc: "sets dst[i] += s with the sign of a[i]-b[i]; nothing where that is 0 or NaN.", Lane: t, Rows: true, PerRow: true,
		Args: []Arg{InOut("dst", t), In("a", t), In("b", t), Scalar("s", t)},
		Body: func(b *B) {
			d := b.Sub(b.Load("a"), b.Load("b"))
			b.Store("dst", b.Add(b.Load("dst"), b.Sel(b.Cmp(GT, b.Abs(d), b.C(0)), b.Xor(b.Load("s"), b.Sign(d)), b.C(0))))
		}})
	add(Kernel{Name: "maxBlock" + sfx, Doc: "returns the largest element of a block, NaN if there is one; -Inf if the block is empty.", Lane: t, Lanes: lanes, Rows: true, Down: "MaximumRows" + sfx + "(rows, len(dst), dst, 0, dst, 0, a, lda)",
		Args: []Arg{In("a", t)}, Accs: []Acc{{"m", "max", math.Inf(-1)}},
		Body: func(b *B) {
			// The accumulator comes first: only the comparison of the element
			// with itself is then outside of the loop's dependency chain.
			b.AccOut(0, b.MaxN(b.AccIn(0), b.Load("a")))
		}})
	add(Kernel{Name: "minBlock" + sfx, Doc: "returns the smallest element of a block, NaN if there is one; +Inf if the block is empty.", Lane: t, Lanes: lanes, Rows: true, Down: "MinimumRows" + sfx + "(rows, len(dst), dst, 0, dst, 0, a, lda)",
		Args: []Arg{In("a", t)}, Accs: []Acc{{"m", "min", math.Inf(1)}},
		Body: func(b *B) { b.AccOut(0, b.MinN(b.AccIn(0), b.Load("a"))) }})
	add(Kernel{Name: "gradSumsBlock" + sfx, Doc: "returns the sums of grad and of grad*(x-mean) over a block.", Lane: t, Lanes: lanes / 2, Rows: true, PerRow: true,
		Args: []Arg{In("grad", t), In("x", t), Scalar("mean", t)}, Accs: []Acc{plus("s0"), plus("s1")},
		Body: func(b *B) {
			g := b.Load("grad")
			b.AccOut(0, b.Add(b.AccIn(0), g))
			b.AccOut(1, b.FMA(g, b.Sub(b.Load("x"), b.Load("mean")), b.AccIn(1)))
		}})
	add(Kernel{Name: "gradSumsWeightBlock" + sfx, Doc: "returns the sums of grad*w and of grad*w*(x-mean) over a block.", Lane: t, Lanes: lanes / 2, Rows: true, PerRow: true,
		Args: []Arg{In("grad", t), In("w", t), In("x", t), Scalar("mean", t)}, Accs: []Acc{plus("s0"), plus("s1")},
		Body: func(b *B) {
			g := b.Mul(b.Load("grad"), b.Load("w"))
			b.AccOut(0, b.Add(b.AccIn(0), g))
			b.AccOut(1, b.FMA(g, b.Sub(b.Load("x"), b.Load("mean")), b.AccIn(1)))
		}})
	if t == F64 {
		add(Kernel{Name: "sumBlockF32As64", Doc: "returns the sum of a block, added up in float64.", Lane: F64, Lanes: 32,
			Args: []Arg{In("a", F32)}, Accs: []Acc{plus("sum")},
			Body: func(b *B) { b.AccOut(0, b.Add(b.AccIn(0), b.Load("a"))) }})
		add(Kernel{Name: "sumSqBlockF32As64", Doc: "returns the sum of (x-c)² over a block, in float64.", Lane: F64, Lanes: 32, Rows: true, PerRow: true,
			Args: []Arg{In("a", F32), Scalar("c", F64)}, Accs: []Acc{plus("sum")},
			Body: func(b *B) {
				d := b.Sub(b.Load("a"), b.Load("c"))
				b.AccOut(0, b.FMA(d, d, b.AccIn(0)))
			}})
		add(Kernel{Name: "dotBlockF32As64", Doc: "returns the sum of a*b over a block, in float64.", Lane: F64, Lanes: 32,
			Args: []Arg{In("a", F32), In("b", F32)}, Accs: []Acc{plus("sum")},
			Body: func(b *B) { b.AccOut(0, b.FMA(b.Load("a"), b.Load("b"), b.AccIn(0))) }})
		for _, h := range []Type{F16, BF16} {
			for _, k := range []struct {
				name, doc string
				f         func(b *B, x *Value) *Value
			}{{"Accumulate", "a[i]", func(b *B, x *Value) *Value { return x }}, {"AddNumbers", "a[i] where a[i] is not NaN", number}} {
				add(Kernel{Name: k.name + h.sfx() + "ToF32", Doc: "sets dst[i] += " + k.doc + ".", Lane: F32, Rows: true,
					Args: []Arg{InOut("dst", F32), In("a", h)},
					Body: func(b *B) { b.Store("dst", b.Add(b.Load("dst"), k.f(b, b.Load("a")))) }})
			}
		}
		times := []Acc{{"product", "mul", 1}}
		add(Kernel{Name: "prodBlockF64", Doc: "returns the product of a block.", Lane: F64, Lanes: 32, Rows: true, Down: "MulRowsF64(rows, len(dst), dst, 0, dst, 0, a, lda)",
			Args: []Arg{In("a", F64)}, Accs: times,
			Body: func(b *B) { b.AccOut(0, b.Mul(b.AccIn(0), b.Load("a"))) }})
		add(Kernel{Name: "prodBlockF32As64", Doc: "returns the product of a block, in float64.", Lane: F64, Lanes: 32, Rows: true, Down: "MultiplyRowsF32ToF64(rows, len(dst), dst, 0, a, lda)",
			Args: []Arg{In("a", F32)}, Accs: times,
			Body: func(b *B) { b.AccOut(0, b.Mul(b.AccIn(0), b.Load("a"))) }})
		add(Kernel{Name: "MultiplyF32ToF64", Doc: "sets dst[i] *= a[i].", Lane: F64, Rows: true,
			Args: []Arg{InOut("dst", F64), In("a", F32)},
			Body: func(b *B) { b.Store("dst", b.Mul(b.Load("dst"), b.Load("a"))) }})
		for _, a := range []Type{F32, F64} {
			add(Kernel{Name: "AddSquares" + map[Type]string{F32: "F32ToF64", F64: "F64"}[a], Doc: "sets dst[i] += a[i]².", Lane: F64, Rows: true,
				Args: []Arg{InOut("dst", F64), In("a", a)},
				Body: func(b *B) {
					x := b.Load("a")
					b.Store("dst", b.FMA(x, x, b.Load("dst")))
				}})
		}
		add(Kernel{Name: "AccumulateF32ToF64", Doc: "sets dst[i] += a[i].", Lane: F64,
			Args: []Arg{InOut("dst", F64), In("a", F32)},
			Body: func(b *B) { b.Store("dst", b.Add(b.Load("dst"), b.Load("a"))) }})
	}
}

// softmax lists the fused kernels behind softmax and log_softmax.
func softmax() {
	plus := func(name string) Acc { return Acc{name, "add", 0} }
	add(Kernel{Name: "maxNumberBlockF32", Doc: "returns the largest number of a block, -Inf if there is none.", Lane: F32, Lanes: 64, Rows: true,
		Args: []Arg{In("a", F32)}, Accs: []Acc{{"m", "max", math.Inf(-1)}},
		Body: func(b *B) { b.AccOut(0, b.MaxX(b.Load("a"), b.AccIn(0))) }})
	add(Kernel{Name: "expSumBlockF32", Doc: "sets dst[i] = e^(a[i]-m) and returns the sum.", Lane: F32, Lanes: 32, Rows: true, PerRow: true, Next: true,
		Args: []Arg{Out("dst", F32), In("a", F32), Scalar("m", F32)}, Accs: []Acc{plus("sum")},
		Body: func(b *B) {
			e := Exp(b, b.Sub(b.Load("a"), b.Load("m")))
			b.Store("dst", e)
			b.AccOut(0, b.Add(b.AccIn(0), e))
		}})
	add(Kernel{Name: "sumExpBlockF32", Doc: "returns the sum of e^(a[i]-m).", Lane: F32, Lanes: 32, Rows: true, PerRow: true, Next: true,
		Args: []Arg{In("a", F32), Scalar("m", F32)}, Accs: []Acc{plus("sum")},
		Body: func(b *B) {
			b.AccOut(0, b.Add(b.AccIn(0), Exp(b, b.Sub(b.Load("a"), b.Load("m")))))
		}})
	add(Kernel{Name: "LogSoftmaxBackwardF32", Doc: "sets dst[i] = grad[i] - e^y[i]*sum, where y is the result of log_softmax and sum the sum of grad over the row.", Lane: F32, Rows: true, PerRow: true,
		Args: []Arg{Out("dst", F32), In("grad", F32), In("y", F32), Scalar("sum", F32)},
		Body: func(b *B) {
			b.Store("dst", b.FNMA(Exp(b, b.Load("y")), b.Load("sum"), b.Load("grad")))
		}})
	add(Kernel{Name: "logSoftmaxShiftF32", Doc: "sets dst[i] = (a[i] - m) - s.", Lane: F32, Rows: true, PerRow: true,
		Args: []Arg{Out("dst", F32), In("a", F32), Scalar("m", F32), Scalar("s", F32)},
		Body: func(b *B) { b.Store("dst", b.Sub(b.Sub(b.Load("a"), b.Load("m")), b.Load("s"))) }})
}

// attention lists the weights of attention, whose scores may be hidden by a mask of -Inf or of large negative numbers.
func attention(t Type, sfx string) {
	doc := "sets dst[i] = e^(a[i]-m), or 0 below " + map[Type]string{F32: "e^-87", F64: "e^-708"}[t]
	add(Kernel{Name: "ExpOrZero" + sfx, Doc: doc + ".", Lane: t,
		Args: []Arg{Out("dst", t), In("a", t), Scalar("m", t)},
		Body: func(b *B) { b.Store("dst", b.expOrZero(b.Sub(b.Load("a"), b.Load("m")))) }})
	add(Kernel{Name: "expOrZeroSumBlock" + sfx, Doc: doc + ", and returns the sum.", Lane: t, Lanes: 32,
		Args: []Arg{Out("dst", t), In("a", t), Scalar("m", t)}, Accs: []Acc{{"sum", "add", 0}},
		Body: func(b *B) {
			e := b.expOrZero(b.Sub(b.Load("a"), b.Load("m")))
			b.Store("dst", e)
			b.AccOut(0, b.Add(b.AccIn(0), e))
		}})
}

// norms lists the fused steps of layer and batch norm.
func norms(t Type, sfx string) {
	add(Kernel{Name: "Normalize" + sfx, Doc: "sets dst[i] = (a[i]-mean) * rstd.", Lane: t, Rows: true, PerRow: true,
		Args: []Arg{Out("dst", t), In("a", t), Scalar("mean", t), Scalar("rstd", t)},
		Body: func(b *B) {
			b.Store("dst", b.Mul(b.Sub(b.Load("a"), b.Load("mean")), b.Load("rstd")))
		}})
	add(Kernel{Name: "NormalizeAffine" + sfx, Doc: "sets dst[i] = (a[i]-mean) * rstd * w[i] + c[i].", Lane: t, Rows: true, PerRow: true,
		Args: []Arg{Out("dst", t), In("a", t), In("w", t), In("c", t), Scalar("mean", t), Scalar("rstd", t)},
		Body: func(b *B) {
			x := b.Mul(b.Sub(b.Load("a"), b.Load("mean")), b.Load("rstd"))
			b.Store("dst", b.FMA(x, b.Load("w"), b.Load("c")))
		}})
	add(Kernel{Name: "NormalizeBackward" + sfx, Doc: "sets dst[i] = rstd * (grad[i] - c1 - (x[i]-mean)*c2): a normalised row's input gradient,\nwith c1 the mean of grad and c2 the mean of grad*(x-mean) times rstd².", Lane: t, Rows: true, PerRow: true,
		Args: []Arg{Out("dst", t), In("grad", t), In("x", t), Scalar("mean", t), Scalar("rstd", t), Scalar("c1", t), Scalar("c2", t)},
		Body: func(b *B) {
			d := b.Sub(b.Load("grad"), b.Load("c1"))
			d = b.FNMA(b.Sub(b.Load("x"), b.Load("mean")), b.Load("c2"), d)
			b.Store("dst", b.Mul(d, b.Load("rstd")))
		}})
	add(Kernel{Name: "NormalizeAffineBackward" + sfx, Doc: "is NormalizeBackward with grad[i]*w[i] in place of grad[i].", Lane: t, Rows: true, PerRow: true,
		Args: []Arg{Out("dst", t), In("grad", t), In("w", t), In("x", t), Scalar("mean", t), Scalar("rstd", t), Scalar("c1", t), Scalar("c2", t)},
		Body: func(b *B) {
			d := b.Sub(b.Mul(b.Load("grad"), b.Load("w")), b.Load("c1"))
			d = b.FNMA(b.Sub(b.Load("x"), b.Load("mean")), b.Load("c2"), d)
			b.Store("dst", b.Mul(d, b.Load("rstd")))
		}})
	add(Kernel{Name: "NormalizeParamsBackward" + sfx, Doc: "adds a row's share to the gradients of the affine parameters:\ndw[i] += grad[i]*(x[i]-mean)*rstd and db[i] += grad[i].", Lane: t, Rows: true, PerRow: true,
		Args: []Arg{InOut("dw", t), InOut("db", t), In("grad", t), In("x", t), Scalar("mean", t), Scalar("rstd", t)},
		Body: func(b *B) {
			g := b.Load("grad")
			x := b.Mul(b.Sub(b.Load("x"), b.Load("mean")), b.Load("rstd"))
			b.Store("dw", b.FMA(g, x, b.Load("dw")))
			b.Store("db", b.Add(b.Load("db"), g))
		}})
	add(Kernel{Name: "AccumulateSquares" + sfx, Doc: "sets dst[i] += (a[i]-mean[i])²: one row's share in column variances.", Lane: t,
		Args: []Arg{InOut("dst", t), In("a", t), In("mean", t)},
		Body: func(b *B) {
			d := b.Sub(b.Load("a"), b.Load("mean"))
			b.Store("dst", b.FMA(d, d, b.Load("dst")))
		}})
	add(Kernel{Name: "AccumulateCentered" + sfx, Doc: "sets dst[i] += grad[i]*(x[i]-mean[i]): one row's share in the gradient of column scales.", Lane: t,
		Args: []Arg{InOut("dst", t), In("grad", t), In("x", t), In("mean", t)},
		Body: func(b *B) {
			d := b.Sub(b.Load("x"), b.Load("mean"))
			b.Store("dst", b.FMA(d, b.Load("grad"), b.Load("dst")))
		}})
	add(Kernel{Name: "CombineColumns" + sfx, Doc: "sets dst[i] = x[i]*a[i] + y[i]*b[i] + z[i]: Combine with coefficients per column.", Lane: t, Part: true,
		Args: []Arg{Out("dst", t), In("a", t), In("b", t), In("x", t), In("y", t), In("z", t)},
		Body: func(b *B) {
			b.Store("dst", b.FMA(b.Load("a"), b.Load("x"), b.FMA(b.Load("b"), b.Load("y"), b.Load("z"))))
		}})
}

// optimizers lists the steps of the optimizers on a run of parameters.
func optimizers(t Type, sfx string) {
	add(Kernel{Name: "Adam" + sfx, Doc: "is one step of Adam or AdamW on a run of parameters:\n\n\tp *= decay            (AdamW: 1 - lr*weight_decay, else 1)\n\tgrad += l2*p             (Adam's weight_decay, else 0)\n\tm += beta1c*(grad - m)   (beta1c = 1-beta1)\n\tv = beta2*v + beta2c*grad²\n\tp -= step*m / (sqrt(v)/corr + eps)\n\nwith step = lr/(1-beta1^t) and corr = sqrt(1-beta2^t). The gradient grad is only read.", Lane: t,
		Args: []Arg{InOut("p", t), InOut("m", t), InOut("v", t), In("grad", t),
			Scalar("decay", t), Scalar("l2", t), Scalar("beta1c", t), Scalar("beta2", t), Scalar("beta2c", t),
			Scalar("step", t), Scalar("corr", t), Scalar("eps", t)},
		Body: func(b *B) {
			p := b.Mul(b.Load("p"), b.Load("decay"))
			g := b.FMA(p, b.Load("l2"), b.Load("grad"))
			m := b.Load("m")
			m = b.FMA(b.Sub(g, m), b.Load("beta1c"), m)
			b.Store("m", m)
			v := b.Mul(b.Load("v"), b.Load("beta2"))
			v = b.FMA(b.Mul(g, b.Load("beta2c")), g, v)
			b.Store("v", v)
			den := b.Add(b.Div(b.Sqrt(v), b.Load("corr")), b.Load("eps"))
			b.Store("p", b.Sub(p, b.Div(b.Mul(m, b.Load("step")), den)))
		}})
	add(Kernel{Name: "SGD" + sfx, Doc: "is one step of plain gradient descent: p -= lr*(grad + l2*p).", Lane: t,
		Args: []Arg{InOut("p", t), In("grad", t), Scalar("lr", t), Scalar("l2", t)},
		Body: func(b *B) {
			p := b.Load("p")
			b.Store("p", b.FNMA(b.FMA(p, b.Load("l2"), b.Load("grad")), b.Load("lr"), p))
		}})
	add(Kernel{Name: "SGDMomentum" + sfx, Doc: "is one step with momentum: d = grad + l2*p, buf = momentum*buf + damp*d, p -= lr*buf,\nwhere damp is 1 - dampening.", Lane: t,
		Args: []Arg{InOut("p", t), InOut("buf", t), In("grad", t), Scalar("lr", t), Scalar("l2", t), Scalar("momentum", t), Scalar("damp", t)},
		Body: func(b *B) {
			p := b.Load("p")
			d := b.FMA(p, b.Load("l2"), b.Load("grad"))
			u := b.FMA(d, b.Load("damp"), b.Mul(b.Load("buf"), b.Load("momentum")))
			b.Store("buf", u)
			b.Store("p", b.FNMA(u, b.Load("lr"), p))
		}})
	add(Kernel{Name: "SGDNesterov" + sfx, Doc: "is SGDMomentum with Nesterov's look-ahead: p -= lr*(d + momentum*buf).", Lane: t,
		Args: []Arg{InOut("p", t), InOut("buf", t), In("grad", t), Scalar("lr", t), Scalar("l2", t), Scalar("momentum", t), Scalar("damp", t)},
		Body: func(b *B) {
			p := b.Load("p")
			d := b.FMA(p, b.Load("l2"), b.Load("grad"))
			u := b.FMA(d, b.Load("damp"), b.Mul(b.Load("buf"), b.Load("momentum")))
			b.Store("buf", u)
			b.Store("p", b.FNMA(b.FMA(u, b.Load("momentum"), d), b.Load("lr"), p))
		}})
	add(Kernel{Name: "AdamAMSGrad" + sfx, Doc: "is Adam with vmax = max(vmax, v) in place of v in the denominator.", Lane: t,
		Args: []Arg{InOut("p", t), InOut("m", t), InOut("v", t), InOut("vmax", t), In("grad", t),
			Scalar("decay", t), Scalar("l2", t), Scalar("beta1c", t), Scalar("beta2", t), Scalar("beta2c", t),
			Scalar("step", t), Scalar("corr", t), Scalar("eps", t)},
		Body: func(b *B) {
			p := b.Mul(b.Load("p"), b.Load("decay"))
			g := b.FMA(p, b.Load("l2"), b.Load("grad"))
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

func nonzero(b *B, x *Value) *Value { return b.Cmp(NEQ, x, b.C(0)) }

func conversions() {
	conv := func(name, doc string, lane, from, to Type, f func(b *B, x *Value) *Value, noAVX2 bool) {
		add(Kernel{Name: name, Doc: doc, Lane: lane, NoAVX2: noAVX2,
			Args: []Arg{Out("dst", to), In("a", from)},
			Body: func(b *B) { b.Store("dst", f(b, b.Load("a"))) }})
	}
	same := func(b *B, x *Value) *Value { return x }
	conv("F16ToF32s", "widens half-precision values.", F32, F16, F32, same, false)
	conv("F32ToF16s", "rounds to half precision, ties to even; NaN stays NaN, overflow gives Inf.", F32, F32, F16, same, false)
	conv("BF16ToF32s", "widens bfloat16 values.", F32, BF16, F32, same, false)
	conv("F32ToBF16s", "rounds to bfloat16, ties to even; every NaN becomes 0x7fc0.", F32, F32, BF16, same, false)
	conv("F64ToF32s", "rounds float64 to float32.", F64, F64, F32, same, false)
	conv("F32ToF64s", "widens float32 to float64.", F64, F32, F64, same, false)
	conv("U8ToF32s", "converts bytes.", F32, U8, F32, (*B).I2F, false)
	conv("I8ToF32s", "converts signed bytes.", F32, I8, F32, (*B).I2F, false)
	conv("I32ToF32s", "converts int32, rounding to even.", F32, I32, F32, (*B).I2F, false)
	conv("F32ToI32s", "converts towards zero; NaN and what does not fit give the smallest int32.", F32, F32, I32, (*B).F2I, false)
	conv("F32ToU8s", "converts towards zero to int32 and keeps the low byte.", F32, F32, U8, (*B).F2I, false)
	conv("F32ToI8s", "converts towards zero to int32 and keeps the low byte.", F32, F32, I8, (*B).F2I, false)
	conv("F32ToI16s", "converts towards zero to int32 and keeps the low half.", F32, F32, I16, (*B).F2I, false)
	conv("I16ToF32s", "converts int16.", F32, I16, F32, (*B).I2F, false)
	conv("F16ToBools", "sets dst[i] = 1 where a[i] is not 0, else 0.", F32, F16, U8, nonzero, false)
	conv("BF16ToBools", "sets dst[i] = 1 where a[i] is not 0, else 0.", F32, BF16, U8, nonzero, false)
	ints := []Type{U8, I8, I16, I32, I64}
	title := map[Type]string{U8: "U8", I8: "I8", I16: "I16", I32: "I32", I64: "I64"}
	for i, from := range ints {
		for j, to := range ints {
			lane := F32
			if from == I64 || to == I64 {
				lane = F64
			}
			switch {
			case from.Size() < to.Size():
				conv(title[from]+"To"+title[to]+"s", "widens integers.", lane, from, to, same, false)
			case i > j && from.Size() > to.Size() && to != I8:
				conv(title[from]+"To"+title[to]+"s", "keeps the low bits of integers.", lane, from, to, same, false)
			}
		}
		if from != I64 {
			conv(title[from]+"ToF64s", "converts integers.", F64, from, F64, (*B).L2F, false)
		}
	}
	conv("I64ToF32s", "converts integers, rounding to even once.", F64, I64, F32, (*B).Q2S, false)
	conv("I64ToF64s", "converts integers, rounding to even.", F64, I64, F64, (*B).Q2F, false)
	conv("F32ToI64s", "converts towards zero; NaN and what does not fit give the smallest int64.", F64, F32, I64, (*B).F2I, true)
	conv("F64ToI64s", "converts towards zero; NaN and what does not fit give the smallest int64.", F64, F64, I64, (*B).F2I, true)
	// What does not fit int32, NaN among it, becomes the smallest one: the number that the instruction for float32 gives.
	toInt := func(b *B, x *Value) *Value {
		t := b.Round(x, 3)
		return b.F2L(b.Sel(b.MAnd(b.Cmp(GE, t, b.C(-0x1p31)), b.Cmp(LT, t, b.C(0x1p31))), t, b.C(-0x1p31)))
	}
	conv("F64ToI32s", "converts towards zero; NaN and what does not fit give the smallest int32.", F64, F64, I32, toInt, false)
	conv("F64ToI16s", "converts towards zero to int32 and keeps the low half.", F64, F64, I16, toInt, false)
	conv("F64ToI8s", "converts towards zero to int32 and keeps the low byte.", F64, F64, I8, toInt, false)
	conv("F64ToU8s", "converts towards zero to int64, whose smallest stands for what does not fit, and keeps the low byte.", F64, F64, U8, func(b *B, x *Value) *Value {
		t := b.Round(x, 3)
		low := b.FNMA(b.Round(b.Mul(t, b.C(0x1p-8)), 1), b.C(0x1p8), t) // exact
		return b.F2L(b.Sel(b.Cmp(LT, b.Abs(t), b.C(0x1p62)), low, b.C(0)))
	}, false)
	conv("U32ToU64s", "puts a zero behind every element.", F64, U32, I64, same, false)
}

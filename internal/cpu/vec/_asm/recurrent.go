package main

import "github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"

// This file lists the fused steps of recurrent layers, and of softmax along a
// dimension whose elements are not adjacent: a run of columns is then worked on
// row by row, with one maximum and one sum per column.

func init() {
	columns()
	lstm()
	gru()
}

func columns() {
	add(kernel.Kernel{Name: "ExpScaleF32", Doc: "sets dst[i] = e^(a[i]-m)*s + c.", Lane: kernel.F32,
		Args: []kernel.Arg{kernel.Out("dst", kernel.F32), kernel.In("a", kernel.F32), kernel.Scalar("m", kernel.F32),
			kernel.Scalar("s", kernel.F32), kernel.Scalar("c", kernel.F32)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.FMA(Exp(b, b.Sub(b.Load("a"), b.Load("m"))), b.Load("s"), b.Load("c")))
		}})
	add(kernel.Kernel{Name: "ExpSumColumnsF32", Doc: "sets dst[i] = e^(a[i]-m[i]) and adds it to sum[i].",
		Lane: kernel.F32,
		Args: []kernel.Arg{kernel.Out("dst", kernel.F32), kernel.InOut("sum", kernel.F32), kernel.In("a", kernel.F32),
			kernel.In("m", kernel.F32)},
		Body: func(b *kernel.Builder) {
			e := Exp(b, b.Sub(b.Load("a"), b.Load("m")))
			b.Store("dst", e)
			b.Store("sum", b.Add(b.Load("sum"), e))
		}})
	add(kernel.Kernel{Name: "SumExpColumnsF32", Doc: "adds e^(a[i]-m[i]) to sum[i].", Lane: kernel.F32,
		Args: []kernel.Arg{kernel.InOut("sum", kernel.F32), kernel.In("a", kernel.F32), kernel.In("m", kernel.F32)},
		Body: func(b *kernel.Builder) {
			b.Store("sum", b.Add(b.Load("sum"), Exp(b, b.Sub(b.Load("a"), b.Load("m")))))
		}})
	for _, t := range []kernel.Type{kernel.F32, kernel.F64} {
		sfx := map[kernel.Type]string{kernel.F32: "F32", kernel.F64: "F64"}[t]
		add(kernel.Kernel{Name: "LogSoftmaxColumns" + sfx, Doc: "sets dst[i] = (a[i] - m[i]) - s[i].", Lane: t,
			Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t), kernel.In("m", t), kernel.In("s", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", b.Sub(b.Sub(b.Load("a"), b.Load("m")), b.Load("s"))) }})
		add(kernel.Kernel{Name: "SoftmaxBackwardColumns" + sfx, Doc: "sets dst[i] = y[i] * (grad[i] - dot[i]).",
			Lane: t,
			Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("grad", t), kernel.In("y", t), kernel.In("dot", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", b.Mul(b.Load("y"), b.Sub(b.Load("grad"), b.Load("dot")))) }})
	}
	add(kernel.Kernel{Name: "LogSoftmaxBackwardColumnsF32", Doc: "sets dst[i] = grad[i] - e^y[i]*sum[i].",
		Lane: kernel.F32,
		Args: []kernel.Arg{kernel.Out("dst", kernel.F32), kernel.In("grad", kernel.F32), kernel.In("y", kernel.F32),
			kernel.In("sum", kernel.F32)},
		Body: func(b *kernel.Builder) {
			b.Store("dst", b.FNMA(Exp(b, b.Load("y")), b.Load("sum"), b.Load("grad")))
		}})
}

func lstm() {
	add(kernel.Kernel{Name: "LSTMCellF32",
		Doc: "is one step of an LSTM. The gates come as sums and leave activated:\ninput, forget and output gate " +
			"(ig, fg, og) by sigmoid, the cell's (cg) by tanh.\nThen c[i] = fg[i]*prev[i] + ig[i]*cg[i] and h[i] = " +
			"og[i]*tanh(c[i]).", Lane: kernel.F32, Rows: true,
		Args: []kernel.Arg{kernel.Out("h", kernel.F32), kernel.Out("c", kernel.F32), kernel.InOut("ig", kernel.F32),
			kernel.InOut("fg", kernel.F32), kernel.InOut("cg", kernel.F32), kernel.InOut("og", kernel.F32),
			kernel.In("prev", kernel.F32)},
		Body: func(b *kernel.Builder) {
			i := sigmoid(b, b.Load("ig"))
			b.Store("ig", i)
			g := Tanh(b, b.Load("cg"))
			b.Store("cg", g)
			ig := b.Mul(i, g)
			f := sigmoid(b, b.Load("fg"))
			b.Store("fg", f)
			c := b.FMA(f, b.Load("prev"), ig)
			b.Store("c", c)
			t := Tanh(b, c)
			o := sigmoid(b, b.Load("og"))
			b.Store("og", o)
			b.Store("h", b.Mul(o, t))
		}})
	add(kernel.Kernel{Name: "LSTMOutputBackwardF32",
		Doc: "is the first part of an LSTM step's gradient. With dh the gradient of h:\ndc[i] += " +
			"dh[i]*og[i]*(1-tanh(c[i])²), and do[i], the gradient of the output gate's sum.", Lane: kernel.F32,
		Rows: true,
		Args: []kernel.Arg{kernel.InOut("dc", kernel.F32), kernel.Out("do", kernel.F32), kernel.In("dh", kernel.F32),
			kernel.In("og", kernel.F32), kernel.In("c", kernel.F32)},
		Body: func(b *kernel.Builder) {
			t, o, dh := Tanh(b, b.Load("c")), b.Load("og"), b.Load("dh")
			d := b.Mul(dh, o)
			b.Store("do", b.Mul(b.Mul(d, t), b.Sub(b.C(1), o)))
			b.Store("dc", b.FMA(d, b.FNMA(t, t, b.C(1)), b.Load("dc")))
		}})
	add(kernel.Kernel{Name: "LSTMGatesBackwardF32",
		Doc: "is the second part of an LSTM step's gradient: from dc, that of c,\nthose of the other gates' sums; dc " +
			"becomes the gradient of prev.", Lane: kernel.F32, Rows: true,
		Args: []kernel.Arg{kernel.InOut("dc", kernel.F32), kernel.Out("di", kernel.F32), kernel.Out("df", kernel.F32),
			kernel.Out("dg", kernel.F32), kernel.In("ig", kernel.F32), kernel.In("fg", kernel.F32),
			kernel.In("cg", kernel.F32), kernel.In("prev", kernel.F32)},
		Body: func(b *kernel.Builder) {
			dc, i, f, g := b.Load("dc"), b.Load("ig"), b.Load("fg"), b.Load("cg")
			one := b.C(1)
			di := b.Mul(dc, i)
			b.Store("di", b.Mul(b.Mul(di, g), b.Sub(one, i)))
			b.Store("dg", b.Mul(di, b.FNMA(g, g, one)))
			df := b.Mul(dc, f)
			b.Store("df", b.Mul(b.Mul(df, b.Load("prev")), b.Sub(one, f)))
			b.Store("dc", df)
		}})
}

func gru() {
	add(kernel.Kernel{Name: "GRUCellF32",
		Doc: "is one step of a GRU. rg and z come as the gates' sums, nw as the input's part of the new state's and " +
			"hn as the state's part of it;\nrg = sigmoid(rg), z = sigmoid(z), nw = tanh(nw + rg*hn) and h = (prev-nw)*z " +
			"+ nw.", Lane: kernel.F32, Rows: true,
		Args: []kernel.Arg{kernel.Out("h", kernel.F32), kernel.InOut("rg", kernel.F32), kernel.InOut("z", kernel.F32),
			kernel.InOut("nw", kernel.F32), kernel.In("hn", kernel.F32), kernel.In("prev", kernel.F32)},
		Body: func(b *kernel.Builder) {
			r := sigmoid(b, b.Load("rg"))
			b.Store("rg", r)
			n := Tanh(b, b.FMA(r, b.Load("hn"), b.Load("nw")))
			b.Store("nw", n)
			z := sigmoid(b, b.Load("z"))
			b.Store("z", z)
			b.Store("h", b.FMA(b.Sub(b.Load("prev"), n), z, n))
		}})
	add(kernel.Kernel{Name: "GRUOutputBackwardF32",
		Doc: "is the first part of a GRU step's gradient: from dh, that of h, those of\nthe sums of z and nw; dh " +
			"becomes the part of prev's gradient that comes directly.", Lane: kernel.F32, Rows: true,
		Args: []kernel.Arg{kernel.InOut("dh", kernel.F32), kernel.Out("dz", kernel.F32), kernel.Out("dn", kernel.F32),
			kernel.In("z", kernel.F32), kernel.In("nw", kernel.F32), kernel.In("prev", kernel.F32)},
		Body: func(b *kernel.Builder) {
			dh, z, n, one := b.Load("dh"), b.Load("z"), b.Load("nw"), b.C(1)
			hz := b.Mul(dh, z)
			q := b.Sub(one, z)
			b.Store("dz", b.Mul(b.Mul(hz, b.Sub(b.Load("prev"), n)), q))
			b.Store("dn", b.Mul(b.Mul(dh, q), b.FNMA(n, n, one)))
			b.Store("dh", hz)
		}})
	add(kernel.Kernel{Name: "GRUResetBackwardF32",
		Doc:  "is the second part of a GRU step's gradient: from dn those of hn and of\nthe sum of rg.",
		Lane: kernel.F32, Rows: true,
		Args: []kernel.Arg{kernel.Out("dr", kernel.F32), kernel.Out("dhn", kernel.F32), kernel.In("dn", kernel.F32),
			kernel.In("rg", kernel.F32), kernel.In("hn", kernel.F32)},
		Body: func(b *kernel.Builder) {
			dn, r := b.Load("dn"), b.Load("rg")
			d := b.Mul(dn, r)
			b.Store("dhn", d)
			b.Store("dr", b.Mul(b.Mul(d, b.Load("hn")), b.Sub(b.C(1), r)))
		}})
}

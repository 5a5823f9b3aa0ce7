package main

// This file lists the fused steps of recurrent layers, and of softmax along a
// dimension whose elements are not adjacent: a run of columns is then worked on
// row by row, with one maximum and one sum per column.

func init() {
	columns()
	lstm()
	gru()
}

func columns() {
	add(Kernel{Name: "ExpScaleF32", Doc: "sets dst[i] = e^(a[i]-m)*s + c.", Lane: F32,
		Args: []Arg{Out("dst", F32), In("a", F32), Scalar("m", F32), Scalar("s", F32), Scalar("c", F32)},
		Body: func(b *B) {
			b.Store("dst", b.FMA(Exp(b, b.Sub(b.Load("a"), b.Load("m"))), b.Load("s"), b.Load("c")))
		}})
	add(Kernel{Name: "ExpSumColumnsF32", Doc: "sets dst[i] = e^(a[i]-m[i]) and adds it to sum[i].", Lane: F32,
		Args: []Arg{Out("dst", F32), InOut("sum", F32), In("a", F32), In("m", F32)},
		Body: func(b *B) {
			e := Exp(b, b.Sub(b.Load("a"), b.Load("m")))
			b.Store("dst", e)
			b.Store("sum", b.Add(b.Load("sum"), e))
		}})
	add(Kernel{Name: "SumExpColumnsF32", Doc: "adds e^(a[i]-m[i]) to sum[i].", Lane: F32,
		Args: []Arg{InOut("sum", F32), In("a", F32), In("m", F32)},
		Body: func(b *B) {
			b.Store("sum", b.Add(b.Load("sum"), Exp(b, b.Sub(b.Load("a"), b.Load("m")))))
		}})
	for _, t := range []Type{F32, F64} {
		sfx := map[Type]string{F32: "F32", F64: "F64"}[t]
		add(Kernel{Name: "LogSoftmaxColumns" + sfx, Doc: "sets dst[i] = (a[i] - m[i]) - s[i].", Lane: t,
			Args: []Arg{Out("dst", t), In("a", t), In("m", t), In("s", t)},
			Body: func(b *B) { b.Store("dst", b.Sub(b.Sub(b.Load("a"), b.Load("m")), b.Load("s"))) }})
		add(Kernel{Name: "SoftmaxBackwardColumns" + sfx, Doc: "sets dst[i] = y[i] * (grad[i] - dot[i]).", Lane: t,
			Args: []Arg{Out("dst", t), In("grad", t), In("y", t), In("dot", t)},
			Body: func(b *B) { b.Store("dst", b.Mul(b.Load("y"), b.Sub(b.Load("grad"), b.Load("dot")))) }})
	}
	add(Kernel{Name: "LogSoftmaxBackwardColumnsF32", Doc: "sets dst[i] = grad[i] - e^y[i]*sum[i].", Lane: F32,
		Args: []Arg{Out("dst", F32), In("grad", F32), In("y", F32), In("sum", F32)},
		Body: func(b *B) {
			b.Store("dst", b.FNMA(Exp(b, b.Load("y")), b.Load("sum"), b.Load("grad")))
		}})
}

func lstm() {
	add(Kernel{Name: "LSTMCellF32", Doc: "is one step of an LSTM. The gates come as sums and leave activated:\ninput, forget and output gate (ig, fg, og) by sigmoid, the cell's (cg) by tanh.\nThen c[i] = fg[i]*prev[i] + ig[i]*cg[i] and h[i] = og[i]*tanh(c[i]).", Lane: F32, Rows: true,
		Args: []Arg{Out("h", F32), Out("c", F32), InOut("ig", F32), InOut("fg", F32), InOut("cg", F32), InOut("og", F32), In("prev", F32)},
		Body: func(b *B) {
			i := b.sigmoid(b.Load("ig"))
			b.Store("ig", i)
			g := Tanh(b, b.Load("cg"))
			b.Store("cg", g)
			ig := b.Mul(i, g)
			f := b.sigmoid(b.Load("fg"))
			b.Store("fg", f)
			c := b.FMA(f, b.Load("prev"), ig)
			b.Store("c", c)
			t := Tanh(b, c)
			o := b.sigmoid(b.Load("og"))
			b.Store("og", o)
			b.Store("h", b.Mul(o, t))
		}})
	add(Kernel{Name: "LSTMOutputBackwardF32", Doc: "is the first part of an LSTM step's gradient. With dh the gradient of h:\ndc[i] += dh[i]*og[i]*(1-tanh(c[i])²), and do[i], the gradient of the output gate's sum.", Lane: F32, Rows: true,
		Args: []Arg{InOut("dc", F32), Out("do", F32), In("dh", F32), In("og", F32), In("c", F32)},
		Body: func(b *B) {
			t, o, dh := Tanh(b, b.Load("c")), b.Load("og"), b.Load("dh")
			d := b.Mul(dh, o)
			b.Store("do", b.Mul(b.Mul(d, t), b.Sub(b.C(1), o)))
			b.Store("dc", b.FMA(d, b.FNMA(t, t, b.C(1)), b.Load("dc")))
		}})
	add(Kernel{Name: "LSTMGatesBackwardF32", Doc: "is the second part of an LSTM step's gradient: from dc, that of c,\nthose of the other gates' sums; dc becomes the gradient of prev.", Lane: F32, Rows: true,
		Args: []Arg{InOut("dc", F32), Out("di", F32), Out("df", F32), Out("dg", F32), In("ig", F32), In("fg", F32), In("cg", F32), In("prev", F32)},
		Body: func(b *B) {
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
	add(Kernel{Name: "GRUCellF32", Doc: "is one step of a GRU. rg and z come as the gates' sums, nw as the input's part of the new state's and hn as the state's part of it;\nrg = sigmoid(rg), z = sigmoid(z), nw = tanh(nw + rg*hn) and h = (prev-nw)*z + nw.", Lane: F32, Rows: true,
		Args: []Arg{Out("h", F32), InOut("rg", F32), InOut("z", F32), InOut("nw", F32), In("hn", F32), In("prev", F32)},
		Body: func(b *B) {
			r := b.sigmoid(b.Load("rg"))
			b.Store("rg", r)
			n := Tanh(b, b.FMA(r, b.Load("hn"), b.Load("nw")))
			b.Store("nw", n)
			z := b.sigmoid(b.Load("z"))
			b.Store("z", z)
			b.Store("h", b.FMA(b.Sub(b.Load("prev"), n), z, n))
		}})
	add(Kernel{Name: "GRUOutputBackwardF32", Doc: "is the first part of a GRU step's gradient: from dh, that of h, those of\nthe sums of z and nw; dh becomes the part of prev's gradient that comes directly.", Lane: F32, Rows: true,
		Args: []Arg{InOut("dh", F32), Out("dz", F32), Out("dn", F32), In("z", F32), In("nw", F32), In("prev", F32)},
		Body: func(b *B) {
			dh, z, n, one := b.Load("dh"), b.Load("z"), b.Load("nw"), b.C(1)
			hz := b.Mul(dh, z)
			q := b.Sub(one, z)
			b.Store("dz", b.Mul(b.Mul(hz, b.Sub(b.Load("prev"), n)), q))
			b.Store("dn", b.Mul(b.Mul(dh, q), b.FNMA(n, n, one)))
			b.Store("dh", hz)
		}})
	add(Kernel{Name: "GRUResetBackwardF32", Doc: "is the second part of a GRU step's gradient: from dn those of hn and of\nthe sum of rg.", Lane: F32, Rows: true,
		Args: []Arg{Out("dr", F32), Out("dhn", F32), In("dn", F32), In("rg", F32), In("hn", F32)},
		Body: func(b *B) {
			dn, r := b.Load("dn"), b.Load("rg")
			d := b.Mul(dn, r)
			b.Store("dhn", d)
			b.Store("dr", b.Mul(b.Mul(d, b.Load("hn")), b.Sub(b.C(1), r)))
		}})
}

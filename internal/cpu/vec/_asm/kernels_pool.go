package main

// This file lists the kernels of poolings. They work on a window's taps one after the other: for each tap a row of pixels, each a run of
// channels, meets the row of results.

func pooling() {
	for _, t := range []Type{F32, F64} {
		sfx := map[Type]string{F32: "F32", F64: "F64"}[t]
		add(Kernel{Name: "MaxTap" + sfx, Doc: "sets dst[i] = a[i] where a[i] is larger or NaN: one tap of a maximum, the last NaN wins.", Lane: t, Rows: true,
			Args: []Arg{InOut("dst", t), In("a", t)},
			Body: func(b *B) {
				x, d := b.Load("a"), b.Load("dst")
				m := b.MOr(b.Cmp(GT, x, d), b.Cmp(UNORD, x, x))
				b.Store("dst", b.Sel(m, x, d))
			}})
		add(Kernel{Name: "MaxTapAt" + sfx, Doc: "is MaxTap" + sfx + " which also sets at[i] = tap there.", Lane: t, Rows: true,
			Args: []Arg{InOut("dst", t), InOut("at", t), In("a", t), Scalar("tap", t)},
			Body: func(b *B) {
				x, d := b.Load("a"), b.Load("dst")
				m := b.MOr(b.Cmp(GT, x, d), b.Cmp(UNORD, x, x))
				b.Store("dst", b.Sel(m, x, d))
				b.Store("at", b.Sel(m, b.Load("tap"), b.Load("at")))
			}})
		add(Kernel{Name: "AddTap" + sfx, Doc: "sets dst[i] += a[i].", Lane: t, Rows: true,
			Args: []Arg{InOut("dst", t), In("a", t)},
			Body: func(b *B) { b.Store("dst", b.Add(b.Load("dst"), b.Load("a"))) }})
	}
	add(Kernel{Name: "MaxTapGradF32", Doc: "sets dst[i] += grad[i] where at[i] is tap: the gradient of MaxTapAtF32.", Lane: F32, Rows: true,
		Args: []Arg{InOut("dst", F32), In("grad", F32), In("at", U8), Scalar("tap", F32)},
		Body: func(b *B) {
			m := b.Cmp(EQ, b.I2F(b.Load("at")), b.Load("tap"))
			b.Store("dst", b.Add(b.Load("dst"), b.Sel(m, b.Load("grad"), b.C(0))))
		}})
}

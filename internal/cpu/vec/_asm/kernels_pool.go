package main

// This file lists the kernels of poolings. They work on a window's taps one after the other: for each tap a row of pixels, each a run of
// channels, meets the row of results. Inputs of 16-bit floats meet results of float32.

func pooling() {
	for _, t := range []Type{F32, F64, F16, BF16} {
		sfx, lane := t.sfx(), t
		if t.Size() == 2 {
			lane = F32
		}
		add(Kernel{Name: "MaxTap" + sfx, Doc: "sets dst[i] = a[i] where a[i] is larger or NaN: one tap of a maximum, the last NaN wins.", Lane: lane, Rows: true,
			Args: []Arg{InOut("dst", lane), In("a", t)},
			Body: func(b *B) {
				x, d := b.Load("a"), b.Load("dst")
				m := b.MOr(b.Cmp(GT, x, d), b.Cmp(UNORD, x, x))
				b.Store("dst", b.Sel(m, x, d))
			}})
		add(Kernel{Name: "MaxTapAt" + sfx, Doc: "is MaxTap" + sfx + " which also sets at[i] = tap there.", Lane: lane, Rows: true,
			Args: []Arg{InOut("dst", lane), InOut("at", lane), In("a", t), Scalar("tap", lane)},
			Body: func(b *B) {
				x, d := b.Load("a"), b.Load("dst")
				m := b.MOr(b.Cmp(GT, x, d), b.Cmp(UNORD, x, x))
				b.Store("dst", b.Sel(m, x, d))
				b.Store("at", b.Sel(m, b.Load("tap"), b.Load("at")))
			}})
		add(Kernel{Name: "AddTap" + sfx, Doc: "sets dst[i] += a[i].", Lane: lane, Rows: true,
			Args: []Arg{InOut("dst", lane), In("a", t)},
			Body: func(b *B) { b.Store("dst", b.Add(b.Load("dst"), b.Load("a"))) }})
		add(Kernel{Name: "MaxTapGrad" + sfx, Doc: "sets dst[i] += grad[i] where at[i] is tap: the gradient of MaxTapAt" + sfx + ".", Lane: lane, Rows: true,
			Args: []Arg{InOut("dst", lane), In("grad", t), In("at", U8), Scalar("tap", lane)},
			Body: func(b *B) {
				at := b.Load("at")
				if lane == F64 { // a byte becomes a number as the low bits of 2^52
					at = b.Sub(b.Float(b.IAdd(at, b.CI(0x4330000000000000))), b.C(1<<52))
				} else {
					at = b.I2F(at)
				}
				m := b.Cmp(EQ, at, b.Load("tap"))
				b.Store("dst", b.Add(b.Load("dst"), b.Sel(m, b.Load("grad"), b.C(0))))
			}})
	}
}

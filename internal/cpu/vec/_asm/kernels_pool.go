package main

import "github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"

// This file lists the kernels of poolings. They work on a window's taps one after the other: for each tap a row of
// pixels, each a run of channels, meets the row of results. Inputs of 16-bit floats meet results of float32.

func pooling() {
	for _, t := range []kernel.Type{kernel.F32, kernel.F64, kernel.F16, kernel.BF16} {
		sfx, lane := t.Suffix(), t
		if t.Size() == 2 {
			lane = kernel.F32
		}
		add(kernel.Kernel{Name: "MaxTap" + sfx,
			Doc: "sets dst[i] = a[i] where a[i] is larger or NaN: one tap of a maximum, the last NaN wins.", Lane: lane,
			Rows: true,
			Args: []kernel.Arg{kernel.InOut("dst", lane), kernel.In("a", t)},
			Body: func(b *kernel.Builder) {
				x, d := b.Load("a"), b.Load("dst")
				m := b.MOr(b.Cmp(kernel.GT, x, d), b.Cmp(kernel.UNORD, x, x))
				b.Store("dst", b.Sel(m, x, d))
			}})
		add(kernel.Kernel{Name: "MaxTapAt" + sfx, Doc: "is MaxTap" + sfx + " which also sets at[i] = tap there.",
			Lane: lane, Rows: true,
			Args: []kernel.Arg{kernel.InOut("dst", lane), kernel.InOut("at", lane), kernel.In("a", t),
				kernel.Scalar("tap", lane)},
			Body: func(b *kernel.Builder) {
				x, d := b.Load("a"), b.Load("dst")
				m := b.MOr(b.Cmp(kernel.GT, x, d), b.Cmp(kernel.UNORD, x, x))
				b.Store("dst", b.Sel(m, x, d))
				b.Store("at", b.Sel(m, b.Load("tap"), b.Load("at")))
			}})
		add(kernel.Kernel{Name: "AddTap" + sfx, Doc: "sets dst[i] += a[i].", Lane: lane, Rows: true,
			Args: []kernel.Arg{kernel.InOut("dst", lane), kernel.In("a", t)},
			Body: func(b *kernel.Builder) { b.Store("dst", b.Add(b.Load("dst"), b.Load("a"))) }})
		add(kernel.Kernel{Name: "MaxTapGrad" + sfx,
			Doc: "sets dst[i] += grad[i] where at[i] is tap: the gradient of MaxTapAt" + sfx + ".", Lane: lane,
			Rows: true,
			Args: []kernel.Arg{kernel.InOut("dst", lane), kernel.In("grad", t), kernel.In("at", kernel.U8),
				kernel.Scalar("tap", lane)},
			Body: func(b *kernel.Builder) {
				at := b.Load("at")
				if lane == kernel.F64 { // a byte becomes a number as the low bits of 2^52
					at = b.Sub(b.Float(b.IAdd(at, b.CI(0x4330000000000000))), b.C(1<<52))
				} else {
					at = b.I2F(at)
				}
				m := b.Cmp(kernel.EQ, at, b.Load("tap"))
				b.Store("dst", b.Add(b.Load("dst"), b.Sel(m, b.Load("grad"), b.C(0))))
			}})
	}
}

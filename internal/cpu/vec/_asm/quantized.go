package main

import "github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"

// quantized lists the kernels that make bytes of numbers and numbers of bytes: an integer q stands for
// (q - zero)*scale. Scalars are described at Rounding in package quant.
func quantized() {
	const f32 = kernel.F32
	scalars := func(names ...string) (list []kernel.Arg) {
		for _, n := range names {
			list = append(list, kernel.Scalar(n, f32))
		}
		return list
	}
	// within is y + zero for a quotient by the scale, rounded to even and limited; NaN becomes lo.
	within := func(b *kernel.Builder, y *kernel.Value) *kernel.Value {
		return b.MinX(b.MaxX(b.Add(b.Round(y, 0), b.Load("zero")), b.Load("lo")), b.Load("hi"))
	}
	// limited is the integer of within, but what int32 does not hold, NaN among it, becomes under or over.
	limited := func(b *kernel.Builder, y *kernel.Value) *kernel.Value {
		q := within(b, y)
		q = b.Sel(b.Cmp(kernel.LT, y, b.C(2147483520)), q, b.Load("over"))
		return b.F2I(b.Sel(b.Cmp(kernel.LT, y, b.C(-0x1p31)), b.Load("under"), q))
	}
	round := func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return limited(b, b.Mul(x, b.Load("inv"))) }
	rounding := scalars("inv", "zero", "lo", "hi", "under", "over")
	number := func(b *kernel.Builder, name string) *kernel.Value {
		return b.Mul(b.Load("s"+name), b.Sub(b.I2F(b.Load(name)), b.Load("z"+name)))
	}
	for _, t := range []struct {
		name string
		t    kernel.Type
	}{{"U8", kernel.U8}, {"I8", kernel.I8}} {
		dst, a, c := kernel.Out("dst", t.t), kernel.In("a", t.t), kernel.In("b", t.t)
		args := func(in []kernel.Arg, more ...[]kernel.Arg) []kernel.Arg {
			list := append([]kernel.Arg{}, in...)
			for _, m := range more {
				list = append(list, m...)
			}
			return list
		}
		const limits = " and rounds to even within lo..hi."
		add(kernel.Kernel{Name: "Quantize" + t.name, Doc: "sets dst[i] = a[i]*inv + zero" + limits, Lane: f32,
			Args: args([]kernel.Arg{dst, kernel.In("a", f32)}, rounding),
			Body: func(b *kernel.Builder) { b.Store("dst", round(b, b.Load("a"))) }})
		add(kernel.Kernel{Name: "QuantizeDiv" + t.name, Lane: f32,
			Doc:  "sets dst[i] = a[i]/scale + zero and rounds to even within lo..hi; NaN becomes lo.",
			Args: args([]kernel.Arg{dst, kernel.In("a", f32)}, scalars("scale", "zero", "lo", "hi")),
			Body: func(b *kernel.Builder) {
				b.Store("dst", b.F2I(within(b, b.Div(b.Load("a"), b.Load("scale")))))
			}})
		add(kernel.Kernel{Name: "Dequantize" + t.name, Doc: "sets dst[i] = (a[i] - za)*sa.", Lane: f32,
			Args: args([]kernel.Arg{kernel.Out("dst", f32), a}, scalars("za", "sa")),
			Body: func(b *kernel.Builder) { b.Store("dst", number(b, "a")) }})
		add(kernel.Kernel{Name: "Requantize" + t.name, Doc: "quantizes (a[i] - za)*sa" + limits, Lane: f32,
			Args: args([]kernel.Arg{dst, a}, scalars("za", "sa"), rounding),
			Body: func(b *kernel.Builder) { b.Store("dst", round(b, number(b, "a"))) }})
		for _, o := range []struct {
			name, sign string
			f          func(b *kernel.Builder, x, y *kernel.Value) *kernel.Value
		}{{"Add", "+", (*kernel.Builder).Add}, {"Mul", "*", (*kernel.Builder).Mul}} {
			add(kernel.Kernel{Name: o.name + "Quantized" + t.name, Lane: f32,
				Doc:  "quantizes (a[i] - za)*sa " + o.sign + " (b[i] - zb)*sb" + limits,
				Args: args([]kernel.Arg{dst, a, c}, scalars("za", "sa", "zb", "sb"), rounding),
				Body: func(b *kernel.Builder) { b.Store("dst", round(b, o.f(b, number(b, "a"), number(b, "b")))) }})
		}
	}
}

package main

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file holds Bessel functions of the second kind and of real arguments, and what belongs to the error function.
// They have but one form, on memory of float64, to which other types are widened: the functions are rare, and the
// coefficients many.

// rarities lists the kernels.
func rarities() {
	define := func(name, doc string, args []string, f func(b *kernel.Builder, x []*kernel.Value) *kernel.Value) {
		k := kernel.Kernel{Name: name + "F64", Doc: "sets dst[i] = " + doc + ".", Lane: kernel.F64,
			Args: []kernel.Arg{kernel.Out("dst", kernel.F64)}}
		for _, a := range args {
			k.Args = append(k.Args, kernel.In(a, kernel.F64))
		}
		k.Body = func(b *kernel.Builder) {
			var x []*kernel.Value
			for _, a := range args {
				x = append(x, b.Load(a))
			}
			b.Store("dst", f(b, x))
		}
		add(k)
	}
	for order, name := range []string{"K0", "K1"} {
		define(name+"e", "e^a[i] times the modified Bessel function "+name+"; NaN below 0", []string{"a"},
			func(b *kernel.Builder, x []*kernel.Value) *kernel.Value {
				return besselK(b, x[0], order, true)
			})
		define(name, "the modified Bessel function "+name+" of a[i]; NaN below 0", []string{"a"},
			func(b *kernel.Builder, x []*kernel.Value) *kernel.Value {
				return besselK(b, x[0], order, false)
			})
	}
	for order, name := range []string{"J0", "J1"} {
		define(name, "the Bessel function "+name+" of a[i] >= 0, given its sine and cosine",
			[]string{"a", "sin", "cos"}, func(b *kernel.Builder, x []*kernel.Value) *kernel.Value {
				return besselJ(b, x[0], x[1], x[2], order)
			})
	}
	for order, name := range []string{"Y0", "Y1"} {
		define(name, "the Bessel function "+name+" of a[i], given its sine, its cosine and J",
			[]string{"a", "sin", "cos", "j"}, func(b *kernel.Builder, x []*kernel.Value) *kernel.Value {
				return besselY(b, x[0], x[1], x[2], x[3], order)
			})
	}
	define("Erfcx", "e^(a[i]²) times 1 less the error function of a[i]", []string{"a"},
		func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return Erfcx(b, x[0]) })
	define("LogNdtr", "the logarithm of the normal distribution function of a[i]", []string{"a"},
		func(b *kernel.Builder, x []*kernel.Value) *kernel.Value { return LogNdtr(b, x[0]) })
}

// within evaluates a polynomial in v, whose interval from lo to hi is mapped to [-1, 1].
func within(b *kernel.Builder, v *kernel.Value, lo, hi float64, c []float64) *kernel.Value {
	t := b.FMA(v, b.C(2/(hi-lo)), b.C(-(hi+lo)/(hi-lo)))
	return b.PolySplit(t, b.Mul(t, t), c...)
}

// besselK has the logarithm and a polynomial up to 2, and from there a polynomial in 1/x.
func besselK(b *kernel.Builder, x *kernel.Value, order int, scaled bool) *kernel.Value {
	small := b.Cmp(kernel.LE, x, b.C(2))
	near, i, far := k0Near, i0Small, k0Far
	if order == 1 {
		near, i, far = k1Near, i1Small, k1Far
	}
	z := b.Mul(b.Mul(x, x), b.C(0.25))
	l := Log64(b, b.Mul(x, b.C(0.5)))
	y := b.Mul(l, within(b, z, 0, 1, i))
	if order == 0 {
		y = b.Sub(within(b, z, 0, 1, near), y)
	} else {
		y = b.FMA(y, x, b.Div(within(b, z, 0, 1, near), x))
	}
	w := b.Div(within(b, b.Div(b.C(2), x), 0, 1, far), b.Sqrt(x))
	e := Exp64(b, b.Neg(b.MinX(b.C(800), x)))
	if scaled {
		e = Exp64(b, b.MinX(b.C(2), x)) // of small ones alone
		y = b.Mul(y, e)
	} else {
		w = b.Mul(w, e)
	}
	y = b.Sel(small, y, w)
	y = b.Sel(b.Cmp(kernel.EQ, x, b.C(0)), b.C(math.Inf(1)), y)
	y = b.Sel(b.Cmp(kernel.EQ, x, b.C(math.Inf(1))), b.C(0), y)
	return b.Sel(b.MOr(b.Cmp(kernel.LT, x, b.C(0)), b.Cmp(kernel.UNORD, x, x)), b.C(math.NaN()), y)
}

// besselFar is sqrt(2/(pi x)) (P cos(x-a) - Q sin(x-a)), in which cos(x-a) and sin(x-a) are given times sqrt(2).
func besselFar(b *kernel.Builder, x, cos, sin *kernel.Value, order int) *kernel.Value {
	p, q := p0, q0
	if order == 1 {
		p, q = p1, q1
	}
	r := b.Div(b.C(8), x)
	v := b.Mul(r, r)
	s := b.FNMA(b.Mul(within(b, v, 0, 1, q), r), sin, b.Mul(within(b, v, 0, 1, p), cos))
	return b.Div(b.Mul(s, b.C(0.56418958354775628695)), b.Sqrt(x))
}

// besselJ is a polynomial times its zeros up to 8.
func besselJ(b *kernel.Builder, x, sin, cos *kernel.Value, order int) *kernel.Value {
	z := b.Mul(x, x)
	near, zeros := j0Near, [4]float64{0x1.721fb80462bbbp+2, 0x1.db60c816c15d3p-52, 0x1.e78a4a621dd6fp+4,
		-0x1.10d7c5048826bp-52}
	if order == 1 {
		near, zeros = j1Near, [4]float64{0x1.d5d2b4189822cp+3, -0x1.c6a0d245172bap-54, 0x1.89bf66072a432p+5,
			0x1.25355661cb79cp-51}
	}
	y := within(b, z, 0, 64, near)
	for i := 0; i < 4; i += 2 {
		y = b.Mul(y, b.Sub(b.Sub(z, b.C(zeros[i])), b.C(zeros[i+1])))
	}
	if order == 1 {
		y = b.Mul(y, x)
	}
	// x-pi/4 and, for order 1, x-3pi/4
	c, s := b.Add(cos, sin), b.Sub(sin, cos)
	if order == 1 {
		c, s = s, b.Neg(c)
	}
	return b.Sel(b.Cmp(kernel.LE, x, b.C(8)), y, besselFar(b, x, c, s, order))
}

// besselY takes its logarithmic part from J.
func besselY(b *kernel.Builder, x, sin, cos, j *kernel.Value, order int) *kernel.Value {
	z := b.Mul(x, x)
	l := b.Mul(Log64(b, x), j)
	var y *kernel.Value
	if order == 0 {
		y = b.FMA(l, b.C(2/math.Pi), within(b, z, 0, 64, y0Near))
	} else {
		y = b.Mul(b.Sub(l, b.Div(b.C(1), x)), b.C(2/math.Pi))
		y = b.FMA(x, within(b, z, 0, 64, y1Near), y)
	}
	c, s := b.Add(cos, sin), b.Sub(sin, cos)
	if order == 1 {
		c, s = s, b.Neg(c)
	}
	y = b.Sel(b.Cmp(kernel.LE, x, b.C(8)), y, besselFar(b, x, s, b.Neg(c), order)) // P sin + Q cos
	return b.Sel(b.Cmp(kernel.EQ, x, b.C(0)), b.C(math.Inf(-1)), b.Sel(b.Cmp(kernel.LT, x, b.C(0)), b.C(math.NaN()), y))
}

// erfcxOf is Erfcx for positive numbers.
func erfcxOf(b *kernel.Builder, a *kernel.Value) *kernel.Value {
	a = b.MinX(b.C(0x1p900), a)
	t := b.Div(b.Sub(a, b.C(3.75)), b.Add(a, b.C(3.75)))
	return b.Div(b.PolySplit(t, b.Mul(t, t), erfcxTable...), b.FMA(a, b.C(2), b.C(1)))
}

// Erfcx of negative x is 2e^(x²) less that of -x. The square's rounding error is a factor of its own.
func Erfcx(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	a := b.Abs(x)
	y := erfcxOf(b, a)
	m := b.MinX(b.C(30), a)
	s := b.Mul(m, m)
	e := Exp64(b, s)
	e = b.FMA(e, b.FMA(m, m, b.Neg(s)), e)
	e = b.Sel(b.Cmp(kernel.GT, a, b.C(26.7)), b.C(math.Inf(1)), e)
	y = b.Sel(b.Cmp(kernel.LT, x, b.C(0)), b.Sub(b.Add(e, e), y), y)
	y = b.Sel(b.Cmp(kernel.EQ, x, b.C(math.Inf(1))), b.C(0), y)
	return b.Sel(b.Cmp(kernel.UNORD, x, x), x, y)
}

// LogNdtr is log(E/2) - u² for negative x and log(1 - e^(-u²) E/2) for others, with u = |x|/sqrt(2) and E = erfcx(u).
func LogNdtr(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	neg := b.Cmp(kernel.LT, x, b.C(0))
	a := b.Abs(x)
	s := b.Mul(b.Mul(a, a), b.C(0.5))
	h := b.Mul(erfcxOf(b, b.Mul(a, b.C(math.Sqrt2/2))), b.C(0.5))
	m := b.MinX(b.C(40), a)
	z := b.Mul(m, m)
	e := Exp64(b, b.Mul(z, b.C(-0.5)))
	w := b.Mul(b.FNMA(e, b.Mul(b.FMA(m, m, b.Neg(z)), b.C(0.5)), e), h) // with the rounding error of the square
	one := b.Sub(b.C(1), w)
	l := Log64(b, b.Sel(neg, h, one))
	lost := b.Div(b.Sub(b.Sub(b.C(1), one), w), one)
	y := b.Sel(neg, b.Sub(l, s), b.Add(l, lost))
	return b.Sel(b.Cmp(kernel.UNORD, x, x), x, y)
}

// k0Near is K0(x) + log(x/2) I0(x) on [0, 2], in x²/4; as elsewhere the interval is mapped to [-1, 1].
var k0Near = []float64{
	-0x1.36e85d283cd69p-2, 0x1.5cab546883284p-2, 0x1.25ffa680678ffp-4, 0x1.4b2ddc22e96bap-8, 0x1.7f5efc9e653bap-13,
	0x1.1017e4b1b17ddp-18,
	0x1.05b53915c860fp-24, 0x1.6c1aa029d29dbp-31, 0x1.7fa87060ce073p-38, 0x1.3ce929d520abap-45, 0x1.a58ec5f25cfcdp-53,
	0x1.cd4df73525fcep-61,
	0x1.a693e5e04f2d2p-69,
}

// i0Small is I0(x) likewise.
var i0Small = []float64{
	0x1.90eacf96209cbp+0, 0x1.458fab1e6aadcp-1, 0x1.2d6c91ded7bbbp-4, 0x1.017662a61f6aap-8, 0x1.f6907b53670efp-14,
	0x1.3c6dcc15aff04p-19,
	0x1.15fd645f70940p-25, 0x1.67e5bc7144d57p-32, 0x1.6574cac322b8dp-39, 0x1.18dfc25abaa1cp-46,
}

// k1Near is x (K1(x) - log(x/2) I1(x)) likewise.
var k1Near = []float64{
	0x1.c52a4ac3be112p-1, -0x1.5436f9149884fp-2, -0x1.f3619d57ef055p-3, -0x1.c85d2154bc9a8p-6, -0x1.6a96e3d822f4ep-10,
	-0x1.46794073460cep-15,
	-0x1.7c2a5c42e5510p-21, -0x1.36576f0c0c032p-27, -0x1.77502ddcbfd3dp-34, -0x1.5dd47b610a450p-41,
}

// i1Small is I1(x) / x likewise.
var i1Small = []float64{
	0x1.458fab1e6aadcp-1, 0x1.2d6c91ded7bbcp-3, 0x1.823193f92f1ffp-7, 0x1.f6907b5365f75p-12, 0x1.8b893f1b1c239p-17,
	0x1.a0fc16b3db980p-23,
	0x1.3ae904dcaa1a5p-29, 0x1.656dcd49da71ep-36, 0x1.3bfca66196eeep-43, 0x1.bf5e6c2d978e1p-51,
}

// k0Far is sqrt(x) e^x K0(x) from 2 on, in 1/x.
var k0Far = []float64{
	0x1.37f5dd35f91a9p+0, -0x1.fd1328181dba5p-6, 0x1.8d86f6465db52p-9, -0x1.f713068871371p-12, 0x1.a19652e6f8032p-14,
	-0x1.9efce5ecb7393p-16,
	0x1.d5e9a6b6aece8p-18, -0x1.2617f4e5c1705p-19, 0x1.8ec7c2eb7def4p-21, -0x1.20cebcbbba533p-22, 0x1.ba0fdd5794207p-24,
	-0x1.60c25d7368ca1p-25,
	0x1.2652b3150385ep-26, -0x1.130b6b26f7f48p-27, 0x1.f59c8cebc3ad0p-29, -0x1.7bd9cd0f17018p-31, 0x1.0718077fefc18p-32,
	-0x1.4e1ab958723b5p-30,
	0x1.702a9ff124e77p-31, 0x1.d88cf5497ca47p-32, -0x1.1426cb50b481cp-32, -0x1.7efa3250347b0p-33, 0x1.afaf9a21852f3p-34,
}

// k1Far is sqrt(x) e^x K1(x) from 2 on, in 1/x.
var k1Far = []float64{
	0x1.5cf785b4a0203p+0, 0x1.a7520dfb3f9bap-4, -0x1.6cd23ac7d425cp-8, 0x1.81bb3978f628dp-11, -0x1.24bdedb2e201cp-13,
	0x1.1383aa872e7c6p-15,
	-0x1.2cb02da40f17dp-17, 0x1.6e6b23e9b8301p-19, -0x1.e6ca03b91885dp-21, 0x1.5ae0447a54e18p-22,
	-0x1.05fe8f85ff579p-23, 0x1.9dbbfaf7c18f1p-25,
	-0x1.560973a9e3649p-26, 0x1.3bd443c1c99c9p-27, -0x1.1dd7d314b0405p-28, 0x1.c5c4c277b7d66p-31,
	-0x1.409affcf44fc0p-32, 0x1.6ff28b9695970p-30,
	-0x1.93f332a7881f1p-31, -0x1.00d2ae6156232p-31, 0x1.2bbb35150ddc0p-32, 0x1.a38165cf7b01dp-33,
	-0x1.d7a9ea2b84851p-34,
}

// erfcxTable is (1+2x) e^(x²) erfc(x) for positive x, in (x-3.75) / (x+3.75).
var erfcxTable = []float64{
	0x1.3ccda0b5d5dc2p+0, -0x1.1f367683f89a7p-3, 0x1.d5f2948159d0ep-9, 0x1.510169d0967ffp-4, -0x1.bda9309a2886ap-4,
	0x1.7a14188a99ba8p-4,
	-0x1.e0d0fa6e016bdp-5, 0x1.d0b0037dcada0p-6, -0x1.3f603c3390a9bp-7, 0x1.cc3a0e22f229ep-10, 0x1.33fb24531730ep-12,
	-0x1.303f9d9e71d29p-12,
	0x1.b14449e33de10p-15, 0x1.778a2b026d8e8p-16, -0x1.800892b47ca45p-17, -0x1.0525a3ea02fd1p-20, 0x1.d6b54b5242f92p-20,
	-0x1.f47cba0d54b1dp-25,
	-0x1.18861ad8198ccp-22, 0x1.a1523c80c337fp-26, 0x1.60d29d5c9015bp-25, -0x1.2db1e775be183p-28,
	-0x1.c60456b212847p-28, 0x1.2c3337b607cf5p-31,
	0x1.fbb0793f9b911p-31, -0x1.4a9d2959757aap-35, -0x1.5128d73ac30b8p-34,
}

// j0Near is J0(x) over (x²-a²)(x²-b²), a and b being its zeros, on [0, 8] in x².
var j0Near = []float64{
	0x1.2bc29174dd587p-10, -0x1.15d87e4b8d5b1p-9, 0x1.99e65104a68d3p-10, -0x1.5059ea69f58a4p-11, 0x1.6409a6fd7b18ap-13,
	-0x1.08db6a2de263fp-15,
	0x1.250f53798032fp-18, -0x1.f633ea85ead22p-22, 0x1.577f683baf78fp-25, -0x1.801f7f33955cfp-29, 0x1.65ec7d3757f15p-33,
	-0x1.1a4d977497bcfp-37,
	0x1.7df1c9ec3f494p-42, -0x1.c0368f7e22d3fp-47, 0x1.cca49fc88438ap-52, -0x1.a21d145f8d751p-57, 0x1.51aa3294856dep-62,
	-0x1.e871b9af72653p-68,
	0x1.3e3f04d4c36cep-73, -0x1.780f82129e7cap-79, 0x1.93b3d765a5726p-85,
}

// j1Near is J1(x) / x over the same of its own zeros.
var j1Near = []float64{
	0x1.98ec1eee7c01ap-13, -0x1.1adb1329ed86fp-12, 0x1.4c9bd11c0aa3bp-13, -0x1.c5a7fc38dd1d3p-15, 0x1.9ac7788fbda1dp-17,
	-0x1.0af8bb9889ba1p-19,
	0x1.06438a6958c31p-22, -0x1.941a82675761ep-26, 0x1.f62979d67044bp-30, -0x1.0137e01b6d793p-33, 0x1.ba3fb2eea4c7fp-38,
	-0x1.43c20bf860021p-42,
	0x1.98ae518e25941p-47, -0x1.c179ab5f85d03p-52, 0x1.b2a6e4c2f4d95p-57, -0x1.7484cb673745ep-62, 0x1.1cf3b931da6b0p-67,
	-0x1.8783e1fc7ccb1p-73,
	0x1.e5d08296fe691p-79, -0x1.11eb755ad4bcep-84, 0x1.193db236399c2p-90,
}

// y0Near is Y0(x) - 2/pi log(x) J0(x) on [0, 8] in x².
var y0Near = []float64{
	-0x1.876cb72f1c7ebp-2, -0x1.a828bfbfdc936p-1, 0x1.a5a81d661f788p+0, 0x1.272bb3b608b42p-3, -0x1.13da2b14a486ep+0,
	0x1.5827981135a27p-1,
	-0x1.c06cc647f6aa5p-3, 0x1.7bd6bf2ce921bp-5, -0x1.cc706012361fcp-8, 0x1.a6a8c6c983768p-11, -0x1.31537c5ccd741p-14,
	0x1.651b8eda1dfecp-18,
	-0x1.5995ab1ed85cbp-22, 0x1.1998aaae8e87dp-26, -0x1.88011a9b87e8ap-31, 0x1.d7cb2d91108d6p-36,
	-0x1.effd882078ad6p-41, 0x1.cb86044c55c72p-46,
	-0x1.7a1c9b6bed8bap-51, 0x1.16362f51ac0b7p-56, -0x1.70550172e0b1ep-62, 0x1.b9c5f0b6dca13p-68,
	-0x1.e0c8df86679b4p-74,
}

// y1Near is (Y1(x) - 2/pi (log(x) J1(x) - 1/x)) / x likewise.
var y1Near = []float64{
	0x1.21d516f81acf6p-4, -0x1.f26fddceafd0ep-3, 0x1.7edab31507d03p-6, 0x1.e16d7a1d07b70p-3, -0x1.923952d7c42a6p-3,
	0x1.41bb6917b15d2p-4,
	-0x1.4198f92a31f2ap-6, 0x1.c097bb98fe302p-9, -0x1.d1604f9ccae5cp-12, 0x1.76c164b7f48cbp-15, -0x1.e35169de36f5fp-19,
	0x1.ff34fd2db52ecp-23,
	-0x1.c3f1d9346c784p-27, 0x1.532ea3c52e1f1p-31, -0x1.b5d375e75f876p-36, 0x1.ed24eaf166feap-41,
	-0x1.e56ece69c7e90p-46,
}

// p0, and q0 times 8/x, are the amplitudes of the cosine and the sine in J0 from 8 on, times sqrt(pi x / 2), in (8/x)².
var p0 = []float64{
	0x1.ffb8dd328503dp-1, -0x1.193600c1deb32p-11, 0x1.9be00160e8537p-18, -0x1.b8d2d6f57a06fp-23, 0x1.b7ef11c70bf90p-27,
	-0x1.4d2f3c25c2669p-30,
	0x1.54df3303856ecp-33, -0x1.b5bdf7a76e078p-36, 0x1.4fdd63aab1945p-38, -0x1.2b60513387ae8p-40, 0x1.2b6e7c27aa61dp-42,
	-0x1.214e1a0304ff3p-44,
	0x1.4b57cdc5b18edp-46, -0x1.a85a25e0e4db4p-47, 0x1.34caa6632a872p-48,
}

var q0 = []float64{
	-0x1.fdb5c0b2f3d5bp-7, 0x1.1e9a6138feebbp-14, -0x1.8c84352849033p-20, 0x1.3135a899d41e7p-24, -0x1.858d1bacfdbf7p-28,
	0x1.61a5760762203p-31,
	-0x1.a08311da2b2a8p-34, 0x1.2b95c69e41f96p-36, -0x1.f921a9be4b876p-39, 0x1.e92000e832cd3p-41,
	-0x1.0668091946277p-42, 0x1.03a67054839f2p-44,
	-0x1.36db567656e35p-46, 0x1.c9af9c3d116f0p-47, -0x1.5c372909e604fp-48,
}

// p1 and q1 are those of J1.
var p1 = []float64{
	0x1.003b716033732p+0, 0x1.d73b8ea3c1247p-11, -0x1.0b1541bfc3a48p-17, 0x1.07762640ba4abp-22, -0x1.f96170dc571f3p-27,
	0x1.75eb0293f9667p-30,
	-0x1.78ba4e4b1350fp-33, 0x1.de947b0ea8325p-36, -0x1.6c3ff82119dc5p-38, 0x1.429b69e6e6024p-40,
	-0x1.410a50c677dd6p-42, 0x1.357bceaf27f87p-44,
	-0x1.61601abd4fc2cp-46, 0x1.c12b73473a30fp-47, -0x1.460af173d132fp-48,
}

var q1 = []float64{
	0x1.7f323705062fbp-5, -0x1.938da0a0a6a19p-14, 0x1.e8e009ca8f2fcp-20, -0x1.642312741e464p-24, 0x1.b9302a873b418p-28,
	-0x1.8922f957a2ee5p-31,
	0x1.c92e10eca7a23p-34, -0x1.45d24c1553b8dp-36, 0x1.10c4a3a300f0fp-38, -0x1.069f2d4690fb8p-40, 0x1.1882a11595d42p-42,
	-0x1.1528cc57af727p-44,
	0x1.4af02165d68cfp-46, -0x1.e37e7306a7240p-47, 0x1.6f044f2b7f8d2p-48,
}

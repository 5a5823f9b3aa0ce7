package main

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file holds special functions. They have but one form (except erfinv), on memory of float64, to which other types
// are widened: what stays scalar elsewhere need not be halved for float32. The coefficients are fitted at Chebyshev
// points in 50 digits.

// special lists the kernels.
func special() {
	unary := func(name, doc string, f func(b *kernel.Builder, x *kernel.Value) *kernel.Value) {
		add(kernel.Kernel{Name: name + "F64", Doc: "sets dst[i] = " + doc + ".", Lane: kernel.F64,
			Args: []kernel.Arg{kernel.Out("dst", kernel.F64), kernel.In("a", kernel.F64)},
			Body: func(b *kernel.Builder) { b.Store("dst", f(b, b.Load("a"))) }})
	}
	unary("Lgamma", "the logarithm of |gamma(a[i])|", Lgamma)
	unary("Digamma", "the derivative of the logarithm of gamma at a[i]; NaN at -1, -2, …", Digamma)
	unary("Ndtri", "the inverse of the normal distribution function; NaN outside of [0, 1]",
		func(b *kernel.Builder, p *kernel.Value) *kernel.Value {
			q := b.Mul(b.Mul(p, b.Sub(b.C(1), p)), b.C(4))
			return b.Mul(erfinv(b, b.FMA(p, b.C(2), b.C(-1)), q, true), b.C(math.Sqrt2))
		})
	unary("I0e", "e^-|a[i]| times the modified Bessel function I0",
		func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return besselIe(b, x, 0) })
	unary("I1e", "e^-|a[i]| times the modified Bessel function I1",
		func(b *kernel.Builder, x *kernel.Value) *kernel.Value { return besselIe(b, x, 1) })
	unary("I0", "the modified Bessel function I0 of a[i]", func(b *kernel.Builder, x *kernel.Value) *kernel.Value {
		return b.Mul(Exp64(b, b.Abs(x)), besselIe(b, x, 0))
	})
	unary("I1", "the modified Bessel function I1 of a[i]", func(b *kernel.Builder, x *kernel.Value) *kernel.Value {
		return b.Mul(Exp64(b, b.Abs(x)), besselIe(b, x, 1))
	})
	add(kernel.Kernel{Name: "TrigammaF64",
		Doc:  "sets dst[i] = the second derivative of the logarithm of gamma at a[i], given sin(pi*a[i]).",
		Lane: kernel.F64,
		Args: []kernel.Arg{kernel.Out("dst", kernel.F64), kernel.In("a", kernel.F64), kernel.In("sin", kernel.F64)},
		Body: func(b *kernel.Builder) { b.Store("dst", Trigamma(b, b.Load("a"), b.Load("sin"))) }})
	// The inverse of the error function is called often enough in float32 for a form of its own.
	inverse := func(t kernel.Type, f func(b *kernel.Builder, x, q *kernel.Value) *kernel.Value) {
		add(kernel.Kernel{Name: "Erfinv" + t.Suffix(),
			Doc: "sets dst[i] = the inverse of the error function; NaN beyond 1.", Lane: t,
			Args: []kernel.Arg{kernel.Out("dst", t), kernel.In("a", t)},
			Body: func(b *kernel.Builder) {
				x := b.Load("a")
				b.Store("dst", f(b, x, b.Mul(b.Sub(b.C(1), x), b.Add(x, b.C(1)))))
			}})
	}
	inverse(kernel.F32, erfinv32)
	inverse(kernel.F64, func(b *kernel.Builder, x, q *kernel.Value) *kernel.Value { return erfinv(b, x, q, false) })
}

// turn splits x into a whole number and r in [-1/2, 1/2] and gives sin(pi r) / r and r itself.
func turn(b *kernel.Builder, x *kernel.Value) (sin, r *kernel.Value) {
	r = b.Sub(x, b.Round(x, 0))
	z := b.Mul(r, r)
	return b.PolySplit(z, b.Mul(z, z), sinPi...), r
}

// Lgamma is log|gamma(x)|. With a = |x|: below 8 it is that at y in [3/2, 5/2], a whole number away from a, and the
// logarithm of the product of the numbers between them; from 8 on Stirling's series. For negative x the reflection
// follows.
func Lgamma(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	// What costs one operation is taken again where it is needed: AVX2 has few registers.
	abs := func() *kernel.Value { return b.Abs(x) }
	big := func() *kernel.Value { return b.Cmp(kernel.GE, abs(), b.C(8)) }
	up := func() *kernel.Value { return b.Cmp(kernel.LT, abs(), b.C(1.5)) }
	// w is y-2, exact, and prod the product, by whose logarithm the result is less below 3/2 and more above 5/2.
	w := b.Sub(abs(), b.C(2))
	prod := b.C(1)
	for range 6 {
		m := b.Cmp(kernel.GT, w, b.C(0.5))
		prod = b.Sel(m, b.Mul(prod, b.Add(w, b.C(1))), prod)
		w = b.Sel(m, b.Sub(w, b.C(1)), w)
	}
	a := abs()
	twice := b.Cmp(kernel.LT, a, b.C(0.5))
	prod = b.Sel(up(), b.Sel(twice, b.FMA(a, a, a), a), prod)
	w = b.Sel(up(), b.Sub(a, b.Sel(twice, b.C(0), b.C(1))), w)
	near := b.Mul(w, b.PolySplit(w, b.Mul(w, w), lgammaNear...))
	l := Log64(b, b.Sel(big(), abs(), prod))
	near = b.Add(near, b.Sel(up(), b.Neg(l), l))
	i := b.Div(b.C(1), abs())
	z := b.Mul(i, i)
	far := b.FMA(b.Sub(abs(), b.C(0.5)), b.Sub(l, b.C(1)), b.C(0.9189385332046727418-0.5))
	far = b.FMA(i, b.Poly(z, 1./12, -1./360, 1./1260, -1./1680, 1./1188, -691./360360, 1./156, -3617./122400), far)
	y := b.Sel(big(), far, near)
	// gamma(x) gamma(-x) is pi / (-x sin(pi x)). Where the product would leave the range, the result is that of |x|.
	s, r := turn(b, x)
	mirror := b.Sub(b.Sub(b.C(math.Log(math.Pi)), Log64(b, b.Abs(b.Mul(x, b.Mul(s, r))))), y)
	y = b.Sel(b.Cmp(kernel.LT, x, b.C(-0x1p-60)), mirror, y)
	// Beyond that the logarithm is too large, and negative numbers are poles, besides.
	const largest = 2.556348163871690e305
	return b.Sel(b.Cmp(kernel.GE, abs(), b.C(largest)), b.C(math.Inf(1)), y)
}

// Digamma goes up to 5 by its recurrence, collecting the reciprocals in one quotient, and takes the asymptotic series
// there. Negative numbers are reflected.
func Digamma(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	left := b.Cmp(kernel.LT, x, b.C(0))
	y := b.Sel(left, b.Sub(b.C(1), x), x)
	num, den := b.C(0), b.C(1)
	for range 5 {
		m := b.Cmp(kernel.LT, y, b.C(5))
		num = b.Sel(m, b.FMA(num, y, den), num)
		den = b.Sel(m, b.Mul(den, y), den)
		y = b.Sel(m, b.Add(y, b.C(1)), y)
	}
	i := b.Div(b.C(1), y)
	z := b.Mul(i, i)
	tail := b.FMA(z, b.PolySplit(z, b.Mul(z, z), digammaTail...), b.FMA(i, b.C(0.5), b.Div(num, den)))
	d := b.Sub(Log64(b, y), tail)
	s, r := turn(b, x)
	z = b.Mul(r, r)
	cos := b.Mul(b.PolySplit(z, b.Mul(z, z), cosPi...), b.FNMA(z, b.C(4), b.C(1)))
	cot := b.Div(b.Mul(cos, b.C(math.Pi)), b.Mul(s, r))
	cot = b.Sel(b.Cmp(kernel.EQ, r, b.C(0)), b.C(math.NaN()), cot)
	d = b.Sel(left, b.Sub(d, cot), d)
	return b.Sel(b.Cmp(kernel.EQ, x, b.C(0)), b.Or(b.C(math.Inf(1)), b.Sign(b.Neg(x))), d)
}

// Trigamma is built as Digamma; the reflection from 1/2 down takes the sine that it is given.
func Trigamma(b *kernel.Builder, x, sin *kernel.Value) *kernel.Value {
	left := b.Cmp(kernel.LT, x, b.C(0.5))
	y := b.Sel(left, b.Sub(b.C(1), x), x)
	num, den := b.C(0), b.C(1)
	for range 5 {
		m := b.Cmp(kernel.LT, y, b.C(5))
		s := b.Mul(y, y)
		num = b.Sel(m, b.FMA(num, s, den), num)
		den = b.Sel(m, b.Mul(den, s), den)
		y = b.Sel(m, b.Add(y, b.C(1)), y)
	}
	i := b.Div(b.C(1), y)
	z := b.Mul(i, i)
	t := b.FMA(b.Mul(z, i), b.PolySplit(z, b.Mul(z, z), trigammaTail...), b.FMA(z, b.C(0.5), i))
	t = b.Add(t, b.Div(num, den))
	return b.Sel(left, b.Sub(b.Div(b.C(math.Pi*math.Pi), b.Mul(sin, sin)), t), t)
}

// erfinv is the inverse of erf at x, given q = (1-x)(1+x). The quotient of it and x is a function of w = -log(q):
// smooth for small w, and one of sqrt(w) for large. far says that q may be smaller than what a float64 next to 1
// leaves.
func erfinv(b *kernel.Builder, x, q *kernel.Value, far bool) *kernel.Value {
	w := b.Neg(Log64(b, q))
	s := b.Sqrt(w)
	y := within(b, s, 4, 6.5, erfinvFar)
	if far {
		y = b.Sel(b.Cmp(kernel.GT, s, b.C(6.5)), within(b, s, 6.5, 28, erfinvFarther), y)
	}
	y = b.Sel(b.Cmp(kernel.LT, s, b.C(4)), within(b, s, 2.2, 4, erfinvMiddle), y)
	y = b.Sel(b.Cmp(kernel.LT, w, b.C(5)), within(b, w, 0, 5, erfinvNear), y)
	return erfinvEnds(b, x, q, y)
}

// erfinv32 is erfinv in lanes of float32, whose q is not smaller than 2^-23.
func erfinv32(b *kernel.Builder, x, q *kernel.Value) *kernel.Value {
	w := b.Neg(Log(b, q))
	y := b.Sel(b.Cmp(kernel.LT, w, b.C(5)), within(b, w, 0, 5, erfinvNear32),
		within(b, b.Sqrt(w), 2.2, 4.1, erfinvFar32))
	return erfinvEnds(b, x, q, y)
}

// erfinvEnds is x*y, but for what lies beyond.
func erfinvEnds(b *kernel.Builder, x, q, y *kernel.Value) *kernel.Value {
	y = b.Sel(b.Cmp(kernel.EQ, q, b.C(0)), b.C(math.Inf(1)), y)
	y = b.Sel(b.Cmp(kernel.LT, q, b.C(0)), b.C(math.NaN()), y)
	return b.Mul(x, y)
}

// besselIe is e^-|x| I(x) of order 0 or 1: a polynomial up to 8, and from there one in 1/|x| over sqrt(|x|).
func besselIe(b *kernel.Builder, x *kernel.Value, order int) *kernel.Value {
	near, far := i0Near, i0Far
	if order == 1 {
		near, far = i1Near, i1Far
	}
	a := b.Abs(x)
	t := b.FMA(a, b.C(0.25), b.C(-1))
	y := b.PolySplit(t, b.Mul(t, t), near...)
	if order == 1 {
		y = b.Mul(y, a)
	}
	t = b.Sub(b.Div(b.C(16), a), b.C(1))
	z := b.Div(b.PolySplit(t, b.Mul(t, t), far...), b.Sqrt(a))
	y = b.Sel(b.Cmp(kernel.GT, a, b.C(8)), z, y)
	if order == 1 {
		y = b.Xor(y, b.Sign(x))
	}
	return y
}

// sinPi is sin(pi r) / r on |r| <= 1/2, in r².
var sinPi = []float64{
	0x1.921fb54442d18p+1, -0x1.4abbce625be52p+2, 0x1.466bc6775aa7dp+1, -0x1.32d2cce627c86p-1, 0x1.5078348551854p-4,
	-0x1.e3074dfaf87afp-8,
	0x1.e8f3675ee37ddp-12, -0x1.6f7acdb8f6580p-16, 0x1.9d462020fcc78p-21,
}

// cosPi is cos(pi r) / (1 - 4r²) likewise.
var cosPi = []float64{
	0x1.0000000000000p+0, -0x1.de9e64df22eabp-1, 0x1.472be1224054bp-2, -0x1.d4fcd82e20aecp-5, 0x1.9f05c98c160dap-8,
	-0x1.f3092161e793ap-12,
	0x1.b22d8964f0ca9p-16, -0x1.1559283f92706p-20,
}

// lgammaNear is lgamma(2+w) / w on |w| <= 1/2.
var lgammaNear = []float64{
	0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa6p-2, -0x1.13e001a557555p-4, 0x1.51322ac7d8333p-6, -0x1.e404fc21d8fe7p-8,
	0x1.7add6eadfcc7bp-9,
	-0x1.38ac5bfce42c1p-10, 0x1.0b36af5972ed1p-11, -0x1.d3fd6a9087d23p-13, 0x1.a127cd91ac95bp-14,
	-0x1.78d8f868f383fp-15, 0x1.5808af19fa483p-16,
	-0x1.3d4ce65b1d70bp-17, 0x1.2620de1c78d97p-18, -0x1.08fccc794a9c7p-19, 0x1.f038cb2f6a913p-21,
	-0x1.37fd97eeee99dp-21, 0x1.2703c6effc4ebp-22,
}

// digammaTail is (log(y) - 1/(2y) - digamma(y)) y² from 5 on, in 1/y².
var digammaTail = []float64{
	0x1.5555555555554p-4, -0x1.111111110a0dbp-7, 0x1.041040df28355p-8, -0x1.1110eb52b2e9dp-8, 0x1.f06889c29fd23p-8,
	-0x1.582128f973c22p-6,
	0x1.44862b742c575p-4, -0x1.4cd7b5ac333d2p-2, 0x1.cc6b1a38c2315p-1,
}

// trigammaTail is (trigamma(y) - 1/y - 1/(2y²)) y³ from 5 on, in 1/y².
var trigammaTail = []float64{
	0x1.5555555555555p-3, -0x1.1111111110c4ep-5, 0x1.86186183bf7dcp-6, -0x1.11110f3eceda3p-5, 0x1.364cd7de8df90p-4,
	-0x1.0319e16f7daf2p-2,
	0x1.28f98b65ac209p+0, -0x1.b010900d3f151p+2, 0x1.5775788937353p+5, -0x1.cd2bd4f77e41ap+7, 0x1.571479b290927p+9,
}

// erfinvNear is erfinv(x) / x for w up to 5, in w, that interval being mapped to [-1, 1] as those of all that follow.
var erfinvNear = []float64{
	0x1.805c5cfcedef5p+0, 0x1.3bb315fc76826p-1, -0x1.abc1e0b47dc60p-6, -0x1.40b177277945ep-6, 0x1.175c3f22792b7p-7,
	-0x1.ff993ab748250p-12,
	-0x1.b553ca6ffa15cp-11, 0x1.326257cfd8593p-12, 0x1.57784fc724836p-16, -0x1.5b8ed61869511p-15, 0x1.2256e54ef65b4p-17,
	0x1.7ec56a4d1194ep-19,
	-0x1.f1b43091c95d2p-20, 0x1.22c10203a80a8p-23, 0x1.ad7a816c59abcp-23, -0x1.2e0c4879d1c4bp-24,
	-0x1.f52a3fe65cdb9p-28, 0x1.6bb265526488dp-27,
	-0x1.a2ff5e8cd3427p-30, -0x1.a91c7feae0c67p-31, 0x1.08965165098cdp-32,
}

// erfinvNear32 and erfinvFar32 are the same, shorter, the latter in sqrt(w) from 2.2 to 4.1.
var (
	erfinvNear32 = []float64{
		0x1.805c5ep+0, 0x1.3bb316p-1, -0x1.abc3bcp-6, -0x1.40b29ap-6, 0x1.177b94p-7, -0x1.fd3e0ap-12, -0x1.bb46a2p-11,
		0x1.2bb0dcp-12,
		0x1.29ca18p-15, -0x1.1e2010p-15,
	}
	erfinvFar32 = []float64{
		0x1.7de0a0p+1, 0x1.e86020p-1, 0x1.8a48fcp-8, -0x1.156e74p-8, 0x1.72960ep-9, -0x1.d98ea8p-10, 0x1.e8bf7cp-11,
		-0x1.f38a00p-13,
		-0x1.b39f48p-14, 0x1.3af8f0p-14,
	}
)

// erfinvMiddle is erfinv(x) / x in sqrt(w) from 2.2 to 4.
var erfinvMiddle = []float64{
	0x1.777422abdd244p+1, 0x1.ce58b41c4cd11p-1, 0x1.8c033c223c373p-8, -0x1.1028c8f81aeaap-8, 0x1.626ce851aae58p-9,
	-0x1.a3fcbecc41d46p-10,
	0x1.6ecbbd8a215d9p-11, -0x1.34852ef514054p-13, -0x1.b7f32a2884fffp-15, 0x1.ea421e67e6ef5p-15,
	-0x1.58e181dc5c713p-16, -0x1.04cebb344551fp-21,
	0x1.ff51823141406p-19, -0x1.bd67d0e251affp-20, 0x1.15fc68d92a1a0p-23, 0x1.adcc8b35cb645p-23, -0x1.d2b5197ccae49p-24,
	0x1.4e3a4ec0b0cbfp-26,
	0x1.158d011c73c1fp-27, -0x1.ef84149d999a4p-28, 0x1.ae5d09d820b8cp-30, 0x1.46d5368e61714p-31, -0x1.323011bc72619p-32,
}

// erfinvFar is erfinv(x) / x in sqrt(w) from 4 to 6.5.
var erfinvFar = []float64{
	0x1.468edd59fe0cfp+2, 0x1.4343305d3d898p+0, -0x1.c173464b7f332p-12, -0x1.334b517b3d49bp-12, 0x1.1a5c89ebb69acp-13,
	-0x1.66fe00b997ed2p-15,
	0x1.8f34d0ebb3fc3p-17, -0x1.9e4d8fb1d2e4cp-19, 0x1.a2eff7829c7c2p-21, -0x1.c278edc6a4533p-23, 0x1.38cd339d6bba3p-24,
	-0x1.4045d1689647ap-25,
	0x1.97abdef970a40p-26, -0x1.03a764371fcfbp-26, 0x1.22daf760c785dp-27, -0x1.0b45c5092da19p-28, 0x1.b0ec4e71b1087p-30,
	-0x1.3c4694037e53cp-31,
	0x1.38fdf0688177bp-36, 0x1.3ac58139c9a26p-33, -0x1.cd5a0cf55cf55p-35,
}

// erfinvFarther is erfinv(x) / x in sqrt(w) from 6.5 to 28.
var erfinvFarther = []float64{
	0x1.12bbd6117dd76p+4, 0x1.59009e3ff6459p+3, -0x1.c899691f279bep-7, 0x1.a16422fb41137p-8, -0x1.7ac0bb1e532d9p-9,
	0x1.4b58297e8c66cp-10,
	-0x1.0b400db281577p-11, 0x1.640fd295f314ep-13, -0x1.ae0623b0cff94p-16, -0x1.d5c9f48a3ae41p-16,
	0x1.5f9303536cef7p-15, -0x1.5322d1d819166p-15,
	0x1.13a9cf661a66cp-15, -0x1.6e90a43fc7770p-16, 0x1.0e0263ca0707cp-16, -0x1.5df8fda201333p-16, 0x1.c9f902dcb22a6p-17,
	0x1.a365f632f71a6p-17,
	-0x1.e89007de0a2b4p-18, -0x1.fb715298eb0b4p-16, 0x1.36c615db88499p-16, 0x1.d7170043de58ep-16,
	-0x1.1e4b9c027fa88p-16, -0x1.5ceff6e2b717dp-16,
	0x1.a9b30bd3082d7p-17, 0x1.1c667f47bb1cdp-17, -0x1.5ab55b78ab3afp-18, -0x1.ee8a046f851c2p-20, 0x1.2e7b1bfdbc13bp-20,
}

// i0Near is e^-x I0(x) on [0, 8].
var i0Near = []float64{
	0x1.a7f09f8eedf5ap-3, -0x1.cedda00486203p-4, 0x1.8322d1d8a3bcbp-4, -0x1.6cb8d0c915d76p-4, 0x1.65c235bfea67cp-4,
	-0x1.5c028fe63ac01p-4,
	0x1.44b6196a7e5edp-4, -0x1.1cd73a8f65403p-4, 0x1.d11e10f563ea4p-5, -0x1.602411cd57d69p-5, 0x1.ee6f56579a579p-6,
	-0x1.427b0ab901a2dp-6,
	0x1.87e8674c081c8p-7, -0x1.bd25799e2f366p-8, 0x1.da1aa5c31040bp-9, -0x1.dafac01bde31bp-10, 0x1.c0f4746e5c54ap-11,
	-0x1.9176a6e8e5197p-12,
	0x1.54986036f96f9p-13, -0x1.1302f643478c2p-14, 0x1.a6c3624a6c1a1p-16, -0x1.3429316a1f562p-17, 0x1.b1d84b43be1a7p-19,
	-0x1.328a2c8357506p-20,
	0x1.88e7c898f8b9dp-22, -0x1.7122a4a4cd22cp-24, 0x1.cc61933fa56fap-26, -0x1.1839e2f01f649p-26, 0x1.2dfb90af4b9ccp-28,
}

// i0Far is sqrt(x) e^-x I0(x) from 8 on, in 1/x.
var i0Far = []float64{
	0x1.9bd428ad249a5p-2, 0x1.b87969bb93a48p-9, 0x1.1daa72b5e2366p-13, 0x1.75e5ee7822f78p-17, 0x1.8e513accc76a3p-20,
	0x1.3f49933733f90p-22,
	0x1.7d0e5f25bc841p-24, 0x1.51d5f84cd03f6p-25, 0x1.7257db9ed6674p-26, 0x1.02cf9254e7670p-27, -0x1.d3b411548af05p-28,
	-0x1.c9aa2ffce2ca1p-27,
	-0x1.62c3f99ada19fp-28, 0x1.f7410b7f70fd0p-28, 0x1.d29741886cb2dp-28, -0x1.ac9afa081a33ep-29,
	-0x1.4d2b550bd6e76p-28, 0x1.2c4a86bc0bfefp-30,
	0x1.499ae7b4d59c2p-29, -0x1.2e287745e1a2ep-32, -0x1.9ae1031554e04p-31, 0x1.36172c123f453p-35, 0x1.de985e80c26e1p-34,
}

// i1Near is e^-x I1(x) / x on [0, 8].
var i1Near = []float64{
	0x1.6e14eb8e5d319p-5, -0x1.f4bb071a7752ap-5, 0x1.16c390ddb08edp-4, -0x1.1881379ffb627p-4, 0x1.0530f817ff9fcp-4,
	-0x1.c4daa5133fb98p-5,
	0x1.6df95e8be0c47p-5, -0x1.13d5f358ccda3p-5, 0x1.84125b0d13a2ap-6, -0x1.fe3d9bfac793cp-7, 0x1.3a0c1a021d4e6p-7,
	-0x1.6ab6a3e67aad6p-8,
	0x1.89f8a67329811p-9, -0x1.93681fb46e1cap-10, 0x1.8656c3457cd2bp-11, -0x1.65bfbdc51c701p-12, 0x1.3742f9b2f5b02p-13,
	-0x1.01a11a7a8dff7p-14,
	0x1.96942f24ec5d6p-16, -0x1.32923121b37e5p-17, 0x1.ba0fc13069d74p-19, -0x1.300fe978e9508p-20, 0x1.93e9a08b4d036p-22,
	-0x1.0acdeab55f889p-23,
	0x1.459211f49b902p-25, -0x1.34c8bcd8ddda0p-27, 0x1.6b6f1c670609fp-29, -0x1.856439397efd0p-30, 0x1.937c2c973bbafp-32,
}

// i1Far is sqrt(x) e^-x I1(x) from 8 on, in 1/x.
var i1Far = []float64{
	0x1.8ebe783a84030p-2, -0x1.3f796198ee5e3p-7, -0x1.cbc54df1e8a30p-13, -0x1.f89c230c1c6c7p-17, -0x1.ec8e10cda9622p-20,
	-0x1.76136c8d9dbb3p-22,
	-0x1.ad8c9576be72ap-24, -0x1.7280f7124367dp-25, -0x1.91b62a0449ae7p-26, -0x1.20dfa102cdc55p-27,
	0x1.d2f43270388f8p-28, 0x1.df68969b0012bp-27,
	0x1.89426861550d7p-28, -0x1.fec28b5e30e16p-28, -0x1.f053fd33757dcp-28, 0x1.a62d3a5241febp-29, 0x1.5e0ee1eae723fp-28,
	-0x1.1ff732137576bp-30,
	-0x1.5873a50ddf275p-29, 0x1.1be99bbf474cep-32, 0x1.ac4bf6a87bc29p-31, -0x1.1f6f8a3689d3bp-35,
	-0x1.f23ff1f27dca9p-34,
}

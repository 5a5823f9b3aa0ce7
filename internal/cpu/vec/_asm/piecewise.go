package main

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file holds functions of |x| in float32 lanes that are a polynomial on each of 16 parts of the line. That takes a
// table lookup for each coefficient and half the arithmetic of one polynomial for all. The coefficients are fitted part
// by part with Lawson iteration to the relative error; they are rounded to float32 one by one from the constant on, and
// those left are fitted again each time.

// pieces is such a function: part n has its centre at n*width, and the last part reaches to infinity.
type pieces struct {
	width float64         // exact in float32
	c     []*kernel.Table // from the constant on
}

func newPieces(name string, width float64, c [][16]float32) *pieces {
	p := &pieces{width: width}
	for i, v := range c {
		p.c = append(p.c, kernel.NewTable(fmt.Sprint(name, i), func(j int) float64 { return float64(v[j]) }))
	}
	return p
}

// of is d, which is |x| up to the centre of the last part and that beyond, and the function of d. For NaN both are NaN.
func (p *pieces) of(b *kernel.Builder, x *kernel.Value) (d, y *kernel.Value) {
	d = b.MinX(b.C(15*p.width), b.Abs(x))
	n := b.FMA(d, b.C(1/p.width), b.C(kernel.RoundingConstant32))
	u := b.FNMA(b.Sub(n, b.C(kernel.RoundingConstant32)), b.C(p.width), d)
	i := b.Bits(n)
	y = b.Lookup(i, p.c[len(p.c)-1])
	for k := len(p.c) - 2; k >= 0; k-- {
		y = b.FMA(y, u, b.Lookup(i, p.c[k]))
	}
	return d, y
}

// normalPieces is Phi(-d), the normal distribution function, with seven digits up to d = 3 and four at 5.9, from where
// on it is 0.
var normalPieces = newPieces("normalTail", 13.0/32, [][16]float32{
	{0x1p-1, 0x1.5e7e82p-2, 0x1.aa803cp-3, 0x1.c8944cp-4, 0x1.aaa65ap-5, 0x1.59f1f6p-6, 0x1.e49ce6p-8, 0x1.2432ecp-9,
		0x1.2e8708p-11, 0x1.0c5d4ap-13, 0x1.9744aep-16, 0x1.08007ep-18, 0x1.2415bcp-21, 0x1.138a62p-24, 0x1.baf4c8p-28,
		0},
	{-0x1.988452p-2, -0x1.7828dep-2, -0x1.25ab68p-2, -0x1.84c6cap-3, -0x1.b46176p-4, -0x1.9f4b4p-5, -0x1.4f18c8p-6,
		-0x1.ca7fep-8,
		-0x1.09f35p-9, -0x1.05961ap-11, -0x1.b44b92p-14, -0x1.347c52p-16, -0x1.71dbdep-19, -0x1.77f7b4p-22,
		-0x1.44059p-25, 0},
	{-0x1.13c3fap-20, 0x1.319eaap-4, 0x1.dd33d4p-4, 0x1.d9d0b8p-4, 0x1.62908cp-4, 0x1.a5cad6p-5, 0x1.986888p-6,
		0x1.45f706p-7,
		0x1.b02662p-9, 0x1.de26cap-11, 0x1.bb0044p-13, 0x1.587dc6p-15, 0x1.c27a3cp-18, 0x1.eff204p-21, 0x1.cc2888p-24,
		0},
	{0x1.106b62p-4, 0x1.a2bbd2p-5, 0x1.0a1feep-6, -0x1.f7213ap-7, -0x1.dd50bp-6, -0x1.b0b578p-6, -0x1.13f4dep-6,
		-0x1.0ec8eap-7,
		-0x1.a7f4dp-9, -0x1.0dc2c2p-10, -0x1.1a22e2p-12, -0x1.e87e28p-15, -0x1.5fc29ep-17, -0x1.a6e2bp-20,
		-0x1.a981a8p-23, 0},
	{-0x1.1b5d3cp-13, -0x1.1e1722p-6, -0x1.716342p-6, -0x1.dc3e8ep-7, -0x1.5d03cep-9, 0x1.378006p-8, 0x1.8dec2ep-8,
		0x1.144d2ap-8,
		0x1.11d5eep-9, 0x1.a1e0f4p-11, 0x1.fb7b1p-13, 0x1.f35302p-15, 0x1.926fa2p-17, 0x1.0b9deap-19, 0x1.272bcp-22, 0},
	{-0x1.3a43aap-7, -0x1.912f2ep-8, 0x1.4bb15ap-10, 0x1.7b2b8ep-8, 0x1.563748p-8, 0x1.01a092p-9, -0x1.e59672p-12,
		-0x1.2d377ep-10,
		-0x1.bde78ap-11, -0x1.b04d8cp-12, -0x1.3777a4p-13, -0x1.5e1de2p-15, -0x1.3aa0e2p-17, -0x1.ca99e2p-20,
		-0x1.119dcp-22, 0},
})

// geluPieces is the derivative of GELU at -d, within 5e-9; 0 from 5.9 on.
var geluPieces = newPieces("geluTail", 13.0/32, [][16]float32{
	{0x1p-1, 0x1.8b5bccp-3, -0x1.95b268p-6, -0x1.eb1042p-4, -0x1.efcb36p-4, -0x1.4f4beep-4, -0x1.5bd286p-5,
		-0x1.21708ep-6,
		-0x1.8a5ae6p-8, -0x1.bcac2ap-10, -0x1.a1ab94p-12, -0x1.4827c8p-14, -0x1.b08e6ap-17, -0x1.df429cp-20,
		-0x1.bf015ap-23, 0},
	{-0x1.988454p-1, -0x1.591e82p-1, -0x1.8978aap-2, -0x1.902a9cp-4, 0x1.178e7p-4, 0x1.b973dep-4, 0x1.4a301ep-4,
		0x1.5cdb1ep-5,
		0x1.1ca6aep-6, 0x1.73b944p-8, 0x1.8b827ep-10, 0x1.5a7b5ap-12, 0x1.f730bp-15, 0x1.304126p-17, 0x1.3361bep-20, 0},
	{0x1.da30d4p-20, 0x1.25056ep-2, 0x1.8e744p-2, 0x1.29dfc4p-2, 0x1.e1fabcp-4, -0x1.a9081ep-8, -0x1.8c6fd2p-5,
		-0x1.4d0bfap-5,
		-0x1.62846p-6, -0x1.180088p-7, -0x1.5a4c9ap-9, -0x1.580066p-11, -0x1.16736cp-13, -0x1.72aad4p-16,
		-0x1.9840a6p-19, 0},
	{0x1.104c44p-2, 0x1.681b1ep-3, -0x1.21f44ap-7, -0x1.0f903ap-3, -0x1.112754p-3, -0x1.0ff696p-4, -0x1.ff88b6p-8,
		0x1.e8ac36p-7,
		0x1.cd50b6p-7, 0x1.e5c51ep-8, 0x1.6d887p-9, 0x1.a6927p-11, 0x1.83993ep-13, 0x1.1f299ap-15, 0x1.5b7772p-18, 0},
	{0x1.18f73cp-11, -0x1.9d413cp-4, -0x1.bc551ap-4, -0x1.31958p-5, 0x1.e162e8p-6, 0x1.6bdf38p-5, 0x1.9a7d86p-6,
		0x1.2dc484p-8,
		-0x1.e0f7e2p-9, -0x1.ee99d6p-9, -0x1.f65c3ap-10, -0x1.61f69p-11, -0x1.79936p-13, -0x1.3c9004p-15, -0x1.a8f4p-18,
		0},
	{-0x1.01f716p-4, -0x1.f3eep-6, 0x1.59641ap-6, 0x1.4a7e0cp-5, 0x1.557be8p-6, -0x1.02247cp-8, -0x1.842676p-7,
		-0x1.d5fcc8p-8,
		-0x1.854d8cp-10, 0x1.9a1e12p-11, 0x1.b2ec1p-11, 0x1.a12784p-12, 0x1.104ffap-13, 0x1.0a507ep-15, 0x1.979782p-18,
		0},
	{0x1.2207f2p-7, 0x1.6aa968p-6, 0x1.17646p-6, -0x1.86e37ep-10, -0x1.79aa1ap-7, -0x1.acfe48p-8, 0x1.61dfecp-14,
		0x1.6bfc3cp-9,
		0x1.98e772p-10, 0x1.3fbf9ap-12, -0x1.571c0ep-13, -0x1.3f33a6p-13, -0x1.1283dp-14, -0x1.417f84p-16,
		-0x1.27d904p-18, 0},
})

// tanhPieces is tanh(d)/d. The width is one for which the constants, rounded, are close to the function, and the last
// one gives 1 exactly.
var tanhPieces = newPieces("tanhOver", 0x1.35468p-1, [][16]float32{
	{0x1p+0, 0x1.c9a58p-1, 0x1.6258cp-1, 0x1.0bdbb4p-1, 0x1.a11a98p-2, 0x1.516ecp-2, 0x1.1a2256p-2, 0x1.e4242p-3,
		0x1.a7bfeep-3, 0x1.78b33p-3, 0x1.5309fap-3, 0x1.34383ep-3, 0x1.1a891p-3, 0x1.04cd56p-3, 0x1.e458cap-4,
		0x1.c40e9ep-4},
	{0, -0x1.3a3abp-2, -0x1.4b8dep-2, -0x1.dce058p-3, -0x1.3eaad8p-3, -0x1.b20a3cp-4, -0x1.342b26p-4, -0x1.c858ccp-5,
		-0x1.5e5324p-5, -0x1.150cdcp-5, -0x1.c0f4fep-6, -0x1.73136ep-6, -0x1.37d12ap-6, -0x1.09b16ep-6, -0x1.ca2fc2p-7,
		-0x1.8f21c8p-7},
	{-0x1.55547cp-2, -0x1.008788p-3, 0x1.e974a4p-5, 0x1.357416p-4, 0x1.a6e26ap-5, 0x1.05d538p-5, 0x1.47487ap-6,
		0x1.a920ecp-7,
		0x1.204082p-7, 0x1.96cbf4p-8, 0x1.291536p-8, 0x1.beb05ep-9, 0x1.580c26p-9, 0x1.0e9c58p-9, 0x1.b1853p-10,
		0x1.5ce052p-10},
	{-0x1.b59098p-14, 0x1.4430dep-3, 0x1.556f82p-5, -0x1.4b6906p-7, -0x1.addbap-7, -0x1.1736b2p-7, -0x1.471d9cp-8,
		-0x1.80a3a4p-9,
		-0x1.d4042p-10, -0x1.28d9ecp-10, -0x1.88200cp-11, -0x1.0c89f8p-11, -0x1.7b7f48p-12, -0x1.13a2bcp-12,
		-0x1.9a1506p-13, -0x1.c8d8fcp-12},
	{0x1.1381fcp-3, -0x1.90470ap-6, -0x1.51dd06p-5, -0x1.b8ffdcp-8, 0x1.9a8096p-10, 0x1.df3908p-10, 0x1.2803dep-10,
		0x1.44a6ap-11,
		0x1.75a9cp-12, 0x1.98134ep-13, 0x1.c64e2cp-14, 0x1.123f82p-14, 0x1.02e97p-14, 0x1.80242p-15, 0x1.cb413cp-17,
		-0x1.20fa4ap-9},
	{-0x1.8a7466p-8, -0x1.6d5bf2p-5, 0x1.d13774p-7, 0x1.92a8bap-8, 0x1.79d39ap-11, -0x1.b07c9p-13, -0x1.b1b9fp-13,
		-0x1.fa1d5cp-14,
		-0x1.16dae4p-14, -0x1.2b8a42p-15, -0x1.3ff14p-16, -0x1.6b5cdap-17, -0x1.050308p-17, -0x1.4c24d8p-18,
		-0x1.260458p-19, -0x1.dfaafep-8},
	{-0x1.5650bap-5, 0x1.a9c01p-6, 0x1.c09fbep-10, -0x1.4d4628p-9, -0x1.2ee6fap-11, -0x1.74d36p-13, -0x1.b749e4p-15,
		0x1.3f8338p-14,
		-0x1.5062bep-16, 0x1.2ba0bap-14, 0x1.b9e77cp-14, 0x1.5d2b1ap-14, -0x1.614b12p-14, -0x1.71f46ep-14,
		0x1.1db176p-14, -0x1.1d41b6p-7},
})

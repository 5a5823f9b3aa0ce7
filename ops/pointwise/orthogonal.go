package pointwise

import (
	"math"
	"sync"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// orthogonal is a family of polynomials of x with a rule of three terms (Szegő, Orthogonal Polynomials, 1939, theorem
// 3.2.1): degree 0 is 1, degree 1 is slope·x + start, and degree k+1 is ((a·x + b)·p - c·q) / d, where p and q are
// those of degrees k and k-1 and each factor is one of k: factor[0] + factor[1]·k.
type orthogonal struct {
	slope, start float64
	a, b, c, d   [2]float64
	// shifted takes the polynomial at 2x - 1.
	shifted bool
	// formula is the polynomial of a large degree m at cos θ; nil where there is none.
	formula func(m, theta float64) float64
}

// maxDegree bounds the steps of a recurrence that does not overflow; a larger degree gives NaN, where PyTorch would
// count for minutes.
const maxDegree = 1 << 24

// formulaFrom is the degree above which the formula serves between -1 and 1.
const formulaFrom = 512

// factors are those of the step from degree k.
func (o *orthogonal) factors(k float64) (a, b, c, d float64) {
	at := func(f [2]float64) float64 { return f[0] + f[1]*k }
	return at(o.a), at(o.b), at(o.c), at(o.d)
}

// degree is n as a whole number, to which it is cut as in PyTorch; ok is false for one below 0, or that is no number of
// 64 bits: these give 0.
func degree(n float64) (m int64, ok bool) {
	if !(n > -1 && n < 1<<63) {
		return 0, false
	}
	return int64(n), true
}

// at is the polynomial of degree n at x.
func (o *orthogonal) at(x, n float64) float64 {
	m, ok := degree(n)
	if !ok {
		return 0
	}
	if o.shifted {
		x = 2*x - 1
	}
	if o.formula != nil && m > formulaFrom && x > -1 && x < 1 {
		return o.formula(float64(m), math.Acos(x))
	}
	p, q := o.slope*x+o.start, 1.0
	switch {
	case m == 0:
		return 1
	case m > maxDegree:
		return math.NaN()
	}
	for k := int64(1); k < m && p == p; k++ {
		a, b, c, d := o.factors(float64(k))
		p, q = ((a*x+b)*p-c*q)/d, p
	}
	return p
}

// rows sets d to the polynomials of one degree at the numbers a, a block of them at a time.
func (o *orthogonal) rows(d, a []float64, n float64) {
	m, ok := degree(n)
	if !ok || m > formulaFrom {
		for i, x := range a[:len(d)] {
			d[i] = o.at(x, n)
		}
		return
	}
	planes(len(d), func(w *planesOf[float64], lo, hi int) {
		x, q, p, t := a[lo:hi], w.ai, w.br, w.t
		if o.shifted {
			vec.ScaleShiftF64(w.ar, x, 2, -1)
			x = w.ar
		}
		vec.FillF64(q, 1)
		vec.ScaleShiftF64(p, x, o.slope, o.start)
		for k := int64(1); k < m; k++ {
			o.step(t, p, q, x, float64(k))
			p, q, t = t, p, q
		}
		if m == 0 {
			p = q
		}
		copy(d[lo:hi], p)
	})
}

// rows32 is rows of float32, computed in float64.
func (o *orthogonal) rows32(d, a []float32, n float32) {
	planes(len(d), func(w *planesOf[float64], lo, hi int) {
		vec.F32ToF64s(w.ar, a[lo:hi])
		o.rows(w.ai, w.ar, float64(n))
		vec.F64ToF32s(d[lo:hi], w.ai)
	})
}

// fewLive is the number of arguments below which the recurrence of each goes on one by one.
const fewLive = 8

// byDegree is room for the sorting of each.
type byDegree struct {
	above, next [formulaFrom + 2]int16 // above[m]: how many degrees are m or more; next[m+1]: the next place of degree m
	grade, from [planeRun]int16        // the degrees; where the sorted numbers come from
}

var byDegreePool = sync.Pool{New: func() any { return new(byDegree) }}

// each sets d to the polynomials of the degrees n at the numbers a. The numbers of a block are sorted by degree, the
// largest first (a counting sort), so that one recurrence on vectors serves all of them: the numbers that have reached
// their degree stand at the end, where the vectors get shorter.
func (o *orthogonal) each(d, a, n []float64) {
	room := byDegreePool.Get().(*byDegree)
	defer byDegreePool.Put(room)
	above, next, grade, from := &room.above, &room.next, &room.grade, &room.from
	planes(len(d), func(w *planesOf[float64], lo, hi int) {
		most, total := 0, 0
		for i, v := range n[lo:hi] {
			m, ok := degree(v)
			if grade[i] = -1; !ok || m > formulaFrom {
				d[lo+i] = o.at(a[lo+i], v)
				continue
			}
			grade[i] = int16(m)
			most, total = max(most, int(m)), total+1
		}
		clear(above[:most+2])
		for _, m := range grade[:hi-lo] {
			if m >= 0 {
				above[m]++
			}
		}
		for m := most; m > 0; m-- {
			above[m-1] += above[m]
		}
		copy(next[:most+2], above[:most+2])
		for i, m := range grade[:hi-lo] {
			if m >= 0 {
				at := next[m+1]
				next[m+1]++
				from[at], w.ar[at] = int16(i), a[lo+i]
			}
		}
		x, q, p, t := w.ar[:total], w.ai, w.br, w.t
		if o.shifted {
			vec.ScaleShiftF64(x, x, 2, -1)
		}
		vec.FillF64(q[:total], 1)
		vec.ScaleShiftF64(p[:total], x, o.slope, o.start)
		put := func(m int, p []float64) { // those of degree m are done
			for at := int(above[m+1]); at < int(above[m]); at++ {
				d[lo+int(from[at])] = p[at]
			}
		}
		put(0, q)
		for m := 1; m <= most; m++ {
			put(m, p)
			live := int(above[m+1])
			if live < fewLive {
				for _, i := range from[:live] {
					d[lo+int(i)] = o.at(a[lo+int(i)], float64(grade[i]))
				}
				return
			}
			o.step(t[:live], p, q, x, float64(m))
			p, q, t = t, p, q
		}
	})
}

// step sets t to the polynomials of degree k+1 at x from p and q, those of degrees k and k-1.
func (o *orthogonal) step(t, p, q, x []float64, k float64) {
	a, b, c, d := o.factors(k)
	vec.ScaleShiftF64(t, x[:len(t)], a, b)
	vec.MulF64(t, t, p[:len(t)])
	vec.AddScaledF64(t, t, q[:len(t)], -c)
	if d != 1 {
		vec.DivScalarF64(t, t, d)
	}
}

// each32 is each of float32, computed in float64.
func (o *orthogonal) each32(d, a, n []float32) {
	planes(len(d), func(w *planesOf[float64], lo, hi int) {
		vec.F32ToF64s(w.ar, a[lo:hi])
		vec.F32ToF64s(w.br, n[lo:hi])
		o.each(w.ai, w.ar, w.br)
		vec.F64ToF32s(d[lo:hi], w.ai)
	})
}

func init() {
	one := [2]float64{1}
	chebyshev := func(slope, start float64, formula func(m, t float64) float64) *orthogonal {
		return &orthogonal{slope: slope, start: start, a: [2]float64{2}, c: one, d: one, formula: formula}
	}
	chebT := chebyshev(1, 0, func(m, t float64) float64 { return math.Cos(m * t) })
	chebU := chebyshev(2, 0, func(m, t float64) float64 { return math.Sin((m+1)*t) / math.Sin(t) })
	chebV := chebyshev(2, -1, func(m, t float64) float64 { return math.Cos((m+0.5)*t) / math.Cos(t/2) })
	chebW := chebyshev(2, 1, func(m, t float64) float64 { return math.Sin((m+0.5)*t) / math.Sin(t/2) })
	at2x1 := func(o *orthogonal) *orthogonal {
		s := *o
		s.shifted = true
		return &s
	}
	polynomial("special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor",
		"is Chebyshev's polynomial of the first kind.", "chebyshev_polynomial_t", chebT)
	polynomial("special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor",
		"is Chebyshev's polynomial of the second kind.", "chebyshev_polynomial_u", chebU)
	polynomial("special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor",
		"is Chebyshev's polynomial of the third kind.", "chebyshev_polynomial_v", chebV)
	polynomial("special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor",
		"is Chebyshev's polynomial of the fourth kind.", "chebyshev_polynomial_w", chebW)
	polynomial("special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor",
		"is Chebyshev's polynomial of the first kind at 2x - 1.", "shifted_chebyshev_polynomial_t", at2x1(chebT))
	polynomial("special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor",
		"is Chebyshev's polynomial of the second kind at 2x - 1.", "shifted_chebyshev_polynomial_u", at2x1(chebU))
	polynomial("special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor",
		"is Chebyshev's polynomial of the third kind at 2x - 1.", "shifted_chebyshev_polynomial_v", at2x1(chebV))
	polynomial("special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor",
		"is Chebyshev's polynomial of the fourth kind at 2x - 1.", "shifted_chebyshev_polynomial_w", at2x1(chebW))
	polynomial("special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor", "is the physicists' Hermite polynomial.",
		"hermite_polynomial_h", &orthogonal{slope: 2, a: [2]float64{2}, c: [2]float64{0, 2}, d: one})
	polynomial("special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor",
		"is the probabilists' Hermite polynomial.", "hermite_polynomial_he",
		&orthogonal{slope: 1, a: one, c: [2]float64{0, 1}, d: one})
	polynomial("special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor", "is Laguerre's polynomial.",
		"laguerre_polynomial_l", &orthogonal{slope: -1, start: 1, a: [2]float64{-1}, b: [2]float64{1, 2},
			c: [2]float64{0, 1}, d: [2]float64{1, 1}})
	polynomial("special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor", "is Legendre's polynomial.",
		"legendre_polynomial_p", &orthogonal{slope: 1, a: [2]float64{1, 2}, c: [2]float64{0, 1}, d: [2]float64{1, 1}})
}

// polynomial registers a polynomial of an argument and a degree, and its forms with a number; there is no gradient, as
// in PyTorch.
//
//gen:polynomial Out
func polynomial(schema, doc, name string, o *orthogonal) {
	k := &biK{name: name, f32: o.each32, f64: o.each, f32s: o.rows32, f64s: o.rows}
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true, Elementwise: true, Infer: floatInfer,
		CPU: func(c *Ctx) { k.run(c, 0, 1) }, NoGrad: "PyTorch gives none either"})
	numberForm("special_"+name+".x_scalar(Scalar x, Tensor n) -> Tensor", "special_"+name, false)
	numberForm("special_"+name+".n_scalar(Tensor x, Scalar n) -> Tensor", "special_"+name, false)
}

package rng

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// Multinomial draws samples category numbers for each row of weights, a matrix
// of rows × cats non-negative weights with a positive sum per row, and stores
// them in dst (rows × samples): multinomial. Without replacement, samples may
// not exceed cats, and the rows' numbers are ordered as PyTorch orders them.
//
// 16-bit weights are widened to float32; pass their Rounder (nil otherwise), as
// drawing without replacement rounds to the weights' type. Of a matrix that is
// stored by columns, PyTorch draws the numbers for that in the same order:
// byColumn. It fails, without drawing, when the weights do not qualify.
func Multinomial[T Float](g *Generator, dst []int64, weights []T, rows, cats, samples int, replacement, byColumn bool,
	round Rounder) error {
	if rows < 0 || cats <= 0 || samples <= 0 || len(weights) != rows*cats || len(dst) != rows*samples {
		return fmt.Errorf("rng: multinomial: got %d weights and %d results for %d rows of %d categories with %d "+
			"samples (the last two must be positive)",
			len(weights), len(dst), rows, cats, samples)
	}
	if !replacement && samples > cats {
		return fmt.Errorf("rng: multinomial: cannot draw %d samples of %d categories without replacement", samples,
			cats)
	}
	inf := T(math.Inf(1))
	for r := range rows {
		if lo, hi := extent(weights[r*cats : (r+1)*cats]); lo > 0 && hi < inf { // as most are, and no NaN
			continue
		}
		zeros := 0
		for _, w := range weights[r*cats : (r+1)*cats] {
			if w > 0 && w < inf {
				continue
			}
			if w != 0 {
				return fmt.Errorf("rng: multinomial: expected finite weights >= 0, got %v in row %d", w, r)
			}
			zeros++
		}
		if zeros == cats {
			return fmt.Errorf("rng: multinomial: expected a positive sum of weights, got 0 in row %d", r)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if replacement && samples > 1 {
		multinomialReplace(g, dst, weights, rows, cats, samples)
	} else {
		multinomialDistinct(g, dst, weights, rows, cats, samples, byColumn, round)
	}
	return nil
}

// extent is the smallest and the largest number of a row; both are NaN if it has one.
func extent[T Float](row []T) (lo, hi T) {
	switch row := any(row).(type) {
	case []float32:
		return T(vec.MinF32(row)), T(vec.MaxF32(row))
	case []float64:
		return T(vec.MinF64(row)), T(vec.MaxF64(row))
	}
	return
}

// multinomialReplace searches each uniform number in the row's cumulative sums,
// which are formed in the row's type. Each number is compared with a few of them,
// which are normalized then: quotients, whichever are formed.
func multinomialReplace[T Float](g *Generator, dst []int64, weights []T, rows, cats, samples int) {
	words := make([]uint32, 2*len(dst))
	g.fill32(words)
	par.For(rows, max(1, share/cats), func(from, to int) {
		cums := make([]T, 4*cats)
		for r := from; r < to; r += 4 { // sums wait for each other: those of four rows side by side
			row := func(k int) ([]T, []T) {
				return weights[min(r+k, to-1)*cats:][:cats], cums[k*cats:][:cats]
			}
			w0, c0 := row(0)
			w1, c1 := row(1)
			w2, c2 := row(2)
			w3, c3 := row(3)
			var s0, s1, s2, s3 T
			for j, w := range w0 {
				s0, s1, s2, s3 = s0+w, s1+w1[j], s2+w2[j], s3+w3[j]
				c0[j], c1[j], c2[j], c3[j] = s0, s1, s2, s3
			}
			for k := range min(4, to-r) {
				_, cum := row(k)
				sum := cum[cats-1]
				for s := (r + k) * samples; s < (r+k+1)*samples; s++ {
					u := wordsU53(words[2*s:])
					at := 0
					for n := cats - 1; n > 0; n /= 2 { // of those from at on in question; the last quotient is 1
						half := (n + 1) / 2
						if float64(cum[at+half-1]/sum) < u {
							at += half
						}
					}
					dst[s] = int64(at)
				}
			}
		}
	})
}

// multinomialDistinct is the exponential race: of w/q with independent
// exponentials q the largest is category j with probability proportional to
// w[j], and the following ones go on likewise among the rest.
func multinomialDistinct[T Float](g *Generator, dst []int64, weights []T, rows, cats, samples int, byColumn bool,
	round Rounder) {
	race := make([]T, len(weights))
	g.exponential64(len(race), 1, func(i int, v float64) {
		q := T(v)
		if round != nil {
			q = T(round(float32(q)))
		}
		if byColumn {
			i = i%rows*cats + i/rows
		}
		q = weights[i] / q
		if round != nil {
			q = T(round(float32(q)))
		}
		race[i] = q
	})
	par.For(rows, max(1, share/cats), func(from, to int) {
		idx := make([]int, 0, samples)
		for r := from; r < to; r++ {
			row := race[r*cats : (r+1)*cats]
			if samples == 1 {
				best := 0
				for j, v := range row {
					if above(v, row[best]) {
						best = j
					}
				}
				dst[r] = int64(best)
				continue
			}
			idx = first(idx[:0], row, samples)
			for s, j := range idx {
				dst[r*samples+s] = int64(j)
			}
		}
	})
}

// first appends the indices of the n first elements, in order; of equal ones the earlier comes first. It keeps those
// found so far in a heap with the last of them on top.
func first[T Float](idx []int, row []T, n int) []int {
	after := func(a, b int) bool { return above(row[b], row[a]) || a > b && !above(row[a], row[b]) }
	sink := func(i, n int) {
		for {
			c := 2*i + 1
			if c >= n {
				return
			}
			if c+1 < n && after(idx[c+1], idx[c]) {
				c++
			}
			if !after(idx[c], idx[i]) {
				return
			}
			idx[i], idx[c] = idx[c], idx[i]
			i = c
		}
	}
	for j := range n {
		idx = append(idx, j)
	}
	for i := n/2 - 1; i >= 0; i-- {
		sink(i, n)
	}
	for j := n; j < len(row); j++ {
		if above(row[j], row[idx[0]]) {
			idx[0] = j
			sink(0, n)
		}
	}
	for i := n - 1; i > 0; i-- { // the last goes to the end
		idx[0], idx[i] = idx[i], idx[0]
		sink(0, i)
	}
	return idx
}

// above orders descending with NaN (0/0) first, as PyTorch does.
func above[T Float](a, b T) bool { return a > b || (a != a && b == b) }

// Poisson fills dst with Poisson numbers of the rates in rate, which has the
// same length: poisson. It fails, without drawing, for a negative or NaN rate.
func Poisson[T Float](g *Generator, dst, rate []T) error {
	if len(rate) != len(dst) {
		return fmt.Errorf("rng: poisson: got %d rates for %d elements", len(rate), len(dst))
	}
	for _, l := range rate {
		if !(l >= 0) {
			return fmt.Errorf("rng: poisson: expected rates >= 0, got %v", l)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, l := range rate {
		dst[i] = T(g.poisson(float64(l)))
	}
	return nil
}

func (g *Generator) poisson(l float64) float64 {
	switch {
	case l == 0:
		return 0
	case l < 10:
		// Knuth: count uniform factors until the product falls to exp(-l).
		limit := exp(-l)
		k, prod := 0.0, g.u53()
		for prod > limit {
			k++
			prod *= g.u53()
		}
		return k
	case math.IsInf(l, 1):
		return l // the rejection below would never end
	}
	// Transformed rejection (Hormann 1993, algorithm PTRS).
	logl := ln(l)
	b := 0.931 + float64(2.53*math.Sqrt(l))
	a := -0.059 + float64(0.02483*b)
	invAlpha := 1.1239 + 1.1328/(b-3.4)
	vr := 0.9277 - 3.6224/(b-2)
	for {
		u := g.u53() - 0.5
		v := g.u53()
		us := 0.5 - math.Abs(u)
		k := math.Floor(float64((2*a/us+b)*u) + l + 0.43)
		if us >= 0.07 && v <= vr {
			return k
		}
		if k < 0 || (us < 0.013 && v > us) {
			continue
		}
		lg, _ := math.Lgamma(k + 1)
		if ln(v)+ln(invAlpha)-ln(a/float64(us*us)+b) <= -l+float64(k*logl)-lg {
			return k
		}
	}
}

// StandardGamma fills dst with gamma numbers of shape alpha[i] and scale 1:
// _standard_gamma. Results are at least T's smallest normal number.
func StandardGamma[T Float](g *Generator, dst, alpha []T) error {
	if len(alpha) != len(dst) {
		return fmt.Errorf("rng: standard_gamma: got %d shapes for %d elements", len(alpha), len(dst))
	}
	if err := checkAlpha("standard_gamma", alpha); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, a := range alpha {
		dst[i] = max(smallest[T](), gamma(g, a))
	}
	return nil
}

func checkAlpha[T Float](op string, alpha []T) error {
	for _, a := range alpha {
		// PyTorch does not check; a negative or NaN shape would loop for ever.
		if !(a >= 0) || math.IsInf(float64(a), 0) {
			return fmt.Errorf("rng: %s: expected finite concentrations >= 0, got %v", op, a)
		}
	}
	return nil
}

// smallest is T's smallest normal number.
func smallest[T Float]() T {
	tiny := 0x1p-1022
	if unsafe.Sizeof(*new(T)) == 4 {
		tiny = 0x1p-126
	}
	return T(tiny)
}

// gamma is Marsaglia and Tsang's method (2000). Its few single-precision
// constants and T's precision in the shape are part of the reference's numbers.
func gamma[T Float](g *Generator, alpha T) T {
	scale := 1.0
	if alpha < 1 {
		if alpha == 0 {
			return 0
		}
		scale = pow(1-g.u53(), float64(1/alpha))
		alpha++
	}
	const third, squeeze = float32(1.0 / 3), float32(0.0331)
	d := float64(alpha - T(third))
	c := 1 / math.Sqrt(9*d)
	for {
		x := g.norm()
		y := 1 + float64(c*x)
		for y <= 0 {
			x = g.norm()
			y = 1 + float64(c*x)
		}
		v := float64(y*y) * y
		u := 1 - g.u53()
		xx := float64(x * x)
		if u < 1-float64(float64(float64(squeeze)*xx)*xx) || ln(u) < float64(0.5*xx)+float64(d*(1-v+ln(v))) {
			return T(scale * d * v)
		}
	}
}

// Dirichlet fills each row of dst (rows of k elements) with a sample of the
// Dirichlet distribution of that row of alpha: _sample_dirichlet.
func Dirichlet[T Float](g *Generator, dst, alpha []T, k int) error {
	if k <= 0 || len(alpha) != len(dst) || len(dst)%k != 0 {
		return fmt.Errorf("rng: dirichlet: got %d concentrations and %d elements in rows of %d", len(alpha), len(dst),
			k)
	}
	if err := checkAlpha("dirichlet", alpha); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	row := make([]float64, k)
	// Below 1 by one unit in the last place of T.
	largest := T(1 - 0x1p-53)
	if unsafe.Sizeof(largest) == 4 {
		largest = T(float32(1 - 0x1p-24))
	}
	for i := 0; i < len(dst); i += k {
		var sum float64
		for j := range row {
			row[j] = gamma(g, float64(alpha[i+j]))
			sum += row[j]
		}
		for j, v := range row {
			dst[i+j] = min(largest, max(smallest[T](), T(v/sum)))
		}
	}
	return nil
}

// Binomial fills dst with the number of successes in count[i] trials of
// probability prob[i]: binomial. It fails, without drawing, when a count is
// negative or not finite, or a prob is no probability.
func Binomial[T Float](g *Generator, dst, count, prob []T) error {
	if len(count) != len(dst) || len(prob) != len(dst) {
		return fmt.Errorf("rng: binomial: got %d counts and %d probabilities for %d elements", len(count), len(prob),
			len(dst))
	}
	for i, n := range count {
		if !(n >= 0) || math.IsInf(float64(n), 0) {
			return fmt.Errorf("rng: binomial: expected finite counts >= 0, got %v", n)
		}
		if err := checkProb("binomial", float64(prob[i])); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, n := range count {
		dst[i] = T(g.binomial(float64(n), float64(prob[i])))
	}
	return nil
}

func (g *Generator) binomial(n, p float64) float64 {
	switch {
	case n <= 0 || p <= 0:
		return 0
	case p >= 1:
		return n
	case p > 0.5:
		return n - g.binomialHalf(n, 1-p)
	}
	return g.binomialHalf(n, p)
}

// binomialHalf is binomial for p <= 1/2.
func (g *Generator) binomialHalf(n, p float64) float64 {
	if n*p >= 10 {
		return g.binomialReject(n, p)
	}
	// Few successes: count how many waiting times fit into n trials.
	l := log1p(-p)
	sum, k := 0.0, 0.0
	for {
		sum += math.Ceil(ln(g.u53()) / l)
		if sum > n {
			return k
		}
		k++
	}
}

// binomialReject is transformed rejection (Hormann 1993, algorithm BTRS).
func (g *Generator) binomialReject(n, p float64) float64 {
	sd := math.Sqrt(n * p * (1 - p))
	b := 1.15 + float64(2.53*sd)
	a := -0.0873 + float64(0.0248*b) + float64(0.01*p)
	c := float64(n*p) + 0.5
	vr := 0.92 - 4.2/b
	r := p / (1 - p)
	alpha := (2.83 + 5.1/b) * sd
	m := math.Floor((n + 1) * p)
	for {
		u := g.u53() - 0.5
		v := g.u53()
		us := 0.5 - math.Abs(u)
		k := math.Floor(float64((2*a/us+b)*u) + c)
		if us >= 0.07 && v <= vr {
			return k
		}
		if k < 0 || k > n {
			continue
		}
		v = ln(v * alpha / (a/float64(us*us) + b))
		bound := float64((m+0.5)*ln((m+1)/(r*(n-m+1)))) +
			float64((n+1)*ln((n-m+1)/(n-k+1))) +
			float64((k+0.5)*ln(r*(n-k+1)/(k+1))) +
			stirlingTail(m) + stirlingTail(n-m) - stirlingTail(k) - stirlingTail(n-k)
		if v <= bound {
			return k
		}
	}
}

// stirlingTail is ln k! less Stirling's approximation in k+1.
func stirlingTail(k float64) float64 {
	if k <= 9 {
		return stirlingTable[int(k)]
	}
	q := (k + 1) * (k + 1)
	return (1.0/12 - (1.0/360-1.0/1260/q)/q) / (k + 1)
}

var stirlingTable = [10]float64{
	0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.0207906721037650, 0.0166446911898211,
	0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
}

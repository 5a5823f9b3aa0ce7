package lapack

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// secular is the equation 1/rho + Σ z[j]²/(D[j]-x) = 0 with ascending poles D, whose roots are eigenvalues of diag(D) +
// rho·z·zᵀ. Differences of poles are given, as these are accurate where the poles are not: gaps stores D[j]-D[base].
type secular struct {
	z      []float64
	rhoInv float64
	eps    float64
	gaps   func(base int, p []float64)
}

// root is the root number i, between poles i and i+1, as the nearer pole and the distance from it; p becomes the
// distances of all poles from that pole, t is scratch memory.
//
// The iteration interpolates the sums over the poles on either side of the root by a function with one pole each (R.-C.
// Li 1993, Solving secular equations stably and efficiently, LAPACK Working Note 89, "the middle way"), within a
// bracket that is halved where the steps are too short.
func (q *secular) root(i int, p, t []float64) (base int, x float64) {
	k := len(q.z)
	q.gaps(i, p)
	base = i
	if k == 1 {
		return 0, q.z[0] * q.z[0] / q.rhoInv
	}
	a, b := i, i+1 // the two poles of the interpolation
	var lo, hi float64
	if i == k-1 {
		a, b = i-1, i
		for _, z := range q.z {
			hi += z * z
		}
		hi /= q.rhoInv
		x = hi / 2
	} else {
		hi = p[i+1]
		x = hi / 2
	}
	e := q.at(x, b, p, t)
	f := e.f
	// The other poles are taken for constant at first.
	za, zb := q.z[a]*q.z[a], q.z[b]*q.z[b]
	c := f - za/(p[a]-x) - zb/(p[b]-x)
	gap := p[b] - p[a]
	switch {
	case i == k-1:
		if f > 0 {
			hi = x
		} else {
			lo = x
		}
		s, u := -c*gap+za+zb, zb*gap
		r := math.Sqrt(math.Abs(s*s + 4*u*c))
		if s < 0 {
			x = 2 * u / (r - s)
		} else {
			x = (s + r) / (2 * c)
		}
	case f >= 0:
		hi = x
		s, u := c*gap+za+zb, za*gap
		r := math.Sqrt(math.Abs(s*s - 4*u*c))
		if s > 0 {
			x = 2 * u / (s + r)
		} else {
			x = (s - r) / (2 * c)
		}
	default:
		q.gaps(i+1, p)
		base = i + 1
		lo, hi = -gap/2, 0
		s, u := c*gap-za-zb, zb*gap
		r := math.Sqrt(math.Abs(s*s + 4*u*c))
		if s < 0 {
			x = 2 * u / (s - r)
		} else {
			x = -(s + r) / (2 * c)
		}
	}
	if !(x > lo && x < hi) {
		x = (lo + hi) / 2
	}
	for round := range 100 {
		e = q.at(x, b, p, t)
		if math.Abs(e.f) <= q.eps*e.err {
			break
		}
		if e.f < 0 {
			lo = x
		} else {
			hi = x
		}
		if hi-lo <= 2*0x1p-53*math.Abs(x) {
			break
		}
		next := x + e.step(p[a]-x, p[b]-x, i == k-1)
		if !(next > lo && next < hi) || round > 20 && round%2 == 0 {
			next = (lo + hi) / 2
			if lo == 0 && round < 50 { // near the pole in many binary orders of magnitude
				next = hi / 16
			} else if hi == 0 && round < 50 {
				next = lo / 16
			}
		}
		if next == x || next == lo || next == hi || next == 0 {
			break
		}
		x = next
	}
	return base, x
}

// value is the secular function at a point: the sums over the poles on the left and on the right and their derivatives.
type value struct {
	f, left, right float64
	err            float64 // the rounding error of f, in units of the precision
}

// at sums up at x, which is relative to the same pole as p; poles from b on are on the right. t is scratch memory.
func (q *secular) at(x float64, b int, p, t []float64) value {
	psi, dpsi := sumsAt(x, q.z[:b], p[:b], t)
	phi, dphi := sumsAt(x, q.z[b:], p[b:], t)
	// The terms of a sum have one sign, so that its rounding error is at most the number of additions times it.
	sum := math.Abs(phi) + math.Abs(psi)
	return value{q.rhoInv + psi + phi, dpsi, dphi,
		sum*(8+float64(len(p))/lanes) + q.rhoInv + math.Abs(x)*(dpsi+dphi)}
}

// lanes is the number of partial sums of a long sum.
const lanes = 16

// sumsAt are Σ z[j]²/(p[j]-x) and its derivative.
func sumsAt(x float64, z, p, t []float64) (sum, slope float64) {
	if len(z) >= 2*lanes {
		t = t[:len(z)]
		vec.AddScalarF64(t, p, -x)
		vec.DivF64(t, z, t)
		return vec.DotF64(z, t), vec.DotF64(t, t)
	}
	for j, v := range z {
		u := v / (p[j] - x)
		sum += v * u
		slope += u * u
	}
	return sum, slope
}

// step is the way from the point to the root of the interpolation with poles at the distances da and db.
func (e *value) step(da, db float64, last bool) float64 {
	c := e.f - da*e.left - db*e.right
	a := (da+db)*e.f - da*db*(e.left+e.right)
	b := da * db * e.f
	r := math.Sqrt(math.Abs(a*a - 4*b*c))
	var x float64
	switch {
	case last:
		c = math.Abs(c)
		if r = math.Sqrt(math.Abs(a*a - 4*b*c)); a >= 0 {
			x = (a + r) / (2 * c)
		} else {
			x = 2 * b / (a - r)
		}
	case c == 0:
		x = b / a
	case a <= 0:
		x = (a - r) / (2 * c)
	default:
		x = 2 * b / (a + r)
	}
	if e.f*x >= 0 || x != x {
		x = -e.f / (e.left + e.right)
	}
	return x
}

package lapack

import (
	"math"

	"github.com/gotorch-dev/torch/internal/par"
)

// symmetricTimes makes x = t·B·v for the m×m matrix b; vc holds v's conjugates.
func symmetricTimes[E Element](x, b, vc []E, m, ld int, t E) {
	par.For(m, max(1, 1<<15/(m+1)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x[i] = t * dotc(vc, b[i*ld:][:m])
		}
	})
}

// rankTwo subtracts v·xᴴ + x·vᴴ from the m×m matrix b.
func rankTwo[E Element](b, v, x, vc, xc []E, m, ld int) {
	par.For(m, max(1, 1<<14/(m+1)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := b[i*ld:][:m]
			axpy(row, -v[i], xc)
			axpy(row, -x[i], vc)
		}
	})
}

// implicitQL makes the tridiagonal matrix with diagonal d and off-diagonal e diagonal, with ascending d. The rotations
// act on the rows of z, if any. It follows LAPACK's xSTEQR: each block is worked from the end with the smaller diagonal
// element.
func implicitQL(d, e, z []float64, n int, eps float64) bool {
	eps2, budget := eps*eps, 30*n
	const safe = 0x1p-1022
	var t turns
	for start := 0; start < n; {
		if start > 0 {
			e[start-1] = 0
		}
		m := start
		for ; m < n-1; m++ {
			s := math.Abs(e[m])
			if s == 0 {
				break
			}
			if s <= math.Sqrt(math.Abs(d[m]))*math.Sqrt(math.Abs(d[m+1]))*eps {
				e[m] = 0
				break
			}
		}
		l, end := start, m
		start = m + 1
		if l == end {
			continue
		}
		if math.Abs(d[end]) < math.Abs(d[l]) {
			l, end = end, l
		}
		if end > l {
			for l <= end {
				m := l
				for ; m < end; m++ {
					if e[m]*e[m] <= eps2*math.Abs(d[m])*math.Abs(d[m+1])+safe {
						break
					}
				}
				if m < end {
					e[m] = 0
				}
				p := d[l]
				if m == l {
					l++
					continue
				}
				if m == l+1 {
					var c, s float64
					d[l], d[l+1], c, s = symmetric2(d[l], e[l], d[l+1])
					t.add(l, c, s)
					e[l] = 0
					l += 2
					continue
				}
				if budget--; budget < 0 {
					return false
				}
				g := (d[l+1] - p) / (2 * e[l])
				r := math.Hypot(g, 1)
				g = d[m] - p + e[l]/(g+math.Copysign(r, g))
				s, c := 1.0, 1.0
				p = 0
				for i := m - 1; i >= l; i-- {
					f, b := s*e[i], c*e[i]
					c, s, r = rotationBefore(g, f)
					if i != m-1 {
						e[i+1] = r
					}
					g = d[i+1] - p
					r = (d[i]-g)*s + 2*c*b
					p = s * r
					d[i+1] = g + p
					g = c*r - b
					t.add(i, c, -s)
				}
				d[l] -= p
				e[l] = g
				if len(t.row) > many {
					flush(&t, z, len(z)/n)
				}
			}
		} else {
			for l >= end {
				m := l
				for ; m > end; m-- {
					if e[m-1]*e[m-1] <= eps2*math.Abs(d[m])*math.Abs(d[m-1])+safe {
						break
					}
				}
				if m > end {
					e[m-1] = 0
				}
				p := d[l]
				if m == l {
					l--
					continue
				}
				if m == l-1 {
					var c, s float64
					d[l-1], d[l], c, s = symmetric2(d[l-1], e[l-1], d[l])
					t.add(l-1, c, s)
					e[l-1] = 0
					l -= 2
					continue
				}
				if budget--; budget < 0 {
					return false
				}
				g := (d[l-1] - p) / (2 * e[l-1])
				r := math.Hypot(g, 1)
				g = d[m] - p + e[l-1]/(g+math.Copysign(r, g))
				s, c := 1.0, 1.0
				p = 0
				for i := m; i < l; i++ {
					f, b := s*e[i], c*e[i]
					c, s, r = rotationBefore(g, f)
					if i != m {
						e[i-1] = r
					}
					g = d[i] - p
					r = (d[i+1]-g)*s + 2*c*b
					p = s * r
					d[i] = g + p
					g = c*r - b
					t.add(i, c, s)
				}
				d[l] -= p
				e[l-1] = g
				if len(t.row) > many {
					flush(&t, z, len(z)/n)
				}
			}
		}
	}
	flush(&t, z, len(z)/n)
	for i := range n - 1 {
		k := i
		for j := i + 1; j < n; j++ {
			if d[j] < d[k] {
				k = j
			}
		}
		if k == i {
			continue
		}
		d[i], d[k] = d[k], d[i]
		if z != nil {
			x, y := z[i*n:(i+1)*n], z[k*n:(k+1)*n]
			for j, v := range x {
				x[j], y[j] = y[j], v
			}
		}
	}
	return true
}

// symmetric2 gives the eigenvalues of [a b; b c], the one of larger absolute value first, and its vector (c1, s1), as
// LAPACK's xLAEV2.
func symmetric2(a, b, c float64) (big, small, c1, s1 float64) {
	sum, diff, tb := a+c, a-c, b+b
	ab, adf := math.Abs(tb), math.Abs(diff)
	amax, amin := c, a
	if math.Abs(a) > math.Abs(c) {
		amax, amin = a, c
	}
	root := math.Hypot(adf, ab)
	sign1 := 1
	switch {
	case sum < 0:
		big = 0.5 * (sum - root)
		sign1 = -1
		small = amax/big*amin - b/big*b
	case sum > 0:
		big = 0.5 * (sum + root)
		small = amax/big*amin - b/big*b
	default:
		big, small = 0.5*root, -0.5*root
	}
	sign2, cs := 1, diff+root
	if diff < 0 {
		sign2, cs = -1, diff-root
	}
	switch {
	case math.Abs(cs) > ab:
		ct := -tb / cs
		s1 = 1 / math.Sqrt(1+ct*ct)
		c1 = ct * s1
	case ab == 0:
		c1, s1 = 1, 0
	default:
		tn := -cs / tb
		c1 = 1 / math.Sqrt(1+tn*tn)
		s1 = tn * c1
	}
	if sign1 == sign2 {
		c1, s1 = -s1, c1
	}
	return
}

package lapack

import (
	"math"
	"slices"
)

// implicitQL makes the tridiagonal matrix with diagonal d and off-diagonal e diagonal, with ascending d. The rotations
// act on the rows of z, if any. It follows LAPACK's xSTEQR: each block is worked from the end with the smaller diagonal
// element.
func implicitQL[R Real](d, e []float64, z []R, n int, eps float64) bool {
	eps2, budget := eps*eps, 30*n
	const safe = 0x1p-1022
	t := turnsPool.Get().(*turns)
	defer t.done()
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
				r := hypot(g, 1)
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
				if len(*t) > many {
					flush(t, z, len(z)/n)
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
				r := hypot(g, 1)
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
				if len(*t) > many {
					flush(t, z, len(z)/n)
				}
			}
		}
	}
	flush(t, z, len(z)/n)
	sortRows(d, z, n)
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
	root := hypot(adf, ab)
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

// tridiagonalValues gives the eigenvalues of the tridiagonal matrix with diagonal d and off-diagonal e in ascending
// order, in d; e is destroyed. It is the square-root-free form of the QL and QR iterations (Pal, Walker and Kahan;
// Parlett, The Symmetric Eigenvalue Problem, 1980, section 8.15; LAPACK's xSTERF).
func tridiagonalValues(d, e []float64, n int, eps float64) bool {
	eps2, budget := eps*eps, 30*n
	for start := 0; start < n; {
		if start > 0 {
			e[start-1] = 0
		}
		m := start
		for ; m < n-1; m++ {
			if math.Abs(e[m]) <= math.Sqrt(math.Abs(d[m]))*math.Sqrt(math.Abs(d[m+1]))*eps {
				e[m] = 0
				break
			}
		}
		x, y := d[start:m+1], e[start:m]
		start = m + 1
		if len(x) == 1 {
			continue
		}
		for i, v := range y {
			y[i] = v * v
		}
		if math.Abs(x[len(x)-1]) < math.Abs(x[0]) { // QR is QL on the reversed matrix
			slices.Reverse(x)
			slices.Reverse(y)
		}
		if !rationalQL(x, y, eps2, &budget) {
			return false
		}
	}
	slices.Sort(d[:n])
	return true
}

// rationalQL is the iteration of an unreduced matrix, whose off-diagonal is given by its squares e.
func rationalQL(d, e []float64, eps2 float64, budget *int) bool {
	last := len(d) - 1
	for l := 0; l <= last; {
		m := l
		for ; m < last; m++ {
			if math.Abs(e[m]) <= eps2*math.Abs(d[m]*d[m+1]) {
				e[m] = 0
				break
			}
		}
		switch m {
		case l:
			l++
			continue
		case l + 1:
			d[l], d[l+1], _, _ = symmetric2(d[l], math.Sqrt(e[l]), d[l+1])
			e[l] = 0
			l += 2
			continue
		}
		if *budget--; *budget < 0 {
			return false
		}
		p := d[l]
		root := math.Sqrt(e[l])
		shift := (d[l+1] - p) / (2 * root)
		shift = p - root/(shift+math.Copysign(hypot(shift, 1), shift))
		c, s := 1.0, 0.0
		gamma := d[m] - shift
		p = gamma * gamma
		for i := m - 1; i >= l; i-- {
			b := e[i]
			r := p + b
			if i != m-1 {
				e[i+1] = s * r
			}
			oldC := c
			c, s = p/r, b/r
			oldGamma := gamma
			alpha := d[i]
			gamma = c*(alpha-shift) - s*oldGamma
			d[i+1] = oldGamma + (alpha - gamma)
			if c != 0 {
				p = gamma * gamma / c
			} else {
				p = oldC * b
			}
		}
		e[l] = s * p
		d[l] = shift + gamma
	}
	return true
}

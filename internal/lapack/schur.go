package lapack

import "math"

// schurReal makes the Hessenberg matrix h, which is reduced outside rows and columns lo…hi, quasi-triangular by QR
// steps with double shifts (Francis 1961; LAPACK's xLAHQR). wr and wi become the eigenvalues. z, unless nil, is
// multiplied by the transformations; without it only the eigenvalues are right. It reports whether the iteration
// converged.
func schurReal(h []float64, n, lo, hi int, wr, wi, z []float64, eps float64) bool {
	at := func(i, j int) *float64 { return &h[i*n+j] }
	for i := range n {
		if i < lo || i > hi {
			wr[i], wi[i] = *at(i, i), 0
		}
	}
	ulp := 2 * eps
	small := 0x1p-1022 * (float64(hi-lo+1) / ulp)
	i1, i2 := 0, n-1
	deflate := 0
	for i := hi; i >= lo; {
		l, converged := lo, false
		for range 30*max(10, hi-lo+1) + 1 {
			l = splitReal(h, n, l, i, lo, hi, small, ulp)
			if l > lo {
				*at(l, l-1) = 0
			}
			if l >= i-1 {
				converged = true
				break
			}
			deflate++
			if z == nil {
				i1, i2 = l, i
			}
			var h11, h12, h21, h22 float64
			switch {
			case deflate%20 == 0:
				s := math.Abs(*at(i, i-1)) + math.Abs(*at(i-1, i-2))
				h11 = 0.75*s + *at(i, i)
				h12, h21, h22 = -0.4375*s, s, h11
			case deflate%10 == 0:
				s := math.Abs(*at(l+1, l)) + math.Abs(*at(l+2, l+1))
				h11 = 0.75*s + *at(l, l)
				h12, h21, h22 = -0.4375*s, s, h11
			default:
				h11, h12, h21, h22 = *at(i-1, i-1), *at(i-1, i), *at(i, i-1), *at(i, i)
			}
			francis(h, n, l, i, i1, i2, h11, h12, h21, h22, ulp, z)
		}
		if !converged {
			return false
		}
		if l == i {
			wr[i], wi[i] = *at(i, i), 0
		} else {
			c, s := standard2(at(i-1, i-1), at(i-1, i), at(i, i-1), at(i, i), &wr[i-1], &wi[i-1], &wr[i], &wi[i], eps)
			if z != nil {
				rotateRows(h[(i-1)*n+i+1:i*n], h[i*n+i+1:(i+1)*n], c, s)
				turnColumns(h, n, 0, i-1, i-1, c, s)
				turnColumns(z, n, 0, n, i-1, c, s)
			}
		}
		deflate = 0
		i = l - 1
	}
	return true
}

// turnColumns rotates columns j and j+1 in rows from…to-1.
func turnColumns(h []float64, n, from, to, j int, c, s float64) {
	for r := from; r < to; r++ {
		x, y := h[r*n+j], h[r*n+j+1]
		h[r*n+j], h[r*n+j+1] = c*x+s*y, c*y-s*x
	}
}

// splitReal finds the row of the lowest subdiagonal element of rows l…i that may be taken as zero, l if there is none,
// by the criterion of Ahues and Tisseur (1997, A new deflation criterion for the QR algorithm).
func splitReal[E Element](h []E, n, l, i, lo, hi int, small, ulp float64) int {
	at := func(i, j int) E { return h[i*n+j] }
	k := i
	for ; k > l; k-- {
		sub := Abs1(at(k, k-1))
		if sub <= small {
			break
		}
		t := Abs1(at(k-1, k-1)) + Abs1(at(k, k))
		if t == 0 {
			if k-2 >= lo {
				t += math.Abs(Re(at(k-1, k-2)))
			}
			if k+1 <= hi {
				t += math.Abs(Re(at(k+1, k)))
			}
		}
		if math.Abs(Re(at(k, k-1))) <= ulp*t {
			up := Abs1(at(k-1, k))
			ab, ba := math.Max(sub, up), math.Min(sub, up)
			d, diff := Abs1(at(k, k)), Abs1(at(k-1, k-1)-at(k, k))
			aa, bb := math.Max(d, diff), math.Min(d, diff)
			s := aa + ab
			if ba*(ab/s) <= math.Max(small, ulp*(bb*(aa/s))) {
				break
			}
		}
	}
	return k
}

// francis is one QR step on rows and columns l…i with the eigenvalues of [h11 h12; h21 h22] as shifts, in the rows from
// i1 and the columns to i2.
func francis(h []float64, n, l, i, i1, i2 int, h11, h12, h21, h22, ulp float64, z []float64) {
	at := func(i, j int) *float64 { return &h[i*n+j] }
	abs := math.Abs
	var r1r, r1i, r2r, r2i float64
	if s := abs(h11) + abs(h12) + abs(h21) + abs(h22); s != 0 {
		h11, h12, h21, h22 = h11/s, h12/s, h21/s, h22/s
		tr := (h11 + h22) / 2
		det := (h11-tr)*(h22-tr) - h12*h21
		root := math.Sqrt(abs(det))
		if det >= 0 {
			r1r, r2r, r1i, r2i = tr*s, tr*s, root*s, -root*s
		} else {
			r1r, r2r = tr+root, tr-root
			if abs(r1r-h22) <= abs(r2r-h22) {
				r1r *= s
				r2r = r1r
			} else {
				r2r *= s
				r1r = r2r
			}
		}
	}
	var v [3]float64
	m := i - 2
	for ; ; m-- {
		sub := abs(*at(m+1, m))
		s := abs(*at(m, m)-r2r) + abs(r2i) + sub
		sub = *at(m+1, m) / s
		v[0] = sub**at(m, m+1) + (*at(m, m)-r1r)*((*at(m, m)-r2r)/s) - r1i*(r2i/s)
		v[1] = sub * (*at(m, m) + *at(m+1, m+1) - r1r - r2r)
		v[2] = sub * *at(m+2, m+1)
		s = abs(v[0]) + abs(v[1]) + abs(v[2])
		v[0], v[1], v[2] = v[0]/s, v[1]/s, v[2]/s
		if m == l || abs(*at(m, m-1))*(abs(v[1])+abs(v[2])) <=
			ulp*abs(v[0])*(abs(*at(m-1, m-1))+abs(*at(m, m))+abs(*at(m+1, m+1))) {
			break
		}
	}
	for k := m; k < i; k++ {
		nr := min(3, i-k+1)
		if k > m {
			for r := range nr {
				v[r] = *at(k+r, k-1)
			}
		}
		t1 := reflector(&v[0], v[1:], nr-1, 1)
		if k > m {
			*at(k, k-1), *at(k+1, k-1) = v[0], 0
			if k < i-1 {
				*at(k+2, k-1) = 0
			}
		} else if m > l {
			*at(k, k-1) *= 1 - t1
		}
		v2, t2 := v[1], t1*v[1]
		v3, t3 := 0.0, 0.0
		if nr == 3 {
			v3, t3 = v[2], t1*v[2]
		}
		reflectColumns := func(x []float64, from, to int) {
			for r := from; r < to; r++ {
				y := x[r*n+k:][:nr]
				if nr == 3 {
					s := y[0] + v2*y[1] + v3*y[2]
					y[0], y[1], y[2] = y[0]-s*t1, y[1]-s*t2, y[2]-s*t3
				} else {
					s := y[0] + v2*y[1]
					y[0], y[1] = y[0]-s*t1, y[1]-s*t2
				}
			}
		}
		if nr == 3 {
			a, b, c := h[k*n+k:k*n+i2+1], h[(k+1)*n+k:(k+1)*n+i2+1], h[(k+2)*n+k:(k+2)*n+i2+1]
			for j, x := range a {
				s := x + v2*b[j] + v3*c[j]
				a[j], b[j], c[j] = x-s*t1, b[j]-s*t2, c[j]-s*t3
			}
		} else {
			a, b := h[k*n+k:k*n+i2+1], h[(k+1)*n+k:(k+1)*n+i2+1]
			for j, x := range a {
				s := x + v2*b[j]
				a[j], b[j] = x-s*t1, b[j]-s*t2
			}
		}
		reflectColumns(h, i1, min(k+3, i)+1)
		if z != nil {
			reflectColumns(z, 0, n)
		}
	}
}

// standard2 turns the 2×2 block a b c d into standard form, upper triangular or with equal diagonal elements, and gives
// its eigenvalues and the rotation, as LAPACK's xLANV2.
func standard2(a, b, c, d, wr1, wi1, wr2, wi2 *float64, eps float64) (cs, sn float64) {
	sign := func(x float64) float64 { return math.Copysign(1, x) }
	cs, sn = 1, 0
	switch {
	case *c == 0:
	case *b == 0:
		cs, sn = 0, 1
		*a, *d = *d, *a
		*b, *c = -*c, 0
	case *a-*d == 0 && sign(*b) != sign(*c):
	default:
		temp := *a - *d
		p := 0.5 * temp
		bcmax := math.Max(math.Abs(*b), math.Abs(*c))
		bcmis := math.Min(math.Abs(*b), math.Abs(*c)) * sign(*b) * sign(*c)
		scale := math.Max(math.Abs(p), bcmax)
		z := p/scale*p + bcmax/scale*bcmis
		if z >= 4*2*eps { // real
			z = p + math.Copysign(math.Sqrt(scale)*math.Sqrt(z), p)
			*a = *d + z
			*d -= bcmax / z * bcmis
			tau := math.Hypot(*c, z)
			cs, sn = z/tau, *c/tau
			*b -= *c
			*c = 0
			break
		}
		sigma := *b + *c // complex, or real and nearly equal
		tau := math.Hypot(sigma, temp)
		cs = math.Sqrt(0.5 * (1 + math.Abs(sigma)/tau))
		sn = -(p / (tau * cs)) * sign(sigma)
		aa, bb, cc, dd := *a*cs+*b*sn, -*a*sn+*b*cs, *c*cs+*d*sn, -*c*sn+*d*cs
		*a, *b, *c, *d = aa*cs+cc*sn, bb*cs+dd*sn, -aa*sn+cc*cs, -bb*sn+dd*cs
		temp = 0.5 * (*a + *d)
		*a, *d = temp, temp
		if *c == 0 {
			break
		}
		if *b == 0 {
			*b, *c = -*c, 0
			cs, sn = -sn, cs
			break
		}
		if sign(*b) == sign(*c) { // real after all
			sab, sac := math.Sqrt(math.Abs(*b)), math.Sqrt(math.Abs(*c))
			p = math.Copysign(sab*sac, *c)
			tau = 1 / math.Sqrt(math.Abs(*b+*c))
			*a, *d = temp+p, temp-p
			*b -= *c
			*c = 0
			c1, s1 := sab*tau, sac*tau
			cs, sn = cs*c1-sn*s1, cs*s1+sn*c1
		}
	}
	*wr1, *wr2, *wi1, *wi2 = *a, *d, 0, 0
	if *c != 0 {
		*wi1 = math.Sqrt(math.Abs(*b)) * math.Sqrt(math.Abs(*c))
		*wi2 = -*wi1
	}
	return cs, sn
}

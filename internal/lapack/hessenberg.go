package lapack

import "math"

// balance permutes and scales the n×n matrix a by powers of two so that rows and columns have similar norms (Parlett
// and Reinsch 1969, Balancing a matrix for calculation of eigenvalues and eigenvectors; LAPACK's xGEBAL). Only rows and
// columns lo…hi are left to reduce. undo turns eigenvectors of the balanced matrix, the columns of the n×n matrix v,
// into those of a.
func balance[E Element](a []E, n int) (lo, hi int, undo func(v []E)) {
	lo, hi = 0, n-1
	by := make([]float64, n)
	at := func(i, j int) *E { return &a[i*n+j] }
	exchange := func(j, m int) {
		by[m] = float64(j)
		if j == m {
			return
		}
		for i := 0; i <= hi; i++ {
			x, y := at(i, j), at(i, m)
			*x, *y = *y, *x
		}
		for i := lo; i < n; i++ {
			x, y := at(j, i), at(m, i)
			*x, *y = *y, *x
		}
	}
	for again := true; again && hi > 0; { // rows that isolate an eigenvalue go down
		again = false
		for j := hi; j >= 0 && !again; j-- {
			zero := true
			for i := 0; i <= hi && zero; i++ {
				zero = i == j || *at(j, i) == 0
			}
			if zero {
				exchange(j, hi)
				hi--
				again = true
			}
		}
	}
	for again := hi > 0; again; { // columns go to the left
		again = false
		for j := lo; j <= hi && !again; j++ {
			zero := true
			for i := lo; i <= hi && zero; i++ {
				zero = i == j || *at(i, j) == 0
			}
			if zero {
				exchange(j, lo)
				lo++
				again = true
			}
		}
	}
	for i := lo; i <= hi; i++ {
		by[i] = 1
	}
	const least, most = 0x1p-960, 0x1p960
	for again := true; again; {
		again = false
		for i := lo; i <= hi; i++ {
			c, r, ca, ra := 0.0, 0.0, 0.0, 0.0
			for j := lo; j <= hi; j++ {
				c, r = math.Hypot(c, Abs(*at(j, i))), math.Hypot(r, Abs(*at(i, j)))
			}
			for j := 0; j <= hi; j++ {
				ca = math.Max(ca, Abs(*at(j, i)))
			}
			for j := lo; j < n; j++ {
				ra = math.Max(ra, Abs(*at(i, j)))
			}
			if c == 0 || r == 0 || math.IsNaN(c+r) {
				continue
			}
			g, f, s := r/2, 1.0, c+r
			for c < g && max(f, c, ca) < most && min(r, g, ra) > least {
				f, c, ca = f*2, c*2, ca*2
				r, g, ra = r/2, g/2, ra/2
			}
			g = c / 2
			for g >= r && max(r, ra) < most && min(f, c, g, ca) > least {
				f, c, g, ca = f/2, c/2, g/2, ca/2
				r, ra = r*2, ra*2
			}
			if c+r >= 0.95*s || f < 1 && by[i] < 1 && f*by[i] <= least || f > 1 && by[i] > 1 && by[i] >= most/f {
				continue
			}
			by[i] *= f
			again = true
			scale(a[i*n+lo:(i+1)*n], Num[E](1/f))
			for j := 0; j <= hi; j++ {
				*at(j, i) *= Num[E](f)
			}
		}
	}
	return lo, hi, func(v []E) {
		for i := lo; i <= hi; i++ {
			scale(v[i*n:(i+1)*n], Num[E](by[i]))
		}
		back := func(i int) {
			if k := int(by[i]); k != i {
				x, y := v[i*n:(i+1)*n], v[k*n:(k+1)*n]
				for j, t := range x {
					x[j], y[j] = y[j], t
				}
			}
		}
		for i := lo - 1; i >= 0; i-- {
			back(i)
		}
		for i := hi + 1; i < n; i++ {
			back(i)
		}
	}
}

// hessenberg reduces rows and columns lo…hi of the n×n matrix a to Hessenberg form by reflections; z, unless nil,
// becomes the product of the reflections.
func hessenberg[E Element](a []E, n, lo, hi int, z []E) {
	tau, w := make([]E, n), make([]E, 3*n)
	v := make([]E, n)
	for i := lo; i < hi; i++ {
		m := hi - i
		col := a[(i+1)*n+i:]
		var rest []E
		if m > 1 {
			rest = col[n:]
		}
		tau[i] = reflector(&col[0], rest, m-1, n)
		for j := 1; j < m; j++ {
			v[j] = col[j*n]
		}
		reflectRight(a[i+1:], hi+1, m, n, v, 1, tau[i], w)
		reflectLeft(a[(i+1)*n+i+1:], m, n-i-1, n, v, 1, Conj(tau[i]), w)
	}
	if z != nil {
		identity(z, n, n, n)
		if k := hi - lo; k > 0 {
			ApplyQ(a[(lo+1)*n+lo:], n, tau[lo:hi], z[(lo+1)*n+lo+1:], k, k, n, false)
		}
	}
	for i := 2; i < n; i++ {
		clear(a[i*n : i*n+i-1])
	}
}

package lapack

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// divideBidiagonal makes the upper bidiagonal matrix with diagonal d and off-diagonal e diagonal, with descending d ≥
// 0; the left and the right singular vectors become the rows of the n×n matrices ut and vt. The matrix without one row
// is two smaller ones, whose singular values are the poles of the secular equation of the whole (M. Gu and S. Eisenstat
// 1995, A divide-and-conquer algorithm for the bidiagonal SVD; LAPACK's xBDSDC).
func divideBidiagonal[R Real](d, e []float64, vt, ut []R, n int, eps float64) bool {
	identity(ut, n, n, n)
	identity(vt, n, n, n)
	if n == 1 { // here the left vector takes the sign
		ut[0] = R(math.Copysign(1, d[0]))
		d[0] = math.Abs(d[0])
		return true
	}
	if n <= leaf {
		return bidiagonalSVD(d, e, vt, ut, n, eps)
	}
	largest := 0.0
	for i, x := range d[:n] {
		largest = math.Max(largest, math.Abs(x))
		if i < n-1 {
			largest = math.Max(largest, math.Abs(e[i]))
		}
	}
	if largest == 0 {
		return true
	}
	scale(d[:n], 1/largest)
	scale(e[:n-1], 1/largest)
	tiny := eps * 0.9
	for i, x := range d[:n] {
		if math.Abs(x) < tiny {
			d[i] = math.Copysign(tiny, x)
		}
	}
	order := make([]int, n)
	for start := 0; start < n; {
		end := start
		for end < n-1 && math.Abs(e[end]) >= tiny {
			end++
		}
		t := bidiagonalTree[R]{d: d[start:], e: e[start:], ut: ut[start*n+start:], vt: vt[start*n+start:], ld: n,
			eps: eps, order: order[start:]}
		if !t.solve(end - start + 1) {
			return false
		}
		start = end + 1
	}
	scale(d[:n], largest)
	for i := range n - 1 { // into descending order by selection
		k := i
		for j := i + 1; j < n; j++ {
			if d[j] > d[k] {
				k = j
			}
		}
		if k != i {
			d[i], d[k] = d[k], d[i]
			swapTwo(ut, i, k, n)
			swapTwo(vt, i, k, n)
		}
	}
	return true
}

// swapTwo exchanges two rows of n elements.
func swapTwo[E Element](a []E, i, k, n int) {
	x, y := a[i*n:(i+1)*n], a[k*n:(k+1)*n]
	for j, v := range x {
		x[j], y[j] = y[j], v
	}
}

// bidiagonalTree is a problem that is divided.
type bidiagonalTree[R Real] struct {
	d, e   []float64
	ut, vt []R
	ld     int
	eps    float64
	order  []int // of each part: the places of its singular values in ascending order
}

// halves is a part of left + 1 + right rows from a row on, and of one column more if wide.
type halves struct {
	from, left, right int
	wide              bool
}

func (t *bidiagonalTree[R]) solve(n int) bool {
	if n <= leaf {
		return t.leaf(0, n, false)
	}
	levels := [][]halves{{{0, n / 2, n - n/2 - 1, false}}}
	for range int(math.Log2(float64(n) / (leaf + 1))) {
		var next []halves
		for _, h := range levels[len(levels)-1] {
			l, r := h.left, h.right
			next = append(next, halves{h.from, l / 2, l - l/2 - 1, true},
				halves{h.from + l + 1, r / 2, r - r/2 - 1, h.wide})
		}
		levels = append(levels, next)
	}
	last := levels[len(levels)-1]
	ok := make([]bool, 2*len(last))
	par.For(len(ok), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			h := last[i/2]
			if i%2 == 0 {
				ok[i] = t.leaf(h.from, h.left, true)
			} else {
				ok[i] = t.leaf(h.from+h.left+1, h.right, h.wide)
			}
		}
	})
	for _, o := range ok {
		if !o {
			return false
		}
	}
	for l := len(levels) - 1; l > 0; l-- {
		par.For(len(levels[l]), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				t.merge(levels[l][i])
			}
		})
	}
	t.merge(levels[0][0])
	return true
}

// leaf solves the part of n rows at from, which has one column more if wide (LAPACK's xLASDQ).
func (t *bidiagonalTree[R]) leaf(from, n int, wide bool) bool {
	d, m := t.d[from:from+n], n
	if wide {
		m++
	}
	e := make([]float64, n)
	copy(e, t.e[from:from+m-1])
	ut, vt := make([]R, n*n), make([]R, m*m)
	identity(ut, n, n, n)
	identity(vt, m, m, m)
	if wide { // to a square lower bidiagonal matrix by rotations from the right, and to an upper one from the left
		var c, s float64
		for i := range n {
			c, s, d[i] = rotation(d[i], e[i])
			e[i] = 0
			if i+1 < n {
				e[i] = s * d[i+1]
				d[i+1] *= c
			}
			rotateRows(vt[i*m:(i+1)*m], vt[(i+1)*m:(i+2)*m], c, s)
		}
		for i := range n - 1 {
			c, s, d[i] = rotation(d[i], e[i])
			e[i] = s * d[i+1]
			d[i+1] *= c
			rotateRows(ut[i*n:(i+1)*n], ut[(i+1)*n:(i+2)*n], c, s)
		}
	}
	if n > 0 && !bidiagonalSVD(d, e, vt[:n*m], ut, n, t.eps) {
		return false
	}
	for i := range n {
		copy(t.ut[(from+i)*t.ld+from:][:n], ut[i*n:(i+1)*n])
		t.order[from+i] = n - 1 - i
	}
	for i := range m {
		copy(t.vt[(from+i)*t.ld+from:][:m], vt[i*m:(i+1)*m])
	}
	return true
}

// merge joins the two parts of h by the row between them (LAPACK's xLASD1 to xLASD3).
func (t *bidiagonalTree[R]) merge(h halves) {
	f, nl, ld := h.from, h.left, t.ld
	n := nl + 1 + h.right
	m := n
	if h.wide {
		m++
	}
	d, order := t.d[f:f+n], t.order[f:f+n]
	u, v := t.ut[f*ld+f:], t.vt[f*ld+f:]
	alpha, beta := d[nl], t.e[f+nl]
	d[nl] = 0
	norm := math.Max(math.Abs(alpha), math.Abs(beta))
	for _, x := range d {
		norm = math.Max(norm, math.Abs(x))
	}
	scale(d, 1/norm)
	alpha, beta = alpha/norm, beta/norm
	z := make([]float64, m)
	for i := range z {
		if i <= nl {
			z[i] = alpha * float64(v[i*ld+nl])
		} else {
			z[i] = beta * float64(v[i*ld+nl+1])
		}
	}
	for i := nl + 1; i < n; i++ {
		order[i] += nl + 1
	}
	sorted := mergeOrder(d, order[:nl], order[nl+1:])
	tol := 8 * t.eps * math.Max(d[sorted[len(sorted)-1]], math.Max(math.Abs(alpha), math.Abs(beta)))
	s := splitProblem{kind: make([]int, n), rest: make([]int, n), end: n}
	for i := nl + 1; i < n; i++ {
		s.kind[i] = lowerHalf
	}
	before := -1
	for _, j := range sorted {
		switch {
		case math.Abs(z[j]) <= tol:
			s.deflate(j)
		case before >= 0 && math.Abs(d[j]-d[before]) <= tol:
			sn, cs := z[before], z[j]
			tau := hypot(cs, sn)
			cs, sn = cs/tau, -sn/tau
			z[j], z[before] = tau, 0
			rotateRows(u[before*ld:][:n], u[j*ld:][:n], cs, sn)
			rotateRows(v[before*ld:][:m], v[j*ld:][:m], cs, sn)
			if s.kind[j] != s.kind[before] {
				s.kind[j] = both
			}
			s.deflate(before)
			before = j
		default:
			if before >= 0 {
				s.keep = append(s.keep, before)
			}
			before = j
		}
	}
	if before >= 0 {
		s.keep = append(s.keep, before)
	}
	// The middle row: its right vector, of which there are two if wide, one for the rest.
	first := make([]R, m)
	copy(first, v[nl*ld:][:m])
	z0 := z[nl]
	if h.wide {
		last := v[n*ld:][:m]
		c, sn := 1.0, 0.0
		if z0 = hypot(z[nl], z[n]); z0 <= tol {
			z0 = tol
		} else {
			c, sn = z[nl]/z0, z[n]/z0
		}
		for i := range m {
			if i <= nl {
				last[i], first[i] = R(-sn)*first[i], R(c)*first[i]
			} else {
				first[i], last[i] = R(sn)*last[i], R(c)*last[i]
			}
		}
	} else if math.Abs(z0) <= tol {
		z0 = tol
	}
	t.update(&s, d, z, z0, tol/2, u, v, first, n, m, nl)
	scale(d, norm)
	place := make([]int, n)
	for i := range place {
		place[i] = i
	}
	k := len(s.keep) + 1
	for i, j := k, n-1; i < j; i, j = i+1, j-1 { // the deflated ones are in descending order
		place[i], place[j] = place[j], place[i]
	}
	copy(order, mergeOrder(d, place[:k], place[k:]))
}

// update solves the secular equation of the kept values, with 0 in front of them, and multiplies the vectors.
func (t *bidiagonalTree[R]) update(s *splitProblem, d, z []float64, z0, least float64, u, v, first []R, n, m, nl int) {
	ld, k := t.ld, len(s.keep)+1
	nr, mr := n-nl-1, m-nl-1
	poles, w, pos := make([]float64, k), make([]float64, k), make([]int, k)
	w[0] = z0
	var count [3]int
	for i, j := range s.keep {
		poles[i+1], w[i+1] = d[j], z[j]
		count[s.kind[j]]++
	}
	if k > 1 && math.Abs(poles[1]) <= least {
		poles[1] = least
	}
	// Rows in the order upper, the first one, both, lower, without the parts that are zero.
	n12, n23 := count[upper]+1+count[both], 1+count[both]+count[lowerHalf]
	topU, bottomU := make([]R, n12*nl), make([]R, n23*nr)
	topV, bottomV := make([]R, n12*(nl+1)), make([]R, n23*mr)
	pos[0] = count[upper]
	next := [3]int{0, count[upper] + 1, n12}
	copy(topV[pos[0]*(nl+1):][:nl+1], first)
	copy(bottomV, first[nl+1:])
	for i, j := range s.keep {
		kind := s.kind[j]
		p := next[kind]
		next[kind]++
		pos[i+1] = p
		if kind != lowerHalf {
			copy(topU[p*nl:(p+1)*nl], u[j*ld:][:nl])
			copy(topV[p*(nl+1):(p+1)*(nl+1)], v[j*ld:][:nl+1])
		}
		if q := p - count[upper]; kind != upper {
			copy(bottomU[q*nr:(q+1)*nr], u[j*ld+nl+1:][:nr])
			copy(bottomV[q*mr:(q+1)*mr], v[j*ld+nl+1:][:mr])
		}
	}
	rest := s.rest[s.end:]
	keptU, keptV, values := make([]R, len(rest)*n), make([]R, len(rest)*m), make([]float64, len(rest))
	for i, j := range rest {
		copy(keptU[i*n:(i+1)*n], u[j*ld:][:n])
		copy(keptV[i*m:(i+1)*m], v[j*ld:][:m])
		values[i] = d[j]
	}
	if k == 1 {
		d[0] = math.Abs(z0)
		clear(u[:n])
		u[nl] = 1
		if z0 <= 0 {
			u[nl] = -1
		}
		copy(v[:m], first)
	} else {
		x, y := t.vectors(poles, w, d, pos)
		mul(k, nl, n12, 1, x, k, 1, topU, nl, 1, 0, u, ld, 1)
		mul(k, nr, n23, 1, x[pos[0]:], k, 1, bottomU, nr, 1, 0, u[nl+1:], ld, 1)
		for i := range k {
			u[i*ld+nl] = x[i*k+pos[0]]
		}
		mul(k, nl+1, n12, 1, y, k, 1, topV, nl+1, 1, 0, v, ld, 1)
		if mr > 0 {
			mul(k, mr, n23, 1, y[pos[0]:], k, 1, bottomV, mr, 1, 0, v[nl+1:], ld, 1)
		}
	}
	for i, x := range values {
		d[k+i] = x
		copy(u[(k+i)*ld:][:n], keptU[i*n:(i+1)*n])
		copy(v[(k+i)*ld:][:m], keptV[i*m:(i+1)*m])
	}
}

// vectors gives the singular values, in values, and left and right singular vectors, as rows with element i at place
// pos[i], of the matrix with w in its first row and otherwise the poles on its diagonal. As in tridiagonalTree.vectors,
// the vectors are those of a w that has the computed values exactly.
func (t *bidiagonalTree[R]) vectors(poles, w, values []float64, pos []int) (left, right []R) {
	k := len(poles)
	rho := 0.0
	for _, x := range w {
		rho += x * x
	}
	unit := make([]float64, k)
	for i, x := range w {
		unit[i] = x / math.Sqrt(rho)
	}
	q := secular{z: unit, rhoInv: 1 / rho, eps: math.Min(t.eps, 0x1p-30), gaps: func(base int, p []float64) {
		from := poles[base]
		for j, x := range poles {
			p[j] = (x - from) * (x + from)
		}
	}}
	distance, found := make([]float64, k*k), make([]float64, k)
	grain := max(1, 1<<13/k)
	par.For(k, grain, func(lo, hi int) {
		t := make([]float64, k)
		for i := lo; i < hi; i++ {
			p := distance[i*k : (i+1)*k]
			base, x := q.root(i, p, t)
			b := poles[base]
			found[i] = b + x/(b+math.Sqrt(math.Max(b*b+x, 0)))
			for j := range p {
				p[j] -= x
			}
		}
	})
	copy(values, found)
	z := make([]float64, k)
	par.For(k, max(8, grain), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			z[i] = distance[i*k+i]
		}
		x, f, g := z[lo:hi], make([]float64, hi-lo), make([]float64, hi-lo)
		for j := range k { // times p[i]/(poles[i]²-poles[j]²), except for i = j
			vec.AddScalarF64(f, poles[lo:hi], -poles[j])
			vec.AddScalarF64(g, poles[lo:hi], poles[j])
			vec.MulF64(f, f, g)
			vec.DivF64(f, distance[j*k+lo:j*k+hi], f)
			if lo <= j && j < hi {
				f[j-lo] = 1
			}
			vec.MulF64(x, x, f)
		}
		for i := lo; i < hi; i++ {
			z[i] = math.Copysign(math.Sqrt(math.Abs(z[i])), unit[i])
		}
	})
	left, right = make([]R, k*k), make([]R, k*k)
	par.For(k, grain, func(lo, hi int) {
		l := make([]float64, k)
		for j := lo; j < hi; j++ {
			p, x, y := distance[j*k:(j+1)*k], left[j*k:(j+1)*k], right[j*k:(j+1)*k]
			vec.DivF64(p, z, p)
			vec.MulF64(l, p, poles)
			l[0] = -1
			fl, fr := 1/math.Sqrt(vec.DotF64(l, l)), 1/math.Sqrt(vec.DotF64(p, p))
			for i, v := range p {
				x[pos[i]], y[pos[i]] = R(l[i]*fl), R(v*fr)
			}
		}
	})
	return left, right
}

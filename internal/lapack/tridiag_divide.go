package lapack

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// leaf is the size of problems that are not divided.
const leaf = 25

// divideTridiagonal makes the tridiagonal matrix with diagonal d and off-diagonal e diagonal, with ascending d; the
// eigenvectors become the rows of the n×n matrix z. The matrix is torn into two by a change of rank one, again and
// again, and the eigenvalues of the halves are the poles of the secular equation of the whole (J. Cuppen 1981, A divide
// and conquer method for the symmetric tridiagonal eigenproblem; M. Gu and S. Eisenstat 1995, A divide-and-conquer
// algorithm for the symmetric tridiagonal eigenproblem; LAPACK's xSTEDC).
func divideTridiagonal[R Real](d, e []float64, z []R, n int, eps float64) bool {
	identity(z, n, n, n)
	if n <= leaf {
		return implicitQL(d, e, z, n, eps)
	}
	for start := 0; start < n; {
		end := start
		for ; end < n-1; end++ {
			if math.Abs(e[end]) <= eps*math.Sqrt(math.Abs(d[end]))*math.Sqrt(math.Abs(d[end+1])) {
				break
			}
		}
		m := end - start + 1
		at := z[start*n+start:]
		switch {
		case m == 1:
		case m <= leaf:
			if !solveLeaf(d[start:end+1], e[start:end], at, n, eps) {
				return false
			}
		default:
			largest := 0.0
			for i := start; i <= end; i++ {
				largest = math.Max(largest, math.Abs(d[i]))
				if i < end {
					largest = math.Max(largest, math.Abs(e[i]))
				}
			}
			t := tridiagonalTree[R]{d: d[start : end+1], e: e[start:end], z: at, ld: n, eps: eps,
				order: make([]int, m)}
			scale(t.d, 1/largest)
			scale(t.e, 1/largest)
			if !t.solve() {
				return false
			}
			scale(t.d, largest)
		}
		start = end + 1
	}
	sortRows(d, z, n)
	return true
}

// sortRows sorts d in ascending order by selection, and the rows of z with it.
func sortRows[R Real](d []float64, z []R, n int) {
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
}

// solveLeaf is implicitQL for a part of a larger matrix z.
func solveLeaf[R Real](d, e []float64, z []R, ld int, eps float64) bool {
	m := len(d)
	t, off := make([]R, m*m), make([]float64, m)
	copy(off, e[:m-1])
	identity(t, m, m, m)
	ok := implicitQL(d, off, t, m, eps)
	for i := range m {
		copy(z[i*ld:][:m], t[i*m:(i+1)*m])
	}
	return ok
}

// tridiagonalTree is a problem that is divided.
type tridiagonalTree[R Real] struct {
	d, e  []float64
	z     []R
	ld    int
	eps   float64
	order []int // of each part: the places of its eigenvalues in ascending order
}

func (t *tridiagonalTree[R]) solve() bool {
	n := len(t.d)
	sizes := []int{n}
	for sizes[len(sizes)-1] > leaf {
		var next []int
		for _, s := range sizes {
			next = append(next, s/2, (s+1)/2)
		}
		sizes = next
	}
	at := 0
	for _, s := range sizes[:len(sizes)-1] {
		at += s
		t.d[at-1] -= math.Abs(t.e[at-1])
		t.d[at] -= math.Abs(t.e[at-1])
	}
	starts := make([]int, len(sizes)+1)
	for i, s := range sizes {
		starts[i+1] = starts[i] + s
	}
	ok := make([]bool, len(sizes))
	par.For(len(sizes), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from, to := starts[i], starts[i+1]
			ok[i] = solveLeaf(t.d[from:to], t.e[from:to-1], t.z[from*t.ld+from:], t.ld, t.eps)
			for j := range to - from {
				t.order[from+j] = j
			}
		}
	})
	for _, o := range ok {
		if !o {
			return false
		}
	}
	for len(starts) > 2 {
		merge := func(i int) { t.merge(starts[i], starts[i+1], starts[i+2]) }
		if pairs := (len(starts) - 1) / 2; pairs == 1 {
			merge(0)
		} else {
			par.For(pairs, 1, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					merge(2 * i)
				}
			})
		}
		half := starts[:0]
		for i := 0; i < len(starts); i += 2 {
			half = append(half, starts[i])
		}
		starts = half
	}
	// into ascending order
	sorted, rows := make([]float64, n), make([]R, n*n)
	for i, o := range t.order {
		sorted[i] = t.d[o]
		copy(rows[i*n:(i+1)*n], t.z[o*t.ld:][:n])
	}
	copy(t.d, sorted)
	for i := range n {
		copy(t.z[i*t.ld:][:n], rows[i*n:(i+1)*n])
	}
	return true
}

// Where the vectors of a merged problem have elements other than zero.
const (
	upper = iota
	both
	lowerHalf
	deflated
)

// merge joins the parts from…mid and mid…to (LAPACK's xLAED1 to xLAED3). Eigenvalues whose vectors do not change
// ("deflated") are left alone: those with a tiny element of z, and one of two that are nearly equal.
func (t *tridiagonalTree[R]) merge(from, mid, to int) {
	n, n1 := to-from, mid-from
	d, z, ld, order := t.d[from:to], t.z[from*t.ld+from:], t.ld, t.order[from:to]
	rho := t.e[mid-1]
	v := make([]float64, n)
	sign := 1.0
	if rho < 0 {
		sign = -1
	}
	for i := range n {
		if i < n1 {
			v[i] = float64(z[i*ld+n1-1]) * math.Sqrt2 / 2
		} else {
			v[i] = float64(z[i*ld+n1]) * sign * math.Sqrt2 / 2
		}
	}
	rho = math.Abs(2 * rho)
	for i := n1; i < n; i++ {
		order[i] += n1
	}
	sorted := mergeOrder(d, order[:n1], order[n1:])
	largestZ, largestD := 0.0, 0.0
	for i := range n {
		largestZ, largestD = math.Max(largestZ, math.Abs(v[i])), math.Max(largestD, math.Abs(d[i]))
	}
	tol := 8 * t.eps * math.Max(largestD, largestZ)
	s := splitProblem{kind: make([]int, n), rest: make([]int, n), end: n}
	for i := n1; i < n; i++ {
		s.kind[i] = lowerHalf
	}
	if rho*largestZ > tol {
		before := -1
		for _, j := range sorted {
			if rho*math.Abs(v[j]) <= tol {
				s.deflate(j)
				continue
			}
			if before < 0 {
				before = j
				continue
			}
			sn, cs := v[before], v[j]
			tau := math.Hypot(cs, sn)
			gap := d[j] - d[before]
			cs, sn = cs/tau, -sn/tau
			if math.Abs(gap*cs*sn) > tol {
				s.keep = append(s.keep, before)
				before = j
				continue
			}
			v[j], v[before] = tau, 0
			if s.kind[j] != s.kind[before] {
				s.kind[j] = both
			}
			rotateRows(z[before*ld:][:n], z[j*ld:][:n], cs, sn)
			d[before], d[j] = d[before]*cs*cs+d[j]*sn*sn, d[before]*sn*sn+d[j]*cs*cs
			s.deflateSorted(before, d)
			before = j
		}
		s.keep = append(s.keep, before)
	} else { // in descending order
		for i := n - 1; i >= 0; i-- {
			s.rest[n-1-i] = sorted[i]
		}
		s.end = 0
	}
	t.update(&s, d, v, z, n, n1, rho)
	place := make([]int, n)
	for i := range place {
		place[i] = i
	}
	k := len(s.keep)
	for i, j := k, n-1; i < j; i, j = i+1, j-1 { // the deflated ones are in descending order
		place[i], place[j] = place[j], place[i]
	}
	copy(order, mergeOrder(d, place[:k], place[k:]))
}

// splitProblem tells apart the eigenvalues that a merger changes (keep) and the others (rest, from end on).
type splitProblem struct {
	kind       []int
	keep, rest []int
	end        int
}

func (s *splitProblem) deflate(j int) {
	s.kind[j] = deflated
	s.end--
	s.rest[s.end] = j
}

// deflateSorted inserts j so that the deflated values stay in descending order.
func (s *splitProblem) deflateSorted(j int, d []float64) {
	s.kind[j] = deflated
	s.end--
	i := s.end
	for ; i+1 < len(s.rest) && d[j] < d[s.rest[i+1]]; i++ {
		s.rest[i] = s.rest[i+1]
	}
	s.rest[i] = j
}

// mergeOrder merges two ascending sequences of places in d.
func mergeOrder(d []float64, a, b []int) []int {
	m := make([]int, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if d[a[0]] <= d[b[0]] {
			m, a = append(m, a[0]), a[1:]
		} else {
			m, b = append(m, b[0]), b[1:]
		}
	}
	return append(append(m, a...), b...)
}

// update solves the secular equation of the kept values and multiplies the vectors.
func (t *tridiagonalTree[R]) update(s *splitProblem, d, v []float64, z []R, n, n1 int, rho float64) {
	k, ld, n2 := len(s.keep), t.ld, n-n1
	poles, w := make([]float64, k), make([]float64, k)
	for i, j := range s.keep {
		poles[i], w[i] = d[j], v[j]
	}
	// The rows in the order upper, both, lower, without the parts that are zero.
	pos := make([]int, k)
	var count [3]int
	for _, j := range s.keep {
		count[s.kind[j]]++
	}
	next := [3]int{0, count[upper], count[upper] + count[both]}
	n12, n23 := count[upper]+count[both], count[both]+count[lowerHalf]
	top, bottom := make([]R, n12*n1), make([]R, n23*n2)
	for i, j := range s.keep {
		kind := s.kind[j]
		p := next[kind]
		next[kind]++
		pos[i] = p
		if kind != lowerHalf {
			copy(top[p*n1:(p+1)*n1], z[j*ld:][:n1])
		}
		if kind != upper {
			copy(bottom[(p-count[upper])*n2:][:n2], z[j*ld+n1:][:n2])
		}
	}
	kept := make([]R, (n-k)*n)
	values := make([]float64, n-k)
	for i, j := range s.rest[s.end:] {
		copy(kept[i*n:(i+1)*n], z[j*ld:][:n])
		values[i] = d[j]
	}
	if k > 0 {
		x := t.vectors(poles, w, rho, d, pos)
		mul(k, n1, n12, 1, x, k, 1, top, n1, 1, 0, z, ld, 1)
		if n12 == 0 {
			clearRows(z, k, n1, ld)
		}
		mul(k, n2, n23, 1, x[count[upper]:], k, 1, bottom, n2, 1, 0, z[n1:], ld, 1)
		if n23 == 0 {
			clearRows(z[n1:], k, n2, ld)
		}
	}
	for i, x := range values {
		d[k+i] = x
		copy(z[(k+i)*ld:][:n], kept[i*n:(i+1)*n])
	}
}

func clearRows[R Real](z []R, rows, cols, ld int) {
	for i := range rows {
		clear(z[i*ld:][:cols])
	}
}

// vectors gives the eigenvalues of diag(poles) + rho·w·wᵀ, in values, and the eigenvectors as rows, element i at place
// pos[i]. The vectors are those of a w that has the computed eigenvalues exactly, which makes them orthogonal (Gu and
// Eisenstat 1994, A stable and efficient algorithm for the rank-one modification of the symmetric eigenproblem).
func (t *tridiagonalTree[R]) vectors(poles, w []float64, rho float64, values []float64, pos []int) []R {
	k := len(poles)
	q := secular{z: w, rhoInv: 1 / rho, eps: math.Min(t.eps, 0x1p-30), gaps: func(base int, p []float64) {
		from := poles[base]
		for j, x := range poles {
			p[j] = x - from
		}
	}}
	distance := make([]float64, k*k)
	found := make([]float64, k)
	grain := max(1, 1<<13/k)
	par.For(k, grain, func(lo, hi int) {
		t := make([]float64, k)
		for i := lo; i < hi; i++ {
			p := distance[i*k : (i+1)*k]
			base, x := q.root(i, p, t)
			found[i] = poles[base] + x
			for j := range p {
				p[j] -= x
			}
		}
	})
	copy(values, found)
	u := make([]float64, k)
	par.For(k, max(8, grain), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			u[i] = distance[i*k+i]
		}
		x, f := u[lo:hi], make([]float64, hi-lo)
		for j := range k { // times p[i]/(poles[i]-poles[j]), except for i = j
			vec.AddScalarF64(f, poles[lo:hi], -poles[j])
			vec.DivF64(f, distance[j*k+lo:j*k+hi], f)
			if lo <= j && j < hi {
				f[j-lo] = 1
			}
			vec.MulF64(x, x, f)
		}
		for i := lo; i < hi; i++ {
			u[i] = math.Copysign(math.Sqrt(math.Abs(u[i])), w[i])
		}
	})
	x := make([]R, k*k)
	par.For(k, grain, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			p, row := distance[j*k:(j+1)*k], x[j*k:(j+1)*k]
			vec.DivF64(p, u, p)
			f := 1 / math.Sqrt(vec.DotF64(p, p))
			for i, v := range p {
				row[pos[i]] = R(v * f)
			}
		}
	})
	return x
}

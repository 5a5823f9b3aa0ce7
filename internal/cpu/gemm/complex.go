package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// This file computes complex products with the kernels for real numbers. A complex matrix is a real matrix
// with twice the columns, in which real and imaginary parts alternate. So A and C are taken as they are, and
// each row b of B becomes two real rows, b itself and i times b:
//
//	C (m, 2n) = A (m, 2k) · (b0, i·b0, b1, i·b1, …) (2k, 2n)
//
// With few rows of A, doubling B would cost as much as the product. Then, if the rows of B are contiguous,
// the real and the imaginary part of A are multiplied with the real matrix that B is:
//
//	P = Re A·B, Q = Im A·B;   C = P + i·Q
//
// If B is transposed, it is seen as a real matrix of 2k rows. Each row of A becomes two rows: one gives the
// real parts of C, the other the imaginary parts.
//
//	(re, -im, re, -im, …) and (im, re, im, re, …)

// dotComplex is the dot product of two vectors. As many products as the cache holds are stored in rows of 32
// numbers, and then the columns of their real and imaginary parts are added up.
func dotComplex[C complex64 | complex128, F float32 | float64](a, b []C) C {
	const bytes, columns = 8 << 10, 64
	buf := getBuffer(bytes + columns*8)
	defer buf.put()
	per := bytes / size[C]()
	p, acc := unsafe.Slice((*C)(buf.p), per), unsafe.Slice(at[F](buf.p, bytes), columns)
	var re, im float64
	for len(a) > 0 {
		n := min(len(a), per)
		rows := n / (columns / 2)
		parts := unsafe.Slice((*F)(buf.p), 2*n)
		clear(acc)
		switch p := any(p).(type) {
		case []complex64:
			vec.MulC64(p[:n], like[complex64](a[:n]), like[complex64](b[:n]))
			f := like[float32](parts)
			vec.SumDownF32(like[float32](acc), f, rows, columns)
		case []complex128:
			vec.MulC128(p[:n], like[complex128](a[:n]), like[complex128](b[:n]))
			f := like[float64](parts)
			vec.SumDownF64(like[float64](acc), f, rows, columns)
		}
		for _, s := range [][]F{acc, parts[rows*columns:]} {
			for i := 0; i+1 < len(s); i += 2 {
				re, im = re+float64(s[i]), im+float64(s[i+1])
			}
		}
		a, b = a[n:], b[n:]
	}
	return C(complex(re, im))
}

// gemmComplex is [GEMMAny] for complex numbers; F is the type of their parts.
func gemmComplex[C complex64 | complex128, F float32 | float64](batch []BatchDim, m, n, k int, alpha C, a []C, rsA,
	csA int, b []C, rsB, csB int, beta C, c []C, rsC, csC int) {
	nb := checkBatch(batch, m, n, k, len(a), rsA, csA, len(b), rsB, csB, len(c), rsC, csC, alpha == 0)
	if nb == 0 || m == 0 || n == 0 {
		return
	}
	if alpha == 0 {
		k = 0
	}
	if k == 0 {
		a, b = nil, nil
	}
	if m*n == 1 && nb == 1 && k >= 16 && csA == 1 && rsB == 1 {
		sum := dotComplex[C, F](a[:k], b[:k])
		if alpha != 1 {
			sum *= alpha
		}
		switch beta {
		case 0:
		case 1: // an infinite number times 1 + 0i would be NaN in part
			sum += c[0]
		default:
			sum += beta * c[0]
		}
		c[0] = sum
		return
	}
	g := complexProduct[C, F]{m: m, n: n, k: k, rsA: rsA, csA: csA, rsB: rsB, csB: csB, rsC: rsC, csC: csC,
		alpha: alpha, beta: beta}
	// A single column of B, or a transposed C, is computed as Cᵀ = Bᵀ·Aᵀ: then the matrix is read in its order.
	swap := n == 1 && m > 1 || n > 1 && csC != 1 && rsC == 1
	if swap {
		g.m, g.n = n, m
		g.rsA, g.csA, g.rsB, g.csB, g.rsC, g.csC = csB, rsB, csA, rsA, csC, rsC
	}
	// Small matrices along the last dimension of the batch are computed together.
	one, group := BatchDim{N: 1}, 1
	many := g.paysToDoubleB(nb > 1)
	if last := len(batch) - 1; many && last >= 0 {
		one, batch = batch[last], batch[:last]
		group = max(1, min(one.N, complexBlock/(n*max(1, k))))
	}
	groups := (one.N + group - 1) / group
	eachMatrix(nb/one.N*groups, 4*m*n*k*group, func(x int) {
		from := x % groups * group
		oa, ob, oc := batchOffsets(batch, x/groups)
		oa, ob, oc = oa+from*one.A, ob+from*one.B, oc+from*one.C
		if k == 0 {
			oa, ob = 0, 0
		}
		a, b, c, d := a[oa:], b[ob:], c[oc:], one
		d.N = min(group, one.N-from)
		if swap {
			a, b, d.A, d.B = b, a, d.B, d.A
		}
		if many {
			g.timesDoubledB(a, b, c, d)
		} else {
			g.doubledATimesB(a, b, c)
		}
	})
}

// complexProduct is one product of a batch.
type complexProduct[C complex64 | complex128, F float32 | float64] struct {
	m, n, k                      int
	rsA, csA, rsB, csB, rsC, csC int
	alpha, beta                  C
}

// paysToDoubleB reports whether A has enough rows for the doubling of B to pay; for tiny matrices of a batch
// it always does.
func (g *complexProduct[C, F]) paysToDoubleB(batch bool) bool {
	const few = 48
	switch {
	case batch && g.m > 2 && g.n*g.k <= complexBlock/2:
		return true
	case g.csB != 1 && g.rsB == 1:
		return g.m > max(few, g.n) // otherwise doubling the rows of A costs less
	}
	return g.m > few
}

// asReals is the slice of the real and imaginary parts of complex numbers.
func asReals[C complex64 | complex128, F float32 | float64](s []C) []F {
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(s))), 2*len(s))
}

// The doubled B is made in blocks that a second-level cache holds: of up to complexSteps rows, as many as the product
// of real numbers takes at a time, and complexBlock elements before they are doubled.
const (
	// The doubled B is made in blocks that the L2 cache holds: of up to complexSteps rows, as many as the
	// real product takes in one block of k, and of complexBlock elements before they are doubled.
	complexSteps = 256
	complexBlock = 1 << 15
)

// timesDoubledB computes the d.N matrices of a batch by doubling the rows of B.
func (g *complexProduct[C, F]) timesDoubledB(a, b, c []C, d BatchDim) {
	m, n, k := g.m, g.n, g.k
	var z C
	es := int(unsafe.Sizeof(z))
	rsA, to, rsTo, stepTo := g.rsA, c, g.rsC, d.C
	if k > 1 && g.csA != 1 {
		buf := getBuffer(d.N * m * k * es)
		defer buf.put()
		rows := unsafe.Slice((*C)(buf.p), d.N*m*k)
		for x := range d.N {
			copyRows(rows[x*m*k:], k, a[x*d.A:], rsA, g.csA, m, k)
		}
		a, rsA, d.A = rows, k, m*k
	}
	alpha, ai := realImag[C, F](g.alpha)
	beta, bi := realImag[C, F](g.beta)
	direct := (g.csC == 1 || n == 1) && ai == 0 && bi == 0
	if !direct {
		buf := getBuffer(d.N * m * n * es)
		defer buf.put()
		to, rsTo, stepTo = unsafe.Slice((*C)(buf.p), d.N*m*n), n, m*n
		alpha, beta = 1, 0
	}
	copies, steps := d.N, min(k, complexSteps)
	if d.B == 0 {
		copies = 1
	}
	width := n
	if k*n > complexBlock {
		width = min(n, complexBlock/steps)
	}
	par.For((n+width-1)/width, 1, func(lo, hi int) {
		// whole cache lines, and no rows a page apart, which the product would copy once more
		ld := roundUp(2*width, 16) + 16
		buf := getBuffer(copies * steps * ld * es)
		defer buf.put()
		pairs := unsafe.Slice((*C)(buf.p), copies*steps*ld)
		for j := lo * width; j < min(hi*width, n); j += width {
			cols, beta := min(width, n-j), beta
			for q := 0; q == 0 || q < k; q += complexSteps {
				steps := min(complexSteps, k-q)
				for x := range copies {
					if k > 0 {
						g.doubleRowsOfB(pairs[x*steps*ld:], ld, b[x*d.B+q*g.rsB+j*g.csB:], steps, cols)
					}
				}
				dims := [1]BatchDim{{d.N, 2 * d.A, 2 * steps * ld, 2 * stepTo}}
				if copies == 1 {
					dims[0].B = 0
				}
				GEMMBatch(dims[:], m, 2*cols, 2*steps, alpha, asReals[C, F](a[min(q, len(a)):]), 2*rsA, 1,
					asReals[C, F](pairs), ld, 1, beta, asReals[C, F](to[j:]), 2*rsTo, 1, nil)
				beta = 1
			}
		}
	})
	if direct {
		return
	}
	par.For(d.N*m, max(1, packTask/n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			into := asReals[C, F](c[i/m*d.C+i%m*g.rsC:])
			for j, v := range to[i*n:][:n] {
				re, im := realImag[C, F](v)
				g.store(into[2*j*g.csC:], re, im)
			}
		}
	})
}

// doubleRowsOfB writes, for each row b of B, the rows b and i·b. All rows lie ld apart.
func (g *complexProduct[C, F]) doubleRowsOfB(pairs []C, ld int, b []C, steps, cols int) {
	rs := g.rsB
	if g.csB != 1 {
		copyRows(pairs, ld, b, rs, g.csB, steps, cols)
		b, rs = pairs, ld
	}
	if p, ok := any(pairs).([]complex64); ok { // both parts of a number are moved as one integer of 64 bits
		p, b := like[uint64](p), like[uint64](b)
		for s := range steps {
			x, y := p[s*ld:][:cols], p[s*ld+ld/2:][:cols]
			for j, v := range b[s*rs:][:cols] {
				x[j], y[j] = v, (v<<32|v>>32)^1<<31
			}
		}
		return
	}
	for s := range steps {
		from, x := asReals[C, F](b[s*rs:][:cols]), asReals[C, F](pairs[s*ld:])
		y := x[ld:][:len(from)]
		x = x[:len(from)]
		for j := 1; j < len(from); j += 2 {
			re, im := from[j-1], from[j]
			x[j-1], x[j], y[j-1], y[j] = re, im, -im, re
		}
	}
}

// copyRows copies a matrix of any strides to rows that lie ld apart.
func copyRows[C complex64 | complex128](dst []C, ld int, src []C, rs, cs, rows, cols int) {
	if rows == 0 {
		return
	}
	if cs == 1 || cols == 1 {
		par.For(rows, max(1, packTask/cols), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				copy(dst[i*ld:][:cols], src[i*rs:])
			}
		})
		return
	}
	// The source is transposed. It is copied in bands of columns: a cache line of the source holds elements of several
	// rows, which the same band needs soon.
	const band = 16
	par.For((cols+band-1)/band, max(1, packTask/(band*rows)), func(lo, hi int) {
		from, to := lo*band, min(hi*band, cols)
		if d, ok := any(dst).([]complex64); ok && rs == 1 {
			vec.Transpose64(like[uint64](d[from:]), ld, like[uint64](src[from*cs:]), cs, to-from, rows)
			return
		}
		for ; from < to; from += band {
			for i := range rows {
				row := dst[i*ld:][:min(from+band, to)]
				for j := from; j < len(row); j++ {
					row[j] = src[i*rs+j*cs]
				}
			}
		}
	})
}

// doubledATimesB computes a product with few rows of A. Each row of A becomes two real rows, and so does each
// row of C.
func (g *complexProduct[C, F]) doubledATimesB(a, b, c []C) {
	var z F
	m, n, k := g.m, g.n, g.k
	turned := g.csB != 1 && n > 1 && g.rsB == 1
	dense := turned || g.csB == 1 || n == 1
	lenA, lenC := k, 2*n
	if turned {
		lenA, lenC = 2*k, n
	}
	room := 2*m*lenA + 2*m*lenC
	if !dense {
		room += 2 * k * n
	}
	buf := getBuffer(room * int(unsafe.Sizeof(z)))
	defer buf.put()
	all := unsafe.Slice((*F)(buf.p), room)
	rows, sums := all[:2*m*lenA], all[2*m*lenA:][:2*m*lenC]
	par.For(m, max(1, packTask/max(1, k)), func(lo, hi int) {
		for i := lo; i < hi && k > 0; i++ {
			g.doubleRowOfA(rows[2*i*lenA:][:lenA], rows[(2*i+1)*lenA:][:lenA], a[i*g.rsA:], turned)
		}
	})
	switch rb := asReals[C, F](b); {
	case turned:
		GEMM(2*m, n, 2*k, 1, rows, 2*k, 1, rb, 1, 2*g.csB, 0, sums, n, 1, nil)
	case dense:
		GEMM(2*m, 2*n, k, 1, rows, k, 1, rb, 2*g.rsB, 1, 0, sums, 2*n, 1, nil)
	default:
		rb = all[len(all)-2*k*n:]
		copyRows(unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(rb))), k*n), n, b, g.rsB, g.csB, k, n)
		GEMM(2*m, 2*n, k, 1, rows, k, 1, rb, 2*n, 1, 0, sums, 2*n, 1, nil)
	}
	par.For(m, max(1, packTask/n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p, q := sums[2*i*lenC:][:lenC], sums[(2*i+1)*lenC:][:lenC]
			if turned {
				g.storeRow(c[i*g.rsC:], p, q)
			} else {
				g.storePair(c[i*g.rsC:], p, q)
			}
		}
	})
}

// doubleRowOfA writes the two real rows that stand for a row of A: its real and imaginary parts, or, for a
// transposed B, the rows that give the parts of C.
func (g *complexProduct[C, F]) doubleRowOfA(x, y []F, a []C, turned bool) {
	y = y[:len(x)]
	off := 0
	if turned {
		for q := 1; q < len(x); q += 2 {
			re, im := realImag[C, F](a[off])
			x[q-1], x[q], y[q-1], y[q] = re, -im, im, re
			off += g.csA
		}
		return
	}
	for q := range x {
		x[q], y[q] = realImag[C, F](a[off])
		off += g.csA
	}
}

// storeRow stores a row of C, given its real and imaginary parts.
func (g *complexProduct[C, F]) storeRow(c []C, re, im []F) {
	to, step := asReals[C, F](c), 2*g.csC
	im = im[:len(re)]
	if step == 2 && g.alpha == 1 && g.beta == 0 {
		to = to[:2*len(re)]
		for j := range re {
			to[2*j], to[2*j+1] = re[j], im[j]
		}
		return
	}
	for j := range re {
		g.store(to[j*step:], re[j], im[j])
	}
}

// storePair stores the row p + i·q of C.
func (g *complexProduct[C, F]) storePair(c []C, p, q []F) {
	to, step := asReals[C, F](c), 2*g.csC
	q = q[:len(p)]
	if step == 2 && g.alpha == 1 && g.beta == 0 {
		to = to[:len(p)]
		for j := 1; j < len(p); j += 2 {
			to[j-1], to[j] = p[j-1]-q[j], p[j]+q[j-1]
		}
		return
	}
	for j := 0; j < len(p); j += 2 {
		g.store(to[j/2*step:], p[j]-q[j+1], p[j+1]+q[j])
	}
}

// store computes alpha times an element plus beta times the old element, and stores the result.
func (g *complexProduct[C, F]) store(to []F, re, im F) {
	if g.alpha != 1 {
		ar, ai := realImag[C, F](g.alpha)
		re, im = ar*re-ai*im, ar*im+ai*re
	}
	switch g.beta {
	case 0:
	case 1: // an infinite number times 1 + 0i would be NaN in part
		re, im = re+to[0], im+to[1]
	default:
		br, bi := realImag[C, F](g.beta)
		re, im = re+br*to[0]-bi*to[1], im+br*to[1]+bi*to[0]
	}
	to[0], to[1] = re, im
}

// realImag returns the parts of a number.
func realImag[C complex64 | complex128, F float32 | float64](v C) (re, im F) {
	p := (*[2]F)(unsafe.Pointer(&v))
	return p[0], p[1]
}

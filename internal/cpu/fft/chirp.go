package fft

import "unsafe"

// A chirp is the plan of a length n with large prime factors: with jk = (j² + k² - (k-j)²)/2 the transform becomes
//
//	X[k] = w[k] · Σ (x[j]·w[j]) · conj(w[k-j]),  w[k] = exp(-πi·k²/n),
//
// a convolution, which is computed by transforms of a smooth length m ≥ 2n-1. The numbers of the plan are computed in
// float64.
type chirp[E Float] struct {
	n, m   int
	w      planes[E] // n numbers, zeros up to a whole vector
	filter planes[E] // the transform of conj(w) around 0, over m
	// products of the rows of a tile with w and with filter
	byW, byFilter step[E]
}

func newChirp[E Float](n int) *chirp[E] {
	c := &chirp[E]{n: n, m: chirpLength(2*n - 1), w: newPlanes[E](pad[E](n))}
	p := forLine[float64](c.m)
	x, y := newPlanes[float64](p.room(lanes[float64]())), newPlanes[float64](p.room(lanes[float64]()))
	scale := 1 / float64(c.m)
	square := 0 // k² modulo 2n
	for k := range n {
		re, im := root(square, 2*n)
		square = (square + 2*k + 1) % (2 * n)
		c.w.re[k], c.w.im[k] = E(re), E(im)
		r, i := re*scale, -im*scale
		x.re[k], x.im[k] = r, i
		if k > 0 {
			x.re[c.m-k], x.im[c.m-k] = r, i
		}
	}
	z := p.transform(x, y)
	c.filter = newPlanes[E](c.m)
	for k := range c.m {
		c.filter.re[k], c.filter.im[k] = E(z.re[k]), E(z.im[k])
	}
	c.byW, c.byFilter = products(c.w, n), products(c.filter, c.m)
	return c
}

// products is the step that multiplies n rows by a number each.
func products[E Float](w planes[E], n int) step[E] {
	st := step[E]{radix: 1, m: n, roots: make([]E, 0, 2*n)}
	for k := range n {
		st.roots = append(st.roots, w.re[k], w.im[k])
	}
	return st
}

func newPlanes[E Float](n int) planes[E] { return planes[E]{make([]E, n), make([]E, n)} }

// bytes is what the chirp holds in memory: its numbers twice.
func (c *chirp[E]) bytes() int { return 4 * (len(c.w.re) + c.m) * int(unsafe.Sizeof(E(0))) }

// chirpLength is the smallest length from n on of the form 2^k, 3·2^k, 5·2^k, 9·2^k or 15·2^k.
func chirpLength(n int) int {
	best := 0
	for _, odd := range []int{1, 3, 5, 9, 15} {
		m := 16 * odd
		for m < n {
			m *= 2
		}
		if best == 0 || m < best {
			best = m
		}
	}
	return best
}

// line transforms a line in place.
func (c *chirp[E]) line(x planes[E]) {
	p := forLine[E](c.m)
	room := p.room(lanes[E]())
	b := borrow[E](4 * room)
	defer giveBack(b)
	u, v := b.planes(0, room), b.planes(2*room, room)
	copy(u.re, x.re[:c.n])
	copy(u.im, x.im[:c.n])
	clear(u.re[c.n:c.m])
	clear(u.im[c.n:c.m])
	padded := len(c.w.re)
	multiply(u.re[:padded], u.im[:padded], c.w.re, c.w.im)
	z := p.transform(u, v)
	multiply(z.re[:c.m], z.im[:c.m], c.filter.re, c.filter.im)
	if &z.re[0] != &u.re[0] {
		u, v = v, u
	}
	z = p.transform(z.swapped(), v).swapped()
	multiply(z.re[:padded], z.im[:padded], c.w.re, c.w.im)
	copy(x.re, z.re[:c.n])
	copy(x.im, z.im[:c.n])
}

// tile transforms the columns of a tile in place.
func (c *chirp[E]) tile(x planes[E], s int) {
	p := forTiles[E](c.m)
	size := c.m * s
	b := borrow[E](4 * size)
	defer giveBack(b)
	u, v := b.planes(0, size), b.planes(2*size, size)
	c.byW.pass(u, x, s)
	clear(u.re[c.n*s:])
	clear(u.im[c.n*s:])
	z := p.tile(u, v, s)
	c.byFilter.pass(z, z, s)
	if &z.re[0] != &u.re[0] {
		u, v = v, u
	}
	z = p.tile(z.swapped(), v, s).swapped()
	c.byW.pass(x, z, s)
}

package fft

import "github.com/gotorch-dev/torch/internal/cpu/vec"

// A chirp is the plan of a length n with large prime factors, for all types in float64: with jk = (j² + k² - (k-j)²)/2
// the transform becomes
//
//	X[k] = w[k] · Σ (x[j]·w[j]) · conj(w[k-j]),  w[k] = exp(-πi·k²/n),
//
// a convolution, which is computed by transforms of a smooth length m ≥ 2n-1.
type chirp struct {
	n, m   int
	w      planes[float64] // n numbers, zeros up to a whole vector
	filter planes[float64] // the transform of conj(w) around 0, over m
}

func newChirp(n int) *chirp {
	c := &chirp{n: n, m: chirpLength(2*n - 1), w: newPlanes[float64](pad[float64](n))}
	square := 0 // k² modulo 2n
	for k := range n {
		c.w.re[k], c.w.im[k] = root(square, 2*n)
		square = (square + 2*k + 1) % (2 * n)
	}
	p := forLine[float64](c.m)
	x, y := newPlanes[float64](p.room(lanes[float64]())), newPlanes[float64](p.room(lanes[float64]()))
	scale := 1 / float64(c.m)
	for k := range n {
		r, i := c.w.re[k]*scale, -c.w.im[k]*scale
		x.re[k], x.im[k] = r, i
		if k > 0 {
			x.re[c.m-k], x.im[c.m-k] = r, i
		}
	}
	z := p.transform(x, y)
	c.filter = planes[float64]{z.re[:c.m:c.m], z.im[:c.m:c.m]}
	return c
}

func newPlanes[E Float](n int) planes[E] { return planes[E]{make([]E, n), make([]E, n)} }

func (c *chirp) bytes() int { return 16*len(c.w.re) + 16*cap(c.filter.re) }

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

// chirpLine transforms a line in place.
func chirpLine[E Float](c *chirp, x planes[E]) {
	p := forLine[float64](c.m)
	room := p.room(lanes[float64]())
	b := borrow[float64](4 * room)
	defer giveBack(b)
	u, v := b.planes(0, room), b.planes(2*room, room)
	convert(u.re, x.re[:c.n])
	convert(u.im, x.im[:c.n])
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
	convert(x.re, z.re[:c.n])
	convert(x.im, z.im[:c.n])
}

// convert copies numbers from one type to another.
func convert[D, S Float](dst []D, src []S) {
	dst = dst[:len(src)]
	switch d := any(dst).(type) {
	case []float64:
		if s, ok := any(src).([]float32); ok {
			vec.F32ToF64s(d, s)
			return
		}
	case []float32:
		if s, ok := any(src).([]float64); ok {
			vec.F64ToF32s(d, s)
			return
		}
	}
	copy(dst, any(src).([]D)) // the types are one
}

// chirpTile transforms the columns of a tile in place.
func chirpTile[E Float](c *chirp, x planes[E], s int) {
	p := forTiles[float64](c.m)
	size := c.m * s
	b := borrow[float64](4 * size)
	defer giveBack(b)
	u, v := b.planes(0, size), b.planes(2*size, size)
	for k := range c.n {
		wr, wi := c.w.re[k], c.w.im[k]
		xr, xi := row(x, k, s, s)
		ur, ui := row(u, k, s, s)
		for q := range ur {
			r, i := float64(xr[q]), float64(xi[q])
			ur[q], ui[q] = r*wr-i*wi, r*wi+i*wr
		}
	}
	clear(u.re[c.n*s:])
	clear(u.im[c.n*s:])
	z := p.tile(u, v, s)
	for k := range c.m {
		zr, zi := row(z, k, s, s)
		scaleRow(zr, zi, c.filter.re[k], c.filter.im[k])
	}
	if &z.re[0] != &u.re[0] {
		u, v = v, u
	}
	z = p.tile(z.swapped(), v, s).swapped()
	for k := range c.n {
		wr, wi := c.w.re[k], c.w.im[k]
		xr, xi := row(x, k, s, s)
		zr, zi := row(z, k, s, s)
		for q := range zr {
			r, i := zr[q], zi[q]
			xr[q], xi[q] = E(r*wr-i*wi), E(r*wi+i*wr)
		}
	}
}

// scaleRow multiplies a row by one number.
func scaleRow[E Float](xr, xi []E, wr, wi E) {
	xi = xi[:len(xr)]
	for q, r := range xr {
		xr[q], xi[q] = r*wr-xi[q]*wi, r*wi+xi[q]*wr
	}
}

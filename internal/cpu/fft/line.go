package fft

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// A fourStep is the plan of one long line as a tile of n1 rows of n2 numbers, which pads to ld1 and, transposed, ld2.
// A line that is too long for a tile in the cache goes in strips of its columns, then in strips of its rows.
type fourStep[E Float] struct {
	n1, n2     int
	ld1, ld2   int
	rows, cols *Plan[E] // of n1 and of n2
	roots      planes[E]
	strip      int // columns and rows of a strip, 0 for lines that are one tile; the roots of unity lie as strips do
}

// stripMin is the number of bytes of a plane from which on a line goes in strips.
const stripMin = 256 << 10

// stripPlane is the largest size of a plane of a strip: four of them should stay in the second-level cache.
const stripPlane = 128 << 10

// lineMin is the shortest line that is worth a tile of its own.
const lineMin = 64

// lanes is the number of elements that rows are padded to: a vector of 64 bytes.
func lanes[E Float]() int { return 64 / int(unsafe.Sizeof(E(0))) }

// pad rounds up to whole vectors.
func pad[E Float](n int) int { return (n + lanes[E]() - 1) &^ (lanes[E]() - 1) }

// newFourStep makes the plan of a line, nil for lengths that are short or have large prime factors.
func newFourStep[E Float](n int) *Plan[E] {
	if n < lineMin || !smooth(n) {
		return nil
	}
	best, n1 := math.MaxInt, 0
	for d := 2; d*d <= n; d++ { // the fewest numbers with the padding
		if n%d == 0 {
			for _, a := range [2]int{n / d, d} {
				if c := a*pad[E](n/a) + n/a*pad[E](a) + a + n/a; c < best {
					best, n1 = c, a
				}
			}
		}
	}
	if n1 == 0 || best > 6*n+2*lineMin {
		return nil
	}
	f := &fourStep[E]{n1: n1, n2: n / n1, rows: forTiles[E](n1), cols: forTiles[E](n / n1)}
	f.ld1, f.ld2 = pad[E](f.n2), pad[E](f.n1)
	f.roots = planes[E]{make([]E, f.n1*f.ld1), make([]E, f.n1*f.ld1)}
	if size := int(unsafe.Sizeof(E(0))); n*size >= stripMin {
		f.strip = lanes[E]()
		if 2*f.strip*max(f.n1, f.n2)*size <= stripPlane { // pieces of two cache lines take fewer pages
			f.strip *= 2
		}
	}
	table := newRootTable(n)
	for i := range f.n1 {
		for j := range f.n2 {
			at := i*f.ld1 + j
			if s := f.strip; s > 0 {
				at = j/s*s*f.n1 + i*min(s, f.ld1-j/s*s) + j%s
			}
			c, d := table.root(i * j)
			f.roots.re[at], f.roots.im[at] = E(c), E(d)
		}
	}
	return &Plan[E]{n: n, line: f, bytes: 2 * len(f.roots.re) * int(unsafe.Sizeof(E(0)))}
}

// room is the length of the planes that a plan needs for a line, or for a tile of s columns.
func (p *Plan[E]) room(s int) int {
	if p.line != nil {
		return max(p.n, p.line.n1*p.line.ld1, p.line.n2*p.line.ld2)
	}
	return p.n * s
}

// transform transforms the line x; y is as large, both have room for the plan. The result is in x or in y, and
// returned.
func (p *Plan[E]) transform(x, y planes[E]) planes[E] {
	f := p.line
	switch {
	case p.chirp != nil:
		p.chirp.line(x)
		return x
	case f == nil: // a short line: the first column of a tile
		s := lanes[E]()
		spread(y.re, x.re, p.n, 1, s)
		spread(y.im, x.im, p.n, 1, s)
		z := p.tile(y, x, s)
		o := x
		if &z.re[0] == &x.re[0] {
			o = y
		}
		for i := range p.n {
			o.re[i], o.im[i] = z.re[i*s], z.im[i*s]
		}
		return o
	case f.strip > 0:
		f.inStrips(series[E]{planes: x}, series[E]{planes: x}, y, 1)
		return x
	}
	if f.ld1 != f.n2 {
		spread(y.re, x.re, f.n1, f.n2, f.ld1)
		spread(y.im, x.im, f.n1, f.n2, f.ld1)
		x, y = y, x
	}
	z := f.rows.tile(x, y, f.ld1)
	if &z.re[0] != &x.re[0] {
		x, y = y, x
	}
	n := f.n1 * f.ld1
	multiply(x.re[:n], x.im[:n], f.roots.re, f.roots.im)
	transpose(y.re, f.ld2, x.re, f.ld1, f.n1, f.n2)
	transpose(y.im, f.ld2, x.im, f.ld1, f.n1, f.n2)
	if f.ld2 != f.n1 {
		for i := range f.n2 {
			clear(y.re[i*f.ld2:][f.n1:f.ld2])
			clear(y.im[i*f.ld2:][f.n1:f.ld2])
		}
	}
	z = f.cols.tile(y, x, f.ld2)
	if f.ld2 != f.n1 {
		for i := 1; i < f.n2; i++ {
			copy(z.re[i*f.n1:][:f.n1], z.re[i*f.ld2:])
			copy(z.im[i*f.n1:][:f.n1], z.im[i*f.ld2:])
		}
	}
	return z
}

// A series is complex numbers in planes or, where pairs is set, as pairs of their parts.
type series[E Float] struct {
	planes[E]
	pairs []E
	swap  bool // of pairs: the parts change places
}

// load sets planes to the numbers from number at on.
func (l *series[E]) load(u planes[E], at int) {
	n := len(u.re)
	if l.pairs == nil {
		copy(u.re, l.re[at:])
		copy(u.im, l.im[at:])
		return
	}
	if l.swap {
		u = u.swapped()
	}
	vec.Deinterleave(u.re, u.im, l.pairs[2*at:][:2*n])
}

// ahead fetches n numbers into the cache.
func (l *series[E]) ahead(at, n int) {
	if l.pairs == nil {
		vec.PrefetchRow(l.re[at:][:n])
		vec.PrefetchRow(l.im[at:][:n])
		return
	}
	vec.PrefetchRow(l.pairs[2*at:][:2*n])
}

// store is the reverse of load.
func (l *series[E]) store(at int, u planes[E]) {
	n := len(u.re)
	if l.pairs == nil {
		copy(l.re[at:][:n], u.re)
		copy(l.im[at:][:n], u.im)
		return
	}
	if l.swap {
		u = u.swapped()
	}
	vec.Interleave(l.pairs[2*at:][:2*n], u.re, u.im)
}

// inStrips transforms the line in to the line out, which may be the same memory, on several threads. y has room for the
// strips of columns, one after the other.
func (f *fourStep[E]) inStrips(in, out series[E], y planes[E], factor float64) {
	s, n1, n2 := f.strip, f.n1, f.n2
	par.For((f.ld1+s-1)/s, 1, func(lo, hi int) { // columns: in to y
		b := borrow[E](4 * n1 * s)
		defer giveBack(b)
		for i := lo; i < hi; i++ {
			// A strip has w columns of the line, padded to p.
			w, p, at := min(s, n2-i*s), min(s, f.ld1-i*s), i*s*n1
			u, v := b.planes(0, n1*p), b.planes(2*n1*s, n1*p)
			for k := range n1 {
				if next := k + rowsAhead; next < n1 {
					in.ahead(next*n2+i*s, w)
				}
				in.load(u.part(k*p, w), k*n2+i*s)
				clear(u.re[k*p+w : k*p+p])
				clear(u.im[k*p+w : k*p+p])
			}
			z := f.rows.tile(u, v, p)
			multiply(z.re[:n1*p], z.im[:n1*p], f.roots.re[at:], f.roots.im[at:])
			copy(y.re[at:], z.re[:n1*p])
			copy(y.im[at:], z.im[:n1*p])
		}
	})
	par.For((f.ld2+s-1)/s, 1, func(lo, hi int) { // rows: y to out
		b := borrow[E](4 * n2 * s)
		defer giveBack(b)
		for i := lo; i < hi; i++ {
			w, p := min(s, n1-i*s), min(s, f.ld2-i*s)
			u, v := b.planes(0, n2*p), b.planes(2*n2*s, n2*p)
			if w < p {
				clear(u.re)
				clear(u.im)
			}
			for j := 0; j < n2; j += s { // rows of one strip of columns
				q := min(s, f.ld1-j)
				at := j*n1 + i*s*q
				transpose(u.re[j*p:], p, y.re[at:], q, w, min(s, n2-j))
				transpose(u.im[j*p:], p, y.im[at:], q, w, min(s, n2-j))
			}
			z := f.cols.tile(u, v, p)
			m := mover[E]{s: p}
			m.scale(z, n2, factor)
			for k := range n2 {
				out.store(k*n1+i*s, z.part(k*p, w))
			}
		}
	})
}

// spread copies rows of n numbers to rows of ld, and clears what is between.
func spread[E Float](dst, src []E, rows, n, ld int) {
	for i := range rows {
		d := dst[i*ld:][:ld]
		copy(d, src[i*n:][:n])
		clear(d[n:])
	}
}

// multiply multiplies complex numbers element by element.
func multiply[E Float](xr, xi, wr, wi []E) {
	if multiplyAssembly(xr, xi, wr, wi) {
		return
	}
	xi, wr, wi = xi[:len(xr)], wr[:len(xr)], wi[:len(xr)]
	for i, r := range xr {
		xr[i], xi[i] = r*wr[i]-xi[i]*wi[i], r*wi[i]+xi[i]*wr[i]
	}
}

// transpose sets dst[j*ldd+i] = src[i*lds+j] for i < rows, j < cols.
func transpose[E Float](dst []E, ldd int, src []E, lds, rows, cols int) {
	switch d := any(dst).(type) {
	case []float32:
		vec.TransposeF32(d, ldd, any(src).([]float32), lds, rows, cols)
	case []float64:
		vec.Transpose64(words(d), ldd, words(any(src).([]float64)), lds, rows, cols)
	}
}

func words(s []float64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

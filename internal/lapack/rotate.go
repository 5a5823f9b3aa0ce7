package lapack

import (
	"math"
	"sync"

	"github.com/gotorch-dev/torch/internal/par"
)

// rotation gives c, s, r with c·f + s·g = r and c·g - s·f = 0, where r has the sign of f, as LAPACK's xLARTG does since
// version 3.10.
func rotation(f, g float64) (c, s, r float64) {
	switch {
	case g == 0:
		return 1, 0, f
	case f == 0:
		return 0, math.Copysign(1, g), math.Abs(g)
	}
	d := hypot(f, g)
	r = math.Copysign(d, f)
	return math.Abs(f) / d, g / r, r
}

// rotationBefore is rotation with the signs that xLARTG gave before version 3.10: c > 0 if |f| > |g|, else r > 0. The
// eigenvectors of PyTorch's libraries have the signs of this one, the singular vectors those of the other.
func rotationBefore(f, g float64) (c, s, r float64) {
	switch {
	case g == 0:
		return 1, 0, f
	case f == 0:
		return 0, 1, g
	}
	r = hypot(f, g)
	c, s = f/r, g/r
	if c < 0 && math.Abs(f) > math.Abs(g) {
		return -c, -s, -r
	}
	return c, s, r
}

// hypot is the length of (x, y). The square of neither overflows, in most cases.
func hypot(x, y float64) float64 {
	if s := x*x + y*y; s > 0x1p-900 && s < 0x1p1000 {
		return math.Sqrt(s)
	}
	return math.Hypot(x, y)
}

// rotateRows replaces the rows x and y by c·x + s·y and c·y - s·x.
func rotateRows[E Element](x, y []E, c, s float64) {
	switch x := any(x).(type) {
	case []float32:
		y, c, s := any(y).([]float32)[:len(x)], float32(c), float32(s)
		for i, v := range x {
			w := y[i]
			x[i], y[i] = c*v+s*w, c*w-s*v
		}
	case []float64:
		y := any(y).([]float64)[:len(x)]
		for i, v := range x {
			w := y[i]
			x[i], y[i] = c*v+s*w, c*w-s*v
		}
	case []complex64:
		y, c, s := any(y).([]complex64)[:len(x)], float32(c), float32(s)
		for i, v := range x {
			w := y[i]
			x[i] = complex(c*real(v)+s*real(w), c*imag(v)+s*imag(w))
			y[i] = complex(c*real(w)-s*real(v), c*imag(w)-s*imag(v))
		}
	case []complex128:
		y := any(y).([]complex128)[:len(x)]
		for i, v := range x {
			w := y[i]
			x[i] = complex(c*real(v)+s*real(w), c*imag(v)+s*imag(w))
			y[i] = complex(c*real(w)-s*real(v), c*imag(w)-s*imag(v))
		}
	}
}

// turn is the rotation of a row and the next one.
type turn struct {
	row  int
	c, s float64
}

// turns is a sequence of rotations.
type turns []turn

func (t *turns) add(row int, c, s float64) { *t = append(*t, turn{row, c, s}) }

// turnsPool keeps the memory of sequences of rotations: small matrices, of which there may be many, need them, too.
var turnsPool = sync.Pool{New: func() any {
	t := make(turns, 0, 256)
	return &t
}}

// done gives the memory back.
func (t *turns) done() {
	*t = (*t)[:0]
	turnsPool.Put(t)
}

// flush applies the rotations to the rows of z, ld apart, in order, and forgets them. Strips of columns go through all
// rotations one after the other, so that they stay in the cache, and in parallel.
func flush[E Element](t *turns, z []E, ld int) {
	const strip = 64
	switch n := len(*t); {
	case n == 0 || ld == 0:
	case n*ld < 1<<15 && ld <= 2*strip:
		for _, r := range *t {
			rotateRows(z[r.row*ld:][:ld], z[(r.row+1)*ld:][:ld], r.c, r.s)
		}
	default:
		all := *t
		par.For((ld+strip-1)/strip, max(1, 1<<16/(n*strip+1)), func(lo, hi int) {
			for j := lo * strip; j < min(hi*strip, ld); j += strip {
				w := min(strip, ld-j)
				for _, r := range all {
					rotateRows(z[r.row*ld+j:][:w], z[(r.row+1)*ld+j:][:w], r.c, r.s)
				}
			}
		})
	}
	*t = (*t)[:0]
}

// many is the number of rotations that are kept until flush is worth its while.
const many = 4096

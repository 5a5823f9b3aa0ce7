package reduce

import (
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// Sums of complex numbers are those of their parts, by the kernels of real numbers. Rows are split into one for each
// part; in columns the parts lie side by side as they are.
var (
	sumC64  = sumParts[complex64](&sumF32)
	sumC128 = sumParts[complex128](&sumF64)
)

// partsOf sees complex numbers as twice as many real ones.
func partsOf[F float32 | float64, C complex64 | complex128](s []C) []F {
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(s))), 2*len(s))
}

// partwise makes a function of complex numbers from one of their parts.
func partwise(f func(s []float64)) func(s []complex128) {
	if f == nil {
		return nil
	}
	return func(s []complex128) { f(partsOf[float64](s)) }
}

// partsRun is the number of elements that are split at a time.
const partsRun = 1024

// splitParts is the memory for it, and for the sums of rows.
type splitParts[F float32 | float64] struct {
	re, im       [partsRun]F
	sumRe, sumIm [rowGroup]float64
}

// sumParts makes the kernel of complex numbers from that of their parts.
func sumParts[C complex64 | complex128, F float32 | float64](k *kern[F, float64]) *kern[C, complex128] {
	pool := sync.Pool{New: func() any { return new(splitParts[F]) }}
	row := func(acc complex128, s []C) complex128 {
		p := pool.Get().(*splitParts[F])
		sum := (*[2]float64)(unsafe.Pointer(&acc))
		for len(s) > 0 {
			n := min(len(s), partsRun)
			vec.Deinterleave(p.re[:n], p.im[:n], partsOf[F](s[:n]))
			sum[0], sum[1] = k.row(sum[0], p.re[:n]), k.row(sum[1], p.im[:n])
			s = s[n:]
		}
		pool.Put(p)
		return acc
	}
	return &kern[C, complex128]{
		row: row,
		rows: func(acc []complex128, s []C, n, stride int) {
			if n > partsRun {
				for i := range acc {
					acc[i] = row(acc[i], s[i*stride:][:n])
				}
				return
			}
			p := pool.Get().(*splitParts[F])
			for per := partsRun / n; len(acc) > 0; {
				m := min(per, len(acc))
				if stride == n {
					vec.Deinterleave(p.re[:m*n], p.im[:m*n], partsOf[F](s[:m*n]))
				} else {
					for i := range m {
						vec.Deinterleave(p.re[i*n:][:n], p.im[i*n:][:n], partsOf[F](s[i*stride:][:n]))
					}
				}
				re, im := p.sumRe[:m], p.sumIm[:m]
				clear(re)
				clear(im)
				k.rows(re, p.re[:m*n], n, n)
				k.rows(im, p.im[:m*n], n, n)
				for i := range re {
					acc[i] += complex(re[i], im[i])
				}
				if acc = acc[m:]; len(acc) > 0 {
					s = s[m*stride:]
				}
			}
			pool.Put(p)
		},
		block: func(acc []complex128, s []C, rows, stride int) {
			a, b := partsOf[float64](acc), partsOf[F](s)
			for at := 0; at < len(a); at += colTile {
				k.block(a[at:min(at+colTile, len(a))], b[at:], rows, 2*stride)
			}
		},
		merge: func(a, b complex128) complex128 { return a + b },
		joins: func(dst, a, b []complex128) {
			vec.AddF64(partsOf[float64](dst), partsOf[float64](a), partsOf[float64](b))
		},
	}
}

var (
	prodC64  = prodComplex(vec.MulC64)
	prodC128 = prodComplex(vec.MulC128)
)

// prodComplex makes the kernel of products, in the type of the elements as in PyTorch. A long row is multiplied as rows
// below each other.
func prodComplex[C complex64 | complex128](mul func(dst, a, b []C)) *kern[C, C] {
	const width = 64
	pool := sync.Pool{New: func() any { return new([width]C) }}
	return &kern[C, C]{
		init: 1,
		row: func(acc C, s []C) C {
			if len(s) >= 2*width {
				p := pool.Get().(*[width]C)
				copy(p[:], s)
				for s = s[width:]; len(s) >= width; s = s[width:] {
					mul(p[:], p[:], s[:width])
				}
				for n := width / 2; n >= 4; n /= 2 {
					mul(p[:n], p[:n], p[n:2*n])
				}
				acc *= p[0] * p[1] * (p[2] * p[3])
				pool.Put(p)
			}
			return chains(acc, s)
		},
		col:   func(acc, s []C) { mul(acc, acc, s) },
		merge: mulOf[C],
		joins: mul,
	}
}

package lapack

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// axpy adds f·x to y.
func axpy[E Element](y []E, f E, x []E) {
	switch y := any(y).(type) {
	case []float32:
		f, x := any(f).(float32), any(x).([]float32)[:len(y)]
		if len(y) >= 16 {
			vec.AddScaledF32(y, y, x, f)
			return
		}
		for i, v := range x {
			y[i] += f * v
		}
	case []float64:
		f, x := any(f).(float64), any(x).([]float64)[:len(y)]
		if len(y) >= 16 {
			vec.AddScaledF64(y, y, x, f)
			return
		}
		for i, v := range x {
			y[i] += f * v
		}
	case []complex64:
		f, x := any(f).(complex64), any(x).([]complex64)[:len(y)]
		fr, fi := real(f), imag(f)
		for i, v := range x {
			y[i] += complex(fr*real(v)-fi*imag(v), fr*imag(v)+fi*real(v))
		}
	case []complex128:
		f, x := any(f).(complex128), any(x).([]complex128)[:len(y)]
		fr, fi := real(f), imag(f)
		for i, v := range x {
			y[i] += complex(fr*real(v)-fi*imag(v), fr*imag(v)+fi*real(v))
		}
	}
}

// scale multiplies x by f.
func scale[E Element](x []E, f E) {
	switch x := any(x).(type) {
	case []float32:
		if len(x) >= 16 {
			vec.MulScalarF32(x, x, any(f).(float32))
			return
		}
	case []float64:
		if len(x) >= 16 {
			vec.MulScalarF64(x, x, any(f).(float64))
			return
		}
	}
	for i := range x {
		x[i] *= f
	}
}

// dotc is the sum of conj(x[i])·y[i].
func dotc[E Element](x, y []E) E {
	switch a := any(x).(type) {
	case []float32:
		b, s := any(y).([]float32)[:len(a)], float32(0)
		if len(a) >= 32 {
			return any(vec.DotF32(a, b)).(E)
		}
		for i, v := range a {
			s += v * b[i]
		}
		return any(s).(E)
	case []float64:
		b, s := any(y).([]float64)[:len(a)], 0.0
		if len(a) >= 32 {
			return any(vec.DotF64(a, b)).(E)
		}
		for i, v := range a {
			s += v * b[i]
		}
		return any(s).(E)
	case []complex64:
		b, s := any(y).([]complex64)[:len(a)], complex64(0)
		for i, v := range a {
			s += complex(real(v), -imag(v)) * b[i]
		}
		return any(s).(E)
	case []complex128:
		b, s := any(y).([]complex128)[:len(a)], complex128(0)
		for i, v := range a {
			s += complex(real(v), -imag(v)) * b[i]
		}
		return any(s).(E)
	}
	return 0
}

// copyConj makes to the conjugate of from.
func copyConj[E Element](to, from []E) {
	if !isComplex[E]() {
		copy(to, from)
		return
	}
	for i, x := range from {
		to[i] = Conj(x)
	}
}

// turnOver makes t, of row length ldt, the transpose of the rows×cols matrix a, on several threads where that pays.
func turnOver[E Element](t []E, ldt int, a []E, ld, rows, cols int) {
	switch {
	case rows == 0 || cols == 0:
	case rows >= cols:
		par.For(rows, max(64, 1<<14/cols), func(lo, hi int) { turnOverPart(t[lo:], ldt, a[lo*ld:], ld, hi-lo, cols) })
	default:
		par.For(cols, max(64, 1<<14/rows), func(lo, hi int) { turnOverPart(t[lo*ldt:], ldt, a[lo:], ld, rows, hi-lo) })
	}
}

func turnOverPart[E Element](t []E, ldt int, a []E, ld, rows, cols int) {
	switch t := any(t).(type) {
	case []float32:
		vec.TransposeF32(t, ldt, any(a).([]float32), ld, rows, cols)
		return
	case []float64:
		vec.Transpose64(bits(t), ldt, bits(any(a).([]float64)), ld, rows, cols)
		return
	case []complex64:
		vec.Transpose64(bits(t), ldt, bits(any(a).([]complex64)), ld, rows, cols)
		return
	}
	const tile = 16
	for i := 0; i < rows; i += tile {
		for j := 0; j < cols; j += tile {
			for c := j; c < min(j+tile, cols); c++ {
				for r := i; r < min(i+tile, rows); r++ {
					t[c*ldt+r] = a[r*ld+c]
				}
			}
		}
	}
}

// bits are elements of 64 bits as such.
func bits[E float64 | complex64](x []E) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// norm2 is the Euclidean norm of n elements that are inc apart, without overflow and underflow on the way.
func norm2[E Element](x []E, n, inc int) float64 {
	s := 0.0
	switch x := any(x).(type) {
	case []float32: // squares fit float64
		if inc == 1 && n >= 32 {
			return math.Sqrt(vec.SumSquaresF32As64(x[:n], 0))
		}
		for i := range n {
			v := float64(x[i*inc])
			s += v * v
		}
		return math.Sqrt(s)
	case []complex64:
		for i := range n {
			re, im := float64(real(x[i*inc])), float64(imag(x[i*inc]))
			s += re*re + im*im
		}
		return math.Sqrt(s)
	case []float64:
		if inc == 1 && n >= 32 {
			s = vec.DotF64(x[:n], x[:n])
			break
		}
		for i := range n {
			v := x[i*inc]
			s += v * v
		}
	case []complex128:
		for i := range n {
			re, im := real(x[i*inc]), imag(x[i*inc])
			s += re*re + im*im
		}
	}
	if s > 0x1p-900 && s < 0x1p1000 {
		return math.Sqrt(s)
	}
	s = 0
	for i := range n {
		s = math.Hypot(s, Abs(x[i*inc]))
	}
	return s
}

// largestOf is the largest absolute value of an element (of a part of it, when complex), NaN if there is one.
func largestOf[E Element](x []E) float64 {
	switch x := any(x).(type) {
	case []float32:
		return float64(largestReal(x))
	case []float64:
		return largestReal(x)
	}
	m := 0.0
	for _, v := range x {
		re, im := parts(v)
		if re = math.Abs(re); re > m || re != re {
			m = re
		}
		if im = math.Abs(im); im > m || im != im {
			m = im
		}
		if m != m {
			break
		}
	}
	return m
}

func largestReal[R Real](x []R) R {
	m := R(0)
	for _, v := range x {
		m = max(m, v, -v)
	}
	return m
}

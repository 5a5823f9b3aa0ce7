package softmax

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
)

// Lines whose elements are not adjacent are worked on side by side, in runs of columns: each kernel call handles one
// element of every line. Short rows, for which the calls would cost more than the work, are transposed to columns.

const (
	// minColumns is how many adjacent lines make that worth while.
	minColumns = 16
	// shortRow is the length of a row that is transposed.
	shortRow = 32
	// shortColumns is minColumns for lines that are no longer: fewer are brought together with those of other groups.
	shortColumns = 64
)

// line says where k lines of n elements side by side lie: element i of all of them begins at i*stride.
type line struct{ n, stride, k int }

// at is element i of the lines in memory x.
func at[E half.Real](l line, x []E, i int) []E { return x[i*l.stride:][:l.k] }

// columnKernel computes dst from the operands of a side-by-side run; buf has room for three values per line.
type columnKernel[E half.Real] func(v *kernels[E], l line, dst []E, src [][]E, buf []E)

// kernels are the vector kernels of an element type.
type kernels[E half.Real] struct {
	add, mul, maximum  func(dst, a, b []E)
	reciprocal, ln     func(dst, a []E)
	mulAdd             func(dst, a, b, c []E)
	expSum             func(dst, sum, a, m []E) // dst = e^(a-m), sum += dst
	sumExp             func(sum, a, m, tmp []E)
	log, grad, logGrad func(dst, a, b, c []E) // results of the second pass
	transpose          func(dst []E, ldd int, src []E, lds, rows, cols int)
}

var (
	kernels32 = kernels[float32]{vec.AddF32, vec.MulF32, vec.MaximumF32, vec.ReciprocalF32, vec.LogF32, vec.MulAddF32,
		vec.ExpSumColumnsF32,
		func(sum, a, m, _ []float32) { vec.SumExpColumnsF32(sum, a, m) },
		vec.LogSoftmaxColumnsF32, vec.SoftmaxBackwardColumnsF32, vec.LogSoftmaxBackwardColumnsF32, vec.TransposeF32}
	kernels64 = kernels[float64]{vec.AddF64, vec.MulF64, vec.MaximumF64, vec.ReciprocalF64, vec.LogF64, vec.MulAddF64,
		expSum64,
		func(sum, a, m, tmp []float64) { expSum64(tmp, sum, a, m) },
		vec.LogSoftmaxColumnsF64, vec.SoftmaxBackwardColumnsF64, logGrad64, transpose64}
)

func expSum64(dst, sum, a, m []float64) {
	vec.SubF64(dst, a, m)
	vec.ExpF64(dst, dst)
	vec.AddF64(sum, sum, dst)
}

func logGrad64(dst, grad, y, sum []float64) {
	vec.ExpF64(dst, y)
	vec.MulF64(dst, dst, sum)
	vec.SubF64(dst, grad, dst)
}

func transpose64(dst []float64, ldd int, src []float64, lds, rows, cols int) {
	iter.Transpose(unsafe.Pointer(&dst[0]), ldd*8, unsafe.Pointer(&src[0]), lds*8, rows, cols, 8)
}

// columns computes lines of n elements, inner apart. Long runs count for more than a small cache: 256 columns of 1000
// rows take a third of the time of 64.
func columns[E half.Real](v *kernels[E], f columnKernel[E], out *T, in []*T, outer, n, inner int) {
	width := min(inner, max(64, min(1<<18/n, 1024)&^15))
	per := (inner + width - 1) / width
	size := n * width // of a 16-bit operand's run
	if out.DType().Size() > 2 && in[0].DType().Size() > 2 {
		size = 0
	}
	par.For(outer*per, max(1, 1<<13/(n*width)), func(lo, hi int) {
		buf := half.Borrow[E](3*width + (1+len(in))*size)
		defer half.Return(buf)
		tmp, wide := (*buf)[:3*width], (*buf)[3*width:]
		src := make([][]E, len(in))
		for t := lo; t < hi; t++ {
			j := t % per * width
			k, off := min(width, inner-j), t/per*n*inner+j
			if size == 0 {
				for i, s := range in {
					src[i] = slice[E](s)[off:]
				}
				f(v, line{n, inner, k}, slice[E](out)[off:], src, tmp)
				continue
			}
			l := line{n, k, k}
			for i, s := range in {
				src[i] = wide[(1+i)*size:][:n*k]
				for r := range n {
					if d, w := at(l, src[i], r), half.Load(s, off+r*inner, at(l, src[i], r)); &d[0] != &w[0] {
						copy(d, w)
					}
				}
			}
			f(v, l, wide[:n*k], src, tmp)
			for r := range n {
				d := at(l, wide, r)
				if p := half.Place(out, off+r*inner, d); &p[0] != &d[0] {
					copy(p, d)
				}
				half.Store(out, off+r*inner, d)
			}
		}
	})
}

// shortRows computes short lines of n elements, inner apart, through blocks of them side by side.
func shortRows[E half.Real](v *kernels[E], f columnKernel[E], out *T, in []*T, outer, n, inner int) {
	const block = 256
	per := max(1, block/inner) // groups of inner lines
	par.For((outer+per-1)/per, max(1, 1<<14/(n*per*inner)), func(lo, hi int) {
		size := n * per * inner
		buf := half.Borrow[E](3*per*inner + (2+len(in))*size)
		defer half.Return(buf)
		tmp, flat, wide := (*buf)[:3*per*inner], (*buf)[3*per*inner:][:size], (*buf)[3*per*inner+size:]
		src := make([][]E, len(in))
		for b := lo; b < hi; b++ {
			from, m := b*per, min(per, outer-b*per)
			k, at := m*inner, from*n*inner
			for i, s := range in {
				src[i] = wide[(1+i)*size:][:n*k]
				if a := half.Load(s, at, flat[:n*k]); inner == 1 {
					v.transpose(src[i], k, a, n, k, n)
				} else {
					exchange(src[i], a, m, n, inner)
				}
			}
			f(v, line{n, k, k}, wide[:n*k], src, tmp)
			d := half.Place(out, at, flat[:n*k])
			if inner == 1 {
				v.transpose(d, n, wide, k, n, k)
			} else {
				exchange(d, wide[:n*k], n, m, inner)
			}
			half.Store(out, at, d)
		}
	})
}

// exchange transposes rows by cols groups of size elements.
func exchange[E half.Real](dst, src []E, rows, cols, size int) {
	for i := range rows {
		for j := range cols {
			copy(dst[(j*rows+i)*size:][:size], src[(i*cols+j)*size:])
		}
	}
}

// maxima sets m to the largest element of each line.
func maxima[E half.Real](v *kernels[E], l line, m, a []E) {
	copy(m, at(l, a, 0))
	for i := 1; i < l.n; i++ {
		v.maximum(m, m, at(l, a, i))
	}
}

func softmaxColumns[E half.Real](v *kernels[E], l line, dst []E, src [][]E, buf []E) {
	a, m, s := src[0], buf[:l.k], buf[l.k:2*l.k]
	maxima(v, l, m, a)
	clear(s)
	for i := range l.n {
		v.expSum(at(l, dst, i), s, at(l, a, i), m)
	}
	v.reciprocal(s, s)
	for i := range l.n {
		d := at(l, dst, i)
		v.mul(d, d, s)
	}
}

// logSoftmaxColumns rounds the sums of exponentials and then their logarithms by round, unless it is nil.
func logSoftmaxColumns[E half.Real](round func(x []E)) columnKernel[E] {
	return func(v *kernels[E], l line, dst []E, src [][]E, buf []E) {
		a, m, s := src[0], buf[:l.k], buf[l.k:2*l.k]
		maxima(v, l, m, a)
		clear(s)
		for i := range l.n {
			v.sumExp(s, at(l, a, i), m, buf[2*l.k:3*l.k])
		}
		if round != nil {
			round(s)
		}
		v.ln(s, s)
		if round != nil {
			round(s)
		}
		for i := range l.n {
			v.log(at(l, dst, i), at(l, a, i), m, s)
		}
	}
}

func softmaxGradColumns[E half.Real](v *kernels[E], l line, dst []E, src [][]E, buf []E) {
	grad, y, dot := src[0], src[1], buf[:l.k]
	clear(dot)
	for i := range l.n {
		v.mulAdd(dot, at(l, grad, i), at(l, y, i), dot)
	}
	for i := range l.n {
		v.grad(at(l, dst, i), at(l, grad, i), at(l, y, i), dot)
	}
}

func logSoftmaxGradColumns[E half.Real](v *kernels[E], l line, dst []E, src [][]E, buf []E) {
	grad, y, sum := src[0], src[1], buf[:l.k]
	clear(sum)
	for i := range l.n {
		v.add(sum, sum, at(l, grad, i))
	}
	for i := range l.n {
		v.logGrad(at(l, dst, i), at(l, grad, i), at(l, y, i), sum)
	}
}

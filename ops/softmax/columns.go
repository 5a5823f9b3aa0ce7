package softmax

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// Lines whose elements are not adjacent are worked on side by side, in runs of columns: each kernel call handles one element of every
// line. buf has room for two values per column.

// minColumns is how many adjacent lines make that worth while.
const minColumns = 16

// columns calls f for runs of k lines of n elements, inner apart, that begin at off. Long runs count for more
// than a small cache: 256 columns of 1000 rows take a third of the time of 64.
func columns(outer, n, inner int, f func(off, k int, buf []float32)) {
	width := min(inner, max(64, min(1<<18/n, 1024)&^15))
	per := (inner + width - 1) / width
	par.For(outer*per, max(1, 1<<13/(n*width)), func(lo, hi int) {
		buf := make([]float32, 2*width)
		for t := lo; t < hi; t++ {
			j := t % per * width
			f(t/per*n*inner+j, min(width, inner-j), buf)
		}
	})
}

// maxima sets m to the largest element of each line.
func maxima(m, a []float32, n, stride int) {
	k := len(m)
	copy(m, a[:k])
	for i := 1; i < n; i++ {
		vec.MaximumF32(m, m, a[i*stride:][:k])
	}
}

func softmaxColumns(dst, a []float32, n, stride, k int, buf []float32) {
	m, s := buf[:k], buf[k:2*k]
	maxima(m, a, n, stride)
	clear(s)
	for i := range n {
		vec.ExpSumColumnsF32(dst[i*stride:][:k], s, a[i*stride:], m)
	}
	vec.ReciprocalF32(s, s)
	for i := range n {
		d := dst[i*stride:][:k]
		vec.MulF32(d, d, s)
	}
}

func logSoftmaxColumns(dst, a []float32, n, stride, k int, buf []float32) {
	m, s := buf[:k], buf[k:2*k]
	maxima(m, a, n, stride)
	clear(s)
	for i := range n {
		vec.SumExpColumnsF32(s, a[i*stride:], m)
	}
	for j, v := range s {
		s[j] = float32(math.Log(float64(v)))
	}
	for i := range n {
		vec.LogSoftmaxColumnsF32(dst[i*stride:][:k], a[i*stride:], m, s)
	}
}

func softmaxGradColumns(dst, grad, y []float32, n, stride, k int, buf []float32) {
	dot := buf[:k]
	clear(dot)
	for i := range n {
		vec.MulAddF32(dot, grad[i*stride:], y[i*stride:], dot)
	}
	for i := range n {
		vec.SoftmaxBackwardColumnsF32(dst[i*stride:][:k], grad[i*stride:], y[i*stride:], dot)
	}
}

func logSoftmaxGradColumns(dst, grad, y []float32, n, stride, k int, buf []float32) {
	sum := buf[:k]
	clear(sum)
	for i := range n {
		vec.AddF32(sum, sum, grad[i*stride:])
	}
	for i := range n {
		vec.LogSoftmaxBackwardColumnsF32(dst[i*stride:][:k], grad[i*stride:], y[i*stride:], sum)
	}
}

package matmul

import (
	"unsafe"

	"github.com/gotorch-dev/torch/tensor"
)

// linearGrads are the gradients of linear with a matrix as weight, for a pass that is not itself recorded. They are three products that
// read the gradient (m rows of n), the input (m of k) and the weight (n of k) where they lie.
func linearGrads(c *Ctx, g *T, m, n, k int) []*T {
	r := make([]*T, 3)
	dy := rows(g, m, n)
	if c.Needs(0) {
		dx := tensor.New(c.Shape(0), g.DType())
		product(nil, m, k, n, one, dy, last2(c.T(1)), zero, matrix{t: dx, rs: k, cs: 1}, nil)
		r[0] = dx
	}
	if c.Needs(1) {
		dw := tensor.New([]int{n, k}, g.DType())
		product(nil, n, k, m, one, dy.flip(), rows(c.T(0), m, k), zero, matrix{t: dw, rs: k, cs: 1}, nil)
		r[1] = dw
	}
	if c.Has(2) && c.Needs(2) {
		r[2] = g
		if len(c.Shape(2)) == 1 && c.Shape(2)[0] == n {
			r[2] = columnSums(g, dy, m, n)
		}
	}
	return r
}

// smallSum is the number of columns up to which columnSums needs no operator.
const smallSum = 64

// columnSums is the sum over the rows of a gradient.
func columnSums(g *T, dy matrix, m, n int) *T {
	if g.DType() != tensor.Float32 || n > smallSum || m > smallSum || dy.cs != 1 || dy.rs != n {
		return g.Reshape([]int{m, n}).SumDim([]int{0})
	}
	var acc [smallSum]float64 // the precision of sum
	src := unsafe.Slice((*float32)(tensor.Ptr(dy.t)), m*n)
	for ; len(src) > 0; src = src[n:] {
		for j, v := range src[:n] {
			acc[j] += float64(v)
		}
	}
	out := tensor.New([]int{n}, tensor.Float32)
	d := unsafe.Slice((*float32)(tensor.Ptr(out)), n)
	for j := range d {
		d[j] = float32(acc[j])
	}
	return out
}

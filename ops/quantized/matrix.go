package quantized

import (
	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// matrix is a weight of n columns of k bytes each, column by column, with what a product needs besides.
type matrix struct {
	n, k   int
	b      []int8
	scales []float32 // of each column, or one
	zeros  []int32   // of each column
	sums   []int32   // of each column's bytes
	plain  bool      // all zero points are 0
}

// newMatrix lays out columns of a weight.
func newMatrix(b []int8, n, k int, scales []float32, zeros []int32) *matrix {
	m := &matrix{n: n, k: k, b: b, scales: scales, zeros: zeros, sums: make([]int32, n), plain: true}
	for j := range n {
		for _, w := range b[j*k : (j+1)*k] {
			m.sums[j] += int32(w)
		}
		m.plain = m.plain && zeros[j] == 0
	}
	return m
}

// multiply computes the sums over k of (a - za) * (b - zb), for rows of bytes a. The product of the bytes themselves is
// corrected by the sums of rows and columns: Σ(a-za)(b-zb) = Σab - za·Σb - zb·Σa + k·za·zb.
func multiply[A uint8 | int8](m *matrix, a []A, rows int, za int32, out []int32) {
	if rows == 0 || m.n == 0 {
		return
	}
	if m.k == 0 {
		clear(out)
		return
	}
	gemm.GEMMInt8(nil, rows, m.n, m.k, a, m.k, 1, m.b, 1, m.k, false, out, m.n, 1)
	if za == 0 && m.plain {
		return
	}
	par.For(rows, 1+4096/(m.n+m.k), func(from, to int) {
		for i := from; i < to; i++ {
			row := out[i*m.n:][:m.n]
			if m.plain {
				for j, s := range m.sums {
					row[j] -= za * s
				}
				continue
			}
			var sum int32
			for _, x := range a[i*m.k:][:m.k] {
				sum += int32(x)
			}
			for j, s := range m.sums {
				row[j] -= za*s + m.zeros[j]*(sum-int32(m.k)*za)
			}
		}
	})
}

// product multiplies rows of a quantized input by a weight.
func product(m *matrix, x *T, zero int, rows int) []int32 {
	out := make([]int32, rows*m.n)
	if x.DType() == tensor.Int8 {
		multiply(m, tensor.Data[int8](x), rows, int32(zero), out)
	} else {
		multiply(m, tensor.Data[uint8](x), rows, int32(zero), out)
	}
	return out
}

// requantized writes rows of sums as the type of dst.
func requantized(o *quant.Output, dst *T, sums []int32, n int) {
	if dst.DType() == tensor.Int8 {
		quant.Requantize(o, tensor.Memory[int8](dst), sums, n)
		return
	}
	quant.Requantize(o, tensor.Memory[uint8](dst), sums, n)
}

package matmul

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// invertBlocked inverts an n×n matrix in place by Gauss-Jordan elimination in blocks of columns. What a block's pivots
// do to the rows is a matrix that differs from the identity in the columns of the block alone; it takes the place of
// the block's columns, and the other columns are multiplied by it. It returns the first diagonal element that is zero,
// -1 if there is none.
func invertBlocked(a []float64, n int) int {
	const block = 32
	panel := make([]float64, block*n) // the block's columns, one after the other
	above := make([]float64, block*n) // the block's rows, before they change
	swaps := make([]int, n)
	for k0 := 0; k0 < n; k0 += block {
		b := min(block, n-k0)
		col := func(j int) []float64 { return panel[j*n:][:n] }
		for i := range n {
			for j, v := range a[i*n+k0:][:b] {
				panel[j*n+i] = v
			}
		}
		for j := range b {
			k, x := k0+j, col(j)
			p := k
			for i := k + 1; i < n; i++ {
				if math.Abs(x[i]) > math.Abs(x[p]) {
					p = i
				}
			}
			if x[p] == 0 {
				return k
			}
			if swaps[k] = p; p != k {
				for c := range b {
					y := col(c)
					y[k], y[p] = y[p], y[k]
				}
			}
			d := 1 / x[k]
			for c := range b {
				if c == j {
					continue
				}
				y := col(c)
				s := y[k] * d
				y[k] = 0
				vec.AddScaledF64(y, y, x, -s)
				y[k] = s
			}
			vec.MulScalarF64(x, x, -d)
			x[k] = d
		}
		for k := k0; k < k0+b; k++ { // the exchanges, in the other columns
			if p := swaps[k]; p != k {
				for _, r := range [2][2]int{{0, k0}, {k0 + b, n}} {
					x, y := a[k*n+r[0]:k*n+r[1]], a[p*n+r[0]:p*n+r[1]]
					for i := range x {
						x[i], y[i] = y[i], x[i]
					}
				}
			}
		}
		rows := a[k0*n : (k0+b)*n]
		copy(above, rows)
		clear(rows)
		for i := range b { // no product with the block itself, whose columns are set below
			clear(above[i*n+k0:][:b])
		}
		gemm.DGEMM(n, n, b, 1, panel, 1, n, above, n, 1, 1, a, n, 1)
		for i := range n {
			for j := range b {
				a[i*n+k0+j] = panel[j*n+i]
			}
		}
	}
	for k := n - 1; k >= 0; k-- { // exchanges of rows are exchanges of the inverse's columns, in the other order
		if p := swaps[k]; p != k {
			for i := range n {
				a[i*n+k], a[i*n+p] = a[i*n+p], a[i*n+k]
			}
		}
	}
	return -1
}

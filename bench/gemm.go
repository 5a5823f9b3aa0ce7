package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
)

// gemmRows are matrix products, most of them of float32.
func gemmRows(c *config) []row {
	var rows []row
	for _, n := range []int{64, 128, 256, 512, 1024, 2048, 4096} {
		n = c.size(n, 32)
		rows = append(rows, product(fmt.Sprintf("sgemm %d³", n), n, n, n, false, false))
		if c.tiny {
			break
		}
	}
	n := c.size(1024, 32)
	rows = append(rows,
		product(fmt.Sprintf("sgemm %d³ A·Bᵀ", n), n, n, n, false, true),
		product(fmt.Sprintf("sgemm %d³ Aᵀ·B", n), n, n, n, true, false),
		// PyTorch takes seconds for larger ones
		lowProduct("bfloat16", n), lowProduct("float16", n/2), lowProduct("int8", n/2),
	)
	if c.tiny {
		return rows
	}
	// m×n×k: a layer of an MLP, a classifier's last layer, a convolution as a product; the first two also as a linear
	// layer has them.
	for _, s := range [][3]int{{128, 784, 512}, {32, 1000, 2048}, {12544, 64, 576}} {
		rows = append(rows, product(fmt.Sprintf("sgemm %dx%dx%d", s[0], s[1], s[2]), s[0], s[2], s[1], false, false))
	}
	rows = append(rows,
		product("sgemm 128x512x784 A·Bᵀ", 128, 784, 512, false, true),
		product("sgemm 32x1000x2048 A·Bᵀ", 32, 2048, 1000, false, true),
		batched(64, 128, 64, 128), batched(256, 16, 16, 16))
	return rows
}

// product is (m,k)·(k,n); ta and tb say that an operand is the transpose of what lies in memory.
func product(name string, m, k, n int, ta, tb bool) row {
	return row{
		name: name, flops: 2 * float64(m) * float64(k) * float64(n),
		peer: "matmul", args: arg{"m": m, "k": k, "n": n, "ta": ta, "tb": tb},
		prepare: func() work {
			matrix := func(r, c int, t bool) *torch.Tensor {
				if t {
					return torch.Randn([]int{c, r}).T()
				}
				return torch.Randn([]int{r, c})
			}
			a, b := matrix(m, k, ta), matrix(k, n, tb)
			return work{step: func() { torch.Tidy(func() { a.MM(b) }) }}
		},
	}
}

// lowProduct is a product of matrices with elements of 8 or 16 bits; that of int8 gives int32. Its share of the peak is
// that of the float32 peak, which processors with instructions for these types exceed.
func lowProduct(dtype string, n int) row {
	return row{
		name: fmt.Sprintf("gemm %s %d³", dtype, n), flops: 2 * float64(n) * float64(n) * float64(n),
		peer: "matmul_low", args: arg{"n": n, "dtype": dtype},
		prepare: func() work {
			a, b := torch.Randn([]int{n, n}), torch.Randn([]int{n, n})
			if dtype == "int8" {
				a, b = a.MulScalar(50).To(torch.Int8), b.MulScalar(50).To(torch.Int8)
				return work{step: func() { torch.Tidy(func() { a.IntMM(b) }) }}
			}
			dt := torch.BFloat16
			if dtype == "float16" {
				dt = torch.Float16
			}
			a, b = a.To(dt), b.To(dt)
			return work{step: func() { torch.Tidy(func() { a.MM(b) }) }}
		},
	}
}

func batched(b, m, k, n int) row {
	return row{
		name: fmt.Sprintf("bmm %dx(%dx%dx%d)", b, m, k, n), flops: 2 * float64(b*m) * float64(k*n),
		peer: "bmm", args: arg{"b": b, "m": m, "k": k, "n": n},
		prepare: func() work {
			x, y := torch.Randn([]int{b, m, k}), torch.Randn([]int{b, k, n})
			return work{step: func() { torch.Tidy(func() { x.BMM(y) }) }}
		},
	}
}

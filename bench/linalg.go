package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/linalg"
)

// linalgRows are factorizations of one matrix of three sizes and of many small ones.
func linalgRows(c *config) []row {
	var rows []row
	for _, s := range [][2]int{{1000, 8}, {1, 64}, {1, 512}, {1, 1024}} {
		count, n := c.size(s[0], min(s[0], 3)), c.size(s[1], s[1]/64+4)
		for _, f := range []struct {
			op string
			f  func(x *torch.Tensor)
		}{
			{"solve", func(x *torch.Tensor) { linalg.Solve(x, x) }},
			{"inv", func(x *torch.Tensor) { linalg.Inv(x) }},
			{"cholesky", func(x *torch.Tensor) { linalg.Cholesky(x) }},
			{"qr", func(x *torch.Tensor) { linalg.QR(x) }},
			{"eigh", func(x *torch.Tensor) { linalg.Eigh(x) }},
			{"svd", func(x *torch.Tensor) { linalg.SVD(x) }},
		} {
			rows = append(rows, row{
				name: fmt.Sprintf("%s %dx%d²", f.op, count, n), peer: "factor",
				args: arg{"op": f.op, "count": count, "n": n},
				prepare: func() work {
					x := torch.Randn([]int{count, n, n})
					x = x.MatMul(x.MT()).Add(torch.Eye(n).MulScalar(n))
					return work{step: func() { torch.Tidy(func() { f.f(x) }) }}
				},
			})
		}
	}
	return rows
}

package linalg

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "torch::svd_lowrank(Tensor A, int? q=6, int? niter=2, Tensor? M=None) -> (Tensor U, Tensor S, Tensor V)",
		Doc: "is an approximate singular value decomposition of A, or of A - M, with q singular values: A is " +
			"multiplied by random vectors, whose products span about the space of the largest singular vectors. More " +
			"iterations make it more precise.\n" +
			"https://pytorch.org/docs/stable/generated/torch.svd_lowrank.html",
		Go: "SVDLowrank",
		Body: func(c *Ctx) {
			q, rounds := 6, 2
			if c.Has(1) {
				q = c.Int(1)
			}
			if c.Has(2) {
				rounds = c.Int(2)
			}
			if rounds > mostRounds {
				c.Fail(tensor.ErrValue, "svd_lowrank: niter(=%d) must be at most %d", rounds, mostRounds)
			}
			if q < 0 {
				c.Fail(tensor.ErrValue, "svd_lowrank: q must not be negative, got %d", q)
			}
			c.Return(lowRank(c.T(0), optional(c, 3), q, rounds)...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "torch::pca_lowrank(Tensor A, int? q=None, bool center=True, int niter=2) -> (Tensor U, Tensor S, Tensor V)",
		Doc: "is svd_lowrank of A with its columns' means subtracted, unless Center is false; q is min(6, m, n) by " +
			"default. The columns of the third result are the principal directions.\n" +
			"https://pytorch.org/docs/stable/generated/torch.pca_lowrank.html",
		Go: "PCALowrank",
		Body: func(c *Ctx) {
			a := c.T(0)
			if a.Dim() < 2 {
				c.Fail(tensor.ErrShape, "pca_lowrank: input must have at least 2 dimensions")
			}
			m, n := a.Size(-2), a.Size(-1)
			q := min(6, m, n)
			if c.Has(1) {
				q = c.Int(1)
			}
			switch {
			case q < 0 || q > min(m, n):
				c.Fail(tensor.ErrValue, "q(=%d) must be non-negative integer and not greater than min(m, n)=%d", q,
					min(m, n))
			case c.Int(3) < 0:
				c.Fail(tensor.ErrValue, "niter(=%d) must be non-negative integer", c.Int(3))
			case c.Int(3) > mostRounds:
				c.Fail(tensor.ErrValue, "niter(=%d) must be at most %d", c.Int(3), mostRounds)
			}
			if c.Bool(2) {
				a = a.Sub(a.MeanDim([]int{-2}, tensor.MeanDimOptions{KeepDim: true}))
			}
			c.Return(lowRank(a, nil, q, c.Int(3))...)
		},
	})
}

// mostRounds is the largest number of iterations: two make the result exact in practice, and a call with a number out
// of all proportion would not end.
const mostRounds = 10000

// lowRank is algorithm 5.1 of N. Halko, P. Martinsson, J. Tropp, Finding structure with randomness (2009), over the
// basis of algorithm 4.4.
func lowRank(a, mean *T, q, rounds int) []*T {
	if a.Dim() < 2 {
		tensor.Fail(tensor.ErrShape, "svd_lowrank: input must have at least 2 dimensions")
	}
	if mean != nil {
		a = a.Sub(mean.Expand(a.Shape()))
	}
	turned := a.Size(-2) < a.Size(-1)
	if turned {
		a = a.MH()
	}
	x := a.MatMul(op.Call1("torch::randn", []int{a.Size(-1), q}, nil, a.DType(), nil, a.Device()))
	basis := func(x *T) *T { return op.Call("aten::linalg_qr", x)[0] }
	b := basis(x)
	for range rounds {
		b = basis(a.MH().MatMul(b))
		b = basis(a.MatMul(b))
	}
	r := op.Call("aten::linalg_svd", b.MH().MatMul(a), false)
	u, s, v := b.MatMul(r[0]), r[1], r[2].MH()
	if turned {
		u, v = v, u
	}
	return []*T{u, s, v}
}

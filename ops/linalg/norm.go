package linalg

import (
	"math"
	"slices"
	"strconv"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const (
	matrixNormDoc = "is a norm of matrices: \"fro\" (the default), \"nuc\", the largest (smallest) row sum for " +
		"(-)Inf, column sum for (-)1, singular value for (-)2.\n" +
		"https://pytorch.org/docs/stable/generated/torch.linalg.matrix_norm.html"
	normDoc = "is a norm of vectors or matrices: without an order the 2-norm of all elements or of the dimensions " +
		"given; with an order the norm of a vector (linalg_vector_norm) for one dimension, of a matrix " +
		"(linalg_matrix_norm) for two.\n" +
		"https://pytorch.org/docs/stable/generated/torch.linalg.norm.html"
	condDoc = "is the condition number: the norm of a matrix times the norm of its inverse, for the orders of " +
		"linalg_matrix_norm; without an order the quotient of the largest and the smallest singular value.\n" +
		"https://pytorch.org/docs/stable/generated/torch.linalg.cond.html"
)

// checkNorm checks what matrix norms have in common and returns the two dimensions.
func checkNorm(c *Ctx, a *T, dim []int, dt tensor.DType) (d0, d1 int) {
	const api = "linalg.matrix_norm"
	switch t := a.DType(); {
	case a.Dim() < 2:
		c.Fail(tensor.ErrShape, "%s: The input tensor A must have at least 2 dimensions.", api)
	case !t.IsFloat() && !t.IsComplex():
		c.Fail(tensor.ErrDType, "%s: Expected a floating point or complex tensor as input. Got %s", api, t.ClassName())
	case len(dim) != 2:
		text := ""
		for i, d := range dim {
			if i > 0 {
				text += ", "
			}
			text += tensor.IntValue(d).String()
		}
		c.Fail(tensor.ErrShape, "%s: dim must be a 2-tuple. Got %s", api, text)
	}
	d0, d1 = op.Wrap(c, dim[0], a.Dim()), op.Wrap(c, dim[1], a.Dim())
	if d0 == d1 {
		c.Fail(tensor.ErrShape, "%s: dims must be different. Got (%d, %d)", api, dim[0], dim[1])
	}
	if dt != 0 {
		t := a.DType()
		switch {
		case !dt.IsFloat() && !dt.IsComplex():
			c.Fail(tensor.ErrDType, "%s: dtype should be floating point or complex, but got %s", api, dt.ClassName())
		case dt.IsComplex() != t.IsComplex():
			c.Fail(tensor.ErrDType, "%s: dtype should be %s for %s inputs, but got %s", api,
				op.Pick(t.IsComplex(), "complex", "real"), op.Pick(t.IsComplex(), "complex", "real"), dt.ClassName())
		case tensor.PromoteTypes(t, dt) != dt:
			c.Fail(tensor.ErrDType, "%s: the dtype of the input (%s) should be convertible without narrowing to the "+
				"specified dtype (%s)", api, t.ClassName(), dt.ClassName())
		}
	}
	return d0, d1
}

// vectorNorm is linalg_vector_norm.
func vectorNorm(a *T, ord float64, dim []int, keep bool, dt tensor.DType) *T {
	d, k := any(nil), any(nil)
	if dim != nil {
		d = dim
	}
	if dt != 0 {
		k = dt
	}
	return op.Call1("aten::linalg_vector_norm", a, ord, d, keep, k)
}

// singularValues are those of the matrices in dimensions d0 and d1.
func singularValues(c *Ctx, a *T, d0, d1 int, dt tensor.DType) *T {
	if dt != 0 {
		a = a.ToDType(dt)
	}
	if t := a.DType(); t.Real().Size() < 4 {
		c.Fail(tensor.ErrDType, "linalg.matrix_norm: Low precision dtypes not supported. Got %s", t.ClassName())
	}
	return op.Call1("aten::linalg_svdvals", op.Call1("aten::movedim.intlist", a, []int{d0, d1}, []int{-2, -1}))
}

// unsqueezed puts back dimensions of size 1.
func unsqueezed(t *T, d0, d1 int) *T { return t.Unsqueeze(min(d0, d1)).Unsqueeze(max(d0, d1)) }

func matrixNorm(c *Ctx, a *T, p tensor.Num, dim []int, keep bool, dt tensor.DType) *T {
	d0, d1 := checkNorm(c, a, dim, dt)
	ord := p.F
	size := math.Abs(ord)
	if size != 1 && size != 2 && !math.IsInf(size, 1) {
		c.Fail(tensor.ErrValue, "linalg.matrix_norm: Order %s not supported.", orderText(ord))
	}
	// an extreme of no elements is 0 for the positive orders
	extreme := func(t *T, d int) *T {
		if ord < 0 {
			return op.Call1("aten::amin", t, []int{d}, keep)
		}
		if t.Size(d) == 0 {
			return t.SumDim([]int{d}, tensor.SumDimOptions{KeepDim: keep})
		}
		return t.Amax(tensor.AmaxOptions{Dim: []int{d}, KeepDim: keep})
	}
	if size == 2 {
		s := singularValues(c, a, d0, d1, dt)
		keepAsked := keep
		keep = false
		r := extreme(s, s.Dim()-1)
		if keepAsked {
			r = unsqueezed(r, d0, d1)
		}
		return r
	}
	if size == 1 {
		d0, d1 = d1, d0
	}
	s := vectorNorm(a, 1, []int{d1}, keep, dt)
	if !keep && d1 < d0 {
		d0--
	}
	return extreme(s, d0)
}

func matrixNormName(c *Ctx, a *T, ord string, dim []int, keep bool, dt tensor.DType) *T {
	d0, d1 := checkNorm(c, a, dim, dt)
	switch ord {
	case "fro":
		return vectorNorm(a, 2, []int{d0, d1}, keep, dt)
	case "nuc":
		r := singularValues(c, a, d0, d1, dt).SumDim([]int{-1})
		if keep {
			r = unsqueezed(r, d0, d1)
		}
		return r
	}
	c.Fail(tensor.ErrValue, "linalg.matrix_norm: Order %s not supported.", ord)
	return nil
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc:    matrixNormDoc, Go: "MatrixNormOrd", Out: true,
		Body: func(c *Ctx) { c.Return(matrixNorm(c, c.T(0), c.Num(1), c.Ints(2), c.Bool(3), c.DType(4))) },
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc:    matrixNormDoc, Go: "MatrixNorm", Out: true,
		Body: func(c *Ctx) { c.Return(matrixNormName(c, c.T(0), c.Str(1), c.Ints(2), c.Bool(3), c.DType(4))) },
	})
	// dimsOf is the dimensions argument, or those of the whole matrix or vector where an order is given.
	dimsOf := func(c *Ctx, a *T) []int {
		if c.Has(2) {
			d := c.Ints(2)
			if len(d) != 1 && len(d) != 2 {
				c.Fail(tensor.ErrShape, "linalg.norm: If dim is specified, it must be of length 1 or 2. Got %s",
					tensor.IntsValue(d).String())
			}
			return d
		}
		switch a.Dim() {
		case 1:
			return []int{0}
		case 2:
			return []int{0, 1}
		}
		c.Fail(tensor.ErrShape, "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got %dD.",
			a.Dim())
		return nil
	}
	tensor.Register(tensor.Def{
		Schema: "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc:    normDoc, Go: "Norm", Out: true,
		Body: func(c *Ctx) {
			a := c.T(0)
			if !c.Has(1) {
				var dim []int
				if c.Has(2) {
					dim = c.Ints(2)
				}
				c.Return(vectorNorm(a, 2, dim, c.Bool(3), c.DType(4)))
				return
			}
			if d := dimsOf(c, a); len(d) == 2 {
				c.Return(matrixNorm(c, a, c.Num(1), d, c.Bool(3), c.DType(4)))
			} else {
				c.Return(vectorNorm(a, c.Num(1).F, d, c.Bool(3), c.DType(4)))
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc:    normDoc, Go: "NormName", Out: true,
		Body: func(c *Ctx) {
			a := c.T(0)
			d := []int{0, 1}
			if c.Has(2) {
				d = c.Ints(2)
			} else if a.Dim() != 1 && a.Dim() != 2 {
				c.Fail(tensor.ErrShape, "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "+
					"Got %dD.", a.Dim())
			}
			c.Return(matrixNormName(c, a, c.Str(1), d, c.Bool(3), c.DType(4)))
		},
	})
	nuclear := func(dim, keep int) func(c *Ctx) {
		return func(c *Ctx) {
			d := []int{-2, -1}
			if dim > 0 {
				d = c.Ints(dim)
			}
			c.Return(op.Call1("aten::linalg_matrix_norm.str_ord", c.T(0), "nuc", d, c.Bool(keep)))
		}
	}
	tensor.Register(tensor.Def{
		Schema: "nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
		Doc:    "is the sum of the singular values of matrices.", Out: true, Body: nuclear(0, 1),
	})
	tensor.Register(tensor.Def{
		Schema: "nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
		Doc:    "is the sum of the singular values of the matrices in two dimensions.", Go: "NuclearNormDim", Out: true,
		Body: nuclear(1, 2),
	})
	registerCond()
}

func registerCond() {
	// byInverse is the norm times that of the inverse, infinite for singular matrices.
	byInverse := func(c *Ctx, norm func(a *T) *T, ord string) *T {
		a := c.T(0)
		if a.Size(-1) != a.Size(-2) {
			c.Fail(tensor.ErrShape, "linalg.cond(ord=%s): A must be batches of square matrices, but they are %d by %d "+
				"matrices", ord, a.Size(-2), a.Size(-1))
		}
		r := op.Call("aten::linalg_inv_ex", a)
		bad := r[1].NeScalar(0).Unsqueeze(-1).Unsqueeze(-1)
		inverse := r[0].MaskedFillScalar(bad, math.Inf(1))
		return norm(a).Mul(norm(inverse))
	}
	check := func(c *Ctx) bool { // whether there are elements
		a := c.T(0)
		if a.Dim() < 2 {
			c.Fail(tensor.ErrShape, "linalg.cond: The input tensor must have at least 2 dimensions.")
		}
		if a.Numel() == 0 {
			c.Return(op.Zeros(a, batch(a.Shape()), a.DType().Real()))
			return false
		}
		return true
	}
	tensor.Register(tensor.Def{
		Schema: "linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
		Doc:    condDoc, Go: "Cond", Out: true,
		Body: func(c *Ctx) {
			if c.Has(1) && !slices.Contains([]float64{1, -1, 2, -2, math.Inf(1), math.Inf(-1)}, c.Num(1).F) {
				c.Fail(tensor.ErrValue, "linalg.cond got an invalid norm type: %s", orderText(c.Num(1).F))
			}
			if !check(c) {
				return
			}
			p := 2.0
			if c.Has(1) {
				p = c.Num(1).F
			}
			if math.Abs(p) != 2 {
				c.Return(byInverse(c, func(a *T) *T {
					return op.Call1("aten::linalg_matrix_norm", a, c.Num(1), []int{-2, -1})
				}, orderText(c.Num(1).F)))
				return
			}
			s := op.Call1("aten::linalg_svdvals", c.T(0))
			big, small := s.Select(-1, 0), s.Select(-1, s.Size(-1)-1)
			if p < 0 {
				big, small = small, big
			}
			c.Return(big.Div(small))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_cond.p_str(Tensor self, str p) -> Tensor",
		Doc:    condDoc, Go: "CondName", Out: true,
		Body: func(c *Ctx) {
			p := c.Str(1)
			if p != "fro" && p != "nuc" {
				c.Fail(tensor.ErrValue, "linalg.cond got an invalid norm type: %s", p)
			}
			if !check(c) {
				return
			}
			c.Return(byInverse(c, func(a *T) *T { return op.Call1("aten::linalg_matrix_norm.str_ord", a, p) }, p))
		},
	})
}

// orderText is an order as PyTorch prints it.
func orderText(p float64) string {
	switch {
	case math.IsInf(p, 1):
		return "inf"
	case math.IsInf(p, -1):
		return "-inf"
	}
	return strconv.FormatFloat(p, 'g', 6, 64)
}

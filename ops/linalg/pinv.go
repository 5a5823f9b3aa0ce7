package linalg

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const (
	pinvDoc = "is the pseudoinverse of matrices; singular values up to max(atol, rtol·largest) count as zero. " +
		"Hermitian matrices may be declared as such.\n" +
		"https://pytorch.org/docs/stable/generated/torch.linalg.pinv.html"
	rankDoc = "is the number of singular values above max(atol, rtol·largest). Hermitian matrices may be declared as " +
		"such.\n" +
		"https://pytorch.org/docs/stable/generated/torch.linalg.matrix_rank.html"
)

// epsilon is the distance from 1 to the next number of the type.
func epsilon(dt tensor.DType) float64 { return 2 * precision(dt) }

// tolerances fills in the limits that are not given: atol is 0, and rtol is the size of a matrix times epsilon, or 0
// where atol is positive.
func tolerances(c *Ctx, api string, a, atol, rtol *T) (*T, *T) {
	for _, o := range []struct {
		name string
		t    *T
	}{{"atol", atol}, {"rtol", rtol}} {
		if o.t != nil && o.t.IsComplex() {
			c.Fail(tensor.ErrDType, "%s: %s tensor of complex type is not supported. Got %s", api, o.name,
				o.t.DType().ClassName())
		}
	}
	real := a.DType().Real()
	if rtol == nil {
		def := op.Full(a, nil, epsilon(a.DType())*float64(max(a.Size(-1), a.Size(-2))), real)
		rtol = def
		if atol != nil {
			rtol = op.Call1("aten::where.self", atol.GtScalar(0), op.Zeros(a, nil, real), def)
		}
	}
	if atol == nil {
		atol = op.Zeros(a, nil, real)
	}
	return atol, rtol
}

// numbers is an optional float as an optional tensor of float64.
func number(c *Ctx, i int, like *T) *T {
	if !c.Has(i) {
		return nil
	}
	return op.Full(like, nil, c.Float(i), tensor.Float64)
}

func optional(c *Ctx, i int) *T {
	if !c.Has(i) {
		return nil
	}
	return c.T(i)
}

// pinv composes the pseudoinverse of the singular value decomposition.
func pinv(c *Ctx, a, atol, rtol *T, hermitian bool) *T {
	if a.Dim() < 2 || !a.DType().IsFloat() && !a.DType().IsComplex() {
		c.Fail(tensor.ErrShape, "linalg.pinv(%s{%s}): expected a tensor with 2 or more dimensions of float, double, "+
			"cfloat or cdouble types", a.DType().ClassName(), tensor.IntsValue(a.Shape()).String())
	}
	atol, rtol = tolerances(c, "torch.linalg.pinv", a, atol, rtol)
	if a.Numel() == 0 {
		return op.Zeros(a, join(batch(a.Shape()), a.Size(-1), a.Size(-2)), a.DType())
	}
	least := func(s, largest *T) *T {
		t := op.Call1("aten::maximum", atol.Unsqueeze(-1), rtol.Unsqueeze(-1).Mul(largest))
		return op.Where(s.Gt(t), s.Reciprocal())
	}
	if hermitian {
		r := op.Call("aten::linalg_eigh", a)
		l, v := r[0], r[1]
		s := l.Abs()
		inverse := op.Where(least(s, s.Amax(tensor.AmaxOptions{Dim: []int{-1}, KeepDim: true})).GtScalar(0),
			l.Reciprocal())
		return v.Mul(inverse.Unsqueeze(-2)).MatMul(v.MH())
	}
	r := op.Call("aten::linalg_svd", a, false)
	u, s, vh := r[0], r[1], r[2]
	return vh.MH().Mul(least(s, s.Narrow(-1, 0, 1)).Unsqueeze(-2)).MatMul(u.MH())
}

// pinvGrad is the rule of Golub and Pereyra, The Differentiation of Pseudo-Inverses and Nonlinear Least Squares
// Problems Whose Variables Separate (1973), with products in the order that needs the smaller matrices.
func pinvGrad(g, p, a *T) *T {
	ph, gh := p.MH(), g.MH()
	if a.Size(-2) <= a.Size(-1) {
		k := gh.MatMul(p)
		kp := k.MatMul(ph)
		return kp.Sub(p.MatMul(k).MH()).Sub(a.MatMul(p).MatMul(kp)).Add(ph.MatMul(p).MatMul(gh.Sub(k.MatMul(a))))
	}
	k := p.MatMul(gh)
	pk := ph.MatMul(k)
	return gh.Sub(a.MatMul(k)).MatMul(p).MatMul(ph).Add(pk).Sub(pk.MatMul(p).MatMul(a)).Sub(k.MatMul(p).MH())
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
		Doc:    pinvDoc, Go: "PinvTensor", Out: true,
		Infer: func(c *Ctx) {
			a := c.T(0)
			if a.Dim() < 2 || !a.DType().IsFloat() && !a.DType().IsComplex() {
				c.Fail(tensor.ErrShape, "linalg.pinv(%s{%s}): expected a tensor with 2 or more dimensions of float, "+
					"double, cfloat or cdouble types", a.DType().ClassName(), tensor.IntsValue(a.Shape()).String())
			}
			atol, rtol := optional(c, 1), optional(c, 2)
			tolerances(c, "torch.linalg.pinv", a, atol, rtol)
			if c.Bool(3) {
				checkSquare(c, "linalg.eigh", "A", a)
			} else {
				checkMatrix(c, "linalg.svd", "A", a)
			}
			b := batch(a.Shape())
			for _, t := range []*T{atol, rtol} {
				if t != nil {
					b = tensor.BroadcastShapes(b, t.Shape())
				}
			}
			c.Alloc(0, join(b, a.Size(-1), a.Size(-2)), a.DType())
		},
		CPU: func(c *Ctx) {
			tensor.NoGrad(func() {
				tensor.CopyRaw(c.Out(0), pinv(c, c.T(0), optional(c, 1), optional(c, 2), c.Bool(3)))
			})
		},
		Save: "self result",
		VJP:  func(c *Ctx, g *T) []*T { return []*T{pinvGrad(g, c.Out(0), c.T(0)), nil, nil} },
		Grad: "LinalgPinvBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
		Doc:    pinvDoc, Go: "Pinv", Out: true,
		Body: func(c *Ctx) {
			c.Return(op.Call1("aten::linalg_pinv.atol_rtol_tensor", c.T(0), number(c, 1, c.T(0)), number(c, 2, c.T(0)),
				c.Bool(3)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
		Doc:    pinvDoc, Go: "-", Out: true,
		Body: func(c *Ctx) {
			zero := op.Zeros(c.T(0), nil, tensor.Float64)
			c.Return(op.Call1("aten::linalg_pinv.atol_rtol_tensor", c.T(0), zero, number(c, 1, c.T(0)), c.Bool(2)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
		Doc:    pinvDoc, Go: "-", Out: true, FormNames: ".rcond_tensor_out=.out_rcond_tensor",
		Body: func(c *Ctx) {
			if c.T(1).IsComplex() {
				c.Fail(tensor.ErrDType, "torch.linalg.pinv: rcond tensor of complex type is not supported. Got %s",
					c.T(1).DType().ClassName())
			}
			zero := op.Zeros(c.T(0), nil, tensor.Float64)
			c.Return(op.Call1("aten::linalg_pinv.atol_rtol_tensor", c.T(0), zero, c.T(1), c.Bool(2)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
		Doc: "is the pseudoinverse of matrices.\n" +
			"https://pytorch.org/docs/stable/generated/torch.pinverse.html",
		Body: func(c *Ctx) { c.Return(op.Call1("aten::linalg_pinv", c.T(0), c.Float(1), false)) },
	})
	rank := func(c *Ctx, a, atol, rtol *T, hermitian bool) {
		if a.Dim() < 2 {
			c.Fail(tensor.ErrShape, "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
		}
		atol, rtol = tolerances(c, "torch.linalg.matrix_rank", a, atol, rtol)
		if a.Numel() == 0 {
			c.Return(op.Zeros(a, batch(a.Shape()), tensor.Int64))
			return
		}
		var s, largest *T
		if hermitian {
			s = op.Call1("aten::linalg_eigvalsh", a).Abs()
			largest = s.Amax(tensor.AmaxOptions{Dim: []int{-1}})
		} else {
			s = op.Call1("aten::linalg_svdvals", a)
			largest = s.Select(-1, 0)
		}
		t := op.Call1("aten::maximum", atol, rtol.Mul(largest)).Unsqueeze(-1)
		c.Return(s.Gt(t).SumDim([]int{-1}))
	}
	tensor.Register(tensor.Def{
		Schema: "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
		Doc:    rankDoc, Go: "MatrixRankTensor", Out: true,
		Body: func(c *Ctx) { rank(c, c.T(0), optional(c, 1), optional(c, 2), c.Bool(3)) },
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
		Doc:    rankDoc, Go: "MatrixRank", Out: true,
		Body: func(c *Ctx) { rank(c, c.T(0), number(c, 1, c.T(0)), number(c, 2, c.T(0)), c.Bool(3)) },
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
		Doc:    rankDoc, Go: "-", Out: true,
		Body: func(c *Ctx) {
			rank(c, c.T(0), number(c, 1, c.T(0)), op.Zeros(c.T(0), nil, tensor.Float64), c.Bool(2))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
		Doc:    rankDoc, Go: "-", Out: true, FormNames: ".tol_tensor_out=.out_tol_tensor",
		Body: func(c *Ctx) { rank(c, c.T(0), c.T(1), op.Zeros(c.T(0), nil, tensor.Float64), c.Bool(2)) },
	})
	registerLeastSquares()
}

// registerLeastSquares registers linalg_lstsq.
func registerLeastSquares() {
	tensor.Register(tensor.Def{
		Schema: "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
		Doc: "minimizes ‖self·X - b‖. The solution of systems with several is the shortest one, except by the driver " +
			"\"gels\", which takes full rank for granted; the default is \"gelsy\". Residuals are the squared norms of " +
			"the columns of self·X - b for systems with more rows than columns and of full rank, else empty, and " +
			"always empty for \"gelsy\"; rank is empty for \"gels\", singular values are given by \"gelsd\" and " +
			"\"gelss\" only.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.lstsq.html",
		Out: true, DataDependent: true,
		Infer: inferLeastSquares,
		CPU:   leastSquares,
		Save:  "self b solution",
		VJP: func(c *Ctx, _ *T) []*T {
			gx, gr, r := c.G(0), c.G(1), make([]*T, 2)
			if gx == nil && gr == nil {
				return r
			}
			a, b, x := c.T(0), c.T(1), c.Out(0)
			vector := isVector(a, b)
			if vector {
				b, x = b.Unsqueeze(-1), x.Unsqueeze(-1)
				if gx != nil {
					gx = gx.Unsqueeze(-1)
				}
			}
			if gx != nil {
				p := op.Call1("aten::linalg_pinv.atol_rtol_tensor", a)
				r[0] = pinvGrad(gx.MatMul(b.MH()), p, a)
				r[1] = p.MH().MatMul(gx)
			}
			if gr != nil && gr.Numel() > 0 {
				d := a.MatMul(x).Sub(b).Mul(gr.Unsqueeze(-2)).MulScalar(2)
				r[0] = plus(r[0], d.MatMul(x.MH()))
				r[1] = plus(r[1], d.Neg())
			}
			if vector && r[1] != nil {
				r[1] = r[1].SqueezeDim(-1)
			}
			return r
		},
		Grad: "LinalgLstsqBackward0",
	})
}

func inferLeastSquares(c *Ctx) {
	a, b := c.T(0), c.T(1)
	const api = "torch.linalg.lstsq"
	switch {
	case a.Dim() < 2:
		c.Fail(tensor.ErrShape, "%s: input must have at least 2 dimensions.", api)
	case b.Dim() < 1:
		c.Fail(tensor.ErrShape, "%s: other must have at least 1 dimension.", api)
	case a.DType() != b.DType():
		c.Fail(tensor.ErrDType, "%s: Expected input and other to have the same dtype, but got input's dtype %s and "+
			"other's dtype %s", api, a.DType().ClassName(), b.DType().ClassName())
	case !a.DType().IsFloat() && !a.DType().IsComplex():
		c.Fail(tensor.ErrDType, "This function doesn't handle types other than float and double")
	}
	checkMatrix(c, api, "input", a)
	diff := a.Dim() - b.Dim()
	if diff < 0 || diff > 1 && b.Dim() != 1 {
		c.Fail(tensor.ErrShape, "%s: input.dim() must be greater or equal to other.dim() and (input.dim() - "+
			"other.dim()) <= 1", api)
	}
	if isVector(a, b) {
		if a.Size(-2) != b.Size(-1) {
			c.Fail(tensor.ErrShape, "%s: input.size(-2) should match other.size(-1)", api)
		}
	} else if b.Dim() < 2 || a.Size(-2) != b.Size(-2) {
		c.Fail(tensor.ErrShape, "%s: input.size(-2) should match other.size(-2)", api)
	}
	if c.Has(3) {
		switch c.Str(3) {
		case "gels", "gelsy", "gelsd", "gelss":
		default:
			c.Fail(tensor.ErrValue, "%s: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)", api)
		}
	}
}

// leastSquares solves by the pseudoinverse, by QR factors for the driver gels.
func leastSquares(c *Ctx) {
	a, b, driver := c.T(0), c.T(1), "gelsy"
	if c.Has(3) {
		driver = c.Str(3)
	}
	dt := a.DType()
	tensor.NoGrad(func() {
		vector := isVector(a, b)
		if vector {
			b = b.Unsqueeze(-1)
		}
		m, n, k := a.Size(-2), a.Size(-1), b.Size(-1)
		bs := tensor.BroadcastShapes(batch(a.Shape()), batch(b.Shape()))
		a, b = spread(a, bs), spread(b, bs)
		w, y := a.ToDType(compute(dt, 0)), b.ToDType(compute(dt, 0))
		rcond := epsilon(dt) * float64(max(m, n))
		if c.Has(2) {
			rcond = c.Float(2)
		}
		var x, s, rank *T
		if driver == "gels" {
			x = fullRank(w, y)
		} else {
			r := op.Call("aten::_linalg_svd", w)
			s = r[1]
			keep := s.GtScalar(math.Inf(1))
			if s.Size(-1) > 0 {
				keep = s.Gt(s.Narrow(-1, 0, 1).MulScalar(rcond))
			}
			rank = keep.SumDim([]int{-1})
			x = r[2].MH().MatMul(op.Where(keep, s.Reciprocal()).Unsqueeze(-1).Mul(r[0].MH().MatMul(y)))
		}
		full := driver != "gelsy" && (rank == nil || rank.Numel() > 0 &&
			tensor.Data[bool](tensor.Dense(rank.EqScalar(n).All()))[0])
		var res *T
		if m > n && full {
			d := w.MatMul(x).Sub(y).Abs()
			res = d.Mul(d).SumDim([]int{-2})
		}
		out := join(bs, n, k)
		if vector {
			c.Alloc(0, out[:len(out)-1], dt)
			x = x.SqueezeDim(-1)
		} else {
			columns(c, 0, out, dt)
		}
		tensor.CopyRaw(c.Out(0), x)
		give := func(i int, t *T, dt tensor.DType) {
			if t == nil {
				c.Alloc(i, []int{0}, dt)
				return
			}
			tensor.CopyRaw(c.Alloc(i, t.Shape(), dt), t)
		}
		give(1, res, dt.Real())
		give(2, rank, tensor.Int64)
		if driver != "gelsd" && driver != "gelss" {
			s = nil
		}
		give(3, s, dt.Real())
	})
}

// fullRank is the least-squares solution, or the shortest one, for matrices of full rank.
func fullRank(a, b *T) *T {
	if a.Size(-2) >= a.Size(-1) {
		r := op.Call("aten::linalg_qr", a)
		return solveTriangular(r[1], r[0].MH().MatMul(b), true, true)
	}
	r := op.Call("aten::linalg_qr", a.MH())
	return r[0].MatMul(solveTriangular(r[1].MH(), b, false, true))
}

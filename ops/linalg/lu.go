package linalg

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// checkTwo refuses a tensor without matrices, in the words of the LU family.
func checkTwo(c *Ctx, api string, t *T) {
	checkMatrices(c, api, t)
	checkMatrix(c, api, "A", t)
}

// checkMatrices refuses a tensor without matrices of numbers, which may have 16 bits.
func checkMatrices(c *Ctx, api string, t *T) {
	if t.Dim() < 2 {
		c.Fail(tensor.ErrShape, "%s: Expected tensor with 2 or more dimensions. Got size: %v instead", api,
			tensor.IntsValue(t.Shape()).String())
	}
	checkFloating(c, api, "A", t)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
		Doc: "factors matrices into a permutation times a unit lower times an upper triangle, both of which are in " +
			"LU; row i was exchanged with row pivots[i]-1. Info is 0, or the number of the first diagonal element of " +
			"the upper triangle that is zero.\n" +
			"Unlike PyTorch it also works without pivots.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.lu_factor_ex.html",
		Out: true,
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkTwo(c, "torch.lu_factor", a)
			columns(c, 0, a.Shape(), a.DType())
			c.Alloc(1, join(batch(a.Shape()), min(a.Size(-1), a.Size(-2))), tensor.Int32)
			c.Alloc(2, batch(a.Shape()), tensor.Int32)
		},
		CPU: func(c *Ctx) {
			w := work(c.T(0), longer(c.T(0)))
			piv, info := tensor.Data[int32](c.Out(1)), tensor.Data[int32](c.Out(2))
			m, n := w.Size(-2), w.Size(-1)
			luOf(w.DType())(w, m, n, piv, info, c.Bool(1))
			tensor.CopyRaw(c.Out(0), w)
			if c.Bool(2) {
				checkInfo(c, "torch.linalg.lu_factor_ex", info, w.Dim() > 2)
			}
		},
		Save: "LU pivots",
		VJP: func(c *Ctx, g *T) []*T {
			lu := c.Out(0)
			m, n := lu.Size(-2), lu.Size(-1)
			k := min(m, n)
			r := op.Call("aten::lu_unpack", lu, c.Out(1), true, c.Bool(1))
			p := r[0]
			if !c.Bool(1) {
				p = nil
			}
			gl := g.Narrow(-1, 0, k).Tril(tensor.TrilOptions{Diagonal: -1})
			gu := g.Narrow(-2, 0, k).Triu()
			return []*T{luGrad(gl, gu, p, r[1], r[2])}
		},
		Grad: "LinalgLuFactorExBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
		Doc: "factors matrices as linalg_lu_factor_ex does. It panics where the upper triangle is singular.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.lu_factor.html",
		Out: true,
		Body: func(c *Ctx) {
			r := op.Call("aten::linalg_lu_factor_ex", c.T(0), c.Bool(1), false)
			op.Call("aten::_linalg_check_errors", r[2], "torch.linalg.lu_factor", c.T(0).Dim() == 2)
			c.Return(r[0], r[1])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)",
		Doc: "is linalg_lu_factor_ex by its older name; torch.lu of Python leaves the third result away unless it is " +
			"asked for.\nhttps://pytorch.org/docs/stable/generated/torch.lu.html",
		Go: "LU",
		Body: func(c *Ctx) {
			tensor.Warn("torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and " +
				"will be removed in a future PyTorch release.\n" +
				"LU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n" +
				"LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n" +
				"LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n" +
				"LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)")
			r := op.Call("aten::linalg_lu_factor_ex", c.T(0), c.Bool(1), false)
			c.Return(r...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "torch::lu(Tensor A, bool pivot=True, bool get_infos=False) -> Any",
		Doc: "factors matrices as linalg_lu_factor_ex does, without the third result unless infos are asked for.\n" +
			"https://pytorch.org/docs/stable/generated/torch.lu.html",
		Go: "-", Aliases: []string{"Tensor::lu"},
		Body: func(c *Ctx) {
			r := op.Call("aten::_lu_with_info", c.T(0), c.Bool(1), !c.Bool(2))
			v := []tensor.Value{tensor.TensorValue(r[0]), tensor.TensorValue(r[1]), tensor.TensorValue(r[2])}
			if !c.Bool(2) {
				v = v[:2]
			}
			c.ReturnValue(v...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
		Doc: "factors matrices into P·L·U, P a permutation, L unit lower and U upper triangular. Without pivot P is " +
			"empty.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.lu.html",
		Out: true,
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkTwo(c, "linalg.lu", a)
			m, n, b := a.Size(-2), a.Size(-1), batch(a.Shape())
			if c.Bool(1) {
				c.Alloc(0, join(b, m, m), a.DType())
			} else {
				c.Alloc(0, []int{0}, a.DType())
			}
			c.Alloc(1, join(b, m, min(m, n)), a.DType())
			c.Alloc(2, join(b, min(m, n), n), a.DType())
		},
		CPU: func(c *Ctx) {
			tensor.NoGrad(func() {
				f := op.Call("aten::linalg_lu_factor_ex", c.T(0), c.Bool(1))
				unpack(c, f[0], f[1], true, c.Bool(1))
			})
		},
		Save: "P L U",
		VJP: func(c *Ctx, _ *T) []*T {
			p := c.Out(0)
			if !c.Bool(1) {
				p = nil
			}
			return []*T{luGrad(c.G(1), c.G(2), p, c.Out(1), c.Out(2))}
		},
		Grad: "LinalgLuBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
		Doc: "gives the permutation, the unit lower and the upper triangle that linalg_lu_factor packed. What is not " +
			"asked for is empty.\n" +
			"https://pytorch.org/docs/stable/generated/torch.lu_unpack.html",
		Out: true,
		Infer: func(c *Ctx) {
			lu, piv := c.T(0), c.T(1)
			const api = "torch.lu_unpack"
			checkMatrices(c, api, lu)
			m, n, b := lu.Size(-2), lu.Size(-1), batch(lu.Shape())
			if c.Bool(3) {
				want := join(b, min(m, n))
				switch {
				case piv.DType() != tensor.Int32:
					c.Fail(tensor.ErrDType, "%s: LU_pivots is expected to be a contiguous tensor of torch.int32 "+
						"dtype.\nNote: this function is intended to be used with the output produced by "+
						"torch.linalg.lu_factor", api)
				case !tensor.SameShape(piv.Shape(), want):
					c.Fail(tensor.ErrShape, "Expected LU_pivots to have shape %s but got %s instead.",
						tensor.IntsValue(want).String(), tensor.IntsValue(piv.Shape()).String())
				}
				c.Alloc(0, join(b, m, m), lu.DType())
			} else {
				c.Alloc(0, []int{0}, lu.DType())
			}
			if c.Bool(2) {
				c.Alloc(1, join(b, m, min(m, n)), lu.DType())
				c.Alloc(2, join(b, min(m, n), n), lu.DType())
			} else {
				c.Alloc(1, []int{0}, lu.DType())
				c.Alloc(2, []int{0}, lu.DType())
			}
		},
		CPU: func(c *Ctx) { unpack(c, c.T(0), c.T(1), c.Bool(2), c.Bool(3)) },
		VJP: func(c *Ctx, _ *T) []*T {
			gl, gu := c.G(1), c.G(2)
			sh := c.Shape(0)
			m, n := sh[len(sh)-2], sh[len(sh)-1]
			k := min(m, n)
			var g *T
			if gl != nil {
				g = gl.Tril(tensor.TrilOptions{Diagonal: -1})
				if n > k {
					g = op.Call1("aten::constant_pad_nd", g, []int{0, n - k})
				}
			}
			if gu != nil {
				u := gu.Triu()
				if m > k {
					u = op.Call1("aten::constant_pad_nd", u, []int{0, 0, 0, m - k})
				}
				if g != nil {
					u = g.Add(u)
				}
				g = u
			}
			return []*T{g, nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
		Doc: "solves A·X = B (not Left: X·A = B; Adjoint: with the conjugate transpose of A) for X, where LU and " +
			"pivots are what linalg_lu_factor made of A.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.lu_solve.html",
		Out:   true,
		Infer: inferLUSolve,
		CPU: func(c *Ctx) {
			left, adjoint := c.Bool(3), c.Bool(4)
			bs := batch(c.Out(0).Shape())
			lu, b := spread(c.T(0), bs), spread(c.T(2), bs)
			piv := c.T(1)
			tensor.NoGrad(func() { piv = piv.Expand(join(bs, lu.Size(-1))) })
			p := tensor.Data[int32](tensor.Dense(piv))
			checkPivots(c, p, lu.Size(-1))
			if !left { // X·A = B is Aᴴ·Xᴴ = Bᴴ
				tensor.NoGrad(func() { b = b.MH() })
				adjoint = !adjoint
			}
			n := lu.Size(-1)
			f, x := tensor.DenseAs(lu, compute(lu.DType(), n)), work(b, n)
			choose(x.DType(), luSolveBatch[float32], luSolveBatch[float64], luSolveBatch[complex64],
				luSolveBatch[complex128])(f, p, x, n, b.Size(-1), adjoint)
			if !left {
				tensor.NoGrad(func() { x = x.MH() })
			}
			tensor.CopyRaw(c.Out(0), x)
		},
		Save: "LU pivots result",
		VJP: func(c *Ctx, g *T) []*T {
			lu, piv, x, left, adjoint := c.T(0), c.T(1), c.Out(0), c.Bool(3), c.Bool(4)
			y := op.Call1("aten::linalg_lu_solve", lu, piv, g, left, !adjoint)
			r := []*T{nil, nil, y}
			if !c.Needs(0) {
				return r
			}
			var ga *T // the gradient of A, of which LU are the factors
			switch {
			case left && !adjoint:
				ga = y.MatMul(x.MH())
			case left:
				ga = x.MatMul(y.MH())
			case !adjoint:
				ga = x.MH().MatMul(y)
			default:
				ga = y.MH().MatMul(x)
			}
			u := op.Call("aten::lu_unpack", lu, piv)
			ga = u[0].MT().MatMul(ga.Neg())
			gl := ga.MatMul(u[2].MH()).Tril(tensor.TrilOptions{Diagonal: -1})
			gu := u[1].MH().MatMul(ga).Triu()
			r[0] = gl.Add(gu)
			return r
		},
		Grad: "LinalgLuSolveBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
		Doc: "is linalg_lu_solve with its arguments in an older order.\n" +
			"https://pytorch.org/docs/stable/generated/torch.lu_solve.html",
		Out: true,
		Body: func(c *Ctx) {
			tensor.Warn("torch.lu_solve is deprecated in favor of torch.linalg.lu_solve and will be removed in a " +
				"future PyTorch release.\nNote that torch.linalg.lu_solve has its arguments reversed.\n" +
				"X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)")
			c.Return(op.Call1("aten::linalg_lu_solve", c.T(1), c.T(2), c.T(0)))
		},
	})
}

func inferLUSolve(c *Ctx) {
	lu, piv, b := c.T(0), c.T(1), c.T(2)
	const api = "linalg.lu_solve"
	checkMatrix(c, api, "LU", lu)
	switch {
	case lu.Size(-1) != lu.Size(-2):
		c.Fail(tensor.ErrShape, "torch.linalg.lu_solve: A must be batches of square matrices, but they are %d by %d "+
			"matrices", lu.Size(-2), lu.Size(-1))
	case lu.DType() != b.DType():
		c.Fail(tensor.ErrDType, "%s: Expected LU and B to have the same dtype, but found LU of type %s and B of type "+
			"%s instead", api, lu.DType().ClassName(), b.DType().ClassName())
	case piv.DType() != tensor.Int32:
		c.Fail(tensor.ErrDType, "%s: pivots should be a Tensor of scalar type torch.int32", api)
	}
	checkEquation(c, api, lu, b, c.Bool(3))
	switch {
	case piv.Dim() < 1 || piv.Size(-1) != lu.Size(-1):
		c.Fail(tensor.ErrShape, "%s: Number of pivots per batch should be same as the dimension of the matrix", api)
	case !tensor.SameShape(batch(lu.Shape()), piv.Shape()[:piv.Dim()-1]):
		c.Fail(tensor.ErrShape, "%s: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "+
			"shape %s instead", api, tensor.IntsValue(piv.Shape()).String())
	}
	out := join(tensor.BroadcastShapes(batch(lu.Shape()), batch(b.Shape())), b.Size(-2), b.Size(-1))
	if c.Bool(3) {
		columns(c, 0, out, b.DType())
	} else {
		c.Alloc(0, out, b.DType())
	}
}

// checkEquation refuses matrices that do not fit the equation A·X = B, or X·A = B.
func checkEquation(c *Ctx, api string, a, b *T, left bool) {
	if b.Dim() < 2 {
		c.Fail(tensor.ErrShape, "%s: The input tensor B must have at least 2 dimensions.", api)
	}
	if left && a.Size(-2) != b.Size(-2) || !left && a.Size(-1) != b.Size(-1) {
		c.Fail(tensor.ErrShape, "%s: Incompatible shapes of A and B for the equation %s = B (%dx%d and %dx%d)", api,
			op.Pick(left, "AX", "XA"), a.Size(-2), a.Size(-1), b.Size(-2), b.Size(-1))
	}
}

// checkPivots refuses exchanges with rows that are not there.
func checkPivots(c *Ctx, piv []int32, n int) {
	for _, p := range piv {
		switch {
		case p < 1:
			c.Fail(tensor.ErrValue, "Pivots given to lu_solve must all be greater or equal to 1. Did you properly "+
				"pass the result of lu_factor?")
		case int(p) > n:
			c.Fail(tensor.ErrValue, "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you "+
				"properly pass the result of lu_factor?")
		}
	}
}

// luOf is luBatch for a type.
func luOf(dt tensor.DType) func(w *T, m, n int, piv, info []int32, pivot bool) {
	return choose(dt, luBatch[float32], luBatch[float64], luBatch[complex64], luBatch[complex128])
}

func luBatch[E element](w *T, m, n int, piv, info []int32, pivot bool) {
	a, k := data[E](w), min(m, n)
	each(len(info), m*n*k, func(i int) {
		info[i] = int32(lapack.LU(part(a, i, m*n), m, n, n, part(piv, i, k), pivot))
	})
}

func luSolveBatch[E element](f *T, piv []int32, x *T, n, k int, adjoint bool) {
	if n == 0 {
		return
	}
	lu, b := data[E](f), data[E](x)
	each(len(piv)/n, n*n*k, func(i int) {
		lapack.LUSolve(part(lu, i, n*n), n, part(piv, i, n), part(b, i, n*k), k, adjoint)
	})
}

// unpack writes the factors of A = P·L·U to the results of the operator.
func unpack(c *Ctx, lu, piv *T, factors, permutation bool) {
	one := op.Full(lu, nil, 1, lu.DType())
	switch lu.DType().Size() {
	case 2:
		unpackWords[uint16](c, lu, piv, one, factors, permutation)
	case 4:
		unpackWords[uint32](c, lu, piv, one, factors, permutation)
	case 8:
		unpackWords[uint64](c, lu, piv, one, factors, permutation)
	default:
		unpackWords[complex128](c, lu, piv, one, factors, permutation)
	}
}

// words are the elements of a dense tensor as words of their size.
func words[W any](t *T) []W { return unsafe.Slice((*W)(tensor.Ptr(t)), t.Numel()) }

func unpackWords[W uint16 | uint32 | uint64 | complex128](c *Ctx, lu, piv, unit *T, factors, permutation bool) {
	m, n, count := lu.Size(-2), lu.Size(-1), matrices(lu.Shape())
	if m == 0 || count == 0 {
		return
	}
	k, one := min(m, n), words[W](unit)[0]
	if factors && n > 0 {
		a, l, u := words[W](tensor.Dense(lu)), words[W](c.Out(1)), words[W](c.Out(2))
		par.For(count*m, max(1, 1<<14/n), func(lo, hi int) {
			for r := lo; r < hi; r++ {
				i, row, lower := r%m, a[r*n:(r+1)*n], l[r*k:(r+1)*k]
				at := min(i, k)
				copy(lower, row[:at])
				clear(lower[at:])
				if i < k {
					lower[i] = one
					upper := u[(r/m*k+i)*n:][:n]
					clear(upper[:i])
					copy(upper[i:], row[i:])
				}
			}
		})
	}
	if !permutation {
		return
	}
	p, d, row := tensor.Data[int32](tensor.Dense(piv)), words[W](c.Out(0)), make([]int, m)
	clear(d)
	for i := range count {
		for j := range row {
			row[j] = j
		}
		for j, q := range part(p, i, k) {
			if q < 1 || int(q) > m {
				c.Fail(tensor.ErrValue, "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did "+
					"you properly pass the result of lu_factor?")
			}
			row[j], row[q-1] = row[q-1], row[j]
		}
		for j, r := range row {
			d[i*m*m+r*m+j] = one
		}
	}
}

// luGrad is the gradient of A = P·L·U from those of L and U; p is nil without row exchanges.
func luGrad(gl, gu, p, l, u *T) *T {
	if gl == nil && gu == nil {
		return nil
	}
	m, n := l.Size(-2), u.Size(-1)
	lower := func(t *T) *T { return t.Tril(tensor.TrilOptions{Diagonal: -1}) }
	triangular := func(a, b *T, upper, left, unit bool) *T {
		return op.Call1("aten::linalg_solve_triangular", a, b, upper, left, unit)
	}
	var a *T
	switch {
	case m == n:
		if gl != nil {
			a = lower(l.MH().MatMul(gl))
		}
		if gu != nil {
			a = plus(a, gu.MatMul(u.MH()).Triu())
		}
		a = triangular(u.MH(), a, false, false, false)
		a = triangular(l.MH(), a, true, true, true)
	case m < n:
		if gl != nil {
			a = l.MH().MatMul(gl)
		}
		if gu != nil {
			a = plus(a, gu.Triu().MatMul(u.MH()).Neg())
		}
		a = triangular(u.Narrow(-1, 0, m).MH(), lower(a), false, false, false)
		a = op.Call1("aten::constant_pad_nd", a, []int{0, n - m})
		if gu != nil {
			a = a.Add(gu.Triu())
		}
		a = triangular(l.MH(), a, true, true, true)
	default:
		if gu != nil {
			a = gu.MatMul(u.MH())
		}
		if gl != nil {
			a = plus(a, l.MH().MatMul(lower(gl)).Neg())
		}
		a = triangular(l.Narrow(-2, 0, n).MH(), a.Triu(), true, true, true)
		a = op.Call1("aten::constant_pad_nd", a, []int{0, 0, 0, m - n})
		if gl != nil {
			a = a.Add(lower(gl))
		}
		a = triangular(u.MH(), a, false, false, false)
	}
	if p != nil {
		a = p.MatMul(a)
	}
	return a
}

// plus is the sum of gradients, of which the first may be missing.
func plus(a, b *T) *T {
	if a == nil {
		return b
	}
	return a.Add(b)
}

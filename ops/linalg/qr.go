package linalg

import (
	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
		Doc: "factors matrices into Q with orthonormal columns and the upper triangle R, of min(m, n) columns and " +
			"rows for mode \"reduced\", with square Q for \"complete\", without Q for \"r\". The diagonal of R may " +
			"have any sign.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.qr.html",
		Out: true,
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkMatrix(c, "linalg.qr", "A", a)
			q, reduced := qrMode(c, c.Str(1))
			m, n, b := a.Size(-2), a.Size(-1), batch(a.Shape())
			k := m
			if reduced {
				k = min(m, n)
			}
			if q {
				columns(c, 0, join(b, m, k), a.DType())
			} else {
				c.Alloc(0, []int{0}, a.DType())
			}
			columns(c, 1, join(b, k, n), a.DType())
		},
		CPU: func(c *Ctx) {
			w := work(c.T(0), longer(c.T(0)))
			needQ, _ := qrMode(c, c.Str(1))
			var q *T
			if needQ {
				q = tensor.New(c.Out(0).Shape(), w.DType())
			}
			r := tensor.New(c.Out(1).Shape(), w.DType())
			choose(w.DType(), qrBatch[float32], qrBatch[float64], qrBatch[complex64], qrBatch[complex128])(q, r, w)
			if needQ {
				tensor.CopyRaw(c.Out(0), q)
			}
			tensor.CopyRaw(c.Out(1), r)
		},
		Save: "Q R",
		VJP:  qrGrad,
		Grad: "LinalgQrBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
		Doc: "factors matrices into reflections, whose vectors are below the diagonal of the first result and whose " +
			"factors are the second one, and the upper triangle R.\n" +
			"https://pytorch.org/docs/stable/generated/torch.geqrf.html",
		NoGrad: "PyTorch has none", Out: true, FormNames: ".out=.a",
		Infer: func(c *Ctx) {
			a := c.T(0)
			if a.Dim() < 2 {
				c.Fail(tensor.ErrShape, "torch.geqrf: input must have at least 2 dimensions.")
			}
			if !a.DType().IsFloat() && !a.DType().IsComplex() || a.DType().Real().Size() < 4 {
				c.FailDType(tensor.ErrDType, "geqrf_cpu", a.DType())
			}
			columns(c, 0, a.Shape(), a.DType())
			c.Alloc(1, join(batch(a.Shape()), min(a.Size(-1), a.Size(-2))), a.DType())
		},
		CPU: func(c *Ctx) {
			w := work(c.T(0), longer(c.T(0)))
			tau := tensor.New(c.Out(1).Shape(), w.DType())
			choose(w.DType(), geqrfBatch[float32], geqrfBatch[float64], geqrfBatch[complex64],
				geqrfBatch[complex128])(tau, w)
			tensor.CopyRaw(c.Out(0), w)
			tensor.CopyRaw(c.Out(1), tau)
		},
	})
	product := func(c *Ctx) { c.Return(op.Call1("aten::linalg_householder_product", c.T(0), c.T(1))) }
	tensor.Register(tensor.Def{
		Schema: "orgqr(Tensor self, Tensor input2) -> Tensor",
		Doc: "is linalg_householder_product by an older name.\n" +
			"https://pytorch.org/docs/stable/generated/torch.orgqr.html",
		Out: true, Body: product,
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
		Doc: "gives the first columns of the product of the reflections I - tau·v·vᴴ whose vectors v stand below the " +
			"diagonal of input, as geqrf leaves them.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.householder_product.html",
		Out: true,
		Infer: func(c *Ctx) {
			a, tau := c.T(0), c.T(1)
			const api = "torch.linalg.householder_product"
			switch {
			case a.Dim() < 2:
				c.Fail(tensor.ErrShape, "%s: input must have at least 2 dimensions.", api)
			case a.Size(-2) < a.Size(-1):
				c.Fail(tensor.ErrShape, "%s: input.shape[-2] must be greater than or equal to input.shape[-1]", api)
			case tau.Dim() < 1 || a.Size(-1) < tau.Size(-1):
				c.Fail(tensor.ErrShape, "%s: input.shape[-1] must be greater than or equal to tau.shape[-1]", api)
			}
			sameBatch(c, api, "tau", a, tau.Shape()[:tau.Dim()-1])
			if a.DType() != tau.DType() {
				c.Fail(tensor.ErrDType, "%s: tau dtype %s does not match input dtype %s", api, tau.DType().ClassName(),
					a.DType().ClassName())
			}
			checkMatrix(c, api, "input", a)
			columns(c, 0, a.Shape(), a.DType())
		},
		CPU: func(c *Ctx) {
			n := longer(c.T(0))
			w, tau := work(c.T(0), n), work(c.T(1), n)
			q := tensor.New(w.Shape(), w.DType())
			choose(w.DType(), makeQ[float32], makeQ[float64], makeQ[complex64], makeQ[complex128])(q, w, tau)
			tensor.CopyRaw(c.Out(0), q)
		},
		Save: "input tau",
		VJP: func(c *Ctx, g *T) []*T {
			if tau := c.T(1); tau.Size(-1) == 0 { // the identity
				return []*T{op.Zeros(g, c.Shape(0), g.DType()), op.Zeros(g, tau.Shape(), g.DType())}
			}
			return op.Recorded(c, g, []*T{c.T(0), c.T(1)}, func(in []*T) *T {
				m, n := in[0].Size(-2), in[0].Size(-1)
				eye := op.Call1("aten::eye.m", m, n, in[0].DType(), nil, in[0].Device())
				return reflections(in[0], in[1], eye.Expand(join(batch(in[0].Shape()), m, n)), false)
			})
		},
	})
	tensor.Register(tensor.Def{
		Schema: "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
		Doc: "multiplies input3 from the left (or right) by the product of the reflections that self and input2 hold, " +
			"as geqrf leaves them, or by its conjugate transpose.\n" +
			"https://pytorch.org/docs/stable/generated/torch.ormqr.html",
		Out:   true,
		Infer: inferORMQR,
		CPU: func(c *Ctx) {
			n := longer(c.T(0))
			w, tau, left, turn := work(c.T(0), n), work(c.T(1), n), c.Bool(3), c.Bool(4)
			x := c.T(2)
			tensor.NoGrad(func() {
				if !left { // C·Q is (Qᴴ·Cᴴ)ᴴ
					x, turn = x.MH(), !turn
				}
				y := work(x, n)
				choose(w.DType(), applyQ[float32], applyQ[float64], applyQ[complex64], applyQ[complex128])(y, w, tau,
					turn)
				if !left {
					y = y.MH()
				}
				tensor.CopyRaw(c.Out(0), y)
			})
		},
		Save: "self input2 input3",
		VJP: func(c *Ctx, g *T) []*T {
			return op.Recorded(c, g, []*T{c.T(0), c.T(1), c.T(2)}, func(in []*T) *T {
				if c.Bool(3) {
					return reflections(in[0], in[1], in[2], c.Bool(4))
				}
				return reflections(in[0], in[1], in[2].MH(), !c.Bool(4)).MH()
			})
		},
	})
}

// sameBatch refuses an argument whose batch is not that of the first one.
func sameBatch(c *Ctx, api, name string, a *T, got []int) {
	if !tensor.SameShape(batch(a.Shape()), got) {
		c.Fail(tensor.ErrShape, "%s: Expected batch dimensions of %s to be equal to input.shape[:-2], but got %s", api,
			name, tensor.IntsValue(got).String())
	}
}

func inferORMQR(c *Ctx) {
	a, tau, x := c.T(0), c.T(1), c.T(2)
	const api = "torch.ormqr"
	side, dim := -2, "-2"
	if !c.Bool(3) {
		side, dim = -1, "-1"
	}
	switch {
	case a.Dim() < 2:
		c.Fail(tensor.ErrShape, "%s: input must have at least 2 dimensions.", api)
	case x.Dim() < 2:
		c.Fail(tensor.ErrShape, "%s: other must have at least 2 dimensions.", api)
	case tau.Dim() < 1 || tau.Size(-1) > x.Size(side):
		c.Fail(tensor.ErrShape, "%s: other.shape[%s] must be greater than or equal to tau.shape[-1]", api, dim)
	case tau.Size(-1) != min(x.Size(side), a.Size(-1)):
		c.Fail(tensor.ErrShape, "%s: tau.shape[-1] must be equal to min(other.shape[%s], input.shape[-1])", api, dim)
	case x.Size(side) != a.Size(-2):
		c.Fail(tensor.ErrShape, "%s: other.shape[%s] must be equal to input.shape[-2]", api, dim)
	}
	sameBatch(c, api, "tau", a, tau.Shape()[:tau.Dim()-1])
	sameBatch(c, api, "other", a, batch(x.Shape()))
	for _, o := range []struct {
		name string
		t    *T
	}{{"tau", tau}, {"other", x}} {
		if o.t.DType() != a.DType() {
			c.Fail(tensor.ErrDType, "%s: Expected input and %s to have the same dtype, but input has dtype%s and %s "+
				"has dtype %s", api, o.name, a.DType().ClassName(), o.name, o.t.DType().ClassName())
		}
	}
	checkMatrix(c, api, "input", a)
	columns(c, 0, x.Shape(), x.DType())
}

// reflections applies H1⋯Hk, or its conjugate transpose, to x from the left, by public operators. It is what gradients
// of the products of reflections are made of.
//
// A block of reflections is I - V·T·Vᴴ with T = D·(I + S·D)⁻¹, where D is the diagonal matrix of the factors tau and S
// the part of VᴴV above the diagonal (Joffrain et al. 2006, "Accumulating Householder transformations, revisited"; this
// form does not divide by tau, which may be 0).
func reflections(a, tau, x *T, adjoint bool) *T {
	const width = 64
	k, m := tau.Size(-1), a.Size(-2)
	if k == 0 {
		return x.Clone()
	}
	v := a.Narrow(-1, 0, k).Tril(tensor.TrilOptions{Diagonal: -1})
	v = v.Add(op.Call1("aten::eye.m", m, k, a.DType(), nil, a.Device()))
	block := func(x *T, i int) *T { // x has the rows from i on
		b := min(width, k-i)
		v, tau := v.Narrow(-2, i, m-i).Narrow(-1, i, b), tau.Narrow(-1, i, b)
		vh, d := v.MH(), tau.Unsqueeze(-1)
		sd := vh.MatMul(v).Triu(tensor.TriuOptions{Diagonal: 1}).Mul(tau.Unsqueeze(-2))
		y := vh.MatMul(x)
		if adjoint {
			y = op.Call1("aten::linalg_solve_triangular", sd.MH(), d.Conj().Mul(y), false, true, true)
		} else {
			y = d.Mul(op.Call1("aten::linalg_solve_triangular", sd, y, true, true, true))
		}
		return x.Sub(v.MatMul(y))
	}
	last := (k - 1) / width * width
	sizes := make([]int, 0, last/width+1) // rows that later blocks do not change, block by block, and all others
	for range last / width {
		sizes = append(sizes, width)
	}
	rows := op.Call("aten::split_with_sizes", x, append(sizes, m-last), -2)
	if !adjoint {
		y := block(rows[len(rows)-1], last)
		for i := last - width; i >= 0; i -= width {
			y = block(op.Call1("aten::cat", []*T{rows[i/width], y}, -2), i)
		}
		return y
	}
	var done []*T
	for i := 0; i < last; i += width {
		p := op.Call("aten::split_with_sizes", block(x, i), []int{width, m - i - width}, -2)
		done, x = append(done, p[0]), p[1]
	}
	return op.Call1("aten::cat", append(done, block(x, last)), -2)
}

// qrMode reads the mode of linalg_qr.
func qrMode(c *Ctx, mode string) (q, reduced bool) {
	switch mode {
	case "reduced":
		return true, true
	case "complete":
		return true, false
	case "r":
		return false, true
	}
	c.Fail(tensor.ErrValue, "qr received unrecognized mode '%s' but expected one of 'reduced' (default), 'r', or "+
		"'complete'", mode)
	return
}

// qrGrad is the rule of Walter and Lehmann, Algorithmic Differentiation of Linear Algebra Functions with Application in
// Optimum Experimental Design (2010), and, for matrices with more columns than rows, of Roberts and Roberts, QR and LQ
// Decomposition Matrix Backpropagation Algorithms for Square, Wide, and Deep Matrices (2020).
func qrGrad(c *Ctx, _ *T) []*T {
	gq, gr, mode := c.G(0), c.G(1), c.Str(1)
	if gq == nil && gr == nil {
		return []*T{nil}
	}
	sh := c.Shape(0)
	m, n := sh[len(sh)-2], sh[len(sh)-1]
	switch {
	case mode == "r":
		c.Fail(tensor.ErrAutograd, "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "+
			"Please use linalg.qr(A, mode='reduced') if you are going to require gradients")
	case mode == "complete" && m > n:
		c.Fail(tensor.ErrAutograd, "The QR decomposition is not differentiable when mode='complete' and nrows > ncols")
	}
	q, r := c.Out(0), c.Out(1)
	var y *T
	if m >= n {
		if gr != nil {
			y = gr.MatMul(r.MH())
		}
		if gq != nil {
			y = plus(y, q.MH().MatMul(gq).Neg())
		}
		y = y.Triu()
		s := y.Add(y.MH())
		s = q.MatMul(s.Sub(diagonalOf(realDiagonal(y))))
		if gq != nil {
			s = s.Add(gq)
		}
		return []*T{op.Call1("aten::linalg_solve_triangular", r.MH(), s, false, false)}
	}
	if gq != nil {
		y = q.MH().MatMul(gq)
	}
	if gr != nil {
		y = plus(y, gr.MatMul(r.MH()).Neg())
	}
	k := y.Sub(y.MH()).Tril(tensor.TrilOptions{Diagonal: -1})
	if y.IsComplex() {
		k = k.Add(diagonalOf(matrixDiagonal(y).Sub(realDiagonal(y))))
	}
	a := op.Call1("aten::linalg_solve_triangular", r.Narrow(-1, 0, m).MH(), q.MatMul(k), false, false)
	a = op.Call1("aten::constant_pad_nd", a, []int{0, n - m})
	if gr != nil {
		a = a.Add(q.MatMul(gr))
	}
	return []*T{a}
}

// matrixDiagonal is the diagonal of each matrix.
func matrixDiagonal(t *T) *T {
	return t.Diagonal(tensor.DiagonalOptions{Dim1: -2, Dim2: tensor.Some(-1)})
}

// realDiagonal is the real part of matrixDiagonal, in the dtype of t.
func realDiagonal(t *T) *T {
	d := matrixDiagonal(t)
	if !t.IsComplex() {
		return d
	}
	return d.Real().ToDType(t.DType())
}

// diagonalOf is the diagonal matrix of each vector.
func diagonalOf(t *T) *T { return t.DiagEmbed() }

func qrBatch[E element](q, r, w *T) {
	m, n, count := w.Size(-2), w.Size(-1), matrices(w.Shape())
	k, rows := min(m, n), r.Size(-2)
	x, rd := data[E](w), data[E](r)
	each(count, 2*m*n*k, func(i int) {
		a, tau := part(x, i, m*n), make([]E, k)
		lapack.QR(a, m, n, n, tau)
		t := part(rd, i, rows*n)
		clear(t)
		for j := range k {
			copy(t[j*n+j:(j+1)*n], a[j*n+j:(j+1)*n])
		}
		if q != nil {
			cols := q.Size(-1)
			lapack.MakeQ(a, n, tau, part(data[E](q), i, m*cols), m, cols, cols)
		}
	})
}

func geqrfBatch[E element](t, w *T) {
	a, tau, m, n := data[E](w), data[E](t), w.Size(-2), w.Size(-1)
	k := min(m, n)
	each(matrices(w.Shape()), 2*m*n*k, func(i int) { lapack.QR(part(a, i, m*n), m, n, n, part(tau, i, k)) })
}

func makeQ[E element](q, w, tau *T) {
	m, n, k := w.Size(-2), w.Size(-1), tau.Size(-1)
	a, t, o := data[E](w), data[E](tau), data[E](q)
	each(matrices(w.Shape()), 2*m*n*k, func(i int) {
		lapack.MakeQ(part(a, i, m*n), n, part(t, i, k), part(o, i, m*n), m, n, n)
	})
}

func applyQ[E element](x, w, tau *T, adjoint bool) {
	m, n, k, cols := w.Size(-2), w.Size(-1), tau.Size(-1), x.Size(-1)
	a, t, y := data[E](w), data[E](tau), data[E](x)
	each(matrices(w.Shape()), 2*m*cols*k, func(i int) {
		lapack.ApplyQ(part(a, i, m*n), n, part(t, i, k), part(y, i, m*cols), m, cols, cols, adjoint)
	})
}

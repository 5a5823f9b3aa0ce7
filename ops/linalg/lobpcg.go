package linalg

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "torch::lobpcg(Tensor A, int? k=None, Tensor? B=None, Tensor? X=None, int? n=None, Tensor? iK=None, int? niter=None, float? tol=None, bool? largest=None, str? method=None) -> (Tensor E, Tensor V)",
		Doc: "gives the k largest or smallest eigenvalues [*, k] of a symmetric matrix A [*, m, m], or of A x = e B x, " +
			"and eigenvectors [*, m, k], by the locally optimal block preconditioned conjugate gradient method " +
			"(Knyazev 2001, https://doi.org/10.1137/S1064827500366124). It takes products with A alone, and so suits " +
			"large matrices of which few eigenvalues are wanted; m must be at least 3 n.\n" +
			"X [*, m, n] is where the search begins, random by default; iK is a preconditioner. Method \"ortho\", the " +
			"default, keeps its basis orthonormal (Duersch, Shao, Yang and Gu 2018, " +
			"https://doi.org/10.1137/17M1129830), \"basic\" does not. niter is the most iterations, 1000 by default, " +
			"and " +
			"at most 10000, which -1 stands for, too; tol is the error of the residual to stop at.\n" +
			"Gradients flow to a real A, which is made symmetric for that; there are none with B. PyTorch's tracker " +
			"and " +
			"the parameters of the orthonormalization are left out.\n" +
			"https://pytorch.org/docs/stable/generated/torch.lobpcg.html",
		Go: "LOBPCG", DataDependent: true,
		Body: lobpcgBody,
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::eigenpairs(Tensor A, Tensor E, Tensor X, bool generalized) -> (Tensor, Tensor)",
		Doc:    "are the eigenvalues E and eigenvectors X of a symmetric A, on the tape as results of A.",
		Go:     "-",
		Infer: func(c *Ctx) {
			c.Alloc(0, c.Shape(1), c.ArgDType(1))
			c.Alloc(1, c.Shape(2), c.ArgDType(2))
		},
		CPU: func(c *Ctx) {
			tensor.CopyRaw(c.Out(0), c.T(1))
			tensor.CopyRaw(c.Out(1), c.T(2))
		},
		Save: "A E X",
		VJP:  eigenpairsVJP,
		Grad: "LOBPCGAutogradFunctionBackward",
	})
}

func lobpcgBody(c *Ctx) {
	a, b, x := c.T(0), optional(c, 2), optional(c, 3)
	sh := a.Shape()
	if len(sh) < 2 || sh[len(sh)-1] != sh[len(sh)-2] {
		c.Fail(tensor.ErrShape, "lobpcg: A must be square, got shape %s", tensor.ShapeString(sh))
	}
	if b != nil && !tensor.SameShape(sh, b.Shape()) {
		c.Fail(tensor.ErrShape, "lobpcg: A and B must have same shape, got %s vs %s", tensor.ShapeString(sh),
			tensor.ShapeString(b.Shape()))
	}
	if dt := a.DType(); dt != tensor.Float32 && dt != tensor.Float64 {
		c.Fail(tensor.ErrDType, "lobpcg: A must be float32 or float64, got %s", dt)
	}
	if x != nil && x.Dim() != len(sh) {
		c.Fail(tensor.ErrShape, "lobpcg: X must have %d dimensions as A has, got shape %s", len(sh),
			tensor.ShapeString(x.Shape()))
	}
	number := func(i, def int) int {
		if c.Has(i) {
			return c.Int(i)
		}
		return def
	}
	m, columns := a.Size(-1), 1
	if x != nil {
		columns = x.Size(-1)
	}
	k := number(1, columns)
	n := number(4, k)
	if x != nil {
		n = columns
	}
	s := search{n: n, k: k, rounds: number(6, 1000), largest: !c.Has(8) || c.Bool(8), ortho: true,
		tol: math.Sqrt(1.2e-07)}
	if a.DType() == tensor.Float64 {
		s.tol = math.Sqrt(2.23e-16)
	}
	if c.Has(7) {
		s.tol = c.Float(7)
	}
	if s.rounds == -1 {
		s.rounds = mostRounds
	}
	if c.Has(9) {
		switch method := c.Str(9); method {
		case "ortho":
		case "basic":
			s.ortho = false
		default:
			c.Fail(tensor.ErrValue, `lobpcg: method must be "ortho" or "basic", got %q`, method)
		}
	}
	switch {
	case k < 1 || k > n:
		c.Fail(tensor.ErrValue, "lobpcg: the number of eigenpairs k(=%d) must be from 1 to n(=%d)", k, n)
	case m < 3*n:
		c.Fail(tensor.ErrValue, "LOBPCG algorithm is not applicable when the number of A rows (=%d) is smaller than "+
			"3 x "+
			"the number of requested eigenpairs (=%d)", m, n)
	case s.rounds < 1 || s.rounds > mostRounds:
		c.Fail(tensor.ErrValue, "lobpcg: niter(=%d) must be from 1 to %d, or -1", s.rounds, mostRounds)
	case x != nil && x.Size(-2) != m:
		c.Fail(tensor.ErrShape, "lobpcg: X shape mismatch: got %s, expected %d rows", tensor.ShapeString(x.Shape()), m)
	}
	if a.RequiresGrad() || b != nil && b.RequiresGrad() { // so that A less its gradient is symmetric, too
		a = a.Add(a.MH()).DivScalar(2)
		if b != nil {
			b = b.Add(b.MH()).DivScalar(2)
		}
	}
	var e, v *T
	tensor.NoGrad(func() { e, v = s.batches(a, b, x, optional(c, 5)) })
	c.Return(op.Call("gotorch::eigenpairs", a, e, v, b != nil)...)
}

// search finds eigenpairs of one matrix after the other.
type search struct {
	n, k, rounds   int
	tol            float64
	largest, ortho bool
}

// batches searches for the eigenpairs of each matrix of a batch.
func (s search) batches(a, b, x, precondition *T) (e, v *T) {
	sh := a.Shape()
	m, outer := a.Size(-1), sh[:len(sh)-2]
	split := func(t *T) []*T {
		if t == nil {
			return make([]*T, tensor.Size(outer).Numel())
		}
		return op.Call("aten::unbind.int", t.Reshape([]int{-1, t.Size(-2), t.Size(-1)}), 0)
	}
	var values, vectors []*T
	starts, seconds := split(x), split(b)
	for i, a := range split(a) {
		start := starts[i]
		if start == nil {
			start = op.Call1("torch::randn", []int{m, s.n}, nil, a.DType(), nil, a.Device())
		}
		one := iteration{search: s, a: a, b: seconds[i], precondition: precondition, x: start}
		one.run()
		values, vectors = append(values, one.e.Narrow(0, 0, s.k)), append(vectors, one.x.Narrow(1, 0, s.k))
	}
	if len(values) == 0 {
		return a.NewEmpty(append(append([]int{}, outer...), s.k)), a.NewEmpty(append(append([]int{}, outer...), m, s.k))
	}
	return op.Call1("aten::stack", values, 0).View(append(append([]int{}, outer...), s.k)),
		op.Call1("aten::stack", vectors, 0).View(append(append([]int{}, outer...), m, s.k))
}

// iteration is the search for the eigenpairs of one matrix. Columns of the trial space are the approximations x, the
// directions p of the last step and the preconditioned residuals w.
type iteration struct {
	search
	a, b, precondition *T // b is nil for the identity, as is precondition
	x, p, w            *T
	e                  *T
	done               int // so many of the first approximations have converged
	normA, normB       float64
}

// times is m·x, x itself for a nil m.
func times(m, x *T) *T {
	if m == nil {
		return x
	}
	return m.MatMul(x)
}

// form is xᵀ·m·x.
func form(m, x *T) *T { return x.MH().MatMul(times(m, x)) }

func norm(x *T) float64 { return x.Square().Sum().Sqrt().Item() }

// eigh gives the eigenvalues of a symmetric matrix in the order in which they are wanted.
func (it *iteration) eigh(m *T, largest bool) (e, z *T) {
	r := op.Call("aten::linalg_eigh", m, "U")
	if largest {
		return r[0].Flip([]int{0}), r[1].Flip([]int{1})
	}
	return r[0], r[1]
}

func (it *iteration) run() {
	size := norm(it.x)
	it.normA, it.normB = norm(times(it.a, it.x))/size, norm(times(it.b, it.x))/size
	r := it.orthonormalizer(it.x)
	if r == nil {
		tensor.Fail(tensor.ErrLinAlg, "lobpcg: the columns of X depend on each other")
	}
	e, z := it.eigh(form(it.a, it.x.MatMul(r)), it.largest)
	it.x, it.e = it.x.MatMul(r.MatMul(z)), e
	it.residuals()
	for round := 1; round < it.rounds && it.done < it.k && it.step(); round++ {
	}
}

// step is the Rayleigh-Ritz procedure in the trial space; false reports that the space cannot be told from that of the
// approximations any more.
func (it *iteration) step() bool {
	locked := it.done // approximations that stay as they are
	if !it.ortho {
		locked = 0 // the residuals are not orthogonal to them
	}
	open := it.n - locked
	basis := it.basis(locked)
	if basis == nil {
		return false
	}
	e, z := it.eigh(form(it.a, basis), it.largest)
	better, rest := z.Narrow(1, 0, open), z.Narrow(1, open, z.Size(1)-open)
	// the directions that lead from the last approximations to the new ones, orthonormal to these
	it.p = basis.MatMul(rest.MatMul(op.Call("aten::linalg_qr", rest.Narrow(0, 0, open).MH())[0]))
	it.x = op.Call1("aten::cat", []*T{it.x.Narrow(1, 0, locked), basis.MatMul(better)}, 1)
	it.e = op.Call1("aten::cat", []*T{it.e.Narrow(0, 0, locked), e.Narrow(0, 0, open)}, 0)
	it.residuals()
	return true
}

// basis is an orthonormal basis of the trial space of the approximations that are not locked. The basic method leaves
// the last directions out where they depend on the others, and returns nil where the residuals do, too.
func (it *iteration) basis(locked int) *T {
	with := func(more ...*T) *T {
		parts := []*T{it.x.Narrow(1, locked, it.n-locked)}
		for _, t := range more {
			if t != nil && t.Numel() > 0 {
				parts = append(parts, t)
			}
		}
		return op.Call1("aten::cat", parts, 1)
	}
	if it.ortho {
		return with(it.p, it.w)
	}
	for _, basis := range []*T{with(it.p, it.w), with(it.w)} {
		if r := it.orthonormalizer(basis); r != nil {
			return basis.MatMul(r)
		}
	}
	return nil
}

// residuals counts the approximations that have converged, by the criterion of Duersch and others, section 4.3, and
// makes new directions of the residuals of the others.
func (it *iteration) residuals() {
	r := times(it.a, it.x).Sub(times(it.b, it.x).Mul(it.e))
	length := func(x *T) *T { return x.Square().SumDim([]int{0}).Sqrt() }
	errors := length(r).Div(length(it.x).Mul(it.e.Abs().MulScalar(it.normB).AddScalar(it.normA)))
	for it.done < it.n && errors.Select(0, it.done).Item() < it.tol {
		it.done++
	}
	w := times(it.precondition, r.Narrow(1, it.done, it.n-it.done))
	if it.ortho {
		w = it.orthogonal(w)
	}
	it.w = w
}

// orthonormalizer is an upper triangular R with Rᵀ·Sᵀ·B·S·R = 1, by a Cholesky decomposition after scaling the diagonal
// to 1; nil where columns of S depend on each other.
func (it *iteration) orthonormalizer(s *T) *T {
	sbs := form(it.b, s)
	d := op.Call1("aten::diagonal", sbs).PowScalar(-0.5)
	l := op.Call("aten::linalg_cholesky_ex", sbs.Mul(d).Mul(d.Unsqueeze(1)))
	if l[1].Item() != 0 {
		return nil
	}
	return op.Call1("aten::linalg_solve_triangular", l[0].MH(), op.Call1("aten::diag_embed", d), true, false)
}

// orthogonal makes the columns of u orthonormal, and orthogonal to x and p: products with them are taken away, and what
// is left is made orthonormal by its own eigenvectors, some times over (Stathopoulos and Wu 2002,
// https://doi.org/10.1137/S1064827500370883).
func (it *iteration) orthogonal(u *T) *T {
	known := it.x
	if it.p != nil {
		known = op.Call1("aten::cat", []*T{it.x, it.p}, 1)
	}
	size := norm(times(it.b, known))
	for range 3 {
		if u.Numel() == 0 {
			return u
		}
		u = u.Sub(known.MatMul(known.MH().MatMul(times(it.b, u))))
		for range 3 {
			if u = it.byEigenvectors(u); u.Numel() == 0 {
				return u
			}
			bu := times(it.b, u)
			apart := u.MH().MatMul(bu)
			apart = apart.Sub(op.Call1("aten::eye", apart.Size(0), apart.DType(), nil, apart.Device()))
			if norm(apart) < it.tol*norm(bu)*norm(u) {
				break
			}
		}
		if norm(known.MH().MatMul(times(it.b, u))) < it.tol*size*norm(u) {
			break
		}
	}
	return u
}

// byEigenvectors makes the columns of u orthonormal by the eigenvectors of their products. Columns of zeros are
// dropped, and so are directions that only rounding errors tell from others: PyTorch shortens those, unless
// ortho_use_drop is given, and then its basis is not orthonormal and its eigenvalues may be too large.
func (it *iteration) byEigenvectors(u *T) *T {
	d := op.Call1("aten::diagonal", form(it.b, u))
	if some := d.NeScalar(0).Nonzero().Select(1, 0); some.Numel() < d.Numel() {
		if u = u.IndexSelect(1, some); u.Numel() == 0 {
			return u
		}
		d = d.IndexSelect(0, some)
	}
	d = d.PowScalar(-0.5)
	u = u.Mul(d)
	e, z := it.eigh(form(it.b, u), false)
	if some := e.GtScalar(it.tol*e.Abs().Max().Item()).Nonzero().Select(1, 0); some.Numel() < e.Numel() {
		e, z = e.IndexSelect(0, some), z.IndexSelect(1, some)
	}
	return u.MatMul(z).Mul(e.PowScalar(-0.5))
}

// eigenpairsVJP is the gradient of some eigenpairs of a symmetric matrix. Inside the space of the eigenvectors it is
// that of a whole decomposition. What an eigenvector moves out of that space is the solution of a system with
// A - e on the complement; e is shifted out of the way inside.
func eigenpairsVJP(c *Ctx, g *T) []*T {
	if c.Bool(3) {
		c.Fail(tensor.ErrNotImpl, "lobpcg.backward does not support backward with B != I yet.")
	}
	a, e, x := c.T(0), c.T(1), c.T(2)
	xt := x.MH()
	inner := e.NewZeros(append(append([]int{}, e.Shape()...), e.Size(-1)))
	if g != nil {
		inner = op.Call1("aten::diag_embed", g)
	}
	gx := c.G(1)
	if gx == nil {
		return []*T{x.MatMul(inner).MatMul(xt), nil, nil}
	}
	gaps := e.Unsqueeze(-2).Sub(e.Unsqueeze(-1))
	same := op.Call1("aten::diag_embed", e.NewOnes(e.Shape())).To(tensor.Bool)
	factors := gaps.MaskedFillScalar(same, 1).Reciprocal().MaskedFillScalar(same, 0)
	inner = inner.Add(xt.MatMul(gx).Mul(factors))
	res := x.MatMul(inner).MatMul(xt)
	if x.Size(-1) == x.Size(-2) {
		return []*T{res, nil, nil}
	}
	out := gx.Sub(x.MatMul(xt.MatMul(gx))).MH().Unsqueeze(-1) // [*, k, m, 1]
	shift := e.Unsqueeze(-1).Sub(e.Unsqueeze(-2)).Abs().Max().AddScalar(1).Add(e.Abs().Max())
	eye := op.Call1("aten::eye", a.Size(-1), a.DType(), nil, a.Device())
	systems := a.Add(x.MatMul(xt).Mul(shift)).Unsqueeze(-3).Sub(eye.Mul(e.Unsqueeze(-1).Unsqueeze(-1)))
	moved := op.Call1("aten::linalg_solve", systems, out).SqueezeDim(-1).MH() // [*, m, k]
	return []*T{res.Sub(moved.MatMul(xt)), nil, nil}
}

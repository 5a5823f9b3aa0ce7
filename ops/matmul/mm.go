package matmul

import (
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

const site = "\nhttps://pytorch.org/docs/stable/generated/torch."

func init() {
	tensor.Register(tensor.Def{
		Schema: "mm(Tensor self, Tensor mat2) -> Tensor",
		Doc:    "multiplies two matrices, [m, k] and [k, n], of one dtype; no broadcasting." + site + "mm.html",
		Out:    true, AMP: tensor.AMPLower,
		Infer: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			if a.Dim() != 2 {
				c.Fail(tensor.ErrShape, "self must be a matrix")
			}
			if b.Dim() != 2 {
				c.Fail(tensor.ErrShape, "mat2 must be a matrix")
			}
			checkInner(c, a.Shape(), b.Shape())
			checkSame(c, "addmm_impl_cpu_", a.DType(), b.DType())
			c.Alloc(0, []int{a.Size(0), b.Size(1)}, a.DType())
		},
		CPU: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			product(nil, a.Size(0), b.Size(1), a.Size(1), one, last2(a), last2(b), zero, last2(c.Out(0)), nil)
		},
		Save: "self/mat2 mat2/self",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = g.MM(adjoint(c.T(1)))
			}
			if c.Needs(1) {
				r[1] = adjoint(c.T(0)).MM(g)
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
		Doc: "is beta*self + alpha*(mat1 @ mat2); self is broadcast to the product's shape and not read when " +
			"beta is 0." + site + "addmm.html",
		InPlace: true, Out: true, AMP: tensor.AMPLower,
		Infer: func(c *Ctx) {
			s, a, b := c.T(0), c.T(1), c.T(2)
			if a.Dim() != 2 {
				c.Fail(tensor.ErrShape, "mat1 must be a matrix, got %d-D tensor", a.Dim())
			}
			if b.Dim() != 2 {
				c.Fail(tensor.ErrShape, "mat2 must be a matrix, got %d-D tensor", b.Dim())
			}
			checkInner(c, a.Shape(), b.Shape())
			checkSum(c, s, a, b)
			checkFactors(c, a.DType(), c.Num(3), c.Num(4))
			sh := []int{a.Size(0), b.Size(1)}
			expandTo(c, s, sh)
			c.Alloc(0, sh, a.DType())
		},
		CPU: func(c *Ctx) {
			s, a, b, o := c.T(0), c.T(1), c.T(2), c.Out(0)
			m, n, k := a.Size(0), b.Size(1), a.Size(1)
			if beta := c.Num(3); beta.C == 1 && s.Dim() == 1 && s.Size(0) == n && k > 0 && !o.DType().IsComplex() &&
				o.DType().IsFloat() {
				// a bias is added as the product leaves the registers
				product(nil, m, n, k, c.Num(4), last2(a), last2(b), zero, last2(o), s)
				return
			}
			beta := start(o, s, c.Num(3))
			product(nil, m, n, k, c.Num(4), last2(a), last2(b), beta, last2(o), nil)
		},
		Save: "mat1/mat2 mat2/mat1",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 3)
			if c.Needs(0) {
				r[0] = times(g, c.Num(3))
			}
			if c.Needs(1) {
				r[1] = times(g.MM(adjoint(c.T(2))), c.Num(4))
			}
			if c.Needs(2) {
				r[2] = times(adjoint(c.T(1)).MM(g), c.Num(4))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "bmm(Tensor self, Tensor mat2) -> Tensor",
		Doc: "multiplies two batches of matrices, [b, m, k] and [b, k, n], of one dtype; no broadcasting." + site +
			"bmm.html",
		Out: true, AMP: tensor.AMPLower,
		Infer: func(c *Ctx) {
			c.Alloc(0, batchInfer(c, c.T(0), c.T(1), "batch1", "batch2", "bmm"), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			product(a.Shape()[:1], a.Size(1), b.Size(2), a.Size(2), one, last2(a), last2(b), zero, last2(c.Out(0)), nil)
		},
		Save: "self/mat2 mat2/self",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = g.BMM(adjoint(c.T(1)))
			}
			if c.Needs(1) {
				r[1] = adjoint(c.T(0)).BMM(g)
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
		Doc:     "is beta*self + alpha*(batch1 @ batch2) for each matrix of a batch." + site + "baddbmm.html",
		InPlace: true, Out: true, AMP: tensor.AMPLower,
		Infer: func(c *Ctx) {
			sh := batchInfer(c, c.T(1), c.T(2), "batch1", "batch2", "baddbmm")
			sameSelf(c)
			expandTo(c, c.T(0), sh)
			c.Alloc(0, sh, c.ArgDType(1))
		},
		CPU: func(c *Ctx) {
			a, b, o := c.T(1), c.T(2), c.Out(0)
			beta := start(o, c.T(0), c.Num(3))
			product(a.Shape()[:1], a.Size(1), b.Size(2), a.Size(2), c.Num(4), last2(a), last2(b), beta, last2(o), nil)
		},
		Save: "batch1/batch2 batch2/batch1",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 3)
			if c.Needs(0) {
				r[0] = times(g, c.Num(3))
			}
			if c.Needs(1) {
				r[1] = times(g.BMM(adjoint(c.T(2))), c.Num(4))
			}
			if c.Needs(2) {
				r[2] = times(adjoint(c.T(1)).BMM(g), c.Num(4))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
		Doc:     "is beta*self + alpha * the sum over the batch of batch1 @ batch2." + site + "addbmm.html",
		InPlace: true, Out: true, AMP: tensor.AMPLower,
		Infer: func(c *Ctx) {
			sh := batchInfer(c, c.T(1), c.T(2), "batch1", "batch2", "addbmm")[1:]
			sameSelf(c)
			expandTo(c, c.T(0), sh)
			c.Alloc(0, sh, c.ArgDType(1))
		},
		CPU: func(c *Ctx) {
			a, b, o := c.T(1), c.T(2), c.Out(0)
			beta := start(o, c.T(0), c.Num(3))
			if a.Size(0) == 0 { // nothing but beta*self
				product(nil, o.Size(0), o.Size(1), 0, one, matrix{t: o}, matrix{t: o}, beta, last2(o), nil)
				return
			}
			for i := range a.Size(0) { // one after the other: all of them add to the same elements
				x, y := last2(tensor.Alias(a, a.Shape()[1:], a.Strides()[1:], a.StorageOffset()+i*a.Stride(0))),
					last2(tensor.Alias(b, b.Shape()[1:], b.Strides()[1:], b.StorageOffset()+i*b.Stride(0)))
				product(nil, a.Size(1), b.Size(2), a.Size(2), c.Num(4), x, y, beta, last2(o), nil)
				beta = one
			}
		},
		Save: "batch1/batch2 batch2/batch1",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 3)
			if c.Needs(0) {
				r[0] = times(g, c.Num(3))
			}
			ge := g.Expand(append([]int{c.Shape(1)[0]}, g.Shape()...))
			if c.Needs(1) {
				r[1] = times(ge.BMM(adjoint(c.T(2))), c.Num(4))
			}
			if c.Needs(2) {
				r[2] = times(adjoint(c.T(1)).BMM(ge), c.Num(4))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "mv(Tensor self, Tensor vec) -> Tensor",
		Doc:    "multiplies a matrix [m, k] with a vector [k]." + site + "mv.html",
		Out:    true, AMP: tensor.AMPLower,
		Infer: func(c *Ctx) {
			vectorInfer(c, c.T(0), c.T(1))
			checkSame(c, "addmv_impl_cpu", c.ArgDType(0), c.ArgDType(1))
			c.Alloc(0, c.Shape(0)[:1], c.ArgDType(0))
		},
		CPU:  func(c *Ctx) { matVec(c.T(0), c.T(1), one, zero, c.Out(0)) },
		Save: "self/vec vec/self",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = g.Outer(c.T(1).Conj())
			}
			if c.Needs(1) {
				r[1] = adjoint(c.T(0)).MV(g)
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
		Doc:     "is beta*self + alpha*(mat @ vec)." + site + "addmv.html",
		InPlace: true, Out: true, AMP: tensor.AMPLower,
		Infer: func(c *Ctx) {
			vectorInfer(c, c.T(1), c.T(2))
			checkSame(c, "addmv_impl_cpu", c.ArgDType(1), c.ArgDType(2))
			sameSelf(c)
			expandTo(c, c.T(0), c.Shape(1)[:1])
			c.Alloc(0, c.Shape(1)[:1], c.ArgDType(1))
		},
		CPU: func(c *Ctx) {
			beta := start(c.Out(0), c.T(0), c.Num(3))
			matVec(c.T(1), c.T(2), c.Num(4), beta, c.Out(0))
		},
		Save: "mat/vec vec/mat",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 3)
			if c.Needs(0) {
				r[0] = times(g, c.Num(3))
			}
			if c.Needs(1) {
				r[1] = times(g.Outer(c.T(2).Conj()), c.Num(4))
			}
			if c.Needs(2) {
				r[2] = times(adjoint(c.T(1)).MV(g), c.Num(4))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "dot(Tensor self, Tensor tensor) -> Tensor",
		Doc:    "is the sum of the products of two vectors' elements." + site + "dot.html",
		Out:    true, AMP: tensor.AMPLower,
		Infer: func(c *Ctx) {
			dotInfer(c)
		},
		CPU:  func(c *Ctx) { dotRun(c.T(0), c.T(1), c.Out(0)) },
		Save: "self tensor",
		VJP:  func(c *Ctx, g *T) []*T { return []*T{g.Mul(c.T(1).Conj()), g.Mul(c.T(0).Conj())} },
	})
	tensor.Register(tensor.Def{
		Schema: "vdot(Tensor self, Tensor other) -> Tensor",
		Doc:    "is dot with the complex conjugate of self." + site + "vdot.html",
		Out:    true,
		Infer: func(c *Ctx) {
			dotInfer(c)
		},
		CPU: func(c *Ctx) {
			a := c.T(0)
			if a.DType().IsComplex() {
				tensor.NoGrad(func() { a = tensor.Dense(a.Conj()) })
			}
			dotRun(a, c.T(1), c.Out(0))
		},
		Save: "self other",
		VJP:  func(c *Ctx, g *T) []*T { return []*T{c.T(1).Mul(g.Conj()), c.T(0).Mul(g)} },
	})
}

// checkInner refuses factors whose inner sizes differ.
func checkInner(c *Ctx, a, b []int) {
	if a[1] != b[0] {
		c.Fail(tensor.ErrShape, "%s: mat1 and mat2 shapes cannot be multiplied (%s and %s)",
			strings.TrimSuffix(c.Op().Sch.Name, "_"), dims(a), dims(b))
	}
}

// sameSelf refuses a first argument of another dtype than the factors.
func sameSelf(c *Ctx) {
	if c.ArgDType(0) != c.ArgDType(1) {
		c.Fail(tensor.ErrDType, "Input dtypes must be the same, got: input: %s, batch1: %s, batch2: %s",
			cName(c.ArgDType(0)), cName(c.ArgDType(1)), cName(c.ArgDType(2)))
	}
	if c.Op().Sch.Name[:5] == "addmv" { // batched products of integers truncate alpha and beta instead
		checkFactors(c, c.ArgDType(1), c.Num(3), c.Num(4))
	}
}

// batchInfer is the shape of a product of two batches of matrices.
func batchInfer(c *Ctx, a, b *T, nameA, nameB, op string) []int {
	if a.Dim() != 3 {
		c.Fail(tensor.ErrShape, "%s must be a 3D tensor", nameA)
	}
	if b.Dim() != 3 {
		c.Fail(tensor.ErrShape, "%s must be a 3D tensor", nameB)
	}
	if a.Size(0) != b.Size(0) || a.Size(2) != b.Size(1) {
		c.Fail(tensor.ErrShape, "Expected size for first two dimensions of batch2 tensor to be: [%d, %d] but got: "+
			"[%d, %d].", a.Size(0), a.Size(2), b.Size(0), b.Size(1))
	}
	if op == "bmm" && a.DType() != b.DType() {
		c.Fail(tensor.ErrDType, "expected scalar type %s but found %s", a.DType().ClassName(), b.DType().ClassName())
	}
	checkSame(c, op, a.DType(), b.DType())
	return []int{a.Size(0), a.Size(1), b.Size(2)}
}

func vectorInfer(c *Ctx, m, v *T) {
	if m.Dim() != 2 || v.Dim() != 1 {
		c.Fail(tensor.ErrShape, "vector + matrix @ vector expected, got 1, %d, %d", m.Dim(), v.Dim())
	}
	if m.Size(1) != v.Size(0) {
		c.Fail(tensor.ErrShape, "size mismatch, got input (%d), mat (%s), vec (%d)", m.Size(0), dims(m.Shape()),
			v.Size(0))
	}
}

// matVec computes the row vᵀ·mᵀ: for a row-major matrix that is a run of dot products.
func matVec(m, v *T, alpha, beta tensor.Num, out *T) {
	st := v.Stride(0)
	product(nil, 1, m.Size(0), m.Size(1), alpha, matrix{v, 1, st, nil}, last2(m).flip(), beta,
		matrix{out, 1, out.Stride(0), nil}, nil)
}

func dotInfer(c *Ctx) {
	a, b := c.T(0), c.T(1)
	if a.Dim() != 1 || b.Dim() != 1 {
		c.Fail(tensor.ErrShape, "1D tensors expected, but got %dD and %dD tensors", a.Dim(), b.Dim())
	}
	if a.DType() != b.DType() {
		c.Fail(tensor.ErrDType, "dot : expected both vectors to have same dtype, but found %s and %s",
			a.DType().ClassName(), b.DType().ClassName())
	}
	if a.Numel() != b.Numel() {
		c.Fail(tensor.ErrShape, "inconsistent tensor size, expected tensor %s and src %s to have the same number of "+
			"elements, but got %d and %d elements respectively",
			tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()), a.Numel(), b.Numel())
	}
	if a.DType() == tensor.Bool {
		c.FailDType(tensor.ErrDType, "dot", a.DType())
	}
	c.Alloc(0, nil, a.DType())
}

func dotRun(a, b, out *T) {
	product(nil, 1, 1, a.Numel(), one, matrix{a, 1, a.Stride(0), nil}, matrix{b, b.Stride(0), 1, nil}, zero,
		matrix{out, 1, 1, nil}, nil)
}

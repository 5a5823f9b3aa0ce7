package reduce

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

type float interface{ float32 | float64 }

// through makes a kernel of what move makes of elements, in the cache.
func through[E any, W float, A any](k *kern[W, A], move func(dst []W, s []E)) *kern[E, A] {
	block := 8 << 10 / int(unsafe.Sizeof(*new(W)))
	moveRows := func(dst []W, s []E, rows, n, stride int) {
		if stride == n {
			move(dst[:rows*n], s[:rows*n])
			return
		}
		for r := range rows {
			move(dst[r*n:][:n], s[r*stride:][:n])
		}
	}
	t := &kern[E, A]{init: k.init, merge: k.merge, joins: k.joins, row: func(acc A, s []E) A {
		buf := half.Borrow[W](block)
		defer half.Return(buf)
		for len(s) > 0 {
			n := min(len(s), block)
			move((*buf)[:n], s[:n])
			acc = k.row(acc, (*buf)[:n])
			s = s[n:]
		}
		return acc
	}, block: func(acc []A, s []E, rows, stride int) {
		buf := half.Borrow[W](max(block, len(acc)))
		defer half.Return(buf)
		for per := max(1, block/len(acc)); rows > 0; rows -= per {
			m := min(per, rows)
			moveRows(*buf, s, m, len(acc), stride)
			k.columns(acc, *buf, m, len(acc))
			s = s[min(len(s), m*stride):]
		}
	}}
	if k.rows != nil {
		t.rows = func(acc []A, s []E, n, stride int) {
			few := max(1, block/n)
			buf := half.Borrow[W](few * n)
			defer half.Return(buf)
			for r := 0; r < len(acc); r += few {
				m := min(few, len(acc)-r)
				moveRows(*buf, s[r*stride:], m, n, stride)
				k.rows(acc[r:r+m], *buf, n, n)
			}
		}
	}
	return t
}

// norms are the kernels of the norms of a dtype.
type norms[E any, A storable] struct {
	squares, abs *kern[E, float64]
	extrema      [2]*kern[E, A]
	powers       func(p float64) *kern[E, float64] // sums of |x|^p
}

var (
	norms32 = norms[float32, float32]{
		squares: &kern[float32, float64]{merge: add[float64], joins: vec.AddF64,
			row:  func(acc float64, s []float32) float64 { return acc + vec.SumSquaresF32As64(s, 0) },
			rows: rowsOf(vec.SumSquaresRowsF32As64, add[float64]),
			block: func(acc []float64, s []float32, rows, stride int) {
				vec.AddSquaresRowsF32ToF64(rows, len(acc), acc, 0, s, stride)
			}},
		abs:     through(&sumF32, vec.AbsF32),
		extrema: [2]*kern[float32, float32]{through(extF32[0], vec.AbsF32), through(extF32[1], vec.AbsF32)},
		powers: func(p float64) *kern[float32, float64] {
			return through(&sumF64, func(dst []float64, s []float32) {
				vec.F32ToF64s(dst, s)
				powers(dst, dst, p)
			})
		},
	}
	norms64 = norms[float64, float64]{
		squares: &kern[float64, float64]{merge: add[float64], joins: vec.AddF64,
			row:  func(acc float64, s []float64) float64 { return acc + vec.SumSquaresF64(s, 0) },
			rows: rowsOf(vec.SumSquaresRowsF64, add[float64]),
			block: func(acc, s []float64, rows, stride int) {
				vec.AddSquaresRowsF64(rows, len(acc), acc, 0, s, stride)
			}},
		abs:     through(&sumF64, vec.AbsF64),
		extrema: [2]*kern[float64, float64]{through(extF64[0], vec.AbsF64), through(extF64[1], vec.AbsF64)},
		powers: func(p float64) *kern[float64, float64] {
			return through(&sumF64, func(dst, s []float64) { powers(dst, s, p) })
		},
	}
	norms16 = [2]*norms[uint16, float32]{halfNorms(vec.F16ToF32s), halfNorms(vec.BF16ToF32s)}
)

// halfNorms makes the kernels of a 16-bit float, which is widened.
func halfNorms(widen func(dst []float32, s []uint16)) *norms[uint16, float32] {
	n := &norms32
	return &norms[uint16, float32]{
		squares: through(n.squares, widen),
		abs:     through(n.abs, widen),
		extrema: [2]*kern[uint16, float32]{through(n.extrema[0], widen), through(n.extrema[1], widen)},
		powers:  func(p float64) *kern[uint16, float64] { return through(n.powers(p), widen) },
	}
}

// powers sets dst to |x|^p.
func powers(dst, x []float64, p float64) {
	vec.AbsF64(dst, x)
	switch p {
	case 3:
		buf := half.Borrow[float64](len(dst))
		vec.MulF64(*buf, dst, dst)
		vec.MulF64(dst, dst, *buf)
		half.Return(buf)
	case 4:
		vec.MulF64(dst, dst, dst)
		vec.MulF64(dst, dst, dst)
	default:
		vec.PowScalarF64(dst, dst, p)
	}
}

func (n *norms[E, A]) into(o, t *T, red []bool, p float64) {
	switch {
	case p == 0:
		ask(o, t, red, howMany)
	case p == 1:
		into(o, t, red, n.abs, nil)
	case p == 2:
		into(o, t, red, n.squares, func(acc []float64) { vec.SqrtF64(acc, acc) })
	case math.IsInf(p, 0):
		into(o, t, red, op.Pick(p > 0, n.extrema[0], n.extrema[1]), nil)
	default:
		into(o, t, red, n.powers(p), func(acc []float64) { vec.PowScalarF64(acc, acc, 1/p) })
	}
}

func normInto(o, t *T, red []bool, p float64) {
	if t.DType().IsComplex() {
		t = t.Detach().Abs()
	}
	switch i := half.Index(t.DType()); {
	case i >= 0:
		norms16[i].into(o, t, red, p)
	case t.DType() == tensor.Float64:
		norms64.into(o, t, red, p)
	default:
		norms32.into(o, cast(t, tensor.Float32), red, p)
	}
}

// normBackward is the gradient of a norm of order p; y and g have the dimensions that were reduced, of size 1.
func normBackward(g, x, y *T, p float64, list []int) *T {
	if p == 2 {
		c := tensor.NewCall(opNorm2Backward, 3)
		*c.Arg(0), *c.Arg(1), *c.Arg(2) = tensor.TensorValue(g), tensor.TensorValue(x), tensor.TensorValue(y)
		return c.Do1()
	}
	zero := func(v, mask *T) *T { return op.ZeroWhere(v, mask) }
	isZero := y.Detach().EqScalar(0)
	switch {
	case p == 0:
		return nil
	case p == 1:
		return x.Sgn().Mul(g)
	case math.IsInf(p, 0):
		a := x.Abs()
		m := a.Eq(y).LogicalOr(a.IsNaN().LogicalAnd(y.IsNaN())).ToDType(y.DType())
		return x.Sgn().Mul(m.Div(m.SumDim(list, tensor.SumDimOptions{KeepDim: true}))).Mul(g)
	case p < 1:
		s := zero(x.Sgn().Mul(x.Abs().PowScalar(p-1)), x.Detach().EqScalar(0))
		return s.Mul(g).Mul(y.PowScalar(1 - p))
	case p < 2:
		return x.Sgn().Mul(x.Abs().PowScalar(p - 1)).Mul(zero(g.Div(y.PowScalar(p-1)), isZero))
	}
	return x.Mul(x.Abs().PowScalar(p - 2)).Mul(zero(g.Div(y.PowScalar(p-1)), isZero))
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::norm2_backward(Tensor grad, Tensor self, Tensor result) -> Tensor", Go: "-",
		Doc: "is the gradient of a Euclidean norm, grad * self / result, and 0 where the norm is 0; grad and result " +
			"have the reduced dimensions, of size 1.",
		Body: func(c *Ctx) {
			c.Return(norm2Backward(c.T(0), c.T(1), c.T(2)))
		},
		// The roundings of the kernel would not be PyTorch's for 16-bit floats.
		Fuses: func(c *Ctx) bool {
			dt := c.ArgDType(0)
			return (dt == tensor.Float32 || dt == tensor.Float64) && c.ArgDType(1) == dt && c.ArgDType(2) == dt &&
				tensor.SameShape(c.Shape(0), c.Shape(2))
		},
		Infer:       func(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1), c.ArgDType(1)) },
		Elementwise: true,
		CPU: func(c *Ctx) {
			g, x, y := c.T(0), c.T(1), c.T(2)
			q := tensor.New(g.Shape(), g.DType())
			good := false
			if g.DType() == tensor.Float32 {
				good = quotients[float32](q, g, y)
			} else {
				good = quotients[float64](q, g, y)
			}
			if !good {
				x, q = norm2Unit(x, y), g
			}
			k := tensor.NewCall(opMulOut, 3)
			*k.Arg(0), *k.Arg(1), *k.Arg(2) = tensor.TensorValue(x), tensor.TensorValue(q), tensor.TensorValue(c.Out(0))
			k.Do1()
		},
	})
}

var (
	opNorm2Backward = tensor.Slot("gotorch::norm2_backward")
	opMulOut        = tensor.Slot("aten::mul.out")
)

// norm2Unit is x divided by its Euclidean norm y, 0 where that is 0.
func norm2Unit(x, y *T) *T { return op.ZeroWhere(x.Div(y), y.Detach().EqScalar(0)) }

// norm2Backward is PyTorch's order of steps: one division for each element.
func norm2Backward(g, x, y *T) *T { return g.Mul(norm2Unit(x, y)) }

// quotients sets q to g / y, 0 where y is 0. Multiplying by these few quotients saves a division for each element of x.
// It reports false when a number is so large or small that a quotient or its product with an element could leave the
// normal range.
func quotients[E float](q, g, y *T) bool {
	moderate := func(v E) bool {
		a := math.Abs(float64(v))
		return a == 0 || a > 1e-15 && a < 1e15
	}
	d, gs, ys := op.Raw[E](q), op.Raw[E](tensor.Dense(g)), op.Raw[E](tensor.Dense(y))
	for i, v := range gs {
		if !moderate(v) || !moderate(ys[i]) {
			return false
		}
		d[i] = 0
		if ys[i] != 0 {
			d[i] = v / ys[i]
		}
	}
	return true
}

// vectorNorm calls the operator.
func vectorNorm(x *T, p float64, list []int, keep bool, dt tensor.DType) *T {
	args := []any{x, p, nil, keep, nil}
	if list != nil {
		args[2] = list
	}
	if dt != 0 {
		args[4] = dt
	}
	return op.Call1("aten::linalg_vector_norm", args...)
}

func pOf(c *Ctx, i int) float64 {
	if c.Has(i) {
		return c.Num(i).F
	}
	return 2
}

func normBody(pAt, dimAt, keepAt, dtAt int) func(c *Ctx) {
	return func(c *Ctx) {
		var list []int
		var dt tensor.DType
		keep := false
		if dimAt > 0 {
			list = c.Ints(dimAt)
		}
		if keepAt > 0 {
			keep = c.Bool(keepAt)
		}
		if dtAt > 0 {
			dt = c.DType(dtAt)
		}
		if len(list) == 0 {
			list = nil
		}
		if pAt > 0 && c.Value(pAt).K == tensor.KStr {
			switch s := c.Str(pAt); s {
			case "fro":
				c.Return(vectorNorm(c.T(0), 2, list, keep, dt))
			case "nuc":
				if dt != 0 {
					c.Fail(tensor.ErrValue, "dtype argument is not supported in nuclear norm")
				}
				if list == nil {
					for d := range max(2, c.T(0).Dim()) {
						list = append(list, d)
					}
				}
				c.Return(op.Call1("aten::linalg_matrix_norm.str_ord", c.T(0), "nuc", list, keep))
			default:
				c.Fail(tensor.ErrValue, "only valid string values are 'fro' and 'nuc', found %s", s)
			}
			return
		}
		c.Return(vectorNorm(c.T(0), pOf(c, pAt), list, keep, dt))
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
		Doc: "is the vector norm of the given order over dimensions (none given: all): sum(|x|^ord)^(1/ord), the " +
			"largest or smallest |x| for ±Inf, the number of nonzeros for " +
			"0.\nhttps://pytorch.org/docs/stable/generated/torch.linalg.vector_norm.html",
		Out: true,
		Infer: func(c *Ctx) {
			t := c.T(0)
			in := t.DType()
			if in.IsIntOrBool() {
				c.Fail(tensor.ErrDType, "linalg.vector_norm: Expected a floating point or complex tensor as input. "+
					"Got %s", in.ClassName())
			}
			p := pOf(c, 1)
			if t.Numel() == 0 && (p < 0 || math.IsInf(p, 1)) {
				if len(c.Ints(2)) == 0 {
					c.Fail(tensor.ErrValue,
						"linalg.vector_norm cannot compute the %v norm on an empty tensor because the operation does "+
							"not have an identity", numText(p))
				}
				for _, d := range c.Ints(2) {
					if d = op.Wrap(c, d, t.Dim()); t.Dim() > 0 && t.Size(d) == 0 {
						c.Fail(tensor.ErrValue,
							"linalg.vector_norm cannot compute the %v norm on the dimension %d because this "+
								"dimension is empty and the operation does not have an identity", numText(p), d)
					}
				}
			}
			dt := in
			if asked := c.DType(4); asked != 0 {
				switch {
				case !asked.IsFloat() && !asked.IsComplex():
					c.Fail(tensor.ErrDType, "linalg.vector_norm: dtype should be floating point or complex, but got %s",
						asked.ClassName())
				case in.IsComplex() != asked.IsComplex():
					c.Fail(tensor.ErrDType, "linalg.vector_norm: dtype should be %s for %s inputs, but got %s",
						op.Pick(in.IsComplex(), "complex", "real"), op.Pick(in.IsComplex(), "complex", "real"),
						asked.ClassName())
				case tensor.PromoteTypes(in, asked) != asked:
					c.Fail(tensor.ErrDType,
						"linalg.vector_norm: the dtype of the input (%s) should be convertible without narrowing to "+
							"the specified dtype (%s)", in.ClassName(), asked.ClassName())
				}
				dt = asked
			}
			_, sh := dims(c, t, c.Ints(2), c.Bool(3))
			c.Alloc(0, sh, dt.Real())
		},
		CPU: func(c *Ctx) {
			t := c.T(0)
			if dt := c.DType(4); dt != 0 {
				t = cast(t, dt)
			}
			red, _ := dims(c, t, c.Ints(2), c.Bool(3))
			normInto(c.Out(0), t, red, pOf(c, 1))
		},
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			l, keep := c.Ints(2), c.Bool(3)
			return []*T{normBackward(unreduce(c, g, l, keep), c.T(0), unreduce(c, c.Out(0), l, keep), pOf(c, 1), l)}
		},
		AMP: tensor.AMPFP32,
	})
	tensor.Register(tensor.Def{
		Schema: "norm.Scalar(Tensor self, Scalar p=2) -> Tensor", Go: "Norm",
		Doc:  "is the norm of order p of all elements.\nhttps://pytorch.org/docs/stable/generated/torch.norm.html",
		Body: normBody(1, 0, 0, 0),
	})
	tensor.Register(tensor.Def{
		Schema: "norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", Go: "-",
		Doc:  "is the norm of all elements, computed in a dtype.",
		Body: normBody(1, 0, 0, 2),
	})
	tensor.Register(tensor.Def{
		Schema: "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", Go: "NormDim",
		Doc:  "is the norm of order p (nil: 2) over dimensions.",
		Body: normBody(1, 2, 3, 0),
	})
	tensor.Register(tensor.Def{
		Schema: "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor", Go: "-",
		Doc:  "is the norm over dimensions, computed in a dtype.",
		Body: normBody(1, 2, 3, 4),
	})
	// torch.norm of Python, which takes names of norms and None for everything
	tensor.Register(tensor.Def{
		Schema: "torch::norm.number(Tensor self, Scalar? p=2, int[1]? dim=None, bool keepdim=False, ScalarType? dtype=None) -> Tensor", Go: "-", Out: true, Aliases: []string{"Tensor::norm"},
		Doc:  "is the norm over dimensions (none given: all).",
		Body: normBody(1, 2, 3, 4),
	})
	tensor.Register(tensor.Def{
		Schema: "torch::norm.name(Tensor self, str p='fro', int[1]? dim=None, bool keepdim=False, ScalarType? dtype=None) -> Tensor", Go: "-", Out: true, Aliases: []string{"Tensor::norm"},
		Doc:  "is the Frobenius or the nuclear norm.",
		Body: normBody(1, 2, 3, 4),
	})
	tensor.Register(tensor.Def{
		Schema: "frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", Go: "-", Out: true,
		FormNames: ".dim_out=.out",
		Doc:       "is the Frobenius norm over dimensions.",
		Body:      func(c *Ctx) { c.Return(vectorNorm(c.T(0), 2, c.Ints(1), c.Bool(2), 0)) },
	})
	tensor.Register(tensor.Def{
		Schema: "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", Out: true,
		Doc:  "is the norm of order p of the difference.\nhttps://pytorch.org/docs/stable/generated/torch.dist.html",
		Body: func(c *Ctx) { c.ReturnNamed(vectorNorm(c.T(0).Sub(c.T(1)), pOf(c, 2), nil, false, 0)) },
	})
	tensor.Register(tensor.Def{
		Schema: "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", InPlace: true, Out: true,
		Doc: "scales the slices along a dimension whose norm of order p exceeds maxnorm down to " +
			"it.\nhttps://pytorch.org/docs/stable/generated/torch.renorm.html",
		Body: renorm,
	})
	tensor.Register(tensor.Def{
		Schema: "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", Out: true,
		Aliases: []string{"special_logsumexp"},
		Doc: "is log(sum(exp(x))) over dimensions, without " +
			"overflow.\nhttps://pytorch.org/docs/stable/generated/torch.logsumexp.html",
		Infer: func(c *Ctx) {
			dt := c.ArgDType(0)
			if dt.IsIntOrBool() {
				dt = tensor.DefaultDType()
			}
			_, sh := dims(c, c.T(0), c.Ints(1), c.Bool(2))
			c.Alloc(0, sh, dt)
		},
		CPU:  logsumexp,
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			l, keep := c.Ints(1), c.Bool(2)
			return []*T{op.Call1("gotorch::logsumexp_backward", unreduce(c, g, l, keep), c.T(0),
				unreduce(c, c.Out(0), l, keep))}
		},
	})
}

func numText(p float64) any {
	if math.IsInf(p, 1) {
		return "inf"
	}
	if math.IsInf(p, -1) {
		return "-inf"
	}
	return p
}

func renorm(c *Ctx) {
	x, p, limit := c.T(0), c.Num(1).F, c.Num(3).F
	d := op.Wrap(c, c.Int(2), x.Dim())
	switch {
	case c.Num(1).K == tensor.KComplex:
		c.Fail(tensor.ErrType, "renorm: p must be real-valued")
	case p <= 0:
		c.Fail(tensor.ErrValue, "renorm: non-positive-norm not supported")
	case c.Num(3).K == tensor.KComplex:
		c.Fail(tensor.ErrType, "renorm: maxnorm must be real-valued")
	case !(limit >= 0):
		c.Fail(tensor.ErrValue, "renorm: expected maxnorm to be >= 0 but got %s", op.CText(limit))
	case x.Dim() < 2:
		c.Fail(tensor.ErrShape, "renorm: input needs at least 2 dimensions, got %d dimensions", x.Dim())
	}
	var others []int
	for i := range x.Dim() {
		if i != d {
			others = append(others, i)
		}
	}
	wide := tensor.DType(0) // norms and factors of 16-bit floats are rounded once
	if x.DType().IsReduced() {
		wide = tensor.Float32
	}
	n := vectorNorm(x, p, others, true, wide)
	f := op.Call1("aten::where.self", n.Detach().GtScalar(limit), n.AddScalar(1e-7).Reciprocal().MulScalar(limit),
		op.Full(n, nil, 1, n.DType()))
	if wide != 0 {
		f = f.ToDType(x.DType())
	}
	c.Return(x.Mul(f))
}

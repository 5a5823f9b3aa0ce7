package reduce

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// distKernels are the vector kernels of an element type.
type distKernels[E float] struct {
	vec.Distances[E]
	sub, mul              func(dst, a, b []E)
	abs, sign, sqrt, relu func(dst, a []E)
	pow, addScalar        func(dst, a []E, s E)
	addScaled             func(dst, a, b []E, s E)
	sum                   func(a []E) E
	squares               func(a []E, c E) E
}

var (
	dist32 = distKernels[float32]{vec.Distances32, vec.SubF32, vec.MulF32, vec.AbsF32, vec.SignF32, vec.SqrtF32,
		vec.ReLUF32,
		vec.PowScalarF32, vec.AddScalarF32, vec.AddScaledF32, vec.SumF32, vec.SumSquaresF32}
	dist64 = distKernels[float64]{vec.Distances64, vec.SubF64, vec.MulF64, vec.AbsF64, vec.SignF64, vec.SqrtF64,
		vec.ReLUF64,
		vec.PowScalarF64, vec.AddScalarF64, vec.AddScaledF64, vec.SumF64, vec.SumSquaresF64}
)

// between sets dst to the distances of order p of row a and the rows b; tmp is as long as a.
func (k *distKernels[E]) between(dst, a, b []E, p float64, tmp []E) {
	switch {
	case p == 1:
		k.Abs(dst, a, b)
	case p == 2:
		k.Square(dst, a, b)
		k.sqrt(dst, dst)
	case math.IsInf(p, 1):
		k.Max(dst, a, b)
	default:
		n := len(a)
		for j := range dst {
			k.sub(tmp, a, b[j*n:][:n])
			k.abs(tmp, tmp)
			if p == 0 {
				for i, v := range tmp {
					tmp[i] = min(1, E(math.Ceil(float64(v)))) // NaN stays
				}
			} else {
				k.pow(tmp, tmp, E(p))
			}
			dst[j] = k.sum(tmp)
		}
		if p != 0 {
			k.pow(dst, dst, E(1/p))
		}
	}
}

// slopes adds to dst, which stands for a, the gradients of the distances y of a and the rows b, times g. g is
// overwritten; tmp has room for two rows.
func (k *distKernels[E]) slopes(dst, a, b, g, y []E, p float64, tmp []E) {
	switch n := len(a); p {
	case 1:
		k.AddSigns(dst, a, b, g)
	case 2:
		for j, v := range y {
			if g[j] /= v; v == 0 { // equal rows: the root has no slope there
				g[j] = 0
			}
		}
		k.AddDiffs(dst, a, b, g)
	default:
		for j := range g {
			k.slope(dst, a, b[j*n:][:n], g[j], y[j], p, tmp)
		}
	}
}

// slope adds g times the gradient of the distance y of a and b to dst, which stands for a; tmp has room for two rows.
func (k *distKernels[E]) slope(dst, a, b []E, g, y E, p float64, tmp []E) {
	d, s := tmp[:len(a)], tmp[len(a):][:len(a)]
	switch k.sub(d, a, b); {
	case p == 0 || y == 0:
		return
	case math.IsInf(p, 1):
		var most [1]E // y may have been rounded
		k.Max(most[:], a, b)
		for i, v := range d {
			if E(math.Abs(float64(v))) == most[0] {
				dst[i] += g * E(math.Copysign(1, float64(v)))
			}
		}
		return
	case p < 2:
		k.abs(s, d)
		k.pow(s, s, E(p-1))
		for i, v := range d { // a negative power of 0 is infinite
			if v == 0 {
				s[i] = 0
			}
		}
		k.sign(d, d)
		k.mul(d, d, s)
		g /= E(math.Pow(float64(y), p-1))
	default:
		k.abs(s, d)
		k.pow(s, s, E(p-2))
		k.mul(d, d, s)
		g /= E(math.Pow(float64(y), p-1))
	}
	k.addScaled(dst, dst, d, g)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
		Doc: "is the distance of order p between each row of x1 [*, P, M] and each row of x2 [*, R, " +
			"M].\nhttps://pytorch.org/docs/stable/generated/torch.cdist.html",
		Body: cdist,
	})
	tensor.Register(tensor.Def{
		Schema: "torch::cdist(Tensor x1, Tensor x2, float p=2.0, str compute_mode='use_mm_for_euclid_dist_if_necessary') -> Tensor", Go: "-",
		Doc: "is Python's torch.cdist, which names the mode.",
		Body: func(c *Ctx) {
			if s := c.Str(3); s != "use_mm_for_euclid_dist_if_necessary" && s != "use_mm_for_euclid_dist" &&
				s != "donot_use_mm_for_euclid_dist" {
				c.FailHint(tensor.ErrValue, "the modes are \"use_mm_for_euclid_dist_if_necessary\", "+
					"\"use_mm_for_euclid_dist\" and \"donot_use_mm_for_euclid_dist\"",
					"%s is not a valid value for compute_mode", s)
			}
			mode := map[string]int{"use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}[c.Str(3)]
			c.Return(op.Call1("aten::cdist", c.T(0), c.T(1), c.Float(2), mode))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::pdist(Tensor input, float p=2.0) -> Tensor",
		Doc: "is the distance of order p between each two rows, those of the first row with the others " +
			"first. Shapes: input [N, M], result [N·(N-1)/2]." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html",
		Body: func(c *Ctx) { c.Return(op.Call1("aten::pdist", c.T(0), c.Float(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "pdist(Tensor self, float p=2) -> Tensor",
		Doc: "is the distance of order p between each two rows, those of the first row with the others " +
			"first.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html",
		Body: pdist,
	})
}

func cdist(c *Ctx) {
	x := [2]*T{c.T(0), c.T(1)}
	for i, t := range x {
		if !t.DType().IsFloat() {
			c.Fail(tensor.ErrDType, "cdist only supports floating-point dtypes, X%d got: %s", i+1,
				t.DType().ClassName())
		}
	}
	for i, t := range x {
		if t.Dim() < 2 {
			c.Fail(tensor.ErrShape, "cdist only supports at least 2D tensors, X%d got: %dD", i+1, t.Dim())
		}
	}
	if a, b := x[0].Size(-1), x[1].Size(-1); a != b {
		c.Fail(tensor.ErrShape, "X1 and X2 must have the same number of columns. X1: %d X2: %d", a, b)
	}
	p := c.Float(2)
	if !(p >= 0) {
		c.Fail(tensor.ErrValue, "cdist only supports non-negative p values")
	}
	m := c.Int(3)
	if m < 0 || m > 2 {
		c.Fail(tensor.ErrValue, "possible modes: 0, 1, 2, but was: %d", m)
	}
	lead := tensor.BroadcastShapes(x[0].Shape()[:x[0].Dim()-2], x[1].Shape()[:x[1].Dim()-2])
	for i, t := range x {
		x[i] = t.Expand(append(slices.Clone(lead), t.Size(-2), t.Size(-1)))
	}
	// as PyTorch chooses: many rows by a matrix product, which loses digits where two rows are near each other
	if p == 2 && (m == 1 || m == 0 && (x[0].Size(-2) > 25 || x[1].Size(-2) > 25)) && x[0].DType() == x[1].DType() &&
		x[0].Numel() > 0 && x[1].Numel() > 0 {
		c.Return(op.Call1("aten::_euclidean_dist", x[0], x[1]))
		return
	}
	c.Return(op.Call1("aten::_cdist_forward", x[0], x[1], p, m))
}

func pdist(c *Ctx) {
	x, p := c.T(0), c.Float(1)
	switch {
	case x.Dim() != 2:
		c.Fail(tensor.ErrShape, "pdist only supports 2D tensors, got: %dD", x.Dim())
	case !x.DType().IsFloat():
		c.Fail(tensor.ErrDType, "pdist only supports floating-point dtypes")
	case !(p >= 0):
		c.Fail(tensor.ErrValue, "pdist only supports non-negative p values")
	}
	c.Return(op.Call1("aten::_pdist_forward", x, p))
}

// apart is the distance of rows by the operators that take their differences in memory, for gradients of gradients.
func apart(a, b *T, p float64) *T {
	return vectorNorm(a.Unsqueeze(-2).Sub(b.Unsqueeze(-3)), p, []int{-1}, false, 0)
}

// pairs is pdist by such operators.
func pairs(x *T, p float64) *T {
	n := x.Size(0)
	at := op.Call1("aten::triu_indices", n, n, 1)
	a, b := op.Call1("aten::select.int", at, 0, 0), op.Call1("aten::select.int", at, 0, 1)
	return vectorNorm(x.IndexSelect(0, a).Sub(x.IndexSelect(0, b)), p, []int{-1}, false, 0)
}

// wide is the type in which distances of a type are computed.
func wide(dt tensor.DType) tensor.DType {
	if dt == tensor.Float64 {
		return dt
	}
	return tensor.Float32
}

// distances calls f for tasks of rows of dst, each of whose elements takes work steps.
func distances[E float](rows, work int, f func(r int, tmp []E), room int) {
	par.For(rows, max(1, grain/max(1, work)), func(lo, hi int) {
		buf := half.Borrow[E](room)
		defer half.Return(buf)
		for r := lo; r < hi; r++ {
			f(r, *buf)
		}
	})
}

// euclidean sets o to the distances of rows from |a|² + |b|² - 2ab.
func euclidean[E float](o, x1, x2 *T, k *distKernels[E]) {
	dt := tensor.DTypeOf[E]()
	a, b := tensor.DenseAs(x1.Detach(), dt), tensor.DenseAs(x2.Detach(), dt)
	p, q, m := a.Size(-2), b.Size(-2), a.Size(-1)
	dot := op.Raw[E](tensor.Dense(a.MatMul(b.Transpose(-1, -2))))
	if m == 0 { // no number tells two rows apart
		tensor.ZeroRaw(o)
		return
	}
	as, bs := op.Raw[E](a), op.Raw[E](b)
	nb := make([]E, len(bs)/m)
	for j := range nb {
		nb[j] = k.squares(bs[j*m:][:m], 0)
	}
	distances(len(as)/m, q+m, func(r int, tmp []E) {
		d := half.Place(o, r*q, tmp[:q])
		k.addScaled(d, nb[r/p*q:][:q], dot[r*q:][:q], -2)
		k.addScalar(d, d, k.squares(as[r*m:][:m], 0))
		k.relu(d, d)
		k.sqrt(d, d)
		half.Store(o, r*q, d)
	}, q)
}

// cdistRows sets o to the distances of the rows of x1 and x2, whose batches are alike.
func cdistRows[E float](o, x1, x2 *T, p float64, k *distKernels[E]) {
	dt := tensor.DTypeOf[E]()
	rows, q, m := x1.Size(-2), x2.Size(-2), x1.Size(-1)
	a, b := op.Raw[E](tensor.DenseAs(x1, dt)), op.Raw[E](tensor.DenseAs(x2, dt))
	distances(o.Numel()/q, q*m, func(r int, tmp []E) {
		d := half.Place(o, r*q, tmp[m:][:q])
		k.between(d, a[r*m:][:m], b[r/rows*q*m:][:q*m], p, tmp[:m])
		half.Store(o, r*q, d)
	}, m+q)
}

// cdistGrad sets o to the gradient of x1; that of x2 is the same with all that is given transposed.
func cdistGrad[E float](o, g, x1, x2, y *T, p float64, k *distKernels[E]) {
	dt := tensor.DTypeOf[E]()
	rows, q, m := x1.Size(-2), x2.Size(-2), x1.Size(-1)
	a, b, gs, ys := op.Raw[E](tensor.DenseAs(x1, dt)), op.Raw[E](tensor.DenseAs(x2, dt)),
		op.Raw[E](tensor.DenseAs(g, dt)), op.Raw[E](tensor.DenseAs(y, dt))
	distances(x1.Numel()/m, q*m, func(r int, tmp []E) {
		d := tmp[2*m:][:m]
		clear(d)
		gr := tmp[3*m:][:q]
		copy(gr, gs[r*q:])
		k.slopes(d, a[r*m:][:m], b[r/rows*q*m:][:q*m], gr, ys[r*q:][:q], p, tmp)
		copy(half.Place(o, r*m, d), d)
		half.Store(o, r*m, d)
	}, 3*m+q)
}

// pairAt is where the distances of row i of n and the rows behind it begin.
func pairAt(i, n int) int { return i*n - i*(i+1)/2 }

func pdistRows[E float](o, x *T, p float64, k *distKernels[E]) {
	n, m := x.Size(0), x.Size(1)
	a := op.Raw[E](tensor.DenseAs(x, tensor.DTypeOf[E]()))
	distances(n-1, n*m/2, func(i int, tmp []E) {
		at, q := pairAt(i, n), n-1-i
		d := half.Place(o, at, tmp[m:][:q])
		k.between(d, a[i*m:][:m], a[(i+1)*m:], p, tmp[:m])
		half.Store(o, at, d)
	}, m+n)
}

func pdistGrad[E float](o, g, x, y *T, p float64, k *distKernels[E]) {
	dt := tensor.DTypeOf[E]()
	n, m := x.Size(0), x.Size(1)
	a, gs, ys := op.Raw[E](tensor.DenseAs(x, dt)), op.Raw[E](tensor.DenseAs(g, dt)), op.Raw[E](tensor.DenseAs(y, dt))
	distances(n, n*m, func(i int, tmp []E) {
		d := tmp[2*m:][:m]
		clear(d)
		gr, yr := tmp[3*m:][:n], tmp[3*m+n:][:n]
		for j := range n {
			if j != i {
				at := pairAt(min(i, j), n) + max(i, j) - min(i, j) - 1
				gr[j], yr[j] = gs[at], ys[at]
			}
		}
		row := a[i*m:][:m]
		k.slopes(d, row, a[:i*m], gr[:i], yr[:i], p, tmp)
		k.slopes(d, row, a[(i+1)*m:], gr[i+1:], yr[i+1:], p, tmp)
		copy(half.Place(o, i*m, d), d)
		half.Store(o, i*m, d)
	}, 3*m+2*n)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", Go: "-",
		Doc: "is the distance of rows by a matrix product.",
		Infer: func(c *Ctx) {
			a, b, sh := c.ArgDType(0), c.ArgDType(1), distShape(c)
			if a != b && c.Device().Type == tensor.CPUDevice && tensor.Size(sh).Numel() > 0 {
				c.Fail(tensor.ErrDType, "expected scalar type %s but found %s", a.ClassName(), b.ClassName())
			}
			c.Alloc(0, sh, a)
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(0) == tensor.Float64 {
				euclidean(c.Out(0), c.T(0), c.T(1), &dist64)
			} else {
				euclidean(c.Out(0), c.T(0), c.T(1), &dist32)
			}
		},
		Save: "x1 x2 result",
		VJP: func(c *Ctx, g *T) []*T {
			dt := wide(c.ArgDType(0))
			a, b, y := c.T(0).ToDType(dt), c.T(1).ToDType(dt), c.Out(0).ToDType(dt)
			same := y.Detach().EqScalar(0) // equal rows: the root has no slope there
			ratio := g.ToDType(dt).Div(op.Call1("aten::masked_fill.Scalar", y, same, 1))
			ratio = op.Call1("aten::masked_fill.Scalar", ratio, same, 0)
			grad := func(a, b, ratio *T) *T {
				return a.Mul(ratio.SumDim([]int{-1}, tensor.SumDimOptions{KeepDim: true})).Sub(ratio.MatMul(b))
			}
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = grad(a, b, ratio)
			}
			if c.Needs(1) {
				r[1] = grad(b, a, ratio.Transpose(-1, -2))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", Go: "-",
		Doc: "is the distance of rows from their differences.", Grad: "CdistBackward0",
		Infer: func(c *Ctx) { c.Alloc(0, distShape(c), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			switch o := c.Out(0); {
			case o.Numel() == 0:
			case c.ArgDType(0) == tensor.Float64:
				cdistRows(o, c.T(0), c.T(1), c.Float(2), &dist64)
			default:
				cdistRows(o, c.T(0), c.T(1), c.Float(2), &dist32)
			}
		},
		Save: "x1 x2 result",
		VJP: func(c *Ctx, g *T) []*T {
			a, b, y, p := c.T(0), c.T(1), c.Out(0), c.Float(2)
			if tensor.IsGradEnabled() {
				return op.Recorded(c, g, []*T{a, b}, func(in []*T) *T { return apart(in[0], in[1], p) })
			}
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = op.Call1("aten::_cdist_backward", g, a, b, p, y)
			}
			if c.Needs(1) {
				r[1] = op.Call1("aten::_cdist_backward", g.Transpose(-1, -2), b, a, p, y.Transpose(-1, -2))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_cdist_backward(Tensor grad_output, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor", Go: "-",
		Doc: "is the gradient of x1.", NoGrad: "the gradient of a gradient goes through the composed form",
		Infer: func(c *Ctx) {
			a, b := c.Shape(1), c.Shape(2)
			if len(a) < 2 || len(b) != len(a) || a[len(a)-1] != b[len(b)-1] || !slices.Equal(a[:len(a)-2], b[:len(b)-2]) {
				c.Fail(tensor.ErrShape, "_cdist_backward(): x1 %s and x2 %s must be batches of rows of one length",
					tensor.ShapeString(a), tensor.ShapeString(b))
			}
			dist := append(slices.Clone(a[:len(a)-1]), b[len(b)-2])
			c.WantShape(0, dist...)
			c.WantShape(4, dist...)
			c.WantDType(1, floats...)
			c.Alloc(0, a, c.ArgDType(1))
		},
		CPU: func(c *Ctx) {
			switch o := c.Out(0); {
			case o.Numel() == 0:
			case c.Shape(2)[len(c.Shape(2))-2] == 0:
				tensor.ZeroRaw(o)
			case c.ArgDType(1) == tensor.Float64:
				cdistGrad(o, c.T(0), c.T(1), c.T(2), c.T(4), c.Float(3), &dist64)
			default:
				cdistGrad(o, c.T(0), c.T(1), c.T(2), c.T(4), c.Float(3), &dist32)
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_pdist_forward(Tensor self, float p=2) -> Tensor", Go: "-",
		Doc: "is the distance of each two rows.", Grad: "PdistBackward0",
		Infer: func(c *Ctx) {
			if len(c.Shape(0)) != 2 || !c.ArgDType(0).IsFloat() {
				c.Fail(tensor.ErrShape, "_pdist_forward requires a 2D tensor of floating-point numbers")
			}
			n := c.Shape(0)[0]
			c.Alloc(0, []int{n * (n - 1) / 2}, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			switch o := c.Out(0); {
			case o.Numel() == 0:
			case c.ArgDType(0) == tensor.Float64:
				pdistRows(o, c.T(0), c.Float(1), &dist64)
			default:
				pdistRows(o, c.T(0), c.Float(1), &dist32)
			}
		},
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			x, p := c.T(0), c.Float(1)
			if tensor.IsGradEnabled() {
				return op.Recorded(c, g, []*T{x}, func(in []*T) *T { return pairs(in[0], p) })
			}
			return []*T{op.Call1("aten::_pdist_backward", g, x, p, c.Out(0))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_pdist_backward(Tensor grad_output, Tensor self, float p, Tensor pdist) -> Tensor", Go: "-",
		Doc: "is the gradient of self.", NoGrad: "the gradient of a gradient goes through the composed form",
		Infer: func(c *Ctx) {
			c.WantDim(1, 2)
			n := c.Shape(1)[0]
			c.WantShape(0, n*(n-1)/2)
			c.WantShape(3, n*(n-1)/2)
			c.WantDType(1, floats...)
			c.Alloc(0, c.Shape(1), c.ArgDType(1))
		},
		CPU: func(c *Ctx) {
			switch o := c.Out(0); {
			case o.Numel() == 0:
			case c.ArgDType(1) == tensor.Float64:
				pdistGrad(o, c.T(0), c.T(1), c.T(3), c.Float(2), &dist64)
			default:
				pdistGrad(o, c.T(0), c.T(1), c.T(3), c.Float(2), &dist32)
			}
		},
	})
}

// floats are the dtypes of distances.
var floats = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16}

// distShape is the shape of the distances of two batches of rows of one type.
func distShape(c *Ctx) []int {
	a, b := c.Shape(0), c.Shape(1)
	n, m := len(a)-2, len(b)-2
	switch {
	case !c.ArgDType(0).IsFloat() || c.ArgDType(0) != c.ArgDType(1):
		c.Fail(tensor.ErrDType, "expected rows of one floating-point dtype, got %s and %s", c.ArgDType(0).ClassName(),
			c.ArgDType(1).ClassName())
	case n < 0 || n != m || !slices.Equal(a[:n], b[:n]) || a[n+1] != b[n+1]:
		c.Fail(tensor.ErrShape, "expected batches of rows of one length, got %s and %s", tensor.ShapeString(a),
			tensor.ShapeString(b))
	}
	return append(slices.Clone(a[:n+1]), b[n])
}

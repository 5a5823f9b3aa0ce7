package norm

import (
	"math"
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	opLayerNorm     = tensor.Slot("aten::layer_norm")
	opLayer         = tensor.Slot("aten::native_layer_norm")
	opLayerBackward = tensor.Slot("aten::native_layer_norm_backward")
)

// splitRows is the number of rows m and their size n when the trailing dimensions of a shape are normalised.
func splitRows(sh, normalized []int) (m, n int) {
	m, n = 1, 1
	for _, s := range sh[:len(sh)-len(normalized)] {
		m *= s
	}
	for _, s := range normalized {
		n *= s
	}
	return
}

// checkNormalized refuses a normalized_shape that is not the end of the input's shape, and parameters of another shape.
func checkNormalized(c *Ctx, sh, norm []int, w, b *T) {
	if len(norm) < 1 {
		c.Fail(tensor.ErrShape, "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "+
			"one element, but got normalized_shape = %s", tensor.ShapeString(norm))
	}
	if w != nil && !tensor.SameShape(w.Shape(), norm) {
		c.Fail(tensor.ErrShape, "Expected weight to be of same shape as normalized_shape, but got weight of shape %s "+
			"and normalized_shape = %s", tensor.ShapeString(w.Shape()), tensor.ShapeString(norm))
	}
	if b != nil && !tensor.SameShape(b.Shape(), norm) {
		c.Fail(tensor.ErrShape, "Expected bias to be of same shape as normalized_shape, but got bias of shape %s and "+
			"normalized_shape = %s", tensor.ShapeString(b.Shape()), tensor.ShapeString(norm))
	}
	if len(sh) < len(norm) || !tensor.SameShape(sh[len(sh)-len(norm):], norm) {
		want := "[*"
		for _, s := range norm {
			want += ", " + tensor.ShapeString([]int{s})[1:]
			want = want[:len(want)-1]
		}
		c.Fail(tensor.ErrShape, "Given normalized_shape=%s, expected input with shape %s], but got input of size%s",
			tensor.ShapeString(norm), want, tensor.ShapeString(sh))
	}
}

// withDefaults fills in the parameter that is missing beside the other one: ones for the weight, and for the bias
// zeros of the sign that leaves every product as it is.
func withDefaults[E float](w, b []E, n int) (_, _ []E) {
	fill := func(v E) []E {
		x := make([]E, n)
		for i := range x {
			x[i] = v
		}
		return x
	}
	switch {
	case w == nil && b != nil:
		w = fill(1)
	case w != nil && b == nil:
		b = fill(E(math.Copysign(0, -1)))
	}
	return w, b
}

// layerTile is the number of elements of rows that are worked on at a time, step by step: few enough for them and the
// results to stay in the first-level cache.
const layerTile = 4096

func layerForward[E float](m, n int, out, x field[E], w, b, mean, rstd []E, eps float64) {
	w, b = withDefaults(w, b, n)
	few := max(1, layerTile/max(1, n))
	par.Sweep(m, max(1, 16*1024/max(1, n)), 2*m*n*int(unsafe.Sizeof(E(0))), func(lo, hi int) {
		buf := half.Borrow[E](min(few, hi-lo) * n)
		defer half.Return(buf)
		for r := lo; r < hi; r += few {
			k := min(few, hi-r)
			a, d := x.load(r*n, (*buf)[:k*n]), out.place(r*n, (*buf)[:k*n])
			vec.LayerNormRows(d, a, w, b, n, E(eps), mean[r:r+k], rstd[r:r+k])
			out.store(r*n, d)
		}
	})
}

// narrow is the memory of a tensor of float32, nil of others.
func (m field[E]) narrow() []float32 {
	if m.t.DType() != tensor.Float32 {
		return nil
	}
	return tensor.Memory[float32](m.t)[m.off:]
}

// prefetch brings n elements from i on into the cache, if there are as many.
func prefetch(x []float32, i, n int) {
	if i+n <= len(x) {
		vec.PrefetchRow(x[i:][:n])
	}
}

// layerBackward gives the gradients of input and parameters; nil ones are not wanted. Each block of rows has sums of
// its own for the parameters, added in order at the end.
func layerBackward[E float](m, n int, gx field[E], gw, gb []E, g, x field[E], w, mean, rstd []E) {
	block := max(1, max(16*1024/max(1, n), (m+31)/32))
	blocks := (m + block - 1) / block
	params := gw != nil || gb != nil
	var dw, db []E
	if params {
		dw, db = make([]E, blocks*n), make([]E, blocks*n)
	}
	ng, nx := g.narrow(), x.narrow()
	few := max(1, layerTile/2/max(1, n))
	par.For(m, block, func(lo, hi int) {
		size := min(few, hi-lo) * n
		buf := half.Borrow[E](3*size + 2*few)
		defer half.Return(buf)
		tg, tx, td, tmp := (*buf)[:size], (*buf)[size:2*size], (*buf)[2*size:3*size], (*buf)[3*size:]
		for r := lo; r < hi; r += few {
			k := min(few, hi-r)
			gr, xr := g.load(r*n, tg[:k*n]), x.load(r*n, tx[:k*n])
			prefetch(ng, (r+k)*n, k*n)
			prefetch(nx, (r+k)*n, k*n)
			mu, rs := mean[r:r+k], rstd[r:r+k]
			if gx.given() {
				d := gx.place(r*n, td[:k*n])
				vec.LayerNormGradRows(d, gr, w, xr, n, mu, rs, tmp)
				gx.store(r*n, d)
			}
			if params {
				at := lo / block * n
				vec.LayerNormParamsRows(dw[at:at+n], db[at:at+n], gr, xr, n, mu, rs)
			}
		}
	})
	for k := range blocks {
		for _, p := range [][2][]E{{gw, dw}, {gb, db}} {
			if p[0] == nil {
				continue
			}
			src := p[1][k*n : k*n+n]
			if k == 0 {
				copy(p[0], src)
				continue
			}
			add(p[0], src)
		}
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
		Doc: "normalises over the trailing dimensions; the results are the output, the mean and the inverse " +
			"standard deviation of each row.",
		AMP: tensor.AMPFP32,
		Infer: func(c *Ctx) {
			x, norm := c.T(0), c.Ints(1)
			checkNormalized(c, x.Shape(), norm, c.T(2), c.T(3))
			if !x.DType().IsFloat() {
				c.FailDType(tensor.ErrDType, "LayerNormKernelImpl", x.DType())
			}
			checkMixed(c, x, c.T(2), c.T(3))
			c.Alloc(0, x.Shape(), x.DType())
			st := slices.Clone(x.Shape())
			for i := len(st) - len(norm); i < len(st); i++ {
				st[i] = 1
			}
			dt := statType(x.DType(), c.T(2), c.T(3))
			c.Alloc(1, st, dt)
			c.Alloc(2, slices.Clone(st), dt)
		},
		CPU: func(c *Ctx) {
			if c.T(0).DType() == tensor.Float64 {
				layerRun[float64](c)
			} else {
				layerRun[float32](c)
			}
		},
		Save: "input weight bias result1 result2",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 3)
			mask := []bool{c.Needs(0), c.Has(2) && c.Needs(2), c.Has(3) && c.Needs(3)}
			q := call(opLayerBackward, g, c.T(0), c.Ints(1), c.Out(1), c.Out(2), c.T(2), c.T(3), mask)
			for i := range q {
				if mask[i] {
					r[i] = q[i]
				}
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
		Doc: "are the gradients of layer norm's input, weight and bias; output_mask says which are wanted, the " +
			"others come back empty.",
		Infer: func(c *Ctx) {
			c.WantLength(7, 3)
			mask := c.Bools(7)
			norm := c.Ints(2)
			checkNormalized(c, c.Shape(1), norm, c.T(5), c.T(6))
			c.WantShape(0, c.Shape(1)...)
			m, _ := splitRows(c.Shape(1), norm)
			c.WantNumel(3, m)
			c.WantNumel(4, m)
			dt := c.ArgDType(1)
			if w := c.T(5); w != nil {
				dt = w.DType()
			}
			for i, sh := range [][]int{c.Shape(1), norm, norm} {
				d := dt
				if i == 0 {
					d = c.ArgDType(1)
				}
				if !mask[i] {
					sh = []int{0}
				}
				c.Alloc(i, sh, d)
			}
		},
		CPU: func(c *Ctx) {
			if c.T(1).DType() == tensor.Float64 {
				layerBackwardRun[float64](c)
			} else {
				layerBackwardRun[float32](c)
			}
		},
		Save: "grad_out input mean rstd weight",
		VJP:  layerDoubleBackward,
	})
	tensor.Register(tensor.Def{
		Schema: "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
		Doc: "is (x - mean) / sqrt(variance + eps) * weight + bias, with mean and variance of each row, which are " +
			"the trailing dimensions normalizedShape; weight and bias have that shape." + site + "layer_norm.html",
		Go: "-",
		Body: func(c *Ctx) {
			c.Return(call(opLayer, c.T(0), c.Ints(1), c.T(2), c.T(3), c.Float(4))[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
		Doc: "is (x - mean) / sqrt(variance + eps) * weight + bias, with mean and variance of each row, which are " +
			"the trailing dimensions normalizedShape; weight and bias have that shape." + site + "layer_norm.html",
		Body: func(c *Ctx) {
			c.Return(call(opLayerNorm, c.T(0), c.Ints(1), c.T(2), c.T(3), c.Float(4), true)[0])
		},
	})
}

func layerRun[E float](c *Ctx) {
	x := c.T(0)
	m, n := splitRows(x.Shape(), c.Ints(1))
	if m == 0 {
		return
	}
	intoField(c.Out(0), tensor.ContiguousFormat, func(out field[E]) {
		into(c.Out(1), false, func(mean []E) {
			into(c.Out(2), false, func(rstd []E) {
				layerForward(m, n, out, fieldIn[E](x, tensor.ContiguousFormat), dense[E](c.T(2)), dense[E](c.T(3)),
					mean, rstd, c.Float(4))
			})
		})
	})
}

func layerBackwardRun[E float](c *Ctx) {
	g, x := c.T(0), c.T(1)
	m, n := splitRows(x.Shape(), c.Ints(2))
	outs := gradientsWanted(c, c.Bools(7))
	if x.Numel() == 0 {
		clearAll(outs[:])
		return
	}
	intoField(outs[0], tensor.ContiguousFormat, func(gx field[E]) {
		into(outs[1], false, func(gw []E) {
			into(outs[2], false, func(gb []E) {
				layerBackward(m, n, gx, gw, gb, fieldIn[E](g, tensor.ContiguousFormat),
					fieldIn[E](x, tensor.ContiguousFormat), dense[E](c.T(5)), dense[E](c.T(3)), dense[E](c.T(4)))
			})
		})
	})
}

// layerDoubleBackward is the gradient of the backward pass, written with tensors. With xh the normalised row, P(v) =
// v - M(v) - xh·M(v·xh) and M the mean of a row: gx = rstd·P(w·g), gw = Σ g·xh, gb = Σ g.
func layerDoubleBackward(c *Ctx, _ *T) []*T {
	g, x, w := c.T(0), c.T(1), c.T(5)
	norm := c.Ints(2)
	lead := x.Dim() - len(norm)
	var axes []int
	n := 1.0
	for i := lead; i < x.Dim(); i++ {
		axes = append(axes, i)
		n *= float64(x.Size(i))
	}
	mask := c.Bools(7)
	gg := make([]*T, 3)
	for i := range gg {
		if mask[i] {
			gg[i] = c.G(i)
		}
	}
	mean, rs := c.T(3), c.T(4)
	xh := x.Add(mean.MulScalar(-1)).Mul(rs)
	avg := func(t *T) *T { return t.SumDim(axes, tensor.SumDimOptions{KeepDim: true}).MulScalar(1 / n) }
	neg := func(t *T) *T { return t.MulScalar(-1) }
	project := func(t *T) *T { return t.Add(neg(avg(t))).Add(neg(xh.Mul(avg(t.Mul(xh))))) }
	byW := func(t *T) *T {
		if w == nil {
			return t
		}
		return t.Mul(w)
	}
	var rg, rx, rw *T
	add := func(p **T, t *T) {
		if *p == nil {
			*p = t
		} else {
			*p = (*p).Add(t)
		}
	}
	if u := gg[0]; u != nil {
		pu := rs.Mul(project(u))
		add(&rg, byW(pu))
		if w != nil {
			add(&rw, g.Mul(pu)) // the engine sums it to the shape of w
		}
		v := byW(g)
		a, b := avg(v.Mul(xh)), avg(u.Mul(xh))
		gxh := neg(rs.Mul(u.Mul(a).Add(v.Mul(b))))
		add(&rx, rs.Mul(project(gxh)))
		s := u.Mul(project(v)).SumDim(axes, tensor.SumDimOptions{KeepDim: true})
		add(&rx, neg(s.Mul(rs).Mul(rs).Mul(xh)).MulScalar(1/n))
	}
	if u := gg[1]; u != nil {
		add(&rg, u.Mul(xh))
		add(&rx, rs.Mul(project(u.Mul(g))))
	}
	if u := gg[2]; u != nil {
		add(&rg, u.Expand(x.Shape()))
	}
	return []*T{rg, rx, nil, nil, rw, nil}
}

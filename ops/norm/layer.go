package norm

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	opLayer         = tensor.Slot("aten::native_layer_norm")
	opLayerBackward = tensor.Slot("aten::native_layer_norm_backward")
)

// rows splits a shape for normalised trailing dimensions.
func rows(sh, normalized []int) (m, n int) {
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
		c.Fail(tensor.ErrShape, "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = %s", tensor.ShapeString(norm))
	}
	if w != nil && !tensor.SameShape(w.Shape(), norm) {
		c.Fail(tensor.ErrShape, "Expected weight to be of same shape as normalized_shape, but got weight of shape %s and normalized_shape = %s", tensor.ShapeString(w.Shape()), tensor.ShapeString(norm))
	}
	if b != nil && !tensor.SameShape(b.Shape(), norm) {
		c.Fail(tensor.ErrShape, "Expected bias to be of same shape as normalized_shape, but got bias of shape %s and normalized_shape = %s", tensor.ShapeString(b.Shape()), tensor.ShapeString(norm))
	}
	if len(sh) < len(norm) || !tensor.SameShape(sh[len(sh)-len(norm):], norm) {
		want := "[*"
		for _, s := range norm {
			want += ", " + tensor.ShapeString([]int{s})[1:]
			want = want[:len(want)-1]
		}
		c.Fail(tensor.ErrShape, "Given normalized_shape=%s, expected input with shape %s], but got input of size%s", tensor.ShapeString(norm), want, tensor.ShapeString(sh))
	}
}

func layerForward[E float](m, n int, out, x field[E], w, b, mean, rstd []E, eps float64) {
	if w == nil && b != nil {
		w = make([]E, n)
		for i := range w {
			w[i] = 1
		}
	}
	narrow := x.narrow()
	par.For(m, max(1, 16*1024/max(1, n)), func(lo, hi int) {
		few := min(hi-lo, perTile(max(1, n))) // rows that are widened at once
		buf := half.Borrow[E](few * n)
		defer half.Return(buf)
		var as, ds []E
		for r := lo; r < hi; r++ {
			at := (r - lo) % few * n
			if at == 0 {
				size := min(few, hi-r) * n
				as, ds = x.load(r*n, (*buf)[:size]), out.place(r*n, (*buf)[:size])
			}
			a, d := as[at:at+n], ds[at:at+n]
			switch d := any(d).(type) {
			case []float32:
				a := any(a).([]float32)
				ahead(narrow, r+1, n)
				mu, rs := vec.LayerNormF32(d, a, any(w).([]float32), any(b).([]float32), float32(eps))
				mean[r], rstd[r] = E(mu), E(rs)
			case []float64:
				mu, rs := vec.LayerNormF64(d, any(a).([]float64), any(w).([]float64), any(b).([]float64), eps)
				mean[r], rstd[r] = E(mu), E(rs)
			}
			if at+n == len(ds) {
				out.store((r+1)*n-len(ds), ds)
			}
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

// ahead fetches row r of n elements, if there is such a row.
func ahead(x []float32, r, n int) {
	if (r+1)*n <= len(x) {
		vec.Ahead(x[r*n:][:n])
	}
}

// layerBackward gives the gradients of input and parameters; nil ones are not wanted. Each block of rows has sums of its own for the
// parameters, added in order at the end.
func layerBackward[E float](m, n int, gx field[E], gw, gb []E, g, x field[E], w, mean, rstd []E) {
	block := max(1, max(16*1024/max(1, n), (m+31)/32))
	blocks := (m + block - 1) / block
	params := gw != nil || gb != nil
	var dw, db []E
	if params {
		dw, db = make([]E, blocks*n), make([]E, blocks*n)
	}
	ng, nx := g.narrow(), x.narrow()
	par.For(m, block, func(lo, hi int) {
		few := min(hi-lo, perTile(max(1, n))) // rows that are widened at once
		buf := half.Borrow[E](3 * few * n)
		defer half.Return(buf)
		tg, tx, td := (*buf)[:few*n], (*buf)[few*n:2*few*n], (*buf)[2*few*n:]
		var gs, xs, ds []E
		var pw, pb []E
		if params {
			k := lo / block
			pw, pb = dw[k*n:k*n+n], db[k*n:k*n+n]
		}
		for r := lo; r < hi; r++ {
			at := (r - lo) % few * n
			if at == 0 {
				size := min(few, hi-r) * n
				gs, xs = g.load(r*n, tg[:size]), x.load(r*n, tx[:size])
				if gx.given() {
					ds = gx.place(r*n, td[:size])
				}
			}
			gr, xr := gs[at:at+n], xs[at:at+n]
			ahead(ng, r+1, n)
			ahead(nx, r+1, n)
			var d []E
			if gx.given() {
				d = ds[at : at+n]
			}
			switch gr := any(gr).(type) {
			case []float32:
				xr := any(xr).([]float32)
				if d != nil {
					vec.LayerNormGradF32(any(d).([]float32), gr, any(w).([]float32), xr, float32(mean[r]), float32(rstd[r]))
				}
				if params {
					vec.NormalizeParamsBackwardF32(any(pw).([]float32), any(pb).([]float32), gr, xr, float32(mean[r]), float32(rstd[r]))
				}
			case []float64:
				xr := any(xr).([]float64)
				if d != nil {
					vec.LayerNormGradF64(any(d).([]float64), gr, any(w).([]float64), xr, float64(mean[r]), float64(rstd[r]))
				}
				if params {
					vec.NormalizeParamsBackwardF64(any(pw).([]float64), any(pb).([]float64), gr, xr, float64(mean[r]), float64(rstd[r]))
				}
			}
			if d != nil && at+n == len(ds) {
				gx.store((r+1)*n-len(ds), ds)
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
			for i, v := range src {
				p[0][i] += v
			}
		}
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
		Doc:    "normalises over the trailing dimensions; the results are the output, the mean and the inverse standard deviation of each row.",
		AMP:    tensor.AMPFP32,
		Infer: func(c *Ctx) {
			x, norm := c.T(0), c.Ints(1)
			checkNormalized(c, x.Shape(), norm, c.T(2), c.T(3))
			if !x.DType().IsFloat() {
				c.Fail(tensor.ErrDType, "\"LayerNormKernelImpl\" not implemented for '%s'", x.DType().ClassName())
			}
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
		Doc:    "are the gradients of layer norm's input, weight and bias; output_mask says which are wanted, the others come back empty.",
		Infer: func(c *Ctx) {
			mask := c.Bools(7)
			norm := c.Ints(2)
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
		Doc:    "normalises over the trailing dimensions normalized_shape, then scales by weight and adds bias, both of that shape." + site + "layer_norm.html",
		Go:     "-",
		Body: func(c *Ctx) {
			c.Return(call(opLayer, c.T(0), c.Ints(1), c.T(2), c.T(3), c.Float(4))[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
		Doc:    "normalises over the trailing dimensions normalized_shape, then scales by weight and adds bias, both of that shape." + site + "layer_norm.html",
		Body: func(c *Ctx) {
			c.Return(call(opLayer, c.T(0), c.Ints(1), c.T(2), c.T(3), c.Float(4))[0])
		},
	})
}

func layerRun[E float](c *Ctx) {
	x := c.T(0)
	m, n := rows(x.Shape(), c.Ints(1))
	if m == 0 {
		return
	}
	intoField(c.Out(0), tensor.ContiguousFormat, func(out field[E]) {
		into(c.Out(1), false, func(mean []E) {
			into(c.Out(2), false, func(rstd []E) {
				layerForward(m, n, out, fieldIn[E](x, tensor.ContiguousFormat), dense[E](c.T(2)), dense[E](c.T(3)), mean, rstd, c.Float(4))
			})
		})
	})
}

func layerBackwardRun[E float](c *Ctx) {
	g, x := c.T(0), c.T(1)
	m, n := rows(x.Shape(), c.Ints(2))
	mask := c.Bools(7)
	var outs [3]*T
	for i := range outs {
		if mask[i] {
			outs[i] = c.Out(i)
		}
	}
	if x.Numel() == 0 {
		for _, o := range outs {
			if o != nil {
				o.ZeroRaw()
			}
		}
		return
	}
	intoField(outs[0], tensor.ContiguousFormat, func(gx field[E]) {
		into(outs[1], false, func(gw []E) {
			into(outs[2], false, func(gb []E) {
				layerBackward(m, n, gx, gw, gb, fieldIn[E](g, tensor.ContiguousFormat), fieldIn[E](x, tensor.ContiguousFormat), dense[E](c.T(5)), dense[E](c.T(3)), dense[E](c.T(4)))
			})
		})
	})
}

// layerDoubleBackward is the gradient of the backward pass, written with tensors. With xh the normalised row, P(v) = v - M(v) -
// xh·M(v·xh) and M the mean of a row: gx = rstd·P(w·g), gw = Σ g·xh, gb = Σ g.
func layerDoubleBackward(c *Ctx, _ *T) []*T {
	g, x, w := c.T(0), c.T(1), c.T(5)
	norm := c.Ints(2)
	lead := x.Dim() - len(norm)
	var axes, outer []int
	n := 1.0
	for i := range x.Dim() {
		if i >= lead {
			axes = append(axes, i)
			n *= float64(x.Size(i))
		} else {
			outer = append(outer, i)
		}
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
	sumOuter := func(t *T) *T {
		if len(outer) == 0 {
			return t
		}
		return t.SumDim(outer)
	}
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
			add(&rw, sumOuter(g.Mul(pu)))
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

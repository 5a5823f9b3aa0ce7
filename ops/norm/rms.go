package norm

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	opRMSNorm     = tensor.Slot("aten::rms_norm")
	opRMSBackward = tensor.Slot("aten::_fused_rms_norm_backward")
)

// refuseRMS fails for a dtype that has no root mean square, in PyTorch's words.
func refuseRMS(c *Ctx, dt tensor.DType) {
	c.FailDType(tensor.ErrDType, "rms_norm", dt)
}

// rmsShort is up to how many elements rows are normalised together, each in one pass after that for its sum.
const rmsShort = layerTile

func rmsForward[E float](m, n int, out, x, w, rstd []E, eps float64) {
	if n > 0 && n <= rmsShort {
		few := layerTile / n
		w, c := withDefaults(w, nil, n)
		par.Sweep(m, max(1, 16*1024/n), 2*m*n*int(unsafe.Sizeof(E(0))), func(lo, hi int) {
			for r := lo; r < hi; r += few {
				k := min(few, hi-r)
				vec.RMSNormRows(out[r*n:(r+k)*n], x[r*n:(r+k)*n], w, c, n, eps, rstd[r:r+k])
			}
		})
		return
	}
	par.Sweep(m, max(1, 16*1024/max(1, n)), 2*m*n*int(unsafe.Sizeof(E(0))), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			xr, o := x[r*n:r*n+n], out[r*n:r*n+n]
			if r+1 < m {
				vec.PrefetchRow(x[(r+1)*n:][:n])
			}
			rs := E(1 / math.Sqrt(vec.SumSquares(xr)/float64(n)+eps))
			rstd[r] = rs
			scaleShift(o, xr, rs, 0, false)
			if w != nil {
				mulBy(o, w)
			}
		}
	})
}

// rmsBackward gives the gradients of input and weight; a nil one is not wanted. Each block of rows has a sum of its
// own for the weight, added in order at the end.
func rmsBackward(m, n int, gx, gw, g, x, w, rstd []float32) {
	block := max(1, max(16*1024/max(1, n), (m+31)/32))
	blocks := (m + block - 1) / block
	var dw []float32
	if gw != nil {
		dw = make([]float32, 2*blocks*n) // the second half are sums of g, which come along
	}
	few := max(1, layerTile/2/max(1, n))
	par.For(m, block, func(lo, hi int) {
		tmp := half.Borrow[float32](2 * min(few, hi-lo))
		defer half.Return(tmp)
		for r := lo; r < hi; r += few {
			k := min(few, hi-r)
			gr, xr, rs := g[r*n:(r+k)*n], x[r*n:(r+k)*n], rstd[r:r+k]
			prefetch(g, (r+k)*n, k*n)
			prefetch(x, (r+k)*n, k*n)
			if gx != nil {
				vec.RMSNormGradRows(gx[r*n:(r+k)*n], gr, w, xr, n, rs, *tmp)
			}
			if gw != nil {
				at := lo / block * n
				vec.RMSNormParamsRows(dw[at:at+n], dw[blocks*n+at:][:n], gr, xr, n, rs)
			}
		}
	})
	clear(gw)
	if gw != nil {
		for k := range blocks {
			vec.AddF32(gw, gw, dw[k*n:][:n])
		}
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)",
		Doc: "are the gradients of input and weight for float32; output_mask says which are wanted, the others " +
			"come back empty.",
		Go: "-", NoGrad: "the gradient of a gradient goes through the composed form",
		Infer: func(c *Ctx) {
			checkNormalized(c, c.Shape(1), c.Ints(2), c.T(4), nil)
			c.WantShape(0, c.Shape(1)...)
			m, _ := splitRows(c.Shape(1), c.Ints(2))
			c.WantNumel(3, m)
			for _, i := range []int{0, 1, 3, 4} {
				c.WantDType(i, tensor.Float32)
			}
			c.WantLength(5, 2)
			mask := c.Bools(5)
			for i, sh := range [][]int{c.Shape(1), c.Ints(2)} {
				if !mask[i] {
					sh = []int{0}
				}
				c.Alloc(i, sh, tensor.Float32)
			}
		},
		CPU: func(c *Ctx) {
			x, mask := tensor.Dense(c.T(1)), c.Bools(5)
			m, n := splitRows(x.Shape(), c.Ints(2))
			var gx, gw, w []float32
			if mask[0] {
				gx = tensor.Data[float32](c.Out(0))
			}
			if mask[1] {
				gw = tensor.Data[float32](c.Out(1))
			}
			if t := c.T(4); t != nil {
				w = tensor.Data[float32](tensor.Dense(t))
			}
			rmsBackward(m, n, gx, gw, tensor.Data[float32](tensor.Dense(c.T(0))), tensor.Data[float32](x), w,
				tensor.Data[float32](tensor.Dense(c.T(3))))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
		Doc:    "divides each row by its root mean square; the second result is the inverse of that.",
		Go:     "-",
		AMP:    tensor.AMPFP32,
		Infer: func(c *Ctx) {
			x, norm := c.T(0), c.Ints(1)
			checkNormalized(c, x.Shape(), norm, c.T(2), nil)
			if !x.DType().IsFloat() {
				refuseRMS(c, x.DType())
			}
			c.Alloc(0, x.Shape(), x.DType())
			c.Alloc(1, rmsShape(c), x.DType().Compute())
		},
		CPU: func(c *Ctx) {
			if c.T(0).DType() == tensor.Float64 {
				rmsRun[float64](c, c.Out(1))
			} else {
				rmsRun[float32](c, c.Out(1))
			}
		},
		Save: "input weight result1",
		VJP:  func(c *Ctx, g *T) []*T { return rmsVJP(c, g, c.Out(1)) },
	})
	tensor.Register(tensor.Def{
		Schema: "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
		Doc: "is x / sqrt(mean(x²) + eps) * weight, with the mean over the trailing dimensions normalized_shape." +
			site + "rms_norm.html",
		Go: "-", Grad: "MulBackward0",
		Body: rmsBody,
		Fuses: func(c *Ctx) bool {
			w := c.T(2)
			return c.ArgDType(0).IsFloat() && (w == nil || w.DType().IsFloat())
		},
		Infer: func(c *Ctx) {
			x := c.T(0)
			checkNormalized(c, x.Shape(), c.Ints(1), c.T(2), nil)
			c.Alloc(0, x.Shape(), x.DType())
		},
		CPU: func(c *Ctx) {
			st := tensor.New(rmsShape(c), c.ArgDType(0).Compute())
			if c.T(0).DType() == tensor.Float64 {
				rmsRun[float64](c, st)
			} else {
				rmsRun[float32](c, st)
			}
			if c.Wants() {
				c.Keep(st)
			}
		},
		Save: "input weight",
		VJP: func(c *Ctx, g *T) []*T {
			st, _ := c.Kept().(*T)
			return rmsVJP(c, g, st)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
		Doc: "is x / sqrt(mean(x²) + eps) * weight, with the mean over the trailing dimensions normalizedShape, " +
			"which weight's shape is; eps defaults to the dtype's machine epsilon." + site + "rms_norm.html",
		Body: func(c *Ctx) { c.Return(call(opRMSNorm, c.T(0), c.Ints(1), c.T(2), c.Value(3))[0]) },
	})
	pow, div := tensor.Slot("aten::pow.Tensor_Scalar"), tensor.Slot("aten::div.Tensor")
	// which Python calls also with a number
	mul, add := tensor.Slot("aten::mul.Tensor"), tensor.Slot("aten::add.Tensor")
	pad := tensor.Slot("aten::pad")
	pool2, pool3 := tensor.Slot("aten::avg_pool2d"), tensor.Slot("aten::avg_pool3d")
	tensor.Register(tensor.Def{
		Schema: "F::local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> Tensor",
		Doc: "is x / (k + alpha * m)^beta for inputs [n, c, ...] of at least three dimensions, with m the mean of " +
			"the squares of size neighbouring channels." + site + "local_response_norm.html",
		Body: func(c *Ctx) {
			x, size := c.T(0), c.Int(1)
			if x.Dim() < 3 {
				c.Fail(tensor.ErrShape, "Expected 3D or higher dimensionality                          input (got %d "+
					"dimensions)", x.Dim())
			}
			if x.Numel() == 0 {
				c.Return(x)
				return
			}
			sh, sq := x.Shape(), x.Mul(x)
			// A window over the channels reaches size/2 before and (size-1)/2 behind each. While nobody looks on,
			// pooling pads both sides by size/2 itself, which saves a copy, and what is too much for an even size is
			// cut off.
			windows := func(x *T, kernel []int) *T {
				nd := len(kernel)
				padding, one := make([]int, nd), []int{1, 1, 1}[:nd]
				if tensor.Unwatched() {
					padding[0] = size / 2
				} else {
					sides := make([]int, 2*nd)
					sides[2*nd-2], sides[2*nd-1] = size/2, (size-1)/2
					x = call(pad, x, sides, "constant", nil)[0]
				}
				if nd == 2 {
					x = call(pool2, x, kernel, one, padding, false, true, nil)[0]
				} else {
					x = call(pool3, x, kernel, one, padding, false, true, nil)[0]
				}
				if x.Size(2) > sh[1] {
					x = x.Narrow(2, 0, sh[1])
				}
				return x.SqueezeDim(1)
			}
			var m *T
			if x.Dim() == 3 {
				m = windows(sq.Unsqueeze(1), []int{size, 1})
			} else {
				m = windows(sq.View([]int{sh[0], 1, sh[1], sh[2], -1}), []int{size, 1, 1})
				if m.IsContiguous() {
					m = m.View(sh)
				} else {
					m = m.Reshape(sh)
				}
			}
			m = call(add, call(mul, m, c.Float(2))[0], c.Float(4), 1)[0]
			c.Return(call(div, x, call(pow, m, c.Float(3))[0])[0])
		},
	})
	norm, clamp := tensor.Slot("aten::linalg_vector_norm"), tensor.Slot("aten::clamp_min")
	tensor.Register(tensor.Def{
		Schema: "F::normalize(Tensor input, float p=2.0, int dim=1, float eps=1e-12) -> Tensor",
		Doc: "is x / max(|x|, eps), with |x| the norm of order p of vectors along dimension dim of a tensor of " +
			"any shape." + site + "normalize.html",
		Body: func(c *Ctx) {
			x := c.T(0)
			d := call(norm, x, c.Float(1), []int{c.Int(2)}, true, nil)[0]
			c.Return(call(div, x, call(clamp, d, c.Float(3))[0].ExpandAs(x))[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::normalize.out(Tensor input, float p=2.0, int dim=1, float eps=1e-12, *, Tensor(a!) out) -> Tensor(a!)",
		Go:     "-",
		Body: func(c *Ctx) {
			x := c.T(0)
			d := call(norm, x, c.Float(1), []int{c.Int(2)}, true, nil)[0]
			c.Return(c.T(4).CopyInPlace(call(div, x, call(clamp, d, c.Float(3))[0].ExpandAs(x))[0]))
		},
	})
}

// rmsShape is the shape of the statistics: the input's with 1 for the normalised dimensions.
func rmsShape(c *Ctx) []int {
	st := append([]int(nil), c.Shape(0)...)
	for _, i := range last(len(st), len(c.Ints(1))) {
		st[i] = 1
	}
	return st
}

// rmsVJP is the gradient rule of rms_norm and _fused_rms_norm; rstd is the inverse root mean square of each row.
func rmsVJP(c *Ctx, g, rstd *T) []*T {
	x, w := c.T(0), c.T(2)
	f32 := x.DType() == tensor.Float32 && g.DType() == tensor.Float32 && (w == nil || w.DType() == tensor.Float32)
	if f32 && !tensor.IsGradEnabled() && x.Numel() > 0 {
		mask := []bool{c.Needs(0), w != nil && c.Needs(2)}
		q := call(opRMSBackward, g, x, c.Ints(1), rstd, w, mask)
		r := make([]*T, 2)
		if mask[0] {
			r[0] = q[0]
		}
		if mask[1] {
			r[1] = q[1]
		}
		return r
	}
	dt := x.DType().Compute()
	x, g = x.ToDType(dt), g.ToDType(dt)
	axes := last(x.Dim(), len(c.Ints(1)))
	_, n := splitRows(x.Shape(), c.Ints(1))
	avg := func(t *T) *T {
		return t.SumDim(axes, tensor.SumDimOptions{KeepDim: true}).MulScalar(1 / float64(n))
	}
	rs := call(opRsqrt, avg(x.Mul(x)).AddScalar(rmsEps(c)))[0]
	xh := x.Mul(rs)
	r := make([]*T, 2)
	if c.Needs(0) {
		gw := g
		if w != nil {
			gw = g.Mul(w)
		}
		r[0] = rs.Mul(gw.Add(xh.Mul(avg(gw.Mul(xh))).MulScalar(-1)))
	}
	if w != nil && c.Needs(2) {
		r[1] = g.Mul(xh)
	}
	return r
}

// rmsBody is rms_norm in public operators, computed in the compute type of the input's.
func rmsBody(c *Ctx) {
	x, norm, w := c.T(0), c.Ints(1), c.T(2)
	checkNormalized(c, x.Shape(), norm, w, nil)
	if x.DType().IsIntOrBool() {
		refuseRMS(c, x.DType())
	}
	wide := x
	if x.DType().IsReduced() {
		wide = x.ToDType(tensor.Float32)
	}
	ms := wide.PowScalar(2).MeanDim(last(x.Dim(), len(norm)), tensor.MeanDimOptions{KeepDim: true})
	y := wide.Mul(ms.AddScalar(rmsEps(c)).Rsqrt())
	if w != nil {
		y = y.Mul(w)
	}
	if y.DType() != x.DType() {
		y = y.ToDType(x.DType())
	}
	c.Return(y)
}

func rmsRun[E float](c *Ctx, st *T) {
	x := c.T(0)
	m, n := splitRows(x.Shape(), c.Ints(1))
	if x.Numel() == 0 {
		return
	}
	into(c.Out(0), false, func(out []E) {
		into(st, false, func(rstd []E) {
			rmsForward(m, n, out, dense[E](x), dense[E](c.T(2)), rstd, rmsEps(c))
		})
	})
}

// rmsEps is eps, by default the machine epsilon of the compute type.
func rmsEps(c *Ctx) float64 {
	if c.Has(3) {
		return c.Float(3)
	}
	switch c.ArgDType(0) {
	case tensor.Float64, tensor.Complex128:
		return 0x1p-52
	}
	return 0x1p-23
}

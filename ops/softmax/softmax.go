package softmax

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// rowKernel computes lines of n adjacent elements: dst from the input, or from the gradient and the result. tmp has
// room for two numbers a line.
type rowKernel[E half.Real] func(dst []E, src [][]E, n int, tmp []E)

// lines are the kernels of one direction of softmax or log_softmax.
type lines struct {
	f32    rowKernel[float32]
	f64    rowKernel[float64]
	cols32 columnKernel[float32]
	cols64 columnKernel[float64]
}

func one(f func(dst, a []float32, n int, tmp []float32)) rowKernel[float32] {
	return func(dst []float32, src [][]float32, n int, tmp []float32) { f(dst, src[0], n, tmp) }
}

func two(f func(dst, grad, y []float32, n int, tmp []float32)) rowKernel[float32] {
	return func(dst []float32, src [][]float32, n int, tmp []float32) { f(dst, src[0], src[1], n, tmp) }
}

// one64 and two64 go line by line.
func one64(f func(dst, a []float64)) rowKernel[float64] {
	return func(dst []float64, src [][]float64, n int, _ []float64) {
		for i := 0; i < len(dst); i += n {
			f(dst[i:i+n], src[0][i:i+n])
		}
	}
}

func two64(f func(dst, grad, y []float64)) rowKernel[float64] {
	return func(dst []float64, src [][]float64, n int, _ []float64) {
		for i := 0; i < len(dst); i += n {
			f(dst[i:i+n], src[0][i:i+n], src[1][i:i+n])
		}
	}
}

var (
	softmax = lines{one(vec.SoftmaxRowsF32), one64(vec.SoftmaxF64), softmaxColumns[float32],
		softmaxColumns[float64]}
	softmaxGrad = lines{two(vec.SoftmaxGradRowsF32), two64(vec.SoftmaxGradF64), softmaxGradColumns[float32],
		softmaxGradColumns[float64]}
	logarithm = lines{one(logSoftmaxRows(nil)), one64(vec.LogSoftmaxF64), logSoftmaxColumns[float32](nil),
		logSoftmaxColumns[float64](nil)}
	logGrad = lines{two(vec.LogSoftmaxGradRowsF32), two64(vec.LogSoftmaxGradF64), logSoftmaxGradColumns[float32],
		logSoftmaxGradColumns[float64]}
)

// logarithm16 is logarithm for lines of adjacent 16-bit floats, whose sums of exponentials PyTorch rounds to the type,
// and their logarithms.
var logarithm16 = [2]lines{rounding(tensor.Float16), rounding(tensor.BFloat16)}

func rounding(dt tensor.DType) lines {
	narrow, widen := vec.F32ToF16s, vec.F16ToF32s
	if dt == tensor.BFloat16 {
		narrow, widen = vec.F32ToBF16s, vec.BF16ToF32s
	}
	round := func(x []float32) {
		var b [64]uint16
		var w [64]float32
		for len(x) > 0 {
			n := min(len(x), len(b))
			narrow(b[:n], x[:n])
			widen(w[:n], b[:n])
			for i, r := range w[:n] {
				if r <= math.MaxFloat32 { // the sum of a long line of equal float16 is too large
					x[i] = r
				}
			}
			x = x[n:]
		}
	}
	return lines{f32: one(logSoftmaxRows(round)), cols32: logSoftmaxColumns(round), f64: logarithm.f64,
		cols64: logarithm.cols64}
}

func logSoftmaxRows(round func(x []float32)) func(dst, a []float32, n int, tmp []float32) {
	return func(dst, a []float32, n int, tmp []float32) { vec.LogSoftmaxRowsF32(dst, a, n, tmp, round) }
}

// logSoftmax computes out from t along a dimension.
func logSoftmax(out, t *T, dim int) {
	k := &logarithm
	if i := half.Index(out.DType()); i >= 0 && dim == out.Dim()-1 {
		k = &logarithm16[i]
	}
	k.run(out, dim, t)
}

func slice[E any](t *T) []E {
	if t.Numel() == 0 {
		return nil
	}
	return unsafe.Slice((*E)(tensor.Ptr(t)), t.Numel())
}

// longRows computes adjacent lines of n elements, as many at a time as stay in the first-level cache.
func longRows[E half.Real](f rowKernel[E], out *T, in []*T, rows, n int) {
	par.For(rows, max(1, 16*1024/n), func(lo, hi int) {
		few := min(hi-lo, max(1, 8*1024/(1+len(in))/n))
		size := few * n
		buf := half.Borrow[E]((1+len(in))*size + 2*few)
		defer half.Return(buf)
		tmp := (*buf)[(1+len(in))*size:]
		src := make([][]E, len(in))
		for ; lo < hi; lo += few {
			at, size := lo*n, min(few, hi-lo)*n
			for i, s := range in {
				src[i] = half.Load(s, at, (*buf)[(1+i)*few*n:][:size])
			}
			d := half.Place(out, at, (*buf)[:size])
			f(d, src, n, tmp)
			half.Store(out, at, d)
		}
	})
}

// gathered computes the few lines between which inner elements lie through a copy of each.
func gathered[E half.Real](f rowKernel[E], out *T, in []*T, outer, n, inner int) {
	par.For(outer, max(1, 8*1024/(n*inner)), func(lo, hi int) {
		size, wide := n*inner, 0
		if out.DType().Size() == 2 || in[0].DType().Size() == 2 {
			wide = size
		}
		buf := half.Borrow[E]((1+len(in))*(wide+n) + 2)
		defer half.Return(buf)
		tmp, flat := (*buf)[(1+len(in))*n:][:2], (*buf)[(1+len(in))*n+2:]
		src, all := make([][]E, len(in)), make([][]E, len(in))
		for o := lo; o < hi; o++ {
			var d []E
			if wide == 0 {
				d = slice[E](out)[o*size:][:size]
			} else {
				d = half.Place(out, o*size, flat[:size])
			}
			for i, s := range in {
				if wide == 0 {
					all[i] = slice[E](s)[o*size:][:size]
				} else {
					all[i] = half.Load(s, o*size, flat[(1+i)*size:][:size])
				}
			}
			row := (*buf)[:n]
			for j := range inner {
				for i := range in {
					src[i] = (*buf)[(1+i)*n:][:n]
					for k := range n {
						src[i][k] = all[i][k*inner+j]
					}
				}
				f(row, src, n, tmp)
				for k, v := range row {
					d[k*inner+j] = v
				}
			}
			half.Store(out, o*size, d)
		}
	})
}

// along computes all lines of contiguous tensors along a dimension.
func along[E half.Real](v *kernels[E], f rowKernel[E], cols columnKernel[E], out *T, in []*T, dim int) {
	outer, n, inner := iter.Split(in[0].Shape(), dim)
	switch {
	case outer*n*inner == 0:
	case inner < shortColumns && n <= shortRow && outer*inner >= 64:
		shortRows(v, cols, out, in, outer, n, inner)
	case inner == 1:
		longRows(f, out, in, outer, n)
	case inner < minColumns:
		gathered(f, out, in, outer, n, inner)
	default:
		columns(v, cols, out, in, outer, n, inner)
	}
}

// run computes out, whose dtype may be wider or narrower than the input's.
func (k *lines) run(out *T, dim int, in ...*T) {
	wide := out.DType() == tensor.Float64
	for i, s := range in {
		in[i] = tensor.Dense(s)
		wide = wide || s.DType() == tensor.Float64
	}
	dt := tensor.Float32
	if wide {
		dt = tensor.Float64
	}
	w := out
	if out.DType() != dt && (wide || out.DType().Size() != 2) {
		w = tensor.New(out.Shape(), dt)
	}
	for i, s := range in {
		if s.DType() != dt && (wide || s.DType().Size() != 2) {
			in[i] = tensor.DenseAs(s, dt)
		}
	}
	if wide {
		along(&kernels64, k.f64, k.cols64, w, in, dim)
	} else {
		along(&kernels32, k.f32, k.cols32, w, in, dim)
	}
	if w != out {
		tensor.CopyRaw(out, w)
	}
}

func inferRows(kernel string) func(c *Ctx) {
	return func(c *Ctx) {
		t := c.T(0)
		op.Wrap(c, c.Int(1), t.Dim())
		dt := t.DType()
		if c.Bool(2) {
			if dt != tensor.Float16 {
				c.Fail(tensor.ErrDType, "conversion is supported for Half type only")
			}
			dt = tensor.Float32
		}
		if !dt.IsFloat() {
			c.FailDType(tensor.ErrNotImpl, kernel, dt)
		}
		c.Alloc(0, t.Shape(), dt)
	}
}

// oldDim is the dimension of a softmax without one, by the rule of torch.nn.functional of old.
func oldDim(nd int) int {
	if nd == 0 || nd == 1 || nd == 3 {
		return 0
	}
	return 1
}

// composed calls _softmax or _log_softmax; a dtype converts the input first.
func composed(c *Ctx, name string, x *T, dim int, dt tensor.DType) *T {
	if dt != 0 && dt != x.DType() {
		x = x.ToDType(dt)
	}
	return op.Call1(name, x, dim, false)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", Go: "-", Out: true,
		Doc:   "is the kernel of softmax; half_to_float widens a float16 input.",
		Infer: inferRows("softmax_lastdim_kernel_impl"),
		CPU:   func(c *Ctx) { softmax.run(c.Out(0), op.Wrap(c, c.Int(1), c.T(0).Dim()), c.T(0)) },
		Save:  "result",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::_softmax_backward_data", g, c.Out(0), c.Int(1), c.ArgDType(0))}
		},
		Grad: "SoftmaxBackward0",
		AMP:  tensor.AMPFP32,
	})
	tensor.Register(tensor.Def{
		Schema: "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", Go: "-", Out: true,
		Doc:   "is the kernel of log_softmax; half_to_float widens a float16 input.",
		Infer: inferRows("log_softmax_lastdim_kernel_impl"),
		CPU:   func(c *Ctx) { logSoftmax(c.Out(0), c.T(0), op.Wrap(c, c.Int(1), c.T(0).Dim())) },
		Save:  "result",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::_log_softmax_backward_data", g, c.Out(0), c.Int(1), c.ArgDType(0))}
		},
		Grad: "LogSoftmaxBackward0",
		AMP:  tensor.AMPFP32,
	})
	backInfer := func(c *Ctx) {
		g, y := c.T(0), c.T(1)
		op.Wrap(c, c.Int(2), y.Dim())
		if !tensor.SameShape(g.Shape(), y.Shape()) {
			c.Fail(tensor.ErrShape, "Expected grad_output and output to have the same shape, got %s and %s",
				tensor.ShapeString(g.Shape()), tensor.ShapeString(y.Shape()))
		}
		if a, b := g.DType(), y.DType(); a != b && c.Device().Type == tensor.CPUDevice {
			c.Fail(tensor.ErrDType, "expected scalar type %s but found %s", a.ClassName(), b.ClassName())
		}
		dt := g.DType()
		switch in := c.DType(3); {
		case dt == tensor.Float32 && in.IsReduced(): // of a softmax that has converted its input
			dt = in
		case c.Device().Type == tensor.MetaDevice: // where shapes alone are computed, PyTorch takes any type at its word
			dt = in
		}
		c.Alloc(0, y.Shape(), dt)
	}
	tensor.Register(tensor.Def{
		Schema: "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
		Go:     "-",
		Doc:    "is the gradient of softmax from its result.",
		Infer:  backInfer,
		CPU:    func(c *Ctx) { softmaxGrad.run(c.Out(0), op.Wrap(c, c.Int(2), c.T(1).Dim()), c.T(0), c.T(1)) },
		Save:   "grad_output output",
		VJP: func(c *Ctx, g *T) []*T {
			gy, y, d := c.T(0), c.T(1), []int{c.Int(2)}
			keep := tensor.SumDimOptions{KeepDim: true}
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = op.Call1("aten::_softmax_backward_data", g.ToDType(y.DType()), y, c.Int(2), c.DType(3))
			}
			if c.Needs(1) { // y*(gy - sum(gy*y)), differentiated by y
				r[1] = g.Mul(gy).Sub(gy.Mul(g.Mul(y).SumDim(d, keep))).Sub(g.Mul(gy.Mul(y).SumDim(d, keep)))
			}
			return r
		},
		Grad: "SoftmaxBackwardDataBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor", Go: "-",
		Doc:   "is the gradient of log_softmax from its result.",
		Infer: backInfer,
		CPU:   func(c *Ctx) { logGrad.run(c.Out(0), op.Wrap(c, c.Int(2), c.T(1).Dim()), c.T(0), c.T(1)) },
		Save:  "grad_output output",
		VJP: func(c *Ctx, g *T) []*T {
			gy, y, d := c.T(0), c.T(1), []int{c.Int(2)}
			keep := tensor.SumDimOptions{KeepDim: true}
			p := y.Exp()
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = g.Sub(g.Mul(p).SumDim(d, keep))
			}
			if c.Needs(1) {
				r[1] = g.Mul(p).Mul(gy.SumDim(d, keep)).Neg()
			}
			return r
		},
		Grad: "LogSoftmaxBackwardDataBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", Out: true,
		Doc: "is exp(x) / sum(exp(x)) along a dimension; a dtype converts the input " +
			"first.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html",
		Body: func(c *Ctx) { c.Return(composed(c, "aten::_softmax", c.T(0), c.Int(1), c.DType(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", Out: true,
		Doc: "is log(softmax(x)) along a dimension; a dtype converts the input " +
			"first.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html",
		Body: func(c *Ctx) { c.Return(composed(c, "aten::_log_softmax", c.T(0), c.Int(1), c.DType(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
		Doc:    "is another name of [Tensor.Softmax].",
		Body:   func(c *Ctx) { c.Return(composed(c, "aten::_softmax", c.T(0), c.Int(1), c.DType(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
		Doc:    "is another name of [Tensor.LogSoftmax].",
		Body:   func(c *Ctx) { c.Return(composed(c, "aten::_log_softmax", c.T(0), c.Int(1), c.DType(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", Go: "-",
		Doc: "is softmax with zeros along lines of which every element is -Inf, as a mask that allows nothing leaves " +
			"them.",
		Infer: func(c *Ctx) {
			t := c.T(0)
			op.Wrap(c, c.Int(1), t.Dim())
			dt := c.DType(2)
			if dt == 0 {
				dt = t.DType()
			}
			if !dt.IsFloat() {
				c.FailDType(tensor.ErrNotImpl, "softmax_lastdim_kernel_impl", dt)
			}
			c.Alloc(0, t.Shape(), dt)
		},
		CPU: func(c *Ctx) {
			x, o, dim := tensor.DenseAs(c.T(0), c.Out(0).DType()), c.Out(0), op.Wrap(c, c.Int(1), c.T(0).Dim())
			softmax.run(o, dim, x)
			switch o.ElementSize() {
			case 8:
				clearMasked(op.Raw[uint64](o), op.Raw[uint64](x), o.Shape(), dim, 0xfff0<<48)
			case 4:
				clearMasked(op.Raw[uint32](o), op.Raw[uint32](x), o.Shape(), dim, 0xff80<<16)
			default:
				clearMasked(op.Raw[uint16](o), op.Raw[uint16](x), o.Shape(), dim,
					op.Pick[uint16](o.DType() == tensor.Float16, 0xfc00, 0xff80))
			}
		},
		Save: "result",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::_softmax_backward_data", g, c.Out(0), c.Int(1), c.ArgDType(0))}
		},
		Grad: "SafeSoftmaxBackward0",
	})
	dimOf := func(c *Ctx) int {
		if c.Has(1) {
			return c.Int(1)
		}
		tensor.Warn("Implicit dimension choice for %s has been deprecated. Change the call to include dim=X as an "+
			"argument.", c.Op().Sch.Name)
		return oldDim(c.T(0).Dim())
	}
	const page = "https://pytorch.org/docs/stable/generated/torch.nn.functional."
	const dims = " dim counts from the end if it is negative; without one it is dimension 0 of tensors with 0, 1 or " +
		"3 dimensions, else 1. dtype converts the input first.\n" + page
	tensor.Register(tensor.Def{
		Schema: "F::softmax(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor",
		Doc: "is exp(x) / sum(exp(x)) along a dimension of a tensor of any shape: numbers between 0 and 1 that " +
			"add up to 1." + dims + "softmax.html",
		Body: func(c *Ctx) { c.Return(op.Call1("aten::softmax.int", c.T(0), dimOf(c), c.Value(3))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::log_softmax(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor",
		Doc: "is x - log(sum(exp(x))) along a dimension of a tensor of any shape, the logarithm of softmax " +
			"without its overflow." + dims + "log_softmax.html",
		Body: func(c *Ctx) { c.Return(op.Call1("aten::log_softmax.int", c.T(0), dimOf(c), c.Value(3))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::softmin(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor",
		Doc:    "is exp(-x) / sum(exp(-x)) along a dimension of a tensor of any shape." + dims + "softmin.html",
		Body:   func(c *Ctx) { c.Return(op.Call1("aten::softmax.int", c.T(0).Neg(), dimOf(c), c.Value(3))) },
	})
}

// clearMasked sets the lines of a softmax o to zero whose inputs x are all -Inf; minusInf are the bits of that number.
// The softmax of such a line is NaN throughout, which only its first element is looked at for.
func clearMasked[E uint16 | uint32 | uint64](o, x []E, shape []int, dim int, minusInf E) {
	outer, n, inner := iter.Split(shape, dim)
	if n == 0 {
		return
	}
	par.For(outer*inner, max(1, 1<<14/n), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			at := r/inner*n*inner + r%inner
			masked := o[at]&^signBit[E]() > minusInf&^signBit[E]() // NaN
			for k := 0; masked && k < n; k++ {
				masked = x[at+k*inner] == minusInf
			}
			for k := 0; masked && k < n; k++ {
				o[at+k*inner] = 0
			}
		}
	})
}

// signBit is the sign of a floating-point number of E's size.
func signBit[E uint16 | uint32 | uint64]() E { return E(1) << (unsafe.Sizeof(E(0))*8 - 1) }

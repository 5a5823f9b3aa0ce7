package softmax

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// rows is a pair of row kernels: forward (dst, input) and backward (dst, grad, result).
type rows struct {
	f32  func(dst, a []float32)
	f64  func(dst, a []float64)
	gf32 func(dst, grad, y []float32)
	gf64 func(dst, grad, y []float64)
	// the same for k lines side by side, of n elements that lie stride apart
	cols  func(dst, a []float32, n, stride, k int, buf []float32)
	gcols func(dst, grad, y []float32, n, stride, k int, buf []float32)
}

var (
	softmaxRows = rows{vec.SoftmaxF32, vec.SoftmaxF64, vec.SoftmaxGradF32, vec.SoftmaxGradF64, softmaxColumns, softmaxGradColumns}
	logRows     = rows{vec.LogSoftmaxF32, vec.LogSoftmaxF64, vec.LogSoftmaxGradF32, vec.LogSoftmaxGradF64, logSoftmaxColumns, logSoftmaxGradColumns}
)

func slice[E any](t *T) []E {
	if t.Numel() == 0 {
		return nil
	}
	return unsafe.Slice((*E)(t.Ptr()), t.Numel())
}

// split gives the sizes before, of and after a dimension.
func split(shape []int, dim int) (outer, n, inner int) {
	outer, n, inner = 1, 1, 1
	for d, s := range shape {
		switch {
		case d < dim:
			outer *= s
		case d == dim:
			n = s
		default:
			inner *= s
		}
	}
	return outer, n, inner
}

// each calls f for every line along dim of contiguous arrays of the same shape; lines that are not contiguous pass through a
// transposed tile, so that the row kernels serve every dimension. srcs are read, dst is written.
func each[E float32 | float64](dst []E, srcs [][]E, shape []int, dim int, f func(dst []E, src [][]E)) {
	outer, n, inner := split(shape, dim)
	if outer*n*inner == 0 {
		return
	}
	if inner == 1 {
		par.For(outer, max(1, 16*1024/n), func(lo, hi int) {
			src := make([][]E, len(srcs))
			for r := lo; r < hi; r++ {
				for i, s := range srcs {
					src[i] = s[r*n:][:n]
				}
				f(dst[r*n:][:n], src)
			}
		})
		return
	}
	const tile = 16 // lines that are gathered together: a cache line of float32
	tiles := (inner + tile - 1) / tile
	par.For(outer*tiles, max(1, 8*1024/(n*tile)), func(lo, hi int) {
		buf := make([]E, (len(srcs)+1)*tile*n)
		src := make([][]E, len(srcs))
		for u := lo; u < hi; u++ {
			from := u % tiles * tile
			w := min(tile, inner-from)
			base := u/tiles*n*inner + from
			for i, s := range srcs {
				b := buf[(i+1)*tile*n:]
				for k := range n {
					for j, v := range s[base+k*inner:][:w] {
						b[j*n+k] = v
					}
				}
			}
			for j := range w {
				for i := range srcs {
					src[i] = buf[((i+1)*tile+j)*n:][:n]
				}
				f(buf[j*n:][:n], src)
			}
			for k := range n {
				d := dst[base+k*inner:][:w]
				for j := range d {
					d[j] = buf[j*n+k]
				}
			}
		}
	})
}

// forward computes out, whose dtype may be wider than the input's.
func (k *rows) forward(out, in *T, dim int) {
	if out.DType() == tensor.Float64 {
		each(slice[float64](out), [][]float64{slice[float64](in.DenseAs(tensor.Float64))}, in.Shape(), dim, func(d []float64, s [][]float64) { k.f64(d, s[0]) })
		return
	}
	w := out
	if out.DType() != tensor.Float32 {
		w = tensor.New(out.Shape(), tensor.Float32)
	}
	d, a := slice[float32](w), slice[float32](in.DenseAs(tensor.Float32))
	if outer, n, inner := split(in.Shape(), dim); inner >= minColumns && len(d) > 0 {
		columns(outer, n, inner, func(off, c int, buf []float32) { k.cols(d[off:], a[off:], n, inner, c, buf) })
	} else {
		each(d, [][]float32{a}, in.Shape(), dim, func(d []float32, s [][]float32) { k.f32(d, s[0]) })
	}
	if w != out {
		tensor.CopyRaw(out, w)
	}
}

func (k *rows) backward(out, grad, y *T, dim int) {
	if y.DType() == tensor.Float64 {
		w := out
		if out.DType() != tensor.Float64 {
			w = tensor.New(out.Shape(), tensor.Float64)
		}
		each(slice[float64](w), [][]float64{slice[float64](grad.DenseAs(tensor.Float64)), slice[float64](y.Dense())}, y.Shape(), dim, func(d []float64, s [][]float64) { k.gf64(d, s[0], s[1]) })
		if w != out {
			tensor.CopyRaw(out, w)
		}
		return
	}
	w := out
	if out.DType() != tensor.Float32 {
		w = tensor.New(out.Shape(), tensor.Float32)
	}
	d, g, r := slice[float32](w), slice[float32](grad.DenseAs(tensor.Float32)), slice[float32](y.DenseAs(tensor.Float32))
	if outer, n, inner := split(y.Shape(), dim); inner >= minColumns && len(d) > 0 {
		columns(outer, n, inner, func(off, c int, buf []float32) { k.gcols(d[off:], g[off:], r[off:], n, inner, c, buf) })
	} else {
		each(d, [][]float32{g, r}, y.Shape(), dim, func(d []float32, s [][]float32) { k.gf32(d, s[0], s[1]) })
	}
	if w != out {
		tensor.CopyRaw(out, w)
	}
}

func wrap(c *Ctx, d, nd int) int {
	n := max(nd, 1)
	if d < -n || d >= n {
		c.Fail(tensor.ErrIndex, "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -n, n-1, d)
	}
	if d < 0 {
		d += n
	}
	return d
}

func inferRows(kernel string) func(c *Ctx) {
	return func(c *Ctx) {
		t := c.T(0)
		wrap(c, c.Int(1), t.Dim())
		dt := t.DType()
		if c.Bool(2) {
			if dt != tensor.Float16 {
				c.Fail(tensor.ErrDType, "conversion is supported for Half type only")
			}
			dt = tensor.Float32
		}
		if !dt.IsFloat() {
			c.Fail(tensor.ErrNotImpl, "\"%s\" not implemented for '%s'", kernel, dt.ClassName())
		}
		c.Alloc(0, t.Shape(), dt)
	}
}

// likely dim for softmax without one, the rule of torch.nn.functional of old.
func oldDim(nd int) int {
	if nd == 0 || nd == 1 || nd == 3 {
		return 0
	}
	return 1
}

// op1 calls an operator with one tensor result.
func op1(name string, args ...any) *T {
	vals := make([]tensor.Value, len(args))
	for i, a := range args {
		vals[i] = tensor.Box(a)
	}
	res, err := tensor.CallOp(name, vals...)
	if err != nil {
		panic(err)
	}
	return res[0].T
}

// int form: a dtype casts first.
func composed(c *Ctx, name string, x *T, dim int, dt tensor.DType) *T {
	if dt != 0 && dt != x.DType() {
		x = x.ToDType(dt)
	}
	return op1(name, x, dim, false)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", Go: "-", Out: true,
		Doc:   "is the kernel of softmax; half_to_float widens a float16 input.",
		Infer: inferRows("softmax_lastdim_kernel_impl"),
		CPU:   func(c *Ctx) { softmaxRows.forward(c.Out(0), c.T(0), wrap(c, c.Int(1), c.T(0).Dim())) },
		Save:  "result",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op1("aten::_softmax_backward_data", g, c.Out(0), c.Int(1), c.ArgDType(0))}
		},
		Grad: "SoftmaxBackward0",
		AMP:  tensor.AMPFP32,
	})
	tensor.Register(tensor.Def{
		Schema: "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", Go: "-", Out: true,
		Doc:   "is the kernel of log_softmax; half_to_float widens a float16 input.",
		Infer: inferRows("log_softmax_lastdim_kernel_impl"),
		CPU:   func(c *Ctx) { logRows.forward(c.Out(0), c.T(0), wrap(c, c.Int(1), c.T(0).Dim())) },
		Save:  "result",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op1("aten::_log_softmax_backward_data", g, c.Out(0), c.Int(1), c.ArgDType(0))}
		},
		Grad: "LogSoftmaxBackward0",
		AMP:  tensor.AMPFP32,
	})
	backInfer := func(c *Ctx) {
		g, y := c.T(0), c.T(1)
		wrap(c, c.Int(2), y.Dim())
		if !tensor.SameShape(g.Shape(), y.Shape()) {
			c.Fail(tensor.ErrShape, "Expected grad_output and output to have the same shape, got %s and %s", tensor.ShapeString(g.Shape()), tensor.ShapeString(y.Shape()))
		}
		c.Alloc(0, y.Shape(), c.DType(3))
	}
	tensor.Register(tensor.Def{
		Schema: "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor", Go: "-",
		Doc:   "is the gradient of softmax from its result.",
		Infer: backInfer,
		CPU:   func(c *Ctx) { softmaxRows.backward(c.Out(0), c.T(0), c.T(1), wrap(c, c.Int(2), c.T(1).Dim())) },
		Save:  "grad_output output",
		VJP: func(c *Ctx, g *T) []*T {
			gy, y, d := c.T(0), c.T(1), []int{c.Int(2)}
			keep := tensor.SumDimOptions{KeepDim: true}
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = op1("aten::_softmax_backward_data", g.ToDType(y.DType()), y, c.Int(2), c.DType(3))
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
		CPU:   func(c *Ctx) { logRows.backward(c.Out(0), c.T(0), c.T(1), wrap(c, c.Int(2), c.T(1).Dim())) },
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
		Schema: "softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", Aliases: []string{"special_softmax"},
		Doc:  "is exp(x) / sum(exp(x)) along a dimension; a dtype converts the input first.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html",
		Body: func(c *Ctx) { c.Return(composed(c, "aten::_softmax", c.T(0), c.Int(1), c.DType(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
		Doc:    "is log(softmax(x)) along a dimension; a dtype converts the input first.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html",
		Body:   func(c *Ctx) { c.Return(composed(c, "aten::_log_softmax", c.T(0), c.Int(1), c.DType(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
		Doc:    "is another name of [Tensor.LogSoftmax].",
		Body:   func(c *Ctx) { c.Return(composed(c, "aten::_log_softmax", c.T(0), c.Int(1), c.DType(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", Go: "-",
		Doc: "is softmax with zeros where a whole line is -Inf.",
		Body: func(c *Ctx) {
			x := c.T(0)
			y := composed(c, "aten::_softmax", x, c.Int(1), c.DType(2))
			masked := op1("aten::all.dim", x.Detach().EqScalar(math.Inf(-1)), c.Int(1), true)
			c.Return(zeroWhere(y, masked))
		},
	})
	dimOf := func(c *Ctx) int {
		if c.Has(1) {
			return c.Int(1)
		}
		return oldDim(c.T(0).Dim())
	}
	tensor.Register(tensor.Def{
		Schema: "F::softmax(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor",
		Doc:    "is exp(x) / sum(exp(x)) along a dimension; without one it is dimension 0 of tensors with 0, 1 or 3 dimensions, else 1.",
		Body:   func(c *Ctx) { c.Return(composed(c, "aten::_softmax", c.T(0), dimOf(c), c.DType(3))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::log_softmax(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor",
		Doc:    "is log(softmax(x)) along a dimension; without one it is dimension 0 of tensors with 0, 1 or 3 dimensions, else 1.",
		Body:   func(c *Ctx) { c.Return(composed(c, "aten::_log_softmax", c.T(0), dimOf(c), c.DType(3))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::softmin(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor",
		Doc:    "is softmax(-x) along a dimension.",
		Body:   func(c *Ctx) { c.Return(composed(c, "aten::_softmax", c.T(0).Neg(), dimOf(c), c.DType(3))) },
	})
}

// zeroWhere is v with zeros where the mask is true.
func zeroWhere(v, mask *T) *T {
	z := tensor.New(nil, v.DType())
	z.ZeroRaw()
	return op1("aten::where.self", mask, z, v)
}

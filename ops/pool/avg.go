package pool

import (
	"github.com/gotorch-dev/torch/tensor"
)

// bounds is one window of an average along one dimension: the elements inside and the size that counts.
type bounds struct{ lo, hi, size int }

// bounds lists the windows of dimension i.
func (w *window) bounds(i int) []bounds {
	l := make([]bounds, w.out[i])
	for o := range l {
		lo := o*w.stride[i] - w.pad[i]
		hi := min(lo+w.k[i], w.in[i]+w.pad[i])
		size := hi - lo
		lo, hi = max(lo, 0), min(hi, w.in[i])
		if !w.countPad {
			size = hi - lo
		}
		l[o] = bounds{lo, hi, size}
	}
	return l
}

func (w *window) divide(a, b, c bounds) int {
	if w.divisor != 0 {
		return w.divisor
	}
	return a.size * b.size * c.size
}

// divided is s / n, as if both were int64 for integers: a type of few bits need not hold n.
func divided[E number](s E, n int) E {
	if one := E(1); one/2 != 0 {
		return s / E(n)
	}
	return E(int64(s) / int64(n))
}

func avgForward[E number](w *window, out, in []E) {
	isz, osz := w.inSize(), w.outSize()
	bz, by, bx := w.bounds(0), w.bounds(1), w.bounds(2)
	w.each(func(p int) {
		src, dst := in[p*isz:][:isz], out[p*osz:][:osz]
		i := 0
		for _, z := range bz {
			for _, y := range by {
				for _, x := range bx {
					var s E
					if z.lo < z.hi && y.lo < y.hi && x.lo < x.hi {
						for a := z.lo; a < z.hi; a++ {
							for b := y.lo; b < y.hi; b++ {
								for _, v := range src[(a*w.in[1]+b)*w.in[2]:][x.lo:x.hi] {
									s += v
								}
							}
						}
						s = divided(s, w.divide(z, y, x))
					}
					dst[i] = s
					i++
				}
			}
		}
	})
}

// avgWindow reads kernel_size, stride, padding, ceil_mode, count_include_pad and divisor_override from position i on.
func avgWindow(c *Ctx, sh []int, nd, i int) *window {
	k := list(c, "kernel_size", c.Ints(i), nil, nd)
	one := []int{1, 1, 1}[:nd]
	w := makeWindow(c, sh, nd, k, list(c, "stride", c.Ints(i+1), k, nd), list(c, "padding", c.Ints(i+2), nil, nd), one,
		c.Bool(i+3))
	w.countPad = c.Bool(i + 4)
	if i+5 < c.NumArgs() && c.Has(i+5) {
		w.divisor = c.Int(i + 5)
	}
	return w
}

func avgCheck(c *Ctx, sh []int, nd, i int) *window {
	k := list(c, "kernel_size", c.Ints(i), nil, nd)
	st := list(c, "stride", c.Ints(i+1), k, nd)
	checkWindow(c, sh, nd, &window{k: last3(k, 1), stride: last3(st, 1), dil: [3]int{1, 1, 1},
		pad: last3(list(c, "padding", c.Ints(i+2), nil, nd), 0)})
	if i+5 < c.NumArgs() && c.Has(i+5) && c.Int(i+5) == 0 {
		c.Fail(tensor.ErrValue, "divisor must be not zero")
	}
	checkInput(c, sh, nd)
	w := avgWindow(c, sh, nd, i)
	if nd == 3 && (w.in[0] < w.k[0] || w.in[1] < w.k[1] || w.in[2] < w.k[2]) { // padded or not
		c.Fail(tensor.ErrShape, "input image (T: %d H: %d W: %d) smaller than kernel size (kT: %d kH: %d kW: %d)",
			w.in[0],
			w.in[1], w.in[2], w.k[0], w.k[1], w.k[2])
	}
	checkOutput(c, sh, nd, w)
	return w
}

func avgDef(schema string, nd int, grad string, body func(c *Ctx)) tensor.Def {
	return tensor.Def{
		Grad: grad, Body: body,
		Schema: schema,
		Doc:    avgDoc,
		Go:     "-",
		Infer: func(c *Ctx) {
			sh := c.Shape(0)
			allocLike(c, nd, 0, resultShape(sh, nd, avgCheck(c, sh, nd, 1)), c.T(0), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			in, out := c.T(0), c.Out(0)
			w := avgWindow(c, in.Shape(), nd, 1)
			if in.DType().IsFloat() {
				poolerFor(c, in.DType()).avg(w, out, in, nd)
				return
			}
			onType(c, in.DType(), nil, nil,
				func() { into(out, func(d []int64) { avgForward(w, d, dense[int64](in)) }) },
				func() { into(out, func(d []int32) { avgForward(w, d, dense[int32](in)) }) },
				func() { into(out, func(d []int16) { avgForward(w, d, dense[int16](in)) }) },
				func() { into(out, func(d []int8) { avgForward(w, d, dense[int8](in)) }) },
				func() { into(out, func(d []uint8) { avgForward(w, d, dense[uint8](in)) }) })
		},
		VJP: func(c *Ctx, g *T) []*T {
			args := []any{g, c.Shape(0), c.Ints(1), c.Ints(2), c.Ints(3), c.Bool(4), c.Bool(5)}
			if c.NumArgs() > 6 {
				args = append(args, c.Value(6))
			}
			return c.Grads1(call(opsAvgBackward[nd], args...)[0])
		},
	}
}

// avgBackwardDef is the gradient of the input. Argument 1 is the input, as in PyTorch, or its shape, as with
// adaptiveAvgBackwardDef.
func avgBackwardDef(schema string, nd int) tensor.Def {
	return tensor.Def{
		Schema: schema,
		Doc:    "shares each gradient among the elements of its window.",
		Go:     "-",
		Infer: func(c *Ctx) {
			sh := shapeArg(c, 1)
			if want := resultShape(sh, nd, avgCheck(c, sh, nd, 2)); !tensor.SameShape(want, c.Shape(0)) {
				c.Fail(tensor.ErrShape, "%s(): expected grad_output of shape %s, got %s", c.Op().Sch.Name,
					tensor.ShapeString(want), tensor.ShapeString(c.Shape(0)))
			}
			allocLike(c, nd, 0, sh, c.T(0), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			g, out := c.T(0), c.Out(0)
			w := avgWindow(c, out.Shape(), nd, 2)
			poolerFor(c, g.DType()).avgBackward(w, out, g, nd)
		},
		VJP: func(c *Ctx, g *T) []*T {
			args := []any{g, c.Ints(2), c.Ints(3), c.Ints(4), c.Bool(5), c.Bool(6)}
			if c.NumArgs() > 7 {
				args = append(args, c.Value(7))
			}
			return onlyFirst(c, call(opsAvg[nd], args...)[0])
		},
	}
}

const avgDoc = "is the mean of each window of an input [n, c, ...] or [c, ...]; the stride defaults to the kernel's " +
	"size, and padding counts as zeros unless count_include_pad is off." +
	site + "avg_pool2d.html"

var (
	opsAvg         = slots("aten::avg_pool%dd")
	opsAvgBackward = slots("gotorch::avg_pool%dd_backward")
)

// avgLineBody is avg_pool1d as PyTorch computes it: avg_pool2d of planes of one line.
func avgLineBody(c *Ctx) {
	y := call(opsAvg[2], line(c), inLine(c, 1, 1), inLine(c, 2, 1), inLine(c, 3, 0), c.Bool(4), c.Bool(5), nil)[0]
	c.Return(y.SqueezeDim(-2))
}

// inLine is a window's argument i, of one number, for planes of one line; an empty list stays empty.
func inLine(c *Ctx, i, first int) []int {
	switch l := c.Ints(i); len(l) {
	case 0:
		return []int{}
	case 1:
		return []int{first, l[0]}
	default:
		return list(c, c.Op().Sch.Params[i].Name, l, nil, 1)
	}
}

func init() {
	for _, d := range []tensor.Def{
		avgDef("avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> Tensor", 1, "SqueezeBackward1", avgLineBody),
		avgDef("avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor", 2, "AvgPool2DBackward0", nil),
		avgDef("avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor", 3, "AvgPool3DBackward0", nil),
		avgBackwardDef("avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor", 2),
		avgBackwardDef("avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor", 3),
		avgBackwardDef("gotorch::avg_pool1d_backward(Tensor grad_output, int[] size, int[1] kernel_size, int[1] stride, int[1] padding, bool ceil_mode, bool count_include_pad) -> Tensor", 1),
		avgBackwardDef("gotorch::avg_pool2d_backward(Tensor grad_output, int[] size, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor", 2),
		avgBackwardDef("gotorch::avg_pool3d_backward(Tensor grad_output, int[] size, int[3] kernel_size, int[3] stride, int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor", 3),
		{Schema: "F::avg_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor", Doc: "is the mean of each window. Padding counts as zeros, unless count_include_pad is off. Shapes: " +
			"input [n, c, L] or [c, L]; each spatial size becomes (size + 2·padding - k)/stride + 1, rounded " +
			"down, or up with ceil_mode. The stride is kernel_size if it is not given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool1d.html",
			Body: avgBody(opsAvg[1])},
		{Schema: "F::avg_pool2d(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor", Doc: "is the mean of each window. Padding counts as zeros, unless count_include_pad is off; a " +
			"divisor_override replaces the number of elements. Shapes: input [n, c, H, W] or [c, H, W]; each " +
			"spatial size becomes (size + 2·padding - k)/stride + 1, rounded down, or up with ceil_mode. The " +
			"stride is kernel_size if it is not given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool2d.html",
			Body: avgBody(opsAvg[2])},
		{Schema: "F::avg_pool3d(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor", Doc: "is the mean of each window. Padding counts as zeros, unless count_include_pad is off; a " +
			"divisor_override replaces the number of elements. Shapes: input [n, c, D, H, W] or [c, D, H, " +
			"W]; each spatial size becomes (size + 2·padding - k)/stride + 1, rounded down, or up with " +
			"ceil_mode. The stride is kernel_size if it is not given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool3d.html",
			Body: avgBody(opsAvg[3])},
	} {
		tensor.Register(d)
	}
}

func avgBody(op *tensor.Op) func(c *Ctx) {
	return func(c *Ctx) {
		stride := c.Ints(2)
		if stride == nil {
			stride = []int{}
		}
		args := []any{c.T(0), c.Ints(1), stride, c.Ints(3), c.Bool(4), c.Bool(5)}
		if c.NumArgs() > 6 {
			args = append(args, c.Value(6))
		}
		c.Return(call(op, args...)[0])
	}
}

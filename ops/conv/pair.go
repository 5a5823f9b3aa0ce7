package conv

import (
	"slices"

	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "torch::conv_depthwise_fused(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, float min, float max, " +
			"Tensor weight2, Tensor? bias2, int[] stride2, int[] padding2, int[] dilation2, float min2, float max2, " +
			"Tensor? weight3, Tensor? bias3, Tensor? residual, float min3, float max3) -> Tensor",
		Doc: "is a torch::conv_fused of one group, then a depthwise one of what it makes, and, unless weight3 is none, a third one of one group and no strides " +
			"or padding, to which the residual is added; for inference: what lies between them, the largest images of many networks, goes through " +
			"the cache some lines and channels at a time.",
		Go:     "-",
		NoGrad: "for inference; the convolutions and the activations have gradients of their own",
		Infer: func(c *Ctx) {
			in, w, w2, w3 := c.T(0), c.T(1), c.T(8), c.T(15)
			checkTypes(c, in, w, c.T(2))
			checkTypes(c, in, w2, c.T(9))
			first, second := pairArgs(c)
			mid := outputShape(c, in.Shape(), w.Shape(), c.T(2), first)
			sh := outputShape(c, mid, w2.Shape(), c.T(9), second)
			if sh[1] != mid[1] {
				c.Fail(tensor.ErrShape, "expected a second weight of %d channels, got %s", mid[1], tensor.ShapeString(w2.Shape()))
			}
			if w3 != nil {
				checkTypes(c, in, w3, c.T(16))
				sh = outputShape(c, sh, w3.Shape(), c.T(16), plain(w3.Dim()-2))
			}
			if r := c.T(17); r != nil && (w3 == nil || !tensor.SameShape(r.Shape(), sh)) {
				c.Fail(tensor.ErrShape, "expected a residual of shape %s and a third weight, got %s", tensor.ShapeString(sh), tensor.ShapeString(r.Shape()))
			}
			if dt := in.DType(); dt != tensor.Float32 && dt != tensor.Float64 {
				c.Fail(tensor.ErrDType, "expected float32 or float64, got %s", dt)
			}
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, formatFor(in, w)), in.DType())
		},
		CPU: func(c *Ctx) {
			switch {
			case c.Out(0).Numel() == 0:
			case c.Out(0).DType() == tensor.Float64:
				runPair[float64](c)
			default:
				runPair[float32](c)
			}
		},
	})
}

// pairArgs are the arguments of the first two convolutions.
func pairArgs(c *Ctx) (first, second arguments) {
	at := func(i, nd, groups int) arguments {
		return arguments{stride: list(c, "stride", c.Ints(i), nd), pad: list(c, "padding", c.Ints(i+1), nd), dil: list(c, "dilation", c.Ints(i+2), nd), outPad: make([]int, nd), groups: groups}
	}
	w := c.T(1)
	return at(3, w.Dim()-2, 1), at(10, c.T(8).Dim()-2, w.Size(0))
}

// plain are the arguments of a convolution without strides, padding or groups.
func plain(nd int) arguments {
	one := slices.Repeat([]int{1}, nd)
	return arguments{stride: one, pad: make([]int, nd), dil: one, outPad: make([]int, nd), groups: 1}
}

func runPair[E float32 | float64](c *Ctx) {
	in, out := c.T(0), c.Out(0)
	a, a2 := pairArgs(c)
	sh := in.Shape()
	// layer is the convolution whose weight is argument i; it begins with what the one before it makes.
	layer := func(i int, a arguments, lo, hi float64) cpuconv.Layer[E] {
		w, b := c.T(i), c.T(i+1)
		from := sh
		sh = outputShape(c, from, w.Shape(), b, a)
		ep := epilogue[E](lo, hi, w)
		ep.Bias = dense[E](b)
		return cpuconv.Layer[E]{Shape: geometryOf(from, sh, w.Shape(), a).shape(), W: weightsOf[E](w), Epilogue: &ep}
	}
	first, second := layer(1, a, c.Float(6), c.Float(7)), layer(8, a2, c.Float(13), c.Float(14))
	var last *cpuconv.Layer[E]
	if w := c.T(15); w != nil {
		l := layer(15, plain(w.Dim()-2), c.Float(18), c.Float(19))
		last = &l
	}
	intoLayout(out, func(d []E, isLast bool) {
		if last != nil {
			last.Epilogue.Residual = inLayout[E](c.T(17), isLast)
		}
		cpuconv.ForwardDepthwise(cpuconv.Image[E]{Data: d, Last: isLast}, imageOf[E](in), first, second, last)
	})
}

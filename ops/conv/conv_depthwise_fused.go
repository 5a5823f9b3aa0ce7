package conv

import (
	"slices"

	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::conv_depthwise_fused(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, float min, float max, " +
			"Tensor weight2, Tensor? bias2, int[] stride2, int[] padding2, int[] dilation2, float min2, float max2, " +
			"Tensor? weight3, Tensor? bias3, Tensor? residual, float min3, float max3, " +
			"str activation=\"none\", str activation2=\"none\", str activation3=\"none\") -> Tensor",
		Doc: "is a gotorch::conv_fused of one group, then a depthwise one of what it makes, and, unless weight3 is " +
			"none, a third one of one group and no strides " +
			"or padding, to which the residual is added; for inference: what lies between them, the largest images " +
			"of many networks, goes through " +
			"the cache some lines and channels at a time.",
		Go: "-",
		Fuses: func(c *Ctx) bool {
			_, ok := fitsDepthwise(c)
			return ok
		},
		Infer: func(c *Ctx) {
			in := c.T(0)
			for i := 20; i < 23; i++ {
				op.CheckActivation(c, i)
			}
			sh, _ := fitsDepthwise(c)
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, formatFor(in, c.T(1))), in.DType())
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
		Body: func(c *Ctx) {
			in, w, w2, w3, r := c.T(0), c.T(1), c.T(8), c.T(15), c.T(17)
			if w2.Size(0) != w.Size(0) {
				c.Fail(tensor.ErrShape, "expected a second weight of %d channels, got %s", w.Size(0),
					tensor.ShapeString(w2.Shape()))
			}
			if r != nil && w3 == nil {
				c.Fail(tensor.ErrShape, "expected a third weight with the residual of shape %s, got none",
					tensor.ShapeString(r.Shape()))
			}
			first, second := pairArgs(c)
			y := op.Activate(c, 20, limited(convNd(in, w, c.T(2), first), c.Float(6), c.Float(7)))
			y = op.Activate(c, 21, limited(convNd(y, w2, c.T(9), second), c.Float(13), c.Float(14)))
			if w3 != nil {
				if y = convNd(y, w3, c.T(16), plain(w3.Dim()-2)); r != nil {
					y = y.Add(r)
				}
				y = op.Activate(c, 22, limited(y, c.Float(18), c.Float(19)))
			}
			c.Return(y)
		},
	})
}

// fitsDepthwise is fits for the two or three convolutions, whose kernel computes in float32 or float64.
func fitsDepthwise(c *Ctx) (shape []int, ok bool) {
	in, w, w2, w3, r := c.T(0), c.T(1), c.T(8), c.T(15), c.T(17)
	dt := in.DType()
	first, second := pairArgs(c)
	sh, ok := fits(in, w, c.T(2), first)
	if !ok || dt != tensor.Float32 && dt != tensor.Float64 || w2.Dim() != w.Dim() || w2.DType() != dt ||
		w2.Size(0) != w.Size(0) {
		return nil, false
	}
	if sh, ok = fitsBehind(sh, w2, c.T(9), second); !ok || w3 == nil {
		return sh, ok && r == nil
	}
	if w3.Dim() != w.Dim() || w3.DType() != dt {
		return nil, false
	}
	sh, ok = fitsBehind(sh, w3, c.T(16), plain(w3.Dim()-2))
	return sh, ok && (r == nil || r.DType() == dt && tensor.SameShape(r.Shape(), sh))
}

// pairArgs are the arguments of the first two convolutions.
func pairArgs(c *Ctx) (first, second arguments) {
	nd := c.T(1).Dim() - 2
	return fusedArguments(c, 3, nd, 1), fusedArguments(c, 10, nd, c.T(1).Size(0))
}

// plain are the arguments of a convolution without strides, padding or groups.
func plain(nd int) arguments {
	nd = max(nd, 0)
	one := slices.Repeat([]int{1}, nd)
	return arguments{stride: one, pad: make([]int, nd), dil: one, outPad: make([]int, nd), groups: 1}
}

func runPair[E float32 | float64](c *Ctx) {
	in, out := c.T(0), c.Out(0)
	a, a2 := pairArgs(c)
	sh := in.Shape()
	// layer is the convolution whose weight is argument i; it begins with what the one before it makes.
	layer := func(i int, a arguments, lo, hi float64, act int) cpuconv.Layer[E] {
		w, b := c.T(i), c.T(i+1)
		from := sh
		sh = outputShape(c, from, w.Shape(), b, a)
		ep := epilogue[E](lo, hi, w)
		ep.Bias, ep.Act = dense[E](b), op.Activations[c.Str(act)]
		return cpuconv.Layer[E]{Shape: geometryOf(from, sh, w.Shape(), a).shape(), W: weightsOf[E](w), Epilogue: &ep}
	}
	first, second := layer(1, a, c.Float(6), c.Float(7), 20), layer(8, a2, c.Float(13), c.Float(14), 21)
	var last *cpuconv.Layer[E]
	if w := c.T(15); w != nil {
		l := layer(15, plain(w.Dim()-2), c.Float(18), c.Float(19), 22)
		last = &l
	}
	intoLayout(out, func(d []E, isLast bool) {
		if last != nil {
			last.Epilogue.Residual = inLayout[E](c.T(17), isLast)
		}
		cpuconv.ForwardDepthwise(cpuconv.Image[E]{Data: d, Last: isLast}, imageOf[E](in), first, second, last)
	})
}

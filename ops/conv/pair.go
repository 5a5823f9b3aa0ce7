package conv

import (
	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "torch::conv_depthwise_fused(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, float min, float max, " +
			"Tensor weight2, Tensor? bias2, int[] stride2, int[] padding2, int[] dilation2, float min2, float max2) -> Tensor",
		Doc: "is a torch::conv_fused of one group and then a depthwise one of what it makes, for inference: what lies between them, " +
			"the largest images of many networks, goes through the cache some lines and channels at a time.",
		Go:     "-",
		NoGrad: "for inference; the convolutions and the activations have gradients of their own",
		Infer: func(c *Ctx) {
			in, w, w2 := c.T(0), c.T(1), c.T(8)
			checkTypes(c, in, w, c.T(2))
			checkTypes(c, in, w2, c.T(9))
			first, second := pairArgs(c)
			mid := outputShape(c, in.Shape(), w.Shape(), c.T(2), first)
			sh := outputShape(c, mid, w2.Shape(), c.T(9), second)
			if sh[1] != mid[1] {
				c.Fail(tensor.ErrShape, "expected a second weight of %d channels, got %s", mid[1], tensor.ShapeString(w2.Shape()))
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

// pairArgs are the arguments of both convolutions.
func pairArgs(c *Ctx) (first, second arguments) {
	at := func(i, nd, groups int) arguments {
		return arguments{stride: list(c, "stride", c.Ints(i), nd), pad: list(c, "padding", c.Ints(i+1), nd), dil: list(c, "dilation", c.Ints(i+2), nd), outPad: make([]int, nd), groups: groups}
	}
	w := c.T(1)
	return at(3, w.Dim()-2, 1), at(10, c.T(8).Dim()-2, w.Size(0))
}

func runPair[E float32 | float64](c *Ctx) {
	in, w, w2, out := c.T(0), c.T(1), c.T(8), c.Out(0)
	first, second := pairArgs(c)
	mid := outputShape(c, in.Shape(), w.Shape(), c.T(2), first)
	ep, ep2 := epilogue[E](c.Float(6), c.Float(7), w), epilogue[E](c.Float(13), c.Float(14), w2)
	ep.Bias, ep2.Bias = dense[E](c.T(2)), dense[E](c.T(9))
	intoLayout(out, func(d []E, last bool) {
		cpuconv.ForwardDepthwise(geometryOf(in.Shape(), mid, w.Shape(), first).shape(), geometryOf(mid, out.Shape(), w2.Shape(), second).shape(),
			cpuconv.Image[E]{Data: d, Last: last}, imageOf[E](in), weightsOf[E](w), weightsOf[E](w2), &ep, &ep2)
	})
}

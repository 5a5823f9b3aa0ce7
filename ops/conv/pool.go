package conv

import (
	"slices"

	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "torch::conv_pool_fused(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float min, float max, " +
			"int[] window, int[] pool_stride, int[] pool_padding) -> Tensor",
		Doc: "is a torch::conv_fused without a residual and a maximum pooling of what it makes, for inference: " +
			"the image between them goes through the cache some lines at a time.",
		Go:     "-",
		NoGrad: "for inference; the convolution, the activation and the pooling have gradients of their own",
		Infer: func(c *Ctx) {
			in, w := c.T(0), c.T(1)
			checkTypes(c, in, w, c.T(2))
			a, pool := poolArgs(c)
			for i, p := range pool.pad {
				if k := list(c, "window", c.Ints(9), len(pool.pad))[i]; k < 1 || 2*p > k {
					c.Fail(tensor.ErrShape, "pad should be at most half of effective kernel size, but got pad=%d and kernel_size=%d", p, k)
				}
			}
			mid := outputShape(c, in.Shape(), w.Shape(), c.T(2), a)
			sh := outputShape(c, mid, poolWindow(c, mid), nil, pool)
			if dt := in.DType(); dt != tensor.Float32 && dt != tensor.Float64 {
				c.Fail(tensor.ErrDType, "expected float32 or float64, got %s", dt)
			}
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, formatFor(in, w)), in.DType())
		},
		CPU: func(c *Ctx) {
			switch {
			case c.Out(0).Numel() == 0:
			case c.Out(0).DType() == tensor.Float64:
				runPool[float64](c)
			default:
				runPool[float32](c)
			}
		},
	})
}

// poolArgs are the arguments of the convolution and of the pooling, a depthwise one.
func poolArgs(c *Ctx) (conv, pool arguments) {
	w := c.T(1)
	nd := w.Dim() - 2
	conv = arguments{stride: list(c, "stride", c.Ints(3), nd), pad: list(c, "padding", c.Ints(4), nd), dil: list(c, "dilation", c.Ints(5), nd), outPad: make([]int, nd), groups: c.Int(6)}
	pool = arguments{stride: list(c, "pool_stride", c.Ints(10), nd), pad: list(c, "pool_padding", c.Ints(11), nd), dil: slices.Repeat([]int{1}, nd), outPad: make([]int, nd), groups: w.Size(0)}
	return conv, pool
}

// poolWindow is the pooling's shape of weights, if it had some.
func poolWindow(c *Ctx, mid []int) []int {
	return append([]int{mid[1], 1}, list(c, "window", c.Ints(9), len(mid)-2)...)
}

func runPool[E float32 | float64](c *Ctx) {
	in, w, b, out := c.T(0), c.T(1), c.T(2), c.Out(0)
	a, pool := poolArgs(c)
	mid := outputShape(c, in.Shape(), w.Shape(), b, a)
	ep := epilogue[E](c.Float(7), c.Float(8), w)
	ep.Bias = dense[E](b)
	first := cpuconv.Layer[E]{Shape: geometryOf(in.Shape(), mid, w.Shape(), a).shape(), W: weightsOf[E](w), Epilogue: &ep}
	second := cpuconv.Layer[E]{Shape: geometryOf(mid, out.Shape(), poolWindow(c, mid), pool).shape(), Max: true}
	intoLayout(out, func(d []E, last bool) {
		cpuconv.ForwardDepthwise(cpuconv.Image[E]{Data: d, Last: last}, imageOf[E](in), first, second, nil)
	})
}

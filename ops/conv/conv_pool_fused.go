package conv

import (
	"slices"

	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::conv_pool_fused(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, float min, float max, " +
			"int[] window, int[] pool_stride, int[] pool_padding, bool pool_first=False, bool ceil_mode=False) -> Tensor",
		Doc: "is a gotorch::conv_fused without a residual and a maximum pooling of what it makes, for inference: the " +
			"image between them goes through " +
			"the cache some lines at a time. With pool_first the limits come behind the pooling, which gives the " +
			"same values. ceil_mode is that of max_pool2d.",
		Go: "-",
		Fuses: func(c *Ctx) bool {
			_, _, ok := fitsPool(c)
			return ok
		},
		Infer: func(c *Ctx) {
			in, w := c.T(0), c.T(1)
			_, sh, _ := fitsPool(c)
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
		Body: func(c *Ctx) {
			lo, hi, first := c.Float(7), c.Float(8), c.Bool(12)
			a, pool := poolArgs(c)
			y := convNd(c.T(0), c.T(1), c.T(2), a)
			if !first {
				y = limited(y, lo, hi)
			}
			y = call(opMaxPools[min(max(c.T(1).Dim()-2, 1), 3)], y, c.Ints(9), c.Ints(10), c.Ints(11), pool.dil,
				c.Bool(13))[0]
			if first {
				y = limited(y, lo, hi)
			}
			c.Return(y)
		},
	})
}

// fitsPool is fits for the convolution, in float32 or float64, and the pooling: the shapes of their results.
func fitsPool(c *Ctx) (mid, out []int, ok bool) {
	in := c.T(0)
	a, pool := poolArgs(c)
	if mid, ok = fits(in, c.T(1), c.T(2), a); !ok || in.DType() != tensor.Float32 && in.DType() != tensor.Float64 {
		return nil, nil, false
	}
	nd := len(mid) - 2
	win := spread(c.Ints(9), nd)
	if len(win) != nd || len(pool.stride) != nd || len(pool.pad) != nd {
		return nil, nil, false
	}
	out = append(make([]int, 0, nd+2), mid[:2]...)
	for i, k := range win {
		size, stride, pad := mid[2+i], pool.stride[i], pool.pad[i]
		if k < 1 || stride < 1 || pad < 0 || 2*pad > k || size+2*pad < k {
			return nil, nil, false
		}
		out = append(out, op.Windows(size, k, pad, stride, 1, c.Bool(13)))
	}
	return mid, out, true
}

// poolArgs are the arguments of the convolution, and of the pooling as a convolution of one group for each channel.
func poolArgs(c *Ctx) (conv, pool arguments) {
	w := c.T(1)
	nd := w.Dim() - 2
	pool = arguments{stride: spread(c.Ints(10), nd), pad: spread(c.Ints(11), nd),
		dil: slices.Repeat([]int{1}, max(nd, 0)), groups: w.Size(0)}
	if len(pool.stride) == 0 {
		pool.stride = spread(c.Ints(9), nd)
	}
	return fusedArguments(c, 3, nd, c.Int(6)), pool
}

// poolWindow is the pooling's shape of weights, if it had some.
func poolWindow(c *Ctx, mid []int) []int {
	return append([]int{mid[1], 1}, spread(c.Ints(9), len(mid)-2)...)
}

func runPool[E float32 | float64](c *Ctx) {
	in, w, b, out := c.T(0), c.T(1), c.T(2), c.Out(0)
	a, pool := poolArgs(c)
	mid, _, _ := fitsPool(c)
	ep := epilogue[E](c.Float(7), c.Float(8), w)
	ep.Bias = dense[E](b)
	first := cpuconv.Layer[E]{Shape: geometryOf(in.Shape(), mid, w.Shape(), a).shape(), W: weightsOf[E](w),
		Epilogue: &ep}
	second := cpuconv.Layer[E]{Shape: geometryOf(mid, out.Shape(), poolWindow(c, mid), pool).shape(), Max: true}
	intoLayout(out, func(d []E, last bool) {
		cpuconv.ForwardDepthwise(cpuconv.Image[E]{Data: d, Last: last}, imageOf[E](in), first, second, nil)
	})
}

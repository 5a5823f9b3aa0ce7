package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	opTailBackward      = tensor.Slot("torch::conv_tail_backward")
	opThresholdBackward = tensor.Slot("aten::threshold_backward")
	opCodesBackward     = tensor.Slot("aten::_max_pool_codes_backward")
)

// tailArgs reads stride, padding and dilation from position i on, and groups behind them, for two spatial dimensions.
func tailArgs(c *Ctx, i int) arguments {
	return arguments{
		stride: list(c, "stride", c.Ints(i), 2), pad: list(c, "padding", c.Ints(i+1), 2), dil: list(c, "dilation", c.Ints(i+2), 2),
		outPad: []int{0, 0}, groups: c.Int(i + 3),
	}
}

// tailWindow reads the window of the pooling, nil for none.
func tailWindow(c *Ctx, i int) []int {
	w := c.Ints(i)
	if len(w) == 0 {
		return nil
	}
	return list(c, "window", w, 2)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "torch::conv_tail(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, bool relu, int[] window) -> (Tensor, Tensor)",
		Doc: "is a convolution over two spatial dimensions with what often comes behind it, in one pass: a ReLU, and, unless window is empty, a maximum pooling " +
			"with that window and stride and without padding, which takes one group. The second result is the number of the tap that each maximum comes " +
			"from, 255 where the ReLU leaves nothing; it is empty when there is no pooling or no gradient is wanted.",
		Go:  "-",
		AMP: tensor.AMPLower,
		Infer: func(c *Ctx) {
			in, w := c.T(0), c.T(1)
			if w.Dim() != 4 {
				c.Fail(tensor.ErrShape, "expected a 4-dimensional weight, got shape %s", tensor.ShapeString(w.Shape()))
			}
			checkTypes(c, in, w, c.T(2))
			if dt := in.DType().Compute(); dt != tensor.Float32 && dt != tensor.Float64 {
				c.Fail(tensor.ErrDType, "expected a floating-point type, got %s", in.DType())
			}
			sh := outputShape(c, in.Shape(), w.Shape(), c.T(2), tailArgs(c, 3))
			codes, f := []int{0}, formatFor(in, w)
			if win := tailWindow(c, 8); win != nil {
				if taps := win[0] * win[1]; c.Int(6) != 1 || win[0] < 1 || win[1] < 1 || taps > cpuconv.NoTap || sh[2] < win[0] || sh[3] < win[1] {
					c.Fail(tensor.ErrShape, "a pooling of windows %s behind %d groups: expected one group and at most 255 taps within the convolution's result %s",
						tensor.ShapeString(win), c.Int(6), tensor.ShapeString(sh))
				}
				sh = []int{sh[0], sh[1], sh[2] / win[0], sh[3] / win[1]}
				if c.Wants() {
					codes = sh
				}
			}
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, f), in.DType())
			if len(codes) == 1 {
				c.Alloc(1, codes, tensor.Uint8)
			} else {
				c.AllocStrided(1, codes, tensor.FormatStrides(codes, f), tensor.Uint8)
			}
		},
		CPU: func(c *Ctx) {
			switch {
			case c.Out(0).Numel() == 0:
			case c.Out(0).DType().Compute() == tensor.Float64:
				runTail[float64](c)
			default:
				runTail[float32](c)
			}
		},
		Save: "input weight result0 result1",
		VJP:  tailVJP,
	})
	tensor.Register(tensor.Def{
		Schema: "torch::conv_tail_backward(Tensor grad, Tensor result, Tensor input, Tensor weight, int[]? bias_sizes, int[] stride, int[] padding, int[] dilation, int groups, int[] window, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
		Doc: "are the gradients of conv_tail's input, weight and bias. With a window, result is the numbers of the taps, and the gradient is that behind the " +
			"pooling; without, result is that of the ReLU, and there is no gradient of the input.",
		Go:     "-",
		NoGrad: "conv_tail's gradient is made of other operators where its own gradient is wanted",
		Infer: func(c *Ctx) {
			mask, in, w := c.Bools(10), c.T(2), c.T(3)
			for i, sh := range [][]int{in.Shape(), w.Shape(), c.Ints(4)} {
				var st []int
				switch {
				case !mask[i]:
					sh = []int{0}
				case i < 2:
					st = tensor.FormatStrides(sh, formatFor(in, w))
				}
				c.AllocStrided(i, sh, st, c.ArgDType(0))
			}
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(0).Compute() == tensor.Float64 {
				runTailBackward[float64](c)
			} else {
				runTailBackward[float32](c)
			}
		},
	})
}

// runTail computes conv_tail. The kernels pool into channels-last memory.
func runTail[E float32 | float64](c *Ctx) {
	in, w, b, out, codes := c.T(0), c.T(1), c.T(2), c.Out(0), c.Out(1)
	a, win := tailArgs(c, 3), tailWindow(c, 8)
	sh := outputShape(c, in.Shape(), w.Shape(), b, a)
	ep := cpuconv.Epilogue[E]{Packed: packedAgain(w, sh[0]*sh[2]*sh[3])}
	if win == nil {
		if c.Bool(7) {
			ep = ep.ReLU()
		}
		runFloat(out, in, w, b, nil, ep, a)
		return
	}
	tail := &cpuconv.Tail[E]{Window: [3]int{1, win[0], win[1]}, ReLU: c.Bool(7)}
	ep.Bias, ep.Tail = dense[E](b), tail
	run := func() {
		if f, ok := any(ep).(cpuconv.Epilogue[float32]); ok {
			if s := fitsBF16(sh, in, w, a); s != nil {
				o := out
				if !out.IsContiguousFormat(tensor.ChannelsLast) {
					o = tensor.NewStrided(out.Shape(), tensor.FormatStrides(out.Shape(), tensor.ChannelsLast), out.DType())
				}
				cpuconv.ForwardBF16(s, cpuconv.BFloats{Data: unsafe.Slice((*uint16)(tensor.Ptr(o)), o.Numel()), Last: true}, bfloats(in), bfloats(w), &f, nil)
				if o != out {
					tensor.CopyRaw(out, o)
				}
				return
			}
		}
		tensor.IntoFormat(out, tensor.ChannelsLast, func(d []E) {
			cpuconv.Forward(geometryOf(in.Shape(), sh, w.Shape(), a).shape(), cpuconv.Image[E]{Data: d, Last: true}, imageOf[E](in), weightsOf[E](w), &ep)
		})
	}
	if codes.Numel() == 0 {
		run()
		return
	}
	tensor.IntoFormat(codes, tensor.ChannelsLast, func(code []uint8) {
		tail.Codes = code
		run()
	})
}

// tailVJP: the gradient goes through pooling and convolution together; the codes say what a ReLU lets pass. Without a pooling a ReLU is taken
// together with the convolution only where the input's gradient is not wanted: that of a first layer.
func tailVJP(c *Ctx, g *T) []*T {
	in, w := c.T(0), c.T(1)
	a, win, relu := tailArgs(c, 3), tailWindow(c, 8), c.Bool(7)
	want := []bool{c.Needs(0), c.Needs(1), c.Has(2) && c.Needs(2)}
	last := formatFor(in, w) == tensor.ChannelsLast
	var result *T // what the gradient needs: the codes, or what the ReLU made
	switch {
	case win != nil:
		result = c.Out(1)
	case relu:
		result = c.Out(0)
	}
	twice := tensor.IsGradEnabled() // this pass is recorded for gradients of gradients
	// The kernels of gradients in bfloat16 know no tails.
	apart := twice || !want[1] || in.DType() == tensor.BFloat16 && cpu.HasBF16 || win == nil && (!last || a.groups > 1 || want[0] || !relu)
	if last && !twice { // a fully connected layer behind a flattening gives planes
		g = tensor.DenseIn(g, tensor.ChannelsLast, g.DType())
	}
	if apart {
		switch {
		case win != nil:
			passes := result.NeScalar(cpuconv.NoTap)
			sh := outputShape(c, in.Shape(), w.Shape(), nil, a)
			g = call(opCodesBackward, g.Mul(passes.To(g.DType())), result.Mul(passes.To(tensor.Uint8)), sh, win, win, []int{0, 0}, []int{1, 1}, false, 2)[0]
		case relu:
			g = call(opThresholdBackward, g, result, 0)[0]
		}
		return backward(g, in, w, c.Shape(2), a, want...)
	}
	r := call(opTailBackward, g, result, in, w, c.Shape(2), a.stride, a.pad, a.dil, a.groups, append([]int{}, win...), want)
	for i := range r {
		if !want[i] {
			r[i] = nil
		}
	}
	return r
}

// runTailBackward computes conv_tail_backward.
func runTailBackward[E float32 | float64](c *Ctx) {
	gout, result, in, w := c.T(0), c.T(1), c.T(2), c.T(3)
	a, win, want := tailArgs(c, 5), tailWindow(c, 9), c.Bools(10)
	s := geometryOf(in.Shape(), outputShape(c, in.Shape(), w.Shape(), nil, a), w.Shape(), a).shape()
	// The kernels read gradients behind a tail in channels-last memory.
	image := cpuconv.Image[E]{Data: tensor.Memory[E](tensor.DenseIn(gout, tensor.ChannelsLast, tensor.DTypeOf[E]())), Last: true}
	tail := &cpuconv.Tail[E]{}
	if win == nil {
		tail.Result = tensor.Memory[E](tensor.DenseIn(result, tensor.ChannelsLast, tensor.DTypeOf[E]()))
	} else {
		tail.Window, tail.ReLU = [3]int{1, win[0], win[1]}, true // there may be codes that are no taps
		tail.Codes = tensor.Memory[uint8](tensor.DenseIn(result, tensor.ChannelsLast, tensor.Uint8))
	}
	if want[0] {
		intoLayout(c.Out(0), func(d []E, last bool) {
			cpuconv.BackwardDataBehind(s, cpuconv.Image[E]{Data: d, Last: last}, image, weightsOf[E](w), nil, tail)
		})
	}
	intoBoth(c.Out(1), c.Out(2), want[2], func(gw cpuconv.Weights[E], gb []E) {
		cpuconv.BackwardWeightBehind(s, gw, gb, image, imageOf[E](in), tail)
	})
}

// intoBoth runs f on memory for the gradients of the weight and, if that is wanted, the bias.
func intoBoth[E float32 | float64](gw, gb *T, bias bool, f func(gw cpuconv.Weights[E], gb []E)) {
	run := func(b []E) {
		intoLayout(gw, func(d []E, last bool) { f(cpuconv.Weights[E]{Data: d, Last: last}, b) })
	}
	if bias {
		intoLayout(gb, func(b []E, _ bool) { run(b) })
	} else {
		run(nil)
	}
}

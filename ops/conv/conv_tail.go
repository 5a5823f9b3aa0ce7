package conv

import (
	"slices"

	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	opTailBackward      = tensor.Slot("gotorch::conv_tail_backward")
	opThresholdBackward = tensor.Slot("aten::threshold_backward")
	opConv2dPadding     = tensor.Slot("aten::conv2d.padding")
	opReLUMaxPool       = tensor.Slot("gotorch::relu_max_pool")
	opCodesBackward     = tensor.Slot("gotorch::max_pool_codes_backward")
)

// tailWindow is the window of the pooling behind a convolution in two dimensions, nil for none.
func tailWindow(c *Ctx, i int) []int {
	if w := c.Ints(i); len(w) > 0 {
		return spread(w, 2)
	}
	return nil
}

// mostTailTaps is the number of elements of a window up to which the kernels pool what they have just computed.
const mostTailTaps = 64

// fitsTail reports that the kernels take the call, and gives the shapes of the convolution's result and of the
// whole's: channels-last memory, in which all channels of a position are computed together, and windows side by side.
func fitsTail(c *Ctx) (mid, out []int, ok bool) {
	in, w, relu, win := c.T(0), c.T(1), c.Bool(7), tailWindow(c, 8)
	if dt := in.DType(); dt != tensor.Float32 && dt != tensor.Float64 || !relu && win == nil || in.Dim() != 4 ||
		in.Numel() == 0 || w.Dim() != 4 ||
		formatFor(in, w) != tensor.ChannelsLast {
		return nil, nil, false
	}
	a := fusedArguments(c, 3, 2, c.Int(6))
	if mid, ok = fits(in, w, c.T(2), a); !ok || win == nil {
		return mid, mid, ok
	}
	all := func(i, x int) bool { return !anyOf(c.Ints(i), func(v int) bool { return v != x }) }
	if stride := spread(c.Ints(11), 2); len(win) != 2 || win[0] < 1 || win[1] < 1 || win[0]*win[1] > mostTailTaps ||
		mid[2] < win[0] || mid[3] < win[1] ||
		len(stride) > 0 && !slices.Equal(stride, win) || !all(12, 0) || !all(13, 1) || c.Bool(14) || a.groups != 1 {
		return nil, nil, false
	}
	return mid, []int{mid[0], mid[1], mid[2] / win[0], mid[3] / win[1]}, true
}

// tailBody are the layers of conv_tail one after the other.
func tailBody(c *Ctx) {
	var y *T
	if name := c.Str(15); name != "" {
		y = call(opConv2dPadding, c.T(0), c.T(1), c.T(2), c.Ints(3), name, c.Ints(5), c.Int(6))[0]
	} else {
		y = convNd(c.T(0), c.T(1), c.T(2), fusedArguments(c, 3, c.T(1).Dim()-2, c.Int(6)))
	}
	relu := func() {
		switch {
		case c.Bool(7) && c.Bool(10):
			y = y.ReLUInPlace()
		case c.Bool(7):
			y = y.ReLU()
		}
	}
	win := c.Ints(8)
	first := !c.Bool(9) // the ReLU
	if first && len(win) == 0 {
		relu()
	}
	if len(win) > 0 {
		orElse := func(i, x int) []int {
			if l := c.Ints(i); len(l) > 0 {
				return l
			}
			return []int{x, x}
		}
		stride, pad, dil := append([]int{}, c.Ints(11)...), orElse(12, 0), orElse(13, 1)
		if first && c.Bool(7) {
			y = call(opReLUMaxPool, y, win, stride, pad, dil, c.Bool(14), 2, c.Bool(10))[0]
		} else {
			y = call(opMaxPools[2], y, win, stride, pad, dil, c.Bool(14))[0]
		}
	}
	if !first {
		relu()
	}
	c.Return(y)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::conv_tail(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, bool relu, int[] window, " +
			"bool pool_first=False, bool relu_inplace=False, int[] pool_stride=[], int[] pool_padding=[], int[] pool_dilation=[], bool ceil_mode=False, str padding_name=\"\") -> Tensor",
		Doc: "is a convolution over two spatial dimensions with what often comes behind it: a ReLU, and, unless " +
			"window is empty, a maximum pooling with " +
			"max_pool2d's arguments. With pool_first the pooling comes before the ReLU. padding_name, same or valid, " +
			"says where the padding comes from. In channels-last memory the whole is one pass over the result, " +
			"where the windows lie side by side: the larger image between convolution and pooling is never written. " +
			"The gradient needs one byte for each " +
			"window: the number of the tap that the maximum comes from, 255 where the ReLU leaves nothing.",
		Fuses: func(c *Ctx) bool {
			_, _, ok := fitsTail(c)
			return ok
		},
		Infer: func(c *Ctx) {
			_, sh, _ := fitsTail(c)
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, tensor.ChannelsLast), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			if c.Out(0).DType() == tensor.Float64 {
				runTail[float64](c)
			} else {
				runTail[float32](c)
			}
		},
		Body: tailBody,
		Save: "input weight result",
		VJP: func(c *Ctx, g *T) []*T {
			win := append([]int{}, tailWindow(c, 8)...)
			var result *T // what the gradient needs: the codes, or what the ReLU made
			if len(win) > 0 {
				result = c.Kept().(*T)
			} else {
				result = c.Out(0)
			}
			a := fusedArguments(c, 3, 2, c.Int(6))
			want := []bool{c.Needs(0), c.Needs(1), c.Has(2) && c.Needs(2)}
			r := call(opTailBackward, g, result, c.T(0), c.T(1), c.Shape(2), a.stride, a.pad, a.dil, a.groups, win,
				want)
			for i := range r {
				if !want[i] {
					r[i] = nil
				}
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::conv_tail_backward(Tensor grad, Tensor result, Tensor input, Tensor weight, int[]? bias_sizes, int[] stride, int[] padding, int[] dilation, int groups, int[] window, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
		Doc: "are the gradients of conv_tail's input, weight and bias. With a window, result is the numbers of the " +
			"taps, and the gradient is that behind the " +
			"pooling; without, result is that of the ReLU. The kernel reads the gradient of the convolution's " +
			"result, which is never written, through the " +
			"taps or the ReLU's result. It has no gradient rule: where its own gradient is wanted, the body runs.",
		Go:    "-",
		Fuses: fitsTailBackward,
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
			if c.ArgDType(0) == tensor.Float64 {
				runTailBackward[float64](c)
			} else {
				runTailBackward[float32](c)
			}
		},
		Body: func(c *Ctx) {
			g, result, in, w := c.T(0), c.T(1), c.T(2), c.T(3)
			a := fusedArguments(c, 5, 2, c.Int(8))
			if formatFor(in, w) == tensor.ChannelsLast { // a linear layer behind a flattening gives planes
				g = g.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast})
			}
			if win := tailWindow(c, 9); win != nil {
				passes := result.NeScalar(cpuconv.NoTap)
				sh := outputShape(c, in.Shape(), w.Shape(), nil, a)
				g = call(opCodesBackward, g.Mul(passes.To(g.DType())), result.Mul(passes.To(tensor.Uint8)), sh, win,
					win, []int{0, 0}, []int{1, 1}, false, 2)[0]
			} else {
				g = call(opThresholdBackward, g, result, 0)[0]
			}
			args := append([]any{g, in, w, c.Ints(4)}, a.boxed()...)
			c.Return(call(opBackward, append(args, c.Bools(10))...)...)
		},
	})
}

// checkTailBackward refuses arguments of conv_tail_backward that do not fit together.
func checkTailBackward(c *Ctx) {
	c.WantDim(3, 4)
	c.WantLength(10, 3)
	checkTypes(c, c.T(2), c.T(3), nil)
	c.WantDType(0, c.ArgDType(2))
	sh := outputShape(c, c.Shape(2), c.Shape(3), nil, fusedArguments(c, 5, 2, c.Int(8)))
	if c.Has(4) && c.Bools(10)[2] && !tensor.SameShape(c.Ints(4), sh[1:2]) {
		c.Fail(tensor.ErrShape, "conv_tail_backward(): expected bias_sizes [%d], got %s", sh[1],
			tensor.ShapeString(c.Ints(4)))
	}
	if win := tailWindow(c, 9); win != nil {
		if win[0] < 1 || win[1] < 1 || win[0] > sh[2] || win[1] > sh[3] || win[0]*win[1] > mostTailTaps {
			c.Fail(tensor.ErrShape, "conv_tail_backward(): no windows of %s in a result of shape %s",
				tensor.ShapeString(win), tensor.ShapeString(sh))
		}
		sh[2], sh[3] = sh[2]/win[0], sh[3]/win[1]
		c.WantDType(1, tensor.Uint8)
	} else {
		c.WantDType(1, c.ArgDType(2))
	}
	c.WantNumel(0, tensor.Size(sh).Numel()) // a linear layer behind a flattening gives another shape
	c.WantShape(1, sh...)
}

// fitsTailBackward reports that the gradients of conv_tail are computed in one go: behind a pooling whenever the
// weight's gradient is wanted, behind a ReLU alone only where the input's is not, as in a first layer.
func fitsTailBackward(c *Ctx) bool {
	in, w, want := c.T(2), c.T(3), c.Bools(10)
	checkTailBackward(c)
	if dt := in.DType(); dt != tensor.Float32 && dt != tensor.Float64 || c.ArgDType(0) != dt || !want[1] {
		return false
	}
	return tailWindow(c, 9) != nil || formatFor(in, w) == tensor.ChannelsLast && c.Int(8) == 1 && !want[0]
}

// runTail computes conv_tail. The kernels pool into channels-last memory.
func runTail[E float32 | float64](c *Ctx) {
	in, w, b, out := c.T(0), c.T(1), c.T(2), c.Out(0)
	a, win := fusedArguments(c, 3, 2, c.Int(6)), tailWindow(c, 8)
	mid, _, _ := fitsTail(c)
	ep := cpuconv.Epilogue[E]{Packed: packedAgain(w, mid[0]*mid[2]*mid[3])}
	if win == nil {
		runFloat(out, in, w, b, nil, ep.ReLU(), a)
		return
	}
	tail := &cpuconv.Tail[E]{Window: [3]int{1, win[0], win[1]}, ReLU: c.Bool(7)}
	ep.Bias, ep.Tail = dense[E](b), tail
	if c.Wants() {
		sh := out.Shape()
		codes := tensor.NewStrided(sh, tensor.FormatStrides(sh, tensor.ChannelsLast), tensor.Uint8)
		tail.Codes = tensor.Memory[uint8](codes)
		c.Keep(codes)
	}
	tensor.IntoFormat(out, tensor.ChannelsLast, func(d []E) {
		cpuconv.Forward(geometryOf(in.Shape(), mid, w.Shape(), a).shape(), cpuconv.Image[E]{Data: d, Last: true},
			imageOf[E](in), weightsOf[E](w), &ep)
	})
}

// runTailBackward computes conv_tail_backward.
func runTailBackward[E float32 | float64](c *Ctx) {
	gout, result, in, w := c.T(0), c.T(1), c.T(2), c.T(3)
	a, win, want := fusedArguments(c, 5, 2, c.Int(8)), tailWindow(c, 9), c.Bools(10)
	s := geometryOf(in.Shape(), outputShape(c, in.Shape(), w.Shape(), nil, a), w.Shape(), a).shape()
	// The kernels read gradients behind a tail in channels-last memory.
	image := cpuconv.Image[E]{Data: tensor.Memory[E](tensor.DenseIn(gout, tensor.ChannelsLast, tensor.DTypeOf[E]())),
		Last: true}
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

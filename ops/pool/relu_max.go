package pool

import "github.com/gotorch-dev/torch/tensor"

// A ReLU before a maximum pooling may as well come behind it: max(relu(x)) = relu(max(x)), and there are fewer elements
// then. The gradients are the same, too: where the maximum is positive it comes from the same element, and elsewhere
// there is none. The kernel starts each window with a zero that is no tap of it. What it keeps for the gradient is its
// own, unlike the result that a ReLU would keep.

// commutes reports that the kernel takes a ReLU and a pooling. A window that lies in the padding as a whole, which only
// dilation allows, is -Inf and not 0.
func commutes(c *Ctx) bool {
	nd := c.Int(6)
	k, pad, dil := c.Ints(1), c.Ints(3), c.Ints(4)
	if nd < 1 || nd > 3 || !codable(c.T(0), nd, k, c.Ints(2), pad, dil) {
		return false
	}
	taps := 1
	for i := range nd {
		taps *= k[i%len(k)]
		if pad[i%len(pad)] > 0 && dil[i%len(dil)] > 1 {
			return false
		}
	}
	return taps <= noTap
}

var poolNodes = [4]string{1: "SqueezeBackward1", 2: "MaxPool2DWithIndicesBackward0", 3: "MaxPool3DWithIndicesBackward0"}

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::relu_max_pool(Tensor self, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode, int nd, bool relu_inplace) -> Tensor",
		Doc: "is a ReLU and the maximum pooling over nd spatial dimensions behind it, with max_pool2d's arguments. " +
			"The kernel takes the maximum of each " +
			"window and zero, and never writes the ReLU's result. With relu_inplace the ReLU is one in place, of a " +
			"tensor that nobody else reads: what " +
			"stands in it afterwards is not said.",
		GradOf: func(args []tensor.Value) string { return poolNodes[min(max(int(args[6].N), 0), 3)] },
		Body: func(c *Ctx) {
			x, nd := c.T(0), c.Int(6)
			if c.Bool(7) {
				x = x.ReLUInPlace()
			} else {
				x = x.ReLU()
			}
			c.Return(call(opsMax[min(max(nd, 1), 3)], x, c.Ints(1), append([]int{}, c.Ints(2)...), c.Ints(3), c.Ints(4),
				c.Bool(5))[0])
		},
		Fuses: commutes,
		Infer: func(c *Ctx) { inferMax(c, c.Int(6)) },
		CPU:   func(c *Ctx) { runMax(c, c.Int(6), true) },
		VJP:   func(c *Ctx, g *T) []*T { return maxRule(c, g, c.Int(6)) },
	})
}

package conv

import (
	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

var opCat = tensor.Slot("aten::cat")

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::conv_cat(Tensor[] inputs, Tensor[] weights, Tensor[] biases, int[] stride, int[] padding, int[] dilation, float min, float max, " +
			"str activation=\"none\", bool winograd=False) -> Tensor",
		Doc: "joins the results of convolutions over two spatial dimensions along the channels, for inference: " +
			"activation(clamp(conv(input, weight, bias), min, max)) of each input [N, Cin, H, W] with its weight " +
			"[Cout, Cin, KH, KW] and bias [Cout]. stride, padding and dilation have two numbers for each convolution. " +
			"The convolutions write into the joined result, which is channels-last. winograd is that of " +
			"gotorch::conv_fused.",
		Go: "-",
		Fuses: func(c *Ctx) bool {
			_, ok := fitsCat(c)
			return ok
		},
		Infer: func(c *Ctx) {
			sh, _ := fitsCat(c)
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, tensor.ChannelsLast), c.Tensors(0)[0].DType())
		},
		CPU: func(c *Ctx) {
			switch {
			case c.Out(0).Numel() == 0:
			case c.Out(0).DType() == tensor.Float64:
				runCat[float64](c)
			default:
				runCat[float32](c)
			}
		},
		Body: func(c *Ctx) {
			checkCat(c)
			var parts []*T
			for i, x := range c.Tensors(0) {
				y := convNd(x, c.Tensors(1)[i], c.Tensors(2)[i], catArgs(c, i))
				parts = append(parts, op.Activate(c, 8, limited(y, c.Float(6), c.Float(7))))
			}
			c.Return(call(opCat, parts, 1)[0])
		},
	})
}

// checkCat refuses lists of different lengths.
func checkCat(c *Ctx) {
	n := len(c.Tensors(0))
	if n == 0 || len(c.Tensors(1)) != n || len(c.Tensors(2)) != n || len(c.Ints(3)) != 2*n || len(c.Ints(4)) != 2*n ||
		len(c.Ints(5)) != 2*n {
		c.Fail(tensor.ErrShape, "expected as many weights and biases as inputs, of which there is one at least, and two "+
			"numbers of stride, padding and dilation for each, got %d inputs, %d weights, %d biases, and %d, %d and %d "+
			"numbers", n, len(c.Tensors(1)), len(c.Tensors(2)), len(c.Ints(3)), len(c.Ints(4)), len(c.Ints(5)))
	}
}

// catArgs are the arguments of convolution i.
func catArgs(c *Ctx, i int) arguments {
	return arguments{stride: c.Ints(3)[2*i:][:2], pad: c.Ints(4)[2*i:][:2], dil: c.Ints(5)[2*i:][:2],
		outPad: []int{0, 0}, groups: 1}
}

// fitsCat reports that the kernels write into the joined result, and gives its shape: convolutions of one of the types
// that have kernels, with results that agree but for the channels.
func fitsCat(c *Ctx) (shape []int, ok bool) {
	checkCat(c)
	op.CheckActivation(c, 8)
	dt := c.Tensors(0)[0].DType()
	if dt != tensor.Float32 && dt != tensor.Float64 {
		return nil, false
	}
	for i, x := range c.Tensors(0) {
		w := c.Tensors(1)[i]
		if x.DType() != dt || w.Dim() != 4 {
			return nil, false
		}
		sh, ok := fits(x, w, c.Tensors(2)[i], catArgs(c, i))
		switch {
		case !ok || i > 0 && (sh[0] != shape[0] || sh[2] != shape[2] || sh[3] != shape[3]):
			return nil, false
		case i == 0:
			shape = sh
		default:
			shape[1] += sh[1]
		}
	}
	return shape, true
}

func runCat[E float32 | float64](c *Ctx) {
	out, at := c.Out(0), 0
	all := out.Size(1)
	tensor.IntoFormat(out, tensor.ChannelsLast, func(d []E) {
		for i, x := range c.Tensors(0) {
			w := c.Tensors(1)[i]
			sh := append([]int{}, out.Shape()...)
			sh[1] = w.Size(0)
			ep := epilogue[E](c.Float(6), c.Float(7), w)
			ep.Bias, ep.Pitch = dense[E](c.Tensors(2)[i]), all
			ep.Act, ep.Winograd = op.Activations[c.Str(8)], c.Bool(9)
			cpuconv.Forward(geometryOf(x.Shape(), sh, w.Shape(), catArgs(c, i)).shape(),
				cpuconv.Image[E]{Data: d[at:], Last: true}, imageOf[E](x), weightsOf[E](w), &ep)
			at += sh[1]
		}
	})
}

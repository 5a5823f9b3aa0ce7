package conv

import "github.com/gotorch-dev/torch/tensor"

const tbcDoc = "is a convolution over time of inputs [time, batch, in] by a weight [width, in, out] with a bias " +
	"[out], and pad zeros at both ends; the result is [time + 2·pad - width + 1, batch, out].\n" +
	"https://pytorch.org/docs/stable/generated/torch.nn.functional.conv_tbc.html"

func init() {
	conv1d, tbc := tensor.Slot("aten::conv1d"), tensor.Slot("aten::conv_tbc")
	tensor.Register(tensor.Def{
		Schema: "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", Doc: tbcDoc, Out: true,
		Go: "ConvTBC",
		Body: func(c *Ctx) {
			x, w, b := c.T(0), c.T(1), c.T(2)
			switch {
			case x.Dim() != 3:
				c.Fail(tensor.ErrShape, "Input must have 3 dims: time, batch, in_channel")
			case w.Dim() != 3:
				c.Fail(tensor.ErrShape, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
			case b.Dim() != 1:
				c.Fail(tensor.ErrShape, "Bias must be 1-D")
			case x.Size(2) != w.Size(1):
				c.Fail(tensor.ErrShape, "Input dim 2 (input channels) is not == dim 1 in the weight tensor")
			case b.Size(0) != w.Size(2):
				c.Fail(tensor.ErrShape, "Bias size must equal dim 2 in the weight tensor (output channels).")
			}
			y := call(conv1d, x.Permute([]int{1, 2, 0}), w.Permute([]int{2, 1, 0}), b, []int{1}, []int{c.Int(3)},
				[]int{1}, 1)[0]
			c.Return(y.Permute([]int{2, 0, 1}).Contiguous())
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::conv_tbc(Tensor input, Tensor weight, Tensor bias, int pad=0) -> Tensor", Doc: tbcDoc,
		Go:   "ConvTBC",
		Body: func(c *Ctx) { c.Return(call(tbc, c.T(0), c.T(1), c.T(2), c.Int(3))[0]) },
	})
}

package pool

import "github.com/gotorch-dev/torch/tensor"

// Pools under the names of oneDNN.
func init() {
	const doc = "under the name of PyTorch's kernel library for CPUs, which takes tensors in its own memory format " +
		"alone there."
	for _, d := range []tensor.Def{
		{Schema: "mkldnn_max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
			Doc: "is max_pool2d " + doc, Out: true,
			Body: vendorBody("aten::max_pool2d")},
		{Schema: "mkldnn_max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
			Doc: "is max_pool3d " + doc, Out: true,
			Body: vendorBody("aten::max_pool3d")},
		{Schema: "mkldnn_adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor",
			Doc: "is adaptive_avg_pool2d " + doc, Out: true,
			Body: vendorBody("aten::adaptive_avg_pool2d")},
	} {
		tensor.Register(d)
	}
}

// vendorBody calls an operator with the same arguments.
func vendorBody(name string) func(c *Ctx) {
	op := tensor.Slot(name)
	return func(c *Ctx) {
		r := tensor.NewCall(op, c.NumArgs())
		for i := range c.NumArgs() {
			*r.Arg(i) = c.Value(i)
		}
		c.Return(r.Do1())
	}
}

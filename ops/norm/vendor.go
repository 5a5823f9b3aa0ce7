package norm

import "github.com/gotorch-dev/torch/tensor"

// Batch norm under the names of the vendors' libraries, for programs that were made on a GPU.
func init() {
	const doc = "is native_batch_norm under the name of a library for GPUs. PyTorch refuses it without that library; " +
		"here programs that were made on a GPU run."
	tensor.Register(tensor.Def{
		Schema: "cudnn_batch_norm(Tensor input, Tensor weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float exponential_average_factor, float epsilon) -> (Tensor, Tensor, Tensor, Tensor)",
		Doc:    doc + " The fourth result, what cuDNN keeps for the backward pass, is empty.",
		Out:    true,
		Body: func(c *Ctx) {
			r := vendorBatch(c)
			c.Return(append(r, c.T(0).NewEmpty([]int{0}, tensor.NewEmptyOptions{DType: tensor.Uint8}))...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "miopen_batch_norm(Tensor input, Tensor weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float exponential_average_factor, float epsilon) -> (Tensor, Tensor, Tensor)",
		Doc:    doc, Out: true, Body: func(c *Ctx) { c.Return(vendorBatch(c)...) },
	})
}

func vendorBatch(c *Ctx) []*T {
	return call(opBatch, c.T(0), c.T(1), c.T(2), c.T(3), c.T(4), c.Bool(5), c.Float(6), c.Float(7))
}

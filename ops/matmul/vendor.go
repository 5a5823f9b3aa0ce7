package matmul

import "github.com/gotorch-dev/torch/tensor"

func init() {
	tensor.Register(tensor.Def{
		Schema: "mkldnn_linear_backward_weights(Tensor grad_output, Tensor input, Tensor weight, bool bias_defined) -> (Tensor, Tensor)",
		Doc: "are the gradients of a linear layer's weight [out, in] and bias [out], from those of its results " +
			"[..., out] and its input [..., in], under the name of PyTorch's kernel library for CPUs, which takes " +
			"tensors in its own memory format alone there. Without bias_defined the second is empty.",
		Out: true,
		Body: func(c *Ctx) {
			g, x := c.T(0), c.T(1)
			if g.Dim() == 0 || x.Dim() == 0 || c.T(2).Dim() != 2 || g.Size(-1) != c.T(2).Size(0) ||
				x.Size(-1) != c.T(2).Size(1) {
				c.Fail(tensor.ErrShape, "expected gradients [..., out] and an input [..., in] of a weight [out, in], "+
					"got %s, %s and %s", tensor.ShapeString(g.Shape()), tensor.ShapeString(x.Shape()),
					tensor.ShapeString(c.T(2).Shape()))
			}
			g, x = g.Reshape([]int{-1, g.Size(-1)}), x.Reshape([]int{-1, x.Size(-1)})
			bias := g.NewEmpty([]int{0})
			if c.Bool(3) {
				bias = g.SumDim([]int{0})
			}
			c.Return(g.T().MM(x), bias)
		},
	})
}

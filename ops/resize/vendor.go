package resize

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// Grids under the names of cuDNN, for programs that were made on a GPU.
func init() {
	const refused = " PyTorch refuses it without that library; here programs that were made on a GPU run."
	tensor.Register(tensor.Def{
		Schema: "cudnn_grid_sampler(Tensor self, Tensor grid) -> Tensor output",
		Doc: "is grid_sampler under the name of cuDNN: bilinear, with zeros around the image self [n, c, H, W] and the " +
			"corners of the grid [n, h, w, 2] at the centres of its corner pixels." + refused,
		Body: func(c *Ctx) {
			c.Return(op.Call("aten::grid_sampler", c.T(0), c.T(1), 0, 0, true)[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "cudnn_affine_grid_generator(Tensor theta, int N, int C, int H, int W) -> Tensor grid",
		Doc: "is affine_grid_generator under the name of cuDNN: a grid [N, H, W, 2] of theta [N, 2, 3], with its " +
			"corners at the centres of the corner pixels." + refused,
		Body: func(c *Ctx) {
			c.Return(op.Call("aten::affine_grid_generator", c.T(0),
				[]int{c.Int(1), c.Int(2), c.Int(3), c.Int(4)}, true)[0])
		},
	})
}

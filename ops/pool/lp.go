package pool

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// lpBody is torch.nn.functional.lp_poolNd, composed as there from an average so that results round alike.
func lpBody(nd int, avg, pool *tensor.Op) func(c *Ctx) {
	return func(c *Ctx) {
		x, p := c.T(0), c.Float(1)
		k := list(c, "kernel_size", c.Ints(2), nil, nd)
		stride := c.Ints(3)
		if stride == nil {
			stride = []int{}
		}
		if p == 0 {
			c.Fail(tensor.ErrValue, "norm_type must be a non-zero value, but got %v", p)
		}
		if math.IsInf(p, 0) {
			x = x.Abs()
			if p < 0 {
				x = x.Neg()
			}
			y := call(pool, x, k, stride, []int{0}, []int{1}, c.Bool(4))[0]
			if p < 0 {
				y = y.Neg()
			}
			c.Return(y)
			return
		}
		args := []any{x.PowScalar(p), k, stride, []int{0}, c.Bool(4), true}
		if nd > 1 {
			args = append(args, tensor.Value{}) // no divisor_override
		}
		y := call(avg, args...)[0]
		n := 1
		for _, s := range k {
			n *= s
		}
		// Python's form of sum^(1/p): the sign of an odd power stays, and a window of zeros has gradient 0.
		c.Return(call(opMul, y.Sign().Mul(y.Abs().ReLU()), n)[0].PowScalar(1 / p))
	}
}

var opMul = tensor.Slot("aten::mul.Tensor") // which Python calls also with a number

func init() {
	for _, d := range []tensor.Def{
		{Schema: "F::lp_pool1d(Tensor input, float norm_type, int[1] kernel_size, int[1]? stride=None, bool ceil_mode=False) -> Tensor", Doc: "is the p-norm of each window, (Σ x^p)^(1/p) for p = norm_type, and the largest (smallest) " +
			"absolute value where p is (minus) infinity; norm_type 0 is an error. Shapes: input [n, c, L] or " +
			"[c, L]; each spatial size becomes (size - k)/stride + 1, rounded down, or up with ceil_mode. " +
			"The stride is kernel_size if it is not given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool1d.html",
			Body: lpBody(1, opsAvg[1], opsMax[1])},
		{Schema: "F::lp_pool2d(Tensor input, float norm_type, int[2] kernel_size, int[2]? stride=None, bool ceil_mode=False) -> Tensor", Doc: "is the p-norm of each window, (Σ x^p)^(1/p) for p = norm_type, and the largest (smallest) " +
			"absolute value where p is (minus) infinity; norm_type 0 is an error. Shapes: input [n, c, H, W] " +
			"or [c, H, W]; each spatial size becomes (size - k)/stride + 1, rounded down, or up with " +
			"ceil_mode. The stride is kernel_size if it is not given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool2d.html",
			Body: lpBody(2, opsAvg[2], opsMax[2])},
		{Schema: "F::lp_pool3d(Tensor input, float norm_type, int[3] kernel_size, int[3]? stride=None, bool ceil_mode=False) -> Tensor", Doc: "is the p-norm of each window, (Σ x^p)^(1/p) for p = norm_type, and the largest (smallest) " +
			"absolute value where p is (minus) infinity; norm_type 0 is an error. Shapes: input [n, c, D, H, " +
			"W] or [c, D, H, W]; each spatial size becomes (size - k)/stride + 1, rounded down, or up with " +
			"ceil_mode. The stride is kernel_size if it is not given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool3d.html",
			Body: lpBody(3, opsAvg[3], opsMax[3])},
	} {
		tensor.Register(d)
	}
}

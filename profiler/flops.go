package profiler

import "github.com/gotorch-dev/torch/tensor"

// counted are the operators whose floating-point operations follow from shapes. PyTorch's profiler counts the same
// ones but linear, which it composes of others, attention, and convolutions that are not of images.
var counted = map[string]func(c *tensor.Ctx) int64{
	"aten::mm":      func(c *tensor.Ctx) int64 { return product(c, 0, 1) },
	"aten::bmm":     func(c *tensor.Ctx) int64 { return product(c, 0, 1) },
	"aten::addmm":   func(c *tensor.Ctx) int64 { return product(c, 1, 2) },
	"aten::baddbmm": func(c *tensor.Ctx) int64 { return product(c, 1, 2) },
	"aten::mv":      func(c *tensor.Ctx) int64 { return 2 * elements(c, 0) },
	"aten::linear": func(c *tensor.Ctx) int64 {
		if w := c.Shape(1); len(w) == 2 {
			return 2 * elements(c, 0) * int64(w[0])
		}
		return 2 * elements(c, 0)
	},
	"aten::conv1d":      convolution,
	"aten::conv2d":      convolution,
	"aten::conv3d":      convolution,
	"aten::convolution": convolution,
	"aten::_scaled_dot_product_flash_attention_for_cpu": func(c *tensor.Ctx) int64 {
		q, k, v := c.T(0), c.T(1), c.T(2)
		if q.Dim() < 2 || k.Dim() < 2 || v.Dim() < 2 || q.Size(-1) == 0 {
			return 0
		}
		rows := int64(q.Numel() / q.Size(-1))
		return 2 * rows * int64(k.Size(-2)) * int64(q.Size(-1)+v.Size(-1))
	},
	"aten::add.Tensor": broadcast,
	"aten::mul.Tensor": broadcast,
}

// flops are the floating-point operations of a call, 0 where they are not known. Those of an operator that is composed
// of others are theirs.
func flops(c *tensor.Ctx) int64 {
	if c.Op().Body != nil {
		return 0
	}
	if f := counted[c.Op().FullName()]; f != nil {
		return f(c)
	}
	return 0
}

func elements(c *tensor.Ctx, i int) int64 { return int64(tensor.Size(c.Shape(i)).Numel()) }

// product counts those of matrix products: [*, m, k] and [*, k, n].
func product(c *tensor.Ctx, i, j int) int64 {
	b := c.Shape(j)
	if len(b) < 2 {
		return 0
	}
	return 2 * elements(c, i) * int64(b[len(b)-1])
}

// broadcast counts one for each element of the larger argument, as PyTorch does.
func broadcast(c *tensor.Ctx) int64 {
	n := int64(1)
	for i := range 2 {
		if c.Value(i).K == tensor.KTensor {
			n = max(n, elements(c, i))
		}
	}
	return n
}

// convolution counts those of a convolution: two for each element of the result and each weight of its channel.
func convolution(c *tensor.Ctx) int64 {
	x, w := c.Shape(0), c.Shape(1)
	if len(w) < 3 || len(x) < len(w)-1 {
		return 0
	}
	batch := int64(1)
	if len(x) == len(w) {
		batch = int64(x[0])
	}
	if c.NumArgs() > 7 && c.Bool(6) { // transposed: each element of the input meets the weights of its channel
		return 2 * elements(c, 0) * int64(tensor.Size(w[1:]).Numel())
	}
	x = x[len(x)-len(w)+2:]
	stride, padding, dilation := c.Ints(3), c.Ints(4), c.Ints(5)
	at := func(l []int, i, def int) int64 {
		switch {
		case len(l) == 0:
			return int64(def)
		case len(l) == 1:
			return int64(l[0])
		}
		return int64(l[i])
	}
	n := batch * int64(tensor.Size(w).Numel())
	for i, size := range x {
		s := at(stride, i, 1)
		if s < 1 {
			return 0
		}
		out := (int64(size)+2*at(padding, i, 0)-at(dilation, i, 1)*int64(w[2+i]-1)-1)/s + 1
		n *= max(out, 0)
	}
	return 2 * n
}

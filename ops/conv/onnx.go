package conv

import (
	"slices"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
)

func init() {
	for n, ops := range [][2]string{1: {"aten::conv1d", "aten::conv_transpose1d"},
		2: {"aten::conv2d", "aten::conv_transpose2d.input"}, 3: {"aten::conv3d", "aten::conv_transpose3d.input"}} {
		if n == 0 {
			continue
		}
		// input, weight, bias, stride, padding, dilation, groups
		f := func(c *ox.Call) *ox.Value {
			if c.Arg(4).X == "same" || c.Arg(4).X == "valid" {
				return convSame(c, n)
			}
			return conv(c, n, c.IntsOf(4, n, 0), c.IntsOf(5, n, 1), c.Int(6))
		}
		ox.Register(ox.One(f), ops[0], ops[0]+".padding")
		// input, weight, bias, stride, padding, output_padding, groups, dilation
		ox.Register(ox.One(func(c *ox.Call) *ox.Value {
			return convTranspose(c, n, c.IntsOf(5, n, 0), c.IntsOf(7, n, 1), c.Int(6))
		}), ops[1])
	}
	// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		n := c.Rank(c.T(1)) - 2
		if c.Bool(6) {
			return convTranspose(c, n, c.IntsOf(7, n, 0), c.IntsOf(5, n, 1), c.Int(8))
		}
		return conv(c, n, c.IntsOf(4, n, 0), c.IntsOf(5, n, 1), c.Int(8))
	}), "aten::convolution", "aten::_convolution", "aten::_convolution.deprecated")
}

// withBatch runs f on an input with a batch, which is added where there is none.
func withBatch(c *ox.Call, n int, f func(x *ox.Value) *ox.Value) *ox.Value {
	x := c.T(0)
	if c.Rank(x) == n+2 {
		return f(x)
	}
	return c.Squeeze(f(c.Unsqueeze(x, 0)), 0)
}

// kernelOf is the size of the kernel, which ONNX wants as an attribute where it is known.
func kernelOf(c *ox.Call, n int) any {
	w := c.T(1)
	if !w.Static() || len(w.Shape) != n+2 {
		return nil
	}
	return w.Shape[2:]
}

// conv pads by as much in front as behind.
func conv(c *ox.Call, n int, padding, dilation []int, groups int) *ox.Value {
	return withBatch(c, n, func(x *ox.Value) *ox.Value {
		return c.Node("Conv", ox.A{"kernel_shape": kernelOf(c, n), "strides": c.IntsOf(3, n, 1),
			"pads": slices.Concat(padding, padding), "dilations": dilation, "group": groups}, x, c.T(1), c.T(2))
	})
}

// convSame has padding by a word. "same" pads more behind than in front where the sum is odd.
func convSame(c *ox.Call, n int) *ox.Value {
	dilation := c.IntsOf(5, n, 1)
	front, behind := make([]int, n), make([]int, n)
	if c.Str(4) == "same" {
		k, ok := kernelOf(c, n).([]int)
		if !ok {
			c.Fail("padding is 'same', and the size of the kernel is not known")
		}
		for i := range front {
			total := dilation[i] * (k[i] - 1)
			front[i] = total / 2
			behind[i] = total - total/2
		}
	}
	return withBatch(c, n, func(x *ox.Value) *ox.Value {
		return c.Node("Conv", ox.A{"kernel_shape": kernelOf(c, n), "strides": c.IntsOf(3, n, 1),
			"pads": slices.Concat(front, behind), "dilations": dilation, "group": c.Int(6)}, x, c.T(1), c.T(2))
	})
}

func convTranspose(c *ox.Call, n int, output, dilation []int, groups int) *ox.Value {
	padding := c.IntsOf(4, n, 0)
	a := ox.A{"kernel_shape": kernelOf(c, n), "strides": c.IntsOf(3, n, 1), "pads": slices.Concat(padding, padding),
		"dilations": dilation, "group": groups}
	if slices.Max(output) > 0 {
		a["output_padding"] = output
	}
	return withBatch(c, n, func(x *ox.Value) *ox.Value {
		return c.Node("ConvTranspose", a, x, c.T(1), c.T(2))
	})
}

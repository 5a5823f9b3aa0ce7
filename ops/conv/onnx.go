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
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { return convSame(c, c.Rank(c.T(1))-2) }), "aten::_convolution_mode")
	// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		n := c.Rank(c.T(1)) - 2
		if c.Bool(6) {
			return convTranspose(c, n, c.IntsOf(7, n, 0), c.IntsOf(5, n, 1), c.Int(8))
		}
		return conv(c, n, c.IntsOf(4, n, 0), c.IntsOf(5, n, 1), c.Int(8))
	}), "aten::convolution", "aten::_convolution", "aten::_convolution.deprecated")
}

func init() {
	// self, kernel_size, dilation, padding, stride: the windows of an image as columns
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		x := c.T(0)
		if c.Rank(x) == 3 {
			return c.Squeeze(onnxColumns(c, c.Unsqueeze(x, 0)), 0)
		}
		return onnxColumns(c, x)
	}), "aten::im2col")
	// self, output_size, kernel_size, dilation, padding, stride
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		if c.Opset < 18 {
			c.Fail("Col2Im exists from opset 18 on")
		}
		x := c.T(0)
		padding := c.IntsOf(4, 2, 0)
		a := ox.A{"dilations": c.IntsOf(3, 2, 1), "pads": slices.Concat(padding, padding), "strides": c.IntsOf(5, 2, 1)}
		single := c.Rank(x) == 2
		if single {
			x = c.Unsqueeze(x, 0)
		}
		y := c.Node("Col2Im", a, x, c.IntsValue(1), c.IntsValue(2))
		if single {
			y = c.Squeeze(y, 0)
		}
		return y
	}), "aten::col2im")
}

// onnxColumns takes one slice for each place in the window.
func onnxColumns(c *ox.Call, x *ox.Value) *ox.Value {
	kernel, dilation := c.IntsOf(1, 2, 1), c.IntsOf(2, 2, 1)
	padding, stride := c.IntsOf(3, 2, 0), c.IntsOf(4, 2, 1)
	h, ok := c.SizeOf(x, 2).(int)
	w, ok2 := c.SizeOf(x, 3).(int)
	channels, ok3 := c.SizeOf(x, 1).(int)
	if !ok || !ok2 || !ok3 {
		c.Fail("the windows of an image of a dynamic size")
	}
	dt := x.DType
	padded := c.Node("Pad", nil, x, c.I64(0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]),
		c.Scalar(0, dt)).Typed(dt)
	rows := (h+2*padding[0]-dilation[0]*(kernel[0]-1)-1)/stride[0] + 1
	cols := (w+2*padding[1]-dilation[1]*(kernel[1]-1)-1)/stride[1] + 1
	var parts []*ox.Value
	for i := range kernel[0] {
		for j := range kernel[1] {
			from, to := []int{i * dilation[0], j * dilation[1]}, []int{}
			to = append(to, from[0]+(rows-1)*stride[0]+1, from[1]+(cols-1)*stride[1]+1)
			p := c.Node("Slice", nil, padded, c.I64(from...), c.I64(to...), c.I64(2, 3), c.I64(stride...)).Typed(dt)
			parts = append(parts, c.Node("Reshape", nil, p, c.I64(0, channels, 1, rows*cols)).Typed(dt))
		}
	}
	y := c.Concat(2, parts...).Typed(dt)
	return c.Node("Reshape", nil, y, c.I64(0, channels*kernel[0]*kernel[1], rows*cols)).Typed(dt)
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

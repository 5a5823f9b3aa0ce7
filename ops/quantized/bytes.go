package quantized

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/internal/packed"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// This file holds operators that programs get in the place of floating-point ones between a dequantization and a
// quantization: package graph puts them there. Tensors are plain ones of uint8 or int8; scales and zero points are
// arguments. The bodies are the floating-point program, from which the kernels differ by no more than one step.

const (
	// what a result is made of: clamp(round(y/out_scale) + out_zero_point, out_min, out_max)
	bytesOut = "float out_scale, int out_zero_point, int out_min, int out_max, ScalarType dtype"
	bytesW   = "Tensor input, float scale, int zero_point, Tensor weight, Tensor weight_scale, " +
		"Tensor? weight_zero_point, Tensor? bias, "
	bytesDoc = " The input stands for (input - zero_point)·scale; weight_scale and weight_zero_point have one element, " +
		"or one for each output. The result is quantized to dtype; float32 leaves it as it is, or with relu without " +
		"what is below 0."
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::bytes_conv(" + bytesW + "int[] stride, int[] padding, int[] dilation, int groups, " +
			bytesOut +
			", bool relu=False) -> Tensor",
		Doc: "is a convolution of bytes, for inference." + bytesDoc,
		Go:  "-", NoGrad: decomposedNoGrad,
		Fuses: func(c *Ctx) bool { return bytesConvShape(c) != nil },
		Infer: func(c *Ctx) {
			shape := bytesConvShape(c)
			c.AllocStrided(0, shape, innermost(shape), c.DType(15))
		},
		CPU: func(c *Ctx) {
			f, pads := bytesFactor(c, c.Ints(9)), c.Ints(8)
			bytesResult(c, 11, func(r *Requantized) *T {
				return f.Convolve(c.T(0), c.Int(2), c.Ints(7), append(slices.Clone(pads), pads...), r)
			})
		},
		Body: func(c *Ctx) {
			x, w, b := bytesOperands(c)
			conv := [...]string{"aten::conv1d", "aten::conv2d", "aten::conv3d"}[min(max(w.Dim()-3, 0), 2)]
			c.Return(bytesRounded(c, 11, call1(conv, x, w, b, c.Ints(7), c.Ints(8), c.Ints(9), c.Int(10)), c.Bool(16)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::bytes_linear(" + bytesW + bytesOut + ", bool relu=False) -> Tensor",
		Doc:    "is a linear layer of bytes, for inference." + bytesDoc,
		Go:     "-", NoGrad: decomposedNoGrad,
		Fuses: func(c *Ctx) bool {
			x, w := c.T(0), c.T(3)
			return bytesFits(c) && w.Dim() == 2 && x.Dim() > 0 && x.Size(-1) == w.Size(1)
		},
		Infer: func(c *Ctx) { c.Alloc(0, outShape(c.T(0), c.T(3).Size(0)), c.DType(11)) },
		CPU: func(c *Ctx) {
			f := bytesFactor(c, nil)
			bytesResult(c, 7, func(r *Requantized) *T { return f.Multiply(c.T(0), c.Int(2), r) })
		},
		Body: func(c *Ctx) {
			x, w, b := bytesOperands(c)
			c.Return(bytesRounded(c, 7, call1("aten::linear", x, w, b), c.Bool(12)))
		},
	})
	for _, o := range []struct {
		name string
		f    func(a, b *T) *T
		u8   func(dst []uint8, a, b quant.Operand[uint8], r quant.Rounding)
		i8   func(dst []int8, a, b quant.Operand[int8], r quant.Rounding)
	}{{"add", func(a, b *T) *T { return a.Add(b) }, quant.Add[uint8], quant.Add[int8]},
		{"mul", func(a, b *T) *T { return a.Mul(b) }, quant.Mul[uint8], quant.Mul[int8]}} {
		tensor.Register(tensor.Def{
			Schema: "gotorch::bytes_" + o.name +
				"(Tensor a, float a_scale, int a_zero_point, Tensor b, float b_scale, " +
				"int b_zero_point, " + bytesOut + ") -> Tensor",
			Doc: "is " + o.name + " of the numbers that bytes stand for, quantized, for inference.",
			Go:  "-", NoGrad: decomposedNoGrad,
			Fuses: func(c *Ctx) bool {
				a, b := c.T(0), c.T(3)
				return isBytes(a) && a.DType() == b.DType() && a.DType() == c.DType(10) && a.IsDense() &&
					tensor.SameShape(a.Shape(), b.Shape()) && tensor.SameShape(a.Strides(), b.Strides())
			},
			Infer: func(c *Ctx) { c.AllocStrided(0, c.T(0).Shape(), c.T(0).Strides(), c.DType(10)) },
			CPU: func(c *Ctx) {
				d, a, b := c.Out(0), c.T(0), c.T(3)
				scale, zero, relu := float32(c.Float(6)), c.Int(7), c.Int(8) == c.Int(7)
				if d.DType() == tensor.Int8 {
					o.i8(tensor.Memory[int8](d),
						quant.Operand[int8]{Data: tensor.Memory[int8](a), Scale: float32(c.Float(1)),
							Zero: c.Int(2)},
						quant.Operand[int8]{Data: tensor.Memory[int8](b), Scale: float32(c.Float(4)),
							Zero: c.Int(5)}, quant.RoundingOf[int8](scale, zero, relu))
				} else {
					o.u8(tensor.Memory[uint8](d),
						quant.Operand[uint8]{Data: tensor.Memory[uint8](a), Scale: float32(c.Float(1)),
							Zero: c.Int(2)},
						quant.Operand[uint8]{Data: tensor.Memory[uint8](b), Scale: float32(c.Float(4)),
							Zero: c.Int(5)}, quant.RoundingOf[uint8](scale, zero, relu))
				}
				limitBytes(c, d, 6)
			},
			Body: func(c *Ctx) {
				c.Return(bytesRounded(c, 6, o.f(bytesNumbers(c, 0), bytesNumbers(c, 3)), false))
			},
		})
	}
	tensor.Register(tensor.Def{
		Schema: "gotorch::bytes_map(Tensor input, Tensor table) -> Tensor",
		Doc:    "takes the element of a table of 256 for each byte, a negative byte counted from 256 on.",
		Go:     "-", NoGrad: decomposedNoGrad,
		Fuses: func(c *Ctx) bool {
			x, t := c.T(0), c.T(1)
			return isBytes(x) && isBytes(t) && t.Numel() == 256 && x.IsDense()
		},
		Infer: func(c *Ctx) { c.AllocStrided(0, c.T(0).Shape(), c.T(0).Strides(), c.T(1).DType()) },
		CPU: func(c *Ctx) {
			dst, src, table := bytesOf(c.Out(0)), bytesOf(c.T(0)), (*[256]uint8)(bytesOf(tensor.Dense(c.T(1))))
			par.For(len(src), 1<<14, func(lo, hi int) {
				d := dst[lo:hi]
				for i, b := range src[lo:hi] {
					d[i] = table[b]
				}
			})
		},
		Body: func(c *Ctx) {
			x, t := c.T(0), c.T(1)
			c.Return(t.IndexSelect(0, call1("aten::remainder.Scalar", x.ToDType(tensor.Int64), 256).Reshape([]int{-1})).
				Reshape(x.Shape()))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::bytes_max_pool2d(Tensor input, int[2] kernel_size, int[2] stride=[], int[2] padding=0, " +
			"int[2] dilation=1, bool ceil_mode=False) -> Tensor",
		Doc: "is max_pool2d of bytes with their channels innermost, whose largest stands for the largest number.",
		Go:  "-", NoGrad: decomposedNoGrad,
		Fuses: func(c *Ctx) bool {
			x := c.T(0)
			return isBytes(x) && x.Dim() == 4 && channelsInside(x) && poolWindows(c, x) != nil
		},
		Infer: func(c *Ctx) {
			x := c.T(0)
			shape := append([]int{x.Size(0), x.Size(1)}, poolWindows(c, x).out[:]...)
			c.AllocStrided(0, shape, innermost(shape), x.DType())
		},
		CPU: func(c *Ctx) { poolInto(c.Out(0), poolWindows(c, c.T(0)), c.T(0)) },
		Body: func(c *Ctx) {
			c.Return(call1("aten::max_pool2d", c.T(0), c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4), c.Bool(5)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::bytes_avg_pool2d(Tensor input, float scale, int zero_point, int[] kernel_size, int[] stride, " +
			"int[] padding, bool count_include_pad, " + bytesOut + ") -> Tensor",
		Doc: "is avg_pool2d of the numbers that bytes stand for, quantized, for inference; without a kernel size it is " +
			"the mean over the last two dimensions, which stay with size 1.",
		Go: "-", NoGrad: decomposedNoGrad,
		Fuses: func(c *Ctx) bool {
			x, dt := c.T(0), c.DType(11)
			return isBytes(x) && (dt == tensor.Uint8 || dt == tensor.Int8) && channelsInside(x) &&
				averageWindows(c, x) != nil
		},
		Infer: func(c *Ctx) {
			x := c.T(0)
			shape := append([]int{x.Size(0), x.Size(1)}, averageWindows(c, x).out[:]...)
			c.AllocStrided(0, shape, innermost(shape), c.DType(11))
		},
		CPU: averageBytes,
		Body: func(c *Ctx) {
			y := bytesNumbers(c, 0)
			if len(c.Ints(3)) == 0 {
				y = y.MeanDim([]int{-2, -1}, tensor.MeanDimOptions{KeepDim: true})
			} else {
				y = call1("aten::avg_pool2d", y, c.Ints(3), c.Ints(4), c.Ints(5), false, c.Bool(6))
			}
			c.Return(bytesRounded(c, 7, y, false))
		},
	})
}

// averageWindows are the windows of bytes_avg_pool2d; nil where its kernel does not take them.
func averageWindows(c *Ctx, x *T) *windows {
	if len(c.Ints(3)) == 0 {
		return &windows{kernel: [2]int{x.Size(2), x.Size(3)}, stride: [2]int{1, 1}, out: [2]int{1, 1}}
	}
	return windowsOf(x, c.Ints(3), c.Ints(4), c.Ints(5), []int{1, 1})
}

// averageBytes is the kernel of bytes_avg_pool2d. Sums are of bytes without a sign: those with one are moved by 128.
func averageBytes(c *Ctx) {
	d, x := c.Out(0), c.T(0)
	w := averageWindows(c, x)
	src, zero := bytesOf(x), c.Int(2)
	if x.DType() == tensor.Int8 {
		moved := make([]uint8, len(src))
		par.For(len(src), 1<<14, func(lo, hi int) {
			for i, b := range src[lo:hi] {
				moved[lo+i] = b ^ 0x80
			}
		})
		src, zero = moved, zero+128
	}
	factor, pads := float32(c.Float(1))/float32(c.Float(7)), c.Bool(6)
	outZero, least, most := float64(c.Int(8)), float64(c.Int(9)), float64(c.Int(10))
	quant.AveragePool(w.geometry(x), bytesOf(d), src, func(sum, count int) uint8 {
		n := count
		if pads {
			n = w.kernel[0] * w.kernel[1]
		}
		q := math.RoundToEven(float64(float32(sum-count*zero)/float32(n)*factor)) + outZero
		return uint8(int(min(max(q, least), most)))
	})
}

// bytesOf is the memory of bytes, whatever their sign.
func bytesOf(t *T) []uint8 {
	if t.DType() == tensor.Int8 {
		return op.Raw[uint8](tensor.Alias(t, []int{t.Numel()}, []int{1}, t.StorageOffset()))
	}
	return tensor.Memory[uint8](t)
}

// bytesNumbers is what argument i, bytes, stands for by the scale and the zero point behind it.
func bytesNumbers(c *Ctx, i int) *T {
	return c.T(i).ToDType(tensor.Float32).SubScalar(c.Int(i + 2)).MulScalar(c.Float(i + 1))
}

// bytesOperands are input, weight and bias of a layer as floats.
func bytesOperands(c *Ctx) (x, w, b *T) {
	w = c.T(3).ToDType(tensor.Float32)
	column := func(t *T) *T {
		shape := slices.Repeat([]int{1}, max(w.Dim(), 1))
		shape[0] = -1
		return t.ToDType(tensor.Float32).Reshape(shape)
	}
	if z := c.T(5); z != nil {
		w = w.Sub(column(z))
	}
	return bytesNumbers(c, 0), w.Mul(column(c.T(4))), c.T(6)
}

// bytesRounded quantizes floats by the arguments from i on.
func bytesRounded(c *Ctx, i int, y *T, relu bool) *T {
	if relu {
		y = y.ReLU()
	}
	dt := c.DType(i + 4)
	if dt == tensor.Float32 {
		return y
	}
	return y.DivScalar(c.Float(i)).Round().AddScalar(c.Int(i + 1)).
		ClampScalar(tensor.ClampScalarOptions{Min: c.Int(i + 2), Max: c.Int(i + 3)}).ToDType(dt)
}

// bytesResult has f make the result as the arguments from i on say.
func bytesResult(c *Ctx, i int, f func(r *Requantized) *T) {
	d := c.Out(0)
	r := &Requantized{InScale: float32(c.Float(1)), OutScale: float32(c.Float(i)), Zero: c.Int(i + 1), DType: d.DType(),
		into: d, ReLU: c.Bool(i + 5)}
	if d.DType() != tensor.Float32 {
		r.ReLU = r.ReLU || c.Int(i+2) == r.Zero
	}
	if f(r) == nil {
		c.Fail(tensor.ErrShape, "no kernel takes an input of shape %s and a weight of shape %s",
			tensor.ShapeString(c.T(0).Shape()), tensor.ShapeString(c.T(3).Shape()))
	}
	limitBytes(c, d, i)
}

// limitBytes limits bytes by the arguments from i on, where kernels do not do so: they know the limits of the type and
// the zero point as the lower one.
func limitBytes(c *Ctx, d *T, i int) {
	lo, hi := c.Int(i+2), c.Int(i+3)
	switch d.DType() {
	case tensor.Uint8:
		if lo > 0 && lo != c.Int(i+1) || hi < 255 {
			limitRun(tensor.Memory[uint8](d), uint8(lo), uint8(hi))
		}
	case tensor.Int8:
		if lo > -128 && lo != c.Int(i+1) || hi < 127 {
			limitRun(tensor.Memory[int8](d), int8(lo), int8(hi))
		}
	}
}

func limitRun[E uint8 | int8](x []E, lo, hi E) {
	par.For(len(x), 1<<14, func(from, to int) {
		for i, v := range x[from:to] {
			x[from+i] = min(max(v, lo), hi)
		}
	})
}

// bytesKey is what a packed weight depends on, beside the weight itself.
type bytesKey struct {
	scale, zero, bias *T
	groups            int
	dilation          [spatial]int
	dims              int
	offset, rows      int
}

// bytesFits reports that weight, scales, zero points and bias of a layer are such as kernels take.
func bytesFits(c *Ctx) bool {
	x, w := c.T(0), c.T(3)
	if !isBytes(x) || !isBytes(w) || x.Numel() == 0 || w.Numel() == 0 || w.Dim() < 2 {
		return false
	}
	for i := 4; i <= 6; i++ {
		t := c.T(i)
		if t != nil && (t.Dim() > 1 || t.Numel() != w.Size(0) && (i == 6 || t.Numel() != 1) ||
			i != 5 && t.DType() != tensor.Float32 || i == 5 && !t.DType().IsInt()) {
			return false
		}
	}
	return true
}

// bytesFactor is the packed weight of a layer, or with dilations of a convolution.
func bytesFactor(c *Ctx, dilation []int) *Factor {
	w := c.T(3)
	k := bytesKey{scale: c.T(4), zero: c.T(5), bias: c.T(6), dims: w.Dim(), offset: w.StorageOffset(), rows: w.Size(0)}
	if dilation != nil {
		k.groups, k.dilation = c.Int(10), three(dilation, 1)
	}
	return packed.For(w, k, true, func() *Factor {
		n := FactorNumbers{Scales: tensor.Data[float32](tensor.Dense(k.scale))}
		if k.zero != nil {
			n.Zeros = tensor.Data[int32](tensor.DenseAs(k.zero, tensor.Int32))
		}
		if k.bias != nil {
			n.FloatBias = tensor.Data[float32](tensor.Dense(k.bias))
		}
		if dilation == nil {
			return PackMatrix(w.Transpose(0, 1), n)
		}
		return PackKernel(w, k.groups, dilation, n)
	})
}

// bytesConvShape is the shape of a convolution's result; nil where the kernel does not take the arguments.
func bytesConvShape(c *Ctx) []int {
	x, w := c.T(0), c.T(3)
	stride, pad, dil, groups := c.Ints(7), c.Ints(8), c.Ints(9), c.Int(10)
	dims := w.Dim() - 2
	if dims < 1 || dims > spatial || !bytesFits(c) || x.Dim() != dims+2 || groups < 1 || w.Size(0)%groups != 0 ||
		x.Size(1) != w.Size(1)*groups || len(stride) != dims || len(pad) != dims || len(dil) != dims {
		return nil
	}
	shape, bytes := []int{x.Size(0), w.Size(0)}, float64(x.Size(1))
	for d := range dims {
		const most = 1 << 24
		if min(stride[d], dil[d]) < 1 || pad[d] < 0 || max(stride[d], dil[d], pad[d]) > most || w.Size(2+d) > most {
			return nil
		}
		reach := dil[d] * (w.Size(2+d) - 1)
		room := x.Size(2+d) + 2*pad[d] - reach - 1
		if room < 0 {
			return nil
		}
		bytes *= float64(max(room+reach+1, x.Size(2+d)))
		shape = append(shape, room/stride[d]+1)
	}
	if bytes >= 1<<32 {
		return nil
	}
	return shape
}

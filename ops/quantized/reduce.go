package quantized

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/tensor"
)

// channelsLast is x laid out with its channels innermost, if it has dimensions for that: the layout of the results of
// several kernels.
func channelsLast(x *T) *T {
	switch x.Dim() {
	case 4:
		return tensor.DenseIn(x, tensor.ChannelsLast, x.DType())
	case 5:
		return tensor.DenseIn(x, tensor.ChannelsLast3d, x.DType())
	}
	return x
}

// same calls the operator itself on the numbers that the first argument stands for.
func same(c *Ctx, x *T) *T {
	args := []any{x}
	for i := 1; i < len(c.Op().Sch.Params); i++ {
		args = append(args, c.Value(i))
	}
	return call1(c.Op().FullName(), args...)
}

func init() {
	for _, n := range []string{"mean", "mean.dim", "std", "std.dim", "std.correction",
		"upsample_nearest1d", "upsample_nearest2d",
		"upsample_nearest3d", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d",
		"upsample_bilinear2d", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d",
		"replication_pad2d", "replication_pad3d", "constant_pad_nd"} {
		tensor.RegisterQuantized("aten::"+n, likeInput(same))
	}
	for _, n := range []string{"_adaptive_avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool3d"} {
		tensor.RegisterQuantized("aten::"+n, averaged(nil))
	}
	for _, n := range []string{"_adaptive_avg_pool2d", "adaptive_avg_pool2d"} {
		tensor.RegisterQuantized("aten::"+n, func(c *Ctx) {
			if !globalAverage(c) {
				averaged(nil)(c)
			}
		})
	}
	tensor.RegisterQuantized("aten::avg_pool2d", averaged(func(c *Ctx, args []any) {
		if Engine() == quant.QNNPACK && c.T(0).DType() == tensor.QUInt8 && !c.Bool(4) {
			args[5] = true // QNNPACK counts padding whatever count_include_pad says
		}
	}))
	tensor.RegisterQuantized("aten::avg_pool3d", func(c *Ctx) {
		averaged(nil)(c)
		y := c.Out(0)
		c.SetOut(0, withInts(y, lastChannels(ints(y))))
	})
	tensor.RegisterQuantized("aten::zeros_like", func(c *Ctx) {
		c.Fail(tensor.ErrNotImpl, "Could not run 'aten::zero_' with arguments from the 'QuantizedCPU' backend.")
	})
	// The largest of integers that stand for numbers of one scale stands for the largest number.
	moves(1, "adaptive_max_pool2d")
	tensor.RegisterQuantized("aten::max_pool1d", func(c *Ctx) {
		refuseChannels(c)
		pool(maxPool1d)(c)
	})
	tensor.RegisterQuantized("aten::max_pool2d", func(c *Ctx) {
		t := refuseChannels(c)
		if r := maxPool(c, t); r != nil {
			c.SetOut(0, r)
			return
		}
		c.SetOut(0, withInts(t, onInts(c)[0]))
	})
	tensor.RegisterQuantized("aten::max_pool3d", func(c *Ctx) {
		if Engine() == quant.QNNPACK {
			c.Fail(tensor.ErrNotImpl, "QNNPACK backend doesn't support of quantized_max_pool3d")
		}
		t := refuseChannels(c)
		c.SetOut(0, withInts(t, onInts(c)[0]))
	})

	define("quantized::max_pool1d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode) -> "+
		"Tensor", "is max_pool1d.", pool(maxPool1d))
	define("quantized::max_pool2d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode) -> "+
		"Tensor", "is max_pool2d.", pool("aten::max_pool2d"))

	for _, dims := range []string{"", "1d", "2d", "3d"} {
		for _, relu := range []bool{false, true} {
			define("quantized::batch_norm"+dims+suffix(relu)+"(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, "+
				"Tensor var, "+
				"float eps, float output_scale, int output_zero_point) -> Tensor",
				"is batch_norm with given mean and variance.", batchNorm(dims, relu))
		}
	}
	define("quantized::layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps, "+
		"float output_scale, int output_zero_point) -> Tensor", "is layer_norm.", func(c *Ctx) {
		x, _ := each(c, 0)
		through(c, x, c.Float(5), c.Int(6), func(x *T) *T {
			return call1("aten::layer_norm", x, c.Ints(1), c.Value(2), c.Value(3), c.Float(4))
		})
	})
	define("quantized::group_norm(Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps, float "+
		"output_scale, "+
		"int output_zero_point) -> Tensor", "is group_norm.", func(c *Ctx) {
		x, _ := each(c, 0)
		through(c, x, c.Float(5), c.Int(6), func(x *T) *T {
			return call1("aten::group_norm", x, c.Int(1), c.Value(2), c.Value(3), c.Float(4))
		})
	})
	define("quantized::instance_norm(Tensor input, Tensor? weight, Tensor? bias, float eps, float output_scale, "+
		"int output_zero_point) -> Tensor", "is instance_norm.", func(c *Ctx) {
		x, _ := each(c, 0)
		through(c, x, c.Float(4), c.Int(5), func(x *T) *T {
			y := call1("aten::zeros_like", x) // the result has the memory format of the input
			tensor.CopyRaw(y, call1("aten::instance_norm", x, c.Value(1), c.Value(2), nil, nil, true, 0.0, c.Float(3),
				false))
			return y
		})
	})
}

// averaged is a kernel of averages: of the integers less their zero point, rounded. change may change the arguments.
func averaged(change func(c *Ctx, args []any)) func(c *Ctx) {
	return func(c *Ctx) {
		x, q := each(c, 0)
		args := []any{ints(x).ToDType(tensor.Float64).SubScalar(q.ZeroPoint)}
		for i := 1; i < len(c.Op().Sch.Params); i++ {
			args = append(args, c.Value(i))
		}
		if change != nil {
			change(c, args)
		}
		y := call1(c.Op().FullName(), args...).Round().AddScalar(q.ZeroPoint)
		lo, hi := limits(x.DType())
		c.SetOut(0, withInts(x, call1("aten::clamp", y, lo, hi).ToDType(x.DType().Integer())))
	}
}

// channelsInside reports whether the elements of a tensor of four dimensions fill its memory with the channels
// innermost, in no other order, too.
func channelsInside(x *T) bool {
	return x.Dim() == 4 && x.Size(1) > 1 && x.Size(2)*x.Size(3) > 1 &&
		tensor.SameShape(x.Strides(), innermost(x.Shape()))
}

// globalAverage computes the mean over whole images of quint8 whose channels lie innermost, and reports whether this
// call is one.
func globalAverage(c *Ctx) bool {
	x, q := each(c, 0)
	size := c.Ints(1)
	i := ints(x)
	if x.DType() != tensor.QUInt8 || !channelsInside(i) || x.Numel() == 0 || len(size) != 2 || size[0] != 1 ||
		size[1] != 1 {
		return false
	}
	shape := []int{x.Size(0), x.Size(1), 1, 1}
	d := tensor.NewStrided(shape, innermost(shape), tensor.Uint8)
	// the integers less their zero point, rounded to even, as PyTorch computes them
	w := &windows{kernel: [2]int{x.Size(2), x.Size(3)}, stride: [2]int{1, 1}, out: [2]int{1, 1}}
	quant.AveragePool(w.geometry(i), tensor.Memory[uint8](d), tensor.Memory[uint8](i), func(sum, count int) uint8 {
		mean := math.RoundToEven(float64(sum-count*q.ZeroPoint)/float64(count)) + float64(q.ZeroPoint)
		return uint8(min(max(mean, 0), 255))
	})
	c.SetOut(0, withInts(x, d))
	return true
}

// maxPool is a maximum pooling in two dimensions of bytes whose channels lie innermost, with the arguments of
// max_pool2d; nil where it is left to the general kernel, which checks the arguments, too.
func maxPool(c *Ctx, x *T) *T {
	i := ints(x)
	if x.DType().Bits() != 8 || !channelsInside(i) {
		return nil
	}
	w := poolWindows(c, i)
	if w == nil {
		return nil
	}
	shape := append([]int{x.Size(0), x.Size(1)}, w.out[:]...)
	d := tensor.NewStrided(shape, innermost(shape), i.DType())
	poolInto(d, w, i)
	return withInts(x, d)
}

// windows are the windows of a pooling in two dimensions, and the size of its result.
type windows struct{ kernel, stride, pad, out [2]int }

// poolWindows reads the arguments of max_pool2d; nil where the kernel does not take them.
func poolWindows(c *Ctx, x *T) *windows {
	if c.Bool(5) {
		return nil
	}
	return windowsOf(x, c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4))
}

// windowsOf are the windows of a pooling of x, a tensor of four dimensions; nil where the kernels do not take them.
func windowsOf(x *T, kernel, stride, padding, dilation []int) *windows {
	if x.Numel() == 0 {
		return nil
	}
	if len(stride) == 0 {
		stride = kernel
	}
	w, dilated := &windows{}, [2]int{}
	for j, l := range [][]int{kernel, stride, padding, dilation} {
		if len(l) == 1 {
			l = []int{l[0], l[0]}
		}
		if len(l) != 2 {
			return nil
		}
		*[]*[2]int{&w.kernel, &w.stride, &w.pad, &dilated}[j] = [2]int(l)
	}
	for d := range w.out {
		reach := x.Size(2+d) + 2*w.pad[d] - w.kernel[d]
		if w.kernel[d] < 1 || w.stride[d] < 1 || w.pad[d] < 0 || w.pad[d] > w.kernel[d]/2 || dilated[d] != 1 ||
			reach < 0 {
			return nil
		}
		w.out[d] = reach/w.stride[d] + 1
	}
	return w
}

// geometry is that of the windows over x.
func (w *windows) geometry(x *T) *quant.Geometry {
	return &quant.Geometry{Batch: x.Size(0), Channels: x.Size(1), Groups: x.Size(1), In: three(x.Shape()[2:], 1),
		Kernel: three(w.kernel[:], 1), Stride: three(w.stride[:], 1), Pad: three(w.pad[:], 0), Dilated: three(nil, 1),
		Out: three(w.out[:], 1)}
}

// poolInto sets d to the largest bytes of the windows of x.
func poolInto(d *T, w *windows, x *T) {
	g := w.geometry(x)
	if x.DType() == tensor.Int8 {
		quant.MaxPool(g, tensor.Memory[int8](d), tensor.Memory[int8](x))
	} else {
		quant.MaxPool(g, tensor.Memory[uint8](d), tensor.Memory[uint8](x))
	}
}

// maxPool1d is the operator for integers: max_pool1d takes floats only.
const maxPool1d = "aten::max_pool1d_with_indices"

// pool is a maximum pooling by the operator of that name on integers.
func pool(name string) func(c *Ctx) {
	return func(c *Ctx) {
		x, _ := each(c, 0)
		if y := maxPool(c, x); y != nil && x.Dim() == 4 {
			c.SetOut(0, y)
			return
		}
		r := call1(name, ints(x), c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4), c.Bool(5))
		c.SetOut(0, withInts(x, r))
	}
}

// batchNorm folds mean, variance, weight and bias into one factor and one term for each channel, as PyTorch's kernel
// does, and computes with integers less their zero point:
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/quantized/cpu/Normalization.cpp
func batchNorm(dims string, relu bool) func(c *Ctx) {
	return func(c *Ctx) {
		x, q := each(c, 0)
		want := map[string][2]int{"": {2, 5}, "1d": {2, 3}, "2d": {4, 4}, "3d": {5, 5}}[dims]
		if x.Dim() < want[0] || x.Dim() > want[1] {
			c.Fail(tensor.ErrShape, "Expecting the input tensor of rank %d to %d, got %d.", want[0], want[1], x.Dim())
		}
		ch := x.Size(1)
		of := func(i int, def float32) []float32 {
			t := c.T(i)
			if t == nil {
				l := make([]float32, ch)
				for j := range l {
					l[j] = def
				}
				return l
			}
			if t.Numel() != ch {
				c.Fail(tensor.ErrShape, "%s: Expect %s size to match C", c.Op().FullName(), c.Op().Sch.Params[i].Name)
			}
			return tensor.Data[float32](tensor.DenseAs(t.Detach(), tensor.Float32))
		}
		w, b, mean, vari := of(1, 1), of(2, 0), of(3, 0), of(4, 1)
		eps, scale, zero := float32(c.Float(5)), c.Float(6), c.Int(7)
		checkScale(c, scale)
		checkZero(c, "quantize_tensor_per_tensor_affine", zero, x.DType())
		factor, term := make([]float32, ch), make([]float32, ch)
		for j := range ch {
			inv := 1 / sqrt32(vari[j]+eps)
			a := inv * w[j]
			factor[j] = a * float32(q.Scale) / float32(scale)
			term[j] = (b[j] - mean[j]*a) / float32(scale)
		}
		src := channelsLast(ints(x))
		if x.Dim() < 4 {
			src = tensor.Dense(src)
		}
		d := tensor.NewStrided(x.Shape(), src.Strides(), x.DType().Integer())
		last := x.Dim() >= 4
		n := x.Numel()
		inner := 1
		if !last {
			for _, s := range x.Shape()[2:] {
				inner *= s
			}
		}
		channel := func(i int) int { return i / inner % ch }
		low, high := limits(x.DType())
		lo := low
		if relu {
			lo = max(lo, zero)
		}
		switch x.DType() {
		case tensor.QUInt8:
			norm(tensor.Memory[uint8](d), tensor.Memory[uint8](src), n, channel, factor, term, q.ZeroPoint, zero, lo,
				high)
		case tensor.QInt8:
			norm(tensor.Memory[int8](d), tensor.Memory[int8](src), n, channel, factor, term, q.ZeroPoint, zero, lo,
				high)
		default:
			c.Fail(tensor.ErrNotImpl, "%s: elements of type %s are not supported", c.Op().FullName(), x.DType())
		}
		c.SetOut(0, tensor.NewQuantized(d, x.DType(), value(scale, zero)))
	}
}

func norm[E quant.Int](d, s []E, n int, channel func(i int) int, factor, term []float32, zin, zout, lo, hi int) {
	for i := range n {
		c := channel(i)
		y := int(quant.Round(float32(int(s[i])-zin)*factor[c]+term[c])) + zout
		d[i] = E(min(max(y, lo), hi))
	}
}

package conv

import (
	"fmt"
	"slices"

	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// list repeats a single value to n entries and refuses other lengths.
func list(c *Ctx, name string, v []int, n int) []int {
	if len(v) == 1 && n != 1 {
		v = slices.Repeat(v, n)
	}
	if len(v) != n {
		c.Fail(tensor.ErrShape, "expected %s to be a single integer value or a list of %d values to match the "+
			"convolution dimensions, but got %s=%s", name, n, name, tensor.ShapeString(v))
	}
	return v
}

// arguments are those of convolution and convolution_backward from stride on.
type arguments struct {
	stride, pad, dil, outPad []int
	transposed               bool
	groups                   int
}

// readArgs reads the arguments from position i on for nd spatial dimensions.
func readArgs(c *Ctx, i, nd int) arguments {
	return arguments{
		stride: list(c, "stride", c.Ints(i), nd), pad: list(c, "padding", c.Ints(i+1), nd),
		dil:        list(c, "dilation", c.Ints(i+2), nd),
		transposed: c.Bool(i + 3), outPad: list(c, "output_padding", c.Ints(i+4), nd), groups: c.Int(i + 5),
	}
}

// boxed are the same arguments for a call.
func (a arguments) boxed() []any {
	return []any{a.stride, a.pad, a.dil, a.transposed, a.outPad, a.groups}
}

func anyOf(l []int, f func(x int) bool) bool { return slices.ContainsFunc(l, f) }

// mostPadding bounds padding and the extent of kernels: sizes and what kernels make of them do not overflow.
const mostPadding = 1 << 44

// outputShape checks a convolution and gives the shape of its result.
func outputShape(c *Ctx, in, w []int, bias *T, a arguments) []int {
	nd := len(w) - 2
	switch {
	case anyOf(a.pad, func(x int) bool { return x < 0 }):
		c.Fail(tensor.ErrValue, "negative padding is not supported")
	case anyOf(a.outPad, func(x int) bool { return x < 0 }):
		c.Fail(tensor.ErrValue, "negative output_padding is not supported")
	case anyOf(a.stride, func(x int) bool { return x <= 0 }):
		c.Fail(tensor.ErrValue, "non-positive stride is not supported")
	case anyOf(a.dil, func(x int) bool { return x <= 0 }):
		c.Fail(tensor.ErrValue, "dilation should be greater than zero, but got %s", tensor.ShapeString(a.dil))
	case a.groups <= 0:
		c.Fail(tensor.ErrValue, "non-positive groups is not supported")
	case len(in) != len(w):
		c.Fail(tensor.ErrShape, "Expected %d-dimensional input for %d-dimensional weight %s, but got %d-dimensional "+
			"input of size %s instead", len(w), len(w), tensor.ShapeString(w), len(in), tensor.ShapeString(in))
	case len(w) < 3:
		c.Fail(tensor.ErrShape, "weight should have at least three dimensions")
	case w[0] < a.groups:
		c.Fail(tensor.ErrShape, "Given groups=%d, expected weight to be at least %d at dimension 0, but got weight "+
			"of size %s instead", a.groups, a.groups, tensor.ShapeString(w))
	case w[0]%a.groups != 0:
		c.Fail(tensor.ErrShape, "Given groups=%d, expected weight to be divisible by %d at dimension 0, but got "+
			"weight of size %s instead", a.groups, a.groups, tensor.ShapeString(w))
	case anyOf(w[2:], func(x int) bool { return x <= 0 }):
		c.Fail(tensor.ErrShape, "kernel size should be greater than zero, but got weight of size %s",
			tensor.ShapeString(w))
	}
	for i := range nd {
		if l := max(a.pad[i], a.outPad[i]); l > mostPadding || a.dil[i] > mostPadding/w[2+i] {
			c.Fail(tensor.ErrValue, "padding %s or dilation %s is too large", tensor.ShapeString(a.pad),
				tensor.ShapeString(a.dil))
		}
	}
	out := []int{in[0], w[0]}
	if in[1] == 0 {
		out[1] = 0 // as in PyTorch: without input channels there are none in the result either
	}
	if a.transposed {
		if in[1] != w[0] {
			c.Fail(tensor.ErrShape, "Given transposed=1, weight of size %s, expected input%s to have %d channels, "+
				"but got %d channels instead", tensor.ShapeString(w), tensor.ShapeString(in), w[0], in[1])
		}
		out[1] = w[1] * a.groups
		if bias != nil && (bias.Dim() != 1 || bias.Size(0) != out[1]) {
			c.Fail(tensor.ErrShape, "Given transposed=1, weight of size %s, expected bias to be 1-dimensional with "+
				"%d elements, but got bias of size %s instead", tensor.ShapeString(w), out[1],
				tensor.ShapeString(bias.Shape()))
		}
		for i := range nd {
			if a.outPad[i] >= a.stride[i] && a.outPad[i] >= a.dil[i] {
				c.Fail(tensor.ErrValue, "output padding must be smaller than either stride or dilation, but got "+
					"output_padding: %s stride: %s dilation: %s", tensor.ShapeString(a.outPad),
					tensor.ShapeString(a.stride), tensor.ShapeString(a.dil))
			}
			out = append(out, (in[2+i]-1)*a.stride[i]-2*a.pad[i]+a.dil[i]*(w[2+i]-1)+a.outPad[i]+1)
		}
		if anyOf(out[2:], func(x int) bool { return x < 1 }) {
			c.Fail(tensor.ErrShape, "Given input size per channel: (%s). Calculated output size per channel: (%s). "+
				"Output size is too small", by(in[2:]), by(out[2:]))
		}
		return out
	}
	if in[1] != w[1]*a.groups {
		c.Fail(tensor.ErrShape, "Given groups=%d, weight of size %s, expected input%s to have %d channels, but got "+
			"%d channels instead", a.groups, tensor.ShapeString(w), tensor.ShapeString(in), w[1]*a.groups, in[1])
	}
	if bias != nil && (bias.Dim() != 1 || bias.Size(0) != w[0]) {
		c.Fail(tensor.ErrShape, "Given weight of size %s, expected bias to be 1-dimensional with %d elements, but "+
			"got bias of size %s instead", tensor.ShapeString(w), w[0], tensor.ShapeString(bias.Shape()))
	}
	var padded, kernel []int
	small := false
	for i := range nd {
		p, k := in[2+i]+2*a.pad[i], a.dil[i]*(w[2+i]-1)+1
		padded, kernel = append(padded, p), append(kernel, k)
		small = small || k > p
		out = append(out, (p-k)/a.stride[i]+1)
	}
	if small {
		c.Fail(tensor.ErrShape, "Calculated padded input size per channel: (%s). Kernel size: (%s). Kernel size "+
			"can't be greater than actual input size", by(padded), by(kernel))
	}
	return out
}

// by prints sizes as "5 x 5".
func by(s []int) string {
	out := ""
	for i, x := range s {
		if i > 0 {
			out += " x "
		}
		out += fmt.Sprint(x)
	}
	return out
}

// geometryOf describes the convolution that maps a tensor of shape in to one of shape out; a transposed one swaps the
// two beforehand.
func geometryOf(in, out, w []int, a arguments) *geometry {
	g := &geometry{n: in[0], groups: a.groups, cin: in[1], cout: out[1]}
	nd := len(in) - 2
	for i := range 3 {
		g.in[i], g.out[i], g.k[i], g.stride[i], g.dil[i] = 1, 1, 1, 1, 1
		if j := i - (3 - nd); j >= 0 {
			g.in[i], g.out[i], g.k[i], g.stride[i], g.pad[i], g.dil[i] = in[2+j], out[2+j], w[2+j], a.stride[j],
				a.pad[j], a.dil[j]
			if g.out[i] == 1 { // no second step: kernels do not meet what may be a huge number
				g.stride[i] = 1
			}
			if g.k[i] == 1 {
				g.dil[i] = 1
			}
		}
	}
	return g
}

// compute names the element type in which a kernel works.
func compute(c *Ctx, dt tensor.DType) tensor.DType {
	if dt == tensor.Bool {
		c.FailDType(tensor.ErrNotImpl, "slow_conv2d_cpu", dt)
	}
	return dt.Compute()
}

// dense is t's memory in the compute type; nil for no tensor.
func dense[E tensor.Element](t *T) []E {
	if t == nil {
		return nil
	}
	return tensor.Data[E](tensor.DenseAs(t, tensor.DTypeOf[E]()))
}

// onType calls the instance for a compute type.
func onType(dt tensor.DType, f32 func(), f64 func(), c64 func(), c128 func(), i64, i32, i16, i8, u8 func()) {
	switch dt {
	case tensor.Float32:
		f32()
	case tensor.Float64:
		f64()
	case tensor.Complex64:
		c64()
	case tensor.Complex128:
		c128()
	case tensor.Int64:
		i64()
	case tensor.Int32:
		i32()
	case tensor.Int16:
		i16()
	case tensor.Int8:
		i8()
	default:
		u8()
	}
}

// into runs f on a dense buffer of the compute type and leaves the result in out.
func into[E tensor.Element](out *T, f func(d []E)) {
	if out.DType() == tensor.DTypeOf[E]() && out.IsContiguous() {
		f(tensor.Data[E](out))
		return
	}
	w := tensor.New(out.Shape(), tensor.DTypeOf[E]())
	f(tensor.Data[E](w))
	tensor.CopyRaw(out, w)
}

func run[E number](out, in, w, bias *T, a arguments) {
	into(out, func(d []E) {
		if a.transposed {
			g := geometryOf(out.Shape(), in.Shape(), w.Shape(), a)
			backwardData(g, d, dense[E](in), dense[E](w), dense[E](bias))
			return
		}
		g := geometryOf(in.Shape(), out.Shape(), w.Shape(), a)
		forward(g, d, dense[E](in), dense[E](w), dense[E](bias))
	})
}

func runBackward[E number](gin, gw, gb, gout, in, w *T, a arguments) {
	if a.transposed {
		g := geometryOf(gout.Shape(), in.Shape(), w.Shape(), a)
		if gin != nil {
			into(gin, func(d []E) { forward(g, d, dense[E](gout), dense[E](w), nil) })
		}
		if gw != nil {
			into(gw, func(d []E) { backwardWeight(g, d, dense[E](in), dense[E](gout)) })
		}
	} else {
		g := geometryOf(in.Shape(), gout.Shape(), w.Shape(), a)
		if gin != nil {
			into(gin, func(d []E) { backwardData(g, d, dense[E](gout), dense[E](w), nil) })
		}
		if gw != nil {
			into(gw, func(d []E) { backwardWeight(g, d, dense[E](gout), dense[E](in)) })
		}
	}
	if gb != nil {
		g := geometryOf(in.Shape(), gout.Shape(), w.Shape(), a)
		into(gb, func(d []E) { backwardBias(g, d, dense[E](gout)) })
	}
}

var (
	opConvolution = tensor.Slot("aten::convolution")
	opBackward    = tensor.Slot("aten::convolution_backward")
)

// call runs an operator with its first arguments; the others have their defaults.
var call = op.CallOp

func convolution(in, w, bias *T, a arguments) *T {
	return call(opConvolution, append([]any{in, w, bias}, a.boxed()...)...)[0]
}

func backward(g, in, w *T, biasSize []int, a arguments, want ...bool) []*T {
	r := call(opBackward, append(append([]any{g, in, w, tensor.OptIntsValue(biasSize)}, a.boxed()...), want)...)
	for i := range r {
		if !want[i] {
			r[i] = nil
		}
	}
	return r
}

func checkTypes(c *Ctx, in, w, bias *T) {
	if in.DType() != w.DType() {
		c.Fail(tensor.ErrDType, "Input type (%s) and weight type (%s) should be the same", in.DType().ClassName(),
			w.DType().ClassName())
	}
	if bias != nil && bias.DType() != in.DType() {
		c.Fail(tensor.ErrDType, "Input type (%s) and bias type (%s) should be the same", in.DType().ClassName(),
			bias.DType().ClassName())
	}
	compute(c, in.DType())
}

// convInfer, convCPU and convVJP are the shape rule, the kernel and the gradient rule of convolution and of conv1d to
// conv3d.
func convInfer(c *Ctx, a arguments) {
	in, w := c.T(0), c.T(1)
	checkTypes(c, in, w, c.T(2))
	sh := outputShape(c, in.Shape(), w.Shape(), c.T(2), a)
	c.AllocStrided(0, sh, tensor.FormatStrides(sh, formatFor(in, w)), in.DType())
}

func convCPU(c *Ctx, a arguments) {
	in, w, b, o := c.T(0), c.T(1), c.T(2), c.Out(0)
	if o.Numel() == 0 {
		return
	}
	packed := packedAgain(w, o.Numel()/o.Size(1))
	onType(compute(c, o.DType()),
		func() { runFloat(o, in, w, b, nil, cpuconv.Epilogue[float32]{Packed: packed}, a) },
		func() { runFloat(o, in, w, b, nil, cpuconv.Epilogue[float64]{Packed: packed}, a) },
		func() { run[complex64](o, in, w, b, a) }, func() { run[complex128](o, in, w, b, a) },
		func() { run[int64](o, in, w, b, a) }, func() { run[int32](o, in, w, b, a) },
		func() { run[int16](o, in, w, b, a) },
		func() { run[int8](o, in, w, b, a) }, func() { run[uint8](o, in, w, b, a) })
}

func convVJP(c *Ctx, g *T, a arguments) []*T {
	return backward(g, c.T(0), c.T(1), c.Shape(2), a, c.Needs(0), c.Needs(1), c.Has(2) && c.Needs(2))
}

// plainArgs reads the arguments of conv1d to conv3d, which have fewer than convolution.
func plainArgs(c *Ctx, nd int) arguments {
	return arguments{stride: list(c, "stride", c.Ints(3), nd), pad: list(c, "padding", c.Ints(4), nd),
		dil: list(c, "dilation", c.Ints(5), nd), outPad: make([]int, nd), groups: c.Int(6)}
}

// plainConv is conv1d, conv2d or conv3d: convolution of a batch by its kernel in one call, anything else by the body.
//
//gen:plainConv Go=-
func plainConv(schema string, nd int) tensor.Def {
	return tensor.Def{
		Schema: schema, Doc: convDoc, Go: "-", AMP: tensor.AMPLower, Body: convBody(nd), Grad: "ConvolutionBackward0",
		Fuses: func(c *Ctx) bool { return c.T(0).Dim() == nd+2 && c.T(1).Dim() == nd+2 },
		Infer: func(c *Ctx) { convInfer(c, plainArgs(c, nd)) },
		CPU:   func(c *Ctx) { convCPU(c, plainArgs(c, nd)) },
		Save:  "input weight",
		VJP:   func(c *Ctx, g *T) []*T { return convVJP(c, g, plainArgs(c, nd)) },
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
		Doc: "is the general convolution over one to three spatial dimensions: input [n, in, ...], weight [out, " +
			"in/groups, ...] (transposed: [in, out/groups, ...]), bias [out].\n" +
			"https://pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html",
		AMP: tensor.AMPLower,
		Infer: func(c *Ctx) {
			w := c.T(1)
			if w.Dim() < 3 {
				c.Fail(tensor.ErrShape, "weight should have at least three dimensions")
			}
			if w.Dim() > 5 {
				c.Fail(tensor.ErrShape, "convolution(): at most three spatial dimensions are supported, weight has "+
					"shape %s", tensor.ShapeString(w.Shape()))
			}
			convInfer(c, readArgs(c, 3, w.Dim()-2))
		},
		CPU:  func(c *Ctx) { convCPU(c, readArgs(c, 3, c.T(1).Dim()-2)) },
		Save: "input weight",
		VJP:  func(c *Ctx, g *T) []*T { return convVJP(c, g, readArgs(c, 3, len(c.Shape(1))-2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
		Doc: "are the gradients of convolution's input, weight and bias; output_mask says which are wanted, the " +
			"others come back empty.",
		Infer: func(c *Ctx) {
			c.WantLength(10, 3)
			mask, w := c.Bools(10), c.Shape(2)
			if len(w) < 3 || len(w) > 5 {
				c.Fail(tensor.ErrShape, "convolution_backward(): expected weight with 3 to 5 dimensions, got shape %s",
					tensor.ShapeString(w))
			}
			checkTypes(c, c.T(0), c.T(1), nil)
			checkTypes(c, c.T(1), c.T(2), nil)
			sh := outputShape(c, c.Shape(1), w, nil, readArgs(c, 4, len(w)-2))
			c.WantShape(0, sh...)
			gb := []int{sh[1]}
			if b := c.Ints(3); len(b) == 1 && c.T(0).Numel() == 0 { // a result without input channels has no channels
				gb = b
			}
			for i, sh := range [][]int{c.Shape(1), c.Shape(2), gb} {
				if !mask[i] {
					sh = []int{0}
				}
				var st []int
				if mask[i] && i < 2 {
					st = tensor.FormatStrides(sh, formatFor(c.T(1), c.T(2)))
				}
				c.AllocStrided(i, sh, st, c.ArgDType(0))
			}
		},
		CPU: func(c *Ctx) {
			g, in, w := c.T(0), c.T(1), c.T(2)
			if in.DType().IsComplex() { // gradients of complex numbers go with the conjugates
				tensor.NoGrad(func() { in, w = tensor.Dense(in.Conj()), tensor.Dense(w.Conj()) })
			}
			a := readArgs(c, 4, w.Dim()-2)
			outs := []*T{c.Out(0), c.Out(1), c.Out(2)}
			for i, m := range c.Bools(10) {
				if !m {
					outs[i] = nil
				} else if in.Size(1) == 0 {
					outs[i].ZeroInPlace()
				}
			}
			if in.Size(1) == 0 {
				return
			}
			x, y, z := outs[0], outs[1], outs[2]
			onType(compute(c, g.DType()),
				func() { runBackwardFloat[float32](x, y, z, g, in, w, a) },
				func() { runBackwardFloat[float64](x, y, z, g, in, w, a) },
				func() { runBackward[complex64](x, y, z, g, in, w, a) },
				func() { runBackward[complex128](x, y, z, g, in, w, a) },
				func() { runBackward[int64](x, y, z, g, in, w, a) },
				func() { runBackward[int32](x, y, z, g, in, w, a) },
				func() { runBackward[int16](x, y, z, g, in, w, a) },
				func() { runBackward[int8](x, y, z, g, in, w, a) }, func() { runBackward[uint8](x, y, z, g, in, w, a) })
		},
		Save: "grad_output input weight",
		VJP: func(c *Ctx, _ *T) []*T {
			// The backward pass is linear in the gradient, and in input and weight apart: its own gradients are
			// convolutions again.
			a := readArgs(c, 4, len(c.Shape(2))-2)
			g, in, w := c.T(0), c.T(1), c.T(2)
			gi, gw, gb := c.G(0), c.G(1), c.G(2)
			mask := c.Bools(10)
			for i, p := range []**T{&gi, &gw, &gb} {
				if !mask[i] {
					*p = nil
				}
			}
			r := make([]*T, 3)
			sum := func(x, y *T) *T {
				if x == nil {
					return y
				}
				return x.Add(y)
			}
			if c.Needs(0) {
				if gi != nil {
					r[0] = sum(r[0], convolution(gi, w, nil, a))
				}
				if gw != nil {
					r[0] = sum(r[0], convolution(in, gw, nil, a))
				}
				if gb != nil {
					sh := slices.Repeat([]int{1}, len(c.Shape(0)))
					sh[1] = c.Shape(0)[1]
					r[0] = sum(r[0], gb.Reshape(sh).Expand(c.Shape(0)))
				}
			}
			if c.Needs(1) && gw != nil {
				r[1] = backward(g, in, gw, nil, a, true, false, false)[0]
			}
			if c.Needs(2) && gi != nil {
				r[2] = backward(g, gi, w, nil, a, false, true, false)[1]
			}
			return r
		},
	})
	for _, d := range []tensor.Def{
		plainConv("conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor", 1),
		plainConv("conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor", 2),
		plainConv("conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor", 3),
		{Schema: "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor", Doc: paddingDoc, Go: "-", Body: paddingBody(1)},
		{Schema: "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor", Doc: paddingDoc, Go: "-", Body: paddingBody(2)},
		{Schema: "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor", Doc: paddingDoc, Go: "-", Body: paddingBody(3)},
		{Schema: "F::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, SymInt[1] dilation=1, SymInt groups=1) -> Tensor", Doc: "slides kernels over the input and sums products: out[n, o, p] = bias[o] + Σ weight[o, i, k] · " +
			"input[n, i, p·stride + k·dilation - padding], with zeros beyond the edges. Shapes: input [n, " +
			"in, L] or [in, L], weight [out, in/groups, k], bias [out]. Each spatial size becomes (size + " +
			"2·padding - dilation·(k-1) - 1)/stride + 1, rounded down. With groups, each part of the output " +
			"channels sees one part of the input channels." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.conv1d.html",
			Body: calls("aten::conv1d")},
		{Schema: "F::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] dilation=1, SymInt groups=1) -> Tensor", Doc: "slides kernels over the input and sums products: out[n, o, p] = bias[o] + Σ weight[o, i, k] · " +
			"input[n, i, p·stride + k·dilation - padding], with zeros beyond the edges. Shapes: input [n, " +
			"in, H, W] or [in, H, W], weight [out, in/groups, kh, kw], bias [out]. Each spatial size becomes " +
			"(size + 2·padding - dilation·(k-1) - 1)/stride + 1, rounded down. With groups, each part of the " +
			"output channels sees one part of the input channels." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html",
			Body: calls("aten::conv2d")},
		{Schema: "F::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0, SymInt[3] dilation=1, SymInt groups=1) -> Tensor", Doc: "slides kernels over the input and sums products: out[n, o, p] = bias[o] + Σ weight[o, i, k] · " +
			"input[n, i, p·stride + k·dilation - padding], with zeros beyond the edges. Shapes: input [n, " +
			"in, D, H, W] or [in, D, H, W], weight [out, in/groups, kd, kh, kw], bias [out]. Each spatial " +
			"size becomes (size + 2·padding - dilation·(k-1) - 1)/stride + 1, rounded down. With groups, " +
			"each part of the output channels sees one part of the input channels." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.conv3d.html",
			Body: calls("aten::conv3d")},
		{Schema: "F::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, str padding=\"valid\", SymInt[1] dilation=1, SymInt groups=1) -> Tensor", Doc: "is Conv1d with padding by name: \"valid\" adds none; \"same\" adds as many zeros as give the result " +
			"the size of the input, one more at the end if they are odd, and takes stride 1 only. Shapes: " +
			"input [n, in, L] or [in, L], weight [out, in/groups, k], bias [out]." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.conv1d.html",
			Body: calls("aten::conv1d.padding")},
		{Schema: "F::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, str padding=\"valid\", SymInt[2] dilation=1, SymInt groups=1) -> Tensor", Doc: "is Conv2d with padding by name: \"valid\" adds none; \"same\" adds as many zeros as give the result " +
			"the size of the input, one more at the end if they are odd, and takes stride 1 only. Shapes: " +
			"input [n, in, H, W] or [in, H, W], weight [out, in/groups, kh, kw], bias [out]." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html",
			Body: calls("aten::conv2d.padding")},
		{Schema: "F::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, str padding=\"valid\", SymInt[3] dilation=1, SymInt groups=1) -> Tensor", Doc: "is Conv3d with padding by name: \"valid\" adds none; \"same\" adds as many zeros as give the result " +
			"the size of the input, one more at the end if they are odd, and takes stride 1 only. Shapes: " +
			"input [n, in, D, H, W] or [in, D, H, W], weight [out, in/groups, kd, kh, kw], bias [out]." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.conv3d.html",
			Body: calls("aten::conv3d.padding")},
		{Schema: "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor", Doc: transposeDoc, Go: "-", AMP: tensor.AMPLower, Body: transposeBody(1)},
		{Schema: "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor", Doc: transposeDoc, Go: "-", AMP: tensor.AMPLower, Body: transposeBody(2)},
		{Schema: "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor", Doc: transposeDoc, Go: "-", AMP: tensor.AMPLower, Body: transposeBody(3)},
		{Schema: "F::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, SymInt[1] output_padding=0, SymInt groups=1, SymInt[1] dilation=1) -> Tensor", Doc: "spreads every element of the input with a kernel, which is the gradient of Conv1d by its input: " +
			"out[n, o, p·stride + k·dilation - padding] gets input[n, i, p] · weight[i, o, k] added to " +
			"bias[o]. Shapes: input [n, in, L] or [in, L], weight [in, out/groups, k], bias [out]. Each " +
			"spatial size becomes (size-1)·stride - 2·padding + dilation·(k-1) + output_padding + 1." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose1d.html",
			Body: calls("aten::conv_transpose1d")},
		{Schema: "F::conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] dilation=1) -> Tensor", Doc: "spreads every element of the input with a kernel, which is the gradient of Conv2d by its input: " +
			"out[n, o, p·stride + k·dilation - padding] gets input[n, i, p] · weight[i, o, k] added to " +
			"bias[o]. Shapes: input [n, in, H, W] or [in, H, W], weight [in, out/groups, kh, kw], bias " +
			"[out]. Each spatial size becomes (size-1)·stride - 2·padding + dilation·(k-1) + output_padding " +
			"+ 1." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose2d.html",
			Body: calls("aten::conv_transpose2d.input")},
		{Schema: "F::conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt groups=1, SymInt[3] dilation=1) -> Tensor", Doc: "spreads every element of the input with a kernel, which is the gradient of Conv3d by its input: " +
			"out[n, o, p·stride + k·dilation - padding] gets input[n, i, p] · weight[i, o, k] added to " +
			"bias[o]. Shapes: input [n, in, D, H, W] or [in, D, H, W], weight [in, out/groups, kd, kh, kw], " +
			"bias [out]. Each spatial size becomes (size-1)·stride - 2·padding + dilation·(k-1) + " +
			"output_padding + 1." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose3d.html",
			Body: calls("aten::conv_transpose3d.input")},
		{Schema: "_convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str padding, SymInt[] dilation, SymInt groups) -> Tensor", Doc: paddingDoc, Go: "-", Body: modeBody},
		{Schema: "_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor", Go: "-", Body: generalBody},
		{Schema: "_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, int[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled) -> Tensor", Go: "-", Body: generalBody},
		{Schema: "mkldnn_convolution(Tensor self, Tensor weight, Tensor? bias, SymInt[] padding, SymInt[] stride, SymInt[] dilation, SymInt groups) -> Tensor",
			Doc: "is convolution under the name of PyTorch's kernel library for CPUs, with padding in front of " +
				"stride.", Out: true, Body: mkldnnBody},
	} {
		tensor.Register(d)
	}
}

func mkldnnBody(c *Ctx) {
	n := max(c.T(1).Dim()-2, 0)
	c.Return(call(opConvolution, c.T(0), c.T(1), c.T(2), spread(c.Ints(4), n), spread(c.Ints(3), n), spread(c.Ints(5), n),
		false, make([]int, n), c.Int(6))[0])
}

const (
	site    = "\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional."
	convDoc = "slides kernels, weight [out, in/groups, ...], over an input [n, in, ...] or [in, ...] and adds " +
		"bias [out]; padding is with zeros." + site + "conv2d.html"
	paddingDoc = "is the convolution with padding \"valid\" (none) or \"same\" (the result has the input's size; " +
		"stride 1 only)." + site + "conv2d.html"
	transposeDoc = "is the gradient of a convolution as a layer of its own: input [n, in, ...] or [in, ...], weight " +
		"[in, out/groups, ...], bias [out]." + site + "conv_transpose2d.html"
)

func generalBody(c *Ctx) {
	c.Return(convolution(c.T(0), c.T(1), c.T(2), readArgs(c, 3, max(1, c.T(1).Dim()-2))))
}

// batched adds the batch dimension that an unbatched input lacks.
func batched(c *Ctx, nd int) (in *T, added bool) {
	in = c.T(0)
	if c.T(1).Dim() < 3 {
		c.Fail(tensor.ErrShape, "weight should have at least three dimensions")
	}
	if c.T(1).Dim() != nd+2 && in.Dim() == nd+2 {
		c.Fail(tensor.ErrShape, "Expected %d-dimensional input for %d-dimensional weight %s, but got %d-dimensional "+
			"input of size %s instead",
			c.T(1).Dim(), c.T(1).Dim(), tensor.ShapeString(c.T(1).Shape()), in.Dim(), tensor.ShapeString(in.Shape()))
	}
	switch in.Dim() {
	case nd + 2:
		return in, false
	case nd + 1:
		return in.Unsqueeze(0), true
	}
	name := c.Op().Sch.Name
	if len(name) > 5 && name[:5] == "conv_" {
		name = fmt.Sprintf("conv_transpose%dd", nd)
	}
	c.Fail(tensor.ErrShape, "Expected %dD (unbatched) or %dD (batched) input to %s, but got input of size: %s", nd+1,
		nd+2, name, tensor.ShapeString(in.Shape()))
	return nil, false
}

func unbatch(t *T, added bool) *T {
	if added {
		return t.SqueezeDim(0)
	}
	return t
}

func convBody(nd int) func(c *Ctx) {
	return func(c *Ctx) {
		in, added := batched(c, nd)
		c.Return(unbatch(convolution(in, c.T(1), c.T(2), plainArgs(c, nd)), added))
	}
}

func transposeBody(nd int) func(c *Ctx) {
	return func(c *Ctx) {
		in, added := batched(c, nd)
		a := arguments{stride: list(c, "stride", c.Ints(3), nd), pad: list(c, "padding", c.Ints(4), nd),
			outPad: list(c, "output_padding", c.Ints(5), nd), groups: c.Int(6), dil: list(c, "dilation", c.Ints(7), nd),
			transposed: true}
		c.Return(unbatch(convolution(in, c.T(1), c.T(2), a), added))
	}
}

var (
	opMode = tensor.Slot("aten::_convolution_mode")
	opPad  = tensor.Slot("aten::constant_pad_nd")
)

func paddingBody(nd int) func(c *Ctx) {
	return func(c *Ctx) {
		in, added := batched(c, nd)
		c.Return(unbatch(call(opMode, in, c.T(1), c.T(2), list(c, "stride", c.Ints(3), nd), c.Str(4),
			list(c, "dilation", c.Ints(5), nd), c.Int(6))[0], added))
	}
}

// modeBody is the convolution with padding by name. With "same" the result has the input's size: what cannot be the
// same on both sides goes, as zeros, to the far ends beforehand.
func modeBody(c *Ctx) {
	in, w := c.T(0), c.T(1)
	nd := max(1, w.Dim()-2)
	a := arguments{stride: list(c, "stride", c.Ints(3), nd), pad: make([]int, nd),
		dil: list(c, "dilation", c.Ints(5), nd), outPad: make([]int, nd), groups: c.Int(6)}
	switch mode := c.Str(4); mode {
	case "valid":
	case "same":
		if anyOf(a.stride, func(x int) bool { return x != 1 }) {
			c.Fail(tensor.ErrValue, "padding='same' is not supported for strided convolutions")
		}
		if w.Dim() < 3 || in.Dim() != w.Dim() {
			c.Fail(tensor.ErrShape, "Expected an input of %d dimensions for a weight of shape %s, got %s", w.Dim(),
				tensor.ShapeString(w.Shape()), tensor.ShapeString(in.Shape()))
		}
		odd := false
		extra := make([]int, 2*nd) // from the last dimension on, before and behind
		for i := range nd {
			total := a.dil[i] * (w.Size(2+i) - 1)
			a.pad[i], extra[2*(nd-1-i)+1] = total/2, total%2
			odd = odd || total%2 != 0
		}
		if odd {
			in = call(opPad, in, extra, 0)[0]
		}
	default:
		c.Fail(tensor.ErrValue, "Invalid padding string: '%s'", mode)
	}
	c.Return(convolution(in, w, c.T(2), a))
}

// calls is the body of a function that hands its arguments to an operator.
func calls(name string) func(c *Ctx) {
	op := tensor.Slot(name)
	return func(c *Ctx) {
		r := tensor.NewCall(op, c.NumArgs())
		for i := range c.NumArgs() {
			v := c.Value(i)
			if v.K == tensor.KInt && op.Sch.Params[i].Kind == tensor.KInts {
				v = tensor.IntsValue(c.Ints(i))
			}
			*r.Arg(i) = v
		}
		c.Return(r.Do1())
	}
}

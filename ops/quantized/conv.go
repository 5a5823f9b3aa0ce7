package quantized

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/tensor"
)

// spatial are the dimensions behind batch and channels that kernels walk through; convolutions of fewer have a single
// element in the first ones.
const spatial = quant.Spatial

// three fills a list up to three numbers from the left.
func three(l []int, def int) (out [spatial]int) {
	for i := range out {
		out[i] = def
	}
	copy(out[spatial-len(l):], l)
	return out
}

func size3(a [spatial]int) int { return a[0] * a[1] * a[2] }

// ConvSettings are the numbers of a convolution.
type ConvSettings struct {
	Stride, Padding, OutputPadding, Dilation []int
	Groups                                   int
	Transpose                                bool
}

// PackConv packs the parameters of a convolution of dims dimensions: a weight of type QInt8 [out, in/groups,
// kernel...], or [in, out/groups, kernel...] of a transposed one, and a bias, which may be nil. It panics with
// *tensor.Error where they do not fit; c is the call that the error names.
func PackConv(c *Ctx, w, bias *T, dims int, s ConvSettings) *Conv {
	if w.Dim() != dims+2 {
		c.Fail(tensor.ErrShape, "%s: Weights are expected to have %d dimensions, got shape %s", c.Op().FullName(),
			dims+2,
			tensor.ShapeString(w.Shape()))
	}
	each := func(l []int, name string, least int) []int {
		if len(l) == 1 && dims > 1 {
			l = slices.Repeat(l, dims)
		}
		if len(l) != dims {
			c.Fail(tensor.ErrShape, "%s: %s should contain %d elements, got %d", c.Op().FullName(), name, dims, len(l))
		}
		for _, n := range l {
			if n < least || n > 1<<24 {
				c.Fail(tensor.ErrValue, "%s: %s must be numbers from %d on, got %v", c.Op().FullName(), name, least, l)
			}
		}
		return slices.Clone(l)
	}
	if s.OutputPadding == nil {
		s.OutputPadding = make([]int, dims)
	}
	p := &Conv{Weight: w, Stride: each(s.Stride, "stride", 1), Padding: each(s.Padding, "padding", 0),
		OutputPadding: each(s.OutputPadding, "output_padding", 0), Dilation: each(s.Dilation, "dilation", 1),
		Groups: s.Groups, Transpose: s.Transpose}
	q := tensor.QuantizerOf(w)
	if s.Transpose && q != nil && q.Scheme != tensor.PerTensorAffine && Engine() != quant.QNNPACK {
		c.Fail(tensor.ErrNotImpl, "Per Channel Quantization is currently disabled for transposed conv")
	}
	axis, outs := 0, w.Size(0)
	if s.Groups < 1 || w.Size(0)%s.Groups != 0 {
		c.Fail(tensor.ErrValue, "%s: %d groups do not divide a weight of shape %s", c.Op().FullName(), s.Groups,
			tensor.ShapeString(w.Shape()))
	}
	if s.Transpose {
		axis, outs = 1, w.Size(1)*s.Groups
	}
	q = weights(c, w, axis)
	p.Bias = floats(c, bias, outs, "bias")
	plain := p.pack(q, outs)
	noPadding := !slices.ContainsFunc(p.OutputPadding, func(n int) bool { return n != 0 })
	p.Engine = resolve(Engine(), plain, s.Groups, noPadding)
	return p
}

// pack lays out the weight of each group with a column of [kernel positions, channels] for each output, and reports
// whether all zero points are 0.
func (p *Conv) pack(q *tensor.Quantizer, outs int) (plain bool) {
	w := p.Weight
	g := quant.Geometry{Channels: w.Size(1) * p.Groups, Groups: p.Groups, Kernel: three(w.Shape()[2:], 1),
		Dilated: three(p.Dilation, 1)}
	if p.Transpose {
		g.Channels = w.Size(0)
	}
	nk := size3(g.Kernel)
	b := tensor.Data[int8](tensor.Dense(ints(w)))
	perGroup, channels := outs/p.Groups, g.Channels/p.Groups
	var scales []float32
	var zeros []int32
	if p.Transpose && q.Scheme != tensor.PerTensorAffine {
		// a scale for each output of a group, the same in all groups
		scales, zeros = columns(q, perGroup)
		for len(scales) < outs {
			scales, zeros = append(scales, scales[:perGroup]...), append(zeros, zeros[:perGroup]...)
		}
	} else {
		scales, zeros = columns(q, outs)
	}
	at := func(o, k, ch int) int8 {
		if p.Transpose { // a transposed convolution is one with the kernel turned around
			return b[((o/perGroup*channels+ch)*perGroup+o%perGroup)*nk+nk-1-k]
		}
		return b[(o*channels+ch)*nk+k]
	}
	bias := biasOf(p.Bias)
	plain = !slices.ContainsFunc(zeros, func(z int32) bool { return z != 0 })
	if plain && g.Depthwise(outs) {
		p.packed = []*quant.Weights{quant.Pack(&quant.Columns{N: outs, Runs: nk, Length: 1, Depthwise: true,
			Scales: scales, Bias: bias, At: func(c, r, _ int) int8 { return at(c, r, 0) }})}
		return true
	}
	runs, length := g.Runs()
	for i := range p.Groups {
		cols := &quant.Columns{N: perGroup, Runs: runs, Length: length, Scales: scales,
			Zeros: zeros[i*perGroup:][:perGroup], At: func(c, r, k int) int8 {
				k += r * length
				return at(i*perGroup+c, k/channels, k%channels)
			}}
		if len(scales) > 1 {
			cols.Scales = scales[i*perGroup:][:perGroup]
		}
		if bias != nil {
			cols.Bias = bias[i*perGroup:][:perGroup]
		}
		p.packed = append(p.packed, quant.Pack(cols))
	}
	return plain
}

// plan checks an input and finds the sizes of a convolution.
func (p *Conv) plan(c *Ctx, x *T, dims int) (g quant.Geometry, shape []int) {
	w := p.Weight
	if w.Dim() != dims+2 {
		c.Fail(tensor.ErrShape, "%s: the parameters are those of a convolution of %d dimensions", c.Op().FullName(),
			w.Dim()-2)
	}
	channels := w.Size(1) * p.Groups
	if p.Transpose {
		channels = w.Size(0)
	}
	if x.Dim() != dims+2 || x.Size(1) != channels {
		c.Fail(tensor.ErrShape, "%s: an input of shape %s does not fit a weight of shape %s and %d groups",
			c.Op().FullName(), tensor.ShapeString(x.Shape()), tensor.ShapeString(w.Shape()), p.Groups)
	}
	g = quant.Geometry{Batch: x.Size(0), Channels: channels, Groups: p.Groups, In: three(x.Shape()[2:], 1),
		Kernel: three(w.Shape()[2:], 1), Stride: three(p.Stride, 1), Pad: three(p.Padding, 0),
		Dilated: three(p.Dilation, 1)}
	extra := three(p.OutputPadding, 0)
	for d := range spatial {
		reach := g.Dilated[d]*(g.Kernel[d]-1) + 1
		if p.Transpose {
			g.Out[d] = (g.In[d]-1)*g.Stride[d] - 2*g.Pad[d] + reach + extra[d]
		} else if g.Out[d] = g.In[d] + 2*g.Pad[d] - reach; g.Out[d] >= 0 {
			g.Out[d] = g.Out[d]/g.Stride[d] + 1
		}
		if g.Out[d] <= 0 || g.In[d] == 0 {
			c.Fail(tensor.ErrShape, "%s: an input of shape %s is too small for a kernel of shape %s", c.Op().FullName(),
				tensor.ShapeString(x.Shape()), tensor.ShapeString(w.Shape()[2:]))
		}
	}
	if !readable(&g, p.Transpose) {
		c.Fail(tensor.ErrShape, "%s: stride %v, padding %v and dilation %v are too large for an input of shape %s",
			c.Op().FullName(), p.Stride, p.Padding, p.Dilation, tensor.ShapeString(x.Shape()))
	}
	shape = append([]int{g.Batch, p.outs()}, g.Out[spatial-dims:]...)
	tensor.Size(shape).Numel()
	return g, shape
}

// readable reports whether an image with its padding, or spread for a transposed convolution, has a size that a copy of
// it may have: less than 4 GB.
func readable(g *quant.Geometry, transposed bool) bool {
	bytes := float64(g.Channels)
	for d := range spatial {
		reach := g.Dilated[d] * (g.Kernel[d] - 1)
		if transposed {
			bytes *= float64(g.Out[d] + reach)
		} else {
			bytes *= float64(max((g.Out[d]-1)*g.Stride[d]+reach+1, g.In[d]))
		}
	}
	return bytes < 1<<32
}

// outs is the number of output channels.
func (p *Conv) outs() int { return p.packed[0].N * len(p.packed) }

// spread is the input of the ordinary convolution that a transposed one is: its elements stand stride apart, with the
// zero point in between and around.
func spread[A uint8 | int8](g quant.Geometry, src []A, zero A) (quant.Geometry, []A) {
	wide := g
	for d := range spatial {
		reach := g.Dilated[d] * (g.Kernel[d] - 1)
		wide.In[d] = g.Out[d] + reach // padding becomes part of the input
		wide.Stride[d], wide.Pad[d] = 1, 0
	}
	dst := make([]A, g.Batch*size3(wide.In)*g.Channels)
	if zero != 0 {
		for i := range dst {
			dst[i] = zero
		}
	}
	place := func(d, i int) int { return g.Dilated[d]*(g.Kernel[d]-1) - g.Pad[d] + i*g.Stride[d] }
	for n := range g.Batch {
		for a := range g.In[0] {
			for b := range g.In[1] {
				for e := range g.In[2] {
					z, y, x := place(0, a), place(1, b), place(2, e)
					if z < 0 || y < 0 || x < 0 || z >= wide.In[0] || y >= wide.In[1] || x >= wide.In[2] {
						continue
					}
					from := ((n*g.In[0]+a)*g.In[1]+b)*g.In[2] + e
					to := ((n*wide.In[0]+z)*wide.In[1]+y)*wide.In[2] + x
					copy(dst[to*g.Channels:][:g.Channels], src[from*g.Channels:][:g.Channels])
				}
			}
		}
	}
	return wide, dst
}

// convolve computes a convolution of the integers x, whose channels lie innermost, into d.
func (p *Conv) convolve(g quant.Geometry, x *T, q *tensor.Quantizer, r *quant.Result, d *T) {
	in := inputOf(x, q)
	if p.Transpose {
		if x.DType() == tensor.Int8 {
			var wide []int8
			g, wide = spread(g, tensor.Memory[int8](x), int8(q.ZeroPoint))
			in = quant.InputOf(wide, in.Scale, in.Zero)
		} else {
			var wide []uint8
			g, wide = spread(g, tensor.Memory[uint8](x), uint8(q.ZeroPoint))
			in = quant.InputOf(wide, in.Scale, in.Zero)
		}
	}
	quant.Convolve(&g, p.packed, in, into(r, d))
}

// innermost are the strides of a tensor [batch, channels, positions...] whose channels lie innermost.
func innermost(shape []int) []int {
	st := make([]int, len(shape))
	st[1] = 1
	s := shape[1]
	for d := len(shape) - 1; d >= 2; d-- {
		st[d] = s
		s *= max(1, shape[d])
	}
	st[0] = s
	return st
}

// lastChannels is x with its channels innermost.
func lastChannels(x *T) *T {
	st := innermost(x.Shape())
	if tensor.SameShape(st, x.Strides()) {
		return x
	}
	d := tensor.NewStrided(x.Shape(), st, x.DType())
	tensor.CopyRaw(d, x)
	return d
}

// conv is a static convolution: bytes in and out.
func conv(c *Ctx, x *T, p *Conv, dims int, scale float64, zero int, relu bool) *T {
	if dims == 1 && p.Weight.Dim() == 4 { // archives hold parameters of one dimension as those of two
		y := conv(c, x.Unsqueeze(2), p, 2, scale, zero, relu)
		return y.SqueezeDim(2)
	}
	q := quantizedInput(c, x)
	if p.Engine == quant.QNNPACK && x.DType() != tensor.QUInt8 {
		c.Fail(tensor.ErrDType, "%s: expected an input of type quint8 under qnnpack, got %s", c.Op().FullName(),
			x.DType())
	}
	checkOutput(c, scale, zero)
	g, shape := p.plan(c, x, dims)
	d := tensor.NewStrided(shape, innermost(shape), x.DType().Integer())
	p.convolve(g, lastChannels(ints(x)), q, &quant.Result{Engine: p.Engine, Scale: float32(scale), Zero: zero,
		ReLU: relu}, d)
	return tensor.NewQuantized(d, x.DType(), value(scale, zero))
}

// convFloat is a convolution of bytes whose result is float32: with dynamic quantization of the input.
func convFloat(c *Ctx, x *T, p *Conv, dims int, reduceRange bool) *T {
	if x.DType() != tensor.Float32 {
		c.Fail(tensor.ErrDType, "%s: expected an input of type float32, got %s", c.Op().FullName(), x.DType())
	}
	g, shape := p.plan(c, x, dims)
	scale, zero := dynamicParams(x, 0, 255, reduceRange && p.Engine != quant.QNNPACK)
	xq := quantize(lastChannels(x), scale, zero, tensor.QUInt8)
	return p.floats(g, shape, xq)
}

// floats is the float32 result of a convolution of bytes.
func (p *Conv) floats(g quant.Geometry, shape []int, x *T) *T {
	d := tensor.NewStrided(shape, innermost(shape), tensor.Float32)
	p.convolve(g, lastChannels(ints(x)), tensor.QuantizerOf(x), &quant.Result{}, d)
	return d
}

package quantized

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// spatial are the dimensions behind batch and channels that kernels here walk through; convolutions of fewer have a
// single element in the first ones.
const spatial = 3

// geometry is a convolution over an input laid out [batch, positions, channels].
type geometry struct {
	batch, channels, groups               int
	in, out, kernel, stride, pad, dilated [spatial]int
}

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
	p.pack(q, outs)
	plain := !slices.ContainsFunc(p.packed, func(m *matrix) bool { return !m.plain })
	noPadding := !slices.ContainsFunc(p.OutputPadding, func(n int) bool { return n != 0 })
	p.Engine = resolve(Engine(), plain, s.Groups, noPadding)
	return p
}

// pack lays out the weight of each group with a column of [kernel positions, channels] for each output.
func (p *Conv) pack(q *tensor.Quantizer, outs int) {
	w := p.Weight
	kernel := three(w.Shape()[2:], 1)
	nk := size3(kernel)
	b := tensor.Data[int8](tensor.Dense(ints(w)))
	perGroup := outs / p.Groups
	channels := w.Size(1)
	if p.Transpose {
		channels = w.Size(0) / p.Groups
	}
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
	for g := range p.Groups {
		cols := make([]int8, perGroup*nk*channels)
		for o := range perGroup {
			for ch := range channels {
				for k := range nk {
					from, at := ((g*perGroup+o)*channels+ch)*nk+k, k
					if p.Transpose { // a transposed convolution is one with the kernel turned around
						from, at = ((g*channels+ch)*perGroup+o)*nk+k, nk-1-k
					}
					cols[(o*nk+at)*channels+ch] = b[from]
				}
			}
		}
		s := scales
		if len(s) > 1 {
			s = s[g*perGroup : (g+1)*perGroup]
		}
		p.packed = append(p.packed, newMatrix(cols, perGroup, nk*channels, s, zeros[g*perGroup:(g+1)*perGroup]))
	}
}

// plan checks an input and finds the sizes of a convolution.
func (p *Conv) plan(c *Ctx, x *T, dims int) (g geometry, shape []int) {
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
	g = geometry{batch: x.Size(0), channels: channels, groups: p.Groups, in: three(x.Shape()[2:], 1),
		kernel: three(w.Shape()[2:], 1), stride: three(p.Stride, 1), pad: three(p.Padding, 0),
		dilated: three(p.Dilation, 1)}
	extra := three(p.OutputPadding, 0)
	for d := range spatial {
		reach := g.dilated[d]*(g.kernel[d]-1) + 1
		if p.Transpose {
			g.out[d] = (g.in[d]-1)*g.stride[d] - 2*g.pad[d] + reach + extra[d]
		} else if g.out[d] = g.in[d] + 2*g.pad[d] - reach; g.out[d] >= 0 {
			g.out[d] = g.out[d]/g.stride[d] + 1
		}
		if g.out[d] <= 0 || g.in[d] == 0 {
			c.Fail(tensor.ErrShape, "%s: an input of shape %s is too small for a kernel of shape %s", c.Op().FullName(),
				tensor.ShapeString(x.Shape()), tensor.ShapeString(w.Shape()[2:]))
		}
	}
	shape = append([]int{g.batch, p.packed[0].n * p.Groups}, g.out[spatial-dims:]...)
	tensor.Size(shape).Numel()
	return g, shape
}

// gather lays out what the kernel sees at positions from..to of one group: rows of [kernel positions, channels of the
// group], with zero where it sees padding.
func gather[A uint8 | int8](g *geometry, src, dst []A, zero A, group, from, to int) {
	ch := g.channels / g.groups
	k := size3(g.kernel)
	plane := g.out[1] * g.out[2]
	for at := from; at < to; at++ {
		row := dst[(at-from)*k*ch:][:k*ch]
		n, rest := at/size3(g.out), at%size3(g.out)
		pos := [spatial]int{rest / plane, rest / g.out[2] % g.out[1], rest % g.out[2]}
		i := 0
		for a := range g.kernel[0] {
			z := pos[0]*g.stride[0] - g.pad[0] + a*g.dilated[0]
			for b := range g.kernel[1] {
				y := pos[1]*g.stride[1] - g.pad[1] + b*g.dilated[1]
				inside := z >= 0 && z < g.in[0] && y >= 0 && y < g.in[1]
				for e := range g.kernel[2] {
					x := pos[2]*g.stride[2] - g.pad[2] + e*g.dilated[2]
					part := row[i*ch : (i+1)*ch]
					i++
					if !inside || x < 0 || x >= g.in[2] {
						for j := range part {
							part[j] = zero
						}
						continue
					}
					p := ((n*g.in[0]+z)*g.in[1]+y)*g.in[2] + x
					copy(part, src[p*g.channels+group*ch:][:ch])
				}
			}
		}
	}
}

// spread is the input of the ordinary convolution that a transposed one is: its elements stand stride apart, with the
// zero point in between and around.
func spread[A uint8 | int8](g geometry, src []A, zero A) (geometry, []A) {
	wide := g
	for d := range spatial {
		reach := g.dilated[d] * (g.kernel[d] - 1)
		wide.in[d] = g.out[d] + reach // padding becomes part of the input
		wide.stride[d], wide.pad[d] = 1, 0
	}
	dst := make([]A, g.batch*size3(wide.in)*g.channels)
	if zero != 0 {
		for i := range dst {
			dst[i] = zero
		}
	}
	place := func(d, i int) int { return g.dilated[d]*(g.kernel[d]-1) - g.pad[d] + i*g.stride[d] }
	for n := range g.batch {
		for a := range g.in[0] {
			for b := range g.in[1] {
				for e := range g.in[2] {
					z, y, x := place(0, a), place(1, b), place(2, e)
					if z < 0 || y < 0 || x < 0 || z >= wide.in[0] || y >= wide.in[1] || x >= wide.in[2] {
						continue
					}
					from := ((n*g.in[0]+a)*g.in[1]+b)*g.in[2] + e
					to := ((n*wide.in[0]+z)*wide.in[1]+y)*wide.in[2] + x
					copy(dst[to*g.channels:][:g.channels], src[from*g.channels:][:g.channels])
				}
			}
		}
	}
	return wide, dst
}

// isProduct reports a convolution whose input is the left factor as it lies in memory.
func (g *geometry) isProduct() bool {
	return g.groups == 1 && size3(g.kernel) == 1 && size3(g.stride) == 1 && g.pad == [spatial]int{}
}

// rowsAtOnce is how many positions are laid out and multiplied at a time: their bytes stay in a cache.
const rowsAtOnce = 1 << 19

// convolve calls use with the sums of each block of positions of each group, row by row.
func convolve[A uint8 | int8](p *Conv, g geometry, src []A, zero int, use func(group, from, to int, sums []int32)) {
	if p.Transpose {
		g, src = spread(g, src, A(zero))
	}
	total := g.batch * size3(g.out)
	for group, m := range p.packed {
		step := max(1, min(total, rowsAtOnce/max(1, m.k)))
		buf, sums := []A(nil), make([]int32, step*m.n)
		for from := 0; from < total; from += step {
			to := min(total, from+step)
			rows := to - from
			a := src
			if g.isProduct() {
				a = src[from*g.channels : to*g.channels]
			} else {
				if buf == nil {
					buf = make([]A, step*m.k)
				}
				a = buf[:rows*m.k]
				par.For(rows, 1+4096/max(1, m.k), func(lo, hi int) {
					gather(&g, src, a[lo*m.k:hi*m.k], A(zero), group, from+lo, from+hi)
				})
			}
			multiply(m, a, rows, int32(zero), sums[:rows*m.n])
			use(group, from, to, sums[:rows*m.n])
		}
	}
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
	src := lastChannels(ints(x))
	if x.DType() == tensor.QInt8 {
		convInto(p, g, tensor.Memory[int8](src), tensor.Memory[int8](d), q, scale, zero, relu)
	} else {
		convInto(p, g, tensor.Memory[uint8](src), tensor.Memory[uint8](d), q, scale, zero, relu)
	}
	return tensor.NewQuantized(d, x.DType(), value(scale, zero))
}

func convInto[A uint8 | int8](p *Conv, g geometry, src, dst []A, q *tensor.Quantizer, scale float64, zero int,
	relu bool) {
	bias, all := biasOf(p.Bias), len(p.packed)*p.packed[0].n
	outs := make([]*quant.Output, len(p.packed))
	for i, m := range p.packed {
		outs[i] = &quant.Output{Engine: p.Engine, InScale: float32(q.Scale), WScales: m.scales, Scale: float32(scale),
			Zero: zero, ReLU: relu}
		if bias != nil {
			outs[i].Bias = bias[i*m.n : (i+1)*m.n]
		}
		outs[i].Prepare(m.n)
	}
	convolve(p, g, src, q.ZeroPoint, func(group, from, to int, sums []int32) {
		n := p.packed[group].n
		par.For(to-from, 1+4096/max(1, n), func(lo, hi int) {
			if all == n {
				quant.Requantize(outs[group], dst[(from+lo)*n:(from+hi)*n], sums[lo*n:hi*n], n)
				return
			}
			for i := lo; i < hi; i++ {
				quant.Requantize(outs[group], dst[(from+i)*all+group*n:][:n], sums[i*n:(i+1)*n], n)
			}
		})
	})
}

// convFloat is a convolution of bytes whose result is float32: with dynamic quantization of the input.
func convFloat(c *Ctx, x *T, p *Conv, dims int, reduceRange bool) *T {
	if x.DType() != tensor.Float32 {
		c.Fail(tensor.ErrDType, "%s: expected an input of type float32, got %s", c.Op().FullName(), x.DType())
	}
	g, shape := p.plan(c, x, dims)
	scale, zero := dynamicParams(x, 0, 255, reduceRange && p.Engine != quant.QNNPACK)
	xq := quantize(lastChannels(x), scale, zero, tensor.QUInt8)
	return convolved(p, g, shape, tensor.Memory[uint8](ints(xq)), tensor.QuantizerOf(xq))
}

// convolved is the float32 result of a convolution of bytes with the quantizer q.
func convolved(p *Conv, g geometry, shape []int, src []uint8, q *tensor.Quantizer) *T {
	d := tensor.NewStrided(shape, innermost(shape), tensor.Float32)
	dst, bias, all := tensor.Memory[float32](d), biasOf(p.Bias), shape[1]
	convolve(p, g, src, q.ZeroPoint, func(group, from, to int, sums []int32) {
		m := p.packed[group]
		o := &quant.Output{InScale: float32(q.Scale), WScales: m.scales}
		if bias != nil {
			o.Bias = bias[group*m.n : (group+1)*m.n]
		}
		for i := range to - from {
			quant.Scaled(o, dst[(from+i)*all+group*m.n:][:m.n], sums[i*m.n:(i+1)*m.n], m.n)
		}
	})
	return d
}

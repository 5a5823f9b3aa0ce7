package quantized

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/tensor"
)

// Factor is a matrix, or the weight of a convolution, of uint8 or int8 that is multiplied by plain integer tensors, as
// ONNX has them: packed once, with a zero point and a scale for each column or output channel.
type Factor struct {
	w      []*quant.Weights
	kernel []int // of a convolution
	groups int
	dilate []int
}

// FactorNumbers are the numbers of a Factor's columns, each nil, of one element, or of one for each column.
type FactorNumbers struct {
	Zeros  []int32
	Scales []float32
	Bias   []int32 // added to the sums
	// FloatBias is added to the numbers that the sums stand for. It is nil where Bias is not.
	FloatBias []float32
}

// signed reads elements of uint8 or int8 as int8: those of uint8 less 128, which their zero points are, too.
func signed(t *T) (at func(i int) int8, shift int32) {
	t = tensor.Dense(t)
	if t.DType() == tensor.Int8 {
		b := tensor.Data[int8](t)
		return func(i int) int8 { return b[i] }, 0
	}
	b := tensor.Data[uint8](t)
	return func(i int) int8 { return int8(b[i] ^ 128) }, 128
}

// columnsOf spreads numbers over n columns, from column i on.
func (f FactorNumbers) columnsOf(c *quant.Columns, shift int32, i, n int) {
	c.Zeros, c.Scales = make([]int32, n), []float32{1}
	for j := range n {
		if len(f.Zeros) > 0 {
			c.Zeros[j] = f.Zeros[min(i+j, len(f.Zeros)-1)]
		}
		c.Zeros[j] -= shift
	}
	switch {
	case len(f.Scales) == 1:
		c.Scales = f.Scales
	case len(f.Scales) > 1:
		c.Scales = f.Scales[i : i+n]
	}
	if f.Bias != nil {
		c.IntBias = f.Bias[i : i+n]
	}
	if f.FloatBias != nil {
		c.Bias = f.FloatBias[i : i+n]
	}
}

// fits reports whether numbers are there for n columns.
func (f FactorNumbers) fits(n int) bool {
	return (len(f.Zeros) <= 1 || len(f.Zeros) == n) && (len(f.Scales) <= 1 || len(f.Scales) == n) &&
		(f.Bias == nil || len(f.Bias) == n) && (f.FloatBias == nil || len(f.FloatBias) == n)
}

func isBytes(t *T) bool {
	return (t.DType() == tensor.Uint8 || t.DType() == tensor.Int8) && t.Device().Type == tensor.CPUDevice
}

// PackMatrix packs a matrix [k, n] on the CPU; nil where it is none.
func PackMatrix(b *T, f FactorNumbers) *Factor {
	if b.Dim() != 2 || !isBytes(b) || !f.fits(b.Size(1)) {
		return nil
	}
	n := b.Size(1)
	at, shift := signed(b)
	c := &quant.Columns{N: n, Runs: 1, Length: b.Size(0), At: func(c, _, i int) int8 { return at(i*n + c) }}
	f.columnsOf(c, shift, 0, n)
	return &Factor{w: []*quant.Weights{quant.Pack(c)}}
}

// PackKernel packs the weight of a convolution [out, in/groups, kernel...] of up to three dimensions; nil where it is
// none.
func PackKernel(w *T, groups int, dilations []int, f FactorNumbers) *Factor {
	dims := w.Dim() - 2
	if dims < 1 || dims > spatial || !isBytes(w) || groups < 1 || w.Size(0)%groups != 0 || !f.fits(w.Size(0)) ||
		len(dilations) != dims || w.Numel() == 0 {
		return nil
	}
	k := w.Shape()[2:]
	g := quant.Geometry{Channels: w.Size(1) * groups, Groups: groups, Kernel: three(k, 1), Dilated: three(dilations, 1)}
	at, shift := signed(w)
	nk, channels, outs := size3(g.Kernel), w.Size(1), w.Size(0)
	p := &Factor{kernel: slices.Clone(k), groups: groups, dilate: slices.Clone(dilations)}
	plain := !slices.ContainsFunc(f.Zeros, func(z int32) bool { return z != shift }) && (shift == 0 || len(f.Zeros) > 0)
	if plain && g.Depthwise(outs) {
		c := &quant.Columns{N: outs, Runs: nk, Length: 1, Depthwise: true,
			At: func(c, r, _ int) int8 { return at(c*nk + r) }}
		f.columnsOf(c, shift, 0, outs)
		p.w = []*quant.Weights{quant.Pack(c)}
		return p
	}
	runs, length := g.Runs()
	per := outs / groups
	for i := range groups {
		c := &quant.Columns{N: per, Runs: runs, Length: length, At: func(c, r, k int) int8 {
			k += r * length
			return at(((i*per+c)*channels+k%channels)*nk + k/channels)
		}}
		f.columnsOf(c, shift, i*per, per)
		p.w = append(p.w, quant.Pack(c))
	}
	return p
}

// Requantized says how sums of products become bytes: sum*inScale*scale/outScale, rounded to even, plus the zero point.
type Requantized struct {
	InScale, OutScale float32
	Zero              int
	DType             tensor.DType // Uint8 or Int8; Float32 for the numbers before they are rounded
	ReLU              bool         // numbers below 0 become 0
	into              *T           // dense memory for the result; nil: new memory
}

// result makes the result of a product: int32 sums, or bytes.
func (r *Requantized) result(shape, strides []int) (d *T, res *quant.Result, inScale float32) {
	if r == nil {
		d = tensor.NewStrided(shape, strides, tensor.Int32)
		return d, &quant.Result{Ints: tensor.Memory[int32](d)}, 1
	}
	if d = r.into; d == nil {
		d = tensor.NewStrided(shape, strides, r.DType)
	}
	// QNNPACK multiplies by one factor for each column, as ONNX Runtime does.
	return d, into(&quant.Result{Engine: quant.QNNPACK, Scale: r.OutScale, Zero: r.Zero, ReLU: r.ReLU}, d), r.InScale
}

// Multiply multiplies x [..., k], of uint8 or int8, less its zero point, with a matrix. The result is int32, or with r
// bytes; nil where x does not fit.
func (f *Factor) Multiply(x *T, zero int, r *Requantized) *T {
	w := f.w[0]
	if f.kernel != nil || !isBytes(x) || x.Dim() == 0 || x.Size(x.Dim()-1) != w.Length || w.Length == 0 {
		return nil
	}
	shape := outShape(x, w.N)
	d, res, inScale := r.result(shape, tensor.FormatStrides(shape, tensor.ContiguousFormat))
	x = tensor.Dense(x)
	quant.Multiply(w, inputOf(x, value(float64(inScale), zero)), x.Numel()/w.Length, res)
	return d
}

// Convolve convolves x [batch, channels, sizes...], of uint8 or int8, less its zero point; pads are those before each
// dimension, then those behind each. The result, whose channels lie innermost, is int32, or with r bytes; nil where x
// does not fit.
func (f *Factor) Convolve(x *T, zero int, strides, pads []int, r *Requantized) *T {
	g, shape := f.geometry(x, strides, pads)
	if g == nil {
		return nil
	}
	d, res, inScale := r.result(shape, innermost(shape))
	quant.Convolve(g, f.w, inputOf(lastChannels(x), value(float64(inScale), zero)), res)
	return d
}

// geometry is a convolution of x and the shape of its result; nil where x does not fit.
func (f *Factor) geometry(x *T, strides, pads []int) (*quant.Geometry, []int) {
	dims := len(f.kernel)
	if dims == 0 || !isBytes(x) || x.Dim() != dims+2 || len(strides) != dims || len(pads) != 2*dims || x.Numel() == 0 {
		return nil, nil
	}
	g := quant.Geometry{Batch: x.Size(0), Channels: x.Size(1), Groups: f.groups, In: three(x.Shape()[2:], 1),
		Kernel: three(f.kernel, 1), Stride: three(strides, 1), Pad: three(pads[:dims], 0), Dilated: three(f.dilate, 1)}
	end := three(pads[dims:], 0)
	runs, length := g.Runs()
	if w := f.w[0]; g.Channels%g.Groups != 0 || w.Runs*w.Length != runs*length && len(f.w) > 1 ||
		len(f.w) == 1 && g.Groups > 1 && w.N != g.Channels || len(f.w) == 1 && g.Groups == 1 && w.Length != length {
		return nil, nil
	}
	for d := range spatial {
		room := g.In[d] + g.Pad[d] + end[d] - g.Dilated[d]*(g.Kernel[d]-1) - 1
		if room < 0 || g.Stride[d] < 1 || g.Pad[d] < 0 || end[d] < 0 || max(g.Stride[d], g.Pad[d], end[d]) > 1<<24 {
			return nil, nil
		}
		g.Out[d] = room/g.Stride[d] + 1
	}
	if !readable(&g, false) {
		return nil, nil
	}
	return &g, append([]int{g.Batch, f.w[0].N * len(f.w)}, g.Out[spatial-dims:]...)
}

// QuantizeBytes makes bytes of type dt (Uint8 or Int8) of float32 numbers by ONNX's rule, QuantizeLinear: divided by
// scale, rounded to even, plus zero.
func QuantizeBytes(x *T, scale float32, zero int, dt tensor.DType) *T {
	if !x.IsDense() {
		x = tensor.Dense(x)
	}
	d := tensor.NewStrided(x.Shape(), x.Strides(), dt)
	if dt == tensor.Int8 {
		quant.QuantizeDiv(tensor.Memory[int8](d), tensor.Memory[float32](x), scale, zero)
	} else {
		quant.QuantizeDiv(tensor.Memory[uint8](d), tensor.Memory[float32](x), scale, zero)
	}
	return d
}

// DequantizeBytes is the float32 numbers (q - zero)*scale of uint8 or int8.
func DequantizeBytes(x *T, scale float32, zero int) *T {
	if !x.IsDense() {
		x = tensor.Dense(x)
	}
	d := tensor.NewStrided(x.Shape(), x.Strides(), tensor.Float32)
	if x.DType() == tensor.Int8 {
		quant.Dequantize(tensor.Memory[float32](d), tensor.Memory[int8](x), scale, zero)
	} else {
		quant.Dequantize(tensor.Memory[float32](d), tensor.Memory[uint8](x), scale, zero)
	}
	return d
}

// Range is the least and the largest element of a float32 tensor; zeros for none.
func Range(x *T) (lo, hi float32) {
	if !x.IsDense() {
		x = tensor.Dense(x)
	}
	return quant.Range(tensor.Memory[float32](x))
}

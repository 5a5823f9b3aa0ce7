package torchtest_test

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// draws makes arguments of operators from random numbers: often such as fit together, often with one that does not.
type draws struct {
	*rand.Rand
	shape []int        // that most tensors of the call have, or broadcast to
	dt    tensor.DType // that most tensors of the call have
	made  []*tensor.Tensor
	meta  bool // all tensors are on the device meta
}

func newDraws(seed uint64) *draws {
	d := &draws{Rand: rand.New(rand.NewPCG(seed, 1))}
	d.shape = d.anyShape()
	d.dt = tensor.Float32
	if d.IntN(2) == 0 {
		d.dt = d.dtype()
	}
	switch d.IntN(24) {
	case 0: // no element anywhere
		for i := range d.shape {
			d.shape[i] = 0
		}
	case 1: // no memory anywhere
		d.meta = true
	}
	return d
}

// dtype is mostly one that operators compute in, in a few cases one that is made for storage alone.
func (d *draws) dtype() tensor.DType {
	if d.IntN(20) == 0 {
		return pick(d, storageTypes)
	}
	return pick(d, dtypes)
}

var dtypes = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Int64, tensor.Int32,
	tensor.Int16, tensor.Int8, tensor.Uint8, tensor.Bool, tensor.Complex64, tensor.Complex128}

var storageTypes = []tensor.DType{tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Complex32, tensor.Float8E4M3FN,
	tensor.Float8E5M2, tensor.Float8E4M3FNUZ, tensor.Float8E5M2FNUZ, tensor.Float8E8M0FNU}

func pick[E any](d *draws, l []E) E { return l[d.IntN(len(l))] }

// args are the arguments of a call of the operator: the arguments of one of its samples, in which some are replaced, or
// new ones throughout.
func (d *draws) args(op *tensor.Op) []tensor.Value {
	ps := op.Sch.Params
	out := make([]tensor.Value, len(ps))
	given := 0
	if calls := op.Samples(); len(calls) > 0 && d.IntN(3) > 0 {
		given = copy(out, d.copies(pick(d, calls).Args))
	}
	for i := range ps {
		switch {
		case i < given && d.IntN(4) > 0:
		case i >= given && ps[i].Default != nil && d.IntN(2) == 0:
			out[i] = *ps[i].Default
		default:
			out[i] = d.value(&ps[i])
		}
	}
	return out
}

// copies are the arguments of a sample with tensors of their own, of which some have another dtype or layout.
func (d *draws) copies(args []tensor.Value) []tensor.Value {
	out := make([]tensor.Value, len(args))
	change := func(t *tensor.Tensor) *tensor.Tensor {
		if t == nil {
			return nil
		}
		dt := t.DType()
		if d.IntN(6) == 0 {
			dt = d.dtype()
		}
		c := d.laidOut(t.Shape(), dt)
		tensor.CopyRaw(c, t)
		return d.finished(c)
	}
	for i, v := range args {
		switch v.K {
		case tensor.KTensor:
			v = tensor.TensorValue(change(v.T))
		case tensor.KTensors:
			var l []*tensor.Tensor
			for _, t := range v.X.([]*tensor.Tensor) {
				l = append(l, change(t))
			}
			v = tensor.TensorsValue(l)
		}
		out[i] = v
	}
	return out
}

// value is an argument for the parameter, in a few cases one of another kind.
func (d *draws) value(p *tensor.Param) tensor.Value {
	if d.IntN(40) == 0 {
		kind := tensor.Kind(d.IntN(int(tensor.KAny) + 1))
		return d.value(&tensor.Param{Kind: kind})
	}
	if p.Optional && d.IntN(3) == 0 || d.IntN(80) == 0 {
		return tensor.Value{}
	}
	switch p.Kind {
	case tensor.KTensor:
		if d.IntN(80) == 0 {
			return tensor.TensorValue(nil)
		}
		return tensor.TensorValue(d.tensor())
	case tensor.KTensors:
		l := make([]*tensor.Tensor, d.IntN(4))
		for i := range l {
			if !p.ElemOpt && d.IntN(40) > 0 || p.ElemOpt && d.IntN(2) == 0 {
				l[i] = d.tensor()
			}
		}
		return tensor.TensorsValue(l)
	case tensor.KInt:
		return tensor.IntValue(d.int())
	case tensor.KFloat:
		return tensor.FloatValue(d.float())
	case tensor.KBool:
		return tensor.BoolValue(d.IntN(2) == 0)
	case tensor.KComplex:
		return tensor.ComplexValue(complex(d.float(), d.float()))
	case tensor.KScalar:
		return d.number()
	case tensor.KStr:
		return tensor.StrValue(pick(d, texts))
	case tensor.KInts:
		l := make([]int, d.length(p))
		same := d.int()
		for i := range l {
			if l[i] = same; d.IntN(2) == 0 {
				l[i] = d.int()
			}
		}
		return tensor.IntsValue(l)
	case tensor.KFloats:
		l := make([]float64, d.length(p))
		for i := range l {
			l[i] = d.float()
		}
		return tensor.FloatsValue(l)
	case tensor.KBools:
		l := make([]bool, d.length(p))
		for i := range l {
			l[i] = d.IntN(2) == 0
		}
		return tensor.BoolsValue(l)
	case tensor.KScalars:
		l := make([]float64, d.IntN(4))
		for i := range l {
			l[i] = d.float()
		}
		return tensor.FloatsValue(l)
	case tensor.KDType:
		return tensor.DTypeValue(d.dtype())
	case tensor.KDevice:
		return tensor.DeviceValue(pick(d, []tensor.Device{{}, {Type: tensor.MetaDevice}, {Type: 7}, {Index: 3}}))
	case tensor.KFormat:
		return tensor.FormatValue(tensor.MemoryFormat(d.IntN(int(tensor.ChannelsLast3d) + 1)))
	case tensor.KGenerator:
		return tensor.GeneratorValue(rng.New())
	case tensor.KAny:
		return d.value(&tensor.Param{Kind: pick(d, []tensor.Kind{tensor.KInt, tensor.KInts, tensor.KStr, tensor.KTensor,
			tensor.KTensors, tensor.KFloat})})
	}
	return tensor.Value{}
}

// length is mostly the one that the schema fixes, or that of the shape.
func (d *draws) length(p *tensor.Param) int {
	switch {
	case p.Fixed > 0 && d.IntN(4) > 0:
		return p.Fixed
	case d.IntN(2) == 0:
		return len(d.shape)
	}
	return d.IntN(5)
}

// int is mostly a small number, otherwise one that is too large for memory, for 32 bits, or for a product.
func (d *draws) int() int {
	switch d.IntN(12) {
	case 0:
		return pick(d, []int{math.MaxInt, math.MinInt, math.MinInt + 1, math.MaxInt - 1, 1 << 62, -1 << 62, 1 << 40, 1 << 32,
			1<<32 + 1, 1 << 31, -1 << 31, math.MaxInt32, 1 << 24, -1 << 24})
	case 1:
		return pick(d, []int{64, 100, 1000, 4097, 1 << 16, -100, 1 << 20})
	}
	return d.IntN(9) - 3
}

func (d *draws) float() float64 {
	switch d.IntN(6) {
	case 0:
		return pick(d, []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 5e-324, 1e19, -1e19, 1e38, 1e-40,
			math.Copysign(0, -1)})
	case 1:
		return pick(d, []float64{1e3, 1e6, 1e9, -1e6, 0x1p53})
	}
	return float64(d.IntN(17)-8) / 4
}

func (d *draws) number() tensor.Value {
	switch d.IntN(8) {
	case 0:
		return tensor.BoolValue(d.IntN(2) == 0)
	case 1:
		return tensor.ComplexValue(complex(d.float(), d.float()))
	case 2, 3, 4:
		return tensor.FloatValue(d.float())
	}
	return tensor.IntValue(d.int())
}

var texts = []string{"", "mean", "none", "sum", "reflect", "constant", "circular", "replicate", "ij", "xy", "linear",
	"floor", "trunc", "fro", "nuc", "same", "valid", "tanh", "amax", "amin", "prod", "right", "left", "higher", "lower",
	"ij,jk->ik", "...i,...i->...", "ii->i", "->", "a,b", "i...", "raise", "reduced", "complete", "gelsd", "gels", "L", "U",
	"bilinear", "nearest", "bicubic", "max", "forward", "ortho", "backward", "ab", "\x00", "é", "euclidean", "inf", "mul",
	"torch.float32", strings.Repeat("x", 5000), strings.Repeat("a", 60) + "->"}

func (d *draws) anyShape() []int {
	s := make([]int, pick(d, []int{0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6}))
	if d.IntN(60) == 0 { // more dimensions than kernels have loops for
		s = make([]int, pick(d, []int{7, 9, 17, 26, 65}))
		for i := range s {
			s[i] = 1
		}
		s[d.IntN(len(s))] = 2
		return s
	}
	for i := range s {
		s[i] = pick(d, []int{0, 1, 1, 2, 2, 3, 3, 3, 4, 5, 8})
	}
	return s
}

// tensor is mostly one that goes together with the others of the call.
func (d *draws) tensor() *tensor.Tensor {
	if len(d.made) > 0 && d.IntN(10) == 0 {
		t := pick(d, d.made)
		if d.IntN(2) == 0 {
			t = d.sharing(t)
		}
		return t
	}
	shape, dt := append([]int(nil), d.shape...), d.dt
	switch d.IntN(6) {
	case 0:
		shape = d.anyShape()
	case 1:
		for i := range shape {
			if d.IntN(2) == 0 {
				shape[i] = 1
			}
		}
	case 2:
		if len(shape) > 0 {
			shape = shape[d.IntN(len(shape)):]
		}
	}
	if d.IntN(5) == 0 {
		dt = d.dtype()
	}
	t := d.laidOut(shape, dt)
	v := make([]float64, t.Numel())
	wild := d.IntN(4) == 0
	for i := range v {
		switch {
		case wild && dt.IsInt():
			v[i] = float64(d.int())
		case wild:
			v[i] = d.float()
		case dt.IsIntOrBool():
			v[i] = float64(d.IntN(4))
		default:
			v[i] = d.NormFloat64()
		}
	}
	tensor.CopyRaw(t, tensor.FromSlice(v, shape...))
	return d.finished(t)
}

// laidOut is a new tensor of zeros with any memory layout.
func (d *draws) laidOut(shape []int, dt tensor.DType) *tensor.Tensor {
	stride, n := make([]int, len(shape)), 1
	order := d.Perm(len(shape))
	layout := d.IntN(6)
	gap := 1
	if layout == 1 {
		gap = 2
	}
	for k := len(shape) - 1; k >= 0; k-- {
		i := k
		if layout == 2 {
			i = order[k]
		}
		if layout == 3 && d.IntN(2) == 0 {
			continue // expanded: all elements of the dimension share memory
		}
		stride[i] = n * gap
		n *= max(1, shape[i])
	}
	lead := d.IntN(2) * d.IntN(4)
	whole := tensor.New([]int{n*gap + lead}, dt)
	tensor.ZeroRaw(whole)
	if layout > 3 && lead == 0 {
		whole = tensor.New(shape, dt)
		tensor.ZeroRaw(whole)
		return whole
	}
	return tensor.Alias(whole, shape, stride, lead)
}

// sharing is a tensor in a part of the memory of another: all of it in another order, or every element but the first or
// the last along a dimension, so that what is written to one is read through the other.
func (d *draws) sharing(t *tensor.Tensor) *tensor.Tensor {
	if t.Dim() == 0 || t.IsSparse() || t.Numel() == 0 {
		return t
	}
	dim := d.IntN(t.Dim())
	switch n := t.Size(dim); {
	case n > 1 && d.IntN(2) == 0:
		return t.Narrow(dim, d.IntN(2), n-1)
	case d.IntN(2) == 0:
		return t.Detach().Transpose(dim, t.Dim()-1)
	default:
		return t.Select(dim, 0)
	}
}

// finished is the tensor itself or one of its shape: that requires gradients, on the device meta, of coordinates
// (sparse), with its conjugate or negative bit set, or made in inference mode.
func (d *draws) finished(t *tensor.Tensor) *tensor.Tensor {
	differentiable := t.DType().IsDifferentiable()
	switch {
	case d.meta || d.IntN(60) == 0:
		t = tensor.NewOn(tensor.Device{Type: tensor.MetaDevice}, t.Shape(), nil, t.DType())
	case d.IntN(80) == 0 && differentiable && t.Dim() < 8:
		t = d.called("aten::_to_sparse", tensor.TensorValue(t))
	case d.IntN(40) == 0 && differentiable:
		t = d.called(pick(d, []string{"aten::_conj", "aten::_neg_view"}), tensor.TensorValue(t))
	case d.IntN(80) == 0:
		tensor.InferenceMode(func() { t = t.CloneLike() })
	case d.IntN(4) == 0 && (t.IsFloatingPoint() || t.IsComplex()):
		t = t.Detach()
		t.SetRequiresGrad(true)
	}
	d.made = append(d.made, t)
	return t
}

// called is the result of an operator, the tensor itself where the operator refuses it.
func (d *draws) called(name string, v tensor.Value) *tensor.Tensor {
	r, err := tensor.CallOp(name, v)
	if err != nil {
		return v.T
	}
	return r[0].T
}

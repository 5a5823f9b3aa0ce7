package quantization

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// WeightConfig is a configuration of QuantizeInPlace: one of those below.
type WeightConfig interface {
	// check refuses settings that cannot be; quantize makes the quantized form of the weight of a layer.
	check() error
	quantize(w *Tensor) *AffineWeight
}

// QuantizeOptions are the options of QuantizeInPlace.
type QuantizeOptions struct {
	// Filter chooses the layers, among Linear, Embedding and Conv2d; without one all Linear are chosen.
	Filter func(m nn.Module, name string) bool
}

// QuantizeInPlace quantizes the weights of a model's linear layers by a configuration, in place and without data:
// torchao's quantize_. The result is m, or where m itself is a layer the one that takes its place. The layers get
// weights of torchao's types; StateDict writes them as torchao does. A weight that does not fit the configuration, as
// columns that are no multiple of the group, is an error with ErrShape, and then nothing is changed.
// https://docs.pytorch.org/ao/stable/api_reference/generated/torchao.quantization.quantize_.html
func QuantizeInPlace(m nn.Module, config WeightConfig, opts ...QuantizeOptions) (nn.Module, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	filter := func(m nn.Module, _ string) bool { _, linear := m.(*nn.Linear); return linear }
	if len(opts) > 0 && opts[0].Filter != nil {
		filter = opts[0].Filter
	}
	type pair struct{ old, with nn.Module }
	var pairs []pair
	err := tensor.Try(func() {
		tensor.NoGrad(func() {
			for name, c := range nn.NamedModules(m) {
				if !filter(c, name) {
					continue
				}
				w := weightedOf(c)
				if w == nil {
					tensor.Fail(tensor.ErrType, "QuantizeInPlace: %q, a %s, is no Linear, Embedding or Conv2d", name,
						nn.ClassName(c))
				}
				if w.weight = config.quantize(w.float.Detach()); w.weight == nil {
					continue // the configuration leaves such weights as they are
				}
				if o, ok := config.(interface{ fits(layer nn.Module) error }); ok {
					if err := o.fits(c); err != nil {
						panic(err)
					}
				}
				w.float = nil
				nn.SetMode(w, nn.IsTraining(c))
				pairs = append(pairs, pair{c, w})
			}
		})
	})
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if p.old == m {
			return p.with, nil
		}
		nn.Replace(p.old, p.with)
	}
	return m, nil
}

// Int8WeightOnlyConfig quantizes weights to int8, symmetrically; layers compute in the type of their input. The
// granularity is PerRow unless given.
type Int8WeightOnlyConfig struct{ Granularity Granularity }

func (c Int8WeightOnlyConfig) check() error { return nil }

func (c Int8WeightOnlyConfig) fits(l nn.Module) error {
	if _, ok := l.(*nn.Embedding); ok {
		return nil
	}
	return onlyLinear(l, c)
}

func (c Int8WeightOnlyConfig) quantize(w *Tensor) *AffineWeight {
	g := c.Granularity
	if g == 0 {
		g = PerRow
	}
	return int8Weight(w, g, Symmetric, false)
}

// Int8DynamicActivationInt8WeightConfig quantizes weights to int8 and inputs as they come: products of bytes. The
// granularities are PerRow unless given, of inputs for each row (token).
type Int8DynamicActivationInt8WeightConfig struct {
	ActGranularity, Granularity Granularity
	ActMappingType              MappingType // Symmetric or Asymmetric
	ReduceRange                 bool        // use seven of the eight bits
}

func (c Int8DynamicActivationInt8WeightConfig) check() error {
	for i, g := range []Granularity{c.ActGranularity, c.Granularity} {
		if g > 0 {
			return &tensor.Error{Op: "QuantizeInPlace", Err: tensor.ErrValue, Msg: fmt.Sprintf(
				"Unsupported %s granularity type: %s. Only PerTensor and PerRow are supported.",
				[...]string{"activation", "weight"}[i], g)}
		}
	}
	if c.ActMappingType > Asymmetric {
		return &tensor.Error{Op: "QuantizeInPlace", Err: tensor.ErrValue,
			Msg: "Int8DynamicActivationInt8WeightConfig " +
				"requires `act_mapping_type` in (MappingType.SYMMETRIC, MappingType.ASYMMETRIC). Please set it to " +
				"MappingType.SYMMETRIC or MappingType.ASYMMETRIC."}
	}
	return nil
}

func (c Int8DynamicActivationInt8WeightConfig) quantize(w *Tensor) *AffineWeight {
	perRow := func(g Granularity) Granularity {
		if g == 0 {
			return PerRow
		}
		return g
	}
	q := int8Weight(w, perRow(c.Granularity), Symmetric, c.ReduceRange)
	q.act = &activation{granularity: perRow(c.ActGranularity), mapping: c.ActMappingType, reduce: c.ReduceRange}
	return q
}

func (c Int8DynamicActivationInt8WeightConfig) fits(l nn.Module) error { return onlyLinear(l, c) }

func onlyLinear(l nn.Module, config any) error {
	if _, ok := l.(*nn.Linear); ok {
		return nil
	}
	return &tensor.Error{Op: "QuantizeInPlace", Err: tensor.ErrType,
		Msg: fmt.Sprintf("%T is for linear layers, not for a %s", config, nn.ClassName(l))}
}

// IntxWeightOnlyConfig quantizes weights to integers of 1 to 8 bits, which are kept as int8. The weights of Conv2d are
// grouped along their input channels.
type IntxWeightOnlyConfig struct {
	Bits        int          // default 8
	Granularity Granularity  // PerRow (the default), torchao's PerAxis(0), or groups
	MappingType MappingType  // default Symmetric
	ScaleDType  tensor.DType // default that of the weight
	HQQ         bool         // choose scales by half-quadratic quantization
}

func (c IntxWeightOnlyConfig) check() error { return checkIntx(c.Bits, c.Granularity) }

func checkIntx(bits int, g Granularity) error {
	if bits < 0 || bits > 8 {
		return &tensor.Error{Op: "QuantizeInPlace", Err: tensor.ErrValue,
			Msg: fmt.Sprintf("weight_dtype must be torch.intx, where 1 <= x <= 8, but got torch.int%d", bits)}
	}
	if g == PerTensor {
		return &tensor.Error{Op: "QuantizeInPlace", Err: tensor.ErrValue,
			Msg: fmt.Sprintf("granularity must be PerAxis or PerGroup, but got %s", g)}
	}
	return nil
}

func (c IntxWeightOnlyConfig) quantize(w *Tensor) *AffineWeight {
	if w.Dim() != 2 && w.Dim() != 4 {
		tensor.Fail(tensor.ErrShape, "IntxWeightOnlyConfig only works for 2-d and 4-d Tensors, got: %d", w.Dim())
	}
	g := c.Granularity
	if g == 0 {
		g = PerRow
	}
	return intxWeight(w, c.Bits, g, c.MappingType, c.ScaleDType, c.HQQ)
}

// Int8DynamicActivationIntxWeightConfig is IntxWeightOnlyConfig for linear layers whose inputs are rounded to 8 bits as
// they come, asymmetrically and for each row (token).
type Int8DynamicActivationIntxWeightConfig struct {
	Bits              int          // of the weight: default 8
	WeightGranularity Granularity  // default PerGroup(32)
	WeightMappingType MappingType  // default Symmetric
	WeightScaleDType  tensor.DType // default that of the weight
	HQQ               bool         // choose scales by half-quadratic quantization
}

func (c Int8DynamicActivationIntxWeightConfig) check() error {
	return checkIntx(c.Bits, c.WeightGranularity)
}

func (c Int8DynamicActivationIntxWeightConfig) quantize(w *Tensor) *AffineWeight {
	if w.Dim() != 2 {
		tensor.Fail(tensor.ErrShape, "Int8DynamicActivationIntxWeightConfig only works for 2-d Tensor, got: %d",
			w.Dim())
	}
	g := c.WeightGranularity
	if g == 0 {
		g = PerGroup(32)
	}
	q := intxWeight(w, c.Bits, g, c.WeightMappingType, c.WeightScaleDType, c.HQQ)
	q.rounded = true
	return q
}

// Int4WeightOnlyConfig quantizes weights of linear layers to 4 bits in groups, for the kernel
// aten::_weight_int4pack_mm_for_cpu: an element stands for (q - 8)·scale + zero ("tinygemm"). It is what torchao does
// on CPUs. Layers whose inputs are no multiple of the group, or outputs none of 16, stay as they are.
type Int4WeightOnlyConfig struct {
	GroupSize int // 32, 64 or 128, which is the default
}

func (c Int4WeightOnlyConfig) check() error {
	switch c.GroupSize {
	case 0, 32, 64, 128:
		return nil
	}
	return &tensor.Error{Op: "QuantizeInPlace", Err: tensor.ErrValue,
		Msg: fmt.Sprintf("Expecting groupwise quantization "+
			"with group size = 32/64/128, but got block_size: [1, %d]", c.GroupSize)}
}

func (c Int4WeightOnlyConfig) fits(l nn.Module) error { return onlyLinear(l, c) }

func (c Int4WeightOnlyConfig) quantize(w *Tensor) *AffineWeight {
	g := c.GroupSize
	if g == 0 {
		g = 128
	}
	if w.Dim() != 2 || w.Size(1)%g != 0 || w.Size(0)%16 != 0 {
		return nil
	}
	b := blocks{1, g}
	q, scale, zero := chooseTinygemm(w, b)
	r, err := tensor.CallOp("aten::_convert_weight_to_int4pack_for_cpu", tensor.TensorValue(q), tensor.IntValue(1))
	if err != nil {
		panic(err)
	}
	both := torch.Cat([]*Tensor{scale.Unsqueeze(2), zero.Unsqueeze(2)}, torch.CatOptions{Dim: 2})
	both = both.Transpose(0, 1).Contiguous() // [groups, out, 2]
	return &AffineWeight{QData: r[0].T, Scale: both, kind: int4Opaque, blocks: b, shape: w.Shape(), dtype: w.DType(),
		blockSize: b.shape(w)}
}

// int8Weight quantizes a weight to int8.
func int8Weight(w *Tensor, g Granularity, m MappingType, reduce bool) *AffineWeight {
	b := blocksOf(w, g, w.Dim()-1)
	q, scale, zero := quantizeInt8(w, b, m, reduce)
	return &AffineWeight{QData: q, Scale: scale, ZeroPoint: zero, kind: int8Tensor, blocks: b, shape: w.Shape(),
		dtype: w.DType(), bits: 8, blockSize: b.shape(w), reduce: reduce}
}

// quantizeInt8 is torchao's way to int8: scales of float32 that are at least float32's epsilon.
func quantizeInt8(x *Tensor, b blocks, m MappingType, reduce bool) (q, scale, zero *Tensor) {
	r := signedRange(8)
	if reduce {
		r = integerRange{r.least / 2, r.most / 2}
	}
	scale, zero = chooseAffine(x, m, b, r, tensor.FInfo(tensor.Float32).Eps, tensor.Float32)
	return quantizeAffine(x, b, scale, zero, r), scale, zero
}

// intxWeight quantizes a weight to integers of some bits.
func intxWeight(w *Tensor, bits int, g Granularity, m MappingType, scaleType tensor.DType, hqq bool) *AffineWeight {
	if bits == 0 {
		bits = 8
	}
	axis := 1 // input channels
	b, r := blocksOf(w, g, axis), signedRange(bits)
	a := &AffineWeight{kind: intxTensor, blocks: b, shape: w.Shape(), dtype: w.DType(), bits: bits,
		blockSize: b.shape(w)}
	if hqq {
		if w.Dim() != 2 {
			tensor.Fail(tensor.ErrShape,
				"half-quadratic quantization is for matrices [out, in], not for a weight of shape %s",
				tensor.ShapeString(w.Shape()))
		}
		a.QData, a.Scale = chooseHQQ(w, b, r)
		a.ZeroPoint = a.Scale.ZerosLike().To(tensor.Int8)
	} else {
		a.Scale, a.ZeroPoint = chooseAffine(w, m, b, r, 0, 0)
		a.QData = quantizeAffine(w, b, a.Scale, a.ZeroPoint, r)
	}
	if scaleType != 0 && scaleType != w.DType() {
		a.Scale = a.Scale.To(scaleType)
		a.QData = quantizeAffine(w, b, a.Scale, a.ZeroPoint, r)
	}
	return a
}

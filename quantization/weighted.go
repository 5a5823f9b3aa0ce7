package quantization

import (
	"fmt"

	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// weightKind is the class of torchao that a quantized weight is one of.
type weightKind string

const (
	int8Tensor weightKind = "Int8Tensor"
	intxTensor weightKind = "IntxUnpackedToInt8Tensor"
	int4Opaque weightKind = "Int4OpaqueTensor"
)

// activation says how a layer quantizes its input.
type activation struct {
	granularity Granularity
	mapping     MappingType
	reduce      bool
}

// AffineWeight is a weight of integers with a scale and a zero point for each block: torchao's Int8Tensor,
// IntxUnpackedToInt8Tensor, or Int4OpaqueTensor.
type AffineWeight struct {
	// QData are the integers: int8 of the weight's shape, or packed 4-bit numbers (uint8).
	QData *Tensor
	// Scale has an element for each block: the weight's shape with the number of blocks in each dimension. Of packed
	// 4-bit numbers it is [groups, out, 2] with scale and zero.
	Scale *Tensor
	// ZeroPoint is int8 of the shape of Scale; nil for packed numbers.
	ZeroPoint *Tensor

	kind      weightKind
	blocks    blocks
	blockSize []int
	shape     []int
	dtype     tensor.DType // of the numbers that the integers stand for
	bits      int
	reduce    bool
	act       *activation // of Int8Tensor: how inputs are quantized; nil: they are not
	rounded   bool        // of IntxUnpackedToInt8Tensor: inputs are rounded to int8 for each row
}

// Dequantize are the numbers that the integers stand for, in the type of the weight before it was quantized.
func (w *AffineWeight) Dequantize() *Tensor {
	if w.kind == int4Opaque {
		eye := w.Scale.NewZeros([]int{w.shape[1], w.shape[1]}).FillDiagonalInPlace(1.0)
		return w.int4Product(eye).Transpose(0, 1).Contiguous()
	}
	return dequantizeAffine(w.QData, w.blocks, w.Scale, w.ZeroPoint, w.dtype)
}

func (w *AffineWeight) int4Product(x *Tensor) *Tensor {
	r, err := tensor.CallOp("aten::_weight_int4pack_mm_for_cpu", tensor.TensorValue(x), tensor.TensorValue(w.QData),
		tensor.IntValue(w.blocks.size), tensor.TensorValue(w.Scale))
	if err != nil {
		panic(err)
	}
	return r[0].T
}

// linear is x·Wᵀ + bias as torchao computes it.
func (w *AffineWeight) linear(x, bias *Tensor) *Tensor {
	if x.Dim() == 0 || x.Size(-1) != w.shape[1] {
		tensor.Fail(tensor.ErrShape, "mat1 and mat2 shapes cannot be multiplied (%s and %dx%d)",
			tensor.ShapeString(x.Shape()), w.shape[1], w.shape[0])
	}
	out := append(append([]int{}, x.Shape()[:x.Dim()-1]...), w.shape[0])
	rows := x.Reshape([]int{-1, w.shape[1]})
	var y *Tensor
	switch {
	case w.kind == intxTensor:
		if w.rounded {
			b := blocks{1, w.shape[1]}
			r := signedRange(8)
			scale, zero := chooseAffine(rows, Asymmetric, b, r, 0, 0)
			rows = dequantizeAffine(quantizeAffine(rows, b, scale, zero, r), b, scale, zero, x.DType())
		}
		return F.Linear(rows, w.Dequantize(), F.LinearOptions{Bias: bias}).Reshape(out)
	case w.kind == int4Opaque:
		y = w.int4Product(rows.Contiguous())
	case w.act != nil:
		y = w.dynamic(rows)
	case w.blocks.size != 0 && w.blocks.size < w.shape[1]:
		y = rows.MM(w.Dequantize().To(x.DType()).Transpose(0, 1))
	default:
		y = rows.MM(w.QData.To(x.DType()).Transpose(0, 1)).Mul(w.Scale.To(x.DType()).Flatten())
	}
	if bias != nil {
		y = y.Add(bias)
	}
	return y.To(x.DType()).Reshape(out)
}

// dynamic is the product of quantized rows and weight, which is rescaled by the scales of the rows and those of the
// weight in turn.
func (w *AffineWeight) dynamic(x *Tensor) *Tensor {
	q, scale, zero := quantizeInt8(x, blocksOf(x, w.act.granularity, 1), w.act.mapping, w.act.reduce)
	r, err := tensor.CallOp("aten::_int_mm", tensor.TensorValue(q), tensor.TensorValue(w.QData.Transpose(0, 1)))
	if err != nil {
		panic(err)
	}
	y := r[0].T.To(scale.DType()).Mul(scale.Reshape([]int{-1, 1})).To(x.DType())
	if w.act.mapping == Asymmetric {
		sums := w.QData.SumDim([]int{1}).To(scale.DType())
		y = y.Sub(zero.Reshape([]int{-1, 1}).To(scale.DType()).Mul(scale.Reshape([]int{-1, 1})).Mul(sums).To(x.DType()))
	}
	return y.Mul(w.Scale.Flatten())
}

// describe is what the layer prints of its weight.
func (w *AffineWeight) describe() string {
	act := "None"
	if w.rounded {
		act = "int8_asym_per_token"
	}
	switch w.kind {
	case int8Tensor:
		return "Tensor: <class 'torchao.quantization.Int8Tensor'>"
	case intxTensor:
		return fmt.Sprintf("IntxUnpackedToInt8Tensor(target_dtype=torch.int%d, block_size=%s, shape=torch.Size(%s), "+
			"dtype=%s, device=cpu, activation_quantization=%s)", w.bits, tuple(w.blockSize),
			tensor.ShapeString(w.shape),
			w.dtype, act)
	}
	return fmt.Sprintf("Int4OpaqueTensor(shape=torch.Size(%s), block_size=[1, %d], device=cpu)",
		tensor.ShapeString(w.shape), w.blocks.size)
}

// Weighted is a Linear, an Embedding or a Conv2d whose weight is quantized by QuantizeInPlace.
type Weighted struct {
	nn.Base
	Bias   *Tensor `torch:"bias"`
	weight *AffineWeight
	float  *Tensor `torch:"-"` // the weight that is quantized next
	class  string
	repr   string
	apply  func(m *Weighted, x *Tensor) *Tensor
}

// Weight is the quantized weight.
func (m *Weighted) Weight() *AffineWeight { return m.weight }

// ClassName is that of the layer: "Linear".
func (m *Weighted) ClassName() string { return m.class }

// ExtraRepr prints the settings of the layer and the class of the weight.
func (m *Weighted) ExtraRepr() string { return m.repr + ", weight=" + m.weight.describe() }

// Forward applies the layer.
func (m *Weighted) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return m.apply(m, x) })
}

// weightedOf begins the quantized form of a layer; nil where there is none.
func weightedOf(l nn.Module) *Weighted {
	m := &Weighted{class: nn.ClassName(l)}
	if r, ok := l.(interface{ ExtraRepr() string }); ok {
		m.repr = r.ExtraRepr()
	}
	switch l := l.(type) {
	case *nn.Linear:
		m.Bias, m.float = l.Bias, l.Weight
		m.apply = func(m *Weighted, x *Tensor) *Tensor { return m.weight.linear(x, m.Bias) }
	case *nn.Embedding:
		m.float = l.Weight
		m.apply = func(m *Weighted, x *Tensor) *Tensor { return F.Embedding(x, m.weight.Dequantize()) }
	case *nn.Conv2d:
		settings := nn.DeepCopy(l)
		m.Bias, m.float = l.Bias, l.Weight
		settings.Weight, settings.Bias = nil, nil
		m.apply = func(m *Weighted, x *Tensor) *Tensor {
			return convWith(settings, m.weight.Dequantize(), m.Bias).Forward(x)
		}
	default:
		return nil
	}
	return nn.New(m)
}

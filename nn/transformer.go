package nn

import (
	"reflect"

	"github.com/gotorch-dev/torch/internal/fused"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// Activation is the function between the two linear layers of a Transformer layer.
type Activation func(x *Tensor) *Tensor

// The activations that Python spells as strings; any function may be given.
var (
	ActivationReLU Activation = func(x *Tensor) *Tensor { return x.ReLU() }
	ActivationGELU Activation = func(x *Tensor) *Tensor { return x.GELU() }
)

// is reports that both are the same of the functions above.
func (a Activation) is(b Activation) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// feedForward is linear2(dropout(activation(linear1(x)))).
func feedForward(x *Tensor, linear1 *Linear, activation Activation, dropout *Dropout, linear2 *Linear) *Tensor {
	switch {
	case !linear1.unseen():
		x = activation(linear1.Forward(x))
	case activation.is(ActivationReLU):
		x = fused.LinearFused(x, linear1.Weight, linear1.Bias, "relu")
	case activation.is(ActivationGELU):
		x = fused.LinearFused(x, linear1.Weight, linear1.Bias, "gelu")
	default:
		x = activation(linear1.Forward(x))
	}
	return linear2.Forward(dropout.Forward(x))
}

// TransformerLayerOptions are the options of the Transformer's layers; the zero value is PyTorch's default.
type TransformerLayerOptions struct {
	DimFeedforward tensor.Opt[int]     // default 2048
	Dropout        tensor.Opt[float64] // default 0.1
	Activation     Activation          // default ActivationReLU
	LayerNormEps   tensor.Opt[float64] // default 1e-5
	BatchFirst     bool                // inputs are (N, L, E) instead of (L, N, E)
	NormFirst      bool                // normalise before attention and feed-forward instead of after
	NoBias         bool
	DType          tensor.DType
	Device         tensor.Device // where the parameters are made; the default device unless given
}

func (o *TransformerLayerOptions) fill() {
	o.Dropout = tensor.Some(o.Dropout.Or(0.1))
	o.LayerNormEps = tensor.Some(o.LayerNormEps.Or(1e-5))
	if o.Activation == nil {
		o.Activation = ActivationReLU
	}
}

func (o *TransformerLayerOptions) attention(d, heads int) *MultiheadAttention {
	return NewMultiheadAttention(d, heads,
		MultiheadAttentionOptions{Dropout: o.Dropout.Or(0), NoBias: o.NoBias, BatchFirst: o.BatchFirst, DType: o.DType,
			Device: o.Device})
}

func (o *TransformerLayerOptions) linear(in, out int) *Linear {
	return NewLinear(in, out, LinearOptions{NoBias: o.NoBias, DType: o.DType, Device: o.Device})
}

func (o *TransformerLayerOptions) norm(d int) *LayerNorm {
	return NewLayerNorm(d, LayerNormOptions{Eps: o.LayerNormEps, NoBias: o.NoBias, DType: o.DType, Device: o.Device})
}

func (o *TransformerLayerOptions) dropout() *Dropout {
	return NewDropout(DropoutOptions{P: o.Dropout})
}

// TransformerEncoderLayer is self-attention and a feed-forward network, each with a residual connection and
// normalisation.
// https://pytorch.org/docs/stable/generated/torch.nn.TransformerEncoderLayer.html
type TransformerEncoderLayer struct {
	Base
	SelfAttn           *MultiheadAttention
	Linear1            *Linear
	Dropout            *Dropout
	Linear2            *Linear
	Norm1, Norm2       *LayerNorm
	Dropout1, Dropout2 *Dropout
	NormFirst          bool
	Activation         Activation
}

// NewTransformerEncoderLayer makes a TransformerEncoderLayer for dModel features and nhead heads.
func NewTransformerEncoderLayer(dModel, nhead int, opts ...TransformerLayerOptions) *TransformerEncoderLayer {
	o := first(opts)
	o.fill()
	m := &TransformerEncoderLayer{NormFirst: o.NormFirst, Activation: o.Activation}
	m.SelfAttn = o.attention(dModel, nhead)
	m.Linear1 = o.linear(dModel, o.DimFeedforward.Or(2048))
	m.Dropout = o.dropout()
	m.Linear2 = o.linear(o.DimFeedforward.Or(2048), dModel)
	m.Norm1, m.Norm2 = o.norm(dModel), o.norm(dModel)
	m.Dropout1, m.Dropout2 = o.dropout(), o.dropout()
	return New(m)
}

// EncoderMasks are the masks of the encoder's Forward.
type EncoderMasks struct {
	Mask           *Tensor // (L, L) or (N·heads, L, L)
	KeyPaddingMask *Tensor // (N, L)
	IsCausal       bool    // a promise that Mask is causal
}

// Forward applies the layer to (L, N, E), or (N, L, E) when batch first, or (L, E).
func (m *TransformerEncoderLayer) Forward(x *Tensor, masks ...EncoderMasks) *Tensor {
	o := first(masks)
	return m.runBlock(m, x, func(x *Tensor) *Tensor {
		o.KeyPaddingMask, o.Mask = addedMask(o.KeyPaddingMask, x), addedMask(o.Mask, x)
		attend := func(x *Tensor) *Tensor { return m.Dropout1.Forward(selfAttend(m.SelfAttn, x, o, m.Dropout1)) }
		ff := func(x *Tensor) *Tensor {
			return m.Dropout2.Forward(feedForward(x, m.Linear1, m.Activation, m.Dropout, m.Linear2))
		}
		if m.NormFirst {
			x = x.Add(attend(m.Norm1.Forward(x)))
			return x.Add(ff(m.Norm2.Forward(x)))
		}
		x = m.Norm1.Forward(x.Add(attend(x)))
		return m.Norm2.Forward(x.Add(ff(x)))
	})
}

// selfAttend attends from x to itself; dropout is what follows.
func selfAttend(a *MultiheadAttention, x *Tensor, o EncoderMasks, dropout *Dropout) *Tensor {
	y, _ := a.Forward(x, x, x, AttentionOptions{KeyPaddingMask: o.KeyPaddingMask, AttnMask: o.Mask, NoWeights: true,
		IsCausal: o.IsCausal && o.Mask != nil, anyOrder: toFloat(dropout.P) == 0})
	return y
}

// TransformerDecoderLayer is self-attention, attention to the encoder's output, and a feed-forward network.
// https://pytorch.org/docs/stable/generated/torch.nn.TransformerDecoderLayer.html
type TransformerDecoderLayer struct {
	Base
	SelfAttn                     *MultiheadAttention
	MultiheadAttn                *MultiheadAttention
	Linear1                      *Linear
	Dropout                      *Dropout
	Linear2                      *Linear
	Norm1, Norm2, Norm3          *LayerNorm
	Dropout1, Dropout2, Dropout3 *Dropout
	NormFirst                    bool
	Activation                   Activation
}

// NewTransformerDecoderLayer makes a TransformerDecoderLayer for dModel features and nhead heads.
func NewTransformerDecoderLayer(dModel, nhead int, opts ...TransformerLayerOptions) *TransformerDecoderLayer {
	o := first(opts)
	o.fill()
	m := &TransformerDecoderLayer{NormFirst: o.NormFirst, Activation: o.Activation}
	m.SelfAttn = o.attention(dModel, nhead)
	m.MultiheadAttn = o.attention(dModel, nhead)
	m.Linear1 = o.linear(dModel, o.DimFeedforward.Or(2048))
	m.Dropout = o.dropout()
	m.Linear2 = o.linear(o.DimFeedforward.Or(2048), dModel)
	m.Norm1, m.Norm2, m.Norm3 = o.norm(dModel), o.norm(dModel), o.norm(dModel)
	m.Dropout1, m.Dropout2, m.Dropout3 = o.dropout(), o.dropout(), o.dropout()
	return New(m)
}

// DecoderMasks are the masks of the decoder's Forward.
type DecoderMasks struct {
	TgtMask, MemoryMask                     *Tensor
	TgtKeyPaddingMask, MemoryKeyPaddingMask *Tensor
	TgtIsCausal, MemoryIsCausal             bool
}

// Forward applies the layer to the target (L, N, E) and the encoder's output (S, N, E).
func (m *TransformerDecoderLayer) Forward(tgt, memory *Tensor, masks ...DecoderMasks) *Tensor {
	o := first(masks)
	return runN(m, []*Tensor{tgt, memory}, func(in []*Tensor) *Tensor {
		x, memory := in[0], in[1]
		self := func(x *Tensor) *Tensor {
			return m.Dropout1.Forward(selfAttend(m.SelfAttn, x,
				EncoderMasks{o.TgtMask, o.TgtKeyPaddingMask, o.TgtIsCausal}, m.Dropout1))
		}
		cross := func(x *Tensor) *Tensor {
			y, _ := m.MultiheadAttn.Forward(x, memory, memory,
				AttentionOptions{KeyPaddingMask: o.MemoryKeyPaddingMask, AttnMask: o.MemoryMask, NoWeights: true,
					IsCausal: o.MemoryIsCausal && o.MemoryMask != nil, anyOrder: toFloat(m.Dropout2.P) == 0})
			return m.Dropout2.Forward(y)
		}
		ff := func(x *Tensor) *Tensor {
			return m.Dropout3.Forward(feedForward(x, m.Linear1, m.Activation, m.Dropout, m.Linear2))
		}
		if m.NormFirst {
			x = x.Add(self(m.Norm1.Forward(x)))
			x = x.Add(cross(m.Norm2.Forward(x)))
			return x.Add(ff(m.Norm3.Forward(x)))
		}
		x = m.Norm1.Forward(x.Add(self(x)))
		x = m.Norm2.Forward(x.Add(cross(x)))
		return m.Norm3.Forward(x.Add(ff(x)))
	})
}

// TransformerEncoder is a stack of encoder layers.
// https://pytorch.org/docs/stable/generated/torch.nn.TransformerEncoder.html
type TransformerEncoder struct {
	Base
	Layers []*TransformerEncoderLayer
	Norm   Layer
}

// NewTransformerEncoder makes a stack of numLayers copies of a layer, followed by norm unless that is nil.
func NewTransformerEncoder(layer *TransformerEncoderLayer, numLayers int, norm Layer) *TransformerEncoder {
	m := &TransformerEncoder{Norm: norm}
	for range numLayers {
		m.Layers = append(m.Layers, DeepCopy(layer))
	}
	return New(m)
}

// Forward applies the layers. As in PyTorch, positions that the key padding mask ignores are left out in evaluation,
// and zero in the result, when no gradients are recorded, the batch comes first and the padding last, the norms follow
// the other steps, and there is no other mask.
func (m *TransformerEncoder) Forward(x *Tensor, masks ...EncoderMasks) *Tensor {
	o := first(masks)
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if n := m.lengths(x, o); n != nil {
			return m.withoutPadding(x, n)
		}
		o.KeyPaddingMask, o.Mask = addedMask(o.KeyPaddingMask, x), addedMask(o.Mask, x)
		for _, l := range m.Layers {
			x = l.Forward(x, o)
		}
		if m.Norm != nil {
			x = m.Norm.Forward(x)
		}
		return x
	})
}

// TransformerDecoder is a stack of decoder layers.
// https://pytorch.org/docs/stable/generated/torch.nn.TransformerDecoder.html
type TransformerDecoder struct {
	Base
	Layers []*TransformerDecoderLayer
	Norm   Layer
}

// NewTransformerDecoder makes a stack of numLayers copies of a layer, followed by norm unless that is nil.
func NewTransformerDecoder(layer *TransformerDecoderLayer, numLayers int, norm Layer) *TransformerDecoder {
	m := &TransformerDecoder{Norm: norm}
	for range numLayers {
		m.Layers = append(m.Layers, DeepCopy(layer))
	}
	return New(m)
}

// Forward applies the layers.
func (m *TransformerDecoder) Forward(tgt, memory *Tensor, masks ...DecoderMasks) *Tensor {
	o := first(masks)
	return runN(m, []*Tensor{tgt, memory}, func(in []*Tensor) *Tensor {
		x := in[0]
		for _, l := range m.Layers {
			x = l.Forward(x, in[1], o)
		}
		if m.Norm != nil {
			x = m.Norm.Forward(x)
		}
		return x
	})
}

// TransformerOptions are the options of NewTransformer; the zero value is PyTorch's default.
type TransformerOptions struct {
	DModel           tensor.Opt[int] // default 512
	NHead            tensor.Opt[int] // default 8
	NumEncoderLayers tensor.Opt[int] // default 6
	NumDecoderLayers tensor.Opt[int] // default 6
	TransformerLayerOptions
}

// Transformer is an encoder and a decoder (Vaswani et al. 2017).
// https://pytorch.org/docs/stable/generated/torch.nn.Transformer.html
type Transformer struct {
	Base
	Encoder       *TransformerEncoder
	Decoder       *TransformerDecoder
	DModel, NHead int
	BatchFirst    bool
}

// NewTransformer makes a Transformer. Its matrices are drawn by XavierUniform.
func NewTransformer(opts ...TransformerOptions) *Transformer {
	o := first(opts)
	d, h := o.DModel.Or(512), o.NHead.Or(8)
	l := o.TransformerLayerOptions
	l.fill()
	m := &Transformer{DModel: d, NHead: h, BatchFirst: o.BatchFirst}
	m.Encoder = NewTransformerEncoder(NewTransformerEncoderLayer(d, h, l), o.NumEncoderLayers.Or(6), l.norm(d))
	m.Decoder = NewTransformerDecoder(NewTransformerDecoderLayer(d, h, l), o.NumDecoderLayers.Or(6), l.norm(d))
	New(m)
	for _, p := range Parameters(m) {
		if p.Dim() > 1 {
			nninit.XavierUniform(p)
		}
	}
	return m
}

// TransformerMasks are the masks of Transformer's Forward.
type TransformerMasks struct {
	SrcMask, TgtMask, MemoryMask                               *Tensor
	SrcKeyPaddingMask, TgtKeyPaddingMask, MemoryKeyPaddingMask *Tensor
	SrcIsCausal, TgtIsCausal, MemoryIsCausal                   bool
}

// Forward encodes src (S, N, E) and decodes tgt (L, N, E).
func (m *Transformer) Forward(src, tgt *Tensor, masks ...TransformerMasks) *Tensor {
	o := first(masks)
	batch := 1
	if m.BatchFirst {
		batch = 0
	}
	if src.Dim() == 3 && tgt.Dim() == 3 && src.Size(batch) != tgt.Size(batch) {
		tensor.Fail(tensor.ErrShape, "the batch number of src and tgt must be equal")
	}
	if src.Size(-1) != m.DModel || tgt.Size(-1) != m.DModel {
		tensor.Fail(tensor.ErrShape, "the feature number of src and tgt must be equal to d_model")
	}
	return runN(m, []*Tensor{src, tgt}, func(in []*Tensor) *Tensor {
		memory := m.Encoder.Forward(in[0], EncoderMasks{o.SrcMask, o.SrcKeyPaddingMask, o.SrcIsCausal})
		return m.Decoder.Forward(in[1], memory,
			DecoderMasks{o.TgtMask, o.MemoryMask, o.TgtKeyPaddingMask, o.MemoryKeyPaddingMask, o.TgtIsCausal,
				o.MemoryIsCausal})
	})
}

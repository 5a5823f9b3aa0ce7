package models

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// EncoderBlock is a layer of the Vision Transformer's encoder: attention and an MLP, each behind a layer norm and with
// a shortcut around it.
type EncoderBlock struct {
	nn.Base
	LN1           *nn.LayerNorm `torch:"ln_1"`
	SelfAttention *nn.MultiheadAttention
	Dropout       *nn.Dropout
	LN2           *nn.LayerNorm `torch:"ln_2"`
	MLP           *ops.MLP      `torch:"mlp"`
}

func epsNorm(n int) *nn.LayerNorm {
	return nn.NewLayerNorm(n, nn.LayerNormOptions{Eps: tensor.Some(1e-6)})
}

// transformerMLP makes an MLP whose weights are drawn as those of the transformers here are.
func transformerMLP(dim, hidden int, drop float64) *ops.MLP {
	m := ops.NewMLP(dim, []int{hidden, dim}, ops.MLPOptions{Activation: ops.GELU, Dropout: drop})
	initialize(m, nil, func(l *nn.Linear) {
		nninit.XavierUniform(l.Weight)
		nninit.Normal(l.Bias, 0, 1e-6)
	}, false)
	return m
}

func newEncoderBlock(dim, heads, hidden int, drop float64) *EncoderBlock {
	return nn.New(&EncoderBlock{
		LN1:           epsNorm(dim),
		SelfAttention: nn.NewMultiheadAttention(dim, heads, nn.MultiheadAttentionOptions{BatchFirst: true}),
		Dropout:       dropout(drop),
		LN2:           epsNorm(dim),
		MLP:           transformerMLP(dim, hidden, drop),
	})
}

// Forward maps (N, L, dim) to the same shape.
func (m *EncoderBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		y := m.LN1.Forward(x)
		y, _ = m.SelfAttention.Forward(y, y, y, nn.AttentionOptions{NoWeights: true})
		x = m.Dropout.Forward(y).Add(x)
		return x.Add(m.MLP.Forward(m.LN2.Forward(x)))
	})
}

// Encoder is the encoder of the Vision Transformer.
type Encoder struct {
	nn.Base
	PosEmbedding *tensor.Tensor // (1, L, dim)
	Dropout      *nn.Dropout
	Layers       *nn.Sequential
	LN           *nn.LayerNorm `torch:"ln"`
}

// Forward maps (N, L, dim) to the same shape.
func (m *Encoder) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		return nn.Chain(x.Add(m.PosEmbedding), m.Dropout, m.Layers, m.LN)
	})
}

// VisionTransformer is a transformer over patches of the image (Dosovitskiy et al., An Image is Worth 16x16 Words,
// 2020).
type VisionTransformer struct {
	nn.Base
	ConvProj   *nn.Conv2d
	ClassToken *tensor.Tensor // (1, 1, dim)
	Encoder    *Encoder
	Heads      *nn.Sequential
	size       int
}

func newVisionTransformer(patch, layers, heads, dim, hidden int, opts []Options) *VisionTransformer {
	o := optionsOf(opts, 1000)
	size := o.ImageSize
	if size == 0 {
		size = 224
	}
	if size%patch != 0 {
		tensor.Fail(tensor.ErrValue, "VisionTransformer: image size %d is not divisible by the patch size %d", size,
			patch)
	}
	m := &VisionTransformer{size: size,
		ConvProj:   nn.NewConv2d(3, dim, patch, nn.Conv2dOptions{Stride: nn.Size{patch}}),
		ClassToken: nn.NewParameter(torch.Zeros([]int{1, 1, dim}))}
	length, drop := (size/patch)*(size/patch)+1, o.Dropout.Or(0)
	e := &Encoder{PosEmbedding: nn.NewParameter(nninit.Normal(torch.Empty([]int{1, length, dim}), 0, 0.02)),
		Dropout: dropout(drop), Layers: nn.NewSequential()}
	for i := range layers {
		e.Layers.Add(fmt.Sprintf("encoder_layer_%d", i), newEncoderBlock(dim, heads, hidden, drop))
	}
	e.LN = epsNorm(dim)
	m.Encoder = nn.New(e)
	head := nn.NewLinear(dim, o.NumClasses)
	m.Heads = nn.NewSequential().Add("head", head)
	truncNormal(m.ConvProj.Weight, math.Sqrt(1/float64(3*patch*patch)))
	nninit.Zeros(m.ConvProj.Bias)
	nninit.Zeros(head.Weight)
	nninit.Zeros(head.Bias)
	return nn.New(m)
}

// Forward maps images (N, 3, size, size) to logits (N, classes).
func (m *VisionTransformer) Forward(x *tensor.Tensor) *tensor.Tensor {
	if h, w := x.Size(-2), x.Size(-1); x.Dim() != 4 || h != m.size || w != m.size {
		tensor.Fail(tensor.ErrShape, "VisionTransformer: wrong image size, expected (N, 3, %d, %d) but got %s", m.size,
			m.size, tensor.ShapeString(x.Shape()))
	}
	x = m.ConvProj.Forward(x).Flatten(tensor.FlattenOptions{StartDim: 2}).Permute([]int{0, 2, 1})
	token := m.ClassToken.Expand([]int{x.Size(0), -1, -1})
	x = torch.Cat([]*tensor.Tensor{token, x}, torch.CatOptions{Dim: 1})
	return m.Heads.Forward(m.Encoder.Forward(x).Select(1, 0))
}

// NewViTB16 makes torchvision's vit_b_16.
func NewViTB16(opts ...Options) *VisionTransformer {
	return newVisionTransformer(16, 12, 12, 768, 3072, opts)
}

// NewViTB32 makes torchvision's vit_b_32.
func NewViTB32(opts ...Options) *VisionTransformer {
	return newVisionTransformer(32, 12, 12, 768, 3072, opts)
}

// NewViTL16 makes torchvision's vit_l_16.
func NewViTL16(opts ...Options) *VisionTransformer {
	return newVisionTransformer(16, 24, 16, 1024, 4096, opts)
}

// NewViTL32 makes torchvision's vit_l_32.
func NewViTL32(opts ...Options) *VisionTransformer {
	return newVisionTransformer(32, 24, 16, 1024, 4096, opts)
}

// NewViTH14 makes torchvision's vit_h_14.
func NewViTH14(opts ...Options) *VisionTransformer {
	return newVisionTransformer(14, 32, 16, 1280, 5120, opts)
}

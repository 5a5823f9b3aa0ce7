package models

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// MaxVitConv is MaxViT's MBConv: a depthwise convolution between two of 1x1, with a shortcut around them.
type MaxVitConv struct {
	nn.Base
	Proj            nn.Layer
	Layers          *nn.Sequential
	StochasticDepth *ops.StochasticDepth
}

// ClassName is the name that the module prints.
func (m *MaxVitConv) ClassName() string { return "MBConv" }

// Forward maps (N, in, H, W) to (N, out, H/stride, W/stride).
func (m *MaxVitConv) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		around := m.Proj.Forward(x)
		return around.Add(m.StochasticDepth.Forward(m.Layers.Forward(x)))
	})
}

// slowBatchNorm is the batch norm of MaxViT.
var slowBatchNorm = ops.BatchNorm2d(slowNorm)

func newMaxVitConv(in, out, stride int, drop float64) *MaxVitConv {
	m := &MaxVitConv{Proj: nn.NewIdentity()}
	if stride != 1 || in != out {
		conv, s := nn.NewConv2d(in, out, 1), nn.NewSequential()
		if stride == 2 {
			s.Append(nn.NewAvgPool2d(3, nn.AvgPool2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}}))
		}
		m.Proj = s.Append(conv)
	}
	mid := 4 * out
	conv := func(in, kernel, stride, groups int) nn.Layer {
		return ops.NewConv2dNormActivation(in, mid, ops.ConvNormActivationOptions{KernelSize: nn.Size{kernel},
			Stride: nn.Size{stride}, Groups: groups, Norm: slowBatchNorm, Activation: ops.GELU})
	}
	m.StochasticDepth = ops.NewStochasticDepth(drop, ops.RowMode)
	m.Layers = nn.NewSequential().Add("pre_norm", slowBatchNorm(in)).
		Add("conv_a", conv(in, 1, 1, 1)).Add("conv_b", conv(mid, 3, stride, mid)).
		Add("squeeze_excitation", ops.NewSqueezeExcitation(mid, out/4,
			ops.SqueezeExcitationOptions{Activation: ops.SiLU})).
		Add("conv_c", nn.NewConv2d(mid, out, 1))
	return nn.New(m)
}

// RelativePositionalMultiHeadAttention is attention among the positions of a square, with a learnt number for each
// offset between them.
type RelativePositionalMultiHeadAttention struct {
	nn.Base
	RelativePositionBiasTable *tensor.Tensor
	RelativePositionIndex     *tensor.Tensor `torch:",buffer"`
	ToQKV                     *nn.Linear     `torch:"to_qkv"`
	Merge                     *nn.Linear
	headDim                   int
}

func newRelativeAttention(dim, headDim, side int) *RelativePositionalMultiHeadAttention {
	heads := dim / headDim
	table := torch.Empty([]int{(2*side - 1) * (2*side - 1), heads})
	m := &RelativePositionalMultiHeadAttention{ToQKV: nn.NewLinear(dim, 3*dim), Merge: nn.NewLinear(dim, dim),
		RelativePositionBiasTable: nn.NewParameter(table), headDim: headDim,
		RelativePositionIndex: tensor.FromSlice(relativeIndex(side, side), side*side, side*side).
			To(tensor.DefaultDevice())}
	truncNormal(m.RelativePositionBiasTable, 0.02)
	return nn.New(m)
}

// Forward maps (N, groups, positions, dim) to the same shape.
func (m *RelativePositionalMultiHeadAttention) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		n, g, p, d := x.Size(0), x.Size(1), x.Size(2), x.Size(3)
		heads := d / m.headDim
		qkv := m.ToQKV.Forward(x).Chunk(3, tensor.ChunkOptions{Dim: -1})
		for i := range qkv {
			qkv[i] = qkv[i].Reshape([]int{n, g, p, heads, m.headDim}).Permute([]int{0, 1, 3, 2, 4})
		}
		k := qkv[1].MulScalar(math.Pow(float64(d), -0.5))
		bias := m.RelativePositionBiasTable.IndexSelect(0, m.RelativePositionIndex.View([]int{-1})).
			View([]int{p, p, heads}).Permute([]int{2, 0, 1}).Unsqueeze(0)
		attn := qkv[0].MatMul(k.Transpose(-2, -1)).Add(bias).Softmax(-1)
		return m.Merge.Forward(attn.MatMul(qkv[2]).Permute([]int{0, 1, 3, 2, 4}).Reshape([]int{n, g, p, d}))
	})
}

// PartitionAttention is attention and an MLP over windows of (N, C, H, W), or over grids of pixels that lie apart.
type PartitionAttention struct {
	nn.Base
	AttnLayer         *nn.Sequential
	MLPLayer          *nn.Sequential `torch:"mlp_layer"`
	StochasticDropout *ops.StochasticDepth
	partition         int
	grid              bool
}

// ClassName is the name that the module prints.
func (m *PartitionAttention) ClassName() string { return "PartitionAttentionLayer" }

func newPartitionAttention(dim, headDim, partition int, grid bool, drop float64) *PartitionAttention {
	return nn.New(&PartitionAttention{
		AttnLayer: nn.NewSequential(nn.NewLayerNorm(dim), newRelativeAttention(dim, headDim, partition), dropout(0)),
		MLPLayer: nn.NewSequential(nn.NewLayerNorm(dim), nn.NewLinear(dim, 4*dim), nn.NewGELU(),
			nn.NewLinear(4*dim, dim), dropout(0)),
		StochasticDropout: ops.NewStochasticDepth(drop, ops.RowMode), partition: partition, grid: grid,
	})
}

// Forward maps (N, C, H, W) to the same shape; H and W have to be multiples of the partition's size.
func (m *PartitionAttention) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		n, c, h, w := x.Size(0), x.Size(1), x.Size(2), x.Size(3)
		if h%m.partition != 0 || w%m.partition != 0 {
			tensor.Fail(tensor.ErrShape,
				"MaxVit: grid size must be divisible by partition size. Got grid size of (%d, "+
					"%d) and partition size of %d", h, w, m.partition)
		}
		// a window has partition x partition neighbours, a grid as many pixels at equal distances
		ph, pw := m.partition, m.partition
		if m.grid {
			ph, pw = h/m.partition, w/m.partition
		}
		x = x.Reshape([]int{n, c, h / ph, ph, w / pw, pw}).Permute([]int{0, 2, 4, 3, 5, 1}).
			Reshape([]int{n, h / ph * (w / pw), ph * pw, c})
		if m.grid {
			x = x.SwapAxes(-2, -3)
		}
		x = x.Add(m.StochasticDropout.Forward(m.AttnLayer.Forward(x)))
		x = x.Add(m.StochasticDropout.Forward(m.MLPLayer.Forward(x)))
		if m.grid {
			x = x.SwapAxes(-2, -3)
		}
		return x.Reshape([]int{n, h / ph, w / pw, ph, pw, c}).Permute([]int{0, 5, 1, 3, 2, 4}).Reshape([]int{n, c, h,
			w})
	})
}

// MaxVitLayer is MaxVitConv and the two attentions; MaxVitBlock a stage of them.
type MaxVitLayer struct {
	nn.Base
	Layers *nn.Sequential
}

// Forward maps (N, in, H, W) to (N, out, H/stride, W/stride).
func (m *MaxVitLayer) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Run(m, x, m.Layers.Forward) }

// MaxVitBlock is a stage of MaxVitLayers.
type MaxVitBlock struct {
	nn.Base
	Layers *nn.ModuleList
}

// Forward maps (N, in, H, W) to (N, out, H/2, W/2).
func (m *MaxVitBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		for _, l := range m.Layers.All() {
			x = l.(nn.Layer).Forward(x)
		}
		return x
	})
}

// MaxVit is a network of convolutions and attention inside windows and grids (Tu et al., MaxViT: Multi-Axis Vision
// Transformer, 2022).
type MaxVit struct {
	nn.Base
	Stem       *nn.Sequential
	Blocks     *nn.ModuleList
	Classifier *nn.Sequential
}

// NewMaxVitT makes torchvision's maxvit_t, for images whose sides are multiples of 32·7.
func NewMaxVitT(opts ...Options) *MaxVit {
	const headDim, partition = 32, 7
	o := optionsOf(opts, 1000)
	in, depths := 64, []int{2, 2, 5, 2}
	m := &MaxVit{Blocks: nn.NewModuleList(), Stem: nn.NewSequential(
		ops.NewConv2dNormActivation(3, in, ops.ConvNormActivationOptions{Stride: nn.Size{2}, Norm: slowBatchNorm,
			Activation: ops.GELU, Bias: tensor.Some(false)}),
		ops.NewConv2dNormActivation(in, in, ops.ConvNormActivationOptions{NoNorm: true, NoActivation: true}))}
	total, done, last := 0, 0, o.StochasticDepth.Or(0.2)
	for _, n := range depths {
		total += n
	}
	for i, n := range depths {
		out, block := 64<<i, nn.NewModuleList()
		for j := range n {
			stride := 1
			if j == 0 {
				stride = 2
			}
			drop := depthRate(last, done, total)
			block.Append(nn.New(&MaxVitLayer{Layers: nn.NewSequential().
				Add("MBconv", newMaxVitConv(in, out, stride, drop)).
				Add("window_attention", newPartitionAttention(out, headDim, partition, false, drop)).
				Add("grid_attention", newPartitionAttention(out, headDim, partition, true, drop))}))
			in = out
			done++
		}
		m.Blocks.Append(nn.New(&MaxVitBlock{Layers: block}))
	}
	m.Classifier = nn.NewSequential(nn.NewAdaptiveAvgPool2d(1), nn.NewFlatten(), nn.NewLayerNorm(in),
		nn.NewLinear(in, in), nn.NewTanh(), nn.NewLinear(in, o.NumClasses, nn.LinearOptions{NoBias: true}))
	nn.New(m)
	initialize(m, func(c *nn.Conv2d) { nninit.Normal(c.Weight, 0, 0.02) }, normalLinear(0.02), true)
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *MaxVit) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Stem.Forward(x)
	for _, b := range m.Blocks.All() {
		x = b.(nn.Layer).Forward(x)
	}
	return m.Classifier.Forward(x)
}

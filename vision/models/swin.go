package models

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// relativeIndex numbers the pairs of positions of an h x w window by their offset: (h·w·h·w) entries of a table of
// (2h-1)·(2w-1).
func relativeIndex(h, w int) []int64 {
	index := make([]int64, 0, h*w*h*w)
	for i := range h * w {
		for j := range h * w {
			index = append(index, int64((i/w-j/w+h-1)*(2*w-1)+i%w-j%w+w-1))
		}
	}
	return index
}

// ShiftedWindowAttention is attention inside windows of (N, H, W, C), which may be shifted against the image. The first
// version adds a learnt number for each offset, the second compares directions of queries and keys, and computes that
// number from the offset.
type ShiftedWindowAttention struct {
	nn.Base
	RelativePositionBiasTable *tensor.Tensor // ((2h-1)·(2w-1), heads); first version
	LogitScale                *tensor.Tensor // (heads, 1, 1); second version
	RelativeCoordsTable       *tensor.Tensor `torch:",buffer"` // (1, 2h-1, 2w-1, 2); second version
	RelativePositionIndex     *tensor.Tensor `torch:",buffer"` // (h·w·h·w)
	QKV                       *nn.Linear     `torch:"qkv"`
	Proj                      *nn.Linear
	CPBMLP                    *nn.Sequential `torch:"cpb_mlp"` // second version
	window, shift             [2]int
	heads                     int
}

func newWindowAttention(dim int, window, shift [2]int, heads int, v2 bool) *ShiftedWindowAttention {
	m := &ShiftedWindowAttention{QKV: nn.NewLinear(dim, 3*dim), Proj: nn.NewLinear(dim, dim), window: window,
		shift: shift, heads: heads}
	h, w := window[0], window[1]
	m.RelativePositionIndex = tensor.FromSlice(relativeIndex(h, w)).To(tensor.DefaultDevice())
	if !v2 {
		m.RelativePositionBiasTable = nn.NewParameter(torch.Zeros([]int{(2*h - 1) * (2*w - 1), heads}))
		truncNormal(m.RelativePositionBiasTable, 0.02)
		return nn.New(m)
	}
	m.RelativeCoordsTable = logOffsets(h, w)
	m.LogitScale = nn.NewParameter(torch.Ones([]int{heads, 1, 1}).MulScalar(10).Log())
	m.CPBMLP = nn.NewSequential(nn.NewLinear(2, 512), relu(),
		nn.NewLinear(512, heads, nn.LinearOptions{NoBias: true}))
	return nn.New(m)
}

// logOffsets are the offsets inside a window on a logarithmic scale, 1 for the largest one of a window of 8:
// (1, 2h-1, 2w-1, 2). Each step is rounded to float32, as PyTorch's are.
func logOffsets(h, w int) *tensor.Tensor {
	scaled := func(i, n int) float32 {
		x := float64(float32(i) / float32(n-1) * 8)
		y := float32(math.Log2(float64(float32(math.Abs(x) + 1))))
		return float32(math.Copysign(float64(y), x)) / 3
	}
	table := make([]float32, 0, (2*h-1)*(2*w-1)*2)
	for y := 1 - h; y < h; y++ {
		for x := 1 - w; x < w; x++ {
			table = append(table, scaled(y, h), scaled(x, w))
		}
	}
	return tensor.FromSlice(table, 1, 2*h-1, 2*w-1, 2).To(tensor.DefaultDevice())
}

// bias is the number for each offset, (1, heads, h·w, h·w).
func (m *ShiftedWindowAttention) bias() *tensor.Tensor {
	table := m.RelativePositionBiasTable
	if m.CPBMLP != nil {
		table = m.CPBMLP.Forward(m.RelativeCoordsTable).View([]int{-1, m.heads})
	}
	n := m.window[0] * m.window[1]
	b := table.IndexSelect(0, m.RelativePositionIndex).View([]int{n, n, -1}).Permute([]int{2, 0, 1}).Contiguous().
		Unsqueeze(0)
	if m.CPBMLP != nil {
		b = b.Sigmoid().MulScalar(16)
	}
	return b
}

// shiftMask is -100 for the pairs of positions that lie in one shifted window, but in different parts of the image:
// (windows, h·w, h·w).
func shiftMask(h, w int, window, shift [2]int) *tensor.Tensor {
	part := func(i, n, window, shift int) int {
		switch {
		case i < n-window:
			return 0
		case i < n-shift:
			return 1
		}
		return 2
	}
	across, area := w/window[1], window[0]*window[1]
	parts := make([]int, h*w) // by window, then by place in it
	for y := range h {
		for x := range w {
			at := (y/window[0]*across+x/window[1])*area + y%window[0]*window[1] + x%window[1]
			parts[at] = 3*part(y, h, window[0], shift[0]) + part(x, w, window[1], shift[1])
		}
	}
	mask := make([]float32, h*w*area)
	for i, p := range parts {
		for j := range area {
			if parts[i/area*area+j] != p {
				mask[i*area+j] = -100
			}
		}
	}
	return tensor.FromSlice(mask, h*w/area, area, area)
}

// Forward maps (N, H, W, C) to the same shape.
func (m *ShiftedWindowAttention) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, m.forward)
}

func (m *ShiftedWindowAttention) forward(x *tensor.Tensor) *tensor.Tensor {
	n, height, width, c := x.Size(0), x.Size(1), x.Size(2), x.Size(3)
	wh, ww := m.window[0], m.window[1]
	h, w := (height+wh-1)/wh*wh, (width+ww-1)/ww*ww
	x = F.Pad(x, []int{0, 0, 0, w - width, 0, h - height})
	shift := m.shift
	if wh >= h { // a window that covers the image needs no shift
		shift[0] = 0
	}
	if ww >= w {
		shift[1] = 0
	}
	if shift != [2]int{} {
		x = x.Roll([]int{-shift[0], -shift[1]}, tensor.RollOptions{Dims: []int{1, 2}})
	}
	windows, area := h/wh*(w/ww), wh*ww
	x = x.View([]int{n, h / wh, wh, w / ww, ww, c}).Permute([]int{0, 1, 3, 2, 4, 5}).Reshape([]int{n * windows, area,
		c})
	qkvBias := m.QKV.Bias
	if m.LogitScale != nil { // keys have no bias in the second version
		b := qkvBias.Chunk(3)
		qkvBias = torch.Cat([]*tensor.Tensor{b[0], b[1].ZerosLike(), b[2]})
	}
	qkv := F.Linear(x, m.QKV.Weight, F.LinearOptions{Bias: qkvBias}).
		Reshape([]int{n * windows, area, 3, m.heads, c / m.heads}).Permute([]int{2, 0, 3, 1, 4})
	q, k, v := qkv.Select(0, 0), qkv.Select(0, 1), qkv.Select(0, 2)
	var attn *tensor.Tensor
	if m.LogitScale != nil {
		unit := F.NormalizeOptions{Dim: tensor.Some(-1)}
		attn = F.Normalize(q, unit).MatMul(F.Normalize(k, unit).Transpose(-2, -1))
		attn = attn.Mul(m.LogitScale.ClampScalar(tensor.ClampScalarOptions{Max: math.Log(100)}).Exp())
	} else {
		attn = q.MulScalar(math.Pow(float64(c/m.heads), -0.5)).MatMul(k.Transpose(-2, -1))
	}
	attn = attn.Add(m.bias())
	if shift != [2]int{} {
		mask := shiftMask(h, w, m.window, shift).To(x.DType(), x.Device())
		attn = attn.View([]int{n, windows, m.heads, area, area}).Add(mask.Unsqueeze(1).Unsqueeze(0)).
			View([]int{-1, m.heads, area, area})
	}
	x = attn.Softmax(-1).MatMul(v).Transpose(1, 2).Reshape([]int{n * windows, area, c})
	x = m.Proj.Forward(x).View([]int{n, h / wh, w / ww, wh, ww, c}).Permute([]int{0, 1, 3, 2, 4, 5}).
		Reshape([]int{n, h, w, c})
	if shift != [2]int{} {
		x = x.Roll([]int{shift[0], shift[1]}, tensor.RollOptions{Dims: []int{1, 2}})
	}
	return x.Narrow(1, 0, height).Narrow(2, 0, width).Contiguous()
}

// SwinTransformerBlock is window attention and an MLP, each with a layer norm and a shortcut: the norm stands before
// the attention in the first version, behind it in the second.
type SwinTransformerBlock struct {
	nn.Base
	Norm1           *nn.LayerNorm
	Attn            *ShiftedWindowAttention
	StochasticDepth *ops.StochasticDepth
	Norm2           *nn.LayerNorm
	MLP             *ops.MLP `torch:"mlp"`
	v2              bool
}

// Forward maps (N, H, W, C) to the same shape.
func (m *SwinTransformerBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		if m.v2 {
			x = x.Add(m.StochasticDepth.Forward(m.Norm1.Forward(m.Attn.Forward(x))))
			return x.Add(m.StochasticDepth.Forward(m.Norm2.Forward(m.MLP.Forward(x))))
		}
		x = x.Add(m.StochasticDepth.Forward(m.Attn.Forward(m.Norm1.Forward(x))))
		return x.Add(m.StochasticDepth.Forward(m.MLP.Forward(m.Norm2.Forward(x))))
	})
}

// PatchMerging joins four neighbouring pixels of (N, H, W, C) to one of 2C channels.
type PatchMerging struct {
	nn.Base
	Reduction *nn.Linear
	Norm      *nn.LayerNorm
	v2        bool
}

func newPatchMerging(dim int, v2 bool) *PatchMerging {
	norm := 4 * dim
	if v2 {
		norm = 2 * dim
	}
	return nn.New(&PatchMerging{Reduction: nn.NewLinear(4*dim, 2*dim, nn.LinearOptions{NoBias: true}),
		Norm: nn.NewLayerNorm(norm), v2: v2})
}

// ClassName is the name that the module prints.
func (m *PatchMerging) ClassName() string {
	if m.v2 {
		return "PatchMergingV2"
	}
	return "PatchMerging"
}

// Forward maps (N, H, W, C) to (N, ⌈H/2⌉, ⌈W/2⌉, 2C).
func (m *PatchMerging) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		x = F.Pad(x, []int{0, 0, 0, x.Size(-2) % 2, 0, x.Size(-3) % 2})
		every := func(x *tensor.Tensor, dim, from int) *tensor.Tensor {
			return x.SliceAlong(tensor.SliceAlongOptions{Dim: dim, Start: tensor.Some(from), Step: tensor.Some(2)})
		}
		var parts []*tensor.Tensor
		for _, at := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
			parts = append(parts, every(every(x, -3, at[0]), -2, at[1]))
		}
		x = torch.Cat(parts, torch.CatOptions{Dim: -1})
		if m.v2 {
			return m.Norm.Forward(m.Reduction.Forward(x))
		}
		return m.Reduction.Forward(m.Norm.Forward(x))
	})
}

// SwinTransformer is a transformer with attention inside windows (Liu et al., Swin Transformer: Hierarchical Vision
// Transformer using Shifted Windows, 2021; Swin Transformer V2: Scaling Up Capacity and Resolution, 2022).
type SwinTransformer struct {
	nn.Base
	Features *nn.Sequential
	Norm     *nn.LayerNorm
	Permute  *ops.Permute
	AvgPool  *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	Flatten  *nn.Flatten
	Head     *nn.Linear
}

func newSwinTransformer(dim, window int, depths, heads [4]int, depth float64, v2 bool,
	opts []Options) *SwinTransformer {
	o := optionsOf(opts, 1000)
	f := nn.NewSequential(nn.NewSequential(nn.NewConv2d(3, dim, 4, nn.Conv2dOptions{Stride: nn.Size{4}}),
		ops.NewPermute([]int{0, 2, 3, 1}), nn.NewLayerNorm(dim)))
	total, done := depths[0]+depths[1]+depths[2]+depths[3], 0
	for i, n := range depths {
		stage := nn.NewSequential()
		for j := range n {
			shift := window / 2 * (j % 2)
			stage.Append(nn.New(&SwinTransformerBlock{Norm1: nn.NewLayerNorm(dim),
				Attn: newWindowAttention(dim, [2]int{window, window}, [2]int{shift, shift}, heads[i], v2),
				StochasticDepth: ops.NewStochasticDepth(depthRate(o.StochasticDepth.Or(depth), done, total),
					ops.RowMode),
				Norm2: nn.NewLayerNorm(dim), MLP: transformerMLP(dim, 4*dim, o.Dropout.Or(0)), v2: v2}))
			done++
		}
		f.Append(stage)
		if i < 3 {
			f.Append(newPatchMerging(dim, v2))
			dim *= 2
		}
	}
	m := nn.New(&SwinTransformer{Features: f, Norm: nn.NewLayerNorm(dim), Permute: ops.NewPermute([]int{0, 3, 1, 2}),
		AvgPool: nn.NewAdaptiveAvgPool2d(1), Flatten: nn.NewFlatten(), Head: nn.NewLinear(dim, o.NumClasses)})
	initialize(m, nil, func(l *nn.Linear) { truncNormal(l.Weight, 0.02) }, true)
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *SwinTransformer) Forward(x *tensor.Tensor) *tensor.Tensor {
	return nn.Chain(x, m.Features, m.Norm, m.Permute, m.AvgPool, m.Flatten, m.Head)
}

// NewSwinT makes torchvision's swin_t.
func NewSwinT(opts ...Options) *SwinTransformer {
	return newSwinTransformer(96, 7, [4]int{2, 2, 6, 2}, [4]int{3, 6, 12, 24}, 0.2, false, opts)
}

// NewSwinS makes torchvision's swin_s.
func NewSwinS(opts ...Options) *SwinTransformer {
	return newSwinTransformer(96, 7, [4]int{2, 2, 18, 2}, [4]int{3, 6, 12, 24}, 0.3, false, opts)
}

// NewSwinB makes torchvision's swin_b.
func NewSwinB(opts ...Options) *SwinTransformer {
	return newSwinTransformer(128, 7, [4]int{2, 2, 18, 2}, [4]int{4, 8, 16, 32}, 0.5, false, opts)
}

// NewSwinV2T makes torchvision's swin_v2_t.
func NewSwinV2T(opts ...Options) *SwinTransformer {
	return newSwinTransformer(96, 8, [4]int{2, 2, 6, 2}, [4]int{3, 6, 12, 24}, 0.2, true, opts)
}

// NewSwinV2S makes torchvision's swin_v2_s.
func NewSwinV2S(opts ...Options) *SwinTransformer {
	return newSwinTransformer(96, 8, [4]int{2, 2, 18, 2}, [4]int{3, 6, 12, 24}, 0.3, true, opts)
}

// NewSwinV2B makes torchvision's swin_v2_b.
func NewSwinV2B(opts ...Options) *SwinTransformer {
	return newSwinTransformer(128, 8, [4]int{2, 2, 18, 2}, [4]int{4, 8, 16, 32}, 0.5, true, opts)
}

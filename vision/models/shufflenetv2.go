package models

import (
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// ShuffleBlock convolves one half of the channels (with a stride: both) and shuffles the halves together.
type ShuffleBlock struct {
	nn.Base
	Branch1 *nn.Sequential // empty where the stride is 1
	Branch2 *nn.Sequential
}

func newShuffleBlock(in, out, stride int) *ShuffleBlock {
	half := out / 2
	b := &ShuffleBlock{Branch1: nn.NewSequential()}
	if stride > 1 {
		b.Branch1 = nn.NewSequential(convNB(in, in, 3, stride, in), nn.NewBatchNorm2d(in),
			convNB(in, half, 1, 1, 1), nn.NewBatchNorm2d(half), relu())
	} else {
		in = half
	}
	b.Branch2 = nn.NewSequential(convNB(in, half, 1, 1, 1), nn.NewBatchNorm2d(half), relu(),
		convNB(half, half, 3, stride, half), nn.NewBatchNorm2d(half),
		convNB(half, half, 1, 1, 1), nn.NewBatchNorm2d(half), relu())
	return nn.New(b)
}

// Forward maps (N, in, H, W) to (N, out, H/stride, W/stride).
func (m *ShuffleBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		if m.Branch1.Len() > 0 {
			x = catChannels(m.Branch1.Forward(x), m.Branch2.Forward(x))
		} else {
			halves := x.Chunk(2, tensor.ChunkOptions{Dim: 1})
			x = catChannels(halves[0], m.Branch2.Forward(halves[1]))
		}
		s := x.Shape()
		return x.View([]int{s[0], 2, s[1] / 2, s[2], s[3]}).Transpose(1, 2).Contiguous().View(s)
	})
}

// ShuffleNetV2 is a small network for images (Ma et al., ShuffleNet V2: Practical Guidelines for Efficient CNN
// Architecture Design, 2018).
type ShuffleNetV2 struct {
	nn.Base
	Conv1   *nn.Sequential
	MaxPool *nn.MaxPool2d `torch:"maxpool"`
	Stage2  *nn.Sequential
	Stage3  *nn.Sequential
	Stage4  *nn.Sequential
	Conv5   *nn.Sequential
	FC      *nn.Linear
}

func newShuffleNetV2(widths [3]int, last int, opts []Options) *ShuffleNetV2 {
	o := optionsOf(opts, 1000)
	in := 24
	conv := func(in, out, kernel, stride int) *nn.Sequential {
		return nn.NewSequential(convNB(in, out, kernel, stride, 1), nn.NewBatchNorm2d(out), relu())
	}
	stage := func(out, blocks int) *nn.Sequential {
		s := nn.NewSequential(newShuffleBlock(in, out, 2))
		for range blocks - 1 {
			s.Append(newShuffleBlock(out, out, 1))
		}
		in = out
		return s
	}
	return nn.New(&ShuffleNetV2{
		Conv1:   conv(3, in, 3, 2),
		MaxPool: nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}}),
		Stage2:  stage(widths[0], 4), Stage3: stage(widths[1], 8), Stage4: stage(widths[2], 4),
		Conv5: conv(widths[2], last, 1, 1), FC: nn.NewLinear(last, o.NumClasses),
	})
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *ShuffleNetV2) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = nn.Chain(x, m.Conv1, m.MaxPool, m.Stage2, m.Stage3, m.Stage4, m.Conv5)
	return m.FC.Forward(x.MeanDim([]int{2, 3}))
}

// NewShuffleNetV2X0_5 makes torchvision's shufflenet_v2_x0_5.
func NewShuffleNetV2X0_5(opts ...Options) *ShuffleNetV2 {
	return newShuffleNetV2([3]int{48, 96, 192}, 1024, opts)
}

// NewShuffleNetV2X1_0 makes torchvision's shufflenet_v2_x1_0.
func NewShuffleNetV2X1_0(opts ...Options) *ShuffleNetV2 {
	return newShuffleNetV2([3]int{116, 232, 464}, 1024, opts)
}

// NewShuffleNetV2X1_5 makes torchvision's shufflenet_v2_x1_5.
func NewShuffleNetV2X1_5(opts ...Options) *ShuffleNetV2 {
	return newShuffleNetV2([3]int{176, 352, 704}, 1024, opts)
}

// NewShuffleNetV2X2_0 makes torchvision's shufflenet_v2_x2_0.
func NewShuffleNetV2X2_0(opts ...Options) *ShuffleNetV2 {
	return newShuffleNetV2([3]int{244, 488, 976}, 2048, opts)
}

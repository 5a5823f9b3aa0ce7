package models

import (
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// videoConv makes a 3x3x3 convolution of a VideoResNet in one of its three kinds: over space and time, over space
// alone, or over space and then over time. mid is the number of channels between the two.
type videoConv struct {
	make func(in, out, mid, stride int) nn.Layer
	// strides of the shortcut
	downsample func(stride int) nn.Size
}

func conv3(in, out int, kernel, stride, pad nn.Size) *nn.Conv3d {
	return nn.NewConv3d(in, out, kernel, nn.Conv3dOptions{Stride: stride, Padding: pad, NoBias: true})
}

var (
	fullConv = videoConv{func(in, out, _, stride int) nn.Layer {
		return conv3(in, out, nn.Size{3}, nn.Size{stride}, nn.Size{1})
	}, func(stride int) nn.Size { return nn.Size{stride} }}
	spaceConv = videoConv{func(in, out, _, stride int) nn.Layer {
		return conv3(in, out, nn.Size{1, 3, 3}, nn.Size{1, stride, stride}, nn.Size{0, 1, 1})
	}, func(stride int) nn.Size { return nn.Size{1, stride, stride} }}
	splitConv = videoConv{func(in, out, mid, stride int) nn.Layer {
		return nn.NewSequential(conv3(in, mid, nn.Size{1, 3, 3}, nn.Size{1, stride, stride}, nn.Size{0, 1, 1}),
			nn.NewBatchNorm3d(mid), relu(), conv3(mid, out, nn.Size{3, 1, 1}, nn.Size{stride, 1, 1}, nn.Size{1, 0, 0}))
	}, func(stride int) nn.Size { return nn.Size{stride} }}
)

// VideoBlock is a residual block of two convolutions.
type VideoBlock struct {
	nn.Base
	Conv1      *nn.Sequential
	Conv2      *nn.Sequential
	ReLU       *nn.ReLU       `torch:"relu"`
	Downsample *nn.Sequential // nil where the shapes agree
}

// ClassName is the name that the module prints.
func (b *VideoBlock) ClassName() string { return "BasicBlock" }

// Forward maps (N, in, T, H, W) to (N, planes, T', H', W').
func (b *VideoBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return b.Run(b, x, func(x *tensor.Tensor) *tensor.Tensor {
		y := nn.Chain(x, b.Conv1, b.Conv2)
		if b.Downsample != nil {
			x = b.Downsample.Forward(x)
		}
		return b.ReLU.Forward(y.Add(x))
	})
}

// VideoResNet is a residual network for videos (Tran et al., A Closer Look at Spatiotemporal Convolutions for Action
// Recognition, 2018).
type VideoResNet struct {
	nn.Base
	Stem    *nn.Sequential
	Layer1  *nn.Sequential
	Layer2  *nn.Sequential
	Layer3  *nn.Sequential
	Layer4  *nn.Sequential
	AvgPool *nn.AdaptiveAvgPool3d `torch:"avgpool"`
	FC      *nn.Linear
}

func newVideoResNet(kinds [4]videoConv, stem *nn.Sequential, opts []Options) *VideoResNet {
	o := optionsOf(opts, 400)
	in := 64
	stage := func(kind videoConv, planes, stride int) *nn.Sequential {
		s := nn.NewSequential()
		for i := range 2 {
			if i > 0 {
				stride = 1
			}
			b := &VideoBlock{}
			if stride != 1 || in != planes {
				b.Downsample = nn.NewSequential(conv3(in, planes, nn.Size{1}, kind.downsample(stride), nil),
					nn.NewBatchNorm3d(planes))
			}
			mid := in * planes * 27 / (in*9 + 3*planes) // as many parameters as over space and time at once
			b.Conv1 = nn.NewSequential(kind.make(in, planes, mid, stride), nn.NewBatchNorm3d(planes), relu())
			b.Conv2 = nn.NewSequential(kind.make(planes, planes, mid, 1), nn.NewBatchNorm3d(planes))
			b.ReLU = relu()
			s.Append(nn.New(b))
			in = planes
		}
		return s
	}
	m := nn.New(&VideoResNet{Stem: stem, Layer1: stage(kinds[0], 64, 1), Layer2: stage(kinds[1], 128, 2),
		Layer3: stage(kinds[2], 256, 2), Layer4: stage(kinds[3], 512, 2), AvgPool: nn.NewAdaptiveAvgPool3d(1),
		FC: nn.NewLinear(512, o.NumClasses)})
	for c := range nn.Modules(m) {
		switch c := c.(type) {
		case *nn.Conv3d:
			nninit.KaimingNormal(c.Weight, nninit.KaimingOptions{Mode: nninit.FanOut, Nonlinearity: "relu"})
		case *nn.Linear:
			nninit.Normal(c.Weight, 0, 0.01)
			nninit.Zeros(c.Bias)
		}
	}
	return m
}

// Forward maps videos (N, 3, T, H, W) to logits (N, classes).
func (m *VideoResNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.FC.Forward(flatten(nn.Chain(x, m.Stem, m.Layer1, m.Layer2, m.Layer3, m.Layer4, m.AvgPool)))
}

func basicStem() *nn.Sequential {
	return nn.NewSequential(conv3(3, 64, nn.Size{3, 7, 7}, nn.Size{1, 2, 2}, nn.Size{1, 3, 3}), nn.NewBatchNorm3d(64),
		relu())
}

// NewR3D_18 makes torchvision's r3d_18, whose convolutions go over space and time.
func NewR3D_18(opts ...Options) *VideoResNet {
	return newVideoResNet([4]videoConv{fullConv, fullConv, fullConv, fullConv}, basicStem(), opts)
}

// NewMC3_18 makes torchvision's mc3_18, whose convolutions go over space and time in the first stage only.
func NewMC3_18(opts ...Options) *VideoResNet {
	return newVideoResNet([4]videoConv{fullConv, spaceConv, spaceConv, spaceConv}, basicStem(), opts)
}

// NewR2Plus1D_18 makes torchvision's r2plus1d_18, whose convolutions go over space, and then over time.
func NewR2Plus1D_18(opts ...Options) *VideoResNet {
	stem := nn.NewSequential(conv3(3, 45, nn.Size{1, 7, 7}, nn.Size{1, 2, 2}, nn.Size{0, 3, 3}), nn.NewBatchNorm3d(45),
		relu(), conv3(45, 64, nn.Size{3, 1, 1}, nn.Size{1}, nn.Size{1, 0, 0}), nn.NewBatchNorm3d(64), relu())
	return newVideoResNet([4]videoConv{splitConv, splitConv, splitConv, splitConv}, stem, opts)
}

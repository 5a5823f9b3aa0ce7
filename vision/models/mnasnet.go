package models

import (
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// MNASBlock is the block of MNASNet: it widens its input, convolves each channel by itself, and narrows it again.
type MNASBlock struct {
	nn.Base
	Layers   *nn.Sequential
	shortcut bool
}

// Forward maps (N, in, H, W) to (N, out, H/stride, W/stride).
func (m *MNASBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		y := m.Layers.Forward(x)
		if m.shortcut {
			y = y.Add(x)
		}
		return y
	})
}

// MNASNet is a small network for images (Tan et al., MnasNet: Platform-Aware Neural Architecture Search for Mobile,
// 2018).
type MNASNet struct {
	nn.Base
	Layers     *nn.Sequential
	Classifier *nn.Sequential
}

// StateVersion is the version of the layout that the state dict has.
func (m *MNASNet) StateVersion() int { return 2 }

// NewMNASNet makes an MNASNet whose numbers of channels are alpha times those of the paper.
func NewMNASNet(alpha float64, opts ...Options) *MNASNet {
	if !(alpha > 0) {
		tensor.Fail(tensor.ErrValue, "MNASNet: alpha should be greater than 0.0 instead of %v", alpha)
	}
	o := optionsOf(opts, 1000)
	norm := func(n int) nn.Layer {
		return nn.NewBatchNorm2d(n, nn.BatchNorm2dOptions{Momentum: tensor.Some(1 - 0.9997)})
	}
	depth := func(n int) int { return divisible(float64(n) * alpha) }
	in, mid := depth(32), depth(16)
	layers := nn.NewSequential(convNB(3, in, 3, 2, 1), norm(in), relu(), convNB(in, in, 3, 1, in), norm(in), relu(),
		convNB(in, mid, 1, 1, 1), norm(mid))
	in = mid
	for _, s := range []struct{ out, kernel, stride, expand, blocks int }{
		{24, 3, 2, 3, 3}, {40, 5, 2, 3, 3}, {80, 5, 2, 6, 3}, {96, 3, 1, 6, 2}, {192, 5, 2, 6, 4}, {320, 3, 1, 6, 1},
	} {
		out, stage := depth(s.out), nn.NewSequential()
		for i := range s.blocks {
			stride := 1
			if i == 0 {
				stride = s.stride
			}
			wide := in * s.expand
			stage.Append(nn.New(&MNASBlock{Layers: nn.NewSequential(
				convNB(in, wide, 1, 1, 1), norm(wide), relu(),
				convNB(wide, wide, s.kernel, stride, wide), norm(wide), relu(),
				convNB(wide, out, 1, 1, 1), norm(out)), shortcut: i > 0 || stride == 1 && in == out}))
			in = out
		}
		layers.Append(stage)
	}
	layers.Append(convNB(in, 1280, 1, 1, 1)).Append(norm(1280)).Append(relu())
	m := nn.New(&MNASNet{Layers: layers,
		Classifier: nn.NewSequential(dropout(o.Dropout.Or(0.2)), nn.NewLinear(1280, o.NumClasses))})
	initialize(m, fanOut, func(l *nn.Linear) {
		nninit.KaimingUniform(l.Weight, nninit.KaimingOptions{Mode: nninit.FanOut, Nonlinearity: "sigmoid"})
	}, true)
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *MNASNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Classifier.Forward(m.Layers.Forward(x).MeanDim([]int{2, 3}))
}

// NewMNASNet0_5 makes torchvision's mnasnet0_5.
func NewMNASNet0_5(opts ...Options) *MNASNet { return NewMNASNet(0.5, opts...) }

// NewMNASNet0_75 makes torchvision's mnasnet0_75.
func NewMNASNet0_75(opts ...Options) *MNASNet { return NewMNASNet(0.75, opts...) }

// NewMNASNet1_0 makes torchvision's mnasnet1_0.
func NewMNASNet1_0(opts ...Options) *MNASNet { return NewMNASNet(1, opts...) }

// NewMNASNet1_3 makes torchvision's mnasnet1_3.
func NewMNASNet1_3(opts ...Options) *MNASNet { return NewMNASNet(1.3, opts...) }

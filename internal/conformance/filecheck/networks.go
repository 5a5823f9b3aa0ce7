package filecheck

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// A network that results were recorded of: a module, and its outputs for an input.
type network interface {
	nn.Module
	outputs(x *tensor.Tensor) []*tensor.Tensor
}

// networks make the networks by the names that the recorded results give them.
var networks = map[string]func() network{
	"BlazeFace raw heads":  func() network { return newBlazeFace() },
	"facenet-pytorch PNet": func() network { return newPNet() },
}

// pNet is the first network of MTCNN (Zhang et al., Joint Face Detection and Alignment using Multi-task Cascaded
// Convolutional Networks, 2016).
type pNet struct {
	nn.Base
	Conv1  *nn.Conv2d
	PReLU1 *nn.PReLU `torch:"prelu1"`
	Pool   *nn.MaxPool2d
	Conv2  *nn.Conv2d
	PReLU2 *nn.PReLU `torch:"prelu2"`
	Conv3  *nn.Conv2d
	PReLU3 *nn.PReLU  `torch:"prelu3"`
	Score  *nn.Conv2d `torch:"conv4_1"`
	Box    *nn.Conv2d `torch:"conv4_2"`
}

func newPNet() *pNet {
	prelu := func(n int) *nn.PReLU { return nn.NewPReLU(nn.PReLUOptions{NumParameters: tensor.Some(n)}) }
	return nn.New(&pNet{Conv1: nn.NewConv2d(3, 10, 3), PReLU1: prelu(10),
		Pool:   nn.NewMaxPool2d(2, nn.MaxPool2dOptions{Stride: nn.Size{2}, CeilMode: true}),
		Conv2:  nn.NewConv2d(10, 16, 3),
		PReLU2: prelu(16), Conv3: nn.NewConv2d(16, 32, 3), PReLU3: prelu(32), Score: nn.NewConv2d(32, 2, 1),
		Box: nn.NewConv2d(32, 4, 1)})
}

func (m *pNet) outputs(x *tensor.Tensor) []*tensor.Tensor {
	x = m.Pool.Forward(m.PReLU1.Forward(m.Conv1.Forward(x)))
	x = m.PReLU3.Forward(m.Conv3.Forward(m.PReLU2.Forward(m.Conv2.Forward(x))))
	return []*tensor.Tensor{m.Box.Forward(x), F.Softmax(m.Score.Forward(x), F.SoftmaxOptions{Dim: tensor.Some(1)})}
}

// blazeBlock is a depthwise and a pointwise convolution with a shortcut, around which channels are added as zeros.
type blazeBlock struct {
	nn.Base
	Convs  *nn.Sequential
	stride int
	grow   int
}

func newBlazeBlock(in, out, stride int) *blazeBlock {
	return nn.New(&blazeBlock{stride: stride, grow: out - in, Convs: nn.NewSequential(
		nn.NewConv2d(in, in, 3, nn.Conv2dOptions{Stride: nn.Size{stride}, Padding: nn.Size{2 - stride},
			Groups: tensor.Some(in)}), nn.NewConv2d(in, out, 1))})
}

// Forward maps (N, in, H, W) to (N, out, H/stride, W/stride).
func (m *blazeBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	h := x
	if m.stride == 2 {
		h = F.Pad(x, []int{0, 2, 0, 2})
		x = F.MaxPool2d(x, []int{2})
	}
	if m.grow > 0 {
		x = F.Pad(x, []int{0, 0, 0, 0, 0, m.grow})
	}
	return m.Convs.Forward(h).Add(x).ReLU()
}

// blazeFace is the network for front cameras (Bazarevsky et al., BlazeFace: Sub-millisecond Neural Face Detection on
// Mobile GPUs, 2019).
type blazeFace struct {
	nn.Base
	Backbone1, Backbone2 *nn.Sequential
	Classifier8          *nn.Conv2d `torch:"classifier_8"`
	Classifier16         *nn.Conv2d `torch:"classifier_16"`
	Regressor8           *nn.Conv2d `torch:"regressor_8"`
	Regressor16          *nn.Conv2d `torch:"regressor_16"`
}

func newBlazeFace() *blazeFace {
	first := []nn.Layer{nn.NewConv2d(3, 24, 5, nn.Conv2dOptions{Stride: nn.Size{2}}), nn.NewReLU()}
	for _, b := range [][3]int{{24, 24, 1}, {24, 28, 1}, {28, 32, 2}, {32, 36, 1}, {36, 42, 1}, {42, 48, 2},
		{48, 56, 1},
		{56, 64, 1}, {64, 72, 1}, {72, 80, 1}, {80, 88, 1}} {
		first = append(first, newBlazeBlock(b[0], b[1], b[2]))
	}
	second := []nn.Layer{newBlazeBlock(88, 96, 2)}
	for range 4 {
		second = append(second, newBlazeBlock(96, 96, 1))
	}
	return nn.New(&blazeFace{Backbone1: nn.NewSequential(first...), Backbone2: nn.NewSequential(second...),
		Classifier8: nn.NewConv2d(88, 2, 1), Classifier16: nn.NewConv2d(96, 6, 1), Regressor8: nn.NewConv2d(88, 32, 1),
		Regressor16: nn.NewConv2d(96, 96, 1)})
}

func (m *blazeFace) outputs(x *tensor.Tensor) []*tensor.Tensor {
	x = m.Backbone1.Forward(F.Pad(x, []int{1, 2, 1, 2}))
	h := m.Backbone2.Forward(x)
	// Each position has anchors one behind the other.
	anchors := func(y *tensor.Tensor, width int) *tensor.Tensor {
		return y.Permute([]int{0, 2, 3, 1}).Reshape([]int{y.Size(0), -1, width})
	}
	join := func(a, b *tensor.Tensor) *tensor.Tensor {
		return torch.Cat([]*tensor.Tensor{a, b}, torch.CatOptions{Dim: 1})
	}
	return []*tensor.Tensor{
		join(anchors(m.Regressor8.Forward(x), 16), anchors(m.Regressor16.Forward(h), 16)),
		join(anchors(m.Classifier8.Forward(x), 1), anchors(m.Classifier16.Forward(h), 1)),
	}
}

package detection

import (
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// TwoMLPHead is two linear layers over the features of a region.
type TwoMLPHead struct {
	nn.Base
	FC6, FC7 *nn.Linear
}

// NewTwoMLPHead makes a TwoMLPHead from in features, those of all cells of a region, to representation features.
func NewTwoMLPHead(in, representation int) *TwoMLPHead {
	return nn.New(&TwoMLPHead{FC6: nn.NewLinear(in, representation), FC7: nn.NewLinear(representation, representation)})
}

// Forward maps (K, C, h, w) to (K, representation).
func (m *TwoMLPHead) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		x = x.Flatten(tensor.FlattenOptions{StartDim: 1})
		return m.FC7.Forward(m.FC6.Forward(x).ReLU()).ReLU()
	})
}

// FastRCNNConvFCHead is four convolutions and a linear layer over the features of a region.
type FastRCNNConvFCHead struct{ nn.Sequential }

func newConvFCHead() *FastRCNNConvFCHead {
	m := nn.New(&FastRCNNConvFCHead{})
	for range 4 {
		m.Append(ops.NewConv2dNormActivation(pyramidChannels, pyramidChannels))
	}
	m.Append(nn.NewFlatten()).Append(nn.NewLinear(pyramidChannels*7*7, 1024)).
		Append(nn.NewReLU(nn.InplaceOptions{Inplace: true}))
	initConvs(m, kaiming)
	return m
}

// FastRCNNPredictor gives the scores of the classes and, for each class, how to move the region.
type FastRCNNPredictor struct {
	nn.Base
	ClsScore *nn.Linear
	BBoxPred *nn.Linear `torch:"bbox_pred"`
}

// NewFastRCNNPredictor makes a FastRCNNPredictor from in features to the classes, the background among them. It
// replaces RoIHeads.BoxPredictor where a trained detector shall learn other classes.
func NewFastRCNNPredictor(in, numClasses int) *FastRCNNPredictor {
	return nn.New(&FastRCNNPredictor{ClsScore: nn.NewLinear(in, numClasses), BBoxPred: nn.NewLinear(in, 4*numClasses)})
}

// kaiming keeps the variance of gradients through a rectifier (He et al., 2015).
func kaiming(w *Tensor) {
	nninit.KaimingNormal(w, nninit.KaimingOptions{Mode: nninit.FanOut, Nonlinearity: "relu"})
}

// xavier keeps the variance of values and gradients (Glorot and Bengio, 2010).
func xavier(w *Tensor) { nninit.XavierUniform(w) }

// normal draws from a normal distribution around 0.
func normal(std float64) func(*Tensor) { return func(w *Tensor) { nninit.Normal(w, 0, std) } }

// initConvs draws the weights of all convolutions of m, and sets their biases to zero.
func initConvs(m nn.Module, draw func(w *Tensor)) {
	for c := range nn.Modules(m) {
		if c, ok := c.(*nn.Conv2d); ok {
			draw(c.Weight)
			if c.Bias != nil {
				nninit.Zeros(c.Bias)
			}
		}
	}
}

// conv3 is a 3x3 convolution that keeps the size.
func conv3(in, out int) *nn.Conv2d {
	return nn.NewConv2d(in, out, 3, nn.Conv2dOptions{Padding: nn.Size{1}})
}

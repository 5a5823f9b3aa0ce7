package quantization

import (
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// trained is what layers in quantization-aware training share: their weights are rounded in each forward pass.
type trained interface {
	nn.Layer
	// parts are the layer with its weights folded, the observer of weights, and whether a ReLU follows.
	parts() (layer nn.Layer, weight Observer, relu bool)
}

// QATLinear is a linear layer whose weights are rounded in each forward pass.
// https://pytorch.org/docs/stable/generated/torch.ao.nn.qat.Linear.html
type QATLinear struct {
	nn.Linear
	WeightFakeQuant Observer `torch:"weight_fake_quant"`
	relu            bool
}

// ClassName is "Linear", or with a ReLU "LinearReLU".
func (m *QATLinear) ClassName() string {
	if m.relu {
		return "LinearReLU"
	}
	return "Linear"
}

func newQATLinear(l *nn.Linear, q *QConfig, relu bool) *QATLinear {
	m := &QATLinear{WeightFakeQuant: q.Weight(), relu: relu}
	m.InFeatures, m.OutFeatures, m.Weight, m.Bias = l.InFeatures, l.OutFeatures, l.Weight, l.Bias
	return nn.New(m)
}

// Forward applies the layer.
func (m *QATLinear) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		y := F.Linear(x, m.WeightFakeQuant.Forward(m.Weight), F.LinearOptions{Bias: m.Bias})
		if m.relu {
			y = y.ReLU()
		}
		return y
	})
}

func (m *QATLinear) parts() (nn.Layer, Observer, bool) {
	l := &nn.Linear{InFeatures: m.InFeatures, OutFeatures: m.OutFeatures, Weight: m.Weight, Bias: m.Bias}
	return nn.New(l), m.WeightFakeQuant, m.relu
}

// QATConv is a convolution, with batch norm and ReLU where these follow it, or a linear layer with batch norm, whose
// weights are rounded in each forward pass. With batch norm the weights are multiplied by its factor before they are
// rounded, as they will be in evaluation (Jacob et al. 2018).
// https://pytorch.org/docs/stable/generated/torch.ao.nn.intrinsic.qat.ConvBnReLU2d.html
type QATConv struct {
	nn.Base
	conv            nn.Layer
	BN              nn.Layer
	WeightFakeQuant Observer
	relu            bool
	frozen          bool
	class           string
}

// ClassName is PyTorch's name: "ConvBnReLU2d".
func (m *QATConv) ClassName() string { return m.class }

// ExtraRepr prints the layer's settings.
func (m *QATConv) ExtraRepr() string { return m.conv.(interface{ ExtraRepr() string }).ExtraRepr() }

// parametersOf are the weight and the bias of a convolution or linear layer.
func parametersOf(l nn.Module) (w, b *Tensor) {
	if lin, ok := l.(*nn.Linear); ok {
		return lin.Weight, lin.Bias
	}
	c := convBase(l)
	return c.Weight, c.Bias
}

// WalkOwn visits the convolution's parameters, the batch norm and the observer of weights.
func (m *QATConv) WalkOwn(param func(string, *Tensor), _ func(string, *Tensor, bool), child func(string, nn.Module)) {
	w, b := parametersOf(m.conv)
	param("weight", w)
	if b != nil {
		param("bias", b)
	}
	if m.BN != nil {
		child("bn", m.BN)
	}
	child("weight_fake_quant", m.WeightFakeQuant)
}

// convBase is what a convolution shares with others; nil for another layer.
func convBase(l nn.Module) *nn.ConvNd {
	switch c := l.(type) {
	case *nn.Conv1d:
		return &c.ConvNd
	case *nn.Conv2d:
		return &c.ConvNd
	case *nn.Conv3d:
		return &c.ConvNd
	}
	return nil
}

// convWith is a convolution or linear layer like l with other parameters.
func convWith(l nn.Layer, weight, bias *Tensor) nn.Layer {
	if lin, ok := l.(*nn.Linear); ok {
		return nn.New(&nn.Linear{InFeatures: lin.InFeatures, OutFeatures: lin.OutFeatures, Weight: weight, Bias: bias})
	}
	b := *convBase(l)
	b.Base = nn.Base{}
	b.Weight, b.Bias = weight, bias
	switch l.(type) {
	case *nn.Conv1d:
		return nn.New(&nn.Conv1d{ConvNd: b})
	case *nn.Conv3d:
		return nn.New(&nn.Conv3d{ConvNd: b})
	}
	return nn.New(&nn.Conv2d{ConvNd: b})
}

func newQATConv(conv, bn nn.Layer, relu bool, class string, q *QConfig) *QATConv {
	return nn.New(&QATConv{conv: conv, BN: bn, relu: relu, class: class,
		WeightFakeQuant: q.Weight()})
}

// normOf are the parameters of a batch norm.
func normOf(bn nn.Layer) *nn.NormBase {
	switch b := bn.(type) {
	case *nn.BatchNorm1d:
		return &b.NormBase
	case *nn.BatchNorm2d:
		return &b.NormBase
	case *nn.BatchNorm3d:
		return &b.NormBase
	}
	return nil
}

// Forward applies the layer.
func (m *QATConv) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		y := m.forward(x)
		if m.relu {
			y = y.ReLU()
		}
		return y
	})
}

func (m *QATConv) forward(x *Tensor) *Tensor {
	w, bias := parametersOf(m.conv)
	if m.BN == nil {
		return convWith(m.conv, m.WeightFakeQuant.Forward(w), bias).Forward(x)
	}
	if m.frozen {
		nn.Eval(m.BN)
	}
	b := normOf(m.BN)
	factor := b.Weight.Div(b.RunningVar.AddScalar(b.Eps).Sqrt())
	rows, planes := make([]int, w.Dim()), make([]int, w.Dim())
	for i := range rows {
		rows[i], planes[i] = 1, 1
	}
	rows[0], planes[1] = -1, -1
	rounded := m.WeightFakeQuant.Forward(w.Mul(factor.Reshape(rows)))
	y := convWith(m.conv, rounded, w.NewZeros([]int{w.Size(0)})).Forward(x)
	y = y.Div(factor.Reshape(planes))
	if bias != nil {
		y = y.Add(bias.Reshape(planes))
	}
	return m.BN.Forward(y)
}

func (m *QATConv) parts() (nn.Layer, Observer, bool) {
	conv := m.conv
	if m.BN != nil {
		tensor.NoGrad(func() { conv = foldBatchNorm(evaluated(conv), evaluated(m.BN)) })
	}
	return conv, m.WeightFakeQuant, m.relu
}

// evaluated is a copy of a layer in evaluation mode.
func evaluated(l nn.Layer) nn.Layer {
	c := nn.DeepCopy(l)
	nn.Eval(c)
	return c
}

// FreezeBNStats stops the running statistics of batch norm in layers of quantization-aware training: the layers use
// them from now on, also in training mode.
func FreezeBNStats(m nn.Module) { setFrozen(m, true) }

// UpdateBNStats undoes FreezeBNStats.
func UpdateBNStats(m nn.Module) { setFrozen(m, false) }

func setFrozen(m nn.Module, frozen bool) {
	nn.Apply(m, func(c nn.Module) {
		if q, ok := c.(*QATConv); ok && q.BN != nil {
			q.frozen = frozen
			nn.Train(q.BN, !frozen && nn.IsTraining(q))
		}
	})
}

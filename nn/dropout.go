package nn

import (
	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// DropoutOptions are the options of the dropout layers; the zero value is PyTorch's default.
type DropoutOptions struct {
	P       tensor.Opt[float64] // default 0.5
	Inplace bool                // overwrite the input
}

// DropoutBase is what the dropout layers share.
type DropoutBase struct {
	Base
	P       tensor.Scalar
	Inplace bool
}

func (m *DropoutBase) setup(opts []DropoutOptions) {
	o := first(opts)
	m.P, m.Inplace = o.P.Or(0.5), o.Inplace
	if p := toFloat(m.P); !(p >= 0 && p <= 1) {
		tensor.Fail(tensor.ErrValue, "dropout probability has to be between 0 and 1, but got %s", pyNum(m.P))
	}
}

// ExtraRepr prints the settings.
func (m *DropoutBase) ExtraRepr() string { return "p=" + pyNum(m.P) + ", inplace=" + pyBool(m.Inplace) }

// drop runs one of the functions that draw: the one that writes a new tensor, or the one that writes its input.
func (m *DropoutBase) drop(x *Tensor, draw, inPlace func(x *Tensor, p float64, train bool) *Tensor) *Tensor {
	return m.Run(m.self, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return inPlace(x, toFloat(m.P), m.Training())
		}
		return draw(x, toFloat(m.P), m.Training())
	})
}

// Dropout sets elements to zero with probability P while training and scales the others by 1/(1-P).
// https://pytorch.org/docs/stable/generated/torch.nn.Dropout.html
type Dropout struct{ DropoutBase }

// NewDropout makes a Dropout.
func NewDropout(opts ...DropoutOptions) *Dropout {
	m := &Dropout{}
	m.setup(opts)
	return New(m)
}

// Forward applies the layer.
func (m *Dropout) Forward(x *Tensor) *Tensor {
	return m.drop(x, torch.Dropout, (*Tensor).DropoutInPlace)
}

// Dropout1d is dropout of whole channels of (N, C, L) or (C, L).
// https://pytorch.org/docs/stable/generated/torch.nn.Dropout1d.html
type Dropout1d struct{ DropoutBase }

// NewDropout1d makes a Dropout1d.
func NewDropout1d(opts ...DropoutOptions) *Dropout1d {
	m := &Dropout1d{}
	m.setup(opts)
	return New(m)
}

// Forward applies the layer.
func (m *Dropout1d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.Dropout1d(x, F.Dropout1dOptions{P: some(m.P), NoTraining: !m.Training(), Inplace: m.Inplace})
	})
}

// Dropout2d is dropout of whole channels of (N, C, H, W).
// https://pytorch.org/docs/stable/generated/torch.nn.Dropout2d.html
type Dropout2d struct{ DropoutBase }

// NewDropout2d makes a Dropout2d.
func NewDropout2d(opts ...DropoutOptions) *Dropout2d {
	m := &Dropout2d{}
	m.setup(opts)
	return New(m)
}

// Forward applies the layer.
func (m *Dropout2d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.Dropout2d(x, F.Dropout2dOptions{P: some(m.P), NoTraining: !m.Training(), Inplace: m.Inplace})
	})
}

// Dropout3d is dropout of whole channels of (N, C, D, H, W) or (C, D, H, W).
// https://pytorch.org/docs/stable/generated/torch.nn.Dropout3d.html
type Dropout3d struct{ DropoutBase }

// NewDropout3d makes a Dropout3d.
func NewDropout3d(opts ...DropoutOptions) *Dropout3d {
	m := &Dropout3d{}
	m.setup(opts)
	return New(m)
}

// Forward applies the layer.
func (m *Dropout3d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return F.Dropout3d(x, F.Dropout3dOptions{P: some(m.P), NoTraining: !m.Training(), Inplace: m.Inplace})
	})
}

// AlphaDropout is dropout that keeps mean and variance of SELU activations.
// https://pytorch.org/docs/stable/generated/torch.nn.AlphaDropout.html
type AlphaDropout struct{ DropoutBase }

// NewAlphaDropout makes a AlphaDropout.
func NewAlphaDropout(opts ...DropoutOptions) *AlphaDropout {
	m := &AlphaDropout{}
	m.setup(opts)
	return New(m)
}

// Forward applies the layer.
func (m *AlphaDropout) Forward(x *Tensor) *Tensor {
	return m.drop(x, torch.AlphaDropout, (*Tensor).AlphaDropoutInPlace)
}

// FeatureAlphaDropout is AlphaDropout of whole channels.
// https://pytorch.org/docs/stable/generated/torch.nn.FeatureAlphaDropout.html
type FeatureAlphaDropout struct{ DropoutBase }

// NewFeatureAlphaDropout makes a FeatureAlphaDropout.
func NewFeatureAlphaDropout(opts ...DropoutOptions) *FeatureAlphaDropout {
	m := &FeatureAlphaDropout{}
	m.setup(opts)
	return New(m)
}

// Forward applies the layer.
func (m *FeatureAlphaDropout) Forward(x *Tensor) *Tensor {
	return m.drop(x, torch.FeatureAlphaDropout, (*Tensor).FeatureAlphaDropoutInPlace)
}

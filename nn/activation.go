package nn

import (
	"fmt"

	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// InplaceOptions are the options of activations that have no other.
type InplaceOptions struct {
	Inplace bool // overwrite the input
}

func inplaceTail(on bool) string {
	if on {
		return ", inplace=True"
	}
	return ""
}

func inplaceOnly(on bool) string {
	if on {
		return "inplace=True"
	}
	return ""
}

// ReLU is max(x, 0).
// https://pytorch.org/docs/stable/generated/torch.nn.ReLU.html
type ReLU struct {
	Base
	Inplace bool
}

// NewReLU makes a ReLU.
func NewReLU(opts ...InplaceOptions) *ReLU { return New(&ReLU{Inplace: first(opts).Inplace}) }

// Forward applies the activation.
func (m *ReLU) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.ReLUInPlace()
		}
		return x.ReLU()
	})
}

// ExtraRepr prints the flag.
func (m *ReLU) ExtraRepr() string { return inplaceOnly(m.Inplace) }

// ReLU6 is min(max(x, 0), 6), a Hardtanh.
// https://pytorch.org/docs/stable/generated/torch.nn.ReLU6.html
type ReLU6 struct {
	Base
	Inplace bool
}

// NewReLU6 makes a ReLU6.
func NewReLU6(opts ...InplaceOptions) *ReLU6 { return New(&ReLU6{Inplace: first(opts).Inplace}) }

// Forward applies the activation.
func (m *ReLU6) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.HardTanhInPlace(tensor.HardTanhInPlaceOptions{MinVal: 0.0, MaxVal: 6.0})
		}
		return x.HardTanh(tensor.HardTanhOptions{MinVal: 0.0, MaxVal: 6.0})
	})
}

// ExtraRepr prints the flag.
func (m *ReLU6) ExtraRepr() string { return inplaceOnly(m.Inplace) }

// SELU is the self-normalising exponential unit (Klambauer et al. 2017).
// https://pytorch.org/docs/stable/generated/torch.nn.SELU.html
type SELU struct {
	Base
	Inplace bool
}

// NewSELU makes a SELU.
func NewSELU(opts ...InplaceOptions) *SELU { return New(&SELU{Inplace: first(opts).Inplace}) }

// Forward applies the activation.
func (m *SELU) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.SELUInPlace()
		}
		return x.SELU()
	})
}

// ExtraRepr prints the flag.
func (m *SELU) ExtraRepr() string { return inplaceOnly(m.Inplace) }

// SiLU is x·sigmoid(x).
// https://pytorch.org/docs/stable/generated/torch.nn.SiLU.html
type SiLU struct {
	Base
	Inplace bool
}

// NewSiLU makes a SiLU.
func NewSiLU(opts ...InplaceOptions) *SiLU { return New(&SiLU{Inplace: first(opts).Inplace}) }

// Forward applies the activation.
func (m *SiLU) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.SiLUInPlace()
		}
		return x.SiLU()
	})
}

// ExtraRepr prints the flag.
func (m *SiLU) ExtraRepr() string { return inplaceOnly(m.Inplace) }

// Mish is x·tanh(softplus(x)).
// https://pytorch.org/docs/stable/generated/torch.nn.Mish.html
type Mish struct {
	Base
	Inplace bool
}

// NewMish makes a Mish.
func NewMish(opts ...InplaceOptions) *Mish { return New(&Mish{Inplace: first(opts).Inplace}) }

// Forward applies the activation.
func (m *Mish) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.MishInPlace()
		}
		return x.Mish()
	})
}

// ExtraRepr prints the flag.
func (m *Mish) ExtraRepr() string { return inplaceOnly(m.Inplace) }

// Hardswish is x·ReLU6(x+3)/6.
// https://pytorch.org/docs/stable/generated/torch.nn.Hardswish.html
type Hardswish struct {
	Base
	Inplace bool
}

// NewHardswish makes a Hardswish.
func NewHardswish(opts ...InplaceOptions) *Hardswish {
	return New(&Hardswish{Inplace: first(opts).Inplace})
}

// Forward applies the activation.
func (m *Hardswish) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.HardSwishInPlace()
		}
		return x.HardSwish()
	})
}

// Hardsigmoid is ReLU6(x+3)/6.
// https://pytorch.org/docs/stable/generated/torch.nn.Hardsigmoid.html
type Hardsigmoid struct {
	Base
	Inplace bool
}

// NewHardsigmoid makes a Hardsigmoid.
func NewHardsigmoid(opts ...InplaceOptions) *Hardsigmoid {
	return New(&Hardsigmoid{Inplace: first(opts).Inplace})
}

// Forward applies the activation.
func (m *Hardsigmoid) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.HardSigmoidInPlace()
		}
		return x.HardSigmoid()
	})
}

// Sigmoid is 1/(1+exp(-x)).
// https://pytorch.org/docs/stable/generated/torch.nn.Sigmoid.html
type Sigmoid struct{ Base }

// NewSigmoid makes a Sigmoid.
func NewSigmoid() *Sigmoid { return New(&Sigmoid{}) }

// Forward applies the activation.
func (m *Sigmoid) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.Sigmoid() })
}

// Tanh is the hyperbolic tangent.
// https://pytorch.org/docs/stable/generated/torch.nn.Tanh.html
type Tanh struct{ Base }

// NewTanh makes a Tanh.
func NewTanh() *Tanh { return New(&Tanh{}) }

// Forward applies the activation.
func (m *Tanh) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.Tanh() })
}

// LogSigmoid is log(sigmoid(x)).
// https://pytorch.org/docs/stable/generated/torch.nn.LogSigmoid.html
type LogSigmoid struct{ Base }

// NewLogSigmoid makes a LogSigmoid.
func NewLogSigmoid() *LogSigmoid { return New(&LogSigmoid{}) }

// Forward applies the activation.
func (m *LogSigmoid) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.LogSigmoid() })
}

// Softsign is x/(1+|x|).
// https://pytorch.org/docs/stable/generated/torch.nn.Softsign.html
type Softsign struct{ Base }

// NewSoftsign makes a Softsign.
func NewSoftsign() *Softsign { return New(&Softsign{}) }

// Forward applies the activation.
func (m *Softsign) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return F.Softsign(x) })
}

// Tanhshrink is x - tanh(x).
// https://pytorch.org/docs/stable/generated/torch.nn.Tanhshrink.html
type Tanhshrink struct{ Base }

// NewTanhshrink makes a Tanhshrink.
func NewTanhshrink() *Tanhshrink { return New(&Tanhshrink{}) }

// Forward applies the activation.
func (m *Tanhshrink) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.Sub(x.Tanh()) })
}

// ELU is x above 0 and alpha·(exp(x)-1) below.
// https://pytorch.org/docs/stable/generated/torch.nn.ELU.html
type ELU struct {
	Base
	Alpha   tensor.Scalar
	Inplace bool
}

// ELUOptions are the options of NewELU; the zero value is PyTorch's default.
type ELUOptions struct {
	Alpha   tensor.Opt[float64] // default 1.0
	Inplace bool                // overwrite the input
}

// NewELU makes a ELU.
func NewELU(opts ...ELUOptions) *ELU {
	o := first(opts)
	return New(&ELU{Alpha: o.Alpha.Or(1.0), Inplace: o.Inplace})
}

// Forward applies the activation.
func (m *ELU) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.ELUInPlace(tensor.ELUInPlaceOptions{Alpha: m.Alpha})
		}
		return x.ELU(tensor.ELUOptions{Alpha: m.Alpha})
	})
}

// ExtraRepr prints the settings.
func (m *ELU) ExtraRepr() string {
	return "alpha=" + pyNum(m.Alpha) + inplaceTail(m.Inplace)
}

// CELU is max(0,x) + min(0, alpha·(exp(x/alpha)-1)).
// https://pytorch.org/docs/stable/generated/torch.nn.CELU.html
type CELU struct {
	Base
	Alpha   tensor.Scalar
	Inplace bool
}

// CELUOptions are the options of NewCELU; the zero value is PyTorch's default.
type CELUOptions struct {
	Alpha   tensor.Opt[float64] // default 1.0
	Inplace bool                // overwrite the input
}

// NewCELU makes a CELU.
func NewCELU(opts ...CELUOptions) *CELU {
	o := first(opts)
	return New(&CELU{Alpha: o.Alpha.Or(1.0), Inplace: o.Inplace})
}

// Forward applies the activation.
func (m *CELU) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.CELUInPlace(tensor.CELUInPlaceOptions{Alpha: m.Alpha})
		}
		return x.CELU(tensor.CELUOptions{Alpha: m.Alpha})
	})
}

// ExtraRepr prints the settings.
func (m *CELU) ExtraRepr() string {
	return "alpha=" + pyNum(m.Alpha) + inplaceTail(m.Inplace)
}

// LeakyReLU is x above 0 and slope·x below.
// https://pytorch.org/docs/stable/generated/torch.nn.LeakyReLU.html
type LeakyReLU struct {
	Base
	NegativeSlope tensor.Scalar
	Inplace       bool
}

// LeakyReLUOptions are the options of NewLeakyReLU; the zero value is PyTorch's default.
type LeakyReLUOptions struct {
	NegativeSlope tensor.Opt[float64] // default 0.01
	Inplace       bool                // overwrite the input
}

// NewLeakyReLU makes a LeakyReLU.
func NewLeakyReLU(opts ...LeakyReLUOptions) *LeakyReLU {
	o := first(opts)
	return New(&LeakyReLU{NegativeSlope: o.NegativeSlope.Or(0.01), Inplace: o.Inplace})
}

// Forward applies the activation.
func (m *LeakyReLU) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.LeakyReLUInPlace(tensor.LeakyReLUInPlaceOptions{NegativeSlope: m.NegativeSlope})
		}
		return x.LeakyReLU(tensor.LeakyReLUOptions{NegativeSlope: m.NegativeSlope})
	})
}

// ExtraRepr prints the settings.
func (m *LeakyReLU) ExtraRepr() string {
	return "negative_slope=" + pyNum(m.NegativeSlope) + inplaceTail(m.Inplace)
}

// Hardtanh is x limited to [MinVal, MaxVal].
// https://pytorch.org/docs/stable/generated/torch.nn.Hardtanh.html
type Hardtanh struct {
	Base
	MinVal, MaxVal tensor.Scalar
	Inplace        bool
}

// HardtanhOptions are the options of NewHardtanh; the zero value is PyTorch's default.
type HardtanhOptions struct {
	MinVal  tensor.Opt[float64] // default -1.0
	MaxVal  tensor.Opt[float64] // default 1.0
	Inplace bool                // overwrite the input
}

// NewHardtanh makes a Hardtanh.
func NewHardtanh(opts ...HardtanhOptions) *Hardtanh {
	o := first(opts)
	return New(&Hardtanh{MinVal: o.MinVal.Or(-1.0), MaxVal: o.MaxVal.Or(1.0), Inplace: o.Inplace})
}

// Forward applies the activation.
func (m *Hardtanh) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.HardTanhInPlace(tensor.HardTanhInPlaceOptions{MinVal: m.MinVal, MaxVal: m.MaxVal})
		}
		return x.HardTanh(tensor.HardTanhOptions{MinVal: m.MinVal, MaxVal: m.MaxVal})
	})
}

// ExtraRepr prints the settings.
func (m *Hardtanh) ExtraRepr() string {
	return "min_val=" + pyNum(m.MinVal) + ", max_val=" + pyNum(m.MaxVal) + inplaceTail(m.Inplace)
}

// Softplus is log(1+exp(beta·x))/beta, linear where beta·x exceeds Threshold.
// https://pytorch.org/docs/stable/generated/torch.nn.Softplus.html
type Softplus struct {
	Base
	Beta, Threshold tensor.Scalar
}

// SoftplusOptions are the options of NewSoftplus; the zero value is PyTorch's default.
type SoftplusOptions struct {
	Beta      tensor.Opt[float64] // default 1.0
	Threshold tensor.Opt[float64] // default 20.0
}

// NewSoftplus makes a Softplus.
func NewSoftplus(opts ...SoftplusOptions) *Softplus {
	o := first(opts)
	return New(&Softplus{Beta: o.Beta.Or(1.0), Threshold: o.Threshold.Or(20.0)})
}

// Forward applies the activation.
func (m *Softplus) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return x.Softplus(tensor.SoftplusOptions{Beta: m.Beta, Threshold: m.Threshold})
	})
}

// ExtraRepr prints the settings.
func (m *Softplus) ExtraRepr() string {
	return "beta=" + pyNum(m.Beta) + ", threshold=" + pyNum(m.Threshold)
}

// Hardshrink is x where |x| exceeds Lambd, 0 elsewhere.
// https://pytorch.org/docs/stable/generated/torch.nn.Hardshrink.html
type Hardshrink struct {
	Base
	Lambd tensor.Scalar
}

// HardshrinkOptions are the options of NewHardshrink; the zero value is PyTorch's default.
type HardshrinkOptions struct {
	Lambd tensor.Opt[float64] // default 0.5
}

// NewHardshrink makes a Hardshrink.
func NewHardshrink(opts ...HardshrinkOptions) *Hardshrink {
	o := first(opts)
	return New(&Hardshrink{Lambd: o.Lambd.Or(0.5)})
}

// Forward applies the activation.
func (m *Hardshrink) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.Hardshrink(tensor.HardshrinkOptions{Lambd: m.Lambd}) })
}

// ExtraRepr prints the settings.
func (m *Hardshrink) ExtraRepr() string {
	return pyNum(m.Lambd)
}

// Softshrink is x moved towards 0 by Lambd.
// https://pytorch.org/docs/stable/generated/torch.nn.Softshrink.html
type Softshrink struct {
	Base
	Lambd tensor.Scalar
}

// SoftshrinkOptions are the options of NewSoftshrink; the zero value is PyTorch's default.
type SoftshrinkOptions struct {
	Lambd tensor.Opt[float64] // default 0.5
}

// NewSoftshrink makes a Softshrink.
func NewSoftshrink(opts ...SoftshrinkOptions) *Softshrink {
	o := first(opts)
	return New(&Softshrink{Lambd: o.Lambd.Or(0.5)})
}

// Forward applies the activation.
func (m *Softshrink) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.Softshrink(tensor.SoftshrinkOptions{Lambd: m.Lambd}) })
}

// ExtraRepr prints the settings.
func (m *Softshrink) ExtraRepr() string {
	return pyNum(m.Lambd)
}

// Threshold is x where it exceeds Threshold, and Value elsewhere.
// https://pytorch.org/docs/stable/generated/torch.nn.Threshold.html
type Threshold struct {
	Base
	Threshold, Value tensor.Scalar
	Inplace          bool
}

// NewThreshold makes a Threshold.
func NewThreshold(threshold, value tensor.Scalar, opts ...InplaceOptions) *Threshold {
	return New(&Threshold{Threshold: threshold, Value: value, Inplace: first(opts).Inplace})
}

// Forward applies the activation.
func (m *Threshold) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.ThresholdInPlace(m.Threshold, m.Value)
		}
		return x.Threshold(m.Threshold, m.Value)
	})
}

// ExtraRepr prints the settings.
func (m *Threshold) ExtraRepr() string {
	return "threshold=" + pyNum(m.Threshold) + ", value=" + pyNum(m.Value) + inplaceTail(m.Inplace)
}

// RReLU is a leaky ReLU whose slope is drawn at random while training (Xu et al. 2015).
// https://pytorch.org/docs/stable/generated/torch.nn.RReLU.html
type RReLU struct {
	Base
	Lower, Upper tensor.Scalar
	Inplace      bool
}

// RReLUOptions are the options of NewRReLU; the zero value is PyTorch's default.
type RReLUOptions struct {
	Lower   tensor.Opt[float64] // default 1/8
	Upper   tensor.Opt[float64] // default 1/3
	Inplace bool                // overwrite the input
}

// NewRReLU makes an RReLU.
func NewRReLU(opts ...RReLUOptions) *RReLU {
	o := first(opts)
	return New(&RReLU{Lower: o.Lower.Or(1.0 / 8), Upper: o.Upper.Or(1.0 / 3), Inplace: o.Inplace})
}

// Forward applies the activation.
func (m *RReLU) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Inplace {
			return x.RReLUInPlace(tensor.RReLUInPlaceOptions{Lower: m.Lower, Upper: m.Upper, Training: m.Training()})
		}
		return x.RReLU(tensor.RReLUOptions{Lower: m.Lower, Upper: m.Upper, Training: m.Training()})
	})
}

// ExtraRepr prints the settings.
func (m *RReLU) ExtraRepr() string {
	return "lower=" + pyNum(m.Lower) + ", upper=" + pyNum(m.Upper) + inplaceTail(m.Inplace)
}

// Approximation says how GELU is computed.
type Approximation uint8

// The approximations.
const (
	Exact      Approximation = iota // with the error function
	TanhApprox                      // with a hyperbolic tangent
)

// String is Python's name.
func (a Approximation) String() string { return [...]string{"none", "tanh"}[a] }

// GELU is x·Φ(x) with the normal distribution function Φ (Hendrycks and Gimpel 2016).
// https://pytorch.org/docs/stable/generated/torch.nn.GELU.html
type GELU struct {
	Base
	Approximate Approximation
}

// GELUOptions are the options of NewGELU.
type GELUOptions struct{ Approximate Approximation }

// NewGELU makes a GELU.
func NewGELU(opts ...GELUOptions) *GELU { return New(&GELU{Approximate: first(opts).Approximate}) }

// Forward applies the activation.
func (m *GELU) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Approximate == Exact {
			return x.GELU()
		}
		return x.GELU(tensor.GELUOptions{Approximate: m.Approximate.String()})
	})
}

// ExtraRepr prints the setting.
func (m *GELU) ExtraRepr() string { return "approximate='" + m.Approximate.String() + "'" }

// GLU multiplies the first half of a dimension by the sigmoid of the second (Dauphin et al. 2016).
// https://pytorch.org/docs/stable/generated/torch.nn.GLU.html
type GLU struct {
	Base
	Dim int
}

// GLUOptions are the options of NewGLU.
type GLUOptions struct {
	Dim tensor.Opt[int] // default -1
}

// NewGLU makes a GLU.
func NewGLU(opts ...GLUOptions) *GLU { return New(&GLU{Dim: first(opts).Dim.Or(-1)}) }

// Forward applies the activation.
func (m *GLU) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.GLU(tensor.GLUOptions{Dim: tensor.Some(m.Dim)}) })
}

// ExtraRepr prints the dimension.
func (m *GLU) ExtraRepr() string { return fmt.Sprintf("dim=%d", m.Dim) }

// PReLU is a leaky ReLU with a slope to be learnt (He et al. 2015).
// https://pytorch.org/docs/stable/generated/torch.nn.PReLU.html
type PReLU struct {
	Base
	NumParameters int
	Weight        *Tensor
}

// PReLUOptions are the options of NewPReLU; the zero value is PyTorch's default.
type PReLUOptions struct {
	NumParameters tensor.Opt[int]     // 1 or the number of channels; default 1
	Init          tensor.Opt[float64] // default 0.25
	DType         tensor.DType
	Device        tensor.Device // where the parameters are made; the default device unless given
}

// NewPReLU makes a PReLU.
func NewPReLU(opts ...PReLUOptions) *PReLU {
	o := first(opts)
	n := o.NumParameters.Or(1)
	return New(&PReLU{NumParameters: n, Weight: NewParameter(constant(at{o.DType, o.Device}, o.Init.Or(0.25), n))})
}

// Forward applies the activation.
func (m *PReLU) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.PReLU(m.Weight) })
}

// ExtraRepr prints the number of slopes.
func (m *PReLU) ExtraRepr() string { return fmt.Sprintf("num_parameters=%d", m.NumParameters) }

// Softmax is exp(x) divided by its sum over a dimension.
// https://pytorch.org/docs/stable/generated/torch.nn.Softmax.html
type Softmax struct {
	Base
	Dim tensor.Opt[int]
}

// NewSoftmax makes a Softmax over dimension dim.
func NewSoftmax(dim int) *Softmax { return New(&Softmax{Dim: tensor.Some(dim)}) }

// Forward applies the function.
func (m *Softmax) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.Softmax(softmaxDim(m.Dim, x)) })
}

// ExtraRepr prints the dimension.
func (m *Softmax) ExtraRepr() string { return "dim=" + pyOptInt(m.Dim) }

// Softmin is Softmax of -x.
// https://pytorch.org/docs/stable/generated/torch.nn.Softmin.html
type Softmin struct {
	Base
	Dim tensor.Opt[int]
}

// NewSoftmin makes a Softmin over dimension dim.
func NewSoftmin(dim int) *Softmin { return New(&Softmin{Dim: tensor.Some(dim)}) }

// Forward applies the function.
func (m *Softmin) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.Neg().Softmax(softmaxDim(m.Dim, x)) })
}

// ExtraRepr prints the dimension.
func (m *Softmin) ExtraRepr() string { return "dim=" + pyOptInt(m.Dim) }

// LogSoftmax is the logarithm of Softmax.
// https://pytorch.org/docs/stable/generated/torch.nn.LogSoftmax.html
type LogSoftmax struct {
	Base
	Dim tensor.Opt[int]
}

// NewLogSoftmax makes a LogSoftmax over dimension dim.
func NewLogSoftmax(dim int) *LogSoftmax { return New(&LogSoftmax{Dim: tensor.Some(dim)}) }

// Forward applies the function.
func (m *LogSoftmax) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.LogSoftmax(softmaxDim(m.Dim, x)) })
}

// ExtraRepr prints the dimension.
func (m *LogSoftmax) ExtraRepr() string { return "dim=" + pyOptInt(m.Dim) }

// softmaxDim is the dimension, or the one that PyTorch guesses without one.
func softmaxDim(d tensor.Opt[int], x *Tensor) int {
	if n, ok := d.Get(); ok {
		return n
	}
	switch x.Dim() {
	case 0, 1, 3:
		return 0
	}
	return 1
}

func pyOptInt(o tensor.Opt[int]) string {
	if n, ok := o.Get(); ok {
		return fmt.Sprint(n)
	}
	return "None"
}

// Softmax2d is Softmax over the channels of (N, C, H, W) or (C, H, W).
type Softmax2d struct{ Base }

// NewSoftmax2d makes a Softmax2d.
func NewSoftmax2d() *Softmax2d { return New(&Softmax2d{}) }

// Forward applies the function.
func (m *Softmax2d) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if x.Dim() != 3 && x.Dim() != 4 {
			tensor.Fail(tensor.ErrShape, "Softmax2d: expected input to be 3D or 4D, got %dD instead", x.Dim())
		}
		return x.Softmax(-3)
	})
}

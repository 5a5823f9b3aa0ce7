package quantization

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Observer is a module that watches the tensors that pass through it and chooses the scale and zero point to quantize
// them with.
type Observer interface {
	nn.Layer
	// CalculateQParams gives scales (float32) and zero points, of one element or one for each channel.
	CalculateQParams() (scale, zeroPoint *Tensor)
	// Settings are the options that the observer was made with.
	Settings() ObserverOptions
	// Limits are the least and the largest integer.
	Limits() (quantMin, quantMax int)
}

// ObserverOptions are the options of observers; the zero value is PyTorch's default.
type ObserverOptions struct {
	DType       tensor.DType   // default QUInt8
	QScheme     tensor.QScheme // default PerTensorAffine; of observers per channel PerChannelAffine
	ReduceRange bool           // use one bit less
	// QuantMin and QuantMax limit the integers; unset, the type does.
	QuantMin, QuantMax tensor.Opt[int]
	Eps                tensor.Opt[float64] // the least scale; default 2^-23
	// AveragingConstant is the weight of a new range in a moving average (0.01).
	AveragingConstant tensor.Opt[float64]
	ChAxis            int             // the dimension of channels
	Bins              tensor.Opt[int] // of a histogram (2048)
	IsDynamic         bool            // the range is found when the layer runs
	// Scale and ZeroPoint are those of a FixedQParamsObserver.
	Scale     float64
	ZeroPoint int
}

// ObserverBase is what observers share.
type ObserverBase struct {
	nn.Base
	options    ObserverOptions
	qmin, qmax int
	Eps        *Tensor `torch:"eps,buffer"`
}

// Settings are the options that the observer was made with.
func (o *ObserverBase) Settings() ObserverOptions { return o.options }

// Limits are the least and the largest integer.
func (o *ObserverBase) Limits() (quantMin, quantMax int) { return o.qmin, o.qmax }

func (o *ObserverBase) setup(opts ObserverOptions) {
	if opts.DType == 0 {
		opts.DType = tensor.QUInt8
	}
	o.options = opts
	o.qmin, o.qmax = limitsOf(opts)
	o.Eps = tensor.FromSlice([]float32{float32(opts.Eps.Or(1.0 / (1 << 23)))})
}

// limitsOf are the limits of integers by the options, as calculate_qmin_qmax in PyTorch.
func limitsOf(o ObserverOptions) (lo, hi int) {
	lo, hasLo := o.QuantMin.Get()
	hi, hasHi := o.QuantMax.Get()
	if hasLo && hasHi {
		if lo > 0 || hi < 0 {
			tensor.Fail(tensor.ErrValue, "Used-specified quantization range must include 0.")
		}
		if lo >= hi {
			tensor.Fail(tensor.ErrValue, "qmin must be strictly less than qmax for user-specified quantization range.")
		}
	} else {
		switch o.DType {
		case tensor.QInt8, tensor.Int8:
			lo, hi = -128, 127
		case tensor.QUInt8, tensor.Uint8:
			lo, hi = 0, 255
		case tensor.QInt32, tensor.Int32:
			return math.MinInt32, math.MaxInt32
		case tensor.Uint16:
			return 0, math.MaxUint16
		case tensor.Int16:
			return math.MinInt16, math.MaxInt16
		case tensor.QUInt4x2:
			return 0, 15
		default:
			tensor.Fail(tensor.ErrDType, "an observer works for quint8, qint8, qint32, quint4x2 and integers, not %s",
				o.DType)
		}
	}
	if o.ReduceRange {
		lo, hi = lo>>1, hi>>1
	}
	return lo, hi
}

// qparams chooses scales and zero points for ranges.
func (o *ObserverBase) qparams(least, most []float32) (scale, zero *Tensor) {
	n := len(least)
	valid := n > 0
	for i := range least {
		switch {
		case math.IsInf(float64(least[i]), 1) && math.IsInf(float64(most[i]), -1):
			valid = false
		case least[i] > most[i]:
			tensor.Fail(tensor.ErrValue, "min %v should be less than max %v", least[i], most[i])
		}
	}
	if !valid {
		tensor.Warn("must run observer before calling calculate_qparams. Returning default values.")
		return tensor.FromSlice([]float32{1}), tensor.FromSlice([]int64{0})
	}
	eps := tensor.Data[float32](o.Eps)[0]
	s := make([]float32, n)
	span := float32(o.qmax - o.qmin)
	switch o.options.QScheme {
	case tensor.PerTensorSymmetric, tensor.PerChannelSymmetric:
		z := make([]int64, n)
		for i := range s {
			top := max(-min(least[i], 0), max(most[i], 0))
			s[i] = max(top/(span/2), eps)
			if dt := o.options.DType; dt == tensor.QUInt8 || dt == tensor.Uint8 {
				z[i] = 128
				if _, custom := o.options.QuantMin.Get(); custom {
					z[i] = int64((o.qmin + o.qmax) >> 1)
				}
			} else if dt == tensor.Uint16 {
				z[i] = 1 << 15
			}
		}
		return tensor.FromSlice(s), tensor.FromSlice(z)
	case tensor.PerChannelAffineFloatQParams:
		z := make([]float32, n)
		for i := range s {
			if s[i] = (most[i] - least[i]) / span; !(s[i] > eps) {
				s[i] = 1
			}
			z[i] = -least[i] / s[i]
		}
		return tensor.FromSlice(s), tensor.FromSlice(z)
	}
	z := make([]int32, n)
	for i := range s {
		lo, hi := min(least[i], 0), max(most[i], 0)
		s[i] = max((hi-lo)/span, eps)
		zero := o.qmin - int(math.RoundToEven(float64(lo/s[i])))
		z[i] = int32(min(max(zero, o.qmin), o.qmax))
	}
	return tensor.FromSlice(s), tensor.FromSlice(z)
}

// RangeObserver is what observers of the least and largest element share.
type RangeObserver struct {
	ObserverBase
	MinVal     *Tensor `torch:"min_val,buffer"`
	MaxVal     *Tensor `torch:"max_val,buffer"`
	perChannel bool
	average    bool // a moving average instead of the extremes of all batches
}

func (o *RangeObserver) setup(opts []ObserverOptions, perChannel, average bool) {
	var opt ObserverOptions
	if len(opts) > 0 {
		opt = opts[0]
	}
	if perChannel && opt.QScheme == tensor.PerTensorAffine {
		opt.QScheme = tensor.PerChannelAffine
	}
	if !perChannel && opt.QScheme.IsPerChannel() {
		tensor.Fail(tensor.ErrNotImpl, "MinMaxObserver's qscheme only support torch.per_tensor_symmetric and "+
			"torch.per_tensor_affine.")
	}
	if perChannel && !opt.QScheme.IsPerChannel() {
		tensor.Fail(tensor.ErrNotImpl, "PerChannelMinMaxObserver's qscheme only support torch.per_channel_symmetric, "+
			"torch.per_channel_affine and torch.per_channel_affine_float_qparams.")
	}
	o.ObserverBase.setup(opt)
	o.perChannel, o.average = perChannel, average
	o.ResetMinMaxVals()
}

// ResetMinMaxVals forgets what was observed.
func (o *RangeObserver) ResetMinMaxVals() {
	shape := []int{}
	if o.perChannel {
		shape = []int{0}
	}
	inf := math.Inf(1)
	o.MinVal, o.MaxVal = torch.Full(shape, inf), torch.Full(shape, -inf)
}

// observe takes in a batch and returns it.
func (o *RangeObserver) observe(x *Tensor) *Tensor {
	if x.Numel() == 0 {
		return x
	}
	lo, hi := ranges(x.Detach().To(tensor.Float32), o.perChannel, o.options.ChAxis)
	was, wasHi := numbers(o.MinVal), numbers(o.MaxVal)
	k := float32(o.options.AveragingConstant.Or(0.01))
	first := len(was) != len(lo)
	for i := range lo {
		if first || math.IsInf(float64(was[i]), 1) {
			continue
		}
		if o.average {
			lo[i], hi[i] = was[i]+k*(lo[i]-was[i]), wasHi[i]+k*(hi[i]-wasHi[i])
		} else {
			lo[i], hi[i] = min(lo[i], was[i]), max(hi[i], wasHi[i])
		}
	}
	shape := []int{}
	if o.perChannel {
		shape = []int{len(lo)}
	}
	o.MinVal, o.MaxVal = tensor.FromSlice(lo, shape...), tensor.FromSlice(hi, shape...)
	return x
}

func numbers(t *Tensor) []float32 {
	return tensor.Data[float32](t.Detach().To(tensor.Float32).Contiguous())
}

// ranges are the least and the largest element, or those of each index of an axis.
func ranges(x *Tensor, perChannel bool, axis int) (lo, hi []float32) {
	rows := 1
	if perChannel {
		if axis < 0 || axis >= x.Dim() {
			tensor.Fail(tensor.ErrIndex, "an observer of channels in dimension %d got a tensor of shape %s", axis,
				tensor.ShapeString(x.Shape()))
		}
		rows = x.Size(axis)
		x = x.Transpose(0, axis)
	}
	all := numbers(x)
	n := len(all) / rows
	for i := range rows {
		a, b := float32(math.Inf(1)), float32(math.Inf(-1))
		for _, v := range all[i*n : (i+1)*n] {
			a, b = min(a, v), max(b, v)
		}
		lo, hi = append(lo, a), append(hi, b)
	}
	return lo, hi
}

// CalculateQParams chooses scale and zero point for the range that was observed.
func (o *RangeObserver) CalculateQParams() (scale, zeroPoint *Tensor) {
	return o.qparams(numbers(o.MinVal), numbers(o.MaxVal))
}

// ExtraRepr prints the range.
func (o *RangeObserver) ExtraRepr() string {
	return fmt.Sprintf("min_val=%s, max_val=%s", plain(o.MinVal), plain(o.MaxVal))
}

// plain prints a tensor as an f-string of Python does: a number where it has no dimensions.
func plain(t *Tensor) string {
	if t.Dim() == 0 {
		return pyfmt.Float(t.Num().F)
	}
	return t.String()
}

// MinMaxObserver follows the least and the largest element of all batches.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.observer.MinMaxObserver.html
type MinMaxObserver struct{ RangeObserver }

// NewMinMaxObserver makes a MinMaxObserver.
func NewMinMaxObserver(opts ...ObserverOptions) *MinMaxObserver {
	o := &MinMaxObserver{}
	o.setup(opts, false, false)
	return nn.New(o)
}

// Forward observes x and returns it.
func (o *MinMaxObserver) Forward(x *Tensor) *Tensor { return o.Run(o, x, o.observe) }

// MovingAverageMinMaxObserver follows the moving average of the least and the largest element.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.observer.MovingAverageMinMaxObserver.html
type MovingAverageMinMaxObserver struct{ RangeObserver }

// NewMovingAverageMinMaxObserver makes a MovingAverageMinMaxObserver.
func NewMovingAverageMinMaxObserver(opts ...ObserverOptions) *MovingAverageMinMaxObserver {
	o := &MovingAverageMinMaxObserver{}
	o.setup(opts, false, true)
	return nn.New(o)
}

// Forward observes x and returns it.
func (o *MovingAverageMinMaxObserver) Forward(x *Tensor) *Tensor { return o.Run(o, x, o.observe) }

// PerChannelMinMaxObserver follows the least and the largest element of each channel.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.observer.PerChannelMinMaxObserver.html
type PerChannelMinMaxObserver struct{ RangeObserver }

// NewPerChannelMinMaxObserver makes a PerChannelMinMaxObserver.
func NewPerChannelMinMaxObserver(opts ...ObserverOptions) *PerChannelMinMaxObserver {
	o := &PerChannelMinMaxObserver{}
	o.setup(opts, true, false)
	return nn.New(o)
}

// Forward observes x and returns it.
func (o *PerChannelMinMaxObserver) Forward(x *Tensor) *Tensor { return o.Run(o, x, o.observe) }

// MovingAveragePerChannelMinMaxObserver follows the moving average of the least and the largest element of each
// channel.
type MovingAveragePerChannelMinMaxObserver struct{ RangeObserver }

// NewMovingAveragePerChannelMinMaxObserver makes a MovingAveragePerChannelMinMaxObserver.
func NewMovingAveragePerChannelMinMaxObserver(opts ...ObserverOptions) *MovingAveragePerChannelMinMaxObserver {
	o := &MovingAveragePerChannelMinMaxObserver{}
	o.setup(opts, true, true)
	return nn.New(o)
}

// Forward observes x and returns it.
func (o *MovingAveragePerChannelMinMaxObserver) Forward(x *Tensor) *Tensor {
	return o.Run(o, x, o.observe)
}

// FixedQParamsObserver has a scale and a zero point that are given.
type FixedQParamsObserver struct {
	nn.Base
	options    ObserverOptions
	qmin, qmax int
	Scale      *Tensor `torch:"scale,buffer"`
	ZeroPoint  *Tensor `torch:"zero_point,buffer"`
}

// NewFixedQParamsObserver makes a FixedQParamsObserver of o.Scale and o.ZeroPoint.
func NewFixedQParamsObserver(o ObserverOptions) *FixedQParamsObserver {
	if o.DType == 0 {
		o.DType = tensor.QUInt8
	}
	m := &FixedQParamsObserver{options: o, Scale: tensor.FromSlice([]float32{float32(o.Scale)}),
		ZeroPoint: tensor.FromSlice([]int32{int32(o.ZeroPoint)})}
	m.qmin, m.qmax = limitsOf(o)
	return nn.New(m)
}

// Forward returns x.
func (o *FixedQParamsObserver) Forward(x *Tensor) *Tensor {
	return o.Run(o, x, func(x *Tensor) *Tensor { return x })
}

// CalculateQParams gives the scale and zero point.
func (o *FixedQParamsObserver) CalculateQParams() (scale, zeroPoint *Tensor) {
	return o.Scale, o.ZeroPoint
}

// Settings are the options that the observer was made with.
func (o *FixedQParamsObserver) Settings() ObserverOptions { return o.options }

// Limits are the least and the largest integer.
func (o *FixedQParamsObserver) Limits() (quantMin, quantMax int) { return o.qmin, o.qmax }

// PlaceholderObserver observes nothing: it says which type dynamic quantization uses.
type PlaceholderObserver struct {
	nn.Base
	options ObserverOptions
}

// NewPlaceholderObserver makes a PlaceholderObserver.
func NewPlaceholderObserver(opts ...ObserverOptions) *PlaceholderObserver {
	m := &PlaceholderObserver{}
	if len(opts) > 0 {
		m.options = opts[0]
	}
	if m.options.DType == 0 {
		m.options.DType = tensor.Float32
	}
	return nn.New(m)
}

// Forward returns x.
func (o *PlaceholderObserver) Forward(x *Tensor) *Tensor {
	return o.Run(o, x, func(x *Tensor) *Tensor { return x })
}

// CalculateQParams panics with ErrValue: nothing was observed.
func (o *PlaceholderObserver) CalculateQParams() (scale, zeroPoint *Tensor) {
	tensor.Fail(tensor.ErrValue, "calculate_qparams should not be called for PlaceholderObserver")
	return nil, nil
}

// Settings are the options that the observer was made with.
func (o *PlaceholderObserver) Settings() ObserverOptions { return o.options }

// Limits are the least and the largest integer.
func (o *PlaceholderObserver) Limits() (quantMin, quantMax int) {
	return o.options.QuantMin.Or(0), o.options.QuantMax.Or(255)
}

// NoopObserver observes nothing: it says which type weights are converted to, as float16.
type NoopObserver struct{ PlaceholderObserver }

// NewNoopObserver makes a NoopObserver; the type is float16 unless given.
func NewNoopObserver(opts ...ObserverOptions) *NoopObserver {
	m := &NoopObserver{}
	if len(opts) > 0 {
		m.options = opts[0]
	}
	if m.options.DType == 0 {
		m.options.DType = tensor.Float16
	}
	return nn.New(m)
}

// Forward returns x.
func (o *NoopObserver) Forward(x *Tensor) *Tensor {
	return o.Run(o, x, func(x *Tensor) *Tensor { return x })
}

package quantization

import (
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Factory makes an observer or a fake quantization: what Python writes as MinMaxObserver.with_args(...).
type Factory func() Observer

// FakeQuantizeBase is what modules of fake quantization share: switches, scale and zero point, and an observer.
type FakeQuantizeBase struct {
	nn.Base
	FakeQuantEnabled      *Tensor  `torch:"fake_quant_enabled,buffer"`
	ObserverEnabled       *Tensor  `torch:"observer_enabled,buffer"`
	Scale                 *Tensor  `torch:"scale,buffer"`
	ZeroPoint             *Tensor  `torch:"zero_point,buffer"`
	ActivationPostProcess Observer `torch:"activation_post_process"`
}

func (f *FakeQuantizeBase) setup(o Observer) {
	f.FakeQuantEnabled, f.ObserverEnabled = tensor.FromSlice([]uint8{1}), tensor.FromSlice([]uint8{1})
	f.Scale, f.ZeroPoint = tensor.FromSlice([]float32{1}), tensor.FromSlice([]int32{0})
	if o.Settings().QScheme == tensor.PerChannelAffineFloatQParams {
		f.ZeroPoint = tensor.FromSlice([]float32{0})
	}
	f.ActivationPostProcess = o
}

func isOn(t *Tensor) bool { return t.Num().I != 0 }

func onOff(t *Tensor, on bool) {
	v := 0
	if on {
		v = 1
	}
	tensor.NoGrad(func() { t.FillScalarInPlace(v) })
}

// EnableFakeQuant and DisableFakeQuant switch rounding.
func (f *FakeQuantizeBase) EnableFakeQuant() { onOff(f.FakeQuantEnabled, true) }

// DisableFakeQuant is described at EnableFakeQuant.
func (f *FakeQuantizeBase) DisableFakeQuant() { onOff(f.FakeQuantEnabled, false) }

// EnableObserver and DisableObserver switch the observer.
func (f *FakeQuantizeBase) EnableObserver() { onOff(f.ObserverEnabled, true) }

// DisableObserver is described at EnableObserver.
func (f *FakeQuantizeBase) DisableObserver() { onOff(f.ObserverEnabled, false) }

func (f *FakeQuantizeBase) switches() *FakeQuantizeBase { return f }

// CalculateQParams gives the scale and zero point that the observer chooses.
func (f *FakeQuantizeBase) CalculateQParams() (scale, zeroPoint *Tensor) {
	return f.ActivationPostProcess.CalculateQParams()
}

// Settings are the options of the observer.
func (f *FakeQuantizeBase) Settings() ObserverOptions { return f.ActivationPostProcess.Settings() }

// Limits are the least and the largest integer.
func (f *FakeQuantizeBase) Limits() (quantMin, quantMax int) { return f.ActivationPostProcess.Limits() }

// round rounds x to what scale and zero point can say.
func (f *FakeQuantizeBase) round(x *Tensor) *Tensor {
	lo, hi := f.Limits()
	s := f.Settings()
	if s.QScheme.IsPerChannel() {
		return x.FakeQuantizePerChannelAffine(f.Scale, f.ZeroPoint, s.ChAxis, lo, hi)
	}
	return x.FakeQuantizePerTensorAffine(f.Scale.Item(), int(f.ZeroPoint.Item()), lo, hi)
}

// FakeQuantize observes what passes and rounds it as quantization would; gradients pass where nothing was cut off.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.fake_quantize.FakeQuantize.html
type FakeQuantize struct{ FakeQuantizeBase }

// NewFakeQuantize makes a FakeQuantize with an observer.
func NewFakeQuantize(observer Observer) *FakeQuantize {
	f := &FakeQuantize{}
	f.setup(observer)
	return nn.New(f)
}

// Forward rounds x.
func (f *FakeQuantize) Forward(x *Tensor) *Tensor {
	return f.Run(f, x, func(x *Tensor) *Tensor {
		if isOn(f.ObserverEnabled) {
			f.ActivationPostProcess.Forward(x.Detach())
			s, z := f.ActivationPostProcess.CalculateQParams()
			f.Scale, f.ZeroPoint = s.Clone(), z.ToDType(f.ZeroPoint.DType()).Clone()
		}
		if !isOn(f.FakeQuantEnabled) {
			return x
		}
		return f.round(x)
	})
}

// FixedQParamsFakeQuantize rounds with the scale and zero point of a FixedQParamsObserver.
type FixedQParamsFakeQuantize struct{ FakeQuantizeBase }

// NewFixedQParamsFakeQuantize makes a FixedQParamsFakeQuantize.
func NewFixedQParamsFakeQuantize(observer *FixedQParamsObserver) *FixedQParamsFakeQuantize {
	f := &FixedQParamsFakeQuantize{}
	f.setup(observer)
	f.Scale, f.ZeroPoint = observer.Scale.Clone(), observer.ZeroPoint.Clone()
	return nn.New(f)
}

// Forward rounds x.
func (f *FixedQParamsFakeQuantize) Forward(x *Tensor) *Tensor {
	return f.Run(f, x, func(x *Tensor) *Tensor {
		if !isOn(f.FakeQuantEnabled) {
			return x
		}
		return f.round(x)
	})
}

// CalculateQParams gives the fixed scale and zero point.
func (f *FixedQParamsFakeQuantize) CalculateQParams() (scale, zeroPoint *Tensor) {
	return f.Scale, f.ZeroPoint
}

// FusedMovingAvgObsFakeQuantize is FakeQuantize with a moving average, in one operator.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.fake_quantize.FusedMovingAvgObsFakeQuantize.html
type FusedMovingAvgObsFakeQuantize struct{ FakeQuantizeBase }

// NewFusedMovingAvgObsFakeQuantize makes one with a MovingAverageMinMaxObserver or a
// MovingAveragePerChannelMinMaxObserver. It panics with ErrType on another observer.
func NewFusedMovingAvgObsFakeQuantize(observer Observer) *FusedMovingAvgObsFakeQuantize {
	f := &FusedMovingAvgObsFakeQuantize{}
	if rangeOf(observer) == nil {
		tensor.Fail(tensor.ErrType, "Fused observer+fake_quant module only works with MovingAverageMinMaxObserver")
	}
	f.setup(observer)
	f.FakeQuantEnabled, f.ObserverEnabled = tensor.FromSlice([]int64{1}), tensor.FromSlice([]int64{1})
	return nn.New(f)
}

// rangeOf is the range of an observer that takes a moving average, nil for others.
func rangeOf(o Observer) *RangeObserver {
	switch m := o.(type) {
	case *MovingAverageMinMaxObserver:
		return &m.RangeObserver
	case *MovingAveragePerChannelMinMaxObserver:
		return &m.RangeObserver
	}
	return nil
}

// Forward rounds x.
func (f *FusedMovingAvgObsFakeQuantize) Forward(x *Tensor) *Tensor {
	return f.Run(f, x, func(x *Tensor) *Tensor {
		r := rangeOf(f.ActivationPostProcess)
		lo, hi := f.Limits()
		s := f.Settings()
		out, err := tensor.CallOp("aten::fused_moving_avg_obs_fake_quant", tensor.TensorValue(x),
			tensor.TensorValue(f.ObserverEnabled), tensor.TensorValue(f.FakeQuantEnabled), tensor.TensorValue(r.MinVal),
			tensor.TensorValue(r.MaxVal), tensor.TensorValue(f.Scale), tensor.TensorValue(f.ZeroPoint),
			tensor.FloatValue(s.AveragingConstant.Or(0.01)), tensor.IntValue(lo), tensor.IntValue(hi),
			tensor.IntValue(s.ChAxis), tensor.BoolValue(s.QScheme.IsPerChannel()), tensor.BoolValue(s.QScheme.IsSymmetric()))
		if err != nil {
			panic(err)
		}
		return out[0].T
	})
}

// eachFake calls a function for every module of fake quantization in m.
func eachFake(m nn.Module, do func(f *FakeQuantizeBase)) {
	nn.Apply(m, func(c nn.Module) {
		if f, ok := c.(interface{ switches() *FakeQuantizeBase }); ok {
			do(f.switches())
		}
	})
}

// EnableFakeQuant, DisableFakeQuant, EnableObserver and DisableObserver switch all fake quantization in a model.
func EnableFakeQuant(m nn.Module) { eachFake(m, (*FakeQuantizeBase).EnableFakeQuant) }

// DisableFakeQuant is described at EnableFakeQuant.
func DisableFakeQuant(m nn.Module) { eachFake(m, (*FakeQuantizeBase).DisableFakeQuant) }

// EnableObserver is described at EnableFakeQuant.
func EnableObserver(m nn.Module) { eachFake(m, (*FakeQuantizeBase).EnableObserver) }

// DisableObserver is described at EnableFakeQuant.
func DisableObserver(m nn.Module) { eachFake(m, (*FakeQuantizeBase).DisableObserver) }

package quantization

import (
	"github.com/gotorch-dev/torch/tensor"
)

// QConfig says how a layer is quantized: what observes its output, and what its weights.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.qconfig.QConfig.html
type QConfig struct{ Activation, Weight Factory }

// QConfigMapping says which layers of a model are quantized and how; the most particular entry holds.
type QConfigMapping struct {
	Global *QConfig
	// Types has entries by class name ("Linear"), Names by the dotted name of a module. A nil leaves it as it is.
	Types, Names map[string]*QConfig
}

// of is what holds for a module.
func (m *QConfigMapping) of(name, class string, above *QConfig) *QConfig {
	if q, ok := m.Names[name]; ok {
		return q
	}
	if q, ok := m.Types[class]; ok {
		return q
	}
	if name == "" {
		return m.Global
	}
	return above
}

var some = tensor.Some[int]

func withLimits(o ObserverOptions, lo, hi int) ObserverOptions {
	o.QuantMin, o.QuantMax = some(lo), some(hi)
	return o
}

var (
	narrowEps    = tensor.Some(1.0 / 4096)
	symmetric    = ObserverOptions{DType: tensor.QInt8, QScheme: tensor.PerTensorSymmetric}
	channels     = ObserverOptions{DType: tensor.QInt8, QScheme: tensor.PerChannelSymmetric}
	narrow       = ObserverOptions{DType: tensor.QInt8, QScheme: tensor.PerTensorSymmetric, Eps: narrowEps}
	narrowRows   = ObserverOptions{DType: tensor.QInt8, QScheme: tensor.PerChannelSymmetric, Eps: narrowEps}
	floatRows    = ObserverOptions{QScheme: tensor.PerChannelAffineFloatQParams}
	floatRows4   = ObserverOptions{DType: tensor.QUInt4x2, QScheme: tensor.PerChannelAffineFloatQParams}
	fixedSigned  = withLimits(ObserverOptions{Scale: 2.0 / 256, ZeroPoint: 128}, 0, 255)
	fixedUnit    = withLimits(ObserverOptions{Scale: 1.0 / 256}, 0, 255)
	averageOfOne = tensor.Some(1.0)
)

func minMax(o ObserverOptions) Factory { return func() Observer { return NewMinMaxObserver(o) } }
func perChannel(o ObserverOptions) Factory {
	return func() Observer { return NewPerChannelMinMaxObserver(o) }
}
func moving(o ObserverOptions) Factory {
	return func() Observer { return NewMovingAverageMinMaxObserver(o) }
}
func movingChannels(o ObserverOptions) Factory {
	return func() Observer { return NewMovingAveragePerChannelMinMaxObserver(o) }
}
func histogram(o ObserverOptions) Factory { return func() Observer { return NewHistogramObserver(o) } }
func fakeOf(f Factory) Factory            { return func() Observer { return NewFakeQuantize(f()) } }
func fusedOf(f Factory) Factory {
	return func() Observer { return NewFusedMovingAvgObsFakeQuantize(f()) }
}

// The observers and fake quantizations that PyTorch names.
var (
	DefaultObserver                                  = minMax(withLimits(ObserverOptions{}, 0, 127))
	DefaultWeightObserver                            = minMax(symmetric)
	WeightObserverRangeNeg127To127                   = minMax(withLimits(narrow, -127, 127))
	DefaultHistogramObserver                         = histogram(withLimits(ObserverOptions{}, 0, 127))
	DefaultPerChannelWeightObserver                  = perChannel(channels)
	PerChannelWeightObserverRangeNeg127To127         = perChannel(withLimits(narrowRows, -127, 127))
	DefaultFloatQParamsObserver                      = perChannel(floatRows)
	DefaultFloatQParamsObserver4Bit                  = perChannel(floatRows4)
	DefaultPlaceholderObserver               Factory = func() Observer { return NewPlaceholderObserver() }
	DefaultDynamicQuantObserver              Factory = func() Observer {
		return NewPlaceholderObserver(withLimits(ObserverOptions{DType: tensor.QUInt8, IsDynamic: true}, 0, 255))
	}
	DefaultFixedQParamsRangeNeg1To1Observer Factory = func() Observer { return NewFixedQParamsObserver(fixedSigned) }
	DefaultFixedQParamsRange0To1Observer    Factory = func() Observer { return NewFixedQParamsObserver(fixedUnit) }

	DefaultFakeQuant        = fakeOf(moving(withLimits(ObserverOptions{ReduceRange: true}, 0, 255)))
	DefaultWeightFakeQuant  = fakeOf(moving(withLimits(symmetric, -128, 127)))
	DefaultDynamicFakeQuant = fakeOf(moving(withLimits(ObserverOptions{IsDynamic: true,
		AveragingConstant: averageOfOne}, 0, 255)))
	DefaultPerChannelWeightFakeQuant = fakeOf(movingChannels(withLimits(channels, -128, 127)))
	DefaultHistogramFakeQuant        = fakeOf(histogram(withLimits(ObserverOptions{ReduceRange: true}, 0, 255)))
	DefaultEmbeddingFakeQuant        = fakeOf(movingChannels(withLimits(ObserverOptions{
		QScheme: tensor.PerChannelAffineFloatQParams, AveragingConstant: averageOfOne}, 0, 255)))
	DefaultEmbeddingFakeQuant4Bit = fakeOf(movingChannels(ObserverOptions{DType: tensor.QUInt4x2,
		QScheme: tensor.PerChannelAffineFloatQParams, AveragingConstant: averageOfOne}))
	DefaultFixedQParamsRangeNeg1To1FakeQuant Factory = func() Observer {
		return NewFixedQParamsFakeQuantize(NewFixedQParamsObserver(fixedSigned))
	}
	DefaultFixedQParamsRange0To1FakeQuant Factory = func() Observer {
		return NewFixedQParamsFakeQuantize(NewFixedQParamsObserver(fixedUnit))
	}
	DefaultFusedActFakeQuant                   = fusedOf(moving(withLimits(ObserverOptions{}, 0, 255)))
	DefaultFusedWtFakeQuant                    = fusedOf(moving(withLimits(symmetric, -128, 127)))
	DefaultFusedPerChannelWtFakeQuant          = fusedOf(movingChannels(withLimits(channels, -128, 127)))
	FusedWtFakeQuantRangeNeg127To127           = fusedOf(moving(withLimits(narrow, -127, 127)))
	FusedPerChannelWtFakeQuantRangeNeg127To127 = fusedOf(movingChannels(withLimits(narrowRows, -127, 127)))
)

// The configurations of dynamic quantization and of tables.
var (
	DefaultDynamicQConfig      = &QConfig{DefaultDynamicQuantObserver, DefaultWeightObserver}
	PerChannelDynamicQConfig   = &QConfig{DefaultDynamicQuantObserver, DefaultPerChannelWeightObserver}
	Float16DynamicQConfig      = &QConfig{float16Dynamic, float16Dynamic}
	FloatQParamsWeightOnly     = &QConfig{DefaultPlaceholderObserver, DefaultFloatQParamsObserver}
	FloatQParamsWeightOnly4Bit = &QConfig{DefaultPlaceholderObserver, DefaultFloatQParamsObserver4Bit}
)

func float16Dynamic() Observer {
	return NewPlaceholderObserver(ObserverOptions{DType: tensor.Float16, IsDynamic: true})
}

// reduces reports an engine whose defaults leave one bit of activations unused: fbgemm's sums of pairs of products
// overflow 16 bits otherwise.
func reduces(e EngineKind) bool { return e == FBGEMM || e == X86 }

// GetDefaultQConfig is PyTorch's configuration for static quantization under an engine.
func GetDefaultQConfig(e EngineKind) *QConfig {
	weight := DefaultPerChannelWeightObserver
	if e == QNNPACK {
		weight = DefaultWeightObserver
	}
	return &QConfig{histogram(ObserverOptions{ReduceRange: reduces(e)}), weight}
}

// GetDefaultQATQConfig is PyTorch's configuration for quantization-aware training under an engine.
func GetDefaultQATQConfig(e EngineKind) *QConfig {
	weight := DefaultFusedPerChannelWtFakeQuant
	if e == QNNPACK {
		weight = DefaultFusedWtFakeQuant
	}
	return &QConfig{fusedOf(moving(withLimits(ObserverOptions{ReduceRange: reduces(e)}, 0, 255))), weight}
}

// GetDefaultQConfigMapping quantizes all layers by GetDefaultQConfig.
func GetDefaultQConfigMapping(e EngineKind) *QConfigMapping {
	return &QConfigMapping{Global: GetDefaultQConfig(e)}
}

// special are the observers of activations whose range is known, by class.
var special = map[string][2]Factory{
	"Sigmoid":     {DefaultFixedQParamsRange0To1Observer, DefaultFixedQParamsRange0To1FakeQuant},
	"Hardsigmoid": {DefaultFixedQParamsRange0To1Observer, DefaultFixedQParamsRange0To1FakeQuant},
	"Softmax":     {DefaultFixedQParamsRange0To1Observer, DefaultFixedQParamsRange0To1FakeQuant},
	"Tanh":        {DefaultFixedQParamsRangeNeg1To1Observer, DefaultFixedQParamsRangeNeg1To1FakeQuant},
}

package nn

import "github.com/gotorch-dev/torch/tensor"

// Transient is a Layer of your own between whose neighbours in a chain (Chain, Sequential) values pass as they do
// between this package's layers: its result is a new tensor, its input or a view of that, and nothing keeps either of
// them. Where no gradients are recorded, the chain frees the input of such a layer as soon as the result is there, if
// nothing but the chain knows it.
type Transient interface {
	Layer
	// Transient returns the layer itself. A type that embeds the layer and has a Forward of its own is told from it by
	// that. It returns nil while hooks of the layer's parts may see the input or the result (IsTransient).
	Transient() Module
}

// IsTransient reports that each of the modules is one of this package's layers, or a Transient, whose result is a new
// tensor, its input or a view of that, that keeps neither, and that has no hooks.
func IsTransient(ms ...Module) bool {
	for _, m := range ms {
		if !isTransient(m) {
			return false
		}
	}
	return true
}

func isTransient(m Module) bool {
	if m == nil || m.moduleBase().hooks != nil {
		return false
	}
	switch m := m.(type) {
	case *Sequential:
		return IsTransient(m.mods...)
	case Transient:
		return m.Transient() == Module(m)
	}
	return kindOf(m) != otherLayer || passes(m)
}

// passes lists the layers beside those of kindOf whose results are new tensors, their input or a view of it, and which
// keep neither. It looks at the type itself: a type that embeds one of these may do something else.
func passes(m Module) bool {
	switch m.(type) {
	case *ReLU6, *SELU, *SiLU, *Mish, *Hardswish, *Hardsigmoid, *Sigmoid, *Tanh, *LogSigmoid, *Softsign, *Tanhshrink,
		*ELU, *CELU, *LeakyReLU, *Hardtanh, *Softplus, *Hardshrink, *Softshrink, *RReLU, *GELU, *GLU, *PReLU,
		*Threshold, *Softmax, *Softmin, *LogSoftmax, *Softmax2d:
		return true
	case *Identity, *Flatten, *Unflatten, *Dropout, *Dropout1d, *Dropout2d, *Dropout3d, *AlphaDropout,
		*FeatureAlphaDropout, *PixelShuffle, *PixelUnshuffle, *ChannelShuffle, *Upsample, *UpsamplingNearest2d,
		*UpsamplingBilinear2d, *ZeroPad1d, *ZeroPad2d, *ZeroPad3d, *ConstantPad1d, *ConstantPad2d, *ConstantPad3d,
		*ReflectionPad1d, *ReflectionPad2d, *ReflectionPad3d, *ReplicationPad1d, *ReplicationPad2d, *ReplicationPad3d:
		return true
	case *LayerNorm, *RMSNorm, *GroupNorm, *InstanceNorm1d, *InstanceNorm2d, *InstanceNorm3d, *LocalResponseNorm,
		*AdaptiveAvgPool1d, *AdaptiveAvgPool2d, *AdaptiveAvgPool3d, *AdaptiveMaxPool1d, *AdaptiveMaxPool2d,
		*AdaptiveMaxPool3d, *LPPool1d, *LPPool2d, *LPPool3d, *Embedding:
		return true
	}
	return false
}

// passed is through where no gradients are recorded: it frees x, if nothing but the chain knows it, and reports whether
// that is so of y.
func passed(m Module, x, y *Tensor, inner bool) bool {
	switch {
	case !isTransient(m):
		return false
	case x.Storage() == y.Storage():
		return inner
	case inner:
		tensor.ReleaseConsumed(x, y)
	}
	return true
}

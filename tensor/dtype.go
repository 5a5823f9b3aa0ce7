package tensor

import "sync/atomic"

var defaultDType atomic.Uint32

func init() { defaultDType.Store(uint32(Float32)) }

// DefaultDType is the type of tensors made from Go floats; float32 unless SetDefaultDType changed it.
func DefaultDType() DType { return DType(defaultDType.Load()) }

// SetDefaultDType changes the type of tensors made from Go floats. It must be a floating-point type.
func SetDefaultDType(dt DType) {
	if !dt.IsFloat() {
		Fail(ErrDType, "only floating-point types are supported as the default type")
	}
	defaultDType.Store(uint32(dt))
}

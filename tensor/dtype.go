package tensor

import "sync/atomic"

var defaultDType atomic.Uint32

func init() { defaultDType.Store(uint32(Float32)) }

// DefaultDType is the type of tensors made from Go floats; float32 unless SetDefaultDType changed it.
func DefaultDType() DType { return DType(defaultDType.Load()) }

// DefaultComplexDType is the type of tensors made from Go's complex numbers: of parts of the default type, but
// complex64 where that is bfloat16, as in PyTorch.
func DefaultComplexDType() DType {
	if dt := DefaultDType(); dt != BFloat16 {
		return dt.Complex()
	}
	return Complex64
}

// SetDefaultDType changes the type of tensors made from Go floats. It must be a floating-point type.
func SetDefaultDType(dt DType) {
	if !dt.IsFloat() {
		Fail(ErrDType, "only floating-point types are supported as the default type")
	}
	defaultDType.Store(uint32(dt))
}

// Package half lets kernels of float32 and float64 work on tensors of 16-bit floats a run at a time: what is widened
// stays in the cache, where a conversion of whole tensors would go through memory.
package half

import (
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// Real is a type in which kernels compute: float64 for tensors of float64, float32 for all others.
type Real interface{ float32 | float64 }

// Index is where a 16-bit float stands in tables of kernels for both; -1 for other types.
func Index(dt tensor.DType) int {
	switch dt {
	case tensor.Float16:
		return 0
	case tensor.BFloat16:
		return 1
	}
	return -1
}

// Round rounds a number to a floating type, to 16 bits by way of float32. For other types it is the number itself.
func Round(x float64, dt tensor.DType) float64 {
	switch dt {
	case tensor.Float32:
		return float64(float32(x))
	case tensor.Float16:
		return float64(vec.F16ToF32(vec.F32ToF16(float32(x))))
	case tensor.BFloat16:
		return float64(vec.BF16ToF32(vec.F32ToBF16(float32(x))))
	}
	return x
}

// memory is t's memory from element i on, n elements. t is contiguous, or dense and taken in the order of its memory.
func memory[E any](t *tensor.Tensor, i, n int) []E {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*E)(tensor.Ptr(t)), i+n)[i:]
}

// Load is a run of t's elements from i on, as many as buf has: t's memory, or a 16-bit float's values in buf.
func Load[E Real](t *tensor.Tensor, i int, buf []E) []E {
	switch t.DType() {
	case tensor.Float16:
		vec.F16ToF32s(any(buf).([]float32), memory[uint16](t, i, len(buf)))
		return buf
	case tensor.BFloat16:
		vec.BF16ToF32s(any(buf).([]float32), memory[uint16](t, i, len(buf)))
		return buf
	}
	return memory[E](t, i, len(buf))
}

// Place is where a run of a result from i on is to be computed: t's memory, or buf for a 16-bit float.
func Place[E Real](t *tensor.Tensor, i int, buf []E) []E {
	if t.DType().Size() == 2 {
		return buf
	}
	return memory[E](t, i, len(buf))
}

// Store ends what Place began: it narrows values to a 16-bit float's memory.
func Store[E Real](t *tensor.Tensor, i int, values []E) {
	switch t.DType() {
	case tensor.Float16:
		vec.F32ToF16s(memory[uint16](t, i, len(values)), any(values).([]float32))
	case tensor.BFloat16:
		vec.F32ToBF16s(memory[uint16](t, i, len(values)), any(values).([]float32))
	}
}

// spare holds buffers that are not in use: *[]float32 and *[]float64.
var spare [2]sync.Pool

func pool[E Real]() *sync.Pool { return &spare[unsafe.Sizeof(*new(E))/8] }

// Borrow returns n numbers with any contents, for Return to take back: a kernel's tasks would leave many megabytes of
// fresh ones behind.
func Borrow[E Real](n int) *[]E {
	if p, _ := pool[E]().Get().(*[]E); p != nil && cap(*p) >= n {
		*p = (*p)[:n]
		return p
	}
	b := make([]E, n)
	return &b
}

// Return gives back what Borrow gave.
func Return[E Real](b *[]E) { pool[E]().Put(b) }

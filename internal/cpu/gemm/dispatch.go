package gemm

import "unsafe"

// Number is the set of element types that [GEMMAny] multiplies.
type Number interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64 | complex64 | complex128
}

// GEMMAny is [GEMMBatch] for any element type; use it for integers (which wrap around) and complex numbers
// (not conjugated). It has no epilogue.
//
// The kernels multiply floats and integers of 32 and 64 bits. Narrower integers are summed in 32 bits: the
// bits that are cut off at the end never influence the lower ones. Complex products are made of real ones.
func GEMMAny[T Number](batch []BatchDim, m, n, k int, alpha T, a []T, rsA, csA int, b []T, rsB, csB int, beta T, c []T,
	rsC, csC int) {
	switch alpha := any(alpha).(type) {
	case float32:
		batchF32(batch, m, n, k, alpha, like[float32](a), rsA, csA, like[float32](b), rsB, csB, as[float32](beta),
			like[float32](c), rsC, csC, nil)
	case float64:
		batchF64(batch, m, n, k, alpha, like[float64](a), rsA, csA, like[float64](b), rsB, csB, as[float64](beta),
			like[float64](c), rsC, csC, nil)
	case int32:
		batchI32(batch, m, n, k, alpha, like[int32](a), rsA, csA, like[int32](b), rsB, csB, as[int32](beta),
			like[int32](c), rsC, csC, nil)
	case int64:
		batchI64(batch, m, n, k, alpha, like[int64](a), rsA, csA, like[int64](b), rsB, csB, as[int64](beta),
			like[int64](c), rsC, csC, nil)
	case int16:
		batchI16(batch, m, n, k, alpha, like[int16](a), rsA, csA, like[int16](b), rsB, csB, as[int16](beta),
			like[int16](c), rsC, csC)
	case int8:
		batchI8(batch, m, n, k, alpha, like[int8](a), rsA, csA, like[int8](b), rsB, csB, as[int8](beta), like[int8](c),
			rsC, csC)
	case uint8:
		batchU8(batch, m, n, k, alpha, like[uint8](a), rsA, csA, like[uint8](b), rsB, csB, as[uint8](beta),
			like[uint8](c), rsC, csC)
	case complex64:
		batchC64(batch, m, n, k, alpha, like[complex64](a), rsA, csA, like[complex64](b), rsB, csB,
			as[complex64](beta), like[complex64](c), rsC, csC)
	case complex128:
		batchC128(batch, m, n, k, alpha, like[complex128](a), rsA, csA, like[complex128](b), rsB, csB,
			as[complex128](beta), like[complex128](c), rsC, csC)
	}
}

// as returns v as the type that v is known to have; like does the same for a slice.
func as[To, T any](v T) To { return any(v).(To) }

func like[To, T any](s []T) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

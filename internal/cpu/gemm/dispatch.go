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
	switch a := any(a).(type) {
	case []float32:
		GEMMBatch(batch, m, n, k, as[float32](alpha), a, rsA, csA, like(a, b), rsB, csB, as[float32](beta), like(a, c),
			rsC, csC, nil)
	case []float64:
		GEMMBatch(batch, m, n, k, as[float64](alpha), a, rsA, csA, like(a, b), rsB, csB, as[float64](beta), like(a, c),
			rsC, csC, nil)
	case []int32:
		GEMMBatch(batch, m, n, k, as[int32](alpha), a, rsA, csA, like(a, b), rsB, csB, as[int32](beta), like(a, c), rsC,
			csC, nil)
	case []int64:
		GEMMBatch(batch, m, n, k, as[int64](alpha), a, rsA, csA, like(a, b), rsB, csB, as[int64](beta), like(a, c), rsC,
			csC, nil)
	case []int16:
		(&narrowInt[int16]{ofI16, batch, m, n, k, int32(as[int16](alpha)), int32(as[int16](beta)), a, like(a, b),
			like(a, c), rsA, csA, rsB, csB, rsC, csC}).multiply()
	case []int8:
		(&narrowInt[int8]{ofI8, batch, m, n, k, int32(as[int8](alpha)), int32(as[int8](beta)), a, like(a, b),
			like(a, c), rsA, csA, rsB, csB, rsC, csC}).multiply()
	case []uint8:
		(&narrowInt[uint8]{ofU8, batch, m, n, k, int32(as[uint8](alpha)), int32(as[uint8](beta)), a, like(a, b),
			like(a, c), rsA, csA, rsB, csB, rsC, csC}).multiply()
	case []complex64:
		gemmComplex[complex64, float32](batch, m, n, k, as[complex64](alpha), a, rsA, csA, like(a, b), rsB, csB,
			as[complex64](beta), like(a, c), rsC, csC)
	case []complex128:
		gemmComplex[complex128, float64](batch, m, n, k, as[complex128](alpha), a, rsA, csA, like(a, b), rsB, csB,
			as[complex128](beta), like(a, c), rsC, csC)
	}
}

// as returns v as the type that v is known to have; like does the same for a slice.
func as[To, T any](v T) To { return any(v).(To) }

func like[To, T any](_ []To, s []T) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

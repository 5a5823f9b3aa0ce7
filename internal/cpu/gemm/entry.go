package gemm

import "unsafe"

// The compiler compiles a generic function anew in each package that calls it, together with everything generic below
// it. So that the products are compiled once, in this package, the exported generic functions only choose one of the
// functions below by the element type. These are never inlined: a copy of their bodies in a caller would bring the
// generic functions along.

// GEMMBatch runs [GEMM] on every matrix of a batch with any number of
// dimensions, none meaning a single product. The same epilogue applies to each
// matrix. Matrices and their parts are computed in parallel.
func GEMMBatch[T element](batch []BatchDim, m, n, k int, alpha T, a []T, rsA, csA int, b []T, rsB, csB int, beta T,
	c []T, rsC, csC int, ep *Epilogue[T]) {
	switch alpha := any(alpha).(type) {
	case float32:
		batchF32(batch, m, n, k, alpha, like[float32](a), rsA, csA, like[float32](b), rsB, csB, as[float32](beta),
			like[float32](c), rsC, csC, (*Epilogue[float32])(unsafe.Pointer(ep)))
	case float64:
		batchF64(batch, m, n, k, alpha, like[float64](a), rsA, csA, like[float64](b), rsB, csB, as[float64](beta),
			like[float64](c), rsC, csC, (*Epilogue[float64])(unsafe.Pointer(ep)))
	case int32:
		batchI32(batch, m, n, k, alpha, like[int32](a), rsA, csA, like[int32](b), rsB, csB, as[int32](beta),
			like[int32](c), rsC, csC, (*Epilogue[int32])(unsafe.Pointer(ep)))
	case int64:
		batchI64(batch, m, n, k, alpha, like[int64](a), rsA, csA, like[int64](b), rsB, csB, as[int64](beta),
			like[int64](c), rsC, csC, (*Epilogue[int64])(unsafe.Pointer(ep)))
	}
}

// GEMMPanels computes C = A·B, with an optional epilogue, for a B that was packed once to be multiplied again
// and again, the weights of a network for instance. B comes in panels of w = [PanelWidth] columns: element
// (i, j) is panels[(j/w*k+i)*w+j%w]. The last panel is as wide as the others; the contents of its surplus
// columns do not matter. The columns of C are adjacent.
func GEMMPanels[T element](m, n, k int, a []T, rsA, csA int, panels []T, c []T, rsC int, ep *Epilogue[T]) {
	switch any(T(0)).(type) {
	case float32:
		panelsF32(m, n, k, like[float32](a), rsA, csA, like[float32](panels), like[float32](c), rsC,
			(*Epilogue[float32])(unsafe.Pointer(ep)))
	case float64:
		panelsF64(m, n, k, like[float64](a), rsA, csA, like[float64](panels), like[float64](c), rsC,
			(*Epilogue[float64])(unsafe.Pointer(ep)))
	case int32:
		panelsI32(m, n, k, like[int32](a), rsA, csA, like[int32](panels), like[int32](c), rsC,
			(*Epilogue[int32])(unsafe.Pointer(ep)))
	case int64:
		panelsI64(m, n, k, like[int64](a), rsA, csA, like[int64](panels), like[int64](c), rsC,
			(*Epilogue[int64])(unsafe.Pointer(ep)))
	}
}

// PanelWidth is the number of columns of a panel of [GEMMPanels] on this processor.
func PanelWidth[T element]() int {
	switch any(T(0)).(type) {
	case float32:
		return panelWidthF32()
	case float64:
		return panelWidthF64()
	case int32:
		return panelWidthI32()
	}
	return panelWidthI64()
}

// GEMMInt8 computes C = A·B, or C += A·B, of bytes into int32, as [GEMMBatch] does of floats. A is signed or
// not, B is signed. The result is exact: no intermediate sum saturates, and a result that does not fit int32
// wraps around. On x86 it runs on VPDPBUSD where AVX-512 VNNI is present, and on products of int16 elsewhere.
func GEMMInt8[A int8 | uint8](batch []BatchDim, m, n, k int, a []A, rsA, csA int, b []int8, rsB, csB int, add bool,
	c []int32, rsC, csC int) {
	if z := A(0); z-1 > 0 {
		bytesU8(batch, m, n, k, like[uint8](a), rsA, csA, b, rsB, csB, add, c, rsC, csC)
		return
	}
	bytesI8(batch, m, n, k, like[int8](a), rsA, csA, b, rsB, csB, add, c, rsC, csC)
}

//go:noinline
func batchF32(batch []BatchDim, m, n, k int, alpha float32, a []float32, rsA, csA int, b []float32, rsB, csB int,
	beta float32, c []float32, rsC, csC int, ep *Epilogue[float32]) {
	gemmBatch(batch, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep)
}

//go:noinline
func batchF64(batch []BatchDim, m, n, k int, alpha float64, a []float64, rsA, csA int, b []float64, rsB, csB int,
	beta float64, c []float64, rsC, csC int, ep *Epilogue[float64]) {
	gemmBatch(batch, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep)
}

//go:noinline
func batchI32(batch []BatchDim, m, n, k int, alpha int32, a []int32, rsA, csA int, b []int32, rsB, csB int,
	beta int32, c []int32, rsC, csC int, ep *Epilogue[int32]) {
	gemmBatch(batch, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep)
}

//go:noinline
func batchI64(batch []BatchDim, m, n, k int, alpha int64, a []int64, rsA, csA int, b []int64, rsB, csB int,
	beta int64, c []int64, rsC, csC int, ep *Epilogue[int64]) {
	gemmBatch(batch, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep)
}

//go:noinline
func batchI16(batch []BatchDim, m, n, k int, alpha int16, a []int16, rsA, csA int, b []int16, rsB, csB int,
	beta int16, c []int16, rsC, csC int) {
	(&narrowInt[int16]{ofI16, batch, m, n, k, int32(alpha), int32(beta), a, b, c, rsA, csA, rsB, csB, rsC,
		csC}).multiply()
}

//go:noinline
func batchI8(batch []BatchDim, m, n, k int, alpha int8, a []int8, rsA, csA int, b []int8, rsB, csB int,
	beta int8, c []int8, rsC, csC int) {
	(&narrowInt[int8]{ofI8, batch, m, n, k, int32(alpha), int32(beta), a, b, c, rsA, csA, rsB, csB, rsC,
		csC}).multiply()
}

//go:noinline
func batchU8(batch []BatchDim, m, n, k int, alpha uint8, a []uint8, rsA, csA int, b []uint8, rsB, csB int,
	beta uint8, c []uint8, rsC, csC int) {
	(&narrowInt[uint8]{ofU8, batch, m, n, k, int32(alpha), int32(beta), a, b, c, rsA, csA, rsB, csB, rsC,
		csC}).multiply()
}

//go:noinline
func batchC64(batch []BatchDim, m, n, k int, alpha complex64, a []complex64, rsA, csA int, b []complex64, rsB, csB int,
	beta complex64, c []complex64, rsC, csC int) {
	gemmComplex[complex64, float32](batch, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC)
}

//go:noinline
func batchC128(batch []BatchDim, m, n, k int, alpha complex128, a []complex128, rsA, csA int, b []complex128, rsB,
	csB int,
	beta complex128, c []complex128, rsC, csC int) {
	gemmComplex[complex128, float64](batch, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC)
}

//go:noinline
func panelsF32(m, n, k int, a []float32, rsA, csA int, panels []float32, c []float32, rsC int, ep *Epilogue[float32]) {
	gemmPanels(m, n, k, a, rsA, csA, panels, c, rsC, ep)
}

//go:noinline
func panelWidthF32() int { return panelWidth[float32]() }

//go:noinline
func panelsF64(m, n, k int, a []float64, rsA, csA int, panels []float64, c []float64, rsC int, ep *Epilogue[float64]) {
	gemmPanels(m, n, k, a, rsA, csA, panels, c, rsC, ep)
}

//go:noinline
func panelWidthF64() int { return panelWidth[float64]() }

//go:noinline
func bytesI8(batch []BatchDim, m, n, k int, a []int8, rsA, csA int, b []int8, rsB, csB int, add bool, c []int32,
	rsC, csC int) {
	gemmBytes(batch, m, n, k, a, rsA, csA, b, rsB, csB, add, c, rsC, csC)
}

//go:noinline
func bytesU8(batch []BatchDim, m, n, k int, a []uint8, rsA, csA int, b []int8, rsB, csB int, add bool, c []int32,
	rsC, csC int) {
	gemmBytes(batch, m, n, k, a, rsA, csA, b, rsB, csB, add, c, rsC, csC)
}

//go:noinline
func panelsI32(m, n, k int, a []int32, rsA, csA int, panels []int32, c []int32, rsC int, ep *Epilogue[int32]) {
	gemmPanels(m, n, k, a, rsA, csA, panels, c, rsC, ep)
}

//go:noinline
func panelWidthI32() int { return panelWidth[int32]() }

//go:noinline
func panelsI64(m, n, k int, a []int64, rsA, csA int, panels []int64, c []int64, rsC int, ep *Epilogue[int64]) {
	gemmPanels(m, n, k, a, rsA, csA, panels, c, rsC, ep)
}

//go:noinline
func panelWidthI64() int { return panelWidth[int64]() }

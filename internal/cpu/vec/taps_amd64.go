//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

func hasTaps() bool { return cpu.HasAVX512 }

type rowsFunc = func(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)

// tapRowsFunc is the assembly for rows of cols elements of a type, nil if there is none.
func tapRowsFunc[E float32 | float64 | uint8](cols int) rowsFunc {
	if !cpu.HasAVX512 {
		return nil
	}
	switch size := int(unsafe.Sizeof(*new(E))); {
	case size == 1:
		return tapRowsU8AVX512
	case size == 4 && cols <= 16:
		return tapRows1F32AVX512
	case size == 4 && cols <= 32:
		return tapRows2F32AVX512
	case size == 4:
		return tapRowsF32AVX512
	case cols <= 8:
		return tapRows1F64AVX512
	case cols <= 16:
		return tapRows2F64AVX512
	}
	return tapRowsF64AVX512
}

// lanesKernel runs a kernel of lane tables on 1 or 4 rows.
func lanesKernel(kind, rows int, c *laneCall) {
	switch {
	case kind == lanesPick1:
		pickLanes1AVX512(c)
	case kind == lanesPick2:
		pickLanes2AVX512(c)
	case kind == lanesPick4:
		pickLanes4AVX512(c)
	case kind == lanesPick8:
		pickLanes8AVX512(c)
	case kind == lanesF32 && rows == 4:
		tapLanes4F32AVX512(c)
	case kind == lanesF32:
		tapLanesF32AVX512(c)
	case kind == lanesF64 && rows == 4:
		tapLanes4F64AVX512(c)
	case kind == lanesF64:
		tapLanesF64AVX512(c)
	case rows == 4:
		tapLanes4U8AVX512(c)
	default:
		tapLanesU8AVX512(c)
	}
}

func pickRows(dst, src unsafe.Pointer, index *int32, n, size int) {
	pickRowsAVX512(dst, src, index, n, size)
}

//go:noescape
func tapRowsF32AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)

//go:noescape
func tapRowsF64AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)

//go:noescape
func tapRowsU8AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)

//go:noescape
func tapLanesF32AVX512(c *laneCall)

//go:noescape
func tapLanes4F32AVX512(c *laneCall)

//go:noescape
func tapLanesF64AVX512(c *laneCall)

//go:noescape
func tapLanes4F64AVX512(c *laneCall)

//go:noescape
func tapLanesU8AVX512(c *laneCall)

//go:noescape
func tapLanes4U8AVX512(c *laneCall)

//go:noescape
func pickLanes1AVX512(c *laneCall)

//go:noescape
func pickLanes2AVX512(c *laneCall)

//go:noescape
func pickLanes4AVX512(c *laneCall)

//go:noescape
func pickLanes8AVX512(c *laneCall)

//go:noescape
func pickRowsAVX512(dst, src unsafe.Pointer, index *int32, n, size int)

//go:noescape
func tapRows1F32AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)

//go:noescape
func tapRows2F32AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)

//go:noescape
func tapRows1F64AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)

//go:noescape
func tapRows2F64AVX512(dst, src unsafe.Pointer, start, index *int32, w unsafe.Pointer, rows, cols, ld, skip, bits int)

//go:build !purego

package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:generate go run ../_asm/conv -out .

//go:noescape
func sconvAVX512(a *args)

//go:noescape
func sgradAVX512(a *args)

//go:noescape
func dconvAVX512(a *args)

//go:noescape
func dgradAVX512(a *args)

//go:noescape
func sconvAVX2(a *args)

//go:noescape
func sgradAVX2(a *args)

//go:noescape
func dconvAVX2(a *args)

//go:noescape
func dgradAVX2(a *args)

//go:noescape
func sdepthAVX512(a *args)

//go:noescape
func sdepthGradAVX512(a *args)

//go:noescape
func sdepth3s1AVX512(a *args)

//go:noescape
func sdepth3s2AVX512(a *args)

//go:noescape
func ddepth3s1AVX512(a *args)

//go:noescape
func ddepth3s2AVX512(a *args)

//go:noescape
func sdepthAVX2(a *args)

//go:noescape
func sdepthGradAVX2(a *args)

//go:noescape
func smixAVX512(a *args)

//go:noescape
func smixGradAVX512(a *args)

//go:noescape
func smixAVX2(a *args)

//go:noescape
func smixGradAVX2(a *args)

//go:noescape
func ddepthAVX512(a *args)

//go:noescape
func ddepthGradAVX512(a *args)

//go:noescape
func ddepthAVX2(a *args)

//go:noescape
func ddepthGradAVX2(a *args)

//go:noescape
func stransposeAVX512(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func copyRowsAVX512(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, cols int)

//go:noescape
func winInputAVX512(a *winArgs)

//go:noescape
func winOutputAVX512(a *winArgs)

//go:noescape
func winWeightAVX512(a *winArgs)

func currentPath() path {
	switch {
	case cpu.HasAVX512:
		return pathAVX512
	case cpu.HasAVX2FMA:
		return pathAVX2
	}
	return pathGeneric
}

// lanes returns the elements of a vector; the Go kernel pretends to have some.
func lanes[T Float](pt path) int {
	var z T
	if pt == pathAVX512 {
		return 64 / int(unsafe.Sizeof(z))
	}
	return 32 / int(unsafe.Sizeof(z))
}

// The windows into these tables that start n before the zeros select the first
// n lanes.
var (
	masks32 = [16]int32{-1, -1, -1, -1, -1, -1, -1, -1}
	masks64 = [8]int64{-1, -1, -1, -1}
)

// laneMask returns AVX2's mask of the first n lanes, n from 0 to all.
func laneMask[T Float](n int) unsafe.Pointer {
	var z T
	if unsafe.Sizeof(z) == 4 {
		return unsafe.Pointer(&masks32[8-max(0, min(n, 8))])
	}
	return unsafe.Pointer(&masks64[4-max(0, min(n, 4))])
}

// asmTile runs a micro-kernel on the given rows.
func asmTile[T Float](pt path, p *args, rows int, grad bool) {
	var z T
	v := p.variant
	p.variant += rows
	switch single, wide := unsafe.Sizeof(z) == 4, pt == pathAVX512; {
	case single && wide && grad:
		sgradAVX512(p)
	case single && wide:
		sconvAVX512(p)
	case single && grad:
		sgradAVX2(p)
	case single:
		sconvAVX2(p)
	case wide && grad:
		dgradAVX512(p)
	case wide:
		dconvAVX512(p)
	case grad:
		dgradAVX2(p)
	default:
		dconvAVX2(p)
	}
	p.variant = v
}

// asmDepth runs a depthwise kernel.
func asmDepth[T Float](pt path, p *args, grad bool) {
	var z T
	switch single, wide := unsafe.Sizeof(z) == 4, pt == pathAVX512; {
	case single && wide && grad:
		sdepthGradAVX512(p)
	case single && wide:
		sdepthAVX512(p)
	case single && grad:
		sdepthGradAVX2(p)
	case single:
		sdepthAVX2(p)
	case wide && grad:
		ddepthGradAVX512(p)
	case wide:
		ddepthAVX512(p)
	case grad:
		ddepthGradAVX2(p)
	default:
		ddepthAVX2(p)
	}
}

// mixes reports that there are kernels for groups of n of so many channels, which
// must not cross vectors. Without masks all vectors must be whole.
func mixes[T Float](pt path, n, channels int) bool {
	var z T
	l := lanes[T](pt)
	if unsafe.Sizeof(z) != 4 || n < 2 || n > l/2 {
		return false
	}
	return pt == pathAVX512 || pt == pathAVX2 && l%n == 0 && channels%l == 0
}

// mixTile runs a kernel of groups.
func mixTile(pt path, p *args, grad bool) {
	switch {
	case pt == pathAVX512 && grad:
		smixGradAVX512(p)
	case pt == pathAVX512:
		smixAVX512(p)
	case grad:
		smixGradAVX2(p)
	default:
		smixAVX2(p)
	}
}

// depth3Rows is the most positions of a tile of depth3Tile at a stride, 0 where
// there is no kernel.
func depth3Rows(pt path, stride int) int {
	if pt != pathAVX512 {
		return 0
	}
	return [...]int{0, 14, 9}[min(stride, 3)%3]
}

// depth3Tile computes the given positions of a depthwise convolution with three
// taps side by side.
//
//go:noinline
func depth3Tile[T Float](p *args, stride, rows int) {
	var z T
	p.variant = rows
	switch {
	case unsafe.Sizeof(z) == 4 && stride == 1:
		sdepth3s1AVX512(p)
	case unsafe.Sizeof(z) == 4:
		sdepth3s2AVX512(p)
	case stride == 1:
		ddepth3s1AVX512(p)
	default:
		ddepth3s2AVX512(p)
	}
}

// hasScatter reports that scatter16 is there.
func hasScatter[T Float](pt path) bool {
	var z T
	return pt == pathAVX512 && unsafe.Sizeof(z) == 4
}

// scatter16 sets dst[off[j] + i] = src[i*lds + j] for i < rows, at most 16, and
// j < cols; lds and off count bytes.
//
//go:noinline
func scatter16(dst unsafe.Pointer, off []int, src unsafe.Pointer, lds, rows, cols int) {
	_ = off[cols-1]
	stransposeAVX512(dst, &off[0], src, lds, rows, cols)
}

// copyRows moves rows of n elements from one distance to another; both count
// elements.
//
//go:noinline
func copyRows[T Float](dst []T, ldd int, src []T, lds, n, rows int) {
	var z T
	es := int(unsafe.Sizeof(z))
	if rows == 0 || n == 0 {
		return
	}
	if !cpu.HasAVX512 {
		copyLines(dst, ldd, src, lds, n, rows)
		return
	}
	_, _ = dst[(rows-1)*ldd+n-1], src[(rows-1)*lds+n-1]
	copyRowsAVX512(unsafe.Pointer(&dst[0]), ldd*es, unsafe.Pointer(&src[0]), lds*es, rows, n*es/4)
}

// winTransform runs one of the transforms.
//
//go:noinline
func winTransform(kind winKind, a *winArgs) {
	switch kind {
	case winIn:
		winInputAVX512(a)
	case winOut:
		winOutputAVX512(a)
	default:
		winWeightAVX512(a)
	}
}

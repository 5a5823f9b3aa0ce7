//go:build !(amd64 || arm64) || purego

package conv

import "unsafe"

func currentPath() path { return pathGeneric }

func lanes[T Float](path) int {
	var z T
	return 32 / int(unsafe.Sizeof(z))
}

func laneMask[T Float](int) unsafe.Pointer { return nil }

//go:noinline
func convTile[T Float](_ path, p *args, rows int) {
	var z T
	p.rows = rows
	genericTile[T](p, p.rs, int(unsafe.Sizeof(z)))
}

//go:noinline
func gradTile[T Float](_ path, p *args, rows int) {
	var z T
	p.rows = rows
	genericTile[T](p, int(unsafe.Sizeof(z)), p.cs)
}

//go:noinline
func depthTile[T Float](_ path, p *args, rows int) {
	p.rows = rows
	genericDepth[T](p)
}

//go:noinline
func depthGradTile[T Float](_ path, p *args, rows int) {
	p.rows = rows
	genericDepthGrad[T](p)
}

func copyRows[T Float](dst []T, ldd int, src []T, lds, n, rows int) {
	copyLines(dst, ldd, src, lds, n, rows)
}

func hasScatter[T Float](path) bool { return false }

func scatter16(unsafe.Pointer, []int, unsafe.Pointer, int, int, int) {
	panic("conv: no transposing kernel")
}

func winTransform(winKind, *winArgs) { panic("conv: no Winograd kernel") }

//go:build !(amd64 || arm64) || purego

package conv

import "unsafe"

func currentPath() path { return pathGeneric }

//go:noinline
func convTile[T Float](_ path, p *args, rows int) {
	var z T
	p.rows = rows
	eachTile(p, rows, func() { genericTile[T](p, p.rs, int(unsafe.Sizeof(z))) })
}

//go:noinline
func gradTile[T Float](_ path, p *args, rows int) {
	var z T
	p.rows = rows
	eachTile(p, rows, func() { genericTile[T](p, int(unsafe.Sizeof(z)), p.cs) })
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

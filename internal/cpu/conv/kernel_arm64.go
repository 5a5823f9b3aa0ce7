//go:build !purego

package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:noescape
func sconvNEON(a *args)

//go:noescape
func sgradNEON(a *args)

//go:noescape
func sdepthNEON(a *args)

//go:noescape
func sdepthGradNEON(a *args)

//go:noescape
func dconvNEON(a *args)

//go:noescape
func dgradNEON(a *args)

//go:noescape
func ddepthNEON(a *args)

//go:noescape
func ddepthGradNEON(a *args)

func currentPath() path {
	if cpu.HasNEON {
		return pathNEON
	}
	return pathGeneric
}

// asmTile runs a micro-kernel on the given rows of each tile.
func asmTile[T Float](_ path, p *args, rows int, grad bool) {
	eachTile(p, rows, func() { tile[T](p, rows, grad) })
}

// tile runs a kernel, which stores whole tiles. Where fewer columns are in use
// the sums go to a place of p's own and from there on in Go.
func tile[T Float](p *args, rows int, grad bool) {
	v := p.variant
	p.variant += rows
	if p.flags&flagMasked == 0 {
		kernel[T](p, grad)
		p.variant = v
		return
	}
	if p.tile == nil {
		p.tile = new([48]uint64)
	}
	var z T
	first, step := (rows+1)/2, p.width*int(unsafe.Sizeof(z))
	flags, c, ldc := p.flags, [2]unsafe.Pointer{p.c0, p.c1}, p.ldc
	res := [2]unsafe.Pointer{p.r0, p.r1}
	from := [2]unsafe.Pointer{unsafe.Pointer(p.tile), unsafe.Pointer(&p.tile[first*step/8%len(p.tile)])}
	p.flags, p.c0, p.c1, p.ldc = 0, from[0], from[1], step
	kernel[T](p, grad)
	p.variant, p.flags, p.c0, p.c1, p.ldc = v, flags, c[0], c[1], ldc
	for r := range rows {
		half, q := 0, r
		if r >= first {
			half, q = 1, r-first
		}
		var add unsafe.Pointer
		if flags&flagRes != 0 {
			add = unsafe.Add(res[half], q*p.ldr)
		}
		finishRow(p, unsafe.Add(c[half], q*ldc), add, unsafe.Slice((*T)(unsafe.Add(from[half], q*step)), p.cols))
	}
}

func kernel[T Float](p *args, grad bool) {
	var z T
	switch single := unsafe.Sizeof(z) == 4; {
	case single && grad:
		sgradNEON(p)
	case single:
		sconvNEON(p)
	case grad:
		dgradNEON(p)
	default:
		dconvNEON(p)
	}
}

// asmDepth runs a depthwise kernel.
func asmDepth[T Float](_ path, p *args, grad bool) {
	var z T
	switch single := unsafe.Sizeof(z) == 4; {
	case single && grad:
		sdepthGradNEON(p)
	case single:
		sdepthNEON(p)
	case grad:
		ddepthGradNEON(p)
	default:
		ddepthNEON(p)
	}
}

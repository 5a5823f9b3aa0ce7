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

//go:noescape
func winogradInputNEON(a *winogradArgs)

//go:noescape
func winogradOutputNEON(a *winogradArgs)

//go:noescape
func winogradWeightNEON(a *winogradArgs)

var assembly = [...][2]kernels{
	pathNEON: {
		{
			conv: neonTiles[float32](sconvNEON), grad: neonTiles[float32](sgradNEON), depthwise: sdepthNEON,
			depthwiseGrad: sdepthGradNEON,
			winograd: [...]func(*winogradArgs){winogradInput: winogradInputNEON, winogradOutput: winogradOutputNEON,
				winogradWeights: winogradWeightNEON},
		},
		{conv: neonTiles[float64](dconvNEON), grad: neonTiles[float64](dgradNEON), depthwise: ddepthNEON,
			depthwiseGrad: ddepthGradNEON},
	},
}

func currentPath() path {
	if cpu.HasNEON {
		return pathNEON
	}
	return pathGeneric
}

// neonTiles makes a kernel of several tiles from a kernel that computes a single tile.
func neonTiles[T Float](kernel func(*args)) func(*args) {
	return func(p *args) { eachTile(p, func() { neonTile[T](p, kernel) }) }
}

// neonTile runs a kernel, which stores whole tiles. Where fewer columns are in use, the kernel stores its
// sums in a buffer of p, and Go code finishes them.
func neonTile[T Float](p *args, kernel func(*args)) {
	if p.flags&flagMasked == 0 {
		kernel(p)
		return
	}
	if p.tile == nil {
		p.tile = new([48]uint64)
	}
	var z T
	rows := p.rows
	first, step := (rows+1)/2, p.width*int(unsafe.Sizeof(z))
	flags, c, ldc := p.flags, [2]unsafe.Pointer{p.c0, p.c1}, p.ldc
	res := [2]unsafe.Pointer{p.r0, p.r1}
	from := [2]unsafe.Pointer{unsafe.Pointer(p.tile), unsafe.Pointer(&p.tile[first*step/8%len(p.tile)])}
	p.flags, p.c0, p.c1, p.ldc = 0, from[0], from[1], step
	kernel(p)
	p.flags, p.c0, p.c1, p.ldc = flags, c[0], c[1], ldc
	for r := range rows {
		half, q := 0, r
		if r >= first {
			half, q = 1, r-first
		}
		var add unsafe.Pointer
		if flags&flagResidual != 0 {
			add = unsafe.Add(res[half], q*p.ldr)
		}
		finishRow(p, unsafe.Add(c[half], q*ldc), add, unsafe.Slice((*T)(unsafe.Add(from[half], q*step)), p.cols))
	}
}

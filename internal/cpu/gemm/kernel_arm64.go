//go:build !purego

package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:noescape
func sgemmNEON(a *args)

//go:noescape
func dgemmNEON(a *args)

//go:noescape
func peakNEON(n int)

func currentPath() path {
	if cpu.HasNEON {
		return pathNEON
	}
	return pathGeneric
}

// tileSize returns the largest tile: rows, columns.
func tileSize[T element](pt path, _ int) (mr, nr int) {
	if pt == pathGeneric {
		return 8, 32
	}
	return 8, 3 * neonLanes[T]()
}

func neonLanes[T element]() int {
	var z T
	return 16 / int(unsafe.Sizeof(z))
}

func setColumns[T element](_ path, p *args, cols int) (maxRows int) {
	p.cols = cols
	return 8
}

// runTile runs one micro-kernel. It stays a real call, whose stack check lets the scheduler stop the
// goroutine. Whole vectors of columns are computed by the assembly, the other columns by the portable kernel.
//
//go:noinline
func runTile[T element](pt path, p *args) {
	if pt == pathGeneric {
		genericTile[T](p)
		return
	}
	for ; ; p.count-- {
		neonTile[T](p)
		if !p.next() {
			return
		}
	}
}

func neonTile[T element](p *args) {
	var z T
	es := int(unsafe.Sizeof(z))
	l := neonLanes[T]()
	if nv := p.cols / l; nv > 0 {
		p.variant = nv*16 + p.rows
		if es == 4 {
			sgemmNEON(p)
		} else {
			dgemmNEON(p)
		}
		if p.flags&flagReLU != 0 {
			for r := range p.rows {
				activate(ActReLU, unsafe.Slice(at[T](p.c, r*p.ldc), nv*l))
			}
		}
	}
	if rest := p.cols % l; rest > 0 {
		q := *p
		done := (p.cols - rest) * es
		q.b, q.c, q.cols = unsafe.Add(p.b, done), unsafe.Add(p.c, done), rest
		if p.flags&flagBiasCol != 0 {
			q.biasCol = unsafe.Add(p.biasCol, done)
		}
		genericOnce[T](&q)
	}
}

// peakLoop runs n rounds of independent fused multiply-adds and returns the
// floating-point operations done.
//
//go:noinline
func peakLoop(pt path, n int) float64 {
	if pt == pathGeneric {
		return 0
	}
	peakNEON(n)
	return float64(n) * 24 * 4 * 2
}

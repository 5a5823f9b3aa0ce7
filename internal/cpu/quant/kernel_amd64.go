//go:build !purego

package quant

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:generate go run ../_asm/quant -out .

//go:noescape
func dotVNNI(p *kernelArgs)

//go:noescape
func dotAVX2(p *kernelArgs)

//go:noescape
func dotAVXVNNI(p *kernelArgs)

//go:noescape
func depthAVX2(p *kernelArgs)

//go:noescape
func depthVNNI(p *kernelArgs)

//go:noescape
func depth3s1VNNI(p *kernelArgs)

//go:noescape
func depth3s2VNNI(p *kernelArgs)

//go:noescape
func finishAVX2(p *kernelArgs)

//go:noescape
func finishAVX512(p *kernelArgs)

// noBase is what sums begin with where they begin with nothing.
var noBase [tileCols]int32

// finishes reports whether dot makes results by itself.
func finishes() bool { return cpu.HasVNNI }

// besides reports whether dot and finish take several tiles of one row, beside each other, where the result is floats.
// The columns of all of them exist.
func besides() bool { return cpu.HasVNNI && cpu.HasAVX512 }

// dotRows is the most rows of a tile of a product.
func dotRows() int {
	switch {
	case cpu.HasVNNI:
		return tileRows
	case cpu.HasAVXVNNI:
		return 6
	case cpu.HasAVX2FMA:
		return 4
	}
	return tileRows
}

// These must stay real calls: their stack check is where the scheduler can stop a goroutine that otherwise lives in
// assembly.

//go:noinline
func dot(p *kernelArgs) {
	switch {
	case cpu.HasVNNI:
		dotVNNI(p)
	case cpu.HasAVXVNNI:
		dotAVXVNNI(p)
	case cpu.HasAVX2FMA:
		dotAVX2(p)
	default:
		dotGeneric(p)
	}
}

//go:noinline
func depth(p *kernelArgs) {
	switch {
	case cpu.HasVNNI:
		depthVNNI(p)
	case cpu.HasAVX2FMA && p.mask == 1<<tileCols-1:
		depthAVX2(p)
	default:
		depthGeneric(p)
	}
}

//go:noinline
func finish(p *kernelArgs) {
	switch {
	case cpu.HasAVX512:
		finishAVX512(p)
	case cpu.HasAVX2FMA && p.mask == 1<<tileCols-1 && p.rowFix == nil:
		q := *p
		if q.base == nil {
			q.base = unsafe.Pointer(&noBase)
		}
		finishAVX2(&q)
	default:
		finishGeneric(p)
	}
}

// depth3 is for positions step apart, 1 or 2, where finishes says so.
//
//go:noinline
func depth3(p *kernelArgs, step int) {
	if step == 1 {
		depth3s1VNNI(p)
	} else {
		depth3s2VNNI(p)
	}
}

//go:build !purego

package quant

import "github.com/gotorch-dev/torch/internal/cpu"

//go:noescape
func dotNEON(p *kernelArgs)

// finishes reports whether dot makes results by itself.
func finishes() bool { return false }

// besides reports whether dot and finish take several tiles of one row.
func besides() bool { return false }

// dotRows is the most rows of a tile of a product.
func dotRows() int {
	if cpu.HasDotProd {
		return 4
	}
	return tileRows
}

// dot must stay a real call: its stack check is where the scheduler can stop a goroutine that otherwise lives in
// assembly.
//
//go:noinline
func dot(p *kernelArgs) {
	if cpu.HasDotProd {
		dotNEON(p)
	} else {
		dotGeneric(p)
	}
}

func depth(p *kernelArgs) { depthGeneric(p) }

func finish(p *kernelArgs) { finishGeneric(p) }

func depth3(*kernelArgs, int) { panic("quant: no kernel") }

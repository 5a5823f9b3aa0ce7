//go:build (!amd64 && !arm64) || purego

package gemm

import "unsafe"

func currentPath() path { return pathGeneric }

func lanes[T element](path) int { return 0 }

func tileSize[T element](path, int) (mr, nr int) { return 8, 32 }

func setColumns[T element](_ path, p *args, cols int) (maxRows int) {
	p.cols = cols
	return 8
}

func runTile[T element](_ path, p *args) { genericTile[T](p) }

func dotRows(path) int { return 1 }

func copyFast[T element](path, unsafe.Pointer, unsafe.Pointer, int, int, int, int, int) bool {
	return false
}

// The function below is never reached on the generic path.

func transposeFast[T element](path, unsafe.Pointer, unsafe.Pointer, int, int, int) {
	panic("gemm: no transposing kernel")
}

func dotFast[T element](_ path, out *[dotSums]T, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int) {
	genericDots(out, a, b, rsB, k, groups)
}

func peakLoop(path, int) float64 { return 0 }

// There are no kernels that read B in 16 bits; the functions below are never
// reached.
func hasHalfKernels() bool { return false }

func (Half) runHalf(*args) {}

func (Half) dotHalf(*[dotSums]float32, unsafe.Pointer, unsafe.Pointer, int, int, int, int, int) {
}

//go:build (!amd64 && !arm64) || purego

package gemm

func currentPath() path { return pathGeneric }

func tileSize[T element](path, int) (mr, nr int) { return 8, 32 }

func setColumns[T element](_ path, p *args, cols int) (maxRows int) {
	p.cols = cols
	return 8
}

func runTile[T element](_ path, p *args) { genericTile[T](p) }

func peakLoop(path, int) float64 { return 0 }

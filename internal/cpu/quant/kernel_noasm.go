//go:build (!amd64 && !arm64) || purego

package quant

// finishes reports whether dot makes results by itself.
func finishes() bool { return false }

// besides reports whether dot and finish take several tiles of one row.
func besides() bool { return false }

// dotRows is the most rows of a tile of a product.
func dotRows() int { return tileRows }

func dot(p *kernelArgs) { dotGeneric(p) }

func depth(p *kernelArgs) { depthGeneric(p) }

func finish(p *kernelArgs) { finishGeneric(p) }

func depth3(*kernelArgs, int) { panic("quant: no kernel") }

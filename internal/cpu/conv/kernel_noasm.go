//go:build !(amd64 || arm64) || purego

package conv

func currentPath() path { return pathGeneric }

func asmTile[T Float](path, *args, int, bool) { panic("conv: no assembly") }

func asmDepth[T Float](path, *args, bool) { panic("conv: no assembly") }
